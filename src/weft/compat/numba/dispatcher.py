"""What a decorated function has in Numba besides being called.  In: what `weft.jit` gives; out: the same with Numba's
attributes: `py_func`, `targetoptions`, `compile`, `recompile`, `inspect_types` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from weft.jitted import Jitted
from weft.options import make_options

__all__ = ["CPUDispatcher", "Dispatcher", "dressed"]

#: The class that programs test for: `isinstance(f, CPUDispatcher)`.
CPUDispatcher = Dispatcher = Jitted


class Overloads(Mapping[str, Any]):
    """The versions that were compiled so far, by the types of their arguments."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def _versions(self) -> list[str]:
        return list(dict.fromkeys(getattr(self._made, "signatures", ())))

    def __getitem__(self, key: str) -> Any:
        if key not in self._versions():
            raise KeyError(key)
        return self._made

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions())

    def __len__(self) -> int:
        return len(self._versions())


class Signatures(Sequence[Any]):
    """What was compiled: the signatures that were asked for, or the versions made so far."""

    def __init__(self, made: Any, asked: Iterable[Any]) -> None:
        self._made, self._asked = made, list(asked)

    def _known(self) -> list[Any]:
        return self._asked or list(getattr(self._made, "signatures", ()))

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    def __getitem__(self, key: int | slice) -> Any:
        return self._known()[key]

    def __len__(self) -> int:
        return len(self._known())


def dressed(made: Any, function: Callable[..., Any], options: dict[str, Any], signatures: list[Any]) -> Any:
    """A compiled function, or the plain one where nothing is compiled, with Numba's attributes."""

    def nothing(*_: Any, **__: Any) -> None:
        """Accepted, and nothing is done: weft compiles at the first call, and keeps versions on disk."""

    def inspect_types(file: Any = None, **_: Any) -> None:
        """What became of each line."""
        print(made.explain() if hasattr(made, "explain") else f"{function.__name__}: plain Python", file=file)

    def recompile() -> None:
        """The options that the program has put into `targetoptions` hold from now on."""
        from weft.compat.numba.decorators import weft_options

        if isinstance(made, Jitted):
            chosen = make_options(weft_options(made.targetoptions))  # type: ignore[attr-defined]
            if chosen != made.options:
                made._choose(chosen)

    made.py_func = function
    made.targetoptions = dict(options)
    made.nopython_signatures = Signatures(made, signatures)
    made.overloads = Overloads(made)
    made.compile = made.enable_caching = made.disable_compile = made.parallel_diagnostics = nothing
    made.inspect_types, made.recompile = inspect_types, recompile
    return made
