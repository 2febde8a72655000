"""Memory of sparse matrices: whose it is, who may write it, and that malformed structure never reads outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft.errors
from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, same, sp

ROWS, COLUMNS = 30, 20
VECTOR = np.arange(COLUMNS) + 1.0


@pytest.mark.parametrize("expression", ["S @ x", "S.tocsr() @ x", "S.toarray()", "S.tocsc()"])
def test_malformed_coordinates_are_an_error(expression: str) -> None:
    plain, compiled = compiled_source(operator("S, x", expression))
    agree(plain, compiled, random_sparse("coo_array", (ROWS, COLUMNS)), VECTOR)
    for broken, value in (("row", 10**6), ("row", -5), ("col", 10**6), ("col", -1)):
        matrix = random_sparse("coo_array", (ROWS, COLUMNS))
        getattr(matrix, broken)[5] = value
        with pytest.raises(ValueError, match="index values"):
            compiled(matrix, VECTOR)


def test_doubled_entries_stay_doubled_as_coordinates() -> None:
    """Whether the coordinates of a CSR argument are in order is not known, so SciPy adds doubled ones up."""
    plain, compiled = compiled_source(operator("S", "S.tocoo().power(2)"), fallback="silent")
    doubled = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 3))
    agree(plain, compiled, doubled)
    plain, compiled = compiled_source(operator("S, D", "S.multiply(D).power(2)"), fallback="silent")
    agree(plain, compiled, doubled, np.full((2, 3), 2.0))


@pytest.mark.parametrize("method", ["sum", "mean", "max"])
def test_an_axis_that_is_none_is_scipys_error(method: str) -> None:
    plain, compiled = compiled_source(operator("S", f"S.{method}(axis=2)"), fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    with pytest.raises(ValueError) as expected:
        plain(matrix)
    with pytest.raises(ValueError) as actual:
        compiled(matrix)
    assert str(actual.value) == str(expected.value)


#: Arrays that are written after a matrix was made of them: SciPy's matrix shares them.
WRITTEN = {
    "values": ("d[0] = 7.0", True),
    "places": ("j[0] = 3", False),
    "pointer": ("p[1] = 1", False),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("own", [False, True], ids=["argument", "local"])
def test_arrays_written_behind_a_matrix(name: str, own: bool) -> None:
    statement, is_native = WRITTEN[name][0], WRITTEN[name][1] and own
    made = "    d, j, p = d.copy(), j.copy(), p.copy()\n" if own else ""
    body = f"{made}    S = sp.csr_array((d, j, p), shape=(3, 5))\n    {statement}\n    return S @ x\n"
    source = f"def f(d, j, p, x):\n{body}"
    plain, compiled = compiled_source(source, fallback="error" if is_native else "silent")
    arguments = [(np.array([1.0, 2, 3]), np.array([4, 1, 2]), np.array([0, 2, 3, 3]), np.arange(5.0)) for _ in range(2)]
    same(compiled(*arguments[0]), plain(*arguments[1]))
    for one, other in zip(*arguments):
        np.testing.assert_array_equal(one, other)
    if not is_native:
        _, strict = compiled_source(source)
        with pytest.raises(weft.errors.Unsupported):
            strict(*arguments[0])


def test_a_matrix_of_arguments_is_returned_by_python() -> None:
    source = "def f(d, j, p):\n    return sp.csr_array((d, j, p), shape=(3, 5))\n"
    _, compiled = compiled_source(source, fallback="silent")
    values = np.array([1.0, 2, 3])
    made = compiled(values, np.array([4, 1, 2]), np.array([0, 2, 3, 3]))
    assert np.shares_memory(made.data, values)
    _, strict = compiled_source(source)
    with pytest.raises(weft.errors.Unsupported):
        strict(values, np.array([4, 1, 2]), np.array([0, 2, 3, 3]))


def test_places_that_are_an_argument_as_well() -> None:
    """An argument that shares memory with the structure of another one is written: SciPy sees it."""
    source = "def f(S, places, x):\n    places[0] = (places[0] + 1) % 20\n    return S @ x\n"
    plain, compiled = compiled_source(source, fallback="silent")
    one, other = (random_sparse("csr_array", (ROWS, COLUMNS)) for _ in range(2))
    agree_once(compiled, plain, one, other, one.indices.copy(), other.indices.copy())
    agree_once(compiled, plain, one, other, one.indices, other.indices)
    assert (one.indices == other.indices).all()


def agree_once(compiled: Any, plain: Any, one: Any, other: Any, *places: Any) -> None:
    same(compiled(one, places[0], VECTOR), plain(other, places[1], VECTOR))


def test_lazy_arrays_become_a_matrix() -> None:
    plain, compiled = compiled_source(
        operator("d, j, x", "sp.csr_array((d * 2, j + 1, np.arange(4)), shape=(3, 5)) @ x")
    )
    agree(plain, compiled, np.array([1.0, 2, 3]), np.array([3, 1, 2]), np.arange(5.0))


def test_an_operand_of_one_element() -> None:
    """SciPy scales by it, and the format stays."""
    plain, compiled = compiled_source(operator("S, D", "S.multiply(D)"), fallback="silent")
    for rows, shape in ((3, (1,)), (1, (1, 1)), (3, (3, 1)), (1, (1,))):
        agree(plain, compiled, sp.csr_array(np.arange(rows)[:, None] + 1.0), np.full(shape, 3.0))


def test_zeros_on_a_diagonal_leave_entries_out() -> None:
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    matrix.data[:3] = np.inf
    left, right = np.ones(ROWS), np.ones(COLUMNS)
    for expression, scale in (("sp.diags_array(y) @ S", left), ("S @ sp.diags_array(y)", right)):
        plain, compiled = compiled_source(operator("S, y", expression), fallback="silent")
        agree(plain, compiled, matrix, scale)
        scale[2:9] = 0
        agree(plain, compiled, matrix, scale)


def test_products_of_infinite_entries_with_nothing() -> None:
    plain, compiled = compiled_source(operator("S, T", "S.multiply(T)"))
    one = random_sparse("csr_array", (ROWS, COLUMNS))
    one.data[::3] = np.inf
    one.data[1::3] = np.nan
    agree(plain, compiled, one, random_sparse("csr_array", (ROWS, COLUMNS), seed=4))
