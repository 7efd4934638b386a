"""Seed, temperature and max_tokens, from one set of short random texts; pure.

All calls ask for random words within 40 tokens: two at temperature 1 with one seed, one with
another seed, two at temperature 0 with different seeds. The limits of two calls with one seed
differ by a token, so that a cache of replies cannot pass for a seed. One early difference may be
rounding, so a setting is called ignored only after three answers that should agree.

Answers to the same prompt are compared word by word up to the first difference. A pair that agrees
in `n` words and then parts is `n` draws that matched and one that did not. Servers that repeat
themselves still part now and then, as parallel sums are rounded differently. So agreement is
weighed against parting by Bayes factors, not by equality.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, takewhile
from typing import Any

from poor_bench.messages import write_count
from poor_bench.models.completion import Message
from poor_bench.probe.finding import (
    Part,
    ProbeCall,
    ProbeFinding,
    ProbeReply,
    ProbeSubject,
    Setting,
    say_honoured,
    say_ignored,
    say_refused,
    say_unknown,
)

Words = Sequence[str]

_STEADY = (0.5, 25.0)
"""Beta prior of the chance to part at a word while the draws are the same: 2 % on average."""
_FREE = (2.0, 3.0)
"""Beta prior of the same chance while the draws are independent."""


@dataclass(frozen=True, slots=True)
class AnswerAgreement:
    """How far pairs of answers agree."""

    n_agreed: int
    """Words before the first difference, over all pairs."""
    n_parted: int
    """Pairs with a difference."""
    n_pairs: int

    @property
    def text(self) -> str:
        """Description, such as `agree in 3 words on average`."""
        if not self.n_pairs:
            return "cannot be compared"
        if not self.n_parted:
            return f"agree in all of their {self.n_agreed // self.n_pairs} words"
        return f"part after {self.n_agreed / self.n_pairs:.0f} words on average"

    def log_steady(self) -> float:
        """Log probability of these pairs while the draws are the same."""
        return self._compute_log_probability(*_STEADY)

    def log_free(self) -> float:
        """Log probability of these pairs while the draws are independent."""
        return self._compute_log_probability(*_FREE)

    def __add__(self, other: AnswerAgreement) -> AnswerAgreement:
        """Join two sets of pairs."""
        return AnswerAgreement(
            self.n_agreed + other.n_agreed,
            self.n_parted + other.n_parted,
            self.n_pairs + other.n_pairs,
        )

    def _compute_log_probability(self, a: float, b: float) -> float:
        return _compute_log_beta(a + self.n_parted, b + self.n_agreed) - _compute_log_beta(a, b)


def compare_pairs(pairs: Iterable[tuple[Words, Words]], n_shared: int = 0) -> AnswerAgreement:
    """Compare pairs of answers.

    Args:
        pairs: Words of two answers each.
        n_shared: Words at the beginning that all answers share and that say nothing.
    """
    total = AnswerAgreement(0, 0, 0)
    for first, second in pairs:
        if not first or not second:
            continue
        n_agreed = count_shared([first, second])
        has_parted = n_agreed < min(len(first), len(second))
        total += AnswerAgreement(max(0, n_agreed - n_shared), int(has_parted), 1)
    return total


def count_shared(answers: Sequence[Words]) -> int:
    """Count the words at the beginning that all answers share."""
    rows = zip(*answers, strict=False)
    return sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, rows))


@dataclass(frozen=True, slots=True)
class Weights:
    """Posterior probabilities of three ways to draw; they add up to 1."""

    first_steady: float
    """The first set repeats itself, the second does not."""
    both_free: float
    both_steady: float


def weigh(first: AnswerAgreement, second: AnswerAgreement) -> Weights:
    """Weigh three hypotheses about two sets of pairs, equally likely beforehand.

    Source:
        Beta-binomial marginal likelihoods with the priors above; pairs that share an answer count
        as independent.
    """
    logs = (
        first.log_steady() + second.log_free(),
        (first + second).log_free(),
        (first + second).log_steady(),
    )
    top = max(logs)
    parts = [math.exp(value - top) for value in logs]
    return Weights(*(part / sum(parts) for part in parts))


def estimate_freedom(pairs: AnswerAgreement) -> float:
    """Compute the posterior probability that the draws are independent, 0.0 to 1.0."""
    return 1 / (1 + math.exp(pairs.log_steady() - pairs.log_free()))


def _compute_log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


N_CALLS = 5
_PROMPT = (
    "Write 60 random English nouns in one line, separated by spaces. "
    "Choose each one at random. Write nothing else."
)
_LIMIT = 40
_HIDDEN_LIMIT = 1500
_SURE = 0.95
_LONGEST_GREETING = 10
"""Up to so many words that all answers begin with are a greeting, which says nothing."""
_FIRST_SEED = 11
_DOUBT = "The answers leave doubt."
Asking = Generator[ProbeCall, ProbeReply, None]


@dataclass
class _SampledReplies:
    """Replies so far, by temperature and seed."""

    unsent: frozenset[Setting]
    base: Mapping[str, Any]
    """Parameters of all calls: they stay alike, also once the model is seen to think."""
    limit: int = _LIMIT
    hot: dict[int, list[ProbeReply]] = field(default_factory=dict)
    cold: dict[int, list[ProbeReply]] = field(default_factory=dict)
    limited: list[tuple[int, ProbeReply]] = field(default_factory=list)
    """Token limits and replies."""

    def ask(self, temperature: float, seed: int) -> Asking:
        replies = (self.cold if not temperature else self.hot).setdefault(seed, [])
        limit = self.limit + len(replies)
        changes = {"temperature": temperature, "seed": seed, "max_tokens": limit}
        reply = yield ProbeCall(
            setting=Setting.TEMPERATURE if not temperature else Setting.SEED,
            messages=(Message("user", _PROMPT),),
            parameters={**self.base, **changes},
        )
        self.limited.append((limit, reply))
        if reply.is_cut_off and not reply.words and self.limit == _LIMIT:
            self.limit = _HIDDEN_LIMIT  # all of it was hidden thinking
            yield from self.ask(temperature, seed)
            return
        replies.append(reply)

    def replies(self) -> list[ProbeReply]:
        return [reply for _, reply in self.limited]

    def compare(self) -> _Compared:
        hot = {seed: [reply.words for reply in replies] for seed, replies in self.hot.items()}
        cold = {seed: [reply.words for reply in replies] for seed, replies in self.cold.items()}
        return _compare(hot, cold)


@dataclass(frozen=True, slots=True)
class _Compared:
    same_seed: AnswerAgreement
    other_seeds: AnswerAgreement
    cold: AnswerAgreement
    cross: AnswerAgreement
    """Temperature 1 against temperature 0."""

    @property
    def seed(self) -> Weights:
        return weigh(self.same_seed, self.other_seeds)

    @property
    def temperature(self) -> Weights:
        return weigh(self.cold, self.other_seeds)

    @property
    def draws(self) -> bool | None:
        """True if temperature 1 gives other answers than 0; None if that is not sure."""
        free = estimate_freedom(self.cross)
        return True if free >= _SURE else False if free <= 1 - _SURE else None


def _compare(hot: Mapping[int, Sequence[Words]], cold: Mapping[int, Sequence[Words]]) -> _Compared:
    firsts = [texts[0] for texts in hot.values() if texts]
    rest = [text for texts in hot.values() for text in texts[1:]]
    parted = [text for text in rest if len(firsts) > 1 and text not in firsts]
    others = [*pairwise(firsts), *((text, firsts[-1]) for text in parted)]
    colds = [text for texts in cold.values() for text in texts]
    all_texts = [text for text in (*firsts, *rest, *colds) if text]
    shared = count_shared(all_texts)
    shared = shared if shared <= _LONGEST_GREETING else 0
    return _Compared(
        compare_pairs((pair for texts in hot.values() for pair in combinations(texts, 2)), shared),
        compare_pairs(others, shared),
        compare_pairs(pairwise(colds), shared),
        compare_pairs(zip(firsts, colds, strict=False), shared),
    )


def probe_sampling(subject: ProbeSubject, n_spare: int) -> Part:
    """Find out about seed, temperature and max_tokens.

    Args:
        subject: The model.
        n_spare: Calls that may be made beyond `N_CALLS` where answers leave doubt.
    """
    drawn = _SampledReplies(subject.unsent, subject.parameters())
    n_most = N_CALLS + n_spare
    for temperature, seed in ((1, 11), (1, 11), (1, 22), (0, 11), (0, 22)):
        if len(drawn.limited) < n_most:
            yield from drawn.ask(temperature, seed)
    yield from _ask_more(drawn, n_most)
    compared = drawn.compare()
    return [
        _judge_seed(compared, drawn.replies()),
        _judge_temperature(compared, drawn.replies()),
        judge_limit(drawn.limited),
    ]


def _ask_more(drawn: _SampledReplies, n_most: int) -> Asking:
    """Ask again for what leaves doubt; the seeds of further calls are new."""
    seed = 33
    while len(drawn.limited) < n_most:
        compared = drawn.compare()
        if not compared.other_seeds.n_pairs:
            return
        if Setting.SEED not in drawn.unsent and _is_doubtful(compared.seed, compared.same_seed):
            yield from drawn.ask(1, _FIRST_SEED)
        elif _is_doubtful(compared.temperature, compared.cold):
            yield from drawn.ask(0, seed)
            seed += 11
        elif compared.draws is None or compared.other_seeds.n_pairs < _PAIRS_OF_THREE:
            yield from drawn.ask(1, seed)
            seed += 11
        else:
            return


_PAIRS_OF_THREE = 2


def _is_doubtful(weights: Weights, repeated: AnswerAgreement) -> bool:
    """True if another answer that should agree would help."""
    if max(weights.first_steady, weights.both_steady) >= _SURE:
        return False
    return weights.both_free < _SURE or repeated.n_pairs < _PAIRS_OF_THREE


def _judge_seed(compared: _Compared, replies: Sequence[ProbeReply]) -> ProbeFinding:
    setting = Setting.SEED
    if any(reply.omits(setting) for reply in replies):
        return say_refused(setting)
    weights = compared.seed
    evidence = (
        f"At temperature 1, answers with one seed {compared.same_seed.text}, "
        f"with other seeds they {compared.other_seeds.text}."
    )
    if weights.both_steady >= _SURE and compared.draws:
        return say_ignored(setting, "Every seed gives the same answer.", evidence)
    if weights.both_free >= _SURE:
        return say_ignored(setting, "The same seed gives different answers.", evidence)
    if weights.first_steady >= _SURE:
        reason = "The same seed repeats an answer, another seed does not."
        return say_honoured(setting, reason, evidence)
    is_steady = weights.both_steady >= _SURE
    doubt = "Answers do not vary, so a seed cannot show." if is_steady else _DOUBT
    return say_unknown(setting, doubt, evidence)


def _judge_temperature(compared: _Compared, replies: Sequence[ProbeReply]) -> ProbeFinding:
    setting = Setting.TEMPERATURE
    if any(reply.omits(setting) for reply in replies):
        return say_refused(setting)
    weights = compared.temperature
    evidence = (
        f"At temperature 0, answers {compared.cold.text}; "
        f"at temperature 1 they {compared.other_seeds.text}."
    )
    steady = weights.first_steady + weights.both_steady
    if weights.first_steady >= _SURE or (steady >= _SURE and compared.draws):
        return say_honoured(setting, "Answers repeat at temperature 0 and vary at 1.", evidence)
    if weights.both_free >= _SURE:
        return say_ignored(setting, "Answers vary at temperature 0 as they do at 1.", evidence)
    if weights.both_steady >= _SURE and compared.draws is False:
        return say_ignored(setting, "Answers at temperature 1 are those at 0.", evidence)
    return say_unknown(setting, _DOUBT, evidence)


_SLACK, _SLACK_TOKENS = 1.25, 5


def judge_limit(limited: Sequence[tuple[int, ProbeReply]]) -> ProbeFinding:
    """Judge max_tokens from token limits and the replies that were asked within them."""
    setting = Setting.MAX_TOKENS
    if any(reply.omits(setting) for _, reply in limited):
        return say_refused(setting)
    limits = [limit for limit, _ in limited]
    lengths = [_measure_length(reply) for _, reply in limited]
    n_over = sum(_is_over(limit, reply) for limit, reply in limited)
    n_ended = sum(reply.is_cut_off and not _is_over(limit, reply) for limit, reply in limited)
    evidence = (
        f"{write_count(len(limited), 'answer')} within {limits[0]} tokens: the longest has "
        f"{write_count(max(lengths), 'token')}, {n_ended} ended at the limit."
    )
    if n_over > 1 and n_over > n_ended:
        return say_ignored(setting, "Answers are longer than allowed.", evidence)
    if n_ended and n_ended > n_over:
        return say_honoured(setting, "Answers end at the limit.", evidence)
    return say_unknown(setting, "No answer came near the limit.", evidence)


def _measure_length(reply: ProbeReply) -> int:
    """Tokens of the answer, without thinking that some servers do not count against the limit."""
    n_words = len(reply.answer.split())
    counted = reply.completion_tokens
    thinking = reply.completion.usage.thinking_tokens if reply.completion else None
    return max(n_words, (counted or 0) - (thinking or 0))


def _is_over(limit: int, reply: ProbeReply) -> bool:
    return _measure_length(reply) > limit * _SLACK + _SLACK_TOKENS
