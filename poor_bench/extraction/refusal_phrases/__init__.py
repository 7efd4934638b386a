"""Phrases of refusals: what may stand before them, and the parts of which they are made.

All patterns read folded text and take linear time: the distance between two parts is limited by
who applies them, not by the patterns.
"""

from __future__ import annotations

from poor_bench.extraction.refusal_phrases.east_asian import CHINESE, JAPANESE
from poor_bench.extraction.refusal_phrases.english import ENGLISH
from poor_bench.extraction.refusal_phrases.french import FRENCH
from poor_bench.extraction.refusal_phrases.german import GERMAN
from poor_bench.extraction.refusal_phrases.rule import LEADS, Rule
from poor_bench.extraction.refusal_phrases.spanish import SPANISH

__all__ = ["LEADS", "RULES", "Rule"]

RULES: tuple[Rule, ...] = (*ENGLISH, *GERMAN, *FRENCH, *SPANISH, *CHINESE, *JAPANESE)
