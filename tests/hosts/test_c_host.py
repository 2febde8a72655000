"""Libraries for a C host: answers are those of Python, and whatever cannot be computed is a code with a message."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import weft
from tests.hosts.calling import EXTENT, LAYOUT, NULL, RAISED, Failed, Library, over
from weft.cli import main
from weft.hosts import functions
from weft.runtime.toolchain import find

pytestmark = pytest.mark.native

MODULE = """
from collections.abc import Callable

import numpy as np
import weft

N, M, K = (weft.symbol(name) for name in "NMK")
SCALE = 0.5
TABLE = np.array([3, 1, 2])


def item(a: weft.f64[N], i: int) -> float:
    if i == 77:
        raise ValueError("seven")
    return a[i]


def added(a: int, b: int) -> int:
    return a + b


def axpy(a: float, x: weft.f64[N], y: weft.f64[N]):
    for i in range(x.shape[0]):
        y[i] += a * x[i]


def waves(x: weft.f64[:], y: weft.f64[:]) -> weft.f64[:]:
    return np.exp(x) * SCALE + np.sin(y)


def more_waves(x: weft.f32[:]):
    return np.exp(x)


def parts(a: weft.f64[N, M]):
    return a[1:, ::2], a.sum(axis=0), a.shape[1]


def itself(a: weft.i32[N]):
    a[0] = 7
    return a


def mixed(flag: bool, z: complex, k: weft.u8, s: weft.f32):
    return not flag, z * 2, k + weft_one, s * s


weft_one = np.uint8(1)


def kinds(b: weft.b1[N], c: weft.c64[N, 3], i: weft.i16[N]):
    return ~b, c.conj(), i + i


def chosen(i: int) -> int:
    return TABLE[i] * 10


def product(a: weft.f64[N, K], b: weft.f64[K, M]) -> weft.f64[N, M]:
    return a @ b


def shifted(a: weft.f64[N], b: weft.f64[2 * N - 1], c: weft.f64[4]) -> float:
    return a.sum() + b.sum() + c.sum()


def rows(a: weft.f64[N, M], out: weft.f64[N]):
    for i in weft.prange(a.shape[0]):
        out[i] = np.sqrt(a[i]).sum()


def fib(n: int) -> int:
    if n < 2:
        return n
    with weft.finish():
        with weft.task():
            a = fib(n - 1)
        with weft.task():
            b = fib(n - 2)
    return a + b


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def roots(a: weft.f64[N]) -> weft.f64[N]:
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if a[i] < 0.0:
            raise ValueError("negative")
        out[i] = np.sqrt(a[i])
    return out


def rows_of_roots(a: weft.f64[N, M], k: weft.i64[M]) -> weft.f64[N, M]:
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] < 0.0:
                raise ValueError("negative")
            out[i, k[j]] = np.sqrt(a[i, j])
    return out


def own_roots(n: int) -> float:
    out = np.zeros(n)
    for i in range(n):
        out[i] = 1.0 / float(n - 3 - i)
    return out.sum()


def scaled(k: weft.i64[N], factor: int) -> None:
    for i in range(k.shape[0]):
        k[i] = int(k[i]) * factor


def spread(a: weft.f64[N], n: int) -> weft.f64[N]:
    a[0] = 1.0
    return np.concatenate((a[a > 1.0], a[:n])).reshape(n, 2)[:, 0]


def applied(f: Callable[[float, float], float], x: weft.f64[N], y: weft.f64[N]) -> weft.f64[N]:
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = f(x[i], y[i]) + 1.0
    return out


def root(f: Callable[[float], float], low: float, high: float) -> float:
    if f(low) * f(high) > 0:
        raise ValueError("no change of sign")
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


