"""Shapes and order in memory: reshape, ravel, flat, .shape, parts of complex numbers, Fortran order; a view where NumPy
gives a view, a copy where it copies.
"""

from __future__ import annotations

import numpy as np
import pytest

import weft
from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import LAYOUTS
from tests.support import differential_source, function_from_source, lines, made, same_as_plain

A = np.arange(24.0).reshape(4, 6)
C = np.arange(24.0).reshape(2, 3, 4)
Z = np.arange(6) + 1j * np.arange(6)[::-1]

RESHAPES = (
    "a.reshape(-1)", "a.reshape(24)", "a.reshape(3, 8)", "a.reshape((2, -1, 3))", "np.reshape(a, (8, 3))",
    "a.T.reshape(-1)", "a.T.reshape(8, 3)", "a[:, 1].reshape(2, 2)", "a[1:3].reshape(-1)",
    "a[:, :4].reshape(4, 2, 2)", "a[::2].reshape(2, 2, 3)", "a[None].reshape(4, 6, 1)",
    "a.reshape((3, 8), order='F')", "np.reshape(a, -1, order='F')", "a.T.reshape(3, 8, order='F')", "a.ravel()",
    "a.T.ravel()", "a[1].ravel()", "a[:, 1].ravel()", "a.ravel(order='F')", "np.ravel(a[::-1])", "a[:, ::2].ravel()",
    "a.flatten()", "a.T.flatten()", "a.flatten('F')", "a.flatten(order='F')", "(a * 2).reshape(3, 8)",
    "a.reshape(4, 3, 2)[:, 1]",
)  # fmt: skip


@pytest.mark.parametrize("text", RESHAPES)
def test_views_and_copies(text: str) -> None:
    """What is written to the result reaches the array exactly if NumPy gives a view."""
    body = ["b = " + text, "b[0] = -1", "s = b.sum()"]
    differential_source(lines("a", *body, "return s, b.shape"), made(A), native=False)
    differential_source(lines("a", "b = " + text, "return b * 2"), made(A))


def test_reshapes_of_every_layout() -> None:
    for make in LAYOUTS.values():
        array = make(A)

        def arguments(array: np.ndarray = array) -> tuple[np.ndarray]:
            return (array,)

        check_batch(["a.reshape(3, 8) + 0", "a.ravel() + 0", "a.flatten()", "a.T.reshape(-1) + 0"], arguments)
        check_statements("a", "s = 0.0", "for x in a.flat:", "    s = s * 0.5 + x", "return s", make=arguments)


def test_empty_and_single() -> None:
    for shape in ((0, 3), (1, 1), (1, 5), (5, 1)):
        array = np.ones(shape)
        check_batch(["a.reshape(-1)", "a.ravel()", "a.T.reshape(-1)", "a.flatten('F')"], made(array), native=False)


def test_wrong_shapes_raise() -> None:
    check_statements("a", "return a.reshape(5, 5)", make=made(A), native=False)
    check_statements("a, n", "return a.reshape(n, -1)", make=made(A, 5), native=False)


def test_what_is_left_of_an_empty_array() -> None:
    for array in (np.ones((0, 3)), np.ones((3, 0)), np.ones((2, 3))):
        check_statements("a", "return a.reshape(a.shape[0], -1)", make=made(array), native=False)
        check_statements("a, n", "return a.reshape(-1, n)", make=made(array, 0), native=False)


FLAT = (
    ["return a.flat[3], a.flat[-1], a.flat[5:20:4], a.flat[n:]"],
    ["a.flat[3] = 5", "a.flat[::7] = 1", "a.flat[-2] += 2", "return a"],
    ["a.flat = 3", "return a"],
    ["a[:, 1:].flat[::2] = 9", "return a"],
    ["a.T.flat[1:4] = a[0, 3] * 2", "return a"],
    ["s = 0.0", "for i, x in enumerate(a.flat):", "    s += i * x", "return s, np.sum(a.flat)"],
    ["f = a.flat", "return f[2] + f[n]"],
)


