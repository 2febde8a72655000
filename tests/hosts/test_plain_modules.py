"""Plain Python in modules that stand alone: native with weft out of reach, and Python's answers."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.alone import run_alone
from weft import trial
from weft.cli import main
from weft.hosts import embedded, embedded_plain

pytestmark = pytest.mark.native

MODULE = '''
from __future__ import annotations

import functools
import heapq
import math
import random
import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Callable, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

import weft

N = weft.symbol("N")
LIMIT = 10
PRICES = {"ore": 3, "salt": 5}
COUNTER = [0]
TOTAL = 0


class Colour(Enum):
    RED = 1
    BLUE = 2


class Item(NamedTuple):
    name: str
    price: float


@dataclass
class Account:
    owner: str
    balance: float
    log: list[str] = field(default_factory=list)
    parent: Optional[Account] = None

    def deposit(self, amount: float) -> float:
        if amount < 0:
            raise ValueError(f"negative: {amount}")
        self.balance += amount
        self.log.append(f"+{amount:.2f}")
        return self.balance


@dataclass
class Link:
    value: int
    behind: Link | None


def shout(n: int):
    for i in range(n):
        print("line", i, i / 2)
        if i == 3:
            raise ValueError("too many")
    return n


def of_factor(k):
    def scaled(x: float):
        return x * k

    return scaled


threefold = of_factor(3.0)


def twice(f: Callable[[int], int], x: int):
    return f(f(x))


def inc(x: int) -> int:
    return x + 1


def double(x: int) -> int:
    return 2 * x


def tree(n: int):
    return None if n == 0 else (n, tree(n - 1), tree(n - 1))


def count_nodes(n: int) -> int:
    def walk(node):
        return 0 if node is None else 1 + walk(node[1]) + walk(node[2])

    return walk(tree(n))


def made(n: int) -> list[Account]:
    return [Account(str(i), i * 0.5) for i in range(n)]


def length(link: Optional[Link]) -> int:
    total = 0
    while link is not None:
        total += link.value
        link = link.behind
    return total


def worth(items: list[Item]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for item in items:
        found[item.name] += item.price
    return dict(found)


def price(name: str) -> int:
    COUNTER[0] += 1
    return PRICES.get(name, 0) + LIMIT


def counted(by: int) -> int:
    global TOTAL
    TOTAL += by
    return TOTAL


def either(x: Union[int, str], y: float | None = None) -> str:
    return f"{x:>4} {y}" if isinstance(x, int) else x + str(y)


def colour(c: Colour) -> str:
    return c.name if c is Colour.RED else "other"


def shortest(graph: dict[int, dict[int, float]], start: int) -> dict[int, float]:
    known = {start: 0.0}
    waiting = [(0.0, start)]
    while waiting:
        reached, node = heapq.heappop(waiting)
        for other, far in graph.get(node, {}).items():
            if other not in known or reached + far < known[other]:
                known[other] = reached + far
                heapq.heappush(waiting, (reached + far, other))
    return known


@functools.lru_cache(maxsize=None)
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def use_fib(n: int) -> int:
    return fib(n)


def tokens(text: str) -> list[str]:
    return [found.group() for found in re.finditer(r"\\\\d+|[a-z]+", text)]


def drawn(seed: int) -> list[int]:
    source = random.Random(seed)
    return [source.randint(0, 9) for _ in range(5)]


def scaled(a: weft.f64[N], names: list[str]) -> dict[str, float]:
    b = np.sort(a)
    return {name: float(b[i]) for i, name in enumerate(names)}


def by_name(a: NDArray[np.float64], names: list[str]) -> dict[str, float]:
    return {name: float(a[i, 0]) for i, name in enumerate(names)}


def shown(a: weft.f64[N]):
    for i in range(a.shape[0]):
        print(a[i])
    return a.sum()


def grown(rows: dict[str, list[int]], name: str):
    rows.setdefault(name, []).append(len(rows))
    if name == "bad":
        raise KeyError(name)
    return rows


def squares(n: int):
    def each():
        for i in range(n):
            yield i * i

    return sum(each()), max(each(), default=-1)


@weft.jit(fallback="error")
def strict(text: str) -> dict[str, int]:
    return dict(Counter(text))


def aside(x):
    return x


def through(text: str) -> int:
    return aside(len(text))
'''

#: For each function its calls; those behind None are ones that no version takes, or that raise.
CALLS = """
calls = {
    "shout": [(0,), (3,), None, (5,), ("x",)],
    "threefold": [(2.0,), None, (2,)],
    "twice": [(k.inc, 3), (k.double, 3), None, (abs, 3), (lambda x: x, 1)],
    "count_nodes": [(0,), (5,)],
    "made": [(0,), (2,)],
    "length": [(None,), (k.Link(1, k.Link(2, None)),)],
    "worth": [([k.Item("a", 1.5), k.Item("b", 2.0), k.Item("a", 0.5)],), ([],), None, ("ab",)],
    "price": [("ore",), ("coal",), None, (3,)],
    "either": [(3,), ("x", 0.5), (-1, 2.5), None, (1.5,)],
    "colour": [(k.Colour.RED,), (k.Colour.BLUE,), None, ("RED",)],
    "shortest": [({0: {1: 1.0, 2: 4.0}, 1: {2: 2.0}}, 0), ({}, 3)],
    "use_fib": [(20,)],
    "tokens": [("ab 12 c",), ("",)],
    "drawn": [(3,)],
    "scaled": [(np.array([2.0, 1.0]), ["a", "b"]), (np.arange(6.0)[::-2], ["a"]), None, (np.arange(2), [])],
    "by_name": [(np.ones((2, 3)), ["a", "b"]), None, (np.ones(2), ["a"])],
    "shown": [(np.arange(3.0),), (np.zeros(0),)],
    "grown": [({"a": [1]}, "b"), ({}, "a"), None, ({}, "bad")],
    "squares": [(5,), (0,)],
    "strict": [("hello",), ("",)],
}
"""

CHECK = """
def told(value):
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, value.ravel().tolist()]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(told, value)]
    if hasattr(value, "__dict__") and not callable(value):
        return [type(value).__name__, *((name, told(part)) for name, part in vars(value).items())]
    return [type(value).__name__, repr(value)]

