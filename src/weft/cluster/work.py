"""One task, where it runs.  In: a `Task`, plain numbers that say which parts of which objects a tile takes, and the
objects; out: the blocks, edges, shares and numbers that the tile makes.

Blocks are never changed once they are made: a tile that writes a part of an array makes a new block, and copies from
the old one only what it does not write.  Where a slice lies across two blocks, the tile is cut at that place, so the
large part of it is read in place and only the rows around the border are put together.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.cluster.kernels import HandedBack, Kernel, load
from weft.records import dataclass
from weft.runtime import threads

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Held:
    """The elements first .. past of an axis are those of object number `source`, which begins at `start`."""

    source: int
    start: int
    first: int
    past: int


@dataclass(frozen=True)
class Take:
    """A slice of an array, lying in parts one after the other; axis None: the whole array, one part.

    For a tile lo .. hi the elements lo + below .. hi + above are needed, within 0 .. size if `clipped`.
    """

    axis: int | None
    parts: tuple[Held, ...]
    below: int = 0
    above: int = 0
    size: int = 0
    clipped: bool = False

    def range(self, lo: int, hi: int) -> tuple[int, int]:
        first, past = lo + self.below, hi + self.above
        return (max(first, 0), min(past, self.size)) if self.clipped else (first, past)


@dataclass(frozen=True)
class Give:
    """A block to be made: `shape`, of which axis `axis` begins at `start`; the tile is lo .. hi of it.

    `old`: what it held before, for the elements outside `box` (None: for all of them); without it new memory is
    zero or undefined.  `low` and `high` elements at its ends are also given on their own.
    """

    shape: tuple[int, ...]
    dtype: str
    axis: int | None
    start: int
    old: Take | None = None
    zero: bool = False
    box: tuple[tuple[int, int], ...] | None = None
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class Window:
    """A slice that is copied and changed in place; its elements lo .. hi are the block that the tile makes.

    `low` and `high` elements at the ends of the block are also given on their own.
    """

    take: Take
    low: int = 0
    high: int = 0

    def range(self, lo: int, hi: int) -> tuple[int, int]:
        return self.take.range(lo, hi)


@dataclass(frozen=True)
class Task:
    """A tile of a stage.

    `arguments`, one a parameter of the kernel: a number, a Take, a Give, a Window, ("object", n) for a number that is
    object n, ("lo", 0) and ("hi", 0) for the tile's bounds, ("start", k) for where argument k begins.
    `checked`: one more result, small, tells whether the task raised.  `whole`: the tile is never cut where its slices
    lie across blocks.  `uncut`: the task is no tile of anything, and runs though its range is empty.
    """

    name: str
    lo: int
    hi: int
    arguments: tuple[Any, ...]
    threads: int = 1
    checked: bool = False
    whole: bool = False
    uncut: bool = False


@dataclass(frozen=True)
class Failure:
    """An exception of the user's program, and the line that raised it."""

    error: BaseException
    file: str
    function: str
    line: int


#: Where the memory of new blocks comes from.
_new: Callable[..., Array] = np.empty


def reuse_memory() -> None:
    """Blocks of this process come from memory that earlier ones have left: a worker makes the same ones over and over,
    and the engine has copied them by the time it asks for the next."""
    global _new
    from weft.cluster import mpi_memory

    _new = mpi_memory.empty


def run(task: Task, kernel: Kernel, objects: Sequence[Any]) -> list[Any]:
    """What a task gives: for each block it makes the block and its edges, then shares, then numbers.

    An exception of the user's program is a `Failure` in place of every result.
    """
    count = results_of(task, kernel)
    failed = next((value for value in objects if isinstance(value, Failure)), None)
    if failed is not None:
        return [failed] * count  # what it needs was never made
    try:
        return _run(task, load(kernel), kernel, objects)
    except HandedBack:
        raise
    except Exception as error:
        found = failure_of(error)
        if found is None:
            raise
        return [found] * count


def results_of(task: Task, kernel: Kernel) -> int:
    """How many results a task gives."""
    gives = [argument for argument in task.arguments if isinstance(argument, (Give, Window))]
    blocks = sum(1 + bool(give.low) + bool(give.high) for give in gives)
    return blocks + len(kernel.returned) + task.checked


def failure_of(error: BaseException) -> Failure | None:
    """An exception that the kernel raised as the program asks; None for any other."""
    trace = error.__traceback__
    last = None
    while trace is not None:
        last, trace = trace, trace.tb_next
    if last is None or last.tb_frame.f_code.co_filename == __file__:
        return None
    if last.tb_frame.f_globals.get("__name__", "").startswith("weft."):
        return None
    code = last.tb_frame.f_code
    return Failure(error.with_traceback(None), code.co_filename, code.co_name, last.tb_lineno)


def _run(task: Task, function: Callable[..., Any], kernel: Kernel, objects: Sequence[Any]) -> list[Any]:
    if threads.get_num_threads() != task.threads:
        threads.set_num_threads(task.threads)
    made: dict[int, Array] = {}
    for number, argument in enumerate(task.arguments):
        if isinstance(argument, Give):
            made[number] = _made(argument, task, objects)
        elif isinstance(argument, Window):
            made[number] = _copied(argument.take, *argument.range(task.lo, task.hi), objects)
    shared = any(isinstance(a, Give) and a.axis is None for a in task.arguments)
    at_once = bool(kernel.returned) or shared or task.uncut
    cuts = [(task.lo, task.hi)] if at_once or task.whole else _cuts(task)
    numbers: Any = None
    for lo, hi in cuts if at_once or task.lo < task.hi else ():
        values, back = _values(task, lo, hi, made, objects)
        numbers = function(*values)
        for view, copy in back:
            view[...] = copy
    results: list[Any] = []
    for number, block in made.items():
        give = task.arguments[number]
        axis = give.axis if isinstance(give, Give) else give.take.axis
        if isinstance(give, Window):
            start = give.range(task.lo, task.hi)[0]
            block = np.ascontiguousarray(_along(block, axis, task.lo - start, task.hi - start))
        results.append(block)
        if give.low:
            results.append(np.ascontiguousarray(_along(block, axis, 0, min(give.low, block.shape[axis]))))
        if give.high:
            size = block.shape[axis]
            results.append(np.ascontiguousarray(_along(block, axis, max(size - give.high, 0), size)))
    results += numbers if kernel.returned else ()
    return [*results, None] if task.checked else results


