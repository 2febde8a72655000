"""Expressions of the user's Python.  In: `ast` expressions; out: values.  Statements that an expression needs first (a
reduction, a check) are emitted on the way.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft import steps
from weft.errors import APART, Span
from weft.frontend import arith, arrays, indexing, masks, powers, ragged, reads, reasons
from weft.frontend.building import Building
from weft.frontend.carrying import is_carried
from weft.frontend.constants import literal_integer
from weft.frontend.dicts import entries_of
from weft.frontend.emit import Emitter
from weft.frontend.enums import as_number
from weft.frontend.folding import BINARY, fold
from weft.frontend.growing import Cells
from weft.frontend.keyed import keyed_item
from weft.frontend.lists import changes_list, filled_records, joined_lists, repeated_list
from weft.frontend.missing import may_be_unset, name_value
from weft.frontend.mixed import (
    from_either,
    is_python,
    may_be_python,
    note_computed,
    python_kind,
    refuse_two_results,
    settle,
)
from weft.frontend.nested import share_rows
from weft.frontend.sorted_lists import refuse_sorted_now
from weft.frontend.strings import is_text, kept_text, text_iteration, text_operator, text_part
from weft.frontend.values import (
    Array,
    Closure,
    Dict,
    Flat,
    Instance,
    Iterable,
    Keyed,
    Mask,
    Method,
    Object,
    PythonFunction,
    Range,
    Records,
    Rows,
    Scalar,
    Slice,
    Stack,
    Struct,
    Text,
    Tuple,
    Value,
)
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ZERO, Const, Expr, Op, integer
from weft.ir.program import Node
from weft.ir.types import BOOL, I64, INT, PYBOOL, DType, promote, type_of_value
from weft.parallel import map as parallel_map

_ARRAY_ATTRIBUTES = frozenset({"shape", "T", "ndim", "size", "dtype", "itemsize", "nbytes", "real", "imag"})
#: Objects that are used by their subscripts: np.mgrid[0:n, 0:m].
_GRIDS = tuple(type(thing) for thing in (np.mgrid, np.ogrid, np.r_, np.c_, np.s_, parallel_map))
_DIVISION = "float division by zero"
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}


def constant_value(value: Any) -> Value | None:
    """A Python constant as a value: numbers as scalars, tuples by element, the rest as objects."""
    of = type_of_value(value)
    if of is not None:
        if of == INT and not arith.fits(value, DType.I64):
            return None
        plain = value.item() if isinstance(value, np.generic) else value
        return Scalar(Const(plain, of))
    if isinstance(value, tuple):
        items = [constant_value(item) for item in value]
        named = type(value) if hasattr(type(value), "_fields") else None
        known = tuple(item for item in items if item is not None)
        return None if len(known) < len(items) else Tuple(known, named=named)
    if (
        value is None
        or value is Ellipsis
        or isinstance(value, (str, bytes, type, enum.Enum, types.ModuleType, np.dtype, np.ufunc, *_GRIDS))
    ):
        return Object(value)
    if isinstance(value, types.FunctionType):
        return PythonFunction(value)
    if callable(value):
        return Object(value)
    return None


#: Expressions whose value may be None where something else is none the worse for it.
#: Attributes and methods that say the same of a number and of an array of rank 0 that holds it.
_OF_RANK_0 = frozenset(
    ("dtype", "shape", "ndim", "size", "itemsize", "nbytes", "item", "tolist")
    + ("sum", "prod", "min", "max", "mean", "any", "all")
)
_MAY_BE_NONE = (ast.Name, ast.Call, ast.NamedExpr, ast.BoolOp, ast.Attribute, ast.Subscript)


class Expressions(Building):
    """`evaluate` and its cases."""

    def evaluate(self, node: ast.expr) -> Value:
        steps.check()
        method = getattr(self, f"_eval_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported(node, reasons.construct(node), APART)
        self.at(node)
        found = self.present(method(node))
        if self.sorted_now is not None:
            refuse_sorted_now(self, found, node)
        return found

    def evaluate_open(self, node: ast.expr) -> Value:
        """An expression whose value may be None: it is assigned, returned, handed on or compared with None."""
        self.at(node)
        if isinstance(node, _MAY_BE_NONE):
            found: Value = getattr(self, f"_eval_{type(node).__name__.lower()}")(node)
            if self.sorted_now is not None:
                refuse_sorted_now(self, found, node)
            return found
        if isinstance(node, ast.Tuple) and any(isinstance(item, _MAY_BE_NONE) for item in node.elts):
            return Tuple(tuple(self.spread(node.elts, self.evaluate_all(node.elts, open_ones=True))))
        return self.evaluate(node)

    def evaluate_all(self, nodes: Sequence[ast.expr], open_ones: bool = False) -> list[Value]:
        """Several operands, left to right; an operand that is still lazy must not see what a later one changes."""
        values: list[Value] = []
        before = self.emitter.mutations
        block = self.emitter.blocks[-1]
        # Operands of an operator are wanted as values, whatever is asked of the whole.
        self._as_condition, outer = False, self._as_condition
        for node in nodes:
            start = len(block)
            if values and _may_assign(node):
                values = [kept_text(self, v, "t") if isinstance(v, Text) else v for v in values]
            if values and changes_list(node):
                values = [Scalar(self._kept(v.expr, "t")) if isinstance(v, Scalar) else v for v in values]
            value = self.evaluate_open(node) if open_ones else self.evaluate(node)
            lazy = [v for v in values if _lazy(self, v)] if self.emitter.mutations != before else []
            if all(isinstance(v, (Scalar, Array)) for v in lazy):
                values = _computed_at(self, block, start, values) if lazy else values
            else:
                raise self.unsupported(
                    node, "an operand that changes arrays which another operand reads", "assign it to a name first"
                )
            before = self.emitter.mutations
            values.append(value)
        self._as_condition = outer
        return values

    def _eval_constant(self, node: ast.Constant) -> Value:
        value = constant_value(node.value)
        if value is None:
            raise self.unsupported(node, f"the constant {node.value!r} does not fit into 64 bits")
        return value

    def _eval_name(self, node: ast.Name) -> Value:
        name = node.id
        scope = self.scope
        while True:
            if name in scope.unbound and scope is self.scope:
                raise may_be_unset(self, scope, node)
            if name in scope.unbound:
                raise self.unsupported(node, f"{name} may be unset here", f"give {name} a value on every path")
            if name in scope.stale:
                raise self.unsupported(
                    node, f"{name} shares its memory with a variable that is rebound in a branch or loop", "add .copy()"
                )
            if name in scope.values:
                return name_value(self, scope, name)
            if name in scope.variables and name not in scope.outer:
                raise may_be_unset(self, scope, node)
            if scope.parent is None:
                break
            scope = scope.parent
            if name in scope.comprehended and name not in scope.values:
                raise self.unsupported(node, f"{name}, a variable of a comprehension that is over")
        return self.free_name(name, node)

    def free_name(self, name: str, node: ast.AST) -> Value:
        """A global, a closure variable or a builtin."""
        source = self.scope.source
        if name in source.cells:
            try:
                contents = source.cells[name].cell_contents
            except ValueError:
                raise self.unsupported(node, f"{name} is unset in the enclosing function") from None
            return self.outside(name, contents, source.cells[name], node)
        if name in source.namespace and source.place is not None:
            known = constant_value(source.namespace[name])  # a definition of weft's own: its globals never change
            if known is not None:
                return known
        if name in source.namespace:
            return self.outside(name, source.namespace[name], source.namespace, node)
        found = reads.builtin(source.namespace, name)
        if found is reads.ABSENT:
            raise self.unsupported(node, f"the name {name} is not defined")
        return constant_value(found) or Object(found)

    def _eval_tuple(self, node: ast.Tuple) -> Value:
        return Tuple(tuple(self.spread(node.elts, self.evaluate_all(node.elts))))

    def _eval_starred(self, node: ast.Starred) -> Value:
        value = self.evaluate(node.value)
        if not isinstance(value, Tuple):
            raise self.unsupported(node, "a starred item that is not a tuple", value=value)
        return value

    def spread(self, nodes: Sequence[ast.expr], values: Sequence[Value]) -> list[Value]:
        """The items of a display or of a call, with those of starred ones among them."""
        result: list[Value] = []
        for node, value in zip(nodes, values):
            result += value.items if isinstance(node, ast.Starred) and isinstance(value, Tuple) else [value]
        return result

    def _eval_lambda(self, node: ast.Lambda) -> Value:
        return Closure(node, self.scope, self.defaults(node.args))

    def defaults(self, spec: ast.arguments) -> dict[str, Value]:
        """The default values of a function's parameters, which are evaluated where it is defined."""
        names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        pairs = list(zip(names[::-1], spec.defaults[::-1]))[::-1]
        pairs += [(a.arg, default) for a, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is not None]
        values = self.evaluate_all([default for _, default in pairs])
        kept = [Scalar(self._kept(v.expr, "default")) if isinstance(v, Scalar) else v for v in values]
        if any(_lazy(self, v) or (isinstance(v, Tuple) and v.is_list and not v.items) for v in kept):
            raise self.unsupported(None, "a default value that is [] or computed from arrays", "give it a name first")
        return dict(zip([name for name, _ in pairs], kept))

    def _eval_slice(self, node: ast.Slice) -> Value:
        def part(item: ast.expr | None) -> Value | None:
            if item is None:
                return None
            value = self.evaluate(item)
            return None if isinstance(value, Object) and value.value is None else value

        return Slice(part(node.lower), part(node.upper), part(node.step))

    # --- operators --------------------------------------------------------------------------------------------------

    def _eval_binop(self, node: ast.BinOp) -> Value:
        if (whole := literal_integer(node)) is not None and (known := constant_value(whole)) is not None:
            return known
        left, right = self.evaluate_all([node.left, node.right])
        span = self.at(node)
        if isinstance(node.op, ast.MatMult):
            return self.matmul(left, right, node)
        return self.binary(BINARY[type(node.op)], left, right, node, span)

    def binary(self, op: str, left: Value, right: Value, node: ast.AST, span: Span) -> Value:
        """left OP right"""
        if is_text(left) or is_text(right):
            return text_operator(self, op, left, right, node)
        left, right = as_number(left), as_number(right)
        if isinstance(left, Struct) or isinstance(right, Struct):
            return self.struct_operator(op, left, right, node)
        if isinstance(left, Dict) or isinstance(right, Dict):
            raise self.unsupported(node, "this operation", left=left, right=right)
        if isinstance(left, Records) or isinstance(right, Records):
            return self._list_operator(op, left, right, node)
        if isinstance(left, Tuple) or isinstance(right, Tuple):
            return _sequence_operator(self, op, left, right, node)
        if (isinstance(left, Array) and left.is_list) or (isinstance(right, Array) and right.is_list):
            return self._list_operator(op, left, right, node)
        refuse_two_results(self, left, right, node)
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            return typed_binary(self, op, left, right)
        for value in (left, right):
            if not isinstance(value, (Array, Scalar, Mask)):
                raise self.unsupported(node, "this operator", left=left, right=right)
        for value, other in ((left, right), (right, left)):
            if isinstance(value, Scalar) and isinstance(other, (Array, Mask)):
                of = other.type if isinstance(other, Array) else other.array.type
                arrays.weak_int(value.expr, of, self.emitter)
        self.emitter.span = span
        if op == "pow" and isinstance(left, (Array, Mask)) and isinstance(right, Scalar):
            if isinstance(right.expr, Const):
                return arrays.of_operator(_array_power(self, left, right))
        return arrays.of_operator(arrays.apply(op, [left, right], self.emitter))

    def _in_memory(self, item: Value) -> Value:
        """An item that several places of a list share: one array, where each place would compute its own."""
        if isinstance(item, Array) and not item.is_list and item.rank and item.view is None and item.origin is None:
            return arrays.materialise(item, self.emitter, "item")
        return item

    def _list_operator(self, op: str, left: Value, right: Value, node: ast.AST) -> Value:
        for value, other in ((left, right), (right, left)):
            if isinstance(value, Array) and not value.is_list and isinstance(other, Array):
                plain = Array(other.shape, other.type.strong, lambda at, o=other: o.element(at), cost=other.cost)  # type: ignore[misc]
                pair = [plain if v is other else v for v in (left, right)]
                return arrays.apply(op, pair, self.emitter)
        if op == "add" and _is_list(left) and _is_list(right):
            return joined_lists(self, left, right, node)
        if op == "mul" and isinstance(left, Array) and isinstance(right, Scalar) and right.type.dtype.is_integer:
            return repeated_list(self, left, right.expr)
        if op == "mul" and isinstance(right, Array) and isinstance(left, Scalar):
            return self._list_operator(op, right, left, node)
        raise self.unsupported(node, "an operator on whole lists", "make them NumPy arrays", left=left, right=right)

    def _eval_unaryop(self, node: ast.UnaryOp) -> Value:
        negates = isinstance(node.op, ast.Not)
        value = self.evaluate_open(node.operand) if negates else self.evaluate(node.operand)
        self.at(node)
        if negates:
            test = self.truth(value, node)
            if isinstance(test, bool):
                return Scalar(Const(not test, PYBOOL))
            return Scalar(arith.cast(arith.negate(test.expr), PYBOOL))
        op = _UNARY[type(node.op)]
        span = self.emitter.span
        if isinstance(value, Struct):
            return self.struct_sign(op, value, node)
        if not isinstance(value, (Scalar, Array, Mask)) or (isinstance(value, Array) and value.is_list):
            raise self.unsupported(node, "this operator", value=value)
        result = arrays.elementwise([value], lambda parts: arith.unary(op, parts[0], span), self.emitter)
        if isinstance(value, Scalar) and isinstance(result, Scalar):
            return Scalar(note_computed(self, result.expr, [value.expr], lambda way: arith.unary(op, way[0], span)))
        return arrays.of_operator(result)

    # --- subscripts and attributes ----------------------------------------------------------------------------------

    def _eval_subscript(self, node: ast.Subscript) -> Value:
        base, key = self.evaluate_all([node.value, node.slice])
        self.at(node)
        return self.subscript(base, key, node)

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        if isinstance(base, Flat):
            chosen = self.subscript(base.array, key, node, store)
            return chosen if store or not isinstance(chosen, Array) else arrays.copied(chosen)
        base, key = masks.settled(base, self.emitter), masks.settled(key, self.emitter)
        if isinstance(key, Tuple):
            key = replace(key, items=tuple(masks.settled(item, self.emitter) for item in key.items))
        if isinstance(base, Array):
            key = _with_arrays(self, key, node)
            if base.is_list and not isinstance(key, (Scalar, Slice)):
                raise self.unsupported(node, "a list indexed by this", key=key)
            if base.is_list and isinstance(key, Slice) and not store:
                share_rows(self, base)
                part = indexing.subscript(base, key, self.emitter)
                assert isinstance(part, Array)
                return arrays.materialise(part, self.emitter, "list")
            return indexing.subscript(base, key, self.emitter, store)
        if isinstance(base, Tuple):
            return self.tuple_item(base, key, node)
        if isinstance(base, Records) and isinstance(key, Slice) and not store and not base.is_deque:
            return _sliced_records(self, base, key)
        if isinstance(base, Records) and isinstance(key, Scalar):
            return self.record(base, key, node)
        if isinstance(base, (Rows, Stack)):
            return ragged.row(base, key, self.emitter)
        if is_text(base):
            return text_part(self, base, key, node)
        if isinstance(base, Dict) and node is not None:
            return self.item(base, key, node)
        if isinstance(base, Keyed) and node is not None:
            return keyed_item(self, base, key, node)
        if isinstance(base, Instance) and type(base.sample) is dict and not store and node is not None:
            text = key.value if isinstance(key, Object) else None
            if isinstance(text, str) and text.isidentifier():
                return self.instance_attribute(base, f"@{text}", node)
        if isinstance(base, Scalar) and key == Tuple(()) and not store and not base.type.weak:
            if self.emitter.is_boxed(base) or not may_be_python(self, base.expr):
                return arrays.unboxed(base, self.emitter)
        if isinstance(base, Range) and isinstance(key, Scalar) and isinstance(base.step, Const):
            raise self.unsupported(node, "an index into a range", "compute start + place * step")
        raise self.unsupported(node, "an index into this", base=base)

    def _eval_attribute(self, node: ast.Attribute) -> Value:
        base = self.evaluate(node.value)
        self.at(node)
        return self.attribute(base, node.attr, node)

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        if isinstance(base, Mask) and name in _ARRAY_ATTRIBUTES:
            base = masks.settled(base, self.emitter)
        if isinstance(base, Array):
            return _array_attribute(self, base, name, node)
        if name == "__class__" and isinstance(base, (Scalar, Tuple, Text, Mask, Records, Rows, Dict)):
            return self.call(Object(type), [base], {}, node)
        if isinstance(base, Scalar) and from_either(self, base.expr):
            raise self.unsupported(node, f"the attribute {name} of a number that is either Python's or NumPy's")
        if isinstance(base, Scalar):
            return _scalar_attribute(self, base, name, node)
        if isinstance(base, Instance):
            return self.instance_attribute(base, name, node)
        if isinstance(base, Struct):
            return self.field(base, name, node)
        if isinstance(base, Object):
            if is_text(base):
                return Method(base, name)
            if isinstance(base.value, types.ModuleType) and name in vars(base.value):
                return self.outside(name, vars(base.value)[name], vars(base.value), node)
            found = self.object_attribute(base.value, name, node)
            value = constant_value(found)
            if value is None:
                raise self.unsupported(node, f"the attribute {name}", base=base)
            return value
        if isinstance(base, Tuple) and base.named is not None and name in base.named._fields:  # type: ignore[attr-defined]
            return base.items[base.named._fields.index(name)]  # type: ignore[attr-defined]
        if isinstance(base, Slice) and name in ("start", "stop", "step"):
            part = {"start": base.lo, "stop": base.hi, "step": base.step}[name]
            return Object(None) if part is None else part
        if isinstance(base, Text):
            return Method(kept_text(self, base, "text"), name)  # arguments may change the variable it came from
        if isinstance(base, (Tuple, Mask, Records, Rows, Stack, Dict, Keyed, PythonFunction)):
            return Method(base, name)
        raise self.unsupported(node, f"the attribute {name}", base=base)

    def _eval_namedexpr(self, node: ast.NamedExpr) -> Value:
        if is_carried(node):
            reason = f"{node.target.id} is assigned to in a comprehension and has a meaning beyond one item"
            raise self.unsupported(node, reason, "write the comprehension as a loop of statements")
        value = self.evaluate_open(node.value)
        self.bind(node.target.id, value)
        return self._eval_name(ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node))

    # --- iteration --------------------------------------------------------------------------------------------------

    def iteration(self, value: Value, node: ast.AST | None) -> Iterable:
        """Anything a `for` runs over, as a number of trips and a function from the trip to the item."""
        value = masks.settled(value, self.emitter)
        if isinstance(value, Iterable):
            return value
        if isinstance(value, Range) and not isinstance(value.step, Const):
            return self._computed_range(value)
        if isinstance(value, Range):
            lo, step = value.lo, value.step
            return Iterable(self.trips(value), lambda q: Scalar(ix.add(lo, ix.mul(step, q))))
        if isinstance(value, Array) and value.rank >= 1:
            lasting = value.view is not None or value.origin is not None
            array = value if lasting else arrays.materialise(value, self.emitter)
            return Iterable(array.shape[0], lambda q: _row(array, q))
        if isinstance(value, Dict):
            return self.iteration(entries_of(self, value, "keys"), node)
        if isinstance(value, Records):
            cells = Cells(self.emitter, value.growing)
            layout = value.item
            return Iterable(cells.length.value, lambda q: self.assembled(layout, iter(cells.taken(q))))
        if isinstance(value, (Rows, Stack)):
            return ragged.iteration(value, self.emitter)
        if is_text(value):
            return text_iteration(self, value)
        raise self.unsupported(node, "iteration over this", "iterate over a range or an array", value=value)

    def trips(self, value: Range) -> Expr:
        """How often a range is run through."""
        if not isinstance(value.step, Const):
            return self._computed_range(value).trips
        step = int(value.step.value.real)
        span = ix.sub(value.hi, value.lo) if step > 0 else ix.sub(value.lo, value.hi)
        if not self.emitter.assure(span, "RuntimeError"):
            span = self.emitter.snapshot(Op("maximum", (span, ZERO), INT), "trips")
        if abs(step) == 1:
            return span
        return self.emitter.derived(Op("floordiv", (ix.add(span, integer(abs(step) - 1)), integer(abs(step))), INT))


