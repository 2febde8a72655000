"""The checked runs of `tools/sanitize.py` find what they are for: a kernel that leaves its memory, and one that does
what C does not define, are told, each once.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from weft.runtime import toolchain

ROOT = Path(__file__).resolve().parent.parent.parent

SCRIPT = """
import ctypes
import numpy as np
from weft.runtime import dispatch, toolchain

core = dispatch.load_core()
assert core is not None, dispatch.core_problem()
SOURCE = '''
typedef struct {
  long long version; void *new_array; void *(*alloc)(long long); void (*release)(void *);
} table;
double far(const double *a, long long i) { return a[i]; }
long long more(long long a, long long b) { return a + b; }
double scratch(const table *rt, long long n, long long i) {
  double *p = rt->alloc(n * 8);
  p[0] = 1.0;
  double x = p[i];
  rt->release(p);
  return x;
}
'''
chain = toolchain.find()
library = ctypes.CDLL(str(chain.build_shared(SOURCE, name="bad")))
library.far.restype = library.scratch.restype = ctypes.c_double
library.far.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
library.scratch.argtypes = [ctypes.c_void_p, ctypes.c_longlong, ctypes.c_longlong]
library.more.argtypes = [ctypes.c_longlong, ctypes.c_longlong]
values = np.zeros(1000)
for _ in range(2):
    library.far(values.ctypes.data, 1000)
    library.scratch(core.runtime_table, 5, 5)
    library.more(2**63 - 1, 1)
print("done")
"""


def _tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("weft_sanitize", ROOT / "tools" / "sanitize.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.native
def test_bad_kernels_are_found(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    tool, checks = _tool(), "address,undefined"
    chain = toolchain.find()
    assert chain is not None
    if "-fsanitize=" in " ".join(chain.flags):
        pytest.skip("this run is checked itself")
    library = tool.preload(chain.command, checks)
    settings = {**subprocess_environment, **tool.environment(checks, library or "", tmp_path)}
    settings["PYTHONPATH"] = subprocess_environment["PYTHONPATH"]
    if library is None or not tool.works(chain.command, toolchain.checking_flags(checks), settings, tmp_path):
        pytest.skip("this compiler has no such checks")
    script = tmp_path / "bad.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script)], env=settings, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.strip() == "done", done.stderr
    (tmp_path / "report.errors").write_text(done.stderr)
    found = list(tool.findings(tmp_path).values())
    assert sum("heap-buffer-overflow" in text for text in found) == 2, found
    assert sum("signed integer overflow" in text for text in found) == 1, found


def test_the_key_of_a_checked_build_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assert toolchain.checking_flags("") == ()
    monkeypatch.setenv("WEFT_SANITIZE", "1")
    assert toolchain.sanitizers() == "address,undefined"
    assert "-fsanitize=address,undefined" in toolchain.checking_flags(toolchain.sanitizers())
    monkeypatch.setenv("WEFT_SANITIZE", "0")
    assert toolchain.sanitizers() == ""
