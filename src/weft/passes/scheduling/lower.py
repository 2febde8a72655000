"""From statements to atoms.  In: a Stmt over a domain, simultaneous and with Reduce values; out: atoms, statements
whose points may be executed one by one in any order of their loops, with every Reduce split into its three steps:

    t[i] = f(sum[k] e(i, k)) over i   -->   s[i] = 0 over i;  s[i] += e(i, k) over i, k;  t[i] = f(s[i]) over i

The scheduler orders, fuses and places the loops, and contracts `s` to a scalar where it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from weft.analysis.intervals import Box, box, never_meet, ranges_of
from weft.directives import NONE, Directives
from weft.errors import NOWHERE, Span
from weft.ir import index as affine_index
from weft.ir.domain import Access, overlaps
from weft.ir.expr import TRUE, AnyDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars, integer
from weft.ir.index import affine
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Alloc, Buffer, Out, Program, Role, Stmt, TupleOut, ViewOut
from weft.ir.types import BOOL, PYBOOL, ScalarType
from weft.ir.walk import (
    children,
    dim_children,
    free_vars,
    fresh,
    map_children,
    map_dim,
    names_of,
    reads,
    subexpressions,
    substitute,
)
from weft.passes.scheduling.order import order
from weft.passes.scheduling.rewrite_dims import dense_expr, dense_stmt, without_arg_reductions
from weft.records import dataclass


@dataclass
class Workspace:
    """Names and buffers of the program being lowered; new ones are added here."""

    table: dict[str, Buffer]
    taken: set[str]
    strict: bool = False
    directives: Directives = NONE
    added: list[Buffer] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    notes: dict[tuple[Span, str], None] = field(default_factory=dict)  # what the user may want to know, each once

    @staticmethod
    def of(program: Program, strict: bool = False, directives: Directives = NONE) -> Workspace:
        taken = names_of(program)
        for out in program.results:
            taken |= _names_in(out)
        return Workspace(dict(program.table), taken, strict, directives)

    def new_buffer(self, hint: str, of: ScalarType, shape: tuple[Expr, ...] = ()) -> Buffer:
        buffer = Buffer(fresh(hint, self.taken), of, shape)
        self.table[buffer.name] = buffer
        self.added.append(buffer)
        self.made.add(buffer.name)
        return buffer

    def new_var(self, hint: str) -> str:
        return fresh(hint, self.taken)

    def ordered(self, atom: Atom) -> tuple[Dim, ...]:
        """The loops of an atom in the order to run them."""
        return order(atom, self.table, self.strict, self.directives)

    def owns(self, name: str) -> bool:
        """Whether the buffer was made here, so that every element of it exists."""
        return name in self.made


def _names_in(out: Out) -> set[str]:
    """The dimensions that a result names: those of views."""
    if isinstance(out, ViewOut):
        return set(dim_vars(out.dims))
    return set().union(*(_names_in(item) for item in out.items)) if isinstance(out, TupleOut) else set()


@dataclass(frozen=True)
class Let:
    """A scalar that an atom sets at each point before its own assignment, and that only it reads."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Atom:
    """One statement whose points may be executed one after the other: `buffer[index] = value` or `REDUCE= value`.

    `dims` are its loops, outermost first.  `ordered` names the loops that must keep their direction and nesting,
    because the statement overwrites what later points do not need any more; all others may be permuted, and those that
    are not reduced over run in any order.
    """

    dims: tuple[Dim, ...]
    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    reduce: str | None = None
    ordered: frozenset[str] = frozenset()
    span: Span = NOWHERE
    lets: tuple[Let, ...] = ()

    def exprs(self) -> Iterator[Expr]:
        """All expressions that executing the atom evaluates."""
        for let in self.lets:
            yield let.value
        yield self.value
        yield from self.index
        for dim in self.dims:
            yield dim.lo
            yield dim.hi

    def buffers(self) -> set[str]:
        """All buffers that it touches, but for its own scalars."""
        own = {let.name for let in self.lets}
        return {self.buffer} | {read.buffer for expr in self.exprs() for read in reads(expr)} - own

    def carries(self, var: str) -> bool:
        """Whether the loop over `var` carries the reduction: it does not tell target elements apart."""
        return self.reduce is not None and not separates(self.index, var, self.dims)

    def leaf(self) -> tuple[Stmt, ...]:
        """The statements of one point."""
        value = self.value
        if self.reduce is not None:
            target = Read(self.buffer, self.index, value.type)
            value = Op(reduction_operation(self.reduce), (target, value), value.type)
        lets = tuple(Stmt((), let.name, (), let.value, None, self.span) for let in self.lets)
        return (*lets, Stmt((), self.buffer, self.index, value, None, self.span))


