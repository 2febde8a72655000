"""Calls of the program's own functions in C.  In: an Invoke node; out: a call of the static function that it names.

    { const struct f_fib_given r = f_fib(t, n - 1); if (r.status) goto k_done; x = r.words[0]; }
Every word of a parameter is an argument of the C function and a number comes back beside the status, so that numbers
travel in registers.  What all calls of one thread share is in a record: where the reason of a failure is left, how
far down the stack may go, how many calls there were.  A function looks at it before its first call: too deep is a
RecursionError.
"""

from __future__ import annotations

from dataclasses import replace

from weft.codegen import syntax as C
from weft.codegen.binding import layout, param_words
from weft.codegen.c_call import operand as strided
from weft.codegen.c_expr import OWN, RT, Expressions, Storage
from weft.codegen.c_frame import (
    DONE,
    FAILED,
    GUARD,
    INTERRUPTED,
    OVERFLOW_ERROR,
    RAISE,
    STATUS,
    THREAD,
    WORDS,
    Callee,
    Unit,
)
from weft.codegen.c_loops import Loops, repeats
from weft.ir.expr import Dim, Expr, Read
from weft.ir.program import Invoke, Loop, LoopKind, Operand, Program, Role, ScalarOut
from weft.ir.types import DType
from weft.ir.walk import leaves, walk
from weft.runtime import descriptor as D

#: What happens when the stack is used up.
TOO_DEEP = ("RecursionError", "maximum recursion depth exceeded")
#: How many calls that count may go by without a look for Ctrl-C.
_POLL_CALLS = 1 << 11
#: Calls at one depth of the stack in eight count: a number in memory that every call changes would be most of its time.
#: Which depths those are is a hash of where they are, so that frames of one size do not all fall between them.
_SPREAD, _SHIFT = C.Number("0x9E3779B97F4A7C15ULL"), C.number(61)
#: Copies of a function inside itself: how deep, and how many nodes they may have together.
MOST_LEVELS = 4
MOST_NODES = 400
SELF = f"{OWN}self"
HERE = C.Convert("i64", C.call("__builtin_frame_address", C.number(0)))

#: The first words are control words: those of a kernel, as far as failures go.
RECORD = """typedef struct weft_worker { i64 queued, room, reach; } weft_worker;
typedef struct { i64 words[6]; const weft_rt *rt; i64 floor, origin; u64 calls; weft_worker *worker; } k_thread;
static inline void k_pass(i64 *to, const i64 *from) { for (i64 word = 1; word < 6; word++) to[word] = from[word]; }"""


def callee(program: Program, tasks: bool) -> Callee:
    """How a function is called; `tasks`: it may hand some out.  Then it has a second form that does not, unless it has
    loops: those are compiled once, so that sums are the same on any number of threads.
    """
    places = layout(program)
    words = [places.params[name] + k for name in program.params for k in range(param_words(program, name))]
    first = D.CONTROL_WORDS + len(words)
    name, parameters = f"f_{program.name}", {w: f"k_p{w}" for w in words}
    count = max(places.words - first, 1)
    alone = f"{name}_alone" if tasks and not repeats(program.body) else ""
    levels = 0 if tasks else _levels(program)
    return Callee(name, program, places, parameters, first, count, alone, levels)


def _levels(program: Program) -> int:
    """How many copies of a small function its own calls are replaced by, one inside the other: what a call costs, the
    look at the stack and at Ctrl-C above all, is then paid once for all of them."""
    nodes = list(walk(program.body))
    calls = sum(isinstance(node, Invoke) and node.function == program.name for node in nodes)
    if not calls or repeats(program.body):
        return 0
    levels, copies, width = 0, 1, calls
    while levels < MOST_LEVELS and (copies + width) * len(nodes) <= MOST_NODES:
        levels, copies, width = levels + 1, copies + width, width * calls
    return levels


def handing_out(program: Program) -> set[str]:
    """The functions of a program that may hand out tasks, themselves or by way of others."""
    found: set[str] = set()
    while True:
        more = {part.name for part in program.functions if part.name not in found and _hands_out(part, found)}
        if not more:
            return found
        found |= more


def _hands_out(part: Program, known: set[str]) -> bool:
    return any(
        (isinstance(node, Loop) and node.kind is LoopKind.TASK) or (isinstance(node, Invoke) and node.function in known)
        for node in walk(part.body)
    )


def given(function: Callee) -> str:
    """The C type of what a function gives."""
    return f"struct f_{function.program.name}_given"


def declaration(function: Callee) -> str:
    """The type of its results and the function itself, for all callers."""
    heads = [f"{head(form)};" for form in forms(function)]
    return "\n".join((f"{given(function)} {{ i64 status, words[{function.count}]; }};", *heads))


def forms(function: Callee) -> list[Callee]:
    """The C functions of a function: with tasks, and alone; or the copies that it holds."""
    if function.alone:
        return [function, replace(function, name=function.alone)]
    copies = range(1, function.levels + 1)
    return [function, *(replace(function, name=_copy(function, level), level=level) for level in copies)]


