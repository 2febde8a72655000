"""The comparison that all differential tests rest on can tell every kind of difference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import Outcome, Ulps, compare, difference

DIFFERENT = (
    (1, 1.0),
    (1, True),
    (1.0, np.float64(1.0)),
    (np.float32(1.0), np.float64(1.0)),
    (np.int64(1), 1),
    (0.0, -0.0),
    (np.array([0.0]), np.array([-0.0])),
    (np.zeros(2), np.zeros((2, 1))),
    (np.zeros(2), np.zeros(2, dtype=np.float32)),
    (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    ([1, 2], (1, 2)),
    ([1, 2], [1, 2, 3]),
    (None, 0),
    (1.0, 1.0 + 1e-15),
    (1 + 0j, 1 + 1e-15j),
)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=str)
def test_differences_are_seen(one: object, other: object) -> None:
    assert difference(one, other) is not None
    assert difference(other, one) is not None
    assert difference([one], [other]) is not None


@pytest.mark.parametrize(
    "value", [1, 1.5, float("nan"), np.array([np.nan, np.inf, -0.0]), (1, [2.0]), np.float32(2)], ids=str
)
def test_equal_values_are_equal(value: object) -> None:
    assert difference(value, value) is None


def test_tolerances() -> None:
    one, near, far = np.array([1.0, 1e9]), np.array([1.0 + 1e-3, 1e9]), np.array([1.1, 1.1e9])
    assert difference(near, one, 1e-9) is None  # relative to the largest element
    assert difference(far, one, 1e-9) is not None
    assert difference(np.array([np.nextafter(1.0, 2.0)]), np.array([1.0]), Ulps(1)) is None
    assert difference(near, one, Ulps(4)) is not None


def test_exceptions_arguments_and_memory_count() -> None:
    array = np.zeros(3)
    fine = Outcome(1, None, (array,))
    assert compare(fine, fine) is None
    assert compare(Outcome(None, ValueError("a"), ()), Outcome(None, ValueError("b"), ())) is not None
    assert compare(Outcome(None, ValueError("a"), ()), Outcome(None, TypeError("a"), ())) is not None
    assert compare(Outcome(None, ValueError("a"), ()), fine) is not None
    assert compare(Outcome(1, None, (np.ones(3),)), fine) is not None
    assert compare(Outcome(array, None, (array,)), Outcome(np.zeros(3), None, (array,))) is not None
    assert compare(Outcome(array[:], None, (array,)), Outcome(array, None, (array,))) is not None
