"""Late checks: which checks of values move down in a program that Python may repeat, and which must stay."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft.ir.interp import GuardFailed, run
from weft.ir.program import Check, Stmt
from weft.ir.text import parse, show, show_expr
from weft.ir.verify import Stage, verify
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
    body = late(parse(HEAD.format(**values))).body
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


# --- leaving loops --------------------------------------------------------------------------------------------------

FRAME = """
program f(a, b, n):
  symbol n = argument n
  param a: float[n, n] C
  param b: float[n] C
  local s: float
  local m: int
  output #0 = None
"""


def body_of(source: str) -> list[str]:
    program = parse(FRAME + source + "  return #0\n")
    return [line.strip() for line in show(late(program)).partition("\n\n")[2].splitlines()]


def place_of_checks(source: str) -> list[str]:
    """The checks behind all loops."""
    program = parse(FRAME + source + "  return #0\n")
    return [show_expr(node.condition) for node in late(program).body if isinstance(node, Check)]


def test_a_check_is_made_for_all_iterations_behind_their_loops():
    found = place_of_checks(
        "  for i in 0 .. n:\n    for j in 0 .. i:\n"
        "      check (a[j, j] != 0.0 as bool) else ZeroDivisionError\n      a[i, j] = a[i, j] / a[j, j]\n"
    )
    # Every element once, however often it is a divisor.
    assert found == ["all[j_2_2: 0 <= j_2_2 < n - 1] (a[j_2_2, j_2_2] != 0.0 as bool)"]


@pytest.mark.parametrize(("seen", "left"), [("j", "j"), ("i", "i"), ("i + j", "i j"), ("int(b[j])", "i j")])
def test_a_check_of_variables_alone_needs_no_loop_around(seen: str, left: str):
    """The loops may be empty: what is read from memory is only looked at in them."""
    (found,) = place_of_checks(
        "  for i in 3 .. n:\n    for j in 0 .. 5:\n"
        f"      check (float({seen}) != 7.5 as bool) else OverflowError\n      a[i, j] = 1.0\n"
    )
    dims = found[found.index("[") + 1 : found.index("]")].split(",")
    assert [dim.split(" <= ")[1].split("_")[0] for dim in dims] == left.split()


ROWS = """
program f(b, n):
  symbol n = argument n
  param b: float[n] C
  {role} p: float[n, n]{layout}
  output #0 = None
  alloc p
  for i in 1 .. n:
    p[i, 0] = b[i]
    for j in 1 .. n:
      check (p[i, j - 1] - 1.0 != 0.0 as bool) else ZeroDivisionError
      p[i, j] = 1.0 / (p[i, j - 1] - 1.0)
    b[i] = p[i, n - 1]
  return #0
