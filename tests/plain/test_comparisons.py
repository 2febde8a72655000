"""Sorting by comparisons that a program can see, and functions and methods that are kept as values."""

from __future__ import annotations

import functools
import itertools

import pytest

from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


class Counted:
    def __init__(self, value, log):
        self.value = value
        self.log = log

    def __lt__(self, other):
        self.log.append((self.value, other.value))
        return self.value < other.value


class Version:
    def __init__(self, text):
        self.parts = tuple([int(part) for part in text.split(".")])

    @classmethod
    def parse(cls, text):
        return cls(text)

    def __lt__(self, other):
        return self.parts < other.parts


def logged(values):
    log = []
    items = [Counted(value, log) for value in values]
    items.sort(reverse=len(values) % 2 == 1)
    return [item.value for item in items], log


def logged_by_key(values):
    log = []
    items = sorted([Counted(value, log) for value in values], key=lambda item: (0, item))
    return [item.value for item in items], log


def versions(texts):
    return [version.parts for version in sorted(map(Version.parse, texts))]


def counted(values):
    calls = 0

    def compare(a, b):
        nonlocal calls
        calls += 1
        return a - b

    return sorted(values, key=functools.cmp_to_key(compare)), calls


def by_length(words):
    compare = functools.cmp_to_key(lambda a, b: len(a) - len(b) or (a > b) - (a < b))
    return sorted(words, key=compare, reverse=True), max(words, key=compare), min(words, key=compare)


SCATTERED = [value * 37 % 53 for value in range(53)]


@pytest.mark.parametrize("function", [logged, logged_by_key, counted])
@pytest.mark.parametrize("values", [[3, 1, 2], [], [1, 2, 3, 4], [4, 3, 2, 2, 1], SCATTERED], ids=len)
def test_a_program_sees_the_comparisons_of_list_sort(function, values):
    native = Native(function)
    version = native.extend((values,))
    assert native(values) == function(values)
    assert last(version.call).deopts == 0


def test_many_seen_comparisons_are_left_to_python():
    values = [value * 37 % 101 for value in range(100)]
    for function in (logged, counted):
        native = Native(function)
        native.extend((values,))
        assert native(values) == function(values)


@pytest.mark.parametrize(
    "function, argument",
    [
        (versions, [f"{value * 7 % 13}.{value}" for value in range(100)]),
        (by_length, [str(value * 37 % 211) for value in range(100)]),
    ],
)
def test_comparisons_that_only_look_are_native_for_many_items(function, argument):
    native = Native(function)
    version = native.extend((argument,))
    assert native(argument) == function(argument)
    assert last(version.call).deopts == 0


TABLE = {"up": str.upper, "strip": str.strip, "length": len}


def from_table(name, text):
    return TABLE[name](text), [test(text) for test in (str.isalpha, str.isdigit)]


def kept_methods(texts):
    made = []
    add, change = made.append, str.title
    for text in texts:
        add(change(text))
    parse = Version.parse
    return made, [parse(text).parts for text in ("1.2", "3")]


def bases(texts):
    read = functools.partial(int, base=16)
    return [int(text, base=2) for text in texts], list(map(read, texts))


def joined(rows):
    return list(itertools.chain(*rows)), list(itertools.chain(rows, rows, rows, rows)), list(itertools.chain())


def changed_items(before, after):
    return before.items() - after.items(), before.items() | after.items(), before.keys() | after


def kept_lines(text):
    return text.splitlines(True), text.splitlines(keepends=False)


def groups_unread(values):
    first = [key for key, _ in itertools.groupby(values)]
    return first, {key: sum(1 for _ in group) for key, group in itertools.groupby(sorted(values))}


@pytest.mark.parametrize(
    "function, arguments",
    [
        (from_table, ("up", "ab")),
        (from_table, ("length", "12")),
        (kept_methods, (["one two", ""],)),
        (bases, (["101", "11"],)),
        (joined, ([["a"], ["b", "c"]],)),
        (joined, ([],)),
        (changed_items, ({"a": 1, "b": 2}, {"a": 1, "c": 3})),
        (kept_lines, ("a\nb\r\nc",)),
        (groups_unread, ([1, 4, 2, 2],)),
    ],
)
def test_native_as_in_python(function, arguments):
    native = Native(function)
    version = native.extend(arguments)
    assert native(*arguments) == function(*arguments)
    assert last(version.call).deopts == 0


def test_a_class_method_that_is_replaced_is_seen(monkeypatch):
    native = Native(kept_methods)
    version = native.extend((["x"],))
    assert native(["x"]) == kept_methods(["x"])
    monkeypatch.setattr(Version, "parse", classmethod(lambda cls, text: cls("7")))
    assert not version.is_current()
    assert native(["x"]) == kept_methods(["x"])
