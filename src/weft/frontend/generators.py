"""Generators that are run through where they are made.  In: calls of generator functions, generator expressions; out:
the body of the generator, with the consumer's statements in place of each `yield`.

    def pairs(n):                               i = 0
        i = 0                                   while i < n:
        while i < n: yield i, i * i; i += 1  -->    a, b = i, i * i
    for a, b in pairs(5): s += a * b                s += a * b
                                                    i += 1
Functions that consume one (sum, list, zip, ...) and that make one of another (enumerate, takewhile, ...) are Python
over it (`knowledge.streams`).  A generator is consumed once, and not in a loop that it was not made in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from weft.frontend import reasons
from weft.frontend.building import Building
from weft.frontend.choices import evaluate_run
from weft.frontend.core import kept_items
from weft.frontend.interrupts import at_home, foreign
from weft.frontend.knowledge import streams
from weft.frontend.liveness import Liveness
from weft.frontend.loops import for_each
from weft.frontend.scope import Scope
from weft.frontend.source import Source, parsed
from weft.frontend.statements import assign_target, execute_all, share_names
from weft.frontend.values import Generator, Iterable, Object, Scalar, Tuple, Value
from weft.ir.expr import Expr
from weft.records import dataclass

_ITERABLE = "_iterable"


@dataclass
class Consumer:
    """What a running generator's items go to, and the scope that belongs to."""

    visit: Callable[[Value], None]
    scope: Scope
    label: str  # of the generator among those that are running


