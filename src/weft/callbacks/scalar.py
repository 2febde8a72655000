"""A function of numbers as C.  In: a Python function and the types of its arguments; out: the C text of a kernel, and
what its results are.

The function gets NumPy scalars, as the elements of arrays are: integers wrap, division by zero gives infinity.  What a
kernel cannot do (an exception, a Python integer beyond 64 bits) shows in its status; who calls it asks Python then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import pipeline
from weft.codegen import c
from weft.compiled import Compiled
from weft.errors import CompileError, Unsupported
from weft.frontend.source import Source, load
from weft.frontend.specs import Spec
from weft.ir.program import ConstOut, Out, Program, ScalarOut
from weft.ir.types import DType, ScalarType, type_of_value
from weft.ir.walk import leaves
from weft.options import Options
from weft.records import dataclass
from weft.runtime import toolchain
from weft.targets.c import TARGET as C_TARGET

#: How functions that are called from C are compiled: what calls them decides about threads.
OPTIONS = Options(parallel=False, fallback="error")


@dataclass(frozen=True)
class Leaf:
    """One number of a result: its type, and the word it is in, or (of a constant) the number."""

    type: ScalarType
    word: int | None
    value: Any = None


@dataclass(frozen=True)
class Kernel:
    """The C of a function: `results` are the numbers of each of its returns."""

    compiled: Compiled
    unit: c.CSource
    results: tuple[tuple[Leaf, ...], ...]

    @property
    def params(self) -> tuple[int, ...]:
        """The word of each argument; -1 of one that nothing looks at."""
        names = self.compiled.built.names
        return tuple(self.unit.layout.params[name] if isinstance(name, str) else -1 for name in names)


def chain() -> toolchain.Toolchain:
    """The C compiler; CompileError without one: a callback is machine code or nothing."""
    found = toolchain.find()
    if found is None:
        raise CompileError("a C callback needs a C compiler, and none works here", "pip install 'weft[zig]'")
    return found


def wrapper(function: Callable[..., Any], text: str, names: dict[str, Any]) -> Source:
    """The source of a function that calls a user's function: `text` defines it, over `names` besides the user's."""
    user = load(function)
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    place = user.span(user.tree)
    return Source(user.name, user.file, tree, user.text, names, {}, place)


def lowered(source: Source, kinds: Sequence[Spec], options: Options = OPTIONS) -> Compiled:
    """The program of a callback; Unsupported if it needs more than its arguments."""
    compiled = pipeline.front(source, kinds, None, options, specialise=False)
    if compiled.built.hidden:
        name = compiled.built.hidden[0].name
        raise Unsupported(
            source.span(source.tree), f"a C callback that reads {name!r} at each call", f"pass {name!r} as an argument"
        )
    return compiled


def scalar_kernel(source: Source, kinds: Sequence[Spec], options: Options = OPTIONS) -> Kernel:
    """The kernel of a function that returns a number or a tuple of numbers."""
    compiled = lowered(source, kinds, options)
    unit = C_TARGET.text(compiled, options)
    program = compiled.program_lowered
    trees = [
        tuple(_leaf(out, word, program, source) for out, word in zip(leaves(tree), words))
        for tree, words in zip(program.results, unit.layout.returns)
    ]
    if len({len(tree) for tree in trees}) != 1:
        raise Unsupported(source.span(source.tree), "a function that returns tuples of several lengths")
    return Kernel(compiled, unit, tuple(trees))


def _leaf(out: Out, word: int | None, program: Program, source: Source) -> Leaf:
    if isinstance(out, ScalarOut):
        return Leaf(program.buffer(out.buffer).type, word)
    if isinstance(out, ConstOut):
        value = ast.literal_eval(out.text)
        of = type_of_value(value)
        if of is not None:
            return Leaf(of, None, value)
    raise Unsupported(source.span(source.tree), "a callback whose result is no number", "return numbers")


def result_types(kernel: Kernel) -> tuple[DType, ...]:
    """The dtype of each result: what all returns promote to; Python's numbers give way to NumPy's."""
    return tuple(_joined([tree[at].type for tree in kernel.results]) for at in range(len(kernel.results[0])))


def _joined(types: list[ScalarType]) -> DType:
    found = types[0]
    for other in types[1:]:
        found = found if found == other else _promoted(found, other)
    return found.dtype


def _promoted(one: ScalarType, other: ScalarType) -> ScalarType:
    from weft.ir.types import promote

    return promote(one, other)


def numpy_types(dtypes: Sequence[DType]) -> tuple[np.dtype[Any], ...]:
    return tuple(dtype.numpy for dtype in dtypes)
