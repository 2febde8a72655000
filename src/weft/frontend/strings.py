"""Strings and bytes.  In: what Python's operators do with them; out: values over arrays of code points.

A string is a part of an array of code points (an argument's, or the pool of all strings that the function makes), or a
single character, which is just its code point, or a literal.  None of it is ever written again, so a slice copies
nothing.  What a container or a variable of a loop holds of a string is where it begins in the pool, and its length.

    s[i] == t[j]   -->   s_codes[i] == t_codes[j]
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable as Names
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, arrays, indexing, revisions
from weft.frontend.building import Building
from weft.frontend.core import assign_parts, changes_kind, part_slots
from weft.frontend.emit import NeedData
from weft.frontend.scope import Slot
from weft.frontend.slots import apart
from weft.frontend.textpool import CODE, Element, TextPool
from weft.frontend.values import Array, Iterable, Object, Scalar, Slice, Text, Tuple, Value, View
from weft.frontend.writing import Variable, loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Cast, Const, Expr, Op, Read, Reduce, integer
from weft.ir.program import Break, If, Node
from weft.ir.types import BOOL, INT, PYBOOL, DType, ScalarType

BYTE = ScalarType(DType.U8)
_OUT_OF_RANGE = {
    "str": "string index out of range",
    "bytes": "index out of range",
    "bytearray": "bytearray index out of range",
}
#: Literals up to this length are compared character by character in the code.
_SHORT = 16
_ORDER = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def is_text(value: Value | None) -> bool:
    return isinstance(value, Text) or (isinstance(value, Object) and type(value.value) in (str, bytes))


def single(kind: str, code: Expr) -> Text:
    """A string of one character."""
    return Text(kind, ONE, code=code)


def ranges_of(codes: Names[int]) -> list[tuple[int, int]]:
    """The code points as ranges, from first to last."""
    found: list[tuple[int, int]] = []
    for code in sorted(set(codes)):
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def among(code: Expr, codes: Names[int]) -> Expr:
    """Whether a code point is one of these."""
    result: Expr | None = None
    for low, high in ranges_of(codes):
        if low == high:
            test: Expr = Op("eq", (code, integer(low)), PYBOOL)
        else:
            above, below = Op("ge", (code, integer(low)), PYBOOL), Op("le", (code, integer(high)), PYBOOL)
            test = Op("and", (above, below), PYBOOL)
        result = test if result is None else Op("or", (result, test), PYBOOL)
    return Const(False, PYBOOL) if result is None else result


@functools.lru_cache(maxsize=256)
def lengthened(tree: ast.AST) -> frozenset[str]:
    """Variables that get what they hold with something before or behind it: `s += c`, `s = c + s`, `s = f"{s}{c}"`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in _summands(node.value):
                found.add(node.targets[0].id)
    return frozenset(found)


