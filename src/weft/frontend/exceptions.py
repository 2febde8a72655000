"""`try`, `raise` and `assert`.  In: these statements; out: checks, and branches on how a block was left.

    try: b                          b, until a check of it fails (see `interrupts`)
    except KeyError: h      -->     if left == 0: o
    else: o                         else if left is one of the checks that raise a KeyError: h
    finally: f                      else: the check again
                                    f; then what was to leave the whole leaves
Which checks a handler catches is known when it is built.  A handler without a native form, and an exception that only
Python can make, hand the whole call back to Python, in functions that have changed nothing by then.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from weft.errors import LeftToLibrary, ParallelError, Unsupported, exception_type
from weft.frontend import arith, reads
from weft.frontend.building import Building
from weft.frontend.choices import condition_value
from weft.frontend.core import written_by
from weft.frontend.emit import Restart
from weft.frontend.interrupts import FALSE, Exits, Interrupts, always, is_foreign, is_jump
from weft.frontend.liveness import assigned
from weft.frontend.loops import merge
from weft.frontend.missing import forget, implied, suppose
from weft.frontend.statements import execute_all
from weft.frontend.values import Array, Caught, Object, Scalar, Tuple, Value
from weft.ir import walk
from weft.ir.expr import Expr
from weft.ir.program import (
    HAND_BACK,
    OF_PLACE,
    ArrayOut,
    Block,
    Check,
    ConstOut,
    If,
    Node,
    NoneOut,
    Return,
    ScalarOut,
)
from weft.ir.types import INT
from weft.records import dataclass

#: The exception of a check that raises one of the program's own classes: "class name@number".
_OWN = "@"


@dataclass(frozen=True)
class _Arm:
    """One way on from the block of a try: `places` are the checks that lead here (None: it ran to its end)."""

    places: list[int] | None
    body: list[ast.stmt]
    handler: ast.ExceptHandler | None = None


class Exceptions(Building):
    """`_exec_try`, `_exec_raise` and `_exec_assert`."""

    #: The names that were not None where the try begins that is being executed.
    _known_before: frozenset[str] = frozenset()

    # --- try --------------------------------------------------------------------------------------------------------

    def _exec_try(self, node: ast.Try) -> bool:
        names = self._assigned([node]) & (
            self.scope.liveness.live_after(node) | self.scope.liveness.live_when_left(node)
        )
        names -= {handler.name for handler in node.handlers if handler.name}
        before = set(self.scope.values)
        around, self._known_before = self._known_before, frozenset(self.scope.known)
        opened = self.open_slots(names, node)
        if node.finalbody:
            falls = _finally(self, node, names, before)
        else:
            falls = _guarded(self, node, names, before)
        self.close_slots(opened)
        self._known_before = around
        return falls

    # --- raise ------------------------------------------------------------------------------------------------------

    def _exec_raise(self, node: ast.Raise) -> bool:
        value = self.scope.values.get(node.exc.id) if isinstance(node.exc, ast.Name) else None
        if node.exc is None or (isinstance(value, Caught) and node.cause is None):
            if value is None and not self.handled:
                self.emitter.check(FALSE, "RuntimeError", "No active exception to reraise")
                return False
            _raise_again(self, value if isinstance(value, Caught) else self.handled[-1])
            return False
        kind = _raised_class(self, node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
        message = _message(self, arguments[0]) if arguments else ("", ())
        quiet = node.cause is None or (isinstance(node.cause, ast.Constant) and node.cause.value is None)
        plain = not (isinstance(node.exc, ast.Call) and node.exc.keywords) and len(arguments) <= 1 and quiet
        self.at(node)
        if kind is None or message is None or not plain:
            self.emitter.hand_back(FALSE, "a raise of an exception that only Python can make")
            return False
        name, text = kind.__name__, message[0]
        if kind is KeyError:
            text = repr(text)  # it is made from its key, not from a text
        if exception_type(name) is not kind or (kind is KeyError and not arguments):
            name = f"{name}{_OWN}{len(self.own_exceptions)}"
            self.own_exceptions[name] = kind
        self.emitter.check(FALSE, name, text, message[1])
        return False

    def _exec_assert(self, node: ast.Assert) -> None:
        test = self.truth(condition_value(self, node.test), node)
        self.at(node)
        suppose(self, implied(node.test, True))
        if test is True:
            return
        condition = FALSE if isinstance(test, bool) else arith.condition(test.expr)
        text = "" if node.msg is None else _text(self, node.msg)
        if text is None:
            self.emitter.hand_back(condition, "an assert with a message that only Python can make")
            return
        self.emitter.check(condition, "AssertionError", text.replace("{", "{{").replace("}", "}}"))

    def _left_to_python(self, nodes: Block) -> Block:
        def settled(node: Node) -> Node:
            if isinstance(node, Check) and node.exception in self.own_exceptions:
                self.emitter.handed.append((node.span, f"a raise of {node.exception.partition(_OWN)[0]}"))
                return replace(node, exception=HAND_BACK, message=OF_PLACE, values=())
            return walk.map_sub_blocks(node, self._left_to_python)

        return walk.map_block(nodes, settled)


def _left_anywhere(builder: Building, node: ast.Try) -> None:
    """What is known of names where the block of a try may have been left at any place of it."""
    builder.scope.known = set(builder._known_before)
    forget(builder, [node])


def _finally(builder: Building, node: ast.Try, names: set[str], before: set[str]) -> bool:
    builder.scope.trying += 1
    with builder.emitter.capture() as block:
        falls = _guarded(builder, node, names, before)
    builder.scope.trying -= 1
    exits = _interrupted(builder, tuple(block), Interrupts(builder.emitter, _is_raised, leaving=True))
    if exits is None:
        return execute_all(builder, node.finalbody) and falls
    _check_finally(builder, node, exits)
    unbound = set(builder.scope.unbound)
    builder.scope.unbound |= names - before
    _left_anywhere(builder, node)
    mutations = builder.emitter.mutations
    with builder.emitter.capture() as last:
        ends = not execute_all(builder, node.finalbody)
    for part in last:
        builder.emitter.emit(part)
    written = {name for name in written_by(builder, last) if builder.emitter.buffers[name].rank}
    if builder.emitter.mutations != mutations or written:
        _keep_results(builder, node, exits, written)
    if ends:
        return False
    builder.scope.unbound = unbound & builder.scope.unbound
    checks = exits.again(list(range(len(exits.checks))))
    leaving: Block = (*checks, *exits.leave())
    if not falls:  # it was the last of these, if none of the others
        leaving = (*leaving[:-1], exits.leaves[-1] if exits.leaves else replace(checks[-1], condition=FALSE))
    for again in leaving:
        builder.emitter.emit(again)
    return falls


def _check_finally(builder: Building, node: ast.Try, exits: Exits) -> None:
    """What is returned before `finally` must be what is returned after it."""
    if not exits.leaves:
        return
    arrays = [n for n in assigned(node.finalbody) if isinstance(builder.scope.values.get(n), Array)]
    if arrays or builder.swap_flags or builder.changed or builder.stores_objects():
        raise builder.unsupported(node, "a return before a finally that may change what is returned")


def _keep_results(builder: Building, node: ast.Try, exits: Exits, written: set[str]) -> None:
    """What a container holds is read where it is returned: `finally` must not change one after that."""
    for leave in exits.leaves:
        if not isinstance(leave, Return):
            continue
        for part in walk.leaves(builder.emitter.results[leave.result]):
            kept = isinstance(part, (ScalarOut, ConstOut, NoneOut))
            if not kept and not (isinstance(part, ArrayOut) and not part.as_list and part.buffer in written):
                raise builder.unsupported(node, "a return before a finally that changes arrays, lists or dicts")


def _guarded(builder: Building, node: ast.Try, names: set[str], before: set[str]) -> bool:
    """The block with its handlers and its else."""
    if not node.handlers:
        return execute_all(builder, [*node.body, *node.orelse])
    builder.scope.trying += 1
    with builder.emitter.capture() as block:
        falls = execute_all(builder, node.body)
    builder.scope.trying -= 1
    exits = _interrupted(builder, tuple(block), Interrupts(builder.emitter, _is_exception))
    if exits is None:
        return falls and execute_all(builder, node.orelse)
    arms = _arms(builder, node, exits)
    if falls:
        arms.insert(0, _Arm(None, node.orelse))
    return _take(builder, arms, exits, names, before, node)


def _interrupted(builder: Building, block: Block, interrupts: Interrupts) -> Exits | None:
    """The block emitted so that nothing leaves it; None if nothing did."""
    rewritten = interrupts.run(block)
    if interrupts.calls:
        builder.calls_are_caught()
    for inner in rewritten:
        builder.emitter.emit(inner)
    builder.refresh()
    return None if rewritten is block else interrupts.exits


def _arms(builder: Building, node: ast.Try, exits: Exits) -> list[_Arm]:
    """The handlers that some check leads to, and what none of them catches."""
    arms: list[_Arm] = []
    waiting = list(range(len(exits.checks)))
    for handler in node.handlers:
        kinds = _classes(builder, handler.type)
        mine = [place for place in waiting if issubclass(_class(builder, exits.checks[place]), kinds)]
        if mine:
            arms.append(_Arm(mine, handler.body, handler))
        waiting = [place for place in waiting if place not in mine]
    if waiting:
        arms.append(_Arm(waiting, []))
    return arms


def _classes(builder: Building, node: ast.expr | None) -> tuple[type[BaseException], ...]:
    if node is None:
        return (BaseException,)
    value = builder.evaluate(node)
    items = value.items if isinstance(value, Tuple) else (value,)
    kinds = [item.value for item in items if isinstance(item, Object) and isinstance(item.value, type)]
    if len(kinds) != len(items) or not all(issubclass(kind, BaseException) for kind in kinds):
        raise builder.unsupported(node, "an except clause for this", "name exception classes")
    return tuple(kinds)


def _class(builder: Building, check: Check) -> type[BaseException]:
    return builder.own_exceptions.get(check.exception) or exception_type(check.exception) or BaseException


def _take(
    builder: Building, arms: Sequence[_Arm], exits: Exits, names: set[str], before: set[str], node: ast.Try
) -> bool:
    """The first of the arms that applies; what follows the try sees what they agree on."""
    if len(arms) == 1:
        return _arm(builder, arms[0], exits, names, before, node)
    first = arms[0]
    condition = exits.normal if first.places is None else exits.among(first.places)
    span = builder.at(node)
    start, unbound, known = dict(builder.scope.values), set(builder.scope.unbound), set(builder.scope.known)
    with builder.emitter.capture() as then:
        then_ends = not _arm(builder, first, exits, names, before, node)
    then_gone, builder.scope.departed = then_ends or builder.scope.departed, False
    then_values, then_unbound = builder.scope.values, builder.scope.unbound
    builder.scope.values, builder.scope.unbound = start.copy(), set(unbound)
    then_known, builder.scope.known = builder.scope.known, known
    with builder.emitter.capture() as orelse:
        else_ends = not _take(builder, arms[1:], exits, names, before, node)
    else_gone = else_ends or builder.scope.departed
    builder.scope.departed = then_gone and else_gone
    builder.scope.known &= then_known
    builder.emitter.emit(If(condition, tuple(then), tuple(orelse), span))
    else_values, else_unbound = builder.scope.values, builder.scope.unbound
    merge(builder, start, then_values, else_values, then_ends, else_ends, names, node)
    builder.refresh()
    builder.scope.unbound = else_unbound if then_gone else then_unbound if else_gone else then_unbound | else_unbound
    return not (then_ends and else_ends)


def _arm(builder: Building, arm: _Arm, exits: Exits, names: set[str], before: set[str], node: ast.Try) -> bool:
    if arm.places is None:
        return execute_all(builder, arm.body)
    caught = Caught(exits, tuple(arm.places))
    if arm.handler is None:
        _raise_again(builder, caught)
        return False
    key = (builder.scope.path, id(arm.handler))
    read = builder.scope.liveness.live_after(node) | builder.scope.liveness.live_when_left(node) | builder.scope.shared
    if arm.handler.name in read:  # it has no value any more where the handler ends
        builder.emitter.decisions.left_to_python.add(key)
    if key in builder.emitter.decisions.left_to_python:
        builder.emitter.hand_back(FALSE, "a handler of an exception that has no native form")
        return False
    builder.scope.unbound |= names - before
    _left_anywhere(builder, node)
    if arm.handler.name:
        builder.scope.values[arm.handler.name] = caught
    builder.handled.append(caught)
    try:
        return execute_all(builder, arm.body)
    except (LeftToLibrary, ParallelError):
        raise
    except Unsupported:
        builder.emitter.decisions.left_to_python.add(key)
        raise Restart from None
    finally:
        builder.handled.pop()


def _raise_again(builder: Building, caught: Caught) -> None:
    checks = caught.exits.again(list(caught.places))
    for check in checks[:-1]:
        builder.emitter.emit(check)
    builder.emitter.emit(replace(checks[-1], condition=FALSE))  # it was this one, if none of the others


def caught_text(builder: Building, caught: Caught, node: ast.AST | None) -> Value:
    """The text of an exception, where all that are caught here have the same."""
    checks = [caught.exits.checks[place] for place in caught.places]
    texts = {check.message.replace("{{", "{").replace("}}", "}") for check in checks}
    plain = not any(check.values or exception_type(check.exception) is KeyError for check in checks)
    if len(texts) != 1 or not plain:
        raise builder.unsupported(node, "the text of an exception that may be one of several")
    return Object(texts.pop())


def _raised_class(builder: Building, node: ast.expr) -> type[BaseException] | None:
    """The class of an exception that is raised, if making one does nothing else."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    value = builder.evaluate(node)
    kind = value.value if isinstance(value, Object) else None
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return None
    makers = ("__init__", "__new__")
    made = [base for base in kind.__mro__ if any(reads.own(base, n) is not reads.ABSENT for n in makers)]
    return kind if made[0].__module__ == "builtins" else None


