"""Facts that several parts of the builder may find out too late.  In: what was found; out: never anything: the fact is
noted in `Decisions`, and the build starts again with it.

Each fact has one function here.  Facts that a single module finds out are noted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from weft.frontend.building import Building
from weft.frontend.emit import Restart
from weft.frontend.scope import Slot
from weft.frontend.values import ItemType
from weft.ir.types import ScalarType

#: A variable or the place where a container is made.
Place = tuple[int, str]


def holds_items(builder: Building, place: Place, layout: ItemType) -> NoReturn:
    """The type of the items of a list, which was empty or held others."""
    builder.emitter.decisions.items[place] = layout
    raise Restart


def holds_entries(builder: Building, place: Place, key: ItemType, item: ItemType | None) -> NoReturn:
    """The types of the keys and values of a dict; of a set there are only keys."""
    builder.emitter.decisions.entries[place] = (key, item)
    raise Restart


def escape(builder: Building, places: Iterable[Place]) -> NoReturn:
    """Names of lists and arrays that are put into containers: they are among others from the start."""
    builder.emitter.decisions.escaping.update(places)
    raise Restart


def changes(builder: Building, argument: str) -> NoReturn:
    """An argument that gets or loses items: it has memory of its own."""
    builder.emitter.decisions.changing.add(argument)
    raise Restart


def has_attributes(builder: Building, kind: type, attributes: Mapping[str, ItemType]) -> NoReturn:
    """Types of the attributes of a class whose objects are side by side in memory."""
    builder.emitter.decisions.objects.setdefault(kind, {}).update(attributes)
    raise Restart


def is_parted(builder: Building, slot: Slot) -> NoReturn:
    """A variable that holds tuples of numbers, each in a variable of its own."""
    builder.emitter.decisions.tupled.add(slot.key)
    raise Restart


def has_type(builder: Building, place: Place, of: ScalarType) -> NoReturn:
    """The type of a variable that holds numbers of several."""
    builder.emitter.decisions.slot_types[place] = of
    raise Restart


def is_tagged(builder: Building, place: Place, second: ScalarType | None = None) -> NoReturn:
    """A variable whose numbers are of two types: a tag tells which; `second` is the type that it is not declared as."""
    known = builder.emitter.decisions.tagged
    known[place] = known.get(place) or second
    raise Restart


def shows_types(builder: Building) -> NoReturn:
    """The user gets to see of which type a number is: floats of Python and of NumPy are told apart."""
    builder.emitter.decisions.exact = True
    raise Restart


def holds_text(builder: Building, slot: Slot, kind: str, single: bool) -> NoReturn:
    """A variable that holds strings, perhaps only single characters."""
    builder.emitter.decisions.texts[slot.key] = (kind, single)
    raise Restart


def varies(builder: Building, slot: Slot, axes: Iterable[int]) -> NoReturn:
    """The axes along which the arrays of a variable are of several sizes."""
    varying = builder.emitter.decisions.varying
    varying[slot.key] = varying.get(slot.key, frozenset()).union(axes)
    raise Restart
