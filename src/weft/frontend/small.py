"""Small sizes worth compiling in.  In: the sample arguments and the function's syntax tree; out: which extents and
which integer arguments become constants behind a guard, so that loops over them are unrolled and vectors run along
another dimension.

    p: float64[n, 3]  -->  the 3 is a constant        for i in range(n): for k in range(order)  -->  so is a small order
Only one version of a function is made so; arguments that do not fit it get one for any sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

#: Loops of at most so many iterations are unrolled.
LARGEST = 8
#: An extent is small beside others: below so many rows the whole array is small, and nothing is gained.
ROWS = 64


def small_axes(extents: Sequence[int] | None) -> frozenset[int]:
    """The axes of an array that are short while the array is not."""
    if extents is None:
        return frozenset()
    total = prod(extents)
    return frozenset(axis for axis, n in enumerate(extents) if 2 <= n <= LARGEST and total // n >= ROWS)


def inner_counts(tree: ast.FunctionDef) -> frozenset[str]:
    """Parameters that count the iterations of a loop inside another loop, and that nothing else is assigned to."""
    spec = tree.args
    names = {argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    assigned = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    found: set[str] = set()

    def visit(node: ast.AST, depth: int) -> None:
        if isinstance(node, ast.For) and depth > 0:
            found.update(_bounds(node.iter))
        inside = depth + isinstance(node, (ast.For, ast.While))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, 0)
    return frozenset(found & names - assigned)


def _bounds(iterated: ast.expr) -> set[str]:
    """Names in the arithmetic of the bounds of a range."""
    if not (isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "range"):
        return set()
    found: set[str] = set()

    def visit(part: ast.expr) -> None:
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.BinOp):
            visit(part.left)
            visit(part.right)
        elif isinstance(part, ast.UnaryOp):
            visit(part.operand)

    for part in iterated.args:
        visit(part)
    return found
