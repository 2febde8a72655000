"""Versions of a compiled function that outlive the process.  In: the function and the kinds of arguments of a call;
out: the version that another process has compiled, installed; or one that is kept for others.  Without its disk cache
a function works all the same: an error on the way is a warning.
"""

from __future__ import annotations

import itertools
from time import perf_counter
from typing import TYPE_CHECKING, Any

from weft import recalled, registry, steps
from weft.naming import home_of
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


#: Of longer containers a stand-in has so many items; of lists more, as their length matters beside arrays.
_ITEMS = 16
_LENGTH = 4096
#: So many containers and objects are gone into; what is behind them is of no interest to the compiler of arrays.
_MOST_PARTS = 200
_HEAP_TYPE = 1 << 9


def light(value: Any) -> Any:
    """A stand-in for an argument that keeps its type and sizes and none of its memory; nobody's object lives longer
    because weft has seen it."""
    return _StandIns().of(value)


class _StandIns:
    """Stand-ins for an argument and what it holds: for one object one, however many ways lead to it."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        if id(value) not in self.made:
            is_array = type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"
            made = _of_array(value) if is_array else self._empty(value)
            self.made[id(value)] = made
            if made is not value and not is_array and len(self.made) < _MOST_PARTS:
                self._fill(made, value)
        return self.made[id(value)]

    def _empty(self, value: Any) -> Any:
        """A container or object without what is in it; anything else as it is."""
        cls = type(value)
        if cls in (list, dict, set):
            return cls()
        own = type(getattr(value, "__dict__", None)) is dict and cls.__flags__ & _HEAP_TYPE
        made_by: Any = cls.__new__
        if not own or type(cls) is not type or made_by is not object.__new__ or hasattr(cls, "__del__"):
            return value  # none can be made without the program's code
        return value if home_of(cls).startswith("scipy.") else object.__new__(cls)

    def _fill(self, made: Any, value: Any) -> None:
        if type(value) is list:
            made.extend(map(self.of, value[:_ITEMS]))
            made.extend(made[-1:] * (min(len(value), _LENGTH) - len(made)))
        elif type(value) is dict:
            made.update((key, self.of(item)) for key, item in itertools.islice(value.items(), _ITEMS))
        elif type(value) is set:
            made.update(itertools.islice(value, _ITEMS))
        else:
            vars(made).update((name, self.of(item)) for name, item in vars(value).items())


def _of_array(array: Any) -> Any:
    import numpy as np

    if array.size <= _ITEMS:
        return array.copy(order="K")
    return np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), array.shape, (0,) * array.ndim)


def sample_of(kinds: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a version was made for, to make it once more: the specs and stand-ins for the arguments."""
    return kinds, tuple(map(light, values))


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
    sample = function._sample = sample_of(kinds, values)
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
