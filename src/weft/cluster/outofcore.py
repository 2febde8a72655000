"""Arrays larger than memory.  In: a function, a limit of memory, and arguments that may lie in files; out: the result,
in files where it is large.

The plan of the function is followed as on a cluster, tile by tile on this machine or by Ray's workers: what a tile
reads is taken from the files, what it makes is written to a file, and tiles are as large as the limit allows.
Arguments that the function changes are changed at the end, once all of it is computed, so a run that is interrupted
leaves them as they were.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft.analysis.cost import evaluate
from weft.cluster import kernels
from weft.cluster.files import FileRun, arrays_of
from weft.cluster.function import Call, Distributed, Version, plan_array
from weft.cluster.plan import Plan, Stage, Step, Swap, Whole, inner_steps
from weft.cluster.spread import Spread
from weft.cluster.storage import Scratch, StorageError, Store, copy, is_stored, native, new_file, stand_in
from weft.errors import FallbackWarning, OptionError
from weft.ir.program import ArrayOut, Out, Role
from weft.ir.walk import leaves
from weft.options import Options

Array = np.ndarray[Any, Any]
#: The end of the name of a file that is not complete.
_PARTIAL = ".partial"
_UNITS = {"B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
          "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}  # fmt: skip

def bytes_from(memory: int | str) -> int:
    """A number of bytes: 500_000_000, "500MB" or "2 GiB"."""
    if isinstance(memory, str):
        text = memory.strip().upper().removesuffix("B")
        digits = text.rstrip("KMGTI ")
        try:
            size = int(float(digits) * _UNITS[text[len(digits) :].strip() or "B"])
        except (ValueError, KeyError):
            raise OptionError(f"memory={memory!r} is not a size such as '500MB' or '2 GiB'") from None
    else:
        size = memory
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise OptionError(f"memory={memory!r} is not a number of bytes above 0")
    return size


def out_of_core(
    function: Callable[..., Any] | None = None,
    /,
    *,
    memory: int | str = "1 GiB",
    into: Any = None,
    directory: str | Path | None = None,
    progress: bool | None = None,
    target: str | None = None,
) -> Any:
    """A function that takes arrays from files, larger than memory, and computes them in tiles.

    Arguments may be `np.memmap`s, datasets of h5py and arrays of Zarr besides everything else.  Arrays of tiles take at
    most `memory` bytes ("500MB", "2 GiB").  `into` is where the result goes: a path (a new .npy file), an array or a
    dataset, or a tuple of these for a function that returns several arrays; without it a large result is a memmap of a
    file in `directory` that lives as long as the array.  `progress`: whether to show a bar (None: on a terminal and
    in a notebook).  `target="ray"`: the workers of a cluster compute tiles, in `memory` bytes each, and read the files
    themselves.
    """
    if target not in (None, "ray"):
        raise OptionError(f"target={target!r} of out_of_core is neither None nor 'ray'")

    def decorate(one: Callable[..., Any]) -> OutOfCore:
        return OutOfCore(getattr(one, "py_func", one), memory, into, directory, progress, target)

    return decorate if function is None else decorate(function)


class OutOfCore(Distributed):
    """A function over arrays in files; see `weft.out_of_core`."""

    def __init__(
        self,
        function: Callable[..., Any],
        memory: int | str,
        into: Any = None,
        directory: str | Path | None = None,
        progress: bool | None = None,
        target: str | None = None,
    ) -> None:
        super().__init__(function, Options(target="ray", fallback="warn"))
        self.target = target
        self.memory, self.into, self.directory, self.progress = bytes_from(memory), into, directory, progress

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        found = self._version(tuple(_shown_to_compiler(value) for value in values))
        if isinstance(found, str):
            return self._in_memory(values, found)
        version, call = found
        named = dict(zip(version.names, values))
        stores = {name: Store(named.get(name, value)) for name, value in call.given.items()
                  if plan_array(version.plan, name)}  # fmt: skip
        shared = _shared(version.plan, stores)
        if shared is not None:
            return self._in_memory(values, shared)
        scratch = Scratch(self.directory)
        try:
            return self._run(version, call, stores, scratch)
        except kernels.HandedBack as problem:
            return self._in_memory(values, str(problem))
        finally:
            scratch.close()

    def _run(self, version: Version, call: Call, stores: Mapping[str, Store], scratch: Scratch) -> Any:
        from weft.runtime.threads import get_num_threads

        plan, cluster, threads = version.plan, None, get_num_threads()
        if self.target == "ray":
            from weft.cluster.ray_engine import engine

            cluster = engine()
            threads = max(int(cluster.settings.cpus_per_task), 1)
        trees = plan.program.results
        targets = _Targets(self.into, trees[plan.result], plan, stores, call.numbers) if len(trees) == 1 else None
        direct = {} if targets is None else targets.direct
        try:
            run = FileRun(version, call, stores, direct, scratch, self.memory, self.progress, threads, cluster)
        except BaseException:
            if targets is not None:
                targets.discard({})  # refused before it began
            raise
        run.titles = {} if targets is None else targets.titles
        try:
            left = run.steps(plan.steps)
            run.finish()
            tree = trees[plan.result if left is None else left.result]
            if targets is None:  # which arrays are returned is only known now
                targets = _Targets(self.into, tree, plan, stores, call.numbers)
            for name in sorted(run.changed):
                if plan.program.table[name].role is Role.PARAM:
                    copy(_store(run.contents(run.arrays[name])), stores[name])
            made = {name: targets.finished(name, run.contents(run.arrays[name])) for name in targets.results}
        except KeyboardInterrupt:
            if targets is not None:
                targets.discard(run.valid)
            raise KeyboardInterrupt(run.told()) from None
        except Exception as problem:
            if targets is not None:
                targets.discard(run.valid)
            if hasattr(problem, "add_note"):
                problem.add_note(f"weft: {run.told()}")
            raise
        finally:
            run.bar.close()
        given = {name: store.value for name, store in stores.items()}
        return run.result(tree, lambda spread: made[_name_of(run, spread)], given)

    def _in_memory(self, values: tuple[Any, ...], reason: str) -> Any:
        """A call that cannot be cut: what lies in files is mapped, or brought here if it fits."""
        size = sum(Store(value).nbytes for value in values if is_stored(value))
        if size > self.memory:
            raise StorageError(f"{self.py_func.__name__} cannot be computed in tiles: {reason}")
        text = f"{self.py_func.__name__} is not computed in tiles: {reason}"
        warnings.warn(text, FallbackWarning, stacklevel=3)
        brought = tuple(_brought(value) for value in values)
        result = self.local(*brought)
        if self.into is None:
            return result
        several = isinstance(result, tuple)
        given = self.into if several else (self.into,)
        placed = [_placed(one, target) for one, target in zip(result if several else (result,), given)]
        return tuple(placed) if several else placed[0]


def _shown_to_compiler(value: Any) -> Any:
    """An argument as the compiler looks at it: arrays in files by arrays of the same shape."""
    if is_stored(value):
        return stand_in(value)
    if isinstance(value, np.ndarray) and value.ndim and (type(value) is not np.ndarray or not value.dtype.isnative):
        return stand_in(value)
    return value


def _brought(value: Any) -> Any:
    """A mapped array as an ordinary one; a dataset in memory, which cannot be changed: the file would not see it."""
    if isinstance(value, np.memmap):
        return value.view(np.ndarray)
    if not is_stored(value):
        return value
    array = Store(value).read(None, 0, 0)
    array.flags.writeable = False
    return array


def _store(value: Any) -> Store:
    return value if isinstance(value, Store) else Store(value)


def _placed(value: Any, target: Any) -> Any:
    """A result in memory, where it was asked for."""
    if target is None or not isinstance(value, np.ndarray):
        return value
    if isinstance(target, (str, os.PathLike)):
        path = Path(target)
        _check_place(path)
        made = new_file(_partial(path), value.shape, value.dtype)
        made[...] = value
        return _complete(_partial(path), made)
    target[...] = value
    return target


def _shared(plan: Plan, stores: Mapping[str, Store]) -> str | None:
    """Why arrays cannot be read and written by tiles: one that changes is also another argument."""
    from weft.analysis.scopes import written_params

    for name in written_params(plan.program):
        for other, store in stores.items():
            if name in stores and other != name and _overlap(stores[name].value, store.value):
                return f"{name} and {other} share memory, and one of them changes"
    return None


def _overlap(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other) or _same_file(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    places = [getattr(value, "store_path", None) for value in (one, other)]  # Zarr compares contents, HDF5 places
    return one is other or (str(places[0]) == str(places[1]) if None not in places else bool(one == other))


def _same_file(one: Array, other: Array) -> bool:
    """Whether two arrays are mapped from one file, perhaps twice."""
    names = [getattr(array, "filename", None) for array in (one, other)]
    return names[0] is not None and names[0] == names[1]


def _results(plan: Plan, tree: Out) -> tuple[str, ...]:
    """The arrays that a function makes for its caller, in order."""
    found = [leaf.buffer for leaf in leaves(tree) if isinstance(leaf, ArrayOut)]
    return tuple(dict.fromkeys(name for name in found if plan.program.table[name].role is not Role.PARAM))


def _name_of(run: FileRun, spread: Spread) -> str:
    return next(name for name, known in run.arrays.items() if known is spread)


class _Targets:
    """Where results go: straight to their target if one stage writes all of them, once; else by a copy at the end."""

    def __init__(
        self,
        into: Any,
        tree: Out,
        plan: Plan,
        stores: Mapping[str, Store],
        numbers: Mapping[str, int],
    ) -> None:
        self.results = _results(plan, tree)
        given = tuple(into) if isinstance(into, (tuple, list)) else (into,)
        if into is not None and len(given) != len(self.results):
            count = len(self.results)
            raise StorageError(f"there are {count} arrays to return, and into= has places for {len(given)}")
        self.wanted = dict(zip(self.results, given))
        self.paths: dict[str, Path] = {}
        self.stores: dict[str, Store] = {}
        self.titles: dict[str, str] = {}
        once = _written_once(plan)
        for name, target in self.wanted.items():
            if target is None:
                continue
            buffer = plan.program.table[name]
            shape = tuple(int(evaluate(extent, numbers, 0.0) or 0) for extent in buffer.shape)
            self.stores[name] = self._store(name, target, shape, buffer.type.dtype.numpy)
            self.titles[name] = str(self.paths.get(name, "the target of a result"))
        self.direct = {
            name: store
            for name, store in self.stores.items()
            if name in once and not any(_overlap(store.value, other.value) for other in stores.values())
        }

    def _store(self, name: str, target: Any, shape: tuple[int, ...], dtype: Any) -> Store:
        if isinstance(target, (str, os.PathLike)):
            path = Path(target)
            _check_place(path)
            self.paths[name] = _partial(path)
            return Store(new_file(self.paths[name], shape, dtype))
        if not isinstance(target, np.ndarray) and not is_stored(target):
            raise StorageError(f"into= takes a path, an array or a dataset, not {type(target).__name__}")
        store = Store(target)
        if store.shape != shape or store.dtype != native(dtype):
            have, need = f"{store.dtype}{list(store.shape)}", f"{native(dtype)}{list(shape)}"
            raise StorageError(f"the target of a result is {have}, the result {need}")
        if isinstance(target, np.ndarray) and not target.flags.writeable:
            raise StorageError("the target of a result is read-only")
        return store

    def finished(self, name: str, contents: Any) -> Any:
        """A result for the caller."""
        target = self.stores.get(name)
        if target is None:
            return contents.value if isinstance(contents, Store) else contents
        if not (isinstance(contents, Store) and contents.value is target.value):
            copy(_store(contents), target)
        target.flush()
        path = self.paths.get(name)
        return target.value if path is None else _complete(path, target.value)

    def discard(self, valid: Mapping[str, Any]) -> None:
        """Remove the files in which no element is valid."""
        for name, path in self.paths.items():
            if not valid.get(name):
                path.unlink(missing_ok=True)


def _check_place(path: Path) -> None:
    """Refuse a path that no file can have."""
    if not path.parent.is_dir():
        raise StorageError(f"there is no directory {path.parent}")
    if path.is_dir():
        raise StorageError(f"{path} is a directory, not a place for a file")


def _partial(path: Path) -> Path:
    """What a file is called until it is complete."""
    return path.with_name(path.name + _PARTIAL)


def _complete(path: Path, made: Any) -> Any:
    """The array of a file that is complete, under the name that was asked for."""
    final = path.with_name(path.name.removesuffix(_PARTIAL))
    if not path.exists():  # an empty array has no pages to map
        with open(path, "wb") as file:
            np.save(file, made)
        path.replace(final)
        return made
    made.flush()
    path.replace(final)
    return np.load(final, mmap_mode="r+")


def _written_once(plan: Plan) -> set[str]:
    """Arrays that exactly one stage writes, outside of loops, from the start in the caller's sight."""
    counts: dict[str, int] = {}

    def look(steps: tuple[Step, ...], weight: int) -> None:
        for step in steps:
            for block in inner_steps(step):
                look(block, 2)
            if isinstance(step, Stage):
                names = [write.buffer for write in step.writes] + [partial.buffer for partial in step.partials]
                for name in names:
                    counts[name] = counts.get(name, 0) + weight
            elif isinstance(step, Whole):
                for name in arrays_of(plan, step):
                    counts[name] = counts.get(name, 0) + 2
            elif isinstance(step, Swap):
                for name in (*step.targets, *step.sources):
                    counts[name] = counts.get(name, 0) + 2

    look(plan.steps, 1)
    return {name for name, count in counts.items() if count == 1}
