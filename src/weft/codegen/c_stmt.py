"""Statements in C.  In: blocks of a lowered program; out: C blocks, with the user's line numbers in comments."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from weft.analysis.scopes import Path, hands_over
from weft.codegen import c_call, c_checked, c_choices, c_invoke, c_library, c_tasks
from weft.codegen import syntax as C
from weft.codegen.c_expr import Storage
from weft.codegen.c_frame import DONE, GUARD, RAISE, RESULTS, STATUS, WORDS
from weft.codegen.c_parallel import Parallel
from weft.errors import Span
from weft.ir.expr import Const, Dim, Expr, Op, Read
from weft.ir.program import (
    MALFORMED,
    REGIONS,
    Alloc,
    Block,
    Break,
    Call,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Rebind,
    Return,
    ScalarOut,
    Stmt,
    ViewOut,
    While,
)
from weft.ir.types import INT
from weft.ir.walk import leaves, reads, substitute
from weft.records import dataclass


@dataclass
class Statements(Parallel):
    """Every kind of node."""

    around: Node | None = None  # the nearest loop

    def block(self, nodes: Block, path: Path) -> C.CBlock:
        """A block; variables that live in it are declared at its head."""
        out: list[C.CStmt] = []
        checked = self.frame.checked
        for name in self.unit.declarations.get(path, ()):
            storage = self.expressions.storages[name]
            self.unit.types[storage.name] = storage.type
            out.append(C.Declare(storage.type, storage.name, C.Number("0") if self._maybe_unset(nodes, name) else None))
        for position, node in enumerate(nodes):
            self._comment(node.span, out)
            out.extend(self._node(node, (*path, position)))
        # What a branch has made sure of holds inside it.
        self.frame.checked, self.frame.checked_inside = checked, self.frame.checked
        return tuple(out)

    def _maybe_unset(self, nodes: Block, name: str) -> bool:
        """Whether the compiler could see a path on which the variable has no value (it would warn, or worse)."""
        first = next((n for n in nodes if isinstance(n, Stmt) and n.buffer == name), None)
        return first is None or first is not nodes[0]

    def _comment(self, span: Span, out: list[C.CStmt]) -> None:
        place = (os.path.basename(span.file), span.line)
        if span.line > 0 and place != self.line:
            self.line = place
            out.append(C.Comment(f"{place[0]}:{place[1]}"))

    def _node(self, node: Node, path: Path) -> list[C.CStmt]:
        if self.unit.checked:
            return [*c_checked.tests(node, self), *self._plain_node(node, path)]
        return self._plain_node(node, path)

    def condition_tests(self, node: While) -> list[C.CStmt]:
        return c_checked.condition_tests(node, self)

    def _plain_node(self, node: Node, path: Path) -> list[C.CStmt]:
        if not isinstance(node, (Loop, While)):
            return self._single(node, path)
        around, loop, self.around = self.expressions.in_vectors, self.around, node
        self.expressions.in_vectors = isinstance(node, Loop) and node.kind in (LoopKind.VECTOR, LoopKind.PARALLEL)
        out = self._single(node, path)
        self.expressions.in_vectors, self.around = around, loop
        return out

    def _single(self, node: Node, path: Path) -> list[C.CStmt]:
        if isinstance(node, (Stmt, If)) and (moved := c_choices.emitted(node, self, self.around)) is not None:
            return moved
        if isinstance(node, Stmt):
            return self._stmt(node)
        if isinstance(node, Check):
            return self._check(node)
        if isinstance(node, Loop):
            if node.kind in REGIONS:
                return c_tasks.region(node, path, self)
            outlined = node.kind is LoopKind.PARALLEL and self.unit.threads and not self.frame.parallel
            return self._parallel(node, path) if outlined else self._loop(node, path)
        if isinstance(node, While):
            return self._while(node, path)
        if isinstance(node, If):
            then, otherwise = self.block(node.then, (*path, 0)), self.block(node.orelse, (*path, 1))
            then = (*self.chosen(node, True), *then)
            otherwise = (*self.chosen(node, False), *otherwise)
            test = self.expressions.test(node.condition)
            if node.then and not node.orelse and isinstance(node.then[-1], Check):
                test = C.call("__builtin_expect", test, C.number(0))  # what is tested in full hardly ever happens
            return [C.IfElse(test, then, otherwise)]
        if isinstance(node, (Break, Continue)):
            return [C.Jump("break" if isinstance(node, Break) else "continue")]
        if isinstance(node, Return):
            return self._return(node)
        if isinstance(node, Alloc):
            return self._alloc(node)
        if isinstance(node, Rebind):
            return self._rebind(node)
        if isinstance(node, Call):
            return c_call.call(node, self)
        if isinstance(node, Invoke):
            return c_invoke.invoke(node, self)
        assert isinstance(node, Library)
        return c_library.library(node, self)

    def kept(self, stmt: Stmt) -> tuple[Expr, Expr] | None:
        """a[i] = value if test else a[i]: the test and the value; memory that stays as it is need not be written.

        In vectors it is written if the test has fetched it: lanes that store and lanes that do not cost more.
        """
        value = stmt.value
        if not isinstance(value, Op) or value.op != "select" or stmt.reduce is not None or not stmt.index:
            return None
        test, then, orelse = value.args
        own = Read(stmt.buffer, stmt.index, orelse.type)
        if self.lockstep and own in reads(test):
            return None
        if orelse == own:
            return test, then
        return (Op("not", (test,), test.type), orelse) if then == own else None

    def _stmt(self, stmt: Stmt) -> list[C.CStmt]:
        kept = self.kept(stmt)
        if kept is not None:
            inside = self._stmt(replace(stmt, value=kept[1]))
            return [C.IfElse(self.expressions.value(kept[0]), tuple(inside))]
        assert not stmt.domain and stmt.reduce is None, "a lowered statement is one assignment"
        if stmt.buffer in self.extremes and not stmt.index:
            return self._extreme(stmt)
        if stmt.buffer in self.parts and not stmt.index:
            return self._in_parts(stmt)
        target = self.expressions.element(stmt.buffer, stmt.index)
        return [C.Assign(target, self.expressions.value(stmt.value))]

    def _check(self, check: Check) -> list[C.CStmt]:
        condition = self.expressions.value(check.condition)
        own = self.unit.hands_over and hands_over(check)
        if (self.unit.guard_on_failure or own) and check.exception != MALFORMED:
            failed = self.failure(GUARD)
        else:
            code = self.unit.exception(check.exception, check.message)
            failed = self.failure(
                RAISE, code, self.unit.place(check.span), tuple(self.expressions.value(v) for v in check.values[:3])
            )
        return self.nest(check.domain, [C.IfElse(C.Prefix("!", condition), tuple(failed))])

    def _return(self, node: Return) -> list[C.CStmt]:
        out: list[C.CStmt] = []

        def store(word: int, value: C.CExpr) -> None:
            called = self.unit.called
            words = C.Name(WORDS) if called is None else C.Dot(C.Name(RESULTS), "words")
            out.append(C.Assign(C.Subscript(words, C.number(word if called is None else word - called.first)), value))

        tree = self.unit.program.results[node.result]
        for leaf, offset in zip(leaves(tree), self.unit.layout.returns[node.result]):
            if isinstance(leaf, ScalarOut):
                assert offset is not None
                self._store_scalar(self.expressions.storages[leaf.buffer], offset, store)
            elif isinstance(leaf, ViewOut):
                assert offset is not None
                self._store_view(leaf, offset, store)
        if node.result and self.unit.called is None:
            store(0, C.number(node.result))
        return [*out, C.Assign(C.Name(STATUS), C.number(0)), C.Jump(f"goto {DONE}")]

    def _store_scalar(self, storage: Storage, offset: int, store: Callable[[int, C.CExpr], None]) -> None:
        value, dtype = C.Name(storage.name), storage.buffer.type.dtype
        if dtype.is_complex:
            bits = self.unit.used.helper("bits", dtype.real)
            store(offset, C.call(bits, C.Prefix("__real__ ", value)))
            store(offset + 1, C.call(bits, C.Prefix("__imag__ ", value)))
        elif dtype.is_float:
            store(offset, C.call(self.unit.used.helper("bits", dtype), value))
        else:
            store(offset, value)

    def _store_view(self, view: ViewOut, offset: int, store: Callable[[int, C.CExpr], None]) -> None:
        """Pointer, extents and strides of a view: what one step of each dimension adds to the address."""
        storage = self.expressions.storages[view.buffer]
        dims = [dim for dim in view.dims if isinstance(dim, Dim)]
        start: dict[str, Expr] = {dim.var: dim.lo for dim in dims}

        def place(values: dict[str, Expr]) -> C.CExpr:
            return storage.offset(tuple(self.expressions.index(substitute(e, values)) for e in view.index))

        store(offset, C.Convert("i64", C.Infix("+", C.Name(storage.name), place(start))))
        for axis, dim in enumerate(dims):
            store(offset + 1 + axis, self.trips(dim))
            moved = {**start, dim.var: Op("add", (dim.lo, Const(dim.step, INT)), INT)}
            store(offset + 1 + len(dims) + axis, C.Infix("-", place(moved), place(start)))
