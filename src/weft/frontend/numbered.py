"""Arguments with strings inside other containers: {"a": ["b"]}, [("a", 1)], [{"x": 1.0}].  In: a list, dict or set and
the types of what it holds; out: the same containers as those of numbers are, and the one place of each string.

Python gives every string a number (weft.runtime.numbering): two hidden arguments are the container of these numbers and
the strings themselves, which become keys at the start of the program.  Such arguments are only read.
"""

from __future__ import annotations

import ast
from typing import Any

from weft.frontend import ragged
from weft.frontend.building import Building
from weft.frontend.instances import note_hidden
from weft.frontend.loading import Given
from weft.frontend.specs import TextSpec, is_single, numbered_spec, plain_spec
from weft.frontend.strings import key_numbers
from weft.frontend.values import Instance, Loaded, Rows, Value
from weft.frontend.writing import loop
from weft.ir.expr import ZERO
from weft.ir.types import INT

#: What the template of a container with strings in it begins with, as a part of the path of a hidden argument.
NUMBERED = "$"


def with_strings(builder: Building, base: Instance, node: ast.AST) -> Value | None:
    """The value of an argument with strings in it; None if it is another one."""
    kind = numbered_spec(base.sample)
    if kind is None or base.path or builder.entry is not None:
        return None
    title = f"numbered_{base.argument}"
    # Another argument might be the same object: what happens to one of them would happen to both.
    others = [spec for place, spec in enumerate(builder.specs) if place != base.argument and not is_single(spec)]
    simple = not kind.has_lists and kind.kind in ("list", "dict") and not others
    if title in builder.emitter.decisions.changing and not simple:
        reason = f"a change of argument {base.argument + 1}, which has strings in it"
        raise builder.unsupported(node, reason, "make a copy of it first")
    emitter = builder.emitter
    template = kind.template
    given = Given(builder, title)
    layouts = [kind.item] if kind.value is None else [kind.item, kind.value]
    samples = [list(base.sample), list(base.sample.values()) if kind.value is not None else None]
    parts = [given.declared(layout, items) for layout, items in zip(layouts, samples)]
    columns = tuple(given.names)
    emitter.params.extend(columns)
    strings = list(_strings_in(base.sample))
    names, params = builder.parameter(f"{title}_names", TextSpec("str", many=True), strings, -1)
    assert isinstance(names, Rows)
    starts = emitter.allocate(f"{title}_start", INT, (names.count,)).name
    lengths = emitter.allocate(f"{title}_length", INT, (names.count,)).name
    with loop(emitter, ZERO, names.count) as at:
        for target, number in zip((starts, lengths), key_numbers(builder, ragged.row_at(names, at, emitter))):
            emitter.assign((), target, (at,), number)
    given.places = (starts, lengths)
    data = tuple(column for part in parts for column in given.numbers(part))
    value = builder.filled_one(title, kind, data, given.count(parts[0]))
    builder.is_argument(title, columns[0], value)
    builder.made_from[columns[0]] = base.argument
    builder.columns_given.update(data)
    if given.first:
        builder.loaded.append(Loaded(title, columns[0], "", tuple(given.first), given.first))
    note_hidden(builder, base, (f"{NUMBERED}{template}",), plain_spec(kind), columns, value)
    note_hidden(builder, base, (NUMBERED,), TextSpec("str", many=True), params, names)
    return value


def _strings_in(value: Any) -> dict[str, None]:
    """The strings of a container, each once."""
    if type(value) is str:
        return {value: None}
    found: dict[str, None] = {}
    for item in value if isinstance(value, (list, tuple, dict, set)) else ():
        found.update(_strings_in(item))
    for item in value.values() if isinstance(value, dict) else ():
        found.update(_strings_in(item))
    return found
