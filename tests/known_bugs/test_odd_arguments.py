"""Library functions with arguments that they do not take: NumPy's own exception, and nothing that goes wrong inside
weft; and reductions that have no identity, of nothing."""

from __future__ import annotations

import itertools
import linecache
import random
import re
import warnings

import numpy as np
import pytest

import weft
from weft.report import support

#: None where the default is something else, sequences for sizes, numbers for sequences, functions for axes.
CASES = (
    "a.choose(2)",
    "a.choose(a[0])",
    "np.choose(a, float)",
    "np.choose(a, [1, 'x'])",
    "a.transpose(1j)",
    "a.transpose(())",
    "np.transpose(a, float)",
    "np.transpose(a, True)",
    "np.rot90(b, 1, 2)",
    "np.swapaxes(b, 1, 5)",
    "np.expand_dims(a, None)",
    "np.tensordot(a, a, len)",
    "np.fft.fft(a, 3, None)",
    "np.fft.fft(a, 3, 0, [1])",
    "np.round(a, None)",
    "np.isclose(a, 1, None)",
    "np.histogram(a, None)",
    "np.tril(b, None)",
    "np.eye((1, 2))",
    "np.identity([])",
    "np.linspace(0, 1, [1, 2])",
    "np.tril_indices((1, 2))",
    "np.diag_indices(())",
    "np.vander(a, (1, 2))",
    "np.reshape(a, [[1, 2], [3, 4]])",
    "np.indices(3)",
    "np.block((a, a))",
    "np.where(a[0])",
    "np.linalg.outer(a, b)",
    "np.linalg.norm(a, 1, 0, ())",
    "np.issubdtype(a, np.int16)",
    "np.can_cast(np.int8, a)",
    "np.s_(1)",
    "np.clip(a, 1)",
    "a.clip(1)",
    "np.clip(a, 1, None)",
    "np.iscomplex(0.5)",
    "np.tril_indices_from([[1, 2], [3, 4]])",
    "np.r_([1, 2])",
    "np.mgrid(3)",
    "np.correlate(a, [])",
    "np.trapezoid(a, b)" if hasattr(np, "trapezoid") else "np.trapz(a, b)",
    "np.rollaxis([], 0)",
    "np.rollaxis([[1], [2]], 1)",
    "a.fill(b)",
    "a.fill(a)",
    "a.fill(a[:1])",
    # These NumPy does take.
    "a.fill(a[0])",
    "a.fill(np.array(2))",
    "np.linspace(0.0, 1.0, num=1, retstep=True)",
    "np.linspace(0.0, 1.0, num=a[1], retstep=True)",
    "np.linspace(0.0, 1.0, num=a[0], retstep=True)",
    "np.linspace(0.0, 1.0, num=a[2], retstep=True)",
    "np.linspace(0.0, 1.0, a[1], False, True)",
    "np.sort(b, None)",
    "np.concatenate((b, b), None)",
    "np.maximum.reduce(b, None)",
    "np.zeros(3, None)",
    "np.squeeze(b, None)",
    "np.subtract.outer(a, 2)",
    "np.copysign.outer(a, 2)",
    "b.transpose(None)",
    "b.transpose([1, 0])",
    "b.transpose(1, 0)",
    "np.r_[1, 2]",
    "np.round(a, True)",
    "np.sum(b, 0, keepdims=1)",
)
ODD = ("2", "0.5", "1j", "None", "'x'", "[]", "(1, 2)", "[1, 'a']", "lambda v: v", "a[0]", "[b, b]", "float", "len")


def made(expression: str):
    source = f"def f(a, b):\n    return {expression}\n"
    file = f"<odd {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def seen(function, *arguments):
    arguments = tuple(each.copy() for each in arguments)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*arguments)
    except Exception as problem:
        return type(problem).__name__, re.sub("0x[0-9a-f]+", "0x", str(problem))
    return type(result).__name__, getattr(result, "dtype", None), getattr(result, "shape", None), repr(result)


def same(expression: str, *arguments) -> None:
    function = made(expression)
    compiled = weft.jit(function, backend="python", fallback="silent")
    assert seen(compiled, *arguments) == seen(function, *arguments), expression
    assert not [reason for reason in compiled.stats["fallbacks"] if "inside weft" in reason], expression


def test_arguments_that_a_function_does_not_take():
    for expression in CASES:
        same(expression, np.arange(3, dtype=np.int16), np.arange(6, dtype=np.int16).reshape(2, 3))


def test_nothing_goes_wrong_inside_whatever_is_passed():
    """A sample of all functions, with one argument that is out of place."""
    rows = [row for row in support.rows() if row.path != "Python" and not row.alias_of]
    rows = [row for row in rows if row.family in ("np", "np.linalg", "np.fft", "ndarray") and "empty" not in row.name]
    tasks = [(row.name, place, odd) for row in rows for place in range(min(len(row.covered), 4)) for odd in ODD]
    for name, place, odd in random.Random(15).sample(tasks, 120):
        given = ", ".join(["a", "1", "0"][:place] + [odd])
        function = made(f"a.{name[8:]}({given})" if name.startswith("ndarray.") else f"{name}({given})")
        compiled = weft.jit(function, backend="python", fallback="silent")
        seen(compiled, np.arange(1.0, 4.0), np.ones((2, 2)))
        assert not [reason for reason in compiled.stats["fallbacks"] if "inside weft" in reason], (name, given)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmin", "add"])
def test_a_reduction_without_an_identity_of_nothing(name):
    for form, dtype in itertools.product(("", ", axis=None", ", keepdims=True", ", initial=1"), ("bool", "float32")):
        for shape in ((0,), (0, 3)):
            same(f"np.{name}.reduce(a{form})", np.zeros(shape, dtype), np.zeros(1))
