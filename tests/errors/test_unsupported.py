"""What weft cannot compile: with fallback="error" an exception that names the line, otherwise the same answer in
Python.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source, lines
from weft.errors import CompileError
from weft.runtime import toolchain


def _refuse(source: str, *arguments: object) -> weft.Unsupported:
    compiled = weft.jit(fallback="error")(function_from_source(source))
    with pytest.raises(weft.Unsupported) as caught:
        compiled(*arguments)
    return caught.value


UNKNOWN = {
    "try": (lines("x", "try:", "    return 1 / x", "except ZeroDivisionError:", "    return 0"), (0,), 0),
    "match": (
        lines("x", "match x:", "    case 1:", "        return 'one'", "    case _:", "        return 'many'"),
        (1,),
        "one",
    ),
    "with": (lines("x", "import contextlib", "with contextlib.nullcontext():", "    return x + 1"), (1,), 2),
    "dict": (lines("x", "d = {'a': x}", "return d['a']"), (3,), 3),
    "set": (lines("x", "return len({x, x})"), (3,), 1),
    "lambda": (lines("x", "g = lambda y: y + x", "return g(1)"), (3,), 4),
    "string": (lines("x", "return f'{x}!'"), (3,), "3!"),
    "star": (lines("x", "a, *b = x, 2, 3", "return b"), (1,), [2, 3]),
    "global": (lines("x", "global counter", "counter = x", "return counter"), (3,), 3),
    "print": (lines("x", "print('hello')", "return x"), (3,), 3),
    "eval": (lines("x", "return eval('x + 1')"), (3,), 4),
    "delete": (lines("x", "y = x", "del y", "return x"), (3,), 3),
    "import": (lines("x", "import math", "return math.sqrt(x)"), (4.0,), 2.0),
    "sorted": (lines("x", "return sorted([3, x, 1])"), (2,), [1, 2, 3]),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_syntax_still_gives_pythons_answer(name: str) -> None:
    source, arguments, expected = UNKNOWN[name]
    compiled = weft.jit(fallback="silent")(function_from_source(source))
    for _ in range(2):
        assert compiled(*arguments) == expected


@pytest.mark.parametrize("name", ["eval", "global"])
def test_unknown_syntax_is_named_with_its_line(name: str) -> None:
    source, arguments, _ = UNKNOWN[name]
    error = _refuse(source, *arguments)
    text = str(error)
    assert len(text.splitlines()) <= 15
    assert error.span.line >= 2
    assert "^" in text
    marked = source.splitlines()[error.span.line - 1]
    assert marked.strip() in text


def test_caret_stands_under_the_construct() -> None:
    source = lines("a", "b = a + 1", "c = b * open(a)", "return c")
    error = _refuse(source, np.ones(3))
    rows = str(error).splitlines()
    position = next(i for i, row in enumerate(rows) if "open(a)" in row and "|" in row)
    code, caret = rows[position], rows[position + 1]
    start = caret.index("^")
    assert code[start : caret.rindex("^") + 1] in ("open(a)", "open")
    assert error.span.line == 3


def test_one_thing_to_do_is_suggested() -> None:
    error = _refuse(lines("x", "global counter", "counter = x", "return x"), 1)
    assert error.remedy
    assert error.remedy.split()[0] in str(error)


def test_generator_and_async_functions() -> None:
    def numbers(n):
        for i in range(n):
            yield i * 2

    async def later(x):
        return x + 1

    assert list(weft.jit(fallback="silent")(numbers)(4)) == [0, 2, 4, 6]
    assert asyncio.run(weft.jit(fallback="silent")(later)(4)) == 5
    with pytest.raises(weft.Unsupported):
        list(weft.jit(fallback="error")(numbers)(4))


def test_function_without_source() -> None:
    scope: dict[str, object] = {}
    exec("def nameless(x):\n    return x + 1\n", scope)
    compiled = weft.jit(fallback="silent")(scope["nameless"])
    assert compiled(3) == 4
    with pytest.raises(weft.Unsupported, match="source"):
        weft.jit(fallback="error")(scope["nameless"])(3)


def test_lambda() -> None:
    compiled = weft.jit(fallback="silent")(lambda a, b: a * 2 + b)
    np.testing.assert_array_equal(compiled(np.ones(3), 1), np.full(3, 3.0))


def test_builtin_and_callable_object() -> None:
    assert weft.jit(fallback="silent")(len)([1, 2, 3]) == 3

    class Adder:
        def __call__(self, x):
            return x + 1

    try:
        compiled = weft.jit(fallback="silent")(Adder())
    except TypeError:
        return
    assert compiled(3) == 4


def test_not_a_function_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        weft.jit(3)


def test_unknown_option_is_named() -> None:
    with pytest.raises(weft.OptionError, match="fpp"):
        weft.jit(fpp="strict")
    with pytest.raises(weft.OptionError, match="strict"):
        weft.jit(fp="exact")


def test_warning_is_given_once_a_line() -> None:
    source = lines("a", "text = ascii(len(a))", "return text")
    compiled = weft.jit(function_from_source(source))
    with pytest.warns(weft.FallbackWarning):
        compiled(np.ones(2))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", weft.FallbackWarning)
        assert compiled(np.ones(2)) == "2"
        assert compiled(np.ones(3)) == "3"


def test_statements_that_stay_python_between_native_ones() -> None:
    source = lines(
        "a",
        "b = a * 2",
        "for i in range(len(b)):",
        "    b[i] += i",
        "names = {'total': 'b'}",
        "c = b + len(names)",
        "return c.sum(), names",
    )
    compiled = weft.jit(fallback="silent")(function_from_source(source))
    total, names = compiled(np.arange(4.0))
    assert total == 22.0 and names == {"total": "b"}


@pytest.mark.skipif(toolchain.find() is None, reason="there is no C compiler")
def test_a_compiler_that_fails_is_no_silent_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for native code or an error gets one of the two; others get a warning and the right answer."""

    def broken(*_: Any, **__: Any) -> Any:
        raise CompileError("it ran out of memory")

    monkeypatch.setattr(toolchain.Toolchain, "build_shared", broken)
    source = "def f(a):\n    return a * 3.25 + 1\n"
    strict = weft.jit(fallback="error", cache=False)(function_from_source(source, "f"))
    with pytest.raises(weft.Unsupported, match="the C compiler failed: it ran out of memory"):
        strict(np.ones(3))
    kind = weft.jit(cache=False)(function_from_source(source, "f"))
    with pytest.warns(weft.FallbackWarning, match="the C compiler failed"):
        assert kind(np.ones(3)).tolist() == [4.25] * 3


def _beyond(a: Any) -> Any:
    for i in range(len(a)):
        a[i] = a[i + 1]
    return a


def _key(d: Any, k: Any) -> Any:
    return d[k] + 1


def _racing(a: Any) -> Any:
    for i in weft.prange(1, len(a)):
        a[i] = a[i - 1] + 1.0
    return a


@pytest.mark.native
@pytest.mark.parametrize(
    ("function", "arguments", "kind", "frames"),
    [
        (_beyond, lambda: (np.zeros(4),), IndexError, 2),
        (_key, lambda: ({"a": 1}, "b"), KeyError, 2),
        (_racing, lambda: (np.zeros(4),), weft.ParallelError, 1),
    ],
)
def test_tracebacks_hold_the_users_frames_alone(
    function: Any, arguments: Any, kind: type[Exception], frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_VERIFY", "0")
    compiled = weft.jit(function)
    for _ in range(3):
        with pytest.raises(kind) as caught:
            compiled(*arguments())
        files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert files == [__file__] * frames
