"""Commands say the same whether results are many, and come from the index, or few."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from poor_bench import messages
from poor_bench.cli.main import main
from poor_bench.gates import check
from poor_bench.issues import detect
from poor_bench.labels.ratings import rate_answer
from poor_bench.labels.storage import add_labels
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.prompts import build_request, request_fingerprint
from poor_bench.results import index, kept_figures, settled, stored_texts, table, text_columns
from poor_bench.results import store as result_store
from poor_bench.results.figures import without_removed
from poor_bench.results.kept_figures import KeptFile
from poor_bench.runner import stale
from poor_bench.runner.scorer import WorkspaceFingerprints
from poor_bench.runner.selection import Selection
from poor_bench.runner.stale import StaleCheck
from poor_bench.statistics.summary import StaleCounts
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.test_figures_agree import LATER, RESULTS


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of every kind: fresh, stale, repeated, failed, newer failed, of removed tests."""
    workspace_files = WorkspaceFiles(tmp_path_factory.mktemp("many_results"))
    for test_id in ("one", "two", "three", "four"):
        workspace_files.add_tests(1, test_id=test_id)
    workspace_files.add_llm("kept", "4")
    workspace_files.add_llm("silent", "4")
    folder = workspace_files.write()
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    tests, llms = runner.workspace.tests_by_id, runner.workspace.llms_by_id
    fresh = [
        replace(
            result,
            request_fingerprint=result.request_fingerprint
            or runner.fingerprints.of_request(llms[result.llm_id], tests[result.test_id]),
            evaluator_fingerprint="other" if result.test_id == "three" else "",
        )
        if result.test_id in tests and result.llm_id in llms and result.trial == 1
        else result
        for result in RESULTS
    ]
    store = runner.config.store
    store.add(fresh, "20260101T000000-a", {})
    store.add(LATER, "20260102T000000-b", {})
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy of these results, for a test that changes them."""
    return shutil.copytree(written, tmp_path / "bench")


FEW = [
    ["status"],
    ["report"],
    ["issues"],
    ["gate", "--min-score", "sums=0.1", "--max-p95-ms", "900", "--max-cost-usd", "0.6"],
    ["compare", "20260101T000000-a", "now", "--llm", "*:kept"],
    ["gate", "--no-regression", "--baseline", "20260101T000000-a"],
    ["compare"],
]
REST = [
    ["gate", "--no-regression", "--baseline", "previous", "--llm", "*:kept", "--json"],
    ["gate", "--no-regression", "--baseline", "previous", "--plan"],
    ["report", "--compare", "previous"],
    ["report", "--compare", "last", "--class", "sums"],
    ["compare", "last", "now", "--json"],
    ["compare", "now", "last"],
    ["status", "--json", "--trials", "2"],
    ["status", "--llm", "*:gone"],
    ["report", "--by", "both"],
    ["report", "--format", "times"],
    ["report", "--stratify", "classes", "--class", "sums"],
    ["report", "--llm", "*:silent"],
    ["issues", "--json"],
    ["issues", "wrong_answer"],
    ["tests", "analyse"],
    ["tests", "analyse", "--all"],
    ["tests", "analyse", "--json"],
    ["issues", "score_zero", "--llm", "*:kept"],
    ["gate", "--min-scored-share", "0.9", "--up-to-date", "--pass-mark", "0.5"],
    ["gate", "--min-pass-rate", "0.1", "--json"],
    ["gate", "--plan", "--drop", "0.2"],
    ["compare", "20260101T000000-a", "now", "--llm", "*:kept", "--class", "sums", "--json"],
    ["compare", "scripted:kept", "scripted:silent", "--json"],
    ["compare", "scripted:kept", "now", "--class", "sums", "--json"],
    ["compare", "scripted:kept", "now", "--json", "--rescore"],
]
SLOW = pytest.mark.slow(reason="shows many results by another option")


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    "words",
    [
        *(pytest.param(words, id=" ".join(words)) for words in FEW),
        *(pytest.param(words, id=" ".join(words), marks=SLOW) for words in REST),
    ],
)
def test_many_results_are_shown_as_few_are(
    folder: Path,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = main([*words, "--data", str(folder)])
    few = capsys.readouterr().out
    keep_all(monkeypatch)
    for _ in ("indexed", "computed and kept", "read"):
        assert main([*words, "--data", str(folder)]) == code
        assert capsys.readouterr().out == few
    assert few


def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat few results as very many: what is computed of them is kept."""
    monkeypatch.setattr(result_store, "FEW_RESULTS", 0)
    monkeypatch.setattr(index, "_PART_ROWS", 1)
    monkeypatch.setattr(table, "_BLOCK_ROWS", 2)
    monkeypatch.setattr(settled, "FEWEST_NEW_ROWS", 1)


