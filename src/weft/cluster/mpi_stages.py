"""What the ranks do in one stage.  In: a stage of a plan with its numbers, and who holds what of its arrays; out: the
tiles of each rank, the messages before it, and who holds what after it.

    B[1:-1] = A[:-2] + A[2:]        tiles 0..8 | 8..16      rank 0 needs A[0:9], rank 1 A[7:16]
      -->   one row of A each way; tiles that touch none of these rows run while the messages travel
Nothing here sends anything, so the messages of a run on any number of ranks can be counted without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from weft.cluster.mpi_boxes import Box, intersect, subtract, whole
from weft.cluster.mpi_holdings import Holdings, Message
from weft.cluster.mpi_layout import assigned, tile_bounds
from weft.cluster.plan import Stage
from weft.ir.expr import Expr, Op, Reduce
from weft.ir.ops import UNSTEADY
from weft.ir.program import Stmt
from weft.ir.walk import node_exprs, subexpressions, walk
from weft.records import dataclass


@dataclass(frozen=True)
class Tile:
    """A tile: its number, its range of coordinates and the rank that computes it; of a box the second range as well."""

    number: int
    lo: int
    hi: int
    rank: int
    left: int = 0
    right: int = 0


@dataclass(frozen=True)
class Numbers:
    """The numbers of one execution of a stage: coordinates lo .. hi of 0 .. extent, the box of each written array.

    Of a stage with a second cut also left .. right of 0 .. across, the grid of ranks and the sizes of tiles.
    """

    extent: int
    lo: int
    hi: int
    boxes: tuple[tuple[str, Box | None], ...]
    size: int = 0
    across: int = 0
    left: int = 0
    right: int = 0
    grid: tuple[int, int] | None = None
    sizes: tuple[int, int] = (0, 0)
    whole: bool = False  # tiles may be joined


@dataclass(frozen=True)
class Work:
    """Tiles, the numbers of those that wait for a message, the messages of each array, and the holdings afterwards."""

    tiles: tuple[Tile, ...]
    waiting: frozenset[int]
    messages: tuple[tuple[str, tuple[Message, ...]], ...]
    after: tuple[tuple[str, Holdings], ...]

    def of(self, rank: int) -> list[Tile]:
        return [tile for tile in self.tiles if tile.rank == rank]


def numbers_of(stage: Stage, number: Callable[[Expr], int], size: int = 0) -> Numbers:
    """The numbers of a stage now; `size`: elements along the cut axis in a tile, 0 for the usual number."""
    boxes = tuple(
        (w.buffer, None if w.box is None else tuple((number(lo), number(hi)) for lo, hi in w.box)) for w in stage.writes
    )
    lo, hi = _ends(stage, number)
    second = stage.across
    if second is None:
        return Numbers(number(stage.extent), lo, hi, boxes, size)
    return Numbers(number(stage.extent), lo, hi, boxes, size, number(second.extent), *_ends(second, number))


def _ends(stage: Stage, number: Callable[[Expr], int]) -> tuple[int, int]:
    return min(number(part.lo) for part in stage.parts), max(number(part.hi) for part in stage.parts)


def tiles_of(stage: Stage, numbers: Numbers, ranks: int) -> tuple[Tile, ...]:
    """The tiles that have something to do; of a stage with shares at least one, which gives those of nothing."""
    if numbers.grid is not None:
        return _boxes(numbers, numbers.grid)
    bounds = tile_bounds(numbers.extent, numbers.size or None)
    owners = assigned(len(bounds), ranks)
    found = []
    for number, ((first, past), rank) in enumerate(zip(bounds, owners)):
        lo, hi = max(numbers.lo, first), min(numbers.hi, past)
        if lo < hi:
            found.append(Tile(number, lo, hi, rank))
    if not found and stage.partials:
        found.append(Tile(0, 0, 0, 0))
    return tuple(found)


def _boxes(numbers: Numbers, grid: tuple[int, int]) -> tuple[Tile, ...]:
    """Tiles that are boxes, over a grid of ranks."""
    extents = (numbers.extent, numbers.across)
    rows, columns = (
        _parts(n, size, count, numbers.whole) for n, size, count in zip(extents, numbers.sizes, grid)
    )
    found = []
    for i, (first, past, above) in enumerate(rows):
        lo, hi = max(numbers.lo, first), min(numbers.hi, past)
        for j, (start, end, beside) in enumerate(columns):
            left, right = max(numbers.left, start), min(numbers.right, end)
            if lo < hi and left < right:
                found.append(Tile(i * len(columns) + j, lo, hi, above * grid[1] + beside, left, right))
    return tuple(found)


def _parts(extent: int, size: int, count: int, whole: bool) -> list[tuple[int, int, int]]:
    """Tiles along one axis and the process of each; `whole`: all of a process as one, but for a tile at either end, so
    that what lies between them need not wait for its neighbours."""
    bounds = tile_bounds(extent, size)
    parts = [(lo, hi, place) for (lo, hi), place in zip(bounds, assigned(len(bounds), count))]
    if not whole:
        return parts
    found: list[tuple[int, int, int]] = []
    for process in range(count):
        own = [part for part in parts if part[2] == process]
        middle = own[1:-1]
        found += own[:1]
        found += [(middle[0][0], middle[-1][1], process)] if middle else []
        found += own[1:][-1:]
    return found


def along(shape: Sequence[int], axis: int | None, lo: int, hi: int) -> Box:
    """The elements lo .. hi of an axis, everything along the others; axis None: all."""
    return tuple((lo, hi) if at == axis else (0, extent) for at, extent in enumerate(shape))


def prepare(stage: Stage, numbers: Numbers, held: Mapping[str, Holdings], ranks: int) -> Work:
    """What all ranks do in a stage."""
    tiles = tiles_of(stage, numbers, ranks)
    boxes = dict(numbers.boxes)
    needs: dict[str, dict[int, list[Box]]] = {}
    waiting: set[int] = set()
    second = stage.across if numbers.grid is not None else None
    pieces = {} if second is None else {piece.buffer: piece for piece in second.reads}
    columns = {} if second is None else {write.buffer: write.axis for write in second.writes}

    def need(name: str, tile: Tile, box: Box) -> None:
        needs.setdefault(name, {}).setdefault(tile.rank, []).append(box)
        if subtract(box, held[name].copies[tile.rank]):
            waiting.add(tile.number)

    for tile in tiles:
        for piece in stage.reads:
            shape = held[piece.buffer].shape
            wanted = whole(shape)
            if piece.axis is not None and tile.lo < tile.hi:
                wanted = along(shape, piece.axis, *piece.range(tile.lo, tile.hi, shape[piece.axis]))
            other = pieces.get(piece.buffer)
            if other is not None and other.axis is not None:
                ends = other.range(tile.left, tile.right, shape[other.axis])
                part = intersect(wanted, along(shape, other.axis, *ends))
                if part is not None:
                    need(piece.buffer, tile, part)
            elif piece.axis is None or tile.lo < tile.hi:
                need(piece.buffer, tile, wanted)
        for write in stage.writes:
            if boxes[write.buffer] is None:  # some elements may keep what they hold
                need(write.buffer, tile, along(held[write.buffer].shape, write.axis, tile.lo, tile.hi))
    messages = {name: tuple(held[name].messages(wanted)) for name, wanted in needs.items()}
    after = {name: held[name].after(sent) for name, sent in messages.items() if sent}
    for write in stage.writes:
        written: dict[int, list[Box]] = {}
        for tile in tiles:
            box: Box | None = along(held[write.buffer].shape, write.axis, tile.lo, tile.hi)
            known = boxes[write.buffer]
            box = box if known is None or box is None else intersect(box, known)
            if box is not None and write.buffer in columns:
                box = intersect(box, along(held[write.buffer].shape, columns[write.buffer], tile.left, tile.right))
            if box is not None:
                written.setdefault(tile.rank, []).append(box)
        after[write.buffer] = after.get(write.buffer, held[write.buffer]).written(written)
    sent = tuple((name, found) for name, found in sorted(messages.items()) if found)
    return Work(tiles, frozenset(waiting), sent, tuple(after.items()))


def reads_beyond(stage: Stage) -> dict[str, bool]:
    """Arrays that a stage reads as they were and also writes, and whether a tile reads more of them than its own."""
    axes = {write.buffer: write.axis for write in stage.writes}
    return {
        piece.buffer: (piece.axis, piece.below, piece.above) != (axes[piece.buffer], 0, 0)
        for piece in stage.reads
        if piece.buffer in axes
    }


def may_join(stage: Stage) -> bool:
    """Whether neighbouring tiles may be computed as one with the same bits: nothing is summed, and every operation
    gives the same in a vector, at the end of one, and alone."""
    if stage.partials:
        return False
    for node in walk(stage.nodes):
        if not isinstance(node, Stmt) or node.reduce is not None:
            return False
        for expr in node_exprs(node):
            for part in subexpressions(expr):
                if isinstance(part, Reduce) or (isinstance(part, Op) and part.op in UNSTEADY):
                    return False
    return True


def joined(tiles: Sequence[Tile]) -> list[Tile]:
    """Tiles with neighbours as one: rows that lie one below the other, then boxes of the same rows."""
    found: list[Tile] = []
    for tile in sorted(tiles, key=lambda tile: (tile.left, tile.lo)):
        last = found[-1] if found else None
        if last is not None and last.hi == tile.lo and (last.left, last.right) == (tile.left, tile.right):
            found[-1] = replace(last, hi=tile.hi)
        else:
            found.append(tile)
    beside: list[Tile] = []
    for tile in sorted(found, key=lambda tile: (tile.lo, tile.left)):
        last = beside[-1] if beside else None
        if last is not None and last.right == tile.left and (last.lo, last.hi) == (tile.lo, tile.hi):
            beside[-1] = replace(last, right=tile.right)
        else:
            beside.append(tile)
    return beside


def hull(boxes: Sequence[Box]) -> Box | None:
    """The smallest box that holds all of them."""
    if not boxes:
        return None
    return tuple((min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*boxes))
