"""A subject of a comparison: a model, or what one run, prompt or set of parameters made of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from poor_bench.models.test import Test
from poor_bench.prompts.render import list_inserted


class SubjectKind(StrEnum):
    """Which results of a model a subject selects."""

    MODEL = "model"
    """The present ones."""
    RUN = "run"
    """Those of one run."""
    PROMPT = "prompt"
    """Those with one version of the prompt of a class."""
    PARAMETERS = "parameters"
    """Those with one set of parameters."""


_VERSION = re.compile(r"(?P<kind>run|prompt|parameters):(?P<version>[\w.-]{1,300})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSubject:
    """A selection of the results of one model."""

    llm_id: str
    kind: SubjectKind = SubjectKind.MODEL
    version: str = ""
    """Id of the run, or hash of prompt or parameters; empty for a model."""

    @classmethod
    def parse(cls, text: str) -> ComparedSubject:
        """Read a subject from addresses and commands; any other text is the id of a model.

        Example:
            >>> ComparedSubject.parse("ollama:qwen3:1.7b@run:20261121T225007-3f2a91").version
            '20261121T225007-3f2a91'
            >>> ComparedSubject.parse("ollama:qwen3@latest").kind.value
            'model'
        """
        llm_id, _, version = text.rpartition("@")
        found = _VERSION.fullmatch(version)
        if not llm_id or found is None:
            return cls(llm_id=text)
        return cls(llm_id=llm_id, kind=SubjectKind(found["kind"]), version=found["version"])

    @property
    def text(self) -> str:
        """The subject as `parse` reads it."""
        if self.kind is SubjectKind.MODEL:
            return self.llm_id
        return f"{self.llm_id}@{self.kind.value}:{self.version}"

    def of_llm(self, llm_id: str) -> ComparedSubject:
        """Copy the subject with another model."""
        return replace(self, llm_id=llm_id)

    def label(self, llm_name: str) -> str:
        """Name the subject for screens.

        Example:
            >>> ComparedSubject.parse("a:b@run:20261121T225007-3f2a91").label("Model B")
            'Model B, run 2026-11-21 22:50:07'
        """
        if self.kind is SubjectKind.MODEL:
            return llm_name
        version = _write_time(self.version) if self.kind is SubjectKind.RUN else self.version
        return f"{llm_name}, {self.kind.value} {version}"


_RUN_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\b.*")


def _write_time(run_id: str) -> str:
    return _RUN_TIME.sub(r"\1-\2-\3 \4:\5:\6", run_id)


_TEXT = "\0text\0"


def hash_prompt(system_prompt: str, prompt: str, test: Test) -> str:
    """Compute the version of the prompt that a test was sent with; empty if it is not stored.

    The text of the test does not count, so that all tests of a class share the versions.

    Example:
        >>> tests = [Test(test_id=text, class_id="c", level=1, text=text) for text in ("1+1", "2")]
        >>> hash_prompt("", "Solve 1+1", tests[0]) == hash_prompt("", "Solve 2", tests[1])
        True
    """
    if not prompt:
        return ""
    template = prompt
    for text in list_inserted(test):
        template = template.replace(text, _TEXT)
    return _hash(f"{test.class_id}\0{system_prompt}\0{template}")


def hash_parameters(parameters: Mapping[str, Any]) -> str:
    """Compute the version of a set of parameters; their order does not count.

    Example:
        >>> hash_parameters({"a": 1, "b": 2}) == hash_parameters({"b": 2, "a": 1})
        True
    """
    return _hash(json.dumps(parameters, sort_keys=True, default=str))


def write_parameters(parameters: Mapping[str, Any]) -> str:
    """Write a set of parameters in one line, such as `temperature 0, think false`."""
    pairs = (f"{name} {json.dumps(value, default=str)}" for name, value in parameters.items())
    return ", ".join(sorted(pairs)) or "default parameters"


def _hash(text: str) -> str:
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=4).hexdigest()
