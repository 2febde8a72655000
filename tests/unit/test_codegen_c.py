"""The C back end on whole programs: kernels against the reference interpreter, guards, failures, memory, the text."""

from __future__ import annotations

import copy
import math
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.unit.codegen import TOOLCHAIN, Missed, compiled, lowered, native
from weft.codegen import c
from weft.ir.interp import run
from weft.options import Options
from weft.runtime import threads

pytestmark = native


def both(text, *arguments, options=Options(), lists=(), tolerance=0.0):
    """Run a program in C and in the interpreter on equal arguments; values and changed arguments must agree."""
    function = compiled(text, options, lists)
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    actual = function(*mine)
    wanted = run(function.program, dict(zip(function.program.params, theirs)))
    agree(actual, wanted, tolerance)
    for one, other in zip(mine, theirs):
        agree(one, other, tolerance)
    return actual


def agree(actual, wanted, tolerance):
    if isinstance(wanted, (tuple, list)):
        assert type(actual) is type(wanted) and len(actual) == len(wanted)
        for one, other in zip(actual, wanted):
            agree(one, other, tolerance)
    elif isinstance(wanted, (np.ndarray, np.generic, float, complex)):
        assert type(actual) is type(wanted)
        assert np.asarray(actual).dtype == np.asarray(wanted).dtype and np.shape(actual) == np.shape(wanted)
        np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance)
    else:
        assert actual == wanted and type(actual) is type(wanted)


# --- arrays and loops -----------------------------------------------------------------------------------------------

STENCIL = """
program jacobi(a, b):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] {layout}
  param b: f64[n, m] {layout}
  disjoint a, b
  output #0 = None
  parallel i in 1 .. n - 1 work 10 * n * m:
    vector j in 1 .. m - 1:
      b[i, j] = 0.2_f64 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
  return #0
"""


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("shape", [(7, 9), (2, 2), (0, 5), (5, 0), (3, 3)])
def test_stencil_in_every_layout(layout, shape):
    rng = np.random.default_rng(1)
    a, b = rng.random(shape), rng.random(shape)
    if layout == "F":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif layout == "strided":
        a, b = rng.random((2 * shape[0], 3 * shape[1]))[::2, ::-3], rng.random((shape[1], shape[0])).T
    both(STENCIL.format(layout=layout), a, b)


def test_wrong_layout_or_overlap_is_a_guard():
    jacobi = compiled(STENCIL.format(layout="C"))
    a = np.ones((6, 6))
    for arguments in [
        (a.T[::2], a[::2]),
        (a, a),
        (a[:4], a[2:]),
        (np.asfortranarray(np.ones((4, 5))), np.ones((4, 5))),
    ]:
        with pytest.raises(Missed) as missed:
            jacobi(*arguments)
        assert missed.value.status == 1
    jacobi(a[:3], a[3:])
    jacobi(np.ones((1, 1))[::-1], np.ones((1, 1)))  # one element: any stride is contiguous
    jacobi(np.ones((0, 3))[:, ::-1], np.ones((0, 3)))


