"""Functions that are called once and run for long.  In: the text and the code of a script; out: code in which such
functions, at their first call, are compiled if their loops over these arguments take long enough.

Samples come too late for them.  What counts is the estimate for the arguments at hand; below it the function gets its
own code back and costs nothing more.
"""

from __future__ import annotations

import sys

from weft.heat import trampoline

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import _ast
    import types
    from collections.abc import Callable
    from typing import Any

    from weft.heat.early import Watch
    from weft.heat.spots import Spot

#: Seconds of plain Python from which the wait for the compiler is sure to be won back.
HEAVY = 4.0
_ONLY_TREE = 0x400  # as ast.PyCF_ONLY_AST


def prepared(
    code: types.CodeType, text: bytes, namespace: dict[str, Any], options: dict[str, Any], watch: Watch
) -> types.CodeType:
    """The code of a module whose top-level functions with loops look at the arguments of their first call."""
    lines = text.splitlines()

    def replaced(constant: Any) -> Any:
        if not isinstance(constant, type(code)) or trampoline.unfit(constant) or constant.co_freevars:
            return constant
        # A decorator may look at the code, or call the function in its own ways.
        if not _line(lines, constant.co_firstlineno).startswith(b"def ") or not trampoline.has_loop(constant):
            return constant
        first = First(constant, lines, namespace, options, watch.spots)
        watch.firsts.append(first)
        return first.armed

    return code.replace(co_consts=tuple(map(replaced, code.co_consts)))


def _line(lines: list[bytes], number: int) -> bytes:
    return lines[number - 1] if 0 < number <= len(lines) else b""


def tree_of(lines: list[bytes], first: int) -> _ast.FunctionDef | None:
    """The function that begins on a line of its own at the margin; None if its text cannot be told from what follows.

    Only its own lines are parsed: those up to the next one at the margin.
    """
    last = first
    while last < len(lines) and lines[last][:1] in (b"", b" ", b"\t", b"\f", b"#", b")", b"]", b"}"):
        last += 1
    try:
        tree: Any = compile(b"\n".join(lines[first - 1 : last]), "<weft>", "exec", _ONLY_TREE, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None  # a text of several lines goes on at the margin, or the file has an encoding of its own
    found: _ast.FunctionDef = tree.body[0]
    return found


class First:
    """Stands in the place of a function until its first call."""

    def __init__(
        self,
        code: types.CodeType,
        lines: list[bytes],
        namespace: dict[str, Any],
        options: dict[str, Any],
        spots: list[Spot],
    ) -> None:
        self.code, self.lines, self.namespace, self.options, self.spots = code, lines, namespace, options, spots
        self.armed = trampoline.passing_on(code, self.call)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        function = trampoline.find_function(self.armed, self.namespace)
        target: Callable[..., Any] = trampoline.like(function, self.code, self.namespace)
        if function is None:
            return target(*args, **kwargs)  # there are several of it, and each asks again
        function.__code__ = self.code
        if "numpy" not in sys.modules:
            return target(*args, **kwargs)  # its loops are taken over while they run
        if self._seconds((*args, *kwargs.values())) < HEAVY:
            return target(*args, **kwargs)
        return self._compiled(function, target)(*args, **kwargs)

    def release(self) -> None:
        """The program is over: the function's own code, if it was never called, and nothing of the program held."""
        found = self.namespace.get(self.code.co_name)
        code = getattr(found, "__code__", None)
        if code is self.armed:
            found.__code__ = self.code  # type: ignore[union-attr]
        if code is self.armed or code is self.code:
            self.namespace = {}

    def _seconds(self, values: tuple[Any, ...]) -> float:
        tree = tree_of(self.lines, self.code.co_firstlineno)
        if tree is None:
            return 0.0
        from weft.heat import estimate

        return estimate.seconds(tree, dict(zip(self.code.co_varnames, values)), self.namespace)

    def _compiled(self, function: types.FunctionType, plain: Callable[..., Any]) -> Any:
        from weft.api import jit
        from weft.heat.spots import Spot

        native: Any = jit(plain, **self.options)
        if native is plain:
            return plain
        spot = Spot(self.code, self.namespace)
        self.spots.append(spot)
        spot.taken_over(function, native)
        return native
