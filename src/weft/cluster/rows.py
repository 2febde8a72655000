"""Sparse arrays cut by rows.  In: a plan; out: the same plan, in which a tile of rows takes of the arrays behind a row
pointer (the elements and their columns) only what belongs to its rows.

    y[i] = sum[j(p): csr(indptr, indices)[i]] data[p] * x[j]      rows lo:hi
      -->   data[indptr[lo]:indptr[hi]], indices alike, and indptr[lo:hi+1] counted from indptr[lo] on

Positions are then counted from the tile's first one, so they may be used for nothing but to find elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.cluster.steps import Plan, Rows, Stage, Step, with_inner
from weft.ir import index
from weft.ir.expr import ONE, AnyDim, Cast, CompressedDim, Dim, Expr, Read, Reduce, Var
from weft.ir.program import Check, Library, Loop, Node, Program, Role, Stmt
from weft.ir.walk import buffers_read, buffers_written, children, dim_children, node_domain, node_exprs, walk


def with_rows(plan: Plan) -> Plan:
    """The plan with stages that take what belongs to their rows, where that is legal."""
    written = {name for node in walk(plan.program.body) for name in buffers_written(node)}

    def change(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        new = []
        for step in steps:
            if type(step) is Stage:
                step = replace(step, rows=rows_of(plan.program, step, written))
            new.append(with_inner(step, change))
        return tuple(new)

    return replace(plan, steps=change(plan.steps))


def rows_of(program: Program, stage: Stage, written: set[str]) -> tuple[Rows, ...]:
    """The row pointers of a stage by which other arrays can be cut."""
    uses = _Uses(stage)
    slices = {piece.buffer: piece for piece in stage.reads}
    found = []
    for pointer, positions in uses.levels.items():
        arrays = uses.arrays_at(positions)
        behind = sorted({*arrays, *uses.coordinates[pointer]})
        given = all(
            name not in written and program.table[name].role is Role.PARAM and program.table[name].rank == 1
            for name in (pointer, *behind)
        )
        along = slices.get(pointer)
        if not behind or not given or along is None or along.axis != 0 or along.clipped:
            continue
        if any(name not in slices or slices[name].axis is not None for name in behind):
            continue
        if uses.only_finds(pointer, positions) and not any(uses.otherwise(name, positions, pointer) for name in behind):
            found.append(Rows(pointer, tuple(behind)))
    shared = [name for rows in found for name in (rows.pointer, *rows.arrays)]
    return tuple(found) if len(shared) == len(set(shared)) else ()


class _Uses:
    """How the statements of a stage use row pointers, positions and the arrays behind them."""

    def __init__(self, stage: Stage) -> None:
        self.levels: dict[str, set[str]] = {}  # row pointers, with the names of the positions that they bound
        self.coordinates: dict[str, set[str]] = {}
        self.reads: list[tuple[str, tuple[Expr, ...]]] = []
        self.elsewhere: set[str] = set()  # variables that stand anywhere but as the only index of an element
        self.dense: set[str] = set()  # variables of dimensions that are no rows
        self.library: set[str] = set()
        for node in walk(stage.nodes):
            self._node(node)

    def _node(self, node: Node) -> None:
        if isinstance(node, Library):
            self.library |= buffers_read(node) | buffers_written(node)
        for dim in node_domain(node):
            self._dim(dim)
        for expr in _values(node):
            self._expr(expr)

    def _dim(self, dim: AnyDim) -> None:
        if isinstance(dim, CompressedDim):
            self.levels.setdefault(dim.pointer, set()).add(dim.position)
            self.coordinates.setdefault(dim.pointer, set()).add(dim.coordinate)
            self._expr(dim.parent)
            return
        row = _row(dim)
        if row is None:
            self.dense.add(dim.var)
            for bound in dim_children(dim):
                self._expr(bound)
            return
        pointer, parent = row
        self.levels.setdefault(pointer, set()).add(dim.var)
        self.coordinates.setdefault(pointer, set())
        self._expr(parent)

    def _expr(self, expr: Expr) -> None:
        if isinstance(expr, Reduce):
            for dim in expr.dims:
                self._dim(dim)
            self._expr(expr.value)
        elif isinstance(expr, Read):
            self.reads.append((expr.buffer, expr.index))
            if len(expr.index) != 1 or not isinstance(expr.index[0], Var):
                for part in expr.index:
                    self._expr(part)
        elif isinstance(expr, Var):
            self.elsewhere.add(expr.name)
        else:
            for child in children(expr):
                self._expr(child)

    def arrays_at(self, positions: set[str]) -> Iterator[str]:
        return (name for name, place in self.reads if _is_position(place, positions))

    def only_finds(self, pointer: str, positions: set[str]) -> bool:
        """Whether nothing depends on what the numbers of positions are, or of the row pointer."""
        others = self.dense.union(*(found for name, found in self.levels.items() if name != pointer))
        read = any(name == pointer for name, _ in self.reads)
        return not (positions & (self.elsewhere | others)) and not read and pointer not in self.library

    def otherwise(self, name: str, positions: set[str], pointer: str) -> bool:
        """Whether an array is read in another way than at a position of this row pointer."""
        direct = any(found == name and not _is_position(place, positions) for found, place in self.reads)
        levels = any(name in found for other, found in self.coordinates.items() if other != pointer)
        return direct or levels or name in self.levels or name in self.library


def _values(node: Node) -> Iterator[Expr]:
    """The expressions of a node that are no bounds of its dimensions."""
    if isinstance(node, Stmt):
        yield from (*node.index, node.value)
    elif isinstance(node, Check):
        yield from (node.condition, *node.values)
    elif not isinstance(node, Loop):
        yield from node_exprs(node)


def _is_position(place: tuple[Expr, ...], positions: set[str]) -> bool:
    return len(place) == 1 and isinstance(place[0], Var) and place[0].name in positions


def _row(dim: Dim) -> tuple[str, Expr] | None:
    """The row pointer and the row of a dimension pointer[row] .. pointer[row + 1]."""
    ends = []
    for bound in (dim.lo, dim.hi):
        while isinstance(bound, Cast):
            bound = bound.value
        if not isinstance(bound, Read) or len(bound.index) != 1:
            return None
        ends.append((bound.buffer, bound.index[0]))
    (first, row), (last, next_row) = ends
    following = index.canonical(index.add(row, ONE)) == index.canonical(next_row)
    return (first, row) if first == last and following and dim.step == 1 else None
