"""A call, step by step.  In: a plan, kernels and the arguments of a call; out: its result, as arrays that an engine
holds in blocks.

The driver never waits: it hands tasks to the engine in the order of the program, and what a task needs it names by the
handles of earlier results.  It knows nothing of Ray; `Engine` is what it asks for, and `InProcess` is the simplest one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from weft.analysis.cost import evaluate
from weft.cluster import work
from weft.cluster.costs import block_sizes, is_few, trivial_stages
from weft.cluster.following import Following
from weft.cluster.kernels import HandedBack, Kernel
from weft.cluster.plan import (
    Fresh,
    Plan,
    Refused,
    Slice,
    Stage,
    Step,
    Swap,
    Whole,
    inner_steps,
    may_raise,
    stages_of,
)
from weft.cluster.spread import Objects, Piece, Spread, ranges, take
from weft.cluster.steps import Rows
from weft.cluster.sweeps import FIRST, PAST, Sweep, sweep_program
from weft.cluster.tiles import TileProgram, tile_program, whole_program
from weft.cluster.work import Failure, Give, Take, Task, Window
from weft.ir import interp, results
from weft.ir.expr import Dim, Expr
from weft.ir.program import ArrayOut, Out, Role, ScalarOut, TupleOut, ViewOut
from weft.runtime import threads

#: How many results are combined by one task.
_FAN_IN = 16


class Engine(Protocol):
    """Who runs tasks.  Handles are opaque; `submit` returns at once."""

    def put(self, value: Any) -> Any: ...

    def submit(self, task: Task, kernel: Kernel, objects: Sequence[Any], size: float) -> list[Any]: ...

    def call(self, name: str, function: Callable[..., Any], first: Any, objects: Sequence[Any], size: float) -> Any: ...

    def get(self, handles: Sequence[Any]) -> list[Any]: ...


class InProcess:
    """Tasks run here, one after the other; a handle is the value itself."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def put(self, value: Any) -> Any:
        return value

    def submit(self, task: Task, kernel: Kernel, objects: Sequence[Any], size: float) -> list[Any]:
        self.tasks.append(task)
        return work.run(task, kernel, objects)

    def call(self, name: str, function: Callable[..., Any], first: Any, objects: Sequence[Any], size: float) -> Any:
        return function(first, objects)

    def get(self, handles: Sequence[Any]) -> list[Any]:
        return list(handles)


