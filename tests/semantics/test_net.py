"""The net: each step between a call and its answer is made to fail, or never to end, in turn.  Whatever the step, the
call gives Python's answer, what it changes is changed once, and there is at most one warning."""

from __future__ import annotations

import copy
import functools
import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import weft
import weft.pipeline  # its passes are steps
from weft import steps
from weft.jitted import Jitted

pytestmark = pytest.mark.native

SEEN: list[object] = []


class Point:
    def __init__(self, x: float) -> None:
        self.x = x


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    return s


def shifted(a, b):
    for i in range(a.shape[0]):
        a[i] = b[i] + 1.0
    return a.sum()


def words(n):
    found = []
    for i in range(n):
        found.append(str(i))
    return found


def longest(names):
    best = ""
    for name in names:
        if len(name) > len(best):
            best = name
    return best


def heaviest(weights):
    best, most = "", -1.0
    for name, weight in weights:
        if weight > most:
            best, most = name, weight
    return best


def extent(points):
    s = 0.0
    for p in points:
        s += p.x
    return s


def summed(*parts):
    s = 0.0
    for part in parts:
        s += part
    return s


def in_parts(a, seen):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    seen.append(range(3))
    SEEN.append(s)
    for i in range(a.shape[0]):
        a[i] = a[i] + s
    return s


