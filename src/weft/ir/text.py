"""The text form.  In: a Program (or a part of one); out: readable text that `parse` turns back into an equal Program.

    program matmul(a, b):
      size a_0 = a.shape[0]
      param a: f64[a_0, a_1] C
      result t: f64[a_0, b_1]
      output #0 = array t
      guard a_1 == b_0 else ValueError "mismatch: {0} and {1}" {a_1, b_0}

      alloc t
      t[i, j] = sum[k: 0 <= k < a_1] a[i, k] * b[k, j]   for i: 0 <= i < a_0, j: 0 <= j < b_1
      return #0

A literal is a Python literal, with its type after an underscore where that is not Python's own (2.0_f64); `f64(x)` is
a cast; `(x as i64)` says a type that does not follow from the operands; `j(p): csr(ptr, idx)[i]` is a compressed
dimension.  Everything from "# " to the end of a line is a comment.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Limit, Op, Read, Reduce, Var
from weft.ir.ops import OPERATIONS
from weft.ir.program import (
    Alloc,
    ArgumentOut,
    ArrayOut,
    Block,
    Break,
    Buffer,
    Call,
    Check,
    ConstOut,
    Continue,
    Derived,
    If,
    Invoke,
    Layout,
    Library,
    Loop,
    Node,
    NoneOut,
    Operand,
    Out,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    SizeOf,
    Space,
    Stmt,
    Symbol,
    TupleOut,
    While,
)
from weft.ir.types import BOOL, FLOAT, INT, PYBOOL, ScalarType

# How tightly each operator binds; a prefix operator has its own row, everything else is written as a call.
BINDING: dict[str, int] = {
    "or": 1,
    "and": 2,
    "==": 4,
    "!=": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "//": 10,
    "%": 10,
    "**": 12,
}
PREFIX: dict[str, tuple[str, int]] = {"not": ("not ", 3), "neg": ("-", 11), "invert": ("~", 11)}
COMPARISON, PRIMARY = 4, 13
REDUCE_NAMES: dict[str, str] = {
    "add": "sum",
    "mul": "product",
    "minimum": "min",
    "maximum": "max",
    "and": "all",
    "or": "any",
    "bitand": "bitand",
    "bitor": "bitor",
    "bitxor": "bitxor",
    "argmin": "argmin",
    "argmax": "argmax",
}
ASSIGNMENTS: dict[str, str] = {
    "add": "+=",
    "mul": "*=",
    "minimum": "min=",
    "maximum": "max=",
    "and": "and=",
    "or": "or=",
    "bitand": "&=",
    "bitor": "|=",
    "bitxor": "^=",
    "argmin": "argmin=",
    "argmax": "argmax=",
}
_PLAIN: dict[type, ScalarType] = {bool: PYBOOL, int: INT, float: FLOAT}

Table = Mapping[str, Buffer]


def parse(text: str) -> Program:
    """The Program of a text; `parse(show(p)) == p`.  Raises text_parse.ParseError, which names the line."""
    from weft.ir.text_parse import parse_program  # the parser needs the tables above

    return parse_program(text)


def inferred_type(op: str, args: tuple[Expr, ...]) -> ScalarType:
    """The type an operation has when nothing else is said: by its rule, weak if every operand is."""
    operands = args[1:] if op == "select" else args
    operand = ScalarType(operands[0].type.dtype, all(arg.type.weak for arg in operands))
    return OPERATIONS[op].result_type(operand)


# --- expressions ----------------------------------------------------------------------------------------------------


def show_expr(expr: Expr, table: Table | None = None) -> str:
    """The text of an expression; with the buffers at hand, reads of another type than their buffer's say so."""
    return _expr(expr, 0, table)


def _expr(expr: Expr, binding: int, table: Table | None) -> str:
    """The text of `expr` as an operand that must bind at least as tightly as `binding`."""
    text, own = _bare(expr, table)
    annotation = _annotation(expr, table)
    if annotation is not None:
        return f"({text} as {annotation})"
    return f"({text})" if own < binding else text


def _annotation(expr: Expr, table: Table | None) -> ScalarType | None:
    """The type to write beside an expression, None where it follows from the parts."""
    if isinstance(expr, Read):
        known = table is None or (expr.buffer in table and table[expr.buffer].type == expr.of)
        return None if known else expr.of
    if isinstance(expr, Op):
        return None if inferred_type(expr.op, expr.args) == expr.of else expr.of
    return None


