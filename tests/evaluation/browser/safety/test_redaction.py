from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.redaction import Redactor

SECRET = 'p&ss "wörd"/1'
secrets = st.text(st.characters(codec="utf-8", exclude_characters="[]NAME"), min_size=3)


@given(secrets, st.text(), st.text())
def test_no_spelling_of_a_secret_stays(secret: str, before: str, after: str) -> None:
    redactor = Redactor({"NAME": secret})
    for spelling in (secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1]):
        assert spelling not in redactor.text(spelling)
    assert redactor.text(before + secret + after).count(secret) == 0


def test_a_secret_is_replaced_by_its_name() -> None:
    redactor = Redactor({"SHOP_PASSWORD": SECRET})
    assert redactor.text(f"password={quote_plus(SECRET)}&x") == "password=[SHOP_PASSWORD]&x"


def test_nested_data_are_redacted_in_keys_and_values() -> None:
    redactor = Redactor({"PIN": "4711"})
    data = {"4711": ["a 4711", {"n": 4711, "t": ("4711",)}], "ok": None}
    assert redactor.value(data) == {"[PIN]": ["a [PIN]", {"n": 4711, "t": ["[PIN]"]}], "ok": None}


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert Redactor({"A": "abc", "B": "abcdef"}).text("abcdef abc") == "[B] [A]"


def test_empty_values_are_no_secrets() -> None:
    assert Redactor({"A": ""}).text("abc") == "abc"
