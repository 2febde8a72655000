"""`numba.vectorize` and `numba.guvectorize`.  In: a function of numbers, or of rows, and signatures; out: an object
that is called with arrays of any shapes that broadcast.

Where weft has a ufunc of its own for the signatures (`weft.vectorize`) that is used.  Else the loop over the elements
is a small Python function around the given one, compiled like any other.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft
from weft import api
from weft.compat.notes import noted
from weft.compat.numba.core.errors import TypingError
from weft.compat.numba.decorators import weft_options
from weft.compat.numba.types import Array, Signature, Type, parsed
from weft.errors import WeftError, attach_source

_numbers = itertools.count()


def _made(text: str, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The function of a text that calls `f`, compiled."""
    file = f"<numba.vectorize {next(_numbers)}>"
    attach_source(file, text)
    space: dict[str, Any] = {"f": function, "np": np, "__name__": "numba.loop"}
    exec(compile(text, file, "exec"), space)
    return api.jit(space["loop"], **options)


def _listed(given: Any) -> list[Signature]:
    several = given if isinstance(given, (list, tuple)) else [given]
    return [parsed(one) for one in several]


def _check_target(options: dict[str, Any]) -> None:
    if options.get("target") in ("cuda", "roc"):
        raise ValueError(f"target={options['target']!r}: weft's ufuncs run on the CPU; leave the target out")


# --- vectorize ------------------------------------------------------------------------------------------------------


