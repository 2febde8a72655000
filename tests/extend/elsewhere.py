"""Stand-ins for places that emitted modules run on: Ray in this process, NumPy as the array module."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np


class Reference:
    """What stands for an object of a cluster."""

    def __init__(self, value: Any) -> None:
        self.value = value


class InProcess:
    """As much of Ray as emitted modules use; tasks run at once, on arrays that nobody may write."""

    ObjectRef = Reference

    def put(self, value: Any) -> Reference:
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        return Reference(value)

    def get(self, wanted: Any) -> Any:
        return [one.value for one in wanted] if isinstance(wanted, list) else wanted.value

    def remote(self, function: Callable[..., Any], returns: int = 1) -> Any:
        def call(*args: Any) -> Any:
            found = function(*(arg.value if isinstance(arg, Reference) else arg for arg in args))
            return self.put(found) if returns == 1 else [self.put(one) for one in found]

        return types.SimpleNamespace(
            remote=call, options=lambda num_returns: self.remote(function, returns=num_returns)
        )


def always(module: Any) -> None:
    """Every call is worth the way."""
    module.LEAST = 0


def use_ray(module: Any) -> None:
    always(module)
    here = InProcess()
    module._ray = lambda: here


def use_module(module: Any) -> None:
    always(module)
    module._module = lambda: np


def sizes(arguments: Any) -> list[int]:
    """Of the arrays among some arguments."""
    return [argument.size for argument in arguments if isinstance(argument, np.ndarray)]
