"""An explanation in a few lines.  In: an `Explanation`; out: what became of the function, the lines that a person can
do something about (left to Python, with a remedy) and the costliest ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.report.explain import STARTS, Explanation, LineReport, Note, label

#: Lines shown as the costliest.
_COSTLIEST = 3
_WIDTH = 110


def status(explanation: Explanation) -> str:
    """One sentence: native, refused, or not called."""
    left = sum(line.state in ("python", "mixed") for line in explanation.lines)
    if explanation.versions:
        count = len(explanation.versions)
        calls = sum(version.calls for version in explanation.versions)
        if all(version.backend == "python" for version in explanation.versions):
            found = f"generated Python, no machine code: {_counted(count, 'version')}, {_counted(calls, 'call')}"
            return f"{found}; `weft doctor` tells which C compiler works here"
        if left:  # its regions are versions: their calls are not those of the function
            return f"native in part: {_counted(left, 'line')} left to Python"
        found = f"native: {_counted(count, 'version')}, {_counted(calls, 'native call')}"
        if explanation.python_calls:
            found += f", {_counted(explanation.python_calls, 'call')} in Python"
        return found
    if any(note.kind == "error" for _, note in actions(explanation)):
        return "not compiled: its calls raise an error"
    if explanation.refused:
        return "not compiled: it runs as plain Python"
    if explanation.python_calls:
        return f"not compiled: its {_counted(explanation.python_calls, 'call')} ran as plain Python"
    return "not compiled yet: call it once, or give its parameters type hints"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


def actions(explanation: Explanation) -> list[tuple[LineReport | None, Note]]:
    """What a person can act on: errors, reasons for plain Python, then loops that stay as they are with a remedy."""
    at_lines = [(line, note) for line in explanation.lines for note in line.notes]
    everywhere: list[tuple[LineReport | None, Note]] = [(None, note) for note in explanation.notes]
    found = [*at_lines, *everywhere]
    missed = [(line, note) for line, note in found if note.kind == "missed" and note.remedy]
    return [*(pair for kind in ("error", "python") for pair in found if pair[1].kind == kind), *missed]


def costliest(explanation: Explanation, count: int = _COSTLIEST) -> list[LineReport]:
    """The native lines with the largest share of the estimated work, the largest first."""
    known = [line for line in explanation.lines if line.share >= 0.01]
    return sorted(known, key=lambda line: -line.share)[:count]


def lines(explanation: Explanation, limit: int) -> list[str]:
    """The whole, cut at `limit` lines."""
    out = list(_lines(explanation))
    if len(out) <= limit:
        return out
    rest = len(out) - limit + 1
    return [*out[: limit - 1], f"  ... {rest} lines more: weft explain --all"]


def compact(explanation: Explanation) -> list[str]:
    """The function in one line; with its first reason and the remedy in two more, if there is something to do."""
    out = [f"{explanation.function}: {status(explanation)}"]
    found = actions(explanation)
    if found:
        line, note = found[0]
        where = "" if line is None else f"line {line.number} "
        out.append(f"  {_cut(f'{where}{STARTS[note.kind]}{note.message}')}")
        if note.remedy:
            out.append(f"  {_cut(f'try: {note.remedy}')}")
    return out


def _lines(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.function}  ({explanation.file})"
    yield f"  {status(explanation)}"
    if explanation.versions and explanation.python_calls and not explanation.refused:
        yield "  Python runs the calls that end in an exception, and those with sizes or integers that no version takes"
    top = costliest(explanation)
    if top:
        yield "  costliest lines (estimated):"
        digits = max(len(str(line.number)) for line in top)
        yield from (f"    {_row(line, digits)}" for line in top)
    if explanation.measured is not None:
        yield from (f"  {line}" for line in explanation.measured.lines())
    found = actions(explanation)
    if found:
        yield "  what can be done:"
        yield from _acted(found)


def _row(line: LineReport, digits: int) -> str:
    return _cut(f"{line.number:>{digits}} {line.share:>4.0%}  {label(line):<20} {line.text.strip()}")


def _acted(found: Sequence[tuple[LineReport | None, Note]]) -> Iterator[str]:
    for line, note in found:
        where = "" if line is None else f"line {line.number}: {line.text.strip()}"
        if where:
            yield f"    {_cut(where)}"
        yield f"      {_cut(f'{STARTS[note.kind]}{note.message}')}"
        if note.remedy:
            yield f"      {_cut(f'try: {note.remedy}')}"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
