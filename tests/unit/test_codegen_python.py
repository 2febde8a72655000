"""The Python back end: its code gives what the interpreter gives, and reads as a person would have written it."""

from __future__ import annotations

import copy
import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

from weft.codegen.python import compile_python, generate
from weft.errors import Span
from weft.ir.expr import Dim, Op, Read, Var, integer
from weft.ir.interp import GuardFailed, run
from weft.ir.ops import OPERATIONS
from weft.ir.program import Alloc, ArrayOut, Buffer, Program, Return, Role, ScalarOut, SizeOf, Stmt, Symbol
from weft.ir.scalar import apply, convert
from weft.ir.text import parse
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType
from weft.runtime.descriptor import GuardFailed as Refused


def same(first, second):
    """Equal in value and in type, exactly or up to the reassociation of sums."""
    assert type(first) is type(second), (first, second)
    if isinstance(first, (tuple, list)):
        assert len(first) == len(second)
        for one, other in zip(first, second):
            same(one, other)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype and first.shape == second.shape
        np.testing.assert_allclose(first, second, rtol=1e-6 if first.dtype.itemsize == 4 else 1e-12)
    elif isinstance(first, (float, complex, np.inexact)):
        np.testing.assert_allclose(first, second, rtol=1e-12)
    else:
        assert first == second, (first, second)


def outcome(function, arguments):
    try:
        return function(arguments), None
    except (GuardFailed, Refused):
        return None, "guard"
    except ArithmeticError as problem:
        return None, type(problem).__name__
    except (IndexError, ValueError) as problem:
        return None, (type(problem), str(problem))


def check(text, **arguments):
    """Interpreter and generated code agree on the result, on what they did to the arguments, and on exceptions."""
    program = parse(text)
    function = compile_python(program)
    theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = outcome(lambda values: run(program, values), theirs)
    got = outcome(lambda values: function(*(values[name] for name in program.params)), ours)
    assert expected[1] == got[1], generate(program)
    if expected[1] is None:
        same(expected[0], got[0])
        for name in arguments:
            same(theirs[name], ours[name])
    return generate(program)


def numbers(*shape, dtype="f8", seed=0):
    values = np.random.default_rng(seed).integers(1, 9, size=shape)
    return (values / (4 if np.dtype(dtype).kind in "fc" else 1)).astype(dtype)


MATMUL = """
program matmul(a, b):
  size n = a.shape[0]
  size m = a.shape[1]
  size k = b.shape[1]
  param a: f64[n, m] strided
  param b: f64[m, k] strided
  result c: f64[n, k]
  output #0 = array c
  alloc c
  c[i, j] = sum[l: 0 <= l < m] a[i, l] * b[l, j]   for i: 0 <= i < n, j: 0 <= j < k
  return #0
"""


def test_matrix_product_reads_as_one():
    source = check(MATMUL, a=numbers(3, 4), b=numbers(4, 5))
    assert "c = a @ b" in source
    check(MATMUL, a=numbers(0, 4), b=numbers(4, 5))
    check(MATMUL, a=numbers(3, 0), b=numbers(0, 5))
    check(MATMUL, a=numbers(4, 3).T, b=numbers(8, 5)[::2])
    check(MATMUL, a=numbers(3, 4), b=numbers(5, 5))  # a failed guard for both


@pytest.mark.parametrize(
    "left, right, text",
    [
        ("a[i, l]", "b[j, l]", "a @ b.T"),
        ("a[l, i]", "b[l, j]", "a.T @ b"),
        ("a[l, i]", "b[j, l]", "a.T @ b.T"),
        ("b[l, j]", "a[i, l]", "a @ b"),
        ("a[i, l]", "(b[l, j] + 1.0_f64)", "a @ (b + 1.0)"),
    ],
)
def test_products_by_index_maps(left, right, text):
    source = MATMUL.replace("a[i, l] * b[l, j]", f"{left} * {right}")
    source = source.replace("param b: f64[m, k]", "param b: f64[n, n]").replace("size k = b.shape[1]\n", "")
    source = source.replace("f64[n, k]", "f64[n, n]").replace("a: f64[n, m]", "a: f64[n, n]").replace("< k", "< n")
    source = source.replace("  size m = a.shape[1]\n", "").replace("< m", "< n")
    assert text in check(source, a=numbers(4, 4), b=numbers(4, 4, seed=1))


