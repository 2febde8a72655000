"""Arrays of a cluster drawn for notebooks.  In: a shape, and who holds which box of it; out: HTML without scripts: the
boxes over the last two axes that are cut, or the last two of all, in the colours of their holders.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_COLOURS = ("#2e8b57", "#4a7fb5", "#b58a3c", "#8e6bb0", "#b0605a", "#5a9ea0", "#7a8a3a", "#8a8f98")
_WIDTH, _LEAST = 240.0, 16.0
#: Boxes that are drawn; of more the first ones.
_MOST = 400


def blocks_html(told: str, shape: Sequence[int], blocks: Sequence[tuple[int, Sequence[tuple[int, int]]]]) -> str:
    """`told`: the array in words; `blocks`: the number of a holder and its box, one range for each axis."""
    words = f'<pre style="white-space: pre-wrap">{escape(told)}</pre>'
    if not blocks or not shape or 0 in shape:
        return words
    across, down = _axes(shape, blocks)
    scale = _WIDTH / max(shape[across], 1 if down is None else shape[down])
    width = max(scale * shape[across], _LEAST)
    height = _LEAST if down is None else max(scale * shape[down], _LEAST)
    rectangles = ""
    for holder, box in blocks[:_MOST]:
        x, w = _placed(box[across], shape[across], width)
        y, h = (0.0, height) if down is None else _placed(box[down], shape[down], height)
        colour = _COLOURS[holder % len(_COLOURS)]
        where = ", ".join(f"{low}:{past}" for low, past in box)
        rectangles += (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{colour}" stroke="#fff">'
            f"<title>{holder}: [{where}]</title></rect>"
        )
    more = f"<div>the first {_MOST} of {len(blocks)} blocks</div>" if len(blocks) > _MOST else ""
    picture = (
        f'<svg width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(told)}">{rectangles}</svg>'
    )
    return f"{words}{picture}{more}"


def _axes(shape: Sequence[int], blocks: Sequence[tuple[int, Sequence[tuple[int, int]]]]) -> tuple[int, int | None]:
    """The axes to draw, across and down: those that are cut, then the last ones."""
    cut = [axis for axis, extent in enumerate(shape) if any(tuple(box[axis]) != (0, extent) for _, box in blocks)]
    rest = [axis for axis in reversed(range(len(shape))) if axis not in cut]
    chosen = sorted([*cut, *rest][:2])
    return chosen[-1], chosen[0] if len(chosen) == 2 else None


def _placed(cut: tuple[int, int], extent: int, length: float) -> tuple[float, float]:
    low, past = cut
    return length * low / extent, length * (past - low) / extent