def _summands(node: ast.expr) -> set[str]:
    """The names that are added up, or put into a string one behind the other."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _summands(node.left) | _summands(node.right)
    if isinstance(node, ast.JoinedStr):
        return {name for part in node.values if isinstance(part, ast.FormattedValue) for name in _summands(part.value)}
    return {node.id} if isinstance(node, ast.Name) else set()


class Strings(Building):
    """Strings as values, in variables, compared and joined."""

    _pool: TextPool | None = None

    @property
    def pool(self) -> TextPool:
        if self._pool is None:
            self._pool = TextPool(self.emitter, outermost=not self.lent)
        return self._pool

    # --- values -----------------------------------------------------------------------------------------------------

    def text(self, value: Value) -> Text:
        """The string that a value is; an argument that was taken for a constant becomes data."""
        if isinstance(value, Text):
            return value
        if not isinstance(value, Object) or type(value.value) not in (str, bytes):
            raise self.unsupported(None, "a string is needed here", "use a str", value=value)
        if value.argument is not None:
            raise NeedData(value.argument)
        plain: str = value.value if isinstance(value.value, str) else value.value.decode("latin-1")
        kind = type(value.value).__name__
        if len(plain) == 1:
            return Text(kind, ONE, code=integer(ord(plain)), literal=plain)
        return Text(kind, integer(len(plain)), literal=plain)

    def code(self, text: Text, at: Expr) -> Expr:
        """The code point at a position that is in range."""
        if text.code is not None:
            return text.code
        if text.literal is not None and isinstance(at, Const):
            number = int(at.value.real)  # out of range behind a check that always fails
            return integer(ord(text.literal[number])) if 0 <= number < len(text.literal) else ZERO
        text = self.located(text)
        place = ix.add(text.start, at if text.step == 1 else ix.mul(integer(text.step), at))
        return Cast(Read(text.buffer, (place,), self.emitter.buffers[text.buffer].type), INT)

    def located(self, text: Text) -> Text:
        """The same string in memory."""
        if text.buffer:
            return text
        if text.literal is not None:
            return replace(text, buffer=self.pool.buffer, start=self.pool.literal(text.literal), code=None)
        assert text.code is not None
        return replace(text, buffer=self.pool.buffer, start=self.pool.character(text.code), code=None)

    def element(self, text: Text) -> Element:
        """From a position to the code point."""
        located = text if text.code is not None or text.buffer else self.located(text)
        return lambda at: self.code(located, at)

    def codes(self, text: Text) -> Array:
        """The code points as an array."""
        if text.code is not None:
            code = text.code
            return Array((ONE,), INT, lambda at: code)
        text = self.located(text)
        of = self.emitter.buffers[text.buffer].type

        def index(at: tuple[Expr, ...]) -> tuple[Expr, ...]:
            return (ix.add(text.start, ix.mul(integer(text.step), at[0])),)

        return Array((text.length,), of, lambda at: Read(text.buffer, index(at), of), View(text.buffer, index))

    # --- containers -------------------------------------------------------------------------------------------------

    def text_of(self, kind: str, start: Expr, length: Expr) -> Text:
        return Text(kind, length, self.pool.buffer, start)

    # --- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        if isinstance(value, Text) and name not in self.scope.slots:
            value = kept_text(self, value, name)
        super().bind(name, value)

    def open_slots(self, names: Names[str], owner: ast.AST) -> list[str]:
        opened = super().open_slots(names, owner)
        for name in opened:
            slot, value = self.scope.slots[name], self.scope.values.get(name)
            if slot.key in self.emitter.decisions.missing:
                continue
            if value is not None and not is_text(value) and slot.key in self.emitter.decisions.texts:
                raise apart(self, slot.branch, changes_kind(self, name, value, Object("a string")))
            if value is None or not is_text(value) or slot.parts is not None:
                continue
            if isinstance(value, Text) or isinstance(owner, (ast.For, ast.While)):
                # A new string in each iteration is data; in a branch a literal may be a constant that decides.
                text = self.text(value)
                self.emitter.decisions.texts.setdefault(slot.key, (text.kind, text.code is not None))
            if slot.key in self.emitter.decisions.texts:
                _assign_text(self, name, slot, value)
        return opened

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        known = self.emitter.decisions.texts
        if slot.key in self.emitter.decisions.missing:
            super()._assign_slot(name, slot, value)
            return
        if slot.key in known:
            _assign_text(self, name, slot, value)
            return
        current = self.scope.values.get(name)
        if is_text(value) and is_text(current) and current != value:
            _decide_text(self, slot, self.text(value), self.text(current))  # type: ignore[arg-type]
        if isinstance(value, Text) and current is not None and not is_text(current):
            raise self.maybe_instead(slot, current, value, changes_kind(self, name, current, value))
        if isinstance(value, Text) and current is None and slot.buffer is None and slot.parts is None:
            known[slot.key] = (value.kind, value.code is not None)
            _assign_text(self, name, slot, value)
            return
        if isinstance(value, Text):
            _decide_text(self, slot, value)
        super()._assign_slot(name, slot, value)

    def data_text(self, value: Value) -> Value:
        """A string as data, kept from later changes of what it is taken from."""
        text = self.text(value)
        return kept_text(self, text, "part")

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        if isinstance(value, Text):
            return True if value.code is not None else Scalar(arith.truth(value.length))
        return super().truth(value, node)

    # --- comparisons ------------------------------------------------------------------------------------------------

    def text_comparison(self, name: str, left: Value, right: Value, node: ast.AST) -> Value:
        if not is_text(left) or not is_text(right):
            if name in ("eq", "ne"):
                return Scalar(Const(name == "ne", PYBOOL))
            raise self.unsupported(node, "TypeError: an order of a string and something else", left=left, right=right)
        first, second = self.text(left), self.text(right)
        if (first.kind == "str") != (second.kind == "str"):
            if name in ("eq", "ne"):
                return Scalar(Const(name == "ne", PYBOOL))
            raise self.unsupported(node, "TypeError: an order of str and bytes", left=left, right=right)
        if first.literal is not None and second.literal is not None:
            return Scalar(Const(_ORDER[name](first.literal, second.literal), PYBOOL))
        if first.code is not None and second.code is not None:
            return Scalar(Op(name, (first.code, second.code), PYBOOL))
        if name in ("eq", "ne"):
            same = equal_texts(self, first, second)
            return Scalar(same if name == "eq" else arith.negate(same))
        return Scalar(_ordered(self, name, first, second))


def kept_text(builder: Building, text: Text, name: str) -> Text:
    """The string as it is now, whatever happens to the variables it came from."""
    if text.literal is not None:
        return text
    if text.code is not None:
        return replace(text, code=builder._kept(text.code, name))
    start = builder.emitter.snapshot(text.start, "start")
    return replace(text, start=start, length=builder.emitter.snapshot(text.length, "length"))


def text_prelude(builder: Building) -> list[Node]:
    """What the program must begin with."""
    return [] if builder._pool is None else builder._pool.prelude()


def pooled(builder: Building, text: Text) -> Text:
    """The same string in the pool."""
    text = builder.located(text)
    if text.buffer == builder.pool.buffer and text.step == 1:
        return kept_text(builder, text, "text")
    text = kept_text(builder, text, "text")
    return Text(text.kind, text.length, builder.pool.buffer, builder.pool.append(text.length, builder.element(text)))


def new_text(builder: Building, kind: str, count: Expr, element: Element) -> Text:
    """A string of so many characters."""
    count = builder.emitter.snapshot(count, "length")
    return Text(kind, count, builder.pool.buffer, builder.pool.append(count, element))


def text_numbers(builder: Building, value: Value) -> list[Expr]:
    """What a container holds of a string: where it begins in the pool, and its length."""
    text = pooled(builder, builder.text(value))
    return [text.start, text.length]


def key_numbers(builder: Building, value: Value) -> list[Expr]:
    """The same numbers for all equal strings."""
    text = builder.text(value)
    if text.literal is not None:
        return [builder.pool.intern_literal(text.literal), text.length]
    text = kept_text(builder, text, "key")
    if text.code is not None:
        return [builder.pool.intern_character(text.code), ONE]
    known = builder._keys.get(text)
    if known is not None and any(known[1] is block for block in builder.emitter.blocks):
        return [known[0], text.length]
    start = text.start if text.buffer == builder.pool.buffer and text.step == 1 else None
    found = builder.pool.intern(text.length, builder.element(text), start)
    builder._keys[text] = (found, builder.emitter.blocks[-1])
    return [found, text.length]


def _decide_text(builder: Building, slot: Slot, *texts: Text) -> None:
    """The slot holds strings, perhaps only single characters: build again with that."""
    kinds = {text.kind for text in texts}
    if len(kinds) > 1:
        raise builder.unsupported(None, f"{slot.key[1]} is str and bytes", "use two names")
    revisions.holds_text(builder, slot, kinds.pop(), all(text.code is not None for text in texts))


def _assign_text(builder: Building, name: str, slot: Slot, value: Value) -> None:
    kind, is_single = builder.emitter.decisions.texts[slot.key]
    if not is_text(value) or builder.text(value).kind != kind:
        current = builder.scope.values.get(name)
        old: Value = Object(kind) if current is None else current
        raise builder.maybe_instead(slot, old, value, changes_kind(builder, name, old, value))
    text = builder.text(value)
    if is_single and text.code is None:
        revisions.holds_text(builder, slot, kind, False)
    numbers = [text.code] if is_single else text_numbers(builder, text)
    if slot.parts is None:
        slot.parts = part_slots(slot, len(numbers))
    assign_parts(builder, name, slot, Tuple(tuple(Scalar(number) for number in numbers if number is not None)))
    builder.scope.values[name] = slot_text(builder, slot)


def slot_text(builder: Building, slot: Slot) -> Text:
    """The string that a slot holds."""
    kind, is_single = builder.emitter.decisions.texts[slot.key]
    assert slot.parts is not None
    numbers = [Read(part.buffer.name, (), part.buffer.type) for part in slot.parts if part.buffer is not None]
    if is_single:
        return single(kind, numbers[0])
    grows = numbers[0].buffer if slot.key[1] in lengthened(builder.scope.source.tree) else ""
    return replace(builder.text_of(kind, numbers[0], numbers[1]), grows=grows)


def chosen_text(
    builder: Building, test: Scalar, then: tuple[Value, list[Node]], orelse: tuple[Value, list[Node]], node: ast.AST
) -> Text:
    """`a if test else b`"""
    first, second = builder.text(then[0]), builder.text(orelse[0])
    if first.kind != second.kind:
        raise builder.unsupported(node, "a choice between str and bytes")
    emitter = builder.emitter
    is_single = first.code is not None and second.code is not None
    names = ["code"] if is_single else ["start", "length"]
    held = [Variable(emitter, emitter.declare(name, INT).name, INT) for name in names]
    blocks: list[tuple[Node, ...]] = []
    for text, block in ((first, then[1]), (second, orelse[1])):
        with emitter.capture() as stored:
            numbers = [text.code] if is_single else text_numbers(builder, text)
            for place, number in zip(held, numbers):
                assert number is not None
                place.set(number)
        blocks.append((*block, *stored))
    emitter.emit(If(arith.condition(test.expr), blocks[0], blocks[1], emitter.span))
    if is_single:
        return single(first.kind, held[0].value)
    return builder.text_of(first.kind, held[0].value, held[1].value)


def text_part(builder: Building, base: Value, key: Value, node: ast.AST | None) -> Value:
    """base[key]"""
    text, emitter = builder.text(base), builder.emitter
    array = Array((text.length,), CODE, lambda at: ZERO)
    if isinstance(key, Slice):
        take = indexing.sliced(array, key, emitter)
        if not isinstance(take.step, Const):
            raise builder.unsupported(node, "a slice of a string whose step is not known")
        text = builder.located(text)
        start = ix.add(text.start, ix.mul(integer(text.step), take.start))
        extent = text.length if take.extent is None else take.extent
        return replace(
            text,
            length=extent,
            start=start,
            step=text.step * int(take.step.value.real),
            code=None,
            literal=None,
            grows="",
        )
    if not isinstance(key, Scalar):
        raise builder.unsupported(
            node, "TypeError: an index into a string that is no integer", "use an integer", key=key
        )
    place = indexing.position(array, 0, key.expr, emitter, message=_OUT_OF_RANGE[text.kind])
    return text_item(builder, text, place)


def text_item(builder: Building, text: Text, place: Expr) -> Value:
    """What an index in range, or an iteration, gives: a character, or of bytes a number."""
    code = builder.code(text, place)
    return single(text.kind, code) if text.kind == "str" else Scalar(code)


def text_iteration(builder: Building, value: Value) -> Iterable:
    text = kept_text(builder, builder.text(value), "text")
    text = text if text.code is not None else builder.located(text)
    return Iterable(text.length, lambda q: text_item(builder, text, q))


def equal_texts(builder: Building, first: Text, second: Text) -> Expr:
    emitter = builder.emitter
    if first.literal is not None or first.code is not None:
        first, second = second, first
    length = emitter.snapshot(first.length, "length")
    if isinstance(length, Const) and isinstance(second.length, Const) and length != second.length:
        return Const(False, PYBOOL)
    if second.literal == "":
        return Op("eq", (length, ZERO), PYBOOL)
    first, second = (kept_text(builder, text, "text") for text in (first, second))
    same = variable(emitter, "same", Op("eq", (length, second.length), PYBOOL))
    known = int(second.length.value.real) if isinstance(second.length, Const) else None
    with when(emitter, same.value):
        if known is not None and known <= _SHORT:
            for place in range(known):
                equal = Op("eq", (builder.code(first, integer(place)), builder.code(second, integer(place))), PYBOOL)
                same.set(equal if place == 0 else Op("and", (same.value, equal), PYBOOL))
        else:
            with loop(emitter, ZERO, length) as at:
                differs = Op("ne", (builder.code(first, at), builder.code(second, at)), BOOL)
                with when(emitter, differs):
                    same.set(Const(False, PYBOOL))
                    emitter.emit(Break(emitter.span))
    return emitter.snapshot(same.value, "same")


def _ordered(builder: Building, name: str, first: Text, second: Text) -> Expr:
    """The first characters that differ decide, then the lengths."""
    emitter = builder.emitter
    first, second = (kept_text(builder, text, "text") for text in (first, second))
    one, other = builder.element(first), builder.element(second)
    shorter = emitter.snapshot(Op("minimum", (first.length, second.length), INT), "shorter")
    result = variable(emitter, "ordered", Op(name, (first.length, second.length), PYBOOL))
    with loop(emitter, ZERO, shorter) as at:
        mine, its = (emitter.snapshot(side(at), "code") for side in (one, other))
        with when(emitter, Op("ne", (mine, its), BOOL)):
            result.set(Op(name, (mine, its), PYBOOL))
            emitter.emit(Break(emitter.span))
    return emitter.snapshot(result.value, "ordered")


def text_contains(builder: Building, base: Value, wanted: Value, node: ast.AST) -> Expr:
    """wanted in base"""
    text = builder.text(base)
    if isinstance(wanted, Scalar) and text.kind != "str":
        part = single(text.kind, arith.cast(wanted.expr, INT))
        inside = arith.conjunction(Op("ge", (wanted.expr, ZERO), BOOL), Op("lt", (wanted.expr, integer(256)), BOOL))
        builder.emitter.check(inside, "ValueError", "byte must be in range(0, 256)")
    else:
        part = builder.text(wanted)
    if (part.kind == "str") != (text.kind == "str"):
        raise builder.unsupported(node, "TypeError: str in bytes, or bytes in str", left=wanted, right=base)
    if part.literal is not None and text.literal is not None:
        return Const(part.literal in text.literal, PYBOOL)
    if part.literal == "":
        return Const(True, PYBOOL)
    if part.code is not None and text.code is not None:
        return Op("eq", (part.code, text.code), PYBOOL)
    if part.code is not None and text.literal is not None:
        return among(builder.emitter.snapshot(part.code, "code"), map(ord, text.literal))
    if part.code is not None:
        code = builder.emitter.snapshot(part.code, "code")
        text = kept_text(builder, text, "text")
        dims, at = builder.emitter.domain((builder.emitter.stable(text.length),))
        same = Op("eq", (builder.code(text, at[0]), code), PYBOOL)
        return builder.emitter.snapshot(Reduce("or", dims, same, builder.emitter.span), "found")
    return Op("ge", (builder.find_text(text, part, node), ZERO), PYBOOL)


def text_operator(builder: Building, op: str, left: Value, right: Value, node: ast.AST) -> Value:
    """left + right, left * n"""
    if op == "add" and is_text(left) and is_text(right):
        return joined_texts(builder, builder.text(left), builder.text(right), node)
    for value, other in ((left, right), (right, left)):
        if op == "mul" and is_text(value) and isinstance(other, Scalar) and other.type.dtype.kind in "bi":
            return _repeated(builder, builder.text(value), arith.cast(other.expr, INT))
    raise builder.unsupported(node, "this operator on strings", left=left, right=right)


def joined_texts(builder: Building, left: Text, right: Text, node: ast.AST | None) -> Value:
    if left.kind != right.kind:
        raise builder.unsupported(node, "TypeError: str and bytes added", left=left, right=right)
    if left.literal is not None and right.literal is not None:
        both = left.literal + right.literal
        return Object(both if left.kind == "str" else both.encode("latin-1"))
    if right.literal == "":
        return left
    if left.literal == "":
        return right
    emitter = builder.emitter
    left, right = kept_text(builder, left, "text"), kept_text(builder, right, "text")
    total = emitter.snapshot(Op("add", (left.length, right.length), INT), "length")
    if _is_growing(builder, left):
        start = builder.pool.extended(left.grows, left.start, left.length, right.length, builder.element(right))
    elif _is_growing(builder, right):
        start = builder.pool.preceded(right.grows, right.start, right.length, left.length, builder.element(left))
    elif left.buffer == builder.pool.buffer and left.step == 1:
        start = builder.pool.joined(left.start, left.length, right.length, builder.element(right))
    else:
        start = builder.pool.append(left.length, builder.element(left))
        builder.pool.append(right.length, builder.element(right))
    grows = left.grows if _is_growing(builder, left) else right.grows
    return Text(left.kind, total, builder.pool.buffer, start, grows=grows)


def _is_growing(builder: Building, text: Text) -> bool:
    """Whether a string is the value of a variable of this function that gets longer strings."""
    slots = builder.scope.slots.values() if text.grows and text.buffer == builder.pool.buffer else ()
    parts = [slot.parts[0].buffer for slot in slots if slot.parts]
    return any(buffer is not None and buffer.name == text.grows for buffer in parts)


def _repeated(builder: Building, text: Text, times: Expr) -> Value:
    emitter = builder.emitter
    text = kept_text(builder, text, "text")
    often = emitter.snapshot(Op("maximum", (times, ZERO), INT), "times")
    total = emitter.snapshot(Op("mul", (often, text.length), INT), "length")
    element = builder.element(text)
    if text.code is not None:
        return new_text(builder, text.kind, total, element)
    start = builder.pool.cells.last()
    with loop(emitter, ZERO, often):
        builder.pool.append(text.length, element)
    return Text(text.kind, total, builder.pool.buffer, start)


def concatenated(builder: Building, kind: str, separator: Text, parts: Iterable) -> Value:
    """separator.join(parts)"""
    emitter = builder.emitter
    start = builder.pool.cells.last()
    with loop(emitter, ZERO, emitter.stable(parts.trips)) as at:
        if separator.literal != "":
            with when(emitter, Op("gt", (at, ZERO), BOOL)):
                builder.pool.append(separator.length, builder.element(separator))
        part = parts.item(at)
        if not is_text(part) or builder.text(part).kind != kind:
            raise Unsupported(emitter.span, f"TypeError: join() of items that are not {kind}")
        text = builder.text(part)
        builder.pool.append(text.length, builder.element(text))
    length = Op("sub", (builder.pool.cells.length.value, start), INT)
    return Text(kind, emitter.snapshot(length, "length"), builder.pool.buffer, start)


def materialised_text(builder: Building, text: Text) -> Array:
    """The code points in memory of their own, for the caller."""
    codes = builder.codes(text)
    of = CODE if text.kind == "str" else BYTE
    copied = Array(codes.shape, of, lambda at: arith.cast(codes.element(at), of))
    return arrays.materialise(copied, builder.emitter, "result")
