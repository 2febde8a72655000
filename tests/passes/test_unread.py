"""Unread: first values go exactly where nobody sees them; the interpreter, which knows every element that was never
written, is the judge.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from weft.analysis.unread import blocks_removal
from weft.ir import interp, text
from weft.ir.program import Program
from weft.ir.verify import verify
from weft.passes import PassContext, unread

HEAD = """
program f(a, v):
  size n = a.shape[0]
  param a: f64[n] C
  param v: f64
  local t: f64[n]
  local s: f64
  result y: f64[n]
  output #0 = tuple(array y, scalar s)
  guard 1 <= n else ValueError "n"

  s = 0.0_f64
  alloc y
"""
TAIL = "  return #0\n"
FILL = "  y[i] = 0.0_f64   for i: 0 <= i < n\n"
SCRATCH = "  alloc t\n  t[i_t] = 0.0_f64   for i_t: 0 <= i_t < n\n"

GONE = {
    "a recurrence from its first element on": FILL
    + "  y[0] = v\n  for k in 1 .. n:\n    y[k] = y[k - 1] * 0.5_f64 + a[k]\n",
    "sums of what earlier iterations have set": FILL
    + "  y[0] = v\n  for k in 1 .. n:\n    y[k] = a[k] + (sum[q: 0 <= q < k] y[q] * a[k - q])\n",
    "from the end": FILL + "  y[n - 1] = v\n  for k in n - 2 .. -1 step -1:\n    y[k] = y[k + 1] - a[k]\n",
    "scratch memory of each iteration": SCRATCH
    + "  for k in 0 .. n:\n    t[q] = a[q] + v   for q: 0 <= q < k\n    s = s + (sum[p: 0 <= p < k] t[k - p - 1])\n"
    + "  y[j] = a[j]   for j: 0 <= j < n\n",
    "both branches": FILL
    + "  for k in 0 .. n:\n    if bool(k < 2):\n      y[k] = v\n    else:\n      y[k] = y[k - 1]\n",
    "in steps": FILL + "  for k in 0 .. n step 2:\n    y[k] = v\n  for q in 1 .. n step 2:\n    y[q] = y[q - 1]\n",
}
STAYS = {
    "the last element": FILL + "  for k in 0 .. n - 1:\n    y[k] = v\n",
    "read by the first iteration": FILL + "  for k in 0 .. n:\n    y[k] = y[n - 1] + 1.0_f64\n",
    "read ahead": FILL + "  y[0] = v\n  for k in 1 .. n:\n    s = s + y[k]\n    y[k] = a[k]\n",
    "read by itself": FILL + "  for k in 0 .. n:\n    y[k] = y[k] + a[k]\n",
    "a branch on data": FILL + "  for k in 0 .. n:\n    if a[k] > 0.0_f64:\n      y[k] = v\n",
    "one branch of two": FILL + "  for k in 0 .. n:\n    if bool(k < 2):\n      y[k] = v\n",
    "a loop that is left": FILL + "  for k in 0 .. n:\n    if a[k] > 0.0_f64:\n      break\n    y[k] = v\n",
    "a return in between": FILL + "  if v > 0.0_f64:\n    return #0\n  y[j] = a[j]   for j: 0 <= j < n\n",
    "every other element": FILL + "  for k in 0 .. n step 2:\n    y[k] = v\n",
    "places from memory": FILL + "  for k in 0 .. n:\n    y[minimum(n - 1, k)] = v\n    y[0] = y[n - 1]\n",
    "a loop of unknown length": FILL
    + "  s = v\n  while s > 0.0_f64:\n    y[j] = a[j]   for j: 0 <= j < n\n    s = s - 1.0_f64\n",
    "used in a condition": FILL + "  if y[0] > v:\n    s = 1.0_f64\n  y[j] = a[j]   for j: 0 <= j < n\n",
}


def calls() -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    return [{"a": rng.standard_normal(n), "v": np.float64(v)} for n in (6, 3, 1) for v in (0.5, -1.5)]


@pytest.mark.parametrize("name", GONE)
def test_what_nobody_reads_is_not_written(preserved, name: str) -> None:  # type: ignore[no-untyped-def]
    after = preserved(HEAD + GONE[name] + TAIL, unread.run, calls=calls())
    assert "= 0.0_f64   for" not in text.show(after)
    assert any("never read" in remark for remark in preserved.remarks)


@pytest.mark.parametrize("name", STAYS)
def test_what_somebody_may_read_stays(preserved, name: str) -> None:  # type: ignore[no-untyped-def]
    before = text.parse(HEAD + STAYS[name] + TAIL)
    at = next(place for place, node in enumerate(before.body) if "0.0_f64   for" in text.show_node(node))
    assert blocks_removal(before, at) is not None
    assert unread.run(before, PassContext()) is before


def test_an_argument_keeps_what_its_caller_sees() -> None:
    before = text.parse(HEAD + "  a[i] = 0.0_f64   for i: 0 <= i < n\n  a[j] = v   for j: 0 <= j < n\n" + TAIL)
    assert blocks_removal(before, 2) == "the caller sees every write"


# --- random programs: the answer is exact --------------------------------------------------------------------------

SIZE = 5


class Writer:
    """Writes statements over an array of SIZE elements, all bounds literal."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def span(self) -> tuple[int, int]:
        """At least two places: what reads nothing needs no proof."""
        first = self.random.randint(0, SIZE - 2)
        return first, self.random.randint(first + 2, SIZE)

    def line(self) -> str:
        self.count += 1
        var, kind = f"i{self.count}", self.random.randrange(5)
        low, high = self.span()
        if kind == 0:
            return f"  y[{var}] = a[{var}]   for {var}: {low} <= {var} < {high}\n"
        if kind == 1:
            return f"  s = s + (sum[{var}: {low} <= {var} < {high}] y[{var}])\n"
        if kind == 2:
            low = max(low, 1)
            return f"  for {var} in {low} .. {max(low, high)}:\n    y[{var}] = y[{var} - 1] + a[{var}]\n"
        if kind == 3:
            high = min(high, SIZE - 1)
            first = f"  for {var} in {high} - 1 .. {min(low, high)} - 1 step -1:\n"
            return first + f"    s = s - y[{var}]\n    y[{var}] = y[{var} + 1]\n"
        place = self.random.randrange(SIZE)
        inner = f"y[q{self.count}] = y[{place}]   for q{self.count}: 0 <= q{self.count} < {var}"
        return (
            f"  for {var} in {low} .. {high}:\n    y[{place}] = v\n    {inner}\n"
            if place >= high
            else f"  y[{place}] = v\n"
        )

    def program(self) -> Program:
        head = HEAD.replace("output #0 = tuple(array y, scalar s)", "output #0 = scalar s").replace(
            "result y", "local y"
        )
        body = "".join(self.line() for _ in range(self.random.randint(2, 6)))
        source = (
            head.replace("[n]", f"[{SIZE}]").replace("1 <= n", "5 <= n") + FILL.replace("n", str(SIZE)) + body + TAIL
        )
        found = text.parse(source)
        verify(found)
        return found


def test_the_answer_is_exact_on_random_programs() -> None:
    removed = 0
    for seed in range(120):
        before = Writer(seed).program()
        at = 2
        without = replace(before, body=before.body[:at] + before.body[at + 1 :])
        arguments = {"a": np.arange(1.0, SIZE + 1.0), "v": np.float64(2.5)}
        try:
            result = interp.run(without, dict(arguments))
        except AssertionError:
            assert blocks_removal(before, at) is not None, seed
            continue
        why_not = blocks_removal(before, at)
        assert why_not in (None, "nothing else writes it"), (seed, why_not)
        removed += why_not is None
        assert result == interp.run(before, dict(arguments))
    assert removed >= 10
