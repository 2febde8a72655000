"""List comprehensions and generators that a function folds at once.  In: the comprehension; out: loops.

    [e for x in it]                 -->  a buffer of as many items as there are trips
    [e for x in it if c for y in x] -->  a list that grows as the loops run
    sum(e for x in it if c)         -->  def f(it): s = 0; for x in it: if c: s = s + e; return s      (called here)

Loops over a tuple known at compile time are run through at compile time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Union

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks, reads, revisions
from weft.frontend.building import Building
from weft.frontend.choices import evaluate_run
from weft.frontend.core import kept_for, written_by
from weft.frontend.dicts import store_item
from weft.frontend.emit import Choosing
from weft.frontend.expressions import minus_one, scalar_binary
from weft.frontend.foreseen import sum_type
from weft.frontend.lists import literal_list, started
from weft.frontend.loops import still_there, watch
from weft.frontend.mixed import Mixed, benign, from_either, note_mixed
from weft.frontend.nested import keep_rows, share_rows
from weft.frontend.source import parsed
from weft.frontend.statements import assign_target
from weft.frontend.strings import is_text
from weft.frontend.values import Array, Dict, Generator, Iterable, Object, Records, Scalar, Struct, Tuple, Value
from weft.frontend.writing import loop, repeat, variable
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Read, Var
from weft.ir.program import Alloc, If, Loop, Stmt
from weft.ir.types import BOOL, FLOAT, INT, ScalarType, join

_Loops = Union[ast.ListComp, ast.GeneratorExp, ast.DictComp]
#: What a comprehension calls its first iterable, which is evaluated outside of it.
_ITERABLE, _TOTAL = "_iterable", "_total"


class _Arrays(Exception):
    """The items of a sum are arrays."""


class Comprehensions(Building):
    """Comprehensions as loops."""

    def _eval_listcomp(self, node: ast.ListComp) -> Value:
        """A list of one type, kept as a buffer (or a compile-time list over a tuple)."""
        return self.comprehension(node, lists=True)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, lists: bool) -> Value:
        """The items of a comprehension: as a list, or (not `lists`) as the array that np.array makes of them."""
        if any(generator.is_async for generator in node.generators):
            raise self.unsupported(node, "an asynchronous comprehension")
        first = _run_of(self, node.generators[0], node)
        saved, stale, known = dict(self.scope.values), set(self.scope.stale), set(self.scope.known)
        try:
            items = _compile_time_items(self, node, first)
            if items is not None:
                return Tuple(tuple(items), is_list=True)
            simple = len(node.generators) == 1 and not node.generators[0].ifs
            if simple and not isinstance(first, Generator) and not _is_watched(self, node.generators[0]):
                return self._list_buffer(node, node.generators[0], first, lists)
            return _grown_list(self, node, first)
        finally:
            self.scope.values, self.scope.stale, self.scope.known = saved, stale, self.scope.known & known

    # --- one loop ---------------------------------------------------------------------------------------------------

    def _list_buffer(
        self, node: ast.ListComp | ast.GeneratorExp, generator: ast.comprehension, iterable: Value, lists: bool
    ) -> Value:
        emitter = self.emitter
        items = self.iteration(iterable, node)
        trips = emitter.stable(items.trips)
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim), self._looking_at(generator, iterable):
            assign_target(self, generator.target, items.item(Var(dim.var)), node)
            value = self.evaluate(node.elt)
            nested = lists and _is_nested(self, node, value, dim, block)
            if isinstance(value, Tuple) and value.is_list and not nested:
                value = literal_list(self, value, node)
            elif isinstance(value, Tuple) and not lists:
                value = self.array_of(value, node)
        watch(self, items, block, generator)
        several = isinstance(value, (Tuple, Struct)) or is_text(value) or self.is_choice(value)
        several = several or (isinstance(value, Array) and not value.is_list) or emitter.is_boxed(value)
        if nested or (lists and several and _has_layout(self, value)):
            return _grown_list(self, node, iterable)
        if isinstance(value, Scalar):
            buffer = emitter.allocate("list", value.type, (trips,))
            store = Stmt((), buffer.name, (Var(dim.var),), value.expr, None, emitter.span)
        elif isinstance(value, Array) and (value.is_list or not lists) and not _varies(self, value, dim):
            if lists:
                keep_rows(self, value)
            shape = _outside_shape(self, value, block, node)
            buffer = emitter.allocate("list", value.type, (trips, *shape))
            self.row_sites[buffer.name] = self.site(node)
            inner, at = emitter.domain(shape)
            store = Stmt(inner, buffer.name, (Var(dim.var), *at), value.element(at), None, emitter.span)
        else:
            raise self.unsupported(node, "a list of these", "use a NumPy array", item=value)
        emitter.emit(Loop(dim, (*block, store), span=emitter.span))
        return arrays.of_buffer(buffer, is_list=True)

    # --- several loops, conditions ----------------------------------------------------------------------------------

    @contextmanager
    def _looking_at(self, generator: ast.comprehension, iterable: Value) -> Iterator[None]:
        """Dicts and deques must not change while a comprehension runs through them."""
        with self.running_through(generator.iter):
            yield

    @contextmanager
    def _step_by_step(self, items: Iterable) -> Iterator[Expr]:
        """A loop over what it may change: before each trip it looks whether there is another item."""
        emitter = self.emitter
        position = variable(emitter, "position", ZERO)
        with repeat(emitter, still_there(items, position.value, emitter.span)):
            here = emitter.snapshot(Op("add", (position.value, ZERO), INT), "here")
            position.set(Op("add", (here, ONE), INT))
            yield here

    def listed(self, value: Value, title: str = "list") -> Value:
        """list(value); `title` tells lists apart that one expression makes."""
        value = masks.settled(value, self.emitter)
        if isinstance(value, Tuple):
            site = (self.site(self.statement)[0], f"a copy, {title}") if not value.items else None
            return replace(value, is_list=True, named=None, key=None, is_deque=False, site=site)
        if isinstance(value, Array) and (value.rank == 1 or value.is_list):
            share_rows(self, value)
            return arrays.materialise(replace(value, is_list=True, growing=None), self.emitter, "list")
        emitter = self.emitter
        run = self.iteration(value, None)
        trips = emitter.stable(run.trips)
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim):
            item = run.item(Var(dim.var))
        changing = bool((walk.expr_buffers(run.trips) | run.watches) & written_by(self, block))
        if changing or not isinstance(item, Scalar) or self.is_choice(item) or emitter.is_boxed(item):
            return _listed_one_by_one(self, run, None if changing else trips, item, title)
        buffer = emitter.allocate("list", item.type, (trips,))
        store = Stmt((), buffer.name, (Var(dim.var),), item.expr, None, emitter.span)
        emitter.emit(Loop(dim, (*block, store), span=emitter.span))
        return arrays.of_buffer(buffer, is_list=True)

    def as_run(self, value: Value) -> Value:
        """A sequence that can be run through at run time: a compile-time list goes into memory."""
        return literal_list(self, value, None) if isinstance(value, Tuple) else value

    # --- folds ------------------------------------------------------------------------------------------------------

    def _eval_dictcomp(self, node: ast.DictComp) -> Value:
        return _keyed(self, node)

    def accumulate(self, iterable: Value, start: Value) -> Value:
        of = sum_type(self, start.type, iterable) if isinstance(start, Scalar) else None
        return _accumulate(self, iterable, start, lambda value: value, None, of)


def _compile_time_items(builder: Building, node: ast.ListComp | ast.GeneratorExp, first: Value) -> list[Value] | None:
    if not isinstance(first, Tuple):
        return None
    with builder.emitter.capture() as block:
        items = _at_compile_time(builder, node, 0, first)
    if items is not None:
        builder.emitter.blocks[-1].extend(block)
    return items


def _at_compile_time(
    builder: Building, node: ast.ListComp | ast.GeneratorExp, level: int, first: Value | None = None
) -> list[Value] | None:
    """The items, if every loop runs over a tuple and every condition is known; None if not."""
    if level == len(node.generators):
        return [builder.evaluate(node.elt)]
    generator = node.generators[level]
    iterable = first if first is not None else _run_of(builder, generator, node)
    if not isinstance(iterable, Tuple):
        return None
    items: list[Value] = []
    for item in iterable.items:
        assign_target(builder, generator.target, item, node)
        truths = [builder.truth(builder.evaluate(test), test) for test in generator.ifs]
        if not all(isinstance(truth, bool) for truth in truths):
            return None
        if all(truths):
            found = _at_compile_time(builder, node, level + 1)
            if found is None:
                return None
            items += found
    return items


def _has_layout(builder: Building, value: Value) -> bool:
    """Whether a list of such items has a native form.  What they need is emitted where they are made."""
    with builder.emitter.capture():
        return builder.layout(value) is not None


def _is_nested(builder: Building, node: ast.AST, value: Value, dim: Dim, block: list[Any]) -> bool:
    """Whether the items of a comprehension are lists each for itself: of different lengths, or that will change."""
    if isinstance(value, Tuple) and value.is_list:
        return not value.items or builder.named(value) or builder.site(node) in builder.emitter.decisions.nested
    if isinstance(value, (Records, Dict)):
        return not (isinstance(value, Records) and value.is_deque)
    if not isinstance(value, Array) or not value.is_list:
        return False
    if (
        value.growing is not None
        or builder.site(node) in builder.emitter.decisions.nested
        or _varies(builder, value, dim)
    ):
        return True
    if value.view is not None and all(not isinstance(n, Alloc) or n.buffer != value.view.buffer for n in block):
        return True  # it was there before, and has other names or places
    inside = written_by(builder, block)
    return any(walk.expr_buffers(extent) & inside for extent in value.shape)


def _varies(builder: Building, value: Array, dim: Dim) -> bool:
    return arrays.depends_on(arrays.count(value.shape), {dim.var})


def _outside_shape(builder: Building, value: Array, block: list[Any], node: ast.AST) -> tuple[Expr, ...]:
    """The shape of an inner list, computed before the loop: its sizes must not come from inside."""
    inside = {n.buffer for n in block if isinstance(n, (Stmt, Alloc))}
    for extent in value.shape:
        if walk.expr_buffers(extent) & inside:
            raise builder.unsupported(node, "a list of lists whose inner length is computed in the comprehension")
    return value.shape


def _grown_list(builder: Building, node: ast.ListComp | ast.GeneratorExp, first: Value) -> Value:
    """The list grows as the loops run: conditions may change what they look at, so they are evaluated once."""
    made = started(builder, "list", Tuple((), is_list=True), is_deque=False)

    def put() -> None:
        builder.list_method(made, "append", [builder.evaluate(node.elt)], node)

    _run_loops(builder, node, 0, first, put)
    return made


def _run_loops(builder: Building, node: _Loops, level: int, first: Value | None, visit: Callable[[], None]) -> None:
    """The loops and conditions from `level` on, with what `visit` emits inside."""
    if level == len(node.generators):
        visit()
        return
    emitter = builder.emitter
    generator = node.generators[level]
    iterable = first if first is not None else _run_of(builder, generator, node)
    if isinstance(iterable, Tuple):
        for item in iterable.items:
            assign_target(builder, generator.target, item, node)
            _conditions(builder, node, level, generator.ifs, visit)
        return
    if isinstance(iterable, Generator):

        def each(item: Value) -> None:
            assign_target(builder, generator.target, item, node)
            _conditions(builder, node, level, generator.ifs, visit)

        builder.run_generator(iterable, each, node)
        return
    items = builder.iteration(iterable, node)
    if _is_watched(builder, generator):
        with builder._step_by_step(items) as here, builder._looking_at(generator, iterable):
            assign_target(builder, generator.target, items.item(here), node)
            _conditions(builder, node, level, generator.ifs, visit)
        return
    dim = Dim(emitter.fresh("q"), ZERO, emitter.stable(items.trips))
    with emitter.capture() as block, emitter.inside(dim), builder._looking_at(generator, iterable):
        assign_target(builder, generator.target, items.item(Var(dim.var)), node)
        _conditions(builder, node, level, generator.ifs, visit)
    watch(builder, items, block, generator)
    emitter.emit(Loop(dim, tuple(block), span=emitter.span))


def _run_of(builder: Building, generator: ast.comprehension, node: ast.AST) -> Value:
    body = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)]
    return kept_for(builder, evaluate_run(builder, generator.iter), [*body, *generator.ifs])


def _is_watched(builder: Building, node: ast.AST) -> bool:
    return (builder.scope.path, id(node)) in builder.emitter.decisions.watched


def _conditions(
    builder: Building, node: _Loops, level: int, tests: Sequence[ast.expr], visit: Callable[[], None]
) -> None:
    if not tests:
        _run_loops(builder, node, level + 1, None, visit)
        return
    truth = builder.truth(builder.evaluate(tests[0]), tests[0])
    if isinstance(truth, bool):
        if truth:
            _conditions(builder, node, level, tests[1:], visit)
        return
    emitter = builder.emitter
    with emitter.capture() as block:
        _conditions(builder, node, level, tests[1:], visit)
    emitter.emit(If(arith.condition(truth.expr), tuple(block), (), emitter.span))


def _listed_one_by_one(builder: Building, run: Iterable, trips: Expr | None, first: Value, title: str) -> Value:
    """A list of items that are more than numbers; no `trips`: making them changes what is run through."""
    if not is_text(first) and not _has_layout(builder, first):
        raise builder.unsupported(None, "a list of these", "append the items in a loop", item=first)
    made = started(builder, title, Tuple((), is_list=True), is_deque=False)
    with builder._step_by_step(run) if trips is None else loop(builder.emitter, ZERO, trips) as position:
        builder.list_method(made, "append", [run.item(position)], builder.statement)
    return made


def mapped(builder: Building, function: Value, items: Value) -> Value:
    """The list of function(item)."""
    node = builder.calling
    run = builder.iteration(items, node)
    return builder.listed(Iterable(run.trips, lambda q: builder.call(function, [run.item(q)], {}, node)), "keys")


def _keyed(builder: Building, node: ast.DictComp) -> Value:
    first = _run_of(builder, node.generators[0], node)
    saved, stale, known = dict(builder.scope.values), set(builder.scope.stale), set(builder.scope.known)
    made = builder.new_dict(node)

    def put() -> None:
        key, value = builder.evaluate_all([node.key, node.value])
        store_item(builder, made, key, value, node)

    try:
        _run_loops(builder, node, 0, first, put)
    finally:
        builder.scope.values, builder.scope.stale, builder.scope.known = saved, stale, builder.scope.known & known
    return made


def fold_generator(builder: Building, function: Any, node: ast.Call) -> Value:
    """sum, any, all, min, max of a generator: the loop, without the list."""
    generator = node.args[0]
    assert isinstance(generator, ast.GeneratorExp)
    if len(node.args) != 1 or node.keywords:
        raise builder.unsupported(node, f"{function.__name__}() of a generator with more arguments")
    simple = len(generator.generators) == 1 and not generator.generators[0].ifs
    if function in (min, max):
        values = builder.comprehension(generator, lists=True)
        return builder.call(Object(function), [values], {}, node)
    first = _run_of(builder, generator.generators[0], generator)
    if function is sum and simple and not isinstance(first, (Tuple, Generator)):
        try:
            return _simple_sum(builder, generator, first, node)
        except Choosing:
            simple = False
        except _Arrays:
            rows = builder.comprehension(generator, lists=False)
            assert isinstance(rows, Array)
            return builder.call(Object(sum), [replace(rows, is_list=False)], {}, node)
    if function is sum and isinstance(first, Tuple):
        saved, known = dict(builder.scope.values), set(builder.scope.known)
        items = _compile_time_items(builder, generator, first)
        builder.scope.values, builder.scope.known = saved, builder.scope.known & known
        if items is not None:
            total: Value = Scalar(ZERO)
            for item in items:
                total = builder.binary("add", total, item, node, builder.at(node))
            refuse_compensated(builder, total, len(items))
            return total
    # Kept on the node itself: bodies are remembered by the identity of their tree, over all attempts at a build.
    tree: ast.FunctionDef | None = getattr(node, "fold", None)
    if tree is None:
        tree = _fold(function, generator)
        setattr(node, "fold", tree)  # noqa: B010
    result = builder.closure_call(tree, [first], node)
    if function is sum:
        refuse_compensated(builder, result)
    return result


def is_compensated() -> bool:
    """Whether sum() of floats adds what rounding loses, by Neumaier's algorithm."""
    return reads.is_python(3, 12)


