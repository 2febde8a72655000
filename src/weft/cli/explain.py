"""`weft explain`: what became of each line of a file.  In: a file and calls to try; out: text, JSON or an HTML page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.cli import DONE, FAILED, complain, say
from weft.cli.load import functions_of, import_file, is_distributed

_STYLES = (("left to Python", "red"), ("part Python", "yellow"), ("parallel", "green"), ("vectorised", "green"))


def explain_file(path: Path, calls: Sequence[str], as_json: bool, page: Path | None) -> int:
    """Compile what hints or calls tell how to compile, and explain every function of the file."""
    module = import_file(path)
    functions = functions_of(module)
    if not functions:
        return complain(f"{path} defines no function", FAILED)
    failed = _compile(module.__dict__, functions, calls)
    if failed is not None:
        return complain(failed, FAILED)
    explanations = [function.explain() for function in functions.values()]
    if page is not None:
        from weft.report.html import page as html_page

        local = [function.local if is_distributed(function) else function for function in functions.values()]
        page.write_text(html_page([each.explain() for each in local], path.name), encoding="utf-8")
        print(f"wrote {page}", file=sys.stderr)
    if as_json:
        print(json.dumps([explanation.to_json() for explanation in explanations], indent=2))
    elif page is None:
        for explanation in explanations:
            for line in str(explanation).splitlines():
                say(line, next((style for words, style in _STYLES if words in line), ""))
            print()
    return DONE


def _compile(namespace: dict[str, Any], functions: dict[str, Any], calls: Sequence[str]) -> str | None:
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
