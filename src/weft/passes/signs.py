"""Signs: tests of integers in a vector loop are gathered as signs, in the width of the integers.  In: a lowered
program; out: the same with fewer instructions for a test of places.

    for i: ok = ok and 0 <= k[i] and k[i] < n
        -->  s = 0;  for i: s = s | k[i] | (n - 1 - k[i]);  ok = ok and s >= 0

A truth value takes a byte, and to lay the results of eight comparisons beside each other takes longer than to compare.
A difference is negative where the test fails, and has no overflow where the integer is not negative itself: sizes are
far from the ends of 64 bits.
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.ir.expr import Cast, Const, Expr, Op, Read, integer
from weft.ir.index import affine
from weft.ir.index import sub as minus
from weft.ir.program import Accumulator, Block, Buffer, Loop, LoopKind, Node, Program, Stmt
from weft.ir.types import BOOL, I64, INT, DType, ScalarType
from weft.ir.verify import Stage
from weft.ir.walk import expr_buffers, free_vars, fresh, map_sub_blocks, names_of, reads
from weft.passes import Knows, PassContext, declared
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

_NAME = "signs"
_I32 = ScalarType(DType.I32)
_TURNED = {"ge": "le", "le": "ge", "lt": "gt", "gt": "lt"}
_NARROW = (DType.I8, DType.I16, DType.I32, DType.U8, DType.U16)
# Sizes and whole arguments are smaller than this.
_FAR = 2**40


@declared(_NAME, takes=Stage.LOWERED, after=("store",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every vector loop that keeps whether all places are in range."""
    signs = _Signs(program)
    body = signs.block(program.body)
    if body is program.body:
        return program
    context.done(_NAME, "places are tested by the signs of differences", program.span)
    return replace(program, body=body, buffers=program.buffers + tuple(signs.made))


@dataclass(frozen=True)
class _Ranges:
    """A test as ranges: integers that are not negative, those that are at most a limit, and a test for the rest."""

    values: tuple[Expr, ...]
    limits: tuple[tuple[Expr, Expr], ...]


