"""The text of one kernel.  In: a block of a lowered program and how its iterations are laid out; out: a `Kernel`.

Two ways to run a block.  *Alone*: a work-item runs it from top to bottom; its sums have as many partial results as
there are lanes elsewhere, and meet in the same tree.  *Together*: all lanes of a group run it,
each with its own copy of every scalar, and all copies are equal; vector loops are dealt out to the lanes, sums over
them meet in a tree of fixed shape, and a single element is written by lane 0.  Barriers stand where lanes read what
others wrote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

from weft.analysis import choices, cost, ranges
from weft.analysis.scopes import Path
from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, Expressions, Names, Storage, truncates
from weft.codegen.c_helpers import C_TYPE
from weft.device import maths
from weft.device.dialect import BARRIER, FLAG, GROUP, LANE, LANES, TILE
from weft.device.lanes import constant_count, has_lanes, is_long, is_small, lane_arrays, leaving, shared_elements
from weft.device.plan import Argument, Kernel, Mapping, Refused, Source
from weft.directives import NONE, Directives
from weft.errors import NOWHERE, Span
from weft.ir.expr import CompressedDim, Dim, Expr, Op, real
from weft.ir.index import affine
from weft.ir.ops import REDUCTIONS
from weft.ir.program import (
    Accumulator,
    Alloc,
    Block,
    Break,
    Buffer,
    Check,
    Continue,
    If,
    Loop,
    LoopKind,
    Node,
    Program,
    Role,
    Stmt,
    While,
)
from weft.ir.types import FLOAT, INT
from weft.ir.walk import buffers_written, expr_buffers, free_vars, node_exprs, reads, walk
from weft.passes.scheduling.kinds import neutral
from weft.records import dataclass

Updates = dict[str, Callable[[Stmt], Any]]

#: The variable with the number of a work-item among all of its launch.
NUMBER = "k_number"
#: Before a loop of one work-item whose iterations share nothing; compilers that do not know it pass over it.
VECTORS = ("#pragma clang loop vectorize(assume_safety)",)
#: Iterations that one work-item of a processor takes, and which of all iterations it is at.
CHUNK, AT = "k_chunk", "k_at"


@dataclass
class Unit:
    """What the kernels of one program share."""

    program: Program
    names: Names
    used: c_ops.Used
    declarations: dict[Path, tuple[str, ...]]
    #: Scalars that the host computes: kernels get their values.
    host: frozenset[str]
    strict: bool
    #: Whether barriers and local memory pay: on a processor they do not.
    barriers: bool = True
    #: Whether the device has a library for products.
    library: bool = False
    #: What comments say of the loops.
    directives: Directives = NONE
    storages: dict[str, Storage] = field(default_factory=dict)
    #: C names of extents that are only known when memory is allocated, with buffer and axis.
    noted: dict[str, tuple[str, int]] = field(default_factory=dict)
    kernels: list[Kernel] = field(default_factory=list)

    def __post_init__(self) -> None:
        for part in self.program.symbols:
            self.names.of(part.name)
        self.expressions = Expressions(
            self.names,
            self.used,
            ranges.environment(self.program),
            self.strict,
            libm=False,
            truncates=truncates(self.program),
        )
        for buffer in self.program.buffers:
            self.storages[buffer.name] = self._storage(buffer)
        self.expressions.storages = self.storages

    def notes(self, code: C.CBlock) -> bool:
        """Whether some code notes numbers that it cannot compute."""
        if OVERFLOW in C.free_names(code):
            return True
        return not self.barriers and maths.are_noted("\n".join(C.lines(code, "")))

    def _storage(self, buffer: Buffer) -> Storage:
        """Everything on the device is contiguous; arguments in Fortran order stay so."""
        name = self.names.of(buffer.name)
        fixed = {symbol.name for symbol in self.program.symbols}
        extents: list[C.CExpr] = []
        for axis, extent in enumerate(buffer.shape):
            if affine(extent) is not None and free_vars(extent) <= fixed and not expr_buffers(extent):
                extents.append(self.expressions.index(extent))
            else:
                noted = self.names.fresh(f"{buffer.name}_n{axis}")
                self.noted[noted] = (buffer.name, axis)
                extents.append(C.Name(noted))
        return Storage(buffer, name, buffer.layout, tuple(extents))


@dataclass
class Body:
    """Translates the block of one kernel."""

    unit: Unit
    together: bool
    #: The number of the work-item or group, by which it finds its own temporaries.
    number: C.CExpr
    scratch: list[str] = field(default_factory=list)
    #: Small arrays of which every lane has one of its own.
    private: frozenset[str] = frozenset()
    #: Arrays that other work-items add to meanwhile, with what tells the term of an update.
    atomic: Updates = field(default_factory=dict)
    heads: list[C.CStmt] = field(default_factory=list)
    #: Inside a vector loop that is dealt out: every lane is somewhere else.
    apart: bool = False
    #: What lanes have done to memory since the last barrier.
    read: bool = False
    written: bool = False
    local_bytes: int = 0

    @property
    def expressions(self) -> Expressions:
        return self.unit.expressions

    def block(self, nodes: Block, path: Path) -> C.CBlock:
        out: list[C.CStmt] = self.declared(path)
        for position, node in enumerate(nodes):
            out.extend(self.node(node, (*path, position)))
        return tuple(out)

    def declared(self, path: Path) -> list[C.CStmt]:
        storages = [self.unit.storages[name] for name in self.unit.declarations.get(path, ())]
        return [C.Declare(storage.type, storage.name, _zero(storage)) for storage in storages]

    def node(self, node: Node, path: Path) -> list[C.CStmt]:
        if self._uniform and isinstance(node, Loop) and _all_parallel(node):
            return self._dealt(node, path)
        if self._uniform and self._for_one_lane(node, path):
            return self._by_one_lane(node, path)
        if isinstance(node, Stmt):
            return self._stmt(node)
        if isinstance(node, Check):
            return self._check(node)
        if isinstance(node, Loop):
            dealt = self._uniform and is_long(node) and not shared_elements(node) - set(self.private)
            if dealt:
                return self._dealt(node, path)
            return self._striped(node, path) if self._in_stripes(node) else self._counted(node, path)
        if isinstance(node, While):
            return self._while(node, path)
        if isinstance(node, If):
            return self._if(node, path)
        if isinstance(node, (Break, Continue)):
            return [C.Jump("break" if isinstance(node, Break) else "continue")]
        if isinstance(node, Alloc):
            return self._alloc(node)
        raise Refused(f"a {type(node).__name__} inside a kernel (line {node.span.line})")

    # --- lanes --------------------------------------------------------------------------------------------------------

    @property
    def _uniform(self) -> bool:
        """Whether all lanes are at the same place with the same scalars."""
        return self.together and not self.apart

    def _before(self, reads: bool, writes: bool) -> list[C.CStmt]:
        """A barrier, if lanes are about to touch memory that others touched."""
        if not self._uniform:
            return []
        needed = (self.written and (reads or writes)) or (self.read and writes)
        if needed:
            self.read = self.written = False
        self.read, self.written = self.read or reads, self.written or writes
        return [C.Evaluate(C.call(BARRIER))] if needed else []

    def _unknown(self) -> None:
        """Where ways meet, lanes may have touched anything."""
        self.read = self.written = True

    def _reads(self, *exprs: Expr) -> bool:
        return any(read.index for expr in exprs for read in reads(expr))

    def _for_one_lane(self, node: Node, path: Path) -> bool:
        """A loop or branch of single elements that leaves no scalar behind: one lane runs it without a barrier."""
        if not isinstance(node, (Loop, While, If)) or has_lanes((node,)):
            return False
        inside = tuple(walk((node,)))
        if any(isinstance(part, (Check, Break, Continue, Alloc)) for part in inside) and not isinstance(node, Loop):
            return False
        if any(isinstance(part, (Check, Alloc)) for part in inside):
            return False
        written = {name for part in inside for name in buffers_written(part)}
        table = self.unit.program.table
        own = {name for place, names in self.unit.declarations.items() if place[: len(path)] == path for name in names}
        scalars = {name for name in written if not table[name].rank}
        return scalars != written and scalars <= own

    def _by_one_lane(self, node: Node, path: Path) -> list[C.CStmt]:
        before = self._before(True, True)
        self.together = False
        inner = self.node(node, path)
        self.together = True
        self._unknown()
        return [*before, C.IfElse(C.Infix("==", C.Name(LANE), C.Number("0")), tuple(inner))]

    def _dealt(self, loop: Loop, path: Path) -> list[C.CStmt]:
        """for j: ...   -->   for j = lo + lane, in steps of all lanes: ..."""
        touched = [part for part in walk((loop,)) if isinstance(part, (Stmt, Check, If, While, Loop))]
        arrays = any(self._reads(*node_exprs(part)) for part in touched)
        stores = any(isinstance(part, Stmt) and part.index for part in touched)
        # A tree of sums is memory of all lanes, too.
        out = self._before(arrays, stores or bool(loop.accumulators))
        dim = _dense(loop)
        storages, accumulated = dict(self.unit.storages), []
        for accumulator in loop.accumulators:
            accumulated.append(self._partial(accumulator, out))
        self.apart = True
        body = self.block(loop.body, (*path, 0))
        self.apart = False
        self.unit.storages.update(storages)
        start = C.plus(self.expressions.bound(dim.lo), C.times(C.Name(LANE), C.number(dim.step)))
        variable = self.unit.names.of(dim.var)
        out.append(C.For(variable, start, self.expressions.bound(dim.hi), dim.step * LANES, body))
        for accumulator, partial in zip(loop.accumulators, accumulated):
            out += self._joined(accumulator, partial)
        return out

    def _in_stripes(self, loop: Loop) -> bool:
        """Whether one work-item accumulates as many lanes would, so that sums have the same bits everywhere."""
        if self.together or not loop.accumulators or not is_long(loop):
            return False
        return not any(leaving(node) for node in loop.body)

    def _striped(self, loop: Loop, path: Path) -> list[C.CStmt]:
        """for j: s += ...   -->   for blocks of j: for lane: s[lane] += ...; then the tree"""
        dim, names = _dense(loop), self.unit.names
        storages = dict(self.unit.storages)
        out: list[C.CStmt] = []
        begin: list[C.CStmt] = []
        end: list[C.CStmt] = []
        lane, first, trips = (C.Name(names.own(name)) for name in ("l", "first", "trips"))
        parts: list[C.Name] = []
        for accumulator in loop.accumulators:
            storage = self.unit.storages[accumulator.buffer]
            array, mine = C.Name(names.own("parts")), C.Name(names.own("partial"))
            zero = self.expressions.value(neutral(accumulator.op, storage.buffer.type))
            out.append(C.Declare(storage.type, array.text, extent=LANES))
            out.append(C.For(lane.text, C.Number("0"), C.number(LANES), 1, (C.Assign(C.Subscript(array, lane), zero),)))
            begin.append(C.Declare(storage.type, mine.text, C.Subscript(array, lane)))
            end.append(C.Assign(C.Subscript(array, lane), mine))
            self.unit.storages[accumulator.buffer] = replace(storage, name=mine.text)
            parts.append(array)
        low = self.expressions.bound(dim.lo)
        at = C.plus(low, C.times(C.plus(first, lane), C.number(dim.step)))
        body = (C.Declare("const i64", names.of(dim.var), at), *begin, *self.block(loop.body, (*path, 0)), *end)
        self.unit.storages.update(storages)
        out.append(C.Declare("const i64", trips.text, self.expressions.bound(cost.extent(dim))))
        # Whole stripes have a known length, which compilers unroll into registers.
        pragmas = () if shared_elements(loop) or self.unit.barriers else VECTORS
        whole, across = C.Name(names.own("whole")), C.For(lane.text, C.Number("0"), C.number(LANES), 1, body, pragmas)
        filled = C.Infix("-", trips, C.Infix("%", trips, C.number(LANES)))
        out.append(
            C.Declare("const i64", whole.text, C.Ternary(C.Infix(">", trips, C.Number("0")), filled, C.Number("0")))
        )
        out.append(C.For(first.text, C.Number("0"), whole, LANES, (across,)))
        last = C.For(lane.text, C.Number("0"), C.Infix("-", trips, whole), 1, body)
        out.append(C.Scope((C.Declare("const i64", first.text, whole), last)))
        for accumulator, array in zip(loop.accumulators, parts):
            out += self._folded(accumulator, array, lane)
        return [C.Scope(tuple(out))]

    def _folded(self, accumulator: Accumulator, parts: C.Name, lane: C.Name) -> list[C.CStmt]:
        """The tree of `_joined`, by one work-item."""
        storage = self.unit.storages[accumulator.buffer]
        out: list[C.CStmt] = []
        half = LANES // 2
        while half:
            mine, other = C.Subscript(parts, lane), C.Subscript(parts, C.plus(lane, C.number(half)))
            joined = C.Assign(mine, self._combined(accumulator, storage, mine, other))
            out.append(C.For(lane.text, C.Number("0"), C.number(half), 1, (joined,)))
            half //= 2
        total = C.Name(storage.name)
        first = C.Subscript(parts, C.Number("0"))
        return [*out, C.Assign(total, self._combined(accumulator, storage, total, first))]

    def _partial(self, accumulator: Accumulator, out: list[C.CStmt]) -> C.Name:
        """What one lane accumulates."""
        storage = self.unit.storages[accumulator.buffer]
        zero = neutral(accumulator.op, storage.buffer.type)
        partial = C.Name(self.unit.names.own("partial"))
        out.append(C.Declare(storage.type, partial.text, self.expressions.value(zero)))
        self.unit.storages[accumulator.buffer] = replace(storage, name=partial.text)
        return partial

    def _joined(self, accumulator: Accumulator, partial: C.Name) -> list[C.CStmt]:
        """The partial results of all lanes, by halves: the same tree on every device."""
        storage = self.unit.storages[accumulator.buffer]
        tree = C.Name(self.unit.names.own("tree"))
        self.heads.append(C.Declare(f"K_LOCAL {storage.type}", tree.text, extent=LANES))
        self.local_bytes += LANES * storage.buffer.type.dtype.size
        barrier = C.Evaluate(C.call(BARRIER))
        lane, total = C.Name(LANE), C.Name(storage.name)
        mine = C.Subscript(tree, lane)
        out: list[C.CStmt] = [C.Assign(mine, partial), barrier]
        half = LANES // 2
        while half:
            other = C.Subscript(tree, C.plus(lane, C.number(half)))
            joined = C.Assign(mine, self._combined(accumulator, storage, mine, other))
            out += [C.IfElse(C.Infix("<", lane, C.number(half)), (joined,)), barrier]
            half //= 2
        first = C.Subscript(tree, C.Number("0"))
        return [*out, C.Assign(total, self._combined(accumulator, storage, total, first))]

    def _combined(self, accumulator: Accumulator, storage: Storage, left: C.CExpr, right: C.CExpr) -> C.CExpr:
        op, of = REDUCTIONS[accumulator.op].operation, storage.buffer.type
        assert op is not None  # positions of extremes are two reductions by now
        if of == INT and op in c_ops.CHECKED:
            return c_ops.build_checked(op, (left, right), OVERFLOW, self.unit.used)
        return c_ops.build(op, of.dtype, (left, right), self.unit.used, weak=of.weak)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _stmt(self, stmt: Stmt) -> list[C.CStmt]:
        assert not stmt.domain and stmt.reduce is None, "a lowered statement is one assignment"
        before = self._before(self._reads(stmt.value, *stmt.index), bool(stmt.index))
        target = self.expressions.element(stmt.buffer, stmt.index)
        if stmt.buffer in self.atomic:
            term = self.atomic[stmt.buffer](stmt)
            name = f"k_atomic_add_{self.unit.storages[stmt.buffer].type}"
            return [C.Evaluate(C.call(name, C.Prefix("&", target), self.expressions.value(term)))]
        store = C.Assign(target, self.expressions.value(stmt.value))
        if stmt.index and self._uniform:
            return [*before, C.IfElse(C.Infix("==", C.Name(LANE), C.Number("0")), (store,))]
        return [*before, store]

    def _check(self, check: Check) -> list[C.CStmt]:
        if check.domain:
            raise Refused(f"a test over many elements (line {check.span.line})")
        before = self._before(self._reads(check.condition), False)
        leave: C.CStmt = C.Jump("continue") if self.apart else C.Leave()
        complain = C.Assign(C.Subscript(C.Name(FLAG), C.Number("0")), C.Number("1"))
        failed = C.Prefix("!", self.expressions.value(check.condition))
        return [*before, C.IfElse(failed, (complain, leave))]

    def _counted(self, loop: Loop, path: Path) -> list[C.CStmt]:
        dim = _dense(loop)
        if self.apart and any(isinstance(part, Check) for part in walk(loop.body)):
            raise Refused(f"a test inside the inner loop of line {loop.span.line}")
        out = self._before(self._reads(dim.lo, dim.hi), False)
        self._unknown()
        body = self.block(loop.body, (*path, 0))
        self._unknown()
        variable = self.unit.names.of(dim.var)
        apart = loop.kind is LoopKind.VECTOR and not loop.accumulators and not shared_elements(loop)
        pragmas = VECTORS if apart and not self.unit.barriers else ()
        bounds = self.expressions.bound(dim.lo), self.expressions.bound(dim.hi)
        out.append(C.For(variable, *bounds, dim.step, body, pragmas))
        return out

    def _while(self, node: While, path: Path) -> list[C.CStmt]:
        if self.apart and any(isinstance(part, Check) for part in walk((node,))):
            raise Refused(f"a test inside the while loop of line {node.span.line}")
        self._unknown()
        prelude = self.block(node.prelude, (*path, 0))
        test = [*self._before(self._reads(node.condition), False)]
        stop = C.IfElse(C.Prefix("!", self.expressions.test(node.condition)), (C.Jump("break"),))
        body = self.block(node.body, (*path, 1))
        self._unknown()
        # A number that wrapped might keep the loop going for ever.
        code: list[C.CStmt] = [*prelude, *test, stop, *body]
        if self.unit.notes(tuple(code)):
            code.insert(0, C.IfElse(C.Name(OVERFLOW), (C.Jump("break"),)))
        return [C.Forever(tuple(code))]

    def _if(self, node: If, path: Path) -> list[C.CStmt]:
        before = self._before(self._reads(node.condition), False)
        test = self.expressions.test(node.condition)
        state = self.read, self.written
        then = self.block(node.then, (*path, 0))
        self.read, self.written = state
        orelse = self.block(node.orelse, (*path, 1))
        self._unknown()
        return [*before, C.IfElse(test, then, orelse)]

    def _alloc(self, node: Alloc) -> list[C.CStmt]:
        """A temporary of this work-item or group: in registers if it is small, else its part of a common block."""
        storage = self.unit.storages[node.buffer]
        buffer = storage.buffer
        if not buffer.rank:
            return [C.Assign(C.Name(storage.name), _zero(storage))] if node.zero else []
        count = constant_count(buffer)
        if (not self.together and is_small(buffer)) or node.buffer in self.private:
            assert count is not None
            declared = any(isinstance(head, C.Declare) and head.name == storage.name for head in self.heads)
            if not declared:
                self.heads.append(C.Declare(storage.type, storage.name, extent=max(count, 1)))
        elif self.apart:
            raise Refused(f"{buffer.name} is an array of its own for every element (line {node.span.line})")
        elif node.buffer not in self.scratch:
            self.scratch.append(node.buffer)
        if not node.zero:
            return []
        at = self.unit.names.own("at")
        zero = C.Assign(C.Subscript(C.Name(storage.name), C.Name(at)), _zero(storage))
        if not self._uniform:
            return [C.For(at, C.Number("0"), _elements(storage), 1, (zero,))]
        return [*self._before(False, True), C.For(at, C.Name(LANE), _elements(storage), LANES, (zero,))]


def _all_parallel(loop: Loop) -> bool:
    """A loop that other kernels would be launched for, without lanes inside: here lanes share it."""
    return (
        loop.kind is LoopKind.PARALLEL
        and not loop.accumulators
        and not has_lanes((loop,))
        and not shared_elements(loop)
    )


def _zero(storage: Storage) -> C.CExpr:
    return c_ops.literal(0, storage.buffer.type.dtype, pairs=True)


def _dense(loop: Loop) -> Dim:
    if isinstance(loop.dim, CompressedDim):
        raise Refused(f"a loop over compressed entries that was not lowered (line {loop.span.line})")
    return loop.dim


def _elements(storage: Storage) -> C.CExpr:
    total: C.CExpr = C.Number("1")
    for extent in storage.extents:
        total = C.times(total, extent)
    return total


# --- the kernel around a body ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Staging:
    """What a group does before its statements: local memory, and the code that fills it up to its barrier."""

    statements: tuple[Stmt, ...]
    heads: C.CBlock
    code: C.CBlock
    local_bytes: int


@dataclass(frozen=True)
class Work:
    """Nodes that one kernel runs, each with its place in the program; `grid`: the loops that became its launch."""

    nodes: tuple[tuple[Node, Path], ...]
    mapping: Mapping
    grid: tuple[Dim, ...] = ()
    #: The block whose variables belong to one iteration of the grid.
    inside: Path | None = None
    atomic: Updates = field(default_factory=dict)
    span: Span = NOWHERE
    staging: Staging | None = None
    #: Iterations of the loop may run side by side in vectors.
    vector: bool = False

    @property
    def line(self) -> int:
        """Of the first statement."""
        lines = (part.span.line for node, _ in self.nodes for part in walk((node,)) if isinstance(part, Stmt))
        return next((line for line in lines if line > 0), 0)


def kernel(work: Work, unit: Unit, checked: bool) -> Kernel:
    """The kernel of some nodes; `checked`: something before it may have complained."""
    grouped = work.mapping is Mapping.GROUPS
    together = grouped and unit.barriers
    number: C.CExpr = C.Name(GROUP) if grouped else C.Name(NUMBER) if work.grid else C.Number("0")
    if work.mapping is Mapping.CHUNKS:
        number = C.call("k_item", C.Number("0"))
    body = Body(unit, together, number, atomic=work.atomic)
    body.private = lane_arrays([node for node, _ in work.nodes], unit.program)
    code: list[C.CStmt] = body.declared(work.inside) if work.inside is not None else []
    for node, path in work.nodes:
        code += body.node(node, path)
    place = _place(work, unit, bool(body.scratch))
    if work.staging is not None:
        # Those beyond the end of the loops help to fetch, too.
        ends = [statement for statement in place if isinstance(statement, C.IfElse)]
        place = [*(part for part in place if part not in ends), *work.staging.code, *ends]
        body.heads += work.staging.heads
        body.local_bytes += work.staging.local_bytes
    inner: tuple[C.CStmt, ...] = (*place, *code)
    if work.mapping is Mapping.CHUNKS:
        inner = tuple(_in_chunks(work, inner, unit))
    resident = resident_scalars(inner, unit)
    written = {name for node, _ in work.nodes for part in walk((node,)) for name in buffers_written(part)}
    loads, stores = _scalars(resident, written, work.mapping, unit)
    temporaries = [_own_part(unit.storages[name], number, unit) for name in body.scratch]
    tail: list[C.CStmt] = list(stores)
    if unit.notes(inner):
        loads.insert(0, C.Declare("i64", OVERFLOW, C.Number("0")))
        complain = C.Assign(C.Subscript(C.Name(FLAG), C.Number("0")), C.Number("1"))
        tail.insert(0, C.IfElse(C.Name(OVERFLOW), (complain,)))
    stop = stopped(together or work.staging is not None) if checked else []
    if work.mapping is Mapping.CHUNKS:
        whole = (*body.heads, *stop, *loads, *temporaries, *inner, *tail)
    else:
        whole = (*body.heads, *stop, *loads, *place, *temporaries, *code, *tail)
    text = "".join(f"{line}\n" for line in C.lines(whole, "  "))
    own = work.mapping is Mapping.ITEMS and work.staging is None
    group = group_of(work.grid, unit.directives, work.line) if own else ()
    return Kernel(
        name=unit.names.own(f"kernel{len(unit.kernels)}"),
        mapping=work.mapping,
        lanes=LANES if together else 1,
        grid=work.grid,
        arguments=arguments_of(whole, unit, resident, body.scratch),
        body=text if unit.barriers else maths.renamed(text, OVERFLOW),
        scratch=tuple(body.scratch),
        local_bytes=body.local_bytes,
        work=operations(tuple(node for node, _ in work.nodes), work.grid),
        group=group,
        span=work.span,
    )


def group_of(grid: Sequence[Dim], directives: Directives, line: int) -> tuple[int, ...]:
    """The shape of a group that somebody asks for, innermost dimension first; () if nobody does."""
    sizes = [directives.group(dim.var, line) for dim in reversed(grid)]
    if not any(sizes):
        return ()
    most = TILE[0] * TILE[1]
    if not sizes[0]:
        sizes[0] = max(min(TILE[0], most // math.prod(max(size, 1) for size in sizes)), 1)
    found = [max(size, 1) for size in sizes]
    while math.prod(found) > most:
        widest = max(range(len(found)), key=lambda axis: found[axis])
        found[widest] = -(-found[widest] // 2)
    return tuple(found)


def operations(block: Block, around: Sequence[Dim] = ()) -> Expr:
    """The simple operations of some nodes at all points of the loops around them, free of their variables."""
    middles: dict[str, Expr] = {}
    trips = cost.points(around)
    for dim in around:
        middles[dim.var] = cost.middle(dim, middles)

    def visit(nodes: Block) -> Expr:
        total: Expr = real(0.0)
        for node in nodes:
            own: Expr = real(float(sum(map(cost.expr_cycles, node_exprs(node)))) + 1.0)
            if isinstance(node, Loop) and isinstance(node.dim, Dim):
                count = cost.as_float(cost.outside(cost.extent(node.dim), middles))
                middles[node.dim.var] = cost.middle(node.dim, middles)
                own = cost.plus(own, cost.times(count, visit(node.body)))
            elif isinstance(node, If):
                then, orelse = visit(node.then), visit(node.orelse)
                if choices.is_by_size(node.condition):
                    condition = cost.outside(node.condition, middles)
                    then = Op("select", (condition, then, orelse), FLOAT) if then != orelse else then
                own = cost.plus(own, then)
            elif isinstance(node, While):
                own = cost.plus(own, cost.times(real(float(cost.GUESSED_EXTENT)), visit((*node.prelude, *node.body))))
            total = cost.plus(total, own)
        return total

    return cost.times(trips, visit(block))


def stopped(together: bool) -> list[C.CStmt]:
    """Nothing runs after a complaint.  All lanes of a group must see the same flag."""
    flag = C.Subscript(C.Name(FLAG), C.Number("0"))
    if not together:
        return [C.IfElse(flag, (C.Leave(),))]
    seen = C.Name("k_seen")
    return [
        C.Declare("K_LOCAL i32", seen.text),
        C.IfElse(C.Infix("==", C.Name(LANE), C.Number("0")), (C.Assign(seen, flag),)),
        C.Evaluate(C.call(BARRIER)),
        C.IfElse(seen, (C.Leave(),)),
    ]


def _place(work: Work, unit: Unit, numbered: bool) -> list[C.CStmt]:
    """Which iteration this work-item or group is."""
    out: list[C.CStmt] = []
    expressions = unit.expressions
    count: C.CExpr = C.Number("0")
    if work.mapping is Mapping.CHUNKS:
        return _unfolded(work, unit)
    for axis, dim in enumerate(work.grid):
        position: C.CExpr = C.Name(GROUP)
        if work.mapping is Mapping.ITEMS:
            position = C.call("k_item", C.number(len(work.grid) - 1 - axis))
        start = C.plus(expressions.bound(dim.lo), C.times(position, C.number(dim.step)))
        variable, bound = unit.names.of(dim.var), expressions.bound(dim.hi)
        out.append(C.Declare("const i64", variable, start))
        if work.mapping is Mapping.ITEMS:
            inside = C.Infix("<" if dim.step > 0 else ">", C.Name(variable), bound)
            out.append(C.IfElse(C.Prefix("!", inside), (C.Leave(),)))
            trips = expressions.bound(cost.extent(dim))
            count = C.plus(C.times(count, trips), position)
    if numbered and work.mapping is Mapping.ITEMS:
        out.append(C.Declare("const i64", NUMBER, count))
    return out


def _unfolded(work: Work, unit: Unit) -> list[C.CStmt]:
    """The variables of a rectangle of loops from the number of an iteration, the innermost first."""
    out: list[C.CStmt] = []
    rest: C.CExpr = C.Name(AT)
    for dim in reversed(work.grid):
        position = rest
        if dim is not work.grid[0]:
            trips = unit.expressions.bound(cost.extent(dim))
            position, outer = C.Infix("%", rest, trips), C.Name(unit.names.own("rest"))
            out.append(C.Declare("const i64", outer.text, C.Infix("/", rest, trips)))
            rest = outer
        start = C.plus(unit.expressions.bound(dim.lo), C.times(position, C.number(dim.step)))
        out.append(C.Declare("const i64", unit.names.of(dim.var), start))
    return out


def _in_chunks(work: Work, body: C.CBlock, unit: Unit) -> list[C.CStmt]:
    """for all iterations of the work-item's own: ..."""
    item, chunk = C.call("k_item", C.Number("0")), C.Name(CHUNK)
    trips: C.CExpr = C.Number("1")
    for dim in work.grid:
        trips = C.times(trips, unit.expressions.bound(cost.extent(dim)))
    first, past = C.Name(unit.names.own("first")), C.Name(unit.names.own("past"))
    end = C.plus(first, chunk)
    return [
        C.Declare("const i64", first.text, C.times(item, chunk)),
        C.Declare("const i64", past.text, C.Ternary(C.Infix("<", end, trips), end, trips)),
        C.For(AT, first, past, 1, body, VECTORS if work.vector else ()),
    ]


