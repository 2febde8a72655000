"""Handles in the entry functions of a library.  In: arguments and results that are lists, strings or dicts; out: C that
turns columns into words before a kernel runs, and new arrays into handles behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.hosts import spelling
from weft.hosts.arguments import Argument, Change, Contents, Given, HandleArgument, Interface
from weft.hosts.handles import BYTES, Handle, size_of
from weft.ir.types import type_of_value


def by_way(ways: Sequence[list[str]]) -> list[str]:
    """Statements for each return of a function, chosen by its number."""
    if not ways or all(way == ways[0] for way in ways):
        return ways[0] if ways else []
    out = ["switch (w[0]) {"]
    for number, way in enumerate(ways):
        out += [f"case {number}:", *(f"    {line}" for line in way), "    break;"]
    return [*out, "}"]


def handle_in(argument: HandleArgument, arguments: Sequence[Argument], where: str, again: bool) -> Iterator[str]:
    """The words of a handle; `where`: of the function and the file, for messages; `again`: another version follows."""
    name = spelling.name(argument.name)

    def refused(code: str, text: str) -> str:
        return f'    return refuse(error, WEFT_{code}, {where}, 0, "", "%s", {spelling.quoted(text)});'

    yield f"if ({name} == NULL)"
    yield refused("NULL", f"{argument.name} is a null pointer")
    for other in arguments:
        if other is argument:
            break
        if not isinstance(other, HandleArgument) or other.kind != argument.kind:
            continue
        if any(each.written or each.changed for each in (argument, other)):
            yield f"if ((const void *){name} == (const void *){spelling.name(other.name)})"
            yield refused("LAYOUT", f"{other.name} and {argument.name} are one {argument.kind.form}, and it is written")
    if argument.even:
        if not again:
            yield f"if (!has_even_rows({name}))"
            yield refused("EXTENT", f"{argument.name}: its rows differ in length")
        yield f"take_rows({name}, w + {argument.words[0]});"
        return
    words = iter(argument.words)
    for part, (_, has_rows) in enumerate(argument.kind.columns):
        starts = f"w + {next(words)}" if has_rows else "NULL"
        yield f"take_column(&((const weft_handle *){name})->parts[{part}], {starts}, w + {next(words)});"


# --- results --------------------------------------------------------------------------------------------------------


def handles_out(interface: Interface, own: str) -> list[str]:
    """Changes of arguments, and results that are handles; nothing if there are neither."""
    results = [result for result in interface.results if result.kind is not None]
    most = max((len(way) for way in interface.changes), default=0)
    count = most + len(results)
    if not count:
        return []
    ways = []
    for number, changes in enumerate(interface.changes):
        lines = [
            line for at, change in enumerate(changes) for line in _filled(change.argument.kind, change.contents, at, ())
        ]
        for at, result in enumerate(results):
            contents = result.given[number].contents
            assert contents is not None and result.kind is not None
            lines += _filled(result.kind, contents, most + at, changes)
        ways.append(lines)
    failed = [f"    free_handle(weft_made[{at}]);" for at in range(count)]
    lines = [
        f"weft_handle *weft_made[{count}] = {{NULL}};",
        "int weft_lacking = 0;",
        *by_way(ways),
        "if (weft_lacking) {",
        *failed,
    ]
    lines += [f"    return failed_call(&entry_{own}, STATUS_MEMORY, w, error);", "}"]
    moved = [
        [f"refill({spelling.name(change.argument.name)}, weft_made[{at}]);" for at, change in enumerate(changes)]
        for changes in interface.changes
    ]
    lines += by_way(moved)
    for at, result in enumerate(results):
        assert result.kind is not None
        lines.append(f"*{result.name} = ({result.kind.type} *)weft_made[{most + at}];")
    return lines


def _filled(kind: Handle, contents: Contents, at: int, changes: Sequence[Change]) -> Iterator[str]:
    """Statements that make `weft_made[at]`."""
    made = f"weft_made[{at}]"
    if contents.argument is not None:
        new = [place for place, change in enumerate(changes) if change.argument.name == contents.argument.name]
        source = f"weft_made[{new[0]}]" if new else spelling.name(contents.argument.name)
        yield f"{made} = {source} == NULL ? NULL : copy_handle({source});"
        yield f"weft_lacking |= {made} == NULL;"
        return
    if contents.text is not None:
        data = contents.text.encode("utf-8") if isinstance(contents.text, str) else contents.text
        text = spelling.quoted_bytes(data)
        if kind != BYTES:
            yield f"{made} = new_text({text}, {len(data)});"
            yield f"weft_lacking |= {made} == NULL;"
            return
        yield f"{made} = {kind.made};"
        yield f"weft_lacking |= {made} == NULL || extend_column(&{made}->parts[0], {text}, {len(data)}) != 0;"
        return
    yield f"{made} = {kind.made};"
    steps = [f"{made} == NULL"]
    for part, (fill, (size, _)) in enumerate(zip(contents.fills, kind.columns)):
        slots = ", ".join(map(str, fill.slots))
        steps.append(f"give_{fill.how}(&{made}->parts[{part}], w, {slots}, {size}) != 0")
    yield f"weft_lacking |= {' || '.join(steps)};"
    for number in contents.numbers or ():
        yield f"{{ const {_item(kind)} weft_item = {_value(kind, number)};"
        yield f"  weft_lacking |= {made} == NULL || append_entry(&{made}->parts[0], &weft_item, 1) != 0; }}"


def _item(kind: Handle) -> str:
    return {"int": "int64_t", "float": "double", "bool": "bool"}[str(kind.item)]


def _value(kind: Handle, given: Given) -> str:
    """A number of a list, out of its word or as a constant."""
    assert size_of(kind.item)
    if given.word is not None:
        words = {"int": f"w[{given.word}]", "float": f"double_of(w[{given.word}])"}
        return words.get(str(kind.item), f"w[{given.word}] != 0")
    value = given.constant
    assert type_of_value(value) is not None
    return spelling.double(value) if kind.item == "float" else spelling.integer(int(value))
