"""Names and their lives in a piece of Python: what is assigned, what is read before it is assigned, what is live where.

In: statements of the `ast`; out: sets of names.  Everything is an over-approximation in the safe direction: a name said
to be live may not be read, a name said not to be live is never read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from weft.frontend.returns import is_departure

Names = frozenset[str]
EMPTY: Names = frozenset()


def target_names(target: ast.expr) -> Iterator[str]:
    """Names bound by an assignment target (elements of a subscript or attribute are not bound)."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from target_names(item)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)


def _nested(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef))


def assigned(nodes: Iterable[ast.AST], beside: Iterable[ast.AST] = ()) -> set[str]:
    """Names that executing the nodes may bind; what is bound in the nodes `beside` is left out."""
    found: set[str] = set()
    stack = list(nodes)
    skipped = {id(node) for node in beside}
    while stack:
        node = stack.pop()
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            found |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
        elif not _nested(node):
            stack.extend(ast.iter_child_nodes(node))
    return found


def unset(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that executing the nodes may leave without a value: by `del`, or where `except ... as name` ends."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        if not _nested(node):
            stack.extend(ast.iter_child_nodes(node))
    return found


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that import statements in the nodes may bind."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def nonlocals(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that functions defined in the nodes, or the nodes themselves, assign to as variables of others."""
    return {name for top in nodes for node in ast.walk(top) if isinstance(node, ast.Nonlocal) for name in node.names}


def bound_anew(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that executing the nodes may bind to another array: `a += x` works in place, `a @= x` does not."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.target, ast.Name)
            and not isinstance(node.op, ast.MatMult)
        ):
            stack.append(node.value)
        elif isinstance(node, ast.stmt) and not _nested(node):
            own = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
            found |= assigned(own)
            stack += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        else:
            found |= assigned([node])
    return found


def used(node: ast.AST | None) -> Names:
    """Names read in a node, nested functions included, but not what these and comprehensions bind for themselves."""
    if node is None:
        return EMPTY
    if isinstance(node, ast.Name):
        return EMPTY if isinstance(node.ctx, ast.Store) else frozenset({node.id})  # `del x` needs a value, too
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        own = {name for part in node.generators for name in target_names(part.target)}
        return used(node.generators[0].iter) | (_used_in(ast.iter_child_nodes(node)) - own)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        body = node.body if isinstance(node.body, list) else [node.body]
        own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        own |= assigned(body) - _declared_elsewhere(body)
        around = [node.args, *getattr(node, "decorator_list", ()), getattr(node, "returns", None)]
        return _used_in(around) | (_used_in(body) - own)
    return _used_in(ast.iter_child_nodes(node))


def _used_in(nodes: Iterable[ast.AST | None]) -> Names:
    return EMPTY.union(*map(used, nodes))


def _declared_elsewhere(body: list[ast.stmt] | list[ast.expr]) -> set[str]:
    """Names that a function says belong to a scope around it."""
    return {
        name
        for top in body
        for node in ast.walk(top)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }


def surely_named(node: ast.AST) -> set[str]:
    """Names that are set once an expression has been evaluated: `(n := f()) > 0`."""
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return set()
    if isinstance(node, ast.BoolOp):
        return surely_named(node.values[0])
    if isinstance(node, ast.IfExp):
        return surely_named(node.test)
    if isinstance(node, ast.Compare):
        return surely_named(node.left) | surely_named(node.comparators[0])
    found = {node.target.id} if isinstance(node, ast.NamedExpr) else set()
    return found.union(*map(surely_named, ast.iter_child_nodes(node)))


def surely_assigned(body: list[ast.stmt]) -> set[str]:
    """Names that are set once the statements have run to their end."""
    found: set[str] = set()
    for node in body:
        found -= unset([node])
        if isinstance(node, ast.AnnAssign) and node.value is None:
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)):
            found |= assigned([node]) | imported([node] if isinstance(node, (ast.Import, ast.ImportFrom)) else [])
        elif isinstance(node, ast.With):
            found |= surely_assigned(node.body) | assigned([i.optional_vars for i in node.items if i.optional_vars])
        elif isinstance(node, ast.If):
            found |= surely_named(node.test) | (surely_assigned(node.body) & surely_assigned(node.orelse))
        elif isinstance(node, (ast.While, ast.For, ast.Expr)):
            found |= surely_named(_first_evaluated(node))
        elif isinstance(node, ast.Try):
            ways = [surely_assigned([*node.body, *node.orelse]), *(surely_assigned(h.body) for h in node.handlers)]
            found |= (set.intersection(*ways) - unset([node])) | surely_assigned(node.finalbody)
    return found


def set_at_exit(body: list[ast.stmt], only_breaks: bool) -> set[str]:
    """Names that are set whenever a loop with this body is left after at least one trip.

    `only_breaks`: the loop is `while True`, left by `break` alone; otherwise also at the end of a trip.
    """
    exits: list[set[str]] = []
    ends: list[set[str]] = []
    falls = _follow(body, set(), exits, ends)
    if not only_breaks:
        exits += ends
        if falls is not None:
            exits.append(falls)
    return set.intersection(*exits) if exits else set()


