"""`import weft`: cheap, lazy, and everything it promises."""

from __future__ import annotations

import subprocess
import sys

import pytest

import weft

HEAVY = ("numpy", "scipy", "islpy", "rich", "numba", "ctypes", "subprocess", "weft.api", "weft.ir")


def _run(code: str, environment: dict[str, str]) -> str:
    return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True, timeout=600)


def test_import_loads_nothing_heavy(subprocess_environment: dict[str, str]) -> None:
    code = "import sys; before = set(sys.modules); import weft; print(*sorted(set(sys.modules) - before))"
    loaded = _run(code, subprocess_environment).split()
    assert "weft" in loaded
    assert [name for name in loaded if name in HEAVY or name.partition(".")[0] in HEAVY] == []


def test_the_decorator_loads_no_heavy_library(subprocess_environment: dict[str, str]) -> None:
    code = "import sys, weft; weft.jit; print(*sorted(sys.modules))"
    loaded = {name.partition(".")[0] for name in _run(code, subprocess_environment).split()}
    assert "weft" in loaded and not loaded & {"scipy", "islpy", "rich", "numba"}


@pytest.mark.parametrize("name", sorted(weft.__all__))
def test_every_public_name_exists(name: str) -> None:
    assert getattr(weft, name) is not None
    assert name in dir(weft)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'jitt'"):
        weft.jitt  # noqa: B018


def test_the_version_has_one_owner() -> None:
    """pyproject.toml reads it from the package; the citation and the newest section of the changelog name it."""
    import re
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    assert 'version = { attr = "weft.__version__" }' in (root / "pyproject.toml").read_text()
    release = weft.__version__.partition(".dev")[0]
    assert f"\nversion: {release}\n" in (root / "CITATION.cff").read_text()
    newest = re.search(r"^## (\S+)( \(unreleased\))?", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None and newest[1] == release
    assert (newest[2] is not None) == (".dev" in weft.__version__)
