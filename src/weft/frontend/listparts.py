"""Parts of lists, and lists as wholes.  In: `xs[a:b] = ys`, `del xs[a:b]`, `xs == ys`, `xs < ys`, the methods of deques
that turn them round; out: statements over memory that grows (`weft.frontend.growing`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from weft.frontend import arith
from weft.frontend.building import Building
from weft.frontend.constants import constant_int
from weft.frontend.core import is_list
from weft.frontend.growing import Cells
from weft.frontend.indexing import either_way
from weft.frontend.items import compared, has_lists, has_objects, has_texts
from weft.frontend.lists import arguments, joined_lists, list_items, new_item
from weft.frontend.strings import is_text
from weft.frontend.values import Array, ItemType, Object, Records, Scalar, Slice, Tuple, Value
from weft.frontend.writing import loop, repeat, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.types import BOOL, INT, PYBOOL
from weft.records import dataclass


@dataclass(frozen=True)
class _Span:
    """The places `first`, `first + step`, ...: `count` of them."""

    first: Expr
    step: Expr
    count: Expr


def _clamped(value: Expr, low: Expr, high: Expr) -> Expr:
    return Op("minimum", (Op("maximum", (value, low), INT), high), INT)


class ListParts(Building):
    """Slices of lists as targets, and comparisons of lists."""

    # --- slices as targets ------------------------------------------------------------------------------------------

    def _copied(
        self, cells: Cells, layout: ItemType, value: Value, node: ast.AST
    ) -> tuple[Callable[[Expr], list[Expr]], Expr]:
        """Items in memory of their own, so that a list may get a part of itself; and how many there are."""
        emitter = self.emitter
        if isinstance(value, Tuple):
            taken = [new_item(self, cells, layout, item, node) for item in value.items]
            total: Expr = integer(len(taken))
        else:
            run = self.iteration(value, node)
            total = emitter.snapshot(Op("add", (run.trips, ZERO), INT), "count")
        types = [emitter.buffers[name].type for name in cells.growing.data]
        buffers = [emitter.allocate("part", of, (total,)) for of in types]
        if isinstance(value, Tuple):
            for position, numbers in enumerate(taken):
                for buffer, number in zip(buffers, numbers):
                    emitter.assign((), buffer.name, (integer(position),), number)
        else:
            with loop(emitter, ZERO, total) as at:
                for buffer, number in zip(buffers, new_item(self, cells, layout, run.item(at), node)):
                    emitter.assign((), buffer.name, (at,), number)
        return lambda at: [Read(buffer.name, (at,), buffer.type) for buffer in buffers], total

    def _eval_list(self, node: ast.List) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            before = self.emitter.mutations
            values = self.evaluate_all([item.value if isinstance(item, ast.Starred) else item for item in node.elts])
            if self.emitter.mutations != before:
                raise self.unsupported(node, "a list display whose items change what * takes", "append them one by one")
            return self.display(list(zip(node.elts, values)), node)
        items = tuple(self.evaluate_all(node.elts))
        return Tuple(items, is_list=True, site=None if items else self.site(node))

    def display(self, parts: list[tuple[ast.expr, Value]], node: ast.List) -> Value:
        """[*xs, y, *zs]"""
        made: Value = Tuple((), is_list=True, site=self.site(node))
        for item, value in parts:
            spread = isinstance(item, ast.Starred)
            known = isinstance(made, Tuple) and (not spread or isinstance(value, Tuple))
            if known and isinstance(made, Tuple):
                made = Tuple((*made.items, *(value.items if spread and isinstance(value, Tuple) else (value,))), True)
                continue
            piece = self.listed(value) if spread else Tuple((value,), is_list=True)
            empty = isinstance(made, Tuple) and not made.items
            made = piece if empty else joined_lists(self, made, piece, node)
        return made

    # --- deques -----------------------------------------------------------------------------------------------------

    def _list_rotate(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        by = args[0] if args else Scalar(ONE)
        if len(args) > 1 or not isinstance(by, Scalar) or not by.type.dtype.is_integer:
            raise self.unsupported(node, "TypeError: rotate() by this", "use an integer", by=by)
        emitter, count = self.emitter, cells.last()
        with when(emitter, Op("gt", (count, ZERO), BOOL)):
            turns = emitter.snapshot(Op("mod", (arith.cast(by.expr, INT), count), INT), "turns")
            with loop(emitter, ZERO, turns):
                cells.push_front(cells.pop())
        return Object(None)

    def _list_extendleft(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (value,) = arguments(self, args, 1, "extendleft", node)
        columns, many = self._copied(cells, layout, value, node)
        with loop(self.emitter, ZERO, many) as at:
            cells.push_front([self.emitter.snapshot(number, "item") for number in columns(at)])
        return Object(None)


def _span(builder: Building, key: Slice, count: Expr, node: ast.AST) -> _Span:
    """The places that a slice of a list of so many items stands for."""
    emitter = builder.emitter
    if isinstance(key.step, Scalar) and not isinstance(key.step.expr, Const):
        by = emitter.snapshot(arith.cast(key.step.expr, INT), "step")
        first, many = either_way(key, count, by, emitter)
        return _Span(first, by, many)
    step = 1 if key.step is None else constant_int(key.step, emitter)
    if step == 0:
        raise builder.unsupported(node, "ValueError: slice step cannot be zero")
    low, high = (ZERO, count) if step > 0 else (integer(-1), ix.sub(count, ONE))
    ends = []
    for value, default in ((key.lo, low if step > 0 else high), (key.hi, high if step > 0 else low)):
        if value is None:
            ends.append(default)
            continue
        if not isinstance(value, Scalar) or not value.type.dtype.is_integer:
            raise builder.unsupported(node, "a bound of a slice that is no integer", bound=value)
        at = emitter.snapshot(arith.cast(value.expr, INT), "at")
        wrapped = Op("select", (Op("lt", (at, ZERO), BOOL), Op("add", (at, count), INT), at), INT)
        ends.append(emitter.snapshot(_clamped(wrapped, low, high), "end"))
    length = ix.sub(ends[1], ends[0]) if step > 0 else ix.sub(ends[0], ends[1])
    if abs(step) > 1:
        length = Op("floordiv", (ix.add(length, integer(abs(step) - 1)), integer(abs(step))), INT)
    return _Span(ends[0], integer(step), emitter.snapshot(Op("maximum", (length, ZERO), INT), "many"))


def _cells_of(builder: Building, base: Value, what: str, node: ast.AST) -> tuple[Cells, ItemType]:
    """The memory of a list that may change its length."""
    builder.will_change(base)
    if isinstance(base, (Array, Records)) and base.growing is not None:
        held = base.growing
        if held.spare and held.shared is None and held.head is None:
            return Cells(builder.emitter, held), base.type if isinstance(base, Array) else base.item
    raise builder.unsupported(node, what, "use a list made here", base=base)


def delete_part(builder: Building, base: Value, key: Slice, node: ast.AST) -> None:
    """del base[a:b]"""
    cells, _ = _cells_of(builder, base, "del of a part of this", node)
    emitter, count = builder.emitter, cells.last()
    span = _span(builder, key, count, node)
    back = Op("mul", (span.step, Op("sub", (span.count, ONE), INT)), INT)
    down = Op("lt", (span.step, ZERO), BOOL)
    lowest = Op("select", (down, Op("add", (span.first, back), INT), span.first), INT)
    first = span.first if span.step == ONE else emitter.snapshot(lowest, "first")
    step = ONE if span.step == ONE else emitter.snapshot(Op("abs", (span.step,), INT), "width")
    with when(emitter, Op("gt", (span.count, ZERO), BOOL)):
        # Behind the k-th item that goes there are step - 1 that stay, and behind the last one all others.
        with loop(emitter, ZERO, ix.sub(span.count, ONE)) as turn, loop(emitter, ZERO, ix.sub(step, ONE)) as at:
            source = ix.add(ix.add(first, ix.mul(step, turn)), ix.add(at, ONE))
            cells.write(ix.sub(ix.sub(source, turn), ONE), cells.read(source))
        last = ix.add(first, ix.mul(step, ix.sub(span.count, ONE)))
        start = emitter.snapshot(ix.add(last, ONE), "start")
        with loop(emitter, ZERO, ix.sub(count, start)) as at:
            cells.write(ix.sub(ix.add(start, at), span.count), cells.read(ix.add(start, at)))
        cells.length.set(Op("sub", (count, span.count), INT))
    emitter.mutations += 1


def store_part(builder: Building, base: Value, key: Slice, value: Value, node: ast.AST) -> None:
    """base[a:b] = value"""
    cells, layout = _cells_of(builder, base, "an assignment to a slice of a list", node)
    emitter = builder.emitter
    columns, many = builder._copied(cells, layout, value, node)
    count = cells.last()
    span = _span(builder, key, count, node)
    if span.step == ONE:
        _shift(builder, cells, count, ix.add(span.first, span.count), emitter.snapshot(ix.sub(many, span.count), "by"))
    else:
        if not isinstance(span.step, Const):
            fits = Op("or", (Op("ne", (span.step, ONE), BOOL), Op("eq", (many, span.count), BOOL)), BOOL)
            emitter.rarely_fails(fits, "a part of a list by a step that turns out to be 1, of another length")
        text = "attempt to assign sequence of size {0} to extended slice of size {1}"
        emitter.check(Op("eq", (many, span.count), BOOL), "ValueError", text, (many, span.count))
    with loop(emitter, ZERO, many) as at:
        cells.write(ix.add(span.first, ix.mul(span.step, at)), columns(at))
    emitter.mutations += 1


def repeat_itself(builder: Building, base: Value, times: Expr, node: ast.AST) -> None:
    """base *= times"""
    cells, _ = _cells_of(builder, base, "an update in place of this list", node)
    emitter, count = builder.emitter, cells.last()
    often = emitter.snapshot(Op("maximum", (arith.cast(times, INT), ZERO), INT), "times")
    total = emitter.snapshot(Op("mul", (often, count), INT), "total")
    cells.make_room(total)
    with loop(emitter, ONE, often) as turn, loop(emitter, ZERO, count) as at:
        cells.write(Op("add", (Op("mul", (turn, count), INT), at), INT), cells.read(at))
    cells.length.set(total)
    emitter.mutations += 1


def _shift(builder: Building, cells: Cells, count: Expr, start: Expr, by: Expr) -> None:
    """The items from `start` on move up or down."""
    emitter = builder.emitter
    start = emitter.snapshot(start, "start")
    tail = emitter.snapshot(ix.sub(count, start), "tail")
    with when(emitter, Op("gt", (by, ZERO), BOOL)):
        cells.make_room(ix.add(count, by))
        with loop(emitter, ZERO, tail) as step:
            place = ix.sub(ix.sub(count, ONE), step)
            cells.write(ix.add(place, by), cells.read(place))
    with when(emitter, Op("lt", (by, ZERO), BOOL)), loop(emitter, ZERO, tail) as at:
        cells.write(ix.add(ix.add(start, at), by), cells.read(ix.add(start, at)))
    cells.length.set(Op("add", (count, by), INT))


def with_middle(builder: Building, value: Array | Records, place: int, targets: int, node: ast.AST) -> Tuple:
    """a, *b, c = xs, of a list: its first and last items, and the list of those between."""
    emitter = builder.emitter
    size = value.shape[0] if isinstance(value, Array) else value.growing.size
    count = emitter.snapshot(Op("add", (size, ZERO), INT), "count")
    enough = Op("ge", (count, integer(targets - 1)), BOOL)
    message = f"not enough values to unpack (expected at least {targets - 1}, got {{0}})"
    emitter.check(enough, "ValueError", message, (count,))
    end = emitter.snapshot(Op("sub", (count, integer(targets - 1 - place)), INT), "end")
    places: list[Expr] = [integer(k) for k in range(place)]
    places += [Op("add", (end, integer(k)), INT) for k in range(targets - 1 - place)]
    items = [builder.subscript(value, Scalar(at), node) for at in places]
    middle = builder.subscript(value, Slice(Scalar(integer(place)), Scalar(end), None), node)
    return Tuple((*items[:place], builder.listed(middle), *items[place:]))


def list_comparison(builder: Building, name: str, left: Value, right: Value, node: ast.AST) -> Value:
    """left == right and so on, of two lists: the first items that differ decide, and then the lengths."""
    emitter = builder.emitter
    for value in (left, right):
        if has_objects(value.item if isinstance(value, Records) else None):
            raise builder.unsupported(node, "this comparison of lists", left=left, right=right)
    runs = [_compared_items(builder, value, node) for value in (left, right)]
    counts = [emitter.snapshot(Op("add", (count, ZERO), INT), "count") for _, count in runs]
    common = emitter.snapshot(Op("minimum", (counts[0], counts[1]), INT), "common")
    place = variable(emitter, "place", ZERO)
    same = variable(emitter, "same", Const(True, PYBOOL))
    going = Op("and", (same.value, Op("lt", (place.value, common), BOOL)), PYBOOL)
    with repeat(emitter, going):
        mine, other = (item(place.value) for item, _ in runs)
        same.set(arith.cast(equal_items(builder, mine, other, node), PYBOOL))
        with when(emitter, same.value):
            place.set(Op("add", (place.value, ONE), INT))
    by_length = arith.compare(name, counts[0], counts[1], emitter.span)
    if name in ("eq", "ne"):
        all_same = Op("and", (same.value, Op("eq", (counts[0], counts[1]), BOOL)), PYBOOL)
        return Scalar(emitter.snapshot(all_same if name == "eq" else arith.negate(all_same), "equal"))
    result = variable(emitter, "result", arith.cast(by_length, PYBOOL))
    with when(emitter, Op("not", (same.value,), PYBOOL)):
        mine, other = (item(place.value) for item, _ in runs)
        before = _ordered_items(builder, name, mine, other, node)
        result.set(arith.cast(before, PYBOOL))
    return Scalar(emitter.snapshot(result.value, "result"))


def _compared_items(builder: Building, value: Value, node: ast.AST) -> tuple[Callable[[Expr], Value], Expr]:
    if isinstance(value, Tuple):
        known = list_items(builder, value, node)
        if known is None:
            return lambda at: Scalar(ZERO), ZERO
        value = known
    run = builder.iteration(value, node)
    return run.item, run.trips


def equal_items(builder: Building, mine: Value, other: Value, node: ast.AST) -> Expr:
    """Whether two items are equal, or the same object, which of NaN only Python knows."""
    if isinstance(mine, Tuple) and isinstance(other, Tuple):
        if len(mine.items) != len(other.items):
            return Const(False, PYBOOL)
        parts = [equal_items(builder, a, b, node) for a, b in zip(mine.items, other.items)]
        return parts[0] if len(parts) == 1 else Op("and", (parts[0], _all(parts[1:])), BOOL)
    within = _sequences_compared(builder, "eq", mine, other, node)
    if within is not None:
        return arith.cast(within, BOOL)
    if not isinstance(mine, Scalar) or not isinstance(other, Scalar):
        raise builder.unsupported(node, "a comparison of lists of different items", mine=mine, other=other)
    a, b = builder.emitter.snapshot(mine.expr, "mine"), builder.emitter.snapshot(other.expr, "other")
    if a.type.dtype.is_inexact and b.type.dtype.is_inexact:
        told = Op("or", (Op("eq", (a, a), BOOL), Op("eq", (b, b), BOOL)), BOOL)
        builder.emitter.hand_back(told, "NaN in lists that are compared")
    return arith.cast(arith.compare("eq", a, b, builder.emitter.span), BOOL)


def _sequences_compared(builder: Building, name: str, mine: Value, other: Value, node: ast.AST) -> Expr | None:
    """Items that are strings or lists themselves; None if they are neither."""
    if is_text(mine) and is_text(other):
        result = builder.text_comparison(name, mine, other, node)
    elif is_list(mine) and is_list(other):
        result = list_comparison(builder, name, mine, other, node)
    else:
        return None
    assert isinstance(result, Scalar)
    return result.expr


def _ordered_items(builder: Building, name: str, mine: Value, other: Value, node: ast.AST) -> Expr:
    if isinstance(mine, Tuple) and isinstance(other, Tuple):
        ordered = builder.tuple_order(name, mine, other, node)
        assert isinstance(ordered, Scalar)
        return ordered.expr
    within = _sequences_compared(builder, name, mine, other, node)
    if within is not None:
        return within
    assert isinstance(mine, Scalar) and isinstance(other, Scalar)
    return arith.compare(name, mine.expr, other.expr, builder.emitter.span)


def record_among(builder: Building, base: Records, wanted: Value, node: ast.AST) -> Expr:
    """wanted in base, of tuples of numbers"""
    plain = not (has_lists(base.item) or has_texts(base.item) or has_objects(base.item))
    if not plain or not builder.accepts(base.item, wanted):
        raise builder.unsupported(node, "`in` for this container", left=wanted, right=base)
    emitter, cells = builder.emitter, Cells(builder.emitter, base.growing)
    numbers = [emitter.snapshot(number, "wanted") for number in builder.numbers(base.item, wanted)]
    if any(number.type.dtype.is_inexact for number in numbers):
        good = _all([Op("eq", (number, number), BOOL) for number in numbers])
        emitter.hand_back(good, "NaN that is looked for in a list")
    found, place = variable(emitter, "found", Const(False, PYBOOL)), variable(emitter, "place", ZERO)
    count = cells.last()
    searching = Op("and", (Op("not", (found.value,), PYBOOL), Op("lt", (place.value, count), BOOL)), PYBOOL)
    with repeat(emitter, searching):
        pairs = zip(cells.read(place.value), numbers, compared(base.item))
        same = [Op("eq", (mine, number), BOOL) for mine, number, counts in pairs if counts]
        found.set(arith.cast(_all(same), PYBOOL))
        place.set(Op("add", (place.value, ONE), INT))
    return emitter.snapshot(found.value, "found")


def _all(tests: Sequence[Expr]) -> Expr:
    result = tests[0]
    for test in tests[1:]:
        result = Op("and", (result, test), BOOL)
    return result
