"""Dicts, defaultdicts, Counters and OrderedDicts, and their views."""

from __future__ import annotations

from typing import Any

from weft.plain import operators
from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS, representation
from weft.plain.values import exactly, given, left_out, register, sequences

_ALL = "dict defaultdict Counter OrderedDict"


def _key(cx: Frame, owner: Value, key: Value, store: bool = False) -> str:
    """The key in the dict's representation; a key of a kind that the dict does not have is a tagged one."""
    hashable(cx, key)
    part = owner.head().part(0)
    cx.flow(key, part)
    if store:
        cx.written(owner.head())
    return cx.as_node(key, part)


def hashable(cx: Frame, key: Value) -> None:
    """Keys whose class defines how they are hashed or compared."""
    from weft.plain import generated

    for head in key.node:
        if head.kind == "obj":
            cls = head.key[1].cls
            if cls.__hash__ is None:
                raise cx.refuse(f"objects of class `{cls.__name__}`, which cannot be hashed, as keys")
    generated.prepare(cx, key.node)


def _letter(owner: Value) -> str:
    return representation(owner.head().part(0))


def find(cx: Frame, owner: Value, key: Value) -> str:
    """The address of the value of a key, or NULL. Keys of other kinds are not there, so they need not flow."""
    hashable(cx, key)
    part = owner.head().part(0)
    if key.kinds() <= part.kinds() and key.kinds():
        code = cx.as_node(key, part)
        letter = _letter(owner) if cx.emitting else "i"
    else:
        cx.flow(key, part)
        code = cx.as_node(key, part)
        letter = _letter(owner) if cx.emitting else "i"
    slot = cx.temporary("p", f"wp_dict_find_{letter}({owner.code}, {code})")
    cx.check()
    return slot


def put(cx: Frame, owner: Value, key: Value, held: Value) -> None:
    """owner[key] = held"""
    code = _key(cx, owner, key, store=True)
    part = owner.head().part(1)
    cx.flow(held, part)
    slot = cx.temporary("p", f"wp_dict_put_{_letter(owner)}({owner.code}, {code}, &wp_fresh)")
    cx.check()
    cx.store(held, part, slot)


def get_item(cx: Frame, owner: Value, key: Value) -> Value:
    """owner[key]: of a defaultdict a missing value is made, of a Counter it is 0."""
    from weft.plain import calls

    head = owner.head()
    part = head.part(1)
    slot = find(cx, owner, key)
    if head.kind == "defaultdict":
        factory = cx.load(head.part(2), f"wp_dict_factory({owner.code})")
        if factory.kinds() != {"none"}:
            result = cx.declared(representation(part)) if cx.emitting else "0"
            with cx.block(f"if ({slot})"):
                cx.write(f"{result} = {cx.load(part, slot).code};")
            with cx.block("else"):
                made = calls.call_value(cx, factory, [], {})
                cx.flow(made, part)
                put(cx, owner, key, made)
                cx.write(f"{result} = {cx.as_node(made, part)};")
            return Value(part, result)
    if head.kind == "Counter":
        cx.flow(cx.literal("int", "0"), part)
        result = cx.declared(representation(part)) if cx.emitting else "0"
        cx.write(f"{result} = {cx.as_node(cx.literal('int', '0'), part)};")
        with cx.block(f"if ({slot})"):
            cx.write(f"{result} = {cx.load(part, slot).code};")
        return Value(part, result)
    with cx.block(f"if (WP_UNLIKELY(!{slot}))"):
        cx.write(f"wp_raise_key({cx.tagged(key)}, {cx.line});")
        if cx.emitting:
            cx.write(f"goto {cx.exception_target()};" if cx.guarded else 'wp_deopt("an exception", 0);')
    return cx.load(part, slot)


