"""Directed: what an expert asks for, done.  In: a lowered program and the directives of its function; out: the program
with the loops tiled, interchanged, unrolled, joined, shared or vectorised as asked.

    tile(i, j)    for i: for j: A   -->   for i_block: for j_block: for i in i_block: for j in j_block: A

Each is applied wherever its loops are found, after its legality is asked of `analysis.bands`.  If it is legal nowhere,
that is a `TransformError` with the two accesses that forbid it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.analysis import bands, cost
from weft.analysis.bands import Conflict
from weft.analysis.effects import returned
from weft.analysis.facts import Facts, entry_facts
from weft.directives import (
    Directive,
    Expand,
    Fuse,
    Interchange,
    NoFuse,
    NoLibrary,
    Parallel,
    Place,
    Sequential,
    Tile,
    Unroll,
    Vectorise,
)
from weft.errors import Span, TransformError
from weft.ir import index as ix
from weft.ir.expr import Dim, Expr, Op, Var, integer
from weft.ir.index import affine
from weft.ir.program import Accumulator, Alloc, Block, Loop, LoopKind, Node, Program, Role
from weft.ir.types import INT
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    free_vars,
    map_node_exprs,
    map_sub_blocks,
    sub_blocks,
    substitute,
    walk,
)
from weft.passes import PassContext, declared
from weft.passes.races import reduction_of
from weft.passes.scheduling.kinds import is_innermost, strips
from weft.passes.scheduling.lower import Workspace
from weft.passes.scheduling.uncut import is_shared, shared_at, with_strips, without_strips
from weft.passes.scheduling.unique import unique_loops
from weft.records import dataclass

PASS = "directed"
#: Blocks of a loop in vectors that a comment asks for have at least so many iterations.
LEAST_VECTOR = 64


@dataclass(frozen=True)
class Refusal:
    """Why a transformation is not applied at a place, and what could be done about it."""

    span: Span
    reason: str
    remedy: str = ""


@declared("directed", takes=Stage.LOWERED, optional=False, wholes=True)
def run(program: Program, context: PassContext) -> Program:
    """Every directive on loops, in the order in which they were given."""
    asked, hints = context.directives.on_loops(), context.directives.hints()
    if not asked and not hints:
        return program
    named = [place for each in (*hints, *asked) for place in each.places()]
    program = replace(program, body=without_strips(program.body, named, Workspace.of(program)))
    for directive in hints:
        program = _Directed(program, context, directive, hinted=True).program_after()
    for directive in asked:
        program = _Directed(program, context, directive).program_after()
    return replace(program, body=with_strips(program.body, Workspace.of(program), False))


def check_lines(program: Program, context: PassContext) -> None:
    """Lines that are to be kept apart, or from the library, must be lines of the program as it was built."""
    nodes = (node for part in (program, *program.functions) for node in walk(part.body))
    lines = {getattr(node, "span", program.span).line for node in nodes}
    for directive in context.directives.items:
        if not isinstance(directive, (NoFuse, NoLibrary, Expand)):
            continue
        for place in directive.places():
            if place.line and not any(place.has_line(line) for line in lines):
                reason = f"{directive}: there is no statement that computes anything on {place}"
                if not context.directives.lenient:
                    raise TransformError(program.span, reason, "give the line of a statement, or of a loop around it")
                context.missed(PASS, reason, program.span)


@dataclass
class _Directed:
    """One directive, applied to one program; `hinted`: a comment asks for it, which changes nothing if it cannot."""

    program: Program
    context: PassContext
    directive: Directive
    hinted: bool = False
    applied: list[Span] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace.of(self.program)
        self.scalars = {b.name for b in self.program.buffers if b.rank == 0 and b.role is Role.LOCAL}
        self.forced: set[str] = set()

    def program_after(self) -> Program:
        directive = self.directive
        if isinstance(directive, Fuse):
            body = self.fused(self.program.body, directive.lines, entry_facts(self.program))
        else:
            body = self.block(self.program.body, entry_facts(self.program), self.action(directive))
        if not self.applied:
            self.complain()
            return self.program
        for refusal in self.refused:
            self.context.missed(PASS, f"not {directive} here: {refusal.reason}", refusal.span, refusal.remedy)
        for span in dict.fromkeys(self.applied):
            self.context.done(PASS, f"{directive}, as {'a comment asks' if self.hinted else 'asked'}", span)
        if self.forced:
            body = _one_level(body, self.forced, False)
        body = unique_loops(body, self.workspace.new_var)
        return replace(self.program, body=body, buffers=(*self.program.buffers, *self.workspace.added))

    def complain(self) -> None:
        """Nothing was done: an error, unless another version of the function had the loop, or a comment asks for it."""
        if self.hinted:
            reason = self.refused[0].reason if self.refused else "there is no such loop"
            self.context.missed(PASS, f"not {self.directive}, as a comment asks: {reason}", self.place())
            return
        if self.refused:
            first = self.refused[0]
            raise TransformError(first.span, f"{self.directive}: {first.reason}", first.remedy)
        if self.context.directives.lenient:
            self.context.missed(PASS, f"{self.directive}: there is no such loop in this version", self.program.span)
            return
        names = ", ".join(loop_names(self.program)) or "none"
        reason = f"{self.directive}: no loop (or nest of loops) of the compiled program is meant by that"
        raise TransformError(self.program.span, reason, f"its loops are: {names}")

    def place(self) -> Span:
        """Where a directive is meant, for what is said of it."""
        here = (node.span for node in walk(self.program.body) if node.span.line > 0)
        lines = [place for place in self.directive.places() if place.line]
        return next((span for span in here if any(place.has_line(span.line) for place in lines)), self.program.span)

    def action(self, directive: Directive) -> Callable[[Loop, Facts], Block | Refusal | None]:
        """What is done to a loop: other nodes instead of it, a reason against it, or None: it is not meant."""
        if isinstance(directive, Tile):
            return lambda loop, facts: self.tile(loop, facts, directive)
        if isinstance(directive, Interchange):
            return lambda loop, facts: self.interchange(loop, facts, directive)
        if isinstance(directive, Unroll):
            return lambda loop, facts: self.unroll(loop, directive)
        if isinstance(directive, Parallel):
            return lambda loop, facts: self.parallel(loop, facts, directive.loop)
        if isinstance(directive, Sequential):
            return lambda loop, facts: self.sequential(loop, directive.loop)
        assert isinstance(directive, Vectorise)
        return lambda loop, facts: self.vectorise(loop, facts, directive.loop)

    def block(self, block: Block, facts: Facts, action: Callable[[Loop, Facts], Block | Refusal | None]) -> Block:
        out: list[Node] = []
        for node in block:
            found = action(node, facts) if isinstance(node, Loop) else None
            if isinstance(found, tuple):
                self.applied.append(_place_of(node))
                out += found
                continue
            if isinstance(found, Refusal):
                self.refused.append(found)
                out.append(node)
                continue
            inside = facts.with_dim(node.dim) if isinstance(node, Loop) else facts
            out.append(map_sub_blocks(node, lambda inner, known=inside: self.block(inner, known, action)))  # type: ignore[misc]
        return tuple(out)

    # --- nests -------------------------------------------------------------------------------------------------------

    def nest(self, loop: Loop, places: tuple[Place, ...], facts: Facts) -> _Nest | Refusal | None:
        """The nest of the named loops that begins with `loop`: what must run before and after is cut off; None if the
        named loops are not there."""
        here = [place for place in places if is_meant(loop, place)]
        left = tuple(place for place in places if place not in here[:1])
        if len(left) == len(places) and not any(_holds(loop.body, place) for place in places):
            return None
        if not left:
            return _Nest((), (loop,), ())
        for number, node in enumerate(loop.body):
            if not isinstance(node, Loop) or not all(_holds((node,), place) for place in left):
                continue
            inner = self.nest(node, left, facts.with_dim(loop.dim))
            if not isinstance(inner, _Nest):
                return inner
            before = (*loop.body[:number], *inner.before)
            after = (*inner.after, *loop.body[number + 1 :])
            core: Block = (inner.loops[0],)
            for first, second in ((before, (*core, *after)), (core, after)):
                refusal = self.why_not_cut(loop, first, second, facts) if first and second else None
                if refusal is not None:
                    return refusal
            cut = [(_with_body(loop, part),) if part else () for part in (before, after)]
            return _Nest(cut[0], (_with_body(loop, core), *inner.loops), cut[1])
        return None

    def why_not_cut(self, loop: Loop, first: Block, second: Block, facts: Facts) -> Refusal | None:
        assert isinstance(loop.dim, Dim)
        conflict = bands.blocks_order_change(loop.dim, first, second, facts)
        if conflict is None and any(isinstance(node, Alloc) for node in loop.body):
            return Refusal(_place_of(loop), f"an array is made in each iteration over {loop.dim.var}")
        if conflict is None:
            return None
        reason = f"other statements stand between the loops, and {conflict}"
        return Refusal(_place_of(loop), reason, "name loops that directly contain each other")

    def refusal(self, loop: Loop, found: Conflict | str, remedy: str) -> Refusal:
        span = found.first_span if isinstance(found, Conflict) and found.first_span.line > 0 else _place_of(loop)
        return Refusal(span, str(found), remedy)

    # --- transformations ---------------------------------------------------------------------------------------------

    def tile(self, loop: Loop, facts: Facts, directive: Tile) -> Block | Refusal | None:
        if not any(is_meant(loop, place) for place in directive.loops):
            return None
        nest = self.nest(loop, directive.loops, facts)
        if not isinstance(nest, _Nest):
            return nest
        dims = tuple(cost.dense(each.dim) for each in nest.loops)
        body = nest.loops[-1].body
        found = bands.blocks_permutation(dims, body, self.scalars) if len(dims) > 1 else None
        if found is not None:
            return self.refusal(loop, found, "tile fewer loops, or change the loop's order in the source")
        sizes = dict(zip(directive.loops, directive.sizes))
        if self.hinted:  # a vector holds the elements of a small block
            vectors = [each for each in nest.loops if each.kind is LoopKind.VECTOR]
            sizes = {p: n for p, n in sizes.items() if n >= LEAST_VECTOR or not any(is_meant(v, p) for v in vectors)}
            if not sizes:
                return Refusal(_place_of(loop), f"the loop over {loop.dim.var} runs in vectors")
        outer: list[tuple[Dim, Loop]] = []
        inner: list[Loop] = []
        reach: dict[str, tuple[Expr, Expr]] = {}
        for each in nest.loops:
            size = next((size for place, size in sizes.items() if is_meant(each, place)), None)
            kind = LoopKind.SEQUENTIAL if each.kind is LoopKind.PARALLEL else each.kind
            cut = self.cut(cost.dense(each.dim), size, reach)
            if cut is None:
                reason = f"the bounds of the loop over {each.dim.var} depend on the loops around it in no simple way"
                return Refusal(_place_of(loop), reason, "tile the loops around it alone")
            inner.append(replace(each, dim=cut.within, kind=kind, work=None))
            outer += [] if cut.blocks is None else [(cut.blocks, each)]
        first = nest.loops[0]
        nodes = body
        for each in reversed(inner):
            nodes = (replace(each, body=nodes),)
        # Blocks of one loop are shared among threads: within them there is nothing left to share.
        shared = (each for _, each in outer if is_shared(each) and (each is first or each.kind is LoopKind.PARALLEL))
        spread = next(shared, None)
        for blocks, each in reversed(outer):
            outermost, work = (LoopKind.PARALLEL, each.work) if each is spread else (LoopKind.SEQUENTIAL, None)
            nodes = (Loop(blocks, nodes, outermost, work=work, span=each.span),)
        return (*nest.before, *nodes, *nest.after)

    def cut(self, dim: Dim, size: int | None, reach: dict[str, tuple[Expr, Expr]]) -> _Cut | None:
        """A dimension of a nest in blocks (`size` None: whole); None if its bounds cannot be followed.

        `reach` tells for the dimensions around it which values they take within a tile, and learns it of this one.  Of
        a triangle the blocks cover what any iteration of the tile needs; each iteration then keeps to its own bounds.
        """
        lo, hi = _extreme(dim.lo, reach, largest=False), _extreme(dim.hi, reach, largest=True)
        if lo is None or hi is None or (dim.step != 1 and (lo, hi) != (dim.lo, dim.hi)):
            return None
        whole = replace(dim, lo=lo, hi=hi)
        if size is None:
            reach[dim.var] = (lo, ix.sub(hi, integer(1))) if dim.step > 0 else (ix.add(hi, integer(1)), lo)
            return _Cut(None, dim)
        blocks, within = strips(whole, integer(size), self.workspace)
        last = ix.sub(within.hi, integer(1)) if dim.step > 0 else ix.add(within.hi, integer(1))
        reach[dim.var] = (within.lo, last) if dim.step > 0 else (last, within.lo)
        if lo != dim.lo:
            within = replace(within, lo=Op("maximum", (dim.lo, within.lo), INT))
        if hi != dim.hi:
            within = replace(within, hi=Op("minimum", (dim.hi, within.hi), INT))
        return _Cut(blocks, within)

    def interchange(self, loop: Loop, facts: Facts, directive: Interchange) -> Block | Refusal | None:
        if not any(is_meant(loop, place) for place in directive.loops):
            return None
        nest = self.nest(loop, directive.loops, facts)
        if not isinstance(nest, _Nest):
            return nest
        dims = tuple(cost.dense(each.dim) for each in nest.loops)
        body = nest.loops[-1].body
        found = bands.depends_on_loops(dims) or bands.blocks_permutation(dims, body, self.scalars)
        if found is not None:
            return self.refusal(loop, found, "keep the order of these loops")
        order = (dims[-1], *dims[1:-1], dims[0])
        return (*nest.before, *self.with_kinds(order, body, nest.loops, facts), *nest.after)

    def with_kinds(self, dims: tuple[Dim, ...], body: Block, like: tuple[Loop, ...], facts: Facts) -> Block:
        """Loops over these dimensions: in vectors and on several threads where the nest they come from was."""
        inside = [facts]
        for dim in dims[:-1]:
            inside.append(inside[-1].with_dim(dim))
        nodes = body
        free: list[bool] = []
        for dim, known, old in reversed(tuple(zip(dims, inside, like))):
            loop = Loop(dim, nodes, span=old.span)
            free.append(bands.blocks_independence(loop, known, self.scalars) is None)
            nodes = (replace(loop, kind=LoopKind.VECTOR) if free[-1] and is_innermost(loop) else loop,)
        shared = next((old for old in like if is_shared(old)), None)
        outermost = next((depth for depth, each in enumerate(reversed(free)) if each), None)
        return nodes if shared is None or outermost is None else shared_at(nodes, outermost, shared.work)

    def unroll(self, loop: Loop, directive: Unroll) -> Block | Refusal | None:
        if not is_meant(loop, directive.loop):
            return None
        if any(isinstance(node, Alloc) for node in walk(loop.body)):
            return Refusal(_place_of(loop), "an array is made in each of its iterations", "unroll a loop inside it")
        dim, factor = cost.dense(loop.dim), directive.factor
        count = cost.constant_extent(dim)
        kind = LoopKind.PARALLEL if is_shared(loop) else LoopKind.SEQUENTIAL
        step = integer(dim.step)
        if count is not None and count <= factor:
            return _copies(loop, [ix.add(dim.lo, ix.mul(step, integer(number))) for number in range(count)])
        whole: Expr = Op("maximum", (cost.extent(dim), integer(0)), INT) if count is None else integer(count)
        times = Op("floordiv", (whole, integer(factor)), INT) if count is None else integer(count // factor)
        counter = Dim(self.workspace.new_var(f"{dim.var}_block"), integer(0), times)
        start = ix.add(dim.lo, ix.mul(ix.mul(step, integer(factor)), Var(counter.var)))
        places = [ix.add(start, ix.mul(step, integer(number))) for number in range(factor)]
        main = Loop(counter, _copies(loop, places), kind, work=loop.work, span=loop.span)
        if count is not None and count % factor == 0:
            return (main,)
        done = ix.mul(ix.mul(step, integer(factor)), times)
        after = done if dim.lo == integer(0) else ix.add(dim.lo, done)
        rest = replace(loop, dim=replace(dim, lo=after), kind=LoopKind.SEQUENTIAL, work=None)
        return (main, replace(rest, accumulators=()))

    def parallel(self, loop: Loop, facts: Facts, place: Place) -> Block | Refusal | None:
        if not is_meant(loop, place, blocks=True):
            return None
        if not self.context.options.parallel:
            return Refusal(_place_of(loop), "the option parallel=False forbids threads", "compile with parallel=True")
        if is_shared(loop):
            self.forced.add(loop.dim.var)
            return (loop,)
        found = bands.blocks_independence(loop, facts, self.scalars) or self.used_after(loop)
        if found is not None:
            return self.refusal(loop, found, "parallelise another loop of the nest")
        self.forced.add(loop.dim.var)
        kind = LoopKind.VECTOR if is_innermost(loop) else LoopKind.PARALLEL
        return (replace(loop, kind=kind, accumulators=(), work=cost.work(loop)),)

    def used_after(self, loop: Loop) -> str | None:
        """A scalar that a loop sets and that code outside it reads."""
        written = set().union(*(buffers_written(node) for node in loop.body)) & self.scalars
        outside = _names_outside(self.program.body, loop) | returned(self.program)
        shared = sorted(written & outside)
        return f"`{shared[0]}` is set in it and used after it" if shared else None

    def sequential(self, loop: Loop, place: Place) -> Block | Refusal | None:
        if loop.kind is LoopKind.PARALLEL and is_meant(loop, place, blocks=True):
            return (replace(loop, kind=LoopKind.SEQUENTIAL, work=None),)
        if is_shared(loop) and is_meant(loop, place):
            return (replace(loop, work=None),)
        return (loop,) if is_meant(loop, place) else None  # it is so already

    def vectorise(self, loop: Loop, facts: Facts, place: Place) -> Block | Refusal | None:
        if not is_meant(loop, place):
            return None
        if loop.kind is LoopKind.VECTOR:
            return (loop,)
        if not is_innermost(loop):
            reason = "it is not an innermost loop"
            return Refusal(_place_of(loop), reason, "interchange it with the loops inside it")
        sums = self.sums(loop)
        rest = tuple(node for node in loop.body if not any(name in buffers_written(node) for name in sums))
        found = bands.blocks_independence(replace(loop, body=rest), facts, self.scalars)
        if found is not None:
            return self.refusal(loop, found, "vectorise another loop of the nest")
        accumulators = tuple(Accumulator(name, op) for name, op in sums.items())
        return (replace(loop, kind=LoopKind.VECTOR, accumulators=accumulators),)

    def sums(self, loop: Loop) -> dict[str, str]:
        """The scalars that a loop accumulates into, where terms may be regrouped."""
        if self.context.options.fp == "strict":
            return {}
        written = set().union(*(buffers_written(node) for node in loop.body)) & self.scalars
        found = {name: reduction_of(loop.body, name) for name in sorted(written)}
        return {name: op for name, op in found.items() if op is not None}

    # --- fusion ------------------------------------------------------------------------------------------------------

    def fused(self, block: Block, lines: tuple[Place, ...], facts: Facts) -> Block:
        """for i: A;  for j: B   -->   for i: A; B[j := i],   where the loops hold statements of the two lines."""
        out: list[Node] = []
        for node in block:
            host = self.last_loop(out)
            if isinstance(node, Loop) and host is not None:
                first = out[host]
                assert isinstance(first, Loop)
                if _has_line(first, lines[0]) and _has_line(node, lines[1]) and not _has_line(first, lines[1]):
                    made = self.joined(first, node, facts)
                    if isinstance(made, Loop):
                        self.applied.append(_place_of(node))
                        out[host:] = [*out[host + 1 :], made]
                        continue
                    self.refused.append(made)
            inside = facts.with_dim(node.dim) if isinstance(node, Loop) else facts
            out.append(map_sub_blocks(node, lambda inner, known=inside: self.fused(inner, lines, known)))  # type: ignore[misc]
        return tuple(out)

    def last_loop(self, nodes: list[Node]) -> int | None:
        """The place of the last loop, if nothing but allocations that could come before it is behind it."""
        for place in reversed(range(len(nodes))):
            node = nodes[place]
            if isinstance(node, Loop):
                return place
            if not isinstance(node, Alloc) or any(expr_buffers(e) for e in self.workspace.table[node.buffer].shape):
                return None
        return None

    def joined(self, first: Loop, second: Loop, facts: Facts) -> Loop | Refusal:
        one, other = cost.dense(first.dim), cost.dense(second.dim)
        if (one.lo, one.hi, one.step) != (other.lo, other.hi, other.step):
            return Refusal(_place_of(second), "the loops have different bounds", "fuse loops over the same range")
        names: dict[str, Expr] = {other.var: Var(one.var)}
        moved = tuple(map_node_exprs(node, lambda e: substitute(e, names)) for node in second.body)
        conflict = bands.blocks_order_change(one, first.body, moved, facts)
        if conflict is not None:
            return self.refusal(second, conflict, "leave the two loops apart")
        loop = replace(first, body=(*first.body, *moved), accumulators=(*first.accumulators, *second.accumulators))
        shared = is_shared(first) or is_shared(second)
        free = not loop.accumulators and bands.blocks_independence(loop, facts, self.scalars) is None
        kind = LoopKind.SEQUENTIAL if not free else LoopKind.VECTOR if is_innermost(loop) else first.kind
        loop = replace(loop, kind=kind, accumulators=(), work=cost.work(loop) if free and shared else None)
        body = loop.body
        split = len(first.body)
        if isinstance(body[split - 1], Loop) and isinstance(body[split], Loop):
            inner = self.joined(body[split - 1], body[split], facts.with_dim(one))  # type: ignore[arg-type]
            if isinstance(inner, Loop):
                loop = replace(loop, body=(*body[: split - 1], inner, *body[split + 1 :]))
        return loop


@dataclass(frozen=True)
class _Nest:
    """Loops each of which holds nothing but the next, and what was cut off before and after them."""

    before: Block
    loops: tuple[Loop, ...]
    after: Block


@dataclass(frozen=True)
class _Cut:
    """A dimension as blocks (None: it is not cut) and as what is left of it within a tile."""

    blocks: Dim | None
    within: Dim


def _extreme(bound: Expr, reach: dict[str, tuple[Expr, Expr]], largest: bool) -> Expr | None:
    """The least or largest value of a bound where these variables are within reach; None if it is not affine."""
    if not free_vars(bound) & reach.keys():
        return bound
    form = affine(bound)
    if form is None:
        return None
    ends: dict[str, Expr] = {}
    for name in form.names & reach.keys():
        ends[name] = reach[name][(form.coefficient(name) > 0) is largest]
    return substitute(bound, ends)


# --- places ----------------------------------------------------------------------------------------------------------


def is_meant(loop: Loop, place: Place, blocks: bool = False) -> bool:
    """Whether a loop of the lowered program is the one of a place in the source."""
    if not place.is_variable(loop.dim.var, blocks):
        return False
    return _has_line(loop, place)


def _has_line(loop: Loop, place: Place) -> bool:
    return not place.line or any(place.has_line(node.span.line) for node in walk((loop,)) if node.span.line > 0)


def _holds(block: Block, place: Place) -> bool:
    return any(isinstance(node, Loop) and is_meant(node, place) for node in walk(block))


def _place_of(node: Node) -> Span:
    """Where a node is in the source: its own place, or that of the first statement in it."""
    return next((inner.span for inner in walk((node,)) if inner.span.line > 0), node.span)


def loop_names(program: Program) -> list[str]:
    """The loops of a program as `Place.of` reads them, outermost first, each once."""
    found: list[str] = []
    for node in walk(program.body):
        if isinstance(node, Loop):
            line = _place_of(node).line
            found.append(f"{node.dim.var}@{line}" if line > 0 else node.dim.var)
    return list(dict.fromkeys(found))


# --- small parts -----------------------------------------------------------------------------------------------------


def _copies(loop: Loop, values: list[Expr]) -> Block:
    """The body of a loop for each of these values of its variable."""
    nodes: list[Node] = []
    for value in values:
        names = {loop.dim.var: value}
        nodes += [map_node_exprs(node, lambda e, n=names: substitute(e, n)) for node in loop.body]  # type: ignore[misc]
    return tuple(nodes)


def _with_body(loop: Loop, body: Block) -> Loop:
    part = replace(loop, body=body)
    return part if loop.work is None else replace(part, work=cost.work(part))


def _is_parallel(node: Node) -> bool:
    return isinstance(node, Loop) and node.kind is LoopKind.PARALLEL


def _one_level(block: Block, forced: set[str], inside: bool) -> Block:
    """Only the loops asked for are parallel, of those that are around them or inside them."""

    def visit(node: Node) -> Node:
        mine = isinstance(node, Loop) and node.dim.var in forced
        if isinstance(node, Loop) and _is_parallel(node) and not mine:
            around = any(isinstance(n, Loop) and n.dim.var in forced for n in walk(node.body))
            if inside or around:
                node = replace(node, kind=LoopKind.SEQUENTIAL, work=None)
        return map_sub_blocks(node, lambda inner: _one_level(inner, forced, inside or mine))

    return tuple(visit(node) for node in block)


def _names_outside(block: Block, loop: Loop) -> set[str]:
    """Buffers read anywhere but in one loop."""
    found: set[str] = set()
    for node in block:
        if node is loop:
            continue
        if any(inner is loop for inner in walk((node,))):
            found |= buffers_read(map_sub_blocks(node, lambda _: ()))
            for inner in sub_blocks(node):
                found |= _names_outside(inner, loop)
        else:
            found |= buffers_read(node)
    return found
