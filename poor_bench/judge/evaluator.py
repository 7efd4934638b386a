"""Judge a whole agent by its test results: one call, one dictionary."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from poor_bench.config.files import llms_file, load_llms
from poor_bench.config.judge_settings import load_judge_settings
from poor_bench.config.load import raise_errors
from poor_bench.errors import ConfigError
from poor_bench.judge.judge import Judge
from poor_bench.judge.judge_llm import JudgeOptions, judge_llm
from poor_bench.judge.judgement import APPROVAL_THRESHOLD, Judgement
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Rubric, parse_rubric
from poor_bench.judge.subject import Subject, case_of
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM

Record = Mapping[str, Any]


class Evaluator:
    """Judges agents; see `poor_bench.judge.judge_llm` for who judges with what settings.

    Attributes:
        llm: The LLM that judges.

    Example:
        ```python
        with Evaluator(model="ollama:qwen3:8b") as evaluator:
            verdict = evaluator.evaluate_sync(agent, {"name": "sales", "rubric": None}, results)
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
        """Ask nobody yet.

        Args:
            model: An LLM, its id in llms.json, or the name of a Claude model.
            temperature: In place of what the settings say.
            max_tokens: In place of what the settings say.
            base_url: Where a Claude model is asked.
            threshold: Overall score, 0 to 10, from which on an agent is approved; 8.0 by default.
            strict_rubrics: Whether weights of a rubric that do not sum to 100 are an error.
            data_dir: The workspace: its config.yaml and llms.json count where they exist.
            manager: Asks the LLM; made for the workspace by default.

        Raises:
            ConfigError: If there is no such LLM, a setting cannot be used, or the key of the LLM
                (ANTHROPIC_API_KEY for the default one) is missing.
        """
        folder = Path(data_dir)
        settings = load_judge_settings(folder)
        options = JudgeOptions(
            model=model, temperature=temperature, max_tokens=max_tokens, base_url=base_url
        )
        llms = () if isinstance(model, LLM) else _llms_of(folder)
        self.llm = judge_llm(options, settings, llms, os.environ)
        limits = (threshold, settings.threshold, APPROVAL_THRESHOLD)
        self._threshold = next(limit for limit in limits if limit is not None)
        self._is_strict = strict_rubrics
        self._owns_manager = manager is None
        self._manager = manager or LLMManager(folder)

    async def evaluate(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> dict[str, Any]:
        """Judge an agent without blocking the event loop; see `evaluate_sync`."""
        import asyncio

        return await asyncio.to_thread(self.evaluate_sync, agent, skill, test_results)

    def evaluate_sync(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> dict[str, Any]:
        """Judge an agent.

        Args:
            agent: `id`, `name`, `description`, `system_prompt`; `llm`, the id of the LLM behind it,
                is optional and only tells when an LLM judges itself.
            skill: `name` and `rubric` (Markdown, or None for the default one), or None.
            test_results: `test_name`, `input`, `agent_response`, `expected_behavior`, `passed`,
                `execution_time` of each; input and response may be lists of several turns.

        Returns:
            `Judgement.as_dict()`: `overall_score` (0 to 10), `scores`, `test_case_evaluations`,
            `strengths`, `weaknesses`, `failures`, `warnings`, `recommendations`, `approved`,
            `judge`, `usage`, `cost_usd`, `attempts`, `is_fallback`, `rubric_hash` and more. A judge
            that cannot be asked gives the fallback: 5.0, `is_fallback`, never approved.

        Raises:
            ConfigError: If there is nothing to judge, the rubric cannot be used, or the settings
                of the judge's LLM cannot.
        """
        return self.judgement(agent, skill, test_results).as_dict()

    def judgement(
        self, agent: Record, skill: Record | None, test_results: Sequence[Record]
    ) -> Judgement:
        """Judge an agent; as `evaluate_sync`, with a typed result."""
        if not test_results:
            raise ConfigError("there is nothing to judge: no test results")
        rubric, notes = self._rubric_of(skill)
        judge = Judge(self.llm, self._manager, rubric, threshold=self._threshold)
        judgement = judge.judge(_subject(agent, skill, test_results))
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rubric_of(self, skill: Record | None) -> tuple[Rubric, tuple[str, ...]]:
        markdown = (skill or {}).get("rubric")
        if not markdown:
            return DEFAULT_RUBRIC, ()
        name = str((skill or {}).get("name") or "custom")
        return parse_rubric(str(markdown), self._is_strict, name=name)


def evaluate_sync(
    agent: Record, skill: Record | None, test_results: Sequence[Record], **settings: Any
) -> dict[str, Any]:
    """Judge an agent with an `Evaluator` of these settings; see `Evaluator.evaluate_sync`."""
    with Evaluator(**settings) as evaluator:
        return evaluator.evaluate_sync(agent, skill, test_results)


def _subject(agent: Record, skill: Record | None, test_results: Sequence[Record]) -> Subject:
    return Subject(
        cases=tuple(case_of(result) for result in test_results),
        description=str(agent.get("description") or ""),
        system_prompt=str(agent.get("system_prompt") or ""),
        skill=str((skill or {}).get("name") or ""),
        written_by=str(agent.get("llm") or ""),
    )


def _llms_of(folder: Path) -> Sequence[LLM]:
    if not llms_file(folder).exists():
        return ()
    loaded = load_llms(folder)
    raise_errors(loaded.report.problems)
    return loaded.items
