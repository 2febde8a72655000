"""Calls of every entry of the knowledge base, generated from the entry itself, against NumPy: value, type, dtype,
shape, shared memory, exceptions.  A call that has no native form must be declared as not covered by the entry.  A fixed
sample runs; WEFT_FUZZ=n tries n calls of each entry.
"""

from __future__ import annotations

import importlib
import itertools
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weft
from tests.semantics.drawing import Case, Sample, cases
from tests.semantics.recipes import recipe_for
from tests.support import Outcome, arrays_in, compare, difference, function_from_source, lines, outcome
from weft.frontend import builder, knowledge, specs
from weft.frontend.source import load
from weft.ir.program import Program, Role
from weft.ir.walk import buffers_written
from weft.report.support import ATTRIBUTES, title

#: Calls of an entry that are compiled to C, and how many entries share a compilation.
NATIVE, GROUP = 2, 10
MORE = int(os.environ.get("WEFT_FUZZ", "0"))
BREADTH = 13
#: Why a view that NumPy gives cannot be kept.
VIEWS = (
    "a view that has no native form",
    "the return of such a view",
    "may share memory with another array",
    "the return of an array that must not be written",
)
ENTRIES = {title(entry): entry for entry in knowledge.entries()}
_ROOTS = {name.partition(".")[0] for name in ENTRIES if "." in name} - {"np", "ndarray", "number"}
NAMESPACE = {root: importlib.import_module(root) for root in sorted(_ROOTS | {"math", "cmath"})}


def _cases(name: str, count: int) -> list[Case]:
    entry = ENTRIES[name]
    return list(cases(entry, *recipe_for(entry), count))


def _is_one_of_many(name: str) -> bool:
    """Whether it is a method of a ufunc, which shares its code with those of all the others."""
    return isinstance(getattr(ENTRIES[name].target, "__self__", None), np.ufunc) and not name.startswith("np.add.")


def _run(case: Case, backend: str) -> tuple[Outcome, Outcome]:
    function = function_from_source(case.source(), namespace=NAMESPACE)
    compiled = weft.jit(fallback="error", backend=backend, cache=False)(function)
    return outcome(compiled, case.make()), outcome(function, case.make())


def _foreign(done: Outcome) -> bool:
    """Whether NumPy computes in a type that is black box everywhere."""
    found = [*arrays_in(done.value), *arrays_in(done.arguments)]
    return any(array.dtype in (np.float16, np.longdouble, np.clongdouble) for array in found)


def _boxed(actual: Any, expected: Any) -> Any:
    """The value as NumPy wraps it: weft makes a scalar where some functions give an array of rank 0."""
    if isinstance(actual, np.generic) and isinstance(expected, np.ndarray) and expected.shape == ():
        return np.asarray(actual)
    return actual