def _unchanging(builder: Building, value: Value) -> Value:
    """A computed array in memory of its own."""
    if not isinstance(value, Array) or value.view is not None or value.origin is not None:
        return value
    arrays.keepable(value, builder.emitter)
    return arrays.materialise(value, builder.emitter, "t")


def _computed_at(builder: Building, block: list[Node], start: int, values: list[Value]) -> list[Value]:
    """Operands computed before the statements from `start` on: one of a later operand changes what they read."""
    with builder.emitter.capture() as computed:
        values = [_unchanging(builder, value) for value in values]
        values = [Scalar(builder._kept(v.expr, "t")) if isinstance(v, Scalar) else v for v in values]
    block[start:start] = computed
    return values


def _lazy(builder: Building, value: Value) -> bool:
    """Whether a later change of memory would change what the value is."""
    if isinstance(value, Mask):
        return True
    if isinstance(value, Array):
        return value.view is None
    if not isinstance(value, Scalar):
        return False
    return any(read.index or not builder.emitter.is_written_once(read.buffer) for read in walk.reads(value.expr))


def _array_power(builder: Building, base: Array | Mask, exponent: Scalar) -> Value:
    """array ** constant: NumPy takes square roots, squares and reciprocals for what they are."""
    assert isinstance(exponent.expr, Const)
    value = exponent.expr.value
    of = base.type if isinstance(base, Array) else base.array.type
    if of.dtype.is_inexact and exponent.type.weak:
        if value == 0.5:
            return arrays.apply("sqrt", [base], builder.emitter)
        if value == 2:
            return arrays.apply("mul", [base, base], builder.emitter)
        if value == -1:
            return arrays.apply("truediv", [Scalar(integer(1)), base], builder.emitter)
    return arrays.apply("pow", [base, exponent], builder.emitter)


