"""The schedule.  In: a Program of sequential control flow and statements over domains; out: the lowered form: every
statement a single point, loops with kinds, reductions as accumulators.

    stretches of statements --> atoms (lower) --> loop order (order) --> chains of stencils (recompute, tile)
    --> shared loops (fuse) --> smaller temporaries (store)
    --> outermost loops parallel, innermost loops vectorised, large reductions in blocks of fixed size (kinds)
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.analysis.effects import sets_all
from weft.errors import NOWHERE, Span
from weft.ir.expr import CompressedDim, Dim, Expr, Op, Read, Reduce, real
from weft.ir.program import (
    REGIONS,
    Accumulator,
    Alloc,
    Block,
    Call,
    Check,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Program,
    Stmt,
    While,
)
from weft.ir.types import BOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    map_block,
    map_dim,
    map_node_exprs,
    mentions,
    reads,
    substitute,
    touched,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.disjoint import pairs_apart, unknown
from weft.passes.scheduling.batches import split
from weft.passes.scheduling.flat import flattened
from weft.passes.scheduling.fuse import Facts, Group, partition
from weft.passes.scheduling.independent import handing_back, outputs, why_not_independent
from weft.passes.scheduling.kinds import DEEP, FEW_ITERATIONS, Kinds, scatters
from weft.passes.scheduling.lower import Atom, Workspace, has_reduce, is_private, to_atoms
from weft.passes.scheduling.partial import in_blocks, reduced_arrays, reduced_scalars
from weft.passes.scheduling.plain import plain, plain_check
from weft.passes.scheduling.products import calls_products, why_not_at_once
from weft.passes.scheduling.recompute import pays, recomputed
from weft.passes.scheduling.rewrite_dims import dense_domain
from weft.passes.scheduling.scan_blocks import in_blocks as scan_in_blocks
from weft.passes.scheduling.scan_blocks import worth_blocks
from weft.passes.scheduling.scans import Scan, scan_of, why_not_regrouped
from weft.passes.scheduling.sink import sunk
from weft.passes.scheduling.tile import Chain, find_chain, tile_sizes, tiled
from weft.passes.scheduling.unique import unique_loops
from weft.passes.store import contract
from weft.records import dataclass

PASS = "schedule"
# More cycles than any threshold asks for.
ANY_WORK = 1e18


@declared("schedule", gives=Stage.LOWERED, optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """Lower the whole program; pairs of parameters that reordering takes to be disjoint are recorded."""
    program = replace(program, body=sunk(program.body, program))
    workspace = Workspace.of(program, context.options.fp == "strict", context.directives)
    scheduler = _Scheduler(program, context, workspace)
    body = scheduler.block(program.body)
    for span, note in workspace.notes:
        context.done(PASS, note, span)
    body = unique_loops(body, workspace.new_var, workspace)
    used = {name for node in walk(body) for name in buffers_read(node) | buffers_written(node)}
    known = {buffer.name for buffer in program.buffers}
    buffers = tuple(workspace.table[buffer.name] for buffer in program.buffers)
    buffers += tuple(workspace.table[b.name] for b in workspace.added if b.name not in known and b.name in used)
    disjoint = (*program.disjoint, *unknown(scheduler.pairs, program))
    return replace(program, body=body, buffers=buffers, disjoint=disjoint)


@dataclass
class _Stretch:
    """Straight-line code under way: allocations and atoms, in program order; `counted`: nodes that name a buffer."""

    allocs: list[Alloc] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    counted: dict[str, int] = field(default_factory=dict)

    def add(self, step: Alloc | Atom) -> None:
        self.touched.add(step.buffer)
        if isinstance(step, Alloc):
            self.allocs.append(step)
            return
        self.atoms.append(step)
        self.written.add(step.buffer)
        self.touched |= step.buffers()


@dataclass
class _Scheduler:
    program: Program
    context: PassContext
    workspace: Workspace
    pairs: list[tuple[str, str]] = field(default_factory=list)
    scanning: bool = False  # whether the loops at hand are the blocks of a scan
    adding: bool = False  # or add into partial arrays

    def __post_init__(self) -> None:
        self.kinds = Kinds(self.workspace, self.context, filled=_filled(self.program))
        # To know when a stretch holds all the places in which a buffer appears.
        self.uses = mentions(self.program.body)

    def block(self, block: Block) -> Block:
        """A block lowered: stretches of statements together, control flow by itself."""
        line = _Line(self)
        for node in block:
            if isinstance(node, (Stmt, Alloc)):
                line.take(node)
            elif isinstance(node, (If, While, Loop)):
                node = line.without_reduce(node)
                line.flush()
                line.out.extend(self.control(node))
            elif isinstance(node, Check):
                line.check(node)
            else:
                line.flush()
                if isinstance(node, Call):
                    self.note_pairs(buffers_read(node.stmt), buffers_written(node.stmt))
                elif isinstance(node, Invoke):
                    self.note_pairs(buffers_read(node), buffers_written(node))
                line.out.append(self.shared_out(node))
        line.flush()
        return tuple(line.out)

    def shared_out(self, node: Node) -> Node:
        """A routine's batch in pieces for the threads, where there are threads to share."""
        if not isinstance(node, Library) or self.kinds.shared or self.kinds.concurrent is LoopKind.SEQUENTIAL:
            return node
        return split(node, self.workspace) or node

    def control(self, node: If | While | Loop) -> Block:
        if isinstance(node, If):
            then = self.block(node.then)
            # What is over before a thread wakes needs no versions for threads.
            short = is_short_otherwise(node)
            self.kinds.shared += short
            orelse = self.block(node.orelse)
            self.kinds.shared -= short
            return (replace(node, then=then, orelse=orelse),)
        if isinstance(node, Loop) and calls_products(node) and self.shares_products(node):
            # Panels are there because the whole is large: what one of them costs need not be told.
            panels = isinstance(node.dim, Dim) and node.dim.step > 1
            node = replace(node, kind=LoopKind.PARALLEL, work=real(ANY_WORK) if panels else None)
        elif isinstance(node, Loop) and self.shares(node):
            reduced = reduced_scalars(node, self.workspace)
            if reduced:
                return self.in_blocks(handing_back(node), reduced)
            node = replace(handing_back(node), kind=LoopKind.PARALLEL, work=_declared_work(node))
        elif isinstance(node, Loop) and (arrays := self.shares_sums(node)):
            return self.in_parts(node, arrays)
        elif isinstance(node, Loop) and node.kind is LoopKind.ASSERTED:
            node = replace(node, kind=LoopKind.SEQUENTIAL)
        shared = isinstance(node, Loop) and node.kind is LoopKind.PARALLEL
        scan = self.scan(node) if isinstance(node, Loop) and not shared else None
        self.kinds.depth += 1
        self.kinds.shared += shared
        try:
            lowered = self.repeated(node)
        finally:
            self.kinds.depth -= 1
            self.kinds.shared -= shared
        if scan is None:
            return (lowered,)
        assert isinstance(lowered, Loop)
        return self.scanned(scan, lowered)

    def shares_sums(self, loop: Loop) -> dict[str, str]:
        """The arrays and scalars that a loop of the source accumulates into, if it does nothing else that is in order
        and adds at places that it reads from memory."""
        if self.adding or self.kinds.shared or self.kinds.depth or self.kinds.concurrent is LoopKind.SEQUENTIAL:
            return {}
        if loop.kind is not LoopKind.SEQUENTIAL or self.context.options.brief or not isinstance(loop.dim, Dim):
            return {}
        arrays = reduced_arrays(loop, self.workspace)
        reduced = {**reduced_scalars(loop, self.workspace), **arrays}
        summing = replace(loop, accumulators=tuple(Accumulator(*pair) for pair in arrays.items()))
        if not arrays or not scatters(summing) or self.kinds.why_not_partial(summing) is not None:
            return {}
        reason = why_not_independent(loop, self.program, self.outside(loop), reduced)
        if reason is not None or self.raises_itself(loop):
            return {}
        return reduced

    def in_parts(self, loop: Loop, reduced: dict[str, str]) -> Block:
        """A loop that adds at places it reads: into partial arrays if they are small, else in order."""
        written = set().union(*(buffers_written(node) for node in loop.body))
        self.note_pairs(buffers_read(loop) | written, written)
        self.adding = True
        ordered = self.control(loop)
        arrays = tuple(Accumulator(name, op) for name, op in reduced.items() if self.workspace.table[name].rank)
        summing = replace(loop, accumulators=arrays)
        handed = handing_back(loop)

        def blocked(most: int) -> Block:
            lowered: list[Node] = []
            for node in in_blocks(replace(handed, work=self.kinds.work(loop)), reduced, self.kinds, most):
                lowered.extend(self.control(node) if isinstance(node, Loop) else (node,))
            return tuple(lowered)

        out = self.kinds.in_parts(summing, ordered, blocked)
        self.adding = False
        return out

    def scan(self, loop: Loop) -> Scan | None:
        """The scan that a loop is, if its iterations may run in blocks."""
        if self.scanning or not mentions((loop,)).keys() <= self.program.table.keys():
            return None  # a loop of the schedule's own making
        found = scan_of(loop, self.program, self.outside(loop), self.workspace.new_buffer)
        if isinstance(found, str):
            return None
        if self.kinds.shared or self.kinds.depth >= DEEP or self.kinds.concurrent is LoopKind.SEQUENTIAL:
            self.context.done(PASS, found.text, loop.span)
            return None
        reason = why_not_regrouped(found, self.context.options.regroups)
        if reason is not None:
            remedy = 'fp="regroup" lets sums be regrouped'
            self.context.missed(PASS, f"{found.text}, in order: {reason}", loop.span, remedy)
            return None
        return found

    def scanned(self, scan: Scan, lowered: Loop) -> Block:
        """A scan in blocks where there is enough to do, else as it was."""
        work = self.kinds.work(lowered)
        worth = worth_blocks(scan, work, self.context.options.regroups)
        if worth is None:
            return (lowered,)
        self.context.done(PASS, f"{scan.text}, in blocks", scan.loop.span)
        written = set().union(*(buffers_written(node) for node in scan.loop.body))
        self.note_pairs(buffers_read(scan.loop) | written, written)
        blocks: list[Node] = []
        self.scanning = True
        for node in scan_in_blocks(scan, self.workspace, work):
            blocks.extend(self.control(node) if isinstance(node, Loop) else (node,))
        self.scanning = False
        return (If(worth, tuple(blocks), (lowered,), span=scan.loop.span),)

    def in_blocks(self, loop: Loop, reduced: dict[str, str]) -> Block:
        """A loop with accumulators in parallel blocks: what is around the blocks is no loop of the source's."""
        lowered: list[Node] = []
        for node in in_blocks(replace(loop, work=_declared_work(loop)), reduced, self.kinds):
            lowered.extend(self.control(node) if isinstance(node, Loop) else (node,))
        return tuple(_with_work_of(loop, node) for node in lowered)

    def repeated(self, node: While | Loop) -> While | Loop:
        if isinstance(node, While):
            return replace(node, prelude=self.block(node.prelude), body=self.block(node.body))
        if isinstance(node.dim, CompressedDim):
            (dim,), values = dense_domain((node.dim,), self.workspace.table, {})
            body = map_block(node.body, lambda n: map_node_exprs(n, lambda e: substitute(e, values)))
            node = replace(node, dim=dim, body=body)
        body = self.block(node.body)
        if node.kind is not LoopKind.PARALLEL:
            return replace(node, body=body)
        work = cost.work(replace(node, body=body)) if node.work is None else node.work
        return replace(node, body=body, kind=self.kinds.concurrent, work=work)

    def shares(self, loop: Loop) -> bool:
        """Whether a loop of the source runs in parallel as it is.

        A loop whose body is one statement is left alone: that statement could not become a domain for a reason.
        """
        asserted = loop.kind is LoopKind.ASSERTED
        if loop.kind in REGIONS or any(isinstance(n, Loop) and n.kind is LoopKind.TASK for n in walk(loop.body)):
            return False  # tasks are shared out by themselves
        if self.kinds.shared or loop.kind is LoopKind.PARALLEL or not (asserted or _repeats(loop.body)):
            return False
        if any(isinstance(node, Loop) and node.kind is LoopKind.PARALLEL for node in walk(loop.body)):
            return False  # a loop inside it is shared already
        if not asserted and (few := cost.constant_extent(loop.dim)) is not None and few < FEW_ITERATIONS:
            return False
        outside = self.outside(loop)
        reduced = reduced_scalars(loop, self.workspace)
        reason = why_not_independent(loop, self.program, outside, reduced)
        if reason is None and self.raises_itself(loop):
            reason = "the first iteration that raises must be found, and there is no Python to find it"
        if reason is not None:
            self.context.missed(PASS, f"not in parallel: {reason}", loop.span)
            return False
        written = set().union(*(buffers_written(node) for node in loop.body))
        self.note_pairs(buffers_read(loop) | written, written)
        return True

    def raises_itself(self, loop: Loop) -> bool:
        return self.context.alone and any(isinstance(node, Check) for node in walk(loop.body))

    def shares_products(self, loop: Loop) -> bool:
        """Whether the matrix products of a loop are computed at once, each on one thread."""
        if self.kinds.shared or self.kinds.concurrent is LoopKind.SEQUENTIAL:
            return False
        reason = why_not_at_once(loop, self.program, self.outside(loop))
        if reason is not None:
            self.context.missed(PASS, f"products one after the other: {reason}", loop.span)
            return False
        self.context.done(PASS, "products at once, each on one thread", loop.span)
        written = set().union(*(buffers_written(node) for node in loop.body))
        self.note_pairs(buffers_read(loop) | written, written)
        return True

    def outside(self, loop: Loop) -> set[str]:
        """Buffers that are used elsewhere than in a loop."""
        inside = mentions((loop,))
        return {name for name, count in self.uses.items() if count > inside.get(name, 0)} | outputs(self.program)

    # --- straight-line code ---------------------------------------------------------------------------------------

    def lower(self, stretch: _Stretch) -> Block:
        if not stretch.atoms:
            return tuple(stretch.allocs)
        table = self.workspace.table
        atoms = [replace(atom, dims=self.workspace.ordered(atom)) for atom in stretch.atoms]
        if any(atom.dims for atom in atoms):
            self.note_pairs(_named(stretch.atoms), {atom.buffer for atom in stretch.atoms})
        dead: set[str] = set()
        kept: list[Node] = []
        for alloc in stretch.allocs:
            buffer = table[alloc.buffer]
            here = self.workspace.owns(buffer.name) or stretch.counted.get(buffer.name) == self.uses.get(buffer.name)
            if is_private(buffer) and here and not alloc.zero:
                dead.add(buffer.name)
            else:
                kept.append(alloc)
        return (*kept, *self.straight(atoms, dead))

    def straight(self, atoms: list[Atom], dead: set[str]) -> Block:
        """Atoms as finished nests: a chain of stencils in tiles, what is before and after it by itself."""
        facts = Facts(self.workspace.strict)
        keeps = self.context.directives.keeps_loops
        directed = any(keeps(atom.span.line, tuple(dim.var for dim in atom.dims)) for atom in atoms)
        chain = None if directed else find_chain(atoms, dead, facts)
        sizes = None if chain is None else tile_sizes(chain, chain.sink.dims, self.workspace.table)
        if chain is not None:
            alone = recomputed(chain, self.workspace)
            if alone is not None and pays(chain, alone, sizes, self.workspace):
                self._remark_recomputed(chain)
                return self.straight(_instead(atoms, chain, alone), dead - chain.regions.keys())
        if chain is None or sizes is None:
            return self.kinds.finish(contract(self.nest(atoms, True, facts), dead, self.workspace.table))
        inside = {id(atom) for atom in chain.atoms}
        end = next(at for at, atom in enumerate(atoms) if atom is chain.sink)
        before = [atom for atom in atoms[:end] if id(atom) not in inside]
        after = atoms[end + 1 :]
        # What lives across the chain keeps its whole memory; the chain's own temporaries are gone.
        across = _named(before) & (_named(after) | _named(chain.atoms)) | _named(chain.atoms) & _named(after)
        alive = [name for name in sorted(across & dead) if name not in chain.regions]
        parts = [self.straight(part, (dead & _named(part)) - across) if part else () for part in (before, after)]
        allocs = tuple(Alloc(name) for name in alive)
        return (*allocs, *parts[0], *self.tiles(chain, sizes), *parts[1])

    def tiles(self, chain: Chain, sizes: dict[str, int]) -> Block:
        tiling = tiled(chain, chain.sink.dims, sizes, self.workspace)
        nest = self.nest(tiling.atoms, False, Facts(self.workspace.strict))
        nest = contract(nest, tiling.scratch, self.workspace.table, private=True)
        nodes = self.kinds.finish(nest, False)
        allocs = tuple(node for node in nodes if isinstance(node, Alloc))
        nodes = tuple(node for node in nodes if not isinstance(node, Alloc))
        for dim in reversed(tiling.loops):
            outermost = dim is tiling.loops[0]
            nodes = (*allocs, *nodes) if outermost else nodes
            kind, work = (self.kinds.concurrent, tiling.work) if outermost else (LoopKind.SEQUENTIAL, None)
            nodes = (Loop(dim, nodes, kind, work=work, span=chain.sink.span),)
        lines = sorted({atom.span.line for atom in chain.atoms if atom.span.line > 0})
        shape = " x ".join(str(sizes[dim.var]) for dim in chain.sink.dims)
        names = ", ".join(str(line) for line in lines)
        self.context.done(PASS, f"lines {names}: one pass over tiles of {shape}", chain.sink.span)
        return nodes

    def nest(self, atoms: list[Atom], outermost: bool, facts: Facts) -> Block:
        """The loops of atoms: shared where they may be, each level in turn."""
        nodes: list[Node] = []
        # Inside a loop of the source the iterations beside a shared loop would be met too often.
        new_var = self.workspace.new_var if outermost and not self.kinds.depth else None
        for group in partition(atoms, outermost, facts, new_var):
            if group.dim is None:
                nodes.extend(group.atoms[0].leaf())
                continue
            carried = group.carried
            inner = [replace(atom, dims=atom.dims[1:]) for atom in group.atoms]
            body = self.nest(inner, False, facts)
            free = group.parallel and not carried
            accumulators = tuple(dict.fromkeys(Accumulator(a.buffer, a.reduce) for a in carried if a.reduce))
            if not group.parallel:
                accumulators = ()
            kind = LoopKind.PARALLEL if free else LoopKind.SEQUENTIAL
            nodes.append(Loop(group.dim, body, kind, accumulators, span=_first_span(group)))
            if outermost and len(group.atoms) > 1:
                self._remark_fusion(group)
        return tuple(nodes)

    def _remark_recomputed(self, chain: Chain) -> None:
        lines = ", ".join(str(line) for line in sorted({atom.span.line for atom in chain.atoms if atom.span.line > 0}))
        self.context.done(PASS, f"lines {lines}: one loop without temporaries", chain.sink.span)

    def _remark_fusion(self, group: Group) -> None:
        lines = sorted({atom.span.line for atom in group.atoms if atom.span.line > 0})
        if len(lines) > 1:
            listed = ", ".join(str(line) for line in lines[1:])
            self.context.done(PASS, f"fused with line {listed}", _first_span(group))

    # --- aliasing -------------------------------------------------------------------------------------------------

    def note_pairs(self, touched: set[str], written: set[str]) -> None:
        """Loops run in another order than NumPy's: a written parameter array must not overlap the others."""
        self.pairs += pairs_apart(touched, written, self.program)


