"""What is compared: a set of results, and the model, run, prompt or parameters that select it."""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from poor_bench.messages import cut_text
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.prompts import list_inserted
from poor_bench.statistics.trials import (
    TextCodes,
    TextColumns,
    TextReader,
    TrialColumns,
    collect_columns,
    order_codes,
)

_LONGEST_VALUE = 60
"""Characters of a parameter in the name of a set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts about a run as a whole; empty if unknown."""

    llm_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """LLM id to a hash of model and parameters."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name to facts of the machines of a cluster that asked; empty for other runs."""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """LLM id to its parameters; older runs did not record them."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """LLM id to name and version of what serves it, where that is known."""
    program: str = ""
    """Version of poor_bench."""

    def find_machine(self, name: str) -> Mapping[str, Any]:
        """Find the facts of the machine that a result names, or names not; empty if unknown."""
        return self.machines.get(name, {}) if name else self.machine

    @property
    def measured_on(self) -> tuple[Mapping[str, Any], ...]:
        """Known facts of all machines that the run's times were measured on."""
        machines = self.machines.values() or (self.machine,)
        return tuple(machine for machine in machines if machine)


class ComparedColumns(NamedTuple):
    """What is compared of results, one entry each in every column."""

    trials: TrialColumns
    facts: TextColumns
    """What `FACTS` reads."""


class ResultsInColumns(Sequence[Result]):
    """Stored results, of which each is read only where it is asked for."""

    @property
    @abstractmethod
    def trials(self) -> TrialColumns:
        """Their figures."""

    @property
    @abstractmethod
    def facts(self) -> TextColumns:
        """What `FACTS` reads of them."""


def _read_facts(results: Iterable[Result]) -> TextColumns:
    import numpy as np

    machines, columns = TextCodes(), {name: list[int]() for name in (*_DIGESTED, "machine")}
    for each in results:
        for name, take in _DIGESTED.items():
            columns[name].append(digest_fact(take(each)))
        columns["machine"].append(machines[each.machine])
    found = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    return TextColumns(columns=found, values={"machine": tuple(machines)})


def digest_fact(text: str) -> int:
    """Turn a text into a number of 64 bits that is its own; 0 if it is empty."""
    content = text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(content, digest_size=8).digest() if content else b""
    return int.from_bytes(digest, "little", signed=True)


