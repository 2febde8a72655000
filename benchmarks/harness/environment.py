"""Where the workers run. In come a framework and a number of threads; out come an interpreter that has it (DaCe's is
made here, once) and the environment variables that hold every library to those threads and to an empty cache.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness.peers import Framework, framework_of

ROOT = Path(__file__).resolve().parents[2]
CACHE = "cache"  # of weft, in the directory of an attempt
DACE = ("dace==1.0.2", "numpy<2", "networkx<3.3", "scipy")
#: DaCe multiplies matrices by plain loops unless it finds a BLAS with its headers.
DACE_BLAS = ("mkl-devel",)
THREADS = (
    "WEFT_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
)  # fmt: skip


def variables(framework: str, threads: int, directory: Path, tree: Path, python: Path) -> dict[str, str]:
    """The environment of a worker; `tree` is the checkout whose weft it takes."""
    directory.mkdir(parents=True, exist_ok=True)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "NUMBA_", "XLA_", "JAX_"))
    }
    path = [str(ROOT)]
    if framework_of(framework).name == "weft":
        path.insert(0, str(tree / "src"))
    return {
        **kept,
        **dict.fromkeys(THREADS, str(threads)),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "WEFT_CACHE_DIR": str(directory / CACHE),
        # The cache is empty, and a worker waits while the others run: it would measure the machine in their time.
        "WEFT_CALIBRATE": "0",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
        "TMPDIR": str(directory),
        **_for_blas(framework, python, directory),
    }


def _for_blas(framework: str, python: Path, directory: Path) -> dict[str, str]:
    """Pythran and DaCe link a BLAS of their own, and have to be told where it is."""
    if framework == "pythran" and importlib.util.find_spec("scipy_openblas64") is not None:
        settings = directory / "pythranrc"
        settings.write_text("[compiler]\nblas=scipy-openblas\n", encoding="utf-8")
        return {"PYTHRANRC": str(settings)}
    home = python.parent.parent
    if framework == "dace" and (home / "include" / "mkl.h").is_file():
        # One OpenMP for both: MKL's own would compete with the one of DaCe's programs.
        return {"MKLROOT": str(home), "LD_LIBRARY_PATH": str(home / "lib"), "MKL_THREADING_LAYER": "GNU"}
    return {}


def memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def pin(threads: int) -> None:
    """Hold this process and its children to as many processors as there are threads: XLA takes all that it sees."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[:threads])


def interpreter(framework: Framework, say: Callable[[str], None]) -> tuple[str | None, str]:
    """The Python that has a framework, or None and the reason."""
    if framework.own_environment:
        return _dace_interpreter(say)
    if importlib.util.find_spec(framework.package) is None:
        return None, f"{framework.package} is not installed: pip install 'weft[bench]'"
    return sys.executable, ""


def _cache_directory() -> Path:
    """Beside weft's cache in the user's directory, whatever cache this process has been given."""
    from weft.runtime.cache import default_directory

    usual = {name: value for name, value in os.environ.items() if name != "WEFT_CACHE_DIR"}
    return default_directory(usual).parent / "weft-bench"


def _dace_interpreter(say: Callable[[str], None]) -> tuple[str | None, str]:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = _cache_directory() / f"dace-1.0.2-python{version}"
    python = home / "bin" / "python"
    stamp = home / "complete"
    if stamp.is_file():
        return str(python), ""
    say(f"making an environment for DaCe in {home} (once; a minute or two)")
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    steps = (
        ("an empty environment", [sys.executable, "-m", "venv", str(home)]),
        (" ".join(DACE), [*pip, *DACE]),
        ("a first look", [str(python), "-c", "import dace"]),
    )
    for what, command in steps:
        problem = _step(what, command, say)
        if problem:
            shutil.rmtree(home, ignore_errors=True)
            return None, f"DaCe's environment cannot be made: {problem}"
    if _step(" ".join(DACE_BLAS), [*pip, *DACE_BLAS], say):
        say("  no BLAS for DaCe on this platform: its matrix products are plain loops")
    for library in (home / "lib").glob("libmkl_rt.so.*"):
        (home / "lib" / "libmkl_rt.so").symlink_to(library.name)  # the name that DaCe looks for
    stamp.touch()
    return str(python), ""


def _step(what: str, command: list[str], say: Callable[[str], None]) -> str:
    """Run one command, telling what it collects and installs; the last line of what it said if it fails."""
    say(f"  {what} ...")
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last = line.strip() or last
            if line.startswith(("Collecting ", "Installing ")):
                say(f"    {line.strip()[:100]}")
    return "" if process.returncode == 0 else (last or f"exit code {process.returncode}")[:200]
