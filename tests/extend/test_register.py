"""`weft.register`: library functions with a body, a C function or a ufunc's loops; SciPy's own entries."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.frontend.knowledge import scipy_entries

pytest.importorskip("scipy")
from scipy import linalg, signal, special  # noqa: E402

X = np.linspace(-3, 3, 301)


def library(name: str, text: str) -> types.ModuleType:
    """A module that is not the user's own."""
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    sys.modules[name] = module
    return module


def test_a_body() -> None:
    made = library("othershop", "import numpy as np\ndef clamp(x, low=0.0):\n    return eval('max(x, low)')\n")

    def clamp(x, low=0.0):
        return x if x > low else low

    def total(x):
        found = 0.0
        for i in range(x.shape[0]):
            found += made.clamp(x[i]) + made.clamp(x[i], low=-1.0)
        return found

    with pytest.raises(weft.Unsupported):
        weft.jit(fallback="error")(total)(X)
    assert weft.register(made.clamp, body=clamp) is made.clamp
    assert weft.jit(fallback="error")(total)(X) == pytest.approx(total(X))


def test_a_body_that_writes_its_argument() -> None:
    made = library("othershop2", "def double(a):\n    exec('a *= 2')\n")

    def double(a):
        for i in range(a.shape[0]):
            a[i] *= 2

    weft.register(made.double, body=double)

    @weft.jit(fallback="error")
    def both(a):
        made.double(a)
        return a.sum()

    given = X.copy()
    assert both(given) == pytest.approx((2 * X).sum(), abs=1e-12)
    assert np.array_equal(given, 2 * X)


def test_native_functions() -> None:
    made = library(
        "othershop3",
        "import math\ndef f(x): return eval('math.erf(x)')\ndef g(x, y): return eval('math.atan2(x, y)')\n",
    )
    weft.register(made.f, native=("libm", "erf"), cost=30)
    pointer = ctypes.CDLL(ctypes.util.find_library("m")).atan2
    pointer.argtypes, pointer.restype = [ctypes.c_double, ctypes.c_double], ctypes.c_double
    weft.register(made.g, native=pointer)

    @weft.jit(fallback="error")
    def loops(x):
        y = np.empty_like(x)
        for i in range(x.shape[0]):
            y[i] = made.f(x[i]) + made.g(x[i], 2.0)
        return y

    assert np.array_equal(loops(X), [math.erf(x) + math.atan2(x, 2.0) for x in X])

    @weft.jit(fallback="error")
    def number(x):
        return made.f(x)

    with pytest.raises(weft.Unsupported, match="registered for numbers"):
        weft.jit(fallback="error")(lambda x: made.f(x))(X)
    assert number(0.5) == math.erf(0.5) and type(number(0.5)) is float
    assert weft.jit(backend="python", fallback="error")(loops.py_func)(X).tolist() == loops(X).tolist()


def test_cffi_pointers() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cbrt(double);")
    made = library("othershop4", "import math\ndef root(x): return eval('math.cbrt(x)')\n")
    weft.register(made.root, native=ffi.addressof(ffi.dlopen(None), "cbrt"))

    @weft.jit(fallback="error")
    def roots(x):
        return made.root(x[3]) + 1.0

    assert roots(np.arange(9.0)) == math.cbrt(3.0) + 1 if hasattr(math, "cbrt") else True


def test_a_pure_function_is_fused_hoisted_and_parallel() -> None:
    made = library("othershop5", "import math\ndef f(x): return eval('math.erf(x)')\n")
    weft.register(made.f, native=("libm", "erf"))

    @weft.jit(fallback="error")
    def scaled(x, a):
        y = np.empty_like(x)
        for i in range(x.shape[0]):
            y[i] = x[i] * made.f(a) + made.f(x[i])
        z = y * 2.0
        return z

    big = np.resize(X, 50_000)
    assert np.array_equal(scaled(big, 0.3), [2.0 * (x * math.erf(0.3) + math.erf(x)) for x in big])
    text = scaled.inspect("c")
    assert "k_rt->parallel" in text
    loop = text[text.index("static void k_body_0") : text.index("i64 kernel(")]
    assert loop.count("foreign_othershop5_f_f64(") == 1, "the call that does not change has left the loop"


