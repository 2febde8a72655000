"""From a function object to its syntax tree with true places.  In: a Python function; out: a `Source`.

A definition is found in the parsed file by its position, and the file is compiled to see that it still says what the
function does: a file that was edited since, or code that was run under another file's name, is no source.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import linecache
import os
import sys
import types
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from weft.directives import Place
from weft.errors import Span, Unsupported
from weft.frontend import pragmas
from weft.records import dataclass
from weft.standins import original

#: Functions of the knowledge base that `sound` in `knowledge/compose.py` marks.
SOUND: set[types.FunctionType] = set()
#: Files of weft itself, whose functions are what they say.
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FUTURE = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
#: What pytest writes into functions with `assert` begins with this, which no Python source can.
_REWRITTEN = "@py_"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """The definition of one function: its tree, its file, and the namespaces its free names come from."""

    name: str
    file: str
    tree: ast.FunctionDef
    text: str
    namespace: dict[str, Any]
    cells: dict[str, types.CellType]
    place: Span | None = None  # where everything stands, of a definition that is not the user's own
    sound: bool = False  # a library function whose indices are in range and whose loops are brief, whatever it is given
    function: types.FunctionType | None = None  # None: what was made of one
    changing: frozenset[str] = frozenset()  # globals that functions of the file assign to

    def span(self, node: ast.AST) -> Span:
        return span_of(self.file, node) if self.place is None else self.place


def span_of(file: str, node: ast.AST) -> Span:
    """The place of a syntax node."""
    line = getattr(node, "lineno", 0)
    column = getattr(node, "col_offset", 0)
    return Span(
        file, line, column, getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
    )


def resolved(where: Place, tree: ast.FunctionDef) -> Place:
    """A place with the last line that it stands for: a line that begins a loop stands for the whole loop, and names its
    variable if the place does not."""
    if not where.line:
        return where
    here = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno == where.line]
    for node in here:
        if isinstance(node, ast.For):
            named = node.target.id if isinstance(node.target, ast.Name) else ""
            return Place(where.variable or named, where.line, node.end_lineno or where.line)
    return Place(where.variable, where.line, max((node.end_lineno or 0 for node in here), default=where.line))


def parameters_of(tree: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names of all parameters of a function."""
    return frozenset(node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg))


# --- files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A parsed file: its definitions and its code objects by first line and name."""

    lines: tuple[str, ...]
    definitions: dict[tuple[int, str], list[_Definition]]
    codes: dict[tuple[int, str], list[types.CodeType]]
    tree: ast.Module
    changing: frozenset[str]


def _texts(code: types.CodeType, namespace: dict[str, Any]) -> Iterator[str]:
    """What the file of a function may hold: as first read, as it is now, as its loader or `python -c` has it."""
    file = code.co_filename
    yield "".join(linecache.getlines(file, namespace))
    linecache.checkcache(file)
    yield "".join(linecache.getlines(file, namespace))
    loader, name = namespace.get("__loader__"), namespace.get("__name__")
    if loader is not None and hasattr(loader, "get_source") and isinstance(name, str):
        with contextlib.suppress(ImportError, OSError, SyntaxError, UnicodeDecodeError):  # it has no text of it
            yield loader.get_source(name) or ""
    if file == "<string>" and "-c" in sys.orig_argv[:-1]:
        yield sys.orig_argv[sys.orig_argv.index("-c") + 1]


