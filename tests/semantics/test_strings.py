"""Strings: every operation as CPython has it, over all of Unicode, native where it can be and by Python where not."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import pytest

import weft
from tests.support import compare, outcome
from weft.frontend.knowledge.texts import SPACES

TEXTS = ["", "a", "banana", "Hello, World 42!", "  two  words\n", "ab" * 40, "ABBA", "12345"]
WIDE = ["é", "naïve ÿ", "€uro", "日本語", "a😀b", "\ud800x", "ß\u0130"]


def same(function: Callable[..., Any], *calls: tuple[Any, ...], native: bool = True) -> Any:
    """Compile once, compare every call with the plain function; `native`: Python has run none that returns."""
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        before = compiled._interpreted_calls()
        actual, expected = outcome(compiled, arguments), outcome(function, arguments)
        why = compare(actual, expected)
        assert why is None, (arguments, why)
        # Whatever raises may be left to Python by a guard.
        assert not native or expected.error is not None or compiled._interpreted_calls() == before, arguments
    return compiled


def each(texts: list[str]) -> list[tuple[Any, ...]]:
    return [(text,) for text in texts]


# --- single characters and parts ------------------------------------------------------------------------------------


def parts(s, i, j):
    return s[i:j], s[:i], s[j:], s[::-1], s[i:j:2], s[::-2], s[-2:], s[:-1], len(s[i:j])


def test_parts() -> None:
    bounds = [(1, 3), (0, 0), (-3, -1), (5, 2), (-100, 100), (2, 10**6)]
    same(parts, *((text, *bound) for text in [*TEXTS, *WIDE] for bound in bounds))


def at(s, i):
    return s[i], s[-1], ord(s[i]), s[0] == s[-1]


def test_an_index() -> None:
    calls = [(text, i) for text in ("abc", "x", "日本語", "a😀") for i in (-4, -2, -1, 0, 1, 3, 10**12)]
    same(at, *calls, ("", 0))


def characters(s):
    n = 0
    last = "-"
    for i, c in enumerate(s):
        if c == "a" or c in "xyz" or c > "é":
            n += i + ord(c)
        last = c
    back = []
    for c in reversed(s):
        back.append(c)
    pairs = 0
    for a, b in zip(s, s[1:]):
        if a == b:
            pairs += 1
    return n, last, back, pairs


def test_characters_one_by_one() -> None:
    same(characters, *each(TEXTS + WIDE))


def code_points(n):
    out = ""
    for i in range(n):
        out += chr(i * 37)
    return out, ord("€"), chr(8364), chr(97) + chr(0x1F600)


def character(i):
    return chr(i)


def code_point(s):
    return ord(s)


def test_code_points() -> None:
    same(code_points, (0,), (2000,))
    same(character, (65,), (0x10FFFF,), (-1,), (0x110000,))
    same(code_point, ("x",), ("",), ("ab",))


def truth(s, t):
    if s and not t:
        return 1
    return 2 if s or t else 3


def test_truth() -> None:
    same(truth, ("a", ""), ("", "b"), ("", ""), ("x", "y"))


# --- comparing and searching ----------------------------------------------------------------------------------------


def relations(s, t):
    return s == t, s != t, s < t, s <= t, s > t, s >= t, s in t, t in s, s == "banana", s < "b", "ana" in s, s == ""


def test_relations() -> None:
    texts = ["", "a", "banana", "banan", "bananas", "b", "ana", "ba€", "😀", "é"]
    same(relations, *((a, b) for a in texts for b in texts))


def searches(s, t):
    hits = s.find(t), s.rfind(t), s.count(t), s.startswith(t), s.endswith(t), s.find(t, 2), s.find(t, 1, -1)
    more = s.count(t, -4), s.startswith(("ab", t)), s.endswith("a"), s.find("n"), s.count("a"), s.rfind(t, -5, 100)
    return hits, more


def test_searches() -> None:
    texts = ["", "a", "aa", "banana", "abcabcabc", "日本語日本", "x" * 70]
    wanted = ["", "a", "ana", "abc", "語", "bananas", "aa"]
    same(searches, *((s, t) for s in texts for t in wanted))


def test_what_is_not_found() -> None:
    def places(s, t):
        return s.index(t), s.rindex(t)

    same(places, ("banana", "na"), ("banana", "x"), ("", ""))


def classes(s):
    one = 0
    for c in s:
        if c.isdigit():
            one += 1
        if c.isalpha():
            one += 10
        if c.isspace():
            one += 100
        if c.isupper():
            one += 1000
        if c.islower() and c.isalnum():
            one += 10000
    whole = (s.isdigit(), s.isalpha(), s.isspace(), s.isupper(), s.islower(), s.isalnum(), s.isdecimal())
    return one, whole, s.isnumeric(), s.isprintable(), s.isascii()


def test_classes_of_characters() -> None:
    latin = "".join(map(chr, range(256)))
    same(classes, *each([*TEXTS, "ABC", "AbC", "é", "²", "A1", "1A ", "\x85\xa0", latin, "ª"]))


def test_characters_whose_class_only_python_knows() -> None:
    same(classes, *each(["٣", "日本", "ǅ", "\u2003", "a٣"]), native=False)


def spaces(s):
    n = 0
    for c in s:
        if c.isspace():
            n += 1
    return n, s.split(), s.strip(), s.isspace()


def test_spaces_of_all_of_unicode() -> None:
    same(spaces, *each(["日 本\u3000語", "\u2003\u2028", "a\u200bb😀 ", "".join(map(chr, range(SPACES + 100)))]))
    assert not any(chr(code).isspace() for code in range(SPACES, 0x110000))


def cases(s):
    return s.upper(), s.lower(), s.swapcase(), [c.upper() for c in s]


def test_upper_and_lower_case() -> None:
    same(cases, *each([*TEXTS, string.printable]))
    same(cases, *each(["é", "straße", "\u0130"]), native=False)


# --- making strings -------------------------------------------------------------------------------------------------


def joins(s, n):
    out = ""
    for c in s:
        out = c + out
    more = s + "-" + out
    more += s * 2
    dots = "." * n
    return out, more, dots, s * n, n * "ab", ",".join(s), "".join([d for d in s if d != "a"]), s + ""


def test_strings_joined() -> None:
    same(joins, *((s, n) for s in ["banana", *TEXTS, "日本"] for n in (3, 0, -1)))


def prefixes(s):
    """Strings that share characters stay what they are."""
    out = ""
    kept = []
    for c in s:
        out += c
        kept.append(out)
    first = "x" + s
    second = first + "1"
    third = first + "2"
    return kept, first, second, third


def test_strings_that_begin_alike() -> None:
    same(prefixes, *each([*TEXTS, "日本語"]))


def splits(s):
    words = s.split()
    fields = s.split(",")
    wide = s.split("--")
    return words, fields, len(wide), wide, s.strip(), s.lstrip(), s.rstrip(), s.strip("ab "), " ".join(words)


def split_at(s, t):
    return s.split(t)


def test_splits() -> None:
    texts = [*TEXTS, "a,b,,c", ",", "x--y----z", "\ta\x85b\xa0c\u00e9", "aabxxbaa", " , ", "\x1ca"]
    same(splits, *each(texts))
    same(split_at, ("a,b", ","), ("a,b", ""))


def edits(s):
    new = s.replace("an", "<>"), s.replace("a", ""), s.removeprefix("ba"), s.removesuffix("na")
    return new, s.zfill(8), s.rjust(8), s.ljust(8, "."), s.rjust(2, "é")


def test_edits() -> None:
    same(edits, *each([*TEXTS, "+5", "-12", "日本"]))


def lines_and_parts(s):
    lines = s.splitlines()
    total = 0
    for line in lines:
        total += len(line)
    number = len(lines)
    head, mark, tail = s.partition("=")
    return lines, total, head, mark, tail, f"{number}: {head}-{total * 2}", f"{s}"


def test_lines() -> None:
    same(lines_and_parts, *each(["", "a", "a\n", "a=b\r\nc\rd", "\n\nx=", "a\x0bb\x1cc\x85d\u2028e", "=="]))


def in_order(words, s):
    letters = sorted(s)
    return sorted(words), "".join(letters), sorted(words, reverse=True), sorted(words, key=len)


def test_strings_in_order() -> None:
    same(in_order, (["b", "a", "ab", "", "日", "a"], "hello"), (["x"], ""))


def pair(s):
    key, value = s.split("=")
    a, b, c = key
    return value + key, a + c


def test_unpacking() -> None:
    same(pair, ("abc=1",), ("xyz=",))
    same(pair, ("abc",), ("abc=1=2",), ("ab=1",), native=False)


def extremes(s):
    return max(s), min(s)


def test_extremes() -> None:
    same(extremes, ("hello",), ("x",), ("日本a",), ("",))


def choices(s, flag):
    word = "yes" if flag else "no"
    tag = s if len(s) > 3 else s + "!"
    letter = "x" if flag else s[:1]
    best = ""
    for i in range(len(s)):
        if s[i] > best:
            best = s[i]
    if flag:
        kept = s[1:]
    else:
        kept = "none"
    return word + tag, letter, best, kept


def test_choices() -> None:
    same(choices, *((s, flag) for s in [*TEXTS, "日本語"] for flag in (True, False)))


def found(s):
    where = "nowhere"
    for i in range(len(s)):
        if s[i] == "n":
            where = s[i:]
            break
    return where


def test_a_string_from_a_loop_that_was_left() -> None:
    same(found, ("banana",), ("xyz",), ("",))


def whole_or_first(s):
    return s if len(s) > 2 else s[0]


def test_the_argument_itself_is_returned() -> None:
    text = "".join(["ab", "cd"])
    compiled = same(whole_or_first, (text,), ("xy",))
    assert compiled(text) is text


# --- numbers --------------------------------------------------------------------------------------------------------


def decimal(s):
    return int(s)


def hexadecimal(s):
    return int(s, 16)


def binary(s):
    return int(s, base=2)


def floating(s):
    return float(s)


def test_integers_from_strings() -> None:
    same(decimal, *each(["0", "42", "-17", "+8", "  7\n", "9223372036854775807", "007"]))
    same(decimal, *each(["", "x", "1_000", "٣", "1.5", "-", "9" * 30, "--1", str(-(2**63))]), native=False)
    same(hexadecimal, *each(["ff", "0xFF", "-0x1f", "DEAD", "0"]))
    same(hexadecimal, *each(["g", "0x", "", "0x_f"]), native=False)
    same(binary, *each(["1011", "0b11", "0"]))


def test_floats_from_strings() -> None:
    good = ["0", "1.5", "-2.25e3", "+.5", "5.", "1e22", "123456789012345", " 3.25\n", "1e-5", "-0.0", "4.35", "0.1"]
    compiled = same(floating, *each(good))
    for text in ["", "nan", "inf", "1e400", "1_0.5", "0.1234567890123456789", "1e", "e5", ".", "1..2", "2.5e-320"]:
        actual, expected = outcome(compiled, (text,)), outcome(floating, (text,))
        assert repr(actual.value) == repr(expected.value) and str(actual.error) == str(expected.error), text


def digits(n):
    return str(n), hex(n), bin(n), oct(n), hex(n)[2:], int(str(n)) == n, "<" + str(n) + ">", len(str(n))


def test_digits() -> None:
    same(digits, *((n,) for n in (0, 1, -1, 9, 10, 255, -4096, 10**18, 2**63 - 1)))
    same(digits, (-(2**63),), native=False)


# --- containers -----------------------------------------------------------------------------------------------------


def word_counts(text):
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,;!")
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    longest = ""
    for word, n in counts.items():
        if len(word) > len(longest):
            longest = word
    return counts, longest, len(counts), counts.get("the", 0)


def test_words_as_keys() -> None:
    text = "The cat, the dog; a cat! Then the bird sang: a song." * 3
    many = " ".join(f"w{i % 700}" for i in range(3000))
    compiled = same(word_counts, (text,), ("",), ("x",), (many,))
    assert list(compiled(many)[0]) == list(word_counts(many)[0])


def letter_counts(s):
    counts = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    return counts


def test_characters_as_keys() -> None:
    same(letter_counts, *each([*TEXTS, *WIDE, "日本日", "aÿaÿ\x00"]))


def substrings(s, k):
    counts = {}
    for i in range(len(s) - k + 1):
        part = s[i : i + k]
        counts[part] = counts.get(part, 0) + 1
    seen = set()
    again = 0
    for i in range(len(s) - k + 1):
        if s[i : i + k] in seen:
            again += 1
        seen.add(s[i : i + k])
    return counts, again, len(seen)


def test_slices_as_keys() -> None:
    dna = "".join("ACGT"[(i * i + i // 3) % 4] for i in range(500))
    same(substrings, *((text, k) for text in (dna, "", "aaaa", "日本語日本") for k in (0, 1, 2, 3, 8)))


def missing(s):
    table = {"one": 1, "two": 2}
    return table[s]


def test_a_missing_key() -> None:
    same(missing, ("one",), ("two",))
    same(missing, ("three",), ("",), ("it's",), native=False)


def mixed_keys(s):
    table = {}
    for i, c in enumerate(s):
        table[(c, i % 2)] = table.get((c, i % 2), 0) + i
    names = {1: "one", 2: "two"}
    names[3] = s
    return table, names, names[2] + names.get(7, "none")


def test_strings_beside_numbers() -> None:
    same(mixed_keys, *each(["", "abab", "日本日本"]))


def stacked(s):
    stack = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for c in s:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False, stack
    return not stack, stack


def test_brackets() -> None:
    same(stacked, *each(["", "()", "{[()]}", "([)]", "(((", "a(b)c]", "x"]))


def over_lists(words, wanted):
    total = 0
    hits = 0
    longest = ""
    initials = []
    for w in words:
        total += len(w)
        if w == wanted:
            hits += 1
        if len(w) > len(longest):
            longest = w
        if w:
            initials.append(w[0])
    return total, hits, longest, initials, wanted in words, len(words), "|".join(words)


def test_lists_of_strings_as_arguments() -> None:
    lists = [["a", "bc", "", "日本"], ["x"], ["bc", "bc"], ["only"] * 9]
    same(over_lists, *((words, wanted) for words in lists for wanted in ("bc", "", "日本")))
    compiled = weft.jit(fallback="silent")(over_lists)
    for words in (["a", 5], ["a", None], ["a", "b"], [b"a", "b"]):
        actual, expected = outcome(compiled, (words, "a")), outcome(over_lists, (words, "a"))
        assert compare(actual, expected) is None


# --- kinds of arguments ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("array_compiler_only")
def test_a_string_that_chooses_is_a_constant_and_one_that_is_read_is_data() -> None:
    def total(s, mode):
        if mode == "sum":
            return sum([ord(c) for c in s])
        return len(s)

    compiled = same(total, ("abc", "sum"), ("xyz", "sum"), ("xyzzy", "len"), ("日本", "sum"))
    assert len(compiled._compiled) == 2

    def equal(a, b):
        return a == b

    compiled = same(equal, ("a", "b"), ("ab", "ab"), ("", ""), ("日本", "日"))
    assert len(compiled._compiled) == 1


def test_arguments_of_other_types() -> None:
    class Special(str):
        pass

    compiled = weft.jit(fallback="silent")(letter_counts)
    for text in ("abc", Special("abc"), ["a", "b"], "xyz"):
        assert compiled(text) == letter_counts(text)


def test_what_has_no_native_form_runs_in_python() -> None:
    def titled(s):
        n = 0
        for c in s:
            if c == "a":
                n += 1
        return s.title(), n, s.center(9), f"{s!r:>8}"

    compiled = weft.jit(fallback="silent")(titled)
    for text in ("banana", "", "日本"):
        assert compiled(text) == titled(text)


def test_the_same_string_twice() -> None:
    def common(a, b):
        n = 0
        for x, y in zip(a, b):
            if x == y:
                n += 1
        return n

    text = "banana"
    same(common, (text, text), (text, "bandit"))


def count_backwards(s):
    return s[::-1].upper().count("A")


def test_long_strings() -> None:
    text = "".join(chr(97 + i * i % 26) for i in range(300_000))
    same(letter_counts, (text,))
    same(count_backwards, (text,))


def global_text(s):
    return GREETING + s, len(GREETING), GREETING[-1], s in GREETING


GREETING = "good morning"


def test_strings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = same(global_text, ("x",), ("good",))
    monkeypatch.setitem(globals(), "GREETING", "hi")
    assert compiled("x") == global_text("x")


def grouped(text):
    by_length = {}
    by_letter = {}
    for word in text.split():
        if len(word) not in by_length:
            by_length[len(word)] = []
        by_length[len(word)].append(word)
        by_letter.setdefault(word[0], []).append(len(word))
    rows = []
    for line in text.split(";"):
        rows.append(line.split())
    return by_length, by_letter, rows


def test_strings_in_lists_in_containers() -> None:
    same(grouped, ("the cat; a dog a; 日本",), ("x",), ("a b;;c",))


# --- dicts with strings as keys, as arguments -----------------------------------------------------------------------


def looked_up(table, text):
    total = 0
    for word in text.split():
        if word in table:
            total += table[word]
        else:
            total -= 1
    names = []
    for key, value in table.items():
        if value > 1:
            names.append(key)
    return total, len(table), table.get("b", 7), names, table


def test_dicts_of_strings_as_arguments() -> None:
    many = {f"w{i}": i for i in range(300)}
    same(looked_up, ({"a": 1, "b": 2, "日本": 3}, "a b c 日本"), ({"x": 5}, ""), (many, " ".join(many)))
    compiled = weft.jit(fallback="silent")(looked_up)
    for table in ({"a": 1, "b": 2.5}, {"a": 1, 2: 3}, {"a": 2**70}, {"a": 1}, {}):
        assert compiled(table, "a b") == looked_up(table, "a b")


def translated(rules, s, n):
    for _ in range(n):
        s = "".join([rules.get(c, c) for c in s])
    return s, rules["F"]


def test_rules_from_strings_to_strings() -> None:
    same(translated, ({"F": "F+F", "+": "-"}, "F", 4), ({"F": ""}, "FxF", 1))
    same(translated, ({"G": "x"}, "F", 1), native=False)


def test_a_dict_of_strings_that_changes() -> None:
    def counted(table, s):
        for c in s:
            table[c] = table.get(c, 0) + 1
        return len(table)

    compiled = weft.jit(fallback="error")(counted)
    table = {"a": 1}
    assert compiled(table, "abca") == 3 and table == {"a": 3, "b": 1, "c": 1}
    assert compiled.stats["python_calls"] == 0


# --- the order of evaluation ----------------------------------------------------------------------------------------


def changed_on_the_way(s):
    t = "-"

    def add(u):
        nonlocal t
        t += u
        return t

    return t + add(s) + t, t.find(add("x")), s + (s := "y") + s


def test_operands_that_later_ones_change() -> None:
    same(changed_on_the_way, ("ab",), ("",))


def first_none(s):
    best = None
    for c in s:
        if best is None or c > best:
            best = c
    return best


def test_nothing_or_a_string() -> None:
    compiled = weft.jit(fallback="silent")(first_none)
    for text in ("abca", "ba", "", "b"):
        assert compiled(text) == first_none(text)
