"""Line tables of the user's source.  In: generated C with comments that name source lines; out: the same C with `#line`
directives, so that perf, gdb and annotated profiles show the user's file and lines instead of the C, and with functions
that bear the name of the user's.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"/\*\s*(?P<file>[^*:]+):(?P<line>\d+)\s*\*/")


def with_lines(text: str, file: str) -> str:
    """`text` with every row of C at the line of `file` that the comment above it names, and the rows of a function
    before its first comment at the line of that; functions without such a comment stay C.
    """
    base = re.split(r"[\\/]", file)[-1]
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    out: list[str] = []
    current = ""
    continued = False
    rows = text.splitlines()
    for at, row in enumerate(rows):
        if _begins_function(row):
            end = next((below for below in range(at, len(rows)) if rows[below] == "}"), len(rows))
            current = next(filter(None, (_line(inner, base) for inner in rows[at:end])), "") or ""
        found = _line(row, base)
        if found is not None:
            current = found
        if current and not continued and not row.startswith("#"):
            out.append(f'#line {current} "{quoted}"')
        out.append(row)
        continued = row.endswith("\\")
    return "\n".join(out) + "\n"


def _line(row: str, base: str) -> str | None:
    """The line of the user's file that a comment in this row names; "" for another file, None without a comment."""
    place = _PLACE.search(row)
    if place is None:
        return None
    return place["line"] if place["file"].strip() == base else ""


def _begins_function(row: str) -> bool:
    return row.endswith("{") and "(" in row and not row[0].isspace()


def with_names(text: str, function: str) -> str:
    """`kernel`  -->  `weft_smooth`, which profilers and debuggers show; the loader finds it as `kernel` still."""
    name = re.sub(r"\W+", "_", function)
    text = re.sub(r"\bk_body_(\d+)\b", rf"weft_{name}_loop_\1", text)
    text = re.sub(r"\bkernel(?=\()", f"weft_{name}", text)
    return text + f'extern __typeof__(weft_{name}) kernel __attribute__((weak, alias("weft_{name}")));\n'
