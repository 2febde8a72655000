"""The cache on disk: keys, round trips, damage, many processes, kill -9, the limit, directories that cannot be used."""

from __future__ import annotations

import enum
import os
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from weft.errors import CacheWarning
from weft.runtime import cache as cache_module
from weft.runtime.cache import Cache, default_cache, default_directory, digest, limit_from, process_cache

KEY = digest("an entry")
CONTENT = b"machine code" * 1000


@dataclass(frozen=True)
class Point:
    x: float
    y: int


@dataclass(frozen=True)
class Place:
    x: float
    y: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


# -- keys


def test_digest_separates_what_differs() -> None:
    values: list[object] = [
        None, True, False, 0, 1, 0.0, -0.0, 1.0, float("nan"), 1j, "", "1", b"1", (), (1,), [1], (1, 2), ((1,), 2),
        (1, (2,)), {}, {"a": 1}, {"a": 2}, frozenset({1}), {1}, Point(1.0, 2), Place(1.0, 2), Point(2.0, 2), Colour.RED,
        Colour.BLUE, Path("a"), int, float, np.dtype("f4"), np.dtype("f8"), np.dtype(">f8"), np.float64(1),
        np.float32(1), np.arange(3), np.arange(3.0), np.zeros((1, 3)), np.zeros((3, 1)), ...,
    ]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values)
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest(("a", "b")) != digest("a", "b")


def test_digest_is_the_same_for_equal_values() -> None:
    assert digest({"a": 1, "b": (1, 2)}) == digest({"b": (1, 2), "a": 1})
    assert digest(Point(1.0, 2)) == digest(Point(1.0, 2))
    assert digest({"x", "y", "z"}) == digest({"z", "y", "x"})


def test_digest_is_the_same_in_every_process(subprocess_environment: dict[str, str]) -> None:
    code = "from weft.runtime.cache import digest; print(digest('k', {'a', 'b', 'c'}, 1.5, {'x': (None, True)}))"
    seen = set()
    for seed in ("0", "1", "2"):
        environment = {**subprocess_environment, "PYTHONHASHSEED": seed}
        seen.add(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True))
    assert seen == {digest("k", {"a", "b", "c"}, 1.5, {"x": (None, True)}) + "\n"}


def test_digest_refuses_what_has_no_stable_value() -> None:
    for value in (object(), lambda: 0, np.array([object()])):
        with pytest.raises(TypeError, match="no stable digest"):
            digest(value)


def test_digest_of_shared_subtrees_is_linear() -> None:
    tree: tuple[object, ...] = (1,)
    for _ in range(200):
        tree = (tree, tree)
    assert digest(tree) == digest(tree)


# -- round trips


def test_put_then_get(cache: Cache, tmp_path: Path) -> None:
    assert cache.get(KEY) is None
    other = tmp_path / "other.txt"
    other.write_text("text")
    stored = cache.put(KEY, {"kernel.so": CONTENT, "note": other}, {"name": "f", "lines": [1, 2]})
    assert cache.get(KEY) == stored
    entry = Cache(cache.directory).entry(KEY)
    assert entry is not None
    assert (entry.path / "kernel.so").read_bytes() == CONTENT
    assert (entry.path / "note").read_text() == "text"
    assert entry.metadata == {"name": "f", "lines": [1, 2]}
    assert other.exists()


def test_put_twice_keeps_one(cache: Cache) -> None:
    assert cache.put(KEY, {"a": CONTENT}) == cache.put(KEY, {"a": CONTENT})
    assert cache.info().entries == 1
    assert list((cache.store / "temporary").iterdir()) == []


