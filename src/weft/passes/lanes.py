"""Recurrences side by side.  In: a lowered program; out: loops with independent iterations around loops whose
iterations depend on each other, several of the independent ones in lockstep.

    parallel i: { s = 0; for j: { s = f(s, a[i, j]);  b[i, j] = s } }
      -->  parallel block of 8 i: { vector i: t[i] = 0;  for j: vector i: { t[i] = f(t[i], a[i, j]);  b[i, j] = t[i] } }

    for j: parallel i: b[i, j] = f(b[i, j - 1])   -->   parallel block of i: for j: vector i: b[i, j] = f(b[i, j - 1])

A recurrence waits for the result before it; eight of them hide that, and share vectors.  Where memory runs along j, few
iterations go together, so that their rows stay in the first cache; where it runs along i, many.  Iterations of a
PARALLEL loop share nothing, so that any order of their statements gives the same bits.

    parallel i: for j in 0 .. 3: b[i, j] = exp(a[i, j])   -->   parallel block: for j in 0 .. 3: vector i: b[i, j] = ...

Rows of a few elements (points in the plane, classes of a mixture) are no vectors, and a function of each takes long:
they go side by side as well.

Loops that follow each other become one, and an array that each iteration of it fills before it reads it, and nobody
reads later, becomes a block of its own for each thread, with the iterations side by side in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.choices import is_short_otherwise
from weft.analysis.coverage import is_covered, own_axis
from weft.analysis.effects import operation_cost
from weft.analysis.first import first_access
from weft.analysis.sweeps import without_strips
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import Alloc, Block, Buffer, If, Layout, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    free_vars,
    map_node_exprs,
    map_sub_blocks,
    mentions,
    node_exprs,
    reads,
    rewrite,
    sub_blocks,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import PassContext, declared
from weft.passes.disjoint import apart, reordered
from weft.passes.scheduling.independent import outputs, why_not_independent
from weft.passes.scheduling.kinds import element_instead, strips
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.own import in_variables, why_not_variable
from weft.passes.scheduling.unique import unique_loops
from weft.passes.simplifying import deadcode
from weft.records import dataclass

PASS = "lanes"
# Iterations side by side where memory runs across them: a line of the cache of each, and each in a page of its own.
ACROSS_BYTES = 64
# And where it runs along them.
ALONG = 128
# The same with blocks of arrays, which are to stay in a core's own cache.
HELD = 32
# Fewer iterations than this follow each other where memory runs across them; where it runs along them, a single one.
LEAST = 32
LEAST_ALONG = 2
# Rows of at most so many elements are no vectors of their own, if an operation of at least this cost is done there.
SHORT = 7
DEAR = 20
# More loops than these are not looked at together.
MOST_NODES = 16
# Reductions that give the same in any order.
_UNORDERED = frozenset({"and", "or", "minimum", "maximum"})


@declared("lanes", takes=Stage.LOWERED, after=("store",), reshapes=True)
def run(program: Program, context: PassContext) -> Program:
    """Widen every outermost loop that allows it and has a recurrence in it."""
    workspace = Workspace.of(program, strict=context.options.fp == "strict")
    groups = list(_groups(program.body, program, _Outside(program), context))
    if not groups:
        return program
    groups, contracted = _with_variables(groups, program, workspace)
    held = _held(groups, program)
    kind = LoopKind.PARALLEL if context.options.parallel else LoopKind.SEQUENTIAL
    by_start = {id(group.nodes[0]): group for group in groups}

    def blocks(block: Block) -> Block:
        nodes: list[Node] = []
        at = 0
        while at < len(block):
            group = by_start.get(id(block[at]))
            if group is None:
                nodes.append(map_sub_blocks(block[at], blocks))
                at += 1
                continue
            plan = plan_of(group, workspace.table, held)
            context.done(PASS, f"{plan.width} recurrences side by side", group.nodes[0].span)
            nodes += _Writer(plan, workspace, kind).nodes()
            at += len(group.nodes)
        return tuple(nodes)

    body = unique_loops(blocks(program.body), workspace.new_var)
    pairs = [pair for group in groups for node in group.nodes for pair in apart(node, program)]
    found = reordered(program, body, workspace, pairs)
    return deadcode.remove(found) if contracted else found


@dataclass(frozen=True)
class Group:
    """Nodes that follow each other and are one PARALLEL loop with recurrences in it."""

    nodes: Block
    loop: Loop

    @property
    def dim(self) -> Dim:
        return cost.dense(self.loop.dim)


def _groups(block: Block, program: Program, outside: _Outside, context: PassContext) -> Iterator[Group]:
    """The groups of a block and of the blocks in it."""
    at = 0
    while at < len(block):
        node = block[at]
        loop, end = gathered(block, at, program, outside)
        reason = None if loop is None else why_not(loop)
        if loop is not None and reason is None:
            yield Group(block[at:end], loop)
            at = end
            continue
        if loop is not None and has_recurrence(loop):
            context.missed(PASS, f"one recurrence after the other: {reason}", node.span)
        if not isinstance(node, Loop) or node.kind is LoopKind.SEQUENTIAL:
            short = isinstance(node, If) and is_short_otherwise(node)
            for inner in sub_blocks(node)[:1] if short else sub_blocks(node):
                yield from _groups(inner, program, outside, context)
        at += 1


def _with_variables(groups: list[Group], program: Program, workspace: Workspace) -> tuple[list[Group], bool]:
    """The groups with variables instead of arrays of which each iteration has one element; whether there are any."""
    needed = _read_outside(program.body, groups)
    allocs = {node.buffer for node in walk(program.body) if isinstance(node, Alloc)}
    used = {name for group in groups for name in mentions(group.nodes, allocations=False)}
    local = {name for name in used & allocs if program.table[name].role is Role.LOCAL and program.table[name].rank == 1}
    names = []
    for name in sorted(local - needed):
        users = [group for group in groups if name in buffers_read(group.loop) | buffers_written(group.loop)]
        if all(why_not_variable(group.loop, name) is None for group in users):
            names.append(name)
    changed: list[Group] = []
    for group in groups:
        loop = group.loop
        for name in names:
            if name in buffers_read(loop) | buffers_written(loop):
                of = program.table[name].type
                body = in_variables(loop, name, lambda n=name, t=of: workspace.new_buffer(n, t).name)  # type: ignore[misc]
                loop = replace(loop, body=tuple(body))
        changed.append(group if loop is group.loop else replace(group, loop=loop))
    return changed, bool(names)


def _held(groups: list[Group], program: Program) -> set[str]:
    """Arrays of which no group, and nothing else, reads what another has written."""
    inside = {name for group in groups for name in mentions((group.loop,), allocations=False) if name in program.table}
    needed = _read_outside(program.body, groups)
    allocs = {node.buffer for node in walk(program.body) if isinstance(node, Alloc)}
    held: set[str] = set()
    for name in sorted(inside):
        buffer = program.table[name]
        local = buffer.role is Role.LOCAL and buffer.rank == 2 and name in allocs
        if not local or name in needed:
            continue
        if any(True for extent in buffer.shape for _ in reads(extent)):
            continue
        users = [group for group in groups if name in buffers_read(group.loop) | buffers_written(group.loop)]
        if all(_writes_first(group, name) for group in users):
            held.add(name)
    return held


def _read_outside(body: Block, groups: list[Group]) -> set[str]:
    """What is read by nodes that belong to no group."""
    grouped = {id(node) for group in groups for node in group.nodes}
    found: set[str] = set()

    def visit(block: Block) -> None:
        for node in block:
            if id(node) not in grouped:
                found.update(buffers_read(map_sub_blocks(node, lambda _: ())))
                for inner in sub_blocks(node):
                    visit(inner)

    visit(body)
    return found


def _writes_first(group: Group, name: str) -> bool:
    """Whether each of a group's iterations writes what it reads of an array."""
    axis = own_axis(group.loop.body, name, group.dim.var)
    return axis is not None and is_covered(group.loop.body, name, 1 - axis)