def test_vector_loops_become_vector_code(tmp_path):
    """gcc says so itself: stencil, axpy, clip and two reductions are vectorised, exp by the vector library too."""
    if TOOLCHAIN is None or TOOLCHAIN.kind != "gcc":
        pytest.skip("asks gcc")
    text = """
program v(a, x, y):
  size n = x.shape[0]
  param a: float
  param x: f64[n] C
  param y: f64[n] C
  local s: f64
  local m: f64
  disjoint x, y
  output #0 = tuple(scalar s, scalar m)
  vector i in 0 .. n:
    y[i] = f64(a) * x[i] + exp(y[i])
  vector q in 0 .. n:
    x[q] = minimum(maximum(x[q], -1.0_f64), f64(a)) * 2.0_f64
  s = 0.0_f64
  vector k in 0 .. n reducing s by add:
    s = s + x[k]
  m = -float.inf_f64
  vector l in 0 .. n reducing m by maximum:
    m = maximum(m, y[l])
  return #0
"""
    for program, loops in ((text, 4), (STENCIL.format(layout="C"), 1)):
        source = c.generate(lowered(program), Options(), c.CFeatures(libmvec=TOOLCHAIN.supports_libmvec)).text
        (tmp_path / "k.c").write_text(source)
        command = [*TOOLCHAIN.command, *TOOLCHAIN.flags, "-fopt-info-vec-optimized", "-o", "k.so", "k.c"]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
        lines = {int(line) for line in re.findall(r"k\.c:(\d+):\d+: optimized: loop vectorized", said)}
        wanted = [number for number, line in enumerate(source.splitlines(), 1) if "omp simd" in line]
        assert len(wanted) == loops
        for number in wanted:  # gcc names the loop's line or one of its body
            assert any(number <= line <= number + 6 for line in lines), (number, said, source)


def test_scalars_triangles_steps_and_dependence():
    both(
        """
program f(a, n):
  symbol n = argument n
  size m = a.shape[0]
  param a: f64[m] C
  local total: float
  local last: int
  output #0 = tuple(scalar total, scalar last)
  total = 0.0
  last = -1
  for i in 0 .. m:
    for j in i .. m step 2:
      total = total + float(a[j]) * float(i)
    a[i] = f64(total)
  for d in m - 1 .. 0 step -1:
    a[d] = a[d] - a[d - 1]
  for k in n .. 0 step -3:
    last = k
  return #0
""",
        np.arange(9.0),
        11,
    )


@pytest.mark.parametrize("kind", ["f64", "f32", "i64", "i32", "u8"])
@pytest.mark.parametrize("op", ["add", "mul", "minimum", "maximum"])
def test_reductions(kind, op):
    values = np.array(
        [3, 1, 2, 7, 5, 1, 9, 2, 4, 6, 1] * 5, kind.replace("i", "int").replace("u", "uint").replace("f", "float")
    )
    expression = {"add": "s + x[i]", "mul": "s * x[i]"}.get(op, f"{op}(s, x[i])")
    start = {"add": "0", "mul": "1", "minimum": "100", "maximum": "0"}[op]
    start = f"{start}.0" if kind[0] == "f" else start
    text = f"""
program r(x):
  size n = x.shape[0]
  param x: {kind}[n] C
  local s: {kind}
  output #0 = scalar s
  s = {start}_{kind}
  vector i in 0 .. n reducing s by {op}:
    s = {expression}
  return #0
"""
    for options in (Options(), Options(fp="strict")):
        both(text, values, options=options, tolerance=1e-6)
        both(text, values[:0], options=options)
    if kind[0] == "f" and op in ("minimum", "maximum"):
        spoiled = values.copy()
        spoiled[17] = np.nan
        assert math.isnan(both(text, spoiled))


def test_complex_sums_are_two_real_ones():
    text = """
program s(x):
  size n = x.shape[0]
  param x: {kind}[n] strided
  local s: {kind}
  output #0 = scalar s
  s = j(1.0, 0.0)_{kind}
  vector i in 0 .. n reducing s by add:
    s = s + x[i] * x[i]
  return #0
"""
    values = np.random.default_rng(0).random((41, 2)) @ np.array([1, 1j])
    for kind, numpy, tolerance in (("c128", np.complex128, 1e-14), ("c64", np.complex64, 1e-5)):
        program = text.format(kind=kind)
        both(program, values.astype(numpy)[::-2], tolerance=tolerance)
        both(program, values.astype(numpy)[:0])
        assert "reduction(+:k_re,k_im)" in compiled(program).source.text


