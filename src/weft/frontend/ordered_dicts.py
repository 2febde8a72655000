"""collections.OrderedDict: a dict whose entries may change places.  In: its own methods; out: statements over the
table, whose entries stand in order as they do in any dict.

    d.move_to_end(k)        the entry is taken out and put in again behind all others
    d.popitem(last=False)   the first entry that is there
"""

from __future__ import annotations

import ast

from weft.frontend.building import Building
from weft.frontend.constants import constant_bool
from weft.frontend.dicts import keep_size, numbers_of_key, refuse_missing, will_shrink
from weft.frontend.nested import untyped
from weft.frontend.tables import Hashed
from weft.frontend.values import Dict, Method, Object, Tuple, Value
from weft.frontend.writing import repeat, variable
from weft.ir.expr import ONE, ZERO, Const, Op
from weft.ir.types import BOOL, INT


class OrderedDicts(Building):
    """What an OrderedDict has of its own."""

    def _call_method(self, function: Method, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        base = function.receiver
        if not isinstance(base, Dict) or not base.movable:
            return super()._call_method(function, args, kwargs, node)
        if function.name == "copy":
            raise self.unsupported(node, "a copy of an OrderedDict", "make it of its items")
        if function.name == "move_to_end" and args and set(kwargs) <= {"last"}:
            return _move_to_end(self, base, [*args, *kwargs.values()], node)
        if function.name == "popitem" and set(kwargs) <= {"last"}:
            return _take_item(self, base, [*args, *kwargs.values()], node)
        return super()._call_method(function, args, kwargs, node)


def _at_end(builder: Building, args: list[Value], node: ast.AST) -> bool:
    """The argument `last`."""
    if len(args) > 1:
        raise builder.unsupported(node, "these arguments of a method of OrderedDict")
    return constant_bool(args[0] if args else None, builder.emitter, True)


def _move_to_end(builder: Building, base: Dict, args: list[Value], node: ast.AST) -> Value:
    if not _at_end(builder, args[1:], node):
        raise builder.unsupported(node, "move_to_end(last=False)", "put the entries into a new dict")
    will_shrink(builder, base, node)
    numbers = numbers_of_key(builder, base, args[0], node)
    if numbers is None or base.table is None:
        raise untyped(builder, node, "an entry of a dict to which nothing has been added")
    keep_size(builder, base, Const(False, BOOL))
    hashed = Hashed(builder.emitter, base.table)
    _, entry = hashed.search(numbers)
    refuse_missing(builder, base, Op("ge", (entry.value, ZERO), BOOL), numbers)
    taken = hashed.entries.taken(entry.value)
    hashed.remove(entry.value)
    hashed.insert(taken[: base.table.keys], taken[base.table.keys : -1])
    builder.emitter.mutations += 1
    return Object(None)


def _take_item(builder: Building, base: Dict, args: list[Value], node: ast.AST) -> Value:
    at_end = _at_end(builder, args, node)
    will_shrink(builder, base, node)
    if base.table is None or base.key is None or base.item is None:
        raise untyped(builder, node, "an entry of a dict to which nothing has been added")
    emitter, hashed = builder.emitter, Hashed(builder.emitter, base.table)
    keep_size(builder, base, Const(False, BOOL))
    emitter.check(Op("gt", (hashed.live.value, ZERO), BOOL), "KeyError", "'dictionary is empty'")
    step = Const(-1, INT) if at_end else ONE
    last = Op("sub", (hashed.entries.length.value, ONE), INT)
    place = variable(emitter, "place", last if at_end else ZERO)
    with repeat(emitter, Op("not", (hashed.entries.read(place.value)[-1],), BOOL)):
        place.set(Op("add", (place.value, step), INT))
    taken = hashed.entries.taken(place.value)
    hashed.remove(place.value)
    emitter.mutations += 1
    keys = base.table.keys
    return Tuple((builder.assembled(base.key, iter(taken[:keys])), builder.assembled(base.item, iter(taken[keys:-1]))))
