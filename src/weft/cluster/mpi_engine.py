"""A function on MPI ranks.  In: a Python function, called on every rank with the same arguments (plain arrays, or
arrays that `weft.distribute` has spread); out: its result, in arrays that stay spread until Python touches them.

A plain array that the function changes is whole on every rank when the call returns.  What cannot be cut runs on each
rank alone.
"""

from __future__ import annotations

import ast
import sys
import traceback
import warnings
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.cluster import costs, kernels, mpi_world
from weft.cluster.function import Call, Distributed, Version, is_sparse, plan_array
from weft.cluster.mpi_array import Array, DistributedArray, bring, on_every_rank
from weft.cluster.mpi_grid import with_grids
from weft.cluster.mpi_run import Prepared, Run
from weft.cluster.plan import Plan, make
from weft.cluster.settings import current
from weft.cluster.sweeps import with_sweeps
from weft.errors import ClusterError, CompileError, FallbackWarning
from weft.ir.program import Program

if TYPE_CHECKING:
    from weft.frontend.regions import Split

#: Statements that may run others never, or more than once.
_WAYS = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)
#: What ends a loop or a function.
_LEAVES = (ast.Return, ast.Break, ast.Continue)
#: A call that one core does in so many seconds is not worth a message.
_SHORT = 1e-4
_WORD = 8


class MpiFunction(Distributed):
    """A function that runs on MPI ranks."""

    _takes_parts = True
    _timed = False  # ranks that run out of time would not agree with those that do not

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        world = mpi_world.world()
        if world.comm is None:
            self._tell(world.reason)
        values = self._bound(args, kwargs)
        if not self._same_everywhere(values):
            return self._here(args, kwargs)
        if values is None:
            return self.py_func(*args, **kwargs)
        found = self._version(values)
        if isinstance(found, str):
            self._warn(found)
            return self._here(args, kwargs) if self._apart is None else self._apart(*args, **kwargs)
        version, call = found
        if not self._worth(version, call):
            return self._here(args, kwargs)
        try:
            return self._run(version, call)
        except kernels.HandedBack:
            return self._here(args, kwargs)
        except CompileError as problem:
            self._warn(problem.reason)
            return self._here(args, kwargs)
        except OverflowError as problem:  # on all ranks
            if not kernels.is_beyond(problem) or version.written:
                raise
            return self._here(args, kwargs)

    def _made(self, program: Program, sizes: Mapping[str, int]) -> Plan:
        # Numbers are the same on all ranks, so that all of them take the same way at a branch.
        return with_grids(with_sweeps(make(program, sizes, self.options.fp == "strict", control=True, grids=True)))

    def _may_be_apart(self, found: Split) -> bool:
        """Only where every rank runs all of the parts: Python between them may be different on each."""
        return _runs_alike(found)

    def _tell(self, remark: str) -> None:
        if self.options.fallback == "warn" and remark not in self._warned:
            self._warned.add(remark)
            place = self._place()
            warnings.warn_explicit(f"{self.py_func.__name__}: {remark}", FallbackWarning, place.file, place.line)

    def _worth(self, version: Version, call: Call) -> bool:
        """Whether a call is large enough for messages; its size alone decides, so that all numbers of ranks agree."""
        if any(isinstance(value, DistributedArray) for value in call.given.values()):
            return True
        least = current().least_seconds
        return costs.plan_seconds(version.plan, call.numbers) >= (_SHORT if least is None else least)

    def _run(self, version: Version, call: Call) -> Any:
        plan = version.plan
        prepared = version.extra
        if prepared is None:
            prepared = version.extra = Prepared(version.programs)
        arrays = {name: _spread(value) for name, value in call.given.items() if plan_array(plan, name)}
        run = Run(prepared, call.numbers, call.scalars, dict(arrays), current().rows)
        try:
            left = run.steps(plan.steps)
        except CompileError:
            raise  # all ranks raise it
        except Exception:
            if mpi_world.world().size > 1 and not run.agreed:
                # Other ranks wait for this one: an error of weft's own must not become a hang.
                traceback.print_exc(file=sys.stderr)
                mpi_world.world().comm.Abort(1)
            raise
        version.last = (dict(call.numbers), {})
        self._give_back(arrays, run, call)
        return run.result(plan.program.results[plan.result if left is None else left.result], call.given)

    def _give_back(self, arrays: Mapping[str, DistributedArray], run: Run, call: Call) -> None:
        """Arguments that have changed, as their owners expect them."""
        changed = {id(array) for array in run.changed}
        for name, array in sorted(arrays.items()):
            if id(array) not in changed:
                continue
            value = call.given[name]
            if isinstance(value, DistributedArray):
                if value.touched:
                    value.gather()
                continue
            bring([(array, array.holdings.everywhere())])
            if array.frame is not value:
                value[...] = array.frame

    def _same_everywhere(self, values: tuple[Any, ...] | None) -> bool:
        """Whether all ranks have the same arguments: else an error on each of them, and for the parts of a function,
        between which Python has computed on each rank, False."""
        world = mpi_world.world()
        if world.size == 1:
            return True
        names = list(self._signature.parameters)
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        own = (name, None if values is None else tuple(map(_digest, values)))
        everyone = world.allgather(own)
        for rank, other in enumerate(everyone):
            if other[0] != everyone[0][0]:
                raise ClusterError(f"rank 0 has called {everyone[0][0]} and rank {rank} {other[0]}")
            if other[1] == everyone[0][1]:
                continue
            if self._is_part:
                return False
            if other[1] is None or everyone[0][1] is None:
                raise ClusterError(f"{name}: rank {rank} was called with other arguments than rank 0")
            differs = [at for at, pair in enumerate(zip(other[1], everyone[0][1])) if pair[0] != pair[1]]
            which = names[differs[0]] if differs else "?"
            raise ClusterError(
                f"{name}: the argument {which!r} of rank {rank} is not that of rank 0; all ranks must be called with "
                "the same arguments (a part on each rank is an array made by weft.distribute)"
            )
        return True


