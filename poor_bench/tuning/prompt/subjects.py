"""Texts that can be tuned: prompts of a test class, the system prompt of an agent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from poor_bench.calls.budget import find_unpriced
from poor_bench.config.judge_settings import load_judge_settings
from poor_bench.config.load import Workspace
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError, RecordedError
from poor_bench.judge.conversation import Ask, Conversation, ConversationDriver, list_agent_texts
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import APPROVAL_THRESHOLD, Judgement
from poor_bench.judge.prompt import JudgeEvidence
from poor_bench.judge.registry import AgentRegistry, choose_judges, load_agent_registry, read_rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.agent import AgentCase
from poor_bench.models.completion import Completion, Message, estimate_cost_usd, sum_known
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM, build_base_llm_id
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.plugins.registry import LoadedEvaluator
from poor_bench.prompts import choose_template, hash_llm, hash_text, list_placeholders
from poor_bench.runner.scorer import resolve_spec
from poor_bench.scoring.verdict import MAX_DETAILS
from poor_bench.tuning.prompt.cases import Attempt, Case, CaseFailedError, Solved, TuningSubject
from poor_bench.tuning.searches import sum_result_cost
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

_LONGEST_ANSWER = 1000
"""Characters of an answer that is shown as an example."""


class ClassPart(StrEnum):
    """Which text of a class is tuned."""

    TEMPLATE = "template"
    SYSTEM_PROMPT = "system_prompt"


class ClassPromptSubject:
    """See `poor_bench.tuning.prompt.cases.TuningSubject`."""

    def __init__(
        self,
        config: WorkspaceFolder,
        manager: LLMManager,
        llm: LLM,
        class_id: str,
        part: ClassPart = ClassPart.TEMPLATE,
    ) -> None:
        """Choose the text of a class and its model.

        Raises:
            ConfigError: If the class has no such text, or another text is in force for the LLM.
        """
        self._config = config
        self._manager = manager
        self._llm = llm
        self._part = part
        self._class = config.workspace.test_classes[class_id]
        self.base_text = _read_text(self._class, part, llm)
        is_template = part is ClassPart.TEMPLATE
        self.what = "prompt template" if is_template else "system prompt"
        self.name = f"{self.what} of class {class_id}"
        self.reference: Mapping[str, str] = {
            "kind": "class",
            "class_id": class_id,
            "part": part.value,
        }
        self.placeholders = list_placeholders(self.base_text) if is_template else ()
        self._tests = {
            test.test_id: test for test in config.workspace.tests if test.class_id == class_id
        }
        self.cases: Sequence[Case] = [
            Case(test.test_id, test.level, test.group) for test in self._tests.values()
        ]
        scorer = self._make_runner(self.base_text).scorer
        judged = [test for test in self._tests.values() if scorer.is_judged(test)]
        judges = {judge.id: judge for judge in map(scorer.find_judge, judged)}
        self.llms: Sequence[LLM] = [llm, *judges.values()]
        self.n_calls_per_case = 2 if judged else 1

    @property
    def fingerprint(self) -> str:
        """Changes with everything but the text that is tuned."""
        fingerprints = self._make_runner("").fingerprints
        facts = [
            (test_id, fingerprints.of_request(self._llm, test), fingerprints.of_evaluator(test))
            for test_id, test in self._tests.items()
        ]
        given = [_write_given(test) for test in self._tests.values()]
        text = json.dumps([hash_llm(self._llm), facts, given])
        return hash_text(text, 16)

    def estimate_cost_usd(self) -> float | None:
        """Estimate the cost of an attempt with its judge; None where a price is unknown."""
        tests = list(self._tests.values())
        return self._make_runner(self.base_text).cost_per_test_usd(self._llm, tests)

    def find_solved(self, case_id: str, answers: Sequence[str]) -> Solved | None:
        """Find an answer with full score and correct format.

        Returns:
            The first of `answers`, of the test's own reference response and of the evaluator's
            that is right; None if none is, or an LLM would have to judge it.
        """
        test = self._tests[case_id]
        spec = resolve_spec(self._config.workspace, test)
        evaluator = self._config.evaluators.get(spec.name)
        if evaluator.questions(spec.parameters):
            return None
        known = (*answers, test.reference_response, evaluator.reference(spec.parameters))
        for answer in filter(None, known):
            if len(answer) <= _LONGEST_ANSWER and _is_right(evaluator, spec, answer):
                return Solved(case_id, _write_given(test), answer.strip())
        return None

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Ask the LLM with a text, and score what it answers.

        Raises:
            CaseFailedError: If it could not be asked or scored.
            RunCancelledError: If `cancelled()` turned true.
        """
        test = self._tests[case_id]
        result = self._make_runner(text).try_once(self._llm, test, cancelled=cancelled)
        if result.failure is not None:
            raise CaseFailedError(case_id, result.failure)
        assert result.score is not None
        is_template = self._part is ClassPart.TEMPLATE
        return Attempt(
            case_id=case_id,
            score=result.score,
            given=_write_given(test) if is_template else result.prompt,
            answer=result.response,
            feedback=_write_feedback(result),
            cost_usd=sum_result_cost(result),
            time_ms=result.execution_time_ms,
        )

    def _make_runner(self, text: str) -> WorkspaceRunner:
        return WorkspaceRunner(self._config, self._manager, workspace=self._make_workspace(text))

    def _make_workspace(self, text: str) -> Workspace:
        if self._part is ClassPart.TEMPLATE:
            changed = replace(self._class, templates={**self._class.templates, "default": text})
        else:
            changed = replace(self._class, system_prompt=text)
        workspace = self._config.workspace
        classes = {**workspace.test_classes, changed.id: changed}
        return replace(workspace, test_classes=classes)


