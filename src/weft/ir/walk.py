"""Traversal, written once: children, bottom-up rewriting, free names, substitution, renaming.  In: expressions, nodes
or programs; out: the same, and parts that do not change are the very objects that came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Limit, Op, Read, Reduce, Var, dim_vars
from weft.ir.ops import UNSTEADY
from weft.ir.program import (
    Alloc,
    Block,
    Call,
    Check,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Operand,
    Out,
    OutLeaf,
    Program,
    Rebind,
    Return,
    Stmt,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.routines import ROUTINES

ExprMap = Callable[[Expr], Expr]
_T = TypeVar("_T")


def _same(new: Iterable[object], old: Iterable[object]) -> bool:
    return all(a is b for a, b in zip(new, old))


def map_dim(dim: AnyDim, function: ExprMap) -> AnyDim:
    """A dimension with `function` applied to its bounds."""
    if isinstance(dim, Dim):
        lo, hi = function(dim.lo), function(dim.hi)
        return dim if lo is dim.lo and hi is dim.hi else replace(dim, lo=lo, hi=hi)
    parent = function(dim.parent)
    return dim if parent is dim.parent else replace(dim, parent=parent)


def map_domain(domain: Domain, function: ExprMap) -> Domain:
    new = tuple(map_dim(dim, function) for dim in domain)
    return domain if _same(new, domain) else new


def map_children(expr: Expr, function: ExprMap) -> Expr:
    """`expr` with `function` applied to its direct operands."""
    if isinstance(expr, (Const, Var, Limit)):
        return expr
    if isinstance(expr, Read):
        index = tuple(function(e) for e in expr.index)
        return expr if _same(index, expr.index) else replace(expr, index=index)
    if isinstance(expr, Op):
        args = tuple(function(e) for e in expr.args)
        return expr if _same(args, expr.args) else replace(expr, args=args)
    if isinstance(expr, Cast):
        value = function(expr.value)
        return expr if value is expr.value else replace(expr, value=value)
    assert isinstance(expr, Reduce)
    dims, value = map_domain(expr.dims, function), function(expr.value)
    return expr if dims is expr.dims and value is expr.value else replace(expr, dims=dims, value=value)


def rewrite(expr: Expr, function: ExprMap) -> Expr:
    """Bottom-up rewriting: operands first, then `function` on the rebuilt node."""
    return function(map_children(expr, lambda e: rewrite(e, function)))


def dim_children(dim: AnyDim) -> tuple[Expr, ...]:
    return (dim.lo, dim.hi) if isinstance(dim, Dim) else (dim.parent,)


def children(expr: Expr) -> tuple[Expr, ...]:
    if isinstance(expr, Read):
        return expr.index
    if isinstance(expr, Op):
        return expr.args
    if isinstance(expr, Cast):
        return (expr.value,)
    if isinstance(expr, Reduce):
        return tuple(e for dim in expr.dims for e in dim_children(dim)) + (expr.value,)
    return ()


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def reads(expr: Expr) -> Iterator[Read]:
    for node in subexpressions(expr):
        if isinstance(node, Read):
            yield node


def sure_reads(expr: Expr) -> Iterator[Read]:
    """Reads that every evaluation makes: those below a choice's branches are not among them."""
    if isinstance(expr, Op) and expr.op == "select":
        yield from sure_reads(expr.args[0])
        return
    if isinstance(expr, Reduce):
        return  # it may have no points
    if isinstance(expr, Read):
        yield expr
        yield from (inner for e in expr.index for inner in reads(e))
        return
    for child in children(expr):
        yield from sure_reads(child)


def is_repeatable(expr: Expr) -> bool:
    """Whether the value is the same, to the last bit, each time and wherever it is computed."""

    def steady(part: Expr) -> bool:
        if isinstance(part, Reduce):
            return not part.type.dtype.is_inexact
        if not isinstance(part, Op):
            return True
        of_complex = any(argument.type.dtype.is_complex for argument in part.args)
        return part.op not in UNSTEADY and not (of_complex and part.op in ("abs", "sqrt", "truediv"))

    return all(steady(part) for part in subexpressions(expr))


