"""NumPy arrays and scalars in compiled plain Python against CPython and NumPy: types, bits, aliases, exceptions."""

from __future__ import annotations

import copy
import heapq
import itertools
import os
import subprocess
import sys
import threading
import warnings
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.plain.kernels import load
from weft.plain.function import Native
from weft.plain.runtime import last
from weft.plain.told import Refusal

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not load() or np.__version__ < "2", reason="no run time of plain Python with arrays here"),
]

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64")


def described(value: Any, seen: dict[int, int] | None = None) -> Any:
    """A value with exact types, bits, layouts and identities, as something that can be compared."""
    seen = {} if seen is None else seen
    if isinstance(value, (list, tuple, dict, np.ndarray)) or hasattr(value, "__dict__"):
        if id(value) in seen:
            return "again", seen[id(value)]
        seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        base = None if value.base is None else described(value.base, seen)
        return "array", value.dtype.str, value.shape, value.strides, value.tobytes(), value.flags.writeable, base
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, (list, tuple)):
        return type(value), [described(item, seen) for item in value]
    if isinstance(value, dict):
        return type(value), [(described(k, seen), described(v, seen)) for k, v in value.items()]
    if hasattr(value, "__dict__"):
        return type(value), described(value.__dict__, seen)
    return type(value), value


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The result, or the exception, and what the arguments are afterwards."""
    try:
        found = described((function(*arguments), arguments))
    except Exception as problem:
        return type(problem), str(problem), described(arguments)
    return found


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies that share memory as the arguments do, with the same strides."""
    return copy.deepcopy(arguments, _shared(arguments))


def _shared(arguments: Any) -> dict[int, Any]:
    memo: dict[int, Any] = {}
    roots: dict[int, np.ndarray] = {}

    def visit(value: Any) -> None:
        if isinstance(value, np.ndarray):
            root = value
            while isinstance(root.base, np.ndarray):
                root = root.base
            if id(root) not in roots:
                roots[id(root)] = root.copy(order="K")
                memo[id(root)] = roots[id(root)]
                roots[id(root)].flags.writeable = root.flags.writeable
            if value is not root:
                offset = value.__array_interface__["data"][0] - root.__array_interface__["data"][0]
                new = np.ndarray(value.shape, value.dtype, roots[id(root)], offset, value.strides)
                new.flags.writeable = value.flags.writeable
                memo[id(value)] = new
        elif isinstance(value, dict):
            list(map(visit, value.values()))
        elif isinstance(value, (list, tuple)):
            list(map(visit, value))
        elif hasattr(value, "__dict__"):
            visit(vars(value))

    visit(arguments)
    return memo


