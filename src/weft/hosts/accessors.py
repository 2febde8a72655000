"""Accessors of handles.  In: a kind of handle; out: functions over it: their declarations for every language, and their
C over native/handles.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weft.hosts.handles import Handle, Leaf, item_type
from weft.records import dataclass


@dataclass(frozen=True)
class Accessor:
    """One function over handles: what it returns, its parameters (type, name) and its C."""

    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]
    body: tuple[str, ...]
    about: str = ""

    def declared(self, module: str, kind: Handle) -> str:
        spaced = [f"{of}{'' if of.endswith('*') else ' '}{name}" for of, name in self.parameters]
        gap = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{gap}{module}_{kind.name}_{self.name}({', '.join(spaced) or 'void'})"

    def defined(self, module: str, kind: Handle) -> str:
        lines = "\n".join(f"    {line}" for line in self.body)
        return f"HOST_API {self.declared(module, kind)}\n{{\n{lines}\n}}\n"


_SHOWN = (("char *", "text"), ("int64_t", "room"))


def accessors(kind: Handle) -> list[Accessor]:
    """All accessors of a kind of handles."""
    own, known = f"{kind.type} *", f"const {kind.type} *"
    of_list = _of_inner if isinstance(kind.item, Handle) else _of_texts if kind.item == "str" else _of_list
    parts: dict[str, Callable[[Handle, str, str], Iterator[Accessor]]] = {
        "list": of_list, "bytes": _of_list, "rows": _of_rows, "str": _of_str, "dict": _of_dict, "set": _of_set,
        "tuple": _of_tuple, "tuples": _of_tuples,
    }  # fmt: skip
    return [
        *parts[kind.form](kind, own, known),
        Accessor("length", "int64_t", ((known, "given"),), ("return handle_length(given);",), "-1 for NULL"),
        Accessor("free", "void", ((own, "given"),), ("free_handle(given);",)),
    ]


def _of_list(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    item = item_type(kind.item)
    making = (
        "if (count < 0 || (items == NULL && count > 0))",
        "    return NULL;",
        f"weft_handle *made = {kind.made};",
        "if (made != NULL && extend_column(&made->parts[0], items, count) != 0) {",
        "    free_handle(made);",
        "    made = NULL;",
        "}",
        f"return ({own})made;",
    )
    about = "a copy of these items; NULL without memory"
    yield Accessor("new", own, ((f"const {item} *", "items"), ("int64_t", "count")), making, about)
    reading = ((known, "given"), ("int64_t", "at"), (f"{item} *", "item"))
    yield Accessor("get", "int", reading, ("return read_entry(given, 0, at, item);",), "WEFT_RAISED: no such index")
    writing = ((own, "given"), ("int64_t", "at"), (item, "item"))
    yield Accessor("set", "int", writing, ("return write_entry(given, at, &item, 1);",))
    yield Accessor("append", "int", ((own, "given"), (item, "item")), ("return add_entry(given, &item, 1);",))
    data = f"return given == NULL ? NULL : ({item} *)((weft_handle *)given)->parts[0].items;"
    yield Accessor("data", f"{item} *", ((own, "given"),), (data,), "all items, until one is appended")


def _of_rows(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    item = item_type(kind.item)
    yield Accessor("new", own, (), (f"return ({own}){kind.made};",), "NULL without memory")
    row = ((own, "given"), (f"const {item} *", "items"), ("int64_t", "count"))
    yield Accessor("append", "int", row, ("return add_entry(given, items, count);",))
    length = (
        "const weft_handle *h = (const weft_handle *)given;",
        "return h == NULL || at < 0 || at >= h->parts[0].count ? -1 : length_of(&h->parts[0], at);",
    )
    about = "-1: there is no such row"
    yield Accessor("row_length", "int64_t", ((known, "given"), ("int64_t", "at")), length, about)
    place = ("int64_t", "i"), ("int64_t", "j")

    def element(step: str) -> tuple[str, ...]:
        return (
            "void *place = row_element(given, i, j);",
            "if (place == NULL)",
            "    return WEFT_RAISED;",
            step,
            "return WEFT_OK;",
        )

    missing = ("if (given == NULL || item == NULL)", "    return WEFT_NULL;")
    got = (*missing, *element("memcpy(item, place, sizeof *item);"))
    yield Accessor("get", "int", ((known, "given"), *place, (f"{item} *", "item")), got)
    put = ("if (given == NULL)", "    return WEFT_NULL;", *element("memcpy(place, &item, sizeof item);"))
    yield Accessor("set", "int", ((own, "given"), *place, (item, "item")), put)


def _of_str(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    given = (("const char *", "text"), ("int64_t", "bytes"))
    about = "of UTF-8, up to a zero if bytes is -1; NULL if it is none"
    yield Accessor("new", own, given, (f"return ({own})new_text(text, bytes);",), about)
    about = "as UTF-8, as far as there is room; its bytes without the zero"
    yield Accessor("get", "int64_t", ((known, "given"), *_SHOWN), ("return show_text(given, text, room);",), about)


def _of_texts(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    yield Accessor("new", own, (), (f"return ({own}){kind.made};",), "NULL without memory")
    yield Accessor("append", "int", ((own, "given"), ("const char *", "text")), ("return add_text(given, text);",))
    writing = ((own, "given"), ("int64_t", "at"), ("const char *", "text"))
    yield Accessor(
        "set", "int", writing, ("return write_text(given, at, text);",), "WEFT_RAISED: no such index, no UTF-8"
    )
    about = "as UTF-8, as far as there is room; its bytes, or -1"
    reading = ((known, "given"), ("int64_t", "at"), *_SHOWN)
    yield Accessor("get", "int64_t", reading, ("return show_entry(given, 0, at, text, room);",), about)


# --- dicts, sets, tuples, and containers in containers --------------------------------------------------------------


def _new(kind: Handle, own: str) -> Accessor:
    return Accessor("new", own, (), (f"return ({own}){kind.made};",), "NULL without memory")


def _given(leaf: Leaf, name: str) -> tuple[tuple[str, str], ...]:
    """The parameters by which an item is given."""
    if isinstance(leaf, tuple):
        return tuple((item_type(each), f"{name}_{place}") for place, each in enumerate(leaf))
    if isinstance(leaf, Handle):
        return ((f"const {leaf.type} *", name),)
    return (("const char *" if leaf == "str" else item_type(leaf), name),)


def _items(leaves: Sequence[Leaf], names: Sequence[str]) -> Iterator[str]:
    """Statements that leave items in `items`, and what is wrong in `status`."""
    yield f"weft_item items[{len(leaves)}];"
    yield f"int status = begin_items(given, items, {len(leaves)});"
    for at, (leaf, name) in enumerate(zip(leaves, names)):
        yield "if (status == WEFT_OK)"
        if isinstance(leaf, tuple):
            parts = [f"&{name}_{place}" for place in range(len(leaf))]
            sizes = ", ".join(f"sizeof *{part}" for part in parts).replace("*&", "")
            yield f"    status = words_item(&items[{at}], {len(leaf)}, (const void *[]){{{', '.join(parts)}}},"
            yield f"                        (const size_t[]){{{sizes}}});"
        elif isinstance(leaf, Handle):
            yield f"    status = inner_item(&items[{at}], {name});"
        elif leaf == "str":
            yield f"    status = text_item(&items[{at}], {name});"
        else:
            yield f"    status = number_item(&items[{at}], &{name}, sizeof {name});"


def _read(leaf: Leaf, part: int, at: str, name: str) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...], str]:
    """How an item is read: what the function returns, its further parameters, its body, a comment."""
    if isinstance(leaf, tuple):
        names = [f"{name}_{place}" for place in range(len(leaf))]
        body = [
            f"if (status == WEFT_OK)\n        status = read_word(given, {part}, {at}, {place}, {each}, sizeof *{each});"
            for place, each in enumerate(names)
        ]
        out = tuple((f"{item_type(each)} *", name) for each, name in zip(leaf, names))
        return "int", out, ("int status = WEFT_OK;", *body, "return status;"), ""
    if isinstance(leaf, Handle):
        about = "as its owner has it, until that is changed; NULL: there is none"
        return f"{leaf.type} *", (), (f"return ({leaf.type} *)inner_at(given, {part}, {at});",), about
    if leaf == "str":
        about = "as UTF-8, as far as there is room; its bytes, or -1"
        return "int64_t", _SHOWN, (f"return show_entry(given, {part}, {at}, text, room);",), about
    return "int", ((f"{item_type(leaf)} *", name),), (f"return read_entry(given, {part}, {at}, {name});",), ""


def _of_inner(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    yield _new(kind, own)
    given, at = (own, "given"), ("int64_t", "at")
    body = (*_items([kind.item], ["item"]), "return append_items(status, given, items);")
    yield Accessor("append", "int", (given, *_given(kind.item, "item")), body, "a copy of it")
    body = (*_items([kind.item], ["item"]), "return replace_item(status, given, 0, at, items);")
    yield Accessor("set", "int", (given, at, *_given(kind.item, "item")), body)
    returns, more, reading, about = _read(kind.item, 0, "at", "item")
    yield Accessor("get", returns, ((known, "given"), at, *more), reading, about)


def _of_dict(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    yield _new(kind, own)
    key, value, at = _given(kind.item, "key"), _given(kind.value, "value"), ("int64_t", "at")
    about = "a copy of the value" if isinstance(kind.value, Handle) else ""
    body = (*_items([kind.item, kind.value], ["key", "value"]), "return put_items(status, given, items);")
    yield Accessor("set", "int", ((own, "given"), *key, *value), body, about)
    returns, more, reading, about = _read(kind.value, 1, "at", "value")
    none = {"int": "status != WEFT_OK ? status : WEFT_MEMORY", "int64_t": "-1"}.get(returns, "NULL")
    looked = (*_search(kind.item), "if (status != WEFT_OK || at == -2)", f"    return {none};", *reading)
    missing = "WEFT_RAISED: no such key" if returns == "int" else about
    yield Accessor("get", returns, ((known, "given"), *key, *more), looked, missing)
    yield Accessor("value_at", returns, ((known, "given"), at, *more), reading, about)
    returns, more, reading, _ = _read(kind.item, 0, "at", "key")
    about = "keys are in the order in which they came"
    yield Accessor("key_at", returns, ((known, "given"), at, *more), reading, about)


def _search(key: Leaf) -> Iterator[str]:
    """Statements that leave the place of `key` in `at`."""
    yield from _items([key], ["key"])
    yield "const int64_t at = status == WEFT_OK ? find_key(given, items[0].numbers, items[0].count) : -1;"
    yield "end_items(status, items, 1);"


def _of_set(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    yield _new(kind, own)
    key = _given(kind.item, "key")
    body = (*_items([kind.item], ["key"]), "return put_items(status, given, items);")
    yield Accessor("add", "int", ((own, "given"), *key), body)
    yield Accessor("has", "bool", ((known, "given"), *key), (*_search(kind.item), "return at >= 0;"))
    returns, more, reading, about = _read(kind.item, 0, "at", "key")
    yield Accessor("get", returns, ((known, "given"), ("int64_t", "at"), *more), reading, about)


def _of_tuple(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    names = [f"item_{place}" for place in range(len(kind.fields))]
    given = tuple(each for leaf, name in zip(kind.fields, names) for each in _given(leaf, name))
    making = (f"weft_handle *given = {kind.made};", *_items(kind.fields, names))
    put = "append_items(status, given, items)"
    failed = (f"if ({put} != WEFT_OK) {{", "    free_handle(given);", "    given = NULL;", "}")
    about = "of copies; NULL without memory, or if a string is no UTF-8"
    yield Accessor("new", own, given, (*making, *failed, f"return ({own})given;"), about)
    for place, (leaf, name) in enumerate(zip(kind.fields, names)):
        returns, more, reading, about = _read(leaf, place, "0", name)
        yield Accessor(f"get_{place}", returns, ((known, "given"), *more), reading, about)


def _of_tuples(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    names = [f"item_{place}" for place in range(len(kind.fields))]
    given = tuple(each for leaf, name in zip(kind.fields, names) for each in _given(leaf, name))
    yield _new(kind, own)
    body = (*_items(kind.fields, names), "return append_items(status, given, items);")
    yield Accessor("append", "int", ((own, "given"), *given), body)
    for place, (leaf, name) in enumerate(zip(kind.fields, names)):
        returns, more, reading, about = _read(leaf, place, "at", name)
        yield Accessor(f"get_{place}", returns, ((known, "given"), ("int64_t", "at"), *more), reading, about)
