"""The radar application: targets are found where they are, and compiled code finds the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weft
from benchmarks.apps.stap import chain, cubes
from benchmarks.apps.stap.cubes import Jammer, Scene, Target

SCENE = Scene()
NEAR_GATES, NEAR_BINS = 3, 1


def _bin(scene: Scene, target: Target) -> int:
    return round(target.doppler * scene.pulses) % scene.pulses


def _is_near(scene: Scene, target: Target, index: int, gate: int) -> bool:
    apart = abs(index - _bin(scene, target))
    return abs(gate - target.gate) <= NEAR_GATES and min(apart, scene.pulses - apart) <= NEAR_BINS


@pytest.mark.parametrize(
    "scene",
    [
        SCENE,
        replace(SCENE, seed=7, dtype=np.complex128),
        replace(SCENE, look=0.25, targets=(Target(20, 0.4, 0.25),), jammers=(Jammer(0.7, 40.0), Jammer(-0.5, 30.0))),
        replace(SCENE, targets=(), seed=3),
    ],
    ids=["two targets", "double precision", "another direction, two jammers", "nothing there"],
)
def test_exactly_the_targets_are_found(scene: Scene) -> None:
    power, found = chain.process(cubes.cube(scene), *cubes.tools(scene))
    for target in scene.targets:
        assert found[_bin(scene, target), target.gate]
    for index, gate in np.argwhere(found):
        assert any(_is_near(scene, target, index, gate) for target in scene.targets)
    assert power.dtype == np.empty(0, scene.dtype).real.dtype


def test_without_adaptive_weights_the_jammer_hides_the_targets() -> None:
    scene = replace(SCENE, jammers=(Jammer(0.45, 45.0),))
    tools, data = cubes.tools(scene), cubes.cube(scene)
    beams = chain.matched_beams(data, tools.steering, tools.response, tools.size)
    doppler = np.fft.fft(beams * tools.window[:, None, None], axis=0)
    fixed = np.abs(tools.look.conj() @ doppler) ** 2
    places = [(_bin(scene, target), target.gate) for target in scene.targets]
    assert not any(chain.exceeds_neighbours(fixed, 4, 32, 16.0)[place] for place in places)
    assert all(chain.process(data, *tools)[1][place] for place in places)


def test_the_matched_filter_gathers_an_echo_at_its_gate() -> None:
    scene = replace(SCENE, targets=(Target(100, 0.0, 0.0, 60.0),), clutter_decibels=-60.0, jammers=())
    tools = cubes.tools(scene)
    beams = chain.matched_beams(cubes.cube(scene), tools.steering, tools.response, tools.size)
    assert set(np.abs(beams[0, 3:5]).argmax(axis=1).tolist()) == {100}


def test_the_same_seed_makes_the_same_cube() -> None:
    np.testing.assert_array_equal(cubes.cube(SCENE, 2), cubes.cube(SCENE, 2))
    assert not np.array_equal(cubes.cube(SCENE, 1), cubes.cube(SCENE, 2))


def _agrees(actual: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...], scene: Scene) -> None:
    tolerance = 1e-3 if scene.dtype is np.complex64 else 1e-9
    assert [part.dtype for part in actual] == [part.dtype for part in expected]
    np.testing.assert_allclose(actual[0], expected[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(actual[1], expected[1])


@pytest.mark.parametrize(("dtype", "count"), [(np.complex64, 3), (np.complex128, 1)])
def test_native_code_finds_the_same(dtype: type[np.complexfloating], count: int) -> None:
    small = Scene(channels=8, pulses=12, samples=200, chirp=16, targets=(Target(90, 0.25, 0.0, 6.0),), dtype=dtype)
    compiled = weft.jit(chain.process_all, fallback="error")
    data, tools = cubes.cubes(small, count), cubes.tools(small)
    _agrees(compiled(data, *tools), chain.process_all(data, *tools), small)
