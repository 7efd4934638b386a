"""What is tried before the rules of refusals never drops what the rules alone find."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poor_bench.extraction.normalise import fold_text
from poor_bench.extraction.refusal_rules import (
    LanguageRules,
    Rule,
    fits_a_rule,
    load_refusal_phrases,
)

LISTS = sorted((Path(__file__).parent / "refusals").glob("*.json"))
LANGUAGES = load_refusal_phrases().of_any.languages


def fits_without_filter(clause: str) -> bool:
    return any(rule.fits(clause) for each in LANGUAGES for rule in list_rules(each))


def list_rules(language: LanguageRules) -> tuple[Rule, ...]:
    return (*language.starting, *language.anywhere)


@cache
def make_clauses(rule: Rule) -> st.SearchStrategy[str]:
    """Make clauses of the parts of a rule, most of which it fits."""
    between = st.sampled_from(["", " ", " x ", " a to "])
    pieces = [piece for part in rule.parts for piece in (between, st.from_regex(part))]
    return st.tuples(*pieces[1:], between).map(lambda made: fold_text("".join(made)))


@pytest.mark.parametrize("number", range(len(LANGUAGES)))
@pytest.mark.slow(reason="makes texts of every language's phrases")
@settings(max_examples=60)
@given(data=st.data())
def test_a_clause_made_of_the_phrases_is_found_as_by_the_rules_alone(
    number: int, data: st.DataObject
) -> None:
    rule = data.draw(st.sampled_from(list_rules(LANGUAGES[number])))
    clause = data.draw(make_clauses(rule))
    assert fits_a_rule(clause) == fits_without_filter(clause)


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_usual_phrasing_is_found_as_by_the_rules_alone(path: Path) -> None:
    languages = json.loads(path.read_text("utf-8"))
    texts = [text for each in languages.values() for kind in each.values() for text in kind]
    clauses = [clause for text in texts for clause in fold_text(text).split(",")]
    assert len(clauses) > 100
    assert [*map(fits_a_rule, clauses)] == [*map(fits_without_filter, clauses)]