def test_an_innermost_parallel_loop_is_a_vector_loop_too():
    text = """
program f(x):
  size n = x.shape[0]
  param x: f64[n] C
  output #0 = None
  parallel i in 1 .. n work 100 * n:
    x[i] = sqrt(x[i]) + f64(i)
  return #0
"""
    for options in (Options(), Options(parallel=False)):
        assert "#pragma omp simd" in compiled(text, options).source.text
        both(text, np.arange(5000.0), options=options)


def test_strict_keeps_the_order_of_a_sum():
    text = """
program s(x):
  size n = x.shape[0]
  param x: f64[n] C
  local s: f64
  output #0 = scalar s
  s = 0.0_f64
  vector i in 0 .. n reducing s by add:
    s = s + x[i]
  return #0
"""
    x = np.random.default_rng(0).random(1001)
    total = np.float64(0)
    for value in x:
        total += value
    assert compiled(text, Options(fp="strict"))(x) == total
    assert "simd" not in compiled(text, Options(fp="strict")).source.text
    assert "reduction(+:s)" in compiled(text).source.text


def test_logical_accumulators_and_masks():
    text = """
program f(x, m):
  size n = x.shape[0]
  param x: f64[n] C
  param m: bool[n] C
  local every: bool
  local some: bool
  output #0 = tuple(scalar every, scalar some)
  disjoint x, m
  every = bool.True
  some = bool.False
  vector i in 0 .. n reducing every by and, some by or:
    every = every and x[i] > 0.5_f64
    some = some or x[i] > 0.9_f64
  vector j in 0 .. n:
    m[j] = x[j] > 0.5_f64 and not x[j] > 0.8_f64 or m[j]
  return #0
"""
    rng = np.random.default_rng(3)
    x = rng.random(40)
    assert both(text, x, x > 0.95) == (np.False_, np.bool_((x > 0.9).any()))
    assert both(text, x * 0.1 + 0.6, x > 2) == (np.True_, np.False_)


# --- memory ---------------------------------------------------------------------------------------------------------


def test_local_arrays_results_and_views():
    flipped = "r[i, n - 1 - j]   for i: 0 <= i < m step 2, j: 0 <= j < n"
    text = f"""
program f(a, n):
  symbol n = argument n
  size m = a.shape[0]
  param a: f64[m] strided
  local t: f64[m, n]
  local small: f64[4]
  local row: f64[k]
  local k: int
  result r: f64[m, n]
  output #0 = tuple(array r, view({flipped}), view(a[q]   for q: 1 <= q < m), array a)
  alloc t
  alloc small zero
  alloc r zero
  for p in 0 .. m:
    k = p + 1
    alloc row
    for u in 0 .. k:
      row[u] = a[u]
    for v in 0 .. n:
      t[p, v] = row[p] + f64(v)
    small[p % 4] = small[p % 4] + row[0]
  parallel x in 0 .. m work m * n:
    vector y in 0 .. n:
      r[x, y] = t[x, y] * 2.0_f64 + small[x % 4]
  return #0
"""
    a = np.arange(14.0)[::2]
    function = compiled(text)
    result, view, rest, same = function(a, 5)
    wanted = run(function.program, {"a": a, "n": 5})
    for one, other in zip((result, view, rest, same), wanted):
        np.testing.assert_array_equal(one, other)
    assert same is a and np.shares_memory(view, result) and rest.base is not None and np.shares_memory(rest, a)
    assert [o.shape for o in function(a[:0], 5)] == [(0, 5), (0, 5), (0,), (0,)]


EXCHANGE = """
program f(a, steps{more}):
  symbol steps = argument steps
  size n = a.shape[0]
  param a: f64[n] strided
  {b}
  {c}
  output #0 = None
  {make}
  for i in 0 .. n:
    b[i] = a[i]
    c[i] = 0.0_f64
  for t in 0 .. steps:
    vector j in 1 .. n - 1:
      c[j] = b[j - 1] + b[j + 1]
    c[0] = b[0]
    c[n - 1] = b[n - 1]
    rebind b, c = c, b
  for k in 0 .. n:
    a[k] = b[k]
  return #0
"""


