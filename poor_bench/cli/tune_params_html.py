"""HTML report of a sweep, with charts."""

from __future__ import annotations

from dataclasses import replace

from poor_bench.reports.html.page import report_to_html
from poor_bench.reports.report_data import ReportData
from poor_bench.tuning.params.report import ParamsReport
from poor_bench.tuning.params.variants import variant_name
from poor_bench.workspace_folder import WorkspaceFolder


def sweep_html(config: WorkspaceFolder, report: ParamsReport) -> str:
    """Render the leaderboard of the variants, and score against time.

    Raises:
        StoreError: If the results cannot be read.
    """
    variant_ids = {row.variant_id for row in report.standings}
    test_ids = set(report.header["tests"])
    base = config.workspace.llms_by_id[report.base_id]
    workspace = config.workspace
    results = [
        result
        for result in config.store.results()
        if result.llm_id in variant_ids and result.test_id in test_ids
    ]
    return report_to_html(
        ReportData(
            title=f"{report.base_id} with other parameters",
            created=str(report.header["started"]),
            results=tuple(results),
            tests={test_id: workspace.tests_by_id[test_id] for test_id in test_ids},
            test_classes=workspace.test_classes,
            llms={
                variant_id: replace(base, id=variant_id, label=variant_name(variant_id, base.id))
                for variant_id in variant_ids
            },
        )
    )