def gathered(block: Block, at: int, program: Program, outside: _Outside) -> tuple[Loop | None, int]:
    """From a position on as many nodes as can be one loop with independent iterations, the first of them at least; and
    the position after them.  None if the first cannot be one."""
    loop = independent_loop(block[at], program, outside)
    if loop is None or not any(has_order(later) for later in block[at : at + MOST_NODES]):
        return loop, at + 1
    end, found = at + 1, loop
    for position in range(at + 1, min(at + MOST_NODES, len(block))):
        new = block[position]
        if isinstance(new, Alloc) and new.buffer not in buffers_read(found) | buffers_written(found):
            continue  # memory may as well be made before the group
        other = independent_loop(block[position], program, outside)
        joined = None if other is None else _joined(found, other) or _joined(found, interchanged(other))
        if joined is None or not isinstance(joined.dim, Dim):
            break
        if _why_not_together(joined.body, joined.dim.var, buffers_written(joined)) is not None:
            break
        if why_not_independent(joined, program, outside.of(block[at : position + 1])) is not None:
            break
        found, end = joined, position + 1
    return found, end


def has_order(node: Node) -> bool:
    """Whether there is a loop in order: a cheap test before others."""
    return any(isinstance(inner, Loop) and inner.kind is LoopKind.SEQUENTIAL for inner in walk((node,)))


