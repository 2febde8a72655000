"""Distributions, boxes and who holds what: without any rank, against models that are plain loops over elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.cluster import mpi_boxes as boxes
from weft.cluster.mpi_holdings import Holdings, between, nothing, replicated, spread
from weft.cluster.mpi_layout import Distribution, assigned, block, near_square, tile_bounds, tile_size

few = settings(max_examples=60, deadline=None)
SMALL = st.integers(1, 4)
BOX = st.tuples(*[st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: tuple(sorted(pair)))] * 2)


def elements(found):
    return {place for box in found for place in itertools.product(*(range(low, high) for low, high in box))}


@few
@given(BOX, st.lists(BOX, max_size=4))
def test_boxes_are_sets_of_elements(box, others):
    left = boxes.subtract(box, others)
    assert elements(left) == elements([box]) - elements(others)
    assert sum(map(boxes.volume, left)) == len(elements(left))
    joined = boxes.union([box, *others])
    assert elements(joined) == elements([box, *others])
    assert sum(map(boxes.volume, joined)) == len(elements(joined))


def test_many_tiles_of_one_array_are_one_box_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not each against all the others: a call with thousands of tiles took minutes before its first one ran."""
    compared = []
    plain = boxes.intersect
    monkeypatch.setattr(boxes, "intersect", lambda one, other: compared.append(one) or plain(one, other))
    tiles = [((8 * k, 8 * k + 9), (0, 4)) for k in range(5000)]
    assert boxes.union(tiles) == [((0, 40001), (0, 4))]
    assert boxes.union([*tiles, *tiles, ((3, 3), (0, 4))]) == [((0, 40001), (0, 4))]
    assert len(compared) < 100


@st.composite
def layouts(draw, shape=None):
    shape = shape or draw(st.lists(st.integers(0, 9), min_size=1, max_size=2).map(tuple))
    return Distribution(shape, *(draw(st.tuples(*[SMALL] * len(shape))) for _ in range(2)))


@few
@given(layouts())
def test_every_element_has_one_owner_and_one_place(layout):
    whole = np.arange(np.prod(layout.shape)).reshape(layout.shape)
    parts = [np.full(layout.local_shape(rank), -1) for rank in range(layout.ranks + 1)]
    for index in np.ndindex(*layout.shape):
        owner, place = layout.owner(index), layout.local_index(index)
        assert parts[owner][place] == -1
        parts[owner][place] = whole[index]
        assert layout.global_index(owner, place) == index
    for rank, part in enumerate(parts):
        assert (part != -1).all()
        mine = {index for index in np.ndindex(*layout.shape) if layout.owner(index) == rank}
        assert elements(layout.boxes(rank)) == elements(itertools.product(*layout.ranges(rank))) == mine


@few
@given(st.data())
def test_redistribution_sends_each_element_once(data):
    shape = data.draw(st.tuples(st.integers(0, 8), st.integers(0, 8)))
    source, target = data.draw(layouts(shape)), data.draw(layouts(shape))
    ranks = max(source.ranks, target.ranks)
    messages = between(source, target, ranks)
    moved = {
        (index, source.owner(index), target.owner(index))
        for index in np.ndindex(*shape)
        if source.owner(index) != target.owner(index)
    }
    assert {(e, m.source, m.target) for m in messages for e in elements(m.boxes)} == moved
    assert sum(m.elements for m in messages) == len(moved)
    needs = {rank: target.boxes(rank) for rank in range(ranks)}
    general = spread(source, ranks).messages(needs)
    assert {(e, m.source, m.target) for m in general for e in elements(m.boxes)} == moved


@few
@given(st.lists(st.tuples(st.integers(0, 2), BOX, st.booleans()), max_size=6))
def test_holdings_follow_reads_and_writes(actions):
    """Against one set of valid elements for each rank and a memory for each."""
    shape, ranks = (5, 5), 3
    held: Holdings = replicated(shape, ranks)
    memory = np.zeros((ranks, *shape), int)
    truth = np.zeros(shape, int)
    for time, (rank, box, writes) in enumerate(actions, 1):
        if writes:
            memory[rank][boxes.slices(box)] = truth[boxes.slices(box)] = time
            held = held.written({rank: [box]})
            continue
        messages = held.messages({rank: [box]})
        for message in messages:
            assert message.source != message.target == rank
            for part in message.boxes:
                memory[rank][boxes.slices(part)] = memory[message.source][boxes.slices(part)]
        held = held.after(messages)
        assert (memory[rank][boxes.slices(box)] == truth[boxes.slices(box)]).all()
        assert not held.messages({rank: [box]})


def test_nothing_is_sent_of_what_was_never_written():
    assert nothing((4,), 2).messages({0: [((0, 4),)]}) == []
    assert not nothing((4,), 2).is_replicated
    assert replicated((4,), 2).is_replicated and replicated((0,), 2).is_replicated


@pytest.mark.parametrize("extent", [0, 1, 5, 24, 48, 50, 1000, 13_000])
def test_tiles_depend_on_the_extent_alone(extent):
    bounds = tile_bounds(extent)
    assert [place for ends in bounds for place in range(*ends)] == list(range(extent))
    for ranks in (1, 2, 3, 4, 6, 8):
        owners = assigned(len(bounds), ranks)
        assert owners == sorted(owners) and all(0 <= owner < ranks for owner in owners)
        layout = block((extent,), (ranks,), (tile_size(extent),))
        # An array that is distributed by default lies where its tiles are computed.
        assert all(layout.owner((low,)) == owner for (low, _), owner in zip(bounds, owners))


def test_grids():
    assert near_square(8, (100, 100)) == (4, 2) and near_square(6, (10, 1000)) == (1, 6) and near_square(1, ()) == ()
    with pytest.raises(ValueError, match="one entry for each axis"):
        Distribution((3, 4), (1,), (1, 1))
    with pytest.raises(IndexError):
        Distribution((3,), (1,), (2,)).owner((3,))
    with pytest.raises(ValueError, match="2 ranks"):
        spread(Distribution((3,), (1,), (3,)), 2)
