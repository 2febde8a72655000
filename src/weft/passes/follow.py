"""Followers.  In: a loop that stores a running value into a temporary, and statements behind it that look at each of
its elements once; out: one loop that does what they do with the value itself, and no temporary.

    t[0] = x[0];  for k in 1 .. n: t[k] = t[k - 1] + x[k];  y[i] = t[i] * 2   for i: 0 <= i < n
      -->   s = x[0];  y[0] = s * 2;  for k in 1 .. n: { s = s + x[k];  y[k] = s * 2 }

So `np.cumsum(x) * 2` makes one pass over memory, as the loop does that a programmer would write.  Dear followers stay
behind, where they run in vectors: the same bound decides what leaves a loop (`raising/keep.py`).
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import flops
from weft.ir.expr import Dim, Expr, Read, Reduce, Var, integer
from weft.ir.index import add as plus
from weft.ir.index import affine, canonical
from weft.ir.index import sub as minus
from weft.ir.program import Alloc, Block, Buffer, If, Loop, Node, Program, Role, Stmt
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    fresh,
    map_sub_blocks,
    mentions,
    names_of,
    node_exprs,
    reads,
    rewrite,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.raising.keep import WORTH
from weft.passes.scheduling.scans import carried_in, held_instead
from weft.records import dataclass

PASS = "follow"


@declared("follow", after=("wavefront",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop with followers, innermost blocks included."""
    if not any(isinstance(node, Loop) for node in walk(program.body)):
        return program
    follower = _Follower(program, context)
    body = follower.block(program.body)
    if body is program.body:
        return program
    gone = follower.gone
    kept = tuple(buffer for buffer in program.buffers if buffer.name not in gone)
    body = _without(body, gone)
    return replace(program, body=body, buffers=(*kept, *follower.made))


def _without(block: Block, gone: set[str]) -> Block:
    """The block without the memory of temporaries that are no more, which may be set aside around it."""
    nodes = (map_sub_blocks(node, lambda inner: _without(inner, gone)) for node in block)
    return tuple(node for node in nodes if not (isinstance(node, Alloc) and node.buffer in gone))


@dataclass(frozen=True)
class _Chain:
    """A first element, the loop over the others, and the statements that follow: positions in a block."""

    temporary: str
    first: int
    loop: int
    followers: tuple[int, ...]
    previous: tuple[Expr, ...]


