"""The report at the end of `weft run --report`.  In: the manager of a program; out: lines of text: what was hot, what
was compiled and how much faster that was, and why the rest was not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.heat.loops import Loop
    from weft.heat.manager import Manager
    from weft.heat.spots import Spot

_MOST = 20
_LEAST_SHARE = 0.02
_STATES = {
    "seen": "not hot enough",
    "ready": "hot, and a function that calls it was compiled first",
    "armed": "hot, and not called again",
    "asked": "still being compiled at the end",
    "trial": "compiled, and hardly called since",
}
#: What to do where a program stands in the way and not a statement.  There is none for code that is no faster natively.
_REMEDIES = {
    "a generator or coroutine": "return a list",
    "it takes *args or **kwargs": "name its parameters",
    "it has no name": "define it by `def` at the top of a module",
    "it was not found": "define it by `def` at the top of a module",
    "it looks at its callers": "pass it what it looks for",
    "its code is bound to objects of this process": "pass them as arguments",
    "its variables have other types each time": "give each variable one type",
    "an error inside weft": "please report it",
}


def lines(manager: Manager) -> Iterator[str]:
    """One line a function, hottest first."""
    taken = max(manager.samples, 1)
    shown = [spot for spot in manager.spots if spot.state == "native" or spot.total / taken >= _LEAST_SHARE]
    shown.sort(key=lambda spot: -spot.total)
    loops = list(manager.loops.found.values())
    for loop in loops:
        yield f"       loop in {loop.name} ({os.path.basename(loop.code.co_filename)}:{loop.line}): {_loop_state(loop)}"
    if not shown and not loops:
        yield "nothing was hot" if manager.samples else "the program ended before anything could be hot"
    for spot in shown[:_MOST]:
        yield f"{spot.total / taken:5.0%}  {spot.name} ({_place(spot)}): {_state(spot)}"
    if len(shown) > _MOST:
        yield f"... and {len(shown) - _MOST} functions more"
    if manager.trouble:
        yield f"sampling stopped: {manager.trouble}"


def _place(spot: Spot) -> str:
    return f"{os.path.basename(spot.code.co_filename)}:{spot.code.co_firstlineno}"


def _state(spot: Spot) -> str:
    if spot.state == "left":
        return _left(spot.reason, spot.remedy)
    if spot.state != "native":
        return _STATES[spot.state]
    signatures = "; ".join(getattr(spot.native, "signatures", [])) or spot.signature
    if not signatures:
        return "plain Python" + _regions(spot.native) + (f", {spot.gain:.3g}x as fast" if spot.gain else "")
    gain = f", {spot.gain:.3g}x as fast as plain Python" if spot.gain else ", before its first call"
    return f"native for {signatures}{gain}, {sum(spot.native.call_counts)} calls"


def _left(reason: str, remedy: str) -> str:
    """Why something stays plain Python, and what to do; without a remedy where there is nothing to do."""
    remedy = remedy or next((told for start, told in _REMEDIES.items() if reason.startswith(start)), "")
    return f"plain Python: {reason}" + (f"; try: {remedy}" if remedy else "")


def _loop_state(loop: Loop) -> str:
    if loop.state in ("left", "early"):
        return _left(loop.reason, loop.remedy)
    if loop.state != "native":
        return _STATES["asked"] if loop.state == "asked" else "compiled, and over before it was entered"
    gain = f", {loop.gain:.3g}x as fast as plain Python" if loop.gain else ""
    return f"native{gain}, entered {loop.entries} times, {loop.seconds:.2f} s"


def _regions(native: Any) -> str:
    """What is told of a function that was compiled in parts, or not at all."""
    stats = native.stats
    parts = [signature for part in native._parts() for signature in part.signatures]
    reason = "; ".join(stats["fallbacks"])
    return f", {len(parts)} parts of it native; {reason}" if parts else f": {reason or 'it was not called'}"
