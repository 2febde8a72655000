"""Strings that grow in loops: before and behind, two at once, by branches and helpers; linear in time and memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import weft


def appended(n, w):
    s = ""
    for i in range(n):
        s += w
    return s


def formatted(n, w):
    s = ""
    for i in range(n):
        s += str(i % 10) + "," + w
    return s


def prepended(n, w):
    r = ""
    for i in range(n):
        r = w + r
    return r


def prepended_letters(n, w):
    r = ""
    for c in w * n:
        r = c + r
    return r


def both_ends(n, w):
    s = "|"
    for i in range(n):
        s = str(i) + s + w
        if i % 3 == 0:
            s = s + "<"
        elif i % 3 == 1:
            s = ">" + s
    return s


def f_string(n, w):
    s = w
    for i in range(n):
        s = f"{s}{i};"
    return s


def two_at_once(n, w):
    a = b = w
    for i in range(n):
        a += "x"
        b = "y" + b
        if i % 2:
            a, b = b, a
    return a, b


def shared_prefix(n, w):
    """Two strings with one beginning: neither may see what is put behind the other."""
    s, seen = w, []
    for i in range(n):
        t = s
        s += str(i)
        t += "!"
        seen.append(t + s)
    return seen, s


def begun_again(n, w):
    out, cur = [], ""
    for i in range(n):
        cur += w + str(i)
        if len(cur) > 9:
            out.append(cur)
            cur = ""
    return out, cur


def kept_on_the_way(n, w):
    s, seen = "", {}
    for i in range(n):
        s = s + w[:1] + "-"
        seen[s] = i
        s = "<" + s
    return list(seen.items()), s


def doubled(n, w):
    s = w
    for i in range(min(n, 9)):
        s += s
    return s


def cut_and_grown(n, w):
    s = w + "abcdef"
    for i in range(n):
        s = s[1:] + str(i)
        s += s[:1]
    return s


def longer(s, i):
    return s + str(i)


def by_a_helper(n, w):
    s = w
    for i in range(n):
        s = longer(s, i)
    return s


def inner_variable(n, w):
    out = []
    for i in range(n):
        s = w
        for k in range(i % 4):
            s += "ab"
            s = "c" + s
        out.append(s)
    return out


def in_a_dict(n, w):
    d = {"a": w, "b": ""}
    for i in range(n):
        d["a"] += "x"
        d["b"] = w + d["b"]
    return d


def while_shrinking(n, w):
    s, out = w * n, ""
    while s:
        out = s[0] + out
        s = s[1:]
    return out


FUNCTIONS = [
    appended, formatted, prepended, prepended_letters, both_ends, f_string, two_at_once, shared_prefix, begun_again,
    kept_on_the_way, doubled, cut_and_grown, by_a_helper, inner_variable, in_a_dict, while_shrinking,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_agrees(function):
    compiled = weft.jit(function, fallback="silent")
    for n in (3, 0, 1, 7, 40, 400):
        for w in ("ab", "", "ż\U0001f600", "\0", "\ud800"):
            assert compiled(n, w) == function(n, w), (n, w)


@pytest.mark.parametrize("function", [appended, formatted, prepended, both_ends, f_string, two_at_once])
def test_natively(function):
    compiled = weft.jit(function, fallback="error")
    assert compiled(3000, "ab") == function(3000, "ab")
    assert compiled.stats["python_calls"] == 0


_LITTLE_MEMORY = """
    import resource, weft
    from tests.semantics import test_growing_strings as programs
    function = getattr(programs, "{name}")
    compiled = weft.jit(function, fallback="error")
    compiled(3, "ab")
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, before[1]))
    result = compiled(30000, "ab")
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert result == function(30000, "ab")
    assert compiled.stats["python_calls"] == {calls}, compiled.stats
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells how much memory is in use")
@pytest.mark.parametrize(
    ("name", "calls"), [("appended", 0), ("formatted", 0), ("prepended", 0), ("both_ends", 0), ("by_a_helper", 0)]
)
def test_in_little_memory(name, calls):
    """Copies of a string that grows would take gigabytes; one that must be copied is Python's."""
    program = textwrap.dedent(_LITTLE_MEMORY.format(name=name, calls=calls))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