def refuse_compensated(builder: Building, total: Value, items: int | None = None) -> None:
    """Refuse a plain sum of Python's floats where Python's own is compensated (which two items do not show)."""
    of_floats = isinstance(total, Scalar) and total.type == FLOAT and (items is None or items > 2)
    if of_floats and is_compensated():
        raise Unsupported(builder.emitter.span, "sum() of floats that are not in a list", "make a list of them first")


def _simple_sum(builder: Building, generator: ast.GeneratorExp, iterable: Value, node: ast.AST) -> Value:
    saved, known = dict(builder.scope.values), set(builder.scope.known)

    def item(value: Value) -> Value:
        assign_target(builder, generator.generators[0].target, value, node)
        return builder.evaluate(generator.elt)

    try:
        of = sum_type(builder, INT, iterable, generator)
        return _accumulate(builder, iterable, Scalar(ZERO), item, node, of)
    finally:
        builder.scope.values = {k: v for k, v in builder.scope.values.items() if k in saved} | saved
        builder.scope.known &= known


def _accumulate(
    builder: Building,
    iterable: Value,
    start: Value,
    item: Any,
    node: ast.AST | None,
    expected: ScalarType | None = None,
) -> Value:
    """start + item + item + ..., in order; `expected`: the least type that holds it."""
    emitter = builder.emitter
    items = builder.iteration(iterable, node)
    if not isinstance(start, Scalar):
        raise Unsupported(emitter.span, "sum() that starts from something that is not a number")
    key = (hash((builder.scope.path, emitter.span.line, emitter.span.column, "sum")), "sum")
    of = emitter.decisions.slot_types.get(key, expected or start.type)
    total = emitter.declare("sum", of)
    trips = emitter.stable(items.trips)
    emitter.assign((), total.name, (), arith.cast(start.expr, of))
    dim = Dim(emitter.fresh("q"), ZERO, trips)
    held = Scalar(Read(total.name, (), of))
    rest = emitter.declare("rest", of).name if of == FLOAT and is_compensated() else None
    if rest is not None:
        emitter.assign((), rest, (), Const(0.0, of))
    with emitter.capture() as block, emitter.inside(dim):
        value = item(items.item(Var(dim.var)))
        if not isinstance(value, Scalar):
            if isinstance(value, Array):
                raise _Arrays
            raise Unsupported(emitter.span, "sum() of items that are not numbers", "use np.sum")
        if from_either(builder, value.expr):
            raise Choosing
        added = scalar_binary(builder, "add", held, value)
        _widen(builder, key, of, added.type)
        if rest is not None:
            lost = _lost(held.expr, arith.cast(value.expr, of), added.expr)
            emitter.assign((), rest, (), Op("add", (Read(rest, (), of), lost), of))
        emitter.assign((), total.name, (), added.expr)
    if (walk.expr_buffers(items.trips) | items.watches) & written_by(builder, block):
        raise builder.unsupported(node, "sum() of what changes the list it runs through", "add the items in a loop")
    emitter.emit(Loop(dim, tuple(block), span=emitter.span))
    if rest is not None:
        lost = Read(rest, (), of)
        there = Op("and", (Op("ne", (lost, Const(0.0, of)), BOOL), Op("isfinite", (lost,), BOOL)), BOOL)
        emitter.assign((), total.name, (), Op("select", (there, Op("add", (held.expr, lost), of), held.expr), of))
    if not benign(builder, start.type, of) and not emitter.assure(minus_one(trips), "RuntimeError"):
        # sum([]) is the start itself: an int, whatever the items would have been.
        some = emitter.snapshot(Op("gt", (trips, ZERO), BOOL), "some")
        read, other, empty = (Read(total.name, (), of) for _ in range(3))
        note_mixed(builder, read, Mixed(some, other, arith.cast(empty, start.type)))
        return Scalar(read)
    return held


