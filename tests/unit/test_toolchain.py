"""Finding and running compilers: real ones, none at all, and false ones that fail in every way a compiler can."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from weft.errors import CompileError
from weft.runtime import toolchain as toolchain_module
from weft.runtime.cache import default_cache
from weft.runtime.toolchain import Toolchain, cpu_identity, examine, find

SOURCE = "long kernel(long x) { return 3 * x + 1; }\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the false compilers are shell scripts")


def _program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _false_toolchain(path: Path, script: str) -> Toolchain:
    """A toolchain whose compiler was good when it was probed and misbehaves now."""
    command = (str(_program(path, script)),)
    return Toolchain(command, "gcc", "false 1.0", cpu_identity(), ("-shared",), (), False)


@pytest.fixture
def real() -> Toolchain:
    found = find()
    assert found is not None
    return found


# -- a real compiler


@pytest.mark.native
def test_the_compiler_found_builds_what_can_be_called(real: Toolchain) -> None:
    path = real.build_shared(SOURCE, name="three times x plus 1")
    assert path.parents[3] == default_cache().store
    assert ctypes.CDLL(str(path)).kernel(ctypes.c_long(4)) == 13
    assert real.kind in ("gcc", "clang", "zig") and real.version and real.cpu
    assert "-ffp-contract=off" in real.flags


IN_PARTS = """
#if PART
#define SHARED __attribute__((visibility("hidden")))
#else
#define SHARED static
#endif
SHARED long half(long x);
#if PART != 2
SHARED long half(long x) { return x / 2; }
#endif
#if PART != 1
long kernel(long x) { return half(x) + 1; }
#endif
"""


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_a_source_in_parts_is_compiled_side_by_side(
    real: Toolchain, private_cache: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(toolchain_module, "get_num_threads", lambda: threads)
    path = real.build_shared(IN_PARTS, name="parts", parts=("PART=1", "PART=2"))
    assert ctypes.CDLL(str(path)).kernel(ctypes.c_long(9)) == 5
    with pytest.raises(CompileError, match="failed on broken"):
        broken = IN_PARTS + "#if PART != 1\nlong broken(void) {\n#endif\n"
        real.build_shared(broken, name="broken", parts=("PART=1", "PART=2"))


@pytest.mark.native
def test_what_spares_time_of_the_compiler_is_accepted_by_it(real: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    for straight in (False, True):
        path = real.build_shared(IN_PARTS, flags=real.lean(straight), name="lean")
        assert ctypes.CDLL(str(path)).kernel(ctypes.c_long(9)) == 5
    assert replace(real, kind="clang").lean(True) == replace(real, kind="zig").lean(True) == ()
    monkeypatch.setattr(toolchain_module.platform, "machine", lambda: "aarch64")
    assert replace(real, kind="gcc").lean(False) == ()
    assert "-fno-tree-vrp" in replace(real, kind="gcc").lean(True)


@pytest.mark.native
def test_a_second_build_comes_from_the_cache(real: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    first = real.build_shared(SOURCE + "/* cached */", name="cached")

    def no_compiler(*_: object, **__: object) -> str:
        raise AssertionError("the compiler must not run")

    monkeypatch.setattr(toolchain_module, "_run", no_compiler)
    assert real.build_shared(SOURCE + "/* cached */", name="cached") == first


@pytest.mark.native
def test_source_flags_and_name_are_in_the_key(real: Toolchain) -> None:
    paths = {
        real.build_shared(SOURCE, name="a"),
        real.build_shared(SOURCE, name="b"),
        real.build_shared(SOURCE + "\n", name="a"),
        real.build_shared(SOURCE, name="a", flags=("-O0",)),
    }
    assert len(paths) == 4


@pytest.mark.native
def test_a_damaged_shared_object_is_compiled_again(real: Toolchain) -> None:
    path = real.build_shared(SOURCE + "/* damaged */", name="damaged")
    good = path.read_bytes()
    path.write_bytes(good[:100])
    again = real.build_shared(SOURCE + "/* damaged */", name="damaged")
    assert ctypes.CDLL(str(again)).kernel(ctypes.c_long(1)) == 4


@pytest.mark.native
def test_assembly(real: Toolchain) -> None:
    text = real.assembly(SOURCE)
    assert "kernel" in text and "ret" in text
    assert text != real.assembly(SOURCE, flags=("-O0",))


@pytest.mark.native
def test_errors_of_the_compiler_are_short_with_the_log_attached(
    real: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CompileError) as caught:
        real.build_shared("int kernel(void) { return undeclared_name; }\n", name="broken")
    text = str(caught.value)
    assert "failed on broken" in text and "undeclared_name" in text and "WEFT_VERBOSE" in text
    assert len(text.splitlines()) <= 7
    assert "undeclared_name" in caught.value.log and real.command[0] in caught.value.command
    monkeypatch.setenv("WEFT_VERBOSE", "1")
    assert caught.value.log.strip() in str(caught.value)


@pytest.mark.native
def test_generated_code_may_use_symbols_that_the_process_brings(real: Toolchain) -> None:
    source = "extern long Py_IsInitialized(void); long kernel(void) { return (int)Py_IsInitialized(); }\n"
    path = real.build_shared(source, name="symbols")
    assert ctypes.PyDLL(str(path)).kernel() == 1


@pytest.mark.native
def test_vector_mathematics_where_promised(real: Toolchain) -> None:
    if not real.supports_libmvec:
        pytest.skip("no libmvec here")
    source = """
    #pragma omp declare simd notinbranch
    extern double sin(double) __attribute__((const));
    void kernel(const double *restrict a, double *restrict b, long n) {
        for (long i = 0; i < n; i++) b[i] = sin(a[i]);
    }
    """
    assert "_ZGV" in real.assembly(source)
    function = ctypes.CDLL(str(real.build_shared(source, name="vector"))).kernel
    values = (ctypes.c_double * 8)(*range(8))
    results = (ctypes.c_double * 8)()
    function(values, results, ctypes.c_long(8))
    assert results[1] == pytest.approx(0.8414709848078965, rel=1e-15)


# -- discovery


@pytest.mark.native
def test_the_verdict_is_kept_on_disk(private_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find()
    assert first is not None

    def no_probe(*_: object) -> Toolchain:
        raise AssertionError("the verdict is known")

    monkeypatch.setattr(toolchain_module, "_probe", no_probe)
    toolchain_module._find.cache_clear()
    assert find() == first


def test_no_compiler_at_all(private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain_module, "_zig", lambda: None)
    assert find() is None
    assert [verdict.reason for verdict in examine()] == ["not found"] * 3


@pytest.mark.native
def test_a_replaced_compiler_is_probed_again(
    private_cache: Path, tmp_path: Path, real: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "mycc"
    command = " ".join(real.command)
    _program(wrapper, f'echo run >> "{tmp_path}/log"; exec {command} "$@"')
    monkeypatch.setenv("CC", str(wrapper))
    toolchain_module._find.cache_clear()
    first = find()
    assert first is not None and first.command == (str(wrapper),)
    runs = len((tmp_path / "log").read_text().split())
    toolchain_module._find.cache_clear()
    assert find() == first
    assert len((tmp_path / "log").read_text().split()) == runs
    _program(wrapper, f'echo run >> "{tmp_path}/log"; exec {command} "$@"  # a newer one')
    toolchain_module._find.cache_clear()
    assert find() is not None
    assert len((tmp_path / "log").read_text().split()) > runs


def test_cc_may_carry_arguments_and_comes_first(
    private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "'/no such/compiler' -m64")
    verdict = examine()[0]
    assert (verdict.origin, verdict.command) == ("$CC", ("/no such/compiler", "-m64"))
    assert verdict.toolchain is None and verdict.reason == "not found"
    monkeypatch.setenv("CC", "unbalanced 'quote")
    assert examine()[0].reason == "not found"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'error: no licence' >&2; exit 3", "failed on"),
        ("kill -9 $$", "killed by SIGKILL"),
        ("exit 0", "wrote no output"),
        ("echo junk > probe.so", "cannot be loaded"),
        ("sleep 60", "gave no answer"),
    ],
)
def test_a_bad_compiler_is_passed_over(
    private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setenv("CC", str(_program(tmp_path / "badcc", script)))
    monkeypatch.setenv("WEFT_COMPILE_TIMEOUT", "0.3" if "sleep" in script else "60")
    verdict = toolchain_module._judge("$CC", (str(tmp_path / "badcc"),), default_cache())
    assert verdict.toolchain is None
    assert reason in verdict.reason


@pytest.mark.native
def test_a_compiler_that_does_not_know_a_wanted_flag(
    private_cache: Path, tmp_path: Path, real: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = " ".join(real.command)
    script = f'case "$*" in *-march=native*) echo "error: unknown flag" >&2; exit 1;; esac; exec {command} "$@"'
    monkeypatch.setenv("CC", str(_program(tmp_path / "oldcc", script)))
    found = find()
    assert found is not None and found.command == (str(tmp_path / "oldcc"),)
    assert "-march=native" not in found.flags and "-fno-math-errno" in found.flags


# -- compilers that misbehave on a kernel


def test_a_compiler_that_is_killed(private_cache: Path, tmp_path: Path) -> None:
    false = _false_toolchain(tmp_path / "cc", "kill -9 $$")
    with pytest.raises(CompileError, match="was killed by SIGKILL while compiling heat") as caught:
        false.build_shared(SOURCE, name="heat")
    assert "memory" in str(caught.value)
    assert list((default_cache().store / "temporary").iterdir()) == []
    assert default_cache().info().entries == 0


def test_a_driver_whose_compiler_proper_is_killed(private_cache: Path, tmp_path: Path) -> None:
    message = "gcc: fatal error: Killed signal terminated program cc1"
    false = _false_toolchain(tmp_path / "cc", f"echo '{message}' >&2; exit 1")
    with pytest.raises(CompileError, match="was killed while compiling heat"):
        false.build_shared(SOURCE, name="heat")


def test_a_compiler_that_hangs_is_stopped_with_its_children(
    private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false = _false_toolchain(tmp_path / "cc", f"sh -c 'echo $$ > \"{tmp_path}/child\"; sleep 6000'; exit 0")
    for seconds in ("0.5", "5", "50"):  # on a busy machine even to start takes long
        monkeypatch.setenv("WEFT_COMPILE_TIMEOUT", seconds)
        with pytest.raises(CompileError, match=rf"within {re.escape(seconds)} s and was stopped"):
            false.build_shared(SOURCE, name="heat")
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text().strip():
            break
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not _runs(child):
            break
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    # A zombie waits for init to collect it: it runs no more.
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_compiler_that_prints_errors(private_cache: Path, tmp_path: Path) -> None:
    script = 'for i in 1 2 3 4 5 6 7 8 9; do echo "k.c:$i: error: no $i"; done; exit 1'
    false = _false_toolchain(tmp_path / "cc", script)
    with pytest.raises(CompileError) as caught:
        false.build_shared(SOURCE, name="heat")
    text = str(caught.value)
    assert "error: no 1" in text and "error: no 9" not in text and "error: no 9" in caught.value.log


def test_a_compiler_that_says_yes_and_does_nothing(private_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="wrote no output"):
        _false_toolchain(tmp_path / "cc", "exit 0").build_shared(SOURCE, name="heat")


def test_a_compiler_that_vanished(private_cache: Path, tmp_path: Path) -> None:
    false = _false_toolchain(tmp_path / "cc", "exit 0")
    (tmp_path / "cc").unlink()
    with pytest.raises(CompileError, match="cannot be started"):
        false.build_shared(SOURCE, name="heat")


def test_compile_errors_survive_pickling() -> None:
    import pickle

    error = CompileError("it failed", "try again", ("cc", "-x"), "log: error: x")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.command == error.command


_INTERRUPTED = """
import os, signal, sys, threading
from weft.runtime.toolchain import Toolchain
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    Toolchain((sys.argv[1],), "gcc", "false", "cpu", ("-shared",), (), False).build_shared("", name="heat")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_interrupting_a_compilation_leaves_nothing_behind(
    private_cache: Path, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    _program(tmp_path / "cc", f'echo $$ > "{tmp_path}/child"; exec sleep 60')
    command = [sys.executable, "-c", _INTERRUPTED, str(tmp_path / "cc")]
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(private_cache)}
    assert subprocess.check_output(command, env=environment, timeout=600, text=True) == "interrupted\n"
    assert not _runs(int((tmp_path / "child").read_text()))
    assert list((default_cache().store / "temporary").iterdir()) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names of processors are those of x86")