@pytest.mark.parametrize("body", FLAT)
def test_flat(body: list[str]) -> None:
    check_statements("a, n", *body, make=made(A, 4))


def test_assignment_to_shape() -> None:
    check_statements("n", "a = np.arange(n)", "a.shape = (n // 2, 2)", "return a", make=made(6))
    check_statements("a", "b = a.copy()", "b.shape = -1", "b[0] = 9", "return b", make=made(A))
    check_statements("a", "b = a[1:3]", "b.shape = (3, 4)", "b[0] = 7", "return a", make=made(A), native=False)
    check_statements("a", "a.shape = (24,)", "return a", make=made(A), native=False)


PARTS = (
    ["x = z.real", "y = z.imag", "return x * x + y * y"],
    ["z.real = 1", "z.imag = np.arange(6)", "return z"],
    ["z.real[...] = 2", "z.imag[1:3] = 5", "return z"],
    ["x = z.real", "x[1:3] = 5", "x[0] += 2", "z[4] = 7j", "return x[4], x.sum()"],
    ["x = z.imag", "x[x > 2] = 0", "x[z.real > 3] += 1", "return z"],
    ["z.real += 1", "z.imag *= 2", "return z"],
    ["x = z[::-1].real", "x[:2] = 8", "return z"],
    ["z = z * 2", "return z.real"],
    ["s = 0.0", "for i in range(3):", "    x = z.real", "    z = z * 1j", "    s += x.sum()", "return s"],
    ["i = np.array([0, 2])", "x = z.real", "x[i] = 4", "y = x[i]", "z[0] = 0", "return y, z"],
)


@pytest.mark.parametrize("body", PARTS)
def test_real_and_imaginary_parts(body: list[str]) -> None:
    check_statements("z", *body, make=made(Z))


def test_a_part_of_an_argument_is_returned_by_python() -> None:
    differential_source(lines("z", "return z.real"), made(Z), native=False)


def test_fortran_order() -> None:
    expressions = [
        "np.zeros((n, 3), order='F')", "np.ones((2, n, 3), order='F')", "np.asfortranarray(a)", "a.copy(order='F')",
        "np.array(a, order='F')", "np.ascontiguousarray(a.T)", "np.asfortranarray(a.T)",
        "np.ascontiguousarray(a[:, ::2]) * 1",
    ]  # fmt: skip
    check_batch(expressions, made(A, 4), header="a, n")
    for text in expressions[:5]:
        compiled = differential_source(lines("a, n", f"return {text}"), made(A, 4), memory=False)
        assert compiled(A, 4).flags.f_contiguous
    body = ["a = np.zeros((n, 3), order='F')", "a[1] = 2", "a[:, 2] += a[:, 1]", "return a.sum(axis=0)"]
    check_statements("n", *body, make=made(4))


WINDOWS = (
    "np.lib.stride_tricks.sliding_window_view(v, 3).mean(axis=1)",
    "np.lib.stride_tricks.sliding_window_view(a, (2, 3)).max(axis=(2, 3))",
    "np.lib.stride_tricks.sliding_window_view(a, 2, axis=1).sum(axis=-1)", "np.broadcast_to(v, (3, 6)).sum(axis=0)",
    "np.broadcast_arrays(v, a)[0] + 1", "np.moveaxis(c, (0, 1), (-1, 0)) * 1", "np.moveaxis(c, 0, -1) * 1",
    "np.rollaxis(c, 2) * 1", "np.rollaxis(c, 1, 3) * 1", "np.expand_dims(v, (0, 2))", "np.expand_dims(v, -1)",
    "np.squeeze(v[None, :, None])", "c.mT * 1", "np.rot90(a) * 1", "np.rot90(a, 2) * 1", "np.rot90(a, -1) * 1",
    "np.rot90(c, 1, (1, 2)) * 1", "np.fliplr(a) * 1", "np.flipud(c) * 1", "np.atleast_3d(v) * 1",
    "np.meshgrid(v, v, copy=False)[1] * 1",
)  # fmt: skip


