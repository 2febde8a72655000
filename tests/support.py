"""How a compiled function is compared with the plain one. In come a function and a maker of fresh arguments; both
versions run on their own arguments, and everything a caller can observe must agree: value, type, dtype, shape,
identity with or sharing of memory with an argument, the arguments afterwards, or the exception's type and message.
"""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

Arguments = tuple[Any, ...]
Maker = Callable[[], Arguments]

_COUNTER = itertools.count()


class Ulps(float):
    """A tolerance in units of the last place of each element, instead of one relative to the largest element."""


def opencl_device() -> Any:
    """The OpenCL device that tests run on; the test is skipped where none works, for the reason that users are told."""
    pytest.importorskip("pyopencl", reason="pyopencl is not installed")
    from weft.device import opencl
    from weft.device.plan import Refused

    try:
        return opencl.current()
    except Refused as problem:
        pytest.skip(str(problem))


@dataclass(frozen=True)
class Outcome:
    """What one call did: its value or its exception, and the arguments as it left them."""

    value: Any
    error: BaseException | None
    arguments: Arguments


def outcome(function: Callable[..., Any], arguments: Arguments, keywords: dict[str, Any] | None = None) -> Outcome:
    """Call `function`; NumPy's floating-point warnings are no part of the comparison."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return Outcome(function(*arguments, **(keywords or {})), None, arguments)
        except Exception as error:
            return Outcome(None, error, arguments)


def function_from_source(source: str, name: str = "f", namespace: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The function `name` of a piece of source text, with its source on record as for a function from a file."""
    file = f"<weft-test-{next(_COUNTER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "__name__": "weft_test_source", **(namespace or {})}
    exec(compile(source, file, "exec"), scope)
    function: Callable[..., Any] = scope[name]
    return function


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."