def _copy(function: Callee, level: int) -> str:
    """The C name of one of the copies; below the last one is the function itself again."""
    name = f"f_{function.program.name}"
    return f"{OWN}copy_{level}_{name}" if 0 < level <= function.levels else name


def head(function: Callee) -> str:
    parameters = "".join(f", i64 {name}" for name in function.parameters.values())
    kind = ""
    if function.levels:  # as many copies as are meant, and no more
        kind = "inline __attribute__((always_inline)) " if function.level else "__attribute__((noinline)) "
    return f"static {kind}{given(function)} {function.name}(k_thread *{THREAD}{parameters})"


def record(worker: str) -> list[C.CStmt]:
    """The record of this thread, in a C function that calls others and is not called by one."""
    own = C.Name(SELF)
    fields: dict[str, C.CExpr] = {
        "rt": C.Name(RT),
        "floor": C.through(RT, "stack_floor"),
        "origin": HERE,
        "calls": C.Number("0"),
        "worker": C.Number(worker),
    }
    return [
        C.Declare("k_thread", SELF),
        *(C.Assign(C.Dot(own, name), value) for name, value in fields.items()),
        C.Declare("k_thread *const", THREAD, C.Prefix("&", own)),
    ]


def _deep_enough(node: Invoke, statements: Loops) -> list[C.CStmt]:
    """Before the first call of a function: not too deep, and now and then a look for Ctrl-C."""
    deep = C.Infix("<", HERE, C.Arrow(C.Name(THREAD), "floor"))
    if statements.unit.guard_on_failure:
        failed = statements.failure(GUARD)
    else:
        code = statements.unit.exception(*TOO_DEEP)
        failed = statements.failure(RAISE, code, statements.unit.place(node.span))
    counted = C.Infix("&", C.Prefix("++", C.Arrow(C.Name(THREAD), "calls")), C.number(_POLL_CALLS - 1))
    pending = C.IfElse(C.through(RT, "poll"), tuple(statements.failure(INTERRUPTED)))
    spread = C.Infix(">>", C.Infix("*", C.Convert("u64", HERE), _SPREAD), _SHIFT)
    counts: C.CExpr = C.Prefix("!", counted)
    if statements.unit.called is None or not statements.unit.called.levels:
        counts = C.Infix("&&", C.Infix("==", spread, C.number(0)), counts)
    return [
        C.IfElse(C.call("__builtin_expect", deep, C.number(0)), tuple(failed)),
        C.IfElse(C.call("__builtin_expect", counts, C.number(0)), (pending,)),
    ]


def invoke(node: Invoke, statements: Loops) -> list[C.CStmt]:
    """The call, its failure passed on, its results taken."""
    unit = statements.unit
    function = unit.callees[node.function]
    before: list[C.CStmt] = []
    inside = unit.called is not None and unit.called.level > 0  # the outermost copy has looked
    if not statements.frame.checked and not inside and (unit.called is not None or statements.frame.task):
        before = _deep_enough(node, statements)
        statements.frame.checked = True
    out: list[C.CStmt] = []
    passed: list[C.CExpr] = []
    after: list[C.CStmt] = []
    for argument, name in zip(node.arguments, function.program.params):
        wanted = function.program.table.get(name)
        if wanted is not None and wanted.role is Role.HELD:
            assert isinstance(argument, Operand)
            passed.append(_lent(argument.buffer, statements, after))
        else:
            passed += _array(argument, statements) if isinstance(argument, Operand) else _number(argument, statements)
    gives = f"const {given(function)}"
    own = unit.called is not None and unit.called.program is function.program
    name = _copy(function, unit.called.level + 1) if own and unit.called is not None else function.name
    value: C.CExpr = C.call(name, C.Name(THREAD), *passed)
    if function.alone:
        near = C.call("k_near", C.Name(THREAD), HERE)
        value = C.Ternary(near, value, C.call(function.alone, C.Name(THREAD), *passed))
    result = statements.variable(gives, "given", value, out)
    out += after
    status = C.Dot(result, "status")
    out.append(C.IfElse(C.call("__builtin_expect", status, C.number(0)), tuple(failed(status, statements))))
    numbers = [
        (leaf, offset)
        for leaf, offset in zip(leaves(function.program.results[0]), function.layout.returns[0])
        if isinstance(leaf, ScalarOut)
    ]
    for target, (leaf, offset) in zip(node.results, numbers):
        assert offset is not None
        storage = statements.expressions.storages[target]
        dtype = function.program.buffer(leaf.buffer).type.dtype
        value = _taken(C.Dot(result, "words"), offset - function.first, dtype, storage.type, statements)
        out.append(C.Assign(C.Name(storage.name), value))
    return [*before, C.Scope(tuple(out))]


