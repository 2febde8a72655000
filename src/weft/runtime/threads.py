"""How many threads a parallel region uses.

In: `set_num_threads`, WEFT_NUM_THREADS, OMP_NUM_THREADS, the processors this process may run on, the quota of its
control group. Out: one number, handed to the native pool as soon as that is loaded. Results never depend on it: the
code generator fixes the pieces of work, the pool only decides who runs them.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from pathlib import Path

from weft.forking import Lock

#: More than any pool starts: what the native side is told is cut to it, and so fits every integer there.
_MOST = 2**20

_lock = Lock()
_chosen: int | None = None
_pool: Callable[[int], object] | None = None


def set_num_threads(count: int) -> None:
    """Use `count` threads in parallel regions from now on."""
    global _chosen
    try:
        number = operator.index(count)
    except TypeError:
        raise TypeError(f"the number of threads must be an integer, not {type(count).__name__}") from None
    if number < 1:
        raise ValueError(f"the number of threads must be at least 1, not {number}")
    with _lock:
        _chosen = number
        if _pool is not None:
            _pool(min(number, _MOST))


def get_num_threads() -> int:
    """The number of threads a parallel region uses."""
    global _chosen
    if _chosen is None:
        number = default_num_threads()
        with _lock:
            _chosen = number if _chosen is None else _chosen
    return _chosen


def default_num_threads() -> int:
    """From the environment, else the processors this process may use, bounded by the quota of its control group."""
    for variable in ("WEFT_NUM_THREADS", "OMP_NUM_THREADS"):
        # OpenMP allows one number for each nesting level; the first is the outermost.
        text = os.environ.get(variable, "").split(",")[0].strip()
        if text.isdecimal() and text.strip("0"):
            return _MOST if len(text) > 9 else int(text)  # Python refuses to read very long numbers
    return max(1, min(_processors(), _control_group_limit() or _processors()))


def attach_pool(setter: Callable[[int], object]) -> None:
    """Tell the native pool the number now and at each change."""
    global _pool
    number = get_num_threads()
    with _lock:
        _pool = setter
        setter(min(_chosen or number, _MOST))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _control_group_limit(
    root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")
) -> int | None:
    """The processor quota of this process's group or of one above it, rounded up; None without one."""
    limits = [limit for directory in _groups(root, membership) if (limit := _quota(directory)) is not None]
    return min(limits, default=None)


def _groups(root: Path, membership: Path) -> list[Path]:
    """Directories that may hold a quota: a container often sees its own group as the root of the hierarchy."""
    directories = [root, root / "cpu", root / "cpu,cpuacct"]
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return directories
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = root / controllers if controllers else root
        parts = [part for part in path.split("/") if part not in ("", "..")]
        directories += [base.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    return directories


def _quota(directory: Path) -> int | None:
    try:
        if (directory / "cpu.max").exists():
            quota, period = (directory / "cpu.max").read_text().split()[:2]
        else:
            quota = (directory / "cpu.cfs_quota_us").read_text().strip()
            period = (directory / "cpu.cfs_period_us").read_text().strip()
        if quota == "max" or int(quota) <= 0:
            return None
        return max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return None
