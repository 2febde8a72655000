"""A call whose arrays lie in files.  In: a plan, kernels, a limit of memory and a `Store` for each array; out: the
steps done tile by tile, each as large as the limit allows, and results in files.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from weft.cluster import driver, work
from weft.cluster.function import Call, Version
from weft.cluster.kernels import Kernel
from weft.cluster.plan import Plan, Repeat, Stage, Step, Whole, inner_steps, stages_of
from weft.cluster.spread import Piece, Spread, ranges
from weft.cluster.storage import Part, Scratch, StorageError, Store
from weft.cluster.work import Failure, Give, Task, Window, throw
from weft.cluster.workload import bytes_along, bytes_of
from weft.ir.program import Alloc
from weft.ir.walk import buffers_read, buffers_written, walk
from weft.records import dataclass
from weft.runtime.progress import below

#: Of the memory allowed, what the arrays of one tile may take: the rest is for copies, the interpreter and the file
#: system's pages on their way.
_SHARE = 0.5
#: A run is shown once it has taken so long, in seconds.
_PATIENCE = 1.0
#: Results of single tiles that are to be combined stay in memory up to this size.
_SMALL = 1 << 20


class Files:
    """Runs tasks here, one after the other; a handle is an array in memory or a `Part` of one in a file."""

    def __init__(self, progress: Bar) -> None:
        self.progress = progress

    def put(self, value: Any) -> Any:
        return value

    def submit(self, task: Task, kernel: Kernel, objects: Sequence[Any], size: float) -> list[Any]:
        results = work.run(task, kernel, self.get(objects))
        for entry in objects:
            if isinstance(entry, Part):
                entry.store.release()
        self.progress.step()
        return results

    def call(self, name: str, function: Callable[..., Any], first: Any, objects: Sequence[Any], size: float) -> Any:
        return function(first, self.get(objects))

    def get(self, handles: Sequence[Any]) -> list[Any]:
        return [handle.load() if isinstance(handle, Part) else handle for handle in handles]

    ahead = 0  # tasks whose results need not be written yet

    def done(self) -> None:
        """The results of a task are written."""


class Workers(Files):
    """Runs tasks on workers of Ray, which read their parts of the files themselves; their results are written here."""

    def __init__(self, progress: Bar, engine: Any) -> None:
        import ray

        super().__init__(progress)
        self._engine, self._reference = engine, ray.ObjectRef
        self.ahead = 2 * max(int(engine.processors), 1)

    def submit(self, task: Task, kernel: Kernel, objects: Sequence[Any], size: float) -> list[Any]:
        there = [not isinstance(entry, Part) or entry.store.is_found for entry in objects]
        sent = [entry if found else entry.load() for entry, found in zip(objects, there)]
        sent = [self._engine.put(entry) if isinstance(entry, np.ndarray) else entry for entry in sent]
        handles: list[Any] = self._engine.submit(task, kernel, sent, size)
        return handles

    def get(self, handles: Sequence[Any]) -> list[Any]:
        found = super().get(handles)
        remote = [at for at, handle in enumerate(found) if isinstance(handle, self._reference)]
        for at, value in zip(remote, self._engine.get([found[at] for at in remote])):
            found[at] = value
        return found

    def done(self) -> None:
        self.progress.step()


class Bar:
    """A bar on a terminal, or below a notebook's cell, once a run has taken a while."""

    def __init__(self, name: str, total: int, wanted: bool | None) -> None:
        self.name, self.total, self.done = name, total, 0
        self._forced = wanted
        self._below = None if wanted is False else below()
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._start = perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def step(self) -> None:
        self.done += 1
        if self._below is not None:
            if perf_counter() - self._start > _PATIENCE:
                self._below.bar(self.name, self.done, self.total, f"{self.done} of {self.total}")
        elif self._bar is None and self._wanted and perf_counter() - self._start > _PATIENCE:
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True, force_terminal=self._forced), transient=True)
        self._task = self._bar.add_task(self.name, total=self.total)
        self._bar.start()

    def close(self) -> None:
        if self._below is not None:
            self._below.erase()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@dataclass(frozen=True)
