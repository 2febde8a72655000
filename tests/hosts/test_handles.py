"""Lists, strings and dicts of a C host: answers and changes are those of Python, bad input is a code."""

from __future__ import annotations

import copy
import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.calling import EXTENT, LAYOUT, NULL, OK, RAISED, Error, Failed, Handles, Library
from weft.cli import main

pytestmark = pytest.mark.native

MODULE = """
import numpy as np
import weft


def total(x: list[float]) -> float:
    found = 0.0
    for value in x:
        found += value
    return found


def doubled(x: list[float]):
    for i in range(len(x)):
        x[i] *= 2


def large(x: list[int], limit: int):
    return [value * 2 for value in x if value > limit]


def not_these(x: list[bool]):
    return [not value for value in x]


def row_totals(x: list[list[float]]):
    return [sum(row) for row in x]


def rows_twice(x: list[list[int]]):
    return [[2 * value for value in row] for row in x]


def corner(x: list[list[float]], value: float):
    x[0][0] = value


def neighbours(a: list[int], b: list[int], n: int):
    found = [[] for _ in range(n)]
    for i in range(len(a)):
        found[a[i]].append(b[i])
    return found


def calls(s: str) -> str:
    if len(s) == 0:
        return "nothing \\u20ac"
    return s + "!"


def backwards(s: bytes) -> bytes:
    return s[::-1]


def parts(s: str):
    return s.split(",")


def counted(texts: list[str]):
    found = {}
    for text in texts:
        found[text] = found.get(text, 0) + 1
    return found


def raised_by_one(d: dict[int, int], key: int):
    d[key] = d.get(key, 0) + 1


def kept(d: dict[str, float], key: str, value: float) -> int:
    d[key] = value
    return len(d)


def named(d: dict[str, str], key: str) -> str:
    return d[key] + "?"


def appended(x: list[float], value: float):
    x.append(value)
    return x, len(x)


def added(x: list[float], y: list[float]):
    for i in range(len(x)):
        y[i] += x[i]


def two(n: int):
    return [n, n + 1]


def some(n: int):
    if n < 0:
        return []
    return [float(i) for i in range(n)]


def mixed(x: list[float], a: weft.f64[:], scale: float):
    return [value * scale for value in x], a * scale, a.sum() + len(x)
"""


