"""Names and types of the hosts' languages.  In: names and dtypes of a Python module; out: how C, C++ and Fortran spell
them.
"""

from __future__ import annotations

import re

from weft.errors import WeftError
from weft.ir.types import DType

C_TYPES: dict[DType, str] = {
    DType.BOOL: "bool",
    DType.I8: "int8_t",
    DType.I16: "int16_t",
    DType.I32: "int32_t",
    DType.I64: "int64_t",
    DType.U8: "uint8_t",
    DType.U16: "uint16_t",
    DType.U32: "uint32_t",
    DType.U64: "uint64_t",
    DType.F32: "float",
    DType.F64: "double",
    DType.C64: "weft_c64",
    DType.C128: "weft_c128",
}
CPP_TYPES: dict[DType, str] = {
    **{dtype: f"std::{name}" if name.endswith("_t") else name for dtype, name in C_TYPES.items()},
    DType.C64: "std::complex<float>",
    DType.C128: "std::complex<double>",
}
#: Fortran has no unsigned integers: the bits are those of signed ones.
FORTRAN_TYPES: dict[DType, str] = {
    DType.BOOL: "logical(c_bool)",
    DType.I8: "integer(c_int8_t)",
    DType.I16: "integer(c_int16_t)",
    DType.I32: "integer(c_int32_t)",
    DType.I64: "integer(c_int64_t)",
    DType.U8: "integer(c_int8_t)",
    DType.U16: "integer(c_int16_t)",
    DType.U32: "integer(c_int32_t)",
    DType.U64: "integer(c_int64_t)",
    DType.F32: "real(c_float)",
    DType.F64: "real(c_double)",
    DType.C64: "complex(c_float_complex)",
    DType.C128: "complex(c_double_complex)",
}

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
bool true false alignas alignof and and_eq asm bitand bitor catch class compl concept constexpr decltype
delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq
private protected public reinterpret_cast requires static_assert static_cast template this thread_local throw
try typeid typename using virtual wchar_t xor xor_eq main std
"""
#: Words of the languages, and names that the generated functions use themselves.
_OWN = {"error", "w", "status", "given", "code", "free", "set_threads", "get_threads", "set_blas"}
_TAKEN = frozenset(_KEYWORDS.split()) | _OWN


def name(python: str) -> str:
    """A name of Python's as C and C++ may have it."""
    plain = python.lstrip("_") or "x"
    return f"{plain}_" if plain in _TAKEN or plain.startswith("result") else plain


def prefix(module: str) -> str:
    """What every name of a library begins with: the module's own."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", module):
        raise WeftError(f"the name of the module {module!r} cannot be one of C: rename the file")
    return name(module)


def array(dtype: DType, rank: int) -> str:
    """The struct of an array."""
    return f"weft_{dtype.value}_{rank}"


def pointer(name: str, count: int) -> str:
    """The declaration of a pointer to a function of so many doubles."""
    return f"double (*{name})({', '.join(['double'] * count)})"


def double(value: float) -> str:
    """A float as a constant of C."""
    if value != value:
        return "NAN"
    return value.hex() if abs(value) != float("inf") else ("HUGE_VAL" if value > 0 else "-HUGE_VAL")


def integer(value: int) -> str:
    """An integer of 64 bits as a constant of C."""
    return f"(int64_t){value}LL" if value > -(2**63) else "INT64_MIN"


def quoted(text: str) -> str:
    """A C string."""
    return quoted_bytes(text.encode())


def quoted_bytes(data: bytes) -> str:
    """A C string of these bytes."""
    out = []
    for byte in data:
        char = chr(byte)
        out.append(char if 32 <= byte < 127 and char not in '"\\?' else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'
