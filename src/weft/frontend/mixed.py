"""Numbers that are a choice between types, as `x if c else 1` is: which type each side has in Python, and what becomes
of that in operators.  In: expressions in the wider type; out: the sides, each of its own type, for whoever shows them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, revisions
from weft.frontend.building import Building
from weft.frontend.emit import Restart
from weft.frontend.items import either
from weft.frontend.scope import Slot
from weft.frontend.values import Array, EitherType, Scalar, Value
from weft.ir import walk
from weft.ir.expr import Const, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import Buffer, If
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, DType, ScalarType, promote
from weft.records import dataclass

#: Operators that give Python's numbers for Python's, and NumPy's if one operand is NumPy's.
_ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "neg"})


@dataclass(frozen=True)
class Mixed:
    """A choice between values of different types, which Python would keep: `then` if `test` holds, else `orelse`."""

    test: Expr
    then: Expr
    orelse: Expr


class MixedNumbers(Building):
    """What is known of the types of numbers."""

    # Scalar buffers that may hold a value whose own Python type is another than theirs, and the slots they are of.

    # --- integers in variables of floats ------------------------------------------------------------------------------

    def _is_long(self, value: Expr) -> Expr:
        """Whether a number is an integer of 64 bits."""
        choice = self.mixed_exprs.get(id(value))
        if choice is None:
            return Const(_is_long(value.type), BOOL)
        return arith.select(choice.test, self._is_long(choice.then), self._is_long(choice.orelse))

    def is_choice(self, value: Value) -> bool:
        """Whether a value is a number of one of two types: a list of such tells which, an array does not."""
        return isinstance(value, Scalar) and len(kinds_of(self, value.expr)) > 1

    def is_other(self, value: Expr, of: EitherType) -> Expr:
        """Whether a number is of the second of two types."""
        choice = self.mixed_exprs.get(id(value))
        if choice is None:
            return Const(value.type == of.other, BOOL)
        return arith.select(choice.test, self.is_other(choice.then, of), self.is_other(choice.orelse, of))

    def lost(self, expr: Expr) -> str | None:
        """The buffer in which it was lost of what Python type a value is; None if its own type is right."""
        if isinstance(expr, Read):
            return expr.buffer if expr.buffer in self.widened and id(expr) not in self.decided else None
        return self.unsettled.get(id(expr))

    def _all_may_be_python(self, expr: Expr) -> bool:
        """Whether no operand makes a number NumPy's for sure; of a choice, whether one side may be Python's."""
        if isinstance(expr, (Read, Var)):
            return expr.type.weak or (isinstance(expr, Read) and expr.buffer in self.undecided)
        if isinstance(expr, Op) and expr.op == "select":
            return any(map(self._all_may_be_python, expr.args[1:]))
        return all(map(self._all_may_be_python, walk.children(expr)))

    def _tag(self, slot: Slot, value: Expr, held: Read) -> None:
        """Write down whether a number is of the slot's type or of the other one that the slot holds.

        `held` becomes a choice by that tag, so that a return gives each as what it is.
        """
        tagged = self.emitter.decisions.tagged
        for part in _kinds(self, value):
            lost = self.lost(part)
            if lost is not None:
                tell_type(self, lost)
            if benign(self, part.type, held.type):
                continue
            if tagged[slot.key] is None:
                revisions.is_tagged(self, slot.key, part.type)
            if tagged[slot.key] != part.type:
                raise Unsupported(
                    self.emitter.span, f"{slot.key[1]} holds numbers of more than two types", "convert them to one"
                )
        other = tagged[slot.key]
        if other is None:
            return
        if slot.tag is None:
            slot.tag = self.emitter.declare(f"{slot.key[1]}_type", BOOL)
        dear = _is_too_dear(self, value, held.type)
        is_other = Const(False, BOOL) if dear else _is_other(self, value, held.type)
        _note_constants(self, value, held)
        if dear:
            self.untold[slot.tag.name] = held
        self.emitter.assign((), slot.tag.name, (), is_other)
        _note_first(self, slot.tag.name, value, held)
        told = Read(slot.tag.name, (), BOOL)
        note_mixed(self, held, Mixed(told, arith.cast(replace(held), other), replace(held)))


def benign(builder: Building, of: ScalarType, joined: ScalarType) -> bool:
    """Whether a value of type `of` may be shown to the user as a `joined`.

    NumPy's float64 is a Python float, until the caller gets to see one of which that is not known.
    """
    if of == joined or builder.emitter.decisions.exact:
        return of == joined
    return of.weak and of.dtype is joined.dtype and of.dtype.is_inexact


def note_mixed(builder: Building, expr: Expr, choice: Mixed) -> None:
    """Remember that `expr` is a choice between types: if it is returned, each side is returned as what it is."""
    builder.mixed_exprs[id(expr)] = choice
    builder._keep.append(expr)  # its id must stay its own


def note_choice(builder: Building, chosen: Expr, test: Expr, then: Expr, orelse: Expr) -> None:
    """Remember what `chosen` is a choice between, if the types differ; a side may be a choice itself."""
    if types_differ(builder, then, orelse):
        note_mixed(builder, chosen, Mixed(test, then, orelse))
        return
    lost = builder.lost(then) or builder.lost(orelse)
    if lost is not None:
        builder.unsettled[id(chosen)] = lost
        builder._keep.append(chosen)


def note_computed(builder: Building, result: Expr, operands: list[Expr], compute: Callable[[list[Expr]], Expr]) -> Expr:
    """Remember that what was computed from a choice between types is one too; gives back the result."""
    lost = [name for name in map(builder.lost, operands) if name is not None]
    if not isinstance(result, Op):
        if isinstance(result, Const) or not (lost or any(id(operand) in builder.mixed_exprs for operand in operands)):
            return result
        result = replace(result)  # read from where it was computed: a read of its own, of which more is known
    for place, operand in enumerate(operands):
        choice = builder.mixed_exprs.get(id(operand))
        if choice is None:
            continue
        hold_integers(builder, operand)
        ways = [operands[:place] + [side] + operands[place + 1 :] for side in (choice.then, choice.orelse)]
        sides = [note_computed(builder, compute(way), way, compute) for way in ways]
        apart = from_either(builder, operand) or any(_is_long(side.type) for side in sides)
        if apart and len({side.type.dtype for side in sides}) > 1:
            # One of them may wrap around where the other does not, or be rounded.
            result = Op("select", (choice.test, *(arith.cast(side, result.type) for side in sides)), result.type)
        if any(
            type_may_differ(builder, side, result.type) or not benign(builder, side.type, result.type) for side in sides
        ):
            note_mixed(builder, result, Mixed(choice.test, *sides))
        return result
    # Where it was lost of what type a number is, that is most likely one of Python's integers, or a bool.
    for likely in (INT, PYBOOL) if lost else ():
        way = [arith.cast(operand, likely) if builder.lost(operand) else operand for operand in operands]
        if not benign(builder, compute(way).type, result.type):
            builder.unsettled[id(result)] = lost[0]
            builder._keep.append(result)
            break
    return result


def types_differ(builder: Building, first: Expr, second: Expr) -> bool:
    """Whether a choice between two values is one between types."""
    return first.type != second.type or id(first) in builder.mixed_exprs or id(second) in builder.mixed_exprs


def held_choice(builder: Building, held: Read, choice: Mixed) -> Read:
    """A choice that has been written to a buffer, read from there: its tests are kept, since they may change."""
    lost = builder.lost(choice.then) or builder.lost(choice.orelse)
    if types_differ(builder, choice.then, choice.orelse):
        for side in (choice.then, choice.orelse):
            _note_constants(builder, side, held)
        held = replace(held)
        note_mixed(builder, held, _held_sides(builder, held, choice))
    elif lost is not None:
        builder.widened[held.buffer] = builder.widened[lost]
    return held


def _held_sides(builder: Building, held: Read, choice: Mixed) -> Mixed:
    sides: list[Expr] = []
    for side in (choice.then, choice.orelse):
        lost, inner = builder.lost(side), builder.mixed_exprs.get(id(side))
        if lost is not None:
            tell_type(builder, lost)
        sides.append(arith.cast(replace(held), side.type))
        if inner is not None:
            note_mixed(builder, sides[-1], _held_sides(builder, held, inner))
    return Mixed(builder.emitter.snapshot(choice.test, "test"), *sides)


def _kinds(builder: Building, value: Expr) -> list[Expr]:
    """The values that a number is a choice between, each of one type; itself if it is none."""
    choice = builder.mixed_exprs.get(id(value))
    return [value] if choice is None else _kinds(builder, choice.then) + _kinds(builder, choice.orelse)


def kinds_of(builder: Building, value: Expr) -> list[ScalarType]:
    """The types that a number may be of; what was lost of them is found out in the next build."""
    show(builder, value)
    kinds = _kinds(builder, value)
    if len(kinds) > 1 and any(benign(builder, part.type, value.type) and part.type != value.type for part in kinds):
        revisions.shows_types(builder)
    for part in kinds:
        lost = builder.lost(part)
        if lost is not None:
            tell_type(builder, lost)
    if not from_either(builder, value) and all(benign(builder, part.type, value.type) for part in kinds):
        return [value.type]
    return list(dict.fromkeys(part.type for part in kinds))


def read_as(builder: Building, slot: Slot, of: ScalarType) -> Expr:
    """The number in a slot, where it is known to be of this type."""
    assert slot.buffer is not None
    held = Read(slot.buffer.name, (), slot.buffer.type)
    if not slot.doubtful:
        builder.decided.add(id(held))
        builder._keep.append(held)
    return arith.cast(held, of)


def certain(builder: Building, value: Expr) -> Expr:
    """A number of which it is sure that it has its own type, as int(x) and float(x) give it."""
    if id(value) not in builder.mixed_exprs and builder.lost(value) is None:
        return value
    own = replace(value)
    builder.decided.add(id(own))
    builder._keep.append(own)
    return own


def show(builder: Building, value: Expr) -> None:
    """The user gets to see of which type a number is: floats of Python and of NumPy are told apart from now on."""
    exact = builder.emitter.decisions.exact
    if not exact and id(value) not in builder.mixed_exprs and may_be_python(builder, value):
        revisions.shows_types(builder)


def note_held(builder: Building, value: Expr, buffer: Buffer, slot: Slot | None = None) -> None:
    """A number is written to a buffer: what is not known of its type is not known there either, and if the buffer
    is one of floats, integers of many digits are rounded."""
    if may_be_python(builder, value):
        builder.undecided.add(buffer.name)
    if slot is not None and slot.key in builder.emitter.decisions.rounding:
        builder.rounding.add(buffer.name)
    if not buffer.type.dtype.is_inexact or not any(map(_may_be_rounded, _kinds(builder, value))):
        return
    builder.rounding.add(buffer.name)
    if slot is not None and slot.key not in builder.emitter.decisions.rounding:
        builder.emitter.decisions.rounding.add(slot.key)
        if slot.key in builder.emitter.decisions.tagged:
            raise Restart  # it was read before as if it were exact


def hold_integers(builder: Building, value: Expr) -> None:
    """What a buffer of floats holds is used as the integer that it was: it has not been rounded, or Python runs."""
    if not isinstance(value, Read) or value.buffer not in builder.rounding or not value.type.dtype.is_inexact:
        return
    near = Op("lt", (Op("abs", (arith.cast(value, FLOAT),), FLOAT), Const(2.0**53, FLOAT)), BOOL)
    whole = builder._is_long(value)
    if not isinstance(whole, Const) or whole.value:
        test = Op("or", (near, arith.negate(whole)), BOOL)
        builder.emitter.rarely_fails(test, "an integer beyond 53 bits in a variable of floats")


def of_either(builder: Building, of: EitherType, number: Expr, told: Expr) -> Expr:
    """An item that is of one of two types: a choice by what is told of it."""
    held: Expr = replace(number)
    one, other = (arith.cast(replace(number), kind) for kind in (of.one, of.other))
    note_mixed(builder, held, Mixed(told, other, one))
    return held


def from_either(builder: Building, value: Expr) -> bool:
    """Whether a number is of one of two types that its own has room for: it comes from a container."""
    if not value.type.weak or id(value) not in builder.mixed_exprs:
        return False
    return either({part.type for part in _kinds(builder, value)}) is not None


def refuse_two_results(builder: Building, left: Value, right: Value, node: ast.AST) -> None:
    """NumPy's numbers take part in promotion, and Python's do not: the type of a result must be one all the same.

    Integers compare by their values.
    """
    for mine, other in ((left, right), (right, left)):
        if not isinstance(mine, Scalar) or not from_either(builder, mine.expr):
            continue
        if not isinstance(other, (Scalar, Array)):
            continue
        if isinstance(node, ast.Compare) and mine.type.dtype.is_integer and other.type.dtype.is_integer:
            continue
        kinds = kinds_of(builder, mine.expr)
        if not other.type.weak and len({promote(kind, other.type).dtype for kind in kinds}) > 1:
            reason = "an operand that is either Python's or NumPy's number beside one of less precision"
            raise builder.unsupported(node, reason, "use int() or float()", left=left, right=right)


def settle(builder: Building, values: Sequence[Expr], result: Callable[[Sequence[ScalarType]], object]) -> None:
    """Refuse numbers of two types as operands beside arrays if the types of the results differ: an array has one.
    What was lost of its type is most likely one of Python's integers; if that matters, the next build has it told."""
    if not any(id(part) in builder.mixed_exprs or builder.lost(part) is not None for part in values):
        return
    likely = [{part.type for part in _kinds(builder, value)} for value in values]
    for kinds, value in zip(likely, values):
        if any(builder.lost(part) is not None for part in _kinds(builder, value)):
            kinds |= {value.type, INT, PYBOOL}
    if len({result(way) for way in itertools.product(*likely)}) == 1:
        return
    if len({result(way) for way in itertools.product(*(kinds_of(builder, value) for value in values))}) > 1:
        reason = "a number of one of two types beside an array: the type of the result depends on which it is"
        raise Unsupported(builder.emitter.span, reason, "use int() or float()")


