"""`numba.types`: names of types.  In: `float64[:, ::1]`, `int64(float64)`, "void(f8[:], i8)"; out: objects that say
which types a signature names, that are dtypes for NumPy, and that convert a number when they are called with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from weft.compat.numba.core.errors import TypingError


class Type:
    """A type; equal to another one of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __getitem__(self, key: Any) -> Array:
        """float64[:]: an array of it, float64[:, ::1] one in C order, float64[::1, :] in Fortran order."""
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(part, slice) and part.start is None and part.stop is None for part in parts):
            raise TypingError(f"{self.name}[{key!r}] is no array type: write {self.name}[:], {self.name}[:, ::1]")
        layout = "C" if parts[-1].step == 1 else "F" if parts[0].step == 1 else "A"
        return Array(self, len(parts), layout)

    def __call__(self, *args: Any) -> Any:
        """float64(int64): a signature."""
        return Signature(self, args)


class Opaque(Type):
    """A type that is only named: functions, objects, modules."""


class Number(Type):
    """A type of numbers: also a dtype, and a conversion."""

    def __init__(self, name: str, scalar: type[np.generic], py_func: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self.dtype = np.dtype(scalar)
        self.scalar = scalar
        # weft compiles a call of an object that has a `py_func` as a call of that.
        self.py_func = py_func

    @property
    def bitwidth(self) -> int:
        return self.dtype.itemsize * 8

    @property
    def minval(self) -> int:
        return int(np.iinfo(self.dtype).min)

    @property
    def maxval(self) -> int:
        return int(np.iinfo(self.dtype).max)

    @property
    def signed(self) -> bool:
        return self.dtype.kind == "i"

    def __call__(self, *args: Any) -> Any:
        if len(args) == 1 and not isinstance(args[0], Type):
            return self.py_func(args[0])
        return Signature(self, args)


class Integer(Number):
    """int64 and so on."""


class Float(Number):
    """float32, float64."""


class Complex(Number):
    """complex64, complex128."""


class Boolean(Number):
    """boolean"""


class NoneType(Type):
    """void, none"""


class UnicodeType(Type):
    """str"""


class DeferredType(Type):
    """A type that a jitclass defines later."""

    def __init__(self, name: str = "deferred") -> None:
        super().__init__(name)

    def define(self, _: Any) -> None:
        """Nothing depends on it."""


class Array(Type):
    """An array of a type of numbers, with a rank and an order."""

    def __init__(
        self, dtype: Type, ndim: int, layout: str, readonly: bool = False, name: str | None = None, aligned: bool = True
    ) -> None:
        self.dtype, self.ndim, self.layout, self.mutable, self.aligned = dtype, ndim, layout, not readonly, aligned
        super().__init__(name or f"array({dtype!r}, {ndim}d, {layout})")


class Sized(Type):
    """Tuples, lists, sets and dicts: what they hold is in `items`."""

    def __init__(self, name: str, items: Iterable[Any]) -> None:
        self.items = tuple(items)
        super().__init__(f"{name}({', '.join(map(repr, self.items))})")


class BaseTuple(Sized):
    """Any tuple."""

    @property
    def count(self) -> int:
        return len(self.items)

    @property
    def types(self) -> tuple[Any, ...]:
        return self.items

    def __len__(self) -> int:
        return len(self.items)


class Tuple(BaseTuple):
    """Tuple((int64, float64))"""

    def __init__(self, items: Iterable[Any]) -> None:
        super().__init__("Tuple", items)
        if self.items and all(item == self.items[0] for item in self.items):
            self.name, self.dtype = f"UniTuple({self.items[0]!r} x {len(self.items)})", self.items[0]


class UniTuple(Tuple):
    """UniTuple(int64, 3)"""

    def __init__(self, dtype: Type, count: int) -> None:
        super().__init__((dtype,) * count)
        self.dtype = dtype


class ListType(Sized):
    """What numba.typed.List holds; here a plain list."""

    def __init__(self, item_type: Type) -> None:
        super().__init__("ListType", (item_type,))
        self.item_type = self.dtype = item_type


class List(Sized):
    """A reflected list."""

    def __init__(self, dtype: Type, reflected: bool = False) -> None:
        super().__init__("list", (dtype,))
        self.dtype, self.reflected = dtype, reflected


class Set(Sized):
    """A set."""

    def __init__(self, dtype: Type, reflected: bool = False) -> None:
        super().__init__("set", (dtype,))
        self.dtype, self.reflected = dtype, reflected


class DictType(Sized):
    """What numba.typed.Dict holds; here a plain dict."""

    def __init__(self, key_type: Type, value_type: Type) -> None:
        super().__init__("DictType", (key_type, value_type))
        self.key_type, self.value_type = key_type, value_type


class CPointer(Sized):
    """A pointer of C to values of a type."""

    def __init__(self, dtype: Type) -> None:
        super().__init__("CPointer", (dtype,))
        self.dtype = dtype


class Record(Type):
    """An element of an array with fields; weft leaves such arrays to Python."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.fields = {name: of_dtype(dtype[name]) for name in dtype.names or ()}
        super().__init__(f"Record({', '.join(f'{name}: {kind!r}' for name, kind in self.fields.items())})")


class Optional(Sized):
    """A value or None."""

    def __init__(self, type: Type) -> None:
        super().__init__("OptionalType", (type,))
        self.type = type


class FunctionType(Sized):
    """A function of a signature."""

    def __init__(self, signature: Any) -> None:
        super().__init__("FunctionType", (signature,))
        self.signature = signature


class StructRef(Sized):
    """A structure: pairs of a field and its type."""

    def __init__(self, fields: Iterable[Any]) -> None:
        super().__init__("StructRef", fields)


class Omitted(Type):
    """An argument that is left out, with its default value."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"omitted(default={value!r})")
        self.value = value


class Literal(Type):
    """A value that is its own type."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"Literal({value!r})")
        self.literal_value = value


class Signature:
    """What a function takes and gives; `return_type` is None where only the arguments are said."""

    def __init__(self, return_type: Any, args: Iterable[Any]) -> None:
        self.return_type, self.args = return_type, tuple(args)

    def __repr__(self) -> str:
        given = ", ".join(map(repr, self.args)) + "," * (len(self.args) == 1)
        return f"({given})" if self.return_type is None else f"({given}) -> {self.return_type!r}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and (self.return_type, self.args) == (other.return_type, other.args)

    def __hash__(self) -> int:
        return hash((self.return_type, self.args))


# Written out one by one: a conversion inside a compiled function is compiled from the lines here.


def _boolean(value: Any) -> Any:
    return np.bool_(value)


def _int8(value: Any) -> Any:
    return np.int8(value)


def _int16(value: Any) -> Any:
    return np.int16(value)


def _int32(value: Any) -> Any:
    return np.int32(value)


def _int64(value: Any) -> Any:
    return np.int64(value)


def _uint8(value: Any) -> Any:
    return np.uint8(value)


def _uint16(value: Any) -> Any:
    return np.uint16(value)


def _uint32(value: Any) -> Any:
    return np.uint32(value)


def _uint64(value: Any) -> Any:
    return np.uint64(value)


def _float32(value: Any) -> Any:
    return np.float32(value)


def _float64(value: Any) -> Any:
    return np.float64(value)


def _complex64(value: Any) -> Any:
    return np.complex64(value)


def _complex128(value: Any) -> Any:
    return np.complex128(value)


boolean = bool_ = b1 = Boolean("bool", np.bool_, _boolean)
int8 = i1 = char = Integer("int8", np.int8, _int8)
int16 = i2 = short = Integer("int16", np.int16, _int16)
int32 = i4 = intc = int_c = Integer("int32", np.int32, _int32)
int64 = i8 = intp = int_ = long_ = longlong = ssize_t = Integer("int64", np.int64, _int64)
uint8 = u1 = byte = uchar = Integer("uint8", np.uint8, _uint8)
uint16 = u2 = ushort = Integer("uint16", np.uint16, _uint16)
uint32 = u4 = uintc = Integer("uint32", np.uint32, _uint32)
uint64 = u8 = uintp = uint = ulong = ulonglong = size_t = Integer("uint64", np.uint64, _uint64)
float32 = f4 = float_ = Float("float32", np.float32, _float32)
float64 = f8 = double = Float("float64", np.float64, _float64)
complex64 = c8 = Complex("complex64", np.complex64, _complex64)
complex128 = c16 = Complex("complex128", np.complex128, _complex128)
void = none = NoneType("none")
unicode_type = string = UnicodeType("unicode_type")
voidptr = Opaque("void*")
pyobject = Opaque("pyobject")
deferred_type = DeferredType
undefined = Opaque("undefined")
optional = Optional

#: What `from numba import float64` finds.
_SCALARS = (
    "boolean bool_ b1 int8 i1 char int16 i2 short int32 i4 intc int64 i8 intp int_ long_ longlong uint8 u1 byte uchar "
    "uint16 u2 ushort uint32 u4 uintc uint64 u8 uintp uint ulong ulonglong float32 f4 float_ float64 f8 double "
    "complex64 c8 complex128 c16 void none deferred_type optional"
)
__all__ = [*_SCALARS.split()]  # noqa: PLE0604 (strings)

_NAMES: dict[str, Any] = {name: value for name, value in list(globals().items()) if isinstance(value, Type)}
_NAMES |= {kind.__name__: kind for kind in (Array, Tuple, UniTuple, ListType, DictType, List, Set)}
_NAMES |= {kind.__name__: kind for kind in (Optional, Omitted, CPointer)}


def parsed(signature: Any) -> Signature:
    """A signature from what decorators take: text, a Signature, a tuple of types; TypingError if it is none."""
    if isinstance(signature, str):
        try:
            found = eval(signature, {"__builtins__": {}, "types": _Names, **_NAMES})
        except Exception as problem:
            raise TypingError(f"the signature {signature!r} cannot be read: {problem}") from None
        if isinstance(found, Type) and "(" not in signature:
            found = (found,)
        return parsed(found)
    if isinstance(signature, Signature):
        return signature
    if isinstance(signature, tuple):
        return Signature(None, signature)
    raise TypingError(f"{signature!r} is no signature: write float64(float64[:], int64)")


class _Names:
    """`types` inside the text of a signature."""


for _name, _value in _NAMES.items():
    setattr(_Names, _name, _value)


def of_dtype(dtype: Any) -> Type:
    """The type of elements of a NumPy dtype."""
    wanted = np.dtype(dtype)
    if wanted.names:
        return Record(wanted)
    for found in (boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64):
        if found.dtype == wanted:
            return found
    return {np.dtype(np.complex64): complex64, np.dtype(np.complex128): complex128}.get(wanted, Opaque(str(wanted)))


def from_dtype(dtype: Any) -> Type:
    """`numba.from_dtype`"""
    return of_dtype(dtype)


def typeof(value: Any) -> Type:
    """The type that Numba gives a value."""
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return Array(of_dtype(value.dtype), value.ndim, layout, not value.flags.writeable)
    if isinstance(value, np.generic):
        return of_dtype(value.dtype)
    if value is None:
        return none
    if isinstance(value, tuple):
        return Tuple(map(typeof, value))
    if isinstance(value, list):
        return List(typeof(value[0]) if value else undefined, True)
    if isinstance(value, (set, frozenset)):
        return Set(typeof(next(iter(value))) if value else undefined, True)
    if isinstance(value, dict):
        key = next(iter(value), None)
        return DictType(typeof(key), typeof(value[key])) if value else DictType(undefined, undefined)
    simple = {bool: boolean, int: int64, float: float64, complex: complex128, str: unicode_type}
    return simple.get(type(value), Opaque(type(value).__name__))
