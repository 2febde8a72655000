"""Footprints: the slices a block touches, as text and against a count of every point."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from weft.ir.expr import Dim, Op, Read, Reduce, Var, integer
from weft.ir.footprint import footprint
from weft.ir.index import Affine, expression
from weft.ir.program import Buffer, Role, Stmt
from weft.ir.scalar import apply
from weft.ir.text import parse, show_expr
from weft.ir.types import F64, INT

HEADER = """
program f(a, b, x, ptr, idx, v):
  size N = a.shape[0]
  size M = a.shape[1]
  size n = x.shape[0]
  size nnz = v.shape[0]
  param a: f64[N, M] C
  param b: f64[N, M] C
  param x: f64[n] C
  param ptr: i32[N + 1] C
  param idx: i32[nnz] C
  param v: f64[nnz] C
  output #0 = None

"""


def slices(line, **block):
    """The footprint of one statement as text: {"reads": {"a": "0:N, 1:2"}, ...}."""
    program = parse(HEADER + "  " + line + "\n  return #0\n")
    bounds = {name: (Var(lo), Var(hi)) for name, (lo, hi) in block.items()}
    found = footprint(program, program.body[0], bounds)

    def text(ranges):
        return ", ".join(f"{show_expr(r.lo)}:{show_expr(r.hi)}" + (f":{r.step}" if r.step != 1 else "") for r in ranges)

    return {name: text(r) for name, r in found.reads.items()}, {name: text(r) for name, r in found.writes.items()}


def test_the_halo_of_a_stencil_block():
    line = (
        "b[i, j] = a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]"
        "   for i: 1 <= i < N - 1, j: 1 <= j < M - 1"
    )
    reads, writes = slices(line, i=("i0", "i1"), j=("j0", "j1"))
    assert reads == {"a": "i0 - 1:i1 + 1, j0 - 1:j1 + 1"}
    assert writes == {"b": "i0:i1, j0:j1"}
    reads, writes = slices(line, i=("i0", "i1"))
    assert reads == {"a": "i0 - 1:i1 + 1, 0:M"}
    assert writes == {"b": "i0:i1, 1:M - 1"}


def test_the_triangular_product():
    line = "b[i, j] = sum[k: 0 <= k < N] a[k, i] * a[k, j]   for i: 0 <= i < M - 1, j: i + 1 <= j < M"
    reads, writes = slices(line, i=("i0", "i1"))
    assert reads == {"a": "0:N, i0:M"}
    assert writes == {"b": "i0:i1, i0 + 1:M"}


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("x[i] = x[n - 1 - i]   for i: 0 <= i < n", {"x": "n - i1:n - i0"}, {"x": "i0:i1"}),
        ("x[2 * i + 1] = v[4 * i]   for i: 0 <= i < n", {"v": "4 * i0:4 * i1 - 3:4"}, {"x": "2 * i0 + 1:2 * i1:2"}),
        ("x[i] = v[i // 2]   for i: 0 <= i < n", {"v": "i0 // 2:(i1 - 1) // 2 + 1"}, {"x": "i0:i1"}),
        ("x[i] = v[i % 4]   for i: 0 <= i < n", {"v": "0:4"}, {"x": "i0:i1"}),
        ("x[i] = v[minimum(i, 7)]   for i: 0 <= i < n", {"v": "minimum(i0, 7):minimum(i1 - 1, 7) + 1"}, {"x": "i0:i1"}),
        ("x[i] = v[idx[i]]   for i: 0 <= i < n", {"idx": "i0:i1", "v": "0:nnz"}, {"x": "i0:i1"}),
        ("x[idx[i]] += 1.0_f64   for i: 0 <= i < n", {"idx": "i0:i1", "x": "0:n"}, {"x": "0:n"}),
        ("x[i] = 1.0_f64   for j: 0 <= j < 1, i: n - 1 >= i > -1 step -1", {}, {"x": "i0:i1"}),
        ("x[i] = sum[k: 0 <= k < i step 3] v[k]   for i: 0 <= i < n", {"v": "0:i1 - 1:3"}, {"x": "i0:i1"}),
        ("x[i] = select(i > 0, x[i - 1], x[i])   for i: 0 <= i < n", {"x": "maximum(i0 - 1, 0):i1"}, {"x": "i0:i1"}),
        ("x[i] = v[0] + v[2]   for i: 0 <= i < n", {"v": "0:3:2"}, {"x": "i0:i1"}),
    ],
)
def test_index_maps(line, reads, writes):
    assert slices(line, i=("i0", "i1")) == (reads, writes)


def test_a_compressed_dimension_reads_the_entries_of_its_rows():
    line = "v[p] = v[p] * (sum[k: 0 <= k < M] a[i, k] * b[k, j])   for i: 0 <= i < N, j(p): csr(ptr, idx)[i]"
    reads, writes = slices(line, i=("i0", "i1"))
    assert writes == {"v": "int(ptr[i0]):int(ptr[i1])"}
    assert reads == {
        "ptr": "i0:i1 + 1",
        "idx": "int(ptr[i0]):int(ptr[i1])",
        "v": "int(ptr[i0]):int(ptr[i1])",
        "a": "i0:i1, 0:M",
        "b": "0:M, 0:M",
    }


# --- against a count of every point ---


def value(expr, env):
    if isinstance(expr, Var):
        return env[expr.name]
    if isinstance(expr, Op):
        return apply(expr.op, [value(arg, env) for arg in expr.args], INT)
    return expr.value


def points(dims, env):
    if not dims:
        yield dict(env)
        return
    dim = dims[0]
    for v in range(value(dim.lo, env), value(dim.hi, env), dim.step):
        yield from points(dims[1:], {**env, dim.var: v})


def linear(names):
    terms = st.tuples(*[st.integers(-3, 3) for _ in names])
    return st.builds(_linear, st.just(names), terms, st.integers(-4, 4))


def _linear(names, coefficients, constant):
    return expression(Affine.make(dict(zip(names, coefficients)), constant))


STEPS = st.sampled_from([1, 1, 2, -1])


@settings(max_examples=150, deadline=None)
@given(
    linear(()),
    linear(("i",)),
    linear(("i",)),
    linear(("i", "j")),
    linear(("i", "j", "k")),
    linear(("i", "j", "k")),
    STEPS,
    STEPS,
    st.integers(0, 6),
    st.integers(1, 4),
)
def test_the_hull_holds_every_element(j_lo, j_hi, k_lo, k_hi, write, read, j_step, k_step, i0, width):
    dims = (Dim("i", integer(0), integer(10)), Dim("j", j_lo, j_hi, j_step))
    inner = (Dim("k", k_lo, k_hi, k_step),)
    outer_write = _linear(("i", "j"), (1, 2), 0)
    product = Op("mul", (Read("r", (write,), F64), Read("r", (read,), F64)), F64)
    stmt = Stmt(dims, "w", (outer_write,), Reduce("add", inner, product))
    table = {name: Buffer(name, F64, (Var("n"),), Role.PARAM) for name in ("w", "r")}
    found = footprint(table, stmt, {"i": (Var("i0"), Var("i1"))})
    env = {"i0": i0, "i1": i0 + width}
    block = (Dim("i", integer(i0), integer(i0 + width)), *dims[1:])
    touched, written = list(points(block + inner, {})), list(points(block, {}))
    assume(touched)
    for name, ranges, indices, where in (
        ("r", found.reads, (write, read), touched),
        ("w", found.writes, (outer_write,), written),
    ):
        (axis,) = ranges[name]
        allowed = range(value(axis.lo, env), value(axis.hi, env), axis.step)
        for point, e in itertools.product(where, indices):
            assert value(e, point) in allowed