def _widen(builder: Building, key: tuple[int, str], of: ScalarType, new: ScalarType) -> None:
    wider = join(of, new)
    if wider != of:
        revisions.has_type(builder, key, wider)


def _lost(total: Expr, item: Expr, added: Expr) -> Expr:
    """What rounding took from a sum of two floats."""
    of = total.type
    larger = Op("ge", (Op("abs", (total,), of), Op("abs", (item,), of)), BOOL)
    parts = [Op("add", (Op("sub", (first, added), of), second), of) for first, second in ((total, item), (item, total))]
    return Op("select", (larger, *parts), of)


def _fold(function: Any, generator: ast.GeneratorExp) -> ast.FunctionDef:
    """def f(_iterable): ... that folds a generator as `function` (sum, any, all) does."""
    if function is sum:
        text = f"{_TOTAL} = {_TOTAL} + _item"
        before, after = f"{_TOTAL} = 0", f"return {_TOTAL}"
    else:
        wanted = function is any
        text = f"if {'' if wanted else 'not '}_item: return {wanted}"
        before, after = "", f"return {not wanted}"
    body = _Place(generator.elt).visit(ast.Module(parsed(text), [])).body
    for index, part in reversed(list(enumerate(generator.generators))):
        for test in reversed(part.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        source: ast.expr = ast.Name(id=_ITERABLE, ctx=ast.Load()) if index == 0 else part.iter
        body = [ast.For(target=part.target, iter=source, body=body, orelse=[])]
    outline = parsed(f"def {function.__name__}_of({_ITERABLE}):\n  pass")[0]
    assert isinstance(outline, ast.FunctionDef)
    outline.body = [*parsed(before), *body, *parsed(f"def f():\n  {after}")[0].body]  # type: ignore[attr-defined]
    for inner in ast.walk(outline):
        if "lineno" in inner._attributes and not getattr(inner, "lineno", 0):
            ast.copy_location(inner, generator)
    return ast.fix_missing_locations(outline)


class _Place(ast.NodeTransformer):
    """Puts the generator's item where the text says `_item`."""

    def __init__(self, item: ast.expr) -> None:
        self.item = item

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.item if node.id == "_item" else node
