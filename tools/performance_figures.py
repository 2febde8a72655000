"""The pictures of docs/performance.md.  In: small programs; out: three drawings in docs/pictures and the numbers they
show, docs/pictures/performance.json.

    python tools/performance_figures.py            measure (a minute or two) and draw
    python tools/performance_figures.py --draw     draw what was measured before
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
from html import escape
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded: one thread must be one thread

import numpy as np

import weft
from weft.report import roofline

PLACE = Path(__file__).resolve().parents[1] / "docs" / "pictures"
_SECONDS = 4.0


def triad(a: Any, b: Any, c: Any) -> Any:
    """a = b + 2 c: nothing but memory"""
    a[:] = b + 2.0 * c


def smooth(a: Any, steps: int) -> Any:
    """a stencil, several steps"""
    for _ in range(steps):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def matvec(a: Any, x: Any) -> Any:
    """a matrix times a vector"""
    return a @ x


def matmul(a: Any, b: Any) -> Any:
    """a matrix product"""
    return a @ b


def polynomial(x: Any) -> Any:
    """a polynomial of degree 30, element by element"""
    y = np.zeros_like(x)
    for _ in range(30):
        y = y * x + 0.5
    return y


def distances(points: Any) -> Any:
    """all distances between points, in loops"""
    n = points.shape[0]
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(points.shape[1]):
                s += (points[i, k] - points[j, k]) ** 2
            found[i, j] = s**0.5
    return found


def on_one_thread() -> list[dict[str, Any]]:
    """Processor time, operations and bytes of programs whose arrays do not fit the caches."""
    rng = np.random.default_rng(0)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (triad, tuple(rng.random(8_000_000) for _ in range(3))),
        (smooth, (rng.random((2000, 2000)), 10)),
        (matvec, (rng.random((3000, 3000)), rng.random(3000))),
        (polynomial, (rng.random(2_000_000),)),
        (distances, (rng.random((1500, 3)),)),
        (matmul, (rng.random((700, 700)), rng.random((700, 700)))),
    ]
    weft.set_num_threads(1)
    rows = []
    for function, arguments in cases:
        compiled = weft.jit(function, fallback="error")
        compiled(*arguments)
        done = compiled.explain().work
        assert done is not None, function.__name__
        seconds = _least(compiled, arguments, _SECONDS)
        rows.append({"name": function.__name__, "flops": done.flops, "bytes": done.bytes, "seconds": seconds})
        print(rows[-1])
    return rows


def on_threads(threads: int) -> list[dict[str, Any]]:
    """Seconds on one thread and on all, of calls of about a millisecond: long enough to share, short enough to meet a
    moment in which a busy machine leaves all its processors to us."""
    rng = np.random.default_rng(0)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (distances, (rng.random((600, 3)),)),
        (polynomial, (rng.random(200_000),)),
        (waves, (rng.random(200_000), rng.random(200_000))),
        (smooth, (rng.random((500, 500)), 8)),
        (triad, tuple(rng.random(500_000) for _ in range(3))),
    ]
    rows = []
    for function, arguments in cases:
        compiled = weft.jit(function, fallback="error")
        times = dict.fromkeys((str(count) for count in sorted({1, threads})), math.inf)
        end = perf_counter() + 2 * _SECONDS
        while perf_counter() < end:  # by turns, so that a busy moment meets both
            for count in times:
                weft.set_num_threads(int(count))
                for _ in range(4):
                    began = perf_counter()
                    compiled(*arguments)
                    times[count] = min(times[count], perf_counter() - began)
        rows.append({"name": function.__name__, "seconds": times})
        print(rows[-1])
    return rows


def norm(a: Any, b: Any) -> Any:
    """a sum over an expression"""
    return np.sqrt(((a - b) ** 2).sum())


def clipped(a: Any, b: Any) -> Any:
    """choices, element by element"""
    return np.where(a > b, np.minimum(a, 0.9), np.maximum(b, 0.1)) * 2.0


def waves(a: Any, b: Any) -> Any:
    """functions of NumPy"""
    return np.sin(a) * np.exp(-b)


def chain(a: Any, b: Any) -> Any:
    """six operations, five temporaries in NumPy"""
    return ((a + b) * (a - b) + a * b) / 3.0


def running(a: Any, b: Any) -> Any:
    """a loop that carries a value"""
    out = np.empty_like(a)
    last = 0.0
    for i in range(a.shape[0]):
        last = 0.9 * last + a[i] * b[i]
        out[i] = last
    return out


def _least(function: Any, arguments: tuple[Any, ...], seconds: float = 0.4) -> float:
    """The least processor time of a call on one thread, in rounds that are long enough for the clock."""
    rounds, least, end = 1, math.inf, perf_counter() + seconds
    while perf_counter() < end or math.isinf(least):
        began = thread_time()
        for _ in range(rounds):
            function(*arguments)
        took = thread_time() - began
        if took < 1e-3:
            rounds *= 4
        else:
            least = min(least, took / rounds)
    return least


def by_size() -> dict[str, dict[str, float]]:
    """How many times as fast as NumPy (or plain loops) each program is, for several sizes, on one thread."""
    weft.set_num_threads(1)
    rng = np.random.default_rng(0)
    rows: dict[str, dict[str, float]] = {}
    for function in (chain, clipped, norm, waves, running):
        compiled = weft.jit(function, fallback="error")
        row = rows[function.__name__] = {}
        for power in range(2, 8):
            if function is running and power > 5:
                continue  # plain loops over so many elements take too long
            arguments = rng.random(10**power), rng.random(10**power)
            assert np.allclose(compiled(*arguments), function(*arguments))
            row[f"1e{power}"] = _least(function, arguments) / _least(compiled, arguments)
        print(function.__name__, row)
    return rows


# --- drawing --------------------------------------------------------------------------------------------------------

_SOFT = 'font-size="11" fill="#5d6b7c"'
_DARK = 'font-size="12" fill="#1c2430"'


def _sheet(width: int, height: int, title: str, inside: list[str]) -> str:
    frame = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif"'
    head = [f"<svg {frame}>", f"<title>{escape(title)}</title>"]
    head += [f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']
    head += [f'<text x="20" y="26" font-size="14" fill="#1c2430">{escape(title)}</text>']
    return "\n".join([*head, *inside, "</svg>"]) + "\n"


def heat_map(rows: dict[str, dict[str, float]]) -> str:
    """A square for each program and number of elements: green is faster with weft, red slower, grey was not run."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    out = []
    for column, name in enumerate(names):
        out.append(f'<text x="{165 + 80 * column}" y="52" {_DARK} text-anchor="middle">{escape(name)}</text>')
    for line, (kernel, row) in enumerate(rows.items()):
        top = 62 + 26 * line
        out.append(f'<text x="116" y="{top + 17}" {_DARK} text-anchor="end">{escape(kernel)}</text>')
        for column, name in enumerate(names):
            ratio = row.get(name)
            text = "–" if not ratio else f"{ratio:.3g}x"
            place = f'x="{128 + 80 * column}" y="{top}" width="74" height="24" rx="3"'
            out.append(f'<rect {place} fill="{_colour(ratio)}"/>')
            out.append(f'<text x="{165 + 80 * column}" y="{top + 17}" {_DARK} text-anchor="middle">{text}</text>')
    title = "Times as fast with weft on one thread, by the number of elements"
    return _sheet(140 + 80 * len(names), 76 + 26 * len(rows), title, out)


