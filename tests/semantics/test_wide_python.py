"""The width of Python in kernels: `operator`, `itertools`, generators beside each other and inside `try`, lists that
generators, tuples and objects hold, put into containers.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from typing import NamedTuple

import numpy as np
import pytest

from tests.semantics.wide import needs_compiler, same_by_python, same_natively

pytestmark = needs_compiler
SECOND = operator.itemgetter(1)


def operators(x, n):
    return (
        operator.add(x, n), operator.sub(x, n), operator.truediv(n, x), operator.mod(7, n), operator.pow(x, n),
        operator.lt(x, n), operator.not_(n), operator.and_(6, n), operator.contains((1, 2), n), operator.abs(-x),
        operator.getitem((4, 5, 6), 2), operator.truth(n), operator.is_(x, None), operator.floordiv(7, n),
    )  # fmt: skip


def folded(xs):
    return functools.reduce(operator.add, xs), functools.reduce(operator.mul, xs, 1), list(map(operator.neg, xs))


def sorted_by_getters(pairs):
    return sorted(pairs, key=operator.itemgetter(0)), max(pairs, key=SECOND), [SECOND(p) for p in pairs]


def of_arrays(a):
    return operator.matmul(a, a.T), operator.neg(a), operator.ge(a, 2.0)


def arrangements(n, xs):
    return (
        list(itertools.permutations(range(n), 2)),
        list(itertools.combinations_with_replacement(xs, 2)),
        list(itertools.product(xs, repeat=2)),
        sum(a * b * c for a, b, c in itertools.permutations(xs, 3)),
    )


def parts(rows, chosen, xs):
    return (
        list(itertools.chain.from_iterable(rows)), list(itertools.compress(xs, chosen)), list(itertools.islice(xs, 2)),
        list(itertools.islice(xs, 1, None)), list(itertools.filterfalse(None, chosen)),
        list(itertools.filterfalse(lambda x: x < 5, xs)), list(itertools.zip_longest(xs, chosen, fillvalue=0)),
    )  # fmt: skip


def mapped(a, b, c):
    return list(map(lambda x, y: x * y, a, b)), list(map(max, a, b)), sum(map(lambda x, y, z: x + y + z, a, b, c))


def strictly(a, b):
    out = []
    for x, y in zip(a, b, strict=True):
        out.append(x * y)
    return out


def strictly_in_place(a, b):
    for x, y in zip(a, b, strict=True):
        a[0] += x * y
    return a


def generators_side_by_side(xs):
    def squares(k):
        for i in range(k):
            yield i * i

    total = 0.0
    for a, b in zip((x * x for x in xs), (x + 1 for x in xs)):
        total = total * 2 + a * b
    one = [a - b for a, b in zip((x for x in xs if x > 1), (x for x in xs))]
    other = [a + b for a, b in zip((x for x in xs), (x for x in xs if x > 1))]
    three = [a + b + c for a, b, c in zip(xs, squares(9), (x * 3 for x in xs))]
    return total, one, other, three


def own_handler(xs):
    def quotients():
        for x in xs:
            try:
                yield 10 // x
            except ZeroDivisionError:
                yield -1

    return list(quotients())


def consumers_exception(xs):
    def items():
        for x in xs:
            try:
                yield x
            except ZeroDivisionError:
                yield -1

    out = []
    try:
        for v in items():
            out.append(10 // v)
    except ZeroDivisionError:
        out.append(99)
    return out


def consumers_exception_not_caught(xs):
    def items():
        for x in xs:
            try:
                yield x
            except ZeroDivisionError:
                yield -1

    return [10 // v for v in items()]


def two_generators_with_handlers(xs):
    def inner():
        for x in xs:
            try:
                yield x
            except ZeroDivisionError:
                yield 1000

    def outer():
        try:
            for v in inner():
                yield 10 // v
        except ZeroDivisionError:
            yield -5

    out = []
    for w in outer():
        out.append(w)
    return out


def finally_in_a_generator(xs):
    log = []

    def items():
        try:
            for x in xs:
                yield x
        finally:
            log.append(-1)

    def first():
        for v in items():
            if v == 5:
                return v
        return 0

    for v in items():
        if v == 5:
            break
        log.append(v)
    log.append(7)
    for v in items():
        if v == 5:
            continue
        log.append(v)
    return first(), log


def yielded_list_is_shared(xs):
    def same():
        row = [0, 1]
        yield row
        yield row

    def changed():
        row = [x for x in xs if x > 1]
        yield row
        row[0] = 9

    out = []
    for v in same():
        out.append(v)
    out[0][0] = 7
    for v in changed():
        out.append(v)
    return out[1][0], out[2][0]


def filtered_lists_in_a_list(n):
    def row(k):
        return [k * j for j in range(n) if j != 1]

    def grown(k):
        out = []
        for i in range(k):
            out.append(i)
        return out

    rows = [row(i) for i in range(n)]
    for i in range(n):
        rows.append(grown(i))
        rows.append([x for x in range(n) if x < i])
    rows[0].append(3)
    one = [x for x in range(n) if x > 0]
    other = one
    both = [one, one]
    both[0].append(7)
    return rows, other, len(both[1])


NATIVE = [
    (operators, [(3.5, 2), (1.0, 1)]),
    (folded, [([3, 1, 2],)]),
    (sorted_by_getters, [([(3, 1.0), (1, 2.0), (2, 0.5)],)]),
    (of_arrays, [(np.arange(6.0).reshape(2, 3),)]),
    (arrangements, [(4, [3, 1, 2]), (0, [1, 2, 3])]),
    (parts, [([[1, 2], [3]], [1, 0, 1], [4, 5, 6])]),
    (mapped, [([1, 2, 3], [4, 5, 6], [7, 8])]),
    (strictly, [([1, 2], [3, 4]), ([1, 2], [3]), ([], [])]),
    (strictly_in_place, [([1, 2], [3, 4]), ([1, 2, 3], [3, 4])]),
    (generators_side_by_side, [([1.0, 2.0, 4.0],)]),
    (own_handler, [([1, 0, 2],)]),
    (consumers_exception, [([1, 0, 2],), ([1, 2],)]),
    (consumers_exception_not_caught, [([1, 2],), ([1, 0, 2],)]),
    (two_generators_with_handlers, [([1, 0, 2],)]),
    (finally_in_a_generator, [([1, 5, 2],), ([1, 2],)]),
    (yielded_list_is_shared, [([1, 2, 3],)]),
    (filtered_lists_in_a_list, [(3,)]),
]


@pytest.mark.parametrize(("function", "calls"), NATIVE, ids=[function.__name__ for function, _ in NATIVE])
def test_as_python(function, calls):
    same_natively(function, *calls)


def long_arrangements(n):
    return list(itertools.permutations(range(n), 4))


def list_of_a_tuple(n):
    pair = ([0] * n, 1)
    out = []
    out.append(pair[0])
    out[0][0] = 5
    return pair[0][0]


class Holder:
    def __init__(self, n):
        self.items = [0] * n


def list_of_an_object(n):
    held = Holder(n)
    out = []
    out.append(held.items)
    out[0][0] = 5
    return held.items[0]


def generator_and_itself(n):
    items = (i for i in range(n))
    return [a * b for a, b in zip(items, items)]


@pytest.mark.parametrize("function", [long_arrangements, list_of_a_tuple, list_of_an_object, generator_and_itself])
@pytest.mark.usefixtures("array_compiler_only")
def test_left_to_python(function):
    same_by_python(function, (4,))


# --- functions as arguments, patterns, targets ----------------------------------------------------------------------


def square(x):
    return x * x


def integrated(f, a, b, n):
    width = (b - a) / n
    total = 0.0
    for i in range(n):
        total = total * 0.5 + f(a + i * width) * width
    return total


def test_functions_as_arguments():
    """One version for each function; a closure's variable is looked at again."""
    import weft

    scale = 2.0

    def scaled(x):
        return scale * x

    compiled = weft.jit(fallback="error")(integrated)
    for function in (square, math.sin, np.sqrt, lambda x: x + 1, functools.partial(pow, 2.0), scaled, square):
        assert compiled(function, 0.0, 1.0, 4) == integrated(function, 0.0, 1.0, 4)
    scale = 3.0
    assert compiled(scaled, 0.0, 1.0, 4) == integrated(scaled, 0.0, 1.0, 4)
    with pytest.raises((TypeError, weft.errors.WeftError)):
        compiled(3, 0.0, 1.0, 4)


