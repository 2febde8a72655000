"""Operators on values.  In: values of any kinds; out: the value of the operation, as Python defines it for these kinds.

Numbers are computed inline. What classes define (`__add__`, ...) is called. Everything else is the business of the
value's own module.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Final

from weft.plain import wide
from weft.plain.frame import OPAQUE, Frame, Value
from weft.plain.types import DICTS, NUMPY_SCALARS, Head, Node, representation

NUMBERS: Final = frozenset(("int", "float", "bool"))
WHOLE: Final = frozenset(("int", "bool"))

SYMBOLS: Final = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "_",
    "Mod": "%",
    "Pow": "^",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "x",
    "LShift": "<",
    "RShift": ">",
    "MatMult": "@",
}
METHODS: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "LShift": "lshift",
    "RShift": "rshift",
    "MatMult": "matmul",
}
COMPARISONS: Final = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
COMPARE_METHODS: Final = {
    "Eq": "__eq__",
    "NotEq": "__ne__",
    "Lt": "__lt__",
    "LtE": "__le__",
    "Gt": "__gt__",
    "GtE": "__ge__",
}
MIRRORED: Final = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}


# --- arithmetic ----------------------------------------


def binary(cx: Frame, op: str, left: Value, right: Value, exponent: int | None = None, in_place: bool = False) -> Value:
    """left op right; `exponent`: the right operand where it is an integer constant; `in_place`: `left op= right`."""
    kinds = left.kinds() | right.kinds()
    if not kinds.isdisjoint(NUMPY_SCALARS):
        from weft.plain.values import numpy_scalars

        found = numpy_scalars.uniform(cx, op, left, right)
        if found is not None:
            return found
    if "big" in kinds and kinds <= wide.WHOLE:
        found = wide.binary(cx, op, left, right, exponent)
        if found is not None:
            return found
    if kinds <= NUMBERS and kinds and not wide.may_be_wide(cx) and (len(left.node) > 1 or len(right.node) > 1):
        return _mixed(cx, op, left, right, exponent)

    def one(a: Value, b: Value) -> Value | None:
        found = _single(cx, op, a, b, exponent, in_place)
        if found is None:
            _refuse_what_python_takes(cx, METHODS[op], in_place, a, b)
        return found

    return cx.cases([left, right], one, ("binary", op))


def _refuse_what_python_takes(cx: Frame, name: str, in_place: bool, *operands: Value) -> None:
    """Without a native form an operator raises TypeError only where Python does, for samples of these kinds."""
    from weft.plain import builtin

    classes = [builtin.class_of(operand.head()) for operand in operands]
    if all(isinstance(cls, type) and cls in builtin.SAMPLED for cls in classes):
        if _takes(f"i{name}" if in_place else name, *classes):
            texts = " and ".join(cls.__name__ for cls in classes)
            raise cx.refuse(f"`{name}` of values of type {texts}")


@functools.cache
def _takes(name: str, *classes: type) -> bool:
    function = getattr(operator, name, None) or getattr(operator, f"{name}_")
    try:
        function(*(1 if cls is int else cls() for cls in classes))
    except TypeError:
        return False
    return True


def _mixed(cx: Frame, op: str, left: Value, right: Value, exponent: int | None) -> Value:
    """Numbers whose kinds are only known at run time: exact types are kept by a tag."""
    result = cx.site(("mixed", op))
    for a in left.kinds():
        for b in right.kinds():
            kind = _number_kind(op, a, b, exponent)
            if kind is not None:
                cx.flow(cx.literal(kind, "0"), result)
    if not len(result):
        cx.raises("WP_TYPE_ERROR")
        return Value(result, "0")
    if op in ("BitAnd", "BitOr", "BitXor", "LShift", "RShift"):
        return cx.cases([left, right], lambda a, b: _numbers(cx, op, a, b, exponent), ("bits", op))
    code = f"wp_mixed({ord(SYMBOLS[op])}, {cx.tagged(left)}, {cx.tagged(right)}, {cx.line})"
    found = cx.temporary("v", code)
    cx.check()
    whole = Value(_any_number(), found)
    return cx.make(result, cx.as_repr(whole, representation(result)))


def _any_number() -> Node:
    from weft.plain.types import scalar_node

    return scalar_node("int", "float", "bool")


def _number_kind(op: str, a: str, b: str, exponent: int | None) -> str | None:
    whole = a in WHOLE and b in WHOLE
    if op in ("BitAnd", "BitOr", "BitXor"):
        return ("bool" if a == b == "bool" else "int") if whole else None
    if op in ("LShift", "RShift"):
        return "int" if whole else None
    if op == "Div":
        return "float"
    if op == "Pow":
        return ("float" if exponent is not None and exponent < 0 else "int") if whole else "float"
    if op == "MatMult":
        return None
    return "int" if whole else "float"


def payload(value: Value) -> str:
    """The C number of a number: of a tagged one without its tag."""
    if value.repr != "v":
        return value.code
    floats = value.kinds() <= {"float", "np.float32", "np.float64"}
    return f"({value.code}).u.{'d' if floats else 'i'}"


def as_float(cx: Frame, value: Value) -> str:
    return value.code if value.repr == "d" else f"(double){payload(value)}"


def _numbers(cx: Frame, op: str, a: Value, b: Value, exponent: int | None) -> Value | None:
    """Two numbers of known kinds."""
    x, y = a.head().kind, b.head().kind
    kind = _number_kind(op, x, y, exponent)
    if kind is None:
        return None
    p, q, at = a.code, b.code, cx.line
    if kind == "bool":
        return cx.scalar("bool", f"{p} {SYMBOLS[op] if op != 'BitXor' else '^'} {q}")
    if kind == "int" and wide.may_be_wide(cx) and op in ("Add", "Sub", "Mult", "Pow", "LShift"):
        return wide.binary(cx, op, a, b, exponent)
    if kind == "int":
        if op in ("BitAnd", "BitOr", "BitXor"):
            return cx.scalar("int", f"{p} {SYMBOLS[op] if op != 'BitXor' else '^'} {q}")
        if op == "Pow" and exponent == 2:
            return cx.scalar("int", f"wp_mul_ii({p}, {p}, {at})")
        name = {
            "Add": "add",
            "Sub": "sub",
            "Mult": "mul",
            "FloorDiv": "floordiv",
            "Mod": "mod",
            "Pow": "pow",
            "LShift": "shl",
            "RShift": "shr",
        }[op]
        return cx.scalar("int", f"wp_{name}_ii({p}, {q}, {at})", check=op in ("FloorDiv", "Mod", "LShift", "RShift"))
    if op == "Div" and x in WHOLE and y in WHOLE:
        return cx.scalar("float", f"wp_div_ii({p}, {q}, {at})", check=True)
    if op == "Pow" and x in WHOLE and y in WHOLE:  # a negative constant exponent
        return cx.scalar("float", f"wp_pow_dd({as_float(cx, a)}, {as_float(cx, b)}, {at})", check=True)
    # An integer beyond 2**53 is rounded by the conversion as CPython rounds it.
    u, v = as_float(cx, a), as_float(cx, b)
    if op in ("Add", "Sub", "Mult"):
        if op == "Sub":  # not as it stands: gcc takes 0.0 - (double)i for -(double)i, which is -0.0 where i is 0
            return cx.scalar("float", f"wp_sub_dd({u}, {v})")
        return cx.scalar("float", f"{u} {SYMBOLS[op]} {v}")
    if op == "Div":
        return cx.scalar("float", f"wp_div_dd({u}, {v}, {at})", check=True)
    name = {"FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow"}[op]
    return cx.scalar("float", f"wp_{name}_dd({u}, {v}, {at})", check=True)


def _single(cx: Frame, op: str, a: Value, b: Value, exponent: int | None, in_place: bool) -> Value | None:
    """Operands of one kind each."""
    from weft.plain.values import arrays, bytearrays, complexes, dicts, numpy_scalars, sequences, sets, texts

    x, y = a.head(), b.head()
    if x.kind in NUMBERS and y.kind in NUMBERS:
        return _numbers(cx, op, a, b, exponent)
    if "obj" in (x.kind, y.kind) and not (op == "Mod" and x.kind == "str"):
        found = _by_method(cx, op, a, b, in_place)
        extends = found is None and in_place and op == "Add" and x.kind == "list"
        return sequences.binary(cx, op, a, b, in_place) if extends else found
    if "complex" in (x.kind, y.kind) and {x.kind, y.kind} <= NUMBERS | {"complex"}:
        return complexes.binary(cx, op, a, b)
    if x.kind == "ndarray" or y.kind == "ndarray":
        return arrays.binary(cx, op, a, b, exponent, in_place)
    if x.kind in NUMPY_SCALARS or y.kind in NUMPY_SCALARS:
        return numpy_scalars.binary(cx, op, a, b)
    if (x.kind in OPAQUE or y.kind in OPAQUE) and x.kind != "str":
        return _with_opaque(cx, op, a, b, exponent)
    if x.kind in ("set", "frozenset") and y.kind in ("set", "frozenset"):
        return sets.binary(cx, op, a, b, in_place)
    if x.kind == "view" or y.kind == "view":
        return dicts.view_binary(cx, op, a, b)
    if x.kind in DICTS and y.kind in DICTS:
        return dicts.binary(cx, op, a, b, in_place)
    if "bytearray" in (x.kind, y.kind):
        return bytearrays.binary(cx, op, a, b, in_place)
    if x.kind in ("str", "bytes"):
        return texts.binary(cx, op, a, b)
    return sequences.binary(cx, op, a, b, in_place)


def _with_opaque(cx: Frame, op: str, a: Value, b: Value, exponent: int | None) -> Value | None:
    from weft.plain.library import callbacks

    kinds = {a.head().kind, b.head().kind}
    if "py" in kinds:
        return callbacks.binary(cx, op, a, b)
    if kinds <= wide.WHOLE:
        return wide.binary(cx, op, a, b, exponent)
    if kinds == {"big", "float"} and op in ("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow"):
        return wide.with_float(cx, op, a, b)
    return None


def _by_method(cx: Frame, op: str, a: Value, b: Value, in_place: bool) -> Value | None:
    """What classes define: `__iadd__`, `__add__`, and the other operand's `__radd__`."""
    from weft.plain import attributes

    name = METHODS[op]
    tries = [(a, f"__i{name}__", b)] if in_place else []
    tries += [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
    for owner, method, other in tries:
        if owner.head().kind != "obj":
            continue
        function = attributes.method_of(cx, owner.head(), method)
        if function is not None:
            found = answer(cx, function, owner, other)
            if found is not None:
                return found
    return None


def is_declined(node: Node) -> bool:
    """Whether a special method may leave an operation to the other operand."""
    return any(head.kind == "const" and head.value is NotImplemented for head in node)


def answer(cx: Frame, function: Any, owner: Value, other: Value) -> Value | None:
    """What a special method of two operands gives; None where it declines, as its types tell.

    Where only the values tell, Python does what follows from it.
    """
    from weft.plain import calls

    found = calls.call_function(cx, function, [owner, other])
    if not is_declined(found.node):
        return found
    if len(found.node) == 1:
        return None

    def given(x: Value) -> Value:
        if is_declined(x.node):
            raise cx.refuse("`NotImplemented` as a result")
        return x

    return cx.cases([found], given, "declined")


def unary(cx: Frame, op: str, a: Value) -> Value:
    def one(x: Value) -> Value | None:
        found = _unary(cx, op, x)
        if found is None:
            _refuse_what_python_takes(cx, {"USub": "neg", "UAdd": "pos", "Invert": "invert"}[op], False, x)
        return found

    return cx.cases([a], one, ("unary", op))


def _unary(cx: Frame, op: str, a: Value) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.values import arrays, numpy_scalars

    kind = a.head().kind
    if kind == "ndarray":
        return arrays.unary(cx, op, a)
    if kind in NUMPY_SCALARS:
        return numpy_scalars.unary(cx, op, a)
    if kind == "big" or (op == "USub" and kind in WHOLE and wide.may_be_wide(cx)):
        if op == "UAdd":
            return a
        return wide.binary(cx, "Sub", cx.literal("int", "0LL" if op == "USub" else "(-1LL)"), a, None)
    if kind in WHOLE:
        if op == "USub":
            return cx.scalar("int", f"wp_sub_ii(0, {a.code}, {cx.line})")
        return cx.scalar("int", a.code if op == "UAdd" else f"~{a.code}")
    if kind == "float" and op != "Invert":
        return cx.scalar("float", f"-{a.code}" if op == "USub" else a.code)
    if kind == "complex" and op != "Invert":
        from weft.plain.values import complexes

        return a if op == "UAdd" else complexes.negated(cx, a)
    name = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}[op]
    if kind == "py":
        from weft.plain.library import callbacks

        return callbacks.special_method(cx, a, name)
    if kind == "obj":
        function = attributes.method_of(cx, a.head(), name)
        if function is not None:
            return calls.call_function(cx, function, [a])
    return None


