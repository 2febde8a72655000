"""The text of a circuit.  In: a lowered program; out: `Emitted`.

Vitis HLS: a function for each process of a region, a DATAFLOW function that connects them by streams, and the kernel,
which runs regions one after the other.  Intel's OpenCL: one kernel of a single work-item, its loops pipelined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.analysis.scopes import Path, declarations
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW
from weft.codegen.c_helpers import C_TYPE
from weft.device import plan as device
from weft.device.dialect import FLAG, OPENCL
from weft.hls.body import Pragmas, Unit, Writer
from weft.hls.plan import Access, Argument, Emitted, Region, Stage
from weft.hls.stages import Stages, is_control, joined
from weft.ir.program import (
    Alloc,
    ArrayOut,
    Block,
    Check,
    Derived,
    If,
    Loop,
    Node,
    NoneOut,
    Program,
    Return,
    Role,
    ScalarOut,
    Stmt,
    While,
)
from weft.ir.walk import buffers_written, leaves, walk

VITIS = Pragmas(
    pipeline=lambda cycles: "#pragma HLS PIPELINE" + (f" II={cycles}" if cycles else ""),
    inside=True,
    unrolled="#pragma HLS UNROLL",
    registers=lambda name: f"#pragma HLS ARRAY_PARTITION variable={name} complete",
    independent=lambda name: f"#pragma HLS DEPENDENCE variable={name} inter true distance=8",
)
INTEL = Pragmas(
    pipeline=lambda cycles: f"#pragma ii {cycles}" if cycles else "",
    inside=False,
    unrolled="#pragma unroll",
    registers=lambda name: "",
    independent=lambda name: "",
)
_VITIS_WORDS = frozenset(("hls", "stream", "class", "new", "delete", "template", "this", "operator", "bool", "std"))
#: Elements that a stream holds: enough for the latency of memory.
_DEPTH = 64
_HEAD = """\
// {name}: made by weft for Vitis HLS.  Arrays are in C order and share no memory.  The result is 0, or 1 if the
// arguments are not those that this kernel was made for: then nothing that it has written must be used.
{arguments}
#include <hls_stream.h>
#include <cmath>
#include <cstdint>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef uint8_t b8; typedef float f32; typedef double f64;
"""


class Generator:
    """One program; `streamed`: as processes and streams (Vitis), else as one (Intel)."""

    def __init__(self, program: Program, strict: bool, streamed: bool) -> None:
        self.program, self.streamed = program, streamed
        pragmas, reserved = (VITIS, _VITIS_WORDS) if streamed else (INTEL, OPENCL.reserved)
        self.unit = Unit(program, declarations(program), pragmas, reserved, strict)
        self.stages = Stages(program, streamed)
        self.writer = Writer(self.unit)
        self.functions: list[C.Function] = []
        self.handed: set[str] = set()
        self.streams = 0
        #: The variables that each function changes, by the name of the function.
        self.changes: dict[str, set[str]] = {}

    # --- the kernel ---------------------------------------------------------------------------------------------------

    def body(self) -> C.CBlock:
        """The statements of the kernel, guards first."""
        returns = [node for node in walk(self.program.body) if isinstance(node, Return)]
        if len(returns) != 1 or not isinstance(self.program.body[-1], Return):
            raise self.unit.refused(self.program.span, "more than one return", "return once, at the end")
        out: list[C.CStmt] = []
        for symbol in self.program.symbols:
            if isinstance(symbol.source, Derived):
                value = self.unit.expressions.bound(symbol.source.value)
                out.append(C.Declare("const i64", self.unit.names.of(symbol.name), value))
        out += [self._check(guard) for guard in self.program.guards]
        self.regions = {stage.place: region for region in self._regions() for stage in region.stages}
        out += self.block(self.program.body, (), top=True)
        for leaf in leaves(self.program.results[returns[0].result]):
            if isinstance(leaf, ScalarOut):
                storage = self.unit.storages[leaf.buffer]
                target = C.Subscript(C.Name(_result(storage.name)), C.Number("0"))
                out.append(C.Assign(target, C.Name(storage.name)))
            elif not isinstance(leaf, (ArrayOut, NoneOut)):
                raise self.unit.refused(self.program.span, "a result that is no number and no array", "return arrays")
        if OVERFLOW in C.free_names(tuple(out)):
            # An integer has left 64 bits, where Python's would grow: nobody must use what was computed.
            out = [C.Declare("i64", OVERFLOW, C.Number("0")), *out, C.IfElse(C.Name(OVERFLOW), self._left())]
        return tuple(out)

    def _regions(self) -> list[Region]:
        """The nests of the whole body, neighbours that hand elements on as one."""
        found: list[Region] = []
        for place, node in enumerate(self.program.body):
            if isinstance(node, Loop) and not is_control(node):
                found.append(Region([self._staged(node, place)]))
        found = joined(found, self.program)
        self.handed = {write.buffer for region in found for write in region.handed.values()}
        return found

    def _staged(self, loop: Loop, place: int) -> Stage:
        stage = self.stages.stage(loop, place)
        for buffer in self.stages.buffers:
            if buffer.name not in self.unit.storages:
                self.unit.add(buffer)
        return stage

    def block(self, nodes: Block, path: Path, top: bool = False) -> list[C.CStmt]:
        out = self.writer.declared(path)
        for position, node in enumerate(nodes):
            place = (*path, position)
            if top and isinstance(node, Loop) and position in self.regions:
                region = self.regions[position]
                if region.stages[0].place == position:
                    out += self._region(region, place)
            else:
                out += self._node(node, place)
        return out

    def _node(self, node: Node, path: Path) -> list[C.CStmt]:
        if isinstance(node, Loop) and not is_control(node):
            return self._region(Region([self._staged(node, -1)]), path)
        if isinstance(node, Loop):
            inner = tuple(self.block(node.body, (*path, 0)))
            return [self.writer.counted(self.writer.dense(node), inner, 0)]
        if isinstance(node, If):
            test = self.unit.expressions.test(node.condition)
            then, orelse = (tuple(self.block(b, (*path, k))) for k, b in enumerate((node.then, node.orelse)))
            return [C.IfElse(test, then, orelse)]
        if isinstance(node, While):
            stop = C.IfElse(C.Prefix("!", self.unit.expressions.test(node.condition)), (C.Jump("break"),))
            return [C.Forever((*self.block(node.prelude, (*path, 0)), stop, *self.block(node.body, (*path, 1))))]
        if isinstance(node, Check):
            return [self._check(node)]
        if isinstance(node, Alloc):
            return self._cleared(node) if node.zero else []
        if isinstance(node, Return):
            return []
        if isinstance(node, Stmt):
            return self.writer.stmt(node)
        what = f"{getattr(node, 'routine', type(node).__name__)} (a {type(node).__name__})"
        raise self.unit.refused(node.span, what, "write the computation as loops")

    def _check(self, check: Check) -> C.CStmt:
        if check.domain:
            raise self.unit.refused(check.span, "a test of many elements", "test before the call")
        failed = C.Prefix("!", self.unit.expressions.value(check.condition))
        return C.IfElse(failed, self._left())

    def _left(self) -> C.CBlock:
        if self.streamed:
            return (C.Leave(C.Number("1")),)
        return (C.Assign(C.Subscript(C.Name(FLAG), C.Number("0")), C.Number("1")), C.Leave())

    def _cleared(self, node: Alloc) -> list[C.CStmt]:
        storage = self.unit.storages[node.buffer]
        total: C.CExpr = C.Number("1")
        for extent in storage.extents:
            total = C.times(total, extent)
        at = self.unit.names.own("at")
        zero = C.Assign(C.Subscript(C.Name(storage.name), C.Name(at)), C.Number("0"))
        return [self.writer._noted(C.For(at, C.Number("0"), total, 1, (zero,)), self.unit.pragmas.pipeline(1))]

    # --- regions ------------------------------------------------------------------------------------------------------

    def _region(self, region: Region, path: Path) -> list[C.CStmt]:
        """The call of a region's function; without streams, its statements."""
        if not self.streamed:
            return Writer(self.unit, region.stages[0]).node(region.stages[0].node, path)
        calls: list[C.CStmt] = []
        streams: list[C.CStmt] = []
        for stage in region.stages:
            place = path if len(region.stages) == 1 else (stage.place,)
            sources = [access for access in stage.reads if access.stream not in region.handed]
            names = {read: write.stream for read, write in region.handed.items()}
            streams += [line for access in (*sources, *stage.writes) for line in self._stream(access)]
            given = {write.stream for write in region.handed.values()}
            for group in _together(sources):
                calls.append(self._process("read", group, names))
            code = tuple(Writer(self.unit, stage).node(stage.node, place))
            mine = [names.get(access.stream, access.stream) for access in stage.reads]
            inner = {access.stream: name for access, name in zip(stage.reads, mine)}
            outer = [access.stream for access in stage.writes]
            calls.append(self._function("stage", code, [*inner.values(), *outer], self._renaming(inner)))
            calls += [self._process("write", [one], {}) for one in stage.writes if one.stream not in given]
        if not streams:
            return calls
        self.streams += len(streams) // 2  # each with its depth
        if sum(OVERFLOW in C.free_names((call,)) for call in calls) > 1:
            reason = "integers of several stages that may leave 64 bits, where Python's would grow"
            raise self.unit.refused(region.stages[0].node.span, reason, "use arrays of NumPy's integers, or floats")
        body = (C.Pragma("#pragma HLS DATAFLOW"), *streams, *calls)
        return [self._function("region", body, [], {})]

    def _renaming(self, inner: dict[str, str]) -> dict[str, str]:
        """Streams under the name that the stage's statements use."""
        return {self._name(actual): self._name(own) for own, actual in inner.items()}

    def _name(self, stream: str) -> str:
        return f"s_{self.unit.storages[stream].name}"

    def _stream(self, access: Access) -> list[C.CStmt]:
        name = self._name(access.stream)
        depth = C.Pragma(f"#pragma HLS STREAM variable={name} depth={_DEPTH}")
        return [C.Declare(f"hls::stream<{C_TYPE[access.of.dtype]}>", name), depth]

    def _process(self, way: str, group: Sequence[Access], names: dict[str, str]) -> C.CStmt:
        """A process between memory and streams: the loops around the accesses, and nothing else."""
        expressions = self.unit.expressions
        body: list[C.CStmt] = []
        for access in group:
            element = expressions.element(access.buffer, access.index)
            stream = self._name(names.get(access.stream, access.stream))
            moved = C.Evaluate(C.call(f"{stream}.write", element))
            body.append(moved if way == "read" else C.Assign(element, C.call(f"{stream}.read")))
        code: C.CBlock = tuple(body)
        for depth, dim in enumerate(reversed(group[0].loops)):
            code = (self.writer.counted(dim, code, len(group) if depth == 0 else 0),)
        streams = [names.get(access.stream, access.stream) for access in group]
        return self._function(way, code, streams, {})

    def _function(self, hint: str, code: C.CBlock, streams: Sequence[str], renamed: dict[str, str]) -> C.CStmt:
        """A function of its own for a block, and the call of it."""
        name = self.unit.names.own(f"{hint}{len(self.functions)}")
        parameters: list[str] = []
        given: list[C.CExpr] = []
        for stream in streams:
            actual = self._name(stream)
            of = C_TYPE[self.unit.storages[stream].buffer.type.dtype]
            parameters.append(f"hls::stream<{of}> &{renamed.get(actual, actual)}")
            given.append(C.Name(actual))
        table = {storage.name: storage for storage in self.unit.storages.values()}
        changed = _assigned(code, self.changes) | {OVERFLOW}
        for free in C.free_names(code):
            if "[" in free or free.startswith("s_"):
                continue  # a part of a sum; a stream
            storage = table.get(free)
            of = "i64" if storage is None else storage.type
            mark = "*" if storage is not None and storage.buffer.rank else "&" if free in changed else ""
            parameters.append(f"{of} {mark}{free}")
            given.append(C.Name(free))
        self.changes[name] = changed
        self.functions.append(C.Function(f"static void {name}({', '.join(parameters)})", code))
        return C.Evaluate(C.call(name, *given))

    # --- arguments ----------------------------------------------------------------------------------------------------

    def arguments(self, body: C.CBlock) -> tuple[Argument, ...]:
        """What the kernel takes, in order: memory, numbers, and where results that are numbers go."""
        program = self.program
        made = {node.buffer for node in walk(program.body) if isinstance(node, Alloc)}
        written = {name for node in program.body for name in buffers_written(node)}
        found: list[Argument] = []
        for buffer in program.buffers:
            of = C_TYPE[buffer.type.dtype]
            if buffer.rank and buffer.role is Role.PARAM:
                found.append(Argument(buffer.name, "inout" if buffer.name in written else "in", of, buffer.shape))
            elif buffer.rank and buffer.name in made and buffer.name not in self.handed and self._is_outer(buffer.name):
                kind = "out" if buffer.role is Role.RESULT else "scratch"
                found.append(Argument(buffer.name, kind, of, buffer.shape))
        for buffer in program.buffers:
            if not buffer.rank and buffer.role is Role.PARAM:
                found.append(Argument(buffer.name, "number", C_TYPE[buffer.type.dtype]))
        for symbol in program.symbols:
            if not isinstance(symbol.source, Derived):
                found.append(Argument(symbol.name, "number", "i64"))
        for out in program.results:
            for leaf in leaves(out):
                if isinstance(leaf, ScalarOut):
                    found.append(Argument(leaf.buffer, "result", C_TYPE[program.table[leaf.buffer].type.dtype]))
        return tuple(found)

    def _is_outer(self, name: str) -> bool:
        """Whether memory is made beside the nests, and not inside one."""

        def outer(block: Block) -> Iterable[Node]:
            for node in block:
                yield node
                if isinstance(node, (If, While)) or (isinstance(node, Loop) and is_control(node)):
                    for inner in (node.then, node.orelse) if isinstance(node, If) else (node.body,):
                        yield from outer(inner)

        return any(isinstance(node, Alloc) and node.buffer == name for node in outer(self.program.body))

    def variable(self, argument: Argument) -> str:
        name = self.unit.names.of(argument.name)
        return _result(name) if argument.kind == "result" else name


