"""Types of the variables that a loop carries or branches merge, before these are built.  In: what names denote where
the loop begins, and its statements; out: for a variable that gets numbers of several types, the type that holds them.

    total = 0.0
    for i in range(n):
        total += a[i]           -->    total: float64

The types are the least ones: what is not known here is passed over, and the build finds it (`core.slot_type`).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

import numpy as np

from weft.errors import Span, Unsupported
from weft.frontend import arith
from weft.frontend.building import Building
from weft.frontend.folding import BINARY
from weft.frontend.liveness import Liveness, assigned, target_names
from weft.frontend.values import Array, Dict, ItemType, Object, Range, Scalar, Tuple, Value
from weft.ir.expr import Const, Expr, Read
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType, from_numpy, join, promote, type_of_value
from weft.parallel import prange
from weft.records import dataclass

#: How often a loop is gone through: types only become wider, and there are few.
_PASSES = 4
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_PLACE = Span("", 0, 0, 0, 0)
#: NumPy's functions of numbers and arrays, by their names among the operations.
_UFUNCS = {name: name for name in (*arith.ELEMENTARY, "maximum", "minimum", "hypot", "arctan2", "floor", "ceil")} | {
    "absolute": "abs",
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
}
#: Functions of `math` that do not give floats.
_WHOLE = frozenset({"floor", "ceil", "trunc", "gcd", "lcm", "comb", "perm", "factorial", "isqrt"})
_TESTS = frozenset({"isnan", "isinf", "isfinite", "isclose"})
#: Functions and methods of arrays of floats that give a number of the same type.
_FOLDS = frozenset({"sum", "prod", "max", "min", "amax", "amin", "mean"})
_LOOPS = (ast.For, ast.While)


@dataclass(frozen=True)
class Number:
    """A number; `constant` if it may be known when the function is compiled."""

    type: ScalarType
    constant: bool = False

    @property
    def sample(self) -> Expr:
        return Read("", (), self.type)


@dataclass(frozen=True)
class Elements:
    """An array of NumPy's, or (`is_list`) a list of numbers."""

    type: ScalarType
    rank: int
    is_list: bool = False


@dataclass(frozen=True)
class Run:
    """What a loop runs through: the type of an item."""

    item: Any


