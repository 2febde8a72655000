"""`numba.jit` and its kin.  In: functions, signatures and Numba's options; out: functions that weft compiles.

`fastmath` becomes `fp="fast"` (flags that keep NaN: `fp="regroup"`), `parallel=True` lets loops run in parallel;
without it `prange` is `range`, as in Numba.
What has no counterpart is accepted and noted once (`weft.compat.notes`).
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from weft import api, warned
from weft.compat.notes import noted
from weft.compat.numba.core import config
from weft.compat.numba.core.errors import UnsupportedError
from weft.compat.numba.types import CPointer, Signature, Type, parsed

#: Options that change nothing in an answer, and what weft does instead.
_IGNORED = {
    "nopython": "",
    "nogil": "",  # native code runs without the GIL anyway
    "cache": "",  # versions are kept on disk anyway
    "inline": "",
    "debug": "",
    "forceinline": "",
    "no_cpython_wrapper": "",
    "no_cfunc_wrapper": "",
    "looplift": "",
    "boundscheck": "indices are always checked",
    "locals": "types of variables come from the values",
    "pipeline_class": "weft has passes of its own",
    "target_backend": "code is for the CPU",
    "target": "code is for the CPU",
    "no_rewrites": "",
    "no_cpython_wrappers": "",
    "nrt": "",
    "abort_on_missing": "",
    "no_compile": "",
    "_nrt": "",
    "_dbg_extend_lifetimes": "",
    "_dbg_optnone": "",
    "noalias": "",
    "max_registers": "",
    "flags": "",
    "writable_args": "",
    "identity": "",
    "signature": "",
    "fixed": "",
    "no_cpython": "",
}
_KNOWN = {*_IGNORED, "fastmath", "parallel", "error_model", "forceobj"}


def weft_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of weft.jit for those of numba.jit."""
    for name in options:
        if name not in _KNOWN:
            raise KeyError(f"Unrecognized options: {{{name!r}}}. Known options are {sorted(_KNOWN)}")
        if options[name] and _IGNORED.get(name):
            noted(name, _IGNORED[name])
    if options.get("error_model") == "numpy":
        noted("error_model='numpy'", "a Python number divided by zero raises ZeroDivisionError, as in Python")
    chosen: dict[str, Any] = {"parallel": bool(options.get("parallel", False))}
    if (rounding := _rounding(options.get("fastmath"))) is not None:
        chosen["fp"] = rounding
    return chosen


def _rounding(asked: Any) -> str | None:
    """The option `fp` for `fastmath`: sums may be regrouped without a word of NaN and infinities, or with it."""
    if not asked:
        return None
    flags = {"fast"} if asked is True else {asked} if isinstance(asked, str) else set(asked)
    if "fast" in flags or {"nnan", "ninf", "reassoc"} <= flags:
        return "fast"
    if {"nsz", "reassoc"} <= flags:
        return "regroup"
    noted("fastmath={...}", "a part of the flags: NaN, infinities and the order of sums are kept")
    return None


def _signatures(given: Any) -> list[Signature]:
    if given is None:
        return []
    several = given if isinstance(given, list) else [given]
    if several:
        noted("signatures", "types come from the arguments of each call, and nothing is compiled before the first one")
    return [parsed(one) for one in several]


def jit(signature_or_function: Any = None, /, **options: Any) -> Any:
    """`@numba.jit`, with or without a signature (one, or a list) and options."""
    first = options.pop("signature_or_function", None) if signature_or_function is None else signature_or_function
    is_function = inspect.isfunction(first) or (hasattr(first, "py_func") and not isinstance(first, Type))
    signatures = [] if is_function else _signatures(first)
    chosen = weft_options(options)

    def decorate(function: Any) -> Any:
        from weft.compat.numba.dispatcher import dressed

        if inspect.isclass(function):
            raise TypeError("A jit decorator should not have been applied to a class: use numba.experimental.jitclass")
        if config.DISABLE_JIT:
            return function
        plain = getattr(function, "py_func", function)
        _expect_objmode(plain)
        if options.get("forceobj"):
            return dressed(functools.wraps(plain)(lambda *args, **keys: plain(*args, **keys)), plain, options, [])
        made = api.jit(plain, **chosen)
        if made is plain:  # weft is switched off
            return _plain(plain, options, signatures)
        return dressed(made, plain, options, signatures)

    return decorate(first) if is_function else decorate


def _expect_objmode(function: Any) -> None:
    """No warning of the lines that the program itself gives to the interpreter."""
    code = getattr(function, "__code__", None)
    if code is None or "objmode" not in (*code.co_names, *code.co_freevars):
        return
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and any("objmode" in ast.dump(item.context_expr) for item in node.items):
            last = node.end_lineno or node.lineno
            warned.expect(code.co_filename, range(first + node.lineno - 1, first + last))


def _plain(function: Callable[..., Any], options: dict[str, Any], signatures: list[Signature]) -> Any:
    """A function with Numba's attributes that is not compiled."""
    from weft.compat.numba.dispatcher import dressed

    return dressed(function, function, options, list(signatures))


def njit(signature_or_function: Any = None, /, **options: Any) -> Any:
    """`@numba.njit`: as `jit`.  What cannot be compiled runs as plain Python, with a warning."""
    return jit(signature_or_function, **{**options, "nopython": True})


def generated_jit(*_: Any, **__: Any) -> NoReturn:
    """Numba has taken it out as well."""
    raise UnsupportedError("numba.generated_jit is gone from Numba, too: use numba.extending.overload, or plain Python")


def jit_module(**options: Any) -> None:
    """Decorate the functions of the calling module."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    space = frame.f_back.f_globals
    for name, value in list(space.items()):
        if inspect.isfunction(value) and value.__module__ == space.get("__name__"):
            space[name] = jit(value, **options)


def cfunc(signature: Any, /, **options: Any) -> Callable[[Any], Any]:
    """`@numba.cfunc("float64(float64)")`: a function with the address of a C function that calls it.

    The function runs in the interpreter, compiled by weft; the address is one that ctypes has made.
    """
    import ctypes

    wanted = parsed(signature)
    options.pop("locals", None)

    def c_type(kind: Any) -> Any:
        known = {"float64": ctypes.c_double, "float32": ctypes.c_float, "bool": ctypes.c_bool, "void*": ctypes.c_void_p}
        if isinstance(kind, CPointer):
            return ctypes.c_void_p if kind.dtype.name == "none" else ctypes.POINTER(c_type(kind.dtype))
        known |= {f"int{n}": getattr(ctypes, f"c_int{n}") for n in (8, 16, 32, 64)}
        known |= {f"uint{n}": getattr(ctypes, f"c_uint{n}") for n in (8, 16, 32, 64)}
        if kind is None or kind.name == "none":
            return None
        if kind.name not in known:
            raise UnsupportedError(f"a C function with an argument or a result of type {kind!r}")
        return known[kind.name]

    def decorate(function: Any) -> Any:
        if any(isinstance(kind, CPointer) for kind in wanted.args):
            noted("cfunc with pointers", "it runs in the interpreter: compile a function of arrays, and call that")
            options["forceobj"] = True
        made = jit(function, **options)
        made.ctypes = ctypes.CFUNCTYPE(c_type(wanted.return_type), *map(c_type, wanted.args))(made)
        made.address = ctypes.cast(made.ctypes, ctypes.c_void_p).value
        made.native_name = made.__name__
        return made

    return decorate
