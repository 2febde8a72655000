"""Versions of plain Python on disk: another process (or another `weft.jit`) takes them, unless anything that they were
made from is not what it was.
"""

from __future__ import annotations

import dataclasses
import enum
import os
import shutil
import subprocess
import sys
from collections import Counter, namedtuple
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.plain.runtime import load
from weft.runtime import cache

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

RATE = 3
TABLE = {"a": 1}
SEEN: list[str] = []
TOTAL = 0
LIMITS = (10, 20)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _empty(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that knows the compiler, and no program."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(directory))
    for path in list(directory.rglob("plain.c")):
        shutil.rmtree(path.parent)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Part:
    size: int
    weight: float = 2.0


class Account:
    bonus = 2
    made = 0

    def __init__(self, start):
        self.value = start
        Account.made += 1

    def put(self, amount):
        self.value += amount * RATE + self.bonus
        return self


def scaled(n, by=2):
    return n * by


def words(names):
    found = {}
    for name in names:
        found[name] = found.get(name, 0) + scaled(RATE)
    return found


def sets(names):
    made = [set() for _ in range(3)]
    for name in names:
        made[len(name) % 3].add(name)
    return made


def counters(one, other):
    return Counter(one) + Counter(other) - Counter(["x"])


def accounts(amounts):
    account = Account(1.5)
    for amount in amounts:
        account.put(amount)
    return account.value, Account.bonus


def given(accounts):
    return [account.put(2).value for account in accounts]


def table(names):
    for name in names:
        TABLE[name] = TABLE.get(name, 0) + 1
        SEEN.append(name)
    return len(SEEN)


def written(names):
    global TOTAL
    for name in names:
        TOTAL += len(name)
    return TOTAL


def remembered(name, seen={}):  # noqa: B006
    seen[name] = seen.get(name, 0) + 1
    return dict(seen)


def members(names):
    return {name: Colour.RED if len(name) == 1 else Colour.BLUE for name in names}


def points(names):
    return [Point(len(name), name) for name in names]


def parts(names):
    return [Part(len(name)) for name in names if len(name) < LIMITS[0]]


def through(function, names):
    return {name: function(len(name)) for name in names}


def closure(step):
    def moved(names):
        return {name: len(name) + step for name in names}

    return moved


def big(names):
    return {name: 1180591620717411303424 + len(name) for name in names}


def jitted(function: Any, *arguments: Any) -> tuple[Any, bool]:
    """The result of a function that is compiled anew, or found on disk; and whether it was found."""
    made = weft.jit(fallback="error")(function)
    result = made(*arguments)
    assert made._native is not None
    version = made._native.versions[-1]
    assert version.calls, "the call was native"
    return result, version.is_restored


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (words, (["a", "b", "a"],)),
    (sets, (["a", "bb"],)),
    (counters, (["a", "b"], ["b", "x"])),
    (accounts, ([1, 2],)),
    (table, (["a", "b"],)),
    (written, (["a", "bb"],)),
    (remembered, ("a",)),
    (members, (["a", "bb"],)),
    (points, (["a"],)),
    (parts, (["a", "bb"],)),
    (through, (scaled, ["a", "bb"])),
    (closure(2), (["a"],)),
    (big, (["a", "bb"],)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_versions_are_found_again(function: Any, arguments: tuple[Any, ...]) -> None:
    global TOTAL
    found = []
    for _ in range(3):
        for held in (TABLE, SEEN, *(remembered.__defaults__ or ())):
            held.clear()
        TOTAL = 0
        result = jitted(function, *arguments) if found else (function(*arguments), False)
        found.append((result, dict(TABLE), TOTAL))
    python, first, second = found
    assert first[0][0] == second[0][0] == python[0][0]
    assert first[1:] == second[1:] == python[1:]
    assert (first[0][1], second[0][1]) == (False, True)


def test_objects_are_of_the_classes_here() -> None:
    for _ in range(2):
        (first,), _ = jitted(points, ["a"])
        (second,), _ = jitted(parts, ["a"])
        third, is_found = jitted(members, ["a"])
        assert type(first) is Point and type(second) is Part and third["a"] is Colour.RED
    assert is_found


def test_classes_of_arguments_are_compared() -> None:
    assert jitted(given, [Account(1)]) == ([9], False)
    assert jitted(given, [Account(1), Account(2)]) == ([9, 10], True)


def other_put(self, amount):
    self.value += amount
    return self


def other_init(self, size):
    self.size, self.weight = size, 0.5


def other_scaled(n, by=2):
    return n + by


EDITS: dict[str, tuple[Any, str, Any, Any, tuple[Any, ...]]] = {
    "a global": (sys.modules[__name__], "RATE", 4, words, (["a"],)),
    "the type of a global": (sys.modules[__name__], "RATE", 3.0, words, (["a"],)),
    "a helper": (sys.modules[__name__], "scaled", other_scaled, words, (["a"],)),
    "a helper's code": (scaled, "__code__", other_scaled.__code__, words, (["a"],)),
    "a default": (scaled, "__defaults__", (5,), words, (["a"],)),
    "a class attribute": (Account, "bonus", 7, accounts, ([1],)),
    "a method": (Account, "put", other_put, accounts, ([1],)),
    "a new special method": (Account, "__setattr__", object.__setattr__, accounts, ([1],)),
    "a class": (sys.modules[__name__], "Account", type("Account", (Account,), {"bonus": 1}), accounts, ([1],)),
    "a field's default": (Part, "__init__", other_init, parts, (["a"],)),
    "a constant tuple": (sys.modules[__name__], "LIMITS", (1, 20), parts, (["a"],)),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(edit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, value, function, arguments = EDITS[edit]
    before, is_found = jitted(function, *arguments)
    assert not is_found
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, value, raising=False)
        expected = function(*arguments)
        for place in range(2):
            made = weft.jit(fallback="silent")(function)
            assert made(*arguments) == expected
            taken = [] if made._native is None else made._native.versions
            assert not any(version.is_restored for version in taken) or place  # the second finds the edited one
    assert jitted(function, *arguments) == (before, True)  # both are kept


def test_a_changed_cell_is_noticed() -> None:
    assert jitted(closure(2), ["a"]) == ({"a": 3}, False)
    assert jitted(closure(5), ["a"]) == ({"a": 6}, False)
    assert jitted(closure(2), ["b"]) == ({"b": 3}, True)
    assert jitted(closure(5), ["b"]) == ({"b": 6}, True)


def test_other_functions_as_arguments() -> None:
    assert jitted(through, scaled, ["a"])[1] is False
    assert jitted(through, other_scaled, ["a"]) == ({"a": 3}, False)
    assert jitted(through, scaled, ["a"]) == ({"a": 2}, True)
    assert jitted(through, lambda n: -n, ["a"]) == ({"a": -1}, False)


def test_other_types_have_versions_of_their_own() -> None:
    mixed = [{"a": 1}, {"a": "x", "b": 2}]  # alike at first sight

    def inverted(rows):
        return [{value: key for key, value in row.items()} for row in rows]

    calls = ([{"a": 1}], [{"a": "x"}], [{}], mixed, [{"a": 1}, {"b": 2.5}], [{1: 2}])
    for turn in range(3):
        made = weft.jit(fallback="error")(inverted)
        for rows in calls:
            assert repr(made(rows)) == repr(inverted(rows))
        assert made._native is not None and made.stats["python_calls"] == 0
        assert all(version.is_restored for version in made._native.versions) is bool(turn)


def test_equal_classes_are_told_apart() -> None:
    def make() -> Any:
        class Local:
            def __init__(self, text):
                self.text = text

        def locals_of(names):
            return [Local(name) for name in names]

        return Local, locals_of

    made = [(cls, weft.jit(fallback="error")(function)) for cls, function in (make(), make())]
    for _ in range(2):
        for cls, function in made:
            assert type(function(["a"])[0]) is cls


@pytest.mark.parametrize("name", ["plain.so", "manifest"])
@pytest.mark.parametrize("damage", ["bytes", "empty", "writable by others"])
def test_a_damaged_entry_is_not_used(name: str, damage: str) -> None:
    assert jitted(words, ["a"]) == ({"a": 6}, False)
    (found,) = cache.default_cache().store.rglob("plain.c")
    file = found.with_name(name)
    if damage == "bytes":
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.chmod(0o666)
    assert jitted(words, ["a"]) == ({"a": 6}, False)


def test_the_text_of_a_version_from_disk() -> None:
    first, second = weft.jit(words), weft.jit(words)
    assert first(["a"]) == second(["a"])
    assert second._native is not None and second._native.versions[0].is_restored
    assert second.signatures == first.signatures
    for what in ("c", "types"):
        assert second.inspect(what) == first.inspect(what)
    one, other = (str(each.explain()).splitlines() for each in (first, second))
    assert [line for line in one if "compiled in" not in line] == [line for line in other if "compiled in" not in line]


def test_without_a_cache_nothing_is_kept() -> None:
    for _ in range(2):
        made = weft.jit(cache=False)(words)
        assert made(["a"]) == {"a": 6}
        assert made._native is not None and not made._native.versions[0].is_restored


PROGRAM = """
import sys, weft
import helper
assert not {"bisect", "heapq"} & sys.modules.keys()

class Account:
    bonus = 2
    def __init__(self, start): self.value = start
    def put(self, amount): self.value += helper.scaled(amount) + self.bonus

@weft.jit(fallback="error")
def run(names):
    import bisect
    account, found = Account(0), {}
    for name in names:
        account.put(len(name) + bisect.bisect([1, 3], 2))
        found[name] = account.value
    return found

print(run(["a", "bb"]) == run.py_func(["a", "bb"]), "weft.plain.infer" in sys.modules)
"""


def test_a_second_process_does_not_load_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)

    def run(helper: str) -> list[str]:
        (tmp_path / "helper.py").write_text(helper)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "app.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    once, other = "def scaled(n): return n * 2\n", "def scaled(n): return n * 5\n"
    assert run(once) == ["True", "True"]
    assert run(once) == ["True", "False"]
    assert run(other) == ["True", "True"]
    assert run(other) == ["True", "False"]
    assert run(once) == ["True", "False"]


REFUSED = """
import random, sys
import weft

@weft.jit(fallback="error")
def near(n):
    random.seed(5)
    inside = 0
    for _ in range(n):
        if random.random() < LIMIT:
            inside += 1
    return inside

LIMIT = float(sys.argv[1])
print(near(40) == near.py_func(40), "weft.frontend.builder" in sys.modules, "weft.plain.infer" in sys.modules)
"""


def test_what_the_compiler_of_arrays_refused_is_not_asked_of_it_again(tmp_path: Path) -> None:
    """Its refusal is kept as well as the version of plain Python that took the function instead."""
    (tmp_path / "app.py").write_text(REFUSED)

    def run(limit: str) -> list[str]:
        command = [sys.executable, "app.py", limit]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run("0.5") == ["True", "True", "True"]
    assert run("0.5") == ["True", "False", "False"]
    assert run("0.75")[:2] == ["True", "True"]
