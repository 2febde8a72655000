"""What functions and classes that are made inside a function are called, whichever way the function runs."""

from __future__ import annotations

from collections import defaultdict

import pytest

import weft


def in_regions(pairs):
    by_key = defaultdict(lambda: defaultdict(set))
    for key, value in pairs:
        by_key[key][value].add(value)
    return by_key


def of_class(n):
    total = 0
    for i in range(n):
        total += i

    class Inner:
        def method(self):
            return lambda: total

    return Inner, Inner().method(), [lambda: i for i in range(2)]


def names_of(value):
    if isinstance(value, defaultdict):
        return value.default_factory.__qualname__
    inner, method, made = value
    return inner.__qualname__, inner.method.__qualname__, method.__qualname__, [f.__qualname__ for f in made]


@pytest.mark.parametrize("function, arguments", [(in_regions, ([("a", 1), ("b", 2)],)), (of_class, (5,))])
def test_qualified_names_are_those_of_python(function, arguments):
    compiled = weft.jit(function, fallback="silent")
    for _ in range(3):
        assert names_of(compiled(*arguments)) == names_of(function(*arguments))


def called_wrongly(n):
    total = 0
    for i in range(n):
        total += i
    made = {"f": lambda x: x + total}
    try:
        return made["f"]()
    except TypeError as problem:
        return str(problem), [made]


def test_messages_name_functions_as_python_does():
    compiled = weft.jit(called_wrongly, fallback="silent")
    for _ in range(3):
        assert compiled(4)[0] == called_wrongly(4)[0]
