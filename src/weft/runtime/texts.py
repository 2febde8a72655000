"""Strings as arguments and as results.  In: a str, bytes or bytearray, or a list of them; out: arrays of code points,
and the other way round.  The native dispatcher does the first in C (native/strings.c).

    template := "s" (str) | "y" (bytes) | "Y" (bytearray) | "[s]" | "[y]"

A str is an array of 32-bit code points, bytes are an array of bytes.  The strings of a list follow one another; one
more array, before the other, tells where each of them begins, and where the last one ends.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from weft.errors import located

_KINDS: Final[dict[str, type]] = {"s": str, "y": bytes, "Y": bytearray}
TEMPLATES: Final = frozenset({*_KINDS, "[s]", "[y]"})


def words(template: str) -> int:
    """How many words of the block an argument takes."""
    return 6 if template[0] == "[" else 3


def fits(template: str, value: Any, met: list[Any]) -> bool:
    if template[0] != "[":
        return type(value) is _KINDS[template]
    met.append(value)
    return type(value) is list and all(type(item) is _KINDS[template[1]] for item in value)


def columns_of(template: str, value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of an argument that fits."""
    if template[0] != "[":
        return [codes_of(value)]
    whole: Any = ("" if template[1] == "s" else b"").join(value)
    return [np.cumsum([0, *map(len, value)], dtype=np.int64), codes_of(whole)]


def codes_of(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, str):
        return np.frombuffer(value.encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    return np.frombuffer(bytes(value), dtype=np.uint8)


def text_of(codes: np.ndarray[Any, Any]) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def bytes_of(codes: np.ndarray[Any, Any]) -> bytes:
    return codes.tobytes()


def bytearray_of(codes: np.ndarray[Any, Any]) -> bytearray:
    return bytearray(codes.tobytes())


@functools.cache
def _members(name: str) -> list[Any]:
    return list(located(name))


def member_of(name: str, place: int) -> Any:
    """A member of an enumeration, by the name of that and its number."""
    return _members(name)[place]


def taken(kind: str, whole: str, starts: list[int], lengths: list[int]) -> list[Any]:
    """Parts of a string, as strings or bytes."""
    parts = [whole[start : start + length] for start, length in zip(starts, lengths)]
    return parts if kind == "str" else [part.encode("latin-1") for part in parts]
