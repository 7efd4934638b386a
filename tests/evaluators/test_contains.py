from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.contains import evaluate, reference


@pytest.mark.parametrize(
    ("parameters", "response", "score"),
    [
        ({"all": ["red", "green"]}, "RED and\ngreen", 1.0),
        ({"all": ["red", "green"]}, "red only", 0.5),
        ({"all": ["light  green"]}, "Light\ngreen", 1.0),
        ({"any": ["red", "green"]}, "green", 1.0),
        ({"any": ["red", "green"]}, "blue", 0.0),
        ({"none": ["red"]}, "blue", 1.0),
        ({"none": ["red"]}, "", 0.0),
        ({"none": ["red"]}, "<think>no red</think>blue", 1.0),
        ({"all": ["a"], "none": ["red"]}, "a red one", 0.0),
        ({"all": ["art"]}, "party", 1.0),
        ({"all": ["art"], "whole_words": True}, "party", 0.0),
        ({"all": ["art."], "whole_words": True}, "modern art.", 1.0),
        ({"all": ["Art"], "case_sensitive": True}, "art", 0.0),
    ],
)
def test_score_is_what_is_there(parameters, response, score):
    assert evaluate(response, parameters).score == score


def test_details_name_every_fault():
    details = evaluate("red", {"all": ["green"], "any": ["x"], "none": ["red"]}).details
    assert details == "lacks 'green'; has 'red', which it must not; has none of ['x']"


@pytest.mark.parametrize("parameters", [{}, {"all": []}, {"all": [""]}, {"some": ["a"]}], ids=str)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("x", parameters)


def test_reference_is_only_given_where_it_is_right():
    assert reference({"all": ["a", "b"], "any": ["c", "d"]}) == "a\nb\nc"
    assert reference({"none": ["a"]}) is None
    assert reference({"all": ["ab"], "none": ["a"]}) is None


def test_typography_and_unicode_form_never_count():
    response = "It isn\N{RIGHT SINGLE QUOTATION MARK}t the Cafe\N{COMBINING ACUTE ACCENT}"
    wanted = {"all": ["isn't the Caf\N{LATIN SMALL LETTER E WITH ACUTE}"], "case_sensitive": True}
    assert evaluate(response, wanted).score == 1.0


def test_answers_that_lack_the_same_stay_different_answers():
    london, rome = (evaluate(answer, {"all": ["Paris"]}) for answer in ("London", "Rome"))
    assert (london.got, rome.got) == ("London", "Rome")
