"""The `weft` command: exit codes, output, scripts that behave as under Python, packages that import like a module."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from weft.cli.run import decorated

SCRIPT = '''
import sys
import numpy as np

def total(values):
    """Adds."""
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s

def pick(values, index):
    for _ in range(1):
        found = values[index]
    return found

if __name__ == "__main__":
    print(sys.argv[1:], __name__, total(np.arange(4.0)), total.__name__, total.__doc__)
    if "exit" in sys.argv:
        sys.exit(7)
    if "fail" in sys.argv:
        pick(np.ones(3), 5)
'''

MODULE = '''
"""Norms."""
import numpy as np
import weft

N = weft.symbol("N")
POWER = 2.0

def norm(x: weft.f64[N]) -> float:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i] * POWER
    return s

def plain(x):
    return x
'''


@pytest.fixture
def weft_command(tmp_path, subprocess_environment):
    def run(*arguments, environment=None, python=()):
        command = [sys.executable, *python, "-m", "weft.cli", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**subprocess_environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=600,
        )

    return run


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_version_and_wrong_requests(weft_command):
    assert weft_command("--version").stdout.startswith("weft 0.")
    assert weft_command("fly").returncode == 2
    missing = weft_command("explain", "nowhere.py")
    assert missing.returncode == 2 and "no such file" in missing.stderr
    assert weft_command("run", "nowhere.py").returncode == 2


def test_cache_info_and_clear(weft_command, tmp_path):
    environment = {"WEFT_CACHE_DIR": str(tmp_path / "cache")}
    assert "entries    0" in weft_command("cache", "info", environment=environment).stdout
    cleared = weft_command("cache", "clear", environment=environment)
    assert cleared.returncode == 0 and "removed 0 entries" in cleared.stdout


def test_doctor_tells_facts(weft_command):
    result = weft_command("doctor", "--json")
    facts = json.loads(result.stdout)
    assert {"python", "numpy", "compiler", "plain", "cache"} <= {fact["topic"] for fact in facts}
    assert result.returncode == (1 if any(fact["status"] == "bad" for fact in facts) else 0)


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("exit",), ("fail",)])
def test_a_script_runs_as_under_python(weft_command, script, arguments, tmp_path, subprocess_environment):
    ours = weft_command("run", script.name, *arguments)
    theirs = subprocess.run(
        [sys.executable, script.name, *arguments],
        cwd=tmp_path,
        env=subprocess_environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ours.stdout == theirs.stdout and ours.returncode == theirs.returncode
    lines = [line for line in theirs.stderr.splitlines() if not set(line.strip()) <= set("~^")]
    assert [line for line in ours.stderr.splitlines() if not set(line.strip()) <= set("~^")] == lines


def test_a_script_with_a_syntax_error(weft_command, tmp_path):
    (tmp_path / "broken.py").write_text("def f(:\n")
    result = weft_command("run", "broken.py")
    assert result.returncode == 1 and "SyntaxError" in result.stderr and "weft" not in result.stderr


def test_run_says_what_was_compiled(weft_command, script):
    assert "weft: total: (f64[:])" in weft_command("run", "--eager", "--report", script.name).stderr


def test_only_functions_worth_it_are_decorated():
    tree = decorated(
        ast.parse(
            "import numpy as np\n"
            "def loops(x):\n    for i in x: pass\n"
            "def arrays(x): return np.sum(x)\n"
            "def small(x): return x + 1\n"
            "def generator(x):\n    for i in x: yield i\n"
            "@property\ndef own(x):\n    for i in x: pass\n"
        )
    )
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions if ast.unparse(node).startswith("@__weft_jit__")] == ["loops", "arrays"]
    assert functions[0].decorator_list[0].lineno == functions[0].lineno == 2


def test_explain_text_json_and_html(weft_command, tmp_path):
    (tmp_path / "norms.py").write_text(MODULE)
    text = weft_command("explain", "norms.py").stdout
    assert "norm  (" in text and "s += x[i]" in text and "not compiled yet" in text
    result = weft_command("explain", "norms.py", "--json", "--call", "plain(np.ones(3))", "--html", "page.html")
    functions = {item["function"]: item for item in json.loads(result.stdout)}
    assert len(functions["norm"]["versions"]) == len(functions["plain"]["versions"]) == 1
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    failed = weft_command("explain", "norms.py", "--call", "plain(1 / 0)")
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr and len(failed.stderr.splitlines()) <= 15


USE = """
import sys
sys.path.insert(0, "build")
import numpy as np
import norms
print(norms.__doc__, norms.norm(np.ones(3)), norms.plain(4), norms.__name__)
norms.POWER = 3.0
print(norms.norm(np.ones(3)), norms.norm([1.0, 2.0]) if False else "")
print(norms.norm.stats["calls"], list(norms.norm.stats["compile_seconds"].values()) != [])
"""


@pytest.mark.native
def test_a_built_module_imports_without_a_compiler(weft_command, tmp_path, subprocess_environment):
    (tmp_path / "norms.py").write_text(MODULE)
    built = weft_command("build", "--host", "weft", "norms.py")
    assert built.returncode == 0 and "norm(f64[:])" in built.stdout, built.stderr
    (tmp_path / "norms.py").unlink()
    (tmp_path / "use.py").write_text(USE)

    def use(**changes):
        cache = str(tmp_path / "empty")
        environment = {**subprocess_environment, "PATH": "", "CC": "", "WEFT_CACHE_DIR": cache, **changes}
        return subprocess.run(
            [sys.executable, "use.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )

    result = use()
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0].endswith("Norms. 6.0 4 norms")
    assert result.stdout.splitlines()[1].startswith("9.0")
    assert "(f64[:])': 2" in result.stdout
    # A damaged library is noticed, told once, and not used.
    library = tmp_path / "build" / "norms" / "norm-1.so"
    library.write_bytes(library.read_bytes()[:-1] + b"?")
    damaged = use()
    assert damaged.returncode == 0 and damaged.stdout.splitlines()[0].endswith("6.0 4 norms")
    assert "is not the file that was built" in damaged.stderr
