"""np.fft: transforms of complex and real data along any axes, shifts, and frequencies.

A transform is one library call over all lines along its axis, whatever the strides; transforms along several axes
follow each other, in place once the data is weft's own.  Sizes, types and factors are NumPy's: see `_factor`, `_loop`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arith, arrays, libraries
from weft.frontend.constants import constant, constant_axis, constant_int
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.shaping import permuted
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.libraries import Request
from weft.frontend.values import Array, Index, Object, Scalar, Tuple, Value
from weft.ir import index as ix
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, integer
from weft.ir.program import If
from weft.ir.routines import dtypes_of, find
from weft.ir.types import BOOL, F64, FLOAT, INT, DType, ScalarType
from weft.records import dataclass

Kind = Literal["fft", "ifft", "rfft", "irfft"]
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


@dataclass(frozen=True)
class _Line:
    """How one transform along one axis is to be made: `n` is the length of the signal, the factor follows `norm`."""

    kind: Kind
    n: Expr
    axis: int
    norm: str | None


def _input(call: Bound, name: str = "a") -> Array:
    emitter = call.builder.emitter
    array = arrays.as_array(as_plain(call.need(name)), emitter)
    if not array.rank:
        raise Unsupported(emitter.span, f"{call.name}() of a number", "pass an array")
    return array


def _norm(call: Bound) -> str | None:
    given = call.get("norm")
    norm = None if given is None else constant(given, call.builder.emitter)
    if norm not in _SWAPPED:
        raise Unsupported(call.builder.emitter.span, f"ValueError: Invalid norm value {norm}")
    return norm


def _size(value: Value, emitter: Emitter) -> Expr:
    """A length given as an integer."""
    if not isinstance(value, Scalar) or not value.type.dtype.is_integer:
        raise Unsupported(emitter.span, "TypeError: a length of a transform that is not an integer", "use an integer")
    return emitter.snapshot(arith.cast(value.expr, INT), "n")


def _half(n: Expr, emitter: Emitter) -> Expr:
    """n // 2 + 1: how many values the spectrum of n real ones has."""
    if isinstance(n, Const):
        return integer(int(n.value.real) // 2 + 1)
    return ix.add(emitter.snapshot(Op("floordiv", (emitter.resolve(n), integer(2)), INT), "half"), ONE)


def _real_type(of: ScalarType) -> ScalarType:
    return ScalarType(DType.F32 if of.dtype in (DType.F32, DType.C64) else DType.F64)


def _factor(line: _Line, real: ScalarType) -> Expr | None:
    """What the result is multiplied by, in the precision of the data; None for one."""
    norm = line.norm if line.kind in ("fft", "rfft") else _SWAPPED[line.norm]
    if norm in (None, "backward"):
        return None
    size = arith.cast(line.n, real)
    divisor = size if norm == "forward" else Op("sqrt", (size,), real)
    return Op("truediv", (arith.cast(Const(1.0, FLOAT), real), divisor), real)


def _loop(routine: str, given: ScalarType, factor: Expr | None, result: ScalarType, emitter: Emitter) -> str:
    """The loop that NumPy chooses for these types; single precision is often computed in double."""
    ufunc: Any = find(routine)
    if ufunc is None:
        raise Unsupported(emitter.span, f"this version of NumPy has no routine {routine} that weft can call")
    weight: Any = int if factor is None else factor.type.dtype.numpy
    try:
        found = ufunc.resolve_dtypes((given.dtype.numpy, weight, result.dtype.numpy), casting="same_kind")
    except (TypeError, AttributeError):
        raise Unsupported(emitter.span, f"{routine} of {given}") from None
    letters = "".join(dtype.char for dtype in found)
    return f"{letters[:2]}->{letters[2:]}"


def _transformed(array: Array, line: _Line, emitter: Emitter, own: bool = False) -> Array:
    """One transform; `own`: the array is a temporary that nobody else sees, so the result may take its place."""
    if not emitter.assure(ix.sub(line.n, ONE), "ValueError"):
        message = "Invalid number of FFT data points ({0}) specified."
        emitter.check(Op("ge", (line.n, ONE), BOOL), "ValueError", message, (line.n,))
    real = _real_type(array.type)
    result = real if line.kind == "irfft" else ScalarType(real.dtype.complex)
    factor = _factor(line, real)
    routines = {"rfft": ("rfft_n_even", "rfft_n_odd")}.get(line.kind, (line.kind,))
    types = _loop(routines[0], array.type, factor, result, emitter)
    for routine in routines:
        libraries.available(routine, types, emitter)
    inner, outer = (dtypes_of(types)[side][0] for side in (0, 1))
    placed = libraries.in_memory(array, inner, emitter, "signal")
    made = _half(line.n, emitter) if line.kind == "rfft" else line.n
    own = own or placed is not array
    same = own and inner is outer and ix.difference(emitter.resolve(array.shape[line.axis]), emitter.resolve(made)) == 0
    shape = (*array.shape[: line.axis], made, *array.shape[line.axis + 1 :])
    target = placed if same else arrays.of_buffer(emitter.allocate("spectrum", ScalarType(outer), shape))
    order = (*(axis for axis in range(array.rank) if axis != line.axis), line.axis)
    weight = arith.cast(Const(1.0, FLOAT), real) if factor is None else factor
    inputs = (permuted(placed, order), Array((), weight.type, lambda _: weight))
    batch = tuple(shape[axis] for axis in order[:-1])
    into = permuted(target, order)
    requests = [Request(r, types, batch, inputs, (("spectrum", (made,)),), into=into) for r in routines]
    _choose(requests, line.n, emitter)
    finished = libraries.cast(target, result)
    return finished if finished.view is not None else arrays.materialise(finished, emitter, "spectrum")


def _choose(requests: Sequence[Request], n: Expr, emitter: Emitter) -> None:
    """Transforms of real data have one routine for even lengths and one for odd ones."""
    if len(requests) == 1:
        libraries.call(requests[0], emitter)
        return
    if isinstance(n, Const):
        libraries.call(requests[int(n.value.real) % 2], emitter)
        return
    odd = emitter.snapshot(Op("mod", (emitter.resolve(n), integer(2)), INT), "odd")
    blocks = []
    for request in requests:
        with emitter.capture() as block:
            libraries.call(request, emitter)
        blocks.append(tuple(block))
    emitter.emit(If(Op("eq", (odd, ZERO), BOOL), blocks[0], blocks[1], emitter.span))


# --- one axis ---------------------------------------------------------------------------------------------------------


def _axis(call: Bound, array: Array) -> int:
    given = call.get("axis")
    axis = -1 if given is None else constant_int(given, call.builder.emitter)
    return arrays.normalise_axes(axis, array.rank, call.builder.emitter)[0]


def _length(call: Bound, extent: Expr, spectrum: bool) -> Expr:
    """The length of the signal: n, or what the input says."""
    given = call.get("n")
    if given is not None:
        return _size(given, call.builder.emitter)
    return ix.mul(integer(2), ix.sub(extent, ONE)) if spectrum else extent


def _refuse_complex(array: Array, call: Bound) -> None:
    if array.type.dtype.is_complex:
        raise Unsupported(call.builder.emitter.span, f"TypeError: {call.name}() of complex numbers")


def _one_axis(function: object, kind: Kind) -> None:
    @native(function, parameters="a n axis norm", category="library", kinds="biuf" if kind == "rfft" else "biufc")
    def build(call: Bound) -> Value:
        array = _input(call)
        if kind == "rfft":
            _refuse_complex(array, call)
        axis = _axis(call, array)
        n = _length(call, array.shape[axis], kind == "irfft")
        return _transformed(array, _Line(kind, n, axis, _norm(call)), call.builder.emitter)


_one_axis(np.fft.fft, "fft")
_one_axis(np.fft.ifft, "ifft")
_one_axis(np.fft.rfft, "rfft")
_one_axis(np.fft.irfft, "irfft")


def _conjugate(array: Array, emitter: Emitter) -> Array:
    if not array.type.dtype.is_complex:
        return array
    result = arrays.apply("conj", [array], emitter)
    assert isinstance(result, Array)
    return result


@native(np.fft.hfft, parameters="a n axis norm", category="library")
def _hfft(call: Bound) -> Value:
    array, emitter = _input(call), call.builder.emitter
    axis = _axis(call, array)
    line = _Line("irfft", _length(call, array.shape[axis], True), axis, _SWAPPED[_norm(call)])
    return _transformed(_conjugate(array, emitter), line, emitter)


@native(np.fft.ihfft, parameters="a n axis norm", category="library", kinds="biuf")
def _ihfft(call: Bound) -> Value:
    array, emitter = _input(call), call.builder.emitter
    _refuse_complex(array, call)
    axis = _axis(call, array)
    line = _Line("rfft", _length(call, array.shape[axis], False), axis, _SWAPPED[_norm(call)])
    return _conjugate(_transformed(array, line, emitter), emitter)


# --- several axes -----------------------------------------------------------------------------------------------------


def _sizes(call: Bound, array: Array, last: tuple[int, ...] | None, spectrum: bool) -> list[tuple[int, Expr]]:
    """The axes to transform, in the order given, each with the length of its signal."""
    emitter = call.builder.emitter
    given, chosen = call.get("s"), call.get("axes")
    axes: Any = last if "axes" not in call.given else (None if chosen is None else constant(chosen, emitter))
    lengths: list[Expr] | None = None
    if given is not None:
        if not isinstance(given, Tuple):
            raise Unsupported(emitter.span, f"s of {call.name}() that is not a tuple", "pass a tuple")
        lengths = [_size(item, emitter) for item in given.items]
    if axes is None:
        axes = range(array.rank) if lengths is None else range(-len(lengths), 0)
    elif isinstance(axes, int):
        raise Unsupported(emitter.span, f"axes of {call.name}() that is not a sequence", "pass a tuple")
    places = [arrays.normalise_axes(axis, array.rank, emitter)[0] for axis in axes]
    if lengths is not None and len(lengths) != len(places):
        raise Unsupported(emitter.span, "ValueError: Shape and axes have different lengths.")
    if not places:
        raise Unsupported(emitter.span, f"{call.name}() along no axis")
    extents = [array.shape[axis] for axis in places]
    if lengths is None:
        lengths = list(extents)
        if spectrum:
            lengths[-1] = ix.mul(integer(2), ix.sub(extents[-1], ONE))
    for position, length in enumerate(lengths):
        if isinstance(length, Const) and length.value == -1:
            lengths[position] = extents[position]
        elif not emitter.proved(length) and not emitter.assure(ix.sub(length, ONE), "ValueError"):
            raise Unsupported(emitter.span, f"{call.name}() with a length that may be negative")
    return list(zip(places, lengths))


def _several_axes(function: object, kind: Kind, last: tuple[int, ...] | None) -> None:
    plain = kind in ("fft", "ifft")

    @native(function, parameters="a s axes norm", category="library", kinds="biuf" if kind == "rfft" else "biufc")
    def build(call: Bound) -> Value:
        array, emitter, norm = _input(call), call.builder.emitter, _norm(call)
        if kind == "rfft":
            _refuse_complex(array, call)
        sizes = _sizes(call, array, last, kind == "irfft")
        complex_kind: Kind = "fft" if kind in ("fft", "rfft") else "ifft"
        lines = [_Line(complex_kind, n, axis, norm) for axis, n in sizes]
        if kind == "irfft":
            # The real one is the last, over the last axis.
            lines = [*lines[:-1], _Line(kind, sizes[-1][1], sizes[-1][0], norm)]
        else:
            final = lines[-1] if plain else _Line(kind, sizes[-1][1], sizes[-1][0], norm)
            lines = [final, *reversed(lines[:-1])]
        own = False
        for line in lines:
            array, own = _transformed(array, line, emitter, own), True
        return array


for _name, _kind in (("fft", "fft"), ("ifft", "ifft"), ("rfft", "rfft"), ("irfft", "irfft")):
    _several_axes(getattr(np.fft, f"{_name}2"), _kind, (-2, -1))  # type: ignore[arg-type]
    _several_axes(getattr(np.fft, f"{_name}n"), _kind, None)  # type: ignore[arg-type]


# --- shifts and frequencies -------------------------------------------------------------------------------------------


def _shift(function: object, forward: bool) -> None:
    @native(function, parameters="x axes")
    def build(call: Bound) -> Value:
        array, emitter = _input(call, "x"), call.builder.emitter
        axes = arrays.normalise_axes(constant_axis(call.get("axes"), emitter), array.rank, emitter)
        source = arrays.evaluated(array, emitter)
        return _rolled(source, {axis: _middle(source.shape[axis], forward, emitter) for axis in axes}, emitter)


def _middle(extent: Expr, forward: bool, emitter: Emitter) -> Expr:
    """By how much an axis moves up: n // 2, or the rest of n to move back."""
    half: Expr
    if isinstance(extent, Const):
        half = integer(int(extent.value.real) // 2)
    else:
        half = emitter.snapshot(Op("floordiv", (emitter.resolve(extent), integer(2)), INT), "half")
    return half if forward else ix.sub(extent, half)


def _rolled(source: Array, shifts: dict[int, Expr], emitter: Emitter) -> Array:
    """Each axis cut in two and put together the other way round: one copy for each corner."""
    buffer = emitter.allocate("shifted", source.type.strong, source.shape)
    whole = arrays.of_buffer(buffer)
    for corner in itertools.product((False, True), repeat=len(shifts)):
        shape = list(source.shape)
        reads: dict[int, Expr] = {}
        writes: dict[int, Expr] = {}
        for wraps, (axis, amount) in zip(corner, shifts.items()):
            rest = ix.sub(source.shape[axis], amount)
            shape[axis] = amount if wraps else rest
            (reads if wraps else writes)[axis] = rest if wraps else amount

        def moved(at: Index, by: dict[int, Expr]) -> Index:
            return tuple(ix.add(place, by[axis]) if axis in by else place for axis, place in enumerate(at))

        target = arrays.remap(whole, tuple(shape), lambda at, by=writes: moved(at, by))  # type: ignore[misc]
        part = arrays.remap(source, tuple(shape), lambda at, by=reads: moved(at, by))  # type: ignore[misc]
        arrays.store(target, part, emitter, fresh=True)
    return whole


_shift(np.fft.fftshift, True)
_shift(np.fft.ifftshift, False)


def _spacing(call: Bound) -> tuple[Expr, Expr]:
    """n, and the step 1.0 / (n * d) between frequencies, computed as Python does."""
    emitter = call.builder.emitter
    n = call.need("n")
    if not isinstance(n, Scalar) or not n.type.dtype.is_integer:
        raise Unsupported(emitter.span, "ValueError: n should be an integer")
    extent = _size(n, emitter)
    d = Scalar(Const(1.0, FLOAT)) if call.get("d") is None else call.need("d")
    if not isinstance(d, Scalar) or d.type.dtype is DType.BOOL or d.type.dtype.is_complex:
        raise Unsupported(emitter.span, f"d of {call.name}() that is not a real number")
    if not emitter.assure(ix.sub(extent, ONE), "RuntimeError"):
        raise Unsupported(emitter.span, f"{call.name}() of a length that may be zero")
    product = arith.binary("mul", n.expr, d.expr, emitter.span)
    if product.type.weak:
        zero = Op("ne", (product, Const(0 if product.type.dtype.is_integer else 0.0, product.type)), BOOL)
        emitter.check(zero, "ZeroDivisionError", "float division by zero")
    step = arith.binary("truediv", Const(1.0, FLOAT), product, emitter.span)
    return extent, emitter.snapshot(step, "spacing")


def _frequencies(count: Expr, step: Expr, number: Any) -> Array:
    def element(at: Index) -> Expr:
        return Op("mul", (arith.cast(number(at[0]), F64), arith.cast(step, F64)), F64)

    return Array((count,), F64, element, cost=2)


@native(np.fft.fftfreq, parameters="n d device", only={"device": ("None",)})
def _fftfreq(call: Bound) -> Value:
    _on_cpu(call)
    n, step = _spacing(call)
    emitter = call.builder.emitter
    positive = ix.sub(n, _middle(n, True, emitter))

    def number(at: Expr) -> Expr:
        return Op("select", (Op("lt", (at, positive), BOOL), at, ix.sub(at, n)), INT)

    return arrays.materialise(_frequencies(n, step, number), emitter, "frequencies")


@native(np.fft.rfftfreq, parameters="n d device", only={"device": ("None",)})
def _rfftfreq(call: Bound) -> Value:
    _on_cpu(call)
    n, step = _spacing(call)
    return arrays.materialise(_frequencies(_half(n, call.builder.emitter), step, lambda at: at), call.builder.emitter)


def _on_cpu(call: Bound) -> None:
    device = call.get("device")
    if device is not None and not (isinstance(device, Object) and device.value == "cpu"):
        raise Unsupported(call.builder.emitter.span, f"device= of {call.name}()")
