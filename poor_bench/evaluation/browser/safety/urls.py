"""Which URLs a browser under test may open; pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from poor_bench.evaluation.browser.safety.addresses import parse_address, refusal

_WEB = frozenset({"http", "https"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_BLANK = ("about:blank", "about:srcdoc", "chrome-error:")


def url_refusal(url: str, *, allow_private: bool) -> str | None:
    """Return why a URL must not be opened; None if it may, as far as its spelling tells.

    Names are judged later, by the addresses they resolve to.
    """
    try:
        parts = urlsplit(url.strip())
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        return f"not a URL: {error}"
    if parts.scheme.lower() not in _WEB:
        return f"the scheme {parts.scheme or 'none'!r} is refused; only http and https are opened"
    if not host:
        return "it names no host"
    if parts.username is not None:
        return "it carries a user name; credentials do not belong into URLs"
    address = None if allow_private else parse_address(host)
    reason = None if address is None else refusal(address)
    return None if reason is None else f"{host} is {reason}; see allow_private_networks"


def is_web_page(url: str) -> bool:
    """Return whether a page that is shown may stay: the web, a blank page, or an error page."""
    return urlsplit(url).scheme in _WEB or url == "" or url.startswith(_BLANK)


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of a URL, in one spelling; None where it has no web origin.

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
