"""Statements of the user's Python.  In: `ast` statements; out: nodes emitted into the program.

`for` over a range becomes a Loop with the same bounds; NumPy assignments become statements with domains.  Variables
that a loop carries or branches merge are slots (see `scope`); everything else is bound.
"""

from __future__ import annotations

import ast
import importlib
import sys
from dataclasses import replace
from typing import Any

from weft import steps
from weft.errors import APART, Unsupported
from weft.frontend import arith, arrays, masks, reads, reasons
from weft.frontend.constants import constant_int
from weft.frontend.core import is_list
from weft.frontend.expressions import BINARY, flat
from weft.frontend.items import row_of
from weft.frontend.liveness import assigned, nonlocals
from weft.frontend.results import Results
from weft.frontend.returns import RESULT, is_departure
from weft.frontend.slots import arrays_in
from weft.frontend.values import (
    Array,
    Closure,
    Dict,
    Flat,
    Instance,
    Keyed,
    Mask,
    Maybe,
    Object,
    Records,
    Rows,
    Scalar,
    Slice,
    Stack,
    Struct,
    Text,
    Tuple,
    Value,
    describe,
)
from weft.frontend.writing import may_share, tells_place
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, Var, integer
from weft.ir.program import (
    Block,
    Loop,
    Rebind,
    Stmt,
)
from weft.ir.types import BOOL


