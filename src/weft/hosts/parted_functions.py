"""Functions with statements that have no native form, to be built around these.  In: such a function, its hints and the
line of the trouble; out: the function that Python runs, and its regions, each built like any other function.

    def f(x: weft.f64[N]):                    def f(x):
        <loops>                                   s = f.region_0(x)
        log.info("sum %s", s)        -->          log.info("sum %s", s)
        <loops>                                   return f.region_1(x, s)

What a region is given has the types of hints, of what other regions give back, and of what plain statements in between
assign, as far as the compiler of plain Python knows these. They are guesses: guards look at each call.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.errors import Span, Unsupported
from weft.frontend import regions
from weft.frontend.hints import ArrayHint, array_by_use
from weft.frontend.liveness import Liveness, assigned
from weft.frontend.making import function_from
from weft.frontend.source import Source, keep, load
from weft.hosts import typed
from weft.hosts.hint_samples import NoSample, Samples
from weft.plain import infer
from weft.plain.told import Refusal
from weft.records import dataclass

#: How often types are followed round a loop.
_ROUNDS: Final = 2
Hints = dict[str, Any]


@dataclass
class Parted:
    """A function that runs in regions: `tree` is what Python runs, `regions` are what it calls by name, with the place
    of each in the module that is built."""

    place: str
    plain: types.FunctionType
    tree: ast.FunctionDef
    regions: dict[str, tuple[str, types.FunctionType]]
    reason: str  # why it has them


#: Builds a region that has hints, in its place; the hints of what it gives back, None if it stays Python.
Build = Callable[[str, types.FunctionType], "tuple[Any, ...] | None"]


def hints_of(plain: types.FunctionType, receiver: type | None) -> Hints:
    """The hints of parameters as they are inside the function."""
    found: Hints = {}
    hints = inspect.get_annotations(plain, eval_str=True)
    for at, (name, parameter) in enumerate(inspect.signature(plain).parameters.items()):
        array = array_by_use(plain, name, hints.get(name))
        if at == 0 and receiver is not None:
            found[name] = receiver
        elif array is not None:
            found[name] = ArrayHint(array.dtype, (None,) * array.rank)
        elif name in hints and parameter.kind is parameter.VAR_POSITIONAL:
            found[name] = types.GenericAlias(tuple, (hints[name], ...))
        elif name in hints and parameter.kind is parameter.VAR_KEYWORD:
            found[name] = types.GenericAlias(dict, (str, hints[name]))
        elif name in hints:
            found[name] = hints[name]
    return found


def parted(place: str, plain: types.FunctionType, given: Hints, line: int, reason: str, build: Build) -> Parted | None:
    """The function split at a line; None if nothing around it is worth it, or can be built."""
    source = load(plain)
    found = None if source.cells else regions.split(source, line)
    if found is None:
        return None
    walk = _Walk(place, source, {region.name: region.tree for region in found.regions}, build)
    walk.block(found.tree.body, dict(given))
    if not any(walk.built.values()):
        return None
    tree = found.tree
    for argument in ast.walk(tree.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    tree.returns = None
    none = ast.copy_location(ast.Constant(value=None), tree)  # the function has the defaults of the original
    tree.args.defaults = [none for _ in tree.args.defaults]
    tree.args.kw_defaults = [None if value is None else none for value in tree.args.kw_defaults]
    return Parted(
        place, plain, tree, {name: (walk.place(name), walk.functions[name]) for name in walk.functions}, reason
    )


def is_about_all(plain: types.FunctionType, span: Span) -> bool:
    """Whether a problem is told of a whole function, at no statement."""
    source = load(plain)
    return span == source.span(source.tree)


def line_in(plain: types.FunctionType, line: int) -> int:
    """The line of the function itself on which a line of its file is reached: by calls of functions of its module. 0 if
    there is none."""
    body = load(plain).tree.body
    if body[0].lineno <= line <= (body[-1].end_lineno or 0):
        return line
    reached = _names_reaching(plain.__globals__, plain.__code__.co_filename, line)
    for node in ast.walk(ast.Module(body=body, type_ignores=[])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in reached:
            return node.lineno
    return 0


def _names_reaching(namespace: dict[str, Any], file: str, line: int) -> set[str]:
    """The functions of a module that hold a line, or call what does."""
    codes: dict[str, types.CodeType] = {}
    for name, value in namespace.items():
        plain = getattr(value, "py_func", value)
        if isinstance(plain, types.FunctionType) and plain.__code__.co_filename == file:
            codes[name] = plain.__code__
    found = {name for name, code in codes.items() if _holds(code, line)}
    while more := {name for name, code in codes.items() if not found.isdisjoint(code.co_names)} - found:
        found |= more
    return found


def _holds(code: types.CodeType, line: int) -> bool:
    lines = [known for _, _, known in code.co_lines() if known]
    return bool(lines) and code.co_firstlineno <= line <= max(lines)


class _Walk:
    """The statements of a function in their order, with what is known of its variables."""

    def __init__(self, place: str, source: Source, trees: dict[str, ast.FunctionDef], build: Build) -> None:
        self._place, self._source, self._trees, self._build = place, source, trees, build
        self.functions = {name: self._made(tree) for name, tree in trees.items()}
        self.built: dict[str, bool] = {}
        self._known: dict[str, tuple[Hints, tuple[Any, ...] | None]] = {}

    def place(self, name: str) -> str:
        return f"{self._place}.{name.removeprefix('__weft_')}"

    def _made(self, tree: ast.FunctionDef) -> types.FunctionType:
        function: Any = function_from(tree, self._source, None, {})
        keep(function.__code__, tree)
        return function  # type: ignore[no-any-return]

    def block(self, body: Sequence[ast.stmt], known: Hints) -> None:
        for node in body:
            self._statement(node, known)

    def _statement(self, node: ast.stmt, known: Hints) -> None:
        called = self._called(node)
        if called is not None:
            self._region(node, called, known)
        elif isinstance(node, (ast.For, ast.While)):
            for _ in range(_ROUNDS):
                if isinstance(node, ast.For):
                    self._header(node, known)
                before = dict(known)
                self.block(node.body, known)
                if known == before:
                    break
            self.block(node.orelse, known)
        elif isinstance(node, ast.If):
            self.block(node.body, known)
            self.block(node.orelse, known)
        elif isinstance(node, (ast.With, ast.Try)):
            self.block(node.body, known)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            known[node.target.id] = self._annotated(node)
        elif names := assigned([node]):
            self._learn([node], names, known)

    def _called(self, node: ast.stmt) -> str | None:
        """The region that a statement calls."""
        value = node.value if isinstance(node, (ast.Assign, ast.Expr, ast.Return)) else None
        name = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        return name if name in self._trees else None

    def _region(self, node: ast.stmt, name: str, known: Hints) -> None:
        function = self.functions[name]
        parameters = [parameter.arg for parameter in self._trees[name].args.args]
        given: Hints = {each: known[each] for each in parameters if known.get(each) is not None}
        if name not in self._known or self._known[name][0] != given:
            result = None
            if len(given) == len(parameters):
                function.__annotations__ = given
                result = self._build(self.place(name), function)
            self._known[name] = (given, result)
        result = self._known[name][1]
        self.built[name] = result is not None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            names = [part.id for part in getattr(target, "elts", []) if isinstance(part, ast.Name)]
            hints = result if result is not None and len(result) == len(names) else (None,) * len(names)
            known.update(zip(names, hints))

    def _header(self, node: ast.For, known: Hints) -> None:
        first = ast.Return(value=_tuple(sorted(assigned([node.target]))))
        loop = ast.For(target=node.target, iter=node.iter, body=[first], orelse=[], type_comment=None)
        self._learn([loop], assigned([node.target]), known)

    def _annotated(self, node: ast.AnnAssign) -> Any:
        try:
            code = compile(ast.Expression(body=node.annotation), self._source.file, "eval")
            hint = eval(code, self._source.namespace)
            return eval(hint, self._source.namespace) if isinstance(hint, str) else hint
        except Exception:
            return None

    def _learn(self, body: list[ast.stmt], names: set[str], known: Hints) -> None:
        """What plain statements assign, as far as the compiler of plain Python knows it."""
        ordered = sorted(names)
        for name in ordered:
            known.setdefault(name, None)
        reads = sorted(name for name in Liveness(body).at_start if name in known)
        try:
            hints = self._inferred([*body, ast.Return(value=_tuple(ordered))], reads, known)
        except (Unsupported, Refusal, NoSample, typed.NoHint):
            hints = (None,) * len(ordered)
        known.update(zip(ordered, hints))

    def _inferred(self, body: list[ast.stmt], reads: list[str], known: Hints) -> tuple[Any, ...]:
        first = body[0]
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=name) for name in reads], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        tree = ast.FunctionDef(name="assigned", args=arguments, body=body, decorator_list=[], returns=None)
        if hasattr(tree, "type_params"):
            tree.type_params = []
        function = self._made(ast.fix_missing_locations(ast.copy_location(tree, first)))
        samples = Samples({})
        if any(known[name] is None for name in reads):
            raise NoSample("a variable of unknown type")
        _, root = infer.infer(function, [samples.of(known[name]) for name in reads])
        heads = [head.root() for head in root.result if head.root().kind == "tuple"]
        if len(heads) != 1:
            raise NoSample("no values")
        return tuple(typed.of_node(part) for part in heads[0].parts)


def _tuple(names: Sequence[str]) -> ast.Tuple:
    return ast.Tuple(elts=[ast.Name(id=name, ctx=ast.Load()) for name in names], ctx=ast.Load())
