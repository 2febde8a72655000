"""What this machine is good at.  In: measurements, kept on disk once they were made; out: the limits of `weft.limits`
by which compiled code chooses at run time.

A measurement takes about a second, so that no call waits for one: until there is one the shipped limits hold.  It is
made by `weft doctor --calibrate`, and by itself once on a machine, in a process that has compiled something and sits
idle (a notebook that waits for its user; WEFT_CALIBRATE=0 forbids it).  What is measured takes effect in processes that
start afterwards.  A measurement that nobody asked for only decides about threads, on which no result depends; one that
was asked for also decides from which size on the library computes a product, which may change the last bits of sums as
floating-point mode "numpy" allows.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.limits import LIMIT, LIMITS, PLACES
from weft.records import dataclass
from weft.runtime import trusted
from weft.runtime.cache import default_cache, digest
from weft.runtime.threads import get_num_threads
from weft.runtime.toolchain import cpu_identity

_FORMAT = 1
#: Nanoseconds an element (of 4096, in the first caches) that the rates of `weft.analysis.cost` stand for at 3 GHz.
SHIPPED: Final[dict[str, float]] = {
    "stream": 0.43,
    "arithmetic": 0.53,
    "division": 0.68,
    "root": 1.0,
    "exponential": 0.93,
    "gathering": 0.5,
    "recurrence": 2.3,
}
_CYCLE_NS = 1 / 3.0
#: A region should gain at least so many times what it costs.
_WORTH = 2.0
_CROWDED = LIMIT["crowded"].default / LIMIT["parallel"].default
#: Sizes at which the library and plain loops are compared, and the multiplications of one product of that size.
_PRODUCTS: Final[tuple[tuple[str, tuple[int, ...], int], ...]] = (
    ("gemm", (2, 3, 4, 6, 8, 12, 16, 24, 32), 3),
    ("gemv", (4, 8, 12, 16, 24, 32, 48, 64, 96), 2),
    ("dot", (16, 32, 64, 128, 256, 512, 1024, 2048), 1),
)
_RUNS = 7


@dataclass(frozen=True)
class Measurement:
    """`asked`: by the user.  `numbers`: nanoseconds and bytes by name; `crossings`: multiplications of each product
    from which the library was faster."""

    asked: bool
    threads: int
    numbers: Mapping[str, float]
    crossings: Mapping[str, float]

    @property
    def slowness(self) -> float:
        """How much longer loops take here than the shipped rates say."""
        known = [self.numbers[name] / shipped for name, shipped in SHIPPED.items() if self.numbers.get(name, 0.0) > 0.0]
        return math.exp(sum(map(math.log, known)) / len(known)) if known else 1.0


def limits_of(found: Measurement | None) -> dict[str, float]:
    """The limits for a machine that was measured so; the shipped ones where nothing is known."""
    limits = {limit.name: limit.default for limit in LIMITS}
    if found is None:
        return limits
    region = found.numbers.get("region_asleep", 0.0)
    if region > 0.0 and found.threads > 1:
        enough = _WORTH * region * found.threads / (found.threads - 1)
        limits["parallel"] = _within(enough / (_CYCLE_NS * found.slowness), limits["parallel"], 8.0)
        limits["crowded"] = _CROWDED * limits["parallel"]
    for name in ("first_cache", "private_cache", "shared_cache"):
        limits[name] = found.numbers.get(name) or limits[name]
    if found.asked:
        for name, crossing in found.crossings.items():
            limits[name] = _power_of_four(_within(crossing, LIMIT[name].default, 32.0))
        gathered, product = (found.numbers.get(name, 0.0) for name in ("gathering", "gemm_multiplication"))
        if gathered > 0.0 and product > 0.0:  # an entry of a sparse product looks up a place, and goes there and back
            limits["sparse"] = _power_of_four(_within(4 * gathered / product, LIMIT["sparse"].default, 8.0))
    return limits


def _power_of_four(value: float) -> float:
    """Two measurements of one machine should give the same results to the last bit."""
    return float(4.0 ** round(math.log2(value) / 2))


def _within(value: float, around: float, factor: float) -> float:
    return min(max(value, around / factor), around * factor)


# --- on disk ---------------------------------------------------------------------------------------------------------


def _place(library: str | None = None) -> Path:
    """The file of this machine's measurement: by processor, threads and BLAS."""
    if library is None:
        from weft.runtime import dispatch

        core = dispatch.load_core()
        library = "" if core is None or core.blas is None else core.blas.path
    library = os.path.basename(library)
    name = digest(_FORMAT, cpu_identity(), get_num_threads(), library)
    return default_cache().store / "auxiliary" / "machine" / f"{name}.json"