STENCIL = """
program jacobi(a, b):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] strided
  param b: f64[n, m] strided
  output #0 = None
  DISJOINT
  b[i, j] = 0.25_f64 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])   for i: 1 <= i < n - 1, SECOND
  return #0
""".replace("SECOND", "j: 1 <= j < m - 1")


@pytest.mark.parametrize("shape", [(5, 6), (3, 3), (2, 5), (1, 1), (0, 4), (4, 0)])
def test_stencil_is_slices(shape):
    source = check(STENCIL.replace("  DISJOINT\n", "  disjoint a, b\n"), a=numbers(*shape), b=numbers(*shape, seed=1))
    assert "b[1:n - 1, 1:m - 1] = 0.25 * (a[0:n - 2, 1:m - 1]" in source
    assert "for " not in source


def test_arguments_that_share_memory_are_refused_only_where_assumed_apart():
    shared = numbers(5, 5)
    program = parse(STENCIL.replace("  DISJOINT\n", "  disjoint a, b\n"))
    with pytest.raises(Refused):
        compile_python(program)(shared, shared)
    free = parse(STENCIL.replace("  DISJOINT\n", ""))
    expected, got = shared.copy(), shared.copy()
    run(free, {"a": expected, "b": expected})
    compile_python(free)(got, got)
    same(expected, got)


WIDE = """
program wide(a, b, n):
  size m = a.shape[0]
  symbol n = argument n
  param a: f64[m] strided
  param b: f64[m] strided
  output #0 = None
  b[i] = a[i] + a[i + 4]   for i: 0 <= i < n - 4
  return #0
"""


@pytest.mark.parametrize("n", [-3, 0, 1, 3, 4, 5, 9])
def test_empty_domains_with_negative_bounds_touch_nothing(n):
    source = check(WIDE, a=numbers(9), b=numbers(9, seed=1), n=n)
    assert "if 0 < n - 4:" in source


@pytest.mark.parametrize("n", [-2, 0, 1, 2, 7])
def test_empty_reductions_are_the_identity(n):
    text = """
program total(a, n):
  size m = a.shape[0]
  symbol n = argument n
  param a: f64[m] strided
  local s: f64
  local t: f64
  output #0 = tuple (scalar s, scalar t)
  s = sum[i: 0 <= i < n - 2] a[i + 2]
  t = max[i: 1 <= i < n] a[i]
  return #0
"""
    check(text, a=numbers(9), n=n)


SIMULTANEOUS = """
program shift(a):
  size n = a.shape[0]
  param a: f64[n] strided
  output #0 = array a
  a[i] = VALUE   for i: 1 <= i < n - 1
  return #0
"""