def sign_of(x: float) -> int:
    if x > 0:
        return 1
    return -1
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, ModuleType]:
    folder = tmp_path_factory.mktemp("c_host")
    path = folder / "waves_for_c.py"
    path.write_text(MODULE)
    assert main(["build", "--host", "c", str(path), "-o", str(folder / "build")]) == 0
    spec = importlib.util.spec_from_file_location("waves_for_c", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Library(folder / "build" / "waves_for_c"), module


Built = tuple[Library, Any]


def test_numbers_and_arrays_are_those_of_python(built: Built) -> None:
    library, module = built
    rng = np.random.default_rng(0)
    x, y = rng.random(1000), rng.random(1000)
    np.testing.assert_allclose(library.call("waves", x, y, results="f64:1"), module.waves(x, y), rtol=1e-14)
    small = x.astype(np.float32)
    np.testing.assert_allclose(library.call("more_waves", small, results="f32:1"), np.exp(small), rtol=1e-6)
    expected = y.copy()
    module.axpy(2.0, x, expected)
    library.call("axpy", 2.0, x, y)
    assert (y == expected).all()
    assert library.call("added", 3, 4, results="i64") == 7
    assert library.call("collatz", 27, results="i64") == 111
    assert library.call("chosen", 0, results="i64") == 30
    assert [library.call("sign_of", value, results="i64") for value in (2.0, -2.0)] == [1, -1]


def test_every_element_type_crosses_the_border(built: Built) -> None:
    library, module = built
    b, i = np.array([True, False, True]), np.array([1, -2, 300], np.int16)
    c = (np.arange(9) * (1 - 2j)).astype(np.complex64).reshape(3, 3)
    for got, want in zip(library.call("kinds", b, c, i, results="bool:1 c64:2 i16:1"), module.kinds(b, c, i)):
        assert got.dtype == want.dtype and (got == want).all()

    class Complex(ctypes.Structure):
        _fields_ = [("real", ctypes.c_double), ("imag", ctypes.c_double)]

    arguments = (ctypes.c_bool(True), Complex(1.5, -2.0), ctypes.c_uint8(255), ctypes.c_float(1.5))
    with np.errstate(over="ignore"):
        expected = module.mixed(True, 1.5 - 2j, np.uint8(255), np.float32(1.5))
    assert library.call("mixed", *arguments, results="bool c128 u8 f32") == expected


def test_views_tuples_and_an_argument_that_comes_back(built: Built) -> None:
    library, module = built
    a = np.arange(20.0).reshape(4, 5)
    view, total, columns = library.call("parts", a, results="f64:2 f64:1 i64")
    for got, want in zip((view, total, columns), module.parts(a)):
        assert np.array_equal(got, want)
    given = np.zeros(3, np.int32)
    assert library.call("itself", given, results="i32:1").tolist() == [7, 0, 0]
    assert given[0] == 7


def test_arrays_of_any_strides(built: Built) -> None:
    library, module = built
    a = np.arange(60.0).reshape(5, 12)
    for part in (a[:, ::3], a[::-1, ::-1], a.T, a[1:4, 2:7]):
        assert np.array_equal(library.call("parts", part, results="f64:2 f64:1 i64")[1], part.sum(axis=0))
    x, y = np.arange(10.0)[::2], np.zeros(5)
    library.call("axpy", 3.0, x, y)
    assert (y == 3 * x).all()


def test_errors_are_those_of_python_with_their_line(built: Built) -> None:
    library, _ = built
    lines = MODULE.splitlines()
    a = np.arange(5.0)
    assert library.call("item", a, -5, results="f64") == 0.0
    for index, exception in ((77, "ValueError"), (5, "IndexError"), (-6, "IndexError")):
        with pytest.raises(Failed) as caught:
            library.call("item", a, index, results="f64")
        problem = caught.value
        assert (problem.code, problem.exception) == (RAISED, exception)
        assert ("raise" if index == 77 else "return a[i]") in lines[problem.line - 1]
    assert problem.message == "index -6 is out of bounds for axis 0 with size 5"
    with pytest.raises(Failed) as caught:
        library.call("added", 2**63 - 1, 1, results="i64")
    assert caught.value.exception == "OverflowError"
    assert library.call("added", 2**62, 1, results="i64") == 2**62 + 1


def test_functions_of_the_host_are_called(built: Built) -> None:
    library, module = built
    one = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    two = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    calls: list[tuple[float, float]] = []

    def hypotenuse(x: float, y: float) -> float:
        calls.append((x, y))
        return float(np.hypot(x, y))

    x, y = np.arange(5.0), np.arange(5.0)[::-1]
    library.function("set_threads")(1)  # ctypes is not for threads that Python does not know
    found = library.call("applied", two(hypotenuse), x, y, results="f64:1")
    assert (found == module.applied(np.hypot, x, y)).all() and sorted(calls) == list(zip(x, y))
    assert library.call("root", one(lambda v: v * v - 2.0), 0.0, 2.0, results="f64") == module.root(
        lambda v: v * v - 2.0, 0.0, 2.0
    )
    with pytest.raises(Failed) as caught:
        library.call("root", one(lambda v: v * v + 2.0), 0.0, 2.0, results="f64")
    assert caught.value.message == "no change of sign"
    with pytest.raises(Failed) as caught:
        library.call("root", None, 0.0, 2.0, results="f64")
    assert caught.value.code == NULL


def test_calls_that_fail_keep_no_memory(built: Built) -> None:
    import resource

    library, _ = built
    a = np.ones(500_000)
    assert (library.call("roots", a, results="f64:1") == 1.0).all()
    a[-1] = -1.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):  # 800 MB of results, if each stayed
        with pytest.raises(Failed) as caught:
            library.call("roots", a, results="f64:1")
    assert (caught.value.exception, caught.value.message) == ("ValueError", "negative")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def _problem(library: Library, *call: Any, **more: Any) -> tuple[str, str]:
    with pytest.raises(Failed) as caught:
        library.call(*call, **more)
    assert caught.value.code == RAISED
    return caught.value.exception, caught.value.message


