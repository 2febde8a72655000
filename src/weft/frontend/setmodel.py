"""How CPython keeps a set, in Python.  In: a sequence of operations; out: the order of the items; and whether the
interpreter at hand keeps its sets in this way, which `weft.frontend.setorder` builds upon.
"""

from __future__ import annotations

import ast
import functools
import math
import sys
from collections.abc import Iterator

#: A place without an item; one whose item is gone, past which searches go.
FREE, GONE = -1, -2
SMALLEST = 8
LINEAR_PROBES = 9
PERTURB_SHIFT = 5
#: Sets of more items grow by less.
LARGE = 50000
#: Integers are hashed modulo a prime, tuples by xxHash.
MODULUS = 2**61 - 1
HASH_OF_INFINITY = 314159
TUPLE_START = 2870177450012600261
TUPLE_LANE = 14029467366897019727
TUPLE_TURN = 11400714785074694791
TUPLE_LENGTH = 3527539


class Model:
    """A set of integers from 0 on."""

    def __init__(self) -> None:
        self.slots = [FREE] * SMALLEST
        self.fill = self.used = self.finger = 0

    def _way(self, key: int) -> Iterator[int]:
        mask = len(self.slots) - 1
        perturb = hash(key) & (2**64 - 1)
        place = perturb & mask
        while True:
            yield from range(place, place + (LINEAR_PROBES if place + LINEAR_PROBES <= mask else 0) + 1)
            perturb >>= PERTURB_SHIFT
            place = (place * 5 + 1 + perturb) & mask

    def order(self) -> list[int]:
        return [key for key in self.slots if key >= 0]

    def add(self, key: int) -> None:
        again = FREE
        for place in self._way(key):
            if self.slots[place] == key:
                return
            if self.slots[place] == GONE:
                again = place
            if self.slots[place] == FREE:
                break
        self.used += 1
        if again != FREE:
            self.slots[again] = key
            return
        self.slots[place] = key
        self.fill += 1
        if self.fill * 5 >= (len(self.slots) - 1) * 3:
            self.resize(self.used * (2 if self.used > LARGE else 4))

    def resize(self, minimum: int) -> None:
        size = SMALLEST
        while size <= minimum:
            size *= 2
        items = self.order()
        self.slots = [FREE] * size
        self.fill = self.used
        for key in items:
            self.slots[next(place for place in self._way(key) if self.slots[place] == FREE)] = key

    def discard(self, key: int) -> None:
        if key in self.slots:
            self.slots[self.slots.index(key)] = GONE
            self.used -= 1

    def pop(self) -> int:
        place = self.finger & (len(self.slots) - 1)
        while self.slots[place] < 0:
            place = (place + 1) % len(self.slots)
        key, self.slots[place] = self.slots[place], GONE
        self.used -= 1
        self.finger = place + 1
        return key

    def merge(self, other: Model) -> None:
        if other.used and (self.fill + other.used) * 5 >= (len(self.slots) - 1) * 3:
            self.resize((self.used + other.used) * 2)
        if self.fill == 0 and len(self.slots) == len(other.slots) and other.fill == other.used:
            self.slots, self.fill, self.used = list(other.slots), other.fill, other.used
            return
        for key in other.order():
            self.add(key)


def hash_of_pair(first: int, second: int) -> int:
    """hash((first, second)), as a number without sign."""
    mixed = TUPLE_START
    for item in (first, second):
        mixed = (mixed + hash(item) * TUPLE_LANE) % 2**64
        mixed = ((mixed << 31 | mixed >> 33) * TUPLE_TURN) % 2**64
    return (mixed + (2 ^ TUPLE_START ^ TUPLE_LENGTH)) % 2**64


def hash_of_float(number: float) -> int:
    """hash(number), as a number without sign."""
    mantissa, exponent = math.frexp(abs(number))
    size = HASH_OF_INFINITY
    if math.isfinite(number):
        whole, by = int(mantissa * 2**56), (exponent - 56) % 61
        size = (whole << by | whole >> (61 - by)) & MODULUS
    found = -size if number < 0 else size
    return (-2 if found == -1 else found) % 2**64


@functools.cache
def is_as_here() -> bool:
    """Whether the running interpreter keeps a set as the model does: some hundred operations on both."""
    if sys.implementation.name != "cpython" or sys.hash_info.modulus != MODULUS or sys.hash_info.width != 64:
        return False
    if any(hash_of_pair(*pair) != hash(pair) % 2**64 for pair in ((0, 0), (-1, 7), (2**62, -(2**40)))):
        return False
    if any(hash_of_float(number) != hash(number) % 2**64 for number in (0.0, 1.5, -1.0, 1e-310, -3e200, math.inf)):
        return False
    real: set[int] = set()
    model = Model()
    number = 1
    for step in range(600):
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
        key, what = (number >> 33) % (40 if step < 300 else 700) * (1 + 15 * (step % 3)), number >> 60
        if what < 8:
            real.add(key)
            model.add(key)
        elif what < 12:
            for other in model.order()[: 1 + step % 3]:
                real.discard(other)
                model.discard(other)
        elif what < 13 and real:
            if real.pop() != model.pop():
                return False
        elif what < 15:
            added, beside = {key, key + 8, key + 16}, Model()
            for item in (key, key + 8, key + 16):
                beside.add(item)
            real |= added
            model.merge(beside)
        else:
            copy = Model()
            copy.merge(model)
            real, model = real.copy(), copy
        if list(real) != model.order():
            return False
    return True


def may_be_constant(node: ast.expr) -> bool:
    """Whether CPython's compiler may compute an item of a display: such sets are copied from a constant."""
    kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, kinds) for part in ast.walk(node))


def size_of_display(nodes: list[ast.expr]) -> int | None:
    """How many items a display of constants has, if its order does not depend on how the constant came about.

    A loop over a display runs over the constant itself; and a constant that was read from a file has been put together
    in another order than one that was compiled.  All that does not matter where no two items want the same place.
    """
    try:
        items = {ast.literal_eval(node) for node in nodes}
    except ValueError:
        return None
    single = Model()
    for number in range(len(items)):
        single.add(number)
    copied = Model()
    copied.merge(single)
    orders = []
    for size in (len(single.slots), len(copied.slots)):
        places = {hash(item) % size: item for item in items}
        if len(places) < len(items):
            return None
        orders.append([item for _, item in sorted(places.items())])
    return len(items) if orders[0] == orders[1] else None
