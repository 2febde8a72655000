"""A plan made ready to run.  In: a plan; out: a `Prepared`, whose steps are functions of a call.

What a step needs of the plan (the functions of its expressions, where arguments come from) is looked up once: a launch
in a loop costs little more than the driver's own time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.device import host, library
from weft.device.dialect import launch_shape
from weft.device.plan import (
    Again,
    Allocate,
    Argument,
    Assign,
    Choose,
    Either,
    Exchange,
    Jump,
    Kernel,
    Launch,
    Plan,
    Refused,
    Repeat,
    Routine,
    Source,
    Step,
    Steps,
)
from weft.device.plan import (
    Mapping as Layout,
)
from weft.ir.expr import Const, Dim, Expr
from weft.ir.program import Role
from weft.ir.types import DType
from weft.ir.walk import expr_buffers

#: What a step does in a call, an `engine.Run`.
Action = Callable[[Any], None]
#: A value in a call.
Value = Callable[[Any], Any]

#: Simple operations that are worth a work-item of a processor, and work-items for each of its cores.
GRAIN, PIECES = 16384.0, 4
#: The types of numbers in kernels.
_NUMBER = {dtype: np.uint8 if dtype is DType.BOOL else dtype.numpy.type for dtype in DType}


class Left(Exception):
    """A Return, a break or a continue on its way out."""

    def __init__(self, kind: str, result: int = 0) -> None:
        super().__init__(kind)
        self.kind, self.result = kind, result


class Prepared:
    """The steps of a plan as functions, and what every call asks about its buffers."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.table = plan.program.table
        self.scalars = frozenset(buffer.name for buffer in plan.program.buffers if not buffer.rank)
        self.resident = frozenset(
            name for name in self.scalars if name not in plan.host and self.table[name].role is not Role.PARAM
        )
        sources = (argument.source for kernel in plan.kernels for argument in kernel.arguments)
        self.complains = any(source is Source.FLAG for source in sources)
        self.steps = self._steps(plan.steps)

    def value(self, expr: Expr) -> Value:
        """A value that may need a look at the device; a complaint there makes it meaningless."""
        if isinstance(expr, Const):
            constant = expr.value
            return lambda run: constant
        function = host.function(expr, self.scalars)
        wanted = tuple(sorted(expr_buffers(expr) & self.resident))
        if not wanted:
            return lambda run: function(run.values)

        def looked(run: Any) -> Any:
            if run.complained():
                raise Left("complaint")
            return function({**run.values, **{name: run.scalar(name).item() for name in wanted}})

        return looked

    # --- steps --------------------------------------------------------------------------------------------------------

    def _steps(self, steps: Steps) -> tuple[Action, ...]:
        return tuple(map(self._step, steps))

    def _step(self, step: Step) -> Action:
        if isinstance(step, Launch):
            return self._launch(step.kernel)
        if isinstance(step, Assign):
            return self._assign(step)
        if isinstance(step, Allocate):
            return self._allocate(step)
        if isinstance(step, Exchange):
            return lambda run: _exchange(run, step)
        if isinstance(step, Choose):
            return self._choose(step)
        if isinstance(step, Either):
            return self._either(step)
        if isinstance(step, Routine):
            return library.action(step, self)
        if isinstance(step, Repeat):
            return self._repeat(step)
        if isinstance(step, Again):
            return self._again(step)
        left = ("return", step.result) if not isinstance(step, Jump) else (step.kind, 0)

        def leave(run: Any) -> None:
            raise Left(*left)

        return leave

    def _assign(self, step: Assign) -> Action:
        value, name = self.value(step.value), step.buffer

        def assign(run: Any) -> None:
            found = value(run)
            if isinstance(found, int) and not -(2**63) <= found < 2**63:
                raise Left("complaint")
            run.values[name] = found

        return assign

    def _allocate(self, step: Allocate) -> Action:
        buffer = self.table[step.buffer]
        extents = tuple(map(self.value, buffer.shape))

        def allocate(run: Any) -> None:
            run.new(buffer, tuple(extent(run) for extent in extents))
            if step.zero:
                run.device.clear(run.memory[buffer.name])

        return allocate

    def _choose(self, step: Choose) -> Action:
        condition = self.value(step.condition)
        then, orelse = self._steps(step.then), self._steps(step.orelse)

        def choose(run: Any) -> None:
            for action in then if condition(run) else orelse:
                action(run)

        return choose

    def _either(self, step: Either) -> Action:
        one, several = self._launch(step.kernel), self._steps(step.steps)
        work, launches = step.kernel.work, step.launches
        if work is None or not self._is_known(work) or not self._is_known(launches):
            return lambda run: _all(run, several)
        operations, count = self.value(work), self.value(launches)

        def either(run: Any) -> None:
            try:
                merged = operations(run) <= step.worth * count(run)
            except KeyError:
                merged = False  # the work depends on a variable inside of the kernel
            if merged:
                one(run)
            else:
                _all(run, several)

        return either

    def _repeat(self, step: Repeat) -> Action:
        low, high = self.value(step.dim.lo), self.value(step.dim.hi)
        actions, name = self._steps(step.steps), step.dim.var

        def repeat(run: Any) -> None:
            for value in range(low(run), high(run), step.dim.step):
                run.values[name] = value
                if _ended(run, actions):
                    return

        return repeat

    def _again(self, step: Again) -> Action:
        prelude, condition, actions = self._steps(step.prelude), self.value(step.condition), self._steps(step.steps)

        def again(run: Any) -> None:
            while True:
                for action in prelude:
                    action(run)
                if not condition(run) or _ended(run, actions):
                    return

        return again

    # --- launches -----------------------------------------------------------------------------------------------------

    def _launch(self, kernel: Kernel) -> Action:
        trips = tuple(self._trips(dim) for dim in kernel.grid)
        arguments = tuple(self._argument(argument) for argument in kernel.arguments)
        sizes = tuple(self._size(argument.name) for argument in kernel.arguments if argument.source is Source.SCRATCH)
        chunk = self._chunk(kernel) if kernel.mapping is Layout.CHUNKS else None
        shapes: dict[tuple[int, ...], Any] = {}

        def launch(run: Any) -> None:
            counts = tuple(count(run) for count in trips)
            if 0 in counts:
                return
            if chunk is not None:
                counts = (chunk(run, math.prod(counts)),)
            shape = shapes.get(counts)
            if shape is None:
                shape = shapes[counts] = _checked(kernel, launch_shape(kernel, counts), run.device)
                if len(shapes) > 4096:
                    shapes.clear()
            run.pieces = math.prod(counts)
            for setting in sizes:
                setting(run)
            run.launch(kernel.name, *shape, [argument(run) for argument in arguments])

        return launch

    def _chunk(self, kernel: Kernel) -> Callable[[Any, int], int]:
        """How many work-items share all iterations: notes how many iterations each of them takes."""
        work = self.value(kernel.work) if kernel.work is not None and self._is_known(kernel.work) else None

        def pieces(run: Any, trips: int) -> int:
            most = PIECES * getattr(run.device, "units", 1)
            if work is not None:
                with contextlib.suppress(KeyError):  # it depends on a variable inside of the kernel
                    most = max(min(most, int(work(run) / GRAIN) + 1), 1)  # an estimate for short loops may be below 0
            run.chunk = -(-trips // min(most, trips))
            return -(-trips // run.chunk)  # type: ignore[no-any-return]

        return pieces

    def _is_known(self, expr: Expr) -> bool:
        return host.evaluable(expr, self.scalars - self.resident) and not expr_buffers(expr) & self.resident

    def _trips(self, dim: Dim) -> Callable[[Any], int]:
        low, high, step = self.value(dim.lo), self.value(dim.hi), dim.step
        if step == 1:
            return lambda run: max(high(run) - low(run), 0)
        return lambda run: len(range(low(run), high(run), step))

    def _size(self, name: str) -> Action:
        """Notes the shape of a temporary before arguments tell of its extents."""
        extents = tuple(map(self.value, self.table[name].shape))

        def size(run: Any) -> None:
            run.shapes[name] = tuple(extent(run) for extent in extents)

        return size

    def _argument(self, argument: Argument) -> Value:
        name, source = argument.name, argument.source
        if source is Source.FLAG:
            return lambda run: run.flag
        if source is Source.CHUNK:
            return lambda run: np.int64(run.chunk)
        if source is Source.EXTENT:
            return lambda run: np.int64(run.shapes[name][argument.axis])
        if source is Source.MEMORY:
            return lambda run: run.memory[name] if name in run.memory else run.cell(name)
        buffer = self.table.get(name)
        if source is Source.SCRATCH:
            assert buffer is not None
            dtype = buffer.type.dtype.numpy
            return lambda run: run.device.allocate(max(run.pieces * math.prod(run.shapes[name]), 1), dtype)
        kind = np.int64 if buffer is None else _NUMBER[buffer.type.dtype]
        return lambda run: kind(run.values.get(name, 0))  # a scalar of the kernel's own has no value yet


def _checked(kernel: Kernel, shape: tuple[tuple[int, ...], tuple[int, ...]], device: Any) -> Any:
    most = getattr(device, "most_groups", ())
    if any(count // size > limit for count, size, limit in zip(*shape, most)):
        raise Refused(f"{kernel.name} needs more groups along one dimension than the device has")
    return shape


def _exchange(run: Any, step: Exchange) -> None:
    run.memory.update({to: run.memory[of] for to, of in zip(step.targets, step.sources)})
    run.shapes.update({to: run.shapes[of] for to, of in zip(step.targets, step.sources)})


def _all(run: Any, actions: tuple[Action, ...]) -> None:
    for action in actions:
        action(run)


def _ended(run: Any, actions: tuple[Action, ...]) -> bool:
    """Run the body of a loop; whether a break ended it."""
    try:
        for action in actions:
            action(run)
    except Left as left:
        if left.kind not in ("break", "continue"):
            raise
        return left.kind == "break"
    return False


def number_types(kernel: Kernel) -> tuple[Any, ...]:
    """The types of the numbers among a kernel's arguments; None for memory."""
    pointers = (Source.MEMORY, Source.SCRATCH, Source.FLAG)
    return tuple(None if argument.source in pointers else _BY_NAME[argument.type] for argument in kernel.arguments)


def _by_name() -> Mapping[str, Any]:
    from weft.codegen.c_helpers import C_TYPE

    return {name: np.dtype(_NUMBER[dtype]) for dtype, name in C_TYPE.items()}


_BY_NAME = _by_name()
