"""`weft.register`: what a function of another library means.  In: the function and a Python body, a C function or its
own loops; out: an entry of the knowledge base, by which calls of it are compiled.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.callbacks.signatures import in_single_words
from weft.runtime import foreign

#: The types of C that a native function may have.
_NUMBERS = {
    "double": "double",
    "float": "float",
    "int": "int",
    "long": "long",
    "int32_t": "int",
    "int64_t": "long",
    "ssize_t": "long",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
}
_RESULTS = ("double", "float", "int", "long")
_INTEGERS = ("int", "long", "unsigned long")
_CTYPES: dict[Any, str] = {
    ctypes.c_double: "double",
    ctypes.c_float: "float",
    ctypes.c_int: "int",
    ctypes.c_long: "long",
    ctypes.c_ulong: "unsigned long",
}


def register(
    function: Any,
    *,
    body: Callable[..., Any] | None = None,
    native: Any = None,
    signature: str | None = None,
    effects: str | Mapping[str, str | Sequence[str]] = "pure",
    cost: int | None = None,
    elementwise: bool = False,
) -> Any:
    """Tell weft what a library function means; the function itself comes back.

    `body`: a Python function with the same parameters, which stands in the place of calls.  `native`: a C function of
    numbers, as ("libm", "erf"), a ctypes function, a cffi pointer or an address; `signature` is its type in C, as
    "double (double, double)" (of a ctypes function: its `argtypes`; else all are doubles).  Neither: `function` is a
    ufunc, whose own loops are called.

    `effects` of a native function of numbers is "pure": its result follows from its arguments and nothing else
    changes, so that calls may be moved, joined, left out and run side by side.  A native function over arrays names
    those that it reads and those that it writes: {"reads": ("x",), "writes": "y"}, with a signature that names their
    extents, as "void (double *x[n], double *y[n], long n)"; else nothing changes.  `cost`: cycles of one call.
    `elementwise`: the function takes arrays as well, and gives what it gives for each element.
    """
    if not callable(function):
        raise TypeError(f"weft.register needs a function, not {type(function).__name__}")
    if body is not None and native is not None:
        raise TypeError("a registered function has a body or is native, not both")
    told = _effects(effects)
    if told is not None and (native is None or signature is None):
        raise TypeError("effects other than 'pure' need a native function and its signature")
    if cost is not None and (not isinstance(cost, int) or cost < 1):
        raise ValueError(f"cost is a number of cycles, not {cost!r}")
    name = _name_of(function)
    if body is not None:
        _with_body(function, body, name)
    elif told is not None:
        _over_arrays(function, native, signature or "", name, told)
    elif native is not None:
        _native(function, native, signature, name, cost, elementwise)
    else:
        _ufunc(function, name, cost)
    return function


def _effects(effects: Any) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of arrays that are read, and of those that are written; None for a pure function."""
    if effects == "pure":
        return None
    if not isinstance(effects, Mapping) or not set(effects) <= {"reads", "writes"}:
        raise ValueError(
            f"effects={effects!r}: weft moves and repeats calls of native functions, which must be 'pure', or say "
            "what they read and write: {'reads': ('x',), 'writes': 'y'}; "
            "give a function with other effects a body, or leave it unregistered: then Python calls it in order"
        )
    parts = [effects.get(what, ()) for what in ("reads", "writes")]
    reads, writes = (tuple(re.findall(r"\w+", part)) if isinstance(part, str) else tuple(part) for part in parts)
    return reads, writes


