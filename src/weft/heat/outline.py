"""A loop that is under way, as a function of its own.  In: the code of a frame, its variables and the line it is at;
out: an `Outline` for each loop around that line, the outermost first.

    for i in range(n):                 def loop(__weft_items, total, n):
        total += f(i)          -->         for __weft_at in __weft_items:
        if total > n:                          i = __weft_at
            break                              total += f(i)
                                               if total > n:
                                                   return 1, __weft_at, i, total
                                           return 0, __weft_at, i, total

The first result says where Python goes on: 0 at the head of the loop, k at the k-th of `exits`, a line whose statement
(a `break`, a `return`) has not been executed.  Variables of a module are globals of the function, those of a function
its parameters and results.
"""

from __future__ import annotations

import ast
import types
from typing import Any, Final

from weft.errors import Span, Unsupported
from weft.frontend import source
from weft.heat.standing import ITERATOR
from weft.records import dataclass

ITEMS, AT, FROM, TO, LEFT = "__weft_items", "__weft_at", "__weft_from", "__weft_to", "__weft_left"
NUMBER = "__weft_number"
_RANGES: Final = (range, type(iter(range(0))))
_ITEMS: Final[tuple[type, ...]] = (type(iter([])), type(iter(())), type(iter("a")), type(iter("\u20ac")))
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PURE: Final = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.expr_context,
    ast.boolop,
    ast.unaryop,
    ast.operator,
    ast.cmpop,
)


@dataclass(frozen=True)
class Outline:
    """A loop as a function."""

    function: types.FunctionType
    #: What the first parameters are: "range", "items" (a list, tuple or string), "numbered" (an enumerate of those), or
    #: "while".
    kind: str
    line: int
    depth: int  # iterators of enclosing loops
    names: tuple[str, ...]  # parameters behind those of the kind
    results: tuple[str, ...]  # variables that it assigns to, and gives back
    exits: tuple[int, ...]
    #: What an item is assigned to: a name, several, or None for anything else.
    target: str | tuple[str, ...] | None
    sample: Any  # where a range is, or the list that the loop runs over, as far as that is known


class Unbound(Unsupported):
    """A variable of a loop that is in its first iteration has no value yet: in the next one it will have."""


def outlines(
    code: types.CodeType, namespace: dict[str, Any], variables: dict[str, Any], line: int
) -> list[Outline | Unsupported]:
    """The loops around a line of code that runs, the outermost first; of those that cannot be outlined, why not."""
    tree = source.body_of(code, namespace)
    found: list[Outline | Unsupported] = []
    for loop, depth in _around(tree.body, line):
        try:
            found.append(_Outliner(code, namespace, variables, tree, loop, depth).outlined())
        except Unsupported as problem:
            found.append(problem)
    return found


def _around(body: list[ast.stmt], line: int) -> list[tuple[ast.For | ast.While, int]]:
    """The loops around a line and the number of iterators below theirs; none inside what keeps more on the stack."""
    found: list[tuple[ast.For | ast.While, int]] = []
    depth = 0
    while body:
        here = [s for s in body if s.lineno <= line <= (s.end_lineno or s.lineno)]
        if not here:
            break
        statement = here[-1]
        if isinstance(statement, (ast.For, ast.While)):
            found.append((statement, depth))
            depth += isinstance(statement, ast.For)
            body = statement.body
        elif isinstance(statement, ast.If):
            body = [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.Try) and not statement.finalbody:
            body = [*statement.body, *statement.orelse]
        else:
            break
    return found


