"""What compiled functions print: the same text as under Python, in order, once."""

from __future__ import annotations

import io
import sys

import pytest

from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


class Sensor:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        if self.value < 0:
            raise ValueError("no text")
        return f"<{self.value:.1f}>"


def report(rows, marks):
    total = 0
    for name, value in rows:
        total += value
        print("%-6s|%5d" % (name, value), total / 2, sep=" ... ")
        if value > 2:
            print(name, end="; ")
    print()
    print(*marks, "end", *[], sep="-")
    print(*[])
    print(None, True, 1e300, "\u00e9\U0001f600", [1, "x"], {"k": 2.5}, end=None, flush=True)
    list(map(print, range(2)))
    return total


def partly(values):
    for value in values:
        try:
            print("read", Sensor(value))
        except ValueError as problem:
            print("bad", problem)


def too_large(n):
    print("first", flush=True)
    print("second")
    product = 1
    for _ in range(n):
        product *= 10**9
        print("step", flush=True)
    print(product)


def raises(values):
    print("begin", flush=True)
    print(values[3])


def printed(monkeypatch, function, *arguments):
    stream = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        try:
            result = function(*arguments)
        except IndexError as problem:
            result = str(problem)
        assert sys.stdout is stream
    return result, stream.getvalue()


@pytest.mark.parametrize(
    "function, arguments, deopts",
    [
        (report, ([("ab", 1), ("c", 3)], ("x", "y")), 0),
        (partly, ([1.0, -1.0, 2.0],), 0),
        (too_large, (1,), 0),
        (too_large, (3,), 1),
        (raises, ([1, 2],), 1),
    ],
)
def test_output_is_written_once_and_in_order(monkeypatch, function, arguments, deopts):
    native = Native(function)
    version = native.extend(arguments)
    expected = printed(monkeypatch, function, *arguments)
    assert printed(monkeypatch, native, *arguments) == expected
    assert last(version.call).deopts == deopts, last(version.call)


class Recorder:
    """A stream of the program's own sees every piece."""

    def __init__(self):
        self.pieces = []

    def write(self, text):
        self.pieces.append(text)

    def flush(self):
        self.pieces.append(None)


def test_a_stream_of_the_programs_own_gets_the_pieces_that_print_writes(monkeypatch):
    found = []
    native = Native(report)
    arguments = [("ab", 1), ("c", 3)], ("x", "y")
    native.extend(arguments)
    for function in (report, native):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Recorder())
            function(*arguments)
            found.append(sys.stdout.pieces)
    assert found[0] == found[1]


def test_without_a_stream_nothing_is_printed(monkeypatch):
    native = Native(partly)
    native.extend(([1.0],))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert native([1.0]) is None
