"""Regions: `with weft.finish()`, `with weft.task()`, `with weft.isolated()`.  In: such statements; out: Loop nodes of
one iteration whose kind says what they are, or a `ParallelError` that names the variable two tasks would fight over.
A program whose tasks cannot run at once is built again without regions: one after the other, as Python runs them.

    with weft.finish():
        with weft.task(): x = f(n - 1)      -->   finish { task { invoke f(n - 1) gives x }; invoke f(n - 2) gives y }
        y = f(n - 2)
A name that a task sets belongs to the task until its finish ends: nothing beside it may read it, and afterwards it has
the value it would have in sequence.  Names set inside `isolated` are shared.  A task that begins tasks waits for them
at its own end; tasks that a function begins outside any finish of its own are waited for at the function's end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from weft import parallel
from weft.errors import APART, ParallelError
from weft.frontend import reads, reasons
from weft.frontend.building import Building
from weft.frontend.liveness import Liveness, assigned, used
from weft.frontend.source import Source
from weft.frontend.statements import execute_all
from weft.ir.expr import ONE, ZERO, Dim
from weft.ir.program import Loop, LoopKind

_KINDS = {parallel.finish: LoopKind.FINISH, parallel.task: LoopKind.TASK, parallel.isolated: LoopKind.ISOLATED}
_LEAVES = (ast.Break, ast.Continue, ast.Return)


class _Finish(ast.With):
    """A finish that the function does not spell out."""


def kind_of(node: ast.AST, namespace: dict[str, Any]) -> LoopKind | None:
    """Which region a `with` statement is, if it is one; names are looked up in the function's globals."""
    if isinstance(node, _Finish):
        return LoopKind.FINISH
    if not isinstance(node, ast.With) or len(node.items) != 1 or node.items[0].optional_vars is not None:
        return None
    call = node.items[0].context_expr
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return None
    try:
        return _KINDS.get(reads.resolved(call.func, namespace))
    except TypeError:  # what is found has no hash
        return None


def _begins_tasks(node: ast.AST, namespace: dict[str, Any]) -> bool:
    """Whether a statement begins a task that no finish inside it waits for."""
    kind = kind_of(node, namespace)
    if kind is LoopKind.TASK:
        return True
    if kind is LoopKind.FINISH or isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    return any(_begins_tasks(child, namespace) for child in ast.iter_child_nodes(node))


def with_finish(body: list[ast.stmt], namespace: dict[str, Any]) -> list[ast.stmt]:
    """The body of a function, with a finish around tasks that have none: up to its end, but for a last return."""
    first = next((at for at, node in enumerate(body) if _begins_tasks(node, namespace)), None)
    if first is None:
        return body
    last = len(body) - isinstance(body[-1], ast.Return)
    inside = body[first:last]
    manager = ast.Call(func=ast.Name(id="finish", ctx=ast.Load()), args=[], keywords=[])
    around = _Finish(items=[ast.withitem(context_expr=manager)], body=inside)
    ast.copy_location(around, inside[0])
    around.end_lineno, around.end_col_offset = inside[-1].end_lineno, inside[-1].end_col_offset
    return [*body[:first], ast.fix_missing_locations(around), *body[last:]]


class Tasks(Building):
    """`_exec_with`."""

    def _exec__finish(self, node: _Finish) -> bool:
        return _region(self, node, LoopKind.FINISH, node.body)

    def _exec_with(self, node: ast.With) -> bool:
        kind = kind_of(node, self.scope.source.namespace)
        if kind is None:
            raise self.unsupported(node, reasons.construct(node), APART)
        return _region(self, node, kind, node.body)


def _region(builder: Building, node: ast.With, kind: LoopKind, body: list[ast.stmt]) -> bool:
    namespace, around = builder.scope.source.namespace, builder.scope.regions
    tasks = builder.emitter.decisions.tasks
    tasks.met = True
    if LoopKind.ISOLATED in around:
        return execute_all(builder, body)  # the task has everything to itself already
    _stays(builder, body, kind)
    if tasks.in_sequence:
        if kind is LoopKind.FINISH:
            Beside(builder.scope.source, builder.scope.liveness.live_after(node)).check(body)
        return execute_all(builder, body)
    opened: list[str] = []
    if kind is LoopKind.FINISH:
        live = builder.scope.liveness.live_after(node)
        Beside(builder.scope.source, live).check(body)
        opened = builder.open_slots(shared_names(body, namespace, live), node)
    span = builder.emitter.span
    around.append(kind)
    with builder.emitter.capture() as block:
        if kind is LoopKind.TASK and any(_begins_tasks(inner, namespace) for inner in body):
            reached = _region(builder, node, LoopKind.FINISH, body)
        else:
            reached = execute_all(builder, body)
    around.pop()
    builder.emitter.span = span
    dim = Dim(builder.emitter.fresh(kind.value), ZERO, ONE)
    builder.emitter.emit(Loop(dim, tuple(block), kind, span=span))
    builder.emitter.mutations += 1
    builder.close_slots(opened)
    return reached


