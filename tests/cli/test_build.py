"""What `weft build` writes over, and what it leaves alone: only folders that it has written itself are replaced."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from weft.cli import main
from weft.runtime.toolchain import find

pytestmark = pytest.mark.native
MODULE = "def grown(n: int) -> int:\n    return n + 1\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "heat_to_build.py"
    path.write_text(MODULE)
    return path


def build(module: Path, output: str = ".") -> int:
    assert find() is not None
    return main(["build", "--host", "weft", str(module), "-o", output])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_the_user_stays(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = module.with_suffix("")
    folder.mkdir()
    (folder / "notes.txt").write_text("thesis")
    assert build(module) == 1
    told = capsys.readouterr().err
    assert "stays as it is" in told and "another folder with -o" in told
    assert files(folder) == {"notes.txt": b"thesis"}
    assert sorted(path.name for path in module.parent.iterdir()) == [folder.name, module.name]


@pytest.mark.parametrize("name", [".new", "-new", ".tmp"])
def test_folders_beside_it_stay(module: Path, name: str) -> None:
    other = module.with_name(module.stem + name)
    other.mkdir()
    (other / "notes.txt").write_text("thesis")
    assert build(module) == 0
    assert files(other) == {"notes.txt": b"thesis"}


@pytest.mark.parametrize("manifest", ["{}", "[]", "nonsense", "[" * 100_000, '{"checksums": {"notes.txt": ""}}'])
def test_another_programs_manifest_is_no_mark(module: Path, manifest: str) -> None:
    folder = module.with_suffix("")
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest)
    (folder / "notes.txt").write_text("thesis")
    before = files(folder)
    assert build(module) == 1
    assert files(folder) == before


def test_a_file_and_a_link_in_its_place_stay(module: Path, tmp_path: Path) -> None:
    folder = module.with_suffix("")
    folder.write_text("thesis")
    assert build(module) == 1
    assert folder.read_text() == "thesis"
    folder.unlink()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert build(module) == 1
    assert folder.is_symlink() and (tmp_path / "elsewhere").is_dir()


def test_its_own_package_is_replaced(module: Path, tmp_path: Path) -> None:
    assert build(module, "build") == 0
    package = tmp_path / "build" / module.stem
    (package / "__pycache__").mkdir()
    (package / "grown-1.so").write_bytes(b"damaged")
    module.write_text(MODULE.replace("+ 1", "+ 2"))
    assert build(module, "build") == 0
    assert "+ 2" in (package / "source.py").read_text()
    assert not (package / "__pycache__").exists() and len((package / "grown-1.so").read_bytes()) > 100
    assert [path.name for path in package.parent.iterdir()] == [module.stem]


@pytest.mark.parametrize("what", ["notes.txt", "source.py", "source.weft.toml"])
def test_what_the_user_put_into_a_package_stays(module: Path, what: str, tmp_path: Path) -> None:
    assert build(module, "build") == 0
    package = tmp_path / "build" / module.stem
    (package / what).write_text("thesis")
    before = files(package)
    assert build(module, "build") == 1
    assert files(package) == before


def test_a_failed_build_leaves_the_former_one(module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(module, "build") == 0
    package = tmp_path / "build" / module.stem
    before = files(package)

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("weft.ahead.shutil.copyfile", full)
    assert build(module, "build") == 1
    assert files(package) == before
    assert [path.name for path in package.parent.iterdir()] == [module.stem]


def test_the_manifest_says_who_wrote_it(module: Path, tmp_path: Path) -> None:
    assert build(module, "build") == 0
    manifest = json.loads((tmp_path / "build" / module.stem / "manifest.json").read_text())
    assert manifest["written_by"] == "weft build"
