"""One name for one thing.  In: a Program; out: the Program that every spelling of the same mathematics shares.

    for row in range(n): out[row] = x[row] * 2      -->  p0[i0] = p1[i0] * 2   for i0: 0 <= i0 < n0

Parameters are named by position, symbols, buffers and dimensions in order of appearance; indices are in canonical
affine order; the dimensions of a plain write follow its index where their bounds allow; guards are a set, and since a
failing one only means that Python runs, they keep no message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from weft.ir import index
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars
from weft.ir.program import (
    Accumulator,
    Alloc,
    Argument,
    ArrayOut,
    Block,
    Call,
    Check,
    Derived,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Operand,
    Out,
    Program,
    Rebind,
    ScalarOut,
    SizeOf,
    Stmt,
    Symbol,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.text import show_expr, show_node
from weft.ir.types import INT, DType
from weft.ir.walk import (
    dim_children,
    free_vars,
    map_children,
    map_program_exprs,
    map_sub_blocks,
    operands_of,
    rewrite,
    walk,
)


def canonical(program: Program) -> Program:
    """`program` under canonical names; two programs of one meaning and structure become equal (`==`).

    What is asked of the caller's memory (`disjoint`) is left out, and so is the difference between Python's floats and
    NumPy's: once checks are statements of their own, both compute alike.
    """
    program = replace(program, body=_ordered(program.body), name="program")
    program = _strengthened(map_program_exprs(rename(program, _names(program)), _affine))
    used = set(_mentioned(program))
    position = {name: number for number, name in enumerate(_mentioned(program))}
    for symbol in reversed(program.symbols):
        if isinstance(symbol.source, Derived) and symbol.name in used:
            used |= free_vars(symbol.source.value)
    symbols = [s for s in program.symbols if isinstance(s.source, Argument) or s.name in used]
    buffers = [b for b in program.buffers if b.name in used or b.name in program.params]
    last = len(position)
    stripped = {_bare(guard) for guard in program.guards}
    return replace(
        program,
        symbols=tuple(sorted(symbols, key=lambda s: (isinstance(s.source, Derived), position.get(s.name, last)))),
        buffers=tuple(
            replace(b, shape=tuple(_affine(e) for e in b.shape))
            for b in sorted(buffers, key=lambda b: position.get(b.name, last))
        ),
        guards=tuple(sorted(stripped, key=show_node)),
        disjoint=tuple(sorted({(min(pair), max(pair)) for pair in program.disjoint})),
    )


def rename(program: Program, names: Mapping[str, str]) -> Program:
    """`program` with buffers, symbols and dimensions renamed; a name not in the mapping stays."""
    return _Renamer(names).program(program)


def _affine(expr: Expr) -> Expr:
    """Every integer expression in canonical affine order, as far down as it is affine."""
    if isinstance(expr, Op) and expr.type == INT and index.affine(expr) is not None:
        return index.canonical(expr)
    return map_children(expr, _affine)


def _bare(guard: Check) -> Check:
    """A guard without its message, its comparison turned one way: `b > a` is `a < b`, `b == a` is `a == b`."""
    condition = guard.condition
    if isinstance(condition, Op) and condition.op in ("gt", "ge", "eq", "ne"):
        left, right = condition.args
        if condition.op in ("gt", "ge"):
            condition = replace(condition, op=condition.op.replace("g", "l"), args=(right, left))
        elif show_expr(right) < show_expr(left):
            condition = replace(condition, args=(right, left))
    return replace(guard, condition=condition, exception="ValueError", message="", values=())


def _ordered(block: Block) -> Block:
    return tuple(map_sub_blocks(_order_dims(node), _ordered) for node in block)


def _order_dims(node: Node) -> Node:
    """The dimensions of a plain write in the order of its index: the points are the same, and simultaneous."""
    if not isinstance(node, Stmt) or node.reduce is not None:
        return node
    wanted: list[AnyDim] = []
    by_name = {name: dim for dim in node.domain for name in dim_vars((dim,))}
    for e in node.index:
        for part in _vars(e):
            if part in by_name and by_name[part] not in wanted:
                wanted.append(by_name[part])
    wanted += [dim for dim in node.domain if dim not in wanted]
    bound: set[str] = set()
    for dim in wanted:
        needed = {name for e in dim_children(dim) for name in free_vars(e)} & set(by_name)
        if not needed <= bound:
            return node  # a bound uses a dimension that would come later
        bound |= set(dim_vars((dim,)))
    return replace(node, domain=tuple(wanted))


# --- names in order of appearance -------------------------------------------------------------------------------------


def _vars(expr: Expr) -> Iterator[str]:
    """Every name in an expression, binders before their scope."""
    if isinstance(expr, Var):
        yield expr.name
    elif isinstance(expr, Read):
        yield expr.buffer
        for e in expr.index:
            yield from _vars(e)
    elif isinstance(expr, Op):
        for e in expr.args:
            yield from _vars(e)
    elif isinstance(expr, Cast):
        yield from _vars(expr.value)
    elif isinstance(expr, Reduce):
        yield from _domain_names(expr.dims)
        yield from _vars(expr.value)


def _domain_names(domain: Domain) -> Iterator[str]:
    for dim in domain:
        yield from dim_vars((dim,))
        if isinstance(dim, CompressedDim):
            yield from (dim.pointer, dim.coordinate)
        for e in dim_children(dim):
            yield from _vars(e)


def _node_names(node: Node) -> Iterator[str]:
    if isinstance(node, Stmt):
        yield from _domain_names(node.domain)
        yield node.buffer
        for e in (*node.index, node.value):
            yield from _vars(e)
    elif isinstance(node, Check):
        yield from _domain_names(node.domain)
        for e in (node.condition, *node.values):
            yield from _vars(e)
    elif isinstance(node, Loop):
        yield from _domain_names((node.dim,))
        if node.work is not None:
            yield from _vars(node.work)
        yield from (accumulator.buffer for accumulator in node.accumulators)
    elif isinstance(node, (While, If)):
        yield from _vars(node.condition)
    elif isinstance(node, Alloc):
        yield node.buffer
    elif isinstance(node, Rebind):
        yield from (*node.targets, *node.sources)
    elif isinstance(node, Call):
        yield from _node_names(node.stmt)
        for factor in (node.scale, node.keep):
            if factor is not None:
                yield from _vars(factor)
    elif isinstance(node, Library):
        yield from _domain_names(node.domain)
        for operand in operands_of(node):
            yield operand.buffer
            yield from _domain_names(operand.dims)
            for e in operand.index:
                yield from _vars(e)
        if node.status is not None:
            yield node.status
    elif isinstance(node, Invoke):
        for argument in node.arguments:
            if isinstance(argument, Operand):
                yield argument.buffer
                yield from _domain_names(argument.dims)
            for e in argument.index if isinstance(argument, Operand) else (argument,):
                yield from _vars(e)
        yield from node.results


def _out_names(out: Out) -> Iterator[str]:
    if isinstance(out, TupleOut):
        for item in out.items:
            yield from _out_names(item)
    elif isinstance(out, ViewOut):
        yield out.buffer
        yield from _domain_names(out.dims)
        for e in out.index:
            yield from _vars(e)
    elif isinstance(out, (ScalarOut, ArrayOut)):
        yield out.buffer


def _mentioned(program: Program) -> list[str]:
    """Every name once, in order of appearance: parameters, the sizes in their shapes, the body, results, guards."""
    found: dict[str, None] = dict.fromkeys(program.params)
    table = program.table

    def note(names: Iterator[str]) -> None:
        for name in names:
            if name not in found:
                found[name] = None
                if name in table:
                    for extent in table[name].shape:
                        note(_vars(extent))

    for name in program.params:
        if name in table:
            for extent in table[name].shape:
                note(_vars(extent))
    for node in walk(program.body):
        note(_node_names(node))
    for out in program.results:
        note(_out_names(out))
    for guard in program.guards:
        note(_node_names(guard))
    return list(found)


def _names(program: Program) -> dict[str, str]:
    """The canonical name of each."""
    symbols = {symbol.name for symbol in program.symbols}
    counts = {"n": 0, "t": 0, "i": 0}
    names: dict[str, str] = {}
    for name in _mentioned(program):
        if name in program.params:
            names[name] = f"p{program.params.index(name)}"
            continue
        kind = "n" if name in symbols else "t" if name in program.table else "i"
        names[name] = f"{kind}{counts[kind]}"
        counts[kind] += 1
    return names


# --- renaming ---------------------------------------------------------------------------------------------------------


class _Renamer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def name(self, name: str) -> str:
        return self.names.get(name, name)

    def all(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.name(name) for name in names)

    def expr(self, expr: Expr) -> Expr:
        if isinstance(expr, Var):
            return replace(expr, name=self.name(expr.name))
        if isinstance(expr, Read):
            return replace(expr, buffer=self.name(expr.buffer), index=self.exprs(expr.index))
        if isinstance(expr, Op):
            return replace(expr, args=self.exprs(expr.args))
        if isinstance(expr, Cast):
            return replace(expr, value=self.expr(expr.value))
        if isinstance(expr, Reduce):
            return replace(expr, dims=self.domain(expr.dims), value=self.expr(expr.value))
        return expr

    def exprs(self, exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(self.expr(e) for e in exprs)

    def optional(self, expr: Expr | None) -> Expr | None:
        return None if expr is None else self.expr(expr)

    def dim(self, dim: AnyDim) -> AnyDim:
        if isinstance(dim, Dim):
            return replace(dim, var=self.name(dim.var), lo=self.expr(dim.lo), hi=self.expr(dim.hi))
        return CompressedDim(
            self.name(dim.var),
            self.name(dim.position),
            self.name(dim.pointer),
            self.name(dim.coordinate),
            self.expr(dim.parent),
        )

    def domain(self, domain: Domain) -> Domain:
        return tuple(self.dim(dim) for dim in domain)

    def block(self, block: Block) -> Block:
        return tuple(self.node(node) for node in block)

    def stmt(self, stmt: Stmt) -> Stmt:
        return replace(
            stmt,
            domain=self.domain(stmt.domain),
            buffer=self.name(stmt.buffer),
            index=self.exprs(stmt.index),
            value=self.expr(stmt.value),
        )

    def check(self, check: Check) -> Check:
        domain, condition = self.domain(check.domain), self.expr(check.condition)
        return replace(check, domain=domain, condition=condition, values=self.exprs(check.values))

    def node(self, node: Node) -> Node:
        if isinstance(node, Stmt):
            return self.stmt(node)
        if isinstance(node, Check):
            return self.check(node)
        if isinstance(node, Loop):
            accumulators = tuple(Accumulator(self.name(a.buffer), a.op) for a in node.accumulators)
            dim, body, work = self.dim(node.dim), self.block(node.body), self.optional(node.work)
            return replace(node, dim=dim, body=body, accumulators=accumulators, work=work)
        if isinstance(node, While):
            prelude, condition = self.block(node.prelude), self.expr(node.condition)
            return replace(node, prelude=prelude, condition=condition, body=self.block(node.body))
        if isinstance(node, If):
            then, orelse = self.block(node.then), self.block(node.orelse)
            return replace(node, condition=self.expr(node.condition), then=then, orelse=orelse)
        if isinstance(node, Alloc):
            return replace(node, buffer=self.name(node.buffer))
        if isinstance(node, Rebind):
            return replace(node, targets=self.all(node.targets), sources=self.all(node.sources))
        if isinstance(node, Call):
            operands = tuple(replace(r, buffer=self.name(r.buffer), index=self.exprs(r.index)) for r in node.operands)
            scale, keep = self.optional(node.scale), self.optional(node.keep)
            return replace(node, stmt=self.stmt(node.stmt), operands=operands, scale=scale, keep=keep)
        if isinstance(node, Library):
            inputs, outputs = (tuple(self.operand(o) for o in side) for side in (node.inputs, node.outputs))
            status = None if node.status is None else self.name(node.status)
            return replace(node, domain=self.domain(node.domain), inputs=inputs, outputs=outputs, status=status)
        if isinstance(node, Invoke):
            given = tuple(self.operand(a) if isinstance(a, Operand) else self.expr(a) for a in node.arguments)
            return replace(node, arguments=given, results=self.all(node.results), writes=self.all(node.writes))
        return node

    def operand(self, operand: Operand) -> Operand:
        return Operand(self.name(operand.buffer), self.domain(operand.dims), self.exprs(operand.index))

    def out(self, out: Out) -> Out:
        if isinstance(out, TupleOut):
            return replace(out, items=tuple(self.out(item) for item in out.items))
        if isinstance(out, ViewOut):
            return ViewOut(self.name(out.buffer), self.domain(out.dims), self.exprs(out.index))
        if isinstance(out, (ScalarOut, ArrayOut)):
            return replace(out, buffer=self.name(out.buffer))
        return out

    def symbol(self, symbol: Symbol) -> Symbol:
        source = symbol.source
        if isinstance(source, SizeOf):
            return Symbol(self.name(symbol.name), SizeOf(self.name(source.buffer), source.axis))
        if isinstance(source, Derived):
            return Symbol(self.name(symbol.name), Derived(self.expr(source.value)))
        return Symbol(self.name(symbol.name), Argument(self.name(source.name)))

    def program(self, program: Program) -> Program:
        return replace(
            program,
            params=self.all(program.params),
            symbols=tuple(self.symbol(symbol) for symbol in program.symbols),
            buffers=tuple(replace(b, name=self.name(b.name), shape=self.exprs(b.shape)) for b in program.buffers),
            guards=tuple(self.check(guard) for guard in program.guards),
            body=self.block(program.body),
            results=tuple(self.out(out) for out in program.results),
            disjoint=tuple((self.name(first), self.name(second)) for first, second in program.disjoint),
            arranged=self.all(program.arranged),
            ordered=self.all(program.ordered),
        )


def _strengthened(program: Program) -> Program:
    """Python's floats, complex numbers and bools as NumPy's; integers stay, since they overflow differently."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, (Const, Read, Op, Cast)) and expr.of.weak and expr.of.dtype is not DType.I64:
            expr = replace(expr, of=expr.of.strong)
        return expr.value if isinstance(expr, Cast) and expr.value.type == expr.of else expr

    program = map_program_exprs(program, lambda expr: rewrite(expr, visit))
    buffers = tuple(
        replace(b, type=b.type.strong) if b.type.weak and b.type.dtype is not DType.I64 else b for b in program.buffers
    )
    return replace(program, buffers=buffers, disjoint=(), arranged=(), ordered=())