Built = tuple[Handles, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("handles")
    (place / "boxes.py").write_text(MODULE)
    command = ["build", "--host", "cpp", "--march", "x86-64-v2", str(place / "boxes.py"), "-o", str(place)]
    assert main(command) == 0
    return place


@pytest.fixture(scope="module")
def built(folder: Path) -> Built:
    spec = importlib.util.spec_from_file_location("boxes_in_python", folder / "boxes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Handles(Library(folder / "boxes")), module


#: The function, the kinds of its arguments and of its result ("" for none), and arguments to call it with.
CASES: list[tuple[str, str, str, list[tuple[Any, ...]]]] = [
    ("total", "list_float", "float", [([],), ([1.5],), ([float(i) for i in range(1000)],)]),
    ("doubled", "list_float", "", [([],), ([1.0, -0.0, 3.5],)]),
    ("large", "list_int int", "list_int", [([], 0), ([1, 5, 2**61, -(2**63)], 4)]),
    ("not_these", "list_bool", "list_bool", [([],), ([True, False, True],)]),
    ("row_totals", "rows_float", "list_float", [([],), ([[1.0, 2.0], [3.0, 4.0]],), ([[1.0], [2.0, 3.5]],)]),
    ("rows_twice", "rows_int", "rows_int", [([[1, 2], [3, 4]],), ([[1], [], [2, 3]],)]),
    ("corner", "rows_float float", "", [([[1.0, 2.0], [3.0, 4.0]], 9.0), ([[1.0], [2.0, 3.0]], 9.0)]),
    ("neighbours", "list_int list_int int", "rows_int", [([0, 2, 0], [1, 1, 2], 3), ([], [], 2)]),
    ("calls", "str", "str", [("",), ("grüße \u20ac \U0001d11e \u07ff \uffff",), ("a" * 300,)]),
    ("backwards", "bytes", "bytes", [(b"",), (bytes(range(256)),)]),
    ("parts", "str", "list_str", [("a,b,,\u20ac",), ("",)]),
    ("counted", "list_str", "dict_str_int", [(["x", "y\u20ac", "x", ""],), ([str(i % 37) for i in range(500)],)]),
    ("raised_by_one", "dict_int_int int", "", [({}, 4), ({4: 1, 9: 2}, 4), ({4: 1, 9: 2}, 5)]),
    ("kept", "dict_str_float str float", "int", [({}, "a", 1.0), ({"k": 1.0, "\u20ac": 2.0}, "k", 7.0)]),
    ("named", "dict_str_str str", "str", [({"a": "\u00df", "b": ""}, "a"), ({"a": "\u00df", "b": ""}, "b")]),
    ("added", "list_float list_float", "", [([1.0, 2.0], [1.0, 1.0, 1.0])]),
    ("two", "int", "list_int", [(4,)]),
    ("some", "int", "list_float", [(3,), (0,), (-1,)]),
]  # fmt: skip
_NUMBERS = {"int": ctypes.c_int64, "float": ctypes.c_double}


def called(handles: Handles, function: str, kinds: list[str], gives: str, arguments: list[Any]) -> Any:
    """The result of a call, in which handles in `arguments` are made, read again and freed."""
    passed = [_NUMBERS[k](v) if k in _NUMBERS else handles.make(k, v) for k, v in zip(kinds, arguments)]
    place = _NUMBERS[gives]() if gives in _NUMBERS else ctypes.c_void_p()
    error = Error()
    try:
        given = (ctypes.byref(place),) if gives else ()
        if handles.library.function(function)(*passed, *given, ctypes.byref(error)) != OK:
            raise Failed(error)
    finally:
        for at, (kind, handle) in enumerate(zip(kinds, passed)):
            if kind not in _NUMBERS:
                arguments[at] = handles.value(kind, handle)
                handles.free(kind, handle)
    if gives in _NUMBERS or not gives:
        return place.value if gives else None
    found = handles.value(gives, place)
    handles.free(gives, place)
    return found


@pytest.mark.parametrize("function, kinds, gives, calls", CASES, ids=[case[0] for case in CASES])
def test_containers_are_those_of_python(
    built: Built, function: str, kinds: str, gives: str, calls: list[tuple[Any, ...]]
) -> None:
    handles, module = built
    for arguments in calls:
        mine, pythons = list(copy.deepcopy(arguments)), copy.deepcopy(arguments)
        found, expected = called(handles, function, kinds.split(), gives, mine), getattr(module, function)(*pythons)
        assert (found, repr(found)) == (expected, repr(expected)), arguments
        assert mine == list(pythons) and list(map(repr, mine)) == list(map(repr, pythons)), arguments


def test_a_list_that_grows_and_comes_back_is_a_copy(built: Built) -> None:
    handles, _ = built
    given = handles.make("list_float", [1.0])
    for count in (2, 3, 4):
        place, length, error = ctypes.c_void_p(), ctypes.c_int64(), Error()
        function = handles.library.function("appended")
        value = ctypes.c_double(count)
        assert function(given, value, ctypes.byref(place), ctypes.byref(length), ctypes.byref(error)) == OK
        assert length.value == count and place.value != given.value
        assert handles.value("list_float", place) == handles.value("list_float", given)
        handles.free("list_float", place)
    assert handles.value("list_float", given) == [1.0, 2.0, 3.0, 4.0]
    handles.free("list_float", given)


def test_lists_beside_arrays(built: Built) -> None:
    import numpy as np

    from tests.hosts.calling import over, structure

    handles, module = built
    given, array = handles.make("list_float", [1.0, 2.0]), np.arange(3.0)
    first, second, third, error = ctypes.c_void_p(), structure(1)(), ctypes.c_double(), Error()
    places = [ctypes.byref(each) for each in (first, second, third, error)]
    assert handles.library.function("mixed")(given, ctypes.byref(over(array)), ctypes.c_double(2.0), *places) == OK
    expected = module.mixed([1.0, 2.0], array, 2.0)
    assert handles.value("list_float", first) == expected[0] and third.value == expected[2]
    assert handles.library._value("f64:1", second).tolist() == expected[1].tolist()
    for each in (given, first):
        handles.free("list_float", each)


@pytest.mark.parametrize(
    "function, kinds, gives, arguments, code, exception",
    [
        ("added", "list_float list_float", "", ([1.0, 2.0], [1.0]), RAISED, "IndexError"),
        ("corner", "rows_float float", "", ([], 1.0), RAISED, "IndexError"),
        ("corner", "rows_float float", "", ([[], [1.0]], 1.0), RAISED, "IndexError"),
    ],
)
def test_errors_are_those_of_python(
    built: Built, function: str, kinds: str, gives: str, arguments: tuple[Any, ...], code: int, exception: str
) -> None:
    handles, module = built
    with pytest.raises(IndexError) as expected:
        getattr(module, function)(*copy.deepcopy(arguments))
    with pytest.raises(Failed) as caught:
        called(handles, function, kinds.split(), gives, list(arguments))
    assert type(expected.value).__name__ == exception
    assert (caught.value.code, caught.value.exception) == (code, exception)


def test_bad_input_of_calls_and_accessors_is_a_code(built: Built) -> None:
    handles, _ = built
    made = handles.make("list_float", [1.0, 2.0])
    error, place = Error(), ctypes.c_double()
    function = handles.library.function
    assert function("total")(None, ctypes.byref(place), ctypes.byref(error)) == NULL
    assert error.message == b"x is a null pointer"
    assert function("total")(made, None, ctypes.byref(error)) == NULL
    assert function("added")(made, made, ctypes.byref(error)) == LAYOUT
    assert error.message == b"x and y are one list, and it is written"
    for at in (-1, 2, 2**62):
        assert handles.accessor("list_float", "get")(made, ctypes.c_int64(at), ctypes.byref(place)) == RAISED
        assert handles.accessor("list_float", "set")(made, ctypes.c_int64(at), ctypes.c_double(0)) == RAISED
    assert handles.accessor("list_float", "get")(None, ctypes.c_int64(0), ctypes.byref(place)) == NULL
    assert handles.accessor("list_float", "length", ctypes.c_int64)(None) == -1
    new = handles.accessor("list_float", "new", ctypes.c_void_p)
    assert [new(None, ctypes.c_int64(n)) for n in (1, -1, 2**62)] == [None] * 3
    handles.free("list_float", made)
    handles.free("list_float", ctypes.c_void_p())
    rows = handles.make("rows_float", [[1.0], [2.0, 3.0]])
    for i, j in ((-1, 0), (2, 0), (0, 1), (1, -1)):
        at = (ctypes.c_int64(i), ctypes.c_int64(j))
        assert handles.accessor("rows_float", "get")(rows, *at, ctypes.byref(place)) == RAISED
    assert handles.accessor("rows_float", "append")(rows, None, ctypes.c_int64(1)) == NULL
    assert handles.accessor("rows_float", "append")(rows, None, ctypes.c_int64(-1)) == EXTENT
    assert handles.accessor("rows_float", "row_length", ctypes.c_int64)(rows, ctypes.c_int64(2)) == -1
    handles.free("rows_float", rows)


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"\x80", b"a\xc3", b"\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x80\x80\x80"],
)
def test_text_that_is_not_utf8_is_refused(built: Built, data: bytes) -> None:
    handles, _ = built
    with pytest.raises(UnicodeDecodeError):
        data.decode()
    assert handles.accessor("str", "new", ctypes.c_void_p)(data, ctypes.c_int64(len(data))) is None
    texts = handles.make("list_str", ["a"])
    assert handles.accessor("list_str", "append")(texts, data) == RAISED
    assert handles.value("list_str", texts) == ["a"]
    handles.free("list_str", texts)


