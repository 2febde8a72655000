"""Running a plan.  In: a plan, a device and the arguments of a call; out: what the caller gets, or None if a kernel
complained, in which case nothing of the caller's has changed.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as Table
from typing import Any, Protocol

import numpy as np

from weft.device import host
from weft.device.array import DeviceArray
from weft.device.dialect import launch_shape
from weft.device.plan import (
    Again,
    Allocate,
    Argument,
    Assign,
    Choose,
    Exchange,
    Jump,
    Kernel,
    Launch,
    Leave,
    Plan,
    Repeat,
    Source,
    Step,
    Steps,
)
from weft.ir import results
from weft.ir.expr import Dim, Expr
from weft.ir.program import ArrayOut, Buffer, Role, ScalarOut, ViewOut
from weft.ir.types import DType
from weft.ir.walk import expr_buffers
from weft.records import dataclass

Array = np.ndarray[Any, Any]


class Device(Protocol):
    """What an engine needs of a device's library."""

    def allocate(self, count: int, dtype: Any) -> Any: ...
    def clear(self, memory: Any) -> None: ...
    def copy(self, memory: Any) -> Any: ...
    def send(self, memory: Any, array: Array) -> None: ...
    def fetch(self, array: Array, memory: Any) -> None: ...
    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None: ...


@dataclass
class Counts:
    """What a call cost: launches, and bytes each way."""

    launches: int = 0
    sent: int = 0
    fetched: int = 0


class _Left(Exception):
    """A Return, a break or a continue on its way out."""

    def __init__(self, kind: str, result: int = 0) -> None:
        super().__init__(kind)
        self.kind, self.result = kind, result


