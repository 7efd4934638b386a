"""Whether a text denies what it mentions: "not A", "instead of 5", "B is wrong".

Only what stands in the same clause counts, and only a few words away.
"""

from __future__ import annotations

import re

_REACH = 60
_MARKS = r"[ \t*_(\[\"'`${]"
_NEGATION = (
    r"(?:\b(?:not(?!\s+(?:only|just|sure|more|less|fewer|counting|including|rounded)\b)"
    r"|never|neither|nor|cannot|rather\s+than|instead\s+of|other\s+than|anything\s+but)\b"
    r"|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b)"
)
_ENDS_CLAUSE = r"(?:but|and|so|because|since|hence|thus|therefore|then|if)\b"
_BEFORE = re.compile(
    rf"{_NEGATION}(?:{_MARKS}+(?!{_ENDS_CLAUSE})[\w'\N{{RIGHT SINGLE QUOTATION MARK}}]+){{0,5}}?"
    rf"{_MARKS}*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[)\]*_\"'`}$.]{0,4}\s{1,3}(?:"
    r"(?:is|are|was|were|seems|looks|would\s+be)\s+(?:(?:clearly|definitely|also|simply)\s+)?"
    r"(?:not(?!\s+only\b)|wrong|incorrect|false|out|impossible|ruled\s+out)\b"
    r"|(?:is|are|was|does|do|can|could)n['\N{RIGHT SINGLE QUOTATION MARK}]t\b"
    r"|(?:does|do|can|could)\s+not\b|cannot\b)",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int) -> bool:
    """Return whether `text` says that what stands from `start` to `end` is not meant.

    Example:
        >>> is_denied("not A, but B", 4, 5), is_denied("not A, but B", 11, 12)
        (True, False)
    """
    before = text[max(0, start - _REACH) : start]
    return _BEFORE.search(before) is not None or _AFTER.match(text, end) is not None