def independent_loop(node: Node, program: Program, outside: _Outside) -> Loop | None:
    """A node as one PARALLEL loop."""
    if not isinstance(node, Loop) or node.accumulators:
        return None
    if node.kind is LoopKind.SEQUENTIAL:
        turned = turned_inside_out(node, program, outside)
        return None if isinstance(turned, str) else turned
    whole = without_strips(node)
    return replace(whole, kind=LoopKind.PARALLEL) if isinstance(whole.dim, Dim) and whole.dim.step == 1 else None


def interchanged(loop: Loop) -> Loop:
    """parallel i: vector j: A   -->   parallel j: vector i: A,  if that is all; that iterations share nothing along j
    either is to be shown."""
    inner = loop.body[0]
    if len(loop.body) != 1 or not isinstance(inner, Loop) or inner.kind is LoopKind.SEQUENTIAL or inner.accumulators:
        return loop
    inner = without_strips(inner)
    dim = inner.dim
    if not isinstance(dim, Dim) or dim.step != 1 or not all(isinstance(node, Stmt) for node in inner.body):
        return loop
    if any(loop.dim.var in free_vars(bound) or any(True for _ in reads(bound)) for bound in (dim.lo, dim.hi)):
        return loop
    return replace(loop, dim=dim, body=(replace(inner, dim=loop.dim, kind=LoopKind.VECTOR, work=None),), work=None)


def _joined(one: Loop, other: Loop) -> Loop | None:
    """parallel i in 0 .. n: A;  parallel k in 1 .. n + 1: B   -->   parallel i in 0 .. n: { A;  B[k = i + 1] }."""
    first, second = cost.dense(one.dim), cost.dense(other.dim)
    shift = affine_index.difference(second.lo, first.lo)
    if shift is None or shift != affine_index.difference(second.hi, first.hi):
        return None
    names: dict[str, Expr] = {second.var: affine_index.add(Var(first.var), integer(shift))}

    def in_order(expr: Expr) -> Expr:
        sums = isinstance(expr, Op) and expr.op in ("add", "sub") and expr.type == INT
        return affine_index.canonical(expr) if sums else expr

    def moved(expr: Expr) -> Expr:
        return rewrite(substitute(expr, names), in_order) if second.var in free_vars(expr) else expr

    return replace(one, body=(*one.body, *(map_node_exprs(node, moved) for node in other.body)), work=None)


class _Outside:
    """Which buffers are used outside of a loop: counted once for a program."""

    def __init__(self, program: Program) -> None:
        self.counts = mentions(program.body, allocations=False)
        self.outputs = outputs(program)

    def of(self, block: Block) -> set[str]:
        inside = mentions(block, allocations=False)
        return {name for name, count in self.counts.items() if count > inside.get(name, 0)} | self.outputs


