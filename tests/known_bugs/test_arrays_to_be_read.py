"""Views that NumPy lets nobody write stay so: also of temporaries, by whatever name, and when they are returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft

_MADE = {
    "broadcast_to": lambda a: np.broadcast_to(a * 2, (3, len(a))),
    "diag": lambda a: np.diag(np.outer(a, a)),
    "diagonal": lambda a: np.outer(a, a).diagonal(1),
    "imag": lambda a: (a + 1).imag,
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a - 1, 2),
}


def returned(a: Any) -> Any:
    return MADE(a)  # noqa: F821


def named(a: Any) -> Any:
    b = MADE(a)  # noqa: F821
    return b[1:], b.sum()


def written(a: Any) -> Any:
    b = MADE(a)  # noqa: F821
    b[0] = 1
    return b


def changed(a: Any) -> Any:
    b = MADE(a)  # noqa: F821
    b += 1
    return b


def copied(a: Any) -> Any:
    b = MADE(a)  # noqa: F821
    c = b.copy()
    c[0] = 7
    return c, b + 1, b.sum(axis=0)


def _outcome(function: Any, a: Any) -> Any:
    try:
        result = function(a)
    except ValueError as error:
        return str(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [(part.tolist(), np.asarray(part).flags.writeable) for part in parts]


@pytest.mark.parametrize("form", [returned, named, written, changed, copied], ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", sorted(_MADE))
def test_views_that_nobody_writes(name: str, form: Any) -> None:
    function = type(form)(form.__code__, {"MADE": _MADE[name], "np": np, "__builtins__": __builtins__}, form.__name__)
    run = weft.jit(function, backend="python", fallback="silent")
    for a in (np.arange(4.0), np.arange(3)):
        assert _outcome(run, a.copy()) == _outcome(function, a.copy())
    if form is copied:
        assert run.stats["python_calls"] == 0
