"""What becomes of an exception that weft did not expect.  In: the exception, wherever it comes from; out: whether it is
the caller's to see, or else the refusal that stands in its place.

Python can run any call that weft has only looked at.  So a mistake of weft's own, a lack of memory or of time while
compiling is a reason to leave the call to Python, and never an exception of the user's program.
"""

from __future__ import annotations

import os

from weft import steps
from weft.errors import ParallelError, Span, TransformError, Unsupported
from weft.options import Options


def is_meant(problem: BaseException, options: Options) -> bool:
    """Whether an exception that comes out of weft is for the caller.

    It is if the user asked for it (`fallback="error"`, a loop declared parallel, warnings that are errors), if a signal
    handler of the program has raised it, or if somebody looks for weft's own mistakes.
    """
    if isinstance(problem, (ParallelError, TransformError, Warning)) or not isinstance(problem, Exception):
        return True
    if isinstance(problem, Unsupported):
        return options.fallback == "error"
    if isinstance(problem, steps.OutOfTime):
        return False
    return steps.from_handler(problem) or os.environ.get("WEFT_VERIFY", "0") not in ("", "0")


def refusal(problem: Exception, place: Span, options: Options) -> Unsupported:
    """Why Python runs what met this exception."""
    if isinstance(problem, Unsupported):
        return problem
    if isinstance(problem, steps.OutOfTime):
        reason = f"compiling takes longer than {options.compile_timeout:g} s (it was at the step `{problem.step}`)"
        made = Unsupported(place, reason, "weft.jit(compile_timeout=seconds), or WEFT_COMPILE_TIMEOUT=seconds for all")
    else:
        reason = f"an error inside weft: {type(problem).__name__}: {problem}"
        made = Unsupported(place, reason, "please report it; WEFT_VERIFY=1 shows where it comes from")
    made.whole = True
    return made
