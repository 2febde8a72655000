"""Functions with `*` and `**` parameters, one form for each number and names of further arguments.  In: the source of a
function and the shape of a call; out: trees in which every argument has a parameter of its own.

    def f(x, *rest, k=1, **options)  called as f(a, b, c, scale=d)
        -->  def f(x, rest_0, rest_1, /, *, k=1, options_scale):
                 rest = (rest_0, rest_1); options = {"scale": options_scale}; ...
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from weft.records import dataclass

#: What the form calls where it has no native version.
ORIGINAL = "__weft_original"


class Gathered(ast.Dict):
    """The display of what `**` parameters hold: all of its keys are known, whatever their values are."""


@dataclass(frozen=True)
class Form:
    """A function for calls of one shape: its definition, what calls the original function with the same arguments, and
    the names of parameters that keyword arguments have become."""

    tree: ast.FunctionDef
    calling: ast.FunctionDef
    renamed: dict[str, str]


def form_of(tree: ast.FunctionDef, given: int, keywords: Sequence[str]) -> Form:
    """The form for calls with so many positional arguments and these keyword arguments."""
    spec = tree.args
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    positional = [*spec.posonlyargs, *spec.args]
    rest = [] if spec.vararg is None else [fresh(f"{spec.vararg.arg}_{k}") for k in range(given - len(positional))]
    named = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    more = [name for name in keywords if name not in named]
    label = "" if spec.kwarg is None else spec.kwarg.arg
    renamed = {
        name: fresh(f"{label}_{name if name.isidentifier() and name.isascii() else place}")
        for place, name in enumerate(more)
    }
    before = [_parameter(a.arg, a) for a in positional]
    further = [_parameter(name, tree) for name in rest]
    arguments = ast.arguments(
        # Where `*` takes some arguments, those before them have come by their places.
        posonlyargs=[*before, *further] if rest else before[: len(spec.posonlyargs)],
        args=[] if rest else before[len(spec.posonlyargs) :],
        kwonlyargs=[_parameter(name, tree) for name in (*(a.arg for a in spec.kwonlyargs), *renamed.values())],
        kw_defaults=[*spec.kw_defaults, *(None for _ in renamed)],
        defaults=[] if rest else list(spec.defaults),
    )
    opening: list[ast.stmt] = []
    if spec.vararg is not None:
        held = ast.Tuple(elts=[_load(name) for name in rest], ctx=ast.Load())
        opening.append(ast.Assign(targets=[ast.Name(id=spec.vararg.arg, ctx=ast.Store())], value=held))
    if spec.kwarg is not None:
        opening.append(ast.Assign(targets=[ast.Name(id=label, ctx=ast.Store())], value=_display(renamed, Gathered)))
    plain = [ast.keyword(arg=a.arg, value=_load(a.arg)) for a in spec.kwonlyargs]
    if all(name.isidentifier() for name in renamed):
        plain += [ast.keyword(arg=name, value=_load(held)) for name, held in renamed.items()]
    else:  # in their order
        plain.append(ast.keyword(arg=None, value=_display(renamed, ast.Dict)))
    call = ast.Call(
        func=_load(ORIGINAL),
        args=[_load(name) for name in (*(a.arg for a in positional), *rest)],
        keywords=plain,
    )
    made = _defined(tree, arguments, [*opening, *tree.body])
    calling = _defined(tree, _without_values(arguments), [ast.Return(value=call)])
    return Form(made, calling, renamed)


def _load(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _parameter(name: str, place: ast.AST) -> ast.arg:
    return ast.copy_location(ast.arg(arg=name), place)


def _display(renamed: dict[str, str], kind: type[ast.Dict]) -> ast.Dict:
    keys: list[ast.expr | None] = [ast.Constant(value=name) for name in renamed]
    return kind(keys=keys, values=[_load(name) for name in renamed.values()])


def _without_values(arguments: ast.arguments) -> ast.arguments:
    """The same parameters: those with a default have None, which is replaced by the function's own."""
    result = copy.copy(arguments)
    result.defaults = [ast.Constant(value=None) for _ in arguments.defaults]
    result.kw_defaults = [None if value is None else ast.Constant(value=None) for value in arguments.kw_defaults]
    return result


def _defined(tree: ast.FunctionDef, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(name=tree.name, args=arguments, body=body, decorator_list=[])
    if hasattr(tree, "type_params"):
        setattr(made, "type_params", [])  # noqa: B010
    return ast.fix_missing_locations(ast.copy_location(made, tree))