# --- truth ----------------------------------------


def truth(cx: Frame, a: Value) -> str:
    """bool(a) as C."""
    if a.kinds() == {"bool"} or not len(a.node):
        return a.code if len(a.node) else "0"
    if a.kinds() == {"bool", "np.bool"}:
        return payload(a)
    found = cx.cases([a], lambda x: _truth(cx, x), "truth")
    return found.code


def _truth(cx: Frame, a: Value) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.values import lengths

    head = a.head()
    kind = head.kind
    if kind in NUMBERS:
        return cx.scalar("bool", f"{a.code} != 0")
    if kind in NUMPY_SCALARS:
        return cx.scalar("bool", f"{payload(a)} != 0")
    if kind == "ndarray":
        raise cx.refuse("the truth of an array", "use .any() or .all()")
    if kind == "none":
        return cx.literal("bool", "0")
    if kind in OPAQUE or kind == "complex":
        return cx.scalar("bool", f"wp_truth({cx.tagged(a)})", check=True)
    if kind == "obj":
        function = attributes.method_of(cx, head, "__bool__")
        if function is not None:
            return cx.settled(calls.call_special(cx, function, [a], "bool"), "bool")
        function = attributes.method_of(cx, head, "__len__")
        if function is not None:
            return cx.scalar("bool", f"{lengths.own_length(cx, function, a).code} != 0")
        return cx.literal("bool", "1")
    length = lengths.length(cx, a)
    return cx.literal("bool", "1") if length is None else cx.scalar("bool", f"{length.code} != 0")


