"""Random programs as Python source. In comes a Hypothesis `draw`; out comes a `RandomProgram`: the text of a function
`f` and a maker of its arguments. The programs are legal Python for their arguments (or raise an exception that the
compiled function must raise too): element-wise expressions over several dtypes, slices with offsets and steps,
nested loops with affine and triangular bounds, branches, reductions, scalar accumulators, updates in place, now and
then an index that leaves its array. Data are small multiples of 1/4, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

FLOATS = ("float64", "float32")
INTEGERS = ("int64", "int32", "uint8", "int16")
# Slices that fit together: every slice of one class has the same length on arrays of length n >= 3.
SLICES: dict[str, tuple[str, ...]] = {
    "full": ("", "[:]", "[::-1]", "[0:n]"),
    "inner": ("[1:-1]", "[:-2]", "[2:]", "[1:n - 1]", "[-2:0:-1]"),
    "short": ("[1:]", "[:-1]", "[:0:-1]", "[:n - 1]"),
    "even": ("[::2]", "[0::2]"),
}


@dataclass(frozen=True)
class RandomProgram:
    """`source` defines f(a, b, p, q, c, d, n, k, x); `make` gives fresh arguments."""

    source: str
    float_dtype: str
    integer_dtype: str
    size: int
    seed: int

    def make(self) -> tuple[Any, ...]:
        """a, b: float vectors; p, q: integer vectors; c, d: float matrices; n: their size; k, x: Python scalars."""
        rng = np.random.default_rng(self.seed)
        n = self.size

        def floats(*shape: int) -> np.ndarray:
            return (rng.integers(-12, 13, shape) / 4).astype(self.float_dtype)

        def integers(*shape: int) -> np.ndarray:
            return rng.integers(0, 9, shape).astype(self.integer_dtype)

        return (floats(n), floats(n), integers(n), integers(n), floats(n, n), floats(n, n), n, 3, 0.75)


@dataclass
class Writer:
    """The state of one program being drawn: its lines, the indentation, and the loop variables in scope."""

    draw: Draw
    text: list[str] = field(default_factory=list)
    depth: int = 1
    loops: tuple[str, ...] = ()
    budget: int = 12
    fresh: int = 0

    def pick(self, options: Sequence[T]) -> T:
        chosen: T = self.draw(st.sampled_from(list(options)))
        return chosen

    def chance(self, percent: int) -> bool:
        return bool(self.draw(st.integers(0, 99)) < percent)

    def emit(self, line: str) -> None:
        self.text.append("    " * self.depth + line)

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"


# --- expressions over whole slices ----------------------------------------------------------------------------------


def float_vector(w: Writer, kind: str, depth: int) -> str:
    """An expression with the length of slice class `kind` and a float dtype (or weak scalars mixed in)."""
    if depth == 0 or w.chance(25):
        choice = w.draw(st.integers(0, 9))
        if choice < 6:
            return w.pick("ab") + w.pick(SLICES[kind])
        if choice < 8:
            row = w.pick(("c[1]", "d[0]", "c[:, 1]", "d[-1]", "c.T[2]"))
            return row + w.pick(SLICES[kind])
        return w.pick("pq") + w.pick(SLICES[kind]) + " * 0.5"
    form = w.draw(st.integers(0, 7))
    one = float_vector(w, kind, depth - 1)
    if form < 3:
        return f"({one} {w.pick('+-*')} {float_vector(w, kind, depth - 1)})"
    if form == 3:
        return f"({one} {w.pick('+-*')} {scalar(w)})"
    if form == 4:
        return f"np.{w.pick(('minimum', 'maximum'))}({one}, {float_vector(w, kind, depth - 1)})"
    if form == 5:
        return (
            f"np.where({one} {w.pick(('<', '>', '<=', '=='))} {scalar(w)}, {one}, {float_vector(w, kind, depth - 1)})"
        )
    if form == 6:
        return f"(-{one})"
    return f"np.abs({one})"


def integer_vector(w: Writer, kind: str, depth: int) -> str:
    if depth == 0 or w.chance(30):
        return w.pick("pq") + w.pick(SLICES[kind])
    form = w.draw(st.integers(0, 5))
    one = integer_vector(w, kind, depth - 1)
    if form < 3:
        return f"({one} {w.pick(('+', '-', '*', '&', '|', '^'))} {integer_vector(w, kind, depth - 1)})"
    if form == 3:
        return f"({one} {w.pick(('+', '*', '//', '%', '>>'))} {w.pick((1, 2, 3))})"
    if form == 4:
        return f"np.{w.pick(('minimum', 'maximum'))}({one}, {integer_vector(w, kind, depth - 1)})"
    return f"np.where({one} > 2, {one}, {integer_vector(w, kind, depth - 1)})"


def matrix(w: Writer, depth: int) -> str:
    if depth == 0 or w.chance(25):
        return w.pick(("c", "d", "c.T", "d.T", "c[::-1]", "d[:, ::-1]", "a[:, None]", "b[None, :]", "a", "c[:, :1]"))
    form = w.draw(st.integers(0, 4))
    one = matrix(w, depth - 1)
    if form < 3:
        return f"({one} {w.pick('+-*')} {matrix(w, depth - 1)})"
    if form == 3:
        return f"np.maximum({one}, {matrix(w, depth - 1)})"
    return f"({one} * {scalar(w)})"


def scalar(w: Writer) -> str:
    """A Python scalar that is cheap and never zero-divides."""
    return w.pick(("0.5", "2", "x", "k", "1.25", "-1", *w.loops))


# --- expressions over elements, inside loops ------------------------------------------------------------------------


def index(w: Writer) -> str:
    """A position of an array of length n; loop variables run within 1 .. n - 2."""
    if not w.loops or w.chance(8):
        return w.pick(("0", "-1", "1", "n - 1"))
    i = w.pick(w.loops)
    if w.chance(2):
        return w.pick((f"{i} + 2", f"{i} - 2", f"2 * {i}"))  # may leave the array: the exception must be Python's
    return w.pick((i, i, i, f"{i} - 1", f"{i} + 1", f"n - 1 - {i}", f"-{i}"))


def element(w: Writer, depth: int) -> str:
    if depth == 0 or w.chance(30):
        choice = w.draw(st.integers(0, 9))
        if choice < 4:
            return f"{w.pick('ab')}[{index(w)}]"
        if choice < 7:
            return f"{w.pick('cd')}[{index(w)}, {index(w)}]"
        if choice == 7:
            return "s"
        return scalar(w)
    form = w.draw(st.integers(0, 7))
    one = element(w, depth - 1)
    if form < 5:
        return f"({one} {w.pick('+-*')} {element(w, depth - 1)})"
    if form == 5:
        return f"{w.pick(('min', 'max'))}({one}, {element(w, depth - 1)})"
    if form == 6:
        return f"({one} if {condition(w)} else {element(w, depth - 1)})"
    return f"abs({one})"


def condition(w: Writer) -> str:
    compare = w.pick(("<", ">", "<=", ">=", "==", "!="))
    plain = w.draw(st.integers(0, 3))
    if plain == 0 and w.loops:
        text = f"{w.pick(w.loops)} % 2 == {w.pick('01')}"
    elif plain == 1:
        text = f"p[{index(w)}] {compare} q[{index(w)}]"
    else:
        text = f"{element(w, 0)} {compare} {element(w, 0)}"
    if w.chance(15):
        text = f"{text} {w.pick(('and', 'or'))} {element(w, 0)} > 0"
    return text


# --- statements -----------------------------------------------------------------------------------------------------


def vector_statement(w: Writer) -> None:
    kind = w.pick(tuple(SLICES))
    form = w.draw(st.integers(0, 9))
    if form < 4:
        target = w.pick("ab") + (w.pick(SLICES[kind]) or "[:]")
        w.emit(f"{target} {w.pick(('=', '=', '+=', '-=', '*='))} {float_vector(w, kind, 2)}")
    elif form < 6:
        target = w.pick("pq") + (w.pick(SLICES[kind]) or "[:]")
        w.emit(f"{target} {w.pick(('=', '+=', '^=', '*='))} {integer_vector(w, kind, 2)}")
    elif form == 6:
        w.emit(f"{w.pick(('c[:]', 'd[:]', 'c[...]'))} {w.pick(('=', '+=', '*='))} {matrix(w, 2)}")
    elif form == 7:
        row = w.pick(("c[0]", "d[:, 1]", "c[-1]", "d[1]"))
        w.emit(f"{row}{w.pick(SLICES[kind]) or '[:]'} = {float_vector(w, kind, 2)}")
    elif form == 8:
        w.emit(f"{w.pick('ab')}[{w.pick('ab')} > {scalar(w)}] {w.pick(('=', '+='))} {scalar(w)}")
    else:
        name = w.name("t")
        w.emit(f"{name} = {float_vector(w, 'full', 2)}")
        w.emit(f"{w.pick('ab')}[:] = {name} {w.pick('+-')} {w.pick('ab')}")


def reduction_statement(w: Writer) -> None:
    form = w.draw(st.integers(0, 6))
    if form < 2:
        w.emit(f"s = s + np.sum({float_vector(w, w.pick(tuple(SLICES)), 2)})")
    elif form == 2:
        reduced = f"{w.pick(('c', 'd', 'c.T', '(c * d)'))}.{w.pick(('sum', 'max', 'min'))}(axis={w.pick((0, 1, -1))})"
        w.emit(f"{w.pick('ab')}[:] = {reduced}")
    elif form == 3:
        w.emit(f"s = {w.pick(('np.max', 'np.min'))}({float_vector(w, 'full', 1)}) + s")
    elif form == 4:
        w.emit(f"{w.pick('ab')}[:] = {w.pick(('c @ a', 'b @ d', 'c @ b', 'd.T @ a'))}")
    elif form == 5:
        w.emit(f"r = r + int({integer_vector(w, 'full', 1)}.sum())")
    else:
        w.emit(f"r += np.{w.pick(('argmax', 'argmin'))}({w.pick('abpq')})")


def element_statement(w: Writer) -> None:
    form = w.draw(st.integers(0, 9))
    if form < 4:
        w.emit(f"{w.pick('ab')}[{index(w)}] {w.pick(('=', '=', '+=', '-=', '*='))} {element(w, 2)}")
    elif form < 6:
        w.emit(f"{w.pick('cd')}[{index(w)}, {index(w)}] {w.pick(('=', '+=', '-='))} {element(w, 2)}")
    elif form == 6:
        w.emit(f"s += {element(w, 1)}")
    elif form == 7:
        w.emit(f"s = {w.pick(('max', 'min'))}(s, {element(w, 1)})")
    elif form == 8:
        w.emit(f"r = r {w.pick(('+', '*', '-', '^'))} {w.pick(('2', '3', 'k', *w.loops))}")
    else:
        w.emit(f"p[{index(w)}] {w.pick(('=', '+='))} q[{index(w)}] {w.pick(('+', '&', '*'))} p[{index(w)}]")


def loop(w: Writer) -> None:
    i = w.name("i")
    bounds = ["range(1, n - 1)", "range(n - 2, 0, -1)", "range(1, n - 1, 2)"]
    if w.loops:
        outer = w.loops[-1]
        bounds += [
            f"range({outer}, n - 1)",
            f"range(1, {outer} + 1)",
            f"range({outer} + 1, n - 1)",
            f"range({outer}, 0, -1)",
        ]
    w.emit(f"for {i} in {w.pick(bounds)}:")
    _nested(w, (*w.loops, i), 2)
    if w.chance(8):
        w.emit("else:")
        _nested(w, w.loops, 1)


def branch(w: Writer) -> None:
    w.emit(f"if {condition(w)}:")
    if w.loops and w.chance(12):
        w.depth += 1
        w.emit(w.pick(("break", "continue")))
        w.depth -= 1
        return
    _nested(w, w.loops, 1)
    if w.chance(40):
        w.emit("else:")
        _nested(w, w.loops, 1)


def counted_while(w: Writer) -> None:
    count = w.name("w")
    w.emit(f"{count} = {w.pick((0, 1))}")
    w.emit(f"while {count} < {w.pick((2, 3))}:")
    w.depth += 1
    w.emit(f"{count} += 1")
    w.depth -= 1
    _nested(w, w.loops, 1)


def _nested(w: Writer, loops: tuple[str, ...], statements: int) -> None:
    saved = w.loops
    w.loops = loops
    w.depth += 1
    for _ in range(w.draw(st.integers(1, statements))):
        statement(w)
    w.depth -= 1
    w.loops = saved


def statement(w: Writer) -> None:
    w.budget -= 1
    deep = w.depth >= 5 or w.budget <= 0
    form = w.draw(st.integers(0, 19))
    if w.loops and form < 11:
        element_statement(w)
    elif deep or form < 8:
        vector_statement(w)
    elif form < 11:
        reduction_statement(w)
    elif form < 17:
        loop(w)
    elif form < 19:
        branch(w)
    else:
        counted_while(w)


@st.composite
def programs(draw: Draw) -> RandomProgram:
    w = Writer(draw)
    w.emit("s = 0.0" if w.chance(50) else "s = a[0]")
    w.emit("r = 0")
    for _ in range(draw(st.integers(1, 4))):
        statement(w)
    w.emit(w.pick(("return s, r", "return a, s", "return s", "return a + b, r", "return")))
    return RandomProgram(
        source="def f(a, b, p, q, c, d, n, k, x):\n" + "\n".join(w.text) + "\n",
        float_dtype=w.pick(FLOATS),
        integer_dtype=w.pick(INTEGERS),
        size=33 if w.chance(10) else draw(st.integers(3, 7)),
        seed=draw(st.integers(0, 1000)),
    )
