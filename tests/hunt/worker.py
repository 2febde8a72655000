"""One process of the hunt.  In: a line of JSON a seed (or a case to shrink), on standard input; out: a line of JSON for
what it is about to run, and one for what came of it.  The process may die meanwhile: the parent knows then of what.
"""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import asdict, replace
from typing import Any, TextIO

from tests.hunt.case import Case
from tests.hunt.compare import Outcome
from tests.hunt.grammar import choose, generate
from tests.hunt.limits import OutOfTime, limit_memory, seconds
from tests.hunt.modes import Mode, NoArguments, Verdict, expected_of, goes_to_plain, judge
from tests.hunt.shrink import shrink
from weft.options import Stress
from weft.passes.order import LOWERING, PASSES

#: Seconds for plain Python, for one mode (a compile included), and for making a program smaller.
PLAIN, ONE_MODE, SHRINKING = 0.5, 60.0, 40.0
#: Programs whose every call raises are tried again this often: most of what people write does not.
_ATTEMPTS = 4
#: The share of programs that are compiled with fewer passes, and of passes that these lack: no pass may be needed for
#: another one to be right, and what is compiled in half the time is tried twice as often.
_BARE, _LACKING = 0.5, 0.75
#: The share of programs over containers that take the way that calls of users take.
_AS_USERS = 0.8
#: Exceptions that say more of the machine than of the program.
_DROPPED = {"RecursionError", "MemoryError"}


def plain(case: Case) -> tuple[list[Outcome], list[float]] | None:
    """What plain Python does; None for a program that takes too long, or all memory."""
    try:
        with seconds(PLAIN):
            expected, times = expected_of(case)
    except (OutOfTime, MemoryError, RecursionError, NoArguments):
        return None
    return None if any(o.error is not None and o.error[0] in _DROPPED for o in expected) else (expected, times)


def is_plain(seed: int, share: float) -> bool:
    """Whether a seed stands for a program of the idioms of plain Python."""
    return random.Random(f"is plain {seed}").random() < share


def chosen(seed: int, is_plain: bool = False) -> tuple[Case, list[Outcome], list[float]] | None:
    """The program of a seed, and what plain Python does."""
    for attempt in range(_ATTEMPTS):
        case = generate(seed, attempt, is_plain)
        done = plain(case)
        if done is not None and (attempt == _ATTEMPTS - 1 or any(o.error is None for o in done[0])):
            return case, *done
    return None


def modes(seed: int, case: Case, is_plain: bool, native: float) -> list[Mode]:
    """The ways to run a program. What users' calls would take to the compiler of plain Python mostly goes there."""
    if is_plain:
        return plain_modes(seed)
    if random.Random(f"way {seed}").random() < _AS_USERS and goes_to_plain(case):
        return plain_modes(seed)
    return modes_for(seed, native)


def fewer_passes(chooser: random.Random) -> tuple[str, ...]:
    """Passes to leave out, of those that may be."""
    optional = [each.name for each in (*PASSES, *LOWERING) if each.optional]
    return tuple(name for name in optional if chooser.random() < _LACKING)


def modes_for(seed: int, native: float) -> list[Mode]:
    """The ways to run a program: all of them over many programs, a few for one; `native` is the share that gets C."""
    chooser = random.Random(f"modes {seed}")
    found = _modes_for(chooser, native)
    return [replace(mode, without=fewer_passes(chooser)) for mode in found] if chooser.random() < _BARE else found


def _modes_for(chooser: random.Random, native: float) -> list[Mode]:
    number = chooser.randrange(64)
    stresses = [
        Stress(split=number),
        Stress(split=number),
        Stress(deoptimise=number),
        Stress(general=True),
        Stress(split=number, deoptimise=number),
    ]
    if chooser.random() < native:
        level = chooser.choice(("-O0", "-O0", "-O0", "-O3"))
        form = chooser.randrange(7)
        stress = chooser.choice(stresses) if form in (1, 2) else Stress()
        fp = "strict" if form == 3 else "numpy"
        threads = chooser.choice((1, 3)) if form == 4 else None
        return [Mode("c", fp, stress, threads, level, checked=form in (2, 5, 6))]
    form = chooser.randrange(12)
    if form < 5:
        return [Mode()]
    if form < 10:
        return [Mode(stress=chooser.choice(stresses))]
    return [Mode(fp="strict")] if form == 10 else [Mode(), Mode("interpreter")]


