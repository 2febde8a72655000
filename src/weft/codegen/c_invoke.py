"""Calls of the program's own functions in C.  In: an Invoke node; out: a call of the static function that it names.

    { i64 results[1]; i64 status = f_fib(rt, w, results, start, n - 1); if (status) goto k_done; x = results[0]; }
Every word of a parameter is an argument of the C function, so that numbers travel in registers; results come back in a
block of words, and the reason of a failure is left in the control words of the kernel.  `start` is the address where
the stack of the outermost call began: a function that finds itself too far from it raises RecursionError.
"""

from __future__ import annotations

from weft.codegen import syntax as C
from weft.codegen.binding import layout, param_words
from weft.codegen.c_call import operand as strided
from weft.codegen.c_expr import RT
from weft.codegen.c_frame import DONE, GUARD, INTERRUPTED, OVERFLOW_ERROR, RAISE, RESULTS, STATUS, WORDS, Callee
from weft.codegen.c_loops import Loops
from weft.ir.expr import Dim, Expr, Read
from weft.ir.program import Invoke, Operand, Program, ScalarOut
from weft.ir.types import DType
from weft.ir.walk import leaves
from weft.runtime import descriptor as D

#: Bytes of stack that calls may take, and what happens beyond.
STACK = 3 << 20
TOO_DEEP = ("RecursionError", "maximum recursion depth exceeded")
START = "k_start"
#: How many calls may go by without a look for Ctrl-C.
_POLL_CALLS = 1 << 20
CALLS = "k_calls"
_HERE = C.Convert("i64", C.call("__builtin_frame_address", C.number(0)))


def callee(program: Program) -> Callee:
    places = layout(program)
    words = [places.params[name] + k for name in program.params for k in range(param_words(program, name))]
    first = D.CONTROL_WORDS + len(words)
    return Callee(
        f"f_{program.name}", program, places, {w: f"k_p{w}" for w in words}, first, max(places.words - first, 1)
    )


def head(function: Callee) -> str:
    parameters = "".join(f", i64 {name}" for name in function.parameters.values())
    return f"static i64 {function.name}(const weft_rt *{RT}, i64 *{WORDS}, i64 *{RESULTS}, i64 {START}{parameters})"


def entry(statements: Loops) -> list[C.CStmt]:
    """The beginning of a function: not too deep, and now and then a look for Ctrl-C."""
    away = C.Infix("+", C.Infix("-", C.Name(START), _HERE), C.number(STACK))  # stacks may grow either way
    deep = C.Infix(">", C.Convert("u64", away), C.number(2 * STACK))
    if statements.unit.guard_on_failure:
        failed = statements.failure(GUARD)
    else:
        failed = statements.failure(RAISE, statements.unit.exception(*TOO_DEEP), statements.unit.program.span.line)
    counted = C.Infix("&", C.Prefix("++", C.Name(CALLS)), C.number(_POLL_CALLS - 1))
    pending = C.IfElse(C.through(RT, "poll"), tuple(statements.failure(INTERRUPTED)))
    return [C.IfElse(deep, tuple(failed)), C.IfElse(C.Prefix("!", counted), (pending,))]


def invoke(node: Invoke, statements: Loops) -> list[C.CStmt]:
    """The call, its failure passed on, its results taken."""
    unit = statements.unit
    function = unit.callees[node.function]
    out: list[C.CStmt] = []
    words = unit.names.own("results")
    unit.types[words] = "i64 *"
    out.append(C.Declare("i64", words, extent=function.count))
    passed: list[C.CExpr] = []
    for argument in node.arguments:
        passed += _array(argument, statements) if isinstance(argument, Operand) else _number(argument, statements)
    start = _HERE if unit.called is None else C.Name(START)
    call = C.call(function.name, C.Name(RT), C.Name(WORDS), C.Name(words), start, *passed)
    status = statements.variable("i64", "status", call, out)
    out.append(C.IfElse(C.call("__builtin_expect", status, C.number(0)), tuple(_failed(status, statements))))
    numbers = [
        (leaf, offset)
        for leaf, offset in zip(leaves(function.program.results[0]), function.layout.returns[0])
        if isinstance(leaf, ScalarOut)
    ]
    for target, (leaf, offset) in zip(node.results, numbers):
        assert offset is not None
        storage = statements.expressions.storages[target]
        dtype = function.program.buffer(leaf.buffer).type.dtype
        value = _taken(C.Name(words), offset - function.first, dtype, storage.type, statements)
        out.append(C.Assign(C.Name(storage.name), value))
    return [C.Scope(tuple(out))]


def _failed(status: C.Name, statements: Loops) -> list[C.CStmt]:
    """What the callee failed with, the caller fails with; a call that cannot be repeated raises instead."""
    out: list[C.CStmt] = []
    if not statements.unit.guard_on_failure:
        code = statements.unit.exception(*OVERFLOW_ERROR)
        out.append(C.IfElse(C.Infix("==", status, C.number(GUARD)), tuple(statements.failure(RAISE, code))))
    return [*out, C.Assign(C.Name(STATUS), status), C.Jump(f"goto {DONE}")]


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


def _taken(words: C.Name, offset: int, dtype: DType, ctype: str, statements: Loops) -> C.CExpr:
    def word(place: int) -> C.CExpr:
        return C.Subscript(words, C.number(place))

    if dtype.is_complex:
        part = statements.unit.used.helper("unbits", dtype.real)
        return C.call("__builtin_complex", C.call(part, word(offset)), C.call(part, word(offset + 1)))
    if dtype.is_float:
        return C.call(statements.unit.used.helper("unbits", dtype), word(offset))
    return C.Convert(ctype, word(offset))
