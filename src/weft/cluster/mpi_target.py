"""The MPI target.  In: a function; out: an object that every rank calls, and that runs its own tiles on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.cluster.kernels import TileTarget
from weft.options import Options


class Mpi(TileTarget):
    """Tiles belong to ranks; blocks of arrays stay with them, and halos travel."""

    name = "mpi"

    def function(self, function: Callable[..., Any], options: Options) -> Any:
        from weft.cluster.mpi_engine import MpiFunction

        return MpiFunction(function, options)


TARGET = Mpi()
