"""Functions on a real Ray cluster of this machine: the same results as here, arrays that stay there, failures."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import weft

pytest.importorskip("ray")
pytestmark = pytest.mark.native


def compiled(function: Any, **options: Any) -> Any:
    return weft.jit(function, target="ray", **{"fallback": "error", **options})


def numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape)


def axpy(a, x, y):
    return a * x + y


def softmax(x):
    highest = np.max(x, axis=1, keepdims=True)
    raised = np.exp(x - highest)
    return raised / np.sum(raised, axis=1, keepdims=True)


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def jacobi(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def summary(x):
    return np.sum(x), np.max(x), np.sqrt(np.sum(x * x))


def standardised(x):
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0)


def doubled(x):
    return x * 2


def inverse_sum(x, y):
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        if y[i] == 0:
            raise ValueError("a zero in y")
        out[i] = x[i] / y[i]
    return out


def running(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * 0.5 + x[i]


axpy_there = compiled(axpy)
doubled_there = compiled(doubled)
jacobi_there = compiled(jacobi)


def same(function: Any, there: Any, arguments: tuple[Any, ...], exact: bool = True) -> None:
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    want, got = function(*theirs), there(*mine)
    pairs = list(zip(got, want)) if isinstance(want, tuple) else [(got, want)]
    for one, other in [*pairs, *zip(mine, theirs)]:
        if other is None or isinstance(other, (int, float)) and not isinstance(other, np.generic):
            assert type(one) is type(other) and one == pytest.approx(other)
            continue
        assert one.dtype == other.dtype and one.shape == other.shape
        if exact:
            np.testing.assert_array_equal(np.asarray(one), other)
        else:
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5 if other.dtype.itemsize == 4 else 1e-11)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8"])
def test_elements(cluster: None, dtype: str) -> None:
    for size in (0, 1, 6, 7, 8, 50):
        x = (numbers(size) * 10).astype(dtype)
        same(doubled, doubled_there, (x,))
    same(doubled, doubled_there, (np.asfortranarray((numbers(9, 5) * 10).astype(dtype)),))
    same(doubled, doubled_there, ((numbers(40) * 10).astype(dtype)[::-2],))


def test_scalars_are_sent_to_all(cluster: None) -> None:
    same(axpy, axpy_there, (2.5, numbers(30), numbers(30)))


def test_rows(cluster: None) -> None:
    same(softmax, compiled(softmax), (numbers(23, 11),), exact=False)


def test_products(cluster: None) -> None:
    same(gemm, compiled(gemm), (1.5, 0.5, numbers(20, 8), numbers(20, 9), numbers(9, 8)), exact=False)


def test_sweeps_in_time(cluster: None) -> None:
    same(jacobi, jacobi_there, (6, numbers(30, 12), numbers(30, 12) + 1))
    same(jacobi, jacobi_there, (3, numbers(3, 3), numbers(3, 3) + 1))
    same(jacobi, jacobi_there, (3, numbers(2, 2), numbers(2, 2) + 1))


def test_sums_and_extremes(cluster: None) -> None:
    there = compiled(summary)
    for size in (1, 7, 200):
        same(summary, there, (numbers(size),), exact=False)
    same(standardised, compiled(standardised), (numbers(40, 3),), exact=False)


def test_results_do_not_depend_on_the_number_of_workers(cluster: None) -> None:
    from weft.cluster import driver
    from weft.cluster.function import Distributed

    there = compiled(summary)
    x = numbers(1000)
    found = there(x)
    assert isinstance(there, Distributed)
    found_version: Any = there._version((x,))
    version, call = found_version
    from weft.cluster.spread import Spread

    arrays = {"x": Spread(x.shape, x.dtype, source=x)}
    run = driver.Run(version.programs, driver.InProcess(), call.numbers, {}, arrays, 7)
    run.steps(version.plan.steps)
    alone = run.result(version.plan.program.results[0], lambda spread: spread, call.given)
    assert found == alone


def test_results_stay_on_the_cluster_between_calls(cluster: None) -> None:
    from weft.cluster import ray_engine

    x = numbers(60)
    first = doubled_there(x)
    assert not first.is_here
    second = axpy_there(1.0, first, first)
    assert not first.is_here and not second.is_here
    np.testing.assert_array_equal(second, x * 4)
    a, b = weft.cluster.put(numbers(30, 12)), weft.cluster.put(numbers(30, 12) + 1)
    want_a, want_b = numbers(30, 12), numbers(30, 12) + 1
    for _ in range(2):
        jacobi_there(3, a, b)
        jacobi(3, want_a, want_b)
    assert not a.is_here
    np.testing.assert_array_equal(a, want_a)
    np.testing.assert_array_equal(b, want_b)
    assert ray_engine.is_connected()


def test_an_array_of_the_cluster_behaves_as_an_array(cluster: None) -> None:
    plain = numbers(20, 3) * 2
    lazy = doubled_there(numbers(20, 3))
    assert lazy.shape == (20, 3) and len(lazy) == 20 and lazy.dtype == np.float64 and lazy.nbytes == 480
    assert "on the cluster" in repr(lazy) and not lazy.is_here
    drawn = lazy._repr_html_()
    assert drawn.count("<rect") == len(lazy._spread.pieces) and "on the cluster" in drawn and not lazy.is_here
    np.testing.assert_array_equal(lazy + 1, plain + 1)
    np.testing.assert_array_equal(1 / lazy, 1 / plain)
    np.testing.assert_array_equal(lazy @ lazy.T, plain @ plain.T)
    np.testing.assert_array_equal(np.sum(lazy, axis=0), plain.sum(axis=0))
    np.testing.assert_array_equal(np.concatenate([lazy, plain]), np.concatenate([plain, plain]))
    np.testing.assert_array_equal(lazy[3:5, ::-1], plain[3:5, ::-1])
    assert float(lazy[2, 1]) == plain[2, 1] and lazy.mean() == plain.mean()
    assert (lazy == plain).all() and [row.sum() for row in lazy] == [row.sum() for row in plain]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lazy)), plain)
    np.testing.assert_array_equal(copy.deepcopy(lazy), plain)
    assert np.array(lazy).flags.writeable
    with pytest.raises(ValueError):
        lazy[0][0] = 1.0  # a view is of read-only memory: nothing is lost without a word
    lazy[0] = 7.0
    plain[0] = 7.0
    lazy += 1
    plain += 1
    np.testing.assert_array_equal(lazy, plain)
    np.testing.assert_array_equal(doubled_there(lazy), plain * 2)


def test_an_exception_is_raised_once_with_the_line_of_the_user(cluster: None) -> None:
    there = compiled(inverse_sum)
    x, y = numbers(40), numbers(40) + 1
    np.testing.assert_array_equal(there(x, y), x / y)
    y[25] = 0
    with pytest.raises(ValueError, match="a zero in y") as caught:
        there(x, y)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "inverse_sum" and "raise ValueError" in (frames[-1].line or "")


def solution(a, b):
    return np.linalg.solve(a, b)


def test_what_fails_in_one_tile_raises(cluster: None) -> None:
    """What tiles report together (a routine's success) is looked at before the call returns."""
    there, a, b = compiled(solution), numbers(20, 3, 3), numbers(20, 3, 2)
    np.testing.assert_allclose(there(a, b), np.linalg.solve(a, b))
    a[13] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        there(a, b)
    assert "solution" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


def test_what_cannot_be_cut_runs_here_and_says_why(cluster: None) -> None:
    there = compiled(running, fallback="warn")
    mine, theirs = numbers(9000), numbers(9000)
    with pytest.warns(weft.FallbackWarning, match="runs on this machine alone.*line"):
        there(mine)
    running(theirs)
    np.testing.assert_array_equal(mine, theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there(mine)
    assert "on this machine alone" in str(there.explain())
    with pytest.raises(weft.Unsupported, match="spread"):
        compiled(running)(numbers(9000))


def test_small_problems_stay_here(cluster: None) -> None:
    from weft.cluster import ray_engine

    there = compiled(doubled)
    weft.cluster.connect(least_seconds=None)
    before = ray_engine.engine().submitted
    assert type(there(numbers(100))) is np.ndarray
    assert ray_engine.engine().submitted == before


def test_arguments_that_share_memory_run_here(cluster: None) -> None:
    there = compiled(jacobi)
    x, y = numbers(20, 8), numbers(20, 8)
    there(3, x, x)
    jacobi(3, y, y)
    np.testing.assert_array_equal(x, y)


def test_read_only_arrays(cluster: None) -> None:
    x = numbers(30)
    x.flags.writeable = False
    np.testing.assert_array_equal(doubled_there(x), x * 2)
    a = numbers(20, 8)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(jacobi, fallback="silent")(3, a, numbers(20, 8))


def test_a_closure_is_never_sent(cluster: None) -> None:
    handle = open(os.devnull)  # noqa: SIM115 (it cannot be pickled, and need not be)
    factor = 3.0

    def scaled(x):
        return x * factor

    there = compiled(scaled)
    np.testing.assert_array_equal(there(numbers(30)), numbers(30) * 3)
    factor = 4.0
    np.testing.assert_array_equal(there(numbers(30)), numbers(30) * 4)
    handle.close()


def test_explain_and_trace(cluster: None, tmp_path: Any) -> None:
    path = tmp_path / "run.json"
    there = compiled(jacobi)
    for _ in range(2):  # a second timeline as well
        with weft.cluster.trace(path):
            there(3, numbers(30, 120), numbers(30, 120))
    text = str(there.explain())
    for part in ("tiles lo:hi of 0:", "5 tiles of 7", "a[lo-2:hi+2]", "bytes: b", "ms on one core"):
        assert part in text, text
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert {"put", "get"} <= names and any(name.startswith("jacobi_") for name in names)


def test_back_pressure(cluster: None) -> None:
    from weft.cluster import ray_engine

    engine = ray_engine.engine()
    before, limit = engine.waited, engine._limit
    engine._limit = 2000.0
    try:
        a, b = numbers(40, 12), numbers(40, 12)
        want_a, want_b = a.copy(), b.copy()
        jacobi_there(4, a, b)
        jacobi(4, want_a, want_b)
        np.testing.assert_array_equal(a, want_a)
    finally:
        engine._limit = limit
    assert engine.waited > before


def test_a_killed_worker_is_replaced(cluster: None) -> None:
    import ray

    @ray.remote
    def worker() -> int:
        return os.getpid()

    a, b = weft.cluster.put(numbers(60, 12)), weft.cluster.put(numbers(60, 12))
    want_a, want_b = numbers(60, 12), numbers(60, 12)
    victims = set(ray.get([worker.remote() for _ in range(4)]))
    jacobi_there(20, a, b)
    for process in victims:
        os.kill(process, signal.SIGKILL)
    jacobi_there(20, a, b)
    for _ in range(2):
        jacobi(20, want_a, want_b)
    np.testing.assert_array_equal(a, want_a)


def test_no_cluster_at_the_address() -> None:
    text = (
        "import weft, numpy as np\n"
        "weft.cluster.connect(least_seconds=0.0)\n"
        "try:\n"
        "    weft.cluster.connect(address='127.0.0.1:1')\n"
        "except weft.ClusterError as problem:\n"
        "    print('told:', problem)\n"
        "print('kept:', weft.cluster.settings.current().address)\n"
    )
    import subprocess
    import sys

    environment = {**os.environ, "RAY_gcs_rpc_server_reconnect_timeout_s": "1"}
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=90, env=environment, check=False
    )
    assert "told: there is no Ray cluster at '127.0.0.1:1'" in run.stdout, run.stdout + run.stderr
    assert "kept: None" in run.stdout


@pytest.mark.parametrize(
    "setting",
    [{"rows": -1}, {"rows": "a"}, {"num_cpus": 0}, {"num_cpus": "a"}, {"object_store_memory": 5}, {"nodes": 3},
     {"least_seconds": "now"}, {"cpus_per_task": True}, {"address": 5}, {"in_flight_bytes": 0}],
)  # fmt: skip
def test_settings_that_make_no_sense(setting: dict[str, Any]) -> None:
    before = weft.cluster.settings.current()
    with pytest.raises(weft.OptionError, match=next(iter(setting))):
        weft.cluster.connect(**setting)
    assert weft.cluster.settings.current() == before


def test_ray_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from weft.cluster import ray_engine

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(weft.ClusterError, match="pip install"):
        ray_engine._started(ray_engine.current())


NOTED: list[Any] = []


def with_a_note(a, b):
    c = np.sqrt(a) * 2 + b
    d = c
    NOTED.append(json.dumps(float(c[0, 0])))
    c[0, 1] = json.loads("7.0")
    b[:] = (c - d.mean()) ** 2
    return b.sum(), c


def test_a_statement_that_only_python_runs_stays_here_alone() -> None:
    NOTED.clear()
    a, b = numbers(300, 200), numbers(300, 200)
    mine, theirs = b.copy(), b.copy()
    function = compiled(with_a_note, fallback="warn")
    with pytest.warns(weft.FallbackWarning, match="has a statement that runs on this machine"):
        found = function(a, mine)
    wanted = with_a_note(a, theirs)
    np.testing.assert_allclose(found[0], wanted[0])
    np.testing.assert_allclose(np.asarray(found[1]), wanted[1])
    np.testing.assert_allclose(mine, theirs)
    assert NOTED[0] == NOTED[1] and len(NOTED) == 2

    def planned(part: Any) -> int:
        return len(part.versions()) + sum(map(planned, part._parts))

    assert planned(function) >= 2  # what is before the first such statement, and behind the second
