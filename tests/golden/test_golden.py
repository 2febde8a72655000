"""Golden files: what the pipeline makes of a few small functions, as text a reader can judge. Each case is a Python
file in `cases/` with a function `f` and its ARGUMENTS; beside it lie the program as built, the optimised program,
the lowered program and the C. `pytest tests/golden --update-golden` writes them anew: read the diff before you
commit it.
"""

from __future__ import annotations

import difflib
import runpy
from pathlib import Path

import pytest

from weft import pipeline
from weft.codegen import c
from weft.codegen.c_ops import CFeatures
from weft.ir.text import show
from weft.options import Options

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.py"))
STAGES = ("built", "optimised", "lowered", "c")


# The C of one imagined machine, so that the files are the same on every real one.
FEATURES = CFeatures(libmvec=True, glibc=(2, 36))


def generate(name: str) -> dict[str, str]:
    """The text of each stage of one case."""
    case = runpy.run_path(str(CASES / f"{name}.py"))
    found = pipeline.stages(case["f"], case["ARGUMENTS"])
    by_name = dict(found)
    lowered = found[-1][1]
    return {
        "built": show(found[0][1]),
        "optimised": show(by_name[pipeline.PASSES[-1].name]),
        "lowered": show(lowered),
        "c": c.generate(lowered, Options(), FEATURES).text,
    }


def _portable(text: str) -> str:
    """Without what differs between machines and checkouts: the directory of the case."""
    return text.replace(str(CASES), "cases").rstrip() + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, update_golden: bool) -> None:
    stale = []
    for stage, text in generate(name).items():
        file = CASES / f"{name}.{stage}.txt"
        new = _portable(text)
        if update_golden:
            file.write_text(new)
            continue
        old = file.read_text() if file.exists() else ""
        if old != new:
            stale += difflib.unified_diff(old.splitlines(), new.splitlines(), file.name, "generated now", lineterm="")
    assert not stale, "\n".join([*stale[:120], "", "if this is what you want: pytest tests/golden --update-golden"])


def test_no_golden_file_without_its_case() -> None:
    expected = {f"{name}.{stage}.txt" for name in NAMES for stage in STAGES}
    assert {path.name for path in CASES.glob("*.txt")} <= expected
