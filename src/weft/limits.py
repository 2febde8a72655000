"""The numbers by which compiled code chooses at run time: how much work is worth threads, which sizes the library.

In: nothing; out: a table of limits, each with the value weft ships, in the order in which kernels find them in the
run-time table.  Generated code names a limit and never contains its value, so the same code runs everywhere: measuring
the machine (`weft.runtime.machine`) changes which branch a call takes, and no compiled file.
"""

from __future__ import annotations

from typing import Final

from weft.records import dataclass


@dataclass(frozen=True)
class Limit:
    """`changes_rounding`: the two branches may add in another order, as floating-point mode "numpy" allows."""

    name: str
    default: float
    meaning: str
    changes_rounding: bool = False


LIMITS: Final[tuple[Limit, ...]] = (
    Limit("parallel", 20_000.0, "cycles of work from which threads are woken"),
    Limit("crowded", 400_000.0, "the same, beside calls of a library that has threads of its own"),
    Limit("gemm", 64.0, "multiplications from which a matrix product is left to the library", True),
    Limit("gemv", 200.0, "multiplications from which a matrix-vector product is left to the library", True),
    Limit("dot", 256.0, "multiplications from which an inner product is left to the library", True),
    Limit("sparse", 64.0, "multiplications of a dense product in the time of one of a sparse product", True),
    Limit("first_cache", 32.0 * 1024, "bytes of the first cache of a core"),
    Limit("private_cache", 1024.0 * 1024, "bytes of the largest cache that a core has to itself"),
    Limit("shared_cache", 32.0 * 1024 * 1024, "bytes of the last cache"),
    Limit("threads", 2.0, "threads of this process, asked for when the code runs"),
)

LIMIT: Final[dict[str, Limit]] = {limit.name: limit for limit in LIMITS}
POSITION: Final[dict[str, int]] = {limit.name: position for position, limit in enumerate(LIMITS)}
#: Room for limits in the run-time table of kernels.
PLACES: Final = 16
