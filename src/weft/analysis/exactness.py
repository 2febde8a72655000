"""Whether compiled code gives what Python gives, to the last bit.  In: the programs of a version; out: yes or no.

Sums and products of floats may be reassociated, elementary functions come from another library than Python's or
NumPy's, library calls have an order of their own.  Everything else is the same operation on the same numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from weft.ir.expr import Expr, Op, Reduce
from weft.ir.program import Library, Loop, Program
from weft.ir.walk import node_exprs, subexpressions, walk

_ROUNDED = ("add", "mul")
#: Operations, with the kinds of their operands.
Functions = Collection[tuple[str, str]]


def same_bits(programs: Iterable[Program], functions: Functions) -> bool:
    """Whether no number depends on the order of operations, or on who computes one of these `functions`."""
    return all(_is_exact(part, functions) for program in programs for part in (program, *program.functions))


def _is_exact(program: Program, functions: Functions) -> bool:
    types = {buffer.name: buffer.type for buffer in program.buffers}
    for node in walk(program.body):
        if isinstance(node, Library):
            return False
        if isinstance(node, Loop):
            summed = [types[each.buffer] for each in node.accumulators if each.op in _ROUNDED]
            if any(of.dtype.is_inexact for of in summed):
                return False
        if any(_rounds(part, functions) for expr in node_exprs(node) for part in subexpressions(expr)):
            return False
    return True


def _rounds(expr: Expr, functions: Functions) -> bool:
    if isinstance(expr, Reduce):
        return expr.op in _ROUNDED and expr.type.dtype.is_inexact
    return isinstance(expr, Op) and any((expr.op, arg.type.dtype.kind) in functions for arg in expr.args)
