"""Versions of plain Python that another process has compiled.  In: a function; out: in the compiler's process, versions
that it leaves in the disk cache; in the program, the same versions, without any module of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import net
from weft.options import make_options
from weft.plain.function import Native
from weft.plain.kept import Store
from weft.plain.runtime import NotCompiled, compiled_kernel

#: What leads to these versions: those of `weft.jit` are found by other ways.
_WAY = "hot"


class Fetched(Native):
    """A function and its versions on disk."""

    def __init__(self, function: Any, missed: Callable[[tuple[Any, ...]], bool] | None = None) -> None:
        super().__init__(function, missed, store=Store(function, _WAY, self._trouble, by_types=False))
        #: Versions name objects that cannot be found again elsewhere: their C is made here as well.
        self.is_bound = False

    def _trouble(self, problem: Exception) -> None:
        if net.is_meant(problem, make_options({})):
            raise problem
        self.is_bound = True

    @property
    def is_kept(self) -> bool:
        """Whether another process finds the versions that were made here."""
        return self._store is not None and self._store.is_used

    def fetch(self, values: tuple[Any, ...]) -> None:
        """A further version for these arguments; NotCompiled if no process has made one."""
        if self.recall(values):
            return
        if not self.is_bound:
            raise NotCompiled("no process has compiled this yet")
        self.extend(values, compiled_kernel)
