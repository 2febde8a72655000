"""Programs for one tile.  In: a plan and one of its stages; out: an ordinary `Program` that computes one tile, and what
each of its parameters stands for.

    C[i, j] = sum[k] A[i, k] * B[k, j] * i   for i: 0 <= i < N, ...
      -->   C[i, j] = sum[k] A[i, k] * B[k, j] * (i + lo)   for i: 0 <= i < hi - lo, ...
            lo and hi are integer arguments; A and C are the rows of the tile, B is whole

The dimension that is cut is counted from the tile's first coordinate on, and so is the array of which the tile has a
slice; whatever else uses the index gets its global value.  Arrays that live inside the stage are local and have the
size of the tile.  An array whose old contents are read and that is also written is two parameters.
The program goes through the usual lowering; the interpreter runs it as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from weft.analysis.first import first_access
from weft.cluster.plan import Plan, Stage, Whole
from weft.cluster.slices import Slice
from weft.ir import index
from weft.ir.expr import AnyDim, CompressedDim, Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.program import (
    Alloc,
    Argument,
    Block,
    Buffer,
    Check,
    Derived,
    If,
    Layout,
    Library,
    Loop,
    Node,
    NoneOut,
    Operand,
    Program,
    Return,
    Role,
    ScalarOut,
    SizeOf,
    Stmt,
    Symbol,
    TupleOut,
    While,
)
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    free_vars,
    fresh,
    map_children,
    names_of,
    node_exprs,
    walk,
)
from weft.records import dataclass

Kind = Literal["number", "lo", "hi", "scalar", "start", "input", "output", "share", "window"]
#: Parameters that are arrays.
_ARRAYS = ("input", "output", "share", "window")


@dataclass(frozen=True)
class Parameter:
    """What one parameter of a tile program stands for.

    number  the value of the symbol or loop variable `name` of the planned program
    lo, hi  the bounds of the tile
    scalar  the value of the rank-0 buffer `name`
    input   the elements of array `name` that `piece` says, from before the stage
    start   the position of the first of them, where `piece` is clipped
    output  memory for the tile's own elements of array `name` (lo .. hi of axis `piece.axis`); of a Whole step all of
            it, with its old contents
    share   memory for the tile's share of array `name`, to be combined
    window  of a sweep: a copy of the slice `piece`, changed in place; the tile's own elements of it are its result
    """

    kind: Kind
    name: str = ""
    piece: Slice | None = None


@dataclass(frozen=True)
class TileProgram:
    """A program, what its parameters stand for, and the rank-0 buffers whose values it returns, as a tuple in this
    order (None if there are none).
    """

    program: Program
    parameters: tuple[Parameter, ...]
    returned: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    """Where an array of the plan is in the tile program: a buffer, and an axis that begins at `start`."""

    buffer: str
    axis: int | None = None
    start: Expr = integer(0)

    def index(self, old: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if self.axis is None:
            return old
        return tuple(index.sub(e, self.start) if axis == self.axis else e for axis, e in enumerate(old))


class _Maker:
    """Gathers parameters, buffers and symbols of one program."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.taken = names_of(plan.program)
        self.parameters: list[tuple[str, Parameter]] = []
        self.buffers: list[Buffer] = []
        self.symbols: list[Symbol] = []
        self.derived: list[Symbol] = []
        self.written: list[str] = []

    def fresh(self, name: str) -> str:
        found = fresh(name, self.taken)
        self.taken.add(found)
        return found

    def integer(self, kind: Kind, name: str, of: str = "", piece: Slice | None = None) -> None:
        self.parameters.append((name, Parameter(kind, of, piece)))
        self.symbols.append(Symbol(name, Argument(name)))

    def array(self, name: str, kind: Kind, of: str, shape: tuple[Expr, ...], piece: Slice | None) -> None:
        old = self.plan.program.table[of]
        self.buffers.append(Buffer(name, old.type, shape, Role.PARAM, Layout.C, span=old.span))
        self.parameters.append((name, Parameter(kind, of, piece)))
        if kind != "input":
            self.written.append(name)

    def scalars(self, nodes: Block, before: Block = ()) -> tuple[list[Node], set[str]]:
        """Rank-0 buffers: those whose value comes from outside are parameters, copied if the nodes also set them."""
        table = self.plan.program.table
        read: set[str] = set().union(*(buffers_read(node) for node in nodes)) if nodes else set()
        written: set[str] = set().union(*(buffers_written(node) for node in nodes)) if nodes else set()
        start: list[Node] = []
        for name in sorted(n for n in read | written if not table[n].rank):
            buffer = table[name]
            if name not in written:
                self.buffers.append(replace(buffer, role=Role.PARAM))
                self.parameters.append((name, Parameter("scalar", name)))
                continue
            self.buffers.append(replace(buffer, role=Role.LOCAL))
            if name in read and not _set_first(nodes, name):
                outer = self.fresh(f"{name}_old")
                self.buffers.append(replace(buffer, name=outer, role=Role.PARAM))
                self.parameters.append((outer, Parameter("scalar", name)))
                start.append(Stmt((), name, (), Read(outer, (), buffer.type)))
        return start, written

    def finish(self, name: str, body: list[Node], returned: tuple[str, ...]) -> TileProgram:
        used = {v for node in walk(tuple(body)) for e in node_exprs(node) for v in free_vars(e)}
        values = [symbol.source.value for symbol in self.derived if isinstance(symbol.source, Derived)]
        used |= {v for value in values for v in free_vars(value)}
        used |= {v for buffer in self.buffers for e in buffer.shape for v in free_vars(e)}
        bound = {symbol.name for symbol in (*self.symbols, *self.derived)} | _bound(tuple(body))
        for free in sorted(used - bound):
            self.integer("number", free, free)
        inputs = [n for n, p in self.parameters if p.kind in _ARRAYS and n not in self.written]
        arrays = [*self.written, *inputs]
        disjoint = tuple((one, arrays[j]) for i, one in enumerate(self.written) for j in range(i + 1, len(arrays)))
        result = TupleOut(tuple(ScalarOut(n) for n in returned)) if returned else NoneOut()
        ordered = sorted(self.parameters, key=lambda item: item[1].kind in _ARRAYS)
        program = Program(
            name,
            tuple(n for n, _ in ordered),
            (*self.symbols, *self.derived),
            tuple(self.buffers),
            (),
            (*body, Return(0)),
            (result,),
            disjoint,
            span=self.plan.program.span,
        )
        return TileProgram(program, tuple(p for _, p in ordered), returned)


