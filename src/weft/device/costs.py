"""What a call costs on a device.  In: a plan, sizes, the rates of a device; out: seconds of its kernels and transfers.

A kernel takes its launch and the longer of moving its arrays once and doing its arithmetic (a roofline).  Rates of a
device are measured once and kept beside the cache; those of published devices only serve predictions.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from weft.analysis.cost import evaluate
from weft.analysis.scopes import written_params
from weft.device import host
from weft.device.plan import (
    Again,
    Allocate,
    Assign,
    Choose,
    Either,
    Kernel,
    Launch,
    Plan,
    Repeat,
    Routine,
    Source,
    Steps,
)
from weft.ir.expr import Dim, Expr
from weft.ir.program import Role
from weft.records import dataclass
from weft.runtime import trusted
from weft.runtime.cache import default_cache, digest

#: Trips of loops, and sizes of arrays, that nobody knows before the call.
GUESSED = 8.0
_FORMAT = "device rates 2"


@dataclass(frozen=True)
class Rates:
    """Seconds of a launch; bytes a second over the link (each way) and in memory; simple operations a second."""

    launch: float
    send: float
    fetch: float
    memory: float
    arithmetic: float

    def kernel(self, moved: float, work: float) -> float:
        return self.launch + max(moved / self.memory, work / self.arithmetic)


#: A core of this machine's kind with weft's own code: what "auto" compares a device with before the clock does.
HOST = Rates(launch=1e-6, send=math.inf, fetch=math.inf, memory=1.5e10, arithmetic=1e10)
#: From the data sheets of two accelerators, for predictions alone: nothing of weft was ever run on them.
PUBLISHED = {
    "NVIDIA A100 (80 GB, PCIe 4)": Rates(launch=5e-6, send=2.5e10, fetch=2.5e10, memory=1.935e12, arithmetic=9.7e12),
    "NVIDIA H100 (SXM, PCIe 5)": Rates(launch=5e-6, send=5e10, fetch=5e10, memory=3.35e12, arithmetic=3.4e13),
}


@dataclass(frozen=True)
class Cost:
    """Seconds that a call is predicted to take: in kernels, and on the link."""

    kernels: float = 0.0
    link: float = 0.0

    @property
    def total(self) -> float:
        return self.kernels + self.link


def predicted(plan: Plan, numbers: Mapping[str, Any], rates: Rates, resident: bool = False) -> Cost:
    """The cost of a call; `resident`: its arrays are on the device already and stay there."""
    sizes = sizes_of(plan, numbers)
    link = 0.0
    if not resident:
        arrays = [buffer for buffer in plan.program.buffers if buffer.rank]
        written = written_params(plan.program)
        link += sum(sizes[b.name] for b in arrays if b.role is Role.PARAM) / rates.send
        link += sum(sizes[b.name] for b in arrays if b.role is Role.RESULT or b.name in written) / rates.fetch
    return Cost(_steps(plan.steps, dict(numbers), sizes, plan, rates), link)


def sizes_of(plan: Plan, numbers: Mapping[str, Any]) -> dict[str, float]:
    """The bytes of each buffer."""
    buffers = plan.program.buffers
    return {buffer.name: _bytes(buffer.shape, buffer.type.dtype.size, numbers) for buffer in buffers}


def kernel_cost(kernel: Kernel, values: Mapping[str, Any], sizes: Mapping[str, float], rates: Rates) -> float:
    """Seconds of one launch."""
    work = evaluate(kernel.work, _numbers(values), GUESSED) if kernel.work is not None else 0.0
    used = {argument.name for argument in kernel.arguments if argument.source is Source.MEMORY}
    moved = sum(sizes.get(name, 0.0) for name in used)
    return rates.kernel(min(moved, 16.0 * (work or 0.0)) if kernel.work is not None else moved, work or 0.0)


def _steps(steps: Steps, values: dict[str, Any], sizes: Mapping[str, float], plan: Plan, rates: Rates) -> float:
    total = 0.0
    for step in steps:
        if isinstance(step, Launch):
            total += kernel_cost(step.kernel, values, sizes, rates)
        elif isinstance(step, Routine):
            work = None if step.work is None else evaluate(step.work, _numbers(values), GUESSED)
            total += rates.launch + (work or 0.0) / rates.arithmetic
        elif isinstance(step, Either):
            work = evaluate(step.kernel.work, _numbers(values), GUESSED) if step.kernel.work is not None else None
            count = evaluate(step.launches, _numbers(values), GUESSED)
            if work is not None and count is not None and work <= step.worth * count:
                total += rates.launch * (1.0 + work / step.worth)
            else:
                total += _steps(step.steps, values, sizes, plan, rates)
        elif isinstance(step, Assign):
            known = _value(step.value, values, plan)
            if known is not None:
                values[step.buffer] = known
        elif isinstance(step, Repeat):
            trips = _trips(step.dim, values, plan)
            values[step.dim.var] = _value(step.dim.lo, values, plan) or 0
            total += trips * _steps(step.steps, values, sizes, plan, rates)
        elif isinstance(step, Again):
            total += GUESSED * _steps((*step.prelude, *step.steps), values, sizes, plan, rates)
        elif isinstance(step, Choose):
            taken = _value(step.condition, values, plan)
            total += _steps(step.then if taken or taken is None else step.orelse, values, sizes, plan, rates)
        elif isinstance(step, Allocate) and step.zero:
            total += rates.kernel(sizes.get(step.buffer, 0.0), 0.0)
    return total


def _value(expr: Expr, values: Mapping[str, Any], plan: Plan) -> Any:
    known = {buffer.name for buffer in plan.program.buffers if not buffer.rank and buffer.name in values}
    if not host.evaluable(expr, known):
        return None
    try:
        return host.function(expr, known)(values)
    except (KeyError, TypeError, OverflowError):
        return None


def _trips(dim: Dim, values: Mapping[str, Any], plan: Plan) -> float:
    bounds = [_value(bound, values, plan) for bound in (dim.lo, dim.hi)]
    return GUESSED if None in bounds else float(len(range(int(bounds[0]), int(bounds[1]), dim.step)))


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items() if isinstance(value, (int, float))}


def _bytes(shape: tuple[Expr, ...], size: int, numbers: Mapping[str, Any]) -> float:
    total = float(size)
    for extent in shape:
        total *= max(evaluate(extent, _numbers(numbers), GUESSED) or 0.0, 0.0)
    return total


# --- measuring --------------------------------------------------------------------------------------------------------


def _text(dialect: Any) -> str:
    kernel, memory = dialect.kernel, dialect.memory
    at = "const i64 i = k_item(0); if (i >= n) return;"
    # Eight chains side by side, so that the rate is that of the arithmetic and not of its latency.
    start = " ".join(f"f32 s{n} = a[i] * 0.{n + 1}f;" for n in range(8))
    turn = " ".join(f"s{n} = s{n} * 0.5f + 0.25f;" for n in range(8))
    chain = f"{start} for (i64 k = 0; k < 32; k++) {{ {turn} }} a[i] = {' + '.join(f's{n}' for n in range(8))};"
    return str(dialect.prelude) + (
        f"\n{kernel} k_nothing({memory}f32 *a, i64 n) {{ {at} }}"
        f"\n{kernel} k_copy({memory}f32 *a, i64 n) {{ {at} a[i] = a[i] + 1.0f; }}"
        f"\n{kernel} k_chain({memory}f32 *a, i64 n) {{ {at} {chain} }}\n"
    )


def measure(device: Any, dialect: Any, count: int = 1 << 20) -> Rates:
    """The rates of a device, in well under a second."""
    kernels = device.build(
        _text(dialect), dict.fromkeys(("k_nothing", "k_copy", "k_chain"), (None, np.dtype(np.int64)))
    )
    array = np.ones(count, np.float32)
    memory = device.allocate(count, np.float32)
    out = np.empty_like(array)
    cell = np.empty(1, np.float32)

    def best(action: Any, rounds: int = 5) -> float:
        times = []
        for _ in range(rounds):
            start = perf_counter()
            action()
            times.append(perf_counter() - start)
        return min(times)

    def launched(name: str, times: int) -> Any:
        def action() -> None:
            for _ in range(times):
                device.launch(kernels[name], (count,), (256,), [memory, np.int64(count)])
            device.fetch(cell, memory)  # waits for all of them

        return action

    device.send(memory, array)
    wait = best(lambda: device.fetch(cell, memory))

    def little() -> None:
        for _ in range(50):
            device.launch(kernels["k_nothing"], (256,), (256,), [memory, np.int64(1)])
        device.fetch(cell, memory)

    launch = max(best(little) - wait, 1e-9) / 50
    send, fetch = best(lambda: device.send(memory, array)), best(lambda: device.fetch(out, memory))
    copy = max(best(launched("k_copy", 4)) - wait, 1e-9) / 4
    chain = max(best(launched("k_chain", 1)) - wait, 1e-9)
    moved = float(array.nbytes)
    return Rates(launch, moved / send, moved / fetch, 2 * moved / copy, 512.0 * count / chain)


def _place(name: str) -> Any:
    return default_cache().store / "auxiliary" / "machine" / f"{digest(_FORMAT, name)}.json"


def stored(name: str) -> Rates | None:
    """The rates of a device that were kept; a file that cannot be read is none."""
    try:
        data = json.loads(trusted.read(_place(name)))
        found = Rates(**{str(key): float(value) for key, value in data["rates"].items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return found if all(math.isfinite(value) and value > 0 for value in vars(found).values()) else None


def rates_of(device: Any, dialect: Any) -> Rates:
    """The rates of a device, measured when they are first asked for."""
    known = stored(device.name)
    if known is not None:
        return known
    found = measure(device, dialect)
    try:
        place = _place(device.name)
        default_cache().auxiliary("machine")
        staged = place.with_suffix(f".{os.getpid()}")
        staged.write_text(json.dumps({"device": device.name, "rates": vars(found)}, indent=1), encoding="utf-8")
        staged.chmod(0o644)
        os.replace(staged, place)
    except OSError:
        pass  # measured again by the next process
    return found
