"""Operators, methods and constructors of sparse matrices and arrays against SciPy: formats, interfaces, dtypes, empty
matrices, unsorted and doubled entries, and malformed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse, same, sp

RNG = np.random.default_rng(3)
ROWS, COLUMNS = 30, 20
OPERANDS: dict[str, Any] = {
    "x": RNG.random(COLUMNS), "X": RNG.random((COLUMNS, 3)), "y": RNG.random(ROWS) + 0.5, "Y": RNG.random((3, ROWS)),
    "D": RNG.random((ROWS, COLUMNS)) + 0.5, "A": RNG.random((ROWS, 4)), "B": RNG.random((4, COLUMNS)),
    "U": RNG.random((COLUMNS, 4)), "V": RNG.random((4, 5)),
}  # fmt: skip

EXPRESSIONS = [
    "S @ x", "S @ X", "y @ S", "Y @ S", "S.T @ y", "S.dot(x)", "S * 2", "2.5 * S", "S / 3", "-S", "abs(S)", "S.copy()",
    "S.multiply(D)", "S.multiply(x)", "S.multiply(y[:, None])", "S / D", "S / y[:, None]", "S + 2 * S", "S.multiply(S)",
    "S - S.multiply(S)", "S @ S.T", "S.T @ S", "(S @ S.T).multiply(S @ S.T).sum()", "S.sum()", "S.diagonal()",
    "S.trace()", "S.toarray()", "S.tocoo().tocsr()", "S.copy().tocsc()", "S.power(2)", "S.nnz", "S.shape",
    "S.data.sum() / S.shape[0]", "np.sin(S)", "np.sqrt(abs(S))", "S.T.copy()", "S[1:4]", "S[:, 2:9]", "S[2, 3]",
    "S[-1, -2]", "S.astype(np.float32)", "S.multiply(A @ B)", "S @ U @ V", "S.max()", "S.min()", "S.conj()",
    "sp.diags_array(y) @ S", "S @ sp.diags_array(x)", "S.T @ (S @ x)", "S ** 3", "np.maximum(S @ X, 1.0)",
]  # fmt: skip
ARRAY_EXPRESSIONS = ["S * D", "D * S", "S + D", "D - S", "S.sum(axis=0)", "S.sum(axis=1)", "S.mean(axis=0)"]
MATRIX_EXPRESSIONS = ["S * x", "np.asarray(S.sum(axis=1)).ravel()", "S.sum(axis=0).A1", "S * S.T"]
FORMATS = ["csr_array", "csc_array"]


def _parameters(expression: str) -> list[str]:
    words = {word for word in "".join(c if c.isalnum() or c == "_" else " " for c in expression).split()}
    return [name for name in OPERANDS if name in words]


def _check(expression: str, kinds: list[str], **how: Any) -> None:
    names = _parameters(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *names]), expression))
    for kind in kinds:
        agree(plain, compiled, random_sparse(kind, (ROWS, COLUMNS), **how), *(OPERANDS[name] for name in names))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_compressed_formats(expression: str) -> None:
    _check(expression, FORMATS)


@pytest.mark.parametrize("expression", ARRAY_EXPRESSIONS)
def test_the_array_interface(expression: str) -> None:
    _check(expression, [*FORMATS, "coo_array"])


@pytest.mark.parametrize("expression", MATRIX_EXPRESSIONS)
def test_the_matrix_interface(expression: str) -> None:
    _check(expression, ["csr_matrix"])


@pytest.mark.parametrize(
    "expression",
    ["S @ x", "S @ X", "S * 2", "S.toarray()", "S.tocsr()", "S.tocsc()", "S.sum()", "S + S", "S.diagonal()"],
)
def test_coordinates(expression: str) -> None:
    _check(expression, ["coo_array", "coo_matrix"])


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.complex128])
@pytest.mark.parametrize("expression", ["S @ x", "S * 3", "S.sum(axis=1)", "S.multiply(S)", "S @ S.T"])
def test_dtypes(expression: str, dtype: Any) -> None:
    names = _parameters(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *names]), expression))
    matrix = random_sparse("csr_array", (ROWS, COLUMNS), dtype=dtype)
    others = [OPERANDS[name].astype(dtype) for name in names]
    agree(plain, compiled, matrix, *others, tolerance=1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("expression", ["S @ x", "S.T @ y", "S.multiply(D)", "S @ S.T", "S.sum(axis=1)", "S.toarray()"])
def test_wide_indices_and_empty_matrices(expression: str) -> None:
    names = _parameters(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *names]), expression))
    operands = [OPERANDS[name] for name in names]
    wide = random_sparse("csr_array", (ROWS, COLUMNS))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    agree(plain, compiled, wide, *operands)
    agree(plain, compiled, random_sparse("csr_array", (ROWS, COLUMNS), density=0.0), *operands)
    agree(plain, compiled, random_sparse("csr_array", (ROWS, COLUMNS), density=2.0), *operands)


def _shuffled(doubled: bool) -> Any:
    """Rows out of order; every entry twice if asked for."""
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    coordinates = matrix.tocoo()
    order = np.lexsort((-coordinates.col, coordinates.row))
    rows, columns, data = coordinates.row[order], coordinates.col[order], coordinates.data[order]
    if doubled:
        rows, columns, data = np.repeat(rows, 2), np.repeat(columns, 2), np.repeat(data, 2)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=ROWS))]).astype(np.int32)
    return sp.csr_array((data, columns.astype(np.int32), indptr), shape=matrix.shape)


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(
    "expression",
    ["S @ x", "S.T @ y", "S * 2", "S + S", "S.multiply(S)", "S @ S.T", "S.sum(axis=0)", "S.toarray()", "S[1, 2]"],
)
def test_entries_out_of_order_or_doubled(expression: str, doubled: bool) -> None:
    names = _parameters(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *names]), expression))
    agree(plain, compiled, _shuffled(doubled), *(OPERANDS[name] for name in names))


def test_what_the_model_does_not_cover_is_left_to_scipy() -> None:
    plain, compiled = compiled_source(operator("S", "S.power(2)"), fallback="silent")
    one, other = _shuffled(True), _shuffled(True)
    same(compiled(one), plain(other))
    assert one.nnz == other.nnz  # SciPy adds doubled entries in place first


def test_nan_and_infinity_at_places_without_entries() -> None:
    plain, compiled = compiled_source(operator("S, D", "S.multiply(D)"))
    dense = OPERANDS["D"].copy()
    dense[::2] = np.nan
    dense[1::4] = np.inf
    agree(plain, compiled, random_sparse("csr_array", (ROWS, COLUMNS)), dense)


def test_sizes_that_do_not_fit_are_scipys_error() -> None:
    plain, compiled = compiled_source(operator("S, x", "S @ x"), fallback="silent")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    agree(plain, compiled, matrix, OPERANDS["x"])
    with pytest.raises(ValueError) as expected:
        plain(matrix, np.ones(COLUMNS + 1))
    with pytest.raises(ValueError) as actual:
        compiled(matrix, np.ones(COLUMNS + 1))
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("expression", ["S @ x", "S @ X", "S.toarray()", "S.T @ y", "S @ S.T"])
def test_malformed_structure_is_an_error_and_reads_nothing_outside(expression: str) -> None:
    names = _parameters(expression)
    plain, compiled = compiled_source(operator(", ".join(["S", *names]), expression))
    operands = [OPERANDS[name] for name in names]
    agree(plain, compiled, random_sparse("csr_array", (ROWS, COLUMNS)), *operands)
    for broken, value in (("indices", 10**6), ("indices", -5), ("indptr", 10**6), ("indptr", -3)):
        matrix = random_sparse("csr_array", (ROWS, COLUMNS))
        getattr(matrix, broken)[5] = value
        with pytest.raises(ValueError, match=r"index (values|pointer)"):
            compiled(matrix, *operands)


CONSTRUCTORS = {
    "rows": "sp.csr_array((d * 1.5, j + 0, np.array([0, 2, 3, 3, 5])), shape=(4, 6))",
    "narrow rows": "sp.csr_matrix((d * 1.5, j, np.array([0, 2, 3, 3, 5])), shape=(4, 6)).indices",
    "wide rows": "sp.csr_array((d * 1.5, j, np.array([0, 2, 3, 3, 5])), shape=(4, 6)).indices",
    "columns": "sp.csc_array((d * 1.5, j.copy(), np.array([0, 2, 3, 3, 5])), shape=(6, 4))",
    "triplets": "sp.coo_array((d.copy(), (i.copy(), j.copy())), shape=(4, 6))",
    "arguments": "sp.coo_array((d, (i, j)), shape=(4, 6)) * 2",
    "triplets to rows": "sp.csr_array((d, (i, j)), shape=(4, 6))",
    "matrix": "sp.csr_matrix((d, (i, j)), shape=(4, 6))",
    "dense": "sp.csr_array(D)",
    "no shape": "sp.csr_array((d * 1.5, (i, j)))",
    "bands": "sp.diags_array([d, d[:-1], d[:-2]], offsets=[0, 1, -2], format='csr')",
    "constant bands": "sp.diags([-1.0, 2, -1.0], [-1, 0, 1], shape=(7, 8)).tocsr()",
    "one diagonal": "sp.diags_array(d) @ sp.diags_array(d * 2) + sp.eye_array(5)",
    "shifted identity": "sp.eye_array(5, 7, k=-1).tocsc()",
    "identity": "sp.eye_array(5, format='csr') * 2.0",
    "difference": "sp.eye_array(20) - D.T.shape[0] * sp.csr_array(D[:20, :20])",
}


@pytest.mark.parametrize("source", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_constructors(source: str) -> None:
    plain, compiled = compiled_source(operator("d, i, j, D", source))
    i, j = np.array([0, 0, 1, 3, 3]), np.array([4, 1, 1, 0, 4])
    agree(plain, compiled, np.array([1.0, 2, 3, 4, 5]), i, j, OPERANDS["D"])


def test_diagonals_that_scipy_warns_of_or_refuses() -> None:
    plain, compiled = compiled_source(operator("d", "sp.diags_array(d)"), fallback="silent")
    agree(plain, compiled, np.arange(4))
    plain, compiled = compiled_source(
        operator("d", "sp.diags_array([d, d], offsets=[0, 2], shape=(6, 6)).tocsr()"), fallback="silent"
    )
    agree(plain, compiled, np.arange(6.0))
    with pytest.raises(ValueError, match="Diagonal length"):
        compiled(np.arange(3.0))


def test_entries_made_in_loops() -> None:
    source = """
