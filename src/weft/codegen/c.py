"""The C back end.  In: a lowered program, the user's options and what the compiler offers; out: one translation unit
without headers that exports `kernel`, where its arguments and results lie, and the table of exceptions it can raise.

    unpack the words  ->  entry guards (else status 1)  ->  the body  ->  one exit that releases memory
"""

from __future__ import annotations

from weft.analysis import ranges
from weft.analysis.choices import choices
from weft.analysis.scopes import declarations, exchanged, hands_over, lasting_writes, restored, written_params
from weft.codegen import c_checked, c_foreign, c_invoke, c_library, c_restore, c_support, c_tasks, c_vectors
from weft.codegen import syntax as C
from weft.codegen.binding import WordLayout, layout, source_files
from weft.codegen.c_expr import OVERFLOW, RT, Expressions, Names, Storage, from_arrays, truncates
from weft.codegen.c_frame import (
    BACK_WORD,
    CHOICE_WORD,
    CHOICES,
    DONE,
    FAILED,
    GUARD,
    HELD,
    OVERFLOW_ERROR,
    RESULTS,
    STATUS,
    THREAD,
    TICKS,
    WORDS,
    Callee,
    EntryGuard,
    Frame,
    Unit,
)
from weft.codegen.c_helpers import PRELUDE
from weft.codegen.c_loops import has_loop
from weft.codegen.c_memory import storage_of
from weft.codegen.c_ops import CFeatures, Used, prototype
from weft.codegen.c_parts import halves
from weft.codegen.c_stmt import Statements
from weft.ir.expr import Op, Var, dim_vars
from weft.ir.program import (
    REGIONS,
    Argument,
    Break,
    Buffer,
    Derived,
    If,
    Layout,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Role,
    SizeOf,
    Stmt,
    Symbol,
    While,
)
from weft.ir.walk import subexpressions, walk
from weft.options import Options
from weft.records import dataclass

__all__ = ["CFeatures", "CSource", "flags", "generate"]

#: Every symbol is smaller than this in magnitude, so that index arithmetic cannot overflow.
SYMBOL_LIMIT = 1 << 40


@dataclass(frozen=True)
class CSource:
    """A kernel in C: its text, the layout of its word block, its exceptions (name and message template) by code, the
    definitions of a macro that choose its parts, if it may be compiled in parts, and whether its loops are straight:
    they count, and nothing inside them branches.  `guards`: its entry guards by number, if it tells which failed."""

    text: str
    layout: WordLayout
    exceptions: tuple[tuple[str, str], ...]
    parts: tuple[str, ...] = ()
    straight: bool = False
    guards: tuple[EntryGuard, ...] = ()


#: What lets sums be regrouped: NaN and infinities stay what they are, unless terms cancel (x - y + y is x).
_REGROUP = ("-fno-math-errno", "-fno-signed-zeros", "-fno-trapping-math", "-fassociative-math", "-fno-rounding-math")
#: With these, all of -ffast-math. The flag itself makes gcc link code that flushes subnormal numbers to zero for the
#: process.
_FAST = ("-ffinite-math-only", "-freciprocal-math", "-ffp-contract=fast")


def flags(options: Options) -> tuple[str, ...]:
    """Compiler flags that the meaning of the options asks for."""
    if options.regroups:
        return (*_REGROUP, *_FAST) if options.fp == "fast" else _REGROUP
    return ()


def generate(
    program: Program, options: Options, features: CFeatures | None = None, alone: bool = False
) -> CSource:
    """The C of a lowered program.

    `alone`: there is no Python that could repeat a call.  Whatever fails raises, and a guard tells which one it is.
    """
    made = _generated(program, options, features, alone, frozenset())
    if alone or OVERFLOW_ERROR not in made.exceptions:
        return made
    # An integer may leave 64 bits where arguments have been written: only the code tells.
    return _generated(program, options, features, alone, lasting_writes(program))


