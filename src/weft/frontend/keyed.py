"""Dicts whose keys are all known when the function is compiled: results under names.  In: a display, or an empty dict,
with constant strings as keys and values of several types; out: an object with an attribute for each key.

    out = {"mean": m, "bins": h}; out["n"] = n; return out    -->    out_mean = m; out_bins = h; out_n = n

A dict of one type of values stays a table (dicts.py), in which any key is found.  What `**` parameters hold is known by
name as well; nothing is put into it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from weft.frontend.building import Building
from weft.frontend.dicts import place_of_entries
from weft.frontend.emit import Restart
from weft.frontend.values import Dict, Keyed, Keywords, Object, Struct, Tuple, Value


class Entries:
    """The class of the objects that hold the entries: it has no attributes of its own."""


def _name(key: Value) -> str | None:
    """The constant string that a key is."""
    return key.value if isinstance(key, Object) and type(key.value) is str else None


class KeyedDicts(Building):
    """Dicts by the names of their entries."""

    def keyed_display(self, node: ast.AST, keys: Sequence[Value], values: Sequence[Value]) -> Keyed | None:
        """{"a": ..., "b": ...} if no table holds these values."""
        names = [_name(key) for key in keys]
        layouts = [self.layout(value) for value in values]
        alike = None not in layouts and all(layout == layouts[0] for layout in layouts)
        wanted = place_of_entries(self, node) in self.emitter.decisions.keyed
        if None in names or not (wanted or (names and not alike)):
            return None
        entries = Struct(Entries, {}, self.emitter.blocks[-1])
        for name, value in zip(names, values):
            assert name is not None
            self.store_attribute(entries, name, value, node)
        return Keyed(entries)

    def keyed_instead(self, base: Dict, key: Value) -> None:
        """A dict turns out to hold several types: it begins anew as one of known keys, if it can."""
        if _name(key) is not None and base.place not in self.emitter.decisions.keyed:
            self.emitter.decisions.keyed.add(base.place)
            raise Restart

    def _eval_gathered(self, node: ast.Dict) -> Value:
        """What `**` parameters of the function hold."""
        names = [str(key.value) for key in node.keys if isinstance(key, ast.Constant)]
        return Keywords(dict(zip(names, map(self.evaluate, node.values))))


def keyed_name(builder: Building, key: Value, node: ast.AST) -> str:
    """The key, which must be known."""
    name = _name(key)
    if name is None:
        raise builder.unsupported(node, "this key of a dict with values of several types", "use a constant", key=key)
    return name


def keyed_item(builder: Building, base: Keyed | Keywords, key: Value, node: ast.AST) -> Value:
    """base["key"]"""
    name = keyed_name(builder, key, node)
    if isinstance(base, Keywords) and name in base.items:
        return base.items[name]
    if isinstance(base, Keywords) or name not in base.entries.fields:
        raise builder.unsupported(node, f"KeyError: {name!r}")
    return builder.field(base.entries, name, node)


def keyed_items(builder: Building, base: Keyed | Keywords, node: ast.AST | None) -> dict[str, Value]:
    """The entries by their keys."""
    if isinstance(base, Keywords):
        return base.items
    place = node or ast.Pass()
    return {name: builder.field(base.entries, name, place) for name in base.entries.fields}


def keyed_method(builder: Building, base: Keyed | Keywords, name: str, args: list[Value], node: ast.AST) -> Value:
    """base.get("key"), with or without a default; base.keys() and the like, which are written out"""
    # The values of a dict that may change are looked up one by one.
    if not args and (name == "keys" or (name in ("values", "items") and isinstance(base, Keywords))):
        pairs = keyed_items(builder, base, node)
        if name == "items":
            return Tuple(tuple(Tuple((Object(key), value)) for key, value in pairs.items()))
        return Tuple(tuple(map(Object, pairs)) if name == "keys" else tuple(pairs.values()))
    if name != "get" or not 1 <= len(args) <= 2:
        raise builder.unsupported(node, f"{name}() of a dict with values of several types", "name its keys")
    found = keyed_items(builder, base, node).get(keyed_name(builder, args[0], node))
    if found is not None:
        return found
    return args[1] if len(args) == 2 else Object(None)
