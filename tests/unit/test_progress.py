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


class Cell:
    """What a notebook shows below a cell: each state of its line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[str] = []
        monkeypatch.setattr(progress, "_notebook", lambda: self.display)
        monkeypatch.setattr(progress, "_BETWEEN", 0.0)

    def display(self, data: dict[str, str], raw: bool, display_id: bool) -> Cell:
        self.update(data, raw)
        return self

    def update(self, data: dict[str, str], raw: bool) -> None:
        self.told.append(data["text/plain"])


def test_a_long_run_over_files_has_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.cluster import files

    cell = Cell(monkeypatch)
    monkeypatch.setattr(files, "_PATIENCE", -1.0)
    bar = files.Bar("rows", 4, None)
    for _ in range(4):
        bar.step()
    bar.close()
    assert [text[-6:] for text in cell.told] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4", ""]
    assert [text.count("#") for text in cell.told] == [7, 15, 22, 30, 0]
    files.Bar("rows", 1, False).step()
    monkeypatch.setattr(files, "_PATIENCE", 60.0)
    files.Bar("rows", 1, None).step()
    assert len(cell.told) == 5


def test_a_search_has_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.tuning.bar import Bar

    cell = Cell(monkeypatch)
    with pytest.raises(KeyboardInterrupt), Bar("f", 10.0, None) as bar:
        bar.better(0.5)
        bar.tried(3)
        raise KeyboardInterrupt
    assert "3 tried, best 500 ms" in cell.told[1] and cell.told[-1] == ""
    with Bar("f", 10.0, False) as bar:
        bar.better(0.5)
    assert len(cell.told) == 3
