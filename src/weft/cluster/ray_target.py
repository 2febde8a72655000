"""The Ray target.  In: a function; out: an object that runs tiles of it as tasks of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.cluster.kernels import TileTarget
from weft.options import Options


class Ray(TileTarget):
    """Tiles are tasks; blocks of arrays are objects of Ray's stores."""

    name = "ray"

    def function(self, function: Callable[..., Any], options: Options) -> Any:
        from weft.cluster.function import RayFunction

        return RayFunction(function, options)


TARGET = Ray()
