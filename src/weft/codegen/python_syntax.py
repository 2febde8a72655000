"""Small constructors of Python syntax.  In: names, operators, values; out: `ast` nodes, which `ast.unparse` prints with
only the parentheses that are needed.  Nothing here knows the IR's meaning, only how Python spells things.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
import re

from weft.ir.types import DType

_COMMENT = re.compile(r"  # line (\d+)$")

BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "bitand": ast.BitAnd,
    "bitor": ast.BitOr,
    "bitxor": ast.BitXor,
    "shl": ast.LShift,
    "shr": ast.RShift,
}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}
# Names that generated code uses for its own ends: no variable of the program may hide them.
SUPPORT = frozenset(
    {"erf", "erfc", "gamma", "lgamma", "make_complex", "truncated_mod", "sign", "linear_view", "run_routine", "located"}
    | {"ldexp", "mantissa", "exponent", "remainder", "bitcount", "ratio", "literal_eval", "original", "foreign"}
    | {"norm2", "norm3", "place_of"}
)
_RESERVED = frozenset({"np", "math", "GuardFailed"}) | SUPPORT | frozenset(dir(builtins)) | frozenset(keyword.kwlist)


class Names:
    """Identifiers for the names of a program: unchanged where Python allows it, unique always."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._taken: set[str] = set(_RESERVED)

    def of(self, name: str) -> str:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self.fresh(name)
        return known

    def fresh(self, wish: str) -> str:
        base = "".join(char if char.isalnum() or char == "_" else "_" for char in wish) or "_"
        base = base if base.isidentifier() else "_" + base
        candidate, count = base, 1
        while candidate in self._taken:
            count += 1
            candidate = f"{base}_{count}"
        self._taken.add(candidate)
        return candidate


def name(text: str) -> ast.expr:
    """A name, or a dotted path of names."""
    first, *rest = text.split(".")
    node: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


def attribute(node: ast.expr, field: str) -> ast.expr:
    return ast.Attribute(node, field, ast.Load())


def call(function: str | ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    callee = name(function) if isinstance(function, str) else function
    return ast.Call(callee, list(args), [ast.keyword(key, value) for key, value in keywords.items()])


def method(node: ast.expr, field: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    return call(attribute(node, field), *args, **keywords)


def binary(op: str, left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, BINARY[op](), right)


def compare(op: str, left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.Compare(left, [_COMPARE[op]()], [right])


def both(op: str, left: ast.expr, right: ast.expr) -> ast.expr:
    """`left and right`, `left or right`; nested ones of a kind in one chain."""
    kind: type[ast.boolop] = ast.And if op == "and" else ast.Or
    if isinstance(left, ast.BoolOp) and isinstance(left.op, kind):
        return ast.BoolOp(kind(), [*left.values, right])
    return ast.BoolOp(kind(), [left, right])


def negated(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def minus(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)


def flipped(node: ast.expr) -> ast.expr:
    """`~node`."""
    return ast.UnaryOp(ast.Invert(), node)


def choose(condition: ast.expr, then: ast.expr, orelse: ast.expr) -> ast.expr:
    return ast.IfExp(condition, then, orelse)


def subscript(node: ast.expr, index: list[ast.expr]) -> ast.expr:
    inner = index[0] if len(index) == 1 else ast.Tuple(index, ast.Load())
    return ast.Subscript(node, inner, ast.Load())


def span(start: ast.expr | None, stop: ast.expr | None, step: int = 1) -> ast.expr:
    return ast.Slice(start, stop, None if step == 1 else ast.Constant(step))


def number(value: bool | int | float | complex | str | None) -> ast.expr:
    """A literal.  Negative numbers are an operator and a literal: that is how Python reads `-1 ** x`."""
    if isinstance(value, complex):
        return call("complex", number(value.real), number(value.imag))
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return name("np.nan")
        return name("np.inf") if value > 0 else minus(name("np.inf"))
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.copysign(1.0, value) < 0:
        return minus(ast.Constant(-value))
    return ast.Constant(value)


def dtype_name(dtype: DType) -> str:
    """`np.float64`, `np.bool_`, ..."""
    return "np.bool_" if dtype is DType.BOOL else f"np.{dtype.numpy.name}"


def text(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def at_the_users_lines(source: str) -> ast.Module:
    """Generated source with every statement at the line that its comment names: tracebacks show the user's lines."""
    line, lines = 1, []
    for row in source.splitlines():
        found = _COMMENT.search(row)
        line = int(found[1]) if found else line
        lines.append(line)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.ExceptHandler)):
            node.lineno = node.end_lineno = lines[node.lineno - 1]
            node.col_offset = node.end_col_offset = 0
    return tree


__all__ = [
    "BINARY",
    "SUPPORT",
    "Names",
    "at_the_users_lines",
    "attribute",
    "binary",
    "both",
    "call",
    "choose",
    "compare",
    "dtype_name",
    "flipped",
    "method",
    "minus",
    "name",
    "negated",
    "number",
    "span",
    "subscript",
    "text",
]


def list_of_scalars(array: ast.expr, rank: int) -> ast.expr:
    """list(array), and of its rows: their elements stay NumPy's scalars."""
    if rank <= 1:
        return call("list", array)
    row = f"row{rank}"
    each = ast.comprehension(ast.Name(row, ast.Store()), array, [], 0)
    return ast.ListComp(list_of_scalars(name(row), rank - 1), [each])