@pytest.mark.parametrize("name", ["manifest", "../escape", "a/b", "", ".", ".."])
def test_file_names_stay_inside_the_entry(cache: Cache, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        cache.put(KEY, {name: b""})


def test_a_hit_does_not_scan(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, {"kernel.so": b"x" * 100_000}, {"name": "f"})

    def no_scan(*_: object) -> None:
        raise AssertionError("a hit must not list the directory")

    monkeypatch.setattr(cache_module, "_entries", no_scan)
    monkeypatch.setattr(os, "scandir", no_scan)
    assert cache.get(KEY) is not None


# -- damage


@pytest.mark.parametrize("damaged", ["kernel.so", "manifest"])
@pytest.mark.parametrize("how", ["flip", "truncate", "empty", "missing"])
def test_a_damaged_entry_is_a_miss_and_can_be_stored_again(cache: Cache, damaged: str, how: str) -> None:
    path = cache.put(KEY, {"kernel.so": CONTENT}, {"name": "f"}) / damaged
    content = bytearray(path.read_bytes())
    if how == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif how == "truncate":
        path.write_bytes(content[:-1])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    assert cache.get(KEY) is None
    assert not path.parent.exists()
    again = cache.put(KEY, {"kernel.so": CONTENT})
    assert cache.get(KEY) == again
    assert (again / "kernel.so").read_bytes() == CONTENT


def test_put_replaces_a_damaged_entry_without_a_get_before(cache: Cache) -> None:
    path = cache.put(KEY, {"kernel.so": CONTENT})
    (path / "kernel.so").write_bytes(b"garbage")
    again = cache.put(KEY, {"kernel.so": CONTENT})
    assert (again / "kernel.so").read_bytes() == CONTENT


def test_a_file_in_the_place_of_an_entry(cache: Cache) -> None:
    place = cache.store / "entries" / KEY[:2] / KEY
    cache.auxiliary("made")
    place.parent.mkdir(parents=True)
    place.write_text("not a directory")
    assert cache.get(KEY) is None
    stored = cache.put(KEY, {"a": CONTENT})
    assert cache.get(KEY) == stored


# -- many processes

_WRITER = """
import sys, time
from pathlib import Path
from weft.runtime.cache import Cache
cache = Cache(Path(sys.argv[1]))
while time.time() < float(sys.argv[2]):
    time.sleep(0.001)
for round in range(30):
    key = sys.argv[3] + str(round % 3)
    path = cache.get(key) or cache.put(key, {"kernel.so": (str(round % 3) * 200000).encode()})
    assert (path / "kernel.so").read_bytes() == (str(round % 3) * 200000).encode(), path
"""


def test_concurrent_processes_writing_the_same_keys(cache: Cache, subprocess_environment: dict[str, str]) -> None:
    start = str(time.time() + 1.0)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(cache.directory), start, KEY],
            env=subprocess_environment, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    for writer in writers:
        _, problems = writer.communicate(timeout=600)
        assert writer.returncode == 0, problems
    assert cache.info().entries == 3
    assert all(cache.get(KEY + str(number)) is not None for number in range(3))
    assert list((cache.store / "temporary").iterdir()) == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from weft.runtime import cache as module
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
os.rename = killed
module.Cache(Path(sys.argv[1])).put(sys.argv[2], {"kernel.so": b"x" * 100})
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a matter of POSIX")
def test_kill_in_the_middle_of_a_put(cache: Cache, subprocess_environment: dict[str, str]) -> None:
    cache.auxiliary("made")
    command = [sys.executable, "-c", _KILLED, str(cache.directory), KEY]
    assert subprocess.run(command, env=subprocess_environment, timeout=600).returncode == -9
    (left,) = (cache.store / "temporary").iterdir()
    assert cache.get(KEY) is None
    assert cache.get(KEY) is None and cache.info().entries == 0
    assert cache.put(KEY, {"kernel.so": b"y"}) == cache.get(KEY)
    cache.sweep()
    assert left.exists(), "it may belong to a living process: only its age tells"
    os.utime(left, (0, 0))
    cache.sweep()
    assert not left.exists()


# -- the limit


def _age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path / "manifest", (then, then))


def test_the_least_recently_used_entries_leave_first(tmp_path: Path) -> None:
    writer = Cache(tmp_path / "cache", limit=10**9)
    paths = [writer.put(digest(number), {"data": b"x" * 40_000}) for number in range(10)]
    for number, path in enumerate(paths):
        _age(path, 1000 - number)
    _age(paths[0], 100)  # used again lately
    small = Cache(tmp_path / "cache", limit=300_000)
    small.put(digest("new"), {"data": b"x" * 40_000})
    assert small.info().bytes <= 300_000
    assert paths[0].exists() and paths[9].exists()
    assert not paths[1].exists() and not paths[2].exists()
    assert small.get(digest("new")) is not None