def _runs_alike(found: Split) -> bool:
    """Whether the parts of a function run as often on all ranks, whatever Python computes between them: they stand in
    no branch, only in loops over ranges of numbers and arguments, and nothing leaves those or the function early."""
    names = {region.name for region in found.regions}
    given = {arg.arg for arg in (*found.tree.args.posonlyargs, *found.tree.args.args, *found.tree.args.kwonlyargs)}
    stored = (node for node in ast.walk(found.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    given -= {node.id for node in stored}
    inner = [node for statement in found.tree.body[:-1] for node in ast.walk(statement)]
    if any(isinstance(node, _LEAVES) for node in inner):
        return False
    ways = [node for statement in found.tree.body for node in ast.walk(statement) if isinstance(node, _WAYS)]
    return not any(
        isinstance(node, ast.Name) and node.id in names
        for way in ways
        if not _is_fixed(way, given)
        for node in ast.walk(way)
    )


def _is_fixed(way: ast.stmt, given: set[str]) -> bool:
    """for k in range(n): of an argument n, or of a number"""
    if not isinstance(way, ast.For) or not isinstance(way.iter, ast.Call) or way.iter.keywords:
        return False
    called, counts = way.iter.func, way.iter.args
    return (
        isinstance(called, ast.Name)
        and called.id == "range"
        and all(isinstance(n, ast.Constant) or (isinstance(n, ast.Name) and n.id in given) for n in counts)
    )


def _spread(value: Any) -> DistributedArray:
    if isinstance(value, DistributedArray):
        return value
    return on_every_rank(np.ascontiguousarray(value) if not value.flags.c_contiguous else value)


def _digest(value: Any) -> Any:
    """What must be equal on all ranks of an argument."""
    if isinstance(value, DistributedArray):
        return "distributed", value.shape, value.dtype.str, value.distribution
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.str, _checksum(value)
    if type(value) is list:
        return "list", len(value), zlib.crc32(repr(value).encode())
    if is_sparse(value):
        return type(value).__name__, value.shape, tuple(
            (name, part.dtype.str, part.shape, _checksum(part))
            for name, part in sorted(vars(value).items())
            if isinstance(part, np.ndarray)
        )
    plain = (bool, int, float, complex, str, bytes, type(None), np.generic, tuple)
    return (type(value).__name__, repr(value) if isinstance(value, plain) else "")


def _checksum(array: Array) -> int:
    """A sum over all elements at the speed of memory, with the order of a sample of them."""
    if array.dtype.hasobject:
        return 0
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    words = flat[: flat.size // _WORD * _WORD].view(np.uint64)
    total = int(np.add.reduce(words, dtype=np.uint64)) if words.size else 0
    sample = words[:: max(words.size // 1024, 1)].tobytes() + flat[words.size * _WORD :].tobytes()
    return zlib.crc32(sample, total & 0xFFFFFFFF) ^ total


def traffic() -> Mapping[str, int]:
    """What all ranks have sent since the count began: messages and bytes (collective)."""
    found = mpi_world.world().total()
    return {"messages": found.messages, "bytes": found.bytes}
