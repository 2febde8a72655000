"""A call on all ranks.  In: a plan, kernels, and the arguments of a call as distributed arrays; out: its results, and
the arrays as they are afterwards.

Every rank follows the whole plan and computes its own tiles.  Before a stage the messages that it needs are started,
tiles that need none of them run, then the others.  Arrays stay where they were written until something needs them
elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from weft.analysis.cost import evaluate
from weft.cluster import kernels, mpi_memory, mpi_world
from weft.cluster.costs import is_few, stage_cost
from weft.cluster.driver import Programs
from weft.cluster.following import Following
from weft.cluster.mpi_array import Array, DistributedArray, bring
from weft.cluster.mpi_boxes import slices, whole
from weft.cluster.mpi_grid import ACROSS, Grid, GridPrograms, best_grid, cost, loop_grid, on_grid
from weft.cluster.mpi_holdings import Holdings, Message, nothing, replicated
from weft.cluster.mpi_stages import (
    Numbers,
    Tile,
    Work,
    along,
    hull,
    joined,
    may_join,
    numbers_of,
    prepare,
    reads_beyond,
)
from weft.cluster.mpi_sweeps import depth_of, prepare_sweep, rows_of
from weft.cluster.plan import Fresh, Repeat, Stage, Whole, may_raise
from weft.cluster.sweeps import FIRST, PAST, Sweep
from weft.cluster.tiles import Parameter, TileProgram
from weft.cluster.work import COMBINE, Failure, combine, failure_of, throw
from weft.errors import located
from weft.ir import interp, results
from weft.ir.expr import Expr
from weft.ir.program import ArrayOut, ConstOut, NoneOut, Out, Role, ScalarOut, TupleOut, ViewOut
from weft.records import dataclass

#: Of an array: the position of the first element along the axis that is cut, and the elements.
Copies = dict[str, tuple[int, Array]]


@dataclass(frozen=True)
class Share:
    """The work of a stage, and this rank's tiles: those that wait for no message, and the others."""

    work: Work
    early: tuple[Tile, ...]
    late: tuple[Tile, ...]


