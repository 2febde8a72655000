"""Branches that depend on data, without a jump.  In: an `If` of a sequential loop that only sets integers, or such a
variable that becomes a choice; out: C that computes both sides and takes one by a conditional move.

    if x[i]: run = run + 1; best = max(best, run)        c = x[i]
    else:    run = 0                              -->    t = c ? run + 1 : 0;  best = max(best, c ? run + 1 : LEAST)
                                                         run = t

A processor guesses where a branch goes, and a wrong guess costs as much as twenty additions.  gcc makes a branch of
most choices, so that the move is written out for it.  What one iteration hands to the next should wait for as little as
possible: what both sides do to a variable alike stands outside the choice.
"""

from __future__ import annotations

from dataclasses import field

from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, OWN, Expressions, Storage
from weft.codegen.c_frame import Emitter
from weft.codegen.c_helpers import C_TYPE
from weft.ir.expr import Cast, Const, Expr, Op, Read, Var
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Block, If, Node, Stmt
from weft.ir.types import BOOL, INT, DType
from weft.ir.walk import expr_size, map_children, node_exprs, reads, subexpressions, sure_reads, walk
from weft.records import dataclass

#: What costs a cycle or two, whatever its operands are.
_CHEAP = frozenset({"add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "bitand"}) | {
    *("bitor", "bitxor", "invert", "minimum", "maximum", "select")
}
_ASSOCIATIVE = frozenset({"add", "mul", "minimum", "maximum", "bitand", "bitor", "bitxor"})
#: Operations that may leave an operand out.
_LAZY = frozenset({"select", "and", "or"})
_ORDER = frozenset({"lt", "le", "gt", "ge"})
#: More than this to compute is dearer than some wrong guesses.
_PARTS, _VARIABLES = 40, 4
#: A flag that nothing may set.
_UNUSED = f"{OWN}unused"

_Values = dict[str, Expr]


@dataclass(frozen=True)
class Choice:
    """Each variable's two new values, of the state before it."""

    condition: Expr
    then: _Values
    otherwise: _Values

    @property
    def targets(self) -> list[str]:
        return list(dict.fromkeys((*self.then, *self.otherwise)))


def of_node(node: Node) -> Choice | None:
    """An `If`, or s = select(c, a, b), as a choice between values."""
    if isinstance(node, If):
        then, otherwise = _values(node.then), _values(node.orelse)
        return None if then is None or otherwise is None else Choice(node.condition, then, otherwise)
    if isinstance(node, Stmt) and not node.index and not node.domain and node.reduce is None:
        value = node.value
        if isinstance(value, Op) and value.op == "select":
            return Choice(value.args[0], {node.buffer: value.args[1]}, {node.buffer: value.args[2]})
    return None


def why_not(choice: Choice, around: Node) -> str | None:
    """What speaks against computing both sides, inside of this loop."""
    sides = [*choice.then.values(), *choice.otherwise.values()]
    targets = set(choice.targets)
    if not targets or len(targets) > _VARIABLES or sum(map(expr_size, (choice.condition, *sides))) > _PARTS:
        return "there is too much to compute"
    fetched = set(sure_reads(choice.condition))
    if not all(value.type.dtype.kind in "iub" and _is_safe(value, fetched) for value in sides):
        return "a side is not an integer that may be computed in any case"
    if not _depends_on_data(choice.condition, around):
        return "the processor knows where the branch goes"
    if any(_compares(part, targets) for part in subexpressions(choice.condition)):
        return "a limit or a record is rarely reached"
    if _leads(targets, around):
        return "elements would be waited for"
    carried = any(read.buffer in targets for value in sides for read in reads(value))
    if not carried and all(name in choice.then and name in choice.otherwise for name in targets):
        return "no iteration waits for it"
    return None


def moved(choice: Choice, emitter: Emitter) -> list[C.CStmt] | None:
    """The C of a choice; None if a value deeper inside of it could leave 64 bits on a side that is not taken."""
    expressions, before = emitter.expressions, list[C.CStmt]()
    choice, tested = _nonzero(choice)
    condition = emitter.variable(f"const {C_TYPE[tested.type.dtype]}", "test", expressions.value(tested), before)
    mover = _Mover(expressions, condition, (emitter.unit.names.own("then"), emitter.unit.names.own("otherwise")))
    new: list[tuple[Storage, C.CExpr]] = []
    for name in choice.targets:
        storage = expressions.storages[name]
        own = Read(name, (), storage.buffer.type)
        value = mover.combined(choice, own)
        if value is None:
            return None
        new.append((storage, value))
    out = [*before, *(C.Declare("i64", flag, C.Number("0")) for flag in mover.flags if flag in mover.used)]
    if len(new) == 1:
        out.append(C.Assign(C.Name(new[0][0].name), new[0][1]))
    else:
        held = [emitter.variable(f"const {storage.type}", "new", value, out) for storage, value in new]
        out += [C.Assign(C.Name(storage.name), value) for (storage, _), value in zip(new, held)]
    for flag, sign in zip(mover.flags, ("!=", "==")):
        if flag in mover.used:
            mask = C.Prefix("-", C.Convert("i64", C.Infix(sign, condition, C.Number("0"))))
            out.append(C.Assign(C.Name(OVERFLOW), C.Infix("&", C.Name(flag), mask), "|="))
    return [C.Scope(tuple(out))]


def _nonzero(choice: Choice) -> tuple[Choice, Expr]:
    """A choice by a number that is zero or not needs no comparison: that number, and the sides in its order."""
    test = _bare(choice.condition)
    if isinstance(test, Op) and test.op in ("eq", "ne") and test.args[0].type == INT and test.args[1] == Const(0, INT):
        if test.op == "ne":
            return choice, test.args[0]
        turned = Op("ne", test.args, test.of)
        return Choice(turned, choice.otherwise, choice.then), test.args[0]
    return choice, test


@dataclass
class _Mover:
    expressions: Expressions
    condition: C.CExpr
    flags: tuple[str, str]
    used: set[str] = field(default_factory=set)

    def move(self, condition: C.CExpr, then: C.CExpr, otherwise: C.CExpr) -> C.CExpr:
        return C.Invoke(self.expressions.used.helper("moved", DType.I64), (condition, then, otherwise))

    def combined(self, choice: Choice, own: Read) -> C.CExpr | None:
        """The value of a variable; the operation that it goes through on both sides stands outside."""
        then, otherwise = choice.then.get(own.buffer, own), choice.otherwise.get(own.buffer, own)
        shared = _shared(own, then, otherwise)
        if shared is None:
            return self.chosen(choice.condition, then, otherwise)
        op, then, otherwise = shared
        operand = self.chosen(choice.condition, then, otherwise)
        if operand is None:
            return None
        whole = Op(op, (own, Op("select", (choice.condition, then, otherwise), own.of)), own.of)
        return self.expressions.applied(whole, (self.expressions.value(own), operand))

    def chosen(self, condition: Expr, then: Expr, otherwise: Expr) -> C.CExpr | None:
        truths = _truth(then), _truth(otherwise)
        if truths[0] is not None and truths[1] is not None:
            logic = _select(condition, truths[0], truths[1])
            if not any(isinstance(part, Op) and part.op == "select" for part in subexpressions(logic)):
                return self.harmless(logic, then)
        sides = [self.side(value, flag) for value, flag in zip((then, otherwise), self.flags)]
        if sides[0] is None or sides[1] is None:
            return None
        return self.narrowed(self.move(self.condition, sides[0], sides[1]), then)

    def harmless(self, value: Expr, like: Expr) -> C.CExpr | None:
        """A value in the type of another, if nothing in it can leave 64 bits."""
        around, self.expressions.overflow = self.expressions.overflow, _UNUSED
        text = self.expressions.value(value)
        self.expressions.overflow = around
        return None if _UNUSED in C.free_names((C.Evaluate(text),)) else C.Convert(C_TYPE[like.type.dtype], text)

    def narrowed(self, value: C.CExpr, like: Expr) -> C.CExpr:
        return value if like.type.dtype is DType.I64 else C.Convert(C_TYPE[like.type.dtype], value)

    def side(self, value: Expr, flag: str) -> C.CExpr | None:
        """One side; beyond 64 bits it sets a flag that only counts if this side is taken."""
        if isinstance(value, Op) and value.op == "select":
            return self.inner(value)
        around, self.expressions.overflow = self.expressions.overflow, flag
        text = self.expressions.value(value)
        self.expressions.overflow = around
        if flag in C.free_names((C.Evaluate(text),)):
            if any(isinstance(part, Op) and part.op in _LAZY for part in subexpressions(value)):
                return None
            self.used.add(flag)
        return text

    def inner(self, value: Expr) -> C.CExpr | None:
        """A choice inside a side: what is taken of it must be no matter of 64 bits."""
        if not isinstance(value, Op) or value.op != "select":
            return self.harmless(value, value)
        parts = [self.harmless(value.args[0], value.args[0]), *map(self.inner, value.args[1:])]
        if parts[0] is None or parts[1] is None or parts[2] is None:
            return None
        return self.narrowed(self.move(parts[0], parts[1], parts[2]), value)


def _truth(expr: Expr) -> Expr | None:
    """A truth, or an integer that is 1 or 0, as a truth."""
    if expr.type.dtype is DType.BOOL:
        return expr
    if isinstance(expr, Const):
        return Const(bool(expr.value), BOOL) if expr.value in (0, 1) else None
    if not isinstance(expr, Op) or expr.op != "select":
        return None
    then, otherwise = _truth(expr.args[1]), _truth(expr.args[2])
    return None if then is None or otherwise is None else _select(expr.args[0], then, otherwise)


def _shared(own: Read, then: Expr, otherwise: Expr) -> tuple[str, Expr, Expr] | None:
    """own op a on one side, own op b on the other: the operation, a and b.  A side that leaves own as it is has the
    operation's identity."""
    sides = [_step(own, then), _step(own, otherwise)]
    ops = {side[0] for side in sides if side is not None}
    if len(ops) != 1 or any(side is None and value != own for side, value in zip(sides, (then, otherwise))):
        return None
    op = ops.pop()
    neutral = Const(REDUCTIONS["add" if op == "sub" else op].identity(own.of), own.of)
    first, second = (neutral if side is None else side[1] for side in sides)
    return op, first, second


def _step(own: Read, value: Expr) -> tuple[str, Expr] | None:
    """own op e: the operation and e."""
    if not isinstance(value, Op) or value.of != own.of:
        return None
    if value.op == "select":
        shared = _shared(own, value.args[1], value.args[2])
        return None if shared is None else (shared[0], _select(value.args[0], *shared[1:]))
    if own not in value.args or len(value.args) != 2:
        return None
    other = value.args[1] if value.args[0] == own else value.args[0]
    if value.op == "sub" and value.args[0] == own:
        if isinstance(other, Const) and own.of.dtype.kind == "i" and abs(other.value.real) < 64:
            return "add", Const(-int(other.value.real), other.of)
        return "sub", other
    return (value.op, other) if value.op in _ASSOCIATIVE else None


def _select(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """condition ? then : otherwise; truths are put together by `and` and `or`, which need no choice."""
    of = then.type
    if then == otherwise:
        return then
    if of.dtype is DType.BOOL:
        for side, other, wanted in ((then, otherwise, condition), (otherwise, then, _not(condition))):
            if isinstance(side, Const):
                return _or(wanted, other) if side.value else _and(_not(wanted), other)
    return Op("select", (condition, then, otherwise), of)


def _not(expr: Expr) -> Expr:
    expr = _bare(expr)
    if isinstance(expr, Op) and expr.op == "not" and expr.args[0].type.dtype is DType.BOOL:
        return expr.args[0]
    return Op("not", (expr,), BOOL)


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Cast) and expr.of.dtype is expr.value.type.dtype is DType.BOOL:
        expr = expr.value
    return expr


def _and(left: Expr, right: Expr) -> Expr:
    if isinstance(right, Const):
        return left if right.value else Const(False, BOOL)
    if _bare(left) == _not(right):
        return Const(False, BOOL)
    return Op("and", (left, right), BOOL)


def _or(left: Expr, right: Expr) -> Expr:
    if isinstance(right, Const):
        return Const(True, BOOL) if right.value else left
    if _bare(left) == _not(right) or _bare(right) == _not(left):
        return Const(True, BOOL)
    return Op("or", (left, right), BOOL)


def _values(block: Block) -> _Values | None:
    """What a block sets variables to, of the state before it; None if it does anything else."""
    known: _Values = {}
    for node in block:
        if isinstance(node, If):
            then, otherwise = _values(node.then), _values(node.orelse)
            if then is None or otherwise is None:
                return None
            condition = _with(node.condition, known)
            new = {}
            for name in dict.fromkeys((*then, *otherwise)):
                of = (then.get(name) or otherwise[name]).type
                own = Read(name, (), of)
                sides = tuple(_with(side.get(name, own), known) for side in (then, otherwise))
                new[name] = _select(condition, *sides)
            known |= new
        elif isinstance(node, Stmt) and not node.index and not node.domain and node.reduce is None:
            known[node.buffer] = _with(node.value, known)
        else:
            return None
        if sum(map(expr_size, known.values())) > _PARTS:
            return None
    return known


def _with(expr: Expr, values: _Values) -> Expr:
    if isinstance(expr, Read) and not expr.index and expr.buffer in values:
        return values[expr.buffer]
    return map_children(expr, lambda e: _with(e, values)) if values else expr


def _is_safe(expr: Expr, fetched: set[Read]) -> bool:
    """Whether a value costs little and is there whatever the branch: no element that the branch might protect."""
    if isinstance(expr, Read) and expr.index:
        return expr in fetched
    if isinstance(expr, (Const, Var, Read)):
        return expr.type.dtype.kind in "iubf"
    if isinstance(expr, Cast):
        return {expr.of.dtype.kind, expr.value.type.dtype.kind} <= set("iub") and _is_safe(expr.value, fetched)
    if not isinstance(expr, Op) or not all(_is_safe(arg, fetched) for arg in expr.args):
        return False
    if expr.op in ("floordiv", "mod", "shl", "shr"):
        by = expr.args[1].value.real if isinstance(expr.args[1], Const) else 0
        return by > 0 and (expr.op in ("shl", "shr") or not int(by) & (int(by) - 1))
    return expr.op in _CHEAP


def _depends_on_data(condition: Expr, around: Node) -> bool:
    """Whether a condition looks at elements, or at variables that do more than count in this loop."""
    found = list(reads(condition))
    if any(read.index for read in found):
        return True
    names = {read.buffer for read in found}
    return any(isinstance(n, Stmt) and n.buffer in names and not _counts(n) for n in walk((around,)))


def _counts(stmt: Stmt) -> bool:
    step = _step(Read(stmt.buffer, (), stmt.value.type), stmt.value)
    return step is not None and step[0] in ("add", "sub") and isinstance(step[1], Const)


def _compares(expr: Expr, targets: set[str]) -> bool:
    return (
        isinstance(expr, Op)
        and expr.op in _ORDER
        and any(isinstance(arg, Read) and not arg.index and arg.buffer in targets for arg in expr.args)
    )


def _leads(targets: set[str], around: Node) -> bool:
    """Whether the variables lead to elements in this loop: then a guess fetches the next ones, and a move waits."""
    led, size = set(targets), -1
    stmts = [node for node in walk((around,)) if isinstance(node, Stmt)]
    while len(led) != size:
        size = len(led)
        led |= {s.buffer for s in stmts if not s.index and any(r.buffer in led for r in reads(s.value))}
    exprs = [expr for node in walk((around,)) for expr in node_exprs(node)]
    places = [place for expr in exprs for read in reads(expr) for place in read.index]
    places += [place for stmt in stmts for place in stmt.index]
    return any(read.buffer in led for place in places for read in reads(place))


def emitted(node: Node, emitter: Emitter, around: Node | None) -> list[C.CStmt] | None:
    """The C of a branch without a jump; None where it had better stay one."""
    plain = emitter.expressions.in_vectors is False and not emitter.lockstep and not emitter.unit.checked
    if around is None or not plain or (choice := of_node(node)) is None:
        return None
    special = {*emitter.extremes, *emitter.parts, *emitter.unit.program.params}
    if special & set(choice.targets) or id(node) in emitter.unit.choices or why_not(choice, around) is not None:
        return None
    return moved(choice, emitter)