def _generated(
    program: Program, options: Options, features: CFeatures | None, alone: bool, undone: frozenset[str]
) -> CSource:
    features = features or CFeatures()
    program = c_checked.prepared(program) if options.checked else program
    strict = options.fp == "strict"
    names = Names()
    names.taken |= {RT, WORDS, RESULTS, STATUS, TICKS, FAILED, OVERFLOW, CHOICES, THREAD, HELD, *c_support.FUNCTIONS}
    vector = frozenset() if strict else features.vector_functions()
    used = Used(vector if features.widest else frozenset())
    exceptions: dict[tuple[str, str], int] = {}
    outlined: list[C.TopLevel] = []
    sharing = c_invoke.handing_out(program) if options.parallel else set()
    callees = {part.name: c_invoke.callee(part, part.name in sharing) for part in program.functions}
    forms = [form for function in callees.values() for form in c_invoke.forms(function)]
    names.taken |= {form.name for form in forms}
    functions: list[C.Function] = []
    entry: list[EntryGuard] = []
    put_back = frozenset() if alone else restored(program)
    asks = not alone and any(hands_over(n) for part in (program, *program.functions) for n in walk(part.body))
    whole = any(truncates(part) for part in (program, *program.functions))
    kinds = {n.kind for part in (program, *program.functions) for n in walk(part.body) if isinstance(n, Loop)}
    regions = options.parallel and not kinds.isdisjoint(REGIONS)
    for part, called in ((program, None), *((form.program, form) for form in forms)):
        expressions = Expressions(
            names, used, ranges.environment(part), strict, truncates=whole, derived=from_arrays(part)
        )
        unit = Unit(
            program=part,
            whole=program,
            layout=layout(part),
            names=names,
            used=used,
            declarations=declarations(part),
            exchanged=exchanged(part),
            guard_on_failure=not alone and (bool(put_back) or not lasting_writes(program)),
            put_back=put_back,
            undone=undone,
            hands_over=asks,
            threads=options.parallel,
            strict=strict,
            checked=options.checked,
            brief=options.brief,
            exceptions=exceptions,
            files=source_files(program),
            functions=outlined,
            choices={id(choice.node): choice.number for choice in choices(part)} if called is None else {},
            callees=callees,
            called=called,
            tasks=options.parallel and LoopKind.TASK in kinds,
            alone=called is not None and called.name == called.alone,
            told=alone,
            guards=entry,
        )
        functions.append(_whole(unit, expressions))
    parts: list[C.TopLevel] = [C.Text(f"/* {program.name} */{PRELUDE}")]
    parts += _prototypes(used, features, vector)
    parts += [C.Text(text) for text in used.helpers.values()]
    parts += [C.Text(c_invoke.RECORD)] if callees or regions else []
    parts += [C.Text(c_tasks.SERVICES)] if regions else []
    parts += [C.Text(text) for text in used.texts]
    routines = [*c_library.declaration(program), *map(C.Text, c_foreign.declaration(used.foreign))]
    bodies = [part for part in outlined if part != C.Text("")]
    if routines or callees or regions:
        # Variables of the whole unit: it stays one.
        parts += routines
        parts += [C.Text(c_invoke.declaration(function)) for function in callees.values()]
        text = C.print_unit((*parts, *bodies, *functions[::-1]))
        return CSource(text, layout(program), tuple(exceptions), guards=tuple(entry))
    code, definitions = halves(bodies, functions[0])
    text, straight = C.print_unit((*parts, *code)), not any(_branches(node) for node in walk(program.body))
    return CSource(text, layout(program), tuple(exceptions), definitions, straight, tuple(entry))


def _prototypes(used: Used, features: CFeatures, vector: frozenset[str]) -> list[C.TopLevel]:
    """The functions of libm that a unit calls."""
    types = c_vectors.TYPES if features.widest and vector & {name.removesuffix("f") for name in used.library} else ""
    texts = [*([types] if types else []), *(prototype(function, features, vector) for function in used.library)]
    return [C.Text(text) for text in texts]


