"""Search: the position of an extreme is looked for in one block of a long array only.

    s = argmin[k: 0 <= k < n] v(k)
        -->  parts[b] = min[k in block b] v(k) for b;  w = argmin[b] parts[b];  s = w * size + argmin[k in block w] v(k)

In: scalar statements with arg-reductions; out: the same in blocks.  Finding the best value takes one pass over memory
and finding where it is another: here the second pass is over one block.  An array of one block is left to that pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
from weft.passes import PassContext
from weft.passes.kinds import BLOCK, MAX_BLOCKS
from weft.passes.rewrite_dims import renamed_domain

_NAME = "search"
_PLAIN = {"argmin": "minimum", "argmax": "maximum"}


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
                return replace(expr, args=(visit(expr.args[0]), *expr.args[1:]))
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

    def scalar(self, name: str, value: Expr, before: list[Node], reduce: Reduce) -> Read:
        buffer = Buffer(fresh(name, self.taken), INT, ())
        self.made.append(buffer)
        before.append(Stmt((), buffer.name, (), value, span=reduce.span))
        return Read(buffer.name, (), INT)

    def searched(self, reduce: Reduce, before: list[Node]) -> Expr:
        """The position, after the statements that find the block it is in."""
        first, *inner = reduce.dims
        assert isinstance(first, Dim)
        count = cost.extent(first)
        least = integer(1 if inner else BLOCK)
        share = Op("floordiv", (affine_index.add(count, integer(MAX_BLOCKS - 1)), integer(MAX_BLOCKS)), INT)
        size = self.symbol("block", Op("maximum", (share, least), INT))
        less = affine_index.add(count, affine_index.sub(size, integer(1)))
        blocks = Op("floordiv", (less, size), INT)
        more = Op("gt", (blocks, integer(1)), PYBOOL)
        number = self.symbol("blocks", Op("select", (more, blocks, integer(0)), INT))
        parts = Buffer(fresh("parts", self.taken), reduce.value.type, (integer(MAX_BLOCKS),))
        self.made.append(parts)
        at = Dim(fresh("b", self.taken), integer(0), number)
        best = self.within(reduce, _PLAIN[reduce.op], Var(at.var), size)
        before.append(Alloc(parts.name, span=reduce.span))
        before.append(Stmt((at,), parts.name, (Var(at.var),), best, span=reduce.span))
        again = Dim(fresh("b", self.taken), integer(0), integer(MAX_BLOCKS))
        never = Const(REDUCTIONS[_PLAIN[reduce.op]].identity(parts.type), parts.type)
        filled = Op("lt", (Var(again.var), number), PYBOOL)
        part = Op("select", (filled, Read(parts.name, (Var(again.var),), parts.type), never), parts.type)
        winner = Reduce(reduce.op, (again,), part, reduce.span)
        which = self.scalar("which", Cast(winner, INT), before, reduce)
        start = Op("mul", (which, size), INT)
        for dim in inner:
            assert isinstance(dim, Dim)
            start = Op("mul", (start, cost.extent(dim)), INT)
        return Op("add", (Cast(start, I64), self.within(reduce, reduce.op, which, size)), I64)

    def within(self, reduce: Reduce, op: str, number: Expr, size: Expr) -> Expr:
        """A reduction of the elements of one block."""
        first, *inner = reduce.dims
        assert isinstance(first, Dim)
        lo = affine_index.add(first.lo, Op("mul", (number, size), INT))
        hi = Op("minimum", (affine_index.add(lo, size), first.hi), INT)
        dims: Domain = (replace(first, lo=lo, hi=hi), *inner)
        names, moved = renamed_domain(dims, lambda name: fresh(name, self.taken))
        return Reduce(op, names, substitute(reduce.value, moved), reduce.span)


__all__ = ["blocks_search", "run"]