def outcome(function, arguments):
    arguments, stream = copy.deepcopy(arguments), io.StringIO()
    with contextlib.redirect_stdout(stream):
        try:
            result = told(function(*arguments))
        except Exception as problem:
            result = [type(problem).__name__, str(problem)]
    return result, told(arguments), stream.getvalue()

for name, each in calls.items():
    function, fits = getattr(k, name), True
    for arguments in each:
        if arguments is None:
            fits = False
            continue
        native = function.native_calls if hasattr(function, "native_calls") else -1
        found, expected = outcome(function, arguments), outcome(function.__wrapped__, arguments)
        assert found == expected, (name, arguments, found, expected)
        assert (function.native_calls == native + 1) == fits, (name, arguments, function.native_calls)
"""
START = "import contextlib, copy, io\nimport numpy as np\nimport kernels_plain as k\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("plain")
    path = place / "kernels_plain.py"
    path.write_text(MODULE)
    assert main(["build", str(path), "-o", str(place / "built")]) == 0
    return place


def alone(folder: Path, script: str, **environment: str) -> str:
    return run_alone(START + script, folder, folder / "built", **environment)


def test_answers_are_pythons_and_calls_are_native(folder: Path) -> None:
    assert alone(folder, f"{CALLS}{CHECK}\nprint('alike')") == "alike\n"


def test_methods_change_their_object_or_nothing(folder: Path) -> None:
    script = """
account = k.Account("a", 1.0)
assert account.deposit(2.0) == 3.0 and account.log == ["+2.00"] and k.Account.deposit.native_calls == 1
try:
    account.deposit(-1.0)
except ValueError as problem:
    print(problem)
