"""Plain Python in libraries for C hosts: containers of containers, sets, tuples, objects inside, text, exceptions.
Answers and changes are those of Python; a call that fails changes nothing."""

from __future__ import annotations

import copy
import importlib.util
import math
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hosts.calling import LAYOUT, NULL, OK, Error, Failed, Library, over
from tests.hosts.nested import Nested
from weft.cli import main
from weft.hosts import hosted_functions
from weft.hosts.handles import handle_of_hint

pytestmark = pytest.mark.native

MODULE = '''
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
import math

import numpy as np
import weft

LIMIT = 3


class Bad(ValueError):
    pass


def groups(words: list[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for word in words:
        out.setdefault("".join(sorted(word)), []).append(word)
    return out


def push(d: dict[str, list[int]], key: str, x: int) -> int:
    d.setdefault(key, []).append(x)
    return len(d)


def pairs(words: list[str]):
    return sorted((w, len(w)) for w in set(words))


def means(xs: list[tuple[str, float]]):
    found = defaultdict(list)
    for key, value in xs:
        found[key].append(value)
    return {key: sum(values) / len(values) for key, values in found.items()}


def grid(points: dict[tuple[int, int], float], seen: set[tuple[int, int]]) -> float:
    total = 0.0
    for (x, y), value in points.items():
        if (x, y) not in seen:
            seen.add((x, y))
            total += value * x + y
    return total


def order(graph: dict[int, list[int]], start: int) -> list[int]:
    seen = {start}
    found = []
    todo = deque([start])
    while todo:
        node = todo.popleft()
        found.append(node)
        for other in graph.get(node, []):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return found


def deep(n: int):
    return [[[k for k in range(j)] for j in range(i)] for i in range(n)]


def corner(boxes: list[list[list[float]]], value: float):
    boxes[-1][0].append(value)


def letters(texts: list[list[str]]):
    return {text: {row for row, texts_ in enumerate(texts) if text in texts_} for texts_ in texts for text in texts_}


def ends(x: list[int], names: dict[str, tuple[int, str]]):
    names["last"] = (x[-1], "end")
    return x[0], (x[-1], "end"), names["last"]


def stats(xs: list[float]):
    m = sum(xs) / len(xs)
    return m, {"mean": m, "std": math.sqrt(sum((x - m) ** 2 for x in xs) / len(xs))}


def counted(text: str) -> dict[str, int]:
    return Counter(text.split())


def limited(xs: set[int], more: int) -> set[int]:
    xs.add(more)
    return {x for x in xs if x < LIMIT}


def places(data: bytes) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, byte in enumerate(data):
        found.setdefault(byte, []).append(at)
    return found


def numbers(line: str) -> list[float]:
    return [float(part) for part in line.split(",")]


def whole(text: str, base: int) -> int:
    return int(text, base)


def shown(x: float, n: int, s: str) -> str:
    numbers = f"{x} {x:.3f} {x!r:>10} {x:e} {x:.4g} {x:.5} {x:+.1%} {n:08x} {n:,} {n:+d} {n:^#12o}"
    return f"{numbers} {s:^9}|{s!r} {[x, s, (n,), {n: s}]}"


def rounded(x: float, digits: int) -> float:
    return round(x, digits)


def fails(n: int, d: dict[str, int]) -> int:
    d["before"] = n
    if n == 1:
        raise Bad(f"n is {n}")
    if n == 2:
        return d["missing"]
    if n == 3:
        return [1, 2][n]
    if n == 4:
        return 1 // (n - 4)
    if n == 5:
        return int("x5")
    if n == 6:
        return 2**62 * n
    if n == 7:
        return fails(n, d)
    if n == 8:
        raise KeyError(n)
    if n == 9:
        assert d["before"] < n, "too large"
    try:
        return d["missing"]
    except KeyError:
        return n


@dataclass
class Node:
    value: int
    children: list["Node"]


def depth(n: int) -> int:
    def build(k: int) -> Node:
        return Node(k, [build(k - 1) for _ in range(2)] if k else [])

    def height(node: Node) -> int:
        return 1 + max([height(child) for child in node.children], default=0)

    return height(build(n))


def rubbish(n: int) -> int:
    held = [[0]]
    for i in range(n):
        held = [[i, j] for j in range(40)]
        held.append([len(str(i) * 200)])
    return sum(len(row) for row in held)


def scattered(x: weft.f64[:], d: dict[str, list[int]]):
    for name, where in d.items():
        for at in where:
            x[at] += len(name)
    return len(d)


def turned(d: dict[int, float]) -> float:
    total = 0.0
    for key in d:
        total += float(np.arctan(d[key])) * key  # NumPy's: the compiler of arrays has it
    return total


def twice(x: list[list[str]], y: list[list[str]]) -> int:
    x.append(["new"])
    return len(y)
'''

