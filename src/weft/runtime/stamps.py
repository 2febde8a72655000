"""What tells this weft from any other, in every process."""

from __future__ import annotations

import functools
import os

from weft.runtime import cache


@functools.lru_cache(maxsize=1)
def weft_stamp() -> str:
    """What tells this weft from any other: the names, sizes and times of its files."""
    return stamp_of(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def stamp_of(root: str) -> str:
    """The stamp of the sources below a folder; every process asks for it, and there are some hundreds of them."""
    found: list[str] = []
    folders = [(root, "")]
    for folder, inside in folders:  # grows meanwhile
        with os.scandir(folder) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    folders.append((item.path, f"{inside}{item.name}/"))
                elif item.name.endswith((".py", ".c", ".h")):
                    state = item.stat()
                    found.append(f"{inside}{item.name} {state.st_size} {state.st_mtime_ns}")
    return cache.digest("\n".join(sorted(found)))
