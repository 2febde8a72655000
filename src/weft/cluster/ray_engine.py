"""Tasks on Ray.  In: tasks, kernels and objects of the driver's; out: references to what they make.

Ray schedules, moves, keeps and recovers.  Everything but the caller's own arrays is made by tasks, so that Ray can make
it again after a worker or a machine was lost; the caller's arrays live with the caller.  A kernel is an object like any
other: a machine fetches it once and compiles it through its own disk cache, a process loads it once.
"""

from __future__ import annotations

import collections
import ctypes
import os
import socket
import threading
from collections.abc import Callable, Sequence
from time import perf_counter, time
from typing import Any

import numpy as np

from weft.cluster import work
from weft.cluster.kernels import Kernel, load
from weft.cluster.settings import Settings, current
from weft.cluster.storage import Part
from weft.cluster.work import Task
from weft.errors import ClusterError
from weft.records import dataclass
from weft.runtime import blas

#: How long to look for a cluster, in seconds.
_PATIENCE = 20.0
#: Milliseconds until the object store has the memory back of what nobody refers to: results of the next call then lie
#: where those of the last one were, in pages that the workers have already. Ray's own second is many calls.
_FREEING = 10
#: Bytes of an array that is sent with each task rather than kept in the object store: Ray takes as much for a task
#: without another look at it.
_INLINE = 1 << 12


@dataclass
class Overhead:
    """What was measured of a cluster: seconds of an empty task one at a time, and of one among many."""

    alone: float
    among_many: float


_kernels: dict[str, Kernel] = {}  # of a worker: those that it has fetched


@dataclass(frozen=True)
class Timing:
    """When and where a task ran, in seconds since the epoch; `loading`: what of it went into getting the kernel."""

    name: str
    place: str
    start: float
    end: float
    loading: float


def _keep_memory() -> None:
    """Freed memory of a worker stays its own: a task needs as much as the one before, and new pages cost time."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library has other ways
    mallopt(-3, 32 << 20)  # blocks below this size come from the heap
    mallopt(-1, 1 << 30)  # so much of the heap stays when it is free


def _remote_tile(task: Task, digest: str, reference: list[Any], timed: bool, *objects: Any) -> Any:
    """Runs in a worker."""
    import ray

    start = time()
    kernel = _kernels.get(digest)
    if not _kernels:
        _keep_memory()
        work.reuse_memory()
        blas.set_num_threads(task.threads)
    if kernel is None:
        kernel = _kernels[digest] = ray.get(reference[0])
        load(kernel)
    loaded = time()
    results = work.run(task, kernel, [entry.load() if isinstance(entry, Part) else entry for entry in objects])
    if timed:
        place = f"{ray.get_runtime_context().get_node_id()[:6]} process {os.getpid()}"
        results.append(Timing(task.name, place, start, time(), loaded - start))
    return results[0] if len(results) == 1 else tuple(results)


def _remote_call(function: Callable[..., Any], first: Any, *objects: Any) -> Any:
    return function(first, objects)


class RayEngine:
    """A connection to Ray, shared by all functions of a process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._ray = _started(settings)
        self._tile = self._ray.remote(_remote_tile)
        self._call = self._ray.remote(_remote_call)
        self._ready: dict[Any, Any] = {}
        self._sent: dict[str, Any] = {}
        self._flying: collections.deque[tuple[Any, float]] = collections.deque()
        self._bytes = 0.0
        self._lock = threading.RLock()
        self._limit = float(settings.in_flight_bytes or self._store_bytes() * 0.4)
        self.overhead: Overhead | None = None
        self.submitted = 0
        self.waited = 0
        self.timings: list[Any] | None = None  # of every task, while somebody asks for them
        self.observer: Callable[[str, str, float, float], None] | None = None

    def _store_bytes(self) -> float:
        return float(self._ray.cluster_resources().get("object_store_memory", 1e9))

    @property
    def processors(self) -> float:
        return float(self._ray.cluster_resources().get("CPU", 1.0))

    def put(self, value: Any) -> Any:
        """A handle for a value of the caller's; a small array is its own, and travels with the tasks that take it."""
        if isinstance(value, np.ndarray) and value.nbytes <= _INLINE:
            copy = np.array(value)
            copy.flags.writeable = False
            return copy
        start = perf_counter()
        reference = self._ray.put(value)
        self._observe("put", f"{getattr(value, 'nbytes', 0)} bytes", start)
        return reference

    def submit(self, task: Task, kernel: Kernel, objects: Sequence[Any], size: float) -> list[Any]:
        with self._lock:
            sent = self._sent.get(kernel.digest)
            if sent is None:
                sent = self._sent[kernel.digest] = self._ray.put(kernel)
            timed = self.timings is not None
            count = work.results_of(task, kernel) + timed
            remote = self._options("tile", self._tile, count)
            results = remote.remote(task, kernel.digest, [sent], timed, *objects)
            handles: list[Any] = [results] if count == 1 else list(results)
            self._flies(handles[0], size)
            if self.timings is not None:
                self.timings.append(handles.pop())
        return handles

    def call(self, name: str, function: Callable[..., Any], first: Any, objects: Sequence[Any], size: float) -> Any:
        with self._lock:
            handle = self._options("call", self._call, 1).remote(function, first, *objects)
            self._flies(handle, size)
        return handle

    def _options(self, kind: str, remote: Any, count: int) -> Any:
        """A remote function with this many results (made once: Ray takes its time)."""
        device = self.settings.device if kind == "tile" else ""
        key = (kind, count, self.settings.cpus_per_task, device)
        known = self._ready.get(key)
        if known is None:
            known = remote.options(
                num_returns=count, num_cpus=self.settings.cpus_per_task, max_retries=5, **self._asking(device)
            )
            self._ready[key] = known
        return known

    def _asking(self, device: str) -> dict[str, Any]:
        """What a task says that it needs: a GPU as Ray knows them, other devices as a resource of their name."""
        if not device:
            return {}
        resource = "GPU" if device == "cuda" else device
        if not self._ray.cluster_resources().get(resource):
            remedy = "ray start --num-gpus=N" if device == "cuda" else f"ray start --resources='{{\"{device}\": 1}}'"
            raise ClusterError(f"no node of the cluster offers {resource!r}\n  try:   {remedy}")
        return {"num_gpus": 1} if device == "cuda" else {"resources": {device: 1}}

    def _flies(self, handle: Any, size: float) -> None:
        """Count a task, and wait for the oldest while too much is asked for and not yet there."""
        self.submitted += 1
        self._flying.append((handle, size))
        self._bytes += size
        while len(self._flying) > 1 and (
            self._bytes > self._limit or len(self._flying) > self.settings.in_flight_tasks
        ):
            oldest, its = self._flying.popleft()
            start = perf_counter()
            self._ray.wait([oldest], fetch_local=False)
            self.waited += 1
            self._bytes -= its
            self._observe("wait", "for the oldest task", start)

    def get(self, handles: Sequence[Any]) -> list[Any]:
        start = perf_counter()
        found = list(handles)
        remote = [at for at, handle in enumerate(found) if not isinstance(handle, np.ndarray)]
        for at, value in zip(remote, self._ray.get([found[at] for at in remote]) if remote else ()):
            found[at] = value
        self._observe("get", f"{len(handles)} objects", start)
        return found

    def _observe(self, kind: str, text: str, start: float) -> None:
        if self.observer is not None:
            self.observer(kind, text, start, perf_counter())

    def measured(self) -> Overhead:
        """What a task costs here, found out once."""
        if self.overhead is None:
            self._ray.get(self._call.remote(_nothing, 0))
            start = perf_counter()
            self._ray.get(self._call.remote(_nothing, 0))
            alone = perf_counter() - start
            start = perf_counter()
            self._ray.get([self._call.remote(_nothing, 0) for _ in range(20)])
            self.overhead = Overhead(alone, (perf_counter() - start) / 20)
        return self.overhead