def stored(place: Path | None = None) -> Measurement | None:
    """The measurement of this machine, if one was made; a file that cannot be read is none."""
    try:
        data = json.loads(trusted.read(place or _place()))
        numbers = {str(name): float(value) for name, value in data["numbers"].items()}
        crossings = {str(name): float(value) for name, value in data["crossings"].items() if name in LIMIT}
        found = Measurement(bool(data["asked"]), int(data["threads"]), numbers, crossings)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    sane = all(math.isfinite(value) and value >= 0.0 for value in (*numbers.values(), *crossings.values()))
    return found if sane and all(crossings.values()) else None


def keep(found: Measurement) -> Path:
    """Write a measurement beside the cache, in one step."""
    place = _place()
    default_cache().auxiliary("machine")
    staged = place.with_suffix(f".{os.getpid()}")
    content = {
        "asked": found.asked,
        "threads": found.threads,
        "numbers": dict(found.numbers),
        "crossings": dict(found.crossings),
        "processor": cpu_identity().partition("; flags=")[0],
    }
    staged.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
    staged.chmod(0o644)
    os.replace(staged, place)
    return place


def limits_here() -> dict[str, float]:
    """The limits that kernels of this process use."""
    return dict(_limits) if _limits else limits_of(None)


_limits: dict[str, float] = {}


def attach(setter: Callable[[Sequence[float]], object], library: str) -> None:
    """Tell the native core the limits of this machine."""
    global _limits
    _limits = limits_of(stored(_place(library)))
    values = [_limits[limit.name] for limit in LIMITS]
    setter(values + [0.0] * (PLACES - len(values)))


# --- measuring -------------------------------------------------------------------------------------------------------


def measure(asked: bool = True) -> Measurement | None:
    """Measure this machine, in about a second; None where there is no native core."""
    import numpy as np

    from weft.runtime import dispatch, toolchain

    core, chain = dispatch.load_core(), toolchain.find()
    if core is None or chain is None:
        return None
    text = f"#define WEFT_LIBMVEC {int(chain.supports_libmvec)}\n" + dispatch.native_source("measure.c")
    library = _typed(dispatch.load_library(chain.build_shared(text, name="weft_measure"), ctypes.CDLL))
    numbers = cache_sizes()
    n = 4096
    rng = np.random.default_rng(0)
    arrays = [np.full(1 << 16, 0.5), rng.random(1 << 16), rng.random(1 << 16)]
    at = rng.integers(0, n, n)
    for kind, name in enumerate(SHIPPED):
        numbers[name] = library.weft_measure_loop(kind, n, *map(_pointer, arrays), at.ctypes.data, _RUNS)
    numbers |= _bandwidths(library, numbers)
    threads = get_num_threads()
    table = core.runtime_table
    if threads > 1:
        numbers["region_awake"] = library.weft_measure_region(table, threads, 0, 200)
        numbers["region_asleep"] = library.weft_measure_region(table, threads, 300_000, 25)
    crossings: dict[str, float] = {}
    for routine, (name, sizes, power) in enumerate(_PRODUCTS):
        crossing = _crossing(library, table, routine, sizes, arrays)
        if crossing is not None:
            crossings[name] = float(crossing**power)
    large = 128
    seconds = library.weft_measure_product(table, 0, 1, large, *map(_pointer, arrays), _RUNS)
    numbers["gemm_multiplication"] = seconds / large**3
    return Measurement(asked, threads, numbers, crossings)


def _pointer(array: Any) -> int:
    address: int = array.ctypes.data
    return address