def separates(index: tuple[Expr, ...], var: str, dims: Iterable[AnyDim]) -> bool:
    """Whether different values of `var` always mean different elements: a position varies with it and no other dim."""
    others = {dim.var for dim in dims} - {var}
    for position in index:
        form = affine(position)
        if form is not None and form.coefficient(var) != 0 and others.isdisjoint(form.names):
            return True
    return False


def reduction_operation(name: str) -> str:
    operation = REDUCTIONS[name].operation
    assert operation is not None  # arg-reductions have been rewritten
    return operation


def has_reduce(expr: Expr) -> bool:
    return any(isinstance(node, Reduce) for node in subexpressions(expr))


def identity(op: str, of: ScalarType) -> Const:
    return Const(REDUCTIONS[op].identity(of), of)


def dense_dims(domain: Domain) -> tuple[Dim, ...]:
    assert all(isinstance(dim, Dim) for dim in domain)
    return domain  # type: ignore[return-value]


class UnknownSize(Exception):
    """A temporary would be needed over a domain whose size is known only while it runs."""


Step = Alloc | Atom


def to_atoms(stmt: Stmt, workspace: Workspace) -> list[Step] | None:
    """A statement as atoms in order (with the allocations they need), or None if a temporary's size is not known."""
    stmt = prepared(stmt, workspace)
    if any(has_reduce(bound) for dim in stmt.domain for bound in dim_children(dim)):
        return None
    splitter = _Splitter(stmt, workspace)
    try:
        final = splitter.final()
        return splitter.steps + ([] if final is None else simultaneous(final, workspace))
    except UnknownSize:
        return None


def prepared(stmt: Stmt, workspace: Workspace) -> Stmt:
    """The statement with dense dimensions and binary reductions only."""
    return dense_stmt(without_arg_reductions(stmt, workspace.new_var), workspace.table)


def prepared_expr(expr: Expr, workspace: Workspace) -> Expr:
    stmt = without_arg_reductions(Stmt((), "", (), expr), workspace.new_var)
    return dense_expr(stmt.value, workspace.table, {})


# --- reductions ------------------------------------------------------------------------------------------------------


@dataclass
class _Splitter:
    """Takes the Reduces out of one statement; `steps` are what must run before it."""

    stmt: Stmt
    workspace: Workspace
    steps: list[Step] = field(default_factory=list)
    done: dict[tuple[Reduce, tuple[Expr, ...]], Expr] = field(default_factory=dict)

    def final(self) -> Stmt | None:
        """The statement without Reduces; None if its reduction went straight into its target."""
        stmt = self.stmt
        if self._accumulates_in_place():
            return None
        value = self.value(stmt.value, dense_dims(stmt.domain), ())
        index = tuple(self.value(e, dense_dims(stmt.domain), ()) for e in stmt.index)
        return replace(stmt, value=value, index=index)

    def _accumulates_in_place(self) -> bool:
        """t[i, j] = sum[k] e  -->  t[i, j] = 0; t[i, j] += e, if the inner loop is j and not k.

        (A sum whose inner loop is k wants a scalar accumulator.)
        """
        stmt, value = self.stmt, self.stmt.value
        if stmt.reduce is not None or not isinstance(value, Reduce) or not stmt.domain:
            return False
        if self.workspace.table[stmt.buffer].type.dtype is not value.type.dtype or has_reduce(value.value):
            return False
        exprs = (value, *stmt.index, *(bound for dim in stmt.domain for bound in dim_children(dim)))
        if any(read.buffer == stmt.buffer for expr in exprs for read in reads(expr)):
            return False
        if any(has_reduce(e) for e in stmt.index):
            return False
        if not all(separates(stmt.index, dim.var, stmt.domain) for dim in stmt.domain):
            return False
        outer, inner = dense_dims(stmt.domain), dense_dims(value.dims)
        atom = Atom(outer + inner, stmt.buffer, stmt.index, value.value, value.op, span=stmt.span)
        if self.workspace.ordered(atom)[-1].var in {dim.var for dim in inner}:
            return False
        start = identity(value.op, value.type)
        self.steps += [Atom(outer, stmt.buffer, stmt.index, start, span=stmt.span), atom]
        return True

    def value(self, expr: Expr, domain: tuple[Dim, ...], conditions: tuple[Expr, ...]) -> Expr:
        """`expr` with every Reduce replaced by a read of its result; `conditions` hold where it is evaluated."""
        if not has_reduce(expr):
            return expr
        if isinstance(expr, Reduce):
            # What was computed where fewer conditions hold is there already.
            for known in range(len(conditions) + 1):
                if (expr, conditions[:known]) in self.done:
                    return self.done[expr, conditions[:known]]
            self.done[expr, conditions] = result = self._reduce(expr, domain, conditions)
            return result
        if isinstance(expr, Op) and expr.op == "select":
            test = self.value(expr.args[0], domain, conditions)
            other = Op("not", (test,), test.type)
            then = self.value(expr.args[1], domain, (*conditions, test))
            orelse = self.value(expr.args[2], domain, (*conditions, other))
            return replace(expr, args=(test, then, orelse))
        return map_children(expr, lambda e: self.value(e, domain, conditions))

    def _reduce(self, reduce: Reduce, domain: tuple[Dim, ...], conditions: tuple[Expr, ...]) -> Read:
        dims = dense_dims(reduce.dims)
        value = self.value(reduce.value, domain + dims, conditions)
        if any(has_reduce(bound) for dim in dims for bound in dim_children(dim)):
            raise UnknownSize
        start = identity(reduce.op, reduce.type)
        if conditions:
            # A branch not taken may read out of bounds: its terms, and bounds read from memory, are tested one by one.
            test = _all_of(conditions)
            value = Op("select", (test, value, start), value.type)
            dims = tuple(_only_if(test, dim) if _bounds_read(dim) else dim for dim in dims)
        used = free_vars(value).union(*(free_vars(bound) for dim in dims for bound in dim_children(dim)))
        outer, dims = needed(domain, used, dims)
        boxes = box(outer)
        if boxes is None:
            raise UnknownSize
        result = self.workspace.new_buffer(f"{reduce.op}_of", reduce.type, tuple(b.size for b in boxes.values()))
        index = _box_index(boxes)
        if result.shape:
            self.steps.append(Alloc(result.name, span=self.stmt.span))
        self.steps.append(Atom(outer, result.name, index, start, span=self.stmt.span))
        self.steps.append(Atom(outer + dims, result.name, index, value, reduce.op, span=self.stmt.span))
        return Read(result.name, index, reduce.type)