def keep_in_range(builder: Building, value: Scalar, base: Array) -> None:
    """NumPy refuses a Python integer that an array has no room for, and lets one of its own wrap around."""
    if base.type.dtype.is_integer and value.type.dtype.is_integer and base.type.dtype is not DType.I64:
        low, high = arith.limits(base.type.dtype)
        high = min(high, arith.limits(DType.I64)[1])
        bounds = (Op("ge", (value.expr, integer(low)), BOOL), Op("le", (value.expr, integer(high)), BOOL))
        builder.emitter.hand_back(Op("and", bounds, BOOL), "an integer that an array has no room for")


def may_be_python(builder: Building, expr: Expr) -> bool:
    """Whether a NumPy number may, at run time, be one of Python's own: 0.0 to which nothing has been added yet, or
    what is computed from a choice of the two."""
    if expr.type.weak or id(expr) in builder.decided:
        return False
    parts = list(walk.subexpressions(expr))
    unsure = any(isinstance(part, Read) and part.buffer in builder.undecided for part in parts)
    unsure = unsure or any(id(part) in builder.mixed_exprs for part in parts)
    return unsure and builder._all_may_be_python(expr)


def is_python(builder: Building, expr: Expr) -> Expr | None:
    """Whether a number is one of Python's own; None if nothing tells."""
    choice = builder.mixed_exprs.get(id(expr))
    if choice is not None:
        sides = (is_python(builder, choice.then), is_python(builder, choice.orelse))
        return None if sides[0] is None or sides[1] is None else arith.select(choice.test, sides[0], sides[1])
    if expr.type.weak:
        return Const(True, BOOL)
    if isinstance(expr, Read):
        return None if expr.buffer in builder.undecided else Const(False, BOOL)
    if not isinstance(expr, Op) or expr.op not in _ARITHMETIC:
        return None
    found: Expr = Const(True, BOOL)
    for arg in expr.args:
        part = is_python(builder, arg)
        if part is None:
            return None
        found = arith.conjunction(found, part)
    return found