assert vars(account) == {"owner": "a", "balance": 3.0, "log": ["+2.00"], "parent": None}
"""
    assert alone(folder, script) == "negative: -1.0\n"


def test_globals_that_functions_assign_to(folder: Path) -> None:
    script = "k.counted(2)\nk.TOTAL += 10\nprint(k.counted(3), k.TOTAL, k.counted.native_calls)\n"
    assert alone(folder, script) == "15 15 2\n"


def test_what_was_printed_before_an_exception_is_printed_once(folder: Path) -> None:
    script = "try:\n    k.shout(5)\nexcept ValueError as problem:\n    print(problem)\n"
    assert alone(folder, script) == "".join(f"line {i} {i / 2}\n" for i in range(4)) + "too many\n"


@pytest.mark.parametrize(
    "change, call, result",
    [
        ("k.LIMIT = 1", "k.price('ore')", "4"),
        ("k.PRICES = {'ore': 30}", "k.price('ore')", "40"),
        ("k.tree = lambda n: None", "k.count_nodes(5)", "0"),
        ("exec('def tree(n):\\n    return None', k.__dict__)", "k.count_nodes(5)", "0"),
        ("k.aside.__code__ = (lambda x: x + 5).__code__", "k.through('ab')", "7"),
        ("k.math, k.heapq.heappop = None, lambda heap: (0.0, heap.pop()[1])", "k.shortest({}, 1)", "{1: 0.0}"),
        ("k.threefold.__wrapped__.__closure__[0].cell_contents = 4.0", "k.threefold(2.0)", "8.0"),
        ("k.Link.value = property(lambda self: 7)", "k.length(k.Link.__new__(k.Link))", "AttributeError"),
    ],
)
@pytest.mark.parametrize("called", [False, True], ids=["before the first call", "after it"])
def test_what_the_code_was_made_from_may_change(
    folder: Path, change: str, call: str, result: str, called: bool
) -> None:
    before = f"try: {call}\nexcept AttributeError: pass\n" if called else ""
    script = f"{before}{change}\ntry:\n    print({call})\nexcept AttributeError:\n    print('AttributeError')\n"
    assert alone(folder, script) == f"{result}\n"


def test_threads_and_forks(folder: Path) -> None:
    script = """
import os, threading
found = []
workers = [threading.Thread(target=lambda: found.append(k.count_nodes(12))) for _ in range(4)]
[w.start() for w in workers], [w.join() for w in workers]
assert found == [4095] * 4
child = os.fork()
if child == 0:
    os._exit(0 if k.count_nodes(6) == 63 else 1)
assert os.waitpid(child, 0)[1] == 0
print(1 <= k.count_nodes.native_calls <= 4)
"""
    assert alone(folder, script) == "True\n"


def test_two_modules_and_weft_itself_in_one_process(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "kernels_other.py"
    path.write_text("def words(text: str):\n    return {w: len(w) for w in text.split()}\n")
    assert main(["build", str(path), "-o", str(folder / "built")]) == 0
    code = (
        f"import sys\nsys.path.insert(0, {str(folder / 'built')!r})\n"
        "import kernels_plain as k, kernels_other as o, weft\n"
        "@weft.jit(fallback='error')\ndef words(text):\n    return {w: 2 * len(w) for w in text.split()}\n"
        "for _ in range(3):\n    print(k.strict('aab'), o.words('a bc'), words('a bc'))\n"
        "print(k.strict.native_calls, o.words.native_calls)\n"
    )
    source = str(Path(__file__).resolve().parents[2] / "src")
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": source, "WEFT_TIMED": "0"}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{'a': 2, 'b': 1} {'a': 1, 'bc': 2} {'a': 2, 'bc': 4}\n" * 3 + "3 3\n"


def test_reasons_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels_left.py"
    path.write_text(
        "import os\ndef kept(n: int): return n + 1\ndef many(n: int, *rest): return n\n"
        "def given(n: int):\n    yield n\ndef asked(name: str):\n    return os.environ[name]\n"
        "class Bare:\n    def f(self, x: str): return x\ndef bare(b: Bare): return b.f('x')\n"
    )
    assert main(["build", str(path), "-o", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "many: stays Python (its parameter *rest has no hint)" in told
    assert "given: stays Python (line 5: a generator that is returned" in told
    assert "asked: stays Python (line 7: " in told
    assert "bare: stays Python (Bare has no hints of its attributes)" in told


def test_code_for_another_version_of_python_is_not_used() -> None:
    embedded._since("3.10", True)
    embedded._since("99.0", False)
    for known, expected in (("3.10", False), ("99.0", True)):
        with pytest.raises(embedded.Unfit):
            embedded._since(known, expected)


def test_sums_of_floats_are_bound_to_the_version_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 3.12 on `sum` compensates rounding: what was built for one is not run by the other."""
    path = tmp_path / "kernels_sums.py"
    path.write_text("def total(d: dict[str, float]):\n    return sum(d.values())\n")
    if sys.version_info >= (3, 12):
        assert main(["build", str(path), "-o", str(tmp_path)]) != 0  # refused: Python alone has this sum
        return
    assert main(["build", str(path), "-o", str(tmp_path)]) == 0
    script = "import sys, numpy\n{}from kernels_sums import total\n"
    script += "print(total({{'a': 1.0, 'b': 2.0}}), total.native_calls)\n"
    assert run_alone(script.format(""), tmp_path, tmp_path) == "3.0 1\n"
    newer = "sys.version_info = (3, 12, 0, 'final', 0)\n"
    assert run_alone(script.format(newer), tmp_path, tmp_path) == "3.0 0\n"


