"""What weft says when it refuses, for every kind of refusal: at most 15 lines with the place, the source and a caret,
the types it saw and one thing to do. They are in error_texts.txt, written by `pytest tests/errors --update-golden`.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.errors import mistakes
from weft.errors import MAX_LINES

GOLDEN = Path(__file__).parent / "error_texts.txt"
A = np.ones(5)


def _refused(function: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(weft.WeftError) as caught:
        weft.jit(fallback="error")(function)(*arguments)
    return f"{type(caught.value).__name__}: {caught.value}"


def _warned(function: Callable[..., Any], *arguments: Any) -> str:
    with pytest.warns(weft.FallbackWarning) as seen, pytest.raises(AttributeError):
        weft.jit(fallback="warn")(function)(*arguments)
    assert len(seen) == 1
    return f"FallbackWarning: {seen[0].message}"


def _transformed(loop: str) -> str:
    compiled = weft.jit(fallback="error")(mistakes.skewed)
    compiled(np.ones((4, 4)))
    with pytest.raises(weft.TransformError) as caught:
        weft.transform(compiled).sequential("i").interchange("i", loop)
    return f"TransformError: {caught.value}"


def _option(**options: Any) -> str:
    with pytest.raises(weft.OptionError) as caught:
        weft.jit(**options)
    return f"OptionError: {caught.value}"


def _compiler() -> str:
    log = "kernel.c: In function 'kernel':\nkernel.c:3:5: error: unknown type name 'i46'\nkernel.c:9: note: here\n"
    problem = weft.CompileError("the C compiler gcc failed on f (status 1)", "run `weft doctor`", ("gcc", "-O3"), log)
    return f"CompileError: {problem}"


def _without_source() -> str:
    namespace: dict[str, Any] = {}
    exec("def f(a):\n    return a + 1\n", namespace)
    return _refused(namespace["f"], A)


# The name of a text, how it comes about, and what it must show: a line, types, a way out.
TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "a call without a native form": (lambda: _refused(mistakes.unknown_call, A, "data.bin"), "line types try"),
    "a statement without a native form": (lambda: _refused(mistakes.unknown_statement, A, 3), "line try"),
    "more types than fit": (lambda: _refused(mistakes.many_types, A, A, A, 2, True, 1j), "line types try"),
    "a construct of several lines": (lambda: _refused(mistakes.long_expression, A), "line types try"),
    "a variable without a value": (lambda: _refused(mistakes.may_be_unset, A, 4), "line types try"),
    "types that cannot be right": (lambda: _refused(mistakes.impossible_types, A, 0), "line types try"),
    "an argument that cannot be right": (lambda: _refused(mistakes.wrong_argument, A), "line types try"),
    "a name that is not there": (lambda: _refused(mistakes.missing_name, A), "line types try"),
    "a list of unlike items": (lambda: _refused(mistakes.grown_mixture, 3), "line types try"),
    "in an inlined function": (lambda: _refused(mistakes.inlined, A), "line types try"),
    "a warning": (lambda: _warned(mistakes.inlined, A), "line types try"),
    "a race": (lambda: _refused(mistakes.racing, A), "line try"),
    "a parallel loop that is left": (lambda: _refused(mistakes.left_early, A), "line try"),
    "an illegal transformation": (lambda: _transformed("j"), "line try"),
    "a transformation of nothing": (lambda: _transformed("z"), "line try"),
    "no source": (_without_source, "try"),
    "an unknown option": (lambda: _option(falback="error"), ""),
    "an unknown value": (lambda: _option(fallback="never"), ""),
    "the C compiler": (_compiler, "try"),
}


def _portable(text: str) -> str:
    for place in (Path(mistakes.__file__), Path(np.__file__)):
        text = text.replace(str(place), place.name)
    return text


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.reload(mistakes)
    return {name: _portable(make()) for name, (make, _) in TEXTS.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_says_where_what_and_what_to_do(name: str, texts: dict[str, str]) -> None:
    text, wanted = texts[name], TEXTS[name][1].split()
    rows = text.splitlines()
    assert len(rows) <= MAX_LINES
    assert all(len(row) <= 240 for row in rows)
    if "line" in wanted:
        assert "mistakes.py:" in rows[0]
        assert any("^" in row for row in rows)
    if "types" in wanted:
        assert any("types:" in row for row in rows)
    if "try" in wanted:
        assert sum(row.strip().startswith("try:") for row in rows) == 1


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="some words are the interpreter's own")
def test_the_texts_are_those_on_record(texts: dict[str, str], update_golden: bool) -> None:
    new = "\n".join(f"--- {name}\n{text}\n" for name, text in texts.items())
    if update_golden:
        GOLDEN.write_text(new)
    old = GOLDEN.read_text() if GOLDEN.exists() else ""
    changed = difflib.unified_diff(old.splitlines(), new.splitlines(), GOLDEN.name, "said now", lineterm="")
    assert old == new, "\n".join(changed)
