"""What a run of a program notes for the next one, and what the next one makes of it."""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from weft.heat import loops, remembered, standing
from weft.heat.manager import Manager
from weft.heat.spots import Spot
from weft.heat.underway import UnderWay


def program(n: int) -> int:
    total = 0
    for k in range(n):
        total += k
        frames.append(sys._getframe())
    return total


def summed(n: int) -> int:
    total = 0
    for k in range(n):
        total += k
    return total


frames: list[types.FrameType] = []


def native_loop(gain: float = 5.0, seconds: float = 1.0, state: str = "native") -> loops.Loop:
    loop = loops.Loop(program.__code__, {})
    loop.state, loop.gain, loop.seconds, loop.each = state, gain, seconds, 1e-6
    loop.line, loop.wide = program.__code__.co_firstlineno + 2, frozenset((7,))
    return loop


def manager(*found: loops.Loop, spots: tuple[Any, ...] = ()) -> Any:
    held = types.SimpleNamespace(found={(id(loop.code), 20): loop for loop in found})
    return types.SimpleNamespace(loops=held, spots=spots)


def native_spot(
    seconds: float = 2.0, plain: float = 0.05, native: float = 0.01, state: str = "native", calls: int = 3
) -> Spot:
    spot = Spot(summed.__code__, globals())
    spot.state, spot.seconds = state, seconds
    spot.native = types.SimpleNamespace(told=None, wide=frozenset((9,)), call_counts=[calls])
    spot.plain.calls, spot.plain.seconds = 2, 2 * plain
    spot.fast.calls, spot.fast.seconds = 4, 4 * native
    return spot


@pytest.fixture
def script(private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = tmp_path / "script.py"
    file.write_text("print(1)\n")
    monkeypatch.setattr(sys, "argv", [str(file), "--size", "3"])
    return str(file)


def test_a_note_is_read_by_the_next_run(script: str) -> None:
    first = remembered.Note(script)
    assert not first
    first.write(manager(native_loop()))
    second = remembered.Note(script)
    assert second
    noted = second.loop(program.__code__, 20)
    assert noted is not None
    assert (noted.line, noted.gain, noted.each, noted.wide) == (native_loop().line, 5.0, 1e-6, [7])
    assert second.loop(program.__code__, 22) is None
    assert second.loop(native_loop.__code__, 20) is None
    second.forget(noted)
    assert not second


@pytest.mark.parametrize("change", ["arguments", "text", "weft", "damage", "fields", "another script"])
def test_a_note_of_another_program_is_none(script: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    note = remembered.Note(script)
    note.write(manager(native_loop()))
    place = Path(note._place)
    if change == "arguments":
        monkeypatch.setattr(sys, "argv", [script, "--size", "4"])
    elif change == "text":
        Path(script).write_text("print(2, 3)\n")
    elif change == "weft":
        monkeypatch.setattr("weft.__version__", "9.9")
    elif change == "damage":
        place.write_text(place.read_text()[:-5])
    elif change == "fields":
        held = json.loads(place.read_text())
        held["loops"][0]["more"] = 1
        place.write_text(json.dumps(held))
    else:
        script = str(Path(script).with_name("other.py"))
    assert not remembered.Note(script)


def test_a_loop_that_was_compiled_too_late_is_noted(script: str) -> None:
    loop = native_loop(state="ready", seconds=0.0)
    loop.watched = 2.0
    remembered.Note(script).write(manager(loop))
    assert remembered.Note(script).loops
    remembered.Note(script).write(manager(loop, spots=(native_spot(),)))  # which has been native
    assert not remembered.Note(script).loops
    loop.waits = 1  # its iterations may be too long
    remembered.Note(script).write(manager(loop))
    assert not remembered.Note(script)


@pytest.mark.parametrize(
    "loop",
    [
        native_loop(gain=1.5),
        native_loop(seconds=0.1),
        native_loop(state="left"),
        native_loop(state="asked"),
        native_loop(state="ready"),
    ],
)
def test_a_loop_that_gained_little_is_not_noted_and_an_older_note_is_dropped(script: str, loop: loops.Loop) -> None:
    note = remembered.Note(script)
    note.write(manager(loop))
    assert not os.path.exists(note._place)
    note.write(manager(native_loop()))
    assert remembered.Note(script)
    note.write(manager(loop))
    assert not remembered.Note(script)


def test_a_program_without_a_file_has_no_note(private_cache: Path) -> None:
    note = remembered.Note("")
    note.write(manager(native_loop()))
    assert not note and not note._place


def test_a_noted_loop_is_ready_at_its_first_sample(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frames.clear()
    program(2)
    frame = frames[0]
    start = next(first for first, _ in standing.loops_of(program.__code__))
    key = (id(program.__code__), start)
    loop = native_loop()
    loop.line = program.__code__.co_firstlineno + 2
    held = types.SimpleNamespace(loops=types.SimpleNamespace(found={key: loop}), spots=[])
    remembered.Note(script).write(held)  # type: ignore[arg-type]
    note = remembered.Note(script)
    under = UnderWay(types.SimpleNamespace(note=note), 0)  # type: ignore[arg-type]
    known = under._known(key, frame)
    assert known is not None and known.state == "ready" and known.gain == 5.0 and known.wide == {7}
    assert under.found == {key: known}
    # One that is not found where it was is watched like any other, after some attempts.
    assert not under._is_wrong(key, known)
    known.strange = 20
    assert under._is_wrong(key, known)
    assert not note and not under.found and under._known(key, frame) is None


def test_functions_are_noted_where_no_loop_is(script: str) -> None:
    remembered.Note(script).write(manager(native_loop(), spots=(native_spot(),)))
    assert not remembered.Note(script).functions
    remembered.Note(script).write(manager(spots=(native_spot(seconds=0.1, calls=100),)))  # native from the start
    assert remembered.Note(script).functions
    remembered.Note(script).write(manager(spots=(native_spot(),)))
    note = remembered.Note(script)
    noted = note.function(summed.__code__)
    assert note and noted is not None and note.function(native_spot.__code__) is None
    assert (noted.plain, noted.wide) == (0.05, [9]) and noted.native == pytest.approx(0.01)


@pytest.mark.parametrize(
    "spot", [native_spot(seconds=0.5), native_spot(native=0.03), native_spot(state="left"), native_spot(state="asked")]
)
def test_a_function_that_gained_little_is_not_noted(script: str, spot: Spot) -> None:
    note = remembered.Note(script)
    note.write(manager(spots=(spot,)))
    assert not os.path.exists(note._place)


def test_a_noted_function_is_native_at_its_next_call(script: str) -> None:
    remembered.Note(script).write(manager(spots=(native_spot(),)))
    watching = Manager({}, note=remembered.Note(script))
    code = summed.__code__
    try:
        spot = watching._meet(code, globals())
        assert spot is not None and spot.state == "trial" and spot.expected_gain == pytest.approx(5.0)
        assert spot.native.wide == {9}
        assert summed.__code__ is not code
        assert summed(4) == 6
    finally:
        summed.__code__ = code
