"""Arrays in files, computed in tiles: the same answers as in memory, in the memory allowed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.cluster.outofcore import bytes_from
from weft.cluster.storage import StorageError

Maker = Callable[[np.ndarray], Any]
KINDS = ("memory", "mapped", "hdf5", "zarr")


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def several(x, y):
    z = x + y
    return z, (z * z).sum(axis=0), z.mean()


def centred(x):
    return x - x.mean(axis=0)


def product(a, b):
    return a @ b


def turned(x):
    return x.T * 2.0


def doubled(x, out):
    out[:] = x * 2.0


def checked(x, where):
    return x[where] + 1.0


def solved(a, b):
    out = np.empty_like(b)
    for i in range(a.shape[0]):
        matrix = a[i] + a[i].T
        out[i] = np.linalg.solve(matrix, b[i])
    return out


FUNCTIONS = {f.__name__: weft.out_of_core(f, memory="60kB", progress=False)
             for f in (softmax, jacobi, several, centred, product, turned)}  # fmt: skip


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str, np.ndarray], Any]:
    """Makers of an array of a kind with given contents."""
    count = 0

    def maker(kind: str, values: np.ndarray) -> Any:
        nonlocal count
        count += 1
        if kind == "memory":
            return values.copy()
        if kind == "mapped":
            made = np.memmap(tmp_path / f"{count}.bin", values.dtype, "w+", shape=values.shape)
        elif kind == "hdf5":
            h5py = pytest.importorskip("h5py")
            return h5py.File(tmp_path / f"{count}.h5", "w").create_dataset("x", data=values)
        else:
            zarr = pytest.importorskip("zarr")
            made = zarr.open_array(str(tmp_path / f"{count}.zarr"), mode="w", shape=values.shape, dtype=values.dtype)
        made[...] = values
        return made

    return maker


def _same(actual: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected):
            _same(one, other)
    elif expected is None:
        assert actual is None
    else:
        assert np.asarray(actual).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-12)


def _arguments(name: str, rows: int) -> tuple[Any, ...]:
    data = np.random.default_rng(rows).random((rows, 70))
    return {
        "jacobi": (data, data + 1.0, 3),
        "several": (data, data * 2.0),
        "product": (data, data.T.copy()),
    }.get(name, (data,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_as_in_memory(name: str, kind: str, make: Callable[[str, np.ndarray], Any]) -> None:
    compiled = FUNCTIONS[name]
    for rows in (101, 5) if kind == "mapped" else (101,):
        plain = _arguments(name, rows)
        given = [make(kind, value) if isinstance(value, np.ndarray) else value for value in plain]
        actual = compiled(*given)
        _same(actual, compiled.py_func(*plain))
        for value, expected in zip(given, plain):  # what it changes is changed, all else is not
            if isinstance(expected, np.ndarray):
                np.testing.assert_allclose(value[...], expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", ">f8", "c16", "i4"])
def test_types_and_byte_orders(dtype: str, make: Callable[[str, np.ndarray], Any]) -> None:
    values = np.arange(3000.0).reshape(300, 10).astype(dtype)
    expected = turned(values.astype(values.dtype.newbyteorder("=")))
    _same(weft.out_of_core(turned, memory="60kB")(make("mapped", values)), expected)


def test_views_of_files(make: Callable[[str, np.ndarray], Any]) -> None:
    mapped = make("mapped", np.random.default_rng(2).random((140, 210)))
    for view in (mapped.T, mapped[::-1], mapped[10:100:3, ::2], np.asfortranarray(mapped)):
        _same(FUNCTIONS["softmax"](view), softmax(np.asarray(view)))


def test_chunks_are_read_once(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    values = np.random.default_rng(9).random((100, 70))
    dataset = h5py.File(tmp_path / "chunks.h5", "w").create_dataset("x", data=values, chunks=(8, 70))
    read: list[int] = []

    class Watched(Slow):
        chunks = dataset.chunks

        def __getitem__(self, index: Any) -> np.ndarray:
            read.append(index[0].start)
            return dataset[index]

    _same(FUNCTIONS["softmax"](Watched(values)), softmax(values))
    assert len(read) > 2
    assert all(first % 8 == 0 for first in read)


def test_nothing_to_compute(make: Callable[[str, np.ndarray], Any]) -> None:
    for kind in ("memory", "hdf5", "zarr"):
        empty = FUNCTIONS["turned"](make(kind, np.empty((0, 70))))
        assert empty.shape == (70, 0)


# --- where results go -------------------------------------------------------------------------------------------------


def test_results_go_where_they_are_wanted(make: Callable[[str, np.ndarray], Any], tmp_path: Path) -> None:
    values = np.random.default_rng(3).random((101, 70))
    expected = softmax(values)
    for kind in KINDS:
        target = make(kind, np.zeros((101, 70)))
        result = weft.out_of_core(softmax, memory="60kB", into=target)(make("mapped", values))
        assert result is target
        np.testing.assert_allclose(target[...], expected)
    path = tmp_path / "result.npy"
    result = weft.out_of_core(softmax, memory="60kB", into=path)(make("hdf5", values))
    np.testing.assert_allclose(np.load(path), expected)
    assert isinstance(result, np.memmap)
    assert not list(tmp_path.glob("*.partial"))


def test_several_results_and_one_that_no_stage_writes_alone(
    make: Callable[[str, np.ndarray], Any], tmp_path: Path
) -> None:
    x, y = make("mapped", np.ones((90, 70))), make("mapped", np.full((90, 70), 2.0))
    into = (tmp_path / "sum.npy", make("hdf5", np.zeros(70)))
    result = weft.out_of_core(several, memory="60kB", into=into)(x, y)
    assert result[1] is into[1]
    np.testing.assert_array_equal(np.load(tmp_path / "sum.npy"), 3.0)
    np.testing.assert_array_equal(into[1][...], 9.0 * 90)
    assert result[2] == 3.0


def test_the_target_may_be_an_argument(make: Callable[[str, np.ndarray], Any]) -> None:
    data = make("mapped", np.random.default_rng(4).random((70, 70)))
    expected = turned(np.array(data))
    weft.out_of_core(turned, memory="20kB", into=data)(data)
    np.testing.assert_allclose(data, expected)


def test_a_parameter_that_is_only_written(make: Callable[[str, np.ndarray], Any]) -> None:
    x, out = make("zarr", np.arange(5000.0)), make("hdf5", np.zeros(5000))
    assert weft.out_of_core(doubled, memory="20kB")(x, out) is None
    np.testing.assert_array_equal(out[...], np.arange(5000.0) * 2)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "much", "5 XB", 0, -1, True, 1.5])
def test_sizes_that_are_none(text: Any) -> None:
    with pytest.raises(weft.OptionError, match="memory="):
        weft.out_of_core(softmax, memory=text)


def test_sizes() -> None:
    assert bytes_from("500MB") == 500_000_000
    assert bytes_from("2 GiB") == 2 << 30
    assert bytes_from("1.5kb") == 1500
    assert bytes_from(7) == 7


def test_targets_that_do_not_fit(make: Callable[[str, np.ndarray], Any], tmp_path: Path) -> None:
    data = make("mapped", np.ones((101, 70)))
    read_only = np.zeros((101, 70))
    read_only.flags.writeable = False
    cases = [
        (np.zeros((101, 71)), r"float64\[101, 71\]"),
        (np.zeros((101, 70), np.float32), "float32"),
        (read_only, "read-only"),
        (tmp_path / "nowhere" / "x.npy", "no directory"),
        (5, "not int"),
        ((None, None), "1 arrays to return"),
    ]
    for target, words in cases:
        with pytest.raises(StorageError, match=words):
            weft.out_of_core(softmax, memory="60kB", into=target)(data)
    with pytest.raises(StorageError, match="no directory"):
        weft.out_of_core(softmax, memory="60kB", directory=tmp_path / "nowhere")(data)


def test_too_little_memory_for_one_row(make: Callable[[str, np.ndarray], Any]) -> None:
    with pytest.raises(StorageError, match="one tile takes"):
        weft.out_of_core(softmax, memory=500)(make("mapped", np.ones((101, 70))))


def test_arguments_that_share_a_file(make: Callable[[str, np.ndarray], Any]) -> None:
    data = make("mapped", np.random.default_rng(5).random((40, 40)))
    expected = np.array(data)
    jacobi(expected, expected, 2)
    with pytest.warns(weft.FallbackWarning, match="share memory"):
        weft.out_of_core(jacobi, memory="1MB")(data, data, 2)
    np.testing.assert_allclose(data, expected)


def test_what_cannot_be_cut_says_why(make: Callable[[str, np.ndarray], Any]) -> None:
    def recurrence(x):
        for i in range(1, len(x)):
            x[i] = x[i] * 0.5 + x[i - 1]

    data = make("mapped", np.ones(1000))
    expected = np.ones(1000)
    recurrence(expected)
    with pytest.warns(weft.FallbackWarning, match="not computed in tiles"):
        weft.out_of_core(recurrence, memory="1MB")(data)
    np.testing.assert_allclose(data, expected)
    with pytest.raises(StorageError, match="cannot be computed in tiles"):
        weft.out_of_core(recurrence, memory="1kB")(make("hdf5", np.ones(1000)))


def test_exceptions_are_the_function_s_own(make: Callable[[str, np.ndarray], Any]) -> None:
    data, where = make("mapped", np.arange(1000.0)), np.arange(1000)
    compiled = weft.out_of_core(checked, memory="20kB")
    np.testing.assert_array_equal(compiled(data, where), np.arange(1000.0) + 1)
    where[700] = 1000
    with pytest.raises(IndexError, match="1000 is out of bounds"):
        compiled(data, where)


def test_a_loop_of_routines_with_memory_of_its_own(make: Callable[[str, np.ndarray], Any]) -> None:
    """Iterations that call LAPACK, may raise, and fill temporaries are tiles as any others."""
    rng = np.random.default_rng(8)
    a, b = rng.random((60, 5, 5)), rng.random((60, 5))
    compiled = weft.out_of_core(solved, memory="10kB")
    _same(compiled(make("hdf5", a), make("mapped", b)), solved(a, b))
    assert len(compiled.versions()) == 1
    a[41] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        compiled(make("hdf5", a), make("mapped", b))


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from weft.cluster.storage import Scratch, StorageError, new_file

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # as a disk that has no more room
home = Path(sys.argv[1])
for make in (lambda: new_file(home / "large.npy", (1 << 20,), np.float64),
             lambda: Scratch(home).make((1 << 20,), np.float64)):
    try:
        make()
    except StorageError as problem:
        print("told:", problem)
print("left:", list(home.rglob("*.npy")))
"""


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=90, check=False
    )
    assert run.stdout.count("told: cannot make a file") == 2 and "left: []" in run.stdout, run.stdout + run.stderr


