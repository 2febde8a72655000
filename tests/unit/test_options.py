"""Options: validation, the environment, precedence, and their part in cache keys."""

from __future__ import annotations

from typing import Any

import pytest

from weft.errors import OptionError
from weft.options import Options, make_options
from weft.runtime.cache import digest


def test_defaults() -> None:
    assert make_options(environment={}) == Options()
    assert Options().fp == "numpy" and Options().fallback == "warn" and Options().parallel


def test_the_environment_gives_defaults_and_arguments_win() -> None:
    environment = {"WEFT_FP": "strict", "WEFT_FALLBACK": "error", "WEFT_PARALLEL": "0", "WEFT_CACHE": "no"}
    options = make_options({"fallback": "silent"}, environment)
    assert options == Options(fp="strict", fallback="silent", parallel=False, cache=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fp": "exact"}, "option fp='exact' is not one of 'numpy', 'strict', 'regroup', 'fast'"),
        ({"fallback": None}, "option fallback=None is not one of 'warn', 'silent', 'error'"),
        ({"parallel": 1}, "option parallel=1 is not one of True, False"),
        ({"target": "gpu"}, "option target='gpu' is not one of 'cpu'"),
        ({"paralel": True}, "unknown option 'paralel' (did you mean 'parallel'?); the options are target, fp"),
        ({"nogil": True}, "unknown option 'nogil' (an option of Numba's: leave it out); the options are target, fp"),
        ({"fastmath": True}, "unknown option 'fastmath' (as Numba has it: fp='fast'); the options"),
        ({"zzz": 1}, "unknown option 'zzz'; the options are target, fp, fallback, parallel, cache"),
        ({"fp": ["numpy"]}, "is not one of"),
    ],
)
def test_a_wrong_option_names_what_is_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        make_options(given, {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [("WEFT_FP", "exact", "'numpy', 'strict', 'regroup', 'fast'"), ("WEFT_CACHE", "maybe", "'1', '0'")],
)
def test_a_wrong_variable_is_named(variable: str, value: str, allowed: str) -> None:
    with pytest.raises(OptionError) as caught:
        make_options({}, {variable: value})
    assert variable in str(caught.value) and allowed in str(caught.value)


def test_only_what_changes_the_code_is_in_the_key_of_the_code() -> None:
    base = digest(Options().for_code())
    assert digest(Options(fallback="error", cache=False).for_code()) == base
    different = [Options(fp="fast"), Options(parallel=False), Options(backend="python")]
    assert len({base, *(digest(options.for_code()) for options in different)}) == 4