def f(n):
    rows = []
    columns = []
    values = []
    for i in range(n):
        for j in range(max(0, i - 1), min(n, i + 2)):
            rows.append(i)
            columns.append(j)
            values.append(2.0 if i == j else -1.0)
    return sp.csr_array((np.array(values), (np.array(rows), np.array(columns))), shape=(n, n))
"""
    plain, compiled = compiled_source(source)
    agree(plain, compiled, 12)


def test_a_result_has_arrays_of_its_own() -> None:
    _, compiled = compiled_source("def f(S):\n    return S * 2, S * 3\n")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    kept = matrix.copy()
    double, triple = compiled(matrix)
    double.indices[:] = 0
    double.data[:] = 0
    same(matrix, kept)
    same(triple, kept * 3)


def test_values_changed_in_place_are_the_callers() -> None:
    _, compiled = compiled_source("def f(S):\n    S.data *= 2.0\n    return S.sum()\n")
    matrix = random_sparse("csr_array", (ROWS, COLUMNS))
    doubled = matrix * 2
    assert compiled(matrix) == pytest.approx(doubled.sum())
    same(matrix, doubled)


def test_places_of_entries_are_only_read() -> None:
    plain, compiled = compiled_source(
        "def f(S):\n    S.indices[0] = 1\n    return S.indices.sum()\n", fallback="silent"
    )
    one, other = (random_sparse("csr_array", (ROWS, COLUMNS)) for _ in range(2))
    assert compiled(one) == plain(other)
    assert (one.indices == other.indices).all()