def _stays(builder: Building, body: list[ast.stmt], kind: LoopKind) -> None:
    """A task cannot end what it is a part of; the other regions are left at their end, or by a return of the whole
    program: that of a function written out in place would go on behind the region.
    """
    for node in _leaving(body):
        word = type(node).__name__.lower()
        if kind is LoopKind.TASK:
            remedy = "note in an array what the task has found, and look at it after the finish"
            raise ParallelError(builder.scope.source.span(node), f"`{word}` leaves a task", remedy)
        if not isinstance(node, ast.Return) or builder.scope.inlined:
            raise builder.unsupported(node, f"`{word}` out of `with weft.{kind.value}()`", "use a condition instead")


def _leaving(body: Iterable[ast.AST], in_loop: bool = False) -> list[ast.stmt]:
    """The statements by which control leaves a block before its end."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Return) or (isinstance(node, _LEAVES) and not in_loop):
            found.append(node)
        elif isinstance(node, (ast.For, ast.While)):
            found += _leaving(node.body, True) + _leaving(node.orelse, in_loop)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found += _leaving(ast.iter_child_nodes(node), in_loop)
    return found


# --- names ----------------------------------------------------------------------------------------------------------


def shared_names(body: Iterable[ast.AST], namespace: dict[str, Any], live: frozenset[str]) -> set[str]:
    """Names that isolated blocks set for others: they have one place of memory while the finish lasts."""
    found: set[str] = set()
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, ast.With) and kind_of(node, namespace) is LoopKind.ISOLATED:
                found |= assigned(node.body) & (Liveness(node.body).at_start | live)
    return found


class Beside:
    """Follows a finish in the order of execution: what tasks that have begun set, nothing beside them may read."""

    def __init__(self, source: Source, live: frozenset[str]) -> None:
        self.source = source
        self.live = live  # names that are read after the finish
        self.pending: dict[str, ast.AST] = {}  # names that tasks set, and the task
        self.shared: set[str] = set()

    def check(self, body: list[ast.stmt]) -> None:
        self.shared = shared_names(body, self.source.namespace, self.live)
        self._block(body)

    def _block(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        kind = kind_of(node, self.source.namespace)
        if kind is LoopKind.TASK:
            assert isinstance(node, ast.With)
            self._reads(Liveness(node.body).at_start - self.shared, node)
            self._sets(assigned(node.body) - self.shared, node)
            self.pending.update(dict.fromkeys(assigned(node.body), node))
        elif kind is LoopKind.ISOLATED or kind is LoopKind.FINISH:
            assert isinstance(node, ast.With)
            self._reads(Liveness(node.body).at_start - self.shared, node)
            self._sets(assigned(node.body) - self.shared, node)
        elif isinstance(node, ast.If):
            self._reads(used(node.test), node.test)
            self._block(node.body)
            self._block(node.orelse)
        elif isinstance(node, (ast.For, ast.While)):
            self._reads(used(node.iter if isinstance(node, ast.For) else node.test), node)
            for _ in range(2):  # what the tasks of one iteration set, the next one is beside
                self._sets(assigned([node.target]) if isinstance(node, ast.For) else set(), node)
                self._block(node.body)
            self._block(node.orelse)
        elif isinstance(node, (ast.With, ast.Try)):
            self._reads(used(node), node)
        else:
            self._reads(Liveness([node]).at_start, node)
            self._sets(assigned([node]), node)

    def _reads(self, names: Iterable[str], node: ast.AST) -> None:
        for name in sorted(names):
            if name in self.pending:
                reason = f"`{name}` is set by a task and read beside it, before the finish has waited for the task"
                remedy = f"read `{name}` after the finish, or use it in `with weft.isolated()` only"
                raise ParallelError(self._place(name, node), reason, remedy)

    def _sets(self, names: Iterable[str], node: ast.AST) -> None:
        for name in sorted(names):
            if name in self.pending and name in self.live:
                reason = f"`{name}` is set by a task and again beside it: which value it has after the finish is open"
                remedy = f"give each task a name or an array element of its own instead of `{name}`"
                raise ParallelError(self._place(name, node), reason, remedy)
            if name in self.pending and not isinstance(node, ast.With):
                del self.pending[name]  # from here on the code beside the task has a value of its own

    def _place(self, name: str, node: ast.AST) -> Any:
        named = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]
        return self.source.span(named[0] if named else node)


__all__ = ["Beside", "Tasks", "kind_of", "shared_names", "with_finish"]
