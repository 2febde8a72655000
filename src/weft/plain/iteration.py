"""Loops over values.  In: an expression that a loop runs through; out: a `Plan` that gives one item after the other.

    for k, (a, b) in enumerate(zip(x, y)):       no iterator is made: a counter, two indices

`start` writes what stands before the loop, `step` what gets the next item, or jumps to `done` when there is none.
Containers may change while the loop runs: each step looks, as CPython does.
"""

from __future__ import annotations

import ast
import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from weft.frontend import reads
from weft.plain import displays
from weft.plain.frame import C_TYPES, Frame, Value
from weft.plain.types import DICTS, Node, representation


class Plan:
    """How to get items one after the other."""

    def start(self, cx: Frame) -> None:
        """What stands before the loop."""

    def step(self, cx: Frame, done: str) -> Value:
        """The next item."""
        raise NotImplementedError


@contextlib.contextmanager
def loop(cx: Frame, plan: Plan) -> Iterator[Value]:
    """A loop in generated code; gives the item."""
    plan.start(cx)
    done = cx.label("done")
    cx.write("for (;;) {")
    cx.indent += 1
    cx.write("WP_POLL();")
    yield plan.step(cx, done)
    cx.indent -= 1
    cx.write("}")
    cx.write(f"{done}:;")


class Along(Plan):
    """Through the places of one value, from either end."""

    def __init__(self, owner: Value, backwards: bool = False) -> None:
        self.owner = owner
        self.backwards = backwards

    def begin(self, cx: Frame, last: str) -> None:
        """The first place; backwards it is `last`."""
        self.at = cx.held("int64_t", last if self.backwards else "0")

    def advance(self, cx: Frame) -> None:
        cx.write(f"{self.at}{'--' if self.backwards else '++'};")


class Counted(Plan):
    """range(start, stop, step)"""

    def __init__(self, start: str, stop: str, step: str, sign: int) -> None:
        self.bounds = start, stop, step
        self.sign = sign

    def start(self, cx: Frame) -> None:
        start, stop, step = self.bounds
        self.step_code = step if self.sign else cx.held("int64_t", step)
        self.at = cx.held("int64_t", start)
        self.left = cx.held("int64_t", f"wp_range_length({start}, {stop}, {step})")

    def step(self, cx: Frame, done: str) -> Value:
        cx.write(f"if ({self.left} <= 0) goto {done};")
        item = cx.scalar("int", self.at)
        cx.write(f"{self.left}--; {self.at} = (int64_t)((uint64_t){self.at} + (uint64_t){self.step_code});")
        return item


class Items(Along):
    """A list, or a tuple of any length."""

    def start(self, cx: Frame) -> None:
        self.list = cx.held("wp_list *", self.owner.code)
        self.begin(cx, f"{self.list}->length - 1")

    def step(self, cx: Frame, done: str) -> Value:
        node = self.owner.head().part()
        c_type = C_TYPES[representation(node)] if cx.emitting else ""
        # A list that shrinks below the place of the loop ends it, for good.
        cx.write(f"if ((uint64_t){self.at} >= (uint64_t){self.list}->length) {{ {self.at} = -1; goto {done}; }}")
        item = cx.make(node, f"(({c_type} *){self.list}->data)[{self.at}]")
        self.advance(cx)
        return item


class Fixed(Along):
    """A tuple whose length is known."""

    def start(self, cx: Frame) -> None:
        self.tuple = cx.held("void *", self.owner.code)
        self.at = cx.held("int64_t", "0")

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain.values import sequences

        head = self.owner.head()
        count = len(head.parts)
        result = cx.site("items")
        name = cx.declared(representation(result)) if cx.emitting else "0"
        cx.write(f"if ({self.at} >= {count}) goto {done};")
        owner = Value(self.owner.node, self.tuple)
        for place in range(count):
            with cx.block(f"if ({self.at} == {count - 1 - place if self.backwards else place})"):
                item = sequences.tuple_item(cx, owner, place)
                cx.flow(item, result)
                cx.write(f"{name} = {cx.as_node(item, result)};")
        cx.write(f"{self.at}++;")
        return Value(result, name)