class Checked:
    """A function as native code that must do what Python does, without deoptimising unless that is expected."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.native = Native(function)

    def __call__(self, *arguments: Any, deopts: bool = False) -> Any:
        before = sum(last(version.call).deopts for version in self.native.versions)
        calls = sum(version.calls for version in self.native.versions)
        self.native._missed = lambda values: self.native.extend(values) is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = outcome(self.function, copied(arguments))
            found = outcome(self.native, copied(arguments))
        assert found == expected
        after = sum(last(version.call).deopts for version in self.native.versions)
        reasons = [last(version.call).reason for version in self.native.versions]
        assert (after > before) == deopts, reasons
        if not deopts:
            assert sum(version.calls for version in self.native.versions) == calls + 1, reasons
        return found


def numbers(dtype: str, *shape: int) -> np.ndarray:
    """Small numbers of a type, some of them negative if it has these."""
    rng = np.random.default_rng(7)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return (rng.random(shape) * 8 - 4).astype(dtype)
    return rng.integers(0 if dtype.startswith("u") else -9, 10, shape).astype(dtype)


def read_and_write(x: Any, i: int, value: Any) -> Any:
    before = x[i]
    x[i] = value
    return before, x[-1], len(x), x.shape, x.size, x.ndim, [e for e in x]


def some(*values: str) -> list[Any]:
    """All element types; those that are not named here are for the long tests."""
    return [value if value in values else pytest.param(value, marks=pytest.mark.slow) for value in DTYPES]


@pytest.mark.parametrize("dtype", some("float64", "int64", "uint8", "bool"))
def test_elements_of_every_type(dtype: str) -> None:
    run = Checked(read_and_write)
    x = numbers(dtype, 12)
    for value in (1, x[2]):
        run(x, 3, value)
        run(x[::2], -2, value)
        run(x[::-3], 1, value)
    run(x[4:5], 0, 1)
    run(x, 12, 1, deopts=True)
    run(x[:0], 0, 1, deopts=True)


def caught(x: Any, i: int, j: int) -> Any:
    said = []
    for a, b in ((i, j), (j, i), (0, 0)):
        try:
            said.append(x[a, b])
            x[a, b] = x[b, a]
        except IndexError:
            said.append("no such place")
        except ValueError:
            said.append("read-only")
    return said


def test_exceptions_are_numpys() -> None:
    run = Checked(caught)
    x = numbers("float64", 3, 4)
    run(x, 2, 1)
    run(x, 3, -1)
    run(x, 0, 4)
    run(x, -4, 9)
    fixed = x.copy()
    fixed.flags.writeable = False
    run(fixed, 1, 2)


def views(x: Any, k: int) -> Any:
    row = x[k]
    row[0] = row[-1]
    column = x[:, 1]
    column[k] = 7
    corner = x[1:, ::-1]
    turned = x.T
    turned[0, 0] = 5
    x[0] = x[1]
    x[:, 0] = 3
    x[..., -1] = corner[0, 0]
    x[1:] += x[:-1]
    return row, column, corner, turned, x[None, k], x, x[k], [r[0] for r in x]


@pytest.mark.parametrize("dtype", some("float64", "int32")[1:])
def test_views_share_memory(dtype: str) -> None:
    run = Checked(views)
    x = numbers(dtype, 4, 5)
    run(x, 1)
    run(x, -1)
    run(np.asfortranarray(x), 2)
    run(x[::-1, 1:], 0)
    run(numbers(dtype, 8, 9)[::2, ::3], 2)


def overlapping(a: Any, b: Any) -> Any:
    for i in range(len(a)):
        a[i] = b[i] + 1
    b[:] = a
    return a, b, a[1:]


def test_arguments_that_share_memory() -> None:
    run = Checked(overlapping)
    x = numbers("float64", 10)
    run(x, x)
    run(x[1:], x[:-1])
    run(x[:-1], x[1:])
    run(x[::-1], x)
    run(x[::2], x[1::2])


def scalars(a: Any, b: Any) -> Any:
    found: list[Any] = [a + b, a - b, a * b, a == b, a != b, a < b, a <= b, a > b, a >= b, -a, +a, abs(a)]
    found += [a / b, bool(a), int(a), float(a), max(a, b), min(a, b), str(a), f"{a}"]
    return found


def whole(a: Any, b: Any) -> Any:
    return a // b, a % b, a & b, a | b, a ^ b, ~a, a << 2, a >> 1, a**2


def floats(a: Any, b: Any) -> Any:
    return a // b, a % b, a**2, a**b, round(b * 1.5), a if a > b else b


KINDS = [*(np.dtype(d).type for d in DTYPES if d != "bool"), int, float]
PAIRS = [(x, y) for x, y in itertools.product(KINDS, repeat=2) if not {x, y} <= {int, float}]
COMMON = [(np.float64, float), (int, np.float64), (np.int64, np.float64), (np.int64, int), (np.float32, float)]
COMMON += [(np.uint8, np.int16)]


def check_pair(x: Any, y: Any) -> None:
    negative = "uint" in x.__name__  # NumPy warns of -x
    Checked(scalars)(x(5), y(3), deopts=negative)
    if "float" in x.__name__ + y.__name__:
        if np.float32 not in (x, y):
            Checked(floats)(x(5), y(3))
    else:
        Checked(whole)(x(5), y(3))


@pytest.mark.parametrize(("x", "y"), COMMON)
def test_scalars(x: Any, y: Any) -> None:
    check_pair(x, y)


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y"), [pair for pair in PAIRS if pair not in COMMON])
def test_scalars_of_every_pair_of_types(x: Any, y: Any) -> None:
    check_pair(x, y)


# --- values that NumPy warns of, and the way back ----------------------------------------


def trouble(x: Any, k: int) -> Any:
    for i in range(len(x)):
        x[i] = x[i] + 1
    x[0] = x[k] * x[k] / x[k - 1]
    return x[0]


def test_what_numpy_warns_of_is_undone_and_repeated() -> None:
    run = Checked(trouble)
    x = np.arange(3000.0)
    run(x, 2)
    x[5] = 1e200
    run(x, 5, deopts=True)  # overflow
    x[5], x[4] = 2.0, -1.0
    run(x, 5, deopts=True)  # division by zero
    x[4] = np.inf
    run(x, 5)
    run(x, 4)
    x[3] = np.inf
    run(x, 4, deopts=True)  # infinity by infinity
    whole = np.full(3000, 2**62, np.int64)
    run(whole, 3, deopts=True)


def half_way(state: Any, other: Any, k: int) -> Any:
    state.grid[k, 1] = 5.0
    other[:] = 3.0
    state.names.append("x")
    return state.grid[k + 1, 0]


class State:
    def __init__(self, grid: Any) -> None:
        self.grid = grid
        self.names: list[str] = []
        self.last = grid[0]


def test_an_exception_half_way_leaves_what_python_leaves() -> None:
    run = Checked(half_way)
    grid = np.arange(4000.0).reshape(1000, 4)
    run(State(grid), grid[3], 5)
    run(State(grid), grid.T[1], 999, deopts=True)
    run(State(grid[::-1]), grid.T[1], 999, deopts=True)


def test_memory_that_is_not_numpys_own_is_written_by_python() -> None:
    run = Checked(read_and_write)
    run(np.arange(4.0), 1, 2.0)
    held = np.frombuffer(bytearray(32), np.float64)
    before = last(run.native.versions[0].call).deopts
    assert run.native(held, 1, 5.0)[0] == 0.0 and held[1] == 5.0
    assert last(run.native.versions[0].call).deopts == before + 1


def slowly(x: Any, first: int, count: int, rounds: int) -> Any:
    for _ in range(rounds):
        for i in range(first, first + count):
            x[i] = x[i] + 1
    return x[first + rounds]


def test_other_threads_write_beside_a_call_that_is_undone() -> None:
    native = Native(slowly)
    x = np.zeros(64)
    native.extend((x, 0, 32, 1))
    thread = threading.Thread(target=lambda: [x.__setitem__(slice(40, 50), k) for k in range(200000)])
    thread.start()
    for _ in range(3):
        with pytest.raises(IndexError):
            native(x, 0, 32, 200000)
        x[:32] = 0
        if not thread.is_alive():
            break
    thread.join()
    assert (x[40:50] == 199999).all()


# --- whole arrays ----------------------------------------


def arithmetic(x: Any, y: Any) -> Any:
    found = [x + y, x - y, x * y, x == y, x < y, x >= y, x != y]
    x += y
    x *= 2
    found.append(x)
    return found, (x > 1).any(), (x < 9).all(), x.max(), x.min(), x.argmax(), x.argmin(), x.copy()


def test_arithmetic_of_arrays() -> None:
    run = Checked(arithmetic)
    x, y = numbers("float64", 300), numbers("float64", 300) / 3
    run(x, y)
    run(x[::-2], y[:150])
    run(x[:0], y[:0], deopts=True)  # the largest of no elements
    run(x[:10], y[:11], deopts=True)
    run(numbers("float64", 4, 6), numbers("float64", 6))
    run(numbers("float64", 4, 6), numbers("float64", 4, 1))
    run(np.asfortranarray(numbers("float64", 4, 6)), numbers("float64", 4, 1), deopts=True)
    run(numbers("int32", 40), numbers("int32", 40))
    run(x, 2)
    run(numbers("float32", 30), 0.1)


def made(n: Any, rows: list[float], x: Any) -> Any:
    a = np.zeros(n)
    b = np.ones((n, 2), dtype=np.int32)
    c = np.full(n, -1)
    d = np.arange(n)
    e = np.arange(2, n, 3)
    f = np.array(rows)
    g = np.array([n, 2, 3])
    h = np.empty(n, dtype="uint8")
    h.fill(7)
    z = np.zeros_like(x)
    z[1] = x[0]
    parts = [a, b, c, d, e, f, g, h, z, np.ones_like(x), np.full_like(x, 3), b.reshape(2, -1), x.astype(np.int64)]
    parts += [np.float64(n), np.int32(3), np.sqrt(n), np.sqrt(x[0] * x[0]), np.abs(x[1]), np.abs(x)]
    return parts, b[1:, 0], f.tolist(), b.tolist(), f.item(0), len(b), b.shape, b.T.shape, isinstance(x, np.ndarray)


def test_arrays_that_are_made() -> None:
    run = Checked(made)
    run(6, [1.5, 2.5], numbers("float64", 4))
    run(np.int64(4), [0.5], numbers("float64", 5))
    run(-1, [0.5], numbers("float64", 5), deopts=True)


def by_numpy(x: Any, m: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + x.sum() + np.dot(x, x) + m.mean()
        m[0] = np.exp(m[1]) + k
    order = np.argsort(x)
    picked = x[order]
    best = x[x > 0]
    return (
        total,
        order,
        picked,
        best,
        m.sum(axis=0),
        np.linalg.norm(m),
        m @ m.T,
        np.cumsum(x),
        np.sin(x[0]),
        x**2,
        x // 2,
    )


def test_what_numpy_computes_itself() -> None:
    run = Checked(by_numpy)
    run(numbers("float64", 1000), numbers("float64", 5, 7))
    run(numbers("float64", 1000)[::-1], numbers("float64", 9, 7)[::2])


def test_a_warning_inside_numpy_is_pythons() -> None:
    def logarithms(x: Any) -> Any:
        found = []
        for e in x:
            found.append(np.log(e))
        return found

    native = Native(logarithms)
    native.extend((np.array([1.0, 2.0]),))
    with pytest.warns(RuntimeWarning, match="divide by zero") as told:
        assert native(np.array([1.0, 0.0]))[1] == -np.inf
    assert len(told) == 1 and told[0].filename == __file__


def has(x: Any, wanted: Any) -> Any:
    return wanted in x, [k in x for k in (1, 2.5, True)], sorted(x), sum(x), {e: i for i, e in enumerate(x)}, set(x)


def test_elements_in_containers() -> None:
    run = Checked(has)
    run(np.array([3, 1, 2, 1]), 2)
    run(np.array([0.5, 2.5, -0.0]), 0.25)


# --- programs ----------------------------------------


def shortest_paths(starts: Any, ends: Any, lengths: Any, source: int) -> Any:
    n = len(starts) - 1
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for k in range(starts[u], starts[u + 1]):
            v = ends[k]
            if d + lengths[k] < distance[v]:
                distance[v] = d + lengths[k]
                heapq.heappush(heap, (distance[v], v))
    return distance


def flooded(grid: Any, start: tuple[int, int]) -> Any:
    rows, columns = grid.shape
    steps = {start: 0}
    queue = deque([start])
    while queue:
        r, c = queue.popleft()
        for place in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= place[0] < rows and 0 <= place[1] < columns and grid[place] == 0 and place not in steps:
                steps[place] = steps[r, c] + 1
                queue.append(place)
    return steps


class Agent:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y, self.energy = x, y, 1.0


def grazing(agents: list[Agent], grid: Any, rounds: int) -> Any:
    seen: dict[str, float] = {}
    for k in range(rounds):
        for agent in agents:
            food = grid[agent.x, agent.y]
            if food > 0.5:
                grid[agent.x, agent.y] = food * 0.5
                agent.energy += food
            else:
                agent.x = (agent.x + 1) % grid.shape[0]
                agent.energy -= 0.25
        seen[f"round {k}"] = max(agent.energy for agent in agents)
    return seen, sum(agent.energy for agent in agents)


def best_of_columns(columns: dict[str, Any], names: list[str]) -> Any:
    best: dict[str, tuple[int, Any]] = {}
    for name in names:
        column = columns[name]
        at = 0
        for i in range(len(column)):
            if column[i] > column[at]:
                at = i
        best[name] = (at, column[at])
        columns[name] = column[at:]
    return best


def layered(layers: list[Any], x: Any) -> Any:
    for layer in layers:
        y = np.zeros(layer.shape[0])
        for i in range(layer.shape[0]):
            for j in range(layer.shape[1]):
                y[i] += layer[i, j] * x[j]
        x = y
    return x


def test_programs() -> None:
    rng = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 6, 200))])
    Checked(shortest_paths)(starts, rng.integers(0, 200, starts[-1]), rng.random(starts[-1]), 0)
    Checked(flooded)((rng.random((30, 30)) < 0.3).astype(np.int8), (0, 0))
    Checked(grazing)([Agent(i % 7, i % 5) for i in range(20)], rng.random((7, 5)), 12)
    Checked(best_of_columns)({name: rng.random(50) for name in "abc"}, ["c", "a"])
    Checked(layered)([rng.random((4, 6)), rng.random((5, 4))], rng.random(6))


def test_what_the_array_compiler_refuses_goes_to_plain_python() -> None:
    rng = np.random.default_rng(4)
    run = weft.jit(grazing)
    for dtype in ("float64", "float32"):
        grid = rng.random((7, 5)).astype(dtype)
        mine, theirs = [([Agent(i % 7, i % 5) for i in range(20)], grid.copy(), 12) for _ in range(2)]
        assert described((run(*mine), mine)) == described((grazing(*theirs), theirs))
    assert run._native is not None and run._native.versions

    loops = weft.jit(lambda x: [x[i] * 2 for i in range(len(x))][0])
    assert loops(np.ones(3)) == 2.0 and loops._native is None


def into_the_third(x: Any, y: Any) -> Any:
    for _ in range(2):
        try:
            np.add(x, 1.0, y)
        except ValueError:
            return "not written"
    return np.dot(x, y[:2]) if len(x) == 2 else y


def test_numpy_writes_nothing_through_a_view_that_it_was_lent() -> None:
    with pytest.raises(Refusal, match="shares memory"):
        Native(into_the_third).extend((np.arange(4.0), np.zeros(4)))
    for extent in (4, 3):
        theirs, ours = np.zeros(extent), np.zeros(extent)
        compiled = weft.jit(into_the_third, fallback="silent")
        assert outcome(compiled, (np.arange(4.0), ours)) == outcome(into_the_third, (np.arange(4.0), theirs))


def test_what_has_no_native_form_is_refused_by_name() -> None:
    def complex_sum(x: Any) -> Any:
        return x[0]

    with pytest.raises(Refusal, match="dtype complex128"):
        Native(complex_sum).extend((np.zeros(3, complex),))

    def truth(x: Any) -> Any:
        return 1 if x else 2

    with pytest.raises(Refusal, match="truth of an array"):
        Native(truth).extend((np.zeros(3),))


def test_a_second_process_finds_the_compiled_code(tmp_path: Path) -> None:
    program = """
import sys, numpy as np
from weft.plain import compiling, runtime
def f(names, x):
    counts = {}
    for i, name in enumerate(names):
        counts[name] = counts.get(name, 0.0) + x[i]
    return counts
arguments = (["a", "b", "a"], np.arange(3.0))
build = runtime.compiled_kernel if sys.argv[1] == "again" else runtime.compile_kernel
print(compiling.compile_version(f, arguments, build).call(*arguments))
"""
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    texts = []
    for word in ("once", "again"):
        command = [sys.executable, str(tmp_path / "program.py"), word]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert texts[0] == texts[1] == "{'a': np.float64(2.0), 'b': np.float64(1.0)}\n"
