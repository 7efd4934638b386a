"""Check that a prompt tells all that its evaluator will insist on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from poor_bench.lint.subject import EvaluatorFacts, Finding, Fix, LintSubject
from poor_bench.safe_files import load_json_text
from poor_bench.scoring.verdict import AnswerFormat

_ASKS_FOR = {
    AnswerFormat.JSON_OBJECT: r"json|\{\s*\"",
    AnswerFormat.JSON_LIST: r"json|\blist\b|\barray\b|\[",
    AnswerFormat.JSON: r"json|[\[{]\s*\"",
    AnswerFormat.CHOICE: r"\b(letter|option|choice|choose|which|one of)\b|\b[A-D][).:]",
    AnswerFormat.LIST: r"\b(list|array|comma|line|separate|each|all)\b",
    AnswerFormat.CODE: r"\b(function|class|method|code|program|script|implement|def|python)\b",
    AnswerFormat.DIFF: r"\b(diff|patch)\b",
}
"""What a prompt says, in one way or another, when it asks for a format."""

_DESCRIBED = {
    AnswerFormat.JSON_OBJECT: "a JSON object",
    AnswerFormat.JSON_LIST: "a JSON list",
    AnswerFormat.JSON: "JSON",
    AnswerFormat.CHOICE: "the letter of a choice",
    AnswerFormat.LIST: "a list",
    AnswerFormat.CODE: "code",
    AnswerFormat.DIFF: "a unified diff",
}


def check_function_name(subject: LintSubject) -> Iterator[Finding]:
    """Find tests whose evaluator calls a function by a name that the prompt never tells."""
    name = subject.parameters.get("function_name")
    if not isinstance(name, str) or not name:
        return
    whom = _not_told(subject, rf"(?-i:\b{re.escape(name)}\b)")
    if whom is not None:
        yield subject.finding(
            "function-name-untold",
            ("text",),
            f"the function must be called `{name}`, but the prompt{whom} does not say so",
            hint=f"name `{name}` in the text, or leave `function_name` out",
            fix=_name_in_text(subject, name),
        )


def check_format(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find prompts that do not ask for the format that the evaluator wants, or not for its keys."""
    wanted = facts.wants(subject.spec)
    if wanted in _ASKS_FOR:
        yield from _check_wording(subject, wanted)
    if wanted is AnswerFormat.JSON_OBJECT:
        yield from _check_json_keys(subject, facts)


def _check_wording(subject: LintSubject, wanted: AnswerFormat) -> Iterator[Finding]:
    whom = _not_told(subject, _ASKS_FOR[wanted])
    if whom is not None:
        yield subject.finding(
            "format-untold",
            (),
            f"`{subject.spec.name}` requires {_DESCRIBED[wanted]}, but the prompt{whom} does not "
            "ask for it",
            hint="describe the format of the reply in the template, with an example",
        )


def _check_json_keys(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    for key in _list_keys(facts.reference(subject.spec)):
        whom = _not_told(subject, rf"(?<!\w){re.escape(key)}(?!\w)")
        if whom is not None:
            yield subject.finding(
                "key-untold",
                (),
                f"the reply must have the key `{key}`, but the prompt{whom} does not say so",
                hint=f'add an example such as {{"{key}": ...}} to the template',
            )


def check_labels(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find expected labels that the prompt does not offer."""
    for parameter, labels, pattern in _list_expected_labels(subject, facts):
        for label in dict.fromkeys(labels):
            whom = _not_told(subject, pattern.format(re.escape(label)))
            if whom is not None:
                yield subject.finding(
                    "label-untold",
                    ("evaluation_module", "parameters", parameter),
                    f"`{label}` is expected, but the prompt{whom} does not offer it",
                    hint="list all labels in the template",
                )


def _list_expected_labels(
    subject: LintSubject, facts: EvaluatorFacts
) -> Iterator[tuple[str, list[str], str]]:
    """Yield a parameter, the labels it holds, and the pattern of one in a prompt."""
    sentiments = subject.parameters.get("expected_sentiments")
    if isinstance(sentiments, list):
        yield "expected_sentiments", [item for item in sentiments if isinstance(item, str)], "{}"
    expected = subject.parameters.get("expected")
    if facts.wants(subject.spec) is AnswerFormat.CHOICE and isinstance(expected, str):
        yield "expected", [expected], r"(?-i:(?<!\w){}(?!\w))"


def _not_told(subject: LintSubject, pattern: str) -> str | None:
    """Return for whom the prompt lacks `pattern`, in words; empty for all, None for nobody."""
    expression = re.compile(pattern, re.IGNORECASE)
    lacking = [prompt for prompt in subject.prompts if not expression.search(prompt.text)]
    if not lacking:
        return None
    if len(lacking) == len(subject.prompts):
        return ""
    return f" for {', '.join(llm_id for prompt in lacking for llm_id in prompt.llm_ids)}"


def _name_in_text(subject: LintSubject, name: str) -> Fix | None:
    if subject.test.text is None:
        return None
    text = subject.test.text.rstrip()
    is_sentence = text.endswith((".", "!", "?", ":"))
    added = f" Name the function `{name}`." if is_sentence else f" (name the function `{name}`)"
    return subject.fix(("text",), text + added)


def _list_keys(reference: str | None) -> Iterable[str]:
    try:
        value = load_json_text(reference or "")
    except ValueError:
        return ()
    return value if isinstance(value, dict) else ()
