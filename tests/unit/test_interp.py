"""The reference interpreter against plain Python and NumPy, on programs written in the text form."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir.interp import GuardFailed, IntegerOverflow, run
from weft.ir.scalar import apply, convert, fold
from weft.ir.text import parse
from weft.ir.types import F64, FLOAT, I64, INT, DType, ScalarType
from weft.ir.verify import verify

MATMUL = """
program matmul(a, b):
  size a_0 = a.shape[0]
  size a_1 = a.shape[1]
  size b_0 = b.shape[0]
  size b_1 = b.shape[1]
  param a: f64[a_0, a_1] strided
  param b: f64[b_0, b_1] strided
  result t: f64[a_0, b_1]
  output #0 = array t
  guard a_1 == b_0 else ValueError "mismatch {0} {1}" {a_1, b_0}

  alloc t
  t[i, j] = sum[k: 0 <= k < a_1] a[i, k] * b[k, j]   for i: 0 <= i < a_0, j: 0 <= j < b_1
  return #0
"""


def program(text):
    result = parse(text)
    verify(result)
    return result


def scalar_program(body, local="", params="x", declare="param x: float", output="scalar r"):
    return program(f"""
program f({params}):
  {declare}
  {local}
  output #0 = {output}

{body}
  return #0
""")


def test_matmul_of_strided_views():
    rng = np.random.default_rng(0)
    a, b = rng.random((6, 4))[::2], rng.random((5, 4)).T
    np.testing.assert_allclose(run(program(MATMUL), {"a": a, "b": b}), a @ b)


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 1), (1, 1))])
def test_matmul_of_empty_and_single(shapes):
    a, b = np.ones(shapes[0]), np.ones(shapes[1])
    np.testing.assert_array_equal(run(program(MATMUL), {"a": a, "b": b}), a @ b)


def test_guards():
    p = program(MATMUL)
    good = np.ones((3, 3))
    for bad in (np.ones((2, 3)), np.ones((3, 3), np.float32), np.ones(3), 1.0):
        with pytest.raises(GuardFailed):
            run(p, {"a": good, "b": bad})
    with pytest.raises(GuardFailed, match="mismatch 3 2"):
        run(p, {"a": good, "b": np.ones((2, 3))})


def test_layout_and_disjointness_are_guards():
    p = program("""
program f(a, b):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  disjoint a, b
  output #0 = None

  a[i] = b[i]   for i: 0 <= i < n
  return #0
""")
    a = np.arange(8.0)
    assert run(p, {"a": a, "b": np.ones(8)}) is None
    assert a.sum() == 8
    with pytest.raises(GuardFailed, match="share"):
        run(p, {"a": a[:4], "b": a[2:6]})
    with pytest.raises(GuardFailed, match="layout"):
        run(p, {"a": a[::2], "b": np.ones(4)})
    with pytest.raises(GuardFailed, match="shape"):
        run(p, {"a": a, "b": np.ones(4)})
    a.setflags(write=False)
    with pytest.raises(GuardFailed, match="read-only"):
        run(p, {"a": a, "b": np.ones(8)})


def test_a_statement_is_simultaneous():
    p = program("""
program shift(a):
  size n = a.shape[0]
  param a: f64[n] C
  output #0 = array a

  a[i] = a[i - 1] + 1.0_f64   for i: 1 <= i < n
  return #0
""")
    a = np.arange(5.0) * 3
    expected = a.copy()
    expected[1:] = expected[:-1] + 1
    assert run(p, {"a": a}) is a
    np.testing.assert_array_equal(a, expected)


def test_a_loop_is_sequential():
    p = program("""
program shift(a):
  size n = a.shape[0]
  param a: f64[n] C
  output #0 = None

  for i in 1 .. n:
    a[i] = a[i - 1] + 1.0_f64
  return #0
""")
    a = np.zeros(5)
    run(p, {"a": a})
    np.testing.assert_array_equal(a, [0, 1, 2, 3, 4])


def test_steps_and_bounds_of_dimensions():
    p = program("""
