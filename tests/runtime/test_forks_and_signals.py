"""Forks, signals and the end of the interpreter in the middle of compiling: the call gives Python's answer, a handler's
exception reaches the caller, and nobody waits for a thread that is gone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.native,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
]

PRELUDE = """
import atexit, gc, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads: they are what is tested
import numpy as np
import weft
from weft.runtime import cache, dispatch, process, toolchain

cache._PATIENCE = 0.5  # a child would wait for what its parent compiles, and here the parent waits for the child

def plain(a):
    s = 0.0
    for x in a:
        s += x * 2.0
    return s

def other(n):
    s = 0
    for i in range(n):
        s += i
    return s

def joined(child):
    for _ in range(1200):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    return "hangs"

class Stopped:
    # A step of compiling that waits in the middle, once.
    def __init__(self, owner, name):
        self.reached, self.go, self.real = threading.Event(), threading.Event(), getattr(owner, name)
        setattr(owner, name, self)
    def __call__(self, *args, **kwargs):
        if not self.reached.is_set():
            self.reached.set()
            self.go.wait()
        return self.real(*args, **kwargs)
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with what every process needs, and no function."""
    from weft.runtime import dispatch
    from weft.runtime.cache import Cache, default_cache

    directory = tmp_path_factory.mktemp("warm")
    core = dispatch.load_core()
    assert core is not None
    Cache(directory).auxiliary("made")
    for path in (default_cache().store / "entries").glob("??/*"):
        if path == core.path.parent or not list(path.glob("*.so")):  # the core, and what is known of the compiler
            shutil.copytree(path, directory / path.relative_to(default_cache().directory))
    for path in directory.rglob("entries/??"):
        path.chmod(0o755)
    return directory


@pytest.fixture
def program(warm: Path, tmp_path: Path, subprocess_environment: dict[str, str]):
    """Run a program in which nothing was ever compiled."""

    def run(text: str, **settings: str) -> str:
        file = tmp_path / "program.py"
        file.write_text(PRELUDE + textwrap.dedent(text))
        settings["WEFT_CACHE_DIR"] = str(shutil.copytree(warm, tmp_path / "cache"))
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**subprocess_environment, "WEFT_VERIFY": "0", **settings},
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    return run


STEPS = [
    ("toolchain", "_compile"),
    ("process", "run"),
    ("cache", "_verified"),
    ("cache", "_stored"),
    ("dispatch", "load_kernel"),
]


@pytest.mark.parametrize(("owner", "name"), STEPS)
def test_a_fork_while_another_thread_compiles(program, owner: str, name: str) -> None:
    text = f"""
        f, g = weft.jit(plain), weft.jit(other)
        step = Stopped({owner}, "{name}")
        thread = threading.Thread(target=lambda: print(f(np.arange(5.0))))
        thread.start()
        assert step.reached.wait(300)
        child = os.fork()
        if child == 0:
            good = f(np.arange(5.0)) == 20.0 and g(10) == 45 and gc.isenabled()
            os._exit(0 if good else 1)
        print(joined(child))
        step.go.set()
        thread.join()
        print(g(10), gc.isenabled())
    """
    assert program(text) == "0\n20.0\n45 True\n"


def test_a_fork_while_another_thread_makes_the_core(program) -> None:
    text = """
        step = Stopped(dispatch, "_start_core")
        made = []
        thread = threading.Thread(target=lambda: made.append(weft.jit(plain)))
        thread.start()
        assert step.reached.wait(300)
        child = os.fork()
        if child == 0:
            f = weft.jit(plain)
            os._exit(0 if f(np.arange(5.0)) == 20.0 and f.stats["calls"] else 1)
        print(joined(child))
        step.go.set()
        thread.join()
        print(made[0](np.arange(5.0)))
    """
    assert program(text) == "0\n20.0\n"


def test_a_fork_while_another_thread_loads_a_module(program, tmp_path: Path) -> None:
    """It waits a moment; where that is not enough the child compiles nothing, since half a module is of no use."""
    (tmp_path / "weft_slow.py").write_text("import time\nstarted.set()\ngo.wait()\n")
    text = """
        import importlib.machinery, importlib.util
        from weft import forking
        f = weft.jit(plain)
        f(np.arange(5.0))
        g, started, go = weft.jit(other), threading.Event(), threading.Event()
        def load():
            place = os.path.join(os.path.dirname(__file__), "weft_slow.py")
            spec = importlib.util.spec_from_file_location("weft.slow", place)
            module = importlib.util.module_from_spec(spec)
            module.started, module.go = started, go
            sys.modules["weft.slow"] = module
            spec._initializing = True
            spec.loader.exec_module(module)
            spec._initializing = False
        def work():
            with forking.working():
                load()
        thread = threading.Thread(target=work)
        thread.start()
        assert started.wait(300)
        forking._PATIENCE = 0.3
        child = os.fork()
        if child == 0:
            native = f(np.arange(5.0)) == 20.0 and sum(f.stats["calls"].values()) == 2
            os._exit(0 if native and g(10) == 45 and not g.signatures and weft.jit(other)(4) == 6 else 1)
        print(joined(child))
        threading.Timer(0.5, go.set).start()
        forking._PATIENCE = 300.0
        child = os.fork()
        if child == 0:
            os._exit(0 if g(10) == 45 and g.signatures else 1)
        print(joined(child), go.is_set())
        thread.join()
        print(g(10))
    """
    assert program(text) == "0\n0 True\n45\n"


@pytest.mark.parametrize(
    ("owner", "name", "kind"),
    [
        *((*step, "TimeoutError") for step in STEPS),
        ("toolchain", "_compile", "Exception"),
        ("cache", "_verified", "KeyError"),
    ],
)
def test_what_a_signal_handler_raises_reaches_the_caller(program, owner: str, name: str, kind: str) -> None:
    """Not taken for an error of weft's own, whose answer would be to go on without compiling."""
    text = f"""
        f = weft.jit(plain)
        sent, real = [], {owner}.{name}
        def interrupted(*args, **kwargs):
            if not sent:
                sent.append(1)
                os.kill(os.getpid(), signal.SIGUSR1)
            return real(*args, **kwargs)
        def handler(number, frame):
            raise {kind}("from the handler")
        signal.signal(signal.SIGUSR1, handler)
        {owner}.{name} = interrupted
        try:
            print(f(np.arange(5.0)))
        except {kind} as error:
            print(type(error).__name__, error, error.__traceback__.tb_next is not None)
        print(signal.getsignal(signal.SIGUSR1) is handler, f(np.arange(5.0)), len(f.signatures))
    """
    printed = program(text)
    told = "'from the handler'" if kind == "KeyError" else "from the handler"
    assert printed == f"{kind} {told} True\nTrue 20.0 1\n"


