"""Which part of a lowered program is a kernel.  In: a lowered program; out: a `Plan`.

    for t in 0 .. n:                      Repeat t:
      parallel i: vector j: b[i, j] = …     Launch kernel0 over (i, j)
      parallel i: vector j: a[i, j] = …     Launch kernel1 over (i, j)

Control that surrounds parallel loops stays on the host; everything else is in kernels, single statements too: their
operands are on the device already, and a launch costs less than a transfer.
"""

from __future__ import annotations

from weft.analysis import cost
from weft.analysis.scopes import Path, declarations
from weft.codegen import c_pairs
from weft.codegen.c_expr import OVERFLOW, RT, Names
from weft.codegen.c_ops import Used
from weft.device import halos, host, library, maths, merged, products, scatter
from weft.device.decisions import around_libraries, decided, on_host
from weft.device.dialect import DIALECTS, FLAG
from weft.device.kernels import (
    Staging,
    Unit,
    Updates,
    Work,
    group_of,
    kernel,
    stopped,
)
from weft.device.lanes import has_lanes, is_long, leaving, line_of, shared_elements
from weft.device.lower import lowered
from weft.device.plan import (
    Again,
    Allocate,
    Assign,
    Choose,
    Either,
    Exchange,
    Jump,
    Kernel,
    Launch,
    Leave,
    Mapping,
    Plan,
    Refused,
    Repeat,
    Routine,
    Step,
    Steps,
)
from weft.device.sizes import known_before
from weft.directives import NONE, Directives
from weft.ir.expr import Dim, Expr, Op, real
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
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    free_vars,
    node_exprs,
    sub_blocks,
    subexpressions,
    touched,
    walk,
)
from weft.options import Options
from weft.passes import Remark
from weft.records import dataclass

#: Dimensions of a launch.
MOST_DIMENSIONS = 3
_CONTROL = (Return, Break, Continue, Rebind, Alloc)


def planned(
    program: Program,
    options: Options,
    log: list[Remark],
    barriers: bool = True,
    library: bool = False,
    directives: Directives = NONE,
) -> Plan:
    """The plan of an optimised program: with matrix products as wholes, or without if they stand inside other loops.

    `library`: the device has a library for products.
    """
    strict = options.fp == "strict"

    def attempt(matched: bool, processor: bool, library: bool) -> Plan:
        log.clear()
        code = lowered(program, options, log, matched, processor, directives)
        return split(code, strict, barriers, library, directives)

    try:
        return attempt(True, not barriers, library)
    except Refused:
        pass  # a product inside other loops has no kernel; nor has all that passes of a processor make
    try:
        return attempt(True, False, library)
    except Refused:
        return attempt(False, False, False)


def split(
    program: Program,
    strict: bool = False,
    barriers: bool = True,
    has_library: bool = False,
    directives: Directives = NONE,
) -> Plan:
    """The plan of a lowered program; `Refused` if some part of it has no form on a device.

    `barriers`: whether work-groups have fast memory of their own, as accelerators do.
    """
    program = decided(known_before(around_libraries(program)))
    for node in walk(program.body):
        _check_known(node)
        _check_expressions(node)
    names = Names()
    names.taken |= {OVERFLOW, RT, FLAG, *(word for dialect in DIALECTS.values() for word in dialect.reserved)}
    declared = declarations(program)
    known = _host_scalars(program)
    unit = Unit(program, names, Used(pairs=True), declared, known, strict, barriers, has_library, directives)
    splitter = _Splitter(unit, known, any(isinstance(node, Check) for node in walk(program.body)))
    steps = splitter.block(program.body, ())
    helpers = "\n".join((*unit.used.helpers.values(), *unit.used.texts))
    if not barriers:
        helpers = maths.renamed(helpers)
        helpers = maths.defined((helpers, *(kernel.body for kernel in unit.kernels))) + helpers
    return Plan(program, steps, tuple(unit.kernels), helpers, known)


def _check_known(node: Node) -> None:
    if isinstance(node, Invoke):
        raise Refused(f"a call of the recursive function {node.function} (line {node.span.line})")
    if isinstance(node, Call) and (reason := products.why_not(node)) is not None:
        raise Refused(f"{node.routine} of line {node.span.line} is {reason}")
    if isinstance(node, Loop) and node.kind in REGIONS:
        raise Refused(f"a {node.kind.value} block (line {node.span.line})")


def _check_expressions(node: Node) -> None:
    for part in (part for expr in node_exprs(node) for part in subexpressions(expr)):
        if isinstance(part, Op) and part.op in c_pairs.MISSING and part.type.dtype.is_complex:
            raise Refused(f"{part.op} of complex numbers, which devices do not have (line {node.span.line})")


