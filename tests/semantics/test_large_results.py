"""Large results live in memory of the core's own: to their owner they are arrays like any other."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import weft

LARGE = 3 << 20


def doubled(a: Any) -> Any:
    return a * 2


def squares(a: Any) -> Any:
    return a * a, a + 1


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_, np.complex128])
def test_they_own_their_data(dtype: Any) -> None:
    a = np.arange(LARGE).astype(dtype)
    result = weft.jit(fallback="error")(doubled)(a)
    expected = doubled(a)
    assert result.dtype == expected.dtype and result.flags.owndata and result.base is None
    np.testing.assert_array_equal(result, expected)


def test_they_stay_apart_while_they_live() -> None:
    compiled = weft.jit(fallback="error")(doubled)
    a = np.arange(float(LARGE))
    kept = [compiled(a + shift) for shift in range(4)]
    kept.pop(1)
    kept.append(compiled(a + 9))
    for shift, result in zip((0, 2, 3, 9), kept):
        assert result[0] == 2 * shift and result[-1] == 2 * (a[-1] + shift)


def test_they_grow_shrink_and_travel() -> None:
    a = np.arange(float(LARGE))
    result = weft.jit(fallback="error")(doubled)(a)
    result.resize(LARGE + 5, refcheck=False)
    assert result[LARGE - 1] == 2.0 * (LARGE - 1) and not result[LARGE:].any()
    result.resize(10, refcheck=False)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)), 2.0 * np.arange(10))


def test_arrays_of_others_are_not_touched() -> None:
    before = np._core.multiarray.get_handler_name()  # type: ignore[attr-defined]
    weft.jit(fallback="error")(squares)(np.arange(float(LARGE)))
    assert np._core.multiarray.get_handler_name() == before  # type: ignore[attr-defined]
    assert np._core.multiarray.get_handler_name(np.empty(LARGE)) == before  # type: ignore[attr-defined]


def test_from_several_threads() -> None:
    compiled = weft.jit(fallback="error")(squares)
    a = np.arange(float(LARGE))
    compiled(a)
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            first, second = compiled(a + number)
            if first[7] != (7 + number) ** 2 or second[-1] != a[-1] + number + 1:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
