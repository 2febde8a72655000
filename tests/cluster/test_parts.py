"""Sparse matrices and lists as arguments of functions on clusters: tiles of rows take the elements of their rows, lists
go and come back as arrays.  Tasks run in this process, one after the other; one test each is on Ray."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft.cluster import driver, ray_engine, settings, work

scipy_sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.native


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[driver.InProcess]:
    """Tiles of 7 rows, run here."""
    made = driver.InProcess()
    before = settings.current()
    monkeypatch.setattr(ray_engine, "engine", lambda: made)
    settings.change({"rows": 7, "least_seconds": 0.0})
    yield made
    settings.restore(before)


def on_ray(function: Any) -> Any:
    return weft.jit(target="ray")(function)


def matrix(rows: int, columns: int, seed: int = 0, density: float = 0.2) -> Any:
    return scipy_sparse.random_array((rows, columns), density=density, format="csr", rng=np.random.default_rng(seed))


def product(a, x):
    return a @ x


def scaled_product(a, x):
    return 2.0 * (a @ x) + 1.0


def power(a, x, steps):
    for _ in range(steps):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x


def by_hand(indptr, indices, data, x):
    n = indptr.shape[0] - 1
    y = np.zeros(n)
    for i in range(n):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        y[i] = total
    return y


def with_positions(indptr, data):
    n = indptr.shape[0] - 1
    y = np.zeros(n)
    for i in range(n):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * p
        y[i] = total
    return y


def row_sums(a):
    return a.sum(axis=1)


def total(a, x):
    return (a @ x).sum()


def with_the_first(a, x):
    return (a @ x) + a.data[0]


A = matrix(50, 40)
X = np.random.default_rng(5).random(40)


@pytest.mark.parametrize(
    ("function", "arguments", "cut"),
    [
        (product, (A, X), True),
        (product, (A, np.random.default_rng(6).random((40, 3))), True),
        (scaled_product, (A, X), True),
        (power, (matrix(40, 40, 1), X, 4), True),
        (by_hand, (A.indptr, A.indices, A.data, X), True),
        (row_sums, (A,), True),
        (total, (A, X), True),
        (product, (matrix(50, 40, density=0.0), X), True),  # no element at all
        (with_positions, (A.indptr, A.data), False),  # the number of a position counts
        (with_the_first, (A, X), False),  # an element of another row
        (product, (A.tocsc(), X), False),
        (product, (A.tocoo(), X), False),
    ],
)
def test_sparse_arguments(engine: driver.InProcess, function: Any, arguments: Any, cut: bool) -> None:
    there = on_ray(function)
    expected = function(*arguments)
    for _ in range(2):
        found = there(*arguments)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-13)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert engine.tasks
    assert ("data[indptr[lo]:indptr[hi]]" in str(there.explain())) == cut


def test_a_tile_takes_the_elements_of_its_rows_alone(
    engine: driver.InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = matrix(70, 30, 3)
    seen: list[int] = []
    taken = work.taken

    def noting(take: Any, first: int, past: int, objects: Any) -> Any:
        found = taken(take, first, past, objects)
        if found.dtype == np.float64 and take.axis is not None:
            seen.append(found.size)
        return found

    monkeypatch.setattr(work, "taken", noting)
    there = on_ray(product)
    x = np.ones(30)
    np.testing.assert_allclose(there(a, x), a @ x)
    assert seen == [int(a.indptr[lo + 7] - a.indptr[lo]) for lo in range(0, 70, 7)]


def test_other_matrices_go_through_the_same_plan(engine: driver.InProcess) -> None:
    there = on_ray(product)
    for a in (A, matrix(50, 40, 9), matrix(20, 40, 2), A.astype(np.float32), scipy_sparse.csr_matrix(A)):
        np.testing.assert_allclose(there(a, X), a @ X, rtol=1e-6)


def test_a_malformed_matrix_is_left_to_the_local_version(engine: driver.InProcess) -> None:
    broken = A.copy()
    broken.indptr[3] = 10_000
    local = weft.jit(product)
    there = on_ray(product)
    with pytest.raises(Exception) as expected:
        local(broken, X)
    with pytest.raises(type(expected.value)):
        there(broken, X)


def changed_data(a):
    a.data *= 2.0


def test_a_matrix_that_is_changed(engine: driver.InProcess) -> None:
    a = A.copy()
    on_ray(changed_data)(a)
    np.testing.assert_array_equal(a.data, 2.0 * A.data)


def scaled_matrix(a):
    return 2.0 * a


def test_a_sparse_result(engine: driver.InProcess) -> None:
    found = on_ray(scaled_matrix)(A)
    assert type(found) is type(A) and (found != 2.0 * A).nnz == 0


# --- lists ------------------------------------------------------------------------------------------------------------


def weighted(items, y):
    out = np.empty(len(y))
    for i in range(len(y)):
        out[i] = items[i] * y[i]
    return out


def doubled(items):
    return [2.0 * item for item in items]


def squares(items):
    return [item * item + 1 for item in items]


def large_ones(items):
    return [item > 3 for item in items]


def several(items, y):
    return [item + 1 for item in items], y * 2, len(items)


def twice_the_same(items):
    made = [item + 1.0 for item in items]
    return made, made


def given_back(items, y):
    y[0] = 1.0
    return items


def appended(items, y):
    items.append(3.0)
    return y * 2


def assigned(items, y):
    for i in range(len(items)):
        items[i] = items[i] * 2
    return y + 1


FLOATS = [float(item) for item in range(30)]


@pytest.mark.parametrize(
    ("function", "arguments", "spread"),
    [
        (weighted, (FLOATS, np.ones(30)), True),
        (doubled, (FLOATS,), True),
        (doubled, ([],), True),
        (squares, (list(range(30)),), True),
        (squares, ([10**11] * 30,), True),  # the results are beyond 64 bits
        (squares, ([2**70] * 30,), False),
        (doubled, ([1.0, 2, 3.0] * 10,), False),
        (large_ones, (list(range(30)),), True),
        (several, (list(range(30)), np.ones(30)), True),
        (weighted, ([1.0] * 20, np.ones(30)), False),  # too short: an IndexError
        (twice_the_same, (FLOATS,), False),
        (given_back, (FLOATS, np.ones(30)), False),
        (appended, (FLOATS, np.ones(30)), False),
        (assigned, (FLOATS, np.ones(30)), False),
    ],
)
def test_lists(engine: driver.InProcess, function: Any, arguments: Any, spread: bool) -> None:
    there = on_ray(function)
    for _ in range(2):
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert outcome(there, mine) == outcome(function, theirs)
        assert repr(mine) == repr(theirs)
    assert bool(engine.tasks) == spread


def outcome(function: Any, arguments: Any) -> str:
    """The result as text, with all types and what is the same object; or the exception."""

    def shown(value: Any) -> str:
        if type(value) is tuple:
            return f"({', '.join(map(shown, value))}) {[value.index(item) for item in value if type(item) is list]}"
        return repr(value) if isinstance(value, (list, int, float)) else repr(np.asarray(value))

    try:
        found = function(*arguments)
    except Exception as error:
        return repr(error)
    same = type(found) is list and found is arguments[0]
    return shown(found) + (" the argument" if same else "")


def test_parts_on_ray(cluster: None) -> None:
    there = on_ray(power)
    a = matrix(40, 40, 1)
    np.testing.assert_allclose(there(a, X, 3), power(a, X, 3), rtol=1e-12)
    assert on_ray(squares)(list(range(40))) == squares(list(range(40)))
    assert on_ray(squares)([10**11] * 40) == squares([10**11] * 40)
