"""Are the forms of a kernel one schedule?  In: names of kernels (all without); out: for each whether its three forms
become the same loops, calls and accesses, and the first line where they do not.

    python -m benchmarks.polybench.compare adi deriche

Programs are lowered but not compiled to C: this is about what is decided, not about time. Arguments are small, and
equal where those of size L are.
"""

from __future__ import annotations

import sys
from itertools import zip_longest
from typing import Any

from benchmarks.polybench.registry import FORMS, LISTS, LOOPS, NAMES, OPERATORS, Kernel, load, nested, title
from benchmarks.polybench.schedule import signature

#: Kernels of which a form computes something else, and what.
DIFFERENT = {
    "floyd_warshall": (
        "The loops read row and column k while they change them: where path[k, k] is negative, or a sum leaves 64 "
        "bits, path[i, j] for j > k sees the new path[i, k]. The operators read all of them as they were before step "
        "k, which takes copies of the row and the column. Neither is the other unless path[k, k] is known not to be "
        "negative."
    ),
    "durbin": (
        "Sums over the items of a flat list have the order of the source, as in Python; sums over arrays may be cut "
        "into vectors."
    ),
}


def small(kernel: Kernel) -> tuple[int, ...]:
    """Sizes for which the same extents are equal as at size L."""
    sizes = kernel.sizes["L"]
    return tuple(7 + 2 * sizes.index(size) for size in sizes)


def schedules(name: str) -> dict[str, str]:
    """The schedule of each form of a kernel."""
    from weft import pipeline
    from weft.frontend import specs
    from weft.frontend.source import load as source
    from weft.options import Options

    kernel = load(name)
    found: dict[str, str] = {}
    for form in FORMS:
        arguments = kernel.initialise(small(kernel))
        given: tuple[Any, ...] = tuple(map(nested, arguments)) if form == LISTS else tuple(arguments)
        lowered = pipeline.front(
            source(kernel.forms[form]), specs.specs_of(given), given, Options(fallback="error")
        ).program_lowered
        found[form] = signature(lowered, arguments)
    return found


def first_difference(one: str, other: str) -> tuple[str, str] | None:
    """The first lines in which two schedules differ; None if they are the same."""
    for left, right in zip_longest(one.splitlines(), other.splitlines(), fillvalue="(ends)"):
        if left != right:
            return left.strip(), right.strip()
    return None


def main(names: tuple[str, ...]) -> int:
    unexpected = 0
    for name in names:
        found = schedules(name)
        lines = []
        for form in (LOOPS, OPERATORS):
            difference = first_difference(found[LISTS], found[form])
            if difference is not None:
                lines.append(f"    {LISTS}: {difference[0]}\n    {form}: {difference[1]}")
        unexpected += bool(lines) != (name in DIFFERENT)
        print(f"{title(name)}: {'not the same' if lines else 'the same'}", *lines, sep="\n")
        if name in DIFFERENT:
            print(f"    {DIFFERENT[name]}")
    return unexpected


if __name__ == "__main__":
    asked = tuple(f"k{name}" if name in ("2mm", "3mm") else name.replace("-", "_") for name in sys.argv[1:])
    wrong = [name for name in asked if name not in NAMES]
    sys.exit(f"unknown kernel {wrong[0]!r}" if wrong else main(asked or NAMES))
