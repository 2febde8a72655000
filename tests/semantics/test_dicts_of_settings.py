"""Dicts of settings beside arrays: entries that are read by names in the source, whatever their types, are arguments of
their own, and whether the dict has a name is known when the function is compiled, behind a guard.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import weft

BACKENDS = ["auto", "python"]


def diffused(u, settings, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + settings["dt"] * settings["k"] * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u


def scaled(u, settings):
    for i in range(len(u)):
        u[i] = u[i] * settings["dt"]
    return u.sum()


def with_defaults(u, settings):
    return u * settings.get("dt", 1.0) + settings.get("offset", 3)


def by_presence(u, settings):
    if "dt" in settings:
        u = u * 2
    if "offset" not in settings:
        u = u + 1
    return u


def or_none(u, settings):
    offset = settings.get("offset")
    return u if offset is None else u + offset


FUNCTIONS = (scaled, with_defaults, by_presence, or_none)
SETTINGS = (
    {"dt": 0.5, "k": 2.0},
    {"k": 2.0, "dt": 0.25},
    {"dt": 2, "k": 3},
    {"dt": 2, "k": 3.0, "offset": 4},
    {"dt": True, "name": "x"},
    {"offset": 1.5},
    {},
)


def outcome(function, *arguments):
    """What a call gives or raises, and what has become of its arguments."""
    given = copy.deepcopy(arguments)
    try:
        found = function(*given)
    except KeyError as error:
        found = repr(error)
    return repr((type(found), found, given))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_call_has_the_settings_that_it_is_given(function, backend):
    """One function is called with all of them, in turn: a version for some names is none for others."""
    compiled = weft.jit(fallback="silent", backend=backend)(function)
    for settings in SETTINGS * 2:
        given = (np.arange(4.0), settings)
        assert outcome(compiled, *given) == outcome(function, *given), settings


@pytest.mark.native
@pytest.mark.parametrize("function", [diffused, scaled, with_defaults, by_presence, or_none])
def test_settings_of_one_type_do_not_leave_the_compiler_of_arrays(function):
    arguments = (np.arange(6.0), {"dt": 0.5, "k": 2.0}) + ((3,) if function is diffused else ())
    compiled = weft.jit(fallback="error")(function)
    assert outcome(compiled, *arguments) == outcome(function, *arguments)
    assert compiled._compiled and compiled._native is None


def test_an_entry_that_comes_or_goes_is_noticed():
    compiled = weft.jit(fallback="error")(with_defaults)
    settings = {"dt": 2.0}
    assert compiled(np.ones(2), settings).tolist() == [5.0, 5.0]
    settings["offset"] = 7
    assert compiled(np.ones(2), settings).tolist() == [9.0, 9.0]
    del settings["dt"]
    assert compiled(np.ones(2), settings).tolist() == [8.0, 8.0]
