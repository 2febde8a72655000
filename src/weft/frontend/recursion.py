"""Functions that call themselves.  In: a call of such a function and the values of its arguments; out: an `Invoke` of
a program of its own, built once for each kind of arguments, and the value that the call gives.

    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
      -->  program fib(n): ...; invoke fib(n - 1) gives x; invoke fib(n - 2) gives y; ...
Numbers go in and come out by value, arrays and lists go in as strided views of the caller's memory.  A function that
returns lists or objects works on those that containers hold: they go in and come out as numbers.  What a call gives
must be known before the function has been seen to its end: it is what the returns before the call gave, or a guess; if
the whole function then gives something else, it is built again with that.  Names that a nested function takes from
around it become parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Union

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.blocks import array_at, array_layout
from weft.frontend.building import Building
from weft.frontend.closures import owner_of, standing_alone, surroundings, varying_parameters
from weft.frontend.core import is_list
from weft.frontend.emit import Decisions, Restart
from weft.frontend.growing import Cells
from weft.frontend.held import (
    Held,
    Parts,
    PoolText,
    Row,
    held,
    lent,
    lent_names,
    lent_pool,
    memories,
    names_in,
    pool_names,
    with_texts,
)
from weft.frontend.items import gaps_in, has_gaps, row_of, told_by
from weft.frontend.lists import started
from weft.frontend.mixed import from_either
from weft.frontend.nested import as_row
from weft.frontend.recursive_results import (
    GUESSES,
    LISTS,
    MAYBE,
    TEXT_RESULTS,
    TEXTS,
    Either,
    Optional,
    Template,
    common,
    joined,
    number_of,
    parts_of,
    received_number,
    returns_list,
    returns_text,
    shape_of,
    shapes_of,
    tagged_result,
)
from weft.frontend.scope import Scope
from weft.frontend.source import Source
from weft.frontend.specs import ArraySpec, ListSpec, ScalarSpec, Spec, TextSpec
from weft.frontend.strings import BYTE, is_text, kept_text, materialised_text, text_numbers
from weft.frontend.textpool import CODE, Literals, TextPool
from weft.frontend.values import (
    Array,
    ArrayOf,
    ArraysOf,
    Closure,
    Dict,
    ItemType,
    ListOf,
    Maybe,
    Object,
    ObjectType,
    PythonFunction,
    Records,
    Recursive,
    Scalar,
    Struct,
    Text,
    TextType,
    Tuple,
    Value,
)
from weft.frontend.writing import loop, when
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, Var
from weft.ir.program import Block, Invoke, Layout, Node, NoneOut, Operand, Out, Program, Role, ScalarOut, TupleOut
from weft.ir.types import BOOL, INT, ScalarType
from weft.ir.walk import buffers_written, leaves, linear_in, map_block, map_sub_blocks, sub_blocks, walk
from weft.records import dataclass

if TYPE_CHECKING:
    from weft.frontend.builder import Builder

#: A function: its file and the place of its definition.
Key = tuple[str, int, int]
_MAX_KINDS = 8
#: How often a function is built anew with what its returns have told.
_ROUNDS = 6


@dataclass(frozen=True)
class Fixed:
    """An argument that is compiled in: a function, None, a string; a container of which nothing is known yet."""

    value: Object | PythonFunction | Tuple | Dict


Kind = Union[Spec, Fixed, Held, Row, Parts, PoolText]


@dataclass
class Entry:
    """One function for one kind of arguments; `attempt` is the build under way."""

    name: str
    captured: Recursive | None = None
    program: Program | None = None
    attempt: Builder | None = None
    known: list[Template] = field(default_factory=list)  # what an earlier attempt, or a finished one, gives
    assumed: list[Template] = field(default_factory=list)  # what calls inside the current attempt took it to give
    joined: Template = None  # what covers all that it returns, if its numbers have tags
    optional: Optional | None = None  # it returns None or this
    items: dict[tuple[int, str], ItemType] = field(default_factory=dict)  # what lists hold that it returns empty


@dataclass
class Functions:
    """Every recursive function of one build of a program, kept over its attempts."""

    recursive: set[Key] = field(default_factory=set)
    listing: set[Key] = field(default_factory=set)  # those that return lists: lists are among others for them
    caught: bool = False  # some are called inside a try
    texts: Literals = field(default_factory=Literals)  # of the pool that all of them share, if they do
    varied: set[tuple[Key, str]] = field(default_factory=set)  # parameters that are not one constant string
    sources: dict[tuple[Key, tuple[str, ...]], Source] = field(default_factory=dict)  # of nested functions
    entries: dict[tuple[Key, tuple[object, ...]], Entry] = field(default_factory=dict)

    def mark(self, decisions: Decisions) -> tuple[object, ...]:
        """What all functions of a build depend on: the lists and objects that containers hold, who returns any, and
        whether strings pass between functions."""
        held = {kind: dict(attributes) for kind, attributes in decisions.objects.items()}
        return set(self.listing), list(decisions.heaps), held, self.texts.shared, set(self.varied)

    def programs(self, body: Program) -> tuple[Program, ...]:
        """The functions that a program calls, also by way of each other."""
        table = {e.program.name: e.program for e in self.entries.values() if e.program is not None}
        wanted: dict[str, Program] = {}
        waiting = [body]
        while waiting:
            for node in walk(waiting.pop().body):
                if isinstance(node, Invoke) and node.function not in wanted:
                    wanted[node.function] = table[node.function]
                    waiting.append(table[node.function])
        return tuple(wanted.values())


def places_of(kind: Kind) -> list[tuple[int, str]]:
    """Where the container is made that an argument of some kind is, if its types may yet be found out."""
    if isinstance(kind, Row):
        return gaps_in(kind.layout)
    if isinstance(kind, Held):
        return [*gaps_in(kind.item), *([kind.like.place] if isinstance(kind.like, Dict) else [])]
    value = kind.value if isinstance(kind, Fixed) else None
    if isinstance(kind, Parts):
        return [place for part in kind.items for place in places_of(part)]  # type: ignore[arg-type]
    if isinstance(value, Tuple):
        return [value.key] if value.key is not None else []
    return [value.place] if isinstance(value, Dict) else []


def key_of(source: Source, tree: ast.FunctionDef | ast.Lambda) -> Key:
    return source.file, tree.lineno, tree.col_offset


def with_functions(program: Program, functions: Functions) -> Program:
    """The whole program: with the functions that it calls, and each Invoke told what it writes."""
    called = functions.programs(program)
    if not called:
        return program
    changed = {function.name: frozenset[str]() for function in called}
    table = {function.name: function for function in called}
    while True:
        found = {name: _changed_params(table[name], table, changed) for name in changed}
        if found == changed:
            break
        changed = found

    def settled(owner: Program) -> Program:
        return replace(owner, body=_told(owner.body, table, changed))

    return replace(settled(program), functions=tuple(settled(function) for function in called))


def _written(node: Invoke, table: Mapping[str, Program], changed: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The buffers that one call changes, if each function changes the parameters that `changed` says."""
    pairs = zip(node.arguments, table[node.function].params)
    names = [a.buffer for a, param in pairs if isinstance(a, Operand) and param in changed[node.function]]
    return tuple(dict.fromkeys(names))