def _colour(ratio: float | None) -> str:
    if not ratio:
        return "#eceff3"
    strength = min(abs(math.log10(ratio)) / 2, 1.0)
    far = (46, 139, 87) if ratio >= 1 else (192, 80, 77)
    return "#" + "".join(f"{round(255 - strength * 0.75 * (255 - part)):02x}" for part in far)


def scaling(rows: list[dict[str, Any]], threads: int) -> str:
    """How many times as fast each program is on all threads as on one."""
    out = []
    gains = [row["seconds"]["1"] / row["seconds"][str(threads)] for row in rows]
    unit = 300 / max(threads, *gains)
    for line, (row, gain) in enumerate(zip(rows, gains)):
        top = 44 + 28 * line
        out.append(f'<text x="110" y="{top + 15}" {_DARK} text-anchor="end">{escape(row["name"])}</text>')
        out.append(f'<rect x="120" y="{top}" width="{unit * gain:.1f}" height="20" rx="3" fill="#3b7ddd"/>')
        out.append(f'<text x="{126 + unit * gain:.1f}" y="{top + 15}" {_DARK}>{gain:.2f}x</text>')
    foot = 48 + 28 * len(rows)
    for mark in range(threads + 1):
        at = 120 + unit * mark
        out.insert(0, f'<line x1="{at}" y1="38" x2="{at}" y2="{foot}" stroke="#e4e9ef"/>')
        out.append(f'<text x="{at}" y="{foot + 14}" {_SOFT} text-anchor="middle">{mark}</text>')
    return _sheet(500, foot + 24, f"Times as fast on {threads} threads as on one", out)


def roofs(rows: list[dict[str, Any]]) -> str:
    """The programs below the two roofs that one thread has: the triad's bandwidth, the matrix product's arithmetic."""
    points = [roofline.Point(row["name"], roofline.Work(row["flops"], row["bytes"]), row["seconds"]) for row in rows]
    by_name = {point.name: point for point in points}
    memory = by_name["triad"].work.bytes / by_name["triad"].seconds
    peak = by_name["matmul"].work.flops / by_name["matmul"].seconds
    limits = [roofline.Roof("memory (triad)", bytes=memory), roofline.Roof("arithmetic (matrix product)", flops=peak)]
    return roofline.drawn(points, limits, "Roofline, one thread") + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw again, measure nothing")
    kept = PLACE / "performance.json"
    if parser.parse_args().draw:
        known = json.loads(kept.read_text(encoding="utf-8"))
    else:
        threads = weft.get_num_threads()
        about = {"python": platform.python_version(), "numpy": np.__version__, "threads": threads}
        known = {"about": about, "scaling": on_threads(threads), "roofline": on_one_thread(), "sizes": by_size()}
        kept.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    for name, picture in drawn(known).items():
        (PLACE / f"{name}.svg").write_text(picture, encoding="utf-8")


def drawn(known: dict[str, Any]) -> dict[str, str]:
    """The three pictures of what was measured."""
    shared = scaling(known["scaling"], known["about"]["threads"])
    return {"roofline": roofs(known["roofline"]), "scaling": shared, "heatmap": heat_map(known["sizes"])}


if __name__ == "__main__":
    main()
