"""A check that always fails: what a test asks for to see that a call may be repeated in Python at any place that weft
takes for one.

    check i < n : IndexError  -->  check n == NEVER : GuardFailed      (the check of the number asked for)

In a program that writes arrays of the caller no check may deoptimise: there one of the guards fails. `NEVER` is no size
of an array, and no pass knows that.
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import exception_type
from weft.ir.expr import Const, Expr, Op, Var
from weft.ir.program import HAND_BACK, OF_PLACE, Block, Check, Node, Program, Role, SizeOf, is_list
from weft.ir.types import BOOL, INT
from weft.ir.walk import buffers_written, map_block, map_sub_blocks, walk
from weft.passes.raising.speculate import is_speculable

_NEVER = 2**39 + 12345


def deoptimised(program: Program, number: int) -> Program:
    """The program with one of its checks (of its guards, where it has no other) never true."""
    checks = [node for node in walk(program.body) if isinstance(node, Check) and _may_deoptimise(node)]
    if not checks or _writes_arguments(program):
        if not program.guards:
            return program
        place = number % len(program.guards)
        failing = replace(program.guards[place], domain=(), condition=_never(program))
        return replace(program, guards=(*program.guards[:place], failing, *program.guards[place + 1 :]))
    chosen = checks[number % len(checks)]
    # What follows a raise is never reached, and the verifier knows it.
    always = isinstance(chosen.condition, Const)
    # Accesses behind a check of a place stay behind it.
    message = "" if is_speculable(chosen) else OF_PLACE
    failing = Check((), chosen.condition if always else _never(program), HAND_BACK, message, span=chosen.span)

    def visit(node: Node) -> Node:
        return failing if node is chosen else map_sub_blocks(node, inside)

    def inside(block: Block) -> Block:
        return map_block(block, visit)

    return replace(program, body=inside(program.body))


def _may_deoptimise(check: Check) -> bool:
    """Not the jumps out of a loop or to a handler, which are checks as well."""
    return check.exception == HAND_BACK or exception_type(check.exception) is not None


def _writes_arguments(program: Program) -> bool:
    written = {name for node in program.body for name in buffers_written(node)}
    return any(b.role is Role.PARAM and b.rank and not is_list(b) and b.name in written for b in program.buffers)


def _never(program: Program) -> Expr:
    """A condition that never holds, and that no pass sees through if there is a size to ask for."""
    sizes = [symbol.name for symbol in program.symbols if isinstance(symbol.source, SizeOf)]
    return Op("eq", (Var(sizes[0]), Const(_NEVER, INT)), BOOL) if sizes else Const(False, BOOL)
