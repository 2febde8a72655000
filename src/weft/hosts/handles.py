"""Lists, strings and dicts of a C host.  In: the kinds of containers that functions take or give; out: an opaque type
for each, and its accessors: their declarations for every language, and their C over native/handles.c.

    list[float]             weft_list_float          list[list[int]]   weft_rows_int
    str, bytes, list[str]   weft_str, weft_bytes, weft_list_str
    dict[str, float]        weft_dict_str_float
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.frontend.specs import ContainerSpec, ListSpec, Spec, TextDictSpec, TextSpec
from weft.frontend.values import ListOf
from weft.ir.types import DType, ScalarType
from weft.records import dataclass

#: Items by their names: the C type of each, and its size.
_ITEMS: dict[str, tuple[str, int]] = {
    "int": ("int64_t", 8),
    "float": ("double", 8),
    "bool": ("bool", 1),
    "byte": ("uint8_t", 1),
    "str": ("int32_t", 4),
}
_NAMES = {DType.I64: "int", DType.F64: "float", DType.BOOL: "bool"}


@dataclass(frozen=True)
class Handle:
    """A kind of container: "list" or "rows" of items, "str", "bytes", or "dict" of keys `item` and values `value`.

    An `item` of "" belongs to an empty one of which no type is known.
    """

    form: str
    item: str
    value: str = ""

    @property
    def name(self) -> str:
        """As its accessors are called."""
        parts = [self.form] if self.form in ("str", "bytes") else [self.form, self.item, self.value]
        return "_".join(part for part in parts if part)

    @property
    def type(self) -> str:
        """The opaque type in C."""
        return f"weft_{self.name}"

    @property
    def python(self) -> str:
        """As Python's hints spell it."""
        forms = {"list": f"list[{self.item}]", "rows": f"list[list[{self.item}]]"}
        return forms.get(self.form, f"dict[{self.item}, {self.value}]" if self.form == "dict" else self.form)

    @property
    def columns(self) -> tuple[tuple[int, bool], ...]:
        """The bytes of a number in each column, and whether an entry is a row of them."""
        if self.form in ("str", "bytes"):
            return ((_ITEMS[self.item][1], False),)
        names = (self.item, self.value) if self.form == "dict" else (self.item,)
        return tuple((_ITEMS[name][1], name == "str" or self.form == "rows") for name in names)

    @property
    def made(self) -> str:
        """The C of a new, empty one."""
        (first, rows), (second, more) = (*self.columns, (0, False))[:2]
        return f"new_handle({first}, {int(rows)}, {second}, {int(more)})"


STR = Handle("str", "str")
BYTES = Handle("bytes", "byte")


def item_name(of: ScalarType) -> str | None:
    """Numbers that lists and dicts hold; None for others."""
    return _NAMES.get(of.dtype)


def size_of(item: str) -> int:
    return _ITEMS[item][1]


def handle_of(kind: Spec) -> Handle | None:
    """The kind of handle that a spec is passed by; None if there is none."""
    if isinstance(kind, ListSpec):
        item = item_name(kind.type)
        return Handle("list" if kind.rank == 1 else "rows", item) if item and kind.rank <= 2 else None
    if isinstance(kind, TextSpec) and kind.kind in ("str", "bytes"):
        whole = STR if kind.kind == "str" else BYTES
        return whole if not kind.many else Handle("list", "str") if kind.kind == "str" else None
    if isinstance(kind, TextDictSpec):
        value = item_name(kind.value) if isinstance(kind.value, ScalarType) else "str"
        return Handle("dict", "str", value) if value else None
    if not isinstance(kind, ContainerSpec) or kind.factory or kind.counts:
        return None
    if kind.kind == "list" and isinstance(kind.item, ListOf) and isinstance(kind.item.item, ScalarType):
        item = item_name(kind.item.item)
        return Handle("rows", item) if item else None
    if kind.kind == "dict" and isinstance(kind.item, ScalarType) and isinstance(kind.value, ScalarType):
        key, value = item_name(kind.item), item_name(kind.value)
        return Handle("dict", key, value) if key and value else None
    return None


