"""Modules that stand alone: with weft out of reach they import, run natively and give Python's answers."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.alone import run_alone
from weft.cli import main

pytestmark = pytest.mark.native

MODULE = '''
"""A module of kernels."""
import math

import numpy as np

import weft
from weft import prange

N, M = weft.symbol("N"), weft.symbol("M")
SCALE = 0.25
TABLE = np.array([2.0, 3.0])


@weft.jit
def diffuse(u: weft.f64[N, M], steps: int = 3) -> weft.f64[N, M]:
    """Steps of diffusion."""
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = SCALE * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return v


def helper(x):
    return x * x + TABLE[1]


def through(a: weft.f64[N], *, offset: float = 1.0):
    total = 0.0
    for i in prange(a.shape[0]):
        total += helper(a[i])
    return total + offset, a[::2], math.sqrt(2.0)


def written(a: weft.f64[N], i: int):
    a[0] = 9.0
    a[i] = 1.0


def shifted(a: weft.f64[N], b: weft.f64[N]):
    for i in range(a.shape[0]):
        a[i] = 2.0 * b[i] + 1.0


def product(a: weft.f64[N, M], b: weft.f64[M, N]):
    return a @ b


def counted(n: int) -> int:
    return n if n < 2 else counted(n - 1) + counted(n - 2)


def before(a: weft.f64[N]):
    return behind(a) + 1.0


def behind(a: weft.f64[N]):
    return a.sum()


@weft.jit(target="ray")
def spread(a: weft.f64[N]):
    return (a * a).sum()


def of_list(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def text(s: str) -> int:
    return s.count("a")


def ordered(a: weft.f64[N]):
    return np.sort(a[::-1] * 2 + 1)


def plain(a):
    return a


class Model:
    M: weft.f64[N, N]
    gain: float

    def __init__(self, matrix, gain):
        self.M, self.gain = matrix, gain

    def step(self, x: weft.f64[N]) -> weft.f64[N]:
        y = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                y[i] += self.gain * self.M[i, j] * x[j]
        return y
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("extension")
    path = place / "kernels_alone.py"
    path.write_text(MODULE)
    assert main(["build", "--host", "python", str(path), "-o", str(place / "built")]) == 0
    return place


def alone(folder: Path, script: str, **environment: str) -> str:
    return run_alone(script, folder, folder / "built", **environment)


def test_one_file_is_written_and_the_rest_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels_told.py"
    path.write_text(MODULE)
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path / "built")]) == 0
    told = capsys.readouterr()
    assert [file.name for file in (tmp_path / "built").iterdir()] == ["kernels_told.abi3.so"]
    assert "diffuse(f64[:, :], int)" in told.out and "Model.step(Model, f64[:])" in told.out
    assert "text(str)" in told.out and "ordered(f64[:])" in told.out
    assert re.search(r"^plain: stays Python \(.*no complete hints", told.err, re.M), told.err


SAME = """
import numpy as np
import kernels_alone as k
rng = np.random.default_rng(0)
u = rng.random((60, 40))
def same(function, *args, **kwargs):
    before = function.native_calls
    plain = function.__wrapped__(*args, **kwargs)
    made = function(*args, **kwargs)
    assert function.native_calls == before + 1, (function.__name__, function.plain_calls)
    for one, other in zip(*(value if type(value) is tuple else (value,) for value in (plain, made))):
        assert type(one) is type(other), (one, other)
        assert np.allclose(one, other, rtol=1e-13, atol=0), function.__name__
