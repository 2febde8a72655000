"""Arrays in files, computed in tiles by the workers of a cluster: the answers of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.cluster.ray_engine import engine

pytestmark = pytest.mark.usefixtures("cluster")


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def several(x, y):
    z = x + y
    return z, (z * z).sum(axis=0), z.mean()


def smoothed(a, b, steps):
    for _ in range(steps):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = 0.5 * (b[:-2] + b[2:])


def looked_up(x, where):
    return x[where] + 1.0


def stored(kind: str, values: np.ndarray, path: Path) -> Any:
    if kind == "memory":
        return values
    if kind == "mapped":
        np.save(path / "x.npy", np.vstack([np.zeros_like(values), values]))
        return np.load(path / "x.npy", mmap_mode="r")[len(values) :]  # a part of a file
    if kind == "hdf5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path / "x.h5", "w") as file:
            file["group/x"] = values
        return h5py.File(path / "x.h5", "r")["group/x"]
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(str(path / "x.zarr"), shape=values.shape, dtype=values.dtype, chunks=(10, values.shape[1]))
    made[:] = values
    return made


@pytest.mark.parametrize("kind", ["memory", "mapped", "hdf5", "zarr"])
def test_workers_read_the_files(kind: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((97, 31))
    function = weft.out_of_core(softmax, memory="60 kB", into=tmp_path / "y.npy", target="ray")
    before = engine().submitted
    result = function(stored(kind, values, tmp_path))
    assert engine().submitted > before + 2
    np.testing.assert_allclose(result, softmax(values), rtol=1e-12)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), result)


def test_several_results_and_arguments_that_change(tmp_path: Path) -> None:
    x, y = (np.random.default_rng(seed).random((90, 20)) for seed in (1, 2))
    for mine, theirs in zip(weft.out_of_core(several, memory="60 kB", target="ray")(x, y), several(x, y)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    a, b = stored("mapped", x, tmp_path), y.copy()
    file = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", x.dtype, x.shape)
    file[:] = a
    again, other = x.copy(), y.copy()
    weft.out_of_core(smoothed, memory="60 kB", target="ray")(file, b, 3)
    smoothed(again, other, 3)
    np.testing.assert_allclose(file, again, rtol=1e-12)
    np.testing.assert_allclose(b, other, rtol=1e-12)


def test_an_error_of_the_program_is_raised_once_and_nothing_is_left(tmp_path: Path) -> None:
    x, where = np.arange(50.0), np.arange(400)
    function = weft.out_of_core(looked_up, memory="3 kB", into=tmp_path / "y.npy", target="ray")
    with pytest.raises(IndexError):
        function(x, where)
    assert not (tmp_path / "y.npy").exists()


def test_another_target_is_refused() -> None:
    with pytest.raises(weft.errors.OptionError, match="neither None nor 'ray'"):
        weft.out_of_core(softmax, target="mpi")
