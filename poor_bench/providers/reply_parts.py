"""What has been gathered of a reply, whatever wire format it came in; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.completion import Completion, FinishReason, Timing, Usage

_LOOP_PIECES = 30
_SLACK, _SLACK_MS = 1.05, 50.0
"""By how much a server's times may exceed ours: clocks differ a little."""


@dataclass(slots=True)
class ReplyParts:
    """The pieces of one reply, filled as they arrive."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    """None until the server says that it has finished."""
    usage: Usage = field(default_factory=Usage)
    model_digest: str | None = None
    load_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    prompt_truncated: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether any text or thinking has arrived."""
        return bool(self.text or self.thinking)

    @property
    def repeats_itself(self) -> bool:
        """Whether the last 30 pieces are the same."""
        last = (self.text or self.thinking)[-_LOOP_PIECES:]
        return len(last) == _LOOP_PIECES and len(set(last)) == 1

    @property
    def _told_ms(self) -> float:
        """Milliseconds that the server says it took."""
        told = (self.load_ms, self.queue_ms, self.prefill_ms, self.decode_ms)
        return sum(part for part in told if part is not None)

    def to_completion(
        self, total_ms: float, first_token_ms: float | None, notes: tuple[str, ...] = ()
    ) -> Completion:
        """Return the finished reply with the times that were measured here.

        Times of the server that do not fit into those are skipped: some proxies make them up.
        """
        if total_ms and self._told_ms > total_ms * _SLACK + _SLACK_MS:
            self.load_ms = self.queue_ms = self.prefill_ms = self.decode_ms = None
        return Completion(
            text=_joined(self.text),
            thinking=_joined(self.thinking),
            finish_reason=self.finish_reason or FinishReason.OTHER,
            usage=self.usage,
            timing=Timing(
                total_ms=total_ms,
                first_token_ms=first_token_ms,
                load_ms=self.load_ms,
                queue_ms=self.queue_ms,
                prefill_ms=self.prefill_ms,
                decode_ms=self.decode_ms,
            ),
            model_digest=self.model_digest,
            prompt_truncated=self.prompt_truncated,
            notes=notes,
        )


def text_at(value: Mapping[str, Any], key: str) -> str:
    """Return the text under a key of a server's object; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def mapping_at(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key of a server's object; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def mappings_at(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the mappings in the list under a key; empty where there is none."""
    found = value.get(key)
    items = found if isinstance(found, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """Return the count under a key of a server's object; None where there is none."""
    found = number_at(value, key)
    return None if found is None else int(found)


def number_at(value: Mapping[str, Any], key: str) -> float | None:
    """Return the number under a key of a server's object; None where there is none."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found if 0 <= found < math.inf else None


def _joined(pieces: list[str]) -> str:
    """Join pieces; characters that were cut between two of them are made whole."""
    text = "".join(pieces)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