def test_a_changed_model_makes_kept_scores_stale(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_status() -> str:
        assert main(["status", "--data", str(folder)]) in {0, 1}
        return capsys.readouterr().out

    keep_all(monkeypatch)
    before = {read_status() for _ in range(3)}
    assert len(before) == 1
    assert [*folder.rglob("figures.requests.json")]
    llms = json.loads((folder / "llms.json").read_text())
    for llm in llms["llms"]:
        llm["parameters"]["temperature"] = 0.875
    (folder / "llms.json").write_text(json.dumps(llms))
    after = {read_status() for _ in range(3)}
    monkeypatch.setattr(result_store, "FEW_RESULTS", 20_000)
    assert after == {read_status()} != before


def _change_parameters(folder: Path) -> None:
    tests = json.loads((folder / "tests.json").read_text())
    for test in tests["tests"]:
        test.setdefault("evaluation_module", {}).setdefault("parameters", {})["changed"] = 1
    (folder / "tests.json").write_text(json.dumps(tests))


def _change_code(folder: Path) -> None:
    [path] = (folder / "evaluators").glob("*.py")
    path.write_text(f"{path.read_text()}\n# changed\n")


@pytest.mark.parametrize("change", [_change_parameters, _change_code])
def test_a_changed_evaluator_makes_kept_scores_stale(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
) -> None:
    def read_stale() -> int:
        assert main(["status", "--json", "--data", str(folder)]) == 0
        return sum(llm["stale_score"] for llm in json.loads(capsys.readouterr().out)["llms"])

    config = WorkspaceFolder(folder)
    fingerprints = WorkspaceRunner(config).fingerprints
    fresh = [
        Result(
            llm_id="scripted:kept",
            test_id=test.test_id,
            score=1.0,
            evaluator_fingerprint=fingerprints.of_evaluator(test),
        )
        for test in config.workspace.tests
    ]
    config.store.add(fresh, "20260103T000000-c", {})
    keep_all(monkeypatch)
    assert [read_stale() for _ in range(3)] == [0, 0, 0]
    assert [*folder.rglob("figures.evaluators.json")]
    change(folder)
    assert [read_stale() for _ in range(2)] == [len(fresh)] * 2


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_requests_of_kept_scores_are_not_hashed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(monkeypatch)
    for _ in range(3):
        asked = note_hashed(monkeypatch)
        main(["status", "--data", str(folder)])
        main(["report", "--data", str(folder)])
    assert not asked


def _change_model(folder: Path) -> None:
    llms = json.loads((folder / "llms.json").read_text())
    for llm in llms["llms"]:
        llm["parameters"]["temperature"] = 0
    (folder / "llms.json").write_text(json.dumps(llms))


def _add_wrong_answer(folder: Path) -> None:
    result = Result(llm_id="scripted:kept", test_id="four", score=0.0, got="5", expected="4")
    WorkspaceFolder(folder).store.add([result], "20260104T000000-d", {})


def _rate(folder: Path) -> None:
    results = WorkspaceFolder(folder).load_results()
    result = next(each for each in results if each.score == 1.0 and each.response)
    rating = rate_answer(result, score=0.0, who="Ann", when="2026-01-03T00:00:00Z")
    add_labels(folder, [rating])


def _add_detector(folder: Path) -> None:
    (folder / "issues").mkdir()
    code = '"""Own."""\ndef detect(result):\n    return "seen"\n'
    (folder / "issues" / "own.py").write_text(code)


def _change_kept(folder: Path) -> None:
    for path in folder.rglob("figures.*.json"):
        path.write_bytes(path.read_bytes().replace(b"one", b"two"))


def _cut_off(folder: Path) -> None:
    for path in folder.rglob("figures.*.json"):
        path.write_bytes(path.read_bytes()[:-2])


def _forget(folder: Path) -> None:
    for path in folder.rglob("figures.*.json"):
        path.unlink()


def _change_our_code(_: Path) -> None:
    """Stands for a change that the test makes."""


_change_wording = partial(_change_our_code)


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    ("change", "is_seen"),
    [
        (_change_parameters, False),
        (_change_code, False),
        (_change_model, False),
        (_add_wrong_answer, True),
        (_rate, True),
        (_add_detector, True),
        (_change_kept, False),
        (_cut_off, False),
        (_forget, False),
        (_change_our_code, False),
    ],
)
def test_kept_causes_hold_until_something_changes(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    is_seen: bool,
) -> None:
    def read() -> str:
        assert main(["issues", "--json", "--data", str(folder)]) == 0
        return capsys.readouterr().out

    keep_all(monkeypatch)
    kept = {read() for _ in range(3)}
    grouped = note_calls(monkeypatch, detect, "group_issues")
    assert {read()} == kept
    assert not grouped
    change(folder)
    if change is _change_our_code:
        monkeypatch.setattr(text_columns, "digest_code", lambda: "of other code")
    changed = read()
    assert len(grouped) == 1
    monkeypatch.setattr(result_store, "FEW_RESULTS", 20_000)
    assert changed == read()
    assert (changed not in kept) is is_seen


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    "change",
    [
        _change_parameters,
        _add_wrong_answer,
        _change_kept,
        _cut_off,
        _forget,
        _change_our_code,
        _change_wording,
    ],
)
def test_a_kept_analysis_of_tests_holds_until_something_changes(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
) -> None:
    def read(*options: str) -> str:
        assert main(["tests", "analyse", *options, "--data", str(folder)]) == 0
        return capsys.readouterr().out

    keep_all(monkeypatch)
    kept = {read("--all") for _ in range(3)}
    analysed = note_calls(monkeypatch, stored_texts, "read_item_analysis")
    assert {read("--all")} == kept
    assert not analysed
    change(folder)
    if change is _change_our_code:
        monkeypatch.setattr(text_columns, "digest_code", lambda: "of other code")
    if change is _change_wording:
        monkeypatch.setattr(messages, "__file__", str(folder / "tests.json"))
    changed = read("--all")
    assert len(analysed) == 1
    assert (changed not in kept) is (change is _add_wrong_answer)
    assert read() != changed
    assert len(analysed) == 2
    _forget(folder)
    assert read("--all") == changed