def test_exchanged_buffers_follow_their_memory():
    local = EXCHANGE.format(more="", b="local b: f64[n]", c="local c: f64[n]", make="alloc b\n  alloc c")
    of_caller = EXCHANGE.format(
        more=", b, c", b="param b: f64[n] strided", c="param c: f64[n] strided", make="disjoint a, b\n  disjoint a, c"
    ).replace("  output #0", "  disjoint b, c\n  output #0")
    of_caller = of_caller.replace("  disjoint a, b\n  disjoint a, c\n", "")
    for steps in range(5):
        both(local, np.arange(16.0)[::2], steps)
        both(of_caller, np.arange(16.0)[::2], steps, np.zeros(8), np.zeros(16)[::-2])


def test_memory_allocated_in_a_loop_is_released():
    """A buffer that changes hands each time around: what it denotes at the next allocation is the memory to release."""
    text = """
program f(n, steps):
  symbol n = argument n
  symbol steps = argument steps
  local a: f64[n]
  local b: f64[n]
  local s: f64
  output #0 = scalar s
  alloc a zero
  for t in 0 .. steps:
    alloc b
    vector j in 0 .. n:
      b[j] = a[j] + f64(j)
    rebind a, b = b, a
  s = a[n - 1]
  return #0
"""
    function = compiled(text)
    for steps in (0, 1, 2, 5, 1000):
        assert function(1000, steps) == 999.0 * steps
    from weft.runtime import dispatch

    core = dispatch.load_core()
    kept = core.scratch_kept
    function(1000, 1000)
    assert core.scratch_kept == kept


def test_exchanged_results_keep_their_owners():
    text = """
program f(n, steps):
  symbol n = argument n
  symbol steps = argument steps
  result a: f64[n]
  result b: f64[n]
  output #0 = array a
  alloc a zero
  alloc b zero
  for t in 0 .. steps:
    vector j in 0 .. n:
      b[j] = a[j] + f64(j)
    rebind a, b = b, a
  return #0
"""
    function = compiled(text)
    for steps in range(4):
        for _ in range(50):
            np.testing.assert_array_equal(function(6, steps), np.arange(6.0) * steps)


def test_no_memory_is_a_memory_error():
    function = compiled("""
program f(n):
  symbol n = argument n
  result a: f64[n, n]
  output #0 = array a
  alloc a
  return #0
""")
    for size in (2**38, 2**22):  # more elements than fit a word in bytes; more bytes than the machine has
        with pytest.raises(MemoryError):
            function(size)
    scratch = compiled("""
program f(n):
  symbol n = argument n
  local a: f64[n, n, n]
  output #0 = None
  alloc a
  a[0, 0, 0] = 1.0_f64
  return #0
""")
    with pytest.raises(MemoryError):
        scratch(2**30)
    assert scratch(2) is None


# --- failures -------------------------------------------------------------------------------------------------------

INDEXING = """
program f(a, k):
  size n = a.shape[0]
  param a: f64[n] C
  param k: i64[m] C
  size m = k.shape[0]
  output #0 = None
  {kind} i in 0 .. m{work}:
    check -n <= int(k[i]) and int(k[i]) < n else IndexError "index {{0}} of {{1}}" {{int(k[i]), n}}
    a[select(int(k[i]) < 0, int(k[i]) + n, int(k[i]))] = f64(i)
  return #0
"""


def test_a_failing_check_raises_with_its_values():
    function = compiled(INDEXING.format(kind="for", work=""))
    a = np.zeros(5)
    function(a, np.array([1, -1, 4]))
    np.testing.assert_array_equal(a, [0, 0, 0, 0, 2])
    with pytest.raises(IndexError, match="^index 5 of 5$"):
        function(a, np.array([0, 3, 5, 1]))
    np.testing.assert_array_equal(a, [0, 0, 0, 1, 2])  # a[0] = 0, a[3] = 1, then the exception