@pytest.mark.parametrize("order", ["C", "F"])
def test_there_is_no_python_to_find_what_is_raised_first(built: Built, order: Any) -> None:
    """Loops that threads or vectors run, tests that have been moved: the library itself raises what Python would."""
    library, module = built
    a, k = np.asarray(np.ones((200, 300)), order=order), np.arange(300)[::-1]
    got = library.call("rows_of_roots", a, k, results="f64:2")
    assert np.array_equal(got, module.rows_of_roots(a, k))
    k[7] = 300
    places = ("IndexError", "index 300 is out of bounds for axis 1 with size 300")
    assert _problem(library, "rows_of_roots", a, k, results="f64:2") == places
    a[0, 5] = a[199, 3] = -1.0
    assert _problem(library, "rows_of_roots", a, k, results="f64:2") == ("ValueError", "negative")
    a[0, 5] = 1.0
    assert _problem(library, "rows_of_roots", a, k, results="f64:2") == places
    assert _problem(library, "own_roots", 10, results="f64")[0] == "ZeroDivisionError"
    assert library.call("own_roots", 2, results="f64") == module.own_roots(2)


@pytest.mark.parametrize("general", [True, False])
def test_no_last_version_asks_for_python(built: Built, general: bool) -> None:
    _, module = built
    for name in ("roots", "rows_of_roots", "own_roots", "scaled", "spread", "item", "product"):
        function = weft.jit(getattr(module, name))
        kinds = functions.hinted(function.py_func, None, pointers=True)
        assert not isinstance(kinds, str)
        made = functions.made(function, kinds, general=general, alone=True)
        assert not functions.asks_python(made.versions[-1].program_lowered), name


@pytest.mark.parametrize("step", [1, 2])
def test_there_is_no_python_for_numbers_and_sizes_that_do_not_fit(built: Built, step: int) -> None:
    library, _ = built
    k = np.arange(20)[::step]
    library.call("scaled", k, 3)
    assert (k == 3 * np.arange(20)[::step]).all()
    assert _problem(library, "scaled", k, 2**61)[0] == "OverflowError"
    assert _problem(library, "own_roots", 2**62, results="f64") == ("MemoryError", "an array larger than memory")
    a = np.arange(20.0)[::step]
    assert _problem(library, "spread", a, 3, results="f64:1")[0] == "ValueError"


