"""Sums and extremes over the entries of a row, in vectors that are only partly full.  In: a loop from one number in
memory to the next that adds to a variable, or keeps the greatest or least; out: C that takes eight entries at a time,
the last ones under a mask.

    for p in ptr[i] .. ptr[i+1]: s = s + v[p] * x[idx[p]]
      -->  for p by 8, with n = end - p: { t = k_entries(&v[p], n) * k_told(&x[0], &idx[p], n);
                                           sum = k_added(sum, t, n) };   s = s + k_total(sum)

Rows of a sparse array are short: a vector loop with its prologue and the entries left over one by one takes longer than
the entries themselves, and processors do not foresee where each row ends.  Without masks in the instruction set the
loop stays what it was: K_LANES says so to the C compiler.

A sum of what the entries look up goes four at a time without vectors: an instruction that gathers takes longer than as
many loads, and four sums side by side hide how long an addition takes.
"""

from __future__ import annotations

from weft.analysis import cost
from weft.codegen import syntax as C
from weft.codegen.c_expr import Expressions
from weft.ir import index as affine_index
from weft.ir.expr import ZERO, Cast, Dim, Expr, Op, Read, Var
from weft.ir.program import Layout, Loop, Stmt
from weft.ir.types import DType
from weft.ir.walk import free_vars, reads

LANES = 8
#: Sums side by side where entries are looked up.
FOUR = 4
#: Terms that are not worth what a sum in vectors costs at its end, if they are looked up.
SHORT = 64
#: Whether there are instructions for this, known to the C compiler.
AVAILABLE = C.Number("K_LANES")
SUM_TYPE = "k_f64x8"
#: How eight values join those that are kept.
STEPS = {"add": "k_added", "maximum": "k_greatest", "minimum": "k_least"}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}
_TOLD = {DType.I32: "k_told_i32", DType.I64: "k_told_i64"}

SUPPORT = """typedef f64 k_f64x8 __attribute__((vector_size(64)));
typedef i32 k_i32x8 __attribute__((vector_size(32)));
typedef i64 k_i64x8 __attribute__((vector_size(64)));
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__GNUC__) && !defined(__clang__)
#define K_LANES 1
static inline u8 k_mask(i64 left) { return (u8)(left >= 8 ? 255 : (1 << left) - 1); }
static inline k_f64x8 k_entries(const f64 *a, i64 left) {
  return __builtin_ia32_loadupd512_mask(a, (k_f64x8){0}, (char)k_mask(left));
}
static inline k_f64x8 k_told_i32(const f64 *x, const i32 *at, i64 left) {
  k_i32x8 place = __builtin_ia32_loaddqusi256_mask(at, (k_i32x8){0}, (char)k_mask(left));
  return __builtin_ia32_gathersiv8df((k_f64x8){0}, x, place, (char)k_mask(left), 8);
}
static inline k_f64x8 k_told_i64(const f64 *x, const i64 *at, i64 left) {
  k_i64x8 place = __builtin_ia32_loaddqudi512_mask(at, (k_i64x8){0}, (char)k_mask(left));
  return __builtin_ia32_gatherdiv8df((k_f64x8){0}, x, place, (char)k_mask(left), 8);
}
static inline k_f64x8 k_added(k_f64x8 sum, k_f64x8 term, i64 left) {
  return __builtin_ia32_movapd512_mask(sum + term, sum, (char)k_mask(left));
}
static inline k_f64x8 k_greatest(k_f64x8 kept, k_f64x8 term, i64 left) {
  return __builtin_ia32_maxpd512_mask(term, kept, kept, (char)k_mask(left), 4);
}
static inline k_f64x8 k_least(k_f64x8 kept, k_f64x8 term, i64 left) {
  return __builtin_ia32_minpd512_mask(term, kept, kept, (char)k_mask(left), 4);
}
static inline i64 k_nans(k_f64x8 term, i64 left) {
  return (u8)__builtin_ia32_cmppd512_mask(term, term, 3, (char)k_mask(left), 4);
}
#else
#define K_LANES 0
#define k_entries(a, left) ((k_f64x8){*(a)})
#define k_told_i32(x, at, left) ((k_f64x8){(x)[*(at)]})
#define k_told_i64(x, at, left) ((k_f64x8){(x)[*(at)]})
#define k_added(sum, term, left) ((sum) + (term))
#define k_greatest(kept, term, left) (term)
#define k_least(kept, term, left) (term)
#define k_nans(term, left) ((term)[0] != (term)[0])
#endif
#define k_alike(s) ((k_f64x8){s, s, s, s, s, s, s, s})
#define k_total(s) ((((s)[0] + (s)[4]) + ((s)[2] + (s)[6])) + (((s)[1] + (s)[5]) + ((s)[3] + (s)[7])))"""


