"""From a function object to its syntax tree with true places.  In: a Python function; out: a `Source`.

Line and column numbers of the tree are those of the user's file, whatever the indentation of the definition.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from weft.directives import Place
from weft.errors import Span, Unsupported
from weft.records import dataclass

#: Functions of the knowledge base that `sound` in `knowledge/compose.py` marks.
SOUND: set[types.FunctionType] = set()


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

    def span(self, node: ast.AST) -> Span:
        return span_of(self.file, node) if self.place is None else self.place


def span_of(file: str, node: ast.AST) -> Span:
    """The place of a syntax node."""
    line = getattr(node, "lineno", 0)
    column = getattr(node, "col_offset", 0)
    return Span(
        file, line, column, getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
    )


def _shift_columns(tree: ast.AST, columns: int) -> None:
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += columns
        if getattr(node, "end_col_offset", None) is not None:
            node.end_col_offset += columns  # type: ignore[attr-defined]


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


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


def _of_lambda(plain: types.FunctionType, place: Span) -> Source:
    """A lambda as the definition of a function: it is found in its file by the places of its instructions."""
    code = plain.__code__
    text = "".join(linecache.getlines(code.co_filename, plain.__globals__))
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        nodes = []
    here = [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno <= code.co_firstlineno]
    found = [node for node in here if _is_code_of(code, node)]
    if len(found) != 1 or not hasattr(code, "co_positions"):
        found = [node for node in here if node.lineno == code.co_firstlineno]
    if len(found) != 1:
        raise Unsupported(place, "a lambda or a generated function", "write it as a `def` with a name")
    (node,) = found
    body = ast.copy_location(ast.Return(value=node.body), node.body)
    tree = ast.FunctionDef(name="lambda_", args=node.args, body=[body], decorator_list=[])
    ast.fix_missing_locations(ast.copy_location(tree, node))
    cells = dict(zip(code.co_freevars, plain.__closure__ or ()))
    shown = f"{ast.get_source_segment(text, node)}\n"
    return Source(tree.name, code.co_filename, tree, shown, plain.__globals__, cells)


def _is_code_of(code: types.CodeType, node: ast.Lambda) -> bool:
    """Whether the instructions of a function come from the body of a lambda, and not from one inside or beside it."""
    body = node.body
    places = [place for place in code.co_positions() if None not in place] if hasattr(code, "co_positions") else []
    span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return span in places and parameters == list(code.co_varnames[: len(parameters)])


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


def parameters_of(tree: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names of all parameters of a function."""
    return frozenset(node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg))


def load(function: Callable[..., Any]) -> Source:
    """The Source of a Python function; Unsupported if it has none that weft can read."""
    plain = inspect.unwrap(function)
    if not isinstance(plain, types.FunctionType):
        raise Unsupported(Span(repr(function), 0, 0, 0, 0), "not a Python function", "pass a function defined by `def`")
    code = plain.__code__
    place = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    if plain.__name__ == "<lambda>":
        return _of_lambda(plain, place)
    try:
        lines, first = inspect.getsourcelines(plain)
    except (OSError, TypeError, IndexError, SyntaxError):
        raise Unsupported(
            place, f"the source of {plain.__name__} cannot be found", "define it in a file or a notebook cell"
        ) from None
    raw = "".join(lines)
    text = textwrap.dedent(raw)
    try:
        module = ast.parse(text)
    except SyntaxError:
        raise Unsupported(
            place, f"the source of {plain.__name__} cannot be read on its own", "put the function into a `def`"
        ) from None
    tree = next((d for d in _definitions(module) if d.name == plain.__name__), None)
    if tree is None:
        raise Unsupported(place, "a lambda or a generated function", "write it as a `def` with a name")
    ast.increment_lineno(module, first - 1)
    _shift_columns(module, len(raw.split("\n", 1)[0]) - len(text.split("\n", 1)[0]))
    around = _class_around(plain)
    if around.strip("_"):
        tree = _PrivateNames(around).generic_visit(tree)  # type: ignore[assignment]
    cells = dict(zip(code.co_freevars, plain.__closure__ or ()))
    sound = plain in SOUND
    return Source(plain.__name__, code.co_filename, tree, text, plain.__globals__, cells, sound=sound)
