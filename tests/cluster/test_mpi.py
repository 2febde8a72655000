"""`target="mpi"`, distributed arrays and local views, on real MPI ranks: one launch for each number of ranks runs all
of `mpi_cases.py`, and its results must be those of NumPy and have the same bits on any number of ranks.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mpi4py")

HERE = Path(__file__).parent
# One launch a number of ranks: those that cost most are left to the complete run of all tests.
RANKS = [1, 2, 3, 4, pytest.param(6, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)]
CASES = (
    "distributions arrays linear jacobi gemm rows sums element_wise other_axes control chain grids loops timeline "
    "scalapack counts errors refused parts views odd_arguments local_views compiled_views native_messages collectives "
    "blocking_messages statement_of_python messages_of_loops"
).split()
PATIENCE = 300
# A launch is one test with all its cases, so that no other process of a parallel run repeats it.
pytestmark = pytest.mark.timeout(2 * PATIENCE + 60)


def launcher() -> str | None:
    """The mpiexec of this environment, or of the system."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def run_ranks(ranks: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on so many ranks; it ends with all of them, also if one hangs."""
    program = launcher()
    if program is None:
        pytest.skip("there is no mpiexec")
    environment = {
        **os.environ,
        "WEFT_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    line = [program, "-n", str(ranks), sys.executable, *command]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(line, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = -1
        log.seek(0)
        return subprocess.CompletedProcess(line, code, log.read())


@functools.lru_cache(maxsize=None)
def results(ranks: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "found.json"
        done = run_ranks(ranks, str(HERE / "mpi_cases.py"), str(path))
        if not path.exists():
            return {"": f"ended with {done.returncode}\n{done.stdout[-4000:]}"}
        return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("ranks", RANKS)
def test_ranks(ranks: int) -> None:
    """NumPy's results, the same bits as on one rank, and the messages of hand-written code."""
    found, alone = results(ranks), results(1)
    assert "" not in found, found[""]
    assert set(found) == set(CASES)
    for name in CASES:
        assert not str(found[name]).startswith("FAILED"), f"{name} on {ranks} ranks: {found[name]}"
        if name != "counts":
            assert found[name] == alone[name], name
    are_those_of_hand_written_code(found["counts"], ranks)


def are_those_of_hand_written_code(counts: dict[str, list[int]], ranks: int) -> None:
    """Messages and bytes for arrays of 48 x 48 float64 in blocks of 48/P rows."""
    others, row, matrix = ranks - 1, 48 * 8, 48 * 48 * 8
    if ranks < 8:
        # C = a A B + b C: rows of A and C are where they are needed, every rank needs all of B: each of P blocks of it
        # goes to P-1 ranks, the whole of it P-1 times.
        assert counts["gemm"] == [ranks * others, matrix * others]
        # D = a A B C + b D: B and C go to everybody, the rows of A B are multiplied where they were made.
        assert counts["2mm"] == [2 * ranks * others, 2 * matrix * others]
    else:
        # On a grid of 4 x 2 each rank computes 12 x 24 elements from 12 rows of A, of which it has 6 and its neighbour
        # the others, and half of the columns of B; as much of C comes from the neighbour as of B from everybody.
        mine, part = 6 * row, 6 * row // 2
        right = ranks * others * part
        assert counts["gemm"] == [ranks * (others + 2), right + ranks * (mine + part)]
        # A B stays where it is made, half of what the next product needs of it: the rest comes from the neighbour.
        assert counts["2mm"] == [2 * ranks * (others + 2) - ranks, 2 * right + ranks * (mine + 2 * part + part)]
    # 4 steps of 2 half-steps, all of them between two exchanges: 8 rows go both ways across each of P-1 borders, of B,
    # which is computed before it is read, the elements at the edges, which no step writes.
    # The first and the last row of B, which no step writes either, are wanted by whom they are that near.
    outermost = 2 * (row - 2 * 8) if ranks > 4 else 0
    if ranks < 8:
        assert counts["jacobi"] == [2 * 2 * others, 2 * others * 8 * (row + 2 * 8) + outermost]
    else:  # 6 rows on a rank are enough for 3 steps, then one more: what has changed of 2 rows
        sent = 2 * others * (6 * (row + 2 * 8) + 2 * (row - 2 * 8)) + outermost
        assert counts["jacobi"] == [3 * 2 * others, sent]
    # Four blocks of A, B and C on four ranks: each gets the other block of its rows of A and of its columns of B.
    if ranks == 4:
        assert counts["squares"] == [2 * ranks, 2 * ranks * matrix // 4]
    # Plain arrays are on every rank already; the new C goes from everybody to everybody.  On 8 ranks a A is made by
    # rows, and half of what a rank needs of it by its neighbour.
    apart = ranks if ranks == 8 else 0
    assert counts["plain"] == [ranks * others + apart, matrix * others + apart * 6 * row]


def test_without_mpi_there_is_one_rank() -> None:
    """mpi4py hidden: the same results, and a remark."""
    program = """
import sys, warnings
sys.modules["mpi4py"] = None
import numpy as np, weft
weft.cluster.connect(least_seconds=0.0)

@weft.jit(target="mpi")
def scaled(x):
    return x * 2.0

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    x = np.arange(100.0)
    assert (np.asarray(scaled(weft.distribute(x))) == x * 2).all() and (np.asarray(scaled(x)) == x * 2).all()
assert len(told) == 1 and "mpi4py" in str(told[0].message), told
try:
    weft.comm.Isend(x, 0)
except RuntimeError as error:
    assert "needs MPI" in str(error)
else:
    raise AssertionError
"""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "alone.py"
        path.write_text(program, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