def _typed(library: ctypes.CDLL) -> ctypes.CDLL:
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    for name, kinds in (
        ("loop", [number, number, pointer, pointer, pointer, pointer, number]),
        ("region", [pointer, number, number, number]),
        ("product", [pointer, number, number, number, pointer, pointer, pointer, number]),
    ):
        function = getattr(library, f"weft_measure_{name}")
        function.argtypes, function.restype = kinds, ctypes.c_double
    return library


def _crossing(library: Any, table: int, routine: int, sizes: tuple[int, ...], arrays: list[Any]) -> int | None:
    """The smallest size from which on the library is never slower; None without the library's routine."""
    faster: int | None = None
    for n in sizes:
        own, theirs = (
            library.weft_measure_product(table, routine, which, n, *map(_pointer, arrays), _RUNS) for which in (0, 1)
        )
        if theirs == 0.0:
            return None
        if theirs > own:
            faster = None
        elif faster is None:
            faster = n
    return 2 * sizes[-1] if faster is None else faster


def _bandwidths(library: Any, sizes: Mapping[str, float]) -> dict[str, float]:
    """Bytes a nanosecond of a stream from each level: three arrays that together fill half of it."""
    import numpy as np

    last = sizes.get("shared_cache") or LIMIT["shared_cache"].default
    levels = {
        "first_cache": (sizes.get("first_cache") or 32e3) / 2,
        "private_cache": (sizes.get("private_cache") or 1e6) / 2,
        "shared_cache": min(last / 2, 12e6),
        "memory": min(2 * last, 96e6),
    }
    found: dict[str, float] = {}
    for name, total in levels.items():
        n = max(int(total / 24), 64)
        arrays = [np.full(n, 0.5) for _ in range(3)]
        each = library.weft_measure_loop(0, n, *map(_pointer, arrays), 0, _RUNS if n < 1e6 else 3)
        found[f"bytes_{name}"] = 24.0 / each
    return found


def cache_sizes(root: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> dict[str, float]:
    """Bytes of the first data cache, of the largest that one core has alone, and of the last; what is known of it."""
    found: dict[str, float] = {}
    for index in sorted(root.glob("index*")):
        try:
            kind, level = (index / "type").read_text().strip(), int((index / "level").read_text())
            text = (index / "size").read_text().strip()
            alone = _processors((index / "shared_cpu_list").read_text()) <= 2  # the threads of one core
        except (OSError, ValueError):
            continue
        size = float(text[:-1]) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 0)
        if kind == "Instruction" or size <= 0.0:
            continue
        if level == 1:
            found["first_cache"] = size
        if alone and level <= 2:
            found["private_cache"] = max(size, found.get("private_cache", 0.0))
        found["shared_cache"] = max(size, found.get("shared_cache", 0.0))
    return found


def _processors(listed: str) -> int:
    """How many processors a list such as 0-3,8 names."""
    total = 0
    for part in listed.strip().split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total


# --- by itself, when nothing else happens ----------------------------------------------------------------------------

_IDLE_SHARE = 0.05
_PATIENCE = 600.0
_considered = threading.Event()


def consider() -> None:
    """After a compilation: wait for an idle moment to measure this machine, if that was never done."""
    if _considered.is_set():
        return
    _considered.set()
    if os.environ.get("WEFT_CALIBRATE", "1") in ("", "0") or platform.system() != "Linux" or stored() is not None:
        return
    threading.Thread(target=_when_idle, name="weft-calibrate", daemon=True).start()


def _when_idle(pause: float = 1.0) -> None:
    """Measure once this process has used no processor for three pauses in a row, and others leave one free."""
    quiet, end = 0, time.monotonic() + _PATIENCE
    used = time.process_time()
    while time.monotonic() < end:
        time.sleep(pause)
        now = time.process_time()
        idle = now - used < _IDLE_SHARE * pause and os.getloadavg()[0] < max(1, (os.cpu_count() or 1) - 1)
        quiet, used = quiet + 1 if idle else 0, now
        if quiet >= 3:
            if stored() is None:
                _measure_and_keep()
            return


def _measure_and_keep() -> None:
    from weft.errors import CompileError

    try:
        found = measure(asked=False)
        if found is not None:
            keep(found)
    except (OSError, CompileError):
        return  # nobody asked: the shipped limits go on to hold
