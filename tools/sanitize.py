"""Runs tests with kernels and core compiled under the compiler's own checks: `python tools/sanitize.py [TEST...]`.

In: tests (a corpus chosen below if none are named) and which checks; out: every finding once, and exit code 1 if there
is one or a test fails.  Without a compiler that has these checks, a message and exit code 0.  Memory that kernels ask
for is then a block of its own, as long as asked for, so that nothing escapes because of spare room.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src")]

#: What touches memory in the most ways: kernels, containers, recursion, lists as arguments, programs by chance.
CORPUS = (
    "tests/apps/test_kernels.py",
    "tests/semantics/test_growing_lists.py",
    "tests/semantics/test_dicts.py",
    "tests/semantics/test_inner_dicts.py",
    "tests/semantics/test_container_arguments.py",
    "tests/semantics/test_recursion.py",
    "tests/semantics/test_bad_input.py",
    "tests/fuzz/test_random_programs.py",
)

_LIBRARIES = {"address": "libasan.so", "thread": "libtsan.so"}
_PROBE = "int weft_probe(int *a, int i) { return a[i] + 1; }\n"
_TRY = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).weft_probe((ctypes.c_int * 2)(1, 2), 1))"
_HEADER = re.compile(r"runtime error: .*|ERROR: AddressSanitizer: .*|WARNING: ThreadSanitizer: .*")
_PLACE = re.compile(r"#0 .*")
#: What differs between two findings of one kind: addresses, process ids, values.
_VARYING = re.compile(r"0x[0-9a-f]+|==\d+==|\(pid=\d+\)|-?\d{4,}")


def preload(command: Sequence[str], checks: str) -> str | None:
    """The library that a process must start with, "" for none; None if this compiler does not have it."""
    found = []
    for check in checks.split(","):
        name = _LIBRARIES.get(check)
        if name is None:
            continue
        done = subprocess.run([*command, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        path = done.stdout.strip()
        if done.returncode or not os.path.isabs(path):
            return None
        found.append(path)
    return " ".join(found)


def environment(checks: str, library: str, reports: Path) -> dict[str, str]:
    """What the checked process is started with."""
    common = f"log_path={reports}/report"
    return {
        **os.environ,
        "WEFT_SANITIZE": checks,
        "LD_PRELOAD": library,
        # The interpreter's own pools would hide its objects, and it frees little at its end.
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:halt_on_error=0:allocator_may_return_null=1:detect_odr_violation=0",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "TSAN_OPTIONS": f"{common}:halt_on_error=0:report_signal_unsafe=0:ignore_noninstrumented_modules=1",
    }


def works(command: Sequence[str], flags: Sequence[str], settings: dict[str, str], directory: Path) -> bool:
    """Whether a checked shared object can be built, and loaded by a Python that was started for it."""
    source, output = directory / "probe.c", directory / "probe.so"
    source.write_text(_PROBE)
    plain = {**settings, "LD_PRELOAD": ""}
    build = [*command, "-shared", "-fPIC", *flags, str(source), "-o", str(output)]
    if subprocess.run(build, env=plain, capture_output=True, check=False).returncode:
        return False
    done = subprocess.run([sys.executable, "-c", _TRY, str(output)], env=settings, capture_output=True, check=False)
    return done.stdout.strip() == b"3"


def findings(reports: Path) -> dict[str, str]:
    """The reports that the checks wrote: the first of each kind, by what it says and where it happened."""
    found: dict[str, str] = {}
    for path in sorted(reports.glob("report*")):
        text = path.read_text(errors="replace")
        starts = [match.start() for match in _HEADER.finditer(text)] + [len(text)]
        for begin, end in itertools.pairwise(starts):
            line = text.rfind("\n", 0, begin) + 1
            part = text[line:end].rstrip()
            place = _PLACE.search(part)
            found.setdefault(_VARYING.sub("_", part.splitlines()[0] + (place[0] if place else "")), part)
    return found


def run(options: argparse.Namespace, settings: dict[str, str], errors: IO[str]) -> int:
    """pytest's exit code; 0 if the time was up before all tests had run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(options.jobs)]
    command += ["--timeout", "600", "--capture", "sys", "--every", str(options.every)]
    command += ["-m", "not slow and not bench", *options.tests]
    child = subprocess.Popen(command, cwd=ROOT, env=settings, stderr=errors)
    try:
        return child.wait(timeout=options.seconds)
    except subprocess.TimeoutExpired:
        print(f"the time of {options.seconds:.0f} s is up: the other tests are left out", flush=True)
        child.send_signal(signal.SIGINT)
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return 0


def main() -> int:
    from weft.runtime import toolchain

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", default=list(CORPUS), help="files or tests (default: a chosen corpus)")
    parser.add_argument("--checks", default="address,undefined", help="address,undefined or thread")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--every", type=int, default=1, help="only every n-th test")
    parser.add_argument("--seconds", type=float, default=3600.0, help="after this time the rest is left out")
    options = parser.parse_args()
    chain = toolchain.find()
    if chain is None:
        print("no C compiler works here: nothing to check")
        return 0
    with tempfile.TemporaryDirectory(prefix="weft-sanitize-") as name:
        directory = Path(name)
        library = preload(chain.command, options.checks)
        settings = environment(options.checks, library or "", directory)
        flags = toolchain.checking_flags(options.checks)
        if library is None or not works(chain.command, flags, settings, directory):
            print(f"{chain.version} cannot check {options.checks} here: nothing is checked")
            return 0
        # Beside the address checks, those of undefined behaviour heed no log_path.
        with open(directory / "report.errors", "w", encoding="utf-8") as errors:
            status = run(options, settings, errors)
        found = findings(directory)
    for text in found.values():
        print(f"\n{text[:4000]}")
    print(f"{len(found)} findings of {options.checks}; the tests ended with {status}")
    return 1 if found or status else 0


if __name__ == "__main__":
    raise SystemExit(main())
