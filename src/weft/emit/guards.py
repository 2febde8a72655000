"""Decisions as Python.  In: the specs of a version and its program; out: the conditions under which it may run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from weft.analysis.scopes import written_params
from weft.frontend.specs import ArraySpec, ConstSpec, ScalarSpec, Spec
from weft.ir.program import Layout, Program
from weft.ir.types import DType, ScalarType

_SMALL = "2**40"
_PYTHON = {DType.BOOL: "bool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}


def why_not(kinds: Sequence[Spec]) -> str | None:
    """Why arguments of these specs cannot be told apart by a few tests, or None."""
    for kind in kinds:
        if not isinstance(kind, (ArraySpec, ScalarSpec, ConstSpec)):
            return f"an argument {kind}, which the emitted module leaves to the function as written"
        if isinstance(kind, ConstSpec) and not isinstance(kind.value, (int, float, str, bool, type(None))):
            return f"the constant argument {kind}"
    return None


def conditions(
    names: Sequence[str], kinds: Sequence[Spec], program: Program, filled: Sequence[str | None]
) -> list[str]:
    """The tests of a version in their order; `filled`: what the program calls each argument."""
    written = written_params(program)
    found: list[str] = []
    arrays: list[tuple[str, str, bool]] = []
    for name, kind, param in zip(names, kinds, filled):
        if isinstance(kind, ArraySpec):
            found += _array(name, kind, param in written)
            arrays.append((name, f"{param}", param in written))
        elif isinstance(kind, ScalarSpec):
            found += _scalar(name, kind)
        elif isinstance(kind, ConstSpec):
            same = f"{name} is {kind.value!r}" if kind.value is None or isinstance(kind.value, bool) else ""
            found.append(same or f"type({name}) is {type(kind.value).__name__} and {name} == {kind.value!r}")
    for (one, _, changed), (other, _, too) in combinations(arrays, 2):
        if changed or too:
            found.append(f"not np.may_share_memory({one}, {other})")
    return found


def _array(name: str, kind: ArraySpec, written: bool) -> list[str]:
    found = [
        f"type({name}) is np.ndarray",
        f"{name}.dtype == np.{kind.dtype.numpy.name}",
        f"{name}.ndim == {kind.rank}",
    ]
    if kind.layout is not Layout.STRIDED:
        found.append(f"{name}.flags.{'c' if kind.layout is Layout.C else 'f'}_contiguous")
    found += [f"{name}.shape[{axis}] == 1" for axis, one in enumerate(kind.ones) if one]
    if written:
        found.append(f"{name}.flags.writeable")
        if kind.layout is Layout.STRIDED:
            found.append(f"0 not in {name}.strides")
    return found


def _scalar(name: str, kind: ScalarSpec) -> list[str]:
    of: ScalarType = kind.type
    if not of.weak:
        return [f"type({name}) is np.{of.dtype.numpy.type.__name__}"]
    test = [f"type({name}) is {_PYTHON[of.dtype]}"]
    return [*test, f"-{_SMALL} < {name} < {_SMALL}"] if kind.small else test
