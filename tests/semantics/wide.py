"""What a call of a function comes to, types and identities included, so that a compiled function can be held against
the plain one: the value, the exception, and what has become of the arguments.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import weft
from weft.runtime.toolchain import find

needs_compiler = pytest.mark.skipif(find() is None, reason="no C compiler")


def shown(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    if isinstance(value, dict):
        return type(value).__name__, [(shown(key), shown(item)) for key, item in value.items()]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return type(value).__name__, shown(vars(value))
    slots = getattr(type(value), "__slots__", ())
    if slots:
        return type(value).__name__, [(name, shown(getattr(value, name))) for name in slots]
    return type(value).__name__, repr(value)


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The arguments are copied as a whole, so that what is one object among them stays one."""
    given = copy.deepcopy(arguments)
    try:
        result = ("returned", shown(function(*given)))
    except weft.errors.WeftError:
        raise
    except RecursionError:
        result = ("raised", "RecursionError")
    except Exception as error:
        result = ("raised", type(error).__name__, str(error))
    return result, shown(given)


def same_natively(function: Any, *calls: tuple[Any, ...]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments)


def same_by_python(function: Any, *calls: tuple[Any, ...]) -> None:
    """What has no native form: told so, and with the same answer."""
    with pytest.raises(weft.errors.WeftError):
        weft.jit(fallback="error")(function)(*copy.deepcopy(calls[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = weft.jit(function)
        for arguments in calls:
            assert outcome(compiled, arguments) == outcome(function, arguments)
