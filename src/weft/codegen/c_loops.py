"""Loops in C.  In: sequential and vector loops and whiles; out: C loops that compilers vectorise, reductions with
private partial results in each lane, and a look for Ctrl-C once in a while.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis import ranges
from weft.analysis.choices import calls_library
from weft.analysis.cost import constant_extent
from weft.analysis.scopes import Path
from weft.codegen import c_entries, c_ops, c_prefetch, c_support
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, RT, Storage, not_nan
from weft.codegen.c_frame import DONE, INTERRUPTED, TICKS
from weft.codegen.c_helpers import C_TYPE
from weft.codegen.c_memory import Memory
from weft.ir import index as affine_index
from weft.ir.expr import CompressedDim, Const, Dim, Domain, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import (
    REGIONS,
    Accumulator,
    Block,
    Break,
    Call,
    If,
    Library,
    Loop,
    LoopKind,
    Node,
    Stmt,
    While,
)
from weft.ir.types import INT
from weft.ir.walk import node_exprs, reads, substitute, walk
from weft.records import dataclass

#: Inner iterations between two looks at a pending Ctrl-C: some milliseconds.
POLL_ITERATIONS = 1 << 20
#: Terms up to this size cannot overflow a sum of as many as an index can count.
SUMMABLE = 2**22
_UNROLLED = ("#pragma GCC unroll 4",)
#: Elements of a row that a step of a loop may do without a look for Ctrl-C.
SHORT_ROW = 64
#: From so many terms on a reduction is worth the time that vectors wait for what was just stored.
_FEW_TERMS = 64

_FLAG = C.Prefix("&", C.Name(OVERFLOW))
_CLAUSE = {"add": "+", "mul": "*", "and": "&", "or": "|", "bitand": "&", "bitor": "|", "bitxor": "^"}


def _without_arrays(loop: Loop) -> bool:
    """Whether no memory limits how long a loop takes: it goes through no array, and its bounds are variables."""
    if isinstance(loop.dim, Dim) and isinstance(loop.dim.lo, Const) and isinstance(loop.dim.hi, Const):
        return False
    found = (read for node in walk(loop.body) for expr in node_exprs(node) for read in reads(expr))
    return not any(read.index for read in found)


def _watched(body: C.CBlock) -> tuple[str, ...]:
    """The clause of a simd loop in which integers may leave 64 bits: each lane has a flag of its own."""
    return (f"reduction(|:{OVERFLOW})",) if OVERFLOW in C.free_names(body) else ()


def _jumps(block: C.CBlock) -> bool:
    """Whether something can leave the block: what a simd loop must not contain."""
    for node in block:
        if isinstance(node, (C.Leave, C.Forever)) or (isinstance(node, C.Jump) and node.text != "continue"):
            return True
        if isinstance(node, C.IfElse) and (_jumps(node.then) or _jumps(node.otherwise)):
            return True
        if isinstance(node, (C.Scope, C.For)) and _jumps(node.body):
            return True
    return False


def _breaks(block: Block) -> bool:
    """Whether a Break can leave the loop that has this body: then it cannot be cut into pieces."""
    return any(isinstance(node, Break) for node in walk(block))


def has_loop(block: Block) -> bool:
    """Whether something in a block counts its own steps between two looks for Ctrl-C."""
    return any(isinstance(n, (Loop, Call, Library)) or (isinstance(n, While) and not n.brief) for n in walk(block))


def repeats(block: Block) -> bool:
    """Whether something in a block is done many times: loops of the program, library routines."""
    return any(
        isinstance(node, (While, Call, Library)) or (isinstance(node, Loop) and node.kind not in REGIONS)
        for node in walk(block)
    )


def _short_rows(loop: Loop) -> bool:
    """Whether a loop over entries does a few elements for each: it counts its steps like an innermost one."""
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(loop.dim, Dim):
        return False
    if not any(True for bound in (loop.dim.lo, loop.dim.hi) for _ in reads(bound)) or _breaks(loop.body):
        return False
    return has_loop(loop.body) and all(isinstance(node, Stmt) or _few(node) for node in loop.body)


def _strip_rows(loop: Loop) -> bool:
    """Whether a loop does nothing but short loops in vectors, over a strip of columns: it runs in pieces, like an
    innermost one, so that nothing is called while the strip is in registers."""
    if loop.kind is not LoopKind.SEQUENTIAL or not isinstance(loop.dim, Dim) or _short_rows(loop):
        return False
    return bool(loop.body) and all(_few(node) for node in loop.body)


def _few(node: Node) -> bool:
    """Whether a node is a short loop in vectors."""
    if not isinstance(node, Loop) or node.kind is not LoopKind.VECTOR:
        return False
    count = constant_extent(node.dim)
    return count is not None and count <= SHORT_ROW and all(isinstance(inner, Stmt) for inner in node.body)


def _scatters(loop: Loop) -> bool:
    """Whether a loop does nothing but add to elements whose places are data, one update each time.

    Compilers do not unroll what they cannot vectorise: counting would take as long as the update itself.
    """
    if len(loop.body) != 1 or not isinstance(stmt := loop.body[0], Stmt) or stmt.domain or not stmt.index:
        return False
    place = any(True for part in stmt.index for _ in reads(part))
    return place and any(read.buffer == stmt.buffer and read.index == stmt.index for read in reads(stmt.value))


def _term(stmt: Stmt, op: str) -> Expr | None:
    """e, if the statement is s = s op e or s = e op s; None otherwise."""
    value = stmt.value
    if not isinstance(value, Op) or value.op != op or len(value.args) != 2 or stmt.index:
        return None
    for this, other in (value.args, value.args[::-1]):
        if isinstance(this, Read) and this.buffer == stmt.buffer:
            return other
    return None


@dataclass
class Loops(Memory):
    """Loops of one function."""

    def nest(self, domain: Domain, body: list[C.CStmt]) -> list[C.CStmt]:
        """`body` at every point of a domain, in order."""
        for dim in reversed(domain):
            out: list[C.CStmt] = []
            self._counted(dim, tuple(body), out)
            body = out
        return body

    def trips(self, dim: Dim) -> C.CExpr:
        """How many values a dimension takes."""
        if affine(dim.lo) is not None and dim.step == 1 and affine(dim.lo) == affine(Const(0, INT)):
            hi = self.expressions.bound(dim.hi)
            return C.Ternary(C.Infix(">", hi, C.Number("0")), hi, C.Number("0"))
        self.unit.used.text(c_support.TRIPS)
        return C.call("k_trips", self.expressions.bound(dim.lo), self.expressions.bound(dim.hi), C.number(dim.step))

    def _counted(
        self, dim: Dim | CompressedDim, body: C.CBlock, out: list[C.CStmt], pragmas: tuple[str, ...] = ()
    ) -> None:
        """A C loop over a dimension; bounds that are not plain sums are computed once, before it."""
        names = self.unit.names
        if isinstance(dim, CompressedDim):
            position = names.of(dim.position)
            after = Op("add", (dim.parent, Const(1, INT)), INT)
            lo, hi = (
                self.variable("i64", "bound", self.expressions.element(dim.pointer, (parent,)), out)
                for parent in (dim.parent, after)
            )
            coordinate = self.expressions.element(dim.coordinate, (Var(dim.position),))
            body = (C.Declare("const i64", names.of(dim.var), coordinate), *body)
            self.unit.types[position] = self.unit.types[names.of(dim.var)] = "i64"
            out.append(C.For(position, lo, hi, 1, body, pragmas))
            return
        bounds = []
        for bound in (dim.lo, dim.hi):
            value = self.expressions.bound(bound)
            bounds.append(value if affine(bound) is not None else self.variable("i64", "bound", value, out))
        self.unit.types[names.of(dim.var)] = "i64"
        out.append(C.For(names.of(dim.var), bounds[0], bounds[1], dim.step, body, pragmas))

    def poll(self) -> list[C.CStmt]:
        """Look for a pending Ctrl-C once in a while."""
        pending = C.IfElse(C.through(RT, "poll"), tuple(self.failure(INTERRUPTED)))
        reset = C.Assign(C.Name(TICKS), C.Number("0"))
        # Compared unsigned: an empty loop may have counted backwards.
        due = C.Infix(">", C.Convert("u64", C.Name(TICKS)), C.number(POLL_ITERATIONS))
        return [C.IfElse(due, (reset, pending))]

    def _tick(self, steps: C.CExpr) -> C.CStmt:
        return C.Assign(C.Name(TICKS), steps, "+=")

    def _loop(self, loop: Loop, path: Path) -> list[C.CStmt]:
        self.expressions.env.update(ranges.dimension(loop.dim, self.expressions.env))
        out: list[C.CStmt] = []
        if loop.kind is LoopKind.VECTOR and not self.unit.strict and self._reducible(loop):
            self._reducing(loop, path, out)
            return out if len(out) == 1 else self._scoped(out)
        crowded, self.crowded = self.crowded, self.crowded or calls_library(loop.body)
        body = (*self._ahead(loop), *self._body(loop, path))
        self.crowded = crowded
        if loop.kind is LoopKind.VECTOR or (_short_rows(loop) and not self.lockstep):
            self._ticked(loop.dim, body, out, self.simd(loop, body))
        elif loop.kind is LoopKind.PARALLEL and not has_loop(loop.body):
            self._counted(loop.dim, body, out, self.simd(loop, body))
        elif self.lockstep:
            self._counted(loop.dim, body, out)
        elif isinstance(loop.dim, Dim) and _strip_rows(loop):
            self._long(loop.dim, body, out)
        elif has_loop(loop.body):
            self._counted(loop.dim, (*self.poll(), *body), out)
        elif _breaks(loop.body) or isinstance(loop.dim, CompressedDim):
            self._counted(loop.dim, (self._tick(C.Number("1")), *self.poll(), *body), out)
        elif isinstance(loop.dim.lo, Const) and isinstance(loop.dim.hi, Const):
            self._ticked(loop.dim, body, out, ())
        else:
            self._long(loop.dim, body, out, _UNROLLED if _scatters(loop) else ())
        return out if len(out) == 1 else self._scoped(out)

    def _ahead(self, loop: Loop) -> list[C.CStmt]:
        """Ask for the rows that an entry some iterations ahead tells."""
        if self.lockstep:
            return []
        name = f"ahead of {loop.dim.var}"
        out: list[C.CStmt] = []
        for count, address, lines in c_prefetch.rows_ahead(loop, self.expressions, name):
            here = C.Name(self.unit.names.of(loop.dim.var))
            later = C.plus(here, C.number(c_prefetch.AHEAD))
            row = self.unit.names.own("row")
            asked: list[C.CStmt] = [
                C.Declare("const i64", self.unit.names.of(name), later),
                C.Declare("const char *", row, C.Convert("const char *", address)),
            ]
            for line in range(lines):
                at = C.plus(C.Name(row), C.number(line * c_prefetch.LINE))
                asked.append(C.Evaluate(C.call("__builtin_prefetch", at)))
            out.append(C.IfElse(C.Infix("<", later, count), tuple(asked)))
        return out

    def _body(self, loop: Loop, path: Path) -> C.CBlock:
        outer = self.lockstep
        self.depth += 1
        self.lockstep = outer or loop.kind is LoopKind.VECTOR or _short_rows(loop) or _strip_rows(loop)
        body = self.block(loop.body, (*path, 0))
        self.depth -= 1
        self.lockstep = outer
        return body

    def _ticked(self, dim: Dim | CompressedDim, body: C.CBlock, out: list[C.CStmt], pragmas: tuple[str, ...]) -> None:
        """An innermost loop: its steps are counted before it, so that it needs no counter of its own."""
        inner: list[C.CStmt] = []
        self._counted(dim, body, inner, pragmas)
        loop = inner.pop()
        assert isinstance(loop, C.For)
        out.extend(inner)
        if not self.lockstep and (self.depth > 0 or self.frame.parallel):
            low, high = (loop.start, loop.bound) if loop.step > 0 else (loop.bound, loop.start)
            out.append(self._tick(high if low == C.Number("0") else C.Infix("-", high, low)))
        out.append(loop)

    def _long(self, dim: Dim, body: C.CBlock, out: list[C.CStmt], pragmas: tuple[str, ...] = ()) -> None:
        """An innermost loop that may take long: in pieces, with a look for Ctrl-C between them."""
        inner: list[C.CStmt] = []
        self._counted(dim, body, inner, pragmas)
        loop = inner.pop()
        assert isinstance(loop, C.For)
        out.extend(inner)
        piece, reach = self.unit.names.own("piece"), loop.step * POLL_ITERATIONS
        self.unit.types[piece] = "i64"
        head: list[C.CStmt] = []
        left = C.Infix("-", loop.bound, C.Name(piece))
        more = C.Infix(">" if reach > 0 else "<", left, C.number(reach))
        end = self.variable("i64", "end", C.Ternary(more, C.plus(C.Name(piece), C.number(reach)), loop.bound), head)
        done = C.Infix("-", end, C.Name(piece)) if reach > 0 else C.Infix("-", C.Name(piece), end)
        pieces = (*head, self._tick(done), *self.poll(), replace(loop, start=C.Name(piece), bound=end))
        out.append(C.For(piece, loop.start, loop.bound, reach, pieces))

    def simd(self, loop: Loop, body: C.CBlock) -> tuple[str, ...]:
        """The pragma of a loop whose iterations may run in lockstep, an innermost parallel one included."""
        innermost = loop.kind is LoopKind.VECTOR or not has_loop(loop.body)
        fit = innermost and not loop.accumulators and self._lockstep(loop, body)
        return (" ".join(("#pragma omp simd", *_watched(body))),) if fit else ()

    def _lockstep(self, loop: Loop, body: C.CBlock) -> bool:
        """Whether a VECTOR loop's body is fit for the simd pragma: nothing leaves it and it sets no shared variable."""
        free = set(C.free_names(body))
        if TICKS in free or _jumps(body) or isinstance(loop.dim, CompressedDim):
            return False
        if not c_ops.CHECKED_IN_VECTORS.issuperset(C.invoked_with(body, _FLAG)):
            return False
        allowed = {self.expressions.storages[a.buffer].name for a in loop.accumulators}  # under their name in this loop
        return not any(
            isinstance(node, Stmt)
            and not node.index
            and (name := self.expressions.storages[node.buffer].name) in free
            and name not in allowed
            for node in walk(loop.body)
        )

    # --- reductions -------------------------------------------------------------------------------------------------

    def _reducible(self, loop: Loop) -> bool:
        return bool(loop.accumulators) and all(self._reduction_form(loop, a) is not None for a in loop.accumulators)

    def _reduction_form(self, loop: Loop, accumulator: Accumulator) -> str | None:
        """How an accumulator is written: "clause", "extreme" (minimum or maximum of floats), "quiet" (the same where a
        NaN never counts), "weak" (a Python integer's sum that is checked after the loop), "parts" (a complex sum); None
        if the loop must stay as it is."""
        of = self.expressions.storages[accumulator.buffer].buffer.type
        dtype = of.dtype
        updates = [n for n in walk(loop.body) if isinstance(n, Stmt) and n.buffer == accumulator.buffer]
        terms = [_term(update, accumulator.op) for update in updates]
        uses = sum(
            read.buffer == accumulator.buffer
            for node in walk(loop.body)
            for expr in node_exprs(node)
            for read in reads(expr)
        )
        if not updates or any(term is None for term in terms) or uses != len(updates):
            return None
        if of == INT and accumulator.op in ("add", "mul"):
            env = self.expressions.env
            small = all(ranges.interval(term, env).magnitude <= SUMMABLE for term in terms if term is not None)
            return "weak" if accumulator.op == "add" and small and len(terms) == 1 else None
        if dtype.is_complex:
            return "parts" if accumulator.op == "add" else None
        if accumulator.op in ("minimum", "maximum"):
            quiet = all(not_nan(term, accumulator.op) is not None for term in terms if term is not None)
            return "clause" if not dtype.is_float else "quiet" if quiet else "extreme"
        return "clause" if accumulator.op in _CLAUSE else None

    def _reducing(self, loop: Loop, path: Path, out: list[C.CStmt]) -> None:
        """A VECTOR loop with accumulators: private partial results in each lane, combined after it."""
        clauses: list[str] = []
        after: list[C.CStmt] = []
        extremes, parts, storages = self.extremes, self.parts, self.expressions.storages
        self.extremes, self.parts, self.expressions.storages = dict(extremes), dict(parts), dict(storages)
        unchecked = set(self.expressions.unchecked)
        for accumulator in loop.accumulators:
            form = self._reduction_form(loop, accumulator)
            if form == "weak":
                self._weak_sum(storages[accumulator.buffer], clauses, out, after)
            elif form == "parts":
                self._complex_sum(storages[accumulator.buffer], clauses, out, after)
            else:
                if form in ("extreme", "quiet"):
                    watched = clauses if form == "extreme" else None
                    self._watch_for_nan(storages[accumulator.buffer], watched, out, after)
                operator = {"minimum": "min", "maximum": "max"}.get(accumulator.op) or _CLAUSE[accumulator.op]
                clauses.append(f"reduction({operator}:{storages[accumulator.buffer].name})")
        body = self._body(loop, path)
        clauses += _watched(body)
        pragmas = (f"#pragma omp simd {' '.join(clauses)}",) if self._lockstep(loop, body) else ()
        if isinstance(loop.dim, Dim) and not self.lockstep and _without_arrays(loop):
            self._long(loop.dim, body, out, pragmas)
        else:
            self._ticked(loop.dim, body, out, pragmas)
            if self.unit.brief and pragmas:
                out.append(_by_length(out.pop()))
            elif not self.lockstep and c_entries.why_not(loop, self.expressions) is None:
                looked_up = c_entries.looks_up(loop, self.expressions)
                out.append(self._by_four(loop, out.pop()) if looked_up else self._by_lanes(loop, out.pop()))
            elif pragmas and c_entries.is_short(loop) and c_entries.looks_up(loop, self.expressions):
                plain = out.pop()
                assert isinstance(plain, C.For)
                alone = c_entries.why_not_combined(loop, self.expressions) is None
                out.append(self._by_four(loop, plain) if alone else replace(plain, pragmas=_UNROLLED))
        out.extend(after)
        self.extremes, self.parts, self.expressions.storages = extremes, parts, storages
        self.expressions.unchecked = unchecked

    def _by_four(self, loop: Loop, plain: C.CStmt) -> C.CStmt:
        """A sum over the entries of a row that are looked up, four at a time, each with a sum of its own."""
        (stmt,) = loop.body
        assert isinstance(plain, C.For) and isinstance(stmt, Stmt)
        target, var = C.Name(self.expressions.storages[stmt.buffer].name), loop.dim.var
        term = c_entries.combined(stmt)
        assert term is not None
        at = C.Name(self.unit.names.own("at"))
        sums = [C.Name(self.unit.names.own("sum")) for _ in range(c_entries.FOUR)]
        out: list[C.CStmt] = [C.Declare("i64", at.text, plain.start)]
        out += [C.Declare("f64", one.text, C.Number("0.0")) for one in sums]
        steps: list[C.CStmt] = []
        for further, one in enumerate(sums):
            moved = substitute(term, {var: affine_index.add(Var(var), integer(further))})
            steps.append(C.Assign(one, C.Infix("+", one, self.expressions.value(moved))))
        steps.append(C.Assign(at, C.plus(C.Name(plain.variable), C.number(c_entries.FOUR))))
        most = C.Infix("-", plain.bound, C.number(c_entries.FOUR - 1))
        out.append(replace(plain, bound=most, step=c_entries.FOUR, body=tuple(steps), pragmas=()))
        pairs = [C.Infix("+", one, other) for one, other in zip(sums[::2], sums[1::2])]
        out.append(C.Assign(target, C.Infix("+", target, C.Infix("+", pairs[0], pairs[1]))))
        out.append(replace(plain, start=at, pragmas=()))
        return C.Scope(tuple(out))

    def _by_lanes(self, loop: Loop, plain: C.CStmt) -> C.CStmt:
        """A sum or extreme over the entries of a row in vectors that are partly full, if instructions can do that."""
        (stmt,) = loop.body
        assert isinstance(plain, C.For) and isinstance(stmt, Stmt) and isinstance(stmt.value, Op)
        self.unit.used.text(c_entries.SUPPORT)
        term = c_entries.combined(stmt)
        assert term is not None
        target, op = C.Name(self.expressions.storages[stmt.buffer].name), stmt.value.op
        lanes, here = (C.Name(self.unit.names.own(name)) for name in ("lanes", "term"))
        for one in (lanes, here):
            self.unit.types[one.text] = c_entries.SUM_TYPE
        left = C.Infix("-", plain.bound, C.Name(plain.variable))
        steps: list[C.CStmt] = [
            C.Declare(c_entries.SUM_TYPE, here.text, c_entries.in_lanes(term, loop.dim.var, left, self.expressions)),
            C.Assign(lanes, C.call(c_entries.STEPS[op], lanes, here, left)),
        ]
        flag = self.extremes.get(stmt.buffer)
        if flag:
            steps.append(C.Assign(C.Name(flag), C.call("k_nans", here, left), "|="))
        start = C.Number("{0}") if op == "add" else C.call("k_alike", target)
        body = replace(plain, step=c_entries.LANES, body=tuple(steps), pragmas=())
        after = c_entries.joined(op, target, lanes)
        return C.IfElse(c_entries.AVAILABLE, (C.Declare(c_entries.SUM_TYPE, lanes.text, start), body, *after), (plain,))

    def _weak_sum(self, storage: Storage, clauses: list[str], out: list[C.CStmt], after: list[C.CStmt]) -> None:
        """A sum of small Python integers on its own, which cannot overflow; added to the variable after the loop."""
        name = storage.buffer.name
        partial = self.variable("i64", "sum", C.Number("0"), out)
        total = c_ops.build_checked("add", (C.Name(storage.name), partial), OVERFLOW, self.unit.used)
        after.append(C.Assign(C.Name(storage.name), total))
        self.expressions.storages[name] = replace(storage, name=partial.text)
        self.expressions.unchecked = self.expressions.unchecked | {name}
        clauses.append(f"reduction(+:{partial.text})")

    def _watch_for_nan(
        self, storage: Storage, clauses: list[str] | None, out: list[C.CStmt], after: list[C.CStmt]
    ) -> None:
        """The comparison of a minimum forgets a NaN: a flag beside it does not (without clauses: one from before)."""
        value = C.Name(storage.name)
        double = storage.buffer.type.dtype.size == 8
        flag = self.variable("i64" if double else "i32", "nan", C.Infix("!=", value, value), out)
        after.append(C.IfElse(flag, (C.Assign(value, C.Number(f'__builtin_nan{"" if double else "f"}("")')),)))
        self.extremes[storage.buffer.name] = "" if clauses is None else flag.text
        if clauses is not None:
            clauses.append(f"reduction(|:{flag.text})")

    def _complex_sum(self, storage: Storage, clauses: list[str], out: list[C.CStmt], after: list[C.CStmt]) -> None:
        """A complex sum as two real ones, which vectorise."""
        real = C_TYPE[storage.buffer.type.dtype.real]
        re, im = (self.variable(real, name, C.Number("0"), out) for name in ("re", "im"))
        whole = C.Infix("+", C.Name(storage.name), C.call("__builtin_complex", re, im))
        after.append(C.Assign(C.Name(storage.name), whole))
        self.parts[storage.buffer.name] = (re.text, im.text)
        clauses.append(f"reduction(+:{re.text},{im.text})")

    def _in_parts(self, stmt: Stmt) -> list[C.CStmt]:
        """s = s + e  -->  x = e; re += real(x); im += imag(x)"""
        term = _term(stmt, "add")
        assert term is not None
        out: list[C.CStmt] = []
        x = self.variable(self.expressions.ctype(term.type), "x", self.expressions.value(term), out)
        for name, part in zip(self.parts[stmt.buffer], ("__real__ ", "__imag__ ")):
            out.append(C.Assign(C.Name(name), C.Prefix(part, x), "+="))
        return [C.Scope(tuple(out))]

    # --- while ------------------------------------------------------------------------------------------------------

    def condition_tests(self, node: While) -> list[C.CStmt]:
        """In a checked kernel, what comes before the condition of a loop."""
        raise NotImplementedError

    def _while(self, node: While, path: Path) -> list[C.CStmt]:
        simple = all(isinstance(inner, Stmt) and not inner.domain for inner in (*node.prelude, *node.body))
        self.depth += 1
        crowded, self.crowded = self.crowded, self.crowded or calls_library(node.body)
        prelude = self.block(node.prelude, (*path, 0))
        if self.unit.checked:
            prelude = (*prelude, *self.condition_tests(node))
        stop = C.IfElse(C.Prefix("!", self.expressions.test(node.condition)), (C.Jump("break"),))
        body = self.block(node.body, (*path, 1))
        self.depth -= 1
        self.crowded = crowded
        if node.brief:
            return [C.Forever((*prelude, stop, *body))]
        head: list[C.CStmt] = [self._tick(C.Number("1")), *self.poll()]
        if _of_variables(node):
            return self._tight(prelude, stop, body)
        if OVERFLOW in C.free_names((*prelude, stop, *body)):
            # A number that wrapped might keep the loop going for ever.
            head.append(C.IfElse(C.Name(OVERFLOW), (C.Jump(f"goto {DONE}"),)))
        elif simple:
            return self._tight(prelude, stop, body)
        return [C.Forever((*head, *prelude, stop, *body))]

    def _tight(self, prelude: C.CBlock, stop: C.CStmt, body: C.CBlock) -> list[C.CStmt]:
        """A loop of simple statements in pieces: between two looks for Ctrl-C nothing is called, and all stays in
        registers.  A number that wrapped is noticed with them.
        """
        out: list[C.CStmt] = []
        left = self.variable("i64", "left", C.number(POLL_ITERATIONS), out)
        count = C.Assign(left, C.Infix("-", left, C.Number("1")))
        inner = C.Forever((*prelude, stop, *body, count, C.IfElse(C.Prefix("!", left), (C.Jump("break"),))))
        passed = self._tick(C.Infix("-", C.number(POLL_ITERATIONS + 1), left))
        ended = C.IfElse(left, (C.Jump("break"),))
        wrapped = [C.IfElse(C.Name(OVERFLOW), (C.Jump(f"goto {DONE}"),))] if OVERFLOW in C.free_names((inner,)) else []
        return [C.Forever((*self.poll(), *wrapped, *out, inner, passed, ended))]

    def _extreme(self, stmt: Stmt) -> list[C.CStmt]:
        """s = minimum(s, e)  -->  x = e; s = x < s ? x : s; nan |= x != x, a form that vectorises."""
        assert isinstance(stmt.value, Op)
        term = _term(stmt, stmt.value.op)
        assert term is not None
        out: list[C.CStmt] = []
        target = C.Name(self.expressions.storages[stmt.buffer].name)
        flag = self.extremes[stmt.buffer]
        if not flag:
            # The comparison itself passes over a NaN.
            term = not_nan(term, stmt.value.op)
            assert term is not None
        x = self.variable(self.expressions.ctype(term.type), "x", self.expressions.value(term), out)
        sign = "<" if stmt.value.op == "minimum" else ">"
        out.append(C.Assign(target, C.Ternary(C.Infix(sign, x, target), x, target)))
        if flag:
            out.append(C.Assign(C.Name(flag), C.Infix("!=", x, x), "|="))
        return [C.Scope(tuple(out))]


def _of_variables(node: While) -> bool:
    """Whether a loop only sets variables from variables: a number that wrapped harms nothing in memory."""
    inner = [*walk(node.prelude), *walk(node.body)]
    if not all(isinstance(n, If) or (isinstance(n, Stmt) and not n.domain and not n.index) for n in inner):
        return False
    return not any(read.index for n in (node, *inner) for expr in node_exprs(n) for read in reads(expr))


def _by_length(loop: C.CStmt) -> C.CStmt:
    """A reduction in vectors, and one by one if it has few terms: a vector of elements that were just stored one by one
    is read only when all of them have reached the cache.
    """
    assert isinstance(loop, C.For)
    count = loop.bound if loop.start == C.Number("0") else C.Infix("-", loop.bound, loop.start)
    return C.IfElse(C.Infix("<", count, C.number(_FEW_TERMS)), (replace(loop, pragmas=()),), (loop,))
