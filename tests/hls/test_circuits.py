"""Circuits: the C++ for Vitis HLS is simulated with g++ and a stand-in for the stream header, the OpenCL C of a single
work-item runs on a CPU; both compute what NumPy does.  No board and no vendor's compiler is involved.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import opencl_device
from weft.analysis.cost import evaluate
from weft.errors import Unsupported
from weft.frontend import specs
from weft.hls import emit
from weft.hls.plan import Emitted
from weft.ir.program import Role, SizeOf

HERE = Path(__file__).parent
RNG = np.random.default_rng(11)
TYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "b8": np.bool_, "u8": np.uint8}

gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


def axpy(a, x, y):
    return a * x + y


def product(A, x):
    return A @ x


def total(x, y):
    return np.sum(x * y)


def largest(a):
    return a.max(), np.sqrt(a).sum()


def smooth(a, b):
    n, m = a.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def softmax(a):
    e = np.exp(a - a.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


def steps(a, n):
    b = a.copy()
    for _ in range(n):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])
        for i in range(1, a.shape[0] - 1):
            a[i] = 0.5 * (b[i - 1] + b[i + 1])
    return b


def squares(a):
    t = a * a + 1.0
    return np.sqrt(t)


def counted(a, limit):
    return np.where(a > limit, a, -a), (a > limit)


def gemm(A, B, C):
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * B[k, j]
            C[i, j] = 2.0 * C[i, j] + s


def recurrence(a, c):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * c + a[i]
        a[i] = s


def powers(n):
    s = 0
    for i in range(n):
        s += i * i * i
    return s


def dot(x, y):
    """A Python float if there are no elements, else NumPy's: two returns in the program."""
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


def dot_and_count(x, y):
    s = 0.0
    n = 0
    for i in range(len(x)):
        if x[i] > y[i]:
            s = max(s, x[i])
            n += 1
    return s, n


PROGRAMS = {
    "dot": (dot, lambda: (RNG.random(37), RNG.random(37))),
    "dot of nothing": (dot, lambda: (np.zeros(0), np.zeros(0))),
    "dot and count": (dot_and_count, lambda: (RNG.random(37), RNG.random(37))),
    "axpy": (axpy, lambda: (2.5, RNG.random(50), RNG.random(50))),
    "product": (product, lambda: (RNG.random((7, 30)), RNG.random(30))),
    "total": (total, lambda: (RNG.random(37), RNG.random(37))),
    "total of float32": (total, lambda: (RNG.random(37).astype("f4"), RNG.random(37).astype("f4"))),
    "largest": (largest, lambda: (RNG.random((5, 6)),)),
    "smooth": (smooth, lambda: (RNG.random((9, 11)), np.zeros((9, 11)))),
    "softmax": (softmax, lambda: (RNG.random((6, 19)),)),
    "steps": (steps, lambda: (RNG.random(20), 3)),
    "squares": (squares, lambda: (RNG.random((4, 5)),)),
    "counted": (counted, lambda: (RNG.random(25), 0.5)),
    "gemm": (gemm, lambda: (RNG.random((5, 9)), RNG.random((9, 4)), RNG.random((5, 4)))),
    "recurrence": (recurrence, lambda: (RNG.random(16), 0.5)),
    "powers": (powers, lambda: (50,)),
    "one element": (total, lambda: (RNG.random(1), RNG.random(1))),
    "nothing": (axpy, lambda: (2.5, RNG.random(0), RNG.random(0))),
}


