"""Credentials of a case: from the environment, into the origin they belong to, nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.safety.urls import origin_of
from poor_bench.evaluation.browser.session.errors import ActionError


class Credentials:
    """Values of environment variables, each with the only origin that may receive it."""

    def __init__(self, origins: Mapping[str, str], environ: Mapping[str, str]) -> None:
        """Look the values up.

        Raises:
            ConfigError: If a variable is not set, or an origin is none.
        """
        missing = [name for name in origins if not environ.get(name)]
        if missing:
            raise ConfigError(
                f"these environment variables are not set: {', '.join(missing)}",
                hint="the case names them as credentials",
            )
        self.values: Mapping[str, str] = {name: environ[name] for name in origins}
        self._origins = {name: _required_origin(name, origin) for name, origin in origins.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of credentials that an agent may type."""
        return tuple(self.values)

    def value_for(self, name: str, page_url: str) -> str:
        """The value of a credential for a document at `page_url`.

        Raises:
            ActionError: If there is no such credential, or it belongs to another origin.
        """
        if name not in self.values:
            known = ", ".join(self.values) or "none"
            raise ActionError(f"credential {name!r} does not exist; known: {known}")
        if origin_of(page_url) != self._origins[name]:
            raise ActionError(
                f"the credential {name} belongs to {self._origins[name]} only; "
                f"this part of the page is of {origin_of(page_url) or 'no origin'}"
            )
        return self.values[name]


def _required_origin(name: str, url: str) -> str:
    origin = origin_of(url)
    if origin is None:
        raise ConfigError(f"the origin of the credential {name} is not an http(s) URL: {url!r}")
    return origin
