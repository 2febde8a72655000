"""Which functions of NumPy the run time computes by itself.  In: a call, and the type of its result; out: the route in
C, and the loop of a ufunc that it uses.

A route takes what suits it when the call runs (native/routes.c): types are known here, layouts are not.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from weft.plain.foreign import LOOPS
from weft.plain.frame import Value
from weft.plain.types import Head

_LETTERS: Final = {"float64": "d", "float32": "f"}
#: Folds of a whole array, or along an axis of a matrix: the route, and the ufunc whose loop it uses.
_FOLDS: Final = {
    "sum": ("SUM", "add"),
    "prod": ("PRODUCT", "multiply"),
    "min": ("EXTREME", "minimum"),
    "max": ("EXTREME", "maximum"),
    "amin": ("EXTREME", "minimum"),
    "amax": ("EXTREME", "maximum"),
    "mean": ("MEAN", "add"),
}
#: The same for whole arrays only.
_OF_ALL: Final = {"var": ("VARIANCE", "add"), "std": ("DEVIATION", "add"), "norm": ("NORM", "matmul")}
_PRODUCTS: Final = ("dot", "matmul")
#: Routes without a loop of NumPy, and how many arguments they take.
_MOVES: Final = {
    "cumsum": ("RUNNING_SUM", 1),
    "where": ("WHERE", 3),
    "getitem": ("GATHER", 2),
    "searchsorted": ("SEARCH_LEFT", 2),
    "concatenate": ("JOINED", 1),
    "hstack": ("JOINED", 1),
    "vstack": ("ROWS", 1),
    "stack": ("ROWS", 1),
    "array": ("ROWS", 1),
    "sort": ("SORT", 1),
    "argsort": ("ARGSORT", 1),
    "unique": ("UNIQUE", 1),
    "median": ("MEDIAN", 1),
    "bincount": ("BINCOUNT", 1),
    "diff": ("DIFF", 1),
    "outer": ("OUTER", 2),
}
#: Names of operators that are those of ufuncs.
_OPERATORS: Final = {"abs": "absolute", "truediv": "divide", "add": "add", "mul": "multiply", "sub": "subtract"}
_ONLY_AXIS: Final[tuple[list[str], ...]] = (["axis"], [])


class Route(NamedTuple):
    name: str
    place: int


def route_for(callee: Any, arguments: list[Value], keywords: dict[str, Value], result: Head | None) -> Route | None:
    """The route of a call; None if Python's NumPy runs it."""
    if result is None or not _is_numpys(callee):
        return None
    dtype = result.key[1] if result.kind == "ndarray" else result.kind.removeprefix("np.")
    letter = _LETTERS.get(dtype)
    name, count = callee.__name__.strip("_"), len(arguments)
    moved = _moved(name, arguments, keywords)
    if moved is not None:
        return Route(moved, 0)
    if letter is None:
        return None
    if name in _FOLDS and count + len(keywords) <= 2 and list(keywords) in _ONLY_AXIS:
        return _by_loop(*_FOLDS[name], 2, letter)
    if keywords:
        return None
    if name in _OF_ALL and count == 1:
        return _by_loop(*_OF_ALL[name], 2, letter)
    if name in _PRODUCTS and count == 2:
        return _by_loop("MATMUL", "matmul", 2, letter)
    if result.kind != "ndarray":
        return None
    if name in ("pow", "power") and count == 2:
        return _by_loop("POWER" if name == "pow" else "EACH", "power", 2, letter)
    if name in ("round", "around") and count == 1:
        return _by_loop("EACH", "rint", 1, letter)
    return _by_loop("EACH", _OPERATORS.get(name, name), count, letter)


def _is_numpys(callee: Any) -> bool:
    """Whether it is a function, ufunc or method of NumPy, or an operator: no other callable is known by its name."""
    import operator

    import numpy as np

    name = getattr(callee, "__name__", "")
    homes = (np, np.ndarray, np.linalg, operator)
    return any(vars(home).get(name) is callee for home in homes)


def _moved(name: str, arguments: list[Value], keywords: dict[str, Value]) -> str | None:
    found = _MOVES.get(name)
    if found is None or len(arguments) != found[1]:
        return None
    if name == "searchsorted" and list(keywords) == ["side"]:
        return {"left": "SEARCH_LEFT", "right": "SEARCH_RIGHT"}.get(keywords["side"].text or "")
    return None if keywords else found[0]


def _by_loop(route: str, name: str, count: int, letter: str) -> Route | None:
    place = LOOPS.get((name, f"{letter * count}->{letter}"))
    return None if place is None else Route(route, place)