def tile_program(plan: Plan, stage: Stage) -> TileProgram:
    """The program of one tile of a stage."""
    table = plan.program.table
    make = _Maker(plan)
    lo, hi = make.fresh("lo"), make.fresh("hi")
    make.integer("lo", lo)
    make.integer("hi", hi)
    size = index.sub(Var(hi), Var(lo))
    own: dict[str, _Place] = {}
    old: dict[str, _Place] = {}
    body: list[Node] = []
    for written in stage.writes:
        name, axis = written.buffer, written.axis
        make.array(name, "output", name, _with(table[name].shape, axis, size), Slice(name, axis))
        own[name] = _Place(name, axis, Var(lo))
    for name in stage.temporaries:
        axis = _temporary_axis(stage, name, plan)
        make.buffers.append(replace(table[name], shape=_with(table[name].shape, axis, size), role=Role.LOCAL))
        own[name] = _Place(name, axis, Var(lo))
        body.append(Alloc(name))
    for partial in stage.partials:
        if table[partial.buffer].rank:
            make.array(partial.buffer, "share", partial.buffer, table[partial.buffer].shape, None)
        own[partial.buffer] = _Place(partial.buffer)
    for piece in stage.reads:
        behind = piece.buffer in stage.behind
        old[piece.buffer] = _behind(make, piece) if behind else _input(make, piece, own, Var(lo), size)
    start, _ = make.scalars(stage.nodes)
    body = [*start, *body]
    ranges = {(part.lo, part.hi) for part in stage.parts}
    done: set[str] = set()
    for part in stage.parts:
        first, past = (Var(lo), Var(hi)) if len(ranges) == 1 else _clipped(make, part.lo, part.hi, lo, hi)
        bounds = {part.var: (index.sub(first, integer(part.shift)), index.sub(past, integer(part.shift)))}
        here = buffers_written(part.node)
        inside = _changed_in_place(part.node)
        reads = {**old, **{name: own[name] for name in own if name in done or name in inside or name not in old}}
        body.append(_moved(part.node, reads, own, bounds, Var(lo)))
        done |= here
    for name in sorted({n for node in walk(stage.nodes) if isinstance(node, Alloc) for n in (node.buffer,)}):
        make.buffers.append(table[name])
    scalars = tuple(p.buffer for p in stage.partials if not table[p.buffer].rank)
    return make.finish(stage.name, body, scalars)