def _host_scalars(program: Program) -> frozenset[str]:
    """Scalars that the host can compute itself: all their values come from sizes and from one another."""
    inside: set[str] = set()  # scalars that kernels write
    assigned: dict[str, list[Expr]] = {}
    told: set[str] = set()  # whether a library succeeded

    def visit(block: Block) -> None:
        for node in block:
            if isinstance(node, Stmt) and not node.index:
                assigned.setdefault(node.buffer, []).append(node.value)
            elif isinstance(node, Library):
                inside.update(buffers_written(node) - {node.status})
                told.update({node.status} - {None})  # type: ignore[arg-type]
            elif on_host(node):
                for inner in sub_blocks(node):
                    visit(inner)
            else:
                inside.update(name for part in walk((node,)) for name in buffers_written(part))

    visit(program.body)
    table = program.table
    given = {b.name for b in program.buffers if not b.rank and b.role is Role.PARAM and b.name not in assigned}
    found = {name for name in assigned if name not in inside and table[name].role is not Role.PARAM}
    if told & (inside | set(assigned)):
        raise Refused("what a library tells is also a variable of kernels")
    given |= told
    while True:
        kept = {name for name in found if all(host.evaluable(value, found | given) for value in assigned[name])}
        if kept == found:
            return frozenset(found | told)
        found = kept


