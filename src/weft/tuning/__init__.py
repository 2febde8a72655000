"""`weft.tune`: a search for faster loops.  In: a function, arguments and seconds to spend; out: the transformations of
`weft.transform` under which the function was fastest, kept in the file beside its source.

    weft.tune(f, a, b, seconds=30)

From the loops that weft chose, one transformation at a time is tried: tiles, orders, unrolling, threads or one,
vectors, joined or separate loops, library or loops, passes left out.  What helps stays, and the search goes on from
there.  A candidate whose results are not those of the untuned function is never taken.

Of a function with a device as its target the loops of the CPU are tuned; then it is timed on the device, with the loops
that weft chose and with the best ones, and on an accelerator with other shapes of work-groups.  With target="auto" the
faster of the two places is kept with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from weft.directives import Directive, On
from weft.errors import CompileError, TransformError, Unsupported, WeftError
from weft.ir.verify import VerifyError
from weft.jitted import Jitted
from weft.options import Options, make_options
from weft.records import dataclass
from weft.tuning import moves
from weft.tuning.bar import Bar
from weft.tuning.measure import Calls, agree
from weft.tuning.moves import neighbours

#: A candidate must be so much faster than the best before it.
_GAIN = 0.97

Plan = tuple[Directive, ...]


@dataclass(frozen=True)
class Trial:
    """One candidate: the seconds of a call, or None and why it was not measured or not taken."""

    directives: Plan
    seconds: float | None
    why_not: str = ""
    device: str = ""

    def __str__(self) -> str:
        asked = ", ".join(map(str, self.directives))
        if self.device:
            asked = f"on {self.device}, {asked}" if asked else f"on {self.device}"
        asked = asked or "as weft chose"
        return f"{asked}: {self.why_not or f'{1e3 * (self.seconds or 0.0):.4g} ms'}"


@dataclass
class Tuned:
    """What a search found: the function with the best transformations, times of a call before and after, all trials."""

    function: Jitted
    directives: Plan
    before: float
    after: float
    trials: list[Trial] = field(default_factory=list)
    interrupted: bool = False
    file: Path | None = None
    #: The trial on a device, of a function that has one.
    there: Trial | None = None

    @property
    def speedup(self) -> float:
        return self.before / self.after

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __str__(self) -> str:
        name = self.function.py_func.__qualname__
        measured = sum(trial.seconds is not None for trial in self.trials)
        lines = [f"{name}: {1e3 * self.before:.4g} ms -> {1e3 * self.after:.4g} ms ({self.speedup:.2f}x)"]
        lines += [f"  {directive}" for directive in self.directives] or ["  nothing was faster than what weft chose"]
        told = f"  {measured} candidates measured, {len(self.trials) - measured} more without effect or not legal"
        lines.append(told + (", stopped by Ctrl-C" if self.interrupted else ""))
        if self.there is not None:
            lines.append(f"  {self.there}")
        if self.file is not None:
            lines.append(f"  kept in {self.file}")
        return "\n".join(lines)


def tune(
    function: Callable[..., Any],
    /,
    *args: Any,
    seconds: float = 30.0,
    save: bool = True,
    progress: bool | None = None,
) -> Tuned:
    """The fastest transformations of a function for such arguments that `seconds` suffice to find.

    The arguments are copied for every call.  `save`: the winner is kept beside the source, and applied wherever the
    function is compiled.  `progress`: a bar on stderr (None: on a terminal, or below a notebook's cell).  Ctrl-C ends
    the search with what was found so far.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"seconds={seconds!r} is no time that a search could take")
    jitted = _jitted(function)
    search = _Search(jitted, args, perf_counter() + seconds)
    with Bar(jitted.py_func.__qualname__, seconds, progress) as bar:
        found = search.run(bar)
        there = _There(function, search, bar) if jitted is not function and not found.interrupted else None
        if there is not None:
            found.there = there.best(found.directives)
            found.trials += there.trials
    if there is not None and found.there is not None:
        found.directives = there.settled(found)
        there.function.directed_by(found.directives)
    else:
        jitted.direct(found.directives)
    if save:
        found.file = _kept(found, args)
    return found


def _jitted(function: Any) -> Jitted:
    if getattr(function, "__weft_distributed__", False):
        from weft.device.function import DeviceFunction

        if isinstance(function, DeviceFunction):
            return function.local
        target = function.options.target
        raise WeftError(f"{function.__name__} has target={target!r}: only functions of one machine can be tuned")
    if isinstance(function, Jitted):
        return function
    if not hasattr(function, "__code__"):
        raise TypeError(f"weft.tune needs a function, not {type(function).__name__}")
    return Jitted(function, make_options())


