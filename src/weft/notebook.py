"""weft in notebooks.  In: IPython's shell; out: the magics `%%weft` and `%weft_explain`.

    %load_ext weft
    %%weft -a               the functions of the cell are compiled; -a shows afterwards what became of each line
    %%weft fp="strict"      with options of weft.jit
    %weft_explain f         the page of one function
"""

from __future__ import annotations

import ast
import types
from typing import Any

from weft.api import jit
from weft.errors import OptionError

#: The name under which a cell finds the decorator.
_DECORATOR = "_weft_jit_"


class _Decorated(ast.NodeTransformer):
    """def f(...)  -->  @weft.jit(...) def f(...), for the functions that a cell defines at its top."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Module(self, tree: ast.Module) -> ast.Module:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                # On the line of `def`, where the function begins in the text of the cell.
                node.decorator_list.insert(0, ast.copy_location(ast.Name(_DECORATOR, ast.Load()), node))
                self.names.append(node.name)
        return tree


def _parsed(line: str) -> tuple[dict[str, Any], bool]:
    """The options of a magic's line, and whether it asks for the page."""
    words, annotated = line.split(), False
    options: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if word in ("-a", "--annotate"):
            annotated = True
        elif sign:
            try:
                options[name] = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                options[name] = text  # fp=strict
        else:
            raise OptionError(f"%%weft takes -a and options of weft.jit such as fp=strict, not {word!r}")
    return options, annotated


def _page(function: Any) -> Any:
    """What to show of a compiled function: a page where there is one, else its text."""
    explanation = function.explain()
    return explanation if hasattr(explanation, "_repr_html_") else str(explanation)


class Magics:
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def cell(self, line: str, cell: str) -> None:
        """`%%weft`: run a cell whose functions are compiled."""
        try:
            options, annotated = _parsed(line)
            decorator = jit(**options)
        except OptionError as problem:
            raise self._usage(str(problem)) from None
        marked = _Decorated()
        space = self.shell.user_ns
        before = space.get(_DECORATOR)
        space[_DECORATOR] = decorator
        self.shell.ast_transformers.append(marked)
        try:
            done = self.shell.run_cell(cell)
        finally:
            self.shell.ast_transformers.remove(marked)
            if before is None:
                space.pop(_DECORATOR, None)
            else:
                space[_DECORATOR] = before
        if annotated and done.success:
            for name in dict.fromkeys(marked.names):
                if hasattr(space.get(name), "explain"):
                    self._show(_page(space[name]))

    def explain(self, line: str) -> Any:
        """`%weft_explain f`: what became of each line of a function."""
        name = line.strip()
        function = self.shell.user_ns.get(name)
        if function is None:
            raise self._usage(f"%weft_explain needs the name of a compiled function; there is no {name!r} here")
        if isinstance(function, types.FunctionType) or not hasattr(function, "explain"):
            raise self._usage(f"{name} is {type(function).__name__}, not compiled: put @weft.jit before its definition")
        return _page(function)

    def _show(self, shown: Any) -> None:
        from IPython.display import display

        display(shown)  # type: ignore[no-untyped-call]

    def _usage(self, text: str) -> Exception:
        from IPython.core.error import UsageError

        return UsageError(text)


def load(shell: Any) -> None:
    """What `%load_ext weft` does."""
    magics = Magics(shell)
    shell.register_magic_function(magics.cell, magic_kind="cell", magic_name="weft")
    shell.register_magic_function(magics.explain, magic_kind="line", magic_name="weft_explain")