@dataclass
class _Splitter:
    unit: Unit
    known: frozenset[str]
    checked: bool
    #: Whether runs of nodes are also made as one kernel.
    merging: bool = True

    def block(self, block: Block, path: Path) -> Steps:
        """The steps of a block.  Neighbours that one kernel can do together get such a kernel beside their own."""
        nodes = tuple((node, (*path, position)) for position, node in enumerate(block))
        if not self.merging:
            return self._plain(nodes)
        steps: list[Step] = []
        run: list[tuple[Node, Path]] = []
        for entry in nodes:
            if merged.mergeable(entry[0]) and self._is_allocated_first(entry[0], run):
                run.append(entry)
                continue
            steps += self._merged(tuple(run))
            steps += self._plain((entry,))
            run.clear()
        return (*steps, *self._merged(tuple(run)))

    def _is_allocated_first(self, node: Node, run: list[tuple[Node, Path]]) -> bool:
        """Whether memory can be given before the nodes of a run."""
        if not isinstance(node, Alloc):
            return True
        before = {name for other, _ in run for part in walk((other,)) for name in touched(part)}
        sizes = self.unit.program.table[node.buffer].shape
        return not before & {node.buffer}.union(*map(expr_buffers, sizes))

    def _merged(self, run: tuple[tuple[Node, Path], ...]) -> Steps:
        """Either one kernel for a run of nodes, or their own steps."""
        inside = tuple(entry for entry in run if not isinstance(entry[0], Alloc))
        nodes = tuple(node for node, _ in inside)
        kernel = None
        if inside and merged.why_not(nodes, self.unit.program, self.known) is None:
            self.merging = False
            steps = self._plain(run)
            self.merging = True
            kernel = self._tried(inside) if merged.are_several(steps) else None
        else:
            steps = self._plain(run)
        if kernel is None:
            return steps
        given = tuple(Allocate(node.buffer, node.zero) for node, _ in run if isinstance(node, Alloc))
        rest = tuple(step for step in steps if not isinstance(step, Allocate))
        worth = merged.ACCELERATOR if self.unit.barriers else merged.PROCESSOR
        return (*given, Either(kernel, merged.launches(rest), worth, rest))

    def _tried(self, nodes: tuple[tuple[Node, Path], ...]) -> Kernel | None:
        """One kernel of nodes that have kernels of their own, if there is a form of it."""
        storages, taken = dict(self.unit.storages), len(self.unit.kernels)
        try:
            return self._short(nodes).kernel
        except Refused:
            self.unit.storages.clear()
            self.unit.storages.update(storages)
            del self.unit.kernels[taken:]
            return None

    def _plain(self, nodes: tuple[tuple[Node, Path], ...]) -> Steps:
        steps: list[Step] = []
        pending: list[tuple[Node, Path]] = []

        def flush() -> None:
            if pending:
                steps.append(self._short(tuple(pending)))
                pending.clear()

        for node, here in nodes:
            assigns = isinstance(node, Stmt) and node.buffer in self.known
            if not (assigns or isinstance(node, Alloc)) and self._in_short(node, here):
                pending.append((node, here))
                continue
            if not (assigns or isinstance(node, Alloc)) or self._touch(pending, node):
                flush()
            steps.append(self._step(node, here))
        flush()
        return tuple(steps)

    def _touch(self, pending: list[tuple[Node, Path]], node: Node) -> bool:
        """Whether statements that wait for their kernel use what a step of the host sets, or compute a size of it."""
        assert isinstance(node, (Stmt, Alloc))
        names = {node.buffer}
        if isinstance(node, Alloc):
            names.update(*map(expr_buffers, self.unit.program.table[node.buffer].shape))
        return any(names & touched(part) for waiting, _ in pending for part in walk((waiting,)))

    def _in_short(self, node: Node, path: Path) -> bool:
        """Whether a node joins the single statements around it in one kernel."""
        if isinstance(node, (*_CONTROL, Call, Library)):
            return False
        if isinstance(node, Loop) and (node.kind is LoopKind.PARALLEL or self._alone(node)):
            return False
        if isinstance(node, Loop) and self._updated(node, path):
            return False
        return not on_host(node) and not any(isinstance(inner, (Break, Continue)) for inner in leaving(node))

    def _updated(self, loop: Loop, path: Path) -> frozenset[str]:
        """The arrays that a loop in order only adds integers to: its iterations may run at once."""
        inside = [names for place, names in self.unit.declarations.items() if place[: len(path)] == path]
        found = scatter.updated(loop, self.unit.program, {name for names in inside for name in names})
        assert isinstance(loop.dim, Dim) or not found
        scalars = {buffer.name for buffer in self.unit.program.buffers if not buffer.rank}
        bounds = (loop.dim.lo, loop.dim.hi) if isinstance(loop.dim, Dim) else ()
        return found if all(host.evaluable(bound, scalars) for bound in bounds) else frozenset()

    def _alone(self, loop: Loop) -> bool:
        """A vector loop outside all others whose iterations share nothing: a launch of its own."""
        free = loop.kind is LoopKind.VECTOR and is_long(loop) and not loop.accumulators and not shared_elements(loop)
        return free and not self._of_one_group(loop)

    def _of_one_group(self, loop: Loop) -> bool:
        """Whether a comment says that the points of a loop are those of a single group."""
        told = self.unit.directives.dimension(loop.dim.var, line_of(loop))
        return told is not None and told.single

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
        if isinstance(node, Library):
            step = Routine(node)
            operands = [operand for side in library.operands_of(step) for operand in side]
            if (problem := library.refused(node, operands, self.unit.program)) is not None:
                raise problem
            return step
        if isinstance(node, Loop) and (node.kind is LoopKind.PARALLEL or self._alone(node)):
            return self._launch(node, path)
        if isinstance(node, Loop) and (updated := self._updated(node, path)) and isinstance(node.dim, Dim):
            return self._work(node, (*path, 0), Mapping.ITEMS, (node.dim,), dict.fromkeys(updated, scatter.added))
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

    def _product(self, call: Call, batch: Dim | None) -> Step:
        """The kernel of a product; where the device has a library, that for all but small ones."""
        launch = self._blocks(call, batch)
        if not self.unit.library or self.unit.strict:
            return launch
        step = products.routine(call, batch)
        operands = [operand for side in library.operands_of(step) for operand in side]
        if library.why_not(call, operands, self.unit.program) is not None:
            return launch
        assert step.work is not None
        return Choose(cost.exceeds(step.work, real(library.LEAST)), (step,), (launch,))

    def _blocks(self, call: Call, batch: Dim | None) -> Launch:
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
        if not self.unit.barriers:
            return self._chunked(loop, path)
        if has_lanes(inner.body):
            return self._work(loop, (*path, 0), Mapping.GROUPS, (loop.dim,))
        own = group_of(dims, self.unit.directives, line_of(loop))  # a tile in local memory has a shape of its own
        staging = halos.staged(inner.body, dims, self.unit) if not own else None
        return self._work(inner, place, Mapping.ITEMS, tuple(dims), None, staging)

    def _chunked(self, loop: Loop, path: Path) -> Launch:
        """The kernel of a parallel loop on a processor: the loops right inside it that only deal out work join it."""
        assert isinstance(loop.dim, Dim)
        dims, inner, place = [loop.dim], loop, (*path, 0)
        while (further := self._perfect(inner, place, dims)) is not None and further.kind is LoopKind.PARALLEL:
            inner, place = further, (*place, 0, 0)
            assert isinstance(inner.dim, Dim)
            dims.append(inner.dim)
        return self._work(inner, place, Mapping.CHUNKS, tuple(dims))

    def _work(
        self,
        loop: Loop,
        inside: Path,
        mapping: Mapping,
        grid: tuple[Dim, ...],
        atomic: Updates | None = None,
        staging: Staging | None = None,
    ) -> Launch:
        for dim in grid:
            self._needs(loop, dim.lo, dim.hi)
        body = loop.body if staging is None else staging.statements
        nodes = tuple((node, (*inside, position)) for position, node in enumerate(body))
        vector = loop.kind is LoopKind.VECTOR
        return self._made(Work(nodes, mapping, grid, inside, atomic or {}, loop.span, staging, vector))

    def _perfect(self, loop: Loop, place: Path, dims: list[Dim]) -> Loop | None:
        """The loop that is all of another loop's body, if the two are a rectangle of independent iterations."""
        only = loop.body[0] if len(loop.body) == 1 else None
        if not isinstance(only, Loop) or only.accumulators or not isinstance(only.dim, Dim):
            return None
        if self._of_one_group(only):
            return None
        if only.kind not in (LoopKind.VECTOR, LoopKind.PARALLEL) or self.unit.declarations.get(place):
            return None
        if shared_elements(only):
            return None
        bounds = (only.dim.lo, only.dim.hi)
        outer = {dim.var for dim in dims}
        if any(free_vars(bound) & outer or expr_buffers(bound) & _written(loop) for bound in bounds):
            return None
        return only


def _written(loop: Loop) -> set[str]:
    return {name for node in walk(loop.body) for name in buffers_written(node)}
