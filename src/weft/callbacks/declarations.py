"""Declarations of C callbacks.  In: a C signature, a Python function's hints, or the name of a SciPy interface; out:
the parameters of the C function, and how the Python function is called with them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from weft.callbacks.signatures import dtype_of, in_single_words
from weft.frontend.hints import ArrayHint
from weft.ir.types import DType
from weft.records import dataclass


@dataclass(frozen=True)
class Parameter:
    """One parameter in C: a number, or a pointer.  `extents` are those of the array that Python gets, as C expressions;
    without any a pointer is not passed on.  `hidden_type`: it is a `void *`."""

    name: str
    dtype: DType
    pointer: bool = False
    extents: tuple[str, ...] = ()
    hidden_type: bool = False


@dataclass(frozen=True)
class Declaration:
    """A C function.  `passed` are the parameters of `wrapper`, the text of a Python function `one` that calls the
    user's (`weft_f`); its result, of type `returns`, is C's, or goes where `stored` says (then C returns 1).
    """

    result: DType | None
    parameters: tuple[Parameter, ...]
    passed: tuple[Parameter, ...]
    wrapper: str
    returns: DType | None
    stored: str = ""

    @property
    def text(self) -> str:
        inner = ", ".join(
            p.name if p.hidden_type else f"{p.dtype.value}{' *' if p.pointer else ''}" for p in self.parameters
        )
        return f"{self.result.value if self.result else 'void'} ({inner})"

    def in_c(self) -> Declaration:
        """The same with names that mean nothing else in the generated C."""

        def own(parameter: Parameter) -> Parameter:
            extents = tuple(extent if extent.isdigit() else f"a_{extent}" for extent in parameter.extents)
            return replace(parameter, name=f"a_{parameter.name}", extents=extents)

        stored = self.stored and f"*a_{self.stored[1:]}"
        parameters, passed = tuple(map(own, self.parameters)), tuple(map(own, self.passed))
        return replace(self, parameters=parameters, passed=passed, stored=stored)

    def with_data(self, hint: Any) -> Declaration:
        """The declaration, its `void *` a pointer to an array of this hint, which is the function's last argument."""
        if hint is None:
            return self
        if not isinstance(hint, ArrayHint) or not all(isinstance(extent, int) for extent in hint.shape):
            raise TypeError(f"user_data is described as weft.f64[2], not {hint!r}")
        hidden = next((p for p in self.parameters if p.hidden_type), None)
        extents = tuple(str(extent) for extent in hint.shape)
        if hidden is None:
            hidden = Parameter("user_data", hint.dtype, True, extents, True)
            parameters = (*self.parameters, hidden)
        else:
            filled = replace(hidden, dtype=hint.dtype, extents=extents)
            parameters, hidden = tuple(filled if p is hidden else p for p in self.parameters), filled
        if any(p.name == hidden.name for p in self.passed):
            passed = tuple(hidden if p.name == hidden.name else p for p in self.passed)
            return replace(self, parameters=parameters, passed=passed)
        head, _, call = self.wrapper.partition("\n")
        head = head.replace("):", f", {hidden.name}):")
        call = call.rstrip()[:-1] + f", {hidden.name})\n"
        return replace(self, parameters=parameters, passed=(*self.passed, hidden), wrapper=f"{head}\n{call}")


_VOID = "void"


def declared(text: str, function: Callable[..., Any], data: bool = False) -> Declaration:
    """A declaration from a C signature; parameters with names are passed on by name, others in order.

    `data`: what a `void *` points to is known, and passed on.
    """
    text = in_single_words(text)
    found = re.fullmatch(r"\s*([\w ]+?)\s*(?:\b\w+\s*)?\((.*)\)\s*;?\s*", text, re.DOTALL)
    if found is None:
        raise TypeError(f"{text!r} is no C signature; write 'double (double x, double y)'")
    result = None if found[1].strip() == _VOID else dtype_of(found[1])
    parts = [part.strip() for part in re.split(r",(?![^\[]*\])", found[2]) if part.strip() not in ("", _VOID)]
    parameters = tuple(_parameter(part, number) for number, part in enumerate(parts))
    wanted = tuple(inspect.signature(function).parameters)
    by_name = {parameter.name: parameter for parameter in parameters}
    if all(name in by_name for name in wanted):
        passed = tuple(by_name[name] for name in wanted)
    else:
        passed = tuple(p for p in parameters if p.extents or not p.pointer or (data and p.hidden_type))
        if len(passed) != len(wanted):
            raise TypeError(f"{function.__name__}() has {len(wanted)} parameters, {text!r} passes {len(passed)}")
    for parameter in parameters:
        for extent in parameter.extents:
            count = by_name.get(extent)
            if not extent.isdigit() and (count is None or count.pointer or not count.dtype.is_integer):
                raise TypeError(f"{text!r} has no count {extent!r}, the extent of {parameter.name!r}")
    unknown = next((p.name for p in passed if p.pointer and not p.extents and not (data and p.hidden_type)), None)
    if unknown is not None:
        remedy = "give user_data=weft.f64[n]" if by_name[unknown].hidden_type else f"write {unknown}[n]"
        raise TypeError(f"nothing says how many elements {unknown!r} of {function.__name__}() points to; {remedy}")
    returns = result if _returns(function) else None
    return Declaration(result, parameters, passed, _calling(passed), returns)