class Prepared:
    """What is worked out once for a version and used by all its calls: kernels, and the work of stages by what is held.

    In a loop over time the same stage finds the same holdings again, so that nothing but a look-up is left of it.
    """

    def __init__(self, programs: Programs) -> None:
        self.programs = GridPrograms(programs.plan, programs.compiled)
        self.functions: dict[str, Callable[..., Any]] = {}
        self.joins: dict[str, bool] = {}
        self.beyond: dict[str, dict[str, bool]] = {}
        self.raising: dict[str, bool] = {}
        self._work: dict[Any, tuple[Share, tuple[Holdings, ...]]] = {}
        self._known: dict[Holdings, Holdings] = {}
        self._sweeps: dict[Any, tuple[Work, tuple[Holdings, ...]]] = {}
        self.grids: dict[Any, tuple[Numbers, tuple[Holdings, ...]]] = {}
        self.loops: dict[Any, tuple[tuple[int, int] | None, tuple[Holdings, ...]]] = {}

    def function(self, step: Stage | Whole) -> Callable[..., Any]:
        """The kernel of a step, made by one rank, compiled by one of each machine, and loaded by all."""
        found = self.functions.get(step.name)
        if found is None:
            kernel = mpi_world.by_one(lambda: self.programs.kernel(step))
            found = self.functions[step.name] = mpi_world.one_first(lambda: kernels.load(kernel))
            if isinstance(step, Stage):
                self.joins[step.name] = may_join(step)
                self.beyond[step.name] = reads_beyond(step)
            self.raising[step.name] = may_raise(step.nodes)
        return found

    def work(self, stage: Stage, numbers: Numbers, held: Mapping[str, Holdings]) -> Share:
        """What all ranks do in a stage, and of that the tiles of this one."""
        states = tuple(held.values())
        key = (stage.name, numbers, tuple(map(id, states)))
        known = self._work.get(key)
        if known is None:
            if len(self._work) > 1000:
                self._work.clear()
                self._known.clear()
            world = mpi_world.world()
            work = prepare(stage, numbers, held, world.size)
            # Equal holdings become one object, so that the next iteration finds them by their identity; they are kept
            # alive beside the work, so that no other object takes it.
            after = tuple((name, self._known.setdefault(new, new)) for name, new in work.after)
            known = self._work[key] = (self._share(stage, replace(work, after=after), world.rank), states)
        return known[0]

    def sweep(self, sweep: Sweep, rows: int, number: Callable[[Expr], int], held: Mapping[str, Holdings]) -> Work:
        """What all ranks do in a few iterations of a sweep."""
        states = tuple(held.values())
        extent = number(sweep.extent)
        key = (sweep.name, sweep.reads, extent, rows, tuple(map(id, states)))
        known = self._sweeps.get(key)
        if known is None:
            if len(self._sweeps) > 1000:
                self._sweeps.clear()
            work = prepare_sweep(sweep, rows_of(extent, rows, mpi_world.world().size), number, held)
            after = tuple((name, self._known.setdefault(new, new)) for name, new in work.after)
            known = self._sweeps[key] = (replace(work, after=after), states)
        return known[0]

    def loop(self, sweep: Sweep, depth: int, iterations: int, run: Run) -> tuple[int, int] | None:
        """The grid on which the iterations of a loop are done one by one; None if several at once cost less."""
        names = {piece.buffer for piece in sweep.reads} | {write.buffer for write in sweep.writes}
        held = {name: run.arrays[name].holdings for name in sorted(names)}
        key = (sweep.name, depth, iterations, run.number(sweep.extent), tuple(map(id, held.values())))
        known = self.loops.get(key)
        if known is None:
            ranks, sizes = run.world.size, {name: run.arrays[name].dtype.itemsize for name in names}
            seconds = stage_cost(run.plan, sweep, run.numbers).seconds
            few = min(depth, iterations)
            tiles = rows_of(run.number(sweep.extent), run.rows, ranks)
            works = [prepare_sweep(sweep.widened(few), tiles, run.number, held)]
            works.append(prepare_sweep(sweep.widened(few), tiles, run.number, {**held, **dict(works[0].after)}))
            first, further = (cost(work, sizes, ranks, few * seconds) for work in works)
            several = first + (iterations / few - 1) * further

            def numbers(stage: Stage) -> Numbers:
                return numbers_of(stage, run.number, run.rows)

            found = loop_grid(sweep, numbers, held, sizes, ranks, seconds, iterations, several)
            grid = None if found is None or several <= found[0] else found[1]
            known = self.loops[key] = (grid, tuple(held.values()))
        return known[0]

    def _share(self, stage: Stage, work: Work, rank: int) -> Share:
        mine = work.of(rank)
        arriving = {name for name, _ in work.messages}
        written = {write.buffer for write in stage.writes}
        # Memory that a message reads or fills is not written meanwhile; exceptions come in the order of the tiles.
        waits = bool(arriving & written) or self.raising[stage.name] or any(self.beyond[stage.name].values())
        early = [] if waits else [tile for tile in mine if tile.number not in work.waiting]
        late = [tile for tile in mine if waits or tile.number in work.waiting]
        if self.joins[stage.name]:
            early, late = joined(early), joined(late)
        return Share(work, tuple(early), tuple(late))


