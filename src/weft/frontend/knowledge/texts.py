"""Functions and methods of strings and bytes.  In: calls; out: expressions over code points, or the definition of the
function in Python over `len` and single characters.

What CPython decides by tables of all of Unicode is decided here for Latin-1, or for ASCII; a character beyond hands the
call back to Python, as does every exception whose message shows a string.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated"
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from weft.errors import Unsupported
from weft.frontend import arith, reads
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.python import number
from weft.frontend.strings import among, concatenated, is_text, joined_texts, kept_text, new_text, single
from weft.frontend.textpool import LATIN
from weft.frontend.values import Object, Records, Rows, Scalar, Text, Tuple, Value, describe
from weft.frontend.writing import pick
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, integer
from weft.ir.types import BOOL, INT, PYBOOL

if TYPE_CHECKING:
    from weft.frontend.builder import Builder

_ASCII = 128
#: There are no spaces from here on.
SPACES = 0x3001

# --- what definitions are made of -----------------------------------------------------------------------------------


def code_at(text, place):
    """The code point at a place that is in range."""
    return ord(text[place])


@native(code_at, parameters="text place", name="code_at")
def _code_at(call: Bound) -> Value:
    place = call.need("place")
    assert isinstance(place, Scalar)
    # In a statement of its own: what follows `and` is only read if there is such a character.
    code = call.builder.code(call.builder.text(call.need("text")), place.expr)
    return Scalar(call.builder.emitter.snapshot(code, "code"))


def require(test):
    """What does not hold is left to Python."""
    assert test


@native(require, parameters="test", name="require")
def _require(call: Bound) -> Value:
    builder = call.builder
    test = builder.truth(call.need("test"), None)
    expr = Const(test, BOOL) if isinstance(test, bool) else arith.condition(test.expr)
    builder.emitter.hand_back(expr, "a string that only Python understands, or an exception that shows it")
    return Object(None)


def one_at(text, place):
    """The string of the one character at a place that is in range."""
    return text[place : place + 1]


@native(one_at, parameters="text place", name="one_at")
def _one_at(call: Bound) -> Value:
    code = _code_at(call)
    assert isinstance(code, Scalar)
    return single(call.builder.text(call.need("text")).kind, code.expr)


@native(ord, parameters="c")
def _ord(call: Bound) -> Value:
    builder = call.builder
    value = call.need("c")
    if not is_text(value):
        raise Unsupported(builder.emitter.span, f"TypeError: ord() of {describe(value)}")
    text = builder.text(value)
    if text.code is None:
        text = kept_text(builder, text, "text")
        message = "ord() expected a character, but string of length {0} found"
        builder.emitter.check(Op("eq", (text.length, ONE), BOOL), "TypeError", message, (text.length,))
    return Scalar(builder.code(text, ZERO))


@native(chr, parameters="i")
def _chr(call: Bound) -> Value:
    emitter = call.builder.emitter
    expr = number(call, "i")
    if expr.type.dtype.kind not in "iu" and expr.type != PYBOOL:
        raise Unsupported(emitter.span, f"TypeError: chr() of {expr.type}")
    code = emitter.snapshot(arith.cast(expr, INT), "code")
    inside = arith.conjunction(Op("ge", (code, ZERO), BOOL), Op("lt", (code, integer(0x110000)), BOOL))
    emitter.check(inside, "ValueError", "chr() arg not in range(0x110000)")
    return single("str", code)


# --- classes of characters ------------------------------------------------------------------------------------------

#: Methods that ask whether every character is of a class.
_CLASSES = ("isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace", "isupper", "islower", "isprintable")


def in_class(builder: Builder, kind: str, code: Expr, name: str) -> Expr:
    """Whether a character is of a class: exact for Latin-1, the rest is left to Python; spaces are known everywhere."""
    if kind == "str" and name == "isspace":
        return among(builder.emitter.snapshot(code, "code"), [point for point in range(SPACES) if chr(point).isspace()])
    if kind == "str":
        code = builder.emitter.snapshot(code, "code")
        known = Op("lt", (code, integer(LATIN)), BOOL)
        builder.emitter.hand_back(known, "a character beyond Latin-1 whose class only Python knows")
        return among(code, [point for point in range(LATIN) if getattr(chr(point), name)()])
    return among(code, [point for point in range(LATIN) if getattr(bytes([point]), name)()])


def is_of(text, place, name):
    """Whether the character at a place is of a class."""
    return getattr(text[place], name)()


@native(is_of, parameters="text place name", name="is_of")
def _is_of(call: Bound) -> Value:
    text, place, name = call.builder.text(call.need("text")), call.need("place"), call.need("name")
    assert isinstance(place, Scalar) and isinstance(name, Object)
    code = call.builder.emitter.snapshot(call.builder.code(text, place.expr), "code")
    return Scalar(in_class(call.builder, text.kind, code, name.value))


def all_of(text, name):
    for place in range(len(text)):
        if not is_of(text, place, name):
            return False
    return len(text) > 0


def cased(text, name, other):
    """No character of the other case, and one of this."""
    some = False
    for place in range(len(text)):
        if is_of(text, place, other):
            return False
        if is_of(text, place, name):
            some = True
    return some


def _class(builder: Builder, text: Text, name: str) -> Value:
    if name not in _CLASSES or (text.kind != "str" and not hasattr(bytes, name)):
        raise Unsupported(builder.emitter.span, f"the method {name} of {text.kind}")
    if text.code is not None:
        return Scalar(in_class(builder, text.kind, text.code, name))
    if name in ("isupper", "islower"):
        other = "islower" if name == "isupper" else "isupper"
        return builder.expand(cased, {"text": text, "name": Object(name), "other": Object(other)})
    every = builder.expand(all_of, {"text": text, "name": Object(name)})
    if name != "isprintable":
        return every
    assert isinstance(every, Scalar)
    return Scalar(Op("or", (every.expr, Op("eq", (text.length, ZERO), PYBOOL)), PYBOOL))


def is_ascii(text):
    return all(code_at(text, place) < 128 for place in range(len(text)))


# --- case -----------------------------------------------------------------------------------------------------------


def _other_case(kind: str, code: Expr, name: str) -> Expr:
    """The character in another case, of ASCII."""
    lower = among(code, range(ord("a"), ord("z") + 1))
    upper = among(code, range(ord("A"), ord("Z") + 1))
    raised, lowered = Op("sub", (code, integer(32)), INT), Op("add", (code, integer(32)), INT)
    if name == "upper":
        return pick(lower, raised, code)
    if name == "lower":
        return pick(upper, lowered, code)
    return pick(lower, raised, pick(upper, lowered, code))


def require_ascii(text):
    for place in range(len(text)):
        require(code_at(text, place) < 128)


def _case(builder: Builder, text: Text, name: str) -> Value:
    text = kept_text(builder, text, "text")
    if text.code is not None:
        if text.kind == "str":
            known = Op("lt", (text.code, integer(_ASCII)), BOOL)
            builder.emitter.hand_back(known, "the other case of a character beyond ASCII")
        return single(text.kind, builder.emitter.snapshot(_other_case(text.kind, text.code, name), "code"))
    if text.kind == "str":
        builder.expand(require_ascii, {"text": text})
    element = builder.element(text)
    return new_text(builder, text.kind, text.length, lambda at: _other_case(text.kind, element(at), name))


# --- searching ------------------------------------------------------------------------------------------------------


def found_at(text, part, place):
    """Whether a part is at a place where there is room for it."""
    same = True
    for k in range(len(part)):
        if code_at(text, place + k) != code_at(part, k):
            same = False
            break
    return same


def find(text, part, start, end):
    for place in range(start, end - len(part) + 1):
        if found_at(text, part, place):
            return place
    return -1


def rfind(text, part, start, end):
    for place in range(end - len(part), start - 1, -1):
        if found_at(text, part, place):
            return place
    return -1


def index(text, part, start, end, message):
    place = find(text, part, start, end)
    if place < 0:
        raise ValueError(message)
    return place


def rindex(text, part, start, end, message):
    place = rfind(text, part, start, end)
    if place < 0:
        raise ValueError(message)
    return place


def count(text, part, start, end):
    if len(part) == 0:
        return max(end - start + 1, 0)
    found = 0
    place = start
    while place <= end - len(part):
        if found_at(text, part, place):
            found += 1
            place += len(part)
        else:
            place += 1
    return found


def count_character(text, code, start, end):
    found = 0
    for place in range(start, end):
        if code_at(text, place) == code:
            found += 1
    return found


def startswith(text, part, start, end):
    return end - start >= len(part) and found_at(text, part, start)


def endswith(text, part, start, end):
    return end - start >= len(part) and found_at(text, part, end - len(part))


def bound(value, length):
    """A bound of a search, as of a slice."""
    if value < 0:
        value += length
        return 0 if value < 0 else value
    return value


_SEARCHES: dict[str, Callable[..., object]] = {
    "find": find,
    "rfind": rfind,
    "index": index,
    "rindex": rindex,
    "count": count,
    "startswith": startswith,
    "endswith": endswith,
}


def _search(builder: Builder, text: Text, name: str, args: list[Value]) -> Value:
    """text.find(part, start, end) and its like."""
    emitter = builder.emitter
    if not 1 <= len(args) <= 3:
        raise Unsupported(emitter.span, f"{name}() with {len(args)} arguments")
    if isinstance(args[0], Tuple):
        return _any_of(builder, text, name, args)
    part = _part(builder, text, args[0], name)
    text = kept_text(builder, text, "text")
    length = Scalar(text.length)
    limits: list[Value] = []
    for default, limit in zip((Scalar(ZERO), length), (*args[1:], Object(None), Object(None))):
        plain = isinstance(limit, Object) and limit.value is None
        limits.append(default if plain else builder.expand(bound, {"value": limit, "length": length}))
    end = limits[1]
    assert isinstance(end, Scalar)
    if end is not length:
        end = Scalar(emitter.snapshot(Op("minimum", (end.expr, text.length), INT), "end"))
    if name == "count" and part.code is not None:
        code = Scalar(emitter.snapshot(part.code, "code"))
        return builder.expand(count_character, {"text": text, "code": code, "start": limits[0], "end": end})
    given: dict[str, Value] = {"text": text, "part": part, "start": limits[0], "end": end}
    if name in ("index", "rindex"):
        given["message"] = Object("substring not found" if text.kind == "str" else "subsection not found")
    return builder.expand(_SEARCHES[name], given)


def _part(builder: Builder, text: Text, value: Value, name: str) -> Text:
    if isinstance(value, Scalar) and text.kind != "str" and name not in ("startswith", "endswith"):
        code = arith.cast(value.expr, INT)
        inside = arith.conjunction(Op("ge", (code, ZERO), BOOL), Op("lt", (code, integer(LATIN)), BOOL))
        builder.emitter.check(inside, "ValueError", "byte must be in range(0, 256)")
        return single(text.kind, code)
    if not is_text(value) or (builder.text(value).kind == "str") != (text.kind == "str"):
        raise Unsupported(builder.emitter.span, f"TypeError: {name}() of {describe(value)}")
    return kept_text(builder, builder.text(value), "part")


def _any_of(builder: Builder, text: Text, name: str, args: list[Value]) -> Value:
    """text.startswith((a, b))"""
    assert isinstance(args[0], Tuple)
    if name not in ("startswith", "endswith") or args[0].is_list:
        raise Unsupported(builder.emitter.span, f"TypeError: {name}() of a tuple or list")
    result: Expr = Const(False, PYBOOL)
    for item in args[0].items:
        found = _search(builder, text, name, [item, *args[1:]])
        assert isinstance(found, Scalar)
        result = Op("or", (result, arith.cast(found.expr, PYBOOL)), PYBOOL)
    return Scalar(result)


# --- new strings ----------------------------------------------------------------------------------------------------


def strip(text, name, chars):
    """The bounds of what is left: characters of a class, or among others, are taken from the ends."""
    start = 0
    end = len(text)
    if name != "rstrip":
        while start < end and stripped(text, start, chars):
            start += 1
    if name != "lstrip":
        while end > start and stripped(text, end - 1, chars):
            end -= 1
    return text[start:end]


def stripped(text, place, chars):
    if chars is None:
        return is_of(text, place, "isspace")
    return one_at(text, place) in chars


def split_spaces(text, most):
    """The words, as long as there are not `most` of them (-1: all); then the rest, with the spaces behind it."""
    words = []
    start = 0
    length = len(text)
    while True:
        while start < length and is_of(text, start, "isspace"):
            start += 1
        if start == length:
            break
        end = start
        while end < length and (len(words) == most or not is_of(text, end, "isspace")):
            end += 1
        words.append(text[start:end])
        start = end
    return words


def split(text, separator, most):
    if len(separator) == 0:
        raise ValueError("empty separator")
    parts = []
    start = 0
    place = find(text, separator, 0, len(text))
    while place >= 0 and len(parts) != most:
        parts.append(text[start:place])
        start = place + len(separator)
        place = find(text, separator, start, len(text))
    parts.append(text[start:])
    return parts


def replaced(text, old, new, empty):
    require(len(old) > 0)
    result = empty
    start = 0
    place = find(text, old, 0, len(text))
    while place >= 0:
        result = result + text[start:place] + new
        start = place + len(old)
        place = find(text, old, start, len(text))
    return result + text[start:]


def without_prefix(text, part):
    return text[len(part) :] if startswith(text, part, 0, len(text)) else text


def without_suffix(text, part):
    return text[: len(text) - len(part)] if endswith(text, part, 0, len(text)) else text


def zfill(text, width):
    if len(text) > 0 and (code_at(text, 0) == 43 or code_at(text, 0) == 45):
        return text[:1] + "0" * (width - len(text)) + text[1:]
    return "0" * (width - len(text)) + text


def rjust(text, width, fill):
    return fill * (width - len(text)) + text


def ljust(text, width, fill):
    return text + fill * (width - len(text))


def _join(builder: Builder, text: Text, args: list[Value]) -> Value:
    if len(args) != 1:
        raise Unsupported(builder.emitter.span, f"TypeError: join() with {len(args)} arguments")
    parts = args[0]
    if isinstance(parts, Tuple) and not parts.items:
        return Object("" if text.kind == "str" else b"")
    if isinstance(parts, Tuple):
        result: Value = parts.items[0]
        for item in parts.items[1:]:
            for part in (text, item):
                result = joined_texts(builder, builder.text(result), builder.text(part), builder.calling)
        return result
    if not is_text(parts) and not isinstance(parts, (Records, Rows)):
        parts = builder.listed(parts)
    text = kept_text(builder, text, "text")
    return concatenated(builder, text.kind, text, builder.iteration(parts, builder.calling))


def _coded(builder: Builder, text: Text, name: str, args: list[Value]) -> Value:
    """text.encode() and bytes.decode() of ASCII, which is the same in all usual encodings"""
    known = [arg.value for arg in args if isinstance(arg, Object)]
    usual = ("utf-8", "utf8", "ascii", "latin-1", "latin1", "UTF-8", "us-ascii")
    if (name == "encode") != (text.kind == "str") or len(known) != len(args) or (known and known[0] not in usual):
        raise Unsupported(builder.emitter.span, f"this use of {name}()")
    text = kept_text(builder, text, "text")
    builder.expand(require_ascii, {"text": text})
    literal = text.literal
    return replace(text, kind="bytes" if name == "encode" else "str", literal=literal)


def partition(text, part):
    if len(part) == 0:
        raise ValueError("empty separator")
    place = find(text, part, 0, len(text))
    found = len(part) if place >= 0 else 0
    end = place if place >= 0 else len(text)
    return text[:end], part[:found], text[end + found :]


def splitlines(text, breaks):
    """`breaks`: what ends a line, besides a pair of carriage return and line feed."""
    lines = []
    start = 0
    place = 0
    while place < len(text):
        if one_at(text, place) in breaks:
            lines.append(text[start:place])
            if code_at(text, place) == 13 and place + 1 < len(text) and code_at(text, place + 1) == 10:
                place += 1
            start = place + 1
        place += 1
    if start < len(text):
        lines.append(text[start:])
    return lines


def extreme(text, greatest, message):
    """The code point that is the greatest, or the least, of a string."""
    if len(text) == 0:
        raise ValueError(message)
    best = code_at(text, 0)
    for place in range(1, len(text)):
        code = code_at(text, place)
        if (code > best) if greatest else (code < best):
            best = code
    return best


def extreme_of(builder: Builder, value: Value, kind: str) -> Value:
    """max(text), min(text)"""
    text = kept_text(builder, builder.text(value), "text")
    words = "iterable argument is empty" if reads.is_python(3, 12) else "arg is an empty sequence"
    greatest = Scalar(Const(kind == "max", PYBOOL))
    message = Object(f"{kind}() {words}")
    code = builder.expand(extreme, {"text": text, "greatest": greatest, "message": message})
    assert isinstance(code, Scalar)
    return single("str", code.expr) if text.kind == "str" else code


# --- methods --------------------------------------------------------------------------------------------------------


def method(builder: Builder, receiver: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of a string."""
    span = builder.emitter.span
    if name == "split" and kwargs and set(kwargs) <= {"sep", "maxsplit"} and not (args and "sep" in kwargs):
        args = [*(args[:1] or [kwargs.get("sep", Object(None))]), *args[1:]]
        args, kwargs = [*args, *(kwargs[key] for key in ("maxsplit",) if key in kwargs)], {}
    if kwargs or not hasattr(str if builder.text(receiver).kind == "str" else bytes, name):
        raise Unsupported(span, f"this use of {name}() of a string", "pass its arguments by position")
    text = builder.text(receiver)
    if name in _SEARCHES:
        return _search(builder, text, name, args)
    if name == "join":
        return _join(builder, text, args)
    if name in ("encode", "decode"):
        return _coded(builder, text, name, args)
    text = kept_text(builder, text, "text")
    empty: Value = Object("" if text.kind == "str" else b"")
    if name in ("strip", "lstrip", "rstrip") and len(args) <= 1:
        chars: Value = args[0] if args else Object(None)
        return builder.expand(strip, {"text": text, "name": Object(name), "chars": chars})
    by_spaces = not args or (isinstance(args[0], Object) and args[0].value is None)
    most: Value = args[1] if len(args) == 2 else Scalar(integer(-1))
    if name == "split" and len(args) <= 2 and isinstance(most, Scalar) and most.type == INT:
        if by_spaces:
            return builder.expand(split_spaces, {"text": text, "most": most})
        return builder.expand(split, {"text": text, "separator": _part(builder, text, args[0], name), "most": most})
    if name == "splitlines" and not args:
        ends = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" if text.kind == "str" else b"\n\r"
        return builder.expand(splitlines, {"text": text, "breaks": Object(ends)})
    if name == "partition" and len(args) == 1:
        return builder.expand(partition, {"text": text, "part": _part(builder, text, args[0], name)})
    if name == "replace" and len(args) == 2:
        old, new = (_part(builder, text, arg, name) for arg in args)
        return builder.expand(replaced, {"text": text, "old": old, "new": new, "empty": empty})
    if name in ("removeprefix", "removesuffix") and len(args) == 1:
        definition = without_prefix if name == "removeprefix" else without_suffix
        return builder.expand(definition, {"text": text, "part": _part(builder, text, args[0], name)})
    if name == "zfill" and len(args) == 1 and text.kind == "str":
        return builder.expand(zfill, {"text": text, "width": args[0]})
    if name in ("rjust", "ljust") and 1 <= len(args) <= 2 and text.kind == "str":
        fill = args[1] if len(args) == 2 else Object(" ")
        if builder.text(fill).code is None:
            raise Unsupported(span, f"{name}() with a fill of more than one character")
        return builder.expand(rjust if name == "rjust" else ljust, {"text": text, "width": args[0], "fill": fill})
    if args:
        raise Unsupported(span, f"{name}() with {len(args)} arguments")
    if name in ("upper", "lower", "swapcase"):
        return _case(builder, text, name)
    if name == "isascii":
        return builder.expand(is_ascii, {"text": text})
    return _class(builder, text, name)