def test_entries_in_use_by_this_process_stay(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", limit=100_000)
    paths = []
    for number in range(6):
        paths.append(cache.put(digest(number), {"data": b"x" * 40_000}))
        _age(paths[-1], 1000)
    cache.sweep()
    assert all(path.exists() for path in paths)
    other = Cache(tmp_path / "cache", limit=100_000)
    other.sweep()
    assert other.info().bytes <= 100_000


def test_entries_used_a_moment_ago_by_another_process_stay(tmp_path: Path) -> None:
    path = Cache(tmp_path / "cache").put(KEY, {"data": b"x" * 40_000})
    Cache(tmp_path / "cache", limit=0).sweep()
    assert path.exists()


def test_the_ledger_survives_its_loss(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", limit=10**6)
    cache.put(KEY, {"data": b"x"})
    (cache.store / "ledger").unlink()
    assert cache.put(digest("other"), {"data": b"x"}).exists()
    cache.sweep()
    assert (cache.store / "ledger").stat().st_size == cache.info().bytes // 4096 == 4


# -- directories that cannot be used


def test_an_unwritable_directory_warns_once_and_works(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match="WEFT_CACHE_DIR") as seen:
        path = cache.put(KEY, {"kernel.so": CONTENT})
        cache.put(digest("second"), {"kernel.so": CONTENT})
        with cache.workspace() as directory:
            (directory / "x").write_text("x")
    assert len(seen) == 1 and seen[0].filename == __file__
    assert cache.get(KEY) == path
    assert (path / "kernel.so").read_bytes() == CONTENT
    assert not cache.info().writable


def test_the_warning_names_the_users_line_from_a_workspace_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match="WEFT_CACHE_DIR") as seen, cache.workspace():
        pass
    assert [one.filename for one in seen] == [__file__]


def test_a_directory_that_stops_being_writable(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    old = cache.put(KEY, {"kernel.so": CONTENT})
    real = cache_module._write

    def full(path: Path, data: bytes) -> None:
        if cache.directory in path.parents:
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(cache_module, "_write", full)
    with pytest.warns(CacheWarning, match="No space left"):
        new = cache.put(digest("second"), {"kernel.so": CONTENT})
    assert (new / "kernel.so").read_bytes() == CONTENT
    assert cache.get(KEY) == old, "what the directory holds can still be read"
    assert list((cache.store / "temporary").iterdir()) == []


def test_the_private_directory_is_removed_with_its_process(
    tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    (tmp_path / "file").write_text("")
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "from pathlib import Path; from weft.runtime.cache import Cache\n"
        "print(Cache(Path(sys.argv[1])).put('key', {'a': b'x'}))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "file" / "cache")]
    printed = subprocess.check_output(command, env=subprocess_environment, text=True).strip()
    assert printed and not Path(printed).exists()


# -- clearing, and which directory


def test_clear_removes_everything(cache: Cache) -> None:
    cache.put(KEY, {"a": CONTENT})
    cache.put(digest(2), {"a": CONTENT})
    (cache.auxiliary("zig") / "object").write_text("x")
    assert cache.info().entries == 2 and cache.info().bytes == 2 * (3 + 1) * 4096
    assert cache.clear() == 2
    assert cache.info().entries == 0 and cache.get(KEY) is None
    assert not (cache.store / "auxiliary").exists()
    assert cache.clear() == 0
    assert cache.put(KEY, {"a": CONTENT}).exists()


def test_info_creates_nothing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        info = Cache(tmp_path / "absent").info()
    assert (info.entries, info.bytes, info.writable) == (0, 0, True)
    assert not (tmp_path / "absent").exists()


def test_the_default_directory(private_cache: Path, tmp_path: Path) -> None:
    assert default_cache().directory == private_cache
    assert default_cache() is default_cache()
    if sys.platform == "linux":
        assert default_directory({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "weft"
        assert default_directory({"XDG_CACHE_HOME": "relative"}).is_absolute()
        assert default_directory({}).parts[-2:] == (".cache", "weft")


def test_the_process_cache_is_elsewhere(private_cache: Path) -> None:
    path = process_cache().put(KEY, {"a": b"x"})
    assert private_cache not in path.parents
    assert process_cache().get(KEY) == path and default_cache().get(KEY) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 10**9), ("5000", 5000), ("2K", 2000), ("1.5G", 15 * 10**8), ("3 mb", 3 * 10**6), ("lots", 10**9), ("-1", 0)],
)
def test_the_limit_from_the_environment(text: str, expected: int) -> None:
    assert limit_from(text) == expected