same(k.diffuse, u)
same(k.diffuse, u, 5)
same(k.diffuse, steps=2, u=u)
same(k.diffuse, u[::2, ::-1])
same(k.diffuse, u[:1, :1])
same(k.through, u[0])
same(k.through, u[:, 3], offset=-2.0)
same(k.of_list, [0.5, 2.5, -1.0])
a, b = rng.random((70, 50)), rng.random((50, 70))
same(k.product, a, b)
assert (k.product(a, b) == a @ b).all()
model = k.Model(rng.random((5, 5)), 2.0)
x = rng.random(5)
assert np.allclose(model.step(x), 2.0 * model.M @ x) and k.Model.step.native_calls == 1
model.gain = 3.0
assert np.allclose(model.step(x), 3.0 * model.M @ x) and k.Model.step.native_calls == 2
print(k.__doc__, k.diffuse.__doc__, k.diffuse.__name__, k.text("banana"), k.ordered(x).shape)
"""


def test_answers_are_pythons_and_calls_are_native(folder: Path) -> None:
    assert alone(folder, SAME).split("\n")[0] == "A module of kernels. Steps of diffusion. diffuse 3 (5,)"
    assert alone(folder, SAME, WEFT_NUM_THREADS="3")


def test_plain_python_is_behind_it(folder: Path) -> None:
    script = """
import numpy as np
import kernels_alone as k
u = np.arange(12.0).reshape(3, 4)
assert (k.diffuse(u.astype(np.float32)) == k.diffuse.__wrapped__(u.astype(np.float32))).all()
assert (k.diffuse.native_calls, k.diffuse.plain_calls) == (0, 1)
for bad in (lambda: k.diffuse(), lambda: k.diffuse(u, 1, 2), lambda: k.diffuse(u, other=1)):
    try:
        bad()
    except TypeError as problem:
        assert "diffuse" in str(problem)
    else:
        raise AssertionError
k.SCALE = 2.0
assert (k.diffuse(u) == k.diffuse.__wrapped__(u)).all() and k.diffuse.native_calls == 0
def other(x): return 5.0
k.helper.__code__ = other.__code__
assert k.through(u[0])[0] == 21.0 and k.through.native_calls == 0
import pickle, inspect
assert pickle.loads(pickle.dumps(k.diffuse)) is k.diffuse
print(list(inspect.signature(k.diffuse).parameters))
"""
    assert alone(folder, script) == "['u', 'steps']\n"


def test_exceptions_come_from_the_users_line(folder: Path) -> None:
    script = """
import traceback
import numpy as np
import kernels_alone as k
a = np.zeros(3)
try:
    k.written(a, 7)
except IndexError as problem:
    shown = traceback.format_exc()
assert a[0] == 9.0 and "a[i] = 1.0" in shown and "kernels_alone.py" in shown, shown
print(problem_text := shown.splitlines()[-1])
"""
    assert alone(folder, script) == "IndexError: index 7 is out of bounds for axis 0 with size 3\n"


def test_threads_forks_and_ctrl_c(folder: Path) -> None:
    script = """
import os, threading
import numpy as np
import kernels_alone as k
u = np.random.default_rng(1).random((500, 500))
expected = k.diffuse(u)
found = []
workers = [threading.Thread(target=lambda: found.append((k.diffuse(u) == expected).all())) for _ in range(4)]
[w.start() for w in workers], [w.join() for w in workers]
assert all(found) and len(found) == 4
child = os.fork()
if child == 0:
    os._exit(0 if (k.diffuse(u) == expected).all() else 1)
assert os.waitpid(child, 0)[1] == 0
import signal
signal.setitimer(signal.ITIMER_REAL, 0.3)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    k.diffuse(u, 10**7)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert alone(folder, script, WEFT_NUM_THREADS="2") == "interrupted\n"


def test_functions_that_call_each_other_and_those_for_clusters(folder: Path) -> None:
    """Whatever their order, also with weft at hand, which a module without functions for clusters never loads."""
    script = """
import sys
import numpy as np
import kernels_alone as k
a = np.arange(4.0)
print(k.counted(15), k.counted.native_calls, k.before(a), k.before.native_calls, k.spread(a), k.spread.native_calls)
assert "weft" not in sys.modules
"""
    assert alone(folder, script) == "610 1 7.0 1 14.0 1\n"