def _message(builder: Building, node: ast.expr) -> tuple[str, tuple[Expr, ...]] | None:
    """The message of an exception with up to three integers in it; None if Python must make it."""
    parts: Sequence[ast.expr] = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = ""
    values: list[Expr] = []
    for part in parts:
        if isinstance(part, ast.FormattedValue):
            shown = _shown_part(builder, part)
            if shown is None or len(values) == 3:
                return None
            text += f"{{{len(values)}}}"
            values.append(shown)
            continue
        known = _text(builder, part)
        if known is None:
            return None
        text += known.replace("{", "{{").replace("}", "}}")
    return text, tuple(values)


def _text(builder: Building, node: ast.expr) -> str | None:
    if isinstance(node, ast.Name) and node.id not in builder.scope.values:
        constant = builder.evaluate(node)
        return constant.value if isinstance(constant, Object) and isinstance(constant.value, str) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _shown_part(builder: Building, part: ast.FormattedValue) -> Expr | None:
    """An integer in an f-string."""
    simple = isinstance(part.value, (ast.Name, ast.BinOp)) or (
        isinstance(part.value, ast.Call) and isinstance(part.value.func, ast.Name) and part.value.func.id == "len"
    )
    if part.format_spec is not None or part.conversion != -1 or not simple:
        return None
    value = builder.evaluate(part.value)
    integral = isinstance(value, Scalar) and value.type == INT and builder.lost(value.expr) is None
    if not isinstance(value, Scalar) or not integral or id(value.expr) in builder.mixed_exprs:
        return None
    return builder.emitter.snapshot(value.expr, "shown")


def settle_exceptions(builder: Building) -> None:
    """What raises an exception of the program's own past every handler is left to Python from the start."""
    if not builder.own_exceptions:
        return
    builder.emitter.blocks[0] = list(builder._left_to_python(tuple(builder.emitter.blocks[0])))


def _is_exception(check: Check) -> bool:
    """Whether a handler may catch what a check raises: not what weft itself says of what it does not do."""
    own = check.exception == "RuntimeError" and not always(check)
    return check.exception != HAND_BACK and not is_jump(check) and not is_foreign(check) and not own


def _is_raised(check: Check) -> bool:
    return check.exception != HAND_BACK
