"""The Python back end.  In: a Program, best the one just before scheduling; out: readable Python/NumPy that runs.

A statement over a rectangular domain is one NumPy assignment over slices; where a domain is triangular, or a value
has no array form, its outer dimensions become Python loops until the rest has one.
    c[i, j] = sum[k] a[i, k] * b[k, j]           -->   c[:] = a @ b
    c[i, j] = d[j]  for i < n, i < j < n         -->   for i in range(n): c[i, i + 1:n] = d[i + 1:n]
NumPy computes a right side before it stores, which is the meaning of a statement; loops are made only where that order
cannot matter, else all values are collected first.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from weft.analysis.effects import Liveness
from weft.analysis.facts import entry_facts
from weft.analysis.scopes import hands_over, lasting_writes, restored
from weft.codegen import python_restore, python_support
from weft.codegen import python_syntax as py
from weft.codegen.python_expr import Expressions, Frame, plus, split, times, upward, vars_of
from weft.codegen.python_ops import NotVector, Piece, stored
from weft.errors import Span, Unsupported
from weft.ir.expr import AnyDim, Cast, Const, Dim, Expr, Op, Read, Reduce, Var, dim_vars, integer
from weft.ir.index import canonical
from weft.ir.ops import REDUCTIONS
from weft.ir.program import (
    MALFORMED,
    Alloc,
    Argument,
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
    Stmt,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.routines import types_of
from weft.ir.types import DType
from weft.ir.walk import (
    buffers_written,
    dim_children,
    domain_buffers,
    expr_buffers,
    leaves,
    subexpressions,
    sure_reads,
    walk,
)
from weft.runtime.descriptor import GuardFailed

_INDENT = "    "
_FUNCTION = "function_"  # before the names of the functions that a program calls
_SYMBOL_LIMIT = 40  # bits: what the entry guards promise of every integer argument
_AT = {
    "add": "np.add.at",
    "mul": "np.multiply.at",
    "minimum": "np.minimum.at",
    "maximum": "np.maximum.at",
    "and": "np.logical_and.at",
    "or": "np.logical_or.at",
    "bitand": "np.bitwise_and.at",
    "bitor": "np.bitwise_or.at",
    "bitxor": "np.bitwise_xor.at",
}


def generate(program: Program) -> str:
    """Python source of a module that defines one function, the program."""
    return _Writer(program).module()


def compile_python(program: Program) -> Callable[..., object]:
    """The program as a Python function of the values of `program.params`, in order.

    Raises the dispatcher's GuardFailed where an entry guard does not hold.  Lists are copied in, and out if written.
    """
    source = _Writer(program, puts_back=True).module()
    namespace: dict[str, Any] = {}
    exec(compile(py.at_the_users_lines(source), program.span.file, "exec"), namespace)
    return _adapted(program, python_restore.restoring(program, namespace[py.Names().of(program.name)]))


def _adapted(program: Program, function: Callable[..., object]) -> Callable[..., object]:
    """`function` with lists copied in and out; an overflow before anything was written is a failed guard."""
    table = program.table
    written = {name for node in program.body for name in buffers_written(node)}
    changes_arguments = bool(lasting_writes(program))
    arrays = [(at, table[name]) for at, name in enumerate(program.params) if name in table and table[name].rank]

    def call(*values: object) -> object:
        lists: dict[int, tuple[list[Any], np.ndarray[Any, Any], Buffer]] = {}
        passed = list(values)
        for position, buffer in arrays:
            value = values[position]
            if isinstance(value, list):
                data = np.array(value, dtype=buffer.type.dtype.numpy)
                if data.ndim != buffer.rank:
                    data = data.reshape(data.shape + (0,) * (buffer.rank - data.ndim))
                lists[position] = (value, data, buffer)
                passed[position] = data
        ended = True
        try:
            with python_support.standing_for((data, original) for original, data, _ in lists.values()):
                result = function(*passed)
        except GuardFailed:
            ended = False  # the call is repeated: the lists keep their contents
            raise
        except OverflowError as problem:
            ended = changes_arguments
            if changes_arguments:
                raise
            raise GuardFailed("a Python integer needs more than 64 bits") from problem
        finally:
            for original, data, buffer in lists.values():
                if ended and buffer.name in written:
                    _copy_out(original, data.tolist())
        return originals(result, [(data, original) for original, data, _ in lists.values()])

    return call if arrays or not changes_arguments else function


def _copy_out(target: list[Any], values: list[Any]) -> None:
    """New contents into the same list objects, only where a value changed."""
    for position, value in enumerate(values):
        old = target[position]
        if isinstance(value, list):
            _copy_out(old, value)
        elif old is not value and (old != value or math.copysign(1, old) != math.copysign(1, value)):
            target[position] = value


def originals(result: object, copies: Sequence[tuple[object, object]]) -> object:
    """A result with the copies of list arguments replaced by the lists themselves."""
    for copy, original in copies:
        if result is copy or result is original:
            return original
    if copies and isinstance(result, (tuple, list)):
        items = [originals(item, copies) for item in result]
        if all(new is old for new, old in zip(items, result)):
            return result  # it may be an object of the caller's
        kind: Any = type(result)
        return kind(*items) if hasattr(result, "_fields") else kind(items)
    return result


class _Writer:
    """Writes the statements of one program, line by line."""

    def __init__(self, program: Program, callees: Sequence[Program] | None = None, puts_back: bool = False) -> None:
        """`callees`: the program is a function of another one, which has these.  `puts_back`: see python_restore."""
        self.program = program
        self.puts_back = puts_back
        self.callees = {f.name: f for f in (program.functions if callees is None else callees)}
        self.names = py.Names()
        self.function = self.names.of(program.name) if callees is None else _FUNCTION + program.name
        for name in (*program.params, *(s.name for s in program.symbols), *(b.name for b in program.buffers)):
            self.names.of(name)
        self.to = Expressions(program, self.names, entry_facts(program))
        #: Arrays of which views are taken that count on their order in memory.
        outs = [leaf for out in program.results for leaf in leaves(out) if isinstance(leaf, ViewOut)]
        self.linear = {o.buffer for o in outs if any(split(e, frozenset(dim_vars(o.dims))) is None for e in o.index)}
        self.lines: list[str] = []
        self.depth = 1
        self.shown_line = 0
        # After a Rebind a local name may denote an argument's memory.
        rebound = [set(node.targets) for node in walk(program.body) if isinstance(node, Rebind)]
        self.arguments = {b.name for b in program.buffers if b.role is Role.PARAM and b.rank}
        for names in rebound:
            if names & self.arguments:
                self.arguments |= names

    # --- the module ---

    def definition(self) -> str:
        self.prelude()
        self.block(self.program.body)
        params = ", ".join(self.names.of(name) for name in self.program.params)
        return "\n".join([f"def {self.function}({params}):", *self.lines])

    def module(self) -> str:
        definitions = [
            _Writer(f, self.program.functions, self.puts_back).definition() for f in self.program.functions
        ]
        definitions.append(f'@np.errstate(all="ignore")\n{self.definition()}')
        used = {n.id for text in definitions for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        head = ["import math"] if "math" in used else []
        head.append("import numpy as np")
        support = sorted(py.SUPPORT & used)
        if support:
            head.append(f"from {python_support.__name__} import {', '.join(support)}")
        if "GuardFailed" in used:
            head.append("from weft.runtime.descriptor import GuardFailed")
        return "\n\n\n".join(["\n".join(head), *definitions]) + "\n"

    def prelude(self) -> None:
        """Sizes into variables, then the guards."""
        sizes = {
            (symbol.source.buffer, symbol.source.axis): symbol.name
            for symbol in self.program.symbols
            if isinstance(symbol.source, SizeOf)
        }
        for buffer in self.program.buffers:
            if buffer.role is Role.PARAM and buffer.rank:
                self.sizes(buffer, [sizes.get((buffer.name, axis)) for axis in range(buffer.rank)])
        for symbol in self.program.symbols:
            if isinstance(symbol.source, Argument):
                name = self.names.of(symbol.name)
                limit = f"2 ** {_SYMBOL_LIMIT}"
                self.refuse(f"not -({limit}) < {name} < {limit}", f"{name} is too large for a size")
            elif isinstance(symbol.source, Derived):
                self.line(f"{self.names.of(symbol.name)} = {py.text(self.to.scalar(symbol.source.value).node)}")
        for buffer in self.program.buffers:
            if buffer.role is Role.PARAM and buffer.rank:
                self.shape_guard(buffer, sizes)
        for parameter in self.program.arranged:
            name, layout = self.names.of(parameter), self.program.buffer(parameter).layout
            self.refuse(f"not {name}.flags.{layout.name.lower()}_contiguous", f"{name} has another layout")
        for first, second in self.program.disjoint:
            one, other = self.names.of(first), self.names.of(second)
            self.refuse(f"np.may_share_memory({one}, {other})", f"{one} and {other} share memory")
        # What a loop or an inlined function may leave without a value is copied all the same, and then not used.
        unset = Liveness(self.program).live_before(self.program.body, frozenset())
        for buffer in self.program.buffers:
            if not buffer.rank and buffer.role not in (Role.PARAM, Role.HELD) and buffer.name in unset:
                self.line(f"{self.names.of(buffer.name)} = 0")
        for guard in self.program.guards:
            unmet = py.text(self.condition(guard.condition)) if not guard.domain else guard.message
            self.check(replace(guard, exception="GuardFailed", values=(), message=unmet))

    def sizes(self, buffer: Buffer, symbols: list[str | None]) -> None:
        shape = f"{self.names.of(buffer.name)}.shape"
        if len(symbols) > 1 and all(symbols):
            self.line(f"{', '.join(self.names.of(s) for s in symbols if s)} = {shape}")
            return
        for axis, symbol in enumerate(symbols):
            if symbol:
                self.line(f"{self.names.of(symbol)} = {shape}[{axis}]")

    def shape_guard(self, buffer: Buffer, sizes: dict[tuple[str, int], str]) -> None:
        """Axes whose extent the program takes from elsewhere must have it."""
        for axis, extent in enumerate(buffer.shape):
            if (buffer.name, axis) not in sizes:
                expected = py.text(self.to.scalar(extent).node)
                name = self.names.of(buffer.name)
                self.refuse(f"{name}.shape[{axis}] != {expected}", f"axis {axis} of {name} has another extent")

    def refuse(self, condition: str, reason: str) -> None:
        self.line(f"if {condition}:")
        self.lines.append(_INDENT * (self.depth + 1) + f"raise GuardFailed({reason!r})")

    # --- lines ---

    def line(self, text: str, span: Span | None = None) -> None:
        comment = ""
        if span is not None and span.line > 0 and span.line != self.shown_line:
            self.shown_line = span.line
            comment = f"  # line {span.line}"
        first, *rest = text.split("\n")
        self.lines.append(_INDENT * self.depth + first + comment)
        self.lines += [_INDENT * self.depth + more for more in rest]

    def assign(self, target: ast.expr, value: ast.expr, span: Span) -> None:
        self.line(f"{py.text(target)} = {py.text(value)}", span)

    @contextmanager
    def indented(self) -> Iterator[None]:
        before, facts = len(self.lines), self.to.facts
        self.depth += 1
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1
        self.to.facts = facts

    def block(self, block: Block) -> None:
        position = 0
        while position < len(block):
            node, following = block[position], block[position + 1 : position + 2]
            if isinstance(node, Alloc) and following and self.created(node, following[0]):
                position += 1
            else:
                self.node(node)
            position += 1

    def condition(self, expr: Expr) -> ast.expr:
        """A truth value, for which Python's bools and NumPy's are one."""
        while isinstance(expr, Cast) and expr.value.type.dtype is DType.BOOL:
            expr = expr.value
        return self.to.scalar(expr).node

    # --- nodes ---

    def node(self, node: Node) -> None:
        if isinstance(node, Stmt):
            self.statement(node)
        elif isinstance(node, Call):
            self.statement(node.stmt)
        elif isinstance(node, Check):
            self.check(node)
        elif isinstance(node, Loop):
            with self.loops((node.dim,), node.span):
                self.block(node.body)
        elif isinstance(node, While):
            self.while_loop(node)
        elif isinstance(node, If):
            self.branch(node)
        elif isinstance(node, Alloc):
            self.allocate(node)
        elif isinstance(node, Rebind):
            targets, sources = (", ".join(self.names.of(n) for n in names) for names in (node.targets, node.sources))
            self.line(f"{targets} = {sources}", node.span)
        elif isinstance(node, Library):
            self.library(node)
        elif isinstance(node, Invoke):
            self.invoke(node)
        elif isinstance(node, Return):
            self.line(f"return {py.text(self.result(self.program.results[node.result]))}", node.span)
        else:
            self.line("break" if isinstance(node, Break) else "continue", node.span)
            assert isinstance(node, (Break, Continue))

    @contextmanager
    def loops(self, domain: Sequence[AnyDim], span: Span) -> Iterator[None]:
        """`for` statements around what is written inside."""
        if not domain:
            yield
            return
        *outer, (variable, values) = self.to.ranges(domain[0])
        for name, run in outer:
            self.line(f"for {name} in {py.text(run)}:", span)
            self.depth += 1
        if outer:
            # The coordinate of a compressed level is a value, not a loop.
            assert isinstance(values, ast.List)
            self.line(f"{variable} = {py.text(values.elts[0])}", span)
            self.depth -= 1
        else:
            self.line(f"for {variable} in {py.text(values)}:", span)
        with self.indented():
            self.to.facts = self.to.facts.with_dim(domain[0])
            with self.loops(domain[1:], span):
                yield

    def library(self, node: Library) -> None:
        """A call of NumPy's routine on views of its operands; scalars it fills are put into their variables after."""
        table = self.program.table
        types = types_of(*([table[o.buffer].type.dtype for o in side] for side in (node.inputs, node.outputs)))
        after: list[tuple[str, str]] = []
        views: list[list[str]] = []
        for side in (node.inputs, node.outputs):
            texts: list[str] = []
            for operand in side:
                name = self.names.of(operand.buffer)
                if operand.index:
                    view = ViewOut(operand.buffer, node.domain + operand.dims, operand.index)
                    texts.append(py.text(self.view(py.name(name), view)))
                elif side is node.inputs:
                    texts.append(name)
                else:
                    holder = self.names.fresh(f"{name}_out")
                    dtype = py.dtype_name(table[operand.buffer].type.dtype)
                    self.line(f"{holder} = np.empty((), dtype={dtype})", node.span)
                    after.append((name, holder))
                    texts.append(holder)
            views.append(texts)
        status = "" if node.status is None else f"{self.names.of(node.status)} = "
        inputs, outputs = (f"[{', '.join(texts)}]" for texts in views)
        self.line(f"{status}run_routine({node.routine!r}, {types!r}, {inputs}, {outputs})", node.span)
        for name, holder in after:
            self.line(f"{name} = {holder}[()]", node.span)

    def invoke(self, node: Invoke) -> None:
        """A call of a function of the program on numbers and views; what it returns is taken apart."""
        given: list[str] = []
        for argument, name in zip(node.arguments, self.callees[node.function].params):
            known = self.callees[node.function].table.get(name)
            if known is not None and known.role is Role.HELD:
                raise Unsupported(node.span, "containers that recursive functions share, without a C compiler")
            if isinstance(argument, Operand):
                view = ViewOut(argument.buffer, argument.dims, argument.index)
                given.append(py.text(self.view(py.name(self.names.of(argument.buffer)), view)))
            else:
                given.append(py.text(self.to.scalar(argument).node))
        names = iter(node.results)

        def targets(out: Out) -> str:
            if isinstance(out, TupleOut):
                return "(" + "".join(f"{targets(item)}, " for item in out.items) + ")"
            return self.names.of(next(names)) if isinstance(out, ScalarOut) else "_"

        into = targets(self.callees[node.function].results[0])
        call = f"{_FUNCTION}{node.function}({', '.join(given)})"
        self.line(f"{into} = {call}" if node.results else call, node.span)

    def while_loop(self, node: While) -> None:
        condition = self.condition(node.condition)
        if not node.prelude:
            self.line(f"while {py.text(condition)}:", node.span)
            with self.indented():
                self.block(node.body)
            return
        self.line("while True:", node.span)
        with self.indented():
            self.block(node.prelude)
            self.line(f"if {py.text(py.negated(condition))}:")
            with self.indented():
                self.line("break")
            self.block(node.body)

    def branch(self, node: If) -> None:
        self.line(f"if {py.text(self.condition(node.condition))}:", node.span)
        with self.indented():
            self.to.facts = self.to.facts.with_condition(node.condition)
            self.block(node.then)
        if node.orelse:
            self.line("else:")
            with self.indented():
                self.to.facts = self.to.facts.with_condition(node.condition, holds=False)
                self.block(node.orelse)

    def allocate(self, node: Alloc) -> None:
        buffer = self.program.buffer(node.buffer)
        target = py.name(self.names.of(node.buffer))
        dtype = py.name(py.dtype_name(buffer.type.dtype))
        if not buffer.rank:
            if node.zero:
                self.assign(target, stored(Piece(py.number(0), "literal"), buffer.type), node.span)
            return
        maker = "np.zeros" if node.zero else "np.empty"
        self.assign(target, py.call(maker, self.shape(buffer), dtype=dtype), node.span)

    def shape(self, buffer: Buffer) -> ast.expr:
        extents = [self.extent(extent) for extent in buffer.shape]
        return extents[0] if len(extents) == 1 else ast.Tuple(extents, ast.Load())

    def created(self, alloc: Alloc, node: Node) -> bool:
        """alloc t; t[i] = f(i) for all i  -->  t = f, where that is one array expression; True if it was written so."""
        stmt = node.stmt if isinstance(node, Call) else node
        buffer = self.program.buffer(alloc.buffer)
        if not isinstance(stmt, Stmt) or stmt.buffer != alloc.buffer or stmt.reduce is not None or not buffer.rank:
            return False
        if stmt.buffer in expr_buffers(stmt.value):
            return False
        self.to.keep_small = True
        try:
            frame = self.frame(stmt.domain)
            order = [known for e in stmt.index for known in frame if e == Var(known.var)]
            if len(order) != buffer.rank or len(frame) != buffer.rank or not self.covers(order, buffer):
                return False
            value = self.to.value(stmt.value, tuple(order))
        except NotVector:
            return False
        finally:
            self.to.keep_small = False
        target = py.name(self.names.of(buffer.name))
        dtype = py.name(py.dtype_name(buffer.type.dtype))
        if value.kind == "literal":
            zero = isinstance(stmt.value, Const) and repr(stmt.value.value) in ("0", "0.0", "False")
            arguments = [self.shape(buffer)] if zero else [self.shape(buffer), value.node]
            self.assign(target, py.call("np.zeros" if zero else "np.full", *arguments, dtype=dtype), stmt.span)
            return True
        if value.rank != buffer.rank or value.dims != vars_of(frame):
            return False
        made = py.method(value.node, "copy") if value.view else value.node
        if buffer.name in self.linear:  # NumPy takes the order of its operands
            made = py.call("np.ascontiguousarray", made)
        self.assign(target, made, stmt.span)
        return True

    def covers(self, dims: Sequence[Dim], buffer: Buffer) -> bool:
        """Whether the dimensions run over every element."""
        return all(
            dim.step == 1 and dim.lo == integer(0) and canonical(dim.hi) == canonical(extent)
            for dim, extent in zip(dims, buffer.shape)
        )

    def extent(self, expr: Expr) -> ast.expr:
        form = self.to.facts.linear(expr)
        node = self.to.scalar(expr).node
        return node if form is not None and self.to.facts.prove(form) else py.call("max", node, py.number(0))

    def check(self, check: Check) -> None:
        repeatable = self.puts_back and not lasting_writes(self.program) and check.exception != MALFORMED
        if repeatable or (hands_over(check) and (self.puts_back or not restored(self.program))):
            # Nothing has happened yet, or it is put back: Python can repeat the call.
            check = replace(check, exception="GuardFailed", values=())
        condition: Piece | None = None
        if check.domain:
            try:
                frame = self.frame(check.domain)
                condition = self.to.value(check.condition, frame)
            except NotVector:
                condition = None
        if condition is not None and condition.rank:
            # The search for the first failing point is made only if there is one.
            self.line(f"if not {py.text(py.method(condition.node, 'all'))}:", check.span)
            with self.indented(), self.loops(check.domain, check.span):
                self.check_here(check)
            return
        with self.loops(check.domain, check.span):
            self.check_here(check)

    def check_here(self, check: Check) -> None:
        self.line(f"if {py.text(py.negated(self.condition(check.condition)))}:", check.span)
        with self.indented():
            home = "np.linalg." if check.exception == "LinAlgError" else ""
            message = self.message(check)
            if check.exception == "KeyError":
                message = f"literal_eval({message})"
            self.line(f"raise {home}{check.exception}({message})")

    def message(self, check: Check) -> str:
        """The text of an exception: a literal, or an f-string with the values at their places."""
        parts = re.split(r"\{(\d)\}", check.message)
        if len(parts) == 1:
            return repr(check.message) if check.message else ""
        pieces = [part.replace("{", "{{").replace("}", "}}") for part in parts]
        for at in range(1, len(parts), 2):
            known = int(parts[at]) < len(check.values)
            place = py.text(self.to.scalar(check.values[int(parts[at])]).node) if known else ""
            pieces[at] = f"{{{place}}}" if known else f"{{{{{parts[at]}}}}}"
        return "f" + repr("".join(pieces))

    # --- statements ---

    def statement(self, stmt: Stmt) -> None:
        if not stmt.domain:
            self.scalar_statement(stmt)
            return
        order_matters = self.order_matters(stmt)
        for peeled in range(len(stmt.domain)):
            if peeled and order_matters:
                break
            outer, inner = stmt.domain[:peeled], stmt.domain[peeled:]
            # Translate before writing the loops: whether there is an array form shows only at the end.
            facts = self.to.facts
            self.to.facts = facts.with_domain(outer)
            try:
                guard, text = self.array_statement(stmt, inner, keep_small=not order_matters)
            except NotVector:
                continue
            finally:
                self.to.facts = facts
            with self.loops(outer, stmt.span):
                if guard:
                    self.line(f"if {guard}:", stmt.span)
                    with self.indented():
                        self.line(text, stmt.span)
                else:
                    self.line(text, stmt.span)
            return
        if order_matters:
            self.collected_statement(stmt)
            return
        with self.loops(stmt.domain, stmt.span):
            self.scalar_statement(stmt)

    def order_matters(self, stmt: Stmt) -> bool:
        """Whether a loop over the points could read what an earlier point wrote."""
        found = domain_buffers(stmt.domain) | {name for e in stmt.index for name in expr_buffers(e)}
        for expr in subexpressions(stmt.value):
            if isinstance(expr, Read) and (expr.buffer, expr.index) != (stmt.buffer, stmt.index):
                found.add(expr.buffer)
            elif isinstance(expr, Reduce):
                found |= domain_buffers(expr.dims)
        return any(self.may_alias(stmt.buffer, name) for name in found)

    def may_alias(self, first: str, second: str) -> bool:
        if first == second:
            return True
        pair = {first, second}
        return pair <= self.arguments and not any(pair == set(known) for known in self.program.disjoint)

    def updated(self, stmt: Stmt) -> Expr:
        """What a statement stores: for a reducing one the old value is part of it."""
        if stmt.reduce is None:
            return stmt.value
        operation = REDUCTIONS[stmt.reduce].operation
        assert operation is not None
        of = self.program.buffer(stmt.buffer).type
        return Op(operation, (Read(stmt.buffer, stmt.index, of), stmt.value), of)

    def scalar_statement(self, stmt: Stmt) -> None:
        piece = self.to.scalar(self.updated(stmt))
        target = py.name(self.names.of(stmt.buffer))
        if stmt.index:
            target = py.subscript(target, [self.to.index(e).node for e in stmt.index])
            self.assign(target, piece.node, stmt.span)
        else:
            self.assign(target, stored(piece, self.program.buffer(stmt.buffer).type), stmt.span)

    def collected_statement(self, stmt: Stmt) -> None:
        """All values first, then all stores."""
        with self.to.inside(stmt.domain):
            value = self.to.scalar(stmt.value).node
            place = ast.Tuple([self.to.index(e).node for e in stmt.index], ast.Load())
        pairs = ast.ListComp(ast.Tuple([place, value], ast.Load()), self.to.generators(stmt.domain))
        target = py.name(self.names.of(stmt.buffer))
        index, new = self.names.fresh("place"), self.names.fresh("value")
        self.line(f"for {index}, {new} in {py.text(pairs)}:", stmt.span)
        stored_value = new
        if stmt.reduce is not None:
            ufunc = _AT[stmt.reduce].removesuffix(".at")
            stored_value = f"{ufunc}({py.text(target)}[{index}], {new})"
        with self.indented():
            self.line(f"{py.text(target)}[{index}] = {stored_value}")

    # --- array statements ---

    def frame(self, domain: Sequence[AnyDim]) -> Frame:
        """The dimensions of a rectangular domain."""
        dims = tuple(upward(dim) for dim in domain)
        names = vars_of(dims)
        if any(self.to.free(bound) & names for dim in dims for bound in dim_children(dim)):
            raise NotVector("bounds that depend on another dimension")
        return dims

    def array_statement(self, stmt: Stmt, domain: Sequence[AnyDim], keep_small: bool) -> tuple[str, str]:
        """A guard ("" for none) and one assignment for all points of `domain`; NotVector if there is none."""
        frame = self.frame(domain)
        to = self.to
        to.keep_small = keep_small
        to.harmless = {(stmt.buffer, stmt.index)} | {(r.buffer, r.index) for r in sure_reads(stmt.value)}
        to.clamped = set()
        to.nonempty = frozenset()
        try:
            text = self.array_assignment(stmt, frame)
            guarded = [dim for dim in frame if dim.var in to.clamped]
            if not guarded:
                return "", text
            # Inside the guard every dimension has a point, so every slice lies within its array.
            to.nonempty = vars_of(guarded)
            conditions = [py.compare("lt", to.scalar(d.lo).node, to.scalar(d.hi).node) for d in guarded]
            guard = " and ".join(py.text(condition) for condition in conditions)
            return guard, self.array_assignment(stmt, frame)
        finally:
            to.nonempty = frozenset()
            to.keep_small = False
            to.harmless = set()

    def array_assignment(self, stmt: Stmt, frame: Frame) -> str:
        axes = self.to.slices(stmt.buffer, stmt.index, frame)
        if axes is None:
            return self.scattered(stmt, frame)
        order = [axis.dim for axis in axes if axis.dim is not None]
        known = {dim.var: dim for dim in frame}
        rest = tuple(dim for dim in frame if dim.var not in order)
        value = stmt.value
        if rest:
            if stmt.reduce is None:
                raise NotVector("a write that does not use every dimension")
            value = Reduce(stmt.reduce, rest, value)
        own = tuple(known[name] for name in order)
        target_of = self.program.buffer(stmt.buffer).type
        if stmt.reduce is not None:
            value = self.updated(replace(stmt, value=value))
        if not own:
            piece = self.to.scalar(value)
            target = py.name(self.names.of(stmt.buffer))
            if stmt.index:
                return f"{py.text(self.to.target(stmt.buffer, axes))} = {py.text(piece.node)}"
            return f"{py.text(target)} = {py.text(stored(piece, target_of))}"
        piece = self.to.value(value, own)
        return f"{py.text(self.to.target(stmt.buffer, axes))} = {py.text(piece.node)}"

    def scattered(self, stmt: Stmt, frame: Frame) -> str:
        """A write at computed places: out[index] = value, or np.add.at(out, index, value)."""
        places = [self.to.index(e, frame) for e in stmt.index]
        covered = frozenset().union(*(piece.dims for piece in places))
        value = self.to.value(stmt.value, frame)
        if not value.dims <= covered or (stmt.reduce is not None and covered != vars_of(frame)):
            raise NotVector("places that do not use every dimension")
        target = py.name(self.names.of(stmt.buffer))
        nodes = [piece.node for piece in places]
        node = py.method(value.node, "copy") if value.view else value.node
        if stmt.reduce is None:
            return f"{py.text(py.subscript(target, nodes))} = {py.text(node)}"
        if self.program.buffer(stmt.buffer).type.weak and stmt.value.type.dtype.is_integer:
            raise NotVector("a sum of Python integers could leave 64 bits")
        index = nodes[0] if len(nodes) == 1 else ast.Tuple(nodes, ast.Load())
        return py.text(py.call(_AT[stmt.reduce], target, index, node))

    # --- results ---

    def result(self, out: Out) -> ast.expr:
        if isinstance(out, NoneOut):
            return py.number(None)
        if isinstance(out, ConstOut):
            return ast.parse(out.text, mode="eval").body
        if isinstance(out, ArgumentOut):
            raise Unsupported(self.program.span, "a change of an object that is an argument, without a compiler")
        if isinstance(out, TupleOut):
            items = [self.result(item) for item in out.items]
            if out.has_class:
                for place, item in enumerate(out.items):
                    if isinstance(item, ArrayOut) and self.program.buffer(item.buffer).role is Role.PARAM:
                        items[place] = py.call("original", items[place])  # to be changed itself, not a copy of it
                return ast.Call(py.call("located", ast.Constant(out.named)), items, [])
            return ast.List(items, ast.Load()) if out.as_list else ast.Tuple(items, ast.Load())
        node = py.name(self.names.of(out.buffer))
        buffer = self.program.buffer(out.buffer)
        if isinstance(out, ScalarOut):
            # An element of a list argument arrives as an element of an array.
            return py.call(_PYTHON_TYPES[buffer.type.dtype], node) if buffer.type.weak else node
        if isinstance(out, ArrayOut):
            if not buffer.rank:
                node = py.call("np.array", node, dtype=py.name(py.dtype_name(buffer.type.dtype)))
            if not out.as_list or buffer.role is Role.PARAM:
                return node
            return py.method(node, "tolist") if buffer.type.weak else py.list_of_scalars(node, buffer.rank)
        return self.view(node, out)

    def view(self, node: ast.expr, out: ViewOut) -> ast.expr:
        """A strided view: by slices where they can say it, else by its strides."""
        dims = tuple(dim for dim in out.dims if isinstance(dim, Dim))
        axes = self.to.slices(out.buffer, out.index, dims) if all(dim.step > 0 for dim in dims) else None
        if axes is not None and {axis.dim for axis in axes if axis.dim} == vars_of(dims):
            order = [axis.dim for axis in axes if axis.dim is not None]
            view = self.to.target(out.buffer, axes)
            if order == [dim.var for dim in dims]:
                return view
            return py.method(view, "transpose", *(py.number(order.index(dim.var)) for dim in dims))
        return self.strided_view(node, out, dims)

    def strided_view(self, node: ast.expr, out: ViewOut, dims: Frame) -> ast.expr:
        names = vars_of(dims)
        parts = [split(e, names) for e in out.index]
        if any(part is None for part in parts):
            return self.linear_view(node, out, dims)
        start: list[ast.expr] = []
        steps: dict[str, list[ast.expr]] = {dim.var: [] for dim in dims}
        for axis, part in enumerate(parts):
            assert part is not None
            first = part[1]
            for dim in dims:
                coefficient = part[0].get(dim.var, 0)
                if coefficient:
                    first = plus(first, times(coefficient, dim.lo))
                    stride = py.subscript(py.attribute(node, "strides"), [py.number(axis)])
                    steps[dim.var].append(py.binary("mul", py.number(coefficient * dim.step), stride))
            place = self.to.scalar(first).node
            start.append(py.span(place, py.binary("add", place, py.number(1))))
        shape = [py.call("len", py.call("range", *self.bounds(dim))) for dim in dims]
        strides = [_sum(steps[dim.var]) for dim in dims]
        corner = py.subscript(node, start)
        return py.call(
            "np.lib.stride_tricks.as_strided", corner, ast.Tuple(shape, ast.Load()), ast.Tuple(strides, ast.Load())
        )

    def linear_view(self, node: ast.expr, out: ViewOut, dims: Frame) -> ast.expr:
        """A view whose index is linear in memory though not axis by axis: a reshape."""
        names = [ast.arg(arg=self.names.of(dim.var)) for dim in dims]
        arguments = ast.arguments(posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[])
        place = ast.Tuple([self.to.scalar(e).node for e in out.index], ast.Load())
        ranges = [py.call("range", *self.bounds(dim)) for dim in dims]
        return py.call("linear_view", node, ast.Lambda(arguments, place), ast.Tuple(ranges, ast.Load()))

    def bounds(self, dim: Dim) -> list[ast.expr]:
        return [self.to.scalar(dim.lo).node, self.to.scalar(dim.hi).node, py.number(dim.step)]


_PYTHON_TYPES = {DType.BOOL: "bool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}


def _sum(nodes: list[ast.expr]) -> ast.expr:
    total: ast.expr = py.number(0)
    for position, node in enumerate(nodes):
        total = node if position == 0 else py.binary("add", total, node)
    return total
