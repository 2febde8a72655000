"""Scans written as loops and as operators, long enough to run in blocks: as in CPython and NumPy, bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import weft
from tests.support import differential, made, same_as_plain

LONG = 20_011
ROUNDS = 530_017  # more than one round of blocks


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Blocks are for several threads, whatever this machine has."""
    before = weft.get_num_threads()
    weft.set_num_threads(2)
    yield
    weft.set_num_threads(before)


def explained(compiled: object, *words: str) -> None:
    text = compiled.explain()  # type: ignore[attr-defined]
    text = text if isinstance(text, str) else str(text)
    for word in words:
        assert word in text


def operators(x):
    return (
        np.cumsum(x), np.cumprod(x), np.maximum.accumulate(x), np.minimum.accumulate(x), np.bitwise_xor.accumulate(x),
        np.bitwise_or.accumulate(x[::-1]), np.logical_and.accumulate(x), np.subtract.accumulate(x),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64"])
def test_operators_on_integers(dtype: str) -> None:
    rng = np.random.default_rng(1)
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, LONG, dtype=dtype, endpoint=True)
    compiled = differential(operators, made(x))
    explained(compiled, "running sum, in blocks", "running maximum, in blocks", "running bitwise or, in blocks")
    same_as_plain(compiled, operators, made(x[: LONG // 2]), calls=1)
    same_as_plain(compiled, operators, made(np.resize(x, ROUNDS)), calls=1)


def of_floats(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x[::-1]), np.cumsum(x), np.cumprod(x)


def awkward(n: int, dtype: str, nans: bool) -> np.ndarray:
    """Mostly zeros of both signs, so that which of them an extreme takes is seen."""
    rng = np.random.default_rng(2)
    x = np.copysign(np.zeros(n), rng.standard_normal(n)).astype(dtype)
    x[n // 3] = -1.5
    x[n - 50] = 2.5
    if nans:
        x[n - 3000] = np.nan
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_operators_on_floats(dtype: str) -> None:
    compiled = differential(of_floats, made(awkward(LONG, dtype, False)))
    same_as_plain(compiled, of_floats, made(awkward(LONG, dtype, True)), calls=1)
    rng = np.random.default_rng(3)
    same_as_plain(compiled, of_floats, made(rng.standard_normal(LONG).astype(dtype)), calls=1)
    same_as_plain(compiled, of_floats, made(np.abs(awkward(LONG, dtype, False))), calls=1)


def loops(x, y, z, w):
    s = x[0] * 0
    m = x[0]
    for i in range(x.shape[0]):
        y[i] = s
        s += x[i]
        if x[i] > m:
            m = x[i]
        z[i] = m
    w[w.shape[0] - 1] = x[x.shape[0] - 1]
    for i in range(w.shape[0] - 2, -1, -1):
        w[i] = np.minimum(w[i + 1], x[i])
    return s, m


@pytest.mark.parametrize("stride", [1, -1, 2])
def test_loops(stride: int) -> None:
    rng = np.random.default_rng(4)

    def make() -> tuple[np.ndarray, ...]:
        given = np.random.default_rng(5).integers(-(2**31), 2**31, LONG * abs(stride), dtype=np.int32)
        outs = [np.zeros(LONG * abs(stride), np.int32)[::stride] for _ in range(3)]
        return (given[::stride], *outs)

    del rng
    with np.errstate(over="ignore"):
        compiled = differential(loops, make)
    explained(compiled, "running sum", "running minimum, in blocks")


def chained(x, y):
    s = np.int64(0)
    best = np.int64(-(2**62))
    low = np.int64(0)
    count = 0
    for i in range(x.shape[0]):
        t = x[i] * 3 - 1
        s = s + t
        best = max(best, s - low)
        low = min(low, s)
        if t > 4:
            count += 1
        y[i] = best + count
    return s, best, low, count


def test_values_that_need_each_other() -> None:
    x = np.random.default_rng(6).integers(-9, 10, LONG)
    compiled = differential(chained, made(x, np.zeros(LONG, np.int64)))
    explained(compiled, "in blocks")
    same_as_plain(compiled, chained, made(x[:7], np.zeros(7, np.int64)), calls=1)
    same_as_plain(compiled, chained, made(x[:0], np.zeros(0, np.int64)), calls=1)


def totals_of_list(x):
    out = []
    s = 0
    for v in x:
        s += v
        out.append(s)
    return out


def accumulated(x):
    return list(itertools.accumulate(x))


@pytest.mark.parametrize("function", [totals_of_list, accumulated])
def test_python_integers_beyond_64_bits(function) -> None:
    small = [(k * 7919) % 1001 - 500 for k in range(LONG)]
    compiled = differential(function, made(small))
    explained(compiled, "running sum, in blocks")
    # Totals of blocks that are out of range, although no running total is.
    apart = [2**62, 2**62 - 1] + [0] * 4000 + [-(2**62)] * 3 + [0] * 4000 + [2**62, 2**62 - 9] + [1] * LONG
    same_as_plain(compiled, function, made(apart), calls=1)
    # And one that is.
    beyond = [*small[:9000], 2**63 - 1, *[1] * 9000, *small]
    same_as_plain(compiled, function, made(beyond), calls=1)


def used_at_once(x, shifted):
    shifted[1:] = np.cumsum(x * 2)
    edges = np.zeros(x.shape[0] + 1)
    edges[1:] = np.cumsum(x - 1)
    return np.cumsum(x) * 3 - x, edges, np.maximum.accumulate(x)[::-1]


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("stride", [1, -2])
def test_what_is_made_of_running_values_needs_no_temporary(dtype: str, stride: int) -> None:
    x = np.random.default_rng(10).integers(-99, 99, LONG * abs(stride)).astype(dtype)

    def make() -> tuple[np.ndarray, ...]:
        return x.copy()[::stride], np.zeros(LONG + 1, np.cumsum(x[:1]).dtype)

    compiled = differential(used_at_once, make)
    explained(compiled, "no temporary between them")
    same_as_plain(compiled, used_at_once, made(x[:1].copy(), np.zeros(2, x.dtype)), calls=1)
    same_as_plain(compiled, used_at_once, made(x[:0].copy(), np.zeros(1, x.dtype)), calls=1)


def in_place(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] ^ a[i]


def flags(x):
    seen = False
    every = True
    out = np.empty((x.shape[0], 2), np.bool_)
    for i in range(x.shape[0]):
        seen = seen or x[i] > 5
        every = every and x[i] < 9
        out[i, 0] = seen
        out[i, 1] = every
    return out, seen, every


def test_bits_and_flags() -> None:
    rng = np.random.default_rng(7)
    compiled = differential(in_place, made(rng.integers(0, 2**16, LONG, dtype=np.uint16)))
    same_as_plain(compiled, in_place, made(np.zeros(0, np.uint16)), calls=1)
    x = np.zeros(LONG, np.int64)
    x[11_000], x[15_000] = 6, 9
    compiled = differential(flags, made(x))
    same_as_plain(compiled, flags, made(x[:3]), calls=1)


def drawdown(prices, out):
    top = prices[0]
    for i in range(prices.shape[0]):
        top = max(top, prices[i])
        out[i] = top - prices[i]
    return top


def test_overlapping_arrays_are_scanned_in_order() -> None:
    def make() -> tuple[np.ndarray, ...]:
        base = np.random.default_rng(8).standard_normal(LONG + 5)
        return base[:-5], base[5:]

    differential(drawdown, make, native=False)


def test_fast_mode_does_not_depend_on_the_number_of_threads() -> None:
    compiled = weft.jit(fallback="error", fp="fast")(lambda x: np.cumsum(x))
    x = np.random.default_rng(9).standard_normal(ROUNDS)
    first = compiled(x)
    np.testing.assert_allclose(first, np.cumsum(x), rtol=1e-9, atol=1e-9)
    explained(compiled, "running sum, in blocks")
    weft.set_num_threads(1)
    assert first.tobytes() == compiled(x).tobytes()


def test_sums_of_floats_say_why_they_stay_in_order() -> None:
    compiled = differential(of_floats, made(np.ones(30)))
    explained(compiled, "running sum, in order: floats are rounded in the order of the terms")


def total_and_missing(x):
    total, missing, last, low, other = 0.0, 0, 0.0, 0, 0
    for v in x:
        if v < 0.5:
            low += 1
        if not v < 0.5:
            other += 1
        if np.isnan(v):
            missing += 1
        else:
            total += v
        last = last + v
    above, below = np.maximum(x, 0.5).sum(), np.where(x >= 0.5, 0, 1).sum()
    return total, missing, np.isnan(last), np.isinf(total), low, other, above, below


@pytest.mark.parametrize("special", [0.0, np.nan, np.inf, -np.inf])
def test_regrouped_sums_keep_nan_and_infinities(special):
    compiled = weft.jit(fallback="error", fp="regroup")(total_and_missing)
    x = np.random.default_rng(4).random(5001)
    x[[7, 4000]] = special
    with np.errstate(all="ignore"):
        ours, theirs = compiled(x), total_and_missing(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
