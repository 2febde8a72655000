"""np.linalg against NumPy, to the last bit where the routine is the same: dtypes, stacks, strides, failures."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, COMPLEX, LAYOUTS
from tests.support import differential_source, function_from_source, lines, made, outcome

BACKENDS = ("c", "python")


def matrices(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Matrices that are far from singular."""
    rng = np.random.default_rng([seed, len(shape)])
    values = rng.integers(-4, 5, shape).astype(float)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-4, 5, shape)
    if np.dtype(dtype).kind == "f":
        values = values + rng.normal(size=shape)
    if shape[-1] == shape[-2] and np.dtype(dtype).kind != "b":
        values = values + 9 * np.eye(shape[-1])
    return (np.abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def hermitian(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Positive definite matrices."""
    half = matrices(dtype, shape, seed)
    return (half @ np.swapaxes(half, -1, -2).conj()).astype(dtype)


SQUARE = ["np.linalg.inv(a)", "np.linalg.det(a)", "np.linalg.slogdet(a)", "np.linalg.solve(a, b)"]
HERMITIAN = [
    "np.linalg.cholesky(a)",
    "np.linalg.cholesky(a, upper=True)",
    "np.linalg.eigh(a)",
    "np.linalg.eigh(a, 'U')",
    "np.linalg.eigvalsh(a)",
    "np.linalg.eigvalsh(a, UPLO='u')",
]
ANY = [
    "np.linalg.qr(a)",
    "np.linalg.qr(a, 'complete')",
    "np.linalg.qr(a, mode='r')",
    "np.linalg.svd(a)",
    "np.linalg.svd(a, full_matrices=False)",
    "np.linalg.svd(a, compute_uv=False)",
    "np.linalg.svdvals(a)",
]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4)])
def test_square(dtype: str, shape: tuple[int, ...]) -> None:
    a, b = matrices(dtype, shape), matrices(dtype, (*shape[:-1], 3), 1)
    check_batch(SQUARE, made(a, b), header="a, b")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
@pytest.mark.parametrize("shape", [(5, 5), (2, 3, 3, 3)])
def test_hermitian(dtype: str, shape: tuple[int, ...]) -> None:
    check_batch(HERMITIAN, made(hermitian(dtype, shape)), zero_signs=True)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 5, 3)])
def test_factorisations(shape: tuple[int, ...]) -> None:
    check_batch(ANY, made(matrices("float64", shape)))


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes_of_factorisations(dtype: str) -> None:
    check_batch([*ANY[:2], ANY[4], ANY[6]], made(matrices(dtype, (5, 3))))


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_strides(dtype: str, name: str) -> None:
    a = matrices(dtype, (4, 4))
    layout = LAYOUTS[name]
    check_batch(
        [
            "np.linalg.inv(a)",
            "np.linalg.solve(a, a[:, ::-2])",
            "np.linalg.solve(a.T, a[1])",
            "np.linalg.det(a[::-1, ::-1])",
            "np.linalg.qr(a[:, 1:])",
            "np.linalg.svd(a[::2])",
            "np.linalg.eigvalsh(a + np.conj(a.T))",
        ],
        lambda: (layout(a),),
    )


@pytest.mark.parametrize(
    "dtypes", [("float32", "float64"), ("float32", "complex64"), ("int8", "float32"), ("float64", "complex64")]
)
def test_solve_promotes(dtypes: tuple[str, str]) -> None:
    a, b = matrices(dtypes[0], (3, 3)), matrices(dtypes[1], (3, 2), 1)
    check_batch(["np.linalg.solve(a, b)", "np.linalg.solve(a, b[:, 0])"], made(a, b), header="a, b")


def test_solve_broadcasts() -> None:
    a, b = matrices("float64", (3, 4, 4)), matrices("float64", (2, 1, 4, 5), 1)
    check_batch(
        [
            "np.linalg.solve(a, b)",
            "np.linalg.solve(a[0], b)",
            "np.linalg.solve(a, b[0, 0])",
            "np.linalg.solve(a, b[0, 0, :, 0])",
        ],
        made(a, b),
        header="a, b",
    )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_general_eigenvalues(dtype: str) -> None:
    check_batch(["np.linalg.eig(a)", "np.linalg.eigvals(a)"], made(matrices(dtype, (3, 4, 4))))


def test_real_eigenvalues_stay_numpy() -> None:
    """Whether the result is real or complex depends on the values."""
    source = lines("a", "return np.linalg.eigvals(a), a.sum()")
    differential_source(source, made(np.array([[0.0, 1.0], [-1.0, 0.0]])), native=False)
    differential_source(source, made(np.eye(2)), native=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)])
def test_least_squares(dtype: str, shape: tuple[int, int]) -> None:
    a, b = matrices(dtype, shape), matrices(dtype, (shape[0], 2), 1)
    texts = [
        "np.linalg.lstsq(a, b)",
        "np.linalg.lstsq(a, b[:, 0], rcond=None)",
        "np.linalg.lstsq(a, b, rcond=0.5)",
        "np.linalg.lstsq(a, b, -1)",
    ]
    check_batch(texts, made(a, b), header="a, b")
    a[:, 1] = a[:, 0]  # not independent: there are no residuals
    check_batch(texts, made(a, b), header="a, b")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
def test_made_of_factorisations(dtype: str) -> None:
    a = matrices(dtype, (4, 3))
    texts = [
        "np.linalg.pinv(a)",
        "np.linalg.pinv(a, 0.3)",
        "np.linalg.pinv(a, rtol=None)",
        "np.linalg.pinv(a.T)",
        "np.linalg.matrix_rank(a)",
        "np.linalg.matrix_rank(a, 3.0)",
        "np.linalg.matrix_rank(a, rtol=0.5)",
        "np.linalg.cond(a)",
        "np.linalg.cond(a, -2)",
        "np.linalg.cond(a[:3], 'fro')",
        "np.linalg.cond(a[:3], 1)",
        "np.linalg.cond(a[:3], np.inf)",
    ]
    check_batch(texts, made(a), 1e-10 if np.dtype(dtype).itemsize > 4 else 1e-4)


def test_stacks_of_made_of_factorisations() -> None:
    a = matrices("float64", (2, 4, 3))
    a[1, :, 1] = a[1, :, 0]
    check_batch(["np.linalg.pinv(a)", "np.linalg.matrix_rank(a)", "np.linalg.cond(a[:1])"], made(a), 1e-10)


def test_condition_of_singular_matrices() -> None:
    for p in ("None", "1", "-2"):
        check_batch([f"np.linalg.cond(a, {p})"], made(np.zeros((3, 3))))
        check_batch([f"np.linalg.cond(a, {p})"], made(np.diag([1.0, 2.0, 0.0])))


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_matrix_power(dtype: str) -> None:
    a = (matrices(dtype, (3, 3)) / 3).astype(dtype) if dtype != "int64" else matrices(dtype, (3, 3))
    powers = [f"np.linalg.matrix_power(a, {power})" for power in (-3, -1, 0, 1, 2, 3, 4, 7, 10)]
    check_batch(powers, made(a), 1e-12 if dtype != "float32" else 1e-5)


def test_matrix_power_of_stacks_and_by_argument() -> None:
    a = matrices("float64", (2, 3, 3))
    check_batch(["np.linalg.matrix_power(a, 5)", "np.linalg.matrix_power(a, 0)"], made(a), 1e-12)
    check_statements("a, n", "return np.linalg.matrix_power(a, n)", make=made(a, 3), tolerance=1e-12)


def test_chains_of_products() -> None:
    rng = np.random.default_rng(3)
    a, b, c, d = (rng.normal(size=shape) for shape in ((10, 4), (4, 30), (30, 5), (5, 7)))
    texts = [
        "np.linalg.multi_dot([a, b])",
        "np.linalg.multi_dot([a, b, c])",
        "np.linalg.multi_dot((a, b, c, d))",
        "np.linalg.multi_dot([a[0], b, c])",
        "np.linalg.multi_dot([a, b, c[:, 0]])",
        "np.linalg.multi_dot([a[0], b, c[:, 0]])",
    ]
    check_batch(texts, made(a, b, c, d), 1e-12, header="a, b, c, d")


def test_aliases() -> None:
    a = matrices("float64", (3, 3))
    texts = [
        "np.linalg.matmul(a, a)",
        "np.linalg.outer(a[0], a[1])",
        "np.linalg.trace(a)",
        "np.linalg.matrix_transpose(a)",
        "np.linalg.tensordot(a, a, axes=1)",
        "np.linalg.vector_norm(a[0])",
        "np.linalg.matrix_norm(a)",
        "np.linalg.cross(a[0], a[1])",
        "np.linalg.vector_norm(a, axis=1, ord=1)",
        "np.linalg.matrix_norm(a, ord=1)",
        "np.linalg.diagonal(a) * 2",
        "np.linalg.vecdot(a, a)",
    ]
    check_batch(texts, made(a), 1e-12)


# --- results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_named_results(backend: str) -> None:
    """Returned whole they are NumPy's named tuples; their parts are found by name, position and unpacking."""
    make = made(hermitian("float64", (4, 4)))
    for name in ("qr", "svd", "eigh", "slogdet"):
        done = differential_source(lines("a", f"return np.linalg.{name}(a)"), make, backend=backend)
        assert type(done(*make())).__name__.endswith("Result")
    check_statements(
        "a",
        "r = np.linalg.svd(a)",
        "u, s, v = r",
        "return r.S, r.U @ r.Vh, u[0], s[-1], r[2], len(r)",
        make=make,
        backend=backend,
        tolerance=1e-12,
    )
    check_statements(
        "a", "w, v = np.linalg.eigh(a)", "return (v * w) @ v.T", make=make, backend=backend, tolerance=1e-12
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_scalars(backend: str) -> None:
    make = made(matrices("float64", (4, 4)))
    check_statements(
        "a",
        "s, d = np.linalg.slogdet(a)",
        "return np.linalg.det(a) * 2 + s * np.exp(d)",
        make=make,
        backend=backend,
        tolerance=1e-12,
    )


def test_a_named_result_outlives_the_process() -> None:
    from weft.runtime import portable

    function = function_from_source(lines("a", "return np.linalg.qr(a)"))
    jitted = weft.jit(fallback="error")(function)
    jitted(np.eye(3))
    (version,) = jitted.versions
    data = portable.portable(version, owner=function)
    assert data is not None
    again = portable.restored(data, version.function, function.__globals__, version.keepalive, owner=function)
    assert again.returns == version.returns


# --- in loops, in place ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_loops(backend: str) -> None:
    a, b = matrices("float64", (6, 4, 4)), matrices("float64", (6, 4), 1)
    make = made(a, b)
    check_statements(
        "a, b",
        "r = np.zeros_like(b)",
        "d = 0.0",
        "for k in range(a.shape[0]):",
        "    r[k] = np.linalg.solve(a[k], b[k])",
        "    d += np.linalg.det(a[k] @ a[0])",
        "return r, d",
        make=make,
        backend=backend,
        tolerance=1e-12,
    )
    check_statements(
        "a, b",
        "x = b[0].copy()",
        "for k in range(3):",
        "    x = np.linalg.solve(a[k], x) + np.linalg.inv(a[0])[k]",
        "return x",
        make=make,
        backend=backend,
        tolerance=1e-12,
    )
    check_statements(
        "a, b",
        "while abs(b[0, 0]) < 100:",
        "    b[:] = np.linalg.inv(a[0]) [0] + b * 2",
        "    b[0, 0] += 1",
        make=make,
        backend=backend,
        tolerance=1e-12,
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_operands_that_are_written_later(backend: str) -> None:
    make = made(hermitian("float64", (4, 4)))
    check_statements("a", "a[:] = np.linalg.inv(a) + a.T", make=make, backend=backend)
    check_statements(
        "a", "x = np.linalg.inv(a)", "a[0] = 7", "return x @ a", make=make, backend=backend, tolerance=1e-12
    )
    check_statements("a", "q, r = np.linalg.qr(a)", "q[:] = 0", "return q, r, a", make=make, backend=backend)


def test_operands_that_are_no_arrays_in_memory() -> None:
    a = matrices("float64", (4, 4))
    check_batch(
        [
            "np.linalg.inv(a * 2 + 1)",
            "np.linalg.solve(a, [1.0, 2.0, 3.0, 4.0])",
            "np.linalg.inv([[1.0, 2.0], [3.0, 5.0]])",
            "np.linalg.det(a[[0, 2]][:, [0, 2]])",
            "np.linalg.det(a[a[:, 0] > -1e9])",
        ],
        made(a),
        1e-12,
    )
    check_statements("a", "return np.linalg.inv(a)", make=made(a.tolist()))


# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("change", [False, True])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.linalg.inv(a)", np.zeros((3, 3))),
        ("np.linalg.solve(a, a)", np.ones((3, 3))),
        ("np.linalg.solve(a, a[0])", np.ones((3, 3))),
        ("np.linalg.cholesky(a)", -np.eye(3)),
        ("np.linalg.svd(a)", np.full((3, 3), np.nan)),
        ("np.linalg.eigh(a)", np.full((3, 3), np.nan)),
        ("np.linalg.eigvals(a + 0j)", np.full((3, 3), np.nan)),
        ("np.linalg.lstsq(a, a)", np.full((3, 3), np.nan)),
        ("np.linalg.inv(a)", np.zeros((3, 4))),
        ("np.linalg.inv(np.stack((a, a * 0)))", np.eye(3)),
        ("np.linalg.matrix_power(a, -1)", np.zeros((3, 3))),
    ],
)
def test_failures(text: str, value: np.ndarray, change: bool, backend: str) -> None:
    """NumPy's exception, also where something has been changed already, so that the call cannot be repeated."""
    body = ["b[0] += 1", f"r = {text}", "b[1] += 1", "return r"] if change else [f"return {text}"]
    differential_source(lines("a, b", *body), made(value, np.zeros(2)), backend=backend, native=False)


def test_failures_are_caught_as_numpys() -> None:
    compiled = weft.jit(fallback="error")(function_from_source(lines("a", "a[0, 0] = 0", "return np.linalg.inv(a)")))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        compiled(np.zeros((2, 2)))
    assert (compiled(np.array([[5.0, 1.0], [1.0, 0.0]])) == [[0.0, 1.0], [1.0, 0.0]]).all()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.linalg.inv(a)", np.zeros(3)),
        ("np.linalg.qr(a, 'raw')", np.eye(2)),
        ("np.linalg.qr(a, 'x')", np.eye(2)),
        ("np.linalg.eigh(a, 'x')", np.eye(2)),
        ("np.linalg.svd(a, hermitian=True)", np.eye(2)),
        ("np.linalg.matrix_power(a, 1.5)", np.eye(2)),
        ("np.linalg.multi_dot([a])", np.eye(2)),
        ("np.linalg.solve(a, np.ones(3))", np.eye(2)),
        ("np.linalg.cond(a)", np.zeros((0, 0))),
        ("np.linalg.pinv(a)", np.zeros((0, 3))),
        ("np.linalg.pinv(a, rcond=0.1, rtol=0.1)", np.eye(2)),
    ],
)
def test_what_is_left_to_numpy(text: str, value: np.ndarray) -> None:
    differential_source(lines("a", f"return {text}"), made(value), native=False)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0), (3, 0, 2, 2)])
def test_empty(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape)
    texts = [
        "np.linalg.inv(a)",
        "np.linalg.det(a)",
        "np.linalg.slogdet(a)",
        "np.linalg.cholesky(a)",
        "np.linalg.eigh(a)",
        "np.linalg.solve(a, a)",
        "np.linalg.eigvalsh(a)",
    ]
    usable = [text for text in texts if outcome(function_from_source(lines("a", f"return {text}")), (a,)).error is None]
    check_batch(usable, made(a))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)])
def test_empty_rectangles(shape: tuple[int, ...]) -> None:
    for text in (
        "np.linalg.svd(a, full_matrices=False)",
        "np.linalg.qr(a)",
        "np.linalg.svd(a)",
        "np.linalg.svd(a, compute_uv=False)",
    ):
        differential_source(lines("a", f"return {text}"), made(np.zeros(shape)), native=False, memory=False)


def test_explanations_name_the_routine() -> None:
    jitted = weft.jit(fallback="error")(function_from_source(lines("a", "return np.linalg.inv(a)")))
    jitted(np.eye(3))
    assert "inv (LAPACK)" in str(jitted.explain())
