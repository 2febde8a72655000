"""Forward: which temporaries disappear, and which must not."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import text
from weft.passes import forward

HEAD = """
program f(a, b, c, v):
  size n = a.shape[0]
  param a: f64[n, n] C
  param b: f64[n, n] C
  param c: f64[n] C
  param v: f64
  local s: f64
  local w: f64
  local t: f64[n, n]
  local u: f64[n]
  result r: f64[n, n]
  output #0 = tuple(array r, scalar s)

"""
TAIL = "  return #0\n"
FULL = "for i: 0 <= i < n, j: 0 <= j < n"


def calls() -> list[dict[str, object]]:
    rng = np.random.default_rng(1)
    out = []
    for n in (3, 1, 0):
        a, b = rng.standard_normal((2, n, n))
        out.append({"a": a, "b": b, "c": rng.standard_normal(n), "v": np.float64(0.5)})
    return out


def run(preserved, body_text: str, skip_empty: bool = False) -> str:
    program = HEAD + body_text + TAIL
    after = preserved(program, forward.run, calls=calls()[: 1 if skip_empty else None])
    return text.show(after)


INIT = "  s = 0.0_f64\n  alloc r\n  r[i0, j0] = 0.0_f64   for i0: 0 <= i0 < n, j0: 0 <= j0 < n\n"


def test_a_temporary_read_once_disappears(preserved) -> None:
    shown = run(
        preserved,
        f"  alloc t\n  t[i, j] = exp(a[i, j]) + b[i, j] * v   {FULL}\n  s = 0.0_f64\n  alloc r\n"
        "  r[p, q] = t[q, p] * 2.0_f64   for p: 0 <= p < n, q: 0 <= q < n\n",
    )
    assert "r[p, q] = (exp(a[q, p]) + b[q, p] * v) * 2.0_f64" in shown
    assert "local t" not in shown


def test_a_copy_is_written_at_once(preserved) -> None:
    shown = run(
        preserved,
        f"  alloc t\n  t[i, j] = sum[k: 0 <= k < n] a[i, k] * b[k, j]   {FULL}\n  s = 0.0_f64\n  alloc r\n"
        "  r[p, q] = t[p, q]   for p: 0 <= p < n, q: 0 <= q < n\n",
    )
    assert "r[p, q] = sum[k: 0 <= k < n] a[p, k] * b[k, q]" in shown


def test_element_wise_into_a_reduction(preserved) -> None:
    shown = run(
        preserved,
        f"  alloc r\n  r[i0, j0] = 0.0_f64   for i0: 0 <= i0 < n, j0: 0 <= j0 < n\n  alloc t\n"
        f"  t[i, j] = exp(a[i, j]) * b[i, j]   {FULL}\n"
        "  s = sum[p: 0 <= p < n, q: 0 <= q < n] t[p, q]\n",
    )
    assert "s = sum[p: 0 <= p < n, q: 0 <= q < n] exp(a[p, q]) * b[p, q]" in shown


def test_accumulation_into_an_argument(preserved) -> None:
    shown = run(
        preserved,
        INIT + f"  b[i, j] = b[i, j] * v   {FULL}\n"
        "  b[p, q] = b[p, q] + (sum[k: 0 <= k < n] a[p, k] * a[k, q])   for p: 0 <= p < n, q: 0 <= q < n\n",
    )
    assert "b[p, q] = b[p, q] * v + (sum[k: 0 <= k < n] a[p, k] * a[k, q])" in shown
    assert "b[i, j]" not in shown


STAYS = {
    "read at two places and dear": f"  t[i, j] = exp(a[i, j])   {FULL}\n"
    "  r[p, q] = t[p, q] + t[q, p]   for p: 0 <= p < n, q: 0 <= q < n\n",
    "every element is read n times": "  u[i] = exp(c[i])   for i: 0 <= i < n\n"
    "  r[p, q] = u[p]   for p: 0 <= p < n, q: 0 <= q < n\n",
    "a reduction into a reduction": "  u[i] = sum[k: 0 <= k < n] a[i, k] * v   for i: 0 <= i < n\n"
    "  s = sum[p: 0 <= p < n] u[p] * c[p]\n",
    "an input changes in between": f"  t[i, j] = exp(a[i, j])   {FULL}\n"
    "  a[i2, j2] = 1.0_f64   for i2: 0 <= i2 < n, j2: 0 <= j2 < n\n"
    "  r[p, q] = t[p, q]   for p: 0 <= p < n, q: 0 <= q < n\n",
    "written in two parts": "  u[i] = exp(c[i])   for i: 0 <= i < n\n"
    "  u[i2] = 3.0_f64   for i2: 0 <= i2 < minimum(n, 1)\n  s = sum[p: 0 <= p < n] u[p]\n",
    "changed inside the loop that reads it": f"  t[i, j] = exp(a[i, j])   {FULL}\n  for k in 0 .. n:\n"
    "    a[k, 0] = t[k, 0]\n    s = s + t[0, k]\n",
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(preserved, name: str) -> None:
    shown = run(preserved, INIT + "  alloc t\n  alloc u\n" + STAYS[name])
    producer = STAYS[name].split("=")[0].strip()
    assert producer in shown


def test_a_scalar_that_is_returned_stays(preserved) -> None:
    shown = run(preserved, "  alloc r\n  r[i, j] = 0.0_f64   for i: 0 <= i < n, j: 0 <= j < n\n  s = v * 3.0_f64\n")
    assert "s = v * 3.0_f64" in shown


def test_an_exit_shows_the_value(preserved) -> None:
    shown = run(preserved, INIT + "  s = v\n  if v > 0.0_f64:\n    return #0\n  s = s + 2.0_f64\n")
    assert "  s = v\n" in shown


def test_a_check_shows_the_value_of_an_argument(preserved) -> None:
    source = (
        INIT
        + "  for k in 0 .. n:\n    c[k] = 1.0_f64\n    check a[k, k] < 0.0_f64 else ValueError\n    c[k] = c[k] + v\n"
    )
    shown = run(preserved, source)
    assert "c[k] = 1.0_f64" in shown


def test_partial_producers_reach_only_what_they_wrote(preserved) -> None:
    inside = INIT + "  alloc u\n  u[i0_2] = 0.0_f64   for i0_2: 0 <= i0_2 < n\n  for k in 1 .. n:\n"
    shown = run(preserved, inside + "    u[k] = exp(c[k])\n    s = s + u[k - 1]\n")
    assert "u[k] = exp(c[k])" in shown


def test_literals_reach_readers_even_if_the_variable_stays(preserved) -> None:
    shown = run(preserved, INIT + "  w = 2.0_f64\n  for k in 0 .. n:\n    s = s + w\n    w = w + v\n", True)
    assert "w = 2.0_f64" in shown


def test_moving_over_a_write_assumes_disjoint_arguments(preserved) -> None:
    shown = run(
        preserved,
        INIT + "  alloc u\n  u[i] = exp(c[i])   for i: 0 <= i < n\n  a[i2, 0] = 1.0_f64   for i2: 0 <= i2 < n\n"
        "  s = sum[p: 0 <= p < n] u[p]\n",
    )
    assert "disjoint" in shown and "exp(c[p])" in shown


ROWS = """
program f(x, indptr, indices):
  size n = x.shape[0]
  size m = indices.shape[0]
  param x: f64[n] C
  param indptr: i64[n + 1] C
  param indices: i64[m] C
  local t: f64[m]
  result r: f64[n]
  output #0 = array r

  alloc t
  t[j] = {value}   for j: 0 <= j < m
  alloc r
  r[i] = sum[{sum}] t[k]   for i: 0 <= i < n
  return #0
