"""Element types and their promotion.  In: dtypes of operands; out: the dtype NumPy 2 would compute in.

A `ScalarType` is a dtype plus one bit: *weak* (a Python `int`, `float`, `complex` or `bool`) or strong (a NumPy scalar
or array element).  Weak types give way in promotion (NEP 50), differ in division by zero, and a weak integer is a
Python integer: 64 bits with overflow *detected*, where a strong one wraps.
"""

from __future__ import annotations

import enum
from functools import cache

import numpy as np

from weft.records import dataclass


class DType(enum.Enum):
    """An element type; the value is its name in the text form."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F32 = "f32"
    F64 = "f64"
    C64 = "c64"
    C128 = "c128"

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return _NUMPY[self]

    @property
    def kind(self) -> str:
        """One of b, i, u, f, c, as in NumPy."""
        return _NUMPY[self].kind

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return _NUMPY[self].itemsize

    @property
    def typenum(self) -> int:
        return _NUMPY[self].num

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_inexact(self) -> bool:
        return self.kind in "fc"

    @property
    def real(self) -> DType:
        """The dtype of the real part."""
        return {DType.C64: DType.F32, DType.C128: DType.F64}.get(self, self)

    @property
    def complex(self) -> DType:
        """The complex dtype with parts of this precision."""
        return DType.C64 if self in (DType.F32, DType.C64) else DType.C128


_NUMPY: dict[DType, np.dtype[np.generic]] = {
    DType.BOOL: np.dtype(np.bool_),
    DType.I8: np.dtype(np.int8),
    DType.I16: np.dtype(np.int16),
    DType.I32: np.dtype(np.int32),
    DType.I64: np.dtype(np.int64),
    DType.U8: np.dtype(np.uint8),
    DType.U16: np.dtype(np.uint16),
    DType.U32: np.dtype(np.uint32),
    DType.U64: np.dtype(np.uint64),
    DType.F32: np.dtype(np.float32),
    DType.F64: np.dtype(np.float64),
    DType.C64: np.dtype(np.complex64),
    DType.C128: np.dtype(np.complex128),
}
_FROM_NUMPY = {(dtype.kind, dtype.itemsize): name for name, dtype in _NUMPY.items()}


def from_numpy(dtype: object) -> DType | None:
    """The DType of a NumPy dtype (or what `np.dtype` accepts); None for one the IR has not (float16, object, ...)."""
    resolved = np.dtype(dtype)  # type: ignore[call-overload]
    if not resolved.isnative:
        return None
    return _FROM_NUMPY.get((resolved.kind, resolved.itemsize))


@dataclass(frozen=True)
class ScalarType:
    """The type of one value: its dtype and whether it is weak (Python's) or strong (NumPy's)."""

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return _WEAK_NAMES[self.dtype] if self.weak else self.dtype.value

    @property
    def strong(self) -> ScalarType:
        return ScalarType(self.dtype)

    @property
    def python(self) -> type:
        """The class of Python's that a weak value is of."""
        return _WEAK_PYTHON[self.dtype]


_WEAK_NAMES = {DType.BOOL: "pybool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}

BOOL = ScalarType(DType.BOOL)
PYBOOL = ScalarType(DType.BOOL, weak=True)
INT = ScalarType(DType.I64, weak=True)
FLOAT = ScalarType(DType.F64, weak=True)
COMPLEX = ScalarType(DType.C128, weak=True)
I64 = ScalarType(DType.I64)
F32 = ScalarType(DType.F32)
F64 = ScalarType(DType.F64)
C128 = ScalarType(DType.C128)

_NAMED_TYPES: dict[str, ScalarType] = {str(t): t for t in (PYBOOL, INT, FLOAT, COMPLEX)} | {
    dtype.value: ScalarType(dtype) for dtype in DType
}
_WEAK_PYTHON: dict[DType, type] = {DType.BOOL: bool, DType.I64: int, DType.F64: float, DType.C128: complex}


def type_named(name: str) -> ScalarType:
    """The inverse of `str(type)`."""
    return _NAMED_TYPES[name]


def type_of_value(value: object) -> ScalarType | None:
    """The type of a Python or NumPy scalar; None if the IR has none for it."""
    for python, named in ((bool, PYBOOL), (int, INT), (float, FLOAT), (complex, COMPLEX)):
        if type(value) is python:
            return named
    if isinstance(value, np.generic):
        dtype = from_numpy(value.dtype)
        return None if dtype is None else ScalarType(dtype)
    return None


@cache
def promote(left: ScalarType, right: ScalarType) -> ScalarType:
    """The type both operands are computed in: NumPy 2's promotion, weak operands give way.

    The result is weak only when both are.  `bool` operands of one kind stay bool: what an operator makes of bools
    (`True + True`) is that operator's rule, not promotion's.
    """
    if left.weak and right.weak:
        order = (DType.BOOL, DType.I64, DType.F64, DType.C128)
        return ScalarType(max(left.dtype, right.dtype, key=order.index), weak=True)
    if left.weak or right.weak:
        weak, strong = (left, right) if left.weak else (right, left)
        if weak.dtype is DType.BOOL:
            return strong
        example = _WEAK_PYTHON[weak.dtype](0)
        result = np.result_type(example, strong.dtype.numpy)
    else:
        result = np.result_type(left.dtype.numpy, right.dtype.numpy)
    dtype = from_numpy(result)
    assert dtype is not None  # the IR's dtypes are closed under promotion
    return ScalarType(dtype)


def join(left: ScalarType, right: ScalarType) -> ScalarType:
    """The type of a variable that holds either: as promotion, but weak and strong values of one dtype join strong."""
    return left if left == right else promote(left, right)


def can_cast(source: ScalarType, target: DType, casting: str = "same_kind") -> bool:
    """Whether NumPy lets a value of `source` be stored into `target` under a casting rule."""
    if source.weak:
        kinds = {DType.BOOL: "b", DType.I64: "i", DType.F64: "f", DType.C128: "c"}
        return "biufc".index(kinds[source.dtype]) <= "biufc".index(target.kind) or (
            source.dtype is DType.I64 and target.kind == "u"
        )
    return bool(np.can_cast(source.dtype.numpy, target.numpy, casting=casting))  # type: ignore[arg-type]
