"""Who holds which elements.  In: what each rank needs, and what it will write; out: the messages that bring what is
missing, and who holds what afterwards.

Every rank knows this of all ranks, since all of them follow the same program: nothing is asked, both ends of a message
are derived alike.  A value is sent only if it is needed where no copy of it is valid, so that what a gather would
bring together and a scatter spread again is never sent.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence

from weft.cluster.mpi_boxes import Box, intersect, remove, subtract, union, volume, whole
from weft.cluster.mpi_layout import Distribution
from weft.records import dataclass


@dataclass(frozen=True)
class Message:
    """Boxes of one array that go from one rank to another."""

    source: int
    target: int
    boxes: tuple[Box, ...]

    @property
    def elements(self) -> int:
        return sum(map(volume, self.boxes))


@dataclass(frozen=True)
class Holdings:
    """For each rank the boxes of which it has the current values, and for each element the rank that sends it."""

    shape: tuple[int, ...]
    copies: tuple[tuple[Box, ...], ...]
    owners: tuple[tuple[Box, ...], ...]

    @property
    def ranks(self) -> int:
        return len(self.copies)

    def missing(self, rank: int, boxes: Iterable[Box]) -> list[Box]:
        """What a rank has no current copy of."""
        return [part for box in union(boxes) for part in subtract(box, self.copies[rank])]

    def messages(self, needs: Mapping[int, Sequence[Box]]) -> list[Message]:
        """The messages after which every rank has what it needs: at most one for each pair of ranks."""
        found: dict[tuple[int, int], list[Box]] = {}
        for target, boxes in sorted(needs.items()):
            for part in self.missing(target, boxes):
                for source in range(self.ranks):
                    for owned in self.owners[source]:
                        common = intersect(part, owned)
                        if common is not None:
                            found.setdefault((source, target), []).append(common)
        return [Message(source, target, tuple(union(boxes))) for (source, target), boxes in sorted(found.items())]

    def after(self, messages: Iterable[Message]) -> Holdings:
        """What is held when the messages have arrived."""
        copies = list(self.copies)
        for message in messages:
            copies[message.target] = tuple(union([*copies[message.target], *message.boxes]))
        return Holdings(self.shape, tuple(copies), self.owners)

    def written(self, writes: Mapping[int, Sequence[Box]]) -> Holdings:
        """What is held after each rank has written its boxes (which no other rank writes)."""
        changed = {rank: union(boxes) for rank, boxes in writes.items()}
        copies, owners = [], []
        for rank in range(self.ranks):
            own = changed.get(rank, [])
            others = [box for other, boxes in changed.items() if other != rank for box in boxes]
            copies.append(tuple(union([*own, *remove(self.copies[rank], others)])))
            owners.append(tuple(union([*own, *remove(self.owners[rank], others)])))
        return Holdings(self.shape, tuple(copies), tuple(owners))

    def everywhere(self) -> dict[int, list[Box]]:
        """The needs of ranks that all want the whole array."""
        return {rank: [whole(self.shape)] for rank in range(self.ranks)}

    @property
    def is_replicated(self) -> bool:
        """Whether every rank has the whole array."""
        elements = volume(whole(self.shape))
        return all(sum(map(volume, boxes)) == elements for boxes in self.copies)


@functools.lru_cache(maxsize=256)
def replicated(shape: tuple[int, ...], ranks: int) -> Holdings:
    """Every rank has everything; the first one would send it."""
    everything = (whole(shape),) if volume(whole(shape)) else ()
    return Holdings(shape, (everything,) * ranks, (everything, *[()] * (ranks - 1)))


@functools.lru_cache(maxsize=256)
def nothing(shape: tuple[int, ...], ranks: int) -> Holdings:
    """No element has a value yet."""
    return Holdings(shape, ((),) * ranks, ((),) * ranks)


@functools.lru_cache(maxsize=256)
def spread(distribution: Distribution, ranks: int) -> Holdings:
    """Every rank has its part of a distribution."""
    if distribution.ranks > ranks:
        raise ValueError(f"the grid {distribution.grid} has {distribution.ranks} processes and there are {ranks} ranks")
    parts = tuple(tuple(itertools.product(*distribution.ranges(rank))) for rank in range(ranks))
    return Holdings(distribution.shape, parts, parts)


def between(source: Distribution, target: Distribution | None, ranks: int) -> list[Message]:
    """The messages from one distribution of an array to another, or (None) to all of it on every rank.

    Found axis by axis: what a rank owns is a product of ranges, so that thousands of small blocks cost no more than
    the square of their number along one axis.
    """
    found = []
    all_of_it = [[limits] for limits in whole(source.shape)]
    for first, second in itertools.permutations(range(ranks), 2):
        wanted = all_of_it if target is None else target.ranges(second)
        pairs = zip(source.ranges(first), wanted)
        boxes = tuple(itertools.product(*(_common(have, want) for have, want in pairs)))
        if boxes and volume(boxes[0]):
            found.append(Message(first, second, boxes))
    return found


def _common(have: Sequence[tuple[int, int]], want: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    both = [(max(a, c), min(b, d)) for a, b in have for c, d in want]
    return [(low, high) for low, high in both if low < high]
