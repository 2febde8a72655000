"""Which way calls go where the dispatcher is Python, by a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.runtime import ways
from weft.runtime.descriptor import LEFT, ScalarParam, Signature, Version
from weft.runtime.interpreted import Dispatcher


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(ways, "clock", made.read)
    monkeypatch.setattr(ways, "tick", made.read)
    return made


class Asked(Dispatcher):
    """A dispatcher that leaves to Python what no version takes, and counts how often it was asked."""

    questions = 0

    def _miss(self, args: tuple[object, ...], kwargs: dict[str, object], status: int | None) -> Any:
        self.questions += 1
        return LEFT


def doubled(x):
    return x * 2


def dispatcher(time: Time, generated: float, plain: float, exact: bool = True) -> tuple[Any, list[str]]:
    """One whose generated version and plain function take so many seconds, and which of the two ran."""
    ran: list[str] = []

    def taking(name: str, seconds: list[float]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            ran.append(name)
            time.now += seconds[0]
            return doubled(x)

        return run

    spent = {"generated": [generated], "plain": [plain]}
    made: Any = Asked(Signature(("x",), (object(),)))
    made.may_run_plain = 1
    made._plain = taking("plain", spent["plain"])
    made.spent = spent
    made.add_version(
        Version((ScalarParam("int"),), (), taking("generated", spent["generated"]), keepalive=None, exact=exact)
    )
    return made, ran


def test_generated_code_that_loses_is_dropped(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0001)
    assert [made(k) for k in range(30)] == [2 * k for k in range(30)]
    assert ran[-20:] == ["plain"] * 20
    assert made.profiles[0].plain_time < made.profiles[0].native_time


def test_generated_code_that_wins_stays(time: Time) -> None:
    made, ran = dispatcher(time, 0.0001, 0.001)
    for k in range(30):
        made(k)
    assert ran.count("plain") == 2
    assert made.profiles[0].plain_time == 0


def test_long_generated_calls_are_not_tried_in_python(time: Time) -> None:
    made, ran = dispatcher(time, 0.1, 0.0)
    for k in range(30):
        made(k)
    assert "plain" not in ran


def test_what_may_round_in_another_way_is_not_tried(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0, exact=False)
    for k in range(30):
        made(k)
    assert "plain" not in ran


def test_who_insists_on_generated_code_gets_it(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0)
    made.may_run_plain = 0
    for k in range(30):
        made(k)
    assert "plain" not in ran


def test_a_far_longer_plain_call_begins_the_trial_anew(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0001)
    for k in range(30):
        made(k)
    made.spent["plain"][0] = 1.0
    made(1)
    assert ran[-1] == "plain"
    ran.clear()
    for k in range(12):
        made(k)
    assert "generated" in ran
    assert ran[-4:] == ["generated"] * 4


def test_the_question_is_asked_again_after_many_calls(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0001)
    for k in range(60):
        made(k)
    made.spent["generated"][0] = 0.00001
    ran.clear()
    for k in range(600):
        made(k)
    assert ran.count("generated") > 580


def test_calls_without_a_version_are_asked_about_some_times(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0001)
    for _ in range(60):
        assert made("ab") == "abab"
    assert made.questions == 3
    for _ in range(1000):
        made("ab")
    assert made.questions < 12


def test_kinds_of_calls_have_ways_of_their_own(time: Time) -> None:
    made, ran = dispatcher(time, 0.001, 0.0001)
    for k in range(30):
        made(k)
    ran.clear()
    for x in (1.5, [1], ["a"], (2.0,), np.ones(2)):
        before = made.questions
        made(x)
        assert made.questions == before + 1
    assert made(x=3) == 6
    assert ran[-1] == "generated"


def test_exceptions_of_plain_calls_are_the_caller_s(time: Time) -> None:
    made, _ = dispatcher(time, 0.001, 0.0001)
    for _ in range(5):
        with pytest.raises(TypeError, match="unsupported operand"):
            made(None)