def whole_program(plan: Plan, step: Whole) -> TileProgram:
    """The program of nodes that run at one place."""
    table = plan.program.table
    make = _Maker(plan)
    inner = {node.buffer for node in walk(step.nodes) if isinstance(node, Alloc)}
    named = set().union(*(buffers_read(node) | buffers_written(node) for node in step.nodes))
    arrays = sorted(name for name in named if table[name].rank)
    changed: set[str] = set().union(*(buffers_written(node) for node in step.nodes))
    for name in arrays:
        if name in inner:
            make.buffers.append(replace(table[name], role=Role.LOCAL))
        else:
            make.array(name, "output" if name in changed else "input", name, table[name].shape, Slice(name, None))
    start, written = make.scalars(step.nodes)
    returned = tuple(sorted(name for name in written if not table[name].rank))
    return make.finish(step.name, [*start, *step.nodes], returned)


# --- parts ------------------------------------------------------------------------------------------------------------


def _with(shape: tuple[Expr, ...], axis: int, size: Expr) -> tuple[Expr, ...]:
    return tuple(size if position == axis else extent for position, extent in enumerate(shape))


def _input(make: _Maker, piece: Slice, own: Mapping[str, _Place], lo: Expr, size: Expr) -> _Place:
    """The parameter for what a tile reads of an array."""
    shape = make.plan.program.table[piece.buffer].shape
    name = make.fresh(f"{piece.buffer}_old") if piece.buffer in own else piece.buffer
    if piece.axis is None:
        make.array(name, "input", piece.buffer, shape, piece)
        return _Place(name)
    start: Expr = index.add(lo, integer(piece.below))
    length: Expr = index.add(size, integer(piece.above - piece.below))
    if piece.clipped:
        first, count = make.fresh(f"{piece.buffer}_from"), make.fresh(f"{piece.buffer}_n")
        make.integer("start", first, piece.buffer, piece)
        make.symbols.append(Symbol(count, SizeOf(name, piece.axis)))
        start, length = Var(first), Var(count)
    make.array(name, "input", piece.buffer, _with(shape, piece.axis, length), piece)
    return _Place(name, piece.axis, start)


def _behind(make: _Maker, piece: Slice) -> _Place:
    """The parameter for an array of which a tile takes the elements of its rows, however many these are."""
    count = make.fresh(f"{piece.buffer}_n")
    make.symbols.append(Symbol(count, SizeOf(piece.buffer, 0)))
    make.array(piece.buffer, "input", piece.buffer, (Var(count),), piece)
    return _Place(piece.buffer)


def _temporary_axis(stage: Stage, name: str, plan: Plan) -> int:
    """The axis of an array of the stage's own that runs along with the tile."""
    return plan.placed[name]


def _clipped(make: _Maker, first: Expr, past: Expr, lo: str, hi: str) -> tuple[Expr, Expr]:
    """The range of one part where the parts of a stage have different ones."""
    ends: list[Expr] = []
    for op, name, bound in (("maximum", lo, first), ("minimum", hi, past)):
        symbol = make.fresh(f"{name}_part")
        make.derived.append(Symbol(symbol, Derived(Op(op, (Var(name), bound), INT))))
        ends.append(Var(symbol))
    return ends[0], ends[1]