def python_kind(builder: Building, expr: Expr) -> str:
    """Of which kind a number is where it is Python's: "f", "i", or "" if that is not known."""
    choice = builder.mixed_exprs.get(id(expr))
    if choice is not None:
        sides = [side for side in (choice.then, choice.orelse) if side.type.weak or id(side) in builder.mixed_exprs]
        kinds = {python_kind(builder, side) for side in sides}
        return kinds.pop() if len(kinds) == 1 else ""
    if expr.type.weak:
        return "f" if expr.type.dtype.is_float else "i"
    if not isinstance(expr, Op) or expr.op not in _ARITHMETIC:
        return ""
    kinds = {python_kind(builder, arg) for arg in expr.args}
    return "f" if expr.op == "truediv" or "f" in kinds else kinds.pop() if len(kinds) == 1 else ""


def type_may_differ(builder: Building, expr: Expr, of: ScalarType) -> bool:
    """Whether a value, kept as an `of`, may be of another Python type, one that the user could tell from it."""
    kinds = _kinds(builder, expr)
    known = len(kinds) == 1 or all(benign(builder, part.type, of) for part in kinds)
    return not known or any(builder.lost(part) is not None for part in kinds)


def hold_whole(builder: Building, value: Expr, of: ScalarType) -> None:
    """A Python number in a variable of NumPy's narrower ones is one of those, or Python runs.

    0.0 is a number of float32, 0.1 is none.
    """
    narrow = value.type.weak and not of.weak and _is_narrower(of.dtype, value.type.dtype)
    if not narrow or (of.dtype is DType.F64 and affine(value) is not None):
        return
    reason = f"a Python number that {of.dtype.numpy.name} cannot hold, in a variable of such numbers"
    if not isinstance(value, Const):
        back = arith.cast(arith.cast(value, of), value.type)
        same = Op("or", (Op("eq", (back, value), BOOL), Op("ne", (value, value), BOOL)), BOOL)
        builder.emitter.hand_back(same, reason)
    elif not _holds(of.dtype, value.value):
        raise Unsupported(builder.emitter.span, reason, "convert it, as in np.float32(0.1)")