class _There:
    """The search on the device of a function."""

    def __init__(self, function: Any, search: _Search, bar: Bar) -> None:
        self.function, self.search, self.bar = function, search, bar
        self.trials: list[Trial] = []
        # As long again as the search on the CPU was to take, at most.
        self.end = perf_counter() + search.seconds

    def best(self, plan: Plan) -> Trial | None:
        """The fastest way to run on the device: as weft chose, as on the CPU, or in groups of another shape."""
        found = self._tried(())
        if found is None:
            return None
        for other in self._plans(plan):
            if perf_counter() >= self.end:
                break
            trial = self._tried(other)
            if trial is not None and trial.seconds is not None and trial.seconds < _GAIN * (found.seconds or math.inf):
                found = trial
                self.bar.better(trial.seconds)
        return found

    def _plans(self, plan: Plan) -> Iterator[Plan]:
        if plan:
            yield plan
        alone = self.function.alone()
        self.search.calls.result(alone)
        for version in alone.versions():
            for kernel in version.plan.kernels:
                yield from (((step,)) for step in moves.groups(kernel))

    def _tried(self, plan: Plan) -> Trial | None:
        alone = self.function.alone() if hasattr(self.function, "alone") else None
        if alone is None:
            return None
        name, calls = alone.options.target, self.search.calls
        try:
            alone.directed_by(plan)
            result = calls.result(alone)
        except (TransformError, Unsupported, CompileError, VerifyError) as problem:
            trial = Trial(plan, None, getattr(problem, "reason", str(problem)), name)
        else:
            if agree(result, self.search.expected, exact=False):
                trial = Trial(plan, calls.seconds(alone, min(self.end, perf_counter() + 1.0)), "", name)
            else:
                trial = Trial(plan, None, "its results differ", name)
        self.trials.append(trial)
        self.bar.tried(len(self.trials) + len(self.search.trials))
        return trial

    def settled(self, found: Tuned) -> Plan:
        """What is asked of the function from now on: with target="auto" the faster place runs calls."""
        there = found.there
        faster = there is not None and there.seconds is not None and there.seconds < found.after
        self.function.settle(self.search.calls.args, "device" if faster else "cpu")
        if self.function.options.target == "auto":
            return (*(there.directives if faster and there is not None else found.directives), _place(faster))
        return there.directives if there is not None and there.seconds is not None else found.directives


def _place(faster: bool) -> On:
    return On("device" if faster else "cpu")


class _Search:
    """One search; `end` is when it must be over."""

    def __init__(self, function: Jitted, args: tuple[Any, ...], end: float) -> None:
        self.function, self.end = function, end
        self.seconds = end - perf_counter()
        self.calls = Calls(args)
        # Candidates are not kept on disk, and what cannot be native is an error.
        self.options: Options = replace(function.options, cache=False, fallback="error")
        self.trials: list[Trial] = []
        self.expected: Any = None
        self.codes: set[str] = set()
        self.best: Plan = ()

    def compiled(self, plan: Plan) -> Jitted:
        made = Jitted(self.function.py_func, self.options)
        made.direct(plan)
        return made

    def run(self, bar: Bar) -> Tuned:
        base = self.compiled(())
        self.expected = self.calls.result(base)
        self.codes.add(_code(base))
        before = self.calls.seconds(base, self.end)
        self.trials.append(Trial((), before))
        bar.better(before)
        after, interrupted = before, False
        try:
            for plan in self._plans():
                trial = self._tried(plan, after)
                self.trials.append(trial)
                if trial.seconds is not None and trial.seconds < _GAIN * after:
                    self.best, after = plan, trial.seconds
                    bar.better(after)
                bar.tried(len(self.trials))
            if self.best:
                before, after = self.calls.compared(base, self.compiled(self.best))
        except KeyboardInterrupt:
            interrupted = True
        if after > _GAIN * before:
            self.best, after = (), before  # what looked faster was noise
        return Tuned(self.function, self.best, before, after, self.trials, interrupted)

    def _plans(self) -> Iterator[Plan]:
        """Candidates until the time is over: those kept in the file, then one step from the best so far."""
        seen: set[Plan] = {()}
        if kept := self.function.transforms():
            seen.add(kept)
            yield kept
        while perf_counter() < self.end:
            start = self.best
            for plan in neighbours(start, self.compiled(start).program(*self.calls.fresh())):
                if perf_counter() >= self.end:
                    return
                if plan in seen:
                    continue
                seen.add(plan)
                yield plan
                if self.best is not start:
                    break
            else:
                return

    def _tried(self, plan: Plan, best: float) -> Trial:
        try:
            made = self.compiled(plan)
            result = self.calls.result(made)
        except (TransformError, Unsupported, CompileError) as problem:
            return Trial(plan, None, problem.reason)
        except VerifyError as problem:  # transformations that do not go together
            return Trial(plan, None, str(problem))
        if (code := _code(made)) in self.codes:
            return Trial(plan, None, "the same code as another candidate's")
        self.codes.add(code)
        if not agree(result, self.expected, self.options.fp == "strict"):
            return Trial(plan, None, "its results differ")
        return Trial(plan, self.calls.seconds(made, self.end, best))


def _code(function: Jitted) -> str:
    """What a function was compiled to; it has been called."""
    return "\n".join(version.c_source or repr(version) for version in function._compiled)


def _kept(found: Tuned, args: tuple[Any, ...]) -> Path | None:
    """The file in which the winner is kept; None if the function comes from no file."""
    from weft import __version__, transform_file
    from weft.frontend import specs
    from weft.runtime.threads import get_num_threads

    source = found.function._load()
    file = transform_file.place(source.file)
    if source.file.startswith("<") or not file.parent.is_dir():
        return None
    measured = {
        "untuned_ms": round(1e3 * found.before, 6),
        "tuned_ms": round(1e3 * found.after, 6),
        "arguments": "(" + ", ".join(map(str, specs.specs_of(args))) + ")",
        "shapes": [list(each.shape) for each in args if hasattr(each, "shape")],
        "threads": get_num_threads(),
        "candidates": len(found.trials),
        **({} if found.there is None else {"device": str(found.there)}),
        "weft": __version__,
    }
    try:
        transform_file.write(file, found.function.py_func.__qualname__, source.tree, found.directives, measured)
    except ValueError as problem:
        raise WeftError(f"{file} cannot be read, so nothing is written: {problem}") from None
    return file if found.directives else None