def _changed_params(
    program: Program, table: Mapping[str, Program], changed: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    found: set[str] = set()
    for node in walk(program.body):
        if isinstance(node, Invoke):
            found |= set(_written(node, table, changed))
        elif not sub_blocks(node):
            found |= buffers_written(node)
    lent = [b.name for b in program.buffers if b.role is Role.HELD]
    return frozenset(b.name for b in program.buffers if b.role is Role.PARAM and b.rank and b.name in found).union(lent)


def _told(body: Block, table: Mapping[str, Program], changed: Mapping[str, frozenset[str]]) -> Block:
    def tell(node: Node) -> Node:
        if isinstance(node, Invoke):
            writes = _written(node, table, changed)
            passed = [operand.buffer for operand in node.operands]
            if any(passed.count(name) > 1 for name in writes):
                reason = f"a recursive call of {node.function} with two views of one array, of which it changes one"
                raise Unsupported(node.span, reason, "pass the whole array and where the parts begin")
            return replace(node, writes=writes)
        return map_sub_blocks(node, lambda inner: map_block(inner, tell))

    return map_block(body, tell)


class Recursion(Building):
    """`invoke` and what it needs."""

    def _looked_up(self, value: Value) -> Value:
        """What a call has given, now that it is known which arrays these are."""
        if isinstance(value, Tuple):
            return replace(value, items=tuple(map(self._looked_up, value.items)))
        number = row_of(value)
        if number is None or not isinstance(value, Array) or value.is_list:
            return value
        return array_at(self, array_layout(self, value), number)

    # --- lists and objects among others of their kind ---------------------------------------------------------------

    def lends_memory(self) -> bool:
        return bool(self.functions.recursive)


def text_result(builder: Building, value: Value) -> Out | None:
    """A string that a recursive function returns; None if the value is none, or Python is the caller."""
    if builder.entry is None or not is_text(value):
        return None
    text = builder.text(value)
    named = f"weft:{text.kind}"
    if named not in TEXT_RESULTS:
        return None
    share_texts(builder)
    parts = []
    for name, number in zip(("start", "length"), text_numbers(builder, text)):
        parts.append(builder.emitter.declare(name, INT).name)
        builder.emitter.assign((), parts[-1], (), number)
    return TupleOut(tuple(map(ScalarOut, parts)), named=named)


def list_result(builder: Building, value: Value, node: ast.AST) -> str | None:
    """The scalar with the number of a list or object that a recursive function returns; None if it is none."""
    whole = isinstance(value, Array) and value.rank > 0
    if builder.entry is None or not (is_list(value) or isinstance(value, Struct) or whole):
        return None
    home = builder.active[0]
    if home not in builder.functions.listing:
        builder.functions.listing.add(home)
        raise Restart
    layout = builder.layout(value)
    known = isinstance(layout, (ArrayOf, ObjectType)) or (
        isinstance(layout, ListOf) and (layout.item is not None or layout.site is not None)
    )
    if not isinstance(layout, (ListOf, ArrayOf, ObjectType)) or not known:
        raise builder.unsupported(node, "a recursive function that returns this", "return numbers or lists of numbers")
    if isinstance(layout, ListOf):
        _listed(builder, value, layout, node)
    if with_texts(layout):
        share_texts(builder)
    number = builder.emitter.declare("result", INT)
    builder.emitter.assign((), number.name, (), builder.numbers(layout, value)[0])
    builder.row_results[number.name] = layout
    return number.name


def _blank(builder: Building, template: Template) -> Out:
    """Something in place of a value that is not there."""
    if isinstance(template, tuple):
        return TupleOut(tuple(_blank(builder, part) for part in template))
    if template is None or isinstance(template, Optional):
        return NoneOut()
    if isinstance(template, TextType):
        parts = tuple(_blank(builder, INT) for _ in range(2))
        return TupleOut(parts, named=next(name for name, of in TEXT_RESULTS.items() if of == template))
    number = builder.emitter.declare("nothing", of := number_of(template))
    builder.emitter.assign((), number.name, (), arith.cast(Const(0, INT), of))
    if isinstance(template, Row):
        builder.row_results[number.name] = template.layout
    return tagged_result(builder, ScalarOut(number.name), template)


def optional_result(builder: Building, out: Out) -> Out:
    """A result of a function that returns None on some paths: whether there is a value, and the value."""
    _release(builder, out)
    if builder.entry is not None:
        out = tagged_result(builder, out, builder.entry.joined)
    optional = None if builder.entry is None else builder.entry.optional
    if optional is None:
        return out
    there = builder.emitter.declare("there", BOOL)
    builder.emitter.assign((), there.name, (), Const(not isinstance(out, NoneOut), BOOL))
    value = _blank(builder, optional.held) if isinstance(out, NoneOut) else out
    return TupleOut((ScalarOut(there.name), value), named=MAYBE)


def is_recursive(builder: Building, key: Key) -> bool:
    """Whether calls of a function are left as calls; the build starts again when that is found out."""
    if key in builder.functions.recursive:
        return True
    if key in builder.active:
        builder.functions.recursive.add(key)
        raise Restart
    return False


def invoke_closure(builder: Building, function: Closure, values: Mapping[str, Value], node: ast.AST) -> Value:
    """A call of a nested function that is recursive: what it takes from around it are further arguments."""
    if not isinstance(function.tree, ast.FunctionDef):
        raise builder.unsupported(node, "a lambda that is called within itself")
    around = surroundings(function.tree, function.scope)
    if isinstance(around, str):
        raise builder.unsupported(node, around)
    outside: Source = function.scope.source
    key = key_of(outside, function.tree), (*around.values, "", *around.shared)
    source = builder.functions.sources.get(key)
    if source is None:
        tree = standing_alone(function.tree, around)
        source = builder.functions.sources[key] = replace(outside, name=tree.name, tree=tree)
    captured = Recursive(source, tuple(around.values), around.shared)
    return _with_shared(builder, captured, {**values, **around.values}, function.scope, node)


def invoke_itself(builder: Building, function: Recursive, values: Mapping[str, Value], node: ast.AST) -> Value:
    """A call of a nested function in its own body, or in a function that is called there."""
    home: Scope | None = builder.scope
    while home is not None and home.values.get(function.source.name) is not function:
        home = home.parent
    if home is None:
        raise builder.unsupported(node, f"a call of {function.source.name} from outside of it")
    extra = {name: home.values[name] for name in function.captured}
    return _with_shared(builder, function, {**values, **extra}, home, node)


def _with_shared(
    builder: Building, function: Recursive, values: Mapping[str, Value], place: Scope, node: ast.AST
) -> Value:
    """The call; what it leaves in the variables that it shares with the scopes around it is put there."""
    if not function.shared:
        return invoke(builder, function.source, values, node, function)
    if builder.scope.regions:
        raise builder.unsupported(node, f"{function.source.name} changes variables around it, in a task")
    types = [_shared_type(builder, name, values[name], function, node) for name in function.shared]
    given = invoke(builder, function.source, values, node, function)
    assert isinstance(given, Tuple)
    here = builder.scope
    for name, value, of in zip(function.shared, given.items[1:], types):
        if not isinstance(value, Scalar) or value.type != of:
            reason = f"{function.source.name} gives {name} a value of another type"
            raise builder.unsupported(node, reason, f"give {name} one type")
        owner = owner_of(place, name)
        assert owner is not None
        builder.scope = owner
        try:
            builder.bind(name, value)
        finally:
            builder.scope = here
    builder.emitter.mutations += 1  # operands to the left of the call have the values from before
    return given.items[0]


def _shared_type(builder: Building, name: str, value: Value, function: Recursive, node: ast.AST) -> ScalarType:
    if isinstance(value, Scalar) and builder.lost(value.expr) is None and id(value.expr) not in builder.mixed_exprs:
        return value.type
    reason = f"{function.source.name} gives {name} another value"
    raise builder.unsupported(node, reason, "change the one it has", variable=value)


def invoke(
    builder: Building, source: Source, values: Mapping[str, Value], node: ast.AST, captured: Recursive | None = None
) -> Value:
    """A call of a recursive function: `values` are those of its parameters; `captured` tells what a nested one
    takes from around it."""
    spec = source.tree.args
    if spec.vararg or spec.kwarg:
        raise builder.unsupported(node, "a recursive function with * or ** parameters")
    values = {a.arg: values[a.arg] for a in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]}
    span = builder.emitter.span
    values = {name: typed_later(builder, name, value) for name, value in values.items()}
    if key_of(source, source.tree) in builder.functions.listing:
        values = {name: _among_others(builder, value) for name, value in values.items()}
    values = _varying_texts(builder, source, values)
    given = [_given(builder, name, value, node) for name, value in values.items()]
    specs = tuple(spec for spec, _ in given)
    passed: list[Expr | Operand] = [Operand(name, (), ()) for name in _lent_names(builder)]
    passed += [argument for _, arguments in given for argument in arguments]
    shared = [operand.buffer for operand in passed if isinstance(operand, Operand)]
    entry = _entry(builder, source, specs, captured, node)
    template = _gives(builder, entry)
    builder.emitter.span = span
    results: list[str] = []
    value = _received(builder, template, entry.name, results)
    builder.emitter.emit(Invoke(entry.name, tuple(passed), tuple(results), tuple(shared), span))
    if shared:
        builder.emitter.mutations += 1
    return builder._looked_up(value)


