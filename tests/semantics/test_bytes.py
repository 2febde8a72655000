"""bytes and bytearray: indices give numbers, slices give bytes; searched, compared, joined and split as in CPython."""

from __future__ import annotations

from typing import Any

import weft
from tests.semantics.test_strings import same

DATA = [b"", b"a", b"banana", b"Hello, 42!\n", bytes(range(256)), b"  two words ", b"\x00\xff\x80"]


def each(values: list[Any]) -> list[tuple[Any, ...]]:
    return [(value,) for value in values]


def reading(b, i):
    total = 0
    for x in b:
        total = (total * 31 + x) % 1000003
    pairs = 0
    for k, x in enumerate(b):
        if x == k % 256:
            pairs += 1
    return total, pairs, len(b), b[i:], b[:i], b[::-1], b[i : i + 3], b[::2], b[-2:]


def test_reading() -> None:
    same(reading, *((b, i) for b in DATA for i in (0, 1, -2)))


def at(b, i):
    return b[i], b[-1]


def test_an_index() -> None:
    same(at, (b"abc", 1), (b"abc", -3), (b"abc", 3), (b"abc", -4), (b"", 0))


def relations(a, b):
    return a == b, a != b, a < b, a <= b, a in b, b in a, 97 in a, a == b"banana", a == "banana", a[:1] == b[:1]


def test_relations() -> None:
    same(relations, *((a, b) for a in DATA for b in DATA))


def test_a_number_that_is_no_byte() -> None:
    def among(b, n):
        return n in b

    same(among, (b"abc", 97), (b"abc", 0), (b"abc", 256), (b"abc", -1))


def searches(b, t):
    return b.find(t), b.rfind(t), b.count(t), b.startswith(t), b.endswith(t), b.find(97), b.count(97), b.find(t, 1, 4)


def test_searches() -> None:
    same(searches, *((b, t) for b in DATA for t in (b"", b"a", b"an", b"\xff", b"banana")))


def new(b):
    doubled = b + b
    parts = b.split()
    fields = b.split(b",")
    out = b""
    for i in range(len(b)):
        out += b[i : i + 1]
    cases = b.upper(), b.lower(), b.strip()
    return doubled, parts, fields, out == b, cases, b * 2, b.isalpha(), b.isdigit(), b.isspace(), b"-".join(parts)


def test_new_bytes() -> None:
    same(new, *each(DATA))


def keys(b):
    counts = {}
    for i in range(len(b) - 1):
        pair = b[i : i + 2]
        counts[pair] = counts.get(pair, 0) + 1
    singles = {}
    for x in b:
        singles[x] = singles.get(x, 0) + 1
    return counts, singles


def test_bytes_as_keys() -> None:
    same(keys, *each(DATA))


def tokens(b):
    """Where each number, name or sign of a text begins, and of which kind it is."""
    i = 0
    n = len(b)
    kinds = []
    starts = []
    total = 0
    while i < n:
        c = b[i]
        start = i
        if c == 32 or c == 10:
            i += 1
            continue
        if 48 <= c <= 57:
            value = 0
            while i < n and 48 <= b[i] <= 57:
                value = value * 10 + b[i] - 48
                i += 1
            total += value
            kinds.append(1)
        elif 97 <= c <= 122 or c == 95:
            while i < n and (97 <= b[i] <= 122 or b[i] == 95):
                i += 1
            kinds.append(2)
        else:
            i += 1
            kinds.append(3)
        starts.append(start)
    return kinds, starts, total


def test_a_tokenizer() -> None:
    same(tokens, *each([b"", b"x", b"foo = 12 + bar_x*(7)\n", b"123", b" \n", b"a1b2" * 50]))


def find_all(text, pattern):
    """Knuth, Morris and Pratt."""
    m = len(pattern)
    fail = [0] * m
    k = 0
    for i in range(1, m):
        while k > 0 and pattern[i] != pattern[k]:
            k = fail[k - 1]
        if pattern[i] == pattern[k]:
            k += 1
        fail[i] = k
    k = 0
    hits = []
    for i in range(len(text)):
        while k > 0 and text[i] != pattern[k]:
            k = fail[k - 1]
        if text[i] == pattern[k]:
            k += 1
        if k == m:
            hits.append(i - m + 1)
            k = fail[k - 1]
    return hits


def test_a_search_over_bytes_and_over_strings() -> None:
    same(find_all, (b"abababcabab", b"abab"), (b"x", b"abc"), (b"aaaa", b"a"))
    same(find_all, ("abababcabab", "abab"), ("日本日本", "本日"), ("", "a"))


def test_bytearrays_are_read() -> None:
    def total(b):
        n = 0
        for x in b:
            n += x
        return n, b[0], len(b), b[1:3], b == b"abc", b.find(b"c"), bytes([1]) if n < 0 else b"ok"

    compiled = weft.jit(fallback="silent")(total)
    for data in (bytearray(b"abc"), bytearray(b"abcabc"), b"abc", bytearray(b"\xff\x00")):
        result = compiled(data)
        assert result == total(data) and [type(x) for x in result] == [type(x) for x in total(data)]


def test_a_bytearray_that_is_written_runs_in_python() -> None:
    def shifted(b):
        for i in range(len(b)):
            b[i] = (b[i] + 1) % 256
        return len(b)

    compiled = weft.jit(fallback="silent")(shifted)
    data = bytearray(b"abc")
    assert compiled(data) == 3 and data == b"bcd"


def coded(s):
    data = s.encode()
    return data, data.decode(), len(data), data[0] if len(data) > 0 else -1


def test_encoding() -> None:
    same(coded, ("abc",), ("",), ("x" * 100,))
    same(coded, ("é",), ("日本",), native=False)
