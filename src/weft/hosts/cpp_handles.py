"""Handles in C++.  In: the kinds of handles of a library; out: functions between them and the containers of C++:

list[float]  std::vector<double>         str  std::string        dict[K, V]  weft::dict<K, V>: pairs in their order
"""

from __future__ import annotations

from weft.hosts.handles import Handle

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
    item = _ITEMS[kind.item]
    if kind.form == "dict":
        return f"weft::dict<{item}, {_ITEMS[kind.value]}>"
    return f"std::vector<std::vector<{item}>>" if kind.form == "rows" else f"std::vector<{item}>"


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
    if kind.form in ("list", "bytes") and kind.item not in ("str", "bool"):
        return f"{begin}({call}_new(given.data(), static_cast<std::int64_t>(given.size())));\n{needed}"
    new = f"{begin}({call}_new({'nullptr, 0' if kind.item == 'bool' and kind.form == 'list' else ''}));\n{needed}\n"
    if kind.form == "list":
        item = "weft::without_zero(item)" if kind.item == "str" else "item"
        return f"{new}    for (const auto &item : given)\n        weft::need({call}_append(made.get(), {item}));"
    if kind.form == "rows":
        rows = "    for (const auto &row : given) {\n"
        held, count = "row.data()", "static_cast<std::int64_t>(row.size())"
        if kind.item == "bool":  # a vector of them has no memory that could be shown
            held = "items.get()"
            rows += "        std::unique_ptr<bool[]> items(new bool[row.size() + 1]);\n"
            rows += "        std::copy(row.begin(), row.end(), items.get());\n"
        return f"{new}{rows}        weft::need({call}_append(made.get(), {held}, {count}));\n    }}"
    key = "weft::without_zero(entry.first)" if kind.item == "str" else "entry.first"
    value = "weft::without_zero(entry.second)" if kind.value == "str" else "entry.second"
    return f"{new}    for (const auto &entry : given)\n        weft::need({call}_set(made.get(), {key}, {value}));"


def _shown(call: str, kind: Handle) -> str:
    if kind.form == "str":
        return (
            f"    return weft::text_of([&](char *text, std::int64_t room) {{ return {call}_get(given, text, room); }});"
        )
    loop = f"    for (std::int64_t at = 0, count = {call}_length(given); at < count; at++)"
    out = f"    {spelled(kind)} out;\n"
    if kind.form == "rows":
        item = _ITEMS[kind.item]
        inner = f"for (std::int64_t j = 0; j < {call}_row_length(given, at); j++)"
        got = f"weft::item_of<{item}>([&]({item} *item) {{ return {call}_get(given, at, j, item); }})"
        steps = f"        out.emplace_back();\n        {inner}\n            out.back().push_back({got});"
        return f"{out}{loop} {{\n{steps}\n    }}\n    return out;"
    if kind.form == "dict":
        pair = f"{_read(f'{call}_key_at', kind.item)}, {_read(f'{call}_value_at', kind.value)}"
        return f"{out}{loop}\n        out.emplace_back({pair});\n    return out;"
    return f"{out}{loop}\n        out.push_back({_read(f'{call}_get', kind.item)});\n    return out;"


def _read(getter: str, item: str) -> str:
    if item == "str":
        return f"weft::text_of([&](char *text, std::int64_t room) {{ return {getter}(given, at, text, room); }})"
    return f"weft::item_of<{_ITEMS[item]}>([&]({_ITEMS[item]} *item) {{ return {getter}(given, at, item); }})"
