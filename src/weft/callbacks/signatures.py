"""Signatures of callbacks.  In: text as `"float64(float64, int32)"`, `"dd->d"`, or types; out: dtypes.

A type is what `np.dtype` accepts, one of weft's names (`f64`), or a name of C (`double`, `long`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.frontend.hints import ArrayHint, DTypeHint
from weft.ir.types import DType, from_numpy
from weft.records import dataclass

#: What types are called besides NumPy's names.
_NAMES = {
    **{dtype.value: dtype for dtype in DType},
    "b1": DType.BOOL,
    "double": DType.F64,
    "float": DType.F32,
    "long": DType.I64,
    "int": DType.I32,
    "npy_intp": DType.I64,
    "complex": DType.C128,
    "_Bool": DType.BOOL,
    "short": DType.I16,
    "unsigned": DType.U32,
    **{f"{dtype.numpy.name}_t": dtype for dtype in DType if dtype.is_integer},
    **dict.fromkeys(("ssize_t", "ptrdiff_t", "intptr_t"), DType.I64),
    **dict.fromkeys(("size_t", "uintptr_t"), DType.U64),
}
#: C's names of several words, longer ones first.
_WORDS = {
    "unsigned long long": "uint64_t",
    "unsigned long": "uint64_t",
    "unsigned int": "uint32_t",
    "unsigned short": "uint16_t",
    "unsigned char": "uint8_t",
    "signed char": "int8_t",
    "long long": "int64_t",
    "long int": "int64_t",
}
_PYTHON = {float: DType.F64, int: DType.I64, bool: DType.BOOL, complex: DType.C128}


@dataclass(frozen=True)
class Loop:
    """The types of one loop of a ufunc; no outputs: they are found by compiling."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...] = ()

    def __str__(self) -> str:
        return f"({', '.join(d.value for d in self.inputs)}) -> {', '.join(d.value for d in self.outputs) or '?'}"


def in_single_words(text: str) -> str:
    """unsigned long n  -->  uint64_t n"""
    for words, single in _WORDS.items():
        text = re.sub(rf"\b{words}\b", single, text)
    return text


def dtype_of(name: Any) -> DType:
    """The dtype that a type or a name stands for; TypeError if weft has none for it."""
    if isinstance(name, (DTypeHint, ArrayHint)):
        return name.dtype
    if isinstance(name, type) and name in _PYTHON:
        return _PYTHON[name]
    text = name.strip() if isinstance(name, str) else ""
    if text in _NAMES:
        return _NAMES[text]
    try:
        found = from_numpy(text or name)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{name!r} is no type of numbers that weft compiles for; use float64, int32, bool, ...")
    return found


def loops_of(signatures: Any) -> list[Loop]:
    """The loops that a list of signatures asks for: texts, types, or tuples of types (inputs, then the output)."""
    if isinstance(signatures, (str, bytes, type, np.dtype)):
        signatures = [signatures]
    return [_loop(signature) for signature in signatures]


def _loop(signature: Any) -> Loop:
    if isinstance(signature, str):
        if "->" in signature:
            left, right = signature.split("->")
            return Loop(_letters(left), _letters(right))
        called = re.fullmatch(r"\s*([\w:\[\], ]*?)\s*\((.*)\)\s*", signature)
        if called is None:
            raise TypeError(f"{signature!r} is no signature; write 'float64(float64, float64)' or 'dd->d'")
        outputs = () if called[1] in ("", "void") else (dtype_of(_element(called[1])),)
        return Loop(tuple(dtype_of(_element(part)) for part in _parts(called[2])), outputs)
    if isinstance(signature, Sequence) and len(signature) > 1:
        return Loop(tuple(map(dtype_of, signature[:-1])), (dtype_of(signature[-1]),))
    raise TypeError(f"{signature!r} is no signature; write 'float64(float64, float64)' or 'dd->d'")


def _letters(text: str) -> tuple[DType, ...]:
    return tuple(dtype_of(np.dtype(letter)) for letter in text.strip())


def _parts(text: str) -> list[str]:
    """The types between parentheses; commas inside of brackets belong to an array."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def _element(text: str) -> str:
    """float64[:, :] --> float64"""
    return text.split("[")[0].strip()


def ranks_of(signature: Any) -> tuple[int, ...] | None:
    """The rank that a text gives each argument: the colons in its brackets; None where the text does not say."""
    if not isinstance(signature, str) or "->" in signature:
        return None
    called = re.fullmatch(r"\s*([\w:\[\], ]*?)\s*\((.*)\)\s*", signature)
    return None if called is None else tuple(part.count(":") for part in _parts(called[2]))
