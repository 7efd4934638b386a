"""Check what a test expects against what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator

from poor_bench.lint.evaluator_facts import EvaluatorFacts
from poor_bench.lint.finding import Finding
from poor_bench.lint.subject import Subject
from poor_bench.messages import counted
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Severity

_CHARACTERS_PER_TOKEN = 4.0
"""Of English text with common tokenizers; other scripts need more tokens, so this is a minimum."""

_DEFAULT_REPLY_TOKENS = 256


def check_lengths(subject: Subject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests that show another number of texts than answers are expected."""
    if subject.test.texts is None:
        return
    expected = _list_in(facts.reference(subject.spec))
    if expected is not None and len(expected) != len(subject.test.texts):
        yield subject.finding(
            "length-mismatch",
            ("evaluation_module", "parameters"),
            f"the test shows {counted(len(subject.test.texts), 'text')} but expects "
            f"{counted(len(expected), 'answer')}",
            hint="give one expected answer for each text",
            severity=Severity.ERROR,
        )


def check_context(subject: Subject, llms: tuple[LLM, ...]) -> Iterator[Finding]:
    """Find prompts that do not fit into the context of an LLM, beside its reply."""
    by_id = {llm.id: llm for llm in llms}
    for prompt in subject.prompts:
        tokens = round(len(prompt.text) / _CHARACTERS_PER_TOKEN)
        for llm_id in prompt.llm_ids:
            context = context_of(by_id[llm_id]) if llm_id in by_id else None
            if context is not None and tokens > context:
                yield subject.finding(
                    "prompt-too-long",
                    (),
                    f"the prompt has about {tokens} tokens or more; {llm_id} has room for "
                    f"{context}",
                    hint="raise `num_ctx` of the LLM, or shorten the text",
                )


def context_of(llm: LLM) -> int | None:
    """Return how many tokens a prompt may have, or None where the configuration does not tell."""
    context = llm.parameters.get("num_ctx")
    if not isinstance(context, int):
        return None
    reply = llm.parameters.get("max_tokens")
    return context - (reply if isinstance(reply, int) else _DEFAULT_REPLY_TOKENS)


def _list_in(reference: str | None) -> list[object] | None:
    try:
        value = json.loads(reference or "")
    except ValueError:
        return None
    return value if isinstance(value, list) else None
