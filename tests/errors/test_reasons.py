"""One row for each reason: an expression or a body that the compiler of arrays refuses, and what becomes of it when the
remedy is followed.  In: reasons.txt; `ARGUMENTS` are the arguments of the functions made of the rows.

    np.sin(s)  -->  np.sin(x)     the remedy is followed: native, with Python's answer
    np.polyfit(a, a, 1)           "... outside the compiled function": its value is an argument that is native
    a[0, 0]                       "correct it": plain Python raises the exception that the reason names

`test_every_reason_has_a_row` looks for the reasons in the source of the front end: those without a row are counted in
UNTRIED, which may only fall.
"""

from __future__ import annotations

import ast
import collections
import functools
import heapq
import itertools
import math
import operator
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source
from weft import errors

_HERE = Path(__file__).parent
_FRONTEND = Path(weft.__file__).parent / "frontend"
_ARROW = "-->"
#: Reasons of the front end that no row of this directory provokes.
UNTRIED = 363


def _arguments() -> dict[str, Any]:
    return {
        "a": np.array([0.5, 1.0, 2.0, 4.0]),
        "m": np.arange(16.0).reshape(4, 4) + 10 * np.eye(4),
        "c": np.array([1 + 2j, 3j, 2, 1]),
        "i": np.array([0, 3, 1, 2]),
        "b": np.array([True, False, True, True]),
        "u": np.array([1, 2, 3], np.uint8),
        "h": np.array([1, 2, 3], np.float16),
        "k": 2,
        "n": 3,
        "x": 1.5,
        "s": "abc",
        "xs": [1.5, 2.5],
        "ns": [3, 1, 2],
        "rows": [[1.0, 2.0], [3.0, 4.0]],
        "d": {"p": 1, "q": 2},
        "words": ["b", "a", "b"],
        "t": (1, 2.5),
    }


def _namespace() -> dict[str, Any]:
    modules = (math, functools, collections, itertools, operator, heapq, random, re, weft)
    found: dict[str, Any] = {module.__name__: module for module in modules}
    sparse = pytest.importorskip("scipy.sparse")
    return {**found, "sp": sparse}


@dataclass(frozen=True)
class _Row:
    reason: str
    before: str
    after: str  # "" where there is nothing to write instead


def _rows() -> Iterator[_Row]:
    text = (_HERE / "reasons.txt").read_text(encoding="utf-8")
    for block in text.strip().split("\n\n"):
        if block.startswith("###"):
            continue
        reason, body = block.removeprefix("# ").split("\n", 1)
        before, _, after = re.sub(rf"(\n| +){_ARROW}(\n| +)", "\0", body).partition("\0")
        yield _Row(reason, before, after)


def _function(text: str) -> tuple[Callable[..., Any], list[str]]:
    body = text if "\n" in text or re.match("return|yield", text) else f"return {text}"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    names = [node.id for node in ast.walk(ast.parse(f"def f():\n{lines}")) if isinstance(node, ast.Name)]
    stored = {
        node.id
        for node in ast.walk(ast.parse(f"def f():\n{lines}"))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    pool = _arguments()
    used = [name for name in pool if name in names and not (name in stored and not isinstance(pool[name], np.ndarray))]
    return function_from_source(f"def f({', '.join(used)}):\n{lines}", namespace=_namespace()), used


def _called(function: Callable[..., Any], names: list[str]) -> Any:
    pool = _arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*(pool[name] for name in names))


def _refusal(text: str) -> weft.Unsupported:
    function, names = _function(text)
    refused: Any = weft.jit(function, backend="python", cache=False, fallback="error")
    with pytest.raises(weft.Unsupported) as told:
        _called(refused, names)
    return told.value


def _same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if hasattr(found, "toarray"):
        found, expected = found.toarray(), expected.toarray()
    with np.errstate(all="ignore"):
        if isinstance(expected, (np.ndarray, np.inexact, float)):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_equal(found, expected)


_ROWS = list(_rows())


@pytest.mark.parametrize("place", range(len(_ROWS)), ids=lambda place: _ROWS[place].before.replace("\n", "; ")[:60])
def test_the_remedy_works(place: int) -> None:
    row = _ROWS[place]
    before, after = row.before, row.after
    problem = _refusal(before)
    assert " ".join(problem.reason.split()) == row.reason
    assert problem.span.line > 0 and len(str(problem).splitlines()) <= errors.MAX_LINES
    assert not re.search(r"\bthis\b", problem.reason), problem.reason
    advice = errors.advice(problem.reason, problem.remedy)
    if after:
        plain, names = _function(after)
        native: Any = weft.jit(_function(after)[0], backend="python", cache=False, fallback="error")
        found = _called(native, names)
        assert native.signatures
        _same(found, _called(plain, names))
        return
    plain, names = _function(before)
    if errors.is_mistake(problem.reason):
        with pytest.raises(Exception) as raised:
            _called(plain, names)
        error = problem.reason.partition(":")[0]
        names_of = {kind.__name__ for kind in type(raised.value).__mro__}
        assert not error.endswith("Error") or error in names_of, (problem.reason, raised.value)
        return
    assert "outside" in advice, advice
    value = _called(plain, names)
    taken: Any = weft.jit(_function("x")[0], backend="python", cache=False, fallback="error")
    _same(taken(value), value)


def _texts(call: ast.Call, function: ast.AST) -> Iterator[str]:
    """The patterns of the reasons that a call of `Unsupported` or `unsupported` gives; none if it passes one on."""
    reason = next((arg for arg in call.args[1:2]), None)
    if isinstance(call.func, ast.Name) and call.func.id != "Unsupported":
        return
    found = [reason]
    if isinstance(reason, ast.Name):
        found = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == reason.id for t in node.targets)
        ]
    for text in found:
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield _pattern(text.value)
        elif isinstance(text, ast.JoinedStr):
            yield "".join(_pattern(part.value) if isinstance(part, ast.Constant) else ".*" for part in text.values)


def _pattern(text: str) -> str:
    """A part of a reason as it is told: with the source in the place of "this"."""
    return re.sub(r"\b(this|these)\b(\\ [a-z]+)?", ".*", re.escape(text))


def _reasons() -> Iterator[str]:
    for file in sorted(_FRONTEND.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for node in ast.walk(function):
                name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", ""))
                if isinstance(node, ast.Call) and name in ("Unsupported", "unsupported"):
                    yield from _texts(node, function)


def test_every_reason_has_a_row() -> None:
    told = [row.reason for row in _ROWS]
    told += re.findall(r"^reason: (.*)$", (_HERE / "remedies.txt").read_text(encoding="utf-8"), flags=re.M)
    known = set(_reasons())
    assert len(known) > 500, "the reasons are no longer found in the source"
    untried = [text for text in known if not any(re.fullmatch(f"(\\w+: )?{text}.*", one) for one in told)]
    assert len(untried) <= UNTRIED, "reasons without a row in reasons.txt:\n" + "\n".join(sorted(untried))
