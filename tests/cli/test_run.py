"""`weft run`: what a program does must be what plain Python does, whether its functions are compiled or not, and what
is hot must become native.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

# Scripts that are to see their functions become native call them until the code behind them has changed.
UNTIL = '''
import sys, time

def until_native(call, *functions):
    """Call until each function has passed through its trial: then its code is another one and stays so."""
    if "weft.heat.early" not in sys.modules:
        return call()  # plain Python
    from weft.heat import manager
    manager._SHARE = 10.0  # at any price: the test has no time to wait until the program can afford it
    end = time.monotonic() + 80
    while time.monotonic() < end:
        for _ in range(200):
            result = call()
        if all("weft" in str(f.__code__.co_varnames) for f in functions):
            calls = [call() for _ in range(60)]
            assert all(item == result for item in calls)
            return result
    raise SystemExit("never became native")
'''


def script(text):
    return UNTIL + textwrap.dedent(text)


STACK = """
import inspect
def f(a, /, b=1, *, c=2):
    for i in range(3): pass
    return inspect.stack()[1].function
print(inspect.signature(f), f(1), f.__code__.co_varnames, inspect.getsource(f))
"""


@pytest.mark.parametrize(
    "text",
    [
        "print(sorted(name for name in globals()))",
        "print(__name__, __file__, __doc__, __package__, __spec__, __builtins__)",
        '"""Doc."""\nimport sys\nprint(__doc__, sys.argv, sys.path[0])',
        "import sys\nsys.exit(7)",
        "raise SystemExit('a last word')",
        "import os\nos._exit(3)",
        "def f(x):\n    return 1 / x\n\ndef g():\n    for i in range(3):\n        f(2 - i)\ng()",
        "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
        "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0",
        "def f(:\n    pass",
        "  indented = 1",
        "x = 'a\\0b'\nprint(len(x))",
        "import atexit\natexit.register(print, 'bye')\nprint('hello')",
        "print(input() if False else 'no input')\nimport threading\nprint(threading.active_count())",
        "import warnings\ndef f():\n    warnings.warn('w', stacklevel=2)\nf()",
        "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print(e)",
        STACK,
    ],
)
def test_a_script_does_what_python_does(as_python, text):
    as_python(text, "-x", "--report", "a b")


def test_other_encodings_and_line_ends(as_python, tmp_path):
    as_python("# -*- coding: latin-1 -*-\r\nprint(len('ab'))\r\n")


def test_a_script_that_cannot_be_opened(weft_command, tmp_path):
    missing = weft_command("run", "nowhere.py")
    assert missing.returncode == 2 and missing.stderr == "weft: can't open nowhere.py: No such file or directory\n"
    directory = weft_command("run", tmp_path)
    assert directory.returncode == 2 and "directory" in directory.stderr
    assert weft_command("run").returncode == 2


def test_modules_are_run_as_by_python(command, weft_command, tmp_path):
    tool = "import sys\nprint(__name__, __spec__.name, __package__, sys.argv[1:], __file__)\n"
    (tmp_path / "tool.py").write_text(tool)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("print('package')\n")
    (tmp_path / "pack" / "__main__.py").write_text("from . import other\nprint(__name__, __package__, other.value)\n")
    (tmp_path / "pack" / "other.py").write_text("value = 3\n")
    for name in ("tool", "pack"):
        ours, theirs = weft_command("run", "-m", name, "-v", "x"), command("-m", name, "-v", "x")
        assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode)
    missing = weft_command("run", "-m", "nowhere_at_all")
    assert missing.returncode == 1 and "nowhere_at_all" in missing.stderr and "Traceback" not in missing.stderr
    (tmp_path / "broken.py").write_text("def f(:\n")
    broken = weft_command("run", "-m", "broken")
    assert broken.returncode == 1 and "SyntaxError" in broken.stderr and "weft" not in broken.stderr


@pytest.mark.native
def test_hot_functions_become_native_and_stay_what_they_were(as_python):
    result = as_python(
        script("""
        import functools, inspect, pickle
        import numpy as np
        from dataclasses import dataclass

        def total(values, scale=2.0, *, power=1):
            '''Adds.'''
            s = 0.0
            for i in range(values.shape[0]):
                s += values[i] ** power * scale
            return s

        def twice(function):
            @functools.wraps(function)
            def wrapper(*args):
                return 2 * function(*args)
            return wrapper

        @twice
        def decorated(n):
            t = 0
            for i in range(n):
                t += i * i % 7
            return t

        def maker(k):
            def inner(n):
                s = 0
                for i in range(n):
                    s += i * k
                return s
            return inner

        class Box:
            @staticmethod
            def norm(a):
                s = 0.0
                for x in a:
                    s += x * x
                return s

        before = total
        made = maker(3)
        values = np.arange(300.0)
        print(until_native(lambda: total(values), total))
        print(until_native(lambda: decorated(300), decorated.__wrapped__))
        print(until_native(lambda: made(300), made))
        print(until_native(lambda: Box.norm(values), Box.norm))
        print(total is before, type(total), total.__name__, total.__doc__, inspect.signature(total))
        print(pickle.loads(pickle.dumps(total)) is total, inspect.getsource(Box.norm) != "", total.__defaults__)
        print(total(values, 1.0, power=2), total(values=values[::2]), total(np.arange(4)), total(np.ones(3, "f4"), 1))
        """)
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.native
def test_exceptions_of_native_functions_look_like_pythons(as_python):
    result = as_python(
        script("""
        import traceback
        import numpy as np

        def pick(values, index):
            s = 0.0
            for i in range(values.shape[0]):
                s += values[i]
            return s + values[index[0]]

        values, index = np.ones(300), np.array([2])
        until_native(lambda: pick(values, index), pick)
        index[0] = 1000
        try:
            pick(values, index)
        except IndexError as problem:
            print(problem, [f.name for f in traceback.extract_tb(problem.__traceback__)], problem.__context__)
            print([f.lineno for f in traceback.extract_tb(problem.__traceback__)])
        try:
            pick(values)
        except TypeError as problem:
            print(problem)
        try:
            pick(values, "no")
        except Exception as problem:
            print(type(problem), [(f.name, f.lineno) for f in traceback.extract_tb(problem.__traceback__)])
        index[0] = 2000
        """)
    )
    assert "pick" in result.stdout


@pytest.mark.native
def test_forks_threads_and_pools_of_the_program(as_python):
    as_python(
        script("""
        import multiprocessing, os, threading
        import numpy as np

        def total(values):
            s = 0.0
            for i in range(values.shape[0]):
                s += values[i]
            return s

        def work(n):
            return until_native(lambda: total(np.arange(float(n))), total)

        if __name__ == "__main__":
            # Forks while the compiler is at work, and none of its processes is seen by wait.
            for k in range(3):
                work_before = [total(np.arange(200.0)) for _ in range(1500)]
                child = os.fork()
                if child == 0:
                    total(np.arange(3.0))
                    os._exit(5)
                pid, status = os.wait()
                print(pid == child, os.waitstatus_to_exitcode(status))
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                print("no children")
            print(work(300))
            found = []
            threads = [threading.Thread(target=lambda k=k: found.append(work(300 + k))) for k in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(sorted(found))
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(total, [np.arange(float(n)) for n in (3, 4, 5)]))
        """)
    )


HELPER = """def dot(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s

def words(n):
    parts = []
    for i in range(n):
        parts.append(len(vars()))  # the variables by name: never native, whatever it costs
    return parts
"""


@pytest.mark.native
def test_imported_modules_are_compiled_too_and_the_report_says_so(weft_command, tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    text = """
    import gc
    import numpy as np
    import helper
    a, b = np.ones(300), np.ones(300)
    print(until_native(lambda: helper.dot(a, b), helper.dot))
    from weft.heat.spots import Spot
    end = time.monotonic() + 80
    decided = False
    while time.monotonic() < end and not decided:
        for _ in range(2000):
            helper.words(200)
        for _ in range(200):
            helper.dot(a, b)
        found = {(item.name, item.state) for item in gc.get_objects() if isinstance(item, Spot)}
        decided = found >= {("words", "left"), ("dot", "native")}
    """
    (tmp_path / "script.py").write_text(script(text))
    result = weft_command("run", "--report", "script.py")
    assert result.stdout == "300.0\n", result.stderr
    report = result.stderr
    assert "dot (helper.py:1): native for (f64[:], f64[:])" in report and "x as fast as plain Python" in report
    assert "words (helper.py:7): plain Python: " in report


@pytest.mark.parametrize("command", ["run --report", "profile"])
def test_ctrl_c_ends_a_program_as_under_python(tmp_path, subprocess_environment, command):
    (tmp_path / "script.py").write_text(
        "def f(n):\n    s = 0\n    for i in range(n): s += i * i % 7\n    return s\n"
        "print('ready', flush=True)\nwhile True:\n    f(3000)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "weft.cli", *command.split(), "script.py"],
        cwd=tmp_path,
        env=subprocess_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(3.0)  # for a loaded machine: it is watched after a third of a second of its own
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt\n" in told and "weft/" not in told
    assert "f (script.py:1)" in told  # the report, or the table


def test_weft_switched_off_is_plain_python(weft_command, tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys, time\ndef f(n):\n    s = 0\n    for i in range(n): s += i\n    return s\n"
        "end = time.monotonic() + 0.6\nbefore = f.__code__\nwhile time.monotonic() < end: f(1000)\n"
        "print(f.__code__ is before, 'weft.heat.manager' in sys.modules, 'numpy' in sys.modules)\n"
    )
    result = weft_command("run", "script.py", environment={"WEFT_DISABLE": "1"})
    assert result.stdout == "True False False\n", result.stderr


@pytest.mark.native
def test_a_long_function_is_compiled_before_its_only_call(weft_command, tmp_path):
    text = """
    import numpy as np

    def main(n):
        c = np.zeros((n, n))
        print("begin")
        for t in range(200):
            for i in range(n):
                for j in range(n):
                    c[i, j] += i * j + t
        return c.sum()

    print(main(1000))
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(text))
    result = weft_command("run", "--report", "script.py")
    assert result.stdout == f"begin\n{200 * 499500.0**2 + 199 * 100 * 1e6}\n", result.stderr
    assert "main (script.py:4): plain Python, 1 parts of it native; a call of print" in result.stderr
