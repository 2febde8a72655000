"""Loops and branches of the user's Python.  In: `ast` statements; out: Loop, While and If nodes.

`for` over a range becomes a Loop with the same bounds.  Variables that a loop carries or branches merge are slots (see
`scope`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from weft.errors import ParallelError, Span, Unsupported
from weft.frontend import arith, arrays
from weft.frontend.blocks import escape_together
from weft.frontend.building import Building
from weft.frontend.choices import condition_value, evaluate_run
from weft.frontend.core import SYNTHETIC, changes_type, kept_for, written_by
from weft.frontend.emit import NeedConstant, Restart
from weft.frontend.interrupts import FALSE, Interrupts, jump
from weft.frontend.liveness import EMPTY, assigned, bound_anew, set_at_exit, surely_assigned, surely_named, target_names
from weft.frontend.missing import forget, implied, is_none, may_start_unset, suppose
from weft.frontend.mixed import Mixed, benign, note_mixed, read_as
from weft.frontend.pragmas import PARALLEL
from weft.frontend.scope import LoopFrame, Slot
from weft.frontend.slots import apart
from weft.frontend.statements import assign_target, execute_all
from weft.frontend.strings import slot_text
from weft.frontend.values import (
    MOST_COPIES,
    Array,
    Closure,
    Dict,
    Grid,
    Iterable,
    Maybe,
    Range,
    Records,
    Scalar,
    Struct,
    Tuple,
    Value,
    describe,
)
from weft.frontend.writing import repeat, variable
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import (
    Block,
    Break,
    Continue,
    If,
    Loop,
    LoopKind,
    Node,
    Role,
    While,
)
from weft.ir.types import BOOL, INT, ScalarType


class Loops(Building):
    """Compound statements."""

    loops_open: tuple[object, ...] = ()  # one mark for each loop whose body is being executed, in all scopes

    # --- branches ---------------------------------------------------------------------------------------------------

    def _exec_if(self, node: ast.If) -> bool:
        test = self.truth(condition_value(self, node.test), node)
        if isinstance(test, bool):
            suppose(self, implied(node.test, test))
            return execute_all(self, node.body if test else node.orelse)
        condition = arith.condition(test.expr)
        span = self.emitter.span
        live = self.scope.liveness.live_after(node)
        names = self._assigned([*node.body, *node.orelse]) & live
        merged = {name for name in names if not isinstance(self.scope.values.get(name), Closure)}
        opened = self.open_slots(merged, node)
        if any(changes_type(self, self.scope.slots[name]) for name in opened):
            condition = self.emitter.snapshot(condition, "test")  # asked again if the value is returned
        unset = {name for name in merged if name not in self.scope.values}
        start = dict(self.scope.values)
        widened = set(self.widened)
        self.scope.departed = False
        unbound = set(self.scope.unbound)
        known = set(self.scope.known)
        suppose(self, implied(node.test, True))
        with self.emitter.capture(branch=True) as then_block, self._side(node, 1):
            then_ends = not execute_all(self, node.body)
        then_known, self.scope.known = self.scope.known, known
        suppose(self, implied(node.test, False))
        then_gone, self.scope.departed = then_ends or self.scope.departed, False
        then_unbound, self.scope.unbound = self.scope.unbound, unbound
        turns = {name: len(self.scope.slots[name].history) for name in opened}
        then_values, self.scope.values = self.scope.values, dict(start)
        with self.emitter.capture(branch=True) as else_block, self._side(node, 2):
            else_ends = not execute_all(self, node.orelse)
        else_gone = else_ends or self.scope.departed
        self.scope.departed = then_gone and else_gone
        if not then_gone:
            self.scope.unbound = then_unbound if else_gone else then_unbound | self.scope.unbound
        else_values = self.scope.values
        if not then_ends:
            self.scope.known = then_known if else_ends else then_known & self.scope.known
        self.emitter.emit(If(condition, tuple(then_block), tuple(else_block), span))
        merge(self, start, then_values, else_values, then_ends, else_ends, merged, node)
        self.refresh()
        for name in unset:
            missing = (name not in then_values and not then_gone) or (name not in else_values and not else_gone)
            if missing and not name.startswith(SYNTHETIC):
                self.scope.unbound.add(name)
        if not then_ends and not else_ends:
            for name in opened:
                _merge_types(self, name, node, condition, turns[name], widened)
        self.close_slots(opened)
        return not (then_ends and else_ends)

    @contextmanager
    def _side(self, node: ast.If, side: int) -> Iterator[None]:
        """Statements that are in both branches are told apart by their path."""
        path = self.scope.path
        if node in self.emitter.decisions.duplicated.values():
            self.scope.path = hash((path, id(node), side))
        yield
        self.scope.path = path

    # --- loops ------------------------------------------------------------------------------------------------------

    def _exec_while(self, node: ast.While) -> bool:
        span = self.at(node)
        body_names = self._assigned([*node.body, node.test])
        carried = body_names & _live_around(self, node)
        opened = _open_loop_slots(self, carried, node, node.body)
        unset = {n for n in carried if n not in self.scope.values}
        frame = _frame(self, node)
        before = dict(self.scope.values)
        around, self.loops_open = self.loops_open, (*self.loops_open, object())
        with self.emitter.capture() as prelude:
            self.refresh()
            test = self.truth(condition_value(self, node.test), node)
        self.loops_open = around
        condition: Expr = Const(test, BOOL) if isinstance(test, bool) else arith.condition(test.expr)
        forever = isinstance(test, bool) and test
        with self.emitter.capture() as block:
            _loop_body(self, node.body, frame, implied(node.test, True))
        self.emitter.span = span
        self.emitter.emit(While(tuple(prelude), condition, tuple(block), span, self.emitter.sound))
        _settle(self, opened, node.body, ONE if forever else None)
        _after_loop(self, before, opened)
        sure = (set_at_exit(node.body, only_breaks=True) if forever else set()) | surely_named(node.test)
        for name in unset - sure:
            if not name.startswith(SYNTHETIC):
                self.scope.unbound.add(name)
        _loop_else(self, node, frame)
        return not (forever and not _has_break(node.body))

    def _assigned(self, nodes: Sequence[ast.AST]) -> set[str]:
        """Names that the nodes may bind; one that holds an array and is only updated in place (`a += x`) keeps it."""
        names = assigned(nodes) - self.scope.outer
        held = {name: self.scope.values.get(name) for name in names}
        whole = {n for n, v in held.items() if isinstance(v, Array) and not v.is_list and v.view is not None}
        return names - (whole - bound_anew(nodes)) if whole else names

    def _exec_break(self, node: ast.Break) -> bool:
        frame = self.scope.loops[-1]
        if frame.completed is not None:
            self.emitter.assign((), frame.completed, (), Const(False, BOOL))
        if frame.label is not None:
            self.emitter.check(FALSE, jump(f"break {frame.label}"))
        else:
            self.emitter.emit(Break(self.emitter.span))
        return False

    def _exec_continue(self, node: ast.Continue) -> bool:
        frame = self.scope.loops[-1]
        if frame.label is not None:
            self.emitter.check(FALSE, jump(f"continue {frame.label}"))
        else:
            self.emitter.emit(Continue(self.emitter.span))
        return False

    def _exec_for(self, node: ast.For) -> bool:
        value = evaluate_run(self, node.iter)
        self.at(node)
        return self._for_value(node, value)

    def _for_value(self, node: ast.For, value: Value) -> bool:
        if isinstance(value, Tuple) and len(value.items) > MOST_COPIES:
            value = self.as_run(value)
        value = kept_for(self, value, node.body)
        if isinstance(value, Tuple):
            return _unrolled(self, node, value)
        if isinstance(value, Grid) or (isinstance(value, Range) and value.parallel):
            _stays_inside(self, node)
        names = _names(node.target, value)
        if isinstance(value, Range) and names and isinstance(_regular(self, value).step, Const):
            _for_ranges(self, node, (value,), names)
        elif isinstance(value, Grid):
            _for_grid(self, node, value, names)
        else:
            with self.running_through(node.iter):
                _for_items(self, node, value)
        return True

    @contextmanager
    def running_through(self, node: ast.expr) -> Iterator[None]:
        """The dicts and deques that an iteration looks at, unless it makes a list of them first."""
        call = node.func if isinstance(node, ast.Call) else None
        copied = isinstance(call, ast.Name) and call.id in ("list", "sorted", "tuple", "set")
        names = [] if copied else [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        values = list(map(self.scope.values.get, names))
        deques = {value.growing.length for value in values if isinstance(value, Records) and value.is_deque}
        before = self.run_through
        self.run_through = before | deques | {self.identity(value) for value in values if isinstance(value, Dict)}
        yield
        self.run_through = before

    def _computed_range(self, value: Range) -> Iterable:
        """range(lo, hi, step) with a step that only the run time knows."""
        emitter = self.emitter
        lo, hi, step = (emitter.snapshot(e, n) for e, n in ((value.lo, "lo"), (value.hi, "hi"), (value.step, "step")))
        up = Op("gt", (step, ZERO), BOOL)
        ahead = Op("floordiv", (Op("add", (Op("sub", (hi, lo), INT), Op("sub", (step, ONE), INT)), INT), step), INT)
        size = Op("sub", (ZERO, step), INT)
        behind = Op("floordiv", (Op("add", (Op("sub", (lo, hi), INT), Op("sub", (size, ONE), INT)), INT), size), INT)
        trips = emitter.snapshot(Op("maximum", (Op("select", (up, ahead, behind), INT), ZERO), INT), "trips")
        return Iterable(trips, lambda q: Scalar(Op("add", (lo, Op("mul", (step, q), INT)), INT)))


def _merge_types(builder: Building, name: str, node: ast.If, condition: Expr, turn: int, widened: set[str]) -> None:
    """A scalar of one type after one branch and of another after the other: remember which, for a return."""
    slot = builder.scope.slots[name]
    if slot.buffer is None or slot.buffer.rank or slot.tag is not None or slot.buffer.name in widened:
        return
    if slot.there is not None:
        return
    if not isinstance(condition, (Read, Var)):
        return
    sides: list[ScalarType] = []
    for body, types in ((node.body, slot.history[:turn]), (node.orelse, slot.history[turn:])):
        kinds = set(types) if name in surely_assigned(body) else {*types, slot.entry}
        kind = kinds.pop()
        if kinds or kind is None:
            return
        sides.append(kind)
    if sides[0] == sides[1]:
        return
    builder.widened.pop(slot.buffer.name, None)
    held = Read(slot.buffer.name, (), slot.buffer.type)
    note_mixed(builder, held, Mixed(condition, *(read_as(builder, slot, side) for side in sides)))
    builder.scope.values[name] = Scalar(held)


def merge(
    builder: Building,
    start: dict[str, Value],
    then: dict[str, Value],
    orelse: dict[str, Value],
    then_ends: bool,
    else_ends: bool,
    merged: set[str],
    node: ast.AST,
) -> None:
    """Names after an if: slots are in both; any other name keeps its value only if the branches agree."""
    result = dict(orelse if then_ends else then)
    if not then_ends and not else_ends:
        for name in merged:
            if name in then and name in orelse and not _same_place(then[name], orelse[name]):
                error = builder.unsupported(
                    node,
                    f"{name} is a different thing after each branch",
                    "give it one type",
                    then=then[name],
                    orelse=orelse[name],
                )
                raise apart(builder, builder.scope.slots[name].branch, error)
            if name not in result and name in orelse:
                result[name] = orelse[name]
        for name in set(result) - merged - set(builder.scope.slots):
            if name in start and result[name] is not start[name]:
                result.pop(name)  # assigned in a branch and dead afterwards
    builder.scope.values = result


def _live_around(builder: Building, node: ast.For | ast.While) -> set[str]:
    """Names live where the body begins or where the loop is left."""
    return set(builder.scope.liveness.live_at_head(node) | builder.scope.liveness.live_after(node))


def _settle(builder: Building, opened: list[str], body: list[ast.stmt], trips: Expr | None) -> None:
    """The Python type of what a loop leaves behind: that of the body if it has run (and sets the name each time),
    that of the value before if it has not.
    """
    surely = surely_assigned(body)
    for name in opened:
        slot = builder.scope.slots[name]
        if slot.buffer is None or slot.entry is None or slot.entry == slot.buffer.type or slot.tag is not None:
            continue
        form = None if trips is None else affine(trips)
        if name not in surely or form is None or slot.buffer.name in builder.widened:
            if not benign(builder, slot.entry, slot.buffer.type):
                builder.widened[slot.buffer.name] = slot.key
            continue
        if form.is_constant and form.constant > 0:
            continue
        held = Read(slot.buffer.name, (), slot.buffer.type)
        ran = Op("gt", (ix.expression(form), ZERO), BOOL)
        note_mixed(
            builder, held, Mixed(ran, read_as(builder, slot, slot.buffer.type), read_as(builder, slot, slot.entry))
        )
        builder.scope.values[name] = Scalar(held)


def _open_loop_slots(builder: Building, names: set[str], node: ast.AST, body: list[ast.stmt]) -> list[str]:
    swapped = _swapped_only(body, names)
    escape_together(builder, swapped)
    kept = []
    for name in sorted(swapped):
        value = builder.scope.values.get(name)
        if isinstance(value, Array) and value.view is not None and value.view.whole and name not in builder.scope.slots:
            _swap_slot(builder, name, value, node)
            kept.append(name)
    _flag_pair(builder, kept)
    return kept + builder.open_slots(names - set(kept), node)


def _flag_pair(builder: Building, names: list[str]) -> None:
    """An argument that a loop swaps with another array: a flag tells whether the names have changed places."""
    buffers = [slot.buffer for slot in (builder.scope.slots[name] for name in names) if slot.buffer is not None]
    pair = frozenset(buffer.name for buffer in buffers)
    if len(pair) == 2 and any(buffer.role is Role.PARAM for buffer in buffers) and pair not in builder.swap_flags:
        flag = builder.emitter.declare("swapped", BOOL)
        builder.emitter.assign((), flag.name, (), Const(False, BOOL))
        builder.swap_flags[pair] = flag.name


def _swap_slot(builder: Building, name: str, value: Array, node: ast.AST) -> None:
    assert value.view is not None
    buffer = builder.emitter.buffers[value.view.buffer]
    for other, held in builder.scope.values.items():
        if other != name and isinstance(held, Array) and held.view is not None and held.view.buffer == buffer.name:
            raise builder.unsupported(node, f"{name} and {other} share memory, and {name} is swapped in the loop")
    builder.swapped.add(buffer.name)
    builder.scope.slots[name] = Slot((hash((builder.scope.path, id(node))), name), buffer, swapped=True)


def _frame(builder: Building, node: ast.For | ast.While) -> LoopFrame:
    if not node.orelse or not _has_break(node.body):
        return LoopFrame()
    flag = builder.emitter.declare("completed", BOOL)
    builder.emitter.assign((), flag.name, (), Const(True, BOOL))
    return LoopFrame(flag.name)


def _loop_else(builder: Building, node: ast.For | ast.While, frame: LoopFrame) -> None:
    if not node.orelse:
        return
    if frame.completed is None:
        execute_all(builder, node.orelse)
        return
    if assigned(node.orelse) & builder.scope.liveness.live_after(node):
        opened = builder.open_slots(assigned(node.orelse) & builder.scope.liveness.live_after(node), node)
    else:
        opened = []
    with builder.emitter.capture() as block:
        execute_all(builder, node.orelse)
    builder.emitter.emit(If(Read(frame.completed, (), BOOL), tuple(block), (), builder.emitter.span))
    builder.close_slots(opened)


def _loop_body(
    builder: Building, body: list[ast.stmt], frame: LoopFrame, there: frozenset[str] | set[str] = EMPTY
) -> None:
    builder.scope.loops.append(frame)
    around = builder.loops_open
    if frame.label is None:
        builder.loops_open = (*around, object())
    unbound = set(builder.scope.unbound)
    builder.refresh()
    forget(builder, body)
    known = set(builder.scope.known)
    suppose(builder, set(there))
    execute_all(builder, body)
    builder.scope.known = known
    builder.scope.unbound = unbound
    builder.loops_open = around
    builder.scope.loops.pop()


def _after_loop(builder: Building, before: dict[str, Value], opened: list[str]) -> None:
    """After a loop, names are slots or what they were before it."""
    values = dict(before)
    for name, slot in builder.scope.slots.items():
        if name in builder.scope.values:
            values[name] = builder.scope.values[name]
        elif slot.parts is not None and slot.key in builder.emitter.decisions.texts:
            values[name] = slot_text(builder, slot)
        elif slot.there is not None and slot.last is not None:
            values[name] = slot.last
        elif slot.buffer is not None:  # set only on a path that leaves the loop
            made = arrays.of_buffer(slot.buffer) if slot.buffer.rank else None
            values[name] = made or Scalar(Read(slot.buffer.name, (), slot.buffer.type))
        elif slot.last is not None:
            values[name] = slot.last
    builder.scope.values = values
    builder.refresh()
    builder.close_slots(opened)


def _unrolled(builder: Building, node: ast.For, value: Tuple) -> bool:
    """A loop over a tuple: its body once for each item."""
    if not value.items and not node.orelse:
        return True
    if _has_break(node.body) or _has_continue(node.body) or node.orelse:

        def run(visit: Callable[[Value], None]) -> None:
            for item in value.items:
                visit(item)

        for_each(builder, node, run)
        return True
    for item in value.items:
        assign_target(builder, node.target, item, node)
        if not execute_all(builder, node.body):
            return False
    return True


def for_each(builder: Building, node: ast.For, run: Callable[[Callable[[Value], None]], None]) -> None:
    """A loop that has no loop of its own: `run` visits each item, and what leaves the body is a jump."""
    carried = (builder._assigned(node.body) | set(target_names(node.target))) & _live_around(builder, node)
    opened = _open_loop_slots(builder, carried, node, node.body)
    unset = {name for name in carried if name not in builder.scope.values}
    frame = _frame(builder, node)
    frame.label = builder.emitter.fresh("loop")
    span = builder.emitter.span
    before = dict(builder.scope.values)

    def visit(item: Value) -> None:
        with builder.emitter.capture() as inner:
            assign_target(builder, node.target, item, node)
            _loop_body(builder, node.body, frame)
        _stopping(builder, inner, f"continue {frame.label}")

    with builder.emitter.capture() as block:
        run(visit)
    builder.emitter.span = span
    _stopping(builder, block, f"break {frame.label}")
    _settle(builder, opened, node.body, None)
    _after_loop(builder, before, opened)
    builder.scope.unbound |= {name for name in unset if not name.startswith(SYNTHETIC)}
    _loop_else(builder, node, frame)


def _stopping(builder: Building, block: Sequence[Node], label: str) -> None:
    """Emit a block that ends where a jump to the label is."""
    wanted = jump(label)
    for node in Interrupts(builder.emitter, lambda check: check.exception == wanted).run(tuple(block)):
        builder.emitter.emit(node)


def _stays_inside(builder: Building, node: ast.For) -> None:
    """Iterations that run at once cannot be ended by one of them."""
    leaves: list[ast.stmt] = [n for n in _own_statements(node.body) if isinstance(n, ast.Break)]
    leaves += _returns(node.body)
    if leaves:
        word = "break" if isinstance(leaves[0], ast.Break) else "return"
        span = builder.scope.source.span(leaves[0])
        remedy = "use range, or note in an array which iteration has found what is looked for"
        raise ParallelError(span, f"`{word}` leaves a loop whose iterations are declared parallel", remedy)


def _for_grid(builder: Building, node: ast.For, value: Grid, names: tuple[str, ...]) -> None:
    ranges = tuple(_regular(builder, part) for part in value.ranges)
    if not names or not all(isinstance(part.step, Const) for part in ranges):
        raise builder.unsupported(node, "weft.map over this", "for i, j in weft.map[0:n, 0:m]: with constant steps")
    _for_ranges(builder, node, ranges, names)


def _for_ranges(builder: Building, node: ast.For, ranges: tuple[Range, ...], names: tuple[str, ...]) -> None:
    """One loop for each range, the last innermost; what follows them is that of a single one."""
    emitter = builder.emitter
    span = emitter.span
    carried = (builder._assigned(node.body) | {*names}) & _live_around(builder, node)
    after = builder.scope.liveness.live_after(node)
    slots = {name for name in names if _keeps_variable(builder, name, node, carried, len(names) > 1)}
    lasts = {n: _last(builder, part) for n, part in zip(names, ranges) if n in after and n not in slots}
    opened = _open_loop_slots(builder, carried - ({*names} - slots), node, node.body)
    unset = {n for n in carried - ({*names} - slots) if n not in builder.scope.values}
    frame = _frame(builder, node)
    before = dict(builder.scope.values)
    steps = [int(part.step.value.real) for part in ranges if isinstance(part.step, Const)]
    dims = [Dim(emitter.fresh(n), part.lo, part.hi, s) for n, part, s in zip(names, ranges, steps)]
    with emitter.capture() as block, ExitStack() as loops:
        for name, dim in zip(names, dims):
            loops.enter_context(emitter.inside(dim))
            if name in slots:
                builder.bind(name, Scalar(Var(dim.var)))
            else:
                builder.scope.values[name] = Scalar(Var(dim.var))
                builder.scope.unbound.discard(name)
        _loop_body(builder, node.body, frame)
    emitter.span = span
    kind = LoopKind.ASSERTED if ranges[0].parallel or _declared(node) else LoopKind.SEQUENTIAL
    body: Block = tuple(block)
    fixed = [_fixed(builder, dim, body) for dim in dims]
    for dim in reversed(fixed):
        body = (Loop(dim, body, kind, span=span),)
    emitter.emit(body[0])
    gaps = [ix.sub(part.hi, part.lo) if s > 0 else ix.sub(part.lo, part.hi) for part, s in zip(ranges, steps)]
    _settle(builder, opened, node.body, gaps[0] if len(gaps) == 1 else None)
    _after_loop(builder, before, opened)
    for part in ranges:
        _unset_after(builder, unset, part, node)
    for name, last in lasts.items():
        _bind_last(builder, name, ranges[names.index(name)], last, before.get(name), node)
    _loop_else(builder, node, frame)


def _keeps_variable(builder: Building, name: str, node: ast.For, carried: set[str], nested: bool) -> bool:
    """Whether the variable of a loop needs memory: what the body does to it, or leaves in it, matters."""
    after = name in builder.scope.liveness.live_after(node)
    rebound = name in assigned(node.body)
    leaves = rebound or nested or _has_break(node.body)
    return (after and leaves) or (rebound and name in carried) or name in builder.scope.slots


def _must_have_run(builder: Building, ran: Expr, name: str, node: ast.For) -> bool:
    """A variable is set by the trips of a loop, and there may be none.  False if it may have no value."""
    if builder.scope.liveness.surely_read_after(node, name):
        builder.emitter.check(ran, "UnboundLocalError", _unbound_text(name))
        return True
    if may_start_unset(builder, builder.scope, name):
        builder.scope.unbound.add(name)
        return False
    builder.emitter.rarely_fails(ran, f"{name} may be unset behind a loop without a trip")
    return True


def _regular(builder: Building, value: Range) -> Range:
    """Bounds that the loop cannot change, and a step known now if it can be."""
    step = value.step
    if not isinstance(step, Const):
        form = affine(step)
        if form is not None:
            for symbol, _ in form.terms:
                if symbol in builder.emitter.symbols:
                    raise NeedConstant(symbol, builder.emitter.span)
    else:
        _ends_in_time(builder, value.hi, int(step.value.real))
    return value


def _ends_in_time(builder: Building, hi: Expr, step: int) -> None:
    """The step behind the last one must not leave 64 bits; sizes are far from that."""
    if abs(step) < 2 or affine(hi) is not None:
        return
    limit = integer(2**63 - 1 - step if step > 0 else -(2**63) - step)
    builder.emitter.rarely_fails(Op("le" if step > 0 else "ge", (hi, limit), BOOL), "a range near the end of 64 bits")


def _fixed(builder: Building, dim: Dim, block: Block) -> Dim:
    """Bounds evaluated once: those that the body could change are kept in scalars."""
    reads = walk.domain_buffers((dim,))
    if not reads or not reads & written_by(builder, block):
        return dim
    return replace(dim, lo=builder.emitter.snapshot(dim.lo, "lo"), hi=builder.emitter.snapshot(dim.hi, "hi"))


def _last(builder: Building, value: Range) -> Expr:
    assert isinstance(value.step, Const)
    step = int(value.step.value.real)
    if step == 1:
        return ix.sub(value.hi, ONE)
    if step == -1:
        return ix.add(value.hi, ONE)
    trips = builder.trips(value)
    return ix.add(value.lo, ix.mul(integer(step), ix.sub(trips, ONE)))


def _bind_last(builder: Building, name: str, value: Range, last: Expr, old: Value | None, node: ast.For) -> None:
    """The loop variable after the loop: its last value, or what it was if the loop did not run."""
    gap = _gap(value)
    if builder.emitter.assure(ix.sub(gap, ONE), "UnboundLocalError"):
        builder.bind(name, Scalar(last))
        return
    ran = Op("gt", (gap, ZERO), BOOL)
    if isinstance(old, Scalar) and old.type == INT:
        builder.bind(name, Scalar(Op("select", (ran, last, old.expr), INT)))
        return
    if is_none(old):
        builder.bind(name, Maybe(ran, Scalar(last)))
    elif isinstance(old, Maybe) and isinstance(old.held, Scalar) and old.held.type == INT:
        held = Op("select", (ran, last, old.held.expr), INT)
        builder.bind(name, Maybe(Op("or", (ran, old.there), BOOL), Scalar(held)))
    elif old is not None:
        builder.emitter.rarely_fails(ran, f"{name}, which may still be {describe(old)} behind the loop")
        builder.bind(name, Scalar(last))
    elif _must_have_run(builder, ran, name, node):
        builder.bind(name, Scalar(last))
    else:
        builder.scope.values.pop(name, None)


def _unset_after(builder: Building, unset: set[str], value: Range, node: ast.For) -> None:
    """Names first bound inside the loop and used after it: the loop must have run, and have bound them."""
    sure = set_at_exit(node.body, only_breaks=False) | set(target_names(node.target))
    for name in sorted(unset):
        if name.startswith(SYNTHETIC):
            continue
        if name not in sure:
            builder.scope.unbound.add(name)
            continue
        gap = _gap(value)
        if not builder.emitter.assure(ix.sub(gap, ONE), "UnboundLocalError"):
            _must_have_run(builder, Op("gt", (gap, ZERO), BOOL), name, node)


def _for_items(builder: Building, node: ast.For, value: Value) -> None:
    """A loop over anything else: trips 0, 1, ... and the item of each."""
    emitter = builder.emitter
    span = emitter.span
    items = (
        builder._computed_range(value)
        if isinstance(value, Range) and not isinstance(value.step, Const)
        else builder.iteration(value, node)
    )
    trips = emitter.stable(items.trips)
    targets = set(target_names(node.target))
    carried = (builder._assigned(node.body) | targets) & _live_around(builder, node)
    opened = _open_loop_slots(builder, carried, node, node.body)
    unset = {n for n in carried if n not in builder.scope.values}
    frame = _frame(builder, node)
    before = dict(builder.scope.values)
    if (builder.scope.path, id(node)) in emitter.decisions.watched:
        _watch_length(builder, node, items, frame)
    else:
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim):
            assign_target(builder, node.target, items.item(Var(dim.var)), node)
            _loop_body(builder, node.body, frame)
        emitter.span = span
        watch(builder, items, block, node)
        parallel = _declared(node) or (isinstance(value, Range) and value.parallel)
        kind = LoopKind.ASSERTED if parallel else LoopKind.SEQUENTIAL
        emitter.emit(Loop(dim, tuple(block), kind, span=span))
    _settle(builder, opened, node.body, trips)
    _after_loop(builder, before, opened)
    _unset_after(builder, unset, Range(ZERO, trips, ONE), node)
    _loop_else(builder, node, frame)


def _watch_length(builder: Building, node: ast.For, items: Iterable, frame: LoopFrame) -> None:
    """A loop over a list whose length may change on the way: it ends where the list then ends, as in Python."""
    emitter = builder.emitter
    span = emitter.span
    position = variable(emitter, "position", ZERO)
    with repeat(emitter, still_there(items, position.value, span)):
        here = emitter.snapshot(Op("add", (position.value, ZERO), INT), "here")
        position.set(Op("add", (here, ONE), INT))
        assign_target(builder, node.target, items.item(here), node)
        _loop_body(builder, node.body, frame)
        emitter.span = span


def watch(builder: Building, items: Iterable, body: Sequence[Node], node: ast.AST) -> None:
    """A loop whose body changes how long it runs looks at that before each trip: the build starts again."""
    if (walk.expr_buffers(items.trips) | items.watches) & written_by(builder, body):
        rebound = _rebound_inside(node)
        if rebound is not None:  # the name's new container is kept where the old one is, through which the loop runs
            reason = f"a loop through '{rebound}' that binds this name again"
            raise builder.unsupported(node, reason, "give what the loop makes another name")
        builder.emitter.decisions.watched.add((builder.scope.path, id(node)))
        raise Restart


def _rebound_inside(node: ast.AST) -> str | None:
    """A name that a loop runs through and that its body gives another value (`x += y` changes a list in place)."""
    if not isinstance(node, ast.For):
        return None
    through = {part.id for part in ast.walk(node.iter) if isinstance(part, ast.Name)}
    plain = [part for top in node.body for part in ast.walk(top) if isinstance(part, (ast.Assign, ast.NamedExpr))]
    return min(through & assigned(plain), default=None)


def _names(target: ast.expr, value: Value) -> tuple[str, ...]:
    """The variables of a loop over a range or a grid, one for each range; () if the target is anything else."""
    if isinstance(target, ast.Name):
        return (target.id,) if isinstance(value, Range) else ()
    if not isinstance(value, Grid) or not isinstance(target, ast.Tuple) or len(target.elts) != len(value.ranges):
        return ()
    names = tuple(part.id for part in target.elts if isinstance(part, ast.Name))
    return names if len({*names}) == len(target.elts) else ()


def still_there(items: Iterable, position: Expr, span: Span) -> Expr:
    """Whether an iteration has an item at a position as things are now."""
    inside = Op("lt", (position, items.trips), BOOL)
    if items.alive is None and items.watches:
        raise Unsupported(span, "a loop that changes what its iterator has yet to give", "run through a list of it")
    return inside if items.alive is None else arith.conjunction(inside, items.alive(position))


def _gap(value: Range) -> Expr:
    """How far a range reaches: there is a trip if that is positive."""
    assert isinstance(value.step, Const)
    return ix.sub(value.hi, value.lo) if int(value.step.value.real) > 0 else ix.sub(value.lo, value.hi)


def _unbound_text(name: str) -> str:
    return f"cannot access local variable '{name}' where it is not associated with a value"


def _same_place(left: Value, right: Value) -> bool:
    if isinstance(left, Array) and isinstance(right, Array) and left.view is not None and right.view is not None:
        return left.view.buffer == right.view.buffer
    if isinstance(left, Maybe) and isinstance(right, Maybe):
        return left.there == right.there and _same_place(left.held, right.held)
    if isinstance(left, Struct) and isinstance(right, Struct) and left.row is not None:
        return left.kind is right.kind and left.row == right.row
    return left == right


def _own_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a loop body that belong to this loop: those of inner loops are left out."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, ast.If):
            found += _own_statements(node.body) + _own_statements(node.orelse)
        elif isinstance(node, (ast.For, ast.While)):
            found += _own_statements(node.orelse)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody, *(handler.body for handler in node.handlers)):
                found += _own_statements(part)
    return found


def _returns(body: Sequence[ast.AST]) -> list[ast.stmt]:
    """The returns of the function that a block is in: not those of functions defined in the block."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found += _returns(list(ast.iter_child_nodes(node)))
    return found


def _has_break(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Break) for node in _own_statements(body))


def _has_continue(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Continue) for node in _own_statements(body))


def _swapped_only(body: list[ast.stmt], names: set[str]) -> set[str]:
    """Names whose only assignments in a loop body are permutations such as `a, b = b, a`."""
    permuted: set[str] = set()
    otherwise: set[str] = set()
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    left = [n.id for n in target.elts if isinstance(n, ast.Name)]
                    right = [n.id for n in value.elts if isinstance(n, ast.Name)]
                    if len(left) == len(target.elts) and sorted(left) == sorted(right):
                        permuted |= set(left)
                        continue
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                otherwise |= {n for t in targets for n in target_names(t)}
    return (permuted - otherwise) & names


def _declared(node: ast.For) -> bool:
    """Whether a comment says that the iterations of a loop need nothing of each other."""
    return getattr(node, PARALLEL, False) is True
