"""List comprehensions and generators that a function folds at once.  In: the comprehension; out: loops.

    [e for x in it]                 -->  a buffer of as many items as there are trips
    [e for x in it if c for y in x] -->  a list that grows as the loops run
    sum(e for x in it if c)         -->  def f(it): s = 0; for x in it: if c: s = s + e; return s      (called here)

Loops over a tuple known at compile time are run through at compile time.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Union

from weft.errors import Unsupported
from weft.frontend import arith, arrays, masks
from weft.frontend.emit import Choosing, Restart
from weft.frontend.expressions import minus_one
from weft.frontend.loops import still_there
from weft.frontend.mixed import Mixed
from weft.frontend.source import parsed
from weft.frontend.strings import is_text
from weft.frontend.tasks import Tasks
from weft.frontend.values import Array, Dict, Generator, Iterable, Object, Records, Scalar, Struct, Tuple, Value
from weft.frontend.writing import loop, repeat, variable
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Dim, Expr, Op, Read, Var
from weft.ir.program import Alloc, If, Loop, Stmt
from weft.ir.types import BOOL, FLOAT, INT, ScalarType, join

_Loops = Union[ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp]
#: What a comprehension calls its first iterable, which is evaluated outside of it.
#: Whether sum() of floats adds what rounding loses, by Neumaier's algorithm.
COMPENSATED = sys.version_info >= (3, 12)
_ITERABLE, _TOTAL = "_iterable", "_total"


class _Arrays(Exception):
    """The items of a sum are arrays."""


class Comprehensions(Tasks):
    """Comprehensions as loops."""

    def closure_call(self, tree: ast.FunctionDef, args: list[Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def run_generator(self, made: Generator, visit: Callable[[Value], None], node: ast.AST) -> None:
        raise NotImplementedError

    def _eval_listcomp(self, node: ast.ListComp) -> Value:
        """A list of one type, kept as a buffer (or a compile-time list over a tuple)."""
        return self.comprehension(node, lists=True)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, lists: bool) -> Value:
        """The items of a comprehension: as a list, or (not `lists`) as the array that np.array makes of them."""
        if any(generator.is_async for generator in node.generators):
            raise self.unsupported(node, "an asynchronous comprehension")
        first = self._run_of(node.generators[0])
        saved, stale, known = dict(self.scope.values), set(self.scope.stale), set(self.scope.known)
        try:
            items = self._compile_time_items(node, first)
            if items is not None:
                return Tuple(tuple(items), is_list=True)
            simple = len(node.generators) == 1 and not node.generators[0].ifs
            if simple and not isinstance(first, Generator) and not self._is_watched(node.generators[0]):
                return self._list_buffer(node, node.generators[0], first, lists)
            return self._grown_list(node, first)
        finally:
            self.scope.values, self.scope.stale, self.scope.known = saved, stale, self.scope.known & known

    def _compile_time_items(self, node: ast.ListComp | ast.GeneratorExp, first: Value) -> list[Value] | None:
        if not isinstance(first, Tuple):
            return None
        with self.emitter.capture() as block:
            items = self._at_compile_time(node, 0, first)
        if items is not None:
            self.emitter.blocks[-1].extend(block)
        return items

    def _at_compile_time(
        self, node: ast.ListComp | ast.GeneratorExp, level: int, first: Value | None = None
    ) -> list[Value] | None:
        """The items, if every loop runs over a tuple and every condition is known; None if not."""
        if level == len(node.generators):
            return [self.evaluate(node.elt)]
        generator = node.generators[level]
        iterable = first if first is not None else self._run_of(generator)
        if not isinstance(iterable, Tuple):
            return None
        items: list[Value] = []
        for item in iterable.items:
            self.assign_target(generator.target, item, node)
            truths = [self.truth(self.evaluate(test), test) for test in generator.ifs]
            if not all(isinstance(truth, bool) for truth in truths):
                return None
            if all(truths):
                found = self._at_compile_time(node, level + 1)
                if found is None:
                    return None
                items += found
        return items

    # --- one loop ---------------------------------------------------------------------------------------------------

    def _list_buffer(
        self, node: ast.ListComp | ast.GeneratorExp, generator: ast.comprehension, iterable: Value, lists: bool
    ) -> Value:
        emitter = self.emitter
        items = self.iteration(iterable, node)
        trips = emitter.stable(items.trips)
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim), self._looking_at(generator, iterable):
            self.assign_target(generator.target, items.item(Var(dim.var)), node)
            value = self.evaluate(node.elt)
            nested = lists and self._is_nested(node, value, dim, block)
            if isinstance(value, Tuple) and value.is_list and not nested:
                value = self.literal_list(value, node)
            elif isinstance(value, Tuple) and not lists:
                value = self.array_of(value, node)
        self.watch(items, block, generator)
        several = isinstance(value, (Tuple, Struct)) or is_text(value) or self.is_choice(value)
        several = several or (isinstance(value, Array) and not value.is_list)
        if nested or (lists and several and self._has_layout(value)):
            return self._grown_list(node, iterable)
        if isinstance(value, Scalar):
            buffer = emitter.allocate("list", value.type, (trips,))
            store = Stmt((), buffer.name, (Var(dim.var),), value.expr, None, emitter.span)
        elif isinstance(value, Array) and (value.is_list or not lists) and not self._varies(value, dim):
            if lists:
                self.keep_rows(value)
            shape = self._outside_shape(value, block, node)
            buffer = emitter.allocate("list", value.type, (trips, *shape))
            self.row_sites[buffer.name] = self.site(node)
            inner, at = emitter.domain(shape)
            store = Stmt(inner, buffer.name, (Var(dim.var), *at), value.element(at), None, emitter.span)
        else:
            raise self.unsupported(node, "a list of these", "use a NumPy array", item=value)
        emitter.emit(Loop(dim, (*block, store), span=emitter.span))
        return arrays.of_buffer(buffer, is_list=True)

    def _has_layout(self, value: Value) -> bool:
        """Whether a list of such items has a native form.  What they need is emitted where they are made."""
        with self.emitter.capture():
            return self.layout(value) is not None

    def _is_nested(self, node: ast.AST, value: Value, dim: Dim, block: list[Any]) -> bool:
        """Whether the items of a comprehension are lists each for itself: of different lengths, or that will change."""
        if isinstance(value, Tuple) and value.is_list:
            return not value.items or self.named(value) or self.site(node) in self.emitter.decisions.nested
        if isinstance(value, (Records, Dict)):
            return not (isinstance(value, Records) and value.is_deque)
        if not isinstance(value, Array) or not value.is_list:
            return False
        if value.growing is not None or self.site(node) in self.emitter.decisions.nested or self._varies(value, dim):
            return True
        if value.view is not None and all(not isinstance(n, Alloc) or n.buffer != value.view.buffer for n in block):
            return True  # it was there before, and has other names or places
        inside = self.written_by(block)
        return any(walk.expr_buffers(extent) & inside for extent in value.shape)

    def _varies(self, value: Array, dim: Dim) -> bool:
        return arrays.depends_on(arrays.count(value.shape), {dim.var})

    def _outside_shape(self, value: Array, block: list[Any], node: ast.AST) -> tuple[Expr, ...]:
        """The shape of an inner list, computed before the loop: its sizes must not come from inside."""
        inside = {n.buffer for n in block if isinstance(n, (Stmt, Alloc))}
        for extent in value.shape:
            if walk.expr_buffers(extent) & inside:
                raise self.unsupported(node, "a list of lists whose inner length is computed in the comprehension")
        return value.shape

    # --- several loops, conditions ----------------------------------------------------------------------------------

    def _grown_list(self, node: ast.ListComp | ast.GeneratorExp, first: Value) -> Value:
        """The list grows as the loops run: conditions may change what they look at, so they are evaluated once."""
        made = self.started("list", Tuple((), is_list=True), is_deque=False)

        def put() -> None:
            self.list_method(made, "append", [self.evaluate(node.elt)], node)

        self._run_loops(node, 0, first, put)
        return made

    def _run_loops(self, node: _Loops, level: int, first: Value | None, visit: Callable[[], None]) -> None:
        """The loops and conditions from `level` on, with what `visit` emits inside."""
        if level == len(node.generators):
            visit()
            return
        emitter = self.emitter
        generator = node.generators[level]
        iterable = first if first is not None else self._run_of(generator)
        if isinstance(iterable, Tuple):
            for item in iterable.items:
                self.assign_target(generator.target, item, node)
                self._conditions(node, level, generator.ifs, visit)
            return
        if isinstance(iterable, Generator):

            def each(item: Value) -> None:
                self.assign_target(generator.target, item, node)
                self._conditions(node, level, generator.ifs, visit)

            self.run_generator(iterable, each, node)
            return
        items = self.iteration(iterable, node)
        if self._is_watched(generator):
            with self._step_by_step(items) as here, self._looking_at(generator, iterable):
                self.assign_target(generator.target, items.item(here), node)
                self._conditions(node, level, generator.ifs, visit)
            return
        dim = Dim(emitter.fresh("q"), ZERO, emitter.stable(items.trips))
        with emitter.capture() as block, emitter.inside(dim), self._looking_at(generator, iterable):
            self.assign_target(generator.target, items.item(Var(dim.var)), node)
            self._conditions(node, level, generator.ifs, visit)
        self.watch(items, block, generator)
        emitter.emit(Loop(dim, tuple(block), span=emitter.span))

    def _run_of(self, generator: ast.comprehension) -> Value:
        self.looked_at.clear()
        return self.evaluate_run(generator.iter)

    @contextmanager
    def _looking_at(self, generator: ast.comprehension, iterable: Value) -> Iterator[None]:
        """Dicts and deques must not change while a comprehension runs through them."""
        if isinstance(iterable, Dict) and iterable.table is not None and iterable.table.row is not None:
            self.looked_at.append(iterable)
        with self.running_through(generator.iter):
            yield

    def _is_watched(self, node: ast.AST) -> bool:
        return (self.scope.path, id(node)) in self.emitter.decisions.watched

    @contextmanager
    def _step_by_step(self, items: Iterable) -> Iterator[Expr]:
        """A loop over what it may change: before each trip it looks whether there is another item."""
        emitter = self.emitter
        position = variable(emitter, "position", ZERO)
        with repeat(emitter, still_there(items, position.value, emitter.span)):
            here = emitter.snapshot(Op("add", (position.value, ZERO), INT), "here")
            position.set(Op("add", (here, ONE), INT))
            yield here

    def _conditions(self, node: _Loops, level: int, tests: Sequence[ast.expr], visit: Callable[[], None]) -> None:
        if not tests:
            self._run_loops(node, level + 1, None, visit)
            return
        truth = self.truth(self.evaluate(tests[0]), tests[0])
        if isinstance(truth, bool):
            if truth:
                self._conditions(node, level, tests[1:], visit)
            return
        emitter = self.emitter
        with emitter.capture() as block:
            self._conditions(node, level, tests[1:], visit)
        emitter.emit(If(arith.condition(truth.expr), tuple(block), (), emitter.span))

    def listed(self, value: Value, title: str = "list") -> Value:
        """list(value); `title` tells lists apart that one expression makes."""
        value = masks.settled(value, self.emitter)
        if isinstance(value, Tuple):
            site = (self.site(self.statement)[0], f"a copy, {title}") if not value.items else None
            return replace(value, is_list=True, named=None, key=None, is_deque=False, site=site)
        if isinstance(value, Array) and (value.rank == 1 or value.is_list):
            self.share_rows(value)
            return arrays.materialise(replace(value, is_list=True, growing=None), self.emitter, "list")
        emitter = self.emitter
        run = self.iteration(value, None)
        trips = emitter.stable(run.trips)
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        with emitter.capture() as block, emitter.inside(dim):
            item = run.item(Var(dim.var))
        changing = bool((walk.expr_buffers(run.trips) | run.watches) & self.written_by(block))
        if changing or not isinstance(item, Scalar) or self.is_choice(item):
            return self._listed_one_by_one(run, None if changing else trips, item, title)
        buffer = emitter.allocate("list", item.type, (trips,))
        store = Stmt((), buffer.name, (Var(dim.var),), item.expr, None, emitter.span)
        emitter.emit(Loop(dim, (*block, store), span=emitter.span))
        return arrays.of_buffer(buffer, is_list=True)

    def _listed_one_by_one(self, run: Iterable, trips: Expr | None, first: Value, title: str) -> Value:
        """A list of items that are more than numbers; no `trips`: making them changes what is run through."""
        if not is_text(first) and not self._has_layout(first):
            raise self.unsupported(None, "a list of these", "append the items in a loop", item=first)
        made = self.started(title, Tuple((), is_list=True), is_deque=False)
        with self._step_by_step(run) if trips is None else loop(self.emitter, ZERO, trips) as position:
            self.list_method(made, "append", [run.item(position)], self.statement)
        return made

    def mapped(self, function: Value, items: Value) -> Value:
        """The list of function(item)."""
        node = self.calling
        run = self.iteration(items, node)
        return self.listed(Iterable(run.trips, lambda q: self.call(function, [run.item(q)], {}, node)), "keys")

    calling: ast.AST

    def as_run(self, value: Value) -> Value:
        """A sequence that can be run through at run time: a compile-time list goes into memory."""
        return self.literal_list(value, None) if isinstance(value, Tuple) else value

    # --- folds ------------------------------------------------------------------------------------------------------

    def _eval_dictcomp(self, node: ast.DictComp) -> Value:
        return self._keyed(node, node.key, node.value)

    def _eval_setcomp(self, node: ast.SetComp) -> Value:
        return self._keyed(node, node.elt, None)

    def _keyed(self, node: ast.DictComp | ast.SetComp, key: ast.expr, value: ast.expr | None) -> Value:
        first = self._run_of(node.generators[0])
        saved, stale, known = dict(self.scope.values), set(self.scope.stale), set(self.scope.known)
        made = self.new_dict(node, is_set=value is None)

        def put() -> None:
            parts = self.evaluate_all([key] if value is None else [key, value])
            self.store_item(made, parts[0], None if value is None else parts[1], node)

        try:
            self._run_loops(node, 0, first, put)
        finally:
            self.scope.values, self.scope.stale, self.scope.known = saved, stale, self.scope.known & known
        return made

    def fold_generator(self, function: Any, node: ast.Call) -> Value:
        """sum, any, all, min, max of a generator: the loop, without the list."""
        generator = node.args[0]
        assert isinstance(generator, ast.GeneratorExp)
        if len(node.args) != 1 or node.keywords:
            raise self.unsupported(node, f"{function.__name__}() of a generator with more arguments")
        simple = len(generator.generators) == 1 and not generator.generators[0].ifs
        if function in (min, max):
            values = self.comprehension(generator, lists=True)
            return self.call(Object(function), [values], {}, node)
        first = self.evaluate_run(generator.generators[0].iter)
        if function is sum and simple and not isinstance(first, (Tuple, Generator)):
            try:
                return self._simple_sum(generator, first, node)
            except Choosing:
                simple = False
            except _Arrays:
                rows = self.comprehension(generator, lists=False)
                assert isinstance(rows, Array)
                return self.call(Object(sum), [replace(rows, is_list=False)], {}, node)
        if function is sum and isinstance(first, Tuple):
            saved, known = dict(self.scope.values), set(self.scope.known)
            items = self._compile_time_items(generator, first)
            self.scope.values, self.scope.known = saved, self.scope.known & known
            if items is not None:
                total: Value = Scalar(ZERO)
                for item in items:
                    total = self.binary("add", total, item, node, self.at(node))
                self.refuse_compensated(total, len(items))
                return total
        # Kept on the node itself: bodies are remembered by the identity of their tree, over all attempts at a build.
        tree: ast.FunctionDef | None = getattr(node, "fold", None)
        if tree is None:
            tree = _fold(function, generator)
            setattr(node, "fold", tree)  # noqa: B010
        result = self.closure_call(tree, [first], node)
        if function is sum:
            self.refuse_compensated(result)
        return result

    def refuse_compensated(self, total: Value, items: int | None = None) -> None:
        """Refuse a plain sum of Python's floats where Python's own is compensated (which two items do not show)."""
        if COMPENSATED and isinstance(total, Scalar) and total.type == FLOAT and (items is None or items > 2):
            raise Unsupported(self.emitter.span, "sum() of floats that are not in a list", "make a list of them first")

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def _simple_sum(self, generator: ast.GeneratorExp, iterable: Value, node: ast.AST) -> Value:
        saved, known = dict(self.scope.values), set(self.scope.known)

        def item(value: Value) -> Value:
            self.assign_target(generator.generators[0].target, value, node)
            return self.evaluate(generator.elt)

        try:
            return self._accumulate(iterable, Scalar(ZERO), item, node)
        finally:
            self.scope.values = {k: v for k, v in self.scope.values.items() if k in saved} | saved
            self.scope.known &= known

    def accumulate(self, iterable: Value, start: Value) -> Value:
        return self._accumulate(iterable, start, lambda value: value, None)

    def _accumulate(self, iterable: Value, start: Value, item: Any, node: ast.AST | None) -> Value:
        """start + item + item + ..., in order."""
        emitter = self.emitter
        items = self.iteration(iterable, node)
        if not isinstance(start, Scalar):
            raise Unsupported(emitter.span, "sum() that starts from something that is not a number")
        key = (hash((self.scope.path, emitter.span.line, emitter.span.column, "sum")), "sum")
        of = emitter.decisions.slot_types.get(key, start.type)
        total = emitter.declare("sum", of)
        trips = emitter.stable(items.trips)
        emitter.assign((), total.name, (), arith.cast(start.expr, of))
        dim = Dim(emitter.fresh("q"), ZERO, trips)
        held = Scalar(Read(total.name, (), of))
        rest = emitter.declare("rest", of).name if COMPENSATED and of == FLOAT else None
        if rest is not None:
            emitter.assign((), rest, (), Const(0.0, of))
        with emitter.capture() as block, emitter.inside(dim):
            value = item(items.item(Var(dim.var)))
            if not isinstance(value, Scalar):
                if isinstance(value, Array):
                    raise _Arrays
                raise Unsupported(emitter.span, "sum() of items that are not numbers", "use np.sum")
            if self.from_either(value.expr):
                raise Choosing
            added = self.scalar_binary("add", held, value)
            self._widen(key, of, added.type)
            if rest is not None:
                lost = _lost(held.expr, arith.cast(value.expr, of), added.expr)
                emitter.assign((), rest, (), Op("add", (Read(rest, (), of), lost), of))
            emitter.assign((), total.name, (), added.expr)
        if (walk.expr_buffers(items.trips) | items.watches) & self.written_by(block):
            raise self.unsupported(node, "sum() of what changes the list it runs through", "add the items in a loop")
        emitter.emit(Loop(dim, tuple(block), span=emitter.span))
        if rest is not None:
            lost = Read(rest, (), of)
            there = Op("and", (Op("ne", (lost, Const(0.0, of)), BOOL), Op("isfinite", (lost,), BOOL)), BOOL)
            emitter.assign((), total.name, (), Op("select", (there, Op("add", (held.expr, lost), of), held.expr), of))
        if not self.benign(start.type, of) and not emitter.assure(minus_one(trips), "RuntimeError"):
            # sum([]) is the start itself: an int, whatever the items would have been.
            some = emitter.snapshot(Op("gt", (trips, ZERO), BOOL), "some")
            read, other, empty = (Read(total.name, (), of) for _ in range(3))
            self.note_mixed(read, Mixed(some, other, arith.cast(empty, start.type)))
            return Scalar(read)
        return held

    def _widen(self, key: tuple[int, str], of: ScalarType, new: ScalarType) -> None:
        wider = join(of, new)
        if wider != of:
            self.emitter.decisions.slot_types[key] = wider
            raise Restart


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
