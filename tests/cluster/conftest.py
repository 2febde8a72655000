"""One Ray session for all tests of a process; tests that need Ray ask for `cluster`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def ray_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    pytest.importorskip("ray")
    os.environ.setdefault("RAY_TMPDIR", str(tmp_path_factory.getbasetemp().parent)[:40])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_TQDM_PATCH_PRINT"] = "0"
    import weft

    weft.cluster.connect(num_cpus=2, object_store_memory=1 << 28, least_seconds=0.0)
    yield
    weft.cluster.shutdown()


@pytest.fixture
def cluster(ray_session: None) -> Iterator[None]:
    """A cluster with small tiles and no local runs."""
    import weft

    weft.cluster.connect(rows=7, least_seconds=0.0, cpus_per_task=1)
    yield
    weft.cluster.connect(rows=0)
