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
from weft.frontend.building import Building
from weft.frontend.constants import constant_int
from weft.frontend.core import is_list, kept_items, steady
from weft.frontend.dicts import delete_entry, store_item
from weft.frontend.dimensions import check_dimensions
from weft.frontend.expressions import flat, scalar_binary
from weft.frontend.folding import BINARY
from weft.frontend.items import row_of
from weft.frontend.keyed import keyed_item, keyed_name
from weft.frontend.listparts import delete_part, repeat_itself, store_part, with_middle
from weft.frontend.lists import delete_item, hold_both, store_record
from weft.frontend.liveness import assigned, nonlocals
from weft.frontend.missing import forget
from weft.frontend.mixed import from_either, keep_in_range, refuse_two_results
from weft.frontend.nested import index_at_run_time, skips
from weft.frontend.returns import RESULT, is_departure
from weft.frontend.slots import arrays_in, copied_slot, exclusive, only_list
from weft.frontend.storing import data_dependent, scatter, store, store_scalar, takes_integers
from weft.frontend.strings import kept_text
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
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import (
    Rebind,
)
from weft.ir.types import BOOL


class Statements(Building):
    """`execute` and its cases."""

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
                block = self.emitter.blocks[-1]
                since = len(block)
                falls = method(node) is not False
                check_dimensions(node, block[since:])
                return falls
            known = set(self.scope.known)
            if not isinstance(node, ast.Try):
                forget(self, [node])
            falls = method(node) is not False
            self.scope.known = known  # what tests inside have told need not hold where it is left
            forget(self, [node])
            return falls
        except Unsupported as problem:
            if not skips(self, problem):
                _complete(self, problem, node)
                raise
            return True

    # --- simple statements ------------------------------------------------------------------------------------------

    def _exec_pass(self, node: ast.Pass) -> None:
        pass

    def _exec_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _exec_functiondef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise reasons.left_to_plain(self.unsupported(node, "a decorated nested function"))
        for name in nonlocals([node]) & set(self.scope.slots):
            if name not in self.scope.values or name in self.scope.unbound:
                raise self.unsupported(node, f"{name} has no value where a function that assigns to it is defined")
        self.scope.values[node.name] = Closure(node, self.scope, self.defaults(node.args))

    def _exec_nonlocal(self, node: ast.Nonlocal) -> None:
        if not set(node.names) <= self.scope.outer:
            raise self.unsupported(node, "a nonlocal statement inside another statement", "put it first")

    def _exec_global(self, node: ast.Global) -> None:
        if set(node.names) & assigned(self.scope.body):
            raise self.unsupported(node, "an assignment to a global variable", "return the value instead")

    def _exec_import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = _imported(self, alias.name, node)
            top = sys.modules[alias.name.partition(".")[0]]
            self.scope.values[alias.asname or alias.name.partition(".")[0]] = Object(module if alias.asname else top)

    def _exec_importfrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            raise self.unsupported(node, "a relative import inside a function", "import it at the top")
        module = _imported(self, node.module, node)
        for alias in node.names:
            if alias.name not in vars(module):
                raise self.unsupported(node, f"the import of {alias.name}", "import it at the top")
            found = self.outside(alias.name, vars(module)[alias.name], vars(module), node)
            self.scope.values[alias.asname or alias.name] = found

    def _exec_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                base, key = self.evaluate_all([target.value, target.slice])
                if isinstance(base, Dict):
                    delete_entry(self, base, key, node)
                elif isinstance(key, Slice) and not (isinstance(base, Array) and not base.is_list):
                    delete_part(self, base, key, node)
                else:
                    delete_item(self, base, key, node)
            elif isinstance(target, ast.Name):
                self._eval_name(target)
                if target.id in self.scope.liveness.live_after(node) or target.id in self.scope.shared:
                    reason = f"{target.id} is read after `del {target.id}`"
                    raise self.unsupported(node, reason, "give it a value first")
                self.scope.values.pop(target.id, None)
            else:
                raise self.unsupported(node, "del of an attribute")

    def _exec_assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and _permutation(self, node.targets[0], node.value, node):
            return
        if isinstance(node.value, ast.IfExp):
            branch = self.branched(node, node.value)
            if branch is not None:
                self._exec_if(branch)
                return
        value = _assigned_value(self, node)
        if not all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
            value = kept_items(self, value)
        self.scope.departed |= is_departure(node)
        self.scope.keeping = len(node.targets) > 1
        named = any(isinstance(target, ast.Name) for target in node.targets)
        carried = named and isinstance(value, Array) and _is_slot_array(self, value)
        if self.scope.keeping and not carried:
            value = self._taken(value)  # one array for all the names
        if self.scope.keeping and (is_list(value) or isinstance(value, Dict) or carried):
            _assign_one_to_all(self, node, value)
        else:
            for target in node.targets:
                self.at(node)
                assign_target(self, target, value, node)
        self.scope.keeping = False

    def _exec_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            assign_target(self, node.target, kept_items(self, self.evaluate(node.value)), node)

    def _part(self, base: Array, target: ast.Attribute) -> Array:
        part = self.attribute(base, target.attr, target)
        if not isinstance(part, Array) or (part.view is None and part.part is None):
            raise self.unsupported(target, f"an assignment to .{target.attr} of this", base=base)
        return part

    def _taken(self, value: Value) -> Value:
        value = masks.settled(value, self.emitter)
        if isinstance(value, Maybe):
            return self.kept_maybe(value, "t")
        if isinstance(value, Scalar):
            return Scalar(self._kept(value.expr, "t"))
        if isinstance(value, Text):
            return kept_text(self, value, "t")
        if isinstance(value, Array) and value.view is None and value.origin is None:
            return arrays.materialise(value, self.emitter)
        if row_of(value) is not None:
            return steady(self, value)
        if isinstance(value, Array) and _is_slot_array(self, value):
            return copied_slot(self, value)
        return value

    def _exec_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._augment_name(node, target)
        elif isinstance(target, ast.Subscript):
            _augment_element(self, node, target)
        else:
            _augment_attribute(self, node, target)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        load = ast.copy_location(ast.Name(id=target.id, ctx=ast.Load()), target)
        current = self.evaluate(load)
        if isinstance(current, Array) and not current.is_list and not isinstance(node.op, ast.MatMult):
            value = self.evaluate(node.value)
            self.at(node)
            _augment_array(self, current, node, value)
            return
        if self.emitter.is_boxed(current):
            raise self.unsupported(node, f"an update in place of {target.id}, an array of rank 0", "add [()] before")
        if isinstance(current, Dict) or (is_list(current) and not _alone(self, target.id, current)):
            if _changed_itself(self, current, node, self.evaluate(node.value)):
                return
        if is_list(current) and (self.scope.loops or target.id in self.scope.slots):
            # A variable that a loop or branch sets holds a copy: others who have the list would not see the change.
            reason = f"a change in place of the list `{target.id}` in a {'loop' if self.scope.loops else 'branch'}"
            raise self.unsupported(node, reason, "use append or extend")
        operation = ast.copy_location(ast.BinOp(left=load, op=node.op, right=node.value), node)
        self.bind(target.id, self.evaluate(operation))


