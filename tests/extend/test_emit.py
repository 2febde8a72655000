"""`weft build --emit` and `weft explain --steps`: modules that need no weft give what the source gives."""

from __future__ import annotations

import copy
import importlib
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.extend import elsewhere
from tests.support import opencl_device
from weft.cli import main
from weft.emit import arrays, forms, native, opencl, tasks
from weft.emit.modules import emitted, versions_of

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted(path.stem for path in (ROOT / "benchmarks" / "kernels").glob("*.py"))
FORMS = ("numpy_form", "loop_form")


def cases() -> list[tuple[str, str]]:
    found = []
    for name in KERNELS:
        module = importlib.import_module(f"benchmarks.kernels.{name}")
        if "tiny" in getattr(module, "SIZES", {}):
            found += [(name, form) for form in FORMS if hasattr(module, form)]
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None:
        return one is other
    single = np.asarray(one).dtype in (np.float32, np.complex64)
    tolerance = 1e-4 if single else 1e-9
    return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))


def compiled_form(name: str, form: str) -> tuple[Any, Any, Any]:
    """What makes a module of a form, the function and its arguments."""
    module = importlib.import_module(f"benchmarks.kernels.{name}")
    function = getattr(module, form)
    compiled = weft.jit(function, fallback="silent")
    arguments = module.initialise(module.SIZES["tiny"])
    compiled(*copy.deepcopy(arguments))
    text = Path(module.__file__ or "").read_text(encoding="utf-8")
    return (lambda kind: emitted(f"{name}.py", text, {form: versions_of(compiled)}, "0", kind)), function, arguments


def run(text: str, form: str) -> tuple[types.ModuleType, list[str]]:
    """The module, and a list of the variants that ran to their end."""
    module = types.ModuleType("emitted")
    exec(compile(text, "<emitted>", "exec"), module.__dict__)
    taken: list[str] = []

    def noting(name: str, variant: Any) -> Any:
        def call(*args: Any) -> Any:
            result = variant(*args)
            taken.append(name)
            return result

        return call

    for name in [key for key in vars(module) if re.fullmatch(rf"_{form}_\d+(_here)?", key)]:
        setattr(module, name, noting(name, getattr(module, name)))
    return module, taken


def check(made: Any, form: str, function: Any, arguments: Any, prepare: Any = None) -> list[str]:
    """The emitted module gives what the function gives; the variants that ran."""
    module, taken = run(made.text, form)
    if prepare is not None:
        prepare(module)
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    assert same(getattr(module, form)(*mine), function(*theirs))
    assert same(mine, theirs) and taken
    return taken


CASES = cases()
assert len(CASES) > 90


@pytest.mark.parametrize(("name", "form"), CASES, ids=[f"{name}-{form}" for name, form in CASES])
def test_the_corpus(name: str, form: str) -> None:
    """In Python, and for Ray and CuPy with stand-ins for both."""
    emit, function, arguments = compiled_form(name, form)
    made = emit(forms.PYTHON)
    assert made.variants == {form: 1} and not made.skipped
    assert "import weft" not in made.text and "from weft" not in made.text
    check(made, form, function, arguments)
    if form == "loop_form":
        return  # the same program, nearly always
    for kind, prepare in ((tasks.FORM, elsewhere.use_ray), (arrays.FORM, elsewhere.use_module)):
        away = emit(kind)
        assert "import weft" not in away.text and not away.skipped
        taken = check(away, form, function, arguments, prepare)
        assert form in away.notes or taken == [f"_{form}_1"] or not elsewhere.sizes(arguments), away.text


@pytest.mark.parametrize("name", ["hdiff", "gemm", "nussinov", "crc16", "mandelbrot2", "durbin", "nbody", "go_fast"])
def test_some_in_c(name: str) -> None:
    emit, function, arguments = compiled_form(name, "loop_form")
    check(emit(native.FORM), "loop_form", function, arguments)


#: Their routines of LAPACK are NumPy's machine code.
WITHOUT_C = {"cholesky2", "contour_integral"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KERNELS if (name, "numpy_form") in CASES])
def test_the_corpus_in_c(name: str) -> None:
    emit, function, arguments = compiled_form(name, "numpy_form")
    made = emit(native.FORM)
    assert bool(made.skipped) == (name in WITHOUT_C)
    if name not in WITHOUT_C:
        check(made, "numpy_form", function, arguments)


