"""The statements of stages in C.  In: nodes of a lowered program; out: syntax of C, with the pragmas of a dialect.

Innermost loops are pipelined.  One that adds up floats adds into several sums in turn, where regrouping is allowed, so
that it can begin an iteration in every cycle; where the order of terms is kept it begins one when the last is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.analysis import ranges
from weft.analysis.scopes import Path
from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, Expressions, Names, Storage, truncates
from weft.errors import Unsupported
from weft.hls.plan import PARTS, Stage
from weft.ir.expr import Const, Dim
from weft.ir.ops import REDUCTIONS
from weft.ir.program import (
    Accumulator,
    Alloc,
    Block,
    Buffer,
    If,
    Layout,
    Loop,
    LoopKind,
    Node,
    Program,
    Stmt,
    While,
)
from weft.ir.walk import buffers_read, buffers_written, expr_buffers, walk
from weft.passes.scheduling.kinds import neutral
from weft.records import dataclass

#: Arrays of constant size up to this many elements are registers of a stage.
MOST_REGISTERS = 64


@dataclass(frozen=True)
class Pragmas:
    """How a dialect spells what a tool should do: lines before a loop, and lines at the head of its body."""

    pipeline: Callable[[int | None], str]
    inside: bool
    unrolled: str
    registers: Callable[[str], str]
    independent: Callable[[str], str]


@dataclass
class Unit:
    """What all stages of one program share."""

    program: Program
    declarations: dict[Path, tuple[str, ...]]
    pragmas: Pragmas
    reserved: frozenset[str]
    strict: bool
    names: Names = field(default_factory=Names)
    used: c_ops.Used = field(default_factory=c_ops.Used)
    storages: dict[str, Storage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names.taken |= {OVERFLOW, *self.reserved}
        for symbol in self.program.symbols:
            self.names.of(symbol.name)
        env = ranges.environment(self.program)
        self.expressions = Expressions(
            self.names, self.used, env, self.strict, storages=self.storages, truncates=truncates(self.program)
        )
        for buffer in self.program.buffers:
            self.add(buffer)

    def add(self, buffer: Buffer) -> None:
        """Room for a buffer, in the order of C; its extents are what the call knows at entry."""
        if buffer.type.dtype.is_complex:
            raise self.refused(buffer.span, f"`{buffer.name}` holds complex numbers", "pass real and imaginary parts")
        if any(expr_buffers(extent) for extent in buffer.shape):
            reason = f"`{buffer.name}` has a size that only the computation knows"
            raise self.refused(buffer.span, reason, "give arrays sizes that follow from the arguments")
        extents = tuple(self.expressions.index(extent) for extent in buffer.shape)
        self.storages[buffer.name] = Storage(buffer, self.names.of(buffer.name), Layout.C, extents)

    def refused(self, span: object, reason: str, remedy: str) -> Unsupported:
        place = span if getattr(span, "line", 0) > 0 else self.program.span
        return Unsupported(place, f"no form as a circuit: {reason}", remedy)  # type: ignore[arg-type]


class Writer:
    """Translates blocks; `stage` tells which statements take from streams or write to them."""

    def __init__(self, unit: Unit, stage: Stage | None = None) -> None:
        self.unit, self.stage = unit, stage
        self.expressions = unit.expressions

    def declared(self, path: Path) -> list[C.CStmt]:
        storages = [self.unit.storages[name] for name in self.unit.declarations.get(path, ())]
        return [C.Declare(storage.type, storage.name, C.Number("0")) for storage in storages]

    def block(self, nodes: Block, path: Path) -> C.CBlock:
        out = self.declared(path)
        for position, node in enumerate(nodes):
            out += self.node(node, (*path, position))
        return tuple(out)

    def node(self, node: Node, path: Path) -> list[C.CStmt]:
        if isinstance(node, Stmt):
            return self.stmt(node)
        if isinstance(node, Loop):
            return self.loop(node, path)
        if isinstance(node, If):
            test = self.expressions.test(node.condition)
            return [C.IfElse(test, self.block(node.then, (*path, 0)), self.block(node.orelse, (*path, 1)))]
        if isinstance(node, While):
            stop = C.IfElse(C.Prefix("!", self.expressions.test(node.condition)), (C.Jump("break"),))
            return [C.Forever((*self.block(node.prelude, (*path, 0)), stop, *self.block(node.body, (*path, 1))))]
        if isinstance(node, Alloc):
            return self.registers(node)
        what = {"Check": "a test in the midst of the computation"}.get(type(node).__name__, type(node).__name__)
        remedy = "move the test before the loops, or leave this function to a processor"
        raise self.unit.refused(node.span, what, remedy)

    def stmt(self, stmt: Stmt) -> list[C.CStmt]:
        out: list[C.CStmt] = []
        for access in self.stage.pops.get(id(stmt), []) if self.stage is not None else []:
            storage = self.unit.storages[access.stream]
            out.append(C.Declare(f"const {storage.type}", storage.name, C.call(f"s_{storage.name}.read")))
        value = self.expressions.value(stmt.value)
        pushed = self.stage.pushes.get(id(stmt)) if self.stage is not None else None
        if pushed is not None:
            stream = self.unit.storages[pushed.stream].name
            return [*out, C.Evaluate(C.call(f"s_{stream}.write", value))]
        return [*out, C.Assign(self.expressions.element(stmt.buffer, stmt.index), value)]

    def registers(self, node: Alloc) -> list[C.CStmt]:
        storage = self.unit.storages[node.buffer]
        count = 1
        for extent in storage.buffer.shape:
            if not isinstance(extent, Const) or not isinstance(extent.value, int):
                reason = f"`{node.buffer}` is made anew in every iteration, with a size that is not constant"
                raise self.unit.refused(node.span, reason, "make it once, before the loop")
            count *= extent.value
        if count > MOST_REGISTERS:
            raise self.unit.refused(node.span, f"`{node.buffer}` is made anew in every iteration", "make it once")
        out: list[C.CStmt] = [C.Declare(storage.type, storage.name, extent=max(count, 1))]
        if node.zero:
            at = self.unit.names.own("at")
            zero = C.Assign(C.Subscript(C.Name(storage.name), C.Name(at)), C.Number("0"))
            out.append(C.For(at, C.Number("0"), C.number(count), 1, (zero,)))
        return out

    # --- loops --------------------------------------------------------------------------------------------------------

    def loop(self, loop: Loop, path: Path) -> list[C.CStmt]:
        dim = self.dense(loop)
        innermost = not any(isinstance(inner, (Loop, While)) for inner in walk(loop.body))
        table = self.unit.program.table
        parted = [a for a in loop.accumulators if table[a.buffer].type.dtype.is_inexact] if innermost else []
        storages = dict(self.unit.storages)
        before: list[C.CStmt] = []
        turn = self.unit.names.own("turn")
        sums = [self._parts(accumulator, turn, before) for accumulator in parted]
        body = list(self.block(loop.body, (*path, 0)))
        self.unit.storages.update(storages)
        if sums:
            before.append(C.Declare("i64", turn, C.Number("0")))
            following = C.Infix("&", C.plus(C.Name(turn), C.Number("1")), C.number(PARTS - 1))
            body.append(C.Assign(C.Name(turn), following))
        made = self.counted(dim, tuple(body), self._interval(loop) if innermost else 0)
        for name in sums:
            made = self._noted(made, self.unit.pragmas.independent(name))
        after = [one for a, name in zip(parted, sums) for one in self._joined(a, name)]
        return [*before, made, *after]

    def dense(self, loop: Loop) -> Dim:
        if not isinstance(loop.dim, Dim):
            raise self.unit.refused(loop.span, "a loop over the entries of a sparse matrix", "pass a dense array")
        return loop.dim

    def counted(self, dim: Dim, body: C.CBlock, interval: int | None) -> C.For:
        """A loop; `interval`: cycles between iterations, None: as few as the tool finds, 0: it is not pipelined."""
        lo, hi = self.expressions.bound(dim.lo), self.expressions.bound(dim.hi)
        made = C.For(self.unit.names.of(dim.var), lo, hi, dim.step, body)
        return made if interval == 0 else self._noted(made, self.unit.pragmas.pipeline(interval))

    def _noted(self, loop: C.For, pragma: str) -> C.For:
        if not pragma:
            return loop
        if self.unit.pragmas.inside:
            return replace(loop, body=(C.Pragma(pragma), *loop.body))
        return replace(loop, pragmas=(*loop.pragmas, pragma))

    def _interval(self, loop: Loop) -> int | None:
        """1 where iterations need nothing of each other; the length of an addition where a float is carried along."""
        if loop.kind is LoopKind.VECTOR:
            return 1
        table = self.unit.program.table
        carried = [table[name] for name in buffers_read(loop) & buffers_written(loop)]
        if any(buffer.rank for buffer in carried):
            return None
        return PARTS if any(buffer.type.dtype.is_inexact for buffer in carried) else 1

    def _parts(self, accumulator: Accumulator, turn: str, before: list[C.CStmt]) -> str:
        """s = s + x   -->   parts[turn] = parts[turn] + x, where turns go round."""
        storage = self.unit.storages[accumulator.buffer]
        name, at = self.unit.names.own("parts"), self.unit.names.own("at")
        zero = self.expressions.value(neutral(accumulator.op, storage.buffer.type))
        cleared = C.For(at, C.Number("0"), C.number(PARTS), 1, (C.Assign(_at(name, at), zero),))
        before.append(C.Declare(storage.type, name, extent=PARTS))
        if registers := self.unit.pragmas.registers(name):
            before.append(C.Pragma(registers))
        before.append(self._noted(cleared, self.unit.pragmas.unrolled))
        self.unit.storages[accumulator.buffer] = replace(storage, name=f"{name}[{turn}]")
        return name

    def _joined(self, accumulator: Accumulator, name: str) -> list[C.CStmt]:
        """The parts, by halves, and then what the variable held."""
        storage = self.unit.storages[accumulator.buffer]
        out: list[C.CStmt] = []
        half = PARTS // 2
        while half:
            at = self.unit.names.own("at")
            other = C.Subscript(C.Name(name), C.plus(C.Name(at), C.number(half)))
            joined = C.Assign(_at(name, at), self._combined(accumulator, storage, _at(name, at), other))
            out.append(self._noted(C.For(at, C.Number("0"), C.number(half), 1, (joined,)), self.unit.pragmas.unrolled))
            half //= 2
        first = C.Subscript(C.Name(name), C.Number("0"))
        total = C.Name(storage.name)
        return [*out, C.Assign(total, self._combined(accumulator, storage, total, first))]

    def _combined(self, accumulator: Accumulator, storage: Storage, left: C.CExpr, right: C.CExpr) -> C.CExpr:
        op, of = REDUCTIONS[accumulator.op].operation, storage.buffer.type
        assert op is not None  # positions of extremes are two reductions by now
        return c_ops.build(op, of.dtype, (left, right), self.unit.used, weak=of.weak)


def _at(name: str, place: str) -> C.CExpr:
    return C.Subscript(C.Name(name), C.Name(place))