def execute_all(builder: Building, body: list[ast.stmt]) -> bool:
    """The statements of a block; False if control never reaches its end."""
    for position, node in enumerate(body):
        rest = body[position + 1 :]
        node = _as_branch(builder, node)
        if isinstance(node, ast.If) and rest:
            key = (builder.scope.path, id(node))
            if key in builder.emitter.decisions.duplicated:
                return builder.execute(_with_rest(builder, key, node, rest))
            builder.scope.followed.add(id(node))
        if not builder.execute(node):
            return False
    return True


def _with_rest(builder: Building, key: tuple[int, int], node: ast.If, rest: list[ast.stmt]) -> ast.If:
    """if c: a else: b; rest   -->   if c: a; rest else: b; rest"""
    whole = builder.emitter.decisions.duplicated[key]
    if whole is None:
        whole = ast.If(test=node.test, body=[*node.body, *rest], orelse=[*node.orelse, *rest])
        builder.emitter.decisions.duplicated[key] = ast.copy_location(whole, node)
    builder.scope.liveness.after[id(whole)] = builder.scope.liveness.live_after(rest[-1])
    return whole


def _as_branch(builder: Building, node: ast.stmt) -> ast.stmt:
    if isinstance(node, (ast.Assign, ast.Return)) and isinstance(node.value, ast.IfExp):
        if id(node) in builder.emitter.decisions.branched:
            return builder.branched(node, node.value) or node
    return node


