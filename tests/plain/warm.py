"""A function called until its version has settled: integers that overflow, and the like, give a better version at the
next call."""

from __future__ import annotations

import contextlib
import copy
import io
import random

from weft.plain.function import Native
from weft.plain.runtime import last


def outcome(function, arguments):
    """Result, changed arguments, state of `random` and output, as text: it tells 1 from 1.0 and -0.0 from 0.0."""
    given = copy.deepcopy(arguments)
    state = random.getstate()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = repr(function(*given))
        except Exception as problem:
            result = f"{type(problem).__name__}: {problem}"
    after = random.getstate()
    random.setstate(state)
    return result, shown(given), hash(after), printed.getvalue()


def shown(arguments):
    """Arguments as text, without addresses."""
    states = [value.getstate() if isinstance(value, random.Random) else value for value in arguments]
    return repr(states)


def settled(function, arguments, calls=8, before=None):
    """A native function after some calls, each compared with Python's answer; `before` runs before each call.

    The last call must be native from start to end.
    """

    def asked(function):
        if before is not None:
            before()
        return outcome(function, arguments)

    native = Native(function, lambda values: native.extend(values) is not None)
    native.extend(copy.deepcopy(arguments))
    expected = asked(function)
    for _ in range(calls):
        assert asked(native) == expected
    assert native.versions, "no version is left"
    version = native.versions[-1]
    known = last(version.call)
    assert asked(native) == expected
    found = last(version.call)
    assert found.deopts == known.deopts, found
    return native