class Board:
    """The memory of a call: every argument of a kernel, as the host would prepare it."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], form: str) -> None:
        jitted = function if hasattr(function, "py_func") else weft.jit(function)
        self.emitted: Emitted = emit(jitted, specs.specs_of(arguments), form)
        program = jitted.program(*arguments).program
        names = jitted.py_func.__code__.co_varnames
        given = dict(zip(names, arguments))
        self.sizes = {
            symbol.name: given[symbol.source.buffer].shape[symbol.source.axis]
            if isinstance(symbol.source, SizeOf)
            else given[symbol.source.name]  # type: ignore[union-attr]
            for symbol in program.symbols
            if hasattr(symbol.source, "axis") or hasattr(symbol.source, "name")
        }
        self.values: list[Any] = []
        for one in self.emitted.arguments:
            if one.kind == "number":
                self.values.append(self.sizes[one.name] if one.name in self.sizes else given[one.name])
            elif one.kind in ("in", "inout"):
                self.values.append(np.ascontiguousarray(given[one.name]).copy())
            else:
                shape = [int(evaluate(extent, self.sizes)) for extent in one.shape] or [1]  # type: ignore[arg-type]
                self.values.append(np.full(shape, 77, TYPES[one.type]) if one.kind != "status" else np.zeros(1, "i4"))
        self.outputs = [buffer.name for buffer in program.buffers if buffer.role is Role.RESULT]

    def found(self) -> dict[str, list[np.ndarray]]:
        """What the kernel left, by the kind of argument."""
        found: dict[str, list[np.ndarray]] = {}
        for one, value in zip(self.emitted.arguments, self.values):
            found.setdefault(one.kind, []).append(value)
        return found


def simulated(board: Board, directory: Path) -> int:
    """C simulation: the status of the call."""
    source = directory / "kernel.cpp"
    source.write_text(board.emitted.text)
    library = directory / "kernel.so"
    command = ["g++", "-O1", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused-parameter"]
    command += ["-Wno-unused-function", "-Werror", "-ffp-contract=off", f"-I{HERE}"]
    command += ["-shared", "-fPIC", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr + board.emitted.text
    kernel = ctypes.CDLL(str(library))[board.emitted.name]
    kinds = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64}
    given = [
        kinds[one.type](value) if one.kind == "number" else ctypes.c_void_p(value.ctypes.data)
        for one, value in zip(board.emitted.arguments, board.values)
    ]
    return int(kernel(*given))


def expect(board: Board, function: Any, arguments: tuple[Any, ...]) -> None:
    """The board's memory holds what Python computes."""
    copies = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)
    wanted = function(*copies)
    wanted = () if wanted is None else wanted if isinstance(wanted, tuple) else (wanted,)
    found = board.found()
    left = [*found.get("out", []), *found.get("result", [])]
    arrays = [value for value in wanted if isinstance(value, np.ndarray)]
    numbers = [value for value in wanted if not isinstance(value, np.ndarray)]
    single = any(getattr(each, "dtype", None) == np.float32 for each in arguments)
    tolerance = 1e-5 if single else 1e-12
    assert len(left) == len(wanted)
    for one, other in zip(left, [*arrays, *numbers]):
        np.testing.assert_allclose(np.ravel(one), np.ravel(other), rtol=tolerance)
    changed = [value for one, value in zip(board.emitted.arguments, board.values) if one.kind in ("in", "inout")]
    for one, other in zip(changed, [each for each in copies if isinstance(each, np.ndarray)]):
        np.testing.assert_allclose(one, other, rtol=tolerance)


