"""Calls that are too short to give up the interpreter lock for.  In: a lowered program; out: below how many elements in
its arrays a call is that short.

Giving the lock up and taking it again costs as much as some hundred additions.  The work must be bounded by the sizes
of arrays: every loop runs over an extent, and nothing waits or runs code that weft has not written.

    for i in 0 .. a.shape[0]: ...  -->  1024        for i in 0 .. n (an argument), or 0 .. 10**9: ...  -->  0
"""

from __future__ import annotations

from weft.ir.expr import Const, Dim, Expr, Op, Read, Reduce, Var
from weft.ir.foreign import FOREIGN
from weft.ir.program import Alloc, Block, Break, Check, Continue, If, Loop, Node, Program, Rebind, Return, SizeOf, Stmt
from weft.ir.walk import node_exprs, subexpressions, walk

#: By how deep loops are nested: some microseconds of work.
_ELEMENTS = {0: 1 << 40, 1: 1024, 2: 128, 3: 24}
#: Of whole numbers in sizes.
_LARGEST = 64
_LINEAR = frozenset({"add", "sub", "neg", "mul", "minimum", "maximum", "floordiv", "mod"})


def hold_below(program: Program) -> int:
    """The number of elements below which a call keeps the lock; 0: it never does."""
    if program.functions or not all(_is_plain(node) for node in walk(program.body)):
        return 0
    sizes = {symbol.name for symbol in program.symbols if isinstance(symbol.source, SizeOf)}
    sizes |= _scalars(program, sizes)
    allocated = {node.buffer for node in walk(program.body) if isinstance(node, Alloc)}
    shapes = [extent for buffer in program.buffers if buffer.name in allocated for extent in buffer.shape]
    if not all(_is_bounded(extent, sizes) for extent in shapes):
        return 0
    depth = _depth(program.body, sizes)
    if depth is None:
        return 0
    return _ELEMENTS.get(max(depth, int(bool(shapes))), 0)


def _is_plain(node: Node) -> bool:
    if not isinstance(node, (Alloc, Break, Check, Continue, If, Loop, Rebind, Return, Stmt)):
        return False
    parts = (part for expr in node_exprs(node) for part in subexpressions(expr))
    return not any(isinstance(part, Reduce) or (isinstance(part, Op) and part.op in FOREIGN) for part in parts)


def _is_bounded(expr: Expr, known: set[str]) -> bool:
    """Whether a size is at most a small multiple of the sizes of arrays: n * n, or a number of millions, is not."""
    if isinstance(expr, Const):
        return isinstance(expr.value, int) and abs(expr.value) <= _LARGEST
    if isinstance(expr, Var):
        return expr.name in known
    if isinstance(expr, Read):
        return not expr.index and expr.buffer in known
    if isinstance(expr, Op) and expr.op == "mul" and {type(part) for part in expr.args} != {Const, Var}:
        return False
    return isinstance(expr, Op) and expr.op in _LINEAR and all(_is_bounded(part, known) for part in expr.args)


def _scalars(program: Program, sizes: set[str]) -> set[str]:
    """Variables that are computed from sizes, and not from themselves."""
    written: dict[str, list[Stmt]] = {}
    for node in walk(program.body):
        if isinstance(node, Stmt) and not node.index:
            written.setdefault(node.buffer, []).append(node)
    found: set[str] = set()
    while True:
        known = sizes | found
        more = {
            name
            for name, stores in written.items()
            if name not in found and all(not s.reduce and _is_bounded(s.value, known) for s in stores)
        }
        if not more:
            return found
        found |= more


def _depth(block: Block, known: set[str]) -> int | None:
    """How deep loops over extents are nested; None if one runs over something else."""
    most = 0
    for node in block:
        inner: list[int | None] = []
        if isinstance(node, If):
            inner = [_depth(node.then, known), _depth(node.orelse, known)]
        elif isinstance(node, Loop):
            dim = node.dim
            if not isinstance(dim, Dim) or not all(_is_bounded(end, known) for end in (dim.lo, dim.hi)):
                return None
            found = _depth(node.body, {*known, dim.var})
            inner = [None if found is None else found + 1]
        elif isinstance(node, (Stmt, Check)) and node.domain:
            return None
        for depth in inner:
            if depth is None:
                return None
            most = max(most, depth)
    return most
