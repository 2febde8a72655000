"""The benchmark harness: ratios and means, what is said of failures, the JSON, the sources that peers get, the counted
work, and one small run with NumPy and weft.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.harness import command, compare, limits, machine, model, table
from benchmarks.harness.job import Job
from benchmarks.harness.model import Attempt, KernelResult, Report, Work
from benchmarks.harness.peers import FRAMEWORKS, framework_of, jax_rule
from benchmarks.harness.peers.dace import with_sizes
from benchmarks.harness.peers.pythran import type_name
from benchmarks.harness.sources import gather, load_text
from benchmarks.harness.work import measure
from benchmarks.kernels import NAMES, load
from benchmarks.kernels.registry import agree
from weft.cli import WRONG_REQUEST, bench, main


def right(framework: str, *times: float, form: str = "numpy form", **rest: Any) -> Attempt:
    return Attempt(framework, form, model.OK, times=times, **rest)


def failed(framework: str, status: str, reason: str = "") -> Attempt:
    return Attempt(framework, "numpy form", status, reason)


def report() -> Report:
    one = KernelResult(
        "one",
        (
            right("numpy", 0.4, 0.5, memory=10 << 20, first_call=0.5),
            right("numba", 0.2),
            right("numba", 0.1, form="loop form"),
            right("weft", 0.05, 0.07, memory=30 << 20, first_call=0.3),
        ),
        Work(1e9, 1e6),
        0.5,
    )
    two = KernelResult(
        "two",
        (right("numpy", 0.1), failed("numba", model.REFUSED, "TypingError: no"), right("weft", 0.2, first_call=0.5)),
    )
    return Report(("numpy", "numba", "weft"), (one, two), {"size": "M", "threads": 2}, {}, {"numpy": "2"}, "abc")


# --- numbers --------------------------------------------------------------------------------------------------------


def test_the_best_right_form_counts() -> None:
    one, two = report().kernels
    assert one.seconds("numba") == 0.1 and one.ratio("numba") == 2.0
    assert two.seconds("numba") is None and two.ratio("numba") is None
    assert one.best_peer(report().peers()) == ("numba", 0.1)
    assert one.chosen("weft").median == pytest.approx(0.06)  # type: ignore[union-attr]


def test_geometric_means_are_over_what_both_get_right() -> None:
    assert model.mean_ratio(report(), "numba") == (pytest.approx(2.0), 1)
    assert model.mean_ratio(report(), "numpy") == (pytest.approx(2.0), 2)  # 8 and 1/2
    assert model.best_peer_ratios(report()) == pytest.approx([2.0, 0.5])
    assert model.geometric_mean([]) is None
    assert model.median_first_call(report(), "weft") == pytest.approx(0.4)


def test_another_commit_of_weft_is_no_peer() -> None:
    assert Report(("numpy", "weft", "weft@abc"), ()).peers() == ("numpy",)
    assert framework_of("weft@abc") is FRAMEWORKS["weft"]


def test_json_holds_everything() -> None:
    text = json.dumps(report().to_json())
    assert Report.from_json(json.loads(text)) == report()
    with pytest.raises(ValueError, match="layout"):
        Report.from_json({"schema": 0})


# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("TypingError: cannot\n  determine", model.REFUSED),
        ("ModuleNotFoundError: No module named 'jax'", model.ABSENT),
        ("Nothing: the kernel has no loop form", model.NOTHING),
        ("RuntimeError: ", model.REFUSED),
    ],
)
def test_failures_are_classified(said: str, status: str) -> None:
    found, reason = model.classify(said)
    assert found == status and "\n" not in reason


def test_of_failures_the_nearest_to_success_is_shown() -> None:
    attempts = (failed("jax", model.NOTHING), failed("jax", model.REFUSED, "TypeError: x"), failed("jax", model.WRONG))
    chosen = KernelResult("k", attempts).chosen("jax")
    assert chosen is not None and chosen.status == model.WRONG
    assert KernelResult("k", ()).chosen("jax") is None


def test_every_failure_is_printed_with_its_reason() -> None:
    assert table.failures(report()) == ["two, numba, numpy form: refused: TypingError: no"]
    assert model.short_label(failed("numba", model.REFUSED, "TypingError: no")) == "TypingError"
    assert model.short_label(failed("numba", model.REFUSED, "a b: no")) == "refused"
    assert model.short_label(None) == "-"


# --- output ---------------------------------------------------------------------------------------------------------


def test_table_and_summary() -> None:
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table.table(report()))
    text = console.export_text()
    assert "400 (8.00x)" in text and "numba 2.00x" in text and "TypingError" in text and "50 %" in text
    lines = "\n".join(table.summary(report()))
    assert "1 of 2 kernels below 0.80x" in lines and "median first call 0.40 s" in lines
    assert "one (31 against 10 MB)" in lines
    assert table.line(report().kernels[1], ("numpy", "numba")).startswith("two") and "limits" in table.limits(report())


def test_changes_above_a_tenth_are_marked() -> None:
    assert [compare.mark(ratio) for ratio in (0.5, 0.95, 1.05, 1.2)] == ["faster", "", "", "slower"]
    kernel = KernelResult("k", (right("weft", 0.2), right("weft@abc", 0.1)))
    assert "2.00x over 1 kernels; 0 faster and 1 slower" in compare.summary(Report((), (kernel,)), "weft@abc")


def test_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.harness.picture import draw

    draw(report(), tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


# --- sources --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_gathered_source_is_a_module_of_its_own(name: str, tmp_path: Path) -> None:
    benchmark = load(name, hand=False)
    module = load_text(gather(benchmark.plain).text(), tmp_path, f"gathered_{name}")
    arguments, expected = benchmark.arguments("tiny"), benchmark.arguments("tiny")
    with np.errstate(all="ignore"):
        value, wanted = module.numpy_form(*arguments), benchmark.plain(*expected)
    assert agree((value, arguments), (wanted, expected), benchmark.tolerance)


def test_decorators_go_on_every_function() -> None:
    text = gather(load("heat_3d", hand=False).plain).text("@kernel", helper_decorator="@helper")
    assert text.index("@helper\ndef step") < text.index("@kernel\ndef numpy_form")


def test_jax_source_is_pure() -> None:
    gathered = gather(load("heat_3d", hand=False).plain)
    known = jax_rule.signatures(gathered)
    assert known["step"].written == ("b",) and known["numpy_form"].written == ("a", "b")
    text = jax_rule.port(gathered, rolled=True)
    ast.parse(text)
    assert "lax.fori_loop" in text and ".at[1:-1, 1:-1, 1:-1].set(" in text and "return (None, (a, b))" in text


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(jax_rule.NoRule, match="while"):
        jax_rule.port(gather(load("channel_flow", hand=False).plain), rolled=True)


def test_sizes_are_written_into_the_source() -> None:
    benchmark = load("adi", hand=False)
    text = with_sizes(gather(benchmark.plain), benchmark.arguments("tiny")).text()
    assert "def numpy_form(u)" in text and "range(3)" in text and "n = " not in text.replace("along =", "")


def test_types_as_pythran_spells_them() -> None:
    values = (np.zeros((2, 3), np.float32), 3, 1.5, np.int64(2), np.zeros(3, complex))
    assert [type_name(value) for value in values] == ["float32[:,:]", "int", "float", "int64", "complex128[:]"]


# --- limits and work ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "operations", "elements"),
    [
        ("gemm", lambda n, m, k: 2 * n * m * k, lambda n, m, k: 2 * n * m + n * k + k * m),
        ("trisolv", lambda n: n * n, lambda n: n * n / 2 + 3 * n),
        ("lu", lambda n: 2 * n**3 / 3, lambda n: 1.5 * n * n),
        ("jacobi_2d", lambda t, n: 10 * t * n * n, lambda t, n: 4 * n * n),
    ],
)
def test_work_is_counted(kernel: str, operations: Any, elements: Any) -> None:
    benchmark = load(kernel, hand=False)
    found = measure(benchmark, "S")
    assert found.operations == pytest.approx(operations(*benchmark.sizes["S"]), rel=0.1)
    assert found.bytes == pytest.approx(8 * elements(*benchmark.sizes["S"]), rel=0.1)


def test_unknown_work_is_said_to_be_unknown() -> None:
    assert measure(load("channel_flow", hand=False), "tiny").operations is None


def test_the_limit_is_the_slower_of_moving_and_computing() -> None:
    found = {"bandwidth": {"1000": 100.0, "1000000": 10.0}, "double": 1e3, "single": 2e3}
    assert limits.bandwidth_at(found["bandwidth"], 10) == 100.0  # type: ignore[arg-type]
    assert limits.bandwidth_at(found["bandwidth"], 1e9) == 10.0  # type: ignore[arg-type]
    assert limits.bandwidth_at(found["bandwidth"], math.sqrt(1e9)) == pytest.approx(55.0)  # type: ignore[arg-type]
    assert machine.fraction(Work(1e6, 500.0), found, 2000.0) == pytest.approx(0.5)
    assert machine.fraction(Work(None, 500.0), found, 10.0) == pytest.approx(0.5)
    assert machine.fraction(None, found, 1.0) is None and machine.fraction(Work(1.0, 1.0), {}, 1.0) is None
    more = machine.larger(found, {**found, "double": 5e3, "bandwidth": {"1000": 50.0, "1000000": 20.0}})
    assert more == {"bandwidth": {"1000": 100.0, "1000000": 20.0}, "double": 5e3, "single": 2e3}


# --- the command ----------------------------------------------------------------------------------------------------


def test_choices() -> None:
    assert command.chosen_frameworks("numba,jax", None) == ("numpy", "numba", "jax", "weft")
    assert command.chosen_frameworks("none", "weft@abc") == ("numpy", "weft", "weft@abc")
    assert set(command.chosen_frameworks(None, None)) == set(FRAMEWORKS)
    assert command.chosen_kernels(None) == list(NAMES) and command.chosen_kernels("lu,gemm") == ["lu", "gemm"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernels", "nonsense"], "unknown kernel 'nonsense'"),
        (["--peers", "fortran"], "unknown peer 'fortran'"),
        (["--resume"], "--resume needs --json"),
        (["--against", "no-such-commit"], "git knows no commit"),
    ],
)
def test_wrong_requests(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == WRONG_REQUEST
    assert message in capsys.readouterr().err


def test_without_a_checkout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "find_root", lambda: None)
    assert main(["bench"]) == WRONG_REQUEST
    assert "source tree" in capsys.readouterr().err


def test_a_job_survives_its_line() -> None:
    job = Job("lu", "numpy", "numpy form", "S", 2, "a", "b")
    assert Job.from_line(job.to_line()) == job


@pytest.mark.slow
def test_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "limits", lambda threads: {})
    monkeypatch.setattr(command.environment, "pin", lambda threads: None)
    parser = argparse.ArgumentParser()
    bench.add_options(parser)
    path = tmp_path / "r.json"
    words = [
        "--kernels",
        "jacobi_1d,lenet",
        "--size",
        "tiny",
        "--peers",
        "none",
        "--seconds",
        "0.05",
        "--json",
        str(path),
    ]
    assert command.main(parser.parse_args(words)) == 0
    found = Report.from_json(json.loads(path.read_text()))
    assert [kernel.kernel for kernel in found.kernels] == ["jacobi_1d", "lenet"]
    first = found.kernels[0]
    assert len(first.of("weft")) == 2 and all(attempt.right for attempt in first.attempts)
    assert first.work is not None and found.versions["numpy"] == np.__version__
    # Nothing is left to do, and nothing is run again.
    assert command.main(parser.parse_args([*words, "--resume"])) == 0
    assert Report.from_json(json.loads(path.read_text())).kernels[0].attempts == first.attempts


def _session(tmp_path: Path, source: str) -> Any:
    """A session whose worker is a script of ours."""
    from benchmarks.harness.session import Session

    script = tmp_path / "worker"
    script.write_text(f"#!{sys.executable}\nimport json, sys, time, os\n{source}\n")
    script.chmod(0o755)
    job = Job("lu", "numba", "numpy form", "S", 2, str(tmp_path / "place"), str(tmp_path / "expected"))
    session = Session(job, str(script), {"PATH": "/usr/bin:/bin"}, 1.0)
    session.prepare()
    return session


@pytest.mark.parametrize(
    ("source", "status", "reason"),
    [
        ("os.kill(os.getpid(), 11)", model.CRASHED, "SIGSEGV"),
        ("sys.exit('bad news')", model.CRASHED, "bad news"),
        (
            "print(json.dumps({'event': 'arguments', 'bytes': 0}), flush=True); time.sleep(60)",
            model.SLOW,
            "longer than 1 s",
        ),
        ("print(json.dumps({'event': 'failed', 'reason': 'TypingError: no'}))", model.REFUSED, "TypingError"),
    ],
)
def test_processes_that_fail(source: str, status: str, reason: str, tmp_path: Path) -> None:
    session = _session(tmp_path, source)
    assert not session.alive and session.attempt.status == status and reason in session.attempt.reason
    assert not (tmp_path / "place").exists()