class Run(Following):
    """One call of a planned function on all ranks."""

    def __init__(
        self,
        prepared: Prepared,
        numbers: Mapping[str, int],
        scalars: Mapping[str, Any],
        arrays: Mapping[str, DistributedArray],
        rows: int = 0,
    ) -> None:
        self.prepared = prepared
        self.plan = prepared.programs.plan
        self.world = mpi_world.world()
        self.numbers: dict[str, int] = dict(numbers)
        self.scalars: dict[str, Any] = dict(scalars)
        self.arrays: dict[str, DistributedArray] = dict(arrays)
        self.rows = rows
        self.changed: list[DistributedArray] = []
        self.grid: tuple[int, int] | None = None  # the grid of ranks of a loop
        self.agreed = False  # whether an exception is one that every rank raises

    def made(self, step: Fresh, shape: tuple[int, ...]) -> DistributedArray:
        make = np.zeros if step.zero else mpi_memory.empty
        held = (replicated if step.zero else nothing)(shape, self.world.size)
        return DistributedArray(make(shape, self.plan.program.table[step.buffer].type.dtype.numpy), held)

    # --- stages ---

    def planned(self, step: Stage) -> None:
        """A sweep a few iterations at a time, or one by one where that is better."""
        if not isinstance(step, Sweep):
            self.stage(step)
            return
        ranks, extent = self.world.size, self.number(step.extent)
        tiles = rows_of(extent, self.rows, ranks)
        rows = max((tile.hi - tile.lo for tile in tiles), default=0)
        depth = depth_of(self.plan, step, self.numbers, rows, ranks)
        first, past = self.number(step.dim.lo), self.number(step.dim.hi)
        if depth > 1 and past > first:
            self.grid = self.prepared.loop(step, depth, past - first, self)
        if depth == 1 or self.grid is not None:
            self.repeat(Repeat(step.dim, step.steps))
            self.grid = None
            return
        for start in range(first, past, depth):
            end = min(start + depth, past)
            self.numbers[FIRST], self.numbers[PAST] = start, end
            self.sweep(step.widened(end - start))

    def sweep(self, sweep: Sweep) -> None:
        """A few iterations on this rank's rows and a border of those of its neighbours, in place."""
        function, program = self.prepared.function(sweep), self.prepared.programs.tile(sweep)
        names = {piece.buffer for piece in sweep.reads} | {write.buffer for write in sweep.writes}
        held = {name: self.arrays[name].holdings for name in sorted(names)}
        work = self.prepared.sweep(sweep, self.rows, self.number, held)
        mpi_world.start([(self.arrays[name].frame, messages) for name, messages in work.messages]).wait()
        pieces = {piece.buffer: piece for piece in sweep.reads}
        for tile in work.of(self.world.rank):
            begin = perf_counter()
            values: list[Any] = []
            back: list[tuple[Array, Array]] = []
            for parameter in program.parameters:
                piece = pieces.get(parameter.name)
                if parameter.kind == "output":
                    view = self.part(parameter, tile)
                    # Its old rows are an input of the same call.
                    back.append((view, np.empty(view.shape, view.dtype)))
                    values.append(back[-1][1])
                elif parameter.kind in ("input", "window", "start") and piece is not None:
                    frame = self.arrays[piece.buffer].frame
                    first, past = piece.range(tile.lo, tile.hi, frame.shape[piece.axis or 0])
                    view = frame[slices(along(frame.shape, piece.axis, first, past))]
                    if parameter.kind != "start" and not view.flags.c_contiguous:
                        view = np.ascontiguousarray(view)
                        if parameter.kind == "window":
                            inside = along(frame.shape, piece.axis, tile.lo, tile.hi)
                            within = along(view.shape, piece.axis, tile.lo - first, tile.hi - first)
                            back.append((frame[slices(inside)], view[slices(within)]))
                    values.append(first if parameter.kind == "start" else view)
                else:
                    values.append(self.simple(parameter, tile))
            function(*values)
            for target, source in back:
                target[...] = source
            self.world.note(sweep.name, begin)
        for name, holdings in work.after:
            self.arrays[name].holdings = holdings
        self.changed += [self.arrays[write.buffer] for write in sweep.writes]

    def stage(self, stage: Stage) -> None:
        function, program = self.prepared.function(stage), self.prepared.programs.tile(stage)
        names = {piece.buffer for piece in stage.reads} | {write.buffer for write in stage.writes}
        held = {name: self.arrays[name].holdings for name in sorted(names)}
        numbers = numbers_of(stage, self.number, self.rows)
        if isinstance(stage, Grid):
            numbers = self.on_grid(stage, numbers, held)
        share = self.prepared.work(stage, numbers, held)
        work = share.work
        transfer = mpi_world.start([(self.arrays[name].frame, messages) for name, messages in work.messages])
        shares: dict[int, Any] = {}
        for tile in share.early:
            shares[tile.number] = self.tile(stage, program, function, tile, {})
        transfer.wait()
        old = self.snapshots(stage, share.late, self.prepared.beyond[stage.name])
        failed: Failure | None = None
        for tile in share.late:
            try:
                shares[tile.number] = self.tile(stage, program, function, tile, old)
            except kernels.HandedBack as refusal:
                failed = Failure(refusal, "", "", 0)
            except Exception as error:
                failed = failure_of(error)
                if failed is None:
                    raise
            if failed is not None:
                break
        if self.prepared.raising[stage.name]:
            self.agree(failed)
        elif failed is not None:
            if self.world.size == 1:
                raise failed.error
            raise RuntimeError(f"{stage.name} has failed on rank {self.world.rank} alone") from failed.error
        for name, holdings in work.after:
            self.arrays[name].holdings = holdings
        self.changed += [self.arrays[write.buffer] for write in stage.writes]
        self.combine(stage, work.tiles, shares)

    def on_grid(self, stage: Grid, numbers: Numbers, held: Mapping[str, Holdings]) -> Numbers:
        """The numbers of a stage on the grid of ranks that the loop around it has, or that costs least for it alone."""
        if self.grid is not None:
            return on_grid(stage, numbers, self.grid)
        key = (stage.name, numbers, tuple(map(id, held.values())))
        known = self.prepared.grids.get(key)
        if known is None:
            sizes = {name: self.arrays[name].dtype.itemsize for name in held}
            seconds = stage_cost(self.plan, stage, self.numbers).seconds
            found = best_grid(stage, numbers, held, sizes, self.world.size, seconds)
            known = self.prepared.grids[key] = (found, tuple(held.values()))
        return known[0]

    def agree(self, failed: Failure | None) -> None:
        """An exception on one rank is the exception of all: the one of the first rank, whose tiles are the first."""
        for found in self.world.allgather(failed):
            self.agreed = self.agreed or found is not None
            if found is not None and isinstance(found.error, kernels.HandedBack):
                raise found.error
            if found is not None:
                throw(found)

    def snapshots(self, stage: Stage, tiles: Sequence[Tile], beyond: Mapping[str, bool]) -> Copies:
        """Copies of what tiles read of arrays that other tiles of this rank change."""
        found: Copies = {}
        for piece in stage.reads:
            if not beyond.get(piece.buffer) or not tiles:
                continue
            frame = self.arrays[piece.buffer].frame
            if piece.axis is None:
                found[piece.buffer] = (0, frame.copy())
                continue
            size = frame.shape[piece.axis]
            ranges = [piece.range(tile.lo, tile.hi, size) for tile in tiles]
            box = hull([along(frame.shape, piece.axis, *ends) for ends in ranges])
            if box is not None:
                found[piece.buffer] = (box[piece.axis][0], frame[slices(box)].copy())
        return found

    def tile(
        self,
        stage: Stage,
        program: TileProgram,
        function: Callable[..., Any],
        tile: Tile,
        old: Copies,
    ) -> tuple[tuple[Any, ...], dict[str, Array]]:
        """One tile: the numbers it returns, and its shares of arrays."""
        begin = perf_counter()
        values: list[Any] = []
        back: list[tuple[Array, Array]] = []
        shares: dict[str, Array] = {}
        for parameter in program.parameters:
            if parameter.kind == "output":
                view = self.part(parameter, tile)
                memory = np.ascontiguousarray(view)
                if memory is not view and not np.may_share_memory(memory, view):
                    back.append((view, memory))
                values.append(memory)
            elif parameter.kind == "share":
                frame = self.arrays[parameter.name].frame
                shares[parameter.name] = np.empty(frame.shape, frame.dtype)
                values.append(shares[parameter.name])
            elif parameter.kind == "input":
                values.append(self.input(stage, parameter, tile, old))
            else:
                values.append(self.simple(parameter, tile))
        returned = function(*values)
        for view, memory in back:
            view[...] = memory
        self.world.note(stage.name, begin)
        return tuple(returned or ()), shares

    def part(self, parameter: Parameter, tile: Tile) -> Array:
        assert parameter.piece is not None
        frame = self.arrays[parameter.name].frame
        return frame[slices(along(frame.shape, parameter.piece.axis, tile.lo, tile.hi))]

    def input(self, stage: Stage, parameter: Parameter, tile: Tile, old: Copies) -> Array:
        piece = parameter.piece
        assert piece is not None
        frame, start = self.arrays[piece.buffer].frame, 0
        kept = self.prepared.beyond[stage.name].get(piece.buffer)
        if piece.buffer in old:
            start, frame = old[piece.buffer]
        if piece.axis is None:
            return np.ascontiguousarray(frame)
        size = self.arrays[piece.buffer].shape[piece.axis]
        first, past = piece.range(tile.lo, tile.hi, size) if tile.lo < tile.hi else (start, start)
        view = frame[slices(along(frame.shape, piece.axis, first - start, past - start))]
        return view.copy() if kept is False else np.ascontiguousarray(view)

    def simple(self, parameter: Parameter, tile: Tile) -> Any:
        if parameter.kind in ("lo", "hi") and parameter.name == ACROSS:
            return tile.left if parameter.kind == "lo" else tile.right
        if parameter.kind in ("lo", "hi"):
            return tile.lo if parameter.kind == "lo" else tile.hi
        if parameter.kind == "number":
            return self.numbers[parameter.name]
        if parameter.kind == "start":
            assert parameter.piece is not None and parameter.piece.axis is not None
            size = self.arrays[parameter.piece.buffer].shape[parameter.piece.axis]
            return parameter.piece.range(tile.lo, tile.hi, size)[0]
        return self.scalars[parameter.name]

    # --- reductions ---

    def combine(self, stage: Stage, tiles: Sequence[Tile], shares: Mapping[int, Any]) -> None:
        """The shares of all tiles as one, in a tree whose form depends on the number of tiles alone."""
        if not stage.partials:
            return
        table = self.plan.program.table
        returned = self.prepared.programs.tile(stage).returned
        numbers: dict[int, tuple[Any, ...]] = {}
        if returned:
            for part in self.world.allgather({number: share[0] for number, share in shares.items()}):
                numbers.update(part)
        for partial in stage.partials:
            if table[partial.buffer].rank:
                mine = {number: share[1][partial.buffer] for number, share in shares.items()}
                self.combine_arrays(partial.buffer, partial.op, tiles, mine)
            else:
                place = returned.index(partial.buffer)
                self.scalars[partial.buffer] = combine(partial.op, [numbers[t.number][place] for t in tiles])

    def combine_arrays(self, name: str, op: str, tiles: Sequence[Tile], mine: Mapping[int, Array]) -> None:
        array = self.arrays[name]
        level: list[tuple[int, Array | None]] = [(tile.rank, mine.get(tile.number)) for tile in tiles]
        box = whole(array.shape)
        while len(level) > 1:
            work: list[tuple[Array, Sequence[Message]]] = []
            pairs = [(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
            received: list[Array | None] = []
            for (left, _), (right, value) in pairs:
                memory = value
                if left != right:
                    if left == self.world.rank:
                        memory = np.empty(array.shape, array.dtype)
                    work.append((array.frame if memory is None else memory, [Message(right, left, (box,))]))
                received.append(memory)
            mpi_world.start(work).wait()
            after: list[tuple[int, Array | None]] = []
            for ((rank, first), _), second in zip(pairs, received):
                here = rank == self.world.rank and first is not None and second is not None
                after.append((rank, COMBINE[op](first, second) if here else None))
            level = after + level[len(pairs) * 2 :]
        owner, result = level[0]
        if result is not None:
            array.frame[...] = result
        array.holdings = nothing(array.shape, self.world.size).written({owner: [box]})
        self.changed.append(array)

    # --- on every rank ---

    def whole(self, step: Whole) -> None:
        """A step that is not cut: every rank does it, so that nothing of its results need be sent."""
        program = self.prepared.programs.tile(step)
        named = [p.name for p in program.parameters if p.kind in ("input", "output")]
        if not named and is_few(step.nodes, self.numbers):
            given = {
                name: self.numbers[p.name] if p.kind == "number" else self.scalars[p.name]
                for name, p in zip(program.program.params, program.parameters)
            }
            values: Any = interp.run(program.program, given)
        else:
            function = self.prepared.function(step)
            bring([(self.arrays[name], self.arrays[name].holdings.everywhere()) for name in named])
            tile = Tile(0, 0, 0, self.world.rank)
            given_here = [
                self.arrays[p.name].frame if p.kind in ("input", "output") else self.simple(p, tile)
                for p in program.parameters
            ]
            begin = perf_counter()
            try:
                values = function(*given_here)
                self.world.note(step.name, begin)
            except Exception as error:
                self.agreed = isinstance(error, kernels.HandedBack) or failure_of(error) is not None
                raise
            for name in {p.name for p in program.parameters if p.kind == "output"}:
                self.arrays[name].holdings = replicated(self.arrays[name].shape, self.world.size)
                self.changed.append(self.arrays[name])
        for name, value in zip(program.returned, values or ()):
            self.scalars[name] = value

    # --- the end ---

    def result(self, out: Out, given: Mapping[str, Any]) -> Any:
        """What the caller gets."""
        if isinstance(out, TupleOut):
            items = [self.result(item, given) for item in out.items]
            if out.named:
                return located(out.named)(*items)
            return items if out.as_list else tuple(items)
        if isinstance(out, NoneOut):
            return None
        if isinstance(out, ConstOut):
            return ast.literal_eval(out.text)
        if isinstance(out, ScalarOut):
            return self.scalars[out.buffer]
        assert isinstance(out, (ArrayOut, ViewOut))  # no plan is made for objects
        param = self.plan.program.table[out.buffer].role is Role.PARAM
        array = given[out.buffer] if param else self.arrays[out.buffer]
        if isinstance(out, ViewOut):  # of memory that is whole on every rank
            return results.view(np.asarray(array), out, lambda e, at: int(evaluate(e, {**self.numbers, **at}) or 0))
        return np.asarray(array).tolist() if out.as_list else array  # of Python's numbers: `lists`
