"""Late checks.  In: a program that Python may repeat (it changes nothing that the caller sees before it ends); out: its
checks of values after the statements and loops that they need not come before.

    for i: for j < i: a[i, j] = a[i, j] - s; check a[j, j] != 0; a[i, j] = a[i, j] / a[j, j]
        -->  for i: for j < i: a[i, j] = a[i, j] - s; a[i, j] = a[i, j] / a[j, j]
             check all[j: 0 <= j < n - 1] a[j, j] != 0

    for i: for j: p[i, j] = f(p[i, j - 1]); check p[i, j] != 0
        -->  for i: (for j: p[i, j] = f(p[i, j - 1]); held[i] = all[j] p[i, j] != 0);  check all[i] held[i]

Whichever check fails first, Python repeats the call and raises what comes first there.  So a check is only bound to the
values that it looks at; statements that it stood between become neighbours, and one statement in the end.  A check that
looks at a variable which will change may look instead at what the variable was computed from, at where it was copied
to, or, for the argument of a square root, at the root.  What it finds out about a temporary array is kept row by row,
so that the array is not needed behind the loop that fills it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from weft.analysis.dependence import LoopContext, directions
from weft.analysis.effects import Access, accesses, node_reads
from weft.analysis.facts import Facts, entry_facts
from weft.analysis.scopes import lasting_writes
from weft.ir.expr import ZERO, AnyDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.program import (
    HAND_BACK,
    MALFORMED,
    Alloc,
    Block,
    Buffer,
    Check,
    If,
    Loop,
    Node,
    Program,
    Role,
    Stmt,
    While,
)
from weft.ir.types import BOOL, INT
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    dim_children,
    domain_buffers,
    expr_buffers,
    expr_size,
    free_vars,
    fresh,
    has_exit,
    map_sub_blocks,
    names_of,
    node_domain,
    rewrite,
    subexpressions,
    walk,
)
from weft.passes.matching.bounds import bounded, inside, plain
from weft.passes.raising.speculate import is_speculable
from weft.passes.rename import renamed
from weft.passes.simplifying.algebra import as_type, is_exact
from weft.records import dataclass

_ONE = Const(1, INT)
_MOST_REPEATED = 60  # parts of an expression that a check may compute again
_MOST_WAITING = 40  # checks of one block that are looked at again and again


def late(program: Program) -> Program:
    """The program with its checks of values as late as what they look at allows."""
    if lasting_writes(program) or not any(isinstance(node, Check) for node in walk(program.body)):
        return program
    written = {name for node in program.body for name in buffers_written(node)}
    sinker = _Sinker(program.table, frozenset(written), _uncertain(program.body), names_of(program))
    body = sinker.block(program.body, entry_facts(program))[0]
    allocs = tuple(Alloc(buffer.name) for buffer in sinker.made)
    return replace(program, body=(*allocs, *body), buffers=(*program.buffers, *sinker.made))


def _uncertain(body: Block) -> frozenset[str]:
    """Buffers whose last places depend on the registers they are computed in: they hold sines and the like.

    In a loop that a test keeps sequential they come out as in CPython, and so does the test.
    """
    sources: dict[str, set[str]] = {}
    found: set[str] = set()
    for node in walk(body):
        if isinstance(node, Stmt):
            sources.setdefault(node.buffer, set()).update(expr_buffers(node.value))
            found |= set() if is_exact(node.value) else {node.buffer}
        elif not isinstance(node, (Loop, If, While, Check)):
            found |= buffers_written(node) if not isinstance(node, Alloc) else set()
    while more := {name for name, read in sources.items() if name not in found and read & found}:
        found |= more
    return frozenset(found)


@dataclass(frozen=True)
class _Waiting:
    """A check under way: the test as it was written, and others that hold only where it does."""

    check: Check
    others: tuple[Check, ...] = ()

    @property
    def tests(self) -> tuple[Check, ...]:
        return (self.check, *self.others)

    def keeping(self, tests: list[Check]) -> _Waiting | None:
        return _Waiting(tests[0], tuple(tests[1:])) if tests else None


@dataclass
class _Sinker:
    table: dict[str, Buffer]
    written: frozenset[str]  # by the whole program
    uncertain: frozenset[str]
    taken: set[str] = field(default_factory=set)
    made: list[Buffer] = field(default_factory=list)

    def block(self, block: Block, facts: Facts) -> tuple[Block, list[_Waiting]]:
        """The block, and those of its last checks that may be able to wait for longer: they end the block, too."""
        out: list[Node] = []
        waiting: list[_Waiting] = []
        values: dict[str, Expr] = {}
        for node in block:
            waits = isinstance(node, Check) and is_speculable(node) and node.exception != MALFORMED
            if isinstance(node, Check) and waits and len(waiting) < _MOST_WAITING:
                if not any(_same_test(node, one) for one in waiting):
                    waiting.append(_Waiting(node, _resolved(node, values)))
                continue
            inner, leaving = self.inside(node, facts)
            held: list[_Waiting] = []
            ends = bool(waiting) and self.ends(inner)
            for one in waiting:
                tests = [test for test in one.tests if ends and self.may_wait(test, inner, facts)]
                tests += [test for test in _by_copies(one, inner) if ends and self.is_certain(test)]
                kept = one.keeping(tests)
                if kept is None:
                    out.append(one.check)
                else:
                    held.append(kept)
            waiting = held + leaving
            out.append(inner)
            values = _after(values, node)
        out += [one.check for one in waiting]
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return (block if unchanged else tuple(out)), waiting

    def inside(self, node: Node, facts: Facts) -> tuple[Node, list[_Waiting]]:
        """A node with the checks in it late, and those that leave it."""
        if isinstance(node, Loop):
            body, waiting = self.block(node.body, facts.with_dim(node.dim))
            loop = node if body is node.body else replace(node, body=body)
            return self.left(loop, waiting, facts) if waiting else (loop, [])
        if isinstance(node, If):
            then, _ = self.block(node.then, facts.with_condition(node.condition))
            orelse, _ = self.block(node.orelse, facts.with_condition(node.condition, holds=False))
            same = then is node.then and orelse is node.orelse
            return (node if same else replace(node, then=then, orelse=orelse)), []
        return map_sub_blocks(node, lambda block: self.block(block, facts)[0]), []

    # --- passing a node ---

    def may_wait(self, check: Check, node: Node, facts: Facts) -> bool:
        """Whether a check may come after a node that comes to its end: it leaves alone all that the check sees."""
        if not buffers_read(check) & buffers_written(node):
            return True
        if isinstance(node, Loop) and node.dim.var in {name for read in node_reads(check) for name in _names(read)}:
            return False
        around = facts.with_domain(check.domain)
        writes = accesses(node).writes
        return all(
            read.buffer != write.buffer or (bool(write.index) and _apart(read, write, around))
            for read in node_reads(check)
            for write in writes
        )

    def ends(self, node: Node) -> bool:
        """Whether a node surely ends although values may be wrong: what it counts to and allocates is none of them."""
        nodes = list(walk((node,)))
        if has_exit((node,)) or not all(isinstance(inner, (Stmt, Alloc, If, Loop, Check)) for inner in nodes):
            return False
        sizes = {name for inner in nodes for name in domain_buffers(node_domain(inner))}
        for inner in nodes:
            if isinstance(inner, Alloc):
                sizes |= {name for size in self.table[inner.buffer].shape for name in expr_buffers(size)}
        return not sizes & self.written

    # --- leaving a loop ---

    def is_certain(self, check: Check) -> bool:
        """Whether a check comes out the same wherever what it looks at is computed."""
        return not buffers_read(check) & self.uncertain and is_exact(check.condition)

    def left(self, loop: Loop, waiting: list[_Waiting], facts: Facts) -> tuple[Node, list[_Waiting]]:
        """The loop without those of its last checks that may as well be made for all iterations behind it."""
        dim = _upward(loop.dim) if self.ends(loop) and isinstance(loop.dim, Dim) else None
        if dim is None:
            return loop, []
        writes = [_inner(write, loop) for node in loop.body for write in accesses(node).writes]
        context = LoopContext(dim, facts)
        leaving: list[_Waiting] = []
        kept: list[Stmt] = []
        staying = {id(one.check) for one in waiting}
        for one in waiting:
            down = isinstance(loop.dim, Dim) and loop.dim.step < 0
            tests = [t for t in one.tests if not _changed_later(t, writes, context, down) and self.is_certain(t)]
            if tests:
                staying.discard(id(one.check))
                row = self.by_rows(tests[0], loop, dim, facts)
                kept += [] if row is None else [row]
                tests = tests if row is None else [_of_row(row)]
                tests = [self.of_all(test, dim, facts) for test in tests]
                leaving.append(_Waiting(tests[0], tuple(tests[1:])))
        gone = {id(one.check) for one in waiting} - staying
        body = tuple(node for node in loop.body if id(node) not in gone)
        for row in kept:
            body = _behind_writers(row, body)
        return (replace(loop, body=body) if gone else loop), leaving

    def by_rows(self, check: Check, loop: Loop, dim: Dim, facts: Facts) -> Stmt | None:
        """The result of one iteration's checks in an element of its own, where that frees a temporary array: it is
        written in the loop, and what is left of the check behind the loop would look at all of it."""
        condition = check.condition
        inner = condition.dims if isinstance(condition, Reduce) and condition.op == "and" else ()
        looked = {read.buffer for read in node_reads(check) if len(read.index) > 1}
        filled = {name for name in looked & buffers_written(loop) if self.table[name].role is Role.LOCAL}
        bounds = (dim.lo, dim.hi)
        if check.domain or not inner or not filled or dim.step != 1 or dim.var not in free_vars(condition):
            return None
        if facts.dims & {name for bound in bounds for name in free_vars(bound)} or any(map(expr_buffers, bounds)):
            return None
        if len(_narrow((dim, *inner), condition.value if isinstance(condition, Reduce) else condition, facts)) < 2:
            return None
        extent = minus(dim.hi, dim.lo)
        size = facts.linear(extent)
        shape = extent if size is not None and facts.prove(size) else Op("maximum", (extent, ZERO), INT)
        buffer = Buffer(fresh("held", self.taken), BOOL, (shape,))
        self.made.append(buffer)
        self.table = {**self.table, buffer.name: buffer}
        return Stmt((), buffer.name, (minus(Var(dim.var), dim.lo),), as_type(condition, BOOL), span=check.span)

    def of_all(self, check: Check, dim: Dim, facts: Facts) -> Check:
        """One check for all iterations; what fails is found by Python."""
        if isinstance(check.condition, Reduce) and check.condition.op == "and" and not check.domain:
            dims, condition = (dim, *check.condition.dims), check.condition.value
        else:
            dims, condition = (dim, *check.domain), as_type(check.condition, BOOL)
        dims = _narrow(dims, condition, facts)
        made = Check((), Reduce("and", dims, condition, check.span), HAND_BACK, span=check.span)
        copied = renamed((made,), self.taken)[0]
        assert isinstance(copied, Check)
        return copied


def _behind_writers(row: Stmt, body: Block) -> Block:
    """The statement just behind the last node that writes what it looks at: near the loop that has just filled it."""
    read = buffers_read(row)
    last = max((at for at, node in enumerate(body) if read & buffers_written(node)), default=len(body) - 1)
    return (*body[: last + 1], row, *body[last + 1 :])


def _of_row(row: Stmt) -> Check:
    """The check of what `by_rows` has kept."""
    return Check((), Read(row.buffer, row.index, BOOL), HAND_BACK, span=row.span)


def _same_test(check: Check, one: _Waiting) -> bool:
    """Whether a check under way, which looks at nothing that has changed, is this one."""
    return (check.domain, check.condition) == (one.check.domain, one.check.condition)


def _names(read: Access) -> set[str]:
    return {name for part in read.index for name in free_vars(part)}


def _apart(read: Access, write: Access, facts: Facts) -> bool:
    """Whether what is read and what is written differ in some position."""
    inside = facts.with_domain(read.dims).with_domain(write.dims)
    for mine, other in zip(read.index, write.index):
        for one, two in ((mine, other), (other, mine)):
            form = inside.linear(minus(minus(one, two), _ONE))
            if form is not None and inside.prove(form):
                return True
    return False


def _inner(access: Access, loop: Loop) -> Access:
    """An access without the loop's own dimension around it."""
    return Access(access.buffer, access.index, tuple(dim for dim in access.dims if dim != loop.dim))


