"""`weft.cfunc`.  In: a Python function and a C signature; out: a C function, by its address, for whoever calls C.

    @weft.cfunc("double (double x, double y)")                       numbers
    @weft.cfunc("int (double *line[n], npy_intp n, double *out[n])")  arrays, with their extents in brackets
    @weft.cfunc(like="generic_filter")                                as scipy.ndimage calls the Python function

A `double` is a Python float, an integer of 64 bits a Python int; the elements of arrays are NumPy's.  Where the Python
function raises, so does a caller that holds the interpreter's lock; another one gets NaN (or 0), and Python reports the
exception as one that nobody could catch.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.callbacks import loading, scalar, shims
from weft.callbacks.declarations import LIKE, Declaration, Parameter, declared, from_hints
from weft.errors import Unsupported
from weft.frontend.specs import ArraySpec, ScalarSpec, Spec
from weft.ir.program import Layout
from weft.ir.types import COMPLEX, FLOAT, INT, PYBOOL, DType, ScalarType
from weft.options import Options, make_options
from weft.targets.c import TARGET as C_TARGET

_WEAK = {DType.F64: FLOAT, DType.I64: INT, DType.C128: COMPLEX, DType.BOOL: PYBOOL, DType.I32: INT}
_CTYPES: dict[DType, Any] = {
    DType.BOOL: ctypes.c_bool,
    DType.I8: ctypes.c_int8,
    DType.I16: ctypes.c_int16,
    DType.I32: ctypes.c_int,
    DType.I64: ctypes.c_long,
    DType.U8: ctypes.c_uint8,
    DType.U16: ctypes.c_uint16,
    DType.U32: ctypes.c_uint,
    DType.U64: ctypes.c_ulong,
    DType.F32: ctypes.c_float,
    DType.F64: ctypes.c_double,
}


def cfunc(
    function: Any = None,
    /,
    signature: Any = None,
    *,
    like: str | None = None,
    user_data: Any = None,
    sizes: Mapping[str, int] | None = None,
    **options: Any,
) -> Any:
    """Make a C function: `@weft.cfunc("double (double)")`, `@weft.cfunc(like="quad")`, or from the function's hints.

    `user_data`: what a `void *` parameter points to, as `weft.f64[2]`; the Python function gets that array.  `sizes`:
    the usual values of parameters, as {"size": 9}: a copy of the code is made for them.
    """
    if isinstance(function, str):
        function, signature = None, function
    if like is not None and like not in LIKE:
        raise ValueError(f"weft.cfunc has no form {like!r}; there are: {', '.join(LIKE)}")
    chosen = make_options(options)

    def decorate(target: Any) -> CFunction:
        plain = getattr(target, "py_func", target)
        if not inspect.isfunction(plain):
            raise TypeError(f"weft.cfunc needs a Python function, not {type(target).__name__}")
        if like is not None:
            form = LIKE[like](plain)
        else:
            form = from_hints(plain) if signature is None else declared(signature, plain, user_data is not None)
        return CFunction(plain, form.with_data(user_data), chosen, sizes)

    return decorate if function is None else decorate(function)


class CFunction:
    """A compiled C function.  `address` and `ctypes` are for C, `low_level()` for SciPy; a call is one of Python."""

    def __init__(
        self,
        function: Callable[..., Any],
        form: Declaration,
        options: Options,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.declaration = form
        usual = _usual(form, sizes or {})
        source = scalar.wrapper(function, form.wrapper, {"weft_f": function, "float": float})
        kinds = [_spec(parameter) for parameter in form.passed]
        chosen = Options(parallel=False, fp=options.fp, cache=options.cache, brief=True)
        kernel = scalar.scalar_kernel(source, kinds, chosen) if form.returns else None
        compiled = kernel.compiled if kernel is not None else scalar.lowered(source, kinds, chosen)
        if kernel is not None:
            found, stated = scalar.result_types(kernel)[0], form.returns
            assert stated is not None
            if len(kernel.results[0]) != 1 or not np.can_cast(found.numpy, stated.numpy, "same_kind"):
                place = source.span(source.tree)
                raise Unsupported(
                    place, f"a result of type {found.numpy} as a C {stated.numpy}", "return a number of it"
                )
        text = _unit(form, kernel, compiled, usual)
        self.c_source = text
        self._loaded = loading.load(text, compiled.flags, function.__name__, _in_python(form, function))
        self.address = self._loaded.address("weft_function")
        argtypes = [_ctype(parameter) for parameter in form.parameters]
        result = None if form.result is None else _CTYPES[form.result]
        self.ctypes: Any = ctypes.CFUNCTYPE(result, *argtypes)(self.address)

    @functools.cached_property
    def _called(self) -> Any:
        from weft.jitted import Jitted

        return Jitted(self.py_func, Options(fallback="silent"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._called(*args, **kwargs)

    def low_level(self, user_data: Any = None) -> Any:
        """The function as a `scipy.LowLevelCallable`; `user_data`: an array that its `void *` parameter points to."""
        from scipy import LowLevelCallable

        if user_data is None:
            return LowLevelCallable(self.ctypes)
        parameter = next((p for p in self.declaration.parameters if p.extents and p.hidden_type), None)
        if parameter is None:
            raise TypeError(f"{self.py_func.__name__} takes no user_data: give weft.cfunc(user_data=weft.f64[n])")
        data = np.ascontiguousarray(user_data, parameter.dtype.numpy)
        if data.shape != tuple(int(extent) for extent in parameter.extents):
            raise ValueError(f"user_data needs the shape ({', '.join(parameter.extents)}), not {data.shape}")
        made = LowLevelCallable(self.ctypes, ctypes.c_void_p(data.ctypes.data))
        _data.append(data)  # SciPy keeps the pointer only
        return made

    def __repr__(self) -> str:
        return f"<weft.cfunc {self.py_func.__qualname__}: {self.declaration.text}>"


_data: list[Any] = []


def _spec(parameter: Parameter) -> Spec:
    if parameter.extents:
        return ArraySpec(parameter.dtype, tuple(extent == "1" for extent in parameter.extents), Layout.C)
    return ScalarSpec(_WEAK.get(parameter.dtype, ScalarType(parameter.dtype)))


def _ctype(parameter: Parameter) -> Any:
    if parameter.hidden_type:
        return ctypes.c_void_p
    found = _CTYPES.get(parameter.dtype)
    if found is None:
        raise TypeError(f"C has no {parameter.dtype.numpy} that ctypes knows; pass its parts")
    return ctypes.POINTER(found) if parameter.pointer else found


def _usual(form: Declaration, sizes: Mapping[str, int]) -> dict[str, int]:
    """The usual values of parameters, if they are some."""
    counts = {p.name for p in form.parameters if not p.pointer and p.dtype.is_integer}
    unknown = next((name for name in sizes if name not in counts), None)
    if unknown is not None:
        raise ValueError(f"sizes names {unknown!r}, which is no count of {form.text}; there are: {sorted(counts)}")
    return dict(sizes)


def _unit(form: Declaration, kernel: scalar.Kernel | None, compiled: Any, usual: Mapping[str, int]) -> str:
    """The C of the function: arguments into words, the kernel, the result; or Python's answer."""
    from weft.codegen.binding import layout

    unit = kernel.unit if kernel is not None else C_TARGET.text(compiled, scalar.OPTIONS)
    places, names = layout(compiled.program_lowered), compiled.built.names
    form, usual = form.in_c(), {f"a_{name}": value for name, value in usual.items()}
    lines: list[str] = []
    for parameter, name in zip(form.passed, names):
        if isinstance(name, str):
            lines += _words(parameter, places.params[name])
    result = "void" if form.result is None else shims.c_type(form.result)
    heads = ", ".join(f"{_c_type(p)} {p.name}" for p in form.parameters)
    made = [f"  {result} weft_result = {_failure(form.result)};"] if form.result is not None else []
    target = form.stored or ("weft_result" if form.result is not None else "")
    success = _success(form, kernel, target)
    pointers = ", ".join(f"(char *)&{p.name}" for p in form.parameters)
    here = "(i64)&weft_result" if form.result is not None else "0LL"
    arguments = ", ".join(("w", *(p.name for p in form.parameters)))
    call = f"weft_call({arguments})"
    if usual:
        fixed = ", ".join(("w", *(str(usual.get(p.name, p.name)) for p in form.parameters)))
        call = f"({' && '.join(f'{name} == {value}' for name, value in usual.items())} ? weft_call({fixed}) : {call})"
    words = ", ".join(("i64 *w", *([heads] if heads else [])))
    code = f"""
static inline __attribute__((always_inline)) i64 weft_call({words}) {{
  w[0] = 0;
{chr(10).join(lines)}
  return kernel(weft_runtime, w);
}}
{result} weft_function({heads or "void"}) {{
{chr(10).join(made)}
  i64 w[{max(places.words, 8)}];
  if ({call} == 0) {{
{success}
  }} else {{
    char *at[] = {{{pointers or "0"}}};
    weft_ask_one(at, {here});
  }}
  return{" weft_result" if form.result is not None else ""};
}}
"""
    return "".join((shims.inlined(unit.text), shims.HEAD, _ASK, code))