class _Outliner:
    """One loop on its way out of its function."""

    def __init__(
        self,
        code: types.CodeType,
        namespace: dict[str, Any],
        variables: dict[str, Any],
        tree: ast.Module | ast.FunctionDef,
        loop: ast.For | ast.While,
        depth: int,
    ) -> None:
        self.code, self.namespace, self.variables = code, namespace, variables
        self.tree, self.loop, self.depth = tree, loop, depth
        self.is_module = isinstance(tree, ast.Module)
        self.exits: list[int] = []
        self.stored = _stored(loop)
        self.declared = {n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names}
        if self.is_module:
            self.declared = set(self.stored)

    def refuse(self, reason: str, node: ast.AST | None = None) -> Unsupported:
        line = getattr(node or self.loop, "lineno", self.loop.lineno)
        place = Span(self.code.co_filename, line, 0, line, 0)
        return Unsupported(place, reason, "put what the loop does into a function")

    def outlined(self) -> Outline:
        loop = self.loop
        self._check()
        kind, sample = self._kind()
        own = self.stored | _loaded(loop)
        known = set() if self.is_module else {*self.code.co_varnames, *self.code.co_cellvars, *self.code.co_freevars}
        dead = set() if isinstance(loop, ast.While) else _overwritten(loop)
        names = tuple(sorted((own & known) - self.declared - dead))
        results = tuple(sorted(self.stored - self.declared))
        unbound = [name for name in (*names, *results) if name not in self.variables and name not in dead]
        if unbound:
            found = self.refuse(f"the variable `{unbound[0]}` has no value yet")
            raise Unbound(found.span, found.reason, found.remedy)
        body = [self._statement(s, ()) for s in source.own_tree(loop.body)]
        definition = self._definition(kind, names, results, body)
        # Stand-ins that hold statements in the place of `break` and `return` are placed where those were.
        ast.fix_missing_locations(definition)
        made: types.CodeType = compile(ast.Module([definition], []), self.code.co_filename, "exec", dont_inherit=True)
        inner = next(constant for constant in made.co_consts if isinstance(constant, types.CodeType))
        source.keep(inner, definition)
        function = types.FunctionType(inner, self.namespace)
        exits = tuple(self.exits)
        return Outline(function, kind, loop.lineno, self.depth, names, results, exits, _target(loop), sample)

    # --- whether ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        loop = self.loop
        head = loop.iter if isinstance(loop, ast.For) else loop.test
        if loop.body[0].lineno <= (head.end_lineno or head.lineno):
            # Only the instruction that takes the next item tells such a head from its body, and no line is its exit's.
            if isinstance(loop, ast.While) or any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(loop)):
                raise self.refuse("a `while`, `break` or `return` in a loop on one line")
        if isinstance(loop, ast.While) and (head.lineno != loop.lineno or head.end_lineno != loop.lineno):
            raise self.refuse("a condition of several lines")
        if isinstance(loop, ast.While) and not _is_pure(loop.test):
            raise self.refuse("a condition that may do more than look")
        for node in ast.walk(loop):
            if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete)):
                if not isinstance(node, ast.Delete) or any(isinstance(t, ast.Name) for t in node.targets):
                    raise self.refuse(f"`{type(node).__name__.lower()}` in a loop that is under way", node)
            elif isinstance(node, (ast.Global, ast.Nonlocal, ast.ClassDef)):
                raise self.refuse("a definition in a loop that is under way", node)
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name in ("super", "__class__") or (name.startswith("__") and not name.endswith("__")):
                raise self.refuse(f"`{name}`, which depends on the class around", node)
        shared = (self._held_by_others() | set(self.code.co_freevars)) & self.stored
        if shared:
            raise self.refuse(f"the variable `{min(shared)}` belongs to another function as well")

    def _held_by_others(self) -> set[str]:
        """Variables that functions made outside the loop use, or that any nested function assigns to."""
        found: set[str] = set()
        inside = {id(node) for node in ast.walk(self.loop)}
        for node in ast.walk(self.tree):
            if node is self.tree or not isinstance(node, (*_FUNCTIONS, ast.GeneratorExp)):
                continue
            if self.is_module:
                continue  # what functions of a module see of its variables are globals, as the loop's are
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            kept = {name for n in ast.walk(node) if isinstance(n, ast.Nonlocal) for name in n.names}
            if kept & _loaded(self.loop):
                raise self.refuse(f"the variable `{min(kept)}` belongs to another function as well", node)
            if isinstance(node, ast.GeneratorExp):
                names -= _own_names(node)
            if id(node) not in inside:
                found |= names
        return found

    def _kind(self) -> tuple[str, Any]:
        """What the loop runs over, and a sample of it."""
        loop = self.loop
        if isinstance(loop, ast.While):
            return "while", None
        head = loop.iter
        if isinstance(head, ast.Call) and isinstance(head.func, ast.Name) and head.func.id == "range":
            if "range" not in self.namespace and "range" not in self.variables:
                now = self.variables.get(loop.target.id) if isinstance(loop.target, ast.Name) else 0
                return "range", now if type(now) is int else 0
        kind, found = "items", self._value(head)
        if isinstance(head, ast.Call) and isinstance(head.func, ast.Name) and head.func.id == "enumerate" and head.args:
            if "enumerate" not in self.namespace and "enumerate" not in self.variables:
                kind, found = "numbered", self._value(head.args[0])
        iterator = self.variables.get(f"{ITERATOR}{self.depth}")
        if found is None and type(iterator) is enumerate:
            kind, iterator = "numbered", iterator.__reduce__()[1][0]
        if found is None and type(iterator) in _ITEMS:
            found = iterator.__reduce__()[1][0]
        if type(found) in _RANGES or (kind == "items" and type(iterator) in _RANGES):
            return "range", 0
        if type(found) in (list, tuple, str) and found:
            return kind, found
        raise self.refuse(f"a loop over `{ast.unparse(head)[:40]}`, which is neither a range nor a list")

    def _value(self, node: ast.expr) -> Any:
        """What a name or an attribute of an object is, without running any of the program's code."""
        if isinstance(node, ast.Name):
            return self.variables.get(node.id, self.namespace.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return getattr(owner, "__dict__", {}).get(node.attr) if type(type(owner)) is type else None
        if isinstance(node, (ast.Constant, ast.Tuple, ast.List)):
            try:
                return ast.literal_eval(node)
            except ValueError:
                return None
        return None

    # --- the function -----------------------------------------------------------------------------------------------

    def _definition(
        self, kind: str, names: tuple[str, ...], results: tuple[str, ...], body: list[ast.stmt]
    ) -> ast.FunctionDef:
        loop = self.loop
        listed = [ITEMS, FROM, TO]
        first = {"range": [ITEMS], "items": listed, "numbered": [*listed, NUMBER], "while": [LEFT]}[kind]
        whole: list[ast.stmt] = []
        if self.declared:
            whole.append(ast.Global(sorted(self.declared)))
        if isinstance(loop, ast.While):
            test = source.own_tree(loop.test)
            counted = _parsed(f"if {LEFT} <= 0:\n    RETURN\n{LEFT} -= 1")
            counted[0].body = [self._leave(0, results)]  # type: ignore[attr-defined]
            whole.append(ast.While(test, [*counted, *body], []))
            whole.append(self._leave(-1, results))
        else:
            target = source.own_tree(loop.target)
            if kind == "range":
                whole += _parsed(f"for {AT} in {ITEMS}:\n    pass")
                taken = _parsed(f"TARGET = {AT}")
            else:
                whole += _parsed(f"for {AT} in range({FROM}, {TO}):\n    pass")
                item = f"{ITEMS}[{AT}]" if kind == "items" else f"({AT} + {NUMBER}, {ITEMS}[{AT}])"
                taken = _parsed(f"if {AT} >= len({ITEMS}):\n    RETURN\nTARGET = {item}")
                taken[0].body = [self._leave(-1, results)]  # type: ignore[attr-defined]
            taken[-1].targets = [target]  # type: ignore[attr-defined]
            whole[-1].body = [*taken, *body]  # type: ignore[attr-defined]
            whole.append(self._leave(0, results))
        definition: Any = _parsed(f"def {self._name()}({', '.join([*first, *names])}):\n    pass")[0]
        definition.body = whole
        for node in ast.walk(definition):
            if hasattr(node, "lineno") and getattr(node, "weft_made", False):
                ast.copy_location(node, loop)
        return definition  # type: ignore[no-any-return]

    def _name(self) -> str:
        return f"__weft_loop_{self.loop.lineno}"

    def _leave(self, number: int, results: tuple[str, ...] | None = None) -> ast.stmt:
        """return number, the place in the loop, the variables"""
        results = tuple(sorted(self.stored - self.declared)) if results is None else results
        at = "0" if isinstance(self.loop, ast.While) else AT
        return _parsed(f"return ({', '.join([str(number), at, *results])},)")[0]

    def _statement(self, statement: Any, path: tuple[ast.AST, ...]) -> ast.stmt:
        """A statement of the body, in which what leaves the loop returns."""
        if isinstance(statement, _FUNCTIONS):
            return statement  # type: ignore[return-value]
        inner = [node for node in path if isinstance(node, (ast.For, ast.While))]
        if isinstance(statement, ast.Return) or (isinstance(statement, ast.Break) and not inner):
            if any(isinstance(node, (ast.Try, ast.With)) for node in path):
                raise self.refuse(f"`{type(statement).__name__.lower()}` inside `try` or `with`", statement)
            if any(isinstance(node, ast.For) for node in inner) or not self._is_reached(statement):
                return _parsed("raise AssertionError")[0]  # Python runs that iteration
            self.exits.append(statement.lineno)
            return self._leave(len(self.exits))
        for field in ("body", "orelse", "finalbody"):
            part = getattr(statement, field, None)
            if isinstance(part, list):
                setattr(statement, field, [self._statement(s, (*path, statement)) for s in part])
        for handler in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            handler.body = [self._statement(s, (*path, statement)) for s in handler.body]
        return statement  # type: ignore[no-any-return]

    def _is_reached(self, statement: ast.stmt) -> bool:
        """Whether Python comes to a statement, and does nothing else, if it goes on at its line."""
        for node in ast.walk(self.loop):
            if (
                isinstance(node, ast.stmt)
                and node.lineno == statement.lineno
                and node.col_offset < statement.col_offset
            ):
                if not isinstance(node, ast.If) or not _is_pure(node.test) or node.end_lineno != node.lineno:
                    return False
        return True


def _own_names(node: ast.GeneratorExp) -> set[str]:
    """Variables of a generator expression, which hide those of the function."""
    targets = {n.id for one in node.generators for n in ast.walk(one.target) if isinstance(n, ast.Name)}
    outside = {n.id for n in ast.walk(node.generators[0].iter) if isinstance(n, ast.Name)}
    return targets - outside


def _parsed(text: str) -> list[ast.stmt]:
    body = ast.parse(text).body
    for statement in body:
        for node in ast.walk(statement):
            node.weft_made = True  # type: ignore[attr-defined]
    return body


def _is_pure(test: ast.expr) -> bool:
    """Whether an expression can be evaluated twice: names, items, comparisons, and lengths."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id == "len" and not node.keywords):
                return False
        elif not isinstance(node, _PURE):
            return False
    return True


def _parts(loop: ast.For | ast.While) -> list[ast.AST]:
    """What is executed in each iteration."""
    return [loop.target if isinstance(loop, ast.For) else loop.test, *loop.body]


def _stored(loop: ast.For | ast.While) -> set[str]:
    """Variables that a loop assigns to, without those of functions and comprehensions in it."""
    found: set[str] = set()
    work = _parts(loop)
    while work:
        node = work.pop()
        if isinstance(node, _COMPREHENSIONS):
            found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name.partition(".")[0]) for alias in node.names}
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        work += ast.iter_child_nodes(node)
    return found


def _overwritten(loop: ast.For) -> set[str]:
    """Variables whose values no iteration looks at, since each begins by assigning to them."""
    found = _plain_names([loop.target]) or set()
    read: set[str] = set()
    for statement in loop.body:
        nodes = list(ast.walk(statement))
        if any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in nodes):
            break
        targets = _plain_names(statement.targets) if isinstance(statement, ast.Assign) else None
        if targets is None:
            read |= {node.id for node in nodes if isinstance(node, ast.Name)} - found
            continue
        assert isinstance(statement, ast.Assign), "it has targets"
        read |= {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)} - found
        found |= targets - read
    return found


def _target(loop: ast.For | ast.While) -> str | tuple[str, ...] | None:
    if isinstance(loop, ast.While) or _plain_names([loop.target]) is None:
        return None
    if isinstance(loop.target, ast.Tuple):
        return tuple(part.id for part in loop.target.elts if isinstance(part, ast.Name))
    return loop.target.id if isinstance(loop.target, ast.Name) else None


def _plain_names(targets: list[ast.expr]) -> set[str] | None:
    """The names that are assigned to, if there is nothing else."""
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names if all(isinstance(part, ast.Name) for part in parts) else None


def _loaded(loop: ast.For | ast.While) -> set[str]:
    nodes = [node for part in _parts(loop) for node in ast.walk(part)]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