def plain_modes(seed: int) -> list[Mode]:
    """The ways to run a program of plain Python."""
    chooser = random.Random(f"modes {seed}")
    if chooser.random() < 0.06:
        return [Mode("c", level="-O0")]
    stress = Stress(deoptimise=chooser.randrange(40)) if chooser.random() < 0.1 else Stress()
    level, collect = chooser.choice(("-O0", "-O0", "-O0", "-O0", "-O2")), chooser.choice((0, 0, 1, 7))
    return [Mode("plain", stress=stress, level=level, collect=collect)]


def judged(case: Case, mode: Mode, expected: list[Outcome], times: list[float] | None = None) -> Verdict:
    """A verdict, also on a mode that does not end or fails in weft itself."""
    try:
        with seconds(ONE_MODE):
            return judge(case, mode, expected, times)
    except OutOfTime:
        return Verdict(mode.name, "hang", f"no end within {ONE_MODE:.0f} s")
    except MemoryError:
        return Verdict(mode.name)
    except Exception as trouble:  # of weft's own, outside of a call: the finding itself
        return Verdict(mode.name, "internal", f"{type(trouble).__name__}: {trouble}")


def _mode_of(data: dict[str, Any]) -> Mode:
    return Mode(**{**data, "stress": Stress(**data["stress"]), "without": tuple(data.get("without", ()))})


class Worker:
    def __init__(self, out: TextIO, native: float, plain: float) -> None:
        self.out = out
        self.native = native
        self.plain = plain

    def say(self, **what: Any) -> None:
        self.out.write(json.dumps(what, default=str) + "\n")
        self.out.flush()

    def run(self, seed: int, only: dict[str, Any] | None = None) -> None:
        """Run the program of a seed in its modes, or in one."""
        self.say(event="start", seed=seed)
        plainly = is_plain(seed, self.plain)
        found = chosen(seed, plainly)
        if found is None:
            self.say(event="done", seed=seed, dropped=True)
            return
        case, expected, times = found
        # The verifier takes as long as all passes: every fourth program meets it.
        os.environ["WEFT_VERIFY"] = "1" if seed % 4 == 0 else "0"
        waiting = modes(seed, case, plainly, self.native) if only is None else [_mode_of(only)]
        while waiting:
            mode = waiting.pop(0)
            self.say(event="mode", seed=seed, mode=asdict(mode), case=asdict(case))
            verdict = judged(case, mode, expected, times)
            self.say(event="verdict", seed=seed, family=mode.family, verdict=asdict(verdict))
            if verdict.refusal and not plainly and only is None:  # the other compiler is asked next
                waiting += modes_for(seed, self.native)
        self.say(event="done", seed=seed, dropped=False, calls=len(case.calls))

    def shrink(self, seed: int, case: Case, mode: Mode, kind: str) -> None:
        """A finding made smaller, with the same kind of difference."""
        self.say(event="start", seed=seed)

        def fails(smaller: Case) -> bool:
            try:
                done = plain(smaller)
                if done is None or any(o.error and o.error[0] in ("NameError", "SyntaxError") for o in done[0]):
                    return False
            except Exception:  # arguments that cannot be made any more
                return False
            return judged(smaller, mode, done[0]).kind == kind

        small = shrink(case, fails, SHRINKING)
        done = plain(small)
        verdict = judged(small, mode, done[0]) if done is not None else Verdict(mode.name)
        self.say(event="shrunk", seed=seed, case=asdict(small), verdict=asdict(verdict), mode=asdict(mode))
        self.say(event="done", seed=seed)


def main() -> None:
    limit_memory()
    # What programs print must not mix with what the parent reads.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(out, *map(float, sys.argv[1:3]))
    if len(sys.argv) > 3:
        choose(json.loads(sys.argv[3]))
    for line in sys.stdin:
        task = json.loads(line)
        if task["task"] == "run":
            worker.run(task["seed"], task.get("mode"))
        else:
            worker.shrink(task["seed"], Case(**_as_case(task["case"])), _mode_of(task["mode"]), task["kind"])


def _as_case(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "calls": tuple(data["calls"])}


if __name__ == "__main__":
    main()