# --- accessors ------------------------------------------------------------------------------------------------------


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
    parts = {"list": _of_texts if kind.item == "str" else _of_list, "bytes": _of_list, "rows": _of_rows, "str": _of_str}
    return [
        *parts.get(kind.form, _of_dict)(kind, own, known),
        Accessor("length", "int64_t", ((known, "given"),), ("return handle_length(given);",), "-1 for NULL"),
        Accessor("free", "void", ((own, "given"),), ("free_handle(given);",)),
    ]


def _of_list(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    item = _ITEMS[kind.item][0]
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
    item = _ITEMS[kind.item][0]
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


def _of_dict(kind: Handle, own: str, known: str) -> Iterator[Accessor]:
    yield Accessor("new", own, (), (f"return ({own}){kind.made};",), "NULL without memory")
    key: tuple[str, str] = ("const char *", "key") if kind.item == "str" else (_ITEMS[kind.item][0], "key")
    value: tuple[str, str] = ("const char *", "value") if kind.value == "str" else (_ITEMS[kind.value][0], "value")
    yield Accessor("set", "int", ((own, "given"), key, value), tuple(_put(kind)))
    at = ("int64_t", "at")
    found = _search(kind)
    if kind.value == "str":
        about = "as UTF-8, as far as there is room; its bytes, or -1"
        looked = (*found, "return show_entry(given, 1, at, text, room);")
        yield Accessor("get", "int64_t", ((known, "given"), key, *_SHOWN), tuple(looked), about)
        reading = ("return show_entry(given, 1, at, text, room);",)
        yield Accessor("value_at", "int64_t", ((known, "given"), at, *_SHOWN), reading, about)
    else:
        out = (f"{_ITEMS[kind.value][0]} *", "value")
        looked = (*found, "return at == -2 ? WEFT_MEMORY : read_entry(given, 1, at, value);")
        yield Accessor("get", "int", ((known, "given"), key, out), tuple(looked), "WEFT_RAISED: no such key")
        yield Accessor("value_at", "int", ((known, "given"), at, out), ("return read_entry(given, 1, at, value);",))
    if kind.item == "str":
        shown = ("return show_entry(given, 0, at, text, room);",)
        about = "keys are in the order in which they came"
        yield Accessor("key_at", "int64_t", ((known, "given"), at, *_SHOWN), shown, about)
    else:
        out = (f"{_ITEMS[kind.item][0]} *", "key")
        yield Accessor("key_at", "int", ((known, "given"), at, out), ("return read_entry(given, 0, at, key);",))


def _search(kind: Handle) -> list[str]:
    """Statements that leave the place of `key` in `at`."""
    absent = "return -1;" if kind.value == "str" else "return WEFT_NULL;"
    if kind.item != "str":
        return ["if (given == NULL)", f"    {absent}", "const int64_t at = find_key(given, &key, 1);"]
    failed = "-1" if kind.value == "str" else "status"
    return [
        "decoded sought;",
        "int status = given == NULL ? WEFT_NULL : read_text(key, -1, &sought);",
        "if (status != WEFT_OK)",
        f"    return {failed};",
        "const int64_t at = find_key(given, sought.codes, sought.count);",
        "drop_text(&sought);",
    ]


def _put(kind: Handle) -> Iterator[str]:
    """Statements that set an entry."""
    key, value = "&key, 1", "&value, 1"
    texts = [name for name, of in (("key", kind.item), ("value", kind.value)) if of == "str"]
    yield "int status = WEFT_OK;"
    for number, name in enumerate(texts):
        yield f"decoded plain_{name};"
        yield f"status = read_text({name}, -1, &plain_{name});"
        yield "if (status != WEFT_OK) {"
        yield from (f"    drop_text(&plain_{earlier});" for earlier in texts[:number])
        yield "    return status;"
        yield "}"
        if name == "key":
            key = "plain_key.codes, plain_key.count"
        else:
            value = "plain_value.codes, plain_value.count"
    yield f"status = put_entry(given, {key}, {value});"
    yield from (f"drop_text(&plain_{name});" for name in texts)
    yield "return status;"
