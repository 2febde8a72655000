"""A sum that starts as a Python float and becomes a NumPy one divides as whichever it is."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def ratio(a, limit):
    total = 0.0
    count = 0
    for v in a:
        if v > limit:
            total += v
            count += 1
    return total / count


def rings(a, result):
    for i in range(len(result)):
        total = 0.0
        count = 0
        for v in a:
            if i <= v < i + 1:
                total += v
                count += 1
        scaled = total * 2
        result[i] = scaled // count if i % 2 else scaled / count


def test_a_sum_of_nothing_divides_as_python_does():
    a = np.array([0.5, 1.5])
    assert weft.jit(fallback="error")(ratio)(a, 1.0) == ratio(a, 1.0)
    with pytest.raises(ZeroDivisionError):
        weft.jit(fallback="error")(ratio)(a, 9.0)


def test_it_never_goes_on_silently():
    result = np.zeros(2)
    weft.jit(fallback="error")(rings)(np.array([0.5, 1.5]), result)
    np.testing.assert_array_equal(result, [1.0, 3.0])
    result = np.array([3.0, 4.0])
    with pytest.raises(ZeroDivisionError):
        weft.jit(fallback="error")(rings)(np.array([0.5]), result)
    np.testing.assert_array_equal(result, [1.0, 4.0])


def inverse(a, limit, e):
    total = 0.0
    for v in a:
        if v > limit:
            total += v
    return total**-1, total**e


def test_a_sum_of_nothing_has_powers_as_python_does():
    a = np.array([0.5, 1.5])
    run = weft.jit(fallback="error")(inverse)
    assert run(a, 1.0, 0.5) == inverse(a, 1.0, 0.5)
    with pytest.raises(ZeroDivisionError):
        run(a, 9.0, 2)


def greatest(a):
    best = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            best = max(best, a[i, j])
    return best


def last(a):
    kept = 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            kept = max(0.0, a[i, j])
    return kept


def clipped(a):
    total = best = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = max(0.0, a[i, j])
            total += v
            if v > best:
                best = v
    return total, best


def residual(a):
    error = 1.0
    count = 0
    while error > 0.5 and count < 3:
        error = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                error = max(error, abs(a[i, j] - count))
        count += 1
    return error, count


def of_rows(a):
    best = 0.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row = max(row, min(a[i, j], 2.0))
        best = max(best, row)
    return best


def one_loop(a):
    best, least, bounded, scaled = 0.0, 1.0, 0.0, 0.0
    for v in a[0]:
        best = max(best, v)
        least = min(least, v * v)
        bounded = min(1.0, max(bounded, v))
        scaled = (scaled if scaled > v else v) * 1.0
    return best, least, bounded, scaled


@pytest.mark.parametrize("function", [greatest, last, clipped, residual, of_rows, one_loop])
@pytest.mark.parametrize(
    "rows", [[[1.0, -2.0]], [[0.0, 0.0]], [[-1.0, -1.0]], [[], []], [[0.0, -0.0]], [[np.nan, 3.0]], [[3.0, np.nan]]]
)
def test_a_number_kept_in_loops_has_the_type_that_python_gives_it(function, rows):
    a = np.array(rows)
    wanted, found = function(a), weft.jit(fallback="error")(function)(a)
    if not isinstance(wanted, tuple):
        wanted, found = (wanted,), (found,)
    assert [type(part) for part in found] == [type(part) for part in wanted]
    np.testing.assert_array_equal(found, wanted)
