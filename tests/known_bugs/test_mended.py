"""Bugs that were found once: the smallest program that showed each of them; those not yet mended are marked so."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from tests.support import differential_source, function_from_source, lines, made, same_as_plain

CASES = {
    # The number of splits was not looked at.
    "split at most so often": (
        lines("s, k", "return s.split(None, k), s.split(maxsplit=k), s.split(',', k), s.split(sep=',')"),
        ("  a, b  c,d  ", 1),
    ),
    "split not at all": (lines("s, k", "return s.split(None, k), s.split(',', maxsplit=k)"), ("  a, b ", 0)),
    "split as often as can be": (lines("s, k", "return s.split(None, k), s.split(',', k)"), ("  a, b,c ", -1)),
    # A bound below zero, known only at run time, counts from the end.
    "negative slice bound": (lines("a, i", "return a[i:].copy(), a[:i].sum()"), (np.arange(5.0), -3)),
    # The type of the result depends on the path taken.
    "int or float": (lines("x", "if x > 0:", "    y = 2.5", "else:", "    y = 1", "return y"), (-1,)),
    "accumulator of no iteration": (
        lines("a", "s = 0.0", "for i in range(len(a)):", "    s += a[i]", "return s"),
        (np.zeros(0),),
    ),
    "short circuit of mixed truth values": (lines("a, i", "return i < len(a) and a[i] > 0"), (np.ones(3), 100)),
    # NumPy computes `array ** 0.5` as a square root, which keeps the sign of zero and has no value below it.
    "square root of infinities": (
        lines("a", "return a ** 0.5"),
        (np.array([-np.inf, -0.0, 4.0] * 7, dtype=np.float32),),
    ),
    "square of truth values": (lines("a", "return a ** 2"), (np.array([True, False]),)),
    "and of numbers": (lines("x", "return x and 3, x or 3"), (2.5,)),
    "store beyond a list": (lines("a, i", "a[i] = 1"), ([1, 2, 3], -6)),
    "triangular loop beyond the end": (
        lines("a", "for i in range(len(a)):", "    for j in range(i + 2):", "        a[j] += 1.0"),
        (np.ones(8),),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_mended(name: str) -> None:
    source, arguments = CASES[name]
    differential_source(source, made(*arguments), native=False)


def test_slice_bound_that_changes_sign_between_calls() -> None:
    source = lines("a, i", "return a[i:].copy()")
    compiled = differential_source(source, made(np.arange(5.0), 1))
    plain = function_from_source(source)
    for bound in (-3, 2, -100, 100, 0):
        same_as_plain(compiled, plain, made(np.arange(5.0), bound))


def test_float_type_depends_on_a_branch() -> None:
    source = lines("a, p", "s = 0.0", "if p[0] == p[1]:", "    s = s + np.sum(a)", "return s")
    differential_source(source, made(np.ones(3), np.array([1, 2])), native=False)


def test_a_file_changed_after_import_is_not_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source on disk was read at the first call, whatever had become of it since the import."""
    file = tmp_path / "changing_module.py"
    file.write_text("import weft\n\n@weft.jit(fallback='silent')\ndef f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("changing_module")
    file.write_text("import weft\n\n@weft.jit(fallback='silent')\ndef f(x):\n    return x + 1000\n")
    assert module.f(1) == 2 and module.f.signatures == []


def test_early_return_of_an_inlined_function() -> None:
    """A value set only on the way out of a loop was read from memory that nobody had written."""
    source = lines(
        "a, v",
        "def place(k):",
        "    for i in range(len(a)):",
        "        if a[i] == k:",
        "            return i",
        "    return -1",
        "return place(v), place(v + 100)",
    )
    differential_source(source, made(np.arange(5), 3))


def test_name_set_only_before_a_break_may_be_unset() -> None:
    source = lines("a, x", "for i in range(len(a)):", "    if a[i] == x:", "        k = i", "        break", "return k")
    differential_source(source, made(np.arange(3), 1), native=False)
    differential_source(source, made(np.arange(3), 7), native=False)


def test_unpacking_counts() -> None:
    differential_source(lines("", "a = np.zeros(3)", "x, y = a", "return x"), made(), native=False)


def test_chained_comparison_is_lazy() -> None:
    source = lines("a, i, n", "return 0 <= i < n and 0.0 < a[i] < 0.5")
    for i in (-1, 1, 9):
        differential_source(source, made(np.full(4, 0.25), i, 4))


def test_a_function_that_always_raises() -> None:
    differential_source(lines("n", "raise ValueError('never')"), made(1))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 51])
def test_rounding_to_single_precision_stays(size: int) -> None:
    """gcc 12 took the way to single precision and back, of two numbers beside each other, for no way at all."""
    rng = np.random.default_rng(size)
    pairs = rng.random((size, 2))
    there_and_back = "z.astype(np.complex64).astype(np.complex128), x.astype(np.float32).astype(np.float64)"
    differential_source(lines("z, x", f"return {there_and_back}"), made(pairs[:, 0] + 1j * pairs[:, 1], pairs))
    small = lines("x", "r = np.empty(2)", "for j in range(2):", "    r[j] = np.float64(np.float32(x[j]))", "return r")
    differential_source(small, made(pairs[0]))


def test_a_temporary_taken_by_a_routine_in_a_branch() -> None:
    """The length decides between two routines: the converted input was dropped as if nobody read it."""
    differential_source(lines("a", "return np.fft.rfft(a)"), made(np.arange(6)))


def test_a_branch_in_a_branch_keeps_a_value_that_is_read_behind_it() -> None:
    """A scalar that dies with the outer branch is still alive behind the inner one: it was taken for zero there."""
    body = (
        "r = np.empty_like(a)", "for i in range(len(a)):", "    if a[i] < 0:", "        x = -a[i]", "    else:",
        "        y = a[i] * 2.0", "        if a[i] > 1.0:", "            y = y + 100.0", "        x = y",
        "    r[i] = x", "return r",
    )  # fmt: skip
    differential_source(lines("a", *body), made(np.array([-1.0, 0.5, 1.5, 2.5])))
