"""Files whose content runs as machine code.  In: a path and the checksum that its content must have; out: a library,
loaded from the very descriptor whose content was checked.

Trusted is a regular file, or a folder, that this user or root owns and nobody else may write.  Folders are opened one
inside the other by their descriptors, without following links: what was judged is what is read, whoever renames what
meanwhile.  Nothing here waits: a FIFO or a device in the place of a file is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from hashlib import blake2b as blake2b
else:
    try:
        from _blake2 import blake2b  # the same function; hashlib loads all of OpenSSL, too
    except ImportError:
        from hashlib import blake2b

Library = TypeVar("Library", bound=ctypes.CDLL)

_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)
_HAS_DESCRIPTORS: Final = os.open in os.supports_dir_fd and bool(_FOLDER)
#: Where the loader finds a file by its descriptor.
_BY_DESCRIPTOR: Final = Path("/proc/self/fd")


class Untrusted(OSError):
    """A file or a folder that must not be used, and why."""

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(errno.EPERM, reason, str(path))


def why_not(status: os.stat_result) -> str:
    """Why something with this owner and mode must not be used; "" if it may."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    return "others may write it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


class Folder:
    """A trusted folder, held by its descriptor."""

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        """The folder at a path, links followed; `descriptor`: one of it, which this object is to close."""
        self.path = path
        self._descriptor = descriptor
        if _HAS_DESCRIPTORS and descriptor is None:
            self._descriptor = os.open(path, _READ | _FOLDER)
        try:
            status = os.stat(path) if self._descriptor is None else os.fstat(self._descriptor)
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
            reason = why_not(status)
            if reason:
                raise Untrusted(path, reason)
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def folder(self, *names: str) -> Folder:
        """A folder inside, down several names."""
        here = self
        for name in names:
            try:
                inner = Folder(here.path / name, here._open(name, _FOLDER) if _HAS_DESCRIPTORS else None)
            finally:
                if here is not self:
                    here.close()
            here = inner
        return here

    def file(self, name: str) -> int:
        """A descriptor of a trusted file inside."""
        return judged(self._open(name), self.path / name)

    def read(self, name: str) -> bytes:
        """The content of a trusted file inside."""
        return _consumed(self.file(name))

    def _open(self, name: str, flags: int = 0) -> int:
        if self._descriptor is None:
            return os.open(self.path / name, _READ | _NO_LINK | flags)
        return os.open(name, _READ | _NO_LINK | flags, dir_fd=self._descriptor)


def regular(descriptor: int, path: str | Path) -> int:
    """The descriptor, if it is one of a regular file; else it is closed, and Untrusted is raised."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Untrusted(path, "it is no regular file")
    return descriptor


def judged(descriptor: int, path: str | Path) -> int:
    """The descriptor, if it is one of a trusted file; else it is closed, and Untrusted is raised."""
    regular(descriptor, path)
    reason = why_not(os.fstat(descriptor))
    if reason:
        os.close(descriptor)
        raise Untrusted(path, reason)
    return descriptor


def opened(path: Path) -> int:
    """A descriptor of a regular file, whoever owns it."""
    return regular(os.open(path, _READ), path)


def read(path: Path) -> bytes:
    """The content of a trusted file."""
    return _consumed(judged(os.open(path, _READ), path))


def checksum(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def load(descriptor: int, path: Path, expected: str, kind: type[Library]) -> Library:
    """The library behind a descriptor, which is closed, if its content has the checksum; else OSError."""
    with os.fdopen(descriptor, "rb") as stream:
        if not expected or checksum(stream.read()) != expected:
            raise Untrusted(path, "its content is not what was written")
        if not _BY_DESCRIPTOR.exists() or _read_by_tools():
            return kind(str(path))
        high = _high(descriptor)
        try:
            return kind(_name_of(high))
        finally:
            if high != descriptor:
                os.close(high)


def _read_by_tools() -> bool:
    """Whether somebody opens loaded libraries by their names: sanitizers for the lines of their reports, gdb."""
    from weft.options import wants_lines

    return wants_lines() or os.environ.get("WEFT_SANITIZE", "0") not in ("", "0")


def _high(descriptor: int) -> int:
    """The same file under a number that no other process uses: gdb opens the names of libraries, and what it has
    itself under a low number may be a pipe, on which it would wait for ever.
    """
    try:
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except (ImportError, OSError):  # beyond the limit of open files
        return descriptor


_HIGH: Final = 900
_loaded = itertools.count(1)


def _name_of(descriptor: int) -> str:
    """A path of the descriptor that was never given to the loader: it takes equal names for the same library."""
    folders = "".join("./" if bit == "0" else ".//" for bit in f"{next(_loaded):b}")
    return f"{_BY_DESCRIPTOR}/{folders}{descriptor}"


def _consumed(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


@contextlib.contextmanager
def appending(path: Path) -> Iterator[int]:
    """A descriptor for bytes at the end of a regular file, which is made if it is not there."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | (_READ & ~os.O_RDONLY) | _NO_LINK
    descriptor = regular(os.open(path, flags, 0o644), path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
