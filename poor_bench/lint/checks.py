"""Check tests against their evaluator, their class and what they tell the model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from poor_bench.command_line import next_command
from poor_bench.config.load import TEST_CLASSES_FILE, Workspace
from poor_bench.errors import PoorBenchError, SandboxError
from poor_bench.lint.cheats import MEANINGS, CheatScore, find_weaknesses
from poor_bench.lint.subject import EvaluatorFacts, Finding, Fix, JudgeFault, LintSubject
from poor_bench.messages import cut_text, write_count
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity
from poor_bench.safe_files import load_json_text
from poor_bench.scoring.verdict import AnswerFormat

_CHARACTERS_PER_TOKEN = 4.0
"""Of English text with common tokenizers; other scripts need more tokens, so this is a minimum."""

_DEFAULT_REPLY_TOKENS = 256
_SHOWN_REPORT = 300


def check_lengths(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests that show another number of texts than answers are expected."""
    if subject.test.texts is None:
        return
    expected = _list_in(facts.reference(subject.spec))
    if expected is not None and len(expected) != len(subject.test.texts):
        yield subject.finding(
            "length-mismatch",
            ("evaluation_module", "parameters"),
            f"the test shows {write_count(len(subject.test.texts), 'text')} but expects "
            f"{write_count(len(expected), 'answer')}",
            hint="give one expected answer for each text",
            severity=Severity.ERROR,
        )


def check_reported(subject: LintSubject) -> Iterator[Finding]:
    """Find tests that a reader of results reported as wrong."""
    if subject.test.reported.strip():
        yield subject.finding(
            "reported",
            ("reported",),
            f"reported as wrong: {cut_text(subject.test.reported.strip(), _SHOWN_REPORT)}",
            hint="correct the test, then remove `reported`",
        )


def check_context(subject: LintSubject, contexts: Mapping[str, int]) -> Iterator[Finding]:
    """Find prompts that do not fit into the context of an LLM, beside its reply.

    Args:
        subject: The test.
        contexts: LLM id to `find_context_size`, where that is known.
    """
    if not contexts:
        return
    for prompt in subject.prompts:
        tokens = round(len(prompt.text) / _CHARACTERS_PER_TOKEN)
        for llm_id in prompt.llm_ids:
            context = contexts.get(llm_id)
            if context is not None and tokens > context:
                yield subject.finding(
                    "prompt-too-long",
                    (),
                    f"the prompt has about {tokens} tokens or more; {llm_id} has room for "
                    f"{context}",
                    hint="raise `num_ctx` of the LLM, or shorten the text",
                )


def find_context_size(llm: LLM) -> int | None:
    """Compute the largest prompt in tokens; None if the configuration does not say."""
    context = llm.parameters.get("num_ctx")
    if not isinstance(context, int):
        return None
    reply = llm.parameters.get("max_tokens")
    return context - (reply if isinstance(reply, int) else _DEFAULT_REPLY_TOKENS)


def _list_in(reference: str | None) -> list[object] | None:
    try:
        value = load_json_text(reference or "")
    except ValueError:
        return None
    return value if isinstance(value, list) else None


_BROKEN = "correct the evaluator or its `parameters`: it must score any response"