def _sequence_operator(builder: Building, op: str, left: Value, right: Value, node: ast.AST) -> Value:
    if op == "add" and isinstance(left, Tuple) and isinstance(right, Tuple):
        return Tuple(left.items + right.items, left.is_list)
    if op == "mul" and isinstance(left, Tuple) and isinstance(right, Scalar):
        if not (right.type.dtype.is_integer or right.type.dtype is DType.BOOL):
            raise builder.unsupported(
                node, f"TypeError: a list or tuple times a number of type {right.type}", "use an integer"
            )
        if left.is_list and len(left.items) == 1 and isinstance(left.items[0], Scalar):
            return filled_list(builder, left.items[0], right.expr)
        if isinstance(right.expr, Const):
            if any(map(_is_literal_list, left.items)):
                raise builder.unsupported(node, "a list that holds one list several times", "give that a name")
            left = replace(left, items=tuple(map(builder._in_memory, left.items)))
            nothing = left.is_list and all(isinstance(item, Object) and item.value is None for item in left.items)
            site = builder.site(node) if nothing else None
            return Tuple(left.items * int(right.expr.value.real), left.is_list, site=site)
        if left.is_list and len(left.items) == 1 and right.type.dtype.is_integer:
            filled = filled_records(builder, left.items[0], right.expr, node)
            if filled is not None:
                return filled
    if op == "mul" and isinstance(right, Tuple):
        return _sequence_operator(builder, op, right, left, node)
    if _is_list(left) and _is_list(right):
        return builder._list_operator(op, left, right, node)
    if any(isinstance(value, Array) and not value.is_list for value in (left, right)):
        pair = [builder.array_of(value, node) if isinstance(value, Tuple) else value for value in (left, right)]
        return arrays.apply(op, pair, builder.emitter)
    raise builder.unsupported(node, "this operator on a tuple or list", left=left, right=right)


