"""The agents of a workspace with their rubrics, and the judge with its settings.

Of the settings of a judge, what comes first wins:

1. arguments,
2. the environment: ANTHROPIC_MODEL, ANTHROPIC_TEMPERATURE, ANTHROPIC_MAX_TOKENS and
   ANTHROPIC_BASE_URL,
3. `judge` in the workspace's config.yaml,
4. what llms.json says of the LLM,
5. claude-opus-4-20250514 of Anthropic, temperature 0.3, max_tokens 4000.

Anthropic serves that last one no longer to everybody; naming another one is advised.

The variables hold for Claude models that are named without an entry in llms.json; an LLM of
llms.json keeps its own settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from poor_bench.config.agent_entries import AGENTS_FOLDER, load_agents
from poor_bench.config.judge_settings import JudgeSettings
from poor_bench.config.load import load_llms, raise_errors, require_workspace_folder
from poor_bench.config.names import find_llm, make_unknown_llm_error, name_hint
from poor_bench.errors import ConfigError, ProviderError
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric, parse_rubric
from poor_bench.models.agent import Agent
from poor_bench.models.llm import LLM, Prices, build_base_llm_id
from poor_bench.models.problem import Problem, Severity
from poor_bench.providers.api_keys import read_key
from poor_bench.providers.catalog import PROVIDERS
from poor_bench.providers.embedded_cache import MODEL_SOURCES

Number = TypeVar("Number", int, float)

DEFAULT_MODEL = "claude-opus-4-20250514"
_ANTHROPIC = "anthropic"
_EMBEDDED = "embedded"
_CLAUDE = "claude-"
_KEY_VARIABLE = "ANTHROPIC_API_KEY"
_KNOWN_PRICES = {DEFAULT_MODEL: Prices(input=15.0, output=75.0, cached_input=1.5)}
"""US dollars per million tokens.

Source:
    https://platform.claude.com/docs/en/about-claude/pricing
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Arguments with the highest priority; None means not given."""

    model: str | LLM | None = None
    """An LLM, its id or label in llms.json, `provider:name`, or the name of a Claude model."""
    temperature: float | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    """API address of a Claude model without an entry in llms.json."""


def judge_llm(
    options: JudgeOptions,
    settings: JudgeSettings,
    llms: Iterable[LLM],
    environ: Mapping[str, str],
) -> LLM:
    """Choose the judge like `choose_llm`, and check that its key is set.

    Raises:
        ConfigError: As `choose_llm`, or if the key is missing; the message names its variable,
            never the key.
    """
    llm = choose_llm(options, settings, llms, environ)
    try:
        read_key(llm, environ)
    except ProviderError as error:
        other = "or name another judge: --judge, or `judge.model` in config.yaml"
        hint = error.hint if options.model else f"{error.hint}; {other}"
        raise ConfigError(f"{llm.id} cannot judge: {error}", hint=hint) from error
    return llm


def choose_llm(
    options: JudgeOptions,
    settings: JudgeSettings,
    llms: Iterable[LLM],
    environ: Mapping[str, str],
) -> LLM:
    """Choose the judge and apply the parameters in force.

    Raises:
        ConfigError: If the LLM does not exist, or a variable cannot be read.
    """
    wanted = options.model or _read_environment(environ) or settings.model or DEFAULT_MODEL
    listed = list(llms)
    if isinstance(wanted, LLM):
        llm = wanted
    elif (found := find_llm(wanted, listed)) is not None:
        llm = _add_parameters(found, settings.temperature, settings.max_tokens)
    else:
        llm = _build_unlisted(_complete_name(wanted, listed), options, settings, environ)
    return _add_parameters(llm, options.temperature, options.max_tokens)


def _read_environment(environ: Mapping[str, str]) -> str:
    name = environ.get("ANTHROPIC_MODEL", "").strip().removeprefix(f"{_ANTHROPIC}:")
    return build_base_llm_id(_ANTHROPIC, name) if name else ""


def _add_parameters(llm: LLM, temperature: float | None, max_tokens: int | None) -> LLM:
    given = {"temperature": temperature, "max_tokens": max_tokens}
    set_ones = {name: value for name, value in given.items() if value is not None}
    return replace(llm, parameters={**llm.parameters, **set_ones})


def _complete_name(name: str, llms: Sequence[LLM]) -> str:
    """Expand to `provider:name`; only names of Claude models need no provider.

    A mistyped name must not send what is judged to a server that nobody meant, nor be found out
    after the conversations.
    """
    if name.startswith(_CLAUDE):
        return build_base_llm_id(_ANTHROPIC, name)
    provider, _, model = name.partition(":")
    is_unknown = provider == _EMBEDDED and model not in MODEL_SOURCES
    if provider not in PROVIDERS or not model or is_unknown:
        hint = make_unknown_llm_error(name, llms).hint
        raise ConfigError(f"the judge {name!r} does not exist", hint=hint)
    return name


def _build_unlisted(
    name: str, options: JudgeOptions, settings: JudgeSettings, environ: Mapping[str, str]
) -> LLM:
    provider, _, model = name.partition(":")
    llm = LLM(id=build_base_llm_id(provider, model), provider=provider, name=model)
    llm = _add_parameters(llm, settings.temperature, settings.max_tokens)
    return _make_claude(llm, options, settings, environ) if provider == _ANTHROPIC else llm


def _make_claude(
    llm: LLM, options: JudgeOptions, settings: JudgeSettings, environ: Mapping[str, str]
) -> LLM:
    of_environment = environ.get("ANTHROPIC_BASE_URL")
    endpoint = options.base_url or (None if of_environment else settings.base_url)
    prices = _KNOWN_PRICES.get(llm.name, Prices())
    llm = replace(llm, endpoint=endpoint, api_key_env=_KEY_VARIABLE, prices=prices)
    temperature = _read(environ, "ANTHROPIC_TEMPERATURE", float, (0.0, 1.0))
    return _add_parameters(
        llm, temperature, _read(environ, "ANTHROPIC_MAX_TOKENS", int, (1, 10**9))
    )


def _read(
    environ: Mapping[str, str],
    variable: str,
    parse: Callable[[str], Number],
    limits: tuple[Number, Number],
) -> Number | None:
    text = environ.get(variable, "").strip()
    if not text:
        return None
    with suppress(ValueError):
        value = parse(text)
        if limits[0] <= value <= limits[1]:
            return value
    kind = "whole number" if parse is int else "number"
    raise ConfigError(
        f"the environment variable {variable} must be a {kind} from {limits[0]} to {limits[1]}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistry:
    """The agents of a workspace and their models."""

    agents: Mapping[str, Agent]
    llms: Mapping[str, LLM]
    problems: tuple[Problem, ...]
    """Of the agents' files; errors only of those that are left out."""
    broken: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """Problems of the files that are left out, by the names of the files without `.yaml`."""

    def agent(self, agent_id: str) -> Agent:
        """Look up an agent by id.

        Raises:
            ConfigError: If its file has an error, or there is none; the nearest one is named.
        """
        if agent_id not in self.agents and agent_id in self.broken:
            raise_errors(self.broken[agent_id])
        if agent_id not in self.agents:
            hint = name_hint(agent_id, list(self.agents))
            hint = hint or f"create {AGENTS_FOLDER}/{agent_id}.yaml in the workspace"
            raise ConfigError(f"the agent {agent_id!r} does not exist", hint=hint)
        return self.agents[agent_id]