def test_ufuncs_of_other_libraries_and_of_weft() -> None:
    @weft.vectorize(["float64(float64, float64)"])
    def apart(x, y):
        return abs(x - y) * 0.5

    weft.register(apart)

    @weft.jit(fallback="error")
    def uses(x):
        return apart(x, 1.0).sum() + apart(x[0], x[1])

    assert uses(X) == pytest.approx((abs(X - 1) * 0.5).sum() + abs(X[0] - X[1]) * 0.5)

    @weft.guvectorize(["dd->d"], "(n),(n)->()")
    def inner(x, y, out):
        out[0] = (x * y).sum()

    weft.register(inner)

    @weft.jit(fallback="error")
    def rows(a, b):
        return inner(a, b) + 1.0

    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    assert np.array_equal(rows(a, b), inner(a, b) + 1)


def test_devices_say_that_they_have_no_other_libraries() -> None:
    from weft import pipeline
    from weft.device.lower import lowered
    from weft.device.plan import Refused
    from weft.options import Options

    def some(x):
        return special.erf(x) * 2.0

    optimised = dict(pipeline.stages(some, (X,)))["tidy"]
    with pytest.raises(Refused, match="scipy_special_erf, a function of another library"):
        lowered(optimised, Options(), [])


SPECIAL = [name for name in scipy_entries._SPECIAL if isinstance(getattr(special, name, None), np.ufunc)]


def test_special_functions_are_scipys_to_the_last_bit() -> None:
    values = np.concatenate([np.linspace(-5, 30, 141), [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, 700.0]])
    lines = ["def all_of(x, v):", "    y = np.zeros(x.shape[0])", "    for i in range(x.shape[0]):"]
    for name in SPECIAL:
        arguments = ("x[i]",) if getattr(special, name).nin == 1 else ("v[i]", "x[i]")
        if getattr(special, name).nin <= 2 and getattr(special, name).nout == 1:
            lines.append(f"        r_{name}[i] = special.{name}({', '.join(arguments)})")
    used = [line.split("[")[0].strip() for line in lines[3:]]
    lines[0] = f"def all_of(x, v, {', '.join(used)}):"
    assert len(used) > 60
    for start in range(0, len(used), 12):
        part = used[start : start + 12]
        text = "\n".join(
            [f"def some(x, v, {', '.join(part)}):", "    for i in range(x.shape[0]):", *lines[3:][start : start + 12]]
        )
        namespace = {"special": special, "np": np}
        from weft.errors import attach_source

        attach_source(f"<special {start}>", text + "\n")
        exec(compile(text + "\n", f"<special {start}>", "exec"), namespace)
        results = [np.empty_like(values) for _ in part]
        orders = np.full_like(values, 1.5)
        weft.jit(fallback="error")(namespace["some"])(values, orders, *results)
        for name, found in zip(part, results):
            ufunc = getattr(special, name.removeprefix("r_"))
            with np.errstate(all="ignore"):
                wanted = ufunc(values) if ufunc.nin == 1 else ufunc(orders, values)
            assert found.tobytes() == wanted.tobytes() or np.array_equal(found, wanted, equal_nan=True), name


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.bool_])
def test_special_functions_take_numpys_loop(dtype: type) -> None:
    @weft.jit(fallback="error")
    def some(x):
        return special.erf(x) + special.expit(x)

    given = (X * 2).astype(dtype)
    found, wanted = some(given), some.py_func(given)
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