def filled_list(builder: Building, item: Scalar, length: Expr) -> Array:
    """[item] * length: a list of one type, kept as a buffer."""
    expr = builder.emitter.snapshot(arith.cast(length, INT), "n")
    if not builder.emitter.assure(expr, "RuntimeError"):
        expr = builder.emitter.snapshot(Op("maximum", (expr, ZERO), INT), "n")
    if not item.type.weak:
        raise builder.unsupported(None, "a list of NumPy scalars")
    value = item.expr
    settle(builder, [value], lambda kinds: kinds[0].dtype)
    made = Array((expr,), item.type, lambda _: value, is_list=True)
    return arrays.materialise(made, builder.emitter, "list")


def typed_binary(builder: Building, op: str, left: Scalar, right: Scalar) -> Scalar:
    """left OP right, of which it stays known of what type Python would make it."""
    span, result = builder.emitter.span, scalar_binary(builder, op, left, right)

    def compute(way: list[Expr]) -> Expr:
        return arith.of_numbers(op, *arith.numbers(*way), span)

    return Scalar(note_computed(builder, result.expr, [left.expr, right.expr], compute))


def scalar_binary(builder: Building, op: str, left: Scalar, right: Scalar) -> Scalar:
    """left OP right with the checks that Python's own numbers need."""
    emitter = builder.emitter
    a, b = arith.numbers(left.expr, right.expr)
    weak = a.type.weak and b.type.weak
    if weak and (from_either(builder, a) or from_either(builder, b)):
        _check_either(builder, op, b)
    if weak and op in ("truediv", "floordiv", "mod") and not b.type.dtype.is_complex:
        _check_divisor(builder, op, a, b)
    elif weak and op == "truediv":
        emitter.check(
            Op("ne", (b, arith.cast(Const(0, INT), b.type)), BOOL), "ZeroDivisionError", "complex division by zero"
        )
    elif weak and op in ("shl", "shr") and not (isinstance(b, Const) and int(b.value.real) >= 0):
        b = emitter.snapshot(arith.cast(b, INT), "shift")
        if not emitter.assure(b, "ValueError", "negative shift count"):
            emitter.check(Op("ge", (b, ZERO), BOOL), "ValueError", "negative shift count")
    elif weak and op == "pow":
        if not arith.never_negative(b):  # whether integers give one depends on the sign
            settle(builder, [a, b], lambda kinds: promote(*kinds).dtype)
        return _python_power(builder, a, b)
    elif not weak:
        for mine, other in ((a, b), (b, a)):
            arrays.weak_int(mine, other.type, emitter)
        if op in ("truediv", "floordiv", "mod", "pow"):
            _check_undecided(builder, op, a, b)
    if weak and isinstance(a, Const) and isinstance(b, Const):
        folded = fold(op, a, b, emitter.span)
        if folded is not None:
            return Scalar(folded)
    return Scalar(emitter.derived(arith.of_numbers(op, a, b, emitter.span)))