@functools.lru_cache(maxsize=32)
def _parsed(text: str, flags: int, checked: bool, apart: bool = False) -> _File | None:
    """A text with its definitions; `checked`: and its code.  None if it is no Python.

    `apart`: each statement was compiled by itself, as those of a notebook's cell are. The code may differ: Python
    compiles `np.exp(x)` in another way where it sees `import numpy as np`.
    """
    try:
        tree = compile(text, "<source>", "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        waiting: list[types.CodeType] = []
        for part in _units(tree, apart) if checked else ():
            waiting.append(compile(part, "<source>", "exec", flags, dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    definitions: dict[tuple[int, str], list[_Definition]] = {}
    changing: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            changing.update(node.names)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            definitions.setdefault((first, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            definitions.setdefault((node.lineno, "<lambda>"), []).append(node)
    codes: dict[tuple[int, str], list[types.CodeType]] = {}
    while waiting:
        one = waiting.pop()
        codes.setdefault((one.co_firstlineno, one.co_name), []).append(one)
        waiting += [constant for constant in one.co_consts if isinstance(constant, types.CodeType)]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as Python counts them: not at a form feed
    return _File(tuple(lines), definitions, codes, tree, frozenset(changing))


def _units(tree: ast.Module, apart: bool) -> list[ast.Module]:
    """What is compiled as one: the whole file, or each statement of it."""
    return [ast.Module([node], []) for node in tree.body] if apart else [tree]


def _does_the_same(code: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects do the same on the same lines."""
    rewritten = any(name.startswith(_REWRITTEN) for name in code.co_varnames)
    for name in ("co_name", "co_firstlineno", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"):
        if getattr(code, name) != getattr(other, name):
            return False
    inner, others = ([c for c in one.co_consts if isinstance(c, types.CodeType)] for one in (code, other))
    if len(inner) != len(others) or not all(map(_does_the_same, inner, others)):
        return False
    if rewritten:
        known = {*code.co_varnames, *code.co_names, *code.co_cellvars, *code.co_freevars}
        told = {*other.co_varnames, *other.co_names, *other.co_cellvars, *other.co_freevars} - {"AssertionError"}
        values = {_constant(c) for c in code.co_consts if not isinstance(c, types.CodeType)}
        return told <= known and {_constant(c) for c in other.co_consts if not isinstance(c, types.CodeType)} <= values
    for name in ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars"):
        if getattr(code, name) != getattr(other, name):
            return False
    plain, theirs = ([c for c in one.co_consts if not isinstance(c, types.CodeType)] for one in (code, other))
    return list(map(_constant, plain)) == list(map(_constant, theirs)) and [*code.co_lines()] == [*other.co_lines()]


def _constant(value: Any) -> Any:
    """A constant of code so that 1, 1.0 and True are different, and 0.0 and -0.0."""
    if isinstance(value, (tuple, frozenset)):
        parts = map(_constant, value)
        return type(value), tuple(parts) if isinstance(value, tuple) else frozenset(parts)
    return type(value), repr(value)


def _found(code: types.CodeType, namespace: dict[str, Any]) -> tuple[_File, _Definition] | str:
    """The definition that a code object comes from, or why there is none."""
    own = code.co_filename.startswith(_OWN)
    key = (code.co_firstlineno, code.co_name)
    reason = f"the source of {code.co_name} cannot be found"
    seen: set[str] = set()
    for text in _texts(code, namespace):
        if not text or text in seen:
            continue
        seen.add(text)
        file = None
        for apart in (False, True):
            file = _parsed(text, code.co_flags & _FUTURE, not own, apart)
            known = [one for one in file.codes.get(key, ()) if _does_the_same(code, one)] if file else []
            nodes = file.definitions.get(key, []) if file else []
            if file is not None and (known or own) and nodes:
                return file, _among(code, nodes)
        if file is None:
            continue
        if code.co_filename != "<string>":  # any text that was executed has this name
            reason = "the file has changed since the function was defined"
    return reason


def _among(code: types.CodeType, nodes: list[_Definition]) -> _Definition:
    """Which of the definitions that begin on one line a function is: the one its instructions come from."""
    if len(nodes) == 1:
        return nodes[0]
    here = [node for node in nodes if isinstance(node, ast.Lambda) and _is_code_of(code, node)]
    here = here or [node for node in nodes if isinstance(node, ast.Lambda) and _says(code, node)]
    return here[0] if here else nodes[0]


def _is_code_of(code: types.CodeType, node: ast.Lambda) -> bool:
    """Whether the instructions of a function come from the body of a lambda, and not from one inside or beside it."""
    body = node.body
    places = [place for place in code.co_positions() if None not in place] if hasattr(code, "co_positions") else []
    span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return span in places and parameters == list(code.co_varnames[: len(parameters)])


def _says(code: types.CodeType, node: ast.Lambda) -> bool:
    """Whether a lambda has the instructions of a function; for code that does not tell its columns."""
    alone = compile(ast.Expression(node), "<source>", "eval", code.co_flags & _FUTURE, dont_inherit=True)
    made = [constant for constant in alone.co_consts if isinstance(constant, types.CodeType)]
    return any(one.co_code == code.co_code and one.co_consts == code.co_consts for one in made)


def own_tree(node: Any) -> Any:
    """A tree of its own, without the notes of others: builds leave theirs on its nodes.

    The parser gives all trees the same `Load` and `Add`.  Tools that walk trees (IPython does where it shows a
    traceback) note the parent on each node, so that those lead into trees of theirs, and around in circles.
    """
    if isinstance(node, list):
        return [own_tree(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    new = type(node)()
    for name in (*node._fields, *node._attributes):
        if hasattr(node, name):
            setattr(new, name, own_tree(getattr(node, name)))
    return new


def parsed(text: str) -> list[ast.stmt]:
    """The statements of a piece of source that weft writes itself."""
    found: list[ast.stmt] = own_tree(ast.parse(text)).body
    return found


def load(function: Callable[..., Any]) -> Source:
    """The Source of a Python function; Unsupported if it has none that weft can read."""
    if not isinstance(function, types.FunctionType):
        raise Unsupported(Span(repr(function), 0, 0, 0, 0), "not a Python function", "pass a function defined by `def`")
    code = original(function.__code__)
    place = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    made = _made.get(code)
    if made is not None:
        return _of_made(function, made)
    found = _found(code, function.__globals__)
    if isinstance(found, str):
        changed = "changed" in found
        remedy = "import the module again" if changed else "define it in a file or a notebook cell"
        raise Unsupported(place, found, remedy)
    file, node = found
    if isinstance(node, ast.AsyncFunctionDef):
        column = node.col_offset
        line = Span(code.co_filename, node.lineno, column, node.lineno, column + len(f"async def {node.name}"))
        raise Unsupported(line, f"{node.name} is a coroutine", "write it as a plain `def`")
    tree = _as_function(own_tree(node))
    shown = pragmas.through(file.lines, code.co_firstlineno, node.end_lineno or node.lineno)
    pragmas.applied(tree, shown, code.co_firstlineno, code.co_filename)
    around = _class_around(function)
    if around.strip("_"):
        tree = _PrivateNames(around).generic_visit(tree)  # type: ignore[assignment]
    last = max(node.end_lineno or 0, node.lineno)
    lines = [f"{line}\n" for line in file.lines[code.co_firstlineno - 1 : last]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    text = "".join(line.removeprefix(margin) for line in lines)
    if isinstance(node, ast.Lambda):
        text = f"{ast.get_source_segment(''.join(lines), _moved(node, 1 - code.co_firstlineno)) or text}\n"
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    sound = function in SOUND
    return Source(
        tree.name,
        code.co_filename,
        tree,
        text,
        function.__globals__,
        cells,
        sound=sound,
        function=function,
        changing=file.changing,
    )


def body_of(code: types.CodeType, namespace: dict[str, Any]) -> ast.Module | ast.FunctionDef:
    """The syntax tree that a code object comes from, of a module as well; it is not to be changed."""
    code = original(code)
    place = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    if code.co_name == "<module>":
        for text in _texts(code, namespace):
            file = _parsed(text, code.co_flags & _FUTURE, True)
            # The constants may be others: `weft run` puts stand-ins of functions there.
            for one in [] if file is None else file.codes.get((code.co_firstlineno, code.co_name), ()):
                if one.co_code == code.co_code and one.co_names == code.co_names:
                    return file.tree  # type: ignore[union-attr]
        raise Unsupported(place, "the source of the module cannot be found", "run it from a file")
    found = _found(code, namespace)
    if isinstance(found, str) or not isinstance(found[1], ast.FunctionDef):
        raise Unsupported(place, found if isinstance(found, str) else "not a plain function", "run it from a file")
    return found[1]


#: Functions that weft has made of parts of others, by their code: there is no text that they are the code of.
_made: dict[types.CodeType, ast.FunctionDef] = {}


def keep(code: types.CodeType, tree: ast.FunctionDef) -> None:
    """Remember the syntax tree of a function that weft has made."""
    _made[code] = tree


def _of_made(function: types.FunctionType, tree: ast.FunctionDef) -> Source:
    """The Source of a function that weft has made: what it assigns to as globals may change."""
    changing = frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
    file, namespace = function.__code__.co_filename, function.__globals__
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    return Source(tree.name, file, own_tree(tree), "", namespace, cells, function=function, changing=changing)


def _class_around(plain: types.FunctionType) -> str:
    """The name of the innermost class that a function is defined in; empty if there is none."""
    parts = getattr(plain.__code__, "co_qualname", plain.__qualname__).split(".")
    around = [part for part, inner in pairwise(parts) if "<locals>" not in (part, inner)]
    return around[-1] if around else ""


class _PrivateNames(ast.NodeTransformer):
    """self.__x  -->  self._Class__x, as Python names what is private to a class."""

    def __init__(self, around: str) -> None:
        self.prefix = f"_{around.lstrip('_')}"

    def _named(self, name: str) -> str:
        return f"{self.prefix}{name}" if name.startswith("__") and not name.endswith("__") else name

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._named(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._named(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._named(node.arg)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


def _as_function(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
    """A lambda as the definition of a function."""
    if isinstance(node, ast.FunctionDef):
        return node
    body = ast.copy_location(ast.Return(value=node.body), node.body)
    tree = ast.FunctionDef(name="lambda_", args=node.args, body=[body], decorator_list=[])
    return ast.fix_missing_locations(ast.copy_location(tree, node))


def _moved(node: ast.Lambda, lines: int) -> ast.Lambda:
    """A node so many lines further down, for whoever looks it up in a part of its file."""
    last = (node.end_lineno or node.lineno) + lines
    return ast.Lambda(
        node.args,
        node.body,
        lineno=node.lineno + lines,
        end_lineno=last,
        col_offset=node.col_offset,
        end_col_offset=node.end_col_offset,
    )