def test_filters_and_matrices() -> None:
    b, a = signal.butter(4, 0.2)
    sos = signal.butter(6, 0.3, output="sos")
    x = np.random.default_rng(0).random(200)

    @weft.jit(fallback="error")
    def filtered(b, a, sos, x):
        return signal.lfilter(b, a, x) + signal.sosfilt(sos, x)

    assert np.array_equal(filtered(b, a, sos, x), filtered.py_func(b, a, sos, x))
    assert filtered.stats["python_calls"] == 0

    @weft.jit(fallback="silent")
    def other(b, a, x):
        return signal.lfilter(b, a, x)

    for case in ((b, np.ones(1), x), (b, a, x.reshape(2, 100)), (b.astype("f4"), a.astype("f4"), x.astype("f4"))):
        found, wanted = other(*case), other.py_func(*case)
        assert found.dtype == wanted.dtype and np.array_equal(found, wanted)

    @weft.jit(fallback="error")
    def matrices(c, r, n):
        return linalg.toeplitz(c, r), linalg.toeplitz(c), linalg.circulant(r), linalg.hilbert(n)

    for found, wanted in zip(matrices(x[:4], x[4:10], 5), matrices.py_func(x[:4], x[4:10], 5)):
        assert np.array_equal(found, wanted)


def test_mistakes_are_told() -> None:
    def f(x):
        return x

    for options, kind, words in (
        ({"body": f, "native": ("libm", "erf")}, TypeError, "not both"),
        ({"native": ("libm", "no_such")}, AttributeError, "no function"),
        ({"native": ("libnosuch", "erf")}, OSError, "no library"),
        ({"native": "erf"}, TypeError, "native is"),
        ({"native": ("libm", "erf"), "effects": "writes"}, ValueError, "must be 'pure'"),
        ({"native": ("libm", "erf"), "cost": -1}, ValueError, "cycles"),
        ({"native": ("libm", "erf"), "signature": "char (double)"}, TypeError, "no signature of numbers"),
        ({"native": ("libm", "erf"), "signature": "double (double, double)"}, TypeError, "1 parameters"),
        ({"body": 3}, TypeError, "Python function"),
        ({}, TypeError, "needs a body"),
    ):
        with pytest.raises(kind, match=words):
            weft.register(f, **options)
    with pytest.raises(TypeError, match="needs a function"):
        weft.register(3)


EFFECTS = """
#include <stdint.h>
void smooth(const double *x, double *y, double a, long n) {
  double p = 0;
  for (long i = 0; i < n; i++) y[i] = p = a * x[i] + (1 - a) * p;
}
void twice(double *x, long n) { for (long i = 0; i < n; i += 2) x[i] *= 2; }
void product(const double *m, const double *x, double *y, long rows, long columns) {
  for (long i = 0; i < rows; i++) {
    y[i] = 0;
    for (long j = 0; j < columns; j++) y[i] += m[i * columns + j] * x[j];
  }
}
void bounds(const double *x, double *low, double *high, long n, long one) {
  for (long i = 0; i < n; i++) {
    if (x[i] < low[0]) low[0] = x[i];
    if (x[i] > high[0]) high[0] = x[i];
  }
}
int places(const int64_t *x, long n, double above) {
  int found = 0;
  for (long i = 0; i < n; i++) found += x[i] > above;
  return found;
}
long steps(long n) { long k = 0; for (; n > 1; k++) n = n % 2 ? 3 * n + 1 : n / 2; return k; }
int sign_of(double x, int scale) { return x > 0 ? scale : x < 0 ? -scale : 0; }
"""


def smooth(x, y, a):
    p = eval("0.0")  # what weft cannot compile
    for i in range(len(x)):
        y[i] = p = a * x[i] + (1 - a) * p


def twice(x):
    x[eval("slice(None, None, 2)")] *= 2


def product(m, x, y):
    y[eval("slice(None)")] = [sum(a * b for a, b in zip(row, x)) for row in m]


