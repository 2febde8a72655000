"""The facts behind `weft doctor`. In comes the machine as it is; out comes a list of facts, each with a verdict and,
where something could be better, one thing to do. Nothing here fails: what cannot be found out is itself a fact.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Callable
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path
from time import perf_counter
from typing import Literal

from weft.errors import INSTALL, OptionError
from weft.options import Options, make_options
from weft.records import dataclass
from weft.runtime.cache import default_cache
from weft.runtime.toolchain import cpu_identity, examine, find

Status = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Fact:
    """One line of the report; `remedy` is empty where nothing needs to be done."""

    topic: str
    status: Status
    text: str
    remedy: str = ""


def facts() -> tuple[Fact, ...]:
    """Everything `weft doctor` shows, in order."""
    sections: tuple[tuple[str, Callable[[], list[Fact]]], ...] = (
        ("weft", _weft),
        ("python", _python),
        ("numpy", _numpy),
        ("compiler", _compilers),
        ("core", _core),
        ("cpu", _cpu),
        ("threads", _threads),
        ("blas", _blas),
        ("machine", _machine),
        ("cache", _cache),
        ("compiling", _compiling),
        ("bytecode", _bytecode),
        ("isl", _isl),
        ("extras", _extras),
        ("settings", _settings),
    )
    found: list[Fact] = []
    for topic, section in sections:
        try:
            found += section()
        except Exception as problem:  # a report about a broken machine must reach its end
            found.append(Fact(topic, "bad", f"cannot be examined: {type(problem).__name__}: {problem}"))
    return tuple(found)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _weft() -> list[Fact]:
    from weft import __version__

    disabled = os.environ.get("WEFT_DISABLE", "0") not in ("", "0")
    if disabled:
        return [Fact("weft", "note", f"{__version__}, switched off by WEFT_DISABLE", "unset WEFT_DISABLE")]
    return [Fact("weft", "good", __version__)]


def _python() -> list[Fact]:
    text = f"{platform.python_implementation()} {platform.python_version()} on {platform.platform(terse=True)}"
    out = [Fact("python", "good", f"{text}, {sys.executable}")]
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        remedy = "use a build with the GIL for the native dispatcher"
        out.append(Fact("python", "note", "a free-threaded build: calls go through the dispatcher in Python", remedy))
    return out


def _numpy() -> list[Fact]:
    import numpy

    if int(numpy.__version__.split(".")[0]) < 2:
        return [Fact("numpy", "bad", numpy.__version__, "pip install 'numpy>=2'")]
    return [Fact("numpy", "good", numpy.__version__)]


def _compilers() -> list[Fact]:
    out: list[Fact] = []
    chosen = False
    for verdict in examine():
        command = " ".join(verdict.command)
        if verdict.toolchain is None:
            # A compiler that is not there is no news; one that is there and does not work is.
            absent = verdict.reason == "not found" and verdict.origin != "$CC"
            out.append(Fact("compiler", "note" if absent or chosen else "bad", f"{command}: {verdict.reason}"))
            continue
        tools = verdict.toolchain
        vector = "with vector mathematics (libmvec)" if tools.supports_libmvec else "without vector mathematics"
        role = "used" if not chosen else "not needed"
        out.append(Fact("compiler", "good", f"{command}: {tools.version}, {vector}; {role} (from {verdict.origin})"))
        chosen = True
    if not chosen:
        remedy = INSTALL
        out.append(Fact("compiler", "bad", "none works: the slower Python back end is used", remedy))
    return out


def _core() -> list[Fact]:
    import warnings

    from weft.runtime import dispatch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is told here
        problem = dispatch.core_problem()
    if problem is None:
        return [Fact("core", "good", "the native core is loaded")]
    expected = dispatch.core_is_expected()
    text = f"{' '.join(problem.split())}: calls go through the dispatcher in Python"
    remedy = "WEFT_VERBOSE=1 weft doctor shows everything the compiler said" if expected else ""
    return [Fact("core", "bad" if expected else "note", text, remedy)]


def _cpu() -> list[Fact]:
    fields = dict(part.split("=", 1) for part in cpu_identity().split("; ") if "=" in part)
    name = fields.get("model name") or platform.processor() or platform.machine()
    features = set((fields.get("flags") or fields.get("Features") or "").split())
    widest = next((label for flag, label in _VECTOR_UNITS if flag in features), "vector unit unknown")
    return [Fact("cpu", "good", f"{name}, {platform.machine()}, {widest}, {os.cpu_count()} logical cores")]


_VECTOR_UNITS = (
    ("avx512f", "AVX-512"),
    ("avx2", "AVX2"),
    ("avx", "AVX"),
    ("sse4_2", "SSE4.2"),
    ("sve", "SVE"),
    ("asimd", "NEON"),
)


def _threads() -> list[Fact]:
    from weft.runtime.threads import get_num_threads

    set_by = [name for name in ("WEFT_NUM_THREADS", "OMP_NUM_THREADS") if os.environ.get(name)]
    origin = f"from {set_by[0]}" if set_by else "from the processors this process may use"
    return [Fact("threads", "good", f"{get_num_threads()}, {origin}")]


def _blas() -> list[Fact]:
    import numpy  # noqa: F401 (NumPy brings the library that is looked for)

    from weft.runtime import blas

    table = blas.find()
    if table is None:
        remedy = "a NumPy wheel from PyPI or conda-forge brings one"
        return [Fact("blas", "note", "none found in this process: products use weft's own loops", remedy)]
    absent = [name for name, address in zip(blas.FUNCTIONS, table.addresses) if not address]
    integers = "64-bit" if table.ilp64 else "32-bit"
    missing = f", without {', '.join(absent)}" if absent else ""
    return [Fact("blas", "good", f"{os.path.basename(table.path)}, {integers} integers{missing}")]


def _machine() -> list[Fact]:
    from weft.runtime import machine

    found = machine.stored()
    limits = machine.limits_of(found)
    threads = f"threads from {limits['parallel']:.0f} cycles of work"
    products = ", ".join(f"{name} from {limits[name]:.0f} multiplications" for name in ("gemm", "gemv", "dot"))
    if found is None:
        remedy = "weft doctor --calibrate measures this machine in about a second"
        return [Fact("machine", "note", f"not measured, shipped limits: {threads}; {products}", remedy)]
    speed = f"loops take {found.slowness:.2f} of the time of the shipped model"
    told = "" if found.asked else " (measured while idle: products keep the shipped limits)"
    return [Fact("machine", "good", f"{speed}; {threads}; {products}{told}")]


def _cache() -> list[Fact]:
    info = default_cache().info()
    text = f"{info.directory}: {info.entries} entries, {info.bytes / 1e6:.1f} of {info.limit / 1e6:.0f} MB"
    if not info.writable:
        remedy = "set WEFT_CACHE_DIR to a writable directory"
        return [Fact("cache", "bad", f"{text}; not writable, so nothing is kept between processes", remedy)]
    return [Fact("cache", "good", text)]


#: Seconds for a file of one line above which the compiler itself is why first calls are slow.
_SLOW_COMPILER = 1.0


def _compiling() -> list[Fact]:
    """Why a first call takes long: what the compiler needs here, and whether later processes need it again."""
    compiler = find()
    if compiler is None:
        return [Fact("compiling", "note", "without a C compiler a first call only generates Python")]
    start = perf_counter()
    compiler.assembly("int weft_nothing(int x) { return x + 1; }\n")
    took = perf_counter() - start
    text = f"a first call runs the C compiler: {took:.2g} s for one line here, often a second for a function"
    if took > _SLOW_COMPILER:
        remedy = "a compiler on a local disk (CC=...); on a loaded machine try again"
        return [Fact("compiling", "note", f"{text}: the compiler is slow", remedy)]
    if not default_cache().info().writable or not make_options().cache:
        remedy = "a cache that can be written and is on (WEFT_CACHE_DIR, WEFT_CACHE)"
        return [Fact("compiling", "note", f"{text}; every process compiles again, for nothing is kept", remedy)]
    return [Fact("compiling", "good", f"{text}; later processes load what is kept")]


def _bytecode() -> list[Fact]:
    """Whether Python finds the bytecode of weft's own modules, or compiles their source in every process."""
    folder = Path(__file__).resolve().parents[1]
    sources = list(folder.rglob("*.py"))
    absent = sum(not _has_bytecode(source) for source in sources)
    if not absent:
        return [Fact("bytecode", "good", f"kept for all {len(sources)} modules of weft")]
    text = f"none for {absent} of the {len(sources)} modules of weft"
    if not sys.dont_write_bytecode and os.access(folder, os.W_OK):
        return [Fact("bytecode", "good", f"{text}: Python writes it when they are first imported")]
    reason = "PYTHONDONTWRITEBYTECODE is set" if sys.dont_write_bytecode else f"{folder} cannot be written"
    text = f"{text}, and {reason}: the first compilation in each process takes up to a second longer"
    return [Fact("bytecode", "note", text, f"{sys.executable} -m compileall -q {folder}")]


