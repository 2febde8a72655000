"""Intervals of integer expressions.  In: an expression and what is known of variables; out: an interval that holds its
value, and so whether arithmetic on Python integers can leave 64 bits (`fits`): what provably cannot is not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.ir.expr import Cast, CompressedDim, Const, Dim, Expr, Op, Read, Reduce, Var, is_const
from weft.ir.index import affine
from weft.ir.program import Alloc, Argument, Block, If, Loop, Node, Program, Stmt, While
from weft.ir.types import DType
from weft.ir.walk import buffers_written, reads
from weft.records import dataclass


@dataclass(frozen=True)
class Interval:
    """Every whole number from low to high, both included."""

    low: int
    high: int

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def within(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    @property
    def magnitude(self) -> int:
        return max(abs(self.low), abs(self.high))


WORD = Interval(-(2**63), 2**63 - 1)
#: Entry guards keep symbols below this, and dimensions lie between expressions of symbols.
INDEX = Interval(-(2**40), 2**40)
_SIZE = Interval(0, 2**40)
_BIT, _ZERO = Interval(0, 1), Interval(0, 0)
#: A variable that only ever moves by a step or two from where it was set cannot leave this in the life of a machine.
_COUNTED = Interval(-(2**58), 2**58)
_START = Interval(-(2**57), 2**57)
_STEP = 2

#: What is known of names: index variables, symbols and rank-0 integer buffers.
Environment = Mapping[str, Interval]

_DTYPE_RANGE: dict[DType, Interval] = {
    DType.BOOL: _BIT,
    **{d: Interval(-(2 ** (8 * d.size - 1)), 2 ** (8 * d.size - 1) - 1) for d in DType if d.kind == "i"},
    **{d: Interval(0, 2 ** (8 * d.size) - 1) for d in DType if d.kind == "u"},
}
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _products(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(corners), max(corners))


def _floor_quotient(a: Interval, b: Interval) -> Interval | None:
    if b.low <= 0 <= b.high:
        return None
    corners = [x // y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(corners), max(corners))


def _remainder(a: Interval, b: Interval) -> Interval | None:
    if b.low > 0:
        return Interval(0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1)
    return Interval(b.low + 1, 0) if b.high < 0 else None


def _mask(a: Interval, b: Interval) -> Interval | None:
    """x & y lies between 0 and any operand that is not negative."""
    tops = [interval.high for interval in (a, b) if interval.low >= 0]
    return Interval(0, min(tops)) if tops else None


def _bits(a: Interval, b: Interval) -> Interval | None:
    """x | y and x ^ y stay below the next power of two."""
    bound = 1 << max(a.magnitude.bit_length(), b.magnitude.bit_length())
    return Interval(0 if a.low >= 0 and b.low >= 0 else -bound, bound - 1)


def _power(a: Interval, b: Interval) -> Interval | None:
    if b.low < 0 or b.high > 64 or a.magnitude.bit_length() * b.high > 256:
        return None
    top = a.magnitude**b.high
    return Interval(0 if a.low >= 0 else -top, max(top, 1))


def _shift_left(a: Interval, b: Interval) -> Interval | None:
    return _products(a, Interval(1 << b.low, 1 << b.high)) if b.low >= 0 and b.high <= 128 else None


def _shift_right(a: Interval, b: Interval) -> Interval | None:
    return Interval(min(a.low, 0), max(a.high, 0)) if b.low >= 0 else None


def _combine(op: str, args: list[Interval]) -> Interval | None:
    """The exact result's interval, before any wrapping; None if nothing better than the type is known."""
    first = args[0]
    if op == "neg":
        return Interval(-first.high, -first.low)
    if op == "abs":
        return Interval(0 if first.low <= 0 <= first.high else min(abs(first.low), abs(first.high)), first.magnitude)
    if op in ("floor", "ceil", "trunc", "conj", "real"):
        return first
    if op == "invert":
        return Interval(-first.high - 1, -first.low - 1)
    if op == "sign":
        return Interval(-1, 1)
    if len(args) != 2:
        return None
    second = args[1]
    if op == "add":
        return Interval(first.low + second.low, first.high + second.high)
    if op == "sub":
        return Interval(first.low - second.high, first.high - second.low)
    if op in ("minimum", "fmin"):
        return Interval(min(first.low, second.low), min(first.high, second.high))
    if op in ("maximum", "fmax"):
        return Interval(max(first.low, second.low), max(first.high, second.high))
    rule = {
        "mul": _products,
        "floordiv": _floor_quotient,
        "mod": _remainder,
        "bitand": _mask,
        "bitor": _bits,
        "bitxor": _bits,
        "pow": _power,
        "shl": _shift_left,
        "shr": _shift_right,
    }.get(op)
    return None if rule is None else rule(first, second)


