"""How unevenly the iterations of a loop take time.  In: a parallel loop; out: the array that tells how much work lies
before each of them, where there is one.

    parallel i: for p in ptr[i] .. ptr[i+1]: ...      iteration i has ptr[i+1] - ptr[i] steps
"""

from __future__ import annotations

from collections.abc import Callable

from weft.ir import index as affine_index
from weft.ir.expr import ONE, Cast, Dim, Expr, Read, Var, integer
from weft.ir.program import Buffer, If, Loop, While
from weft.ir.types import DType
from weft.ir.walk import buffers_written, sub_blocks

_POINTERS = (DType.I32, DType.I64)


def pointer_of(loop: Loop, buffer: Callable[[str], Buffer]) -> str | None:
    """The array of offsets by which a loop runs through what is behind it; None if there is none, or if it is not known
    to reach as far as the loop does."""
    dim = loop.dim
    if not isinstance(dim, Dim) or dim.step != 1 or affine_index.difference(dim.lo, integer(0)) != 0:
        return None
    made = set().union(*(buffers_written(node) for node in loop.body))
    for node in _inner(loop):
        found = _offsets(node.dim, dim.var) if isinstance(node.dim, Dim) else None
        if found is None or found in made:
            continue
        of = buffer(found)
        spare = affine_index.difference(of.shape[0], affine_index.add(dim.hi, ONE))
        if of.type.dtype in _POINTERS and spare is not None and spare >= 0:
            return found
    return None


def _inner(loop: Loop) -> list[Loop]:
    """The loops inside, whatever is around them."""
    found: list[Loop] = []
    for node in loop.body:
        if isinstance(node, Loop):
            found += [node, *_inner(node)]
        elif isinstance(node, (If, While)):
            for block in sub_blocks(node):
                found += [one for one in block if isinstance(one, Loop)]
    return found


def _offsets(dim: Dim, var: str) -> str | None:
    """a, if a dimension goes from a[var] to a[var + 1]."""
    low, high = (_plain(bound) for bound in (dim.lo, dim.hi))
    if dim.step != 1 or low is None or high is None or low.buffer != high.buffer or len(low.index) != 1:
        return None
    here = affine_index.difference(low.index[0], Var(var)) == 0
    return low.buffer if here and affine_index.difference(high.index[0], low.index[0]) == 1 else None


def _plain(expr: Expr) -> Read | None:
    while isinstance(expr, Cast):
        expr = expr.value
    return expr if isinstance(expr, Read) else None