def _close(actual: np.ndarray, expected: np.ndarray, tolerance: float, zero_signs: bool) -> bool:
    if actual.dtype.kind not in "fc":
        return bool(np.array_equal(actual, expected))
    if actual.dtype.kind == "c":
        # Parts apart: a complex infinity or NaN may have one finite part.
        return _close(actual.real, expected.real, tolerance, zero_signs) and _close(
            actual.imag, expected.imag, tolerance, zero_signs
        )
    if isinstance(tolerance, Ulps):
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        with np.errstate(invalid="ignore"):
            distance = np.abs(actual.astype(np.longdouble) - expected.astype(np.longdouble))
        return bool(np.all(same | (distance <= int(tolerance) * np.spacing(np.abs(expected)))))
    if tolerance:
        if actual.dtype == np.float32:
            tolerance = max(tolerance, 2e-5)
        finite = expected[np.isfinite(expected)]
        scale = float(np.max(np.abs(finite))) if finite.size else 1.0
        return bool(np.allclose(actual, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
    if not np.array_equal(actual, expected, equal_nan=True):
        return False
    zeros = (expected == 0) & (actual == 0)
    return not zero_signs or bool(np.array_equal(np.signbit(actual[zeros]), np.signbit(expected[zeros])))


def difference(
    actual: Any, expected: Any, tolerance: float = 0.0, where: str = "result", zero_signs: bool = True
) -> str | None:
    """Why two values are not the same to a caller; None if they are."""
    if type(actual) is not type(expected):
        kinds = f"type {type(actual).__name__}, expected {type(expected).__name__}"
        return f"{where}: {kinds} ({_short(actual)} / {_short(expected)})"
    if isinstance(expected, np.ndarray):
        if actual.dtype != expected.dtype:
            return f"{where}: dtype {actual.dtype}, expected {expected.dtype}"
        if actual.shape != expected.shape:
            return f"{where}: shape {actual.shape}, expected {expected.shape}"
        if not _close(actual, expected, tolerance, zero_signs):
            return f"{where}: values differ\n{actual!r}\nexpected\n{expected!r}"
        return None
    if isinstance(expected, np.generic | float | complex):
        if not _close(np.asarray(actual), np.asarray(expected), tolerance, zero_signs):
            return f"{where}: {actual!r}, expected {expected!r}"
        return None
    if isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            return f"{where}: length {len(actual)}, expected {len(expected)}"
        for position, (one, other) in enumerate(zip(actual, expected)):
            why = difference(one, other, tolerance, f"{where}[{position}]", zero_signs)
            if why is not None:
                return why
        return None
    return None if actual == expected else f"{where}: {actual!r}, expected {expected!r}"


def arrays_in(value: Any) -> list[Any]:
    """The arrays and NumPy scalars of a nested value."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray | np.generic) else []


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, list | tuple):
        return [array for item in value for array in _arrays(item)]
    return []


def sharing(done: Outcome) -> list[tuple[int, int, bool, bool]]:
    """Which arrays of the result are, or share memory with, which array arguments."""
    return [
        (position, index, result is argument, np.shares_memory(result, argument))
        for position, result in enumerate(_arrays(done.value))
        for index, argument in enumerate(_arrays(done.arguments))
        if result.size and argument.size
    ]


def compare(
    actual: Outcome, expected: Outcome, tolerance: float = 0.0, *, zero_signs: bool = True, memory: bool = True
) -> str | None:
    """Why two outcomes differ to a caller; None if they agree."""
    if (actual.error is None) != (expected.error is None):
        values = f"(value {_short(actual.value)} / {_short(expected.value)})"
        return f"raised {actual.error!r}, expected {expected.error!r} {values}"
    if expected.error is not None:
        if type(actual.error) is not type(expected.error) or str(actual.error) != str(expected.error):
            return f"raised {actual.error!r}, expected {expected.error!r}"
    else:
        why = difference(actual.value, expected.value, tolerance, "result", zero_signs)
        if why is not None:
            return why
        if memory and sharing(actual) != sharing(expected):
            return f"result shares memory as {sharing(actual)}, expected {sharing(expected)}"
    return difference(actual.arguments, expected.arguments, tolerance, "arguments", zero_signs)


def differential(
    function: Callable[..., Any],
    make: Maker,
    *,
    tolerance: float = 0.0,
    keywords: dict[str, Any] | None = None,
    zero_signs: bool = True,
    memory: bool = True,
    native: bool = True,
    calls: int = 2,
    **options: Any,
) -> Any:
    """Compile `function` and compare `calls` calls with the plain one; returns the compiled function.

    native: the call must not fall back to Python as a whole.  Without it the default must still be right.
    """
    import weft

    compiled = weft.jit(**{"fallback": "error" if native else "silent", **options})(function)
    same_as_plain(compiled, function, make, tolerance, keywords, zero_signs, memory, calls)
    return compiled


def same_as_plain(
    compiled: Callable[..., Any],
    function: Callable[..., Any],
    make: Maker,
    tolerance: float = 0.0,
    keywords: dict[str, Any] | None = None,
    zero_signs: bool = True,
    memory: bool = True,
    calls: int = 2,
) -> None:
    """Assert that calls of an already compiled function agree with the plain one."""
    expected = outcome(function, make(), keywords)
    for call in range(calls):
        actual = outcome(compiled, make(), keywords)
        if actual.error is not None and expected.error is None:
            raise actual.error  # with its own traceback
        why = compare(actual, expected, tolerance, zero_signs=zero_signs, memory=memory)
        assert why is None, f"call {call + 1}: {why}"


def differential_source(source: str, make: Maker, namespace: dict[str, Any] | None = None, **how: Any) -> Any:
    """`differential` for the function `f` of a source text."""
    return differential(function_from_source(source, "f", namespace), make, **how)


def lines(*text: str) -> str:
    """A function `f` from its header's parameters and its body lines."""
    header, *body = text
    return f"def f({header}):\n" + "".join(f"    {line}\n" for line in body)


def made(*values: Any) -> Maker:
    """A maker of copies of plain arguments (contiguous arrays, lists, scalars)."""

    def copy(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.copy(order="K")
        if isinstance(value, list):
            return [copy(item) for item in value]
        return value

    return lambda: tuple(copy(value) for value in values)


def nested_lists(values: Sequence[Any]) -> Arguments:
    """Arguments for the list form of a kernel: every array as nested lists."""
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value for value in values)
