"""Python lists whose length changes.  In: `append`, `pop`, `insert`... on a list; out: statements over a buffer with
spare room and a length, which moves into a larger buffer when it is full.

    xs.append(v)  -->  if n == room: room = 2 * room; alloc spare; spare[i] = data[i]; data, spare = spare, data
                       data[n] = v; n = n + 1

To everything that only reads a list, such a list is the array of its first n items.  Two names of one list share its
buffers and its length, so a change is seen through both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from weft.frontend import arith, arrays
from weft.frontend.core import Core
from weft.frontend.emit import Emitter, Restart
from weft.frontend.values import Array, Growing, Object, Scalar, Tuple, Value, View
from weft.frontend.writing import Variable, loop, variable, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Expr, Op, Read, integer
from weft.ir.program import Alloc, Rebind
from weft.ir.types import BOOL, INT, ScalarType

_FIRST_ROOM = 16
#: Methods that change the length of a list.
CHANGES_LENGTH = frozenset({"append", "extend", "pop", "insert", "clear", "remove"})


def grown_names(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names of lists that a function makes longer or shorter."""
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
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                if isinstance(node.value, (ast.List, ast.ListComp)):
                    found.add(node.target.id)
    return frozenset(found)


class Lists(Core):
    """Lists that grow and shrink."""

    def bind(self, name: str, value: Value) -> None:
        super().bind(name, self.growing_value(name, value))

    def growing_value(self, name: str, value: Value) -> Value:
        """What a name is bound to: a list that is going to change its length gets room for that."""
        empty = isinstance(value, Tuple) and value.is_list and not value.items
        if not empty and name not in self._grown():
            return value
        if isinstance(value, Array) and value.is_list and value.growing is None:
            view = value.view
            if view is not None and not (view.whole and self.exclusive(name, view.buffer)):
                raise self.unsupported(None, f"{name} shares a list whose length is fixed", f"use {name} = list(...)")
            return self._filled(name, value)
        if not isinstance(value, Tuple) or not value.is_list:
            return value
        span = self.emitter.span
        key = (hash((self.scope.path, span.line, span.column)), f"items of {name}")
        of = self.emitter.decisions.slot_types.get(key)
        if value.items:
            return self._filled(name, self.literal_list(value, None))
        if of is None:
            return replace(value, key=key)
        return self._empty(name, of)

    def _grown(self) -> frozenset[str]:
        if self.scope.grown is None:
            self.scope.grown = grown_names(self.scope.body)
        return self.scope.grown

    def literal_list(self, value: Tuple, node: ast.AST | None) -> Array:
        """[x, y, z] as a list of one type in a buffer."""
        types = {item.type for item in value.items if isinstance(item, Scalar)}
        if len(types) != 1 or len([i for i in value.items if isinstance(i, Scalar)]) != len(value.items):
            raise self.unsupported(node, "a list of different types", "keep one type in a list", item=value)
        buffer = self.emitter.allocate("list", types.pop(), (integer(len(value.items)),))
        for position, item in enumerate(value.items):
            assert isinstance(item, Scalar)
            self.emitter.assign((), buffer.name, (integer(position),), item.expr)
        return arrays.of_buffer(buffer, is_list=True)

    def joined_lists(self, left: Value, right: Value, node: ast.AST) -> Value:
        """left + right"""
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

    # --- making -----------------------------------------------------------------------------------------------------

    def _empty(self, name: str, of: ScalarType, room: Expr | None = None) -> Array:
        emitter = self.emitter
        length = variable(emitter, f"{name}_length", ZERO)
        capacity = variable(emitter, f"{name}_room", room if room is not None else integer(_FIRST_ROOM))
        data = emitter.declare(name, of, (capacity.value,))
        spare = emitter.declare(f"{name}_spare", of, (capacity.value,))
        emitter.emit(Alloc(data.name, False, emitter.span))
        emitter.emit(Alloc(spare.name, False, emitter.span))
        return _as_array(Growing(data.name, spare.name, length.name, capacity.name), of)

    def _filled(self, name: str, items: Array) -> Array:
        if items.rank != 1:
            raise self.unsupported(None, f"{name} is a list of lists whose length changes", "use an array")
        count = self.emitter.stable(items.shape[0])
        made = self._empty(name, items.type, ix.add(count, integer(_FIRST_ROOM)))
        assert made.growing is not None
        dims, at = self.emitter.domain((count,))
        self.emitter.assign(dims, made.growing.data, at, items.element(at))
        _length(made.growing, self.emitter).set(count)
        return made

    # --- methods ----------------------------------------------------------------------------------------------------

    def list_method(self, receiver: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """A method of a list that changes its length; None if it is another one."""
        if name not in CHANGES_LENGTH:
            return None
        if isinstance(receiver, Tuple) and receiver.is_list and not receiver.items and receiver.key is not None:
            return self._first_use(receiver, name, args, node)
        if not isinstance(receiver, Array) or not receiver.is_list:
            return None
        growing = receiver.growing
        if growing is None:
            raise self.unsupported(node, f"{name}() of a list whose length is fixed", "use a list made here")
        run = getattr(self, f"_list_{name}")
        result: Value = run(receiver, growing, args, node)
        self.emitter.mutations += 1
        return result

    def _first_use(self, receiver: Tuple, name: str, args: list[Value], node: ast.AST) -> Value:
        """The first item tells the type of an empty list: the build starts again with it."""
        assert receiver.key is not None
        item = args[-1] if args and name in ("append", "insert") else None
        if name == "extend" and args:
            items = self.list_items(args[0], node)
            item = Scalar(items.element((ZERO,))) if items is not None else None
            if items is None:
                return Object(None)
        if name == "clear":
            return Object(None)
        if isinstance(item, Array) and item.rank == 0:
            item = Scalar(item.element(()))
        if not isinstance(item, Scalar):
            raise self.unsupported(node, f"{name}() with this item", "keep numbers in the list", receiver=receiver)
        self.emitter.decisions.slot_types[receiver.key] = item.type
        raise Restart

    def list_items(self, value: Value, node: ast.AST | None) -> Array | None:
        """A sequence of numbers as a list in memory; None if it is surely empty."""
        if isinstance(value, Tuple):
            return self.literal_list(value, node) if value.items else None
        if isinstance(value, Array) and value.rank == 1:
            return arrays.evaluated(value, self.emitter)
        raise self.unsupported(node, "the items of this", "keep numbers in the list", items=value)

    def _item(self, receiver: Array, value: Value, node: ast.AST) -> Expr:
        if isinstance(value, Array) and value.rank == 0:
            value = Scalar(value.element(()))
        if not isinstance(value, Scalar) or value.type != receiver.type:
            raise self.unsupported(
                node, "an item of another type than the list has", "keep one type in a list", list=receiver, item=value
            )
        return value.expr

    def _list_append(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        (item,) = self._arguments(args, 1, "append", node)
        value = self.emitter.snapshot(self._item(receiver, item, node), "item")
        self._push(growing, value)
        return Object(None)

    def _push(self, growing: Growing, value: Expr) -> None:
        emitter = self.emitter
        length, room = _length(growing, emitter), Variable(emitter, growing.capacity, INT)
        with when(emitter, Op("eq", (length.value, room.value), BOOL)):
            room.set(ix.mul(integer(2), room.value))
            emitter.emit(Alloc(growing.spare, False, emitter.span))
            kept = emitter.snapshot(Op("add", (length.value, ZERO), INT), "kept")
            dims, at = emitter.domain((kept,))
            of = emitter.buffers[growing.data].type
            emitter.assign(dims, growing.spare, at, Read(growing.data, at, of))
            names = (growing.data, growing.spare)
            emitter.emit(Rebind(names, names[::-1], emitter.span))
        emitter.assign((), growing.data, (length.value,), value)
        length.set(Op("add", (length.value, ONE), INT))

    def _list_extend(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        (value,) = self._arguments(args, 1, "extend", node)
        items = self.list_items(value, node)
        if items is None:
            return Object(None)
        if items.type != receiver.type:
            raise self.unsupported(node, "items of another type than the list has", "", list=receiver, items=items)
        count = self.emitter.snapshot(Op("add", (items.shape[0], ZERO), INT), "count")  # before it grows: xs.extend(xs)
        with loop(self.emitter, ZERO, count) as position:
            self._push(growing, self.emitter.snapshot(items.element((position,)), "item"))
        return Object(None)

    def _list_pop(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        emitter = self.emitter
        length = _length(growing, emitter)
        emitter.check(Op("gt", (length.value, ZERO), BOOL), "IndexError", "pop from empty list")
        if not args:
            length.set(Op("sub", (length.value, ONE), INT))
            return Scalar(emitter.snapshot(Read(growing.data, (length.value,), receiver.type), "item"))
        (key,) = self._arguments(args, 1, "pop", node)
        place = self._place(key, length, node)
        inside = Op("and", (_at_least(place, ZERO), Op("lt", (place, length.value), BOOL)), BOOL)
        emitter.check(inside, "IndexError", "pop index out of range")
        item = emitter.snapshot(Read(growing.data, (place,), receiver.type), "item")
        self._close_gap(growing, place, receiver.type)
        return Scalar(item)

    def _place(self, key: Value, length: Variable, node: ast.AST) -> Expr:
        """An index from the front."""
        if not isinstance(key, Scalar) or not key.type.dtype.is_integer:
            raise self.unsupported(node, "an index that is not an integer", key=key)
        at = arith.cast(key.expr, INT)
        wrapped = Op("select", (Op("lt", (at, ZERO), BOOL), Op("add", (at, length.value), INT), at), INT)
        return self.emitter.snapshot(wrapped, "place")

    def _close_gap(self, growing: Growing, place: Expr, of: ScalarType) -> None:
        emitter = self.emitter
        length = _length(growing, emitter)
        length.set(Op("sub", (length.value, ONE), INT))
        with loop(emitter, place, emitter.snapshot(Op("add", (length.value, ZERO), INT), "last")) as position:
            follower = Read(growing.data, (ix.add(position, ONE),), of)
            emitter.assign((), growing.data, (position,), follower)

    def _list_insert(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        key, item = self._arguments(args, 2, "insert", node)
        emitter = self.emitter
        length = _length(growing, emitter)
        value = emitter.snapshot(self._item(receiver, item, node), "item")
        place = self._place(key, length, node)
        bounded = Op("minimum", (Op("maximum", (place, ZERO), INT), length.value), INT)
        place = emitter.snapshot(bounded, "place")
        self._push(growing, value)
        end = emitter.snapshot(Op("sub", (length.value, ONE), INT), "last")
        moved = emitter.snapshot(Op("sub", (end, place), INT), "moved")
        with loop(emitter, ZERO, moved) as step:
            to = ix.sub(end, step)
            emitter.assign((), growing.data, (to,), Read(growing.data, (ix.sub(to, ONE),), receiver.type))
        emitter.assign((), growing.data, (place,), value)
        return Object(None)

    def _list_clear(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        self._arguments(args, 0, "clear", node)
        _length(growing, self.emitter).set(ZERO)
        return Object(None)

    def _list_remove(self, receiver: Array, growing: Growing, args: list[Value], node: ast.AST) -> Value:
        (item,) = self._arguments(args, 1, "remove", node)
        emitter = self.emitter
        length = _length(growing, emitter)
        value = emitter.snapshot(self._item(receiver, item, node), "item")
        place = variable(emitter, "place", length.value)
        seen = emitter.snapshot(Op("add", (length.value, ZERO), INT), "seen")
        with loop(emitter, ZERO, seen) as step:
            position = ix.sub(ix.sub(seen, ONE), step)  # from the end, so that the first one stays
            with when(emitter, Op("eq", (Read(growing.data, (position,), receiver.type), value), BOOL)):
                place.set(position)
        emitter.check(Op("lt", (place.value, length.value), BOOL), "ValueError", "list.remove(x): x not in list")
        self._close_gap(growing, emitter.snapshot(Op("add", (place.value, ZERO), INT), "place"), receiver.type)
        return Object(None)

    def delete_item(self, base: Value, key: Value, node: ast.AST) -> None:
        """del base[key]"""
        if not isinstance(base, Array) or base.growing is None or not isinstance(key, Scalar):
            raise self.unsupported(node, "del of an element", base=base)
        emitter = self.emitter
        length = _length(base.growing, emitter)
        place = self._place(key, length, node)
        inside = Op("and", (_at_least(place, ZERO), Op("lt", (place, length.value), BOOL)), BOOL)
        emitter.check(inside, "IndexError", "list assignment index out of range")
        self._close_gap(base.growing, place, base.type)
        emitter.mutations += 1

    def _arguments(self, args: list[Value], count: int, name: str, node: ast.AST) -> list[Value]:
        if len(args) != count:
            raise self.unsupported(node, f"{name}() with {len(args)} arguments")
        return args


def _as_array(growing: Growing, of: ScalarType) -> Array:
    return Array(
        (Read(growing.length, (), INT),),
        of,
        lambda at: Read(growing.data, at, of),
        View(growing.data, lambda at: at),
        is_list=True,
        growing=growing,
    )


def _length(growing: Growing, emitter: Emitter) -> Variable:
    return Variable(emitter, growing.length, INT)


def _at_least(value: Expr, low: Expr) -> Expr:
    return Op("ge", (value, low), BOOL)


