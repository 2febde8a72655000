"""`weft.guvectorize`.  In: a function that fills its last arguments, and a layout such as "(n),(n)->()"; out: a
generalised ufunc of NumPy.

    @weft.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
    def inner(x, y, out):
        out[0] = (x * y).sum()

An input without dimensions of its own is a number, an output without any an array of one element.
"""

from __future__ import annotations

import ctypes
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import pipeline
from weft.analysis.scopes import written_params
from weft.callbacks import inside, loading, ufuncs
from weft.callbacks.shims import CLEARED, c_type
from weft.callbacks.signatures import Loop, dtype_of, loops_of, ranks_of
from weft.callbacks.vectorize import address_of, narrowness, parameters_of
from weft.codegen.binding import layout
from weft.codegen.c_helpers import PRELUDE
from weft.compiled import Compiled
from weft.errors import Unsupported
from weft.frontend.source import load
from weft.frontend.specs import ArraySpec, ScalarSpec, Spec
from weft.ir.program import Layout
from weft.ir.types import DType, ScalarType
from weft.options import Options, make_options
from weft.records import dataclass


@dataclass(frozen=True)
class Core:
    """The layout of a generalised ufunc: the names of the dimensions of each operand, inputs first."""

    text: str
    operands: tuple[tuple[str, ...], ...]
    inputs: int

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of all dimensions, as NumPy numbers them."""
        return tuple(dict.fromkeys(name for operand in self.operands for name in operand))


def core_of(text: str) -> Core:
    """A layout from its text; ValueError if it is none."""
    plain = text.replace(" ", "")
    if re.fullmatch(r"(\([\w,]*\),?)*->(\([\w,]*\),?)+", plain) is None:
        raise ValueError(f"{text!r} is no layout of a generalised ufunc; write '(n),(n)->()'")
    left, right = (re.findall(r"\(([\w,]*)\)", side) for side in plain.split("->"))
    operands = tuple(tuple(name for name in part.split(",") if name) for part in (*left, *right))
    unknown = {name for operand in operands[len(left) :] for name in operand}
    unknown -= {name for operand in operands[: len(left)] for name in operand}
    if unknown:
        raise ValueError(f"no input of {text!r} has the dimension {sorted(unknown)[0]!r} of an output")
    return Core(plain, operands, len(left))


def guvectorize(signatures: Any, layout: str, **options: Any) -> Callable[[Any], Any]:
    """Make a generalised ufunc of a function that fills its last arguments."""
    core = core_of(layout)
    chosen = make_options(options)
    if not isinstance(signatures, (list, tuple)):
        signatures = [signatures]

    def decorate(target: Any) -> Any:
        plain = getattr(target, "py_func", target)
        if not inspect.isfunction(plain):
            raise TypeError(f"weft.guvectorize needs a Python function, not {type(target).__name__}")
        if len(parameters_of(plain)) != len(core.operands):
            raise TypeError(f"{plain.__name__}() needs {len(core.operands)} parameters for the layout {core.text}")
        loops = [_types(signature, core) for signature in signatures]
        made = [_loop(plain, loop, core, chosen) for loop in sorted(loops, key=lambda found: narrowness(found.types))]
        ufunc = ufuncs.ufunc(made, plain.__name__, plain.__doc__, None, core.text)
        if any(loop.cells for loop in loops):  # a number of the call is an array of the function
            return ufunc
        name, types = plain.__name__, inside.resolved(ufunc)
        return inside.note(ufunc, inside.Made(name, plain, core.inputs, core.operands, types, fills=True))

    return decorate


@dataclass(frozen=True)
class _Typed:
    """The types of one loop; `cells`: inputs without dimensions that are arrays of one element all the same."""

    types: Loop
    cells: frozenset[int]


def _types(signature: Any, core: Core) -> _Typed:
    if isinstance(signature, str):
        loop, ranks = loops_of(signature)[0], ranks_of(signature)
        together = (*loop.inputs, *loop.outputs)
    else:
        together, ranks = tuple(map(dtype_of, signature)), tuple(len(getattr(t, "shape", ())) for t in signature)
    if len(together) != len(core.operands):
        raise TypeError(
            f"the signature {signature!r} has {len(together)} types, the layout {core.text} has "
            f"{len(core.operands)} operands"
        )
    cells = frozenset(k for k in range(core.inputs) if ranks is not None and ranks[k] == 1 and not core.operands[k])
    return _Typed(Loop(together[: core.inputs], together[core.inputs :]), cells)


def _loop(function: Callable[..., Any], typed: _Typed, core: Core, options: Options) -> ufuncs.CLoop:
    dtypes = (*typed.types.inputs, *typed.types.outputs)
    numbers = {k for k in range(core.inputs) if not core.operands[k]} - typed.cells
    source = load(function)
    made: list[Compiled] = []
    for form in (Layout.C, Layout.STRIDED):
        kinds: list[Spec] = [
            ScalarSpec(ScalarType(dtype))
            if k in numbers
            else ArraySpec(dtype, (False,) * len(core.operands[k]) or (True,), form)
            for k, dtype in enumerate(dtypes)
        ]
        compiled = pipeline.compile_for(source, kinds, None, options, specialise=False)
        if compiled.built.hidden:
            name = compiled.built.hidden[0].name
            reason = f"a ufunc that reads {name!r} at each call"
            raise Unsupported(source.span(source.tree), reason, f"pass {name!r} as an argument")
        made.append(compiled)
    if any(tree for tree in made[0].program_lowered.results if type(tree).__name__ != "NoneOut"):
        raise Unsupported(
            source.span(source.tree), "a generalised ufunc that returns a value", "fill its last argument"
        )
    written = written_params(made[0].program_built)
    spoiled = next((name for name in made[0].built.names[: core.inputs] if name in written), None)
    if spoiled is not None:
        place = source.span(source.tree)
        raise Unsupported(place, f"a generalised ufunc that writes its input {spoiled!r}", "write a copy of it")
    python = _in_python(function, dtypes, core, numbers)
    text = _unit(core, dtypes, numbers, made)
    loaded = loading.load(text, (), function.__name__, python, tuple(map(address_of, made)))
    return ufuncs.CLoop(typed.types.inputs, typed.types.outputs, loaded.address("weft_loop"), (loaded, *made))


def _unit(core: Core, dtypes: Sequence[DType], numbers: set[int], made: Sequence[Compiled]) -> str:
    """The C of the loop over what is outside of the layout."""
    places = [layout(compiled.program_lowered) for compiled in made]
    calls = []
    for number, (place, compiled) in enumerate(zip(places, made)):
        lines = [f"static i64 weft_form_{number}(char **at, const i64 *dims, const i64 *inner) {{"]
        lines += [f"  i64 w[{max(place.words, 8)}];", "  w[0] = 0;"]
        inner = 0
        for k, dtype in enumerate(dtypes):
            rank = len(core.operands[k])
            name = compiled.built.names[k]
            if isinstance(name, str):
                lines += _words(core, k, dtype, place.params[name], inner, k in numbers)
            inner += rank
        bulk = "weft_bulk" if number == 0 else f"weft_bulk_{number}"
        calls.append("\n".join((*lines, f"  return {bulk}(weft_runtime, w);", "}")))
    strides = [
        f"inner[{at}] % (i64)sizeof({c_type(dtypes[k])}) == 0"
        for at, k in enumerate(k for k in range(len(dtypes)) for _ in core.operands[k])
    ]
    return _UNIT.format(
        cleared=CLEARED,
        prelude=PRELUDE,
        calls="\n".join(calls),
        count=len(dtypes),
        even=" && ".join(strides) or "1",
    )


def _words(core: Core, k: int, dtype: DType, word: int, inner: int, number: bool) -> list[str]:
    """Put one operand into the words of a kernel."""
    type_, sizes, rank = c_type(dtype), core.sizes, len(core.operands[k])
    if number and dtype.is_complex:
        return [
            f"  w[{word}] = weft_word(__real__ *({type_} *)at[{k}]);",
            f"  w[{word + 1}] = weft_word(__imag__ *({type_} *)at[{k}]);",
        ]
    if number:
        value = f"*({type_} *)at[{k}]"
        return [f"  w[{word}] = {f'weft_word({value})' if dtype.is_float else f'(i64){value}'};"]
    lines = [f"  w[{word}] = (i64)at[{k}];"]
    if not rank:
        return [*lines, f"  w[{word + 1}] = 1; w[{word + 2}] = 1;"]
    for axis, name in enumerate(core.operands[k]):
        lines.append(f"  w[{word + 1 + axis}] = dims[{1 + sizes.index(name)}];")
        lines.append(f"  w[{word + 1 + rank + axis}] = inner[{inner + axis}] / (i64)sizeof({type_});")
    return lines


_UNIT = """/* a generalised ufunc */{prelude}
#include <fenv.h>
typedef struct _object PyObject;
extern int PyGILState_Ensure(void);
extern void PyGILState_Release(int);
extern PyObject *PyErr_Occurred(void);
extern PyObject *PyObject_CallFunction(PyObject *, const char *, ...);
extern void Py_DecRef(PyObject *);
const weft_rt *weft_runtime;
i64 (*weft_bulk)(const weft_rt *, i64 *);
i64 (*weft_bulk_1)(const weft_rt *, i64 *);
PyObject *weft_python;
static inline i64 weft_word(f64 x) {{ i64 w; __builtin_memcpy(&w, &x, 8); return w; }}
{calls}
static int weft_ask(char **at, const i64 *dims, const i64 *inner) {{
  int state = PyGILState_Ensure(), done = 0;
  if (!PyErr_Occurred()) {{
    PyObject *result = PyObject_CallFunction(weft_python, "LLL", (i64)at, (i64)dims, (i64)inner);
    done = result != 0;
    if (result) Py_DecRef(result);
  }}
  PyGILState_Release(state);
  return done;
}}
void weft_loop(char **args, const i64 *dims, const i64 *steps, void *data) {{
  const i64 *inner = steps + {count};
  const int even = {even};
  char *at[{count}];
  for (i64 i = 0; i < dims[0]; i++) {{
    for (int k = 0; k < {count}; k++) at[k] = args[k] + i * steps[k];
    if (even && (weft_form_0(at, dims, inner) == 0 || weft_form_1(at, dims, inner) == 0)) continue;
    if (!weft_ask(at, dims, inner)) break;
  }}
  {cleared}
}}
"""


def _in_python(
    function: Callable[..., Any], dtypes: Sequence[DType], core: Core, numbers: set[int]
) -> Callable[..., Any]:
    """One call of the function itself, on the very memory of the operands."""
    sizes = core.sizes
    ranks = [len(operand) for operand in core.operands]

    def ask(at: int, dims: int, inner: int) -> None:
        places = (ctypes.c_ssize_t * len(dtypes)).from_address(at)
        extents = (ctypes.c_ssize_t * (1 + len(sizes))).from_address(dims)
        steps = iter((ctypes.c_ssize_t * max(sum(ranks), 1)).from_address(inner))
        arrays: list[Any] = []
        for k, dtype in enumerate(dtypes):
            shape = tuple(extents[1 + sizes.index(name)] for name in core.operands[k])
            strides = tuple(next(steps) for _ in shape)
            arrays.append(_view(places[k], dtype.numpy, shape or (1,), strides or (dtype.size,)))
        function(*(array[0] if k in numbers else array for k, array in enumerate(arrays)))

    return ask


def _view(address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The array at an address."""

    memory = _Memory()
    memory.__array_interface__ = {
        "data": (address, False),
        "typestr": dtype.str,
        "shape": shape,
        "strides": strides,
        "version": 3,
    }
    return np.asarray(memory)


class _Memory:
    """Something that NumPy takes for an array."""

    __array_interface__: dict[str, Any]