class Statements(Results):
    """`execute` and its cases."""


    def execute_all(self, body: list[ast.stmt]) -> bool:
        """The statements of a block; False if control never reaches its end."""
        for position, node in enumerate(body):
            rest = body[position + 1 :]
            node = self._as_branch(node)
            if isinstance(node, ast.If) and rest:
                key = (self.scope.path, id(node))
                if key in self.emitter.decisions.duplicated:
                    return self.execute(self._with_rest(key, node, rest))
                self.scope.followed.add(id(node))
            if not self.execute(node):
                return False
        return True

    def _with_rest(self, key: tuple[int, int], node: ast.If, rest: list[ast.stmt]) -> ast.If:
        """if c: a else: b; rest   -->   if c: a; rest else: b; rest"""
        whole = self.emitter.decisions.duplicated[key]
        if whole is None:
            whole = ast.If(test=node.test, body=[*node.body, *rest], orelse=[*node.orelse, *rest])
            self.emitter.decisions.duplicated[key] = ast.copy_location(whole, node)
        self.scope.liveness.after[id(whole)] = self.scope.liveness.live_after(rest[-1])
        return whole

    def _as_branch(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, (ast.Assign, ast.Return)) and isinstance(node.value, ast.IfExp):
            if id(node) in self.emitter.decisions.branched:
                return self.branched(node, node.value) or node
        return node

    def branched(self, node: ast.Assign | ast.Return, value: ast.IfExp) -> ast.If | None:
        """x = a if c else b   -->   if c: x = a else: x = b   where a and b are more than numbers."""
        branched = self.emitter.decisions.branched
        if id(node) not in branched:
            self.choice = value
            return None
        known = branched[id(node)]
        sides = (value.body, value.orelse)
        if known is None:
            parts: list[ast.stmt] = [
                ast.Assign(targets=node.targets, value=side) if isinstance(node, ast.Assign) else ast.Return(value=side)
                for side in sides
            ]
            parts = [ast.copy_location(part, node) for part in parts]
            known = branched[id(node)] = ast.copy_location(
                ast.If(test=value.test, body=parts[:1], orelse=parts[1:]), node
            )
        live = self.scope.liveness.live_after(node)
        for statement in (known, *known.body, *known.orelse):
            self.scope.liveness.after[id(statement)] = live
        return known

    def execute(self, node: ast.stmt) -> bool:
        steps.check()
        method = getattr(self, f"_exec_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported(node, reasons.construct(node), APART)
        self.at(node)
        self.statement = node
        repeats = isinstance(node, (ast.For, ast.While, ast.Try))
        try:
            if not repeats:
                return method(node) is not False
            known = set(self.scope.known)
            if not isinstance(node, ast.Try):
                self.forget([node])
            falls = method(node) is not False
            self.scope.known = known  # what tests inside have told need not hold where it is left
            self.forget([node])
            return falls
        except Unsupported as problem:
            if not self.skips(problem):
                self._complete(problem, node)
                raise
            return True

    def _complete(self, problem: Unsupported, node: ast.stmt) -> None:
        """Add the types of the statement's variables to a refusal, and the remedy where one of them is the trouble."""
        held = self._values_in(node)
        if not problem.types:
            plain = {name: value for name, value in held.items() if not isinstance(value, (Object, Closure))}
            problem.types.update({name: describe(value) for name, value in plain.items()})
        samples = {name: value.sample for name, value in held.items() if isinstance(value, Instance)}
        remedy = next(filter(None, (reasons.array_remedy(*each) for each in samples.items())), problem.remedy)
        where = (part for part in ast.walk(node) if hasattr(part, "lineno"))
        about = next((part for part in where if self.scope.source.span(part) == problem.span), node)
        problem.amend(reasons.named(problem.reason, about, {}), remedy)

    def _values_in(self, node: ast.stmt) -> dict[str, Value]:
        """The variables that a statement itself reads, and what they hold."""
        own = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
        names = [part for child in own for part in ast.walk(child) if isinstance(part, ast.Name)]
        names.sort(key=lambda name: (name.lineno, name.col_offset))
        return {name.id: self.scope.values[name.id] for name in names if name.id in self.scope.values}

    # --- simple statements ------------------------------------------------------------------------------------------

    def _exec_pass(self, node: ast.Pass) -> None:
        pass

    def _exec_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _exec_functiondef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.unsupported(node, "a decorated nested function")
        for name in nonlocals([node]) & set(self.scope.slots):
            if name not in self.scope.values or name in self.scope.unbound:
                raise self.unsupported(node, f"{name} has no value where a function that assigns to it is defined")
        self.scope.values[node.name] = Closure(node, self.scope, self.defaults(node.args))

    def share_names(self, body: list[ast.stmt]) -> None:
        """Variables that nested functions assign to have memory of their own from the start."""
        names = nonlocals(body) & (assigned(body) | set(self.scope.values))
        if names:
            self.scope.outer = {n for node in body if isinstance(node, ast.Nonlocal) for n in node.names}
            self.scope.shared = set(names)
            self.open_slots(names - self.scope.outer, body[0])

    def _exec_nonlocal(self, node: ast.Nonlocal) -> None:
        if not set(node.names) <= self.scope.outer:
            raise self.unsupported(node, "a nonlocal statement inside another statement", "put it first")

    def _exec_global(self, node: ast.Global) -> None:
        if set(node.names) & assigned(self.scope.body):
            raise self.unsupported(node, "an assignment to a global variable", "return the value instead")

    def _exec_import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = self._imported(alias.name, node)
            top = sys.modules[alias.name.partition(".")[0]]
            self.scope.values[alias.asname or alias.name.partition(".")[0]] = Object(module if alias.asname else top)

    def _exec_importfrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            raise self.unsupported(node, "a relative import inside a function", "import it at the top")
        module = self._imported(node.module, node)
        for alias in node.names:
            if alias.name not in vars(module):
                raise self.unsupported(node, f"the import of {alias.name}", "import it at the top")
            found = self.outside(alias.name, vars(module)[alias.name], vars(module), node)
            self.scope.values[alias.asname or alias.name] = found

    def _imported(self, name: str, node: ast.stmt) -> Any:
        """A module that has been imported before: importing it now does nothing but find it."""
        if name not in sys.modules and name.partition(".")[0] in sys.stdlib_module_names:
            importlib.import_module(name)
        module = reads.entry(sys.modules, name)
        if module is reads.ABSENT or module is None:
            raise self.unsupported(node, f"the import of {name}", "import it at the top of the module")
        return module

    def _exec_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                base, key = self.evaluate_all([target.value, target.slice])
                if isinstance(base, Dict):
                    self.delete_entry(base, key, node)
                elif isinstance(key, Slice) and not (isinstance(base, Array) and not base.is_list):
                    self.delete_part(base, key, node)
                else:
                    self.delete_item(base, key, node)
            elif isinstance(target, ast.Name):
                self._eval_name(target)
                if target.id in self.scope.liveness.live_after(node) or target.id in self.scope.shared:
                    raise self.unsupported(node, f"{target.id} is read after `del {target.id}`")
                self.scope.values.pop(target.id, None)
            else:
                raise self.unsupported(node, "del of an attribute")

    def _exec_assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and self._permutation(node.targets[0], node.value, node):
            return
        if isinstance(node.value, ast.IfExp):
            branch = self.branched(node, node.value)
            if branch is not None:
                self._exec_if(branch)
                return
        value = self._assigned_value(node)
        if not all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
            value = self.kept_items(value)
        self.scope.departed |= is_departure(node)
        self.scope.keeping = len(node.targets) > 1
        if self.scope.keeping:
            value = self._taken(value)  # one array for all the names
        if self.scope.keeping and (is_list(value) or isinstance(value, Dict)):
            self._assign_one_to_all(node, value)
        else:
            for target in node.targets:
                self.at(node)
                self.assign_target(target, value, node)
        self.scope.keeping = False

    def _assign_one_to_all(self, node: ast.Assign, value: Value) -> None:
        """v = w = value   -->   v = value; w = v   where the value is a list, dict or set: they are one object."""
        names = [target for target in node.targets if isinstance(target, ast.Name)]
        others = [target for target in node.targets if target not in names[:1]]
        used = {part.id for target in others for part in ast.walk(target) if isinstance(part, ast.Name)}
        if not names or names[0].id in used:
            raise self.unsupported(node, "a list, dict or set for several targets", "give it a name first", value=value)
        self.assign_target(names[0], value, node)
        for target in others:
            self.at(node)
            name = ast.copy_location(ast.Name(id=names[0].id, ctx=ast.Load()), node)
            self.assign_target(target, self.evaluate(name), node)

    def _assigned_value(self, node: ast.Assign) -> Value:
        """What is assigned: None or a number to names, where a tuple does not keep it."""
        target = node.targets[0]
        spread = isinstance(target, (ast.Tuple, ast.List)) or (isinstance(target, ast.Name) and target.id == RESULT)
        named = all(isinstance(target, ast.Name) for target in node.targets)
        if (len(node.targets) == 1 and spread) or (named and not isinstance(node.value, ast.Tuple)):
            value = self.evaluate_open(node.value)
            return value if spread or isinstance(value, Maybe) else self.present(value)
        return self.evaluate(node.value)

    def _exec_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign_target(node.target, self.kept_items(self.evaluate(node.value)), node)

    def assign_target(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        if isinstance(value, Maybe) and not isinstance(target, ast.Name):
            value = self.present(value)
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            self._store_element(target, value, node)
        else:
            assert isinstance(target, ast.Attribute)
            self._store_attribute(target, value, node)

    def _store_attribute(self, target: ast.Attribute, value: Value, node: ast.AST) -> None:
        """array.real = value, array.imag, array.flat, array.shape"""
        base = self.evaluate(target.value)
        self.at(node)
        if isinstance(base, Struct):
            self.store_attribute(base, target.attr, value, node)
            return
        if isinstance(base, Array) and not base.is_list:
            if target.attr in ("real", "imag"):
                # NumPy makes an array of the value first, and casts that.
                given = self._strong(value, node)
                arrays.store(self._part(base, target), arrays.as_array(given, self.emitter), self.emitter)
                return
            if target.attr == "flat":
                self._store_flat(Flat(flat(base, self.emitter)), Slice(None, None, None), value, target)
                return
            if target.attr == "shape" and isinstance(target.value, ast.Name):
                self._store_shape(target.value.id, base, value, node)
                return
        raise self.unsupported(target, "an assignment to an attribute", "return the value instead")

    def _part(self, base: Array, target: ast.Attribute) -> Array:
        part = self.attribute(base, target.attr, target)
        if not isinstance(part, Array) or (part.view is None and part.part is None):
            raise self.unsupported(target, f"an assignment to .{target.attr} of this", base=base)
        return part

    def _storable(self, value: Value, node: ast.AST) -> Value:
        return self.array_of(value, node) if isinstance(value, Tuple) else masks.settled(value, self.emitter)

    def _strong(self, value: Value, node: ast.AST) -> Value:
        """A value as NumPy makes an array of it by itself."""
        given = self._storable(value, node)
        return Scalar(arith.cast(given.expr, given.type.strong)) if isinstance(given, Scalar) else given

    def _store_flat(self, base: Flat, key: Value, value: Value, node: ast.AST) -> None:
        """array.flat[key] = value: as many values as places; NumPy would repeat fewer."""
        value = self._storable(value, node)
        place = self.subscript(base.array, key, node, store=True)
        if isinstance(value, Array) and value.rank and not isinstance(place, Mask):
            source = flat(value, self.emitter)
            extent = place.shape[0] if isinstance(place, Array) else ONE
            if not self.emitter.likely_equal(extent, source.shape[0]):
                raise self.unsupported(node, "as many values for .flat as it has places are needed")
            self.emitter.same_size(extent, source.shape[0], "RuntimeError", "")
            value = source if isinstance(place, Array) else Scalar(source.element((ZERO,)))
        elif isinstance(place, Mask) and not isinstance(value, Scalar):
            raise self.unsupported(node, "an assignment to .flat by a mask")
        elif isinstance(place, Scalar) and isinstance(value, Scalar) and _may_not_fit(value.expr, base.array):
            raise self.unsupported(node, "an element of .flat that may not hold the number", value=value)
        elif isinstance(place, Array) and isinstance(value, Scalar):
            value = arrays.as_array(value, self.emitter)
        self.store(base.array, key, value, node)

    def _store_shape(self, name: str, base: Array, value: Value, node: ast.AST) -> None:
        """The one name of an array takes another shape of the same memory."""
        view = base.view
        alone = [n for n, other in self.scope.values.items() if any(a is base for a in arrays_in(other))] == [name]
        whole = view is not None and view.whole
        mine = view is not None and self.exclusive(name, view.buffer) if whole else True
        if view is None or not alone or not mine or name in self.scope.slots or self.scope.inlined:
            raise self.unsupported(node, "an assignment to .shape of an array known under another name", "use reshape")
        reshaped = self.reshape(base, value)
        if reshaped.view is None or reshaped.view.buffer != view.buffer:
            raise self.unsupported(node, "an assignment to .shape that would need a copy", "use reshape")
        self.bind(name, reshaped)

    def reshape(self, array: Array, shape: Value) -> Array:
        raise NotImplementedError

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        stars = [k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
        of_numbers = isinstance(value, Array) and value.is_list and value.rank == 1
        if stars and (of_numbers or (isinstance(value, Records) and not value.is_deque)):
            assert isinstance(value, (Array, Records))
            parts_of = self.with_middle(value, stars[0], len(target.elts), node)
            for item, part in zip(target.elts, [self._taken(part) for part in parts_of.items]):
                self.assign_target(item.value if isinstance(item, ast.Starred) else item, part, node)
            return
        if isinstance(value, Array) and value.rank >= 1:
            parts = arrays.constant_shape(value.shape[:1])
            if any(isinstance(item, ast.Starred) for item in target.elts):
                raise self.unsupported(node, "a starred target for the rows of an array")
            if parts is not None and parts[0] != len(target.elts):
                raise self.unsupported(node, f"ValueError: {parts[0]} values for {len(target.elts)} targets")
            if parts is None:
                self.emitter.same_size(
                    value.shape[0], integer(len(target.elts)), "ValueError", "not enough values to unpack"
                )
            lasting = value.view is not None or value.origin is not None
            row = value if lasting else arrays.materialise(value, self.emitter)
            value = Tuple(tuple(self.subscript(row, Scalar(integer(k)), node) for k in range(len(target.elts))))
        if isinstance(value, (Text, Records, Rows)) and not any(isinstance(item, ast.Starred) for item in target.elts):
            items = self.iteration(value, node)
            fits = Op("eq", (items.trips, integer(len(target.elts))), BOOL)
            self.emitter.hand_back(fits, "more or fewer values than names to unpack them to")
            value = Tuple(tuple(items.item(integer(k)) for k in range(len(target.elts))))
        if not isinstance(value, Tuple):
            raise self.unsupported(node, "unpacking of this value", value=value)
        starred = [k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
        if starred:
            value = self._gathered(value, starred[0], len(target.elts), node)
        if len(value.items) != len(target.elts):
            raise self.unsupported(node, f"ValueError: {len(value.items)} values for {len(target.elts)} targets")
        # All values are taken before any name changes: `a, b = b, a + b`.
        taken = [self._taken(item) for item in value.items]
        for item, part in zip(target.elts, taken):
            self.assign_target(item.value if isinstance(item, ast.Starred) else item, part, node)

    def _gathered(self, value: Tuple, place: int, targets: int, node: ast.AST) -> Tuple:
        """a, *b, c = values: what is left for b as a list."""
        extra = len(value.items) - (targets - 1)
        if extra < 0:
            raise self.unsupported(node, f"ValueError: {len(value.items)} values for {targets} targets")
        middle = Tuple(value.items[place : place + extra], is_list=True)
        return Tuple((*value.items[:place], middle, *value.items[place + extra :]))

    def _taken(self, value: Value) -> Value:
        value = masks.settled(value, self.emitter)
        if isinstance(value, Maybe):
            return self.kept_maybe(value, "t")
        if isinstance(value, Scalar):
            return Scalar(self._kept(value.expr, "t"))
        if isinstance(value, Text):
            return self.kept_text(value, "t")
        if isinstance(value, Array) and value.view is None and value.origin is None:
            return arrays.materialise(value, self.emitter)
        if row_of(value) is not None:
            return self.steady(value)
        if isinstance(value, Array) and self._is_slot_array(value):
            return arrays.materialise(value, self.emitter)
        return value

    def _is_slot_array(self, value: Array) -> bool:
        buffer = value.view.buffer if value.view else value.origin
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
        targets = [
            t.view.buffer for t in (self.scope.values[name] for name in names) if isinstance(t, Array) and t.view
        ]
        first = self.emitter.buffers[targets[0]]
        for name in buffers:
            other = self.emitter.buffers[name]
            if other.type != first.type or other.rank != first.rank or other.layout is not first.layout:
                raise self.unsupported(node, "a swap of arrays of different type, rank or layout")
            for a, b in zip(first.shape, other.shape):
                self.emitter.same_size(a, b, "RuntimeError", "")
        self.emitter.emit(Rebind(tuple(targets), tuple(buffers), self.emitter.span))
        self.emitter.exchanged.append(tuple(targets))
        flag = self.swap_flags.get(frozenset(targets))
        if flag is not None:
            self.emitter.assign((), flag, (), arith.negate(Read(flag, (), BOOL)))
        self.emitter.mutations += 1
        return True

    def _store_element(self, target: ast.Subscript, value: Value, node: ast.AST) -> None:
        before = self.emitter.mutations
        with self.emitter.capture() as block:
            base, key = self.evaluate_all([target.value, target.slice])
        if self.emitter.mutations != before:
            # counts[a][b] = x, where counts[a] makes a dict: x is what it was before.
            if isinstance(value, Scalar):
                value = Scalar(self._kept(value.expr, "value"))
            elif not isinstance(value, (Dict, Object)) and not (isinstance(value, Tuple) and not value.items):
                raise self.unsupported(target, "a target whose evaluation changes arrays")
        self.emitter.blocks[-1].extend(block)
        self.at(node)
        if isinstance(base, Flat):
            self._store_flat(base, key, value, target)
            return
        if isinstance(base, Tuple) and base.is_list and isinstance(target.value, ast.Name):
            self._store_item(target.value.id, base, key, value, target)
            return
        is_list = isinstance(base, Records) or (isinstance(base, Array) and base.is_list)
        if is_list and isinstance(key, Slice):
            self.store_part(base, key, value, node)
            return
        if isinstance(base, Records):
            self.store_record(base, key, value, node)
            return
        if isinstance(base, Dict):
            self.store_item(base, key, value, node)
            return
        if isinstance(base, Keyed):
            self.store_attribute(base.entries, self.keyed_name(key, node), value, node)
            return
        if self.store_special(base, key, value, node):
            return
        if not isinstance(base, Array):
            self.will_change(base)
            raise self.unsupported(target, "an assignment to an element of this", base=base)
        if base.is_list and isinstance(value, Scalar) and isinstance(key, Scalar):
            self.hold_both(base, value, node)
        elif isinstance(value, Scalar) and self.from_either(value.expr):
            self.keep_in_range(value, base)
        self.store(base, key, value, target)

    def store_special(self, base: Value, key: Value, value: Value, node: ast.AST) -> bool:
        raise NotImplementedError

    def _store_item(self, name: str, base: Tuple, key: Value, value: Value, node: ast.AST) -> None:
        """An item of a list that exists at compile time only, where every path passes and no other name has it."""
        names = [other for other, held in self.scope.values.items() if held is base]
        if names != [name] or len(self.emitter.blocks) > 1 or name in self.scope.slots or self.scope.inlined:
            self.index_at_run_time(base)
            raise self.unsupported(node, "an assignment to an item of this list here", "make a new list", base=base)
        if isinstance(key, Scalar) and not isinstance(key.expr, Const):
            self.index_at_run_time(base)
        index = constant_int(key, self.emitter)
        if not -len(base.items) <= index < len(base.items):
            raise self.unsupported(node, "IndexError: list assignment index out of range")
        items = list(base.items)
        items[index] = self._taken(value)
        self.scope.values[name] = replace(base, items=tuple(items))

    def store(self, base: Array, key: Value, value: Value, node: ast.AST) -> None:
        """base[key] = value"""
        emitter = self.emitter
        if base.view is None and base.part is None:
            raise self.unsupported(node, "an assignment to an element of a temporary")
        if isinstance(value, Tuple):
            value = self.array_of(value, node, base.type if _takes_integers(base) else None)
        if base.is_list and isinstance(key, Slice):
            raise self.unsupported(node, "an assignment to a slice of a list")
        place = self.subscript(base, key, node, store=True)
        if isinstance(place, Mask):
            masks.assign(place, value, emitter)
            return
        value = masks.settled(value, emitter)
        if isinstance(place, Scalar):
            self._store_scalar(base, place, value, node)
        elif isinstance(place, Array) and _data_dependent(place):
            self._scatter(place, value, node)
        elif isinstance(place, Array) and base.is_list:
            self.rows_change(base)
            raise self.unsupported(node, "an assignment to a row of a list of lists", "assign its elements")
        else:
            assert isinstance(place, Array)
            arrays.store(place, value, emitter)

    def _store_scalar(self, base: Array, place: Scalar, value: Value, node: ast.AST) -> None:
        expr = place.expr
        assert isinstance(expr, Read)
        if isinstance(value, Array) and value.rank == 0:
            converted = arrays.storable(value.element(()), base.type, self.emitter, base.is_list)
        elif isinstance(value, Scalar):
            element = value.expr if base.is_list else arrays.element(value.expr, base.type, self.emitter)
            converted = arrays.storable(element, base.type, self.emitter, base.is_list)
        else:
            raise self.unsupported(node, "an array assigned to one element", value=value)
        self.emitter.assign((), expr.buffer, expr.index, converted)
        self.emitter.mutations += 1

    def _scatter(self, place: Array, value: Value, node: ast.AST) -> None:
        """array[indices] = value, in order: the last of several writes to one element stays."""
        emitter = self.emitter
        source = arrays.without_leading_ones(arrays.assigned(value, place.type, emitter), place.rank)
        view = place.view or (place.part.view if place.part is not None else None)
        assert view is not None
        source = arrays.fitted(source, place.shape, emitter, _message(place, source))
        if may_share(source, view.buffer, emitter) or source.cost:
            source = arrays.materialise(source, emitter)
        if tells_place(view, place.rank, emitter):
            raise self.unsupported(node, f"a store into {view.buffer} at indices that are parts of it", "add .copy()")
        dims, at = emitter.domain(place.shape)
        view, element = arrays.placed(place, at, arrays.storable(source.element(at), place.type, emitter), emitter)
        node_out: Block = (Stmt((), view.buffer, view.index(at), element, None, emitter.span),)
        for dim in reversed(dims):
            node_out = (Loop(dim, node_out, span=emitter.span),)
        emitter.emit(node_out[0])
        emitter.mutations += 1

    def _exec_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._augment_name(node, target)
        elif isinstance(target, ast.Subscript):
            self._augment_element(node, target)
        else:
            self._augment_attribute(node, target)

    def _augment_attribute(self, node: ast.AugAssign, target: ast.Attribute) -> None:
        base = self.evaluate(target.value)
        old = self._read_before(base, target, node)
        value = masks.settled(self.evaluate(node.value), self.emitter)
        self.at(node)
        if isinstance(base, Struct) and not isinstance(node.op, ast.MatMult):
            self._augment_field(base, target.attr, value, node, old)
            return
        plain = isinstance(base, Array) and not base.is_list and target.attr in ("real", "imag")
        if not plain or not isinstance(value, (Scalar, Array)) or isinstance(node.op, ast.MatMult):
            raise self.unsupported(node, "an augmented assignment to an attribute", base=base)
        assert isinstance(base, Array)
        arrays.update(self._part(base, target), BINARY[type(node.op)], value, self.emitter)

    def _read_before(self, base: Value, target: ast.Attribute, node: ast.AugAssign) -> Value | None:
        """The number in an attribute, if what is added to it calls something, which could change it meanwhile."""
        if not isinstance(base, Struct) or not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
            return None
        old = self.field(base, target.attr, node)
        return Scalar(self.emitter.snapshot(old.expr, "old")) if isinstance(old, Scalar) else None

    def _augment_field(
        self, base: Struct, name: str, value: Value, node: ast.AugAssign, old: Value | None = None
    ) -> None:
        """base.name OP= value"""
        old = self.field(base, name, node) if old is None else old
        if isinstance(old, Array) and not old.is_list and isinstance(value, (Array, Scalar)):
            arrays.update(old, BINARY[type(node.op)], value, self.emitter)
            return
        if self._changed_itself(old, node, value):
            return
        new = self.binary(BINARY[type(node.op)], old, value, node, self.emitter.span)
        self.store_attribute(base, name, new, node)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        load = ast.copy_location(ast.Name(id=target.id, ctx=ast.Load()), target)
        current = self.evaluate(load)
        if isinstance(current, Array) and not current.is_list and not isinstance(node.op, ast.MatMult):
            value = self.evaluate(node.value)
            self.at(node)
            self._augment_array(current, node, value)
            return
        if isinstance(current, Dict) or (is_list(current) and not self._alone(target.id, current)):
            if self._changed_itself(current, node, self.evaluate(node.value)):
                return
        if is_list(current) and (self.scope.loops or target.id in self.scope.slots):
            # A variable that a loop or branch sets holds a copy: others who have the list would not see the change.
            reason = f"a change in place of the list `{target.id}` in a {'loop' if self.scope.loops else 'branch'}"
            raise self.unsupported(node, reason, "use append or extend")
        operation = ast.copy_location(ast.BinOp(left=load, op=node.op, right=node.value), node)
        self.bind(target.id, self.evaluate(operation))

    def _alone(self, name: str, value: Value) -> bool:
        """Whether a list is nowhere but in the variable `name`: then a new list is as good as a change of this one."""
        if isinstance(value, Tuple):
            held = [other for other, known in self.scope.values.items() if known is value]
            return value.key is None and held == [name] and not self.scope.inlined
        if not isinstance(value, Array) or value.growing is not None or row_of(value) is not None:
            return False
        return value.view is None or (value.view.whole and self.only_list(name, value.view.buffer))

    def _changed_itself(self, current: Value, node: ast.AugAssign, value: Value) -> bool:
        """current OP= value of a list, dict or set, which changes it for all who have it; False if it is none."""
        if isinstance(current, Dict):
            self.augment_dict(current, node, value)
            return True
        if not is_list(current):
            return False
        if isinstance(node.op, ast.Mult) and isinstance(value, Scalar) and value.type.dtype.is_integer:
            self.repeat_itself(current, value.expr, node)
            return True
        if not isinstance(node.op, ast.Add) or self.list_method(current, "extend", [value], node) is None:
            raise self.unsupported(node, "an update in place of this list", "make a new list", base=current)
        return True

    def _augment_array(self, array: Array, node: ast.AugAssign, value: Value) -> None:
        """array OP= value, in place"""
        value = masks.settled(value, self.emitter)
        if not isinstance(value, (Scalar, Array)):
            raise self.unsupported(node, "an update in place by this", value=value)
        if isinstance(value, Scalar):
            arrays.weak_int(value.expr, array.type, self.emitter)
        arrays.update(array, BINARY[type(node.op)], value, self.emitter)

    def _augment_element(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        base, key = self.evaluate_all([target.value, target.slice])
        before = self.emitter.mutations
        value = self.evaluate(node.value)
        self.at(node)
        if self.emitter.mutations != before:
            raise self.unsupported(
                node, "an update in place whose value changes arrays", "assign the value to a name first"
            )
        if isinstance(base, (Dict, Records)) and not isinstance(node.op, ast.MatMult):
            key = Scalar(self.emitter.snapshot(key.expr, "key")) if isinstance(key, Scalar) else key
            old = self.subscript(base, key, node)
            if isinstance(old, Array) and not old.is_list:
                self._augment_array(old, node, value)
                return
            if self._changed_itself(old, node, value):
                return
            new = self.binary(BINARY[type(node.op)], old, value, node, self.emitter.span)
            if isinstance(base, Dict):
                self.store_item(base, key, new, node)
            else:
                self.store_record(base, key, new, node)
            return
        if isinstance(base, Keyed) and not isinstance(node.op, ast.MatMult):
            self.keyed_item(base, key, node)  # it must be there
            self._augment_field(base.entries, self.keyed_name(key, node), masks.settled(value, self.emitter), node)
            return
        if isinstance(base, Flat):
            base = base.array
        if isinstance(base, (Rows, Stack)) and not isinstance(node.op, ast.MatMult):
            held = self.subscript(base, key, node)
            if isinstance(held, Array) and not held.is_list:
                self._augment_array(held, node, value)
                return
            if self._changed_itself(held, node, value):
                return
        if not isinstance(base, Array) or (base.view is None and base.part is None):
            raise self.unsupported(node, "an update in place of this", base=base)
        self.refuse_two_results(base, value, node)
        if isinstance(node.op, ast.MatMult):
            raise self.unsupported(node, "@= on elements")
        place = self.subscript(base, key, node, store=True)
        op = BINARY[type(node.op)]
        if isinstance(place, Mask):
            if isinstance(value, Scalar):
                arrays.weak_int(value.expr, place.array.type, self.emitter)
            masks.update(place, op, value, self.emitter)
            return
        value = masks.settled(value, self.emitter)
        if isinstance(place, Scalar):
            if not isinstance(value, Scalar):
                raise self.unsupported(node, "an array added to one element", value=value)
            if base.is_list:
                updated = self.binary(op, place, value, node, self.emitter.span)
                assert isinstance(updated, Scalar)
                self.hold_both(base, updated, node)
            else:
                updated = self.scalar_binary(op, place, value)
            self._store_scalar(base, place, updated, node)
        elif isinstance(place, Array) and _data_dependent(place):
            copied = arrays.copied(place)
            if isinstance(value, Array):
                value = arrays.fitted_operand(value, place.shape, self.emitter)
            result = arrays.apply(op, [copied, value], self.emitter)
            assert isinstance(result, Array)
            arrays.check_in_place(result.type, base.type, self.emitter)
            cast_to = base.type
            stored = Array(result.shape, cast_to, lambda at: arith.cast(result.element(at), cast_to), cost=result.cost)
            self._scatter(place, stored, node)
        else:
            assert isinstance(place, Array)
            if isinstance(value, Scalar):
                arrays.weak_int(value.expr, place.type, self.emitter)
            arrays.update(place, op, value, self.emitter)


def _message(place: Array, source: Array) -> str:
    if place.rank != 1 or source.rank != 1:
        return "shape mismatch: value array could not be broadcast to indexing result"
    return "shape mismatch: value array of shape ({1},) could not be broadcast to indexing result of shape ({0},)"


def _may_not_fit(expr: Expr, base: Array) -> bool:
    """Whether a number may be none that an element can hold; .flat has exceptions of its own for it."""
    given, own = expr.type.dtype, base.type.dtype
    return _takes_integers(base) and given is not own and not isinstance(expr, Const) and given.kind in "iuf"


def _takes_integers(base: Array) -> bool:
    """Whether NumPy converts each number of an assigned list to an integer."""
    return base.type.dtype.is_integer and not base.is_list


def _data_dependent(place: Array) -> bool:
    view = place.view or (place.part.view if place.part is not None else None)
    assert view is not None
    probe = view.index(tuple(Var(f"?{axis}") for axis in range(place.rank)))
    inner = {f"?{axis}" for axis in range(place.rank)}
    return any(walk.free_vars(read) & inner for expr in probe for read in walk.reads(expr))
