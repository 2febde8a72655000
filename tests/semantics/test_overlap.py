"""Arguments that overlap, one of them written: native, and what Python and NumPy do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import weft
from weft.runtime import sharing

Kind = Callable[[Any], tuple[Any, ...]]


def jitted(function: Callable[..., Any]) -> Any:
    return weft.jit(fallback="error")(function)


def read_only(array: Any) -> Any:
    view = array[...]
    view.flags.writeable = False
    return view


def check(function: Any, base: Any, kind: Kind, native: bool = True) -> None:
    """One call in Python and one compiled: the same memory, the same results, the same objects."""
    mine, theirs = base.copy(), base.copy()
    given, expected = kind(mine), kind(theirs)
    before = function.stats["python_calls"]
    result, wanted = function(*given), function.py_func(*expected)
    np.testing.assert_array_equal(mine, theirs)
    assert (function.stats["python_calls"] == before) is native
    assert isinstance(result, tuple) == isinstance(wanted, tuple)
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (result, wanted)), strict=True):
        assert type(one) is type(other)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
            assert [one is argument for argument in given] == [other is argument for argument in expected]
            assert np.shares_memory(one, mine) == np.shares_memory(other, theirs)
        else:
            assert one == other


@jitted
def loop(a, b):
    for i in range(min(a.shape[0], b.shape[0])):
        a[i] = b[i] * 2 + a[i]
    return a


@jitted
def operators(a, b):
    n = min(a.shape[0], b.shape[0])
    a, b = a[:n], b[:n]
    a += b
    np.multiply(a, b, out=b)
    a[1:] = b[:-1] * 2 - a[1:]
    a *= 2
    return b


@jitted
def lasting(a, b):
    kept = b + 1
    view = b
    a[...] = 7
    a[1] += b[0] + b[1]
    return kept, view, b[1:], view.sum()


@jitted
def scalars(a, b):
    first = b[1]
    a[1] = 55
    second = b[1]
    chosen = a if first > 3 else b
    a[2] = second + chosen[1] + chosen[2]
    return b[0] + b[1] + b[2] * 100


@jitted
def sweeps(a, b):
    for _ in range(3):
        for i in range(1, min(a.shape[0], b.shape[0]) - 1):
            a[i] = (b[i - 1] + b[i + 1]) % 17
            b[i] = (a[i - 1] + a[i]) % 13


LINES: dict[str, Kind] = {
    "shifted": lambda x: (x[1:], x[:-1]),
    "shifted back": lambda x: (x[:-1], x[1:]),
    "far": lambda x: (x[11:], x[:13]),
    "same object": lambda x: (x, x),
    "same elements": lambda x: (x, x[:]),
    "reversed": lambda x: (x, x[::-1]),
    "both reversed": lambda x: (x[::-1], x[-2::-1]),
    "a part": lambda x: (x, x[5:9]),
    "a row and a column": lambda x: (x.reshape(4, 6)[1], x.reshape(4, 6)[:, 2]),
}


@pytest.mark.parametrize("kind", LINES.values(), ids=LINES)
@pytest.mark.parametrize("function", [loop, operators, lasting, scalars, sweeps], ids=lambda f: f.__name__)
def test_lines(function: Any, kind: Kind) -> None:
    base = (np.arange(24) * 5 % 11 + 1).astype(np.int32 if function in (scalars, sweeps) else np.float64)
    for _ in range(2):  # compiled, and found
        check(function, base, kind)


@pytest.mark.parametrize("dtype", ["bool", "uint16", "float32", "complex128"])
def test_element_types(dtype: str) -> None:
    @jitted
    def moved(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i]
        return b

    for kind in (LINES["shifted"], LINES["reversed"]):
        check(moved, np.arange(24).astype(dtype), kind)


@jitted
def planes(a, b):
    for i in range(min(a.shape[0], b.shape[0])):
        for j in range(min(a.shape[1], b.shape[1])):
            a[i, j] = a[i, j] + b[i, j] * 2
    return a


@jitted
def products(a, b):
    n = min(a.shape[0], a.shape[1], b.shape[0], b.shape[1])
    a[:n, :n] = a[:n, :n] @ b[:n, :n]
    a[:n, :n] += b[:n, :n].T
    return a.sum(axis=0), b[:n, :n].max()


PLANES: dict[str, Kind] = {
    "transposed": lambda a: (a, a.T),
    "of a transposed one": lambda a: (a.T, a),
    "same elements": lambda a: (a, a[:]),
    "shifted": lambda a: (a[1:, 1:], a[:-1, :-1]),
    "shifted crosswise": lambda a: (a[:-1, 2:], a[1:, :-2]),
    "turned": lambda a: (a, a[::-1, ::-1]),
    "every second": lambda a: (a[:3, :3], a[::2, ::2]),
    "columns, every second": lambda a: (a[:, ::2], a[:, 1:]),
    "rows in other rows": lambda a: (a, a.reshape(4, 9)),
    "a row for all": lambda a: (a, np.broadcast_to(a[2], (6, 6))),
}


@pytest.mark.parametrize("kind", PLANES.values(), ids=PLANES)
@pytest.mark.parametrize("function", [planes, products], ids=lambda f: f.__name__)
def test_planes(function: Any, kind: Kind) -> None:
    check(function, (np.arange(36) * 7 % 11 + 1.0).reshape(6, 6), kind)


@pytest.mark.parametrize(
    "kind",
    [
        lambda a: (a, a[2], a[:, 5]),
        lambda a: (a, a[2], np.ones(6)),
        lambda a: (a[1:], a[0], a[:, 3]),
        lambda a: (a, a.reshape(-1)[::7], a[3]),
        lambda a: (np.ones((6, 6)), a[3], a[:, 0]),
    ],
    ids=["row and column", "row", "row before", "diagonal", "two lines"],
)
def test_three_arguments(kind: Kind) -> None:
    check(_three, (np.arange(36) % 11 + 1.0).reshape(6, 6), kind)


@jitted
def _three(a, b, c):
    for i in range(a.shape[0]):
        a[i] = a[i] - b + i
        c[i] = a[i, 0] * 2
    b += c
    return c


def test_groups_are_kept_apart() -> None:
    @jitted
    def both(a, b, c, d):
        for i in range(a.shape[0]):
            a[i] = b[i] + 1
            c[i] = d[i] * 2 + a[i]

    other = np.arange(10.0)
    check(both, np.arange(20.0), lambda x: (x[1:10], x[:9], x[11:], x[10:-1]))
    both(other[1:], other[:-1], np.zeros(9), np.ones(9))
    np.testing.assert_array_equal(other, np.arange(10.0)[0] + np.arange(10.0))


def test_what_lies_in_the_memory_of_others() -> None:
    @jitted
    def moved(a, b, c):
        for i in range(a.shape[0]):
            a[i] = b[i] + c[i]

    check(moved, np.arange(24.0), lambda x: (x[0:16:2], x[:8], x[1:17:2]))


def test_what_does_not_overlap_stays_as_it_is() -> None:
    @jitted
    def moved(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] + 1

    apart: list[Kind] = [
        lambda x: (x[::2], x[1::2]),
        lambda x: (x[:12], x[12:]),
        lambda x: (x.reshape(6, 4)[:, 1], x.reshape(6, 4)[:, 2]),
        lambda x: (x[:0], x),
    ]
    for kind in apart:
        check(moved, np.arange(24.0), kind)
    assert not any("overlapping" in signature for signature in moved.signatures)
    check(moved, np.arange(24.0), LINES["shifted"])
    versions = len(moved.signatures)
    for kind in apart:  # a version for arrays that overlap leaves them to the others
        check(moved, np.arange(24.0), kind)
    assert len(moved.signatures) == versions
    assert sum(count for signature, count in moved.stats["calls"].items() if "overlapping" in signature) == 1


def test_arrays_that_are_only_read_may_overlap() -> None:
    @jitted
    def total(a, b, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * b[i]

    x, out = np.arange(9.0), np.zeros(8)
    total(x[1:], x[:-1], out)
    np.testing.assert_array_equal(out, x[1:] * x[:-1])
    assert len(total.signatures) == 1


def test_read_only_arrays_are_never_written() -> None:
    check(loop, np.arange(24.0), lambda x: (x[1:], read_only(x[:-1])))
    x = np.arange(24.0)
    with pytest.raises(ValueError, match="read-only"):
        loop(read_only(x), x[:])
    with pytest.raises(ValueError, match="read-only"):
        weft.jit(sweeps.py_func)(x[1:], read_only(x[:-1]))


@pytest.mark.parametrize(
    "kind",
    [
        lambda x: (x, x.view(np.int64)),
        lambda x: (as_strided(x, (8, 3), (8, 8)), x.reshape(8, 3)),
        lambda x: (x[:8], x.view(np.int8)[1:65].view(np.float64)),
    ],
    ids=["other type", "elements twice", "between elements"],
)
def test_memory_without_a_form_is_left_to_python(kind: Kind) -> None:
    x, y = np.arange(24.0), np.arange(24.0)
    function = weft.jit(fallback="silent")(_added)
    function(*kind(x))
    _added(*kind(y))
    np.testing.assert_array_equal(x, y)


def _added(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = b[i] + 1


def test_lists_passed_twice() -> None:
    @jitted
    def moved(a, b):
        for i in range(len(a) - 1):
            a[i + 1] = b[i] * 2
        return a

    for size in (5, 9):
        x = [float(i + 1) for i in range(size)]
        y = list(x)
        assert moved(x, x) is x
        moved.py_func(y, y)
        assert x == y
        assert moved(x, y) is x
        assert x == y
    assert moved.stats["python_calls"] == 0


def test_rows_of_a_list_that_are_one_list() -> None:
    function = weft.jit(fallback="silent")(_rows)
    row = [1.0, 2.0]
    same = [row, row]
    expected = [[1.0, 2.0]] * 2
    _rows(expected, expected[0])
    function(same, row)
    assert same == expected


def _rows(table: list[list[float]], row: list[float]) -> None:
    for i in range(len(table)):
        for j in range(len(row)):
            table[i][j] = table[i][j] + row[j]


def test_the_number_of_versions_is_bounded() -> None:
    function = weft.jit(fallback="silent")(_added)
    for step in range(1, 50, 12):
        for start in range(0, 12, 3):
            x, y = np.arange(400.0), np.arange(400.0)
            function(x[start : start + 7], x[: 7 * step : step])
            _added(y[start : start + 7], y[: 7 * step : step])
            np.testing.assert_array_equal(x, y)
    assert len(function.signatures) <= 12


def test_explain_tells_which_version_ran() -> None:
    @jitted
    def moved(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] + 1

    x = np.arange(9.0)
    moved(x[1:], x[:-1])
    moved(x[1:], x[:-1])
    moved(x[:4], x[5:])
    text = str(moved.explain())
    assert "a and b share no memory" in text
    assert "f64[:] overlapping argument 1" in text


def test_declared_parallel_for_others() -> None:
    @weft.jit
    def moved(a, b):
        for i in weft.prange(a.shape[0]):
            a[i] = b[i] + 1

    check(moved, np.arange(24.0), LINES["shifted"], native=False)
    check(moved, np.arange(24.0), LINES["same elements"])
    check(moved, np.arange(24.0), lambda x: (x[:12], x[12:]))


def test_same_elements_are_one_array() -> None:
    @jitted
    def scaled(a, b, n):
        for i in range(n):
            for j in range(n):
                a[i, j] = b[i, j] * 2 + 1

    x = np.ones((5, 5))
    scaled(x, x[:], 5)
    np.testing.assert_array_equal(x, np.full((5, 5), 3.0))
    assert "parallel" in scaled.inspect("c")


PROGRAM = """
import numpy as np, weft

