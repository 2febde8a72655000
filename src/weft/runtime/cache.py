"""A content-addressed store on disk for compiled code. In come a key (from `digest`) with files and JSON metadata; out
comes a directory that holds exactly those files. An entry appears by one rename, carries checksums that every read
verifies, and may be removed at any time by any process: whatever goes wrong is a miss, never a wrong answer.

Everything lies in one folder of the cache's directory, which weft has made and marked: nothing else is ever removed.
Entries are read, and libraries loaded, only where this user or root owns the folders and the files and nobody else may
write them (`weft.runtime.trusted`).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import struct
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from weft import steps
from weft.errors import CacheWarning, users_level
from weft.forking import Lock
from weft.naming import home_of
from weft.records import dataclass
from weft.runtime import place, trusted
from weft.runtime.trusted import Folder, Library, Untrusted, blake2b, checksum

if sys.platform != "win32":
    import fcntl

DEFAULT_LIMIT = 1_000_000_000
_STORE = place.STORE
_MARK = "CACHEDIR.TAG"
_MARKED = b"""Signature: 8a477f597d28d172789f06886806bc55
# Compiled code of weft, which made this folder: `weft cache clear` removes what is in it.
"""
_MANIFEST = "manifest"
_LEDGER = "ledger"
_BLOCK = 4096
_KEEP_FRACTION = 0.8
_STALE_SECONDS = 3600.0
_FRESH_SECONDS = 30.0
#: How long a process waits for another one that builds the same, before it builds for itself.
_PATIENCE = 60.0


# ---------------------------------------------------------------------------------------------------------------- keys


def digest(*parts: object) -> str:
    """A stable key derived from the values: the same in every process, different if any part or field differs."""
    hasher = blake2b(digest_size=20)
    memo: dict[int, bytes] = {}
    for part in parts:
        _frame(hasher, b"part", _encode(part, memo))
    return hasher.hexdigest()


def _frame(hasher: blake2b, tag: bytes, content: bytes) -> None:
    # Lengths in front of contents: ("ab", "c") and ("a", "bc") must not meet.
    hasher.update(tag + struct.pack("<q", len(content)) + content)


def _qualified(kind: type) -> bytes:
    return f"{home_of(kind)}.{kind.__qualname__}".encode()


def _encode(value: object, memo: dict[int, bytes]) -> bytes:
    kind = type(value)
    if value is None or value is Ellipsis or kind in (bool, int, float, complex, str):
        # repr of a float is exact and keeps the sign of zero; the type name separates 1, 1.0 and True.
        return kind.__name__.encode() + b":" + repr(value).encode("utf-8", "surrogatepass")
    if kind is bytes:
        assert isinstance(value, bytes)
        return b"bytes:" + value
    known = memo.get(id(value))
    if known is None:
        # Hashing each node once keeps a program with shared subtrees linear.
        known = memo[id(value)] = _encode_composite(value, memo)
    return known


def _encode_composite(value: object, memo: dict[int, bytes]) -> bytes:
    hasher = blake2b(_qualified(type(value)), digest_size=20)
    if isinstance(value, type):
        hasher.update(b"type" + _qualified(value))
    elif isinstance(value, Enum):
        _frame(hasher, b"enum", value.name.encode())
    elif is_dataclass(value):
        for field in fields(value):
            _frame(hasher, field.name.encode(), _encode(getattr(value, field.name), memo))
    elif isinstance(value, (tuple, list)):
        for item in value:
            _frame(hasher, b"item", _encode(item, memo))
    elif isinstance(value, Mapping):
        for key, item in sorted((_encode(key, memo), _encode(item, memo)) for key, item in value.items()):
            _frame(hasher, b"key", key)
            _frame(hasher, b"value", item)
    elif isinstance(value, (set, frozenset)):
        for encoded in sorted(_encode(item, memo) for item in value):
            _frame(hasher, b"member", encoded)
    elif isinstance(value, PurePath):
        _frame(hasher, b"path", os.fsencode(value))
    elif home_of(type(value)).partition(".")[0] == "numpy":
        _encode_numpy(hasher, value)
    else:
        raise TypeError(f"no stable digest for a value of type {type(value).__name__}: {value!r}")
    return hasher.digest()


def _encode_numpy(hasher: blake2b, value: object) -> None:
    import numpy

    if isinstance(value, numpy.dtype):
        if value.hasobject or value.names:
            raise TypeError(f"no stable digest for dtype {value!r}")
        _frame(hasher, b"dtype", value.str.encode())
    elif isinstance(value, (numpy.ndarray, numpy.generic)) and not value.dtype.hasobject:
        _frame(hasher, b"dtype", value.dtype.str.encode())
        _frame(hasher, b"shape", repr(value.shape).encode())
        _frame(hasher, b"data", value.tobytes())
    else:
        raise TypeError(f"no stable digest for a value of type {type(value).__name__}: {value!r}")


# --------------------------------------------------------------------------------------------------------------- store


@dataclass(frozen=True)
class Entry:
    """One verified entry: its directory and the metadata it was stored with."""

    path: Path
    metadata: dict[str, Any]


@dataclass(frozen=True)
class CacheInfo:
    """What `weft cache info` and `weft doctor` show."""

    directory: Path
    writable: bool
    entries: int
    bytes: int
    limit: int


def _blocks(size: int) -> int:
    return -(-size // _BLOCK)


class Cache:
    """A store in one directory, shared by any number of processes."""

    def __init__(self, directory: Path, limit: int = DEFAULT_LIMIT) -> None:
        self.directory = directory
        self.limit = limit
        self._private: Path | None = None
        self._held: set[str] = set()
        self._lock = Lock()

    def get(self, key: str) -> Path | None:
        """The directory of the entry, after its checksums were verified; None if there is none or it was damaged."""
        entry = self.entry(key)
        return None if entry is None else entry.path

    def entry(self, key: str) -> Entry | None:
        """As `get`, with the metadata."""
        for store in self._stores():
            entry = _verified(store, key)
            if entry is not None:
                self._held.add(key)
                _touch(entry.path)
                return entry
            _discard_damaged(store, key)
        return None

    def put(
        self,
        key: str,
        files: Mapping[str, bytes | Path],
        metadata: Mapping[str, Any] | None = None,
        *,
        renew: bool = False,
    ) -> Path:
        """Store contents (or copies of files) under their names with JSON metadata; the directory of the entry.

        `renew`: in the place of what is there, which is of no use any more; else equal keys mean equal contents.
        """
        contents = {name: item if isinstance(item, bytes) else item.read_bytes() for name, item in files.items()}
        for name in contents:
            if name in ("", "..", _MANIFEST) or PurePath(name).name != name:
                raise ValueError(f"not a name for a file of a cache entry: {name!r}")
        body = json.dumps(
            {
                "key": key,
                "files": {name: checksum(data) for name, data in contents.items()},
                "metadata": dict(metadata or {}),
            },
            sort_keys=True,
        ).encode()
        contents[_MANIFEST] = checksum(body).encode() + b"\n" + body
        try:
            if renew:
                _discard(self._writable(), _place(self._writable(), key))
            path = _stored(self._writable(), key, contents)
        except OSError as problem:
            # A full disk or a directory that turned read-only: the code just compiled must still be usable.
            path = _stored(self._retreat(problem), key, contents)
        self._held.add(key)
        self._account(sum(_blocks(len(data)) for data in contents.values()))
        return path

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A scratch directory beside the entries, removed at the end; after kill -9 a later sweep removes it."""
        try:
            path = _temporary(self._writable())
        except OSError as problem:
            path = _temporary(self._retreat(problem))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def building(self, key: str) -> Iterator[None]:
        """Held by one process for each key: the others wait, not for ever, and find what it stored."""
        lock = self._locked(key)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def _locked(self, key: str) -> _FileLock | None:
        if sys.platform == "win32":
            return None  # no such locks: every process builds for itself
        # Half of the time that is allowed for compiling is left for that.
        end, pause = time.monotonic() + min(_PATIENCE, steps.remaining() / 2), 0.005
        while True:
            try:
                found = _FileLock.taken(_folder(self._writable(), "temporary") / f"{key}.lock")
            except OSError:
                return None  # no place for it, or a file system without locks
            if found is not None or time.monotonic() > end:
                return found
            time.sleep(pause)
            pause = min(2 * pause, 0.2)

    def auxiliary(self, name: str) -> Path:
        """A directory for a tool's own cache (it is not checksummed); `clear` removes it."""
        try:
            return _folder(self._writable(), "auxiliary", name)
        except OSError as problem:
            return _folder(self._retreat(problem), "auxiliary", name)

    def info(self) -> CacheInfo:
        """Counts the entries by walking the directory: for people, not for hot paths."""
        found = [size for store in self._stores() for _, _, size in _entries(store)]
        writable = self._private is None and _is_writable(self.directory)
        return CacheInfo(self.directory, writable, len(found), sum(found), self.limit)

    def clear(self) -> int:
        """Remove every entry and every leftover; the number of entries removed. Code already loaded stays loaded.

        A folder that weft has not made is left alone, whatever its name is.
        """
        removed = 0
        for store in self._stores():
            if not _is_marked(store):
                continue
            for path, _, _ in list(_entries(store)):
                removed += _discard(store, path)
            for name in ("temporary", "auxiliary"):
                shutil.rmtree(store / name, ignore_errors=True)
            (store / _LEDGER).unlink(missing_ok=True)
        self._held.clear()
        return removed

    # -- where to write

    @property
    def store(self) -> Path:
        """The folder that holds everything of the cache, whether it is there or not."""
        return self.directory / _STORE

    def _stores(self) -> tuple[Path, ...]:
        # A read-only directory may still hold good entries (a shared, pre-filled cache), so it is always asked.
        return (self.store,) if self._private is None else (self.store, self._private / _STORE)

    def _writable(self) -> Path:
        """The store, made if it is not there; OSError if it cannot be used."""
        return _made(self.directory if self._private is None else self._private)

    def _retreat(self, problem: OSError) -> Path:
        """Give up the directory for this process, with one warning, and go on in a private temporary one."""
        with self._lock:
            if self._private is None:
                self._private = _private_directory()
                reason = problem.strerror or str(problem)
                warnings.warn(
                    f"cannot use the cache directory {self.directory} ({reason}): compiled code is kept for this "
                    "process only. Set WEFT_CACHE_DIR to a writable directory.",
                    CacheWarning,
                    stacklevel=users_level(),
                )
            return _made(self._private)

    # -- the limit

    def _account(self, blocks: int) -> None:
        """One byte a stored block is appended to the ledger, so its size bounds what is stored without any scan."""
        try:
            with trusted.appending(self._writable() / _LEDGER) as ledger:
                os.write(ledger, b"." * blocks)
                total = os.fstat(ledger).st_size * _BLOCK
        except OSError:
            total = self.limit + 1
        if total > self.limit:
            self.sweep()

    def sweep(self) -> None:
        """Remove the least recently used entries above the limit, and what killed processes left behind."""
        try:
            store = self._writable()
        except OSError as problem:
            store = self._retreat(problem)
        now = time.time()
        _remove_stale(store / "temporary", now - _STALE_SECONDS)
        entries = sorted(_entries(store), key=lambda found: found[1])
        total = sum(size for _, _, size in entries)
        if total > self.limit:
            for path, used, size in entries:
                # An entry used a moment ago may be between the lookup and the loading of another process.
                if total <= self.limit * _KEEP_FRACTION or now - used < _FRESH_SECONDS:
                    break
                if path.name not in self._held and _discard(store, path):
                    total -= size
        try:
            with trusted.appending(store / _LEDGER) as ledger:
                os.ftruncate(ledger, total // _BLOCK)
        except OSError as problem:
            self._retreat(problem)


# --- the folder of the store -----------------------------------------------------------------------------------------


def _made(base: Path) -> Path:
    """The store of a directory, made if it is not there; OSError if what is in its place is not weft's."""
    store = base / _STORE
    if not os.path.lexists(store):
        base.mkdir(parents=True, exist_ok=True)
        staged = base / f".{_STORE}-{os.getpid()}-{os.urandom(4).hex()}"
        staged.mkdir(mode=0o755)
        try:
            _write(staged / _MARK, _MARKED)  # before others can see the folder
            os.rename(staged, store)
        except OSError:
            if not os.path.lexists(store):
                raise
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    if not _is_marked(store):
        with Folder(store):  # says what is wrong with its owner, or its mode
            raise Untrusted(store, f"weft has not made the folder {_STORE} in it")
    return store


def _is_marked(store: Path) -> bool:
    """Whether weft has made this folder, and it can be trusted."""
    try:
        with Folder(store) as folder:
            return folder.read(_MARK) == _MARKED
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    """A new file that only its owner may write, whatever the process allows others by default."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def _folder(store: Path, *names: str) -> Path:
    """A folder inside the store that only its owner may write."""
    path = store
    for name in names:
        path /= name
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o755)
    return path


class _FileLock:  # not on Windows
    """A lock that processes share by a file; it ends with the process at the latest."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @staticmethod
    def taken(path: Path) -> _FileLock | None:
        """The lock; None if somebody else has it."""
        with contextlib.ExitStack() as failing:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
            failing.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            try:
                # Who had it before has removed the file: a lock on that file is one that nobody else sees.
                if not os.path.samestat(os.stat(path), os.fstat(descriptor)):
                    return None
            except FileNotFoundError:
                return None
            failing.pop_all()
        return _FileLock(path, descriptor)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        # Not by closing alone: a child that was forked meanwhile holds the descriptor, too.
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)


