"""What is stored of the probes of a model, and when it is old; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.probe.finding import ProbeFinding
from poor_bench.probe.load_curve import LoadCurve
from poor_bench.prompts import hash_llm, hash_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """Findings about one model with the settings it had then."""

    created: str
    """ISO 8601."""
    settings: str
    """`hash_settings` of the model then."""
    digests: tuple[str, ...] = ()
    """What ran, as the server named it in its replies; empty where it does not tell."""
    n_calls: int = 0
    findings: tuple[ProbeFinding, ...] = ()
    load: LoadCurve | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for results, such as `seed ignored`."""
        return tuple(finding.note for finding in self.findings if finding.note)

    @property
    def is_clean(self) -> bool:
        """True if nothing was found that results should carry."""
        return bool(self.findings) and not self.notes

    def is_current(self, llm: LLM, digest: str | None = None) -> bool:
        """True if the probe still holds.

        Args:
            llm: The model as it is now.
            digest: What ran last, by a newer result; None where that is not known.
        """
        is_same = not digest or not self.digests or digest in self.digests
        return is_same and self.settings == hash_settings(llm)

    def add(self, newer: ProbeReport) -> ProbeReport:
        """Join with a newer probe: what it did not look at stays, unless the model changed."""
        is_other = bool(self.digests and newer.digests and not {*self.digests} & {*newer.digests})
        if self.settings != newer.settings or is_other:
            return newer
        found = {finding.setting for finding in newer.findings}
        kept = [finding for finding in self.findings if finding.setting not in found]
        return replace(
            newer,
            digests=tuple(dict.fromkeys((*self.digests, *newer.digests))),
            findings=(*newer.findings, *kept),
            load=newer.load or self.load,
        )


def hash_settings(llm: LLM) -> str:
    """Hash what a probe depends on: model, parameters and server."""
    return hash_text(f"{hash_llm(llm)} {llm.endpoint or ''}", 16)


def keep_current_probes(
    reports: Mapping[str, ProbeReport], llms: Mapping[str, LLM], results: Iterable[Result]
) -> dict[str, ProbeReport]:
    """Choose the probes that still hold, by LLM id.

    Args:
        reports: By LLM id.
        llms: By id.
        results: Those that are newer than a probe tell by their digest what answers now.
    """
    digests = _find_newest_digests(reports, results) if reports else {}
    return {
        llm_id: report
        for llm_id, report in reports.items()
        if llm_id in llms and report.is_current(llms[llm_id], digests.get(llm_id))
    }


def list_notes(reports: Mapping[str, ProbeReport]) -> dict[str, Sequence[str]]:
    """List the remarks for results by LLM id; models without one are left out."""
    return {llm_id: report.notes for llm_id, report in reports.items() if report.notes}


def _find_newest_digests(
    reports: Mapping[str, ProbeReport], results: Iterable[Result]
) -> dict[str, str]:
    newest: dict[str, tuple[str, str]] = {}
    for result in results:
        report = reports.get(result.llm_id)
        if report is None or not result.model_digest or result.timestamp <= report.created:
            continue
        seen = newest.get(result.llm_id)
        if seen is None or result.timestamp > seen[0]:
            newest[result.llm_id] = result.timestamp, result.model_digest
    return {llm_id: digest for llm_id, (_, digest) in newest.items()}
