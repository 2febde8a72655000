"""Reasons name what they are about: no "this" without the source and its types."""

from __future__ import annotations

import ast
from typing import Any

import pytest

import weft
from weft.frontend.reasons import named

_BOTH = "(left: list, right: int)"


@pytest.mark.parametrize(
    ("reason", "source", "types", "told"),
    [
        ("the return of this", "return a + b", {"value": "str"}, "the return of `a + b` (value: str)"),
        ("this comparison", "a < b", {"left": "list", "right": "int"}, f"the comparison in `a < b` {_BOTH}"),
        ("an update in place of this list", "xs += ys", {}, "an update in place of the list in `xs += ys`"),
        ("a call of print", "print(1)", {}, "a call of print"),
        ("unpacking of this value", f"a, b = f({'x' * 80})", {}, f"unpacking of the value in `f({'x' * 45}...`"),
    ],
)
def test_this_becomes_the_source(reason: str, source: str, types: dict[str, str], told: str) -> None:
    tree: Any = ast.parse(f"def f():\n    {source}").body[0]
    assert named(reason, tree.body[0] if "=" in source or "return" in source else tree.body[0].value, types) == told


@pytest.mark.usefixtures("array_compiler_only")
def test_a_refusal_names_its_expression() -> None:
    @weft.jit(fallback="silent")
    def compared(a: Any, b: Any) -> Any:
        return [a] < {b: 1}

    with pytest.raises(TypeError):
        compared(1, 2)
    reasons = compared.stats["fallbacks"]
    assert reasons and not any(" this" in reason or reason.startswith("this") for reason in reasons)
