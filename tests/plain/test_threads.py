"""Threads that share arguments with a native call: no change of another thread is lost, and nobody waits for ever."""

from __future__ import annotations

import random
import threading
import time
from collections import deque

import pytest

from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

RUNNING = True
TOTAL = 0


class Box:
    def __init__(self):
        self.number = 0


class Slotted:
    __slots__ = ("number",)

    def __init__(self):
        self.number = 0


def fill(items, table, members, line, data, box, slotted, n):
    """Writes into everything; texts of floats take as long natively as in Python."""
    global TOTAL
    work = 0
    for i in range(n):
        for j in range(1000):
            work += len(str(j + 0.1))
        items.append(i)
        table[i] = i
        members.add(i)
        line.append(i)
        data.append(i % 200)
        box.number += 1
        slotted.number += 1
        TOTAL += 1
    return work


def arguments():
    return [], {}, set(), deque(), bytearray(), Box(), Slotted()


def change_total():
    global TOTAL
    TOTAL += 10**6


#: What another thread does meanwhile, and where it must be found afterwards.
CHANGES = {
    "list": (lambda a: a[0].append(-1), lambda a: -1 in a[0]),
    "dict": (lambda a: a[1].update({-1: -1}), lambda a: -1 in a[1]),
    "set": (lambda a: a[2].add(-1), lambda a: -1 in a[2]),
    "deque": (lambda a: a[3].append(-1), lambda a: -1 in a[3]),
    "bytearray": (lambda a: a[4].append(255), lambda a: 255 in a[4]),
    "object": (lambda a: setattr(a[5], "number", a[5].number + 10**6), lambda a: a[5].number > 10**6),
    "slots": (lambda a: setattr(a[6], "number", a[6].number + 10**6), lambda a: a[6].number > 10**6),
    "global": (lambda a: change_total(), lambda a: TOTAL > 10**6),
}


@pytest.fixture(scope="module")
def filling():
    native = Native(fill)
    native.extend((*arguments(), 1))
    return native


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_of_another_thread_is_not_lost(filling, kind):
    global TOTAL
    TOTAL = 0
    change, is_there = CHANGES[kind]
    shared, steps = arguments(), 200
    thread = threading.Thread(target=filling, args=(*shared, steps))
    thread.start()
    time.sleep(0.002)  # the call gives the lock back after some 20 ms
    change(shared)
    thread.join()
    assert is_there(shared)
    assert set(range(steps)) <= set(shared[0]) and set(range(steps)) <= set(shared[1])
    assert shared[5].number % 10**6 == steps


def wait_for_global(text):
    count = {text: 0}
    while RUNNING:
        count[text] += 1
    return text


def wait_for_entry(flags):
    text = ""
    while not flags["stop"]:
        text = "waited"
    return text


@pytest.mark.parametrize("function", [wait_for_global, wait_for_entry])
def test_a_call_that_waits_for_another_thread_ends(function):
    global RUNNING
    RUNNING = True
    given = "a" if function is wait_for_global else {"stop": False}
    native = Native(function)
    native.extend((given,))

    def stop():
        global RUNNING
        time.sleep(0.03)
        RUNNING = False
        if function is wait_for_entry:
            given["stop"] = True

    thread = threading.Thread(target=stop)
    thread.start()
    native(given)
    thread.join()


def draw(n):
    """Draws from the generator of the module, and takes some time over it."""
    found = {}
    for i in range(n):
        for j in range(200):
            found[j] = len(str(random.random()))
    return found


def draw_from(rng, n):
    found = {}
    for i in range(n):
        for j in range(200):
            found[j] = len(str(rng.random()))
    return found


@pytest.mark.parametrize("own", [False, True])
def test_numbers_that_another_thread_draws_are_not_drawn_again(own):
    rng = random.Random(3) if own else random
    given = (rng,) if own else ()
    native = Native(draw_from if own else draw)
    native.extend((*given, 1))
    random.seed(3)
    steps, thread_draws = 400, []

    def watch():
        for _ in range(20):
            thread_draws.append(rng.random())
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    native(*given, steps)
    thread.join()
    afterwards = rng.random()
    expected = random.Random(3)
    drawn = [expected.random() for _ in range(steps * 200 + len(thread_draws) + 1)]
    assert drawn[-1] == afterwards and set(thread_draws) <= set(drawn)
    native(*given, 1)
    assert rng.random() == [expected.random() for _ in range(201)][-1]
