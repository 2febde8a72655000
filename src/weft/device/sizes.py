"""Temporaries whose size is only known inside a parallel loop.  In: a lowered program; out: one in which the memory of
every kernel can be given before its launch.

    parallel k:                                   parallel k:
      n = count(k)                     -->          n = count(k)
      alloc chosen[n]                               alloc chosen[m]     if n counts at most m things

A size that grows with a loop's variable takes its largest value, one that counts takes the most it can count.  A loop
with any other size runs on the host, which launches its iterations one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from weft.ir.expr import Cast, Const, Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import Alloc, Block, Loop, LoopKind, Node, Program, Stmt, While
from weft.ir.types import INT, DType
from weft.ir.walk import buffers_written, expr_buffers, free_vars, map_sub_blocks, rewrite, sub_blocks, walk
from weft.records import dataclass


def known_before(program: Program) -> Program:
    """The program whose parallel loops hold no temporary of a size that a kernel computes."""
    shapes: dict[str, tuple[Expr, ...]] = {}

    def visit(block: Block) -> Block:
        return tuple(map(each, block))

    def each(node: Node) -> Node:
        if not isinstance(node, Loop) or node.kind is not LoopKind.PARALLEL:
            return map_sub_blocks(node, visit)
        found = _bounded(node, program)
        if found is not None:
            shapes.update(found)
            return node
        return replace(node, kind=LoopKind.SEQUENTIAL, accumulators=(), body=visit(node.body))

    body = visit(program.body)
    buffers = tuple(replace(b, shape=shapes[b.name]) if b.name in shapes else b for b in program.buffers)
    return program if body == program.body and not shapes else replace(program, body=body, buffers=buffers)


def _bounded(loop: Loop, program: Program) -> dict[str, tuple[Expr, ...]] | None:
    """The sizes for temporaries of a parallel loop that vary in it; None if there is no bound of one."""
    inside = _Inside(loop)
    found: dict[str, tuple[Expr, ...]] = {}
    for part in walk((loop,)):
        if not isinstance(part, Alloc):
            continue
        shape = program.table[part.buffer].shape
        if not any(inside.varies(extent) for extent in shape):
            continue
        most = tuple(inside.most(extent) for extent in shape)
        if any(extent is None for extent in most):
            return None
        found[part.buffer] = tuple(extent for extent in most if extent is not None)
    return found


@dataclass
class _Inside:
    """What a loop says of the numbers that it computes."""

    loop: Loop
    dims: dict[str, Dim | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    #: The values that each scalar gets, with the loops inside around each; None: a loop of unknown length.
    values: dict[str, list[tuple[Expr, tuple[Dim | None, ...]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._note((self.loop,), ())

    def _note(self, block: Sequence[Node], around: tuple[Dim | None, ...]) -> None:
        for node in block:
            self.written.update(buffers_written(node))
            within = around
            if isinstance(node, Loop):
                dim = node.dim if isinstance(node.dim, Dim) else None
                self.dims[node.dim.var] = None if node.dim.var in self.dims else dim
                # What one iteration of the parallel loop counts begins anew in the next.
                within = around if node is self.loop else (*around, dim)
            elif isinstance(node, Stmt):
                if not node.index:
                    value = (node.value, (None,) if node.domain else around)
                    self.values.setdefault(node.buffer, []).append(value)
            elif isinstance(node, While):
                within = (*around, None)
            for inner in sub_blocks(node):
                self._note(inner, within)

    def varies(self, expr: Expr) -> bool:
        return bool(free_vars(expr) & set(self.dims) or expr_buffers(expr) & self.written)

    def most(self, expr: Expr, seen: frozenset[str] = frozenset()) -> Expr | None:
        """An upper bound that is known before the loop; None if there is none."""
        return self._extreme(expr, True, seen)

    def _extreme(self, expr: Expr, largest: bool, seen: frozenset[str]) -> Expr | None:
        if not self.varies(expr):
            return expr
        if isinstance(expr, Read) and not expr.index:
            return self._counted(expr.buffer, seen) if largest and expr.buffer not in seen else None
        if isinstance(expr, Op) and expr.op in ("minimum", "maximum") and expr.type == INT:
            sides = [self._extreme(side, largest, seen) for side in expr.args]
            if None in sides:
                # The smaller of two is at most either of them, if that one is known.
                one = next((side for side in sides if side is not None), None)
                return one if (expr.op == "minimum") == largest else None
            return Op(expr.op, tuple(side for side in sides if side is not None), INT)
        return self._corner(expr, largest, seen)

    def _corner(self, expr: Expr, largest: bool, seen: frozenset[str]) -> Expr | None:
        """The extreme of a linear form at an end of the loop of one of its variables."""
        form = affine(expr)
        if form is None or expr_buffers(expr):
            return None
        name, factor = next((name, factor) for name, factor in form.terms if name in self.dims)
        dim = self.dims[name]
        if dim is None or name in seen:
            return None
        last = Op("sub", (dim.hi, integer(1)), INT)
        end = last if (factor > 0) == largest else dim.lo
        placed = rewrite(expr, lambda part: end if part == Var(name) else part)
        return self._extreme(placed, largest, seen | {name})

    def _counted(self, name: str, seen: frozenset[str]) -> Expr | None:
        """The most that a scalar can be: where it starts, and one for each time that it may grow by one."""
        total: Expr = integer(0)
        starts: list[Expr] = []
        for value, around in self.values.get(name, ()):
            step = _step(value, name)
            if step is None:
                start = self.most(value, seen | {name})
                if start is None:
                    return None
                starts.append(start)
                continue
            times: Expr = integer(max(step, 0))
            for dim in around:
                trips = None if dim is None else self.most(Op("sub", (dim.hi, dim.lo), INT), seen | {name})
                if trips is None:
                    return None
                times = Op("mul", (times, Op("maximum", (trips, integer(0)), INT)), INT)
            total = Op("add", (total, times), INT)
        for start in starts:
            total = Op("add", (total, Op("maximum", (start, integer(0)), INT)), INT)
        return total if starts else None


def _step(value: Expr, name: str) -> int | None:
    """By how much at most a scalar grows in `name = name + ...`; None if that is not what it is."""
    if not isinstance(value, Op) or value.op != "add" or len(value.args) != 2:
        return None
    first, second = value.args
    if not isinstance(first, Read):
        first, second = second, first
    if not isinstance(first, Read) or first.buffer != name or first.index:
        return None
    if isinstance(second, Cast) and second.value.type.dtype is DType.BOOL:
        return 1
    return second.value if isinstance(second, Const) and type(second.value) is int else None
