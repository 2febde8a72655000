"""Raise: loops become domains.  In: sequential loops; out: statements with one more dimension where dependences allow.

    for i: for j: c[i, j] = 0.0; for k: c[i, j] = c[i, j] + a[i, k] * b[k, j]
        -->  c[i, j] = sum[k] a[i, k] * b[k, j]   for i, j

Innermost loops go first.  The items of a body are forwarded into each other, branches become selections or bounds,
private variables are expanded, and what depends on each other in a circle stays a loop.  A test of data that the loop
does not change is made beforehand, for all iterations; if it fails, the original loop runs and raises when it must.
A test of values may also be made along with the work, which is undone should it fail (`speculate.py`).
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis.dependence import LoopContext, directions, domain_varies, varies
from weft.analysis.effects import Access, Liveness, domain_reads, node_reads, node_write, reads_of
from weft.analysis.facts import Facts, entry_facts
from weft.analysis.scopes import lasting_writes
from weft.ir.expr import AnyDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars
from weft.ir.index import Affine, canonical
from weft.ir.index import add as plus
from weft.ir.index import sub as minus
from weft.ir.program import HAND_BACK, Alloc, Block, Buffer, Check, If, Loop, LoopKind, Node, Program, Role, Stmt, While
from weft.ir.types import BOOL, INT, PYBOOL, ScalarType
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    domain_buffers,
    free_vars,
    fresh,
    has_exit,
    map_children,
    map_dim,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.forward import Forwarder, with_disjoint
from weft.passes.raising.beforehand import Beforehand, in_turn
from weft.passes.raising.definitions import Definitions
from weft.passes.raising.distribute import groups
from weft.passes.raising.extremes import Extreme, kept_extremes, without
from weft.passes.raising.keep import kept_values, why_not_worth
from weft.passes.raising.predicate import Flattening, Item
from weft.passes.raising.privatise import Confined, Expansion, expansion, must_expand, private_names
from weft.passes.raising.reductions import accumulation, in_order, reorders
from weft.passes.raising.speculate import Recoverer, all_set, flagged, is_speculable, set_flags
from weft.passes.raising.split import cut
from weft.passes.raising.taken import last_taken
from weft.passes.raising.wraparound import without_wraparound
from weft.passes.rename import renamed
from weft.passes.simplify import simplify_check, simplify_stmt
from weft.passes.simplifying import deadcode
from weft.passes.simplifying.algebra import Algebra
from weft.records import dataclass

_NAME = "raise"


@declared("raise", after=("continues", "whiles", "counters", "checks", "races"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop of the program, innermost first."""
    if not any(isinstance(node, Loop) for node in walk(program.body)):
        return program
    raiser = _Raiser(program, context)
    body = raiser.block(program.body, entry_facts(program))
    if body is program.body:
        return program
    raised = replace(program, body=body, buffers=program.buffers + tuple(raiser.made.values()))
    return deadcode.remove(with_disjoint(raised, raiser.forwarder.disjoint))


@dataclass(frozen=True)
class _Outcome:
    """What became of a loop: nodes that stand for it if all `tests` hold before and all `flags` are set after them."""

    nodes: Block
    tests: tuple[Check, ...] = ()
    flags: tuple[str, ...] = ()
    doubtful: bool = False  # whether a flag may fall although nothing raises


@dataclass(frozen=True)
class _Normal:
    """A loop with its variable counting up by one."""

    dim: Dim
    body: Block
    original: Dim
    values: dict[str, Expr] = field(default_factory=dict)  # the source's variable by the new one
    asserted: bool = False  # whether the user says that its iterations are independent

    def upward(self, dim: Dim) -> tuple[Dim, dict[str, Expr]]:
        """For a loop that counted down by one: a range of it counted up, under the source's own variable."""
        start, one = self.original.lo, Const(1, INT)
        up = Dim(self.original.var, plus(minus(start, dim.hi), one), plus(minus(start, dim.lo), one))
        return up, {dim.var: minus(start, Var(self.original.var))}