def is_generator(tree: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether calling a function makes a generator."""
    body = tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]
    return any(_yields(node) for node in body)


def first_yield(tree: ast.FunctionDef) -> ast.AST:
    """The first `yield` of a generator, in the order of the lines: also one that is never reached makes it one."""
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Yield, ast.YieldFrom))]
    return min(found, key=lambda node: (node.lineno, node.col_offset))


def _yields(node: ast.AST) -> bool:
    if isinstance(node, (ast.Yield, ast.YieldFrom)):
        return True
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    return any(_yields(child) for child in ast.iter_child_nodes(node))


class Generators(Building):
    """`for` over a generator, and its other consumers."""

    # --- making one -------------------------------------------------------------------------------------------------

    def generator(self, tree: ast.FunctionDef, values: dict[str, Value], source: Source, parent: Scope | None) -> Value:
        return Generator(tree, values, source, parent, _loops_around(self), [False])

    def _eval_generatorexp(self, node: ast.GeneratorExp) -> Value:
        """A generator of one parameter: the first iterable is evaluated where the expression stands."""
        if any(part.is_async for part in node.generators):
            raise self.unsupported(node, "an asynchronous generator")
        first = kept_items(self, evaluate_run(self, node.generators[0].iter))
        # Kept on the node itself: bodies are remembered by the identity of their tree, over all attempts at a build.
        tree: ast.FunctionDef | None = getattr(node, "generator", None)
        if tree is None:
            tree = _as_function(node)
            setattr(node, "generator", tree)  # noqa: B010
        return self.generator(tree, {_ITERABLE: first}, self.scope.source, self.scope)

    # --- running it -------------------------------------------------------------------------------------------------

    def run_generator(self, made: Generator, visit: Callable[[Value], None], node: ast.AST) -> None:
        """The body of a generator, with what `visit` makes of each item in place of its yields."""
        if made.used[0]:
            raise self.unsupported(node, "a generator that is used twice", "make a list of it")
        if made.loops != _loops_around(self):
            raise self.unsupported(node, "a generator made outside the loop that uses it", "make it in the loop")
        self.enter_call(getattr(made.tree, "name", "generator"), node)
        made.used[0] = True
        body = self._body_of(made.tree, made.source.namespace)
        caller, span = self.scope, self.emitter.span
        path = hash((caller.path, id(node)))
        self.scope = Scope(made.source, Liveness(body), body, {}, parent=made.parent, path=path, inlined=True)
        self.scope.values.update(made.values)
        label = f"{len(self.suspended)}.{self.depth}"
        self.scope.consumer = Consumer(visit, caller, label)
        share_names(self, body)
        self.depth += 1
        try:
            with self.emitter.capture() as block:
                execute_all(self, body[:-1])
            for part in block:
                self.emitter.emit(at_home(part, label))
        finally:
            self.scope, self.emitter.span = caller, span
            self.depth -= 1

    def _exec_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield):
            _yield(self, Object(None) if node.value.value is None else self.evaluate(node.value.value), node)
        elif isinstance(node.value, ast.YieldFrom):
            _yield_from(self, node.value)
        else:
            super()._exec_expr(node)

    def iteration(self, value: Value, node: ast.AST | None) -> Iterable:
        loop = counted_loop(value)
        if loop is None or not isinstance(value, Generator):
            return super().iteration(value, node)
        return _counted(self, value, loop, node)

    # --- its consumers ----------------------------------------------------------------------------------------------

    def _for_value(self, node: ast.For, value: Value) -> bool:
        if not isinstance(value, Generator):
            return super()._for_value(node, value)
        for_each(self, node, lambda visit: self.run_generator(value, visit, node))
        return True


def _loops_around(builder: Building) -> tuple[object, ...]:
    return (*(dim.var for dim in builder.emitter.dims), *builder.loops_open)


def _yield(builder: Building, value: Value, node: ast.AST) -> None:
    consumer = builder.scope.consumer
    if not isinstance(consumer, Consumer):
        raise builder.unsupported(node, "a generator that is returned to its caller", reasons.RETURN_LIST)
    value = builder._taken(value) if isinstance(value, (Scalar, Tuple)) else value
    running, path, depth = builder.scope, consumer.scope.path, builder.depth
    builder.scope = consumer.scope
    builder.scope.path = hash((path, id(node)))  # the consumer's statements may stand at several yields
    waiting, builder.suspended = builder.suspended, (*builder.suspended, running)
    try:
        with builder.emitter.capture() as block:
            consumer.visit(value)
        for part in block:
            builder.emitter.emit(foreign(part, consumer.label) if running.trying else part)
    finally:
        builder.suspended = waiting
        builder.scope.path = path
        builder.scope, builder.depth = running, depth


def _yield_from(builder: Building, node: ast.YieldFrom) -> None:
    """yield from it   -->   for x in it: yield x"""
    loop: ast.For | None = getattr(node, "loop", None)
    if loop is None:
        item = ast.Name(id="__weft_item", ctx=ast.Store())
        again = ast.Expr(value=ast.Yield(value=ast.Name(id="__weft_item", ctx=ast.Load())))
        loop = ast.copy_location(ast.For(target=item, iter=node.value, body=[again], orelse=[]), node)
        ast.fix_missing_locations(loop)
        setattr(node, "loop", loop)  # noqa: B010
    builder._exec_for(loop)


def _counted(builder: Building, made: Generator, loop: ast.For, node: ast.AST | None) -> Iterable:
    """A generator of which any item can be computed by itself: it runs beside another iteration."""
    if made.used[0] or made.loops != _loops_around(builder):
        raise builder.unsupported(node, "a generator that is used twice", "make a list of it")
    made.used[0] = True
    path = hash((builder.scope.path, id(node), id(loop)))
    scope = Scope(made.source, Liveness([loop]), [loop], {}, parent=made.parent, path=path, inlined=True)
    scope.values.update(made.values)
    given = loop.body[0]
    assert isinstance(given, ast.Expr) and isinstance(given.value, ast.Yield) and given.value.value is not None
    elt = given.value.value

    def inside(action: Callable[[], Any]) -> Any:
        caller, builder.scope = builder.scope, scope
        try:
            return action()
        finally:
            builder.scope = caller

    run: Iterable = inside(lambda: builder.iteration(evaluate_run(builder, loop.iter), loop))

    def item(trip: Expr) -> Value:
        def computed() -> Value:
            assign_target(builder, loop.target, run.item(trip), loop)
            value = builder.evaluate(elt)
            return builder._taken(value) if isinstance(value, (Scalar, Tuple)) else value

        return inside(computed)  # type: ignore[no-any-return]

    return Iterable(run.trips, item)


def consumed(builder: Building, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
    """A call that has a generator among its arguments or gives one; None if it is another one."""
    lazy = [isinstance(value, Generator) for value in args]
    if thing is zip and sum(lazy) > 1:  # all but one are asked for single items
        running = next((place for place, value in enumerate(args) if lazy[place] and not counted_loop(value)), -1)
        lazy = [place == running for place in range(len(args))]
        if len({id(value) for value in args}) < len(args):
            raise builder.unsupported(node, "zip() of a generator and itself", "make a list of it first")
        pairs = zip(args, lazy)
        args = [builder.iteration(v, node) if isinstance(v, Generator) and not runs else v for v, runs in pairs]
        if not any(lazy):
            return builder.call(Object(zip), args, kwargs, node)
    definition = streams.definition(thing, lazy, kwargs)
    if not any(isinstance(value, Generator) for value in (*args, *kwargs.values())):
        definition = streams.source(thing, len(args))
        if definition is None:
            return None
    if definition is None:
        name = getattr(thing, "__name__", repr(thing))
        raise builder.unsupported(node, f"{name}() of a generator", "make a list of it first")
    builder.calling = node
    if thing is zip:  # the other one is indexed
        args = [builder.as_run(value) if isinstance(value, Tuple) else value for value in args]
    return builder.expand(definition, kwargs, args)


def counted_loop(value: Value) -> ast.For | None:
    """The loop of a generator that is nothing but `for x in it: yield e`; None for any other."""
    if not isinstance(value, Generator):
        return None
    body = value.tree.body
    loop = body[0] if len(body) == 1 else None
    if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
        return None
    inner = loop.body[0]
    given = inner.value if isinstance(inner, ast.Expr) else None
    if not isinstance(given, ast.Yield) or given.value is None:
        return None
    plain = not any(isinstance(part, (ast.NamedExpr, ast.Yield)) for part in ast.walk(given.value))
    return loop if plain else None


def _as_function(node: ast.GeneratorExp) -> ast.FunctionDef:
    """def f(_iterable): for x in _iterable: if c: yield e"""
    body: list[ast.stmt] = [ast.Expr(value=ast.Yield(value=node.elt))]
    for index, part in reversed(list(enumerate(node.generators))):
        for test in reversed(part.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        source: ast.expr = ast.Name(id=_ITERABLE, ctx=ast.Load()) if index == 0 else part.iter
        body = [ast.For(target=part.target, iter=source, body=body, orelse=[])]
    outline = parsed(f"def generator({_ITERABLE}):\n  pass")[0]
    assert isinstance(outline, ast.FunctionDef)
    outline.body = body
    for inner in ast.walk(outline):
        if "lineno" in inner._attributes and not getattr(inner, "lineno", 0):
            ast.copy_location(inner, node)
    return ast.fix_missing_locations(ast.copy_location(outline, node))
