"""`doctor`: what is installed, reachable and in force."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from poor_bench import __version__
from poor_bench.cli.context import AppContext, open_chosen_cluster, pass_app
from poor_bench.cli.output import console, json_option, print_json, show_status
from poor_bench.command_line import write_python_command
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.messages import harmless, write_count, write_removed_tests

if TYPE_CHECKING:
    from rich.text import Text

    from poor_bench.cluster.members import ClusterMember
    from poor_bench.cluster.session import ClusterSession
    from poor_bench.models.llm import LLM


REQUIRED = (
    "dash", "plotly", "pandas", "numpy", "scipy", "pyyaml", "urllib3", "pydantic",
    "click", "rich", "orjson", "filelock", "jinja2", "json-repair", "jsonschema", "rapidfuzz",
    "regex", "dash-ag-grid", "dash-mantine-components", "flask-compress", "brotli", "cachetools",
    "duckdb", "psutil", "ruamel.yaml", "waitress", "xllamacpp", "markdown-it-py", "pygments",
    "latex2mathml",
)  # fmt: skip
"""What requirements.txt names; an installed package has no such file."""
_OPTIONAL = (
    "playwright", "sympy", "reasoning-gym", "gepa", "optuna", "miniwob", "browser-use",
    "distributed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One line of the doctor's report."""

    name: str
    state: str
    """`ok`, `note` or `problem`."""
    message: str


@click.command()
@click.option("--cluster", metavar="ADDRESS", help="Check the workers of a dask scheduler instead.")
@json_option
@pass_app
def command(app: AppContext, /, cluster: str | None, as_json: bool) -> int:
    """Check the installation, the workspace, the results, the sandbox and the endpoints."""
    examinations = _EXAMINATIONS if cluster is None else (_make_cluster_examination(cluster),)
    findings = [finding for examine in examinations for finding in _run_examination(examine, app)]
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            console().print(_format_finding(finding))
    return 2 if any(finding.state == "problem" for finding in findings) else 0


def _make_cluster_examination(address: str) -> Callable[[AppContext], list[DoctorFinding]]:
    def cluster(app: AppContext) -> list[DoctorFinding]:
        return list(_examine_cluster(app, address))

    return cluster


def _run_examination(
    examine: Callable[[AppContext], list[DoctorFinding]], app: AppContext
) -> list[DoctorFinding]:
    try:
        return examine(app)
    except PoorBenchError as error:
        name = examine.__name__.removeprefix("_check_")
        return [DoctorFinding(name, "problem", line) for line in _list_lines(error)]


def _list_lines(error: PoorBenchError) -> list[str]:
    problems = error.problems if isinstance(error, ConfigError) else ()
    hint = f" ({error.hint})" if error.hint else ""
    return [str(error) + hint, *map(str, problems)]


def _check_python(_app: AppContext) -> list[DoctorFinding]:
    where = f"{platform.python_version()} in {sys.prefix}, {platform.system()} {platform.machine()}"
    state = "ok" if sys.version_info >= (3, 11) else "problem"
    return [DoctorFinding("poor_bench", "ok", __version__), DoctorFinding("python", state, where)]


def _check_packages(_app: AppContext) -> list[DoctorFinding]:
    missing = [name for name in REQUIRED if _find_version(name) is None]
    found = DoctorFinding("packages", "ok", f"all {len(REQUIRED)} required ones are installed")
    if missing:
        install = write_python_command("-m pip install -r requirements.txt")
        way_out = f"missing: {', '.join(missing)}; install them: {install}"
        found = DoctorFinding("packages", "problem", way_out)
    extras = [f"{name} {_find_version(name) or 'not installed'}" for name in _OPTIONAL]
    return [found, DoctorFinding("optional", "note", ", ".join(extras))]


def _find_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _check_workspace(app: AppContext) -> list[DoctorFinding]:
    workspace = app.workspace
    contents = (
        f"{app.data_dir}: {write_count(len(workspace.test_classes), 'class')}, "
        f"{write_count(len(workspace.tests), 'test')}, {write_count(len(workspace.llms), 'model')}"
    )
    warnings = [DoctorFinding("workspace", "note", str(problem)) for problem in workspace.problems]
    return [DoctorFinding("workspace", "ok", contents), *warnings]


def _check_evaluators(app: AppContext) -> list[DoctorFinding]:
    report = app.evaluators.load_all()
    broken = [
        DoctorFinding("evaluators", "problem", str(error)) for error in report.failures.values()
    ]
    n_usable = f"{write_count(len(report.evaluators), 'evaluator')} can be used"
    return [DoctorFinding("evaluators", "ok", n_usable), *broken]


def _check_results(app: AppContext) -> list[DoctorFinding]:
    from poor_bench.statistics.summary import count_trials

    known = app.workspace.tests_by_id
    results = list(app.store.results())
    kept = [result for result in results if result.test_id in known]
    counts = count_trials(kept)
    message = f"{app.store.paths.snapshot}: {counts.n_scored} scored, {counts.n_failed} failed"
    if counts.n_newer_failed:
        message += f", {write_count(counts.n_newer_failed, 'newer failed attempt')}"
    if len(kept) < len(results):
        message += f"; {write_removed_tests(len(results) - len(kept))}"
    return [DoctorFinding("results", "ok", message)]


