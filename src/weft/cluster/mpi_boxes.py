"""Boxes of index space.  In: boxes, that is a half-open range for each axis; out: intersections, differences, unions.

    subtract(((0, 10),), [((3, 5),)])  -->  [((0, 3),), ((5, 10),)]
Everything that is held, needed or sent is a list of disjoint boxes.  A box of rank 0 is one element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Box = tuple[tuple[int, int], ...]


def whole(shape: Sequence[int]) -> Box:
    """The box of all elements of an array."""
    return tuple((0, extent) for extent in shape)


def volume(box: Box) -> int:
    return math.prod(max(high - low, 0) for low, high in box)


def slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high) for low, high in box)


def extents(box: Box) -> tuple[int, ...]:
    return tuple(high - low for low, high in box)


def intersect(first: Box, second: Box) -> Box | None:
    """What both hold; None if that is nothing."""
    common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, second))
    return None if any(low >= high for low, high in common) else common


def _without(box: Box, hole: Box) -> list[Box]:
    """The box without a hole that lies inside it: at most two slabs an axis."""
    left: list[Box] = []
    for axis, ((low, high), (start, stop)) in enumerate(zip(box, hole)):
        around = hole[:axis], box[axis + 1 :]
        if low < start:
            left.append((*around[0], (low, start), *around[1]))
        if stop < high:
            left.append((*around[0], (stop, high), *around[1]))
    return left


def subtract(box: Box, holes: Iterable[Box]) -> list[Box]:
    """What is in the box and in none of the holes, as disjoint boxes."""
    left = [box] if volume(box) else []
    for hole in holes:
        after: list[Box] = []
        for part in left:
            common = intersect(part, hole)
            after.extend([part] if common is None else _without(part, common))
        left = after
        if not left:
            break
    return left


def remove(boxes: Iterable[Box], holes: Sequence[Box]) -> list[Box]:
    """What is in one of the disjoint boxes and in none of the holes."""
    return [part for box in boxes for part in subtract(box, holes)]


def union(boxes: Iterable[Box]) -> list[Box]:
    """Disjoint boxes that hold the same elements, neighbours joined where that gives a box."""
    apart: list[Box] = []
    # Thousands of tiles along one axis are one box before every box is compared with every other one.
    for box in _joined_along_all([box for box in boxes if volume(box)]):
        apart.extend(subtract(box, apart))
    return sorted(_joined_along_all(apart))


def _joined_along_all(boxes: list[Box]) -> list[Box]:
    for axis in reversed(range(len(boxes[0]) if boxes else 0)):
        boxes = _joined(boxes, axis)
    return boxes


def _joined(boxes: list[Box], axis: int) -> list[Box]:
    """Boxes that differ along one axis alone, and touch or overlap there, become one."""
    found: list[Box] = []
    for box in sorted(boxes, key=lambda box: (box[:axis], box[axis + 1 :], box[axis])):
        last = found[-1] if found else None
        alike = last is not None and last[:axis] == box[:axis] and last[axis + 1 :] == box[axis + 1 :]
        if last is not None and alike and last[axis][1] >= box[axis][0]:
            found[-1] = (*box[:axis], (last[axis][0], max(last[axis][1], box[axis][1])), *box[axis + 1 :])
        else:
            found.append(box)
    return found