def _bare(expr: Expr, table: Table | None) -> tuple[str, int]:
    """The text of an expression and how tightly it binds."""
    if isinstance(expr, Const):
        text = _const(expr)
        return text, BINDING["+"] if text.startswith("-") else PRIMARY  # a sign before an operator needs parentheses
    if isinstance(expr, Var):
        return expr.name, PRIMARY
    if isinstance(expr, Limit):
        return f"limit({expr.name})", PRIMARY
    if isinstance(expr, Read):
        return expr.buffer + _index(expr.index, table), PRIMARY
    if isinstance(expr, Cast):
        return f"{expr.of}({_expr(expr.value, 0, table)})", PRIMARY
    if isinstance(expr, Reduce):
        return f"{REDUCE_NAMES[expr.op]}[{show_domain(expr.dims, table)}] {_expr(expr.value, 1, table)}", 0
    assert isinstance(expr, Op)
    if expr.op in PREFIX:
        sign, own = PREFIX[expr.op]
        operand = _expr(expr.args[0], own, table)
        # "-1" is a literal: the negation of something that begins with one is written -(1).
        literal = operand[0].isdigit() or operand.startswith("float.")
        return sign + (f"({operand})" if literal else operand), own
    symbol = OPERATIONS[expr.op].symbol
    if symbol is None:
        return f"{expr.op}({', '.join(_expr(arg, 0, table) for arg in expr.args)})", PRIMARY
    own = BINDING[symbol]
    chains = own != COMPARISON and symbol != "**"  # the others never stand beside themselves without parentheses
    left = _expr(expr.args[0], own if chains else own + 1, table)
    right = _expr(expr.args[1], own + 1, table)
    return f"{left} {symbol} {right}", own


def _const(const: Const) -> str:
    value, of = const.value, const.of
    if isinstance(value, bool):
        if of in (PYBOOL, BOOL):
            return str(value) if of == PYBOOL else f"bool.{value}"
        return f"const({value}, {of})"
    if isinstance(value, complex):
        return f"j({_real(value.real)}, {_real(value.imag)})_{of}"
    return _real(value) + ("" if _PLAIN.get(type(value)) == of else f"_{of}")