class Elements(Along):
    """An array: its elements, or its parts along the first axis."""

    def start(self, cx: Frame) -> None:
        self.array = cx.held("wp_array *", self.owner.code)
        self.left = cx.held("int64_t", f"{self.array}->extent[0]")
        self.begin(cx, f"{self.left} - 1")

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain.values import arrays

        cx.write(f"if ({self.left} <= 0) goto {done};")
        cx.write(f"{self.left}--;")
        item = arrays.item_at(cx, Value(self.owner.node, self.array), self.at)
        self.advance(cx)
        return item


class Characters(Along):
    """A string, or bytes."""

    def start(self, cx: Frame) -> None:
        self.text = cx.held("wp_str *", self.owner.code)
        self.begin(cx, f"{self.text}->length - 1")

    def step(self, cx: Frame, done: str) -> Value:
        cx.write(f"if ((uint64_t){self.at} >= (uint64_t){self.text}->length) goto {done};")
        if self.owner.head().kind == "bytes":
            item = cx.scalar("int", f"{self.text}->data[{self.at}]")
        else:
            item = cx.scalar("str", f"wp_str_char(wp_str_code({self.text}, {self.at}))")
        self.advance(cx)
        return item


class Entries(Along):
    """A dict: its keys, values or items. One that changes its size while the loop runs is an error."""

    def __init__(self, owner: Value, what: str, backwards: bool = False) -> None:
        super().__init__(owner, backwards)
        self.what = what

    def start(self, cx: Frame) -> None:
        self.dict = cx.held("wp_dict *", self.owner.code)
        self.begin(cx, f"wp_dict_last({self.dict}) + 1")
        self.size = cx.held("int64_t", f"wp_dict_length({self.dict})")
        self.state = cx.held("int64_t", f"wp_dict_state({self.dict})")

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain.operators import make_tuple

        head = self.owner.head()
        with cx.block(f"if (WP_UNLIKELY(wp_dict_length({self.dict}) != {self.size}))"):
            cx.raises("WP_RUNTIME_ERROR", "dictionary changed size during iteration")
        with cx.block(f"if (WP_UNLIKELY(wp_dict_state({self.dict}) != {self.state}))"):
            cx.deoptimise("a dict whose keys change while it is run through")
        if self.backwards:
            cx.write(f"{self.at} = wp_dict_before({self.dict}, {self.at});")
        else:
            cx.write(f"{self.at} = wp_dict_next({self.dict}, {self.at});")
        cx.write(f"if ({self.at} < 0) {{ {self.at} = 0; {self.size} = -1; goto {done}; }}")
        parts = []
        if self.what in ("keys", "items"):
            parts.append(cx.load(head.part(0), f"wp_dict_key_at({self.dict}, {self.at})"))
        if self.what in ("values", "items"):
            parts.append(cx.load(head.part(1), f"wp_dict_value_at({self.dict}, {self.at})"))
        if not self.backwards:
            cx.write(f"{self.at}++;")
        return parts[0] if len(parts) == 1 else make_tuple(cx, parts, "item")


class Members(Along):
    """A set."""

    def start(self, cx: Frame) -> None:
        self.set = cx.held("wp_set *", self.owner.code)
        self.at = cx.held("int64_t", "0")
        self.size = cx.held("int64_t", f"wp_set_length({self.set})")

    def step(self, cx: Frame, done: str) -> Value:
        with cx.block(f"if (WP_UNLIKELY(wp_set_length({self.set}) != {self.size}))"):
            cx.raises("WP_RUNTIME_ERROR", "Set changed size during iteration")
        cx.write(f"{self.at} = wp_set_next({self.set}, {self.at});")
        cx.write(f"if ({self.at} < 0) {{ {self.size} = -1; goto {done}; }}")
        item = cx.load(self.owner.head().part(), f"wp_set_key_at({self.set}, {self.at})")
        cx.write(f"{self.at}++;")
        return item


class Ring(Along):
    """A deque."""

    def start(self, cx: Frame) -> None:
        self.deque = cx.held("wp_deque *", self.owner.code)
        self.begin(cx, f"wp_deque_length({self.deque}) - 1")
        self.state = cx.held("int64_t", f"wp_deque_state({self.deque})")

    def step(self, cx: Frame, done: str) -> Value:
        with cx.block(f"if (WP_UNLIKELY(wp_deque_state({self.deque}) != {self.state}))"):
            cx.raises("WP_RUNTIME_ERROR", "deque mutated during iteration")
        cx.write(f"if ({self.at} < 0 || {self.at} >= wp_deque_length({self.deque})) goto {done};")
        item = cx.load(self.owner.head().part(), f"wp_deque_at({self.deque}, {self.at}, {cx.line})")
        self.advance(cx)
        return item


