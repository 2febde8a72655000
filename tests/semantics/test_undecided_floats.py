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
    with pytest.raises((ZeroDivisionError, RuntimeError)):
        weft.jit(fallback="error")(rings)(np.array([0.5]), np.zeros(2))


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