def typed_later(builder: Building, name: str, value: Value) -> Value:
    """An empty list that is made for a call: what it holds is told by what is put into it, as if it had a name."""
    if isinstance(value, Tuple) and value.is_list and not value.items and value.key is None:
        return started(builder, name, value, is_deque=False)
    return value


def _received(builder: Building, template: Template, name: str, results: list[str]) -> Value:
    """The value that a call gives, in new variables."""
    if template is None:
        return Object(None)
    if isinstance(template, tuple):
        return Tuple(tuple(_received(builder, part, name, results) for part in template))
    if isinstance(template, Optional):
        there = builder.emitter.declare(name, BOOL)
        results.append(there.name)
        return Maybe(Read(there.name, (), BOOL), _received(builder, template.held, name, results))
    if isinstance(template, Either):
        return received_number(builder, template, name, results)
    if isinstance(template, TextType):
        parts = [builder.emitter.declare(f"{name}_{part}", INT).name for part in ("start", "length")]
        results.extend(parts)
        return builder.text_of(template.kind, *(Read(part, (), INT) for part in parts))
    if isinstance(template, Row):
        number = builder.emitter.declare(name, INT)
        results.append(number.name)
        return builder.assembled(template.layout, iter([Read(number.name, (), INT)]), certain=False)
    buffer = builder.emitter.declare(name, template)
    results.append(buffer.name)
    return Scalar(Read(buffer.name, (), template))


