"""What a person at a terminal sees of a long compilation."""

from __future__ import annotations

import io
import sys
import time

import pytest

from weft.runtime import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _waited(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, patience: float, inside: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.telling("outer"), progress.telling("inner"):
        limit = time.monotonic() + inside
        while time.monotonic() < limit and not stream.getvalue():
            time.sleep(0.01)
    return stream.getvalue()


def test_long_work_is_told_once_and_the_line_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _waited(Terminal(), monkeypatch, 0.01, 20.0) == "weft: compiling outer ...\r\x1b[K"
    assert _waited(Terminal(), monkeypatch, 0.01, 20.0) == "weft: compiling outer ...\r\x1b[K"


def test_short_work_and_files_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _waited(Terminal(), monkeypatch, 60.0, 0.05) == ""
    assert _waited(io.StringIO(), monkeypatch, 0.0, 0.05) == ""


def test_an_exception_erases_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with pytest.raises(KeyError), progress.telling("f"):
        limit = time.monotonic() + 20.0
        while time.monotonic() < limit and not stream.getvalue():
            time.sleep(0.01)
        raise KeyError
    assert stream.getvalue().endswith("\r\x1b[K")
    with progress.telling("again"):
        pass


def test_a_notebook_shows_the_line_below_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A display that is emptied when the work is done; nothing goes to stderr."""
    told: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            told.append(data["text/plain"])

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        told.append(data["text/plain"])
        return Handle()

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_notebook", lambda: display)
    with progress.telling("f"):
        limit = time.monotonic() + 20.0
        while time.monotonic() < limit and not told:
            time.sleep(0.01)
    assert told == ["weft: compiling f ...", ""] and stream.getvalue() == ""
