"""Functions are found in their file by position, and only where the file still says what they do."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import linecache
import os
import subprocess
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.errors import Unsupported
from weft.frontend.source import load

LAYOUTS = '''# -*- coding: latin-1 -*-
import functools

class Kernels:
    def comments(self, a):
# a comment in the first column
        total = 0.0
    # and one elsewhere
        for x in a:
# between the lines
            total += x
        return total

    class Inner:
        @staticmethod
        def doubled(a):
            return a * 2

def many(*given):
    return lambda function: function

@many(
    1,
    2,
)
@many(3)
def decorated(a):
    return a + 1

first, second = (lambda x: x + 1), (lambda x: x + 2)
nested = lambda x: (lambda y: x + y)
if True: one_line = lambda x: x * 3; other = lambda x: x * 4

def outer(k):
    def inner(x):
        return x * k
    return inner

def continued(a, \\
    b):
    text = """
of several lines
"""
    return a + \\
        b
\x0c
def after_form_feed(a):
\treturn a - 1

def umlaut(a, gr\xf6\xdfe=2):
    return a * gr\xf6\xdfe

if True:
    def twice(a):
        return a
else:
    def twice(a):
        return -a
'''


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[types.ModuleType]:
    folder = tmp_path_factory.mktemp("layouts")
    (folder / "weft_test_layouts.py").write_bytes(LAYOUTS.encode("latin-1"))
    sys.path.insert(0, str(folder))
    yield importlib.import_module("weft_test_layouts")
    sys.path.remove(str(folder))


#: What each function of the file is, and the lines it begins and ends with.
PLACES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "comments": (lambda m: m.Kernels.comments, "def comments", "return total"),
    "a class in a class": (lambda m: m.Kernels.Inner.doubled, "@staticmethod", "return a * 2"),
    "decorators over several lines": (lambda m: m.decorated, "@many(", "return a + 1"),
    "first lambda": (lambda m: m.first, "lambda x: x + 1", "x + 1"),
    "second lambda": (lambda m: m.second, "lambda x: x + 2", "x + 2"),
    "lambda around another": (lambda m: m.nested, "lambda x: (lambda y", "x + y)"),
    "lambda inside another": (lambda m: m.nested(1), "lambda y: x + y", "x + y"),
    "lambda in a line of statements": (lambda m: m.other, "lambda x: x * 4", "x * 4"),
    "function in a function": (lambda m: m.outer(2), "def inner", "return x * k"),
    "continuation lines": (lambda m: m.continued, "def continued", "b"),
    "form feed and tabs": (lambda m: m.after_form_feed, "def after_form_feed", "return a - 1"),
    "another encoding": (lambda m: m.umlaut, "def umlaut", "gr\xf6\xdfe"),
    "one of two definitions": (lambda m: m.twice, "def twice", "return a"),
}


@pytest.mark.parametrize("which", PLACES)
def test_a_function_is_found_where_it_stands(which: str, layouts: types.ModuleType) -> None:
    find, begins, ends = PLACES[which]
    function = find(layouts)
    source = load(function)
    text = source.text.rstrip()
    assert text.startswith(begins) and text.endswith(ends)
    lines = LAYOUTS.split("\n")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.lineno == node.end_lineno:
            line = lines[node.lineno - 1].encode()
            assert line[node.col_offset : node.end_col_offset].decode() == node.id


@pytest.mark.parametrize("which", ["comments", "continuation lines", "form feed and tabs", "another encoding"])
def test_it_compiles(which: str, layouts: types.ModuleType) -> None:
    function = PLACES[which][0](layouts)
    given: tuple[Any, ...] = (np.arange(4.0),)
    if which == "comments":
        given = (None, *given)
    if which == "continuation lines":
        given *= 2
    compiled = weft.jit(function, fallback="error")
    np.testing.assert_array_equal(compiled(*given), function(*given))


def _written(path: Path, text: str) -> types.ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_that_was_edited_after_the_import_is_no_source(tmp_path: Path) -> None:
    file = tmp_path / "weft_edited.py"
    module = _written(file, "def f(a):\n    return a * 2\n")
    file.write_text("def f(a):\n    return a * 3\n")
    with pytest.raises(Unsupported, match="the file has changed"):
        load(module.f)
    assert weft.jit(module.f, fallback="silent")(4.0) == 8.0


def test_nor_is_one_of_the_same_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "weft_same_size.py"
    module = _written(file, "def f(a):\n    return a * 2\n")
    before = file.stat()
    file.write_text("def f(a):\n    return a * 3\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert weft.jit(module.f, fallback="silent")(4.0) == 8.0


def test_what_was_seen_of_a_file_before_an_edit_is_its_source(tmp_path: Path) -> None:
    file = tmp_path / "weft_seen.py"
    module = _written(file, "def f(a):\n    return a * 2\n")
    linecache.getlines(str(file))
    file.write_text("def f(a):\n    return a * 3\n")
    assert weft.jit(module.f, fallback="error")(4.0) == 8.0


def test_a_file_that_was_loaded_again_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "weft_again.py"
    module = _written(file, "def f(a):\n    return a * 2\n")
    assert weft.jit(module.f, fallback="error")(4.0) == 8.0
    module = _written(file, "def f(a):\n    return a * 3 + 1\n")
    assert weft.jit(module.f, fallback="error")(4.0) == 13.0


def test_code_that_ran_under_the_name_of_a_file_is_not_in_it(tmp_path: Path) -> None:
    file = tmp_path / "weft_other.py"
    file.write_text("def f(a):\n    return a * 3\n")
    namespace: dict[str, Any] = {"__name__": "other"}
    exec(compile("def f(a):\n    return a * 2\n", str(file), "exec"), namespace)
    assert weft.jit(namespace["f"], fallback="silent")(4.0) == 8.0


@pytest.mark.parametrize("change", ["a * 2", "a * 2.0", "a ** 2", "b * 2", "(a * 2)[0:]", "-a"])
def test_every_difference_counts(change: str, tmp_path: Path) -> None:
    file = tmp_path / "weft_differs.py"
    file.write_text(f"def f(a, b=1):\n    return {change}\n")
    namespace: dict[str, Any] = {"__name__": "differs"}
    exec(compile("def f(a, b=1):\n    return a * 3\n", str(file), "exec"), namespace)
    with pytest.raises(Unsupported):
        load(namespace["f"])


@pytest.mark.parametrize("name", ["<" + "x" * 5000 + ">", "/" + "y" * 5000 + ".py", "<a\nb>", ""])
def test_a_function_of_exec_under_a_name_that_is_no_path(name: str) -> None:
    text = "def f(a):\n    return a * 5\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    compiled = weft.jit(namespace["f"], fallback="silent")
    assert compiled(3) == 15 and compiled(np.arange(3)).tolist() == [0, 5, 10]


def test_a_function_of_exec_with_its_text_in_linecache() -> None:
    text, file = "def f(a):\n    return a * 5\n", "<weft test of exec>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(compile(text, file, "exec"), namespace)
    assert weft.jit(namespace["f"], fallback="error")(2.0) == 10.0


def test_a_function_without_any_text_stays_python() -> None:
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(compile("def f(a):\n    return a * 5\n", "<nowhere>", "exec"), namespace)
    with pytest.raises(Unsupported, match="cannot be found"):
        load(namespace["f"])
    assert weft.jit(namespace["f"], fallback="silent")(2.0) == 10.0


def test_a_module_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("weft_zipped.py", "'''of a zip'''\n\x0c\ndef f(a):\n    return a * 6\n")
    sys.path.insert(0, str(tmp_path / "packed.zip"))
    try:
        module = importlib.import_module("weft_zipped")
    finally:
        sys.path.pop(0)
    assert weft.jit(module.f, fallback="error")(2.0) == 12.0


SCRIPT = "import weft\n@weft.jit(fallback='error')\ndef f(a):\n    return a * 7\nprint(f(2.0))\n"


def test_python_c(subprocess_environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=subprocess_environment, capture_output=True, text=True, timeout=600)
    assert done.stdout == "14.0\n", done.stderr


def test_a_decorator_that_wraps_is_what_is_loaded() -> None:
    import functools

    def plus_one(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*given: Any) -> Any:
            return function(*given) + 1

        return wrapper

    @plus_one
    def inner(a: Any) -> Any:
        return a * 2

    assert load(inner).tree.name == "wrapper"
    assert weft.jit(inner, fallback="silent")(3.0) == 7.0


def test_a_cell_whose_statements_are_compiled_one_by_one() -> None:
    """As notebooks do.  Where Python sees `import numpy as np` in the same text, np.sqrt(x) is other code."""

    from weft.errors import attach_source

    text = "import numpy as np\n\ndef root(a):\n    return np.sqrt(a[0]) + np.exp(a[1])\n"
    attach_source("<cell one by one>", text)
    space: dict[str, object] = {}
    for node in ast.parse(text).body:
        exec(compile(ast.Module([node], []), "<cell one by one>", "exec"), space)
    found = load(space["root"])
    assert found.tree.name == "root"
    attach_source("<cell one by one>", text.replace("sqrt", "cbrt"))
    with pytest.raises(Unsupported, match="changed"):
        load(space["root"])


class _OfAnother:
    """What a tool has noted on a node that all trees share: nothing of weft may follow or copy it."""

    def __deepcopy__(self, memo: object) -> object:
        raise AssertionError("the note of another tool was copied")


def _shared_nodes() -> list[ast.AST]:
    operators = "[a + b - c * d / e // f % g ** h, i << j >> k | l & m ^ n @ o, not p, ~q, -r, +s, t and u or v]\n"
    tests = "[w < x, w <= x, w > x, w >= x, w == x, w != x, w is x, w is not x, w in x, w not in x]\n"
    nodes = ast.walk(ast.parse(f"{operators}{tests}y = z\ndel y\n"))
    return [node for node in nodes if not node._attributes and not isinstance(node, ast.Module)]


@pytest.fixture
def noted() -> Iterator[None]:
    """`Load`, `Add` and the like with a parent, as IPython leaves them where it has shown a traceback."""
    shared = _shared_nodes()
    for node in shared:
        node.parent = _OfAnother()  # type: ignore[attr-defined]
    yield
    for node in shared:
        vars(node).pop("parent", None)


def _cached(n: int) -> int:
    import functools

    @functools.lru_cache(None)
    def fib(k: int) -> int:
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


def _keys(rows: list[dict[str, int]]) -> list[int]:
    return [row["key"] for row in rows if row["key"] > 0]


def _streamed(a: Any) -> Any:
    def squares() -> Iterator[Any]:
        for x in a:
            yield x * x

    return sum(squares()), any(x > 1 for x in a), np.average(a)


def _matched(pair: tuple[int, int]) -> int:
    match pair:
        case (first, second) if first > second:
            return first
        case (_, second):
            return second
    return 0


@pytest.mark.usefixtures("noted")
@pytest.mark.parametrize(
    ("function", "argument"),
    [(_cached, 10), (_keys, [{"key": 1}, {"key": -1}]), (_streamed, np.arange(4.0)), (_matched, (1, 2))],
)
def test_notes_of_other_tools_on_shared_nodes_do_no_harm(function: Callable[..., Any], argument: Any) -> None:
    assert weft.jit(function, cache=False, fallback="error")(argument) == function(argument)
