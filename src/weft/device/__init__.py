"""Devices: the same function as kernels for OpenCL or CUDA, and arrays that stay where kernels are.

lowered Program --split--> Plan (host steps, kernels) --kernels--> text in a dialect --engine--> launches
"""

from __future__ import annotations

_HOME = {"put": "weft.device.array", "DeviceArray": "weft.device.array"}

__all__ = ["DeviceArray", "put"]


def __getattr__(name: str) -> object:
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module 'weft.device' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