@pytest.mark.parametrize(
    "sizes, wrong", [((3, 5, 4), None), ((3, 6, 4), "b"), ((4, 5, 4), "b"), ((3, 5, 5), "c"), ((3, 5, 3), "c")]
)
def test_named_sizes_are_held_to(built: Built, sizes: tuple[int, int, int], wrong: str | None) -> None:
    library, _ = built
    arrays = [np.ones(n) for n in sizes]
    if wrong is None:
        assert library.call("shifted", *arrays, results="f64") == 12.0
        return
    with pytest.raises(Failed) as caught:
        library.call("shifted", *arrays, results="f64")
    assert caught.value.code == EXTENT and caught.value.message.startswith(f"{wrong} has extent")


def test_bad_memory_is_a_code_and_never_read(built: Built) -> None:
    library, _ = built
    x, y = np.ones(4), np.ones(4)
    cases: list[tuple[int, Any, Any]] = [(NULL, None, y), (NULL, x, None), (LAYOUT, x, x), (LAYOUT, x[:3], x[1:])]

    def changed(**fields: Any) -> Any:
        array = over(y)
        for name, value in fields.items():
            setattr(array, name, value)
        return ctypes.byref(array)

    one = ctypes.c_int64 * 1
    cases += [(NULL, x, changed(data=None)), (EXTENT, x, changed(extent=one(-1))), (EXTENT, x, changed(extent=one(5)))]
    cases += [(EXTENT, x, changed(extent=one(2**62))), (LAYOUT, x, changed(data=y.ctypes.data + 1))]
    cases += [(LAYOUT, x, changed(stride=one(0))), (LAYOUT, x, changed(stride=one(2**61)))]
    for code, first, second in cases:
        with pytest.raises(Failed) as caught:
            library.call("axpy", 1.0, first, second)
        assert caught.value.code == code, caught.value
    assert (y == 1).all()
    library.call("axpy", 1.0, np.ones(0), np.ones(0))
    assert library.function("added")(ctypes.c_int64(1), ctypes.c_int64(1), None, None) == NULL


def test_parallel_loops_and_tasks_run_on_the_pool(built: Built) -> None:
    library, module = built
    a = np.random.default_rng(1).random((400, 300))
    out, expected = np.zeros(400), np.zeros(400)
    for i in range(400):
        expected[i] = np.sqrt(a[i]).sum()
    for threads in (1, 3):
        library.function("set_threads")(threads)
        assert library.function("get_threads")() == threads
        library.call("rows", a, out)
        np.testing.assert_allclose(out, expected, rtol=1e-13)
        assert library.call("fib", 20, results="i64") == 6765


def test_products_by_its_own_routine_and_by_a_table_of_the_hosts(built: Built) -> None:
    from weft.runtime import blas

    library, _ = built
    rng = np.random.default_rng(2)
    shapes = [(1, 1, 1), (7, 5, 3), (64, 64, 64), (130, 517, 301), (600, 3, 600)]
    pairs = [(rng.random((n, k)), rng.random((k, m))) for n, m, k in shapes]
    for a, b in pairs:
        np.testing.assert_allclose(library.call("product", a, b, results="f64:2"), a @ b, rtol=1e-12)
        np.testing.assert_allclose(library.call("product", b.T, a.T, results="f64:2"), (a @ b).T, rtol=1e-12)
    table = blas.find()
    if table is None:
        pytest.skip("NumPy's BLAS cannot be called by address here")
    filled = (ctypes.c_int64 * (1 + len(table.addresses)))(int(table.ilp64), *table.addresses)
    library.function("set_blas")(filled)
    try:
        for a, b in pairs[2:]:
            assert (library.call("product", a, b, results="f64:2") == a @ b).all()
    finally:
        library.function("set_blas")(None)


#: A BLAS that counts its products; the other functions that a library is linked with are never called.
COUNTING_BLAS = """
int products;
void cblas_dgemm(int order, int left, int right, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc) {
  products++;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++)
        sum += (left == 111 ? a[i * lda + l] : a[l * lda + i]) * (right == 111 ? b[l * ldb + j] : b[j * ldb + l]);
      c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
    }
}
"""
OTHERS = "sgemm cgemm zgemm sgemv dgemv cgemv zgemv sdot ddot sger dger ssyrk dsyrk strsm dtrsm".split()  # noqa: SIM905