def test_texts_are_cut_between_characters_where_there_is_no_room(built: Built) -> None:
    handles, _ = built
    text = handles.make("str", "a\u20acb")
    read = handles.accessor("str", "get", ctypes.c_int64)
    for room, shown in ((1, b""), (2, b"a"), (4, b"a"), (5, b"a\xe2\x82\xac"), (6, b"a\xe2\x82\xacb")):
        buffer = ctypes.create_string_buffer(b"?" * 8, 9)
        assert read(text, buffer, ctypes.c_int64(room)) == 5
        assert buffer.value == shown and buffer.raw[room] == ord("?")
    handles.free("str", text)


def test_entries_are_set_and_found_again(built: Built) -> None:
    handles, _ = built
    expected = {f"k{i}": f"v{i}" for i in range(300)}
    made = handles.make("dict_str_str", expected)
    for i in range(0, 300, 7):
        expected[f"k{i}"] = "\u20ac" * (i % 5)
        assert handles.accessor("dict_str_str", "set")(made, f"k{i}".encode(), expected[f"k{i}"].encode()) == OK
    assert handles.value("dict_str_str", made) == expected
    assert handles.accessor("dict_str_str", "get", ctypes.c_int64)(made, b"none", None, ctypes.c_int64(0)) == -1
    handles.free("dict_str_str", made)
    texts = handles.make("list_str", ["a", "bb", "c"])
    assert handles.accessor("list_str", "set")(texts, ctypes.c_int64(1), b"") == OK
    assert handles.accessor("list_str", "set")(texts, ctypes.c_int64(0), b"long") == OK
    assert handles.value("list_str", texts) == ["long", "", "c"]
    handles.free("list_str", texts)


