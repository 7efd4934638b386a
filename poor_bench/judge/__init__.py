"""Models as judges: judge an agent by its test results with one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from poor_bench.config.judge_settings import load_judge_settings
from poor_bench.config.load import load_known_llms
from poor_bench.errors import ConfigError
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import (
    APPROVAL_THRESHOLD,
    CaseEvaluation,
    JudgeError,
    Judgement,
    judgement_from_dict,
)
from poor_bench.judge.prompt import JudgedCase, JudgeEvidence, Turn, build_case
from poor_bench.judge.registry import JudgeOptions, judge_llm
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Dimension, Rubric, parse_rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM

Record = Mapping[str, Any]


class Evaluator:
    """Judges agents; `poor_bench.judge.registry` lists where its settings come from.

    Attributes:
        llm: The LLM that judges.

    Example:
        ```python
        with Evaluator(model="ollama:qwen3:8b") as evaluator:
            verdict = evaluator.evaluate(agent, {"name": "sales", "rubric": None}, results)
        print(verdict["overall_score"], verdict["approved"])
        ```
    """

    def __init__(
        self,
        model: str | LLM | None = None,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        base_url: str | None = None,
        threshold: float | None = None,
        strict_rubrics: bool = False,
        data_dir: Path | str = "data",
        manager: LLMManager | None = None,
    ) -> None:
        """Choose the judge and check its settings; no request is sent.

        Args:
            model: An LLM, its id in llms.json, or the name of a Claude model.
            temperature: Overrides the settings.
            max_tokens: Overrides the settings.
            base_url: Address of the API for a Claude model.
            threshold: Lowest overall score, 0 to 10, that approves an agent; 8.0 by default.
            strict_rubrics: Raise an error if the weights of a rubric do not sum to 100.
            data_dir: The workspace; its config.yaml and llms.json are read if they exist.
            manager: Sends the requests; created for the workspace by default.

        Raises:
            ConfigError: If the LLM does not exist, a setting is not valid, or the LLM's key
                (ANTHROPIC_API_KEY for the default judge) is missing.
        """
        folder = Path(data_dir)
        settings = load_judge_settings(folder)
        options = JudgeOptions(
            model=model, temperature=temperature, max_tokens=max_tokens, base_url=base_url
        )
        llms = () if isinstance(model, LLM) else load_known_llms(folder)
        self.llm = judge_llm(options, settings, llms, os.environ)
        limits = (threshold, settings.threshold, APPROVAL_THRESHOLD)
        self._threshold = next(limit for limit in limits if limit is not None)
        self._is_strict = strict_rubrics
        self._owns_manager = manager is None
        self._manager = manager or LLMManager(folder)

    def evaluate(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> dict[str, Any]:
        """Judge an agent and return the verdict; use `evaluate_async` in an event loop.

        Args:
            agent: `id`, `name`, `description`, `system_prompt`. `llm`, the id of the agent's LLM,
                is optional: it reveals an LLM that judges itself.
            skill: `name` and `rubric` (Markdown, or None for the default rubric), or None.
            test_results: For each case `test_name`, `input`, `agent_response`,
                `expected_behavior`, `passed`, `execution_time`. A list of texts as input and
                response is a conversation of several turns.

        Returns:
            `Judgement.as_dict()`: `overall_score` (0 to 10), `scores`, `test_case_evaluations`,
            `strengths`, `weaknesses`, `failures`, `warnings`, `recommendations`, `approved`,
            `judge`, `usage`, `cost_usd`, `attempts`, `is_fallback`, `rubric_hash` and more. If
            the judge cannot be reached, `is_fallback` is True, the score 5.0 and `approved` False.

        Raises:
            ConfigError: If `test_results` is empty, or the rubric or the judge's settings are not
                valid.
        """
        return self.judgement(agent, skill, test_results).as_dict()

    evaluate_sync = evaluate

    async def evaluate_async(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> dict[str, Any]:
        """Judge an agent without blocking the event loop; arguments as for `evaluate`."""
        import asyncio

        return await asyncio.to_thread(self.evaluate, agent, skill, test_results)

    def judgement(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> Judgement:
        """Judge an agent like `evaluate`, with a typed result."""
        if not test_results:
            raise ConfigError("nothing to judge: `test_results` is empty")
        rubric, notes = self._read_rubric(skill)
        judge = Judge(self.llm, self._manager, rubric, threshold=self._threshold)
        judgement = judge.judge(_build_evidence(agent, skill, test_results))
        return replace(
            judgement,
            warnings=(*judgement.warnings, *notes),
            repairs=(*judgement.repairs, *notes),
        )

    def close(self) -> None:
        """Free models and connections."""
        if self._owns_manager:
            self._manager.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _read_rubric(self, skill: Record | None) -> tuple[Rubric, tuple[str, ...]]:
        markdown = (skill or {}).get("rubric")
        if not markdown:
            return DEFAULT_RUBRIC, ()
        name = str((skill or {}).get("name") or "custom")
        return parse_rubric(str(markdown), self._is_strict, name=name)


def evaluate_sync(
    agent: Record, skill: Record | None, test_results: Sequence[Record], **settings: Any
) -> dict[str, Any]:
    """Judge an agent with a temporary `Evaluator(**settings)`; see `Evaluator.evaluate`."""
    with Evaluator(**settings) as evaluator:
        return evaluator.evaluate(agent, skill, test_results)


def _build_evidence(
    agent: Record, skill: Record | None, test_results: Sequence[Record]
) -> JudgeEvidence:
    return JudgeEvidence(
        cases=tuple(build_case(result) for result in test_results),
        description=str(agent.get("description") or ""),
        system_prompt=str(agent.get("system_prompt") or ""),
        skill=str((skill or {}).get("name") or ""),
        written_by=str(agent.get("llm") or ""),
    )


__all__ = [
    "DEFAULT_RUBRIC",
    "CaseEvaluation",
    "Dimension",
    "Evaluator",
    "Judge",
    "JudgeError",
    "JudgeEvidence",
    "JudgedCase",
    "Judgement",
    "Rubric",
    "Turn",
    "build_case",
    "evaluate_sync",
    "judgement_from_dict",
    "parse_rubric",
]