def check_reference(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests whose reference response does not score 1.0."""
    reference = subject.test.reference_response
    if reference is None:
        return
    score = score_or_reason(subject, reference, facts)
    if score != 1.0:
        yield subject.finding(
            "reference-fails",
            ("reference_response",),
            _describe_score("the reference response", score, "1.0"),
            hint=_write_hint(score, "correct the reference response or the evaluator's parameters"),
            severity=_choose_severity(score),
        )


def check_blank(subject: LintSubject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests that an empty response does not fail."""
    score = score_or_reason(subject, "", facts)
    if score != 0.0:
        yield subject.finding(
            "blank-passes",
            ("evaluation_module",),
            _describe_score("an empty response", score, "0"),
            hint=_write_hint(score, "give the evaluator the expected answer in its `parameters`"),
            severity=_choose_severity(score),
        )


class Unscored(str):
    """In words why a response has no score, for a reason that is not the test's."""

    __slots__ = ()


def score_or_reason(subject: LintSubject, response: str, facts: EvaluatorFacts) -> float | str:
    """Score a response, or say in words why there is none."""
    try:
        return facts.score(subject.spec, response)
    except SandboxError as error:
        return Unscored(f"cannot be checked on this machine: {error}")
    except PoorBenchError as error:
        return f"cannot be scored: {error}"


def _choose_severity(score: float | str) -> Severity:
    """A sandbox that does not start says nothing against a test."""
    return Severity.WARNING if isinstance(score, Unscored) else Severity.ERROR


def _describe_score(response: str, score: float | str, required: str) -> str:
    if isinstance(score, str):
        return f"{response} {score}"
    return f"{response} scores {score:.3g}, but must score {required}"


def _write_hint(score: float | str, hint_for_score: str) -> str:
    """Choose the hint; a score that is missing is the fault of the evaluator or the sandbox."""
    if isinstance(score, Unscored):
        return f"see {next_command('doctor')}"
    return _BROKEN if isinstance(score, str) else hint_for_score


def is_lasting(problem: Problem) -> bool:
    """True if checking again tells the same: it is not about a response without a score."""
    return problem.hint not in {_BROKEN, _write_hint(Unscored(), "")}


def check_classes(
    workspace: Workspace, subjects: Sequence[LintSubject], facts: EvaluatorFacts
) -> Iterator[Finding]:
    """Find levels that a class leaves out, and tests that nothing shows to be passable."""
    of_class: dict[str, list[LintSubject]] = defaultdict(list)
    for subject in subjects:
        of_class[subject.test.class_id].append(subject)
    file = str(workspace.data_dir / TEST_CLASSES_FILE)
    for index, class_id in enumerate(workspace.test_classes):
        about = _About(file, f"test_classes[{index}]", f"class `{class_id}`")
        yield from _check_levels(of_class[class_id], about)
        yield from _check_references(of_class[class_id], about, facts)


def check_cheats(
    workspace: Workspace, subjects: Sequence[LintSubject], scores: Sequence[CheatScore]
) -> Iterator[Finding]:
    """Find classes and tests that an answer passes which needs no model."""
    by_id = {subject.test.test_id: subject for subject in subjects}
    class_of = {test_id: subject.test.class_id for test_id, subject in by_id.items()}
    file = str(workspace.data_dir / TEST_CLASSES_FILE)
    places = {class_id: index for index, class_id in enumerate(workspace.test_classes)}
    hint = "ask for more than this answer gives, or make the evaluator stricter"
    for weakness in find_weaknesses(scores, class_of):
        if weakness.of_class:
            place = f"test_classes[{places[weakness.class_id]}]"
            about = _About(file, place, f"class `{weakness.class_id}`")
            message = f"passed without a model: {weakness.text}"
            yield about.finding("cheat-passes", message, hint)
            continue
        for test_id in weakness.test_ids:
            message = (
                f"passed without a model: {MEANINGS[weakness.cheat]} scores {weakness.score:.2f}"
            )
            yield by_id[test_id].finding("cheat-passes", (), message, hint=hint)


@dataclass(frozen=True, slots=True)
class _About:
    file: str
    place: str
    name: str

    def finding(
        self, code: str, message: str, hint: str, find_fixes: Callable[[], Iterable[Fix]] = tuple
    ) -> Finding:
        problem = Problem(
            file=self.file,
            place=self.place,
            message=f"{self.name}: {message}",
            hint=hint,
            severity=Severity.WARNING,
            code=code,
        )
        return Finding(problem=problem, find_fixes=find_fixes)


def _check_levels(subjects: Sequence[LintSubject], about: _About) -> Iterator[Finding]:
    levels = {subject.test.level for subject in subjects}
    missing = sorted(set(range(1, max(levels, default=0))) - levels)
    if missing:
        listed = ", ".join(str(level) for level in missing[:10])
        message = f"there are tests of level {max(levels)}, but none of level {listed}"
        yield about.finding("level-without-tests", message, "add tests, or renumber the levels")


def _check_references(
    subjects: Sequence[LintSubject], about: _About, facts: EvaluatorFacts
) -> Iterator[Finding]:
    lacking = [
        subject
        for subject in subjects
        if subject.test.reference_response is None and not facts.is_judged(subject.spec)
    ]
    if lacking:
        message = (
            f"no `reference_response` in {len(lacking):,} of {write_count(len(subjects), 'test')}"
        )
        hint = "add one to each test: it proves that the test can be passed"

        def find_fixes() -> Iterable[Fix]:
            return filter(None, (_add_reference(subject, facts) for subject in lacking))

        yield about.finding("no-reference", message, hint, find_fixes)


def _add_reference(subject: LintSubject, facts: EvaluatorFacts) -> Fix | None:
    reference = facts.reference(subject.spec)
    if reference is None or score_or_reason(subject, reference, facts) != 1.0:
        return None
    return subject.fix(("reference_response",), reference)


def check_judges(subjects: Sequence[LintSubject], facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find judges and rubrics that cannot be used, each once, at the first test that needs it."""
    tests_of: dict[JudgeFault, list[LintSubject]] = {}
    for subject in subjects:
        for fault in facts.judge_faults(subject.spec):
            tests_of.setdefault(fault, []).append(subject)
    for fault, concerned in tests_of.items():
        others = f" (and {len(concerned) - 1} more tests)" if len(concerned) > 1 else ""
        yield concerned[0].finding(
            "judge-unusable",
            ("evaluation_module",),
            f"{fault.message}{others}",
            hint=fault.hint,
            severity=Severity.ERROR,
        )


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
    """Say for whom the prompt lacks `pattern`, in words; empty for all, None for nobody."""
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