def _along(array: Array, axis: int | None, first: int, past: int) -> Array:
    if axis is None:
        return array
    return array[(slice(None),) * axis + (slice(first, past),)]


def _cuts(task: Task) -> list[tuple[int, int]]:
    """The tile in parts, each of which reads elements of one block only, or lies across a border."""
    places = {task.lo, task.hi}
    for argument in task.arguments:
        if isinstance(argument, Take) and argument.axis is not None:
            for part in argument.parts[1:]:
                places |= {part.first - argument.below, part.first - argument.above}
    inside = sorted(place for place in places if task.lo <= place <= task.hi)
    return list(itertools.pairwise(inside)) or [(task.lo, task.hi)]


def _values(
    task: Task, lo: int, hi: int, made: dict[int, Array], objects: Sequence[Any]
) -> tuple[list[Any], list[tuple[Array, Array]]]:
    """The arguments of one call of the kernel, and copies that go back into blocks afterwards."""
    values: list[Any] = []
    back: list[tuple[Array, Array]] = []
    for number, argument in enumerate(task.arguments):
        if isinstance(argument, Take):
            values.append(taken(argument, *argument.range(lo, hi), objects))
        elif isinstance(argument, Window):
            values.append(made[number])
        elif isinstance(argument, Give):
            view = _along(made[number], argument.axis, lo - argument.start, hi - argument.start)
            copy = np.ascontiguousarray(view)
            if not view.flags.c_contiguous:
                back.append((view, copy))
            values.append(copy)
        elif isinstance(argument, tuple):
            kind, which = argument
            if kind == "object":
                values.append(objects[which])
            elif kind == "start":
                values.append(task.arguments[which].range(lo, hi)[0])
            else:
                values.append(lo if kind == "lo" else hi)
        else:
            values.append(argument)
    return values, back


def taken(take: Take, first: int, past: int, objects: Sequence[Any]) -> Array:
    """The elements first .. past along the axis of a slice, in place if one object holds them all."""
    if take.axis is None:
        return np.ascontiguousarray(objects[take.parts[0].source])
    pieces: list[Array] = []
    for part in take.parts:
        low, high = max(first, part.first), min(past, part.past)
        if low < high:
            pieces.append(_along(objects[part.source], take.axis, low - part.start, high - part.start))
    if not pieces:
        return np.ascontiguousarray(_along(objects[take.parts[0].source], take.axis, 0, 0))
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=take.axis)
    return np.ascontiguousarray(whole)


def _copied(take: Take, first: int, past: int, objects: Sequence[Any]) -> Array:
    """The elements first .. past of a slice in memory of their own."""
    assert take.axis is not None
    found = objects[take.parts[0].source]
    shape = list(found.shape)
    shape[take.axis] = past - first
    array = _new(shape, found.dtype)
    for part in take.parts:
        low, high = max(first, part.first), min(past, part.past)
        if low < high:
            source = _along(objects[part.source], take.axis, low - part.start, high - part.start)
            _along(array, take.axis, low - first, high - first)[...] = source
    return array


def _made(give: Give, task: Task, objects: Sequence[Any]) -> Array:
    """New memory for a block, with what it keeps of the old one."""
    make = np.zeros if give.zero else _new
    block = make(give.shape, dtype=np.dtype(give.dtype))
    if give.old is None:
        return block
    size = 0 if give.axis is None else give.shape[give.axis]
    old = taken(give.old, give.start, give.start + size, objects)
    if give.box is None:
        block[...] = old
        return block
    left = [slice(0, extent) for extent in give.shape]
    for axis, (first, past) in enumerate(give.box):
        for low, high in ((0, first), (past, give.shape[axis])):
            if low < high:
                place = (*left[:axis], slice(low, high), *left[axis + 1 :])
                block[place] = old[place]
        left[axis] = slice(first, past)
    return block


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
    "bitand": np.bitwise_and,
    "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
}


def combine(op: str, shares: Sequence[Any]) -> Any:
    """The shares of tiles as one, neighbours first: a tree of fixed form, whoever computes it."""
    failed = next((share for share in shares if isinstance(share, Failure)), None)
    if failed is not None:
        return failed
    kind = type(shares[0])
    level = list(shares)
    while len(level) > 1:
        pairs = [COMBINE[op](*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0] if isinstance(level[0], kind) or kind is np.ndarray else kind(level[0])


def join(axis: int, pieces: Sequence[Any]) -> Any:
    """Blocks as one array."""
    failed = next((piece for piece in pieces if isinstance(piece, Failure)), None)
    return failed if failed is not None else np.concatenate(list(pieces), axis=axis)


def throw(failure: Failure) -> None:
    """Raise an exception of a task as if from the user's line."""
    from weft.runtime.dispatch import raise_at

    raise_at(failure.error, failure.file, failure.function, failure.line)


def versions() -> tuple[str, str]:
    """What must be equal on all machines of a cluster."""
    from weft import __version__

    return __version__, ".".join(map(str, sys.version_info[:2]))