def _check_either(builder: Building, op: str, b: Expr) -> None:
    """Where the numbers of Python and of NumPy differ in more than their range, Python runs."""
    if op in ("pow", "shl", "shr"):
        raise builder.unsupported(None, "this operator on a number that is either Python's or NumPy's", "use int()")
    if op in ("truediv", "floordiv", "mod") and not (isinstance(b, Const) and b.value != 0):
        nonzero = Op("ne", (b, arith.cast(Const(0, INT), b.type)), BOOL)
        builder.emitter.hand_back(nonzero, "a division by zero of a number that is either Python's or NumPy's")


def _check_undecided(builder: Building, op: str, a: Expr, b: Expr) -> None:
    """Python's floats refuse a divisor of 0, NumPy's do not: where only the data tells which it is, Python runs."""
    sides = [side.type.weak or may_be_python(builder, side) for side in (a, b)]
    if not all(sides) or any(side.type.dtype.is_complex for side in (a, b)):
        return
    if op == "pow":
        powers.check_kind(a, b, builder.emitter)
        return
    if isinstance(b, Const) and b.value != 0:
        return
    nonzero: Expr = Op("ne", (b, arith.cast(Const(0, INT), b.type)), BOOL)
    told = [is_python(builder, side) for side in (a, b)]
    kinds = {python_kind(builder, side) for side in (a, b)}
    if op == "truediv" and told[0] is not None and told[1] is not None and ("f" in kinds or kinds == {"i"}):
        test = Op("or", (nonzero, arith.negate(arith.conjunction(told[0], told[1]))), BOOL)
        builder.emitter.check(test, "ZeroDivisionError", _DIVISION if "f" in kinds else "division by zero")
        return
    message = "a division by zero of a number that may be a Python float or a NumPy one"
    builder.emitter.check(nonzero, "RuntimeError", message)


