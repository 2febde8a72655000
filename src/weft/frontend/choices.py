"""Choices that an expression makes: `and`, `or`, `a if c else b`, and expressions of which only the truth matters.  In:
`ast` expressions; out: values, and branches around what only one side needs.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.building import Building
from weft.frontend.constants import constant_int
from weft.frontend.core import is_list, renumbered
from weft.frontend.emit import NeedConstant, Restart
from weft.frontend.items import row_of
from weft.frontend.lists import literal_list
from weft.frontend.missing import implied
from weft.frontend.mixed import Mixed, held_choice, hold_whole, note_choice, note_held, types_differ
from weft.frontend.nested import has_escaped, index_at_run_time, untyped
from weft.frontend.strings import chosen_text, is_text
from weft.frontend.values import Array, Maybe, Scalar, Slice, Tuple, Value
from weft.ir.expr import ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import Argument, If, Node, Stmt
from weft.ir.types import BOOL, INT, PYBOOL, DType, join

#: An item of a tuple of no more items than this is chosen by tests.
_MOST_CHOICES = 4


class Choices(Building):
    """`_eval_boolop`, `_eval_ifexp` and what they need."""

    def _eval_boolop(self, node: ast.BoolOp) -> Value:
        """`and`/`or`: later operands are evaluated only if they are needed."""
        conjunction = isinstance(node.op, ast.And)
        result = self.evaluate_open(node.values[0])
        told: set[str] = set()
        for before, operand in zip(node.values, node.values[1:]):
            told |= implied(before, conjunction)
            test = self.truth(result, node)
            with self.assuming(told):
                if not isinstance(test, bool):
                    result = _lazily(self, test, operand, result, conjunction, node)
                elif test == conjunction:
                    result = self.evaluate_open(operand)
                else:
                    return result
        return result

    def _eval_ifexp(self, node: ast.IfExp) -> Value:
        test = self.truth(condition_value(self, node.test), node)
        if isinstance(test, bool):
            with self.assuming(implied(node.test, test)):
                return self.evaluate(node.body if test else node.orelse)
        evaluate = self.evaluate_open if node is self.choice else self.evaluate
        with self.emitter.capture(branch=True) as then_block, self.assuming(implied(node.test, True)):
            then = evaluate(node.body)
        with self.emitter.capture(branch=True) as else_block, self.assuming(implied(node.test, False)):
            orelse = evaluate(node.orelse)
        if node is self.choice and not (isinstance(then, Scalar) and isinstance(orelse, Scalar)):
            self.emitter.decisions.branched[id(self.statement)] = None
            raise Restart
        if is_text(then) and is_text(orelse):
            return chosen_text(self, test, (then, then_block), (orelse, else_block), node)
        if is_list(then) and is_list(orelse):
            row = _chosen_list(self, test, (then, then_block), (orelse, else_block))
            if row is not None:
                return row
        if isinstance(then, Array) and isinstance(orelse, Array):
            return _chosen_array(self, test, (then, then_block), (orelse, else_block), node)
        if self.emitter.is_boxed(then) or self.emitter.is_boxed(orelse):
            raise self.unsupported(node, "a choice of an array of rank 0", "add [()]")
        if not isinstance(then, Scalar) or not isinstance(orelse, Scalar):
            raise self.unsupported(
                node, "a conditional expression of these", "use an if statement", then=then, orelse=orelse
            )
        of = join(then.type, orelse.type)
        if not then_block and not else_block:
            parts = (arith.condition(test.expr), arith.cast(then.expr, of), arith.cast(orelse.expr, of))
            chosen = Op("select", parts, of)
            note_choice(self, chosen, parts[0], then.expr, orelse.expr)
            return Scalar(chosen)
        for side in (then.expr, orelse.expr):
            hold_whole(self, side, of)
        buffer = self.emitter.declare("choice", of)
        for side in (then.expr, orelse.expr):
            note_held(self, side, buffer)
        span = self.emitter.span
        first = Stmt((), buffer.name, (), arith.cast(then.expr, of), None, span)
        second = Stmt((), buffer.name, (), arith.cast(orelse.expr, of), None, span)
        condition = arith.condition(test.expr)
        if types_differ(self, then.expr, orelse.expr):
            condition = self.emitter.snapshot(condition, "test")
        self.emitter.emit(If(condition, (*then_block, first), (*else_block, second), span))
        return Scalar(held_choice(self, Read(buffer.name, (), of), Mixed(condition, then.expr, orelse.expr)))

    _as_condition = False
    choice: ast.IfExp | None = None  # the conditional expression that is the whole value of a statement

    def tuple_item(self, base: Tuple, key: Value, node: ast.AST | None) -> Value:
        if base.key is not None and not base.items and isinstance(key, Slice) and node is not None:
            return Tuple((), is_list=True, site=self.site(node))
        if base.key is not None and not base.items:
            raise untyped(self, node, "an item of an empty list")
        if isinstance(key, Scalar) and not isinstance(key.expr, Const):
            index_at_run_time(self, base)
        if isinstance(key, Slice):
            parts = [None if p is None else constant_int(p, self.emitter) for p in (key.lo, key.hi, key.step)]
            return Tuple(base.items[slice(*parts)], base.is_list)
        try:
            index = constant_int(key, self.emitter)
        except (Unsupported, NeedConstant) as problem:
            chosen = chosen_item(self, base, key, node)
            if chosen is None or (isinstance(problem, NeedConstant) and is_scalar_argument(self, problem.symbol)):
                raise
            return chosen
        if not -len(base.items) <= index < len(base.items):
            raise self.unsupported(node, "IndexError: tuple index out of range")
        return base.items[index]


def joined(
    builder: Building, test: Scalar, first: Scalar, second: Value, block: list[Node], conjunction: bool, node: ast.AST
) -> Scalar:
    """`first and second` (or `or`), where `block` holds what `second` needs and runs only if it is needed."""
    if not builder._as_condition and (builder.emitter.is_boxed(first) or builder.emitter.is_boxed(second)):
        raise builder.unsupported(node, "a choice of an array of rank 0", "add [()]")
    if not isinstance(second, Scalar):
        raise builder.unsupported(node, "`and`/`or` of these values", first=first, second=second)
    mixed = first.type != second.type
    if builder._as_condition and mixed:
        # Only the truth matters, and that has one type.
        first, second = (Scalar(arith.cast(arith.truth(side.expr), PYBOOL)) for side in (first, second))
        mixed = False
    of = join(first.type, second.type)
    if not block:
        if first.type.dtype is DType.BOOL and not mixed:
            return Scalar(Op("and" if conjunction else "or", (first.expr, second.expr), of))
        pair = (second.expr, first.expr) if conjunction else (first.expr, second.expr)
        chosen = Op("select", (arith.condition(test.expr), arith.cast(pair[0], of), arith.cast(pair[1], of)), of)
        note_choice(builder, chosen, arith.condition(test.expr), pair[0], pair[1])
        return Scalar(chosen)
    sides = (second.expr, first.expr) if conjunction else (first.expr, second.expr)
    wanted = arith.condition(test.expr)
    if types_differ(builder, *sides):
        wanted = builder.emitter.snapshot(wanted, "test")
    for side in sides:
        hold_whole(builder, side, of)
    buffer = builder.emitter.declare("both" if conjunction else "either", of)
    for side in sides:
        note_held(builder, side, buffer)
    builder.emitter.assign((), buffer.name, (), arith.cast(first.expr, of))
    store = Stmt((), buffer.name, (), arith.cast(second.expr, of), None, builder.emitter.span)
    builder.emitter.emit(If(wanted if conjunction else arith.negate(wanted), (*block, store), (), builder.emitter.span))
    return Scalar(held_choice(builder, Read(buffer.name, (), of), Mixed(wanted, *sides)))


def evaluate_run(builder: Building, node: ast.expr) -> Value:
    """The value of an expression that is run through: what its class says it is, if that is the user's."""
    return builder.run_of(builder.evaluate(node), node)


