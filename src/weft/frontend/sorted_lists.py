"""Lists that are being sorted by a key function.  In: the list, and each value that the function comes upon; out: a
refusal if that may be the very list, which is empty to such a function in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from weft.frontend.building import Building
from weft.frontend.items import row_of
from weft.frontend.values import Array, Value, describe


@contextmanager
def being_sorted(builder: Building, items: Value) -> Iterator[None]:
    """While `items.sort(key=...)` finds its keys: Python shows an empty list to a function that looks at it."""
    outer, builder.sorted_now = builder.sorted_now, items
    try:
        yield
    finally:
        builder.sorted_now = outer


def refuse_sorted_now(builder: Building, value: Value, node: ast.AST) -> None:
    """A key function looks at the list that is being sorted by it, or at what may be that list."""
    items = builder.sorted_now
    assert items is not None
    own, other = builder.identity(items), builder.identity(value)
    same = value is items or (own is not None and own == other)
    if isinstance(items, Array) and isinstance(value, Array) and items.view is not None and value.view is not None:
        same |= items.view.buffer == value.view.buffer and items.rank == value.rank  # two rows of one list
    if not same and row_of(items) is not None and row_of(value) is not None:
        same = builder.layout(items) == builder.layout(value)
    if not same and own in builder.argument_of and other in builder.argument_of:
        same = describe(items) == describe(value)
    if same:
        raise builder.unsupported(node, "a look at a list from the key function that it is being sorted by")
