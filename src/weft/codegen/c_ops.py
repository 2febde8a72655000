"""What each operation of the IR is in C, for each kind of dtype: one table.  In: an operation, a dtype, C operands;
out: a C expression, with the helpers and library functions it calls noted in `Used`.

A kind of dtype (b, i, u, f, c) without an entry has no such operation; the front end never builds one.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Union

from weft.codegen import c_foreign, c_pairs, c_vectors
from weft.codegen import syntax as C
from weft.codegen.c_helpers import C_TYPE, LIBRARY_OF_HELPERS, Expansion, expand, unsigned_type
from weft.ir.foreign import FOREIGN
from weft.ir.types import DType
from weft.records import dataclass

# --- what an entry may be -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """The C operator."""

    operator: str


@dataclass(frozen=True)
class Wrapping:
    """The C operator on unsigned operands, converted back: signed overflow has no meaning in C."""

    operator: str


@dataclass(frozen=True)
class Unary:
    """A prefix operator, converted back to the type."""

    operator: str


@dataclass(frozen=True)
class Logic:
    """A logical operation on truth values; both operands are evaluated, which lets loops vectorise."""

    operator: str


@dataclass(frozen=True)
class Helper:
    """A function of c_helpers, named after the operation unless `name` says otherwise."""

    name: str = ""


@dataclass(frozen=True)
class Library:
    """A function of the C library (float32: with the suffix f)."""

    name: str


@dataclass(frozen=True)
class Builtin:
    """A compiler builtin that becomes an instruction."""

    name: str


@dataclass(frozen=True)
class Same:
    """The operand itself."""


@dataclass(frozen=True)
class Fixed:
    """A constant: what an integer's imaginary part is."""

    value: int


Meaning = Union[Plain, Wrapping, Unary, Logic, Helper, Library, Builtin, Same, Fixed]


def _functions(**names: str) -> dict[str, dict[str, Meaning]]:
    """Elementary functions: real ones from libm, complex ones with a c in front."""
    return {op: {"f": Library(name), "c": Library("c" + name)} for op, name in names.items()}


def _comparisons(**operators: str) -> dict[str, dict[str, Meaning]]:
    table: dict[str, dict[str, Meaning]] = {}
    for op, operator in operators.items():
        table[op] = {"biuf": Plain(operator), "c": Plain(operator) if op in ("eq", "ne") else Helper()}
    return table