# --- legality --------------------------------------------------------------------------------------------------------


def has_recurrence(loop: Loop) -> bool:
    """Whether a loop inside has iterations that must follow each other, and no loop inside it that could do better."""
    return any(_is_recurrence(node) for node in walk(loop.body))


def _is_recurrence(node: Node) -> bool:
    if not isinstance(node, Loop) or node.kind is not LoopKind.SEQUENTIAL:
        return False
    return not any(isinstance(inner, Loop) for inner in walk(node.body))


def has_short_rows(loop: Loop) -> bool:
    """Whether all loops inside are over a few elements, and take long for each."""
    inner = [node for node in walk(loop.body) if isinstance(node, Loop)]
    return bool(inner) and all(map(_is_short, inner)) and any(_is_dear(node) for each in inner for node in each.body)


def _is_short(node: Node) -> bool:
    """Whether a node is a loop over a few elements, whatever the sizes."""
    if not isinstance(node, Loop) or not isinstance(node.dim, Dim) or node.dim.step != 1:
        return False
    extent = cost.constant_extent(node.dim)
    return node.kind is not LoopKind.PARALLEL and extent is not None and 1 < extent <= SHORT


def _is_dear(node: Node) -> bool:
    """Whether a node has a function in it that vectors speed up."""
    parts = (part for expr in node_exprs(node) for part in subexpressions(expr) if isinstance(part, Op))
    return any(part.type.dtype.kind == "f" and operation_cost(part) >= DEAR for part in parts)


def turned_inside_out(loop: Loop, program: Program, outside: _Outside) -> Loop | str:
    """for j: { parallel i: A;  vector i: B }   -->   parallel i: for j: { A;  B },  or why not."""
    if not isinstance(loop.dim, Dim) or loop.kind is not LoopKind.SEQUENTIAL or not loop.body:
        return "not a loop in order"
    inner: list[Loop] = []
    for node in loop.body:
        if not isinstance(node, Loop) or node.kind is LoopKind.SEQUENTIAL or node.accumulators:
            return "more than loops with independent iterations in it"
        node = without_strips(node)
        if not isinstance(node.dim, Dim) or not all(isinstance(each, Stmt) for each in node.body):
            return "loops with more than assignments in them"
        inner.append(node)
    first = inner[0].dim
    assert isinstance(first, Dim)
    if any(replace(cost.dense(each.dim), var=first.var) != first or first.step != 1 for each in inner):
        return "loops over different ranges"
    bounds = (first.lo, first.hi)
    if any(loop.dim.var in free_vars(bound) or any(True for _ in reads(bound)) for bound in bounds):
        return "a range that changes from iteration to iteration"
    body = [
        map_node_exprs(node, lambda e, own=each: substitute(e, {own.dim.var: Var(first.var)}))  # type: ignore[misc]
        for each in inner
        for node in each.body
    ]
    found = Loop(first, (replace(loop, body=tuple(body)),), LoopKind.PARALLEL, work=None, span=loop.span)
    reason = why_not_independent(found, program, outside.of((loop,)))
    return found if reason is None else reason


