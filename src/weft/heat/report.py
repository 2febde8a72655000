"""The report at the end of `weft run --report`.  In: the manager of a program; out: lines of text: what was hot, what
was compiled and how much faster that was, and why the rest was not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.heat.manager import Manager
    from weft.heat.spots import Spot

_MOST = 20
_LEAST_SHARE = 0.02
_STATES = {
    "seen": "not hot enough",
    "armed": "hot, and not called again",
    "asked": "still being compiled at the end",
    "trial": "compiled, and hardly called since",
}


def lines(manager: Manager) -> Iterator[str]:
    """One line a function, hottest first."""
    taken = max(manager.samples, 1)
    shown = [spot for spot in manager.spots if spot.state == "native" or spot.total / taken >= _LEAST_SHARE]
    shown.sort(key=lambda spot: -spot.total)
    if not shown:
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
        return f"plain Python: {spot.reason}"
    if spot.state != "native":
        return _STATES[spot.state]
    signatures = "; ".join(getattr(spot.native, "signatures", [])) or spot.signature
    if not signatures:
        return "plain Python" + _regions(spot.native) + (f", {spot.gain:.3g}x as fast" if spot.gain else "")
    gain = f", {spot.gain:.3g}x as fast as plain Python" if spot.gain else ", before its first call"
    return f"native for {signatures}{gain}, {sum(spot.native.call_counts)} calls"


def _regions(native: Any) -> str:
    """What is told of a function that was compiled in parts, or not at all."""
    stats = native.stats
    parts = [signature for part in native._parts() for signature in part.signatures]
    reason = "; ".join(stats["fallbacks"])
    return f", {len(parts)} parts of it native; {reason}" if parts else f": {reason or 'it was not called'}"
