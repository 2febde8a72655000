"""Notebooks in a real kernel: the examples run from top to bottom, mistakes and interrupts end where they should."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture
def environment(subprocess_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in subprocess_environment.items():
        monkeypatch.setitem(os.environ, name, value)


def test_there_are_three_notebooks_without_outputs() -> None:
    assert len(NOTEBOOKS) >= 3
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), f"{path.name}: clear its outputs"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, environment: None) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs and not any(output.output_type == "error" for output in outputs)
    if path.stem != "from_numba":
        assert any("text/html" in output.get("data", {}) for output in outputs)


@pytest.fixture
def kernel(environment: None) -> Iterator[Any]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def _run(client: Any, code: str) -> dict[str, Any]:
    done = client.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    content: dict[str, Any] = done["content"]
    return content


def test_mistakes_and_a_new_definition(kernel: Any) -> None:
    _, client = kernel
    assert _run(client, "%load_ext weft")["status"] == "ok"
    wrong = _run(client, "%%weft\ndef f(x):\n    return x +\n")
    assert wrong["status"] == "ok" or wrong["ename"] == "SyntaxError"
    assert _run(client, "f")["ename"] == "NameError"
    assert _run(client, "%%weft\ndef f(x):\n    return x + 1\n")["status"] == "ok"
    assert _run(client, "assert f(1) == 2 and f(1.5) == 2.5")["status"] == "ok"
    assert _run(client, "%%weft\ndef f(x):\n    return x + 10\n")["status"] == "ok"
    assert _run(client, "assert f(1) == 11")["status"] == "ok"
    assert _run(client, "%%weft nonsense=3\ndef g(x):\n    return x\n")["status"] == "error"


@pytest.mark.native
def test_an_interrupt_ends_a_native_loop(kernel: Any) -> None:
    manager, client = kernel
    body = "    s = 0\n    for i in range(n):\n        s ^= i * i\n    return s\n"
    _run(client, f"import weft\n@weft.jit\ndef spin(n):\n{body}\nspin(10)")
    asked = client.execute("spin(10**12)", stop_on_error=False)  # what follows is not dropped
    while client.get_iopub_msg(timeout=60)["content"].get("execution_state") != "busy":
        pass
    time.sleep(1.0)
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != asked:
        reply = client.get_shell_msg(timeout=60)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert "jitted.py" not in "".join(reply["content"]["traceback"])
    assert _run(client, "assert spin(10) == spin.py_func(10)")["status"] == "ok"


@pytest.mark.native
def test_a_restart_during_a_call_leaves_nothing_behind(kernel: Any) -> None:
    """The kernel is ended in native code; the next one runs the same cells."""
    manager, client = kernel
    cell = "%%weft\ndef spin(a, n):\n    for k in range(n):\n        for i in range(a.size):\n            a[i] += k\n"
    setup = "%load_ext weft\nimport numpy as np"
    assert _run(client, setup)["status"] == _run(client, cell)["status"] == "ok"
    assert _run(client, "spin(np.ones(100), 3)")["status"] == "ok"
    client.execute("spin(np.ones(100), 10**13)")
    while client.get_iopub_msg(timeout=60)["content"].get("execution_state") != "busy":
        pass
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=120)
    assert _run(client, setup)["status"] == _run(client, cell)["status"] == "ok"
    assert _run(client, "a = np.ones(100)\nspin(a, 3)\nassert (a == 4.0).all()")["status"] == "ok"
    assert _run(client, "assert list(spin.stats['calls'].values()) == [1]")["status"] == "ok"


def test_a_cell_that_fails_while_it_runs_leaves_plain_cells_plain(kernel: Any) -> None:
    _, client = kernel
    assert _run(client, "%load_ext weft")["status"] == "ok"
    failed = _run(client, "%%weft\ndef f(x):\n    return x + 1\n1 / 0\n")
    assert failed["status"] == "ok" or failed["ename"] == "ZeroDivisionError"
    assert _run(client, "assert f(1) == 2 and hasattr(f, 'explain')")["status"] == "ok"
    assert _run(client, "def plain(x): return x\nassert not hasattr(plain, 'explain')")["status"] == "ok"
