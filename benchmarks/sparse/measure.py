"""Programs on one pattern, in a process. In come the pattern, numbers of rows, of entries in one and of seconds, and
names (the threads by the environment); out comes a line of JSON for each: for each column the seconds of all repeats,
or why there are none, the seconds of the first call, and the bytes that must be moved.

    python -m benchmarks.sparse.measure uniform 100000 16 0.1 "spmv csr" spmm/graphblas        spmm without graphblas
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.sparse.patterns import PATTERNS
from benchmarks.sparse.programs import PROGRAMS

SCIPY, NUMBA, GRAPHBLAS, WEFT = "scipy", "numba", "graphblas", "weft"
COLUMNS = (SCIPY, NUMBA, GRAPHBLAS, WEFT)
TOLERANCE = 1e-8
LEAST_REPEATS, MOST_REPEATS = 3, 200
LEFT_OUT = "left out"


@dataclass
class Column:
    """The call of a column, and what it has taken so far."""

    call: Callable[[], Any]
    plain: Callable[[Any], Any] = field(default=lambda value: value)
    times: list[float] = field(default_factory=list)
    first: float = 0.0
    problem: str = ""


def _values(value: Any) -> Any:
    """What is compared: numbers of a dense result, the entries of a sparse one by row and column."""
    if isinstance(value, tuple) and len(value) == 2:
        value = sp.coo_array(value)
    if isinstance(value, tuple) and len(value) == 3:
        count = len(value[0]) - 1
        value = sp.csr_array((value[2], value[1], value[0]), shape=(count, count))
    if sp.issparse(value):
        entries = value.tocsr().copy()
        entries.sum_duplicates()
        return entries.data
    return np.asarray(value)


def differs(value: Any, expected: Any) -> bool:
    if sp.issparse(value) and isinstance(expected, np.ndarray):
        value = value.toarray()
    one, other = _values(value), _values(expected)
    if one.shape != other.shape:
        return True
    return not np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE * (float(np.abs(other).max(initial=0.0)) + 1e-30))


def _columns(
    name: str, arguments: tuple[Any, ...], threads: int, without: Sequence[str]
) -> dict[str, Column | str]:
    function = PROGRAMS[name].function
    found: dict[str, Column | str] = {SCIPY: Column(lambda: function(*arguments))}
    try:
        from benchmarks.sparse.numba_ports import PORTS

        found[NUMBA] = Column(lambda: PORTS[name](*arguments))
    except ImportError:
        found[NUMBA] = "not installed"
    try:
        from benchmarks.sparse.graphblas_ports import port

        made = None if GRAPHBLAS in without else port(name, arguments, threads)
        found[GRAPHBLAS] = "no port" if made is None else Column(*made)
    except ImportError:
        found[GRAPHBLAS] = "not installed"
    except Exception as problem:  # a peer that cannot is a result
        found[GRAPHBLAS] = f"{type(problem).__name__}: {problem}"[:200]
    from weft.api import jit

    compiled = jit(fallback="error")(function)
    found[WEFT] = Column(lambda: compiled(*arguments))
    return found


def _once(column: Column) -> Any:
    start = time.perf_counter()
    value = column.call()
    column.times.append(time.perf_counter() - start)
    return value


def measure(name: str, pattern: str, matrix: Any, seconds: float, without: Sequence[str] = ()) -> dict[str, Any]:
    threads = int(os.environ.get("WEFT_NUM_THREADS", "1"))
    arguments = PROGRAMS[name].arguments(matrix)
    columns = {**_columns(name, arguments, threads, without), **dict.fromkeys(without, LEFT_OUT)}
    expected: Any = None
    for title, column in columns.items():
        if isinstance(column, str):
            continue
        try:
            value = column.plain(_once(column))
        except Exception as problem:  # refusals and failures are results
            column.problem = f"{type(problem).__name__}: {problem}"[:300]
            column.times.clear()
            continue
        column.first = column.times[0]
        if title == SCIPY:
            expected = value
        elif differs(value, expected):
            column.problem = "another result than SciPy's"
        if column.first < 10 * seconds or title not in (SCIPY, GRAPHBLAS):
            column.times.clear()  # the first call compiles, or is not worth more than others
    _take_turns([one for one in columns.values() if isinstance(one, Column) and not one.problem], seconds)
    moved = PROGRAMS[name].moved
    return {
        "program": name,
        "pattern": pattern,
        "rows": matrix.shape[0],
        "entries": _entries(arguments),
        "threads": threads,
        "bytes": None if moved is None else moved(arguments, expected),
        "columns": {
            title: {"problem": column}
            if isinstance(column, str)
            else {"times": column.times, "first": column.first, "problem": column.problem}
            for title, column in columns.items()
        },
    }


def _entries(arguments: tuple[Any, ...]) -> int:
    return max((int(value.nnz) for value in arguments if sp.issparse(value)), default=0)


def _wants_more(column: Column, seconds: float) -> bool:
    taken = sum(column.times)
    few = len(column.times) < LEAST_REPEATS and taken < 4 * seconds
    return len(column.times) < MOST_REPEATS and (taken < seconds or few)


def _take_turns(columns: list[Column], seconds: float) -> None:
    """Repeats of all, one after the other, so that a noisy neighbour hurts all alike."""
    waiting = [one for one in columns if _wants_more(one, seconds)]
    while waiting:
        for column in waiting:
            _once(column)
        waiting = [one for one in waiting if _wants_more(one, seconds)]


def main() -> int:
    warnings.simplefilter("ignore")
    pattern, rows, each, seconds, *names = sys.argv[1:]
    matrix = PATTERNS[pattern](int(rows), int(each))
    with np.errstate(all="ignore"):
        for one in names:
            name, *without = one.split("/")
            print(json.dumps(measure(name, pattern, matrix, float(seconds), without)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