def _is_other(builder: Building, value: Expr, of: ScalarType) -> Expr:
    """Whether a number is of another type than a slot's own."""
    choice = builder.mixed_exprs.get(id(value))
    if choice is None:
        return Const(not benign(builder, value.type, of), BOOL)
    return arith.select(choice.test, _is_other(builder, choice.then, of), _is_other(builder, choice.orelse, of))


def note_other(builder: Building, place: revisions.Place, value: Expr, of: ScalarType) -> None:
    """A number of another type than that of its variable is written there: the type that a tag would tell."""
    for part in _kinds(builder, value):
        if builder.lost(part) is not None:
            return
        if not benign(builder, part.type, of):
            builder.others.setdefault(place, part.type)
            return


def tell_type(builder: Building, buffer: str) -> None:
    """Build again with a tag that tells of which type the number in a buffer is."""
    place = builder.widened[buffer]
    revisions.is_tagged(builder, place, builder.others.get(place))


def _is_too_dear(builder: Building, value: Expr, of: ScalarType) -> bool:
    """Whether a tag would keep a table from being tiled: in nested loops `best = h`, with an `h` that is
    `max(0.0, t[i, j])`, counts as NumPy's."""
    floats = all(part.type.dtype is of.dtype and of.dtype.is_inexact for part in _kinds(builder, value))
    return floats and len(builder.emitter.dims) > 1 and isinstance(value, Read) and id(value) in builder.mixed_exprs