def _check_divisor(builder: Building, op: str, a: Expr, b: Expr) -> None:
    integral = a.type.dtype.kind in "bi" and b.type.dtype.kind in "bi"
    message = (
        "division by zero"
        if op == "truediv"
        else "integer modulo by zero"
        if op == "mod"
        else ("integer division or modulo by zero")
    )
    if not integral:
        message = {"truediv": _DIVISION, "mod": "float modulo"}.get(op, "float floor division by zero")
    if isinstance(b, Const) and b.value != 0:
        return
    if integral and (builder.emitter.proved(minus_one(b)) or builder.emitter.assure(minus_one(b), "ZeroDivisionError")):
        return
    builder.emitter.check(Op("ne", (b, arith.cast(Const(0, INT), b.type)), BOOL), "ZeroDivisionError", message)


def _python_power(builder: Building, a: Expr, b: Expr) -> Scalar:
    """Python's own **: the kind of the result depends on the values, so the usual kind is checked for."""
    emitter = builder.emitter
    if isinstance(a, Const) and isinstance(b, Const):
        folded = fold("pow", a, b, emitter.span)
        if folded is not None:
            return Scalar(folded)
    return Scalar(powers.power(a, b, emitter))


def _sliced_records(builder: Building, base: Records, key: Slice) -> Value:
    """base[lo:hi:step] of a list of tuples: a new list."""
    cells = Cells(builder.emitter, base.growing)
    positions = Array((cells.last(),), INT, lambda at: at[0], is_list=True)
    chosen = indexing.subscript(positions, key, builder.emitter)
    assert isinstance(chosen, Array)
    return builder.listed(
        Iterable(chosen.shape[0], lambda q: builder.assembled(base.item, iter(cells.taken(chosen.element((q,))))))
    )


