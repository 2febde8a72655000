"""Choices by size.  In: a lowered program; out: the places where a call decides by its sizes which of two equal ways
to go: threads or one thread, a library routine or loops, blocks or none.

They are numbered in the order of the program.  Generated code notes which way a call went under these numbers, and
`explain` finds them again, so that only this module knows the numbering.
"""

from __future__ import annotations

from weft.ir.expr import Cast, Const, Expr, Limit, Op
from weft.ir.ops import COMPARISONS
from weft.ir.program import Block, Call, If, Library, Loop, LoopKind, Program, While
from weft.ir.routines import ROUTINES
from weft.ir.types import FLOAT
from weft.ir.walk import reads, sub_blocks, subexpressions, walk
from weft.records import dataclass

#: Each takes two bits of the word in which a kernel notes them.
MOST = 32
#: Iterations with calls of the library from which on every thread makes calls of its own: few products are shared out
#: better by the library's threads, within each.
SEVERAL_PRODUCTS = 8


@dataclass(frozen=True)
class Choice:
    """An If between two ways, or a parallel loop that may stay on one thread; `inside`: the branches around it, as
    (number, whether it is in the first branch); `crowded`: a loop around it calls a library with threads of its own."""

    number: int
    node: If | Loop
    inside: tuple[tuple[int, bool], ...] = ()
    crowded: bool = False


def choices(program: Program) -> tuple[Choice, ...]:
    """The choices of the kernel's own thread; inside a parallel or vector loop nothing is noted."""
    found: list[Choice] = []

    def visit(block: Block, inside: tuple[tuple[int, bool], ...], crowded: bool) -> None:
        for node in block:
            if isinstance(node, Loop) and node.kind is not LoopKind.SEQUENTIAL:
                if node.kind is LoopKind.PARALLEL and node.work is not None and len(found) < MOST:
                    found.append(Choice(len(found), node, inside, crowded))
            elif isinstance(node, If) and is_by_size(node.condition) and len(found) < MOST:
                choice = Choice(len(found), node, inside, crowded)
                found.append(choice)
                visit(node.then, (*inside, (choice.number, True)), crowded)
                visit(node.orelse, (*inside, (choice.number, False)), crowded)
            else:
                looped = isinstance(node, (Loop, While))
                for inner in sub_blocks(node):
                    visit(inner, inside, crowded or (looped and calls_library(inner)))

    visit(program.body, (), False)
    return tuple(found)


def calls_library(block: Block) -> bool:
    """Whether a library that has threads of its own is called: they stay awake for a while, on the same cores."""
    return any(
        (isinstance(node, Call) and node.routine not in ("dot", "ger"))
        or (isinstance(node, Library) and "linalg" in ROUTINES[node.routine].module)
        for node in walk(block)
    )


def is_by_size(condition: Expr) -> bool:
    """Whether a condition holds an estimate against a limit: sizes as floats, which no index expression uses."""
    return any(
        isinstance(part, Op)
        and part.op in COMPARISONS
        and part.args[0].type == FLOAT
        and any(isinstance(piece, Limit) or _is_size(piece) for piece in subexpressions(part))
        and not any(True for _ in reads(part))
        for part in subexpressions(condition)
    )


#: Multiplications that take less time than threads to wake, or than loops in several versions to compile.
_LITTLE = 65536.0


def is_short_otherwise(node: If) -> bool:
    """Whether the second way is for little work alone: the first one, a call of the library, is for all the rest."""
    test = node.condition
    if not (isinstance(test, Op) and test.op == "gt" and is_by_size(test) and calls_library(node.then)):
        return False
    size, least = test.args
    if isinstance(least, Limit):
        return least.name in ("gemm", "gemv")
    return isinstance(least, Const) and least.value.real <= _LITTLE and not isinstance(size, Const)


def _is_size(expr: Expr) -> bool:
    return isinstance(expr, Cast) and expr.of == FLOAT and expr.value.type.dtype.is_integer