class Numbered(Plan):
    """enumerate(inner, start)"""

    def __init__(self, inner: Plan, first: Value) -> None:
        self.inner = inner
        self.first = first

    def start(self, cx: Frame) -> None:
        self.inner.start(cx)
        self.at = cx.held("int64_t", self.first.code)

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain.operators import make_tuple

        item = self.inner.step(cx, done)
        number = cx.scalar("int", self.at)
        cx.write(f"{self.at} = wp_add_ii({self.at}, 1, {cx.line});")
        return make_tuple(cx, [number, item], "numbered")


class Together(Plan):
    """zip(...)"""

    def __init__(self, inner: list[Plan]) -> None:
        self.inner = inner

    def start(self, cx: Frame) -> None:
        for place, plan in enumerate(self.inner):
            with cx.inside(place):
                plan.start(cx)

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain.operators import make_tuple

        items = []
        for place, plan in enumerate(self.inner):
            with cx.inside(place):
                items.append(plan.step(cx, done))
        if not items:
            cx.write(f"goto {done};")
        return make_tuple(cx, items, "together")


class Mapped(Plan):
    """map(function, ...)"""

    def __init__(self, function: Value, inner: list[Plan]) -> None:
        self.function = function
        self.inner = inner

    def start(self, cx: Frame) -> None:
        self.held = (
            Value(self.function.node, cx.held(C_TYPES[self.function.repr], self.function.code))
            if cx.emitting
            else self.function
        )
        for place, plan in enumerate(self.inner):
            with cx.inside(place):
                plan.start(cx)

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain import calls

        items: list[Any] = []
        for place, plan in enumerate(self.inner):
            with cx.inside(place):
                items.append(plan.step(cx, done))
        return calls.call_value(cx, self.held, items, {})


class Filtered(Plan):
    """filter(function, inner)"""

    def __init__(self, function: Value, inner: Plan) -> None:
        self.function = function
        self.inner = inner

    def start(self, cx: Frame) -> None:
        self.held = (
            Value(self.function.node, cx.held(C_TYPES[self.function.repr], self.function.code))
            if cx.emitting
            else self.function
        )
        self.inner.start(cx)

    def step(self, cx: Frame, done: str) -> Value:
        from weft.plain import calls
        from weft.plain.operators import truth
        from weft.plain.values import left_out

        again = cx.label("next")
        cx.write(f"{again}:;")
        item = self.inner.step(cx, done)
        kept = item if left_out(cx, self.function, "a test") else calls.call_value(cx, self.held, [item], {})
        cx.write(f"if (!({truth(cx, kept)})) goto {again};")
        return item


class Generated(Plan):
    """Generators and other iterators: whatever has a `next`."""

    def __init__(self, owner: Value) -> None:
        self.owner = owner
        self.sent: Value | None = None  # of a `yield from`

    def start(self, cx: Frame) -> None:
        letter = self.owner.repr if cx.emitting else "p"
        self.held = Value(self.owner.node, cx.held(C_TYPES[letter], self.owner.code))

    def step(self, cx: Frame, done: str) -> Value:
        return cx.cases([self.held], lambda it: _next_of(cx, it, done, self.sent), "next")


def next_item(cx: Frame, iterator: Value, done: str) -> Value:
    """The next item of an iterator; jumps to `done` if there is none."""
    return cx.cases([iterator], lambda it: _next_of(cx, it, done), "next")


def _next_of(cx: Frame, iterator: Value, done: str, sent: Value | None = None) -> Value | None:
    from weft.plain import attributes, calls

    head = iterator.head()
    if head.kind == "generator":
        return resumed(cx, iterator, done, cx.none if sent is None else sent)
    if sent is not None:
        with cx.block(f"if (WP_UNLIKELY({cx.tagged(sent)}.tag != WP_NONE))"):
            cx.deoptimise("a value that is sent to what is no generator")
    if head.kind == "obj":
        function = attributes.method_of(cx, head, "__next__")
        if function is not None:
            return _next_of_object(cx, iterator, function, done)
    del calls
    raise cx.refuse(f"iteration over a value of type {head!r}")


