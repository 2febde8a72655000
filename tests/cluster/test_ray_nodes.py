"""Several Ray nodes on this machine: a node killed in the middle of a run, and a store that is too small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.native, pytest.mark.timeout(400)]

KILLED = """
import sys, threading, time
import numpy as np
from ray.cluster_utils import Cluster
import weft
sys.path.insert(0, sys.argv[1])
from kernels_for_nodes import jacobi

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 1 << 28})
victim = cluster.add_node(num_cpus=2, object_store_memory=1 << 28)
weft.cluster.connect(address=cluster.address, least_seconds=0.0, rows=40)
there = weft.jit(jacobi, target="ray", fallback="error")
first = np.random.default_rng(0).random((400, 200))
a, b = weft.cluster.put(first.copy()), weft.cluster.put(first + 1)
there(9, a, b)
there(30, a, b)
cluster.remove_node(victim, allow_graceful=False)
cluster.add_node(num_cpus=1, object_store_memory=1 << 28)
there(9, a, b)
want_a, want_b = first.copy(), first + 1
for steps in (9, 30, 9):
    jacobi(steps, want_a, want_b)
print("same bits:", np.array_equal(a, want_a) and np.array_equal(b, want_b))
"""

FULL = """
import sys
import numpy as np
import weft
sys.path.insert(0, sys.argv[1])
from kernels_for_nodes import doubled

weft.cluster.connect(num_cpus=2, object_store_memory=90 << 20, least_seconds=0.0, rows=100)
there = weft.jit(doubled, target="ray", fallback="error")
x = np.random.default_rng(0).random((4000, 1000))
kept = [there(x) for _ in range(6)]  # more than the store holds: it goes to disk
print("same bits:", all(np.array_equal(y, x * 2) for y in kept))
"""

KERNELS = """
def doubled(x):
    return x * 2


def jacobi(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
"""


@pytest.mark.parametrize("script", [KILLED, FULL], ids=["a node is killed", "the store is full"])
def test_nodes(script: str, tmp_path: Path) -> None:
    (tmp_path / "kernels_for_nodes.py").write_text(KERNELS)
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-c", script, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=380, env=environment, check=False)
    assert "same bits: True" in run.stdout, run.stdout[-2000:] + run.stderr[-4000:]
