"""Is this a legal program?  In: a Program and the stage it has reached; out: nothing, or VerifyError (node and reason).

What every stage forbids is data (`RULES`); what holds at all stages is checked by one walk that carries the names in
scope.  Every pass is followed by a call of `verify` in the tests, so a broken invariant is found where it was broken.
"""

from __future__ import annotations

import enum
import keyword
from dataclasses import replace

from weft.errors import WeftError, exception_type
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Limit, Op, Read, Reduce, Var, dim_vars
from weft.ir.index import affine
from weft.ir.ops import COMPARISONS, OPERATIONS, REDUCTIONS
from weft.ir.program import (
    HAND_BACK,
    REGIONS,
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
    LoopKind,
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
    While,
    is_list,
)
from weft.ir.routines import ROUTINES, types_of
from weft.ir.text import show_domain, show_expr, show_node
from weft.ir.types import INT, DType, ScalarType
from weft.ir.walk import buffers_written, expr_buffers, free_vars, leaves, linear_in, subexpressions
from weft.limits import LIMIT
from weft.records import dataclass

_WEAK = (DType.BOOL, DType.I64, DType.F64, DType.C128)


class VerifyError(WeftError):
    """A program breaks a rule of its stage: a bug of weft, not of the user."""


class Stage(enum.Enum):
    """How far a program has come."""

    BUILT = "built"  # as the front end made it
    OPTIMISED = "optimised"  # raised, forwarded, hoisted, matched: statements over domains, library calls
    LOWERED = "lowered"  # loops and single assignments only: what code generation reads


@dataclass(frozen=True)
class Rules:
    """What a program of one stage may contain."""

    domains: bool = True  # Stmt and Check over a non-empty list of dimensions
    reduces: bool = True  # Reduce expressions, and statements that reduce
    kinds: frozenset[LoopKind] = REGIONS | {LoopKind.SEQUENTIAL, LoopKind.ASSERTED}
    calls: bool = True


RULES: dict[Stage, Rules] = {
    Stage.BUILT: Rules(calls=False),
    Stage.OPTIMISED: Rules(kinds=frozenset(LoopKind)),
    Stage.LOWERED: Rules(domains=False, reduces=False, kinds=frozenset(LoopKind) - {LoopKind.ASSERTED}),
}

# The kinds of operands (NumPy's letters) each operation is defined on; one not listed takes any.
_KINDS: dict[str, str] = {
    name: kinds
    for kinds, names in {
        "b": ("and", "or", "not"),
        "i": ("ratio",),
        "iu": ("shl", "shr", "gcd", "lcm", "bitcount"),
        "biu": ("bitand", "bitor", "bitxor", "invert"),
        "iuf": ("floordiv", "mod", "fmod"),
        "biuf": ("floor", "ceil", "trunc", "signbit"),
        "iufc": ("sub", "neg", "pow", "sign", "conj"),
        "f": (
            *("cbrt", "arctan2", "erf", "erfc", "gamma", "lgamma", "hypot", "copysign", "nextafter", "complex"),
            *("norm2", "norm3"),
            *("ldexp", "mantissa", "exponent", "remainder"),
        ),
        "fc": (
            *("truediv", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "rint"),
            *("sin", "cos", "tan", "arcsin", "arccos", "arctan"),
            *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        ),
    }.items()
    for name in names
}
_SHIFTS = frozenset({"shl", "shr"})


def verify(program: Program, stage: Stage = Stage.BUILT) -> None:
    """Raise VerifyError unless `program` is legal at `stage`."""
    _Verifier(program, RULES[stage], stage).whole()


def problem(program: Program, stage: Stage = Stage.BUILT) -> str | None:
    """Why `program` is not legal at `stage`, or None."""
    try:
        verify(program, stage)
    except VerifyError as error:
        return str(error)
    return None