def _branches(node: Node) -> bool:
    """Whether a loop ends early, goes on for as long as a condition holds, or chooses: between single statements, or
    between values by what is chosen itself, as max(0.0, min(a, b)) does."""
    if isinstance(node, Loop):
        found = [inner for inner in walk(node.body) if isinstance(inner, If)]
        return any(block and not has_loop(block) for inner in found for block in (inner.then, inner.orelse))
    if isinstance(node, Stmt):
        tests = [expr.args[0] for expr in subexpressions(node.value) if isinstance(expr, Op) and expr.op == "select"]
        return any(isinstance(part, Op) and part.op == "select" for test in tests for part in subexpressions(test))
    return isinstance(node, (While, Break, Rebind))


def _whole(unit: Unit, expressions: Expressions) -> C.Function:
    """The C function of one program."""
    program, names = unit.program, unit.names
    for symbol in program.symbols:
        unit.types[names.of(symbol.name)] = "i64"
    for node in walk(program.body):
        if isinstance(node, Loop):
            unit.types |= {names.of(var): "i64" for var in dim_vars((node.dim,))}
    for buffer in program.buffers:
        owns = buffer.rank > 0 and buffer.name not in unit.layout.slots and buffer.role is not Role.PARAM
        expressions.storages[buffer.name] = storage_of(program, buffer, names, expressions, owns)
    unit.unaliased |= _unaliased(program, expressions.storages)
    return _kernel(unit, expressions)


def _unaliased(program: Program, storages: dict[str, Storage]) -> set[str]:
    """Pointers that no other pointer's memory overlaps: the function's own, and parameters proven disjoint at entry."""
    written = written_params(program)
    params = [b for b in program.buffers if b.role is Role.PARAM and b.rank]
    apart = {frozenset(pair) for pair in program.disjoint}
    found = {storages[b.name].name for b in program.buffers if b.role is not Role.PARAM and b.rank}
    for buffer in params:
        others = [o.name for o in params if o is not buffer and (buffer.name in written or o.name in written)]
        if all(frozenset({buffer.name, other}) in apart for other in others):
            found.add(storages[buffer.name].name)
    return found


# --- the kernel function --------------------------------------------------------------------------------------------


def _word(offset: int) -> C.CExpr:
    return C.Subscript(C.Name(WORDS), C.number(offset))


def _given(offset: int, unit: Unit) -> C.CExpr:
    """A word of a parameter: a function that is called by another one has them as parameters."""
    return _word(offset) if unit.called is None else C.Name(unit.called.parameters[offset])


def _kernel(unit: Unit, expressions: Expressions) -> C.Function:
    frame = Frame(parallel=False)
    statements = Statements(unit, expressions, frame)
    unpacked = _unpack(unit, expressions)
    guards = _guards(unit, expressions, statements) if unit.called is None else []
    for name in unit.layout.slots:
        statements.declare_pointer(expressions.storages[name])
    body = statements.block(unit.program.body, ())
    enter, leave = c_tasks.session(unit)
    back = [unit.program.buffer(name) for name in sorted(unit.put_back)] if unit.called is None else []
    undone = [unit.program.buffer(name) for name in sorted(unit.undone)] if unit.called is None else []
    before, behind = c_restore.kept(back, unit) if back else c_restore.undone(undone, unit)
    code: list[C.CStmt] = [*guards, *before, *enter, *body, C.Label(DONE)]
    free = set(C.free_names(tuple(code)))
    own, tail = c_tasks.closing(unit, frame, tuple(code))
    code += [*tail, *leave, *behind]
    heads: list[C.CStmt] = [C.Declare("i64", STATUS, C.number(GUARD)), *c_restore.declared(back or undone), *own]
    if CHOICES in free:
        code.append(C.Assign(_word(CHOICE_WORD), C.Name(CHOICES)))
    if unit.called is not None:
        code += c_invoke.given_back(unit, expressions)
        return _called(unit.called, heads, unpacked, (*frame.heads, *code))
    if unit.guard_on_failure or unit.hands_over or unit.undone:
        code.append(C.Assign(_word(BACK_WORD), C.Infix("==", C.Name(STATUS), C.number(GUARD))))
    code.append(C.Leave(C.Name(STATUS)))
    if THREAD in free:
        heads += c_invoke.record("&k_alone" if unit.tasks else "0")
    # The words are loaded first: a guard that fails jumps over no declaration that matters.
    return C.Function(f"i64 kernel(const weft_rt *{RT}, i64 *{WORDS})", (*heads, *unpacked, *frame.heads, *code))


