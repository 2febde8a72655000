"""`dataclasses.asdict` and `astuple` of what the fields hold: primitives take objects apart, and come back here."""

from __future__ import annotations

from typing import Any

from weft.plain.models.primitives import as_dict, as_tuple


def asdict(value: Any) -> Any:
    return as_dict(value)


def asdict_items(values: Any) -> Any:
    return [asdict(value) for value in values]


def asdict_tuple_items(values: Any) -> Any:
    return tuple([asdict(value) for value in values])


def asdict_entries(values: Any) -> Any:
    return {asdict(key): asdict(value) for key, value in values.items()}


def astuple(value: Any) -> Any:
    return as_tuple(value)


def astuple_items(values: Any) -> Any:
    return [astuple(value) for value in values]


def astuple_tuple_items(values: Any) -> Any:
    return tuple([astuple(value) for value in values])


def astuple_entries(values: Any) -> Any:
    return {astuple(key): astuple(value) for key, value in values.items()}
