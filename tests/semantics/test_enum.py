"""Members of enumerations: compared, kept in variables and containers, their values, given back to the caller."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import weft
from tests.semantics.test_strings import same


class State(enum.Enum):
    START = "start"
    NUMBER = "number"
    WORD = "word"


class Level(enum.IntEnum):
    LOW = 1
    MIDDLE = 5
    HIGH = 10


class Sign(enum.Enum):
    PLUS = 1
    MINUS = -1
    ADD = 1  # another name of PLUS


def machine(s):
    state = State.START
    numbers = 0
    words = 0
    for c in s:
        if state is State.START:
            if c.isdigit():
                state = State.NUMBER
                numbers += 1
            elif c.isalpha():
                state = State.WORD
                words += 1
        elif c == " ":
            state = State.START
        elif state != State.WORD and c.isalpha():
            state = State.WORD
    return numbers, words, state


def test_a_state_machine() -> None:
    compiled = same(machine, ("12 abc 3 x",), ("",), ("7",), ("ab ",), ("1a",))
    assert compiled("7")[2] is State.NUMBER


def level(x):
    if x < 3:
        found = Level.LOW
    elif x < 7:
        found = Level.MIDDLE
    else:
        found = Level.HIGH
    return found, found + 1, found > Level.LOW, found == 5, found.value


def test_members_that_are_numbers() -> None:
    compiled = same(level, (1,), (4,), (9,))
    assert compiled(4)[0] is Level.MIDDLE and type(compiled(4)[1]) is int


def totals(n):
    total = 0
    for i in range(n):
        kind = Level.LOW if i % 3 == 0 else Level.HIGH
        total += kind * 2
        if kind is Level.HIGH:
            total += 1
        if kind in (Level.LOW, Level.MIDDLE):
            total -= 3
    return total, Level.HIGH.value + Sign.MINUS.value, Sign.ADD is Sign.PLUS, Level.LOW == Sign.PLUS, State.WORD.name


def test_members_in_loops() -> None:
    same(totals, (0,), (1,), (10,))


def containers(n):
    counts = {Sign.PLUS: 0, Sign.MINUS: 0}
    history = []
    for i in range(n):
        sign = Sign.PLUS if i % 3 == 0 else Sign.MINUS
        counts[sign] += i
        history.append(sign)
    total = 0
    for sign in history:
        total += sign.value
    return counts, history, total, counts[Sign.PLUS]


def test_members_in_containers() -> None:
    same(containers, (0,), (1,), (7,))


def signed(sign, x):
    if sign is Sign.PLUS:
        return x
    return -x


def test_members_as_arguments() -> None:
    same(signed, (Sign.PLUS, 3), (Sign.MINUS, 3), (Sign.ADD, 2.5))


def test_classes_with_rules_of_their_own_run_in_python() -> None:
    class Odd(enum.Enum):
        A = 1
        B = 2

        def __eq__(self, other):
            return True

        __hash__ = None

    def same_one(n):
        x = Odd.A
        for i in range(n):
            if i > 2:
                x = Odd.B
        return x == Odd.A

    compiled = weft.jit(fallback="silent")(same_one)
    assert compiled(2) and compiled(9)


def switched(a):
    """A state that a loop over an array changes, and a loop over arrays beside it."""
    state, changes = State.START, 0
    for i in range(len(a)):
        if state is State.START and a[i] > 0.5:
            state, changes = State.WORD, changes + 1
        elif state is State.WORD and a[i] < 0.2:
            state = State.START
    out = np.zeros(len(a))
    for i in range(1, len(a)):
        out[i] = a[i] - a[i - 1]
    return changes, state, out


def known_beside_arrays(a):
    return a * Level.HIGH, a - Level(5), Level.LOW in (Level.LOW, Level.HIGH), Sign.ADD, State.WORD.value, Level.LOW + 1


def kept_beside_arrays(a):
    counts = {Sign.PLUS: 0, Sign.MINUS: 0}
    for i in range(len(a)):
        counts[Sign.PLUS if a[i] > 0.5 else Sign.MINUS] += 1
    return counts, a * counts[Sign.PLUS], Sign(int(a[0] + 1.0))


@pytest.mark.parametrize("backend", ["auto", "python"])
@pytest.mark.parametrize("function", [switched, known_beside_arrays, kept_beside_arrays])
def test_members_beside_arrays(function, backend) -> None:
    compiled = weft.jit(fallback="silent", backend=backend)(function)
    for size in (1, 2, 40):
        values = np.random.default_rng(size).random(size) * 0.9
        assert repr(compiled(values)) == repr(function(values))