def _complete(builder: Building, problem: Unsupported, node: ast.stmt) -> None:
    """Add the types of the statement's variables to a refusal, and the remedy where one of them is the trouble."""
    held = _values_in(builder, node)
    if not problem.types:
        plain = {name: value for name, value in held.items() if not isinstance(value, (Object, Closure))}
        problem.types.update({name: describe(value) for name, value in plain.items()})
    samples = {name: value.sample for name, value in held.items() if isinstance(value, Instance)}
    remedy = next(filter(None, (reasons.array_remedy(*each) for each in samples.items())), problem.remedy)
    where = (part for part in ast.walk(node) if hasattr(part, "lineno"))
    about = next((part for part in where if builder.scope.source.span(part) == problem.span), node)
    problem.amend(reasons.named(problem.reason, about, {}), remedy)


def _values_in(builder: Building, node: ast.stmt) -> dict[str, Value]:
    """The variables that a statement itself reads, and what they hold."""
    own = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    names = [part for child in own for part in ast.walk(child) if isinstance(part, ast.Name)]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    return {name.id: builder.scope.values[name.id] for name in names if name.id in builder.scope.values}


def share_names(builder: Building, body: list[ast.stmt]) -> None:
    """Variables that nested functions assign to have memory of their own from the start."""
    names = nonlocals(body) & (assigned(body) | set(builder.scope.values))
    if names:
        builder.scope.outer = {n for node in body if isinstance(node, ast.Nonlocal) for n in node.names}
        builder.scope.shared = set(names)
        builder.open_slots(names - builder.scope.outer, body[0])


def _imported(builder: Building, name: str, node: ast.stmt) -> Any:
    """A module that has been imported before: importing it now does nothing but find it."""
    if name not in sys.modules and name.partition(".")[0] in sys.stdlib_module_names:
        importlib.import_module(name)
    module = reads.entry(sys.modules, name)
    if module is reads.ABSENT or module is None:
        raise builder.unsupported(node, f"the import of {name}", "import it at the top of the module")
    return module


def _assign_one_to_all(builder: Building, node: ast.Assign, value: Value) -> None:
    """v = w = value   -->   v = value; w = v   where the value is a list, dict or set: they are one object."""
    names = [target for target in node.targets if isinstance(target, ast.Name)]
    others = [target for target in node.targets if target not in names[:1]]
    used = {part.id for target in others for part in ast.walk(target) if isinstance(part, ast.Name)}
    if not names or names[0].id in used:
        raise builder.unsupported(node, "a list, dict or set for several targets", "give it a name first", value=value)
    assign_target(builder, names[0], value, node)
    for target in others:
        builder.at(node)
        name = ast.copy_location(ast.Name(id=names[0].id, ctx=ast.Load()), node)
        assign_target(builder, target, builder.evaluate(name), node)