def _with_arrays(builder: Building, key: Value, node: ast.AST | None) -> Value:
    """An index with literal lists in it, such as a[[1, 0]], as arrays."""
    if isinstance(key, Tuple) and key.is_list:
        return builder.array_of(key, node)
    if isinstance(key, Range):
        lo, step = key.lo, key.step
        return Array((builder.trips(key),), I64, lambda at: arith.cast(ix.add(lo, ix.mul(step, at[0])), I64))
    if isinstance(key, Tuple) and any(isinstance(item, (Tuple, Range)) for item in key.items):
        return replace(key, items=tuple(_with_arrays(builder, item, node) for item in key.items))
    return key


def _array_attribute(builder: Building, array: Array, name: str, node: ast.AST) -> Value:
    if array.is_list:
        return Method(array, name)
    if name == "shape":
        return Tuple(tuple(Scalar(extent) for extent in array.shape))
    if name == "T":
        return arrays.remap(array, array.shape[::-1], lambda at: at[::-1])
    if name == "ndim":
        return Scalar(integer(array.rank))
    if name == "size":
        return Scalar(arrays.count(array.shape))
    if name == "dtype":
        return Object(array.type.dtype.numpy)
    if name in ("itemsize", "nbytes"):
        size = integer(array.type.dtype.size)
        return Scalar(
            size if name == "itemsize" else arith.binary("mul", arrays.count(array.shape), size, builder.emitter.span)
        )
    if name in ("real", "imag"):
        if name == "real" and not array.type.dtype.is_complex:
            return array
        if array.type.dtype.is_complex:
            return arrays.part_of(array, name, builder.emitter)
        part = arrays.apply(name, [array], builder.emitter)
        assert isinstance(part, Array)
        return arrays.read_only(part)
    if name == "flat":
        return Flat(flat(array, builder.emitter))
    if name == "mT" and array.rank >= 2:
        return arrays.remap(
            array, (*array.shape[:-2], array.shape[-1], array.shape[-2]), lambda at: (*at[:-2], at[-1], at[-2])
        )
    if not hasattr(np.ndarray, name):
        raise builder.unsupported(node, f"AttributeError: an array has no attribute {name!r}")
    return Method(array, name)