def kept(owner: Expr | Node, name: str, compute: Callable[[Any], _T]) -> _T:
    """What is computed once of an immutable expression or node and asked again by every pass: it stays with the object.

    Equality, hashes and text know only fields, and `replace` makes an object without any of this.
    """
    known: _T | None = owner.__dict__.get(name)
    if known is None:
        known = owner.__dict__[name] = compute(owner)
    return known


def expr_size(expr: Expr) -> int:
    """How many parts an expression has, itself included."""
    return kept(expr, "_size", lambda e: 1 + sum(expr_size(child) for child in children(e)))


def expr_buffers(expr: Expr) -> set[str]:
    """Names of all buffers an expression reads, those of compressed dimensions included."""
    return set(kept(expr, "_buffers", _expr_buffers))


def _expr_buffers(expr: Expr) -> frozenset[str]:
    own: set[str] = {expr.buffer} if isinstance(expr, Read) else set()
    if isinstance(expr, Reduce):
        own = domain_buffers(expr.dims)
    return frozenset(own.union(*(kept(child, "_buffers", _expr_buffers) for child in children(expr))))


def domain_buffers(domain: Domain) -> set[str]:
    """Buffers read by the dimensions themselves: pointers and coordinates, and reads inside bounds."""
    found: set[str] = set()
    for dim in domain:
        if isinstance(dim, CompressedDim):
            found |= {dim.pointer, dim.coordinate}
        for bound in dim_children(dim):
            found |= expr_buffers(bound)
    return found


def levels(block: Block) -> list[CompressedDim]:
    """The compressed dimensions of all domains and reductions in a block."""
    found: list[CompressedDim] = []
    for node in walk(block):
        parts = [part for expr in node_exprs(node) for part in subexpressions(expr)]
        domains: list[Domain] = [part.dims for part in parts if isinstance(part, Reduce)]
        if isinstance(node, (Stmt, Check, Library)):
            domains.append(node.domain)
        elif isinstance(node, Loop):
            domains.append((node.dim,))
        found += [dim for domain in domains for dim in domain if isinstance(dim, CompressedDim)]
    return found


def structure(block: Block) -> set[str]:
    """The buffers that tell where the entries of compressed dimensions are, anywhere in a block."""
    return {name for dim in levels(block) for name in (dim.pointer, dim.coordinate)}


def free_vars(expr: Expr) -> set[str]:
    """Names of index variables and symbols that `expr` uses and does not bind itself."""
    return set(kept(expr, "_free", _free_vars))


def _free_vars(expr: Expr) -> frozenset[str]:
    if isinstance(expr, Var):
        return frozenset((expr.name,))
    if isinstance(expr, Reduce):
        inner = free_vars(expr.value)
        for dim in reversed(expr.dims):
            inner -= set(dim_vars((dim,)))
            for bound in dim_children(dim):
                inner |= free_vars(bound)
        return frozenset(inner)
    return frozenset[str]().union(*(kept(child, "_free", _free_vars) for child in children(expr)))


def linear_in(expr: Expr, names: set[str]) -> bool:
    """Whether an expression is a sum of terms that are linear in these variables, or without them."""
    if isinstance(expr, Var) or not free_vars(expr) & names:
        return True
    if not isinstance(expr, Op) or expr.op not in ("add", "sub", "neg", "mul"):
        return False
    varying = sum(bool(free_vars(part) & names) for part in expr.args)
    return (expr.op != "mul" or varying == 1) and all(linear_in(part, names) for part in expr.args)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """`expr` with index variables replaced.  Names are unique in a program, so nothing can be captured."""
    if not values:
        return expr

    def visit(node: Expr) -> Expr:
        if isinstance(node, Var):
            return values.get(node.name, node)
        return map_children(node, visit)

    return visit(expr)


def rename_reads(expr: Expr, names: Mapping[str, str]) -> Expr:
    """`expr` reading other buffers: `names` maps old to new."""

    def visit(node: Expr) -> Expr:
        if isinstance(node, Read) and node.buffer in names:
            return replace(node, buffer=names[node.buffer])
        return node

    return rewrite(expr, visit)


