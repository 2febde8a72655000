"""What a compiled form does, apart from how it was written. In comes a lowered program; out comes text that two
programs share if their loops nest and run alike over the same extents, call the same library routines, and each
statement writes one place from the same others. Guards, tests for Python's exceptions and what is computed for them
alone, estimates of work, the places of allocations, and the order and kind of the arithmetic within a statement are
left out, and so is which of several equal sizes an extent comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

_SIZE = re.compile(r"^\s+size (\w+) = (.+)$")
_LOOP = re.compile(r"^(parallel|vector|for) (\w+) in (.+?)(?: work .*)?:$")
_CALL = re.compile(r"^call (\w+).*?: (.*)$")
_PLACE = re.compile(r"\b[pt]\d+\[[^\]]*\]|\b[pt]\d+\b")
_SYMBOL = re.compile(r"\bn\d+\b")
_READS, _COMMA = " <- ", " ; "
_LOCAL = re.compile(r"\b([it])\d+\b")


def signature(program: Any, arguments: Sequence[Any]) -> str:
    """The schedule of a program for arguments of these sizes."""
    from weft.ir.canonical import canonical
    from weft.ir.text import show

    head, _, body = show(canonical(_without_tests(program))).partition("\n\n")
    known = _extents(arguments)
    sizes = {found.group(1): found.group(2) for line in head.splitlines() if (found := _SIZE.match(line))}
    sizes = {name: str(known.get(source, source)) for name, source in sizes.items()}
    lines = []
    for line in body.splitlines():
        text = line.strip()
        kept = _line(text)
        if kept:
            depth = (len(line) - len(line.lstrip())) // 2
            lines.append("  " * depth + _SYMBOL.sub(lambda found: sizes.get(found.group(), found.group()), kept))
    return "\n".join(_in_order(line) for line in _renamed("\n".join(lines)).splitlines())


def _without_tests(program: Any) -> Any:
    """The program without checks, and without what nothing else needs."""
    from weft.ir.program import Check
    from weft.ir.walk import map_sub_blocks
    from weft.passes.simplifying.deadcode import remove

    def kept(block: Any) -> Any:
        return tuple(map_sub_blocks(node, kept) for node in block if not isinstance(node, Check))

    found = remove(replace(program, body=kept(program.body)))
    # A loop that is gone may have been the last to need its bounds.
    while (smaller := remove(found)) is not found:
        found = smaller
    return found


def _extents(arguments: Sequence[Any]) -> dict[str, int]:
    """The sizes of all arrays, by the names that a canonical program has for them."""
    return {
        f"p{position}.shape[{axis}]": extent
        for position, value in enumerate(arguments)
        for axis, extent in enumerate(getattr(value, "shape", ()))
    }


def _line(text: str) -> str:
    if text.startswith(("alloc ", "return", "check ")):
        return ""
    if found := _LOOP.match(text):
        return f"{found.group(1)} {found.group(2)} in {found.group(3)}"
    if text.startswith("if "):
        return "if"
    if found := _CALL.match(text):
        return f"call {found.group(1)} {_statement(found.group(2))}"
    return _statement(text)


def _statement(text: str) -> str:
    target, equals, value = text.partition(" = ")
    if not equals:
        return text
    read = sorted(set(_PLACE.findall(value)) - {target})
    return f"{target}{_READS}{_COMMA.join(read)}"


def _in_order(line: str) -> str:
    """A line with what it reads in the order of its last names."""
    target, reads, read = line.partition(_READS)
    return target + reads + _COMMA.join(sorted(read.split(_COMMA)))


def _renamed(text: str) -> str:
    """Variables and temporaries by the order in which they appear."""
    names: dict[str, str] = {}
    counts = {"i": 0, "t": 0}
    for found in _LOCAL.finditer(text):
        if found.group() not in names:
            kind = found.group(1)
            names[found.group()] = f"{kind}{counts[kind]}"
            counts[kind] += 1
    return _LOCAL.sub(lambda found: names[found.group()], text)
