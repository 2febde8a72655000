"""What users touch: `weft.jit`.  In: a Python function and options; out: a `Jitted`, or the function itself under
WEFT_DISABLE=1.
"""

from __future__ import annotations

import errno
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

from weft import forking, handlers, net, steps, warned
from weft.errors import Span
from weft.options import make_options

F = TypeVar("F", bound=Callable[..., Any])


@overload
def jit(function: F, /, **options: Any) -> F: ...
@overload
def jit(**options: Any) -> Callable[[F], F]: ...
def jit(function: Any = None, /, **options: Any) -> Any:
    """Compile a function: `@weft.jit`, or `@weft.jit(fallback="error", fp="strict", parallel=False, ...)`.

    Nothing is compiled yet: the first call with arguments of new types compiles a version for them. What comes back is
    called like the function and gives the same answers; a line that weft cannot compile runs as Python, with a warning
    (`weft.FallbackWarning`), or with `fallback="error"` raises `weft.Unsupported`. With `WEFT_DISABLE=1` the function
    comes back unchanged.
    """
    chosen = make_options(options)

    def decorate(target: Any) -> Any:
        if os.environ.get("WEFT_DISABLE", "0") not in ("", "0") or not forking.can_load():
            return target
        if forking.is_working() and "weft.jitted" not in sys.modules:
            return target  # a signal handler asks while weft is being loaded
        try:
            with handlers.passing(), forking.working():
                from weft.runtime.dispatch import load_core

                load_core()  # may take long, and no module must be half loaded so long: another thread may fork
                from weft.jitted import Jitted
        except OSError as lack:
            if chosen.fallback == "error" or lack.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            return target  # Python cannot even read weft's modules

        if isinstance(target, Jitted) or hasattr(target, "__weft_distributed__"):
            target = target.py_func
        if not inspect.isfunction(target):
            if chosen.fallback == "error" or not callable(target):
                no_types = ": leave the types out, those of each call count" if isinstance(target, str) else ""
                raise TypeError(f"weft.jit needs a Python function, not {type(target).__name__}{no_types}")
            return target
        if chosen.tune:
            from weft.blocksizes import Tuned

            return Tuned(target, chosen, lambda function, options: _compiled(function, options, Jitted))
        if chosen.target != "cpu":
            return _compiled(target, chosen, Jitted)
        try:
            steps.enter("decorate")
            return Jitted(target, chosen)
        except Exception as trouble:
            if net.is_meant(trouble, chosen):
                raise
            code = target.__code__
            place = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
            problem = net.refusal(trouble, place, chosen)
            if chosen.fallback == "error":
                raise problem from trouble
            if chosen.fallback == "warn":
                warned.warn(problem.told("runs as plain Python"), place.file, place.line)
            return target

    return decorate if function is None else decorate(function)


def _compiled(function: Any, options: Any, local: Any) -> Any:
    """The function for its target."""
    if options.target == "cpu":
        return local(function, options)
    from weft import targets

    return targets.find(options.target).function(function, options)
