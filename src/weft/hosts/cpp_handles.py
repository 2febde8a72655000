"""Handles in C++.  In: the kinds of handles of a library; out: functions between them and the containers of C++:

list[float]    std::vector<double>       str     std::string        dict[K, V]  weft::dict<K, V>: pairs in their order
tuple[A, B]    std::tuple<A, B>          set[K]  std::set<K>
"""

from __future__ import annotations

from weft.hosts.handles import Handle, Leaf

_ITEMS = {"int": "std::int64_t", "float": "double", "bool": "bool", "byte": "std::uint8_t", "str": "std::string"}

SUPPORT = r"""#ifndef WEFT_CPP_HANDLES
#define WEFT_CPP_HANDLES
namespace weft {

/* The entries of a dict in their order; of entries with one key the last one counts. */
template <class Key, class Value> using dict = std::vector<std::pair<Key, Value>>;

inline void need(int code)
{
    if (code == WEFT_MEMORY)
        throw std::bad_alloc();
    if (code != WEFT_OK)
        throw std::invalid_argument("a string is not UTF-8");
}
inline const char *without_zero(const std::string &text)
{
    if (text.find('\0') != std::string::npos)
        throw std::invalid_argument("a string in a list or dict has a zero in it");
    return text.c_str();
}
/* What `get(buffer, room)` writes. */
template <class Get> std::string text_of(Get get)
{
    std::string out(static_cast<std::size_t>(get(nullptr, 0)) + 1, ' ');
    get(&out[0], static_cast<std::int64_t>(out.size()));
    out.pop_back();
    return out;
}
template <class Item, class Get> Item item_of(Get get)
{
    Item item;
    need(get(&item));
    return item;
}

} // namespace weft
#endif
"""


def spelled(kind: Handle) -> str:
    """The container of C++ that a handle becomes."""
    if kind.form == "str":
        return "std::string"
    if kind.fields:
        item = f"std::tuple<{', '.join(map(_spelled, kind.fields))}>"
        return item if kind.form == "tuple" else f"std::vector<{item}>"
    item = _spelled(kind.item)
    if kind.form == "dict":
        return f"weft::dict<{item}, {_spelled(kind.value)}>"
    if kind.form == "set":
        return f"std::set<{item}>"
    return f"std::vector<std::vector<{item}>>" if kind.form == "rows" else f"std::vector<{item}>"


def _spelled(leaf: Leaf) -> str:
    if isinstance(leaf, tuple):
        return f"std::tuple<{', '.join(_ITEMS[each] for each in leaf)}>"
    return spelled(leaf) if isinstance(leaf, Handle) else _ITEMS[leaf]


def conversion(module: str, kind: Handle) -> str:
    """`taken_*`: a handle that frees itself, of a container; `shown_*`: a container of a handle."""
    own, call = kind.name, f"{module}_{kind.name}"
    return f"""struct {own}_free {{
    void operator()({kind.type} *given) const {{ {call}_free(given); }}
}};
using {own}_pointer = std::unique_ptr<{kind.type}, {own}_free>;
inline {own}_pointer taken_{own}(const {spelled(kind)} &given)
{{
{_taken(call, kind)}
    return made;
}}
inline {spelled(kind)} shown_{own}(const {kind.type} *given)
{{
{_shown(call, kind)}
}}"""