program f(n):
  symbol n = argument n
  result t: int[n, n]
  output #0 = array t

  alloc t zero
  t[i, j] = i * 10 + j   for i: n - 1 >= i > 0 step -2, j: 0 <= j < i step 2
  return #0
""")
    expected = np.zeros((6, 6), int)
    for i in range(5, 0, -2):
        for j in range(0, i, 2):
            expected[i, j] = i * 10 + j
    np.testing.assert_array_equal(run(p, {"n": 6}), expected)


def test_reducing_statement_hits_elements_many_times():
    p = program("""
program histogram(x, h):
  size n = x.shape[0]
  size m = h.shape[0]
  param x: i64[n] C
  param h: i64[m] C
  output #0 = array h

  h[x[i]] += 1_i64   for i: 0 <= i < n
  return #0
""")
    x = np.array([0, 2, 2, 1, 2])
    np.testing.assert_array_equal(run(p, {"x": x, "h": np.zeros(3, int)}), [1, 1, 3])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("  a[i + 1] = 1.0_f64   for i: 0 <= i < n", "outside shape"),
        ("  a[i] = a[i - 1]   for i: 0 <= i < n", "outside shape"),
        ("  a[i // 2] = 1.0_f64   for i: 0 <= i < n", "written twice"),
        ("  alloc t\n  t[0] = 1.0_f64\n  a[0] = t[1]", "read before it is written"),
        ("  a[0] = f64(s)", "read before it is written"),
        ("  parallel i in 0 .. n - 1:\n    a[i + 1] = a[i]", "parallel iterations"),
        ("  parallel i in 0 .. n:\n    a[0] = f64(i)", "parallel iterations"),
    ],
)
@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
def test_compiler_bugs_are_noticed(body, reason, order):
    p = parse(f"""
program f(a):
  size n = a.shape[0]
  param a: f64[n] C
  local t: f64[n]
  local s: float
  output #0 = None

{body}
  return #0
""")
    with pytest.raises(AssertionError, match=reason):
        run(p, {"a": np.ones(4)}, order=order)


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
def test_lowered_sum_in_blocks(order):
    p = parse("""
