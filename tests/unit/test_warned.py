"""The logger "weft", and one summary instead of many warnings."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weft
from weft import warned


def test_compiles_and_fallbacks_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @weft.jit(cache=False)
    def doubled(x: Any) -> Any:
        return 2 * x

    @weft.jit
    def opened(x: Any) -> Any:
        return open(x)

    with caplog.at_level(logging.DEBUG, logger="weft"), pytest.warns(weft.FallbackWarning):
        assert doubled(2) == 4
        opened("/dev/null").close()
    texts = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "weft"]
    assert texts[0][0] == "INFO" and texts[0][1].startswith("compiled doubled(int) in ")
    assert texts[1][0] == "DEBUG" and "stays Python: a call of `open`" in texts[1][1]


def test_beyond_a_limit_warnings_become_a_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warned, "_limit", None)
    warned.summarise(2)
    kept = [warned.is_kept(("a.py", line), f"reason {line}") for line in range(20)]
    assert kept == [False, False, *[True] * 18]
    told = warned.summary(most=3)
    assert told[0] == "18 more lines ran as plain Python:" and told[1] == "  a.py:2: reason 2"
    assert told[-1] == "  and 15 more"
    assert warned.summary() == []
    warned._limit = None
    assert not warned.is_kept(("a.py", 1), "x")


def test_a_run_ends_with_one_summary(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    """Five functions that stay Python: three warnings, then one summary of the other two; the line appears once."""
    texts = [f"@weft.jit\ndef f{n}(a):\n    b = id(a)\n    return b - b + {n}\n" for n in range(5)]
    calls = "\n".join(f"assert f{n}(2.5) == {n}" for n in range(5))
    script = tmp_path / "many.py"
    script.write_text("import weft\n" + "".join(texts) + calls + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "weft", "run", str(script)]
    environment = {**subprocess_environment, "WEFT_FALLBACK": "warn"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("FallbackWarning: runs as plain Python") == 3
    assert f"weft: 2 more lines ran as plain Python:\nweft:   {script}:16: a call of id" in done.stderr
    assert done.stderr.count(f"{script}:4:") == 1
    assert done.stderr.count("b = id(a)") == 3
