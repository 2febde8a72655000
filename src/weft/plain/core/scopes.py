"""Which names a function binds, uses, shares with nested functions and deletes, read from its tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Scope:
    """The names of one function.

    bound: those that are local; shared: those that a nested function may rebind; deleted: those that may become unbound
    again (`del`, the end of an `except ... as`); globals, nonlocals: as declared; annotated: local by `x: int` alone;
    walrus: local by `:=` inside comprehensions alone.
    """

    parameters: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    annotated: set[str] = field(default_factory=set)
    walrus: set[str] = field(default_factory=set)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]


def scope_of(function: Function | ast.AsyncFunctionDef) -> Scope:
    scope = Scope(parameters={argument.arg for argument in parameters(function.args)})
    body: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    _collect(body, scope, in_comprehension=False)
    scope.bound |= scope.parameters
    scope.walrus -= scope.bound
    scope.annotated -= scope.bound
    scope.bound = (scope.bound | scope.walrus | scope.annotated) - scope.globals - scope.nonlocals
    for part in body:
        scope.shared |= _rebound_by_nested(part)
    return scope


def _collect(nodes: Iterable[ast.AST], scope: Scope, in_comprehension: bool) -> None:
    """Add what these nodes bind. A comprehension binds its own variables elsewhere, all but those of `:=`."""
    for node in nodes:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store) and not in_comprehension:
                scope.bound.add(node.id)
            elif isinstance(node.ctx, ast.Del):
                scope.bound.add(node.id)
                scope.deleted.add(node.id)
        elif isinstance(node, ast.NamedExpr):
            (scope.walrus if in_comprehension else scope.bound).add(node.target.id)
            _collect([node.value], scope, in_comprehension)
        elif isinstance(node, ast.AnnAssign):  # the annotation is not evaluated in a function
            if isinstance(node.target, ast.Name) and node.value is None:
                scope.annotated.add(node.target.id)
            else:
                _collect([node.target, *([node.value] if node.value else [])], scope, in_comprehension)
        elif isinstance(node, ast.Global):
            scope.globals.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.nonlocals.update(node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.bound.add(node.name)
            _collect([*node.decorator_list, *defaults(node.args)], scope, in_comprehension)
        elif isinstance(node, ast.Lambda):
            _collect(defaults(node.args), scope, in_comprehension)
        elif isinstance(node, ast.ClassDef):
            scope.bound.add(node.name)
            _collect([*node.decorator_list, *node.bases, *node.keywords], scope, in_comprehension)
        elif isinstance(node, COMPREHENSIONS):
            _collect([node.generators[0].iter], scope, in_comprehension)
            _collect(own_parts(node), scope, in_comprehension=True)
        else:
            _bind_by_string(node, scope)
            _collect(ast.iter_child_nodes(node), scope, in_comprehension)


def _bind_by_string(node: ast.AST, scope: Scope) -> None:
    """Names that stand in a tree as text: imports, handlers, patterns."""
    if isinstance(node, ast.alias):
        scope.bound.add(node.asname or node.name.split(".")[0])
    elif isinstance(node, ast.ExceptHandler) and node.name:
        scope.bound.add(node.name)
        scope.deleted.add(node.name)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        scope.bound.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        scope.bound.add(node.rest)


def defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def own_parts(node: Comprehension) -> list[ast.expr]:
    """What a comprehension evaluates in its own scope: everything but its first iterable."""
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for number, generator in enumerate(node.generators):
        parts += [generator.target, *([generator.iter] if number else []), *generator.ifs]
    return parts


def variables(node: Comprehension) -> set[str]:
    """The names that a comprehension binds in its own scope."""
    stores = (name for generator in node.generators for name in ast.walk(generator.target))
    return {name.id for name in stores if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def walrus_targets(node: ast.AST) -> set[str]:
    """Names that `:=` binds in the scope around this comprehension; functions inside have their own."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            continue
        if isinstance(child, ast.NamedExpr):
            found.add(child.target.id)
        found |= walrus_targets(child)
    return found


def _rebound_by_nested(node: ast.AST) -> set[str]:
    """Names that nested functions declare nonlocal, or that `:=` binds in comprehensions (functions, perhaps)."""
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Nonlocal):
            found.update(child.names)
        elif isinstance(child, COMPREHENSIONS):
            found |= walrus_targets(child)
    return found


def free_names(node: ast.AST) -> set[str]:
    """Names used in `node` and bound outside of it (for classes: all that occur, which is never too few)."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, FUNCTIONS):
        return captured_by(node) | _free_of([*defaults(node.args), *getattr(node, "decorator_list", [])])
    if isinstance(node, COMPREHENSIONS):
        return free_names(node.generators[0].iter) | captured_by(node)
    found = _free_of(ast.iter_child_nodes(node))
    return found | set(node.names) if isinstance(node, (ast.Nonlocal, ast.Global)) else found


def _free_of(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        found |= free_names(node)
    return found


def captured_by(node: Function | ast.AsyncFunctionDef | Comprehension) -> set[str]:
    """Names from outside that the function which `node` makes refers to when it runs."""
    if isinstance(node, COMPREHENSIONS):
        return _free_of(own_parts(node)) - variables(node)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    return _free_of(body) - scope_of(node).bound


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every identifier that is or could be a variable somewhere in the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        else:
            scope = Scope()
            _bind_by_string(node, scope)
            yield from scope.bound


def bound_identifiers(tree: ast.AST) -> Iterator[str]:
    """Every identifier that some scope of the tree binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        else:
            scope = Scope()
            _bind_by_string(node, scope)
            yield from scope.bound


def stored_names(statements: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind, nested functions' own variables included (never too few)."""
    return {name for statement in statements for name in bound_identifiers(statement)}
