"""How templates of HTML reports are rendered: all text escaped, a missing value is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from poor_bench.messages import counted

if TYPE_CHECKING:
    from jinja2 import Environment


def report_environment(package: str = __package__, **filters: Callable[..., str]) -> Environment:
    """Return the templates of a package, and those of this one for what all reports share.

    Args:
        package: The package with a folder `templates`.
        filters: What its templates call by name.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, __package__))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, **filters}
    return environment