@dataclass(frozen=True)
class Several:
    """A tuple."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Entries:
    """A dict."""

    key: Any
    item: Any


#: What a name denotes, as far as types go; None if that is not known.
Known = Union[Number, Elements, Run, Several, Entries, Object, None]


def number_types(builder: Building, names: Iterable[str], owner: ast.AST) -> dict[str, ScalarType]:
    """The types of variables that `owner` assigns numbers of several types to."""
    if not isinstance(owner, (ast.For, ast.While, ast.If)):
        return {}
    values = builder.scope.values
    wanted = [name for name in names if name not in values or isinstance(values[name], Scalar)]
    if not wanted:
        return {}
    walk = Walk(builder.scope.liveness, lambda name: denoted(builder, name))
    walk.owner(owner, wanted)
    return {name: of for name, of in walk.found.items() if name in wanted and name in walk.several}


def sum_type(builder: Building, start: ScalarType, run: Value, made: ast.GeneratorExp | None = None) -> ScalarType:
    """The type of a sum that begins with a number, of what `run` gives, or of what is `made` of each item."""
    walk = Walk(builder.scope.liveness, lambda name: denoted(builder, name))
    added, of = _item(_known(run)), start
    if made is not None:
        walk.assign(made.generators[0].target, added)
        added = walk.value(made.elt)
    for _ in range(2 if isinstance(added, Number) else 0):
        try:
            of = join(of, arith.binary("add", Number(of).sample, added.sample, _PLACE).type)  # type: ignore[union-attr]
        except Unsupported:
            return of
    return of


class Walk:
    """Statements in the order in which they run, and what they make of names."""

    def __init__(self, liveness: Liveness, outside: Callable[[str], Known]) -> None:
        self.liveness, self.outside = liveness, outside
        self.names: dict[str, Known] = {}
        self.held: dict[str, ScalarType | None] = {}  # variables that loops and branches around here carry
        self.found: dict[str, ScalarType] = {}
        self.several: set[str] = set()
        self.outermost: frozenset[str] = frozenset()

    # --- statements -------------------------------------------------------------------------------------------------

    def owner(self, node: ast.For | ast.While | ast.If, wanted: Sequence[str]) -> None:
        self.outermost = frozenset(wanted)
        self.opened(node, wanted)

    def opened(self, node: ast.For | ast.While | ast.If, names: Sequence[str]) -> None:
        """A loop or branch and the variables that it carries."""
        names = [name for name in names if name not in self.held]
        for name in names:
            known = self.known(name)
            self.held[name] = known.type if isinstance(known, Number) else None
            if self.held[name] is not None and name in self.outermost:
                self.found[name] = self.held[name]  # type: ignore[assignment]
        for _ in range(_PASSES if isinstance(node, _LOOPS) else 1):
            before = dict(self.held)
            self.parts(node)
            if self.held == before:
                break
        for name in names:
            of = self.held.pop(name)
            self.names[name] = None if of is None else Number(of)

    def parts(self, node: ast.For | ast.While | ast.If) -> None:
        if isinstance(node, ast.If):
            self.branches(node)
            return
        if isinstance(node, ast.For):
            self.assign(node.target, _item(self.value(node.iter)))
        self.block(node.body)
        self.block(node.orelse)

    def branches(self, node: ast.If) -> None:
        """Both sides; neither if the test may be known when the function is compiled."""
        if not self.is_late(node.test):
            self.forget([node])
            return
        start = dict(self.names)
        self.block(node.body)
        then, self.names = self.names, start
        self.block(node.orelse)
        for name in then.keys() | self.names.keys():
            if then.get(name) != self.names.get(name):
                self.names[name] = None

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.assign(target, value, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            current = self.known(node.target.id)
            if not isinstance(current, Elements):
                self.assign(node.target, self.binary(node.op, current, self.value(node.value), node.value))
        elif isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
            self.forget([node])  # its body stands there once for each item
        elif isinstance(node, (ast.For, ast.While, ast.If)):
            live = self.liveness.live_after(node)
            if isinstance(node, _LOOPS):
                live |= self.liveness.live_at_head(node)
            self.opened(node, sorted(assigned([node]) & live))
        elif not isinstance(node, (ast.Expr, ast.Pass, ast.Assert, ast.Break, ast.Continue, ast.Return)):
            self.forget([node])

    def forget(self, nodes: Sequence[ast.stmt]) -> None:
        self.names.update(dict.fromkeys(assigned(nodes)))

    def assign(self, target: ast.expr, value: Known, source: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts: Sequence[Known] = [None] * len(target.elts)
            if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(target.elts):
                parts = [self.value(part) for part in source.elts]
            elif isinstance(value, Several) and len(value.items) == len(target.elts):
                parts = value.items
            for part, item in zip(target.elts, parts):
                self.assign(part, item)
        else:
            for name in target_names(target):
                self.assign_name(name, None)

    def assign_name(self, name: str, value: Known) -> None:
        if name not in self.held:
            self.names[name] = Number(value.type) if isinstance(value, Number) else value
        elif isinstance(value, Number):
            old = self.held[name]
            new = self.held[name] = value.type if old is None else join(old, value.type)
            if old is not None and value.type != old:
                self.several.add(name)
            if name in self.outermost:
                self.found[name] = new

    # --- expressions ------------------------------------------------------------------------------------------------

    def known(self, name: str) -> Known:
        """What a name denotes."""
        if name in self.held:
            of = self.held[name]
            return None if of is None else Number(of)
        return self.names[name] if name in self.names else self.outside(name)

    def value(self, node: ast.expr) -> Known:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            return None
        try:
            found: Known = method(node)
        except (Unsupported, ValueError, KeyError, AssertionError):
            return None  # the build says what is wrong
        return found

    def is_late(self, test: ast.expr) -> bool:
        """Whether only the run time knows if a test holds."""
        if isinstance(test, ast.BoolOp):
            return all(map(self.is_late, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.is_late(test.operand)
        known = self.value(test)
        return isinstance(known, Number) and not known.constant

    def _constant(self, node: ast.Constant) -> Known:
        of = type_of_value(node.value)
        return None if of is None else Number(of, True)

    def _name(self, node: ast.Name) -> Known:
        return self.known(node.id)

    def _binop(self, node: ast.BinOp) -> Known:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node.right)

    def binary(self, op: ast.operator, left: Known, right: Known, operand: ast.expr) -> Known:
        if isinstance(op, ast.MatMult):
            return _product(left, right)
        name = BINARY[type(op)]
        if isinstance(left, Number) and isinstance(right, Number):
            constant = left.constant and right.constant
            if name == "pow" and left.type.weak and right.type.weak:
                return _power(left, right, operand, constant)
            literal = _literal(operand)
            exponent = right.sample if literal is None else Const(literal, right.type)
            return Number(arith.of_numbers(name, *arith.numbers(left.sample, exponent), _PLACE).type, constant)
        return _of_arrays([left, right], lambda parts: arith.binary(name, parts[0], parts[1], _PLACE).type)

    def _unaryop(self, node: ast.UnaryOp) -> Known:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Number(PYBOOL, value.constant) if isinstance(value, Number) else None
        name = _UNARY[type(node.op)]
        if isinstance(value, Number):
            return Number(arith.unary(name, value.sample, _PLACE).type, value.constant)
        return _of_arrays([value], lambda parts: arith.unary(name, parts[0], _PLACE).type)

    def _compare(self, node: ast.Compare) -> Known:
        parts = [self.value(part) for part in (node.left, *node.comparators)]
        if not all(isinstance(part, Number) for part in parts) or any(
            isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops
        ):
            return None
        numbers = [part for part in parts if isinstance(part, Number)]
        strong = not all(part.type.weak for part in numbers)
        return Number(ScalarType(DType.BOOL, not strong), all(part.constant for part in numbers))

    def _ifexp(self, node: ast.IfExp) -> Known:
        then, orelse = self.value(node.body), self.value(node.orelse)
        if isinstance(then, Number) and isinstance(orelse, Number) and self.is_late(node.test):
            return Number(promote(then.type, orelse.type))
        return None

    def _attribute(self, node: ast.Attribute) -> Known:
        base = self.value(node.value)
        if isinstance(base, Object) and isinstance(base.value, types.ModuleType):
            return of_python(vars(base.value).get(node.attr))
        if isinstance(base, Elements) and not base.is_list and node.attr in ("size", "ndim"):
            return Number(INT, True)
        if isinstance(base, Elements) and not base.is_list and node.attr == "shape":
            return Several((Number(INT, True),) * base.rank)
        if isinstance(base, Elements) and not base.is_list and node.attr == "T":
            return base
        return None

    def _tuple(self, node: ast.Tuple) -> Known:
        return Several(tuple(map(self.value, node.elts)))

    def _subscript(self, node: ast.Subscript) -> Known:
        base = self.value(node.value)
        if isinstance(base, Several) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return base.items[node.slice.value] if -len(base.items) <= node.slice.value < len(base.items) else None
        if isinstance(base, Entries):
            item: Known = base.item
            return item
        if not isinstance(base, Elements):
            return None
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rank = base.rank - len(places)
        for place in places:
            if isinstance(place, ast.Slice):
                rank += 1
            else:
                index = self.value(place)
                if not isinstance(index, Number) or not index.type.dtype.is_integer:
                    return None
        if rank < 0:
            return None
        return Elements(base.type, rank, base.is_list) if rank else Number(base.type)

    def _call(self, node: ast.Call) -> Known:
        arguments = [self.value(part) for part in node.args]
        if any(isinstance(part, ast.Starred) for part in node.args):
            return None
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if isinstance(owner, Entries):
                return None if node.keywords or arguments else _entries(node.func.attr, owner)
            if isinstance(owner, Elements):
                return None if node.keywords or arguments else _folded(node.func.attr, owner)
        function = self.value(node.func)
        if not isinstance(function, Object):
            return None
        thing = function.value
        if thing in (np.zeros, np.ones, np.empty) and len(node.args) == 1 and not node.keywords:
            (shape,) = arguments
            rank = len(shape.items) if isinstance(shape, Several) else 1
            return Elements(ScalarType(DType.F64), rank) if isinstance(shape, (Number, Several)) else None
        return None if node.keywords else _called(thing, arguments)


def denoted(builder: Building, name: str) -> Known:
    """What a name denotes where the build is."""
    scope = builder.scope
    while True:
        if name in scope.values:
            value = scope.values[name]
            is_choice = isinstance(value, Scalar) and _is_choice(builder, value.expr)
            return None if is_choice else _known(value)
        if name in scope.variables:
            return None
        if scope.parent is None:
            break
        scope = scope.parent
    return outside_value(scope.source.namespace, name) if name not in scope.source.cells else None


def _is_choice(builder: Building, expr: Expr) -> bool:
    return id(expr) in builder.mixed_exprs or builder.lost(expr) is not None


def _known(value: Value) -> Known:
    if isinstance(value, Scalar):
        return Number(value.type, isinstance(value.expr, Const))
    if isinstance(value, Array):
        return Elements(value.type, value.rank, value.is_list) if value.part is None else None
    if isinstance(value, Tuple) and not value.is_list:
        return Several(tuple(map(_known, value.items)))
    if isinstance(value, Range):
        return Run(Number(INT))
    if isinstance(value, Dict):
        return Entries(_of_layout(value.key), _of_layout(value.item))
    return value if isinstance(value, Object) else None


def _of_layout(layout: ItemType | None) -> Known:
    """An item of a container."""
    if isinstance(layout, ScalarType):
        return Number(layout)
    return Several(tuple(map(_of_layout, layout))) if isinstance(layout, tuple) else None


def outside_value(namespace: Any, name: str) -> Known:
    """A global or builtin, as it is now."""
    if name in namespace:
        return of_python(namespace[name])
    builtins = namespace.get("__builtins__")
    found = builtins.get(name) if isinstance(builtins, dict) else getattr(builtins, name, None)
    return of_python(found)


def of_python(value: Any) -> Known:
    of = type_of_value(value)
    if of is not None:
        return Number(of, True)
    if type(value) is np.ndarray:
        dtype = from_numpy(value.dtype)
        return None if dtype is None or not value.ndim else Elements(ScalarType(dtype), value.ndim)
    plain = (type, types.ModuleType, types.BuiltinFunctionType, np.ufunc)
    if isinstance(value, plain) or value is prange or is_of_numpy(value):
        return Object(value)
    return None


def is_of_numpy(value: Any) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"


def _item(value: Known) -> Known:
    """What a loop over a value gives to its variable."""
    if isinstance(value, (Run, Entries)):
        item: Known = value.item if isinstance(value, Run) else value.key
        return item
    if isinstance(value, Elements):
        return Elements(value.type, value.rank - 1, value.is_list) if value.rank > 1 else Number(value.type)
    return None


def _product(left: Known, right: Known) -> Known:
    """left @ right"""
    if not isinstance(left, Elements) or not isinstance(right, Elements) or left.is_list or right.is_list:
        return None
    of, rank = promote(left.type, right.type), left.rank + right.rank - 2
    if max(left.rank, right.rank) > 2 or not of.dtype.is_inexact:
        return None
    return Elements(of, rank) if rank else Number(of)


def _literal(node: ast.expr) -> int | float | complex | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float, complex)) else None


def _power(base: Number, exponent: Number, operand: ast.expr, constant: bool) -> Known:
    """Python's own power: of which type it is depends on the numbers, but for the usual literals."""
    literal = _literal(operand)
    if isinstance(literal, int) and literal >= 0:
        return Number(base.type if base.type != PYBOOL else INT, constant)
    return None


