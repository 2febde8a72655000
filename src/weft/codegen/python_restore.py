"""Arrays of the caller that are put back.  In: the Python function of a program; out: one that puts arguments back
whenever the call is handed back after it has written them (as `c_restore.py` does in C)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.analysis.scopes import restored
from weft.ir.program import Program
from weft.runtime.descriptor import GuardFailed


def restoring(program: Program, function: Callable[..., object]) -> Callable[..., object]:
    """`function`, which leaves the arrays that it writes as they were if it raises; Python repeats the call."""
    names = restored(program)
    places = [at for at, name in enumerate(program.params) if name in names]
    if not places:
        return function

    def call(*values: object) -> object:
        kept = [(value, value.copy()) for value in (values[at] for at in places) if isinstance(value, np.ndarray)]
        try:
            return function(*values)
        except Exception as problem:  # whatever it is: Python finds out what comes first
            for value, old in kept:
                value[...] = old
            raise GuardFailed(str(problem)) from problem

    return call