@dataclass
class _Raiser:
    program: Program
    context: PassContext
    made: dict[str, Buffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.live = Liveness(self.program)
        self.confined = Confined(self.program)
        self.forwarder = Forwarder(self.program, self.live, repeat_indices=True)
        self.strict = self.context.options.fp == "strict"
        self.algebra = Algebra(self.strict)
        self.taken = names_of(self.program)
        self.arrays = {b.name for b in self.program.buffers if b.role is Role.PARAM and b.rank > 0}
        self.pieces: list[Loop] = []
        self.repeatable = not lasting_writes(self.program) and not self.context.alone
        self.recoverer = Recoverer(self.buffer, self.new_buffer, self.taken)

    def buffer(self, name: str) -> Buffer:
        return self.made[name] if name in self.made else self.program.table[name]

    def new_buffer(self, name: str, of: ScalarType, shape: tuple[Expr, ...]) -> Buffer:
        buffer = Buffer(fresh(name, self.taken), of, shape)
        self.made[buffer.name] = buffer
        self.forwarder.add_local(buffer)
        return buffer

    # --- the tree ---

    def block(self, block: Block, facts: Facts) -> Block:
        out: list[Node] = []
        for node in block:
            if isinstance(node, Loop):
                out += self.exact(node, self.loop(node, facts))
            else:
                out.append(self._inside(node, facts))
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return block if unchanged else tuple(out)

    def _inside(self, node: Node, facts: Facts) -> Node:
        if isinstance(node, If):
            then = self.block(node.then, facts.with_condition(node.condition))
            orelse = self.block(node.orelse, facts.with_condition(node.condition, holds=False))
            return node if then is node.then and orelse is node.orelse else replace(node, then=then, orelse=orelse)
        return map_sub_blocks(node, lambda b: self.block(b, facts))

    def exact(self, loop: Loop, outcome: _Outcome) -> Block:
        """tests; nodes  -->  if tests: nodes; else: the loop as it was, to raise where Python would."""
        nodes, flags = outcome.nodes, outcome.flags
        again = outcome.doubtful and self.recoverer.why_not(outcome.nodes) is None
        if flags and (again or not self.repeatable):
            return self.undone(loop, outcome)
        if flags:
            nodes = (*set_flags(flags), *nodes, Check((), all_set(flags), HAND_BACK, span=loop.span))
        if not outcome.tests:
            return nodes
        # The loop keeps its names, since sizes of buffers allocated in it may speak of them.
        first, holds = self.beforehand(outcome)
        return (*first, If(holds, renamed(nodes, self.taken), (loop,), span=loop.span))

    def undone(self, loop: Loop, outcome: _Outcome) -> Block:
        """ok = True; save; nodes; if not ok: restore; the loop as it was."""
        kept = self.recoverer.recovery(outcome.nodes)
        nodes = renamed(outcome.nodes, self.taken)
        failed = Op("not", (all_set(outcome.flags),), BOOL)
        start = set_flags(outcome.flags)
        if not outcome.tests:
            return (*start, *kept.save, *nodes, If(failed, (*kept.restore, loop), span=loop.span))
        inside = (*start, *kept.save, *nodes, If(failed, kept.restore, span=loop.span))
        never = set_flags(outcome.flags, False)
        first, holds = self.beforehand(outcome)
        return (*first, If(holds, inside, never, span=loop.span), If(failed, (loop,), span=loop.span))

    def beforehand(self, outcome: _Outcome) -> tuple[Block, Expr]:
        """The tests of all iterations as one condition, and what must run before it."""
        tests = Beforehand(self.new_buffer, self.taken)
        for test in outcome.tests:
            tests.add(test)
        return renamed(tuple(tests.before), self.taken), in_turn(tests.conditions)

    def loop(self, loop: Loop, facts: Facts) -> _Outcome:
        inside = facts.with_dim(loop.dim)
        hopeful: list[Node] = []
        exact: list[Node] = []
        flags: tuple[str, ...] = ()
        doubtful = False
        for node in loop.body:
            if isinstance(node, Loop):
                inner = self.loop(node, inside)
                hopeful += inner.tests + inner.nodes
                flags += inner.flags
                doubtful = doubtful or inner.doubtful
                exact += self.exact(node, inner)
            else:
                new = self._inside(node, inside)
                hopeful.append(new)
                exact.append(new)
        reason = ""
        bodies = [_Outcome(tuple(hopeful), flags=flags, doubtful=doubtful), _Outcome(tuple(exact))]
        for body in bodies[:1] if len(hopeful) == len(exact) else bodies:
            for speculate in self.ways(body):
                found = self.attempt(loop, body, facts, speculate)
                if isinstance(found, _Outcome) and found.flags and not self.repeatable:
                    found = self.recoverer.why_not(found.nodes) or found
                if isinstance(found, _Outcome):
                    return found
                reason = reason or found
        pieces = self.cut(loop, tuple(exact), facts)
        if pieces is not None:
            return _Outcome(pieces)
        self.context.missed(_NAME, f"the loop over {loop.dim.var} stays sequential: {reason}", loop.span)
        unchanged = len(exact) == len(loop.body) and all(a is b for a, b in zip(exact, loop.body))
        return _Outcome((loop if unchanged else replace(loop, body=tuple(exact)),))

    def cut(self, loop: Loop, body: Block, facts: Facts) -> Block | None:
        """The loop as statements before and behind the one iteration that the others depend on; None if that fails."""
        where = cut(loop, body, facts, self.algebra)
        if isinstance(where, str):
            return None
        raised: list[Block] = []
        for dim in (where.before, where.behind):
            piece = replace(loop, dim=dim)
            # Each iteration sets what is private to it: what is live behind the loop is live behind a piece of it.
            self.live.after[id(piece)] = self.live.live_after(loop)
            self.pieces.append(piece)
            found = self.attempt(piece, _Outcome(body), facts, False)
            if isinstance(found, str) or found.tests or not all(isinstance(node, Stmt) for node in found.nodes):
                return None
            raised.append(found.nodes)
        single: Block = tuple(map_node_exprs(node, lambda e: substitute(e, {loop.dim.var: where.at})) for node in body)
        if not (isinstance(where.inside, Const) and where.inside.value):
            single = (If(where.inside, single, span=loop.span),)
        self.context.done(_NAME, f"the loop over {loop.dim.var} was cut where its iterations meet", loop.span)
        return (*raised[0], *renamed(single + raised[1], self.taken))

    def ways(self, body: _Outcome) -> tuple[bool, ...]:
        """With tests along with the work, or beforehand: first what costs less, if there is a choice."""
        if not any(isinstance(node, Check) and is_speculable(node) for node in walk(body.nodes)):
            return (False,)
        return (True, False) if self.repeatable else (False, True)

    # --- one loop ---

    def attempt(self, loop: Loop, inner: _Outcome, facts: Facts, speculate: bool) -> _Outcome | str:
        """The loop over the nodes of `inner` as statements, or why not; `speculate`: tests become flags."""
        body = inner.nodes
        why_not = blocks_raising(loop, body)
        if why_not is not None:
            return why_not
        normal = self.normal(loop, body)
        inside = facts.with_dim(normal.dim)
        flattening = Flattening(self.buffer, self.live, normal.dim.var, inside, self.new_buffer)
        found = flattening.items(normal.body)
        if isinstance(found, str):
            return found
        flags, doubtful = inner.flags, inner.doubtful
        if speculate:
            flags += (self.new_buffer("ok", BOOL, ()).name,)
            found, doubts = flagged(found, flags[-1])
            doubtful = doubtful or doubts
        live_end = self.live.live_after(loop.body[-1]).union(flags)
        items = self.forwarded(found, live_end, inside)
        written = {name for item in items for name in buffers_written(item.node)}
        items = without_wraparound(items, written, lambda item: self.simplified(item, inside))
        items = self.with_tests_of_inputs(items, inside)
        work = [item for item in items if not isinstance(item.node, Check)]
        tests = [item.node for item in items if isinstance(item.node, Check)]
        if any(buffers_read(test) & written for test in tests):
            return "a test in it depends on what the loop computes"
        live_after = self.live.live_after(loop) - self.confined.to(loop)
        private = private_names(items, self.buffer, live_after)
        whole = self.whole(normal, work, private, live_after, facts)
        if isinstance(whole, str):
            branches = any(isinstance(node, If) for node in body)
            if tests or branches or normal.dim is not loop.dim:
                return whole
            made = set(self.made)
            parts = self.beside(loop, work, private, live_after, facts)
            if parts is None:
                for name in set(self.made) - made:
                    del self.made[name]
            if parts is None and not must_expand(private, items, self.buffer):
                parts = self.parts(loop, work, facts)
            return whole if parts is None else _Outcome(parts, flags=flags, doubtful=doubtful)
        self._assume_disjoint(work)
        count = sum(isinstance(node, Stmt) for node in whole)
        self.context.done(_NAME, f"the loop over {loop.dim.var} became {_count(count, 'statement')}", loop.span)
        return _Outcome(whole, self.hoisted(normal, tests), flags, doubtful)

    def normal(self, loop: Loop, body: Block) -> _Normal:
        """for i in lo .. hi step s  -->  for k in 0 .. ceil((hi - lo) / s), i = lo + s * k."""
        dim = loop.dim
        assert isinstance(dim, Dim)
        asserted = loop.kind is LoopKind.ASSERTED
        if dim.step == 1:
            return _Normal(dim, body, dim, asserted=asserted)
        counter = fresh(dim.var, self.taken)
        size = abs(dim.step)
        span = minus(dim.hi, dim.lo) if dim.step > 0 else minus(dim.lo, dim.hi)
        count = span
        if size > 1:
            count = Op("floordiv", (plus(span, Const(size - 1, INT)), Const(size, INT)), INT)
        value = plus(dim.lo, canonical(Op("mul", (Const(dim.step, INT), Var(counter)), INT)))
        new = tuple(map_node_exprs(node, lambda e: substitute(e, {dim.var: value})) for node in body)
        counted = Dim(counter, Const(0, INT), self.algebra.simplify(count, Facts()))
        return _Normal(counted, new, dim, {dim.var: value}, asserted)

    def forwarded(self, items: list[Item], live_end: frozenset[str], facts: Facts) -> list[Item]:
        """Stores forwarded to loads of the same iteration, then simplified; conditions travel as branches meanwhile."""
        conditions: dict[Expr, tuple[Affine, ...]] = {}
        nodes: list[Node] = []
        for item in items:
            if not item.within:
                nodes.append(item.node)
                continue
            condition: Expr = Const(True, PYBOOL)
            for form in item.within:
                bound = Op("ge", (facts.atoms.expression(form), Const(0, INT)), PYBOOL)
                condition = Op("and", (condition, bound), PYBOOL)
            conditions[condition] = item.within
            nodes.append(If(condition, (item.node,)))
        out: list[Item] = []
        for node in self.forwarder.block(tuple(nodes), live_end, facts):
            within: tuple[Affine, ...] = ()
            if isinstance(node, If):
                within, node = conditions[node.condition], node.then[0]
            simple = self.simplified(Item(node, within), facts)
            if simple is not None:
                out.append(simple)
        return _without_unused_memory(out)

    def with_tests_of_inputs(self, items: list[Item], facts: Facts) -> list[Item]:
        """s = f(a[i]); check s > 0; ... s ...  -->  s = f(a[i]); check f(a[i]) > 0; ... s ...

        What a test repeats is computed twice, but then the test can be made before the loop.  Sums are not repeated,
        nor is what could come out differently a second time, such as a sine in a vector and in a scalar register.
        """
        known = Definitions(items)
        out: list[Item] = []
        for item in items:
            node = item.node
            if isinstance(node, Check) and known.values:
                resolved = Item(map_node_exprs(node, known.resolved), item.within)
                simple = resolved if resolved.node is node else self.simplified(resolved, facts)
                out += () if simple is None else (simple,)
                continue
            out.append(item)
            known.take(item)
        return out

    def simplified(self, item: Item, facts: Facts) -> Item | None:
        known = facts.with_forms(item.within)
        node: Node | None = item.node
        if isinstance(node, Stmt):
            node = simplify_stmt(node, known, self.algebra)
        elif isinstance(node, Check):
            node = simplify_check(node, known, self.algebra)
        return None if node is None else Item(node, item.within)

    def whole(
        self, normal: _Normal, work: list[Item], private: set[str], live_after: frozenset[str], facts: Facts
    ) -> Block | str:
        """All items raised, private variables expanded; or the first reason against it."""
        if not all(isinstance(item.node, Stmt) or _allocates(item, private) for item in work):
            return "an inner loop of it stays sequential"
        extremes = kept_extremes(work, private - live_after, normal.dim.var)
        for kept in extremes:
            work, private = without(work, kept), private - {kept.test or ""}
        expanded: Expansion | None = None
        if private:
            shapes = {
                name: tuple(substitute(size, normal.values) for size in self.buffer(name).shape) for name in private
            }
            made = expansion(work, shapes, normal.dim, facts, self.buffer, self.new_buffer)
            if isinstance(made, str):
                return made
            expanded = made
            work = made.apply(work, Var(normal.dim.var))
        context = LoopContext(normal.dim, facts, normal.asserted)
        order: list[Stmt] = []
        for group in groups(work, context, self.strict):
            if len(group) > 1:
                return _circle([work[position].node for position in group])
            new = self.raised(work[group[0]], context)
            if isinstance(new, str):
                last = self.last_taken(work[group[0]], normal.dim)
                if last is None:
                    return new
                order += last
            else:
                order.append(new)
        nodes = self.leaving(order, normal, facts)
        for kept in extremes:
            nodes += self.extreme_of(kept, normal, expanded, facts)
        if expanded is None:
            return tuple(nodes)
        return expanded.allocations() + tuple(nodes) + self.last_values(expanded, normal, private & live_after, facts)

    def last_taken(self, item: Item, dim: Dim) -> list[Stmt] | None:
        """A variable set under a condition, by the last iteration in which it held."""
        if item.within or not isinstance(item.node, Stmt):
            return None
        found = last_taken(item.node, dim, self.new_buffer)
        return None if isinstance(found, str) else found

    def extreme_of(self, kept: Extreme, normal: _Normal, expanded: Expansion | None, facts: Facts) -> list[Node]:
        """The statements of an extreme, which the loop keeps by comparison."""

        def final(expr: Expr, iteration: Expr) -> Expr:
            moved = expr if expanded is None else expanded.expression(expr, Var(normal.dim.var))
            return substitute(moved, {normal.dim.var: iteration})

        nodes = renamed(tuple(kept.statements(normal.dim, self.new_buffer, final)), self.taken)
        return [simplify_stmt(n, facts, self.algebra) or n if isinstance(n, Stmt) else n for n in nodes]

    def leaving(self, stmts: list[Stmt], normal: _Normal, facts: Facts) -> list[Node]:
        """Raised statements counting up, simplified, the loop's variable under another name in all but the first."""
        out: list[Node] = []
        for stmt in stmts:
            if normal.original.step == -1:
                stmt = _counting_up(stmt, normal)
            simple: Node | None = simplify_stmt(stmt, facts, self.algebra)
            if simple is None:
                continue
            if out:
                simple = renamed((simple,), self.taken)[0]
            out.append(simple)
        return out

    def last_values(self, expanded: Expansion, normal: _Normal, names: set[str], facts: Facts) -> Block:
        """s = s_2[last], if the loop ran at all, for every private scalar that is read afterwards."""
        last = minus(normal.dim.hi, Const(1, INT))
        nodes: list[Node] = [Stmt((), name, (), expanded.element(name, last)) for name in sorted(names)]
        if not nodes:
            return ()
        ran = self.algebra.simplify(Op("lt", (normal.dim.lo, normal.dim.hi), PYBOOL), facts)
        return tuple(nodes) if isinstance(ran, Const) and ran.value else (If(ran, tuple(nodes)),)

    def beside(
        self, loop: Loop, work: list[Item], private: set[str], live_after: frozenset[str], facts: Facts
    ) -> Block | None:
        """What only looks at the variables that a loop carries along, beside the loop; None if that does not pay."""
        dim = loop.dim
        if facts.dims or not isinstance(dim, Dim) or not all(isinstance(item.node, Stmt) for item in work):
            return None  # inside another loop recurrences go side by side
        extent = Op("maximum", (minus(dim.hi, dim.lo), Const(0, INT)), INT)
        length = self.algebra.simplify(extent, facts)
        keeping = kept_values(work, private, dim, length, self.buffer, self.new_buffer)
        if isinstance(keeping, str):
            return None
        found = keeping.items
        shapes = {name: self.buffer(name).shape for name in private}
        expanded = expansion(found, shapes, dim, facts, self.buffer, self.new_buffer)
        if isinstance(expanded, str):
            return None
        found = expanded.apply(found, Var(dim.var))
        context = LoopContext(dim, facts, loop.kind is LoopKind.ASSERTED)
        pieces = self.pieces_of(found, context)
        raised = [piece for piece in pieces if isinstance(piece, Stmt)]
        if why_not_worth(raised, len(keeping.arrays) + len(private)) is not None:
            return None
        memory = (*expanded.allocations(), *(Alloc(name) for name in keeping.arrays))
        last = self.last_values(expanded, _Normal(dim, loop.body, dim), private & live_after, facts)
        return (*memory, *self.in_pieces(loop, found, pieces, facts), *last)

    def parts(self, loop: Loop, work: list[Item], facts: Facts) -> Block | None:
        """for i: A; B  -->  A for i; for i: B: what can be raised is, the rest stays in loops; None if nothing can."""
        if any(isinstance(node, Check) for item in work for node in walk((item.node,))):
            return None  # an exception must find exactly the effects of the iterations before it
        context = LoopContext(loop.dim, facts, loop.kind is LoopKind.ASSERTED)
        pieces = self.pieces_of(work, context)
        if not any(isinstance(piece, Stmt) for piece in pieces):
            return None
        allocates = any(isinstance(node, Alloc) for item in work for node in walk((item.node,)))
        if allocates and sum(isinstance(piece, list) for piece in pieces) > 1:
            return None  # sizes of buffers may speak of the loop's variable, which only one loop can bind
        return self.in_pieces(loop, work, pieces, facts)

    def pieces_of(self, work: list[Item], context: LoopContext) -> list[list[int] | Stmt]:
        """The items of a loop in order: statements, and those that stay in a loop, by their positions."""
        pieces: list[list[int] | Stmt] = []
        for group in groups(work, context, self.strict):
            new = self.raised(work[group[0]], context) if len(group) == 1 else ""
            if isinstance(new, Stmt):
                pieces.append(new)
            elif pieces and isinstance(pieces[-1], list):
                pieces[-1] = sorted(pieces[-1] + group)
            else:
                pieces.append(group)
        return pieces

    def in_pieces(self, loop: Loop, work: list[Item], pieces: list[list[int] | Stmt], facts: Facts) -> Block:
        nodes: list[Node] = []
        named = False
        for piece in pieces:
            if isinstance(piece, Stmt):
                stmt = simplify_stmt(piece, facts, self.algebra)
                nodes += () if stmt is None else renamed((stmt,), self.taken)
            else:
                body = tuple(work[position].node for position in piece)
                rest = self.cut(loop, body, facts) or (replace(loop, body=body),)
                nodes += renamed(rest, self.taken) if named else rest
                named = True
        self._assume_disjoint(work)
        self.context.done(_NAME, f"the loop over {loop.dim.var} was split: part of it became statements", loop.span)
        return tuple(nodes)

    # --- one statement ---

    def raised(self, item: Item, loop: LoopContext) -> Stmt | str:
        """The item over all iterations, simultaneously; or why its iterations depend on each other."""
        stmt = item.node
        if not isinstance(stmt, Stmt):
            return "an inner loop of it stays sequential"
        dim = self.narrowed(loop.dim, item.within, loop.facts)
        write = node_write(stmt)
        reads = [access for access in node_reads(stmt) if access.buffer == stmt.buffer]
        inexact = stmt.value.type.dtype.is_inexact
        if stmt.reduce is not None:
            if self.strict and inexact:
                return "strict floating point keeps the order of a sum"
            if not all(directions(write, read, loop).never for read in reads):
                return f"`{stmt.buffer}` is read while it is being accumulated"
            return replace(stmt, domain=(dim, *stmt.domain))
        # An accumulation is one also where iterations are said to be independent: that need not mean its targets.
        found = accumulation(stmt)
        believed = loop if found is None else replace(loop, asserted=False)
        flow = any(directions(write, read, believed).earlier for read in reads)
        again = directions(write, write, believed).earlier
        if not flow and not again:
            return replace(stmt, domain=(dim, *stmt.domain))
        loop = believed
        if found is None:
            if flow:
                return f"an iteration reads what an earlier one wrote to `{stmt.buffer}`"
            if not varies(stmt.index, dim.var) and not domain_varies(stmt.domain, dim.var):
                # Every iteration overwrites what the one before it wrote: only the last one counts.
                end = Op("maximum", (dim.lo, minus(dim.hi, Const(1, INT))), INT)
                last = self.algebra.simplify(end, loop.facts)
                return replace(stmt, domain=(replace(dim, lo=last), *stmt.domain))
            return f"several iterations may write the same element of `{stmt.buffer}`"
        if self.strict and reorders(found, stmt.value.type):
            return "strict floating point keeps the order of a sum"
        if in_order(found.op, stmt.value.type, found.term):
            return f"Python's floats are added up in `{stmt.buffer}` in the order of the source"
        others: list[Access] = [a for a in reads_of(found.term, stmt.domain) if a.buffer == stmt.buffer]
        others += [a for part in stmt.index for a in reads_of(part, stmt.domain) if a.buffer == stmt.buffer]
        others += [a for a in domain_reads(stmt.domain) if a.buffer == stmt.buffer]
        if not all(directions(write, other, loop).never for other in others):
            return f"`{stmt.buffer}` is read while it is being accumulated"
        if varies(stmt.index, dim.var) or domain_varies(stmt.domain, dim.var):
            if found.keeps:
                return f"which of two zeros stays in `{stmt.buffer}` depends on their order"
            of = found.term.type
            term = Op("neg", (found.term,), of) if found.subtracted else found.term
            return replace(stmt, domain=(dim, *stmt.domain), value=term, reduce=found.op)
        total = Reduce(found.op, (dim,), found.term, stmt.span)
        op = "sub" if found.subtracted else found.op
        target = Read(stmt.buffer, stmt.index, self.buffer(stmt.buffer).type)
        value = Op(op, (target, total), stmt.value.type, stmt.span)
        facts = loop.facts.with_domain(stmt.domain)
        return replace(stmt, value=self.algebra.simplify(value, facts))

    def narrowed(self, dim: AnyDim, within: tuple[Affine, ...], facts: Facts) -> Dim:
        """The loop's dimension inside affine conditions on its variable."""
        assert isinstance(dim, Dim)
        lo, hi = dim.lo, dim.hi
        for form in within:
            rest = form.without(dim.var)
            if form.coefficient(dim.var) > 0:
                lo = Op("maximum", (lo, facts.atoms.expression(rest.scaled(-1))), INT)
            else:
                hi = Op("minimum", (hi, facts.atoms.expression(rest + Affine((), 1))), INT)
        if not within:
            return dim
        return replace(dim, lo=self.algebra.simplify(lo, facts), hi=self.algebra.simplify(hi, facts))

    # --- tests ---

    def hoisted(self, normal: _Normal, tests: list[Check]) -> tuple[Check, ...]:
        """The tests of all iterations as one; within an iteration a test guards the reads of those behind it."""
        if not tests:
            return ()
        condition = in_turn([_everywhere(test) for test in tests] if len(tests) > 1 else [tests[0].condition])
        first = tests[0]
        domain = (normal.dim, *first.domain) if len(tests) == 1 else (normal.dim,)
        # The same dimension is already that of the raised statements.
        copied = renamed((Check(domain, condition, first.exception, span=first.span),), self.taken)[0]
        assert isinstance(copied, Check)
        return (copied,)

    def _assume_disjoint(self, work: list[Item]) -> None:
        touched: set[str] = set()
        written: set[str] = set()
        for item in work:
            touched |= (buffers_read(item.node) | buffers_written(item.node)) & self.arrays
            written |= buffers_written(item.node) & self.arrays
        self.forwarder.disjoint |= {(w, other) for w in written for other in touched if other != w}


def blocks_raising(loop: Loop, body: Block) -> str | None:
    """Why a loop cannot become statements whatever its dependences are, None if nothing is in the way."""
    if not isinstance(loop.dim, Dim):
        return "it runs over a compressed level"
    if not body:
        return "it does nothing"
    if has_exit(body):
        return "it can be left early"
    if any(isinstance(node, While) for node in walk(body)):
        return "it holds a while loop"
    if any(type(node).__name__ in ("Call", "Library", "Rebind") for node in walk(body)):
        return "it calls what weft cannot look into"
    written = {name for node in body for name in buffers_written(node)}
    if domain_buffers((loop.dim,)) & written:
        return "its bounds change while it runs"
    return None


def _allocates(item: Item, private: set[str]) -> bool:
    return type(item.node).__name__ == "Alloc" and bool(buffers_written(item.node) & private)


def _without_unused_memory(items: list[Item]) -> list[Item]:
    """Items without the allocations of what has disappeared into its readers."""
    others = [item.node for item in items if not isinstance(item.node, Alloc)]
    used = set().union(*(buffers_read(node) | buffers_written(node) for node in others))
    return [item for item in items if not isinstance(item.node, Alloc) or item.node.buffer in used]


def _circle(nodes: list[Node]) -> str:
    names = sorted({name for node in nodes for name in buffers_written(node)})
    return "its statements need each other's results from earlier iterations: " + ", ".join(f"`{n}`" for n in names)


def _everywhere(test: Check) -> Expr:
    """A test at all points of its domain; one that does not speak of them is made once, even if there are none."""
    if not test.domain or not free_vars(test.condition) & set(dim_vars(test.domain)):
        return test.condition
    return Reduce("and", test.domain, test.condition)


def _counting_up(stmt: Stmt, normal: _Normal) -> Stmt:
    """A statement, and the sums in it, over the source's variable instead of the counter of a loop that counts down."""
    values: dict[str, Expr] = {}

    def over(domain: Domain) -> Domain:
        out: list[AnyDim] = []
        for dim in domain:
            if isinstance(dim, Dim) and dim.var == normal.dim.var:
                up, value = normal.upward(dim)
                values.update(value)
                out.append(up)
            else:
                out.append(map_dim(dim, visit))
        return tuple(out)

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Reduce):
            dims = over(expr.dims)
            return replace(expr, dims=dims, value=visit(expr.value))
        return values.get(expr.name, expr) if isinstance(expr, Var) else map_children(expr, visit)

    domain = over(stmt.domain)
    index = tuple(visit(part) for part in stmt.index)
    return replace(stmt, domain=domain, index=index, value=visit(stmt.value))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


__all__ = ["blocks_raising", "run"]
