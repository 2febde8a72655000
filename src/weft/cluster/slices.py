"""Slices of arrays by tiles.  In: a tile, a range of coordinates; out: the elements of an array that it touches."""

from __future__ import annotations

from dataclasses import replace

from weft.records import dataclass


@dataclass(frozen=True)
class Slice:
    """A tile lo .. hi touches the elements lo + below .. hi + above of `axis`; axis None: the whole array.

    `clipped`: a branch may keep it from going as far, so the slice ends where the array ends.
    """

    buffer: str
    axis: int | None
    below: int = 0
    above: int = 0
    clipped: bool = False

    def moved(self, distance: int) -> Slice:
        return replace(self, below=self.below + distance, above=self.above + distance)

    def hull(self, other: Slice) -> Slice:
        """The slice that holds both; the whole array if they run along different axes."""
        if self.axis is None or self.axis != other.axis:
            return Slice(self.buffer, None)
        below, above = min(self.below, other.below), max(self.above, other.above)
        return Slice(self.buffer, self.axis, below, above, self.clipped or other.clipped)

    def range(self, lo: int, hi: int, size: int) -> tuple[int, int]:
        """The first element and the one after the last, of an axis of this size."""
        if self.axis is None:
            return 0, size
        first, past = lo + self.below, hi + self.above
        return (max(first, 0), min(past, size)) if self.clipped else (first, past)
