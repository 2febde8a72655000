"""Hints written into source.  In: the text of a module and hints of its functions; out: the same text with annotations
where there were none, or a stub.  Nothing else of the text changes.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping

from weft.heat.hints import can_be_written, definitions

_Hints = Mapping[str, Mapping[str, str]]


def annotated(text: str, hints: _Hints) -> str:
    """The module with annotations added."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    inserts: list[tuple[int, int, str]] = []
    for name, node in definitions(tree).items():
        found = {key: hint for key, hint in hints.get(name, {}).items() if can_be_written(hint)}
        for parameter in _parameters(node):
            if parameter.annotation is None and found.get(parameter.arg, "None") != "None":
                column = _characters(lines[(parameter.end_lineno or 1) - 1], parameter.end_col_offset or 0)
                inserts.append((parameter.end_lineno or 1, column, f": {found[parameter.arg]}"))
        if node.returns is None and "return" in found:
            inserts.append((*_end_of_head(lines, node), f" -> {found['return']}"))
    for line, column, addition in sorted(inserts, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + addition + lines[line - 1][column:]
    if any("weft." in addition for _, _, addition in inserts) and not _imports_weft(tree):
        lines.insert(_first_statement(tree) - 1, "import weft\n")
    return "".join(lines)


def stub(text: str, hints: _Hints) -> str:
    """A stub of the module's functions that have hints."""
    tree = ast.parse(text)
    body = "\n".join(_stub_lines(tree, hints, "", ""))
    return ("import weft\n\n" if "weft." in body else "") + body + "\n"


def _stub_lines(tree: ast.AST, hints: _Hints, prefix: str, indent: str) -> list[str]:
    found: list[str] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and prefix + node.name in hints:
            found.append(indent + _stub_of(node, hints[prefix + node.name]))
        elif isinstance(node, ast.ClassDef):
            inner = _stub_lines(node, hints, f"{prefix}{node.name}.", indent + "    ")
            found += [f"{indent}class {node.name}:", *inner] if inner else []
    return found


def _stub_of(node: ast.FunctionDef, hints: Mapping[str, str]) -> str:
    arguments = ast.parse(f"def f({ast.unparse(node.args)}): ...").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    for parameter in _parameters(arguments):
        hint = hints.get(parameter.arg, "")
        if parameter.annotation is None and hint not in ("", "None") and can_be_written(hint):
            parameter.annotation = ast.parse(hint, mode="eval").body
    spec = arguments.args
    spec.defaults = [ast.Constant(...) for _ in spec.defaults]
    spec.kw_defaults = [None if default is None else ast.Constant(...) for default in spec.kw_defaults]
    result = ast.unparse(node.returns) if node.returns is not None else hints.get("return", "")
    arrow = f" -> {result}" if result and can_be_written(result) else ""
    return f"def {node.name}({ast.unparse(spec)}){arrow}: ..."


def _parameters(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _characters(line: str, column: int) -> int:
    """A column of the syntax tree, which counts bytes, in characters."""
    return len(line.encode()[:column].decode(errors="replace"))


def _end_of_head(lines: list[str], node: ast.FunctionDef) -> tuple[int, int]:
    """Line and column of the colon that ends `def f(...):`."""
    rest = io.StringIO("".join(lines[node.lineno - 1 :]))
    depth = 0
    for token in tokenize.generate_tokens(rest.readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and depth == 0:
                return node.lineno - 1 + token.start[0], token.start[1]
    raise ValueError(f"line {node.lineno} is no definition")


def _imports_weft(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Import) and any(alias.name == "weft" and not alias.asname for alias in node.names)
        for node in tree.body
    )


def _first_statement(tree: ast.Module) -> int:
    """The line before which an import may stand: after the docstring and the imports from `__future__`."""
    for index, node in enumerate(tree.body):
        is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            return min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return (tree.body[-1].end_lineno or 0) + 1 if tree.body else 1
