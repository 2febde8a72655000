"""What every test shares: a cache of its own for the whole run (the workers of one run share it), an environment
without the user's WEFT_* settings, the order of the tests (fast folders first), and the fixtures below.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def array_compiler_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions go to the compiler of arrays alone: for tests of what it does with containers and what it refuses."""
    monkeypatch.setenv("WEFT_PLAIN", "0")


ROOT = Path(__file__).resolve().parent.parent

#: Settings of the test run itself.
_KEPT = ("WEFT_TEST_CACHE_DIR", "WEFT_FUZZ", "WEFT_SANITIZE", "WEFT_MARCH", "WEFT_PLAIN_GC", "WEFT_TEST_ALONE")

# Folders in the order in which they run: what fails fast and explains most comes first.
_ORDER = ("test_architecture.py", "unit", "passes", "golden", "errors", "semantics", "equivalence", "apps", "fuzz")


def pytest_addoption(parser: pytest.Parser) -> None:
    # Here and not beside the golden files: only the conftest of the test root is read before the command line is.
    parser.addoption("--update-golden", action="store_true", help="write the generated text as the new golden files")
    parser.addoption("--every", type=int, default=1, metavar="N", help="run only every N-th test: a sample of them all")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return  # a worker of pytest-xdist inherits the environment prepared here
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts background jobs so, children inherit it, and the tests of Ctrl-C would wait for ever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in [name for name in os.environ if name.startswith("WEFT_")]:
        if name not in _KEPT:
            del os.environ[name]
    kept = os.environ.get("WEFT_TEST_CACHE_DIR")
    directory = kept or tempfile.mkdtemp(prefix="weft-test-")
    os.environ["WEFT_CACHE_DIR"] = directory
    # Every pass of every compilation is followed by the verifier.
    os.environ["WEFT_VERIFY"] = "1"
    # No test may depend on how fast the machine is, and which way a call goes does not depend on a clock.
    os.environ["WEFT_TIMED"] = "0"
    os.environ["WEFT_COMPILE_TIMEOUT"] = "900"
    # No test may depend on what a process found out about the machine while it was idle.
    os.environ["WEFT_CALIBRATE"] = "0"
    if not kept:
        config.add_cleanup(lambda: shutil.rmtree(directory, ignore_errors=True))


# Folders whose tests have many cases, and of how many cases some, at least a tenth, are enough for a daily run.
_SAMPLED = ("semantics", "plain", "apps", "passes", "sparse", "errors", "device")
_MANY = 4


def _mark_samples(items: list[pytest.Item]) -> None:
    """Of a test with many cases some are slow ones: all of them together take more than half an hour."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.path.relative_to(ROOT / "tests").parts[0] in _SAMPLED:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in cases.values():
        step = max(1, min(5, len(group) // _MANY))
        if len(group) > _MANY * step:
            step *= 2
        for place, item in enumerate(group):
            if place % step:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _mark_samples(items)
    if "WEFT_TEST_ALONE" not in os.environ:
        for item in items:
            if item.get_closest_marker("alone"):
                item.add_marker(pytest.mark.skip(reason="runs in tests/test_alone.py, or with WEFT_TEST_ALONE=1"))

    def rank(item: pytest.Item) -> int:
        first = item.path.relative_to(ROOT / "tests").parts[0]
        return _ORDER.index(first) if first in _ORDER else len(_ORDER)

    items.sort(key=rank)
    items[:] = items[:: config.getoption("--every")]
    if any(item.get_closest_marker("native") for item in items):
        from weft.runtime.toolchain import find

        if find() is None:
            reason = pytest.mark.skip(reason="no C compiler works here")
            for item in items:
                if item.get_closest_marker("native"):
                    item.add_marker(reason)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory for one test; also what `default_cache()` uses meanwhile."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("WEFT_CACHE_DIR", str(directory))
    return directory


@pytest.fixture
def subprocess_environment() -> dict[str, str]:
    """The environment for a child Python that must find this source tree."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path}