def _over_arrays(
    function: Any, native: Any, signature: str, name: str, effects: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """A C function over arrays is a library routine."""
    from weft.callbacks import native_arrays
    from weft.frontend.knowledge import registering

    made = native_arrays.described(function, signature, *effects)
    key, _ = _address(native, name)
    found = foreign.address(key)
    assert found is not None
    attribute = re.sub(r"\W+", "_", f"{name}_{made.layout}")
    ufunc = native_arrays.ufunc_of(made, attribute, found[0])
    module, attribute = shared_home(ufunc)
    sides = (made.inputs, made.written)
    given, written = (tuple(registering.Operand(p.name, p.dtype, len(p.extents)) for p in side) for side in sides)
    parameters = tuple(p.name for p in made.declaration.passed)
    home = (module, attribute)
    registering.entry_of_effects(function, name, ufunc, home, parameters, given, written, made.declaration.result)
    foreign.note(f"{name} = {key} {signature} {effects}")


def _name_of(function: Any) -> str:
    if isinstance(function, np.ufunc):
        return str(function.__name__)
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"


def _with_body(function: Any, body: Callable[..., Any], name: str) -> None:
    from weft.frontend.knowledge import registering

    if not inspect.isfunction(body):
        raise TypeError(f"the body of a registered function is a Python function, not {type(body).__name__}")
    registering.entry_of_body(function, body, name)
    digest = hashlib.blake2b(body.__code__.co_code + repr(body.__code__.co_consts).encode(), digest_size=8)
    foreign.note(f"{name} = {body.__qualname__} {digest.hexdigest()}")


def _native(function: Any, native: Any, signature: str | None, name: str, cost: int | None, elementwise: bool) -> None:
    from weft.frontend.knowledge import registering

    key, declared = _address(native, name)
    names = _parameters(function)
    types = _types(signature) if signature is not None else declared
    if types is None:
        types = ("double",) * (len(names or ("x",)) + 1)
    if names is None:
        names = tuple(f"x{number}" for number in range(len(types) - 1))
    if len(types) != len(names) + 1:
        raise TypeError(f"{name} has {len(names)} parameters, its native function {len(types) - 1}")
    if types[-1] not in _RESULTS or (types[-1] == "long" and not all(kind in _INTEGERS for kind in types)):
        raise TypeError(
            f"the native function of {name} returns {types[-1]}; weft calls those that return double, float or int, "
            "and those that return long if they take integers alone"
        )
    made = registering.Native(key, types, names, cost or registering.COST, elementwise)
    registering.entry_of_native(function, name, made)
    foreign.note(f"{name} = {key} {types}")


def _parameters(function: Any) -> tuple[str, ...] | None:
    """The names of the parameters; None where Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return tuple(p.name for p in found)


def _address(native: Any, name: str) -> tuple[str, tuple[str, ...] | None]:
    """What the run time finds a native function by, and the types that it states itself."""
    if isinstance(native, tuple) and len(native) == 2 and all(isinstance(part, str) for part in native):
        key = f"c|{native[0]}|{native[1]}"
        if foreign.open_library(native[0]) is None:
            raise OSError(f"there is no library {native[0]!r} here")
        if foreign.address(key) is None:
            raise AttributeError(f"the library {native[0]!r} has no function {native[1]!r}")
        return key, None
    if isinstance(native, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        address = ctypes.cast(native, ctypes.c_void_p).value
        stated: list[Any] = [*(native.argtypes or ()), native.restype]
        types = tuple(_CTYPES[kind] for kind in stated) if native.argtypes and set(stated) <= set(_CTYPES) else None
        return foreign.offer(name, address or 0, native), types
    if type(native).__module__ == "_cffi_backend":
        ffi: Any = importlib.import_module("cffi").FFI()
        return foreign.offer(name, int(ffi.cast("intptr_t", native)), native), _types(_cffi_text(native))
    if isinstance(native, int) and native > 0:
        return foreign.offer(name, native, None), None
    raise TypeError("native is ('libm', 'erf'), a ctypes function, a cffi pointer or an address")


def _cffi_text(pointer: Any) -> str:
    """double(*)(double, int) --> double (double, int)"""
    found = re.search(r"'([^']*)'", repr(pointer))
    return (found[1] if found else "").replace("(*)", " ")


def _types(text: str) -> tuple[str, ...]:
    """The types in C of the parameters and of the result, from a signature."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\w+\s*)?\((.*)\)\s*", in_single_words(text))
    parts = [] if found is None else [*(part.split()[0] for part in found[2].split(",") if part.strip()), found[1]]
    if not parts or not set(parts) <= set(_NUMBERS):
        raise TypeError(f"{text!r} is no signature of numbers; write 'double (double, double)'")
    return tuple(_NUMBERS[part] for part in parts)


def _ufunc(function: Any, name: str, cost: int | None) -> None:
    from weft.frontend.knowledge import registering

    plain = getattr(function, "py_func", None)
    if plain is not None:
        raise TypeError(f"{name} has a body: write weft.register({name}, body=...)")
    if not isinstance(function, np.ufunc):
        raise TypeError(f"weft.register({name}) needs a body or a native function; only ufuncs have loops of their own")
    module, attribute = _home_of(function)
    if function.signature is None:
        registering.entry_of_ufunc(function, module, attribute, cost or registering.COST)
    else:
        registering.entry_of_routine(function, function, module, attribute)
    foreign.note(f"{module}.{attribute}")


def _home_of(ufunc: np.ufunc) -> tuple[str, str]:
    """The module that has a ufunc under its name, by which other processes find it."""
    for module, content in tuple(sys.modules.items()):
        if module != "__main__" and getattr(content, "__dict__", {}).get(ufunc.__name__) is ufunc:
            return module, ufunc.__name__
    return shared_home(ufunc)


def shared_home(ufunc: np.ufunc) -> tuple[str, str]:
    """A place for a ufunc that no module has: this one."""
    globals()[f"registered_{ufunc.__name__}"] = ufunc
    return __name__, f"registered_{ufunc.__name__}"


# --- classes --------------------------------------------------------------------------------------------------------


def model(
    library: type, *, fields: tuple[str, ...] | str, make: Callable[..., Any] | None = None
) -> Callable[[type], type]:
    """Describe a class of another library: `@weft.model(PPoly, fields=("x", "c"))` on a class in plain Python.

    An argument of the library's class (not of one derived from it) becomes an object of the described class, whose
    attributes `fields` are those of the argument; calls of its methods and operators are compiled in place.  `make`, a
    function of a module that takes the fields, makes an object of the library's class of one that is returned.
    """
    from weft.frontend.models.given import MODELS, Given

    if not isinstance(library, type):
        raise TypeError(f"weft.model needs a class, not {type(library).__name__}")
    names = (fields,) if isinstance(fields, str) else tuple(fields)
    maker = "" if make is None else f"{make.__module__}:{make.__qualname__}"
    if "<" in maker or (make is not None and make.__module__ == "__main__"):
        raise ValueError("make must be a function of a module, by which other processes find it")

    def decorate(kind: type) -> type:
        if not isinstance(kind, type):
            raise TypeError(f"a model is a class, not {type(kind).__name__}")
        MODELS[library] = Given(kind, names, maker)
        foreign.note(f"model {library.__module__}.{library.__qualname__} = {kind.__qualname__} {names} {maker}")
        return kind

    return decorate