def _read_text(test_class: TestClass, part: ClassPart, llm: LLM) -> str:
    default = test_class.templates["default"]
    if part is ClassPart.SYSTEM_PROMPT:
        if not test_class.system_prompt:
            raise ConfigError(
                f"class {test_class.id} has no system prompt",
                hint="Add `system_prompt: ...` to the class in test_classes.yaml.",
            )
        return test_class.system_prompt
    if choose_template(test_class, llm) != default:
        raise ConfigError(
            f"class {test_class.id} has a separate template for {llm.id}",
            hint="Tune another model, or use `--part system_prompt`.",
        )
    return default


def _is_right(evaluator: LoadedEvaluator, spec: EvaluatorSpec, answer: str) -> bool:
    try:
        verdict = evaluator.evaluate(answer, spec.parameters)
    except RecordedError:
        return False
    return verdict.score == 1.0 and verdict.strict_score in {None, 1.0}


def _write_given(test: Test) -> str:
    content = test.text if test.text is not None else json.dumps(test.texts, ensure_ascii=False)
    if not test.fields:
        return content
    return f"{content}\n{json.dumps(dict(test.fields), ensure_ascii=False, default=str)}"


def _write_feedback(result: Result) -> str:
    """Collect the evaluator's details and other evidence."""
    parts = [result.details[:MAX_DETAILS]]
    if result.strict_score is not None:
        parts.append(f"The form of the answer was not kept: {result.strict_score:g} under its rule")
    if result.expected:
        parts.append(f"Expected: {result.expected}. Found: {result.got or 'nothing'}.")
    if result.marks:
        parts.append(f"Remarkable: {', '.join(result.marks)}.")
    return "\n".join(part for part in parts if part)


_MOST_SCORE = 10.0


