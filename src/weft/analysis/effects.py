"""Effects: which elements a node reads and writes, and which buffers are still needed after it.

In: nodes of a program; out: `Access`es (a buffer, an index, the dimensions it runs over) and a `Liveness` that tells,
for every node of a program, whose contents may still be read once the node is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from weft.ir.expr import ONE, ZERO, AnyDim, CompressedDim, Dim, Domain, Expr, Op, Read, Reduce, Var, is_const
from weft.ir.ops import OPERATIONS
from weft.ir.program import (
    Alloc,
    ArrayOut,
    Block,
    Break,
    Call,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Operand,
    Out,
    Program,
    Return,
    Role,
    ScalarOut,
    Stmt,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.types import INT
from weft.ir.walk import (
    buffers_read,
    children,
    dim_children,
    domain_buffers,
    expr_buffers,
    kept,
    operands_of,
    overwritten,
    subexpressions,
)
from weft.records import dataclass


@dataclass(frozen=True)
class Access:
    """One read or write: `buffer[index]` at every point of `dims` (the statement's domain, then reductions)."""

    buffer: str
    index: tuple[Expr, ...]
    dims: Domain


def reads_of(expr: Expr, dims: Domain = ()) -> Iterator[Access]:
    """Every read in an expression, with the dimensions around it; positions and coordinates of compressed ones too."""
    if isinstance(expr, Read):
        yield Access(expr.buffer, expr.index, dims)
    if isinstance(expr, Reduce):
        yield from domain_reads(expr.dims, dims)
        yield from reads_of(expr.value, dims + expr.dims)
        return
    for child in children(expr):
        yield from reads_of(child, dims)


def domain_reads(domain: Domain, outer: Domain = ()) -> Iterator[Access]:
    """The reads that finding the points of a domain takes."""
    for position, dim in enumerate(domain):
        around = outer + domain[:position]
        for bound in dim_children(dim):
            yield from reads_of(bound, around)
        if isinstance(dim, CompressedDim):
            yield Access(dim.pointer, (dim.parent,), around)
            yield Access(dim.pointer, (Op("add", (dim.parent, ONE), INT),), around)
            yield Access(dim.coordinate, (Var(dim.position),), around + (dim,))


def node_reads(node: Stmt | Check) -> list[Access]:
    """All reads of a statement or check; a reduction's read of its own target is not among them."""
    found = list(domain_reads(node.domain))
    if isinstance(node, Stmt):
        for part in node.index:
            found += reads_of(part, node.domain)
        return found + list(reads_of(node.value, node.domain))
    found += reads_of(node.condition, node.domain)
    for value in node.values:
        found += reads_of(value, node.domain)
    return found


def node_write(stmt: Stmt) -> Access:
    return Access(stmt.buffer, stmt.index, stmt.domain)


@dataclass(frozen=True)
class Accesses:
    """The accesses of a node and of everything in it."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


def accesses(node: Node, around: tuple[AnyDim, ...] = ()) -> Accesses:
    """All accesses of a node, nested blocks included, with the inner loops' dimensions around them."""
    reads: list[Access] = []
    writes: list[Access] = []
    stmt = node.stmt if isinstance(node, Call) else node
    if isinstance(stmt, (Stmt, Check)):
        reads += [Access(a.buffer, a.index, around + a.dims) for a in node_reads(stmt)]
        if isinstance(stmt, Stmt):
            write = node_write(stmt)
            writes.append(Access(write.buffer, write.index, around + write.dims))
            if stmt.reduce is not None:
                reads.append(writes[-1])
    elif isinstance(node, Alloc):
        writes.append(Access(node.buffer, (), around))
    elif isinstance(node, Library):
        reads += domain_reads(node.domain, around)
        reads += [Access(o.buffer, o.index, around + node.domain + o.dims) for o in node.inputs]
        changed = overwritten(node)
        places = [o for o in operands_of(node) if o.buffer in changed]
        writes += [Access(o.buffer, o.index, around + node.domain + o.dims) for o in places]
        if node.status is not None:
            writes.append(Access(node.status, (), around))
    elif isinstance(node, Invoke):
        for argument in node.arguments:
            if isinstance(argument, Operand):
                access = Access(argument.buffer, argument.index, around + argument.dims)
                reads.append(access)
                writes += [access] if argument.buffer in node.writes else []
            else:
                reads += reads_of(argument, around)
        writes += [Access(name, (), around) for name in node.results]
    elif isinstance(node, Loop):
        reads += domain_reads((node.dim,), around)
        _extend(reads, writes, node.body, around + (node.dim,))
    elif isinstance(node, If):
        reads += reads_of(node.condition, around)
        _extend(reads, writes, node.then + node.orelse, around)
    elif isinstance(node, While):
        reads += reads_of(node.condition, around)
        _extend(reads, writes, node.prelude + node.body, around)
    return Accesses(tuple(reads), tuple(writes))


def _extend(reads: list[Access], writes: list[Access], block: tuple[Node, ...], around: tuple[AnyDim, ...]) -> None:
    for inner in block:
        found = accesses(inner, around)
        reads += found.reads
        writes += found.writes


def flops(expr: Expr) -> int:
    """A rough number of cycles for one evaluation; a reduction counts as large, an index as nothing."""
    return kept(expr, "_flops", _flops)


def _flops(expr: Expr) -> int:
    if isinstance(expr, Reduce):
        return 1000 + flops(expr.value)
    if isinstance(expr, Read):
        # Index arithmetic is free; an index that is itself fetched from memory is not.
        return 1 + sum(flops(inner) for part in expr.index for inner in subexpressions(part) if isinstance(inner, Read))
    if isinstance(expr, Op):
        return operation_cost(expr) + sum(flops(argument) for argument in expr.args)
    return sum(flops(child) for child in children(expr))


def operation_cost(expr: Op) -> int:
    """The cost of one operation; the absolute value of a complex number takes a square root."""
    if expr.op == "abs" and expr.args[0].type.dtype.is_complex:
        return OPERATIONS["hypot"].cost
    return OPERATIONS[expr.op].cost


def result_buffers(out: Out) -> set[str]:
    if isinstance(out, ViewOut):
        # Where a view begins and ends may be known only at run time: those scalars are needed, too.
        places = {name for expr in out.index for name in expr_buffers(expr)}
        return {out.buffer} | domain_buffers(out.dims) | places
    if isinstance(out, (ScalarOut, ArrayOut)):
        return {out.buffer}
    if isinstance(out, TupleOut):
        return {name for item in out.items for name in result_buffers(item)}
    return set()


def returned(program: Program) -> set[str]:
    """Buffers that some result names."""
    return {name for out in program.results for name in result_buffers(out)}


def depends_on(expr: Expr, names: frozenset[str] | set[str]) -> bool:
    """Whether an expression uses one of these index variables."""
    if isinstance(expr, Var):
        return expr.name in names
    return any(depends_on(child, names) for child in children(expr))


def dim_depends_on(dim: Dim | CompressedDim, names: frozenset[str] | set[str]) -> bool:
    return any(depends_on(bound, names) for bound in dim_children(dim))


def sets_all(stmt: Stmt, shape: tuple[Expr, ...] | None) -> bool:
    """Whether a statement gives every element of its target, of this shape, a value; it may still read the old ones.

    A shape of None is that of a parameter, whose elements may lie in each other's memory: a scalar alone is set whole.
    """
    if stmt.reduce is not None:
        return False
    if not stmt.index:
        return not stmt.domain
    if shape is None or len(shape) != len(stmt.index) or not stmt.domain:
        return False
    dims = {dim.var: dim for dim in stmt.domain}
    # Along an axis of one place there is only that.
    own = [isinstance(part, Var) and part.name in dims for part in stmt.index]
    places = [(part, size) for part, size, mine in zip(stmt.index, shape, own) if mine or not is_const(size, 1)]
    along = [dims.pop(part.name, None) for part, _ in places if isinstance(part, Var)]
    if len(along) != len(places) or dims:
        return False
    return all(dim is not None and dim == Dim(dim.var, ZERO, size) for dim, (_, size) in zip(along, places))


@dataclass
class Liveness:
    """For every node of a program: the buffers that may be read after it before they are wholly written again.

    An Alloc, a scalar's assignment and a statement over the whole shape of a local array write a whole buffer.
    Parameters are always live.
    """

    program: Program
    after: dict[int, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._params = frozenset(b.name for b in self.program.buffers if b.role in (Role.PARAM, Role.HELD))
        self._shapes = {b.name: b.shape for b in self.program.buffers if b.role is not Role.PARAM}
        self._block(self.program.body, self._params, self._params, self._params)

    def live_after(self, node: Node) -> frozenset[str]:
        return self.after[id(node)]

    def live_before(self, block: Block, after: frozenset[str]) -> frozenset[str]:
        """What may be read before it is written in a block without exits, or after it."""
        return self._block(block, after, after, after)

    def _block(
        self, block: Block, after: frozenset[str], on_break: frozenset[str], on_continue: frozenset[str]
    ) -> frozenset[str]:
        for node in reversed(block):
            self.after[id(node)] = self.after.get(id(node), frozenset()) | after
            after = self._node(node, after, on_break, on_continue)
        return after

    def _node(
        self, node: Node, after: frozenset[str], on_break: frozenset[str], on_continue: frozenset[str]
    ) -> frozenset[str]:
        if isinstance(node, If):
            then = self._block(node.then, after, on_break, on_continue)
            orelse = self._block(node.orelse, after, on_break, on_continue)
            return then | orelse | frozenset(name for name in buffers_read(_only_condition(node)))
        if isinstance(node, (Loop, While)):
            return self._loop(node, after)
        if isinstance(node, Break):
            return on_break
        if isinstance(node, Continue):
            return on_continue
        if isinstance(node, Return):
            return self._params | frozenset(result_buffers(self.program.results[node.result]))
        killed: set[str] = set()
        if isinstance(node, Alloc):
            killed = {node.buffer}
        elif isinstance(node, Stmt) and sets_all(node, self._shapes.get(node.buffer)):
            killed = {node.buffer}
        return (after - killed) | buffers_read(node)

    def _loop(self, node: Loop | While, after: frozenset[str]) -> frozenset[str]:
        if isinstance(node, Loop):
            own = frozenset(buffers_read(Loop(node.dim, ())))
        else:
            own = frozenset(buffers_read(While((), node.condition, ())))
        head = after
        while True:
            if isinstance(node, Loop):
                before = after | self._block(node.body, head, after, head)
            else:
                tested = self._block(node.body, head, after, head) | own | after
                before = self._block(node.prelude, tested, after, head)
            if before <= head:
                break
            head = head | before
        return head | own if isinstance(node, Loop) else before


def _only_condition(node: If) -> If:
    return If(node.condition, ())
