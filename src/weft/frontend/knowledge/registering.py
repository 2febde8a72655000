"""Entries that are made at run time: by users (`weft.register`) and for SciPy.  In: a function and what it means; out:
an entry of the knowledge base.

A function means a Python body, which stands in the place of its call, or a pure operation on numbers (`ir.foreign`),
element by element on arrays, or a generalised ufunc, which is a library routine.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, libraries, reads
from weft.frontend.knowledge import Bound, load_for, native
from weft.frontend.knowledge.ufuncs import Meaning, as_plain, deliver, elements
from weft.frontend.values import Array, Object, Scalar, Value, describe, told
from weft.ir.expr import Expr, Op
from weft.ir.foreign import FOREIGN, Foreign, declare
from weft.ir.routines import ROUTINES, Routine
from weft.ir.types import DType, ScalarType, from_numpy
from weft.records import dataclass

#: What an operation costs of which nothing is said, in cycles.
COST = 40


def entry_of_body(function: Any, body: Callable[..., Any], name: str) -> None:
    """Calls of `function` mean the body of another Python function with the same parameters."""
    load_for(function)  # what is registered here replaces an entry, and not the other way round
    parameters = " ".join(inspect.signature(body).parameters)

    @native(function, parameters=parameters, name=name)
    def build(call: Bound) -> Value:
        if inspect.isfunction(body):
            reads.function(body)
        return call.builder.expand(body, call.given)


def entry_of_ufunc(ufunc: np.ufunc, module: str, attribute: str, cost: int = COST) -> str:
    """Calls of a ufunc are calls of its own loops; the name of the operation."""
    load_for(ufunc)
    op = _slug(f"{module}_{attribute}")
    keys = {
        dtype: f"ufunc|{module}|{attribute}|{loop}"
        for loop in ufunc.types
        if (dtype := _only_dtype(loop)) is not None and dtype.is_inexact
    }
    if ufunc.nout != 1 or not keys:
        raise TypeError(f"the ufunc {attribute} has no loop from numbers of one floating type to one of them")
    declare(Foreign(op, ufunc.nin, keys), ufunc, cost)
    names = " ".join(f"x{number}" for number in range(ufunc.nin))

    @native(ufunc, parameters=f"{names} out", name=f"{module}.{attribute}", kinds="biufc")
    def build(call: Bound) -> Value:
        operands = [as_plain(call.need(f"x{number}")) for number in range(ufunc.nin)]
        of = _loop_type(ufunc, operands, call)
        return deliver(call, elements(call, operands, _meaning(op, of, cost)))

    return op


@dataclass(frozen=True)
class Native:
    """A C function of numbers: the key that the run time finds it by, and its types in C, the result's last."""

    key: str
    types: tuple[str, ...]
    parameters: tuple[str, ...]
    cost: int = COST
    elementwise: bool = False  # the Python function takes arrays, element by element


#: The types of C that hold whole numbers, of those that a native function may have.
_WHOLE = ("int", "long", "unsigned long")


def entry_of_native(function: Any, name: str, made: Native) -> None:
    """Calls of `function` are calls of a C function of numbers: on doubles, or on integers if all its types are."""
    load_for(function)
    *given, result = made.types
    whole = [kind in _WHOLE for kind in given]
    of = ScalarType(DType.I64 if all(whole) and result in _WHOLE else DType.F64)
    back = ScalarType(DType.I64 if result in _WHOLE else DType.F64, True)
    op = _slug(name)

    def plainly(*values: Any) -> Any:
        return function(*(int(value) if each else float(value) for value, each in zip(values, whole)))

    each = np.frompyfunc(plainly, len(made.parameters), 1)
    declare(Foreign(op, len(made.parameters), {of.dtype: made.key}, made.types), each, made.cost)

    @native(function, parameters=" ".join(made.parameters), name=name, kinds="biuf")
    def build(call: Bound) -> Value:
        operands = [as_plain(call.need(parameter)) for parameter in made.parameters]
        span = call.builder.emitter.span
        if not made.elementwise and not all(isinstance(operand, Scalar) for operand in operands):
            what = f"{name}() of an array, which was registered for numbers"
            raise Unsupported(span, what, "register it with elementwise=True")
        for parameter, operand, each in zip(made.parameters, operands, whole):
            if each and isinstance(operand, (Array, Scalar)) and operand.type.dtype.is_inexact:
                raise Unsupported(span, f"{name}() of {describe(operand)}, whose {parameter} is an integer")
        found = elements(call, operands, _meaning(op, of, made.cost))
        if isinstance(found, Scalar) and not made.elementwise:
            return Scalar(arith.cast(found.expr, back))
        if back.dtype is of.dtype:
            return found
        emitter = call.builder.emitter
        return arrays.elementwise([found], lambda parts: arith.cast(parts[0], back.strong), emitter, made.cost)