program total(a):
  size n = a.shape[0]
  param a: f64[n] C
  local p: f64[(n + 3) // 4]
  local s: f64
  local total: f64
  output #0 = scalar total

  alloc p
  parallel b in 0 .. (n + 3) // 4 work n:
    s = 0.0_f64
    vector i in 4 * b .. minimum(4 * b + 4, n) reducing s by add:
      s = s + a[i]
    p[b] = s
  total = 0.0_f64
  for c in 0 .. (n + 3) // 4:
    total = total + p[c]
  return #0
""")
    a = np.random.default_rng(1).random(11)
    result = run(p, {"a": a}, order=order)
    assert isinstance(result, np.float64)
    np.testing.assert_allclose(result, a.sum())


def test_a_private_scalar_is_forgotten_between_parallel_iterations():
    p = parse("""
program f(a):
  size n = a.shape[0]
  param a: f64[n] C
  local s: f64
  output #0 = None

  parallel i in 0 .. n:
    if i == 0:
      s = 1.0_f64
    a[i] = s
  return #0
""")
    with pytest.raises(AssertionError, match="before it is written"):
        run(p, {"a": np.ones(3)})


def test_control_flow():
    p = program("""
program collatz(n):
  param n: int
  local steps: int
  local odd: pybool
  output #0 = scalar steps
  output #1 = const "'too long'"

  steps = 0
  prelude:
    odd = n % 2 == 1
  while n != 1:
    steps = steps + 1
    if steps > 1000:
      return #1
    if odd:
      n = 3 * n + 1
      continue
    n = n // 2
  return #0
""")
    assert run(p, {"n": 27}) == 111
    assert run(p, {"n": 0}) == "too long"


def test_break_and_search():
    p = program("""
program find(a, x):
  size n = a.shape[0]
  param a: f64[n] C
  param x: float
  local where: int
  output #0 = scalar where

  where = -1
  for i in 0 .. n:
    if a[i] == f64(x):
      where = i
      break
  return #0
""")
    a = np.array([3.0, 1.0, 4.0, 1.0])
    assert run(p, {"a": a, "x": 1.0}) == 1
    assert run(p, {"a": a, "x": 9.0}) == -1


def test_checks_raise_with_message():
    p = program("""
program pick(a, k):
  size n = a.shape[0]
  symbol k = argument k
  param a: f64[n] C
  local r: f64
  output #0 = scalar r

  check 0 <= k and k < n else IndexError "index {0} is out of bounds for axis 0 with size {1}" {k, n}
  r = a[k]
  return #0
""")
    a = np.arange(3.0)
    assert run(p, {"a": a, "k": 2}) == 2.0
    with pytest.raises(IndexError, match="^index 3 is out of bounds for axis 0 with size 3$"):
        run(p, {"a": a, "k": 3})


def test_select_is_lazy_and_conditional_store():
    p = program("""
program clip(a):
  size n = a.shape[0]
  param a: f64[n] C
  output #0 = None

  a[i] = select(i > 0, a[i - 1], a[i])   for i: 0 <= i < n
  return #0
""")
    a = np.arange(4.0)
    run(p, {"a": a})
    np.testing.assert_array_equal(a, [0, 0, 1, 2])


def test_results_weak_strong_tuple_list():
    p = program("""
program f(x, y):
  param x: float
  param y: f32
  result t: i64[2]
  output #0 = tuple(scalar x, list(scalar y, None), list t, array t)

  alloc t
  t[i] = i64(i)   for i: 0 <= i < 2
  return #0
""")
    x, (y, none), as_list, array = run(p, {"x": 1.5, "y": np.float32(2.5)})
    assert (type(x), type(y), none, as_list) == (float, np.float32, None, [0, 1])
    np.testing.assert_array_equal(array, [0, 1])
    with pytest.raises(GuardFailed):
        run(p, {"x": np.float64(1.5), "y": np.float32(2.5)})


def test_views_of_an_argument():
    p = program("""
program f(a):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] strided
  output #0 = tuple(view(a[n - 1 - i, 2 * j] for j: 0 <= j < m // 2, i: 0 <= i < n), view(a[k, k] for k: 0 <= k < 2))

  return #0
""")
    a = np.arange(24.0).reshape(4, 6)[:, ::-1]
    flipped, diagonal = run(p, {"a": a})
    np.testing.assert_array_equal(flipped, a[::-1, ::2].T)
    np.testing.assert_array_equal(diagonal, np.diag(a)[:2])
    flipped[0, 0] = -1
    assert a[3, 0] == -1


def test_lists_are_copied_in_and_out():
    p = program("""
program f(a):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: float[n, m] C
  output #0 = array a

  a[i, j] = a[i, j] * 2.0   for i: 0 <= i < n, j: 0 <= j < m
  return #0
""")
    a = [[1.0, 2.0], [3.0, 4.0]]
    row = a[1]
    assert run(p, {"a": a}) is a
    assert a == [[2.0, 4.0], [6.0, 8.0]] and a[1] is row and type(row[0]) is float


def test_rebind_swaps_memory():
    p = program("""
program f(a, b):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  output #0 = tuple(array a, array b)

  rebind a, b = b, a
  a[i] = 7.0_f64   for i: 0 <= i < n
  return #0
""")
    a, b = np.zeros(2), np.ones(2)
    first, second = run(p, {"a": a, "b": b})
    assert first is b and second is a and b[0] == 7 and a[0] == 0


def test_library_routine():
    """Strided operands, a batch, an input that is overwritten, and the status."""
    p = program("""
