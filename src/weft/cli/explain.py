"""`weft explain`: what became of each line of a file.  In: a file and calls to try; out: text, JSON or an HTML page."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.cli import DONE, FAILED, complain, say
from weft.cli.load import functions_of, import_file, is_distributed

_STYLES = (("left to Python", "red"), ("part Python", "yellow"), ("parallel", "green"), ("vectorised", "green"))


#: Lines on a terminal unless all are asked for.
_MAX_LINES = 30


def explain_file(
    path: Path,
    calls: Sequence[str],
    as_json: bool,
    page: Path | None,
    everything: bool = False,
    steps: bool = False,
    time: bool = False,
) -> int:
    """Compile what hints or calls tell how to compile, and explain every function of the file."""
    # What the program prints is not part of the report, which other programs may read.
    with contextlib.redirect_stdout(sys.stderr):
        module = import_file(path)
    functions = functions_of(module)
    if not functions:
        return complain(f"{path} defines no function", FAILED)
    with contextlib.redirect_stdout(sys.stderr):
        failed = compile_for(module.__dict__, functions, calls)
    if time and not calls:
        complain("--time measures the calls given by --call, and there is none: --call 'f(...)'", FAILED)
    if failed is None and time:
        with contextlib.redirect_stdout(sys.stderr):
            failed = compile_for(module.__dict__, _timed(functions), calls)
    if failed is not None:
        return complain(failed, FAILED)
    if steps:
        from weft.cli.emit import print_steps

        print_steps(functions)
        return DONE
    explanations = [function.explain() for function in functions.values()]
    if page is not None:
        from weft.report.html import page as html_page

        local = [function.local if is_distributed(function) else function for function in functions.values()]
        page.write_text(html_page([each.explain() for each in local], path.name), encoding="utf-8")
        print(f"wrote {page}", file=sys.stderr)
    if as_json:
        print(json.dumps([explanation.to_json() for explanation in explanations], indent=2))
    elif page is None:
        for line in _text(explanations, everything):
            say(line, next((style for words, style in _STYLES if words in line), ""))
    return DONE


def _timed(functions: dict[str, Any]) -> dict[str, Any]:
    """The functions with a clock around each call; what it told is kept with the function."""
    return {name: _Clocked(each) if hasattr(each, "timeline") else each for name, each in functions.items()}


class _Clocked:
    def __init__(self, function: Any) -> None:
        self.function = function

    def compile_hints(self) -> None:
        """Done before."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function.timeline(*args, **kwargs).result


def _text(explanations: Sequence[Any], everything: bool) -> list[str]:
    """What to print: all of it, or what can be acted on in at most `_MAX_LINES` lines."""
    if everything:
        return [line for explanation in explanations for line in (*str(explanation).splitlines(), "")]
    waiting = [each for each in explanations if _is_waiting(each)]
    known = [each for each in explanations if not _is_waiting(each)]
    last = [*_hint(waiting), "every line: weft explain --all; as a page: --html page.html"]
    room = _MAX_LINES - len(last)
    whole = [line for each in known for line in ("", *_brief(each, _MAX_LINES))][1:]
    return [*(whole if len(whole) <= room else _crowded(known, room)), *last]


def _crowded(explanations: Sequence[Any], room: int) -> list[str]:
    """Many functions in `room` lines: first those that something can be done about, with the reason and the remedy,
    then one line for each of the others."""
    if len(explanations) == 1:
        return _brief(explanations[0], room)
    told = [(each.compact() if hasattr(each, "compact") else _brief(each, 2)) for each in explanations]
    out: list[str] = []
    left = len(told)
    for lines in sorted(told, key=lambda lines: len(lines) == 1):
        if len(out) + len(lines) > room - (left > 1):  # the last line says how many are missing
            break
        out += lines
        left -= 1
    return [*out, f"... and {left} function{'s' * (left != 1)} more"] if left else out


def _is_waiting(explanation: Any) -> bool:
    """Whether nothing is known of a function: it was not called, and has no hints."""
    if not hasattr(explanation, "python_calls"):
        return False  # of a function for a cluster: its plan is told
    return not (explanation.versions or explanation.refused or explanation.python_calls)


def _hint(waiting: Sequence[Any]) -> list[str]:
    """What to do about functions that were not called: this command calls none by itself."""
    if not waiting:
        return []
    names = [str(each.function) for each in waiting]
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    lines = [f"not compiled yet: {shown}"]
    return [*lines, f"  try: --call '{names[0]}(...)' with arguments, or type hints such as weft.f64[:, :]"]


def _brief(explanation: Any, limit: int) -> list[str]:
    short = getattr(explanation, "short", None)
    found: list[str] = str(explanation).splitlines()[:limit] if short is None else short(limit).splitlines()
    return found


def compile_for(namespace: dict[str, Any], functions: dict[str, Any], calls: Sequence[str]) -> str | None:
    """Compile by hints, then by the calls given; the complaint if a call fails."""
    import numpy

    for function in functions.values():
        function.compile_hints()
    scope = {"np": numpy, **namespace, **functions}
    for call in calls:
        try:
            eval(compile(call, "<--call>", "eval"), scope)
        except Exception as problem:  # whatever the user's call raises is the user's to see, briefly
            return f"the call {call!r} failed: {type(problem).__name__}: {problem}"
    return None
