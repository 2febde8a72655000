"""Storage.  In: lowered nests with full-size temporaries; out: the same with temporaries contracted to rows or scalars,
private memory inside parallel loops, allocation outside sequential ones, and memory of dead temporaries used again.

    for i: { for j: t[i, j] = f; for j: g(t[i, j]) }   -->   for i: { alloc t; for j: t[j] = f; for j: g(t[j]) }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial

from weft.analysis.facts import Facts, extreme
from weft.ir.expr import AnyDim, Dim, Expr, Op, Read, integer
from weft.ir.index import affine, expression
from weft.ir.program import (
    Alloc,
    Block,
    Buffer,
    If,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Role,
    Stmt,
    While,
)
from weft.ir.types import INT
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    free_vars,
    map_block,
    map_node_exprs,
    map_sub_blocks,
    node_exprs,
    reads,
    rename_buffers,
    rewrite,
    sub_blocks,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

# --- contraction -----------------------------------------------------------------------------------------------------


@dataclass
class _Uses:
    """Where one buffer is accessed: the index of every access and the loops around all of them."""

    indices: list[tuple[Expr, ...]] = field(default_factory=list)
    common: tuple[Loop, ...] | None = None

    def add(self, index: tuple[Expr, ...], path: tuple[Loop, ...]) -> None:
        self.indices.append(index)
        if self.common is None:
            self.common = path
        else:
            shared = 0
            for mine, other in zip(self.common, path):
                if mine is not other:
                    break
                shared += 1
            self.common = self.common[:shared]


def contract(block: Block, candidates: set[str], table: dict[str, Buffer], private: bool = False) -> Block:
    """Drop the dimensions of temporaries that every access indexes by the same loop around all accesses.

    `candidates` are allocated just before the block and dead after it.  An iteration of such a loop touches elements no
    other iteration touches, so one slot serves all of them; inside a loop that may run in parallel it is private.
    `private`: the block is already inside a parallel loop, all of its memory is private.  Changes `table` for the
    contracted buffers; allocations of those that keep a dimension are placed here.
    """
    uses: dict[str, _Uses] = {name: _Uses() for name in sorted(candidates)}
    _collect(block, (), uses)
    loops = {node.dim.var for node in walk(block) if isinstance(node, Loop)}
    dropped: dict[str, tuple[int, ...]] = {}
    inside: dict[int, list[Alloc]] = {}
    outside: list[Node] = []
    for name, use in uses.items():
        axes = _droppable(use, loops)
        if axes:
            buffer = table[name]
            dropped[name] = axes
            shape = tuple(size for axis, size in enumerate(buffer.shape) if axis not in axes)
            table[name] = replace(buffer, shape=shape)
        if table[name].rank and use.indices:
            home = _private_home(use) if axes and not private else None
            if home is None:
                outside.append(Alloc(name, span=table[name].span))
            else:
                inside.setdefault(id(home), []).append(Alloc(name, span=table[name].span))
    return (*outside, *_rebuilt(block, dropped, inside))


def _collect(block: Block, path: tuple[Loop, ...], uses: dict[str, _Uses]) -> None:
    for node in block:
        for expr in node_exprs(node):
            for read in reads(expr):
                if read.buffer in uses:
                    uses[read.buffer].add(read.index, path)
        if isinstance(node, Stmt) and node.buffer in uses:
            uses[node.buffer].add(node.index, path)
        for inner in sub_blocks(node):
            _collect(inner, (*path, node) if isinstance(node, Loop) else path, uses)


def _droppable(use: _Uses, loops: set[str]) -> tuple[int, ...]:
    """The axes at which all accesses have one and the same index, a function of one common loop (or of none).

    Loops beside each other may still share a name: only one around all accesses is the same loop for all.
    """
    if not use.indices or use.common is None:
        return ()
    common = {loop.dim.var for loop in use.common}
    axes = []
    for axis, first in enumerate(use.indices[0]):
        form = affine(first)
        if form is None or any(index[axis] != first for index in use.indices[1:]):
            continue
        varying = form.names & loops
        if varying <= common and len(varying) <= 1 and (varying or form.is_constant):
            axes.append(axis)
    return tuple(axes)


def _private_home(use: _Uses) -> Loop | None:
    """The outermost loop around all accesses that may run in parallel: each iteration needs its own memory."""
    for loop in use.common or ():
        if loop.kind is LoopKind.PARALLEL or loop.accumulators:
            return loop
    return None


def _rebuilt(block: Block, dropped: dict[str, tuple[int, ...]], inside: dict[int, list[Alloc]]) -> Block:
    def shrink(name: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(e for axis, e in enumerate(index) if axis not in dropped[name])

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer in dropped:
            return replace(expr, index=shrink(expr.buffer, expr.index))
        return expr

    def node(old: Node) -> Node:
        if isinstance(old, Stmt):
            new = map_node_exprs(old, lambda e: rewrite(e, visit))
            assert isinstance(new, Stmt)
            return replace(new, index=shrink(new.buffer, new.index)) if new.buffer in dropped else new
        if isinstance(old, Loop):
            dim_only = map_node_exprs(replace(old, body=()), lambda e: rewrite(e, visit))
            assert isinstance(dim_only, Loop)
            return replace(dim_only, body=(*inside.get(id(old), ()), *map_block(old.body, node)))
        return map_sub_blocks(map_node_exprs(old, lambda e: rewrite(e, visit)), lambda b: map_block(b, node))

    return map_block(block, node) if dropped or inside else block


# --- whole programs --------------------------------------------------------------------------------------------------


@declared("store", takes=Stage.LOWERED, after=("directed", "paired"), optional=False, knows=Knows.CALLS)
def run(program: Program, context: PassContext) -> Program:
    """Let temporaries share memory where they never live at the same time, then move allocations out of loops."""
    body = _shared(program.body, program)
    table = dict(program.table)
    body = _hoisted(body, table)
    if body is program.body:
        return program
    merged = _named(program.body) - _named(body)
    buffers = tuple(table[buffer.name] for buffer in program.buffers if buffer.name not in merged)
    return replace(program, body=body, buffers=buffers)


def _named(block: Block) -> set[str]:
    return set().union(*(buffers_read(node) | buffers_written(node) for node in block))


def _shared(block: Block, program: Program) -> Block:
    """alloc a; use a; alloc b; use b   -->   alloc a; use a; use a   (equal sizes, a not used any more)."""
    nodes = [map_sub_blocks(node, lambda inner: _shared(inner, program)) for node in block]
    spans: dict[str, tuple[int, int]] = {}
    for at, node in enumerate(nodes):
        for name in buffers_read(node) | buffers_written(node):
            spans[name] = (spans.get(name, (at, at))[0], at)
    inside = walk(block) if any(isinstance(node, Alloc) for node in nodes) else ()
    fixed = {name for node in inside if isinstance(node, Rebind) for name in node.targets}
    allocs = [
        node for node in nodes if isinstance(node, Alloc) and _movable(node, program.table) and node.buffer not in fixed
    ]
    free_after: list[tuple[Buffer, int]] = []
    names: dict[str, str] = {}
    for alloc in sorted(allocs, key=lambda node: _first_use(node.buffer, nodes)):
        buffer = program.table[alloc.buffer]
        first, last = _first_use(alloc.buffer, nodes), spans[alloc.buffer][1]
        for slot, (owner, end) in enumerate(free_after):
            if end < first and owner.type == buffer.type and owner.shape == buffer.shape:
                names[buffer.name] = owner.name
                free_after[slot] = (owner, last)
                break
        else:
            free_after.append((buffer, last))
    if not names:
        return block if all(a is b for a, b in zip(nodes, block)) else tuple(nodes)
    # The owner must be there before its first new user.
    dropped = [node for node in nodes if not (isinstance(node, Alloc) and node.buffer in names)]
    heads = [node for node in dropped if isinstance(node, Alloc) and node.buffer in set(names.values())]
    rest = [node for node in dropped if node not in heads]
    return tuple(rename_buffers(node, names) for node in (*heads, *rest))


def _first_use(name: str, nodes: list[Node]) -> int:
    for at, node in enumerate(nodes):
        if not isinstance(node, Alloc) and name in buffers_read(node) | buffers_written(node):
            return at
    return len(nodes)


def _movable(alloc: Alloc, table: Mapping[str, Buffer]) -> bool:
    buffer = table[alloc.buffer]
    shape_reads = any(True for size in buffer.shape for _ in reads(size))
    return buffer.role is Role.LOCAL and not alloc.zero and not shape_reads


def _hoisted(block: Block, table: dict[str, Buffer]) -> Block:
    """for k: { alloc t; ... }   -->   alloc t; for k: { ... }   (t was undefined at the start of each iteration).

    Memory whose size depends on k gets the largest of its sizes, in `table`.
    """
    nodes: list[Node] = []
    for node in block:
        node = map_sub_blocks(node, lambda inner: _hoisted(inner, table))
        if isinstance(node, While) or (isinstance(node, Loop) and node.kind is not LoopKind.PARALLEL):
            rebound = {name for inner in walk((node,)) if isinstance(inner, Rebind) for name in inner.targets}
            loops = [inner.dim for inner in walk((node,)) if isinstance(inner, Loop)]

            def moves(alloc: Alloc, rebound: set[str] = rebound, loops: list[AnyDim] = loops) -> bool:
                if not _movable(alloc, table) or alloc.buffer in rebound:
                    return False
                shape = _largest_shape(table[alloc.buffer].shape, loops)
                if shape is not None:
                    table[alloc.buffer] = replace(table[alloc.buffer], shape=shape)
                return shape is not None

            moved: list[Alloc] = []
            node = map_sub_blocks(node, partial(_without_allocs, moves=moves, moved=moved))
            nodes.extend(moved)
        nodes.append(node)
    return block if len(nodes) == len(block) and all(a is b for a, b in zip(nodes, block)) else tuple(nodes)


def _largest_shape(shape: tuple[Expr, ...], loops: list[AnyDim]) -> tuple[Expr, ...] | None:
    """The shape without the variables of loops: only the first extent may use them, others tell where rows begin."""
    if not any(free_vars(size) & {dim.var for dim in loops} for size in shape):
        return shape
    if any(free_vars(size) & {dim.var for dim in loops} for size in shape[1:]):
        return None
    first = _largest(shape[0], loops[0])
    if first is None or free_vars(first) & {dim.var for dim in loops}:
        return None
    # The loop may have no iteration: then there is no largest size, and what stands for it may be anything.
    return (Op("maximum", (first, integer(0)), INT), *shape[1:])


def _largest(size: Expr, dim: AnyDim) -> Expr | None:
    """The largest value of an extent over the iterations of a loop, or more."""
    if dim.var not in free_vars(size):
        return size
    if isinstance(size, Op) and size.op in ("maximum", "minimum"):
        parts = [_largest(part, dim) for part in size.args]
        return None if None in parts else replace(size, args=tuple(part for part in parts if part is not None))
    if isinstance(size, Op) and size.op == "sub" and affine(size) is None and dim.var not in free_vars(size.args[1]):
        part = _largest(size.args[0], dim)
        return None if part is None else replace(size, args=(part, size.args[1]))
    form = affine(size)
    if not isinstance(dim, Dim) or form is None or expr_buffers(size):
        return None
    # Each of the values between the bounds, whatever the step: as large, and simpler.
    found = extreme(form, replace(dim, step=1 if dim.step > 0 else -1), Facts(), largest=True)
    return None if found is None or any(name.startswith("@") for name in found.names) else expression(found)


def _without_allocs(block: Block, moves: Callable[[Alloc], bool], moved: list[Alloc]) -> Block:
    """The block without the allocations that may move (branches included, nested loops have given theirs already)."""
    nodes: list[Node] = []
    for node in block:
        if isinstance(node, Alloc) and moves(node):
            moved.append(node)
        elif isinstance(node, If):
            nodes.append(map_sub_blocks(node, lambda inner: _without_allocs(inner, moves, moved)))
        else:
            nodes.append(node)
    return block if len(nodes) == len(block) and all(a is b for a, b in zip(nodes, block)) else tuple(nodes)
