"""Which part of a lowered program is a kernel.  In: a lowered program; out: a `Plan`.

    for t in 0 .. n:                      Repeat t:
      parallel i: vector j: b[i, j] = …     Launch kernel0 over (i, j)
      parallel i: vector j: a[i, j] = …     Launch kernel1 over (i, j)

Control that surrounds parallel loops stays on the host; everything else is in kernels, single statements too: their
operands are on the device already, and a launch costs less than a transfer.
"""

from __future__ import annotations

from weft.analysis.scopes import Path, declarations
from weft.codegen.c_expr import OVERFLOW, RT, Names
from weft.codegen.c_ops import Used
from weft.device import host, products
from weft.device.dialect import DIALECTS, FLAG
from weft.device.kernels import Unit, Work, has_lanes, is_long, kernel, stopped
from weft.device.lower import lowered
from weft.device.plan import (
    Again,
    Allocate,
    Assign,
    Choose,
    Exchange,
    Jump,
    Launch,
    Leave,
    Mapping,
    Plan,
    Refused,
    Repeat,
    Step,
    Steps,
)
from weft.ir.expr import Dim, Expr
from weft.ir.program import (
    REGIONS,
    Alloc,
    Block,
    Break,
    Call,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Return,
    Role,
    Stmt,
    While,
)
from weft.ir.walk import buffers_written, expr_buffers, free_vars, sub_blocks, touched, walk
from weft.options import Options
from weft.passes import Remark
from weft.records import dataclass

#: Dimensions of a launch.
MOST_DIMENSIONS = 3
_CONTROL = (Return, Break, Continue, Rebind, Alloc)


def planned(program: Program, options: Options, log: list[Remark], barriers: bool = True) -> Plan:
    """The plan of an optimised program: with matrix products as wholes, or without if they stand inside other loops."""
    strict = options.fp == "strict"
    try:
        return split(lowered(program, options, log), strict, barriers)
    except Refused:
        return split(lowered(program, options, log, matched=False), strict, barriers)


def split(program: Program, strict: bool = False, barriers: bool = True) -> Plan:
    """The plan of a lowered program; `Refused` if some part of it has no form on a device.

    `barriers`: whether work-groups have fast memory of their own, as accelerators do.
    """
    for node in walk(program.body):
        _check_known(node)
    names = Names()
    names.taken |= {OVERFLOW, RT, FLAG, *(word for dialect in DIALECTS.values() for word in dialect.reserved)}
    declared = declarations(program)
    known = _host_scalars(program)
    unit = Unit(program, names, Used(), declared, known, strict, barriers)
    splitter = _Splitter(unit, known, any(isinstance(node, Check) for node in walk(program.body)))
    steps = splitter.block(program.body, ())
    helpers = "\n".join((*unit.used.helpers.values(), *unit.used.texts))
    return Plan(program, steps, tuple(unit.kernels), helpers, known)


def _check_known(node: Node) -> None:
    if isinstance(node, Library):
        raise Refused(f"{node.routine} of line {node.span.line} is a library routine of the CPU")
    if isinstance(node, Invoke):
        raise Refused(f"a call of the recursive function {node.function} (line {node.span.line})")
    if isinstance(node, Call) and (reason := products.why_not(node)) is not None:
        raise Refused(f"{node.routine} of line {node.span.line} is {reason}")
    if isinstance(node, Loop) and node.kind in REGIONS:
        raise Refused(f"a {node.kind.value} block (line {node.span.line})")


def on_host(node: Node) -> bool:
    """Whether a node is control around kernels: it holds a parallel loop, or something only the host can do."""
    if isinstance(node, Loop) and node.kind is LoopKind.PARALLEL:
        return False
    for block in sub_blocks(node):
        for inner in block:
            if isinstance(inner, (Return, Rebind, Alloc, Call)) or _is_parallel(inner) or on_host(inner):
                return True
    return False


def _is_parallel(node: Node) -> bool:
    return isinstance(node, Loop) and node.kind is LoopKind.PARALLEL


def _host_scalars(program: Program) -> frozenset[str]:
    """Scalars that the host can compute itself: all their values come from sizes and from one another."""
    inside: set[str] = set()  # scalars that kernels write
    assigned: dict[str, list[Expr]] = {}

    def visit(block: Block) -> None:
        for node in block:
            if isinstance(node, Stmt) and not node.index:
                assigned.setdefault(node.buffer, []).append(node.value)
            elif on_host(node):
                for inner in sub_blocks(node):
                    visit(inner)
            else:
                inside.update(name for part in walk((node,)) for name in buffers_written(part))

    visit(program.body)
    table = program.table
    given = {b.name for b in program.buffers if not b.rank and b.role is Role.PARAM and b.name not in assigned}
    found = {name for name in assigned if name not in inside and table[name].role is not Role.PARAM}
    while True:
        kept = {name for name in found if all(host.evaluable(value, found | given) for value in assigned[name])}
        if kept == found:
            return frozenset(found)
        found = kept


