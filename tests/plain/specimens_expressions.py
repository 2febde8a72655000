"""Small functions for the oracle: comprehensions, lambdas, named expressions, calls, displays, strings."""

# ruff: noqa: F841
from __future__ import annotations

from tests.plain.oracle import say
from tests.plain.specimens import Box, case

LEVEL = 3


# ---- comprehensions
@case([1, 2, 3], 2)
def comprehensions(x, n):
    return [e * n for e in x], {e % 2 for e in x}, {e: e * e for e in x}, [e for e in x if e > 1 if e < 3]


@case([[1, 2], [3]])
def nested_comprehensions(x):
    flat, rows = [e for row in x for e in row], [[e + 1 for e in row] for row in x]
    return flat, rows, {i: {e for e in r} for i, r in enumerate(x)}


@case([1, 2])
def comprehension_does_not_leak(x):
    e = "outer"
    y = [e for e in x]
    z = [e for _ in x]
    return e, y, z


@case([[1], [2, 3]])
def comprehension_shadows(x):
    return [[x for x in x] for x in x], [x for x in x]


@case(3)
def comprehension_variable_is_unbound_after(n):
    y = [e for e in range(n)]
    try:
        return e, y  # noqa: F821
    except NameError:
        return "unbound"


@case([1, 2, 3])
def comprehension_order(x):
    return {say(e): say(-e) for e in x}, [say(e) for e in say(x) if say(e > 1)], {say((e, 1)): say(e) for e in x}


@case([3, 4])
def comprehension_in_the_third_argument(x):
    return str.join(say(","), [say(str(e)) for e in x]), max(say(1), say(2), sum([say(e) for e in x]), say(3))


@case([1, 2])
def comprehension_after_globals(x):
    return LEVEL + sum([e for e in x]) + LEVEL


@case(2)
def method_before_comprehension(n):
    rows = []
    for i in range(n):
        rows.append([i * j for j in range(n)])
    return rows


@case(3)
def attribute_error_before_comprehension(n):
    try:
        n.missing([say(e) for e in range(n)])
    except AttributeError:
        return "first"


@case(3)
def unbound_before_comprehension(n):
    try:
        return later + sum([say(e) for e in range(n)])  # noqa: F821
    except NameError:
        later = 1
    return later


@case(3)
def closures_in_comprehension(n):
    late = [lambda: e for e in range(n)]
    fixed = [lambda e=e: e for e in range(n)]
    return [f() for f in late], [f() for f in fixed]


@case([1, 2], [3, 4])
def generator_captures_comprehension_variable(x, y):
    return [sum(a * b for b in y) for a in x], [[sum(c for c in range(b)) for b in range(a)] for a in x]


