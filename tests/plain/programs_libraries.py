"""Functions that use the standard library: fractions, decimals, regular expressions, random numbers, dates, bytes."""

import copy
import datetime
import decimal
import json
import math
import random
import re
import statistics
import string
import textwrap
from decimal import Decimal
from fractions import Fraction

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|(.))")
WORD = re.compile(r"[a-z']+")


def egyptian(numerator, denominator):
    x = Fraction(numerator, denominator)
    parts = []
    while x.numerator:
        d = -(-x.denominator // x.numerator)
        parts.append(d)
        x -= Fraction(1, d)
    return parts


def fractions(values):
    exact = [Fraction(v) for v in values]
    total = sum(exact)
    largest = max(exact)
    counts = {}
    for f in exact:
        counts[f] = counts.get(f, 0) + 1
    tests = (
        total == 1,
        total > 0.5,
        largest != total,
        bool(total),
        Fraction(1, 2) in counts,
        isinstance(total, Fraction),
    )
    numbers = [
        float(total),
        int(total * 7),
        round(total),
        round(total, 2),
        abs(-total),
        math.floor(total),
        2 ** Fraction(3),
    ]
    return (
        total,
        str(total),
        f"{largest}",
        sorted(exact),
        counts,
        tests,
        numbers,
        total / 3 + 1,
        total * 0.5,
        total // 1,
    )


def markov(steps):
    state = {"a": Fraction(1), "b": Fraction(0)}
    moves = {"a": [("a", Fraction(1, 3)), ("b", Fraction(2, 3))], "b": [("a", Fraction(1, 2)), ("b", Fraction(1, 2))]}
    for _ in range(steps):
        after = dict.fromkeys(state, Fraction(0))
        for here, mass in state.items():
            for there, chance in moves[here]:
                after[there] += mass * chance
        state = after
    return state


def decimals(prices):
    cent = Decimal("0.01")
    total = Decimal(0)
    for price in prices:
        total += Decimal(price) * Decimal("1.19")
    return total, total.quantize(cent, rounding=decimal.ROUND_HALF_UP), str(total), total > 10, -total, max(total, cent)


def tokens(source):
    found = []
    for number, operator in TOKEN.findall(source):
        found.append(("number", float(number)) if number else ("operator", operator))
    return found


def parsed_log(lines):
    pattern = re.compile(r"(\w+)=(\d+)")
    seen = {}
    for line in lines:
        match = pattern.search(line)
        if match:
            key, value = match.group(1), int(match[2])
            seen.setdefault(key, []).append((value, match.span(), match.groups(), match.start()))
        elif re.match(r"#", line) is not None:
            seen["comments"] = []
    numbers = [int(m.group()) for m in re.finditer(r"\d+", " ".join(lines))]
    return seen, re.sub(r"\d", "#", lines[0]), re.split(r"[ =]", lines[0]), WORD.findall(lines[-1]), numbers


def dice(n, seed):
    rng = random.Random(seed)
    throws = [rng.randint(1, 6) + rng.choice([0, 10]) for _ in range(n)]
    deck = list(range(10))
    rng.shuffle(deck)
    mixed = rng.gauss(0, 1), rng.sample(range(50), 3), rng.sample(deck, 8), rng.choices("abc", k=4), rng.uniform(1, 2)
    return throws, deck, mixed, rng.choices([1, 2, 3], weights=[5, 1, 1], k=5), rng.randrange(3, 30, 4), rng.random()


def walk(rng, n):
    x = y = 0
    seen = {(0, 0)}
    for _ in range(n):
        dx, dy = rng.choice(((1, 0), (-1, 0), (0, 1), (0, -1)))
        x += dx
        y += dy
        seen.add((x, y))
    return len(seen), abs(x) + abs(y), rng.getrandbits(20)


SHARED = random.Random(5)


def shared(n):
    return [SHARED.random() for _ in range(n)]


def seeded(n):
    random.seed(42)
    hits = 0
    for _ in range(n):
        x, y = random.random(), random.uniform(-1, 1)
        hits += x * x + y * y <= 1
    drawn = [
        random.gauss(1, 0.5),
        random.gauss(),
        random.gauss(0, 2),
        random.expovariate(1.5),
        random.normalvariate(0, 1),
    ]
    drawn += [random.triangular(0, 4, 1), random.triangular(), random.randrange(5, 50, 5), random.getrandbits(40)]
    return hits, drawn, random.sample(range(1000), 9), random.choices([1, 2], [1, 3], k=6)


def summary(values):
    return statistics.mean(values), statistics.median(values), statistics.stdev(values), statistics.fmean(values)


def calendar(days):
    day = datetime.date(2024, 2, 27)
    step = datetime.timedelta(days=days)
    listed = []
    while day < datetime.date(2024, 3, 20):
        listed.append((day.isoformat(), day.weekday(), day.year))
        day = day + step
    return listed, (day - datetime.date(2024, 1, 1)).days, step * 2, step.total_seconds()


def coded(data, text):
    table = str.maketrans("abc", "xyz", "d")
    number = int.from_bytes(data, "big")
    parts = (
        data.split(b"\x00"),
        data.hex(),
        data[1:3] + b"!",
        data.find(b"l"),
        data.startswith(b"he"),
        bytes.fromhex("00ff"),
    )
    back = number.to_bytes(len(data), byteorder="little"), text.encode("utf-8"), data.decode("latin-1"), b"l" in data
    return text.translate(table), number, parts, back, json.dumps({"a": [1, 2.5, None]}, sort_keys=True), (0.5).hex()


def copied(grid, names):
    other = copy.deepcopy(grid)
    other[0][0] = 99
    return grid, other, copy.deepcopy(names), textwrap.wrap("the quick brown fox", 10), string.capwords("ab cd")


CASES = [
    (egyptian, (7, 15)),
    (fractions, ([0.5, 0.25, 0.5, 1],)),
    (markov, (6,)),
    (decimals, (["1.10", "12.345"],)),
    (tokens, ("2*(3+4)-5/2",)),
    (parsed_log, (["a=12 b=3", "# note", "none", "a=7", "it's so"],)),
    (dice, (5, 7)),
    (walk, (random.Random(3), 40)),
    (seeded, (100,)),
    (summary, ([1, 2, 3, 4],)),
    (calendar, (9,)),
    (coded, (b"hello\x00w", "abcd\u00e9")),
    (copied, ([[1, 2], [3, 4]], {"a": (1, "x")})),
]