def _lazily(
    builder: Building, test: Scalar, operand: ast.expr, first: Value, conjunction: bool, node: ast.AST
) -> Value:
    if isinstance(first, Maybe) and not conjunction:
        first = first.held  # it is taken only if it is there
    if not isinstance(first, Scalar) and builder._as_condition:
        first = test  # only the truth matters
    if not isinstance(first, Scalar):
        raise builder.unsupported(node, "`and`/`or` of these values", first=first)
    with builder.emitter.capture() as block:
        second = builder.evaluate_open(operand) if builder._as_condition else builder.evaluate(operand)
        if builder._as_condition and not isinstance(second, Scalar):
            holds = builder.truth(second, node)
            second = Scalar(Const(holds, PYBOOL)) if isinstance(holds, bool) else holds
    return joined(builder, test, first, second, block, conjunction, node)


def _chosen_list(
    builder: Building, test: Scalar, then: tuple[Value, list[Node]], orelse: tuple[Value, list[Node]]
) -> Value | None:
    """One of two lists, not a copy of it: both are among others of their kind; None if neither has a name."""
    values = (then[0], orelse[0])
    rows = [row_of(value) for value in values]
    if None in rows:
        if not any(map(builder.named, values)) or any(builder.identity(value) in builder.own for value in values):
            return None
        if not all(map(builder.named, values)):
            raise builder.unsupported(None, "a choice between a list that has a name and one that has none")
        for value, other in (values, values[::-1]):
            layout = builder.layout(other)
            if row_of(value) is None and not has_escaped(builder, value):
                builder.escape(value)
            elif row_of(other) is not None and layout is not None:
                builder.accepts(layout, value)  # what an empty list holds is told by the other one
        return then[0]  # both are empty, as far as is known
    if not builder.same_rows(then[0], orelse[0]):
        raise builder.unsupported(None, "a choice between lists of different types", then=then[0], orelse=orelse[0])
    buffer = builder.emitter.declare("chosen", INT)
    sides = []
    for row, (_, block) in zip(rows, (then, orelse)):
        assert row is not None
        sides.append((*block, Stmt((), buffer.name, (), row, None, builder.emitter.span)))
    builder.emitter.emit(If(arith.condition(test.expr), sides[0], sides[1], builder.emitter.span))
    return renumbered(builder, then[0], Read(buffer.name, (), INT))