@dataclass
class _Line:
    """A block under way: what is lowered already, and the stretch of statements that is not."""

    scheduler: _Scheduler
    out: list[Node] = field(default_factory=list)
    stretch: _Stretch = field(default_factory=_Stretch)

    def flush(self) -> None:
        self.out.extend(self.scheduler.lower(self.stretch))
        self.stretch = _Stretch()

    def take(self, node: Stmt | Alloc) -> None:
        """Add a statement or allocation to the stretch, or lower it alone if it must stand alone."""
        workspace = self.scheduler.workspace
        if isinstance(node, Alloc):
            shape = workspace.table[node.buffer].shape
            if any(True for size in shape for _ in reads(size)) or node.buffer in self.stretch.touched:
                self.flush()
                self.out.append(node)
                return
            steps: list[Alloc | Atom] | None = [node]
        else:
            steps = to_atoms(node, workspace)
        if steps is None:
            assert isinstance(node, Stmt)
            self.flush()
            self.scheduler.note_pairs(buffers_read(node), buffers_written(node))
            self.out.extend(self.scheduler.kinds.finish(plain(node, workspace)))
            return
        if self.keeps_apart(node):
            self.flush()
        # Shapes are evaluated where the stretch begins: nothing in it may change what they are made of.
        shapes = [size for s in steps if isinstance(s, Alloc) for size in workspace.table[s.buffer].shape]
        if {read.buffer for size in shapes for read in reads(size)} & self.stretch.written:
            self.flush()
        for step in steps:
            self.stretch.add(step)
        for name in touched(node):
            self.stretch.counted[name] = self.stretch.counted.get(name, 0) + 1

    def keeps_apart(self, node: Stmt | Alloc) -> bool:
        """Whether somebody has asked that a statement's loops begin after those of one in the stretch have ended."""
        separates = self.scheduler.context.directives.separates
        lines = {atom.span.line for atom in self.stretch.atoms}
        return isinstance(node, Stmt) and any(separates(line, node.span.line) for line in lines)

    def hold(self, expr: Expr, span: Span) -> Expr:
        """if sum[k] e > 0: ...   -->   c = sum[k] e > 0;  if c: ..."""
        if not has_reduce(expr):
            return expr
        workspace = self.scheduler.workspace
        stmt, read = self._scalar(flattened(expr, workspace.table, workspace.new_var), span)
        self.take(stmt)
        return read

    def _scalar(self, expr: Expr, span: Span) -> tuple[Stmt, Read]:
        holder = self.scheduler.workspace.new_buffer("held", expr.type)
        return Stmt((), holder.name, (), expr, None, span), Read(holder.name, (), expr.type)

    def without_reduce(self, node: If | While | Loop) -> If | While | Loop:
        if isinstance(node, If):
            return replace(node, condition=self.hold(node.condition, node.span))
        if isinstance(node, Loop):
            return replace(node, dim=map_dim(node.dim, lambda e: self.hold(e, node.span)))
        if not has_reduce(node.condition):
            return node
        stmt, read = self._scalar(node.condition, node.span)
        return replace(node, prelude=(*node.prelude, stmt), condition=read)

    def check(self, check: Check) -> None:
        """All points at once first, in vectors; only if some fails, one after the other to find the first."""
        workspace = self.scheduler.workspace
        if not check.domain:
            condition = self.hold(check.condition, check.span)
            values = tuple(self.hold(e, check.span) for e in check.values)
            self.flush()
            self.out.append(replace(check, condition=condition, values=values))
            return
        uses = self.scheduler.uses
        for name in buffers_read(check):
            uses[name] = uses.get(name, 0) + 1  # it is read twice: temporaries of the stretch outlive it
        holds = self.hold(Reduce("and", check.domain, check.condition), check.span)
        self.flush()
        self.out.append(If(Op("not", (holds,), BOOL), plain_check(check, workspace), span=check.span))