def _of_arrays(parts: Sequence[Known], compute: Any) -> Known:
    """The array that an element-wise operation gives."""
    if not all(isinstance(part, (Number, Elements)) for part in parts):
        return None
    if any(isinstance(part, Elements) and part.is_list for part in parts):
        return None
    rank = max(part.rank for part in parts if isinstance(part, Elements))
    samples = [Read("", (), part.type) for part in parts if isinstance(part, (Number, Elements))]
    return Elements(compute(samples).strong, rank)


def _entries(name: str, base: Entries) -> Known:
    """base.name()"""
    runs = {"keys": base.key, "values": base.item, "items": Several((base.key, base.item))}
    return Run(runs[name]) if name in runs else None


def _folded(name: str, array: Elements) -> Known:
    """array.name()"""
    if name == "copy" and not array.is_list:
        return array
    of_floats = array.type.dtype.is_inexact and not array.is_list
    return Number(array.type.strong) if name in _FOLDS and of_floats else None


def _called(thing: Any, arguments: Sequence[Known]) -> Known:
    """thing(*arguments) of a function that is not the user's."""
    numbers = [part for part in arguments if isinstance(part, Number)]
    constant = all(part.constant for part in numbers)
    first = arguments[0] if arguments else None
    if thing is len and isinstance(first, Elements):
        return Number(INT, True)
    if isinstance(thing, np.ufunc) and thing.__name__ in _UFUNCS and len(arguments) == thing.nin:
        name = _UFUNCS[thing.__name__]
        if len(numbers) == len(arguments):
            return Number(arith.function(name, tuple(part.sample for part in numbers), _PLACE).type.strong, constant)
        return _of_arrays(arguments, lambda parts: arith.function(name, tuple(parts), _PLACE).type)
    if is_of_numpy(thing) and not isinstance(thing, type) and len(arguments) == 1 and isinstance(first, Elements):
        return _folded(thing.__name__, first)
    if thing is zip or (thing is enumerate and len(arguments) == 1):
        items = tuple(map(_item, arguments))
        return Run(Several(items if thing is zip else (Number(INT), *items)))
    if len(numbers) < len(arguments) or not numbers:
        return None
    if thing in (range, prange):
        return Run(Number(INT))
    if getattr(thing, "__module__", "") == "math":
        of = INT if thing.__name__ in _WHOLE else PYBOOL if thing.__name__ in _TESTS else FLOAT
        return None if thing.__name__ in ("modf", "frexp", "prod", "sumprod") else Number(of, constant)
    if thing in (max, min) and len(numbers) > 1:
        of = numbers[0].type
        for part in numbers[1:]:
            of = promote(of, part.type)
        return Number(of, constant)
    if len(numbers) > 1:
        return None
    return _converted(thing, numbers[0])


def _converted(thing: Any, number: Number) -> Known:
    """int(number) and the like"""
    python = {int: INT, float: FLOAT, complex: COMPLEX, bool: PYBOOL}
    if isinstance(thing, type) and thing in python:
        return Number(python[thing], number.constant)
    if thing is abs:
        return Number(arith.unary("abs", number.sample, _PLACE).type, number.constant)
    if isinstance(thing, type) and issubclass(thing, np.generic):
        dtype = from_numpy(np.dtype(thing))
        return None if dtype is None else Number(ScalarType(dtype), number.constant)
    return None
