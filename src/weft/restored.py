"""Versions of a compiled function that outlive the process.  In: the function and the kinds of arguments of a call;
out: the version that another process has compiled, installed; or one that is kept for others.  Without its disk cache
a function works all the same: an error on the way is a warning.
"""

from __future__ import annotations

import itertools
from time import perf_counter
from typing import TYPE_CHECKING, Any

from weft import recalled, registry, steps
from weft.options import lines_of
from weft.records import dataclass
from weft.runtime import dispatch, foreign

if TYPE_CHECKING:
    from weft.compiled import Compiled
    from weft.runtime.versions import Kept


@dataclass
class Restored:
    """A version from the disk cache; how it was made is worked out again only if somebody asks."""

    kept: Kept
    kinds: tuple[Any, ...]
    sample: tuple[Any, ...]
    read: float
    tried: int = 0
    full: Compiled | None = None

    @property
    def signature(self) -> str:
        return self.kept.signature

    @property
    def c_source(self) -> str | None:
        return self.kept.c_source

    @property
    def seconds(self) -> dict[str, float]:
        return {"total": self.read, "disk cache": self.read}


def light(value: Any) -> Any:
    """A stand-in for an argument that keeps its type and sizes and none of its memory."""
    import numpy as np

    if type(value) is np.ndarray and value.size > 16:
        strides = tuple(0 if value.size else s for s in value.strides)
        return np.lib.stride_tricks.as_strided(np.empty(1, value.dtype), value.shape, strides)
    if type(value) in (dict, set) and len(value) > 16:
        first = itertools.islice(value.items() if type(value) is dict else value, 16)
        return type(value)(first)
    return value


def key_of(function: Any, kinds: tuple[Any, ...], attempt: int, general: int | None = None) -> str | None:
    """The place of a version in the disk cache; None if it has none."""
    from weft.frontend.specs import ObjectSpec
    from weft.runtime import versions

    options = function.options
    if not options.cache or not registry.is_kept(options.backend) or dispatch.load_core() is None:
        return None
    steps.enter("cache key")
    named = [k.key if isinstance(k, ObjectSpec) else repr(k) for k in kinds]
    text = ", ".join(named)
    text += "".join(f"; {asked}" for asked in function.transforms()) + foreign.stamp()
    text += lines_of(function.py_func.__code__.co_filename)
    return versions.key_for(function.py_func, text, options, attempt, attempt if general is None else general)


def cells(function: Any) -> dict[str, Any]:
    """The variables of a closure."""
    return dict(zip(function._defined.__code__.co_freevars, function._defined.__closure__ or ()))


def restore(function: Any, stored: str, kinds: tuple[Any, ...], values: tuple[Any, ...], tried: int) -> bool:
    """Install a version from the disk cache; False if there is none."""
    from weft.runtime import versions

    start = perf_counter()
    try:
        steps.enter("restore")
        kept = versions.restore(stored, function.py_func, cells(function))
    except steps.OutOfTime:
        raise
    except Exception as trouble:
        recalled.without_cache(function, trouble)
        return False
    if kept is None:
        return False
    sample = function._sample = (kinds, tuple(map(light, values)))
    function._install(Restored(kept, *sample, perf_counter() - start, tried), kept.version, kinds, tried)
    return True


def keep(function: Any, stored: str, compiled: Compiled) -> None:
    """Keep a version for other processes."""
    from weft.runtime import versions

    if compiled.c_source is None or compiled.library is None or compiled.version is None:
        return
    try:
        steps.enter("keep")
        versions.keep(
            stored,
            compiled.version,
            signature=compiled.signature,
            c_source=compiled.c_source,
            library=compiled.library,
            cells=cells(function),
            function=function.py_func,
        )
    except Exception as trouble:
        recalled.without_cache(function, trouble)


def full(function: Any, version: Compiled | Restored) -> Compiled:
    """Everything about a version, also about one that came from the disk cache."""
    if not isinstance(version, Restored):
        return version
    if version.full is None:
        version.full = function._front(version.kinds, version.sample, version.tried == 0)
        version.full.c_source = version.kept.c_source
        version.full.seconds = version.seconds
    made: Compiled = version.full
    return made