def resumed(cx: Frame, generator: Value, done: str, sent: Value) -> Value:
    """A generator goes on: what it yields next; `sent` is the value of the `yield` at which it waits."""
    instance = generator.head().key[1]
    node = instance.yielded.root()
    if sent.kinds() != {"none"}:
        cx.flow(sent, instance.sent.root())
    if len(instance.sent):
        cx.flow(cx.none, instance.sent.root())
    cx.instance.calls.add(instance)
    if cx.guarded and not instance.guarded:
        cx.unit.lattice.note()
        instance.guarded = True
    if not cx.emitting:
        return Value(node, "0")
    assert cx.writer is not None
    cx.writer.need(instance)
    name = cx.declared(representation(node))
    if len(instance.sent):
        cx.write(f"((frame{instance.number} *){generator.code})->sent = {cx.as_node(sent, instance.sent.root())};")
    more = cx.temporary("b", f"{instance.c_name}_next({generator.code}, &{name})")
    cx.check()
    cx.write(f"if (!{more}) goto {done};")
    return Value(node, name)


def result_of(cx: Frame, iterator: Value) -> Value:
    """What a generator has returned, once it has ended; None of other iterators."""
    head = iterator.head()
    if head.kind != "generator":
        return cx.none
    instance = head.key[1]
    if not instance.info.returns_value:
        return cx.none
    return cx.make(instance.returned.root(), f"((frame{instance.number} *){iterator.code})->returned")


def raise_stop(cx: Frame, iterator: Value) -> None:
    """StopIteration of an iterator that has ended. Its value is what a generator has returned."""

    def one(it: Value) -> Value:
        result = result_of(cx, it)
        if result.kinds() - {"none"}:
            with cx.block(f"if ({cx.tagged(result)}.tag != WP_NONE)"):
                cx.deoptimise("a StopIteration with a value")
        return cx.none

    cx.cases([iterator], one, "stop")
    cx.raises("WP_STOP_ITERATION")


def _next_of_object(cx: Frame, iterator: Value, function: Any, done: str) -> Value:
    """An object's own `__next__`: StopIteration ends the loop."""
    from weft.plain import calls

    label = cx.label("stopped")
    saved = cx.temporary("i", "wp_handlers++")
    handler = _Stop(label)
    cx.handlers.append(handler)
    cx.in_try += 1
    item = calls.call_function(cx, function, [iterator])
    result = cx.declared(item.repr) if cx.emitting else "0"
    if len(item.node):
        cx.write(f"{result} = {item.code};")
    cx.in_try -= 1
    cx.handlers.pop()
    cx.write(f"wp_handlers = {saved};")
    past = cx.label("past")
    cx.write(f"goto {past};")
    cx.write(f"{label}:;")
    cx.write(f"wp_handlers = {saved};")
    if cx.emitting:
        stop = cx.unit.class_info(StopIteration, cx.span())
        assert cx.writer is not None
        cx.write(
            f"if (wp_exception->type == {cx.writer.type_of(stop.head)}"
            f" || wp_is_builtin(wp_exception, WP_STOP_ITERATION)) {{ wp_exception = 0; goto {done}; }}"
        )
        cx.write(f"goto {cx.exception_target()};" if cx.guarded else 'wp_deopt("an exception", 0);')
    cx.write(f"{past}:;")
    return Value(item.node, result)


class _Stop:
    catches = True

    def __init__(self, label: str) -> None:
        self.label = label
        self.used = False


# --- choosing a plan ----------------------------------------


def plan_of(cx: Frame, e: ast.expr) -> Plan:
    """How to run through an expression; calls of range, enumerate, zip, map, ... need no iterator."""
    from weft.plain import builtin
    from weft.plain.expressions import constant_set, value

    folded = displays.folded(cx, e)
    if folded is not None:
        return plan_value(cx, constant_set(cx, folded))
    lazy = builtin.lazy_plan(cx, e)
    return lazy if lazy is not None else plan_value(cx, value(cx, e))