def resident_scalars(code: C.CBlock, unit: Unit) -> list[Buffer]:
    """The scalars in device memory that some code uses and does not declare."""
    table = {unit.names.of(buffer.name): buffer for buffer in unit.program.buffers}
    outer = [table[name] for name in C.free_names(code) if name in table and not table[name].rank]
    return [buffer for buffer in outer if buffer.name not in unit.host and buffer.role is not Role.PARAM]


def loaded_scalars(resident: list[Buffer], unit: Unit) -> list[C.CStmt]:
    """Their values, read when the kernel begins."""
    return _scalars(resident, set(), Mapping.ITEMS, unit)[0]


def _scalars(
    resident: list[Buffer], written: set[str], mapping: Mapping, unit: Unit
) -> tuple[list[C.CStmt], list[C.CStmt]]:
    """Scalars that live in device memory: read when the kernel begins, written back when it ends."""
    loads: list[C.CStmt] = []
    stores: list[C.CStmt] = []
    for buffer in resident:
        storage = unit.storages[buffer.name]
        cell = C.Subscript(C.Name(_cell(storage)), C.Number("0"))
        loads.append(C.Declare(storage.type, storage.name, cell))
        if buffer.name not in written:
            continue
        if mapping is Mapping.ITEMS:
            raise Refused(f"{buffer.name} is one variable of many work-items")
        store: C.CStmt = C.Assign(cell, C.Name(storage.name))
        if mapping is Mapping.GROUPS and unit.barriers:
            store = C.IfElse(C.Infix("==", C.Name(LANE), C.Number("0")), (store,))
        stores.append(store)
    return loads, stores


