"""Expressions in C.  In: expressions of the IR and the storage of each buffer; out: C expressions.

Two contexts.  A *value* follows NumPy and Python exactly, with an overflow check where a Python integer might leave 64
bits.  An *index* is known to be in bounds, and sums and products modulo 2**64 give the right index whatever happened in
between: it is plain signed arithmetic, which compilers vectorise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Set
from dataclasses import field
from fractions import Fraction

from weft.analysis import ranges
from weft.analysis.floats import without_nan
from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.c_helpers import C_TYPE
from weft.ir.expr import Cast, Const, Expr, Limit, Op, Read, Var, is_const
from weft.ir.index import affine, canonical
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Buffer, Layout, Program, Stmt
from weft.ir.types import INT, DType, ScalarType
from weft.ir.walk import children, node_exprs, reads, subexpressions, walk
from weft.limits import POSITION
from weft.records import dataclass

#: Names of the generated code's own variables begin so; the user's never do.
OWN = "k_"
OVERFLOW, RT = f"{OWN}overflow", f"{OWN}rt"

_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof
main kernel weft_rt linux unix"""
#: Comparisons, and what they are with their operands exchanged.
_IF_A_NUMBER = {"maximum": "above", "minimum": "below"}
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_RESERVED = frozenset(_KEYWORDS.split()) | frozenset(C_TYPE.values()) | c_ops.LIBRARY_NAMES


@dataclass
class Names:
    """C names for the names of a program: the same wherever C allows it, and never twice."""

    given: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def of(self, name: str) -> str:
        """The C name of a buffer, symbol or dimension."""
        if name not in self.given:
            self.given[name] = self.fresh(name)
        return self.given[name]

    def own(self, hint: str) -> str:
        """A new name for a variable of the generated code's own."""
        return self._unique(OWN + hint)

    def fresh(self, hint: str) -> str:
        """A new name like `hint`."""
        text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in hint)
        # Helper functions are named operation_type: no variable may look like one.
        suspicious = text in _RESERVED or not text.isidentifier()
        if (
            suspicious
            or text.startswith((OWN, "__", "weft"))
            or re.search(r"_(b8|[iu](8|16|32|64)|f32|f64|c64|c128)$", text)
        ):
            text += "_v"
        return self._unique(text)

    def _unique(self, text: str) -> str:
        candidate, count = text, 1
        while candidate in self.taken:
            count += 1
            candidate = f"{text}_{count}"
        self.taken.add(candidate)
        return candidate


@dataclass(frozen=True)
class Storage:
    """Where a buffer's elements are: a scalar variable, or a pointer with extents and (if strided) stride variables."""

    buffer: Buffer
    name: str
    layout: Layout
    extents: tuple[C.CExpr, ...] = ()
    strides: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()  # those extents that are not fixed at entry: variables set by each allocation
    owner: str | None = None  # the variable that holds allocated memory to release, if the buffer may own some

    @property
    def type(self) -> str:
        return C_TYPE[self.buffer.type.dtype]

    def stride(self, axis: int) -> C.CExpr:
        """The distance in elements between neighbours along an axis."""
        if self.layout is Layout.STRIDED:
            return C.Name(self.strides[axis])
        inner = range(axis + 1, self.buffer.rank) if self.layout is Layout.C else range(axis)
        result: C.CExpr = C.Number("1")
        for other in inner:
            result = C.times(result, self.extents[other])
        return result

    def offset(self, index: tuple[C.CExpr, ...]) -> C.CExpr:
        """The distance of an element from the pointer."""
        total: C.CExpr = C.Number("0")
        if self.layout is Layout.STRIDED:
            for axis, position in enumerate(index):
                total = C.plus(total, C.times(position, C.Name(self.strides[axis])))
            return total
        axes = range(len(index)) if self.layout is Layout.C else reversed(range(len(index)))
        for axis in axes:
            total = C.plus(C.times(total, self.extents[axis]), index[axis])
        return total


