"""More everyday programs over strings: tables, graphs, classes.  `PROGRAMS` has those of `everyday_strings`, too."""

from __future__ import annotations

from collections import Counter, OrderedDict

from tests.semantics.everyday_strings import PROGRAMS, TEXTS, calls

__all__ = ["PROGRAMS"]


@calls((["b", "a", "C"],), ([],), (["żó", "z", "ą"],), (["aa", "a", ""],))
def sorted_words(words):
    return sorted(words), sorted(words, key=len), sorted(words, reverse=True), max(words, default="none")


@calls([("bob", 3), ("al", 5)], [], [("ż", 1), ("a\0", 1)])
def ranking(rows):
    ordered = sorted(rows, key=lambda row: (-row[1], row[0]))
    return [f"{place + 1}. {name}: {points}" for place, (name, points) in enumerate(ordered)]


@calls({"a": 1, "b": 2}, {}, {"ż": 0})
def inverted(d):
    return {v: k for k, v in d.items()}, ",".join(f"{k}={v}" for k, v in d.items())


@calls(({"a": ["b", "c"], "b": ["c"], "c": []}, "a"), ({"x": []}, "x"))
def reachable(graph, start):
    seen, order = set(), []

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        order.append(node)
        for other in graph[node]:
            visit(other)

    visit(start)
    return order


@calls({"a": ["b"], "b": [], "c": ["a", "b"]}, {})
def topological(graph):
    done, order = set(), []

    def visit(node):
        if node not in done:
            done.add(node)
            for other in graph[node]:
                visit(other)
            order.append(node)

    for node in graph:
        visit(node)
    return order


@calls("abracadabra", "a", "zz")
def huffman_lengths(s):
    weights = sorted((n, c) for c, n in Counter(s).items())
    lengths = {c: 0 for _, c in weights}
    groups = [(n, [c]) for n, c in weights]
    while len(groups) > 1:
        (n, one), (m, other) = groups[0], groups[1]
        for c in one + other:
            lengths[c] += 1
        groups = sorted(groups[2:] + [(n + m, one + other)])
    return lengths


@calls("hello world", "", "ż \0")
def morse_like(s):
    codes = {"h": "....", "e": ".", "l": ".-..", "o": "---", " ": "/"}
    return " ".join(codes.get(c, "?") for c in s)


@calls("0110", "", "1")
def bits(s):
    ones = s.count("1")
    return "".join("1" if c == "0" else "0" for c in s), ones, int(s, 2) if s else 0


@calls(b"abc", b"", b"\xff\x00")
def byte_text(data):
    return "".join(chr(b) for b in data), sum(data)


@calls(("abc", 2), ("abc", "x"), ("abc", 1.5), ("abc", None), (["a"], 2))
def other_types(s, k):
    return [s, k] if k is None else (s, str(k), len(s))


@calls("a1b22", "", "999", "x")
def numbers_in(s):
    found, cur = [], ""
    for c in s:
        if "0" <= c <= "9":
            cur += c
        elif cur:
            found.append(int(cur))
            cur = ""
    if cur:
        found.append(int(cur))
    return found, sum(found)


@calls((3, "ab"), (0, ""), (2, "ż"))
def in_containers(n, w):
    texts = [w + str(i) for i in range(n)]
    return (w, n), texts, {t: len(t) for t in texts}, {t[:1] for t in texts}, [(t, i) for i, t in enumerate(texts)]


@calls(3, 0)
def none_or_text(n):
    found = None
    for i in range(n):
        if i == 2:
            found = "at " + str(i)
    return found


@calls("abc", "")
def exceptions(s):
    try:
        return s[2] + str(int(s[:1], 16))
    except IndexError:
        return "short"


@calls(("a-b_c", "-_"), ("", ""), ("abc", "x"))
def split_at_any(s, marks):
    parts, cur = [], ""
    for c in s:
        if c in marks:
            parts.append(cur)
            cur = ""
        else:
            cur += c
    return parts + [cur]


@calls("abc", "", "żóx")
def last_seen(s):
    order = OrderedDict()
    for i, c in enumerate(s + s):
        order[c] = i
    return list(order.items())


@calls(("abc", 5), ("żółw", 2), ("", 3))
def aligned(s, n):
    return s.rjust(n, "."), s.ljust(n), s.center(n, "*"), s.zfill(n), f"{s:>{n}}|{s:<8}|{n:04d}|{n / 3:.2f}"


@calls(*TEXTS)
def printed_in_between(s):
    words = []
    for word in s.split():
        words.append(word + "!")
    print(end="")
    lengths = {}
    for word in words:
        lengths[word] = len(word)
    print(end="")
    out = ""
    for word in words:
        out += word[0] + str(lengths[word])
    return out, lengths


@calls("ab", "", "żó\U0001f600")
def recursion_and_print(s):
    total = 0
    for c in s:
        total += ord(c)
    print(end="")
    return s + str(total) + (recursion_and_print(s[1:]) if s else "")


class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()


@calls("abc", "", "żó")
def class_reversal(s):
    stack = Stack()
    for c in s:
        stack.push(c)
    out = ""
    while stack.items:
        out += stack.pop()
    return out


class Node:
    def __init__(self, word):
        self.word = word
        self.left = None
        self.right = None


def _insert(node, word):
    if node is None:
        return Node(word)
    if word < node.word:
        node.left = _insert(node.left, word)
    else:
        node.right = _insert(node.right, word)
    return node


def _in_order(node, out):
    if node is not None:
        _in_order(node.left, out)
        out.append(node.word)
        _in_order(node.right, out)


@calls(["m", "a", "z"], [], ["żó", "b", "żó"])
def tree_sort(words):
    root = None
    for word in words:
        root = _insert(root, word)
    out = []
    _in_order(root, out)
    return out