def counted(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def _overlapping() -> tuple[Any, ...]:
    a = np.arange(8.0)
    return a[1:], a[:-1]


@dataclass
class Program:
    function: Any
    calls: list[Any]  # what makes the arguments of each call
    options: dict[str, Any]


PROGRAMS = {
    "kernel": Program(total, [lambda: (np.arange(5.0),)], {}),
    "no cache": Program(total, [lambda: (np.arange(5.0),)], {"cache": False}),
    "overlap": Program(shifted, [lambda: (np.zeros(7), np.ones(7)), _overlapping], {}),
    "texts": Program(words, [lambda: (12,)], {}),
    "names": Program(longest, [lambda: (["a", "abc", "ab"],)], {}),
    "pairs": Program(heaviest, [lambda: ([("a", 1.0), ("b", 3.0)],)], {}),
    "objects": Program(extent, [lambda: ([Point(1.5), Point(2.0)],)], {}),
    "star": Program(summed, [lambda: (1.0, 2.0)], {}),
    "regions": Program(in_parts, [lambda: (np.arange(6.0), [])], {}),
    "python": Program(total, [lambda: (np.arange(5.0),)], {"backend": "python"}),
    "plain": Program(counted, [lambda: ("a b a",), lambda: ("",)], {}),
}


@contextmanager
def trapped(trap: Any) -> Iterator[None]:
    steps.trap = trap
    try:
        yield
    finally:
        steps.trap = None


@pytest.fixture(autouse=True)
def _as_users_run_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """Mistakes of weft's are not raised, and nothing is in the cache."""
    monkeypatch.delenv("WEFT_VERIFY", raising=False)
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    yield
    steps.trap = None


@functools.cache
def passed(name: str) -> list[str]:
    """The steps that a program passes through."""
    found: list[str] = []
    program = PROGRAMS[name]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("WEFT_CACHE_DIR", folder)
        with compiler_of(name):
            _run(program, found)
    return sorted(set(found))


@contextmanager
def compiler_of(name: str) -> Iterator[None]:
    """One program is for the compiler of plain Python, the others are for that of arrays, whose steps they pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_PLAIN", "1" if name == "plain" else "0")
        yield


def _run(program: Program, found: list[str]) -> None:
    with trapped(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = weft.jit(program.function, **program.options)
        for make in program.calls:
            compiled(*make())
        if isinstance(compiled, Jitted):
            compiled.explain()


def agrees(name: str, trap: Any, **more: Any) -> list[warnings.WarningMessage]:
    """Run a program with a trap: results, arguments and effects are Python's. The warnings."""
    program = PROGRAMS[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with trapped(trap), compiler_of(name):
            compiled: Any = weft.jit(program.function, **program.options, **more)
            for _ in range(2):
                for make in program.calls:
                    expected_args, args = make(), make()
                    del SEEN[:]
                    expected = program.function(*expected_args)
                    effects, SEEN[:] = copy.copy(SEEN), []
                    assert compiled(*args) == expected
                    assert SEEN == effects
                    assert repr(args) == repr(expected_args) or name == "objects"
            if isinstance(compiled, Jitted):
                assert compiled.explain() is not None and compiled.explain("json") is not None
                assert compiled.stats["python_calls"] >= 0
    return told


def test_programs_pass_through_every_step() -> None:
    found = {step for name in PROGRAMS for step in passed(name)}
    assert found <= steps.STEPS.keys()
    assert found == steps.STEPS.keys()


ERRORS = (RuntimeError("broken"), KeyError("key"), AssertionError(), MemoryError(), RecursionError("deep"))
#: Steps whose failure leaves nothing to warn about: an argument that cannot be read is one that no version is for.
QUIET = {"read attributes", "explain"}


@pytest.mark.parametrize("step", sorted(steps.STEPS))
def test_a_step_that_fails(step: str) -> None:
    tried = 0
    several = step in ("specs", "build", "C compiler", "install", "make result")
    for name in [name for name in PROGRAMS if step in passed(name)][: None if several else 2]:
        for error in ERRORS if several and name in ("kernel", "texts") else ERRORS[:1]:

            def trap(entered: str, error: Exception = error) -> None:
                if entered == step:
                    raise error

            told = agrees(name, trap)
            refusals = [item for item in told if not issubclass(item.category, weft.errors.CacheWarning)]
            lines = [item.lineno for item in refusals]
            assert len(lines) == len(set(lines)) and (len(lines) <= 1 or name == "regions"), list(map(str, told))
            assert step in QUIET or told
            tried += 1
    assert tried


@pytest.mark.parametrize("step", sorted(set(steps.STEPS) - QUIET - {"make result", "decorate"}))
def test_a_step_that_does_not_end(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes by the trap alone: how fast the machine is does not matter."""
    name = next(name for name in PROGRAMS if step in passed(name))
    now = [0.0]

    def trap(entered: str) -> None:
        while entered == step:
            now[0] += 1.0
            steps.check()

    monkeypatch.setattr(steps, "clock", lambda: now[0])
    texts = [str(item.message) for item in agrees(name, trap, compile_timeout=7)]
    assert step in ("split", "region") or any("7 s" in text and step in text for text in texts), texts


@pytest.mark.parametrize("step", ["build", "simplify", "raise", "schedule", "generate C"])
def test_a_step_that_never_asks_for_the_time(step: str) -> None:
    """A loop inside one step ends by an exception from outside, which reaches nobody but weft."""
    watches: list[Any] = []

    def trap(entered: str) -> None:
        if entered == step:
            watches.append(steps._watch.get())
            threading.Thread(target=watches[-1]._stop_work).start()  # as the timer does
            while True:
                pass

    texts = [str(item.message) for item in agrees("kernel", trap, compile_timeout=1000)]
    assert any("1000 s" in text and step in text for text in texts), texts
    for watch in watches:
        watch._stop_work()  # too late: nothing arrives
        assert watch.over


@pytest.mark.parametrize("step", ["specs", "build", "simplify", "C compiler", "restore", "split"])
def test_an_exception_of_a_signal_handler_reaches_the_caller(step: str) -> None:
    class Alarm(Exception):
        pass

    def handler(number: int, frame: object) -> None:
        raise Alarm

    def trap(entered: str) -> None:
        if entered == step:
            os.kill(os.getpid(), signal.SIGUSR1)

    name = next(name for name in PROGRAMS if step in passed(name))
    program = PROGRAMS[name]
    compiled: Any = weft.jit(program.function, fallback="silent", **program.options)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with trapped(trap), pytest.raises(Alarm):
            compiled(*program.calls[0]())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert compiled(*program.calls[0]()) == program.function(*program.calls[0]())


@pytest.mark.parametrize("step", ["specs", "build", "C compiler", "keep"])
def test_an_interrupt_reaches_the_caller(step: str) -> None:
    def trap(entered: str) -> None:
        if entered == step:
            raise KeyboardInterrupt

    compiled: Any = weft.jit(total)
    with trapped(trap), pytest.raises(KeyboardInterrupt):
        compiled(np.arange(5.0))
    assert compiled(np.arange(5.0)) == 30.0


def test_who_insists_on_native_code_sees_the_error() -> None:
    def trap(entered: str) -> None:
        if entered == "build":
            raise KeyError("key")

    compiled: Any = weft.jit(total, fallback="error")
    with trapped(trap), pytest.raises(weft.errors.Unsupported, match="an error inside weft: KeyError"):
        compiled(np.arange(5.0))


def test_time_is_up_for_all_arguments_at_once() -> None:
    """Other types would take as long: they are not tried."""
    now = [0.0]

    def trap(entered: str) -> None:
        builds.append(entered == "build")
        now[0] += 1e4 if entered == "build" else 0.0

    builds: list[bool] = []
    compiled: Any = weft.jit(total, fallback="silent")
    clock = steps.clock
    steps.clock = lambda: now[0]
    try:
        with trapped(trap):
            assert compiled(np.arange(5.0)) == 30.0
            assert compiled(np.arange(5)) == 30
    finally:
        steps.clock = clock
    assert sum(builds) == 1
    assert "longer than" in compiled.stats["fallbacks"][0]


@pytest.mark.usefixtures("array_compiler_only")
def test_a_result_that_cannot_be_made_is_not_tried_again() -> None:
    made: list[str] = []

    def trap(entered: str) -> None:
        if entered == "make result":
            made.append(entered)
            raise ValueError

    compiled: Any = weft.jit(words, fallback="silent")
    with trapped(trap):
        for _ in range(5):
            assert compiled(5) == ["0", "1", "2", "3", "4"]
    assert len(made) == 1