class _Follower:
    def __init__(self, program: Program, context: PassContext) -> None:
        self.program, self.context = program, context
        self.uses = mentions(program.body)
        self.taken = names_of(program)
        self.made: list[Buffer] = []
        self.gone: set[str] = set()

    def block(self, block: Block) -> Block:
        nodes = tuple(map_sub_blocks(node, self.block) for node in block)
        changed = any(new is not old for new, old in zip(nodes, block))
        at = 0
        while at < len(nodes):
            loop = nodes[at]
            written = sorted(buffers_written(loop)) if isinstance(loop, Loop) else []
            for name in written:
                found = self.chain(nodes, at, name)
                if not isinstance(found, str):
                    nodes, changed = self.joined(nodes, found), True
                    at = -1
                    break
            at += 1
        return nodes if changed else block

    def chain(self, nodes: Block, at: int, name: str) -> _Chain | str:
        """The chain around the loop at a position of a block, or why there is none."""
        loop, buffer = nodes[at], self.program.table.get(name)
        assert isinstance(loop, Loop)
        if buffer is None or buffer.role is not Role.LOCAL or buffer.rank != 1:
            return "not a temporary of one dimension"
        using = [place for place, node in enumerate(nodes) if name in buffers_read(node) | buffers_written(node)]
        using = [place for place in using if not isinstance(nodes[place], Alloc)]
        if mentions(tuple(nodes[place] for place in using), allocations=False).get(name) != self.elsewhere(name):
            return "it is used elsewhere"
        if len(using) < 3 or using[1] != at:
            return "nothing follows, or the first element is set elsewhere"
        if not all(isinstance(node, (Stmt, If)) for node in walk(loop.body)):
            return "the loop is more than statements"
        previous = carried_in(loop, name)
        if previous is None or not isinstance(loop.dim, Dim) or loop.dim.step != 1:
            return "the loop does not carry its elements along one by one"
        first = nodes[using[0]]
        start = canonical(substitute(previous[0], {loop.dim.var: loop.dim.lo}))
        if not isinstance(first, Stmt) or first.domain or first.reduce is not None or first.index != (start,):
            return "the first element is not set by itself"
        if name in expr_buffers(first.value):
            return "the first element is made of others"
        body = held_instead(loop.body, name, previous, Read(name, (), buffer.type))
        seen = (read for node in walk(body) for e in node_exprs(node) for read in reads(e) if read.buffer == name)
        if any(read.index for read in seen):
            return "the loop looks at an element once more"
        if any(name in expr_buffers(size) for other in self.program.buffers for size in other.shape):
            return "the size of an array is made of its elements"
        chain = _Chain(name, using[0], at, tuple(using[2:]), previous)
        return self.why_not(nodes, chain) or chain

    def elsewhere(self, name: str) -> int:
        allocated = sum(isinstance(n, Alloc) and n.buffer == name for n in walk(self.program.body))
        return self.uses.get(name, 0) - allocated

    def why_not(self, nodes: Block, chain: _Chain) -> str | None:
        """Why the statements that follow must stay behind the loop."""
        loop = nodes[chain.loop]
        assert isinstance(loop, Loop) and isinstance(loop.dim, Dim)
        between = nodes[chain.first + 1 : chain.followers[-1]]
        others = [n for p, n in enumerate(between, chain.first + 1) if p != chain.loop and p not in chain.followers]
        if not all(isinstance(node, Alloc) for node in others):
            return "something else is done between them"
        if any(expr_buffers(size) for node in others if isinstance(node, Alloc) for size in self.shape(node)):
            return "the size of an array between them is read from memory"
        written = buffers_written(loop) | {chain.temporary}
        own = [nodes[place] for place in chain.followers]
        if sum(flops(node.value) for node in own if isinstance(node, Stmt)) >= WORTH:
            return "they do more than a trip through memory takes"
        targets: set[str] = set()
        for node in own:
            if not isinstance(node, Stmt) or node.reduce is not None or len(node.domain) != 1:
                return "not statements over the elements"
            reason = self._why_not_one(node, chain, loop, nodes[chain.first], written | targets)
            if reason is not None:
                return reason
            targets.add(node.buffer)
        return None

    def shape(self, alloc: Alloc) -> tuple[Expr, ...]:
        return self.program.table[alloc.buffer].shape

    def _why_not_one(self, stmt: Stmt, chain: _Chain, loop: Loop, first: Node, written: set[str]) -> str | None:
        dim = stmt.domain[0]
        shift = _shift(stmt, chain.temporary)
        assert isinstance(loop.dim, Dim)
        if not isinstance(dim, Dim) or dim.step != 1 or shift is None:
            return "other elements than its own are looked at"
        start = canonical(substitute(chain.previous[0], {loop.dim.var: loop.dim.lo}))
        last = canonical(substitute(chain.previous[0], {loop.dim.var: plus(loop.dim.hi, integer(1))}))
        if plus(dim.lo, shift) != start or plus(dim.hi, shift) != last:
            return "not all elements are looked at, or others"
        inputs = buffers_read(stmt) - {chain.temporary}
        if inputs & written or stmt.buffer in written | inputs:
            return "it needs what the loop or another one has finished"
        used = buffers_read(loop) | buffers_read(first) | inputs
        if stmt.buffer in used:
            return "the loop looks at what it changes"
        given = [self.program.table[name] for name in used]
        if self.program.table[stmt.buffer].role is Role.PARAM and any(b.rank and b.role is Role.PARAM for b in given):
            return "arrays of the caller may overlap"
        return "it holds a sum" if any(isinstance(e, Reduce) for e in subexpressions(stmt.value)) else None

    def joined(self, nodes: Block, chain: _Chain) -> Block:
        """The block with one loop for the chain."""
        first, loop = nodes[chain.first], nodes[chain.loop]
        assert isinstance(first, Stmt) and isinstance(loop, Loop) and isinstance(loop.dim, Dim)
        of = self.program.table[chain.temporary].type
        buffer = Buffer(fresh(chain.temporary, self.taken), of, ())
        self.made.append(buffer)
        self.gone.add(chain.temporary)
        held = Read(buffer.name, (), of)
        body = held_instead(loop.body, chain.temporary, chain.previous, held)
        body = tuple(node for node in body if not (isinstance(node, Stmt) and node.buffer == chain.temporary))
        followers = [nodes[place] for place in chain.followers]
        start = canonical(substitute(chain.previous[0], {loop.dim.var: loop.dim.lo}))
        here = plus(chain.previous[0], integer(1))
        at_first: list[Node] = [replace(first, buffer=buffer.name, index=())]
        inside: list[Node] = [*body]
        for stmt in followers:
            assert isinstance(stmt, Stmt)
            at_first.append(_at(stmt, start, chain.temporary, held))
            inside.append(_at(stmt, here, chain.temporary, held))
        lines = ", ".join(str(stmt.span.line) for stmt in followers if stmt.span.line > 0)
        self.context.done(PASS, f"joined by line {lines}: no temporary between them", loop.span)
        allocs = [node for node in nodes[chain.first + 1 : chain.followers[-1]] if isinstance(node, Alloc)]
        behind = nodes[chain.followers[-1] + 1 :]
        joined = (*nodes[: chain.first], *allocs, *at_first, replace(loop, body=tuple(inside)), *behind)
        self.uses = {**self.uses, chain.temporary: 0}
        return joined


def _shift(stmt: Stmt, temporary: str) -> Expr | None:
    """How far behind its variable a statement reads the temporary, if it always does so at one place."""
    dim = stmt.domain[0]
    places = {read.index for e in (stmt.value, *stmt.index) for read in reads(e) if read.buffer == temporary}
    form = affine(next(iter(places))[0]) if len(places) == 1 else None
    if form is None or form.coefficient(dim.var) != 1:
        return None
    return minus(next(iter(places))[0], Var(dim.var))


def _at(stmt: Stmt, place: Expr, temporary: str, held: Read) -> Stmt:
    """A follower at one element of the temporary, which is in a variable."""
    shift = _shift(stmt, temporary)
    assert shift is not None

    def visit(expr: Expr) -> Expr:
        return held if isinstance(expr, Read) and expr.buffer == temporary else expr

    values = {stmt.domain[0].var: minus(place, shift)}
    index = tuple(canonical(substitute(rewrite(e, visit), values)) for e in stmt.index)
    return replace(stmt, domain=(), index=index, value=substitute(rewrite(stmt.value, visit), values))


__all__ = ["run"]
