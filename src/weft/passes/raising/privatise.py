"""Privatise: a variable that every iteration sets before it uses it gets one element an iteration.

    for i: t = a[i] + 1; b[i] = t * t    -->    for i: t_2[i] = a[i] + 1; b[i] = t_2[i] * t_2[i]

In: the items of a loop body; out: the names that are private to an iteration, and the items with these expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from weft.analysis.effects import returned, sets_all
from weft.analysis.facts import Facts, extreme
from weft.ir.expr import ZERO, Dim, Expr, Op, Read
from weft.ir.index import Affine
from weft.ir.index import sub as minus
from weft.ir.program import Alloc, Block, Buffer, Loop, Program, Role, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_read, buffers_written, free_vars, map_node_exprs, map_sub_blocks, rewrite, walk
from weft.passes.raising.predicate import Item, NewBuffer
from weft.records import dataclass

ShapeOf = Callable[[str], Buffer]


def private_names(items: Iterable[Item], buffers: ShapeOf, live_after: frozenset[str]) -> set[str]:
    """Locals that every iteration first sets whole: scalars by assignment; arrays by allocation or by a statement over
    all of them, if they are dead after the loop."""
    private: set[str] = set()
    shared: set[str] = set()
    for item in items:
        node = item.node
        reads, writes = buffers_read(node), buffers_written(node)
        shared |= reads - private
        for name in writes - private - shared:
            if buffers(name).role is not Role.LOCAL:
                continue
            whole = isinstance(node, Alloc) or (isinstance(node, Stmt) and sets_all(node, buffers(name).shape))
            # What a loop leaves in a scalar can be kept; an array would have to be copied.
            scalar = isinstance(node, Stmt) and not node.index
            if whole and (scalar or name not in live_after) and not item.within:
                private.add(name)
            else:
                shared.add(name)
    return private


def must_expand(private: set[str], items: Iterable[Item], buffers: ShapeOf) -> bool:
    """Whether one of the names has no memory that a loop cut in two could share: a scalar, or an array made in it."""
    made = {item.node.buffer for item in items if isinstance(item.node, Alloc)}
    return any(name in made or not buffers(name).rank for name in private)


@dataclass
class Confined:
    """Which buffers are read inside one loop alone: what it leaves in them is of no use to anyone.

    It complements liveness, which takes an array that is set element by element for one that may keep its contents.
    """

    program: Program

    def __post_init__(self) -> None:
        self._readers = _count_readers(self.program.body)
        for name in returned(self.program):
            self._readers[name] = 0

    def to(self, loop: Loop) -> frozenset[str]:
        """The buffers read by a loop of the program and nowhere else."""
        inside = _count_readers((loop,))
        return frozenset(name for name, count in inside.items() if count == self._readers.get(name))


def _count_readers(block: Block) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in walk(block):
        for name in buffers_read(map_sub_blocks(node, lambda _: ())):
            counts[name] = counts.get(name, 0) + 1
    return counts


@dataclass(frozen=True)
class Expansion:
    """The private variables of a loop as arrays over its iterations."""

    buffers: dict[str, Buffer]  # old name -> new buffer
    zeroed: frozenset[str]
    dim: Dim

    def allocations(self) -> tuple[Alloc, ...]:
        return tuple(Alloc(new.name, old in self.zeroed) for old, new in self.buffers.items())

    def element(self, name: str, iteration: Expr, index: tuple[Expr, ...] = ()) -> Read:
        new = self.buffers[name]
        return Read(new.name, (minus(iteration, self.dim.lo), *index), new.type)

    def expression(self, expr: Expr, variable: Expr) -> Expr:
        """An expression of the body with the expanded variables at an iteration."""

        def visit(part: Expr) -> Expr:
            if isinstance(part, Read) and part.buffer in self.buffers:
                element = self.element(part.buffer, variable, part.index)
                return replace(element, of=part.of, span=part.span)
            return part

        return rewrite(expr, visit)

    def apply(self, items: list[Item], variable: Expr) -> list[Item]:
        """Items that use the expanded variables; their allocations are gone (see `allocations`)."""
        out: list[Item] = []
        for item in items:
            if isinstance(item.node, Alloc) and item.node.buffer in self.buffers:
                continue
            node = map_node_exprs(item.node, lambda e: self.expression(e, variable))
            if isinstance(node, Stmt) and node.buffer in self.buffers:
                element = self.element(node.buffer, variable, node.index)
                node = replace(node, buffer=element.buffer, index=element.index)
            out.append(replace(item, node=node))
        return out


def expansion(
    items: list[Item],
    shapes: dict[str, tuple[Expr, ...]],
    dim: Dim,
    facts: Facts,
    buffers: ShapeOf,
    new_buffer: NewBuffer,
) -> Expansion | str:
    """The expansion of private variables, given their shapes inside the loop, over `dim`; or why there is none."""
    extent = _not_negative(minus(dim.hi, dim.lo), facts)
    made: dict[str, Buffer] = {}
    zeroed = frozenset(i.node.buffer for i in items if isinstance(i.node, Alloc) and i.node.zero)
    for name in sorted(shapes):
        shape: list[Expr] = []
        for size in shapes[name]:
            widest = _widest(size, dim, facts)
            if widest is None:
                return f"the size of `{name}` changes from iteration to iteration"
            shape.append(_not_negative(widest, facts))
        made[name] = new_buffer(name, buffers(name).type, (extent, *shape))
    return Expansion(made, zeroed, dim)


def _not_negative(size: Expr, facts: Facts) -> Expr:
    """A size that is also right when the loop it comes from is empty."""
    form = facts.linear(size)
    return size if form is not None and facts.prove(form) else Op("maximum", (size, ZERO), INT)


def _widest(size: Expr, dim: Dim, facts: Facts) -> Expr | None:
    """The largest value of a size over the iterations."""
    form = facts.linear(size)
    if form is None:
        return None
    largest: Affine | None = extreme(form, dim, facts, largest=True)
    if largest is None:
        return None
    spelt = facts.atoms.expression(largest)
    return None if dim.var in free_vars(spelt) else spelt