@pytest.mark.parametrize(
    "value",
    [
        "a[i - 1]",
        "a[i + 1] + a[i - 1]",
        "a[n - 1 - i]",
        "select(a[i] < 1.0_f64, a[i - 1], a[n - 1 - i])",
        "a[i] + sum[k: 0 <= k < i] a[k]",
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_right_side_is_read_before_the_left_is_written(value, n):
    check(SIMULTANEOUS.replace("VALUE", value), a=numbers(n))


def test_triangle_is_a_loop_of_slices():
    text = """
program triangle(d, c):
  size n = d.shape[0]
  size m = d.shape[1]
  param d: f64[n, m] strided
  param c: f64[m, m] strided
  output #0 = None
  disjoint c, d
  c[i, j] = sum[k: 0 <= k < n] d[k, i] * d[k, j]   for i: 0 <= i < m - 1, j: i + 1 <= j < m
  return #0
"""
    source = check(text, d=numbers(4, 5), c=numbers(5, 5))
    assert "for i in range(m - 1):" in source and "c[i, i + 1:m] = d[:, i] @ d[:, i + 1:m]" in source


def test_rows_maxima_and_softmax():
    text = """
program softmax(x):
  size n = x.shape[0]
  size m = x.shape[1]
  param x: f32[n, m] strided
  local t: f32[n]
  local e: f32[n, m]
  local s: f32[n]
  result y: f32[n, m]
  output #0 = array y
  alloc t
  t[i] = max[j: 0 <= j < m] x[i, j]   for i: 0 <= i < n
  alloc e
  e[i, j] = exp(x[i, j] - t[i])   for i: 0 <= i < n, j: 0 <= j < m
  alloc s
  s[i] = sum[j: 0 <= j < m] e[i, j]   for i: 0 <= i < n
  alloc y
  y[i, j] = e[i, j] / s[i]   for i: 0 <= i < n, j: 0 <= j < m
  return #0
"""
    source = check(text, x=numbers(3, 5, dtype="f4"))
    assert "e / s[:, None]" in source
    check(text, x=numbers(0, 5, dtype="f4"))


def test_sparse_rows_over_plain_arrays():
    text = """
program spmv(indptr, indices, data, x):
  size n1 = indptr.shape[0]
  size nnz = data.shape[0]
  size m = x.shape[0]
  param indptr: i32[n1] C
  param indices: i32[nnz] C
  param data: f64[nnz] C
  param x: f64[m] C
  result y: f64[n1 - 1]
  output #0 = array y
  alloc y
  y[i] = sum[k: int(indptr[i]) <= k < int(indptr[i + 1])] data[k] * x[int(indices[k])]   for i: 0 <= i < n1 - 1
  return #0
"""
    arguments = dict(
        indptr=np.array([0, 2, 2, 5], "i4"),
        indices=np.array([0, 3, 1, 2, 3], "i4"),
        data=numbers(5),
        x=numbers(4, seed=1),
    )
    source = check(text, **arguments)
    assert "@ x[indices[" in source


def test_compressed_dimension():
    text = """
program sampled(ptr, idx, s, a, b):
  size n1 = ptr.shape[0]
  size nnz = idx.shape[0]
  size n = a.shape[0]
  size k = a.shape[1]
  size m = b.shape[1]
  param ptr: i64[n1] C
  param idx: i64[nnz] C
  param s: f64[nnz] C
  param a: f64[n, k] C
  param b: f64[k, m] C
  result out: f64[nnz]
  output #0 = array out
  alloc out
  out[p] = s[p] * sum[l: 0 <= l < k] a[i, l] * b[l, j]   for i: 0 <= i < n, j(p): csr(ptr, idx)[i]
  return #0
"""
    check(
        text,
        ptr=np.array([0, 2, 3]),
        idx=np.array([0, 2, 1]),
        s=numbers(3),
        a=numbers(2, 4),
        b=numbers(4, 3),
    )


def test_scatter_is_ufunc_at():
    text = """
program histogram(b, w, h):
  size n = b.shape[0]
  size m = h.shape[0]
  param b: i64[n] C
  param w: f64[n] C
  param h: f64[m] C
  output #0 = None
  disjoint h, w
  h[int(b[i])] += w[i] * 2.0_f64   for i: 0 <= i < n
  return #0
"""
    source = check(text, b=np.array([0, 2, 2, 1, 0]), w=numbers(5), h=numbers(3))
    assert "np.add.at(h, b, w * 2.0)" in source


def test_python_integers_never_wrap():
    text = """
program powers(n):
  symbol n = argument n
  local x: int
  output #0 = scalar x
  x = 1
  for i in 0 .. n:
    x = x * 1000
  return #0
"""
    program = parse(text)
    assert compile_python(program)(5) == 1000**5
    assert compile_python(program)(40) == 1000**40  # exact, where compiled code hands the call back


def test_list_arguments_are_copied_in_and_out():
    text = """
program double(v):
  size n = v.shape[0]
  param v: int[n] C
  output #0 = array v
  v[i] = v[i] * 2   for i: 0 <= i < n
  return #0
"""
    program = parse(text)
    values = [1, 2, 3]
    assert compile_python(program)(values) is values and values == [2, 4, 6]
    assert all(type(value) is int for value in values)
    large = [1, 2**62]
    with pytest.raises(Refused):  # the list is as it was: Python repeats the call
        compile_python(program)(large)
    assert large == [1, 2**62]


@pytest.mark.parametrize("dtype, literal", [("i1", "i8"), ("u1", "u8"), ("i4", "i32"), ("f4", "f32"), ("c8", "c64")])
def test_strong_types_keep_their_dtype(dtype, literal):
    value = "100" if dtype[0] in "iu" else "0.1"
    text = f"""
program mixed(a, s):
  size n = a.shape[0]
  param a: {literal}[n] C
  param s: {literal}
  local t: {literal}
  local u: {literal}
  result r: {literal}[n]
  output #0 = tuple (scalar t, scalar u, array r)
  t = s * {value}_{literal} + {value}_{literal}
  u = sum[i: 0 <= i < n] a[i] * {value}_{literal}
  alloc r
  r[i] = select(a[i] == s, {value}_{literal}, a[i] * t)   for i: 0 <= i < n
  return #0
"""
    a = numbers(6, dtype=dtype)
    check(text, a=a, s=a[0])


def test_checks_raise_what_python_would():
    """Where an argument has been written: else Python repeats the call."""
    text = """
program gather(a, idx):
  size n = a.shape[0]
  size m = idx.shape[0]
  param a: f64[n] C
  param idx: i64[m] C
  result r: f64[m]
  output #0 = array r
  a[0] = 2.0
  check 0 <= int(idx[i]) and int(idx[i]) < n else IndexError "index {0}, size {1}" {int(idx[i]), n}   for i: 0 <= i < m
  alloc r
  r[i] = a[int(idx[i])]   for i: 0 <= i < m
  return #0
"""
    check(text, a=numbers(4), idx=np.array([0, 3, 1]))
    source = check(text, a=numbers(4), idx=np.array([0, 9, 7]))
    assert ".all():" in source and "raise IndexError" in source


def test_control_flow_and_rebind():
    text = """
program walk(a, b, limit):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  param limit: float
  local s: f64
  local k: int
  output #0 = tuple (scalar s, scalar k)
  output #1 = None
  disjoint a, b
  k = 0
  s = 0.0_f64
  prelude:
    s = sum[i: 0 <= i < n] a[i]
  while k < 10:
    b[i] = a[i] * 0.5_f64   for i: 0 <= i < n
    rebind a, b = b, a
    k = k + 1
    if s < f64(limit):
      break
    if k == 8:
      return #1
  return #0
"""
    for limit in (3.0, 100.0, 0.0):
        check(text, a=numbers(5), b=numbers(5, seed=1), limit=limit)


@pytest.mark.parametrize("value", ["real(x[i])", "imag(x[i])", "f64(x[i])", "real(y[i])", "y[i]", "y[n - 1 - i]"])
def test_a_new_array_never_shares_memory_with_what_it_was_made_of(value):
    text = f"""
program parts(x, y):
  size n = x.shape[0]
  param x: c128[n] C
  param y: f64[n] C
  result t: f64[n]
  output #0 = array t
  alloc t
  t[i] = {value}   for i: 0 <= i < n
  x[i] = x[i] * 2.0_c128   for i: 0 <= i < n
  y[i] = 0.0_f64   for i: 0 <= i < n
  return #0
"""
    text = text.replace("2.0_c128", "complex(2.0_f64, 1.0_f64)")
    check(text, x=numbers(4, dtype="c16") * (1 + 2j), y=numbers(4, seed=1))


def test_names_of_python_and_of_the_generated_code_are_free_to_use():
    text = """
program np(max, range):
  size math = max.shape[0]
  param max: f64[math] C
  param range: f64[math] C
  result sign: f64[math]
  output #0 = array sign
  alloc sign
  sign[i] = max[i] + range[i]   for i: 0 <= i < math
  return #0
"""
    check(text, max=numbers(3), range=numbers(3, seed=1))


def test_views_and_lists_as_results():
    text = """
program views(a):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] strided
  output #0 = tuple (view (a[i, 1] for i: 0 <= i < n), TRANSPOSED, view (a[i, i] for i: 0 <= i < n), array a)
  return #0
""".replace("TRANSPOSED", "view (a[j, i] for i: 0 <= i < m, j: 0 <= j < n)")
    program = parse(text)
    a = numbers(3, 4)
    column, transposed, diagonal, same_object = compile_python(program)(a)
    np.testing.assert_array_equal(diagonal, np.diagonal(a))
    assert np.shares_memory(diagonal, a)
    assert same_object is a and np.shares_memory(column, a)
    np.testing.assert_array_equal(column, a[:, 1])
    np.testing.assert_array_equal(transposed, a.T)


def test_lines_of_the_source_are_named():
    program = parse(MATMUL)
    body = tuple(replace(node, span=Span("f.py", 7 + at, 0, 7 + at, 1)) for at, node in enumerate(program.body))
    source = generate(replace(program, body=body))
    assert "c = a @ b  # line 8" in source


SCALARS = [PYBOOL, INT, FLOAT, COMPLEX, *(ScalarType(dtype) for dtype in DType)]
VALUES = {"b": [0, 1], "i": [-3, 0, 1, 2, 5], "u": [0, 1, 2, 5], "f": [-2.5, -0.0, 0.0, 0.5, 3.0], "c": [0j, 1.5 - 2j]}


def _meaningful(name, operation, of):
    """Whether the reference itself has the operation on this type and gives the type that the table says."""
    if of == PYBOOL and name not in ("and", "or", "not", "eq", "ne", "bitand", "bitor", "bitxor"):
        return False  # the front end turns Python's bools into integers first
    if of.dtype.kind == "c" and name in ("lt", "le", "gt", "ge", "complex"):
        return False  # Python refuses
    if not of.dtype.is_float and name in ("erf", "erfc", "gamma", "lgamma", "remainder", "norm2", "norm3"):
        return False
    value = convert(VALUES[of.dtype.kind][-1], of)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            apply(name, [value] * operation.arity, operation.result_type(of))
    except (AssertionError, TypeError, KeyError, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "select"])
def test_operation_on_every_type(name):
    """A scalar and an array statement for each type the operation has, on all pairs of awkward values."""
    for of in SCALARS:
        if _meaningful(name, OPERATIONS[name], of):
            compare_operation(name, of)


def operation_program(name, of, result, rank):
    """x and y of this rank --> r = name(x, y)."""
    shape, index = (Var("n"),) * rank, (Var("i"),) * rank
    names = ("x", "y", "z")[: OPERATIONS[name].arity]
    params = tuple(Buffer(x, of, shape, Role.PARAM) for x in names)
    value = Op(name, tuple(Read(x, index, of) for x in names), result)
    domain = tuple(Dim("i", integer(0), Var("n")) for _ in range(rank))
    body = (Alloc("r"),) * rank + (Stmt(domain, "r", index, value), Return(0))
    target = Buffer("r", result, shape, Role.RESULT if rank else Role.LOCAL)
    symbols = (Symbol("n", SizeOf("x", 0)),) * rank
    out = ArrayOut("r") if rank else ScalarOut("r")
    return Program("f", names, symbols, (*params, target), (), body, (out,))


def compare_operation(name, of):
    operation = OPERATIONS[name]
    result = operation.result_type(of)
    values = VALUES[of.dtype.kind]
    if name in ("shl", "shr"):
        values = [value for value in values if value >= 0]
    pairs = list(itertools.product(values, repeat=operation.arity))
    if name == "pow" and of.dtype.is_integer:
        pairs = [pair for pair in pairs if pair[1] >= 0]
    scalar, array = (operation_program(name, of, result, rank) for rank in (0, 1))
    columns = [np.array(column, dtype=of.dtype.numpy) for column in zip(*pairs)]
    calls = [(array, columns)] + [(scalar, [convert(value, of) for value in pair]) for pair in pairs]
    functions = {id(program): compile_python(program) for program in (scalar, array)}
    for program, arguments in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = run(program, dict(zip(program.params, arguments)))
            got = functions[id(program)](*arguments)
        assert type(expected) is type(got), (name, of, arguments, generate(program))
        assert getattr(expected, "dtype", None) == getattr(got, "dtype", None), (name, of, generate(program))
        np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=f"{name} {of} {arguments}")
