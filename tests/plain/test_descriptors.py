"""Descriptors of the program's own: `__get__` and `__set__` are called as Python calls them, natively."""

from __future__ import annotations

import copy

import pytest

from weft.plain.function import Native
from weft.plain.runtime import last, load
from weft.plain.told import Refusal

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        return getattr(owner, self.name)

    def __set__(self, owner, value):
        if value < 0:
            raise ValueError("negative")
        setattr(owner, self.name, value)


class Scaled:
    """No data descriptor: what an object holds itself would come first."""

    def __init__(self, factor):
        self.factor = factor
        self.calls = 0

    def __get__(self, owner, kind):
        self.calls += 1
        return owner.balance * self.factor


class Gone:
    def __get__(self, owner, kind=None):
        return 1

    def __delete__(self, owner):
        owner.balance = 0


class Account:
    balance = Positive()
    limit = Positive()
    double = Scaled(2)
    gone = Gone()

    def __init__(self, balance, limit=100):
        self.balance = balance
        self.limit = limit


class Savings(Account):
    double = Scaled(3.5)


def booked(amounts):
    account = Account(10)
    refused = 0
    for amount in amounts:
        try:
            account.balance += amount
        except ValueError:
            refused += 1
    return account.balance, refused, account.limit


def of_argument(account, amount):
    account.balance = account.balance + amount
    return account.balance


def computed(amounts):
    total = 0.0
    for amount in amounts:
        total += Account(amount).double + Savings(amount).double
    return total


def taken_away(amount):
    account = Account(amount)
    del account.gone
    return account.balance


def told(function, arguments):
    given = copy.deepcopy(arguments)
    for kind in (Account, Savings):
        vars(kind)["double"].calls = 0
    try:
        result = repr(function(*given))
    except Exception as problem:
        result = f"{type(problem).__name__}: {problem}"
    held = [sorted(vars(value).items()) for value in given if isinstance(value, Account)]
    return result, held, [vars(kind)["double"].calls for kind in (Account, Savings)]


CALLS = [
    (booked, ([1, -50, 5],)),
    (booked, ([],)),
    (of_argument, (Account(1), 2)),
    (of_argument, (Savings(1.5), 2)),
    (computed, ([1, 2, 3],)),
]


@pytest.mark.parametrize("function, arguments", CALLS, ids=lambda given: getattr(given, "__name__", ""))
def test_descriptors_are_called_natively(function, arguments):
    native = Native(function)
    version = native.extend(copy.deepcopy(arguments))
    for _ in range(2):
        assert told(native, arguments) == told(function, arguments)
    assert last(version.call).calls == 2


def test_what_a_store_raises_is_pythons():
    native = Native(of_argument)
    native.extend((Account(1), 2))
    assert told(native, (Account(1), -2)) == told(of_argument, (Account(1), -2))


def test_deleting_by_a_descriptor_is_left_to_python():
    with pytest.raises(Refusal, match="a descriptor of class Gone"):
        Native(taken_away).extend((3,))


def test_another_descriptor_is_seen():
    native = Native(computed)
    native.extend(([1, 2],))
    assert native([1, 2]) == computed([1, 2])
    before = vars(Account)["double"]
    try:
        Account.double = Scaled(10)
        assert native([1, 2]) == computed([1, 2]) == 40.5
    finally:
        Account.double = before
