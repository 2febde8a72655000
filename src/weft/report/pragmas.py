"""The pragmas that a user could have written.  In: text and tree of a function, its optimised and lowered program; out:
the source with a comment above each loop and tensor expression that says what weft found out by itself.

    for i in range(n):                -->    #pragma parallel for
        y[i] = a[i, :].sum()                 for i in range(n):
                                                 #pragma :a.shape[1]=>reduction(sum:y)
                                                 y[i] = a[i, :].sum()
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from weft.ir.expr import AnyDim, Dim, Expr, Reduce, Var
from weft.ir.program import Block, Loop, LoopKind, Program, SizeOf, Stmt
from weft.ir.text import show_expr
from weft.ir.walk import rewrite, sub_blocks, subexpressions, walk
from weft.records import dataclass

_WORDS = {"add": "sum", "mul": "prod", "maximum": "max", "minimum": "min", "and": "and", "or": "or"}
#: What passes add to the name of a dimension.
_ADDED = re.compile(r"(_block)?(_\d+)*(_block)?(_\d+)*$")


@dataclass(frozen=True)
class _Runs:
    """How the loops around a statement of a line run, by the variables of the source."""

    parallel: frozenset[str]
    vector: frozenset[str]


def inferred(text: str, tree: ast.FunctionDef, optimised: Program, lowered: Program) -> dict[int, str]:
    """Pragmas that say what weft has found out, by the line that they stand before, where there is none yet."""
    before: dict[int, str] = {}
    runs = _runs(lowered)
    for line, found in runs.items():
        for loop in _loops_around(tree, line):
            if told := _of_loop(loop, found):
                before.setdefault(loop.lineno, told)
    for line, statements in _statements(optimised).items():
        node = _assignment(tree, line)
        if node is not None and (told := _of_tensor(node, statements, optimised, tree)):
            before[line] = told
    lines, first = text.splitlines(), _first(tree)
    return {line: told for line, told in before.items() if not _has_pragma(lines, line - first)}


def _first(tree: ast.FunctionDef) -> int:
    return min([tree.lineno, *(each.lineno for each in tree.decorator_list)])


def _has_pragma(lines: list[str], number: int) -> bool:
    return number > 0 and lines[number - 1].strip().startswith("#pragma")


def annotated(text: str, tree: ast.FunctionDef, before: Mapping[int, str]) -> str:
    """The text of the function with these pragmas."""
    first = _first(tree)
    out: list[str] = []
    for number, line_text in enumerate(text.splitlines()):
        if first + number in before:
            pad = line_text[: len(line_text) - len(line_text.lstrip())]
            out.append(f"{pad}#pragma {before[first + number]}")
        out.append(line_text)
    return "\n".join(out)


def _base(variable: str) -> str:
    return _ADDED.sub("", variable)


def _runs(program: Program) -> dict[int, _Runs]:
    found: dict[int, _Runs] = {}

    def visit(block: Block, parallel: frozenset[str], vector: frozenset[str]) -> None:
        for node in block:
            if isinstance(node, Loop):
                mine = frozenset({_base(node.dim.var)})
                inner = parallel | mine if node.kind is LoopKind.PARALLEL else parallel
                visit(node.body, inner, vector | mine if node.kind is LoopKind.VECTOR else vector)
                continue
            if isinstance(node, Stmt) and node.span.line > 0:
                known = found.get(node.span.line, _Runs(frozenset(), frozenset()))
                found[node.span.line] = _Runs(known.parallel | parallel, known.vector | vector)
            for part in sub_blocks(node):
                visit(part, parallel, vector)

    visit(program.body, frozenset(), frozenset())
    return found


def _loops_around(tree: ast.FunctionDef, line: int) -> list[ast.For]:
    """The loops that a statement of a line is in, and those right before it that it may have been made of: a sum that
    is stored after its loop is one statement for weft."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]

    def around(at: int) -> list[ast.For]:
        return [loop for loop in loops if loop.lineno <= at <= (loop.end_lineno or loop.lineno)]

    outer = around(line)
    before = [loop for loop in loops if (loop.end_lineno or loop.lineno) < line and around(loop.lineno)[:-1] == outer]
    return [*outer, *before]


def _of_loop(loop: ast.For, runs: _Runs) -> str:
    name = loop.target.id if isinstance(loop.target, ast.Name) else ""
    if name in runs.parallel:
        return "parallel for simd" if name in runs.vector else "parallel for"
    return "simd" if name in runs.vector else ""


def _statements(program: Program) -> dict[int, list[Stmt]]:
    found: dict[int, list[Stmt]] = {}
    for node in walk(program.body):
        if isinstance(node, Stmt) and node.span.line > 0:
            found.setdefault(node.span.line, []).append(node)
    return found


def _assignment(tree: ast.FunctionDef, line: int) -> ast.Assign | ast.AugAssign | None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno == line:
            return node
    return None


def _of_tensor(node: ast.Assign | ast.AugAssign, stmts: list[Stmt], program: Program, tree: ast.FunctionDef) -> str:
    """The dimensions of the largest statement of a line that no loop of the source runs through."""
    own = {loop.target.id for loop in _loops_around(tree, node.lineno) if isinstance(loop.target, ast.Name)}
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if not isinstance(target, ast.Name):
        return ""
    best: list[str] = []
    for stmt in stmts:
        dims = [dim for dim in stmt.domain if _base(dim.var) not in own]
        texts = [_dimension(dim, "parallel", program) for dim in dims]
        if texts and texts[-1]:
            texts[-1] += ",simd"
        for part in subexpressions(stmt.value):
            if isinstance(part, Reduce) and part.op in _WORDS:
                told = f"reduction({_WORDS[part.op]}:{target.id})"
                texts += [_dimension(dim, told, program) for dim in part.dims if _base(dim.var) not in own]
        if all(texts) and len(texts) > len(best):
            best = texts
    return " ".join(best)


def _dimension(dim: AnyDim, told: str, program: Program) -> str:
    if not isinstance(dim, Dim) or dim.step != 1:
        return ""
    low, high = (_bound(bound, program) for bound in (dim.lo, dim.hi))
    return f"{'' if low == '0' else low}:{high}=>{told}"


def _bound(expr: Expr, program: Program) -> str:
    sizes = {symbol.name: symbol.source for symbol in program.symbols if isinstance(symbol.source, SizeOf)}

    def named(part: Expr) -> Expr:
        source = sizes.get(part.name) if isinstance(part, Var) else None
        return Var(f"{source.buffer}.shape[{source.axis}]") if source is not None else part

    return show_expr(rewrite(expr, named)).replace(" ", "")
