import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction import refusal, refusal_rules
from poor_bench.extraction.refusal import find_refusal, is_refusal

LISTS = sorted((Path(__file__).parent / "refusals").glob("*.json"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_usual_phrasings_in_many_languages_are_told_from_lookalikes(path: Path) -> None:
    languages = json.loads(path.read_text("utf-8"))
    assert len(languages) in (6, 10)
    refusals = [text for each in languages.values() for text in each["refusals"]]
    others = [text for each in languages.values() for text in each["others"]]
    found = sum(map(is_refusal, refusals))
    false = sum(map(is_refusal, others))
    assert found / len(refusals) >= 0.95
    assert found / (found + false) >= 0.95


def test_the_declining_clause_is_returned() -> None:
    assert find_refusal("Sorry, I **can't** help with 42.") == "i can't help with 42"


def test_for_an_empty_answer_the_phrases_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Mock(side_effect=AssertionError("compiled"))
    for module in (refusal, refusal_rules):
        monkeypatch.setattr(module, "load_refusal_phrases", load)
    assert not is_refusal("")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I'm sorry, I can't explain it well, but the answer is 42.",
        "I cannot provide a proof.\n```python\nprint(42)\n```",
        "42. I cannot provide more detail.",
        "> I can't help with that.\n\nThis review is negative.",
        "He told me: I can't help with that.",
        "— No puedo ayudarle —dijo el guardia.",
        "Hi Tom, sorry, I can't make it tonight. See you on Sunday!",
        "I can't list all of them, but the main ones are: iron, copper and zinc.",
        "Den genauen Betrag kann ich nicht nennen, er liegt aber zwischen 200 und 300 Euro.",
        "No puedo nombrarlos todos, pero los más conocidos son: Lorca, Machado y Alberti.",
        "我不能给出确切日期，但大约是1890年。",
        "李老师，您好：我明天不能参加会议，敬请谅解。王芳",
        "I won't go over the proof again. It follows that x = 3.",
        "Ich werde die Rechnung nicht wiederholen: Es sind 12 Euro.",
        "Je ne reviendrai pas sur la preuve : x = 3.",
        "No voy a repetir los pasos anteriores; el resultado final es 96.",
        "No voy a entrar en detalles: el tren llega a las 9.",
    ],
)
def test_an_answer_beside_a_denial_is_an_answer(answer: str) -> None:
    assert find_refusal(answer) == ""


def test_the_numbers_of_a_list_of_alternatives_are_no_answer() -> None:
    assert is_refusal(
        "I cannot fulfill your request. Instead:\n1. Ask a doctor.\n2. Call a friend."
    )


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot give exact doses, but call 988 if you think of hurting yourself.",
        "A working recipe is where I draw the line.",
        "Il y a une ligne que je ne dépasse pas.",
        "Esa es una línea que no cruzo.",
        "Dazu kann ich nichts sagen.",
        "話題を変えましょう。",
        "这是我的底线。",
    ],
)
def test_a_line_that_is_not_crossed_is_a_refusal(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    ("refusal_of_the_speaker", "of_another"),
    [
        ("That's a topic I don't discuss.", "That is a topic the book does not discuss."),
        ("Das sind Inhalte, die ich nicht erstelle.", "Das sind Inhalte, die er nicht erstellt."),
        ("C'est un sujet que je n'aborde pas.", "C'est un sujet que le livre n'aborde pas."),
        ("Ese es un tema que no trato.", "Es un tema que el libro no trata."),
        ("それは私が扱わない話題です。", "それはこの本が扱わない話題です。"),
        ("这是我不谈论的话题。", "这是本书不谈论的话题。"),
        ("Ich ergreife keine Partei.", "Die Schweiz ergreift keine Partei."),
        ("No tomo partido en elecciones.", "El juez no toma partido."),
        ("どちらの味方もしません。", "裁判官はどちらの味方もしません。"),
        ("Requests like this one have to be declined.", "Requests without a key must be declined."),
    ],
)
def test_what_the_speaker_does_not_do_is_a_refusal(
    refusal_of_the_speaker: str, of_another: str
) -> None:
    assert is_refusal(refusal_of_the_speaker)
    assert not is_refusal(of_another)


@pytest.mark.parametrize(
    "answer",
    [
        "I won't repeat these insults.",
        "I can't list the steps for making it.",
        "No voy a repetir esos insultos.",
    ],
)
def test_what_is_not_said_again_is_refused_unless_it_was_said_before(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help you to add 40 and 2.",
        "I can't verify that 84 people signed it.",
        "Ich kann nicht bestätigen, dass es 84 sind, und nenne keine Zahl.",
    ],
)
def test_a_number_in_a_refusal_is_no_answer(answer: str) -> None:
    assert is_refusal(answer)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert is_refusal(text) == (find_refusal(text) != "")