def test_the_lowest_failing_iteration_wins_in_parallel():
    function = compiled(INDEXING.format(kind="parallel", work=" work 1000000"))
    before = threads.get_num_threads()
    threads.set_num_threads(2)
    try:
        for first in (0, 17, 400, 799):
            k = np.arange(800)
            k[first:] = 10**6 + np.arange(800 - first)
            with pytest.raises(IndexError, match="^index 1000000 of"):
                function(np.zeros(800), k)
    finally:
        threads.set_num_threads(before)


def test_a_failing_check_without_effects_is_a_guard():
    function = compiled("""
program f(x):
  param x: float
  local r: float
  output #0 = scalar r
  check not x == 0.0 else ZeroDivisionError "division by zero"
  r = 1.0 / x
  return #0
""")
    assert function(4.0) == 0.25
    with pytest.raises(Missed) as missed:
        function(0.0)
    assert missed.value.status == 1


def test_overflow_after_a_write_is_left_to_python_where_arguments_are_small_enough_to_keep():
    function = compiled("""
program f(a, x):
  size n = a.shape[0]
  param a: f64[n] C
  param x: int
  output #0 = None
  parallel i in 0 .. n work 1000000:
    a[i] = f64(x * int(a[i]))
  return #0
""")
    a = np.ones(100)
    function(a, 2**62)
    assert a[0] == 2.0**62
    a = np.arange(100.0)
    with pytest.raises(Missed) as missed:
        function(a, 2**62)
    assert missed.value.status == 1
    assert (a == np.arange(100.0)).all()  # put back, for Python to repeat the call
    with pytest.raises(OverflowError):
        function(np.arange(2.0**20 + 1), 2**62)  # more than 8 MB


def test_integers_that_cannot_overflow_are_not_checked():
    text = """
program f(a, k):
  size n = a.shape[0]
  param a: f64[n] C
  param k: i32[n] C
  local count: int
  output #0 = scalar count
  count = 0
  vector i in 0 .. n reducing count by add:
    count = count + int(a[i] > 0.5_f64)
  vector j in 0 .. n:
    a[j] = f64((3 * j + 1) % 7) + f64(int(k[j]) * 2 - j)
  return #0
"""
    source = compiled(text).source.text
    assert source.count("#pragma omp simd") == 2
    assert source.count("_checked_i64(") == 2  # the definition, and one use after the first loop
    both(text, np.random.default_rng(0).random(33), np.arange(33, dtype=np.int32))


def test_indices_in_bounds_are_not_checked_again():
    """Negative indices of 64 bits, wrapped by hand: the sum that is out of range is the one not chosen."""
    text = """
program f(a, k, r):
  size n = a.shape[0]
  size m = k.shape[0]
  param a: f64[n] C
  param k: i64[m] C
  param r: f64[m] C
  disjoint a, r
  disjoint k, r
  output #0 = None
  vector i in 0 .. m:
    r[i] = a[select(int(k[i]) < 0, int(k[i]) + n, int(k[i]))]
  return #0
"""
    source = compiled(text).source.text
    assert "_checked" not in source and "#pragma omp simd" in source
    both(text, np.arange(5.0), np.array([0, -1, 4, -5, 2]), np.zeros(5))


FLAT = """program flat(a, out):
  size n = a.shape[0]
  size m = a.shape[1]
  size l = a.shape[2]
  size k = out.shape[0]
  param a: f64[n, m, l] {layout}
  param out: f64[k] C
  output #0 = None

  for i in 0 .. k:
    out[i] = a[(i // l) // m, (i // l) % m, i % {last}]
  return #0
"""


