"""Which compiler takes a function.  In: a `Jitted` and the arguments of a call; out: whether it runs as plain Python
from now on.

There are two compilers: that of arrays (frontend, passes, codegen) and that of plain Python (weft.plain). A function
that works on containers, strings or objects goes to the second at once, any other one if the first refuses it.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft import collector, forking, handlers, net, recalled, steps
from weft.errors import APART, LeftToLibrary, Unsupported, lacks_compiler
from weft.options import Stress
from weft.trial import Regions

if TYPE_CHECKING:
    from weft.frontend.vectors import ArrayWork

#: Attempts that fail before a function is left to the other compiler.
MAX_FAILURES = 4
#: The way of functions that this compiler is asked for before the other one.
_FIRST = "first"


def may_take(function: Any, values: tuple[Any, ...], by_plain: bool = False) -> bool:
    """Whether a function may be plain Python: nothing was asked of the compiler of arrays. A region is that compiler's,
    but for what the other one alone has a form of (`by_plain`)."""
    from weft.plain import choice

    options, stress = function.options, function.options.stress
    asked = options.backend == "python" or stress.general or function.transforms()
    is_other = function._is_region and function._native is None and not by_plain
    if asked or is_other or function.signature.variadic or os.environ.get("WEFT_PLAIN", "1") == "0":
        return False
    return not choice.uses_foreign(function.py_func, values)


def takes_first(function: Any, values: tuple[Any, ...]) -> bool:
    """Whether a call is run as plain Python before the compiler of arrays is asked."""
    from weft.plain import choice

    if (function._compiled and function._native is None) or not may_take(function, values):
        return False
    if function._native is not None:
        if function._in_regions is not None:
            function._in_regions.asked()
        return True  # it makes its versions itself
    try:
        if choice.uses_arrays(function.py_func, values):
            return False  # the compiler of arrays makes vectors and threads, and has the first word
        if _recalled(function, values):
            return True
        wanted = choice.is_plain(function.py_func, function._load().tree, values)
    except Unsupported:
        return False
    return wanted and takes(function, values, _FIRST)


def _recalled(function: Any, values: tuple[Any, ...]) -> bool:
    """Whether another process has asked this compiler first for such a call, and its version can be used."""
    if function._plain_failures >= MAX_FAILURES:
        return False
    native = _native(function, _FIRST)
    try:
        if not native.recall(values):
            return False
    except Exception as trouble:
        if net.is_meant(trouble, function.options):
            raise
        return False  # compiling says what is wrong, if it still is
    _install(function, native)
    return True


def takes_refused(function: Any, values: tuple[Any, ...], problem: Unsupported) -> bool:
    """The same for what the compiler of arrays refuses. Whole loops over arrays that are left beside the statement in
    question stay with that compiler, where the other one has no form of the statement either, or can take the
    statement `apart`: regions run them in vectors and threads."""
    from weft.plain import choice

    beside = function.options.fallback != "error" and function._native is None and function._source is not None
    whole = problem.by_plain and not problem.apart
    if beside and not whole and choice.uses_arrays(function.py_func, values):
        tree, work = function._load().tree, _array_work(function, values) if problem.apart else None
        elements = None if work is None else work.elements
        if choice.has_loops_beside(tree, problem.span.line, elements) or (work is not None and work.vectors):
            return False
    if takes(function, values, by_plain=problem.by_plain):
        return True
    _join(function, problem, function._refused_plainly, choice.holds_containers(values))
    return False


def takes_statement(function: Any, values: tuple[Any, ...], problem: Unsupported) -> Callable[[ast.stmt], bool]:
    """Whether a statement beside the one that a refusal is about is for this compiler, which has a form of that: there
    are no loops over arrays inside, and no expressions of whole arrays."""
    from weft.plain import choice

    if not (problem.by_plain and problem.apart and may_take(function, values, by_plain=True)):
        return lambda node: False
    work = _array_work(function, values)

    def takes_it(node: ast.stmt) -> bool:
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return work.vectors.isdisjoint(lines) and not choice.has_loops_beside(node, problem.span.line, work.elements)

    return takes_it


def _array_work(function: Any, values: tuple[Any, ...]) -> ArrayWork:
    from weft.frontend.vectors import array_work

    return array_work(function._load().tree, values, function.py_func.__globals__)


def _join(function: Any, problem: Unsupported, other: Unsupported | None, only_plainly: bool) -> None:
    """Both compilers have refused: one reason and one remedy are told. With arguments that only the compiler of plain
    Python takes (`only_plainly`) what it says counts; elsewhere it knows better than "a `with` block"."""
    if other is None or lacks_compiler(other.reason):
        return
    if problem.by_plain and other.span.file == problem.span.file:  # without that statement it takes what is around it
        problem.span = other.span
        problem.amend(other.reason, other.remedy)
        function._refused.pop("plain", None)
        return
    # Inside a library, which nobody can change, or at no line.
    if other.span.file != problem.span.file or other.span.line <= function._place().line:
        function._refused.pop("plain", None)
    elif problem.span.line <= other.span.line <= problem.span.end_line:
        if only_plainly or problem.remedy == APART:
            problem.span = other.span
            problem.amend(other.reason, other.remedy)
        function._refused.pop("plain", None)
    elif only_plainly:
        problem.amend(problem.reason, f"change line {other.span.line} ({other.reason}): the rest could then be native")


def gained_little(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The compiler of arrays has the loops and expressions around a statement that it refuses, and a clock has found
    that to gain little: small arrays, or a loop around the statement. The other compiler may take it all."""
    chosen = function._plain
    values = None if function._native is not None or function.signature.variadic else function._bound(args, kwargs)
    if values is None or forking.is_working() or not forking.can_load():
        return
    function.questions += 1
    with handlers.passing(), forking.working(), function._lock, steps.budget(function.options.compile_timeout):
        takes(function, values, against=chosen)