# --- comparisons ----------------------------------------


def compare(cx: Frame, op: str, left: Value, right: Value) -> Value:
    if op in ("Is", "IsNot"):
        return _identity(cx, op, left, right)
    if op in ("In", "NotIn"):
        found = cx.cases([right], lambda container: _contains(cx, left, container), ("in", op))
        return found if op == "In" else cx.scalar("bool", f"!({truth(cx, found)})")
    kinds = left.kinds() | right.kinds()
    numpy = "ndarray" in kinds or not kinds.isdisjoint(NUMPY_SCALARS)
    if numpy:
        from weft.plain.values import numpy_scalars

        found_uniform = numpy_scalars.uniform(cx, op, left, right)
        if found_uniform is not None:
            return found_uniform
    is_known = len(left.node) > 0 and len(right.node) > 0  # else it may be an array, whose comparison is no bool
    if op in ("Eq", "NotEq") and is_known and not numpy and not _has_objects(left, right):
        test = equal(cx, left, right)
        return cx.scalar("bool", test if op == "Eq" else f"!({test})")
    return cx.cases([left, right], lambda a, b: _compare(cx, op, a, b), ("compare", op))


def _has_objects(*values: Value) -> bool:
    return any(head.kind == "obj" for value in values for head in value.node)


def equal(cx: Frame, left: Value, right: Value) -> str:
    """left == right as C, of values that are no objects of classes."""
    a, b = left.node.only(), right.node.only()
    if a is not None and b is not None:
        if a.kind in NUMBERS and b.kind in NUMBERS:
            return _number_test(cx, "Eq", left, right)
        if a.kind == b.kind == "str":
            return cx.temporary("b", f"wp_str_equal({left.code}, {right.code})")
        if a.kind == "none" or b.kind == "none":
            return "1" if a.kind == b.kind else "0"
    from weft.plain import generated

    generated.prepare(cx, left.node, right.node)
    test = cx.temporary("b", f"wp_equal({cx.tagged(left)}, {cx.tagged(right)})")
    cx.check()
    return test


