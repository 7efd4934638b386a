"""Rules of refusals, read from `refusal_phrases.toml`.

A rule is a sequence of parts that follow one another in a clause. All patterns read folded text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

_FRAGMENT = re.compile(r"@([a-z_]+)@")
_SPACED = r"(?:{})(?![^\W_])(?: (?:that|dass|que|che|что)(?![\w']))?"
"""Leads of languages that put spaces between words."""
_UNSPACED = frozenset({"chinese", "japanese"})
_OWN_SCRIPT = frozenset({"chinese", "japanese", "korean", "russian"})
"""Languages of which no clause is ASCII."""


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


@dataclass(frozen=True, slots=True)
class RefusalRules:
    """Rules of all languages, sorted by where in a clause they may begin."""

    leads: re.Pattern[str]
    """What politeness puts before the point, such as "unfortunately" or "as an AI"."""
    starting: tuple[Rule, ...]
    """Rules whose first part begins the clause."""
    any_start: re.Pattern[str]
    """First parts of `starting`, tried at once: few clauses begin like one."""
    anywhere: tuple[Rule, ...]
    anywhere_ascii: tuple[Rule, ...]
    """Those of `anywhere` that an ASCII clause may fit."""


@cache
def load_refusal_rules() -> RefusalRules:
    """Read and compile the rules, on first use: this takes a while."""
    import pkgutil
    import tomllib

    languages = tomllib.loads(
        (pkgutil.get_data(__package__, "refusal_phrases.toml") or b"").decode()
    )
    by_language = {
        name: [_compile(rule, each["fragments"]) for rule in each["rules"]]
        for name, each in languages.items()
    }
    rules = [rule for of_language in by_language.values() for rule in of_language]
    starting = tuple(rule for rule in rules if rule.other_speaker is None)
    starts = "|".join(f"(?:{rule.parts[0].pattern})" for rule in starting)
    return RefusalRules(
        leads=_compile_leads({name: "|".join(each["leads"]) for name, each in languages.items()}),
        starting=starting,
        any_start=re.compile(rf"\A(?:{starts})"),
        anywhere=tuple(rule for rule in rules if rule.other_speaker is not None),
        anywhere_ascii=tuple(
            rule
            for name, of_language in by_language.items()
            for rule in of_language
            if name not in _OWN_SCRIPT and rule.other_speaker is not None
        ),
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