def _cell(storage: Storage) -> str:
    return f"k_of_{storage.name}"


def _own_part(storage: Storage, number: C.CExpr, unit: Unit) -> C.CStmt:
    """The temporary of one work-item or group in the block of all."""
    start = C.plus(C.Name(_cell(storage)), C.times(number, _elements(storage)))
    return C.Declare(f"K_MEMORY {storage.type} *", storage.name, start)


def arguments_of(
    whole: C.CBlock, unit: Unit, resident: Sequence[Buffer] = (), scratch: Sequence[str] = ()
) -> tuple[Argument, ...]:
    """What a kernel needs of its launch: whatever it uses and does not declare."""
    table = {unit.names.of(buffer.name): buffer for buffer in unit.program.buffers}
    cells = {_cell(unit.storages[buffer.name]): buffer for buffer in resident}
    blocks = {_cell(unit.storages[name]): table[unit.storages[name].name] for name in scratch}
    numbers = {c_name: name for name, c_name in unit.names.given.items()}
    own = {LANE, GROUP}
    found: list[Argument] = []
    for name in C.free_names(whole):
        if name in own:
            continue
        if name == FLAG:
            found.append(Argument(Source.FLAG, "", name, "i32"))
        elif name == CHUNK:
            found.append(Argument(Source.CHUNK, "", name, "i64"))
        elif name in cells or name in blocks:
            source = Source.MEMORY if name in cells else Source.SCRATCH
            buffer = cells[name] if name in cells else blocks[name]
            found.append(Argument(source, buffer.name, name, C_TYPE[buffer.type.dtype]))
        elif name in unit.noted:
            buffer_name, axis = unit.noted[name]
            found.append(Argument(Source.EXTENT, buffer_name, name, "i64", axis))
        elif name in table:
            buffer = table[name]
            source = Source.MEMORY if buffer.rank else Source.NUMBER
            found.append(Argument(source, buffer.name, name, C_TYPE[buffer.type.dtype]))
        else:
            found.append(Argument(Source.NUMBER, numbers[name], name, "i64"))
    return tuple(found)