def _lent_names(builder: Building) -> list[str]:
    """The memory of all lists and objects that containers hold, which every call is lent."""
    found = [name for heap in builder.heaps.values() for _, memory in memories(heap) for name in lent_names(memory)]
    found += [name for memory in builder.pools.values() for name in lent_names(memory)]
    return found + (pool_names(builder.pool.memory()) if builder.functions.texts.shared else [])


def borrow(builder: Building, lender: Building) -> None:
    """Take over the memory of the lists and objects of a caller, in the function that it calls."""
    table = lender.emitter.buffers
    attributes = [layout for owner in builder.emitter.decisions.objects.values() for layout in owner.values()]
    if any(map(with_texts, (*lender.heaps, *attributes))):
        share_texts(builder)
    if builder.functions.texts.shared:
        borrowed = lent_pool(builder.emitter, lender.pool.memory(), table)
        builder._pool = TextPool(builder.emitter, builder.functions.texts, borrowed, outermost=False)
    for item, heap in lender.heaps.items():
        parts = {name: lent(builder.emitter, name, memory, table) for name, memory in memories(heap)}
        builder.heaps[item] = replace(heap, **parts)
        if isinstance(item, ArraysOf):
            builder.emitter.array_memory |= {*parts["cells"].data, *parts["cells"].spare}
    for kind, memory in lender.pools.items():
        builder.pools[kind] = lent(builder.emitter, kind.__name__.lower(), memory, table)
    builder.emitter.params.extend(_lent_names(builder))


