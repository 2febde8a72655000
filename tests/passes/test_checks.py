"""Checks: proven, moved to the entry, or left in place; and never a different exception or effect."""

from __future__ import annotations

import numpy as np
import pytest

from weft.ir import interp, text
from weft.passes import checks

HEAD = """
program f(a, b, n, p):
  size a_0 = a.shape[0]
  size b_0 = b.shape[0]
  symbol n = argument n
  param a: f64[a_0] C
  param b: i64[b_0] C
  param p: f64
  output #0 = None

"""


def calls(*sizes: tuple[int, int, int]) -> list[dict[str, object]]:
    return [{"a": np.zeros(a), "b": np.arange(b), "n": n, "p": np.float64(2.0)} for a, b, n in sizes]


def run(preserved, body: str, *sizes: tuple[int, int, int]) -> tuple[list[str], str]:
    after = preserved(HEAD + body + "  return #0\n", checks.run, calls=calls(*sizes))
    guards = [line.strip() for line in text.show(after).splitlines() if line.strip().startswith("guard")]
    return guards, text.show(after)


def test_proven_from_the_domain(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 1 .. a_0 - 1:
    check 0 <= i - 1 and i + 1 < a_0 else IndexError "x"
    a[i] = a[i - 1] + a[i + 1]
""",
        (5, 0, 0),
        (1, 0, 0),
        (0, 0, 0),
    )
    assert guards == [] and "check" not in shown


def test_worst_case_becomes_a_guard(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. n:
    for j in i .. n:
      check i < a_0 and j + 1 < a_0 else IndexError "x"
      a[i] = a[j + 1]
""",
        (5, 0, 4),
        (5, 0, 5),
        (5, 0, 0),
    )
    assert guards == ["guard n + 1 <= a_0 else IndexError"] and "check" not in shown


def test_a_failing_guard_hands_over_to_python() -> None:
    program = text.parse(
        HEAD + "  for i in 0 .. n:\n    check i < a_0 else IndexError\n    a[i] = 1.0_f64\n  return #0\n"
    )
    from weft.passes import PassContext

    after = checks.run(program, PassContext())
    with pytest.raises(IndexError):
        interp.run(program, {"a": np.zeros(2), "b": np.zeros(0, int), "n": 3, "p": np.float64(0.0)})
    with pytest.raises(interp.GuardFailed):
        interp.run(after, {"a": np.zeros(2), "b": np.zeros(0, int), "n": 3, "p": np.float64(0.0)})


def test_strided_worst_case_is_exact(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. n step 2:
    check i + 1 < a_0 else IndexError "x"
    a[i] = a[i + 1]
""",
        (6, 0, 6),
        (6, 0, 7),
    )
    assert len(guards) == 1 and "check" not in shown
    after = preserved(
        HEAD + "  for i in 0 .. n step 2:\n    check i + 1 < a_0 else IndexError\n    a[i] = a[i + 1]\n  return #0\n",
        checks.run,
        calls=[],
    )
    interp.run(after, {"a": np.zeros(6), "b": np.zeros(0, int), "n": 6, "p": np.float64(0.0)})  # the guard holds
    with pytest.raises(interp.GuardFailed):
        interp.run(after, {"a": np.zeros(6), "b": np.zeros(0, int), "n": 7, "p": np.float64(0.0)})


def test_a_branch_keeps_what_is_not_provable(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. a_0:
    if i > 0:
      check 0 <= i - 1 else IndexError "x"
      a[i] = a[i - 1]
    if p > 1.0_f64:
      check i < b_0 else IndexError "y"
      a[i] = f64(b[i])
""",
        (4, 4, 0),
        (4, 2, 0),
    )
    assert guards == []
    assert shown.count("check") == 1 and "check i < b_0" in shown


def test_nothing_moves_over_an_exit(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. n:
    if p > 1.0_f64:
      break
    check i < a_0 else IndexError "x"
    a[i] = 1.0_f64
""",
        (2, 0, 3),
    )
    assert guards == [] and "check i < a_0" in shown


def test_data_dependent_checks_stay(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. b_0:
    check 0_i64 <= b[i] and int(b[i]) < a_0 else IndexError "x"
    a[int(b[i])] = 1.0_f64
""",
        (4, 4, 0),
        (2, 4, 0),
    )
    assert guards == [] and shown.count("check") == 1


def test_scalar_arguments_are_tested_at_entry(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. a_0:
    check p != 0.0_f64 else ZeroDivisionError "division by zero"
    a[i] = a[i] / p
""",
        (3, 0, 0),
    )
    assert len(guards) == 1 and "check" not in shown


def test_guards_are_not_repeated(preserved) -> None:
    guards, _ = run(
        preserved,
        """
  for i in 0 .. n:
    check i < a_0 else IndexError "x"
    check i < a_0 else IndexError "other message"
    a[i] = 1.0_f64
  for j in 0 .. n + 1:
    check j < a_0 else IndexError "x"
    a[j] = 1.0_f64
""",
        (4, 0, 3),
        (4, 0, 4),
    )
    assert guards == ["guard n + 1 <= a_0 else IndexError"]


def test_a_check_that_must_fail_stays(preserved) -> None:
    guards, shown = run(
        preserved,
        """
  for i in 0 .. n:
    a[i] = 3.0_f64
    check 0 <= i - 1 else IndexError "x"
""",
        (4, 0, 3),
        (4, 0, 0),
    )
    assert guards == [] and "check 0 <= i - 1" in shown


def test_places_that_a_mask_or_a_type_keeps_in_range(preserved) -> None:
    """A scalar of NumPy's type in between, and the place counted from the end, do not hide what a mask says."""
    program = """
program f(a, b):
  size b_0 = b.shape[0]
  param a: i64[16] C
  param b: u8[b_0] C
  local digit: u8
  local place: int
  output #0 = None

  for i in 0 .. b_0:
    digit = b[i] & 15_u8
    place = select((int(digit) < 0 as bool), int(digit) + 16, int(digit))
    check (place >= 0 as bool) and (place < 16 as bool) else IndexError "x"
    a[place] = a[place] + 1_i64
  return #0
"""
    given = {"a": np.zeros(16, np.int64), "b": np.arange(250, 256).astype(np.uint8)}
    shown = text.show(preserved(program, checks.run, calls=[given]))
    assert "check" not in shown and "select" not in shown


def test_places_that_a_mask_leaves_too_large_are_tested(preserved) -> None:
    program = """
program f(a, b):
  size b_0 = b.shape[0]
  param a: i64[16] C
  param b: u8[b_0] C
  local place: int
  output #0 = None

  for i in 0 .. b_0:
    place = int(b[i] & 31_u8)
    check (place < 16 as bool) else IndexError "x"
    a[place] = a[place] + 1_i64
  return #0
"""
    given = {"a": np.zeros(16, np.int64), "b": np.arange(16).astype(np.uint8)}
    assert "check" in text.show(preserved(program, checks.run, calls=[given]))