def _check_sandbox(app: AppContext) -> list[DoctorFinding]:
    from poor_bench.sandbox import describe_sandbox_terms, describe_weakness
    from poor_bench.sandbox.levels import Mechanism
    from poor_bench.workspace_runner import accept_level_in

    accept_level_in(app.data_dir)
    terms = describe_sandbox_terms()
    status = terms.status
    missing = [f"without {name}: {reason}" for name, reason in status.missing.items()]
    if Mechanism.TASK_LIMIT in status.missing:
        missing.append("a program can start any number of threads and processes")
    in_force = DoctorFinding("sandbox", "ok", f"isolation level in force: {status.level.label}")
    if terms.is_refused:
        in_force = DoctorFinding("sandbox", "problem", f"{terms.refusal}. To go on, {terms.fix}.")
    elif weakness := describe_weakness(status):
        in_force = DoctorFinding("sandbox", "problem", f"{weakness}; config.yaml accepts it.")
    return [in_force, *(DoctorFinding("sandbox", "note", line) for line in missing)]


def _check_embedded(_app: AppContext) -> list[DoctorFinding]:
    from poor_bench.providers.embedded import find_cached_model

    path = find_cached_model()
    if path is None:
        return [DoctorFinding("embedded model", "note", "the first run downloads it (98 MB)")]
    return [DoctorFinding("embedded model", "ok", str(path))]


def _check_llms(app: AppContext) -> list[DoctorFinding]:
    from poor_bench.llm_manager import LLMManager

    try:
        llms = app.workspace.enabled_llms
    except PoorBenchError:  # told with the workspace
        return []
    manager = LLMManager(app.data_dir)
    findings = []
    with show_status("Checking the endpoints"):
        for llm in llms:
            check = manager.check(llm)
            state = "ok" if check.state == "ready" else "problem"
            findings.append(DoctorFinding(llm.id, state, check.message or "reachable"))
    manager.close()
    return findings


_EXAMINATIONS = (
    _check_python, _check_packages, _check_workspace, _check_evaluators, _check_results,
    _check_sandbox, _check_embedded, _check_llms,
)  # fmt: skip


def _format_finding(finding: DoctorFinding) -> Text:
    from rich.text import Text

    signs = {"ok": ("ok  ", "green"), "note": ("-   ", "dim"), "problem": ("!!  ", "bold red")}
    sign, style = signs[finding.state]
    line = f"{finding.name:14} {finding.message}"
    return Text.assemble((sign, style), harmless(line))


def _examine_cluster(app: AppContext, address: str) -> Iterator[DoctorFinding]:
    """Examine a cluster: versions, sandbox, keys by name and servers of each worker.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    with open_chosen_cluster(app, address) as cluster:
        session = cluster.session
        members = session.table.members
        yield DoctorFinding("cluster", "ok", f"{address}: {write_count(len(members), 'worker')}")
        for member in members:
            yield from _examine_worker(session, member, app.workspace.enabled_llms)


def _examine_worker(
    session: ClusterSession, member: ClusterMember, llms: tuple[LLM, ...]
) -> Iterator[DoctorFinding]:
    from poor_bench.comparison.side_rows import describe_machine

    name, ready = str(member), member.readiness
    if ready is None:
        yield DoctorFinding(name, "problem", member.refusal)
        return
    facts = f"{describe_machine(ready.machine)}, {write_count(member.n_threads, 'thread')}"
    versions = f"poor_bench {__version__}, Python {ready.machine['python']}"
    yield DoctorFinding(name, "ok", f"{versions}; {facts}")
    definitions = f"has the definitions of the workspace ({session.content_hash[:8]})"
    yield DoctorFinding(name, "ok", definitions)
    is_weak = ready.sandbox < session.lowest
    level = f"sandbox level {ready.sandbox.label}"
    if is_weak:
        yield DoctorFinding(name, "problem", f"{level}; {session.lowest.label} is required")
    else:
        yield DoctorFinding(name, "ok", level)
    if ready.keys:
        yield DoctorFinding(name, "ok", f"keys in its environment: {', '.join(ready.keys)}")
    for llm in llms:
        yield DoctorFinding(name, *_check_llm(session, member, llm))


def _check_llm(session: ClusterSession, member: ClusterMember, llm: LLM) -> tuple[str, str]:
    from poor_bench.cluster import work

    assert member.readiness is not None
    if problem := member.readiness.missing_keys.get(llm.id):
        return "problem", f"{llm.id}: {problem}"
    try:
        outcome = session.call_member(member, work.check, llm)
    except PoorBenchError as error:
        outcome = error
    if not isinstance(outcome, work.WorkDone):
        return "problem", f"{llm.id}: {outcome or 'the worker is gone'}"
    state = "ok" if outcome.value.state == "ready" else "problem"
    return state, f"{llm.id}: {outcome.value.message or 'reachable'}"
