"""One attempt at an application, in a process of its own: `harness.worker` over CPython (the reference), Numba, Cython,
textbook C and weft. The clock stands around whole calls, the conversion of lists included.
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from benchmarks.apps import textbook
from benchmarks.apps.registry import Application, fresh, load, same
from benchmarks.harness.job import BY_HAND, SAME, Job, Nothing, Prepared
from benchmarks.harness.sources import gather, load_text
from benchmarks.harness.worker import Worker, main
from benchmarks.kernels.registry import Arguments

CPYTHON, NUMBA, CYTHON, C, WEFT, WEFT_THREADS = "cpython", "numba", "cython", "c", "weft", "weft-threads"
PORTS = Path(__file__).resolve().parent / "cython"


class ApplicationWorker(Worker):
    def __init__(self, job: Job, out: TextIO) -> None:
        self.application: Application = load(job.kernel)
        super().__init__(job, out)
        self.compiled: Any = None

    def described(self) -> Application:
        return self.application

    def preparing(self) -> Callable[[Job, Any, Arguments], Prepared]:
        return {NUMBA: self._numba, CYTHON: self._cython, C: self._c, CPYTHON: self._plain}.get(
            self.job.framework, self._weft
        )

    def _plain(self, job: Job, application: Application, sample: Arguments) -> Prepared:
        return Prepared(lambda staged: application.function(*staged), stage=fresh)

    def _weft(self, job: Job, application: Application, sample: Arguments) -> Prepared:
        from weft.api import jit

        self.compiled = jit(fallback="error")(application.function)
        return Prepared(lambda staged: self.compiled(*staged), stage=fresh)

    def _numba(self, job: Job, application: Application, sample: Arguments) -> Prepared:
        warnings.simplefilter("ignore")
        function = application.numba_form
        text = gather(function).text("@numba.njit", "import numba")
        compiled = getattr(load_text(text, job.path, "numba_port"), function.__name__)
        origin = SAME if function is application.function else BY_HAND
        return Prepared(lambda staged: compiled(*staged), origin, stage=numba_arguments, finish=_from_numba)

    def _cython(self, job: Job, application: Application, sample: Arguments) -> Prepared:
        port = PORTS / f"{application.name}.pyx"
        if not port.is_file():
            raise Nothing("there is no port")
        function = getattr(build_cython(port, job.path), application.name)
        return Prepared(lambda staged: function(*staged), BY_HAND, stage=fresh)

    def _c(self, job: Job, application: Application, sample: Arguments) -> Prepared:
        if application.name not in textbook.RESULTS:
            raise Nothing("there is no textbook C")
        function = textbook.build(application.name, job.path)
        return Prepared(function, BY_HAND, stage=lambda arguments: textbook.staged(fresh(arguments)))

    def check(self, value: Any, arguments: Arguments) -> str:
        path = Path(self.job.expected)
        if self.job.framework == CPYTHON:
            path.write_bytes(pickle.dumps((value, arguments), protocol=4))
            return ""
        wanted, left = pickle.loads(path.read_bytes())
        if not same(value, wanted, self.application.tolerance):
            return "the result differs from CPython's"
        for position, (after, expected) in enumerate(zip(arguments, left)):
            if not same(after, expected, self.application.tolerance):
                return f"argument {position} is left with other contents than by CPython"
        return ""

    def facts(self) -> dict[str, Any]:
        return {} if self.compiled is None else {"stats": {key: self.compiled.stats[key] for key in ("python_calls",)}}


def numba_arguments(arguments: Arguments) -> Arguments:
    """Lists as Numba's own, made before the clock starts."""
    import numba

    def converted(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        made = numba.typed.List()
        for item in value:
            made.append(converted(item))
        return made

    return tuple(converted(value) for value in fresh(arguments))


def _from_numba(value: Any, staged: Any) -> tuple[Any, Arguments]:
    return _as_lists(value), tuple(_as_lists(one) for one in staged)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if type(value).__name__ == "List" else value


def build_cython(port: Path, directory: Path) -> Any:
    """A port as a module, compiled as an extension by the flags that C gets."""
    from Cython.Compiler.Main import CompilationOptions
    from Cython.Compiler.Main import compile as translate

    generated = directory / f"{port.stem}.c"
    options = CompilationOptions(output_file=str(generated), language_level=3)
    if translate(str(port), options=options).num_errors:
        raise RuntimeError("Cython refuses the port")
    made = directory / f"{port.stem}.so"
    subprocess.run(["gcc", *textbook.FLAGS, *_include(), "-o", str(made), str(generated), "-lm"], check=True)
    spec = importlib.util.spec_from_file_location(port.stem, made)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _include() -> tuple[str, ...]:
    import sysconfig

    return ("-I" + sysconfig.get_paths()["include"], "-w")


if __name__ == "__main__":
    sys.exit(main(ApplicationWorker))