def test_a_module_does_not_load_weft(tmp_path: Path) -> None:
    path = tmp_path / "light_alone.py"
    path.write_text("import weft\ndef f(n: int):\n    s = 0\n    for i in weft.prange(n): s += i\n    return s\n")
    assert main(["build", str(path), "-o", str(tmp_path / "built")]) == 0
    code = f"import sys; sys.path[:0] = [{str(tmp_path / 'built')!r}]\n"
    code += "import light_alone as k; print(k.f(5), k.f.native_calls)\nassert 'weft' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "10 1\n", done.stderr


def test_a_tampered_or_foreign_file_is_refused_with_one_line(folder: Path, tmp_path: Path) -> None:
    name = "kernels_alone.abi3.so"
    content = (folder / "built" / name).read_bytes()
    importing = "try:\n    import kernels_alone\nexcept ImportError as problem:\n    print(problem)\n"
    place = content.index(b"Steps of diffusion")
    (tmp_path / name).write_bytes(content[:place] + b"Traps" + content[place + 5 :])
    told = run_alone(importing, tmp_path, tmp_path)
    assert len(told.splitlines()) == 1 and "is not the file that weft has built" in told
    # Cut off: what the system's loader touches is there.
    for length in (len(content) // 2, len(content) * 9 // 10, len(content) - 1):
        (tmp_path / name).write_bytes(content[:length])
        assert "is not the file that weft has built" in run_alone(importing, tmp_path, tmp_path)
    (tmp_path / name).write_bytes(content[:100])
    assert len(run_alone(importing, tmp_path, tmp_path).splitlines()) == 1


def test_a_file_for_another_processor_is_refused_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "of_tomorrow.py"
    path.write_text("def f(n: int) -> int:\n    return n + 1\n")
    # A level that no processor has yet.
    monkeypatch.setattr("weft.hosts.processors._level", lambda march: "9")
    march = "x86-64-v2" if "x86" in __import__("platform").machine() else "native"
    assert main(["build", "--host", "python", "--march", march, str(path), "-o", str(tmp_path / "built")]) == 0
    script = "try:\n    import of_tomorrow\nexcept ImportError as problem:\n    print(problem)\n"
    told = run_alone(script, tmp_path, tmp_path / "built")
    assert told == f"of_tomorrow was built for {march}, which this processor is not\n"


#: No processor is both.
ELSEWHERE = ("bdver4", "sapphirerapids")


@pytest.mark.skipif("x86" not in platform.machine(), reason="the processors are of another kind")
def test_files_for_named_processors_tell_what_they_need(tmp_path: Path) -> None:
    path = tmp_path / "named.py"
    path.write_text("import weft\ndef f(x: weft.f64[:]):\n    return float((x * 2.0).sum())\n")
    script = "import numpy as np\ntry:\n    import named\n    print(named.f(np.ones(99)), named.f.native_calls)\n"
    script += "except ImportError as problem:\n    print(problem)\n"
    told = {}
    for march in ("native", *ELSEWHERE):
        built = tmp_path / march
        if main(["build", "--march", march, str(path), "-o", str(built)]) != 0:
            pytest.skip(f"the compiler knows no {march}")
        told[march] = run_alone(script, tmp_path, built)
    assert told["native"] == "198.0 1\n"
    refused = {f"named was built for {march}, which this processor is not\n" for march in ELSEWHERE}
    assert refused & {told[march] for march in ELSEWHERE}
    assert {told[march] for march in ELSEWHERE} <= {*refused, "198.0 1\n"}


def test_it_also_works_beside_weft(folder: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(folder / 'built')!r}); import numpy as np; import weft; weft.jit\n"
    code += "import kernels_alone as k; k.diffuse(np.ones((4, 4))); print(k.diffuse.native_calls)"
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": source}, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "1\n", done.stderr