def test_another_processor_may_be_chosen(private_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code is apart from that for this one in the cache, and holds none of the later instructions."""
    source = "void kernel(double *a, long n) { for (long i = 0; i < n; i++) a[i] = a[i] * 2.0 + 1.0; }"
    monkeypatch.delenv("WEFT_MARCH", raising=False)
    here = find()
    monkeypatch.setenv("WEFT_MARCH", "x86-64-v2")
    older = find()
    assert here is not None and older is not None
    assert "-march=x86-64-v2" in older.flags and "-march=native" not in older.flags
    assert here.build_shared(source, name="choice") != older.build_shared(source, name="choice")
    assert "%ymm" not in older.assembly(source) and "%zmm" not in older.assembly(source)
    monkeypatch.setenv("WEFT_MARCH", " ")
    assert find() is here


@pytest.mark.parametrize(("system", "name"), [("win32", "zig.exe"), ("darwin", "zig"), ("linux", "zig")])
def test_candidates_on_other_systems(
    system: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers on the path first, then the wheel's; Windows' programs have a suffix, macOS' linker needs a flag."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(toolchain_module.sys, "platform", system)
    found = toolchain_module._candidates()
    assert found[:3] == [("gcc", ("gcc",)), ("clang", ("clang",)), ("cc", ("cc",))]
    assert found[3] == ("ziglang wheel", (str(package / name), "cc"))
    assert toolchain_module._link_flags() == (("-Wl,-undefined,dynamic_lookup",) if system == "darwin" else ())
