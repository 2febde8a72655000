"""What is known while one function is reduced: its names, which of them are surely bound, and fresh ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from weft.plain.core.build import Filling, assign, fill, is_constant, load, place
from weft.plain.core.scopes import Scope, bound_identifiers, identifiers, stored_names


class Names:
    """The identifiers of a whole tree, and fresh ones that clash with none of them.

    fixed: globals of which the caller knows that they are not rebound while the function runs;
    shadowed: names of builtins that mean something else where the function is.
    """

    def __init__(self, tree: ast.AST, fixed: Collection[str], shadowed: Collection[str]) -> None:
        self.used = set(identifiers(tree))
        bound = set(bound_identifiers(tree))
        self.fixed = frozenset(fixed) - bound
        self.shadowed = frozenset(shadowed) | bound
        self.temporaries: set[str] = set()
        self.containers: set[str] = set()
        self._count = 0
        self._copies: dict[str, int] = {}

    def temporary(self) -> str:
        while True:
            self._count += 1
            name = f"_t{self._count}"
            if name not in self.used:
                self.used.add(name)
                self.temporaries.add(name)
                return name

    def renamed(self, name: str) -> str:
        """x --> x_1, a variable of its own."""
        while True:
            number = self._copies[name] = self._copies.get(name, 0) + 1
            fresh = f"{name}_{number}"
            if fresh not in self.used:
                self.used.add(fresh)
                return fresh


@dataclass
class Frame:
    """One function that is being reduced.

    bound: the local names that surely have a value at this point; None where control never arrives.
    block, function, expression, class_body: what reduces these, given by the module that knows all of them.
    """

    names: Names
    scope: Scope
    block: Callable[[Frame, list[ast.stmt]], list[ast.stmt]]
    function: Callable[[Names, ast.FunctionDef], ast.FunctionDef]
    expression: Callable[[Frame, ast.expr, list[ast.stmt]], ast.expr]
    class_body: Callable[[Names, ast.ClassDef], None]
    bound: set[str] | None = field(default_factory=set)

    def bind(self, name: str) -> None:
        if self.bound is not None and name not in self.scope.deleted:
            self.bound.add(name)

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """What is reduced inside may not run: what it binds is not surely bound afterwards."""
        before = None if self.bound is None else set(self.bound)
        yield
        self.bound = before

    def is_stable(self, node: ast.expr, between: list[ast.stmt]) -> bool:
        """Reading `node` after the statements `between`, and whatever they call, gives the same as before them."""
        if is_constant(node):
            return True
        if isinstance(node, ast.Attribute):  # a method of a literal, or of a container that is being built
            literal = isinstance(node.value, ast.Constant) and hasattr(node.value.value, node.attr)
            return literal or (isinstance(node.value, ast.Name) and node.value.id in self.names.containers)
        if not isinstance(node, ast.Name) or node.id in stored_names(between):
            return False
        if node.id in self.names.temporaries or node.id in self.names.fixed:
            return True
        local = node.id in self.scope.bound and node.id not in self.scope.shared
        return local and (self.bound is None or node.id in self.bound)

    def temporary(self) -> str:
        name = self.names.temporary()
        self.scope.bound.add(name)
        return name

    def container(self) -> str:
        """A temporary for a list, set or dict that is being built: looking up its methods has no effect."""
        name = self.temporary()
        self.names.containers.add(name)
        return name

    def keep(self, value: ast.expr, out: list[ast.stmt]) -> ast.Name:
        """Put a value into a temporary."""
        name = self.temporary()
        out.append(assign(name, value, value))
        return load(name, value)

    def builtin(self, name: str, out: list[ast.stmt], source: ast.AST) -> ast.expr:
        """The builtin of this name, also where the name means something else."""
        if name not in self.names.shadowed:
            return load(name, source)
        module = self.temporary()
        out.append(place(ast.Import([ast.alias("builtins", module)]), source))
        return place(ast.Attribute(load(module, source), name, ast.Load()), source)

    def template(self, text: str, source: ast.AST, builtins: str = "", **holes: Filling) -> list[ast.stmt]:
        """A template's statements with its holes filled; `builtins` lists the builtins that it names."""
        out: list[ast.stmt] = []
        fillings = {name: self.builtin(name, out, source) for name in builtins.split() if name in self.names.shadowed}
        return out + fill(text, {**fillings, **holes}, source)


def meet(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """What is surely bound where two paths join."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def is_silent(statements: list[ast.stmt]) -> bool:
    """Only make functions without defaults, or do nothing: nobody can tell when that happened."""
    return all(_is_silent(statement) for statement in statements)


def _is_silent(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return statement.names[0].name == "builtins"
    if isinstance(statement, ast.If):
        return isinstance(statement.test, ast.Constant) and statement.test.value is False
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list or statement.returns:
        return False
    arguments = statement.args
    given = [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return all(map(is_constant, given)) and not any(argument and argument.annotation for argument in every)
