from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from poor_bench.tuning.prompt.cases import Attempt, Idea, Solved
from poor_bench.tuning.prompt.edits import LONGEST, Editor, TakingTurns

BASE = "Be brief.\nSolve: {problem}"


@dataclass
class FakeSubject:
    """Has the right answers of some cases; see `poor_bench.tuning.prompt.cases.TuningSubject`."""

    right: dict[str, str] = field(default_factory=dict)
    base_text: str = BASE
    placeholders: tuple[str, ...] = ("problem",)

    def find_solved(self, case_id: str, answers: Sequence[str]) -> Solved | None:
        answer = next(iter(answers), self.right.get(case_id))
        return Solved(case_id, f"input of {case_id}", answer) if answer else None


def editor(subject: FakeSubject, *train: str) -> Editor:
    return Editor(subject, train)  # type: ignore[arg-type]


def attempt(case_id: str, score: float = 0.0, answer: str = "no idea") -> Attempt:
    return Attempt(case_id=case_id, score=score, given="", answer=answer, feedback="")


def all_ideas(of: Editor, text: str, *attempts: Attempt) -> list[Idea]:
    ideas = []
    while (idea := of.propose(text, attempts)) is not None:
        ideas.append(idea)
    return ideas


def test_a_prompt_is_edited_in_every_way_and_never_twice_in_the_same() -> None:
    ideas = all_ideas(editor(FakeSubject({"a": "1", "b": "2"}), "a", "b"), BASE)
    assert [idea.made_by for idea in ideas[:3]] == ["example", "form", "example"]
    assert {idea.made_by for idea in ideas} == {"example", "form", "shorter"}
    texts = [idea.text for idea in ideas]
    assert len(set(texts)) == len(texts)
    assert BASE not in texts


def test_no_example_is_a_case_that_the_new_prompt_is_tried_on() -> None:
    subject = FakeSubject({"a": "1", "b": "2"})
    ideas = all_ideas(editor(subject, "a", "b"), BASE, attempt("a"))
    shown = [idea.text for idea in ideas if idea.made_by == "example"]
    assert len(shown) == 1
    assert "input of b" in shown[0]


def test_an_answer_with_full_marks_becomes_an_example() -> None:
    edits = editor(FakeSubject(), "a", "b")
    assert not [idea for idea in all_ideas(edits, BASE) if idea.made_by == "example"]
    edits.learn([attempt("a", 1.0, "it is 4"), attempt("b", 0.9, "nearly"), attempt("z", 1.0, "z")])
    [example] = [idea.text for idea in all_ideas(edits, BASE) if idea.made_by == "example"]
    assert "input of a\nit is 4" in example


def test_a_case_is_no_example_twice() -> None:
    edits = editor(FakeSubject({"a": "1"}), "a")
    first = edits.propose(BASE, [])
    assert first is not None
    assert "example" not in {idea.made_by for idea in all_ideas(edits, first.text)}


def test_long_prompts_get_no_more_examples() -> None:
    edits = editor(FakeSubject({"a": "1"}), "a")
    assert "example" not in {idea.made_by for idea in all_ideas(edits, "x" * LONGEST + BASE)}


@dataclass
class Fixed:
    """Has the same idea, or none, whatever it is asked."""

    idea: Idea | None

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        return self.idea


def test_sources_of_ideas_take_turns_and_stand_in_for_each_other() -> None:
    one, two = Idea("1", "one"), Idea("2", "two")
    turns = TakingTurns([Fixed(one), Fixed(two)])
    assert [turns.propose("", []) for _ in range(3)] == [one, two, one]
    helped = TakingTurns([Fixed(None), Fixed(two)])
    assert [helped.propose("", []) for _ in range(2)] == [two, two]
    assert TakingTurns([Fixed(None)]).propose("", []) is None
