"""Plain Python in modules that stand alone.  In: functions with their C; out: the parts of the module that are theirs.

    sources     a kernel each, and the run time of plain Python once
    texts       def _plain_0(...): return (number, signature, objects, hidden, facts, uses_numpy, is_wide)
    addresses   what `embedded_plain.py` calls: entry points of the run time, then two of each kernel

A version names Python's objects by where the module, or another one, has them; NotPortable if nobody has.
"""

from __future__ import annotations

import enum
import types
from typing import Any, Final

from weft.hosts.expressions import NotPortable, Values, fact_text
from weft.naming import home_of
from weft.plain import called
from weft.plain.compiling import Front
from weft.plain.kept import UNNAMED, is_own
from weft.plain.runtime import expanded, runtime_source
from weft.runtime.descriptor import Fact

#: The entry points of the run time, in the order in which embedded_plain.py knows them.
ENTRIES: Final = ("wp_start", "wp_start_arrays", "wp_make", "wp_watch", "wp_last", "wp_written")
#: What embedded_plain.py executes when a function is called for the first time.
BUNDLE: Final = (
    *("weft.plain.starting", "weft.plain.function", "weft.plain.output", "weft.plain.foreign"),
    *("weft.plain.called", "weft.runtime.holding", "weft.standins", "weft.trial"),
)
#: As they are compiled elsewhere (plain/runtime.py).
RUNTIME_FLAGS: Final = ("-O2", "-w", "-pthread")
KERNEL_FLAGS: Final = ("-O2", "-w")


def version_text(made: Front, number: int, namespace: dict[str, Any], function: types.FunctionType) -> str:
    """The expression of one version, whose kernel has this number."""
    known = Values(namespace, made.facts)
    for cls in made.classes:
        if is_own(cls) and cls.__module__ != known.home and cls is not called.Quiet:
            raise NotPortable(f"it depends on the class {cls.__name__} of {home_of(cls)}")
    objects = [
        # Python's functions that stand for native ones inside weft are never looked at.
        "None" if at not in made.called and _is_of_weft(value) else _reference(value, known, made.facts)
        for at, value in enumerate(made.objects)
    ]
    hidden = [_reference(value, known, made.facts) for value in made.hidden]
    # In an order that is the same at each build: theirs is that of addresses.
    facts = sorted({text for fact in made.facts if (text := fact_text(fact, known, function))})
    parts = (str(number), repr(made.signature), *map(_tuple, (objects, hidden, facts)), str(made.uses_numpy))
    parts = (*parts, str(bool(made.unit.wide)))
    return f"({', '.join(parts)})"


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' if texts else ''})"


def _is_of_weft(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and value.__module__.partition(".")[0] == "weft"


def _reference(value: Any, known: Values, facts: tuple[Fact, ...]) -> str:
    """The expression of an object that the code names."""
    if isinstance(value, str):
        return f"intern({value!r})"
    if isinstance(value, called.Quiet):
        callee = _reference(value.callee, known, facts)
        return f"bundled('weft.plain.called').quiet({callee}, {value.count}, {value.names!r})"
    if value is called.all_matches:
        return "bundled('weft.plain.called').all_matches"
    if isinstance(value, types.ModuleType) and vars(value) is known.namespace:
        return "module(ns['__name__'])"
    if isinstance(value, type) and value in UNNAMED:
        return f"module('types').{UNNAMED[value]}"
    if isinstance(value, enum.Enum):
        return f"{known.named(type(value))}[{value.name!r}]"
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType):
        home = value.__self__.__name__
        return value.__name__ if home == "builtins" else f"module({home!r}).{value.__name__}"
    if not isinstance(value, (type, types.ModuleType)):
        for fact in facts:
            if fact.kind == "entry" and fact.present and fact.value is value:
                return f"{known.owner(fact.owner)}[{fact.name!r}]"
    owner, name = getattr(value, "__objclass__", None), getattr(value, "__name__", "")
    if isinstance(owner, type) and vars(owner).get(name) is value:
        return f"vars({known.named(owner)})[{name!r}]"
    return known.text(value)


def kernel(made: Front, number: int) -> tuple[str, str, tuple[str, ...]]:
    """The C of a kernel, its name and what the compiler is told."""
    names = (f"-Dweft_version=plain_version_{number}", f"-Dweft_setup=plain_setup_{number}")
    return expanded(made.source), f"plain_{number}", (*KERNEL_FLAGS, *names)


def runtime() -> tuple[str, str, tuple[str, ...]]:
    return runtime_source(), "plain_runtime", RUNTIME_FLAGS


def addresses(count: int) -> str:
    """The C of the table of entry points; NULL at its end."""
    names = list(ENTRIES) if count else []
    for number in range(count):
        names += [f"plain_version_{number}", f"plain_setup_{number}"]
    declared = [f"extern char {name}[];" for name in names]
    return "\n".join((*declared, f"void *const extension_plain[] = {{{', '.join([*names, 'NULL'])}}};"))
