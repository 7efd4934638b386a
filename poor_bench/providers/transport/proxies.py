"""Which proxy an endpoint is reached through, as the environment of the process says."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import unquote, urlsplit, urlunsplit


def proxy_of(url: str) -> tuple[str, str] | None:
    """Return the proxy for a URL and its credentials, or None to connect directly.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are followed (and the system's settings on
    macOS and Windows); this machine itself is never asked through a proxy.

    Returns:
        The proxy's URL without user name and password, and `user:password` or an empty text.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or _is_this_machine(host) or urllib.request.proxy_bypass(host):
        return None
    return _without_credentials(proxy if "://" in proxy else f"http://{proxy}")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _without_credentials(proxy: str) -> tuple[str, str]:
    parts = urlsplit(proxy)
    credentials, _, address = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, address, "", "", "")), unquote(credentials)