def _changed_in_place(node: Node) -> set[str]:
    """Arrays that a node reads through the memory that it writes."""
    if isinstance(node, Stmt):
        return {node.buffer} if node.reduce is not None else set()
    return buffers_read(node) & buffers_written(node)


def _set_first(nodes: Block, name: str) -> bool:
    """Whether nothing looks at a number before it is assigned."""
    return first_access(nodes, name) != "read"


def _bound(block: Block) -> set[str]:
    """Variables that loops, domains and reductions of a block bind."""
    found: set[str] = set()

    def bind(domain: Domain) -> None:
        for dim in domain:
            found.add(dim.var)
            if isinstance(dim, CompressedDim):
                found.add(dim.position)

    for node in walk(block):
        if isinstance(node, (Stmt, Check, Library)):
            bind(node.domain)
        if isinstance(node, Library):
            for operand in (*node.inputs, *node.outputs):
                bind(operand.dims)
        if isinstance(node, Loop):
            bind((node.dim,))
    return found


def _moved(
    node: Node,
    reads: Mapping[str, _Place],
    writes: Mapping[str, _Place],
    bounds: Mapping[str, tuple[Expr, Expr]],
    offset: Expr,
) -> Node:
    """A node on other buffers, with other bounds of the dimension that is cut, which is counted from `offset` on."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Var) and expr.name in bounds:
            return index.add(expr, offset)
        if isinstance(expr, Reduce):
            return replace(expr, dims=domain(expr.dims), value=visit(expr.value))
        expr = map_children(expr, visit)
        if isinstance(expr, Read) and expr.buffer in reads:
            place = reads[expr.buffer]
            return replace(expr, buffer=place.buffer, index=place.index(expr.index))
        return expr

    def dimension(dim: AnyDim) -> AnyDim:
        if isinstance(dim, CompressedDim):
            pointer, coordinate = reads.get(dim.pointer), reads.get(dim.coordinate)
            parent = visit(dim.parent)
            return replace(
                dim,
                parent=parent if pointer is None else pointer.index((parent,))[0],
                pointer=dim.pointer if pointer is None else pointer.buffer,
                coordinate=dim.coordinate if coordinate is None else coordinate.buffer,
            )
        if dim.var in bounds:
            lo, hi = (index.sub(bound, offset) for bound in bounds[dim.var])
            return Dim(dim.var, lo, hi, dim.step)
        return Dim(dim.var, visit(dim.lo), visit(dim.hi), dim.step)

    def domain(dims: Domain) -> Domain:
        return tuple(dimension(dim) for dim in dims)

    def operand(old: Operand, places: Mapping[str, _Place]) -> Operand:
        place = places.get(old.buffer, _Place(old.buffer))
        return Operand(place.buffer, domain(old.dims), place.index(tuple(visit(e) for e in old.index)))

    def block(nodes: Block) -> Block:
        return tuple(change(inner) for inner in nodes)

    def change(old: Node) -> Node:
        if isinstance(old, Stmt):
            place = writes.get(old.buffer, _Place(old.buffer))
            target = place.index(tuple(visit(e) for e in old.index))
            return replace(
                old, domain=domain(old.domain), buffer=place.buffer, index=target, value=visit(old.value)
            )
        if isinstance(old, Check):
            values = tuple(visit(e) for e in old.values)
            return replace(old, domain=domain(old.domain), condition=visit(old.condition), values=values)
        if isinstance(old, Library):
            inputs = tuple(operand(o, reads) for o in old.inputs)
            outputs = tuple(operand(o, writes) for o in old.outputs)
            return replace(old, domain=domain(old.domain), inputs=inputs, outputs=outputs)
        if isinstance(old, Loop):
            return replace(old, dim=dimension(old.dim), body=block(old.body))
        if isinstance(old, If):
            return replace(old, condition=visit(old.condition), then=block(old.then), orelse=block(old.orelse))
        if isinstance(old, While):
            return replace(old, prelude=block(old.prelude), condition=visit(old.condition), body=block(old.body))
        return old

    return change(node)
