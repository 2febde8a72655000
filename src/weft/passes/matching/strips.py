"""A block of iterations in strips.  In: a short loop over k whose statements reach beyond its last iteration; out:
first what lies within the block, then what lies beyond it, in strips that are independent of each other.

    for k in k0 .. k1:   a[i, k] = a[i, k] / a[k, k]             for i: k + 1 <= i < n
                         a[i, j] = a[i, j] - a[i, k] * a[k, j]   for i: k + 1 <= i < n, j: k + 1 <= j < k1
      -->  for k in k0 .. k1:   the same,  where i < k1
           for s in k1 .. n step 16, in parallel:
             for k in k0 .. k1:   the same,  where s <= i < s + 16

Threads meet once a strip instead of once an iteration, and a strip stays in the first cache for all iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.analysis import cost
from weft.analysis.effects import Access, domain_reads, reads_of
from weft.analysis.intervals import never_meet, ranges_of
from weft.ir.domain import is_empty
from weft.ir.expr import Dim, Domain, Expr, Op, Var, integer, real
from weft.ir.index import add as plus
from weft.ir.index import affine, difference
from weft.ir.program import Loop, LoopKind, Node, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import free_vars, substitute
from weft.passes.scheduling.rewrite_dims import renamed_domain
from weft.records import dataclass

# The width of a strip: across rows few of them, along rows as much as the second cache takes of a block's rows.
ROWS, COLUMNS = 16, 256
_CYCLES = 0.5  # of one point in a strip


@dataclass(frozen=True)
class _Piece:
    """A part of a statement: within the block (`beyond` is empty) or beyond it along a dimension of the target.

    `beyond` is the target and its axis, `far` the dimension.
    """

    place: int
    stmt: Stmt
    beyond: tuple[str, int] | None = None
    far: Dim | None = None


def strips(loop: Loop, new_var: Callable[[str], str]) -> tuple[Node, ...] | str:
    """The loop over a block in strips, or why not."""
    block = loop.dim
    assert isinstance(block, Dim)
    pieces: list[_Piece] = []
    for place, node in enumerate(loop.body):
        if not isinstance(node, Stmt) or node.reduce is not None:
            return "not a loop of statements"
        found = _pieces(place, node, block)
        if found is None:
            return "a statement lies beyond the block in two ways"
        pieces += found
    groups: dict[tuple[str, int] | None, list[_Piece]] = {None: [p for p in pieces if p.beyond is None]}
    for piece in pieces:
        if piece.beyond is not None:
            groups.setdefault(piece.beyond, []).append(piece)
    if len(groups) == 1:
        return "nothing lies beyond the block"
    for key, group in groups.items():
        if len({p.far.hi for p in group if p.far is not None}) > 1:
            return "the statements end at different places"
        if key is not None and not _independent(group, block):
            return "strips need each other"
    ordered = list(groups.values())
    for position, group in enumerate(ordered):
        if any(_before(late, early, block) for other in ordered[position + 1 :] for late in other for early in group):
            return "what lies in the block needs what lies beyond it"
    nodes: list[Node] = [replace(loop, body=tuple(piece.stmt for piece in ordered[0]))] if ordered[0] else []
    nodes += [_strip(loop, group, new_var) for group in ordered[1:]]
    return tuple(nodes)


def _pieces(place: int, stmt: Stmt, block: Dim) -> list[_Piece] | None:
    """A statement cut where its dimensions leave the block; None if one part leaves it along two."""
    made = [_Piece(place, stmt)]
    for position, dim in enumerate(stmt.domain):
        if not isinstance(dim, Dim) or dim.step != 1:
            return None
        axes = [axis for axis, part in enumerate(stmt.index) if part == Var(dim.var)]
        lows = dim.lo.args if isinstance(dim.lo, Op) and dim.lo.op == "maximum" else (dim.lo,)
        outside = any((difference(low, block.hi) or 0) >= 0 and difference(low, block.hi) is not None for low in lows)
        moving = any((form := affine(low)) is not None and form.coefficient(block.var) == 1 for low in lows)
        if len(axes) != 1 or _ends_inside(dim.hi, block.hi) or not (outside or moving):
            continue
        cut: list[_Piece] = []
        for piece in made:
            near, far = _cut(piece.stmt, position, dim, block.hi, outside)
            if near is not None and not is_empty((block, *near.domain)):
                cut.append(replace(piece, stmt=near))
            if is_empty((block, *far.domain)):
                continue
            here = far.domain[position]
            if piece.beyond is not None or not isinstance(here, Dim) or _used(dim.hi, stmt.domain):
                return None
            cut.append(_Piece(place, far, (stmt.buffer, axes[0]), here))
        made = cut
    return made


def _used(bound: Expr, domain: Domain) -> bool:
    return not free_vars(bound).isdisjoint(dim.var for dim in domain)


def _ends_inside(hi: Expr, end: Expr) -> bool:
    return hi == end or (isinstance(hi, Op) and hi.op == "minimum" and end in hi.args)


def _cut(stmt: Stmt, position: int, dim: Dim, end: Expr, outside: bool) -> tuple[Stmt | None, Stmt]:
    """The part of a statement below `end` along one dimension, and the part from there on."""
    if outside:
        return None, stmt
    parts = [replace(dim, hi=Op("minimum", (dim.hi, end), INT)), replace(dim, lo=Op("maximum", (dim.lo, end), INT))]
    near, far = (replace(stmt, domain=(*stmt.domain[:position], d, *stmt.domain[position + 1 :])) for d in parts)
    return near, far


def _strip(loop: Loop, group: list[_Piece], new_var: Callable[[str], str]) -> Node:
    """The loop over the strips of one group."""
    far = group[0].far
    block = loop.dim
    assert far is not None and isinstance(block, Dim)
    contiguous = all(piece.stmt.index[-1] == Var(piece.far.var) for piece in group if piece.far is not None)
    width = integer(COLUMNS if contiguous else ROWS)
    here = new_var(far.var)
    body: list[Stmt] = []
    for piece in group:
        assert piece.far is not None
        # The bound that moves stays: it says what the iteration does not touch.
        lo = Op("maximum", (piece.far.lo, Var(here)), INT)
        narrow = replace(piece.far, lo=lo, hi=Op("minimum", (piece.far.hi, plus(Var(here), width)), INT))
        domain = tuple(narrow if dim == piece.far else dim for dim in piece.stmt.domain)
        body.append(replace(piece.stmt, domain=domain))
    inner = replace(loop, body=tuple(body))
    strip = Dim(here, block.hi, far.hi, int(width.value.real))
    points = max((cost.points((block, *piece.stmt.domain)) for piece in group), key=lambda e: len(str(e)))
    return Loop(strip, (inner,), LoopKind.PARALLEL, work=cost.times(real(_CYCLES), points), span=loop.span)


# --- legality --------------------------------------------------------------------------------------------------------


def _accesses(piece: _Piece, block: Dim) -> tuple[Access, list[Access]]:
    around = (block, *piece.stmt.domain)
    reads = list(domain_reads(piece.stmt.domain, (block,)))
    for part in (*piece.stmt.index, piece.stmt.value):
        reads += reads_of(part, around)
    return Access(piece.stmt.buffer, piece.stmt.index, around), reads


def _pairs(one: _Piece, other: _Piece, block: Dim) -> list[tuple[Access, Access]]:
    """Accesses of two pieces of which at least one writes, to the same buffer."""
    write, reads = _accesses(one, block)
    written, seen = _accesses(other, block)
    pairs = [(write, written), *((write, read) for read in seen), *((read, written) for read in reads)]
    return [(left, right) for left, right in dict.fromkeys(pairs) if left.buffer == right.buffer]


def _independent(group: list[_Piece], block: Dim) -> bool:
    """Whether different places along the far dimension never touch the same element, one of them writing it."""
    for position, one in enumerate(group):
        for other in group[position:]:
            for left, right in _pairs(one, other, block):
                assert one.far is not None and other.far is not None
                apart = [Op("ne", (Var(one.far.var), Var(other.far.var + "'")), PYBOOL)]
                if _meet(left, right, apart):
                    return False
    return True


def _before(late: _Piece, early: _Piece, block: Dim) -> bool:
    """Whether a piece that is to come later shares an element with a later iteration of one that is to come first."""
    # The points of one statement are simultaneous: none of them may see another.
    relation = "le" if late.place <= early.place else "lt"
    earlier = [Op(relation, (Var(block.var), Var(block.var + "'")), PYBOOL)]
    return any(_meet(left, right, earlier) for left, right in _pairs(late, early, block))


def _meet(first: Access, second: Access, conditions: list[Op]) -> bool:
    """Whether two accesses may touch one element under conditions (names of the second with a prime)."""
    if any(_same_far(left, right, conditions) for left, right in zip(first.index, second.index)):
        return False
    if never_meet(first.index, ranges_of(first.dims), second.index, ranges_of(second.dims)):
        return False
    copied, names = renamed_domain(second.dims, lambda name: name + "'")
    same = [Op("eq", (left, substitute(right, names)), PYBOOL) for left, right in zip(first.index, second.index)]
    return not is_empty((*first.dims, *copied), (*same, *conditions))


def _same_far(left: Expr, right: Expr, conditions: list[Op]) -> bool:
    """Whether a condition already says that two positions differ."""
    if not (isinstance(left, Var) and isinstance(right, Var)):
        return False
    return any(c.op == "ne" and c.args == (left, Var(right.name + "'")) for c in conditions)


__all__ = ["COLUMNS", "ROWS", "strips"]
