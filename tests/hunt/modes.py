"""The ways in which a program is run.  In: a case and a mode; out: what differs from plain Python, and how it went."""

from __future__ import annotations

import functools
import inspect
import time
from dataclasses import dataclass, replace
from typing import Any

import weft
from tests.hunt.case import Case
from tests.hunt.compare import Outcome, difference, outcome
from weft.directives import SkipPass
from weft.frontend import source
from weft.ir.interp import GuardFailed, IntegerOverflow, run
from weft.ir.program import While
from weft.ir.walk import walk
from weft.jitted import Jitted
from weft.options import Stress, make_options
from weft.plain import choice
from weft.plain import runtime as plain_runtime
from weft.plain.function import Native
from weft.runtime import toolchain

#: A program is slow if a call takes this many times what plain Python takes, and some time beside.
SLOW_RATIO, SLOW_SECONDS = 10.0, 2e-3


@dataclass(frozen=True)
class Mode:
    """`backend`: c, python, plain or interpreter; `level`: of the C compiler; `threads`: None for as many as there are;
    `checked`: every array access of the generated C is tested. "plain" is the compiler of plain Python alone, where
    `collect` has memory collected at every allocation of this number. `without`: passes that are left out."""

    backend: str = "python"
    fp: str = "numpy"
    stress: Stress = Stress()
    threads: int | None = None
    level: str = "-O1"
    checked: bool = False
    collect: int = 0
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        parts = [self.backend]
        parts += [self.fp] if self.fp != "numpy" else []
        parts += [f"split {self.stress.split}"] if self.stress.split is not None else []
        parts += [f"deoptimise {self.stress.deoptimise}"] if self.stress.deoptimise is not None else []
        parts += ["general"] if self.stress.general else []
        parts += [f"threads {self.threads}"] if self.threads else []
        parts += ["checked"] if self.checked else []
        parts += [f"collect {self.collect}"] if self.collect else []
        parts += ["fewer passes"] if self.without else []
        return ", ".join(parts)

    @property
    def family(self) -> str:
        """The name without numbers: what findings are counted by."""
        return " ".join(word for word in self.name.replace(",", "").split() if not word.isdigit())


@dataclass
class Verdict:
    """What came of one mode: a difference (its class and text) or none, and how the calls ran."""

    mode: str
    kind: str = ""
    text: str = ""
    call: int = 0
    native: bool = False
    slow: float = 0.0
    refusal: str = ""


class NoArguments(Exception):
    """The arguments of a call cannot be made: an index into an array of rank 0, a shrunk line."""


def expected_of(case: Case) -> tuple[list[Outcome], list[float]]:
    """What plain Python does at each call, and the seconds it takes."""
    function = case.function()
    found, seconds = [], []
    for make in case.makers(function.__globals__):
        try:
            arguments = make()
        except Exception as problem:
            raise NoArguments(str(problem)) from problem
        if type(arguments) is not tuple:
            raise NoArguments("a shrunk call that gives no arguments")
        start = time.perf_counter()
        found.append(outcome(function, arguments))
        seconds.append(time.perf_counter() - start)
    return found, seconds


def goes_to_plain(case: Case) -> bool:
    """Whether the compiler of plain Python is the first to get a program, by the arguments of its first call."""
    function = case.function()
    arguments = case.makers(function.__globals__)[0]()
    if choice.uses_arrays(function, arguments):
        return False
    return choice.is_plain(function, source.load(function).tree, arguments)


@functools.cache
def _cheap(chain: toolchain.Toolchain, level: str) -> toolchain.Toolchain:
    return replace(chain, flags=(*chain.flags, level))


def use_level(level: str) -> None:
    """Have the C compiler spend this much on its work: most of its time goes into code that runs once here."""
    original = getattr(toolchain.find, "hunted", toolchain.find)

    def find() -> Any:
        chain = original()
        return chain if chain is None or level == "-O3" else _cheap(chain, level)

    find.hunted = original  # type: ignore[attr-defined]
    toolchain.find = find  # type: ignore[assignment]


