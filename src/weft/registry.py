"""The targets by name.  In: nothing; out: a table of where each `Target` object is, which nothing has to load.

A new target is a module with a `Target` object (`weft.targets`) and a line here.
"""

from __future__ import annotations

from typing import Final, Literal

from weft.records import dataclass


@dataclass(frozen=True)
class Entry:
    """`home` is module:name.  `option`: users choose the target by `backend=` (the code of the CPU), `target=` or
    `weft build --emit`.

    `kept`: versions are files, which the disk cache keeps for other processes.
    """

    name: str
    home: str
    option: Literal["backend", "target", "emit"]
    kept: bool = False


#: The back ends of the CPU stand in the order in which they are tried.
ENTRIES: Final[list[Entry]] = [
    Entry("c", "weft.targets.c:TARGET", "backend", kept=True),
    Entry("python", "weft.targets.python:TARGET", "backend"),
    Entry("ray", "weft.cluster.ray_target:TARGET", "target"),
    Entry("mpi", "weft.cluster.mpi_target:TARGET", "target"),
    Entry("opencl", "weft.device.opencl:TARGET", "target"),
    Entry("cuda", "weft.device.cuda:TARGET", "target"),
    Entry("auto", "weft.device.targets:AUTO", "target"),
    Entry("hls", "weft.hls.target:VITIS", "emit"),
    Entry("intel", "weft.hls.target:INTEL", "emit"),
]


#: Modules of weft whose functions compiled code knows, and the modules that say how; loaded when one is met.
KNOWN_ELSEWHERE: Final[dict[str, str]] = {"weft.cluster.comm": "weft.cluster.comm_native"}


def names(option: str) -> tuple[str, ...]:
    """The targets that an option chooses among."""
    return tuple(entry.name for entry in ENTRIES if entry.option == option)


def is_kept(backend: str) -> bool:
    """Whether the versions of a back end are kept on disk; "auto" may mean one whose are."""
    return any(entry.kept and backend in ("auto", entry.name) for entry in ENTRIES)
