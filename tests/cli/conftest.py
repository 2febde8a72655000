"""The `weft` command and plain Python, run side by side in a directory of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def command(tmp_path, subprocess_environment):
    """Run `python *arguments` in the test's directory."""

    def run(*arguments, environment=None, stdin=None):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env={**subprocess_environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=600,
            input=stdin,
        )

    return run


@pytest.fixture
def weft_command(command):
    def run(*arguments, **settings):
        return command("-m", "weft.cli", *arguments, **settings)

    return run


@pytest.fixture
def as_python(command, weft_command, tmp_path):
    """Run a script both ways and compare everything that can be seen from outside; the result."""

    def run(text, *arguments, name="script.py", options=()):
        (tmp_path / name).write_text(text)
        theirs = command(name, *arguments)
        ours = weft_command("run", *options, name, *arguments)
        assert ours.stdout == theirs.stdout
        assert ours.stderr == theirs.stderr
        assert ours.returncode == theirs.returncode
        return ours

    return run