def test_causes_are_kept_for_a_choice_and_without_a_base_only(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choices: tuple[list[str], ...] = (
        [],
        ["--llm", "*:kept"],
        ["--llm", "*:kept", "--test", "t*"],
        ["--compare", "20260101T000000-a"],
    )

    def read() -> list[str]:
        shown = []
        for choice in choices:
            assert main(["issues", *choice, "--data", str(folder)]) == 0
            shown.append(capsys.readouterr().out)
        return shown

    worse = Result(llm_id="scripted:kept", test_id="two", score=0.0, got="5", expected="4")
    WorkspaceFolder(folder).store.add([worse], "20260104T000000-d", {})
    few = read()
    assert len({*few}) == len(choices)
    keep_all(monkeypatch)
    for _ in range(3):
        assert read() == few
        for choice, expected in zip(choices, few, strict=True):
            for _ in ("worked out", "read"):
                assert main(["issues", *choice, "--data", str(folder)]) == 0
                assert capsys.readouterr().out == expected


def note_hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the tests whose requests are hashed from now on."""
    asked: list[str] = []
    digest = WorkspaceFingerprints.digest_requests

    def note(self: WorkspaceFingerprints, llms: Sequence[LLM], test: Test) -> list[bytes]:
        asked.append(test.test_id)
        return digest(self, llms, test)

    monkeypatch.setattr(WorkspaceFingerprints, "digest_requests", note)
    return asked


def test_states_of_trials_are_found_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["status", "--json", "--data", str(folder)]
    main(words)
    few = capsys.readouterr().out
    keep_all(monkeypatch)
    for _ in range(3):
        noted = note_calls(monkeypatch, stale, "_note_rows")
        main(words)
    assert (noted, capsys.readouterr().out) == ([], few * 3)


def _add_result(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    [test_id, *_] = config.workspace.tests_by_id
    result = Result(llm_id="scripted:silent", test_id=test_id, score=0.5, trial=2)
    config.store.add([result], "20260104T000000-d", {})


def _damage(folder: Path) -> None:
    for path in folder.rglob("figures.sta[tl]e*.json"):
        path.write_bytes(path.read_bytes()[:-3])


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    ("change", "options"),
    [
        pytest.param(_change_parameters, [], id="other parameters"),
        pytest.param(_change_code, [], id="other code"),
        pytest.param(_add_result, ["--trials", "2"], id="a further result"),
        pytest.param(_damage, [], id="damaged"),
        pytest.param(lambda _folder: None, ["--trials", "2"], id="more trials"),
        pytest.param(lambda _folder: None, ["--test", "one"], id="fewer tests"),
        pytest.param(lambda _folder: None, ["--llm", "scripted:kept"], id="fewer models"),
    ],
)
def test_states_of_trials_are_found_again_after_any_change(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    options: list[str],
) -> None:
    words = ["status", "--json", "--data", str(folder)]
    with monkeypatch.context() as patch:
        keep_all(patch)
        for _ in range(3):
            main(words)
        change(folder)
        noted = note_calls(patch, stale, "_note_rows")
        capsys.readouterr()
        main([*words, *options])
        assert len(noted) == 1
        many = capsys.readouterr().out
    main([*words, *options])
    assert capsys.readouterr().out == many


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize("change", [_change_parameters, _change_code, _add_result, _damage])
def test_stale_scores_are_found_once_and_again_after_any_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    def look(*llm_ids: str) -> tuple[list[int], StaleCounts]:
        config = WorkspaceFolder(folder)
        tests = config.workspace.tests_by_id
        stored = without_removed(config.store.table(), tests, generation=1)
        rows, counts = StaleCheck(config).find_rows(stored, llm_ids or None)
        return rows.tolist(), counts

    keep_all(monkeypatch)
    for _ in range(3):
        noted = note_calls(monkeypatch, stale, "StateFinder")
        found = look()
    assert noted == []
    assert found[0]
    change(folder)
    many = look(), look("scripted:kept"), look()
    assert len(noted) >= 2
    monkeypatch.setattr(stale, "_open_kept", lambda *_: KeptFile(None, "stale", None))
    assert many == (look(), look("scripted:kept"), look())
    assert many[0] != many[1]


def note_calls(patch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[object]:
    """List the calls of a function from now on."""
    calls: list[object] = []
    function = getattr(module, name)

    def note(*values: object, **named: object) -> object:
        calls.append(values)
        return function(*values, **named)

    patch.setattr(module, name, note)
    return calls


def test_gates_on_all_tests_take_the_figures_that_a_report_kept(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the figures are computed again")

    words = ["gate", "--min-score", "0.1", "--json", "--data", str(folder)]
    code = main(words)
    few = capsys.readouterr().out
    keep_all(monkeypatch)
    for _ in range(3):
        main(["report", "--data", str(folder)])
    capsys.readouterr()
    monkeypatch.setattr(kept_figures, "summarise", refuse)
    monkeypatch.setattr(check, "summarise", refuse)
    assert main(words) == code
    assert capsys.readouterr().out == few


def test_requests_of_compared_models_are_not_hashed_again(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(monkeypatch)
    words = ["compare", "scripted:kept", "now", "--json", "--data", str(folder)]
    for _ in range(3):
        asked = note_hashed(monkeypatch)
        main(words)
    assert not asked
    out = capsys.readouterr().out
    assert '"n_stale_before": ' in out
    assert '"n_stale_before": 0' not in out


COMPARED = ("compare", "scripted:kept", "scripted:silent", "--json", "--allow", "prompt")


def test_texts_of_compared_models_are_read_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the texts are read again")

    words = [*COMPARED, "--data", str(folder)]
    assert main(words) == 0
    few = capsys.readouterr().out
    keep_all(monkeypatch)
    for _ in range(2):
        main(words)
    capsys.readouterr()
    assert [*folder.rglob("*.compared.columns")]
    with monkeypatch.context() as patched:
        patched.setattr(table.ResultTable, "whole", refuse)
        assert main(words) == 0
    assert capsys.readouterr().out == few
    for path in folder.rglob("*.compared.columns"):
        path.write_bytes(b"broken")
    assert main(words) == 0
    assert capsys.readouterr().out == few


def test_a_newer_answer_to_another_prompt_is_compared_by_what_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_despite() -> int:
        assert main([*COMPARED, "--data", str(folder)]) == 0
        [found] = json.loads(capsys.readouterr().out)["llms"]
        return int(found["despite"].get("prompt", 0))

    def ask(run_id: str, prompt: str) -> None:
        store = WorkspaceFolder(folder).store
        asked = [
            Result(llm_id=llm_id, test_id="one", score=1.0, prompt=text, timestamp=run_id)
            for llm_id, text in (("scripted:kept", prompt), ("scripted:silent", "asked"))
        ]
        store.add(asked, run_id, {})

    keep_all(monkeypatch)
    ask("20260103T000000-c", "asked")
    assert [count_despite() for _ in range(2)] == [0, 0]
    ask("20260104T000000-d", "asked otherwise")
    assert [count_despite() for _ in range(2)] == [1, 1]


def test_many_results_are_the_same_rows_of_csv_as_few(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["report", "--format", "csv", "--data", str(folder)])
    few = capsys.readouterr().out.splitlines()
    monkeypatch.setattr(result_store, "FEW_RESULTS", 0)
    path = folder / "rows.csv"
    main(["report", "--output", str(path), "--data", str(folder)])
    many = path.read_text(encoding="utf-8").splitlines()
    assert (many[0], sorted(many)) == (few[0], sorted(few))
    assert sum(",stale" in line for line in few) > 1


def test_many_results_are_the_same_document_as_few(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> dict[str, Any]:
        main(["report", "--json", "--data", str(folder)])
        text = capsys.readouterr().out
        document = json.loads(text)
        assert text == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        document["results"].sort(key=lambda each: repr(sorted(each.items())))
        return {**document, "created": ""}

    few = read()
    monkeypatch.setattr(result_store, "FEW_RESULTS", 0)
    assert read() == few
    assert few["results"]


def test_fingerprints_of_many_models_are_those_of_each(folder: Path) -> None:
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    classes, now = runner.workspace.test_classes, runner.fingerprints
    llms = runner.workspace.llms
    warmer = [replace(llm, parameters={**llm.parameters, "temperature": 2.0}) for llm in llms]
    for test in runner.states(Selection()).tests:
        for asked in (llms, warmer, llms):  # under the same ids
            alone = [
                request_fingerprint(llm, build_request(llm, classes[test.class_id], test))
                for llm in asked
            ]
            assert [now.of_request(llm, test) for llm in asked] == alone
            assert now.digest_requests(asked, test) == [bytes.fromhex(each) for each in alone]


UNUSED = {
    "duckdb",
    "numpy.ma",
    "poor_bench.comparison.compare",
    "poor_bench.extraction.refusal",
    "poor_bench.issues.detect",
    "poor_bench.lint.cheats",
    "poor_bench.probe.report",
    "poor_bench.scoring.judging",
    "poor_bench.statistics.items",
}


@pytest.mark.slow(reason="starts another process")
def test_a_report_of_kept_figures_imports_what_it_shows_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(monkeypatch)
    for _ in range(2):
        main(["report", "--data", str(folder)])
    code = (
        "import sys; from poor_bench.results import store; store.FEW_RESULTS = 0\n"
        "from poor_bench.cli import report; report._QUICKLY_READ = 0\n"
        "from poor_bench.cli.main import main\n"
        f"main(['report', '--stratify', 'tests', '--data', {str(folder)!r}])\n"
        "print(*sys.modules, sep='\\n')"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not UNUSED.intersection(shown.stdout.splitlines())
    assert all(map(find_spec, UNUSED)), "the names are those of real modules"
