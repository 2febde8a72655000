"""Portions: what a loop looks up is tested a portion at a time.  In: a test of all iterations before the statements
that need it; out: a loop over portions of the iterations, each tested and computed while its operands are in the cache.

    if all[i: 0 <= i < n] k[i] < m:  y[i] = x[k[i]]   for i: 0 <= i < n
    else: for i in 0 .. n: check k[i] < m; y[i] = x[k[i]]
      -->  for b in 0 .. ceil(n / 2048):
             if all[i in portion b] k[i] < m:  y[i] = x[k[i]]   for i in portion b
             else: for i in portion b: check k[i] < m; y[i] = x[k[i]]

The tests are another pass over all index arrays otherwise, which long ones come from memory for twice.  Portions follow
each other as the iterations of the source do: what a portion leaves behind is what its iterations would have.  A scalar
that only the test reads (the first and the last entry of sparse rows) is computed for each portion as well.

Where the work is no vector, but one addition at a place from memory, the loop stays as it was written: its tests cost
less than those of a portion.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.scopes import lasting_writes
from weft.ir.expr import AnyDim, Cast, Dim, Domain, Expr, Read, Reduce, integer
from weft.ir.index import affine, canonical
from weft.ir.program import Block, Check, If, Loop, LoopKind, Node, Program, Role, Stmt
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    has_exit,
    map_sub_blocks,
    mentions,
    node_exprs,
    reads,
    rewrite,
    subexpressions,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.raising.reductions import accumulation
from weft.passes.scheduling.kinds import strips
from weft.passes.scheduling.lower import Workspace
from weft.records import dataclass

PASS = "portions"
# Iterations of a portion: their operands stay in the first or second cache, and starting it costs little beside them.
PORTION = 2048
# Iterations with loops of their own: few enough to share them out among threads where each takes long.
NESTED = 128
# Tests in an iteration that cost less where they stand than before the loop.
MOST_TESTS = 2


@declared(PASS, after=("follow",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop whose tests of all iterations look up what its work looks up again."""
    # In portions, threads would see what an iteration that raises must not have been followed by.
    lasts = context.alone or bool(lasting_writes(program))
    if lasts or not any(isinstance(node, If) for node in walk(program.body)):
        return program
    portions = _Portions(program, context)
    body = portions.block(program.body)
    return program if body is program.body else replace(program, body=body)


@dataclass(frozen=True)
class _Range:
    """The iterations of a loop, to be replaced by those of a portion."""

    lo: Expr
    hi: Expr
    portion: Dim

    def is_whole(self, dim: AnyDim) -> bool:
        return isinstance(dim, Dim) and dim.step == 1 and (canonical(dim.lo), canonical(dim.hi)) == (self.lo, self.hi)

    def where(self, domain: Domain) -> int | None:
        """The one dimension that runs over all iterations; None if there is none, or more than one."""
        found = [at for at, dim in enumerate(domain) if self.is_whole(dim)]
        return found[0] if len(found) == 1 else None

    def cut(self, domain: Domain) -> Domain | None:
        at = self.where(domain)
        if at is None:
            return None
        dim = domain[at]
        assert isinstance(dim, Dim)
        return (*domain[:at], Dim(dim.var, self.portion.lo, self.portion.hi), *domain[at + 1 :])


class _Portions:
    def __init__(self, program: Program, context: PassContext) -> None:
        self.program, self.context = program, context
        self.uses = mentions(program.body)
        self.workspace = Workspace.of(program)

    def block(self, block: Block) -> Block:
        out: list[Node] = []
        changed = False
        for node in block:
            new = map_sub_blocks(node, self.block)
            found = self.portioned(new, out) if isinstance(new, If) else ""
            if isinstance(found, str):
                out.append(new)
                changed = changed or new is not node
            else:
                before, loop = found
                del out[len(out) - before :]
                out.append(loop)
                changed = True
                self.context.done(PASS, "what is looked up is tested a portion at a time", node.span)
        return tuple(out) if changed else block

    def portioned(self, node: If, before: list[Node]) -> tuple[int, Loop] | str:
        """The branch as a loop over portions, and how many statements before it went into that; or why not."""
        loop = node.orelse[0] if len(node.orelse) == 1 else None
        if isinstance(loop, Loop) and _adds_at_told(node.then) and _is_tested_little(loop):
            return len(self.own_scalars(node, before)), loop
        if not isinstance(loop, Loop) or loop.kind is not LoopKind.SEQUENTIAL or has_exit(node.orelse):
            return "no loop that runs as it was written where a test fails"
        dim = loop.dim
        if not isinstance(dim, Dim) or dim.step != 1 or affine(dim.lo) is None or affine(dim.hi) is None:
            return "the loop does not count from one number to another"
        own = self.own_scalars(node, before)
        size = NESTED if any(_is_nested(stmt) for stmt in node.then) else PORTION
        outer, inner = strips(dim, integer(size), self.workspace)
        whole = _Range(canonical(dim.lo), canonical(dim.hi), inner)
        written = buffers_written(node)
        tests: list[Node] = [*own, replace(node, then=(), orelse=())]
        if any(buffers_read(test) & written for test in tests):
            return "what is tested changes"
        scalars = {stmt.buffer for stmt in own}
        condition = _tests_of(node.condition, whole, scalars)
        first = [_tests_of(stmt.value, whole, scalars) for stmt in own]
        if condition is None or (condition == node.condition and [s.value for s in own] == first):
            return "a test does not look at the iterations one by one"
        if any(_is_scattered(stmt) for stmt in node.then):
            return "threads share out such additions by parts of the array"
        then = [_work_of(stmt, whole, written) for stmt in node.then]
        if not _share_nothing(node.then) or any(stmt is None for stmt in then) or any(value is None for value in first):
            return "an iteration needs what another one has computed"
        held = [replace(stmt, value=value) for stmt, value in zip(own, first) if value is not None]
        work = tuple(stmt for stmt in then if stmt is not None)
        body: Block = (*held, replace(node, condition=condition, then=work, orelse=(replace(loop, dim=inner),)))
        return len(own), Loop(outer, body, span=loop.span)

    def own_scalars(self, node: If, before: list[Node]) -> list[Stmt]:
        """The last statements before a branch that set scalars for its test alone."""
        found: list[Stmt] = []
        asked = dict.fromkeys(expr_buffers(node.condition))
        for stmt in reversed(before):
            if not isinstance(stmt, Stmt) or stmt.domain or stmt.index or stmt.reduce is not None:
                break
            one = self.program.table.get(stmt.buffer)
            mine = mentions((*found, replace(node, then=(), orelse=())), allocations=False).get(stmt.buffer, 0)
            if one is None or one.role is not Role.LOCAL or stmt.buffer not in asked:
                break
            if self.uses.get(stmt.buffer) != mine + 1:
                break
            found.insert(0, stmt)
        return found


