"""A part of a run for one of several machines: pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from poor_bench.models.test import Test

_FORM = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count` parts that do not overlap.

    The part of a test and a model is a hash of their names. So it stays the same whatever other
    tests and models come or go. All trials of them are in one part: a server's prompt cache serves
    them, and a machine that is lost takes whole tests with it, not some trials of every test.
    """

    number: int
    """From 1."""
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard such as `2/8`.

        Example:
            >>> Shard.parse("2/8")
            Shard(number=2, count=8)

        Raises:
            ValueError: If it is not one; the message says how it is written.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError("give I/N, such as 1/4")
        shard = cls(int(match[1]), int(match[2]))
        if shard.count < 1:
            raise ValueError("the number of shards must be at least 1, such as 1/4")
        if not 1 <= shard.number <= shard.count:
            raise ValueError(
                f"shards count from 1 to {shard.count}; add 1 where a scheduler counts from 0"
            )
        return shard

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return f"{self.number}/{self.count}"

    def holds(self, llm_id: str, test: Test) -> bool:
        """True if the trials of a test by a model are in this part."""
        name = "\0".join((test.class_id, test.test_id, llm_id))
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1
