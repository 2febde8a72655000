"""Arguments that lie in one piece of memory.  In: arrays that overlap; out: one array around all of them (`Filled`), in
which each is a view: where it starts, its shape, and how far a step along each of its axes goes.

Which axis of that array an axis of a view runs along is part of the version (`Layout`); whatever else there is to know
is computed at each call, here and, for native versions, by the same steps in `native/sharing.c`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from weft.records import dataclass

Array = np.ndarray[Any, Any]

#: More arrays, or arrays of more axes, are left to plain Python.
MOST_MEMBERS = 8
MOST_AXES = 8
#: A step that is longer than this many elements of an axis belongs to another axis.
LONGEST_STEP = 16


@dataclass(frozen=True)
class Member:
    """An argument by its number, whether it may be written, and along which axis of the memory each of its axes is."""

    argument: int
    writeable: bool
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """Arguments in memory of `rank` axes, whose steps become shorter from one axis to the next."""

    rank: int
    members: tuple[Member, ...]

    def __str__(self) -> str:
        parts = (
            f"{member.argument}{'w' if member.writeable else 'r'}{''.join(map(str, member.axes))}"
            for member in self.members
        )
        return f"{self.rank}:" + ",".join(parts)

    @property
    def words(self) -> int:
        """Those of the memory; for each argument, where it starts on each axis, its shape, and its steps."""
        return 1 + 2 * self.rank + sum(self.rank + 2 * len(member.axes) for member in self.members)


def parse(text: str) -> Layout:
    """The layout that `str` gives this text of."""
    rank, _, members = text.partition(":")
    found = []
    for part in members.split(","):
        letter = "w" if "w" in part else "r"
        argument, _, axes = part.partition(letter)
        found.append(Member(int(argument), letter == "w", tuple(map(int, axes))))
    return Layout(int(rank), tuple(found))


@dataclass(frozen=True)
class Place:
    """A view in the memory: its first element, its shape, and its step along each of its own axes."""

    start: tuple[int, ...]
    shape: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Filled:
    """The memory as an array, and where each argument is in it."""

    array: Array
    places: tuple[Place, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """As a version takes them: the array, then the numbers of each argument."""
        numbers = (number for place in self.places for number in (*place.start, *place.shape, *place.steps))
        return (self.array, *numbers)


def holds_twice(array: Array) -> bool:
    """Whether two indices of an array may lead to one element, as in `native/guards.c`: an axis that does not step over
    all that the axes with shorter steps reach."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    within = 0
    for step, extent in sorted((abs(step), extent) for step, extent in zip(array.strides, array.shape) if extent > 1):
        if step <= within:
            return array.size > 0
        within += step * (extent - 1)
    return False


# --- the memory of a call -------------------------------------------------------------------------------------------


