"""What the function returns.  In: values; out: result trees of the program and Return nodes.

A new array is handed over, an argument is returned as the very object, a part of either is a view of it.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from weft.frontend import arith, arrays, masks
from weft.frontend.aliasing import Given
from weft.frontend.building import Building
from weft.frontend.dicts import entry_columns
from weft.frontend.enums import is_member
from weft.frontend.growing import Cells
from weft.frontend.handover import out_nested, settle_lists, with_own_lists
from weft.frontend.instances import with_objects
from weft.frontend.items import (
    classes_in,
    has_lists,
    has_names,
    has_objects,
    has_texts,
    row_of,
    template_of,
    types_in,
)
from weft.frontend.mixed import Mixed, hold_integers, show, tell_type, tested_late
from weft.frontend.reasons import ONLY_PYTHON
from weft.frontend.recursion import list_result, optional_result, text_result
from weft.frontend.scope import Slot
from weft.frontend.slots import arrays_in
from weft.frontend.specs import ContainerSpec
from weft.frontend.strings import materialised_text
from weft.frontend.textpool import CODE
from weft.frontend.values import (
    Array,
    Dict,
    EitherType,
    Flat,
    Instance,
    ItemType,
    Keyed,
    Maybe,
    Object,
    ObjectType,
    Records,
    Scalar,
    Struct,
    Text,
    Tuple,
    Value,
    describe,
)
from weft.ir import walk
from weft.ir.expr import ZERO, Expr, Read, Var, integer
from weft.ir.program import (
    ArgumentOut,
    ArrayOut,
    Buffer,
    ConstOut,
    If,
    NoneOut,
    Out,
    Rebind,
    Return,
    Role,
    ScalarOut,
    TupleOut,
    ViewOut,
)
from weft.ir.types import BOOL, PYBOOL, ScalarType

#: A result with more numbers of two types than this is made by a test for each, not by a branch for all.
_MOST_BRANCHES = 3


class Results(Building):
    """`finish` and what it needs."""

    _returned_twice = False  # whether one array stands in two places of the result

    def _exec_return(self, node: ast.Return) -> bool:
        if isinstance(node.value, ast.IfExp):
            branch = self.branched(node, node.value)
            if branch is not None:
                return self._exec_if(branch)
        value: Value = Object(None) if node.value is None else self.evaluate_open(node.value)
        self.at(node)
        self.finish(value, node)
        return False

    def finish(self, value: Value, node: ast.AST) -> None:
        """Return `value` to the Python caller."""
        arrays = [id(array) for array in arrays_in(value)]
        self._returned_twice = len(set(arrays)) < len(arrays)
        containers = list(_containers_in(self, value))
        if len(set(containers)) < len(containers):
            raise self.unsupported(node, "the return of one list, dict or object in two places", "return it once")
        shown = [array.view.buffer for array in arrays_in(value) if array.view is not None]
        lazy = [array.origin for array in arrays_in(value) if array.view is None and array.origin is not None]
        self._returning = frozenset(shown) | {name for name in lazy if lazy.count(name) > 1}
        missing = _first_maybe(value)
        if missing is not None:
            _finish_maybe(self, value, missing, node)
            return
        choice = next(_choices_in(self, value), None)
        if choice is not None:
            _hold_integers_of(self, value)
        if choice is not None and len(list(_choices_in(self, value))) <= _MOST_BRANCHES:
            branches = []
            before = self._late
            tests = dict.fromkeys(part.test for part in _choices_in(self, value))
            self._late = before or {test: tested_late(self, test) for test in tests}
            test = self._late.get(choice.test, choice.test)
            for holds in (True, False):
                with self.emitter.capture() as block:
                    self.finish(_decided(self, value, choice.test, holds), node)
                branches.append(tuple(block))
            self.emitter.emit(If(test, branches[0], branches[1], self.emitter.span))
            self._late = before
            return
        kept = _still_argument(self, value)
        if kept is not None:
            slot, argument, flag = kept
            with self.emitter.capture() as block:
                self.finish(_replaced(value, slot, self.emitter.buffers[argument]), node)
            self.emitter.emit(If(Read(flag, (), BOOL), tuple(block), (), self.emitter.span))
            known = self.emitter.kept.pop(slot)
            self.finish(value, node)
            self.emitter.kept[slot] = known
            return
        exchange = _exchanged(self, value)
        if exchange is None:
            _return(self, self.out(value, node), node)
            return
        # The names of two arguments may have changed places: put them back, and return the object that each denotes.
        first, second, flag = exchange
        for name in (first, second):
            if self.emitter.buffers[name].role is Role.LOCAL:
                self.emitter.buffers[name] = replace(self.emitter.buffers[name], role=Role.RESULT)
        with self.emitter.capture() as block:
            self.emitter.emit(Rebind((first, second), (second, first), self.emitter.span))
            _return(self, _with_buffers(self.out(value, node), {first: second, second: first}), node)
        self.emitter.emit(If(Read(flag, (), BOOL), tuple(block), (), self.emitter.span))
        _return(self, self.out(value, node), node)

    _late: Mapping[Expr, Expr] = MappingProxyType({})  # the tests of the choices of the result at hand

    def out(self, value: Value, node: ast.AST) -> Out:
        if self.is_given_object(value):
            raise self.unsupported(node, "the return of an object")
        number = list_result(self, value, node)
        if number is not None:
            return ScalarOut(number)
        text = text_result(self, value)
        if text is not None:
            return text
        if self.identity(value) in self.own:
            return ArrayOut(self.own[self.identity(value) or ""])
        if isinstance(value, Flat):
            raise self.unsupported(node, "the return of an iterator", "return the array, or a list of the items")
        if isinstance(value, Dict) and self.identity(value) in self.argument_of:
            reason = "the return of a dict or set that is an argument, or another one that its name has got"
            raise self.unsupported(node, reason, "return a copy of it")
        value = masks.settled(value, self.emitter)
        if self.is_nested(value):
            return out_nested(self, value, node)
        if is_member(value):
            return _out_member(self, value.value, node)
        if isinstance(value, Object):
            if value.value is None:
                return NoneOut()
            if isinstance(value.value, (str, bytes)):
                return ConstOut(repr(value.value))
            raise self.unsupported(node, f"the return of {describe(value)}", ONLY_PYTHON)
        if isinstance(value, Text):
            return _out_text(self, value, node)
        if isinstance(value, Scalar):
            lost = self.lost(value.expr)
            if lost is not None:
                tell_type(self, lost)
            show(self, value.expr)
            choice = self.mixed_exprs.get(id(value.expr))
            if choice is not None:
                hold_integers(self, value.expr)
                told = Scalar(arith.cast(choice.test, PYBOOL))
                parts = (Scalar(choice.then), Scalar(choice.orelse), told)
                items = tuple(self.out(part, node) for part in parts)
                return TupleOut(items, named="weft.runtime.containers:one_of")
            if isinstance(value.expr, Read) and value.expr.buffer in self.emitter.boxed:
                raise self.unsupported(node, "the return of an array of rank 0", "add [()]")
            buffer = self.emitter.declare("result", value.type)
            self.emitter.assign((), buffer.name, (), value.expr)
            return ScalarOut(buffer.name)
        if isinstance(value, Tuple) and value.is_deque:
            raise self.unsupported(node, "the return of a deque of which nothing is known", "return a list")
        if isinstance(value, Tuple):
            named = "" if value.named is None else f"{value.named.__module__}:{value.named.__qualname__}"
            _need_names(self, () if value.named is None else (value.named,), node)
            return TupleOut(tuple(self.out(item, node) for item in value.items), value.is_list, named)
        if isinstance(value, Array):
            return _out_array(self, value, node)
        if isinstance(value, Records) and value.growing.limit is not None:
            raise self.unsupported(node, "the return of a deque with maxlen", "return a list of its items")
        if isinstance(value, Records) and isinstance(value.item, ObjectType) and not value.is_deque:
            return _out_objects(self, value, value.item.kind, node)
        if isinstance(value, (Records, Dict)) and has_objects(value.item):
            raise self.unsupported(node, "the return of objects in a container", "return their attributes")
        if isinstance(value, Records):
            return _out_records(self, value, node)
        if isinstance(value, Dict):
            return _out_dict(self, value, node)
        if isinstance(value, Struct):
            return _out_object(self, value, node)
        if isinstance(value, Keyed):
            return _out_keyed(self, value, node)
        if isinstance(value, Instance) and not value.path:
            raise self.unsupported(node, "the return of an object")
        raise self.unsupported(node, "the return of this", ONLY_PYTHON, value=value)

    def plain_out(self, column: Array, node: ast.AST) -> Out:
        return _out_array(self, replace(column, is_list=False), node, packed=True)

    _returning: frozenset[str] = frozenset()


def _containers_in(builder: Building, value: Value) -> Iterator[object]:
    """What identifies each list, dict and object that a result makes for the caller: one of each is made."""
    if builder.identity(value) in builder.own:
        return
    if builder.is_nested(value):
        if row_of(value) is None:
            yield builder.identity(value)  # those among others are made once
        return
    if isinstance(value, Array) and value.is_list and value.view is not None:
        if builder.emitter.buffers[value.view.buffer].role is not Role.PARAM:
            yield value.view.buffer
    elif isinstance(value, Records):
        yield value.growing.data[0]
        if isinstance(value.item, ObjectType):
            yield value.item.kind
    elif isinstance(value, Dict):
        yield value.place if value.table is None else value.table.index
    elif isinstance(value, Struct) and value.row is not None:
        yield value.kind  # two of them may be one object
    elif isinstance(value, Keyed):
        yield from _containers_in(builder, value.entries)
    elif isinstance(value, (Tuple, Struct)):
        if isinstance(value, Struct) or value.is_list:
            yield id(value.fields) if isinstance(value, Struct) else id(value)
        items = value.items if isinstance(value, Tuple) else value.fields.values()
        for item in items:
            if not isinstance(item, Slot):
                yield from _containers_in(builder, item)


def _finish_maybe(builder: Building, value: Value, part: Maybe, node: ast.AST) -> None:
    """Return a value of which a part may be None."""
    sides: tuple[Value, Value] = (part.held, Object(None))
    branches = []
    for side in sides:
        with builder.emitter.capture() as block:
            builder.finish(_settled_maybe(value, part, side), node)
        branches.append(tuple(block))
    builder.emitter.emit(If(part.there, branches[0], branches[1], builder.emitter.span))


def _still_argument(builder: Building, value: Value) -> tuple[str, str, str] | None:
    """An array of the result that may be an argument's very object: its buffer, the argument, and the flag."""
    for array in arrays_in(value):
        view = array.view
        kept = builder.emitter.kept.get(view.buffer) if view is not None else None
        if view is None or kept is None:
            continue
        return view.buffer, kept.param, kept.flag
    return None