def _number_test(cx: Frame, op: str, a: Value, b: Value) -> str:
    symbol = COMPARISONS[op]
    if (a.repr == "d" and b.repr == "d") or (a.repr != "d" and b.repr != "d"):
        return f"({a.code} {symbol} {b.code})"
    # An int against a float is compared exactly; 2 stands for NaN, which is unequal and in no order.
    if a.repr == "d":
        test = cx.temporary("b", f"wp_compare_id({b.code}, {a.code})")
        return {
            "==": f"({test} == 0)",
            "!=": f"({test} != 0)",
            "<": f"({test} == 1)",
            "<=": f"({test} == 1 || {test} == 0)",
            ">": f"({test} == -1)",
            ">=": f"({test} == -1 || {test} == 0)",
        }[symbol]
    test = cx.temporary("b", f"wp_compare_id({a.code}, {b.code})")
    return {
        "==": f"({test} == 0)",
        "!=": f"({test} != 0)",
        "<": f"({test} == -1)",
        "<=": f"({test} <= 0)",
        ">": f"({test} == 1)",
        ">=": f"({test} == 1 || {test} == 0)",
    }[symbol]


_ORDERED: Final = frozenset(("list", "tuple", "vtuple", "bytes"))
#: Kinds that have an order in Python, and none here.
_ORDERED_BY_PYTHON: Final = frozenset(("Counter", "deque", "bytearray", "view", "const"))


