"""Labels, such as sentiments, in texts that mention them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from poor_bench.extraction.denial import is_denied
from poor_bench.extraction.normalise import WORD, fold_text, words


def sole_label(text: str, labels: AbstractSet[str]) -> str:
    """Return the only label that a text mentions, and does not deny; else an empty text.

    Args:
        text: A short text.
        labels: Folded, each a single word; others are never found.

    Example:
        >>> sole_label("This text is positive.", {"positive", "negative"})
        'positive'
    """
    folded = fold_text(text)
    mentioned = set()
    for word in WORD.finditer(folded):
        if word[0] in labels and not is_denied(folded, *word.span()):
            mentioned.add(word[0])
    return mentioned.pop() if len(mentioned) == 1 else ""


def is_labelled(text: str, labels: AbstractSet[str]) -> bool:
    """Return whether a text begins or ends with the only label that it mentions.

    Example:
        >>> is_labelled("Text 1: positive", {"positive", "negative"})
        True
    """
    label = sole_label(text, labels)
    return label != "" and label in {words(text)[0], words(text)[-1]}
