"""Variants in OpenCL C.  In: a version; out: its kernels, and Python that launches them by pyopencl, step by step.

    for t in range(steps):
        _launch(_heat_1["kernel_1"], (m - 2, n - 2), (64, 4), (64, 4), flag, a, b, ...)
        a, b = b, a
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.scopes import written_params
from weft.codegen import python_syntax as py
from weft.compiled import Compiled
from weft.device.dialect import BLOCK, OPENCL, group_shape
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
    Leave,
    Mapping,
    Plan,
    Refused,
    Repeat,
    Source,
    Step,
    Steps,
)
from weft.device.split import planned
from weft.emit.forms import Form, Text, fitting, joined
from weft.emit.host_text import HELPERS, HostText
from weft.ir.expr import Dim
from weft.ir.program import Layout, Role
from weft.ir.types import DType
from weft.options import Options

RUNTIME = f'''{HELPERS}

#: What all kernels begin with: names of types and functions.
_DOUBLE = """{OPENCL.double}"""
_PRELUDE = """{OPENCL.prelude}"""
''' + '''
def _builds(cl, device):
    """Whether the device's compiler works: a driver may be older than the processor."""
    try:
        cl.Program(cl.Context([device]), "__kernel void trial(__global int *a) { a[get_global_id(0)] = 1; }").build()
    except cl.Error:
        return False
    return True


class _Device:
    """The first OpenCL device that builds kernels, accelerators before processors; OPENCL_DEVICE names another."""

    def __init__(self):
        import pyopencl as cl

        found = [device for platform in cl.get_platforms() for device in platform.get_devices() if _builds(cl, device)]
        found.sort(key=lambda device: bool(device.type & cl.device_type.CPU))
        self.cl, self.context = cl, cl.Context([found[int(os.environ.get("OPENCL_DEVICE", "0"))]])
        self.queue = cl.CommandQueue(self.context)
        self.pid = os.getpid()
        self.programs = {}

    def kernel(self, text, name):
        if text not in self.programs:
            head = (_DOUBLE if "f64" in text or "c128" in text else "") + "\\n" + _PRELUDE
            built = self.cl.Program(self.context, head + "\\n" + text).build(options=["-cl-std=CL1.2", "-w"])
            self.programs[text] = {kernel.function_name: kernel for kernel in built.all_kernels()}
        return self.programs[text][name]


_devices = []


def _device():
    """The device; GuardFailed where there is none.  It does not survive a fork: the child makes its own."""
    if not _devices or _devices[0].pid != os.getpid():
        try:
            _devices[:] = [_Device()]
        except Exception:
            raise GuardFailed from None
    return _devices[0]


class _Array:
    """An array, or a number, in the memory of the device."""

    def __init__(self, shape, dtype, zero=False, of=None):
        device = _device()
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        size = max(math.prod(self.shape), 1) * self.dtype.itemsize
        self.memory = device.cl.Buffer(device.context, device.cl.mem_flags.READ_WRITE, size)
        if of is not None and of.size:
            device.cl.enqueue_copy(device.queue, self.memory, np.ascontiguousarray(of), is_blocking=True)
        if zero:
            device.cl.enqueue_fill_buffer(device.queue, self.memory, np.uint8(0), 0, size)

    def here(self):
        """As an array of NumPy's."""
        array = np.empty(self.shape, self.dtype)
        if array.size:
            _device().cl.enqueue_copy(_device().queue, array, self.memory, is_blocking=True)
        return array


def _there(array):
    """A copy of an array on the device."""
    return _Array(array.shape, array.dtype, of=array)


