"""The rendering of errors: place, source line, caret range, types, one thing to do, never more than fifteen lines."""

from __future__ import annotations

import pickle

import pytest

from weft.errors import (
    MAX_LINES,
    NOWHERE,
    CompileError,
    OptionError,
    Span,
    Unsupported,
    WeftError,
    attach_source,
    render,
)

SOURCE = """\
def f(a, words):
    total = 0.0
    for w in words: total += lookup[w] * a
    return total
"""


@pytest.fixture(autouse=True)
def _source() -> None:
    attach_source("<kernel>", SOURCE)


def test_an_error_shows_the_place_the_types_and_the_remedy() -> None:
    error = Unsupported(
        Span("<kernel>", 3, 29, 3, 38), "a dictionary as a table", "use an array", {"lookup": "dict", "w": "str"}
    )
    assert str(error).splitlines() == [
        "<kernel>:3: weft cannot compile this: a dictionary as a table",
        "  3 |     for w in words: total += lookup[w] * a",
        "    |                              ^^^^^^^^^",
        "  types: lookup: dict",
        "         w: str",
        "  try:   use an array",
    ]


def test_columns_count_bytes_as_ast_does() -> None:
    attach_source("<greek>", "αβγ = δέλτα + x\n")
    column = len("αβγ = ".encode())
    caret = render(Span("<greek>", 1, column, 1, column + len("δέλτα".encode())), "why").splitlines()[2]
    assert caret == "    |       ^^^^^"


def test_tabs_keep_the_carets_in_place() -> None:
    attach_source("<tabs>", "\tx = y\n")
    assert render(Span("<tabs>", 1, 5, 1, 6), "why").splitlines()[2] == "    | \t    ^"


def test_a_span_over_lines_is_cut() -> None:
    attach_source("<long>", "".join(f"    line_{number}(\n" for number in range(1, 12)))
    lines = render(Span("<long>", 8, 4, 11, 9), "why").splitlines()
    assert lines[1:3] == ["   8 |     line_8(", "     |     ^^^^^^^"]
    assert lines[-1] == "     | ... to line 11"


@pytest.mark.parametrize("span", [NOWHERE, Span("/no/such/file.py", 7, 0, 7, 1), Span("<kernel>", 400, 0, 400, 3)])
def test_a_place_without_source(span: Span) -> None:
    assert render(span, "why", remedy="do this").splitlines() == [
        f"{span}: weft cannot compile this: why", "  try:   do this",
    ]  # fmt: skip


def test_a_column_past_the_end_of_the_line() -> None:
    assert "^" in render(Span("<kernel>", 2, 500, 2, 600), "why")
    assert "^" in render(Span("<kernel>", 2, 8, 2, 2), "why")


def test_never_more_than_fifteen_lines() -> None:
    attach_source("<big>", "".join("x" * 500 + "\n" for _ in range(50)))
    text = render(
        Span("<big>", 1, 0, 40, 3),
        "\n".join(["reason " * 100] * 20),
        remedy="remedy " * 200 + "\n" * 30,
        types={f"name{number}": "float64[" + "n, " * 200 + "]" for number in range(40)},
    )
    lines = text.splitlines()
    assert len(lines) <= MAX_LINES and max(map(len, lines)) < 240
    assert "(and 36 more)" in text


def test_errors_survive_pickling() -> None:
    error = Unsupported(Span("<kernel>", 3, 29, 3, 38), "why", "how", {"a": "float"})
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.span == error.span and copy.types == error.types


def test_the_family() -> None:
    assert issubclass(Unsupported, WeftError) and issubclass(CompileError, WeftError)
    assert issubclass(OptionError, ValueError)


def test_spans_join() -> None:
    joined = Span("f", 1, 2, 1, 5).to(Span("f", 3, 0, 4, 7))
    assert joined == Span("f", 1, 2, 4, 7) and str(joined) == "f:1"
