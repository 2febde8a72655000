"""Lists and arrays that several names or places stand for stay one object, in branches and loops, too."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import weft


def one_array_three_times() -> Any:
    held = [np.arange(3).astype(np.uint8)] * 3
    held[1][1] = 0
    return held


def two_arrays_twice(x: Any) -> Any:
    held = [x * 2, x + 1] * 2
    held[0][1] = 7
    held[3] += 1
    return held


def added_to_itself_in_a_block(b: Any) -> Any:
    try:
        b += b
    except ZeroDivisionError:
        pass
    return b


def added_to_in_a_branch(b: Any) -> Any:
    a = b
    if len(a) > 1:
        b += [1.0]
    return a


def named_again_in_a_loop(b: Any) -> None:
    for _, _ in enumerate(b):
        b = b  # noqa: PLW0127
    b = b  # noqa: PLW0127
    b.append(0.0)


def named_again_in_a_branch(b: Any) -> Any:
    if len(b) > 1:
        b = b  # noqa: PLW0127
    b.append(1.0)
    return b


CALLS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (one_array_three_times, ()),
    (two_arrays_twice, (np.arange(3.0),)),
    (two_arrays_twice, (np.arange(3),)),
    *(
        (function, (list(given),))
        for function in (
            added_to_itself_in_a_block, added_to_in_a_branch, named_again_in_a_loop, named_again_in_a_branch,
        )
        for given in ((), (1.0,), (2.0, 3.0))
    ),
)  # fmt: skip


def seen(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The arguments afterwards, the result, and which of all their parts are one object."""
    arguments = copy.deepcopy(arguments)
    parts: list[Any] = []

    def described(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            parts.append(value)
            return (value.dtype, value.tolist())
        if isinstance(value, (list, tuple)):
            parts.append(value)
            return (type(value), [described(item) for item in value])
        return (type(value), value)

    told = described((arguments, function(*arguments)))
    numbers: dict[int, int] = {}
    return told, [numbers.setdefault(id(part), len(numbers)) for part in parts]


@pytest.mark.parametrize("backend", ["c", "python"])
@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda value: getattr(value, "__name__", "_"))
def test_one_object_stays_one(
    function: Any, arguments: tuple[Any, ...], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_PLAIN", "0")
    compiled = weft.jit(function, backend=backend, fallback="silent")
    for _ in range(2):
        assert seen(compiled, arguments) == seen(function, arguments)


def test_repeated_arrays_are_native() -> None:
    compiled = weft.jit(one_array_three_times, backend="python", fallback="error")
    assert seen(compiled, ()) == seen(one_array_three_times, ())


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


def object_by_text(c: Any) -> None:
    c["a"] = Point(4)


def object_in_a_tuple(c: Any) -> None:
    c["a"] = (Point(4), 1)


def object_by_both(c: Any) -> None:
    c[1, "a"] = Point(4)


@pytest.mark.parametrize("function", [object_by_text, object_in_a_tuple, object_by_both])
def test_objects_put_into_an_argument(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They came back as the numbers that stand for them while the function runs."""
    monkeypatch.setenv("WEFT_PLAIN", "0")
    given: dict[Any, Any] = {}
    weft.jit(function, backend="python", fallback="silent")(given)
    (value,) = given.values()
    made = value[0] if isinstance(value, tuple) else value
    assert type(made) is Point and made.x == 4
