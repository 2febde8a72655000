"""Wheels of projects whose functions are compiled: built by pip, installed where weft is not, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.hosts.alone import numpy_only
from weft.errors import WeftError
from weft.hosts import setuptools_hook

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "packaging"


def project(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").write_text(text)


def test_a_project_that_names_no_modules_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = SimpleNamespace()
    monkeypatch.chdir(tmp_path)
    setuptools_hook.finalize(distribution)
    project(tmp_path, monkeypatch, "[tool.other]\nx = 1\n")
    setuptools_hook.finalize(distribution)
    assert not vars(distribution)


@pytest.mark.parametrize("modules", ['"kernels.py"', "[]", "[1]", '["missing.py"]'])
def test_a_wrong_list_of_modules_is_an_error_of_one_line(
    modules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, monkeypatch, f"[tool.weft]\nmodules = {modules}\n")
    with pytest.raises(WeftError) as caught:
        setuptools_hook.finalize(SimpleNamespace(package_dir=None))
    assert "pyproject.toml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "path, directories, name",
    [
        ("waves/kernels.py", {}, "waves.kernels"),
        ("src/waves/kernels.py", {"": "src"}, "waves.kernels"),
        ("src/waves/kernels.py", {}, "waves.kernels"),
        ("kernels.py", {}, "kernels"),
    ],
)
def test_the_name_of_a_module_follows_from_its_place(path: str, directories: dict[str, str], name: str) -> None:
    assert setuptools_hook._dotted(path, directories) == name


def wheel(example: Path, folder: Path) -> Path:
    """The wheel of an example, built by pip with this tree's weft and the entry points of its pyproject.toml."""
    place = shutil.copytree(example, folder / "project")
    metadata = folder / "entry" / "weft-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weft\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(_entry_points())
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(metadata.parent), str(ROOT / "src"))),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "SOURCE_DATE_EPOCH": "1700000000",
    }
    pip = [sys.executable, "-m", "pip", "wheel", "."]
    command = [*pip, "--no-build-isolation", "--no-deps", "--no-index", "-w", "out"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (place / "out").glob("*.whl")
    return made


def _entry_points() -> str:
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib  # type: ignore[no-redef]
    groups: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items()]
    return "\n".join(lines)


SCRIPT = """
import importlib.util
import numpy as np
assert importlib.util.find_spec("weft") is None
import waves
x = np.arange(6.0)
print(waves.energy(x, 2 * x, 3.0), waves.damped(x, 0.5, 2.0).tolist())
print(waves.energy.native_calls, waves.damped.native_calls, waves.energy.__wrapped__(x, 2 * x, 3.0))
"""


def run_installed(made: Path, folder: Path) -> list[str]:
    """The script's output in a new environment that has the wheel and NumPy, and nothing else."""
    venv.create(folder / "clean", with_pip=False, symlinks=True)
    python = folder / "clean" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", str(made)]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    (packages,) = (folder / "clean" / "lib").glob("python*/site-packages")
    (packages / "numpy.pth").write_text(str(numpy_only(folder)))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WEFT"))}
    done = subprocess.run([python, "-c", SCRIPT], env=clean, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def check(lines: list[str]) -> None:
    energy, _, rest = lines[0].partition(" ")
    assert float(energy) == 0.5 * (5 * 3.0 + 4 * 55.0)
    np.testing.assert_allclose(eval(rest), np.arange(6.0) * np.exp(-1.0), rtol=1e-14)
    assert lines[1] == f"1 1 {energy}"


@pytest.mark.slow
def test_setuptools_ships_compiled_functions(tmp_path: Path) -> None:
    made = wheel(EXAMPLES / "setuptools", tmp_path)
    assert made.name.startswith("waves-1.0-cp310-abi3-")
    check(run_installed(made, tmp_path))


@pytest.mark.slow
def test_two_wheels_are_the_same_to_the_byte(tmp_path: Path) -> None:
    found = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        found.append(wheel(EXAMPLES / "setuptools", tmp_path / name).read_bytes())
    assert found[0] == found[1]


@pytest.mark.slow
def test_meson_python_ships_compiled_functions(tmp_path: Path) -> None:
    pytest.importorskip("mesonpy", reason="meson-python is not installed")
    if shutil.which("meson", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") is None:
        pytest.skip("there is no executable of meson")
    if shutil.which("ninja", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))) is None:
        pytest.skip("there is no ninja here")
    made = wheel(EXAMPLES / "meson", tmp_path)
    assert "-abi3-" in made.name
    check(run_installed(made, tmp_path))


@pytest.mark.slow
def test_a_project_whose_module_cannot_be_built_has_no_wheel(tmp_path: Path) -> None:
    example = shutil.copytree(EXAMPLES / "setuptools", tmp_path / "example")
    (example / "waves" / "kernels.py").write_text("def energy(x: int):\n    return eval('x')\ndamped = energy\n")
    with pytest.raises(AssertionError) as caught:
        wheel(example, tmp_path)
    assert "could not be built" in str(caught.value) and "line 2" in str(caught.value)
