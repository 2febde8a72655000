"""What is told of a function that both compilers refuse: one reason at one line, with one remedy."""

from __future__ import annotations

import json
from typing import Any

import pytest

import weft


def _opened(path: Any) -> Any:
    with open(path) as file:
        return len(file.read())


def _parsed(lines: Any) -> Any:
    found = []
    for line in lines:
        found.append(json.loads(line)["x"])
    return found


def _elsewhere(rows: Any) -> Any:
    total = 0
    for name, row in rows.items():
        total += len(name) + sum(row)
    return eval("total", {"total": total})


@pytest.mark.native
def test_a_construct_is_told_by_what_is_in_it(tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_text("abc")
    made = weft.jit(_opened)
    with pytest.warns(weft.FallbackWarning) as told:
        assert made(str(path)) == 3
    assert len(told) == 1 and "a call of `open`" in str(told[0].message)
    assert made.explain().short().count("left to Python: ") == 1


@pytest.mark.native
def test_what_a_library_is_refused_for_is_told_at_the_call() -> None:
    made = weft.jit(_parsed)
    with pytest.warns(weft.FallbackWarning) as told:
        assert made(['{"x": 1}', '{"x": 2}']) == [1, 2]
    text = str(told[0].message)
    assert len(told) == 1 and "json.loads" in text and "found: empty list" in text
    assert "call it outside the compiled function" in text and "change line" not in text
    assert made.explain().short().count("left to Python: ") == 1


@pytest.mark.native
def test_a_remedy_names_a_line_of_the_function() -> None:
    made = weft.jit(_elsewhere, fallback="silent")
    assert made({"ab": [1, 2]}) == 5
    refused = made.explain().short()
    first = _elsewhere.__code__.co_firstlineno
    assert refused.count("left to Python: ") == 1 and f"line {first + 4}" in refused and "eval" in refused


@pytest.mark.usefixtures("array_compiler_only")
def test_a_notebooks_open_is_told_as_open(tmp_path: Any) -> None:
    """IPython puts a function of its own in the place of `open`; what is in that is nobody's concern."""
    shell = pytest.importorskip("IPython.core.interactiveshell")
    opened = shell._modified_open

    def length(path: Any, total: Any) -> Any:
        for k in range(3):
            total += k
        opened(path)
        return total

    path = tmp_path / "a.txt"
    path.write_text("abc")
    made = weft.jit(length)
    with pytest.warns(weft.FallbackWarning) as told:
        assert made(str(path), 1.0) == 4.0
    text = str(told[0].message)
    assert "open, which weft has no native form for" in text and "IPython" not in text