@pytest.fixture(scope="module")
def effects(tmp_path_factory: pytest.TempPathFactory) -> None:
    from weft.runtime.toolchain import find

    chain = find()
    if chain is None:
        pytest.skip("there is no C compiler here")
    folder = tmp_path_factory.mktemp("effects")
    (folder / "effects.c").write_text(EFFECTS)
    command = [*chain.command, "-shared", "-fPIC", str(folder / "effects.c"), "-o", str(folder / "effects.so")]
    subprocess.run(command, check=True)
    found = ctypes.CDLL(str(folder / "effects.so"))
    text = "void (double *x[n], double *y[n], double a, long n)"
    weft.register(smooth, native=found.smooth, signature=text, effects={"reads": "x", "writes": "y"})
    text = "void (double *x[n], long n)"
    weft.register(twice, native=found.twice, signature=text, effects={"reads": ("x",), "writes": ("x",)})
    text = "void (double *x[n], double *low[one], double *high[one], long n, long one)"
    told = {"reads": "x, low, high", "writes": "low, high"}
    weft.register(bounds, native=found.bounds, signature=text, effects=told)
    text = "int (int64_t *x[n], long n, double above)"
    weft.register(places, native=found.places, signature=text, effects={"reads": "x"})
    weft.register(steps, native=(str(folder / "effects.so"), "steps"), signature="long (long)")
    weft.register(sign_of, native=found.sign_of, signature="int (double, int)")
    text = "void (double *m[rows][columns], double *x[columns], double *y[rows], long rows, long columns)"
    weft.register(product, native=found.product, signature=text, effects={"reads": ("m", "x"), "writes": "y"})


def bounds(x, low, high):
    low[0] = min(eval("low[0]"), *x)
    high[0] = max(eval("high[0]"), *x)


def places(x, above):
    return int((x > eval("above")).sum())


def steps(n):
    k = eval("0")
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        k += 1
    return k


def sign_of(x, scale):
    return scale if x > eval("0") else -scale if x < 0 else 0


def bounds_of_rows(a, out):
    low, high = np.full(1, 9.0), np.full(1, -9.0)
    for i in range(a.shape[0]):
        bounds(a[i] * 3.0, low, high)
        out[i, 0] = low[0]
    out[:, 1] = high * 2.0


def places_of_rows(a, out):
    whole = (a * 10).astype(np.int64)
    for i in weft.prange(a.shape[0]):
        out[i, 0] = places(whole[i], 4.5) / 2
    return places(whole[:, 1], 2.0)


def of_whole_numbers(a, out):
    total = 0
    for i in range(a.shape[0]):
        total += steps(2**40 + i) * sign_of(a[i, 0] - 0.5, 3)
    return total


@pytest.mark.parametrize("function", [bounds_of_rows, places_of_rows, of_whole_numbers], ids=lambda f: f.__name__)
def test_functions_with_several_outputs_and_results_of_whole_numbers(effects: None, function) -> None:
    rng = np.random.default_rng(6)
    for order in "CF":
        a, out = (np.asarray(rng.random((5, 4)), order=order) for _ in range(2))
        mine, outs = a.copy(order), out.copy(order)
        expected = function(a, out)
        found = weft.jit(fallback="error")(function)(mine, outs)
        assert type(found) is type(expected) and found == expected
        np.testing.assert_allclose(outs, out, rtol=1e-14)


def test_whole_numbers_are_no_floats_and_outputs_no_two_names_of_one_array(effects: None) -> None:
    def of_a_float(x):
        return steps(x)

    def one_array(x):
        bounds(x, x, x)

    def of_no_numbers(x):
        return places(x, 1.0)

    for function, argument in ((of_a_float, 2.5), (one_array, np.ones(2)), (of_no_numbers, np.ones(2))):
        with pytest.raises(weft.Unsupported):
            weft.jit(fallback="error")(function)(argument)


def each_row(a, out):
    for i in range(a.shape[0]):
        smooth(a[i] * 2.0, out[i], 0.5)
        out[i] += 1.0


def each_row_in_parallel(a, out):
    for i in weft.prange(a.shape[0]):
        smooth(a[i], out[i], 0.5)


def each_column(a, out):
    for j in range(a.shape[1]):
        smooth(a[:, j], out[:, j], 0.25)


