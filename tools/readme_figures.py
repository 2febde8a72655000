"""The picture and the table of the README.  In: five small programs; out: docs/pictures/figures.json with measured
times and docs/pictures/speed.svg drawn from it.

    python tools/readme_figures.py            measure and draw
    python tools/readme_figures.py --rounds 9 the least of nine rounds, on a machine with other work
    python tools/readme_figures.py --draw     draw what was measured before
"""

from __future__ import annotations

import argparse
import json
import platform
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.comparing import times

PLACE = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def smooth(a: Any, steps: int) -> Any:
    """NumPy expressions in a time loop"""
    for _ in range(steps):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return a


def distances(points: Any) -> Any:
    """loops over an array"""
    n = points.shape[0]
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(points.shape[1]):
                s += (points[i, k] - points[j, k]) ** 2
            found[i, j] = s**0.5
    return found


def softmax(x: Any) -> Any:
    """NumPy, element by element"""
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


def product(a: Any, b: Any) -> Any:
    """lists of lists"""
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c


def primes(n: int) -> Any:
    """plain Python numbers"""
    found = []
    for k in range(2, n):
        is_prime = True
        for p in found:
            if p * p > k:
                break
            if k % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(k)
    return found


def measured(rounds: int) -> list[dict[str, Any]]:
    """The times of each program, as it stands and with weft: the least of all rounds, which take turns."""
    rng = np.random.default_rng(0)
    square = rng.random((120, 120)).tolist()
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (smooth, (rng.random((1000, 1000)), 20)),
        (distances, (rng.random((200, 3)),)),
        (softmax, (rng.random((2000, 500)),)),
        (product, (square, square)),
        (primes, (20_000,)),
    ]
    compiled = [weft.jit(function, fallback="error") for function, _ in cases]
    least: list[tuple[float, float]] = [(np.inf, np.inf)] * len(cases)
    for _ in range(rounds):
        for at, (_, arguments) in enumerate(cases):
            found = weft.bench(compiled[at], *arguments, seconds=2.0)
            assert found.equal, found
            print(found)
            least[at] = min(least[at][0], found.python), min(least[at][1], found.weft)
    return [
        {"name": function.__name__, "what": function.__doc__, "python": python, "weft": ours, "ratio": python / ours}
        for (function, _), (python, ours) in zip(cases, least)
    ]


_KEY = '<tspan fill="#c0504d">as it stands</tspan>, <tspan fill="#2e8b57">with @weft.jit</tspan>'


def drawn(rows: list[dict[str, Any]]) -> str:
    """Bars on a logarithmic scale: plain Python against weft."""
    shortest = min(row["weft"] for row in rows) / 2
    longest = max(row["python"] for row in rows)

    def width(seconds: float) -> float:
        return float(335 * np.log(seconds / shortest) / np.log(longest / shortest))

    height = 46 * len(rows) + 62
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img" font-family="sans-serif">',
        "<title>Time of one call: Python with NumPy, and the same function with weft</title>",
        f'<rect width="760" height="{height}" rx="8" fill="#ffffff"/>',
        f'<text x="20" y="30" font-size="15" fill="#1c2430">Time of one call, logarithmic scale: {_KEY}</text>',
    ]
    for at, row in enumerate(rows):
        y = 50 + 46 * at
        label = f"{row['name']}: {row['what']}"
        out.append(f'<text x="20" y="{y + 22}" font-size="13" fill="#1c2430">{escape(label)}</text>')
        for offset, key, colour in ((4, "python", "#c0504d"), (20, "weft", "#2e8b57")):
            long = width(row[key])
            out.append(f'<rect x="315" y="{y + offset}" width="{long:.1f}" height="13" rx="2" fill="{colour}"/>')
            text = duration(row[key]) + (f"  ({times(row['ratio'])}x)" if key == "weft" else "")
            place = f'x="{321 + long:.1f}" y="{y + offset + 11}"'
            out.append(f'<text {place} font-size="11" fill="#1c2430">{text}</text>')
    return "\n".join([*out, "</svg>", ""])


def duration(seconds: float) -> str:
    """Seconds for people."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def main() -> None:
    """Measure unless told otherwise; draw."""
    parser = argparse.ArgumentParser(description="the picture of the README")
    parser.add_argument("--draw", action="store_true", help="draw what was measured before")
    parser.add_argument("--rounds", type=int, default=1, help="how often everything is measured; the least is kept")
    asked = parser.parse_args()
    kept = PLACE / "figures.json"
    if not asked.draw:
        about = {"python": platform.python_version(), "numpy": np.__version__, "threads": weft.get_num_threads()}
        kept.write_text(json.dumps({"about": about, "rows": measured(asked.rounds)}, indent=1) + "\n", encoding="utf-8")
    rows = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    (PLACE / "speed.svg").write_text(drawn(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
