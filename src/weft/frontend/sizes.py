"""Sizes in shape hints.  In: names and whole numbers, added and multiplied (`N`, `N + 2`, `2 * N - M`); out: sums of
names times factors, which a caller's sizes can be held to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weft.records import dataclass


class _Arithmetic:
    """What names and sums of them have in common: the operators."""

    def as_sum(self) -> SizeSum:
        raise NotImplementedError

    def __add__(self, other: object) -> SizeSum:
        own, more = self.as_sum(), sum_of(other)
        if more is None:
            return NotImplemented
        factors = dict(own.terms)
        for name, factor in more.terms:
            factors[name] = factors.get(name, 0) + factor
        kept = tuple(sorted((name, factor) for name, factor in factors.items() if factor))
        return SizeSum(kept, own.constant + more.constant)

    def __mul__(self, other: object) -> SizeSum:
        if type(other) is not int:
            return NotImplemented
        own = self.as_sum()
        kept = tuple((name, factor * other) for name, factor in own.terms if other)
        return SizeSum(kept, own.constant * other)

    def __neg__(self) -> SizeSum:
        return self * -1

    def __sub__(self, other: object) -> SizeSum:
        more = sum_of(other)
        return NotImplemented if more is None else self + -more

    def __rsub__(self, other: object) -> SizeSum:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


@dataclass(frozen=True)
class SymbolicSize(_Arithmetic):
    """A size that is only known by name; equal names are equal sizes."""

    name: str

    def as_sum(self) -> SizeSum:
        return SizeSum(((self.name, 1),), 0)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class SizeSum(_Arithmetic):
    """Names times factors, and a constant: `N + 2`."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def as_sum(self) -> SizeSum:
        return self

    def value(self, known: Mapping[str, int]) -> int:
        return self.constant + sum(factor * known[name] for name, factor in self.terms)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)

    def __str__(self) -> str:
        return "".join(self._parts()) or "0"

    def _parts(self) -> Iterator[str]:
        first = True
        for name, factor in (*self.terms, ("", self.constant)):
            if not factor:
                continue
            size = abs(factor)
            text = name if size == 1 and name else f"{size} * {name}" if name else str(size)
            yield ("-" if factor < 0 else "") + text if first else (" - " if factor < 0 else " + ") + text
            first = False


def sum_of(size: object) -> SizeSum | None:
    """A name, a sum or a whole number as a sum; None for anything else."""
    if isinstance(size, _Arithmetic):
        return size.as_sum()
    return SizeSum((), size) if type(size) is int else None
