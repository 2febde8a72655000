"""Parallel loops in C.  In: a PARALLEL loop; out: a function over a range of its iterations, a structure that carries
the variables it uses, and the code that hands both to the thread pool when the work is worth it.
"""

from __future__ import annotations

from weft.analysis import ranges
from weft.analysis.balance import pointer_of
from weft.analysis.choices import SEVERAL_PRODUCTS, calls_library
from weft.analysis.scopes import Path
from weft.codegen import c_invoke, c_support
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, OWN, RT, limit
from weft.codegen.c_frame import DONE, FAILED, HELD, STATUS, THREAD, TICKS, WORDS, Frame
from weft.codegen.c_helpers import C_TYPE
from weft.codegen.c_loops import Loops, has_loop
from weft.errors import Unsupported
from weft.ir.expr import Dim, integer
from weft.ir.program import Loop, LoopKind, While
from weft.ir.walk import walk
from weft.records import dataclass

#: Pieces handed out for each thread, so that uneven iterations even out.
TASKS_PER_THREAD = 2
#: Pieces for each thread where iterations are long or differ much: also if one thread wakes late, none waits long.
PIECES_PER_THREAD = 8
MAX_PIECES = 64  # the room of k_pieces
REGION_TICKS = 1 << 16


def _jumps_to_done(block: C.CBlock) -> bool:
    for node in block:
        if isinstance(node, C.Jump) and node.text.startswith("goto"):
            return True
        if isinstance(node, C.IfElse) and (_jumps_to_done(node.then) or _jumps_to_done(node.otherwise)):
            return True
        if isinstance(node, (C.Scope, C.For, C.Forever)) and _jumps_to_done(node.body):
            return True
    return False


def _uneven(loop: Loop) -> bool:
    """Whether iterations are programs of their own, that take as long as they take: loops inside that run in order."""
    return any(
        isinstance(node, While) or (isinstance(node, Loop) and node.kind is LoopKind.SEQUENTIAL)
        for node in walk(loop.body)
    )