def _assigned_value(builder: Building, node: ast.Assign) -> Value:
    """What is assigned: None or a number to names, where a tuple does not keep it."""
    target = node.targets[0]
    spread = isinstance(target, (ast.Tuple, ast.List)) or (isinstance(target, ast.Name) and target.id == RESULT)
    named = all(isinstance(target, ast.Name) for target in node.targets)
    if (len(node.targets) == 1 and spread) or (named and not isinstance(node.value, ast.Tuple)):
        value = builder.evaluate_open(node.value)
        return value if spread or isinstance(value, Maybe) else builder.present(value)
    return builder.evaluate(node.value)


def assign_target(builder: Building, target: ast.expr, value: Value, node: ast.AST) -> None:
    if isinstance(value, Maybe) and not isinstance(target, ast.Name):
        value = builder.present(value)
    if isinstance(target, ast.Name):
        builder.bind(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(builder, target, value, node)
    elif isinstance(target, ast.Subscript):
        _store_element(builder, target, value, node)
    else:
        assert isinstance(target, ast.Attribute)
        _store_attribute(builder, target, value, node)


def _store_attribute(builder: Building, target: ast.Attribute, value: Value, node: ast.AST) -> None:
    """array.real = value, array.imag, array.flat, array.shape"""
    base = builder.evaluate(target.value)
    builder.at(node)
    if isinstance(base, Struct):
        builder.store_attribute(base, target.attr, value, node)
        return
    if isinstance(base, Array) and not base.is_list:
        if target.attr in ("real", "imag"):
            # NumPy makes an array of the value first, and casts that.
            given = _strong(builder, value, node)
            arrays.store(builder._part(base, target), arrays.as_array(given, builder.emitter), builder.emitter)
            return
        if target.attr == "flat":
            _store_flat(builder, Flat(flat(base, builder.emitter)), Slice(None, None, None), value, target)
            return
        if target.attr == "shape" and isinstance(target.value, ast.Name):
            _store_shape(builder, target.value.id, base, value, node)
            return
    raise builder.unsupported(target, "an assignment to an attribute", "return the value instead")


def _storable(builder: Building, value: Value, node: ast.AST) -> Value:
    return builder.array_of(value, node) if isinstance(value, Tuple) else masks.settled(value, builder.emitter)


def _strong(builder: Building, value: Value, node: ast.AST) -> Value:
    """A value as NumPy makes an array of it by itself."""
    given = _storable(builder, value, node)
    return Scalar(arith.cast(given.expr, given.type.strong)) if isinstance(given, Scalar) else given


def _store_flat(builder: Building, base: Flat, key: Value, value: Value, node: ast.AST) -> None:
    """array.flat[key] = value: as many values as places; NumPy would repeat fewer."""
    value = _storable(builder, value, node)
    place = builder.subscript(base.array, key, node, store=True)
    if isinstance(value, Array) and value.rank and not isinstance(place, Mask):
        source = flat(value, builder.emitter)
        extent = place.shape[0] if isinstance(place, Array) else ONE
        if not builder.emitter.likely_equal(extent, source.shape[0]):
            raise builder.unsupported(node, "as many values for .flat as it has places are needed")
        builder.emitter.same_size(extent, source.shape[0], "RuntimeError", "")
        value = source if isinstance(place, Array) else Scalar(source.element((ZERO,)))
    elif isinstance(place, Mask) and not isinstance(value, Scalar):
        raise builder.unsupported(node, "an assignment to .flat by a mask")
    elif isinstance(place, Scalar) and isinstance(value, Scalar) and _may_not_fit(value.expr, base.array):
        raise builder.unsupported(node, "an element of .flat that may not hold the number", value=value)
    elif isinstance(place, Array) and isinstance(value, Scalar):
        value = arrays.as_array(value, builder.emitter)
    store(builder, base.array, key, value, node)


def _store_shape(builder: Building, name: str, base: Array, value: Value, node: ast.AST) -> None:
    """The one name of an array takes another shape of the same memory."""
    view = base.view
    alone = [n for n, other in builder.scope.values.items() if any(a is base for a in arrays_in(other))] == [name]
    whole = view is not None and view.whole
    mine = view is not None and exclusive(builder, name, view.buffer) if whole else True
    if view is None or not alone or not mine or name in builder.scope.slots or builder.scope.inlined:
        raise builder.unsupported(node, "an assignment to .shape of an array known under another name", "use reshape")
    reshaped = builder.reshape(base, value)
    if reshaped.view is None or reshaped.view.buffer != view.buffer:
        raise builder.unsupported(node, "an assignment to .shape that would need a copy", "use reshape")
    builder.bind(name, reshaped)


def _unpack(builder: Building, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
    stars = [k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
    of_numbers = isinstance(value, Array) and value.is_list and value.rank == 1
    if stars and (of_numbers or (isinstance(value, Records) and not value.is_deque)):
        assert isinstance(value, (Array, Records))
        parts_of = with_middle(builder, value, stars[0], len(target.elts), node)
        for item, part in zip(target.elts, [builder._taken(part) for part in parts_of.items]):
            assign_target(builder, item.value if isinstance(item, ast.Starred) else item, part, node)
        return
    if isinstance(value, Array) and value.rank >= 1:
        parts = arrays.constant_shape(value.shape[:1])
        if any(isinstance(item, ast.Starred) for item in target.elts):
            raise builder.unsupported(node, "a starred target for the rows of an array")
        if parts is not None and parts[0] != len(target.elts):
            raise builder.unsupported(node, f"ValueError: {parts[0]} values for {len(target.elts)} targets")
        if parts is None:
            builder.emitter.same_size(
                value.shape[0], integer(len(target.elts)), "ValueError", "not enough values to unpack", whole=False
            )
        lasting = value.view is not None or value.origin is not None
        row = value if lasting else arrays.materialise(value, builder.emitter)
        value = Tuple(tuple(builder.subscript(row, Scalar(integer(k)), node) for k in range(len(target.elts))))
    if isinstance(value, (Text, Records, Rows)) and not any(isinstance(item, ast.Starred) for item in target.elts):
        items = builder.iteration(value, node)
        fits = Op("eq", (items.trips, integer(len(target.elts))), BOOL)
        builder.emitter.hand_back(fits, "more or fewer values than names to unpack them to")
        value = Tuple(tuple(items.item(integer(k)) for k in range(len(target.elts))))
    if not isinstance(value, Tuple):
        raise builder.unsupported(node, "unpacking of this value", value=value)
    starred = [k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
    if starred:
        value = _gathered(builder, value, starred[0], len(target.elts), node)
    if len(value.items) != len(target.elts):
        raise builder.unsupported(node, f"ValueError: {len(value.items)} values for {len(target.elts)} targets")
    # All values are taken before any name changes: `a, b = b, a + b`.
    taken = [builder._taken(item) for item in value.items]
    taken = [kept_items(builder, part) if isinstance(part, Tuple) else part for part in taken]
    for item, part in zip(target.elts, taken):
        assign_target(builder, item.value if isinstance(item, ast.Starred) else item, part, node)


def _gathered(builder: Building, value: Tuple, place: int, targets: int, node: ast.AST) -> Tuple:
    """a, *b, c = values: what is left for b as a list."""
    extra = len(value.items) - (targets - 1)
    if extra < 0:
        raise builder.unsupported(node, f"ValueError: {len(value.items)} values for {targets} targets")
    middle = Tuple(value.items[place : place + extra], is_list=True)
    return Tuple((*value.items[:place], middle, *value.items[place + extra :]))


def _is_slot_array(builder: Building, value: Array) -> bool:
    buffer = value.view.buffer if value.view else value.origin
    return any(slot.buffer is not None and slot.buffer.name == buffer for slot in builder.scope.slots.values())


def _permutation(builder: Building, target: ast.expr, value: ast.expr, node: ast.Assign) -> bool:
    """`a, b = b, a` on arrays: the names change places, the memory stays."""
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return False
    names = [item.id for item in target.elts if isinstance(item, ast.Name)]
    sources = [item.id for item in value.elts if isinstance(item, ast.Name)]
    if len(names) != len(target.elts) or sorted(names) != sorted(sources) or len(set(names)) != len(names):
        return False
    values = [builder.scope.values.get(name) for name in sources]
    slots = [builder.scope.slots.get(name) for name in names]
    if not all(isinstance(v, Array) and v.view is not None and v.view.whole for v in values):
        return False
    if not all(slot is not None and slot.swapped for slot in slots):
        return False
    buffers = [v.view.buffer for v in values if isinstance(v, Array) and v.view is not None]
    targets = [t.view.buffer for t in (builder.scope.values[name] for name in names) if isinstance(t, Array) and t.view]
    first = builder.emitter.buffers[targets[0]]
    for name in buffers:
        other = builder.emitter.buffers[name]
        if other.type != first.type or other.rank != first.rank or other.layout is not first.layout:
            raise builder.unsupported(node, "a swap of arrays of different type, rank or layout")
        for a, b in zip(first.shape, other.shape):
            builder.emitter.same_size(a, b, "RuntimeError", "")
    builder.emitter.emit(Rebind(tuple(targets), tuple(buffers), builder.emitter.span))
    builder.emitter.exchanged.append(tuple(targets))
    flag = builder.swap_flags.get(frozenset(targets))
    if flag is not None:
        builder.emitter.assign((), flag, (), arith.negate(Read(flag, (), BOOL)))
    builder.emitter.mutations += 1
    return True


def _store_element(builder: Building, target: ast.Subscript, value: Value, node: ast.AST) -> None:
    before = builder.emitter.mutations
    with builder.emitter.capture() as block:
        base, key = builder.evaluate_all([target.value, target.slice])
    if builder.emitter.mutations != before:
        # counts[a][b] = x, where counts[a] makes a dict: x is what it was before.
        if isinstance(value, Scalar):
            value = Scalar(builder._kept(value.expr, "value"))
        elif not isinstance(value, (Dict, Object)) and not (isinstance(value, Tuple) and not value.items):
            raise builder.unsupported(target, "a target whose evaluation changes arrays")
    builder.emitter.blocks[-1].extend(block)
    builder.at(node)
    if isinstance(base, Flat):
        _store_flat(builder, base, key, value, target)
        return
    if isinstance(base, Tuple) and base.is_list and isinstance(target.value, ast.Name):
        _store_item(builder, target.value.id, base, key, value, target)
        return
    is_list = isinstance(base, Records) or (isinstance(base, Array) and base.is_list)
    if is_list and isinstance(key, Slice):
        store_part(builder, base, key, value, node)
        return
    if isinstance(base, Records):
        store_record(builder, base, key, value, node)
        return
    if isinstance(base, Dict):
        store_item(builder, base, key, value, node)
        return
    if isinstance(base, Keyed):
        builder.store_attribute(base.entries, keyed_name(builder, key, node), value, node)
        return
    if builder.store_special(base, key, value, node):
        return
    if not isinstance(base, Array):
        builder.will_change(base)
        raise builder.unsupported(target, "an assignment to an element of this", base=base)
    if base.is_list and isinstance(value, Scalar) and isinstance(key, Scalar):
        hold_both(builder, base, value, node)
    elif isinstance(value, Scalar) and from_either(builder, value.expr):
        keep_in_range(builder, value, base)
    store(builder, base, key, value, target)


def _store_item(builder: Building, name: str, base: Tuple, key: Value, value: Value, node: ast.AST) -> None:
    """An item of a list that exists at compile time only, where every path passes and no other name has it."""
    names = [other for other, held in builder.scope.values.items() if held is base]
    if names != [name] or len(builder.emitter.blocks) > 1 or name in builder.scope.slots or builder.scope.inlined:
        index_at_run_time(builder, base)
        raise builder.unsupported(node, "an assignment to an item of this list here", "make a new list", base=base)
    if isinstance(key, Scalar) and not isinstance(key.expr, Const):
        index_at_run_time(builder, base)
    index = constant_int(key, builder.emitter)
    if not -len(base.items) <= index < len(base.items):
        raise builder.unsupported(node, "IndexError: list assignment index out of range")
    items = list(base.items)
    items[index] = builder._taken(value)
    builder.scope.values[name] = replace(base, items=tuple(items))


def _augment_attribute(builder: Building, node: ast.AugAssign, target: ast.Attribute) -> None:
    base = builder.evaluate(target.value)
    old = _read_before(builder, base, target, node)
    value = masks.settled(builder.evaluate(node.value), builder.emitter)
    builder.at(node)
    if isinstance(base, Struct) and not isinstance(node.op, ast.MatMult):
        _augment_field(builder, base, target.attr, value, node, old)
        return
    plain = isinstance(base, Array) and not base.is_list and target.attr in ("real", "imag")
    if not plain or not isinstance(value, (Scalar, Array)) or isinstance(node.op, ast.MatMult):
        raise builder.unsupported(node, "an augmented assignment to an attribute", base=base)
    assert isinstance(base, Array)
    arrays.update(builder._part(base, target), BINARY[type(node.op)], value, builder.emitter)


def _read_before(builder: Building, base: Value, target: ast.Attribute, node: ast.AugAssign) -> Value | None:
    """The number in an attribute, if what is added to it calls something, which could change it meanwhile."""
    if not isinstance(base, Struct) or not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
        return None
    old = builder.field(base, target.attr, node)
    return Scalar(builder.emitter.snapshot(old.expr, "old")) if isinstance(old, Scalar) else None


def _augment_field(
    builder: Building, base: Struct, name: str, value: Value, node: ast.AugAssign, old: Value | None = None
) -> None:
    """base.name OP= value"""
    old = builder.field(base, name, node) if old is None else old
    if isinstance(old, Array) and not old.is_list and isinstance(value, (Array, Scalar)):
        arrays.update(old, BINARY[type(node.op)], value, builder.emitter)
        return
    if _changed_itself(builder, old, node, value):
        return
    new = builder.binary(BINARY[type(node.op)], old, value, node, builder.emitter.span)
    builder.store_attribute(base, name, new, node)


def _alone(builder: Building, name: str, value: Value) -> bool:
    """Whether a list is nowhere but in the variable `name`: then a new list is as good as a change of this one."""
    if isinstance(value, Tuple):
        held = [other for other, known in builder.scope.values.items() if known is value]
        return value.key is None and held == [name] and not builder.scope.inlined
    if not isinstance(value, Array) or value.growing is not None or row_of(value) is not None:
        return False
    return value.view is None or (value.view.whole and only_list(builder, name, value.view.buffer))


def _changed_itself(builder: Building, current: Value, node: ast.AugAssign, value: Value) -> bool:
    """current OP= value of a list, dict or set, which changes it for all who have it; False if it is none."""
    if isinstance(current, Dict):
        raise builder.unsupported(node, "an update in place of a dict or set", "use a loop", base=current)
    if not is_list(current):
        return False
    if isinstance(node.op, ast.Mult) and isinstance(value, Scalar) and value.type.dtype.is_integer:
        repeat_itself(builder, current, value.expr, node)
        return True
    if not isinstance(node.op, ast.Add) or builder.list_method(current, "extend", [value], node) is None:
        raise builder.unsupported(node, "an update in place of this list", "make a new list", base=current)
    return True


def _augment_array(builder: Building, array: Array, node: ast.AugAssign, value: Value) -> None:
    """array OP= value, in place"""
    value = masks.settled(value, builder.emitter)
    if not isinstance(value, (Scalar, Array)):
        raise builder.unsupported(node, "an update in place by this", value=value)
    if isinstance(value, Scalar):
        arrays.weak_int(value.expr, array.type, builder.emitter)
    arrays.update(array, BINARY[type(node.op)], value, builder.emitter)


def _augment_element(builder: Building, node: ast.AugAssign, target: ast.Subscript) -> None:
    base, key = builder.evaluate_all([target.value, target.slice])
    before = builder.emitter.mutations
    value = builder.evaluate(node.value)
    builder.at(node)
    if builder.emitter.mutations != before:
        raise builder.unsupported(
            node, "an update in place whose value changes arrays", "assign the value to a name first"
        )
    if isinstance(base, (Dict, Records)) and not isinstance(node.op, ast.MatMult):
        key = Scalar(builder.emitter.snapshot(key.expr, "key")) if isinstance(key, Scalar) else key
        old = builder.subscript(base, key, node)
        if isinstance(old, Array) and not old.is_list:
            _augment_array(builder, old, node, value)
            return
        if _changed_itself(builder, old, node, value):
            return
        new = builder.binary(BINARY[type(node.op)], old, value, node, builder.emitter.span)
        if isinstance(base, Dict):
            store_item(builder, base, key, new, node)
        else:
            store_record(builder, base, key, new, node)
        return
    if isinstance(base, Keyed) and not isinstance(node.op, ast.MatMult):
        keyed_item(builder, base, key, node)  # it must be there
        _augment_field(
            builder, base.entries, keyed_name(builder, key, node), masks.settled(value, builder.emitter), node
        )
        return
    if isinstance(base, Flat):
        base = base.array
    if isinstance(base, (Rows, Stack)) and not isinstance(node.op, ast.MatMult):
        held = builder.subscript(base, key, node)
        if isinstance(held, Array) and not held.is_list:
            _augment_array(builder, held, node, value)
            return
        if _changed_itself(builder, held, node, value):
            return
    if not isinstance(base, Array) or (base.view is None and base.part is None):
        raise builder.unsupported(node, "an update in place of this", base=base)
    refuse_two_results(builder, base, value, node)
    if isinstance(node.op, ast.MatMult):
        raise builder.unsupported(node, "@= on elements")
    place = builder.subscript(base, key, node, store=True)
    op = BINARY[type(node.op)]
    if isinstance(place, Mask):
        if isinstance(value, Scalar):
            arrays.weak_int(value.expr, place.array.type, builder.emitter)
        masks.update(place, op, value, builder.emitter)
        return
    value = masks.settled(value, builder.emitter)
    if isinstance(place, Scalar):
        if not isinstance(value, Scalar):
            raise builder.unsupported(node, "an array added to one element", value=value)
        if base.is_list:
            updated = builder.binary(op, place, value, node, builder.emitter.span)
            assert isinstance(updated, Scalar)
            hold_both(builder, base, updated, node)
        else:
            updated = scalar_binary(builder, op, place, value)
        store_scalar(builder, base, place, updated, node)
    elif isinstance(place, Array) and data_dependent(place):
        copied = arrays.copied(place)
        if isinstance(value, Array):
            value = arrays.fitted_operand(value, place.shape, builder.emitter)
        result = arrays.apply(op, [copied, value], builder.emitter)
        assert isinstance(result, Array)
        arrays.check_in_place(result.type, base.type, builder.emitter)
        cast_to = base.type
        stored = Array(result.shape, cast_to, lambda at: arith.cast(result.element(at), cast_to), cost=result.cost)
        scatter(builder, place, stored, node)
    else:
        assert isinstance(place, Array)
        if isinstance(value, Scalar):
            arrays.weak_int(value.expr, place.type, builder.emitter)
        arrays.update(place, op, value, builder.emitter)


def _may_not_fit(expr: Expr, base: Array) -> bool:
    """Whether a number may be none that an element can hold; .flat has exceptions of its own for it."""
    given, own = expr.type.dtype, base.type.dtype
    return takes_integers(base) and given is not own and not isinstance(expr, Const) and given.kind in "iuf"
