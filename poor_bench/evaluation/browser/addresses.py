"""Which addresses and URLs a browser under test may open; pure.

The decision is made on addresses, never on names: a name is resolved once, all its addresses are
judged, and the connection goes to one of exactly those. So it does not matter how an address was
spelled (decimal, octal, hexadecimal, short, IPv6-mapped) or what a name answers the next time.
URLs are judged by their spelling first; names in them later, by the addresses they resolve to.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import inet_aton
from typing import Final
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address

_METADATA: Final = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, Oracle, DigitalOcean
        "169.254.170.2",  # AWS, credentials of containers
        "168.63.129.16",  # Azure, a public address that is answered by the host
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle
        "fd00:ec2::254",  # AWS over IPv6
    )
)
_V4_IN_THE_LAST_32_BITS: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
"""NAT64, and the long deprecated IPv4-compatible form."""


def explain_refusal(address: Address) -> str | None:
    """Explain why an address requires `allow_private_networks`; None if it does not.

    Addresses that carry an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo) are
    judged by the inner one too.

    Example:
        >>> explain_refusal(ip_address("::ffff:127.0.0.1"))
        'a loopback address'
    """
    reasons = (_refuse_own(each) for each in (*_list_inner_addresses(address), address))
    return next((reason for reason in reasons if reason is not None), None)


def _refuse_own(address: Address) -> str | None:
    kinds = (
        (address in _METADATA, "a metadata address of a cloud"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address.is_unspecified, "the unspecified address"),
        (address.is_private, "a private address"),
        (not address.is_global, "no public address"),
    )
    return next((reason for applies, reason in kinds if applies), None)


def _list_inner_addresses(address: Address) -> tuple[IPv4Address, ...]:
    if isinstance(address, IPv4Address):
        return ()
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _V4_IN_THE_LAST_32_BITS) and int(address) > 1:
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(inner for inner in found if inner is not None)


def parse_address(host: str) -> Address | None:
    """Read a host that is an address, in any spelling that browsers know; None for a name.

    IPv4 may have one to four parts, each decimal, octal (`0177`) or hexadecimal (`0x7f`); the
    last part fills the bytes that are left. IPv6 may stand in brackets and name a zone.

    Example:
        >>> parse_address("2130706433"), parse_address("0x7f.1"), parse_address("example.org")
        (IPv4Address('127.0.0.1'), IPv4Address('127.0.0.1'), None)
    """
    bare = host.strip().removeprefix("[").removesuffix("]")
    if ":" in bare:
        try:
            return IPv6Address(bare.partition("%")[0])
        except ValueError:
            return None
    try:
        return IPv4Address(inet_aton(bare.removesuffix(".")))
    except (OSError, ValueError):
        return None


_WEB = frozenset({"http", "https"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_BLANK = ("about:blank", "about:srcdoc", "chrome-error:")


def explain_url_refusal(url: str, *, allow_private: bool) -> str | None:
    """Explain why a URL must not be opened, by its spelling; None if it may.

    Names are judged later, by the addresses they resolve to.
    """
    try:
        parts = urlsplit(url.strip())
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        return f"not a URL: {error}"
    if parts.scheme.lower() not in _WEB:
        return f"the scheme {parts.scheme or 'none'!r} is refused; use http or https"
    if not host:
        return "the host is missing"
    if parts.username is not None:
        return "it contains a user name; URLs must not contain credentials"
    address = None if allow_private else parse_address(host)
    reason = None if address is None else explain_refusal(address)
    return None if reason is None else f"{host} is {reason}; see allow_private_networks"


def is_web_page(url: str) -> bool:
    """True if a page may stay open: http(s), a blank page, or an error page."""
    return urlsplit(url).scheme in _WEB or url == "" or url.startswith(_BLANK)


def parse_origin(url: str) -> str | None:
    """Scheme, host and port of a URL, in one spelling; None where it has no web origin.

    Example:
        >>> parse_origin("HTTPS://Shop.example/cart?x=1"), origin_of("https://shop.example:443")
        ('https://shop.example:443', 'https://shop.example:443')
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in _WEB or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{host}:{port or _DEFAULT_PORTS[scheme]}"


def split_web_url(text: str) -> SplitResult | None:
    """Split an http(s) URL with a host; None for any other text.

    Example:
        >>> split_web_url("file:///etc/passwd") is None
        True
    """
    try:
        url = urlsplit(text)
        is_usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        return None
    has_space = any(character.isspace() for character in text)
    return url if is_usable and not has_space else None