def fill(layout: Layout, values: Sequence[Any]) -> Filled | None:
    """The memory of a call's arguments; None if they do not lie in it as the layout says."""
    arrays = [values[member.argument] for member in layout.members]
    if not all(map(_fits, arrays, layout.members)) or not _is_connected(arrays):
        return None
    size = arrays[0].itemsize
    if any(array.dtype != arrays[0].dtype or (_low(array) - _low(arrays[0])) % size for array in arrays):
        return None
    strides = [[step // size for step in array.strides] for array in arrays]
    lows = [(_low(array) - _low(arrays[0])) // size for array in arrays]
    units = _units(layout, arrays, strides, lows)
    if units is None:
        return None
    spans = [_spans(layout, member, array, steps) for member, array, steps in zip(layout.members, arrays, strides)]
    starts = _split(units, lows, spans)
    if starts is None:
        return None
    shape = [
        1 + max(start[axis] + span[axis] // unit for start, span in zip(starts, spans))
        for axis, unit in enumerate(units)
    ]
    reach = [(extent - 1) * unit for extent, unit in zip(shape, units)]
    if any(sum(reach[axis + 1 :]) >= unit for axis, unit in enumerate(units[:-1])):
        return None  # elements of the memory would have two places in it
    places = tuple(
        _place(member, array, steps, start, units)
        for member, array, steps, start in zip(layout.members, arrays, strides, starts)
    )
    first = _low(arrays[0]) - size * sum(map(int.__mul__, starts[0], units))
    writeable = any(member.writeable for member in layout.members)
    return Filled(_memory(arrays, first, tuple(shape), tuple(unit * size for unit in units), writeable), places)


def _fits(array: Any, member: Member) -> bool:
    if type(array) is not np.ndarray or array.ndim != len(member.axes) or not array.size:
        return False
    if member.writeable and not array.flags.writeable:
        return False
    if any(step % array.itemsize for step in array.strides) or not (array.flags.aligned and array.dtype.isnative):
        return False
    return not member.writeable or _is_injective(array)


def _is_injective(array: Array) -> bool:
    """Whether each element has a place of its own, as far as one can tell by steps and extents."""
    reach = array.itemsize
    for step, extent in sorted((abs(step), extent) for step, extent in zip(array.strides, array.shape) if extent > 1):
        if step < reach:
            return False
        reach += step * (extent - 1)
    return True


def _low(array: Array) -> int:
    """The lowest address of an array that is not empty."""
    first: int = array.ctypes.data
    reach: int = sum(min(step * (n - 1), 0) for step, n in zip(array.strides, array.shape))
    return first + reach


def _high(array: Array) -> int:
    reach: int = sum(abs(step) * (n - 1) for step, n in zip(array.strides, array.shape))
    return _low(array) + int(array.itemsize) + reach


def _is_connected(arrays: Sequence[Array]) -> bool:
    """Whether the arrays overlap, one with the next: others are the business of other versions."""
    met, rest = [arrays[0]], list(arrays[1:])
    while met:
        one = met.pop()
        met += [other for other in rest if not apart(one, other)]
        rest = [other for other in rest if apart(one, other)]
    return not rest


def _units(
    layout: Layout, arrays: Sequence[Array], strides: Sequence[Sequence[int]], lows: Sequence[int]
) -> list[int] | None:
    """The step along each axis of the memory: what divides all steps along it."""
    units = [0] * layout.rank
    for member, array, steps in zip(layout.members, arrays, strides):
        for axis, step, extent in zip(member.axes, steps, array.shape):
            if extent > 1:
                units[axis] = math.gcd(units[axis], step)
    if layout.rank == 1:
        units[0] = math.gcd(units[0], *lows) or 1
    falling = all(one > other for one, other in itertools.pairwise(units))
    return units if falling and units[-1] > 0 else None


def _spans(layout: Layout, member: Member, array: Array, strides: Sequence[int]) -> list[int]:
    """How far the array reaches along each axis of the memory, in elements."""
    spans = [0] * layout.rank
    for axis, step, extent in zip(member.axes, strides, array.shape):
        spans[axis] += abs(step) * (extent - 1)
    return spans


def _split(units: Sequence[int], lows: Sequence[int], spans: Sequence[Sequence[int]]) -> list[list[int]] | None:
    """Where each array begins on each axis; None if there is no way to tell, as for rows that run into the next one."""
    rest = list(lows)
    starts: list[list[int]] = [[] for _ in lows]
    for axis, unit in enumerate(units):
        inner = [sum(span[axis + 1 :]) for span in spans]
        last = axis + 1 == len(units)
        for cut in rest:
            places = [(low - cut) % unit for low in rest]
            if all(place == 0 if last else place + wide < unit for place, wide in zip(places, inner)):
                break
        else:
            return None
        whole = [(low - cut) // unit for low in rest]
        for start, number in zip(starts, whole):
            start.append(number - min(whole))
        rest = places
    return starts


def _place(
    member: Member, array: Array, strides: Sequence[int], low: Sequence[int], units: Sequence[int]
) -> Place:
    start = list(low)
    steps = []
    for axis, step, extent in zip(member.axes, strides, array.shape):
        steps.append(0 if extent == 1 else step // units[axis])
        start[axis] -= min(steps[-1], 0) * (extent - 1)
    return Place(tuple(start), array.shape, tuple(steps))


def _memory(
    arrays: Sequence[Array], first: int, shape: tuple[int, ...], strides: tuple[int, ...], writeable: bool
) -> Array:
    """An array at an address in the midst of others."""

    class Region:
        """What `__array_interface__` needs; keeps the arrays alive."""

        owners = tuple(arrays)
        __array_interface__ = {  # noqa: RUF012
            "version": 3,
            "typestr": arrays[0].dtype.str,
            "data": (first, not writeable),
            "shape": shape,
            "strides": strides,
        }

    return np.asarray(Region())


# --- which arguments share memory -----------------------------------------------------------------------------------


def apart(one: Array, other: Array) -> bool:
    """Whether two arrays share no byte, as far as entry guards can tell: see DISJOINT in `codegen/c_support.py`."""
    if not (one.size and other.size) or _high(one) <= _low(other) or _high(other) <= _low(one):
        return True
    return _between(one, other) or _between(other, one)


def _between(one: Array, other: Array) -> bool:
    """Whether the elements of two arrays have their places apart between the steps of an axis of the first."""
    for extent, stride in zip(one.shape, one.strides):
        step = abs(stride)
        if extent == 1 or step == 0:
            continue
        (first, wide), (second, width) = _within(one, step), _within(other, step)
        gap = (second - first) % step
        if wide <= gap and width <= step - gap:
            return True
    return False


def _within(array: Array, step: int) -> tuple[int, int]:
    """Where an array starts between steps of this length, and how wide it is there."""
    first, width = int(array.ctypes.data), array.itemsize
    for extent, stride in zip(array.shape, array.strides):
        if extent > 1 and stride % step:
            first += min((extent - 1) * stride, 0)
            width += abs((extent - 1) * stride)
    return first, width


def groups(values: Sequence[Any], written: frozenset[int]) -> list[tuple[Layout, Filled]] | None:
    """The arguments that share memory of which some is written; None if they share it in a way that has no layout."""
    arrays = {at: value for at, value in enumerate(values) if type(value) is np.ndarray and value.size}
    first = {id(array): at for at, array in reversed(arrays.items())}
    changed = {first[id(arrays[at])] for at in written if at in arrays}
    if not all(arrays[at].flags.writeable for at in changed):
        return None  # Python says so
    names = sorted(first.values())
    joined = {at: {at} for at in names}
    for at in names:
        for other in names:
            if at < other and (at in changed or other in changed) and not apart(arrays[at], arrays[other]):
                both = joined[at] | joined[other]
                for member in both:
                    joined[member] = both
    found = []
    for members in dict.fromkeys(tuple(sorted(part)) for part in joined.values() if len(part) > 1):
        group = _group(members, values)
        while group is not None:  # with all that lies in the memory, also if it is only read and overlaps what is
            known = {member.argument for member in group[0].members}
            among = [at for at in names if at not in known and not apart(group[1].array, arrays[at])]
            if not among:
                break
            group = _group(tuple(sorted(known.union(among))), values)
        if group is None:
            return None
        found.append(group)
    several = [member.argument for layout, _ in found for member in layout.members]
    return found if len(several) == len(set(several)) else None


def _group(members: tuple[int, ...], values: Sequence[Any]) -> tuple[Layout, Filled] | None:
    arrays = [values[at] for at in members]
    if len(members) > MOST_MEMBERS or any(array.ndim > MOST_AXES for array in arrays):
        return None
    if any(array.dtype != arrays[0].dtype or not array.ndim for array in arrays):
        return None
    for rank, axes in _ways(arrays):
        parts = zip(members, arrays, axes)
        layout = Layout(rank, tuple(Member(at, bool(array.flags.writeable), along) for at, array, along in parts))
        filled = fill(layout, values)
        if filled is not None:
            return layout, filled
    return None


def _ways(arrays: Sequence[Array]) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """Axes for the memory, the best first: those of one of the arrays, all there are, and a single one."""
    steps: list[set[int]] = [{abs(s) for s, n in zip(array.strides, array.shape) if n > 1 and s} for array in arrays]
    every: set[int] = set().union(*steps)
    most = sorted(steps[max(range(len(steps)), key=lambda at: len(steps[at]))], reverse=True)
    for units in (most, _refined(most, sorted(every)), sorted(every, reverse=True)):
        if units:
            axes = [_along(array, units) for array in arrays]
            if all(axis is not None for axis in axes):
                yield len(units), [axis for axis in axes if axis is not None]
    yield 1, [(0,) * array.ndim for array in arrays]


def _refined(units: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Units of which each step is a multiple: the shortest that does not become much shorter so is divided."""
    found = list(units)
    for step in steps:
        if found and all(step % unit for unit in found):
            near = [at for at, unit in enumerate(found) if unit <= LONGEST_STEP * math.gcd(unit, step)]
            if near:
                found[near[-1]] = math.gcd(found[near[-1]], step)
    return found


def _along(array: Array, units: Sequence[int]) -> tuple[int, ...] | None:
    """The axis of the memory that each axis of an array is along; None if there is none for one of them."""
    axes: list[int] = []
    used: set[int] = set()
    for step, extent in zip(array.strides, array.shape):
        if extent == 1 or step == 0:
            axes.append(0)
            continue
        fitting = [at for at, unit in enumerate(units) if step % unit == 0 and abs(step) <= LONGEST_STEP * unit]
        if not fitting or fitting[0] in used:
            return None
        axes.append(fitting[0])
        used.add(fitting[0])
    return tuple(axes)
