"""Arguments behind `*` and `**`, parameters with names only, rows behind `zip(*rows)`, context managers that raise."""

import functools
import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


def target(a, b=2, *, c="c", d=None):
    return (a, b, c, d)


def gather(a, *rest, sep="-", **opts):
    return sep.join([str(a), *map(str, rest)]), opts, len(rest)


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@logged
def area(w, h=2, *, scale=1):
    return w * h * scale


@logged
def noted(x, **more):
    return x, more


def spread(x):
    return target(*[x]), target(*[x, 3]), target(*(x for _ in range(2))), target(x, *[5]), target(*[x], c="z")


def forwarded(x):
    return area(x), area(x, h=3), area(w=x, scale=2), area(x, 4, scale=5), noted(x), noted(x, k="a", j=2.5), noted(x=x)


def by_dict(given):
    return target(1, **given)


def both(given):
    return gather(1, 2, **given), gather(1, q=5, **given), gather(*["x", 1], **{"z": 1, "sep": "/"})


def several(values):
    return gather(*values[:1], 1, sep="+"), gather(*values, *values), target(*values[:1], 3), target(*values[1:], *[1])


@dataclass
class Place:
    x: float
    y: float = 0.0
    tags: list = field(default_factory=list)


class Entry(NamedTuple):
    name: str
    size: int = 3


class Options:
    def __init__(self, a, b=5, **rest):
        self.a, self.b, self.rest = a, b, rest


def made(pairs):
    found = [Place(*pair) for pair in pairs]
    found[0].tags.append("t")
    options = Options(*[1], **{"z": 2})
    return found, Place(**{"x": 1.5, "y": 2}), Entry(*["a"]), Entry(*("b", 4)), options.a, options.b, options.rest


def only_named(a, *, b=2, c):
    return {"sum": a + b * c}


def chunks(items, n):
    whole = list(zip(*[iter(items)] * n))
    first, second = iter(items), iter(items)
    skipped = next(first)
    return whole, skipped, list(zip(*[first, second])), list(second)


def columns(rows):
    out = []
    for column in zip(*rows):
        rows[-1][-1] = rows[0][0]
        if len(rows[0]) < 5:
            rows[0].append(1)
        out.append(column)
    return out, list(zip(*[row for row in rows if False])), list(zip(*[]))


def rows_of(words, table):
    pairs = list(zip(*[(i, str(i), i / 2) for i in range(3)]))
    return list(zip(*words)), list(zip(*table.items())), list(zip(*[table, table])), list(zip(*[range(2), "ab"])), pairs


def lengths(bodies):
    total = 0.0
    for body in bodies:
        total += math.sqrt(body[0] * body[0]) + math.floor(body[1])
    return total, [bodies[k] for k in range(len(bodies))]


@contextmanager
def tagged(log, name):
    log.append("<" + name)
    yield name.upper()
    log.append(name + ">")


def contexts(names):
    log = []
    try:
        for name in names:
            with tagged(log, name) as upper:
                log.append(upper)
    except ValueError:
        log.append("never")
    return log


def compose(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions, lambda x: x)


def composed(x):
    return compose(lambda v: v + 1, lambda v: v * 2, str)(x)


CASES = [
    (several, ([7, 8],)),
    (several, (["a", "b"],)),
    (spread, (1,)),
    (spread, ("x",)),
    (forwarded, (3,)),
    (forwarded, (2.5,)),
    (by_dict, ({"b": 5},)),
    (by_dict, ({"c": 1, "d": 2},)),
    (both, ({"r": 1},)),
    (both, ({"sep": "+", "t": "x"},)),
    (made, ([(1, 2), (3,)],)),
    (made, ([[1.5, 2.5]],)),
    (chunks, ([1, 2, 3, 4, 5], 2)),
    (chunks, ("abcdef", 3)),
    (columns, ([[1, 2, 3], [4, 5, 6, 7]],)),
    (rows_of, (["abc", "de"], {"a": 1, "b": 2})),
    (lengths, ([],)),
    (lengths, ([(1.5, 2.5)],)),
    (contexts, (["a", "b"],)),
]