@weft.jit(fallback="error")
def moved(a: weft.f64[:], b: weft.f64[:]):
    for i in range(a.shape[0]):
        a[i] = b[i] + 1
    return a
"""


def test_ahead_of_time(tmp_path: Path) -> None:
    (tmp_path / "overlapping.py").write_text(PROGRAM)
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "weft.cli", "build", "--host", "weft", "overlapping.py", "-o", "built"]
    built = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "moved(f64[:] overlapping argument 1, f64[:] overlapping argument 0)" in built.stdout
    code = textwrap.dedent("""
        import numpy as np, overlapping
        for start in (1, 3):
            x = np.arange(9.0)
            view = x[start:]
            assert overlapping.moved(view, x[:-start]) is view
            y = np.arange(9.0)
            overlapping.moved.py_func(y[start:], y[:-start])
            assert x.tolist() == y.tolist()
        overlapping.moved(np.ones(4), np.ones(4))
        assert overlapping.moved.call_counts == (1, 2) and not overlapping.moved._compiled
        assert overlapping.moved.stats["python_calls"] == 0
    """)
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path / "built", check=True)


def test_versions_outlive_the_process(tmp_path: Path) -> None:
    (tmp_path / "overlapping.py").write_text(PROGRAM)
    code = textwrap.dedent("""
        import numpy as np, overlapping
        x = np.arange(9.0)
        view = x[1:]
        assert overlapping.moved(view, x[:-1]) is view
        assert x.tolist() == [0.0, *range(1, 9)], x
        assert overlapping.moved.stats["python_calls"] == 0
        print(len(overlapping.moved._compiled), type(overlapping.moved._compiled[-1]).__name__)
    """)
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    told = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert told[0].split()[1] == "Compiled"
    assert told[1].split()[1] == "Restored"


# --- arrays that hold an element twice ------------------------------------------------------------------------------


def repeated() -> dict[str, Any]:
    """Arrays of which two indices lead to one element."""
    line = np.arange(12.0)
    return {
        "all the same": as_strided(line, (3,), (0,)),
        "rows of one row": as_strided(line, (3, 4), (0, 8)),
        "windows": np.lib.stride_tricks.sliding_window_view(line, 3, writeable=True),
        "diagonals": as_strided(line, (3, 3), (8, 8)),
        "backwards": as_strided(line[4:], (3, 3), (8, -8)),
    }


def once() -> dict[str, Any]:
    """Arrays of any strides that hold each element once."""
    block = np.arange(120.0).reshape(4, 5, 6)
    return {
        "every other": block[0, :, ::2],
        "turned": block.transpose(2, 0, 1)[::-1],
        "one row": block[:, 1:2, ::3],
        "no stride along one": as_strided(block, (1, 3), (0, 16)),
        "empty": as_strided(block, (0, 3), (0, 0)),
    }


def in_place(a):
    a += 1
    return a


def by_element(a):
    for i in range(a.shape[0]):
        a[i] = a[i - 1] * 2 + 1
    return a


def only_read(a):
    return (a * 2).sum(axis=0)


@pytest.mark.parametrize("kind", repeated())
@pytest.mark.parametrize("function", [in_place, by_element])
@pytest.mark.parametrize("backend", ["auto", "python"])
def test_elements_held_twice_and_written(function: Any, kind: str, backend: str) -> None:
    """NumPy's own order decides: plain Python runs, also where a version for arrays of the same rank is there."""
    compiled = weft.jit(fallback="silent", backend=backend)(function)
    mine, theirs = repeated()[kind], repeated()[kind]
    other = np.ones((7,) * mine.ndim)[(slice(None, None, 2),) * mine.ndim]
    np.testing.assert_array_equal(compiled(other.copy()[...]), function(other.copy()))
    compiled(other)
    for _ in range(2):
        compiled(mine)
        function(theirs)
        np.testing.assert_array_equal(mine, theirs)
    assert compiled.stats["python_calls"] == 2


