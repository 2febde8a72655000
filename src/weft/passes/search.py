"""Search: the position of an extreme is looked for in one block of a long array only.

    s = argmin[k: 0 <= k < n] v(k)
        -->  parts[b] = min[k in block b] v(k) for b;  best = min[b] parts[b];  w = the first b with parts[b] == best
             s = the first k in block w with v(k) == best

In: scalar statements with arg-reductions; out: the same in blocks.  Finding the best value takes one pass over memory
and finding where it is another: here the second pass is over one block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Cast, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, integer
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Alloc, Block, Buffer, Derived, Node, Program, Stmt, Symbol
from weft.ir.types import I64, INT, PYBOOL
from weft.ir.walk import (
    dim_children,
    expr_buffers,
    free_vars,
    fresh,
    map_children,
    map_sub_blocks,
    names_of,
    substitute,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.scheduling.kinds import BLOCK, MAX_BLOCKS
from weft.passes.scheduling.rewrite_dims import chosen, first_place, is_best, or_zero, renamed_domain
from weft.records import dataclass

_NAME = "search"
_PLAIN = {"argmin": "minimum", "argmax": "maximum"}


@declared("search", after=("raise",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every scalar statement with an arg-reduction over many elements."""
    searcher = _Searcher(names_of(program), frozenset(symbol.name for symbol in program.symbols))
    body = searcher.block(program.body)
    if body is program.body:
        return program
    context.done(_NAME, "the place of an extreme is looked for in one block only", program.span)
    symbols, buffers = (*program.symbols, *searcher.symbols), (*program.buffers, *searcher.made)
    return replace(program, body=body, symbols=symbols, buffers=buffers)


def blocks_search(reduce: Reduce, symbols: frozenset[str]) -> str | None:
    """Why the elements of an arg-reduction cannot be cut into blocks, None if they can."""
    bounds = [bound for dim in reduce.dims for bound in dim_children(dim)]
    if not all(isinstance(dim, Dim) and dim.step == 1 for dim in reduce.dims):
        return "its elements are not counted one by one"
    if any(expr_buffers(bound) or not free_vars(bound) <= symbols for bound in bounds):
        return "how many elements it has is not known at entry"
    few = cost.constant_extent(reduce.dims[0])
    return "there are few elements" if few is not None and few <= BLOCK else None


@dataclass
class _Searcher:
    taken: set[str]
    known: frozenset[str]  # the symbols of the program
    made: list[Buffer] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)

    def block(self, block: Block) -> Block:
        out: list[Node] = []
        for node in block:
            out += self.stmt(node) if isinstance(node, Stmt) and not node.domain else [map_sub_blocks(node, self.block)]
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return block if unchanged else tuple(out)

    def stmt(self, stmt: Stmt) -> list[Node]:
        before: list[Node] = []

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Op) and expr.op == "select":
                # A branch that is not taken must not be evaluated.
                test = visit(expr.args[0])
                return expr if test is expr.args[0] else replace(expr, args=(test, *expr.args[1:]))
            if isinstance(expr, Reduce):
                searched = expr.op in _PLAIN and blocks_search(expr, self.known) is None
                return self.searched(expr, before) if searched else expr
            return map_children(expr, visit)

        value = visit(stmt.value)
        return [*before, stmt if value is stmt.value else replace(stmt, value=value)]

    def symbol(self, name: str, value: Expr) -> Var:
        """A number known at entry, so that what uses it has a known size."""
        self.symbols.append(Symbol(fresh(name, self.taken), Derived(value)))
        return Var(self.symbols[-1].name)

    def scalar(self, name: str, value: Expr, before: list[Node]) -> Read:
        buffer = Buffer(fresh(name, self.taken), value.type, ())
        self.made.append(buffer)
        before.append(Stmt((), buffer.name, (), value))
        return Read(buffer.name, (), value.type)

    def searched(self, reduce: Reduce, before: list[Node]) -> Expr:
        """The position, after the statements that find the block it is in."""
        first, *inner = reduce.dims
        assert isinstance(first, Dim)
        count = cost.extent(first)
        least = integer(1 if inner else BLOCK)
        share = Op("floordiv", (affine_index.add(count, integer(MAX_BLOCKS - 1)), integer(MAX_BLOCKS)), INT)
        size = self.symbol("block", Op("maximum", (share, least), INT))
        less = affine_index.add(count, affine_index.sub(size, integer(1)))
        number = self.symbol("blocks", Op("floordiv", (less, size), INT))
        parts = Buffer(fresh("parts", self.taken), reduce.value.type, (integer(MAX_BLOCKS),))
        self.made.append(parts)
        op, of = _PLAIN[reduce.op], parts.type
        at = Dim(fresh("b", self.taken), integer(0), number)
        dims, value = self.within(reduce, Var(at.var), size)
        before.append(Alloc(parts.name, span=reduce.span))
        before.append(Stmt((at,), parts.name, (Var(at.var),), Reduce(op, dims, value, reduce.span), span=reduce.span))

        def over_parts(combine: str, term: Callable[[Expr, Read], Expr], none: Const) -> Reduce:
            again = Dim(fresh("b", self.taken), integer(0), integer(MAX_BLOCKS))
            filled = Op("lt", (Var(again.var), number), PYBOOL)
            found = term(Var(again.var), Read(parts.name, (Var(again.var),), of))
            return Reduce(combine, (again,), Op("select", (filled, found, none), found.type), reduce.span)

        never = Const(REDUCTIONS[op].identity(of), of)
        best = self.scalar("best", over_parts(op, lambda _, part: part, never), before)
        last = Const(MAX_BLOCKS - 1, I64)
        first_best = over_parts("minimum", lambda b, part: chosen(is_best(part, best), Cast(b, I64), last), last)
        # Between these bounds, so that it is plain that the ends of the block are numbers of 64 bits.
        inside = Op("maximum", (Op("minimum", (first_best, last), I64), Const(0, I64)), I64)
        which = self.scalar("which", Cast(inside, INT), before)
        dims, value = self.within(reduce, which, size)
        place: Expr = integer(0)
        for dim, old in zip(dims, reduce.dims):
            assert isinstance(old, Dim)
            steps = affine_index.sub(Var(dim.var), old.lo)
            place = affine_index.add(affine_index.mul(place, cost.extent(old)), steps)
        return or_zero(self.scalar("found", first_place(dims, is_best(value, best), place, reduce.span), before))

    def within(self, reduce: Reduce, number: Expr, size: Expr) -> tuple[Domain, Expr]:
        """The elements of one block: their dimensions, and the value at each."""
        first, *inner = reduce.dims
        assert isinstance(first, Dim)
        start = Op("mul", (number, size), INT)
        lo = start if first.lo == integer(0) else affine_index.add(first.lo, start)
        hi = Op("minimum", (affine_index.add(lo, size), first.hi), INT)
        dims, moved = renamed_domain((replace(first, lo=lo, hi=hi), *inner), lambda name: fresh(name, self.taken))
        return dims, substitute(reduce.value, moved)


__all__ = ["blocks_search", "run"]
