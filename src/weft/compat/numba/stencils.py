"""`numba.stencil`: kernels with relative indices.  In: a kernel and its options; out: a compiled function of arrays.

    @stencil                                       def smooth(a, out=None):
    def smooth(a):                        -->          ...
        return 0.5 * (a[-1] + a[1])                    for _i0 in range(1, a.shape[0] - 1):
                                                           out[_i0] = 0.5 * (a[_i0 + -1] + a[_i0 + 1])

The loops are plain Python: weft compiles them, and compiled functions may call them.  Elements whose neighbours lie
outside of the array are `cval`, 0 if none is given; those of an `out` without `cval` stay as they are.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft import api
from weft.compat.numba.core.errors import TypingError
from weft.errors import attach_source

_OPTIONS = {"cval", "neighborhood", "standard_indexing"}
_Range = tuple[int, int]


def stencil(function_or_mode: Any = "constant", **options: Any) -> Any:
    """`@stencil`, or `@stencil(cval=1.0, neighborhood=((-1, 1),), standard_indexing=("w",))`."""
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypingError(f"Unknown stencil option {unknown[0]}: there are cval, neighborhood and standard_indexing")
    if isinstance(function_or_mode, str):
        if function_or_mode != "constant":
            raise TypingError(f"Unsupported mode style {function_or_mode}: there is 'constant'")
        return lambda function: _made(function, options)
    return _made(function_or_mode, options)


class _Relative(ast.NodeTransformer):
    """a[-1, 0]  -->  a[_i0 + -1, _i1 + 0], and the least and the greatest of the constants along each axis."""

    def __init__(self, arrays: set[str], is_given: bool) -> None:
        self.arrays, self.is_given = arrays, is_given
        self.rank: int | None = None
        self.reach: list[list[int]] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.arrays:
            return node
        if not isinstance(node.ctx, ast.Load):
            raise TypingError(f"line {node.lineno} of the stencil kernel: Assignments to arrays are not allowed")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if self.rank is None:
            self.rank, self.reach = len(indices), [[0, 0] for _ in indices]
        if len(indices) != self.rank:
            raise TypingError(f"line {node.lineno} of the stencil kernel: {len(indices)} indices, not {self.rank}")
        node.slice = ast.Tuple([self._index(axis, one) for axis, one in enumerate(indices)], ast.Load())
        return node

    def _index(self, axis: int, index: ast.expr) -> ast.expr:
        try:
            constant = ast.literal_eval(index)
        except ValueError:
            constant = None
        if isinstance(constant, int):
            low, high = self.reach[axis]
            self.reach[axis] = [min(low, constant), max(high, constant)]
        elif isinstance(index, ast.Slice) or not self.is_given:
            raise TypingError("stencil kernel index is not constant, 'neighborhood' option required")
        return ast.BinOp(ast.Name(f"_i{axis}", ast.Load()), ast.Add(), index)


def _made(function: Any, options: dict[str, Any]) -> Any:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef) or not tree.args.args:
        raise TypingError("a stencil kernel is a function of at least one array")
    names = [one.arg for one in tree.args.args]
    absolute = set(options.get("standard_indexing") or ())
    if names[0] in absolute:
        raise TypingError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
    given: Sequence[_Range] | None = options.get("neighborhood")
    relative = _Relative(set(names) - absolute, given is not None)
    body = [relative.visit(statement) for statement in tree.body]
    if relative.rank is None:
        raise TypingError("no relative index in the stencil kernel: write a[-1], a[0, 1]")
    if not any(isinstance(node, ast.Return) and node.value for one in body for node in ast.walk(one)):
        raise TypingError("Stencil kernel must return a scalar and not a numba.none")
    reach = [(int(low), int(high)) for low, high in (relative.reach if given is None else given)]
    if len(reach) != relative.rank:
        wanted = f"{relative.rank} dimensional input array"
        raise TypingError(f"{len(reach)} dimensional neighborhood specified for {wanted}")
    text = _text(tree.name, names, relative, reach, body, options)
    return _compiled(function, text, options.get("cval", 0))


def _text(
    name: str, names: list[str], relative: _Relative, reach: list[_Range], body: list[ast.stmt], options: dict[str, Any]
) -> str:
    """The Python of the loops.  The dtype of a result is that of the kernel's value over ones."""
    first, listed = names[0], ", ".join(names)
    places = ", ".join(f"_i{axis}" for axis in range(len(reach)))
    sizes = ", ".join(str(max(high, 0) - min(low, 0) + 1) for low, high in reach) + ","
    indexed = [node.value for one in body for node in ast.walk(one) if isinstance(node, ast.Subscript)]
    used = {value.id for value in indexed if isinstance(value, ast.Name)}
    ones = [f"np.ones(({sizes}), {one}.dtype)" if one in relative.arrays & used else one for one in names]
    middle = ", ".join(str(-min(low, 0)) for low, _ in reach)
    kernel = f"_kernel_{name}"
    lines = [f"def {kernel}({listed}, {places}):"]
    lines += textwrap.indent("\n".join(map(ast.unparse, map(ast.fix_missing_locations, body))), "    ").splitlines()
    lines += [f"def {name}({listed}, out=None):", "    if out is None:"]
    sample = f"{kernel}({', '.join(ones)}, {middle})"
    lines += [f"        out = np.full({first}.shape, {sample})", "        out[...] = _cval"]
    if "cval" in options:
        lines += ["    else:", "        out[...] = _cval"]
    depth = "    "
    for axis, (low, high) in enumerate(reach):
        start, end = -min(low, 0), f" - {high}" if high > 0 else ""
        lines.append(f"{depth}for _i{axis} in range({start}, {first}.shape[{axis}]{end}):")
        depth += "    "
    lines += [f"{depth}out[{places}] = {kernel}({listed}, {places})", "    return out"]
    return "\n".join(lines) + "\n"


def _compiled(function: Any, text: str, cval: Any) -> Any:
    file = f"<stencil {function.__module__}.{function.__qualname__} at line {function.__code__.co_firstlineno}>"
    attach_source(file, text)
    around = inspect.getclosurevars(function)
    space = {**function.__globals__, **around.nonlocals, "np": np, "_cval": cval}
    exec(compile(text, file, "exec"), space)
    made = space[function.__name__]
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    return api.jit(made)