def rename_buffers(node: Node, names: Mapping[str, str]) -> Node:
    """The node with some buffers under other names, wherever it reads or writes them (a Rebind names none of these)."""

    def operand(old: Operand) -> Operand:
        return replace(old, buffer=names.get(old.buffer, old.buffer))

    def change(old: Node) -> Node:
        if isinstance(old, (Stmt, Alloc)) and old.buffer in names:
            old = replace(old, buffer=names[old.buffer])
        elif isinstance(old, Call):
            stmt = change(old.stmt)
            assert isinstance(stmt, Stmt)
            reads = tuple(replace(r, buffer=names.get(r.buffer, r.buffer)) for r in old.operands)
            old = replace(old, stmt=stmt, operands=reads)
        elif isinstance(old, Library):
            status = None if old.status is None else names.get(old.status, old.status)
            inputs, outputs = (tuple(operand(o) for o in side) for side in (old.inputs, old.outputs))
            old = replace(old, inputs=inputs, outputs=outputs, status=status)
        elif isinstance(old, Invoke):
            arguments = tuple(operand(a) if isinstance(a, Operand) else a for a in old.arguments)
            results, writes = (tuple(names.get(name, name) for name in side) for side in (old.results, old.writes))
            old = replace(old, arguments=arguments, results=results, writes=writes)
        return map_sub_blocks(old, lambda inner: map_block(inner, change))

    return map_node_exprs(change(node), lambda e: rename_reads(e, names))


# --- statements -----------------------------------------------------------------------------------------------------


def map_node_exprs(node: Node, function: ExprMap) -> Node:
    """A node with `function` applied to every expression directly in it (nested blocks included)."""

    def block(nodes: Block) -> Block:
        return map_block(nodes, lambda n: map_node_exprs(n, function))

    if isinstance(node, Stmt):
        domain = map_domain(node.domain, function)
        index = tuple(function(e) for e in node.index)
        value = function(node.value)
        if domain is node.domain and value is node.value and _same(index, node.index):
            return node
        return replace(node, domain=domain, index=index, value=value)
    if isinstance(node, Check):
        domain, condition = map_domain(node.domain, function), function(node.condition)
        values = tuple(function(e) for e in node.values)
        if domain is node.domain and condition is node.condition and _same(values, node.values):
            return node
        return replace(node, domain=domain, condition=condition, values=values)
    if isinstance(node, Loop):
        dim, body = map_dim(node.dim, function), block(node.body)
        work = None if node.work is None else function(node.work)
        if dim is node.dim and body is node.body and work is node.work:
            return node
        return replace(node, dim=dim, body=body, work=work)
    if isinstance(node, While):
        prelude, condition, body = block(node.prelude), function(node.condition), block(node.body)
        if prelude is node.prelude and condition is node.condition and body is node.body:
            return node
        return replace(node, prelude=prelude, condition=condition, body=body)
    if isinstance(node, If):
        condition, then, orelse = function(node.condition), block(node.then), block(node.orelse)
        if condition is node.condition and then is node.then and orelse is node.orelse:
            return node
        return replace(node, condition=condition, then=then, orelse=orelse)
    if isinstance(node, Call):
        stmt = map_node_exprs(node.stmt, function)
        assert isinstance(stmt, Stmt)
        operands = tuple(function(e) for e in node.operands)
        scale = None if node.scale is None else function(node.scale)
        keep = None if node.keep is None else function(node.keep)
        return replace(node, stmt=stmt, operands=operands, scale=scale, keep=keep)  # type: ignore[arg-type]
    if isinstance(node, Library):
        domain = map_domain(node.domain, function)
        inputs, outputs = (tuple(_map_operand(o, function) for o in side) for side in (node.inputs, node.outputs))
        if domain is node.domain and _same((*inputs, *outputs), operands_of(node)):
            return node
        return replace(node, domain=domain, inputs=inputs, outputs=outputs)
    if isinstance(node, Invoke):
        given = tuple(_map_operand(a, function) if isinstance(a, Operand) else function(a) for a in node.arguments)
        return node if _same(given, node.arguments) else replace(node, arguments=given)
    return node


