"""What native code does not know is refused, and not taken for a TypeError or an AttributeError that a `try` catches.

All methods of the builtin types are called on a value, and through the class; those that are native run together."""

from __future__ import annotations

import bisect
import collections
import copy
import heapq
import linecache
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.plain.function import Native
from weft.plain.runtime import MISS, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

VALUES: list[Any] = [
    5,
    True,
    2.5,
    "ab",
    b"ab",
    bytearray(b"ab"),
    [3, 1],
    (3, 1),
    {"a": 1},
    {3, 1},
    frozenset({3}),
    collections.deque([3, 1]),
    collections.Counter("aab"),
    collections.OrderedDict(a=1),
    collections.defaultdict(int, a=1),
    1j,
]
NAMES = {name: getattr(collections, name) for name in ("deque", "Counter", "OrderedDict", "defaultdict")}
#: What makes, changes or describes classes and objects, and hashes of texts, which differ from process to process.
LEFT_OUT = ("class", "new", "init", "init_subclass", "subclasshook", "reduce", "reduce_ex", "getstate", "setstate")
LEFT_OUT += ("dir", "sizeof", "getnewargs", "class_getitem", "hash", "getattribute", "setattr", "delattr", "getformat")


class _Inferred(Exception):
    """Types are known: this is native."""


def made(expressions: list[str], value: Any) -> Callable[[Any], Any]:
    lines = ["def each(a):", "    found = []"]
    for expression in expressions:
        lines += ["    try:", f"        x = {expression}"]
        lines += ["    except (TypeError, AttributeError):", "        x = 'caught'", "    found.append(x)"]
    text = "\n".join([*lines, "    return found", ""])
    file = f"<{type(value).__name__} {len(expressions)} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {**NAMES, "copy": copy}
    exec(compile(text, file, "exec"), names)
    return names["each"]  # type: ignore[no-any-return]


def is_native(expression: str, value: Any) -> bool:
    def build(source: str) -> Path:
        raise _Inferred

    function = made([expression], value)
    try:
        function(copy.copy(value))
    except Exception:
        return False  # another exception
    try:
        Native(function).extend((copy.copy(value),), build)
    except _Inferred:
        return True
    except weft.Unsupported:
        return False
    return False


def of(value: Any) -> list[str]:
    """Calls of all methods, on the value and through its class."""
    names = [name for name in dir(value) if name.strip("_") not in LEFT_OUT and callable(getattr(value, name))]
    cls, inner = type(value).__name__, [1, "b", {"a": "b"}]
    own = "copy.copy(a)"
    found = [f"{cls}.{name}({own})" for name in names]
    found += [f"{own}.{name}({given})" for name in names for given in ("", *map(repr, inner))]
    return found


def agree(native: list[str], value: Any) -> None:
    """Native expressions give what Python gives, together or, where that is given up, fewer of them at a time."""
    waiting = [native]
    while waiting:
        expressions = waiting.pop()
        function = made(expressions, value)
        compiled = Native(function)
        compiled.extend((copy.copy(value),))
        found = compiled.versions[0].call(copy.copy(value))
        if found is not MISS:
            expected = function(copy.copy(value))
            differing = [row for row in zip(expressions, map(shown, found), map(shown, expected)) if row[1] != row[2]]
            assert not differing
        elif len(expressions) > 1:
            half = len(expressions) // 2
            waiting += [expressions[:half], expressions[half:]]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_unknown_methods_are_no_errors(value: Any) -> None:
    native = [expression for expression in of(value) if is_native(expression, value)]
    assert native
    agree(native, value)


OPERANDS = ["[3]", "(3,)", "'ab'", "b'ab'", "{3: 1}", "{3}", "deque([3])", "Counter('aab')", "OrderedDict(a=1)", "2"]


@pytest.mark.parametrize("left", OPERANDS)
def test_unknown_operators_are_no_errors(left: str) -> None:
    texts = [f"a {sign} {right}" for sign in "+-*|&%" for right in OPERANDS] + ["-a", "+a", "~a"]
    value = eval(left, dict(NAMES))
    native = [text for text in texts if is_native(text, value)]
    assert native
    agree(native, value)


def shown(value: Any) -> tuple[type, str]:
    return type(value), repr(value)


def searched(values: Any) -> Any:
    try:
        return bisect.bisect(values, 1)
    except TypeError as error:
        return str(error)


def heaped(values: Any) -> Any:
    try:
        heapq.heapify(values)
        return values
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("function", [searched, heaped])
@pytest.mark.parametrize("values", [[3, 1], (1, 2), {1: 2}, {1}, collections.deque([3, 1]), "12"], ids=repr)
def test_a_model_takes_what_the_library_takes(function: Any, values: Any) -> None:
    compiled = weft.jit(fallback="silent", cache=False)(function)
    for _ in range(2):
        assert shown(compiled(copy.copy(values))) == shown(function(copy.copy(values)))


def power() -> Any:
    return pow(5)  # type: ignore[call-overload]


def chosen() -> Any:
    return random.choices()  # type: ignore[call-arg]


def numbered() -> Any:
    return ord(b"a") + ord(bytearray(b"b"))


def test_bytes_have_numbers_too() -> None:
    assert weft.jit(fallback="silent", cache=False)(numbered)() == numbered()


def rooted() -> Any:
    return math.sqrt()  # type: ignore[call-arg]


@pytest.mark.parametrize("function", [power, chosen, rooted])
def test_missing_arguments_are_pythons_error(function: Any) -> None:
    compiled = weft.jit(fallback="silent", cache=False)(function)
    with pytest.raises(TypeError):
        compiled()
    assert not any("inside weft" in reason for reason in compiled.stats["fallbacks"])


def own_items(values: Any) -> Any:
    try:
        found = values.extend(values)
        values += values
        return found, values
    except RuntimeError:
        return "changed"


@pytest.mark.parametrize("values", [collections.deque([3, 1]), [3, 1]], ids=lambda v: type(v).__name__)
def test_a_sequence_that_is_extended_by_itself(values: Any) -> None:
    compiled = weft.jit(fallback="silent", cache=False)(own_items)
    assert shown(compiled(copy.copy(values))) == shown(own_items(copy.copy(values)))


def shared_tuples(t: Any, n: int) -> Any:
    empty: tuple[int, ...] = ()
    return empty is t[:0], t[:] is t, tuple(t) is t, (n, n) is t, t is t, t + empty is t, frozenset() is frozenset()


def test_tuples_that_are_one_object() -> None:
    compiled = weft.jit(fallback="silent", cache=False)(shared_tuples)
    for given in ((1, 2), ("a",), ()):
        assert compiled(given, 3) == shared_tuples(given, 3)
