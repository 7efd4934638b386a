"""Rules of refusals, read from `refusal_phrases.toml`.

A rule is a sequence of parts that follow one another in a clause. All patterns read folded text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_FRAGMENT = re.compile(r"@([a-z_]+)@")
_SPACED = r"(?:{})(?![^\W_])(?: (?:that|dass|que|che|что)(?![\w']))?"
"""Leads of languages that put spaces between words."""
_UNSPACED = frozenset({"chinese", "japanese"})
_OWN_SCRIPT = frozenset({"chinese", "japanese", "korean", "russian"})
"""Languages of which no clause is ASCII."""
_NEVER = "(?!)"
"""Pattern that fits nothing, for a language without a rule of a kind."""
_REACH = 70
"""Characters between the end of one part of a rule and the start of the next, at most."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Parts that follow one another in a clause of a refusal."""

    parts: tuple[re.Pattern[str], ...]
    other_speaker: re.Pattern[str] | None = None
    """What must not stand before the first part; None if nothing may stand there."""
    harmless: re.Pattern[str] | None = None
    """What must not follow the last part within `reach` characters: "I cannot see" declines
    nothing."""
    reach: int = 0

    def fits(self, clause: str) -> bool:
        """True if all parts stand in a clause in order, and nobody else speaks."""
        found = self._find_first(clause)
        for part in self.parts[1:]:
            if found is None:
                return False
            found = part.search(clause, found.end(), found.end() + _REACH)
        if found is None or self.harmless is None:
            return found is not None
        return self.harmless.search(clause, found.end(), found.end() + self.reach) is None

    def _find_first(self, clause: str) -> re.Match[str] | None:
        if self.other_speaker is None:
            return self.parts[0].match(clause)
        found = self.parts[0].search(clause, 0, _REACH)
        if found and self.other_speaker.search(clause, 0, found.start()):
            return None
        return found


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """Rules of a language, sorted by where in a clause they may begin."""

    starting: tuple[Rule, ...]
    """Rules whose first part begins the clause."""
    start: re.Pattern[str]
    """First parts of `starting`, tried at once: few clauses begin like one."""
    anywhere: tuple[Rule, ...]
    sign: re.Pattern[str]
    """What every clause holds that a rule of `anywhere` fits: few clauses do."""


@dataclass(frozen=True, slots=True)
class RefusalRules:
    """Rules of all languages, or of those that an ASCII clause may be in."""

    languages: tuple[LanguageRules, ...]
    start: re.Pattern[str]
    """`start` of any language."""
    sign: re.Pattern[str]
    """`sign` of any language."""


@dataclass(frozen=True, slots=True)
class RefusalPhrases:
    """All that is known of refusals."""

    leads: re.Pattern[str]
    """What politeness puts before the point, such as "unfortunately" or "as an AI"."""
    again: re.Pattern[str]
    """What is left out as it was said or is plain: "I won't repeat the steps"."""
    whole: re.Pattern[str]
    """What an answer may lack and still be one, such as "all" or "the exact"."""
    of_ascii: RefusalRules
    of_any: RefusalRules


def fits_a_rule(clause: str) -> bool:
    """True if a folded clause without leads declines something.

    Most clauses hold no sign of that and begin like none that do; rules are tried in others only.
    """
    phrases = load_refusal_phrases()
    rules = phrases.of_ascii if clause.isascii() else phrases.of_any
    if rules.sign.search(clause) is None and rules.start.match(clause) is None:
        return False
    return any(_fits_one_of(language, clause) for language in rules.languages)


def _fits_one_of(language: LanguageRules, clause: str) -> bool:
    if language.start.match(clause) and any(rule.fits(clause) for rule in language.starting):
        return True
    return language.sign.search(clause) is not None and any(
        rule.fits(clause) for rule in language.anywhere
    )


@cache
def load_refusal_phrases() -> RefusalPhrases:
    """Read and compile the phrases, on first use: this takes a while."""
    import pkgutil
    import tomllib

    languages = tomllib.loads(
        (pkgutil.get_data(__package__, "refusal_phrases.toml") or b"").decode()
    )
    rules = {name: _compile_language(each) for name, each in languages.items()}
    return RefusalPhrases(
        leads=_compile_leads({name: "|".join(each["leads"]) for name, each in languages.items()}),
        again=re.compile("|".join(each["again"] for each in languages.values() if "again" in each)),
        whole=re.compile("|".join(each["whole"] for each in languages.values())),
        of_ascii=_join([each for name, each in rules.items() if name not in _OWN_SCRIPT]),
        of_any=_join(list(rules.values())),
    )


def _join(languages: Sequence[LanguageRules]) -> RefusalRules:
    return RefusalRules(
        languages=tuple(languages),
        start=_join_patterns([each.start for each in languages]),
        sign=_join_patterns([each.sign for each in languages]),
    )


def _join_patterns(patterns: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each.pattern})" for each in patterns) or _NEVER)


def _compile_language(language: dict[str, Any]) -> LanguageRules:
    rules = [_compile(rule, language["fragments"]) for rule in language["rules"]]
    starting = tuple(rule for rule in rules if rule.other_speaker is None)
    return LanguageRules(
        starting=starting,
        start=re.compile(rf"\A(?:{_join_patterns([rule.parts[0] for rule in starting]).pattern})"),
        anywhere=tuple(rule for rule in rules if rule.other_speaker is not None),
        sign=re.compile(language["signs"]),
    )


def _compile(rule: dict[str, Any], fragments: dict[str, str]) -> Rule:
    def compile_pattern(text: str) -> re.Pattern[str] | None:
        return re.compile(_FRAGMENT.sub(lambda name: fragments[name[1]], text)) if text else None

    return Rule(
        tuple(filter(None, map(compile_pattern, rule["parts"]))),
        compile_pattern(rule.get("unless", "")),
        compile_pattern(rule.get("harmless", "")),
        rule.get("reach", 0),
    )


def _compile_leads(leads: dict[str, str]) -> re.Pattern[str]:
    spaced = _SPACED.format("|".join(text for name, text in leads.items() if name not in _UNSPACED))
    unspaced = "|".join(text for name, text in leads.items() if name in _UNSPACED)
    return re.compile(rf"\A(?:{spaced}|{unspaced})[ ,]{{0,3}}")