def _nothing(first: Any, objects: Any) -> None:
    """An empty task."""


def _started(settings: Settings) -> Any:
    """Ray, connected: to what the program is already connected to, the address given, or a cluster of our own."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")  # Ray would put a function of its own in the place of print
    try:
        import ray
    except ImportError as problem:
        text = "target='ray' needs Ray, which is not installed\n  try:   pip install 'weft[ray]'"
        raise ClusterError(text) from problem
    if ray.is_initialized():
        return ray
    address = settings.address or os.environ.get("RAY_ADDRESS")
    if address:
        _look(address)
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        if address:
            ray.init(address=address, **options)
        else:
            # "local": a cluster that somebody else runs on this machine is not ours to use unasked.
            options |= {"address": "local", "include_dashboard": False, "num_cpus": settings.num_cpus}
            options["_system_config"] = {"free_objects_period_milliseconds": _FREEING}
            if settings.device == "opencl":
                options["resources"] = {"opencl": 1}
            if settings.object_store_memory is not None:
                options["object_store_memory"] = settings.object_store_memory
            os.environ.setdefault("RAY_AUTH_MODE", "disabled")
            ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as problem:
        raise _missing(address, problem) from problem
    return ray


def _look(address: str) -> None:
    """Whether anybody listens at an address: Ray itself would end the process if nobody does."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host or "127.0.0.1", int(port)), timeout=_PATIENCE).close()
    except OSError as problem:
        raise _missing(address, problem) from problem


def _missing(address: str | None, problem: Exception) -> ClusterError:
    where = f"at {address!r}" if address else "on this machine"
    remedy = "check that `ray start --head` ran there" if address else "see what `ray start --head` says"
    return ClusterError(f"there is no Ray cluster {where}: {problem}\n  try:   {remedy}")


_engine: RayEngine | None = None
_lock = threading.Lock()


def engine() -> RayEngine:
    """The connection of this process, made at the first use."""
    global _engine
    with _lock:
        if _engine is None or not _engine._ray.is_initialized():
            _engine = RayEngine(current())
        elif _engine.settings != current():
            _engine.settings = current()
        return _engine


def is_connected() -> bool:
    return _engine is not None and bool(_engine._ray.is_initialized())


def shutdown() -> None:
    """Leave the cluster; one that was started here ends."""
    global _engine
    with _lock:
        if _engine is not None:
            _engine._ray.shutdown()
        _engine = None
