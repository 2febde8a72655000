"""Strings as arguments and as results.  In: a str, bytes or bytearray, or a list of them; out: arrays of code points,
and the other way round.  The native dispatcher does the first in C (native/strings.c).

    template := "s" (str) | "y" (bytes) | "Y" (bytearray) | "[s]" | "[y]" | "{s:i}" | "{s:f}" | "{s:b}" | "{s:s}"

A str is an array of 32-bit code points, bytes are an array of bytes.  The strings of a list follow one another; one
more array, before the other, tells where each of them begins, and where the last one ends.  Of a dict whose keys are
strings the columns of its values follow those of its keys.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from weft.errors import located

_KINDS: Final[dict[str, type]] = {"s": str, "y": bytes, "Y": bytearray}
#: The values of dicts, by their letter.
_VALUES: Final[dict[str, type]] = {"i": int, "f": float, "b": bool, "s": str}
TEMPLATES: Final = frozenset({*_KINDS, "[s]", "[y]", *(f"{{s:{letter}}}" for letter in _VALUES)})


def words(template: str) -> int:
    """How many words of the block an argument takes."""
    if template[0] == "{":
        return 12 if template[3] == "s" else 9
    return 6 if template[0] == "[" else 3


def fits(template: str, value: Any, met: list[Any]) -> bool:
    if template[0] not in "[{":
        return type(value) is _KINDS[template]
    met.append(value)
    if template[0] == "{":
        kind = _VALUES[template[3]]
        return type(value) is dict and all(type(key) is str and _is_value(kind, held) for key, held in value.items())
    return type(value) is list and all(type(item) is _KINDS[template[1]] for item in value)


def _is_value(kind: type, value: Any) -> bool:
    return type(value) is kind and (not isinstance(value, int) or -(2**63) <= value < 2**63)


def columns_of(template: str, value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of an argument that fits."""
    if template[0] == "{":
        keys, held = list(value), list(value.values())
        if template[3] == "s":
            return [*columns_of("[s]", keys), *columns_of("[s]", held)]
        return [*columns_of("[s]", keys), np.array(held, dtype=_VALUES[template[3]])]
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


def taken(kind: str, codes: Any, starts: Any, lengths: Any) -> list[Any]:
    """Parts of an array of code points, as strings or bytes."""
    from weft.runtime import dispatch

    core = dispatch.load_core()
    if core is not None:
        made: list[Any] = core.library.weft_texts(codes, starts, lengths, kind == "str")
        return made
    # One by one: what lies between the strings is no text.
    parts = [text_of(codes[start : start + length]) for start, length in zip(starts.tolist(), lengths.tolist())]
    return parts if kind == "str" else [part.encode("latin-1") for part in parts]
