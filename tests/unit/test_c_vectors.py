"""The functions for vectors, for every kind of vector that this processor has: all widths give the same bits."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from weft.codegen import c_vectors
from weft.codegen.c_helpers import PRELUDE
from weft.runtime import toolchain

_CHAIN = toolchain.find()
_LETTERS = "bde"
_WITHOUT = {"b": ("-mno-avx",), "d": ("-mno-avx512f",), "e": ("-mprefer-vector-width=512",)}
_BASES = _LETTERS[: _LETTERS.index(_CHAIN.widest_vectors) + 1] if _CHAIN and _CHAIN.widest_vectors else ""

pytestmark = pytest.mark.skipif(not _BASES, reason="the compiler has no vector functions here")


def _loop(name: str, base: str, flags: tuple[str, ...]) -> ctypes._NamedFuncPointer:
    real = "f32" if name.endswith("f") else "f64"
    text = f"""{PRELUDE}
{c_vectors.TYPES}
{c_vectors.even(name, real, 1, base)}
void loop(const {real} *restrict x, {real} *restrict y, i64 n) {{
  #pragma omp simd
  for (i64 i = 0; i < n; i++) y[i] = {name}(x[i]);
}}
"""
    assert _CHAIN is not None
    path: Path = _CHAIN.build_shared(text, flags=flags, name=f"{name}_{base}")
    return ctypes.CDLL(str(path)).loop


@pytest.mark.parametrize("flagged", _BASES)
@pytest.mark.parametrize("base", _BASES)
@pytest.mark.parametrize("name", ["exp", "log10", "cbrt", "sinf", "log10f", "cbrtf"])
def test_every_width_is_the_same_function(name: str, base: str, flagged: str) -> None:
    if _LETTERS.index(base) > _LETTERS.index(flagged):
        pytest.skip("the compiler may not use these vectors")
    loop = _loop(name, base, _WITHOUT[flagged])
    dtype = np.float32 if name.endswith("f") else np.float64
    for value in (0.3, 1e7, 27.0, 1e-3):
        seen = set()
        for size in (1, 2, 3, 4, 7, 16, 31, 47):
            x, y = np.full(size, value, dtype), np.empty(size, dtype)
            loop(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(size))
            seen |= set(y.tolist())
        assert len(seen) == 1, (value, seen)
        if name.startswith("log10") and value != 0.3 and value != 27.0:
            assert seen == {round(np.log10(value))}
        if name.startswith("cbrt") and value == 27.0:
            assert seen == {3.0}