_TABLE: dict[str, dict[str, Meaning]] = {
    "add": {"b": Plain("|"), "iu": Wrapping("+"), "fc": Plain("+")},
    "sub": {"iu": Wrapping("-"), "fc": Plain("-")},
    "mul": {"b": Plain("&"), "iu": Wrapping("*"), "f": Plain("*"), "c": Helper()},
    "truediv": {"f": Plain("/"), "c": Helper()},
    "floordiv": {"iuf": Helper()},
    "mod": {"iuf": Helper()},
    "fmod": {"iu": Helper(), "f": Library("fmod")},
    "pow": {"iuc": Helper(), "f": Library("pow")},
    "neg": {"iu": Wrapping("-"), "fc": Unary("-")},
    "abs": {"bu": Same(), "i": Helper(), "f": Builtin("fabs"), "c": Helper()},
    **_comparisons(eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">="),
    "and": {"biufc": Logic("&")},
    "or": {"biufc": Logic("|")},
    "not": {"biufc": Logic("!")},
    "bitand": {"biu": Plain("&")},
    "bitor": {"biu": Plain("|")},
    "bitxor": {"biu": Plain("^")},
    "invert": {"b": Logic("!"), "iu": Unary("~")},
    "shl": {"iu": Helper()},
    "shr": {"iu": Helper()},
    "minimum": {"b": Plain("&"), "iufc": Helper()},
    "maximum": {"b": Plain("|"), "iufc": Helper()},
    "fmin": {"b": Plain("&"), "iu": Helper("minimum"), "fc": Helper()},
    "fmax": {"b": Plain("|"), "iu": Helper("maximum"), "fc": Helper()},
    "sqrt": {"f": Builtin("sqrt"), "c": Library("csqrt")},
    **_functions(sin="sin", cos="cos", tan="tan", sinh="sinh", cosh="cosh", tanh="tanh", exp="exp", log="log"),
    **_functions(arcsin="asin", arccos="acos", arctan="atan", arcsinh="asinh", arccosh="acosh", arctanh="atanh"),
    "cbrt": {"f": Library("cbrt")},
    "exp2": {"f": Library("exp2"), "c": Helper()},
    "expm1": {"f": Library("expm1"), "c": Helper()},
    "log2": {"f": Library("log2"), "c": Helper()},
    "log10": {"f": Library("log10"), "c": Helper()},
    "log1p": {"f": Library("log1p"), "c": Helper()},
    "arctan2": {"f": Library("atan2")},
    "hypot": {"f": Library("hypot")},
    "norm2": {"f": Helper()},
    "norm3": {"f": Helper()},
    "erf": {"f": Library("erf")},
    "erfc": {"f": Library("erfc")},
    "gamma": {"f": Helper()},
    "lgamma": {"f": Helper()},
    "floor": {"biu": Same(), "f": Builtin("floor")},
    "ceil": {"biu": Same(), "f": Builtin("ceil")},
    "trunc": {"biu": Same(), "f": Builtin("trunc")},
    "rint": {"iu": Same(), "f": Builtin("rint"), "c": Helper()},
    "copysign": {"f": Builtin("copysign")},
    "nextafter": {"f": Library("nextafter")},
    "sign": {"iufc": Helper()},
    "isnan": {"biu": Fixed(0), "f": Builtin("isnan"), "c": Helper()},
    "isinf": {"biu": Fixed(0), "fc": Helper()},
    "isfinite": {"biu": Fixed(1), "fc": Helper()},
    "signbit": {"bu": Fixed(0), "if": Helper()},
    "conj": {"biuf": Same(), "c": Unary("~")},
    "real": {"biuf": Same(), "c": Unary("__real__ ")},
    "imag": {"biuf": Fixed(0), "c": Unary("__imag__ ")},
    "complex": {"f": Builtin("complex")},
    "gcd": {"iu": Helper()},
    "lcm": {"iu": Helper()},
    "ldexp": {"f": Helper()},
    "mantissa": {"f": Helper()},
    "exponent": {"f": Helper()},
    "remainder": {"f": Library("remainder")},
    "bitcount": {"iu": Helper()},
    "ratio": {"i": Helper()},
}

#: Operation and kind to meaning, the table spelt out.
MEANING: dict[tuple[str, str], Meaning] = {
    (op, kind): meaning for op, entries in _TABLE.items() for kinds, meaning in entries.items() for kind in kinds
}

#: Functions of which every library rounds the last place in its own way, with the kinds of their operands.
_ROUNDED = {op for (op, kind), m in MEANING.items() if kind == "f" and isinstance(m, Library)} | {"gamma", "lgamma"}
ROUNDED = frozenset(
    {(op, kind) for op, kind in MEANING if kind in "fc" and op in _ROUNDED - {"fmod", "nextafter", "remainder"}}
    | {("sqrt", "c")}
)

_CALLED = {m.name for m in MEANING.values() if isinstance(m, Library)} | LIBRARY_OF_HELPERS
#: Every function of the C library that generated code may call: names that no variable may have.
LIBRARY_NAMES = frozenset(_CALLED | {f"{name}f" for name in _CALLED})

#: The operations on Python integers that can leave 64 bits: these helpers take the address of the overflow flag.
CHECKED: dict[str, str] = {
    op: f"{op}_checked" for op in ("add", "sub", "mul", "neg", "abs", "floordiv", "pow", "shl", "gcd", "lcm")
}

#: Those of them that vectors can do.
CHECKED_IN_VECTORS = frozenset(f"{op}_checked_i64" for op in ("add", "sub", "neg", "line"))

_WEAK_MEANING: dict[tuple[str, str], Meaning] = {("truediv", "c"): Helper("pydiv")}

