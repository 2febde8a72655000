"""Absorb: a row computed before the loop that goes over it, as part of that loop: bit for bit the same, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.analysis.facts import entry_facts
from weft.ir import interp
from weft.ir.program import Loop, Program, Stmt
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.options import Options
from weft.passes import PassContext, wavefront
from weft.passes.waves.absorb import absorbed

FRAME = """
program f(a, b):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: f64[n, m] C
  param b: f64[n, m] C
  disjoint a, b
  output #0 = None
  for i in 2 .. n - 2:
    {row}
    for j in {range}:
      {loop}
  return #0
"""


def program_of(row: str, loop: str, over: str = "2 .. m - 2") -> Program:
    program = parse(FRAME.format(row=row, loop=loop, range=over))
    verify(program)
    return program


def joined(program: Program) -> Program | str:
    outer = program.body[0]
    assert isinstance(outer, Loop)
    row, loop = outer.body
    assert isinstance(row, Stmt) and isinstance(loop, Loop)
    found = absorbed(row, loop, entry_facts(program).with_dim(outer.dim))
    if isinstance(found, str):
        return found
    return replace(program, body=(replace(outer, body=(found,)), *program.body[1:]))


def results(program: Program) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    arguments = {"a": rng.random((7, 9)), "b": rng.random((7, 9))}
    interp.run(program, arguments)
    return tuple(arguments.values())


ROW = "a[i, q + 1] = a[i, q + 1] + b[i, q] * a[i - 1, q + 2]   for q: 1 <= q < m - 3"
LOOP = "a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0_f64"


def test_a_row_becomes_part_of_the_loop_over_it():
    program = program_of(ROW, LOOP)
    after = joined(program)
    assert isinstance(after, Program)
    verify(after)
    for one, other in zip(results(program), results(after)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("row", "loop", "over", "reason"),
    [
        (ROW, LOOP, "2 .. m - 1", "another range"),
        (ROW, LOOP, "2 .. m - 2 step 2", "count up by one"),
        (ROW.replace("b[i, q]", "a[i, q]"), LOOP, "2 .. m - 2", "read what it has written"),
        (ROW, LOOP.replace("j - 1", "j + 1"), "2 .. m - 2", "more of it than its own iteration"),
        (ROW, "a[i, j] = a[i, j] * a[i, j] + a[i, j - 1]", "2 .. m - 2", "more than once"),
        (ROW, "b[i, j] = a[i, j] + b[i, j - 1]", "2 .. m - 2", "does not go on"),
        ("a[i, q] += b[i, q]   for q: 2 <= q < m - 2", LOOP, "2 .. m - 2", "one dimension"),
        ("a[i, 2] = 1.0_f64", LOOP, "2 .. m - 2", "one dimension"),
    ],
)
def test_refused(row, loop, over, reason):
    found = joined(program_of(row, loop, over))
    assert isinstance(found, str) and reason in found


offsets = st.tuples(st.integers(-2, 2), st.integers(-2, 2))


@given(st.lists(offsets, min_size=1, max_size=3), offsets, st.integers(-1, 1))
@settings(max_examples=120, deadline=None)
def test_whatever_is_joined_comes_out_the_same(seen, back, shift):
    def place(offset: tuple[int, int], variable: str, more: int = 0) -> str:
        return f"a[i + {offset[0]}, {variable} + {offset[1] + more}]".replace("+ -", "- ")

    terms = " + ".join(place(offset, "q", shift) for offset in seen)
    row = f"a[i, q + {shift}] = a[i, q + {shift}] * 0.5_f64 + ({terms})   for q: {2 - shift} <= q < m - {2 + shift}"
    loop = f"a[i, j] = a[i, j] + {place(back, 'j')} / 4.0_f64"
    program = program_of(row.replace("+ -", "- "), loop)
    after = joined(program)
    if isinstance(after, Program):
        for one, other in zip(results(program), results(after)):
            np.testing.assert_array_equal(one, other)


def test_a_sweep_in_two_parts_runs_on_diagonals():
    program = program_of(ROW, LOOP)
    context = PassContext(Options())
    verify(wavefront.run(program, context), Stage.OPTIMISED)
    assert any("each in vectors" in remark.message for remark in context.log)
    # Without a dependence between rows there is no diagonal to run along: the row stays as it is.
    context = PassContext(Options())
    apart = program_of(ROW.replace("a[i - 1, q + 2]", "b[i - 1, q]"), LOOP)
    assert wavefront.run(apart, context) == apart
