"""Ports written by hand, as a user of the framework would write them, for kernels whose source it does not take and
for which no rule gives anything good. A port takes the kernel's arguments and returns its value together with the
arguments that the kernel writes, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_JAX_MODULES = ("solvers", "linear", "fields", "discrete", "networks")


def jax_port(kernel: str) -> Callable[..., Any] | None:
    """The JAX port of a kernel, if there is one."""
    for name in _JAX_MODULES:
        found: Callable[..., Any] | None = getattr(import_module(f"{__name__}.jax_{name}"), kernel, None)
        if found is not None:
            return found
    return None
