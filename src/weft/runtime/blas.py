"""The BLAS that NumPy has already loaded, as function addresses for kernels.

In: the shared libraries of this process. Out: a `BlasTable` whose functions are CBLAS entry points, proven on one small
product, or None: a machine without a usable BLAS is no error, kernels then use their own loops.

A second table is for kernels whose own threads each call BLAS: there the library's threads would be in the way, and to
tell it so would change what NumPy does in other threads of the process. A copy of the file is a library with variables
of its own, which is told to use one thread (`alone`); OpenBLAS can be told.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

from weft.records import dataclass
from weft.runtime.cache import default_cache, digest, library

#: In the order of the kernel's table.
FUNCTIONS: Final = (
    "sgemm", "dgemm", "cgemm", "zgemm", "sgemv", "dgemv", "cgemv", "zgemv",
    "sdot", "ddot", "sger", "dger", "ssyrk", "dsyrk", "strsm", "dtrsm",
)  # fmt: skip

_NAMES: Final = ("openblas", "mkl_rt", "flexiblas", "blis", "cblas", "libblas", "accelerate", "veclib")
_ROW_MAJOR, _NO_TRANSPOSE = 101, 111


@dataclass(frozen=True)
class BlasTable:
    """Addresses in the order of FUNCTIONS (0: absent), and whether their integers have 64 bits."""

    path: str
    ilp64: bool
    addresses: tuple[int, ...]


def find() -> BlasTable | None:
    """The first loaded library, NumPy's own before others, whose matrix product is right."""
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        table = _table(library, path)
        if table is not None:
            return table
    return None


def _candidates() -> list[str]:
    def rank(path: str) -> tuple[bool, bool]:
        # SciPy brings a second BLAS: with NumPy's, results equal those of `np.dot`.
        return ("numpy" not in path, "scipy.libs" in path)

    loaded = set(_loaded_libraries())  # each has several lines there
    paths = {path for path in loaded if any(name in path.rsplit("/", 1)[-1].lower() for name in _NAMES)}
    return sorted(sorted(paths), key=rank)


def _loaded_libraries() -> Iterator[str]:
    if sys.platform == "darwin":
        system = ctypes.CDLL(None)
        system._dyld_get_image_name.restype = ctypes.c_char_p
        for index in range(system._dyld_image_count()):
            yield (system._dyld_get_image_name(index) or b"").decode(errors="replace")
        return
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            lines = maps.read().splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5].startswith("/"):
            yield fields[5]


def alone(table: BlasTable) -> BlasTable | None:
    """The functions of a copy of the library that computes on the caller's thread; None if there cannot be one."""
    try:
        original, copy = ctypes.CDLL(table.path), library(_copied(Path(table.path)), ctypes.CDLL)
    except OSError:
        return None
    for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):
        getter, setter = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
        if not (hasattr(copy, getter) and hasattr(copy, setter)):
            continue
        before = getattr(original, getter)()
        getattr(copy, setter)(1)
        if getattr(original, getter)() != before:  # the loader has given us the same variables
            getattr(original, setter)(before)
            return None
        return _table(copy, table.path) if getattr(copy, getter)() == 1 else None
    return None


def _copied(path: Path) -> Path:
    """The file as an entry of the cache, which is checked before it is loaded: a part of it would end the process."""
    status = path.stat()
    key, name = digest("BLAS alone", str(path), status.st_size, status.st_mtime_ns), f"blas{path.suffix}"
    return (default_cache().get(key) or default_cache().put(key, {name: path})) / name


def _table(library: ctypes.CDLL, path: str) -> BlasTable | None:
    for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):
        names = [f"{prefix}cblas_{function}{suffix}" for function in FUNCTIONS]
        if not hasattr(library, names[FUNCTIONS.index("dgemm")]):
            continue
        addresses = tuple(_address(library, name) for name in names)
        table = BlasTable(path, bool(suffix) or _has_wide_integers(library, prefix), addresses)
        if _product_is_right(table):
            return table
    return None


def _address(library: ctypes.CDLL, name: str) -> int:
    if not hasattr(library, name):
        return 0
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def _has_wide_integers(library: ctypes.CDLL, prefix: str) -> bool:
    """Some builds of OpenBLAS have 64-bit integers behind undecorated names; they say so in their description."""
    name = f"{prefix}openblas_get_config"
    if not hasattr(library, name):
        return False
    describe = getattr(library, name)
    describe.restype = ctypes.c_char_p
    return b"USE64BITINT" in (describe() or b"")


def _product_is_right(table: BlasTable) -> bool:
    """[[1, 2, 3], [4, 5, 6]] @ [[1, 2], [3, 4], [5, 6]] through dgemm, the output in every second row of a buffer."""
    integer = ctypes.c_int64 if table.ilp64 else ctypes.c_int
    real = ctypes.c_double
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_int, ctypes.c_int, ctypes.c_int, integer, integer, integer, real, ctypes.c_void_p, integer,
        ctypes.c_void_p, integer, real, ctypes.c_void_p, integer,
    )  # fmt: skip
    dgemm = prototype(table.addresses[FUNCTIONS.index("dgemm")])
    left = (real * 6)(1, 2, 3, 4, 5, 6)
    right = (real * 6)(1, 2, 3, 4, 5, 6)
    out = (real * 8)(*[7] * 8)
    dgemm(_ROW_MAJOR, _NO_TRANSPOSE, _NO_TRANSPOSE, 2, 2, 3, 1.0, left, 3, right, 2, 0.0, out, 4)
    return list(out) == [22, 28, 7, 7, 49, 64, 7, 7]


def set_num_threads(count: int) -> bool:
    """Let the BLAS that NumPy has loaded use `count` threads; False if it cannot be told (only OpenBLAS can)."""
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):
            setter = f"{prefix}openblas_set_num_threads{suffix}"
            if hasattr(library, setter):
                getattr(library, setter)(count)
                return True
    return False
