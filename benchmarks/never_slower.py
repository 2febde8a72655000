"""Never slower: small programs of many kinds, plain and under `weft.jit`, in the steady state.

    python benchmarks/never_slower.py [--only NAME] [--json FILE]

For each function and size: the ratio plain/weft (above 1 weft is faster), the least of all and the geometric mean. Both
are timed by turns, in batches of about two milliseconds, by the time of this thread; the least of each counts. A call
through any object costs some 20 ns more than one of a function, which no choice of weft's can mend: a ratio below 0.9
counts against weft where the call takes 50 ns more than the plain one.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weft

sys.path.insert(0, str(Path(__file__).parent))
from small import containers, numbers, textbook, texts

_WARM_CALLS, _WARM_SECONDS = 100, 0.5
_BATCH, _ROUNDS = 0.002, 9
_LEAST = 0.9
_CALL = 50e-9


def _batch(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    again = range(calls)
    began = time.thread_time()
    for _ in again:
        function(*arguments)
    return (time.thread_time() - began) / calls


def compared(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, float, Any]:
    """Seconds of a plain and of a weft call, and the compiled function."""
    compiled: Any = weft.jit(function, fallback="silent")
    expected = function(*copy.deepcopy(arguments))
    got = compiled(*copy.deepcopy(arguments))
    if repr(got) != repr(expected) and not _close(got, expected):
        raise AssertionError(f"{function.__name__}{arguments}: {got!r}, not {expected!r}")
    began = time.perf_counter()
    for _ in range(_WARM_CALLS):
        compiled(*arguments)
        if time.perf_counter() - began > _WARM_SECONDS:
            break
    calls = max(1, int(_BATCH / max(_batch(function, arguments, 1), 1e-7)))
    plain = native = math.inf
    for _ in range(_ROUNDS):
        plain = min(plain, _batch(function, arguments, calls))
        native = min(native, _batch(compiled, arguments, calls))
    return plain, native, compiled


def _is_lost(row: dict[str, Any]) -> bool:
    return bool(row["plain"] < _LEAST * row["weft"] and row["weft"] - row["plain"] > _CALL)


def _close(one: Any, other: Any) -> bool:
    import numpy as np

    try:
        return bool(np.allclose(one, other))
    except (TypeError, ValueError):
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for family, function, sizes in (*numbers.cases(), *containers.cases(), *texts.cases(), *textbook.cases()):
        if given.only not in function.__name__:
            continue
        for at, arguments in enumerate(sizes):
            plain, native, compiled = compared(function, arguments)
            stats = compiled.stats
            way = "plain" if stats["slower"] or not sum(stats["calls"].values()) else "native"
            row = {"family": family, "name": f"{function.__name__}.{at}", "plain": plain, "weft": native, "way": way}
            found.append(row)
            ratio = plain / native
            mark = "" if ratio >= _LEAST else " <--" if _is_lost(row) else " (short)"
            print(f"{family:10} {row['name']:20} {plain * 1e6:10.2f} us {ratio:8.2f} {way}{mark}", flush=True)
    ratios = [row["plain"] / row["weft"] for row in found]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lost = [row["name"] for row in found if _is_lost(row)]
    print(f"{len(ratios)} programs: least {min(ratios):.2f}, geometric mean {mean:.2f}")
    below = sum(ratio < _LEAST for ratio in ratios)
    print(f"{below} below {_LEAST}, {len(lost)} of them by more than {_CALL * 1e9:.0f} ns")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return int(bool(lost))


if __name__ == "__main__":
    raise SystemExit(main())