def _choices_in(builder: Building, value: Value) -> Iterator[Mixed]:
    """The scalars of a result that are choices between types."""
    for item in value.items if isinstance(value, Tuple) else ():
        yield from _choices_in(builder, item)
    if isinstance(value, Scalar) and id(value.expr) in builder.mixed_exprs:
        yield builder.mixed_exprs[id(value.expr)]


def _hold_integers_of(builder: Building, value: Value) -> None:
    for item in value.items if isinstance(value, Tuple) else ():
        _hold_integers_of(builder, item)
    if isinstance(value, Scalar):
        hold_integers(builder, value.expr)


def _decided(builder: Building, value: Value, test: Expr, holds: bool) -> Value:
    """The value with one side taken of every choice by a test."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_decided(builder, item, test, holds) for item in value.items))
    choice = builder.mixed_exprs.get(id(value.expr)) if isinstance(value, Scalar) else None
    if choice is None or choice.test != test:
        return value
    return Scalar(choice.then if holds else choice.orelse)


def _return(builder: Building, out: Out, node: ast.AST) -> None:
    views = [_positional(view) for view in _own_views(out)]
    if builder._returned_twice and len(views) > len(set(views)):
        reason = f"the return of one view of {views[0].buffer} in two places"
        raise builder.unsupported(node, reason, "add .copy()")
    out = _with_changes(builder, settle_lists(builder, optional_result(builder, out), node), node)
    out = with_objects(builder, out, node)
    results = builder.emitter.results
    if out not in results:
        results.append(out)
    builder.emitter.emit(Return(results.index(out), builder.emitter.span))


def _with_changes(builder: Building, out: Out, node: ast.AST) -> Out:
    """A result that first gives the arguments that have changed what they hold now."""
    elsewhere = {given.name for given in with_own_lists(builder, node)}
    for name, (param, value) in builder.changed.items():
        if name in elsewhere:
            continue
        layout: ItemType | None
        if isinstance(value, Dict) and value.table is not None:
            layout, held = value.key, value.item
            columns = entry_columns(builder, value)
        elif isinstance(value, Records) or (isinstance(value, Array) and value.growing is not None):
            assert value.growing is not None
            layout, held = value.item if isinstance(value, Records) else value.type, None
            columns = builder.columns(Cells(builder.emitter, value.growing), len(value.growing.data))
        else:
            continue  # nothing was ever put into it
        if layout is None or not all(column.type.weak for column in columns):
            raise builder.unsupported(node, "NumPy's numbers put into an argument", "use float() or int()")
        if any(has_texts(part) or has_names(part) for part in (layout, held)):
            out = _refilled(builder, out, param, value, node)
            continue
        if not all(map(_is_plain, (layout, held))):
            raise builder.unsupported(node, f"such items put into the argument {name}", "make a new list", item=value)
        kind = "dict" if isinstance(value, Dict) else "list"
        template = ConstOut(repr(ContainerSpec(kind, layout, held).template))
        plain = [builder.plain_out(column, node) for column in columns]
        kind = "deque" if isinstance(value, Records) and value.is_deque else kind
        out = TupleOut((out, ArrayOut(param), template, *plain), named=f"weft.runtime.containers:changed_{kind}")
    return out


def _refilled(builder: Building, out: Out, param: str, value: Value, node: ast.AST) -> Out:
    """A result that first gives an argument with strings or named tuples in it what it holds now."""
    layouts = (value.key, value.item) if isinstance(value, Dict) else (getattr(value, "item", None),)
    what = "strings" if any(map(has_texts, layouts)) else "named tuples"
    if not isinstance(value, (Dict, Records)):
        raise builder.unsupported(node, f"an argument that holds {what} and changes", "make a copy of it first")
    if isinstance(value, Records) and value.is_deque:
        raise builder.unsupported(node, f"a deque of {what} that changes", "make a copy of it first")
    if any(map(has_objects, layouts)):
        raise builder.unsupported(node, "objects put into an argument", "make a new list or dict of them", item=value)
    kind = "dict" if isinstance(value, Dict) else "list"
    new = _out_dict(builder, value, node) if isinstance(value, Dict) else _out_records(builder, value, node)
    return TupleOut((out, ArrayOut(param), new), named=f"weft.runtime.containers:refilled_{kind}")


def _exchanged(builder: Building, value: Value) -> tuple[str, str, str] | None:
    """Two arguments that were swapped in a loop, if the value returned refers to one, and the flag that tells."""
    named = {array.view.buffer for array in arrays_in(value) if array.view is not None}
    for pair, flag in builder.swap_flags.items():
        if pair & named:
            first, second = sorted(pair)
            return first, second, flag
    return None


def _out_records(builder: Building, value: Records, node: ast.AST) -> Out:
    maker = "deque_of" if value.is_deque else "list_of"
    _need_names(builder, classes_in(value.item), node)
    columns = builder.columns(Cells(builder.emitter, value.growing), len(value.growing.data))
    return _out_container(builder, maker, [template_of(value.item)], as_either([value.item], columns), node)


def _out_dict(builder: Building, value: Dict, node: ast.AST) -> Out:
    if value.table is None:
        return TupleOut((), named="builtins:dict")
    _need_names(builder, [*classes_in(value.key), *classes_in(value.item)], node)
    templates = [template_of(layout) for layout in (value.key, value.item) if layout is not None]
    columns = as_either([value.key, value.item], entry_columns(builder, value))
    return _out_container(builder, "dict_of", templates, columns, node)


def _need_names(builder: Building, kinds: Iterable[type], node: ast.AST) -> None:
    """Results find the classes of their parts by name: one that its module has otherwise is refused."""
    for kind in kinds:
        if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is not kind:
            reason = f"the return of {kind.__name__} objects, whose class its module does not have by that name"
            raise builder.unsupported(node, reason, "give the class the name it is assigned to")


def _out_object(builder: Building, value: Struct, node: ast.AST) -> Out:
    """An object for the caller: a dataclass, made anew from its fields."""
    kind = value.kind
    plain = dataclasses.is_dataclass(kind) and not hasattr(kind, "__post_init__")
    names = [entry.name for entry in dataclasses.fields(kind)] if plain else []
    given = value.fields if value.row is None else builder.emitter.decisions.objects[kind]
    if not plain or set(names) != set(given) or "<locals>" in kind.__qualname__:
        raise builder.unsupported(node, f"the return of an object of type {kind.__name__}", "return its attributes")
    _need_names(builder, (kind,), node)
    items = tuple(builder.out(builder.field(value, name, node), node) for name in names)
    return TupleOut(items, named=f"{kind.__module__}:{kind.__qualname__}")


def _out_keyed(builder: Building, value: Keyed, node: ast.AST) -> Out:
    """A dict for the caller, by the names of its entries."""
    names = tuple(value.entries.fields)
    items = (builder.out(builder.field(value.entries, name, node), node) for name in names)
    return TupleOut((ConstOut(repr(names)), *items), named="weft.runtime.containers:dict_by_names")


def _out_objects(builder: Building, value: Records, kind: type, node: ast.AST) -> Out:
    """A list of objects for the caller: which it holds, and the attributes of all objects of the class."""
    layouts = builder.emitter.decisions.objects[kind]
    here = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
    if not here or any(has_lists(of) or has_texts(of) or has_objects(of) for of in layouts.values()):
        raise builder.unsupported(node, f"the return of objects of type {kind.__name__}", "return their attributes")
    pool = Cells(builder.emitter, builder.pools[kind])
    columns = as_either(layouts.values(), builder.columns(pool, len(pool.growing.data)))
    templates = "(" + "".join(f"{template_of(of)}, " for of in layouts.values()) + ")"
    constants = (f"={kind.__module__}|{kind.__qualname__}", tuple(layouts))
    items: list[Out] = [*(ConstOut(repr(part)) for part in constants), ConstOut(templates)]
    rows = builder.columns(Cells(builder.emitter, value.growing), 1)
    items += [_out_array(builder, column, node) for column in (*rows, *columns)]
    return TupleOut(tuple(items), named="weft.runtime.containers:objects_of")


def _out_container(
    builder: Building, maker: str, constants: list[str], columns: list[Array], node: ast.AST
) -> TupleOut:
    """What a maker of weft.runtime.containers makes of these columns."""
    names = [name for text in constants for name in _class_names(ast.literal_eval(text))]
    if any("." in name for name in names):
        raise builder.unsupported(node, "the return of members of a class inside another", "return their values")
    if any(kind in text for text in constants for kind in ("'str'", "'bytes'", ":")):
        if any("-1" in text for text in constants):
            raise builder.unsupported(node, "the return of strings beside numbers of two types", "convert these")
        count = builder.pool.cells.last()
        codes = Array((count,), CODE, lambda at: Read(builder.pool.buffer, at, CODE))
        plain = [part == 0 for text in constants for part in _number_parts(ast.literal_eval(text))]
        shown = [column if keep else replace(column, is_list=False) for column, keep in zip(columns, plain)]
        items = [ConstOut(repr(maker)), _out_array(builder, codes, node), ConstOut(str(len(constants)))]
        items += [*map(ConstOut, constants), *(_out_array(builder, column, node) for column in shown)]
        return TupleOut(tuple(items), named="weft.runtime.containers:with_texts")
    items = [*(ConstOut(text) for text in constants), *(_out_array(builder, column, node) for column in columns)]
    return TupleOut(tuple(items), named=f"weft.runtime.containers:{maker}")


def _out_member(builder: Building, member: enum.Enum, node: ast.AST) -> Out:
    kind = type(member)
    if "." in kind.__qualname__:
        raise builder.unsupported(node, f"the return of a member of {kind.__name__}", "return its value")
    _need_names(builder, (kind,), node)
    name = ConstOut(repr(f"{kind.__module__}:{kind.__qualname__}"))
    place = Scalar(integer(list(kind).index(member)))
    return TupleOut((name, builder.out(place, node)), named="weft.runtime.texts:member_of")


def _out_text(builder: Building, value: Text, node: ast.AST) -> Out:
    buffer = builder.emitter.buffers.get(value.buffer)
    whole = value.start == ZERO and value.step == 1 and buffer is not None and buffer.shape == (value.length,)
    if whole and buffer is not None and builder.text_kinds.get(buffer.name) == value.kind:
        return ArrayOut(buffer.name)
    maker = {"str": "text_of", "bytes": "bytes_of", "bytearray": "bytearray_of"}[value.kind]
    out = _out_array(builder, materialised_text(builder, value), node)
    return TupleOut((out,), named=f"weft.runtime.texts:{maker}")


def _out_array(builder: Building, value: Array, node: ast.AST, packed: bool = False) -> Out:
    emitter = builder.emitter
    if value.view is not None and value.view.argument is not None:
        return ArgumentOut(value.view.argument)
    if value.fixed:
        raise builder.unsupported(node, "the return of an array that must not be written", "add .copy()")
    if not value.rank and not value.is_list:
        raise builder.unsupported(node, "the return of an array of rank 0", "add [()]")
    if value.growing is not None:
        value = arrays.materialise(value, emitter, "result")
    if value.view is None:
        arrays.keepable(value, emitter)
        if value.origin is not None and _shown(builder, value.origin):
            raise builder.unsupported(node, "the return of such a view of an argument or of a result", "add .copy()")
        value = arrays.materialise(value, emitter, "result")
    if value.view is not None and not value.view.whole and not emitter.buffers[value.view.buffer].rank:
        # A number with axes of extent 1 around it, as keepdims gives: a number has no memory of its own.
        value = arrays.materialise(replace(value, view=None), emitter, "result")
    if value.view is not None and value.view.buffer in emitter.array_memory and not packed:
        # A part of an array in a container: that array is not returned, or Python does it.
        source = value.view.buffer
        value = arrays.materialise(value, emitter, "result")
        emitter.note_given(emitter.blocks[-1][-1], Given(value.view.buffer, source))  # type: ignore[union-attr]
    view = value.view
    assert view is not None
    buffer = emitter.buffers[view.buffer]
    if buffer.role is Role.LOCAL:
        emitter.buffers[buffer.name] = replace(buffer, role=Role.RESULT)
    if buffer.role is Role.PARAM and buffer.name in builder.swapped and not _flagged(builder, buffer.name):
        raise builder.unsupported(
            node, "the return of an argument that was swapped with another array", "return a copy"
        )
    if view.whole:
        return ArrayOut(buffer.name, as_list=value.is_list and buffer.role is not Role.PARAM)
    if value.is_list:
        if buffer.role is Role.PARAM:
            raise builder.unsupported(node, "the return of a part of a list argument")
        return _out_array(builder, arrays.materialise(value, emitter, "result"), node)
    dims, at = emitter.domain(value.shape)
    return ViewOut(buffer.name, dims, view.index(at))


def _shown(builder: Building, buffer: str) -> bool:
    """Whether the caller can see the memory of a buffer otherwise: it is an argument's or is returned as well."""
    role = builder.emitter.buffers[buffer].role
    return role is not Role.LOCAL or buffer in builder.emitter.kept or buffer in builder._returning


