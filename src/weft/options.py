"""The options of `weft.jit`. In come keyword arguments and environment variables (`WEFT_FP`, `WEFT_FALLBACK`, ...); out
comes one frozen, validated `Options` that every layer reads and that takes part in the cache key.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from weft.errors import OptionError

Target = Literal["cpu", "ray", "mpi", "opencl", "cuda", "auto"]
FloatingPoint = Literal["numpy", "strict", "fast"]
Fallback = Literal["warn", "silent", "error"]
Backend = Literal["auto", "c", "python"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "target": ("cpu", "ray", "mpi", "opencl", "cuda", "auto"),
    "fp": ("numpy", "strict", "fast"),
    "fallback": ("warn", "silent", "error"),
    "backend": ("auto", "c", "python"),
}
_SWITCHES = ("parallel", "cache", "checked")
_SECONDS = ("compile_timeout",)
_SWITCH_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True)
class Stress:
    """What a test forces of a compile; none of it may change an answer.

    `split`: the function runs in regions, split at the statement of this number. `deoptimise`: the check of this number
    fails, so that Python repeats the call. `general`: versions are for arrays of any strides and sizes. Numbers are
    taken modulo the number of statements or checks that there are.
    """

    split: int | None = None
    deoptimise: int | None = None
    general: bool = False


@dataclass(frozen=True)
class Options:
    """What the user may choose for one compiled function; `stress` is for tests, and no option of `weft.jit`."""

    target: Target = "cpu"
    fp: FloatingPoint = "numpy"
    fallback: Fallback = "warn"
    parallel: bool = True
    cache: bool = True
    backend: Backend = "auto"
    compile_timeout: float = 60.0  # seconds for one version, the C compiler's included; 0: any
    checked: bool = False
    stress: Stress = field(default=Stress(), metadata={"internal": True})

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
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

    def for_code(self) -> Options:
        """These options with everything that cannot change the generated code set to its default: for cache keys."""
        return replace(self, fallback="warn", cache=True, compile_timeout=60.0)


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
    for name in option_names():
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
            if text not in _CHOICES[name]:
                raise OptionError(f"environment variable {variable}={text!r} is not one of {_listed(_CHOICES[name])}")
            found[name] = text
    return found


def _seconds(variable: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise OptionError(f"environment variable {variable}={text!r} is not a number of seconds")
    return found


def make_options(given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> Options:
    """Options from, in rising order of precedence, the defaults, the environment and the keyword arguments `given`."""
    given = given or {}
    unknown = [name for name in given if name not in option_names()]
    if unknown:
        raise OptionError(f"unknown option {unknown[0]!r}; the options are {', '.join(option_names())}")
    return Options(**{**_from_environment(os.environ if environment is None else environment), **given})
