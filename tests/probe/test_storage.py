"""probes.json: what is kept, joined, and when it is stale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.probe.finding import Setting, say_honoured, say_ignored
from poor_bench.probe.load_curve import LoadCurve, LoadLevel
from poor_bench.probe.report import (
    ProbeReport,
    hash_settings,
    keep_current_probes,
    list_notes,
)
from poor_bench.probe.storage import PROBES_FILE, load_probes, save_probe

LLM_A = LLM(id="p:a", provider="p", name="a", parameters={"seed": 1})
REPORT = ProbeReport(
    created="2026-01-02T00:00:00+00:00",
    settings=hash_settings(LLM_A),
    digests=("v1",),
    n_calls=3,
    findings=(say_ignored(Setting.SEED, "It is dropped."), say_honoured(Setting.STOP, "It ends.")),
)
CURVE = LoadCurve(levels=(LoadLevel(concurrency=1, n_requests=8, n_failed=0),), recommended=1)


def result(digest: str, day: int) -> Result:
    return Result(
        llm_id="p:a",
        test_id="t",
        score=1.0,
        timestamp=f"2026-01-{day:02}T00:00:00+00:00",
        model_digest=digest,
    )


def test_a_probe_is_read_as_it_was_written(tmp_path: Path) -> None:
    save_probe(tmp_path, "p:a", replace(REPORT, load=CURVE))
    assert load_probes(tmp_path) == {"p:a": replace(REPORT, load=CURVE)}
    assert list_notes(load_probes(tmp_path)) == {"p:a": ("seed ignored",)}


def test_a_missing_or_broken_file_counts_as_empty_and_a_broken_entry_as_missing(
    tmp_path: Path,
) -> None:
    assert load_probes(tmp_path) == {}
    (tmp_path / PROBES_FILE).write_text("{broken")
    assert load_probes(tmp_path) == {}
    (tmp_path / PROBES_FILE).write_text('{"version": "1.0", "probes": {"p:b": {"created": 1}}}')
    save_probe(tmp_path, "p:a", REPORT)
    assert list(load_probes(tmp_path)) == ["p:a"]
    assert '"p:b"' in (tmp_path / PROBES_FILE).read_text()


def test_a_later_probe_of_a_part_keeps_the_rest(tmp_path: Path) -> None:
    save_probe(tmp_path, "p:a", REPORT)
    save_probe(tmp_path, "p:a", replace(REPORT, findings=(), digests=(), load=CURVE))
    later = replace(REPORT, findings=(say_honoured(Setting.SEED, "It repeats."),))
    stored = save_probe(tmp_path, "p:a", later)
    assert {finding.setting: finding.verdict for finding in stored.findings} == {
        Setting.SEED: "honoured",
        Setting.STOP: "honoured",
    }
    assert stored.load == CURVE
    assert save_probe(tmp_path, "p:a", replace(later, digests=("v2",))).load is None


def test_a_probe_is_stale_once_settings_or_model_changed() -> None:
    reports, llms = {"p:a": REPORT}, {"p:a": LLM_A}
    assert keep_current_probes(reports, llms, []) == reports
    assert keep_current_probes(reports, llms, [result("v0", 1), result("v1", 3)]) == reports
    assert not keep_current_probes(reports, llms, [result("v1", 3), result("v2", 4)])
    other = replace(LLM_A, parameters={"seed": 2})
    assert not keep_current_probes(reports, {"p:a": other}, [])
    assert not keep_current_probes(reports, {"p:a": replace(LLM_A, endpoint="http://b")}, [])
    assert not keep_current_probes(reports, {}, [])