def test_only_functions_of_the_limited_api_are_used(folder: Path) -> None:
    """Of CPython 3.10: the ones that the runtime declares by hand. All but a few are of the limited API."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    file = folder / "built" / "kernels_alone.abi3.so"
    done = subprocess.run([nm, "-D", "--undefined-only", str(file)], capture_output=True, text=True, check=True)
    wanted = {line.split()[-1] for line in done.stdout.splitlines() if line.split()[-1].lstrip("_").startswith("Py")}
    # The run time of plain Python asks at its start whether CPython's own functions are there.
    weak = {line.split()[-1] for line in done.stdout.splitlines() if " w " in line}
    known = {*LIMITED.split(), *EXPORTED.split(), *weak}
    assert wanted <= known, wanted - known
    assert weak >= {"_PyType_Lookup", "_Py_HashBytes", "_Py_c_prod"}
    given = subprocess.run([nm, "-D", "--defined-only", str(file)], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in given.splitlines()] == ["PyInit_kernels_alone"]


#: Public functions that every version from 3.10 on exports, outside the limited API.
EXPORTED = """
PyFrame_GetBack PyInterpreterState_ThreadHead PyThreadState_Next PyUnicode_FromKindAndData
"""

#: From the list of the stable ABI, entries added up to version 3.10.
LIMITED = """
_Py_NoneStruct _Py_TrueStruct Py_CompileString Py_DecRef Py_GetRecursionLimit Py_IncRef PyArg_ParseTuple
PyBaseObject_Type PyBool_FromLong PyBool_Type PyByteArray_AsString PyByteArray_FromStringAndSize PyByteArray_Resize
PyByteArray_Size PyByteArray_Type PyBytes_AsString PyBytes_FromStringAndSize PyBytes_Size PyBytes_Type
PyCapsule_GetPointer PyCapsule_New PyCFunction_NewEx PyComplex_FromDoubles PyComplex_ImagAsDouble
PyComplex_RealAsDouble PyComplex_Type PyDict_Clear PyDict_GetItemWithError PyDict_New PyDict_Next PyDict_SetItem
PyDict_SetItemString PyDict_Size PyDict_Type PyErr_CheckSignals PyErr_Clear PyErr_ExceptionMatches PyErr_Fetch
PyErr_Format PyErr_NoMemory PyErr_NormalizeException PyErr_Occurred PyErr_Restore PyErr_SetNone PyErr_SetString
PyEval_EvalCode PyEval_GetBuiltins PyEval_GetFrame PyEval_RestoreThread PyEval_SaveThread PyExc_AssertionError
PyExc_AttributeError PyExc_BaseException PyExc_Exception PyExc_ImportError PyExc_IndexError PyExc_KeyboardInterrupt
PyExc_KeyError PyExc_NameError PyExc_OverflowError PyExc_RecursionError PyExc_RuntimeError PyExc_StopIteration
PyExc_SystemError PyExc_TypeError PyExc_UnboundLocalError PyExc_ValueError PyExc_ZeroDivisionError PyFloat_AsDouble
PyFloat_FromDouble PyFloat_Type PyFrozenSet_New PyFrozenSet_Type PyGC_Disable PyGC_Enable PyGILState_Ensure
PyGILState_Release PyImport_ImportModule PyInterpreterState_Get PyIter_Next PyList_New PyList_SetItem PyList_SetSlice
PyList_Type PyLong_AsLongLong PyLong_AsLongLongAndOverflow PyLong_FromLongLong PyLong_Type PyMem_Free PyMem_Malloc
PyMemberDescr_Type PyModule_GetDict PyModuleDef_Init PyNumber_Add PyNumber_And PyNumber_Float PyNumber_FloorDivide
PyNumber_Long PyNumber_Lshift PyNumber_Multiply PyNumber_Or PyNumber_Power PyNumber_Remainder PyNumber_Rshift
PyNumber_Subtract PyNumber_TrueDivide PyNumber_Xor PyObject_ASCII PyObject_Call PyObject_CallFunction
PyObject_CallMethod PyObject_CallObject PyObject_Format PyObject_GenericGetAttr PyObject_GenericGetDict
PyObject_GenericSetAttr PyObject_GetAttr PyObject_GetAttrString PyObject_GetItem PyObject_GetIter PyObject_Hash
PyObject_IsTrue PyObject_Repr PyObject_RichCompare PyObject_RichCompareBool PyObject_SetAttr PyObject_SetAttrString
PyObject_SetItem PyObject_Str PyOS_double_to_string PyOS_string_to_double PyRange_Type PySequence_List PySet_Add
PySet_Discard PySet_New PySet_Size PySet_Type PySlice_New PySlice_Type PyTuple_GetItem PyTuple_New PyTuple_SetItem
PyTuple_Size PyTuple_Type PyType_FromSpec PyType_GenericAlloc PyType_GetFlags PyType_GetSlot PyType_IsSubtype
PyType_Type PyUnicode_AsUCS4 PyUnicode_AsUTF8AndSize PyUnicode_CompareWithASCIIString PyUnicode_DecodeUTF32
PyUnicode_FromString PyUnicode_GetLength PyUnicode_InternFromString PyUnicode_Type
"""


HELD = '''
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum

import numpy as np

import weft

N, M = weft.symbol("N"), weft.symbol("M")
Pair = namedtuple("Pair", "low high")
PRICES = {"ore": 3, "salt": 5}


class Way(Enum):
    UP = 1
    DOWN = 2


@dataclass
class Point:
    x: float
    y: float

    def moved(self, by: float):
        return Point(self.x + by, self.y)


def counted(text: str) -> dict[str, int]:
    found = {}
    for word in text.split():
        found[word] = found.get(word, 0) + 1
    return found


def letters(text: str):
    return Counter(text)


def shifted(text: str, by: int) -> str:
    return "".join([chr(ord(letter) + by) for letter in text])


def summed(data: bytes) -> int:
    total = 0
    for byte in data:
        total = (total * 31 + byte) % 65521
    return total


def turned(data: bytes) -> bytes:
    return data[::-1]


def joined(words: list[str]) -> str:
    return ",".join(sorted(words))


def grown(items: list[int], item: int) -> int:
    items.append(item)
    return len(items)


def noted(ages: dict[int, int], count: int):
    for i in range(count):
        ages[i] = ages.get(i, 0) + i


def swapped(ages: dict[str, int]) -> dict[int, str]:
    return {age: name for name, age in ages.items()}


def grouped(items: list[int]):
    found = defaultdict(list)
    for item in items:
        found[item % 3].append(item)
    return found


def mirrored(rows: list[list[int]]) -> list[list[int]]:
    return [list(reversed(row)) for row in rows]


def squares(items: set[int]) -> set[int]:
    return {item * item for item in items}


def weighed(pairs: list[tuple[int, float]]) -> float:
    return sum([count * weight for count, weight in pairs])


def price(name: str) -> int:
    return PRICES[name]


def ends(a: weft.f64[N]):
    return Pair(a.min(), a.max())


def way(n: int):
    return Way.UP if n > 0 else Way.DOWN


def moved(a: weft.f64[N], b: weft.f64[N]):
    a[1:] += b[:-1]


def ordered(a: weft.f64[N, M]):
    return np.sort(a, axis=0), np.argsort(a[0], kind="stable"), np.unique(a)


def solved(a: weft.f64[N, N], b: weft.f64[N]):
    return np.linalg.solve(a, b), np.linalg.det(a)


def spectrum(a: weft.f64[N]):
    return np.fft.rfft(a)


def first(text: str) -> str:
    if not text:
        raise KeyError(text)
    return text[0]
'''

OWNED = """
import weft