def delete(cx: Frame, owner: Value, key: Value) -> None:
    code = _key(cx, owner, key, store=True)
    there = cx.temporary("b", f"wp_dict_delete_{_letter(owner)}({owner.code}, {code})")
    cx.check()
    if owner.head().kind == "Counter":
        return
    with cx.block(f"if (WP_UNLIKELY(!{there}))"):
        cx.write(f"wp_raise_key({cx.tagged(key)}, {cx.line});")
        if cx.emitting:
            cx.write(f"goto {cx.exception_target()};" if cx.guarded else 'wp_deopt("an exception", 0);')


def contains(cx: Frame, owner: Value, key: Value) -> Value:
    return cx.scalar("bool", f"{find(cx, owner, key)} != 0")


def new_dict(cx: Frame, tag: Any, kind: str = "dict", factory: Value | None = None) -> Value:
    head = cx.new_head(tag, (kind,), 3 if kind == "defaultdict" else 2)
    made = cx.heap(head, f"wp_dict_new({cx.type_of(head)})")
    if kind == "defaultdict":
        factory = cx.none if factory is None else factory
        cx.flow(factory, head.part(2))
        cx.store(factory, head.part(2), f"wp_dict_factory({made.code})")
    return made


def from_names(cx: Frame, held: dict[str, Value]) -> Value:
    """The dict of `**` arguments."""
    from weft.plain.expressions import python_value

    made = new_dict(cx, "keywords")
    for name, value in held.items():
        with cx.inside(name):
            put(cx, made, python_value(cx, name), value)
    return made


def update_from(cx: Frame, owner: Value, source: Value, only_dicts: bool = False) -> Value:
    """owner.update(source): a dict, or pairs; `only_dicts`: {**source}, which takes no pairs."""
    from weft.plain import iteration
    from weft.plain.subscripts import unpacked

    cx.written(owner.head())

    def one(s: Value) -> Value:
        if s.head().kind in DICTS:
            with iteration.loop(cx, iteration.Entries(s, "items")) as pair:
                put(cx, owner, sequences.tuple_item(cx, pair, 0), sequences.tuple_item(cx, pair, 1))
        elif only_dicts:
            raise cx.refuse(f"`**` of a value of type {s.node!r}")
        else:
            with iteration.loop(cx, iteration.plan_value(cx, s)) as pair:
                k, v = unpacked(cx, pair, 2)
                put(cx, owner, k, v)
        return cx.none

    cx.cases([source], one, "update")
    return owner


def counted(cx: Frame, owner: Value, source: Value, sign: int) -> None:
    """Counter.update and Counter.subtract."""
    from weft.plain import iteration

    cx.written(owner.head())

    def add(key: Value, number: Value) -> None:
        now = get_item(cx, owner, key)
        put(cx, owner, key, operators.binary(cx, "Add" if sign > 0 else "Sub", now, number))

    def one(s: Value) -> Value:
        if s.head().kind in DICTS:
            with iteration.loop(cx, iteration.Entries(s, "items")) as pair:
                add(sequences.tuple_item(cx, pair, 0), sequences.tuple_item(cx, pair, 1))
        else:
            with iteration.loop(cx, iteration.plan_value(cx, s)) as item:
                add(item, cx.literal("int", "1"))
        return cx.none

    cx.cases([source], one, ("count", sign))


def binary(cx: Frame, op: str, a: Value, b: Value, in_place: bool) -> Value | None:
    kinds = a.head().kind, b.head().kind
    if op == "BitOr" and kinds[0] != "Counter" and "Counter" not in kinds:
        if in_place:
            return update_from(cx, a, b)
        if kinds[0] == "dict" != kinds[1]:
            raise cx.refuse(f"a dict | a value of type {b.head()!r}, whose class decides")
        made = new_dict(cx, "merged", kinds[0])
        update_from(cx, made, a)
        with cx.inside("second"):
            return update_from(cx, made, b)
    if kinds == ("Counter", "Counter") and op in ("Add", "Sub", "BitOr", "BitAnd") and not in_place:
        from weft.plain import calls
        from weft.plain.models import counters

        made = new_dict(cx, "counted", "Counter")
        calls.call_function(
            cx,
            {"Add": counters.add, "Sub": counters.subtract, "BitOr": counters.union, "BitAnd": counters.intersection}[
                op
            ],
            [made, a, b],
        )
        return made
    return None