def why_not(loop: Loop) -> str | None:
    """Why the iterations of a PARALLEL loop do not go side by side."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1:
        return "the loop does not count up by one"
    if any(True for bound in (dim.lo, dim.hi) for _ in reads(bound)):
        return "its length is read from memory"
    if not has_recurrence(loop) and not has_short_rows(loop):
        return "no loop in order inside it"
    return _why_not_together(loop.body, dim.var, buffers_written(loop))


@dataclass(frozen=True)
class Plan:
    """A group of which `width` iterations go side by side; `held` arrays, by the axis along the iterations."""

    group: Group
    width: int
    held: dict[str, int]
    least: int = LEAST


def plan_of(group: Group, table: dict[str, Buffer], held: set[str]) -> Plan:
    """How many iterations go side by side."""
    written = buffers_written(group.loop)
    own = {name: own_axis(group.loop.body, name, group.dim.var) for name in sorted(held & written)}
    kept = {name: axis for name, axis in own.items() if axis is not None}
    if not has_recurrence(group.loop):
        return Plan(group, ALONG, kept)
    recurrences = tuple(node for node in walk(group.loop.body) if _is_recurrence(node))
    across = any(
        axis != _adjacent(table[name])
        for name, axis in _directions(recurrences, group.dim.var)
        if name not in kept and axis is not None
    )
    size = max(table[name].type.dtype.size for name in written)
    if across:
        return Plan(group, max(ACROSS_BYTES // size, 4), kept)
    return Plan(group, HELD if kept else ALONG, kept, LEAST_ALONG)


def _adjacent(buffer: Buffer) -> int | None:
    """The axis along which elements are side by side."""
    return {Layout.C: buffer.rank - 1, Layout.F: 0}.get(buffer.layout)


def _why_not_together(block: Block, lane: str, written: set[str]) -> str | None:
    """Why the statements of a block cannot be done for several iterations at once."""
    for node in block:
        if isinstance(node, Stmt):
            if node.domain or node.reduce or node.value.type == INT:
                return "numbers that may leave 64 bits"
            continue
        if isinstance(node, If):
            if not _uniform(node.condition, lane, written):
                return "a branch that not all of them take"
            inner: Block = (*node.then, *node.orelse)
        elif isinstance(node, Loop):
            dim = node.dim
            if not isinstance(dim, Dim) or not all(_uniform(e, lane, written) for e in (dim.lo, dim.hi)):
                return "loops of different lengths"
            split = not all(each.op in _UNORDERED for each in node.accumulators)
            if node.kind is LoopKind.PARALLEL or (split and not _is_short(node)):
                return "a sum inside that is split already"
            inner = node.body
        else:
            return "more than assignments"
        reason = _why_not_together(inner, lane, written)
        if reason is not None:
            return reason
    return None


def _uniform(expr: Expr, lane: str, written: set[str]) -> bool:
    """Whether an expression has one value for all of them."""
    return lane not in free_vars(expr) and not (expr_buffers(expr) & written)


def _directions(block: Block, lane: str) -> set[tuple[str, int | None]]:
    """The accesses of a block to arrays: the axis along which each goes with the lanes by steps of one, None if it
    stays where it is, -1 if it goes otherwise."""
    places = {(stmt.buffer, stmt.index) for stmt in walk(block) if isinstance(stmt, Stmt)}
    places |= {(read.buffer, read.index) for node in walk(block) for e in node_exprs(node) for read in reads(e)}
    found: set[tuple[str, int | None]] = set()
    for name, index in places:
        used = [axis for axis, position in enumerate(index) if lane in free_vars(position)]
        form = affine(index[used[0]]) if used else None
        plain = len(used) == 1 and form is not None and abs(form.coefficient(lane)) == 1
        found.add((name, used[0] if plain else -1 if used else None))
    return found


# --- the rewrite -----------------------------------------------------------------------------------------------------


class _Writer:
    """Writes one widened loop."""

    def __init__(self, plan: Plan, workspace: Workspace, kind: LoopKind) -> None:
        self.plan, self.workspace, self.kind = plan, workspace, kind
        dim = plan.group.dim
        own = replace(dim, var=workspace.new_var(dim.var))
        self.block, self.lanes = strips(own, integer(plan.width), workspace)
        self.place = affine_index.sub(Var(own.var), self.lanes.lo)

    def nodes(self) -> Block:
        """Side by side if there are enough of them, else one recurrence after the other, however that was written."""
        group, span = self.plan.group, self.plan.group.loop.span
        loop: Node = group.loop
        # Names of its own: a variable in two places is private to neither.
        allocs: list[Alloc] = []
        for name in sorted(name for name in buffers_written(loop) if not self.workspace.table[name].rank):
            of = self.workspace.table[name].type
            if self._stays(group.loop.body, name):
                loop = element_instead(loop, name, self.workspace.new_buffer(name, of).name)
                continue
            held = self.workspace.new_buffer(f"{name}_lanes", of, (integer(self.plan.width),)).name
            loop = element_instead(loop, name, held, (self.place,))
            allocs.append(Alloc(held, span=span))
        for name, axis in self.plan.held.items():
            buffer = self.workspace.table[name]
            shape = (buffer.shape[1 - axis], integer(self.plan.width))
            held = self.workspace.new_buffer(f"{name}_lanes", buffer.type, shape).name
            loop = _beside(loop, name, held, axis, self.place)
            allocs.append(Alloc(held, span=span))
        assert isinstance(loop, Loop)
        names: dict[str, Expr] = {group.dim.var: Var(self.lanes.var)}
        body = tuple(map_node_exprs(node, lambda e: substitute(e, names)) for node in loop.body)
        work = cost.work(group.loop)
        made = tuple(node for node in group.nodes if isinstance(node, Alloc))
        rest = (replace(group.loop, kind=self.kind, work=work),)
        wide = Loop(self.block, (*allocs, *self._together(body)), self.kind, work=work, span=span)
        known = cost.constant_extent(group.dim)
        if known is not None:
            return (*made, wide) if known >= self.plan.least else (*made, *rest)
        enough = Op("ge", (cost.extent(group.dim), integer(self.plan.least)), PYBOOL)
        return (*made, If(enough, (wide,), rest, span=span))

    def _stays(self, block: Block, name: str) -> bool:
        """Whether a variable is only used within one run of statements, which sets it first."""
        runs = [run for run in _runs(block) if any(name in buffers_read(n) | buffers_written(n) for n in run)]
        return len(runs) == 1 and first_access(tuple(runs[0]), name) == "written"

    def _together(self, block: Block) -> Block:
        nodes: list[Node] = []
        pending: list[Node] = []
        for node in block:
            if isinstance(node, Stmt):
                pending.append(node)
                continue
            nodes += self._flushed(pending)
            pending = []
            # A variable that is reduced has an element for each lane by now: its loop goes in order, with all lanes.
            alone = isinstance(node, Loop) and node.kind is LoopKind.VECTOR and not node.accumulators
            alone = alone and not _is_short(node)
            if alone and isinstance(node, Loop) and not self._better(node):
                nodes.append(Loop(self.lanes, (node,), span=node.span))
            elif isinstance(node, Loop):
                body = self._together(node.body)
                nodes.append(replace(node, kind=LoopKind.SEQUENTIAL, accumulators=(), body=body))
            else:
                nodes.append(map_sub_blocks(node, self._together))
        return (*nodes, *self._flushed(pending))

    def _better(self, loop: Loop) -> bool:
        """Whether the statements of a loop in vectors run along memory with the lanes rather than with the loop."""
        score = 0
        for name, axis in _directions(loop.body, self.lanes.var):
            score += axis == _adjacent(self.workspace.table[name])
        for name, axis in _directions(loop.body, loop.dim.var):
            score -= axis == _adjacent(self.workspace.table[name])
        return score > 0

    def _flushed(self, pending: list[Node]) -> Block:
        return (Loop(self.lanes, tuple(pending), LoopKind.VECTOR, span=pending[0].span),) if pending else ()


def _runs(block: Block) -> list[list[Node]]:
    """Statements that follow each other, in a block and all blocks in it; bounds and conditions by themselves."""
    runs: list[list[Node]] = [[]]
    for node in block:
        if isinstance(node, Stmt):
            runs[-1].append(node)
            continue
        runs.append([map_sub_blocks(node, lambda _: ())])
        for inner in sub_blocks(node):
            runs += _runs(inner)
        runs.append([])
    return [run for run in runs if run]


def _beside(node: Node, name: str, held: str, axis: int, place: Expr) -> Node:
    """x[i, j]   -->   held[j, i - start]."""

    def moved(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (index[1 - axis], place)

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer == name:
            return replace(expr, buffer=held, index=moved(expr.index))
        return expr

    def change(old: Node) -> Node:
        if isinstance(old, Stmt) and old.buffer == name:
            old = replace(old, buffer=held, index=moved(old.index))
        return map_sub_blocks(old, lambda block: tuple(change(inner) for inner in block))

    return map_node_exprs(change(node), lambda e: rewrite(e, visit))
