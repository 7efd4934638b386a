"""Find the judge's verdict in its reply, and no verdict that it only quotes; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.judge.rubric import Rubric, dimension_name

Verdict = Mapping[str, Any]

_SCORES_KEY = re.compile(r"""["']scores["']\s*:""")


class UnusableReplyError(Exception):
    """A judge's reply holds no verdict; one clause says why."""


def find_verdict(reply: str, rubric: Rubric, nonce: str, judged_texts: Iterable[str]) -> Verdict:
    """Return the verdict in a reply.

    An object that repeats the code of the request was written by the judge, since what it judges
    cannot know the code; of several the last one counts. Without one, the only verdict counts
    that does not stand in the judged texts.

    Args:
        reply: What the judge's LLM returned.
        rubric: A verdict has a score for at least one of its dimensions.
        nonce: The code of the request.
        judged_texts: What the judge was shown as evidence.

    Raises:
        UnusableReplyError: If there is no verdict, or it cannot be told which one is the judge's.
    """
    answer = split_thinking(reply).answer
    signed = _verdicts_in(
        answer, lambda value: value.get("verdict_id") == nonce and bool(scores_of(value, rubric))
    )
    if signed:
        return signed[0]
    if nonce in answer:
        raise UnusableReplyError("it begins a verdict that cannot be read, or has no `scores`")
    return _only_unsigned(answer, rubric, judged_texts)


def scores_of(verdict: Verdict, rubric: Rubric) -> dict[str, Any]:
    """Return what a verdict says of each dimension, under the names of the rubric."""
    stated = verdict.get("scores")
    listed = stated if isinstance(stated, Mapping) else verdict
    by_name = {dimension_name(str(key)): value for key, value in listed.items()}
    return {name: by_name[name] for name in rubric.names if name in by_name}


def _only_unsigned(answer: str, rubric: Rubric, judged_texts: Iterable[str]) -> Verdict:
    verdicts = _unsigned_in(answer, rubric)
    if not verdicts:
        what = "no JSON object with `scores`" if answer.strip() else "no answer"
        raise UnusableReplyError(f"it holds {what}")
    quoted = [verdict for text in judged_texts for verdict in _unsigned_in(text, rubric)]
    own = [verdict for verdict in verdicts if verdict not in quoted]
    if not own:
        raise UnusableReplyError("the only verdict in it is quoted from what was to be judged")
    if len(own) > 1:
        raise UnusableReplyError(f"it holds {len(own)} different verdicts")
    return own[0]


def _unsigned_in(text: str, rubric: Rubric) -> list[Verdict]:
    def has_scores(value: Verdict) -> bool:
        return isinstance(value.get("scores"), Mapping) and bool(scores_of(value, rubric))

    def is_scores(value: Verdict) -> bool:
        return bool(scores_of(value, rubric))

    return _verdicts_in(text, has_scores) or _verdicts_in(text, is_scores)


def _verdicts_in(text: str, is_verdict: Callable[[Verdict], bool]) -> list[Verdict]:
    """Return the different verdicts in a text, the last one first; broken ones only if need be.

    Repairing could mend a broken verdict with pieces of another one, so it needs a text with one.
    """
    may_repair = len(_SCORES_KEY.findall(text)) <= 1
    for lenient in (False, True) if may_repair else (False,):
        found: list[Verdict] = []

        def note(value: Any, found: list[Verdict] = found) -> bool:
            if isinstance(value, dict) and is_verdict(value) and value not in found:
                found.append(value)
            return False

        extract_json(text, note, lenient=lenient)
        if found:
            return found
    return []
