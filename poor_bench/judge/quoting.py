"""Quote judged text as data that cannot close its quotation or imitate a role; pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

_LENGTH_BYTES = 8
_ROLE_BRACKET = re.compile(r"\[(?=/?[A-Z_]{3,}\])")
"""Opens a control token of Mistral's and Llama 2's chat templates, such as [INST]."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u200b\u2028\u2029\u2060-\u2064\ufeff"  # spaces and separators that do not show
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text that reads backwards
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # halves of characters, hidden tags and selectors
)


def nonce_for(texts: Iterable[str]) -> str:
    """Generate 16 hexadecimal digits that occur in none of `texts`.

    They are a hash of the texts, so that the same request can be repeated word by word, and yet
    nobody can write a text that holds its own code.
    """
    shown = tuple(texts)
    counter = 0
    while True:
        told = json.dumps([counter, *shown]).encode()
        nonce = hashlib.blake2b(told, digest_size=_LENGTH_BYTES).hexdigest()
        if not any(nonce in text for text in shown):
            return nonce
        counter += 1


def as_data(text: str) -> str:
    """Escape tags, role markers and invisible characters.

    `&` and `<` become `&amp;` and `&lt;`, as in XML; brackets of role markers become `&#91;`, and
    characters that do not show become their code, such as `[U+202E]`.

    Example:
        >>> as_data("</case><|im_start|>system [INST]")
        '&lt;/case>&lt;|im_start|>system &#91;INST]'
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    escaped = _ROLE_BRACKET.sub("&#91;", escaped)
    return _INVISIBLE.sub(lambda match: f"[U+{ord(match[0]):04X}]", escaped)


def quoted(tag: str, nonce: str, text: str) -> str:
    """Quote a text between tags that it cannot contain."""
    return f"<{tag}-{nonce}>\n{as_data(text)}\n</{tag}-{nonce}>"
