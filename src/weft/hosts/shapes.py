"""Shape hints as constraints.  In: the extents that hints name; out: sample arguments of such shapes, from which the
front end learns which sizes are equal or fixed, and the tests that a caller's sizes have to pass.

    a: f64[N, N + 2], b: f64[N]   -->   N is a.extent[0]; a.extent[1] == N + 2; b.extent[0] == N
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.errors import Span, Unsupported
from weft.frontend.sizes import SizeSum
from weft.frontend.specs import ArraySpec, Spec
from weft.records import dataclass

Extents = Mapping[str, tuple["SizeSum | None", ...]]

#: Sizes of samples: no small sum of them is another, so that nothing is taken to be equal by accident.
_FIRST, _STEP = 1009, 1217


@dataclass(frozen=True)
class Test:
    """The extent of a parameter along an axis is this sum of named sizes."""

    parameter: str
    axis: int
    size: SizeSum


@dataclass(frozen=True)
class Definition:
    """A named size: the extent of a parameter along an axis, less a constant."""

    name: str
    parameter: str
    axis: int
    constant: int


@dataclass(frozen=True)
class Constraints:
    definitions: tuple[Definition, ...] = ()
    tests: tuple[Test, ...] = ()


def constraints(extents: Extents, span: Span) -> Constraints:
    """Where each name is found, and what is left to be tested; `Unsupported` if a name cannot be found."""
    definitions: dict[str, Definition] = {}
    tests: list[Test] = []
    places = [(name, axis, size) for name, shape in extents.items() for axis, size in enumerate(shape) if size]
    for name, axis, size in sorted(places, key=lambda place: abs(place[2].constant)):
        # Where N stands alone is the best place to learn it from.
        if len(size.terms) == 1 and size.terms[0][1] == 1 and size.terms[0][0] not in definitions:
            symbol = size.terms[0][0]
            definitions[symbol] = Definition(symbol, name, axis, size.constant)
    for name, axis, size in places:
        unknown = [symbol for symbol in size.names if symbol not in definitions]
        if unknown:
            reason = f"the size {unknown[0]} in the hint of {name} is not the size of any argument"
            raise Unsupported(span, reason, f"give some array an extent of {unknown[0]} (or {unknown[0]} + a number)")
        defining = len(size.terms) == 1 and definitions[size.names[0]] == Definition(
            size.names[0], name, axis, size.constant
        )
        if not defining:
            tests.append(Test(name, axis, size))
    return Constraints(tuple(definitions.values()), tuple(tests))


class Samples:
    """Arguments of the shapes that hints describe, without memory of their own."""

    def __init__(self, extents: Extents) -> None:
        self._next = _FIRST
        names = {name for shape in extents.values() for size in shape if size for name in size.names}
        self._known = {name: self._fresh() for name in sorted(names)}
        self._extents = extents

    def _fresh(self) -> int:
        self._next += _STEP
        return self._next

    def array(self, name: str, kind: ArraySpec) -> Any:
        """An array of that dtype and rank; extents that no hint names are of their own."""
        hinted = self._extents.get(name, (None,) * kind.rank)
        shape = []
        for size, one in zip(hinted, kind.ones):
            shape.append(1 if one else self._fresh() if size is None else max(size.value(self._known), 0))
        return np.broadcast_to(np.zeros((), kind.dtype.numpy), shape)

    def of(self, names: Sequence[str], kinds: Sequence[Spec]) -> list[Any]:
        """A sample for each argument: arrays; None for whatever else."""
        pairs = zip(names, kinds)
        return [self.array(name, kind) if isinstance(kind, ArraySpec) else None for name, kind in pairs]