# Builtins that take any floating type, without a suffix for float32.
_GENERIC_BUILTINS = frozenset({"isnan", "complex"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Vector variants in libmvec, by the glibc that brought them.
_LIBMVEC_OLD = _words("sin cos exp log pow")
_LIBMVEC_NEW = _words(
    "acos acosh asin asinh atan atanh cbrt cosh erf erfc exp2 expm1 log10 log1p log2 sinh tan tanh atan2 hypot"
)
_TWO_ARGUMENTS = frozenset({"pow", "fmod", "atan2", "hypot", "nextafter", "remainder"})


@dataclass(frozen=True)
class CFeatures:
    """What compiler and C library offer beyond the language: `libmvec`, with the version of its glibc, and the letter
    of the widest vectors that the compiler calls it for (none: it takes libmvec's functions by their own names)."""

    libmvec: bool = False
    glibc: tuple[int, int] = (2, 22)
    widest: str = ""

    def vector_functions(self) -> frozenset[str]:
        """The functions of libm that have vector variants here."""
        if not self.libmvec or self.glibc < (2, 22):
            return frozenset()
        return _LIBMVEC_OLD if self.glibc < (2, 35) else _LIBMVEC_OLD | _LIBMVEC_NEW


@dataclass
class Used:
    """The helpers and library functions a translation unit calls, in the order in which they must be defined; `vector`:
    those functions whose name means the one for vectors; `pairs`: complex numbers are pairs (see c_pairs)."""

    vector: frozenset[str] = frozenset()
    pairs: bool = False
    helpers: dict[tuple[str, DType], str] = field(default_factory=dict)
    library: dict[str, None] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)  # functions of other libraries: the C of each, by its key

    def helper(self, name: str, dtype: DType, alone: bool = False) -> str:
        """Note a helper, everything it needs before it; its C name. `alone`: see `function`."""
        if alone and self._has_vectors(name, dtype):
            return self._alone(name, dtype)
        if (name, dtype) not in self.helpers:
            expansion = self._expansion(name, dtype)
            for function in expansion.library:
                self.library[function] = None
            for needed, of in expansion.needs:
                self.helper(needed, of)
            self.helpers[name, dtype] = expansion.text
        return f"{name}_{C_TYPE[dtype]}"

    def _expansion(self, name: str, dtype: DType) -> Expansion:
        in_pairs = self.pairs and dtype.is_complex
        return c_pairs.expand_pairs(name, dtype) if in_pairs else expand(name, dtype)

    def _has_vectors(self, name: str, dtype: DType) -> bool:
        """Whether a helper, or one that it needs, calls a function whose name means the one for vectors."""
        found = self._expansion(name, dtype)
        own = any(function in self.vector or function.removesuffix("f") in self.vector for function in found.library)
        return own or any(self._has_vectors(*needed) for needed in found.needs)

    def _alone(self, name: str, dtype: DType) -> str:
        """The helper with libm's own functions in the place of those for vectors."""
        key, of = f"{name}_alone", C_TYPE[dtype]
        if (key, dtype) not in self.helpers:
            expansion = self._expansion(name, dtype)
            renamed = {f"{name}_{of}": f"{key}_{of}"}
            for needed, kind in expansion.needs:
                renamed[f"{needed}_{C_TYPE[kind]}"] = self.helper(needed, kind, alone=True)
            for function in expansion.library:
                base = function if function in self.vector else function.removesuffix("f")
                renamed[function] = c_vectors.SCALAR + function if base in self.vector else function
                self.library[renamed[function]] = None
            text = re.sub(r"\b(\w+)\(", lambda call: renamed.get(call[1], call[1]) + "(", expansion.text)
            self.helpers[key, dtype] = text
        return f"{key}_{of}"

    def function(self, name: str, dtype: DType, alone: bool = False) -> str:
        """Note a function of libm; its name for the dtype. `alone`: of single numbers, never in vectors."""
        full = name + ("f" if dtype in (DType.F32, DType.C64) else "")
        if alone and name in self.vector:
            full = c_vectors.SCALAR + full
        self.library[full] = None
        return full

    def text(self, text: str) -> None:
        """Note a piece of C that stands before all functions: a support routine without a dtype."""
        self.texts[text] = None


def prototype(function: str, features: CFeatures, vector: frozenset[str]) -> str:
    """The declaration of a function of libm; of one in `vector`, with its variants for vectors."""
    name = function.removeprefix(c_vectors.SCALAR)
    base, real = (name[:-1], "f32") if name.endswith("f") and name != "erf" else (name, "f64")
    name_of_complex = base.startswith("c") and base[1:] in _COMPLEX_BASES
    kind = {"f32": "c64", "f64": "c128"}[real] if name_of_complex else real
    count = 2 if base in _TWO_ARGUMENTS or base == "cpow" else 1
    in_vectors = base in vector and not name_of_complex
    if name != function:
        return c_vectors.libm(name, kind, count)
    if in_vectors and features.widest:
        return c_vectors.even(name, real, count, features.widest)
    # lgamma stores the sign in a global variable: the only one with an effect.
    attribute = "" if base == "lgamma" else " __attribute__((const))"
    text = f"extern {kind} {function}({', '.join([kind] * count)}){attribute};"
    return f"#pragma omp declare simd notinbranch\n{text}" if in_vectors else text


_COMPLEX_BASES = _words("sqrt exp log pow sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh")


# --- building expressions -------------------------------------------------------------------------------------------


def truth(value: C.CExpr, dtype: DType, used: Used) -> C.CExpr:
    """Whether a value is not zero, as 0 or 1."""
    if used.pairs and dtype.is_complex:
        return C.Invoke(used.helper("truth", dtype), (value,))
    return value if dtype is DType.BOOL else C.Infix("!=", value, C.Number("0"))


def _wrapping(operator: str, dtype: DType, args: tuple[C.CExpr, ...]) -> C.CExpr:
    if dtype in (DType.U32, DType.U64):  # unsigned and not promoted: wraps by itself
        return C.Infix(operator, *args) if len(args) == 2 else C.Prefix(operator, args[0])
    unsigned = unsigned_type(dtype)
    operands = tuple(C.Convert(unsigned, arg) for arg in args)
    inner = C.Infix(operator, *operands) if len(args) == 2 else C.Prefix(operator, operands[0])
    return C.Convert(C_TYPE[dtype], inner)


def _logic(operator: str, dtype: DType, args: tuple[C.CExpr, ...], used: Used) -> C.CExpr:
    values = tuple(truth(arg, dtype, used) for arg in args)
    return C.Infix(operator, *values) if len(values) == 2 else C.Prefix(operator, values[0])


def _builtin(name: str, dtype: DType, args: tuple[C.CExpr, ...]) -> C.CExpr:
    suffix = "f" if dtype is DType.F32 and name not in _GENERIC_BUILTINS else ""
    return C.Invoke(f"__builtin_{name}{suffix}", args)


def build(
    op: str, dtype: DType, args: tuple[C.CExpr, ...], used: Used, weak: bool = False, alone: bool = False
) -> C.CExpr:
    """The C expression of an operation on operands of `dtype` (`select` aside: it is C's own conditional).

    `alone`: of single numbers, for which functions are libm's, as in Python's own `math`.
    """
    if op in FOREIGN:
        return C.Invoke(c_foreign.note(FOREIGN[op], dtype, used.foreign), args)
    meaning = _WEAK_MEANING.get((op, dtype.kind)) if weak else None
    meaning = meaning or MEANING[op, dtype.kind]
    if used.pairs and dtype.is_complex and op in c_pairs.MEANING:
        meaning = Helper(c_pairs.MEANING[op])
    if used.pairs and op == "complex":
        return C.Invoke(f"make_{C_TYPE[dtype.complex]}", args)
    if isinstance(meaning, Plain):
        plain = C.Infix(meaning.operator, *args)
        narrow = dtype.is_integer and dtype.size < 4 and meaning.operator in "&|^"
        return C.Convert(C_TYPE[dtype], plain) if narrow else plain
    if isinstance(meaning, Wrapping):
        return _wrapping(meaning.operator, dtype, args)
    if isinstance(meaning, Unary):
        unary = C.Prefix(meaning.operator, args[0])
        return C.Convert(C_TYPE[dtype], unary) if dtype.is_integer else unary
    if isinstance(meaning, Logic):
        return _logic(meaning.operator, dtype, args, used)
    if isinstance(meaning, Helper):
        return C.Invoke(used.helper(meaning.name or op, dtype, alone), args)
    if isinstance(meaning, Library):
        return C.Invoke(used.function(meaning.name, dtype, alone), args)
    if isinstance(meaning, Builtin):
        return _builtin(meaning.name, dtype, args)
    if isinstance(meaning, Fixed):
        return C.Number(str(meaning.value))
    return args[0]


def build_checked(op: str, args: tuple[C.CExpr, ...], flag: str, used: Used) -> C.CExpr:
    """An operation on Python integers that notes in `flag` that it went beyond 64 bits."""
    return C.Invoke(used.helper(CHECKED[op], DType.I64), (*args, C.Prefix("&", C.Name(flag))))


def cast(value: C.CExpr, source: DType, target: DType, used: Used) -> C.CExpr:
    """`value` converted as NumPy's astype does on this machine."""
    if source is target:
        return value
    if target is DType.BOOL:
        return truth(value, source, used)
    if source is DType.C128 and target is DType.C64:
        return C.Invoke(used.helper("narrowed", source), (value,))
    if target.is_complex and used.pairs:
        if source.is_complex:
            return C.Invoke(used.helper("widened", source), (value,))
        part = C.Convert(C_TYPE[target.real], value)
        return C.Invoke(f"make_{C_TYPE[target]}", (part, C.Number("0")))
    if target.is_complex:
        return C.Convert(C_TYPE[target], value)
    if source.is_complex:
        return cast(build("real", source, (value,), used), source.real, target, used)
    if source.is_float and target is DType.U64:
        return C.Invoke(used.helper("unsigned", source), (value,))
    if source.is_float and target.is_integer and target not in (DType.I32, DType.I64):
        # As NumPy's loops: narrow integers are cut from the conversion to 32 bits, unsigned 32 from that to 64.
        value = C.Convert("i64" if target is DType.U32 else "i32", value)
    return C.Convert(C_TYPE[target], value)


def cast_checked(value: C.CExpr, source: DType, flag: str, used: Used) -> C.CExpr:
    """`value` as a Python integer, which it may be too large for."""
    name = "int_checked" if source.is_float else "int_checked_from"
    return C.Invoke(used.helper(name, source), (value, C.Prefix("&", C.Name(flag))))


# --- literals -------------------------------------------------------------------------------------------------------


def _float_literal(value: float, suffix: str) -> C.CExpr:
    if value != value:
        return C.Number(f'__builtin_nan{suffix}("")')
    if value in (float("inf"), float("-inf")):
        infinity = C.Number(f"__builtin_inf{suffix}()")
        return infinity if value > 0 else C.Prefix("-", infinity)
    text = repr(value)
    if text.startswith("-"):
        return C.Prefix("-", _float_literal(-value, suffix))
    return C.Number(text + suffix if "." in text or "e" in text or "n" in text else text + ".0" + suffix)


def literal(value: bool | int | float | complex, dtype: DType, pairs: bool = False) -> C.CExpr:
    """A constant of a dtype; `pairs`: complex ones are pairs."""
    import numpy as np

    if dtype is DType.BOOL:
        return C.Number("1" if value else "0")
    if dtype.is_integer:
        assert isinstance(value, int)
        plain = C.number(int(value))
        # A small literal stays a C int: operators convert it, and a comparison does not become an unsigned one.
        return plain if dtype is DType.I64 or abs(value) < 2**31 else C.Convert(C_TYPE[dtype], plain)
    if dtype.is_complex:
        parts = complex(value)
        single = dtype is DType.C64
        real, imag = (float(np.float32(p)) if single else p for p in (parts.real, parts.imag))
        suffix = "f" if single else ""
        make = f"make_{C_TYPE[dtype]}" if pairs else "__builtin_complex"
        return C.Invoke(make, (_float_literal(real, suffix), _float_literal(imag, suffix)))
    assert not isinstance(value, complex)
    if dtype is DType.F32:
        with np.errstate(over="ignore"):
            return _float_literal(float(np.float32(value)), "f")
    return _float_literal(float(value), "")
