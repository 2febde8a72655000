"""Checks that conversions to Python integers imply: dropped where the conversion runs, kept everywhere else."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft.ir import text
from weft.ir.program import Check
from weft.ir.text import parse
from weft.ir.walk import walk
from weft.passes import PassContext, implied

HEAD = """
program f(x, n):
  size m = x.shape[0]
  symbol n = argument n
  param x: f64[m] C
  local k: int
  local c: int[4]
  output #0 = scalar k
  alloc c
  k = 0
"""
LEAST, LIMIT = "-9.223372036854776e+18", "9.223372036854776e+18"
WHOLE = "float(trunc(x[j]))"
TESTS = f"""
  check all[i: 0 <= i < m] (float(trunc(x[i])) == float(trunc(x[i])) as bool) else GuardFailed
  check all[j: 0 <= j < m] ({WHOLE} >= {LEAST} as bool) and ({WHOLE} < {LIMIT} as bool) else GuardFailed
  return #0
"""
LOOP = """
  for i_2 in 0 .. m:
    k = int(trunc(x[i_2]))
"""
CASES = {
    LOOP: 0,
    "  c[int(trunc(x[i_2]))] += 1   for i_2: 0 <= i_2 < m\n": 0,
    "  for i_2 in 1 .. m:\n    k = int(trunc(x[i_2]))\n": 2,
    "  for i_2 in 0 .. m:\n    if n > 3:\n      k = int(trunc(x[i_2]))\n": 2,
    "  for i_2 in 0 .. m:\n    k = select((n > 3 as bool), int(trunc(x[i_2])), 0)\n": 2,
    "  for i_2 in 0 .. m:\n    k = select((n > 3 as bool), int(trunc(x[i_2])), int(trunc(x[i_2])) + n)\n": 0,
    "  for i_2 in 0 .. m:\n    if int(trunc(x[i_2])) < n:\n      k = i_2\n": 2,
    "  for i_2 in 0 .. m:\n    k = int(trunc(x[i_2]))\n    if k > n:\n      break\n": 2,
    LOOP + "  x[i_3] = 0.0_f64   for i_3: 0 <= i_3 < m\n": 2,
}


@pytest.mark.parametrize("middle", CASES)
def test_checks_that_are_left(middle):
    program = parse(HEAD.strip("\n") + "\n" + middle.strip("\n") + TESTS)
    after = implied.run.run(program, PassContext())
    assert sum(isinstance(node, Check) for node in walk(after.body)) == CASES[middle]


IN_RANGE = "all[i: 0 <= i < m] select((int(trunc(x[i])) >= 1 as bool), (int(trunc(x[i])) + 2 < n as bool), bool.False)"
CHANGE = "    x[i_3] = x[i_3] * 2.0_f64   for i_3: 0 <= i_3 < m\n"
USE = "    c[int(trunc(x[i_2]))] += 1   for i_2: {} <= i_2 < m\n"


@pytest.mark.parametrize(
    ("condition", "block", "tested"),
    [
        (IN_RANGE, USE.format(0), False),
        (IN_RANGE, USE.format(1), True),
        (IN_RANGE, CHANGE + USE.format(0), True),
        (IN_RANGE, USE.format(0) + CHANGE, False),
        (IN_RANGE.replace(">= 1", ">= n").replace("int(trunc(x[i])) + 2 < n", "n > 3"), USE.format(0), True),
    ],
)
def test_what_is_in_range_is_converted_without_a_test(condition: str, block: str, tested: bool) -> None:
    program = parse(HEAD.strip("\n") + f"\n  if {condition}:\n{block}  return #0\n")
    after = text.show(implied.run.run(program, PassContext()))
    assert ("c[int(i64(x[i_2]))]" not in after) is tested


def histogram(x, bins):
    out = np.zeros(bins)
    for i in range(x.shape[0]):
        k = int(x[i] * bins)
        if 0 <= k < bins:
            out[k] += x[i]
    return out


def unused(x):
    total = 0.0
    for i in range(x.shape[0]):
        k = int(x[i])  # noqa: F841
        total += x[i]
    return total


def counted(x, y, bins):
    out = np.zeros((bins, bins), dtype=np.int64)
    for a, b in zip(x, y):
        out[int(a * bins), int(b * bins)] += 1
    return out


def below(x, n):
    return np.array([int(v) < n for v in x])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30, -(2.0**63), -0.7, 0.999])
def test_numbers_that_are_no_integers(bad):
    for function, rest in ((histogram, (8,)), (unused, ()), (below, (1,))):
        for values in ([0.1, 0.5, 0.7], [0.1, bad, 0.7], [bad]):
            x = np.array(values)
            _same(function, x, *rest)
    _same(counted, np.array([0.1, 0.5]), np.array([0.3, bad]), 4)
    _same(counted, np.array([bad, 0.5]), np.array([0.3, 0.1]), 4)


def _same(function, *arguments):
    compiled = COMPILED.setdefault(function, weft.jit(function))
    try:
        expected = function(*arguments)
    except (ValueError, OverflowError, IndexError) as error:
        with pytest.raises(type(error)) as raised:
            compiled(*arguments)
        assert str(raised.value) == str(error)
    else:
        np.testing.assert_array_equal(compiled(*arguments), expected)


COMPILED: dict = {}