@dataclasses.dataclass
class Pair:
    x: int
    y: int


class Place(NamedTuple):
    row: int
    column: int


def of_a_list(xs):
    match xs:
        case []:
            return 0
        case [x]:
            return x
        case [x, *rest, y] if len(rest) > 1:
            return x + len(rest) * y
        case [x, *_]:
            return x


def of_a_class(pair):
    match pair:
        case Pair(x=0, y=y):
            return y
        case Pair(x, y) if x > y:
            return x
        case Pair():
            return -1


def of_types(n, x):
    match n:
        case 1 | 2 | 3:
            small = 1
        case int(m) if m < 10:
            small = m
        case _:
            small = 0
    match x:
        case float() as f if f > 2:
            return small, f * 2
        case _:
            return small, x


def starred(xs):
    a, *middle, z = xs
    first, *_ = xs
    middle.append(7)
    return a, middle, z, first, xs


def starred_pairs(pairs):
    (a, b), *rest = pairs
    return a, b, rest


def counted_down(xs):
    n = 0
    while (m := len(xs) - n) > 1:
        n += 1
    return m, n


def by_two_keys(pairs):
    return sorted(pairs, key=lambda p: (p[1], -p[0])), sorted(pairs, key=operator.itemgetter(1, 0), reverse=True)


def kinds(p):
    return isinstance(p, Place), isinstance(p, tuple), tuple(p)


MORE = [
    (of_a_list, [([],), ([5],), ([1, 2, 3, 4],), ([1, 2],)]),
    (of_a_class, [(Pair(0, 2),), (Pair(3, 2),), (Pair(1, 2),)]),
    (of_types, [(2, 1.0), (7, 3.0), (12, 2.0)]),
    (starred, [([1, 2, 3, 4],), ([1, 2],), ([1],)]),
    (starred_pairs, [([(1, 2.0), (3, 4.0)],), ([(1, 2.0)],)]),
    (counted_down, [([1, 2, 3],), ([],)]),
    (by_two_keys, [([(3, 1.0), (1, 2.0), (0, 1.0)],)]),
    (kinds, [(Place(1, 2),)]),
]


@pytest.mark.parametrize(("function", "calls"), MORE, ids=[function.__name__ for function, _ in MORE])
def test_patterns_and_targets(function, calls):
    same_natively(function, *calls)


def of_two_types(n):
    x = 1 if n > 2 else 2.5
    return isinstance(x, int)


@pytest.mark.usefixtures("array_compiler_only")
def test_a_type_that_only_the_run_time_knows():
    same_by_python(of_two_types, (3,), (1,))
