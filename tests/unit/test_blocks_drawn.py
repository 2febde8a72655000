"""Arrays of a cluster in a notebook: the boxes of their holders, drawn."""

from __future__ import annotations

import re

import numpy as np

from weft.cluster.drawn import blocks_html
from weft.cluster.lazy import ClusterArray
from weft.cluster.mpi_array import DistributedArray
from weft.cluster.mpi_holdings import Holdings
from weft.cluster.spread import Piece, Spread


def _rectangles(html: str) -> list[tuple[float, ...]]:
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', html)
    return [tuple(map(float, each)) for each in found]


def test_blocks_of_rows_lie_below_each_other() -> None:
    pieces = (Piece(None, 0, 30), Piece(None, 30, 40))
    gathered: list[Spread] = []
    array = ClusterArray(Spread((40, 20), np.float64, 0, pieces), lambda spread: gathered.append(spread) or np.ones(1))
    html = array._repr_html_()
    assert _rectangles(html) == [(0.0, 0.0, 120.0, 180.0), (0.0, 180.0, 120.0, 60.0)]
    assert "in 2 blocks" in html and "[30:40, 0:20]" in html and not gathered


def test_ranks_of_a_grid() -> None:
    boxes = tuple((((10 * i, 10 * i + 10), (10 * j, 10 * j + 10)),) for i in range(2) for j in range(2))
    array = DistributedArray(np.empty((20, 20)), Holdings((20, 20), boxes, boxes))
    html = array._repr_html_()
    assert len(set(_rectangles(html))) == 4 and "3: [10:20, 10:20]" in html and "over 4 ranks" in html


def test_what_is_here_empty_or_of_rank_0_has_no_picture() -> None:
    here = ClusterArray(Spread((3,), np.float64, source=np.arange(3.0)), lambda spread: np.ones(1))
    assert "<svg" not in here._repr_html_() and "array([0., 1., 2.])" in here._repr_html_()
    assert "<svg" not in blocks_html("empty", (0, 3), [(0, [(0, 0), (0, 3)])])
    assert "<svg" not in blocks_html("a number", (), [(0, [])])


def test_a_line_and_many_axes() -> None:
    assert _rectangles(blocks_html("line", (10,), [(0, [(0, 5)]), (1, [(5, 10)])]))[1] == (120.0, 0.0, 120.0, 16.0)
    html = blocks_html(
        "deep", (4, 8, 2, 3), [(0, [(0, 4), (0, 4), (0, 2), (0, 3)]), (1, [(0, 4), (4, 8), (0, 2), (0, 3)])]
    )
    assert len(set(_rectangles(html))) == 2
    many = blocks_html("many", (1000,), [(i, [(i, i + 1)]) for i in range(1000)])
    assert len(_rectangles(many)) == 400 and "of 1000 blocks" in many
