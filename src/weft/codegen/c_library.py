"""Library routines in C.  In: a Library node; out: its calls through the run time, and the table the run time fills.

The innermost dimension of the batch is the routine's own loop, the others are loops around the call.  Addresses and
strides are read off the index maps, as for the calls of `c_call`: no operand is ever copied.

    { char *args[] = {...}; i64 sizes[] = {n, m}, steps[] = {...}; failed |= rt->routine(weft_routines + 0, ...); }
"""

from __future__ import annotations

from weft.codegen import syntax as C
from weft.codegen.c_call import operand as strided
from weft.codegen.c_expr import RT
from weft.codegen.c_loops import Loops
from weft.errors import Unsupported
from weft.ir.expr import Dim, Read
from weft.ir.program import Library, Operand, Program
from weft.ir.routines import CALLBACK, ROUTINES, types_of
from weft.ir.walk import walk
from weft.records import dataclass

TABLE = "weft_routines"

#: Calls of a host's function, whose address is the first operand, for each point of the batch.
CALL_BACK = """static void k_call_back(i64 count, char **arguments, const i64 *sizes, const i64 *steps) {
  for (i64 b = 0; b < sizes[0]; b++) {
    f64 x[4] = {0};
    void *function = (void *)*(i64 *)(arguments[0] + b * steps[0]);
    for (i64 i = 0; i < count; i++) x[i] = *(f64 *)(arguments[i + 1] + b * steps[i + 1]);
    *(f64 *)(arguments[count + 1] + b * steps[count + 1]) =
        count == 1 ? ((f64 (*)(f64))function)(x[0])
        : count == 2 ? ((f64 (*)(f64, f64))function)(x[0], x[1])
        : count == 3 ? ((f64 (*)(f64, f64, f64))function)(x[0], x[1], x[2])
        : ((f64 (*)(f64, f64, f64, f64))function)(x[0], x[1], x[2], x[3]);
  }
}"""


def addresses(program: Program) -> tuple[str, ...]:
    """The routines of a program as the run time knows them, each once."""
    return tuple(
        dict.fromkeys(
            _address(node, part)
            for part in (program, *program.functions)
            for node in walk(part.body)
            if isinstance(node, Library) and ROUTINES[node.routine].module != CALLBACK
        )
    )


def _address(node: Library, program: Program) -> str:
    dtypes = [[program.buffer(o.buffer).type.dtype for o in side] for side in (node.inputs, node.outputs)]
    return ROUTINES[node.routine].address(types_of(*dtypes))


def declaration(program: Program) -> list[C.TopLevel]:
    """The table of routines and their names, for a program that uses any."""
    names = addresses(program)
    if not names:
        return []
    return [C.Text(f'const char weft_routine_names[] = "{";".join(names)}";\nvoid *{TABLE}[{2 * len(names)}];')]


@dataclass(frozen=True)
class _Place:
    """An operand in C: where it begins, its stride in the routine's own batch and along its core dimensions."""

    address: C.CExpr
    batch: C.CExpr
    core: tuple[C.CExpr, ...]


def library(node: Library, statements: Loops) -> list[C.CStmt]:
    """The calls of a routine for every point of its domain, then its status."""
    *outer, inner = node.domain or (None,)
    routine = ROUTINES[node.routine]
    out: list[C.CStmt] = []
    failed = statements.variable("i64", "failed", C.Number("0"), out) if node.status is not None else None
    places = [_place(operand, inner, statements) for operand in (*node.inputs, *node.outputs)]
    sizes: dict[str, C.CExpr] = {}
    for operand, core in zip((*node.inputs, *node.outputs), (*routine.inputs, *routine.outputs)):
        for name, dim in zip(core, operand.dims):
            sizes.setdefault(name, statements.trips(_dense(dim, node)))
    count: C.CExpr = C.Number("1") if inner is None else statements.trips(_dense(inner, node))
    body = _call(node, places, (count, *(sizes[name] for name in routine.sizes)), failed, statements)
    out += statements.nest(tuple(outer), body)
    if node.status is not None:
        assert failed is not None
        storage = statements.expressions.storages[node.status]
        out.append(C.Assign(C.Name(storage.name), C.Prefix("!", failed)))
    return [C.Scope(tuple(out))]


def _dense(dim: object, node: Library) -> Dim:
    if not isinstance(dim, Dim):
        raise Unsupported(node.span, "a library routine over a compressed dimension", "")
    return dim


def _place(operand: Operand, batch: object, statements: Loops) -> _Place:
    """Strides in bytes; a dimension that an operand does not follow has stride 0."""
    buffer = statements.expressions.storages[operand.buffer].buffer
    dims = {dim.var: dim for dim in (*operand.dims, batch) if isinstance(dim, Dim)}
    found = strided(Read(operand.buffer, operand.index, buffer.type), dims, statements)
    size = C.number(buffer.type.dtype.size)

    def stride(dim: object) -> C.CExpr:
        step = found.strides.get(dim.var) if isinstance(dim, Dim) else None
        return C.Number("0") if step is None else C.times(step, size)

    return _Place(found.address, stride(batch), tuple(stride(dim) for dim in operand.dims))


def _call(
    node: Library, places: list[_Place], sizes: tuple[C.CExpr, ...], failed: C.Name | None, statements: Loops
) -> list[C.CStmt]:
    out: list[C.CStmt] = []

    def array(ctype: str, hint: str, values: list[C.CExpr]) -> C.Name:
        name = statements.unit.names.own(hint)
        statements.unit.types[name] = f"{ctype} *"
        out.append(C.Declare(ctype, name, extent=len(values)))
        out.extend(C.Assign(C.Subscript(C.Name(name), C.number(k)), value) for k, value in enumerate(values))
        return C.Name(name)

    arguments = array("char *", "arguments", [C.Convert("char *", place.address) for place in places])
    extents = array("i64", "sizes", list(sizes))
    steps = array("i64", "steps", [p.batch for p in places] + [stride for p in places for stride in p.core])
    if ROUTINES[node.routine].module == CALLBACK:
        statements.unit.used.text(CALL_BACK)
        made = C.call("k_call_back", C.number(len(node.inputs) - 1), arguments, extents, steps)
        return [C.Scope((*out, C.Evaluate(made)))]
    position = addresses(statements.unit.whole).index(_address(node, statements.unit.program))
    routine = C.Number(f"{TABLE} + {2 * position}" if position else TABLE)
    call = C.through(RT, "routine", routine, arguments, extents, steps)
    act: C.CStmt = C.Evaluate(call) if failed is None else C.Assign(failed, call, "|=")
    if node.domain:
        act = C.IfElse(C.Subscript(extents, C.Number("0")), (act,))  # no matrix, no call
    return [C.Scope((*out, act))]
