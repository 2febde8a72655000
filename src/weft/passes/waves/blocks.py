"""Tiles computed in the order of the source.  In: a grid of tiles over a nest; out: the body of a tile: its iterations
in their order, and before them, all at once, those terms of a reduction that need nothing of the tile.

    for i: for j: t[i, j] = max[k: lo <= k < hi] t[i, k] + t[k, j]
      -->   early[i, j] = max[k: first <= k < last] t[i, k] + t[k, j]   for the i, j of the tile
            for i: for j of the tile: t[i, j] = maximum(early[i, j], max[k < first] ..., max[k >= last] ...)

The terms computed early are those that read no element the tile computes.  Only reductions whose result does not depend
on the grouping of their terms are split: extremes, and arithmetic of integers.  A reduction in a branch is one of them
if the branch is taken wherever it has terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.effects import Access, accesses, reads_of
from weft.analysis.facts import Facts
from weft.analysis.waves import Nest, by_position
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Alloc, Block, Buffer, If, Loop, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import children, map_sub_blocks, rewrite, substitute
from weft.passes.rename import renamed
from weft.passes.scheduling.independent import handing_back
from weft.passes.scheduling.kinds import element_instead
from weft.passes.scheduling.lower import Workspace, reduction_operation
from weft.passes.waves.grid import Grid, between, constant, name, pick
from weft.records import dataclass

_EXTREMES = ("minimum", "maximum", "and", "or")


@dataclass(frozen=True)
class Early:
    """The middle terms of a reduction, from `first` up to `last`, and where their result is kept."""

    reduce: Reduce
    first: Expr
    last: Expr
    buffer: Buffer


@dataclass
class Blocked:
    """Writes the body of a tile."""

    grid: Grid
    scalars: frozenset[str]
    workspace: Workspace
    facts: Facts  # inside the nest

    def body(self) -> Block:
        nest, grid = self.grid.nest, self.grid
        early = self._early()
        block = tuple(self._late(node, early) for node in nest.body)
        for scalar in sorted(self.scalars):
            own = self.workspace.new_buffer(scalar, self.workspace.table[scalar].type).name
            block = tuple(element_instead(node, scalar, own) for node in block)
        inner = Loop(grid.columns_dim(), renamed(block, self.workspace.taken), span=grid.span)
        rows = handing_back(Loop(grid.rows_dim(), (inner,), span=grid.span))
        before = [node for part in early for node in (Alloc(part.buffer.name), self._computed(part))]
        return (*before, rows)

    # --- terms that need nothing of the tile --------------------------------------------------------------------------

    def _early(self) -> list[Early]:
        found: list[Early] = []
        places = _places(self.grid.nest)
        for reduce in dict.fromkeys(self._computed_at(self.grid.nest.body, ())):
            ends = self._ends(reduce, places)
            if ends is None:
                continue
            shape = (integer(self.grid.rows), integer(self.grid.columns))
            found.append(Early(reduce, *ends, self.workspace.new_buffer("early", reduce.type, shape)))
        return found

    def _computed_at(self, block: Block, branches: tuple[tuple[Expr, bool], ...]) -> Iterator[Reduce]:
        """The reductions of all statements, with those in branches that are taken wherever there are terms."""
        for node in block:
            if isinstance(node, If):
                yield from self._computed_at(node.then, (*branches, (node.condition, True)))
                yield from self._computed_at(node.orelse, (*branches, (node.condition, False)))
            elif isinstance(node, Stmt) and not node.domain:
                for reduce in _reductions(node.value):
                    known = self.facts.with_domain(reduce.dims) if branches else self.facts
                    if all(known.decide(condition) is taken for condition, taken in branches):
                        yield reduce

    def _ends(self, reduce: Reduce, places: dict[str, Access]) -> tuple[Expr, Expr] | None:
        """Between which values of its variable the terms of a reduction read nothing of the tile, at all its points."""
        grid, dim = self.grid, reduce.dims[0]
        if len(reduce.dims) != 1 or not isinstance(dim, Dim) or dim.step != 1 or not _exact(reduce):
            return None
        low, high = affine(dim.lo), affine(dim.hi)
        if low is None or high is None:
            return None
        k = name(dim.var)
        forms = [k - low, high - k - constant(1)]
        written = {name for node in grid.nest.body for name in _written(node)}
        for read in reads_of(reduce.value):
            if read.buffer not in written or not read.index:
                if read.buffer in written:
                    return None
                continue
            form = self._outside(read, places.get(read.buffer), dim.var)
            if form is None:
                return None
            forms.append(form)
        first, last = between(dim.var, (grid.within(by_position(form, grid.signs)) for form in forms))
        return first, pick("maximum", (first, last))

    def _outside(self, read: Access, place: Access | None, var: str) -> Affine | None:
        """A form that is not negative where an element is of an iteration before the tile, in a form that varies."""
        grid = self.grid
        if place is None or read.dims:
            return None
        for axis, first in ((grid.outer, grid.first_row), (grid.inner, self._first_position())):
            for left, right in zip(place.index, read.index):
                own, other = affine(left), affine(right)
                if own is None or other is None or abs(own.coefficient(axis.var)) != 1:
                    continue
                if {grid.outer.var, grid.inner.var} & own.without(axis.var).names or not other.coefficient(var):
                    continue
                # The iteration that computes the element, by its position along the axis.
                source = (other - own.without(axis.var)).scaled(own.coefficient(axis.var) * axis.sign)
                return first - source - constant(1)
        return None

    def _first_position(self) -> Affine:
        """The least position of the inner loop in a tile."""
        return self.grid.first_column - constant(self.grid.skew * (self.grid.rows - 1))

    def _place(self) -> tuple[Expr, Expr]:
        """Where a tile keeps what belongs to an iteration, by the loop variables."""
        grid = self.grid
        row = name(grid.outer.var) - grid.first_row
        column = name(grid.inner.var) + row.scaled(grid.skew) - grid.first_column
        forms = (by_position(form, grid.signs) for form in (row, column))
        return affine_index.expression(next(forms)), affine_index.expression(next(forms))

    def _computed(self, early: Early) -> Stmt:
        """early[...] = the middle terms, for all iterations of the tile."""
        grid, workspace = self.grid, self.workspace
        names = {axis.var: workspace.new_var(axis.var) for axis in (grid.outer, grid.inner)}
        by_rows: dict[str, Expr] = {grid.outer.var: Var(names[grid.outer.var])}
        low, high = (substitute(bound, by_rows) for bound in grid.columns_range())
        domain = (Dim(names[grid.outer.var], *grid.rows_range()), Dim(names[grid.inner.var], low, high))
        values: dict[str, Expr] = {
            var: affine_index.expression(name(own).scaled(grid.signs[var])) for var, own in names.items()
        }
        own = workspace.new_var(early.reduce.dims[0].var)
        term = substitute(early.reduce.value, {**values, early.reduce.dims[0].var: Var(own)})
        reduce = Reduce(early.reduce.op, (Dim(own, early.first, early.last),), rewrite(term, _canonical))
        index = tuple(affine_index.canonical(substitute(part, values)) for part in self._place())
        return Stmt(domain, early.buffer.name, index, reduce, None, grid.span)

    def _late(self, node: Node, early: list[Early]) -> Node:
        """A statement with the early terms in place of their part of each reduction."""
        if not early:
            return node
        if isinstance(node, If):
            return map_sub_blocks(node, lambda block: tuple(self._late(inner, early) for inner in block))
        if not isinstance(node, Stmt):
            return node
        parts = {part.reduce: part for part in early}

        def visit(expr: Expr) -> Expr:
            if not isinstance(expr, Reduce) or expr not in parts:
                return expr
            part, dim = parts[expr], expr.dims[0]
            assert isinstance(dim, Dim)
            op, of = reduction_operation(expr.op), expr.type
            before = replace(expr, dims=(replace(dim, hi=Op("minimum", (dim.hi, part.first), INT)),))
            after = replace(expr, dims=(replace(dim, lo=Op("maximum", (dim.lo, part.last), INT)),))
            kept = Read(part.buffer.name, self._place(), of)
            return Op(op, (Op(op, (before, kept), of), after), of)

        return replace(node, value=rewrite(node.value, visit))


def _places(nest: Nest) -> dict[str, Access]:
    """Where each array is written, if it is written at one place."""
    found: dict[str, set[Access]] = {}
    for node in nest.body:
        for write in accesses(node).writes:
            found.setdefault(write.buffer, set()).add(write)
    return {buffer: writes.pop() for buffer, writes in found.items() if len(writes) == 1}


def _written(node: Node) -> Iterator[str]:
    for write in accesses(node).writes:
        yield write.buffer


def _exact(reduce: Reduce) -> bool:
    """Whether the grouping of the terms does not matter."""
    if reduce.op not in REDUCTIONS or reduce.op.startswith("arg"):
        return False
    return reduce.op in _EXTREMES or reduce.type.dtype.kind in "biu"


def _reductions(expr: Expr) -> Iterator[Reduce]:
    """Reductions that evaluating an expression always computes: not those in the branches of a select."""
    if isinstance(expr, Reduce):
        yield expr
        return
    lazy = isinstance(expr, Op) and expr.op == "select"
    for child in children(expr)[:1] if lazy else children(expr):
        yield from _reductions(child)


def _canonical(expr: Expr) -> Expr:
    return replace(expr, index=tuple(map(affine_index.canonical, expr.index))) if isinstance(expr, Read) else expr
