"""The base model behind a name: what stays without quantisation, tuning words, tags and dates."""

from __future__ import annotations

import re

_FILE = re.compile(r"\.(gguf|safetensors|bin)$")
_SIZE = re.compile(r"(?:\d{1,6}x)?[ea]?\d{1,6}(?:\.\d{1,6})?[bm]")
_DATE = re.compile(r"[-:@](?:20\d\d-\d\d-\d\d|20\d{6})(?=$|[-:@])")
_QUANTISATION = re.compile(
    r"i?q\d(?:_\w+)*|[fbi](?:loat|p|f)?(?:4|8|16|32)|mxfp4|nvfp4|int[48]|[48]bit|w\d+a\d+"
)
_WORDS = frozenset({
    "instruct", "it", "chat", "qat", "awq", "gptq", "gguf", "ggml", "exl2", "mlx", "bnb", "ud",
    "hf", "dynamic", "imatrix", "latest", "free", "preview",
})  # fmt: skip


def base_model_name(name: str) -> str:
    """Name the base model of a provider's model name: its family, then its size.

    Variants differ in quantisation, tuning for chat, tag, date or who offers them.

    Example:
        >>> base_model_name("qwen2.5-coder:7b-instruct-q4_K_M")
        'qwen2.5-coder:7b'
        >>> base_model_name("Qwen/Qwen2.5-Coder-7B-Instruct-GGUF")
        'qwen2.5-coder:7b'
    """
    last = name.strip().lower().replace("\\", "/").rstrip("/").rpartition("/")[2]
    parts = re.split(r"[-:@\s]+", _DATE.sub("", _FILE.sub("", last)))
    kept = [part for part in parts if part and not _is_variant(part)]
    sizes = [part for part in kept if _SIZE.fullmatch(part)]
    family = "-".join(part for part in kept if part not in sizes)
    return ":".join(filter(None, (family, "-".join(sizes)))) or name


def _is_variant(part: str) -> bool:
    return part in _WORDS or _QUANTISATION.fullmatch(part) is not None