@dataclass
class Parallel(Loops):
    """Parallel loops of one function."""

    def _parallel(self, loop: Loop, path: Path) -> list[C.CStmt]:
        """A loop body becomes a function over a range of iterations; its free variables travel in a structure."""
        dim = loop.dim
        if not isinstance(dim, Dim):
            raise Unsupported(loop.span, "a parallel loop over a compressed dimension", "")
        out: list[C.CStmt] = []
        self.expressions.env.update(ranges.dimension(dim, self.expressions.env))
        count = self.variable("i64", "count", self.trips(dim), out)
        start = self.variable("i64", "start", self.expressions.bound(dim.lo), out)
        number = len(self.unit.functions)
        function, structure = f"{OWN}body_{number}", f"{OWN}context_{number}"
        captured, overflows = self._outline(loop, path, start, function, structure)
        context = self.unit.names.own("context")
        out.append(C.Declare(f"struct {structure}", context))
        for name in captured:
            value: C.CExpr = C.Prefix("&", C.Name(FAILED)) if name == FAILED else C.Name(name)
            out.append(C.Assign(C.Dot(C.Name(context), name), value))
        address = C.Prefix("&", C.Name(context))
        worth: list[C.CExpr] = [C.Infix(">", count, C.Number("1"))]
        if loop.work is not None:
            least = limit("crowded" if self.crowded else "parallel")
            worth.insert(0, C.Infix(">", self.expressions.estimate(loop.work), least))
        products = calls_library(loop.body)
        if products:
            worth.append(self._alone(context, count, out))
        condition = C.all_of(worth)
        assert condition is not None
        available = C.Ternary(condition, C.through(RT, "threads"), C.Number("1"))
        threads = self.variable("i64", "threads", available, out)
        if loop.threads:  # a thread takes pieces as long as there are any: no more of them than threads
            most = C.number(loop.threads)
            out.append(C.IfElse(C.Infix(">", threads, most), (C.Assign(threads, most),)))
        pointer = pointer_of(loop, lambda name: self.expressions.storages[name].buffer)
        if pointer is None:
            pieces = PIECES_PER_THREAD if products or _uneven(loop) else TASKS_PER_THREAD
            pieces = 1 if loop.threads else pieces
            tasks = C.Infix("*", C.number(pieces), threads)
            fewer = C.Ternary(C.Infix("<", count, tasks), count, tasks)
            many: list[C.CStmt] = [C.Evaluate(C.through(RT, "parallel", C.Number(function), address, count, fewer))]
        else:
            pieces = 1 if loop.threads else PIECES_PER_THREAD
            many = self._balanced(function, address, count, C.Infix("*", C.number(pieces), threads), pointer)
        alone = C.Evaluate(C.call(function, address, C.Number("0"), count, C.Number("0")))
        shared = (*many, *self.chosen(loop, True))
        out.append(C.IfElse(C.Infix(">", threads, C.Number("1")), shared, (alone, *self.chosen(loop, False))))
        # A region counts its own steps: for the loops around it, it is as long as many of theirs.
        out.append(self._tick(C.number(REGION_TICKS)))
        if FAILED in captured:
            failed = C.Name(FAILED)
            if overflows:
                out.append(C.Assign(C.Name(OVERFLOW), C.Dot(failed, "overflow"), "|="))
            leave = (C.Assign(C.Name(STATUS), C.Dot(failed, "status")), C.Jump(f"goto {DONE}"))
            out.append(C.IfElse(C.Dot(failed, "status"), leave))
        return self._scoped(out)

    def _alone(self, context: str, count: C.CExpr, out: list[C.CStmt]) -> C.Name:
        """Whether each thread calls the library for itself; then the loop's body gets a library without threads.

        On one thread as well, and whatever the number of threads: sums must not depend on it.
        """
        self.unit.used.text(c_support.ALONE)
        several = C.Infix(">=", count, C.number(SEVERAL_PRODUCTS))
        other = C.Arrow(C.Name(RT), "alone")
        alone = self.variable("i64", "alone", C.Infix("&&", other, several), out)
        out.append(C.IfElse(alone, (C.Assign(C.Dot(C.Name(context), RT), other),)))
        return alone

    def _balanced(
        self, function: str, address: C.CExpr, count: C.CExpr, tasks: C.CExpr, pointer: str
    ) -> list[C.CStmt]:
        """Pieces of about equal work, found by bisection in the array of offsets by which the iterations run."""
        storage = self.expressions.storages[pointer]
        ctype = C_TYPE[storage.buffer.type.dtype]
        self.unit.used.text(c_support.PIECES)
        self.unit.used.text(c_support.BALANCE.substitute(type=ctype))
        out: list[C.CStmt] = []
        least = C.Ternary(C.Infix("<", count, tasks), count, tasks)
        pieces = self.variable("i64", "pieces", least, out)
        out.append(C.IfElse(C.Infix(">", pieces, C.number(MAX_PIECES)), (C.Assign(pieces, C.number(MAX_PIECES)),)))
        split = self.unit.names.own("split")
        out.append(C.Declare("k_pieces", split))
        for name, value in (("body", C.Number(function)), ("context", address)):
            out.append(C.Assign(C.Dot(C.Name(split), name), value))
        first, second = (C.Prefix("&", self.expressions.element(pointer, (integer(at),))) for at in (0, 1))
        stride = C.Infix("-", second, first)
        bounds = C.Prefix("&", C.Name(split))
        out.append(C.Evaluate(C.call(f"k_balance_{ctype}", bounds, first, stride, count, pieces)))
        out.append(C.Evaluate(C.through(RT, "parallel", C.Number("k_piece"), bounds, pieces, pieces)))
        return out

    def _outline(
        self, loop: Loop, path: Path, start: C.Name, function: str, structure: str
    ) -> tuple[tuple[str, ...], bool]:
        """Write the body function and its context structure; the variables the context holds, and whether a Python
        integer may overflow inside."""
        dim = loop.dim
        assert isinstance(dim, Dim)
        self.unit.functions.append(C.Text(""))  # reserves the number; functions inside come before
        iteration = self.unit.names.own("t")
        var = self.unit.names.of(dim.var)
        inner = type(self)(self.unit, self.expressions, Frame(parallel=True, iteration=iteration), self.line)
        body = inner.block(loop.body, (*path, 0))
        head: list[C.CStmt] = inner.poll() if has_loop(loop.body) else []
        value = C.plus(start, C.times(C.Name(iteration), C.number(dim.step)))
        self.unit.types[var] = "i64"
        each = C.For(
            iteration,
            C.Name(f"{OWN}begin"),
            C.Name(f"{OWN}end"),
            1,
            (C.Declare("const i64", var, value), *head, *body),
            inner.simd(loop, body),
        )
        free = set(C.free_names((each,)))
        tail: list[C.CStmt] = []
        heads = list(inner.frame.heads)
        for name in (OVERFLOW, TICKS, HELD):
            if name in free:
                heads.append(C.Declare("i64", name, C.Number("0")))
        if THREAD in free:
            heads += c_invoke.record("&k_alone" if self.unit.tasks else "0")
        if HELD in free:
            tail.append(C.Evaluate(C.call("k_release", C.Name(RT), C.Prefix("&", C.Name(HELD)))))
        if OVERFLOW in free:
            self.unit.used.text(c_support.FAILURE)
            shared = C.Prefix("&", C.Arrow(C.Name(FAILED), "overflow"))
            stored = C.Evaluate(C.call("__atomic_store_n", shared, C.Number("1"), C.Number("__ATOMIC_RELAXED")))
            tail.append(C.IfElse(C.Name(OVERFLOW), (stored,)))
        for owner in inner.frame.owners:
            tail.append(C.IfElse(C.Name(owner), (C.Evaluate(C.through(RT, "release", C.Name(owner))),)))
        label: list[C.CStmt] = [C.Label(DONE)] if _jumps_to_done((each,)) else []
        code: C.CBlock = (*heads, each, *label, *tail)
        own = {f"{OWN}begin", f"{OWN}end"}
        captured = tuple(name for name in C.free_names(code) if name not in own)
        self._write_function(function, structure, captured, code)
        return captured, OVERFLOW in free

    def _write_function(self, function: str, structure: str, captured: tuple[str, ...], code: C.CBlock) -> None:
        members, loads = [], []
        for name in captured:
            ctype = self.type_of(name)
            members.append(C.Declare(ctype, name))
            alone = ctype.endswith("*") and name in self.unit.unaliased
            ctype = f"{ctype}restrict" if alone else ctype
            loads.append(C.Declare(ctype, name, C.Arrow(C.Name(f"{OWN}c"), name)))
        if FAILED in captured:
            self.unit.used.text(c_support.FAILURE)
        if captured:
            loads.insert(0, C.Declare(f"const struct {structure} *", f"{OWN}c", C.Name(f"{OWN}context")))
        head = f"static void {function}(void *{OWN}context, i64 {OWN}begin, i64 {OWN}end, i64 {OWN}task)"
        self.unit.functions.append(C.Structure(structure, tuple(members or [C.Declare("char", "none")])))
        self.unit.functions.append(C.Function(head, (*loads, *code)))

    def type_of(self, name: str) -> str:
        """The C type of a variable of the enclosing function."""
        fixed = {RT: "const weft_rt *", FAILED: "k_failure *", WORDS: "i64 *"}
        return fixed[name] if name in fixed else self.unit.types[name]


def collect_failure() -> C.CStmt:
    """At the kernel's exit: the failure that a parallel loop recorded goes into the control words."""
    failed = C.Name(FAILED)
    values: list[C.CExpr] = [C.Dot(failed, member) for member in ("code", "line")]
    values += [C.Subscript(C.Dot(failed, "values"), C.number(position)) for position in range(3)]
    stores = [C.Assign(C.Subscript(C.Name(WORDS), C.number(word)), value) for word, value in enumerate(values, 1)]
    return C.IfElse(C.Dot(failed, "status"), tuple(stores))
