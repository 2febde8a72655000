"""Sorts, linear algebra and Fourier transforms of libraries for C hosts: what NumPy gives, within rounding."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.hosts.calling import RAISED, Failed, Library
from weft.cli import main

pytestmark = pytest.mark.native

SORTED = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128")
MODULE = """
import numpy as np
import weft

N, M, K = (weft.symbol(name) for name in "NMK")
"""
MODULE += "".join(
    f"""

def sorted_{kind}(a: weft.{"b1" if kind == "bool" else kind}[N]):
    return np.sort(a), np.argsort(a, kind="stable")
"""
    for kind in SORTED
)
MODULE += """

def in_place(a: weft.f64[N, M]) -> None:
    a.sort(axis=0)


def middle(a: weft.f64[N]) -> float:
    return np.median(a)


def distinct(a: weft.i64[N]):
    return np.unique(a)


def in_order(xs: list[float]) -> list[float]:
    return sorted(xs)


def solved(a: weft.f64[N, N], b: weft.f64[N]):
    return np.linalg.solve(a, b)


def solved_matrix(a: weft.c128[N, N], b: weft.c128[N, M]):
    return np.linalg.solve(a, b)


def inverse(a: weft.f64[N, N]):
    return np.linalg.inv(a)


def determinants(a: weft.f64[K, N, N]):
    return np.linalg.det(a)


def logarithm(a: weft.c128[N, N]):
    sign, size = np.linalg.slogdet(a)
    return sign, size


def factor(a: weft.f64[N, N]):
    return np.linalg.cholesky(a)


def factor_complex(a: weft.c128[N, N]):
    return np.linalg.cholesky(a)


def spectrum(a: weft.f64[N, N]):
    values, vectors = np.linalg.eigh(a)
    return values, vectors


def spectrum_upper(a: weft.f64[N, N]):
    return np.linalg.eigvalsh(a, UPLO="U")


def singular(a: weft.f64[N, M]):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh


def singular_full(a: weft.f64[N, M]):
    u, s, vh = np.linalg.svd(a)
    return u, s, vh


def singular_values(a: weft.f64[N, M]):
    return np.linalg.svd(a, compute_uv=False)


def nearest(a: weft.f64[N, M], b: weft.f64[N, K]):
    x, left, rank, s = np.linalg.lstsq(a, b)
    return x, left, rank, s


def nearest_one(a: weft.f64[N, M], b: weft.f64[N], least: float):
    x, left, rank, s = np.linalg.lstsq(a, b, least)
    return x, rank


def without_symmetry(a: weft.f64[N, N]):
    values, vectors = np.linalg.eig(a.astype(np.complex128))
    return values, vectors


def values_alone(a: weft.c128[K, N, N]):
    return np.linalg.eigvals(a)


def orthogonal(a: weft.f64[N, M]):
    q, r = np.linalg.qr(a)
    return q, r


def orthogonal_complete(a: weft.f64[N, M]):
    q, r = np.linalg.qr(a, mode="complete")
    return q, r


def waves(a: weft.c128[N]):
    return np.fft.fft(a), np.fft.ifft(a)


def waves_single(a: weft.c64[N]):
    return np.fft.fft(a)


def waves_real(a: weft.f64[N, M]):
    return np.fft.rfft(a), np.fft.rfft(a, axis=0)


def waves_back(a: weft.c128[N], n: int):
    return np.fft.irfft(a, n)


def waves_padded(a: weft.c128[N], n: int):
    return np.fft.fft(a, n)


def plane(a: weft.f64[N, M]):
    return np.fft.fft2(a)


def each(a: weft.f64[K, N, N], b: weft.f64[K, N]):
    y = np.zeros(b.shape)
    for k in weft.prange(a.shape[0]):
        y[k] = np.linalg.solve(a[k], b[k])
    return y
