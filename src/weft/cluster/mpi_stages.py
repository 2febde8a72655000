"""What the ranks do in one stage.  In: a stage of a plan with its numbers, and who holds what of its arrays; out: the
tiles of each rank, the messages before it, and who holds what after it.

    B[1:-1] = A[:-2] + A[2:]        tiles 0..8 | 8..16      rank 0 needs A[0:9], rank 1 A[7:16]
      -->   one row of A each way; tiles that touch none of these rows run while the messages travel
Nothing here sends anything, so the messages of a run on any number of ranks can be counted without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    """A tile: its number, its range of coordinates and the rank that computes it."""

    number: int
    lo: int
    hi: int
    rank: int


@dataclass(frozen=True)
class Numbers:
    """The numbers of one execution of a stage: coordinates lo .. hi of 0 .. extent, the box of each written array."""

    extent: int
    lo: int
    hi: int
    boxes: tuple[tuple[str, Box | None], ...]
    size: int = 0


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
    lo = min(number(part.lo) for part in stage.parts)
    return Numbers(number(stage.extent), lo, max(number(part.hi) for part in stage.parts), boxes, size)


def tiles_of(stage: Stage, numbers: Numbers, ranks: int) -> tuple[Tile, ...]:
    """The tiles that have something to do; of a stage with shares at least one, which gives those of nothing."""
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


def along(shape: Sequence[int], axis: int | None, lo: int, hi: int) -> Box:
    """The elements lo .. hi of an axis, everything along the others; axis None: all."""
    return tuple((lo, hi) if at == axis else (0, extent) for at, extent in enumerate(shape))


def prepare(stage: Stage, numbers: Numbers, held: Mapping[str, Holdings], ranks: int) -> Work:
    """What all ranks do in a stage."""
    tiles = tiles_of(stage, numbers, ranks)
    boxes = dict(numbers.boxes)
    needs: dict[str, dict[int, list[Box]]] = {}
    waiting: set[int] = set()

    def need(name: str, tile: Tile, box: Box) -> None:
        needs.setdefault(name, {}).setdefault(tile.rank, []).append(box)
        if subtract(box, held[name].copies[tile.rank]):
            waiting.add(tile.number)

    for tile in tiles:
        for piece in stage.reads:
            shape = held[piece.buffer].shape
            if piece.axis is None:
                need(piece.buffer, tile, whole(shape))
            elif tile.lo < tile.hi:
                need(piece.buffer, tile, along(shape, piece.axis, *piece.range(tile.lo, tile.hi, shape[piece.axis])))
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
    """Tiles with neighbours as one."""
    found: list[Tile] = []
    for tile in tiles:
        if found and found[-1].hi == tile.lo:
            found[-1] = Tile(found[-1].number, found[-1].lo, tile.hi, tile.rank)
        else:
            found.append(tile)
    return found


def hull(boxes: Sequence[Box]) -> Box | None:
    """The smallest box that holds all of them."""
    if not boxes:
        return None
    return tuple((min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*boxes))