def share_texts(builder: Building) -> None:
    """Strings pass between functions: the build starts again with one pool for all of them."""
    if not builder.functions.texts.shared:
        builder.functions.texts.shared = True
        raise Restart


def mark_memory(builder: Building) -> None:
    """Note how much memory of lists is in use where a function that returns lists begins."""
    if builder.active[0] in builder.functions.listing:
        for item, heap in builder.heaps.items():
            if isinstance(item, ScalarType) and heap.index is None:
                builder.marks[item] = (
                    Cells(builder.emitter, heap.rows).last(),
                    Cells(builder.emitter, heap.cells).last(),
                )


def _release(builder: Building, out: Out) -> None:
    """Give back the memory of lists that nobody can know behind a return: all made here but the one returned.

    No container may hold lists of the kind, and those that were given must not have moved behind the mark.
    """
    for item, (rows, cells) in builder.marks.items():
        kind = ListOf(item)
        given = [leaf.buffer for leaf in leaves(out) if isinstance(leaf, ScalarOut)]
        given = [name for name in given if builder.row_results.get(name) == kind]
        if len(given) > 1 or _held_in_containers(builder, kind):
            continue
        heap = builder.heaps[item]
        start, _, room = heap.rows.data
        settled: Expr = Const(True, BOOL)
        for of, row in builder.row_params:
            if of == item:
                end = Op("add", (Read(start, (row,), INT), Read(room, (row,), INT)), INT)
                settled = Op("and", (settled, Op("le", (end, cells), BOOL)), BOOL)
        lists, numbers = Cells(builder.emitter, heap.rows), Cells(builder.emitter, heap.cells)
        with when(builder.emitter, settled):
            kept: Expr = Op("ge", (Read(given[0], (), INT), rows), BOOL) if given else Const(False, BOOL)
            kept = builder.emitter.snapshot(kept, "kept")
            with when(builder.emitter, arith.negate(kept)):
                lists.length.set(rows)
                numbers.length.set(cells)
            if given:
                with when(builder.emitter, kept):
                    _move_down(builder, Read(given[0], (), INT), rows, cells, item)


