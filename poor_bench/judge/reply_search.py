"""Find the judge's own verdict in its reply, not a quoted one; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from poor_bench.extraction.thinking import split_thinking
from poor_bench.judge.reply_objects import Object, ObjectSearch, is_signed
from poor_bench.judge.rubric import Rubric, dimension_name

_SCORES_KEY = re.compile(r"""["']scores["']\s*:""")


class UnusableReplyError(Exception):
    """A judge's reply contains no verdict; the message gives the reason."""


def find_verdict(reply: str, rubric: Rubric, nonce: str, judged_texts: Iterable[str]) -> Object:
    """Find the verdict in a reply.

    An object that repeats the code of the request was written by the judge, since what it judges
    cannot know the code; of several the last one counts. Without one, the only verdict counts
    that does not stand in the judged texts. The code does not help a weak judge that signs the
    scores it read there: those do not count either.

    Args:
        reply: What the judge's LLM returned.
        rubric: A verdict has a score for at least one of its dimensions.
        nonce: The code of the request.
        judged_texts: What the judge was shown as evidence.

    Raises:
        UnusableReplyError: If there is no verdict, or it cannot be told which one is the judge's.
    """
    answer = split_thinking(reply).answer
    signed = ObjectSearch(
        lambda value: is_signed(value, nonce) and bool(scores_of(value, rubric)), _SCORES_KEY
    ).objects_in(answer)
    if signed:
        return _not_copied(signed[0], rubric, judged_texts)
    if nonce in answer:
        raise UnusableReplyError("it begins a verdict that cannot be read, or has no `scores`")
    return _only_unsigned(answer, rubric, judged_texts)


def scores_of(verdict: Object, rubric: Rubric) -> dict[str, Any]:
    """Map the scores of a verdict to the names of the rubric."""
    stated = verdict.get("scores")
    listed = stated if isinstance(stated, Mapping) else verdict
    by_name = {dimension_name(str(key)): value for key, value in listed.items()}
    return {name: by_name[name] for name in rubric.names if name in by_name}


def _not_copied(verdict: Object, rubric: Rubric, judged_texts: Iterable[str]) -> Object:
    """Choose a verdict whose scores are not copied from the evidence.

    Raises:
        UnusableReplyError: If they do.
    """
    own = scores_of(verdict, rubric)
    search = ObjectSearch(lambda value: _has_all(scores_of(value, rubric), own), _SCORES_KEY)
    if any(search.objects_in(text) for text in judged_texts):
        raise UnusableReplyError(
            "its scores are those of a verdict that stands in the evidence, where it counts for "
            "nothing: score what the responses do"
        )
    return verdict


def _has_all(quoted: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    return quoted.keys() == own.keys() and all(_same(quoted[name], own[name]) for name in own)


def _same(quoted: Any, own: Any) -> bool:
    """True if two scores are equal, also as text."""
    try:
        return float(quoted) == float(own)
    except (TypeError, ValueError, OverflowError):
        return bool(quoted == own)


def _only_unsigned(answer: str, rubric: Rubric, judged_texts: Iterable[str]) -> Object:
    search = _unsigned_search(answer, rubric)
    if search is None:
        what = "no JSON object with `scores`" if answer.strip() else "no answer"
        raise UnusableReplyError(f"it holds {what}")
    own = search.own_objects(answer, judged_texts)
    if not own:
        raise UnusableReplyError("the only verdict in it is quoted from what was to be judged")
    if len(own) > 1:
        raise UnusableReplyError(f"it holds {len(own)} different verdicts")
    return own[0]


def _unsigned_search(answer: str, rubric: Rubric) -> ObjectSearch | None:
    """Build the search for verdicts: objects with `scores`, else bare scores."""

    def has_scores(value: Object) -> bool:
        return isinstance(value.get("scores"), Mapping) and bool(scores_of(value, rubric))

    def is_scores(value: Object) -> bool:
        return bool(scores_of(value, rubric))

    searches = (ObjectSearch(has_scores, _SCORES_KEY), ObjectSearch(is_scores, _SCORES_KEY))
    return next((search for search in searches if search.objects_in(answer)), None)