def _taken(call: str, kind: Handle) -> str:
    begin = f"    {kind.name}_pointer made"
    needed = "    if (!made)\n        throw std::bad_alloc();"
    if kind.form == "str":
        wrong = '    if (!made)\n        throw std::invalid_argument("a string is not UTF-8");'
        return f"{begin}({call}_new(given.data(), static_cast<std::int64_t>(given.size())));\n{wrong}"
    if kind.form == "tuple":
        return f"{begin}({call}_new({_fields(kind, 'given')}));\n{needed}"
    is_flat = kind.form in ("list", "bytes") and isinstance(kind.item, str) and kind.item != "str"
    if is_flat and kind.item != "bool":
        return f"{begin}({call}_new(given.data(), static_cast<std::int64_t>(given.size())));\n{needed}"
    new = f"{begin}({call}_new({'nullptr, 0' if is_flat else ''}));\n{needed}\n"
    if kind.form == "rows":
        rows = "    for (const auto &row : given) {\n"
        held, count = "row.data()", "static_cast<std::int64_t>(row.size())"
        if kind.item == "bool":  # a vector of them has no memory that could be shown
            held = "items.get()"
            rows += "        std::unique_ptr<bool[]> items(new bool[row.size() + 1]);\n"
            rows += "        std::copy(row.begin(), row.end(), items.get());\n"
        return f"{new}{rows}        weft::need({call}_append(made.get(), {held}, {count}));\n    }}"
    step, items = "append", _passed(kind.item, "item")
    if kind.form == "tuples":
        items = _fields(kind, "item")
    elif kind.form == "set":
        step = "add"
    elif kind.form == "dict":
        step, items = "set", f"{_passed(kind.item, 'item.first')}, {_passed(kind.value, 'item.second')}"
    return f"{new}    for (const auto &item : given)\n        weft::need({call}_{step}(made.get(), {items}));"


def _passed(leaf: Leaf, item: str) -> str:
    """An item of C++ as the accessors take it."""
    if isinstance(leaf, tuple):
        return ", ".join(f"std::get<{place}>({item})" for place in range(len(leaf)))
    if isinstance(leaf, Handle):
        return f"taken_{leaf.name}({item}).get()"
    return f"weft::without_zero({item})" if leaf == "str" else item


def _fields(kind: Handle, item: str) -> str:
    return ", ".join(_passed(leaf, f"std::get<{place}>({item})") for place, leaf in enumerate(kind.fields))


def _shown(call: str, kind: Handle) -> str:
    if kind.form == "str":
        return (
            f"    return weft::text_of([&](char *text, std::int64_t room) {{ return {call}_get(given, text, room); }});"
        )
    if kind.form == "tuple":
        found = [_read(f"{call}_get_{place}", leaf, "given") for place, leaf in enumerate(kind.fields)]
        return f"    return {spelled(kind)}({', '.join(found)});"
    loop = f"    for (std::int64_t at = 0, count = {call}_length(given); at < count; at++)"
    out = f"    {spelled(kind)} out;\n"
    if kind.form == "rows":
        item = _spelled(kind.item)
        inner = f"for (std::int64_t j = 0; j < {call}_row_length(given, at); j++)"
        got = f"weft::item_of<{item}>([&]({item} *item) {{ return {call}_get(given, at, j, item); }})"
        steps = f"        out.emplace_back();\n        {inner}\n            out.back().push_back({got});"
        return f"{out}{loop} {{\n{steps}\n    }}\n    return out;"
    if kind.form == "dict":
        pair = f"{_read(f'{call}_key_at', kind.item)}, {_read(f'{call}_value_at', kind.value)}"
        return f"{out}{loop}\n        out.emplace_back({pair});\n    return out;"
    if kind.form == "tuples":
        found = [_read(f"{call}_get_{place}", leaf) for place, leaf in enumerate(kind.fields)]
        return f"{out}{loop}\n        out.emplace_back({', '.join(found)});\n    return out;"
    step = "insert" if kind.form == "set" else "push_back"
    return f"{out}{loop}\n        out.{step}({_read(f'{call}_get', kind.item)});\n    return out;"


def _read(getter: str, leaf: Leaf, given: str = "given, at") -> str:
    if isinstance(leaf, tuple):
        parts = [f"{_ITEMS[each]} part_{place}" for place, each in enumerate(leaf)]
        places = ", ".join(f"&part_{place}" for place in range(len(leaf)))
        names = places.replace("&", "")
        body = f"{'; '.join(parts)}; weft::need({getter}({given}, {places}));"
        return f"[&] {{ {body} return {_spelled(leaf)}({names}); }}()"
    if isinstance(leaf, Handle):
        return f"shown_{leaf.name}({getter}({given}))"
    if leaf == "str":
        return f"weft::text_of([&](char *text, std::int64_t room) {{ return {getter}({given}, text, room); }})"
    return f"weft::item_of<{_ITEMS[leaf]}>([&]({_ITEMS[leaf]} *item) {{ return {getter}({given}, item); }})"
