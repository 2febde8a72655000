"""`weft run`: an unmodified script or module, its hot functions compiled.  In: a path or a module's name, and
arguments; out: what the program itself does, with its own output, exit code and tracebacks.

The program is executed as `__main__`.  `weft.heat` finds what is hot by samples and puts native code behind it; with
`--eager` each undecorated top-level function of the script that has a loop or uses NumPy gets the decorator `jit` in
the syntax tree instead, and is compiled at its first call.
"""

from __future__ import annotations

import builtins
import os
import sys
from _frozen_importlib_external import SourceFileLoader

import weft.warned as warned  # `from weft` would ask the package for a name first, which loads importlib
from weft.cli import DONE, FAILED, WRONG_REQUEST, complain

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import ast
    import traceback
    import types
    from collections.abc import Callable, Sequence
    from typing import Any

    from weft.heat.early import Watch

_DECORATOR = "__weft_jit__"
_ARRAY_LIBRARIES = ("numpy", "scipy")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Program:
    """What is executed: a module for `__main__`, and its code or (of a script) its text."""

    def __init__(self, module: types.ModuleType, text: bytes | None, code: types.CodeType | None) -> None:
        self.module, self.text, self.code = module, text, code

    @property
    def file(self) -> str:
        return str(self.module.__dict__.get("__file__", ""))


def script_program(script: str, arguments: Sequence[str]) -> Program | int:
    """A script as Python would start it; an exit code if it cannot be read."""
    try:
        with open(script, "rb") as stream:
            text = stream.read()
    except OSError as problem:
        return complain(f"can't open {script}: {problem.strerror}", WRONG_REQUEST)
    file = os.path.abspath(script)  # as Python names the main script, in `__file__` and in tracebacks
    module = _main_module(file)
    module.__dict__["__loader__"] = SourceFileLoader("__main__", file)
    sys.argv = [script, *arguments]
    sys.path[0:1] = [os.path.dirname(file)]
    return Program(module, text, None)


def module_program(name: str, arguments: Sequence[str]) -> Program | int:
    """A module as `python -m` would start it; an exit code if there is none."""
    import importlib.util

    sys.path[0:1] = [os.getcwd()]
    sys.argv = ["-m", *arguments]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as problem:
        return complain(f"can't find the module {name}: {problem}", FAILED)
    loader: Any = None if spec is None else spec.loader
    if spec is None or not hasattr(loader, "get_code"):
        return complain(f"no module named {name} that could be run", FAILED)
    try:
        code = loader.get_code(name)
    except SyntaxError as problem:
        return _report(problem)
    if code is None:
        return complain(f"the module {name} has no Python code", FAILED)
    module = _main_module(spec.origin or "")
    module.__dict__.update(__spec__=spec, __loader__=loader, __package__=spec.parent, __cached__=spec.cached)
    sys.argv[0] = spec.origin or ""
    return Program(module, None, code)


def _main_module(file: str) -> types.ModuleType:
    module = type(sys)("__main__")
    module.__dict__.update(__file__=file, __builtins__=builtins, __annotations__={}, __spec__=None, __cached__=None)
    return module


# --- running --------------------------------------------------------------------------------------------------------


def run_program(program: Program, options: dict[str, Any], *, eager: bool = False, report: bool = False) -> int:
    """Execute a program, its hot functions compiled; the exit code.  SystemExit passes through."""
    compiled: list[Any] = []
    watch: Watch | None = None
    has_ended = False
    warned.summarise()

    def ended() -> None:
        nonlocal has_ended
        if has_ended:
            return
        has_ended = True
        if watch is not None:
            watch.stop()
        if report:
            _show(watch, compiled)
        _sum_up()

    try:
        if eager and program.text is not None:
            import ast

            program.module.__dict__[_DECORATOR] = _decorator(options, compiled)
            program.code = _compiled(decorated(ast.parse(program.text, program.file)), program.file)
        elif _wanted():
            watch = _watched(program, options)
        return execute(program, ended)
    except SyntaxError as problem:
        return _report(problem)
    finally:
        ended()