class _Handle:
    """A number that is still an object of the engine's."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle


class Programs:
    """The tile programs of a plan and their kernels, each made once."""

    def __init__(self, plan: Plan, compiled: Callable[[TileProgram], Kernel]) -> None:
        self.plan = plan
        self.compiled = compiled
        self._tiles: dict[str, TileProgram] = {}
        self._kernels: dict[str, Kernel] = {}

    def tile(self, step: Stage | Whole) -> TileProgram:
        found = self._tiles.get(step.name)
        if found is None:
            if isinstance(step, Sweep):
                found = sweep_program(self.plan, step)
            else:
                found = tile_program(self.plan, step) if isinstance(step, Stage) else whole_program(self.plan, step)
            self._tiles[step.name] = found
        return found

    def kernel(self, step: Stage | Whole) -> Kernel:
        found = self._kernels.get(step.name)
        if found is None:
            found = self._kernels[step.name] = self.compiled(self.tile(step))
        return found


class Run(Following):
    """One call of a planned function."""

    def __init__(
        self,
        programs: Programs,
        engine: Engine,
        numbers: Mapping[str, int],
        scalars: Mapping[str, Any],
        arrays: Mapping[str, Spread],
        rows: int = 0,
        cores: int = 1,
    ) -> None:
        self.programs = programs
        self.plan = programs.plan
        self.engine = engine
        self.numbers: dict[str, int] = dict(numbers)
        self.scalars: dict[str, Any] = dict(scalars)
        self.arrays: dict[str, Spread] = dict(arrays)
        self.threads = cores
        self.checked: list[Any] = []  # handles to look at before the call returns: their tasks may raise
        self.changed: set[str] = set()
        self._raising: dict[str, bool] = {}
        extents = {stage.name: self.number(stage.extent) for stage in stages_of(self.plan.steps)}
        self.blocks = block_sizes(self.plan, self.numbers, extents, rows)
        self.alone = frozenset() if rows else trivial_stages(self.plan, self.numbers)
        self.edges = self.ends()
        self.pointers: dict[str, Any] = {}
        self.counted: dict[tuple[str, int, int], Any] = {}  # parts of row pointers, counted from their first row on
        for stage in stages_of(self.plan.steps):
            for behind in stage.rows:
                self.cut_rows(stage, behind)

    def made(self, step: Fresh, shape: tuple[int, ...]) -> Spread:
        return Spread(shape, self.plan.program.table[step.buffer].type.dtype.numpy, zero=step.zero)

    def block(self, stage: Stage) -> int:
        """How many elements along its axis a tile of a stage has."""
        extent = self.number(stage.extent)
        return max(extent, 1) if stage.name in self.alone else self.blocks[extent]

    def planned(self, step: Stage) -> None:
        """A sweep a few iterations at a time."""
        if not isinstance(step, Sweep):
            self.stage(step)
            return
        first, past = self.number(step.dim.lo), self.number(step.dim.hi)
        depth = step.depth(self.block(step))
        wide = step.widened(depth)
        for start in range(first, past, depth):
            self.numbers[FIRST], self.numbers[PAST] = start, min(start + depth, past)
            self.stage(wide)

    def ends(self) -> dict[str, tuple[int, int]]:
        """How many elements at the ends of a block its neighbours read: at its low end, at its high end."""
        swapped = _swapped(self.plan)
        found: dict[str, tuple[int, int]] = {}
        for stage in stages_of(self.plan.steps):
            if isinstance(stage, Sweep):
                stage = stage.widened(stage.depth(self.block(stage)))
            for piece in stage.reads:
                if piece.axis is not None and (piece.below or piece.above):
                    for name in swapped if piece.buffer in swapped else {piece.buffer}:
                        low, high = found.get(name, (0, 0))
                        found[name] = (max(low, piece.above), max(high, -piece.below))
        return found

    # --- stages ---

    def stage(self, stage: Stage) -> None:
        """Hand out a task for each tile."""
        extent = self.number(stage.extent)
        lo, hi = 0, extent
        if not isinstance(stage, Sweep):
            lo = min(self.number(part.lo) for part in stage.parts)
            hi = max(self.number(part.hi) for part in stage.parts)
        tile, kernel = self.programs.tile(stage), self.programs.kernel(stage)
        blocks = ranges(extent, self.block(stage))
        for written in stage.writes:
            self.ready(written.buffer, written.axis, blocks)
        pointers = {rows.pointer for rows in stage.rows}
        for piece in stage.reads:
            if piece.buffer not in pointers:
                self.ready(piece.buffer, piece.axis, blocks)
        made: dict[str, list[Piece]] = {written.buffer: [] for written in stage.writes}
        shares: dict[str, list[Any]] = {partial.buffer: [] for partial in stage.partials}
        old = {name: self.arrays[name] for name in made}
        for first, past in blocks:
            start, end = max(lo, first), min(hi, past)
            if start >= end:
                start = end = first
                kept = [_kept(old[name], first, past) for name in made]
                if all(same is not None for same in kept) and (not shares or first > 0):
                    for name, same in zip(made, kept):
                        made[name].append(same)  # type: ignore[arg-type]
                    continue
            self.tile(stage, tile, kernel, (first, past), (start, end), made, shares)
        for written in stage.writes:
            before = self.arrays[written.buffer]
            new = Spread(before.shape, before.dtype, written.axis, tuple(made[written.buffer]))
            self.arrays[written.buffer] = new
            self.changed.add(written.buffer)
        for partial in stage.partials:
            self.combined(partial.buffer, partial.op, shares[partial.buffer])

    def tile(
        self,
        stage: Stage,
        tile: TileProgram,
        kernel: Kernel,
        block: tuple[int, int],
        span: tuple[int, int],
        made: dict[str, list[Piece]],
        shares: dict[str, list[Any]],
    ) -> None:
        objects = Objects()
        boxes = {written.buffer: written for written in stage.writes}
        arguments: list[Any] = []
        outputs: list[tuple[str, Give | Window]] = []
        size = 0.0
        for parameter in tile.parameters:
            name = parameter.name
            if parameter.kind == "output":
                give = self.give(boxes[name].axis, name, block, span, boxes[name].box, objects)
                outputs.append((name, give))
                arguments.append(give)
                size += np.prod(give.shape) * np.dtype(give.dtype).itemsize
            elif parameter.kind == "share":
                shape, dtype = self.arrays[name].shape, np.dtype(self.arrays[name].dtype)
                outputs.append((name, Give(shape, dtype.str, None, 0)))
                arguments.append(outputs[-1][1])
                size += np.prod(shape) * dtype.itemsize
            elif parameter.kind in ("input", "window"):
                piece = next(piece for piece in stage.reads if piece.buffer == name)
                taken = self.row_slice(stage, piece, span, objects)
                arguments.append(taken if parameter.kind == "input" else Window(taken, *self.edges.get(name, (0, 0))))
                if parameter.kind == "window":
                    outputs.append((name, arguments[-1]))
                    size += self.arrays[name].nbytes * (block[1] - block[0]) / max(self.number(stage.extent), 1)
            else:
                arguments.append(self.simple(parameter.kind, name, objects))
        inputs = {p.name: at for at, p in enumerate(tile.parameters) if p.kind in ("input", "window")}
        starts = [("start", inputs[p.name]) if p.kind == "start" else None for p in tile.parameters]
        filled = tuple(argument if start is None else start for argument, start in zip(arguments, starts))
        whole = isinstance(stage, Sweep) or bool(stage.rows)
        task = Task(stage.name, span[0], span[1], filled, self.threads, self.raising(stage), whole)
        results = self.engine.submit(task, kernel, objects.handles, float(size))
        if task.checked:
            self.checked.append(results.pop())
        self.keep(outputs, results, made, shares, block)
        for name, handle in zip(tile.returned, results[len(results) - len(tile.returned) :]):
            shares[name].append(handle)

    def keep(
        self,
        outputs: Sequence[tuple[str, Give | Window]],
        results: list[Any],
        made: dict[str, list[Piece]],
        shares: dict[str, list[Any]],
        block: tuple[int, int],
    ) -> None:
        """The results of a task, where they belong."""
        left = list(results)
        for name, give in outputs:
            handle = left.pop(0)
            low = (give.low, left.pop(0)) if give.low else None
            high = (give.high, left.pop(0)) if give.high else None
            if isinstance(give, Give) and give.axis is None:
                shares[name].append(handle)
            else:
                made[name].append(Piece(handle, *block, low, high))

    def simple(self, kind: str, name: str, objects: Objects) -> Any:
        """The argument for a number."""
        if kind in ("lo", "hi"):
            return (kind, 0)
        if kind == "number":
            return self.numbers[name]
        if kind == "start":
            return None
        value = self.scalars[name]
        return ("object", objects.number(value.handle)) if isinstance(value, _Handle) else value

    def give(
        self,
        axis: int,
        name: str,
        block: tuple[int, int],
        span: tuple[int, int],
        box: tuple[tuple[Expr, Expr], ...] | None,
        objects: Objects,
    ) -> Give:
        """The block that a tile makes of an array."""
        spread = self.arrays[name]
        shape = tuple(block[1] - block[0] if at == axis else extent for at, extent in enumerate(spread.shape))
        low, high = self.edges.get(name, (0, 0))
        inside: tuple[tuple[int, int], ...] | None = None
        if box is not None:
            inside = tuple((self.number(first), self.number(past)) for first, past in box)
            along = (max(inside[axis][0], span[0]) - block[0], min(inside[axis][1], span[1]) - block[0])
            inside = tuple(along if at == axis else ends for at, ends in enumerate(inside))
            if any(first >= past for first, past in inside):
                inside = None
        full = inside is not None and all(ends == (0, extent) for ends, extent in zip(inside, shape))
        old = None if full or spread.fresh else take(spread, axis, *block, objects, 0, 0, False)
        dtype = np.dtype(spread.dtype).str
        return Give(shape, dtype, axis, block[0], old, spread.zero and spread.fresh, inside, low, high)

    def slice(self, piece: Slice, span: tuple[int, int], objects: Objects) -> Take:
        spread = self.arrays[piece.buffer]
        if piece.axis is None:
            return Take(None, (work.Held(objects.number(self.whole_of(spread)), 0, 0, 0),))
        first, past = piece.range(*span, spread.shape[piece.axis]) if span[0] < span[1] else (0, 0)
        return take(spread, piece.axis, first, past, objects, piece.below, piece.above, piece.clipped)

    # --- rows of sparse arrays ---

    def cut_rows(self, stage: Stage, rows: Rows) -> None:
        """The arrays behind a row pointer go to the engine in blocks of whole rows, those of the stage's tiles."""
        pointer = self.pointers.get(rows.pointer)
        if pointer is None:
            spread = self.arrays[rows.pointer]
            held = spread.source if spread.source is not None else self.engine.get([self.whole_of(spread)])[0]
            pointer = self.pointers[rows.pointer] = np.asarray(held)
            size = min(self.arrays[name].shape[0] for name in rows.arrays)
            if not pointer.size or pointer[0] < 0 or pointer[-1] > size or (pointer[1:] < pointer[:-1]).any():
                raise HandedBack(f"{rows.pointer} is no row pointer")  # Python says what is wrong with it
        for name in rows.arrays:
            spread = self.arrays[name]
            if spread.source is None:
                continue
            along = next(piece for piece in stage.reads if piece.buffer == rows.pointer)
            blocks = ranges(self.number(stage.extent), self.block(stage))
            places = [min(max(first + along.below, 0), len(pointer) - 1) for first, _ in blocks]
            ends = sorted({0, spread.shape[0], *(int(pointer[place]) for place in places)})
            array, spread.source, spread.axis = spread.source, None, 0
            spread.pieces = tuple(
                Piece(self.engine.put(np.ascontiguousarray(array[first:past])), first, past)
                for first, past in (itertools.pairwise(ends) if len(ends) > 1 else [(0, 0)])
            )

    def row_slice(self, stage: Stage, piece: Slice, span: tuple[int, int], objects: Objects) -> Take:
        """What a tile takes of an array: of a row pointer and what is behind it, that of its own rows."""
        rows = next((r for r in stage.rows if piece.buffer == r.pointer or piece.buffer in r.arrays), None)
        if rows is None:
            return self.slice(piece, span, objects)
        pointer = self.pointers[rows.pointer]
        along = next(other for other in stage.reads if other.buffer == rows.pointer)
        first, past = span[0] + along.below, span[1] + along.above
        if not 0 <= first < past <= len(pointer):
            raise HandedBack(f"{rows.pointer} is too short")
        low, high = int(pointer[first]), int(pointer[past - 1])
        if piece.buffer == rows.pointer:
            key = (piece.buffer, first, past)
            if key not in self.counted:
                self.counted[key] = self.engine.put(pointer[first:past] - pointer[first])
            return Take(None, (work.Held(objects.number(self.counted[key]), 0, 0, 0),))
        return take(self.arrays[piece.buffer], 0, low, high, objects, low - span[0], high - span[1], False)

    def raising(self, step: Stage | Whole) -> bool:
        known = self._raising.get(step.name)
        if known is None:
            known = self._raising[step.name] = may_raise(step.nodes)
        return known

    # --- arrays ---

    def ready(self, name: str, axis: int | None, blocks: list[tuple[int, int]]) -> None:
        """An array where tasks can find it, along the axis that they ask for or in one piece."""
        spread = self.arrays[name]
        if spread.source is not None:
            self.place(spread, axis, name, blocks)
        elif spread.pieces and axis is not None and spread.axis not in (None, axis):
            self.arrays[name] = Spread(spread.shape, spread.dtype, None, (Piece(self.whole_of(spread), 0, 0),))

    def place(self, spread: Spread, axis: int | None, name: str, blocks: list[tuple[int, int]]) -> None:
        """An array of the caller's goes to the engine, once: in the blocks of the stage that asks first."""
        assert spread.source is not None
        array, spread.source = spread.source, None
        if axis is None:
            spread.axis, spread.pieces = None, (Piece(self.engine.put(np.ascontiguousarray(array)), 0, 0),)
            return
        low, high = self.edges.get(name, (0, 0))
        size = array.shape[axis]
        if blocks[-1][1] != size:
            blocks = ranges(size, self.blocks.get(size, blocks[0][1] - blocks[0][0] or 1))
        pieces = []
        for first, past in blocks:
            part = work._along(array, axis, first, past)
            ends = [
                (width, self.engine.put(np.ascontiguousarray(work._along(part, axis, *edge)))) if width else None
                for width, edge in ((low, (0, low)), (high, (max(past - first - high, 0), past - first)))
            ]
            pieces.append(Piece(self.engine.put(np.ascontiguousarray(part)), first, past, ends[0], ends[1]))
        spread.axis, spread.pieces = axis, tuple(pieces)

    def whole_of(self, spread: Spread) -> Any:
        """The handle of an array in one piece."""
        if spread.fresh:
            make = np.zeros if spread.zero else np.empty
            return self.engine.put(make(spread.shape, spread.dtype))
        if spread.source is not None:
            self.place(spread, None, "", [])
        if spread.axis is None or len(spread.pieces) == 1:
            return spread.pieces[0].handle
        if spread.joined is None:
            handles = [piece.handle for piece in spread.pieces]
            spread.joined = self.engine.call("join", work.join, spread.axis, handles, spread.nbytes)
        return spread.joined

    def combined(self, name: str, op: str, shares: list[Any]) -> None:
        """The shares of all tiles as one, in a tree of fixed form."""
        array = self.arrays.get(name) if self.plan.program.table[name].rank else None
        size = float(array.nbytes) if array is not None else 8.0
        while len(shares) > 1:
            groups = [shares[at : at + _FAN_IN] for at in range(0, len(shares), _FAN_IN)]
            shares = [self.engine.call("combine", work.combine, op, group, size) for group in groups]
        if array is None:
            self.scalars[name] = _Handle(shares[0])
        else:
            self.arrays[name] = Spread(array.shape, array.dtype, None, (Piece(shares[0], 0, 0),))
            self.changed.add(name)

    # --- at one place ---

    def whole(self, step: Whole) -> None:
        tile = self.programs.tile(step)
        arrays = [p for p in tile.parameters if p.kind in ("input", "output")]
        values = [self.scalars[p.name] for p in tile.parameters if p.kind == "scalar"]
        if not arrays and not any(isinstance(value, _Handle) for value in values):
            self.here(step, tile)
            return
        objects = Objects()
        arguments: list[Any] = []
        outputs: list[str] = []
        size = 0.0
        for parameter in tile.parameters:
            if parameter.kind not in ("input", "output"):
                arguments.append(self.simple(parameter.kind, parameter.name, objects))
                continue
            spread = self.arrays[parameter.name]
            held: Take | None = None
            if not spread.fresh or parameter.kind == "input":
                held = Take(None, (work.Held(objects.number(self.whole_of(spread)), 0, 0, 0),))
            if parameter.kind == "input":
                arguments.append(held)
                continue
            dtype = np.dtype(spread.dtype).str
            arguments.append(Give(spread.shape, dtype, None, 0, held, spread.zero and spread.fresh))
            outputs.append(parameter.name)
            size += spread.nbytes
        task = Task(step.name, 0, 0, tuple(arguments), self.threads, self.raising(step), uncut=True)
        results = self.engine.submit(task, self.programs.kernel(step), objects.handles, size)
        if task.checked:
            self.checked.append(results.pop())
        for name, handle in zip(outputs, results):
            before = self.arrays[name]
            self.arrays[name] = Spread(before.shape, before.dtype, None, (Piece(handle, 0, 0),))
            self.changed.add(name)
        for name, handle in zip(tile.returned, results[len(outputs) :]):
            self.scalars[name] = _Handle(handle)

    def here(self, step: Whole, tile: TileProgram) -> None:
        """Numbers that follow from numbers, all of them known: no task is worth it."""
        given = [self.numbers[p.name] if p.kind == "number" else self.scalars[p.name] for p in tile.parameters]
        values: Any
        if is_few(step.nodes, self.numbers):
            values = interp.run(tile.program, dict(zip(tile.program.params, given)))
        else:
            task = Task(step.name, 0, 0, tuple(given), threads.get_num_threads(), uncut=True)
            values = work.run(task, self.programs.kernel(step), ())
            if values and isinstance(values[0], Failure):
                work.throw(values[0])
        for name, value in zip(tile.returned, values or ()):
            self.scalars[name] = value

    # --- the end ---

    def finish(self) -> None:
        """Wait for what may have raised, and raise it: the first in the order of the program."""
        for value in self.engine.get(self.checked):
            if isinstance(value, Failure):
                work.throw(value)

    def result(self, out: Out, lazy: Callable[[Spread], Any], given: Mapping[str, Any]) -> Any:
        """What the caller gets: an array that is there twice is one object."""
        known: dict[str, Any] = {}

        def leaf(out: Out) -> Any:
            if isinstance(out, ScalarOut):
                return self.scalar(out.buffer)
            assert isinstance(out, (ArrayOut, ViewOut))  # no plan is made for objects
            param = self.plan.program.table[out.buffer].role is Role.PARAM
            if out.buffer not in known:
                known[out.buffer] = given[out.buffer] if param else lazy(self.arrays[out.buffer])
                if isinstance(out, ArrayOut) and out.as_list:
                    known[out.buffer] = np.asarray(known[out.buffer]).tolist()  # of Python's numbers: `lists`
            whole = known[out.buffer]
            if isinstance(out, ArrayOut):
                return whole
            return results.view(np.asarray(whole), out, lambda e, at: int(evaluate(e, {**self.numbers, **at}) or 0))

        return results.assembled(out, leaf)

    def scalar(self, name: str) -> Any:
        value = self.scalars[name]
        if isinstance(value, _Handle):
            value = self.engine.get([value.handle])[0]
            if isinstance(value, Failure):
                work.throw(value)
            self.scalars[name] = value
        return value


