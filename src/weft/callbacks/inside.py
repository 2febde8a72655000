"""Ufuncs of weft's own in compiled functions.  In: a call of what `weft.vectorize` or `weft.guvectorize` has made; out:
the user's function in place, in loops over the broadcast operands, typed as the ufunc's loop types it.

    soft(x, t)      -->     y = np.empty(...);  for i0: for i1: y[i0, i1] = soft.py_func(x[i0, i1], t)

So it is fused, run in vectors and on several threads as loops of the user's are, and raises what they raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.callbacks import scalar
from weft.errors import Unsupported
from weft.frontend import arith, arrays, knowledge, reads
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.values import Array, Scalar, Tuple, Value, describe
from weft.ir.expr import ONE, ZERO, Expr, Op, Read
from weft.ir.types import BOOL, DType, ScalarType, from_numpy
from weft.records import dataclass


@dataclass(frozen=True)
class Made:
    """What a ufunc was made from.  `types` gives the types of the loop for operands of these types (a Python type for
    Python's own numbers), inputs and outputs; `cores`: the names of dimensions of each operand, () of a number
    (of inputs alone: all outputs are numbers)."""

    name: str
    function: Callable[..., Any]
    inputs: int
    cores: tuple[tuple[str, ...], ...]
    types: Callable[[Sequence[Any]], tuple[tuple[DType, ...], tuple[DType, ...]]]
    fills: bool = False  # the function fills its last arguments


_made: dict[int, tuple[Any, Made]] = {}


def note(ufunc: Any, made: Made) -> Any:
    """Remember what a ufunc was made from; the ufunc comes back."""
    _made[id(ufunc)] = (ufunc, made)
    if _find not in knowledge.FINDERS:
        knowledge.FINDERS.append(_find)
    return ufunc


def resolved(ufunc: Any) -> Callable[[Sequence[Any]], tuple[tuple[DType, ...], tuple[DType, ...]]]:
    """The types of the loop that NumPy takes for operands; TypeError if it takes none."""

    def types(given: Sequence[Any]) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        # Only ufuncs of numbers resolve Python's own types; generalised ones see them as NumPy's.
        kinds = [np.dtype(kind) if ufunc.signature is not None and isinstance(kind, type) else kind for kind in given]
        found = [from_numpy(of) for of in ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))]
        known = [of for of in found if of is not None]
        if len(known) < len(found):
            raise TypeError(f"{ufunc.__name__} has no loop for these types")
        return tuple(known[: ufunc.nin]), tuple(known[ufunc.nin :])

    return types


def _find(thing: Any) -> bool:
    """Make the entry of a ufunc, if it is one of weft's own."""
    found = _made.get(id(thing))
    if found is None or found[0] is not thing:
        return False
    made = found[1]
    names = " ".join(f"x{k}" for k in range(made.inputs))

    @native(thing, parameters=names, name=made.name)
    def build(call: Bound) -> Value:
        return _called(call, made)

    return True


def _called(call: Bound, made: Made) -> Value:
    emitter = call.builder.emitter
    operands = [as_plain(call.need(f"x{k}")) for k in range(made.inputs)]
    other = next((value for value in operands if not isinstance(value, (Array, Scalar))), None)
    if other is not None:
        raise Unsupported(emitter.span, f"{made.name}() of {describe(other)}", "pass numbers or arrays")
    try:
        given, results = made.types([_type_of(value) for value in operands])
    except TypeError:
        given_types = ", ".join(map(describe, operands))
        raise Unsupported(emitter.span, f"TypeError: {made.name}() has no loop for ({given_types})") from None
    reads.function(made.function)
    placed = [_placed(value, dtype, call) for value, dtype in zip(operands, given)]
    extents: dict[str, Expr] = {}
    batches = []
    for value, core in zip(placed, made.cores):
        rank = value.rank - len(core) if isinstance(value, Array) else 0
        shape = value.shape if isinstance(value, Array) else ()
        if rank < 0 or (core and not isinstance(value, Array)):
            raise Unsupported(emitter.span, f"ValueError: {made.name}() of an array with too few dimensions")
        batches.append(shape[:rank])
        for name, extent in zip(core, shape[rank:]):
            known = extents.setdefault(name, extent)
            if known != extent:
                same = Op("eq", (known, extent), BOOL)
                emitter.check(same, "ValueError", f"{made.name}: a mismatch in a core dimension")
    batch = arrays.broadcast_shapes(batches, emitter)
    full: list[Value] = []
    for value, core in zip(placed, made.cores):
        ends = value.shape[value.rank - len(core) :] if isinstance(value, Array) else ()
        full.append(arrays.broadcast_to(value, (*batch, *ends), emitter) if isinstance(value, Array) else value)
    if not batch and not made.fills:
        return _of_numbers(call, made, full, results)
    targets: list[Array] = []
    outs = made.cores[made.inputs :] or ((),) * len(results)
    for core, dtype in zip(outs, results, strict=True):
        shape = (*batch, *(extents[name] for name in core)) or (ONE,)
        targets.append(arrays.of_buffer(emitter.allocate("mapped", ScalarType(dtype), shape)))
    _run(call, made, list(zip(full, made.cores)), list(zip(targets, outs)), len(batch))
    outputs: list[Value] = []
    for target, core in zip(targets, outs):
        outputs.append(target if batch or core else Scalar(target.element((ZERO,))))
    return outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))


