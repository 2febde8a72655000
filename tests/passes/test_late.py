"""Late checks: which checks of values move down in a program that Python may repeat, and which must stay."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.ir.program import Check, Stmt
from weft.ir.text import parse
from weft.ir.walk import walk
from weft.passes.late import late

HEAD = """
program f(a, n):
  symbol n = argument n
  param a: {type}[n, n] C
  output #0 = None
  for i in 0 .. n:
    for j in 0 .. {end}:
      check (a[{seen}] != 0.0 as bool) else {exception} "no"
      a[i, j] = a[i, j] * 2.0
  return #0
"""


def order(**given):
    values = {"type": "float", "end": "i", "seen": "j, j", "exception": "ZeroDivisionError", **given}
    body = late(parse(HEAD.format(**values)))
    return [type(node) for node in walk(body) if isinstance(node, (Check, Stmt))]


def test_a_check_of_another_element_waits():
    assert order() == [Stmt, Check]
    assert order(seen="j, i") == [Stmt, Check]


@pytest.mark.parametrize(
    "given",
    [
        {"seen": "i, j"},  # the element that is written
        {"end": "n"},  # a[j, j] may be a[i, j]
        {"seen": "i, 0"},
        {"exception": "IndexError"},  # it guards an access, not a value
        {"type": "f64"},  # an array: the caller would see what was written before the exception
    ],
)
def test_a_check_stays(given):
    assert order(**given) == [Check, Stmt]


def reciprocals(a, b):
    for i in range(len(a)):
        a[i] = a[i] + 1.0
        b[i] = b[i] / a[i]


def factors(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[k][j]
            a[i][j] /= a[j][j]
        for j in range(i, n):
            for k in range(i):
                a[i][j] -= a[i][k] * a[k][j]


def copies(arguments, kind):
    return tuple([list(row) if kind == 2 else row for row in a] for a in arguments)


@pytest.mark.parametrize(
    ("function", "arguments", "kind"),
    [
        (reciprocals, ([1.0, 2.0, -1.0, 4.0], [1.0, 1.0, 1.0, 1.0]), 1),
        (reciprocals, ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), 1),
        (factors, ([[1.0, 2.0, 3.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]],), 2),
        (factors, ([[0.0, 2.0, 3.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]],), 2),
        (factors, ((np.random.default_rng(0).random((20, 20)) + 20 * np.eye(20)).tolist(),), 2),
    ],
)
def test_lists_hold_what_python_leaves_in_them(function, arguments, kind):
    ours, theirs = copies(arguments, kind), copies(arguments, kind)
    expected = None
    try:
        function(*theirs)
    except ZeroDivisionError as error:
        expected = str(error)
    compiled = weft.jit(fallback="error")(function)
    if expected is None:
        compiled(*ours)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    else:
        with pytest.raises(ZeroDivisionError, match=expected):
            compiled(*ours)
        assert ours == theirs