def test_other_views() -> None:
    check_batch(WINDOWS, made(A, C, np.arange(6.0)), header="a, c, v")


def test_views_are_written_through() -> None:
    check_statements("a", "b = np.flipud(a)", "b[0] = 1", "np.rot90(a)[0, 0] = 2", "return a", make=made(A))
    check_statements("a", "b = a[1:]", "c = b[:, ::2]", "c[0] = 4", "c.T[0] = 5", "return a", make=made(A))
    check_statements("c", "np.moveaxis(c, 0, -1)[0] = 1", "np.swapaxes(c, 0, 2)[1, 1] = 5", "return c", make=made(C))
    check_statements("a", "d = np.diag(a)", "a[0, 0] = 9", "return d.sum(), np.diag(a, 1).sum()", make=made(A))


# --- the order of new arrays ----------------------------------------------------------------------------------------

#: New arrays that lie in memory as their operands do: what `ravel` of them is, a view or a copy, is told by a write.
NEW = (
    "a.T * 2", "-a", "a.T + a.T", "a.T + np.ones((4, 3))", "np.sqrt(a.T)", "np.where(a.T > 1, a.T, 0.0)",
    "a.T.astype(np.int64)", "np.copy(a.T)", "np.array(a.T)", "a.T.copy()", "np.ascontiguousarray(a.T)",
    "np.array(a.T, order='C')",
    "np.copy(a, order='F')", "np.zeros_like(a)", "np.empty_like(a.T) * 0", "np.full_like(a.T, 2.0)", "np.ones((3, 4))",
    "np.zeros((3, 4), order='F')", "np.full((3, 4), 1.0, order='F')", "a[i]", "a[:, i]", "a.T[i]", "b[:, i]",
    "b[i, :, i]", "b.T.sum(axis=0)", "b.transpose(0, 2, 1).sum(axis=0)", "b.sum(axis=0)", "np.median(b.T, axis=0)",
    "np.sort(a.T)",
    "np.cumsum(a.T, axis=0)", "np.concatenate((a.T, a.T))", "np.stack((a.T, a.T))", "a.T @ a", "np.dot(a, a.T)",
    "np.add.outer(a[0], a[1]).T + 1", "np.outer(a[0], a[:, 0])", "(a * 2).T + 1", "a.reshape(4, 3).T * 2",
    "a.reshape(2, 6) * 2", "a[::-1] + 1", "a[:, ::2] + 1", "np.pad(a.T, 1)", "np.diff(a.T)", "np.fft.fft(a.T).real + 0",
    "np.round(a.T)", "np.clip(a.T, 0.0, 5.0)", "a[a[:, 0] > 2]",
)  # fmt: skip
WRITES = (
    ("r = c.ravel()", "r[0] = 100"),
    ("r = c.reshape(-1)", "r[1] += 50"),
    ("r = c.T.ravel()", "r[...] = 7"),
    ("r = c.ravel(order='F')", "r[2] = 100"),
)


@pytest.mark.parametrize("text", NEW)
def test_views_of_new_arrays(text: str) -> None:
    first, second = np.arange(12.0).reshape(3, 4) + 1, np.arange(24.0).reshape(2, 3, 4) + 1
    layouts = (
        (first, second),
        (np.asfortranarray(first), np.asfortranarray(second)),
        (np.repeat(first, 2, axis=1)[:, ::2], np.repeat(second, 2, axis=2)[..., ::2]),
    )
    for write in WRITES:
        function = function_from_source(lines("a, b, i", f"c = {text}", *write, "return c, r.sum()"))
        compiled = weft.jit(fallback="silent")(function)
        for given in layouts:

            def arguments(given: tuple[np.ndarray, ...] = given) -> tuple[np.ndarray, ...]:
                return (*(np.copy(array, order="K") for array in given), np.array([0, 1]))

            same_as_plain(compiled, function, arguments, 1e-12)