# --- numbers --------------------------------------------------------------------------------------------------------


def digit_of(code):
    """What a letter or digit stands for; 99 for anything else."""
    if 48 <= code <= 57:
        return code - 48
    if 97 <= code <= 122:
        return code - 87
    if 65 <= code <= 90:
        return code - 55
    return 99


def parse_int(text, base, letter):
    """int(text, base); `letter`: what may follow a 0 in front, as a code point."""
    start = 0
    end = len(text)
    while start < end and is_of(text, start, "isspace"):
        start += 1
    while end > start and is_of(text, end - 1, "isspace"):
        end -= 1
    negative = False
    if start < end and (code_at(text, start) == 45 or code_at(text, start) == 43):
        negative = code_at(text, start) == 45
        start += 1
    if end - start > 2 and code_at(text, start) == 48 and (code_at(text, start + 1) | 32) == letter:
        start += 2
    require(start < end)
    value = 0
    for place in range(start, end):
        digit = digit_of(code_at(text, place))
        require(digit < base)
        value = value * base + digit
    return -value if negative else value


def int_of(builder: Builder, value: Value, base: int) -> Value:
    letter = {16: "x", 8: "o", 2: "b"}.get(base)
    if not 2 <= base <= 36:
        raise Unsupported(
            builder.emitter.span,
            f"int() of a string with base {base}",
            "compute it outside the compiled function, and pass the result",
        )
    code = Scalar(integer(-1 if letter is None else ord(letter)))
    text = kept_text(builder, builder.text(value), "text")
    return builder.expand(parse_int, {"text": text, "base": Scalar(integer(base)), "letter": code})


