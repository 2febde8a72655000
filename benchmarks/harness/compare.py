"""Two commits of weft side by side. In comes a report with a column `weft@commit`; out come the ratios new over old,
with a mark on every change above a tenth, and the checkout that the other column needs.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness.environment import ROOT
from benchmarks.harness.model import Report, geometric_mean, short_label
from benchmarks.harness.table import milliseconds, times

NOTABLE = 0.10


def resolve(name: str) -> str | None:
    """The short name of a commit, or None if git knows none."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--verify", "--short", f"{name}^{{commit}}"],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() if done.returncode == 0 else None


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The files of a commit in a directory of their own, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-tree-") as directory:
        tree = Path(directory) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def mark(ratio: float) -> str:
    """Whether a kernel has become notably faster or slower."""
    return "faster" if ratio < 1 / (1 + NOTABLE) else "slower" if ratio > 1 + NOTABLE else ""


def table(report: Report, old: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = f"weft against {old}: milliseconds and new over old"
    made = Table(title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for heading in ("kernel", "old", "new", "new/old", ""):
        made.add_column(heading, justify="left" if heading in ("kernel", "") else "right", no_wrap=True)
    for kernel in report.kernels:
        cells = []
        for name in (old, "weft"):
            seconds = kernel.seconds(name)
            cells.append(short_label(kernel.chosen(name)) if seconds is None else milliseconds(seconds))
        ratio = kernel.ratio("weft", old)
        made.add_row(
            kernel.kernel, *cells, "-" if ratio is None else times(ratio), "" if ratio is None else mark(ratio)
        )
    return made


def summary(report: Report, old: str) -> str:
    ratios = [ratio for kernel in report.kernels if (ratio := kernel.ratio("weft", old)) is not None]
    mean = geometric_mean(ratios)
    if mean is None:
        return "no kernel is right in both"
    marks = [mark(ratio) for ratio in ratios]
    return (
        f"new/old: {times(mean)} over {len(ratios)} kernels; "
        f"{marks.count('faster')} faster and {marks.count('slower')} slower by more than {100 * NOTABLE:.0f} %"
    )