def _undivided(row: Expr, column: Expr, size: Expr) -> Expr | None:
    """(e // n, e % n) in rows of n elements: e."""
    if not (isinstance(row, Op) and isinstance(column, Op) and (row.op, column.op) == ("floordiv", "mod")):
        return None
    return row.args[0] if row.args == column.args and row.args[1] == size else None


_RING = {"add": "+", "sub": "-", "mul": "*"}
_WHOLE = frozenset({DType.I8, DType.I16, DType.I32, DType.I64, DType.U8, DType.U16, DType.U32})
#: Integers that a double holds.
_EXACT = ranges.Interval(-(2**53), 2**53)
_SMALL_POWERS = {2: "square", 3: "cube", 4: "fourth"}


def _is_literal(value: C.CExpr) -> bool:
    return isinstance(value, C.Number) or (isinstance(value, C.Prefix) and _is_literal(value.operand))


def _signed(op: str, args: tuple[C.CExpr, ...]) -> C.CExpr:
    """Integer arithmetic known not to overflow."""
    if op == "neg":
        return C.Prefix("-", args[0])
    left, right = args
    if _is_literal(left) and _is_literal(right):
        left = C.Convert("i64", left)  # two literals are C ints, their product may not be
    if op == "add":
        return C.plus(left, right)
    return C.times(left, right) if op == "mul" else C.Infix(_RING[op], left, right)


def truncates(program: Program) -> bool:
    """Whether a program makes integers of floats."""
    parts = (part for node in walk(program.body) for expr in node_exprs(node) for part in subexpressions(expr))
    return any(
        isinstance(part, Cast) and part.of.dtype in _WHOLE and part.value.type.dtype.is_inexact for part in parts
    )


def from_arrays(program: Program) -> frozenset[str]:
    """Variables and tables of Python's numbers that are computed from elements of arrays.

    Lists are not among them: their items are Python's own, wherever they come from.
    """
    held = {b.name for b in program.buffers if b.type.weak and b.rank != 1}
    stores = [node for node in walk(program.body) if isinstance(node, Stmt) and node.buffer in held]
    found: set[str] = set()
    while new := {s.buffer for s in stores if s.buffer not in found and _of_arrays(s.value, found)}:
        found |= new
    return frozenset(found)


def _of_arrays(expr: Expr, found: Set[str]) -> bool:
    """Whether a value is computed from elements of arrays, or from one of the buffers in `found`."""
    if isinstance(expr, Read):
        return not expr.of.weak or expr.buffer in found
    return any(_of_arrays(child, found) for child in children(expr))


def limit(name: str) -> C.CExpr:
    """A number of the machine, from the run-time table."""
    if name == "threads":
        return C.Convert("f64", C.through(RT, "threads"))
    return C.Subscript(C.Arrow(C.Name(RT), "limits"), C.number(POSITION[name]))


