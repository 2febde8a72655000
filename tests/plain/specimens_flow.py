"""Small functions for the oracle: generators, exceptions, `with`, `match`, functions, classes, scopes."""

# ruff: noqa: F841
from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass

from tests.plain.oracle import say
from tests.plain.specimens import Box, F, Manager, Point, T, case, set_level

LEVEL = 3


# ---- generators
@case([1, 2])
def generator_function(x):
    def numbers():
        got = yield 1
        say(got)
        yield
        a = (yield 2) + (yield 3)
        say(a)
        say((yield from x))
        return "end"

    g = numbers()
    out = [next(g), g.send("in"), next(g), g.send(10), g.send(20)]
    try:
        while True:
            out.append(next(g))
    except StopIteration as stop:
        out.append(stop.value)
    return out


@case(3)
def yield_in_expressions(n):
    def inner():
        x = [0, 0, 0]
        x[(yield "index")] = yield "value"
        print((yield "first"), (yield "second"))
        return x, [e for e in x] if False else (yield "last")

    g = inner()
    out = [next(g)]
    try:
        for e in (5, 1, 2, 3, 4):
            out.append(g.send(e))
    except StopIteration as stop:
        out.append(stop.value)
    return out


@case(3)
def generator_with_cleanup(n):
    def inner():
        try:
            for i in range(n):
                yield i
        finally:
            say("closed")

    g = inner()
    out = [next(g)]
    g.close()
    for e in inner():
        out.append(e)
        if e:
            break
    return out


@case(4)
def recursive_generator(n):
    def walk(k):
        if k:
            yield from walk(k - 1)
            yield k
            yield from walk(k - 1)

    return list(walk(n))


@case(3)
def empty_generator(n):
    def inner():
        return
        yield

    return list(inner())