program f(a):
  size m = a.shape[0]
  size n = a.shape[1]
  param a: f64[m, n, n] C
  local ok: bool
  result d: f64[m]
  result t: f64[m, n]
  result x: f64[n, n]
  output #0 = tuple(array d, array t, array x, scalar ok)

  alloc d
  library det {a[q, j, i] for i: 0 <= i < n, j: 0 <= j < n} gives {d[m - 1 - q]}   for q: 0 <= q < m
  alloc x
  library inv {a[0, e, f] for e: 0 <= e < n, f: 0 <= f < n} gives {x[g, h] for g: 0 <= g < n, h: 0 <= h < n} status ok
  alloc t
  library qr_r_raw {a[r, u, v] for u: 0 <= u < n, v: 0 <= v < n} gives {t[r, k] for k: 0 <= k < n}   for r: 0 <= r < m
  return #0
""")
    rng = np.random.default_rng(0)
    a = rng.random((3, 2, 2))
    before = a.copy()
    d, t, x, ok = run(p, {"a": a})
    np.testing.assert_allclose(d[::-1], np.linalg.det(before))
    np.testing.assert_array_equal(x, np.linalg.inv(before[0]))
    expected = [np.linalg.qr(matrix, "raw") for matrix in before]
    np.testing.assert_array_equal(a, [reflections.T for reflections, _ in expected])
    np.testing.assert_array_equal(t, [tau for _, tau in expected])
    assert ok
    assert not run(p, {"a": np.zeros((1, 2, 2))})[3]


def test_library_call_means_its_statement():
    p = parse("""
program f(a, b, c):
  size n = a.shape[0]
  param a: f64[n, n] C
  param b: f64[n, n] C
  param c: f64[n, n] C
  output #0 = None

  call gemm(a[i, k], b[k, j]): c[i, j] = sum[k: 0 <= k < n] a[i, k] * b[k, j]   for i: 0 <= i < n, j: 0 <= j < n
  return #0
""")
    a, b, c = np.random.default_rng(2).random((3, 4, 4))
    run(p, {"a": a, "b": b, "c": c})
    np.testing.assert_allclose(c, a @ b)


# --- single values ---


def test_python_integers_overflow_and_numpy_integers_wrap():
    p = scalar_program("  r = x * x", "local r: int", declare="param x: int")
    assert run(p, {"x": 3_000_000_000}) == 9 * 10**18
    with pytest.raises(IntegerOverflow):
        run(p, {"x": 4_000_000_000})
    p = scalar_program("  r = x * x", "local r: i64", declare="param x: i64")
    assert run(p, {"x": np.int64(4_000_000_000)}) == np.int64(16 * 10**18 - 2**64)


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("floordiv", (-7, 2), -4),
        ("mod", (-7, 2), 1),
        ("floordiv", (7, 0), 0),
        ("mod", (7, 0), 0),
        ("fmod", (-7, 2), -1),
        ("pow", (2, 62), 2**62),
        ("pow", (-2, 63), -(2**63)),
        ("shl", (1, 62), 2**62),
        ("shr", (-5, 70), -1),
        ("sign", (-5,), -1),
        ("invert", (5,), -6),
        ("gcd", (12, -18), 6),
    ],
)
def test_exact_integers(op, values, expected):
    result = apply(op, values, INT)
    assert result == expected and type(result) is int


@pytest.mark.parametrize(
    ("op", "values"), [("pow", (2, 63)), ("pow", (3, 10**9)), ("shl", (1, 63)), ("neg", (-(2**63),))]
)
def test_overflow(op, values):
    with pytest.raises(IntegerOverflow):
        apply(op, values, INT)


@pytest.mark.parametrize("target", list(DType))
@pytest.mark.parametrize("value", [True, np.int8(-3), np.uint64(2**63), 1.75, np.float32(-2.5), 2 + 1j, 0])
def test_conversion_is_astype(value, target):
    with np.errstate(all="ignore"):
        source = np.asarray(value)
        expected = (source if target.kind in "cb" else source.real).astype(target.numpy)[()]
    result = convert(value, ScalarType(target))
    assert result == expected and result.dtype == target.numpy


def test_conversion_to_a_python_integer():
    assert convert(-2.9, INT) == -2 and type(convert(np.float32(3.5), INT)) is int
    for value in (1e30, np.inf, np.nan, np.uint64(2**63)):
        with pytest.raises(IntegerOverflow):
            convert(value, INT)


def test_folds():
    values = [np.float64(v) for v in (3.0, 1.0, np.nan, 1.0, np.nan)]
    assert fold("argmin", values[:2], F64) == 1
    assert fold("argmin", values, F64) == np.argmin(values) == 2
    assert fold("argmax", [1, 3, 3], INT) == 1
    assert np.isnan(fold("maximum", values, F64))
    assert fold("minimum", [], I64) == np.iinfo(np.int64).max
    assert type(fold("add", [1.0, 2.0], FLOAT)) is float
    assert fold("mul", [], INT) == 1


def test_wrong_result_type_is_noticed():
    with pytest.raises(AssertionError, match="truediv"):
        apply("truediv", (np.int64(1), np.int64(2)), I64)


# --- compressed dimensions ---

SDDMM = """
program sddmm(ptr, idx, s, a, b):
  size rows = a.shape[0]
  size inner = a.shape[1]
  size columns = b.shape[1]
  size nnz = s.shape[0]
  size ptr_0 = ptr.shape[0]
  param ptr: i32[ptr_0] C
  param idx: i32[nnz] C
  param s: f64[nnz] C
  param a: f64[rows, inner] C
  param b: f64[inner, columns] C
  result out: f64[nnz]
  output #0 = array out
  guard ptr_0 == rows + 1 else ValueError

  alloc out
  out[p] = s[p] * (sum[k: 0 <= k < inner] a[i, k] * b[k, j])   for i: 0 <= i < rows, j(p): csr(ptr, idx)[i]
  return #0
