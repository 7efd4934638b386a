from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.addresses import explain_refusal, parse_address

REFUSED = (
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::a00:1",
    "2002:7f00:1::1",
    "2001:0:a9fe:a9fe::1",
)
ALLOWED = ("93.184.215.14", "8.8.8.8", "172.32.0.1", "192.167.1.1", "2606:4700::1111")
LOOPBACK_SPELLINGS = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.1",
    "0177.0.0.1",
    "017700000001",
    "0x7f.0.0.0x1",
    "127.0.0.1.",
)


@pytest.mark.parametrize("text", REFUSED)
def test_addresses_that_are_not_public_are_refused(text: str) -> None:
    assert explain_refusal(ip_address(text)) is not None


@pytest.mark.parametrize("text", ALLOWED)
def test_public_addresses_are_allowed(text: str) -> None:
    assert explain_refusal(ip_address(text)) is None


def test_the_reason_names_the_kind_of_address() -> None:
    assert explain_refusal(ip_address("169.254.169.254")) == "a metadata address of a cloud"
    assert explain_refusal(ip_address("::ffff:10.0.0.1")) == "a private address"


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_every_ipv6_form(address: IPv4Address) -> None:
    number = int(address)
    forms = (
        IPv6Address(f"::ffff:{address}"),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80) | 1),
    )
    if explain_refusal(address) is not None:
        assert all(explain_refusal(form) is not None for form in forms)


@pytest.mark.parametrize("text", LOOPBACK_SPELLINGS)
def test_every_spelling_of_loopback_is_the_same_address(text: str) -> None:
    assert parse_address(text) == IPv4Address("127.0.0.1")


@given(st.ip_addresses(v=4))
def test_decimal_octal_and_hexadecimal_are_the_same_address(address: IPv4Address) -> None:
    number = int(address)
    spellings = (str(number), hex(number), f"0{number:o}", str(address))
    assert {parse_address(text) for text in spellings} == {address}


@given(st.ip_addresses(v=6))
def test_ipv6_may_stand_in_brackets_and_name_a_zone(address: IPv6Address) -> None:
    assert parse_address(f"[{address}]") == parse_address(f"{address}%eth0") == address


@pytest.mark.parametrize(
    "text", ["example.org", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "08.0.0.1", "", "\u0661.1.1.1"]
)
def test_names_and_nonsense_are_no_addresses(text: str) -> None:
    assert parse_address(text) is None
