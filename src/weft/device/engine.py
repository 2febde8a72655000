"""Running a plan.  In: a plan, a device and the arguments of a call; out: what the caller gets, or None if a kernel
complained, in which case nothing of the caller's has changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from collections.abc import Mapping as Table
from dataclasses import field, replace
from typing import Any, Protocol

import numpy as np

from weft.device import host
from weft.device.array import DeviceArray, Order, as_it_lies, brought
from weft.device.prepared import Left, Prepared
from weft.ir import results
from weft.ir.expr import Dim, Expr, Var, integer
from weft.ir.program import ArrayOut, Buffer, Layout, Role, ScalarOut, ViewOut
from weft.ir.walk import leaves
from weft.records import dataclass

Array = np.ndarray[Any, Any]


#: Launches of one call that are timed.
MOST_EVENTS = 256


class Device(Protocol):
    """What an engine needs of a device's library."""

    def allocate(self, count: int, dtype: Any) -> Any: ...
    def clear(self, memory: Any) -> None: ...
    def copy(self, memory: Any) -> Any: ...
    def send(self, memory: Any, array: Array) -> None: ...
    def begin(self, memory: Any, array: Array) -> None: ...
    def settle(self) -> None: ...
    def fetch(self, array: Array, memory: Any) -> None: ...
    def launch(self, kernel: Any, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> Any:
        """A function that tells the seconds of the launch once it has ended, or None."""


@dataclass
class Counts:
    """What a call cost: launches, and bytes each way."""

    launches: int = 0
    sent: int = 0
    fetched: int = 0
    #: Launches of each kernel with what the device's clock tells of them, where it was asked.
    events: list[tuple[str, Any]] = field(default_factory=list)
    #: The shape of the groups of each kernel's newest launch.
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def seconds(self) -> dict[str, float]:
        """The time in each kernel."""
        found: dict[str, float] = {}
        for name, event in self.events:
            found[name] = found.get(name, 0.0) + event()
        return found


class Run:
    """One call."""

    def __init__(self, prepared: Prepared, kernels: Table[str, Any], device: Device, numbers: Table[str, int]) -> None:
        self.prepared, self.kernels, self.device = prepared, kernels, device
        self.plan = prepared.plan
        self.values: dict[str, Any] = dict(numbers)
        self.memory: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        # Without a kernel that could complain nobody needs to wait for the last of them.
        self.flag = device.allocate(1, np.int32) if prepared.complains else None
        if self.flag is not None:
            device.clear(self.flag)
        self.counts = Counts()
        #: Work-items or groups of the newest launch, and the iterations that each of them takes.
        self.pieces = self.chunk = 1

    # --- data ---------------------------------------------------------------------------------------------------------

    def take(self, given: Table[str, Any], written: Collection[str] = ()) -> None:
        """Arguments to the device: arrays whole, numbers as they are.  What is there already is used as it is, but for
        arrays that are `written`: a complaint must leave them alone."""
        try:
            self._take(given, written)
        except BaseException:
            self.device.settle()  # what is on its way is read from the caller's arrays, and holds memory of the device
            raise

    def _take(self, given: Table[str, Any], written: Collection[str]) -> None:
        for name, value in given.items():
            buffer = self.plan.program.table.get(name)
            if buffer is None:
                continue
            if not buffer.rank:
                self.values[name] = value
                continue
            if isinstance(value, DeviceArray) and value.device is self.device:
                self.shapes[name] = value.shape
                self.memory[name] = self.device.copy(value.memory) if name in written else value.memory
                continue
            # What is on another device comes by way of the host.
            array = value.get() if isinstance(value, DeviceArray) else value
            self.new(buffer, array.shape)
            if array.size:
                self.device.begin(self.memory[name], as_it_lies(array, _order(buffer)))
                self.counts.sent += array.nbytes

    def new(self, buffer: Buffer, shape: tuple[int, ...]) -> None:
        self.shapes[buffer.name] = shape
        self.memory[buffer.name] = self.device.allocate(max(math.prod(shape), 1), buffer.type.dtype.numpy)

    def fetched(self, name: str) -> Array:
        """An array of the device."""
        buffer = self.plan.program.table[name]
        array = brought(self.device, self.memory[name], self.shapes[name], self._dtype(name), _order(buffer))
        self.counts.fetched += array.nbytes
        return array

    def scalar(self, name: str) -> Any:
        """The value of a scalar, which may be on the device."""
        if name not in self.prepared.resident:
            return self.values[name]
        cell = np.empty(1, self.plan.program.table[name].type.dtype.numpy)
        self.device.fetch(cell, self.cell(name))
        self.counts.fetched += cell.nbytes
        return cell[0]

    def cell(self, name: str) -> Any:
        if name not in self.memory:
            self.new(self.plan.program.table[name], ())
        return self.memory[name]

    def complained(self) -> bool:
        """Whether a kernel found what only Python, or the CPU, can answer."""
        if self.flag is None:
            return False
        flag = np.empty(1, np.int32)
        self.device.fetch(flag, self.flag)
        return bool(flag[0])

    # --- steps --------------------------------------------------------------------------------------------------------

    def run(self) -> int | None:
        """All steps; the number of the result, None if a kernel complained."""
        try:
            for action in self.prepared.steps:
                action(self)
            result = 0
        except Left as left:
            if left.kind == "complaint":
                return None
            result = left.result
        finally:
            self.device.settle()
        return None if self.complained() else result

    def launch(self, name: str, total: tuple[int, ...], group: tuple[int, ...], arguments: list[Any]) -> None:
        event = self.device.launch(self.kernels[name], total, group, arguments)
        counts = self.counts
        if event is not None and len(counts.events) < MOST_EVENTS:
            counts.events.append((name, event))
        counts.groups[name] = group
        counts.launches += 1

    # --- results ------------------------------------------------------------------------------------------------------

    def written(self, values: Table[str, Any]) -> None:
        """What kernels made of arguments, into the caller's arrays: all of them have come here before one changes."""
        own = {name for name, value in values.items() if isinstance(value, DeviceArray) and value.device is self.device}
        fetched = {name: self.fetched(name) for name in values if name not in own}
        for name, value in values.items():
            if name in own:
                value.become(self.memory[name])
            elif isinstance(value, DeviceArray):
                value.take(fetched[name])
            else:
                value[...] = fetched[name]

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
            if isinstance(out, ViewOut) and isinstance(whole, DeviceArray) and self._is_reversed(out, number):
                return replace(whole, shape=whole.shape[::-1], order="C" if whole.order == "F" else "F")
            if isinstance(out, ViewOut):
                return results.view(np.asarray(whole), out, self._place)
            weak = self.plan.program.table[out.buffer].type.weak
            return results.listed(np.asarray(whole), weak) if out.as_list else whole

        return results.assembled(self.plan.program.results[number], leaf)

    def _is_reversed(self, out: ViewOut, number: int) -> bool:
        """Whether a view is a new array with its axes in reverse, and nobody gets the array itself."""
        program = self.plan.program
        named = [getattr(leaf, "buffer", "") for leaf in leaves(program.results[number])]
        buffer = program.table[out.buffer]
        dims = tuple(Dim(dim.var, integer(0), size) for dim, size in zip(out.dims, buffer.shape[::-1]))
        whole = out.dims == dims and out.index == tuple(Var(dim.var) for dim in reversed(dims))
        return whole and named.count(out.buffer) == 1 and buffer.role is not Role.PARAM

    def _dtype(self, name: str) -> np.dtype[Any]:
        return self.plan.program.table[name].type.dtype.numpy

    def _place(self, expr: Expr, at: Table[str, int]) -> int:
        return int(host.function(expr, self.prepared.scalars)({**self.values, **at}))


def _order(buffer: Buffer) -> Order:
    return "F" if buffer.layout is Layout.F else "C"
