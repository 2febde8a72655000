"""weft in a notebook: cells whose functions are compiled, run in a real shell of IPython's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.testing.globalipapp import start_ipython

    start_ipython()
    shell = InteractiveShell.instance()
    shell.reset()
    shell.run_line_magic("load_ext", "weft")
    return shell


CELL = """
import numpy as np

def smooth(a):
    b = a.copy()
    for i in range(1, a.size - 1):
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    return b

result = smooth(np.arange(50.0) ** 2)
"""


def test_functions_of_a_cell_are_compiled(shell):
    shell.run_cell_magic("weft", "fallback=error", CELL)
    smooth = shell.user_ns["smooth"]
    assert smooth.signatures and smooth.options.fallback == "error"
    assert np.allclose(shell.user_ns["result"], smooth.py_func(np.arange(50.0) ** 2))


def test_a_cell_that_is_edited_and_run_again_is_the_new_one(shell):
    shell.run_cell_magic("weft", "", "def f(x):\n    return x + 1\nfirst = f(1)\n")
    shell.run_cell_magic("weft", "", "def f(x):\n    return x + 2\nsecond = f(1)\n")
    assert (shell.user_ns["first"], shell.user_ns["second"]) == (2, 3)


def test_nothing_is_left_behind(shell):
    shell.run_cell_magic("weft", "", CELL)
    assert not shell.ast_transformers and "_weft_jit_" not in shell.user_ns
    shell.run_cell("def plain(x):\n    return x\n")
    assert not hasattr(shell.user_ns["plain"], "explain")


def test_the_page_of_a_function(shell):
    shell.run_cell_magic("weft", "", CELL)
    shown = shell.run_line_magic("weft_explain", "smooth")
    html = shown._repr_html_()
    assert html.startswith("<iframe") and "smooth" in html and "srcdoc=" in html
    assert "h1&gt;smooth" in html and "h2&gt;smooth" not in html  # the name once, and no path of a kernel's file


def test_the_annotated_page_follows_the_cell(shell):
    from IPython.utils.capture import capture_output

    shell.display_formatter.active_types = ["text/plain", "text/html"]  # as in a notebook, not in a terminal
    with capture_output() as captured:
        shell.run_cell_magic("weft", "-a", CELL)
    assert any("text/html" in output.data for output in captured.outputs)


@pytest.mark.parametrize(
    "magic, line, text",
    [
        ("weft_explain", "nothing", "there is no 'nothing' here"),
        ("weft_explain", "np", "not compiled"),
    ],
)
def test_a_wrong_name_is_told_in_a_line(shell, magic, line, text):
    from IPython.core.error import UsageError

    shell.user_ns["np"] = np
    with pytest.raises(UsageError, match=text):
        shell.run_line_magic(magic, line)


@pytest.mark.parametrize("line", ["fast", "fp=exact", "speed=3"])
def test_a_wrong_option_is_told_in_a_line(shell, line):
    from IPython.core.error import UsageError

    with pytest.raises(UsageError):
        shell.run_cell_magic("weft", line, CELL)


def test_a_syntax_error_in_the_cell_is_pythons(shell):
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        shell.run_cell_magic("weft", "", "def f(:\n")
    assert "SyntaxError" in captured.stdout + captured.stderr
    assert not shell.ast_transformers