def vitis(program: Program, strict: bool) -> Emitted:
    """C++ for Vitis HLS."""
    made = Generator(program, strict, True)
    body = made.body()
    arguments = made.arguments(body)
    memory = [argument for argument in arguments if argument.kind != "number"]
    ports = [
        f"#pragma HLS INTERFACE m_axi port={made.variable(argument)} offset=slave bundle=gmem{number}"
        for number, argument in enumerate(memory)
    ]
    head = ", ".join(
        f"{one.type} {'' if one.kind == 'number' else '*'}{made.variable(one)}" for one in arguments
    )
    name = f"{program.name}_hls"
    kernel = C.Function(f'extern "C" int {name}({head})', (*map(C.Pragma, ports), *body, C.Leave(C.Number("0"))))
    told = "\n".join(f"//   {one.type} {made.variable(one)}: {one.kind}" for one in arguments)
    helpers = [C.Text(text) for text in (*made.unit.used.helpers.values(), *made.unit.used.texts)]
    text = C.print_unit((C.Text(_HEAD.format(name=name, arguments=told)), *helpers, *made.functions, kernel))
    return Emitted(name, text, arguments, made.streams)


def single(program: Program, strict: bool) -> Emitted:
    """OpenCL C of one work-item."""
    made = Generator(program, strict, False)
    body = made.body()
    arguments = (*made.arguments(body), Argument(FLAG, "status", "i32"))
    sources = {"status": device.Source.FLAG, "number": device.Source.NUMBER}
    given = [
        device.Argument(
            sources.get(one.kind, device.Source.MEMORY),
            one.name,
            FLAG if one.kind == "status" else made.variable(one),
            one.type,
        )
        for one in arguments
    ]
    name = f"{program.name}_single"
    code = "".join(f"{line}\n" for line in C.lines(body, "  "))
    kernel = device.Kernel(name, device.Mapping.SINGLE, (), tuple(given), code, span=program.span)
    helpers = "\n".join((*made.unit.used.helpers.values(), *made.unit.used.texts))
    text = OPENCL.unit(helpers, (kernel,))
    alone = "__attribute__((max_global_work_dim(0)))\n__kernel void"
    return Emitted(name, text.replace("__kernel void", alone), arguments)


def _result(name: str) -> str:
    return f"k_result_{name}"


def _together(accesses: Sequence[Access]) -> list[list[Access]]:
    """Reads of one array in the same loops are one process: a port of memory has one reader."""
    found: list[list[Access]] = []
    for access in accesses:
        for group in found:
            if (group[0].buffer, group[0].loops) == (access.buffer, access.loops):
                group.append(access)
                break
        else:
            found.append([access])
    return found


def _assigned(block: C.CBlock, changes: dict[str, set[str]]) -> set[str]:
    """Variables that a block assigns to, itself or by a function that it calls."""
    found: set[str] = set()
    for node in block:
        if isinstance(node, C.Assign) and isinstance(node.target, C.Name):
            found.add(node.target.text)
        elif isinstance(node, C.Evaluate) and isinstance(node.value, C.Invoke):
            found |= changes.get(node.value.function, set())
        for inner in (getattr(node, "body", ()), getattr(node, "then", ()), getattr(node, "otherwise", ())):
            found |= _assigned(inner, changes)
    return found