def _success(form: Declaration, kernel: scalar.Kernel | None, target: str) -> str:
    lines: list[str] = []
    if kernel is not None and form.returns is not None:
        for number, tree in enumerate(kernel.results):
            value = shims.loaded(tree[0], form.returns)
            lines.append(f"    {'else ' if number else ''}if (w[0] == {number}) {target} = {value};")
    if form.stored or (form.returns is None and form.result is not None):
        lines.append("    weft_result = 1;")
    return "\n".join(lines)


def _failure(dtype: DType | None) -> str:
    return '__builtin_nan("")' if dtype is not None and dtype.is_float else "0"


def _c_type(parameter: Parameter) -> str:
    if parameter.hidden_type:
        return "void *"
    if parameter.dtype is DType.I64:
        return "long *" if parameter.pointer else "long"
    return shims.c_type(parameter.dtype) + (" *" if parameter.pointer else "")


def _words(parameter: Parameter, word: int) -> list[str]:
    if not parameter.extents:
        return [f"  {shims.stored(parameter.dtype, parameter.name, word)}"]
    rank = len(parameter.extents)
    lines = [f"  w[{word}] = (i64){parameter.name};"]
    for axis, extent in enumerate(parameter.extents):
        behind = " * ".join(f"(i64){e}" for e in parameter.extents[axis + 1 :]) or "1"
        lines.append(f"  w[{word + 1 + axis}] = {extent}; w[{word + 1 + rank + axis}] = {behind};")
    return lines