def entry_of_routine(function: Any, ufunc: np.ufunc, module: str, attribute: str) -> None:
    """Calls of a generalised ufunc (or of `function`, which is the same) are calls of its loops on whole arrays."""
    load_for(function)
    assert ufunc.signature is not None
    text = ufunc.signature.replace(" ", "")
    if re.search(r"\d|\?", text) or ufunc.nout != 1:
        raise TypeError(f"the layout {text} has fixed or optional dimensions, or several outputs")
    loops = tuple(
        loop for loop in ufunc.types if all(from_numpy(letter) is not None for letter in loop.replace("->", ""))
    )
    routine = Routine(attribute, module, text, loops, fails=False)
    name = _slug(f"{module}_{attribute}")
    ROUTINES[name] = Routine(attribute, module, text, loops, fails=False)
    parameters = " ".join(f"x{number}" for number in range(ufunc.nin))

    @native(function, parameters=parameters, name=attribute, category="library")
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        operands = [arrays.as_array(as_plain(call.need(f"x{k}")), emitter) for k in range(ufunc.nin)]
        resolved = ufunc.resolve_dtypes((*(_numpy(operand) for operand in operands), None))
        types = "".join(of.char for of in resolved[:-1]) + "->" + resolved[-1].char
        if types not in loops:
            raise Unsupported(emitter.span, f"{attribute}() of {told(operands)}", "convert the arguments to float64")
        extents: dict[str, Expr] = {}
        batches: list[tuple[Expr, ...]] = []
        for operand, core in zip(operands, routine.inputs):
            rank = operand.rank - len(core)
            if rank < 0:
                raise Unsupported(emitter.span, f"ValueError: {attribute}() of an array with too few dimensions")
            batches.append(operand.shape[:rank])
            for dimension, extent in zip(core, operand.shape[rank:]):
                _agree(extents, dimension, extent, call)
        batch = arrays.broadcast_shapes(batches, emitter)
        shape = tuple(extents[dimension] for dimension in routine.outputs[0])
        request = libraries.Request(name, types, batch, tuple(operands), ((attribute, shape),))
        return libraries.call(request, emitter)[0]


@dataclass(frozen=True)
class Operand:
    """A parameter of a native function over arrays, as Python passes it; one of rank 0 is a number."""

    name: str
    dtype: DType
    rank: int


def entry_of_effects(
    function: Any,
    name: str,
    ufunc: np.ufunc,
    home: tuple[str, str],
    parameters: tuple[str, ...],
    given: tuple[Operand, ...],
    written: tuple[Operand, ...],
    result: DType | None,
) -> None:
    """Calls of `function` are calls of a generalised ufunc (its `home`: module and attribute), whose outputs some of
    its arguments get; the last one is what it returns, if it has a result."""
    assert ufunc.signature is not None
    letters = (*(each.dtype.numpy.char for each in written), *(() if result is None else (result.numpy.char,)))
    types = f"{''.join(each.dtype.numpy.char for each in given)}->{''.join(letters)}"
    routine = Routine(home[1], home[0], ufunc.signature.replace(" ", ""), (types,), fails=False)
    own = _slug("_".join(home))
    ROUTINES[own] = routine

    @native(function, parameters=" ".join(parameters), name=name, category="library")
    def build(call: Bound) -> Value:
        emitter = call.builder.emitter
        extents: dict[str, Expr] = {}
        targets = [_target(call, each) for each in written]
        if len({target.view.buffer for target in targets if target.view is not None}) < len(targets):
            raise Unsupported(emitter.span, f"{name}() that writes one array under two names")
        operands = [_operand(call, each, targets, written) for each in given]
        shapes = [(array, core) for array, core in zip(operands, routine.inputs)]
        for array, core in (*shapes, *zip(targets, routine.outputs)):
            for dimension, extent in zip(core, array.shape):
                _agree(extents, dimension, extent, call)
        made_shapes = [tuple(extents[dimension] for dimension in core) for core in routine.outputs]
        names = (*(each.name for each in written), "result")
        request = libraries.Request(own, types, (), tuple(operands), tuple(zip(names, made_shapes)))
        made = libraries.call(request, emitter)
        for target, value in zip(targets, made):
            arrays.store(target, value, emitter)
        if result is None:
            return Object(None)
        number = made[-1]
        assert isinstance(number, Scalar)
        return Scalar(arith.cast(number.expr, ScalarType(DType.F64 if result.is_inexact else DType.I64, True)))