def _named(atoms: list[Atom]) -> set[str]:
    return set().union(*(atom.buffers() for atom in atoms))


def _repeats(block: Block) -> bool:
    """Whether a block holds enough work to share, and none that had better be shared itself: statements over planes."""
    ranks = [len(node.domain) for node in walk(block) if isinstance(node, Stmt)]
    loops = any(isinstance(node, (Loop, While)) for node in walk(block))
    return (loops or any(ranks)) and max(ranks, default=0) < 2


def _declared_work(loop: Loop) -> Expr | None:
    """The work of a loop that the user declares parallel: always worth it, where only the run could tell how much."""
    unknown = loop.kind is LoopKind.ASSERTED and any(isinstance(node, While) for node in walk(loop.body))
    return real(ANY_WORK) if unknown else None


def _with_work_of(loop: Loop, node: Node) -> Node:
    """The parallel blocks of a loop: they do its work, whatever the estimate of a block of unknown size is."""
    if not isinstance(node, Loop) or node.kind is not LoopKind.PARALLEL or node.work == real(ANY_WORK):
        return node
    inner = next(inner for inner in node.body if isinstance(inner, Loop) and inner.dim.var == loop.dim.var)
    return replace(node, work=cost.work(replace(inner, dim=loop.dim)))


def _filled(program: Program) -> frozenset[str]:
    """Arrays that are made of zeros or set as a whole somewhere."""
    found: set[str] = set()
    for node in walk(program.body):
        if isinstance(node, Alloc) and node.zero:
            found.add(node.buffer)
        elif isinstance(node, Stmt) and node.index and sets_all(node, program.table[node.buffer].shape):
            found.add(node.buffer)
    return frozenset(found)


def _instead(atoms: list[Atom], chain: Chain, alone: Atom) -> list[Atom]:
    """The atoms with one atom in place of a whole chain."""
    inside = {id(atom) for atom in chain.atoms[:-1]}
    return [alone if atom is chain.sink else atom for atom in atoms if id(atom) not in inside]


def _first_span(group: Group) -> Span:
    return next((atom.span for atom in group.atoms if atom.span.line > 0), NOWHERE)
