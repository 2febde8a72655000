"""Work that the user declares parallel.  In: bounds or blocks; out, in CPython, the same work piece after piece.

    for i in weft.prange(n): ...                    as range(n)
    for i, j in weft.map[0:n, 0:m]: ...             as a loop over i with a loop over j in it
    v = weft.vidx(i, weft.MVL, n)                   as slice(i, min(i + weft.MVL, n))
    with weft.task(): ...                           a block that what follows need not wait for,
    with weft.finish(): ...                         up to the end of the block around it that waits for all of them
    with weft.isolated(): ...                       a block that only one task is in at a time

Compiled, iterations and tasks run at once, also where no proof is found that they may: the program asserts it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any


def prange(*bounds: int) -> range:
    """prange(n), prange(start, stop) or prange(start, stop, step): a range whose iterations do not need each other."""
    return range(*bounds)


#: The length of vectors that programs write out by hand (`vidx`).  weft chooses its own for loops that it cuts itself.
MVL = 64


def vidx(start: int, length: int, bound: int) -> slice:
    """A vector of indices: a[vidx(i, MVL, n)] is a[i : i + MVL], cut off at n."""
    return slice(start, min(start + length, bound))


class Map:
    """`map[a:b, c:d]`: all pairs (i, j), the last index fastest; `map[a:b]`: the numbers themselves."""

    def __init__(self) -> None:
        self.__qualname__ = "map"  # a version in the disk cache finds the object again by this name

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Iterable[Any]:
        if not isinstance(key, tuple):
            return _range(key)
        return itertools.product(*(_range(part) for part in key))

    def __repr__(self) -> str:
        return "weft.map"


def _range(part: slice) -> range:
    if not isinstance(part, slice) or part.stop is None:
        raise TypeError("weft.map takes slices with an end, such as weft.map[0:n, 0:m]")
    return range(0 if part.start is None else part.start, part.stop, 1 if part.step is None else part.step)


class Region:
    """What `finish`, `task` and `isolated` give: a context manager that does nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_REGION = Region()


def finish() -> Region:
    """`with weft.finish():` ends when all tasks have ended that were begun in it."""
    return _REGION


def task() -> Region:
    """`with weft.task():` a block that may run beside what follows it, until the `finish` around it ends."""
    return _REGION


def isolated() -> Region:
    """`with weft.isolated():` a block that one task at a time is in, of all the tasks there are."""
    return _REGION


map = Map()
