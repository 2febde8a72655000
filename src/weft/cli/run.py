"""`weft run`: an unmodified script, its functions compiled.  In: a path and arguments; out: what the script itself
does, with its own output, exit code and tracebacks.

The script is executed as `__main__` from its own syntax tree, in which each undecorated top-level function that has a
loop or uses NumPy gets the decorator `jit`; line numbers stay those of the file.
"""

from __future__ import annotations

import ast
import os
import signal
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from weft.cli import DONE, FAILED, WRONG_REQUEST, complain

_DECORATOR = "__weft_jit__"
_ARRAY_LIBRARIES = ("numpy", "scipy")


def run_script(script: str, arguments: Sequence[str], options: dict[str, Any], show: bool = False) -> int:
    """Execute `script` with `sys.argv` set to it and `arguments`; the exit code.  SystemExit passes through."""
    try:
        with open(script, "rb") as stream:
            content = stream.read()
    except OSError as problem:
        return complain(f"can't open {script}: {problem.strerror}", WRONG_REQUEST)
    compiled: list[Any] = []
    file = os.path.abspath(script)  # as Python names the main script, in `__file__` and in tracebacks
    module = _main_module(file)
    module.__dict__[_DECORATOR] = _decorator(options, compiled)
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    sys.path[0:1] = [os.path.dirname(file)]
    try:
        code = compile(decorated(ast.parse(content, file)), file, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as problem:
        return _report(problem)
    finally:
        if show:
            _show(compiled)
    return DONE


def _main_module(file: str) -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=file, __builtins__=__builtins__, __spec__=None, __cached__=None)
    return module


def decorated(tree: ast.Module) -> ast.Module:
    """The module with `@__weft_jit__` on each top-level function worth compiling.

    A decorator belongs to the syntax tree alone: it takes the place of the `def`, so that no line number changes.
    """
    numpy = _numpy_names(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and _worth(node, numpy):
            place = ast.Name(_DECORATOR, ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
            place.end_lineno, place.end_col_offset = node.lineno, node.col_offset
            node.decorator_list.append(place)
    return tree


def _numpy_names(tree: ast.Module) -> set[str]:
    """The names under which the script has imported NumPy and SciPy, or things from them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots = {alias: alias.name.split(".")[0] for alias in node.names}
            found |= {alias.asname or root for alias, root in roots.items() if root in _ARRAY_LIBRARIES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _ARRAY_LIBRARIES:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _worth(function: ast.FunctionDef, numpy: set[str]) -> bool:
    """A function that loops or computes with arrays; small helpers are compiled into their callers anyway."""
    inside = list(ast.walk(function))
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in inside):
        return False
    loops = any(isinstance(node, (ast.For, ast.While)) for node in inside)
    return loops or any(isinstance(node, ast.Name) and node.id in numpy for node in inside)


def _decorator(options: dict[str, Any], compiled: list[Any]) -> Callable[[Any], Any]:
    from weft.api import jit

    def decorate(function: Any) -> Any:
        jitted = jit(function, **options)
        compiled.append(jitted)
        return jitted

    return decorate


def _report(problem: BaseException) -> int:
    """Print an uncaught exception as Python would for the script alone: without the frames of weft itself."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if isinstance(problem, SyntaxError) and trace is not None and trace.tb_frame.f_code.co_filename == ast.__file__:
        trace = None
    problem = problem.with_traceback(trace)
    sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        told = traceback.TracebackException(type(problem), problem, trace, compact=True)
        _without_weft(told)
        print("".join(told.format()), end="", file=sys.stderr)
    else:
        sys.excepthook(type(problem), problem, trace)
    if isinstance(problem, KeyboardInterrupt) and os.name == "posix":
        # A shell must see that the signal ended the process.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return FAILED


def _without_weft(told: traceback.TracebackException) -> None:
    """Drop the frames of weft between those of the script, here and in the exceptions behind."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    kept = [frame for frame in told.stack if not os.path.abspath(frame.filename).startswith(own)]
    told.stack = traceback.StackSummary.from_list(kept)
    for behind in (told.__cause__, told.__context__):
        if behind is not None:
            _without_weft(behind)


def _show(compiled: Sequence[Any]) -> None:
    for function in compiled:
        signatures = getattr(function, "signatures", [])
        name = getattr(function, "__name__", "?")
        state = "; ".join(signatures) if signatures else "not compiled"
        print(f"weft: {name}: {state}", file=sys.stderr)
