"""Comparisons: of numbers and arrays, chains of them, `in`, `is`, of tuples.  In: values; out: a value that is true or
false.
"""

from __future__ import annotations

import ast
import functools
import operator

from weft.errors import Span
from weft.frontend import arith, arrays
from weft.frontend.building import Building
from weft.frontend.choices import joined
from weft.frontend.enums import is_member, member_comparison
from weft.frontend.instances import entry_by_name
from weft.frontend.keyed import keyed_items, keyed_name
from weft.frontend.listparts import list_comparison, record_among
from weft.frontend.missing import none_comparison
from weft.frontend.mixed import note_computed, refuse_two_results
from weft.frontend.strings import is_text, kept_text, text_contains
from weft.frontend.values import (
    Array,
    Dict,
    EitherType,
    Keyed,
    Keywords,
    Mask,
    Method,
    Object,
    Range,
    Records,
    Rows,
    Scalar,
    Struct,
    Text,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, variable, when
from weft.ir.expr import ZERO, Const, Expr, Op, Reduce
from weft.ir.program import Break
from weft.ir.types import BOOL, INT, PYBOOL, ScalarType

_COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class Comparisons(Building):
    """`_eval_compare` and what it needs."""

    def _eval_compare(self, node: ast.Compare) -> Value:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            left, right = self.evaluate_all([node.left, node.comparators[0]], open_ones=True)
            same = isinstance(node.ops[0], (ast.Is, ast.Eq))
            asked = none_comparison(self, left, right, same)
            return asked or self._comparison(node.ops[0], self.present(left), self.present(right), node)
        if len(node.ops) == 1:
            left, right = self.evaluate_all([node.left, _items_of_set(node.ops[0], node.comparators[0])])
            return self._comparison(node.ops[0], left, right, node)
        # a < b < c: b once, and c only if a < b.
        left, previous = self.evaluate_all([node.left, node.comparators[0]])
        result = self._comparison(node.ops[0], left, previous, node)
        for op, operand in zip(node.ops[1:], node.comparators[1:]):
            if not isinstance(result, Scalar):
                raise self.unsupported(node, "a chained comparison of arrays", "join two comparisons with &")
            if any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(operand)):  # it may change them
                result = Scalar(self._kept(result.expr, "test"))
                previous = Scalar(self._kept(previous.expr, "t")) if isinstance(previous, Scalar) else previous
            with self.emitter.capture() as block:
                [following] = self.evaluate_all([operand])
                part = self._comparison(op, previous, following, node)
            result = joined(self, result, result, part, block, True, node)
            previous = following
        return result

    def _comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        self.at(node)
        if isinstance(op, (ast.Is, ast.IsNot)) and is_member(left) and is_member(right):
            return Scalar(Const((left.value is right.value) == isinstance(op, ast.Is), PYBOOL))
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(left, Struct) and isinstance(right, Struct):
            return Scalar(same_object(self, left, right, isinstance(op, ast.Is), node))
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = _identical(self, left, right, node)
            return Scalar(Const(same == isinstance(op, ast.Is), PYBOOL))
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._membership(isinstance(op, ast.In), left, right, node)
        name = _COMPARE[type(op)]
        if isinstance(left, Text) or isinstance(right, Text) or _both_arguments(left, right):
            return self.text_comparison(name, left, right, node)
        if is_member(left) or is_member(right):
            return member_comparison(self, name, left, right, node)
        if isinstance(left, Object) and isinstance(right, Object):
            if name not in ("eq", "ne") and not _have_order(left.value, right.value):
                raise self.unsupported(node, "this comparison", left=left, right=right)
            return Scalar(Const(bool(getattr(operator, name)(left.value, right.value)), PYBOOL))
        if isinstance(left, Tuple) and isinstance(right, Tuple) and left.is_list != right.is_list:
            if name in ("eq", "ne"):
                return Scalar(Const(name == "ne", PYBOOL))
            raise self.unsupported(node, "this comparison", left=left, right=right)
        if isinstance(left, Tuple) and isinstance(right, Tuple) and name in ("eq", "ne"):
            return _tuple_equality(self, name, left, right, node)
        if isinstance(left, Tuple) and isinstance(right, Tuple):
            return self.tuple_order(name, left, right, node)
        deques = [isinstance(value, Records) and value.is_deque for value in (left, right)]
        if (_is_list(left) and _is_list(right)) or all(deques):
            return list_comparison(self, name, left, right, node)
        if name in ("eq", "ne") and _is_sequence(left) and _is_sequence(right):
            return Scalar(Const(name == "ne", PYBOOL))  # a list is equal to no tuple and to no deque
        for value in (left, right):
            if not isinstance(value, (Scalar, Array, Mask)) or (isinstance(value, Array) and value.is_list):
                raise self.unsupported(node, "this comparison", left=left, right=right)
        span = self.emitter.span
        refuse_two_results(self, left, right, node)
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            known = _fold_comparison(name, left.expr, right.expr)
            if known is not None:
                return Scalar(known)
        found = arrays.elementwise(
            [left, right], lambda parts: arith.compare(name, parts[0], parts[1], span), self.emitter
        )
        result = arrays.of_operator(found)
        if not (isinstance(left, Scalar) and isinstance(right, Scalar) and isinstance(result, Scalar)):
            return result
        compute = functools.partial(_compared, name, span)
        return Scalar(note_computed(self, result.expr, [left.expr, right.expr], compute))

    def _membership(self, positive: bool, left: Value, right: Value, node: ast.AST) -> Value:
        there = _text_membership(self, left, right, node)
        if there is not None:
            return Scalar(there if positive else arith.negate(there))
        if (
            isinstance(right, Tuple)
            and isinstance(left, Scalar)
            and all(isinstance(item, Scalar) for item in right.items)
        ):
            result: Expr = Const(False, PYBOOL)
            for item in right.items:
                assert isinstance(item, Scalar)
                equal = arith.cast(arith.compare("eq", left.expr, item.expr, self.emitter.span), PYBOOL)
                result = equal if isinstance(result, Const) else Op("or", (result, equal), PYBOOL)
            return Scalar(result if positive else arith.negate(result))
        if isinstance(right, Tuple) and isinstance(left, Object):
            found = any(isinstance(item, Object) and item.value == left.value for item in right.items)
            return Scalar(Const(found == positive, PYBOOL))
        if isinstance(right, Array) and isinstance(left, Scalar) and (right.rank == 1 or not right.is_list):
            dims, at = self.emitter.domain(right.shape)
            same = arith.cast(arith.compare("eq", right.element(at), left.expr, self.emitter.span), PYBOOL)
            found_one = self.emitter.snapshot(Reduce("or", dims, same, self.emitter.span), "found")
            return Scalar(found_one if positive else arith.negate(found_one))
        if isinstance(right, (Keyed, Keywords)):
            return Scalar(Const((keyed_name(self, left, node) in keyed_items(self, right, node)) == positive, PYBOOL))
        if isinstance(right, Dict):
            found_key = self.contains(right, left, node)
            return Scalar(found_key if positive else arith.negate(found_key))
        if isinstance(right, Records) and isinstance(right.item, EitherType) and isinstance(left, Scalar):
            numbers = arrays.numbers_in(right, right.item.held, self.emitter)
            return self._membership(positive, left, numbers, node)
        of_numbers = isinstance(right, Records) and isinstance(right.item, ScalarType) and isinstance(left, Scalar)
        if isinstance(right, Records) and (of_numbers or (isinstance(right.item, tuple) and isinstance(left, Tuple))):
            among = record_among(self, right, left, node)
            return Scalar(among if positive else arith.negate(among))
        if isinstance(right, Range) and isinstance(left, Scalar) and left.type.dtype.is_integer:
            first, step = (self.emitter.snapshot(part, "at") for part in (right.lo, right.step))
            place = self.emitter.snapshot(Op("sub", (arith.cast(left.expr, INT), first), INT), "place")
            fits = Op("eq", (Op("mod", (place, step), INT), ZERO), BOOL)
            number = self.emitter.snapshot(Op("floordiv", (place, step), INT), "number")
            inside = Op("and", (Op("ge", (number, ZERO), BOOL), Op("lt", (number, self.trips(right)), BOOL)), BOOL)
            there = arith.cast(Op("and", (fits, inside), BOOL), PYBOOL)
            return Scalar(there if positive else arith.negate(there))
        entry = entry_by_name(self, right, left, Object(None), node)
        if entry is not None:
            return Scalar(Const((entry != Object(None)) == positive, PYBOOL))
        raise self.unsupported(node, "`in` for this container", left=left, right=right)