def _scalar_attribute(builder: Building, value: Scalar, name: str, node: ast.AST) -> Value:
    if builder.emitter.is_boxed(value) and name not in _OF_RANK_0:
        raise builder.unsupported(node, f"the attribute {name} of an array of rank 0", "add [()]")
    if value.type.weak and not hasattr(value.type.python, name):
        raise builder.unsupported(node, f"AttributeError: {value.type.python.__name__} has no attribute {name!r}")
    if value.type == PYBOOL:
        value = Scalar(arith.cast(value.expr, INT))  # attributes of a bool are those of an int
    if name in ("real", "imag"):
        return Scalar(arith.function(name, (value.expr,), builder.emitter.span))
    if name == "dtype" and not value.type.weak:
        return Object(value.type.dtype.numpy)
    if name == "shape" and not value.type.weak:
        return Tuple(())
    if name in ("itemsize", "nbytes", "ndim", "size") and not value.type.weak:
        sizes = {"ndim": 0, "size": 1}
        return Scalar(integer(sizes.get(name, value.type.dtype.size)))
    return Method(value, name)


def _may_assign(expression: ast.expr) -> bool:
    """Whether an expression may give a variable another value: by `:=`, or in a function that it calls."""
    return any(isinstance(node, (ast.Call, ast.NamedExpr)) for node in ast.walk(expression))


def _is_list(value: Value) -> bool:
    return isinstance(value, Records) or (isinstance(value, (Array, Tuple)) and value.is_list)


def flat(array: Array, emitter: Emitter) -> Array:
    """The elements in C order, read and written where they are."""
    if array.rank == 1:
        return array
    shape = array.shape
    return arrays.remap(array, (emitter.stable(arrays.count(shape)),), lambda at: arrays.unravelled(at[0], shape))


def _row(array: Array, q: Expr) -> Value:
    if array.rank == 1:
        return Scalar(array.element((q,)))
    return arrays.remap(array, array.shape[1:], lambda at: (q, *at))


def minus_one(expr: Expr) -> Expr:
    """`expr` - 1 as an index: it is not negative where `expr` is positive."""
    return ix.sub(arith.cast(expr, INT), integer(1))


def _is_literal_list(value: Value) -> bool:
    """Whether a value is, or holds, a list that has no memory of its own yet."""
    return isinstance(value, Tuple) and (value.is_list or any(map(_is_literal_list, value.items)))