class AgentPromptSubject:
    """See `poor_bench.tuning.prompt.cases.TuningSubject`.

    Each conversation is judged by itself, so that every case has a score of its own. The judge is
    always shown the system prompt in use: a candidate that demands less of the agent must not be
    judged by its own words.
    """

    what = "system prompt"
    placeholders: tuple[str, ...] = ()

    def __init__(
        self, registry: AgentRegistry, agent_id: str, judge: LLM, manager: LLMManager
    ) -> None:
        """Choose the agent and who judges it.

        Raises:
            ConfigError: If the agent does not exist, or its rubric cannot be used.
        """
        self._agent = registry.agent(agent_id)
        self._llms = registry.llms
        self._manager = manager
        self._judge = Judge(judge, manager, read_rubric(self._agent)[0])
        self._cases = {case.id: case for case in self._agent.cases}
        self.llm = registry.llms[self._agent.llm_id]
        self.base_text = self._agent.system_prompt
        self.name = f"system prompt of agent {agent_id}"
        self.reference: Mapping[str, str] = {
            "kind": "agent",
            "agent_id": agent_id,
            "judge": judge.id,
        }
        users = (case.simulated_user for case in self._cases.values())
        parts = {self._agent.llm_id, *(user.llm_id for user in users if user is not None)}
        self.llms: Sequence[LLM] = [*(registry.llms[llm_id] for llm_id in sorted(parts)), judge]
        self.cases: Sequence[Case] = [Case(case_id) for case_id in self._cases]
        self.n_calls_per_case = 1 + max(map(_count_calls, self._cases.values()))

    @property
    def fingerprint(self) -> str:
        """Changes with everything but the text that is tuned."""
        others = replace(self._agent, system_prompt="")
        who = (hash_llm(self.llm), hash_llm(self._judge.llm), self._judge.rubric.hash)
        text = repr((others, who))
        return hash_text(text, 16)

    def estimate_cost_usd(self) -> float | None:
        """Estimate the cost of a conversation and its judgement; None where a price is unknown.

        Each call is taken to send the agent's prompt, and to get a reply of usual length.
        """
        prompt = (Message("system", self.base_text),)
        if find_unpriced(self.llms, self._manager.is_local):
            return None
        costs = [estimate_cost_usd(llm.prices, prompt) or 0.0 for llm in self.llms]
        return self.n_calls_per_case * sum(costs) / len(costs)

    def find_solved(self, _case_id: str, _answers: Sequence[str]) -> Solved | None:
        """Find nothing: a praised answer is not an example for other cases."""
        return None

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Talk to the agent with a system prompt, and have the conversation judged.

        Raises:
            CaseFailedError: If the conversation broke off, or was not judged.
            RunCancelledError: If `cancelled()` turned true.
        """
        asked: list[str] = []

        def ask(llm: LLM, messages: tuple[Message, ...]) -> Completion:
            asked.append(llm.id)
            return self._manager.complete(llm, messages, cancelled)

        conversation = self._talk(text, self._cases[case_id], ask)
        if conversation.failure is not None:
            raise CaseFailedError(case_id, conversation.failure)
        judgement = self._ask_judge(conversation, cancelled)
        return Attempt(
            case_id=case_id,
            score=judgement.overall_score / _MOST_SCORE,
            given="\n".join(turn.text for turn in conversation.turns if turn.speaker == "user"),
            answer="\n".join(list_agent_texts(conversation.turns)),
            feedback=_describe_judgement(conversation, judgement),
            cost_usd=sum_known((conversation.cost_usd, judgement.cost_usd)),
            time_ms=conversation.time_ms,
            n_calls=len(asked) + judgement.attempts,
        )

    def _talk(self, text: str, case: AgentCase, ask: Ask) -> Conversation:
        driver = ConversationDriver(
            agent=replace(self._agent, system_prompt=text),
            llms=self._llms,
            ask=ask,
            now_iso=self._manager.clock.now_iso,
        )
        return driver.hold(case)

    def _ask_judge(self, conversation: Conversation, cancelled: Callable[[], bool]) -> Judgement:
        agent = self._agent
        evidence = JudgeEvidence(
            cases=(conversation.as_case(),),
            description=agent.description,
            system_prompt=agent.system_prompt,
            skill=agent.skill.name if agent.skill else "",
            written_by=build_base_llm_id(self.llm.provider, self.llm.name),
        )
        try:
            return self._judge.ask(evidence, cancelled)
        except RecordedError as error:
            failure = Failure(kind=error.kind, message=str(error))
            raise CaseFailedError(conversation.case_id, failure) from error


def _count_calls(case: AgentCase) -> int:
    """Highest number of answers and simulated messages of a case."""
    user = case.simulated_user
    if user is None:
        return len(case.turns)
    return len(case.turns) + 2 * max(0, user.max_turns - len(case.turns))


def _describe_judgement(conversation: Conversation, judgement: Judgement) -> str:
    """Collect the judge's feedback and the broken rules of the case."""
    parts = [evaluation.feedback for evaluation in judgement.test_case_evaluations]
    parts += [f"{name}: {score:g} of 10" for name, score in judgement.scores.items()]
    parts += [*judgement.weaknesses, *judgement.recommendations, *conversation.broken_rules]
    if conversation.expected_behavior:
        parts.append(f"Expected: {conversation.expected_behavior}")
    return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningTarget:
    """A subject, whom its text is for, and when it is good enough."""

    subject: TuningSubject
    llm: LLM
    threshold: float
    """Mean score, 0.0 to 1.0."""
    llms: Sequence[LLM]
    """All LLMs of the workspace, any of which can write prompts."""


def find_class_prompt(
    config: WorkspaceFolder, manager: LLMManager, llm: LLM, class_id: str, part: str
) -> TuningTarget:
    """Build the subject for a text of a test class.

    Args:
        config: The workspace.
        manager: Asks the LLM.
        llm: Whom the text is for.
        class_id: Which class.
        part: A value of `ClassPart`.

    Raises:
        ConfigError: If the class or text does not exist.
    """
    classes = config.workspace.test_classes
    if class_id not in classes:
        raise ConfigError(
            f"the test class {class_id!r} does not exist", hint=name_hint(class_id, list(classes))
        )
    subject = ClassPromptSubject(config, manager, llm, class_id, ClassPart(part))
    return TuningTarget(subject=subject, llm=llm, threshold=1.0, llms=config.workspace.llms)


def find_agent_prompt(
    config: WorkspaceFolder, manager: LLMManager, agent_id: str, judge: str | None
) -> TuningTarget:
    """Build the subject for the system prompt of an agent.

    Args:
        config: The workspace.
        manager: Asks the LLMs.
        agent_id: Which agent.
        judge: Who judges, see `poor_bench.judge.registry`; by default that of the settings.

    Raises:
        ConfigError: If the agent or judge does not exist, or the judge's key is missing.
    """
    registry = load_agent_registry(config.data_dir)
    settings = load_judge_settings(config.data_dir)
    [judge_llm] = choose_judges((judge,) if judge else (), registry, settings, os.environ)
    subject = AgentPromptSubject(registry, agent_id, judge_llm, manager)
    own, general = registry.agent(agent_id).threshold, settings.threshold
    threshold = next(value for value in (own, general, APPROVAL_THRESHOLD) if value is not None)
    llms = tuple(registry.llms.values())
    return TuningTarget(subject=subject, llm=subject.llm, threshold=threshold / 10, llms=llms)
