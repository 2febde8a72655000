"""A compiled function that consists of others.  In: the function, and a line that stays Python or the form of a call;
out: its regions around that line, or the function with the parameters of that form, each compiled like any other.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from weft import plainly, steps
from weft.errors import Unsupported
from weft.frontend.making import function_from
from weft.trial import Regions

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from weft.frontend.source import Source

    #: The function that takes a call, and what its named arguments are called there.
    Form = tuple[Any, dict[str, str]]


def form(whole: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form | None:
    """The form for calls like this one; None if there is none, or Python must say what is wrong with it."""
    from weft.frontend.source import Source, keep
    from weft.frontend.variadic import ORIGINAL, form_of

    if whole._bound(args, kwargs) is None:
        return None
    steps.enter("form")
    with whole._lock:
        try:
            source = whole._load()
        except Unsupported as problem:
            whole._refused["form"] = problem
            whole._refuse(problem)
            return None
        found = form_of(source.tree, len(args), tuple(kwargs))
        function: Any = function_from(found.calling, source, None, {ORIGINAL: whole.py_func}, whole._home)
        function.__defaults__ = whole.py_func.__defaults__ if found.calling.args.defaults else None
        function.__kwdefaults__ = whole.py_func.__kwdefaults__
        keep(function.__code__, found.calling)
        # Part of the key of versions in the disk cache: forms of one function differ in nothing else.
        told = ", ".join((str(len(args)), *found.renamed))
        function.__module__, function.__qualname__ = whole.py_func.__module__, f"{whole.py_func.__qualname__}[{told}]"
        made = type(whole)(function, whole.options)
        made._defined, made._is_region, made._home = whole._defined, whole._is_region, whole._home
        made._source = Source(source.name, source.file, found.tree, source.text, source.namespace, source.cells)
        made._steering.ask(whole.transforms())
        whole._regions.append(made)
        return made, found.renamed


def is_forced(whole: Any) -> bool:
    """Whether the function runs in regions because a test asks for it (see `options.Stress`)."""
    number = whole.options.stress.split
    if number is None or whole._is_region:
        return False
    if whole._plain is whole.py_func:
        from weft.frontend.regions import line_of

        with contextlib.suppress(Unsupported):  # compiling says why
            split(whole, line_of(whole._load().tree, number), always=True)
    return whole._plain is not whole.py_func


def split(whole: Any, line: int, always: bool = False, keeps: Callable[[ast.stmt], bool] = lambda node: False) -> None:
    """Leave the statement on `line` to Python, or to another compiler if it `keeps` it, and compile what is around it
    (see frontend.regions)."""
    from weft.frontend import regions

    source = whole._load()
    steps.enter("split")
    found = regions.split(source, line, always, keeps)
    if found is None:
        whole._unsplit.add(line)
        return
    if found.kept:
        whole._apart.add(line)
    made = {region.name: _region(whole, region.tree, source) for region in found.regions}
    whole._regions = list(made.values())
    calling = function_from(found.tree, source, whole.py_func, made, whole._home)
    if whole.is_compared and not always:
        whole._in_regions = Regions(whole, calling, whole.py_func, functools.partial(plainly.gained_little, whole))
    else:
        whole._plain = calling


def _region(whole: Any, tree: ast.FunctionDef, source: Source) -> Any:
    from weft.frontend.source import Source, keep

    steps.enter("region")
    function = function_from(tree, source, None, {}, whole._home)
    keep(function.__code__, tree)
    made = type(whole)(function, whole.options)
    made._is_region, made._home = True, whole._home
    made._source = Source(tree.name, source.file, tree, source.text, source.namespace, {})
    made._steering.ask(whole.transforms())
    return made
