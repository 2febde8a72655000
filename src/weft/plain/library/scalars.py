"""Builtin functions of numbers and strings: int(), round(), ord(), len() and their like."""

from __future__ import annotations

from typing import Any, Final

from weft.plain import attributes, calls, operators, wide
from weft.plain.builtin import by_python, called_back, native
from weft.plain.frame import Frame, Value
from weft.plain.library import callbacks
from weft.plain.types import NUMPY_SCALARS, scalar_node
from weft.plain.values import as_int, exactly, given, left_out

# --- numbers and other small ones ----------------------------------------


@native(len)
def _len(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import lengths

    exactly(cx, "len", arguments, keywords, 1)

    def one(x: Value) -> Value | None:
        if x.head().kind == "obj":
            function = attributes.method_of(cx, x.head(), "__len__")
            return None if function is None else lengths.own_length(cx, function, x)
        return lengths.length(cx, x)

    return cx.cases([arguments[0]], one, "len")


@native(abs)
def _abs(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import arrays, complexes, numpy_scalars

    exactly(cx, "abs", arguments, keywords, 1)

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        if kind == "complex":
            return complexes.magnitude(cx, x)
        if kind == "py":
            return callbacks.special_method(cx, x, "__abs__")
        if kind == "ndarray":
            return arrays.unary(cx, "Abs", x)
        if kind in NUMPY_SCALARS:
            return numpy_scalars.unary(cx, "Abs", x)
        if kind == "big":
            return called_back(cx, abs, [x], wide.any_whole())
        if kind in ("int", "bool"):
            return cx.scalar("int", f"{x.code} < 0 ? wp_sub_ii(0, {x.code}, {cx.line}) : {x.code}")
        if kind == "float":
            return cx.scalar("float", f"__builtin_fabs({x.code})")
        if kind == "obj":
            function = attributes.method_of(cx, x.head(), "__abs__")
            return None if function is None else calls.call_function(cx, function, [x])
        return None

    return cx.cases([arguments[0]], one, "abs")


@native(bool)
def _bool(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "bool", arguments, keywords, 0, 1)
    return cx.scalar("bool", operators.truth(cx, arguments[0])) if arguments else cx.literal("bool", "0")


@native(int)
def _int(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    if keywords.keys() == {"base"} and len(arguments) == 1:
        arguments, keywords = [*arguments, keywords["base"]], {}
    exactly(cx, "int", arguments, keywords, 0, 2)
    if not arguments:
        return cx.literal("int", "0LL")
    base = as_int(cx, arguments[1], "a base").code if len(arguments) > 1 else "10"

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        if wide.may_be_wide(cx) and kind in ("str", "float"):
            operands = [x, cx.literal("int", base)] if len(arguments) > 1 else [x]
            return called_back(cx, int, operands, wide.any_whole())
        if kind == "big" and len(arguments) == 1:
            return x
        if kind == "py" and len(arguments) == 1:
            return callbacks.special_method(cx, x, "__int__")
        if kind in ("bytes", "bytearray"):
            raise cx.refuse("`int` of bytes")
        if kind == "str":
            return cx.scalar("int", f"wp_int_of_str({x.code}, {base}, {cx.line})", check=True)
        if len(arguments) > 1:
            return None
        if kind in ("int", "bool"):
            return cx.scalar("int", x.code)
        if kind == "float" or kind in ("np.float32", "np.float64"):
            return cx.scalar("int", f"wp_int_of_d({operators.payload(x)}, {cx.line})", check=True)
        if kind in NUMPY_SCALARS:
            return cx.scalar("int", operators.payload(x))
        if kind == "obj":
            function = attributes.method_of(cx, x.head(), "__int__")
            return None if function is None else calls.call_special(cx, function, [x], "int", "big")
        return None

    return cx.cases([arguments[0]], one, "int")


@native(float)
def _float(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value

    exactly(cx, "float", arguments, keywords, 0, 1)
    if not arguments:
        return cx.literal("float", "0.0")

    def one(x: Value) -> Value | None:
        kind = x.head().kind
        if kind == "str" and x.text is not None and x.text.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
            return python_value(cx, float(x.text))
        if kind == "str":
            return cx.scalar("float", f"wp_float_of_str({x.code}, {cx.line})", check=True)
        if kind == "py":
            return callbacks.special_method(cx, x, "__float__")
        if kind in ("bytes", "bytearray"):
            raise cx.refuse("`float` of bytes")
        if kind == "big":
            return called_back(cx, float, [x], scalar_node("float"))
        if kind in ("int", "bool", "float") or kind in NUMPY_SCALARS:
            return cx.scalar("float", operators.as_float(cx, x))
        if kind == "obj":
            function = attributes.method_of(cx, x.head(), "__float__")
            return None if function is None else calls.call_special(cx, function, [x], "float")
        return None

    return cx.cases([arguments[0]], one, "float")


@native(str)
def _str(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value
    from weft.plain.values import texts

    exactly(cx, "str", arguments, keywords, 0, 1)
    return texts.as_str(cx, arguments[0]) if arguments else python_value(cx, "")


@native(repr)
def _repr(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import texts

    exactly(cx, "repr", arguments, keywords, 1)
    return texts.as_repr(cx, arguments[0])


@native(format)
def _format(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import formats, texts

    exactly(cx, "format", arguments, keywords, 1, 2)
    spec = texts.a_text(cx, arguments[1], "format") if len(arguments) > 1 else None
    return formats.formatted(cx, arguments[0], spec, 0)


@native(ord)
def _ord(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "ord", arguments, keywords, 1)

    def one(x: Value) -> Value | None:
        if x.head().kind == "str":
            return cx.scalar("int", f"wp_str_ord({x.code}, {cx.line})", check=True)
        return called_back(cx, ord, [x], scalar_node("int")) if x.head().kind in ("bytes", "bytearray") else None

    return cx.cases(arguments, one, "ord")


@native(chr)
def _chr(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "chr", arguments, keywords, 1)
    code = as_int(cx, arguments[0], "a code point").code
    with cx.block(f"if (WP_UNLIKELY((uint64_t){code} > 0x10FFFF))"):
        cx.raises("WP_VALUE_ERROR", "chr() arg not in range(0x110000)")
    return cx.scalar("str", f"wp_str_char((uint32_t){code})")


@native(round)
def _round(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "round", arguments, keywords, 1, 2)
    if len(arguments) == 2:
        return cx.cases(arguments, lambda x, d: _rounded(cx, x, None if d.kinds() == {"none"} else d), "round")
    return cx.cases(arguments, lambda x: _rounded(cx, x, None), "round")


def _rounded(cx: Frame, x: Value, digits: Value | None) -> Value | None:
    """round(x), or round(x, digits), of one kind each."""
    kind = x.head().kind
    if kind in ("int", "bool"):
        if digits is None:
            return cx.scalar("int", x.code)
        return cx.scalar("int", f"wp_round_in({x.code}, {as_int(cx, digits, 'digits').code}, {cx.line})")
    if kind == "py":
        return callbacks.rounded(cx, x, digits)
    if kind == "big" and digits is None:
        return x
    if kind == "float":
        if digits is None and wide.may_be_wide(cx):
            return called_back(cx, round, [x], wide.any_whole())
        if digits is None:
            return cx.scalar("int", f"wp_round_d({x.code}, {cx.line})", check=True)
        return cx.scalar("float", f"wp_round_dn({x.code}, {as_int(cx, digits, 'digits').code})", check=True)
    if kind == "np.float64" and digits is None:
        return cx.scalar("int", f"wp_round_d({operators.payload(x)}, {cx.line})", check=True)
    function = attributes.method_of(cx, x.head(), "__round__") if kind == "obj" else None
    return None if function is None else calls.call_function(cx, function, [x] if digits is None else [x, digits])


@native(divmod)
def _divmod(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "divmod", arguments, keywords, 2)
    if "obj" in arguments[0].kinds() | arguments[1].kinds():
        return cx.cases(arguments, lambda a, b: _divmod_of_object(cx, a, b), "divmod")
    if "float" in arguments[0].kinds() | arguments[1].kinds():
        cx.cases(arguments, lambda a, b: _divmod_by_zero(cx, a, b), "divmod by zero")
    quotient = operators.binary(cx, "FloorDiv", arguments[0], arguments[1])
    rest = operators.binary(cx, "Mod", arguments[0], arguments[1])
    return operators.make_tuple(cx, [quotient, rest], "divmod")


def _divmod_by_zero(cx: Frame, a: Value, b: Value) -> Value:
    """Of floats it has a message of its own."""
    kinds = {a.head().kind, b.head().kind}
    if "float" in kinds and kinds <= {"int", "bool", "float"}:
        with cx.block(f"if (WP_UNLIKELY({operators.as_float(cx, b)} == 0))"):
            cx.raises("WP_ZERO_DIVISION")
    return cx.none


def _divmod_of_object(cx: Frame, a: Value, b: Value) -> Value | None:
    """divmod(a, b), which is neither // nor % of an object, but a method of its own."""
    if a.head().kind != "obj":
        raise cx.refuse("`divmod` by an object")
    function = attributes.method_of(cx, a.head(), "__divmod__")
    if function is None:
        return None
    return calls.call_function(cx, function, [a, b])


@native(pow)
def _pow(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    base, exponent, modulus = given(cx, "pow", arguments, keywords, "base exp mod", 2)
    assert base is not None and exponent is not None
    if modulus is not None and not left_out(cx, modulus, "a modulus"):
        if "big" in base.kinds() | exponent.kinds() | modulus.kinds():
            return called_back(cx, pow, [base, exponent, modulus], wide.any_whole())
        codes = ", ".join(as_int(cx, v, "an operand of pow").code for v in (base, exponent, modulus))
        return cx.scalar("int", f"wp_pow_mod({codes}, {cx.line})", check=True)
    return operators.binary(cx, "Pow", base, exponent)


@native(hash)
def _hash(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import generated
    from weft.plain.values.dicts import hashable

    exactly(cx, "hash", arguments, keywords, 1)
    hashable(cx, arguments[0])
    if all(h.kind == "obj" and generated.defines_equality(h.key[1].cls) for h in arguments[0].node):
        return cx.cases([arguments[0]], lambda x: generated.hashed(cx, x), "hash")
    if arguments[0].kinds() & {"obj", "closure", "generator", "const", "none"}:
        raise cx.refuse(f"`hash` of a value of type {arguments[0].node!r}")
    return cx.scalar("int", f"wp_hash({cx.tagged(arguments[0])})", check=True)


@native(callable)
def _callable(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:

    exactly(cx, "callable", arguments, keywords, 1)

    def one(x: Value) -> Value:
        head = x.head()
        yes = head.kind in ("closure", "method") or (head.kind == "const" and callable(head.value))
        yes = yes or (head.kind == "obj" and attributes.method_of(cx, head, "__call__") is not None)
        return cx.literal("bool", "1" if yes else "0")

    return cx.cases([arguments[0]], one, "callable")


_BY_PYTHON: Final = {bin: "str", hex: "str", oct: "str", ascii: "str"}


def _register_python() -> None:
    for callee, kind in _BY_PYTHON.items():

        def run(
            cx: Frame, arguments: list[Any], keywords: dict[str, Value], callee: Any = callee, kind: str = kind
        ) -> Value:
            exactly(cx, callee.__name__, arguments, keywords, 1)
            if arguments[0].kinds() - {"int", "float", "str", "bool", "big"}:
                raise cx.refuse(f"`{callee.__name__}` of a value of type {arguments[0].node!r}")
            return by_python(cx, callee, arguments, kind)

        native(callee)(run)


_register_python()