def _tests_of(expr: Expr, whole: _Range, scalars: set[str]) -> Expr | None:
    """The test, or bound, for a portion of the iterations; None if some part of it would look at all of them again."""
    failed = False

    def visit(part: Expr) -> Expr:
        nonlocal failed
        if not isinstance(part, Reduce):
            return part
        cut = whole.cut(part.dims)
        if cut is not None:
            return replace(part, dims=cut)
        ends = [end for dim in part.dims if isinstance(dim, Dim) for end in (dim.lo, dim.hi)]
        bounds = set().union(*(expr_buffers(end) for end in ends))
        failed = failed or not bounds & scalars
        return part

    new = rewrite(expr, visit)
    return None if failed else new


def _work_of(node: Node, whole: _Range, written: set[str]) -> Stmt | None:
    """The statement for a portion of the iterations; None if it is not one for each, or looks at other iterations."""
    if not isinstance(node, Stmt):
        return None
    target = Read(node.buffer, node.index, node.value.type)
    for expr in node_exprs(node):
        for read in reads(expr):
            if read.buffer in written and (read.buffer, read.index) != (target.buffer, target.index):
                return None
    if any(isinstance(dim, Dim) and (expr_buffers(dim.lo) | expr_buffers(dim.hi)) & written for dim in node.domain):
        return None
    nested = [part for part in subexpressions(node.value) if isinstance(part, Reduce)]
    domain = whole.cut(node.domain)
    if domain is not None:
        return None if any(whole.where(part.dims) is not None for part in nested) else replace(node, domain=domain)
    found = accumulation(node)
    if node.domain or node.reduce is not None or found is None or found.term not in nested or len(nested) != 1:
        return None
    total = nested[0]
    dims = whole.cut(total.dims)
    if dims is None:
        return None
    less = replace(total, dims=dims)
    return replace(node, value=rewrite(node.value, lambda part: less if part == total else part))


def _adds_at_told(block: Block) -> bool:
    """Whether all that happens is additions at places that are elements of memory: they are no vectors, and a test
    among them, which a processor foresees, costs less than one before them."""
    only = block[0] if len(block) == 1 else None
    if not isinstance(only, Stmt) or only.reduce is None or not any(expr_buffers(part) for part in only.index):
        return False
    return all(not expr_buffers(part) or isinstance(_value(part), Read) for part in only.index)


def _is_nested(node: Node) -> bool:
    """Whether an iteration of the loop that a statement stands for has loops inside."""
    if not isinstance(node, Stmt):
        return False
    sums = any(isinstance(part, Reduce) for part in subexpressions(node.value))
    return len(node.domain) > 1 or (bool(node.domain) and sums)


def _is_scattered(node: Node) -> bool:
    return isinstance(node, Stmt) and any(expr_buffers(part) for part in node.index)


def _value(place: Expr) -> Expr:
    return place.value if isinstance(place, Cast) else place


def _is_tested_little(loop: Loop) -> bool:
    """Whether an iteration is a few tests and nothing that repeats."""
    nodes = list(walk(loop.body))
    simple = all(isinstance(node, (Stmt, Check)) for node in nodes)
    return simple and sum(isinstance(node, Check) for node in nodes) <= MOST_TESTS


def _share_nothing(block: Block) -> bool:
    """Whether statements may take turns: each has a target of its own, or adds to what others add to as well."""
    by_target: dict[str, set[str | None]] = {}
    counts: dict[str, int] = {}
    for node in block:
        if isinstance(node, Stmt):
            by_target.setdefault(node.buffer, set()).add(node.reduce)
            counts[node.buffer] = counts.get(node.buffer, 0) + 1
    return all(count == 1 or (len(by_target[n]) == 1 and None not in by_target[n]) for n, count in counts.items())
