"""Beyond one process: a sequential function in tiles, on Ray or on MPI ranks.

`connect` says which cluster to use and how, `put` sends an array once for many calls, `shutdown` ends it, and `trace`
records what happens.
"""

from __future__ import annotations

from typing import Any


def connect(**settings: Any) -> None:
    """Use this cluster: `weft.cluster.connect(address="...", cpus_per_task=4)`; see `settings.Settings`."""
    from weft.cluster import ray_engine
    from weft.cluster.settings import change, current, restore

    before = current()
    changed = change(settings)
    if ray_engine.is_connected() and settings.keys() & {"address", "num_cpus", "object_store_memory"}:
        ray_engine.shutdown()
    if changed.address is not None:
        try:
            ray_engine.engine()
        except BaseException:
            restore(before)  # what does not work is not kept for the next call
            raise


def shutdown() -> None:
    """Leave the cluster; one that was started by weft ends."""
    from weft.cluster import ray_engine

    ray_engine.shutdown()


def put(array: Any, rows: int = 0) -> Any:
    """An array on the cluster, sent once for many calls: in blocks of `rows` along its first axis, if given."""
    from weft.cluster.function import sent

    return sent(array, rows)


def trace(path: Any) -> Any:
    """`with weft.cluster.trace("run.json"):` writes what happens as a timeline that browsers show."""
    from weft.cluster import mpi_world

    if mpi_world.is_used():
        from weft.cluster.mpi_trace import MpiTrace

        return MpiTrace(path)
    from weft.cluster.timeline import Trace

    return Trace(path)