# ---- exceptions
@case(0)
def try_everything(n):
    out = []
    for d in (1, 0, "a", None):
        try:
            out.append(10 // d)
        except ZeroDivisionError as error:
            out.append(str(error))
        except (TypeError, ValueError):
            out.append("type")
            if d is None:
                break
        else:
            out.append("fine")
        finally:
            out.append("finally")
    return out


@case(1)
def raises(n):
    try:
        raise ValueError("a", say(n)) from KeyError(say("b"))
    except ValueError as error:
        return error.args, error.__cause__


@case(1)
def reraises(n):
    try:
        try:
            [1 // (n - e) for e in range(3)]
        except ZeroDivisionError:
            say("seen")
            raise
    finally:
        say("done")


@case(1)
def return_in_finally(n):
    for i in range(3):
        try:
            return say(i)
        finally:
            if i < 2:
                continue


@case(1)
def handler_name_is_deleted(n):
    error = "before"
    try:
        1 // 0
    except ZeroDivisionError as error:
        pass
    return error


@case([1])
def raise_needs_statements(x):
    raise RuntimeError(*[say(e) for e in x]) from (ValueError(say(5)) if [e for e in x] else None)


@case(0)
def asserts(n):
    assert n == 0
    assert [e for e in "a"], say("not evaluated")
    try:
        assert n, say("message")
    except AssertionError as error:
        out = error.args
    AssertionError_ = 1
    assert 0 < AssertionError_ < n, (1, [e for e in "b"])
    return out


@case(0)
def assert_with_rebound_name(n):
    AssertionError = KeyError
    assert n, AssertionError.__name__


@case(0)
def assert_without_message(n):
    assert T
    assert F


# ---- with
@case(1)
def with_one(n):
    with Manager("a") as a, Manager(say("b")):
        say(a)
    with Manager("c"):
        return say(n)


@case(1)
def with_swallows(n):
    with Manager("a", True) as a:
        n += 1
        raise ValueError(a)
    return n


@case(1)
def with_raises(n):
    with Manager("a"):
        raise KeyError(n)


@case(1)
def with_jumps(n):
    out = []
    for i in range(4):
        with Manager(str(i)) as out[0:0]:
            if i == 1:
                continue
            if i == 2:
                break
        out.append(i)
    else:
        out.append("else")
    return out


@case(1)
def with_unpacks(n):
    box = Box()
    with Manager("ab") as (a, b), Manager("c") as box.c:
        pass
    return a, b, box.c


@case(1)
def with_target_fails(n):
    with Manager("abc", True) as (a, b):
        say("never")
    return n


@case(1)
def with_names(n):
    m = Manager("m")
    with m as m:
        say(m)
    with Manager("p") as p, Manager("q", True):
        raise ValueError(p)
    type = 5
    with Manager("r"):
        return type


@case(1)
def with_in_generator(n):
    def inner():
        with Manager("g"):
            yield 1
            yield 2

    g = inner()
    out = [next(g)]
    g.close()
    return out, list(inner())


# ---- match
@dataclass
class Circle:
    radius: float
    name: str = "c"


class Odd(int):
    pass


@case([0, 1, 2, -3, 2.5, "a", None, True, 1 + 2j, (1, 2)])
def match_literals(values):
    out = []
    for v in values:
        match v:
            case 0:
                out.append("zero")
            case 1 | 2:
                out.append("small")
            case -3 | 2.5:
                out.append("number")
            case "a" | "b":
                out.append("text")
            case None:
                out.append("none")
            case True:
                out.append("true")
            case math.pi | 1 + 2j:
                out.append("value")
            case other:
                out.append(other)
    return out, other


@case([[], [1], [1, 2], (1, 2, 3), [1, [2, 3]], "ab", b"ab", {1: 2}, deque([1, 2]), range(4), [0, 9, 8, 0]])
def match_sequences(values):
    out = []
    for v in values:
        match v:
            case []:
                out.append("empty")
            case [0, *middle, 0]:
                out.append(("zeros", middle))
            case [x]:
                out.append(x)
            case [x, [y, z]]:
                out.append((x, y, z))
            case (x, y) if x == y:
                out.append("equal")
            case [x, y]:
                out.append((y, x))
            case [x, *_, y]:
                out.append(("ends", x, y))
            case [*rest]:
                out.append(rest)
            case _:
                out.append("other")
    return out


@case([{}, {"a": 1}, {"a": 1, "b": 2}, {"b": [1, 2]}, [], Counter("aab"), defaultdict(int, {"k": 5})])
def match_mappings(values):
    out = []
    for v in values:
        match v:
            case {"a": 1, "b": x}:
                out.append(("ab", x))
            case {"a": x, **rest}:
                out.append((x, rest))
            case {"b": [x, y]}:
                out.append((x, y))
            case {"k": int(k)} if k > 3:
                out.append(k)
            case {}:
                out.append("mapping")
            case _:
                out.append("other")
    return out


@case([Point(0, 0), Point(0, 5), Point(3, 4), Circle(2.0), Circle(1.0, "d"), 5, "text", 2.5, Odd(3), True, [1], None])
def match_classes(values):
    out = []
    for v in values:
        match v:
            case Point(0, 0):
                out.append("origin")
            case Point(x=0, y=y):
                out.append(y)
            case Point(x, y=4 as four):
                out.append((x, four))
            case Circle(radius=r, name="d") | Point(r, _):
                out.append(("d", r))
            case Circle(r):
                out.append(r)
            case Odd(n):
                out.append(("odd", n))
            case bool():
                out.append("bool")
            case int(n) | float(n) if n > 2:
                out.append(n)
            case str() as s:
                out.append(s)
            case list([1 as one]):
                out.append(one)
            case object(missing=_):
                out.append("never")
            case _:
                out.append(None)
    return out


@case(Point(1, 2))
def match_too_many(v):
    match v:
        case Point(a, b, c):
            return a, b, c


@case(5)
def match_no_positional(v):
    match v:
        case object(a):
            return a


@case(5)
def match_needs_a_class(v):
    kind = (int, str)
    match v:
        case kind():
            return "no"


@case([1, 2, 3])
def match_binds_only_what_fits(v):
    x = "before"
    match v:
        case [x, 9, _]:
            say(1)
        case [y, 2, _] if y > 5:
            say(2)
        case [1, *_]:
            return x, y
    return None


@case([1, 2])
def match_rebinds_its_subject(v):
    match v:
        case [v, 3]:
            return "a", v
        case [v, w] if (v := v + 1) > 5:
            return "b", v
        case v:
            return "c", v


@case(7)
def match_falls_through(v):
    match say(v):
        case 1:
            return 1
        case 2 | 3:
            return 2
    match v, v + 1:
        case a, b if say(a) > say(b):
            return "greater"
        case (a, b) | [a, _, b]:
            out = a, b
    match [e for e in range(v)]:
        case [a, *_, b] if [e for e in (a, b)]:
            return out, a, b


@case(3)
def match_in_a_loop(n):
    out = []
    for i in range(5):
        match i:
            case 1:
                continue
            case x if x > n:
                break
            case _:
                pass
        out.append(i)
    else:
        out.append("else")
    return out


# ---- functions
def trace(name):
    say(("make", name))

    def decorate(function):
        say(("apply", name))
        return lambda *a: (name, function(*a))

    return decorate


@case(2)
def decorators(n):
    @trace(say("outer"))
    @trace(say("inner"))
    def add(a, b=say(n), *, c=say(3)):
        return a + b + c

    @staticmethod
    def plain():
        return 1

    return add(1), plain.__func__()


@case(3)
def closures(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    def counter():
        count = 0

        def step():
            nonlocal count
            count, old = count + 1, count
            return old

        return step

    step = counter()
    return total + add(n) + total, add(1) + total + sum([add(e) for e in range(2)]) + total, step(), step()


@case(3)
def shared_name_before_statements(n):
    def change():
        nonlocal n
        n = 100
        return 1

    return n + sum([change() for _ in range(1)]), [n, [change()], n]


@case(3)
def global_before_statements(n):
    global LEVEL
    LEVEL = 3
    from tests.plain import specimens

    before = specimens.LEVEL
    result = specimens.LEVEL + sum([set_level(e) for e in range(n)]) + specimens.LEVEL
    specimens.LEVEL = before
    return result


@case(5)
def recursion(n):
    def factorial(k):
        return 1 if k < 2 else k * factorial(k - 1)

    return factorial(n)


@case(1, 2)
def parameters(a, /, b, *c, d=4, **e):
    def inner(a, /, b=2, *c, d, e=5, **f):
        return a, b, c, d, e, f

    return inner(a, d=d), inner(1, 2, 3, d=4, g=6), c, e


@case(2)
def mutable_default(n):
    def push(e, to=[]):
        to.append(e)
        return to

    return push(1), push(n)


@case(3)
def function_with_docstring_only(n):
    def empty():
        """Only this."""

    def ellipsis(): ...

    return empty(), empty.__doc__, ellipsis()


@case(3)
def annotations_of_functions(n):
    def inner(a: "int", b: int = 2) -> "list[int]":
        c: list[int] = [a, b]
        return c

    return inner(n)


# ---- classes, imports, scopes
@case(3)
def nested_class(n):
    class Base:
        kind = [e for e in range(n)]

        def __init__(self, x):
            self.x, self.y = x, -x
            self.__hidden = n

        def total(self):
            return sum([e for e in self.kind if 0 < e < 5]) + self.__hidden

        @property
        def double(self):
            return 2 * self.x

        @classmethod
        def make(cls, *args):
            return cls(*args)

    class Derived(Base):
        def __init__(self, x):
            super().__init__(x + 1)
            self.more = [m for m in range(x)]

        def total(self):
            return super().total() + __class__.__name__.count("e")

    d = Derived.make(n)
    d.x += 1
    return d.total(), d.double, d.more, d.y


@case(3)
def imports(n):
    import math as m
    import os.path
    from collections import OrderedDict as O
    from collections import deque

    return m.floor(n + 0.5), os.path.join("a", "b"), O(a=1), deque([n])


@case(3)
def global_statement(n):
    global LEVEL
    before = LEVEL
    LEVEL = n + 1
    LEVEL += 1
    result, LEVEL = LEVEL, before
    return result


@case(3)
def names_like_temporaries(_t1):
    _t2 = [x_1 for x_1 in range(_t1)]
    x_1 = 5
    return _t2, x_1, [x for x in [e for e in _t2]]


@case(3)
def unreachable(n):
    return n
    for x in n:
        pass
    else:
        [a, b] = n


@case(2)
def deep_nesting(n):
    return [
        {k: (lambda v: [v + w for w in range(n) if (u := w) >= 0])(k) for k in range(n) if k in [j for j in range(n)]}
        for _ in range(n)
        if any(z == n for z in range(n + 1))
    ]


@case([5, 3, 8])
def everything_at_once(x):
    best = None
    for i, v in enumerate(sorted(x, key=lambda e: -e)):
        if best is None or v < best[1] <= 8 and (w := v * 2) > 3:
            best = i, v
    else:
        best = (*best, f"{w:>4}", *[e for e in x if e != best[1]])
    return best
