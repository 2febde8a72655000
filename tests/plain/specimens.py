"""Small functions for the oracle: every construct of Python that Core reduces, and the order in which it is evaluated.

Each has the arguments to call it with; `say` logs a value, so that a change of order is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.plain.oracle import say

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
LEVEL = 3


def case(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return add


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y


class Box:
    """Logs every access."""

    def __init__(self, **entries: Any) -> None:
        self.__dict__.update(entries)

    def __getattr__(self, name: str) -> Any:
        say(("get", name))
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        say(("set", name, value))
        self.__dict__[name] = value

    def __getitem__(self, index: Any) -> Any:
        say(("item", index))
        return self.__dict__.setdefault(str(index), 10)

    def __setitem__(self, index: Any, value: Any) -> None:
        say(("store", index, value))
        self.__dict__[str(index)] = value

    def __delitem__(self, index: Any) -> None:
        say(("delete", index))


class Truth:
    """Logs each time its truth is asked for, and compares by logging."""

    def __init__(self, name: str, value: bool) -> None:
        self.name = name
        self.value = value

    def __bool__(self) -> bool:
        say(("truth", self.name))
        return self.value

    def __lt__(self, other: Any) -> Any:
        say((self.name, "<", other.name))
        return Truth(self.name + other.name, self.value)


class Manager:
    def __init__(self, name: str, swallow: bool = False) -> None:
        self.name = name
        self.swallow = swallow

    def __enter__(self) -> str:
        say(("enter", self.name))
        return self.name

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        say(("exit", self.name, kind and kind.__name__, str(error), trace is not None))
        return self.swallow


T, F = Truth("t", True), Truth("f", False)


# ---- simple things stay what they are
@case([1, 2, 3], 1)
def plain_expression(a, i):
    x = a[i] + len(a) * -2
    return x


@case(5)
def docstring_and_return_none(n):
    """A docstring."""
    if n > 3:
        return
    return n


@case(2)
def constants_as_statements(n):
    1
    "text"
    ...
    n
    return n


@case(3)
def unary(n):
    return -n, +n, ~n, not n, -1, not not n


# ---- assignment
@case(1)
def chained_assignment(n):
    a = b = c = [n]
    a.append(b is c)
    return a, b


@case(1)
def chained_to_places(n):
    box = Box()
    a = box.x = box[say(1)] = say(n + 1)
    return a, box.x


@case(4)
def chained_rebinds_its_value(n):
    m = n
    n = k = m = n
    return n, k, m


@case(1, 2)
def swap(a, b):
    a, b = b, a
    return a, b


@case(1, 2, 3)
def rotate(a, b, c):
    a, b, c = c, a, b
    [a, b] = [b, a]
    return a, b, c


@case(10)
def fibonacci(n):
    a, b = 0, 1
    while a < n:
        a, b = b, a + b
    return a, b


@case([3, 4, 5], 0, 2)
def swap_entries(x, i, j):
    x[i], x[j] = x[j], x[i]
    return x


@case([1, 2, 0, 3])
def store_uses_new_index(x):
    i = 0
    i, x[i] = 2, 9
    return i, x


@case(2)
def order_of_pairwise(n):
    box = Box()
    box[say("i")], box.a, c = say(1), say(2), say(3)
    return c


@case((1, (2, [3, 4])))
def nested_unpacking(t):
    a, (b, [c, d]) = t
    return a, b, c, d


@case([1, 2, 3, 4])
def starred_unpacking(t):
    a, *b, c = t
    (*d,) = t
    return a, b, c, d


@case(((1, 2), [3, 4, 5]))
def starred_nested(t):
    (a, *b), (*c, d) = t
    return a, b, c, d


@case((1, 2, 3))
def unpack_to_places(t):
    box = Box()
    a, box.b, box[say(a)] = t
    return a, box.b


@case((1, 2, 3))
def unpack_too_many(t):
    a, b = t
    return a, b


@case((1,))
def unpack_too_few(t):
    a, *b, c = t
    return a


@case(((1,), 5))
def unpack_fails_before_later_stores(t):
    late = "untouched"
    try:
        (a, b), late = t
    except ValueError as error:
        return late, str(error)
    return None


@case((5, (1,)))
def unpack_fails_after_earlier_stores(t):
    early = "untouched"
    try:
        early, (a, b) = t
    except ValueError:
        return early
    return None


@case("ab")
def unpack_text(t):
    [a, b] = t
    (c, d) = reversed(t)
    return a, b, c, d


@case(3)
def display_of_other_length(n):
    try:
        a, b = n, n, n
    except ValueError as error:
        return str(error)
    return a, b


@case(3)
def empty_unpacking(n):
    () = []
    [] = ()
    try:
        () = [n]
    except ValueError as error:
        return str(error)
    return None


@case(1)
def one_tuple(n):
    (a,) = (n,)
    (b,) = [n + 1]
    return a, b


@case(2)
def annotated(n):
    a: int = n
    b: undefined_annotation = a + 1  # type: ignore[name-defined] # noqa: F821
    c: int
    c = b
    return a, b, c


@case(2)
def annotated_only(n):
    later: int
    return later + n  # noqa: F821


@case(2)
def annotated_places(n):
    box = Box(x=1)
    box.y: int = say(n)
    say(box).x: int  # noqa: B018
    box[say(0)]: int
    return box.y


@case(1)
def store_with_computed_index(n):
    x = [0] * 5
    x[n + 1] = n * 2
    x[n + 2 :] = [n, n]
    x[-1] = 7
    return x


@case(1)
def store_order(n):
    box = Box(inner=Box())
    say(box)[say(n) + 1] = say("value")
    say(box).inner[say(1), say(2) : say(3)] = say("second")
    say(box.inner).z = say("third")


@case(1)
def store_through_calls(n):
    table = [[0, 0], [0, 0]]
    table[say(n)][say(0)] = say(5)
    table[0][1] = table[1][0] + 1
    return table


@case({})
def keys_that_are_tuples(d):
    d[1, 2] = 3
    d[()] = 4
    d[(1, (2, 3))] = d[1, 2] + d[()]
    return d


# ---- augmented assignment
@case([1, 2], 3)
def augmented_name(x, n):
    y = x
    x += [n]
    n += 1
    n **= 2
    n //= 3
    return x, y is x, n


@case(1)
def augmented_places(n):
    box = Box(a=1)
    box.a += say(n)
    box[say("i")] += say(2)
    say(box)[say(1) + 1] -= say(3)
    return box.a


@case([[1], [2]])
def augmented_in_place(x):
    y = x[0]
    x[0] += [5]
    x[1:] += [[7], [8]]
    return y, x


@case(([1],))
def augmented_tuple_entry(t):
    try:
        t[0] += [2]
    except TypeError as error:
        return str(error), t
    return None


@case([5, 6, 7])
def augmented_index_changes(x):
    i = 0
    x[i] += (i := 2)
    return x, i


@case([3, 4])
def augmented_with_comprehension(x):
    n = 1
    n += sum([e * n for e in x])
    x[0] += len([e for e in x if e > n])
    return n, x


@case(3)
def augmented_name_changes(n):
    n += (n := 10)
    return n


@case(3)
def augmented_global_order(n):
    global LEVEL
    LEVEL = n
    LEVEL += len([set_level(e) for e in range(2)])
    result, LEVEL = LEVEL, 3
    return result


def set_level(value):
    global LEVEL
    LEVEL = 100 + value
    return value


# ---- delete
@case([1, 2, 3, 4, 5])
def deletion(x):
    a = b = 1
    del a, x[0], x[1:2]
    del (b, x[say(0)])
    try:
        return a
    except NameError as error:
        return type(error).__name__, x


@case(1)
def delete_places(n):
    box = Box(a=n)
    del box.a, box[say(1) + 1]
    try:
        return box.a
    except AttributeError:
        return "gone"


# ---- comparisons
@case(5)
def chain_of_names(n):
    low, high = 0, 10
    return low < n < high, low < n < 3 < high, n == 5 == n != 4, 1 < 2 < n


@case(5)
def chain_of_calls(n):
    return [say(1) < say(n) < say(3) < say(4), say(1) < say(2) < say(3)]


@case(5)
def chain_value(n):
    return (T < F < T).name, (F < say(T) < T).name, not T < F < T


@case(5)
def chain_in_test(n):
    out = []
    if T < T < F:
        out.append(1)
    if F < T < say(T):
        out.append(2)
    while n < say(7) < 9:
        n += 1
    return out, n


@case(5)
def chain_middle_changes(n):
    return n < 6 < (n := 9) < n + 1, n


@case([1, 2, 3])
def chain_with_comprehension(x):
    return 0 < len([e for e in x]) < 3 < sum([say(e) for e in x]), 0 < sum([e for e in x]) < 10


@case(3)
def membership_and_identity(n):
    x = [n]
    return n in x, n not in x, x is x is x, x is not None, 1 in {1} in [{1}]


# ---- short circuits
@case(0)
def boolean_values(n):
    return n and say(1), n or say(2), n or n and say(3) or say(4), not (n or say(0))


@case(0)
def boolean_truth_once(n):
    out = []
    if T and F or T:
        out.append("a")
    if (T and [e for e in "ab"]) or F:
        out.append("b")
    if F and [e for e in "ab"]:
        out.append("c")
    if F or (T and [say(e) for e in "ab"] and F):
        out.append("d")
    if not (F or not [say(e) for e in "xy"]):
        out.append("e")
    return out


@case(0)
def boolean_values_with_statements(n):
    a = T and [say(e) for e in "ab"]
    b = F and [say(e) for e in "cd"]
    c = F or n or [say(e) for e in "ef"] or say("never")
    d = T and F and [say(e) for e in "gh"]
    return a, b is F, c, d is F


@case(4)
def conditional_expression(n):
    return say(1) if n > 3 else say(2), [e for e in range(n)] if n > 5 else say("no")


@case(4)
def conditional_in_tests(n):
    out = []
    if T if n > 3 else F:
        out.append(1)
    if ([say(e) for e in "ab"] and F) if T else T:
        out.append(2)
    if (F or [say(e) for e in ""]) if n else T:
        out.append(3)
    if (T and F) if n else [e for e in "a"]:
        out.append(4)
    return out


@case(3)
def nested_conditionals(n):
    return [("a" if e > 1 else "b") if e else "c" for e in range(n)]


# ---- loops
@case([1, 2, 3])
def for_else(x):
    out = []
    for wanted in (2, 9):
        for e in x:
            if e == wanted:
                break
        else:
            out.append(("none", wanted))
    return out, e


@case(3)
def while_else(n):
    out = []
    while n:
        n -= 1
        if n == 7:
            break
    else:
        out.append("end")
    while True:
        n += 1
        if n > 2:
            break
        continue
    else:
        out.append("never")
    return out, n


@case(5)
def else_with_nested_breaks(n):
    for i in range(n):
        for j in range(n):
            if j > i:
                break
        else:
            if i == 4:
                break
            continue
    else:
        return "no break"
    return i, j


@case(3)
def break_overruled_by_finally(n):
    out = []
    for i in range(n):
        try:
            break
        finally:
            out.append(i)
            continue
    else:
        out.append("else")
    return out


@case(3)
def continue_overruled_by_break(n):
    for i in range(n):
        try:
            continue
        finally:
            break
    else:
        return "else"
    return i


@case(3)
def break_overruled_by_error(n):
    out = []
    for i in range(n):
        try:
            try:
                break
            finally:
                raise KeyError(i)
        except KeyError:
            out.append(i)
    else:
        out.append("else")
    return out


@case([(1, 2), (3, 4)])
def for_unpacks(x):
    out = []
    for i, (a, b) in enumerate(x):
        out.append((i, a, b))
    for [a, *b] in x:
        out.append((a, b))
    return out, a


@case(3)
def for_into_places(n):
    box = Box()
    for box.i in range(n):
        pass
    for box[say("k")], box.b in [(1, 2)]:
        pass
    return box.i, box.b


@case(3)
def while_with_statements(n):
    out = []
    while (m := n - 1) > 0 and [e for e in range(m)]:
        n -= 1
        if n == 2:
            continue
        out.append(m)
    return out, n, m


@case([3, 1, 2])
def while_condition_with_lambda(x):
    while sorted(x, key=lambda e: -e)[0] > 1:
        x.remove(max(x))
    return x


@case(6)
def loops_and_jumps(n):
    out = []
    for i in range(n):
        if i % 2:
            continue
        j = 0
        while j < i:
            j += 1
            if j == 3:
                break
        out.append(j)
    return out