class Square:
    side: float
    count: int

    def __init__(self, side, count=2):
        self.side, self.count = side, count

    @property
    def area(self) -> float:
        'The area.'
        return self.side * self.side

    @area.setter
    def area(self, area):
        self.side = area**0.5

    @staticmethod
    def share(n: int) -> float:
        return 1.0 / n

    def __call__(self, by: float) -> float:
        return self.side * by

    def cost(self, price: float) -> float:
        return self.area * price * Square.share(self.count)


class Plate(Square):
    def cost(self, price: float) -> float:
        return super().cost(price) + 1.0
"""


def test_properties_static_methods_and_calls_of_objects_are_native(tmp_path: Path) -> None:
    path = tmp_path / "kernels_owned.py"
    path.write_text(OWNED)
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path / "built")]) == 0
    script = (
        "from kernels_owned import Square, Plate\ns = Square(3.0)\nassert s.area == 9.0 and s(2.0) == 6.0\n"
        "assert s.cost(4.0) == 18.0 and s.share(4) == Square.share(4) == 0.25 and Plate(1.0).cost(2.0) == 2.0\n"
        "s.area = 16.0\nassert s.side == 4.0 and Square.area.__doc__ == 'The area.'\ns.count = 0\n"
        "try: s.cost(1.0)\nexcept ZeroDivisionError: print('raised')\n"
        "print(Square.area.fget.native_calls, Square.share.native_calls >= 2, Square.__call__.native_calls)\n"
        "Square.share = staticmethod(lambda n: 5.0)\nprint(s.cost(1.0))\n"
    )
    assert run_alone(script, tmp_path, tmp_path / "built").split("\n")[:3] == ["raised", "2 True 1", "80.0"]


#: For each function its calls; the last one of each list is one that no version takes.
CALLS = """
matrix = np.arange(16.0).reshape(4, 4) % 5 + 4 * np.eye(4)
line = np.arange(7.0)
calls = {
    "counted": [("a b a",), ("",), ("ä 漢 ä",), (3,)],
    "letters": [("hello",), ("",), ([1, 1],)],
    "shifted": [("abc", 1), ("", 2), ("ab", "x")],
    "summed": [(b"some bytes",), (b"",), (bytearray(b"x"),)],
    "turned": [(b"abc",), (b"",), ("abc",)],
    "joined": [(["b", "a"],), ([],), ([1],)],
    "grown": [([1, 2], 3), ([], 4), (["a"], 1)],
    "noted": [({3: 4}, 5), ({}, 2), ({2.5: 1}, 1)],
    "swapped": [({"x": 1, "y": 2},), ({},), ({"x": 1.5},)],
    "grouped": [([1, 2, 3, 4],), ([],), ([1.5],)],
    "mirrored": [([[1, 2], [], [3]],), ([[1, 2], [3, 4]],), ([[1.5]],)],
    "squares": [({1, 2, -2},), (set(),), ({1.5},)],
    "weighed": [([(1, 2.0), (3, 4.5)],), ([],), ([(1, 2)],)],
    "price": [("ore",), ("salt",), (b"ore",)],
    "ends": [(line,), (line[::-2],), ([1.0],)],
    "way": [(1,), (-1,), ("x",)],
    "moved": [(line.copy(), line), (matrix[0, 1:], matrix[0, :-1]), (line.astype(int), line)],
    "ordered": [(matrix,), (matrix.T,), (line,)],
    "solved": [(matrix, line[:4]), (matrix.T, line[:4]), (matrix, line)],
    "spectrum": [(line,), (line[:6],), (matrix,)],
    "first": [("abc",), ("ö",), (["x"],)],
}

