"""Arrays of which each iteration of a loop uses one element of its own.  In: a loop with independent iterations and
such an array; out: the loop with variables instead, or why it cannot be.

    parallel i: { t[i] = 0;  for j: { b[i, j] = t[i];  t[i] = f(a[i, j]) } }
      -->  parallel i: { t = 0;  for j: { b[i, j] = t;  t = f(a[i, j]) } }

A loop over time whose statements are vectors carries arrays from step to step where a loop inside a loop over rows
carries numbers: once the rows are outside, both are the same.  Each time that an iteration sets the element anew
outside of its inner loops, the variable is a new one.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.analysis.coverage import own_axis
from weft.ir.program import Loop, Node, Stmt
from weft.ir.walk import buffers_read, buffers_written
from weft.passes.scheduling.kinds import element_instead


def why_not_variable(loop: Loop, name: str) -> str | None:
    """Why the elements of an array of rank one cannot be variables of the iterations of a loop."""
    first = next((node for node in loop.body if name in buffers_read(node) | buffers_written(node)), None)
    if first is None:
        return "it is not used"
    if not _sets(first, name):
        return "an iteration may read what it has not written"
    return None if own_axis(loop.body, name, loop.dim.var) == 0 else "iterations use more than an element of their own"


def _sets(node: Node, name: str) -> bool:
    plain = isinstance(node, Stmt) and node.buffer == name and node.reduce is None and not node.domain
    return plain and name not in buffers_read(node)


def in_variables(loop: Loop, name: str, new: Callable[[], str]) -> list[Node]:
    """The body of the loop with variables, each made by `new`, instead of elements."""
    body: list[Node] = []
    variable = ""
    for node in loop.body:
        if _sets(node, name):
            variable = new()
        body.append(element_instead(node, name, variable) if variable else node)
    return body
