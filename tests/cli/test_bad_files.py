"""Files that a command cannot read or write: a line on stderr and an exit code, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.cli import main

MODULE = "def grown(n: int) -> int:\n    return n + 1\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grown_badly.py").write_text(MODULE)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    return "grown_badly.py"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith("weft: ") and len(error.splitlines()) <= 3 and "Traceback" not in error
    return error


@pytest.mark.native
@pytest.mark.parametrize("target", ["file/page.html", "folder", "nowhere/page.html", "\0"])
def test_a_page_that_cannot_be_written(module: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "explain", module, "--html", target)


@pytest.mark.native
@pytest.mark.parametrize("target", ["file", "file/inside", "\0"])
def test_a_package_that_cannot_be_written(module: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "build", module, "-o", target)


@pytest.mark.parametrize("command", ["build", "explain"])
def test_a_file_that_cannot_be_read(module: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file" in told(capsys, command, "folder")
    told(capsys, command, "\0")
    Path("with_nul.py").write_bytes(b"x = 1\0\n")
    assert "with_nul.py:1: source code" in told(capsys, command, "with_nul.py")
    Path("latin_one.py").write_bytes(b'x = "\xe9"\n')
    assert "latin_one.py:1" in told(capsys, command, "latin_one.py")


def test_a_module_to_simulate_that_cannot_be_read(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("nul_to_simulate.py").write_bytes(b"x = 1\0\n")
    assert "importing nul_to_simulate failed" in told(capsys, "simulate", "nul_to_simulate:f", "3")


def test_a_file_that_raises_tells_the_line(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("raises_at_once.py").write_text("def f(x):\n    return 1 / x\n\nf(1)\nf(0)\n")
    assert "raises_at_once.py failed in line 2: ZeroDivisionError" in told(capsys, "explain", "raises_at_once.py")


@pytest.mark.native
@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": 1, "functions": ' + "[" * 100_000, "\0", "{}", ""])
def test_hints_that_are_nonsense(module: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("grown_badly.weft.json").write_text(text)
    assert "grown_badly.weft.json cannot be used" in told(capsys, "build", module)


def test_a_hint_that_is_nonsense() -> None:
    from weft.heat.hints import hint_of

    for text in ("(" * 5000, "-" * 200_000 + "1", "list[" * 90 + "]" * 90, "\0", "f(" * 90 + ")" * 90):
        assert hint_of(text) is None