class _Pending:
    """Results of a task: the blocks of arrays, and its first result, which tells whether it failed."""

    block: tuple[int, int]
    blocks: tuple[tuple[str, int, Any], ...]
    first: tuple[Any, ...]


# --- one call ---------------------------------------------------------------------------------------------------------


class FileRun(driver.Run):
    """A call whose arrays lie in files."""

    def __init__(
        self,
        version: Version,
        call: Call,
        stores: Mapping[str, Store],
        targets: Mapping[str, Store],
        scratch: Scratch,
        memory: int,
        progress: bool | None,
        threads: int,
        cluster: Any = None,
    ) -> None:
        arrays = {name: Spread(store.shape, store.dtype, source=store) for name, store in stores.items()}  # type: ignore[arg-type]
        self.bar = Bar(version.plan.program.name, 0, progress)
        here = Files(self.bar) if cluster is None else Workers(self.bar, cluster)
        super().__init__(version.programs, here, call.numbers, call.scalars, arrays, 1, threads)
        self.files = here
        self.pending: deque[_Pending] = deque()  # results of tasks that are not yet written
        self.scratch, self.targets = scratch, dict(targets)
        self.into: dict[str, Store] = {}
        self.titles: dict[str, str] = {}  # what to call the results that go straight to their target
        self.valid: dict[str, list[tuple[int, int]]] = {}
        self.along: dict[str, int] = {}
        self.blocks = self.rows(memory * _SHARE)
        self.bar.total = _tasks(self, version.plan.steps)

    # --- how large tiles are ---

    def rows(self, memory: float) -> dict[int, int]:
        """The elements along its axis of a tile, for each extent: as many as memory allows for all of its arrays."""
        found: dict[int, int] = {}
        for stage in stages_of(self.plan.steps):
            extent = self.number(stage.extent)
            fixed, each = self.need(stage)
            if fixed + each > memory:
                line = stage.nodes[0].span.line
                raise StorageError(
                    f"line {line}: one tile takes {_shown(fixed + each)}, more than half of the memory allowed"
                )
            rows = self.by_chunks(stage, max(min(int((memory - fixed) / max(each, 1.0)), extent), 1))
            found[extent] = min(found.get(extent, rows), rows)
        for step in _wholes(self.plan.steps):
            needed = sum(bytes_of(self.plan.program, name, self.numbers) for name in arrays_of(self.plan, step))
            if needed > memory:
                line = step.nodes[0].span.line
                reason = f"{_shown(needed)} of arrays are needed at once, since {step.reason}"
                raise StorageError(f"line {line}: {reason}")
        return found

    def by_chunks(self, stage: Stage, rows: int) -> int:
        """A multiple of the chunks in which a file holds an array: a chunk is read, and unpacked, as a whole."""
        for piece in stage.reads:
            store: Any = self.arrays[piece.buffer].source if piece.buffer in self.arrays else None
            chunks = getattr(getattr(store, "value", None), "chunks", None)
            if chunks is not None and piece.axis is not None and rows > chunks[piece.axis] > 0:
                return rows - rows % int(chunks[piece.axis])
        return rows

    def need(self, stage: Stage) -> tuple[float, float]:
        """Bytes of memory for one tile: whatever its size, and for each element along its axis."""
        program, sizes = self.plan.program, self.numbers
        fixed = each = 0.0
        for axis, name in [
            *((piece.axis, piece.buffer) for piece in stage.reads),
            *((write.axis, write.buffer) for write in stage.writes),
            *((self.plan.placed[name], name) for name in stage.temporaries),
        ]:
            if axis is None:
                store = self.arrays[name].source if name in self.arrays else None
                # What is mapped is the file's own pages, which the system takes back when it needs them.
                fixed += 0.0 if isinstance(store, Store) else min(bytes_of(program, name, sizes), _SMALL)
            else:
                # Elements that do not lie together are copied for the kernel.
                each += bytes_along(program, name, axis, sizes) * (2 if axis else 1)
        inner = {node.buffer for node in walk(stage.nodes) if isinstance(node, Alloc)}
        fixed += sum(bytes_of(program, name, sizes) for name in inner)
        fixed += 2 * sum(bytes_of(program, partial.buffer, sizes) for partial in stage.partials)
        return fixed, each

    # --- where arrays are ---

    def place(self, spread: Spread, axis: int | None, name: str, blocks: list[tuple[int, int]]) -> None:
        """An argument stays where it is: its pieces are parts of the file."""
        store: Any = spread.source
        spread.source = None
        if axis is None:
            store = store if store.is_mapped else self.scratch.mapped(store)
            spread.axis, spread.pieces = None, (Piece(Part(store, None), 0, 0),)
            return
        size = store.shape[axis]
        if blocks[-1][1] != size:
            blocks = ranges(size, self.blocks.get(size, blocks[0][1] - blocks[0][0] or 1))
        spread.axis = axis
        spread.pieces = tuple(self.piece(store, axis, name, block) for block in blocks)

    def piece(self, store: Store, axis: int, name: str, block: tuple[int, int]) -> Piece:
        first, past = block
        low, high = (min(width, past - first) for width in self.edges.get(name, (0, 0)))
        return Piece(
            Part(store, axis, first, past),
            first,
            past,
            (low, Part(store, axis, first, first + low)) if low else None,
            (high, Part(store, axis, past - high, past)) if high else None,
        )

    def stage(self, stage: Stage) -> None:
        before = {write.buffer: self.arrays[write.buffer] for write in stage.writes}
        for name, spread in before.items():
            target = self.targets.get(name)
            self.into[name] = self.scratch.make(spread.shape, spread.dtype) if target is None else target
        super().stage(stage)
        self.drain(0)
        self.drop(before)

    def combined(self, name: str, op: str, shares: list[Any]) -> None:
        self.drain(0)
        super().combined(name, op, shares)

    def drop(self, before: Mapping[str, Spread]) -> None:
        """Files of old contents that no array refers to any more."""
        used = {id(piece.handle.store) for spread in self.arrays.values() for piece in spread.pieces
                if isinstance(piece.handle, Part)}  # fmt: skip
        for spread in before.values():
            for piece in spread.pieces:
                if isinstance(piece.handle, Part) and id(piece.handle.store) not in used:
                    self.scratch.forget(piece.handle.store)

    def keep(
        self,
        outputs: Sequence[tuple[str, Give | Window]],
        results: list[Any],
        made: dict[str, list[Piece]],
        shares: dict[str, list[Any]],
        block: tuple[int, int],
    ) -> None:
        """The blocks of a tile go to their file, its shares of reductions too unless they are small."""
        left = list(results)
        blocks: list[tuple[str, int, Any]] = []
        for name, give in outputs:
            handle = left.pop(0)
            for _ in range(bool(give.low) + bool(give.high)):
                left.pop(0)
            axis = give.axis if isinstance(give, Give) else give.take.axis
            if axis is None:
                shares[name].append(self.share(handle))
            else:
                blocks.append((name, axis, handle))
                made[name].append(self.piece(self.into[name], axis, name, block))
        self.pending.append(_Pending(block, tuple(blocks), tuple(results[:1])))
        self.drain(self.files.ahead)

    def share(self, value: Any) -> Any:
        """A share of a reduction, in a file if it is large."""
        if not isinstance(value, np.ndarray) or value.nbytes <= _SMALL:
            return value
        shared = self.scratch.make(value.shape, value.dtype)
        shared.write(None, 0, 0, value)
        shared.release()
        return Part(shared, None)

    def drain(self, most: int) -> None:
        """Write the results of tasks until those of so many are left."""
        while len(self.pending) > most:
            task = self.pending.popleft()
            values = self.files.get([*(handle for _, _, handle in task.blocks), *task.first])
            for value in values:
                if isinstance(value, Failure):
                    throw(value)
            for (name, axis, _), value in zip(task.blocks, values):
                store = self.into[name]
                store.write(axis, *task.block, value)
                store.release()
                if name in self.targets:
                    self.note(name, axis, task.block)
            self.files.done()

    def whole_of(self, spread: Spread) -> Any:
        parts = [piece.handle for piece in spread.pieces]
        if spread.axis is None or not all(isinstance(part, Part) for part in parts):
            return super().whole_of(spread)
        return Part(self.one_store(spread), None)

    def one_store(self, spread: Spread) -> Store:
        """The one file that holds all pieces of an array, made now if they are in several."""
        stores: dict[int, Store] = {id(piece.handle.store): piece.handle.store for piece in spread.pieces}
        if len(stores) == 1 and (store := next(iter(stores.values()))).is_mapped:
            return store
        joined = self.scratch.make(spread.shape, spread.dtype)
        assert spread.axis is not None
        for piece in spread.pieces:
            joined.write(spread.axis, piece.first, piece.past, piece.handle.load())
            piece.handle.store.release()
            joined.release()
        spread.pieces = tuple(self.piece(joined, spread.axis, "", (p.first, p.past)) for p in spread.pieces)
        return joined

    def contents(self, spread: Spread) -> Any:
        """An array at the end: a `Store` of it, or an ndarray if it was never in a file."""
        if spread.source is not None:
            return spread.source
        if spread.fresh:
            make = np.zeros if spread.zero else np.empty
            return make(spread.shape, spread.dtype)
        handles = [piece.handle for piece in spread.pieces]
        if all(isinstance(handle, Part) for handle in handles):
            return handles[0].store if spread.axis is None else self.one_store(spread)
        loaded = self.engine.get(handles)
        return loaded[0] if spread.axis is None else work.join(spread.axis, loaded)

    def told(self) -> str:
        """How far a run came that did not end, and what of its results is valid."""
        parts = [f"stopped after {self.bar.done} of about {self.bar.total} tiles"]
        for name, title in self.titles.items():
            found = ", ".join(f"{first}:{past}" for first, past in self.valid.get(name, ()))
            axis = f" of axis {self.along[name]}" if self.along.get(name) else ""
            parts.append(f"{title} is valid in [{found}]{axis}" if found else f"nothing of {title} is made")
        return "; ".join(parts)

    def note(self, name: str, axis: int, block: tuple[int, int]) -> None:
        """A block of a result is where the caller will find it."""
        done = self.valid.setdefault(name, [])
        self.along[name] = axis
        if done and done[-1][1] == block[0]:
            done[-1] = (done[-1][0], block[1])
        else:
            done.append(block)


def _wholes(steps: tuple[Step, ...]) -> list[Whole]:
    """Steps that run at one place on arrays."""
    found = []
    for step in steps:
        if isinstance(step, Whole):
            found.append(step)
        for block in inner_steps(step):
            found += _wholes(block)
    return found


def arrays_of(plan: Plan, step: Whole) -> set[str]:
    names = {name for node in step.nodes for name in buffers_read(node) | buffers_written(node)}
    return {name for name in names if plan.program.table[name].rank}


def _tasks(run: driver.Run, steps: tuple[Step, ...]) -> int:
    """How many tasks a run will have."""
    total = 0
    for step in steps:
        if isinstance(step, Stage):
            extent = run.number(step.extent)
            total += len(ranges(extent, run.block(step)))
        elif isinstance(step, Repeat):
            trips = len(range(run.number(step.dim.lo), run.number(step.dim.hi), step.dim.step))
            total += trips * _tasks(run, step.steps)
        else:
            total += sum(_tasks(run, block) for block in inner_steps(step))
    return total


def _shown(size: float) -> str:
    for scale, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"
