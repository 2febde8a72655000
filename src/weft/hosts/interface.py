"""What a C host sees of a function.  In: its program; out: the arguments and results as C has them, each with its words
in the block of a call.  Lists, strings and dicts are handles (`handles`).  What C has nothing for is refused: objects,
containers of containers, results that differ in kind.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from weft.analysis.scopes import written_params
from weft.codegen.binding import WordLayout
from weft.compiled import Compiled
from weft.errors import Unsupported
from weft.frontend import specs
from weft.frontend.values import Object
from weft.hosts import routines
from weft.hosts.arguments import (
    Argument,
    ArrayArgument,
    ConstantArray,
    ConstantScalar,
    FunctionArgument,
    HandleArgument,
    Interface,
    ScalarArgument,
)
from weft.hosts.functions import Function
from weft.hosts.handles import handle_of
from weft.hosts.results import results_of
from weft.ir.expr import Expr, Op
from weft.ir.foreign import FOREIGN
from weft.ir.program import Library, Program
from weft.ir.routines import CALLBACK, ROUTINES, types_of
from weft.ir.walk import node_exprs, subexpressions, walk

_NO_FORM: dict[type, tuple[str, str]] = {
    specs.ListSpec: ("a list of more than two axes", "take an array: weft.f64[N, M, K]"),
    specs.ContainerSpec: ("a container that C has no handle for", "take lists or arrays of its items"),
    specs.ArraysSpec: ("a list of arrays", "take one array with a further axis"),
    specs.TextSpec: ("of strings that C has no handle for", "take a str, bytes or a list[str]"),
    specs.TextDictSpec: ("a dict that C has no handle for", "take lists of its keys and values"),
    specs.ObjectSpec: ("an object", "take its attributes as arguments"),
    specs.ConstSpec: ("a value that must be known to compile", "write it as a constant of the module"),
}


def refuse_routines(function: Function) -> None:
    """`Unsupported` if a function calls what only NumPy or another library of Python has."""
    for version in function.versions:
        for part in (version.program_lowered, *version.program_lowered.functions):
            for node in walk(part.body):
                if isinstance(node, Library) and _is_missing(node, part):
                    reason = f"{node.routine} is a routine of NumPy, which a C host does not have"
                    raise Unsupported(node.span, reason, "call it on the host's side, or write it as loops")
                called = next((op for expr in node_exprs(node) for op in _foreign(expr)), None)
                if called is not None:
                    name = next(iter(FOREIGN[called].keys.values())).replace("|", " ")
                    reason = f"it calls a function of another library ({name}), which a C host does not have"
                    raise Unsupported(node.span, reason, "take it as an argument: f: Callable[[float], float]")


def _is_missing(node: Library, program: Program) -> bool:
    routine = ROUTINES[node.routine]
    sides = ([program.buffer(each.buffer).type.dtype for each in side] for side in (node.inputs, node.outputs))
    return routine.module != CALLBACK and routines.function(routine.address(types_of(*sides))) is None


def _foreign(expr: Expr) -> Iterator[str]:
    return (each.op for each in subexpressions(expr) if isinstance(each, Op) and each.op in FOREIGN)


def interface(function: Function, version: Compiled, places: WordLayout) -> Interface:
    """The C interface of one version; all versions of a function have the same arguments and results."""
    program, built = version.program_lowered, version.built
    written = written_params(program) | written_params(version.program_built)
    arguments: list[Argument] = []
    for name, kind, param in zip(function.parameters, built.specs, built.names):
        if isinstance(kind, (specs.ArraySpec, specs.ScalarSpec, specs.FunctionSpec)) and isinstance(param, str):
            word = places.params[param]
            if isinstance(kind, specs.FunctionSpec):
                arguments.append(FunctionArgument(name, kind.count, word))
            elif isinstance(kind, specs.ArraySpec):
                arguments.append(ArrayArgument(name, kind.dtype, kind.rank, param in written, word))
            else:
                arguments.append(ScalarArgument(name, kind.type, word))
            continue
        handle = handle_of(kind)
        if handle is not None:
            names = (param,) if isinstance(param, str) else tuple(map(str, param or ()))
            is_written = any(each in written for each in names)
            even = isinstance(kind, specs.ListSpec) and kind.rank == 2
            words = tuple(places.params[each] for each in names)
            arguments.append(HandleArgument(name, handle, words, is_written, even=even))
            continue
        what, remedy = _NO_FORM.get(type(kind), ("of a kind that C does not have", "take arrays and numbers"))
        raise Unsupported(function.span, f"the argument {name}: {kind} is {what}", remedy, {name: str(kind)})
    constants = tuple(_constants(function, version, places, written))
    found = results_of(function, program, places, arguments)
    new = {change.argument.name for way in found.changes for change in way}
    shown = tuple(
        replace(each, changed=True) if isinstance(each, HandleArgument) and each.name in new else each
        for each in arguments
    )
    return Interface(shown, constants, found.results, tuple(places.slots.values()), places.words, found.changes)


def _constants(
    function: Function, version: Compiled, places: WordLayout, written: frozenset[str]
) -> Iterator[ConstantArray | ConstantScalar]:
    """Globals and closure variables that the program reads at each call: a host has no others, they are constants."""
    for entry in version.built.hidden:
        if entry.param is None or isinstance(entry.spec, Object):
            continue
        home, value = entry.home, None
        if isinstance(home, dict):
            value = home.get(entry.name)
        elif isinstance(home, types.CellType):
            value = home.cell_contents
        if not isinstance(entry.param, str) or value is None:
            raise Unsupported(function.span, f"{entry.name} has no form in C", "take it as an argument")
        if entry.param in written:
            reason = f"the function writes the module's array {entry.name}"
            raise Unsupported(function.span, reason, "take it as an argument")
        word = places.params[entry.param]
        if isinstance(entry.spec, specs.ArraySpec):
            yield ConstantArray(entry.name, np.ascontiguousarray(value), word)
        elif isinstance(entry.spec, specs.ScalarSpec):
            yield ConstantScalar(value, word)
        else:
            raise Unsupported(function.span, f"the module's {entry.name} has no form in C", "take arrays and numbers")