def test_a_target_that_cannot_be_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    values = np.ones((100, 70))
    (tmp_path / "place").mkdir()
    cases = [("place", "60kB", "is a directory"), ("no/where.npy", "60kB", "no directory"), ("y.npy", "1kB", "memory")]
    for name, memory, words in cases:
        with pytest.raises(StorageError, match=words):
            weft.out_of_core(softmax, memory=memory, into=tmp_path / name)(values)
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


# --- interrupted, shown, and in how much memory ----------------------------------------------------------------------


class Slow:
    """A dataset of which reading takes a while, and stops at a row."""

    def __init__(self, values: np.ndarray, seconds: float = 0.0, stop: int | None = None) -> None:
        self.values, self.seconds, self.stop = values, seconds, stop
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, index: Any) -> np.ndarray:
        if self.stop is not None and index is not ... and index[0].stop > self.stop:
            raise KeyboardInterrupt
        time.sleep(self.seconds)
        return self.values[index]


def test_an_interrupted_run_says_what_is_valid(tmp_path: Path, make: Callable[[str, np.ndarray], Any]) -> None:
    values = np.random.default_rng(6).random((100, 70))
    source = Slow(values.copy(), stop=60)
    path = tmp_path / "result.npy"
    words = r"stopped after \d+ of about \d+ tiles; .*partial is valid in \[0:\d+\]"
    with pytest.raises(KeyboardInterrupt, match=words) as told:
        weft.out_of_core(softmax, memory="30kB", into=path)(source)
    past = int(str(told.value).split("[0:")[1].split("]")[0])
    assert 0 < past <= 60
    np.testing.assert_allclose(np.load(tmp_path / "result.npy.partial")[:past], softmax(values)[:past])
    assert not path.exists()
    np.testing.assert_array_equal(source.values, values)