def why_not(loop: Loop, expressions: Expressions) -> str | None:
    """Why a loop is not one over the few entries of a row that it combines; None if it is."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1 or not any(True for e in (dim.lo, dim.hi) for _ in reads(e)):
        return "no length read from memory"
    return why_not_combined(loop, expressions)


def why_not_combined(loop: Loop, expressions: Expressions) -> str | None:
    """Why what a loop combines is not one sum or extreme of doubles that has a form in lanes; None if it is."""
    dim = loop.dim
    if len(loop.body) != 1 or len(loop.accumulators) != 1 or loop.accumulators[0].op not in STEPS:
        return "not one sum or extreme"
    (stmt,) = loop.body
    if not isinstance(stmt, Stmt) or stmt.buffer != loop.accumulators[0].buffer:
        return "not one sum or extreme"
    term = combined(stmt)
    if term is None or expressions.storages[stmt.buffer].buffer.type.dtype is not DType.F64:
        return "not a sum or extreme of doubles"
    if dim.var not in free_vars(term):
        return "the same for all entries"
    return _why_not_in_lanes(term, dim.var, expressions)


def is_short(loop: Loop) -> bool:
    """Whether a loop has a few iterations, and how many is known."""
    few = cost.constant_extent(loop.dim)
    return few is not None and few <= SHORT


def looks_up(loop: Loop, expressions: Expressions) -> bool:
    """Whether a loop does nothing but add up elements, some of them at places that are read from memory."""
    if any(each.op != "add" for each in loop.accumulators):
        return False
    stmts = [node for node in loop.body if isinstance(node, Stmt)]
    told = (_teller(read, loop.dim.var, expressions) for stmt in stmts for read in reads(stmt.value) if read.index)
    return len(stmts) == len(loop.body) and any(one is not None for one in told)


def combined(stmt: Stmt) -> Expr | None:
    """e, if the statement is s = s + e or s = e + s, or an extreme of the two, and e does not look at s."""
    value = stmt.value
    if not isinstance(value, Op) or value.op not in STEPS or stmt.index:
        return None
    for this, other in (value.args, value.args[::-1]):
        if isinstance(this, Read) and this.buffer == stmt.buffer:
            return other if all(read.buffer != stmt.buffer for read in reads(other)) else None
    return None


def _why_not_in_lanes(expr: Expr, var: str, expressions: Expressions) -> str | None:
    if expr.type.dtype is not DType.F64:
        return "other numbers than doubles"
    if var not in free_vars(expr):
        return None
    if isinstance(expr, Op) and (expr.op in _ARITHMETIC or expr.op == "neg"):
        return next((why for arg in expr.args if (why := _why_not_in_lanes(arg, var, expressions))), None)
    if not isinstance(expr, Read):
        return "an operation without a form in lanes"
    return None if _side_by_side(expr, var, expressions) or _teller(expr, var, expressions) else "elements apart"


def _side_by_side(read: Read, var: str, expressions: Expressions) -> bool:
    """Whether the elements that a loop reads follow one another in memory."""
    if not read.index or expressions.storages[read.buffer].layout is not Layout.C:
        return False
    if any(var in free_vars(position) for position in read.index[:-1]):
        return False
    distance = affine_index.sub(read.index[-1], Var(var))
    return affine_index.affine(distance) is not None and var not in free_vars(affine_index.canonical(distance))


def _teller(read: Read, var: str, expressions: Expressions) -> Read | None:
    """idx[var], if it tells which element of a contiguous vector is read."""
    if len(read.index) != 1 or expressions.storages[read.buffer].layout is not Layout.C:
        return None
    place = read.index[0]
    while isinstance(place, Cast) and place.type.dtype is DType.I64 and place.value.type.dtype in _TOLD:
        place = place.value
    if not isinstance(place, Read) or place.type.dtype not in _TOLD or not _side_by_side(place, var, expressions):
        return None
    return place


def in_lanes(expr: Expr, var: str, left: C.CExpr, expressions: Expressions) -> C.CExpr:
    """The values of an expression for eight entries from `var` on, of which `left` are there."""
    if var not in free_vars(expr):
        return expressions.value(expr)
    if isinstance(expr, Op):
        parts = [in_lanes(arg, var, left, expressions) for arg in expr.args]
        return C.Prefix("-", parts[0]) if expr.op == "neg" else C.Infix(_ARITHMETIC[expr.op], parts[0], parts[1])
    assert isinstance(expr, Read)
    told = _teller(expr, var, expressions)
    if told is None:
        return C.call("k_entries", C.Prefix("&", expressions.element(expr.buffer, expr.index)), left)
    first = C.Prefix("&", expressions.element(expr.buffer, (ZERO,)))
    places = C.Prefix("&", expressions.element(told.buffer, told.index))
    return C.call(_TOLD[told.type.dtype], first, places, left)


def joined(op: str, target: C.CExpr, lanes: C.CExpr) -> list[C.CStmt]:
    """The eight values and what the variable holds, as one."""
    if op == "add":
        return [C.Assign(target, C.Infix("+", target, C.call("k_total", lanes)))]
    sign = ">" if op == "maximum" else "<"
    each = (C.Subscript(lanes, C.number(lane)) for lane in range(LANES))
    return [C.Assign(target, C.Ternary(C.Infix(sign, one, target), one, target)) for one in each]