TEXTS = dict[str, list[str]]
#: The function, what it returns, arguments.
CASES: list[tuple[str, list[Any], list[tuple[Any, ...]]]] = [
    ("groups", [TEXTS], [([],), (["tea", "ate", "x\u20ac", "eat", ""],)]),
    ("push", [int], [({}, "a", 1), ({"a": [1, 2], "\u20ac": []}, "\u20ac", 2**62)]),
    ("pairs", [list[tuple[str, int]]], [([],), (["b", "aaa", "b"],)]),
    ("means", [dict[str, float]], [([],), ([("a", 1.0), ("b", 2.5), ("a", 3.0)],)]),
    ("grid", [float], [({}, set()), ({(1, 2): 0.5, (3, -4): 1.5}, {(1, 2), (7, 7)})]),
    ("order", [list[int]], [({}, 1), ({1: [2, 3], 2: [4], 3: [4], 4: [1]}, 1)]),
    ("deep", [list[list[list[int]]]], [(0,), (4,)]),
    ("corner", [], [([[[1.0]], [[2.0], []]], 9.0)]),
    ("letters", [dict[str, set[int]]], [([],), ([["a", "b"], ["b"]],)]),
    ("ends", [int, tuple[int, str], tuple[int, str]], [([4, 5], {}), ([7], {"last": (1, "x")})]),
    ("stats", [float, dict[str, float]], [([1.0, 2.0, 4.0],)]),
    ("limited", [set[int]], [(set(), 1), ({1, 2, 70000}, 5)]),
    ("places", [dict[int, list[int]]], [(b"",), (b"\x00\xff\x00",)]),
    ("numbers", [list[float]], [("1, 2.5,-3e5,inf,1_0, -Infinity ",)]),
    ("whole", [int], [("-ff", 16), (" 0b11 ", 0), ("1_000", 10), ("-9223372036854775808", 10), ("z", 36)]),
    ("depth", [int], [(6,)]),
    ("rubbish", [int], [(3,)]),
    ("turned", [float], [({},), ({1: 0.5, -7: 1.5},)]),
]  # fmt: skip


