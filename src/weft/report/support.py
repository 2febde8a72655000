"""What of NumPy and Python is native, and with which arguments.  In: the entries of the knowledge base and the public
functions of the libraries; out: one `Row` a function, and the table of all of them as text or as a Markdown page.
"""

from __future__ import annotations

import builtins
import cmath
import difflib
import importlib
import inspect
import math
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from weft.frontend import knowledge
from weft.frontend.knowledge import ALL_KINDS, ARRAYS, COMMON_LIMITS, Entry
from weft.records import dataclass

Path = Literal["native", "library", "Python"]

#: Where functions live, as the user writes it; the first home that has an object gives it its name.
HOMES: dict[str, Any] = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "ndarray": np.ndarray,
    "math": math,
    "cmath": cmath,
    "": builtins,
}
_HEADINGS = {
    "np": "NumPy",
    "ufunc": "Methods of ufuncs",
    "np.linalg": "np.linalg",
    "np.fft": "np.fft",
    "np.lib.stride_tricks": "np.lib.stride_tricks",
    "ndarray": "Methods of arrays",
    "number": "Methods of numbers",
    "attributes": "Attributes of arrays",
    "math": "math",
    "cmath": "cmath",
    "": "Builtins",
}
_KINDS = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex"}
#: Arguments that only choose another implementation or another kind of object; they are shown last.
_MINOR = ("casting", "order", "subok", "signature", "device", "like", "ndmax", "axes")
ATTRIBUTES = ("T", "dtype", "imag", "itemsize", "mT", "nbytes", "ndim", "real", "shape", "size")


@dataclass(frozen=True)
class Row:
    """One function: where its calls go, which of its arguments are covered, and which send the call to Python."""

    name: str
    family: str
    path: Path
    covered: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    dtypes: str = ""
    notes: tuple[str, ...] = ()
    alias_of: str = ""


# --- names ----------------------------------------------------------------------------------------------------------


