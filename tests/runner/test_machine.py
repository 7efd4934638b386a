from __future__ import annotations

from poor_bench.prompts import hash_llm
from poor_bench.runner.machine import collect_machine_facts, find_cpu_model
from poor_bench.runs.history import read_stored_runs
from tests.conftest import WorkspaceFiles
from tests.runner.running import open_runner, run_all


def test_this_machine_has_cores_and_memory() -> None:
    facts = collect_machine_facts()
    assert facts["cores"] >= 1
    assert facts["memory_gb"] is None or facts["memory_gb"] >= 1
    assert facts["system"]


def test_processor_is_found_whatever_it_is_called() -> None:
    cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n"
    assert find_cpu_model(cpuinfo) == "Some CPU @ 2.0GHz"
    assert find_cpu_model("processor\t: 0\nModel\t\t: Some Board\n") == "Some Board"
    assert find_cpu_model("") == ""


def test_kept_run_tells_machine_and_llm_fingerprints(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    run_all(folder)
    config = open_runner(folder).config
    [run] = read_stored_runs(config.store.paths.runs())
    [llm] = config.load_llms()
    assert run.header["machine"] == collect_machine_facts()
    assert run.header["llm_fingerprints"] == {llm.id: hash_llm(llm)}
