"""Wraparound: indices that are read from memory are assumed not to be negative, and tested for it beforehand.

    j = select(b[i] < 0, b[i] + n, b[i]);  check 0 <= j < n;  h[j] = v
        -->  check b[i] >= 0;  check b[i] < n;  h[b[i]] = v

In: the items of a loop body whose checks will be made before the loop; out: items without the selection, and
one check more.  Should the test fail, the loop runs as it was written, so a negative index still counts from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.ir.expr import Const, Expr, Op
from weft.ir.program import Check, Node
from weft.ir.walk import expr_buffers, map_node_exprs, rewrite, subexpressions
from weft.passes.raising.predicate import Item

_MOST_ROUNDS = 8
Simplify = Callable[[Item], Item | None]


def without_wraparound(items: list[Item], written: set[str], simplify: Simplify) -> list[Item]:
    """Items under the assumption that no wrapped index of a check is negative; the assumption is a check among them."""
    for _ in range(_MOST_ROUNDS):
        found = _next_sign(items, written)
        if found is None:
            break
        position, sign = found
        check = items[position].node
        assert isinstance(check, Check)
        assumed = Item(replace(check, condition=Op("ge", sign.args, sign.of), values=(), message=""))
        changed = [_where_false(item, sign) for item in items]
        simple = [simplify(item) for item in changed[position:]]
        items = changed[:position] + [assumed] + [item for item in simple if item is not None]
    return items


def _next_sign(items: list[Item], written: set[str]) -> tuple[int, Op] | None:
    """The first check with `select(e < 0, e + size, e)`, and that comparison; e must not change in the loop."""
    for position, item in enumerate(items):
        if isinstance(item.node, Check) and not item.node.domain:
            for part in subexpressions(item.node.condition):
                sign = _sign_of(part)
                if sign is not None and not expr_buffers(sign) & written:
                    return position, sign
    return None


def _sign_of(expr: Expr) -> Op | None:
    if not isinstance(expr, Op) or expr.op != "select":
        return None
    condition, _, kept = expr.args
    if not isinstance(condition, Op) or condition.op != "lt" or condition.args[0] != kept:
        return None
    zero = condition.args[1]
    return condition if isinstance(zero, Const) and zero.value == 0 and kept.type.dtype.is_integer else None


def _where_false(item: Item, sign: Op) -> Item:
    def visit(expr: Expr) -> Expr:
        return Const(False, expr.type) if expr == sign else expr

    node: Node = map_node_exprs(item.node, lambda e: rewrite(e, visit))
    return item if node is item.node else replace(item, node=node)