@case([1, 2, 3, 4])
def walrus_in_comprehension(x):
    y = [last := e for e in x if (half := e // 2) > 0]
    return y, last, half


@case([1, 2, 3])
def walrus_in_generator(x):
    found = any((hit := e) > 1 for e in x)
    return found, hit


@case([1, 2, 3])
def walrus_in_captured_comprehension(x):
    y = [(lambda: e)() + (seen := e) for e in x]
    return y, seen


@case([1, 2])
def walrus_of_global(x):
    global LEVEL
    any((LEVEL := e) > 1 for e in x)
    result, LEVEL = LEVEL, 3
    return result


@case([(1, (2, 3)), (4, (5, 6))])
def comprehension_unpacks(x):
    return [a + b * c for a, (b, c) in x], {a: rest for a, *rest in x}


@case(2)
def comprehension_into_places(n):
    box = Box()
    return [box.i for box.i in range(n)], box.i


@case([1, 2, 3])
def comprehension_with_conditions(x):
    return [e if e > 1 else -e for e in x if e != 2 and 0 < e < 5 or e == 2], [e for e in x if not e % 2]


@case([1, 2, 3])
def comprehension_error_keeps_names(x):
    y = "before"
    try:
        y = [1 // (e - 2) for e in x]
    except ZeroDivisionError as error:
        return y, str(error)


@case("abc")
def comprehension_as_statement(x):
    [say(e) for e in x]
    {say(e) for e in "z"}
    return len(x)


@case([3, 1, 2])
def generators_as_arguments(x):
    pairs = list(zip((e for e in x), x))
    return sum(e for e in x), sorted(e * 2 for e in x), dict((e, e) for e in x), set(e for e in x), pairs


@case([1, 2, 3])
def generator_is_lazy(x):
    g = (say(e) for e in say(x))
    say("made")
    return next(g), list(g), list(g)


@case(3)
def generator_iterates_at_once(n):
    try:
        (e for e in n)
    except TypeError as error:
        return str(error)


@case([1, 2])
def generator_sees_later_values(x):
    n = 1
    g = (e + n for e in x)
    n = 10
    x = None
    return list(g)


@case([[1, 2], [3]])
def nested_generators(x):
    g = (e for row in x if row for e in row if e != 2)
    h = ((e + f for f in row) for row in x for e in [1])
    return list(g), h and 1


@case([1, 2, 3])
def iter_is_rebound(x):
    iter = 5
    set = tuple = 7
    return list(e + iter for e in x), {e for e in x}, (*x, set), {*x, tuple}


# ---- lambdas
@case([3, 1, 2])
def lambdas(x):
    key = lambda e: -e  # noqa: E731
    add = lambda a, b=2, *c, d=4, **k: (a, b, c, d, k)  # noqa: E731
    return sorted(x, key=key), sorted(x, key=lambda e: (e % 2, e)), add(1), add(1, 2, 3, d=5, f=6), (lambda: 7)()


@case(3)
def lambda_defaults_in_order(n):
    f = lambda a=say(1), b=say(n): (a, b)  # noqa: E731
    return f(), [g() for g in [lambda i=i: i * n for i in range(n)]]


@case([1, 2, 3])
def lambda_with_comprehension_and_walrus(x):
    f = lambda y: [e + (z := y) for e in x] + [z]  # noqa: E731
    return f(5), (lambda: (yield 3))().send(None), [*map(lambda e: e if e > 1 else [e for _ in x], x)]


@case([3, 1, 2], 2)
def lambda_needs_no_temporaries(x, n):
    return n or sorted(x, key=lambda e: -e), sorted(say(x), key=lambda e: e * n)


# ---- named expressions
@case([4, 5])
def walrus(x):
    if (n := len(x)) > 1:
        n += 1
    y = [n := n + 1, n, (n := 10) + n]
    return n, y, (a := 1, b := a + 1), (m := n) + m


@case(3)
def walrus_order(n):
    return n + (n := 5) * n - (n := 7), n


@case([1, 2, 3])
def walrus_in_while(x):
    out = []
    while x and (e := x.pop()) != 1:
        out.append(e)
    return out, e


@case(3)
def walrus_short_circuits(n):
    a = 0
    (n > 5 and (a := 1)) or (b := 2)
    return a, b


# ---- calls
def take(*args, **kwargs):
    return args, kwargs


@case([1, 2], {"k": 3})
def calls(x, d):
    return take(*x), take(0, *x, 3, *x, **d), take(a=1, **d, b=2), take(*x, *[e for e in x], a=say(1), **{"z": say(2)})


@case([1, 2], {"k": 3})
def call_order(x, d):
    return say(take)(say(1), *say(x), say([e for e in x]), a=say(2), **say(d), b=say([e for e in x]))


@case([1, 2])
def star_runs_before_the_rest(x):
    def numbers():
        for e in x:
            say(e)
            yield e

    return take(0, *numbers(), [say("c") for _ in x]), take(*numbers(), k=[say("d") for _ in x])


@case([1, 2])
def method_calls(x):
    return x.copy().index(2), "a,b".split(","), [3, 1].__len__(), x.append([e for e in x]), x


@case({"a": 1})
def duplicate_keyword(d):
    take(a=2, **d)


# ---- displays
@case([1, 2], (3,))
def starred_displays(x, y):
    return [*x, 0, *y], (*x, *y), {*x, 5}, {*x}, [*x], (0, *y), [0, say(1), *x, say(2), *say(y)]


@case({"a": 1}, {"a": 2, "b": 3})
def dict_displays(d, e):
    logged = {say("k"): say("v"), say("l"): say("w")}
    return {**d, **e}, {**e, "a": 0, **d}, {"z": 1, **d}, logged, {**say(d), say(1): say(2)}


@case([1])
def displays_with_statements(x):
    return [say(1), [say(e) for e in x], say(2)], {say("a"): [say(e) for e in x], say("b"): say(3)}, {say((1,)), *x}


@case([0, 1, 2, 3, 4])
def slices(x):
    i = 1
    return x[i:], x[:-1], x[::2], x[i : i + 2], x[say(3) : say(0) : say(-1)], x[[e for e in x][1]], x[slice(1, 2)]


@case([0, 1, 2])
def slice_assignment(x):
    x[1:2] = [7, 8]
    x[len(x) :] = [e for e in x]
    del x[::2]
    return x


# ---- strings
@case("a", 3)
def f_strings(s, n):
    return f"{s}{n!r:>{n + 1}}|{n:03d}|{s=}|{{}}{[e for e in s]}", f"{say(n)}{say(s)!a}{say(n):{say(5)}}"


class Shown:
    def __init__(self, name):
        self.name = name

    def __format__(self, spec):
        say(("format", self.name, spec))
        return self.name


@case("ab")
def f_string_order(s):
    return f"{Shown('x'):a}{[say(e) for e in s]}{Shown('y')}{Shown('z'):{[say(e) for e in s]}}"