@dataclass
class _Signs:
    program: Program
    made: list[Buffer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken = names_of(self.program)
        self.symbols = {symbol.name for symbol in self.program.symbols}

    def block(self, block: Block) -> Block:
        new = tuple(one for node in block for one in self.node(map_sub_blocks(node, self.block)))
        return block if len(new) == len(block) and all(a is b for a, b in zip(new, block)) else new

    def node(self, node: Node) -> Block:
        if not isinstance(node, Loop) or node.kind is not LoopKind.VECTOR:
            return (node,)
        before: list[Node] = []
        after: list[Node] = []
        body = list(node.body)
        sums = list(node.accumulators)
        for at, stmt in enumerate(body):
            flag = Accumulator(stmt.buffer, "and") if isinstance(stmt, Stmt) and not stmt.index else None
            if flag not in sums or not isinstance(stmt, Stmt) or sum(_names(one, stmt.buffer) for one in body) != 1:
                continue
            found = self.ranges(_term(stmt))
            if found is None:
                continue
            sign, value = self.sign(found, stmt, before)
            body[at] = replace(stmt, buffer=sign.buffer, value=Op("bitor", (sign, value), sign.of))
            sums[sums.index(flag)] = Accumulator(sign.buffer, "bitor")
            before.append(Stmt((), sign.buffer, (), Const(0, sign.of), span=stmt.span))
            holds = as_type(Op("ge", (sign, Const(0, sign.of)), BOOL), BOOL)
            kept = Op("and", (Read(stmt.buffer, (), BOOL), holds), BOOL)
            after.append(Stmt((), stmt.buffer, (), kept, span=stmt.span))
        if not after:
            return (node,)
        return (*before, replace(node, body=tuple(body), accumulators=tuple(sums)), *after)

    def sign(self, found: _Ranges, stmt: Stmt, before: list[Node]) -> tuple[Read, Expr]:
        """The variable in which signs meet, and what an iteration adds to it."""
        narrow = all(_inner(value).type.dtype in _NARROW for value in found.values)
        of = _I32 if narrow else I64
        parts = [_in_width(value, of) for value in found.values]
        for value, limit in found.limits:
            last = minus(limit, integer(1))
            if narrow:
                last = Op("maximum", (Op("minimum", (last, integer(2**31 - 1)), INT), integer(-1)), INT)
            held = self.variable(f"{stmt.buffer}_last", of, stmt)
            before.append(Stmt((), held.buffer, (), Cast(last, of), span=stmt.span))
            parts.append(Op("sub", (held, _in_width(value, of)), of))
        total = parts[0]
        for part in parts[1:]:
            total = Op("bitor", (total, part), of)
        return self.variable(f"{stmt.buffer}_sign", of, stmt), total

    def variable(self, hint: str, of: ScalarType, stmt: Stmt) -> Read:
        name = fresh(hint, self.taken)
        self.made.append(Buffer(name, of, (), span=stmt.span))
        return Read(name, (), of)

    def ranges(self, term: Expr | None) -> _Ranges | None:
        """The test as ranges of integers from memory; None if it is anything else."""
        parts = None if term is None else _conjuncts(term)
        if not parts:
            return None
        values: dict[Expr, None] = {}
        limits: dict[tuple[Expr, Expr], None] = {}
        for part in parts:
            if not isinstance(part, Op) or part.op not in _TURNED:
                return None
            op, (value, limit) = part.op, part.args
            if isinstance(value, Const):
                op, value, limit = _TURNED[op], limit, value
            if not _is_told(value):
                return None
            if op == "ge" and limit == Const(0, limit.type):
                values[value] = None
            elif op in ("lt", "le") and value in values and self.is_size(limit):
                limits[value, limit if op == "lt" else minus(limit, integer(-1))] = None
            else:
                return None
        return _Ranges(tuple(values), tuple(limits))

    def is_size(self, limit: Expr) -> bool:
        """Whether a limit is known at entry and far from the ends of 64 bits."""
        form = affine(limit)
        if form is None or expr_buffers(limit) or not free_vars(limit) <= self.symbols:
            return False
        return abs(form.constant) < _FAR and sum(abs(factor) for _, factor in form.terms) < 1024


def _names(node: Node, buffer: str) -> bool:
    return isinstance(node, Stmt) and (node.buffer == buffer or buffer in expr_buffers(node.value))


def _term(stmt: Stmt) -> Expr | None:
    """c, of flag = flag and c."""
    value = stmt.value
    flag = Read(stmt.buffer, (), BOOL)
    if not isinstance(value, Op) or value.op != "and" or value.args[0] != flag:
        return None
    return value.args[1]


def _conjuncts(expr: Expr) -> list[Expr]:
    """The parts of a conjunction that may be looked at in any order: a later one reads nothing that others do not."""
    if isinstance(expr, Op) and expr.op == "and":
        return [part for one in expr.args for part in _conjuncts(one)]
    if isinstance(expr, Op) and expr.op == "select" and expr.args[2] == Const(False, expr.args[2].type):
        first, then = expr.args[:2]
        if set(reads(then)) <= set(reads(first)):
            return _conjuncts(first) + _conjuncts(then)
    return [expr]


def _inner(value: Expr) -> Expr:
    return value.value if isinstance(value, Cast) else value


def _is_told(value: Expr) -> bool:
    """Whether a value is an element of memory, as a Python integer."""
    inner = _inner(value)
    known = inner.type.dtype in _NARROW or inner.type.dtype in (DType.I64, DType.U32)
    return value.type == INT and isinstance(value, Cast) and isinstance(inner, Read) and bool(inner.index) and known


def _in_width(value: Expr, of: ScalarType) -> Expr:
    inner = _inner(value)
    return inner if inner.type.dtype is of.dtype else Cast(inner, of)
