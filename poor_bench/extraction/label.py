"""Labels, such as sentiments, in texts that mention them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from poor_bench.extraction.normalise import words

_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "hardly", "cannot", "without"})
_NEGATED_ENDINGS = ("n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")
_REACH_OF_NEGATION = 5
"""Words after a "not" that it may be about."""


def sole_label(text: str, labels: AbstractSet[str]) -> str:
    """Return the only label that a text mentions, and does not deny; else an empty text.

    Args:
        text: A short text.
        labels: Folded, each a single word; others are never found.

    Example:
        >>> sole_label("This text is positive.", {"positive", "negative"})
        'positive'
    """
    said = words(text)
    mentioned = labels & set(said)
    if len(mentioned) != 1:
        return ""
    label = next(iter(mentioned))
    before = said[: said.index(label)][-_REACH_OF_NEGATION:]
    return "" if any(map(_is_negation, before)) else label


def is_labelled(text: str, labels: AbstractSet[str]) -> bool:
    """Return whether a text begins or ends with the only label that it mentions.

    Example:
        >>> is_labelled("Text 1: positive", {"positive", "negative"})
        True
    """
    label = sole_label(text, labels)
    return label != "" and label in {words(text)[0], words(text)[-1]}


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(_NEGATED_ENDINGS)
