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
#: Instructions that compilers use by themselves: the macro that says so, and where the processor tells that it has them
#: (leaf and subleaf of cpuid, number of the register a, b, c, d, bit).
_INSTRUCTIONS = {
    "SSE3": (1, 0, 2, 0), "SSSE3": (1, 0, 2, 9), "FMA": (1, 0, 2, 12), "SSE4_1": (1, 0, 2, 19), "SSE4_2": (1, 0, 2, 20),
    "MOVBE": (1, 0, 2, 22), "POPCNT": (1, 0, 2, 23), "AVX": (1, 0, 2, 28), "F16C": (1, 0, 2, 29),
    "BMI": (7, 0, 1, 3), "AVX2": (7, 0, 1, 5), "BMI2": (7, 0, 1, 8), "AVX512F": (7, 0, 1, 16),
    "AVX512DQ": (7, 0, 1, 17),
    "AVX512IFMA": (7, 0, 1, 21), "AVX512CD": (7, 0, 1, 28), "AVX512BW": (7, 0, 1, 30), "AVX512VL": (7, 0, 1, 31),
    "AVX512VBMI": (7, 0, 2, 1), "AVX512VBMI2": (7, 0, 2, 6), "GFNI": (7, 0, 2, 8), "AVX512VNNI": (7, 0, 2, 11),
    "AVX512BITALG": (7, 0, 2, 12), "AVX512VPOPCNTDQ": (7, 0, 2, 14), "AVX512FP16": (7, 0, 3, 23),
    "AVXVNNI": (7, 1, 0, 4), "AVX512BF16": (7, 1, 0, 5), "AVXIFMA": (7, 1, 0, 23),
    "LZCNT": (0x80000001, 0, 2, 5), "SSE4A": (0x80000001, 0, 2, 6), "XOP": (0x80000001, 0, 2, 11),
    "FMA4": (0x80000001, 0, 2, 16), "TBM": (0x80000001, 0, 2, 21),
}  # fmt: skip
_USED = re.compile(r"\bweft_uses_(\w+)")
_VECTOR_NAME = re.compile(r"_ZGV([bcden])N\d+v_exp")


@dataclass(frozen=True)
class Processor:
    """One kind of processor: a digit that `processor.h` knows it by, and the compiler with what it is told for it."""

    level: str
    march: str
    chain: Toolchain
    needs: tuple[str, ...] = ()  # names of _INSTRUCTIONS, of a processor that is no level

    @property
    def suffix(self) -> str:
        """What tells the functions for it from others."""
        return f"_v{self.level}"

    @property
    def features(self) -> CFeatures:
        return CFeatures(self.chain.supports_libmvec, glibc(), self.chain.widest_vectors)

    def compiled(self, source: str, name: str, flags: Sequence[str] = (), anywhere: bool = False) -> Path:
        """The object file of a source; `anywhere`: it must run on any processor, to tell that this is the wrong one."""
        plain = ("-march=x86-64",) if anywhere and platform.machine() in _X86 else ()
        return self.chain.build_object(source, flags=("-fvisibility=hidden", *flags, *plain), name=name)


def macros(chosen: Sequence[Processor]) -> dict[str, str]:
    """What `processor.h` must know of the processors that a file is for."""
    needs = ", ".join(f"{{{', '.join(map(str, _INSTRUCTIONS[name]))}}}" for name in chosen[0].needs)
    state = 0xE6 if "AVX512F" in chosen[0].needs else 6 if "AVX" in chosen[0].needs else 0
    return {
        "PROCESSOR_LEVELS": f'"{"".join(processor.level for processor in chosen)}"',
        "PROCESSOR_NAME": f'"{chosen[0].march or "another processor"}"',
        "PROCESSOR_NEEDS": needs,
        "PROCESSOR_STATE": str(state),
    }


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
    needs = _used(told) if level == "0" and platform.machine() in _X86 else ()
    widest = max(vectors - {"c", "n"}, default="b") if chain.widest_vectors and "n" not in vectors else ""
    libmvec = chain.supports_libmvec and bool(vectors)
    compiler = replace(told, supports_libmvec=libmvec, widest_vectors=widest if libmvec else "")
    return Processor(level, march, compiler, needs)


def _used(chain: Toolchain) -> tuple[str, ...]:
    """The instructions that a compiler may use as it is told."""
    probe = "\n".join(f"#ifdef __{name}__\nint weft_uses_{name} = 1;\n#endif" for name in _INSTRUCTIONS)
    found = set(_USED.findall(chain.assembly(probe + "\nint weft_probe = 1;\n")))
    return tuple(name for name in _INSTRUCTIONS if name in found)
