"""Targets: what the pipeline needs to know of whatever runs a program.  In: a name; out: a `Target` object.

A target is one module with a class below `Target` and an object of it, and a line in `weft.registry`.  The passes of
`order.PASSES` are those of every target; what a target adds is its own way from an optimised program to a result:

    optimised Program --lowering--> lowered Program --generate--> code --toolchain--> something that is launched
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from weft import registry
from weft.analysis.cost import RATES, Rates
from weft.compiled import Compiled
from weft.errors import CompileError
from weft.ir import verify
from weft.ir.expr import Expr, Limit, real
from weft.ir.program import Program, Space
from weft.ir.walk import map_program_exprs, rewrite
from weft.options import Options
from weft.passes import Pass, PassContext
from weft.passes.order import LOWERING
from weft.passes.running import stages
from weft.records import dataclass


class Target:
    """The answers of one target.  What is not overridden is as on a processor that shares memory with Python."""

    name: str
    #: Where arrays are while the target works on them.
    space: Space = Space.HOST
    #: Iterations of a loop may run where they see no common memory, so that each keeps its own.
    apart: bool = False
    #: The passes that decide and lower the loops, after those of every target.
    lowering: tuple[Pass, ...] = LOWERING
    #: The numbers by which code chooses (`weft.limits`); None: it asks the machine when it runs.
    limits: Mapping[str, float] | None = None
    #: What operations cost, for `analysis.cost`.
    rates: Rates = RATES

    def missing(self) -> CompileError | None:
        """None if this machine has what the target needs: a compiler, a device, a library; else what to do."""
        return None

    def why_not(self, program: Program) -> str | None:
        """None if the target has a form of this lowered program, or the reason why not."""
        elsewhere = [buffer for buffer in program.buffers if buffer.space not in (Space.HOST, self.space)]
        return f"`{elsewhere[0].name}` is in {elsewhere[0].space.value} memory" if elsewhere else None

    def generate(self, program: Program, options: Options) -> Any:
        """The code of a lowered program."""
        raise NotImplementedError

    def function(self, function: Callable[..., Any], options: Options) -> Any:
        """What `weft.jit` makes of a function: an object that is called like it, and launches the code."""
        raise NotImplementedError


@dataclass(frozen=True)
class Coded:
    """Code that the dispatcher calls: the program that it is of, where words of a call lie, what it may raise, its
    address or a function.
    """

    program: Program
    layout: Any
    exceptions: Any
    function: Any
    keepalive: object = None


class Backend(Target):
    """A target of the CPU: the dispatcher launches its code, with the guards of a version before it."""

    def coded(self, compiled: Compiled, options: Options) -> Coded:
        """The code of a version, built and loaded; its text and flags are noted in the version."""
        raise NotImplementedError


def find(name: str) -> Any:
    """The target of this name."""
    for entry in registry.ENTRIES:
        if entry.name == name:
            module, _, place = entry.home.partition(":")
            return getattr(importlib.import_module(module), place)
    raise CompileError(f"there is no target {name!r}", f"these exist: {', '.join(e.name for e in registry.ENTRIES)}")


def backend_for(program: Program, asked: str) -> Backend:
    """The back end that is asked for; with "auto", or where it has no form of the program, the next that has one."""
    names = registry.names("backend")
    for name in names if asked == "auto" else (asked, *(name for name in names if name != asked)):
        target: Backend = find(name)
        problem = target.missing()
        if problem is not None and name == asked:
            raise problem
        if problem is None and target.why_not(program) is None:
            return target
    raise CompileError("no back end has a form of this program", "install a C compiler: pip install 'weft[zig]'")


def lowered(program: Program, target: Target, context: PassContext) -> Program:
    """An optimised program, or part of one, through the passes of a target, and checked."""
    found = stages(target.lowering, program, context)
    program = found[-1][1] if found else program
    limits = target.limits
    if limits is not None:
        program = map_program_exprs(program, lambda expr: rewrite(expr, lambda e: _fixed(e, limits)))
    verify.verify(program, verify.Stage.LOWERED)
    return program


def _fixed(expr: Expr, limits: Mapping[str, float]) -> Expr:
    return real(limits[expr.name]) if isinstance(expr, Limit) else expr
