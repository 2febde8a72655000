"""Several steps of a loop between two exchanges.  In: a sweep of a plan with its numbers, and who holds what; out: how
many iterations run between messages, which windows each rank needs before them, and who holds what after them.

    for t: b[i] = f(a[i - 1], a[i + 1]); a[i] = g(b[i - 1], b[i + 1])     u steps on rows lo .. hi of a rank
      -->   rows lo - 2u .. hi + 2u of a come in one message from either side; of b, which every step computes before it
            reads it, nothing but the elements that no step writes
Each rank works in its own memory: what becomes stale beside its rows is no longer counted as held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from weft.cluster.costs import stage_cost
from weft.cluster.mpi_boxes import Box, intersect, subtract, whole
from weft.cluster.mpi_holdings import Holdings
from weft.cluster.mpi_layout import assigned, tile_bounds
from weft.cluster.mpi_stages import Tile, Work, along, joined, may_join
from weft.cluster.plan import Plan, Stage, Swap
from weft.cluster.sweeps import Sweep
from weft.ir.expr import Expr

#: Seconds that an exchange takes whatever its size: messages both ways, and what Python does for them.
_EXCHANGE = 6e-5
#: Bytes of a rank's part that stay in its cache from step to step: beyond it, several steps at once save traffic.
_CACHED = 1 << 20
#: No more iterations than this at once.
_DEEPEST = 32


def depth_of(plan: Plan, sweep: Sweep, numbers: Mapping[str, int], rows: int, ranks: int) -> int:
    """How many iterations run between two exchanges if a rank has so many rows; 1 if each should have its own."""
    if not all(may_join(step) for step in sweep.steps if isinstance(step, Stage)) or ranks == 1:
        return 1 if ranks > 1 else _DEEPEST
    reach = max(sweep.low, sweep.high)
    if reach == 0:
        return _DEEPEST
    cost = stage_cost(plan, sweep, numbers)
    extent = max(sum(cost.bytes_written.values()), 1.0)
    each = cost.seconds / max(rows * ranks, 1)
    depth = math.sqrt(_EXCHANGE / max(each * (sweep.low + sweep.high), 1e-12))
    if extent / ranks > _CACHED:
        depth = max(depth, sweep.depth(rows))
    return max(1, min(int(depth), _DEEPEST, rows // reach))


def rows_of(extent: int, size: int, ranks: int) -> tuple[Tile, ...]:
    """The rows of each rank, all of its tiles as one."""
    bounds = tile_bounds(extent, size or None)
    tiles = [Tile(at, lo, hi, rank) for at, ((lo, hi), rank) in enumerate(zip(bounds, assigned(len(bounds), ranks)))]
    return tuple(part for rank in range(ranks) for part in joined([tile for tile in tiles if tile.rank == rank]))


def prepare_sweep(
    sweep: Sweep, tiles: tuple[Tile, ...], number: Callable[[Expr], int], held: Mapping[str, Holdings]
) -> Work:
    """What all ranks do in a few iterations of a widened sweep."""
    changes, made = _changes(sweep, number), _computed_first(sweep, number)
    needs: dict[str, dict[int, list[Box]]] = {}
    for tile in tiles:
        for piece in sweep.reads:
            shape = held[piece.buffer].shape
            box = whole(shape)
            if piece.axis is not None:
                box = along(shape, piece.axis, *piece.range(tile.lo, tile.hi, shape[piece.axis]))
            wanted = subtract(box, made.get(piece.buffer, []))
            needs.setdefault(piece.buffer, {}).setdefault(tile.rank, []).extend(wanted)
    messages = {name: tuple(held[name].messages(wanted)) for name, wanted in needs.items()}
    after = {name: held[name].after(sent) for name, sent in messages.items() if sent}
    for write in sweep.writes:
        written: dict[int, list[Box]] = {}
        shape = held[write.buffer].shape
        for tile in tiles:
            own = along(shape, write.axis, tile.lo, tile.hi)
            for box in changes.get(write.buffer) or [whole(shape)]:
                common = intersect(own, box)
                if common is not None:
                    written.setdefault(tile.rank, []).append(common)
        after[write.buffer] = after.get(write.buffer, held[write.buffer]).written(written)
    sent = tuple((name, found) for name, found in sorted(messages.items()) if found)
    return Work(tiles, frozenset(), sent, tuple(after.items()))


def _swapped(sweep: Sweep) -> set[str]:
    return {name for step in sweep.steps if isinstance(step, Swap) for name in step.targets}


def _changes(sweep: Sweep, number: Callable[[Expr], int]) -> dict[str, list[Box]]:
    """The boxes outside of which an iteration leaves an array as it is; nothing is known of arrays that are missing."""
    found: dict[str, list[Box]] = {}
    unknown = _swapped(sweep)
    for step in sweep.steps:
        for write in step.writes if isinstance(step, Stage) else ():
            if write.box is None:
                unknown.add(write.buffer)
            else:
                box = tuple((number(lo), number(hi)) for lo, hi in write.box)
                found.setdefault(write.buffer, []).append(box)
    return {name: boxes for name, boxes in found.items() if name not in unknown}


def _computed_first(sweep: Sweep, number: Callable[[Expr], int]) -> dict[str, list[Box]]:
    """The boxes of arrays that every iteration computes before anything reads them."""
    found: dict[str, list[Box]] = {}
    seen = _swapped(sweep)
    for step in sweep.steps:
        if not isinstance(step, Stage):
            continue
        seen |= {piece.buffer for piece in step.reads}
        for write in step.writes:
            if write.buffer not in seen and write.box is not None:
                found[write.buffer] = [tuple((number(lo), number(hi)) for lo, hi in write.box)]
            seen.add(write.buffer)
    return found
