"""Statements of the user's Python.  In: `ast` statements; out: nodes emitted into the program.

`for` over a range becomes a Loop with the same bounds; NumPy assignments become statements with domains.  Variables that a
loop carries or branches merge are slots (see `scope`); everything else is bound.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace

from weft.frontend import arith, arrays
from weft.frontend.core import SYNTHETIC, arrays_in
from weft.frontend.emit import NeedConstant
from weft.frontend.expressions import BINARY, Expressions
from weft.frontend.liveness import assigned, element_written, target_names
from weft.frontend.scope import LoopFrame
from weft.frontend.values import Array, Closure, Instance, Iterable, Mask, Object, Range, Scalar, Slice, Tuple, Value
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import (
    ArrayOut,
    Block,
    Break,
    ConstOut,
    Continue,
    If,
    Loop,
    NoneOut,
    Out,
    Rebind,
    Return,
    Role,
    ScalarOut,
    Stmt,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.types import BOOL, INT


class Statements(Expressions):
    """`execute` and its cases."""

    def execute_all(self, body: list[ast.stmt]) -> bool:
        """The statements of a block; False if control never reaches its end."""
        for node in body:
            if not self.execute(node):
                return False
        return True

    def execute(self, node: ast.stmt) -> bool:
        method = getattr(self, f"_exec_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported(node, f"the statement {type(node).__name__.lower()}", "move it out of the compiled function")
        self.at(node)
        return method(node) is not False

    # --- simple statements ------------------------------------------------------------------------------------------

    def _exec_pass(self, node: ast.Pass) -> None:
        pass

    def _exec_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _exec_functiondef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.unsupported(node, "a decorated nested function")
        self.scope.values[node.name] = Closure(node, self.scope.source.file)

    def _exec_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise self.unsupported(node, "del of an element")
            self.scope.values.pop(target.id, None)

    def _exec_assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and self._permutation(node.targets[0], node.value, node):
            return
        value = self.evaluate(node.value)
        for target in node.targets:
            self.at(node)
            self.assign_target(target, value, node)

    def _exec_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign_target(node.target, self.evaluate(node.value), node)

    def assign_target(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            self._store_element(target, value, node)
        else:
            raise self.unsupported(target, "an assignment to an attribute", "return the value instead")

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        if isinstance(value, Array) and value.rank >= 1:
            parts = arrays.constant_shape(value.shape[:1])
            if parts is None:
                self.emitter.same_size(value.shape[0], integer(len(target.elts)), "ValueError", "not enough values to unpack")
            row = value if value.view is not None else arrays.materialise(value, self.emitter)
            value = Tuple(tuple(self.subscript(row, Scalar(integer(k)), node) for k in range(len(target.elts))))
        if not isinstance(value, Tuple):
            raise self.unsupported(node, "unpacking of this value", value=value)
        if any(isinstance(item, ast.Starred) for item in target.elts):
            raise self.unsupported(node, "a starred target")
        if len(value.items) != len(target.elts):
            raise self.unsupported(node, f"ValueError: {len(value.items)} values for {len(target.elts)} targets")
        # All values are taken before any name changes: `a, b = b, a + b`.
        taken = [self._taken(item) for item in value.items]
        for item, part in zip(target.elts, taken):
            self.assign_target(item, part, node)

    def _taken(self, value: Value) -> Value:
        if isinstance(value, Scalar):
            return Scalar(self.emitter.snapshot(value.expr))
        if isinstance(value, Array) and value.view is None:
            return arrays.materialise(value, self.emitter)
        if isinstance(value, Array) and self._is_slot_array(value):
            return arrays.materialise(value, self.emitter)
        return value

    def _is_slot_array(self, value: Array) -> bool:
        buffer = value.view.buffer if value.view else None
        return any(slot.buffer is not None and slot.buffer.name == buffer for slot in self.scope.slots.values())

    def _permutation(self, target: ast.expr, value: ast.expr, node: ast.Assign) -> bool:
        """`a, b = b, a` on arrays: the names change places, the memory stays."""
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
            return False
        names = [item.id for item in target.elts if isinstance(item, ast.Name)]
        sources = [item.id for item in value.elts if isinstance(item, ast.Name)]
        if len(names) != len(target.elts) or sorted(names) != sorted(sources) or len(set(names)) != len(names):
            return False
        values = [self.scope.values.get(name) for name in sources]
        slots = [self.scope.slots.get(name) for name in names]
        if not all(isinstance(v, Array) and v.view is not None and v.view.whole for v in values):
            return False
        if not all(slot is not None and slot.swapped for slot in slots):
            return False
        buffers = [v.view.buffer for v in values if isinstance(v, Array) and v.view is not None]
        targets = [t.view.buffer for t in (self.scope.values[name] for name in names) if isinstance(t, Array) and t.view]
        first = self.emitter.buffers[targets[0]]
        for name in buffers:
            other = self.emitter.buffers[name]
            if other.type != first.type or other.rank != first.rank or other.layout is not first.layout:
                raise self.unsupported(node, "a swap of arrays of different type, rank or layout")
            for a, b in zip(first.shape, other.shape):
                self.emitter.same_size(a, b, "RuntimeError", "")
        self.emitter.emit(Rebind(tuple(targets), tuple(buffers), self.emitter.span))
        flag = self.swap_flags.get(frozenset(targets))
        if flag is not None:
            self.emitter.assign((), flag, (), arith.negate(Read(flag, (), BOOL)))
        self.emitter.mutations += 1
        return True

    def _store_element(self, target: ast.Subscript, value: Value, node: ast.AST) -> None:
        before = self.emitter.mutations
        base, key = self.evaluate_all([target.value, target.slice])
        if self.emitter.mutations != before:
            raise self.unsupported(target, "a target whose evaluation changes arrays")
        self.at(node)
        if not isinstance(base, Array):
            raise self.unsupported(target, "an assignment to an element of this", base=base)
        self.store(base, key, value, target)

    def store(self, base: Array, key: Value, value: Value, node: ast.AST) -> None:
        """base[key] = value"""
        emitter = self.emitter
        if base.view is None:
            raise self.unsupported(node, "an assignment to an element of a temporary")
        if isinstance(value, Tuple):
            value = self.array_of(value, node)
        if isinstance(value, Mask):
            raise self.unsupported(node, "the elements chosen by a mask as a value")
        if base.is_list and isinstance(key, Slice):
            raise self.unsupported(node, "an assignment to a slice of a list")
        place = self.subscript(base, key, node, store=True)
        if isinstance(place, Mask):
            self._store_masked(place, value, node)
        elif isinstance(place, Scalar):
            self._store_scalar(base, place, value, node)
        elif isinstance(place, Array) and _data_dependent(place):
            self._scatter(place, value, node)
        elif isinstance(place, Array) and base.is_list:
            raise self.unsupported(node, "an assignment to a row of a list of lists", "assign its elements")
        else:
            assert isinstance(place, Array)
            arrays.store(place, value, emitter)

    def _store_scalar(self, base: Array, place: Scalar, value: Value, node: ast.AST) -> None:
        expr = place.expr
        assert isinstance(expr, Read)
        if isinstance(value, Array) and value.rank == 0:
            value = Scalar(value.element(()))
        if not isinstance(value, Scalar):
            raise self.unsupported(node, "an array assigned to one element", value=value)
        converted = arrays.storable(value.expr, base.type, self.emitter, base.is_list)
        self.emitter.assign((), expr.buffer, expr.index, converted)
        self.emitter.mutations += 1

    def _store_masked(self, place: Mask, value: Value, node: ast.AST) -> None:
        """array[mask] = value --> array[i] = value if mask[i] else array[i]"""
        if not isinstance(value, Scalar) and not (isinstance(value, Array) and value.rank == 0):
            raise self.unsupported(node, "an array assigned to the elements chosen by a mask", "use np.where")
        source = arrays.as_array(value, self.emitter)
        array, condition = place.array, place.condition
        assert array.view is not None
        dims, at = self.emitter.domain(array.shape)
        new = arrays.storable(source.element(()), array.type, self.emitter)
        keep = array.element(at)
        test = condition.element(at[: condition.rank])
        chosen = Op("select", (arith.condition(test), new, keep), array.type)
        self.emitter.assign(dims, array.view.buffer, array.view.index(at), chosen)
        self.emitter.mutations += 1

    def _scatter(self, place: Array, value: Value, node: ast.AST) -> None:
        """array[indices] = value, in order: the last of several writes to one element stays."""
        emitter = self.emitter
        source = arrays.as_array(value, emitter)
        assert place.view is not None
        shape = arrays.broadcast_shapes([place.shape, source.shape], emitter)
        if len(shape) != place.rank:
            raise self.unsupported(node, "ValueError: the value does not fit the shape of the indexed elements")
        source = arrays.broadcast_to(source, shape)
        if source.cost or place.view.buffer in walk.expr_buffers(source.element(tuple(ZERO for _ in shape))):
            source = arrays.materialise(source, emitter)
        dims, at = emitter.domain(shape)
        element = arrays.storable(source.element(at), place.type, emitter)
        node_out: Block = (Stmt((), place.view.buffer, place.view.index(at), element, None, emitter.span),)
        for dim in reversed(dims):
            node_out = (Loop(dim, node_out, span=emitter.span),)
        emitter.emit(node_out[0])
        emitter.mutations += 1

    def array_of(self, value: Tuple, node: ast.AST) -> Array:
        raise NotImplementedError

    def _exec_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._augment_name(node, target)
        elif isinstance(target, ast.Subscript):
            self._augment_element(node, target)
        else:
            raise self.unsupported(node, "an augmented assignment to an attribute")

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        load = ast.copy_location(ast.Name(id=target.id, ctx=ast.Load()), target)
        current = self.evaluate(load)
        if isinstance(current, Array) and not current.is_list and not isinstance(node.op, ast.MatMult):
            value = self.evaluate(node.value)
            self.at(node)
            if not isinstance(value, (Scalar, Array)):
                raise self.unsupported(node, "an update in place by this", value=value)
            if isinstance(value, Scalar):
                arrays.weak_int(value.expr, current.type, self.emitter)
            arrays.update(current, BINARY[type(node.op)], value, self.emitter)
            return
        operation = ast.copy_location(ast.BinOp(left=load, op=node.op, right=node.value), node)
        self.bind(target.id, self.evaluate(operation))

    def _augment_element(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        base, key = self.evaluate_all([target.value, target.slice])
        before = self.emitter.mutations
        value = self.evaluate(node.value)
        self.at(node)
        if self.emitter.mutations != before:
            raise self.unsupported(node, "an update in place whose value changes arrays", "assign the value to a name first")
        if not isinstance(base, Array) or base.view is None:
            raise self.unsupported(node, "an update in place of this", base=base)
        if isinstance(node.op, ast.MatMult):
            raise self.unsupported(node, "@= on elements")
        place = self.subscript(base, key, node, store=True)
        op = BINARY[type(node.op)]
        if isinstance(place, Scalar):
            if not isinstance(value, Scalar):
                raise self.unsupported(node, "an array added to one element", value=value)
            self._store_scalar(base, place, self.scalar_binary(op, place, value), node)
        elif isinstance(place, Mask):
            self._update_masked(place, op, value, node)
        elif isinstance(place, Array) and _data_dependent(place):
            copied = replace(place, view=None, cost=1)
            result = arrays.apply(op, [copied, value], self.emitter)
            assert isinstance(result, Array)
            cast_to = base.type
            stored = Array(result.shape, cast_to, lambda at: arith.cast(result.element(at), cast_to), cost=result.cost)
            self._scatter(place, stored, node)
        else:
            assert isinstance(place, Array)
            if isinstance(value, Scalar):
                arrays.weak_int(value.expr, place.type, self.emitter)
            arrays.update(place, op, value, self.emitter)

    def _update_masked(self, place: Mask, op: str, value: Value, node: ast.AST) -> None:
        if isinstance(value, Mask):
            if not _same_condition(value.condition, place.condition, self):
                raise self.unsupported(node, "elements chosen by two different masks", "use np.where")
            value = value.array
        elif not isinstance(value, Scalar):
            raise self.unsupported(node, "an array combined with the elements chosen by a mask", "use np.where", value=value)
        result = arrays.apply(op, [place.array, value], self.emitter)
        assert isinstance(result, Array) and place.array.view is not None
        array, condition = place.array, place.condition
        dims, at = self.emitter.domain(array.shape)
        new = arrays.storable(result.element(at), array.type, self.emitter)
        test = arith.condition(condition.element(at[: condition.rank]))
        chosen = Op("select", (test, new, array.element(at)), array.type)
        assert array.view is not None
        self.emitter.assign(dims, array.view.buffer, array.view.index(at), chosen)
        self.emitter.mutations += 1

    def _exec_assert(self, node: ast.Assert) -> None:
        with self.emitter.capture() as block:
            test = self.truth(self.condition_value(node.test), node)
        for item in block:
            self.emitter.emit(item)
        message = _literal_text(node.msg) if node.msg is not None else ""
        if message is None:
            raise self.unsupported(node, "an assert whose message is computed", "make the message a literal string")
        if isinstance(test, bool):
            if not test:
                self.emitter.check(Const(False, BOOL), "AssertionError", message)
            return
        self.emitter.check(arith.condition(test.expr), "AssertionError", message)

    def _exec_raise(self, node: ast.Raise) -> bool:
        exc = node.exc
        name_node = exc.func if isinstance(exc, ast.Call) else exc
        arguments = exc.args if isinstance(exc, ast.Call) else []
        message = "" if not arguments else _literal_text(arguments[0])
        if not isinstance(name_node, ast.Name) or message is None or len(arguments) > 1 or node.cause is not None:
            raise self.unsupported(node, "a raise of a computed exception", "raise a built-in exception with a literal message")
        kind = getattr(builtins, name_node.id, None)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise self.unsupported(node, f"a raise of {name_node.id}", "raise a built-in exception")
        self.emitter.check(Const(False, BOOL), name_node.id, message)
        return False

    # --- results ----------------------------------------------------------------------------------------------------

    def _exec_return(self, node: ast.Return) -> bool:
        value: Value = Object(None) if node.value is None else self.evaluate(node.value)
        self.at(node)
        self.finish(value, node)
        return False

    def finish(self, value: Value, node: ast.AST) -> None:
        """Return `value` to the Python caller."""
        exchange = self._exchanged(value)
        if exchange is None:
            self._return(self.out(value, node))
            return
        # The names of two arguments may have changed places: put them back, and return the object that each denotes.
        first, second, flag = exchange
        with self.emitter.capture() as block:
            self.emitter.emit(Rebind((first, second), (second, first), self.emitter.span))
            self._return(_with_buffers(self.out(value, node), {first: second, second: first}))
        self.emitter.emit(If(Read(flag, (), BOOL), tuple(block), (), self.emitter.span))
        self._return(self.out(value, node))

    def _return(self, out: Out) -> None:
        results = self.emitter.results
        if out not in results:
            results.append(out)
        self.emitter.emit(Return(results.index(out), self.emitter.span))

    def _exchanged(self, value: Value) -> tuple[str, str, str] | None:
        """Two arguments that were swapped in a loop, if the value returned refers to one, and the flag that tells."""
        named = {array.view.buffer for array in arrays_in(value) if array.view is not None}
        for pair, flag in self.swap_flags.items():
            if pair & named:
                first, second = sorted(pair)
                return first, second, flag
        return None

    swap_flags: dict[frozenset[str], str]

    def out(self, value: Value, node: ast.AST) -> Out:
        if isinstance(value, Object):
            if value.value is None:
                return NoneOut()
            if isinstance(value.value, (str, bytes)):
                return ConstOut(repr(value.value))
            raise self.unsupported(node, f"the return of {value.value!r}")
        if isinstance(value, Scalar):
            buffer = self.emitter.declare("result", value.type)
            self.emitter.assign((), buffer.name, (), value.expr)
            return ScalarOut(buffer.name)
        if isinstance(value, Tuple):
            return TupleOut(tuple(self.out(item, node) for item in value.items), value.is_list)
        if isinstance(value, Array):
            return self._out_array(value, node)
        if isinstance(value, Instance) and not value.path:
            raise self.unsupported(node, "the return of an object")
        raise self.unsupported(node, "the return of this", value=value)

    def _out_array(self, value: Array, node: ast.AST) -> Out:
        emitter = self.emitter
        if value.view is None:
            value = arrays.materialise(value, emitter, "result")
        view = value.view
        assert view is not None
        buffer = emitter.buffers[view.buffer]
        if buffer.role is Role.LOCAL:
            emitter.buffers[buffer.name] = replace(buffer, role=Role.RESULT)
        if buffer.role is Role.PARAM and buffer.name in self.swapped and not self._flagged(buffer.name):
            raise self.unsupported(node, "the return of an argument that was swapped with another array", "return a copy")
        if view.whole:
            return ArrayOut(buffer.name, as_list=value.is_list and buffer.role is not Role.PARAM)
        if value.is_list:
            if buffer.role is Role.PARAM:
                raise self.unsupported(node, "the return of a part of a list argument")
            return self._out_array(arrays.materialise(value, emitter, "result"), node)
        dims, at = emitter.domain(value.shape)
        return ViewOut(buffer.name, dims, view.index(at))

    swapped: set[str]

    def _flagged(self, buffer: str) -> bool:
        return any(buffer in pair for pair in self.swap_flags)

    # --- branches ---------------------------------------------------------------------------------------------------

    def _exec_if(self, node: ast.If) -> bool:
        test = self.truth(self.condition_value(node.test), node)
        if isinstance(test, bool):
            return self.execute_all(node.body if test else node.orelse)
        condition = arith.condition(test.expr)
        span = self.emitter.span
        live = self.scope.liveness.live_after(node)
        merged = {n for n in assigned([*node.body, *node.orelse]) & live if not isinstance(self.scope.values.get(n), Closure)}
        opened = self.open_slots(merged, node, element_written([*node.body, *node.orelse]))
        unset = {name for name in merged if name not in self.scope.values}
        start = dict(self.scope.values)
        with self.emitter.capture() as then_block:
            then_ends = not self.execute_all(node.body)
        then_values, self.scope.values = self.scope.values, dict(start)
        with self.emitter.capture() as else_block:
            else_ends = not self.execute_all(node.orelse)
        else_values = self.scope.values
        self.emitter.emit(If(condition, tuple(then_block), tuple(else_block), span))
        self._merge(start, then_values, else_values, then_ends, else_ends, merged, node)
        for name in unset:
            missing = (name not in then_values and not then_ends) or (name not in else_values and not else_ends)
            if missing and not name.startswith(SYNTHETIC):
                self.scope.unbound.add(name)
        self.close_slots(opened)
        return not (then_ends and else_ends)

    def _merge(
        self,
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
                    raise self.unsupported(
                        node, f"{name} is a different thing after each branch", "give it one type", then=then[name], orelse=orelse[name]
                    )
                if name not in result and name in orelse:
                    result[name] = orelse[name]
            for name in set(result) - merged:
                if name in start and result[name] is not start[name]:
                    result.pop(name)  # assigned in a branch and dead afterwards
        self.scope.values = result

    # --- loops ------------------------------------------------------------------------------------------------------

    def _exec_while(self, node: ast.While) -> bool:
        span = self.at(node)
        body_names = assigned([*node.body, node.test])
        carried = body_names & self.scope.liveness.live_at_head(node)
        opened = self._open_loop_slots(carried, node, node.body)
        unset = {n for n in carried if n not in self.scope.values}
        frame = self._frame(node)
        before = dict(self.scope.values)
        with self.emitter.capture() as prelude:
            test = self.truth(self.condition_value(node.test), node)
        condition: Expr = Const(test, BOOL) if isinstance(test, bool) else arith.condition(test.expr)
        forever = isinstance(test, bool) and test
        with self.emitter.capture() as block:
            self._loop_body(node.body, frame)
        self.emitter.span = span
        self.emitter.emit(While(tuple(prelude), condition, tuple(block), span))
        self._after_loop(before, opened)
        for name in unset:
            if not forever and not name.startswith(SYNTHETIC):
                self.scope.unbound.add(name)
        self._loop_else(node, frame)
        return not (forever and not _has_break(node.body))

    def _open_loop_slots(self, names: set[str], node: ast.AST, body: list[ast.stmt]) -> list[str]:
        swapped = _swapped_only(body, names)
        kept = []
        for name in sorted(swapped):
            value = self.scope.values.get(name)
            if isinstance(value, Array) and value.view is not None and value.view.whole and name not in self.scope.slots:
                self._swap_slot(name, value, node)
                kept.append(name)
        self._flag_pair(kept)
        return kept + self.open_slots(names - set(kept), node, element_written(body))

    def _flag_pair(self, names: list[str]) -> None:
        """Two arguments that a loop swaps: a flag tells whether their names have changed places."""
        buffers = [slot.buffer for slot in (self.scope.slots[name] for name in names) if slot.buffer is not None]
        pair = frozenset(buffer.name for buffer in buffers)
        if len(pair) == 2 and all(buffer.role is Role.PARAM for buffer in buffers) and pair not in self.swap_flags:
            flag = self.emitter.declare("swapped", BOOL)
            self.emitter.assign((), flag.name, (), Const(False, BOOL))
            self.swap_flags[pair] = flag.name

    def _swap_slot(self, name: str, value: Array, node: ast.AST) -> None:
        from weft.frontend.scope import Slot

        assert value.view is not None
        buffer = self.emitter.buffers[value.view.buffer]
        for other, held in self.scope.values.items():
            if other != name and isinstance(held, Array) and held.view is not None and held.view.buffer == buffer.name:
                raise self.unsupported(node, f"{name} and {other} share memory, and {name} is swapped in the loop")
        self.swapped.add(buffer.name)
        self.scope.slots[name] = Slot((hash((self.scope.path, id(node))), name), buffer, swapped=True)

    def _frame(self, node: ast.For | ast.While) -> LoopFrame:
        if not node.orelse or not _has_break(node.body):
            return LoopFrame()
        flag = self.emitter.declare("completed", BOOL)
        self.emitter.assign((), flag.name, (), Const(True, BOOL))
        return LoopFrame(flag.name)

    def _loop_else(self, node: ast.For | ast.While, frame: LoopFrame) -> None:
        if not node.orelse:
            return
        if frame.completed is None:
            self.execute_all(node.orelse)
            return
        if assigned(node.orelse) & self.scope.liveness.live_after(node):
            opened = self.open_slots(assigned(node.orelse) & self.scope.liveness.live_after(node), node)
        else:
            opened = []
        with self.emitter.capture() as block:
            self.execute_all(node.orelse)
        self.emitter.emit(If(Read(frame.completed, (), BOOL), tuple(block), (), self.emitter.span))
        self.close_slots(opened)

    def _loop_body(self, body: list[ast.stmt], frame: LoopFrame) -> None:
        self.scope.loops.append(frame)
        unbound = set(self.scope.unbound)
        self.execute_all(body)
        self.scope.unbound = unbound
        self.scope.loops.pop()

    def _after_loop(self, before: dict[str, Value], opened: list[str]) -> None:
        """After a loop, names are slots or what they were before it."""
        values = {name: value for name, value in before.items()}
        for name in self.scope.slots:
            if name in self.scope.values:
                values[name] = self.scope.values[name]
        self.scope.values = values
        self.close_slots(opened)

    def _exec_break(self, node: ast.Break) -> bool:
        frame = self.scope.loops[-1]
        if frame.completed is not None:
            self.emitter.assign((), frame.completed, (), Const(False, BOOL))
        self.emitter.emit(Break(self.emitter.span))
        return False

    def _exec_continue(self, node: ast.Continue) -> bool:
        self.emitter.emit(Continue(self.emitter.span))
        return False

    def _exec_for(self, node: ast.For) -> bool:
        value = self.evaluate(node.iter)
        self.at(node)
        if isinstance(value, Tuple):
            return self._unrolled(node, value)
        if isinstance(value, Range) and isinstance(node.target, ast.Name):
            self._for_range(node, value, node.target.id)
        else:
            self._for_items(node, value)
        return True

    def _unrolled(self, node: ast.For, value: Tuple) -> bool:
        """A loop over a tuple: its body once for each item."""
        if _has_break(node.body) or _has_continue(node.body) or node.orelse:
            raise self.unsupported(node, "break, continue or else in a loop over a tuple", "loop over a range")
        if len(value.items) > 64:
            raise self.unsupported(node, "a loop over a tuple of more than 64 items")
        for item in value.items:
            self.assign_target(node.target, item, node)
            if not self.execute_all(node.body):
                return False
        return True

    def _for_range(self, node: ast.For, value: Range, name: str) -> None:
        emitter = self.emitter
        span = emitter.span
        value = self._regular(value)
        if not isinstance(value.step, Const):
            self._for_items(node, value)
            return
        carried = (assigned(node.body) | {name}) & self.scope.liveness.live_at_head(node)
        after = name in self.scope.liveness.live_after(node)
        rebound = name in assigned(node.body)
        in_slot = (after and (rebound or _has_break(node.body))) or (rebound and name in carried) or name in self.scope.slots
        if after and not in_slot:
            last = self._last(value)
        opened = self._open_loop_slots(carried if in_slot else carried - {name}, node, node.body)
        unset = {n for n in carried if n not in self.scope.values and n != name}
        frame = self._frame(node)
        before = dict(self.scope.values)
        step = int(value.step.value.real)
        dim = Dim(emitter.fresh(name), value.lo, value.hi, step)
        with emitter.capture() as block, emitter.inside(dim):
            if in_slot:
                self.bind(name, Scalar(Var(dim.var)))
            else:
                self.scope.values[name] = Scalar(Var(dim.var))
                self.scope.unbound.discard(name)
            self._loop_body(node.body, frame)
        emitter.span = span
        emitter.emit(Loop(self._fixed(dim, tuple(block)), tuple(block), span=span))
        self._after_loop(before, opened)
        self._unset_after(unset, value)
        if after and not in_slot:
            self._bind_last(name, value, last, before.get(name))
        self._loop_else(node, frame)

    def _regular(self, value: Range) -> Range:
        """Bounds that the loop cannot change, and a step known now if it can be."""
        step = value.step
        if not isinstance(step, Const):
            form = affine(step)
            if form is not None:
                for symbol, _ in form.terms:
                    if symbol in self.emitter.symbols:
                        raise NeedConstant(symbol, self.emitter.span)
        return Range(value.lo, value.hi, step)

    def _fixed(self, dim: Dim, block: Block) -> Dim:
        """Bounds evaluated once: those that the body could change are kept in scalars."""
        reads = walk.domain_buffers((dim,))
        if not reads or not reads & self.written_by(block):
            return dim
        return replace(dim, lo=self.emitter.snapshot(dim.lo, "lo"), hi=self.emitter.snapshot(dim.hi, "hi"))

    def _last(self, value: Range) -> Expr:
        assert isinstance(value.step, Const)
        step = int(value.step.value.real)
        if step == 1:
            return ix.sub(value.hi, ONE)
        if step == -1:
            return ix.add(value.hi, ONE)
        trips = self.trips(value)
        return ix.add(value.lo, ix.mul(integer(step), ix.sub(trips, ONE)))

    def _bind_last(self, name: str, value: Range, last: Expr, old: Value | None) -> None:
        """The loop variable after the loop: its last value, or what it was if the loop did not run."""
        assert isinstance(value.step, Const)
        up = int(value.step.value.real) > 0
        gap = ix.sub(value.hi, value.lo) if up else ix.sub(value.lo, value.hi)
        if self.emitter.assure(ix.sub(gap, ONE), "UnboundLocalError"):
            self.bind(name, Scalar(last))
            return
        ran = Op("gt", (gap, ZERO), BOOL)
        if isinstance(old, Scalar) and old.type == INT:
            self.bind(name, Scalar(Op("select", (ran, last, old.expr), INT)))
            return
        self.emitter.check(ran, "UnboundLocalError", _unbound_text(name))
        self.bind(name, Scalar(last))

    def _unset_after(self, unset: set[str], value: Range) -> None:
        """Names first bound inside the loop and used after it: the loop must have run."""
        for name in sorted(unset):
            if name.startswith(SYNTHETIC):
                continue
            assert isinstance(value.step, Const)
            gap = ix.sub(value.hi, value.lo) if int(value.step.value.real) > 0 else ix.sub(value.lo, value.hi)
            if not self.emitter.assure(ix.sub(gap, ONE), "UnboundLocalError"):
                self.emitter.check(Op("gt", (gap, ZERO), BOOL), "UnboundLocalError", _unbound_text(name))

    def _for_items(self, node: ast.For, value: Value) -> None:
        """A loop over anything else: trips 0, 1, ... and the item of each."""
        emitter = self.emitter
        span = emitter.span
        items = self._computed_range(value) if isinstance(value, Range) and not isinstance(value.step, Const) else self.iteration(value, node)
        trips = emitter.stable(items.trips)
        targets = set(target_names(node.target))
        carried = (assigned(node.body) | targets) & self.scope.liveness.live_at_head(node)
        opened = self._open_loop_slots(carried, node, node.body)
        unset = {n for n in carried if n not in self.scope.values}
        frame = self._frame(node)
        before = dict(self.scope.values)
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim):
            self.assign_target(node.target, items.item(Var(dim.var)), node)
            self._loop_body(node.body, frame)
        emitter.span = span
        emitter.emit(Loop(dim, tuple(block), span=span))
        self._after_loop(before, opened)
        self._unset_after(unset, Range(ZERO, trips, ONE))
        self._loop_else(node, frame)

    def _computed_range(self, value: Range) -> Iterable:
        """range(lo, hi, step) with a step that only the run time knows."""

        emitter = self.emitter
        lo, hi, step = (emitter.snapshot(e, n) for e, n in ((value.lo, "lo"), (value.hi, "hi"), (value.step, "step")))
        emitter.check(Op("ne", (step, ZERO), BOOL), "ValueError", "range() arg 3 must not be zero")
        up = Op("gt", (step, ZERO), BOOL)
        ahead = Op("floordiv", (Op("add", (Op("sub", (hi, lo), INT), Op("sub", (step, ONE), INT)), INT), step), INT)
        size = Op("sub", (ZERO, step), INT)
        behind = Op("floordiv", (Op("add", (Op("sub", (lo, hi), INT), Op("sub", (size, ONE), INT)), INT), size), INT)
        trips = emitter.snapshot(Op("maximum", (Op("select", (up, ahead, behind), INT), ZERO), INT), "trips")
        return Iterable(trips, lambda q: Scalar(Op("add", (lo, Op("mul", (step, q), INT)), INT)))


def _with_buffers(out: Out, names: dict[str, str]) -> Out:
    """A result tree that refers to other buffers."""
    if isinstance(out, TupleOut):
        return replace(out, items=tuple(_with_buffers(item, names) for item in out.items))
    if isinstance(out, (ArrayOut, ViewOut)):
        return replace(out, buffer=names.get(out.buffer, out.buffer))
    return out


def _unbound_text(name: str) -> str:
    return f"cannot access local variable '{name}' where it is not associated with a value"


def _literal_text(node: ast.expr | None) -> str | None:
    """The text of a literal message; None if it is computed (braces would be taken for placeholders)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("{", "{{").replace("}", "}}")
    return None


def _same_place(left: Value, right: Value) -> bool:
    if isinstance(left, Array) and isinstance(right, Array) and left.view is not None and right.view is not None:
        return left.view.buffer == right.view.buffer
    return left == right


def _data_dependent(place: Array) -> bool:
    assert place.view is not None
    probe = place.view.index(tuple(Var(f"?{axis}") for axis in range(place.rank)))
    inner = {f"?{axis}" for axis in range(place.rank)}
    return any(walk.free_vars(read) & inner for expr in probe for read in walk.reads(expr))


def _same_condition(left: Array, right: Array, builder: Statements) -> bool:
    at = tuple(Var(f"?{axis}") for axis in range(left.rank))
    return left.rank == right.rank and left.element(at) == right.element(at)


def _own_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a loop body that belong to this loop: those of inner loops are left out."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, ast.If):
            found += _own_statements(node.body) + _own_statements(node.orelse)
        elif isinstance(node, (ast.For, ast.While)):
            found += _own_statements(node.orelse)
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
