"""The options of `weft.jit`. In come keyword arguments and environment variables (`WEFT_FP`, `WEFT_FALLBACK`, ...); out
comes one frozen, validated `Options` that every layer reads and that takes part in the cache key.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Literal

from weft import registry
from weft.errors import OptionError
from weft.records import dataclass

FloatingPoint = Literal["numpy", "strict", "regroup", "fast"]
Fallback = Literal["warn", "silent", "error"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "target": (),
    "fp": ("numpy", "strict", "regroup", "fast"),
    "fallback": ("warn", "silent", "error"),
    "backend": (),
}
#: What an option may be besides the name of a target in the registry.
_BESIDES = {"target": "cpu", "backend": "auto"}
_SWITCHES = ("parallel", "cache", "checked", "auto_simd", "dump")
_SECONDS = ("compile_timeout",)
#: What the options of numba.jit are here.
_OF_NUMBA = {
    "nopython": "as Numba has it: fallback='error'",
    "fastmath": "as Numba has it: fp='fast'",
    "boundscheck": "an option of Numba's: indices are always checked",
    **dict.fromkeys(("nogil", "inline", "error_model", "locals", "forceobj"), "an option of Numba's: leave it out"),
}
_SWITCH_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True)
class Stress:
    """What a test forces of a compile; none of it may change an answer.

    `split`: the function runs in regions, split at the statement of this number. `deoptimise`: the check of this number
    fails, so that Python repeats the call; in plain Python a call stops before the statement that it runs as this
    number. `general`: versions are for arrays of any strides and sizes. Numbers are
    taken modulo the number of statements or checks that there are.
    """

    split: int | None = None
    deoptimise: int | None = None
    general: bool = False


@dataclass(frozen=True)
class Options:
    """What the user may choose for one compiled function; `stress` (for tests) and `brief` are not for `weft.jit`."""

    target: str = "cpu"
    fp: FloatingPoint = "numpy"
    fallback: Fallback = "warn"
    parallel: bool = True
    cache: bool = True
    backend: str = "auto"
    compile_timeout: float = 60.0  # seconds for one version, the C compiler's included; 0: any
    checked: bool = False
    auto_simd: bool = True  # innermost loops run in vectors where they may
    dump: bool = False  # generated code is printed when it is made
    #: Names of the dimensions of arrays, {"A": ("M", "N")}: those with one name have one size.
    dim_info: Any = field(default=(), metadata={"table": True})
    #: Numbers that the clock chooses from, {"BLOCK": [128, 256]}: parameters with a default, or names it uses.
    tune: Any = field(default=(), metadata={"table": True})
    stress: Stress = field(default=Stress(), metadata={"internal": True})
    #: A callback: reductions have few terms, which were written just before, and no threads.
    brief: bool = field(default=False, metadata={"internal": True})

    def __post_init__(self) -> None:
        for name in _CHOICES:
            value, allowed = getattr(self, name), _allowed(name)
            if not isinstance(value, str) or value not in allowed:
                raise OptionError(f"option {name}={value!r} is not one of {_listed(allowed)}")
        for name in _SWITCHES:
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise OptionError(f"option {name}={value!r} is not one of True, False")
        for name in _SECONDS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                raise OptionError(f"option {name}={value!r} is not a number of seconds")
        object.__setattr__(self, "dim_info", _table("dim_info", self.dim_info, str, "names of dimensions"))
        object.__setattr__(self, "tune", _table("tune", self.tune, int, "integers to choose from"))

    @property
    def regroups(self) -> bool:
        """Whether sums of floats may be added in another order than the source says."""
        return self.fp in ("regroup", "fast")

    def for_code(self) -> Options:
        """These options with everything that cannot change the generated code set to its default: for cache keys."""
        tune = self.tune if all(len(values) == 1 for _, values in self.tune) else ()  # one number is a block of loops
        return replace(self, fallback="warn", cache=True, compile_timeout=60.0, dump=False, dim_info=(), tune=tune)


def _table(name: str, given: Any, of: type, what: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """A dict of names and sequences as something that never changes."""
    rows = given.items() if isinstance(given, Mapping) else given if isinstance(given, tuple) else None
    if rows is None:
        raise OptionError(f"option {name}={given!r} is not a dict from names to {what}")
    found = []
    for key, values in rows:
        listed = isinstance(values, (list, tuple)) and bool(values)
        if not isinstance(key, str) or not listed or not all(type(value) is of for value in values):
            raise OptionError(f"option {name}={{{key!r}: {values!r}}} is not a name with {what}")
        found.append((key, tuple(values)))
    return tuple(found)


def _allowed(name: str) -> tuple[str, ...]:
    """The values of an option that has a few; targets are those of the registry."""
    return _CHOICES[name] or (_BESIDES[name], *registry.names(name))


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(repr(value) for value in values)


def option_names() -> tuple[str, ...]:
    """The options that users may set."""
    return tuple(each.name for each in fields(Options) if not each.metadata.get("internal"))


def variable_of(option: str) -> str:
    """The environment variable that sets the default of an option: fp --> WEFT_FP."""
    return "WEFT_" + option.upper()


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (each.name for each in fields(Options) if not {"internal", "table"} & set(each.metadata)):
        variable = variable_of(name)
        text = environment.get(variable, "").strip()
        if not text:
            continue
        if name in _SWITCHES:
            if text.lower() not in _SWITCH_WORDS:
                raise OptionError(f"environment variable {variable}={text!r} is not one of '1', '0'")
            found[name] = _SWITCH_WORDS[text.lower()]
        elif name in _SECONDS:
            found[name] = _seconds(variable, text)
        else:
            if text not in _allowed(name):
                raise OptionError(f"environment variable {variable}={text!r} is not one of {_listed(_allowed(name))}")
            found[name] = text
    return found


#: What the C compiler is told then: line tables, call graphs by frame pointers, functions that keep their names.
LINE_FLAGS = ("-g", "-fno-omit-frame-pointer", "-fno-inline-functions-called-once")


def wants_lines() -> bool:
    """Whether native code gets line tables of the user's source, for perf and gdb (WEFT_PERF=1)."""
    return os.environ.get("WEFT_PERF", "0") not in ("", "0")


def lines_of(file: str) -> str:
    """What the key of a version says of line tables, which name the file: the same text elsewhere has others."""
    return f"; lines of {file}" if wants_lines() else ""


def _seconds(variable: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise OptionError(f"environment variable {variable}={text!r} is not a number of seconds")
    return found


def _meant(name: str) -> str:
    """What an unknown option may have been meant to be: one that is spelt alike, or one of Numba's."""
    if name in _OF_NUMBA:
        return f" ({_OF_NUMBA[name]})"
    import difflib

    near = difflib.get_close_matches(name, option_names(), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def make_options(given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Options:
    """Options from, in rising order of precedence, the defaults, the environment and the keyword arguments `given`."""
    given = given or {}
    unknown = [name for name in given if name not in option_names()]
    if unknown:
        names = ", ".join(option_names())
        raise OptionError(f"unknown option {unknown[0]!r}{_meant(unknown[0])}; the options are {names}")
    return Options(**{**_from_environment(os.environ if environment is None else environment), **given})
