"""The hunt (see tests/hunt) on a fixed set of seeds: no program may differ, crash or hang.  What fails here has been
shrunk already: the test file that it prints is the finding.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hunt.case import Case
from tests.hunt.grammar import TASTES, generate
from tests.hunt.modes import Mode, expected_of, judge
from tests.hunt.shrink import shrink
from weft.options import Stress

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(900)
def test_a_fixed_budget(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.hunt", "--seed", "5000", "--programs", "32", "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    done = subprocess.run(
        [*command, "--folder", str(tmp_path)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    found = [path.read_text() for path in tmp_path.glob("test_*.py")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *found])


def test_a_seed_gives_one_program_and_all_tastes_are_met() -> None:
    cases = [generate(seed) for seed in range(200)]
    assert cases == [generate(seed) for seed in range(200)]
    assert {case.name.split()[1] for case in cases} == set(TASTES)


def test_a_difference_is_seen() -> None:
    """Types, signs, aliases, arguments afterwards and exceptions all count."""
    one = Case("def f(a):\n    a[0] = 1\n    return a, a\n", ("return ([2, 3],)",))
    for body in (
        "    a[0] = 1\n    return a, list(a)\n",
        "    a[0] = 1.0\n    return a, a\n",
        "    return a, a\n",
        "    a[0] = 1\n    print(1)\n    return a, a\n",
        "    raise ValueError\n",
    ):
        other = Case("def f(a):\n" + body, one.calls)
        assert judge(other, Mode(), expected_of(one)[0]).kind, body
        assert not judge(other, Mode(), expected_of(other)[0]).kind, body


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("stress", ["split", "deoptimise"])
def test_what_is_forced_changes_nothing(stress: str, number: int) -> None:
    source = "def f(a, n):\n    s = 0.0\n    for i in range(n):\n        s += a[i] * 2\n"
    source += "    t = [s] * n\n    t.append(a[n])\n    return t\n"
    case = Case(source, ("return (np.arange(4.0), 3)", "return (np.arange(4.0), 5)"))
    verdict = judge(case, Mode(stress=Stress(**{stress: number})), expected_of(case)[0])
    assert not verdict.kind, verdict.text
    assert not verdict.native


def test_a_program_is_made_smaller() -> None:
    source = "def f(a, b):\n    s = 0\n    for i in range(3):\n        s += b[i]\n    c = a[1:]\n    return s, c\n"
    case = Case(source, ("x = [1, 2, 3]\nreturn (x, [4, 5, 6])", "return ([], [])"))
    small = shrink(case, lambda smaller: "a[1:]" in smaller.source)
    assert len(small.source) < 40
    assert len(small.calls) == 1