"""


def test_sampled_dense_product_over_a_csr_pattern():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    pattern = sparse.random(6, 5, density=0.4, format="csr", random_state=3)
    a, b = rng.random((6, 3)), rng.random((3, 5))
    p = program(SDDMM)
    arguments = {"ptr": pattern.indptr, "idx": pattern.indices, "s": pattern.data, "a": a, "b": b}
    out = run(p, arguments)
    dense = pattern.toarray() * (a @ b)
    result = sparse.csr_array((out, pattern.indices, pattern.indptr), shape=(6, 5)).toarray()
    np.testing.assert_allclose(result, dense)
    assert np.count_nonzero(dense) == pattern.nnz > 0


def test_sparse_matrix_vector_product_as_reduction_and_as_loop():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(7, 4, density=0.5, format="csr", random_state=4)
    x = np.arange(4.0)
    header = """
program spmv(ptr, idx, v, x):
  size n = ptr.shape[0]
  size nnz = v.shape[0]
  size m = x.shape[0]
  param ptr: i32[n] C
  param idx: i32[nnz] C
  param v: f64[nnz] C
  param x: f64[m] C
  result y: f64[n - 1]
  output #0 = array y

  alloc y zero
"""
    reduced = "  y[i] = sum[j(p): csr(ptr, idx)[i]] v[p] * x[j]   for i: 0 <= i < n - 1\n  return #0"
    looped = "  for i in 0 .. n - 1:\n    for j(p) in csr(ptr, idx)[i]:\n      y[i] = y[i] + v[p] * x[j]\n  return #0"
    arguments = {"ptr": matrix.indptr, "idx": matrix.indices, "v": matrix.data, "x": x}
    for body in (reduced, looped):
        np.testing.assert_allclose(run(program(header + body), arguments), matrix @ x)


def test_a_coordinate_twice_in_one_fibre_is_noticed():
    arguments = {
        "ptr": np.array([0, 2], np.int32),
        "idx": np.array([1, 1], np.int32),
        "s": np.ones(2),
        "a": np.ones((1, 1)),
        "b": np.ones((1, 2)),
    }
    with pytest.raises(AssertionError, match="twice in fibre"):
        run(program(SDDMM), arguments)