def _box_index(boxes: dict[str, Box]) -> tuple[Expr, ...]:
    return tuple(affine_index.sub(Var(name), b.lo) for name, b in boxes.items())


def _all_of(conditions: tuple[Expr, ...]) -> Expr:
    total = conditions[0]
    for condition in conditions[1:]:
        total = Op("and", (total, condition), BOOL)
    return total


def _bounds_read(dim: Dim) -> bool:
    return any(True for bound in (dim.lo, dim.hi) for _ in reads(bound))


def _only_if(test: Expr, dim: Dim) -> Dim:
    """The dimension, empty unless `test` holds (bounds that read memory are evaluated only then)."""
    if not _bounds_read(dim):
        return replace(dim, hi=Op("select", (test, dim.hi, dim.lo), dim.hi.type))
    lo, hi = (Op("select", (test, bound, integer(0)), bound.type) for bound in (dim.lo, dim.hi))
    return replace(dim, lo=lo, hi=hi)


def needed(domain: tuple[Dim, ...], used: set[str], inner: tuple[Dim, ...]) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The dimensions of `domain` that an expression using the names `used` depends on, and `inner` made to match.

    What does not depend on a dimension is computed once and not for each of its points.  Where that dimension may be
    empty it must not be computed at all (it might read out of bounds): then a first dimension becomes empty too.
    """
    used = set(used)
    kept: list[Dim] = []
    for dim in reversed(domain):
        if dim.var in used:
            kept.insert(0, dim)
            used |= free_vars(dim.lo) | free_vars(dim.hi)
    left_out = [dim for dim in domain if dim not in kept]
    if any(free_vars(bound) & {d.var for d in left_out} for dim in left_out for bound in dim_children(dim)):
        return domain, inner
    extents = {(dim.lo, dim.hi, dim.step) for dim in (*kept, *inner)}
    test: Expr = TRUE
    for dim in left_out:
        if (dim.lo, dim.hi, dim.step) not in extents:
            some = Op("lt" if dim.step > 0 else "gt", (dim.lo, dim.hi), PYBOOL)
            test = some if test is TRUE else Op("and", (test, some), PYBOOL)
    if test is TRUE:
        return tuple(kept), inner
    if inner:
        return tuple(kept), (_only_if(test, inner[0]), *inner[1:])
    if kept and not free_vars(test) & {dim.var for dim in kept}:
        return (_only_if(test, kept[0]), *kept[1:]), inner
    return domain, inner


# --- simultaneity ----------------------------------------------------------------------------------------------------


def simultaneous(stmt: Stmt, workspace: Workspace) -> list[Step]:
    """Atoms with the effect of a Reduce-free statement all of whose reads see the state before it.

    In order of preference: as it is, if no point reads what another overwrites; with the few elements it reads
    elsewhere saved first (path[i, k] in an update of path[i, j]); in a direction that reads before it overwrites (a[1:]
    = a[:-1]); with all values computed first and stored then.
    """
    dims = dense_dims(stmt.domain)
    # A scalar set by (the one point of) a loop is not private to an iteration: that loop stays as it is.
    kept = frozenset(dim.var for dim in dims) if not stmt.index and stmt.reduce is None else frozenset()
    atom = Atom(dims, stmt.buffer, stmt.index, stmt.value, stmt.reduce, kept, span=stmt.span)
    troubling = overlapping_reads(stmt)
    if not troubling:
        return [atom]
    saved = _save_reads(stmt, troubling, workspace)
    if saved is not None:
        workspace.notes[stmt.span, f"what it reads of `{stmt.buffer}` elsewhere is copied before it is written"] = None
        return saved
    directed = None if stmt.reduce is not None else _directed(stmt, troubling)
    if directed is not None:
        return [directed]
    boxes = box(dims)
    workspace.notes[stmt.span, f"it reads what it overwrites of `{stmt.buffer}`: computed first, stored then"] = None
    if boxes is None or any(r.buffer == stmt.buffer for e in stmt.index for r in reads(e)):
        return copied_target(stmt, workspace)
    temporary = workspace.new_buffer(f"new_{stmt.buffer}", stmt.value.type, tuple(b.size for b in boxes.values()))
    index = _box_index(boxes)
    compute = Atom(dims, temporary.name, index, stmt.value, span=stmt.span)
    store = replace(atom, value=Read(temporary.name, index, stmt.value.type))
    return [Alloc(temporary.name, span=stmt.span), compute, store]


def overlapping_reads(stmt: Stmt) -> list[Read]:
    """Reads of the target that may see what another point of the statement writes."""
    if not stmt.domain:
        return []
    ranges = ranges_of(stmt.domain)
    found: list[Read] = []
    for expr in (stmt.value, *stmt.index, *(bound for dim in stmt.domain for bound in dim_children(dim))):
        for read in reads(expr):
            if read.buffer != stmt.buffer or read in found:
                continue
            same_point = read.index == stmt.index and stmt.reduce is None
            if same_point or never_meet(read.index, ranges, stmt.index, ranges):
                continue
            # Bounds that are the lesser of two have no interval: integer sets know them.
            plain = all(affine(part) is not None for part in (*read.index, *stmt.index))
            bounded = any(isinstance(b, Op) for dim in stmt.domain for b in dim_children(dim) if affine(b) is None)
            if not (plain and bounded) or overlaps(Access(stmt.domain, read.index), Access(stmt.domain, stmt.index)):
                found.append(read)
    return found


def _unconditional_reads(expr: Expr) -> set[Read]:
    """The reads that every evaluation performs: not those in a branch of a select."""
    if isinstance(expr, Op) and expr.op == "select":
        return _unconditional_reads(expr.args[0])
    found = {expr} if isinstance(expr, Read) else set()
    return found.union(*(_unconditional_reads(part) for part in children(expr)))


def _save_reads(stmt: Stmt, troubling: list[Read], workspace: Workspace) -> list[Step] | None:
    """t[i] = path[i, k] over i  before  path[i, j] = f(t[i]) over i, j: cheap, since t has fewer dimensions."""
    dims = dense_dims(stmt.domain)
    certain = _unconditional_reads(stmt.value)
    steps: list[Step] = []
    saved: dict[Expr, Expr] = {}
    for read in troubling:
        used = set().union(*(free_vars(e) for e in read.index))
        if read not in certain or any(r.buffer == stmt.buffer for e in read.index for r in reads(e)):
            return None
        kept, _ = needed(dims, used, ())
        boxes = box(kept)
        if len(kept) == len(dims) or boxes is None:
            return None
        temporary = workspace.new_buffer(f"old_{stmt.buffer}", read.of, tuple(b.size for b in boxes.values()))
        index = _box_index(boxes)
        if temporary.shape:
            steps.append(Alloc(temporary.name, span=stmt.span))
        steps.append(Atom(kept, temporary.name, index, read, span=stmt.span))
        saved[read] = Read(temporary.name, index, read.of)
    value = _replaced(stmt.value, saved)
    if any(read.buffer == stmt.buffer and read in troubling for e in stmt.index for read in reads(e)):
        return None
    return [*steps, Atom(dims, stmt.buffer, stmt.index, value, stmt.reduce, span=stmt.span)]


def _replaced(expr: Expr, new: dict[Expr, Expr]) -> Expr:
    """`expr` with whole subexpressions replaced, outermost first."""
    return new[expr] if expr in new else map_children(expr, lambda e: _replaced(e, new))


def copied_target(stmt: Stmt, workspace: Workspace) -> list[Step]:
    """The last resort: the old contents of the whole target are saved, and all reads go there."""
    target = workspace.table[stmt.buffer]
    copy = workspace.new_buffer(f"old_{stmt.buffer}", target.type, target.shape)
    names = [workspace.new_var(f"c{axis}") for axis in range(target.rank)]
    dims = tuple(Dim(name, integer(0), size) for name, size in zip(names, target.shape))
    place = tuple(Var(name) for name in names)

    def visit(expr: Expr) -> Expr:
        new = map_children(expr, visit)
        return replace(new, buffer=copy.name) if isinstance(new, Read) and new.buffer == stmt.buffer else new

    domain = tuple(map_dim(dim, visit) for dim in stmt.domain)
    update = Atom(
        dense_dims(domain),
        stmt.buffer,
        tuple(visit(e) for e in stmt.index),
        visit(stmt.value),
        stmt.reduce,
        span=stmt.span,
    )
    save = Atom(dims, copy.name, place, Read(stmt.buffer, place, target.type), span=stmt.span)
    return ([Alloc(copy.name, span=stmt.span)] if target.rank else []) + [save, update]


def _directed(stmt: Stmt, troubling: list[Read]) -> Atom | None:
    """a[i] = f(a[i - 1])  -->  the same with i running down: each element is read before it is overwritten.

    The element that point x reads is overwritten at point x + delta, delta constant: it must come later in loop order.
    """
    dims = list(dense_dims(stmt.domain))
    deltas: list[dict[str, int]] = []
    for read in troubling:
        delta = _distance(stmt, read)
        if delta is None:
            return None
        if delta:
            deltas.append(delta)
    ordered: set[str] = set()
    for at, dim in enumerate(dims):
        shifts = [delta.get(dim.var, 0) * dim.step for delta in deltas]
        if not any(shifts):
            continue
        if abs(dim.step) != 1 or (min(shifts) < 0 < max(shifts)):
            return None
        if min(shifts) < 0:
            one = integer(dim.step)
            dims[at] = replace(dim, lo=affine_index.sub(dim.hi, one), hi=affine_index.sub(dim.lo, one), step=-dim.step)
            if any(dim.var in free_vars(bound) for inner in dims for bound in dim_children(inner)):
                return None  # bounds would still be right, but a triangle turned around is not worth the thought
        ordered.add(dim.var)
        deltas = [delta for delta, shift in zip(deltas, shifts) if shift == 0]
    if any(deltas):
        return None
    return Atom(tuple(dims), stmt.buffer, stmt.index, stmt.value, None, frozenset(ordered), stmt.span)


def _distance(stmt: Stmt, read: Read) -> dict[str, int] | None:
    """The constant distance from a point to the one that overwrites what it reads; {}: there is none; None: unknown."""
    names = {dim.var for dim in stmt.domain}
    delta: dict[str, int] = {}
    placed: set[str] = set()
    for written, seen in zip(stmt.index, read.index):
        w, r = affine(written), affine(seen)
        if w is None or r is None:
            return None
        own = sorted(w.names & names)
        gap = r - w
        if len(own) > 1 or not gap.is_constant:
            return None
        if not own:
            if gap.constant != 0:
                return {}
            continue
        coefficient = w.coefficient(own[0])
        if gap.constant % coefficient != 0:
            return {}
        shift = gap.constant // coefficient
        if delta.get(own[0], shift) != shift:
            return {}
        delta[own[0]] = shift
        placed.add(own[0])
    return delta if placed == names else None


def is_private(buffer: Buffer) -> bool:
    """Whether only this function can see the buffer."""
    return buffer.role is Role.LOCAL


def renamed(atom: Atom, names: dict[str, Expr]) -> Atom:
    """The atom with variables replaced (its loops keep their names)."""
    if not names:
        return atom
    dims = tuple(replace(dim, lo=substitute(dim.lo, names), hi=substitute(dim.hi, names)) for dim in atom.dims)
    index = tuple(substitute(e, names) for e in atom.index)
    lets = tuple(replace(let, value=substitute(let.value, names)) for let in atom.lets)
    return replace(atom, dims=dims, index=index, value=substitute(atom.value, names), lets=lets)
