"""Versions in the disk cache.  In: a compiled version and everything it depends on; out, in another process: the same
version, without running the compiler or any of its passes.

The key holds all that is known before compiling: the function's code and place, the kinds of the arguments, the
options, the tool chain, weft itself.  What is only known afterwards (the facts that the version was made from) is
kept with the entry and compared when it is read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import CompileError
from weft.options import Options
from weft.records import dataclass
from weft.runtime import cache, dispatch, portable, toolchain
from weft.runtime.descriptor import SourceLocation, Version
from weft.runtime.fingerprints import fingerprint
from weft.runtime.stamps import weft_stamp

_FORMAT = 3
_LIBRARY, _C = "kernel.so", "kernel.c"


@dataclass(frozen=True)
class Kept:
    """A version read from disk: its descriptor, the types it is for, and where the text of its C is."""

    version: Version
    signature: str
    c_file: Path

    @property
    def c_source(self) -> str:
        return self.c_file.read_text(encoding="utf-8")


def key_for(function: Callable[..., Any], kinds: str, options: Options, *attempt: int) -> str | None:
    """The key of a version; None if there is no compiler."""
    chain = toolchain.find()
    if chain is None:
        return None
    place = (function.__module__, function.__qualname__)
    system = (sys.implementation.cache_tag, np.__version__)
    code = fingerprint(function.__code__)
    return cache.digest(_FORMAT, weft_stamp(), code, place, kinds, options.for_code(), attempt, chain, system)


def keep(
    key: str,
    version: Version,
    *,
    signature: str,
    c_source: str,
    library: Path,
    cells: Mapping[str, object],
    function: Callable[..., Any],
) -> None:
    """Write a version to the disk cache, if it has a form that outlives the process."""
    data = portable.portable(version, cells, function)
    if data is None:
        return
    metadata = {"descriptor": data, "signature": signature}
    files: dict[str, bytes | Path] = {_LIBRARY: library, _C: c_source.encode()}
    cache.default_cache().put(key, files, metadata, renew=True)  # one that is there was made from something else


def restore(key: str, function: Any, cells: Mapping[str, Any]) -> Kept | None:
    """The version of a key from the disk cache; None if there is none, or if it is not valid here any more."""
    entry = cache.default_cache().entry(key)
    if entry is None:
        return None
    data = entry.metadata
    try:
        kernel = dispatch.load_kernel(entry.path / _LIBRARY)
        version = portable.restored(data["descriptor"], kernel.address, function.__globals__, kernel, cells, function)
    except (LookupError, AttributeError, CompileError):
        return None
    if version.location is not None:
        here = SourceLocation(function.__code__.co_filename, function.__name__, version.location.others)
        version = replace(version, location=here)
    return Kept(version, data["signature"], entry.path / _C)