def _target(call: Bound, each: Operand) -> Array:
    """The argument that a native function writes."""
    span, target = call.builder.emitter.span, call.need(each.name)
    if not isinstance(target, Array) or target.rank != each.rank or target.type.dtype is not each.dtype:
        raise Unsupported(span, f"{call.name}() that writes another {each.name} than it was registered for")
    if target.view is None or target.is_list:
        raise Unsupported(span, f"{call.name}() that writes what is no array in memory")
    return target


def _operand(call: Bound, each: Operand, targets: Sequence[Array], written: Sequence[Operand]) -> Array:
    """An argument that a native function reads; Unsupported for one of another kind, or that it writes under another
    name."""
    span, value, name = call.builder.emitter.span, as_plain(call.need(each.name)), call.name
    if each.rank and not (isinstance(value, Array) and not value.is_list and value.rank == each.rank):
        raise Unsupported(span, f"{name}() of another {each.name} than an array of {each.rank} dimensions")
    if each.rank and isinstance(value, Array) and value.type.dtype is not each.dtype:
        raise Unsupported(span, f"{name}() of an array {each.name} that is not {each.dtype.value}")
    exact = isinstance(value, Scalar) and not (value.type.dtype.is_inexact and each.dtype.is_integer)
    if not each.rank and (not exact or not isinstance(value, Scalar) or value.type.dtype.is_complex):
        raise Unsupported(span, f"{name}() of another {each.name} than a number of its type")
    array = arrays.as_array(value, call.builder.emitter)
    for other, target in zip(written, targets):
        assert target.view is not None
        if each.name != other.name and array.view is not None and array.view.buffer == target.view.buffer:
            raise Unsupported(span, f"{name}() that writes the array it reads as {each.name}")
    return array


def _agree(extents: dict[str, Expr], dimension: str, extent: Expr, call: Bound) -> None:
    """Dimensions of one name are of one size: proved, a guard, or checked."""
    known = extents.setdefault(dimension, extent)
    if known is extent or known == extent:
        return
    emitter = call.builder.emitter
    emitter.check(Op("eq", (known, extent), ScalarType(DType.BOOL)), "ValueError", f"{call.name}: sizes do not match")


def _meaning(op: str, of: ScalarType, cost: int) -> Meaning:
    return Meaning(lambda parts, span: Op(op, tuple(arith.cast(part, of) for part in parts), of, span), cost)


def _loop_type(ufunc: np.ufunc, operands: list[Value], call: Bound) -> ScalarType:
    """The type of the loop that NumPy takes for these operands."""
    span = call.builder.emitter.span
    other = next((operand for operand in operands if not isinstance(operand, (Array, Scalar))), None)
    if other is not None:
        raise Unsupported(span, f"{call.name}() of {describe(other)}", "pass numbers or arrays")
    try:
        resolved = ufunc.resolve_dtypes((*(_numpy(operand) for operand in operands), None))
    except TypeError:
        raise Unsupported(span, f"TypeError: {call.name}() of {told(operands)}") from None
    dtypes = {from_numpy(of) for of in resolved}
    dtype = dtypes.pop()
    if dtypes or dtype is None or dtype not in FOREIGN[_slug(call.name.replace(".", "_"))].keys:
        raise Unsupported(span, f"{call.name}() of {told(operands)}", "convert them to float64")
    return ScalarType(dtype)


def _numpy(value: Value) -> Any:
    """A type as `resolve_dtypes` takes it."""
    assert isinstance(value, (Array, Scalar))
    return value.type.python if _weak(value) and value.type.dtype is not DType.BOOL else value.type.dtype.numpy


def _weak(value: Value) -> bool:
    return isinstance(value, Scalar) and value.type.weak


def _only_dtype(loop: str) -> DType | None:
    """d, of a loop dd->d."""
    letters = set(loop.replace("->", ""))
    return from_numpy(letters.pop()) if len(letters) == 1 else None


def _slug(text: str) -> str:
    return "foreign_" + re.sub(r"\W+", "_", text)