# --- methods ----------------------------------------


@register(_ALL, "get")
def get(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "dict.get", arguments, keywords, 1, 2)
    default = arguments[1] if len(arguments) > 1 else cx.none
    part = owner.head().part(1)
    slot = find(cx, owner, arguments[0])
    result = cx.site("get")
    cx.flow(part, result)
    cx.flow(default, result)
    name = cx.declared(representation(result)) if cx.emitting else "0"
    with cx.block(f"if ({slot})"):
        cx.write(f"{name} = {cx.as_node(cx.load(part, slot), result)};")
    with cx.block("else"):
        cx.write(f"{name} = {cx.as_node(default, result)};")
    return Value(result, name)


@register(_ALL, "setdefault")
def setdefault(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "dict.setdefault", arguments, keywords, 1, 2)
    default = arguments[1] if len(arguments) > 1 else cx.none
    part = owner.head().part(1)
    cx.flow(default, part)
    code = _key(cx, owner, arguments[0], store=True)
    slot = cx.temporary("p", f"wp_dict_put_{_letter(owner)}({owner.code}, {code}, &wp_fresh)")
    cx.check()
    with cx.block("if (wp_fresh)"):
        cx.store(default, part, slot)
    return cx.load(part, slot)


@register(_ALL, "pop")
def pop(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "dict.pop", arguments, keywords, 1, 2)
    part = owner.head().part(1)
    code = _key(cx, owner, arguments[0], store=True)
    slot = find(cx, owner, arguments[0])
    result = cx.site("pop")
    cx.flow(part, result)
    if len(arguments) > 1:
        cx.flow(arguments[1], result)
    name = cx.declared(representation(result)) if cx.emitting else "0"
    with cx.block(f"if ({slot})"):
        cx.write(f"{name} = {cx.as_node(cx.load(part, slot), result)};")
        cx.write(f"wp_dict_delete_{_letter(owner)}({owner.code}, {code});")
    with cx.block("else"):
        if len(arguments) > 1:
            cx.write(f"{name} = {cx.as_node(arguments[1], result)};")
        else:
            cx.write(f"wp_raise_key({cx.tagged(arguments[0])}, {cx.line});")
            cx.check()
    return Value(result, name)


