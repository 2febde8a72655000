"""Library routines that a `Library` node may name.  In: the name of a routine and the types of its operands; out: where
NumPy keeps it, the core dimensions of each operand, and whether it can fail.

NumPy's generalised ufuncs do the work: they are LAPACK and pocketfft behind one calling convention that takes any
strides and needs no interpreter, so results are NumPy's own, bit for bit.  Its sorts are called the same way
(`runtime.routines` finds them), one line at a time.  `find` answers whether this NumPy has the routine in the form
described here; where it has not, the call stays a call from Python.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from weft.ir.types import DType
from weft.records import dataclass

_LINALG, _FFT, _ORDER = "numpy.linalg._umath_linalg", "numpy.fft._pocketfft_umath", "numpy"
#: Functions of a host, called by the address that is the first operand; the back end calls them itself.
CALLBACK = "callback"
MOST_ARGUMENTS = 4
#: Messages between ranks; each kind is a routine of its own, made when a program sends one.
MESSAGES = "weft.cluster.comm_native"
_LETTERS: dict[DType, str] = {dtype: dtype.numpy.char for dtype in DType}
#: The sorts of NumPy, as its `kind` calls them (what it does for "heapsort" has changed from version to version).
SORTS = ("quicksort", "stable")


@dataclass(frozen=True)
class Routine:
    """A generalised ufunc: `signature` as NumPy writes it, `loops` the element types it is used with.

    `fails`: an invalid floating-point operation is how it says that it did not succeed.  `overwrites`: positions of
    inputs whose contents it changes.
    """

    name: str
    module: str
    signature: str
    loops: tuple[str, ...]
    fails: bool = True
    overwrites: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """The core dimensions of each input, by name."""
        return _cores(self.signature.split("->")[0])

    @property
    def outputs(self) -> tuple[tuple[str, ...], ...]:
        return _cores(self.signature.split("->")[1])

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of all core dimensions in the order in which a loop is told their extents."""
        return tuple(dict.fromkeys(name for core in (*self.inputs, *self.outputs) for name in core))

    @property
    def library(self) -> str:
        """What people call the library behind it."""
        known = {_LINALG: "LAPACK", _FFT: "pocketfft", _ORDER: "NumPy's sort", CALLBACK: "the host", MESSAGES: "MPI"}
        return known.get(self.module, self.module)

    @property
    def threads(self) -> bool:
        """Whether the library shares the work of a call among threads of its own."""
        return self.module == _LINALG

    def address(self, types: str) -> str:
        """How a kernel asks the run time for the routine."""
        return f"{self.module}:{self.name}:{types}"


def _cores(text: str) -> tuple[tuple[str, ...], ...]:
    """(m,n),() --> ("m", "n"), ()"""
    return tuple(tuple(core.split(",")) if core else () for core in text[1:-1].split("),("))


def _linalg(name: str, signature: str, *loops: str, fails: bool = True, overwrites: tuple[int, ...] = ()) -> Routine:
    return Routine(name, _LINALG, signature, loops, fails, overwrites)


def _ordering() -> list[Routine]:
    """sort_quicksort, argsort_stable, ...: a line in order, or the places of its items in order."""
    places = _LETTERS[DType.I64]
    loops = {
        "sort": tuple(f"{letter}->{letter}" for letter in _LETTERS.values()),
        "argsort": tuple(f"{letter}->{places}" for letter in _LETTERS.values()),
    }
    return [
        Routine(f"{what}_{kind}", _ORDER, "(n)->(n)", loops[what], fails=False) for what in loops for kind in SORTS
    ]


def _callback(count: int) -> Routine:
    """A function of so many floats: its address, and its arguments."""
    places = _LETTERS[DType.I64]
    return Routine(
        f"callback_{count}", CALLBACK, "()," * count + "()->()", (f"{places}{'d' * count}->d",), fails=False
    )


_SQUARE = "(m,m)->(m,m)"