def test_the_faster_way_is_kept_until_calls_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    state = types.SimpleNamespace(way=None, longest=0, next_time=0, calls=0, now=0.0)

    def set_way(_: Any, way: Any, longest: int, next_time: int) -> None:
        state.way, state.longest, state.next_time = way, longest, next_time

    helpers = {"set_entry": lambda *_: None, "set_way": set_way, "entry_calls": lambda _: state.calls}
    monkeypatch.setattr(embedded_plain, "helpers", helpers)
    monkeypatch.setattr(trial, "clock", lambda: state.now)
    monkeypatch.setenv("WEFT_TIMED", "1")
    seconds = {"native": 3e-6, "plain": 1e-6}
    taken: list[str] = []

    def way(name: str) -> Any:
        def call() -> None:
            taken.append(name)
            state.now += seconds[name]

        return call

    owner = embedded_plain.Owner(object(), ())
    native, plain = way("native"), way("plain")
    owner.start(native, plain, timed=True)
    for _ in range(12):
        state.calls += 1
        state.way()
    assert state.way is plain and {"native", "plain"} == set(taken) and state.longest > 0
    seconds.update(native=1e-3, plain=5e-3)
    owner.asked(1)  # a call took far longer
    for _ in range(12):
        state.way()
    assert state.way is native
    state.calls = state.next_time
    owner.asked(0)  # there were many calls
    assert state.way is not native and state.next_time > state.calls


WIDE = """
def powers(names: list[str], base: int, count: int) -> dict[str, int]:
    x = 1
    for _ in range(count):
        x = x * base + 1
    return {name: x for name in names}


def recurrence(count: int, seen: dict[int, int]) -> int:
    a, b = 0, 1
    for i in range(count):
        seen[i] = i
        a, b = b, a + b
    return a
"""


def test_integers_beyond_64_bits_are_native_from_the_second_call_on(tmp_path: Path) -> None:
    (tmp_path / "wide.py").write_text(WIDE)
    command = ["build", "--march", "x86-64-v2", str(tmp_path / "wide.py"), "-o", str(tmp_path / "out")]
    assert main(command) == 0
    known: dict[str, Any] = {}
    exec(WIDE, known)
    expected = [(n, known["powers"](["a"], 7, n), known["recurrence"](n, {})) for n in (5, 100, 200, 5, 93)]
    script = f"""
import wide
for n, power, item in {expected!r}:
    seen = {{}}
    assert wide.powers(["a"], 7, n) == power and wide.recurrence(n, seen) == item and len(seen) == n
assert wide.powers(["a"], 2**80, 1) == {{"a": 2**80 + 1}}
print(wide.powers.plain_calls, wide.recurrence.plain_calls, wide.powers.native_calls)
"""
    assert run_alone(script, tmp_path, tmp_path / "out").split() == ["1", "1", "5"]