def _kept(spread: Spread, first: int, past: int) -> Piece | None:
    """The piece of an array that is exactly this block."""
    return next((piece for piece in spread.pieces if (piece.first, piece.past) == (first, past)), None)


def _swapped(plan: Plan) -> set[str]:
    """Arrays that change places with others."""
    swapped: set[str] = set()

    def look(steps: tuple[Step, ...]) -> None:
        for step in steps:
            for block in inner_steps(step):
                look(block)
            if isinstance(step, Swap):
                swapped.update(step.targets)

    look(plan.steps)
    return swapped


def can_return(out: Out, lists: bool = False) -> str | None:
    """Why a result cannot be given in blocks; None if it can."""
    if isinstance(out, TupleOut):
        return next((why for why in (can_return(item, lists) for item in out.items) if why), None)
    if isinstance(out, ArrayOut) and out.as_list and not lists:
        return "it returns a list"
    dense = not isinstance(out, ViewOut) or all(isinstance(dim, Dim) for dim in out.dims)
    return None if dense else "it returns a view of what is compressed"


def check(plan: Plan, lists: bool = False) -> None:
    """Refuse what the driver cannot give back; `lists`: it makes lists of arrays."""
    for out in plan.program.results:
        why = can_return(out, lists)
        if why is not None:
            raise Refused(why)
