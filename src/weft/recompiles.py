"""`weft.explain_recompiles`: why a function was compiled more than once.  In: a compiled function; out: its versions in
order, with what was new at each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class Recompiles:
    """One line for each version: its arguments, seconds and calls, and what made it necessary."""

    function: str
    versions: tuple[tuple[str, float, int, str], ...]
    refused: tuple[str, ...] = ()

    def __str__(self) -> str:
        count = len(self.versions)
        rows = [f"{self.function}: compiled {count} time{'s' * (count != 1)}"]
        for number, (signature, seconds, calls, why) in enumerate(self.versions, 1):
            called = f"{calls} call{'s' * (calls != 1)}"
            rows.append(f"  {number}. {signature or '()'}  {seconds * 1e3:.0f} ms, {called}: {why}")
        rows += [f"  refused: {reason}" for reason in self.refused]
        if count > 2:
            rows.append("  try: pass arguments of one type and layout, or convert them before the call")
        return "\n".join(rows)

    __repr__ = __str__


def explain_recompiles(function: Any) -> Recompiles:
    """Why `function` has the versions it has."""
    if not hasattr(function, "signatures") or not hasattr(function, "py_func"):
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"{name} is not compiled: put @weft.jit before its definition")
    found: list[tuple[str, float, int, str]] = []
    counts = list(function.call_counts)
    ahead = len(function._prebuilt)
    for place, version in enumerate(function._compiled):
        earlier = [signature for signature, *_ in found]
        calls = counts[ahead + place] if ahead + place < len(counts) else 0
        why = _why(version.signature, earlier)
        found.append((version.signature, version.seconds.get("total", 0.0), calls, why))
    for version in function._plain_versions():
        why = _why(version.signature, [signature for signature, *_ in found])
        found.append((version.signature, version.seconds.get("total", 0.0), version.calls, why))
    for form in function._made_forms():
        found += explain_recompiles(form).versions
    reasons = tuple(dict.fromkeys(problem.reason for problem in function._refused.values()))
    return Recompiles(function.py_func.__name__, tuple(found), reasons)


def _why(signature: str, earlier: list[str]) -> str:
    if not earlier:
        return "the first call"
    if signature in earlier:
        return "the same types: a guard failed (sizes, strides, overlap, or a global that changed)"
    mine, last = _types(signature), _types(earlier[-1])
    if len(mine) != len(last):
        return "another number of arguments"
    changed = [f"argument {at}: {old} -> {new}" for at, (old, new) in enumerate(zip(last, mine), 1) if old != new]
    return "other types: " + ", ".join(changed)


def _types(signature: str) -> list[str]:
    """The types of a signature: commas inside brackets do not part them."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", signature.strip("()")) if part.strip()]