Built = tuple[Nested, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hosted")
    (place / "inner.py").write_text(MODULE)
    command = ["build", "--host", "cpp", "--march", "x86-64-v2", str(place / "inner.py"), "-o", str(place)]
    assert main(command) == 0
    return place


@pytest.fixture(scope="module")
def built(folder: Path) -> Built:
    spec = importlib.util.spec_from_file_location("inner_in_python", folder / "inner.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Nested(Library(folder / "inner")), module


def agree(built: Built, name: str, gives: Sequence[Any], arguments: tuple[Any, ...]) -> None:
    nested, module = built
    function = getattr(module, name)
    mine, pythons = list(copy.deepcopy(arguments)), copy.deepcopy(arguments)
    expected = function(*pythons)
    found = nested.of_hints(function, gives, mine)
    assert (found, repr(found)) == (expected, repr(expected)), arguments
    assert mine == list(pythons), arguments


@pytest.mark.parametrize("name, gives, calls", CASES, ids=[case[0] for case in CASES])
def test_values_are_those_of_python(built: Built, name: str, gives: list[Any], calls: list[tuple[Any, ...]]) -> None:
    for arguments in calls:
        agree(built, name, gives, arguments)


def test_a_counter_is_a_dict_outside(built: Built) -> None:
    nested, module = built
    found = nested.of_hints(module.counted, [dict[str, int]], ["the cat the"])
    assert found == {"the": 2, "cat": 1}


NUMBERS = [0.1, 1e22, 1e16, 1e15, 123456789.123, -0.0, 5e-324, 2.0**-44, 1e-5, 0.0001, math.inf, -math.inf, math.nan]
NUMBERS += [1.7976931348623157e308, 9007199254740993.0, 100.0, 0.5, 2.5, 9.5367431640625e-07, 2.2250738585072014e-308]


def test_numbers_are_spelled_as_python_spells_them(built: Built) -> None:
    draw = random.Random(5)
    texts = ["abc", "\u00e9\"", "'x\n", "\u20ac\\", "\U0001f600\x07"]
    numbers = [*NUMBERS, *(draw.uniform(-1, 1) * 10 ** draw.randint(-300, 300) for _ in range(300))]
    numbers += [math.ldexp(1.0, draw.randint(-1070, 1020)) for _ in range(200)]
    for x in numbers:
        agree(built, "shown", [str], (x, draw.randint(-(10**17), 10 ** draw.randint(1, 17)), draw.choice(texts)))
    for x in numbers:
        if math.isfinite(x) and abs(x) < 1e300:
            for digits in (0, 2, 15, -1, -3):
                agree(built, "rounded", [float], (x, digits))


@pytest.mark.parametrize("n", range(1, 11))
def test_exceptions_have_name_message_and_line_and_nothing_has_changed(built: Built, n: int) -> None:
    nested, module = built
    given = {"k": 1}
    try:
        expected = module.fails(n, dict(given))
    except Exception as problem:
        arguments: list[Any] = [n, given]
        trace = problem.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        with pytest.raises(Failed) as caught:
            nested.of_hints(module.fails, [int], arguments)
        assert caught.value.exception == type(problem).__name__
        if n != 7:
            assert (caught.value.message, caught.value.line) == (str(problem), trace and trace.tb_lineno)
        assert arguments == [n, {"k": 1}]
    else:
        if n == 6:  # beyond 64 bits
            with pytest.raises(Failed) as caught:
                nested.of_hints(module.fails, [int], [n, given])
            assert caught.value.exception == "OverflowError" and caught.value.line > 0
        else:
            assert nested.of_hints(module.fails, [int], [n, given]) == expected


NO_NUMBERS = [("", 10), ("x", 10), ("1__0", 10), ("_1", 10), ("0x", 16), ("012", 0), ("2", 2)]


@pytest.mark.parametrize("text, base", NO_NUMBERS)
def test_texts_that_are_no_numbers(built: Built, text: str, base: int) -> None:
    nested, module = built
    with pytest.raises(ValueError) as expected:
        module.whole(text, base)
    with pytest.raises(Failed) as caught:
        nested.of_hints(module.whole, [int], [text, base])
    assert (caught.value.exception, caught.value.message) == ("ValueError", str(expected.value))
    with pytest.raises(ValueError) as expected:
        module.numbers(f"1,{text}x")
    with pytest.raises(Failed) as caught:
        nested.of_hints(module.numbers, [list[float]], [f"1,{text}x"])
    assert caught.value.message == str(expected.value)


def test_arrays_beside_containers(built: Built) -> None:
    import ctypes

    nested, module = built
    kind = handle_of_hint(dict[str, list[int]])
    assert kind is not None
    given, array, expected = {"ab": [0, 4], "c": [0]}, np.arange(10.0)[::2], np.arange(10.0)[::2].copy()
    made, count, error = nested.make(kind, given), ctypes.c_int64(), Error()
    call = nested.library.function("scattered")
    assert call(ctypes.byref(over(array)), made, ctypes.byref(count), ctypes.byref(error)) == OK
    assert count.value == module.scattered(expected, given)
    assert np.array_equal(array, expected)
    before = array.copy()  # a call that fails puts back what it has written
    nested.free(kind, made)
    made = nested.make(kind, {"x": [1], "y": [99]})
    assert call(ctypes.byref(over(array)), made, ctypes.byref(count), ctypes.byref(error)) != OK
    assert error.exception == b"IndexError" and np.array_equal(array, before)
    nested.free(kind, made)


def test_one_container_twice_and_parts_of_containers_are_refused_where_one_is_written(built: Built) -> None:
    import ctypes

    nested, _ = built
    kind = handle_of_hint(list[list[list[str]]])
    assert kind is not None and kind.inner
    inner, call, count = kind.inner[0], nested.library.function("twice"), ctypes.c_int64()
    made, error = nested.make(inner, [["a"]]), Error()
    assert call(made, made, ctypes.byref(count), ctypes.byref(error)) == LAYOUT
    assert call(made, None, ctypes.byref(count), ctypes.byref(error)) == NULL
    assert call(made, made, None, ctypes.byref(error)) == NULL
    nested.free(inner, made)


def test_memory_that_nobody_needs_is_taken_back(built: Built) -> None:
    nested, module = built
    assert nested.of_hints(module.rubbish, [int], [60_000]) == module.rubbish(60_000)


def test_threads_may_call_at_once(built: Built) -> None:
    nested, module = built
    wrong: list[Any] = []

    def work(seed: int) -> None:
        words = [f"{seed}-{k % 17}" for k in range(300)]
        for _ in range(20):
            found = nested.of_hints(module.groups, [TEXTS], [words])
            if found != module.groups(words):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


CPP_PROGRAM = r"""
#include "inner.hpp"
#include <iostream>

int main()
{
    for (const auto &entry : inner::groups({"tea", "ate", "x"}))
        std::cout << entry.first << entry.second.size() << ' ';
    weft::dict<std::string, std::vector<std::int64_t>> lists{{"a", {1}}};
    inner::push(lists, "b", 7);
    std::cout << lists.size() << lists[1].second[0] << ' ';
    for (const auto &[word, size] : inner::pairs({"b", "aaa", "b"}))
        std::cout << word << size << ' ';
    std::set<std::tuple<std::int64_t, std::int64_t>> seen{{1, 2}};
    std::cout << inner::grid({{{1, 2}, 0.5}, {{3, 4}, 1.5}}, seen) << seen.size() << ' ';
    std::cout << inner::deep(3)[2][1][0] << ' ';
    weft::dict<std::string, std::tuple<std::int64_t, std::string>> names;
    const auto [first, last, again] = inner::ends({4, 5}, names);
    std::cout << first << std::get<1>(last) << names.size() << std::get<0>(again) << ' ';
    try {
        weft::dict<std::string, std::int64_t> d;
        inner::fails(1, d);
    } catch (const weft::error &problem) {
        std::cout << problem.exception() << '\n';
    }
}
"""


def test_a_program_in_cpp(folder: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no such compiler here")
    home, program = folder / "inner", folder / "program"
    (folder / "program.cpp").write_text(CPP_PROGRAM)
    library = [f"-I{home / 'include'}", str(home / "lib" / "libinner.a"), "-lpthread", "-lm"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, str(folder / "program.cpp"), *library, "-o", str(program)], check=True)
    told = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    assert told == "aet2 x1 27 aaa3 b1 8.52 0 4end15 Bad\n"


def test_the_fortran_module_binds_to_nested_accessors(folder: Path) -> None:
    text = (folder / "inner" / "include" / "inner.f90").read_text()
    assert "inner_dict_str_list_int_value_at" in text and max(map(len, text.splitlines())) <= 132
    compiler = shutil.which("gfortran")
    if compiler is not None:
        subprocess.run([compiler, "-fsyntax-only", "inner.f90"], cwd=folder / "inner" / "include", check=True)


@pytest.mark.parametrize(
    "source, told, remedy",
    [
        ("def f(x: str) -> str:\n    return x.center(9)\n", "2: f cannot be built: it needs a method", "plain"),
        ("import json\n\ndef f(x: dict[str, int]):\n    return json.dumps(x)\n", "4: f cannot be built", "plain"),
        ("def f(d: dict[str, int]):\n    d['x'] = 0.5\n", "1: f cannot be built: d is dict[str, int]", "hint says"),
        ("def f(d: dict[str, int], k: str):\n    return d.get(k)\n", "1: f cannot be built: it returns None", "None"),
        ("def f(d: dict[str, int | str]) -> int:\n    return len(d)\n", "1: f cannot be built: the argument", "take"),
    ],
)
def test_what_has_no_form_is_refused_with_its_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, told: str, remedy: str
) -> None:
    (tmp_path / "m.py").write_text(source)
    command = ["build", "--host", "c", "--march", "x86-64-v2", str(tmp_path / "m.py"), "-o", str(tmp_path / "out")]
    assert main(command) != 0
    said = capsys.readouterr().err
    assert told in said and remedy in said, said
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_the_run_time_without_python_has_all_that_generated_code_may_call() -> None:
    home = Path(hosted_functions.__file__).parents[1] / "plain" / "native"
    headers = [(home / name).read_text() for name in ("plain.h", "arrays.h")]
    prototype = re.compile(r"^(?!static|#)[^\n]*?\b(wp_\w+)\([^{}]*?;", re.M)
    declared = {name for text in headers for name in prototype.findall(text)}
    body = hosted_functions.runtime()
    missing = {name for name in declared if not re.search(rf"\b{name}\([^;{{}}]*\)\s*\{{", body)}
    assert len(declared) > 150
    python_alone = {name for name in missing if hosted_functions.is_pythons(name)}
    assert missing - python_alone <= {"wp_written"}