def _problem(case: Case, backend: str = "python") -> str | None:
    """What is wrong with a case; None if nothing is."""
    actual, expected = _run(case, backend)
    if expected.error is not None:
        # What NumPy refuses may be refused at compile time: plain Python then raises NumPy's own exception.
        if isinstance(actual.error, weft.Unsupported) or type(actual.error) is type(expected.error):
            return None
        return f"{actual.error!r} / value {actual.value!r}, NumPy raises {expected.error!r}"
    if isinstance(actual.error, weft.Unsupported):
        if _foreign(expected) or not case.covered() or "return of an array of rank 0" in actual.error.reason:
            return None
        if case.entry.coverage.borrows and any(words in actual.error.reason for words in VIEWS):
            return _problem(replace(case, text=f"np.copy({case.text})"), backend)
        return f"not native, but declared as covered: {actual.error.reason}"
    return compare(
        replace(actual, value=_boxed(actual.value, expected.value)), expected, case.tolerance, zero_signs=False
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_calls_of_an_entry(name: str) -> None:
    """Each call by itself, in the Python back end: the entry and the passes, without a compiler."""
    found = []
    drawn = _cases(name, MORE or (BREADTH // 6 if _is_one_of_many(name) else BREADTH))
    for case in drawn:
        why = _problem(case)
        if why is not None:
            found.append(f"{case}\n    {why}")
    assert not found, f"{len(found)} of {len(drawn)} calls\n" + "\n".join(found)


def _is_accepted(case: Case) -> bool:
    """Whether NumPy accepts the call, and computes in types that weft has."""
    expected = outcome(function_from_source(case.source(), namespace=NAMESPACE), case.make())
    return expected.error is None and not _foreign(expected)


def _kept(case: Case) -> Case:
    """The case with a copy of what may be a view that has no native form: only that can be returned."""
    return replace(case, text=f"np.copy({case.text})") if case.entry.coverage.borrows else case


def _built(case: Case) -> Program | None:
    """The case as a program, if it compiles."""
    function = function_from_source(_kept(case).source(), namespace=NAMESPACE)
    try:
        return builder.build(load(function), specs.specs_of(case.make()), case.make()).program
    except weft.Unsupported:
        return None


def _writes(program: Program) -> bool:
    """Whether an argument is written: such a program cannot be repeated in Python, as some calls may have to be."""
    return any(program.buffer(name).role is Role.PARAM for node in program.body for name in buffers_written(node))


def _batch(chosen: list[Case]) -> tuple[str, dict[str, Sample]]:
    """One function of many calls."""
    samples, body, results = {}, [], []
    for number, case in enumerate(chosen):
        samples |= {f"c{number}{name}": sample for name, sample in case.samples.items()}
        statements, result = case.statements(number)
        body += statements
        results.append(result or "None")
    return lines(", ".join(samples), *body, f"return {', '.join(results)},"), samples


@pytest.mark.parametrize("name", [name for name in ENTRIES if not _is_one_of_many(name)])
def test_every_argument_of_an_entry_is_native_somewhere(name: str) -> None:
    """An argument that the entry names, however limited, has calls that compile (of a ufunc's method: as it allows)."""
    missing = set(recipe_for(ENTRIES[name])[1]) - {"dtype", "casting"}
    accepted: set[str] = set()
    for case in _cases(name, 120):
        if not missing:
            break
        if missing & set(case.passed) and _is_accepted(case):
            accepted |= set(case.passed)
            missing -= set(case.passed) if _built(case) is not None else set()
    assert not missing & accepted, f"no call with {missing & accepted} is native"


@pytest.mark.native
@pytest.mark.parametrize("start", range(0, len(ENTRIES), GROUP), ids=lambda start: list(ENTRIES)[start])
def test_calls_in_native_code(start: int) -> None:
    """Calls of several entries together, in C: value, type and shape of each."""
    chosen: dict[bool, list[Case]] = {False: [], True: []}
    for name in list(ENTRIES)[start : start + GROUP]:
        count = 1 if _is_one_of_many(name) else NATIVE
        drawn = ((case, _built(case)) for case in _cases(name, 4 * count) if _is_accepted(case))
        for case, program in itertools.islice(((c, p) for c, p in drawn if p is not None), count):
            chosen[_writes(program)].append(case)
    for together in filter(None, chosen.values()):
        _check_together(together)


def _check_together(chosen: list[Case]) -> None:
    source, samples = _batch([_kept(case) for case in chosen])
    function = function_from_source(source, namespace=NAMESPACE)
    compiled = weft.jit(fallback="error", cache=False)(function)
    expected, actual = (
        outcome(run, tuple(sample.fresh() for sample in samples.values())) for run in (function, compiled)
    )
    if actual.error is not None:
        raise actual.error
    pairs = zip(chosen, actual.value, expected.value)
    found = [(case, difference(_boxed(one, other), other, 1e-12, "result", False)) for case, one, other in pairs]
    assert [f"{case}\n    {why}" for case, why in found if why is not None] == []
    changed = zip(samples, actual.arguments, expected.arguments)
    assert [name for name, one, other in changed if difference(one, other, 1e-12, name, False) is not None] == []


def test_positional_arguments_have_the_order_of_the_function() -> None:
    """An entry names no argument that the function does not have, but for the place of one."""
    for name, entry in ENTRIES.items():
        real = knowledge.signature(entry)
        if real is None or any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in real):
            continue
        reachable = {entry.positional(k) for k in range(len(real))} | {entry.keyword(p.name) for p in real}
        assert set(entry.plain) <= reachable, name


_ATTRIBUTES = sorted(n for n in dir(np.ndarray) if not n.startswith("_") and not callable(getattr(np.ndarray, n)))


@pytest.mark.parametrize("name", _ATTRIBUTES)
def test_attributes_of_arrays(name: str) -> None:
    """What the table says of an attribute is so."""
    special = {"dtype": "a.dtype == np.float64", "imag": "a.imag + 1"}  # no value, and a view to be read at once
    what = special.get(name, f"a.{name}")
    function = function_from_source(lines("a", f"return {what}"))
    compiled = weft.jit(fallback="error", backend="python", cache=False)(function)
    make = lambda: (np.arange(6.0).reshape(2, 3),)
    actual, expected = outcome(compiled, make()), outcome(function, make())
    assert isinstance(actual.error, weft.Unsupported) != (name in ATTRIBUTES), actual.error
    if actual.error is None:
        assert compare(actual, expected) is None
