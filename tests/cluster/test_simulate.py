"""Predicted times: right where they can be computed by hand, and never better than the machine described."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.cli import main
from weft.cluster.charts import amount, seconds
from weft.cluster.plan import Plan, stages_of
from weft.cluster.simulate import Machine, Scaling, grown, pace_of, plan_of, predict, scaling, simulate
from weft.cluster.workload import bytes_of, step_work

#: 100 GFLOP/s, 10 GB/s of memory, 1 GB/s of network, 10 microseconds: easy to compute with.
MACHINE = Machine(cores=1, gflops=100.0, arithmetic=10.0, memory=10.0, network=1.0, latency=10.0, task=1000.0)


def add(x, y):
    return x + y


def product(a, b):
    return a @ b


def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def chained(a, b, c, d):
    return (a @ b) @ (c @ d)


def norm(x):
    return np.sqrt(np.sum(x * x))


def transforms(x):
    return np.fft.fft(x, axis=1)


def there_and_back(x):
    columns = np.fft.fft(x, axis=0)
    return np.fft.fft(columns, axis=1)


@pytest.fixture(scope="module")
def plans() -> dict[str, tuple[Plan, dict[str, float]]]:
    square = np.zeros((1000, 1000))
    return {
        "add": plan_of(add, (square, square)),
        "product": plan_of(product, (square, square)),
        "jacobi": plan_of(jacobi, (square, square, 100)),
        "norm": plan_of(norm, (np.zeros(1_000_000),)),
        "transforms": plan_of(transforms, (square.astype(complex),)),
        "there_and_back": plan_of(there_and_back, (square.astype(complex),)),
    }


def _predicted(plans: dict[str, tuple[Plan, dict[str, float]]], name: str, nodes: int) -> dict[str, float]:
    return dict(predict(*plans[name], MACHINE, nodes).kinds)


def test_one_node_is_a_roofline(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    assert predict(*plans["add"], MACHINE, 1).seconds == pytest.approx(24e6 / 10e9)  # three arrays through memory
    assert predict(*plans["product"], MACHINE, 1).seconds == pytest.approx(2e9 / 100e9)
    assert predict(*plans["jacobi"], MACHINE, 1).seconds == pytest.approx(200 * 16e6 / 10e9)
    flops = 1000 * 5 * 1000 * np.log2(1000)
    assert predict(*plans["transforms"], MACHINE, 1).seconds == pytest.approx(flops / 10e9, rel=0.01)


def test_what_is_apart_scales_perfectly(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    alone, shared = predict(*plans["add"], MACHINE, 1), predict(*plans["add"], MACHINE, 8)
    assert shared.seconds == pytest.approx(alone.seconds / 8)
    assert shared.sent == 0.0


def test_a_share_is_never_less_than_one_row(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    assert predict(*plans["add"], MACHINE, 5000).seconds == pytest.approx(24e6 / 10e9 / 1000)
    uneven = predict(*plans["add"], MACHINE, 3)
    assert uneven.seconds == pytest.approx(24e6 / 10e9 * 334 / 1000)


def test_edges_are_sent_once_a_sweep(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    found = predict(*plans["jacobi"], MACHINE, 4)
    assert found.sent == pytest.approx(200 * 2 * 3 * 8000)  # sweeps, sides, borders, bytes of a row
    # One sweep of a quarter takes 400 us, two rows 36 us: that is hidden.
    assert found.kinds["edges"] == 0.0
    hidden = predict(*plans["jacobi"], MACHINE, 1000)
    assert hidden.kinds["edges"] == pytest.approx(200 * (2 * (10e-6 + 8e-6) - 16e3 / 10e9))


def test_sums_take_a_tree(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    for nodes, rounds in ((2, 1), (8, 3), (9, 4)):
        assert _predicted(plans, "norm", nodes)["sums"] == pytest.approx(2 * rounds * (10e-6 + 8e-9))
    assert _predicted(plans, "norm", 1)["sums"] == 0.0


def test_products_move_the_smaller_amount(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    copies = {nodes: _predicted(plans, "product", nodes)["copies"] for nodes in (2, 100)}
    assert copies[2] == pytest.approx(4e-3 + 2 * 10e-6)  # half of one matrix
    assert copies[100] == pytest.approx(2 * 10 * (10e-6 + 8e6 / 100 / 1e9))  # blocks along rows and columns


def test_another_distribution_is_all_to_all(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    assert _predicted(plans, "there_and_back", 4)["moves"] == pytest.approx(3 * (10e-6 + 16e6 / 16 / 1e9))


def test_work_is_counted(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    plan, sizes = plans["product"]
    stage = next(step for step in plan.steps if hasattr(step, "extent"))
    assert step_work(stage, sizes).products == 2e9
    assert step_work(stage, sizes).others == 0.0
    assert bytes_of(plan.program, "a", sizes) == 8e6


def test_a_measured_call_sets_the_pace(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    plan, sizes = plans["jacobi"]
    model = predict(plan, sizes, MACHINE, 1).seconds
    pace = pace_of(plan, sizes, MACHINE, model / 4)  # code that keeps the arrays in a cache
    assert pace == pytest.approx(0.25)
    assert predict(plan, sizes, MACHINE, 1, pace=pace).seconds == pytest.approx(model / 4)
    # What is computed sooner hides less of what is sent.
    hidden, shown = predict(plan, sizes, MACHINE, 32), predict(plan, sizes, MACHINE, 32, pace=0.25)
    assert hidden.kinds["edges"] <= shown.kinds["edges"] and hidden.sent == shown.sent
    assert scaling(plan, sizes, MACHINE, (1,), measured=2.0).strong[0].seconds == pytest.approx(2.0)
    with pytest.raises(weft.OptionError, match="above 0"):
        scaling(plan, sizes, MACHINE, (1,), measured=0.0)


def test_a_stage_costs_every_rank_something(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    slow = Machine(cores=1, gflops=100.0, arithmetic=10.0, memory=10.0, network=1.0, latency=10.0, stage=50.0)
    plan, sizes = plans["jacobi"]
    assert predict(plan, sizes, slow, 4).kinds["waiting"] == pytest.approx(200 * 50e-6)


def test_products_of_products_stay_on_the_grid() -> None:
    """No product of large matrices is summed over shares: each node would have all of the result."""
    a, b, c, d = (np.zeros(s) for s in ((640, 400), (400, 720), (720, 480), (480, 440)))
    plan, _ = plan_of(chained, (a, b, c, d))
    assert not any(stage.partials for stage in stages_of(plan.steps))
    assert all(stage.across is not None for stage in stages_of(plan.steps))


def test_weak_scaling_to_512_nodes() -> None:
    """At least the efficiencies that DaCe's authors report, with their sizes on a model of their machine."""
    from benchmarks import weak_scaling

    for name in ("atax", "doitgen", "gemm", "mvt", "jacobi_2d"):
        case = weak_scaling.CASES[name]
        found = weak_scaling.predicted(case, (1, 64, 1024))
        assert weak_scaling.efficiency(found)[-1] > max(case.at_least, 0.6), name


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.timeout(400)
def test_predictions_against_ranks_of_this_machine() -> None:
    """A wide bound: other programs on the machine disturb ranks that wait for one another far more than the model."""
    pytest.importorskip("mpi4py")
    from benchmarks import cluster_model

    busy = os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1)
    for row in cluster_model.compare([1, 2], 300):
        assert 1 / (40 if busy else 4) < row["predicted"] / row["measured"] < (40 if busy else 4), row