def between_reads(a, out):
    before = a * 2.0
    part = a[1:]
    twice(a[0])
    twice(out[0])
    return before.sum(), part.sum(), a.sum()


def partly(a, out):
    kept = a + 1.0
    twice(kept[0])
    return kept


@pytest.mark.parametrize(
    "function", [each_row, each_row_in_parallel, each_column, between_reads, partly], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("shape", [(4, 6), (1, 1), (3, 0)], ids=str)
def test_a_native_function_that_reads_and_writes(effects: None, function, shape) -> None:
    rng = np.random.default_rng(4)
    for order in "CF":
        a, out = (np.asarray(rng.random(shape), order=order) for _ in range(2))
        mine, outs = a.copy(order), out.copy(order)
        expected = function(a, out)
        found = weft.jit(fallback="error")(function)(mine, outs)
        assert (expected is None) == (found is None)
        for one, other in ((a, mine), (out, outs), (expected, found)):
            if one is not None:
                np.testing.assert_allclose(other, one, rtol=1e-14)


def test_a_native_function_over_matrices(effects: None) -> None:
    def of_a_matrix(a, out):
        product(a[:, 1:], out[0, 1:] + 1.0, out[:, 0])

    rng = np.random.default_rng(5)
    a, out = rng.random((3, 4)), rng.random((3, 4))
    expected = out.copy()
    of_a_matrix(a, expected)
    weft.jit(fallback="error")(of_a_matrix)(a, out)
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_calls_that_effects_do_not_cover_stay_python(effects: None) -> None:
    def aliased(a):
        smooth(a, a, 0.5)

    def of_a_row(a, y):
        smooth(a, y, 0.5)

    for function, arguments in ((aliased, (np.ones(3),)), (of_a_row, (np.arange(3), np.zeros(3)))):
        with pytest.raises(weft.Unsupported):
            weft.jit(fallback="error")(function)(*arguments)
    x, y = np.arange(4.0), np.zeros(3)
    with pytest.raises(IndexError):  # Python's own, which the C function would not notice
        weft.jit(fallback="error")(of_a_row)(x, y)


@pytest.mark.parametrize(
    "options, kind, words",
    [
        ({"effects": {"reads": "x", "writes": "z"}}, ValueError, "no array 'z'"),
        ({"effects": {"reads": "x, y"}}, ValueError, "writes at least one array"),
        ({"effects": {"writes": "y"}}, ValueError, "nothing is said of the array 'x'"),
        ({"effects": {"moves": "y"}}, ValueError, "must be 'pure', or say"),
        ({"effects": {"reads": "x", "writes": "y"}, "signature": None}, TypeError, "signature"),
        ({"effects": {"reads": "x", "writes": "y"}, "native": None}, TypeError, "native"),
    ],
)
def test_effects_that_make_no_sense(options, kind, words) -> None:
    def f(x, y):
        raise NotImplementedError

    known = {"native": ("libm", "erf"), "signature": "void (double *x[n], double *y[n], long n)", **options}
    with pytest.raises(kind, match=words):
        weft.register(f, **{name: value for name, value in known.items() if value is not None})


def test_a_later_process_finds_the_function_again(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    """A version in the disk cache names the function; without the registration it is not used."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, weft, othershop\n"
        "if sys.argv[1] == 'yes': weft.register(othershop.f, native=('libm', 'erf'))\n"
        "@weft.jit(fallback='silent')\n"
        "def g(x):\n    return othershop.f(x) + 1\n"
        "print(g(0.5), bool(g.stats['python_calls']))\n"
    )
    (tmp_path / "othershop.py").write_text("import math\ndef f(x):\n    return eval('math.erf(x)')\n")
    answers = []
    for asked in ("yes", "yes", "no", "yes"):
        run = subprocess.run(
            [sys.executable, str(program), asked],
            env=subprocess_environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(run.stdout.strip())
    wanted = str(math.erf(0.5) + 1)
    assert answers == [f"{wanted} False", f"{wanted} False", f"{wanted} True", f"{wanted} False"]