def _move_down(builder: Building, number: Read, rows: Expr, cells: Expr, item: ItemType) -> None:
    """The list that is returned takes the place of the first that was made."""
    emitter, heap = builder.emitter, builder.heaps[item]
    lists, numbers = Cells(emitter, heap.rows), Cells(emitter, heap.cells)
    first, count, _ = lists.taken(number)
    with loop(emitter, ZERO, count) as at:
        numbers.write(Op("add", (cells, at), INT), list(numbers.taken(Op("add", (first, at), INT))))
    lists.write(rows, (cells, count, count))
    lists.length.set(Op("add", (rows, ONE), INT))
    numbers.length.set(Op("add", (cells, count), INT))
    emitter.assign((), number.buffer, (), rows)


def _held_in_containers(builder: Building, kind: ListOf) -> bool:
    """Whether containers hold lists of a kind, or what is known of them does not say."""
    decisions = builder.emitter.decisions
    entries = [part for pair in decisions.entries.values() for part in pair]
    attributes = [layout for owner in decisions.objects.values() for layout in owner.values()]
    own = [part for spec in builder.kinds_given for part in _layouts(spec)]
    return any(_mentions(part, kind) for part in (*decisions.items.values(), *entries, *attributes, *own)) or any(
        not isinstance(item, ScalarType) for item in decisions.heaps
    )


def _among_others(builder: Building, value: Value) -> Value:
    """A list that is given to a function that returns lists: it may be the one that is returned."""
    whole = isinstance(value, (Array, Records)) or (isinstance(value, Tuple) and bool(value.items))
    if not whole or not is_list(value) or row_of(value) is not None:
        return value
    view = value.view if isinstance(value, Array) else None
    if view is not None and builder.emitter.buffers[view.buffer].role is Role.PARAM:
        return value  # the caller's own: it is read, and if it is returned Python does that
    layout = builder.layout(value)
    if not isinstance(layout, ListOf) or layout.item is None:
        return value
    builder.escape(value)
    return as_row(builder, value)


def _listed(builder: Building, value: Value, layout: ListOf, node: ast.AST) -> None:
    """A list that is returned is one among others, or a new one without a name: nobody knows it by another."""
    if row_of(value) is None and isinstance(value, Array) and value.view is not None and value.view.whole:
        if builder.emitter.buffers[value.view.buffer].role is not Role.LOCAL:
            raise builder.unsupported(node, "the return of a list that a recursive function was given", "copy it")


def _given(builder: Building, name: str, value: Value, node: ast.AST) -> tuple[Kind, tuple[Expr | Operand, ...]]:
    """The kind of an argument, and how it is passed."""
    value = masks.settled(value, builder.emitter)
    if isinstance(value, Scalar) and from_either(builder, value.expr):
        reason = f"the argument {name} of a recursive function is either Python's or NumPy's number"
        raise builder.unsupported(node, reason, "use int() or float()")
    if isinstance(value, Scalar):
        return ScalarSpec(value.type), (builder.emitter.snapshot(value.expr, name),)
    if isinstance(value, Text) or (isinstance(value, Object) and value.argument is not None):
        return _string(builder, name, builder.text(value))
    row = row_of(value)
    if row is not None:
        layout = builder.layout(value)
        assert isinstance(layout, (ListOf, ArrayOf, ObjectType))
        return Row(layout), (builder.emitter.snapshot(row, name),)
    if isinstance(value, Tuple) and value.is_list and value.items and value.key is not None:
        listed = _among_others(builder, value)
        if row_of(listed) is not None:
            return _given(builder, name, listed, node)
    unknown = (isinstance(value, Tuple) and value.key is not None) or (isinstance(value, Dict) and not value.table)
    if isinstance(value, (Object, PythonFunction)) or (isinstance(value, (Tuple, Dict)) and unknown):
        return Fixed(value), ()
    shared = held(value)
    if shared is not None:
        if with_texts(shared.item) or with_texts(shared.key):
            share_texts(builder)
        if builder.scope.regions:
            raise builder.unsupported(node, f"the argument {name} of a recursive function, in a task")
        return shared, tuple(Operand(part, (), ()) for part in names_in(shared.like))
    if isinstance(value, Array) and value.rank:
        spec, operand = _view(builder, name, value, node)
        return spec, (operand,)
    if isinstance(value, Tuple) and not value.is_list:
        parts = [_given(builder, f"{name}_{place}", item, node) for place, item in enumerate(value.items)]
        return Parts(tuple(kind for kind, _ in parts), value.named), tuple(one for _, all_ in parts for one in all_)
    listed = _among_others(builder, value)
    if row_of(listed) is not None:
        return _given(builder, name, listed, node)
    reason = f"the argument {name} of a recursive function"
    raise builder.unsupported(node, reason, "pass numbers and arrays", argument=value)


