"""Arguments that hold strings beside numbers, changed and returned: the very object comes back, with its strings."""

from __future__ import annotations

import bisect
import copy
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import weft
from tests.semantics.agreement import alike


def add(ps):
    ps.append(("z", 26))
    return ps


def ordered(ps):
    ps.sort()
    return ps


def backwards(ps):
    ps.reverse()
    return len(ps), ps


def first(ps):
    x = ps[0]
    ps.pop(0)
    return x, ps


def untouched(ps):
    total = 0
    for _, k in ps:
        total += k
    return ps, total


def cleared(ps):
    ps.clear()
    return ps


def extended(ps):
    ps.extend([(name * 2, k + 1) for name, k in ps])
    return ps


def replaced(ps):
    for i in range(len(ps)):
        name, k = ps[i]
        ps[i] = (name + str(k), k)
    return ps


def inserted(ps):
    bisect.insort(ps, ("b", 0))
    ps.insert(0, ("", -1))
    return ps


def deleted(ps):
    del ps[0]
    return ps


def in_a_dict(ps):
    ps.append(("b", 2))
    return {"rows": ps}


def in_a_tuple(ps):
    ps.append(("b", 2))
    return ps, ps[0][0], [k for _, k in ps]


def by_another_name(ps):
    qs = ps
    qs.append(("q", 0))
    return qs


def copied(ps):
    qs = ps[:]
    qs.append(("q", 0))
    return qs


def after_a_print(ps):
    print(end="")
    for i in range(3):
        ps.append(("q", i))
    return ps


def through_a_function(ps):
    return add(ps)


LISTS = [
    add, ordered, backwards, first, untouched, cleared, extended, replaced, inserted, deleted, in_a_dict, in_a_tuple,
    by_another_name, copied, after_a_print, through_a_function,
]  # fmt: skip
PAIRS = ([("b", 2), ("a", 1)], [("żółw", 3), ("", 4), ("a\0b", 5), ("\U0001f600\ud800", 6)])


def value(d):
    d["q"] = (2, "y")
    return d


def key(d):
    d[1, "b"] = 2
    return d


def number_key(d):
    d[5] = "q"
    return d


def removed(d):
    for k in list(d):
        del d[k]
    return d


def popped(d, k):
    x = d.pop(k)
    return d, x


def updated(d):
    for k, v in list(d.items()):
        d[k] = (v[0] + 1, v[1] + "!")
    return d


def deep(d):
    d["a"].append("w")
    return d


def texts(d):
    d["new"] = d["a"] + d["b"]
    return d


def defaults(d):
    d["new"] += 1
    return d


def deque_added(q):
    q.append(("b", 2))
    q.appendleft(("a", 1))
    return q


def set_added(s):
    s.add(("b", 2))
    return s


def words_added(s):
    s.add("b" + "c")
    return sorted(s), len(s)


def names_added(names):
    names.append(names[0] + "x")
    return names


CALLS = [(function, (ps,)) for function in LISTS for ps in PAIRS] + [
    (value, ({"a": (1, "x")},)),
    (key, ({(1, "a"): 1},)),
    (number_key, ({1: "a"},)),
    (removed, ({(1, "a"): 1, (2, "b"): 3},)),
    (popped, ({"a": (1, "x"), "b": (2, "y")}, "a")),
    (popped, ({"a": (1, "x"), "b": (2, "y")}, "c")),
    (updated, ({"a": (1, "x"), "ż": (2, "\U0001f600")},)),
    (deep, ({"a": ["v"], "b": []},)),
    (texts, ({"a": "v", "b": "w"},)),
    (texts, (OrderedDict(a="v", b="w"),)),
    (defaults, (defaultdict(int, {"a": 1}),)),
    (defaults, (Counter("abca"),)),
    (defaults, ({"a": 1},)),
    (deque_added, (deque([("x", 1)]),)),
    (deque_added, (deque([("x", 1)], maxlen=2),)),
    (set_added, ({("a", 1)},)),
    (words_added, ({"a", "b"},)),
    (names_added, (["a", "b"],)),
    (names_added, ([],)),
]


def _outcome(function, arguments):
    """What a call gives, where its result is an argument itself, and the arguments afterwards."""
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error).__name__, error.args, arguments
    parts = result if isinstance(result, tuple) else (result,)
    return "value", result, [[part is argument for argument in arguments] for part in parts], arguments


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda part: getattr(part, "__name__", "-"))
def test_the_argument_comes_back(function, arguments):
    compiled = weft.jit(function, fallback="silent")
    for _ in range(2):
        wanted = _outcome(function, copy.deepcopy(arguments))
        found = _outcome(compiled, copy.deepcopy(arguments))
        assert alike(found, wanted), (found, wanted)


@pytest.mark.parametrize("function", [add, ordered, first, cleared])
def test_natively(function):
    compiled = weft.jit(function, fallback="error")
    ps = [("b", 2), ("a", 1)]
    result = compiled(ps)
    assert (result[1] if isinstance(result, tuple) else result) is ps
    assert compiled.stats["python_calls"] == 0


def test_other_kinds_in_the_next_call():
    compiled = weft.jit(add, fallback="silent")
    for ps in ([("a", 1)], [(1, 2)], [], [("a", 1.5)], [("a", "b")], [("a", None)], [("a", 1)]):
        wanted = add(copy.deepcopy(ps))
        assert alike(compiled(ps), wanted)
        assert alike(ps, wanted)


def made_here(n):
    ps = [("a", 1)]
    ds = {"a": ("x", 1)}
    print(end="")
    for i in range(n):
        ps.append(("q", i))
        ds["k" + str(i)] = ("y", i)
    return ps, ds


def test_made_before_a_region():
    compiled = weft.jit(made_here, fallback="silent")
    for n in (3, 0, 2):
        assert alike(compiled(n), made_here(n))