@pytest.mark.parametrize("text", ["a * 2 + b[0]", "a[i]", "b.sum(axis=0)", "a.T.copy()", "np.zeros_like(a)", "a @ a.T"])
def test_views_of_new_arrays_in_c_order_are_native(text: str) -> None:
    source = lines("a, b, i", f"c = {text}", "r = c.ravel()", "r[0] = 100", "return c")
    arguments = made(np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4), np.array([0, 1]))
    differential_source(source, arguments, tolerance=1e-12)


def test_a_variable_that_changes_its_order() -> None:
    """The order at the first view says nothing about the next iteration."""
    body = ["c = np.zeros((3, 3))", "for k in range(n):", "    r = c.ravel()", "    r[1] += 10", "    c = a.T + c"]
    for array in (np.arange(9.0).reshape(3, 3), np.asfortranarray(np.arange(9.0).reshape(3, 3))):
        differential_source(lines("a, n", *body, "return c"), made(array, 3), native=False)


def test_elements_stored_by_loops_do_not_change_the_order() -> None:
    body = ["c = np.empty((4, 3))", "for i in range(4):", "    for j in range(3):", "        c[i, j] = a[j, i]"]
    differential_source(lines("a", *body, "c.ravel()[1] = 7", "return c"), made(np.arange(12.0).reshape(3, 4)))


FORTRAN = (
    "a + b", "a * 2 + b", "np.where(a > b, a, b)", "np.sqrt(a) - b", "a[:2] + b[:2]", "(a * b).T",
    "a.astype(np.float32)", "np.zeros_like(a)", "np.ones_like(a.T)", "np.array(a)", "np.copy(a)", "a.copy()",
    "np.ascontiguousarray(a * 2)", "np.array(a * b, order='C')", "np.zeros(a.shape) + 0", "a @ b.T", "a.T + b.T",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int32])
def test_results_of_fortran_arrays_lie_as_in_numpy(dtype: type) -> None:
    """Operators follow their operands; what names an order gets it."""
    for shape in ((3, 4), (2, 3, 4)):
        array = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
        texts = [text for text in FORTRAN if not (dtype is np.complex128 and "float32" in text)]
        texts = [text for text in texts if len(shape) == 2 or ("@" not in text and "[:2]" not in text)]
        source = lines("a, b", f"return {', '.join(texts)}")
        function = function_from_source(source)
        given = (array, np.asfortranarray(array + 1))
        compiled, generated = weft.jit(function), weft.jit(function, backend="python")
        for text, mine, python, theirs in zip(texts, compiled(*given), generated(*given), function(*given)):
            assert np.allclose(mine, theirs) and mine.dtype == theirs.dtype, text
            assert np.allclose(python, theirs) and python.dtype == theirs.dtype, text
            assert mine.strides == theirs.strides, text
        assert not generated.stats["fallbacks"]


FORTRAN_BODIES = (
    ["c = np.zeros_like(a)", "for i in range(3):", "    for j in range(4):", "        c[i, j] = b[i, j]", "return c"],
    ["c = np.zeros(a.shape)", "c[:, :] = a + b", "return c"],
    ["c = a + b", "c[1] += c[0]", "return c.ravel(), c"],
    ["c = a * b", "for _ in range(3):", "    c = c * 0.5 + a", "return c, c.sum(axis=0)"],
    ["c = np.empty_like(a)", "np.multiply(a, b, out=c)", "return c"],
    ["c = np.zeros_like(a)", "np.add.at(c, (np.array([0, 1]), np.array([1, 1])), 2.0)", "return c"],
)  # fmt: skip


@pytest.mark.parametrize("body", FORTRAN_BODIES)
def test_new_arrays_like_fortran_arrays(body: list[str]) -> None:
    array = np.asfortranarray(A[:3, :4])
    function = function_from_source(lines("a, b", *body))
    results = [f(array, np.asfortranarray(array + 1)) for f in (weft.jit(function), function)]
    for one, other in zip(*(result if isinstance(result, tuple) else (result,) for result in results)):
        assert np.allclose(one, other) and one.strides == other.strides