def _called(function: Callee, heads: list[C.CStmt], unpacked: list[C.CStmt], code: C.CBlock) -> C.Function:
    """A function that others call: its results and its status are one value."""
    result = C.Name(RESULTS)
    ending = (C.Assign(C.Dot(result, "status"), C.Name(STATUS)), C.Leave(result))
    body: C.CBlock = (*heads, *unpacked, *code, *ending)
    free = set(C.free_names(body))
    own: list[C.CStmt] = [C.Declare(c_invoke.given(function), RESULTS)]
    if RT in free:
        own.append(C.Declare("const weft_rt *", RT, C.Arrow(C.Name(THREAD), "rt")))
    if WORDS in free:
        own.append(C.Declare("i64 *const", WORDS, C.Arrow(C.Name(THREAD), "words")))
    return C.Function(c_invoke.head(function), (*own, *body))


def _unpack(unit: Unit, expressions: Expressions) -> list[C.CStmt]:
    """Parameters from the word block into variables."""
    out: list[C.CStmt] = []
    for name in unit.program.params:
        buffer = unit.program.table.get(name)
        if buffer is not None:
            out += _unpack_buffer(buffer, unit, expressions)
    for symbol in unit.program.symbols:
        value = (
            expressions.value(symbol.source.value)
            if isinstance(symbol.source, Derived)
            else _given(_symbol_word(symbol, unit), unit)
        )
        out.append(C.Declare("const i64", unit.names.of(symbol.name), value))
    for buffer in unit.program.buffers if unit.checked else ():
        if buffer.role is Role.HELD:
            out += c_invoke.sized_again(expressions.storages[buffer.name], expressions)
    return out


def _symbol_word(symbol: Symbol, unit: Unit) -> int:
    if isinstance(symbol.source, Argument):
        return unit.layout.params[symbol.source.name]
    assert isinstance(symbol.source, SizeOf)
    return unit.layout.params[symbol.source.buffer] + 1 + symbol.source.axis


def _unpack_buffer(buffer: Buffer, unit: Unit, expressions: Expressions) -> list[C.CStmt]:
    storage, word = expressions.storages[buffer.name], unit.layout.params[buffer.name]
    if buffer.role is Role.HELD:
        return c_invoke.taken_over(storage, _given(word, unit), unit)
    if buffer.rank == 0:
        unit.types[storage.name] = storage.type
        return [C.Declare(storage.type, storage.name, _unpack_scalar(buffer, word, unit))]
    unit.types[storage.name] = f"{storage.type} *"
    alone = storage.name in unit.unaliased and buffer.name not in unit.exchanged
    pointer = f"{storage.type} *restrict" if alone else f"{storage.type} *"
    out: list[C.CStmt] = [C.Declare(pointer, storage.name, C.Convert(f"{storage.type} *", _given(word, unit)))]
    for axis, stride in enumerate(storage.strides):
        unit.types[stride] = "i64"
        out.append(C.Declare("i64", stride, _given(word + 1 + buffer.rank + axis, unit)))
    for axis, extent in enumerate(storage.extents):
        if isinstance(extent, C.Name) and extent.text in storage.remembered:
            unit.types[extent.text] = "i64"
            out.append(C.Declare("i64", extent.text, _given(word + 1 + axis, unit)))
    return out


def _unpack_scalar(buffer: Buffer, word: int, unit: Unit) -> C.CExpr:
    dtype = buffer.type.dtype
    if dtype.is_complex:
        part = unit.used.helper("unbits", dtype.real)
        return C.call("__builtin_complex", C.call(part, _given(word, unit)), C.call(part, _given(word + 1, unit)))
    if dtype.is_float:
        return C.call(unit.used.helper("unbits", dtype), _given(word, unit))
    return C.Convert(unit.types[unit.names.of(buffer.name)], _given(word, unit))


