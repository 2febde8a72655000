"""Core against its oracle on whole programs: benchmarks, examples, random programs. All functions of a module are
replaced by their Core, so that calls from one to another run Core as well.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from benchmarks import kernels
from benchmarks.apps import registry as applications
from tests.apps.kernels import FAMILIES
from tests.fuzz import machines
from tests.fuzz.affine import affine_programs
from tests.fuzz.generator import RandomProgram, programs
from tests.hunt.case import IMPORTS
from tests.hunt.grammar import generate
from tests.plain.oracle import TooLong, at_most, outcome, twins

ROOT = Path(__file__).resolve().parents[2]
HUNTED = 150
GENERATED = 60


def _source(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["containers", "numbers", "textbook", "texts"])
def test_small_programs(name: str) -> None:
    ours, core = twins(_source("benchmarks", "small", f"{name}.py"), f"small_{name}")
    count = 0
    for (_, function, calls), (_, reduced, _) in zip(ours.cases(), core.cases()):
        for arguments in calls:
            assert outcome(reduced, arguments) == outcome(function, arguments), function.__name__
            count += 1
    assert count > 20


@pytest.mark.parametrize("name", applications.NAMES)
def test_applications(name: str) -> None:
    ours, core = twins(_source("benchmarks", "apps", "programs", f"{name}.py"), f"app_{name}", fixed=True)
    size = ours.SIZES["S"]
    function = getattr(ours, name)
    expected = outcome(function, ours.initialise(size))
    assert expected[0][0] == "returned"
    assert outcome(getattr(core, name), core.initialise(size)) == expected


@pytest.mark.parametrize("name", kernels.NAMES)
def test_kernels(name: str) -> None:
    ours, core = twins(_source("benchmarks", "kernels", f"{name}.py"), f"kernel_{name}")
    for form in ("numpy_form", "loop_form"):
        if hasattr(ours, form):
            arguments = ours.initialise(ours.SIZES["tiny"])
            expected = outcome(getattr(ours, form), arguments)
            assert expected[0][0] == "returned"
            assert outcome(getattr(core, form), arguments) == expected


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_kernels_of_the_tests(family: ModuleType) -> None:
    ours, core = twins(inspect.getsource(family), family.__name__.replace(".", "_"))
    compared = 0
    for kernel, reduced in zip(ours.KERNELS, core.KERNELS):
        for form, function in kernel.forms.items():
            size = kernel.small[-1]
            expected = outcome(function, kernel.arguments(form, size))
            assert expected[0][0] == "returned"
            assert outcome(reduced.forms[form], reduced.arguments(form, size)) == expected, (kernel.name, form)
            compared += 1
    assert compared > 5


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    import weft

    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(weft, "jit", lambda function=None, **_: function if function else (lambda given: given))
    ours, core = twins(path.read_text(encoding="utf-8"), f"example_{path.stem}")
    assert outcome(core.main, ()) == outcome(ours.main, ())


@pytest.mark.parametrize("name", sorted(machines.MACHINES))
def test_machines(name: str) -> None:
    """Random operations on containers."""
    machine, start, codes = machines.MACHINES[name]
    _, core = twins(inspect.getsource(machines), "machines")
    draw = random.Random(name)
    for _ in range(20):
        operations = [(draw.randrange(codes), draw.randint(-1, 5), draw.randint(-1, 5)) for _ in range(30)]
        arguments = (*start(), operations)
        assert outcome(getattr(core, machine.__name__), arguments) == outcome(machine, arguments)


@pytest.mark.parametrize("first", range(0, HUNTED, 25))
def test_random_programs_of_the_hunt(first: int) -> None:
    compared = 0
    for seed in range(7000 + first, 7025 + first):
        case = generate(seed)
        ours, core = twins(IMPORTS + case.source, "hunted", fixed=bool(seed % 2))
        for make, make_again in zip(case.makers(vars(ours)), case.makers(vars(core))):
            try:
                with at_most(0.5):
                    expected = outcome(ours.f, make())
            except TooLong:
                continue
            with at_most(20):
                assert outcome(core.f, make_again()) == expected, case.source
            compared += 1
    assert compared > 25


def _budget() -> Callable[[Any], Any]:
    return settings(
        max_examples=GENERATED, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


@given(program=programs())
@_budget()
def test_random_array_programs(program: RandomProgram) -> None:
    ours, core = twins("import numpy as np\n" + program.source, "random_program")
    assert outcome(core.f, program.make()) == outcome(ours.f, program.make())


@given(program=affine_programs())
@_budget()
def test_random_affine_programs(program: Any) -> None:
    ours, core = twins("import numpy as np\n" + program.source, "affine_program")
    assert outcome(core.f, program.make(5)) == outcome(ours.f, program.make(5))
