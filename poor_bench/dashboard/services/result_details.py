"""Everything about one trial, put together for reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poor_bench.config.load import Workspace
from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.issues.detector import Issue
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.prompts.request import build_messages
from poor_bench.runner.scorer import spec_of

_SEARCHED_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDetails:
    """One trial with what belongs to it."""

    result: Result
    class_id: str
    """Empty where the test is not known any more."""
    level: int | None
    system_prompt: str
    prompt: str
    is_prompt_stored: bool
    """False where the prompt is rendered from today's files, since the result does not hold it."""
    thinking: str
    answer: str
    """The response without its thinking."""
    answer_span: tuple[int, int] | None
    """Where in `answer` that stands which was scored, as far as it is known."""
    expected: str
    """Empty where it is not known, or not one text."""
    got: str
    issues: tuple[tuple[str, str], ...]
    """Title and evidence of each."""


def details_of(
    result: Result,
    workspace: Workspace,
    issues: Sequence[Issue] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> ResultDetails:
    """Return a trial with what belongs to it.

    Args:
        result: The whole result.
        workspace: Where its test and LLM are looked up.
        issues: Issues of the model; those of other trials are left out.
        titles: Titles of issues by detector id.
    """
    test = workspace.tests_by_id.get(result.test_id)
    split = split_thinking(result.response)
    system_prompt, prompt = _prompts(result, workspace, test)
    answer_text = result.extracted or _likely_answer(split.answer)
    return ResultDetails(
        result=result,
        class_id=test.class_id if test else "",
        level=test.level if test else None,
        system_prompt=system_prompt,
        prompt=prompt,
        is_prompt_stored=bool(result.prompt),
        thinking="\n\n".join(part for part in (result.thinking, split.thinking) if part),
        answer=split.answer,
        answer_span=_last_span(split.answer, answer_text),
        expected=result.expected or _expected(workspace, test),
        got=result.got or answer_text,
        issues=tuple(
            (titles.get(issue.detector_id, issue.detector_id), issue.evidence)
            for issue in issues
            if (issue.test_id, issue.trial) == (result.test_id, result.trial)
        ),
    )


def _prompts(result: Result, workspace: Workspace, test: Test | None) -> tuple[str, str]:
    llm = workspace.llms_by_id.get(result.llm_id)
    if result.prompt or test is None or llm is None:
        return result.system_prompt, result.prompt
    messages = build_messages(llm, workspace.test_classes[test.class_id], test)
    return (messages[0].content if len(messages) > 1 else ""), messages[-1].content


def _likely_answer(answer: str) -> str:
    """Find the last fenced block, else the JSON, in the last 100,000 characters of an answer."""
    answer = answer[-_SEARCHED_CHARACTERS:]
    blocks = fenced_blocks(answer)
    if blocks:
        return blocks[-1].body.strip()
    found = extract_json(answer, lenient=False)
    return found.text if found is not None else ""


def _last_span(text: str, part: str) -> tuple[int, int] | None:
    start = text.rfind(part) if part.strip() else -1
    return None if start < 0 else (start, start + len(part))


def _expected(workspace: Workspace, test: Test | None) -> str:
    if test is None:
        return ""
    for name, value in spec_of(workspace, test).parameters.items():
        if name.startswith("expected") and name != "expected_format":
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ""