@gxx
@pytest.mark.parametrize("name", PROGRAMS)
def test_simulation_of_vitis_code(name: str, tmp_path: Path) -> None:
    function, make = PROGRAMS[name]
    arguments = make()
    board = Board(function, arguments, "hls")
    assert simulated(board, tmp_path) == 0
    expect(board, function, arguments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_single_work_item_on_opencl(name: str) -> None:
    device = opencl_device()
    function, make = PROGRAMS[name]
    arguments = make()
    board = Board(function, arguments, "intel")
    kernel = device.build(board.emitted.text, {})[board.emitted.name]
    memory: list[Any] = []
    for one, value in zip(board.emitted.arguments, board.values):
        if one.kind == "number":
            memory.append(TYPES[one.type](value))
            continue
        memory.append(device.allocate(max(value.size, 1), value.dtype))
        if value.size:
            device.send(memory[-1], value)
    device.launch(kernel, (1,), (1,), memory)
    for one, value, place in zip(board.emitted.arguments, board.values, memory):
        if one.kind != "number" and value.size:
            device.fetch(value, place)
    assert board.found()["status"][0][0] == 0
    expect(board, function, arguments)


@gxx
def test_other_arguments_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    board = Board(axpy, (2.0, np.ones(4), np.ones(4)), "hls")
    place = [one.name for one in board.emitted.arguments].index("y_0")
    board.values[place] = 3
    assert simulated(board, tmp_path) == 1
    assert (board.found()["out"][0] == 77).all()


# --- what tools are told ----------------------------------------------------------------------------------------------


def text_of(function: Any, arguments: tuple[Any, ...], form: str = "hls") -> str:
    return emit(weft.jit(function), specs.specs_of(arguments), form).text


def test_float_sums_are_interleaved_unless_their_order_is_kept() -> None:
    x = np.ones(9)
    text = text_of(total, (x, x))
    assert "ARRAY_PARTITION variable=k_parts complete" in text and "distance=8" in text and "II=1" in text
    strict = emit(weft.jit(total, fp="strict"), specs.specs_of((x, x))).text
    assert "k_parts" not in strict and "II=8" in strict
    assert "#pragma ii 1" in text_of(total, (x, x), "intel")


def test_memory_is_read_and_written_by_processes_of_their_own() -> None:
    emitted = emit(weft.jit(axpy), specs.specs_of((2.0, np.ones(4), np.ones(4))))
    assert emitted.streams == 3 and emitted.text.count("#pragma HLS DATAFLOW") == 1
    assert emitted.text.count("hls::stream<f64> s_") == 3
    assert "m_axi port=x" in emitted.text


def test_what_a_nest_reads_and_writes_has_no_stream() -> None:
    text = text_of(recurrence, (np.ones(4), 0.5))
    assert "hls::stream<" not in text and "#pragma HLS PIPELINE\n" in text


@gxx
def test_integers_that_leave_64_bits_are_noticed(tmp_path: Path) -> None:
    board = Board(powers, (100_000,), "hls")
    assert simulated(board, tmp_path) == 1


@gxx
def test_stages_hand_elements_on_without_memory(tmp_path: Path) -> None:
    source = tmp_path / "staged.py"
    lines = "import numpy as np\ndef staged(a):\n    t = a * a + 1.0\n    return np.sqrt(t) / 2.0\n"
    source.write_text(lines)
    namespace: dict[str, Any] = {}
    exec(compile(lines, str(source), "exec"), namespace)
    function = weft.jit(namespace["staged"])
    weft.transform(function).no_fuse(3, 4)
    a = RNG.random((5, 8))
    board = Board(function, (a,), "hls")
    kinds = [one.kind for one in board.emitted.arguments]
    assert "scratch" not in kinds and board.emitted.text.count("#pragma HLS DATAFLOW") == 1
    assert board.emitted.streams == 3 and board.emitted.text.count("void k_stage") == 2
    assert simulated(board, tmp_path) == 0
    expect(board, namespace["staged"], (a,))


def test_reasons() -> None:
    def complex_numbers(a):
        return a * 1j

    for function, arguments, reason in (
        (complex_numbers, (np.ones(3),), "complex numbers"),
        (lambda a: np.linalg.inv(a), (np.eye(3),), "Library"),
        (lambda a, k: a[k], (np.ones(5), np.array([3, 1])), "a test in the midst"),
    ):
        with pytest.raises(Unsupported, match=reason) as caught:
            emit(weft.jit(function), specs.specs_of(arguments))
        assert caught.value.remedy


def test_the_command(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    script = tmp_path / "module.py"
    script.write_text(
        "import numpy as np\nimport weft\n"
        "def axpy(a: float, x: weft.f64[:], y: weft.f64[:]):\n    return a * x + y\n"
        "def none(a):\n    return a\n"
    )
    for form, ending, word in (("hls", "cpp", "HLS DATAFLOW"), ("intel", "cl", "max_global_work_dim(0)")):
        command = [sys.executable, "-m", "weft", "build", "--emit", form, str(script), "-o", str(tmp_path / "out")]
        done = subprocess.run(command, env=subprocess_environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        assert word in (tmp_path / "out" / f"axpy.{ending}").read_text()
        assert "none: its parameters have no complete hints" in done.stderr
