"""From agents/*.yaml to agents; everything that is wrong with any of them is told at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from poor_bench.config.document import (
    Document,
    Place,
    Report,
    UnreadableError,
    open_document,
    read_text,
)
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.file_models import (
    AgentCaseEntry,
    AgentFile,
    SimulatedUserEntry,
    SkillEntry,
)
from poor_bench.config.names import find_llm, make_unknown_llm_error
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.models.agent import Agent, AgentCase, SimulatedUser, Skill
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity
from poor_bench.safe_files import require_within

AGENTS_FOLDER = "agents"

CheckRubric = Callable[[str], Collection[Problem]]
"""Says what is wrong with a rubric in Markdown, with lines in it; nothing where it is fine."""


@dataclass(frozen=True, slots=True)
class LoadedAgents:
    """The agents of a workspace."""

    by_id: dict[str, Agent]
    """In the order of their files' names."""
    problems: tuple[Problem, ...]
    """Of their files; errors only of those that are left out."""
    broken: dict[str, tuple[Problem, ...]]
    """Problems of the files that are left out, by the names of the files without `.yaml`."""


def load_agents(data_dir: Path, llms: Sequence[LLM], check_rubric: CheckRubric) -> LoadedAgents:
    """Read and check the agents of a workspace; files with an error are left out.

    Args:
        data_dir: The workspace; its folder `agents` may be missing.
        llms: The LLMs that agents and simulated users may name.
        check_rubric: Says what is wrong with a rubric.
    """
    agents: dict[str, Agent] = {}
    broken: dict[str, tuple[Problem, ...]] = {}
    problems: list[Problem] = []
    for path in sorted((data_dir / AGENTS_FOLDER).glob("*.yaml")):
        document, report = open_document(path, parse_yaml)
        agent = _decode(document, path, llms, check_rubric, report) if document else None
        if agent is not None and agent.id in agents:
            report.error(
                ("id",), f"the id `{agent.id}` is already used by another file", code="taken-id"
            )
        problems += report.problems
        if any(problem.severity is Severity.ERROR for problem in report.problems):
            broken[path.stem] = tuple(report.problems)
        elif agent is not None:
            agents[agent.id] = agent
    return LoadedAgents(agents, tuple(problems), broken)


def _decode(
    document: Document,
    path: Path,
    llms: Sequence[LLM],
    check_rubric: CheckRubric,
    report: Report,
) -> Agent | None:
    if not isinstance(document.data, dict):
        report.error((), "must be a mapping with the keys of one agent", code="bad-type")
        return None
    check_version(document.data, report)
    entry = validate_entry(AgentFile, document.data, (), report)
    if entry is None:
        return None
    _check_llms(entry, llms, report)
    _check_cases(entry, report)
    return _to_agent(entry, path, llms, _read_rubric(entry.skill, path, check_rubric, report))


def _check_llms(entry: AgentFile, llms: Sequence[LLM], report: Report) -> None:
    named: dict[Place, str] = {("llm",): entry.llm}
    for index, case in enumerate(entry.cases):
        if case.simulated_user is not None and case.simulated_user.llm:
            named["cases", index, "simulated_user", "llm"] = case.simulated_user.llm
    for place, name in named.items():
        if find_llm(name, llms) is None:
            hint = make_unknown_llm_error(name, llms).hint
            report.error(place, f"unknown model `{name}`", hint=hint, code="unknown-llm")


def _check_cases(entry: AgentFile, report: Report) -> None:
    seen: dict[str, int] = {}
    for index, case in enumerate(entry.cases):
        place = ("cases", index)
        if (case.input is None) == (case.turns is None):
            message = "give either `input` or `turns`"
            report.error(place, message, code="input-or-turns")
        if seen.setdefault(case.id, index) != index:
            message = f"the id `{case.id}` is already used by cases[{seen[case.id]}]"
            report.error((*place, "id"), message, code="duplicate-id")
        user = case.simulated_user
        if user is not None and len(case.turns or "1") >= user.max_turns:
            message = "leaves the simulated user nothing to say: the written turns count, too"
            report.warning((*place, "simulated_user", "max_turns"), message, code="no-turns-left")


def _read_rubric(
    skill: SkillEntry | None, path: Path, check_rubric: CheckRubric, report: Report
) -> str | None:
    if skill is None:
        return None
    place: Place = ("skill", "rubric_file" if skill.rubric_file else "rubric")
    rubric = skill.rubric
    if skill.rubric_file:
        if rubric is not None:
            report.error(place, "give either `rubric` or `rubric_file`", code="two-rubrics")
        try:
            workspace = path.parent.parent
            rubric = read_text(require_within(workspace, skill.rubric_file, start=path.parent))
        except (OSError, UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            report.error(place, f"{skill.rubric_file}: {reason}", code="unreadable")
            return None
    for problem in check_rubric(rubric) if rubric is not None else ():
        line = "" if problem.line is None else f"line {problem.line} of the rubric: "
        note = report.error if problem.severity is Severity.ERROR else report.warning
        note(place, f"{line}{problem.message}", hint=problem.hint, code="bad-rubric")
    return rubric


def _to_agent(entry: AgentFile, path: Path, llms: Sequence[LLM], rubric: str | None) -> Agent:
    def find_id(name: str) -> str:
        llm = find_llm(name, llms)
        return name if llm is None else llm.id

    agent_id = entry.id or path.stem
    skill = None if entry.skill is None else Skill(name=entry.skill.name, rubric=rubric)
    return Agent(
        id=agent_id,
        name=entry.name or agent_id,
        description=entry.description,
        system_prompt=entry.system_prompt.strip(),
        llm_id=find_id(entry.llm),
        skill=skill,
        threshold=entry.threshold,
        cases=tuple(_to_case(case, entry.llm, find_id) for case in entry.cases),
    )


def _to_case(entry: AgentCaseEntry, llm: str, find_id: Callable[[str], str]) -> AgentCase:
    user = entry.simulated_user
    return AgentCase(
        id=entry.id,
        turns=tuple(entry.turns or [entry.input or ""]),
        expected_behavior=entry.expected_behavior.strip(),
        simulated_user=None if user is None else _to_user(user, find_id(user.llm or llm)),
        contains=tuple(entry.contains),
        contains_not=tuple(entry.contains_not),
        group=entry.group,
    )


def _to_user(entry: SimulatedUserEntry, llm_id: str) -> SimulatedUser:
    written = entry.model_dump(exclude={"llm"})
    return SimulatedUser(**written | {"persona": entry.persona.strip(), "llm_id": llm_id})