@dataclass
class Expressions:
    """Translates expressions; `used` collects what they call."""

    names: Names
    used: c_ops.Used
    env: dict[str, ranges.Interval]
    strict: bool = False
    #: Whether functions of single numbers are libm's; a device has its own.
    libm: bool = True
    storages: dict[str, Storage] = field(default_factory=dict)
    #: Reads that stand for something else inside one loop: a weak accumulator that is checked only once, after it.
    unchecked: set[str] = field(default_factory=set)
    #: Whether integers may be what became of floats: their way back must not be taken for a mere truncation.
    truncates: bool = False
    #: Whether the iterations of the nearest loop around are independent, so that a compiler may take vectors of them;
    #: None outside of loops.
    in_vectors: bool | None = None
    #: What `from_arrays` finds.
    derived: frozenset[str] = frozenset()
    #: The variable that tells of integers beyond 64 bits.
    overflow: str = OVERFLOW

    def ctype(self, of: ScalarType) -> str:
        return C_TYPE[of.dtype]

    def element(self, buffer: str, index: Iterable[Expr]) -> C.CExpr:
        """The C expression, also assignable, of one element (of the variable, for rank 0)."""
        storage = self.storages[buffer]
        index = tuple(index)
        if not index:
            return C.Name(storage.name)
        return C.Subscript(C.Name(storage.name), self._offset(storage, index))

    def _offset(self, storage: Storage, index: tuple[Expr, ...]) -> C.CExpr:
        """The distance of an element: a[k // n, k % n], of a flat view of rows of n, is k from the start."""
        if storage.layout is not Layout.C:
            return storage.offset(tuple(self.index(e) for e in index))
        flat: list[tuple[Expr, C.CExpr]] = []  # positions, and the extents that each spans
        for position, size, extent in zip(index, storage.buffer.shape, storage.extents):
            whole = None if not flat else _undivided(flat[-1][0], position, size)
            if whole is None:
                flat.append((position, extent))
            else:
                flat[-1] = (whole, C.times(flat[-1][1], extent))
        total: C.CExpr = C.Number("0")
        for position, extent in flat:
            total = C.plus(C.times(total, extent), self.index(position))
        return total

    def index(self, expr: Expr) -> C.CExpr:
        """An index that is in bounds."""
        return self._ring(canonical(expr))

    def _ring(self, expr: Expr) -> C.CExpr:
        if isinstance(expr, Op) and expr.type == INT and (expr.op in _RING or expr.op == "neg"):
            return _signed(expr.op, tuple(self._ring(arg) for arg in expr.args))
        if isinstance(expr, Op) and expr.type == INT and expr.op == "select":
            condition, then, otherwise = expr.args
            return self._wrapped(expr) or C.Ternary(self.value(condition), self.index(then), self.index(otherwise))
        if isinstance(expr, Cast) and expr.of == INT and expr.value.type.dtype.kind in "biu":
            return (
                self.index(expr.value)
                if expr.value.type.dtype is DType.I64
                else C.Convert("i64", self.value(expr.value))
            )
        if expr.type.dtype is DType.U64:
            return C.Convert("i64", self.value(expr))
        return self.value(expr)

    def bound(self, expr: Expr) -> C.CExpr:
        """A loop bound or an extent: an exact value, in canonical order."""
        return self.value(canonical(expr))

    def value(self, expr: Expr) -> C.CExpr:
        """The value of an expression, exactly."""
        if isinstance(expr, Const):
            return c_ops.literal(expr.value, expr.of.dtype, self.used.pairs)
        if isinstance(expr, Var):
            return C.Name(self.names.of(expr.name))
        if isinstance(expr, Limit):
            return limit(expr.name)
        if isinstance(expr, Read):
            return self.element(expr.buffer, expr.index)
        if isinstance(expr, Cast):
            return self._cast(expr)
        assert isinstance(expr, Op), "a Reduce has no place in a lowered program"
        return self._op(expr)

    def test(self, expr: Expr) -> C.CExpr:
        """The value of a condition that decides about a branch: of magnitudes, only the side of a limit is computed."""
        if isinstance(expr, Cast) and expr.of.dtype is expr.value.type.dtype is DType.BOOL:
            return self.test(expr.value)
        if isinstance(expr, Op) and expr.op in ("and", "or", "not") and expr.args[0].type.dtype is DType.BOOL:
            if expr.op == "and" and (inside := self._between(expr)) is not None:
                return inside
            return c_ops.build(expr.op, DType.BOOL, tuple(map(self.test, expr.args)), self.used)
        if not isinstance(expr, Op) or expr.op not in ("lt", "le", "gt", "ge"):
            return self.value(expr)
        sides = [self._side(one, other) for one, other in (expr.args, expr.args[::-1])]
        return c_ops.build(expr.op, expr.args[0].type.dtype, tuple(sides), self.used, weak=expr.of.weak)

    def _side(self, expr: Expr, limit: Expr) -> C.CExpr:
        """The value, or another one on the same side of a number that it is compared with."""
        magnitude = isinstance(expr, Op) and expr.op == "abs" and expr.args[0].type.dtype is DType.C128
        if not magnitude or not _is_limit(limit):
            return self.value(expr)
        assert isinstance(expr, Op)
        return C.Invoke(self.used.helper("side", DType.C128), (self.value(expr.args[0]), self.value(limit)))

    def _cast(self, expr: Cast) -> C.CExpr:
        source = expr.value.type.dtype
        value = self.value(_before_cut(expr))
        if expr.of == INT and (source.is_inexact or source is DType.U64):
            if source.is_complex:
                value, source = c_ops.build("real", source, (value,), self.used), source.real
            if not (source is DType.U64 and ranges.interval(expr.value, self.env).within(ranges.WORD)):
                return c_ops.cast_checked(value, source, self.overflow, self.used)
        if self.truncates and source in _WHOLE and expr.of.dtype.is_float and not isinstance(expr.value, (Var, Const)):
            return C.Invoke(self.used.helper("whole", expr.of.dtype), (value,))
        inner = expr.value.value.type.dtype if isinstance(expr.value, Cast) else source
        if source is DType.F32 and expr.of.dtype is DType.F64 and inner is DType.F64 and isinstance(expr.value, Cast):
            value = C.Invoke(self.used.helper("rounded", DType.F64), (self.value(expr.value.value),))
        return c_ops.cast(value, source, expr.of.dtype, self.used)

    def _op(self, expr: Op) -> C.CExpr:
        if expr.op == "and" and (inside := self._between(expr)) is not None:
            return inside
        if expr.op == "select" and expr.of != INT and (wrapped := self._wrapped(expr)) is not None:
            return wrapped
        if expr.op == "select":
            condition, otherwise = self.value(expr.args[0]), self.value(expr.args[2])
            then = self._where_negative(expr.args[0], expr.args[1])
            if expr.of.dtype.is_integer and expr.of.dtype.size < 8:
                then, otherwise = (
                    C.Convert(C_TYPE[expr.of.dtype], v) if _is_literal(v) else v for v in (then, otherwise)
                )
            return C.Ternary(condition, then, otherwise)
        dtype = expr.args[0].type.dtype
        if expr.op in _TURNED and (told := self._by_squares(expr) or self._unconverted(expr)) is not None:
            return told
        power = self._power(expr, dtype)
        if power is not None:
            return power
        if expr.of == INT and (line := self._on_line(expr)) is not None:
            return line
        if expr.op in _IF_A_NUMBER and (counted := not_nan(expr.args[1], expr.op)) is not None:
            operands = (self.value(expr.args[0]), self.value(counted))
            return C.Invoke(self.used.helper(_IF_A_NUMBER[expr.op], dtype), operands)
        args = tuple(self.value(arg) for arg in expr.args)
        if (bits := _of_bits(expr)) is not None:
            return C.Convert(C_TYPE[dtype], C.Infix(bits[0], args[0], c_ops.literal(bits[1], dtype)))
        if expr.op == "ratio" and all(ranges.interval(arg, self.env).within(_EXACT) for arg in expr.args):
            if not self.truncates:
                return C.Infix("/", *(C.Convert("f64", arg) for arg in args))
            return C.Infix("/", *(C.Invoke(self.used.helper("whole", DType.F64), (arg,)) for arg in args))
        return self.applied(expr, args)

    def applied(self, expr: Op, args: tuple[C.CExpr, ...]) -> C.CExpr:
        """The operation itself, on operands in C."""
        dtype = expr.args[0].type.dtype
        if expr.op == "sub" and dtype.is_float and isinstance(expr.args[0], Const) and expr.args[0].value == 0:
            return C.Invoke(self.used.helper("difference", dtype), args)
        if expr.of != INT or dtype is not DType.I64:
            return c_ops.build(expr.op, dtype, args, self.used, weak=expr.of.weak, alone=self._alone(expr))
        if expr.op in c_ops.CHECKED and not self._fits(expr):
            return c_ops.build_checked(expr.op, args, self.overflow, self.used)
        if expr.op in _RING or expr.op == "neg":
            return _signed(expr.op, args)
        return c_ops.build(expr.op, dtype, args, self.used, weak=True)

    def _on_line(self, expr: Op) -> C.CExpr | None:
        """3 * x + 1, which may leave 64 bits: x is compared with what it may be at most, beside the arithmetic."""
        if (found := _line(expr)) is None or self._fits(expr):
            return None
        atom, factor, constant = found
        ends = sorted(Fraction(end - constant, factor) for end in (ranges.WORD.low, ranges.WORD.high))
        low, high = math.ceil(ends[0]), math.floor(ends[1])
        if not ranges.WORD.low <= low < high <= ranges.WORD.high:
            return None
        numbers = (c_ops.literal(n, DType.I64) for n in (factor, constant, low))
        span, flag = C.Number(f"{high - low}ULL"), C.Prefix("&", C.Name(self.overflow))
        name = self.used.helper("line_checked", DType.I64)
        return C.Invoke(name, (self.value(atom), *numbers, span, flag))

    def _alone(self, expr: Op) -> bool:
        """Whether a function is libm's: that of Python's own numbers, and of what one iteration hands to the next.

        Single elements of arrays are as those of longer ones: by the function for vectors.
        """
        if self.in_vectors is None or not expr.of.weak:
            return expr.of.weak or self.in_vectors is False
        return not self.in_vectors or not _of_arrays(expr, self.derived)

    def _wrapped(self, expr: Op) -> C.CExpr | None:
        """e < 0 ? e + n : e, of an index e from memory, without a choice: gcc takes no such index into a vector."""
        condition, then, kept = expr.args
        is_sign = isinstance(condition, Op) and condition.op == "lt" and condition.args[0] == kept
        if not is_sign or not isinstance(then, Op) or then.op != "add" or kept.type.dtype is not DType.I64:
            return None
        assert isinstance(condition, Op)
        sizes = [part for part in then.args if part != kept]
        if condition.args[1] != Const(0, condition.args[1].type) or len(sizes) != 1 or affine(sizes[0]) is None:
            return None
        return C.Invoke(self.used.helper("wrapped", DType.I64), (self.index(kept), self.index(sizes[0])))

    def _between(self, expr: Op) -> C.CExpr | None:
        """0 <= x and x < n, for an n that is not negative or an x of 32 bits, as one comparison of unsigned numbers."""
        pairs = [part for part in expr.args if isinstance(part, Op) and len(part.args) == 2]
        if len(pairs) < 2 or not all(part.args[0].type == part.args[1].type == INT for part in pairs):
            return None
        low, high = expr.args
        assert isinstance(low, Op) and isinstance(high, Op)
        x, n = high.args
        is_low = (low.op, low.args) in (("ge", (x, Const(0, INT))), ("le", (Const(0, INT), x)))
        if not is_low or high.op != "lt":
            return None
        if isinstance(x, Cast) and isinstance(x.value, Read) and x.value.type.dtype is DType.I32:
            # In the width that it has in memory, twice as many fit into a vector.
            limit = C.Invoke(self.used.helper("reach", DType.I64), (self.value(n),))
            return C.Infix("<", C.Convert("u32", self.value(x.value)), limit)
        if not (isinstance(x, Var) or (isinstance(x, Read) and not x.index)):
            return None
        if ranges.interval(n, self.env).low < 0:
            return None
        return C.Infix("<", C.Convert("u64", self.value(x)), C.Convert("u64", self.value(n)))

    def _by_squares(self, expr: Op) -> C.CExpr | None:
        """abs(z) < c  -->  re * re + im * im < q, in vectors: q is the least number whose root is not below c.

        That is a magnitude by a rounded root, as exact as functions of vectors are, and no function is called.
        """
        op, (magnitude, limit) = expr.op, expr.args
        if isinstance(magnitude, Const):
            op, magnitude, limit = _TURNED[op], limit, magnitude
        if self.strict or not (isinstance(magnitude, Op) and magnitude.op == "abs" and _is_limit(limit)):
            return None
        of, real = magnitude.args[0].type.dtype, magnitude.type.dtype
        if not of.is_complex or limit.type.dtype is not real or self._alone(magnitude) or not isinstance(limit, Const):
            return None
        square = _least_square(float(limit.value.real), real, open_end=op in ("le", "gt"))
        if square is None:
            return None
        helper = self.used.helper("nearer" if op in ("lt", "le") else "farther", of)
        return C.Invoke(helper, (self.value(magnitude.args[0]), c_ops.literal(square, real)))

    def _unconverted(self, expr: Op) -> C.CExpr | None:
        """int(x) < n  -->  trunc(x) < (float)n, in vectors, for which few processors convert to 64 bits.

        NaN and what is too large are on no side: where they would not do, the conversion is tested elsewhere.
        """
        converted, limit = expr.args
        if not self.in_vectors or not (isinstance(converted, Cast) and converted.of == INT == limit.type):
            return None
        source = converted.value.type.dtype
        if not source.is_float or not ranges.interval(limit, self.env).within(_EXACT):
            return None
        whole = c_ops.build("trunc", source, (self.value(_before_cut(converted)),), self.used)
        sides = (C.Convert("f64", whole), C.Convert("f64", self.value(limit)))
        return c_ops.build(expr.op, DType.F64, sides, self.used)

    def _where_negative(self, condition: Expr, expr: Expr) -> C.CExpr:
        """The value of an expression where the condition holds: after x < 0, x + n of a size n stays in 64 bits."""
        below = isinstance(condition, Op) and condition.op == "lt" and condition.args[1] == Const(0, INT)
        x = condition.args[0] if below and isinstance(condition, Op) else None
        name = x.name if isinstance(x, Var) else x.buffer if isinstance(x, Read) and not x.index else None
        if isinstance(expr, Op) and expr.of == INT and expr.op == "add" and x in expr.args and len(expr.args) == 2:
            added = expr.args[1] if expr.args[0] == x else expr.args[0]
            if ranges.interval(added, self.env).low >= 0:
                return _signed("add", tuple(self.value(arg) for arg in expr.args))
        if name is None:
            return self.value(expr)
        known = self.env.get(name)
        least = ranges.WORD.low if known is None else known.low
        self.env[name] = ranges.Interval(min(least, -1), -1)
        value = self.value(expr)
        if known is None:
            del self.env[name]
        else:
            self.env[name] = known
        return value

    def _fits(self, expr: Op) -> bool:
        if any(isinstance(arg, Read) and not arg.index and arg.buffer in self.unchecked for arg in expr.args):
            return True
        return ranges.fits(expr, self.env)

    def _power(self, expr: Op, dtype: DType) -> C.CExpr | None:
        """A float to a small whole power as products: exact for a square, as good as the vector library otherwise."""
        if expr.op != "pow" or not dtype.is_float or not isinstance(expr.args[1], Const):
            return None
        exponent = expr.args[1].value
        if exponent == 1:
            return self.value(expr.args[0])
        name = next((name for power, name in _SMALL_POWERS.items() if exponent == power), None)
        if self.libm and expr.of.weak and self._alone(expr):
            name = "inverse" if exponent == -1 else name
            if name is None:
                return None
            return C.Invoke(self.used.helper(f"own_{name}", dtype), (self.value(expr.args[0]),))
        if name is None or (self.strict and name != "square"):
            return None
        return C.Invoke(self.used.helper(name, dtype), (self.value(expr.args[0]),))

    def estimate(self, expr: Expr) -> C.CExpr:
        """An integer expression in floating point: a rough size that must not overflow."""
        operator = {**_RING, "floordiv": "/"}.get(expr.op) if isinstance(expr, Op) else None
        if isinstance(expr, Op) and operator is not None:
            return C.Infix(operator, *(self.estimate(arg) for arg in expr.args))
        if isinstance(expr, Const) and isinstance(expr.value, (int, float)):
            return c_ops.literal(float(expr.value), DType.F64)
        if isinstance(expr, Op) and expr.op in ("minimum", "maximum"):
            return C.Invoke(self.used.helper(expr.op, DType.F64), tuple(self.estimate(arg) for arg in expr.args))
        if isinstance(expr, Limit):
            return limit(expr.name)
        if isinstance(expr, Cast):
            return self.estimate(expr.value)
        return C.Convert("f64", self.index(expr))