def _upward(dim: Dim) -> Dim | None:
    """The values of a loop's variable, counted up."""
    if dim.step > 0:
        return dim
    return Dim(dim.var, plus(dim.hi, _ONE), plus(dim.lo, _ONE)) if dim.step == -1 else None


def _changed_later(check: Check, writes: list[Access], loop: LoopContext, down: bool) -> bool:
    """Whether a later iteration may write what the check of an earlier one looks at."""
    for read in node_reads(check):
        for write in writes:
            if read.buffer != write.buffer:
                continue
            if len(read.index) != len(write.index) or not read.index:
                return True
            met = directions(read, write, loop)
            if met.later if down else met.earlier:
                return True
    return False


def _is_bound_of(dim: AnyDim, dims: Domain) -> bool:
    """Whether bounds of other dimensions depend on one."""
    return any(set(dim_vars((dim,))) & free_vars(bound) for other in dims for bound in dim_children(other))


def _narrow(dims: Domain, condition: Expr, facts: Facts) -> Domain:
    """all[i, j: 0 <= j < i] c[j]   -->   all[j: 0 <= j < n - 1] c[j]: each point once, whoever looks at it."""
    for dim in dims:
        if dim.var in free_vars(condition) or len(dims) == 1 or not plain(dims):
            continue
        if not expr_buffers(condition) and not _is_bound_of(dim, dims):
            # What is computed from the other variables alone can be looked at although this loop may be empty: at worst
            # Python repeats a call that has nothing to do.
            return _narrow(tuple(other for other in dims if other is not dim), condition, facts)
        others = [other for other in dim_vars(dims) if other != dim.var]
        forms = [form for one in dims if isinstance(one, Dim) for form in inside(one)]
        found = bounded([*others, dim.var], forms)
        if found is None:
            continue
        known = facts.with_domain(found[:-1])
        room = known.linear(minus(minus(found[-1].hi, found[-1].lo), _ONE))
        if room is not None and known.prove(room):
            return _narrow(found[:-1], condition, facts)
    return dims


