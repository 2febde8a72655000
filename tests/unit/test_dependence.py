"""Dependences of one loop: directions in which two accesses meet."""

from __future__ import annotations

import pytest

from weft.analysis.dependence import ANYHOW, NEVER, Directions, LoopContext, blocks_parallel, directions
from weft.analysis.effects import Access
from weft.analysis.facts import Facts, entry_facts
from weft.ir import text
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import Affine
from weft.ir.program import Loop
from weft.ir.types import I64, INT

I, J, K, N = Var("i"), Var("j"), Var("k"), Var("n")
LOOP = LoopContext(Dim("i", integer(0), N), Facts((Affine((("n", 1),), 0),), {"n": 0}))
EARLIER, SAME, LATER = Directions(True, False, False), Directions(False, True, False), Directions(False, False, True)


def at(*index: Expr | int, dims: tuple[Dim, ...] = (), buffer: str = "a") -> Access:
    return Access(buffer, tuple(integer(e) if isinstance(e, int) else e for e in index), dims)


def plus(left: Expr, right: int) -> Expr:
    return Op("add", (left, integer(right)), INT)


def times(factor: int, right: Expr) -> Expr:
    return Op("mul", (integer(factor), right), INT)


BELOW = Dim("j", integer(0), I)
ABOVE = Dim("j", plus(I, 1), N)
UP_TO = Dim("j", integer(0), plus(I, 1))
ROW = Dim("j", integer(0), N)


@pytest.mark.parametrize(
    "first, second, expected",
    [
        (at(I), at(I, buffer="b"), NEVER),
        (at(I), at(I), SAME),
        (at(plus(I, 1)), at(I), EARLIER),  # a[i + 1] is written, a[i] is read one iteration later
        (at(plus(I, -1)), at(I), LATER),
        (at(I, J, dims=(ROW,)), at(I, K, dims=(Dim("k", integer(0), N),)), SAME),
        (at(3), at(4), NEVER),
        (at(3), at(3), ANYHOW),
        (at(N), at(plus(N, 1)), NEVER),
        (at(times(2, I)), at(plus(times(2, I), 1)), NEVER),
        (at(times(2, I)), at(plus(times(2, I), 4)), LATER),
        (at(I, plus(I, 1)), at(I, I), NEVER),  # the two positions want different distances
        (at(I), at(J, dims=(BELOW,)), EARLIER),  # a triangular solve
        (at(I), at(J, dims=(ABOVE,)), LATER),
        (at(I), at(J, dims=(UP_TO,)), Directions(True, True, False)),
        (at(I), at(J, dims=(ROW,)), ANYHOW),
        (at(I), at(Op("sub", (N, plus(I, 1)), INT)), ANYHOW),
        (at(I), at(Op("add", (N, I), INT)), NEVER),  # below n, and from n on
        (at(Op("floordiv", (I, integer(2)), INT)), at(Op("floordiv", (I, integer(2)), INT)), ANYHOW),
        (at(Read("b", (I,), I64)), at(Read("b", (I,), I64)), ANYHOW),
        (at(I, Read("b", (I,), I64)), at(I, 0), SAME),
        (at(), at(), ANYHOW),
        # A row of four: only the integer-set library sees that rows do not overlap.
        (
            at(Op("add", (times(4, I), J), INT), dims=(Dim("j", integer(0), integer(4)),)),
            at(Op("add", (times(4, I), K), INT), dims=(Dim("k", integer(0), integer(4)),)),
            SAME,
        ),
        (at(times(2, I)), at(plus(times(4, I), 1)), NEVER),
    ],
)
def test_directions(first: Access, second: Access, expected: Directions) -> None:
    found = directions(first, second, LOOP)
    # Answering more than `expected` would be right but useless; answering less would be wrong.
    assert found == expected
    mirrored = directions(second, first, LOOP)
    assert mirrored == Directions(expected.later, expected.same, expected.earlier)


@pytest.mark.parametrize("first", range(-2, 3))
@pytest.mark.parametrize("second", range(-2, 3))
@pytest.mark.parametrize("slopes", [(1, 1), (2, 1), (2, 2), (-1, 1), (3, 2)])
def test_never_less_than_the_truth(first: int, second: int, slopes: tuple[int, int]) -> None:
    """Against enumeration: n up to 6 is enough to meet every direction these indices have."""
    found = directions(at(plus(times(slopes[0], I), first)), at(plus(times(slopes[1], I), second)), LOOP)
    for i in range(6):
        for k in range(6):
            if slopes[0] * i + first == slopes[1] * k + second:
                assert found.earlier if i < k else found.later if i > k else found.same


PARALLEL = {
    "    t = a[i]\n    while t < 3.0_f64:\n      t = t * 2.0_f64 + 1.0_f64\n    b[i] = t\n": True,
    "    t = t + a[i]\n    b[i] = t\n": False,
    "    b[0] = a[i]\n": False,
    "    b[i] = a[i]\n    a[i] = b[i]\n": True,
    "    b[i] = b[n - 1 - i]\n": False,
}


@pytest.mark.parametrize("body", PARALLEL)
def test_parallel_loops(body: str) -> None:
    head = "program f(a, b):\n  size n = a.shape[0]\n  param a: f64[n] C\n  param b: f64[n] C\n  local t: f64\n"
    head += "  output #0 = None\n\n  t = 0.0_f64\n  for i in 0 .. n:\n"
    program = text.parse(head + body + "  return #0\n")
    loop = next(node for node in program.body if isinstance(node, Loop))
    reason = blocks_parallel(loop, entry_facts(program), frozenset({"t"}))
    assert (reason is None) is PARALLEL[body]
