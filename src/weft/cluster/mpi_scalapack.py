"""Products by ScaLAPACK.  In: matrices that are dealt round a grid of processes in blocks; out: their product, dealt
round the same grid, computed by pdgemm of the machine's own library where there is one.

Its matrices lie column by column, weft's row by row: the same memory is the transposed matrix on the transposed
grid, so that C = A B is asked for as C' = B' A'.  The library must be of the MPI that mpi4py uses; it is found by its
usual names or by the path in WEFT_SCALAPACK.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.cluster import mpi_world
from weft.cluster.mpi_array import Array, DistributedArray
from weft.cluster.mpi_boxes import slices
from weft.cluster.mpi_holdings import spread
from weft.cluster.mpi_layout import Distribution

#: The routine for each dtype.
_ROUTINES = {"f": "psgemm_", "d": "pdgemm_", "F": "pcgemm_", "D": "pzgemm_"}
_NAMES = {"Open MPI": ("scalapack-openmpi", "scalapack"), "MPICH": ("scalapack-mpich", "scalapack")}
#: Fields of a description of a distributed matrix, and its type.
_FIELDS, _DENSE = 9, 1


@functools.lru_cache(maxsize=1)
def library() -> Any:
    """The library; None unless every rank can load it (collective)."""
    world = mpi_world.world()
    if world.comm is None:
        return None
    found = _loaded()
    return found if all(world.allgather(found is not None)) else None


def _loaded() -> Any:
    from mpi4py import MPI

    given = os.environ.get("WEFT_SCALAPACK")
    names = _NAMES.get(MPI.get_vendor()[0], ("scalapack",))
    for path in [given] if given else map(ctypes.util.find_library, names):
        if path:
            try:
                # MPI is loaded already, so that the library finds that one and no other of the same name.
                return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
    return None


def why_not(left: DistributedArray, right: DistributedArray) -> str | None:
    """Why ScaLAPACK does not multiply two arrays; None if it does."""
    a, b = left.distribution, right.distribution
    if a is None or b is None or not left.is_as_distributed or not right.is_as_distributed:
        return "they are not dealt in blocks"
    if left.ndim != 2 or right.ndim != 2:
        return "they are not both matrices"
    if a.grid != b.grid or a.blocks[1] != b.blocks[0]:
        return f"blocks {a.blocks} on a grid {a.grid} do not fit blocks {b.blocks} on a grid {b.grid}"
    if not any(extent > block * count for layout in (a, b) for extent, block, count in _axes(layout)):
        return "each process has one block, which needs no dealing"
    if left.dtype != right.dtype or left.dtype.char not in _ROUTINES:
        return f"there is no routine for {left.dtype} and {right.dtype}"
    if 0 in (*left.shape, *right.shape):
        return "there is nothing to multiply"
    return "there is no ScaLAPACK" if library() is None else None


def _axes(layout: Distribution) -> list[tuple[int, int, int]]:
    return list(zip(layout.shape, layout.blocks, layout.grid))


@functools.lru_cache(maxsize=16)
def _context(grid: tuple[int, int]) -> int:
    """A grid of processes of ScaLAPACK's, the transposed one of weft's (collective)."""
    blacs = library()
    context = ctypes.c_int()
    blacs.Cblacs_get(-1, 0, ctypes.byref(context))
    blacs.Cblacs_gridinit(ctypes.byref(context), b"Col", grid[1], grid[0])
    return context.value


def matmul(left: DistributedArray, right: DistributedArray) -> DistributedArray:
    """The product of two matrices of which `why_not` says nothing."""
    a, b = left.distribution, right.distribution
    assert a is not None and b is not None
    world = mpi_world.world()
    layout = Distribution((left.shape[0], right.shape[1]), (a.blocks[0], b.blocks[1]), a.grid)
    out = np.zeros(layout.local_shape(world.rank), left.dtype)
    context = _context((a.grid[0], a.grid[1]))
    if world.rank < layout.ranks:
        _gemm(context, [(b, right.local), (a, left.local), (layout, out)])
    frame = np.empty(layout.shape, left.dtype)
    for box in layout.boxes(world.rank):
        at = layout.local_index([low for low, _ in box])
        frame[slices(box)] = out[tuple(slice(i, i + high - low) for i, (low, high) in zip(at, box))]
    return DistributedArray(frame, spread(layout, world.size), layout)


def _gemm(context: int, matrices: Sequence[tuple[Distribution, Array]]) -> None:
    parts = [np.ascontiguousarray(part) for _, part in matrices]
    descriptions = [_description(context, layout, part) for (layout, _), part in zip(matrices, parts)]
    (first, _), (second, _), _ = matrices
    sizes = [ctypes.byref(ctypes.c_int(n)) for n in (first.shape[1], second.shape[0], first.shape[0])]
    one = ctypes.byref(ctypes.c_int(1))
    dtype = parts[2].dtype
    alpha, beta = (np.array(value, dtype) for value in (1, 0))
    arguments: list[Any] = [b"N", b"N", *sizes, alpha.ctypes.data_as(ctypes.c_void_p)]
    for number, (part, description) in enumerate(zip(parts, descriptions)):
        if number == 2:
            arguments.append(beta.ctypes.data_as(ctypes.c_void_p))
        arguments += [part.ctypes.data_as(ctypes.c_void_p), one, one, description]
    getattr(library(), _ROUTINES[dtype.char])(*arguments)
    target = matrices[2][1]
    if parts[2] is not target:
        target[...] = parts[2]


def _description(context: int, layout: Distribution, part: Array) -> Any:
    """The transposed matrix as ScaLAPACK is told of it."""
    leading = max(part.shape[1], 1)
    values = (_DENSE, context, *reversed(layout.shape), *reversed(layout.blocks), 0, 0, leading)
    return (ctypes.c_int * _FIELDS)(*values)