"""


def test_what_is_known_of_a_temporary_array_is_kept_row_by_row():
    before = parse(ROWS.format(role="local", layout=""))
    found = late(before)
    verify(found, Stage.OPTIMISED)
    lines = [line.strip() for line in show(found).partition("\n\n")[2].splitlines()]
    place = next(at for at, line in enumerate(lines) if line.startswith("held[i - 1] = all[j_2: 1 <= j_2 < n]"))
    # Just behind the loop that fills the row: nothing later needs it for the test.
    assert lines[place + 1] == "b[i] = p[i, n - 1]"
    assert lines[-2].startswith("check all[i_2: 1 <= i_2 < n] held[i_2 - 1] else GuardFailed")
    for values in ([0.5, 0.25, 0.75], [0.5, 1.0, 0.75], [0.5], []):
        one, other = np.array(values), np.array(values)
        failed = []
        for program, array in ((before, one), (found, other)):
            try:
                run(program, {"b": array, "n": len(values)})
                failed.append(False)
            except (ZeroDivisionError, GuardFailed):
                failed.append(True)
        assert failed[0] == failed[1]
        assert failed[0] or np.array_equal(one, other)


def test_loops_that_count_down_are_left_too():
    found = place_of_checks(
        "  for i in n - 1 .. -1 step -1:\n    check (a[i, i] != 0.0 as bool) else ZeroDivisionError\n"
        "    b[i] = b[i] / a[i, i]\n"
    )
    assert len(found) == 1 and "0 <= i_2 < n" in found[0]


@pytest.mark.parametrize(
    "source",
    [
        # a later iteration writes what the test looks at
        "  for i in 0 .. n:\n    check (a[0, 0] != 0.0 as bool) else ZeroDivisionError\n    a[0, 0] = a[0, 0] - 1.0\n",
        "  for i in 1 .. n:\n    check (b[i - 1] != 0.0 as bool) else ZeroDivisionError\n    b[n - i] = 0.5\n",
        # whether the loop comes to its end depends on values
        (
            "  for i in 0 .. n:\n    check (a[i, i] != 0.0 as bool) else ZeroDivisionError\n    b[i] = 1.0\n"
            "    if (b[i] > 2.0 as bool):\n      break\n"
        ),
        # a sum has no simpler origin
        (
            "  for i in 0 .. n:\n    s = sum[k: 0 <= k < n] a[i, k]\n"
            "    check (s != 0.0 as bool) else ZeroDivisionError\n    b[i] = 1.0 / s\n"
        ),
    ],
)
def test_checks_that_stay_in_their_loops(source):
    assert place_of_checks(source) == []


def test_a_variable_by_what_it_was_computed_from():
    found = place_of_checks(
        "  for i in 1 .. n:\n    s = 2.0 * a[i, i - 1] + 1.0\n    check (s != 0.0 as bool) else ZeroDivisionError\n"
        "    a[i, i] = 1.0 / s\n    b[i] = b[i - 1] / s\n"
    )
    assert len(found) == 1 and "2.0 * a[i_2, i_2 - 1] + 1.0" in found[0]


def test_a_variable_by_where_it_was_copied():
    found = place_of_checks(
        "  for i in 0 .. n:\n    s = sum[k: 0 <= k < n] a[i, k]\n"
        "    check (s != 0.0 as bool) else ZeroDivisionError\n    b[i] = s\n"
    )
    assert len(found) == 1 and "b[i_2] != 0.0" in found[0]


def test_the_argument_of_a_root_by_the_root():
    found = place_of_checks(
        "  for i in 0 .. n:\n    a[i, i] = a[i, i] - (sum[k: 0 <= k < i] a[i, k] * a[i, k])\n    s = a[i, i]\n"
        '    check not (s < 0.0 as bool) else ValueError "math domain error"\n    a[i, i] = sqrt(s)\n'
    )
    assert found == ["all[i_2: 0 <= i_2 < n] (a[i_2, i_2] == a[i_2, i_2] as bool)"]


def test_a_test_of_what_is_uncertain_in_its_last_places_stays():
    source = "  for i in 0 .. n:\n    s = {}\n    check (s > 1.0 as bool) else ValueError\n    b[i] = s\n"
    assert place_of_checks(source.format("exp(a[i, i])")) == []
    assert place_of_checks(source.format("sqrt(a[i, i])")) != []


@pytest.mark.parametrize(("end", "passed"), [("n", True), ("m", False)])
def test_a_loop_is_passed_unless_its_length_is_computed(end, passed):
    found = body_of(
        "  s = b[0] * 2.0\n  check (s != 0.0 as bool) else ZeroDivisionError\n  m = int(1.0 / s)\n"
        f"  for i in 0 .. {end}:\n    a[i, 0] = 1.0\n"
    )
    words = [line.split()[0] for line in found]
    assert (words.index("check") > words.index("for")) is passed


def test_a_while_loop_is_not_passed():
    found = body_of(
        "  s = b[0]\n  check (s != 0.0 as bool) else ZeroDivisionError\n  while (b[1] > 0.0 as bool):\n"
        "    b[1] = b[1] - 1.0 / s\n"
    )
    assert [line.split()[0] for line in found].index("check") < [line.split()[0] for line in found].index("while")


# --- what a caller sees ---------------------------------------------------------------------------------------------


def pivots(a, b):
    n = len(a)
    p = [[0.0 for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(1, n):
            pivot = 0.5 * p[i][j - 1] + b[j]
            p[i][j] = a[i][j] / pivot
            a[i][j] = (a[i][j - 1] - 1.0) / pivot
    return p


def roots(a, b):
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i][i] -= a[i][j] * a[i][j]
        a[i][i] = math.sqrt(a[i][i])
        b[i] = b[i] / a[i][i]
    return b


def backwards(a, b):
    n = len(a)
    x = [0.0 for i in range(n)]
    for i in range(n - 1, -1, -1):
        w = b[i]
        for j in range(i + 1, n):
            w -= a[i][j] * x[j]
        x[i] = w / a[i][i]
    return x


def norms(a, b):
    n = len(a)
    for k in range(n):
        total = 0.0
        for i in range(n):
            total += a[i][k]
        b[k] = math.sqrt(total)
        for i in range(n):
            a[i][k] = a[i][k] / b[k]
    return b


def matrices():
    rng = np.random.default_rng(1)
    good = rng.random((6, 6)) + 3 * np.eye(6)
    for place, value in ((None, 0.0), ((2, 2), 0.0), ((5, 5), 0.0), ((3, 3), -4.0), ((1, 0), np.nan), ((4, 1), np.inf)):
        a = good.copy()
        if place is not None:
            a[place] = value
        yield a
    yield good[:1, :1]
    yield -good


@pytest.mark.parametrize("function", [pivots, roots, backwards, norms])
@pytest.mark.parametrize("zero", [None, 0, 3])
def test_exceptions_and_lists_are_those_of_python(function, zero):
    compiled = weft.jit(fallback="error")(function)
    for a in matrices():
        b = np.linspace(0.5, 2.0, len(a))
        if zero is not None and zero < len(b):
            b[zero] = 0.0
        outcomes = []
        for call in (function, compiled):
            given = (a.tolist(), b.tolist())
            try:
                value = call(*given)
            except (ZeroDivisionError, ValueError) as error:
                value = (type(error), str(error))
            outcomes.append((value, given))
        (expected, theirs), (found, ours) = outcomes
        if isinstance(expected, tuple):
            assert found == expected
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        for mine, other in zip(ours, theirs):
            np.testing.assert_allclose(mine, other, rtol=1e-12)