@pytest.mark.parametrize("name", ["hdiff", "gemm", "softmax"])
def test_some_in_opencl(name: str) -> None:
    opencl_device()
    emit, function, arguments = compiled_form(name, "numpy_form")
    taken = check(emit(opencl.FORM), "numpy_form", function, arguments, elsewhere.always)
    assert taken == ["_numpy_form_1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_the_corpus_in_opencl(name: str) -> None:
    opencl_device()
    if (name, "numpy_form") not in CASES:
        pytest.skip("it has no such form")
    emit, function, arguments = compiled_form(name, "numpy_form")
    check(emit(opencl.FORM), "numpy_form", function, arguments, elsewhere.always)


SOURCE = '''"""Two functions."""
import numpy as np
import weft

RATE = 2.0  # a constant


@weft.jit
def scaled(a, b=3.0, *, twice: bool = False):
    """a times b"""
    # this comment stays
    c = a * b * RATE
    if twice:
        c = c + c
    return c


@weft.jit(fallback="silent")
def checked(a, i: int):
    if i >= a.shape[0]:
        raise IndexError("too far")
    total = 0.0
    for k in weft.prange(a.shape[0]):
        total += a[k]
    return float(total) / i


def never_called(x):
    return x
'''
CALLS = ["scaled(np.ones(3), 2.0)", "checked(np.ones(3), 2)"]
PROGRAM = """
import sys, numpy as np
import kernels
assert "weft" not in sys.modules
a = np.arange(5.0)
assert np.array_equal(kernels.scaled(a, 2.0), a * 4)
assert np.array_equal(kernels.scaled(a), a * 6)
assert np.array_equal(kernels.scaled(a, b=1.0, twice=True), a * 4)
assert np.array_equal(kernels.scaled(np.arange(3), 2), np.arange(3) * 4.0)
assert kernels.scaled(1.5) == 9.0
assert kernels.checked(a, 2) == 5.0
for bad, error in ((0, ZeroDivisionError), (7, IndexError)):
    try:
        kernels.checked(a, bad)
    except error as problem:
        print(type(problem).__name__)
assert kernels.checked(np.ones(9, np.float32), 3) == 3.0
assert kernels.never_called(4) == 4
assert kernels.scaled.__doc__ == "a times b"
"""


@pytest.mark.parametrize("kind", ["python", "c", "opencl", "cupy", "ray"])
def test_the_command(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernels.py"
    source.write_text(SOURCE)
    calls = [word for call in CALLS for word in ("--call", call)]
    assert main(["build", "--emit", kind, str(source), "-o", str(tmp_path / "out"), *calls]) == 0
    told = capsys.readouterr()
    assert re.search(r"scaled: [12] variants?\n", told.out) and "never_called: as written" in told.err
    text = (tmp_path / "out" / "kernels.py").read_text()
    assert "# this comment stays" in text and "import weft" not in text and "@weft" not in text
    # Another directory than that of the source: weft is not on the path.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "out")}
    found = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["ZeroDivisionError", "IndexError"]


IMPORTS = """
import weft, math
import weft as w
from weft import f64, jit, prange as loop, symbol

N = symbol("N")
Line = f64[N]


@jit
def total(a: Line):
    # here it is added up
    s = 0.0
    for i in loop(a.shape[0]):
        s += math.sqrt(a[i])
    return s


def pairs(a: w.f64[N]):
    from weft import map as each
    s = 0.0
    for i, j in each[0:a.shape[0], 1:3]:
        s += a[i] * j
    return s


def deep(n: int) -> int:
    import weft
    return 1 if n < 1 else 1 + deep(n - 1)


fast = jit(total)


@w.jit
def inside(x: w.f64[N]):
    import weft
    return x * 2.0
"""


@pytest.mark.parametrize("kind", ["python", "c"])
def test_whatever_way_weft_is_imported(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "importing.py"
    source.write_text(IMPORTS)
    assert main(["build", "--emit", kind, str(source), "-o", str(tmp_path / "out")]) == 0
    program = (
        "import numpy as np, importing as i\n"
        "print(i.total(np.ones(3)), i.total(np.ones(3, 'f4')), i.fast(np.ones(2)), i.inside(np.ones(1)))\n"
        "print(i.deep(3), i.pairs(np.ones(2, 'f4')))\n"
        "try: i.deep(10**6)\nexcept RecursionError: print('too deep')"
    )
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "out")}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n")[:3] == ["3.0 3.0 2.0 [2.]", "4 6.0", "too deep"]


def test_nothing_is_written_where_nothing_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernels.py"
    source.write_text("def f(x):\n    return x\n")
    assert main(["build", "--emit", "python", str(source), "-o", str(tmp_path / "out")]) != 0
    assert "give hints, or calls by --call" in capsys.readouterr().err
    assert main(["build", "--emit", "python", str(source), "-o", str(tmp_path), "--call", "f(1.0)"]) != 0
    assert "is the source itself" in capsys.readouterr().err
    assert source.read_text() == "def f(x):\n    return x\n" and not (tmp_path / "out").exists()


def test_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernels.py"
    source.write_text(
        "import numpy as np\n\ndef f(a):\n    b = a * 2.0\n    c = b + 1.0\n    return c\n\ndef g(x):\n    return x\n"
    )
    assert main(["explain", "--steps", str(source), "--call", "f(np.ones(9))"]) == 0
    told = capsys.readouterr().out
    assert "# --- f: built" in told and "# --- f: after forward" in told and "after schedule" in told
    assert "g: compiled for no arguments" in told
    built = told.split("# --- f: built\n")[1].split("# ---")[0]
    namespace: dict[str, Any] = {}
    exec(built, namespace)
    assert namespace["f"](np.ones(9)).tolist() == [3.0] * 9


@pytest.mark.slow
def test_ray_itself(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    source = tmp_path / "spread_kernels.py"
    source.write_text(
        "import numpy as np\n\ndef f(a, steps):\n    for _ in range(steps):\n"
        "        a[1:-1] = (a[:-2] + a[2:]) / 2\n    return a.sum(), a.max()\n"
    )
    call = "f(np.ones(9), 2)"
    assert main(["build", "--emit", "ray", str(source), "-o", str(tmp_path / "out"), "--call", call]) == 0
    program = (
        "import sys, numpy as np, spread_kernels as k\nk.LEAST = 0\na = np.arange(99.0) ** 2\nb = a.copy()\n"
        "k._f_1_here = None\nwanted = k._f_as_written(b, 3)\nfound = k._f_1(a, 3)\n"
        "assert np.allclose(found, wanted) and np.array_equal(a, b) and 'weft' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "out"), "RAY_USAGE_STATS_ENABLED": "0"}
    environment["RAY_AUTH_MODE"] = "disabled"
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