# --- entries ---------------------------------------------------------------------------------------------------------


def _place(store: Path, key: str) -> Path:
    return store / "entries" / key[:2] / key


def library(path: Path, kind: type[Library]) -> Library:
    """Load a file of an entry, from the descriptor whose content was checked; OSError if it is not what was stored."""
    names = path.parts[-4:-1]
    with Folder(path.parents[3]) as store, store.folder(*names) as entry:
        try:
            expected = _manifest(entry, names[-1])["files"][path.name]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise Untrusted(path, "its entry in the cache is damaged") from None
        return trusted.load(entry.file(path.name), path, expected, kind)


def _manifest(entry: Folder, key: str) -> dict[str, Any]:
    """The manifest of an entry; ValueError if it is damaged, or another entry's."""
    stated, _, body = entry.read(_MANIFEST).partition(b"\n")
    if checksum(body).encode() != stated:
        raise ValueError("not what was written")
    manifest: dict[str, Any] = json.loads(body)
    if manifest["key"] != key:
        raise ValueError("of another entry")
    return manifest


def _verified(store: Path, key: str) -> Entry | None:
    """Read an entry and compare every checksum; None if anything is missing, differs or cannot be trusted."""
    try:
        with Folder(store) as outer, outer.folder("entries", key[:2], key) as entry:
            manifest = _manifest(entry, key)
            for name, expected in manifest["files"].items():
                if checksum(entry.read(name)) != expected:
                    return None
            return Entry(_place(store, key), manifest["metadata"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _stored(store: Path, key: str, contents: Mapping[str, bytes]) -> Path:
    """Write an entry beside its place, and rename it."""
    final = _place(store, key)
    staged = _temporary(store)
    try:
        for name, data in contents.items():
            _write(staged / name, data)
        _folder(store, "entries", key[:2])
        for _ in range(8):
            try:
                os.rename(staged, final)
                return final
            except OSError:
                # Another process was first (equal keys mean equal contents), or a damaged entry is in the way.
                if _verified(store, key) is not None:
                    return final
                if not os.path.lexists(final):
                    raise
                _discard_damaged(store, key)
        raise OSError(f"cannot replace the damaged cache entry {final}")
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _touch(path: Path) -> None:
    """Mark an entry as used now. Only the order of eviction depends on it, so a read-only directory is no trouble."""
    try:
        os.utime(path / _MANIFEST)
    except OSError:
        return


def _discard(store: Path, path: Path) -> bool:
    """Remove an entry: renamed away first, so that no reader ever sees half of it."""
    if not os.path.lexists(path):
        return False
    try:
        grave = _temporary(store)
        os.rename(path, grave / "entry")
    except OSError:
        return False
    shutil.rmtree(grave, ignore_errors=True)
    return True


def _discard_damaged(store: Path, key: str) -> None:
    """Remove an entry that failed its verification, unless a good one has taken its place meanwhile."""
    path = _place(store, key)
    if os.path.lexists(path) and _is_marked(store) and _verified(store, key) is None:
        _discard(store, path)


def _temporary(store: Path) -> Path:
    path = _folder(store, "temporary") / f"{os.getpid()}-{os.urandom(6).hex()}"
    path.mkdir(mode=0o755)
    return path


def _entries(store: Path) -> Iterator[tuple[Path, float, int]]:
    """Every entry with the time of its last use and its size in whole blocks; vanishing entries are skipped."""
    for path in (store / "entries").glob("??/*"):
        try:
            used = (path / _MANIFEST).stat().st_mtime
            size = sum(_blocks(item.stat().st_size) * _BLOCK for item in os.scandir(path))
        except OSError:
            used, size = 0.0, _BLOCK
        yield path, used, size


def _remove_stale(parent: Path, before: float) -> None:
    """Remove scratch directories so old that no living process can still be using them."""
    try:
        found = list(os.scandir(parent))
    except OSError:
        return
    for item in found:
        try:
            if item.stat(follow_symlinks=False).st_mtime < before:
                if item.is_dir(follow_symlinks=False):
                    shutil.rmtree(item.path, ignore_errors=True)
                else:
                    os.unlink(item.path)
        except OSError:
            continue


def _is_writable(directory: Path) -> bool:
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    store = directory / _STORE
    return (
        existing.is_dir()
        and os.access(existing, os.W_OK | os.X_OK)
        and (not os.path.lexists(store) or _is_marked(store))
    )


# ------------------------------------------------------------------------------------------------- which directory


def _private_directory() -> Path:
    """A temporary directory of this process, removed when it ends (not when a forked child ends)."""
    import tempfile

    path = Path(tempfile.mkdtemp(prefix="weft-"))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return path


def default_directory(environment: Mapping[str, str] | None = None) -> Path:
    """$WEFT_CACHE_DIR, else `weft` in the user's cache directory."""
    return Path(place.directory(environment))


def limit_from(text: str) -> int:
    """Bytes from WEFT_CACHE_LIMIT: a number with an optional K, M or G; the default if empty or unreadable."""
    text = text.strip().upper().removesuffix("B")
    scale = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    number = text[:-1] if scale > 1 else text
    try:
        return max(0, int(float(number) * scale))
    except (ValueError, OverflowError):
        return DEFAULT_LIMIT


@cache
def _cache_at(directory: Path, limit: int) -> Cache:
    return Cache(directory, limit)


def default_cache() -> Cache:
    """The cache the environment names; the same object as long as the environment stays the same."""
    return _cache_at(default_directory(), limit_from(os.environ.get("WEFT_CACHE_LIMIT", "")))


@cache
def process_cache() -> Cache:
    """A cache that lives as long as this process: for `cache=False`."""
    return Cache(_private_directory())
