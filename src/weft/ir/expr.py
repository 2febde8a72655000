"""Scalar expressions: pure, total, typed.  Every later stage reads values in this form and no other.

Grammar
    Expr  := Const | Var | Read | Op | Cast | Reduce
    Const    a literal of its type
    Var      an index: a dimension of an enclosing domain or loop, or a symbol (a size or an integer argument);
             always a Python integer that the entry guards keep below 2**40 in magnitude, so that affine arithmetic
             cannot overflow
    Read     one element of a buffer (rank 0: a scalar variable)
    Op       an operation of the table in `ops`, on operands of one dtype (operands are cast explicitly)
    Cast     conversion to another type, as NumPy's `astype`
    Reduce   op over every point of its own dimensions, starting from the operation's identity;
             an empty reduction is the identity (for min and max the front end has put a Check before)

Semantics
    Integer arithmetic of a strong type wraps.  Arithmetic of the weak type `int` is Python's: a result outside 64 bits
    is detected and never observed (see `Op`).  Integer division by zero is 0: where Python would raise, a Check stands
    before the statement.  `select` is lazy: only the chosen branch is evaluated, so the other may read out of bounds.
    Float rules: IEEE, NaN and signed zeros kept; only the terms of a Reduce may be reassociated.
Spans never take part in equality: two spellings of one expression are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from weft.errors import NOWHERE, Span
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, ScalarType
from weft.records import dataclass, hash_once


@dataclass(frozen=True)
class Expr:
    """Base of all scalar expressions; `type` is a field or a property of each."""

    @property
    def type(self) -> ScalarType:
        raise NotImplementedError


@dataclass(frozen=True)
class Const(Expr):
    """A literal; `value` is a Python scalar whatever the type (equality tells 0.0 from -0.0, 1 from 1.0 and True)."""

    value: bool | int | float | complex
    of: ScalarType
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        return self.of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.of == other.of and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((repr(self.value), self.of))


@dataclass(frozen=True)
class Var(Expr):
    """An index variable or symbol: a Python integer."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        return INT


@dataclass(frozen=True)
class Limit(Expr):
    """A number of the machine by which code chooses at run time: an entry of `weft.limits`.  No result depends on it
    but in the order of sums."""

    name: str

    @property
    def type(self) -> ScalarType:
        return FLOAT


@hash_once
@dataclass(frozen=True)
class Read(Expr):
    """One element of a buffer, at `index` (one expression a dimension, already within bounds and non-negative)."""

    buffer: str
    index: tuple[Expr, ...]
    of: ScalarType
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        return self.of


@hash_once
@dataclass(frozen=True)
class Op(Expr):
    """An operation of the table; all operands of the operation's operand type, result type `of`.

    A weak-integer result is checked for overflow by every back end unless `analysis.ranges` proves it in range.
    """

    op: str
    args: tuple[Expr, ...]
    of: ScalarType
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        return self.of


@hash_once
@dataclass(frozen=True)
class Cast(Expr):
    """`value` converted to type `of`."""

    value: Expr
    of: ScalarType
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        return self.of


@hash_once
@dataclass(frozen=True)
class Dim:
    """A dense dimension: `var` takes lo, lo+step, ... while below hi (above hi if step < 0)."""

    var: str
    lo: Expr
    hi: Expr
    step: int = 1


@dataclass(frozen=True)
class CompressedDim:
    """A compressed level: `position` runs over pointer[parent] .. pointer[parent+1], `var` is coordinate[position].

    `parent` is the index of the row (or of the fibre above), an expression over outer dimensions.  The coordinates of
    one parent are distinct, so that a write at them touches each element once.
    """

    var: str
    position: str
    pointer: str
    coordinate: str
    parent: Expr


AnyDim = Dim | CompressedDim
Domain = tuple[AnyDim, ...]


@hash_once
@dataclass(frozen=True)
class Reduce(Expr):
    """The reduction of `value` over `dims` by an associative operation (add, mul, minimum, maximum, and, or,
    argmin/argmax: see ops.REDUCTIONS)."""

    op: str
    dims: Domain
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def type(self) -> ScalarType:
        from weft.ir.ops import REDUCTIONS

        return REDUCTIONS[self.op].result(self.value.type)


ZERO = Const(0, INT)
ONE = Const(1, INT)
TRUE = Const(True, BOOL)


def integer(value: int) -> Const:
    return Const(value, INT)


def real(value: float) -> Const:
    return Const(value, FLOAT)


def boolean(value: bool) -> Const:
    return Const(value, PYBOOL)


def var(name: str) -> Var:
    return Var(name)


def is_const(expr: Expr, value: object = None) -> bool:
    """Whether `expr` is a literal (equal to `value`, if one is given)."""
    return isinstance(expr, Const) and (value is None or expr.value == value)


def dim_vars(domain: Iterable[AnyDim]) -> tuple[str, ...]:
    """The variables that a domain binds, positions of compressed levels included."""
    names: list[str] = []
    for dim in domain:
        if isinstance(dim, CompressedDim):
            names.append(dim.position)
        names.append(dim.var)
    return tuple(names)
