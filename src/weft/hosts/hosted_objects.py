"""What stands in a C library for the objects of Python that compiled plain Python names.  In: a version; out: C tables.

    class   its name, how its objects compare and are hashed, whether it is an exception
    str     the name of an attribute
    else    an address that no other object has
"""

from __future__ import annotations

from typing import Any

from weft.hosts import spelling
from weft.plain.classes import RAISED_NATIVELY
from weft.plain.compiling import Front

_COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
#: Classes whose comparisons the run time has, by the class of the run time that stands for each.
_KNOWN = {object: "PyBaseObject_Type", dict: "PyDict_Type", tuple: "PyTuple_Type"}


def table(front: Front, own: str) -> str:
    """Definitions of objects, and `objects_...`: where they are."""
    defined: list[str] = []
    places: list[str] = []
    for number, held in enumerate(front.objects):
        name = f"object_{own}_{number}"
        if isinstance(held, type) and held in RAISED_NATIVELY:
            places.append(f"&hosted_{held.__name__}")
            continue
        places.append(f"&{name}")
        if isinstance(held, type):
            slots = f"{{{_slot(held, _COMPARED)}, {_slot(held, ('__hash__',))}}}"
            told = f"{spelling.quoted(held.__name__)}, {int(issubclass(held, BaseException))}"
            defined.append(f"static hosted_class {name} = {{{{.flags = HOSTED_CLASS}}, {slots}, {told}}};")
        elif isinstance(held, str):
            defined.append(f"static hosted_name {name} = {{{{0}}, {spelling.quoted(held)}}};")
        else:
            defined.append(f"static PyObject {name};")
    return "\n".join((*defined, f"static void *objects_{own}[] = {{{', '.join(places) or 'NULL'}}};"))


def _slot(held: Any, names: tuple[str, ...]) -> str:
    for known, name in _KNOWN.items():
        if all(getattr(held, each) is getattr(known, each) for each in names):
            return f"&{name}"
    return "NULL"
