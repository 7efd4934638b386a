"""Judges of a workspace's responses, their rubrics and estimated cost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from poor_bench.config.judge_settings import JudgeSettings, load_judge_settings
from poor_bench.judge.judge_llm import JudgeOptions, chosen_llm, judge_llm
from poor_bench.judge.prompt import PROMPT_VERSION, judge_messages
from poor_bench.judge.response_rubric import rubric_for
from poor_bench.judge.rubric import Rubric
from poor_bench.judge.subject import JudgedCase, Subject, Turn
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import estimated_cost_usd
from poor_bench.scoring.fingerprint import llm_fingerprint
from poor_bench.scoring.judging import JudgeQuestion

_EXPECTED_RESPONSE = "x" * 2000
_ANY_NONCE = "0" * 16


class WorkspaceJudges:
    """Resolves evaluators' questions to judges and rubrics; reads files on demand."""

    def __init__(
        self, folder: Path, llms: Sequence[LLM], environ: Mapping[str, str] = os.environ
    ) -> None:
        """Prepare without reading files.

        Args:
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
            environ: The environment, for keys and the settings of Claude models.
        """
        self._folder = folder
        self._llms = llms
        self._environ = environ
        self._rubrics: dict[JudgeQuestion, tuple[Rubric, tuple[str, ...]]] = {}

    def llm_of(self, question: JudgeQuestion) -> LLM:
        """Choose the judge.

        Raises:
            ConfigError: If there is no such LLM.
        """
        options = JudgeOptions(model=question.judge or None)
        return chosen_llm(options, self._settings, self._llms, self._environ)

    def rubric_of(self, question: JudgeQuestion) -> tuple[Rubric, tuple[str, ...]]:
        """Read the rubric of a question, with its corrections.

        Raises:
            ConfigError: If the rubric cannot be read or used.
        """
        if question not in self._rubrics:
            self._rubrics[question] = rubric_for(question, self._folder)
        return self._rubrics[question]

    def require(self, question: JudgeQuestion) -> None:
        """Check the judge and rubric of a question.

        Raises:
            ConfigError: If there is no such LLM, its key is missing, or the rubric is not right.
        """
        options = JudgeOptions(model=question.judge or None)
        judge_llm(options, self._settings, self._llms, self._environ)
        self.rubric_of(question)

    def fingerprint(self, questions: Iterable[JudgeQuestion]) -> str:
        """Hash judges, their settings, rubrics and prompt.

        Returns:
            16 hexadecimal digits; an empty text where nothing is asked.

        Raises:
            ConfigError: If a judge or rubric cannot be used.
        """
        parts = [
            [llm_fingerprint(self.llm_of(question)), self.rubric_of(question)[0].hash]
            for question in questions
        ]
        if not parts:
            return ""
        told = json.dumps([PROMPT_VERSION, parts]).encode()
        return hashlib.blake2b(told, digest_size=8).hexdigest()

    def estimated_cost_usd(self, question: JudgeQuestion, prompt: str) -> float | None:
        """Estimate the cost of a question about the response to a prompt.

        Returns:
            US dollars, or None where the judge's prices are not known.

        Raises:
            ConfigError: If the judge or the rubric cannot be used.
        """
        turns = (Turn("user", prompt), Turn("agent", _EXPECTED_RESPONSE))
        case = JudgedCase(name="", turns=turns, expected_behavior=question.expected_behavior)
        rubric, _ = self.rubric_of(question)
        messages = judge_messages(Subject(cases=(case,)), rubric, _ANY_NONCE, advice=())
        once = estimated_cost_usd(self.llm_of(question).prices, messages)
        return None if once is None else once * question.samples

    @cached_property
    def _settings(self) -> JudgeSettings:
        return load_judge_settings(self._folder)