def takes(
    function: Any,
    values: tuple[Any, ...],
    way: str = "",
    by_plain: bool = False,
    against: Callable[..., Any] | None = None,
) -> bool:
    """Have a function compiled as plain Python for these arguments; False if that cannot be. Versions are kept on disk
    by the `way` that leads to them: it is the same for the same types."""
    from weft.plain import choice
    from weft.runtime.progress import telling

    if function._plain_failures >= MAX_FAILURES or not may_take(function, values, by_plain):
        return False
    if _is_bulk(function, values):
        return False
    native = function._native or _native(function, way)
    try:
        steps.enter("plain")
        with telling(function.py_func.__name__), collector.switched_off():
            native.extend(values)
    except Unsupported as problem:
        function._plain_failures += 1
        function._refused_plainly = problem
        if not choice.uses_arrays(function.py_func, values):  # of arrays the other compiler's reason is the one to tell
            function._refused["plain"] = problem
        return False
    except Exception as trouble:
        return _failed(function, trouble)
    _install(function, native, against)
    return True


def _native(function: Any, way: str) -> Any:
    from weft.plain.function import Native
    from weft.plain.kept import Store

    forced = function.options.stress.deoptimise
    store = None
    if function.options.cache:
        store = Store(function.py_func, way, functools.partial(recalled.without_cache, function))
    return Native(function.py_func, functools.partial(missed, function), forced, store)


def _install(function: Any, native: Any, against: Callable[..., Any] | None = None) -> None:
    """Have calls run as plain Python from now on, if that is faster than what runs them `against` it."""
    function._refused.pop("plain", None)
    if function._native is None:
        function._native = native
        entry = native.entry()
        if function.is_compared:
            function._in_regions = Regions(function, entry, against or function.py_func)
        else:
            function._plain = entry


def without_gain(function: Any, values: tuple[Any, ...]) -> Unsupported | None:
    """Why the compiler of arrays is not asked either: it has nothing to gain where no array is involved and each
    statement runs once, but may take seconds. This holds for regions, and for what plain Python's compiler refused.
    """
    from weft.plain import choice

    refused: Unsupported | None = function._refused_plainly
    options = function.options
    asked = options.fallback == "error" or options.backend != "auto" or options.stress != Stress()
    if asked or function.transforms() or (refused is None and not function._is_region):
        return None
    tree = function._load().tree
    if not function._is_region and not choice.is_plain(function.py_func, tree, values):
        return None  # it was other arguments that were refused
    if choice.may_hold_arrays(function.py_func, tree, values) or choice.repeats(function.py_func, tree, values):
        return None
    if function._is_region or refused is None:
        return LeftToLibrary(
            function._load().span(tree), "it has no loops and no arrays: native code would gain nothing"
        )
    refused.whole = True
    return refused  # told as it is


def takes_over(function: Any, values: tuple[Any, ...]) -> bool:
    """Versions of arrays have given up every call, as integers that overflow make them do: then the other compiler is
    asked. False, as Python runs the call at hand."""
    if function._native is None and function._compiled and not any(function._call_counts()) and takes(function, values):
        function.clear_versions()
        function._compiled = []
    return False


def _is_bulk(function: Any, values: tuple[Any, ...]) -> bool:
    """Whether a function does nothing but have NumPy work on whole arrays: plain Python has nothing to gain there."""
    from weft.plain import choice

    arrays = function._native is None and choice.uses_arrays(function.py_func, values)
    return arrays and not choice.has_loops(function.py_func) and not choice.calls_objects(function.py_func)


def _failed(function: Any, trouble: Exception) -> bool:
    """A mistake of weft's own: told once, and not tried again."""
    if net.is_meant(trouble, function.options):
        raise trouble
    problem = function._refused["plain"] = net.refusal(trouble, function._place(), function.options)
    function._plain_failures = MAX_FAILURES
    if isinstance(trouble, steps.OutOfTime):
        function._late = problem
    if function.options.fallback == "error":
        raise problem from trouble
    function._warn(problem)
    return False


def missed(function: Any, values: tuple[Any, ...]) -> bool:
    """No version as plain Python takes a call: make one. Whatever goes wrong, Python runs it."""
    if forking.is_working() or not forking.can_load():
        return False
    function.questions += 1
    with handlers.passing(), forking.working(), function._lock, steps.budget(function.options.compile_timeout):
        return takes(function, values)