def exact(expr: Expr, env: Environment) -> Interval:
    """An interval of the value that exact arithmetic would give at the root; inner results are within their types.

    (Once an inner result has left its type the overflow flag is set, and nothing that follows is ever observed.)
    """
    whole = _DTYPE_RANGE.get(expr.type.dtype, WORD)
    if isinstance(expr, Const):
        return Interval(int(expr.value), int(expr.value)) if isinstance(expr.value, int) else whole
    if isinstance(expr, Var):
        return env.get(expr.name, INDEX)
    if isinstance(expr, Read):
        return env.get(expr.buffer, whole) if not expr.index else whole
    if isinstance(expr, Cast):
        if expr.value.type.dtype.kind not in "biu":
            return whole
        inner = interval(expr.value, env)
        return inner if inner.within(whole) else whole
    if isinstance(expr, Reduce) or expr.type.dtype.kind not in "biu":
        return whole
    assert isinstance(expr, Op)
    if expr.op == "select":
        known = decided(expr.args[0], env)
        if known is not None:
            return interval(expr.args[1 if known else 2], env)
        return interval(expr.args[1], env).union(interval(expr.args[2], env))
    if any(arg.type.dtype.kind not in "biu" for arg in expr.args):
        return whole
    found = _combine(expr.op, [interval(arg, env) for arg in expr.args])
    return whole if found is None else found


def interval(expr: Expr, env: Environment) -> Interval:
    """An interval of the value the program computes, wrapping included."""
    whole = _DTYPE_RANGE.get(expr.type.dtype, WORD)
    found = exact(expr, env)
    return found if found.within(whole) else whole


def fits(expr: Op, env: Environment) -> bool:
    """Whether the operation at the root of `expr`, done on Python integers, certainly stays in 64 bits."""
    found = _combine(expr.op, [interval(arg, env) for arg in expr.args])
    return found is not None and found.within(WORD)


def holds(condition: Expr, env: Environment) -> bool:
    """Whether a comparison of integers certainly holds, whatever the values in their intervals are."""
    while isinstance(condition, Cast):
        condition = condition.value
    if not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
        return False
    if any(arg.type.dtype.kind not in "biu" for arg in condition.args):
        return False
    left, right = (interval(arg, env) for arg in condition.args)
    if condition.op in ("gt", "ge"):
        left, right = right, left
    return left.high < right.low if condition.op in ("lt", "gt") else left.high <= right.low


def decided(condition: Expr, env: Environment) -> bool | None:
    """Whether a comparison of integers is the same for all values in their intervals, and what it then is."""
    if holds(condition, env):
        return True
    while isinstance(condition, Cast):
        condition = condition.value
    if not isinstance(condition, Op) or condition.op not in _OPPOSITE:
        return None
    return False if holds(Op(_OPPOSITE[condition.op], condition.args, condition.of), env) else None


def dimension(dim: Dim | CompressedDim, env: Environment) -> dict[str, Interval]:
    """What a dimension's variables lie between inside its loop."""
    if isinstance(dim, CompressedDim):
        return {dim.position: _SIZE, dim.var: INDEX}
    low, high = interval(dim.lo, env), interval(dim.hi, env)
    if dim.step > 0:
        return {dim.var: Interval(low.low, max(high.high - 1, low.low))}
    return {dim.var: Interval(min(high.low + 1, low.high), low.high)}


def symbols(program: Program) -> dict[str, Interval]:
    """Sizes are not negative; integer arguments are any index, as far as no guard says that they are larger."""
    found = {s.name: INDEX if isinstance(s.source, Argument) else _SIZE for s in program.symbols}
    for guard in program.guards:
        told = _at_least(guard.condition)
        if not guard.domain and told is not None and told[0] in found:
            known = found[told[0]]
            found[told[0]] = Interval(max(known.low, min(told[1], known.high)), known.high)
    return found


