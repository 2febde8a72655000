"""The transformations asked for of one function.  In: those given by `weft.transform`, or kept in the file beside its
source; out: directives for the passes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from types import CellType
from typing import TYPE_CHECKING, Any

from weft.directives import NONE, Directive, Directives, SkipPass
from weft.errors import TransformWarning, Unsupported

if TYPE_CHECKING:
    from weft.frontend.source import Source
    from weft.options import Options


class Steering:
    """What is asked of a function; the file beside its source is read when somebody first wants to know."""

    def __init__(
        self, function: Callable[..., Any], load: Callable[[], Source], options: Options | None = None
    ) -> None:
        self.function: Any = function
        self.load = load
        tune = options.tune if options is not None else ()
        #: What the clock has chosen for names in comments.
        self.numbers = {name: values[0] for name, values in tune if len(values) == 1}
        self._asked: tuple[Directive, ...] | None = None
        self._from_file = False

    def asked(self) -> tuple[Directive, ...]:
        """All transformations, in order."""
        if self._asked is None:
            self._asked = self._kept()
            self._from_file = True
        return self._asked

    def ask(self, directives: tuple[Directive, ...]) -> None:
        """Take these from now on, whatever the file says."""
        self._asked = directives
        self._from_file = False

    def _kept(self) -> tuple[Directive, ...]:
        """Those of the file beside the source; a warning if they are no longer meant for this function."""
        from weft import transform_file

        source = self.function.__code__.co_filename
        if not source or not os.path.isfile(file := transform_file.place(source)):  # executed code may have any name
            return ()
        name = self.function.__qualname__
        try:
            found = transform_file.read(file, name, self.load().tree)
            for each in found:
                if isinstance(each, SkipPass):
                    from weft.passes.order import require_optional

                    require_optional(each.skipped)
            return found
        except transform_file.Changed:
            reason = "the function has changed since they were saved; weft.transform(...).save() keeps new ones"
        except (ValueError, Unsupported) as problem:
            reason = str(problem)
        text = f"{file}: the transformations of `{name}` are not applied: {reason}"
        warnings.warn_explicit(text, TransformWarning, str(file), 1)
        return ()

    def directives(self, lenient: bool) -> Directives:
        """The transformations for the passes, each place with the lines it stands for.

        `lenient`: a loop that is not there is no error, nor is it where the transformations come from the file: they
        were made for other arguments.
        """
        from weft.frontend.dimensions import shapes
        from weft.frontend.source import resolved

        found, source = self.asked(), self.load()
        said = shapes(source.tree, self._numbers(source))
        if not found and not said:
            return NONE
        items = tuple(each.moved(lambda where: resolved(where, source.tree)) for each in found)
        return Directives(items, lenient or self._from_file, said)

    def named(self) -> set[str]:
        """The names that comments use for numbers of elements."""
        from weft.frontend.dimensions import names

        try:
            return names(self.load().tree)
        except Unsupported:
            return set()

    def _numbers(self, source: Source) -> dict[str, object]:
        """The names that comments may use for numbers: parameters with their defaults, and what the module has."""
        import inspect

        cells = {name: cell.cell_contents for name, cell in source.cells.items() if cell != CellType()}
        parameters = inspect.signature(self.function).parameters.values()
        given = {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}
        return {**source.namespace, **cells, **given, **self.numbers}