def _note_constants(builder: Building, value: Expr, held: Read) -> None:
    """Remember the constant that a number in a buffer is wherever it is Python's own; None if it may be another one."""
    for part in _kinds(builder, value):
        if not part.type.weak:
            continue
        own = part if isinstance(part, Const) else None
        if own is None and isinstance(value, Read):
            own = builder.constants_of.get(value.buffer)
        if builder.constants_of.setdefault(held.buffer, own) != own:
            builder.constants_of[held.buffer] = None


def _note_first(builder: Building, tag: str, value: Expr, held: Read) -> None:
    is_other = _is_other(builder, value, held.type)
    if isinstance(is_other, Const) and not is_other.value:
        return
    first = value if isinstance(value, Const) and value.value == value.value else None
    known = builder.firsts.get(tag)
    builder.firsts[tag] = (held, first if known is None or known[1] == first else None)


def tested_late(builder: Building, test: Expr) -> Expr:
    """tag  -->  told = False; if number == first: told = tag

    A tag that a loop computes is looked for only if the number is still, or again, the constant it began with.
    """
    untold = builder.untold.get(test.buffer) if isinstance(test, Read) else None
    constant = None if untold is None else builder.constants_of.get(untold.buffer)
    if untold is not None and constant is not None:
        differs = Op("ne", (replace(untold), arith.cast(constant, untold.type)), BOOL)
        builder.emitter.rarely_fails(differs, "a number that is Python's or NumPy's, which nothing tells")
    held, first = builder.firsts.get(test.buffer, (None, None)) if isinstance(test, Read) else (None, None)
    if held is None or first is None:
        return test
    told = builder.emitter.declare("told", BOOL)
    builder.emitter.assign((), told.name, (), Const(False, BOOL))
    with builder.emitter.capture() as block:
        builder.emitter.assign((), told.name, (), test)
    same = Op("eq", (replace(held), arith.cast(first, held.type)), BOOL)
    builder.emitter.emit(If(same, tuple(block), (), builder.emitter.span))
    return Read(told.name, (), BOOL)