def _flagged(builder: Building, buffer: str) -> bool:
    return any(buffer in pair for pair in builder.swap_flags)


def _is_plain(layout: ItemType | None) -> bool:
    """Whether the templates of changed arguments have words for an item: Python's numbers and tuples of them."""
    if isinstance(layout, tuple):
        return not has_names(layout) and all(map(_is_plain, layout))
    return layout is None or isinstance(layout, ScalarType)


def _first_maybe(value: Value) -> Maybe | None:
    """The first part of a result that may be None."""
    if isinstance(value, Tuple):
        return next((found for found in map(_first_maybe, value.items) if found is not None), None)
    return value if isinstance(value, Maybe) else None


def _settled_maybe(value: Value, part: Maybe, side: Value) -> Value:
    """The value with `side` in place of what may be None."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_settled_maybe(item, part, side) for item in value.items))
    return side if value is part else value


def _replaced(value: Value, buffer: str, by: Buffer) -> Value:
    """The value with another buffer of the same shape in place of one."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_replaced(item, buffer, by) for item in value.items))
    view = value.view if isinstance(value, Array) else None
    if isinstance(value, Array) and view is not None and view.buffer == buffer:
        return arrays.view(by, value.shape, view.index, value.is_list, view.whole)
    return value


def _with_buffers(out: Out, names: dict[str, str]) -> Out:
    """A result tree that refers to other buffers."""
    if isinstance(out, TupleOut):
        return replace(out, items=tuple(_with_buffers(item, names) for item in out.items))
    if isinstance(out, (ArrayOut, ViewOut)):
        return replace(out, buffer=names.get(out.buffer, out.buffer))
    return out


