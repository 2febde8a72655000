"""Code for several processors.  In: C source and the processors it is to run on; out: object files, one for each.

On x86-64 these are the levels that compilers know as x86-64-v2, -v3 (AVX2) and -v4 (AVX-512): a library holds a variant
of each kernel for every level, and takes the highest that runs where it is loaded (`native/processor.h`).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weft.codegen.c_ops import CFeatures
from weft.errors import CompileError, WeftError
from weft.records import dataclass
from weft.runtime.toolchain import Toolchain, find
from weft.targets.c import glibc

_X86 = ("x86_64", "AMD64")
_VECTOR_LOOP = """
#pragma omp declare simd notinbranch
extern double exp(double) __attribute__((const));
void probe(const double *restrict a, double *restrict b, long n) {
    #pragma omp simd
    for (long i = 0; i < n; i++) b[i] = exp(a[i]);
}
"""
_VECTOR_NAME = re.compile(r"_ZGV([bcden])N\d+v_exp")


@dataclass(frozen=True)
class Processor:
    """One kind of processor: a digit that `processor.h` knows it by, and the compiler with what it is told for it."""

    level: str
    march: str
    chain: Toolchain

    @property
    def suffix(self) -> str:
        """What tells the functions for it from others."""
        return f"_v{self.level}"

    @property
    def features(self) -> CFeatures:
        return CFeatures(self.chain.supports_libmvec, glibc(), self.chain.widest_vectors)

    def compiled(self, source: str, name: str, flags: Sequence[str] = ()) -> Path:
        """The object file of a source."""
        return self.chain.build_object(source, flags=("-fvisibility=hidden", *flags), name=name)


def processors(march: str | None = None) -> tuple[Processor, ...]:
    """The processors to compile for: one if it is named, else all levels that this kind of machine has."""
    chain = find()
    if chain is None:
        raise WeftError("no C compiler works here: weft build needs one (weft doctor says why)")
    if march is not None:
        return (_for(chain, _level(march), march),)
    if platform.machine() not in _X86:
        return (_for(chain, "0", ""),)
    return tuple(_for(chain, level, f"x86-64-v{level}") for level in "234")


def _level(march: str) -> str:
    """The level that must be there for code of `-march=march`; "0" if only the user knows."""
    found = re.fullmatch(r"x86-64-v([234])", march)
    return found[1] if found else "0"


def _for(chain: Toolchain, level: str, march: str) -> Processor:
    flags = tuple(flag for flag in chain.flags if not flag.startswith("-march=") and flag != "-shared")
    told = replace(chain, flags=(*flags, *([f"-march={march}"] if march else [])))
    try:
        vectors = set(_VECTOR_NAME.findall(told.assembly(_VECTOR_LOOP)))
    except CompileError as problem:
        raise WeftError(f"the C compiler knows no processor {march!r} ({problem.reason})") from problem
    widest = max(vectors - {"c", "n"}, default="b") if chain.widest_vectors and "n" not in vectors else ""
    libmvec = chain.supports_libmvec and bool(vectors)
    return Processor(level, march, replace(told, supports_libmvec=libmvec, widest_vectors=widest if libmvec else ""))
