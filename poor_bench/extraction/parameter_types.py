"""Types for the parameters of evaluators."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from poor_bench.extraction.number import read_json_number

_read_text = lru_cache(maxsize=256)(read_json_number)
"""Every check and every score of a test reads its parameters again."""


def _to_decimal(value: Any) -> Decimal:
    number = _read_text(value) if isinstance(value, str) else read_json_number(value)
    if number is None:
        raise ValueError(f"{value!r:.60} is not a number")
    return number.value


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def _check_locale(value: str | None) -> str | None:
    if value is not None and not _LOCALE.fullmatch(value):
        raise ValueError(f"{value!r:.20} is not a locale such as 'de' or 'de-CH'")
    return value


_COMMA = frozenset({
    "af", "ast", "az", "be", "bg", "br", "bs", "ca", "cs", "da", "de", "el", "eo", "es", "et",
    "eu", "fi", "fo", "fr", "fy", "gl", "hr", "ht", "hu", "hy", "id", "is", "it", "jv", "ka",
    "kk", "ku", "ky", "lb", "ln", "lo", "lt", "lv", "mk", "nb", "nl", "nn", "no", "pl", "pt",
    "ro", "ru", "rw", "sk", "sl", "sq", "sr", "su", "sv", "tg", "tk", "tr", "tt", "uk", "uz",
    "vi", "wo", "en-at", "en-be", "en-cz", "en-de", "en-dk", "en-es", "en-fi", "en-fr", "en-hu",
    "en-id", "en-it", "en-nl", "en-no", "en-pl", "en-pt", "en-ro", "en-se", "en-si", "en-sk",
    "en-za",
})  # fmt: skip
_POINT = frozenset({
    "de-ch", "de-li", "es-419", "es-br", "es-bz", "es-cu", "es-do", "es-gt", "es-hn", "es-mx",
    "es-ni", "es-pa", "es-pe", "es-pr", "es-sv", "es-us", "it-ch",
})  # fmt: skip
"""Languages and regions by decimal sign, as the Unicode Common Locale Data Repository has them."""


def has_decimal_comma(locale: str | None) -> bool:
    """True if people of a locale write 1,5 for one and a half.

    Args:
        locale: Language, perhaps with a region, such as `de` or `de-CH`; None for no locale.

    Example:
        >>> has_decimal_comma("fr"), has_decimal_comma("de-CH"), has_decimal_comma("en")
        (True, False, False)
    """
    name = (locale or "").replace("_", "-").lower()
    return name not in _POINT and not _COMMA.isdisjoint({name, name.partition("-")[0]})


Locale = Annotated[
    str | None,
    AfterValidator(_check_locale),
    Field(
        description="Language of the answers, such as `de`: says what `1.234` means. By default it"
        " is read as in English, except where something else tells, as in `1.234 €`."
    ),
]
"""A language, perhaps with a region; None for English."""

ExactNumber = Annotated[Decimal, BeforeValidator(_to_decimal)]
"""A number, or a text that is one in any notation that answers may use."""

OneOrMoreTexts = Annotated[
    list[Annotated[str, Field(min_length=1)]], Field(min_length=1), BeforeValidator(_to_list)
]
"""A text, or several; none of them empty."""
