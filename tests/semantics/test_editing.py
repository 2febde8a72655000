"""Parts put in, taken out, put together and cut apart; values placed, chosen and counted by position; spaced points."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.batches import check_batch, check_statements
from tests.semantics.samples import ordinary
from tests.support import made

A = np.arange(24.0).reshape(4, 6) * 0.37
V = np.linspace(0.1, 2.0, 7)
I = np.array([3, 0, 2, 2, 1])
J = np.array([5, 1, 0, 4, 2])
SOME = ("bool", "int8", "int64", "float32", "complex128")


@pytest.mark.parametrize("dtype", SOME)
def test_delete_and_insert(dtype: str) -> None:
    deletes = ["np.delete(v, 2)", "np.delete(v, [0, 3])", "np.delete(v, -1)", "np.delete(v, slice(1, 4))"]
    deletes += ["np.delete(v, k)", "np.delete(a, 1, axis=1)", "np.delete(a, 0, 0)"]
    deletes += ["np.delete(a, [1, 2], axis=1)", "np.delete(v, v == v[0])"]
    inserts = ["np.insert(v, 2, 1)", "np.insert(v, [1, 3], [1, 0])", "np.insert(v, -1, 1)", "np.insert(v, k, v[:2])"]
    inserts += ["np.insert(a, 1, 0, axis=1)", "np.insert(a, 0, a[1], axis=0)"]
    inserts += ["np.insert(v, 7, 1)", "np.insert(a, 3, 1)"]
    make = made(ordinary(dtype, (4, 6)), ordinary(dtype, 7), 3)
    check_batch([*deletes, *inserts], make, header="a, v, k")


@pytest.mark.parametrize("text", ["np.delete(v, k)", "np.insert(v, k, 1.0)", "np.delete(v, -k)", "np.insert(v, -k, 1)"])
def test_places_out_of_bounds(text: str) -> None:
    for k in (6, 7, 8, 20):
        check_statements("v, k", f"return {text}", make=made(V, k))


@pytest.mark.parametrize("dtype", SOME)
def test_blocks_and_joins(dtype: str) -> None:
    expressions = [
        "np.block([[a, b], [b, a]])", "np.block([v, v])", "np.block([[a, np.zeros((4, 1))], [np.ones((1, 7))]])",
        "np.block(v)", "np.r_[v, 0, v]", "np.r_[0:5]", "np.r_[0:1:5j]", "np.r_[v, 1:3]", "np.c_[v, v]", "np.c_[a, b]",
        "np.r_[a, b]", "np.hstack([0.5, v, 1])", "np.hstack(([0], v))", "np.concatenate(([0], v, [1, 2]))",
        "np.concatenate((a, v), axis=None)", "np.vstack([v, v[::-1]])", "np.stack([v, v], axis=-1)",
        "np.concatenate([a, b], axis=-1)", "np.array([[a, b], [b, a]])", "np.array([v, v * 2], dtype=np.complex64)",
        "np.array([v[0], 1.5])", "np.array([])", "np.array(v, ndmin=2)", "np.resize(a, (3, 5))", "np.resize(v, 20)",
        "np.diagflat(v)", "np.diagflat(a, 1)", "np.diag(v, 2)", "np.diag(v, -1)", "np.tril(v)",
        "np.triu(np.stack([a, b]), 1)", "np.tril(a, k)", "np.roll(a, (1, 2), axis=(0, 1))", "np.roll(a, 1)",
        "np.roll(a, -2, axis=1)", "np.roll(a, 1, axis=(0, 1))", "np.roll(v, k)",
    ]  # fmt: skip
    matrices = ordinary(dtype, (4, 6)), ordinary(dtype, (4, 6))
    check_batch(expressions, made(*matrices, ordinary(dtype, 7), 1), 0.0, "a, b, v, k")


def test_splits() -> None:
    expressions = [
        "np.split(a, 2, axis=1)", "np.split(v, [2, 5])", "np.array_split(v, 3)", "np.hsplit(a, 2)", "np.vsplit(a, 2)",
        "np.split(a, 2)", "np.array_split(a, 4, axis=1)", "np.split(v, [2, k, 20])", "np.unstack(a)",
        "np.dsplit(np.stack([a, a], axis=2), 2)",
    ]  # fmt: skip
    check_batch(expressions, made(A, V, 4), header="a, v, k")
    check_statements("a", "x, y = np.split(a, 2, axis=1)", "x[0] = 1", "return a, y", make=made(A))
    body = ["s = 0.0", "for p in np.split(a, 3, axis=1):", "    s += p.sum() * p[0, 0]", "return s"]
    check_statements("a", *body, make=made(A), tolerance=1e-12)
    check_statements("v", "return np.split(v, 2)", make=made(V), native=False)


PLACING = (
    ["np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 9, axis=1)", "return a"],
    ["np.put_along_axis(a, np.argsort(a, axis=0)[:2], -1.0, axis=0)", "return a"],
    ["np.putmask(a, a > 3, 1.5)", "np.putmask(a, a < 1, np.arange(4.0))", "np.putmask(a, a > 2, a * 2)", "return a"],
    ["np.place(a, a > 3, [1.0, 2.0, 3.0])", "np.place(a, a < 1, 7)", "return a"],
    ["np.copyto(a, 1)", "np.copyto(a, a.T[:, 0] if False else a[0], where=a > 0.5)", "return a"],
    ["np.copyto(a, a[::-1], where=np.array([True, False] * 3))", "return a"],
    ["a.put(i, 3.0)", "a.put(i + 6, [1.0, 2.0])", "np.put(a, j, a[0, :5])", "return a"],
    ["a[np.diag_indices_from(a[:, :4])] += 1", "return a"],
    ["a[np.unravel_index(j, a.shape)] = 0", "k = np.unravel_index(np.argmax(a), a.shape)", "a[k] = -1", "return a, k"],
    ["a[i, None, :2] = 5", "a[..., np.array([True, False] * 3)] += 1", "return a[i, None], a[i[:, None], j]"],
    ["a[i % 2, 1:3] = a[2, 1:3]", "a[:, j] *= 2", "return a[1:3, j], a[-1 - i]"],
)


@pytest.mark.parametrize("body", PLACING)
def test_values_are_placed(body: list[str]) -> None:
    check_statements("a, i, j", *body, make=made(A, I, J))


def test_choices_and_positions() -> None:
    expressions = [
        "np.select([v < 0.5, v < 1.0], [v, v * 2], default=-1)", "np.select([v < 0.5, v < 1.0], [v, 1])",
        "np.select([v < 1], [i[0]], v)", "np.ravel_multi_index((i, j), (4, 6))",
        "np.ravel_multi_index((i, j), (2, 3), mode='clip')", "np.unravel_index(j, (2, 3))",
        "np.ravel_multi_index((i, j), (2, 3), mode='wrap')", "np.unravel_index(7, (4, 6))",
        "np.diag_indices_from(a[:, :4])",
    ]  # fmt: skip
    check_batch(expressions, made(A, V, I, J), header="a, v, i, j")
    outside = ("np.ravel_multi_index((i, j), (2, 3))", "np.unravel_index(j+20, (4, 6))", "np.unravel_index(-j, (4, 6))")
    for text in outside:
        check_statements("i, j", f"return {text}", make=made(I, J))


def test_indices_as_values() -> None:
    check_statements("a", "s = np.s_[1:3, ::2]", "a[s] = 0", "return a[s], a[np.index_exp[1:]]", make=made(A))
    check_statements("a, n", "s = slice(1, n)", "a[s] += 1", "return a[s, 0], s.stop - s.start", make=made(A, 3))
    body = ["t = [slice(None)] * 2", "t[1] = slice(1, None)", "x = a[tuple(t)]", "t[0] = 2", "return x, a[tuple(t)]"]
    check_statements("a", *body, make=made(A))
    check_statements("a", "n = (*a.shape, 2)", "b = np.zeros(n)", "x, *rest = n", "return b, rest[0], x", make=made(A))
    body = ["s = 0.0", "for i, j in np.ndindex(*a.shape):", "    s += a[i, j] * i", "return s"]
    check_statements("a", *body, make=made(A), tolerance=1e-14)


def test_one_element_after_the_other() -> None:
    body = ["s = 0.0", "for (i, j), x in np.ndenumerate(a):", "    s = s * 0.5 + i * x + j", "return s"]
    check_statements("a", *body, make=made(A))


def test_pieces() -> None:
    check_batch(
        [
            "np.piecewise(v, [v < 0.5, v >= 1], [lambda x: x * 2, 1.0])",
            "np.piecewise(v, [v < 0.5, v < 1], [lambda x: x * 2, lambda x: -x, 7])",
            "np.piecewise(a, [a > 3], [np.sqrt, np.negative])",
        ],
        made(A, V),
        header="a, v",
    )


def test_padding_with_constants() -> None:
    values = ["2", "(3, 4)", "((1, 2), (3, 4))"]
    check_batch([f"np.pad(a, (1, 2), constant_values={value})" for value in values], made(A))
    check_batch(["np.pad(a, ((1, 0), (2, 3)), 'constant', constant_values=(x, 1))"], made(A, 0.5), header="a, x")


def test_python_objects() -> None:
    for dtype in ("bool", "int8", "int64", "float32", "float64", "complex64"):
        values = ordinary(dtype, (3, 4))
        check_batch(["a.tolist()", "a[0].tolist()", "a.item(3)", "a.item(1, 2)", "a[0, 0].item()"], made(values))
    check_statements("a", "return a.item()", make=made(A), native=False)


def test_spaced_points() -> None:
    expressions = [
        "np.linspace(0, 1, n, retstep=True)", "np.linspace(0, 1, n, endpoint=False)", "np.linspace(2, 3, num=1)",
        "np.linspace(1, 2, 0)", "np.linspace(v, v * 2, 4)", "np.linspace(v, 1, 4, axis=1)",
        "np.linspace(0, v, 3, retstep=True)", "np.linspace(0, 10, n, dtype=int)",
        "np.linspace(x, x, n, retstep=True)", "np.linspace(0.1, 0.7, n, endpoint=False, retstep=True)",
        "np.linspace(5, 0, n)", "np.logspace(0, 2, n)", "np.logspace(0, 2, n, base=2.0, endpoint=False)",
        "np.geomspace(1, 1000, n)", "np.geomspace(-1.5, -20.0, n)", "np.geomspace(1.5, 20.0, n, endpoint=False)",
        "np.arange(0.0, 1.0, 0.1)", "np.arange(n, 0, -2)", "np.arange(1, n, 0.5)",
    ]  # fmt: skip
    check_batch(expressions, made(5, 0.3, V), 1e-14, "n, x, v")
