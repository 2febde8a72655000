"""The report as a heat map. In comes a `Report`; out comes a PNG: a row for each kernel, a column for each framework,
the colour the logarithm of its time over weft's, and a hatched cell with a word where it failed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.harness.model import Report, best_peer_ratios, geometric_mean, mean_ratio, short_label
from benchmarks.harness.table import milliseconds, times

_MOST = 5.0  # powers of two at which the colours end
_ROW = 0.235  # inches


def draw(report: Report, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [*report.peers()]
    rows = len(report.kernels)
    size = (2.9 + 1.25 * (len(names) + 2), rows * _ROW + 2.2)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    colours = matplotlib.colormaps["RdBu"]
    scale = matplotlib.colors.Normalize(-_MOST, _MOST)
    for y, kernel in enumerate(report.kernels):
        for x, name in enumerate(names):
            ratio = kernel.ratio(name)
            if ratio is None:
                _failed(axes, x, y, _word(kernel.chosen(name), kernel.seconds("weft") is None))
            else:
                best = kernel.best_peer(names)
                _cell(axes, x, y, times(ratio), colours(scale(math.log2(ratio))), best is not None and best[0] == name)
        mine = kernel.seconds("weft")
        if mine is None:
            _failed(axes, len(names), y, _word(kernel.chosen("weft"), False))
        else:
            _cell(axes, len(names), y, f"{milliseconds(mine)} ms", "white", False)
        reached = "" if kernel.fraction is None else f"{100 * kernel.fraction:.0f} %"
        _cell(axes, len(names) + 1, y, reached, "white", False)
    for x, name in enumerate(names):
        mean, count = mean_ratio(report, name)
        if mean is not None:
            _cell(axes, x, rows + 0.4, f"{times(mean)} ({count})", colours(scale(math.log2(mean))), True)
    best_mean = geometric_mean(best_peer_ratios(report))
    _decorate(axes, report, names, best_mean)
    bar = figure.colorbar(
        matplotlib.cm.ScalarMappable(scale, colours), ax=axes, location="bottom", shrink=0.6, aspect=45, pad=0.01
    )
    ticks = list(range(-int(_MOST), int(_MOST) + 1))
    bar.set_ticks(ticks, labels=[f"{2**tick}x" if tick >= 0 else f"1/{2**-tick}" for tick in ticks])
    bar.set_label("time of the framework over weft's: blue, weft is faster", fontsize=9)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _word(attempt: Any, no_weft: bool) -> str:
    if attempt is not None and attempt.right and no_weft:
        return f"{milliseconds(attempt.best)} ms"
    word = short_label(attempt)
    return "refused" if attempt is not None and attempt.status == "refused" else word


def _cell(axes: Any, x: float, y: float, text: str, colour: Any, bold: bool) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
    red, green, blue = _rgb(colour)
    dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
    weight = "bold" if bold else "normal"
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if dark else "black", weight=weight)


def _rgb(colour: Any) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _failed(axes: Any, x: float, y: float, word: str) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="0.93", edgecolor="0.8", hatch="////", linewidth=0)
    axes.add_patch(box)
    frame = {"facecolor": "0.97", "edgecolor": "none", "pad": 0.8}
    axes.text(x, y, word, ha="center", va="center", fontsize=7, color="0.35", bbox=frame)


def _decorate(axes: Any, report: Report, names: list[str], best_mean: float | None) -> None:
    rows = len(report.kernels)
    axes.set_xlim(-0.5, len(names) + 1.5)
    axes.set_ylim(rows + 1.0, -0.5)
    axes.set_xticks(range(len(names) + 2), labels=[*names, "weft", "of limit"], fontsize=9)
    axes.set_yticks(
        [*range(rows), rows + 0.4],
        labels=[*(kernel.kernel for kernel in report.kernels), "geometric mean (kernels)"],
        fontsize=8.5,
    )
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    settings = report.settings
    title = f"Time over weft's, size {settings.get('size')}, {settings.get('threads')} threads"
    if best_mean is not None:
        title += f"; the best peer of each kernel (bold): {times(best_mean)}"
    axes.set_title(title, fontsize=11, loc="left", pad=12)