def load_agent_registry(data_dir: Path) -> AgentRegistry:
    """Read the agents and the LLMs of a workspace.

    Raises:
        ConfigError: With every problem of llms.json.
    """
    require_workspace_folder(data_dir)
    llms = load_llms(data_dir)
    raise_errors(llms.report.problems)
    loaded = load_agents(data_dir, llms.items, list_rubric_problems)
    return AgentRegistry(
        agents=loaded.by_id, llms=llms.by_id, problems=loaded.problems, broken=loaded.broken
    )


def read_rubric(agent: Agent) -> tuple[Rubric, tuple[str, ...]]:
    """Read the rubric of an agent, with its corrections.

    Raises:
        ConfigError: If its rubric cannot be used.
    """
    if agent.skill is None or agent.skill.rubric is None:
        return DEFAULT_RUBRIC, ()
    return parse_rubric(agent.skill.rubric, name=agent.skill.name)


def list_rubric_problems(markdown: str) -> list[Problem]:
    """List the problems of a rubric; corrections are warnings."""
    try:
        _, corrections = parse_rubric(markdown, name="the rubric")
    except ConfigError as error:
        return list(error.problems)
    return [
        Problem(file="", place="", message=text, severity=Severity.WARNING) for text in corrections
    ]


def choose_judges(
    names: tuple[str, ...],
    registry: AgentRegistry,
    settings: JudgeSettings,
    environ: Mapping[str, str],
) -> tuple[LLM, ...]:
    """Choose the judges; the default one if none is named.

    Raises:
        ConfigError: If the LLM does not exist, one is named twice, or its key is missing.
    """
    wanted: tuple[str | None, ...] = names or (None,)
    listed = tuple(registry.llms.values())
    judges = tuple(
        judge_llm(JudgeOptions(model=name), settings, listed, environ) for name in wanted
    )
    ids = [judge.id for judge in judges]
    twice = next((judge_id for judge_id in ids if ids.count(judge_id) > 1), None)
    if twice is not None:
        hint = "use `--repeat N` to ask a judge several times"
        raise ConfigError(f"the judge {twice} is named twice", hint=hint)
    return judges