def _has_bytecode(source: Path) -> bool:
    kept = Path(cache_from_source(str(source)))
    return kept.exists() and kept.stat().st_mtime >= source.stat().st_mtime


def _isl() -> list[Fact]:
    version = _version("islpy")
    if version is None:
        return [Fact("isl", "bad", "islpy is not installed", "pip install islpy")]
    return [Fact("isl", "good", f"islpy {version}")]


def _extras() -> list[Fact]:
    purposes = {"scipy": "SciPy's functions", "ziglang": "a C compiler as a wheel", "rich": "coloured tables"}
    purposes |= {"pyopencl": 'target="opencl"', "ray": 'target="ray"', "mpi4py": 'target="mpi"'}
    out = []
    for name, purpose in purposes.items():
        version = _version(name)
        text = f"{name} {version}" if version else f"{name} is not installed ({purpose})"
        out.append(Fact("extras", "good" if version else "note", text))
    return out


def _settings() -> list[Fact]:
    try:
        options = make_options()
    except OptionError as problem:
        return [Fact("settings", "bad", str(problem), "correct or unset that variable")]
    default = Options()
    changed = [f"{name}={value!r}" for name, value in vars(options).items() if value != getattr(default, name)]
    return [Fact("settings", "good", ", ".join(changed) or "all options at their defaults")]
