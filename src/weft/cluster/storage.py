"""Arrays that lie in files.  In: an ndarray, a memmap, a dataset of HDF5 or Zarr (anything with a shape, a dtype and
slices); out: a `Store`, of which parts are read and written without the rest of it in memory.
"""

from __future__ import annotations

import errno
import importlib
import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.records import dataclass

Array = np.ndarray[Any, Any]
#: Copies between files go through so many bytes of memory at a time.
COPY_BYTES = 16 << 20


class StorageError(WeftError):
    """An argument or target of out-of-core processing that cannot be used."""


def is_stored(value: Any) -> bool:
    """Whether a value is an array that a library keeps in a file: it has a shape, a dtype and slices, as h5py's and
    Zarr's have, and is no NumPy array.
    """
    if isinstance(value, (np.ndarray, np.generic, type)):
        return False
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return isinstance(shape, tuple) and isinstance(dtype, np.dtype) and hasattr(value, "__getitem__")


def native(dtype: Any) -> np.dtype[Any]:
    """A dtype in the byte order of this machine."""
    found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    return found


class Store:
    """An array in memory or in a file, by parts."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.shape: tuple[int, ...] = tuple(value.shape)
        self.dtype = native(value.dtype)
        self.is_mapped = isinstance(value, np.ndarray)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def read(self, axis: int | None, first: int, past: int) -> Array:
        """The elements first .. past along an axis, or all of them; a view where the array is mapped into memory."""
        found = np.asarray(self.value[along(axis, first, past)])
        return found if found.dtype == self.dtype else found.astype(self.dtype)

    def write(self, axis: int | None, first: int, past: int, block: Array) -> None:
        self.value[along(axis, first, past)] = block

    def release(self) -> None:
        """Give back memory that only mirrors the file; the file, and what was written to it, stay."""
        mapping = _mapping(self.value)
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)

    def flush(self) -> None:
        if isinstance(self.value, np.memmap):
            self.value.flush()

    @property
    def is_found(self) -> bool:
        """Whether other processes can open the file that holds it."""
        return _address(self.value) is not None

    def __reduce__(self) -> tuple[Any, ...]:
        """A store travels as the place of its file, and is opened again where it arrives."""
        address = _address(self.value)
        return (Store, (self.value,)) if address is None else (_reopened, address)


def along(axis: int | None, first: int, past: int) -> Any:
    """The index for elements first .. past of an axis."""
    return ... if axis is None else (slice(None),) * axis + (slice(first, past),)


def _mapping(value: Any) -> Any:
    """The mapped file behind an array if the pages are shared with the file, so that none is lost by giving it back."""
    mapped, shared = None, False
    while isinstance(value, np.ndarray):
        if isinstance(value, np.memmap):
            mapped = getattr(value, "_mmap", None)
            shared = value.mode != "c"
        value = value.base
    return mapped if shared else None


def _address(value: Any) -> tuple[Any, ...] | None:
    """Where an array lies, for another process: its file and its place there; None for one in memory."""
    root = value
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray):
        root = root.base
    if isinstance(root, np.memmap) and root.filename is not None:
        place = value.ctypes.data - root.ctypes.data + root.offset
        return "mapped", str(root.filename), (value.shape, value.dtype.str, place, value.strides)
    home = getattr(getattr(value, "file", None), "filename", None)
    if isinstance(home, str) and isinstance(getattr(value, "name", None), str):
        return "hdf5", home, value.name
    where = getattr(getattr(value, "store", None), "root", None)
    return ("zarr", str(where), value.path) if isinstance(where, (str, Path)) else None


def _reopened(kind: str, home: str, place: Any) -> Store:
    """The array of an address, to be read."""
    try:
        if kind == "mapped":
            shape, dtype, start, steps = place
            raw = np.memmap(home, np.uint8, "r")
            return Store(np.ndarray(shape, dtype, raw, start, steps))
        if kind == "hdf5":
            return Store(importlib.import_module("h5py").File(home, "r")[place])
        return Store(importlib.import_module("zarr").open_array(home, path=place or None, mode="r"))
    except OSError as problem:
        remedy = "all workers must see the files: give `directory=` on a shared file system"
        raise StorageError(f"{home} cannot be opened by a worker ({problem}); {remedy}") from problem


@dataclass(frozen=True)
class Part:
    """Elements first .. past along an axis of a store (axis None: all): what a task takes instead of an array."""

    store: Store
    axis: int | None
    first: int = 0
    past: int = 0

    def load(self) -> Array:
        return self.store.read(self.axis, self.first, self.past)


class Scratch:
    """A directory of files for arrays that do not fit into memory: files go with the arrays, it goes at the end."""

    def __init__(self, directory: str | Path | None) -> None:
        if directory is not None and not Path(directory).is_dir():
            raise StorageError(f"there is no directory {directory}")
        self._home = tempfile.TemporaryDirectory(prefix="weft-", dir=directory, ignore_cleanup_errors=True)
        self._count = 0

    def make(self, shape: tuple[int, ...], dtype: Any) -> Store:
        """A new array of zeros in a file of its own."""
        self._count += 1
        return Store(new_file(Path(self._home.name) / f"{self._count}.npy", shape, dtype))

    def forget(self, store: Store) -> None:
        """A file whose array nobody needs any more."""
        name = getattr(store.value, "filename", None)
        if name is not None and Path(name).parent == Path(self._home.name):
            Path(name).unlink(missing_ok=True)

    def mapped(self, store: Store) -> Store:
        """A copy in a file that can be mapped into memory, made piece by piece."""
        made = self.make(store.shape, store.dtype)
        copy(store, made)
        return made

    def close(self) -> None:
        self._home.cleanup()


def new_file(path: Path, shape: tuple[int, ...], dtype: Any) -> Any:
    """A new .npy file, mapped into memory; an empty array, which no file can be mapped for, in memory."""
    if not math.prod(shape):
        return np.zeros(shape, native(dtype))
    try:
        made = np.lib.format.open_memmap(path, mode="w+", dtype=native(dtype), shape=shape)
        _reserve(path)
    except OSError as problem:
        if path.is_file():
            path.unlink()
        raise StorageError(f"cannot make a file for an array: {problem}") from problem
    return made


def _reserve(path: Path) -> None:
    """Room on the disk for a whole file: a page of a mapped file that finds none would end the process."""
    if not hasattr(os, "posix_fallocate"):
        return  # the system has files without holes
    with open(path, "r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
        except OSError as problem:
            if problem.errno not in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
                raise


def copy(source: Store, target: Store) -> None:
    """All elements, piece by piece along the first axis."""
    if not source.shape or not source.nbytes:
        target.write(None, 0, 0, source.read(None, 0, 0))
        return
    rows = max(COPY_BYTES * source.shape[0] // source.nbytes, 1)
    for first in range(0, source.shape[0], rows):
        past = min(first + rows, source.shape[0])
        target.write(0, first, past, source.read(0, first, past))
        source.release()
        target.release()


def stand_in(value: Any) -> Array:
    """An array of the same shape for the compiler to look at, which takes no memory."""
    shape, dtype = tuple(value.shape), native(value.dtype)
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        pages = mmap.mmap(file.fileno(), size)
    array: Array = np.ndarray(shape, dtype, buffer=pages)
    return array
