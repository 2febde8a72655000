"""`numba.experimental`: `jitclass` gives the class as it is; weft compiles methods into the callers."""

from __future__ import annotations

from typing import Any

from weft.compat.notes import noted


def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any:
    """`@jitclass(spec)` or `@jitclass`: the class itself, its fields not converted to the types of the spec."""
    noted("jitclass", "the class is plain Python; its fields are not converted to the types of the spec")
    return cls_or_spec if isinstance(cls_or_spec, type) else lambda kind: kind
