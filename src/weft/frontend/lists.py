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

from weft.frontend import arith, arrays, growing
from weft.frontend.emit import Restart
from weft.frontend.growing import EXTRA_ROOM, Cells
from weft.frontend.items import (
    agree,
    as_value,
    compared,
    has_gaps,
    has_lists,
    is_plain,
    layout_of,
    merged,
    numbers_of,
    row_of,
    takes,
    types_in,
)
from weft.frontend.nested import Nested, list_at
from weft.frontend.scope import Scope
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
from weft.frontend.values import Iterable as Run
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


class Lists(Nested):
    """Lists that grow and shrink."""

    def bind(self, name: str, value: Value) -> None:
        slot = self.scope.slots.get(name)
        if self.escapes(name) and _is_list(value) and row_of(value) is None:
            self.keep_rows(value)
            self._like_before(name, value)
            value = self.as_row(self._unshared(name, value))
        elif self.escapes(name) and isinstance(value, Array) and not value.is_list and value.rank:
            value = self.in_block(value)
        elif slot is not None and isinstance(value, Tuple) and value.is_list and _of_numbers(value):
            value = self.literal_list(value, None)
        elif slot is not None and isinstance(value, Records) and row_of(value) is None:
            if value.is_deque:
                raise self.unsupported(None, f"{name} gets a deque in a loop or branch", "use .clear()")
            self.emitter.decisions.escaping.add((self.scope.path, name))
            raise Restart
        elif slot is None:
            value = self.growing_value(name, value)
        super().bind(name, value)

    def open_slots(self, names: Iterable[str], owner: ast.AST) -> list[str]:
        for name in names:
            value = self.scope.values.get(name)
            if name not in self.scope.slots and isinstance(value, Tuple) and value.is_list and _of_numbers(value):
                self.scope.values[name] = self.literal_list(value, None)
        return super().open_slots(names, owner)

    def _like_before(self, name: str, value: Value) -> None:
        """A new empty list holds what the name's last list does."""
        before = self.scope.values.get(name)
        if row_of(before) is not None and isinstance(value, Tuple) and not value.items:
            known = self.layout(before)  # type: ignore[arg-type]
            if isinstance(known, ListOf) and known.item is not None:
                empty = self.layout(value)
                if isinstance(empty, ListOf) and empty.item is None:
                    self.accepts(empty, before)  # type: ignore[arg-type]

    def _unshared(self, name: str, value: Value) -> Value:
        """A list that becomes one among others when it gets a name; its other names must have it from there, too."""
        places = list(self._names_of(value))
        others = [place for place in places if place != (self.scope.path, name)]
        if places and not others and isinstance(value, (Array, Records)):
            # It came here as an argument, or out of a loop that holds a copy: a row of its own would be another list.
            raise self.unsupported(None, f"{name}, which is given a list that has its name already")
        if others:
            self.emitter.decisions.escaping.update(others)
            raise Restart
        return value

    def growing_value(self, name: str, value: Value) -> Value:
        """What a name is bound to: a list that is going to change its length gets room for that."""
        empty = isinstance(value, Tuple) and value.is_list and not value.items
        changes = empty or name in self._grown() or name in self._stored()
        if changes and isinstance(value, Tuple) and value.is_list and value.key is None and self._has_a_name(value):
            raise self.unsupported(None, f"{name} shares a list that has no memory of its own", "use list(...)")
        if isinstance(value, Tuple) and value.is_list and name in self._stored() and _of_numbers(value):
            value = self.literal_list(value, None)
        if self.is_indexed(name) and isinstance(value, Tuple) and value.is_list and value.items and value.key is None:
            return self.started(name, value, is_deque=False)
        if isinstance(value, Array) and value.is_list and value.growing is None and value.rank == 1 and changes:
            both = self._held_both(name, value)
            if both is not None:
                return both
        if not empty and name not in self._grown():
            return value
        if isinstance(value, Array) and value.is_list and value.growing is None:
            view = value.view
            if view is not None and not (view.whole and self.only_list(name, view.buffer)):
                self.will_change(value)
                self.rows_change(value)
                raise self.unsupported(None, f"{name} shares a list whose length is fixed", f"use {name} = list(...)")
            return self._filled(name, value)
        if not isinstance(value, Tuple) or not value.is_list or value.key is not None:
            return value
        return self.started(name, value, is_deque=False)

    def started(self, name: str, value: Tuple, is_deque: bool) -> Value:
        """A list or deque with these first items; the type of an empty one is told by what is put into it first."""
        key = self._made_here(name)
        layout = self.resolved(self.emitter.decisions.items.get(key))
        if value.items:
            layout = self._first_layout(value, layout)
        if layout is None:
            return replace(value, key=key, is_deque=is_deque)
        room = integer(len(value.items) + EXTRA_ROOM)
        made = growing.make(self.emitter, name, types_in(layout), room, is_deque)
        self.made_at[made.data[0]] = key
        for item in value.items:
            Cells(self.emitter, made).push(tuple(self.numbers(layout, item)))
        return as_value(made, layout, is_deque)

    def _made_here(self, name: str) -> tuple[int, str]:
        """Where a list is made that gets this name: the same in every attempt at a build."""
        span = self.emitter.span
        return (hash((self.scope.path, span.line, span.column)), f"items of {name}")

    def _held_both(self, name: str, value: Array) -> Value | None:
        """A list of numbers that later gets some of another type, with room for those; None if it does not."""
        view, key = value.view, self._made_here(name)
        if view is not None and not (view.whole and self.only_list(name, view.buffer)):
            return None
        layout = self.emitter.decisions.items.get(key)
        if not isinstance(layout, EitherType):
            if view is not None:
                self.made_at[view.buffer] = key
            return None
        count = self.emitter.stable(value.shape[0])
        made = growing.make(self.emitter, name, types_in(layout), ix.add(count, integer(EXTRA_ROOM)))
        for place, column in enumerate(made.data):
            dims, at = self.emitter.domain((count,))
            self.emitter.assign(dims, column, at, self.numbers(layout, Scalar(value.element(at)))[place])
        Cells(self.emitter, made).length.set(count)
        return as_value(made, layout, False)

    def hold_both(self, base: Array, value: Scalar, node: ast.AST) -> None:
        """base[...] = value, where that may be of another type than the list's: build again with one for both."""
        layout = self.layout(value)
        if layout == base.type:
            return
        buffer = base.growing.data[0] if base.growing is not None else base.view.buffer if base.view is not None else ""
        both, key = merged(base.type, layout), self.made_at.get(buffer)
        if both is not None and key is not None and row_of(base) is None and base.rank == 1:
            self.emitter.decisions.items[key] = both
            raise Restart
        raise self.unsupported(node, f"a {value.type} stored into a list of {base.type}", "keep one type in a list")

    #: Where lists and deques are made, by their memory.
    made_at: dict[str, tuple[int, str]]

    def _first_layout(self, value: Tuple, known: ItemType | None) -> ItemType:
        """The type of the items of a list, all of which are known; `known`: what later items tell."""
        layouts = [self.layout(item) for item in value.items]
        found = known or next((layout for layout in layouts if not has_gaps(layout)), layouts[0])
        if found is not None and not all(takes(found, layout) for layout in layouts):
            found = functools.reduce(merged, layouts)
        if found is None or not all(takes(found, layout) for layout in layouts):
            raise self.unsupported(None, "a list of different types", "keep one type in a list", items=value)
        for item in value.items:
            self.accepts(found, item)
        return found

    def _grown(self) -> frozenset[str]:
        if self.scope.grown is None:
            self.scope.grown = grown_names(self.scope.body)
        return self.scope.grown

    def _has_a_name(self, value: Tuple) -> bool:
        scope: Scope | None = self.scope
        while scope is not None:
            if any(value is known for known in scope.values.values()):
                return True
            scope = scope.parent
        return False

    def _stored(self) -> frozenset[str]:
        """Names whose items are assigned to."""
        if self.scope.stored is None:
            nodes = [node for statement in self.scope.body for node in ast.walk(statement)]
            stored = {
                node.value.id
                for node in nodes
                if isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
            }
            self.scope.stored = with_aliases(stored, self.scope.body)
        return self.scope.stored

    def literal_list(self, value: Tuple, node: ast.AST | None) -> Array:
        """[x, y, z] as a list of one type in a buffer."""
        types = {item.type for item in value.items if isinstance(item, Scalar)}
        if len(types) != 1 or not _of_numbers(value) or any(map(self.is_choice, value.items)):
            raise self.unsupported(node, "a list of different types", "keep one type in a list", item=value)
        buffer = self.emitter.allocate("list", types.pop(), (integer(len(value.items)),))
        for position, item in enumerate(value.items):
            assert isinstance(item, Scalar)
            self.emitter.assign((), buffer.name, (integer(position),), item.expr)
        return arrays.of_buffer(buffer, is_list=True)

    def joined_lists(self, left: Value, right: Value, node: ast.AST) -> Value:
        """left + right"""
        if any(isinstance(value, Records) or not _holds_numbers(value) for value in (left, right)):
            return self._joined_records(left, right, node)
        parts = [part for part in (self.list_items(value, node) for value in (left, right)) if part is not None]
        if not parts:
            return Tuple((), is_list=True)
        if len({part.type for part in parts}) > 1 or any(part.rank != 1 for part in parts):
            raise self.unsupported(node, "a list of different types", "keep one type in a list", left=left, right=right)
        counts = [self.emitter.stable(part.shape[0]) for part in parts]
        total = counts[0] if len(counts) == 1 else ix.add(*counts)
        buffer = self.emitter.allocate("list", parts[0].type, (total,))
        start: Expr = ZERO
        for part, count in zip(parts, counts):
            dims, at = self.emitter.domain((count,))
            self.emitter.assign(dims, buffer.name, (ix.add(start, at[0]),), part.element(at))
            start = ix.add(start, count)
        return arrays.of_buffer(buffer, is_list=True)

    def _joined_records(self, left: Value, right: Value, node: ast.AST) -> Value:
        """left + right, whose items are more than numbers: a new list among others."""
        for value in (left, right):
            if isinstance(value, Array):
                self.share_rows(value)
        layouts = [self.layout(value) for value in (left, right)]
        if not agree(*layouts) or not isinstance(layouts[0], ListOf) or not isinstance(layouts[1], ListOf):
            raise self.unsupported(node, "a list of different types", "keep one type in a list", left=left, right=right)
        whole = layouts[0] if not has_gaps(layouts[0]) else layouts[1]
        for value in (left, right):
            self.accepts(whole, value)
        if whole.item is None:
            return Tuple((), is_list=True, site=self.site(node))
        made = list_at(self.heap(whole.item), self.new_row(whole.item, left), whole.item)
        self.list_method(made, "extend", [right], node)
        return made

    def repeated_list(self, items: Array, times: Expr) -> Value:
        """items * times"""
        if items.rank != 1:
            raise self.unsupported(None, "a list of lists, repeated", "write it as a loop")
        emitter = self.emitter
        count = emitter.stable(items.shape[0])
        often = emitter.snapshot(Op("maximum", (arith.cast(times, INT), ZERO), INT), "times")
        buffer = emitter.allocate("list", items.type, (emitter.snapshot(Op("mul", (often, count), INT), "total"),))
        with loop(emitter, ZERO, often) as turn:
            dims, at = emitter.domain((count,))
            place = Op("add", (Op("mul", (turn, count), INT), at[0]), INT)
            emitter.assign(dims, buffer.name, (place,), items.element(at))
        return arrays.of_buffer(buffer, is_list=True)

    def filled_records(self, item: Value, length: Expr, node: ast.AST) -> Value | None:
        """[item] * length, of an item that is more than a number; None if there is no such list."""
        emitter, key = self.emitter, (self.site(node)[0], "filled")
        layout = self.layout(item)
        if isinstance(layout, OptionOf) and layout.item is None:
            layout = self.resolved(OptionOf(None, self.site(node)))
        layout = self.resolved(emitter.decisions.items.get(key)) or layout
        if layout is None or (has_gaps(layout) and not isinstance(layout, OptionOf)):
            return None
        numbers = [emitter.snapshot(number, "item") for number in self.numbers(layout, item)]
        count = emitter.snapshot(Op("maximum", (arith.cast(length, INT), ZERO), INT), "n")
        made = growing.make(emitter, "list", types_in(layout), ix.add(count, integer(EXTRA_ROOM)))
        for name, number in zip(made.data, numbers):
            dims, at = emitter.domain((count,))
            emitter.assign(dims, name, at, number)
        Cells(emitter, made).length.set(count)
        if not isinstance(layout, OptionOf):
            self.made_at[made.data[0]] = key
        return as_value(made, layout, False)

    def all_there(self, value: Value) -> Value:
        """A list of items that may be None where none of them is, without the flags that tell."""
        if not isinstance(value, Records) or not isinstance(value.item, OptionOf) or row_of(value) is not None:
            return value
        if value.item.item is None or value.is_deque:
            return value
        cells = Cells(self.emitter, value.growing)
        with loop(self.emitter, ZERO, cells.last()) as place:
            self.emitter.hand_back(cells.read(place)[0], "None where a value is needed")
        held = replace(value.growing, data=value.growing.data[1:], spare=())
        return as_value(held, value.item.item, False)

    def _filled(self, name: str, items: Array) -> Array:
        if items.rank != 1:
            raise self.unsupported(None, f"{name} is a list of lists whose length changes", "use an array")
        count = self.emitter.stable(items.shape[0])
        made = growing.make(self.emitter, name, [items.type], ix.add(count, integer(EXTRA_ROOM)))
        dims, at = self.emitter.domain((count,))
        self.emitter.assign(dims, made.data[0], at, items.element(at))
        Cells(self.emitter, made).length.set(count)
        self.made_at[made.data[0]] = self._made_here(name)
        value = as_value(made, items.type, False)
        assert isinstance(value, Array)
        return value

    # --- reading ----------------------------------------------------------------------------------------------------

    def record(self, base: Records, key: Value, node: ast.AST | None) -> Value:
        """base[key]"""
        cells = Cells(self.emitter, base.growing)
        message = "deque index out of range" if base.is_deque else "list index out of range"
        position = self._sound(key, base) or self._position(key, cells, message, node)
        return self.assembled(base.item, iter(cells.taken(position)))

    def store_record(self, base: Records, key: Value, value: Value, node: ast.AST | None) -> None:
        """base[key] = value"""
        if has_lists(base.item):
            self.will_change(base)  # what is written here is a number, which means nothing to the caller
        cells = Cells(self.emitter, base.growing)
        numbers = [self.emitter.snapshot(number, "item") for number in self._numbers(cells, base.item, value, node)]
        message = "deque index out of range" if base.is_deque else "list assignment index out of range"
        cells.write(self._sound(key, base) or self._position(key, cells, message, node), numbers)
        self.emitter.mutations += 1

    def _sound(self, key: Value, base: Records) -> Expr | None:
        """An index that a library function keeps in range, where comparing items runs no code of the user's."""
        if not self.emitter.sound or not isinstance(key, Scalar) or not is_plain(base.item):
            return None
        return self.emitter.snapshot(arith.cast(key.expr, INT), "place")

    def _position(self, key: Value, cells: Cells, message: str, node: ast.AST | None) -> Expr:
        """An index from the front, in range."""
        place = self._item_place(key, cells, node)
        inside = Op("and", (Op("ge", (place, ZERO), BOOL), Op("lt", (place, cells.length.value), BOOL)), BOOL)
        self.emitter.check(inside, "IndexError", message)
        return place

    def _item_place(self, key: Value, cells: Cells, node: ast.AST | None) -> Expr:
        if not isinstance(key, Scalar) or not key.type.dtype.is_integer:
            raise self.unsupported(node, "an index that is not an integer", key=key)
        at = arith.cast(key.expr, INT)
        if isinstance(at, Const) and int(at.value.real) >= 0:
            return at
        wrapped = Op("select", (Op("lt", (at, ZERO), BOOL), Op("add", (at, cells.length.value), INT), at), INT)
        return self.emitter.snapshot(wrapped, "place")

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
            return self._first_use(receiver, name, args, node)
        self.will_change(receiver)
        if isinstance(receiver, Records):
            held, item = receiver.growing, receiver.item
            if not held.spare:
                self.rows_change(receiver)
                raise self.unsupported(node, f"{name}() of a row of an argument", "use a list made here")
        elif isinstance(receiver, Array) and receiver.is_list:
            if receiver.growing is None:
                self.rows_change(receiver)
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

    def _first_use(self, receiver: Tuple, name: str, args: list[Value], node: ast.AST) -> Value:
        """The first item tells the type of an empty list: the build starts again with it."""
        if name in ("pop", "popleft", "remove"):
            if self.identity(receiver) in self.own:
                self.decide_items(receiver, FLOAT, node)  # what an empty list that is an argument counts as
            raise self.untyped(node, f"{name}() of an empty list")
        layout = self.layout(args[-1]) if args and name in ("append", "insert", "appendleft") else None
        if name == "extend" and args and isinstance(args[0], Records):
            layout = args[0].item
        elif name == "extend" and args and isinstance(args[0], Tuple) and args[0].items:
            layout = self.layout(args[0].items[0])
        elif name == "extend" and args:
            items = self.list_items(args[0], node)
            layout = None if items is None else items.type
            if items is None:
                return Object(None)
        if name == "clear":
            return Object(None)
        self.decide_items(receiver, layout, node)
        return Object(None)

    def decide_items(self, receiver: Tuple, layout: ItemType | None, node: ast.AST) -> None:
        """The type of the items of an empty list becomes known: start again with it."""
        if layout is None or receiver.key is None:
            raise self.unsupported(node, "a list of these items", "keep numbers or tuples of numbers in it")
        self.emitter.decisions.items[receiver.key] = layout
        raise Restart

    def list_items(self, value: Value, node: ast.AST | None) -> Array | None:
        """A sequence of numbers as a list in memory; None if it is surely empty."""
        if isinstance(value, Tuple):
            return self.literal_list(value, node) if value.items else None
        if isinstance(value, Array) and value.rank == 1:
            return arrays.evaluated(value, self.emitter)
        raise self.unsupported(node, "the items of this", "keep numbers in the list", items=value)

    def _numbers(self, cells: Cells, layout: ItemType, value: Value, node: ast.AST | None) -> list[Expr]:
        if not self.accepts(layout, value):
            self._take_both(cells, layout, value)
            raise self.unsupported(
                node, "an item of another type than the list has", "keep one type in a list", item=value
            )
        return self.numbers(layout, value)

    def _take_both(self, cells: Cells, layout: ItemType, value: Value) -> None:
        """A list gets a number of another type than those in it: build again with one that holds both."""
        both, key = merged(layout, self.layout(value)), self.made_at.get(cells.growing.data[0])
        if both is not None and key is not None and cells.growing.row is None:
            self.emitter.decisions.items[key] = both
            raise Restart

    def _new_item(self, cells: Cells, layout: ItemType, value: Value, node: ast.AST) -> list[Expr]:
        return [self.emitter.snapshot(number, "item") for number in self._numbers(cells, layout, value, node)]

    def _list_append(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = self._arguments(args, 1, "append", node)
        cells.push(self._new_item(cells, layout, item, node))
        return Object(None)

    def _list_appendleft(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = self._arguments(args, 1, "appendleft", node)
        cells.push_front(self._new_item(cells, layout, item, node))
        return Object(None)

    def _list_extend(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (value,) = self._arguments(args, 1, "extend", node)
        if isinstance(value, Tuple):
            taken = [self._new_item(cells, layout, item, node) for item in value.items]
            for item in taken:
                cells.push(item)
            return Object(None)
        if isinstance(value, (Records, Rows)) or (isinstance(value, Array) and value.rank > 1):
            return self._extend_by_items(cells, layout, value, node)
        items = self.list_items(value, node)
        assert items is not None
        if items.type != layout:
            return self._extend_by_items(cells, layout, items, node)
        count = self.emitter.snapshot(Op("add", (items.shape[0], ZERO), INT), "count")  # before it grows: xs.extend(xs)
        with loop(self.emitter, ZERO, count) as position:
            cells.push((self.emitter.snapshot(items.element((position,)), "item"),))
        return Object(None)

    def _extend_by_items(self, cells: Cells, layout: ItemType, value: Value, node: ast.AST) -> Value:
        run = self.iteration(value, node)
        count = self.emitter.snapshot(Op("add", (run.trips, ZERO), INT), "count")  # before it grows
        with loop(self.emitter, ZERO, count) as position:
            cells.push(self._new_item(cells, layout, run.item(position), node))
        return Object(None)

    def iteration(self, value: Value, node: ast.AST | None) -> Run:
        raise NotImplementedError

    def _deque_pop(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        self._arguments(args, 0, "pop", node)
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from an empty deque")
        return self.assembled(layout, iter(cells.pop()))

    def _list_pop(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from empty list")
        if not args:
            return self.assembled(layout, iter(cells.pop()))
        (key,) = self._arguments(args, 1, "pop", node)
        position = self._position(key, cells, "pop index out of range", node)
        item = cells.taken(position)
        cells.close_gap(position)
        return self.assembled(layout, iter(item))

    def _list_popleft(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        self._arguments(args, 0, "popleft", node)
        self.emitter.check(Op("gt", (cells.length.value, ZERO), BOOL), "IndexError", "pop from an empty deque")
        return self.assembled(layout, iter(cells.pop_front()))

    def _list_insert(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        key, item = self._arguments(args, 2, "insert", node)
        numbers = self._new_item(cells, layout, item, node)
        place = self._item_place(key, cells, node)
        bounded = Op("minimum", (Op("maximum", (place, ZERO), INT), cells.length.value), INT)
        cells.insert(self.emitter.snapshot(bounded, "place"), numbers)
        return Object(None)

    def _list_clear(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        self._arguments(args, 0, "clear", node)
        cells.clear()
        return Object(None)

    def _list_remove(self, cells: Cells, layout: ItemType, args: list[Value], node: ast.AST) -> Value:
        (item,) = self._arguments(args, 1, "remove", node)
        if has_lists(layout):
            raise self.unsupported(node, "remove() of a list from a list", "compare the items in a loop")
        emitter = self.emitter
        numbers = self._new_item(cells, layout, item, node)
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

    def delete_item(self, base: Value, key: Value, node: ast.AST) -> None:
        """del base[key]"""
        self.will_change(base)
        held = base.growing if isinstance(base, (Array, Records)) else None
        if held is None or not held.spare or not isinstance(key, Scalar):
            raise self.unsupported(node, "del of an element", base=base)
        cells = Cells(self.emitter, held)
        cells.close_gap(self._position(key, cells, "list assignment index out of range", node))
        self.emitter.mutations += 1

    def _arguments(self, args: list[Value], count: int, name: str, node: ast.AST) -> list[Value]:
        if len(args) != count:
            raise self.unsupported(node, f"{name}() with {len(args)} arguments")
        return args

    def tuple_order(self, name: str, left: Tuple, right: Tuple, node: ast.AST) -> Value:
        """left < right: the first parts that differ decide."""
        if layout_of(left) is None or has_lists(layout_of(left)) or layout_of(left) != layout_of(right):
            raise self.unsupported(node, "this comparison of tuples", left=left, right=right)
        pairs = list(zip(parts_of(left), parts_of(right)))
        result = self._part_order(name, *pairs[-1], node)
        strict = {"le": "lt", "ge": "gt"}.get(name, name)
        for mine, other in reversed(pairs[:-1]):
            before, same = (self._part_order(kind, mine, other, node) for kind in (strict, "eq"))
            result = Op("or", (before, Op("and", (same, result), PYBOOL)), PYBOOL)
        return Scalar(result)

    def _part_order(self, name: str, mine: Value, other: Value, node: ast.AST) -> Expr:
        """mine < other, of two numbers or strings"""
        if isinstance(mine, Text) or isinstance(other, Text):
            found = self.text_comparison(name, mine, other, node)
            assert isinstance(found, Scalar)
            return self.emitter.snapshot(arith.cast(found.expr, PYBOOL), "before")
        if not isinstance(mine, (Scalar, Array)) or not isinstance(other, (Scalar, Array)):
            raise self.unsupported(node, "this comparison of tuples", left=mine, right=other)
        (first,), (second,) = numbers_of(mine), numbers_of(other)
        return arith.cast(arith.compare(name, first, second, self.emitter.span), PYBOOL)


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