def _follow(
    body: list[ast.stmt], known: set[str], breaks: list[set[str]], continues: list[set[str]]
) -> set[str] | None:
    """Names set after a block that began with `known`; None if control does not reach its end."""
    for node in body:
        if isinstance(node, ast.Break):
            breaks.append(known)
            return None
        if isinstance(node, ast.Continue):
            continues.append(known)
            return None
        if isinstance(node, (ast.Return, ast.Raise)) or is_departure(node):
            return None
        if isinstance(node, ast.If):
            known = known | surely_named(node.test)
            sides = [_follow(part, set(known), breaks, continues) for part in (node.body, node.orelse)]
            reached = [side for side in sides if side is not None]
            if not reached:
                return None
            known = set.intersection(*reached)
        elif isinstance(node, ast.Try):
            ways = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
            sides = [_follow(part, set(known), breaks, continues) for part in ways]
            reached = [side for side in sides if side is not None]
            if not reached:
                return None
            known = (set.intersection(*reached) - unset([node])) | surely_assigned(node.finalbody)
        else:
            known = (known - unset([node])) | surely_assigned([node])
    return known


def _first_evaluated(node: ast.stmt) -> ast.expr:
    """What a statement evaluates once whatever comes of it."""
    if isinstance(node, ast.For):
        return node.iter
    assert isinstance(node, (ast.If, ast.While, ast.Expr))
    return node.test if isinstance(node, (ast.If, ast.While)) else node.value


def _without_named(out: Names, node: ast.expr) -> Names:
    """Of names live behind an expression those that it does not set itself."""
    return out - (surely_named(node) - used(node))