def test_an_interrupted_run_leaves_arguments_as_they_were(make: Callable[[str, np.ndarray], Any]) -> None:
    out = make("hdf5", np.full((100, 70), 7.0))
    with pytest.raises(KeyboardInterrupt, match="stopped after"):
        weft.out_of_core(doubled, memory="30kB")(Slow(np.ones((100, 70)), stop=60), out)
    np.testing.assert_array_equal(out[...], 7.0)


def test_a_long_run_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    weft.out_of_core(softmax, memory="30kB", progress=True)(Slow(np.ones((40, 70)), seconds=0.5))
    assert "softmax" in capfd.readouterr().err


def test_memory_stays_within_the_limit(tmp_path: Path) -> None:
    script = tmp_path / "large.py"
    script.write_text(
        textwrap.dedent(
            """
            import resource, sys
            import numpy as np
            import weft

            def softmax(x):
                e = np.exp(x - x.max(axis=1, keepdims=True))
                return e / e.sum(axis=1, keepdims=True)

            def peak():
                return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

            limited = weft.out_of_core(softmax, memory="40MB", into=sys.argv[2])
            small = np.memmap(sys.argv[1], np.float64, "w+", shape=(2000, 1000))
            limited(small)
            before = peak()
            large = np.memmap(sys.argv[1], np.float64, "w+", shape=(30_000, 1000))  # 240 MB
            result = limited(large)
            after = peak()
            assert abs(result[12_345, 678] - 1e-3) < 1e-12
            print(after - before)
            """
        )
    )
    command = [sys.executable, str(script), str(tmp_path / "x.bin"), str(tmp_path / "y.npy")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stderr
    assert float(told.stdout) < 60.0  # of 480 MB of input and output