def _launch(text, name, counts, points, group, *arguments):
    """A kernel over loops of these lengths, innermost first; a work-group takes `points` of them."""
    if 0 in counts:
        return
    device = _device()
    kernel = device.kernel(text, name)
    total = tuple(-(-count // each) * size for count, each, size in zip(counts, points, group))
    kernel.set_args(*(part.memory if isinstance(part, _Array) else part for part in arguments))
    device.cl.enqueue_nd_range_kernel(device.queue, kernel, total, group)


def _number(cell):
    """A number that kernels have computed."""
    return cell.here()[()].item()


def _settled(flag):
    """Nothing that a kernel computed counts if one of them has met what only Python can answer."""
    if flag.here()[()]:
        raise GuardFailed
'''
_FLAG = "flag"


def _written(name: str, compiled: Compiled) -> Text:
    program = replace(compiled.program_optimised, name=name)
    program = replace(program, buffers=tuple(replace(buffer, layout=Layout.C) for buffer in program.buffers))
    try:
        plan = planned(program, Options(fp="numpy"), [], barriers=True)
    except Refused as problem:
        raise ValueError(str(problem)) from None
    return joined([fitting(f"{name}_fits", program), Text(_Variant(name, plan).text())])


class _Variant:
    """The text of one plan."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name, self.plan = name, plan
        program = plan.program
        self.resident = {
            buffer.name
            for buffer in program.buffers
            if not buffer.rank and buffer.name not in plan.host and buffer.role is not Role.PARAM
        }
        names = py.Names()
        for each in (_FLAG, "_there", "_launch", "_number", "_settled", name):
            names.fresh(each)
        self.host = HostText(program, names, self.resident, "_number")
        self.params = [names.of(param) for param in program.params]
        self.written = sorted(written_params(program))
        self.lines: list[str] = []

    def text(self) -> str:
        program, host = self.plan.program, self.host
        launched = [kernel for kernel in self.plan.kernels if kernel.name in self._launched(self.plan.steps)]
        kernels = OPENCL.text(self.plan.helpers, launched).replace("\\", "\\\\")
        self.add(0, f'{self.name}_kernels = """{kernels}"""', "", "", f"def {self.name}({', '.join(self.params)}):")
        self.add(1, f"{self.name}_fits({', '.join(self.params)})", *host.sizes())
        self.add(1, f"{_FLAG} = _Array((), np.int32, zero=True)")
        for param in program.params:
            if param in program.table and program.table[param].rank:
                given = host.of(param)
                self.add(1, f"{given}_there = _there({given})")
        for cell in sorted(self.resident & self._used()):
            self.add(1, f"{host.of(cell)} = _Array((), {host.dtype(cell)}, zero=True)")
        self.steps(self.plan.steps, 1)
        if not self.plan.steps or not isinstance(self.plan.steps[-1], Leave):
            self.leave(0, 1)
        return "\n".join(self.lines)

    def _launched(self, steps: Steps) -> set[str]:
        """The kernels that are launched."""
        found: set[str] = set()
        for step in steps:
            if isinstance(step, Launch):
                found.add(step.kernel.name)
            for part in ("steps", "prelude", "then", "orelse"):
                found |= self._launched(getattr(step, part, ()))
        return found

    def _used(self) -> set[str]:
        """Numbers on the device that kernels or results name."""
        return {argument.name for kernel in self.plan.kernels for argument in kernel.arguments} | self.resident

    def add(self, depth: int, *lines: str) -> None:
        self.lines += [f"{'    ' * depth}{line}" if line else "" for line in lines]

    def steps(self, steps: Steps, depth: int) -> None:
        for step in steps:
            self.step(step, depth)
        if not steps:
            self.add(depth, "pass")

    def step(self, step: Step, depth: int) -> None:
        host = self.host
        if isinstance(step, Launch):
            self.launch(step.kernel, depth)
        elif isinstance(step, Assign):
            self.settle(depth, host.value(step.value))
            self.add(depth, f"{host.of(step.buffer)} = _whole({host.value(step.value)})")
        elif isinstance(step, Allocate):
            zero = ", zero=True" if step.zero else ""
            self.settle(depth, host.shape(step.buffer))
            made = f"_Array({host.shape(step.buffer)}, {host.dtype(step.buffer)}{zero})"
            self.add(depth, f"{self.memory(step.buffer)} = {made}")
        elif isinstance(step, Exchange):
            targets, sources = (", ".join(map(self.memory, names)) for names in (step.targets, step.sources))
            self.add(depth, f"{targets} = {sources}")
        elif isinstance(step, Choose):
            self.settle(depth, host.value(step.condition))
            self.add(depth, f"if {host.value(step.condition)}:")
            self.steps(step.then, depth + 1)
            if step.orelse:
                self.add(depth, "else:")
                self.steps(step.orelse, depth + 1)
        elif isinstance(step, Repeat):
            self.settle(depth, self.range(step.dim))
            self.add(depth, f"for {host.of(step.dim.var)} in {self.range(step.dim)}:")
            self.steps(step.steps, depth + 1)
        elif isinstance(step, Again):
            self.add(depth, "while True:")
            if step.prelude:
                self.steps(step.prelude, depth + 1)
            self.settle(depth + 1, host.value(step.condition))
            self.add(depth + 1, f"if not ({host.value(step.condition)}):", "    break")
            self.steps(step.steps, depth + 1)
        elif isinstance(step, Jump):
            self.add(depth, step.kind)
        elif isinstance(step, Either):
            self.steps(step.steps, depth)  # one kernel for all of them would be less to read
        elif isinstance(step, Leave):
            self.leave(step.result, depth)
        else:
            raise ValueError("it calls a library of the device")

    def settle(self, depth: int, text: str) -> None:
        """Before the host looks at a number of the device: is it one?"""
        if "_number(" in text:
            self.add(depth, f"_settled({_FLAG})")

    def memory(self, buffer: str) -> str:
        """The name of an array on the device: an argument's stands for a copy."""
        name = self.host.of(buffer)
        return f"{name}_there" if self.plan.program.table[buffer].role is Role.PARAM else name

    def range(self, dim: Dim) -> str:
        lo, hi = self.host.value(dim.lo), self.host.value(dim.hi)
        if dim.step != 1:
            return f"range({lo}, {hi}, {dim.step})"
        return f"range({hi})" if lo == "0" else f"range({lo}, {hi})"

    def trips(self, dim: Dim) -> str:
        text = self.range(dim)
        single = text.startswith("range(") and dim.step == 1 and self.host.value(dim.lo) == "0"
        return f"max({self.host.value(dim.hi)}, 0)" if single else f"len({text})"

    def launch(self, kernel: Kernel, depth: int) -> None:
        counts = [self.trips(dim) for dim in reversed(kernel.grid)] or ["1"]
        group = group_shape(kernel)
        points = group
        if kernel.mapping is Mapping.BLOCKS:
            points = (BLOCK[1], BLOCK[0], *(1,) * (len(counts) - 2))
        elif kernel.mapping is Mapping.ITEMS and kernel.item != (1, 1):
            points, group = (kernel.item[1], kernel.item[0], *(1,) * (len(counts) - 2)), (1,) * len(counts)
        elif kernel.mapping is not Mapping.ITEMS:
            points = (1,) * len(counts)
        for count in counts:
            self.settle(depth, count)
        arguments = [self.argument(argument, kernel) for argument in kernel.arguments]
        shape = f"({', '.join(counts)}{',' if len(counts) == 1 else ''}), {points!r}, {group!r}"
        if kernel.span.line > 0:
            self.add(depth, f"# line {kernel.span.line}")
        first = f'    {self.name}_kernels, "{kernel.name}", {shape},'
        self.add(depth, "_launch(", first, f"    {', '.join(arguments)},", ")")

    def argument(self, argument: Argument, kernel: Kernel) -> str:
        host, program = self.host, self.plan.program
        if argument.source is Source.CHUNK:
            raise ValueError("its kernels are made for a processor")
        if argument.source is Source.FLAG:
            return _FLAG
        if argument.source is Source.EXTENT:
            return f"np.int64({self.memory(argument.name)}.shape[{argument.axis}])"
        if argument.source is Source.MEMORY:
            return self.memory(argument.name) if program.table[argument.name].rank else host.of(argument.name)
        if argument.source is Source.SCRATCH:
            each = f"math.prod({host.shape(argument.name)})"
            count = " * ".join([*map(self.trips, kernel.grid), each])
            return f"_Array(({count},), {host.dtype(argument.name)})"
        buffer = program.table.get(argument.name)
        of = DType.I64 if buffer is None else buffer.type.dtype
        return f"np.{of.numpy.type.__name__}({host.of(argument.name)})"

    def leave(self, number: int, depth: int) -> None:
        """The end of a call: what was written goes into the caller's arrays, once nothing can fail any more."""
        host, program = self.host, self.plan.program
        self.add(depth, f"_settled({_FLAG})")

        def array(name: str) -> str:
            return host.of(name) if program.table[name].role is Role.PARAM else f"{host.of(name)}.here()"

        def scalar(name: str) -> str:
            return f"_number({host.of(name)})" if name in self.resident else host.of(name)

        result = host.result(program.results[number], array, scalar)
        if self.written:
            self.add(depth, f"result = {result}")
            fetched = ", ".join(f"{host.of(name)}_there.here()" for name in self.written)
            targets = ", ".join(f"{host.of(name)}[...]" for name in self.written)
            self.add(depth, f"{targets} = {fetched}", "return result")
        else:
            self.add(depth, f"return {result}")


FORM = Form("pyopencl where a call is large", "import os\n", RUNTIME, _written, 100_000)