def test_products_of_a_linked_blas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = find()
    assert chain is not None
    source = tmp_path / "counting.c"
    source.write_text(COUNTING_BLAS + "".join(f"void cblas_{name}(void) {{ __builtin_trap(); }}\n" for name in OTHERS))
    library = tmp_path / "libcounting.so"
    named = f"-Wl,-soname,{library.name}"  # by which it is found among the libraries that are loaded
    subprocess.run([*chain.command, "-shared", "-fPIC", named, str(source), "-o", str(library)], check=True)
    monkeypatch.setenv("LIBRARY_PATH", str(tmp_path))
    path = tmp_path / "with_blas.py"
    path.write_text("import weft\n\ndef product(a: weft.f64[:, :], b: weft.f64[:, :]):\n    return a @ b\n")
    command = ["build", "--host", "c", "--march", "native", str(path), "-o", str(tmp_path / "build"), "--blas"]
    assert main([*command, "no_such_blas"]) == 1
    told = capsys.readouterr().err
    assert "no_such_blas" in told and "LIBRARY_PATH" in told and len(told.splitlines()) <= 15
    assert not (tmp_path / "build").exists() or not list((tmp_path / "build").iterdir())
    assert main([*command, "counting"]) == 0
    counting = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    made = Library(tmp_path / "build" / "with_blas")
    rng = np.random.default_rng(3)
    a, b = rng.random((90, 70)), rng.random((70, 80))
    np.testing.assert_allclose(made.call("product", a, b, results="f64:2"), a @ b, rtol=1e-12)
    np.testing.assert_allclose(made.call("product", b.T, a.T, results="f64:2"), (a @ b).T, rtol=1e-12)
    assert ctypes.c_int.in_dll(counting, "products").value == 2
    assert "-lcounting" in (tmp_path / "build" / "with_blas" / "lib" / "pkgconfig" / "with_blas.pc").read_text()


def test_it_needs_no_python(built: Built) -> None:
    library, _ = built
    path = Path(library.library._name)
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")

    def names(which: str) -> list[str]:
        done = subprocess.run([nm, "-D", which, str(path)], capture_output=True, text=True, check=True)
        return [line.split()[-1] for line in done.stdout.splitlines()]

    assert not [name for name in names("--undefined-only") if name.startswith(("Py", "_Py", "weft"))]
    assert all(name.startswith("waves_for_c_") for name in names("--defined-only"))


# --- refusals -------------------------------------------------------------------------------------------------------