@pytest.mark.parametrize("kind", repeated())
def test_elements_held_twice_and_read(kind: str) -> None:
    compiled = jitted(only_read)
    np.testing.assert_array_equal(compiled(repeated()[kind]), only_read(repeated()[kind]))
    assert compiled.stats["python_calls"] == 0


@pytest.mark.parametrize("kind", once())
def test_strides_of_elements_held_once(kind: str) -> None:
    compiled = jitted(in_place)
    np.testing.assert_array_equal(compiled(once()[kind]), in_place(once()[kind]))
    assert compiled.stats["python_calls"] == 0


def test_who_holds_an_element_twice() -> None:
    """Refused in doubt, but never overlooked."""
    random = np.random.default_rng(5)
    line = np.zeros(4000)
    for _ in range(400):
        rank = int(random.integers(1, 4))
        shape = tuple(random.integers(0, 5, rank).tolist())
        steps = tuple(random.choice([0, 1, 2, 3, 4, 6, 12, -1, -5], rank).tolist())
        array = as_strided(line[2000:], shape, tuple(8 * step for step in steps))
        places = {sum(np.multiply(index, steps)) for index in np.ndindex(*shape)}
        if len(places) < array.size:
            assert sharing.holds_twice(array)
    assert not any(sharing.holds_twice(array) for array in once().values())