def operand_problem(op: str, types: tuple[ScalarType, ...], of: ScalarType) -> str | None:
    """Why an operation cannot have these operand types and this result, or None."""
    operation = OPERATIONS.get(op)
    if operation is None:
        return f"there is no operation {op}"
    if len(types) != operation.arity:
        return f"{op} takes {operation.arity} operands, not {len(types)}"
    dtypes = [t.dtype for t in types]
    if op == "select":
        if dtypes[0] is not DType.BOOL:
            return f"the condition of select is {types[0]}, not a bool"
        dtypes = dtypes[1:]
    if op not in _SHIFTS and len(set(dtypes)) > 1:
        return f"operands of {op} differ: {', '.join(map(str, types))}"
    dtype = dtypes[0]
    allowed = dtype.kind in _KINDS.get(op, "biufc")
    if not allowed or (op in _SHIFTS and not dtypes[1].is_integer):
        return f"{op} is not defined on {', '.join(map(str, types))}"
    expected = operation.result_type(ScalarType(dtype)).dtype
    if of.dtype is not expected:
        return f"{op} of {', '.join(map(str, types))} gives {expected.value}, not {of}"
    if of.weak and of.dtype not in _WEAK:
        return f"{of.dtype.value} is not a type of Python's"
    return None


@dataclass
class _Scope:
    """Names usable at a place, and how it is nested."""

    vars: set[str]
    ready: set[str]  # arrays whose Alloc has been passed
    loops: int = 0  # loops around: where Break and Continue may stand
    parallel: bool = False
    shared: frozenset[str] = frozenset()  # arrays that the iterations of a parallel loop around have in common

    def inside(self) -> _Scope:
        """A scope of its own for index variables."""
        return replace(self, vars=set(self.vars))

    def branch(self) -> _Scope:
        """A scope of its own for allocations too: what it allocates may not have been executed below it."""
        return replace(self, vars=set(self.vars), ready=set(self.ready))


