"""`numba.experimental`: `jitclass` gives the class as it is; weft compiles methods into the callers."""

from __future__ import annotations

import types
from typing import Any

from weft.compat.notes import noted
from weft.compat.numba.types import Opaque


def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any:
    """`@jitclass(spec)` or `@jitclass`: the class itself, its fields not converted to the types of the spec."""
    noted("jitclass", "the class is plain Python; its fields are not converted to the types of the spec")
    return _named(cls_or_spec) if isinstance(cls_or_spec, type) else _named


def _named(kind: Any) -> Any:
    """The class, with the names by which specs of other classes speak of its objects."""
    instances = Opaque(f"instance.jitclass.{kind.__name__}")
    kind.class_type = types.SimpleNamespace(instance_type=instances, class_name=kind.__name__)
    return kind