# --- other ways to look at the same ---


def _resolved(check: Check, values: dict[str, Expr]) -> tuple[Check, ...]:
    """The check of what its variables were computed from, if that comes out the same."""
    seen = {name for name in expr_buffers(check.condition) if name in values}
    if not seen or check.domain:
        return ()

    def visit(part: Expr) -> Expr:
        return values.get(part.buffer, part) if isinstance(part, Read) else part

    condition = rewrite(check.condition, visit)
    return (Check((), condition, HAND_BACK, span=check.span),) if expr_size(condition) <= _MOST_REPEATED else ()


def _after(values: dict[str, Expr], node: Node) -> dict[str, Expr]:
    """What variables were computed from, as far as it is still unchanged behind a node."""
    written = buffers_written(node)
    if not written:
        return values
    left = {n: v for n, v in values.items() if n not in written and not expr_buffers(v) & written}
    if isinstance(node, Stmt) and not (node.domain or node.index or node.reduce):
        value = rewrite(node.value, lambda part: left.get(part.buffer, part) if isinstance(part, Read) else part)
        repeatable = not any(isinstance(part, Reduce) for part in subexpressions(value)) and is_exact(value)
        if repeatable and node.buffer not in expr_buffers(value) and expr_size(value) <= _MOST_REPEATED:
            left[node.buffer] = value
    return left


