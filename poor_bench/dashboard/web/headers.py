"""Response headers that confine what a page can do, whatever text it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_YEAR_S = 365 * 24 * 3600


def content_security_policy(script_hashes: Sequence[str]) -> str:
    """Return the policy: everything from this server, no inline script but the hashed ones.

    Inline styles are allowed since Mantine, AG Grid and Plotly set them.

    Args:
        script_hashes: Hashes of the inline scripts as `Dash.csp_hashes` returns them.
    """
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *script_hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def security_headers(policy: str) -> Mapping[str, str]:
    """Return the headers of every response."""
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    }


def cache_control(path: str, *, is_found: bool, has_version: bool) -> str:
    """Return how long a browser may keep a response.

    Scripts and styles whose address holds their version never change; results do.

    Args:
        path: Path of the request.
        is_found: Whether there was something to send.
        has_version: Whether its query holds the time of the file's last change.
    """
    if not is_found:
        return "no-store"
    if path.startswith("/_dash-component-suites/"):
        return f"public, max-age={_YEAR_S}, immutable"
    if path.startswith("/assets/"):
        return f"public, max-age={_YEAR_S}, immutable" if has_version else "no-cache"
    return "no-store"
