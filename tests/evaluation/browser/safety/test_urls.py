from __future__ import annotations

import pytest

from poor_bench.evaluation.browser.addresses import explain_url_refusal, is_web_page, parse_origin


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "chrome://settings",
        "view-source:http://shop.example/",
        "data:text/html,<h1>x</h1>",
        "javascript:alert(1)",
        "ftp://shop.example/",
        "ws://shop.example/",
        "blob:http://shop.example/1",
        "about:blank",
        "shop.example",
        "//shop.example",
        "http://",
        "http://user:secret@shop.example/",
        "http://shop.example:99999/",
        "http://[::1/",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1:8080/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
    ],
)
def test_urls_that_lead_elsewhere_than_the_public_web_are_refused(url: str) -> None:
    assert explain_url_refusal(url, allow_private=False)


def test_private_addresses_are_a_matter_of_the_case_and_schemes_are_not() -> None:
    assert explain_url_refusal("http://127.0.0.1:8080/cart", allow_private=True) is None
    assert explain_url_refusal("file:///etc/passwd", allow_private=True)


def test_the_public_web_may_be_opened() -> None:
    assert explain_url_refusal("https://shop.example/cart?x=1#top", allow_private=False) is None


def test_the_secret_of_a_url_is_not_repeated() -> None:
    refusal = explain_url_refusal("http://user:secret@shop.example/", allow_private=False)
    assert refusal is not None
    assert "secret" not in refusal


@pytest.mark.parametrize("url", ["http://a.example/", "about:blank", "", "chrome-error://x/"])
def test_pages_of_the_web_blank_pages_and_error_pages_may_stay(url: str) -> None:
    assert is_web_page(url)


@pytest.mark.parametrize("url", ["chrome://version", "file:///etc/passwd", "data:text/html,x"])
def test_other_pages_may_not_stay(url: str) -> None:
    assert not is_web_page(url)


def test_origins_are_compared_with_scheme_host_and_port() -> None:
    assert parse_origin("https://Shop.example/a") == parse_origin("https://shop.example:443/b")
    assert parse_origin("https://shop.example") != parse_origin("http://shop.example")
    assert parse_origin("http://shop.example") != parse_origin("http://shop.example:8080")
    assert parse_origin("http://shop.example") != parse_origin("http://shop.example.evil.example")
    assert parse_origin("http://[::1]:80/") == "http://[::1]:80"
    assert parse_origin("about:blank") is None
    assert parse_origin("http://shop.example:x/") is None
