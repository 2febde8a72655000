"""What was asked of Numba and means something else here.  In: a word and its meaning; out: one note each, counted.

A note is logged once (`logging.getLogger("weft.compat")`, level INFO) and kept for `weft.compat.notes()`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

_LOG = logging.getLogger("weft.compat")


@dataclass
class Note:
    """`what` was asked for, how often, and what weft does."""

    what: str
    meaning: str
    count: int = 1


_notes: dict[str, Note] = {}


def noted(what: str, meaning: str) -> None:
    """Remember that something was asked for that has another meaning here."""
    found = _notes.get(what)
    if found is not None:
        found.count += 1
        return
    _notes[what] = Note(what, meaning)
    _LOG.info("%s: %s", what, meaning)


def notes() -> list[Note]:
    """Everything noted so far, in the order of its first use."""
    return list(_notes.values())


def clear() -> None:
    """Forget all notes."""
    _notes.clear()