class Run:
    """One call."""

    def __init__(self, plan: Plan, kernels: Table[str, Any], device: Device, numbers: Table[str, int]) -> None:
        self.plan, self.kernels, self.device = plan, kernels, device
        self.values: dict[str, Any] = dict(numbers)
        self.memory: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.flag = device.allocate(1, np.int32)
        device.clear(self.flag)
        self.counts = Counts()
        self.resident = {
            buffer.name
            for buffer in plan.program.buffers
            if not buffer.rank and buffer.name not in plan.host and buffer.role is not Role.PARAM
        }

    # --- data ---------------------------------------------------------------------------------------------------------

    def take(self, given: Table[str, Any], written: Collection[str] = ()) -> None:
        """Arguments to the device: arrays whole, numbers as they are.  What is there already is used as it is, but for
        arrays that are `written`: a complaint must leave them alone."""
        for name, value in given.items():
            buffer = self.plan.program.table.get(name)
            if buffer is None:
                continue
            if not buffer.rank:
                self.values[name] = value
                continue
            if isinstance(value, DeviceArray):
                self.shapes[name] = value.shape
                self.memory[name] = self.device.copy(value.memory) if name in written else value.memory
                continue
            array = np.ascontiguousarray(value)
            self._new(buffer, array.shape)
            if array.size:
                self.device.send(self.memory[name], array)
                self.counts.sent += array.nbytes

    def _new(self, buffer: Buffer, shape: tuple[int, ...]) -> None:
        self.shapes[buffer.name] = shape
        self.memory[buffer.name] = self.device.allocate(max(int(np.prod(shape)), 1), buffer.type.dtype.numpy)

    def fetched(self, name: str, out: Array | None = None) -> Array:
        """An array of the device, into `out` if that is given."""
        buffer = self.plan.program.table[name]
        array = np.empty(self.shapes[name], buffer.type.dtype.numpy)
        if array.size:
            self.device.fetch(array, self.memory[name])
            self.counts.fetched += array.nbytes
        if out is not None:
            out[...] = array
        return array

    def scalar(self, name: str) -> Any:
        """The value of a scalar, which may be on the device."""
        if name not in self.resident:
            return self.values[name]
        cell = np.empty(1, self.plan.program.table[name].type.dtype.numpy)
        self.device.fetch(cell, self._cell(name))
        self.counts.fetched += cell.nbytes
        return cell[0]

    def _cell(self, name: str) -> Any:
        if name not in self.memory:
            self._new(self.plan.program.table[name], ())
        return self.memory[name]

    def complained(self) -> bool:
        """Whether a kernel found what only Python, or the CPU, can answer."""
        flag = np.empty(1, np.int32)
        self.device.fetch(flag, self.flag)
        return bool(flag[0])

    # --- steps --------------------------------------------------------------------------------------------------------

    def run(self) -> int | None:
        """All steps; the number of the result, None if a kernel complained."""
        try:
            self._steps(self.plan.steps)
            result = 0
        except _Left as left:
            if left.kind == "complaint":
                return None
            result = left.result
        return None if self.complained() else result

    def _steps(self, steps: Steps) -> None:
        for step in steps:
            self._step(step)

    def _step(self, step: Step) -> None:
        if isinstance(step, Launch):
            self._launch(step.kernel)
        elif isinstance(step, Assign):
            value = self._value(step.value)
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise _Left("complaint")
            self.values[step.buffer] = value
        elif isinstance(step, Allocate):
            self._allocate(step)
        elif isinstance(step, Exchange):
            self.memory.update({to: self.memory[of] for to, of in zip(step.targets, step.sources)})
        elif isinstance(step, Choose):
            self._steps(step.then if self._decision(step.condition) else step.orelse)
        elif isinstance(step, Repeat):
            self._repeat(step)
        elif isinstance(step, Again):
            self._again(step)
        elif isinstance(step, Jump):
            raise _Left(step.kind)
        else:
            assert isinstance(step, Leave)
            raise _Left("return", step.result)

    def _repeat(self, step: Repeat) -> None:
        for value in range(self._value(step.dim.lo), self._value(step.dim.hi), step.dim.step):
            self.values[step.dim.var] = value
            if self._ended(step.steps):
                return

    def _again(self, step: Again) -> None:
        while True:
            self._steps(step.prelude)
            if not self._decision(step.condition) or self._ended(step.steps):
                return

    def _ended(self, steps: Steps) -> bool:
        """Run the body of a loop; whether a break ended it."""
        try:
            self._steps(steps)
        except _Left as left:
            if left.kind not in ("break", "continue"):
                raise
            return left.kind == "break"
        return False

    def _decision(self, condition: Expr) -> bool:
        """A condition that may need a look at the device; a complaint there makes it meaningless."""
        if expr_buffers(condition) & self.resident and self.complained():
            raise _Left("complaint")
        return bool(self._value(condition))

    def _value(self, expr: Expr) -> Any:
        wanted = expr_buffers(expr) & self.resident
        values = {**self.values, **{name: self.scalar(name).item() for name in wanted}} if wanted else self.values
        return host.function(expr, self._scalars)(values)

    @property
    def _scalars(self) -> frozenset[str]:
        return frozenset(buffer.name for buffer in self.plan.program.buffers if not buffer.rank)

    def _allocate(self, step: Allocate) -> None:
        buffer = self.plan.program.table[step.buffer]
        self._new(buffer, tuple(self._value(extent) for extent in buffer.shape))
        if step.zero:
            self.device.clear(self.memory[step.buffer])

    def _launch(self, kernel: Kernel) -> None:
        counts = tuple(self._trips(dim) for dim in kernel.grid)
        if 0 in counts:
            return
        total, group = launch_shape(kernel, counts)
        pieces = int(np.prod(counts)) if counts else 1
        arguments = [self._argument(argument, pieces) for argument in kernel.arguments]
        self.device.launch(self.kernels[kernel.name], total, group, arguments)
        self.counts.launches += 1

    def _trips(self, dim: Dim) -> int:
        return len(range(self._value(dim.lo), self._value(dim.hi), dim.step))

    def _argument(self, argument: Argument, pieces: int) -> Any:
        buffer = self.plan.program.table.get(argument.name)
        if argument.source is Source.FLAG:
            return self.flag
        if argument.source is Source.EXTENT:
            return np.int64(self.shapes[argument.name][argument.axis])
        if argument.source is Source.MEMORY:
            return self.memory[argument.name] if argument.name in self.memory else self._cell(argument.name)
        if argument.source is Source.SCRATCH:
            assert buffer is not None
            shape = tuple(self._value(extent) for extent in buffer.shape)
            self.shapes[argument.name] = shape
            return self.device.allocate(max(pieces * int(np.prod(shape)), 1), buffer.type.dtype.numpy)
        return _number(self.values[argument.name], DType.I64 if buffer is None else buffer.type.dtype)

    # --- results ------------------------------------------------------------------------------------------------------

    def written(self, name: str, value: Any) -> None:
        """What kernels made of an argument, into the caller's array."""
        if isinstance(value, DeviceArray):
            value.memory = self.memory[name]
        else:
            self.fetched(name, value)

    def result(self, number: int, given: Table[str, Any], stays: bool = False) -> Any:
        """What the caller gets; `stays`: new arrays stay on the device until Python looks at them."""
        fetched: dict[str, Any] = {}

        def new(name: str) -> Any:
            if not stays:
                return self.fetched(name)
            return DeviceArray(self.device, self.memory[name], self.shapes[name], self._dtype(name))

        def leaf(out: Any) -> Any:
            if isinstance(out, ScalarOut):
                value, of = self.scalar(out.buffer), self.plan.program.table[out.buffer].type
                scalar = np.asarray(value, of.dtype.numpy)[()]
                return scalar.item() if of.weak else scalar
            assert isinstance(out, (ArrayOut, ViewOut))  # programs of objects are refused
            if self.plan.program.table[out.buffer].role is Role.PARAM:
                whole = given[out.buffer]
            else:
                whole = fetched[out.buffer] = fetched[out.buffer] if out.buffer in fetched else new(out.buffer)
            return whole if isinstance(out, ArrayOut) else results.view(np.asarray(whole), out, self._place)

        return results.assembled(self.plan.program.results[number], leaf)

    def _dtype(self, name: str) -> np.dtype[Any]:
        return self.plan.program.table[name].type.dtype.numpy

    def _place(self, expr: Expr, at: Table[str, int]) -> int:
        return int(host.function(expr, self._scalars)({**self.values, **at}))


def _number(value: Any, dtype: DType) -> Any:
    return dtype.numpy.type(value)