def _string(builder: Building, name: str, text: Text) -> tuple[Kind, tuple[Expr | Operand, ...]]:
    """A string as the memory that it is in, if an argument could be in such memory; else as a copy."""
    kept = kept_text(builder, text, name)
    if builder.functions.texts.shared and (not kept.buffer or kept.buffer == builder.pool.buffer):
        return PoolText(kept.kind), tuple(text_numbers(builder, kept))
    of = CODE if text.kind == "str" else BYTE
    fits = bool(kept.buffer) and kept.step == 1 and builder.emitter.buffers[kept.buffer].type == of
    buffer, start = kept.buffer, kept.start
    if not fits:
        copied = materialised_text(builder, kept)
        assert copied.view is not None
        buffer, start = copied.view.buffer, ZERO
    dims, at = builder.emitter.domain((kept.length,))
    return TextSpec(kept.kind), (Operand(buffer, dims, (ix.add(start, at[0]),)),)


def _view(builder: Building, name: str, array: Array, node: ast.AST) -> tuple[Spec, Operand]:
    """An array as the memory that it is; a value that has none yet gets some."""
    emitter = builder.emitter
    if array.is_list:
        if array.view is None or not array.type.weak:
            raise builder.unsupported(node, f"the list {name} as an argument of a recursive function")
        spec: Spec = ListSpec(array.type, array.rank)
    else:
        if array.view is None and array.part is None:
            array = arrays.materialise(array, emitter, name)
        if array.view is None:
            raise builder.unsupported(node, f"parts of complex numbers as the argument {name} of a recursive function")
        whole = array.view.whole and emitter.buffers[array.view.buffer].layout is Layout.C
        spec = ArraySpec(array.type.dtype, (False,) * array.rank, Layout.C if whole else Layout.STRIDED)
    assert array.view is not None
    dims, at = emitter.domain(array.shape)
    index = array.view.index(at)
    if not _is_strided(array):
        raise builder.unsupported(node, f"the argument {name} of a recursive function, which is no strided array")
    return spec, Operand(array.view.buffer, dims, index)


