from __future__ import annotations

from dataclasses import replace

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.comparison.result_set import ResultSet, RunFacts
from poor_bench.comparison.side_rows import TimeVerdict, describe_machine, find_machine_problem
from tests.comparison.builders import scored, side

LAPTOP = {"system": "Linux", "machine": "x86_64", "cpu": "Some CPU", "cores": 8, "memory_gb": 16}


def timed(run_id: str, factor: float, n_tests: int = 5) -> ResultSet:
    results = (
        scored(f"t{n}", run_id=run_id, execution_time_ms=factor * 100 * (n + 1))
        for n in range(n_tests)
    )
    return side(*results, runs={run_id: RunFacts(machine=LAPTOP)})


def verdict(before: ResultSet, after: ResultSet) -> TimeVerdict:
    [comparison] = compare_result_sets(before, after)
    return comparison.times


def test_times_of_one_machine_are_compared_test_by_test() -> None:
    times = verdict(timed("old", 1.0), timed("new", 2.0)).times
    assert times is not None
    assert (times.median_before_ms, times.median_after_ms) == (300.0, 600.0)
    assert round(times.ratio.value, 6) == 2.0
    assert round(times.ratio.low, 6) == 2.0


def test_times_of_other_machines_are_not_compared() -> None:
    slower = timed("new", 2.0)
    moved = side(*slower.results, runs={"new": RunFacts(machine={**LAPTOP, "cores": 4})})
    found = verdict(timed("old", 1.0), moved)
    assert found.times is None
    assert "Some CPU, 8 cores" in found.problem
    assert "Some CPU, 4 cores" in found.problem


def test_times_of_an_unknown_machine_are_not_compared() -> None:
    unknown = side(*timed("new", 2.0).results)
    assert "do not name" in verdict(timed("old", 1.0), unknown).problem


def test_times_with_another_share_of_the_model_on_the_gpu_are_not_compared() -> None:
    whole, half = timed("old", 1.0), timed("new", 2.0)
    results = (replace(result, gpu_share=0.5) for result in half.results)
    full = (replace(result, gpu_share=1.0) for result in whole.results)
    found = verdict(side(*full, runs=whole.runs), side(*results, runs=half.runs))
    assert found.problem == "GPU memory held 50 % to 100 % of the model"


def test_times_of_a_cluster_of_unlike_machines_are_not_compared() -> None:
    machines = {"desk-1": LAPTOP, "desk-2": {**LAPTOP, "cores": 64, "gpu": "NVIDIA L4"}}
    facts = {"new": RunFacts(machine={**LAPTOP, "cores": 2}, machines=machines)}

    def asked_from(*names: str) -> ResultSet:
        results = timed("new", 2.0, n_tests=len(names)).results
        named = (replace(r, machine=name) for r, name in zip(results, names, strict=True))
        return side(*named, runs=facts)

    before = timed("old", 1.0)
    assert verdict(before, asked_from("desk-1", "desk-1", "desk-1")).times is not None
    mixed = verdict(before, asked_from("desk-1", "desk-2", "desk-1"))
    assert "64 cores, 16 GB, NVIDIA L4" in mixed.problem
    assert "do not name" in verdict(before, asked_from("late", "late", "late")).problem


def test_gpu_makes_another_machine_where_both_runs_recorded_it() -> None:
    without, with_gpu = {**LAPTOP, "gpu": ""}, {**LAPTOP, "gpu": "NVIDIA L4"}
    assert not find_machine_problem([LAPTOP, with_gpu])
    assert "NVIDIA L4" in find_machine_problem([without, with_gpu])


def test_python_version_does_not_make_another_machine() -> None:
    newer = timed("new", 1.0)
    runs = {"new": RunFacts(machine={**LAPTOP, "python": "3.13"})}
    assert verdict(timed("old", 1.0), side(*newer.results, runs=runs)).problem == ""


def test_few_tests_give_no_ratio() -> None:
    assert "fewer than 3" in verdict(timed("old", 1.0, 2), timed("new", 2.0, 2)).problem


def test_machine_without_a_known_processor_has_a_name() -> None:
    assert describe_machine({"machine": "arm64"}) == "arm64"
    assert describe_machine({}) == "unknown processor"
