"""Find pairs of similar texts among many, without comparing each with each."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

_SHINGLE = 5
"""Characters in a row that are compared as one."""


def similar_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs of texts that share at least `threshold` of their shingles.

    Every text is indexed only by its rarest shingles, just so many that two texts that are
    similar enough share one of them; so few pairs are ever compared, and none is missed.

    Args:
        texts: Any number of texts.
        threshold: Jaccard similarity of the sets of shingles, above 0 and up to 1.

    Yields:
        Index of the earlier text, index of the later one, similarity.

    Source:
        Bayardo, Ma, Srikant 2007, "Scaling Up All Pairs Similarity Search" (prefix filtering).
    """
    shingles = [_shingles(text) for text in texts]
    frequency = Counter(shingle for members in shingles for shingle in members)
    holders: dict[str, list[int]] = defaultdict(list)
    for index, members in enumerate(shingles):
        rarest_first = sorted(members, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest_first[: len(members) - math.ceil(threshold * len(members)) + 1]
        candidates = {other for shingle in prefix for other in holders[shingle]}
        for other in sorted(candidates):
            similarity = _jaccard(shingles[other], members)
            if similarity >= threshold:
                yield other, index, similarity
        for shingle in prefix:
            holders[shingle].append(index)


def _shingles(text: str) -> frozenset[str]:
    return frozenset(text[start : start + _SHINGLE] for start in range(len(text) - _SHINGLE + 1))


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0