@pytest.mark.parametrize(("layout", "last", "divided"), [("C", "l", False), ("C", "m", True), ("F", "l", True)])
def test_a_flat_view_needs_no_divisions(layout, last, divided):
    """Elements of rows of l, one after the other, are one after the other in memory: in C order, and for that l."""
    a = np.arange(24.0).reshape(2, 3, 4)
    out = np.zeros(24)
    function = compiled(FLAT.format(layout=layout, last=last))
    function(a if layout == "C" else np.asfortranarray(a), out)
    i = np.arange(24)
    assert np.array_equal(out, a[i // 4 // 3, i // 4 % 3, i % (4 if last == "l" else 3)])
    loop = function.source.text.split("for (i64 i")[-1]
    assert ("floordiv" in loop or "mod" in loop or "%" in loop) == divided


def test_ranges_of_loops_with_long_products_are_exact():
    function = compiled("""
program f(n, m):
  symbol n = argument n
  symbol m = argument m
  local s: int
  output #0 = scalar s
  s = 0
  for i in 0 .. n * m * n:
    s = s + i
    if s > 10:
      break
  return #0
""")
    assert function(3, 2) == 15
    with pytest.raises(Missed):
        function(2**30, 2**30)


def test_control_flow():
    text = """
program f(x, n):
  symbol n = argument n
  param x: float
  local r: float
  local c: int
  output #0 = scalar r
  output #1 = tuple(scalar c, scalar r, const "'early'")
  r = x
  c = 0
  prelude:
    c = c + 1
  while c < n:
    if r > 100.0:
      return #1
    if c % 3 == 0:
      continue
    if c > 40:
      break
    r = r * 1.5
  for i in 0 .. 3:
    if i == 1:
      continue
    r = r + float(i)
  return #0
"""
    for x, n in [(1.0, 5), (1.0, 50), (50.0, 50), (0.0, 100)]:
        both(text, x, n)


def test_scalars_of_every_kind_go_in_and_out():
    for kind, value in [
        ("float", 1.5), ("int", -(2**63)), ("complex", 1 - 2j), ("pybool", True), ("f32", np.float32(0.1)),
        ("u64", np.uint64(2**64 - 1)), ("i8", np.int8(-3)), ("bool", np.False_), ("c64", np.complex64(1 + 0.1j)),
    ]:  # fmt: skip
        text = f"program f(x):\n  param x: {kind}\n  local r: {kind}\n  output #0 = scalar r\n\n  r = x\n  return #0\n"
        both(text, value)


def test_names_that_mean_something_in_c():
    text = """
program f(double, w):
  size exp = double.shape[0]
  param double: f64[exp] C
  param w: float
  local int_: f64
  local k_w: f64
  local sin: f64
  local größe: f64
  output #0 = scalar größe
  größe = 0.0_f64
  for register in 0 .. exp:
    sin = double[register]
    k_w = exp(sin) + f64(w)
    int_ = minimum(k_w, 3.0_f64)
    größe = größe + int_
  return #0
"""
    both(text, np.linspace(-1, 2, 7), 0.25, tolerance=1e-15)


def test_lists_are_copied_in_and_out():
    text = """
program f(rows):
  size n = rows.shape[0]
  size m = rows.shape[1]
  param rows: float[n, m] C
  output #0 = array rows
  for i in 0 .. n:
    for j in 0 .. m:
      rows[i, j] = rows[i, j] * 2.0
  return #0
"""
    rows = [[1.0, 2.0], [3.0, 4.0]]
    assert compiled(text, lists=("rows",))(rows) is rows and rows == [[2.0, 4.0], [6.0, 8.0]]


def test_compressed_rows():
    text = """
program f(pointer, column, value, x, y):
  size n = y.shape[0]
  size e = value.shape[0]
  size m = x.shape[0]
  param pointer: i32[n + 1] C
  param column: i32[e] C
  param value: f64[e] C
  param x: f64[m] C
  param y: f64[n] C
  disjoint y, value
  disjoint y, x
  local s: f64
  output #0 = None
  parallel i in 0 .. n work 10 * e:
    s = 0.0_f64
    for j(p) in csr(pointer, column)[i]:
      s = s + value[p] * x[j]
    y[i] = s
  return #0
"""
    pointer, column = np.array([0, 2, 2, 3], np.int32), np.array([0, 3, 1], np.int32)
    both(text, pointer, column, np.array([1.0, 2.0, 3.0]), np.arange(4.0), np.zeros(3))


# --- parallel -------------------------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_threads():
    text = """
program f(a):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  local t: f64[m]
  local s: f64
  result r: f64[n]
  output #0 = array r
  alloc r
  parallel i in 0 .. n work n * m * 100:
    alloc t
    vector j in 0 .. m:
      t[j] = exp(a[i, j])
    s = 0.0_f64
    vector k in 0 .. m reducing s by add:
      s = s + t[k]
    r[i] = s
  return #0
"""
    a = np.random.default_rng(5).random((101, 257))
    function = compiled(text)
    before = threads.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            threads.set_num_threads(count)
            results.append(function(a))
    finally:
        threads.set_num_threads(before)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    np.testing.assert_allclose(results[0], np.exp(a).sum(1), rtol=1e-13)
    serial = compiled(text, Options(parallel=False))
    assert "->parallel(" not in serial.source.text
    np.testing.assert_array_equal(serial(a), results[0])


def test_ctrl_c_ends_a_long_loop():
    script = textwrap.dedent(
        """
        import os, signal, sys, threading, time
        from tests.unit.codegen import compiled
        f = compiled(%r)
        threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        try:
            f(10**9)
        except KeyboardInterrupt:
            print("interrupted" if time.perf_counter() - start < 5 else "late")
        """
    )
    bodies = [
        "for i in 0 .. n * 1000:\n    x = x * 1.0000001 + 0.5",
        "for i in 0 .. n:\n    for j in 0 .. n:\n      x = x * 1.0000001 + 0.5",
        "while x < 1e300:\n    x = x * 0.5 + 1.0",
        "for i in 0 .. n * 1000:\n    x = x * 0.5\n    if x > 9.0:\n      break",
    ]
    for body in bodies:
        head = "program f(n):\n  symbol n = argument n\n  local x: float\n  output #0 = scalar x\n\n  x = 0.0\n"
        text = f"{head}  {body}\n  return #0\n"
        done = subprocess.run([sys.executable, "-c", script % text], capture_output=True, text=True, timeout=600)
        assert done.stdout.strip() == "interrupted", (body, done.stdout, done.stderr)


# --- the text -------------------------------------------------------------------------------------------------------


def test_the_c_compiles_without_warnings(tmp_path):
    if TOOLCHAIN is None or TOOLCHAIN.kind != "gcc":
        pytest.skip("gcc's warnings")
    for text in (STENCIL.format(layout="C"), INDEXING.format(kind="parallel", work=" work 9")):
        (tmp_path / "k.c").write_text(c.generate(lowered(text), Options(), c.CFeatures()).text)
        command = [*TOOLCHAIN.command, "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-but-set-variable"]
        command += ["-Wno-int-to-pointer-cast", "-fopenmp-simd", "-fsyntax-only", "k.c"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr == ""


def test_source_lines_are_in_comments():
    from dataclasses import replace

    from weft.errors import Span

    program = lowered(STENCIL.format(layout="C"))
    loop = program.body[0]
    place = Span("/somewhere/deep/heat.py", 12, 4, 12, 20)
    program = replace(program, body=(replace(loop, span=place), *program.body[1:]))
    text = c.generate(program, Options()).text
    assert "/* heat.py:12 */" in text and "/somewhere" not in text


def test_flags_follow_the_options():
    fast = c.flags(Options(fp="fast"))
    assert "-fassociative-math" in fast and "-ffast-math" not in fast  # which would change the whole process
    regrouped = c.flags(Options(fp="regroup"))
    assert "-fassociative-math" in regrouped and "-ffinite-math-only" not in regrouped and set(regrouped) < set(fast)
    assert c.flags(Options()) == () == c.flags(Options(fp="strict"))