def parse_float(text):
    """float(text) of few digits: the number without its point and a power of ten are exact, so is their quotient."""
    start = 0
    end = len(text)
    while start < end and is_of(text, start, "isspace"):
        start += 1
    while end > start and is_of(text, end - 1, "isspace"):
        end -= 1
    negative = False
    if start < end and (code_at(text, start) == 45 or code_at(text, start) == 43):
        negative = code_at(text, start) == 45
        start += 1
    whole = 0
    digits = 0
    exponent = 0
    point = False
    place = start
    while place < end:
        code = code_at(text, place)
        if code == 46 and not point:
            point = True
        elif 48 <= code <= 57:
            require(digits < 15)
            whole = whole * 10 + (code - 48)
            digits += 1
            if point:
                exponent -= 1
        else:
            break
        place += 1
    require(digits > 0)
    if place < end:
        require((code_at(text, place) | 32) == 101)
        place += 1
        down = False
        if place < end and (code_at(text, place) == 45 or code_at(text, place) == 43):
            down = code_at(text, place) == 45
            place += 1
        require(place < end and end - place < 4)
        power = 0
        while place < end:
            code = code_at(text, place)
            require(48 <= code <= 57)
            power = power * 10 + (code - 48)
            place += 1
        exponent += -power if down else power
    require(-22 <= exponent <= 22)
    scale = 1.0
    for _ in range(abs(exponent)):
        scale = scale * 10.0
    value = whole / scale if exponent < 0 else whole * scale
    return -value if negative else value


