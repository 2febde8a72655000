"""Which way calls go after they were timed.  The clock is the test's: nothing here depends on how fast anything is."""

from __future__ import annotations

import cmath
import ctypes
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import trial
from weft.runtime import dispatch

pytestmark = pytest.mark.native

_CLOCK = ctypes.CFUNCTYPE(ctypes.c_int64)


class Time:
    """Nanoseconds that pass in plain calls (`plain`) and, at each look at the clock, in native ones (`look`)."""

    def __init__(self) -> None:
        self.now, self.look, self.plain = 0, 0, 0

    def read(self) -> int:
        self.now += self.look
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Time]:
    core = dispatch.load_core()
    assert core is not None
    made = Time()
    callback = _CLOCK(made.read)
    core.library.weft_set_trial_clock(ctypes.cast(callback, ctypes.c_void_p))
    monkeypatch.setenv("WEFT_TIMED", "1")
    monkeypatch.setattr(trial, "clock", lambda: made.read() / 1e9)
    yield made
    core.library.weft_set_trial_clock(None)


def passing(time: Time, function: Callable[..., Any]) -> Any:
    """The compiled function, whose plain calls take `time.plain`."""
    compiled: Any = weft.jit(function, fallback="silent")

    def plain(*args: Any) -> Any:
        time.now += time.plain
        return function(*args)

    compiled._plain = plain
    return compiled


def largest(items):
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best


def steepest(items):
    best = 0.0
    for item in items:
        best = max(best, math.exp(item))
    return best


def widest(items):
    best = 0.0
    for item in items:
        best = max(best, math.atan2(item, 3.0) + math.asin(item / 10.0))
    return best


def largest_gamma(items):
    best = 0.0
    for item in items:
        best = max(best, math.gamma(item + 0.5))
    return best


def roots(items):
    return [cmath.sqrt(complex(item, 1.0)) for item in items]


def small(a, b):
    return a * 2 + b


def many(a):
    for i in range(a.shape[0]):
        a[i] = a[i] + 1
    return a


