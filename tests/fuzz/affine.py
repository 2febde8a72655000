"""Random affine programs as Python source.  In comes a Hypothesis `draw`; out comes an `AffineProgram`: the text of a
function of loop nests and a maker of its arguments for any size.

Nests are one to four deep, with rectangular, triangular, shifted and reversed bounds; statements stand at every level,
read shifted, transposed, reflected and skewed neighbours, reduce, keep extremes with their places, scan, scatter, and
carry conditions on loop variables and on data.  Every access is within bounds by construction: loop variables lie
within 0 .. n, and arrays have a margin.  Data are dyadic fractions, so that sums are exact in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.generator import Draw, Writer

MARGIN = 3
PARAMETERS = "a, b, c, d, u, v, q, w, n"


@dataclass(frozen=True)
class AffineProgram:
    """`source` defines f(a, b, c, d, u, v, q, w, n)."""

    source: str
    sizes: tuple[int, ...]
    seed: int

    def make(self, n: int) -> tuple[object, ...]:
        """a, b: vectors; c, d: matrices; u, v: what is only read; q: indices; w: a vector of twice the size; n."""
        rng = np.random.default_rng(self.seed)
        wide = n + 2 * MARGIN

        def floats(*shape: int) -> np.ndarray:
            return rng.integers(-8, 9, shape) / 4

        return (
            floats(wide),
            floats(wide),
            floats(wide, wide),
            floats(wide, wide),
            floats(wide),
            floats(wide, wide),
            rng.integers(0, wide, wide),
            floats(2 * wide),
            n,
        )


# --- expressions ----------------------------------------------------------------------------------------------------


def place(w: Writer) -> str:
    """A position of an array of n + 2 * MARGIN elements."""
    if not w.loops or w.chance(10):
        return w.pick(("0", "1", "n + 2", "n // 2", "n"))
    i = w.pick(w.loops)
    shift = w.pick((0, 1, 2, 3, 3, 3, 3, 4, 5))
    if w.chance(10):
        return f"n + {w.pick((2, 3))} - {i}"
    return f"{i} + {shift}" if shift else i


def wide_place(w: Writer) -> str:
    """A position of w: sums and multiples of variables stay below twice the size."""
    if len(w.loops) > 1 and w.chance(50):
        return f"{w.pick(w.loops)} + {w.pick(w.loops)} + {w.pick((0, 1, 2))}"
    return f"2 * {w.pick(w.loops)} + {w.pick((0, 1, 2))}" if w.loops else "1"


def read(w: Writer) -> str:
    kind = w.pick("aabccddduvvws")
    if kind in "abu":
        return f"{kind}[{place(w)}]"
    if kind in "cdv":
        return f"{kind}[{place(w)}, {place(w)}]"
    return f"w[{wide_place(w)}]" if kind == "w" else w.pick(("s", "m"))


def value(w: Writer, depth: int) -> str:
    """Products only with what is never written, so that values stay moderate."""
    if depth == 0 or w.chance(25):
        return read(w)
    one = value(w, depth - 1)
    form = w.draw(st.integers(0, 7))
    if form < 3:
        return f"({one} {w.pick('+-')} {value(w, depth - 1)})"
    if form == 3:
        return f"{one} * {w.pick((f'u[{place(w)}]', f'v[{place(w)}, {place(w)}]'))}"
    if form == 4:
        return f"0.5 * {one}"
    if form == 5:
        return f"{w.pick(('min', 'max'))}({one}, {value(w, depth - 1)})"
    if form == 6:
        return f"({one} if {condition(w)} else {value(w, depth - 1)})"
    return f"abs({one})"


def condition(w: Writer) -> str:
    compare = w.pick(("<", "<=", ">", ">=", "==", "!="))
    if w.loops and w.chance(60):
        other = w.pick((*w.loops, "1", "2", "n - 1", "n // 2"))
        return f"{w.pick(w.loops)} {compare} {other}"
    return f"{read(w)} {compare} {w.pick((read(w), '0.25', '0.0'))}"


# --- statements -----------------------------------------------------------------------------------------------------


def target(w: Writer) -> str:
    kind = w.pick("abccddw")
    if kind == "w":
        return f"w[{wide_place(w)}]"
    return f"{kind}[{place(w)}]" if kind in "ab" else f"{kind}[{place(w)}, {place(w)}]"


def assignment(w: Writer) -> None:
    form = w.draw(st.integers(0, 12))
    if form < 5:
        w.emit(f"{target(w)} = {value(w, 2)}")
    elif form < 7:
        w.emit(f"{target(w)} {w.pick(('+=', '-='))} {value(w, 1)}")
    elif form == 7:
        w.emit(f"s {w.pick(('+=', '-='))} {value(w, 1)}")
    elif form == 8:
        w.emit(f"m = {w.pick(('min', 'max'))}(m, {value(w, 1)})")
    elif form == 9:
        element = read(w)
        w.emit(f"if {element} {w.pick(('<', '>', '<=', '>='))} best:")
        w.emit(f"    best = {element}")
        if w.loops and w.chance(70):
            w.emit(f"    at = {w.pick(w.loops)}")
    elif form == 10:
        w.emit(f"t = {value(w, 1)}")
        w.emit(f"{target(w)} = t + {value(w, 1)}")
    elif form == 11:
        w.emit(f"{w.pick('ab')}[q[{place(w)}]] += {value(w, 1)}")
    else:
        w.emit(f"if {condition(w)}:")
        w.emit(f"    {w.pick(('seen = True', 's += 1.0', 'r += 1'))}")


def bounds(w: Writer) -> str:
    choices = ["range(n)", "range(n)", "range(1, n)", "range(n - 1)", "range(n - 1, -1, -1)", "range(0, n, 2)"]
    if w.loops:
        i = w.loops[-1]
        choices += [f"range({i} + 1)", f"range({i}, n)", f"range({i} + 1, n)", f"range({i})", f"range(n - {i})"]
        choices += [f"range({i} - 1, -1, -1)"]
    return w.pick(choices)


def nest(w: Writer) -> None:
    i = w.name("i")
    w.emit(f"for {i} in {bounds(w)}:")
    body(w, (*w.loops, i), 2)


def body(w: Writer, loops: tuple[str, ...], most: int) -> None:
    saved, w.loops = w.loops, loops
    w.depth += 1
    for _ in range(w.draw(st.integers(1, most))):
        statement(w)
    w.depth -= 1
    w.loops = saved


def statement(w: Writer) -> None:
    w.budget -= 1
    form = w.draw(st.integers(0, 9))
    if len(w.loops) < 4 and w.budget > 0 and form < 4:
        nest(w)
    elif w.depth < 6 and form == 9:
        w.emit(f"if {condition(w)}:")
        body(w, w.loops, 1)
        if w.chance(30):
            w.emit("else:")
            body(w, w.loops, 1)
    else:
        assignment(w)


@st.composite
def affine_programs(draw: Draw) -> AffineProgram:
    w = Writer(draw)
    w.emit("s = m = 0.0")
    w.emit("best = 0.25")
    w.emit("at = r = 0")
    w.emit("t = 0.0")
    w.emit("seen = False")
    for _ in range(draw(st.integers(1, 3))):
        nest(w)
    w.emit("return s, m, best, at, r, seen")
    large = draw(st.integers(4, 7))
    return AffineProgram(
        source=f"def f({PARAMETERS}):\n" + "\n".join(w.text) + "\n",
        sizes=(large, draw(st.integers(0, 5))),
        seed=draw(st.integers(0, 1000)),
    )