def _by_copies(one: _Waiting, node: Node) -> Iterator[Check]:
    """check s != 0; a[i] = s   -->   check a[i] != 0, and that of a root where it tests what the root is taken of."""
    if not isinstance(node, Stmt) or node.domain or node.reduce or not node.index:
        return
    target = Read(node.buffer, node.index, node.value.type)
    if any(part.buffer == node.buffer for part in _reads_of_index(node)):
        return
    value = node.value
    for test in one.tests:
        if test.domain:
            continue
        if isinstance(value, Read) and value in subexpressions(test.condition):
            condition = rewrite(test.condition, lambda part: target if part == value else part)
            if not expr_buffers(condition) & {value.buffer}:
                yield Check((), condition, HAND_BACK, span=test.span)
        elif isinstance(value, Op) and value.op == "sqrt" and _is_root_test(test.condition, value.args[0]):
            yield Check((), Op("eq", (target, target), BOOL), HAND_BACK, span=test.span)


def _reads_of_index(node: Stmt) -> Iterator[Read]:
    return (part for expr in node.index for part in subexpressions(expr) if isinstance(part, Read))


def _is_root_test(condition: Expr, argument: Expr) -> bool:
    """not (x < 0), for the x that a root is taken of."""
    if not isinstance(condition, Op) or condition.op != "not":
        return False
    inner = condition.args[0]
    return isinstance(inner, Op) and inner.op == "lt" and inner.args[0] == argument and _is_zero(inner.args[1])


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 0


__all__ = ["late"]
