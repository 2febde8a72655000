"""Limits lowered, so that programs of a few iterations take the ways of large ones: tiles on diagonals, blocks of rows,
several steps at a time, panels, deferred updates, library routines and threads.  In comes nothing; out comes a context
in which programs are compiled, interpreted and run with these limits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from unittest.mock import patch

from weft import limits
from weft.passes import block, forward, jam, lanes, match, paired, search, trapezoid, wavefront
from weft.passes.matching import deferred, prefix, strips, triangles
from weft.passes.raising import keep
from weft.passes.scheduling import kinds, partial, shift, tile, uncut
from weft.runtime import dispatch, machine

#: What a program can tell apart in seven iterations.
SMALL: tuple[tuple[ModuleType, dict[str, object]], ...] = (
    (wavefront, {"ROWS": 2, "MORE_COLUMNS": 1, "BLOCK": (2, 3), "LEAST": 2}),
    (deferred, {"ROWS": 2}),
    (prefix, {"ROWS": 2}),
    (triangles, {"ROWS": 2}),
    (strips, {"ROWS": 2, "COLUMNS": 3}),
    (match, {"PANELS": 0.0, "PREFIX": 0.0, "DEFERRED": 0.0, "EAGER": 0.0}),
    (lanes, {"ALONG": 4, "HELD": 3, "LEAST": 2}),
    (jam, {"BLOCK": 2, "LEAST_COLUMNS": 1}),
    (kinds, {"BLOCK": 3, "MAX_BLOCKS": 2, "COLUMNS": 2}),
    (partial, {"MAX_BLOCKS": 2}),
    (uncut, {"BLOCK": 3}),
    (search, {"BLOCK": 3, "MAX_BLOCKS": 2}),
    (paired, {"LEAST_BYTES": 0.0, "BLOCKS": 2, "COLUMNS": 2}),
    (shift, {"SHORT": 1}),
    (tile, {"_INNER_SIZES": (3, 2), "_OUTER_SIZES": (2,)}),
    (trapezoid, {"WANTED_STEPS": 2, "LEAST_BLOCKS": 2, "MOST_STEPS": 3}),
    (block, {"SIDE": 2}),
    (keep, {"WORTH": 1}),
    (forward, {"_DEAR": 1}),
)
#: The numbers that are known at run time only.  Caches of a few rows make every array a large one.
AT_RUN_TIME = {
    "parallel": 0.0,
    "crowded": 0.0,
    "gemm": 0.0,
    "gemv": 0.0,
    "dot": 0.0,
    "sparse": 1.0,
    "first_cache": 64.0,
    "private_cache": 512.0,
    "shared_cache": 1024.0,
    "threads": 2.0,
}


@contextmanager
def lowered() -> Iterator[None]:
    """Everything compiled, interpreted or called inside takes small sizes for large ones."""
    lower = {name: replace(limit, default=AT_RUN_TIME[name]) for name, limit in limits.LIMIT.items()}
    with patch.dict(limits.LIMIT, lower):
        patches = [patch.multiple(module, **names) for module, names in SMALL]
        for one in patches:
            one.start()
        _tell({**machine.limits_here(), **AT_RUN_TIME})
        try:
            yield
        finally:
            _tell(machine.limits_here())
            for one in reversed(patches):
                one.stop()


def _tell(numbers: dict[str, float]) -> None:
    """Numbers for the kernels that run from now on."""
    core = dispatch.load_core()
    if core is not None:
        values = [numbers[limit.name] for limit in limits.LIMITS]
        places = (ctypes.c_double * limits.PLACES)(*values)
        core.library.weft_set_limits(places)