# --- scaling ----------------------------------------------------------------------------------------------------------


def test_weak_scaling_gives_every_node_as_much(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    plan, sizes = plans["product"]
    larger = grown(plan, sizes, ("a_0", "a_1", "b_1"), 8.0)
    assert larger["a_0"] == larger["a_1"] == larger["b_1"] == 2000
    assert grown(plan, sizes, ("a_0",), 8.0)["a_0"] == 8000


def test_efficiencies(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    for name in plans:
        found = scaling(*plans[name], MACHINE, (1, 2, 7, 64, 1000))
        strong = [found.strong_efficiency(at) for at in range(5)]
        weak = [found.weak_efficiency(at) for at in range(5)]
        assert strong[0] == weak[0] == 1.0
        assert all(0.0 < value <= 1.01 for value in strong + weak), (name, strong, weak)
        assert all(one.nodes == nodes for one, nodes in zip(found.strong, (1, 2, 7, 64, 1000)))


def test_a_better_network_is_never_worse(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    better = Machine(cores=1, gflops=100.0, arithmetic=10.0, memory=10.0, network=50.0, latency=1.0)
    for name, (plan, sizes) in plans.items():
        for nodes in (2, 16, 512):
            assert predict(plan, sizes, better, nodes).seconds <= predict(plan, sizes, MACHINE, nodes).seconds, name


def test_ray_pays_for_tasks_and_for_sending(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    found = predict(*plans["add"], MACHINE, 4, "ray")
    assert found.kinds["waiting"] == pytest.approx(4e-3)
    assert found.kinds["copies"] == pytest.approx(2 * (10e-6 + 8e6 * 3 / 4 / 1e9))


def test_sizes_in_place_of_those_of_the_arguments() -> None:
    small = simulate(add, np.zeros((10, 10)), np.zeros((10, 10)), machine=MACHINE, nodes=(2,), sizes={"x_0": 1_000_000})
    assert small.strong[0].seconds == pytest.approx(3 * 8e7 / 10e9)
    assert simulate(weft.jit(add), np.zeros(10), np.zeros(10), nodes=(2,)).strong[1].nodes == 2


def test_bad_descriptions(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    for wrong in ({"gflops": 0.0}, {"memory": -1.0}, {"network": 0}, {"latency": -1.0}, {"cores": 0}):
        with pytest.raises(weft.OptionError, match="machine's"):
            Machine(**wrong)
    with pytest.raises(weft.OptionError, match="at least 1"):
        scaling(*plans["add"], MACHINE, (0, 2))
    with pytest.raises(weft.OptionError, match="no size 'n'"):
        scaling(*plans["add"], MACHINE, (2,), grow=("n",))
    with pytest.raises(weft.OptionError, match="engine"):
        scaling(*plans["add"], MACHINE, (2,), engine="slurm")  # type: ignore[arg-type]
    with pytest.raises(weft.OptionError, match="no size 'n'"):
        simulate(add, np.zeros(3), np.zeros(3), sizes={"n": 3})


# --- for people -------------------------------------------------------------------------------------------------------


def test_numbers_for_people() -> None:
    assert [seconds(value) for value in (12.0, 0.0123, 4.5e-5, 0.0)] == ["12 s", "12.3 ms", "45 us", "0 us"]
    assert [amount(value) for value in (5.0, 1500.0, 2.5e9)] == ["5 B", "1.5 kB", "2.5 GB"]


def test_the_table(plans: dict[str, tuple[Plan, dict[str, float]]]) -> None:
    found: Scaling = scaling(*plans["jacobi"], MACHINE, (1, 10, 1000))
    text = str(found)
    assert "jacobi with mpi" in text
    assert "1000 nodes: compute" in text
    assert all(len(line) <= 160 for line in text.splitlines())
    assert json.loads(json.dumps(found.to_json()))["strong"][1]["nodes"] == 10


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\n\ndef double(x):\n    return x * 2.0\n\ndef one(x):\n    return x + 1\n")
    place = f"{program}:double"
    assert main(["simulate", place, "np.zeros(100_000)", "--nodes", "1,2,3", "--network", "5"]) == 0
    assert "double with mpi" in capsys.readouterr().out
    picture = tmp_path / "scaling.png"
    pytest.importorskip("matplotlib")
    code = main(["simulate", place, "np.zeros(9)", "--json", "--picture", str(picture), "--size", "x_0=1000000"])
    assert code == 0
    assert picture.stat().st_size > 1000
    assert json.loads(capsys.readouterr().out)["strong"][0]["sizes"] == {"x_0": 1000000}
    wrong = [
        (["nowhere:f", "1"], "no module"),
        ([f"{program}:nothing", "1"], "no function"),
        (["double", "1"], "MODULE:FUNCTION"),
        ([place, "np.zeros("], "failed"),
        ([place, "np.zeros(9)", "--nodes", "some"], "number"),
        ([place, "np.zeros(9)", "--memory", "0"], "above 0"),
        ([f"{program}:one", "3"], "cannot be spread"),
    ]
    for arguments, words in wrong:
        assert main(["simulate", *arguments]) != 0
        assert words in capsys.readouterr().err