def slot_number(builder: Building, slot: Slot) -> Scalar:
    """The number in a slot that no name stands for: by its tag, if it may be of two types."""
    assert slot.buffer is not None
    held = Read(slot.buffer.name, (), slot.buffer.type)
    other = builder.emitter.decisions.tagged.get(slot.key)
    if slot.tag is not None and other is not None:
        told = Read(slot.tag.name, (), BOOL)
        note_mixed(builder, held, Mixed(told, arith.cast(replace(held), other), replace(held)))
    return Scalar(held)


def _is_long(of: ScalarType) -> bool:
    return of.dtype in (DType.I64, DType.U64)


def _may_be_rounded(value: Expr) -> bool:
    """Whether a number may be an integer that no float is equal to."""
    if not _is_long(value.type):
        return False
    if isinstance(value, Const):
        return abs(value.value.real) >= 2**53
    form = affine(value)  # of sizes, and of numbers below 2**40
    return form is None or abs(form.constant) > 2**50 or any(abs(factor) > 2**10 for _, factor in form.terms)


def _is_narrower(dtype: DType, than: DType) -> bool:
    """Whether some Python numbers of one dtype are no numbers of another."""
    if than is DType.I64:
        return dtype is not DType.I64 and dtype is not DType.C128
    return (than, dtype) in ((DType.F64, DType.F32), (DType.F64, DType.C64), (DType.C128, DType.C64))


def _holds(dtype: DType, value: bool | int | float | complex) -> bool:
    """Whether a dtype has this very number (or NaN)."""
    if dtype.is_integer:
        low, high = arith.limits(dtype)
        return low <= value.real <= high
    return value != value or dtype.numpy.type(value).item() == value