def _line(expr: Expr) -> tuple[Expr, int, int] | None:
    """factor * x + constant, with a factor that is not 1 or -1: the three."""
    factor, constant = 1, 0
    while isinstance(expr, Op) and expr.of == INT and expr.op in _RING:
        left, right = expr.args
        if isinstance(right, Const):
            inner, by = left, int(right.value.real)
        elif isinstance(left, Const) and expr.op != "sub":
            inner, by = right, int(left.value.real)
        else:
            break
        if expr.op == "mul":
            factor *= by
        else:
            constant += factor * (by if expr.op == "add" else -by)
        expr = inner
    wide = any(abs(number) > ranges.WORD.high for number in (factor, constant))
    return None if abs(factor) < 2 or wide or isinstance(expr, Const) else (expr, factor, constant)


def not_nan(term: Expr, op: str) -> Expr | None:
    """e, if a minimum or maximum takes e unless it is a NaN: select(isnan(e), the operation's identity, e)."""
    inner = without_nan(term)
    if inner is None:
        return None
    assert isinstance(term, Op)
    return inner if is_const(term.args[1], REDUCTIONS[op].identity(term.type)) else None


def _of_bits(expr: Op) -> tuple[str, int] | None:
    """a % 2**k as a & (2**k - 1), a // 2**k as a >> k: rounded down, as in Python.  Sizes stay as they are written."""
    by = expr.args[1] if expr.op in ("floordiv", "mod") else None
    if not isinstance(by, Const) or by.of.dtype is not expr.args[0].type.dtype or expr.of.dtype is not by.of.dtype:
        return None
    if not by.of.dtype.is_integer or not isinstance(by.value, int) or by.value < 1 or by.value & (by.value - 1):
        return None
    if expr.op == "mod":
        return "&", by.value - 1
    return (">>", by.value.bit_length() - 1) if any(True for _ in reads(expr.args[0])) else None


