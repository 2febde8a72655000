"""Expansions that somebody has chosen.  In: statements of a line for which `weft.expand` was asked; out: the nodes that
the expansion of that name makes of them.

    c[i, j] = sum[k] a[i, k] * b[k, j]   -->   c[i, j] = 0; for kb: c[i, j] = c[i, j] + sum[k in block kb] ...

An expansion is a function from a statement to nodes of the same meaning; None says that it does not apply.  The names
of dimensions are made unique afterwards, and the program is verified.  Two names are not here: "loops" (no library) and
"openblas" (the library, whatever the size) are what `match` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from weft.directives import Expand
from weft.errors import TransformError
from weft.ir import index as ix
from weft.ir import verify
from weft.ir.expr import Const, Dim, Op, Read, Reduce, Var, integer
from weft.ir.program import Block, Loop, Node, Program, Stmt
from weft.ir.types import INT
from weft.ir.walk import map_sub_blocks
from weft.passes import Knows, PassContext, declared
from weft.passes.rename import renamed
from weft.passes.scheduling.lower import Workspace

PASS = "expand"
#: Names that `match` knows.
OF_MATCH = ("openblas", "loops")
#: Terms of a sum in one block of the expansion "blocked".
BLOCK = 64

Expansion = Callable[[Stmt, Workspace], "Block | None"]
#: The expansions by name; users add theirs by `weft.expansion`.
EXPANSIONS: dict[str, Expansion] = {}


@declared("expand", after=("simplify", "hoist"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every statement that an expansion was chosen for, expanded; TransformError if one applies nowhere."""
    for directive in context.directives.items:
        if isinstance(directive, Expand) and directive.expansion not in OF_MATCH:
            program = _expanded(program, directive, context)
    return program


def _expanded(program: Program, directive: Expand, context: PassContext) -> Program:
    expansion = EXPANSIONS.get(directive.expansion)
    if expansion is None:
        raise TransformError(
            program.span, f"{directive}: there is no such expansion", f"there are: {', '.join(names())}"
        )
    workspace, done = Workspace.of(program), []

    def visit(block: Block) -> Block:
        made: list[object] = []
        for node in block:
            new = None
            if isinstance(node, Stmt) and directive.line.has_line(node.span.line):
                new = _nodes(directive.expansion, expansion, node, workspace)
            if new is not None:
                done.append(node)
                context.done(PASS, f"expanded as {directive.expansion!r}", node.span)
            made += [map_sub_blocks(node, visit)] if new is None else renamed(new, workspace.taken)
        return tuple(made)  # type: ignore[arg-type]

    body = visit(program.body)
    if not done and not context.directives.lenient:
        reason = f"{directive}: the expansion applies to no statement of {directive.line}"
        raise TransformError(program.span, reason, "choose another expansion, or another line")
    if not done:
        return program
    expanded = replace(program, body=body, buffers=(*program.buffers, *workspace.added))
    problem = verify.problem(expanded, verify.Stage.OPTIMISED)
    if problem is not None:
        reason = f"what the expansion {directive.expansion!r} makes is no legal program: {problem}"
        raise TransformError(done[0].span, reason)
    return expanded


def _nodes(name: str, expansion: Expansion, statement: Stmt, workspace: Workspace) -> Block | None:
    """What an expansion, which may be a user's, makes of a statement."""
    try:
        new = expansion(statement, workspace)
    except Exception as trouble:
        reason = f"the expansion {name!r} fails: {type(trouble).__name__}: {trouble}"
        raise TransformError(statement.span, reason) from trouble
    if new is None:
        return None
    if not isinstance(new, (tuple, list)) or not all(isinstance(node, get_args(Node)) for node in new):
        reason = f"the expansion {name!r} gives a {type(new).__name__}, and no nodes"
        raise TransformError(statement.span, reason, "return a tuple of nodes, or None where it does not apply")
    return tuple(new)


def names() -> tuple[str, ...]:
    """The names of all expansions."""
    return (*OF_MATCH, *sorted(EXPANSIONS))


def blocked(stmt: Stmt, workspace: Workspace) -> Block | None:
    """A sum of many terms in blocks of terms, each added for all elements before the next."""
    value = stmt.value
    if not isinstance(value, Reduce) or value.op != "add" or not value.type.dtype.is_inexact or stmt.reduce is not None:
        return None
    last = value.dims[-1]
    if not stmt.domain or not isinstance(last, Dim) or last.step != 1:
        return None
    block = workspace.new_var(f"{last.var}_block")
    start = ix.add(last.lo, Op("mul", (Var(block), integer(BLOCK)), INT))
    end = Op("minimum", (ix.add(start, integer(BLOCK)), last.hi), INT)
    part = replace(value, dims=(*value.dims[:-1], replace(last, lo=start, hi=end)))
    zero = Const(complex(0.0) if value.type.dtype.is_complex else 0.0, value.type)
    before = Read(stmt.buffer, stmt.index, value.type)
    count = Op("floordiv", (ix.add(ix.sub(last.hi, last.lo), integer(BLOCK - 1)), integer(BLOCK)), INT)
    added = replace(stmt, value=Op("add", (before, part), value.type))
    loop = Loop(Dim(block, integer(0), count), (added,), span=stmt.span)
    return (replace(stmt, value=zero), loop)


EXPANSIONS["blocked"] = blocked