def test_a_version_that_loses_is_dropped(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 1000, 10
    for _ in range(30):
        assert compiled([3, 9, 4]) == 9
    assert compiled.stats["python_calls"] > 20
    assert "plain Python runs calls with (list[int])" in compiled.stats["slower"][0]
    assert "plain Python runs calls with (list[int])" in str(compiled.explain())


def test_a_version_that_wins_stays_after_two_plain_calls(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 10, 100_000
    for _ in range(40):
        assert compiled([3, 9, 4]) == 9
    assert compiled.stats["python_calls"] == 2
    assert compiled.stats["slower"] == []


def test_the_question_is_asked_again(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 1000, 10
    for _ in range(40):
        compiled([3, 9, 4])
    time.look, time.plain = 10, 100_000
    for _ in range(60):
        compiled([3, 9, 4])
    before = compiled.stats["python_calls"]
    for _ in range(60):
        compiled([3, 9, 4])
    assert compiled.stats["python_calls"] == before


def test_the_question_is_asked_again_when_calls_are_longer(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 1000, 10
    for _ in range(20):
        compiled([3, 9, 4])
    assert compiled.stats["slower"]
    time.look, time.plain = 10, 100_000
    for _ in range(12):
        compiled([3, 9, 4])
    assert compiled.stats["slower"] == []
    before = compiled.stats["python_calls"]
    for _ in range(12):
        compiled([3, 9, 4])
    assert compiled.stats["python_calls"] == before


def test_long_calls_between_short_ones_are_noticed(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 1000, 10
    for _ in range(20):
        compiled([3, 9, 4])
    for _ in range(8):
        time.look, time.plain = 10, 100_000
        compiled([3, 9, 4])
        time.look, time.plain = 10, 500
        compiled([3, 9, 4])
    assert compiled.stats["slower"] == []


def test_a_kernel_that_takes_long_is_not_tried_in_python(time: Time) -> None:
    compiled = passing(time, largest)
    time.look, time.plain = 30_000_000, 10
    for _ in range(20):
        compiled([3, 9, 4])
    assert compiled.stats["python_calls"] == 0


@pytest.mark.parametrize("function", [steepest, widest, largest_gamma, roots])
def test_what_may_round_in_another_way_is_never_timed(time: Time, function: Callable[..., Any]) -> None:
    """Native code may take the function from another library: which way a call goes must not be seen in its result."""
    compiled = passing(time, function)
    time.look, time.plain = 1000, 10
    for _ in range(30):
        compiled([0.1] * 10)
    assert compiled.stats["python_calls"] == 0


def test_small_functions_of_numbers_are_timed_and_long_kernels_are_not(time: Time) -> None:
    short, long = passing(time, small), passing(time, many)
    time.look, time.plain = 1000, -500  # a look at the clock is in both
    for _ in range(20):
        assert short(3, 4) == 10
    time.look = 10_000
    for _ in range(20):
        long(np.zeros(3, int))
    assert short.stats["python_calls"] > 10
    assert long.stats["python_calls"] == 0


def test_who_insists_on_native_code_gets_it(time: Time) -> None:
    compiled: Any = weft.jit(largest, fallback="error")
    time.look = 1000
    for _ in range(30):
        compiled([3, 9, 4])
    assert compiled.stats["python_calls"] == 0


def test_calls_that_python_has_to_finish_are_pythons_from_the_start(time: Time) -> None:
    def power(n):
        x = 1
        for _ in range(n):
            x = x * 7
        return x

    compiled = passing(time, power)
    time.look, time.plain = 10, 100_000
    for _ in range(40):
        assert compiled(60) == 7**60
    assert sum(profile.refused for profile in compiled.profiles) < 25


def in_parts(a, seen):
    for i in range(a.shape[0]):
        a[i] = a[i] + 1
    seen.append(range(3))
    for i in range(a.shape[0]):
        a[i] = a[i] * 2
    return a


def _in_regions(time: Time) -> tuple[Any, Callable[[], None]]:
    compiled: Any = weft.jit(in_parts, fallback="silent")

    def call() -> None:
        a, seen = np.arange(4), []
        assert compiled(a, seen).tolist() == [2, 4, 6, 8]
        assert seen == [range(3)]

    time.look = 1000
    call()
    return compiled, call


@pytest.mark.usefixtures("array_compiler_only")
def test_regions_that_lose_are_dropped(time: Time) -> None:
    """Regions look at the clock as well: a call through them takes longer."""
    compiled, call = _in_regions(time)
    for _ in range(30):
        call()
    assert compiled._plain is compiled.py_func
    assert "without the regions" in str(compiled.explain())
    assert "without the regions" in compiled.stats["slower"][0]


@pytest.mark.usefixtures("array_compiler_only")
def test_regions_that_win_stay(time: Time) -> None:
    compiled, call = _in_regions(time)
    choice = compiled._in_regions

    def slow(*args: Any) -> Any:
        time.now += 10**9
        return in_parts(*args)

    choice._times[slow] = choice._times.pop(choice._plain_function)
    choice._plain_function = slow
    for _ in range(30):
        call()
    assert compiled._plain is choice._split
    assert compiled.stats["slower"] == []


def test_without_timing_nothing_is_tried(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TIMED", "0")
    compiled = passing(time, largest)
    time.look, time.plain = 1000, 10
    for _ in range(30):
        compiled([3, 9, 4])
    assert compiled.stats["python_calls"] == 0


class Calls:
    """An owner of `Regions` whose calls take as long as is said."""

    def __init__(self) -> None:
        self.versions: list[Any] = []
        self.questions = 0
        self._plain: Any = None
        self._plain_calls = self._longest = 0
        self.seconds: dict[Any, float] = {}
        self.now = 0.0
        self.asked: list[tuple[Any, dict[str, Any]]] = []
        self.regions = trial.Regions(self, self.split, self.plain, lambda *call: self.asked.append(call))

    def _parts(self) -> list[Any]:
        return [self]

    def split(self) -> None:
        self.now += self.seconds["split"]

    def plain(self) -> None:
        self.now += self.seconds["plain"]

    def call(self, count: int, split: float, plain: float) -> Any:
        self.seconds = {"split": split, "plain": plain}
        for _ in range(count):
            self._plain_calls += 1
            began, limit = self.now, self._longest
            self._plain()
            if limit and limit == self._longest and (self.now - began) * 1e9 > limit:
                self.regions.grown()
        return self._plain


def test_the_trial_begins_anew_when_calls_are_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Calls()
    monkeypatch.setattr(trial, "clock", lambda: owner.now)
    assert owner.call(20, split=2e-6, plain=1e-6) == owner.plain
    assert owner.call(20, split=2e-6, plain=1e-6) == owner.plain
    assert owner.call(20, split=1e-3, plain=1e-2) == owner.split
    assert owner.call(20, split=1e-1, plain=1e-2) == owner.split  # nobody tries what may take longer still
    assert owner.regions.slower is None


@pytest.mark.parametrize(("plain", "asked"), [(1e-6, 1), (3e-6, 1), (1e-5, 0)])
def test_another_way_is_asked_for_once_where_regions_gain_little(
    monkeypatch: pytest.MonkeyPatch, plain: float, asked: int
) -> None:
    owner = Calls()
    monkeypatch.setattr(trial, "clock", lambda: owner.now)
    owner.call(20, split=2e-6, plain=plain)
    owner.regions.again()
    owner.call(20, split=2e-6, plain=plain)
    assert owner.asked == [((), {})] * asked


def test_the_trial_begins_anew_when_there_were_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Calls()
    monkeypatch.setattr(trial, "clock", lambda: owner.now)
    assert owner.call(20, split=1e-6, plain=2e-6) == owner.split
    owner.regions.asked()
    assert owner._plain == owner.split  # there were not many
    owner.call(80, split=1e-6, plain=2e-6)
    owner.regions.asked()
    assert owner._plain is owner.regions
    assert owner.call(20, split=2e-6, plain=1e-6) == owner.plain


def test_no_long_plain_call_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Calls()
    monkeypatch.setattr(trial, "clock", lambda: owner.now)
    assert owner.call(20, split=1e-3, plain=1e-2) == owner.split
    owner.call(80, split=1e-3, plain=1e-2)
    owner.regions.asked()
    assert owner.call(1, split=1e-3, plain=1e9) == owner.split
    assert owner.now < 1e6


def totals(rows: list[float]) -> float:
    total = 0.0
    for row in rows:
        total += row
    return total


def test_the_dispatcher_tells_of_long_calls(time: Time) -> None:
    compiled: Any = weft.jit(totals, fallback="silent")
    told: list[bool] = []

    def plain(rows: list[float]) -> float:
        time.now += time.plain
        return totals(rows)

    compiled._plain, compiled._grown = plain, lambda: told.append(True)
    time.plain, compiled._longest = 10, 40 * 10**6
    for _ in range(5):
        compiled(iter([1.0]))
    assert not told
    time.plain = 50 * 10**6
    compiled(iter([1.0]))
    assert told


def test_calls_inside_a_recursive_call_are_part_of_it(time: Time) -> None:
    """Each of the two ways is timed over whole calls: inner ones are not compared among themselves."""
    depths: list[tuple[str, int]] = []

    def way(name: str) -> Callable[[int], int]:
        def called(n: int) -> int:
            depths.append((name, n))
            time.now += 9000 if name == "plain" else 5000
            return 1 + compare(n - 1) if n else 0

        return called

    compiled: Any = weft.jit(lambda n: n, fallback="silent")
    compare = trial.Regions(compiled, way("native"), way("plain"))
    assert compiled._plain is compare
    while compiled._plain is compare:
        assert compare(3) == 3
    names = [name for name, _ in depths]
    assert [n for _, n in depths] == [3, 2, 1, 0] * (len(depths) // 4) and {*names} == {"native", "plain"}
    assert all(len({*names[start : start + 4]}) == 1 for start in range(0, len(names), 4))
    assert len(names) > 4 * 4


# --- calls that go straight to Python -------------------------------------------------------------------------------


class Looks(Time):
    """A clock that stands still, and counts the looks at it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def read(self) -> int:
        self.count += 1
        return super().read()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    core = dispatch.load_core()
    assert core is not None
    made = Looks()
    callback = _CLOCK(made.read)
    core.library.weft_set_trial_clock(ctypes.cast(callback, ctypes.c_void_p))
    monkeypatch.setenv("WEFT_TIMED", "1")
    yield made
    core.library.weft_set_trial_clock(None)


def straight(looks: Looks) -> Any:
    """A function for whose calls with lists Python is the faster way."""
    compiled: Any = weft.jit(_copied(largest), fallback="silent")
    looks.look = 1000  # the clock is looked at more often in a native call than in a plain one
    for _ in range(20):
        compiled([3, 9, 4])
    looks.look = 0
    for _ in range(10):
        compiled([3, 9, 4])
    assert compiled.stats["slower"]
    return compiled


def _copied(function: Any) -> Any:
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


def test_calls_of_one_kind_that_python_runs_faster_cost_one_look_at_the_clock(looks: Looks) -> None:
    compiled = straight(looks)
    before, calls = looks.count, compiled.stats["python_calls"]
    for _ in range(100):
        assert compiled([3, 9, 4]) == 9
    assert compiled.stats["python_calls"] == calls + 100
    assert looks.count - before <= 101


def test_straight_calls_end_when_the_clock_moves(looks: Looks) -> None:
    """One of them may have been longer than those by which the way was chosen."""
    compiled = straight(looks)
    compiled([3, 9, 4])
    looks.now += 50_000_000
    compiled([3, 9, 4])
    before = looks.count
    compiled([3, 9, 4])
    assert looks.count - before > 1


def test_straight_calls_of_other_kinds_are_asked_about(looks: Looks) -> None:
    compiled = straight(looks)
    assert compiled(np.array([1.0, 5.0])) == 5.0
    assert len(compiled.versions) == 2
    assert compiled([3, 9, 4]) == 9
    assert compiled(items=[3, 9, 4]) == 9
    assert compiled((1, 2)) == 2


def test_straight_calls_see_a_function_that_is_redefined(looks: Looks) -> None:
    compiled = straight(looks)
    compiled.py_func.__code__ = smallest.__code__
    assert compiled([3, 9, 4]) == 3


def smallest(items):
    best = items[0]
    for item in items:
        if item < best:
            best = item
    return best


def test_straight_calls_raise_what_python_raises(looks: Looks) -> None:
    compiled = straight(looks)
    with pytest.raises(IndexError, match="list index out of range") as caught:
        compiled([])
    assert [entry.name for entry in caught.traceback][1:] == ["largest"]
    assert compiled([3, 9, 4]) == 9


def added(*numbers):
    return numbers[0] + numbers[1]


def test_calls_of_functions_with_a_star_go_straight_too(looks: Looks) -> None:
    compiled: Any = weft.jit(added, fallback="silent")
    for _ in range(200):
        assert compiled(1, 2) == 3
    with pytest.raises(IndexError):
        compiled(1)
    assert compiled("a", "b") == "ab"
    assert compiled(1 << 70, 1) == (1 << 70) + 1
