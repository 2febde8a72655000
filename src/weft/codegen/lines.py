"""Line tables of the user's source.  In: generated C with comments that name source lines; out: the same C with `#line`
directives, so that perf, gdb and annotated profiles show the user's file and lines instead of the C, and with functions
that bear the name of the user's.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"/\*\s*(?P<file>[^*:]+):(?P<line>\d+)\s*\*/")


def with_lines(text: str, file: str) -> str:
    """`text` with every row of C at the line of `file` that the comment above it names; rows before the first stay."""
    base = re.split(r"[\\/]", file)[-1]
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    out: list[str] = []
    current = ""
    continued = False
    for row in text.splitlines():
        place = _PLACE.search(row)
        if place is not None:
            current = place["line"] if place["file"].strip() == base else ""
        if current and not continued and not row.startswith("#"):
            out.append(f'#line {current} "{quoted}"')
        out.append(row)
        continued = row.endswith("\\")
    return "\n".join(out) + "\n"


def with_names(text: str, function: str) -> str:
    """`kernel`  -->  `weft_smooth`, which profilers and debuggers show; the loader finds it as `kernel` still."""
    name = re.sub(r"\W+", "_", function)
    text = re.sub(r"\bk_body_(\d+)\b", rf"weft_{name}_loop_\1", text)
    text = re.sub(r"\bkernel(?=\()", f"weft_{name}", text)
    return text + f'extern __typeof__(weft_{name}) kernel __attribute__((weak, alias("weft_{name}")));\n'
