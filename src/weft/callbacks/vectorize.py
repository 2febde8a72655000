"""`weft.vectorize`.  In: a Python function of numbers; out: a ufunc of NumPy, with a compiled loop for each type.

    @weft.vectorize                                the types of each call decide, at its first use
    @weft.vectorize(["float64(float64, float64)"]) an np.ufunc with these loops

The function gets NumPy scalars, as in `[f(a, b) for a, b in zip(x, y)]`.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import pipeline
from weft.callbacks import inside, loading, scalar, shims, ufuncs
from weft.callbacks import plain as plain_form
from weft.callbacks.signatures import Loop, dtype_of, loops_of
from weft.codegen.binding import layout
from weft.compiled import Compiled
from weft.errors import Unsupported
from weft.forking import Lock
from weft.frontend.source import load
from weft.frontend.specs import ArraySpec, ScalarSpec
from weft.ir.program import Layout
from weft.ir.types import DType, ScalarType, from_numpy
from weft.options import Options, make_options


def vectorize(function: Any = None, /, signatures: Any = None, *, identity: Any = None, **options: Any) -> Any:
    """Make a ufunc of a function of numbers: `@weft.vectorize`, or `@weft.vectorize(["float64(float64)"])`.

    With signatures it is an `np.ufunc` that has these loops; without, each loop is compiled when arguments of its types
    come for the first time.  `identity`: 0, 1, "reorderable" or None, for `reduce`.
    """
    if function is not None and not callable(function):
        function, signatures = None, function
    if identity not in ufuncs.IDENTITIES:
        raise ValueError(f"the identity of a ufunc is 0, 1, 'reorderable' or None, not {identity!r}")
    chosen = make_options(options)
    asked = None if signatures is None else loops_of(signatures)

    def decorate(target: Any) -> Any:
        plain = getattr(target, "py_func", target)
        if not inspect.isfunction(plain):
            raise TypeError(f"weft.vectorize needs a Python function, not {type(target).__name__}")
        if plain_form.is_needed():
            return plain_form.PlainUfunc(plain, len(parameters_of(plain)), sorted(asked or (), key=narrowness))
        count = len(parameters_of(plain))
        if asked is None:
            lazy = Vectorized(plain, identity, chosen)
            return inside.note(lazy, inside.Made(plain.__name__, plain, count, ((),) * count, lazy.types_for))
        made = [compiled_loop(plain, loop, chosen) for loop in sorted(asked, key=narrowness)]
        ufunc = ufuncs.ufunc(made, plain.__name__, plain.__doc__, identity)
        cores = ((),) * ufunc.nargs
        return inside.note(ufunc, inside.Made(plain.__name__, plain, count, cores, inside.resolved(ufunc)))

    return decorate if function is None else decorate(function)


def narrowness(loop: Loop) -> list[tuple[int, int]]:
    """Narrow types first: NumPy takes the first loop that the arguments can be cast to."""
    return [("biufc".index(dtype.kind), dtype.size) for dtype in loop.inputs]


# --- loops ----------------------------------------------------------------------------------------------------------


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters; TypeError for a function that cannot be one of a ufunc."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = inspect.signature(function).parameters.values()
    if not found or any(p.kind not in kinds for p in found):
        raise TypeError(f"{function.__name__}() needs plain parameters, one for each operand")
    return tuple(p.name for p in found)


def compiled_loop(function: Callable[..., Any], loop: Loop, options: Options) -> ufuncs.CLoop:
    """The loop of a function for these types; those of its results are found if they are not given."""
    names = parameters_of(function)
    if len(names) != len(loop.inputs):
        raise TypeError(f"{function.__name__}() has {len(names)} parameters, the signature has {len(loop.inputs)}")
    kinds = [ScalarSpec(ScalarType(dtype)) for dtype in loop.inputs]
    kernel = scalar.scalar_kernel(load(function), kinds, Options(parallel=False, fp=options.fp, cache=options.cache))
    found = scalar.result_types(kernel)
    outputs = loop.outputs or found
    if len(outputs) != len(found):
        raise TypeError(f"{function.__name__}() returns {len(found)} numbers, the signature says {len(outputs)}")
    for stated, real in zip(outputs, found):
        if not np.can_cast(real.numpy, stated.numpy, "same_kind"):
            name = function.__name__
            raise TypeError(f"{name}() returns {real.numpy}, which {stated.numpy} of the signature cannot hold")
    try:
        bulk, words = _bulk(function, loop.inputs, outputs, options)
        addresses: tuple[int, ...] = (address_of(bulk),)
    except Unsupported:  # what Python may have to repeat must not have written anything: element by element, then
        bulk, words, addresses = None, (0,), ()
    text = shims.ufunc_unit(kernel, loop.inputs, outputs, words)
    python = _in_python(function, loop.inputs, outputs)
    flags = kernel.compiled.flags
    loaded = loading.load(text, flags, function.__name__, python, addresses)
    return ufuncs.CLoop(loop.inputs, outputs, loaded.address("weft_loop"), (loaded, bulk))


def address_of(compiled: Compiled) -> int:
    assert compiled.version is not None
    address = compiled.version.function
    assert isinstance(address, int)
    return address


def _bulk(
    function: Callable[..., Any], inputs: Sequence[DType], outputs: Sequence[DType], options: Options
) -> tuple[Compiled, tuple[int, ...]]:
    """The kernel that computes many elements at once, and where its words are."""
    given = [f"x{at}" for at in range(len(inputs))]
    made = [f"r{at}" for at in range(len(outputs))]
    stores = ", ".join(f"{name}[i]" for name in made)
    text = (
        f"def loop({', '.join((*given, *made))}):\n"
        f"    for i in range({made[0]}.shape[0]):\n"
        f"        {stores} = weft_f({', '.join(f'{name}[i]' for name in given)})\n"
    )
    source = scalar.wrapper(function, text, {"weft_f": function, "range": range})
    kinds = [ArraySpec(dtype, (False,), Layout.C) for dtype in (*inputs, *outputs)]
    samples = [np.empty(_SAMPLE, dtype.numpy) for dtype in (*inputs, *outputs)]
    compiled = pipeline.compile_for(source, kinds, samples, options)
    if compiled.built.hidden or compiled.version is None or not isinstance(compiled.version.function, int):
        raise Unsupported(source.span(source.tree), "a ufunc of what is read at each call", "pass it as an argument")
    places = layout(compiled.program_lowered)
    names = compiled.built.names
    return compiled, (*(places.params[n] if isinstance(n, str) else -1 for n in names), places.words)


#: The size of the sample arrays: all are equally long, and long enough to be worth vectors.
_SAMPLE = 100_000


def _in_python(function: Callable[..., Any], inputs: Sequence[DType], outputs: Sequence[DType]) -> Callable[..., Any]:
    """What a loop asks where its kernel has no answer: the function itself, element by element."""
    dtypes = [dtype.numpy for dtype in (*inputs, *outputs)]
    count = len(dtypes)

    def ask(args: int, n: int, steps: int) -> None:
        places = (ctypes.c_ssize_t * count).from_address(args)
        widths = (ctypes.c_ssize_t * count).from_address(steps)
        for i in range(n):
            at = [_element(places[k] + i * widths[k], dtypes[k]) for k in range(count)]
            results = function(*(cell[()] for cell in at[: len(inputs)]))
            results = (results,) if len(outputs) == 1 else tuple(results)
            for cell, value in zip(at[len(inputs) :], results):
                cell[()] = value

    return ask


def _element(address: int, dtype: np.dtype[Any]) -> Any:
    """The number at an address, as an array without dimensions."""
    memory: Any = (ctypes.c_char * dtype.itemsize).from_address(address)
    return np.frombuffer(memory, dtype).reshape(())


# --- types that come with the calls ---------------------------------------------------------------------------------


class Vectorized:
    """A ufunc whose loops are made as they are needed.  `types` are those that it has; each is an `np.ufunc`."""

    signature = None  # as that of a ufunc of NumPy that is none of matrices

    def __init__(self, function: Callable[..., Any], identity: Any, options: Options) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.nin = len(parameters_of(function))
        self.identity = identity
        self.options = options
        self._loops: dict[tuple[DType, ...], Any] = {}
        self._quick: dict[tuple[Any, ...], Any] = {}  # by dtypes, or classes of what has none
        self._results: dict[tuple[DType, ...], tuple[DType, ...]] = {}
        self._lock = Lock()
        self._known: dict[
            tuple[int, ...], tuple[Any, ...]
        ] = {}  # by the addresses of dtypes and classes, which it keeps
        self._direct = _direct(self.nin, self._known, self._unknown)

    @property
    def types(self) -> list[str]:
        """The loops that exist, as NumPy writes them."""
        return [text for loop in self._loops.values() for text in loop.types]

    @property
    def nout(self) -> int:
        """How many results there are: as many as a loop gives, or a return of the function."""
        if self._loops:
            return int(next(iter(self._loops.values())).nout)
        nodes = ast.walk(load(self.py_func).tree)
        returned = (node.value for node in nodes if isinstance(node, ast.Return))
        return max((len(value.elts) for value in returned if isinstance(value, ast.Tuple)), default=1)

    @property
    def nargs(self) -> int:
        return self.nin + self.nout

    @property
    def ntypes(self) -> int:
        return len(self.types)

    def loop(self, *types: Any) -> Any:
        """The `np.ufunc` for arguments of these types; compiled if there is none yet."""
        key = tuple(map(dtype_of, types))
        found = self._loops.get(key)
        if found is None:
            with self._lock:
                made = compiled_loop(self.py_func, Loop(key), self.options)
                name, doc = self.py_func.__name__, self.py_func.__doc__
                found = self._loops[key] = ufuncs.ufunc([made], name, doc, self.identity)
        return found

    def types_for(self, given: Sequence[Any]) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        """The types of the loop for operands of these dtypes (types, of Python's own numbers), and of its results."""
        strong = [kind for kind in given if not isinstance(kind, type)]
        kinds = [np.result_type(kind(1), *strong) if isinstance(kind, type) else kind for kind in given]
        key = tuple(map(dtype_of, kinds))
        if key not in self._results:
            specs = [ScalarSpec(ScalarType(dtype)) for dtype in key]
            options = Options(parallel=False, fp=self.options.fp, cache=self.options.cache)
            self._results[key] = scalar.result_types(scalar.scalar_kernel(load(self.py_func), specs, options))
        return key, self._results[key]

    def _for(self, values: Sequence[Any], dtype: Any = None) -> Any:
        """The ufunc for these arguments; Python's numbers take the type of the arrays beside them."""
        if dtype is not None:
            return self.loop(*[dtype] * self.nin)
        quick = tuple(getattr(value, "dtype", None) or type(value) for value in values)
        found = self._quick.get(quick)
        if found is None:
            found = self._newly_for(values)
            if not any(kind in (list, tuple) for kind in quick):  # what is in them decides
                self._quick[quick] = found
        return found

    def _newly_for(self, values: Sequence[Any]) -> Any:
        strong = [np.asarray(value).dtype for value in values if not _is_weak(value)]
        key: list[Any] = []
        for value in values:
            of = np.result_type(value, *strong) if _is_weak(value) else np.asarray(value).dtype
            of = of.newbyteorder("=")  # NumPy turns the bytes around
            if from_numpy(of) is None:
                raise TypeError(f"ufunc {self.py_func.__name__!r} is not compiled for arguments of type {of}")
            key.append(of)
        return self.loop(*key)

    def _unknown(self, *args: Any) -> Any:
        """The ufunc for arguments of such dtypes, known from now on."""
        kinds = tuple(value.dtype if type(value) is np.ndarray else type(value) for value in args)
        found = self._for(args)
        if all(map(_tells, kinds, args)):
            self._known[tuple(map(id, kinds))] = (found, kinds)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == self.nin:
            return self._direct(*args)
        if len(args) < self.nin:
            raise TypeError(f"{self.py_func.__name__}() takes {self.nin} arguments, {len(args)} were given")
        asked = kwargs.get("signature", kwargs.get("sig"))
        if asked is not None and not isinstance(asked, str):
            asked = None if None in asked[: self.nin] else [*asked[: self.nin]]
        if asked is not None:
            given = asked.split("->")[0] if isinstance(asked, str) else asked
            return self.loop(*given)(*args, **kwargs)
        return self._for(args[: self.nin], kwargs.get("dtype"))(*args, **kwargs)

    def reduce(self, array: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """As `np.add.reduce`."""
        loop = self._for((array, array), dtype)
        return loop.reduce(array, *args, dtype=dtype or _own_type(loop), **kwargs)

    def accumulate(self, array: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """As `np.add.accumulate`."""
        loop = self._for((array, array), dtype)
        return loop.accumulate(array, *args, dtype=dtype or _own_type(loop), **kwargs)

    def reduceat(self, array: Any, indices: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """As `np.add.reduceat`."""
        loop = self._for((array, array), dtype)
        return loop.reduceat(array, indices, *args, dtype=dtype or _own_type(loop), **kwargs)

    def outer(self, left: Any, right: Any, **kwargs: Any) -> Any:
        """As `np.add.outer`."""
        return self._for((left, right), kwargs.get("dtype")).outer(left, right, **kwargs)

    def at(self, array: Any, indices: Any, *others: Any) -> None:
        """As `np.add.at`."""
        self._for((array, *others)).at(array, indices, *others)

    def __reduce__(self) -> Any:
        return self.__qualname__  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<weft.vectorize {self.py_func.__qualname__}, {len(self._loops)} loops>"


def _direct(count: int, known: dict[tuple[int, ...], tuple[Any, ...]], unknown: Callable[..., Any]) -> Any:
    """What a call by place does: one look for the ufunc of these types, and its call."""
    names = [f"x{at}" for at in range(count)]
    given = ", ".join(names)
    kinds = "".join(f"id({name}.dtype if type({name}) is ndarray else type({name})), " for name in names)
    text = f"""
def direct({given}):
    found = known(({kinds}))
    return (unknown({given}) if found is None else found[0])({given})
"""
    space: dict[str, Any] = {"known": known.get, "unknown": unknown, "ndarray": np.ndarray}
    exec(compile(text, __file__, "exec"), space)
    return space["direct"]


def _tells(kind: Any, value: Any) -> bool:
    """Whether the dtype of an array, or the class of anything else, says all of the type."""
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return isinstance(kind, np.dtype) or kind in (bool, float, complex) or issubclass(kind, (np.number, np.bool_))


def _own_type(loop: Any) -> str | None:
    """The type that a loop reduces in: NumPy would take a wider one for small integers, if it is called "add"."""
    types = loop.types[0]
    return types[-1] if set(types) == {*types[-1:], "-", ">"} else None


def _is_weak(value: Any) -> bool:
    return type(value) in (int, float, complex)