def title(entry: Entry) -> str:
    """The name of an entry as the user writes it: np.sum, ndarray.sum, np.add.reduce, math.exp, abs."""
    if entry.is_method:
        return f"ndarray.{entry.name}" if hasattr(np.ndarray, entry.name) else f"number.{entry.name}"
    target = entry.target
    owner = getattr(target, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{target.__name__}"
    name = str(getattr(target, "__name__", entry.name))
    for home, module in HOMES.items():
        if home != "ndarray" and vars(module).get(name) is target:  # getattr warns of names that NumPy has given up
            return f"{home}.{name}" if home else name
    module = str(getattr(target, "__module__", "") or "")
    public = ".".join(part for part in module.split(".") if not part.startswith("_")) or module.lstrip("_")
    return f"{public}.{name}" if public else name


def family_of(name: str) -> str:
    """The part of the table that a name stands in: its module."""
    home = name.rpartition(".")[0]
    return "ufunc" if home.startswith("np.") and home not in HOMES else home


# --- rows -----------------------------------------------------------------------------------------------------------


def _row(entry: Entry, name: str, alias_of: str = "") -> Row:
    coverage = entry.coverage
    own = entry.parameters[1:] if entry.is_method else entry.parameters
    real = knowledge.signature(entry)
    uncovered: list[str] = []
    for place in real or ():
        variadic = place.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if variadic or place.name == "self" or entry.accepts(place.name):
            continue
        uncovered.append(place.name)
    uncovered.sort(key=lambda one: one in _MINOR)
    notes = [_limit(parameter, values) for parameter, values in coverage.only]
    if coverage.ranks is not None:
        ranks = "arrays, not numbers" if coverage.ranks == ARRAYS else f"rank {_listed(map(str, coverage.ranks))}"
        notes.insert(0, ranks)
    if coverage.borrows:
        notes.append("a view that is read at once: kept, it is NumPy's")
    if coverage.note:
        notes.append(coverage.note)
    dtypes = "all" if coverage.kinds == ALL_KINDS else ", ".join(_KINDS[kind] for kind in coverage.kinds)
    return Row(name, family_of(name), coverage.category, own, tuple(uncovered), dtypes, tuple(notes), alias_of)


def _limit(parameter: str, values: tuple[str, ...] | str) -> str:
    return f"{parameter}: {values if isinstance(values, str) else _listed(values)}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _public(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a module that are meant for its users."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(set(names)):
        thing = getattr(module, name, None)
        kinds = (np.ufunc, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
        if isinstance(thing, kinds) or type(thing).__name__ == "_ArrayFunctionDispatcher":
            yield name, thing


def is_registered(entry: Entry) -> bool:
    """Whether an entry was made at run time, by `weft.register` (also for SciPy) or for a ufunc of `weft.vectorize`:
    which there are depends on what is loaded."""
    home = str(getattr(entry.target, "__module__", "") or "")
    maker = str(getattr(entry.build, "__module__", ""))
    made = maker.endswith(".registering") or maker.startswith("weft.callbacks.")
    return made or home.startswith(("scipy.special", "scipy.signal", "scipy.linalg"))


def rows() -> list[Row]:
    """The whole table: every entry under each of its names, and every public function without one."""
    found: dict[str, Row] = {}
    for entry in knowledge.entries():
        if is_registered(entry):
            continue
        name = title(entry)
        found[name] = _row(entry, name)
    for home, module in HOMES.items():
        for name, thing in _public(module):
            full = f"{home}.{name}" if home else name
            if full in found:
                continue
            known = knowledge.method(name) if home == "ndarray" else knowledge.lookup(thing)
            found[full] = _row(known, full, title(known)) if known is not None else Row(full, home, "Python")
    for name in ATTRIBUTES:
        found[f"ndarray.{name}"] = Row(f"ndarray.{name}", "attributes", "native")
    for name in sorted(set(dir(np.ndarray)) - set(ATTRIBUTES)):
        if not name.startswith("_") and not callable(getattr(np.ndarray, name)):
            found[f"ndarray.{name}"] = Row(f"ndarray.{name}", "attributes", "Python")
    return sorted(found.values(), key=lambda row: row.name)


def families(table: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows by family, the families in the order in which they are shown."""
    grouped: dict[str, list[Row]] = {family: [] for family in _HEADINGS}
    for row in table:
        grouped.setdefault(row.family, []).append(row)
    return {family: members for family, members in grouped.items() if members}


def heading(family: str) -> str:
    return _HEADINGS.get(family, family)


# --- one name -------------------------------------------------------------------------------------------------------


def find(name: str, table: list[Row]) -> list[Row]:
    """The rows that a user may mean: np.add, numpy.add, add, ndarray.sum, math.exp."""
    wanted = name.strip().removesuffix("()")
    for long, short in (("numpy.", "np."), ("np.ndarray.", "ndarray."), ("builtins.", "")):
        if wanted.startswith(long):
            wanted = short + wanted.removeprefix(long)
    rows = [row for row in table if row.name == wanted or row.name.endswith("." + wanted)]
    return rows or _elsewhere(wanted)


def _elsewhere(name: str) -> list[Row]:
    """A function of NumPy or SciPy that stands in no table (np.random.default_rng, scipy.special.erf): a black box."""
    module, *parts = ("numpy." + name.removeprefix("np.") if name.startswith("np.") else name).split(".")
    if module not in ("numpy", "scipy") or not parts:
        return []
    path = module
    try:
        found: Any = importlib.import_module(module)
        for part in parts:
            path += "." + part
            if not hasattr(found, part):
                importlib.import_module(path)
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return []
    return [Row(name, name.rpartition(".")[0], "Python")] if callable(found) else []


def suggestions(name: str, table: list[Row]) -> list[str]:
    """Names close to one that is unknown."""
    of_numpy = [row for row in table if row.name.startswith("np.")]
    short = {row.name.rpartition(".")[2]: row.name for row in [*reversed(table), *reversed(of_numpy)]}
    close = difflib.get_close_matches(name.rpartition(".")[2], short, n=4, cutoff=0.6)
    return [short[one] for one in close]


def details(row: Row) -> list[str]:
    """A row in words, one fact a line."""
    if row.path == "Python":
        library = "SciPy" if row.family.startswith("scipy") else "NumPy"
        where = "runs in Python" if row.family in ("", "math", "cmath") else f"runs through {library} in place"
        return [f"{row.name}: {where}; the rest of the function stays native"]
    lines = [f"{row.name}: {row.path}" + (f" (the same as {row.alias_of})" if row.alias_of else "")]
    if row.covered:
        lines.append(f"arguments   {', '.join(row.covered)}")
    if row.uncovered:
        lines.append(f"in Python   with {', '.join(row.uncovered)}")
    if row.dtypes:
        lines.append(f"dtypes      {row.dtypes}")
    lines += [f"limits      {note}" for note in row.notes]
    return lines


# --- the page -------------------------------------------------------------------------------------------------------

_PAGE_HEAD = """# What is native

<!-- written by pytest tests/unit/test_docs.py --update-golden: the same table as `weft support` -->

**native**: compiled into the function. **library**: compiled into a call of BLAS, LAPACK or the FFT library that is
already loaded. **Python**: the interpreter runs it in place; the rest of the function stays native. An
argument that is not covered is never ignored: Python runs that call. `weft support NAME` prints a row.

float16, longdouble, strings, dates and objects run in Python everywhere, and so does what NumPy computes in float16
(`np.sin` of int8); "all" means bool, int8 to int64, uint8 to uint64, float32, float64, complex64 and complex128, as far
as NumPy itself takes them. Numbers count as arrays of rank 0, without an `axis`; what would return an array of
rank 0 stays Python (add `[()]`), an argument of rank 0 is read and written natively.

Limits that hold wherever nothing else is said:

| argument | covered |
|---|---|
"""


def page() -> str:
    """docs/support.md."""
    parts = [_PAGE_HEAD, *(f"| `{name}` | {words} |\n" for name, words in COMMON_LIMITS.items())]
    for family, members in families(rows()).items():
        parts.append(f"\n## {heading(family)}\n")
        known = [row for row in members if row.path != "Python"]
        if known:
            columns = ("name", "path", "arguments", "in Python with", "dtypes", "limits")
            parts.append(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n")
            parts += [_markdown(names, row) for names, row in _alike(known)]
        unknown = [f"`{row.name}`" for row in members if row.path == "Python"]
        if unknown:
            listed = textwrap.fill(f"In Python: {', '.join(unknown)}.", 120, break_on_hyphens=False)
            parts.append(f"\n{listed}\n")
    return "".join(parts)


def _alike(known: list[Row]) -> list[tuple[str, Row]]:
    """The rows to show, each with its names: methods of ufuncs that are covered alike share a row."""
    shared: dict[Row, list[str]] = {}
    for row in known:
        anonymous = replace(row, name=row.name.rpartition(".")[2]) if row.family == "ufunc" else row
        shared.setdefault(anonymous, []).append(f"`{row.name}`")
    return [(", ".join(names), row) for row, names in shared.items()]


def _markdown(names: str, row: Row) -> str:
    if row.alias_of:
        return f"| {names} | {row.path} | as `{row.alias_of}` | | | |\n"
    covered, uncovered = (" ".join(f"`{name}`" for name in names) for names in (row.covered, row.uncovered))
    notes = "; ".join(row.notes).replace("|", "\\|")
    return f"| {names} | {row.path} | {covered} | {uncovered} | {row.dtypes} | {notes} |\n"


def is_reference_version() -> bool:
    """Whether Python and NumPy have the functions that the page was written for: older ones have fewer."""
    return sys.version_info >= (3, 11) and tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 4)