_ASK = """
/* Plain Python computes the result. What it raises waits for a caller that holds the lock, else it is reported. */
static void weft_ask_one(char **at, i64 result) {
  int held = PyGILState_Check(), state = PyGILState_Ensure();
  if (!PyErr_Occurred()) {
    PyObject *done = PyObject_CallFunction(weft_python, "LL", (i64)at, result);
    if (done) Py_DecRef(done);
    else if (!held) PyErr_WriteUnraisable(weft_python);
  }
  PyGILState_Release(state);
}
"""


def _in_python(form: Declaration, function: Callable[..., Any]) -> Callable[..., Any]:
    """One call of the Python function with the arguments of a call from C."""
    namespace: dict[str, Any] = {"weft_f": function}
    exec(form.wrapper, namespace)
    wrapped = namespace["one"]

    def ask(at: int, result: int) -> None:
        places = (ctypes.c_void_p * max(len(form.parameters), 1)).from_address(at)
        values: dict[str, Any] = {}
        for parameter, place in zip(form.parameters, places):
            assert place is not None
            if not parameter.pointer:
                values[parameter.name] = _ctype(parameter).from_address(place).value
        for parameter, place in zip(form.parameters, places):
            if parameter.extents:
                address = ctypes.c_void_p.from_address(place or 0).value
                shape = tuple(int(values.get(extent, extent)) for extent in parameter.extents)
                kind = _CTYPES[parameter.dtype]
                for extent in reversed(shape):
                    kind = kind * extent
                values[parameter.name] = np.ctypeslib.as_array(kind.from_address(address or 0))
        answer = wrapped(*(_number(p, values[p.name]) for p in form.passed))
        if form.stored:
            name = form.stored.lstrip("*")
            index = next(k for k, p in enumerate(form.parameters) if p.name == name)
            target = ctypes.c_void_p.from_address(places[index] or 0).value
            kind = _CTYPES[form.parameters[index].dtype]
            kind.from_address(target or 0).value = answer
        if form.result is not None:
            done = answer if form.returns is not None and not form.stored else 1
            np.ctypeslib.as_array(_CTYPES[form.result].from_address(result))[()] = done

    return ask


def _number(parameter: Parameter, value: Any) -> Any:
    """A number as the function gets it: Python's, or NumPy's of the same width."""
    if parameter.extents or parameter.dtype in _WEAK:
        return value
    return parameter.dtype.numpy.type(value)
