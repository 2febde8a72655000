"""Global variables and attributes of classes that compiled functions write."""

from __future__ import annotations

import functools
import sys
import threading

import pytest

from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

COUNT = 0
LOG = []
NAMES = {"a": 1}
LATEST = None


def tick(n):
    global COUNT, LATEST
    COUNT += n
    LATEST = f"t{n}"
    LOG.append(COUNT)
    return COUNT


def note(i):
    global MADE
    MADE = COUNT * i
    return COUNT


def several(n):
    for i in range(n):
        tick(i)
        note(i)
    return COUNT, LATEST, len(LOG), LOG, COUNT + tick(3) * COUNT


def renewed(n):
    global LOG, NAMES
    LOG = [n]
    NAMES = {}
    return LOG


def raising(n):
    tick(n)
    return LOG[99]


class Account:
    total = 0
    owners = []

    def __init__(self, value):
        self.value = value
        Account.total += value
        type(self).owners.append(str(value))

    def share(self):
        return self.value / self.total

    @classmethod
    def make(cls, value):
        cls.total = cls.total + 1
        return cls(value)


class Savings(Account):
    pass


def accounts(n):
    made = [Account(i + 1) for i in range(n)] + [Account.make(4)]
    made.append(Savings(3))
    return [account.share() for account in made], Account.total, Savings.total


def reset():
    module = sys.modules[__name__]
    module.COUNT, module.LOG, module.NAMES, module.LATEST = 0, [], {"a": 1}, None
    vars(module).pop("MADE", None)
    Account.total, Account.owners = 0, []


def state():
    made = vars(sys.modules[__name__]).get("MADE")
    return repr((COUNT, LOG, NAMES, LATEST, made, Account.total, Account.owners, "total" in vars(Savings)))


def answers(function, arguments):
    reset()
    found = []
    for _ in range(3):
        try:
            result = repr(function(*arguments))
        except IndexError as problem:
            result = str(problem)
        found.append((result, state()))
    return found


@pytest.mark.parametrize(
    "function, arguments, native_calls",
    [(several, (4,), 3), (renewed, (7,), 3), (accounts, (3,), 3), (raising, (2,), 0)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_written_globals_and_class_attributes(function, arguments, native_calls):
    expected = answers(function, arguments)
    native = Native(function, lambda values: native.extend(values) is not None)
    assert answers(native, arguments) == expected
    assert len(native.versions) == 1
    assert native.versions[0].calls == native_calls, last(native.versions[0].call)


# --- the order of reads and writes, closures that exist, threads ---------------------------------------------------

BEST: int | None = None
ITEMS = [1]
SEEN: dict[int, int] = {}
TABLE = {"a": 1, "b": 2}


def bump(k):
    global COUNT
    COUNT += k
    return COUNT


def in_order(n):
    """Values of globals are read before, between and after calls that change them."""
    global BEST, ITEMS
    total = 0
    for i in range(n):
        now = COUNT + bump(i) * 2 + COUNT
        total += now
        if BEST is None or now > BEST:
            BEST = now
        if i % 10 == 0:
            ITEMS = [*ITEMS, i]
        ITEMS.append(i % 3)
        SEEN[i % 4] = SEEN.get(i % 4, 0) + COUNT
    return total


def in_order_answers(function):
    global COUNT, BEST, ITEMS
    COUNT, BEST, ITEMS = 0, None, [1]
    SEEN.clear()
    first = ITEMS
    found = [function(50), COUNT, BEST, list(ITEMS), dict(SEEN)]
    COUNT = 1000  # other code changes it between two calls
    kept = ITEMS
    return [*found, function(3), COUNT, BEST, ITEMS is kept, list(first), list(kept)]


def compiled(function):
    native = Native(function, lambda values: native.extend(values) is not None)
    return native


def test_globals_are_read_and_written_in_order():
    native = compiled(in_order)
    assert in_order_answers(native) == in_order_answers(in_order)
    assert [version.calls for version in native.versions] == [2]


def counters():
    ticks = 0

    def up(n):
        nonlocal ticks
        for _ in range(n):
            ticks += 1
        return ticks

    return up, lambda: ticks


up, ticks_now = counters()
ticks = "a global of the same name"


def use_closures(n):
    total = 0
    for _ in range(n):
        total += ticks_now() * 100 + up(2) + ticks_now()
    return total


def test_variables_of_closures_that_exist_are_written():
    global up, ticks_now
    found = []
    for function in (use_closures, native := compiled(use_closures)):
        up, ticks_now = counters()
        found.append((function(3), ticks_now(), function(2), ticks_now(), up(1), ticks))
    assert found[0] == found[1]
    assert [version.calls for version in native.versions] == [2]


def looked_up(n):
    found = 0
    for i in range(n):
        found += TABLE["a" if i % 2 else "b"]
    return found


def test_calls_of_one_version_on_several_threads_have_their_own_variables():
    native = compiled(looked_up)
    native(2)
    n, answers = 4_000_000, {}
    threads = [threading.Thread(target=lambda k=k: answers.update({k: native(n + k)})) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {k: (n + k + 1) // 2 * 2 + (n + k) // 2 for k in range(3)}


def counted(function):
    @functools.wraps(function)
    def call(*arguments):
        call.calls += 1
        return function(*arguments)

    call.calls = 0
    return call


@counted
def squared(x):
    return x * x


def remembered(function):
    function.cache = {}

    def call(n):
        if n not in function.cache:
            function.cache[n] = function(n)
        return function.cache[n]

    return call


@remembered
def catalan(n):
    return 1 if n < 2 else sum(catalan(i) * catalan(n - 1 - i) for i in range(n))


def use_counted(n):
    total = sum([squared(i) for i in range(n)])
    squared.last = [total]
    squared.last.append(n)
    return total, squared.calls, squared.last, squared.__name__


def use_remembered(n):
    return [catalan(i) for i in range(n)]


def fail_counted(n):
    squared(n)
    raise ValueError(squared.calls)


def test_attributes_of_functions_are_written():
    found = []
    for function in (use_counted, native := compiled(use_counted)):
        squared.calls = 5
        found.append((function(3), squared.calls, function(2), squared.calls, squared.last))
    assert found[0] == found[1]
    assert squared.calls == 10
    assert [version.calls for version in native.versions] == [2]


def test_containers_that_are_attributes_of_functions_are_changed():
    cache = catalan.__closure__[0].cell_contents.cache
    native = compiled(use_remembered)
    expected = use_remembered(8)
    cache.clear()
    assert native(8) == expected
    assert cache == {n: expected[n] for n in range(8)}
    assert native(8) == expected


def test_a_call_that_raises_has_changed_the_attributes_once():
    native = compiled(fail_counted)
    for calls in (1, 2):
        squared.calls = calls
        with pytest.raises(ValueError, match=str(calls + 1)):
            native(3)
        assert squared.calls == calls + 1