class _Verifier:
    def __init__(
        self, program: Program, rules: Rules, stage: Stage, functions: tuple[Program, ...] | None = None
    ) -> None:
        self.program = program
        self.functions = program.functions if functions is None else functions
        self.rules = rules
        self.stage = stage
        self.table = program.table
        self.symbols = {symbol.name for symbol in program.symbols}
        self.taken: set[str] = set()
        self.node: Node | None = None

    def fail(self, reason: str) -> VerifyError:
        where = self.program.name if self.node is None else show_node(self.node, self.table).split("\n")[0].strip()
        span = "" if self.node is None or self.node.span.line <= 0 else f" (line {self.node.span.line})"
        return VerifyError(f"{self.program.name}, {self.stage.value}: {reason}\n  in: {where}{span}")

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise self.fail(reason)

    # --- declarations ---

    def whole(self) -> None:
        program = self.program
        for name in (*(s.name for s in program.symbols), *(b.name for b in program.buffers)):
            self.declare(name)
        self.header()
        params = {b.name for b in program.buffers if b.role is Role.PARAM}
        held = {b.name for b in program.buffers if b.role is Role.HELD}
        entry = _Scope(set(self.symbols), {b.name for b in program.buffers if b.rank == 0} | params | held)
        for name in params:
            self.extents(self.table[name], entry)
        for first, second in program.disjoint:
            self.require({first, second} <= params, f"disjoint names {first}, {second}: not both parameters")
        self.require(params.issuperset(program.arranged), f"arranged {program.arranged}: not all are parameters")
        self.require(params.isdisjoint(program.ordered), f"ordered {program.ordered}: some are parameters")
        for guard in program.guards:
            self.node = guard
            self.check(guard, entry)
        self.node = None
        for out in program.results:
            self.out(out, entry)
        for function in program.functions:
            _Verifier(function, self.rules, self.stage, program.functions).whole()
        self.require(self.returns(program.body), "a path through the body ends without a Return")
        self.block(program.body, entry)

    def declare(self, name: str) -> None:
        self.require(name.isidentifier() and not keyword.iskeyword(name), f"{name!r} is not usable as a name")
        self.require(name not in self.taken, f"the name {name} is used twice")
        self.taken.add(name)

    def header(self) -> None:
        program = self.program
        arguments = {s.name for s in program.symbols if isinstance(s.source, Argument)}
        params = [b.name for b in program.buffers if b.role in (Role.PARAM, Role.HELD)]
        self.require(len(set(program.params)) == len(program.params), "a parameter is named twice")
        for name in program.params:
            self.require(
                name in arguments or name in params, f"parameter {name} is no symbol and no buffer of role param"
            )
        for name in params:
            self.require(name in program.params, f"buffer {name} has role param but is no parameter")
        for symbol in program.symbols:
            if isinstance(symbol.source, SizeOf):
                source = self.table.get(symbol.source.buffer)
                self.require(
                    source is not None and source.role is Role.PARAM and 0 <= symbol.source.axis < source.rank,
                    f"symbol {symbol.name} is the size of what is no axis of a parameter",
                )
            elif isinstance(symbol.source, Derived):
                known = {s.name for s in program.symbols[: program.symbols.index(symbol)]}
                self.require(
                    free_vars(symbol.source.value) <= known and not expr_buffers(symbol.source.value),
                    f"symbol {symbol.name} is derived from more than the symbols before it",
                )
        for buffer in program.buffers:
            weak = buffer.type.weak
            self.require(not (weak and buffer.type.dtype not in _WEAK), f"{buffer.name} has no type of Python's")

    # --- expressions ---

    def expr(self, expr: Expr, scope: _Scope) -> None:
        """Names declared and in scope, ranks, types; the expression's own dimensions bound."""
        if isinstance(expr, Const):
            self.require(not expr.of.weak or expr.of.dtype in _WEAK, f"a literal of type {expr.of}")
        elif isinstance(expr, Limit):
            self.require(expr.name in LIMIT, f"there is no limit {expr.name}")
        elif isinstance(expr, Var):
            self.require(expr.name in scope.vars, f"the index {expr.name} is not in scope")
        elif isinstance(expr, Read):
            buffer = self.access(expr.buffer, expr.index, scope)
            self.require(buffer.type.dtype is expr.of.dtype, f"{expr.buffer} is {buffer.type}, read as {expr.of}")
        elif isinstance(expr, Cast):
            self.expr(expr.value, scope)
        elif isinstance(expr, Op):
            for arg in expr.args:
                self.expr(arg, scope)
            why = operand_problem(expr.op, tuple(arg.type for arg in expr.args), expr.of)
            if why is not None:  # an expression is only printed for a message: that takes longer than all checks
                raise self.fail(f"{why}: {show_expr(expr)}")
            ordered = expr.op in COMPARISONS - {"eq", "ne"} and expr.args[0].type.weak
            self.require(not (ordered and expr.args[0].type.dtype.is_complex), "Python cannot order complex numbers")
        else:
            assert isinstance(expr, Reduce)
            if not self.rules.reduces:
                raise self.fail(f"a Reduce is left: {show_expr(expr)}")
            self.reduction(expr.op, expr.value.type)
            inner = self.domain(expr.dims, scope)
            self.expr(expr.value, inner)

    def reduction(self, op: str, of: ScalarType) -> None:
        self.require(op in REDUCTIONS, f"there is no reduction {op}")
        operation = REDUCTIONS[op].operation
        if operation is not None:
            why = operand_problem(operation, (of, of), of)
            self.require(why is None, f"{why}")

    def access(self, name: str, index: tuple[Expr, ...], scope: _Scope) -> Buffer:
        buffer = self.table.get(name)
        if buffer is None:
            raise self.fail(f"there is no buffer {name}" + (" (a symbol)" if name in self.symbols else ""))
        self.require(len(index) == buffer.rank, f"{name} has rank {buffer.rank}, {len(index)} indices given")
        self.require(name in scope.ready, f"{name} is used where its Alloc may not have been executed")
        for e in index:
            self.integer(e, scope, f"an index of {name}")
        return buffer

    def integer(self, expr: Expr, scope: _Scope, what: str) -> None:
        self.expr(expr, scope)
        self.require(expr.type.dtype.is_integer, f"{what} is {expr.type}: {show_expr(expr)}")

    def condition(self, expr: Expr, scope: _Scope) -> None:
        self.expr(expr, scope)
        self.require(expr.type.dtype is DType.BOOL, f"a condition is {expr.type}: {show_expr(expr)}")

    def domain(self, domain: Domain, scope: _Scope) -> _Scope:
        """The scope inside a domain; each dimension sees those before it."""
        inner = scope.inside()
        for dim in domain:
            self.dim(dim, inner)
        return inner

    def dim(self, dim: AnyDim, scope: _Scope) -> None:
        """Check one dimension and bring its variables into scope."""
        for name in dim_vars((dim,)):
            self.declare(name)
        if isinstance(dim, Dim):
            self.require(dim.step != 0, f"the step of {dim.var} is 0")
            self.integer(dim.lo, scope, f"the lower bound of {dim.var}")
            self.integer(dim.hi, scope, f"the upper bound of {dim.var}")
        else:
            assert isinstance(dim, CompressedDim)
            self.integer(dim.parent, scope, f"the parent of {dim.var}")
            for name in (dim.pointer, dim.coordinate):
                buffer = self.table.get(name)
                ok = buffer is not None and buffer.rank == 1 and buffer.type.dtype.is_integer and name in scope.ready
                self.require(ok, f"{name} is no integer array of rank 1")
        scope.vars |= set(dim_vars((dim,)))

    # --- statements ---

    def block(self, block: Block, scope: _Scope) -> None:
        for node in block:
            self.node = node
            self.visit(node, scope)

    def visit(self, node: Node, scope: _Scope) -> None:
        if isinstance(node, Stmt):
            self.stmt(node, scope)
        elif isinstance(node, Check):
            self.check(node, scope)
        elif isinstance(node, Loop):
            self.loop(node, scope)
        elif isinstance(node, While):
            inner = replace(scope.branch(), loops=scope.loops + 1)
            self.block(node.prelude, inner)
            scope.ready |= inner.ready  # the prelude is executed at least once
            self.node = node
            self.condition(node.condition, inner)
            self.block(node.body, inner)
        elif isinstance(node, If):
            self.condition(node.condition, scope)
            then, orelse = scope.branch(), scope.branch()
            self.block(node.then, then)
            self.block(node.orelse, orelse)
            # Allocated on both ways, or on the only way that comes out below.
            scope.ready |= (
                orelse.ready
                if self.leaves(node.then)
                else then.ready
                if self.leaves(node.orelse)
                else then.ready & orelse.ready
            )
        elif isinstance(node, (Break, Continue)):
            self.require(scope.loops > 0, "no loop is around")
            self.require(
                not (scope.parallel and isinstance(node, Break) and scope.loops == 1), "a PARALLEL loop cannot be left"
            )
        elif isinstance(node, Return):
            self.require(0 <= node.result < len(self.program.results), f"there is no result #{node.result}")
            self.require(not scope.parallel, "a Return inside a PARALLEL loop")
            self.result_ready(self.program.results[node.result], scope)
        elif isinstance(node, Alloc):
            self.alloc(node, scope)
        elif isinstance(node, Rebind):
            self.rebind(node, scope)
        elif isinstance(node, Call):
            self.call(node, scope)
        elif isinstance(node, Invoke):
            self.invoke(node, scope)
        else:
            assert isinstance(node, Library)
            self.library(node, scope)

    def stmt(self, stmt: Stmt, scope: _Scope) -> None:
        self.require(self.rules.domains or not stmt.domain, f"a domain is left: {show_domain(stmt.domain)}")
        inner = self.domain(stmt.domain, scope)
        buffer = self.access(stmt.buffer, stmt.index, inner)
        self.expr(stmt.value, inner)
        self.require(
            stmt.value.type.dtype is buffer.type.dtype, f"{stmt.buffer} is {buffer.type}, the value {stmt.value.type}"
        )
        if stmt.reduce is not None:
            self.require(self.rules.reduces, "a reducing statement is left")
            self.reduction(stmt.reduce, buffer.type)
            self.require(REDUCTIONS[stmt.reduce].operation is not None, f"{stmt.reduce} cannot reduce into a buffer")

    def check(self, check: Check, scope: _Scope) -> None:
        self.require(self.rules.domains or not check.domain, f"a domain is left: {show_domain(check.domain)}")
        if check.exception == HAND_BACK:
            written = {name for node in self.program.body for name in buffers_written(node)}
            params = [b for b in self.program.buffers if b.role is Role.PARAM and b.rank and not is_list(b)]
            visible = [b.name for b in params if b.name in written]
            self.require(not visible, f"a call that writes {', '.join(visible)} cannot be repeated")
        else:
            self.require(exception_type(check.exception) is not None, f"{check.exception} is no exception known here")
        inner = self.domain(check.domain, scope)
        self.condition(check.condition, inner)
        for value in check.values:
            self.integer(value, inner, "a value of the message")

    def loop(self, loop: Loop, scope: _Scope) -> None:
        self.require(loop.kind in self.rules.kinds, f"a {loop.kind.value} loop has no place here yet")
        parallel = loop.kind is LoopKind.PARALLEL
        self.require(not (parallel and scope.parallel), "a PARALLEL loop inside a PARALLEL loop")
        self.require(
            not (parallel and isinstance(loop.dim, CompressedDim)), "a PARALLEL loop over a compressed dimension"
        )
        self.require(not loop.accumulators or loop.kind is LoopKind.VECTOR, "accumulators of a loop that is not VECTOR")
        for accumulator in loop.accumulators:
            buffer = self.table.get(accumulator.buffer)
            rank_0 = buffer is not None and buffer.rank == 0 and accumulator.op in REDUCTIONS
            self.require(rank_0, f"{accumulator.buffer} is no accumulator")
            self.reduction(accumulator.op, self.table[accumulator.buffer].type)
            self.require(REDUCTIONS[accumulator.op].operation is not None, f"{accumulator.op} has no accumulator")
        if loop.work is not None:
            # An estimate is best a float: a product of sizes may leave 64 bits.
            self.expr(loop.work, scope)
            self.require(loop.work.type.dtype.kind in "iuf", f"the work of the loop is {loop.work.type}")
        loops = 1 if parallel else 0 if loop.kind in REGIONS else scope.loops + 1
        region = loop.kind in REGIONS  # it is executed once: what it allocates is there afterwards
        shared = frozenset(scope.ready) if parallel else scope.shared
        own = scope.inside() if region else scope.branch()
        inner = replace(own, loops=loops, parallel=parallel or scope.parallel, shared=shared)
        self.dim(loop.dim, inner)
        self.block(loop.body, inner)

    def alloc(self, node: Alloc, scope: _Scope) -> None:
        buffer = self.table.get(node.buffer)
        if buffer is None:
            raise self.fail(f"there is no buffer {node.buffer}")
        self.require(buffer.role is not Role.PARAM, f"{node.buffer} is an argument")
        self.require(buffer.role is not Role.RESULT or not scope.parallel, "a RESULT allocated inside a PARALLEL loop")
        self.extents(buffer, scope)
        scope.ready.add(node.buffer)

    def extents(self, buffer: Buffer, scope: _Scope) -> None:
        """The shape of a local may use the variables of the loops around its Alloc."""
        for extent in buffer.shape:
            self.integer(extent, scope, f"an extent of {buffer.name}")

    def rebind(self, node: Rebind, scope: _Scope) -> None:
        self.require(sorted(node.targets) == sorted(node.sources), "a Rebind permutes its names")
        self.require(len(set(node.targets)) == len(node.targets), "a Rebind names a buffer twice")
        self.require(scope.shared.isdisjoint(node.targets), "a Rebind of what iterations of a PARALLEL loop share")
        for name in node.targets:
            self.require(name in self.table and name in scope.ready, f"{name} is no buffer in scope")
        for target, source in zip(node.targets, node.sources):
            one, other = self.table[target], self.table[source]
            same = one.type == other.type and one.shape == other.shape and one.layout is other.layout
            # An argument changes places with a local array only for a while: it is put back before anything returns.
            same = same and (one.role is other.role or Role.PARAM in (one.role, other.role))
            self.require(same, f"{target} and {source} differ in type, shape, role or layout")

    def call(self, node: Call, scope: _Scope) -> None:
        self.require(self.rules.calls, "a library call has no place here yet")
        lowered, self.rules = self.rules, RULES[Stage.OPTIMISED]  # the meaning of a call keeps its domain to the end
        inner = scope.inside()
        self.stmt(node.stmt, inner)
        inside = self.bound(node.stmt, scope)
        for operand in node.operands:
            self.expr(operand, inside)
        for factor in (node.scale, node.keep):
            if factor is not None:
                self.expr(factor, scope)
        self.rules = lowered

    def library(self, node: Library, scope: _Scope) -> None:
        routine = ROUTINES.get(node.routine)
        if routine is None:
            raise self.fail(f"there is no routine {node.routine}")
        inner = self.domain(node.domain, scope)
        for side, cores in ((node.inputs, routine.inputs), (node.outputs, routine.outputs)):
            self.require(len(side) == len(cores), f"{node.routine} has the signature {routine.signature}")
            for operand, core in zip(side, cores):
                self.require(len(operand.dims) == len(core), f"{operand.buffer} has not the core dimensions {core}")
                self.operand(operand, inner)
        dtypes = [[self.table[operand.buffer].type.dtype for operand in side] for side in (node.inputs, node.outputs)]
        types = types_of(*dtypes)
        self.require(types in routine.loops, f"{node.routine} has no loop {types}")
        if node.status is not None:
            status = self.table.get(node.status)
            fits = status is not None and status.rank == 0 and status.type.dtype is DType.BOOL
            self.require(fits, f"the status {node.status} is no bool")

    def invoke(self, node: Invoke, scope: _Scope) -> None:
        function = next((f for f in self.functions if f.name == node.function), None)
        if function is None:
            raise self.fail(f"there is no function {node.function}")
        self.require(len(node.arguments) == len(function.params), f"{node.function} takes {len(function.params)}")
        for argument, name in zip(node.arguments, function.params):
            wanted = function.table.get(name)
            if wanted is not None and wanted.role is Role.HELD:
                fits = isinstance(argument, Operand) and self.hands_over(argument, wanted, node, scope)
            elif isinstance(argument, Operand):
                self.operand(argument, scope, affine_only=False)
                have = self.table[argument.buffer].type.dtype
                fits = wanted is not None and wanted.rank == len(argument.dims) and wanted.type.dtype is have
            else:
                self.expr(argument, scope)
                of = INT if wanted is None else wanted.type
                fits = (wanted is None or not wanted.rank) and argument.type.dtype is of.dtype
            self.require(fits, f"an argument does not fit the parameter {name} of {node.function}")
        given = [leaf for leaf in leaves(function.results[0]) if isinstance(leaf, ScalarOut)]
        self.require(len(given) == len(node.results), f"{node.function} gives {len(given)} numbers")
        for target, leaf in zip(node.results, given):
            buffer = self.table.get(target)
            of = function.buffer(leaf.buffer).type
            fits = buffer is not None and buffer.rank == 0 and buffer.type.dtype is of.dtype
            self.require(fits, f"the result {target} is no {of}")
        operands = {operand.buffer for operand in node.operands}
        self.require(set(node.writes) <= operands, f"{node.function} writes what it is not given")

    def hands_over(self, operand: Operand, wanted: Buffer, node: Invoke, scope: _Scope) -> bool:
        """Whether a buffer may be that of a function for the time of a call."""
        have = self.table.get(operand.buffer)
        if have is None or operand.buffer not in scope.ready or operand.buffer not in node.writes:
            return False
        plain = not operand.dims and not operand.index and have.role in (Role.LOCAL, Role.HELD)
        return plain and have.rank == wanted.rank and have.type.dtype is wanted.type.dtype

    def operand(self, operand: Operand, scope: _Scope, affine_only: bool = True) -> None:
        """A strided array; where it begins may also be read from memory, unless it must be `affine_only`."""
        inner = self.domain(operand.dims, scope)
        self.access(operand.buffer, operand.index, inner)
        dense = all(isinstance(dim, Dim) for dim in operand.dims)
        names = set(dim_vars(operand.dims))
        strided = all(affine(e) is not None if affine_only else linear_in(e, names) for e in operand.index)
        self.require(dense and strided, f"{operand.buffer} is no strided operand")

    def bound(self, stmt: Stmt, scope: _Scope) -> _Scope:
        """The scope in which a call's operands stand: all dimensions of the statement and of its reductions."""
        inner = scope.inside()
        inner.vars |= set(dim_vars(stmt.domain))
        for part in subexpressions(stmt.value):
            if isinstance(part, Reduce):
                inner.vars |= set(dim_vars(part.dims))
        return inner

    # --- results and control flow ---

    def out(self, out: Out, scope: _Scope) -> None:
        for leaf in leaves(out):
            if isinstance(leaf, (NoneOut, ArgumentOut, ConstOut)):
                continue
            buffer = self.table.get(leaf.buffer)
            if buffer is None:
                raise self.fail(f"a result names {leaf.buffer}, which is no buffer")
            if isinstance(leaf, ScalarOut):
                self.require(buffer.rank == 0, f"the scalar result {leaf.buffer} has rank {buffer.rank}")
            elif isinstance(leaf, ArrayOut):
                self.require(buffer.role is not Role.LOCAL, f"the local {leaf.buffer} cannot be handed out")
            else:
                self.require(buffer.role is not Role.LOCAL, f"a view of the local {leaf.buffer} cannot be handed out")
                self.require(len(leaf.index) == buffer.rank, f"the view's index has not the rank of {leaf.buffer}")
                inner = self.domain(leaf.dims, scope)
                for e in leaf.index:
                    self.integer(e, inner, "an index of the view")

    def result_ready(self, out: Out, scope: _Scope) -> None:
        for leaf in leaves(out):
            if not isinstance(leaf, (NoneOut, ArgumentOut, ConstOut)):
                self.require(leaf.buffer in scope.ready, f"{leaf.buffer} is returned where it may not be allocated")

    def leaves(self, block: Block) -> bool:
        """Whether control never comes out below the block."""
        return any(
            isinstance(node, (Break, Continue, Return))
            or (isinstance(node, If) and self.leaves(node.then) and self.leaves(node.orelse))
            for node in block
        )

    def returns(self, block: Block) -> bool:
        """Whether every path through the block ends in a Return (or in a Check that cannot hold, or never ends)."""
        for node in block:
            if isinstance(node, Return):
                return True
            if isinstance(node, If) and self.returns(node.then) and self.returns(node.orelse):
                return True
            if (
                isinstance(node, Check)
                and isinstance(node.condition, Const)
                and not node.condition.value
                and not node.domain
            ):
                return True
            if isinstance(node, While) and _always(node.condition) and not _breaks(node.body):
                return True
        return False


def _always(condition: Expr) -> bool:
    return isinstance(condition, Const) and bool(condition.value)


def _breaks(block: Block) -> bool:
    """Whether a Break of the loop whose body this is stands in it."""
    return any(
        isinstance(node, Break) or (isinstance(node, If) and (_breaks(node.then) or _breaks(node.orelse)))
        for node in block
    )