def _items_of_set(op: ast.cmpop, operand: ast.expr) -> ast.expr:
    """`x in {1, 2}`   -->   x in (1, 2)"""
    if not isinstance(op, (ast.In, ast.NotIn)) or not isinstance(operand, ast.Set):
        return operand
    return ast.copy_location(ast.Tuple(elts=operand.elts, ctx=ast.Load()), operand)


def same_object(builder: Building, left: Struct, right: Struct, positive: bool, node: ast.AST) -> Expr:
    """`left is right`, or is not, of two objects that the function made."""
    if left.kind is not right.kind or (left.row is None and right.row is None):
        same = left.kind is right.kind and left.fields is right.fields
        return Const(same == positive, PYBOOL)
    if left.row is None or right.row is None:
        raise builder.unsupported(node, "`is` between an object in a container and one that is being made")
    return Op("eq" if positive else "ne", (left.row, right.row), PYBOOL)


def _compared(name: str, span: Span, parts: list[Expr]) -> Expr:
    return arith.compare(name, parts[0], parts[1], span)


def _identical(builder: Building, left: Value, right: Value, node: ast.AST) -> bool:
    for mine, other in ((left, right), (right, left)):
        if isinstance(other, Object) and (other.value is None or isinstance(other.value, type)):
            if isinstance(mine, Method):  # of a name that need not be one of a method
                break
            return isinstance(mine, Object) and mine.value is other.value
    if isinstance(left, Object) and isinstance(right, Object):
        return left.value is right.value
    raise builder.unsupported(node, "`is` between values of the run time", "compare with ==", left=left, right=right)