def _own_views(out: Out) -> Iterator[ViewOut]:
    """The views that the caller gets as such: not the columns of a container."""
    if isinstance(out, TupleOut) and not out.named.startswith("weft.runtime."):
        for item in out.items:
            yield from _own_views(item)
    elif isinstance(out, ViewOut):
        yield out


def _positional(view: ViewOut) -> ViewOut:
    """A view whose dimensions are named by their positions: two of the same elements are equal."""
    names = {dim.var: f"@{axis}" for axis, dim in enumerate(view.dims)}
    dims = tuple(replace(dim, var=names[dim.var]) for dim in view.dims)
    index = tuple(walk.substitute(part, {old: Var(new) for old, new in names.items()}) for part in view.index)
    return ViewOut(view.buffer, dims, index)


def _number_parts(template: Any) -> list[Any]:
    """What each column of a template stands for: 0 for a number, two columns for a string, one for a member."""
    if isinstance(template, tuple):
        return [part for inner in template for part in _number_parts(inner)]
    if isinstance(template, str) and template.startswith("="):  # the class of a named tuple
        return []
    if template in ("str", "bytes"):
        return [template, template]
    return [] if template in ("int", "float") else [template]


def _class_names(template: Any) -> list[str]:
    """The names, inside their modules, of the classes that a template refers to."""
    if isinstance(template, tuple):
        return [name for part in template for name in _class_names(part)]
    if not isinstance(template, str):
        return []
    mark = "|" if template.startswith("=") else ":"
    return [template.partition(mark)[2]] if mark in template else []


def as_either(layouts: Iterable[ItemType | None], columns: list[Array]) -> list[Array]:
    """The columns of items for the caller: of numbers of two types, all as one, all as the other, and which it is."""
    found: list[Array] = []
    rest = iter(columns)
    for part in (part for layout in layouts for part in _parts_of(layout)):
        if isinstance(part, EitherType):
            numbers = next(rest)
            found += [_cast_to(numbers, kind) for kind in (part.one, part.other)]
            found.append(_cast_to(next(rest), PYBOOL))
        else:
            found += [next(rest) for _ in types_in(part)]
    return found


def _parts_of(layout: ItemType | None) -> list[ItemType | None]:
    return [one for part in layout for one in _parts_of(part)] if isinstance(layout, tuple) else [layout]


def _cast_to(column: Array, of: ScalarType) -> Array:
    if column.type == of:
        return column
    return Array(column.shape, of, lambda at: arith.cast(column.element(at), of), is_list=True, cost=1)