def judge(case: Case, mode: Mode, expected: list[Outcome], plain_seconds: list[float] | None = None) -> Verdict:
    """Run a case in one mode and compare each call with what plain Python did."""
    if mode.backend == "interpreter":
        return _interpreted(case, mode, expected)
    if mode.backend == "plain":
        return _as_plain(case, mode, expected)
    # fp="strict" promises the bits of a Python loop, not those of NumPy's own sums.
    strict = mode.fp == "strict" and "np." not in case.source
    verdict = Verdict(mode.name)
    function = case.function()
    options = make_options(
        {"backend": mode.backend, "fp": mode.fp, "fallback": "silent", "checked": mode.checked}, environment={}
    )
    if mode.backend == "c":
        use_level(mode.level)
    compiled = Jitted(function, replace(options, stress=mode.stress))
    compiled.direct(tuple(SkipPass(name) for name in mode.without))
    before = weft.get_num_threads()
    if mode.threads:
        weft.set_num_threads(mode.threads)
    try:
        for number, make in enumerate(case.makers(function.__globals__)):
            why = difference(outcome(compiled, make()), expected[number], strict)
            if why is not None:
                return replace(verdict, kind=why[0], text=f"call {number}: {why[1]}", call=number)
        stats = compiled.stats
        internal = [reason for reason in stats["fallbacks"] if reason.startswith("an error inside weft")]
        if internal:
            return replace(verdict, kind="internal", text=internal[0])
        verdict.native = stats["python_calls"] == 0
        if plain_seconds is not None and mode.backend == "c":
            _time(case, compiled, function, plain_seconds, verdict)
    finally:
        if mode.threads:
            weft.set_num_threads(before)
    return verdict


def _as_plain(case: Case, mode: Mode, expected: list[Outcome]) -> Verdict:
    """By the compiler of plain Python alone: floats to the last bit, and a call that it refuses goes to Python."""
    verdict = Verdict(mode.name, native=True)
    function = case.function()
    plain_runtime._KERNEL_FLAGS = (mode.level, "-w")  # type: ignore[misc]

    def missed(values: tuple[Any, ...]) -> bool:
        try:
            native.extend(values)
        except weft.Unsupported as problem:
            verdict.native, verdict.refusal = False, problem.reason
            return False
        return True

    native = Native(function, missed, mode.stress.deoptimise)
    plain_runtime.collect_every(mode.collect)
    try:
        for number, make in enumerate(case.makers(function.__globals__)):
            why = difference(outcome(native, make()), expected[number], True)
            if why is not None:
                return replace(verdict, kind=why[0], text=f"call {number}: {why[1]}", call=number)
    finally:
        plain_runtime.collect_every(0)
    return verdict


def _time(case: Case, compiled: Any, function: Any, plain_seconds: list[float], verdict: Verdict) -> None:
    """Whether a later call takes much longer than plain Python did."""
    for number, make in enumerate(case.makers(function.__globals__)):
        arguments = make()
        start = time.perf_counter()
        outcome(compiled, arguments)
        seconds = time.perf_counter() - start
        if seconds > SLOW_SECONDS + SLOW_RATIO * plain_seconds[number]:
            verdict.slow = max(verdict.slow, seconds / max(plain_seconds[number], 1e-6))


def _interpreted(case: Case, mode: Mode, expected: list[Outcome]) -> Verdict:
    """Every stage's program in the interpreter of the IR: the last one of the optimiser, and the lowered one."""
    from weft.frontend import specs
    from weft.pipeline import stages

    verdict = Verdict(mode.name)
    function = case.function()
    names = tuple(inspect.signature(function).parameters)
    for number, make in enumerate(case.makers(function.__globals__)):
        arguments = make()
        if not all(isinstance(spec, specs.ArraySpec | specs.ScalarSpec) for spec in specs.specs_of(arguments)):
            continue
        try:
            steps = dict(stages(function, arguments))
        except weft.Unsupported:
            continue
        for name in ("built", "tidy", "version"):
            program = steps[name]
            if any(parameter not in names for parameter in program.params) or _searches_tables(program):
                continue
            verdict.native = True

            def interpret(*given: Any, program: Any = program) -> Any:
                bound = {key: value for key, value in zip(names, given) if key in program.params}
                try:
                    return run(program, bound, order="shuffled")
                except (GuardFailed, IntegerOverflow, NotImplementedError) as refused:
                    raise _Repeated from refused

            done = outcome(interpret, make())
            if done.error is not None and done.error[0] == "_Repeated":
                continue
            why = difference(done, expected[number], False)
            if why is not None:
                return replace(verdict, kind=why[0], text=f"call {number}, after {name}: {why[1]}", call=number)
    return verdict


def _searches_tables(program: Any) -> bool:
    """Whether there are hash tables: a search looks at entries that are not there, which the interpreter forbids."""
    return any(isinstance(node, While) and node.brief for node in walk(program.body))


class _Repeated(Exception):
    """Plain Python would run."""
