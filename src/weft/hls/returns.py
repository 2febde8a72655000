"""One way out.  In: an optimised program; out: the same program with one return at its end, where that can be.

    if a_0 > 0: x = s; return #0 (x)    -->    if a_0 > 0: x = s
    else: y = float(s); return #1 (y)          else: y = float(s); x = y
                                               return #0
A number may leave as Python's or as NumPy's, which the source tells apart by two returns; in memory they are one.
"""

from __future__ import annotations

from dataclasses import replace

from weft.ir.expr import Cast, Read
from weft.ir.program import Block, If, Out, Program, Return, ScalarOut, Stmt
from weft.ir.walk import leaves, walk


def single(program: Program) -> Program:
    """The program with one return, or itself if its returns differ in more than the kind of a number."""
    returns = [node for node in walk(program.body) if isinstance(node, Return)]
    if len(returns) < 2 or not all(_alike(program, returns[0].result, node.result) for node in returns[1:]):
        return program
    kept = returns[0]
    body = _open(program.body, kept, program)
    if body is None:
        return program
    return replace(program, body=(*body, replace(kept, result=0)), results=(program.results[kept.result],))


def _alike(program: Program, one: int, other: int) -> bool:
    """Whether two results differ in nothing but where their numbers are kept, and no place is in both."""
    first, second = ([*leaves(program.results[at])] for at in (one, other))
    moved = [(mine, its) for mine, its in zip(first, second) if mine != its]
    places = [mine for mine, _ in moved]
    return (
        len(first) == len(second)
        and all(_same_number(program, mine, its) for mine, its in moved)
        and all(places.count(mine) == first.count(mine) == 1 and mine not in second for mine in places)
    )


def _same_number(program: Program, one: Out, other: Out) -> bool:
    if not (isinstance(one, ScalarOut) and isinstance(other, ScalarOut)):
        return False
    return program.table[one.buffer].type.dtype is program.table[other.buffer].type.dtype


def _open(block: Block, kept: Return, program: Program) -> Block | None:
    """A block that ends by returns without them, its numbers in those of `kept`; None if it returns elsewhere, too."""
    if not block:
        return None
    *before, last = block
    if any(isinstance(node, Return) for node in walk(tuple(before))):
        return None
    if isinstance(last, Return):
        return (*before, *_moved(last, kept, program))
    if isinstance(last, If):
        then, orelse = (_open(branch, kept, program) for branch in (last.then, last.orelse))
        if then is not None and orelse is not None:
            return (*before, replace(last, then=then, orelse=orelse))
    return None


def _moved(node: Return, kept: Return, program: Program) -> Block:
    """The numbers of one result as those of the other."""
    pairs = zip(leaves(program.results[kept.result]), leaves(program.results[node.result]))
    moved: list[Stmt] = []
    for mine, its in pairs:
        if mine != its:
            assert isinstance(mine, ScalarOut) and isinstance(its, ScalarOut)
            target, source = (program.table[out.buffer] for out in (mine, its))
            value = Cast(Read(source.name, (), source.type), target.type)
            moved.append(Stmt((), target.name, (), value, span=node.span))
    return tuple(moved)