def _text_membership(builder: Building, left: Value, right: Value, node: ast.AST) -> Expr | None:
    """`in` where a string is on either side; None if there is none, or a dict looks for it."""
    if is_text(right):
        return text_contains(builder, right, left, node)
    if not isinstance(left, Text) and not (is_member(left) and isinstance(right, Tuple)):
        return None
    if isinstance(right, Tuple):
        result: Expr = Const(False, PYBOOL)
        for item in right.items:
            if isinstance(left, Text):
                same = builder.text_comparison("eq", left, item, node)
            else:
                same = member_comparison(builder, "eq", left, item, node)
            assert isinstance(same, Scalar)
            if isinstance(same.expr, Const) and same.expr.value:
                return same.expr
            if not isinstance(same.expr, Const):
                result = same.expr if isinstance(result, Const) else Op("or", (result, same.expr), PYBOOL)
        return result
    if not isinstance(right, (Records, Rows)):
        return None
    assert isinstance(left, Text)
    text = kept_text(builder, left, "text")
    items = builder.iteration(right, node)
    found = variable(builder.emitter, "found", Const(False, PYBOOL))
    with loop(builder.emitter, ZERO, builder.emitter.stable(items.trips)) as at:
        same = builder.text_comparison("eq", text, items.item(at), node)
        assert isinstance(same, Scalar)
        with when(builder.emitter, same.expr):
            found.set(Const(True, PYBOOL))
            builder.emitter.emit(Break(builder.emitter.span))
    return builder.emitter.snapshot(found.value, "found")


def _tuple_equality(builder: Building, name: str, left: Tuple, right: Tuple, node: ast.AST) -> Value:
    if len(left.items) != len(right.items):
        return Scalar(Const(name == "ne", PYBOOL))
    result: Expr = Const(True, PYBOOL)
    for a, b in zip(left.items, right.items):
        equal = _item_equality(builder, a, b, node)
        if isinstance(equal, Const) and not bool(equal.value):
            return Scalar(Const(name == "ne", PYBOOL))
        if isinstance(equal, Const):
            continue
        result = equal if isinstance(result, Const) else Op("and", (result, equal), PYBOOL)
    if isinstance(result, Const):
        return Scalar(Const(name == "eq", PYBOOL))
    return Scalar(result if name == "eq" else arith.negate(result))


def _item_equality(builder: Building, left: Value, right: Value, node: ast.AST) -> Expr:
    """Whether two items of tuples are equal: numbers, strings, or tuples and lists of these."""
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        known = _fold_comparison("eq", left.expr, right.expr)
        compared = known or arith.compare("eq", left.expr, right.expr, builder.emitter.span)
        return known or arith.cast(compared, PYBOOL)
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        alike = left.is_list == right.is_list
        same = _tuple_equality(builder, "eq", left, right, node) if alike else Scalar(Const(False, PYBOOL))
    elif is_text(left) and is_text(right):
        same = builder.text_comparison("eq", left, right, node)
    elif _is_list(left) and _is_list(right):
        same = list_comparison(builder, "eq", left, right, node)
    else:
        raise builder.unsupported(node, "a comparison of tuples of these", left=left, right=right)
    assert isinstance(same, Scalar)
    return same.expr


def _is_list(value: Value) -> bool:
    if isinstance(value, Records):
        return not value.is_deque
    return isinstance(value, (Array, Tuple)) and value.is_list


def _is_sequence(value: Value) -> bool:
    return _is_list(value) or isinstance(value, (Records, Tuple))


def _both_arguments(left: Value, right: Value) -> bool:
    """Whether two arguments that are strings are compared: then they are data, not constants."""
    values = [value for value in (left, right) if isinstance(value, Object) and value.argument is not None]
    return len(values) == 2


def _have_order(left: object, right: object) -> bool:
    """Whether two constants are texts of one kind: others have no order, or one that code of the user decides."""
    return type(left) is type(right) and isinstance(left, (str, bytes))


def _fold_comparison(name: str, left: Expr, right: Expr) -> Const | None:
    """A comparison of two Python literals: tests of a rank or an axis are decided now."""
    if not (isinstance(left, Const) and isinstance(right, Const) and left.type.weak and right.type.weak):
        return None
    a, b = left.value, right.value
    if isinstance(a, complex) or isinstance(b, complex):
        return None
    return Const({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name], PYBOOL)
