"""The functions of Python's `operator`.  In: one of them, or what `itemgetter` and the like have made; out: its
definition as Python, which takes the place of the call.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from weft.frontend.source import own_tree

#: What each function computes of `a` and `b`.
_BINARY = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "truediv": "a / b", "floordiv": "a // b", "mod": "a % b",
    "pow": "a ** b", "matmul": "a @ b", "and_": "a & b", "or_": "a | b", "xor": "a ^ b", "lshift": "a << b",
    "rshift": "a >> b", "lt": "a < b", "le": "a <= b", "eq": "a == b", "ne": "a != b", "gt": "a > b", "ge": "a >= b",
    "is_": "a is b", "is_not": "a is not b", "contains": "b in a", "getitem": "a[b]",
}  # fmt: skip
_UNARY = {
    "neg": "-a", "pos": "+a", "invert": "~a", "inv": "~a", "abs": "abs(a)", "not_": "not a", "truth": "bool(a)",
}  # fmt: skip

_LAMBDAS: dict[Any, ast.Lambda] = {}
for _table, _parameters in ((_BINARY, "a, b"), (_UNARY, "a")):
    for _name, _text in _table.items():
        _made = own_tree(ast.parse(f"lambda {_parameters}: {_text}", mode="eval").body)
        assert isinstance(_made, ast.Lambda)
        _LAMBDAS[getattr(operator, _name)] = _made


def definition(thing: Any) -> ast.Lambda | None:
    """What a function of `operator` computes; None if it is none of these."""
    return _LAMBDAS.get(thing) if isinstance(thing, Hashable) else None


def getter(thing: Any, keys: Sequence[Any]) -> ast.Lambda | None:
    """What `itemgetter(*keys)` or `attrgetter(*keys)` computes of an item; None if the keys are none to be written."""
    if thing is operator.itemgetter:
        good = all(type(key) in (int, str, slice) for key in keys)
        texts = [f"_item[{_subscript(key)}]" for key in keys]
    else:
        good = all(type(key) is str and all(map(str.isidentifier, key.split("."))) for key in keys)
        texts = [f"_item.{key}" for key in keys]
    if not good or not keys:
        return None
    value = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    made = own_tree(ast.parse(f"lambda _item: {value}", mode="eval").body)
    assert isinstance(made, ast.Lambda)
    return made


def _subscript(key: Any) -> str:
    if not isinstance(key, slice):
        return repr(key)
    return ":".join("" if part is None else repr(part) for part in (key.start, key.stop, key.step))


def keys_of(thing: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The class and the keys of an `itemgetter` or `attrgetter` that exists already."""
    if not isinstance(thing, (operator.itemgetter, operator.attrgetter)):
        return None
    made: Any = thing.__reduce__()
    return made[0], made[1]
