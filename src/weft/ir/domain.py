"""Exact questions about integer sets.  In: domains, accesses and conditions of the IR; out: plain Python answers.

The only module that imports isl, and only when the first question is asked.  Everything affine (floor division and
modulo by constants, minima and maxima included) is decided exactly, within a budget of steps for each question.  What
is not affine is left out of a set, which makes the set larger; each function says which answer it then gives, and it is
always the careful one.  Names that no domain binds (sizes, arguments, variables of loops further out) are parameters:
fixed, and the same at both ends of a dependence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from weft.ir import index
from weft.ir.expr import Cast, Const, Dim, Domain, Expr, Op, Var, boolean, dim_vars, integer
from weft.ir.types import INT, PYBOOL, DType
from weft.ir.walk import free_vars, reads
from weft.records import dataclass

MAX_DIMS = 16  # of one question: isl's time grows fast beyond
MAX_OPERATIONS = 100_000  # isl's own count of steps for one question, about a tenth of a second
MAX_PIECES = 12  # of an answer that is turned back into an expression

_ARITHMETIC = {"add": "+", "sub": "-"}
_RELATIONS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CACHE_SIZE = 4096
_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Access:
    """The elements `index` of one buffer, at the points of `domain` (enclosing loops first) where `conditions` hold."""

    domain: Domain
    index: tuple[Expr, ...]
    conditions: tuple[Expr, ...] = ()


Context = tuple[Expr, ...]


@lru_cache(maxsize=1)
def _isl() -> tuple[Any, Any]:
    """The library and the one context that all sets share (isl mixes contexts silently)."""
    import islpy

    context = islpy.Context()
    context.set_max_operations(MAX_OPERATIONS)
    return islpy, context


def _out_of_budget(problem: Exception) -> bool:
    """Whether isl gave up because the steps of a question are used up.

    A budget that ends while isl reads a set is reported as a mistake in its text; but then a set that is certainly
    right cannot be read any more, either.
    """
    if "number of operations exceeded" in str(problem):
        return True
    isl, context = _isl()
    try:
        isl.Set.read_from_str(context, "{ [x] : 0 <= x < 9 and x mod 3 = 1 }")
    except isl.Error:
        return True
    return False


def _question(careful: Any) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A question with a budget: an answer is remembered; where isl does not find one in time, it is the careful one."""

    def wrap(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(function)
        def asked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            isl, context = _isl()
            context.reset_operations()
            try:
                return function(*args, **kwargs)
            except isl.Error as problem:
                if not _out_of_budget(problem):
                    raise  # a mistake in a question must not pass for a hard one
                answer: _T = careful
                return answer

        return lru_cache(maxsize=_CACHE_SIZE)(asked)  # type: ignore[return-value]

    return wrap


# --- from expressions to isl's notation -------------------------------------------------------------------------------


class _Names:
    """isl's names: x0, x1, ... for the points of a set, s0, s1, ... for parameters.

    A product of parameters, or any other expression of them alone, is a parameter of its own: as fixed as they are.
    """

    def __init__(self) -> None:
        self.parameters: dict[Expr, str] = {}
        self.points: list[str] = []

    def point(self) -> str:
        self.points.append(f"x{len(self.points)}")
        return self.points[-1]

    def parameter(self, expr: Expr) -> str:
        return self.parameters.setdefault(expr, f"s{len(self.parameters)}")


class _Side:
    """One copy of a domain's variables among the points of a set."""

    def __init__(self, names: _Names, bound: Mapping[str, str]) -> None:
        self.names = names
        self.bound = dict(bound)
        self.exact = True

    def integer(self, expr: Expr) -> str | None:
        """The text of an integer expression, None if it is not affine."""
        if isinstance(expr, Const) and expr.of.dtype.is_integer:
            return str(int(expr.value.real))
        if isinstance(expr, Var):
            return self.bound.get(expr.name) or self.names.parameter(expr)
        if isinstance(expr, Cast) and expr.of.dtype is DType.I64 and expr.value.type.dtype is DType.I64:
            return self.integer(expr.value)
        if not isinstance(expr, Op) or expr.type != INT:
            return None
        text = self._operation(expr)
        if text is None and not (free_vars(expr) & set(self.bound)) and next(reads(expr), None) is None:
            return self.names.parameter(expr)
        return text

    def _operation(self, expr: Op) -> str | None:
        args = [self.integer(arg) for arg in expr.args]
        if any(arg is None for arg in args):
            return None
        if expr.op in _ARITHMETIC:
            return f"({args[0]} {_ARITHMETIC[expr.op]} {args[1]})"
        if expr.op == "neg":
            return f"(-{args[0]})"
        if expr.op in ("minimum", "maximum"):
            return f"{expr.op[:3]}({args[0]}, {args[1]})"
        forms = [index.affine(arg) for arg in expr.args]
        fixed = [form.constant if form is not None and form.is_constant else None for form in forms]
        if expr.op == "mul" and (fixed[0] is not None or fixed[1] is not None):
            factor, other = (fixed[0], args[1]) if fixed[0] is not None else (fixed[1], args[0])
            return f"({factor} * {other})"
        divisor = fixed[-1] or 0
        if expr.op == "floordiv" and divisor > 0:
            return f"floor(({args[0]}) / {divisor})"
        if expr.op == "mod" and divisor > 0:
            return f"(({args[0]}) mod {divisor})"
        return None

    def condition(self, expr: Expr) -> str | None:
        """The text of a truth value, None if it is not affine."""
        if isinstance(expr, Cast) and expr.of.dtype is DType.BOOL and expr.value.type.dtype is DType.BOOL:
            return self.condition(expr.value)
        if isinstance(expr, Const):
            return "0 = 0" if expr.value else "0 = 1"
        if not isinstance(expr, Op):
            return None
        if expr.op in _RELATIONS:
            left, right = (self.integer(arg) for arg in expr.args)
            return None if left is None or right is None else f"({left} {_RELATIONS[expr.op]} {right})"
        if expr.op in ("and", "or", "not"):
            parts = [self.condition(arg) for arg in expr.args]
            if None in parts:
                return None
            return f"(not {parts[0]})" if expr.op == "not" else f"({parts[0]} {expr.op} {parts[1]})"
        return None

    def constraints(self, domain: Domain, conditions: Iterable[Expr]) -> list[str]:
        """What the points of a domain satisfy; parts that are not affine are left out, and `exact` says so."""
        found: list[str] = []
        for dim in domain:
            if not isinstance(dim, Dim):
                self.exact = False  # where a compressed level has entries is data
                continue
            var, lo, hi = self.bound[dim.var], self.integer(dim.lo), self.integer(dim.hi)
            first, last = ("<=", "<") if dim.step > 0 else (">=", ">")
            if lo is not None:
                found.append(f"{lo} {first} {var}")
                if abs(dim.step) != 1:
                    found.append(f"({var} - {lo}) mod {abs(dim.step)} = 0")
            if hi is not None:
                found.append(f"{var} {last} {hi}")
            self.exact &= lo is not None and hi is not None
        for expr in conditions:
            for part in _conjuncts(expr):
                text = self.condition(part)
                self.exact &= text is not None
                if text is not None:
                    found.append(text)
        return found


def _conjuncts(expr: Expr, negated: bool = False) -> Iterator[Expr]:
    """The parts that must all hold: each can be left out alone if it is not affine."""
    if isinstance(expr, Op) and expr.op == "not":
        yield from _conjuncts(expr.args[0], not negated)
    elif isinstance(expr, Op) and expr.op == ("or" if negated else "and"):
        for arg in expr.args:
            yield from _conjuncts(arg, negated)
    else:
        yield Op("not", (expr,), PYBOOL) if negated else expr


def _side(names: _Names, domain: Domain) -> _Side:
    return _Side(names, {name: names.point() for name in dim_vars(domain)})


def _set(names: _Names, constraints: Sequence[str]) -> Any:
    isl, context = _isl()
    parameters = ", ".join(names.parameters.values())
    body = " and ".join(constraints) or "0 = 0"
    return isl.Set.read_from_str(context, f"[{parameters}] -> {{ [{', '.join(names.points)}] : {body} }}")


def _context(names: _Names, context: Context) -> list[str]:
    return _Side(names, {}).constraints((), context)


def _too_large(*domains: Domain) -> bool:
    return sum(len(dim_vars(domain)) for domain in domains) > MAX_DIMS


# --- questions --------------------------------------------------------------------------------------------------------


@_question(careful=False)
def is_empty(domain: Domain, conditions: tuple[Expr, ...] = (), context: Context = ()) -> bool:
    """Whether certainly no point of `domain` satisfies all `conditions` (not affine: False unless the rest decides)."""
    if _too_large(domain):
        return False
    names = _Names()
    constraints = _side(names, domain).constraints(domain, conditions) + _context(names, context)
    return bool(_set(names, constraints).is_empty())


def holds(condition: Expr, domain: Domain = (), context: Context = ()) -> bool:
    """Whether `condition` certainly holds at every point of `domain` (not affine: False)."""
    return is_empty(domain, (Op("not", (condition,), PYBOOL),), context)


@_question(careful=False)
def is_subset(first: Domain, second: Domain, context: Context = ()) -> bool:
    """Whether certainly every point of `first` is one of `second`, dimension by dimension (not affine: False)."""
    if len(dim_vars(first)) != len(dim_vars(second)) or _too_large(first):
        return False
    names = _Names()
    inner = _side(names, first)
    outer = _Side(names, dict(zip(dim_vars(second), names.points)))
    inside = inner.constraints(first, ()) + _context(names, context)
    outside = outer.constraints(second, ())
    if not outer.exact:
        return False
    return bool(_set(names, inside).is_subset(_set(names, outside)))


@_question(careful=True)
def depends(first: Access, second: Access, carried_by: str | None = None, context: Context = ()) -> bool:
    """Whether a point of `first` and a *later* point of `second` may touch the same element of one buffer.

    The loops around both are the dimensions that both domains begin with (by name).  With `carried_by` one of them:
    the loops outside it stand still, and it is at an earlier iteration for `first` than for `second`.  With None: all
    common loops are at the same iteration.  Exact if everything is affine, else True unless the affine part decides.
    """
    if _too_large(first.domain, second.domain):
        return True
    common = _common(first.domain, second.domain)
    if carried_by is not None and carried_by not in [dim.var for dim in common]:
        raise ValueError(f"{carried_by} is no loop around both accesses")
    names = _Names()
    one, other = _side(names, first.domain), _side(names, second.domain)
    constraints = _same_element(one, first, other, second)
    for dim in common:
        before, after = one.bound[dim.var], other.bound[dim.var]
        if dim.var == carried_by:
            constraints.append(f"{before} {'<' if dim.step > 0 else '>'} {after}")
            break
        constraints.append(f"{before} = {after}")
    return not _set(names, constraints + _context(names, context)).is_empty()


@_question(careful=True)
def nearer_than(
    first: Access, second: Access, weights: tuple[int, ...], least: int, context: Context = ()
) -> bool:
    """Whether a point of `first` and a *later* point of `second` may touch the same element of one buffer at a
    distance in iterations, weighted and summed over the loops around both, below `least`.

    There is a weight for each of these loops, outermost first; a distance counts iterations in the direction of the
    loop (steps of one).  Exact if everything is affine, else True unless the affine part decides.
    """
    if _too_large(first.domain, second.domain):
        return True
    common = _common(first.domain, second.domain)[: len(weights)]
    names = _Names()
    one, other = _side(names, first.domain), _side(names, second.domain)
    ends = [(one.bound[dim.var], other.bound[dim.var]) for dim in common]
    pairs = [(before, after) if dim.step > 0 else (after, before) for dim, (before, after) in zip(common, ends)]
    orders = []
    for level, (before, after) in enumerate(pairs):
        still = [f"{outer} = {later}" for outer, later in pairs[:level]]
        orders.append("(" + " and ".join([*still, f"{before} < {after}"]) + ")")
    total = " + ".join(f"{weight} * ({after} - {before})" for weight, (before, after) in zip(weights, pairs))
    constraints = _same_element(one, first, other, second) + _context(names, context)
    constraints += [f"({' or '.join(orders)})", f"{total} < {least}"]
    return not _set(names, constraints).is_empty()


@_question(careful=True)
def opposed(first: Access, second: Access, outer: Dim, inner: Dim, context: Context = ()) -> bool:
    """Whether `first` and `second` may touch the same element with the loop `outer` at an earlier and the loop `inner`
    at a later iteration for `first` than for `second`; both are dimensions of both (not affine: True unless the rest
    decides).
    """
    if _too_large(first.domain, second.domain):
        return True
    names = _Names()
    one, other = _side(names, first.domain), _side(names, second.domain)
    constraints = _same_element(one, first, other, second)
    for dim, up, down in ((outer, "<", ">"), (inner, ">", "<")):
        constraints.append(f"{one.bound[dim.var]} {up if dim.step > 0 else down} {other.bound[dim.var]}")
    return not _set(names, constraints + _context(names, context)).is_empty()


@_question(careful=False)
def surely_meet(first: Access, second: Access, loop: str, enough: int) -> bool:
    """Whether points of `first` and `second` at different iterations of `loop` touch the same element for certain, if
    every dimension of unknown extent has at least `enough` points (not affine: False)."""
    if _too_large(first.domain, second.domain):
        return False
    names = _Names()
    one, other = _side(names, first.domain), _side(names, second.domain)
    constraints = _same_element(one, first, other, second)
    parts = [(one.integer(a), other.integer(b)) for a, b in zip(first.index, second.index)]
    if not (one.exact and other.exact) or any(a is None or b is None for a, b in parts):
        return False
    meet = _set(names, [*constraints, f"{one.bound[loop]} != {other.bound[loop]}"])
    outside = _Side(names, {})
    long: list[str] = []
    for dim in (*first.domain, *second.domain):
        assert isinstance(dim, Dim)  # the domains are exact
        extent = index.affine(dim.hi), index.affine(dim.lo)
        if None in extent or (free_vars(dim.hi) | free_vars(dim.lo)) & {*one.bound, *other.bound}:
            continue
        gap = extent[0] - extent[1]  # type: ignore[operator]
        if not gap.is_constant:
            sign = 1 if dim.step > 0 else -1
            long.append(f"{sign} * ({outside.integer(dim.hi)} - {outside.integer(dim.lo)}) >= {enough * abs(dim.step)}")
    return bool(_set(names, long).params().is_subset(meet.params()))


@_question(careful=True)
def overlaps(first: Access, second: Access, context: Context = ()) -> bool:
    """Whether any points of the two may touch the same element (not affine: True unless the rest decides)."""
    if _too_large(first.domain, second.domain):
        return True
    names = _Names()
    one, other = _side(names, first.domain), _side(names, second.domain)
    constraints = _same_element(one, first, other, second) + _context(names, context)
    return not _set(names, constraints).is_empty()


@dataclass(frozen=True)
class Earlier:
    """A write that comes before a read: the loops around both are the `common` first dimensions of both domains; they
    are at the same iteration, or the loop number `carried` is at an earlier one and those outside it at the same.
    """

    access: Access
    common: int
    carried: int | None = None


@_question(careful=False)
def covered(read: Access, among: Access, writes: tuple[Earlier, ...], context: Context = ()) -> bool:
    """Whether every element that `read` and `among` (an access outside all loops) touch has certainly been written by
    one of `writes`, the likeliest first, before it is read.  A write that is not affine counts for nothing; where the
    others are not, they are taken to touch more (False unless the rest decides).
    """
    if _too_large(read.domain, among.domain):
        return False
    names = _Names()
    side = _side(names, read.domain)
    elements = [names.point() for _ in read.index]
    inside = side.constraints(read.domain, read.conditions) + _at(side, read.index, elements)[0]
    inside += [_some_point(names, among, elements, [], "a")[0], *_context(names, context)]
    missed = _set(names, inside)
    for write in writes:
        if missed.is_empty():
            break
        if _too_large(read.domain, write.access.domain):
            continue
        text, exact = _some_point(names, write.access, elements, _order(side, write, "w"), "w")
        if exact:
            missed = missed.subtract(_set(names, [text]))
    return bool(missed.is_empty())


def _at(side: _Side, index_: Sequence[Expr], elements: Sequence[str]) -> tuple[list[str], bool]:
    """That an index is at these elements, as far as it is affine, and whether it is."""
    texts = [side.integer(part) for part in index_]
    return [f"{text} = {place}" for text, place in zip(texts, elements) if text is not None], None not in texts


def _order(side: _Side, write: Earlier, prefix: str) -> list[str]:
    """When a write comes before the points of a side."""
    found: list[str] = []
    for level, dim in enumerate(write.access.domain[: write.common]):
        before, after = f"{prefix}{level}", side.bound[dim.var]
        if level == write.carried:
            assert isinstance(dim, Dim)
            return [*found, f"{before} {'<' if dim.step > 0 else '>'} {after}"]
        found.append(f"{before} = {after}")
    return found


def _some_point(
    names: _Names, access: Access, elements: Sequence[str], order: list[str], prefix: str
) -> tuple[str, bool]:
    """That some point of an access is at these elements, and whether that is all there is to say."""
    bound = {name: f"{prefix}{number}" for number, name in enumerate(dim_vars(access.domain))}
    side = _Side(names, bound)
    places, exact = _at(side, access.index, elements)
    parts = [*side.constraints(access.domain, access.conditions), *places, *order]
    body = " and ".join(parts) or "0 = 0"
    return (f"exists {', '.join(bound.values())} : {body}" if bound else body), exact and side.exact


@_question(careful=False)
def injective(access: Access, context: Context = ()) -> bool:
    """Whether certainly no two points touch the same element (not affine: False unless the rest decides)."""
    if _too_large(access.domain, access.domain):
        return False
    names = _Names()
    one, other = _side(names, access.domain), _side(names, access.domain)
    constraints = _same_element(one, access, other, access) + _context(names, context)
    differ = [f"{one.bound[name]} != {other.bound[name]}" for name in one.bound]
    if not differ:
        return True
    return bool(_set(names, [*constraints, f"({' or '.join(differ)})"]).is_empty())


def _common(first: Domain, second: Domain) -> tuple[Dim, ...]:
    """The dense dimensions that both domains begin with."""
    shared: list[Dim] = []
    for one, other in zip(first, second):
        if not isinstance(one, Dim) or not isinstance(other, Dim) or one.var != other.var:
            break
        shared.append(one)
    return tuple(shared)


def _same_element(one: _Side, first: Access, other: _Side, second: Access) -> list[str]:
    constraints = one.constraints(first.domain, first.conditions) + other.constraints(second.domain, second.conditions)
    for left, right in zip(first.index, second.index):
        a, b = one.integer(left), other.integer(right)
        if a is not None and b is not None:
            constraints.append(f"{a} = {b}")
    return constraints


# --- answers that are expressions -------------------------------------------------------------------------------------


@_question(careful=None)
def precondition(domain: Domain, condition: Expr, context: Context = ()) -> Expr | None:
    """A condition on parameters alone under which `condition` holds at every point of `domain`; None if there is none.

    Exact if all is affine: it is true whenever every point satisfies the condition.  If a bound of the domain is not
    affine, or steps make the answer depend on remainders, it may be stricter.  A condition that is not affine has no
    precondition.  It is meant under `context`, which it does not repeat.
    """
    if _too_large(domain):
        return None
    names = _Names()
    side = _side(names, domain)
    inside = side.constraints(domain, ())
    text = side.condition(condition)
    if text is None:
        return None
    known = _context(names, context)
    bad = _set(names, [*inside, *known, f"not ({text})"]).params()
    if bad.involves_locals():
        bad = bad.remove_divs()
    assumed = _set(names, known).params()
    return _boolean(names, bad.complement().gist(assumed).coalesce())


@_question(careful=None)
def lexmin(domain: Domain, context: Context = ()) -> tuple[Expr, ...] | None:
    """The first point of a domain in the order of its dimensions (each counted upwards), by parameters.

    None if the domain is not affine, may be empty under the context, or the point needs a case distinction.
    """
    return _extreme_point(domain, context, lambda points: points.lexmin_pw_multi_aff())


@_question(careful=None)
def lexmax(domain: Domain, context: Context = ()) -> tuple[Expr, ...] | None:
    """The last point of a domain; see `lexmin`."""
    return _extreme_point(domain, context, lambda points: points.lexmax_pw_multi_aff())


def _extreme_point(domain: Domain, context: Context, pick: Callable[[Any], Any]) -> tuple[Expr, ...] | None:
    isl, _ = _isl()
    if _too_large(domain):
        return None
    names = _Names()
    side = _side(names, domain)
    constraints = side.constraints(domain, ())
    if not side.exact:
        return None
    known = _set(names, _context(names, context)).params()
    points = _set(names, constraints)
    if not known.is_subset(points.params()):
        return None
    pieces: list[tuple[Any, Any]] = []
    pick(points.intersect_params(known)).gist_params(known).foreach_piece(lambda s, m: pieces.append((s, m)))
    if len(pieces) != 1:
        return None
    several = pieces[0][1]
    result: list[Expr] = []
    for position in range(several.dim(isl.dim_type.out)):
        expr = _from_aff(names, several.get_aff(position))
        if expr is None:
            return None
        result.append(expr)
    return tuple(result)


def _divides(form: Any) -> bool:
    """Whether a linear form of isl uses an integer division."""
    kind = _isl()[0].dim_type.div
    return any(not form.get_coefficient_val(kind, position).is_zero() for position in range(form.dim(kind)))


def _from_aff(names: _Names, aff: Any) -> Expr | None:
    """An affine function of the parameters as an expression; None with divisions."""
    isl, _ = _isl()
    kind = isl.dim_type
    if _divides(aff):
        return None
    terms = {}
    for position in range(aff.dim(kind.param)):
        coefficient = aff.get_coefficient_val(kind.param, position)
        if not coefficient.is_zero():
            terms[aff.get_dim_name(kind.param, position)] = coefficient
    constant = aff.get_constant_val()
    if not constant.is_int() or not all(value.is_int() for value in terms.values()):
        return None
    return _linear(names, {name: int(value.to_python()) for name, value in terms.items()}, int(constant.to_python()))


def _linear(names: _Names, terms: Mapping[str, int], constant: int) -> Expr:
    """coefficient * parameter + ... + constant, in canonical order where the parameters are plain names."""
    source = {text: expr for expr, text in names.parameters.items()}
    total: Expr = integer(constant)
    for name, coefficient in terms.items():
        term = index.mul(integer(coefficient), source[name])
        total = index.add(term, total)
    return total


def _boolean(names: _Names, answer: Any) -> Expr | None:
    """A set of parameters as a condition: some piece, all of its constraints.  None if too long or with divisions."""
    if answer.is_empty():
        return boolean(False)
    pieces = answer.get_basic_sets()
    if len(pieces) > MAX_PIECES:
        return None
    alternatives: list[Expr] = []
    for piece in pieces:
        parts: list[Expr] = []
        for constraint in piece.get_constraints():
            part = _constraint(names, constraint)
            if part is None:
                return None
            parts.append(part)
        alternatives.append(_joined("and", parts, boolean(True)))
    return _joined("or", alternatives, boolean(False))


def _joined(op: str, parts: Sequence[Expr], nothing: Expr) -> Expr:
    result: Expr | None = None
    for part in parts:
        result = part if result is None else Op(op, (result, part), PYBOOL)
    return nothing if result is None else result


def _constraint(names: _Names, constraint: Any) -> Expr | None:
    """One constraint with positive coefficients on both sides: 2*n <= m + 1."""
    isl, _ = _isl()
    if _divides(constraint):
        return None
    left: dict[str, int] = {}
    right: dict[str, int] = {}
    for position in range(constraint.dim(isl.dim_type.param)):
        value = int(constraint.get_coefficient_val(isl.dim_type.param, position).to_python())
        if value:
            (right if value > 0 else left)[constraint.get_dim_name(isl.dim_type.param, position)] = abs(value)
    constant = int(constraint.get_constant_val().to_python())
    relation = "eq" if constraint.is_equality() else "le"
    sides = _linear(names, left, max(-constant, 0)), _linear(names, right, max(constant, 0))
    return Op(relation, sides, PYBOOL)