def execute(program: Program, ended: Callable[[], None]) -> int:
    """Execute a program as `__main__`; 0, or 1 after an exception, which is printed as Python prints it.

    Ctrl-C ends this process as well, for which `ended` is told first.
    """
    sys.modules["__main__"] = program.module
    try:
        if program.code is None:
            assert program.text is not None
            program.code = _compiled(program.text, program.file)
        exec(program.code, program.module.__dict__)
    except SystemExit:
        raise
    except BaseException as problem:
        return _report(problem, ended)
    return DONE


def _compiled(what: ast.Module | bytes, file: str) -> types.CodeType:
    made: types.CodeType = compile(what, file, "exec", dont_inherit=True)
    return made


def _wanted() -> bool:
    """Plain Python where weft is switched off or a debugger or profiler looks on."""
    return os.environ.get("WEFT_DISABLE", "0") in ("", "0") and sys.gettrace() is None and sys.getprofile() is None


def _watched(program: Program, options: dict[str, Any]) -> Watch:
    from weft.heat.beforehand import prepared
    from weft.heat.early import Watch

    watch = Watch(options, program.file)
    if program.text is not None:
        code = _compiled(program.text, program.file)
        program.code = prepared(code, program.text, program.module.__dict__, options, watch)
    watch.start()
    return watch


# --- eagerly --------------------------------------------------------------------------------------------------------


def decorated(tree: ast.Module) -> ast.Module:
    """The module with `@__weft_jit__` on each top-level function worth compiling.

    A decorator belongs to the syntax tree alone: it takes the place of the `def`, so that no line number changes.
    """
    import ast

    numpy = _numpy_names(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and _worth(node, numpy):
            place = ast.Name(_DECORATOR, ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
            place.end_lineno, place.end_col_offset = node.lineno, node.col_offset
            node.decorator_list.append(place)
    return tree


def _numpy_names(tree: ast.Module) -> set[str]:
    """The names under which the script has imported NumPy and SciPy, or things from them."""
    import ast

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
    import ast

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


# --- telling --------------------------------------------------------------------------------------------------------


def _report(problem: BaseException, ended: Callable[[], None] | None = None) -> int:
    """Print an uncaught exception as Python would for the script alone: without the frames of weft itself."""
    import signal
    import traceback

    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if isinstance(problem, SyntaxError) and trace is not None and _reads_source(trace.tb_frame.f_code.co_filename):
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
        if ended is not None:
            ended()
        # A shell must see that the signal ended the process.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return FAILED


def _reads_source(file: str) -> bool:
    """Whether a frame belongs to what turns a file into code, rather than to the program."""
    import ast

    return file == ast.__file__ or file.startswith("<frozen importlib")


def _without_weft(told: traceback.TracebackException) -> None:
    """Drop the frames of weft between those of the script, here and in the exceptions behind."""
    from traceback import StackSummary

    kept = [frame for frame in told.stack if not os.path.abspath(frame.filename).startswith(_OWN)]
    told.stack = StackSummary.from_list(kept)
    for behind in (told.__cause__, told.__context__):
        if behind is not None:
            _without_weft(behind)


def _sum_up() -> None:
    """The lines that stay Python beyond the first few, on stderr."""
    for line in warned.summary():
        print(f"weft: {line}", file=sys.stderr)


def _show(watch: Watch | None, compiled: Sequence[Any]) -> None:
    """What was hot and what was compiled, on stderr."""
    if watch is not None:
        from weft.heat.report import lines

        for line in lines(watch.reported()):
            print(f"weft: {line}", file=sys.stderr)
    for function in compiled:
        signatures = getattr(function, "signatures", [])
        name = getattr(function, "__name__", "?")
        state = "; ".join(signatures) if signatures else "not compiled"
        print(f"weft: {name}: {state}", file=sys.stderr)
