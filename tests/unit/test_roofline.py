"""Operations and bytes of a call, and where it stands below the roof of memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.report import roofline
from weft.report.roofline import Point, Roof, Work


def _work(function: Any, *arguments: Any) -> Work:
    compiled = weft.jit(function, cache=False, fallback="error")
    compiled(*arguments)
    found = compiled.explain().work
    assert found is not None
    return found


@pytest.mark.native
def test_operations_and_bytes_are_counted() -> None:
    def added(a: Any, b: Any) -> Any:
        return a * 2.0 + b

    def dotted(a: Any, b: Any) -> Any:
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i] * b[i]
        return total

    n = 1000
    a, b = np.ones(n), np.ones(n)
    found = _work(added, a, b)
    assert (found.flops, found.bytes) == (2 * n, 3 * 8 * n)  # two read, one written
    found = _work(dotted, a, b)
    assert (found.flops, found.bytes) == (2 * n, 2 * 8 * n)
    assert found.intensity == pytest.approx(0.125)


def test_a_call_in_words_and_drawn() -> None:
    point = Point("smooth", Work(8e7, 1.6e8), 0.02)
    roofs = (Roof("memory", bytes=2e10), Roof("peak", flops=5e10))
    told = roofline.sentence(point, roofs)
    assert told == "80 MFLOP and at least 160 MB in 20 ms: 4 GFLOP/s, 8 GB/s (memory gives 20 GB/s)"
    picture = roofline.drawn([point], roofs, "Two < three")
    assert picture.count("<circle") == 1 and "Two &lt; three" in picture
    places = [float(number) for number in re.findall(r'c[xy]="([\d.]+)"', picture)]
    assert 0 < places[0] < 560 and 0 < places[1] < 300
    assert roofline.drawn([Point("nothing", Work(0.0, 8.0), 1.0)], roofs) == ""


def test_the_command_times_a_call(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    source = tmp_path / "timed.py"
    source.write_text("import weft\n\n@weft.jit\ndef doubled(a):\n    return 2.0 * a\n")
    page = tmp_path / "page.html"
    base = [sys.executable, "-m", "weft", "explain", str(source), "--call", "doubled(np.ones(1000))", "--time"]
    done = subprocess.run([*base], env=subprocess_environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"one call, measured: [\d.]+ [mun]?s\n    \w+ +[\d.]+ [mun]?s  all of doubled", done.stdout)
    done = subprocess.run(
        [*base, "--html", str(page), "--json"], env=subprocess_environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["function"] == "doubled"
    text = page.read_text(encoding="utf-8")
    assert "Time of one call (measured)" in text and "kFLOP and at least 16 kB in" in text
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