ROUTINES: dict[str, Routine] = {
    routine.name: routine
    for routine in (
        _linalg("cholesky_lo", _SQUARE, "d->d", "D->D"),
        _linalg("cholesky_up", _SQUARE, "d->d", "D->D"),
        _linalg("inv", _SQUARE, "d->d", "D->D"),
        _linalg("solve", "(m,m),(m,n)->(m,n)", "dd->d", "DD->D"),
        _linalg("solve1", "(m,m),(m)->(m)", "dd->d", "DD->D"),
        _linalg("det", "(m,m)->()", "d->d", "D->D", fails=False),
        _linalg("slogdet", "(m,m)->(),()", "d->dd", "D->Dd", fails=False),
        _linalg("eigh_lo", "(m,m)->(m),(m,m)", "d->dd", "D->dD"),
        _linalg("eigh_up", "(m,m)->(m),(m,m)", "d->dd", "D->dD"),
        _linalg("eigvalsh_lo", "(m,m)->(m)", "d->d", "D->d"),
        _linalg("eigvalsh_up", "(m,m)->(m)", "d->d", "D->d"),
        _linalg("eig", "(m,m)->(m),(m,m)", "d->DD", "D->DD"),
        _linalg("eigvals", "(m,m)->(m)", "d->D", "D->D"),
        _linalg("svd", "(m,n)->(p)", "d->d", "D->d"),
        _linalg("svd_f", "(m,n)->(m,m),(p),(n,n)", "d->ddd", "D->DdD"),
        _linalg("svd_s", "(m,n)->(m,p),(p),(p,n)", "d->ddd", "D->DdD"),
        _linalg("qr_r_raw", "(m,n)->(p)", "d->d", "D->D", overwrites=(0,)),
        _linalg("qr_reduced", "(m,n),(k)->(m,k)", "dd->d", "DD->D"),
        _linalg("qr_complete", "(m,n),(n)->(m,m)", "dd->d", "DD->D"),
        _linalg("lstsq", "(m,n),(m,nrhs),()->(n,nrhs),(nrhs),(),(p)", "ddd->ddid", "DDd->Ddid"),
        Routine("fft", _FFT, "(n),()->(m)", ("Dd->D", "Ff->F"), fails=False),
        Routine("ifft", _FFT, "(m),()->(n)", ("Dd->D", "Ff->F"), fails=False),
        Routine("rfft_n_even", _FFT, "(n),()->(m)", ("dd->D", "ff->F"), fails=False),
        Routine("rfft_n_odd", _FFT, "(n),()->(m)", ("dd->D", "ff->F"), fails=False),
        Routine("irfft", _FFT, "(m),()->(n)", ("Dd->d", "Ff->f"), fails=False),
        *_ordering(),
        *(_callback(count) for count in range(1, MOST_ARGUMENTS + 1)),
    )
}


def types_of(inputs: Sequence[DType], outputs: Sequence[DType]) -> str:
    """The loop for operands of these types, as NumPy writes it: dd->d."""
    first, second = ("".join(_LETTERS[dtype] for dtype in side) for side in (inputs, outputs))
    return f"{first}->{second}"


def dtypes_of(types: str) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    """The inverse of `types_of`: the element types of the inputs and of the outputs."""
    by_letter = {letter: dtype for dtype, letter in _LETTERS.items()}
    first, second = types.split("->")
    return tuple(by_letter[c] for c in first), tuple(by_letter[c] for c in second)


@cache
def find(name: str) -> Any:
    """The generalised ufunc of a routine; None if this NumPy has none of that signature and those loops."""
    routine = ROUTINES[name]
    if routine.module == CALLBACK:
        return _calling
    if routine.module == MESSAGES:
        return importlib.import_module(MESSAGES).called(name)
    if routine.module == _ORDER:
        what, _, kind = name.partition("_")
        return _filling(getattr(np, what), kind)
    try:
        found = getattr(importlib.import_module(routine.module), routine.name, None)
    except ImportError:
        return None
    if not isinstance(found, np.ufunc) or found.signature is None:
        return None
    same = found.signature.replace(" ", "") == routine.signature and set(routine.loops) <= set(found.types)
    return found if same else None


def _filling(function: Any, kind: str) -> Any:
    """np.sort or np.argsort, called as a generalised ufunc is."""

    def fill(line: Any, *, out: tuple[Any], signature: str) -> None:
        out[0][...] = function(line, axis=-1, kind=kind)

    return fill


def _calling(address: Any, *arguments: Any, out: tuple[Any], signature: str) -> None:
    """Functions of a host, called as a generalised ufunc is."""
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(arguments))
    for place in np.ndindex(out[0].shape):
        out[0][place] = kind(int(np.broadcast_to(address, out[0].shape)[place]))(
            *(float(np.broadcast_to(argument, out[0].shape)[place]) for argument in arguments)
        )


def run_routine(name: str, types: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Call a routine through NumPy: batch axes first, then core axes; outputs are filled.  Whether it succeeded."""
    routine, failures = ROUTINES[name], []

    def note(kind: str, flag: int) -> None:
        failures.append(kind)

    invalid: Any = "call" if routine.fails else "ignore"
    with np.errstate(call=note, invalid=invalid, over="ignore", divide="ignore", under="ignore"):
        find(name)(*inputs, out=tuple(outputs), signature=types)
    return not failures