def _surely_used(node: ast.AST) -> Names:
    """Names that are read whenever an expression is evaluated."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.ClassDef)):
        return EMPTY
    if isinstance(node, ast.BoolOp):
        return _surely_used(node.values[0])
    if isinstance(node, ast.IfExp):
        return _surely_used(node.test)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return _surely_used(node.generators[0].iter)
    if isinstance(node, ast.Compare):
        return _surely_used(node.left) | _surely_used(node.comparators[0])
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if isinstance(node.ctx, ast.Load) else EMPTY
    return EMPTY.union(*map(_surely_used, ast.iter_child_nodes(node)))


def read_next(name: str, body: Iterable[ast.stmt]) -> bool:
    """Whether statements read a variable, whatever happens, before anything that a caller could see."""
    for node in body:
        if isinstance(node, (ast.If, ast.While, ast.For)):
            return name in _surely_used(_first_evaluated(node))
        if not isinstance(node, (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass)):
            return False
        reads = _surely_used(node)
        if isinstance(node, ast.AugAssign):
            reads |= frozenset(target_names(node.target))
        if name in reads:
            return True
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not all(target is None or isinstance(target, ast.Name) for target in targets):
            return False
        if any(isinstance(part, ast.Call) for part in ast.walk(node)) or name in assigned([node]):
            return False
    return False


def captures(body: list[ast.stmt]) -> dict[str, Names]:
    """For each name that denotes a nested function, or something made of one, the variables it looks up when called."""
    found: dict[str, Names] = {}
    mine = frozenset(assigned(body))
    handed: list[tuple[str, Names]] = []
    for node in (part for statement in body for part in ast.walk(statement)):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = found.get(node.name, EMPTY) | _taken(node) & mine
        elif isinstance(node, ast.Assign):
            inner = [part for part in ast.walk(node.value) if isinstance(part, ast.Lambda)]
            taken = frozenset[str]().union(*map(_taken, inner)) & mine
            for name in (name for target in node.targets for name in target_names(target)):
                found[name] = found.get(name, EMPTY) | taken
                handed.append((name, _mentioned(node.value)))
    found = {name: taken for name, taken in found.items() if taken}
    changing = bool(found)
    while changing:
        changing = False
        for name, others in [*handed, *found.items()]:
            more = frozenset[str]().union(*(found.get(other, EMPTY) for other in others)) - found.get(name, EMPTY)
            if more:
                found[name] = found.get(name, EMPTY) | more
                changing = True
    return found


def _taken(function: ast.FunctionDef | ast.Lambda) -> Names:
    arguments = function.args
    own = {part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return used(function) - own


def _mentioned(value: ast.expr) -> Names:
    """Names that may denote what an expression gives, or be handed to what makes it: not the functions it calls."""
    if isinstance(value, ast.Name):
        return frozenset({value.id})
    if isinstance(value, ast.Call):
        return frozenset(part.id for part in value.args if isinstance(part, ast.Name))
    if isinstance(value, (ast.Tuple, ast.List, ast.IfExp)):
        return frozenset(part.id for part in ast.iter_child_nodes(value) if isinstance(part, ast.Name))
    return EMPTY


class Liveness:
    """Names live before each statement of a function body, by backward data flow over its structure."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self.after: dict[int, Names] = {}
        self.at_head: dict[int, Names] = {}
        self.interrupted: dict[int, Names] = {}  # of a try: names live where its block, and where its handlers end
        self.handled: dict[int, Names] = {}  # of a try: names that may be read after an exception in its block
        self._raising: Names = EMPTY  # names live where an exception would be handled
        self._captures = captures(body)
        self._following: dict[int, list[ast.stmt]] = {}
        self.at_start = self._block(body, EMPTY, None, None)

    def live_after(self, node: ast.stmt) -> Names:
        return self.after.get(id(node), EMPTY)

    def live_at_head(self, node: ast.stmt) -> Names:
        """For a loop: names live where the body begins (before the target of a `for` is bound)."""
        return self.at_head.get(id(node), EMPTY)

    def surely_read_after(self, node: ast.stmt, name: str) -> bool:
        """Whether a variable is certainly read next when a statement has ended: where it is unset, that raises."""
        following = self._following.get(id(node), [])
        rest = following[following.index(node) + 1 :] if following else []
        return read_next(name, [*getattr(node, "orelse", ()), *rest])

    def _block(self, body: list[ast.stmt], out: Names, on_break: Names | None, on_continue: Names | None) -> Names:
        live = out
        for node in reversed(body):
            self._following[id(node)] = body
            self.after[id(node)] = self.after.get(id(node), EMPTY) | live
            live = self._statement(node, live, on_break, on_continue) | self._raising
            for name in live & self._captures.keys():
                live |= self._captures[name]
        return live

    def live_when_left(self, node: ast.Try) -> Names:
        """For a try: names live where its block or a handler of it is left, in whatever way."""
        return self.interrupted.get(id(node), EMPTY)

    def _statement(self, node: ast.stmt, out: Names, on_break: Names | None, on_continue: Names | None) -> Names:
        if isinstance(node, ast.Break):
            return on_break or EMPTY
        if isinstance(node, ast.Continue):
            return on_continue or EMPTY
        if isinstance(node, (ast.Return, ast.Raise)):
            return used(node)
        if isinstance(node, ast.If):
            then = self._block(node.body, out, on_break, on_continue)
            orelse = self._block(node.orelse, out, on_break, on_continue)
            return _without_named(then | orelse, node.test) | used(node.test)
        if isinstance(node, ast.While):
            return _without_named(self._loop(node, out, used(node.test), EMPTY, on_break, on_continue), node.test)
        if isinstance(node, ast.For):
            bound = frozenset(target_names(node.target))
            return self._loop(node, out, EMPTY, bound, on_break, on_continue) | used(node.iter)
        if isinstance(node, ast.Try):
            return self._try(node, out, on_break, on_continue)
        if isinstance(node, ast.With):
            # A context manager may swallow an exception: what follows can be reached from anywhere in the block.
            inside = self._block(node.body, out, on_break, on_continue)
            return out | inside | frozenset[str]().union(*(used(item) for item in node.items))
        if isinstance(node, ast.Assign):
            bound = frozenset(name for target in node.targets for name in target_names(target))
            inner = frozenset[str]().union(*(used(target) for target in node.targets))
            return (out - bound) | used(node.value) | inner
        if isinstance(node, ast.AnnAssign):
            return (out - frozenset(target_names(node.target))) | used(node.value) | used(node.target)
        if isinstance(node, ast.AugAssign):
            return out | used(node.value) | used(node.target) | frozenset(target_names(node.target))
        if isinstance(node, ast.FunctionDef):
            return (out - {node.name}) | used(node)
        if isinstance(node, ast.Expr):
            return _without_named(out, node.value) | used(node)
        return out | used(node)

    def _try(self, node: ast.Try, out: Names, on_break: Names | None, on_continue: Names | None) -> Names:
        """An exception may leave the block between any two of its statements; whatever leaves passes `finally`."""
        outer, leaving = self._raising, out
        if node.finalbody:
            everywhere = out | outer | (on_break or EMPTY) | (on_continue or EMPTY)
            leaving = self._block(node.finalbody, everywhere, on_break, on_continue)
            self._raising = outer | leaving
        handlers: Names = EMPTY
        for handler in node.handlers:
            inside = self._block(handler.body, leaving, on_break, on_continue)
            handlers |= (inside - {handler.name or ""}) | used(handler.type)
        after = self._block(node.orelse, leaving, on_break, on_continue)
        self._raising |= handlers
        self.handled[id(node)] = self.handled.get(id(node), EMPTY) | self._raising
        live = self._block(node.body, after, on_break, on_continue)
        self._raising = outer
        self.interrupted[id(node)] = self.interrupted.get(id(node), EMPTY) | after | handlers | leaving
        return live

    def _loop(
        self,
        node: ast.For | ast.While,
        out: Names,
        test: Names,
        bound: Names,
        on_break: Names | None,
        on_continue: Names | None,
    ) -> Names:
        after = self._block(node.orelse, out, on_break, on_continue) if node.orelse else out
        head = after | test
        while True:
            body = self._block(node.body, head, out, head)
            new = head | (body - bound)
            if new == head:
                break
            head = new
        self.at_head[id(node)] = head
        return head