"""


class Built:
    def __init__(self, library: Library, python: ModuleType) -> None:
        self.library, self.python = library, python

    def agrees(self, name: str, *arguments: Any, results: str, exact: bool = False) -> None:
        expected = getattr(self.python, name)(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
        found = self.library.call(name, *arguments, results=results)
        pairs = zip(expected, found) if isinstance(expected, tuple) else [(expected, found)]
        for one, other in pairs:
            one, other = np.asarray(one), np.asarray(other)
            assert one.dtype == other.dtype and one.shape == other.shape, name
            if exact:
                assert np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"), (name, one, other)
            else:
                scale = max(1.0, float(np.abs(one).max(initial=0.0)))
                near = 1e-5 if one.dtype.itemsize // (1 + (one.dtype.kind == "c")) == 4 else 1e-12
                assert np.allclose(one, other, rtol=near, atol=near * scale), (name, one, other)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    place = tmp_path_factory.mktemp("routines")
    path = place / "routines.py"
    path.write_text(MODULE)
    assert main(["build", "--host", "c", str(path), "-o", str(place / "built"), "--march", "native"]) == 0
    spec = importlib.util.spec_from_file_location("routines_for_c", path)
    assert spec is not None and spec.loader is not None
    python = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(python)
    return Built(Library(place / "built" / "routines"), python)


@pytest.mark.parametrize("kind", SORTED)
def test_sorts_of_every_element_type(built: Built, kind: str) -> None:
    draw = np.random.default_rng(3)
    for length in (0, 1, 2, 15, 16, 17, 33, 500, 1000):
        items = draw.integers(0, 2 if kind == "bool" else 100, length).astype("?" if kind == "bool" else float)
        array = items.astype("?" if kind == "bool" else f"{kind[0]}{int(kind[1:]) // 8}")
        if array.dtype.kind in "fc" and length > 20:
            array[3], array[7] = np.nan, -np.inf
        if array.dtype.kind == "c" and length > 20:
            array += 1j * draw.integers(0, 3, length)
            array[5] = complex(1, np.nan)
        built.agrees(f"sorted_{kind}", array, results=f"{kind}:1 i64:1", exact=True)
        built.agrees(f"sorted_{kind}", array[::-2], results=f"{kind}:1 i64:1", exact=True)


def test_what_is_made_of_sorts(built: Built) -> None:
    draw = np.random.default_rng(4)
    array = draw.random((7, 5))
    expected = np.sort(array, axis=0)
    built.library.call("in_place", array)
    assert np.array_equal(array, expected)
    built.agrees("middle", draw.random(9), results="f64", exact=True)
    built.agrees("distinct", draw.integers(0, 9, 40), results="i64:1", exact=True)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
def test_equations(built: Built, n: int) -> None:
    draw = np.random.default_rng(n)
    a, z = draw.random((n, n)), draw.random((n, n)) + 1j * draw.random((n, n))
    built.agrees("solved", a, draw.random(n), results="f64:1")
    built.agrees("solved", a.T, draw.random(2 * n)[::2], results="f64:1")
    built.agrees("solved_matrix", z, draw.random((n, 3)) + 0j, results="c128:2")
    built.agrees("inverse", a + np.eye(n), results="f64:2")
    built.agrees("determinants", draw.random((4, n, n)), results="f64:1")
    built.agrees("logarithm", z, results="c128 f64")
    built.agrees("factor", a @ a.T + np.eye(n), results="f64:2")
    built.agrees("factor_complex", z @ z.conj().T + np.eye(n), results="c128:2")
    batch = draw.random((6, n, n)) + n * np.eye(n)
    built.agrees("each", batch, draw.random((6, n)), results="f64:2")


def test_matrices_without_an_answer_are_errors(built: Built) -> None:
    for name, arguments in (
        ("solved", (np.zeros((2, 2)), np.ones(2))),
        ("inverse", (np.ones((3, 3)),)),
        ("factor", (-np.eye(2),)),
        ("spectrum", (np.full((2, 2), np.nan),)),
    ):
        with pytest.raises(Failed) as caught:
            built.library.call(name, *arguments, results="f64:1 f64:2" if name == "spectrum" else "f64:2")
        assert caught.value.code == RAISED and caught.value.exception == "LinAlgError", name
    assert built.library.call("determinants", np.zeros((1, 3, 3)), results="f64:1").tolist() == [0.0]


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_eigenvalues(built: Built, n: int) -> None:
    draw = np.random.default_rng(n)
    a = draw.random((n, n))
    both = a + a.T
    values, vectors = built.library.call("spectrum", both, results="f64:1 f64:2")
    assert np.allclose(values, np.linalg.eigvalsh(both), atol=1e-12 * n)
    assert np.allclose(both @ vectors, vectors * values, atol=1e-11) and np.allclose(vectors.T @ vectors, np.eye(n))
    built.agrees("spectrum_upper", a, results="f64:1")


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (7, 3), (3, 7), (20, 1), (1, 5), (12, 12)])
def test_singular_values_and_orthogonal_factors(built: Built, shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(sum(shape))
    m, n = shape
    poor = np.outer(draw.random(m), draw.random(n))
    for a in (draw.random(shape), poor, np.zeros(shape)):
        values = np.linalg.svd(a, compute_uv=False)
        assert np.allclose(built.library.call("singular_values", a, results="f64:1"), values, atol=1e-12)
        for name, full in (("singular", False), ("singular_full", True)):
            u, s, vh = built.library.call(name, a, results="f64:2 f64:1 f64:2")
            expected = np.linalg.svd(a, full_matrices=full)
            assert (u.shape, s.shape, vh.shape) == tuple(part.shape for part in expected)
            assert np.allclose(s, values, atol=1e-12)
            assert np.allclose(u.T @ u, np.eye(u.shape[1])) and np.allclose(vh @ vh.T, np.eye(vh.shape[0]))
            k = min(m, n)
            assert np.allclose((u[:, :k] * s) @ vh[:k], a)
    a = draw.random(shape)
    built.agrees("orthogonal", a, results="f64:2 f64:2")
    if m > n:  # what the build has taken N and M to be
        built.agrees("orthogonal_complete", a, results="f64:2 f64:2")


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (9, 3), (3, 9), (20, 1), (30, 12)])
def test_least_squares(built: Built, shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(sum(shape))
    m, n = shape
    poor = np.outer(draw.random(m), draw.random(n))
    for a in (draw.random(shape), poor, np.zeros(shape)):
        b = draw.random((m, 3))
        expected = np.linalg.lstsq(a, b)
        found = built.library.call("nearest", a, b, results="f64:2 f64:1 i32 f64:1")
        assert found[2] == expected[2] and found[1].shape == expected[1].shape
        for mine, numpys in zip(found, expected):
            assert np.allclose(mine, numpys, atol=1e-10)
        x, rank = built.library.call("nearest_one", a, b[:, 0].copy(), 0.5, results="f64:1 i32")
        expected = np.linalg.lstsq(a, b[:, 0], 0.5)
        assert rank == expected[2] and np.allclose(x, expected[0], atol=1e-10)


def in_order(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values[np.lexsort((values.imag.round(6), values.real.round(6)))]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
def test_eigenvalues_without_symmetry(built: Built, n: int) -> None:
    draw = np.random.default_rng(n)
    ring = np.roll(np.eye(n), 1, axis=0)
    defective = np.eye(n, k=1) + 2 * np.eye(n)
    plain = (draw.random((n, n)) - 0.5, ring, np.zeros((n, n)), np.diag(np.arange(n) * 1.0))
    for a in (*plain, defective if n < 4 else ring):
        values, vectors = built.library.call("without_symmetry", a, results="c128:1 c128:2")
        assert np.allclose(a @ vectors, vectors * values, atol=1e-10)
        assert np.allclose(np.linalg.norm(vectors, axis=0), 1)
        expected = np.linalg.eigvals(a.astype(complex))
        assert np.allclose(in_order(values), in_order(expected), atol=1e-4 if a is defective else 1e-9)
    batch = draw.random((3, n, n)) + 1j * draw.random((3, n, n))
    found = built.library.call("values_alone", batch, results="c128:2")
    for mine, a in zip(found, batch):
        assert np.allclose(in_order(mine), in_order(np.linalg.eigvals(a)), atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 12, 31, 37, 60, 128, 74, 1009, 1024])
def test_transforms(built: Built, n: int) -> None:
    draw = np.random.default_rng(n)
    z = draw.random(n) + 1j * draw.random(n)
    built.agrees("waves", z, results="c128:1 c128:1")
    built.agrees("waves", np.repeat(z, 2)[::2], results="c128:1 c128:1")
    built.agrees("waves_single", z.astype("F"), results="c64:1")
    built.agrees("waves_real", draw.random((3, n)), results="c128:2 c128:2")
    built.agrees("waves_back", z, n, results="f64:1")
    built.agrees("waves_back", z, 2 * n + 1, results="f64:1")
    built.agrees("waves_padded", z, n + 5, results="c128:1")
    built.agrees("waves_padded", z, max(n - 2, 1), results="c128:1")
    built.agrees("plane", draw.random((n % 20 + 1, 6)), results="c128:2")


def test_what_a_host_lacks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lacking.py"
    path.write_text("import numpy as np\nimport weft\ndef f(a: weft.c128[:, :]):\n    return np.linalg.eigvalsh(a)\n")
    assert main(["build", "--host", "c", str(path), "-o", str(tmp_path / "built")]) == 1
    told = capsys.readouterr().err
    assert "lacking.py:4: f cannot be built: eigvalsh_lo is a routine of NumPy" in told
    assert not (tmp_path / "built").exists()
