"""Which URLs a browser under test may open; pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from poor_bench.evaluation.browser.safety.addresses import parse_address, refusal

_WEB = frozenset({"http", "https"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_BLANK = ("about:blank", "about:srcdoc", "chrome-error:")


def url_refusal(url: str, *, allow_private: bool) -> str | None:
    """Why a URL must not be opened, by its spelling; None if it may.

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
    reason = None if address is None else refusal(address)
    return None if reason is None else f"{host} is {reason}; see allow_private_networks"


def is_web_page(url: str) -> bool:
    """True if a page may stay open: http(s), a blank page, or an error page."""
    return urlsplit(url).scheme in _WEB or url == "" or url.startswith(_BLANK)


def origin_of(url: str) -> str | None:
    """Scheme, host and port of a URL, in one spelling; None where it has no web origin.

    Example:
        >>> origin_of("HTTPS://Shop.example/cart?x=1"), origin_of("https://shop.example:443")
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
