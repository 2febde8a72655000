"""A function with a statement weft cannot compile, split: native regions around it, the statement left to Python.

In: the Source of a function and the line of the trouble; out: a `Split`: the function's tree with runs of statements
replaced by calls of region functions, and those functions.

    def f(a):                              def f(a):
        <run of statements>                    x, y = __weft_region_0(a)
        print(x)                  -->          print(x)
        <run of statements>                    return __weft_region_1(a, x, y)
A loop or branch that holds the troubled statement stays Python and its own blocks are split in the same way.  A region
that turns out to hold another such statement is split again when it is first called.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import field

from weft.frontend.liveness import Liveness, assigned, imported, surely_assigned, unset
from weft.frontend.source import Source
from weft.records import dataclass

REGION = "__weft_region_"
_BARRIERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: What sees the variables of a function by their names: those of a region are not among them.
_SEEING = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"})
#: Whether a statement is for another compiler.
Keeps = Callable[[ast.stmt], bool]
_SUSPENDS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


@dataclass(frozen=True)
class Region:
    """A run of statements as a function of its own: parameters are what it reads, results what is read afterwards."""

    name: str
    tree: ast.FunctionDef


@dataclass
class Split:
    """The function that calls the regions, and the regions."""

    tree: ast.FunctionDef
    regions: list[Region] = field(default_factory=list)
    kept: bool = False  # the statement in question is a region, too


def split(source: Source, line: int, always: bool = False, keeps: Keeps = lambda node: False) -> Split | None:
    """The function split at the statement on `line`; None if nothing around it is worth compiling.

    `always`: whatever is around it becomes a region, as tests want it. `keeps`: whether a statement is for another
    compiler; if that one is, it becomes a region, too, with others like it that stand beside it.
    """
    tree = copy.deepcopy(source.tree)
    if any(isinstance(node, _SUSPENDS) or _sees_variables(node) for node in ast.walk(tree)):
        return None
    splitter = _Splitter(tree, line, always, keeps)
    spec = tree.args
    bound = {a.arg for a in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]} | set(source.cells)
    if spec.vararg:
        bound.add(spec.vararg.arg)
    if spec.kwarg:
        bound.add(spec.kwarg.arg)
    tree.body = splitter.block(tree.body, bound, tail=True)
    tree.decorator_list = []
    if not splitter.regions:
        return None
    return Split(ast.fix_missing_locations(tree), splitter.regions, splitter.kept)


def line_of(tree: ast.FunctionDef, number: int) -> int:
    """The line of a statement of a function by its number, taken modulo the number of them."""
    lines = sorted({node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and node is not tree})
    return lines[number % len(lines)]


class _Splitter:
    def __init__(self, tree: ast.FunctionDef, line: int, always: bool, keeps: Keeps) -> None:
        self.line = line
        self.always = always
        self.keeps = keeps
        self.kept = False
        self.liveness = Liveness(tree.body)
        self.locals = assigned(tree.body) | imported(tree.body) | {a.arg for a in tree.args.args}
        # Modules that the function imports for itself: a region does so, too, instead of being given them.
        self.imports: dict[str, ast.stmt] = {}
        for node in tree.body:
            names = imported([node]) if isinstance(node, (ast.Import, ast.ImportFrom)) else set()
            others = [other for other in tree.body if other is not node]
            self.imports.update(dict.fromkeys(names - assigned(tree.body) - imported(others), node))
        self.regions: list[Region] = []
        self.nested = [node for statement in tree.body for node in ast.walk(statement) if isinstance(node, _FUNCTIONS)]
        # Names that an exception would show: a region that raises gives none of its results.
        self.handled: frozenset[str] = frozenset()
        # A region that is the whole body again would be split forever.
        self.whole = list(tree.body)
        self.given = {a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)} | imported(tree.body)
        for part in ast.walk(tree):
            self.given |= set(part.names) if isinstance(part, (ast.Global, ast.Nonlocal)) else set()
        self.loops = 0

    def block(self, body: list[ast.stmt], bound: set[str], tail: bool) -> list[ast.stmt]:
        """A block with its runs of good statements outlined.

        `bound` are names sure to be set; `tail` says that the block ends the function.
        """
        result: list[ast.stmt] = []
        run: list[ast.stmt] = []
        known = set(bound)
        start = set(bound)
        apart = any(self._troubled(node) and self.keeps(node) for node in body)
        for node in body:
            if isinstance(node, _BARRIERS) or (self._troubled(node) and not apart):
                result += self._close(run, start, None)
                result.append(self._inside(node, known))
                run = []
                known = (known - unset([node])) | surely_assigned([node])
                start = set(known)
                continue
            if apart and run and self.keeps(node) != self.keeps(run[-1]):
                result += self._close(run, start, None)
                run, start = [], set(known)
            run.append(node)
            known = (known - unset([node])) | surely_assigned([node])
        return result + self._close(run, start, tail)

    def _troubled(self, node: ast.stmt) -> bool:
        return node.lineno <= self.line <= (node.end_lineno or node.lineno)

    def _inside(self, node: ast.stmt, bound: set[str]) -> ast.stmt:
        """A compound statement that holds the trouble: its blocks are split."""
        if isinstance(node, (ast.For, ast.While)):
            inner = set(bound)
            if isinstance(node, ast.For):
                inner |= assigned([node.target])
            self.loops += 1
            node.body = self.block(node.body, inner, tail=False)
            self.loops -= 1
            node.orelse = self.block(node.orelse, set(bound), tail=False)
        elif isinstance(node, ast.If):
            node.body = self.block(node.body, set(bound), tail=False)
            node.orelse = self.block(node.orelse, set(bound), tail=False)
        elif isinstance(node, (ast.With, ast.Try)):
            outer, self.handled = self.handled, self.handled | self.liveness.handled.get(id(node), frozenset())
            node.body = self.block(node.body, set(bound), tail=False)
            self.handled = outer
        return node

    def _close(self, run: list[ast.stmt], bound: set[str], tail: bool | None) -> list[ast.stmt]:
        """A run of statements as a call of a region, or unchanged if that does not pay or is not safe."""
        if not run or not (self.always or _worthwhile(run)) or self._is_whole(run):
            return run
        returns = any(isinstance(node, ast.Return) for statement in run for node in ast.walk(statement))
        if (returns and not tail) or _escapes(run) or self._shares_names(run) or assigned(run) & self.handled:
            return run
        if any(_is_of_method(node) for statement in run for node in ast.walk(statement)):
            return run
        live = self.liveness.live_after(run[-1])
        if unset(run) & live:
            return run
        writes = [] if returns else sorted(assigned(run) & live)
        # What the run may leave as it was comes in, to be given back.
        kept = set(writes) - surely_assigned(run)
        reads = _upward(run) & (self.locals | bound) - self._without_value(run) | kept
        if not reads <= bound:
            return run
        own = {id(self.imports[name]): self.imports[name] for name in sorted(reads & self.imports.keys())}
        body = [*map(copy.copy, own.values()), *run]
        self.kept = self.kept or any(map(self._troubled, run))
        return [self._outline(body, sorted(reads - self.imports.keys()), writes, returns)]

    def _is_whole(self, run: list[ast.stmt]) -> bool:
        """Whether nothing is left of a body without a run, but the return of names, as regions end."""
        rest = [node for node in self.whole if node not in run]
        if len(rest) > 1 or (rest and rest[0] is not self.whole[-1]):
            return False
        value = rest[0].value if rest and isinstance(rest[0], ast.Return) else None
        names = value.elts if isinstance(value, ast.Tuple) else [value]
        return not rest or (value is not None and all(isinstance(name, ast.Name) for name in names))

    def _without_value(self, run: list[ast.stmt]) -> set[str]:
        """Names that certainly have no value before the run: nothing else assigns them, and no former iteration did.

        The region finds them as they are, unbound, and raises what the function would raise.
        """
        if self.loops:
            return set()
        return assigned(run) - assigned(self.whole, beside=run) - self.given

    def _shares_names(self, run: list[ast.stmt]) -> bool:
        """Whether a nested function sees a variable that the run gets as a copy, or gives away."""
        nodes = [node for statement in run for node in ast.walk(statement)]
        inner = {id(node) for node in nodes}
        mentioned = {node.id for node in nodes if isinstance(node, ast.Name)}
        live = self.liveness.live_after(run[-1])
        for function in self.nested:
            changed = {name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
            if changed & mentioned:
                return True
            seen = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & self.locals
            if id(function) not in inner:
                if seen & assigned(run):
                    return True
            elif seen and (isinstance(function, ast.Lambda) or function.name in live):
                # A function that outlives the run would keep the run's variables.
                return True
        return False

    def _outline(self, run: list[ast.stmt], reads: Sequence[str], writes: Sequence[str], returns: bool) -> ast.stmt:
        name = f"{REGION}{len(self.regions)}"
        body = list(run)
        first, last = next(node for node in run if not isinstance(node, _BARRIERS)), run[-1]
        if not returns:
            names: list[ast.expr] = [ast.Name(id=w, ctx=ast.Load()) for w in writes]
            body.append(_at(ast.Return(value=ast.Tuple(elts=names, ctx=ast.Load())), last))
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=r) for r in reads], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        tree = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], returns=None)
        if hasattr(tree, "type_params"):
            tree.type_params = []
        self.regions.append(Region(name, ast.fix_missing_locations(_at(tree, first))))  # type: ignore[arg-type]
        call = ast.Call(
            func=ast.Name(id=name, ctx=ast.Load()), args=[ast.Name(id=r, ctx=ast.Load()) for r in reads], keywords=[]
        )
        if returns:
            return _at(ast.Return(value=call), first)
        if not writes:
            return _at(ast.Expr(value=call), first)
        target = ast.Tuple(elts=[ast.Name(id=w, ctx=ast.Store()) for w in writes], ctx=ast.Store())
        return _at(ast.Assign(targets=[target], value=call), first)


def _sees_variables(node: ast.AST) -> bool:
    """Whether a node may look at the variables of the function by their names."""
    if isinstance(node, ast.Attribute):
        return node.attr in _SEEING
    return isinstance(node, ast.Name) and node.id in _SEEING


def _is_of_method(node: ast.AST) -> bool:
    """Whether a node means something in a method alone: `super()` looks for its class and its first argument."""
    return isinstance(node, ast.Name) and node.id in ("super", "__class__")


def _at(node: ast.stmt, like: ast.stmt) -> ast.stmt:
    ast.copy_location(node, like)
    return ast.fix_missing_locations(node)


def _upward(run: list[ast.stmt]) -> set[str]:
    """Names that a run may read before it sets them."""
    return set(Liveness(run).at_start)


def _worthwhile(run: list[ast.stmt]) -> bool:
    """A region must hold a loop or some array arithmetic: a call costs more than a few scalar statements."""
    nodes = [node for statement in run for node in ast.walk(statement)]
    if any(isinstance(node, (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.MatMult)) for node in nodes):
        return True
    return sum(isinstance(node, (ast.BinOp, ast.Call)) for node in nodes) >= 4


def _escapes(run: list[ast.stmt]) -> bool:
    """Whether a break or continue of an outer loop stands in the run."""

    def own(body: Sequence[ast.stmt]) -> bool:
        for node in body:
            if isinstance(node, (ast.Break, ast.Continue)):
                return True
            if isinstance(node, ast.If) and (own(node.body) or own(node.orelse)):
                return True
            if isinstance(node, (ast.With, ast.Try)) and own(node.body):
                return True
            if isinstance(node, ast.Try):
                parts = [node.orelse, node.finalbody, *(handler.body for handler in node.handlers)]
                if any(own(part) for part in parts):
                    return True
        return False

    return own(run)