def failed(status: C.CExpr, statements: Loops) -> list[C.CStmt]:
    """What the callee failed with, the caller fails with; a call that cannot be repeated raises instead."""
    out: list[C.CStmt] = []
    unit, frame = statements.unit, statements.frame
    if not unit.guard_on_failure:
        code = unit.exception(*OVERFLOW_ERROR)
        out.append(C.IfElse(C.Infix("==", status, C.number(GUARD)), tuple(statements.failure(RAISE, code))))
    words = C.Arrow(C.Name(THREAD), "words")
    if frame.parallel:
        least = C.Ternary(
            C.Infix("==", status, C.number(INTERRUPTED)), C.Prefix("-", C.Number("1")), C.Name(frame.iteration)
        )
        noted = [C.Subscript(words, C.number(word)) for word in range(1, 6)]
        return [
            *out,
            C.Evaluate(C.call("k_record", C.Name(FAILED), least, status, *noted)),
            C.Jump(f"goto {DONE}"),
        ]
    if unit.called is None and not frame.task:
        out.append(C.Evaluate(C.call("k_pass", C.Name(WORDS), words)))
    return [*out, C.Assign(C.Name(STATUS), status), C.Jump(f"goto {DONE}")]


def _lent(name: str, statements: Loops, after: list[C.CStmt]) -> C.CExpr:
    """Where a variable is that the callee may change; an array has new memory then."""
    storage = statements.expressions.storages[name]
    if storage.buffer.rank == 0:
        return C.Convert("i64", C.Prefix("&", C.Name(storage.name)))
    assert storage.owner is not None, "only memory of the program's own is lent"
    after.append(C.Assign(C.Name(storage.name), C.Name(storage.owner)))
    if statements.unit.checked:
        after += sized_again(storage, statements.expressions)
    return C.Convert("i64", C.Prefix("&", C.Name(storage.owner)))


def taken_over(storage: Storage, where: C.CExpr, unit: Unit) -> list[C.CStmt]:
    """A variable of the caller as one of the function's own."""
    if storage.buffer.rank == 0:
        unit.types[storage.name] = storage.type
        return [C.Declare(storage.type, storage.name, C.Prefix("*", C.Convert(f"{storage.type} *", where)))]
    assert storage.owner is not None
    unit.types[storage.owner], unit.types[storage.name] = "void *", f"{storage.type} *"
    out: list[C.CStmt] = [
        C.Declare("void *", storage.owner, C.Prefix("*", C.Convert("void **", where))),
        C.Declare(f"{storage.type} *", storage.name, C.Name(storage.owner)),
    ]
    for name in (*storage.strides, *storage.remembered):
        unit.types[name] = "i64"
        out.append(C.Declare("i64", name, C.Number("0")))
    return out


def sized_again(storage: Storage, expressions: Expressions) -> list[C.CStmt]:
    """The remembered extents of memory that two functions share: what the variables of both say."""
    return [
        C.Assign(known, expressions.index(extent))
        for known, extent in zip(storage.extents, storage.buffer.shape)
        if isinstance(known, C.Name) and known.text in storage.remembered
    ]


def given_back(unit: Unit, expressions: Expressions) -> list[C.CStmt]:
    """At the end of a function, also of one that has failed: the caller's variables are what its own are now."""
    out: list[C.CStmt] = []
    for buffer in unit.program.buffers:
        if buffer.role is Role.HELD and unit.called is not None:
            storage = expressions.storages[buffer.name]
            where = C.Name(unit.called.parameters[unit.layout.params[buffer.name]])
            kind, name = ("void **", storage.owner) if buffer.rank else (f"{storage.type} *", storage.name)
            assert name is not None
            out.append(C.Assign(C.Prefix("*", C.Convert(kind, where)), C.Name(name)))
    return out


def _number(argument: Expr, statements: Loops) -> list[C.CExpr]:
    value, dtype = statements.expressions.value(argument), argument.type.dtype
    if dtype.is_complex:
        bits = statements.unit.used.helper("bits", dtype.real)
        return [C.call(bits, C.Prefix(f"__{part}__ ", value)) for part in ("real", "imag")]
    return [C.call(statements.unit.used.helper("bits", dtype), value) if dtype.is_float else C.Convert("i64", value)]


def _array(argument: Operand, statements: Loops) -> list[C.CExpr]:
    buffer = statements.expressions.storages[argument.buffer].buffer
    dims = {dim.var: dim for dim in argument.dims if isinstance(dim, Dim)}
    found = strided(Read(argument.buffer, argument.index, buffer.type), dims, statements)
    extents = [statements.trips(dim) for dim in dims.values()]
    strides = [found.strides.get(name, C.Number("0")) for name in dims]
    return [C.Convert("i64", found.address), *extents, *strides]


def _taken(words: C.CExpr, offset: int, dtype: DType, ctype: str, statements: Loops) -> C.CExpr:
    def word(place: int) -> C.CExpr:
        return C.Subscript(words, C.number(place))

    if dtype.is_complex:
        part = statements.unit.used.helper("unbits", dtype.real)
        return C.call("__builtin_complex", C.call(part, word(offset)), C.call(part, word(offset + 1)))
    if dtype.is_float:
        return C.call(statements.unit.used.helper("unbits", dtype), word(offset))
    return C.Convert(ctype, word(offset))
