"""Methods to be built.  In: a class whose attributes have hints, and a method; out: its programs.

    class Model:
        M: weft.f64[N, N]
        def step(self, x: weft.f64[N]): return self.M @ x

A sample of the class is made of the hints: an object with arrays of these shapes, which no constructor has seen.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from weft.api import jit
from weft.frontend.hints import ArrayHint, extents_of, spec_of_hint, specs_from_hints
from weft.frontend.sizes import sum_of
from weft.frontend.specs import ArraySpec, ScalarSpec, Spec, spec_of
from weft.hosts.functions import Function
from weft.hosts.functions import made as made_function
from weft.hosts.hint_samples import attributes
from weft.hosts.shapes import Samples

#: The methods of Python's own names that are built.
CALLED = ("__call__",)


def made(kind: type, plain: types.FunctionType, form: type, general: bool) -> Function:
    """A method of a class; LookupError without hints, Unsupported if it cannot be built. `form`: that of what the class
    holds, such as `staticmethod`."""
    try:
        if form is staticmethod:
            return _static(plain, general)
        return _class_method(kind, plain, general) if form is classmethod else _method(kind, plain, general)
    except LookupError:
        raise LookupError("its parameters or its class have no complete hints") from None


def _static(plain: types.FunctionType, general: bool) -> Function:
    function = jit(plain, fallback="error")
    kinds = specs_from_hints(plain)
    if kinds is None:
        raise LookupError(plain.__name__)
    return made_function(function, kinds, general=general)


def _class_method(kind: type, plain: types.FunctionType, general: bool) -> Function:
    """The class itself is compiled in: that of a derived class is another argument."""
    kinds, function = [spec_of(kind), *_further(plain)], jit(plain, fallback="error")
    samples = Samples(extents_of(plain))
    return made_function(function, kinds, general=general, receiver=kind, samples=samples, checked=False)


def _further(plain: types.FunctionType) -> list[Spec]:
    """The specs of all parameters but the first; LookupError if a hint is missing."""
    hints = inspect.get_annotations(plain, eval_str=True)
    kinds: list[Spec] = []
    for name, parameter in list(inspect.signature(plain).parameters.items())[1:]:
        spec = spec_of_hint(hints.get(name))
        if spec is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise LookupError(name)
        kinds.append(spec)
    return kinds


def _method(kind: type, plain: types.FunctionType, general: bool) -> Function:
    kinds = _further(plain)
    fields = attributes(kind)
    made_by: Any = kind.__new__
    if not inspect.signature(plain).parameters or not fields or made_by is not object.__new__:
        raise LookupError("self")
    shapes = {name: tuple(sum_of(e) for e in h.shape) for name, h in fields.items() if isinstance(h, ArrayHint)}
    # Names mean the same in the class and in the method.
    samples = Samples({**{f"self.{name}": shape for name, shape in shapes.items()}, **extents_of(plain)})
    receiver = _sample(kind, fields, samples)
    function = jit(plain, fallback="error")
    return made_function(
        function, [spec_of(receiver), *kinds], general=general, receiver=receiver, samples=samples, checked=False
    )


def _sample(kind: type, fields: dict[str, Any], samples: Samples) -> Any:
    """An object of the class with attributes of the hinted types."""
    made: Any = object.__new__(kind)
    for number, (name, hint) in enumerate(fields.items()):
        spec = spec_of_hint(hint)
        value: Any = None
        if isinstance(spec, ArraySpec):
            value = samples.array(f"self.{name}", spec).copy()
        elif isinstance(spec, ScalarSpec):
            # No small number: such a one would be compiled in.
            plain = spec.type.dtype.numpy.type(1009 + number)
            value = plain.item() if spec.type.weak else plain
        if value is not None:
            object.__setattr__(made, name, value)
    return made
