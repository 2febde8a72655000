"""Objects that come in stay as they are: CPython keeps their attributes in an array, until something asks for a dict.

What plain Python does with an object afterwards is slower once there is a dict; `gc` tells whether there is one.
"""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import Any

import pytest

import weft
from weft.plain import runtime

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 13), reason="attributes are kept in another way"),
]


class Ball:
    def __init__(self, place, speed):
        self.place = place
        self.speed = speed
        self.hits = 0


class Named(Ball):
    label = "none"

    def rename(self, label):
        self.label = label


@dataclass
class Account:
    owner: str
    balance: float = 0.0
    entries: int = 0


def moved(balls, time):
    for ball in balls:
        ball.place = ball.place + ball.speed * time
        if ball.place > 10.0:
            ball.speed = -ball.speed
            ball.hits += 1
    return sum([ball.place for ball in balls])


def named(balls):
    for ball in balls:
        if ball.place > 1.0:
            ball.label = "far"
    return [ball.label for ball in balls]


def booked(accounts, amount):
    for account in accounts:
        account.balance += amount
        account.entries += 1
    return accounts[0].balance


def with_more(ball):
    ball.extra = ball.place * 2.0
    return ball.extra


def has_dict(thing: Any) -> bool:
    return any(type(held) is dict for held in gc.get_referents(thing))


def compiled(function: Any) -> Any:
    return weft.jit(function, fallback="error")


def test_the_run_time_knows_where_attributes_are() -> None:
    library = runtime.load()
    assert library is not None
    assert library.wp_values_kept() == {11: 1, 12: 2}[sys.version_info[1]]


def test_objects_that_are_read_and_written_get_no_dict() -> None:
    balls, same = [[Ball(float(i), 3.0) for i in range(6)] for _ in range(2)]
    native = compiled(moved)
    for _ in range(3):
        assert native(balls, 0.5) == moved(same, 0.5)
    assert native.stats["calls"]
    assert not any(map(has_dict, balls))
    assert [(b.place, b.speed, b.hits) for b in balls] == [(b.place, b.speed, b.hits) for b in same]


def test_objects_that_have_a_dict_are_read_and_written_in_it() -> None:
    balls, same = [[Ball(float(i), 3.0) for i in range(6)] for _ in range(2)]
    for ball in balls[::2]:
        vars(ball)["place"] += 0.0
    native = compiled(moved)
    for _ in range(3):
        assert native(balls, 0.5) == moved(same, 0.5)
    assert [has_dict(ball) for ball in balls] == [True, False] * 3
    assert [vars(b) for b in balls] == [vars(b) for b in same]


def test_an_attribute_of_the_class_is_none_of_the_object() -> None:
    balls, same = [[Named(float(i), 1.0) for i in range(4)] for _ in range(2)]
    balls[3].rename("own")
    same[3].rename("own")
    native = weft.jit(named)
    assert native(balls) == named(same)
    assert not any(map(has_dict, balls))
    assert [vars(b) for b in balls] == [vars(b) for b in same]
    assert [list(vars(b)) for b in balls] == [list(vars(b)) for b in same]


def test_fields_with_defaults_get_no_dict() -> None:
    accounts, same = [[Account(name) for name in "abc"] for _ in range(2)]
    native = compiled(booked)
    for _ in range(2):
        assert native(accounts, 2.5) == booked(same, 2.5)
    assert not any(map(has_dict, accounts))
    assert accounts == same


def test_new_attributes_are_added() -> None:
    ball, same = Ball(1.0, 2.0), Ball(1.0, 2.0)
    native = weft.jit(with_more)
    assert native(ball) == with_more(same)
    assert native(ball) == with_more(same)
    assert list(vars(ball).items()) == list(vars(same).items())


def test_deleted_attributes_are_missed() -> None:
    ball = Ball(1.0, 2.0)
    native = compiled(moved)
    assert native([Ball(0.0, 1.0)], 1.0) == 1.0
    del ball.speed
    with pytest.raises(AttributeError, match="speed"):
        native([ball], 1.0)
    assert vars(ball) == {"place": 1.0, "hits": 0}


def test_more_attributes_than_a_class_keeps_names_for() -> None:
    ball = Ball(1.0, 2.0)
    for number in range(60):
        setattr(ball, f"extra_{number}", number)
    native = weft.jit(moved)
    assert native([ball], 1.0) == 3.0
    assert native([ball], 1.0) == 5.0
    assert ball.extra_59 == 59
    assert (ball.place, ball.hits) == (5.0, 0)
