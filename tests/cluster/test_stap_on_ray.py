"""The radar application on Ray, unmodified."""

from __future__ import annotations

import numpy as np

import weft
from benchmarks.apps.stap import chain, cubes
from benchmarks.apps.stap.cubes import Scene, Target

SCENE = Scene(channels=8, pulses=16, samples=256, chirp=16, targets=(Target(90, 0.25, 0.0, 6.0),))


def test_cubes_are_shared_among_workers(cluster: None) -> None:
    weft.cluster.connect(rows=0)
    data, tools = cubes.cubes(SCENE, 9), cubes.tools(SCENE)
    compiled = weft.jit(chain.process_all, target="ray", fallback="error")
    power, found = compiled(data, *tools)
    expected = chain.process_all(data, *tools)
    np.testing.assert_allclose(np.asarray(power), expected[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(np.asarray(found), expected[1])
    assert np.asarray(found)[:, 4, 90].all()
    version = compiled.versions()[0]
    _, blocks = version.last
    large = [stage for stage in version.plan.steps if any(p.buffer == "cubes" for p in getattr(stage, "reads", ()))]
    assert [blocks[stage.name] < 9 for stage in large] == [True]  # several tasks


def test_beams_transform_and_filter_are_one_stage(cluster: None) -> None:
    """A task beamforms its pulses, transforms them and filters them: nothing in between is sent."""
    data, tools = cubes.cube(SCENE), cubes.tools(SCENE)
    compiled = weft.jit(chain.matched_beams, target="ray", fallback="error")
    beams = compiled(data, tools.steering, tools.response, tools.size)
    expected = chain.matched_beams(data, tools.steering, tools.response, tools.size)
    np.testing.assert_allclose(np.asarray(beams), expected, rtol=1e-3, atol=1e-3)
    plan = compiled.versions()[0].plan
    large = [stage for stage in plan.steps if any(piece.buffer == "cube" for piece in getattr(stage, "reads", ()))]
    assert len(large) == 1
    assert len(large[0].parts) > 3
    assert large[0].temporaries
