"""Library routines at run time: addresses are proved, and kernels find them in a new process and when built ahead."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.support import function_from_source, lines
from weft.ir import routines as table
from weft.runtime import dispatch, routines

OF_NUMPY = [routine for routine in table.ROUTINES.values() if routine.module != table.CALLBACK]
LOOPS = [(routine, types) for routine in OF_NUMPY for types in routine.loops]
SCRIPT = """
import numpy as np
import weft

@weft.jit(fallback="error")
def f(a, b):
    b[0] = 3.0
    x = np.linalg.solve(a, b)
    return x, np.linalg.qr(a), np.fft.rfft(b)

a = np.arange(9.0).reshape(3, 3) + 9 * np.eye(3)
x, (q, r), s = f(a, np.ones(3))
assert np.array_equal(x, np.linalg.solve(a, [3.0, 1.0, 1.0])) and np.array_equal(s, np.fft.rfft([3.0, 1.0, 1.0]))
assert type(f(a, np.ones(3))[1]) is type(np.linalg.qr(a))
try:
    f(np.zeros((3, 3)), np.ones(3))
except np.linalg.LinAlgError as error:
    print(error)
"""


@pytest.mark.parametrize(("routine", "types"), LOOPS, ids=[f"{r.name}-{t}" for r, t in LOOPS])
def test_every_routine_is_found_and_proved(routine: table.Routine, types: str) -> None:
    assert table.find(routine.name) is not None
    assert dispatch.load_core() is not None
    found = routines.address(routine.address(types))
    assert found is not None and found[0]


def test_what_is_not_there_has_no_address() -> None:
    assert routines.address("numpy.linalg._umath_linalg:nothing:d->d") is None
    assert routines.address("numpy.no_such_module:solve:dd->d") is None
    assert routines.address("numpy.linalg._umath_linalg:solve:gg->g") is None
    assert routines.address("numpy:zeros:d->d") is None


def test_a_wrong_loop_is_noticed() -> None:
    """The loop of another routine, or of another type, does not give what the ufunc gives."""
    other = routines.address(table.ROUTINES["cholesky_lo"].address("d->d"))
    assert other is not None
    assert not routines._answers(table.find("inv"), "d->d", other)


def test_without_addresses_python_calls_the_routine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routines, "address", lambda name: None)
    jitted = weft.jit(fallback="error", cache=False)(function_from_source(lines("a", "return np.linalg.inv(a) + 1")))
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert np.array_equal(jitted(a), np.linalg.inv(a) + 1)
    assert not jitted.versions[0].native


def test_a_kernel_from_the_disk_finds_its_routines(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(script)]
    for _ in range(2):
        done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Singular matrix")


@pytest.mark.native
def test_a_module_built_ahead_finds_its_routines(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    (tmp_path / "heat.py").write_text(
        'import numpy as np\nfrom numpy.typing import NDArray\n\ndef f(a: "NDArray[np.float64]"):\n'
        "    b = a[0] * a[1]\n    return np.fft.fft(b)\n",
        encoding="utf-8",
    )
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    build = [sys.executable, "-m", "weft.cli", "build", "--host", "weft", "heat.py", "-o", "built"]
    done = subprocess.run(build, cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    code = (
        "import sys; sys.path.insert(0, 'built'); import numpy as np; from heat import f; a = np.ones((2, 4));"
        "print(np.array_equal(f(a), np.fft.fft(np.ones(4))))"
    )
    again = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=600
    )
    assert again.stdout.strip() == "True", again.stdout + again.stderr


def test_functions_of_a_host_are_called_by_their_address() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    function = kind(lambda x, y: 10 * x + y)
    address = np.array(ctypes.cast(function, ctypes.c_void_p).value)
    out = np.zeros(3)
    assert table.run_routine("callback_2", "ldd->d", [address, np.arange(3.0), np.array(0.5)], [out])
    assert out.tolist() == [0.5, 10.5, 20.5]
