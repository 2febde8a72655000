"""Unread: what is overwritten before anybody reads it is not written.  In: the statements of a body; out: fewer.

    y[i] = 0 for i < n;  y[0] = a;  for k in 1 .. n: y[k] = f(y[k - 1])   -->   y[0] = a;  for k in 1 .. n: ...

Lists must be made of something before they are filled; arrays often are. `analysis.unread` says when the first values
are never seen.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.unread import blocks_removal
from weft.ir.program import Program, Stmt
from weft.ir.walk import buffers_written
from weft.passes import Knows, PassContext, declared
from weft.passes.simplifying import deadcode

_NAME = "unread"


@declared("unread", after=("forward",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """The program without first values of arrays that are never read."""
    changed = False
    position = 0
    while position < len(program.body):
        stmt = program.body[position]
        again = isinstance(stmt, Stmt) and any(stmt.buffer in buffers_written(n) for n in program.body[position + 1 :])
        if isinstance(stmt, Stmt) and stmt.domain and again and blocks_removal(program, position) is None:
            context.done(_NAME, f"the first values of `{stmt.buffer}` are never read: not written", stmt.span)
            program = replace(program, body=program.body[:position] + program.body[position + 1 :])
            changed = True
            continue
        position += 1
    return deadcode.remove(program) if changed else program