_DIGESTED: Mapping[str, Callable[[Result], str]] = {
    "prompt": lambda each: f"{each.system_prompt}\0{each.prompt}" if each.prompt else "",
    "answer": lambda each: each.response,
    "identity": lambda each: each.timestamp and f"{each.trial} {each.timestamp} {each.response}",
    "model": lambda each: each.model_digest or "",
    "request": lambda each: each.request_fingerprint,
    "evaluator": lambda each: each.evaluator_fingerprint,
}
FACTS = TextReader(
    name="compared",
    read=_read_facts,
    texts=(
        *("prompt", "system_prompt", "response", "timestamp", "model_digest"),
        *("request_fingerprint", "evaluator_fingerprint"),
    ),
    fields=("machine", "trial"),
    is_shared=True,
)
"""Digests of the facts that results are compared by; 0 where a result does not record one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSet:
    """One of the two sets of results that are compared: a run, a file, or what one LLM did."""

    name: str
    """Name on screens."""
    results: Sequence[Result]
    """The newest result of every trial, failures included."""
    unread_llms: tuple[str, ...] = ()
    """LLMs whose results were not read, as they are compared with nothing."""
    unread_tests: Mapping[str, Collection[str]] = field(default_factory=dict)
    """LLM id to the tests whose scores were not read, as the other side has no result of them."""
    is_llm: bool = False
    """True if it was chosen as an LLM, and may be compared with another one."""
    is_present: bool = False
    """True if these are the present results, as they are stored, of its LLMs on some tests."""
    runs: Mapping[str, RunFacts] = field(default_factory=dict)
    """Run id to what is known of the run that a result comes from."""

    def by_llm(self) -> dict[str, list[Result]]:
        """Group the results by LLM, in the order in which the LLMs first appear."""
        grouped: dict[str, list[Result]] = {}
        for result in self.results:
            grouped.setdefault(result.llm_id, []).append(result)
        for llm_id, tests in self.unread_tests.items():
            if tests:
                grouped.setdefault(llm_id, [])
        return grouped

    @property
    def llm_ids(self) -> tuple[str, ...]:
        """The LLMs that have results, those that were not read last."""
        return (*self.list_read(), *self.unread_llms)

    def list_read(self) -> dict[str, None]:
        """List the keys of `by_llm`, without a look at very many results in Python."""
        held = self.results
        of_results = (
            dict.fromkeys(held.trials.find_values("llm_id"))
            if isinstance(held, ResultsInColumns)
            else dict.fromkeys(map(attrgetter("llm_id"), held))
        )
        return of_results | {llm_id: None for llm_id, tests in self.unread_tests.items() if tests}

    def list_tests(self) -> dict[str, Collection[str]]:
        """List the tests that each of the keys of `by_llm` has results of."""
        held = self.results
        if isinstance(held, ResultsInColumns):
            return {llm_id: list_tests(held.trials, llm_id).keys() for llm_id in self.list_read()}
        found = self.by_llm().items()
        return {llm_id: {each.test_id for each in results} for llm_id, results in found}

    def in_columns(self) -> ComparedColumns:
        """Arrange what is compared of the results in columns.

        Raises:
            StoreError: If stored results cannot be read.
        """
        held = self.results
        if isinstance(held, ResultsInColumns):
            return ComparedColumns(held.trials, held.facts)
        return ComparedColumns(collect_columns(held), FACTS.read(held))


def list_tests(trials: TrialColumns, llm_id: str) -> dict[str, int]:
    """List the tests that a model has results of, and their codes."""
    codes = trials.columns["test_id"][trials.find_entries("llm_id", llm_id.__eq__)]
    names = trials.values["test_id"]
    return {names[code]: code for code in order_codes(codes)}


LLMPair = tuple[str, str]
"""Id before and id after; the same for one LLM at two times."""


def pair_llms(before: ResultSet, after: ResultSet) -> list[LLMPair]:
    """Pair each LLM of both result sets with itself, or two LLMs that were named.

    Returns:
        Pairs in the order of `after`. Different LLMs form a pair only where both sides were chosen
        as an LLM: an LLM that one side lacks is new or gone, not changed.
    """
    ids_before, ids_after = before.list_read(), after.list_read()
    if before.is_llm and after.is_llm:
        return list(zip(ids_before, ids_after, strict=False))
    return [(llm_id, llm_id) for llm_id in ids_after if llm_id in ids_before]


def find_unpaired_llms(before: ResultSet, after: ResultSet) -> tuple[list[str], list[str]]:
    """Find the LLMs of each result set that are compared with nothing."""
    pairs = pair_llms(before, after)
    compared_before = {llm_id for llm_id, _ in pairs}
    compared_after = {llm_id for _, llm_id in pairs}
    return (
        [llm_id for llm_id in before.llm_ids if llm_id not in compared_before],
        [llm_id for llm_id in after.llm_ids if llm_id not in compared_after],
    )


def group_by_test(results: list[Result]) -> dict[str, list[Result]]:
    """Group results by test, in the order in which the tests first appear."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.test_id, []).append(result)
    return grouped


def average_score(results: Sequence[Result]) -> float | None:
    """Compute the mean score of one test; None without scored trials."""
    scores = list_scores(results)
    return sum(scores) / len(scores) if scores else None


def list_scores(results: Sequence[Result]) -> tuple[float, ...]:
    """List the scores of scored trials."""
    return tuple(result.score for result in results if result.score is not None)


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

    def label(self, llm_name: str, version: str = "") -> str:
        """Name the subject for screens.

        Args:
            llm_name: What screens call the model.
            version: Stands for a hash that tells nothing.

        Example:
            >>> ComparedSubject.parse("a:b@run:20261121T225007-3f2a91").label("Model B")
            'Model B, run 2026-11-21 22:50:07'
        """
        if self.kind is SubjectKind.MODEL:
            return llm_name
        known = _write_time(self.version) if self.kind is SubjectKind.RUN else self.version
        return f"{llm_name}, {self.kind.value} {version or known}"


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
    return _write_parameters(parameters, parameters) or "default parameters"


def tell_parameters_apart(
    parameters: Mapping[str, Any], others: Iterable[Mapping[str, Any]]
) -> str:
    """Write what other sets of parameters have different; all of them without other sets.

    Example:
        >>> tell_parameters_apart({"seed": 1, "top_k": 2}, [{"seed": 1}, {"seed": 1, "min_p": 0}])
        'min_p default, top_k 2'
    """
    different = {
        name
        for other in others
        for name in {*parameters, *other}
        if parameters.get(name) != other.get(name)
    }
    return _write_parameters(parameters, different) or write_parameters(parameters)


def _write_parameters(parameters: Mapping[str, Any], names: Iterable[str]) -> str:
    values = {name: _write_value(parameters[name]) for name in parameters}
    return ", ".join(f"{name} {values.get(name, 'default')}" for name in sorted(names))


def _write_value(value: object) -> str:
    """Write a value; of a long one, such as a schema, its start and a hash that tells it apart."""
    text = json.dumps(value, default=str)
    is_short = len(text) <= _LONGEST_VALUE
    return text if is_short else f"{cut_text(text, _LONGEST_VALUE)} ({_hash(text)})"


def _hash(text: str) -> str:
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=4).hexdigest()