REFUSED = {
    "def f(a: dict[str, int | str]) -> int:\n    return len(a)\n": ("dict[str, int | str] has no form in C", "lists"),
    "class P:\n    x: float\n\ndef f(p: P) -> float:\n    return p.x\n": ("p: P", "numbers"),
    "def f(d: dict[list[int], int]) -> int:\n    return len(d)\n": ("no function with complete hints", "annotate"),
    "def f(d: dict[str, str]) -> str:\n    return d['a'].center(9)\n": ("(center)", "plain Python"),
    "def f(d: dict[str, int]):\n    d['a'] = 0.5\n": ("d is dict[str, int] by its hint", "hint says"),
    "import numpy as np\nimport weft\ndef f(a: weft.c128[:, :]):\n    return np.linalg.eigvalsh(a)\n": (
        "routine of NumPy",
        "loops",
    ),
    "import weft\nfrom scipy import special\ndef f(a: weft.f64[:]):\n    return special.erf(a)\n": (
        "another library",
        "Callable",
    ),
    "def f(n: int):\n    return [n, 2.5]\n": ("numbers of one type", "lists of numbers"),
    "def f(n: int):\n    if n > 2:\n        return n\n    return 2.5\n": ("another kind", "one kind"),
    "def f(n: int):\n    return eval('n')\n": ("", "try:"),
    "import weft\nN = weft.symbol('N')\ndef f(a: weft.f64[2 * N]):\n    return a.sum()\n": ("size N", "extent of N"),
    "def f(a):\n    return a\n": ("no function with complete hints", "annotate"),
    "from collections.abc import Callable\ndef f(g: Callable[[int], float]) -> float:\n    return g(1)\n": (
        "its parameter g is a function",
        "make it Callable[[float], float]",
    ),
    "from collections.abc import Callable\ndef f(g: Callable[[float], float]) -> float:\n    return g(1.0, 2.0)\n": (
        "with other arguments than 1 floats",
        "call it with numbers",
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_c_has_no_form_for_is_refused_and_nothing_is_written(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "refused_for_c.py"
    path.write_text(text)
    assert main(["build", "--host", "c", str(path), "-o", str(tmp_path / "build")]) == 1
    told = capsys.readouterr().err
    reason, remedy = REFUSED[text]
    assert reason in told and remedy in told and len(told.splitlines()) <= 16
    if "def f(a):" not in text and "[int]" not in text:
        assert f"{path.name}:" in told
    assert not (tmp_path / "build").exists() or not list((tmp_path / "build").iterdir())


def test_wrong_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one_for_c.py"
    path.write_text("def f(n: int) -> int:\n    return n\n")
    assert main(["build", "--host", "c", str(path), "--function", "g", "-o", str(tmp_path)]) == 2
    assert main(["build", "--host", "c", str(path), "--march", "nonsense", "-o", str(tmp_path)]) == 1
    assert "knows no processor 'nonsense'" in capsys.readouterr().err
    folder = tmp_path / "one_for_c"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    assert main(["build", "--host", "c", str(path), "-o", str(tmp_path)]) == 1
    assert "stays as it is" in capsys.readouterr().err and (folder / "thesis.txt").exists()


@pytest.mark.skipif("x86" not in platform.machine(), reason="the processors are of another kind")
def test_a_library_for_another_processor_is_a_code(tmp_path: Path) -> None:
    path = tmp_path / "named_for_c.py"
    path.write_text("import weft\ndef f(a: weft.f64[:, :], b: weft.f64[:, :]) -> float:\n    return (a @ b).sum()\n")
    program = """
    #include "named_for_c.h"
    #include <stdio.h>
    int main(void) {
        double a[4] = {1, 2, 3, 4}, result = 0;
        weft_f64_2 given = weft_f64_2_over(a, 2, 2);
        weft_error error;
        int code = named_for_c_f(&given, &given, &result, &error);
        printf("%d %g %s", code, result, code ? error.message : "");
    }
    """
    (tmp_path / "main.c").write_text(program)
    told = {}
    for march in ("native", "bdver4", "sapphirerapids"):  # no processor is both of the last
        if main(["build", "--host", "c", "--march", march, str(path), "-o", str(tmp_path / march)]) != 0:
            pytest.skip(f"the compiler knows no {march}")
        folder = tmp_path / march / "named_for_c"
        libraries = [str(folder / "lib" / "libnamed_for_c.a"), "-lm", "-lpthread"]
        command = ["cc", "main.c", f"-I{folder / 'include'}", "-o", f"{march}.out", *libraries]
        run_in(tmp_path, command, {})
        told[march] = run_in(tmp_path, [f"./{march}.out"], {})
    refused = {f"7 0 the library was built for {march}, which this processor is not" for march in told}
    assert told.pop("native") == "0 54 " and refused & set(told.values())
    assert set(told.values()) <= {*refused, "0 54 "}


@pytest.mark.slow
def test_two_builds_are_the_same_to_the_byte(tmp_path: Path) -> None:
    assert find() is not None
    path = tmp_path / "twice.py"
    path.write_text("import numpy as np\nimport weft\ndef f(a: weft.f64[:, :]):\n    return np.exp(a).sum(axis=0)\n")
    found = []
    for number in ("1", "2"):
        environment = {"WEFT_CACHE_DIR": str(tmp_path / f"cache{number}"), "PYTHONHASHSEED": number}
        command = [sys.executable, "-m", "weft", "build", "--host", "c", "--march", "x86-64-v2", str(path)]
        run_in(tmp_path, [*command, "-o", str(tmp_path / number)], environment)
        folder = tmp_path / number / "twice"
        found.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    assert found[0] == found[1] and len(found[0]) == 8


def run_in(folder: Path, command: list[str], environment: dict[str, str]) -> str:
    import os

    source = str(Path(__file__).resolve().parents[2] / "src")
    told = {**os.environ, "PYTHONPATH": source, **environment}
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