def _compare(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    from weft.plain.values import arrays, numpy_scalars, sets

    x, y = a.head().kind, b.head().kind
    if x in NUMBERS and y in NUMBERS:
        return cx.scalar("bool", _number_test(cx, op, a, b))
    if x == "obj" or y == "obj":
        return _compare_objects(cx, op, a, b)
    if x == "ndarray" or y == "ndarray":
        return arrays.binary(cx, op, a, b, None, False)
    if x in NUMPY_SCALARS or y in NUMPY_SCALARS:
        return numpy_scalars.binary(cx, op, a, b)
    if op in ("Eq", "NotEq"):
        test = equal(cx, a, b)
        return cx.scalar("bool", test if op == "Eq" else f"!({test})")
    if x in OPAQUE or y in OPAQUE:
        return wide.compared(cx, op, a, b)
    if x == y == "str":
        return cx.scalar("bool", f"wp_str_compare({a.code}, {b.code}) {COMPARISONS[op]} 0")
    if x in ("set", "frozenset") and y in ("set", "frozenset"):
        return sets.ordered(cx, op, a, b)
    if x in _ORDERED and (x == y or {x, y} == {"tuple", "vtuple"}):
        if (
            (x == y == "tuple" and max(len(a.head().parts), len(b.head().parts)) <= 6)
            or holds_objects(a.node)
            or holds_objects(b.node)
        ):
            return _lexicographic(cx, op, a, b)
        if holds_numpy(a.node) or holds_numpy(b.node):
            raise cx.refuse(f"an order of values of type {a.node!r}, which is of NumPy's type")
        first, second = (a, b) if op in ("Lt", "GtE") else (b, a)
        less = cx.scalar("bool", f"wp_less({cx.tagged(first)}, {cx.tagged(second)})", check=True)
        return less if op in ("Lt", "Gt") else cx.scalar("bool", f"!{less.code}")
    if x in _ORDERED_BY_PYTHON or y in _ORDERED_BY_PYTHON:
        raise cx.refuse(f"an order of values of type {a.node!r} and {b.node!r}")
    return None


def _lexicographic(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """Short tuples, and tuples with objects in them: the first items that are not the same decide."""
    from weft.plain.builtin import function_for
    from weft.plain.models import primitives
    from weft.plain.values import sequences

    x, y = a.head(), b.head()
    if x.kind != "tuple" or y.kind != "tuple" or op not in ("Lt", "Gt", "LtE", "GtE"):
        raise cx.refuse("an order of lists that hold objects")
    result = cx.site(("ordered", op))  # what the deciding items give: a bool, or NumPy's
    cx.flow(cx.literal("bool", "0"), result)
    name = cx.declared(representation(result)) if cx.emitting else "0"
    done = cx.label("ordered")
    for place in range(min(len(x.parts), len(y.parts))):
        p, q = sequences.tuple_item(cx, a, place), sequences.tuple_item(cx, b, place)
        with cx.inside(place):
            same = function_for(primitives.same)(cx, [p, q], {})  # type: ignore[misc]
            assert same is not None
            with cx.block(f"if (!({truth(cx, same)}))"):
                found = compare(cx, op, p, q)
                cx.flow(found, result)
                cx.write(f"{name} = {cx.as_node(found, result)};")
                cx.write(f"goto {done};")
    lengths = f"{len(x.parts)} {COMPARISONS[op]} {len(y.parts)}"
    cx.write(f"{name} = {cx.as_node(cx.literal('bool', f'({lengths})'), result)};")
    cx.write(f"{done}:;")
    return Value(result, name)


def holds_objects(node: Node, seen: frozenset[int] = frozenset()) -> bool:
    """Whether values of a type hold objects of classes that define how they compare."""
    for head in node:
        if head.kind == "obj" and not _plain_equality(head):
            return True
        if head.parts and id(head) not in seen:
            if any(holds_objects(part, seen | {id(head)}) for part in head.parts):
                return True
    return False


def holds_numpy(node: Node, seen: frozenset[int] = frozenset()) -> bool:
    """Whether values of a type hold NumPy's scalars or arrays."""
    for head in node:
        if head.kind == "ndarray" or head.kind in NUMPY_SCALARS:
            return True
        if id(head) not in seen and any(holds_numpy(part, seen | {id(head)}) for part in head.parts):
            return True
    return False


def _plain_equality(head: Head) -> bool:
    cls = head.key[1].cls
    return all(getattr(cls, name) is getattr(object, name) for name in ("__eq__", "__lt__"))


def _compare_objects(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    from weft.plain import attributes, generated

    for owner, other, name in ((a, b, op), (b, a, MIRRORED[op])):
        if owner.head().kind != "obj":
            continue
        if _is_generated(owner.head(), name):
            found = generated.compare(cx, "Eq" if name == "NotEq" else name, owner, other)
            if found is not None:
                return found if name != "NotEq" else cx.scalar("bool", f"!({truth(cx, found)})")
            continue
        function = attributes.method_of(cx, owner.head(), COMPARE_METHODS[name])
        if function is not None:
            found = answer(cx, function, owner, other)
            if found is not None:
                return found
        elif name == "NotEq":
            inverse = attributes.method_of(cx, owner.head(), "__eq__")
            found = answer(cx, inverse, owner, other) if inverse is not None else None
            if found is not None:
                return cx.scalar("bool", f"!({truth(cx, found)})")
    if op in ("Eq", "NotEq"):
        same = "0" if a.head().kind != b.head().kind else f"({a.code} == {b.code})"
        return cx.scalar("bool", same if op == "Eq" else f"!{same}")
    return None


def _is_generated(head: Head, op: str) -> bool:
    """Whether a comparison is a generated method of a data class: it knows objects of the same class only."""
    from weft.plain import generated

    return generated.fields_of(head.key[1].cls, COMPARE_METHODS["Eq" if op == "NotEq" else op]) is not None


_NO_IDENTITY: Final = ("int", "float", "str", "bytes", "range", "big", "complex", *NUMPY_SCALARS)
#: Values that never change: Python gives back the one that there is for a constant, an empty one, a copy.
_TUPLES: Final = ("tuple", "vtuple")
_MAY_BE_SHARED: Final = (*_TUPLES, "frozenset")


def _identity(cx: Frame, op: str, a: Value, b: Value) -> Value:
    kinds, others = a.node.kinds(), b.node.kinds()
    tuples = not (kinds.isdisjoint(_TUPLES) or others.isdisjoint(_TUPLES))
    if tuples or not (kinds & others).isdisjoint((*_NO_IDENTITY, "frozenset")):
        found = cx.cases([a, b], lambda x, y: _same_value(cx, x, y), "is")
        return cx.scalar("bool", found.code if op == "Is" else f"!{found.code}")
    if ("none" in (x := a.kinds()) and len(x) == 1) or ("none" in (y := b.kinds()) and len(y) == 1):
        other = b if x == {"none"} else a
        if "none" not in other.kinds():
            test = "0"
        elif other.repr == "v" if cx.emitting else False:
            test = f"({other.code}.tag == WP_NONE)"
        else:
            test = f"({other.code} == 0)" if other.kinds() != {"none"} else "1"
    else:
        test = f"wp_is({cx.tagged(a)}, {cx.tagged(b)})"
    return cx.scalar("bool", test if op == "Is" else f"!{test}")


def _same_value(cx: Frame, a: Value, b: Value) -> Value:
    """`is` between values that native code copies: other values are other objects, small ints are the same one."""
    from weft.plain.values.lengths import length

    kind = a.head().kind
    if _may_be_shared(a.head()) and _may_be_shared(b.head()) and (kind in _TUPLES) == (b.head().kind in _TUPLES):
        one, other = length(cx, a), length(cx, b)
        if one is not None and other is not None:
            with cx.block(f"if ((void *){a.code} != (void *){b.code} && {one.code} == {other.code})"):
                cx.deoptimise("`is` between values that never change")
        return cx.scalar("bool", f"((void *){a.code} == (void *){b.code})")
    if kind != b.head().kind:
        return cx.scalar("bool", "0")
    if kind not in _NO_IDENTITY:
        return _identity(cx, "Is", a, b)
    if kind not in ("int", "float", "str", "bytes"):
        raise cx.refuse(f"`is` between values of type {kind}", "compare with == instead")
    if kind == "float":
        equal = cx.temporary("b", f"!({a.code} < {b.code} || {a.code} > {b.code})")  # a NaN may be the same one
    else:
        equal = cx.temporary("b", compare(cx, "Eq", a, b).code)
    small = f" && ({a.code} < -5 || {a.code} > 256)" if kind == "int" else ""
    with cx.block(f"if ({equal}{small})"):
        cx.deoptimise("`is` between equal values")
    return cx.scalar("bool", equal)


def _may_be_shared(head: Head) -> bool:
    """Whether two values of this kind that were made apart may be one object; named tuples are not."""
    return head.kind in _MAY_BE_SHARED and not (head.kind == "tuple" and head.key[2] is not None)


def _contains(cx: Frame, item: Value, container: Value) -> Value | None:
    from weft.plain import attributes, calls
    from weft.plain.values import arrays, dicts, sequences, sets, texts

    head = container.head()
    if head.kind == "ndarray":
        return arrays.contains(cx, container, item)
    if head.kind in DICTS:
        return dicts.contains(cx, container, item)
    if head.kind in ("set", "frozenset"):
        return sets.contains(cx, container, item)
    if head.kind in ("str", "bytes", "bytearray"):
        return texts.contains(cx, container, item)
    if head.kind == "obj":
        function = attributes.method_of(cx, head, "__contains__")
        if function is not None:
            return cx.scalar("bool", truth(cx, calls.call_function(cx, function, [container, item])))
    return sequences.contains(cx, container, item)


# --- making tuples and lists ----------------------------------------


def make_tuple(cx: Frame, items: list[Value], tag: Any, cls: type | None = None) -> Value:
    head = cx.new_head(tag, ("tuple", len(items), cls), len(items))
    made = cx.heap(head, f"wp_new({cx.type_of(head)})")
    for item, part, place in zip(items, head.parts, slots(cx, head)):
        cx.flow(item, part)
        cx.store(item, part, f"&((wp_record *){made.code})->value[{place}]")
    return made


def slots(cx: Frame, head: Head) -> list[int]:
    """Where the parts of a record begin, in words."""
    places, at = [], 0
    for part in head.root().parts:
        places.append(at)
        at += 2 if representation(part) == "v" else 1
    return places


def make_list(cx: Frame, items: list[Value], tag: Any, kind: str = "list") -> Value:
    head = cx.new_head(tag, (kind,), 1)
    count = len(items)
    made = cx.heap(head, f"wp_list_new({cx.type_of(head)}, {count}, {count})")
    letter = representation(head.part())
    for place, item in enumerate(items):
        cx.flow(item, head.part())
        if cx.emitting:
            from weft.plain.frame import C_TYPES

            cx.write(
                f"(({C_TYPES[letter]} *)((wp_list *){made.code})->data)[{place}] = {cx.as_node(item, head.part())};"
            )
    return made
