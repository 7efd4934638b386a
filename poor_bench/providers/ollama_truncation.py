"""Find out from Ollama's counters that it cut the prompt without saying so; pure.

A prompt longer than the context is answered with status 200 all the same: the server keeps its
first `num_keep` tokens and about the second half of the room, and drops what lies between. The
count of prompt tokens is then a number that only the context determines.

Source:
    Ollama's `contextShiftPromptLimit` (llm/llama_server.go) and the counts that users report in
    ollama/ollama#3839 (16387 of 32768), #17889 and #18399 (2050 of 4096).
"""

from __future__ import annotations

from collections.abc import Iterable

DEFAULT_NUM_KEEP = 4
_USUAL_CONTEXTS = tuple(1024 * 2**power for power in range(1, 9))


def prompt_was_truncated(
    prompt_tokens: int | None,
    prompt_bytes: int,
    num_ctx: int | None,
    num_keep: int = DEFAULT_NUM_KEEP,
) -> bool:
    """Return whether the counters show that part of the prompt was dropped.

    Args:
        prompt_tokens: `prompt_eval_count` of the reply; None where it has none.
        prompt_bytes: Length of all messages in UTF-8. A prompt that was cut had more tokens than
            the context, and a token has a byte at least.
        num_ctx: Tokens of context; the usual sizes are tried where it is not known.
        num_keep: Tokens that are kept at the beginning; a BOS token may come on top.

    Example:
        >>> prompt_was_truncated(2050, 40_000, 4096)
        True
        >>> prompt_was_truncated(2051, 40_000, 32768)
        False
    """
    if prompt_tokens is None:
        return False
    contexts: Iterable[int] = _USUAL_CONTEXTS if num_ctx is None else (num_ctx,)
    return any(
        prompt_bytes > context and _is_signature(prompt_tokens, context, num_keep)
        for context in contexts
    )


def _is_signature(prompt_tokens: int, num_ctx: int, num_keep: int) -> bool:
    return prompt_tokens == num_ctx or prompt_tokens in {
        num_ctx - max((num_ctx - keep) // 2, 1) for keep in (num_keep, num_keep + 1)
    }