def test_a_handler_that_is_replaced_meanwhile_stays(program) -> None:
    text = """
        f = weft.jit(plain)
        real, seen = toolchain._compile, []
        def second(number, frame):
            seen.append("second")
        def first(number, frame):
            seen.append("first")
            signal.signal(signal.SIGUSR1, second)
        def interrupted(*args, **kwargs):
            os.kill(os.getpid(), signal.SIGUSR1)
            return real(*args, **kwargs)
        signal.signal(signal.SIGUSR1, first)
        toolchain._compile = interrupted
        print(f(np.arange(5.0)), signal.getsignal(signal.SIGUSR1) is second, seen[0])
        os.kill(os.getpid(), signal.SIGUSR1)
        print(seen[-1])
    """
    assert program(text) == "20.0 True first\nsecond\n"


@pytest.mark.parametrize(("owner", "name"), STEPS)
def test_a_signal_handler_may_call_compiled_functions(program, owner: str, name: str) -> None:
    """Also the very one that is being compiled, and one that was never called."""
    text = f"""
        f, g = weft.jit(plain), weft.jit(other)
        sent, real, seen = [], {owner}.{name}, []
        def interrupted(*args, **kwargs):
            if not sent:
                sent.append(1)
                os.kill(os.getpid(), signal.SIGUSR1)
            return real(*args, **kwargs)
        def handler(number, frame):
            seen.append((g(10), float(f(np.arange(5.0))), weft.jit(other)(4)))
        signal.signal(signal.SIGUSR1, handler)
        {owner}.{name} = interrupted
        print(f(np.arange(5.0)), seen, g(10), len(f.signatures), len(g.signatures))
    """
    printed = program(text)
    assert printed == "20.0 [(45, 20.0, 6)] 45 1 1\n"


def test_first_calls_when_the_interpreter_ends(program) -> None:
    text = """
        f, g = weft.jit(plain), weft.jit(other)
        h = weft.jit(lambda n: n + 1)
        class Last:
            def __del__(self, f=f, jit=weft.jit, other=other, write=os.write, a=np.arange(5.0)):
                write(1, f"{f(a)} {jit(other)(4)}\\n".encode())
        atexit.register(lambda: print(g(10), flush=True))
        import builtins
        builtins.last_thing = Last()
    """
    assert program(text) == "45\n20.0 6\n"


def test_first_calls_without_file_descriptors(program) -> None:
    text = """
        import resource
        f, g = weft.jit(plain), weft.jit(other)
        print(g(10))
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        taken = []
        while True:
            try:
                taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        print(f(np.arange(5.0)), g(11), g(10.0) if False else g(12))
        for each in taken:
            os.close(each)
        print(f(np.arange(6.0)), g(13))
    """
    assert program(text) == "45\n20.0 55 66\n30.0 78\n"


def test_decorating_without_file_descriptors(program) -> None:
    text = """
        import resource
        weft.jit  # Python itself can load nothing without descriptors
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        taken = []
        while True:
            try:
                taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        f = weft.jit(plain)
        print(f(np.arange(5.0)))
        for each in taken:
            os.close(each)
        print(f(np.arange(6.0)))
    """
    assert program(text) == "20.0\n30.0\n"