def _guards(unit: Unit, expressions: Expressions, statements: Statements) -> list[C.CStmt]:
    """What must hold for this code to apply; nothing has happened yet, so that a failure is a plain return."""
    layouts = [*_symbol_guards(unit), *_shape_guards(unit, expressions), *_overlap_guards(unit)]
    plain = [
        (expressions.value(check.condition), EntryGuard("condition", check=check))
        for check in unit.program.guards
        if not check.domain
    ]
    out: list[C.CStmt] = []
    for group in (layouts, plain):
        if unit.told:
            out += [_refused(condition, guard, unit) for condition, guard in group]
            continue
        together = C.all_of([condition for condition, _ in group])
        if together is not None:
            out.append(C.IfElse(C.Prefix("!", together), (C.Leave(C.number(GUARD)),)))
    for check in unit.program.guards:
        if check.domain:  # these read arrays: last, when sizes and layouts are known to be right
            condition = expressions.value(check.condition)
            failed = _refused(condition, EntryGuard("condition", check=check), unit)
            out += statements.nest(check.domain, [failed])
    return out


def _refused(condition: C.CExpr, guard: EntryGuard, unit: Unit) -> C.CStmt:
    """The kernel is left if a guard does not hold; where nothing but the kernel could say why, it notes its number."""
    noted: list[C.CStmt] = []
    if unit.told:
        noted.append(C.Assign(_word(1), C.number(len(unit.guards))))
        unit.guards.append(guard)
    return C.IfElse(C.Prefix("!", condition), (*noted, C.Leave(C.number(GUARD))))


_Guarded = tuple[C.CExpr, EntryGuard]


def _symbol_guards(unit: Unit) -> list[_Guarded]:
    found: list[_Guarded] = []
    for symbol in unit.program.symbols:
        shifted = C.Infix("+", C.Convert("u64", C.Name(unit.names.of(symbol.name))), C.number(SYMBOL_LIMIT - 1))
        found.append((C.Infix("<", shifted, C.number(2 * SYMBOL_LIMIT - 1)), EntryGuard("range", (symbol.name,))))
    return found


def _shape_guards(unit: Unit, expressions: Expressions) -> list[_Guarded]:
    """Extents that the program knows to be something else than a symbol of their own, and the layout."""
    found: list[_Guarded] = []
    defined = {s.source: s.name for s in unit.program.symbols}
    for name in unit.program.params:
        buffer = unit.program.table.get(name)
        if buffer is None or not buffer.rank:
            continue
        word = unit.layout.params[name]
        for axis, extent in enumerate(buffer.shape):
            if not isinstance(extent, Var) or defined.get(SizeOf(name, axis)) != extent.name:
                same = C.Infix("==", _word(word + 1 + axis), expressions.bound(extent))
                found.append((same, EntryGuard("extent", (name,), axis, extent)))
        if buffer.layout is not Layout.STRIDED:
            test, text = ("k_is_c", c_support.IS_C) if buffer.layout is Layout.C else ("k_is_f", c_support.IS_F)
            unit.used.text(text)
            ordered = C.call(test, C.Infix("+", C.Name(WORDS), C.number(word)), C.number(buffer.rank))
            found.append((ordered, EntryGuard("layout", (name,))))
    return found


def _overlap_guards(unit: Unit) -> list[_Guarded]:
    found: list[_Guarded] = []
    for pair in unit.program.disjoint:
        unit.used.text(c_support.DISJOINT)
        arguments: list[C.CExpr] = []
        for name in pair:
            buffer = unit.program.buffer(name)
            arguments.append(C.Infix("+", C.Name(WORDS), C.number(unit.layout.params[name])))
            arguments += [C.number(buffer.rank), C.number(buffer.type.dtype.size)]
        found.append((C.call("k_disjoint", *arguments), EntryGuard("overlap", pair)))
    return found
