"""Keep: a variable that goes from iteration to iteration leaves its value of each of them in an array, so that what
only looks at it need not wait for it.

    for i: s = g(s, a[i]);  b[i] = f(s)   -->   for i: s = g(s, a[i]); kept[i] = s;   for i: b[i] = f(kept[i])
    for i: s = s * c + exp(a[i]);  b[i] = s   -->   for i: made[i] = exp(a[i]);   for i: s = s * c + made[i]; b[i] = s

In: the items of a loop body; out: the items with such variables kept, or why nothing is gained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from weft.analysis.effects import flops
from weft.ir.expr import Dim, Expr, Op, Read, Var
from weft.ir.index import sub as minus
from weft.ir.program import Buffer, Role, Stmt
from weft.ir.walk import buffers_read, buffers_written, expr_buffers, map_children, map_node_exprs, rewrite
from weft.passes.raising.predicate import Item, NewBuffer
from weft.records import dataclass

# Cycles of an iteration, for each array that is written and read again, from which vectors make up for them.
WORTH = 12


@dataclass(frozen=True)
class Keeping:
    """The items of a loop, and the arrays in which they keep values of variables."""

    items: list[Item]
    arrays: tuple[str, ...]


def kept_values(
    work: list[Item], private: set[str], dim: Dim, extent: Expr, buffers: Callable[[str], Buffer], new: NewBuffer
) -> Keeping | str:
    """The items with every variable that one of them carries along kept for the items behind that one."""
    found = list(work)
    arrays: list[str] = []
    written = {name for item in work for name in buffers_written(item.node)}
    for name in _carried(work, private, buffers):
        at = next(place for place, item in enumerate(found) if name in buffers_written(item.node))
        before = _Beforehand(written, (extent,), (minus(Var(dim.var), dim.lo),), new)
        carrying = map_node_exprs(found[at].node, before.visit)
        found = [*found[:at], *before.items, replace(found[at], node=carrying), *found[at + 1 :]]
        arrays += [made for item in before.items for made in sorted(buffers_written(item.node))]
        at += len(before.items)
        if sum(_cycles(item) for item in found[at + 1 :] if name in buffers_read(item.node)) < WORTH:
            continue
        of = buffers(name).type
        element = Read(new(f"{name}_kept", of, (extent,)).name, (minus(Var(dim.var), dim.lo),), of)
        store = Stmt((), element.buffer, element.index, Read(name, (), of), span=found[at].node.span)
        behind = [replace(item, node=_instead(item, name, element)) for item in found[at + 1 :]]
        found = [*found[: at + 1], Item(store), *behind]
        arrays.append(element.buffer)
    return Keeping(found, tuple(arrays)) if arrays else "no variable of it is only looked at"


@dataclass
class _Beforehand:
    """Dear parts of a statement that need nothing of what its loop writes, computed by statements before it."""

    written: set[str]
    shape: tuple[Expr, ...]
    index: tuple[Expr, ...]
    new: NewBuffer
    items: list[Item] = field(default_factory=list)

    def visit(self, expr: Expr) -> Expr:
        if not isinstance(expr, Op) or expr.op == "select":
            return expr  # a branch not taken may read out of bounds
        if expr_buffers(expr) & self.written or flops(expr) < WORTH:
            return map_children(expr, self.visit)
        made = self.new("made", expr.type.strong, self.shape)
        self.items.append(Item(Stmt((), made.name, self.index, expr, span=expr.span)))
        return Read(made.name, self.index, expr.type)


def _carried(work: list[Item], private: set[str], buffers: Callable[[str], Buffer]) -> Iterable[str]:
    """Local variables that one statement computes from their value before, and nothing before it reads."""
    for at, item in enumerate(work):
        node = item.node
        if not isinstance(node, Stmt) or node.index or node.domain or node.reduce is not None or item.within:
            continue
        name = node.buffer
        if name in private or buffers(name).role is not Role.LOCAL or name not in buffers_read(node):
            continue
        others = [other for other in work if other is not item]
        if any(name in buffers_written(other.node) for other in others):
            continue
        if not any(name in buffers_read(other.node) for other in work[:at]):
            yield name


def _cycles(item: Item) -> int:
    return flops(item.node.value) if isinstance(item.node, Stmt) else 0


def _instead(item: Item, name: str, element: Read) -> Stmt:
    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer == name:
            return replace(expr, buffer=element.buffer, index=element.index)
        return expr

    new = map_node_exprs(item.node, lambda e: rewrite(e, visit))
    assert isinstance(new, Stmt)
    return new


def why_not_worth(raised: Iterable[Stmt], arrays: int) -> str | None:
    """Why statements that leave a loop do not pay for the arrays between them and the loop."""
    gained = sum(flops(stmt.value) for stmt in raised)
    return None if gained >= WORTH * arrays else "what could leave the loop is less than what keeping values takes"
