"""How much two texts have in common: ROUGE-L, chrF and edit ratio, from 0.0 to 1.0.

All are 1.0 for equal texts, and 0.0 where one of two different texts is empty.
"""

from __future__ import annotations

from collections import Counter

from poor_bench.extraction.normalise import words

_CHRF_LONGEST = 6
_CHRF_BETA = 2


def compute_rouge_l(text: str, reference: str) -> float:
    """Compute the F1 score of the longest common subsequence of words.

    Source:
        Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", with equal weights of
        precision and recall.
    """
    from rapidfuzz.distance import LCSseq

    ours, theirs = words(text), words(reference)
    if not ours or not theirs:
        return float(ours == theirs and text == reference)
    return 2 * LCSseq.similarity(ours, theirs) / (len(ours) + len(theirs))


def compute_chrf(text: str, reference: str) -> float:
    """Compute the F score of character n-grams up to six characters, recall counting twice.

    Precision and recall are averaged over the lengths that occur in both texts. White space does
    not count.

    Source:
        Popovic 2015, "chrF: character n-gram F-score for automatic MT evaluation"; averaged over
        lengths before the F score as in sacreBLEU.
    """
    ours, theirs = "".join(text.split()), "".join(reference.split())
    if ours == theirs:
        return 1.0
    precisions, recalls = [], []
    for length in range(1, _CHRF_LONGEST + 1):
        our_grams, their_grams = _count_grams(ours, length), _count_grams(theirs, length)
        if our_grams and their_grams:
            n_common = (our_grams & their_grams).total()
            precisions.append(n_common / our_grams.total())
            recalls.append(n_common / their_grams.total())
    if not precisions or not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    weight = _CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall)


def compute_edit_ratio(text: str, reference: str) -> float:
    """Compute the share of the longer text's characters that need no edit to make them equal.

    One edit inserts, removes or replaces a character (Levenshtein 1966).
    """
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(text, reference)


def _count_grams(text: str, length: int) -> Counter[str]:
    return Counter(text[start : start + length] for start in range(len(text) - length + 1))