def _real(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "float.nan" if math.isnan(value) else ("float.inf" if value > 0 else "-float.inf")
    return repr(value)


def _index(index: tuple[Expr, ...], table: Table | None) -> str:
    return f"[{', '.join(_expr(e, 0, table) for e in index)}]" if index else ""


def show_dim(dim: AnyDim, table: Table | None = None) -> str:
    if isinstance(dim, CompressedDim):
        return f"{dim.var}({dim.position}): {_level(dim, table)}"
    up, end = ("<=", "<") if dim.step > 0 else (">=", ">")
    lo, hi = _expr(dim.lo, COMPARISON + 1, table), _expr(dim.hi, COMPARISON + 1, table)
    return f"{dim.var}: {lo} {up} {dim.var} {end} {hi}{_step(dim)}"


def _level(dim: CompressedDim, table: Table | None) -> str:
    return f"csr({dim.pointer}, {dim.coordinate})[{_expr(dim.parent, 0, table)}]"


def _step(dim: Dim) -> str:
    return "" if dim.step == 1 else f" step {dim.step}"


def show_domain(domain: Domain, table: Table | None = None) -> str:
    return ", ".join(show_dim(dim, table) for dim in domain)


# --- statements -----------------------------------------------------------------------------------------------------


def show_node(node: Node, table: Table | None = None, indent: int = 0, lines: bool = False) -> str:
    """The text of one node, nested blocks included; `lines` adds the source line of each as a comment."""
    return "\n".join(_node(node, table, indent, lines))


def _block(block: Block, table: Table | None, indent: int, lines: bool) -> list[str]:
    if not block:
        return ["  " * indent + "pass"]
    return [line for node in block for line in _node(node, table, indent, lines)]


def _node(node: Node, table: Table | None, indent: int, lines: bool) -> list[str]:
    pad = "  " * indent
    comment = f"   # line {node.span.line}" if lines and node.span.line > 0 else ""

    def inner(block: Block) -> list[str]:
        return _block(block, table, indent + 1, lines)

    if isinstance(node, Loop):
        return [f"{pad}{_loop(node, table)}:{comment}", *inner(node.body)]
    if isinstance(node, While):
        head = [f"{pad}prelude:", *inner(node.prelude)] if node.prelude else []
        return [*head, f"{pad}while {_expr(node.condition, 0, table)}:{comment}", *inner(node.body)]
    if isinstance(node, If):
        tail = [f"{pad}else:", *inner(node.orelse)] if node.orelse else []
        return [f"{pad}if {_expr(node.condition, 0, table)}:{comment}", *inner(node.then), *tail]
    return [f"{pad}{_leaf(node, table)}{comment}"]


def _leaf(node: Node, table: Table | None) -> str:
    if isinstance(node, Stmt):
        return _stmt(node, table)
    if isinstance(node, Check):
        return "check " + _check(node, table)
    if isinstance(node, Break):
        return "break"
    if isinstance(node, Continue):
        return "continue"
    if isinstance(node, Return):
        return f"return #{node.result}"
    if isinstance(node, Alloc):
        return f"alloc {node.buffer}" + (" zero" if node.zero else "")
    if isinstance(node, Rebind):
        return f"rebind {', '.join(node.targets)} = {', '.join(node.sources)}"
    if isinstance(node, Call):
        scale = "" if node.scale is None else f" scale {_expr(node.scale, 1, table)}"
        keep = "" if node.keep is None else f" keep {_expr(node.keep, 1, table)}"
        operands = ", ".join(_expr(read, 0, table) for read in node.operands)
        return f"call {node.routine}({operands}){scale}{keep}: {_stmt(node.stmt, table)}"
    if isinstance(node, Invoke):
        given = ", ".join(_operand(a, table) if isinstance(a, Operand) else _expr(a, 0, table) for a in node.arguments)
        gives = f" gives {', '.join(node.results)}" if node.results else ""
        return f"invoke {node.function}({given}){gives}" + (f" writes {', '.join(node.writes)}" if node.writes else "")
    assert isinstance(node, Library)
    inputs, outputs = (" ".join(_operand(o, table) for o in side) for side in (node.inputs, node.outputs))
    status = "" if node.status is None else f" status {node.status}"
    return f"library {node.routine} {inputs} gives {outputs}{status}{_over(node.domain, table)}"


def _operand(operand: Operand, table: Table | None) -> str:
    dims = f" for {show_domain(operand.dims, table)}" if operand.dims else ""
    return f"{{{operand.buffer}{_index(operand.index, table)}{dims}}}"


def _over(domain: Domain, table: Table | None) -> str:
    return f"   for {show_domain(domain, table)}" if domain else ""


def _stmt(stmt: Stmt, table: Table | None) -> str:
    assign = "=" if stmt.reduce is None else ASSIGNMENTS[stmt.reduce]
    target = stmt.buffer + _index(stmt.index, table)
    return f"{target} {assign} {_expr(stmt.value, 0, table)}{_over(stmt.domain, table)}"


def _check(check: Check, table: Table | None) -> str:
    values = f" {{{', '.join(_expr(e, 0, table) for e in check.values)}}}" if check.values else ""
    message = f" {json.dumps(check.message)}" if check.message or check.values else ""
    return f"{_expr(check.condition, 0, table)} else {check.exception}{message}{values}{_over(check.domain, table)}"


def _loop(loop: Loop, table: Table | None) -> str:
    dim = loop.dim
    if isinstance(dim, Dim):
        head = f"{dim.var} in {_expr(dim.lo, 1, table)} .. {_expr(dim.hi, 1, table)}{_step(dim)}"
    else:
        head = f"{dim.var}({dim.position}) in {_level(dim, table)}"
    reducing = ", ".join(f"{a.buffer} by {a.op}" for a in loop.accumulators)
    reduced = f" reducing {reducing}" if reducing else ""
    work = "" if loop.work is None else f" work {_expr(loop.work, 1, table)}"
    most = f" threads {loop.threads}" if loop.threads else ""
    return f"{loop.kind.value} {head}{reduced}{work}{most}"


# --- programs -------------------------------------------------------------------------------------------------------


def show_out(out: Out, table: Table | None = None) -> str:
    if isinstance(out, NoneOut):
        return "None"
    if isinstance(out, ArgumentOut):
        return f"argument {out.index}"
    if isinstance(out, ScalarOut):
        return f"scalar {out.buffer}"
    if isinstance(out, ArrayOut):
        return f"{'list' if out.as_list else 'array'} {out.buffer}"
    if isinstance(out, TupleOut):
        if out.named:
            return f"named {json.dumps(out.named)}({', '.join(show_out(item, table) for item in out.items)})"
        return f"{'list' if out.as_list else 'tuple'}({', '.join(show_out(item, table) for item in out.items)})"
    if isinstance(out, ConstOut):
        return f"const {json.dumps(out.text)}"
    return f"view({out.buffer}{_index(out.index, table)}{_over(out.dims, table)})"


def _symbol(symbol: Symbol) -> str:
    if isinstance(symbol.source, SizeOf):
        return f"size {symbol.name} = {symbol.source.buffer}.shape[{symbol.source.axis}]"
    if isinstance(symbol.source, Derived):
        return f"symbol {symbol.name} = {show_expr(symbol.source.value)}"
    return f"symbol {symbol.name} = argument {symbol.source.name}"


def _buffer(buffer: Buffer, table: Table) -> str:
    explicit = buffer.layout is not Layout.C or (buffer.role is Role.PARAM and buffer.rank > 0)
    layout = f" {buffer.layout.value}" if explicit else ""
    space = f" {buffer.space.value}" if buffer.space is not Space.HOST else ""
    return f"{buffer.role.value} {buffer.name}: {buffer.type}{_index(buffer.shape, table)}{layout}{space}"


def show(program: Program, lines: bool = False) -> str:
    """The text of a whole program; `lines` adds the source lines as comments."""
    table = program.table
    name = program.name if program.name.isidentifier() else json.dumps(program.name)
    header = [_symbol(symbol) for symbol in program.symbols]
    header += [_buffer(buffer, table) for buffer in program.buffers]
    header += [f"disjoint {first}, {second}" for first, second in program.disjoint]
    header += [f"arranged {name}" for name in program.arranged]
    header += [f"ordered {name}" for name in program.ordered]
    header += [f"output #{number} = {show_out(out, table)}" for number, out in enumerate(program.results)]
    header += ["guard " + _check(guard, table) for guard in program.guards]
    body = _block(program.body, table, 1, lines)
    head = f"program {name}({', '.join(program.params)}):"
    functions = [line for function in program.functions for line in ("", show(function, lines))]
    return "\n".join([head, *("  " + h for h in header), "", *body, *functions, ""])