def _at_least(condition: Expr) -> tuple[str, int] | None:
    """The variable and the least value of it that a condition `n + c >= 0` tells."""
    while isinstance(condition, Cast):
        condition = condition.value
    if not isinstance(condition, Op) or condition.op != "ge" or not is_const(condition.args[1], 0):
        return None
    form = affine(condition.args[0])
    if form is None or len(form.terms) != 1 or form.terms[0][1] != 1:
        return None
    return form.terms[0][0], -form.constant


def environment(program: Program, rounds: int = 2) -> dict[str, Interval]:
    """What holds everywhere of symbols, dimensions and integer scalar variables.

    A scalar lies in the union of everything ever assigned to it.  Each round starts from sound intervals and so ends
    with sound ones; a variable that counts (k = k + 1) goes as far as a machine can count, from what else it is set to.
    """
    local = [b for b in program.buffers if not b.shape and b.name not in program.params]
    scalars = {b.name for b in local if b.type.dtype.kind in "iu"}
    known = symbols(program)
    for _ in range(rounds):
        assigned: dict[str, Interval] = {}
        steps: dict[str, Interval] = {}
        found = dict(known)
        _visit(program.body, found, scalars, assigned, steps)
        known = found | assigned | {name: _counted(assigned.get(name, _ZERO), steps[name]) for name in steps}
    return known


def _counted(start: Interval, steps: Interval) -> Interval:
    """Where a variable is that is set to something in `start` and moves by steps."""
    if not start.within(_START):
        return WORD
    return Interval(start.low if steps.low >= 0 else _COUNTED.low, start.high if steps.high <= 0 else _COUNTED.high)


def _sides(stmt: Stmt) -> list[Stmt]:
    """k = select(c, a, b) as k = a and k = b: one may be a step, and one that leaves k as it is tells nothing."""
    value = stmt.value
    if stmt.reduce is not None or stmt.domain or not isinstance(value, Op) or value.op != "select":
        return [stmt]
    if not any(read.buffer == stmt.buffer for read in reads(value)):
        return [stmt]  # the test tells more of the whole than the sides do alone
    sides = [side for arg in value.args[1:] for side in _sides(replace(stmt, value=arg))]
    return [side for side in sides if not (isinstance(side.value, Read) and side.value.buffer == stmt.buffer)]


def _step(stmt: Stmt) -> int | None:
    """c, if the statement is k = k + c and that is a small step."""
    value = stmt.value
    if stmt.reduce is not None or not isinstance(value, Op) or value.op not in ("add", "sub") or stmt.domain:
        return None
    if value.type.dtype is not DType.I64:
        return None  # 32 bits can be counted through
    first, second = value.args if value.op == "sub" or isinstance(value.args[0], Read) else value.args[::-1]
    if not isinstance(first, Read) or first.buffer != stmt.buffer or not isinstance(second, Const):
        return None
    by = int(second.value.real)
    return None if abs(by) > _STEP else -by if value.op == "sub" else by


def _visit(
    block: Block, env: dict[str, Interval], scalars: set[str], assigned: dict[str, Interval], steps: dict[str, Interval]
) -> None:
    for node in block:
        _visit_node(node, env, scalars, assigned, steps)


def _visit_node(
    node: Node, env: dict[str, Interval], scalars: set[str], assigned: dict[str, Interval], steps: dict[str, Interval]
) -> None:
    if isinstance(node, Stmt):
        for dim in node.domain:
            env.update(dimension(dim, env))
        for side in _sides(node) if node.buffer in scalars else ():
            if (by := _step(side)) is not None:
                steps[node.buffer] = steps.get(node.buffer, _ZERO).union(Interval(by, by))
                continue
            value = interval(side.value, env) if node.reduce is None else WORD
            assigned[node.buffer] = assigned[node.buffer].union(value) if node.buffer in assigned else value
    elif isinstance(node, Alloc) and node.buffer in scalars:
        assigned[node.buffer] = assigned.get(node.buffer, _ZERO).union(_ZERO)
    elif isinstance(node, Loop):
        env.update(dimension(node.dim, env))
        _visit(node.body, env, scalars, assigned, steps)
    elif isinstance(node, If):
        _visit(node.then, env, scalars, assigned, steps)
        _visit(node.orelse, env, scalars, assigned, steps)
    elif isinstance(node, While):
        _visit(node.prelude, env, scalars, assigned, steps)
        _visit(node.body, env, scalars, assigned, steps)
    else:
        for name in buffers_written(node) & scalars:
            assigned[name] = WORD
