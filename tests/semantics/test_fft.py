"""np.fft against NumPy, to the last bit: kinds, lengths, axes, norms, dtypes, strides, emptiness."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ALL, LAYOUTS, ordinary
from tests.support import differential_source, function_from_source, lines, made

ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


@pytest.mark.parametrize("dtype", ALL)
def test_kinds(dtype: str) -> None:
    check_batch([f"np.fft.{name}(a)" for name in ONE_AXIS], made(ordinary(dtype, 12)))
    check_batch([f"np.fft.{name}(a)" for name in ONE_AXIS], made(ordinary(dtype, (3, 7))))


@pytest.mark.parametrize("norm", ["'ortho'", "'forward'", "'backward'", "None"])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64", "int16"])
def test_norms(dtype: str, norm: str) -> None:
    check_batch([f"np.fft.{name}(a, norm={norm})" for name in (*ONE_AXIS, *SEVERAL)], made(ordinary(dtype, (4, 6))))


@pytest.mark.parametrize("name", ONE_AXIS)
def test_lengths_and_axes(name: str) -> None:
    kind = "float64" if name in ("rfft", "ihfft") else "complex128"
    calls = [f"np.fft.{name}(a, {n}, {axis})" for n in (None, 1, 2, 3, 5, 8, 9) for axis in (0, 1, -1)]
    check_batch(calls, made(ordinary(kind, (5, 4, 6))))


@pytest.mark.parametrize("name", ONE_AXIS)
def test_lengths_known_at_run_time(name: str) -> None:
    """Even and odd lengths take different routines, and one version serves both."""
    source = lines("a, n", f"return np.fft.{name}(a, n), np.fft.{name}(a[:n], axis=0)")
    compiled = weft.jit(fallback="error")(function_from_source(source))
    for size, n in ((12, 6), (12, 5), (9, 12), (7, 3), (30, 2)):
        a = ordinary("float64", size)
        expected, again = (getattr(np.fft, name)(a, n), getattr(np.fft, name)(a[:n], axis=0))
        first, second = compiled(a, n)
        assert first.tobytes() == expected.tobytes() and second.tobytes() == again.tobytes()


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    kind = "float64" if name.startswith("rfft") else "complex128"
    calls = [f"np.fft.{name}(a)", f"np.fft.{name}(a, (4, 3), axes=(0, 2))", f"np.fft.{name}(a, axes=(2, 0))"]
    calls += [
        f"np.fft.{name}(a, s=(6, -1), axes=(-1, 1))",
        f"np.fft.{name}(a, (3, 5))",
        f"np.fft.{name}(a, axes=(1, 1))",
    ]
    check_batch(calls, made(ordinary(kind, (3, 4, 5))))
    check_batch([f"np.fft.{name}(a)"], made(ordinary("float32", (4, 5))))


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "complex128", "complex64"])
def test_strides(dtype: str, name: str) -> None:
    a, layout = ordinary(dtype, (4, 6)), LAYOUTS[name]
    texts = [
        "np.fft.fft(a)",
        "np.fft.fft(a, axis=0)",
        "np.fft.ifft(a.T)",
        "np.fft.fft(a[::-1, ::2])",
        "np.fft.fft2(a[1:, ::-1])",
        "np.fft.rfft(a)",
        "np.fft.rfft(a, axis=0)",
        "np.fft.irfft(a[:, 1:], axis=0)",
        "np.fft.fft(a[1])",
        "np.fft.fftn(a.T)",
        "np.fft.fft(np.diag(a))",
    ]
    check_batch(texts, lambda: (layout(a),))


def test_large_batches_and_lengths() -> None:
    rng = np.random.default_rng(5)
    for shape in ((40, 64), (64, 40), (3, 17, 5), (2, 1000), (1, 37)):
        a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        check_batch(
            ["np.fft.fft(a)", "np.fft.fft(a, axis=0)", "np.fft.rfft(a.real)", "np.fft.irfft(a)", "np.fft.fftn(a)"],
            made(a),
        )


@pytest.mark.parametrize("backend", ["c", "python"])
def test_round_trips_and_loops(backend: str) -> None:
    a = ordinary("complex128", (6, 8))
    check_statements(
        "a",
        "for k in range(3):",
        "    b = np.fft.fft2(a)",
        "    b *= 0.5",
        "    a[:] = np.fft.ifft2(b)",
        "return b",
        make=made(a),
        backend=backend,
    )
    check_statements(
        "a",
        "out = np.empty(a.shape, dtype=np.complex128)",
        "for i in range(a.shape[0]):",
        "    out[i] = np.fft.ifft(np.fft.fft(a[i]) * np.fft.fft(a[0]))",
        "return out",
        make=made(a),
        backend=backend,
        tolerance=1e-12,
    )
    check_statements(
        "a",
        "x = a.real.copy()",
        "s = np.fft.rfft(x)",
        "p = s.real ** 2 + s.imag ** 2",
        "return np.fft.irfft(s, x.shape[1]), p",
        make=made(a),
        backend=backend,
        tolerance=1e-12,
    )


def test_the_input_is_not_changed() -> None:
    a = ordinary("complex128", (4, 4))
    check_statements("a", "b = np.fft.fft2(a)", "c = np.fft.fft(a.real)", "return b, c, a", make=made(a))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (3, 0, 4)])
def test_empty(shape: tuple[int, ...]) -> None:
    for text in (
        "np.fft.fft(a)",
        "np.fft.fft(a, axis=0)",
        "np.fft.rfft(a)",
        "np.fft.irfft(a, axis=0)",
        "np.fft.fftn(a)",
    ):
        differential_source(lines("a", f"return {text}"), made(np.zeros(shape)), native=False)


@pytest.mark.parametrize(
    "text",
    [
        "np.fft.fft(a, 0)",
        "np.fft.fft(a, -3)",
        "np.fft.fft(a, norm='x')",
        "np.fft.fft(a, axis=3)",
        "np.fft.rfft(a + 0j)",
        "np.fft.fft2(a[0])",
        "np.fft.fftn(a, (2, 2), axes=(0,))",
        "np.fft.fft(a[0, 0])",
        "np.fft.irfft(a[:, :1])",
        "np.fft.fft(a, out=np.empty((3, 4), complex))",
        "np.fft.fftfreq(0)",
        "np.fft.fftfreq(2.0)",
        "np.fft.fftn(a, axes=())",
    ],
)
def test_what_is_left_to_numpy(text: str) -> None:
    differential_source(lines("a", f"return {text}"), made(ordinary("float64", (3, 4))), native=False)


def test_bad_lengths_after_a_change() -> None:
    differential_source(
        lines("a, n", "a[0] += 1", "return np.fft.fft(a, n)"), made(ordinary("float64", 4), 0), native=False
    )


@pytest.mark.parametrize("shape", [(6,), (7,), (4, 5), (3, 4, 5), (0,), (1, 2)])
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name: str, shape: tuple[int, ...]) -> None:
    texts = [f"np.fft.{name}(a)", f"np.fft.{name}(a, 0)", f"np.fft.{name}(a, axes=-1)", f"np.fft.{name}(a * 2, (0,))"]
    if len(shape) > 1:
        texts += [f"np.fft.{name}(a, (1, 0))", f"np.fft.{name}(a.T, axes=1)"]
    check_batch(texts, made(ordinary("float64", shape)))


def test_frequencies() -> None:
    for n in (1, 2, 5, 8):
        texts = [
            f"np.fft.{name}(n{d})"
            for name in ("fftfreq", "rfftfreq")
            for d in ("", ", 0.1", ", d=3", ", np.float32(0.3)")
        ]
        check_batch(texts, made(n), header="n")
    check_batch(["np.fft.fftfreq(a.shape[0], 0.5)", "np.fft.rfftfreq(len(a))", "np.fft.fftfreq(6)"], made(np.zeros(9)))


def test_explanations_name_the_library() -> None:
    jitted = weft.jit(fallback="error")(function_from_source(lines("a", "return np.fft.fft(a)")))
    jitted(np.ones(8))
    assert "pocketfft" in str(jitted.explain())