@dataclass
class _Splitter:
    unit: Unit
    known: frozenset[str]
    checked: bool

    def block(self, block: Block, path: Path) -> Steps:
        steps: list[Step] = []
        pending: list[tuple[Node, Path]] = []

        def flush() -> None:
            if pending:
                steps.append(self._short(tuple(pending)))
                pending.clear()

        for position, node in enumerate(block):
            here = (*path, position)
            assigns = isinstance(node, Stmt) and node.buffer in self.known
            if not (assigns or isinstance(node, Alloc)) and self._in_short(node):
                pending.append((node, here))
                continue
            if not (assigns or isinstance(node, Alloc)) or self._touch(pending, node):
                flush()
            steps.append(self._step(node, here))
        flush()
        return tuple(steps)

    def _touch(self, pending: list[tuple[Node, Path]], node: Node) -> bool:
        """Whether statements that wait for their kernel use what a step of the host sets."""
        assert isinstance(node, (Stmt, Alloc))
        return any(node.buffer in touched(part) for waiting, _ in pending for part in walk((waiting,)))

    def _in_short(self, node: Node) -> bool:
        """Whether a node joins the single statements around it in one kernel."""
        if isinstance(node, (*_CONTROL, Call)):
            return False
        if isinstance(node, Loop) and (node.kind is LoopKind.PARALLEL or self._alone(node)):
            return False
        return not on_host(node) and not any(isinstance(inner, (Break, Continue)) for inner in _leaving(node))

    def _alone(self, loop: Loop) -> bool:
        """A vector loop outside all others whose iterations share nothing: a launch of its own."""
        return loop.kind is LoopKind.VECTOR and is_long(loop) and not loop.accumulators

    def _step(self, node: Node, path: Path) -> Step:
        if isinstance(node, Stmt):
            return Assign(node.buffer, node.value)
        if isinstance(node, Alloc):
            return Allocate(node.buffer, node.zero)
        if isinstance(node, Rebind):
            return Exchange(node.targets, node.sources)
        if isinstance(node, Return):
            return Leave(node.result)
        if isinstance(node, (Break, Continue)):
            return Jump("break" if isinstance(node, Break) else "continue")
        if (found := products.product_of(node)) is not None:
            return self._product(*found)
        if isinstance(node, Loop) and (node.kind is LoopKind.PARALLEL or self._alone(node)):
            return self._launch(node, path)
        if isinstance(node, Loop):
            if not isinstance(node.dim, Dim):
                raise Refused(f"a loop over compressed entries that was not lowered (line {node.span.line})")
            self._needs(node, node.dim.lo, node.dim.hi)
            return Repeat(node.dim, self.block(node.body, (*path, 0)))
        if isinstance(node, While):
            self._needs(node, node.condition)
            prelude, body = self.block(node.prelude, (*path, 0)), self.block(node.body, (*path, 1))
            return Again(prelude, node.condition, body)
        assert isinstance(node, If)
        self._needs(node, node.condition)
        return Choose(node.condition, self.block(node.then, (*path, 0)), self.block(node.orelse, (*path, 1)))

    def _needs(self, node: Node, *exprs: Expr) -> None:
        """The host must be able to compute what decides about launches; it may fetch scalars for that."""
        scalars = {buffer.name for buffer in self.unit.program.buffers if not buffer.rank}
        if not all(host.evaluable(expr, scalars) for expr in exprs):
            raise Refused(f"what decides about the kernels of line {node.span.line} is not a number that the host has")

    def _made(self, work: Work) -> Launch:
        made = kernel(work, self.unit, self.checked)
        self.unit.kernels.append(made)
        return Launch(made)

    def _product(self, call: Call, batch: Dim | None) -> Launch:
        made = products.kernel(call, batch, self.unit, stopped(self.unit.barriers) if self.checked else [])
        for dim in made.grid:
            self._needs(call, dim.lo, dim.hi)
        self.unit.kernels.append(made)
        return Launch(made)

    def _short(self, nodes: tuple[tuple[Node, Path], ...]) -> Launch:
        lanes = has_lanes(tuple(node for node, _ in nodes))
        return self._made(Work(nodes, Mapping.GROUPS if lanes else Mapping.SINGLE, span=nodes[0][0].span))

    def _launch(self, loop: Loop, path: Path) -> Launch:
        """The kernel of a parallel loop, with the loops right inside it that are independent, too."""
        assert isinstance(loop.dim, Dim)
        dims, inner, place = [loop.dim], loop, (*path, 0)
        while len(dims) < MOST_DIMENSIONS and (further := self._perfect(inner, place, dims)) is not None:
            inner, place = further, (*place, 0, 0)
            assert isinstance(inner.dim, Dim)
            dims.append(inner.dim)
        if has_lanes(inner.body):
            return self._work(loop, (*path, 0), Mapping.GROUPS, (loop.dim,))
        return self._work(inner, place, Mapping.ITEMS, tuple(dims))

    def _work(self, loop: Loop, inside: Path, mapping: Mapping, grid: tuple[Dim, ...]) -> Launch:
        for dim in grid:
            self._needs(loop, dim.lo, dim.hi)
        nodes = tuple((node, (*inside, position)) for position, node in enumerate(loop.body))
        return self._made(Work(nodes, mapping, grid, inside, loop.span))

    def _perfect(self, loop: Loop, place: Path, dims: list[Dim]) -> Loop | None:
        """The loop that is all of another loop's body, if the two are a rectangle of independent iterations."""
        only = loop.body[0] if len(loop.body) == 1 else None
        if not isinstance(only, Loop) or only.accumulators or not isinstance(only.dim, Dim):
            return None
        if only.kind not in (LoopKind.VECTOR, LoopKind.PARALLEL) or self.unit.declarations.get(place):
            return None
        bounds = (only.dim.lo, only.dim.hi)
        outer = {dim.var for dim in dims}
        if any(free_vars(bound) & outer or expr_buffers(bound) & _written(loop) for bound in bounds):
            return None
        return only


def _written(loop: Loop) -> set[str]:
    return {name for node in walk(loop.body) for name in buffers_written(node)}


def _leaving(node: Node) -> list[Node]:
    """Breaks and continues that leave the node itself."""
    if isinstance(node, (Loop, While)):
        return []
    if isinstance(node, (Break, Continue)):
        return [node]
    return [found for block in sub_blocks(node) for inner in block for found in _leaving(inner)]