class DUFunc:
    """A function of numbers that takes arrays; the types of its results are those of a signature, or of the values."""

    __name__: str

    def __init__(self, function: Callable[..., Any], signatures: Sequence[Signature], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.signatures = list(signatures)
        self.nin, self.nout = len(inspect.signature(function).parameters), 1
        self.nargs = self.nin + self.nout
        self._function, self._options = function, options
        wrong = next((one for one in self.signatures if len(one.args) != self.nin), None)
        if wrong is not None:
            raise TypingError(f"{self.__name__}() has {self.nin} parameters, the signature {wrong!r} {len(wrong.args)}")

    @property
    def types(self) -> list[str]:
        """As of a ufunc of NumPy: "dd->d"."""
        return ["".join(t.dtype.char for t in s.args) + "->" + s.return_type.dtype.char for s in self.signatures]

    @functools.cached_property
    def _typed(self) -> Any:
        given = [f"x{k}" for k in range(self.nin)]
        call = ", ".join(f"{name}[i]" for name in given)
        text = f"def loop(out, {', '.join(given)}):\n    for i in range(out.shape[0]):\n        out[i] = f({call})\n"
        return _made(text, self._function, self._options)

    @functools.cached_property
    def _open(self) -> Any:
        given = [f"x{k}" for k in range(self.nin)]
        call = ", ".join(f"{name}[i]" for name in given)
        text = f"def loop({', '.join(given)}):\n    return np.array([f({call}) for i in range(x0.shape[0])])\n"
        return _made(text, self._function, self._options)

    def _chosen(self, arrays: Sequence[Any]) -> Signature | None:
        """The first signature to whose types the arguments can be cast; None if there are no signatures."""
        for rule in ("safe", "same_kind"):
            for one in self.signatures:
                if all(_fits(value, kind.dtype, rule) for value, kind in zip(arrays, one.args)):
                    return one
        if self.signatures:
            kinds = ", ".join(str(np.asarray(value).dtype) for value in arrays)
            raise TypeError(f"ufunc {self.__name__!r} has no loop for ({kinds}): there are {self.types}")
        return None

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if len(args) == self.nargs and out is None:
            *args, out = args  # type: ignore[assignment]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arguments, {len(args)} were given")
        out = out[0] if isinstance(out, tuple) else out
        signature = self._chosen(args)
        kinds = [None] * self.nin if signature is None else [kind.dtype for kind in signature.args]
        arrays = [np.asarray(value, kind) for value, kind in zip(args, kinds)]
        spread = np.broadcast_arrays(*arrays)
        shape = spread[0].shape
        flat = [np.ascontiguousarray(one).reshape(-1) for one in spread]
        if signature is not None:
            found = np.empty(flat[0].size, signature.return_type.dtype)
            self._typed(found, *flat)
        elif flat[0].size:
            found = self._open(*flat)
        else:
            found = np.empty(0, np.result_type(*flat))
        found = found.reshape(shape)
        if out is not None:
            np.copyto(out, found, casting="same_kind")
            return out
        return found if found.ndim else found[()]

    def _element(self) -> Any:
        return np.frompyfunc(self._function, self.nin, 1)

    def reduce(self, array: Any, axis: Any = 0, **keys: Any) -> Any:
        """As np.add.reduce, by the function, element by element."""
        return _numeric(self._element().reduce(np.asarray(array, object), axis=axis, **keys), self)

    def accumulate(self, array: Any, axis: int = 0) -> Any:
        """As np.add.accumulate."""
        return _numeric(self._element().accumulate(np.asarray(array, object), axis=axis), self)

    def outer(self, one: Any, other: Any) -> Any:
        """As np.add.outer."""
        one, other = np.asarray(one), np.asarray(other)
        return self(one.reshape(*one.shape, *(1,) * other.ndim), other)

    def __repr__(self) -> str:
        return f"<numba.vectorize {self.__name__}>"


def _fits(value: Any, dtype: np.dtype[Any], rule: Any) -> bool:
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return bool(np.can_cast(np.result_type(value, dtype), dtype, rule))
    return bool(np.can_cast(np.asarray(value).dtype, dtype, rule))


def _numeric(found: Any, ufunc: DUFunc) -> Any:
    """Numbers out of what np.frompyfunc gives: of the type of the first signature, or of the values."""
    if ufunc.signatures:
        return np.asarray(found).astype(ufunc.signatures[0].return_type.dtype)[()]
    return np.array(np.asarray(found).tolist())[()]


def vectorize(signatures: Any = None, /, **options: Any) -> Any:
    """`@numba.vectorize`, or with signatures `@numba.vectorize(["float64(float64, float64)"])`."""
    _check_target(options)
    identity = options.get("identity")
    chosen = weft_options({name: value for name, value in options.items() if name not in ("identity", "target")})
    chosen["parallel"] = chosen["parallel"] or options.get("target") == "parallel"
    function = signatures if inspect.isfunction(signatures) or hasattr(signatures, "py_func") else None
    if isinstance(function, Type):
        function = None
    asked = [] if function is not None or signatures is None else _listed(signatures)

    def decorate(target: Any) -> Any:
        plain = getattr(target, "py_func", target)
        own = _of_weft(plain, asked, identity, chosen) if asked else None
        return DUFunc(plain, asked, chosen) if own is None else own

    return decorate(function) if function is not None else decorate


def _of_weft(function: Any, signatures: Sequence[Signature], identity: Any, options: dict[str, Any]) -> Any:
    """The ufunc that weft itself makes for these signatures; None where it has none."""
    make = getattr(weft, "vectorize", None)
    if make is None or any(not hasattr(one.return_type, "dtype") for one in signatures):
        return None
    texts = [f"{one.return_type!r}({', '.join(map(repr, one.args))})" for one in signatures]
    try:
        return make(texts, identity=identity, **options)(function)
    except (WeftError, TypeError, ValueError) as problem:
        why = str(problem).splitlines()[0]
        noted(f"vectorize of {function.__name__}", f"a loop over the elements, no ufunc ({why})")
        return None


# --- guvectorize ----------------------------------------------------------------------------------------------------


class GUFunc:
    """A function of rows that takes arrays of them: `layout` is "(n),()->(n)"."""

    __name__: str

    def __init__(
        self, function: Callable[..., Any], signatures: Sequence[Signature], layout: str, options: dict[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.signature, self.signatures = layout, list(signatures)
        self._inputs, self._outputs = _layout(layout)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        self._function, self._options = function, options
        self._loops: dict[tuple[bool, ...], Any] = {}
        count = len(inspect.signature(function).parameters)
        if count != self.nargs:
            raise ValueError(f"{function.__name__}() has {count} parameters, {layout!r} {self.nargs}")

    def _loop(self, numbers: Sequence[bool], rows: Sequence[bool]) -> Any:
        """The loop over all rows; `numbers`: which operands without dimensions of their own are passed as numbers;
        `rows`: which operands have a row for each iteration, the others being the same in all.
        """
        key = (*numbers, *rows)
        if key not in self._loops:
            names = [f"x{k}" for k in range(self.nargs)]
            parts = []
            for name, core, number, row in zip(names, (*self._inputs, *self._outputs), numbers, rows):
                at = "i" if row else "0"
                parts.append(f"{name}[{at}]" if core or number else f"{name}[{at}:{at} + 1]")
            text = f"def loop(n, {', '.join(names)}):\n    for i in range(n):\n        f({', '.join(parts)})\n"
            self._loops[key] = _made(text, self._function, self._options)
        return self._loops[key]

    def _chosen(self, args: Sequence[Any]) -> Signature | None:
        for rule in ("safe", "same_kind"):
            for one in self.signatures:
                if all(_fits(value, _element(kind).dtype, rule) for value, kind in zip(args, one.args)):
                    return one
        if self.signatures:
            raise TypeError(f"ufunc {self.__name__!r} has no loop for these arguments: there are {self.signatures}")
        return None

    def __call__(self, *args: Any, out: Any = None) -> Any:
        given, made = list(args[: self.nin]), list(args[self.nin :])
        if out is not None:
            made = list(out) if isinstance(out, tuple) else [out]
        if len(given) != self.nin or len(made) not in (0, self.nout):
            wanted = f"{self.nin} inputs and {self.nout} outputs"
            raise TypeError(f"{self.__name__}() takes {wanted}, {len(args)} arguments were given")
        signature = self._chosen(given)
        if signature is None and not made:
            raise TypeError(f"{self.__name__}() has no signature: pass the output as an argument, as in Numba")
        kinds = None if signature is None else [_element(kind).dtype for kind in signature.args]
        arrays = [np.asarray(v, None if kinds is None else kinds[k]) for k, v in enumerate(given)]
        sizes = _sizes(self.__name__, arrays, self._inputs, made, self._outputs)
        outer = [a.shape[: a.ndim - len(core)] for a, core in zip(arrays, self._inputs)]
        outer += [m.shape[: m.ndim - len(core)] for m, core in zip(made, self._outputs)]
        shape = np.broadcast_shapes(*outer)
        count = int(np.prod(shape, dtype=np.int64))
        rows = [_rows(a, shape, core) for a, core in zip(arrays, self._inputs)]
        results = []
        for k, core in enumerate(self._outputs):
            dtype = made[k].dtype if kinds is None else kinds[self.nin + k]
            fresh = np.zeros((*shape, *(sizes[d] for d in core)), dtype)
            if made:
                fresh[...] = made[k]
            results.append(fresh)
        flat = [r.reshape(count, *r.shape[len(shape) :]) for r in results]
        spread = [one.shape[0] == count for one in (*rows, *flat)]
        if count:
            self._loop(self._numbers(signature), spread)(count, *rows, *flat)
        for target, fresh in zip(made, results):
            target[...] = fresh
        if not self.nout:  # the function writes its inputs
            for target, row in zip(given, rows):
                if isinstance(target, np.ndarray) and target.flags.writeable and target.shape[: len(shape)] == shape:
                    target[...] = row.reshape(target.shape)
            return None
        found = made or [r if r.ndim else r[()] for r in results]
        return found[0] if self.nout == 1 else tuple(found)

    def _numbers(self, signature: Signature | None) -> tuple[bool, ...]:
        if signature is None:
            return (*(True for _ in self._inputs), *(False for _ in self._outputs))
        numbers = [not isinstance(kind, Array) for kind in signature.args[: self.nin]]
        return (*numbers, *(False for _ in self._outputs))

    def __repr__(self) -> str:
        return f"<numba.guvectorize {self.__name__} {self.signature}>"


def _element(kind: Any) -> Any:
    return kind.dtype if isinstance(kind, Array) else kind


def _layout(text: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """"(n),()->(n)": the dimensions of each input and output."""
    bare = re.sub(r"\s", "", text)
    group = r"\((?:\w+(?:,\w+)*)?\)"
    some = rf"(?:{group}(?:,{group})*)?"
    if not re.fullmatch(rf"{some}(?:->{some})?", bare):
        raise ValueError(f"{text!r} is no layout: write one such as '(n),()->(n)'")
    left, _, right = bare.partition("->")
    inputs, outputs = (
        [tuple(filter(None, names.split(","))) for names in re.findall(r"\(([^)]*)\)", side)] for side in (left, right)
    )
    return inputs, outputs


def _sizes(name: str, arrays: Any, inputs: Any, made: Any, outputs: Any) -> dict[str, int]:
    """How long each dimension of the layout is; ValueError where two operands differ, or nothing tells."""
    sizes: dict[str, int] = {}
    for array, core in (*zip(arrays, inputs), *zip(made, outputs)):
        if array.ndim < len(core):
            raise ValueError(f"{name}: an operand has {array.ndim} dimensions, its part of the layout has {len(core)}")
        for dim, size in zip(core, array.shape[array.ndim - len(core) :]):
            size = int(dim) if dim.isdigit() and int(dim) != size else size
            if sizes.setdefault(dim, size) != size:
                raise ValueError(f"{name}: the dimension {dim} is {sizes[dim]} in one operand and {size} in another")
    unknown = [dim for core in outputs for dim in core if dim not in sizes]
    if unknown:
        raise ValueError(f"{name}: the dimension {unknown[0]} of the output is in no input: pass the output as well")
    return sizes


def _rows(array: Any, shape: tuple[int, ...], core: tuple[str, ...]) -> Any:
    """An input with all its outer dimensions as one, of length 1 if all rows of the call have the same."""
    inner = array.shape[array.ndim - len(core) :]
    if all(size == 1 for size in array.shape[: array.ndim - len(core)]):
        return array.reshape(1, *inner)
    full = (*shape, *inner)
    spread = np.ascontiguousarray(array) if array.shape == full else np.broadcast_to(array, full).copy()
    return spread.reshape(int(np.prod(shape, dtype=np.int64)), *inner)


def guvectorize(signatures: Any, layout: str | None = None, /, **options: Any) -> Any:
    """`@numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")`; the signatures may be left out."""
    _check_target(options)
    chosen = weft_options({name: value for name, value in options.items() if name not in ("identity", "target")})
    chosen["parallel"] = chosen["parallel"] or options.get("target") == "parallel"
    text = signatures if layout is None else layout
    asked = [] if layout is None else _listed(signatures)

    def decorate(target: Any) -> GUFunc:
        return GUFunc(getattr(target, "py_func", target), asked, text, chosen)

    return decorate
