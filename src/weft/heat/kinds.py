"""Types of values as the text of hints.  In: values met at run time; out: `weft.f64[:, :]`, `list[tuple[int, float]]`,
and what several of them have in common.
"""

from __future__ import annotations

import itertools
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LOOKED_AT = 40  # items of a container
_DEEPEST = 4
_DTYPES = {
    "bool": "b1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes)


def describe(value: Any, depth: int = 0) -> str:
    """The hint that a value would have."""
    kind = type(value)
    if value is None:
        return "None"
    if kind in _PLAIN:
        return kind.__name__
    if depth < _DEEPEST and kind in (list, set, frozenset):
        return f"{kind.__name__}[{_items(value, depth)}]" if value else kind.__name__
    if depth < _DEEPEST and kind is dict:
        return f"dict[{_items(value, depth)}, {_items(value.values(), depth)}]" if value else "dict"
    if depth < _DEEPEST and kind is tuple and len(value) <= 8:
        return f"tuple[{', '.join(describe(item, depth + 1) for item in value)}]" if value else "tuple"
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return _array(value, kind is numpy.ndarray)
    return str(kind.__qualname__)


def _array(value: Any, is_array: bool) -> str:
    name = _DTYPES.get(str(value.dtype))
    if name is None or (is_array and not value.ndim) or type(value).__module__ != "numpy":
        return f"np.{type(value).__name__}"
    if not is_array:
        return f"weft.{name}"
    return f"weft.{name}[{', '.join('1' if extent == 1 else ':' for extent in value.shape)}]"


def _items(values: Iterable[Any], depth: int) -> str:
    return joined({describe(item, depth + 1) for item in itertools.islice(values, _LOOKED_AT)})


def joined(texts: Iterable[str]) -> str:
    """One hint for several: arrays that differ in extents of 1 are one, an empty container is like a full one."""
    found = sorted(set(texts))
    found = [text for text in found if not any(other.startswith(text + "[") for other in found)]
    arrays: dict[tuple[str, int], list[str]] = {}
    rest = []
    for text in found:
        head, bracket, inner = text.partition("[")
        if head.startswith("weft.") and bracket:
            arrays.setdefault((head, inner.count(",")), []).append(text)
        else:
            rest.append(text)
    for (head, _), same in arrays.items():
        extents = zip(*(text[len(head) + 1 : -1].split(", ") for text in same))
        rest.append(f"{head}[{', '.join('1' if set(extent) == {'1'} else ':' for extent in extents)}]")
    return " | ".join(sorted(rest, key=lambda text: (text == "None", text)))
