"""Where classes come from.  In: a class; out: the name of its module, as text in every case."""

from __future__ import annotations


def home_of(kind: type) -> str:
    """The module of a class; empty if it tells only of its objects where they come from, as Cython's functions do."""
    home = kind.__module__
    return home if isinstance(home, str) else ""