def _map_operand(operand: Operand, function: ExprMap) -> Operand:
    dims, index = map_domain(operand.dims, function), tuple(function(e) for e in operand.index)
    return operand if dims is operand.dims and _same(index, operand.index) else replace(operand, dims=dims, index=index)


def operands_of(node: Library) -> tuple[Operand, ...]:
    return (*node.inputs, *node.outputs)


def overwritten(node: Library) -> set[str]:
    """Buffers that a routine changes: its outputs, inputs that it works in, and its status."""
    places = ROUTINES[node.routine].overwrites
    changed = {operand.buffer for operand in (*node.outputs, *(node.inputs[place] for place in places))}
    return changed if node.status is None else changed | {node.status}


def map_block(block: Block, function: Callable[[Node], Node]) -> Block:
    new = tuple(function(node) for node in block)
    return block if _same(new, block) else new


def sub_blocks(node: Node) -> tuple[Block, ...]:
    if isinstance(node, Loop):
        return (node.body,)
    if isinstance(node, While):
        return (node.prelude, node.body)
    if isinstance(node, If):
        return (node.then, node.orelse)
    return ()


def map_sub_blocks(node: Node, function: Callable[[Block], Block]) -> Node:
    """A node with `function` applied to each of its direct blocks."""
    if isinstance(node, Loop):
        body = function(node.body)
        return node if body is node.body else replace(node, body=body)
    if isinstance(node, While):
        prelude, body = function(node.prelude), function(node.body)
        return node if prelude is node.prelude and body is node.body else replace(node, prelude=prelude, body=body)
    if isinstance(node, If):
        then, orelse = function(node.then), function(node.orelse)
        return node if then is node.then and orelse is node.orelse else replace(node, then=then, orelse=orelse)
    return node


def walk(block: Block) -> Iterator[Node]:
    """Every node of a block, parents first, in program order."""
    for node in block:
        yield node
        for inner in sub_blocks(node):
            yield from walk(inner)


def node_exprs(node: Node) -> Iterator[Expr]:
    """The expressions directly in a node (bounds, indices, values, conditions), nested blocks not included."""
    if isinstance(node, Stmt):
        for dim in node.domain:
            yield from dim_children(dim)
        yield from node.index
        yield node.value
    elif isinstance(node, Check):
        for dim in node.domain:
            yield from dim_children(dim)
        yield node.condition
        yield from node.values
    elif isinstance(node, Loop):
        yield from dim_children(node.dim)
    elif isinstance(node, (While, If)):
        yield node.condition
    elif isinstance(node, Call):
        yield from node_exprs(node.stmt)
        if node.scale is not None:
            yield node.scale
        if node.keep is not None:
            yield node.keep
    elif isinstance(node, Library):
        for dim in node_domain(node):
            yield from dim_children(dim)
        for operand in operands_of(node):
            yield from operand.index
    elif isinstance(node, Invoke):
        for dim in node_domain(node):
            yield from dim_children(dim)
        for argument in node.arguments:
            yield from argument.index if isinstance(argument, Operand) else (argument,)


def node_domain(node: Node) -> Domain:
    if isinstance(node, (Stmt, Check)):
        return node.domain
    if isinstance(node, Call):
        return node.stmt.domain
    if isinstance(node, Library):
        return node.domain + tuple(dim for operand in operands_of(node) for dim in operand.dims)
    if isinstance(node, Invoke):
        return tuple(dim for operand in node.operands for dim in operand.dims)
    return (node.dim,) if isinstance(node, Loop) else ()


def buffers_read(node: Node) -> set[str]:
    """Buffers that executing a node (nested blocks included) may read; a reduction reads its target."""
    return set(kept(node, "_reads", _buffers_read))


