"""How any engine follows a plan.  In: the steps of a plan; out: calls of what an engine does for each of them, in the
order of the program.

Loops, branches, swaps of names and what leaves a loop early are the same everywhere and live here.
"""

from __future__ import annotations

from typing import Any

from weft.analysis.cost import evaluate
from weft.cluster.plan import Again, Choice, Fresh, Leave, Plan, Repeat, Stage, Step, Swap, Whole
from weft.ir import interp
from weft.ir.expr import Expr
from weft.ir.walk import expr_buffers


class Following:
    """One call of a planned function; engines say what a stage, a statement at one place and a new array are."""

    plan: Plan
    numbers: dict[str, int]
    scalars: dict[str, Any]
    arrays: dict[str, Any]

    def stage(self, stage: Stage) -> None:
        raise NotImplementedError

    def planned(self, step: Stage) -> None:
        """A stage as the plan has it, which an engine may run in several."""
        self.stage(step)

    def whole(self, step: Whole) -> None:
        raise NotImplementedError

    def made(self, step: Fresh, shape: tuple[int, ...]) -> Any:
        """A new array."""
        raise NotImplementedError

    def scalar(self, name: str) -> Any:
        """The value of a scalar of the program, waited for if need be."""
        return self.scalars[name]

    def number(self, expr: Expr) -> int:
        return int(evaluate(expr, self.numbers, 0.0) or 0)

    def steps(self, steps: tuple[Step, ...]) -> Leave | None:
        """Follow steps; what left them early, if anything did."""
        for step in steps:
            left: Leave | None = None
            if isinstance(step, Stage):
                self.planned(step)
            elif isinstance(step, Whole):
                self.whole(step)
            elif isinstance(step, Fresh):
                shape = tuple(self.number(extent) for extent in self.plan.program.table[step.buffer].shape)
                self.arrays[step.buffer] = self.made(step, shape)
            elif isinstance(step, Swap):
                moved = [self.arrays[name] for name in step.sources]
                self.arrays.update(zip(step.targets, moved))
            elif isinstance(step, Repeat):
                left = self.repeat(step)
            elif isinstance(step, Choice):
                left = self.steps(step.then if self.holds(step.condition) else step.orelse)
            elif isinstance(step, Again):
                left = self.again(step)
            else:
                left = step
            if left is not None:
                return left
        return None

    def repeat(self, step: Repeat) -> Leave | None:
        left: Leave | None = None
        for value in range(self.number(step.dim.lo), self.number(step.dim.hi), step.dim.step):
            self.numbers[step.dim.var] = value
            left = self.steps(step.steps)
            if left is not None and left.kind != "continue":
                break
        self.numbers.pop(step.dim.var, None)
        return left if left is not None and left.kind == "return" else None

    def again(self, step: Again) -> Leave | None:
        left = self.steps(step.prelude)
        while left is None and self.holds(step.condition):
            left = self.steps(step.body)
            if left is None or left.kind == "continue":
                left = self.steps(step.prelude)
        return left if left is not None and left.kind == "return" else None

    def holds(self, condition: Expr) -> bool:
        """A condition of the program, once the numbers it looks at are known."""
        values = {name: self.scalar(name) for name in expr_buffers(condition)}
        return bool(interp.value_of(condition, self.plan.program, self.numbers, values))
