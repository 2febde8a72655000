"""Models of users.  In: a class of another library, and a class in plain Python that says what it means; out: the table
by which the front end takes arguments of the one for objects of the other.
"""

from __future__ import annotations

from typing import Any

from weft.records import dataclass


@dataclass(frozen=True)
class Given:
    """A model: the attributes of the library's object that it holds, and what makes such an object of them."""

    kind: type
    fields: tuple[str, ...]
    maker: str = ""


#: The models by the class they stand for.
MODELS: dict[type, Given] = {}


def model_of(sample: Any) -> Given | None:
    """The model for an object of exactly a modelled class."""
    return MODELS.get(type(sample))


def model_with(kind: type) -> Given | None:
    """The model whose objects are of a class."""
    return next((given for given in MODELS.values() if given.kind is kind), None)