C_PROGRAM = r"""
#include "boxes.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
    weft_error error;
    const double numbers[] = {1.0, 2.0, 3.5};
    weft_list_float *list = boxes_list_float_new(numbers, 3);
    double total;
    if (boxes_doubled(list, &error) != WEFT_OK || boxes_total(list, &total, &error) != WEFT_OK)
        return 1;
    printf("%g %lld\n", total, (long long)boxes_list_float_length(list));
    boxes_list_float_free(list);

    weft_list_str *words = boxes_list_str_new();
    const char *text[] = {"warp", "weft", "warp"};
    for (int i = 0; i < 3; i++)
        if (boxes_list_str_append(words, text[i]) != WEFT_OK)
            return 1;
    weft_dict_str_int *counts;
    if (boxes_counted(words, &counts, &error) != WEFT_OK)
        return 1;
    for (int64_t at = 0; at < boxes_dict_str_int_length(counts); at++) {
        char key[16];
        int64_t count;
        boxes_dict_str_int_key_at(counts, at, key, sizeof key);
        boxes_dict_str_int_get(counts, key, &count);
        printf("%s=%lld\n", key, (long long)count);
    }
    boxes_dict_str_int_free(counts);
    boxes_list_str_free(words);
    return 0;
}
"""
CPP_PROGRAM = r"""
#include "boxes.hpp"
#include <iostream>

int main()
{
    std::vector<double> list{1.0, 2.0, 3.5};
    boxes::doubled(list);
    std::cout << boxes::total(list) << ' ' << list.size() << '\n';
    for (const auto &entry : boxes::counted({"warp", "weft", "warp"}))
        std::cout << entry.first << '=' << entry.second << '\n';
    for (const auto &row : boxes::rows_twice({{1}, {}, {2, 3}}))
        std::cout << row.size();
    weft::dict<std::int64_t, std::int64_t> counts{{4, 1}};
    boxes::raised_by_one(counts, 9);
    std::cout << ' ' << counts.size() << ' ' << boxes::calls("\u20ac") << ' ' << boxes::parts("a,b")[1];
    std::cout << ' ' << boxes::not_these({true, false})[1] << ' ' << boxes::backwards({1, 2})[0] + 0;
    std::cout << ' ' << std::get<1>(boxes::appended(list, 1.0)) << '\n';
    try {
        std::vector<double> few{1.0};
        boxes::added(list, few);
    } catch (const weft::error &problem) {
        std::cout << problem.exception() << ' ' << problem.line() << '\n';
    }
    try {
        boxes::calls("\xff");
    } catch (const std::invalid_argument &problem) {
        std::cout << problem.what() << '\n';
    }
}
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_programs_in_c_and_cpp(folder: Path, language: str) -> None:
    compiler = shutil.which("gcc" if language == "c" else "g++")
    if compiler is None:
        pytest.skip("there is no such compiler here")
    home = folder / "boxes"
    source, program = folder / f"program.{language}", folder / f"program_{language}"
    source.write_text(C_PROGRAM if language == "c" else CPP_PROGRAM)
    flags = ["-std=c11" if language == "c" else "-std=c++17", "-Wall", "-Wextra", "-Werror"]
    library = [f"-I{home / 'include'}", f"-L{home / 'lib'}", "-lboxes", f"-Wl,-rpath,{home / 'lib'}"]
    subprocess.run([compiler, *flags, str(source), *library, "-o", str(program)], check=True)
    told = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[:3] == ["13 3", "warp=2", "weft=1"]
    if language == "cpp":
        line = next(at for at, text in enumerate(MODULE.splitlines(), 1) if "y[i] += x[i]" in text)
        assert told[3:] == ["102 2 \u20ac! b 1 2 4", f"IndexError {line}", "a string is not UTF-8"]


def test_the_fortran_module_binds_to_all_accessors(folder: Path) -> None:
    text = (folder / "boxes" / "include" / "boxes.f90").read_text()
    header = (folder / "boxes" / "include" / "boxes.h").read_text()
    names = {word.split("(")[0].lstrip("*") for word in header.split() if word.lstrip("*").startswith("boxes_")}
    skipped = {"boxes_get_threads", "boxes_set_blas"}
    assert all(f"bind(c, name='{name}')" in text for name in names - skipped)
    assert max(map(len, text.splitlines())) <= 132
    compiler = shutil.which("gfortran")
    if compiler is not None:
        subprocess.run([compiler, "-fsyntax-only", "boxes.f90"], cwd=folder / "boxes" / "include", check=True)