@register(_ALL, "popitem")
def popitem(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    head = owner.head()
    first = "0"
    if head.kind == "OrderedDict":
        last = given(cx, "popitem", arguments, keywords, "last")[0]
        first = f"!({operators.truth(cx, last)})" if last is not None else "0"
    else:
        exactly(cx, "dict.popitem", arguments, keywords, 0)
    cx.written(head)
    at = cx.temporary("i", f"{first} ? wp_dict_next({owner.code}, 0) : wp_dict_last({owner.code})")
    with cx.block(f"if (WP_UNLIKELY({at} < 0))"):
        cx.raises("WP_KEY_ERROR")
    k = cx.load(head.part(0), f"wp_dict_key_at({owner.code}, {at})")
    v = cx.load(head.part(1), f"wp_dict_value_at({owner.code}, {at})")
    cx.write(f"wp_dict_delete_at({owner.code}, {at});")
    return operators.make_tuple(cx, [k, v], "popitem")


@register(_ALL, "clear")
def clear(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "dict.clear", arguments, keywords, 0)
    cx.written(owner.head())
    cx.write(f"wp_dict_clear({owner.code});")
    return cx.none


@register(_ALL, "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "dict.copy", arguments, keywords, 0)
    head = owner.head()
    made = cx.new_head("copy", head.key, len(head.parts))
    for mine, theirs in zip(made.parts, head.parts):
        cx.unify(mine, theirs)
    return cx.heap(made, f"wp_dict_copy({cx.type_of(made)}, {owner.code})")


@register("dict defaultdict OrderedDict", "update")
def update(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value

    exactly(cx, "dict.update", arguments, {}, 0, 1)
    if arguments:
        update_from(cx, owner, arguments[0])
    for name, held in keywords.items():
        with cx.inside(name):
            put(cx, owner, python_value(cx, name), held)
    return cx.none


@register("Counter", "update")
def counter_update(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "Counter.update", arguments, keywords, 0, 1)
    if arguments:
        counted(cx, owner, arguments[0], 1)
    return cx.none


@register("Counter", "subtract")
def counter_subtract(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "Counter.subtract", arguments, keywords, 0, 1)
    if arguments:
        counted(cx, owner, arguments[0], -1)
    return cx.none


@register("Counter", "most_common")
def most_common(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import counters

    n = given(cx, "Counter.most_common", arguments, keywords, "n")[0]
    if n is None or left_out(cx, n, "a number of items"):
        return calls.call_function(cx, counters.most_common, [owner])
    return calls.call_function(cx, counters.most_common_few, [owner, n])


@register("Counter", "elements")
def elements(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import counters

    exactly(cx, "Counter.elements", arguments, keywords, 0)
    return calls.call_function(cx, counters.elements, [owner])


@register("Counter", "total")
def total(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls
    from weft.plain.models import counters

    exactly(cx, "Counter.total", arguments, keywords, 0)
    return calls.call_function(cx, counters.total, [owner])


@register("OrderedDict", "move_to_end")
def move_to_end(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    key, last = given(cx, "move_to_end", arguments, keywords, "key last", 1)
    assert key is not None
    slot = find(cx, owner, key)
    cx.written(owner.head())
    with cx.block(f"if (WP_UNLIKELY(!{slot}))"):
        cx.write(f"wp_raise_key({cx.tagged(key)}, {cx.line});")
        cx.check()
    to_end = operators.truth(cx, last) if last is not None else "1"
    cx.write(f"wp_dict_move_to_end({owner.code}, wp_dict_position({owner.code}, {slot}), {to_end});")
    return cx.none


def _view(cx: Frame, owner: Value, what: str) -> Value:
    head = cx.new_head("view", ("view", what), 1)
    cx.flow(owner, head.part())
    made = cx.heap(head, f"wp_new({cx.type_of(head)})")
    cx.store(owner, head.part(), f"&((wp_record *){made.code})->value[0]")
    return made


def view_binary(cx: Frame, op: str, a: Value, b: Value) -> Value | None:
    """Views of keys, or of items, as sets: a new set, in the order in which CPython fills it."""
    from weft.plain import calls
    from weft.plain.models import sequences as models

    x, y = a.head(), b.head()
    of_pairs = x.key == ("view", "items") and op in ("Sub", "BitOr")  # `&` would look for pairs in a dict
    if (x.key != ("view", "keys") and not of_pairs) or y.kind not in ("set", "frozenset", "list", "view", "dict"):
        if y.key == ("view", "keys") and x.kind in ("set", "frozenset") and op == "BitAnd":
            return calls.call_function(cx, models.keys_and_set, [b, a])
        raise cx.refuse(f"an operation on {x!r} and {y!r}", "make sets of them")
    if y.key == ("view", "values"):
        raise cx.refuse(f"an operation on {x!r} and {y!r}", "make sets of them")
    if op == "BitAnd" and y.key != ("view", "items"):
        of_kind = {"set": models.keys_and_set, "view": models.keys_and_keys}
        return calls.call_function(cx, of_kind.get(y.kind, models.keys_and), [a, b])
    others = {"Sub": models.keys_without, "BitOr": models.keys_or, "BitXor": models.keys_either}
    if op in others:
        if y.kind == "view":
            b = sequences.as_list(cx, b, "view")
        return calls.call_function(cx, others[op], [a, b])
    raise cx.refuse(f"an operation on {x!r} and {y!r}", "make sets of them")


def _register_views() -> None:
    for what in ("keys", "values", "items"):

        def view(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value], what: str = what) -> Value:
            exactly(cx, f"dict.{what}", arguments, keywords, 0)
            return _view(cx, owner, what)

        register(_ALL, what)(view)


_register_views()
