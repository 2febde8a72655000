"""Indexing and slicing, reading and writing: every layout, overlap of source and target, masks and integer arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.samples import ALL, LAYOUTS, READ_LAYOUTS, ordinary
from tests.support import differential_source, lines, made

READS = (
    "a[0]", "a[-1]", "a[1, 2]", "a[-1, -2]", "a[1:]", "a[:-1]", "a[1:3]", "a[::2]", "a[::-1]", "a[3:0:-1]", "a[:, 1]",
    "a[:, ::2]", "a[1:, :-1]", "a[::-1, ::-1]", "a[..., 0]", "a[0, ...]", "a[None]", "a[:, None, :]",
    "a[:, np.newaxis]",
    "a.T", "a.T[1]", "a.transpose()", "np.transpose(a)", "a.transpose(1, 0)", "a[1:][0]", "a[1:, 1:][:, ::2]", "a[10:]",
    "a[-100:100]", "a[3:1]", "a[n]", "a[n:]", "a[:n]", "a[-n:]", "a[n:n+2]", "a[::n]", "a[i, j]", "a[i][j]", "a[-i]",
    "np.diag(a)", "a.diagonal()", "a.swapaxes(0, 1)", "a.squeeze()", "np.flip(a, 0)", "a.flat[3]",
)  # fmt: skip
ELSEWHERE = ("np.diag(a)", "a.diagonal()", "a.squeeze()", "np.flip(a, 0)", "a.flat[3]", "a.swapaxes(0, 1)")


@pytest.mark.parametrize("text", READS)
def test_reading(text: str) -> None:
    source = lines("a, n, i, j", f"return {text} + 1, {text} * 2")
    differential_source(source, made(ordinary("float64", (4, 5)), 2, 1, 3), native=text not in ELSEWHERE)


@pytest.mark.parametrize("layout", READ_LAYOUTS)
@pytest.mark.parametrize("dtype", ALL)
def test_every_layout_is_read(dtype: str, layout: str) -> None:
    place = READ_LAYOUTS[layout]
    make = lambda: (place(ordinary(dtype, (4, 5))), place(ordinary(dtype, (4, 5), 1)))
    differential_source(lines("a, b", "return a * b, a[1:, ::2] + b[:-1, ::2]"), make, tolerance=1e-13, calls=1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_every_layout_is_written(rank: int, layout: str) -> None:
    place = LAYOUTS[layout]
    shape = (4, 5, 3, 2)[:rank]
    make = lambda: (place(ordinary("float64", shape)), place(ordinary("float64", shape, 1)))
    differential_source(lines("a, b", "a += 2 * b", "b[1:] = a[:-1]", "a[0] = 7"), make)


def test_layout_may_change_between_calls() -> None:
    compiled = differential_source(
        lines("a", "return a * 2 + a.sum()"), made(ordinary("float64", (4, 5))), tolerance=1e-13
    )
    for place in READ_LAYOUTS.values():
        values = place(ordinary("float64", (4, 5)))
        np.testing.assert_allclose(compiled(values), values * 2 + values.sum(), rtol=1e-13)


def test_broadcast_argument_of_stride_zero() -> None:
    make = lambda: (np.broadcast_to(np.arange(4.0), (3, 4)), np.broadcast_to(np.float64(2.0), (3, 4)))
    differential_source(lines("a, b", "return a + b, a.sum(axis=0), b[1]"), make)


def test_read_only_argument_is_not_written() -> None:
    values = np.zeros(5)
    values.flags.writeable = False
    differential_source(lines("a", "a[0] = 1.0"), lambda: (values,), native=False)
    assert values[0] == 0.0


WRITES = (
    "a[0] = 1", "a[-1] = 2.5", "a[1, 2] = 3", "a[1:] = 0", "a[:] = b", "a[...] = 4", "a[::2] = b[::2]",
    "a[:, 1] = b[:, 0]",
    "a[1:3, 1:3] = 7", "a[::-1] = b", "a[:, ::-1] = b", "a[0] = b[1]", "a[:] = b[0]", "a[:, 0] += 1", "a[1:] *= 2",
    "a[1:, 1:] -= b[:-1, :-1]", "a.T[1] = 5", "a[n, :] = a[0]", "a[:, :] = b[:, :1]", "a[i, j] += 2", "a[i][j] = 9",
    "a[i][:] = 3", "a[3:1] = 8", "a[10:] = 8",
)  # fmt: skip


@pytest.mark.parametrize("text", WRITES)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_writing(dtype: str, text: str) -> None:
    make = made(ordinary(dtype, (4, 5)), ordinary(dtype, (4, 5), 1), 2, 1, 3)
    differential_source(lines("a, b, n, i, j", text), make)


OVERLAPS = (
    "a[1:] = a[:-1] + 1", "a[:-1] = a[1:] + 1", "a[::-1] = a", "a[:] = a[::-1]", "a[1:] = a[:-1]", "a[1:] += a[:-1]",
    "a[:-1] -= a[1:]", "a[2:] = a[:-2] + a[1:-1]", "a[1:-1] = a[:-2] + a[2:]", "a[::2] = a[1::2]", "a[:5] = a[::2]",
    "a[5:] = a[:5][::-1]", "a += a[::-1]", "a[:] = a * a[0]", "a[:] = a + a.sum()", "a[a[0] > 100:] = a[0]",
    "a[0], a[1] = a[1], a[0]", "a[3:7] = a[2:6] * a[4:8]",
)  # fmt: skip


@pytest.mark.parametrize("text", OVERLAPS)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_right_side_is_read_before_the_left_is_written(dtype: str, text: str) -> None:
    differential_source(lines("a", text), made(ordinary(dtype, 10)), tolerance=1e-13, native=">" not in text)


OVERLAPS_2D = (
    "a[:] = a.T", "a[1:, 1:] = a[:-1, :-1]", "a[:, 1:] = a[:, :-1] + 1", "a[0] = a[:, 0]", "a[:, 0] = a[0]",
    "a += a.T", "a[:] = a[0]", "a[:] = a[:, 1:2]", "a[::-1, ::-1] = a", "a[1:] = a[0]",
    "a[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1]",
)  # fmt: skip


@pytest.mark.parametrize("text", OVERLAPS_2D)
def test_overlap_in_two_dimensions(text: str) -> None:
    differential_source(lines("a", text), made(ordinary("float64", (6, 6))))


def test_a_view_sees_later_writes() -> None:
    source = lines("a", "v = a[1:]", "a[:] = 3", "w = v + 1", "v[0] = 9", "return w, a[1], v")
    differential_source(source, made(ordinary("float64", 5)))


def test_augmented_name_of_a_view_writes_the_base() -> None:
    source = lines("a", "row = a[1]", "row += 5", "row = row + 1", "row[0] = 100", "return row")
    differential_source(source, made(ordinary("float64", (3, 4))))


# --- arguments that share memory ------------------------------------------------------------------------------------

SHARING = (
    "b[:] = a + 1", "b[1:] = a[:-1]", "b += a", "a[:] = b[::-1]", "for i in range(1, len(a)): b[i] = a[i - 1] + 1",
    "for i in range(len(a)): b[i] = a[i] * 2 + a[0]",
)  # fmt: skip


@pytest.mark.parametrize("text", SHARING)
@pytest.mark.parametrize("shift", [0, 1, -1, 3], ids=["same", "ahead", "behind", "far"])
def test_overlapping_arguments(shift: int, text: str) -> None:
    def make():
        base = ordinary("float64", 20)
        return base[5:15], base[5 + shift : 15 + shift]

    differential_source(lines("a, b", text), make)


def test_the_same_array_twice() -> None:
    def make():
        values = ordinary("float64", (5, 5))
        return values, values

    differential_source(lines("a, b", "a[:] = b.T + 1", "b[0] = a[:, 0]", "return a is b"), make, native=False)


def test_aliasing_may_change_between_calls() -> None:
    source = lines("a, b", "for i in range(1, len(a)):", "    b[i] = a[i - 1] + 1.0")
    compiled = differential_source(source, made(ordinary("float64", 9), ordinary("float64", 9, 1)))
    shared = np.zeros(9)
    compiled(shared, shared)
    assert shared.tolist() == [float(i) for i in range(9)]


def test_transposed_alias() -> None:
    def make():
        values = ordinary("float64", (5, 5))
        return values, values.T

    differential_source(lines("a, b", "a += b", "b[0] = 1"), make)


# --- masks and integer arrays ---------------------------------------------------------------------------------------

MASKS = (
    "a[a > 0] = 0", "a[m] = 1", "a[m] += 2", "a[m] *= 3", "a[~m] -= 1", "a[a < b] = 7", "a[(a > 0) & m] = 5",
    "a[np.isnan(a)] = 0",
)  # fmt: skip


@pytest.mark.parametrize("text", MASKS)
@pytest.mark.parametrize("shape", [(12,), (4, 5), (0,)], ids=str)
def test_masked_writes(shape: tuple[int, ...], text: str) -> None:
    make = made(ordinary("float64", shape), ordinary("float64", shape, 1), ordinary("bool", shape))
    differential_source(lines("a, b, m", text), make)


@pytest.mark.parametrize(
    "text", ["a[m] = b[m]", "return a[m]", "return a[a > 0].sum()", "a[m] = a[m] * 2 + 1", "a[m, 0] = 1"]
)
def test_masks_with_their_own_shape(text: str) -> None:
    make = made(ordinary("float64", (4, 5)), ordinary("float64", (4, 5), 1), ordinary("bool", 4))
    differential_source(lines("a, b, m", text), make, native=False, tolerance=1e-13)


def test_mask_over_leading_axis() -> None:
    make = made(ordinary("float64", (4, 5)), np.array([True, False, True, False]))
    differential_source(lines("a, m", "a[m] = 0.5"), make, native=False)


@pytest.mark.parametrize(
    "text", ["return a[k]", "return a[k] + 1", "a[k] = 1", "a[k] += 1", "return a[k[::-1]]", "return a[k, 0]"]
)
@pytest.mark.parametrize("positions", [[0, 2, 2, -1], [], [3]], ids=str)
def test_integer_arrays(positions: list[int], text: str) -> None:
    make = made(ordinary("float64", (4, 5)), np.array(positions, dtype=np.int64))
    differential_source(lines("a, k", text), make, native=False)


def test_gather_in_loops() -> None:
    source = lines("a, k", "out = np.zeros(len(k))", "for i in range(len(k)):", "    out[i] = a[k[i]]", "return out")
    differential_source(source, made(ordinary("float64", 6), np.array([0, 5, -1, -6, 3])))


def test_scatter_in_loops() -> None:
    source = lines("a, k", "for i in range(len(k)):", "    a[k[i]] += i")
    differential_source(source, made(np.zeros(6), np.array([0, 5, -1, 0, 3, 3])))
