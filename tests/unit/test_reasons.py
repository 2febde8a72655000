"""Reasons name what they are about: no "this" without the source and its types."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.frontend.reasons import NO_NOUNS, named

_BOTH = "(left: list, right: int)"


@pytest.mark.parametrize(
    ("reason", "source", "types", "told"),
    [
        ("the return of this", "return a + b", {"value": "str"}, "the return of `a + b` (value: str)"),
        ("this comparison", "a < b", {"left": "list", "right": "int"}, f"the comparison in `a < b` {_BOTH}"),
        ("an update in place of this list", "xs += ys", {}, "an update in place of the list in `xs += ys`"),
        ("a call of print", "print(1)", {}, "a call of print"),
        ("a list of these in a container", "P2(0.0)", {}, "a list of `P2(0.0)` in a container"),
        ("this divided by a matrix", "return a / m", {}, "`a / m` divided by a matrix"),
        ("a dict made from this by **", "return a", {}, "a dict made from `a` by **"),
        ("unpacking of this value", f"a, b = f({'x' * 80})", {}, f"unpacking of the value in `f({'x' * 45}...`"),
    ],
)
def test_this_becomes_the_source(reason: str, source: str, types: dict[str, str], told: str) -> None:
    tree: Any = ast.parse(f"def f():\n    {source}").body[0]
    assert named(reason, tree.body[0] if "=" in source or "return" in source else tree.body[0].value, types) == told


#: What a reason says of its source: "this comparison" is told as "the comparison in `a < b`".
_NOUNS = frozenset(
    "arguments axis comparison container ddof edge element format function index item items key kind list operation "
    "operator pragma shape shapes size spacing subscripts type types use value values version".split()
)


def test_reasons_say_this_of_a_noun_or_of_the_source() -> None:
    folder = Path(weft.__file__).parent / "frontend"
    said = set()
    for file in folder.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        parts = [part for call in calls for given in call.args for part in ast.walk(given)]
        texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        said |= {word for text in texts for word in re.findall(r"\b(?:this|these) ([a-z]+)", text)}
    assert {"comparison", "in"} <= said
    assert said - _NOUNS - NO_NOUNS == set()


@pytest.mark.usefixtures("array_compiler_only")
def test_a_refusal_names_its_expression() -> None:
    @weft.jit(fallback="silent")
    def compared(a: Any, b: Any) -> Any:
        return [a] < {b: 1}

    with pytest.raises(TypeError):
        compared(1, 2)
    reasons = compared.stats["fallbacks"]
    assert reasons and not any(" this" in reason or reason.startswith("this") for reason in reasons)