def _returns(function: Callable[..., Any]) -> bool:
    """Whether a function returns values at all."""
    import ast

    from weft.frontend.source import load

    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(load(function).tree))


def _calling(passed: tuple[Parameter, ...], arguments: str | None = None) -> str:
    names = ", ".join(parameter.name for parameter in passed)
    return f"def one({names}):\n    return weft_f({names if arguments is None else arguments})\n"


def _parameter(text: str, number: int) -> Parameter:
    found = re.fullmatch(r"(?:const\s+)?([a-zA-Z_]\w*)\s*(\**)\s*([a-zA-Z_]\w*)?\s*((?:\[[^\]]*\])*)", text)
    if found is None:
        raise TypeError(f"{text!r} is no parameter of a C function")
    kind, stars, name, brackets = found.groups()
    extents = tuple(re.findall(r"\[\s*([^\]]*?)\s*\]", brackets))
    for extent in extents:
        if re.fullmatch(r"\w+", extent) is None:
            raise TypeError(f"the extent {extent!r} of {text!r} is neither a parameter nor a number")
    hidden = kind == _VOID
    if hidden and not stars:
        raise TypeError(f"{text!r} is no parameter of a C function")
    return Parameter(
        name or f"p{number}", DType.U8 if hidden else dtype_of(kind), bool(stars or extents), extents, hidden
    )


def from_hints(function: Callable[..., Any]) -> Declaration:
    """A declaration from the hints of a function of numbers."""
    hints = inspect.get_annotations(function, eval_str=True)
    names = tuple(inspect.signature(function).parameters)
    missing = [name for name in (*names, "return") if name not in hints]
    if missing:
        raise TypeError(f"{function.__name__}() has no hint for {missing[0]!r}; write weft.cfunc('double (double)')")
    parameters = tuple(Parameter(name, dtype_of(hints[name])) for name in names)
    returned = hints["return"]
    result = None if returned is None else dtype_of(returned)
    return Declaration(result, parameters, parameters, _calling(parameters), result)


# --- SciPy's interfaces ---------------------------------------------------------------------------------------------


def _quad(function: Callable[..., Any]) -> Declaration:
    """f(x), or f(x0, x1, ...) of several variables, as scipy.integrate.quad and nquad call it."""
    names = tuple(inspect.signature(function).parameters)
    if len(names) == 1:
        one = (Parameter(names[0], DType.F64),)
        return Declaration(DType.F64, one, one, _calling(one), DType.F64)
    values = Parameter("values", DType.F64, True, (str(len(names)),))
    parameters = (Parameter("count", DType.I32), values)
    arguments = ", ".join(f"float(values[{at}])" for at in range(len(names)))
    return Declaration(DType.F64, parameters, (values,), _calling((values,), arguments), DType.F64)


def _filter(function: Callable[..., Any]) -> Declaration:
    """f(window) -> number, as scipy.ndimage.generic_filter calls it."""
    window = Parameter("window", DType.F64, True, ("size",))
    result = Parameter("result", DType.F64, True)
    parameters = (window, Parameter("size", DType.I64), result, _USER_DATA)
    return Declaration(DType.I32, parameters, (window,), _calling((window,)), DType.F64, "*result")


def _filter1d(function: Callable[..., Any]) -> Declaration:
    """f(line, out), as scipy.ndimage.generic_filter1d calls it."""
    line, out = Parameter("line", DType.F64, True, ("size",)), Parameter("out", DType.F64, True, ("room",))
    sizes = Parameter("size", DType.I64), Parameter("room", DType.I64)
    parameters = (line, sizes[0], out, sizes[1], _USER_DATA)
    return Declaration(DType.I32, parameters, (line, out), _calling((line, out)), None)


_USER_DATA = Parameter("user_data", DType.U8, True, (), True)

#: The interfaces by name.
LIKE: dict[str, Callable[[Callable[..., Any]], Declaration]] = {
    "quad": _quad,
    "generic_filter": _filter,
    "generic_filter1d": _filter1d,
}