def _chosen_array(
    builder: Building, test: Scalar, then: tuple[Array, list[Node]], orelse: tuple[Array, list[Node]], node: ast.AST
) -> Array:
    """`a if test else b` of arrays of one type and shape: the chosen one's elements in memory of their own."""
    first, second = then[0], orelse[0]
    if first.type.dtype is not second.type.dtype or first.rank != second.rank or first.is_list or second.is_list:
        reason = "a choice between different arrays"
        raise builder.unsupported(node, reason, "use an if statement", then=first, orelse=second)
    shape = tuple(builder.emitter.same_size(a, b, "RuntimeError", "") for a, b in zip(first.shape, second.shape))
    buffer = builder.emitter.allocate("choice", first.type.strong, shape)
    blocks = []
    for array, block in (then, orelse):
        with builder.emitter.capture() as stored:
            arrays.store(arrays.of_buffer(buffer), array, builder.emitter, fresh=True)
        blocks.append((*block, *stored))
    builder.emitter.emit(If(arith.condition(test.expr), blocks[0], blocks[1], builder.emitter.span))
    shared = first.view is not None or second.view is not None
    chosen = arrays.of_buffer(buffer)
    return replace(chosen, view=None, cost=1, borrowed=True) if shared else chosen


def condition_value(builder: Building, node: ast.expr) -> Value:
    """An expression of which only the truth matters."""
    previous = builder._as_condition
    builder._as_condition = True
    try:
        return builder.evaluate_open(node)
    finally:
        builder._as_condition = previous


def is_scalar_argument(builder: Building, name: str) -> bool:
    symbol = builder.emitter.symbols.get(name)
    return isinstance(symbol.source, Argument) if symbol is not None else name in builder.emitter.params


def chosen_item(builder: Building, base: Tuple, key: Value, node: ast.AST | None) -> Value | None:
    """An item of a tuple of numbers of one type at a place that the run time knows; None if there is none such."""
    numbers = [item.expr for item in base.items if isinstance(item, Scalar) and item.type.weak]
    types = {number.type for number in numbers}
    integral = isinstance(key, Scalar) and key.type.dtype.is_integer
    if base.is_list or len(numbers) < len(base.items) or len(types) != 1 or not integral:
        return None
    assert isinstance(key, Scalar)
    emitter, count = builder.emitter, integer(len(numbers))
    place = emitter.snapshot(arith.cast(key.expr, INT), "place")
    least = Op("ge", (place, Op("neg", (count,), INT)), BOOL)
    inside = Op("and", (least, Op("lt", (place, count), BOOL)), BOOL)
    emitter.check(inside, "IndexError", "tuple index out of range")
    place = Op("select", (Op("lt", (place, ZERO), BOOL), Op("add", (place, count), INT), place), INT)
    if len(numbers) > _MOST_CHOICES:
        held = literal_list(builder, replace(base, is_list=True, named=None), node)
        return Scalar(emitter.snapshot(held.element((place,)), "item"))
    place = emitter.snapshot(place, "place")
    chosen: Expr = numbers[-1]
    for position in range(len(numbers) - 2, -1, -1):
        test = Op("eq", (place, integer(position)), BOOL)
        chosen = Op("select", (test, numbers[position], chosen), numbers[0].type)
    return Scalar(chosen)
