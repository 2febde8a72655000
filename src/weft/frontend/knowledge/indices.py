"""Products in index notation: einsum and tensordot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import Unsupported
from weft.frontend import arrays
from weft.frontend.constants import constant
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.knowledge.linear import contract
from weft.frontend.knowledge.selecting import operand
from weft.frontend.knowledge.ufuncs import as_plain, deliver, destination, strong
from weft.frontend.values import Array, Index, Tuple, Value
from weft.ir.expr import Expr

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Names of the axes that an ellipsis stands for, the last one first.
_DOTS = "0123456789"


@native(np.einsum, parameters="subscripts *operands out optimize")
def _einsum(call: Bound) -> Value:
    emitter = call.builder.emitter
    if call.get("optimize") is not None:
        constant(call.need("optimize"), emitter)  # it only says in which order
    inputs, output, values = _subscripts(call)
    operands = [arrays.as_array(strong(as_plain(_sequence(call, value))), emitter) for value in values]
    if len(inputs) != len(operands):
        raise Unsupported(emitter.span, "ValueError: the subscripts of np.einsum do not fit its operands")
    inputs = [_spelt_out(text, array.rank, emitter) for text, array in zip(inputs, operands)]
    dots = "".join(sorted({letter for text in inputs for letter in text if letter in _DOTS}, reverse=True))
    if output is None:
        letters = "".join(inputs)
        output = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in _DOTS))
    else:
        output = output.replace("...", dots)
    if any(output.count(c) > 1 or all(c not in text for text in inputs) for c in output) or "." in output:
        raise Unsupported(emitter.span, "ValueError: the output subscripts of np.einsum")
    if any(c in _DOTS and c not in output for text in inputs for c in text):
        raise Unsupported(emitter.span, "ValueError: output has fewer axes than the ellipsis of np.einsum")
    if len(operands) == 1 and call.get("out") is None and set(inputs[0]) == set(output):
        return _view(operands[0], inputs[0], output, emitter)
    operands, inputs = _in_pairs(operands, inputs, output, emitter)
    (out,) = destination(call)
    if out is not None and out.rank != len(output):
        raise Unsupported(emitter.span, "ValueError: out parameter does not have the correct number of dimensions")
    return deliver(call, contract(operands, inputs, output, emitter, _MISMATCH, "".join(inputs)))


_MISMATCH = "operands could not be broadcast together"


def _sequence(call: Bound, value: Value) -> Value:
    return call.builder.array_of(value, None) if isinstance(value, Tuple) else value


def _subscripts(call: Bound) -> tuple[list[str], str | None, list[Value]]:
    """The subscripts of each operand, those of the result (None: the usual ones) and the operands."""
    emitter = call.builder.emitter
    first = call.need("subscripts")
    if isinstance(first, (Array, Tuple)):
        values = [first, *call.rest]
        lists = [constant(value, emitter) for value in values[1::2]]
        output = constant(values[-1], emitter) if len(values) % 2 else None
        texts = [_from_numbers(numbers, emitter) for numbers in lists]
        if len(values) % 2:
            return texts, _from_numbers(output, emitter), values[:-1:2]
        return texts, None, values[::2]
    text = constant(first, emitter)
    if not isinstance(text, str):
        raise Unsupported(emitter.span, "np.einsum without a subscript string")
    source, arrow, result = text.replace(" ", "").partition("->")
    return source.split(","), result if arrow else None, list(call.rest)


def _from_numbers(numbers: Any, emitter: Emitter) -> str:
    """[0, ..., 1] --> a...b"""
    if not isinstance(numbers, (list, tuple)):
        raise Unsupported(emitter.span, "np.einsum with these subscripts")
    if any(item is not Ellipsis and (not isinstance(item, int) or not 0 <= item < 52) for item in numbers):
        raise Unsupported(emitter.span, "np.einsum with these subscripts")
    return "".join("..." if item is Ellipsis else _LETTERS[item] for item in numbers)


def _spelt_out(text: str, rank: int, emitter: Emitter) -> str:
    """The subscripts of an operand with a name for every axis of its ellipsis."""
    if "..." in text:
        count = rank - len(text) + 3
        if 0 <= count <= len(_DOTS):
            text = text.replace("...", _DOTS[:count][::-1], 1)
    if len(text) != rank or any(c not in _LETTERS and c not in _DOTS for c in text):
        raise Unsupported(emitter.span, "ValueError: the subscripts of np.einsum do not fit its operands")
    return text


def _view(array: Array, letters: str, output: str, emitter: Emitter) -> Array:
    """Axes in another order, or a diagonal: memory of the operand, as NumPy gives it."""
    extents: dict[str, Expr] = {}
    for letter, extent in zip(letters, array.shape):
        known = extents.get(letter)
        if known is not None:
            extent = emitter.same_size(known, extent, "ValueError", _MISMATCH, whole=False)
        extents[letter] = extent

    def index(at: Index) -> Index:
        place = dict(zip(output, at))
        return tuple(place[letter] for letter in letters)

    view = arrays.remap(array, tuple(extents[letter] for letter in output), index)
    return view if array.view is not None else replace(view, cost=view.cost + 1)


def _in_pairs(
    operands: list[Array], inputs: list[str], output: str, emitter: Emitter
) -> tuple[list[Array], list[str]]:
    """More than two operands: products of two that sum something away without growing are computed first."""
    operands, inputs = list(operands), list(inputs)
    while len(operands) > 2:
        best: tuple[int, int, int, str] | None = None
        for i in range(len(inputs)):
            for j in range(i + 1, len(inputs)):
                kept = _kept(inputs, i, j, output)
                grows = len(kept) > max(len(set(inputs[i])), len(set(inputs[j])))
                if grows or len(kept) == len(set(inputs[i] + inputs[j])):
                    continue
                if best is None or len(kept) < best[0]:
                    best = (len(kept), i, j, kept)
        if best is None:
            break
        _, i, j, kept = best
        pair = [inputs[i], inputs[j]]
        product = contract([operands[i], operands[j]], pair, kept, emitter, _MISMATCH, "".join(pair))
        for position in (j, i):
            del operands[position], inputs[position]
        operands.append(arrays.as_array(product, emitter))
        inputs.append(kept)
    return operands, inputs


def _kept(inputs: list[str], i: int, j: int, output: str) -> str:
    """The subscripts of a product of two operands that something else still needs."""
    rest = set("".join(text for k, text in enumerate(inputs) if k not in (i, j))) | set(output)
    return "".join(c for c in dict.fromkeys(inputs[i] + inputs[j]) if c in rest)


@native(np.tensordot, parameters="a b axes")
def _tensordot(call: Bound) -> Value:
    emitter = call.builder.emitter
    left, right = operand(call, "a"), operand(call, "b")
    given = 2 if call.get("axes") is None else constant(call.need("axes"), emitter)
    if isinstance(given, int):
        if given < 0 or given > min(left.rank, right.rank):
            raise Unsupported(emitter.span, "IndexError: np.tensordot over more axes than there are")
        first, second = list(range(left.rank - given, left.rank)), list(range(given))
    else:
        first, second = ([a] if isinstance(a, int) else list(a) for a in given)
    first = list(arrays.normalise_axes(tuple(first), left.rank, emitter))
    second = list(arrays.normalise_axes(tuple(second), right.rank, emitter))
    if len(first) != len(second):
        raise Unsupported(emitter.span, "ValueError: shape-mismatch for sum")
    letters_left = list(_LETTERS[: left.rank])
    letters_right = list(_LETTERS[left.rank : left.rank + right.rank])
    for a, b in zip(first, second):
        if arrays.is_one(left.shape[a]) != arrays.is_one(right.shape[b]):
            raise Unsupported(emitter.span, "ValueError: shape-mismatch for sum")
        letters_right[b] = letters_left[a]
    summed = {letters_left[a] for a in first}
    output = "".join(c for c in letters_left + letters_right if c not in summed)
    inputs = ["".join(letters_left), "".join(letters_right)]
    return arrays.boxed(contract([left, right], inputs, output, emitter, "shape-mismatch for sum"), emitter)