def float_of(builder: Builder, value: Value) -> Value:
    return builder.expand(parse_float, {"text": kept_text(builder, builder.text(value), "text")})


def spelled(value, base, prefix):
    """An integer in digits."""
    rest = abs(value)
    power = 1
    while rest // power >= base:
        power = power * base
    result = prefix
    if value < 0:
        result = "-" + prefix
    while power > 0:
        digit = rest // power % base
        result = result + chr(digit + 48 if digit < 10 else digit + 87)
        power = power // base
    return result


def spelled_int(builder: Builder, value: Value, base: int, prefix: str) -> Value:
    if not isinstance(value, Scalar) or value.type != INT:
        told = f"the text of {describe(value)}: only whole numbers of Python are written natively"
        raise Unsupported(builder.emitter.span, told)
    number = Scalar(builder.emitter.snapshot(value.expr, "number"))
    return builder.expand(spelled, {"value": number, "base": Scalar(integer(base)), "prefix": Object(prefix)})


def _spell(function: Callable[[int], str], base: int) -> None:
    @native(function, parameters="number")
    def build(call: Bound) -> Value:
        return spelled_int(call.builder, call.need("number"), base, function(0)[:2])


_spell(hex, 16)
_spell(oct, 8)
_spell(bin, 2)


@native(str, parameters="object")
def _str(call: Bound) -> Value:
    value = call.get("object")
    if value is None:
        if "object" in call.given:
            return Object("None")
        return Object("")
    if is_text(value) and call.builder.text(value).kind == "str":
        return value
    return spelled_int(call.builder, value, 10, "")