def _least_square(limit: float, of: DType, open_end: bool) -> float | None:
    """The least number whose rounded root is `limit`, or with an open end above it; None where squares may not tell."""
    import numpy as np

    real = of.numpy.type
    root, zero, infinity = real(limit), real(0), real("inf")
    if not 1e-15 < root < 1e15:
        return None

    def beyond(square: float) -> bool:
        return bool(np.sqrt(square) > root if open_end else np.sqrt(square) >= root)

    square = root * root
    while beyond(square):
        square = np.nextafter(square, zero)
    while not beyond(square):
        square = np.nextafter(square, infinity)
    return float(square)


def _before_cut(expr: Cast) -> Expr:
    """What is converted: a float that becomes a Python integer need not be cut before."""
    inner = expr.value
    while isinstance(inner, Cast) and inner.type.dtype is inner.value.type.dtype:
        inner = inner.value
    cut = expr.of == INT and isinstance(inner, Op) and inner.op == "trunc" and inner.type.dtype.is_float
    return inner.args[0] if cut and isinstance(inner, Op) else expr.value


def _is_limit(expr: Expr) -> bool:
    """Whether a magnitude may be compared with a number by their squares, which neither overflow nor vanish."""
    return isinstance(expr, Const) and isinstance(expr.value, float) and 1e-100 < expr.value < 1e100