def told(value):
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, value.ravel().tolist()]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(told, value)]
    return [type(value).__name__, repr(value)]

def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        result = told(function(*arguments))
    except Exception as problem:
        result = [type(problem).__name__, str(problem)]
    return result, told(arguments)
"""


def test_containers_strings_and_routines_are_native_without_weft(tmp_path: Path) -> None:
    path = tmp_path / "kernels_held.py"
    path.write_text(HELD)
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path / "built")]) == 0
    check = (
        "for name, each in calls.items():\n"
        "    function = getattr(k, name)\n"
        "    for number, arguments in enumerate(each):\n"
        "        native = function.native_calls\n"
        "        found, expected = outcome(function, arguments), outcome(function.__wrapped__, arguments)\n"
        "        assert found == expected, (name, arguments, found, expected)\n"
        "        is_native = function.native_calls == native + 1\n"
        "        assert is_native == (number < len(each) - 1), (name, arguments)\n"
        "assert outcome(k.first, ('',)) == outcome(k.first.__wrapped__, ('',))\n"
        "same = np.ones(5)\nk.moved(same, same)\nassert same.tolist() == [1.0, 2.0, 2.0, 2.0, 2.0]\n"
        "assert k.Point(1.0, 2.0).moved(0.5) == k.Point(1.5, 2.0) and k.Point.moved.native_calls == 1\n"
        "k.np.sort = None\nassert outcome(k.ordered, (matrix,))[0][0] == 'TypeError'\n"
        "print('alike')\n"
    )
    script = f"import copy\nimport numpy as np\nimport kernels_held as k\n{CALLS}\n{check}"
    assert run_alone(script, tmp_path, tmp_path / "built") == "alike\n"


@pytest.mark.slow
def test_two_builds_are_the_same_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "twice_alone.py"
    text = "import numpy as np\ndef f(a: weft.f64[:, :]):\n    return np.exp(a).sum(axis=0)\n"
    path.write_text(OWNED + text)  # versions of methods depend on their class and on other methods
    source = str(Path(__file__).resolve().parents[2] / "src")
    found = []
    for number in ("1", "2"):
        environment = {"WEFT_CACHE_DIR": str(tmp_path / f"cache{number}"), "PYTHONHASHSEED": number}
        command = [sys.executable, "-m", "weft", "build", "--host", "python", "--march", "x86-64-v2", str(path)]
        command += ["-o", str(tmp_path / number)]
        told = {**environment, "PYTHONPATH": source, "PATH": __import__("os").environ["PATH"]}
        subprocess.run(command, env=told, check=True, capture_output=True, timeout=300)
        found.append((tmp_path / number / "twice_alone.abi3.so").read_bytes())
    assert found[0] == found[1]


def test_another_file_in_its_place_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kept_alone.py"
    path.write_text("def f(n: int) -> int:\n    return n + 1\n")
    place = tmp_path / "kept_alone.abi3.so"
    place.write_bytes(b"another program's")
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path)]) == 1
    assert "stays as it is" in capsys.readouterr().err and place.read_bytes() == b"another program's"


def test_what_cannot_be_built_says_so_and_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nothing_alone.py"
    path.write_text("def f(n: int):\n    return eval('n')\n")
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path / "built")]) == 1
    told = capsys.readouterr().err
    assert "f: stays Python (line 2: " in told and "annotate" in told
    assert not (tmp_path / "built").exists()


def test_types_that_were_recorded_stand_in_for_hints(tmp_path: Path) -> None:
    from weft.heat import hints

    path = tmp_path / "recorded_alone.py"
    path.write_text("import numpy as np\ndef f(a: np.ndarray, n):\n    return a.sum() + n\n")
    hints.write(path, {"f": {"a": "weft.f64[:]", "n": "int"}})
    assert main(["build", "--host", "python", str(path), "-o", str(tmp_path / "built")]) == 0
    script = "import numpy as np, recorded_alone as r; print(r.f(np.ones(4), 2), r.f.native_calls)"
    assert run_alone(script, tmp_path, tmp_path / "built") == "6.0 1\n"


def test_arrays_that_overlap_get_pythons_answer(folder: Path) -> None:
    script = """
import numpy as np
import kernels_alone as k
a, b = np.arange(6.0), np.arange(6.0)
k.shifted(a[1:], a[:-1])
k.shifted.__wrapped__(b[1:], b[:-1])
assert (a == b).all()
print(k.shifted.plain_calls)
k.shifted(a, b)
print(k.shifted.native_calls)
"""
    assert alone(folder, script) == "1\n1\n"