def _buffers_read(node: Node) -> frozenset[str]:
    found = domain_buffers(node_domain(node))
    for expr in node_exprs(node):
        found |= kept(expr, "_buffers", _expr_buffers)
    if isinstance(node, Stmt) and node.reduce is not None:
        found.add(node.buffer)
    elif isinstance(node, Rebind):
        found |= set(node.sources)
    elif isinstance(node, Library):
        found |= {operand.buffer for operand in node.inputs}
    elif isinstance(node, Invoke):
        found |= {operand.buffer for operand in node.operands}
    # Of nested nodes it is kept as well, so that no depth of branches makes it more than one visit of each.
    nested = (kept(inner, "_reads", _buffers_read) for part in sub_blocks(node) for inner in part)
    return frozenset(found.union(*nested))


def buffers_written(node: Node) -> set[str]:
    """Buffers that executing a node (nested blocks included) may change."""
    return set(kept(node, "_writes", _buffers_written))


def _buffers_written(node: Node) -> frozenset[str]:
    if isinstance(node, (Stmt, Alloc)):
        return frozenset({node.buffer})
    if isinstance(node, Call):
        return frozenset({node.stmt.buffer})
    if isinstance(node, Rebind):
        return frozenset(node.targets)
    if isinstance(node, Library):
        return frozenset(overwritten(node))
    if isinstance(node, Invoke):
        return frozenset({*node.results, *node.writes})
    nested = (kept(inner, "_writes", _buffers_written) for part in sub_blocks(node) for inner in part)
    none: frozenset[str] = frozenset()
    return none.union(*nested)


def touched(node: Node) -> set[str]:
    """Buffers that a node names itself, nested blocks not counted."""
    if sub_blocks(node):
        node = map_sub_blocks(node, lambda _: ())
    return buffers_read(node) | buffers_written(node)


def mentions(block: Block, allocations: bool = True) -> dict[str, int]:
    """How many nodes of a block, nested ones included, name each buffer; Allocs count unless told otherwise."""
    counts: dict[str, int] = {}
    for node in walk(block):
        if allocations or not isinstance(node, Alloc):
            for name in touched(node):
                counts[name] = counts.get(name, 0) + 1
    return counts


def leaves(out: Out) -> Iterator[OutLeaf]:
    """The parts of a result tree that are no tuples."""
    if isinstance(out, TupleOut):
        for item in out.items:
            yield from leaves(item)
    else:
        yield out


def has_exit(block: Block) -> bool:
    """Whether a Return, or a Break or Continue of an enclosing loop, can leave the block."""
    for node in block:
        if isinstance(node, Return) or type(node).__name__ in ("Break", "Continue"):
            return True
        if isinstance(node, If) and (has_exit(node.then) or has_exit(node.orelse)):
            return True
        if isinstance(node, (Loop, While)) and any(isinstance(inner, Return) for inner in walk((node,))):
            return True
    return False


def map_program_exprs(program: Program, function: ExprMap) -> Program:
    """`function` on every expression of a program: guards and body."""
    guards = tuple(map_node_exprs(check, function) for check in program.guards)
    body = map_block(program.body, lambda node: map_node_exprs(node, function))
    if body is program.body and _same(guards, program.guards):
        return program
    return replace(program, guards=guards, body=body)  # type: ignore[arg-type]


def fresh(name: str, taken: set[str]) -> str:
    """`name`, or `name_2`, `name_3`, ... : the first not taken; it is taken afterwards."""
    candidate, count = name, 1
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    taken.add(candidate)
    return candidate


def names_of(program: Program) -> set[str]:
    """Every name in use: buffers, symbols, dimensions."""
    taken = {buffer.name for buffer in program.buffers} | {symbol.name for symbol in program.symbols}
    for result in program.results:
        taken |= {name for leaf in leaves(result) if isinstance(leaf, ViewOut) for name in dim_vars(leaf.dims)}
    return taken.union(*(kept(node, "_dims", _dims_in) for node in program.body + program.guards))


def _dims_in(node: Node) -> frozenset[str]:
    """The names of all dimensions in a node and the blocks inside it."""
    found = set(dim_vars(node_domain(node)))
    for expr in node_exprs(node):
        for sub in subexpressions(expr):
            if isinstance(sub, Reduce):
                found |= set(dim_vars(sub.dims))
    return frozenset(found.union(*(kept(inner, "_dims", _dims_in) for block in sub_blocks(node) for inner in block)))
