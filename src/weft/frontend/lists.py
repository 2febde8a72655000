"""Python lists whose length changes, of numbers or of tuples of numbers, and deques.  In: `append`, `pop`, `insert`...;
out: statements over memory that grows (`weft.frontend.growing`).

    xs.append(v)  -->  if n == room: room = 2 * room; alloc spare; spare[i] = data[i]; data, spare = spare, data
                       data[n] = v; n = n + 1

To everything that only reads a list of numbers, it is the array of its first n items.  Two names of one list share its
buffers and its length, so a change is seen through both.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from weft.frontend import arith, arrays, growing, revisions
from weft.frontend.appended import items_appended
from weft.frontend.blocks import in_block
from weft.frontend.building import Building
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import (
    agree,
    as_value,
    compared,
    has_gaps,
    has_lists,
    has_texts,
    is_plain,
    layout_of,
    merged,
    numbers_of,
    row_of,
    takes,
    types_in,
)
from weft.frontend.nested import (
    as_row,
    escapes,
    is_indexed,
    keep_rows,
    list_at,
    names_of,
    resolved,
    rows_change,
    share_rows,
    untyped,
)
from weft.frontend.scope import Scope
from weft.frontend.slots import only_list
from weft.frontend.values import (
    Array,
    EitherType,
    ItemType,
    ListOf,
    Object,
    OptionOf,
    Records,
    Rows,
    Scalar,
    Text,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ZERO, Const, Expr, Op, integer
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL

#: Methods that change the length of a list.
CHANGES_LENGTH = frozenset(
    {"append", "extend", "pop", "insert", "clear", "remove", "appendleft", "popleft", "rotate", "extendleft"}
)
#: Methods of deques that lists do not have.
_OF_DEQUES = frozenset({"appendleft", "popleft", "rotate", "extendleft"})
_HEAP_FUNCTIONS = frozenset(
    {"heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right"}
)


def grown_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names of lists that a function makes longer or shorter, or gives to a function that does."""
    found: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr in CHANGES_LENGTH and isinstance(node.value, ast.Name):
                found.add(node.value.id)
            elif isinstance(node, ast.Delete):
                found |= {
                    target.value.id
                    for target in node.targets
                    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
                }
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Slice):
                    found.add(node.value.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                adds = isinstance(node.op, ast.Add) and not isinstance(node.value, ast.Constant)
                if adds or isinstance(node.op, ast.Mult):
                    found.add(node.target.id)
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
                called = getattr(node.func, "attr", getattr(node.func, "id", None))
                if called in _HEAP_FUNCTIONS:
                    found.add(node.args[0].id)
    return with_aliases(found, body)


def with_aliases(names: set[str], body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names, and those that may denote the same object: `b = a`."""
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Assign)]
    pairs = [
        {node.value.id, target.id}
        for node in nodes
        if isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    found = set(names)
    while any(pair & found and not pair <= found for pair in pairs):
        found.update(*(pair for pair in pairs if pair & found))
    return frozenset(found)


def changes_list(expression: ast.expr) -> bool:
    """Whether an expression takes something out of a list, or puts something into one."""
    return any(isinstance(node, ast.Attribute) and node.attr in CHANGES_LENGTH for node in ast.walk(expression))


class Lists(Building):
    """Lists that grow and shrink."""

    def bind(self, name: str, value: Value) -> None:
        slot = self.scope.slots.get(name)
        if escapes(self, name) and _is_list(value) and row_of(value) is None:
            keep_rows(self, value)
            _like_before(self, name, value)
            value = as_row(self, _unshared(self, name, value))
        elif escapes(self, name) and isinstance(value, Array) and not value.is_list and value.rank:
            value = in_block(self, value)
        elif slot is not None and isinstance(value, Tuple) and value.is_list and _of_numbers(value):
            value = literal_list(self, value, None)
        elif slot is not None and isinstance(value, Records) and row_of(value) is None:
            if value.is_deque:
                raise self.unsupported(None, f"{name} gets a deque in a loop or branch", "use .clear()")
            revisions.escape(self, [(self.scope.path, name)])
        elif slot is None:
            value = growing_value(self, name, value)
        super().bind(name, value)

    def open_slots(self, names: Iterable[str], owner: ast.AST) -> list[str]:
        for name in names:
            value = self.scope.values.get(name)
            if name not in self.scope.slots and isinstance(value, Tuple) and value.is_list and _of_numbers(value):
                self.scope.values[name] = literal_list(self, value, None)
        return super().open_slots(names, owner)

    def _grown(self) -> frozenset[str]:
        if self.scope.grown is None:
            self.scope.grown = grown_names(self.scope.body)
        return self.scope.grown

    # --- reading ----------------------------------------------------------------------------------------------------

    def record(self, base: Records, key: Value, node: ast.AST | None) -> Value:
        """base[key]"""
        cells = Cells(self.emitter, base.growing)
        message = "deque index out of range" if base.is_deque else "list index out of range"
        position = _sound(self, key, base) or _position(self, key, cells, message, node)
        return self.assembled(base.item, iter(cells.taken(position)))

    def columns(self, cells: Cells, many: int, first: Expr = ZERO) -> list[Array]:
        """The first `many` numbers of all items, or of those from one on, each in a list of its own memory."""
        count = cells.last()
        if first != ZERO:
            count = self.emitter.snapshot(Op("sub", (count, first), INT), "added")
        found = []
        for position, name in enumerate(cells.growing.data[:many]):
            of = self.emitter.buffers[name].type
            column = Array((count,), of, lambda at, p=position: cells.read(ix.add(first, at[0]))[p], is_list=True)  # type: ignore[misc]
            found.append(arrays.materialise(column, self.emitter, "column"))
        return found

    # --- methods ----------------------------------------------------------------------------------------------------

    def list_method(self, receiver: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """A method of a list or deque that changes its length; None if it is another one."""
        if name not in CHANGES_LENGTH:
            return None
        if isinstance(receiver, Tuple) and receiver.is_list and not receiver.items and receiver.key is not None:
            return _first_use(self, receiver, name, args, node)
        self.will_change(receiver)
        if isinstance(receiver, Records):
            held, item = receiver.growing, receiver.item
            if not held.spare:
                rows_change(self, receiver)
                raise self.unsupported(node, f"{name}() of a row of an argument", "use a list made here")
        elif isinstance(receiver, Array) and receiver.is_list:
            if receiver.growing is None:
                rows_change(self, receiver)
                self.escape(receiver)
                raise self.unsupported(node, f"{name}() of a list whose length is fixed", "use a list made here")
            held, item = receiver.growing, receiver.type
        else:
            return None
        is_deque = isinstance(receiver, Records) and receiver.is_deque
        if (name in _OF_DEQUES) > is_deque or (is_deque and name in ("insert", "remove")):
            raise self.unsupported(node, f"the method {name}", receiver=receiver)
        if is_deque and held.length in self.run_through:
            self.emitter.hand_back(Const(False, BOOL), "a deque that changes while a loop runs through it")
        cells = Cells(self.emitter, held)
        kind = "deque" if is_deque and name == "pop" else "list"
        result: Value = getattr(self, f"_{kind}_{name}")(cells, item, args, node)
        if held.limit is not None and name in ("append", "extend", "appendleft", "extendleft"):
            cells.keep_within(held.limit, at_front=name.endswith("left"))
        self.emitter.mutations += 1
        return result

    def _list_append(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = arguments(self, args, 1, "append", node)
        cells.push(new_item(self, cells, layout, item, node))
        return Object(None)

    def _list_appendleft(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = arguments(self, args, 1, "appendleft", node)
        cells.push_front(new_item(self, cells, layout, item, node))
        return Object(None)

    def _list_extend(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (value,) = arguments(self, args, 1, "extend", node)
        if isinstance(value, Tuple):
            taken = [new_item(self, cells, layout, item, node) for item in value.items]
            for item in taken:
                cells.push(item)
            return Object(None)
        if isinstance(value, (Records, Rows)) or (isinstance(value, Array) and value.rank > 1):
            return _extend_by_items(self, cells, layout, value, node)
        items = list_items(self, value, node)
        assert items is not None
        if items.type != layout:
            return _extend_by_items(self, cells, layout, items, node)
        count = self.emitter.snapshot(Op("add", (items.shape[0], ZERO), INT), "count")  # before it grows: xs.extend(xs)
        with loop(self.emitter, ZERO, count) as position:
            cells.push((self.emitter.snapshot(items.element((position,)), "item"),))
        return Object(None)

    def _deque_pop(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        arguments(self, args, 0, "pop", node)
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from an empty deque")
        return self.assembled(layout, iter(cells.pop()))

    def _list_pop(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from empty list")
        if not args:
            return self.assembled(layout, iter(cells.pop()))
        (key,) = arguments(self, args, 1, "pop", node)
        position = _position(self, key, cells, "pop index out of range", node)
        item = cells.taken(position)
        cells.close_gap(position)
        return self.assembled(layout, iter(item))

    def _list_popleft(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        arguments(self, args, 0, "popleft", node)
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from an empty deque")
        return self.assembled(layout, iter(cells.pop_front()))

    def _list_insert(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        key, item = arguments(self, args, 2, "insert", node)
        numbers = new_item(self, cells, layout, item, node)
        place = _item_place(self, key, cells, node)
        bounded = Op("minimum", (Op("maximum", (place, ZERO), INT), cells.length.value), INT)
        cells.insert(self.emitter.snapshot(bounded, "place"), numbers)
        return Object(None)

    def _list_clear(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        arguments(self, args, 0, "clear", node)
        cells.clear()
        return Object(None)

    def _list_remove(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = arguments(self, args, 1, "remove", node)
        if has_lists(layout):
            raise self.unsupported(node, "remove() of a list from a list", "compare the items in a loop")
        emitter = self.emitter
        numbers = new_item(self, cells, layout, item, node)
        place = variable(emitter, "place", cells.length.value)
        seen = cells.last()
        with loop(emitter, ZERO, seen) as step:
            position = ix.sub(ix.sub(seen, integer(1)), step)  # from the end, so that the first one stays
            same: Expr | None = None
            for mine, other, counts in zip(cells.read(position), numbers, compared(layout)):
                if not counts:
                    continue
                equal = Op("eq", (mine, other), BOOL)
                same = equal if same is None else Op("and", (same, equal), BOOL)
            assert same is not None
            with when(emitter, same):
                place.set(position)
        emitter.check(Op("lt", (place.value, cells.length.value), BOOL), "ValueError", "list.remove(x): x not in list")
        cells.close_gap(emitter.snapshot(Op("add", (place.value, ZERO), INT), "place"))
        return Object(None)

    def tuple_order(self, name: str, left: Tuple, right: Tuple, node: ast.AST) -> Value:
        """left < right: the first parts that differ decide."""
        if layout_of(left) is None or has_lists(layout_of(left)) or layout_of(left) != layout_of(right):
            raise self.unsupported(node, "this comparison of tuples", left=left, right=right)
        pairs = list(zip(parts_of(left), parts_of(right)))
        result = part_order(self, name, *pairs[-1], node)
        strict = {"le": "lt", "ge": "gt"}.get(name, name)
        for mine, other in reversed(pairs[:-1]):
            before, same = (part_order(self, kind, mine, other, node) for kind in (strict, "eq"))
            result = Op("or", (before, Op("and", (same, result), PYBOOL)), PYBOOL)
        return Scalar(result)


def _like_before(builder: Building, name: str, value: Value) -> None:
    """A new empty list holds what the name's last list does."""
    before = builder.scope.values.get(name)
    if row_of(before) is not None and isinstance(value, Tuple) and not value.items:
        known = builder.layout(before)  # type: ignore[arg-type]
        if isinstance(known, ListOf) and known.item is not None:
            empty = builder.layout(value)
            if isinstance(empty, ListOf) and empty.item is None:
                builder.accepts(empty, before)  # type: ignore[arg-type]


def _unshared(builder: Building, name: str, value: Value) -> Value:
    """A list that becomes one among others when it gets a name; its other names must have it from there, too."""
    places = list(names_of(builder, value))
    others = [place for place in places if place != (builder.scope.path, name)]
    if places and not others and isinstance(value, (Array, Records)):
        # It came here as an argument, or out of a loop that holds a copy: a row of its own would be another list.
        raise builder.unsupported(None, f"{name}, which is given a list that has its name already")
    if others:
        revisions.escape(builder, others)
    return value


def growing_value(builder: Building, name: str, value: Value) -> Value:
    """What a name is bound to: a list that is going to change its length gets room for that."""
    empty = isinstance(value, Tuple) and value.is_list and not value.items
    changes = empty or name in builder._grown() or name in _stored(builder)
    if changes and isinstance(value, Tuple) and value.is_list and value.key is None and _has_a_name(builder, value):
        raise builder.unsupported(None, f"{name} shares a list that has no memory of its own", "use list(...)")
    if isinstance(value, Tuple) and value.is_list and name in _stored(builder) and _of_numbers(value):
        value = literal_list(builder, value, None)
    if is_indexed(builder, name) and isinstance(value, Tuple) and value.is_list and value.items and value.key is None:
        return started(builder, name, value, is_deque=False)
    if isinstance(value, Array) and value.is_list and value.growing is None and value.rank == 1 and changes:
        both = _held_both(builder, name, value)
        if both is not None:
            return both
    if not empty and name not in builder._grown():
        return value
    if isinstance(value, Array) and value.is_list and value.growing is None:
        view = value.view
        if view is not None and not (view.whole and only_list(builder, name, view.buffer)):
            builder.will_change(value)
            rows_change(builder, value)
            raise builder.unsupported(None, f"{name} shares a list whose length is fixed", f"use {name} = list(...)")
        return _filled(builder, name, value)
    if not isinstance(value, Tuple) or not value.is_list or value.key is not None:
        return value
    return started(builder, name, value, is_deque=False)


def started(builder: Building, name: str, value: Tuple, is_deque: bool) -> Value:
    """A list or deque with these first items; the type of an empty one is told by what is put into it first."""
    key = _made_here(builder, name)
    layout = resolved(builder, builder.emitter.decisions.items.get(key))
    if value.items:
        layout = _first_layout(builder, value, layout)
    elif layout is None and not is_deque:
        layout = items_appended(builder, name)
        if layout is not None:
            builder.emitter.decisions.items[key] = layout
    if layout is None:
        return replace(value, key=key, is_deque=is_deque)
    room = integer(len(value.items) + EXTRA_ROOM)
    made = growing.make(builder.emitter, name, types_in(layout), room, is_deque)
    builder.made_at[made.data[0]] = key
    for item in value.items:
        Cells(builder.emitter, made).push(tuple(builder.numbers(layout, item)))
    return as_value(made, layout, is_deque)


def _made_here(builder: Building, name: str) -> tuple[int, str]:
    """Where a list is made that gets this name: the same in every attempt at a build."""
    span = builder.emitter.span
    return (hash((builder.scope.path, span.line, span.column)), f"items of {name}")


def _held_both(builder: Building, name: str, value: Array) -> Value | None:
    """A list of numbers that later gets some of another type, with room for those; None if it does not."""
    view, key = value.view, _made_here(builder, name)
    if view is not None and not (view.whole and only_list(builder, name, view.buffer)):
        return None
    layout = builder.emitter.decisions.items.get(key)
    if not isinstance(layout, EitherType):
        if view is not None:
            builder.made_at[view.buffer] = key
        return None
    count = builder.emitter.stable(value.shape[0])
    made = growing.make(builder.emitter, name, types_in(layout), ix.add(count, integer(EXTRA_ROOM)))
    for place, column in enumerate(made.data):
        dims, at = builder.emitter.domain((count,))
        builder.emitter.assign(dims, column, at, builder.numbers(layout, Scalar(value.element(at)))[place])
    Cells(builder.emitter, made).length.set(count)
    return as_value(made, layout, False)


def hold_both(builder: Building, base: Array, value: Scalar, node: ast.AST) -> None:
    """base[...] = value, where that may be of another type than the list's: build again with one for both."""
    layout = builder.layout(value)
    if layout == base.type:
        return
    buffer = base.growing.data[0] if base.growing is not None else base.view.buffer if base.view is not None else ""
    both, key = merged(base.type, layout), builder.made_at.get(buffer)
    if both is not None and key is not None and row_of(base) is None and base.rank == 1:
        revisions.holds_items(builder, key, both)
    raise builder.unsupported(node, f"a {value.type} stored into a list of {base.type}", "keep one type in a list")


def _first_layout(builder: Building, value: Tuple, known: ItemType | None) -> ItemType:
    """The type of the items of a list, all of which are known; `known`: what later items tell."""
    layouts = [builder.layout(item) for item in value.items]
    found = known or next((layout for layout in layouts if not has_gaps(layout)), layouts[0])
    if found is not None and not all(takes(found, layout) for layout in layouts):
        found = functools.reduce(merged, layouts)
    if found is None or not all(takes(found, layout) for layout in layouts):
        raise builder.unsupported(None, "a list of different types", "keep one type in a list", items=value)
    for item in value.items:
        builder.accepts(found, item)
    return found


def _has_a_name(builder: Building, value: Tuple) -> bool:
    scope: Scope | None = builder.scope
    while scope is not None:
        if any(value is known for known in scope.values.values()):
            return True
        scope = scope.parent
    return False


def _stored(builder: Building) -> frozenset[str]:
    """Names whose items are assigned to."""
    if builder.scope.stored is None:
        nodes = [node for statement in builder.scope.body for node in ast.walk(statement)]
        stored = {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        }
        builder.scope.stored = with_aliases(stored, builder.scope.body)
    return builder.scope.stored


def literal_list(builder: Building, value: Tuple, node: ast.AST | None) -> Array:
    """[x, y, z] as a list of one type in a buffer."""
    types = {item.type for item in value.items if isinstance(item, Scalar)}
    if len(types) != 1 or not _of_numbers(value) or any(map(builder.is_choice, value.items)):
        raise builder.unsupported(node, "a list of different types", "keep one type in a list", item=value)
    buffer = builder.emitter.allocate("list", types.pop(), (integer(len(value.items)),))
    for position, item in enumerate(value.items):
        assert isinstance(item, Scalar)
        builder.emitter.assign((), buffer.name, (integer(position),), item.expr)
    return arrays.of_buffer(buffer, is_list=True)


def joined_lists(builder: Building, left: Value, right: Value, node: ast.AST) -> Value:
    """left + right"""
    if any(isinstance(value, Records) or not _holds_numbers(value) for value in (left, right)):
        return _joined_records(builder, left, right, node)
    parts = [part for part in (list_items(builder, value, node) for value in (left, right)) if part is not None]
    if not parts:
        return Tuple((), is_list=True)
    if len({part.type for part in parts}) > 1 or any(part.rank != 1 for part in parts):
        raise builder.unsupported(node, "a list of different types", "keep one type in a list", left=left, right=right)
    counts = [builder.emitter.stable(part.shape[0]) for part in parts]
    total = counts[0] if len(counts) == 1 else ix.add(*counts)
    buffer = builder.emitter.allocate("list", parts[0].type, (total,))
    start: Expr = ZERO
    for part, count in zip(parts, counts):
        dims, at = builder.emitter.domain((count,))
        builder.emitter.assign(dims, buffer.name, (ix.add(start, at[0]),), part.element(at))
        start = ix.add(start, count)
    return arrays.of_buffer(buffer, is_list=True)


def _joined_records(builder: Building, left: Value, right: Value, node: ast.AST) -> Value:
    """left + right, whose items are more than numbers: a new list among others."""
    for value in (left, right):
        if isinstance(value, Array):
            share_rows(builder, value)
    layouts = [builder.layout(value) for value in (left, right)]
    if not agree(*layouts) or not isinstance(layouts[0], ListOf) or not isinstance(layouts[1], ListOf):
        raise builder.unsupported(node, "a list of different types", "keep one type in a list", left=left, right=right)
    whole = layouts[0] if not has_gaps(layouts[0]) else layouts[1]
    for value in (left, right):
        builder.accepts(whole, value)
    if whole.item is None:
        return Tuple((), is_list=True, site=builder.site(node))
    made = list_at(builder.heap(whole.item), builder.new_row(whole.item, left), whole.item)
    builder.list_method(made, "extend", [right], node)
    return made


def repeated_list(builder: Building, items: Array, times: Expr) -> Value:
    """items * times"""
    if items.rank != 1:
        raise builder.unsupported(None, "a list of lists, repeated", "write it as a loop")
    emitter = builder.emitter
    count = emitter.stable(items.shape[0])
    often = emitter.snapshot(Op("maximum", (arith.cast(times, INT), ZERO), INT), "times")
    buffer = emitter.allocate("list", items.type, (emitter.snapshot(Op("mul", (often, count), INT), "total"),))
    with loop(emitter, ZERO, often) as turn:
        dims, at = emitter.domain((count,))
        place = Op("add", (Op("mul", (turn, count), INT), at[0]), INT)
        emitter.assign(dims, buffer.name, (place,), items.element(at))
    return arrays.of_buffer(buffer, is_list=True)


def filled_records(builder: Building, item: Value, length: Expr, node: ast.AST) -> Value | None:
    """[item] * length, of an item that is more than a number; None if there is no such list."""
    emitter, key = builder.emitter, (builder.site(node)[0], "filled")
    layout = builder.layout(item)
    if isinstance(layout, OptionOf) and layout.item is None:
        layout = resolved(builder, OptionOf(None, builder.site(node)))
    layout = resolved(builder, emitter.decisions.items.get(key)) or layout
    if layout is None or (has_gaps(layout) and not isinstance(layout, OptionOf)):
        return None
    numbers = [emitter.snapshot(number, "item") for number in builder.numbers(layout, item)]
    count = emitter.snapshot(Op("maximum", (arith.cast(length, INT), ZERO), INT), "n")
    made = growing.make(emitter, "list", types_in(layout), ix.add(count, integer(EXTRA_ROOM)))
    for name, number in zip(made.data, numbers):
        dims, at = emitter.domain((count,))
        emitter.assign(dims, name, at, number)
    Cells(emitter, made).length.set(count)
    if not isinstance(layout, OptionOf):
        builder.made_at[made.data[0]] = key
    return as_value(made, layout, False)


def all_there(builder: Building, value: Value) -> Value:
    """A list of items that may be None where none of them is, without the flags that tell."""
    if not isinstance(value, Records) or not isinstance(value.item, OptionOf) or row_of(value) is not None:
        return value
    if value.item.item is None or value.is_deque:
        return value
    cells = Cells(builder.emitter, value.growing)
    with loop(builder.emitter, ZERO, cells.last()) as place:
        builder.emitter.hand_back(cells.read(place)[0], "None where a value is needed")
    held = replace(value.growing, data=value.growing.data[1:], spare=())
    return as_value(held, value.item.item, False)


def _filled(builder: Building, name: str, items: Array) -> Array:
    if items.rank != 1:
        raise builder.unsupported(None, f"{name} is a list of lists whose length changes", "use an array")
    count = builder.emitter.stable(items.shape[0])
    made = growing.make(builder.emitter, name, [items.type], ix.add(count, integer(EXTRA_ROOM)))
    dims, at = builder.emitter.domain((count,))
    builder.emitter.assign(dims, made.data[0], at, items.element(at))
    Cells(builder.emitter, made).length.set(count)
    builder.made_at[made.data[0]] = _made_here(builder, name)
    value = as_value(made, items.type, False)
    assert isinstance(value, Array)
    return value


def store_record(builder: Building, base: Records, key: Value, value: Value, node: ast.AST | None) -> None:
    """base[key] = value"""
    if has_lists(base.item) or has_texts(base.item):
        builder.will_change(base)  # what is written here is a number, which means nothing to the caller
    cells = Cells(builder.emitter, base.growing)
    numbers = [builder.emitter.snapshot(number, "item") for number in _numbers(builder, cells, base.item, value, node)]
    message = "deque index out of range" if base.is_deque else "list assignment index out of range"
    cells.write(_sound(builder, key, base) or _position(builder, key, cells, message, node), numbers)
    builder.emitter.mutations += 1


def _sound(builder: Building, key: Value, base: Records) -> Expr | None:
    """An index that a library function keeps in range, where comparing items runs no code of the user's."""
    if not builder.emitter.sound or not isinstance(key, Scalar) or not is_plain(base.item):
        return None
    return builder.emitter.snapshot(arith.cast(key.expr, INT), "place")


def _position(builder: Building, key: Value, cells: Cells, message: str, node: ast.AST | None) -> Expr:
    """An index from the front, in range."""
    place = _item_place(builder, key, cells, node)
    inside = Op("and", (Op("ge", (place, ZERO), BOOL), Op("lt", (place, cells.length.value), BOOL)), BOOL)
    builder.emitter.check(inside, "IndexError", message)
    return place


def _item_place(builder: Building, key: Value, cells: Cells, node: ast.AST | None) -> Expr:
    if not isinstance(key, Scalar) or not key.type.dtype.is_integer:
        raise builder.unsupported(node, "an index that is not an integer", key=key)
    at = arith.cast(key.expr, INT)
    if isinstance(at, Const) and int(at.value.real) >= 0:
        return at
    wrapped = Op("select", (Op("lt", (at, ZERO), BOOL), Op("add", (at, cells.length.value), INT), at), INT)
    return builder.emitter.snapshot(wrapped, "place")


def _first_use(builder: Building, receiver: Tuple, name: str, args: list[Value], node: ast.AST) -> Value:
    """The first item tells the type of an empty list: the build starts again with it."""
    if name in ("pop", "popleft", "remove"):
        if builder.identity(receiver) in builder.own:
            decide_items(builder, receiver, FLOAT, node)  # what an empty list that is an argument counts as
        raise untyped(builder, node, f"{name}() of an empty list")
    layout = builder.layout(args[-1]) if args and name in ("append", "insert", "appendleft") else None
    if name == "extend" and args and isinstance(args[0], Records):
        layout = args[0].item
    elif name == "extend" and args and isinstance(args[0], Tuple) and args[0].items:
        layout = builder.layout(args[0].items[0])
    elif name == "extend" and args:
        items = list_items(builder, args[0], node)
        layout = None if items is None else items.type
        if items is None:
            return Object(None)
    if name == "clear":
        return Object(None)
    decide_items(builder, receiver, layout, node, item=args[-1] if args else receiver)
    return Object(None)


def decide_items(
    builder: Building, receiver: Tuple, layout: ItemType | None, node: ast.AST, **values: Value
) -> None:
    """The type of the items of an empty list becomes known: start again with it."""
    if layout is None or receiver.key is None:
        raise builder.unsupported(node, "a list of these items", "keep numbers or tuples of numbers in it", **values)
    revisions.holds_items(builder, receiver.key, layout)


def list_items(builder: Building, value: Value, node: ast.AST | None) -> Array | None:
    """A sequence of numbers as a list in memory; None if it is surely empty."""
    if isinstance(value, Tuple):
        return literal_list(builder, value, node) if value.items else None
    if isinstance(value, Array) and value.rank == 1:
        return arrays.evaluated(value, builder.emitter)
    raise builder.unsupported(node, "the items of this", "keep numbers in the list", items=value)


def _numbers(builder: Building, cells: Cells, layout: ItemType, value: Value, node: ast.AST | None) -> list[Expr]:
    if not builder.accepts(layout, value):
        _take_both(builder, cells, layout, value)
        raise builder.unsupported(
            node, "an item of another type than the list has", "keep one type in a list", item=value
        )
    return builder.numbers(layout, value)


def _take_both(builder: Building, cells: Cells, layout: ItemType, value: Value) -> None:
    """A list gets a number of another type than those in it: build again with one that holds both."""
    both, key = merged(layout, builder.layout(value)), builder.made_at.get(cells.growing.data[0])
    if both is not None and key is not None and cells.growing.row is None:
        revisions.holds_items(builder, key, both)


def new_item(builder: Building, cells: Cells, layout: ItemType, value: Value, node: ast.AST) -> list[Expr]:
    return [builder.emitter.snapshot(number, "item") for number in _numbers(builder, cells, layout, value, node)]


def _extend_by_items(builder: Building, cells: Cells, layout: ItemType, value: Value, node: ast.AST) -> Value:
    run = builder.iteration(value, node)
    count = builder.emitter.snapshot(Op("add", (run.trips, ZERO), INT), "count")  # before it grows
    with loop(builder.emitter, ZERO, count) as position:
        cells.push(new_item(builder, cells, layout, run.item(position), node))
    return Object(None)


def delete_item(builder: Building, base: Value, key: Value, node: ast.AST) -> None:
    """del base[key]"""
    builder.will_change(base)
    held = base.growing if isinstance(base, (Array, Records)) else None
    if held is None or not held.spare or not isinstance(key, Scalar):
        raise builder.unsupported(node, "del of an element", "use np.delete, or a list that is made here", base=base)
    cells = Cells(builder.emitter, held)
    cells.close_gap(_position(builder, key, cells, "list assignment index out of range", node))
    builder.emitter.mutations += 1


def arguments(builder: Building, args: list[Value], count: int, name: str, node: ast.AST) -> list[Value]:
    if len(args) != count:
        raise builder.unsupported(node, f"TypeError: {name}() with {len(args)} arguments")
    return args


def part_order(builder: Building, name: str, mine: Value, other: Value, node: ast.AST) -> Expr:
    """mine < other, of two numbers or strings"""
    if isinstance(mine, Text) or isinstance(other, Text):
        found = builder.text_comparison(name, mine, other, node)
        assert isinstance(found, Scalar)
        return builder.emitter.snapshot(arith.cast(found.expr, PYBOOL), "before")
    if not isinstance(mine, (Scalar, Array)) or not isinstance(other, (Scalar, Array)):
        raise builder.unsupported(node, "this comparison of tuples", left=mine, right=other)
    (first,), (second,) = numbers_of(mine), numbers_of(other)
    return arith.cast(arith.compare(name, first, second, builder.emitter.span), PYBOOL)


def parts_of(value: Value) -> Iterator[Value]:
    if isinstance(value, Tuple):
        for item in value.items:
            yield from parts_of(item)
    else:
        yield value


def _holds_numbers(value: Value) -> bool:
    """Whether the items of a list are numbers, as far as it has any."""
    if isinstance(value, Array):
        return value.rank == 1
    return isinstance(value, Tuple) and all(isinstance(item, Scalar) for item in value.items)


def _is_list(value: Value) -> bool:
    if isinstance(value, Records):
        return not value.is_deque
    return isinstance(value, (Array, Tuple)) and value.is_list


def _of_numbers(value: Tuple) -> bool:
    kinds = {item.type if isinstance(item, Scalar) else None for item in value.items}
    return len(kinds) == 1 and None not in kinds
