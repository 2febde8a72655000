"""Methods to be built.  In: the classes of a module whose attributes have hints; out: the programs of their methods.

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
from weft.errors import ParallelError, Unsupported
from weft.frontend.hints import ArrayHint, extents_of, spec_of_hint, specs_from_hints
from weft.frontend.sizes import sum_of
from weft.frontend.specs import ArraySpec, ScalarSpec, Spec, spec_of
from weft.hosts import embedded
from weft.hosts.functions import Function
from weft.hosts.functions import made as made_function
from weft.hosts.shapes import Samples

#: The methods of Python's own names that are built.
_CALLED = ("__call__",)


def made(module: types.ModuleType, left: dict[str, str], general: bool) -> list[Function]:
    """The methods that can be built; what is in the way of the others is noted in `left`."""
    found: list[Function] = []
    for kind in vars(module).values():
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        for name, value in vars(kind).items():
            plain = embedded.function_of(value)
            if plain is None or (name.startswith("__") and name not in _CALLED):
                continue
            try:
                alone = isinstance(value, staticmethod)
                found.append(_static(plain, general) if alone else _method(kind, plain, general))
            except LookupError:
                left.setdefault(plain.__qualname__, "its parameters or its class have no complete hints")
            except (Unsupported, ParallelError) as problem:
                left[plain.__qualname__] = f"line {problem.span.line}: {problem.reason}"
    return found


def _static(plain: types.FunctionType, general: bool) -> Function:
    function = jit(plain, fallback="error")
    kinds = specs_from_hints(plain)
    if kinds is None:
        raise LookupError(plain.__name__)
    return made_function(function, kinds, general=general)


def _method(kind: type, plain: types.FunctionType, general: bool) -> Function:
    parameters = list(inspect.signature(plain).parameters)
    hints = inspect.get_annotations(plain, eval_str=True)
    kinds: list[Spec] = []
    for name in parameters[1:]:
        spec = spec_of_hint(hints.get(name))
        if spec is None:
            raise LookupError(name)
        kinds.append(spec)
    fields = _fields(kind)
    if not parameters or not fields:
        raise LookupError("self")
    shapes = {name: tuple(sum_of(e) for e in h.shape) for name, h in fields.items() if isinstance(h, ArrayHint)}
    # Names mean the same in the class and in the method.
    samples = Samples({**{f"self.{name}": shape for name, shape in shapes.items()}, **extents_of(plain)})
    receiver = _sample(kind, fields, samples)
    function = jit(plain, fallback="error")
    return made_function(
        function, [spec_of(receiver), *kinds], general=general, receiver=receiver, samples=samples, checked=False
    )


def _fields(kind: type) -> dict[str, Any]:
    """The hints of attributes, those of base classes first."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base is not object:
            found |= inspect.get_annotations(base, eval_str=True)
    return found


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