def plan_value(cx: Frame, owner: Value, backwards: bool = False) -> Plan:
    """How to run through a value."""
    from weft.plain import attributes, calls, operators

    head = owner.node.only()
    if head is None:
        if not len(owner.node):
            return (
                Items(Value(cx.single(cx.new_head("nothing", ("list",), 1)), owner.code))
                if not cx.emitting
                else _Nothing()
            )
        return Generated(through_generator(cx, owner, backwards))
    kind = head.kind
    if kind == "const" and isinstance(head.value, enum.EnumMeta) and not backwards:
        from weft.plain.expressions import python_value

        members: list[Any] = list(head.value)
        return Fixed(operators.make_tuple(cx, [python_value(cx, member) for member in members], "members"))
    if kind in ("list", "vtuple", "bytearray"):
        return Items(owner, backwards)
    if kind == "tuple":
        return Fixed(owner, backwards)
    if kind == "ndarray":
        return Elements(owner, backwards)
    if kind in ("str", "bytes"):
        return Characters(owner, backwards)
    if kind in DICTS:
        return Entries(owner, "keys", backwards)
    if kind == "view":
        inner = cx.load(head.part(), f"&((wp_record *){owner.code})->value[0]")
        only = inner.node.only()
        if only is not None:
            return Entries(inner, head.key[1], backwards)
    if kind in ("set", "frozenset") and not backwards:
        return Members(owner)
    if kind == "deque":
        return Ring(owner, backwards)
    if kind == "range":
        r = f"((wp_range *){owner.code})"
        if backwards:
            n = cx.temporary("i", f"wp_range_length({r}->start, {r}->stop, {r}->step)")
            last = cx.temporary("i", f"{r}->start + ({n} - 1) * {r}->step")
            return Counted(last, f"{last} - {n} * {r}->step", f"(-{r}->step)", 0)
        return Counted(f"{r}->start", f"{r}->stop", f"{r}->step", 0)
    if kind == "generator" and not backwards:
        return Generated(owner)
    if kind == "obj":
        name = "__reversed__" if backwards else "__iter__"
        function = attributes.method_of(cx, head, name)
        if function is not None:
            made = calls.call_function(cx, function, [owner])
            if made.node.only() is not None and made.node.only().kind == "obj":  # type: ignore[union-attr]
                return Generated(made)
            return plan_value(cx, made)
        indexed = _by_index(cx, owner, backwards) if reads.lookup(head.key[1].cls, name) is reads.ABSENT else None
        if indexed is not None:
            return Generated(indexed)
    if kind in ("none", "int", "float", "bool"):
        return _Nothing(f"iteration over a value of type {head!r}")  # an error, if it ever comes to that
    raise cx.refuse(f"iteration over a value of type {head!r}")


def _by_index(cx: Frame, owner: Value, backwards: bool) -> Value | None:
    """An iterator over an object that has `__getitem__` and no `__iter__`; None if it has neither."""
    from weft.plain import attributes, calls
    from weft.plain.models import streams

    wanted = ("__getitem__", "__len__") if backwards else ("__getitem__",)
    if any(attributes.method_of(cx, owner.head(), name) is None for name in wanted):
        return None
    return calls.call_function(cx, streams.indexed_backwards if backwards else streams.indexed, [owner])


class _Nothing(Plan):
    """A value that is never there, or that cannot be run through: Python raises the exception."""

    def __init__(self, reason: str = "a value of no known type") -> None:
        self.reason = reason

    def step(self, cx: Frame, done: str) -> Value:
        cx.deoptimise(self.reason)
        cx.write(f"goto {done};")
        return Value(Node(), "0")


def through_generator(cx: Frame, owner: Value, backwards: bool = False) -> Value:
    """An iterator over a value of any kind, as an object."""
    from weft.plain import calls
    from weft.plain.models import streams
    from weft.plain.values import lengths

    def one(o: Value) -> Value | None:
        if o.head().kind == "generator":
            return o
        kind = o.head().kind
        if kind in ("int", "float", "bool", "none"):
            return None
        size = lengths.length(cx, o)  # an iterator knows it from when it was made
        if backwards:
            if size is None or kind == "view":
                raise cx.refuse(f"`reversed` of a value of type {o.head()!r}")
            model = streams.iterate_dict_backwards if kind in DICTS else streams.iterate_backwards
            return calls.call_function(cx, model, [o, size])
        if size is not None and kind in (*DICTS, "set", "frozenset", "view"):
            return calls.call_function(cx, streams.iterate_sized, [o, size])
        return calls.call_function(cx, streams.iterate, [o])

    return cx.cases([owner], one, "iterator")