def _varying_texts(builder: Building, source: Source, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Constant strings become data where a parameter gets another string in another call.

    A function is built for each constant: a string that grows from call to call would have it built for ever.
    """
    key, varied = key_of(source, source.tree), builder.functions.varied
    fixed = {name: value for name, value in values.items() if isinstance(value, Object) and is_text(value)}
    built = [dict(zip(values, specs)) for known, specs in builder.functions.entries if known == key]
    changing = varying_parameters(source.tree) | {name for known, name in varied if known == key}
    for name, value in fixed.items():
        if name not in changing and any(Fixed(value) != kinds[name] for kinds in built):
            varied.add((key, name))
            raise Restart
    return {name: builder.text(v) if name in fixed and name in changing else v for name, v in values.items()}


def _entry(
    builder: Building, source: Source, specs: tuple[Kind, ...], captured: Recursive | None, node: ast.AST
) -> Entry:
    key = key_of(source, source.tree)
    entries = builder.functions.entries
    entry = entries.get((key, specs))
    if entry is not None:
        return entry
    if sum(k == key for k, _ in entries) >= _MAX_KINDS:
        raise builder.unsupported(node, f"{source.name} with arguments of ever other types", "give them one type")
    taken = {e.name for e in entries.values()}
    name = source.name if source.name.isidentifier() else "function"
    while name in taken:
        name += "_"
    entry = entries[key, specs] = Entry(name, captured)
    try:
        _settle_function(builder, source, specs, entry)
    except BaseException:
        del entries[key, specs]
        raise
    return entry


def _settle_function(builder: Building, source: Source, specs: tuple[Kind, ...], entry: Entry) -> None:
    """Build a function until what its calls were taken to give is what it gives."""
    failure: Unsupported | None = None
    guessed = True  # what fails has to do with the guess: some call was taken to give it
    names = [a.arg for a in [*source.tree.args.posonlyargs, *source.tree.args.args, *source.tree.args.kwonlyargs]]
    kinds = dict(zip(names, specs))
    shared = () if entry.captured is None else entry.captured.shared
    left = tuple(kind.type for kind in map(kinds.__getitem__, shared) if isinstance(kind, ScalarSpec))
    may_be_text = returns_text(source.tree) or any(isinstance(kind, (TextSpec, PoolText)) for kind in specs)
    guesses = GUESSES + (TEXTS if may_be_text else ()) + (LISTS if returns_list(source.tree) else ())
    for guess in guesses:
        if isinstance(guess, Row) and key_of(source, source.tree) not in builder.functions.listing:
            builder.functions.listing.add(key_of(source, source.tree))
            raise Restart
        if not guessed and not isinstance(guess, Row):
            continue
        entry.known = [(guess, *left) if shared else guess]
        for _ in range(_ROUNDS):
            entry.assumed.clear()
            try:
                built = builder.nested(source, specs, entry)
            except Unsupported as error:
                failure, guessed = failure or error, bool(entry.assumed)
                break
            assert entry.attempt is not None
            shapes = shapes_of(built.program, entry.attempt.row_results)
            if _learnt(builder, entry, shapes, guess):
                continue
            actual = common(shapes, entry.assumed, source)
            if all(assumed == actual for assumed in entry.assumed):
                entry.known, entry.attempt = [actual], None
                entry.program = replace(built.program, name=entry.name)
                return
            entry.known = [actual]
    raise failure or Unsupported(
        source.span(source.tree), f"{source.name} gives values of different types", "give it one type of result"
    )


def _learnt(builder: Building, entry: Entry, shapes: list[Template], guess: Template) -> bool:
    """Whether what a function returns tells of None, or of lists that are empty on some paths: then once more."""
    for parts in zip(*(list(parts_of(shape)) for shape in shapes if shape is not None)):
        layouts = [part.layout for part in parts if isinstance(part, Row)]
        lists = [layout for layout in layouts if isinstance(layout, ListOf)]
        known = next((one for one in lists if not has_gaps(one)), None)
        told = {site: item for one in lists for site, item in told_by(one, known).items()}
        if any(entry.items.get(site) != item for site, item in told.items()):
            entry.items.update(told)
            return True
    others = [shape for shape in shapes if shape is not None]
    shared = entry.captured is not None and entry.captured.shared
    if len(others) > 1 and entry.joined is None and not shared:
        own = [shape for shape in others if shape not in entry.assumed]
        entry.joined = joined(others) or (joined(own) if len(own) > 1 else None)
        if entry.joined is not None:
            return True
    if entry.optional is None and guess is not None and len(others) == 1 and None in shapes and not shared:
        entry.optional = Optional(others[0])
        return True
    return False


def _gives(builder: Building, entry: Entry) -> Template:
    """What a call gives, as far as it is known."""
    told = entry.optional or entry.joined
    if told is not None and entry.program is None:
        entry.assumed.append(told)
        return told
    if entry.program is not None or entry.attempt is None:
        return entry.known[0]
    seen, rows = entry.attempt.emitter.results, entry.attempt.row_results
    template = shape_of(seen[0], entry.attempt.emitter.buffers, rows) if seen else entry.known[0]
    entry.assumed.append(template)
    return template


def _is_strided(array: Array) -> bool:
    """Whether an array is a view that steps through memory evenly, wherever it begins."""
    if array.view is None:
        return False
    names = [f"?{axis}" for axis in range(array.rank)]
    return all(linear_in(e, {*names}) for e in array.view.index(tuple(Var(name) for name in names)))


def _layouts(kind: Kind) -> list[ItemType | None]:
    """What the containers hold that an argument of some kind is."""
    if isinstance(kind, Parts):
        return [part for inner in kind.items for part in _layouts(inner)]  # type: ignore[arg-type]
    if isinstance(kind, Held):
        return [kind.item, kind.key]
    return [kind.layout.item] if isinstance(kind, Row) and isinstance(kind.layout, ListOf) else []


def _mentions(layout: ItemType | None, kind: ListOf) -> bool:
    if isinstance(layout, tuple):
        return any(_mentions(part, kind) for part in layout)
    return isinstance(layout, ListOf) and (layout == kind or layout.item is None or _mentions(layout.item, kind))