def _of_numbers(call: Bound, made: Made, operands: Sequence[Value], types: Sequence[DType]) -> Value:
    """The function in place of its call, its results of the loop's types."""
    found = call.builder.expand(made.function, {}, operands)
    parts = found.items if isinstance(found, Tuple) and len(types) > 1 else (found,)
    if len(parts) != len(types) or not all(isinstance(part, Scalar) for part in parts):
        raise Unsupported(call.builder.emitter.span, f"{made.name}() that returns {describe(found)}")
    outputs = [_typed(part, dtype, call) for part, dtype in zip(parts, types) if isinstance(part, Scalar)]
    return outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))


def _typed(value: Scalar, dtype: DType, call: Bound) -> Scalar:
    """A number of a type in a variable of its own, whatever types it had by which `return`."""
    emitter = call.builder.emitter
    buffer = emitter.declare("value", ScalarType(dtype))
    emitter.assign((), buffer.name, (), arith.cast(value.expr, buffer.type))
    return Scalar(Read(buffer.name, (), buffer.type))


def _type_of(value: Value) -> Any:
    assert isinstance(value, (Array, Scalar))
    weak = isinstance(value, Scalar) and value.type.weak and value.type.dtype is not DType.BOOL
    return value.type.python if weak else value.type.dtype.numpy


def _placed(value: Value, dtype: DType, call: Bound) -> Array | Scalar:
    """The operand with the type that the loop takes."""
    assert isinstance(value, (Array, Scalar))
    of = ScalarType(dtype)
    if isinstance(value, Scalar):
        return Scalar(arith.cast(value.expr, of))
    if not value.rank:
        return Scalar(arith.cast(value.element(()), of))
    if value.type == of:
        return value
    cast = arrays.elementwise([value], lambda parts: arith.cast(parts[0], of), call.builder.emitter, 1)
    assert isinstance(cast, Array)
    return cast


_Placed = tuple[Value, tuple[str, ...]]


def _run(call: Bound, made: Made, operands: Sequence[_Placed], targets: Sequence[_Placed], rank: int) -> None:
    """Loops over what is outside of the cores, with the function in place."""
    at = [f"i{axis}" for axis in range(rank)]
    names = [f"x{k}" for k in range(made.inputs)]
    outs = [f"y{k}" for k in range(len(targets))]

    def taken(name: str, placed: _Placed, out: bool) -> str:
        value, core = placed
        if not isinstance(value, Array):
            return name
        if out and made.fills and not core:  # the function writes an array of one element
            return _item(name, (*at[:-1], f"{at[-1]}:{at[-1]} + 1")) if at else name
        return _item(name, [*at, *(":" for _ in core)] if at else [])

    given = [taken(name, placed, False) for name, placed in zip(names, operands)]
    filled = [taken(name, placed, True) for name, placed in zip(outs, targets)]
    lines = [f"def mapped({', '.join((*names, *outs))}):"]
    for axis, index in enumerate(at):
        lines.append(f"{'    ' * (axis + 1)}for {index} in range({outs[0]}.shape[{axis}]):")
    inside = f"weft_f({', '.join((*given, *filled) if made.fills else given)})"
    lines.append("    " * (rank + 1) + (inside if made.fills else f"{', '.join(filled)} = {inside}"))
    space: dict[str, Any] = {"weft_f": made.function, "range": range}
    text = "\n".join(lines) + "\n"
    exec(text, space)
    mapped = space["mapped"]
    call.builder.sources[mapped] = scalar.wrapper(made.function, text, space)
    call.builder.expand(mapped, {name: value for name, (value, _) in zip((*names, *outs), (*operands, *targets))})


def _item(name: str, at: Sequence[str]) -> str:
    return f"{name}[{', '.join(at)}]" if at else name
