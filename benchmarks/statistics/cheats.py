"""How many weak tests the cheats find, and how many sound ones they accuse.

Twenty weak classes are planted, each with a fault that people make: an evaluator that accepts too
much, an answer that stands in the prompt, a key that is always the same. Twenty sound classes are
of the same kinds without the fault. The evaluators are the real ones. The faults were chosen by
the author of the cheats: read the figures as "these are found", not as a forecast.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulation import measure_share, print_figures, read_runs

from poor_bench.evaluator_answers import RegistryFacts
from poor_bench.lint.cheats import find_weaknesses, score_cheats
from poor_bench.lint.subject import LintSubject, RenderedPrompt
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.plugins import find_project_evaluators, load_evaluators

Item = tuple[str, str, Mapping[str, Any]]
"""Text of a test, its evaluator, and the parameters."""
Maker = Callable[[random.Random], Item]

_WORDS = (
    "river", "stone", "cloud", "paper", "green", "window", "garden", "silver", "market", "bridge",
    "candle", "forest",
)  # fmt: skip
_CITIES = (
    "Lisbon", "Oslo", "Vienna", "Prague", "Dublin", "Athens", "Madrid", "Warsaw", "Helsinki",
)  # fmt: skip


def _sum(rng: random.Random) -> Item:
    a, b = rng.randint(12, 99), rng.randint(12, 99)
    return f"What is {a} + {b}?", "number_match", {"expected": a + b}


def _json_sum(rng: random.Random) -> Item:
    a, b = rng.randint(12, 99), rng.randint(12, 99)
    return f"What is {a} * {b}?", "math_evaluator", {"expected_answer": a * b}


def _choice(rng: random.Random, key: str = "", longest: bool = False) -> Item:
    texts = rng.sample(_WORDS, 4)
    right = key or rng.choice("ABCD")
    if longest:
        texts["ABCD".index(right)] += " that is described in far more detail than the others"
    shown = "\n".join(f"{label}) {text}" for label, text in zip("ABCD", texts, strict=True))
    return f"Which one?\n{shown}", "choice", {"expected": right, "choices": texts}


def _yes_no(rng: random.Random, share: float = 0.5) -> Item:
    word = rng.choice(_WORDS)
    right = "yes" if rng.random() < share else "no"
    return f"Is {word} {rng.randint(1, 999)} on the list?", "exact_match", {"expected": right}


def _mood(rng: random.Random, moods: Sequence[str] = ("positive", "negative", "neutral")) -> Item:
    expected = [rng.choice(moods) for _ in range(3)]
    text = f"Mood of three reviews {rng.randint(1, 9999)}?"
    return text, "sentiment_evaluator", {"expected_sentiments": expected}


def _extract(rng: random.Random) -> Item:
    city, year = rng.choice(_CITIES), rng.randint(1900, 2020)
    text = f"The firm of {city} was founded in {year}."
    return text, "json_schema", {"expected": {"city": city, "year": year}}


def _colours(rng: random.Random) -> Item:
    expected = rng.sample(_WORDS, 3)
    return f"Sort {rng.randint(1, 999)}.", "list_match", {"expected": expected}


def _mentions(rng: random.Random) -> Item:
    one, other = rng.sample(_WORDS, 2)
    number = rng.randint(100, 999)
    return f"Riddle {number}", "contains", {"all": [f"{one} {other} {number + 7}"]}


def _date(rng: random.Random) -> Item:
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    text = f"{day} days after the first of month {month}?"
    return text, "regex_match", {"pattern": rf"^\\s*2026-{month:02d}-{day + 1:02d}\\s*$"}


def _translation(rng: random.Random) -> Item:
    words = rng.sample(_WORDS, 2)
    return (
        f"Translate sentence {rng.randint(1, 9999)}.",
        "exact_match",
        {"expected": " ".join(words)},
    )


def _changed(maker: Maker, **parameters: Any) -> Maker:
    def make(rng: random.Random) -> Item:
        text, evaluator, own = maker(rng)
        return text, evaluator, {**own, **parameters}

    return make


def _with(maker: Maker, change: Callable[[str, Mapping[str, Any]], Item]) -> Maker:
    def make(rng: random.Random) -> Item:
        text, _, parameters = maker(rng)
        return change(text, parameters)

    return make


SOUND: dict[str, Maker] = {
    "sums": _sum, "sums in JSON": _json_sum, "choices": _choice, "yes or no": _yes_no,
    "moods": _mood, "extraction": _extract, "lists": _colours, "mentions": _mentions,
    "dates": _date, "translations": _translation,
    "sums to the nearest one": _changed(_sum, absolute_tolerance=1),
    "sums to a thousandth": _changed(_sum, relative_tolerance=0.001),
    "sums, strict": _changed(_sum, strict=True),
    "products as a bare number": _changed(_json_sum, expected_format="number"),
    "choices, strict": _changed(_choice, strict=True),
    "yes or no, 60 % yes": lambda rng: _yes_no(rng, share=0.6),
    "lists in any order": _changed(_colours, compare="set"),
    "lists in JSON": _changed(_colours, format="json"),
    "extraction without other fields": _changed(_extract, forbid_other_fields=True),
    "moods, two kinds": lambda rng: _mood(rng, moods=("positive", "negative")),
}  # fmt: skip


WEAK: dict[str, Maker] = {
    "tolerance that takes any number": _changed(_sum, relative_tolerance=1),
    "absolute tolerance of 1,000": _changed(_sum, absolute_tolerance=1000),
    "the answer is the last number of the prompt": lambda rng: (
        f"How much is {(n := rng.randint(10, 99))} and nothing else, so {n}?",
        "number_match", {"expected": n},
    ),
    "any digit is enough": _with(_sum, lambda text, _: (text, "regex_match", {"pattern": r"\d"})),
    "any text is enough": _with(_sum, lambda text, _: (text, "regex_match", {"pattern": r"\w"})),
    "one letter is enough": _with(_mentions, lambda text, _: (text, "contains", {"all": ["e"]})),
    "the word stands in the prompt": lambda rng: (
        f"Explain the word {(word := rng.choice(_WORDS))}.", "contains", {"all": [word]},
    ),
    "only a word is forbidden": lambda rng: (
        f"Describe {rng.choice(_WORDS)} without the word water.", "contains", {"none": ["water"]},
    ),
    "the key is always A": lambda rng: _choice(rng, key="A"),
    "the key is nearly always C": lambda rng: _choice(rng, key="C" if rng.random() < 0.9 else ""),
    "the right choice is the longest": lambda rng: _choice(rng, longest=True),
    "nearly always yes": lambda rng: _yes_no(rng, share=0.95),
    "all reviews are positive": lambda rng: _mood(rng, moods=("positive",)),
    "the schema takes any object": _with(
        _extract, lambda text, _: (text, "json_schema", {"schema": {"type": "object"}})
    ),
    "the answer is always the same": lambda rng: (
        f"Task {rng.randint(1, 9999)}", "exact_match", {"expected": "done"},
    ),
    "the text is to be repeated": lambda rng: (
        " ".join(rng.sample(_WORDS, 6)), "text_similarity", {"expected": " ".join(_WORDS[:6])},
    ),
    "one of all labels is mentioned": lambda rng: (
        f"Mood {rng.randint(1, 9999)}? One of good, bad.",
        "contains", {"all": [rng.choice(["good", "bad"])]},
    ),
    "a list with one item in common": lambda rng: (
        f"Colours {rng.randint(1, 9999)}?",
        "list_match", {"expected": ["red", "green"], "compare": "set"},
    ),
    "an apology passes": _with(
        _mentions, lambda text, _: (text, "regex_match", {"pattern": r"(?i)sorry|please"})
    ),
    "the example of the prompt is the answer": lambda rng: (
        f'Room {rng.randint(1, 9999)}. Answer as JSON such as {{"answer": 5}}.',
        "math_evaluator", {"expected_answer": 5},
    ),
}  # fmt: skip


def _subjects(maker: Maker, n_tests: int, rng: random.Random) -> list[LintSubject]:
    made = []
    for index in range(n_tests):
        text, evaluator, parameters = maker(rng)
        test = Test(test_id=f"t{index}", class_id="c", level=1, text=text)
        spec = EvaluatorSpec(evaluator, json.loads(json.dumps(parameters)))
        made.append(LintSubject("", index, test, spec, (RenderedPrompt(text, ()),)))
    return made


def count_flagged(makers: Mapping[str, Maker], n_tests: int, seed: int) -> list[str]:
    """Name the classes in which a cheat is found to pass."""
    evaluators = load_evaluators([find_project_evaluators()])
    facts = RegistryFacts(evaluators, Path(), ())
    flagged = []
    for name, maker in makers.items():
        subjects = _subjects(maker, n_tests, random.Random(f"{seed} {name}"))
        scores = score_cheats(subjects, facts, seed=seed)
        if any(find_weaknesses(scores, {subject.test.test_id: "c" for subject in subjects})):
            flagged.append(name)
    return flagged


def main() -> None:
    """Print the shares of weak and of sound classes that are flagged."""
    runs = read_runs(__doc__ or "", 10)
    figures = []
    for n_tests in (8, 16, 40):
        weak = [count_flagged(WEAK, n_tests, seed) for seed in range(runs)]
        sound = [count_flagged(SOUND, n_tests, seed) for seed in range(runs)]
        total = sum(map(len, weak)), sum(map(len, sound))
        figures += [
            measure_share(
                f"weak classes of {n_tests} tests found", total[0], runs * len(WEAK), at_least=0.95
            ),
            measure_share(
                f"sound classes of {n_tests} tests accused",
                total[1],
                runs * len(SOUND),
                at_most=0.05,
            ),
        ]
        missed = {name for each in weak for name in set(WEAK) - set(each)}
        accused = {name for each in sound for name in each}
        print(f"{n_tests} tests: missed {sorted(missed)}, accused {sorted(accused)}")
    print_figures("Cheats", figures)


if __name__ == "__main__":
    main()
