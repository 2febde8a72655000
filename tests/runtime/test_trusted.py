"""Only code that this user or root has written runs, and only as a whole: owners, modes, checksums, links and what is
no file at all; in the cache, in its copy of BLAS and in packages that were built ahead of time.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.errors import CacheWarning, CompileError
from weft.runtime import cache as cache_module
from weft.runtime import dispatch, toolchain, trusted
from weft.runtime.cache import Cache, digest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are a matter of POSIX")
KEY = digest("trusted")
SOMEBODY = 12345


def foreign(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    os.chown(path, SOMEBODY, -1)


def group_writable(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def world_writable(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o002)


def made_fifo(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to("/dev/zero")


def linked(path: Path) -> None:
    """The same content, behind a link."""
    moved = path.with_name("moved")
    path.rename(moved)
    path.symlink_to(moved)


Change = Callable[[Path], None]
CHANGES: list[Change] = [foreign, group_writable, world_writable, made_fifo, device, linked]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def place(cache: Cache, what: str) -> Path:
    entry = cache.store / "entries" / KEY[:2] / KEY
    return {"key": entry, "letters": entry.parent, "entries": entry.parent.parent}.get(what, entry / what)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("what", ["kernel.so", "manifest", "key", "letters", "entries"])
def test_what_others_could_have_written_is_a_miss(cache: Cache, what: str, change: Change) -> None:
    cache.put(KEY, {"kernel.so": b"code"})
    assert cache.get(KEY) is not None
    change(place(cache, what))
    assert Cache(cache.directory).get(KEY) is None
    with pytest.raises(OSError):
        cache_module.library(place(cache, "kernel.so"), ctypes.CDLL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        again = cache.put(KEY, {"kernel.so": b"code"})
    assert (again / "kernel.so").read_bytes() == b"code"


@pytest.mark.parametrize("change", [foreign, group_writable, world_writable])
def test_a_store_of_others_is_not_used(cache: Cache, change: Change) -> None:
    cache.put(KEY, {"kernel.so": b"code"})
    change(cache.store)
    before = sorted(cache.store.rglob("*"))
    other = Cache(cache.directory)
    assert other.get(KEY) is None
    with pytest.warns(CacheWarning, match=r"belongs to another user|others may write it"):
        path = other.put(KEY, {"kernel.so": b"code"})
    assert cache.directory not in path.parents and other.get(KEY) == path
    assert not other.info().writable
    other.clear()
    assert sorted(cache.store.rglob("*")) == before


@pytest.mark.parametrize("change", [made_fifo, device])
def test_a_ledger_that_is_no_file(cache: Cache, change: Change) -> None:
    cache.put(KEY, {"kernel.so": b"code"})
    change(cache.store / "ledger")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        assert cache.put(digest("second"), {"kernel.so": b"code"}).exists()


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_what_is_written_is_trusted_whatever_the_mask(cache: Cache, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = cache.put(KEY, {"kernel.so": b"code"})
        assert Cache(cache.directory).get(KEY) == path
        for each in [cache.store, *cache.store.rglob("*")]:
            assert not each.stat().st_mode & 0o022
    finally:
        os.umask(before)


def test_an_entry_in_the_place_of_another_is_a_miss(cache: Cache) -> None:
    cache.put(KEY, {"kernel.so": b"code"})
    other = cache.put(digest("another"), {"kernel.so": b"other code"})
    shutil.rmtree(place(cache, "key"))
    shutil.copytree(other, place(cache, "key"))
    assert cache.get(KEY) is None


def test_weft_uses_and_removes_only_a_folder_that_it_made(tmp_path: Path) -> None:
    for name in ("entries/ab/thesis", "temporary/thesis", "auxiliary/thesis", "weft-store/entries/ab/thesis"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("years of work")
    (tmp_path / "ledger").write_text("money")
    before = sorted(tmp_path.rglob("*"))
    cache = Cache(tmp_path)
    assert cache.clear() == 0
    with pytest.warns(CacheWarning, match="weft has not made"):
        cache.put(KEY, {"kernel.so": b"code"})
    cache.sweep()
    cache.clear()
    assert sorted(tmp_path.rglob("*")) == before
    shutil.rmtree(tmp_path / "weft-store")
    fresh = Cache(tmp_path)
    fresh.put(KEY, {"kernel.so": b"code"})
    assert fresh.clear() == 1
    assert sorted(tmp_path.rglob("thesis")) == [path for path in before if path.name == "thesis"][:3]
    assert (tmp_path / "ledger").read_text() == "money"


# --- loading ---------------------------------------------------------------------------------------------------------


def built(number: int) -> Path:
    chain = toolchain.find()
    assert chain is not None
    return chain.build_shared(f"int kernel(void) {{ return {number}; }}", name="trusted")


@pytest.mark.native
def test_each_library_is_the_one_that_was_asked_for() -> None:
    """The loader takes equal names for the same library, and descriptors are used again and again."""
    loaded = [cache_module.library(built(number), ctypes.CDLL) for number in range(1, 5)]
    assert [library.kernel() for library in loaded] == [1, 2, 3, 4]


@pytest.mark.native
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files cannot be loaded by descriptor here")
def test_what_was_checked_is_what_is_loaded(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.so", tmp_path / "theirs.so"
    shutil.copyfile(built(31), mine)
    shutil.copyfile(built(32), theirs)
    descriptor, expected = trusted.opened(mine), trusted.checksum(mine.read_bytes())
    os.replace(theirs, mine)
    assert trusted.load(descriptor, mine, expected, ctypes.CDLL).kernel() == 31


@pytest.mark.native
@pytest.mark.parametrize("expected", ["", "0" * 32])
def test_another_content_is_not_loaded(tmp_path: Path, expected: str) -> None:
    shutil.copyfile(built(33), tmp_path / "kernel.so")
    with pytest.raises(CompileError, match="not what was written"):
        dispatch.load_kernel(tmp_path / "kernel.so", checksum=expected)


def test_a_library_in_no_cache_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        cache_module.library(tmp_path / "kernel.so", ctypes.CDLL)


_ALONE = """
import numpy as np
from weft.runtime import blas
table = blas.find()
print("none" if table is None or blas.alone(table) is None else "alone")
"""


def test_a_damaged_copy_of_blas_ends_no_process(tmp_path: Path, subprocess_environment: dict[str, str]) -> None:
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(tmp_path / "cache")}

    def told() -> str:
        command = [sys.executable, "-c", _ALONE]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout

    first = told()
    if first != "alone\n":
        pytest.skip("there is no BLAS of which a copy can be made")
    (copy,) = (tmp_path / "cache").rglob("blas*.so*")
    for length in (copy.stat().st_size // 2, 5000, 100, 0):
        (copy,) = (tmp_path / "cache").rglob("blas*.so*")
        os.truncate(copy, length)
        assert told() == "alone\n"


# --- packages --------------------------------------------------------------------------------------------------------

_MODULE = "def grown(n: int) -> int:\n    return n + 1\n"
_USE = "import grown_ahead\nprint(grown_ahead.grown(4), grown_ahead.grown.stats['calls'])\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    from weft.cli import main

    (tmp_path / "grown_ahead.py").write_text(_MODULE)
    assert toolchain.find() is not None
    assert main(["build", "--host", "weft", str(tmp_path / "grown_ahead.py"), "-o", str(tmp_path / "build")]) == 0
    return tmp_path / "build" / "grown_ahead"


def use(package: Path, environment: dict[str, str]) -> tuple[str, str]:
    """What a program that imports the package prints."""
    done = subprocess.run(
        [sys.executable, "-c", _USE], cwd=package.parent, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.native
@pytest.mark.parametrize(
    ("library", "checksums", "told"),
    [
        ("../evil.so", {}, "no checksum of ../evil.so"),
        ("../evil.so", {"../evil.so": "?"}, "../evil.so is outside of its folder"),
        ("{outside}", {"{outside}": "?"}, "is outside of its folder"),
        ("grown-1.so", {}, "no checksum of grown-1.so"),
        ("grown-1.so", {"grown-1.so": ""}, "no checksum of grown-1.so"),
    ],
)
def test_a_package_holds_its_libraries(
    package: Path, library: str, checksums: dict[str, str], told: str, subprocess_environment: dict[str, str]
) -> None:
    assert use(package, subprocess_environment) == ("5 {'(int)': 1}\n", "")
    outside = package.parent / "evil.so"
    shutil.copyfile(built(34), outside)
    stated = {"?": trusted.checksum(outside.read_bytes())}
    manifest = json.loads((package / "manifest.json").read_text())
    manifest["functions"]["grown"]["versions"][0]["library"] = library.format(outside=outside)
    manifest["checksums"] = {name.format(outside=outside): stated.get(sum_, sum_) for name, sum_ in checksums.items()}
    (package / "manifest.json").write_text(json.dumps(manifest))
    printed, warned = use(package, subprocess_environment)
    assert printed.startswith("5 ") and told in warned


@pytest.mark.native
@pytest.mark.parametrize("name", ["grown-1.so", "core.so", "source.weft.toml"])
def test_a_package_with_what_is_no_file(package: Path, name: str, subprocess_environment: dict[str, str]) -> None:
    manifest = json.loads((package / "manifest.json").read_text())
    manifest["checksums"].setdefault(name, "0" * 32)
    (package / "manifest.json").write_text(json.dumps(manifest))
    (package / name).unlink(missing_ok=True)
    os.mkfifo(package / name)
    printed, warned = use(package, subprocess_environment)
    assert printed.startswith("5 ") and "no regular file" in warned


@pytest.mark.native
def test_a_manifest_of_a_package_that_is_nonsense(package: Path, subprocess_environment: dict[str, str]) -> None:
    for text in ("[" * 100_000, "[]", '{"format": 1}', '{"format": 1, "functions": 3}', "\0"):
        (package / "manifest.json").write_text(text)
        done = subprocess.run(
            [sys.executable, "-c", "import grown_ahead; print(grown_ahead.grown(4))"],
            cwd=package.parent, env=subprocess_environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.stdout == "5\n" and "cannot be read" in done.stderr, done.stderr
