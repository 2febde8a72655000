"""Elements chosen by masks and indices, read and written, over dtypes, ranks, layouts and empty arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, LAYOUTS, ordinary
from tests.support import differential_source, lines, made

SOME = ("bool", "int8", "uint16", "int64", "float32", "complex128")


def _tolerance(dtype: str) -> float:
    return 1e-12 if np.dtype(dtype).kind == "c" else 0.0


def _mask(shape: int | tuple[int, ...], seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


@pytest.mark.parametrize("dtype", ALL)
def test_masks_read(dtype: str) -> None:
    values, mask = ordinary(dtype, (5, 7)), _mask((5, 7))
    vector = ["a[0][m[0]]", "a[m]", "a[m[:, 0]]", "a[m][::2]", "a[m].shape", "a[m].size", "a[m[:, 1], 2]", "a[:, m[1]]"]
    counts = ["np.nonzero(a)", "np.where(a)", "np.flatnonzero(a)", "np.argwhere(a)", "np.where(m)", "a.nonzero()"]
    rest = [
        "np.compress(m[0], a, axis=1)",
        "np.compress(m[:, 0], a, axis=0)",
        "np.compress(m[0], a)",
        "np.extract(m, a)",
    ]
    check_batch(vector + counts + rest, made(values, mask), header="a, m")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_masks_of_strided_arrays(layout: str) -> None:
    def make() -> tuple[np.ndarray, ...]:
        return LAYOUTS[layout](ordinary("float64", (6, 4))), LAYOUTS[layout](_mask((6, 4)))

    check_batch(["a[m]", "a[m[:, 0]]", "a[m] * 2 + 1", "np.nonzero(m)", "np.argwhere(a > 0)"], make, header="a, m")


@pytest.mark.parametrize("dtype", SOME)
def test_reductions_of_masks(dtype: str) -> None:
    names = ("sum", "prod", "min", "max", "mean", "std", "any", "all", "argmax")
    if dtype == "complex128":
        names = ("sum", "prod", "mean", "any", "all")
    expressions = [f"a[m].{name}()" for name in names] + ["np.sum(a[m])", "np.count_nonzero(a[m])", "len(a[m])"]
    check_batch(expressions, made(ordinary(dtype, (5, 7)), _mask((5, 7))), 1e-12, "a, m")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4,)])
def test_masks_that_choose_nothing(shape: tuple[int, ...]) -> None:
    make = made(ordinary("float64", shape), np.zeros(shape, bool))
    check_batch(["a[m]", "np.nonzero(m)", "a[m].sum()", "a[m] + 1", "np.flatnonzero(m)"], make, header="a, m")
    check_statements("a, m", "return a[m].max()", make=make)


def test_masks_of_changing_scalars_are_counted_anew() -> None:
    body = (
        "total = 0.0", "t = 0.0", "k = 0",
        "for step in range(3):",
        "    total += a[a > t].mean() + len(a[m[k]])",
        "    t = t + 0.3",
        "    k = k + 1",
        "    total += a[a > t].mean() + a[m[k]].sum()",
        "return total",
    )  # fmt: skip
    values = np.linspace(-1.0, 2.0, 12)
    check_statements("a, m", *body, make=made(values, _mask((4, 12))), tolerance=1e-12)


def test_masked_expressions_stay_masked() -> None:
    source = lines("z, c, m", "z[m] = z[m] ** 2 + c[m]", "return np.abs(z[m]) < 2.0")
    values = ordinary("complex128", (6, 5))
    compiled = differential_source(source, made(values, values[::-1].copy(), _mask((6, 5))), tolerance=1e-12)
    update = compiled.inspect("ir").split("return")[0]
    assert "count" not in update.split("z[")[1].splitlines()[0]


@pytest.mark.parametrize("dtype", ("int32", "float64", "complex64"))
def test_masks_written(dtype: str) -> None:
    values, mask = ordinary(dtype, (5, 7)), _mask((5, 7))
    count = int(mask.sum())
    for statement, extra in (
        ("a[m] = v", ordinary(dtype, count, 3)),
        ("a[m] += v", ordinary(dtype, count, 3)),
        ("a[m] = v", ordinary(dtype, 1, 3)),
        ("a[m[:, 0]] = v", ordinary(dtype, 7, 3)),
        ("a[m[:, 0]] *= v", ordinary(dtype, (int(mask[:, 0].sum()), 7), 3)),
        ("a[m] = v[m]", ordinary(dtype, (5, 7), 4)),
        ("a[m] -= v[m] * 2", ordinary(dtype, (5, 7), 4)),
        ("a[m] = v[~m][:m.sum()]", ordinary(dtype, (5, 7), 4)) if count <= 17 else ("a[m] = v", values[mask]),
        ("a[:, m[0]] = v", ordinary(dtype, (5, 1), 4)),
        ("a[a.real > 0] = v", ordinary(dtype, int((values.real > 0).sum()), 4)),
    ):
        check_statements("a, m, v", statement, make=made(values, mask, extra), tolerance=_tolerance(dtype))


def test_masks_written_from_the_array_itself() -> None:
    values = ordinary("float64", 20)
    check_statements("a", "a[a > 0] = a[::-1][a > 0]", make=made(values))
    count = int((values > 0).sum())
    # NumPy reads such a part while it is being written: it is left to NumPy.
    check_statements("a, n", "a[a > 0] = a[:n]", make=made(values, count), native=False)
    check_statements("a, n", "a[a > 0] = a[:n] * 2", make=made(values, count))

    def overlapping() -> tuple[np.ndarray, ...]:
        base = ordinary("float64", 30)
        return base[:20], base[5 : 5 + int((base[:20] > 0).sum())]

    check_statements("a, v", "a[a > 0] = v", make=overlapping, native=False)


@pytest.mark.parametrize(
    "statement",
    ["a[m] = v", "return a[m] + a[~m]", "return a[m[:4]]", "return np.compress(m, a[:3])"],
)
def test_masks_that_do_not_fit(statement: str) -> None:
    mask = np.array([True, False, True, True, True])
    check_statements("a, m, v", statement, make=made(np.arange(5.0), mask, np.arange(3.0)))


@pytest.mark.parametrize("dtype", SOME)
def test_take_and_choose(dtype: str) -> None:
    index = np.array([0, 2, -1, 3, 2])
    take = ["np.take(a, i)", "a.take(i, axis=1)", "np.take(a, i, axis=0)", "np.take(a, 1)", "np.take(a, 1, axis=1)"]
    modes = ["np.take(a, i * 9, mode='wrap')", "np.take(a, i * 9, mode='clip', axis=0)", "np.take(a, [[0, 1], [2, 3]])"]
    along = ["np.take_along_axis(a, j, axis=1)", "np.take_along_axis(a, j[:, :1], 1)"]
    choose = ["np.choose(i % 3, [a[0, :5], a[1, :5], a[2, :5]])", "np.choose(i % 2, (a[0, :5], a[1, 0]))"]
    places = np.random.default_rng(1).integers(-6, 6, (4, 3))
    make = made(ordinary(dtype, (4, 6)), index, places)
    check_batch(take + modes + along + choose, make, header="a, i, j")


@pytest.mark.parametrize("statement", ["return np.take(a, i)", "np.put(a, i, 9)", "return np.choose(i, [a, a])"])
def test_indices_out_of_bounds(statement: str) -> None:
    check_statements("a, i", statement, make=made(np.arange(4.0), np.array([0, 3, 7, 1])))


def test_put() -> None:
    for values in (np.array([7.0, 8.0]), np.array([5.0]), np.array([])):
        make = made(ordinary("float64", (3, 4)), np.array([0, 5, -1, 5, 2]), values)
        check_statements("a, i, v", "np.put(a, i, v)", "np.put(a, i * 2, v, mode='wrap')", make=make)


@pytest.mark.parametrize("dtype", ("int8", "uint64", "float32", "float64", "complex128"))
def test_arrays_compared(dtype: str) -> None:
    values = ordinary(dtype, (4, 5))
    near = (values + np.array(1e-9)).astype(dtype)
    expressions = [
        "np.array_equal(a, b)", "np.array_equal(a, a)", "np.array_equal(a, b[1:])", "np.array_equal(a, b[0])",
        "np.isclose(a, b)", "np.allclose(a, b)", "np.isclose(a, 1.0)", "np.allclose(a, b, rtol=0.0, atol=1e-12)",
        "np.allclose(a, a + 1)", "np.isclose(a, b, 0.1, 0.5)",
    ]  # fmt: skip
    check_batch(expressions, made(values, near), header="a, b")


def test_comparisons_with_nan() -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf, 0.0, -0.0])
    other = np.array([1.0, np.nan, np.inf, np.inf, -0.0, 1e-9])
    plain = ["np.isclose(a, b)", "np.array_equal(a, a)", "np.allclose(a, a)"]
    equal = ["np.isclose(a, b, equal_nan=True)", "np.array_equal(a, a, equal_nan=True)"]
    check_batch(plain + equal, made(values, other), header="a, b")