"""


@pytest.mark.parametrize(
    ("value", "sum", "moves"),
    [
        ("x[int(indices[j])]", "k: int(indptr[i]) <= k < int(indptr[i + 1])", True),
        ("x[int(indices[j])] * 2.0_f64", "k: int(indptr[i]) <= k < int(indptr[i + 1])", False),
        ("x[int(indices[int(indices[j])])]", "k: 0 <= k < m", False),
    ],
)
def test_what_is_fetched_for_the_rows_of_a_compressed_array(preserved, value: str, sum: str, moves: bool) -> None:
    given = {"x": np.arange(3.0), "indptr": np.array([0, 2, 2, 4]), "indices": np.array([1, 2, 0, 1])}
    shown = text.show(preserved(ROWS.replace("{value}", value).replace("{sum}", sum), forward.run, calls=[given]))
    assert ("alloc t" not in shown) is moves


def test_a_literal_in_an_array_reaches_its_readers_where_the_array_stays(preserved) -> None:
    shown = run(preserved, INIT + "  r[i, 0] = v + r[i, 0]   for i: 0 <= i < n\n")
    assert "r[i, 0] = v + 0.0_f64" in shown and "r[i0, j0] = 0.0_f64" in shown


def test_a_literal_is_known_where_the_statements_between_leave_it(preserved) -> None:
    diagonal = INIT + "  r[d, d] = 1.0_f64   for d: 0 <= d < n\n"
    upper = "for i: 0 <= i < n, j: i + 1 <= j < n"
    assert "r[i, j] = 0.0_f64 + a[i, j]" in run(preserved, diagonal + f"  r[i, j] = r[i, j] + a[i, j]   {upper}\n")
    touched = diagonal + f"  r[i, j] = r[i, j] + a[i, j]   {upper.replace('i + 1', 'i')}\n"
    assert "r[i, j] = r[i, j] + a[i, j]" in run(preserved, touched)
    transposed = "  r[i, j] = r[i, j] + r[j, i] * v   " + upper + "\n"
    twice = run(preserved, diagonal + f"  r[p, q] = b[p, q]   for p: 0 <= p < n, q: p + 1 <= q < n\n{transposed}")
    assert "r[i, j] = b[i, j] + 0.0_f64 * v" in twice


def test_a_literal_in_an_argument_is_known_if_no_other_argument_shares_its_memory(preserved) -> None:
    body = "  c[i] = 1.0_f64   for i: 0 <= i < n\n  a[i2, 0] = v   for i2: 0 <= i2 < n\n"
    shown = run(preserved, INIT + body + "  b[q, 0] = c[q]   for q: 0 <= q < n\n")
    assert "b[q, 0] = c[q]" in shown or "disjoint c, a" in shown


def test_an_element_that_is_a_variable_is_read_there(preserved) -> None:
    body = "  alloc u\n  for k in 0 .. n:\n    s = s * 0.5_f64 + c[k]\n    u[k] = s\n    r[k, 0] = u[k] * v\n"
    shown = run(preserved, INIT + body + "  r[0, 0] = sum[q: 0 <= q < n] u[q]\n", skip_empty=True)
    assert "r[k, 0] = s * v" in shown
    changed = body.replace("    r[k", "    s = s + 1.0_f64\n    r[k")
    assert "r[k, 0] = u[k] * v" in run(
        preserved, INIT + changed + "  r[0, 0] = sum[q: 0 <= q < n] u[q]\n", skip_empty=True
    )


def test_a_scaled_vector_moves_into_a_product_with_a_matrix(preserved) -> None:
    body = "  alloc u\n  u[i] = v * c[i]   for i: 0 <= i < n\n"
    product = "  r[p, 0] = sum[k: 0 <= k < n] u[k] * a[k, p]   for p: 0 <= p < n\n"
    assert "v * c[k] * a[k, p]" in run(preserved, INIT + body + product)
    dearer = body.replace("v * c[i]", "c[i] * c[i]")
    assert "u[k] * a[k, p]" in run(preserved, INIT + dearer + product)
    # Without an array whose elements are each fetched for one term, the multiplication would be repeated for nothing.
    cached = "  r[p, 0] = sum[k: 0 <= k < n] u[k] * c[k] * c[p]   for p: 0 <= p < n\n"
    assert "u[k] * c[k]" in run(preserved, INIT + body + cached)
    matrices = INIT + f"  alloc t\n  t[i, j] = v * b[i, j]   {FULL}\n"
    product = "  r[p, q] = sum[k: 0 <= k < n] t[p, k] * a[k, q]   for p: 0 <= p < n, q: 0 <= q < n\n"
    assert "t[p, k] * a[k, q]" in run(preserved, matrices + product)


def test_a_number_moves_into_a_test_but_not_into_a_sum(preserved) -> None:
    body = INIT + "  w = v + 1.0_f64\n"
    used = "  r[i, 0] = w   for i: 0 <= i < n\n"
    tested = body + "  check all[k: 0 <= k < n] (c[k] * w != 0.0_f64 as bool) else ValueError\n" + used
    assert "c[k] * (v + 1.0_f64)" in run(preserved, tested)
    assert "c[k] * w" in run(preserved, body + "  s = sum[k: 0 <= k < n] c[k] * w\n" + used)


def test_an_update_passes_what_reads_other_elements(preserved) -> None:
    body = "  for k in 1 .. n:\n    c[k] = maximum(c[k], v)\n    w = c[k - 1]\n    c[k] = c[k] + w\n"
    assert "c[k] = maximum(c[k], v) + " in run(preserved, INIT + body, skip_empty=True)


def test_the_size_of_an_array_stays_before_its_alloc(preserved):
    """`n` is known and gets another value afterwards, but the first array takes its size from it."""
    program = """
program f():
  local n: int
  local one: f64[n]
  result two: f64[n]
  output #0 = array two

  n = 4
  alloc one
  one[i] = f64(i)   for i: 0 <= i < n
  n = 3
  alloc two
  two[j] = one[1 + j]   for j: 0 <= j < n
  return #0
"""
    after = text.show(preserved(program, forward.run, calls=[{}]))
    assert after.index("n = 4") < after.index("alloc one") < after.index("n = 3")
