"""Operations that are functions of other libraries.  In: what a user or the knowledge base has declared; out: an
operation of the IR like any other, pure, on operands of one dtype.

    y[i] = a[i] * foreign_scipy_special_erf(x[i])

The interpreter and the Python back end call the Python function; C calls the loop of a ufunc, or a function of C, by an
address that the run time finds by its key (`runtime.foreign`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.ir.ops import OPERATIONS, Operation
from weft.ir.types import DType
from weft.records import dataclass


@dataclass(frozen=True)
class Foreign:
    """A function of numbers.  `keys`: for each dtype what the run time finds it by.  `ctypes`: the types in C of its
    parameters and of its result; None for the loop of a ufunc."""

    op: str
    arity: int
    keys: Mapping[DType, str]
    ctypes: tuple[str, ...] | None = None


#: The declared functions, by the name of their operation.
FOREIGN: dict[str, Foreign] = {}


def declare(foreign: Foreign, function: Callable[..., Any], cost: int) -> None:
    """Make a function an operation; `function` is what Python calls, on NumPy scalars or arrays."""

    def evaluate(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*args))
        return result.astype(np.asarray(args[0]).dtype, copy=False)[()]

    FOREIGN[foreign.op] = foreign
    OPERATIONS[foreign.op] = Operation(foreign.op, foreign.arity, evaluate, cost=cost)
