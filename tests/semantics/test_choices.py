"""Branches that depend on data and only set integers: both sides are computed, and one is taken without a jump. What
the other side would have done (leave 64 bits, read past an end) must never be seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source, same_as_plain

TOP = 2**63 - 1


def longest_run(x):
    best = 0
    run = 0
    for i in range(x.shape[0]):
        if x[i]:
            run += 1
            if run > best:
                best = run
        else:
            run = 0
    return best


def as_expression(x):
    best = run = 0
    for v in x:
        run = run + 1 if v > 0 else 0
        best = max(best, run)
    return best


def majority(x):
    candidate = 0
    count = 0
    for v in x:
        if count == 0:
            candidate = v
            count = 1
        elif v == candidate:
            count += 1
        else:
            count -= 1
    return candidate, count


def words(x):
    n = 0
    inside = False
    for c in x:
        if c == 1:
            inside = False
        elif not inside:
            inside = True
            n += 1
    return n, inside


def steps_to_one(x):
    total = 0
    for s in x:
        k = abs(int(s)) + 1
        while k != 1:
            if k % 2 == 0:
                k = k // 2
            else:
                k = 3 * k + 1
            total += 1
    return total


def narrow(x):
    up = np.uint8(250)
    down = np.int32(-(2**31) + 2)
    for v in x:
        if v > 0:
            up = up + np.uint8(3)
        else:
            down = down - np.int32(2)
    return up, down


def bits(x):
    c = 0xFFFFFFFF
    for v in x:
        c ^= v & 255
        for _ in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xEDB88320
            else:
                c >>= 1
    return c


def swapped_in_a_branch(x):
    a = 1
    b = 2
    for v in x:
        if v > 0:
            a, b = b, a
        else:
            a = b + 1
    return a, b


def protected(x, places):
    """The branch looks whether there is such an element."""
    last = -1
    for k in places:
        if 0 <= k < len(x):
            last = x[k]
        else:
            last = -last
    return last


FUNCTIONS = [longest_run, as_expression, majority, words, steps_to_one, bits, swapped_in_a_branch]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [0, 1, 2, 9, 200])
def test_same_as_python(function: Callable[..., Any], size: int) -> None:
    values = np.random.default_rng(size).integers(-2, 3, size)
    same_as_plain(weft.jit(fallback="error")(function), function, lambda: (values.copy(),))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_narrow_numbers_wrap_on_the_side_that_is_taken() -> None:
    same_as_plain(weft.jit(narrow), narrow, lambda: (np.array([1, 0, 1, 1, -1, 0, 1, -1]),))


def test_elements_that_a_branch_protects_are_not_read() -> None:
    far = np.array([0, 10**9, 2, -(10**9), 1, 10**9])
    same_as_plain(weft.jit(protected), protected, lambda: (np.array([7, 5, 3]), far.copy()))


def _triples(x, start):
    k = start
    for v in x:
        if v > 0:
            k = 3 * k - 2
        else:
            k = k & 1
    return k


def _grows(x, start, out):
    k = start
    for v in x:
        if v > 0:
            k += 5
        else:
            k -= 7
        out[0] += 1
    return k


@pytest.mark.parametrize("start", [0, 5, TOP, TOP // 3, TOP // 3 + 1, -TOP - 1, (-TOP + 1) // 3, (-TOP + 1) // 3 - 1])
@pytest.mark.parametrize("values", [[0, 0], [0, 1], [1, 0], [1, 1, 1]])
def test_beyond_64_bits_on_the_side_that_is_taken_alone(start: int, values: list[int]) -> None:
    same_as_plain(weft.jit(_triples), _triples, lambda: (np.array(values), start))


@pytest.mark.parametrize("start", [TOP, TOP - 5, -TOP - 1, -TOP + 6])
@pytest.mark.parametrize("values", [[0], [1], [1, 0], [0, 1]])
def test_what_is_not_taken_makes_no_error_after_an_argument_was_changed(start: int, values: list[int]) -> None:
    plain, given = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    expected = _grows(np.array(values), start, plain)
    compiled = weft.jit(fallback="error")(_grows)
    try:
        result = compiled(np.array(values), start, given)
    except OverflowError:
        assert not -TOP - 1 <= max(start + 5, start) <= TOP or not -TOP - 1 <= min(start - 7, start)
        return
    assert (result, given.tolist()) == (expected, plain.tolist())


_VALUES = ["a + 1", "b - 2", "a * 3 + 1", "max(a, b)", "0", "1", "b // 2", "a ^ b", "min(b, 9) + a", "-a"]


def _random_side(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 2)):
        name = rng.choice("abs")
        value = rng.choice(_VALUES)
        if name == "s":
            value = rng.choice(["True", "False", "not s", "a > b", "x[i] > 1"])
        lines.append(f"{indent}{name} = {value}")
    if depth and rng.random() < 0.6:
        lines += _random_branch(rng, depth - 1, indent)
    return lines


def _random_branch(rng: random.Random, depth: int, indent: str) -> list[str]:
    test = rng.choice(["x[i] > 0", "x[i] == 1", "s", "not s", "a % 2 == 0", "a == b", "x[i] > 0 and s", "b & 3"])
    lines = [f"{indent}if {test}:", *_random_side(rng, depth, indent + "    ")]
    if rng.random() < 0.7:
        lines += [f"{indent}else:", *_random_side(rng, depth, indent + "    ")]
    return lines


@pytest.mark.parametrize("seed", range(24))
def test_random_branches(seed: int) -> None:
    rng = random.Random(seed)
    body = [line for _ in range(rng.randint(1, 2)) for line in _random_branch(rng, 2, "        ")]
    head = ["def f(x, a, b):", "    s = False", "    for i in range(len(x)):"]
    source = "\n".join([*head, *body, "    return a, b, s", ""])
    function = function_from_source(source)
    values = np.random.default_rng(seed).integers(-2, 4, 60)
    compiled = weft.jit(function)
    for a, b in ((0, 1), (-5, 12), (TOP, 3), (-TOP - 1, TOP)):
        same_as_plain(compiled, function, lambda a=a, b=b: (values.copy(), a, b))


def _found(values, sought):
    low = 0
    high = len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < sought:
            low = middle + 1
        else:
            high = middle
    return low


def _record(x):
    best = x[0]
    place = 0
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
            place = i * i % 7
    return best, place


def test_which_branches_become_moves() -> None:
    integers = np.array([3, 1, 2, 0, 1])
    for function in (longest_run, as_expression, majority, words):
        assert "k_test" in _c_of(function, integers), function.__name__
    assert "moved_i64(" in _c_of(longest_run, integers)
    # A guess fetches the next element early; a record is rarely broken.
    assert "k_test" not in _c_of(_found, np.sort(integers), 2)
    assert "k_test" not in _c_of(_record, integers)


def _c_of(function: Callable[..., Any], *arguments: Any) -> str:
    compiled = weft.jit(fallback="error")(function)
    compiled(*arguments)
    return str(compiled.inspect("c"))
