"""Answers as LLMs of 2026 write them, in several languages, and what they are worth."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import choice, exact_match, json_schema, list_match, number_match
from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.choice import extract_choice
from poor_bench.extraction.list_value import extract_list
from poor_bench.extraction.number import find_numbers
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring.verdict import Verdict

NARROW, THIN, FIGURE, NO_BREAK = "\u202f", "\u2009", "\u2007", "\u00a0"
SPACES = [" ", NO_BREAK, NARROW, THIN, FIGURE]
END_TOKENS = [
    "</s>", "<eos>", "[/INST]", "<|return|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>",
    "<|endoftext|>", "<|im_end|>\n<|endoftext|>", "</s></s>", "<|end|><|return|>",
]  # fmt: skip
INVISIBLE = ["\ufeff", "\u200b", "\u2060", "\u00ad", "\u200e", "\u202d"]

NUMBERS = {
    "1.234,50 €": "1234.50", "Der Preis beträgt 1.234,50 €.": "1234.50",
    "1.000 €": "1000",
    "2,5 Mio.": "2500000", "Es sind 2,5 Mio. Einwohner.": "2500000", "3 Mrd. Euro": "3000000000",
    "3 milliards": "3000000000", "2 mil millones": "2000000000", "2,5 млн": "2500000",
    "2,5 milioni di euro": "2500000", "3.5万": "35000", "約3.5万人です": "35000",
    "人口は1億2000万人": "120000000", "3千5百": "3500",
    "$5M": "5000000", "The cost is $5M.": "5000000", "$5 m": "5000000", "€5bn": "5000000000",
    "12 500 €": "12500", "Das kostet 12 500 €.": "12500", "It costs € 12 500 in all.": "12500",
    "Prix : 12 500 EUR": "12500", "CHF 12\N{RIGHT SINGLE QUOTATION MARK}500.\N{EN DASH}": "12500",
    "Fr. 1\N{RIGHT SINGLE QUOTATION MARK}234.50": "1234.50", "₹12,34,567": "1234567",
    "Le total s'élève à 1\u202f234\u202f567,89 €.": "1234567.89", "Das macht 2.500,- €.": "2500",
    "c = 299 792 458 m/s": "299792458", "89 500 Ft": "89500",
    "\uff11，\uff12\uff13\uff14円": "1234", "是\uff13，因为\uff14": "4",
    "Rs. 12,34,567.50": "1234567.50", "12 lakh": "1200000", "₹1.5 crore": "15000000",
    "R$ 1.234,50": "1234.50", "1 234 kr": "1234", "kr 1 234": "1234",
    "\N{FULLWIDTH DIGIT THREE}\N{FULLWIDTH DIGIT FIVE}": "35",
    "5 m": "5",
    "Le total est de 1 234 567 habitants.": "1234567", "Il costo è di 1.500 euro.": "1500",
    "El total asciende a 2.350 €.": "2350", "I cannot tell if 7 is right, but I get 5.": "5",
    "it lists 5 101 103 107": "107",
    "it lists 200 300": "300", "2 € and 3 €": "3", "section 5B": "5",
    "Die Antwort lautet 7, denn 3 + 4 ergibt das.": "7", "La respuesta es 7 (3 y 4).": "7",
    "答案是7，因为3加4": "7",
}  # fmt: skip

CHOICES = {
    "正解はDです": "D", "答えはDです。Aではありません。": "D", "답은 D입니다": "D", "정답: D": "D",
    "选D": "D", "我选择D，因为A是错的。": "D", "答案：D": "D", "答案不是B，选C": "C",
    "Die richtige Antwort ist D. A und B passen nicht.": "D", "La réponse est D, pas A.": "D",
    "La respuesta correcta es la D. La A no.": "D", "Antwort: D) Paris": "D", "Ответ: D": "D",
    "A resposta correta é D": "D", "D ist richtig, A nicht.": "D",
    "Aは違います。Dが正解です。": "D", "选项D正确。其余选项A、B、C均不符合题意。": "D",
    "应选C。其他选项A、B、D错误。": "C", "Option A is tempting. The correct one is B.": "B",
}  # fmt: skip

LISTS = {
    "- **red**: long waves\n- **blue**: short waves": ["red", "blue"],
    "- **red:** long waves\n- **blue:** short waves": ["red", "blue"],
    "1. **Red** \N{EN DASH} long waves\n2. **Blue** \N{EN DASH} short waves": ["red", "blue"],
    "* Red: the colour of long waves\n* Blue: the colour of short waves": ["red", "blue"],
    "- 10:30 start\n- 12:00 end": ["10:30 start", "12:00 end"],
    "rot und blau": ["rot", "blau"], "rouge, bleu et vert": ["rouge", "bleu", "vert"],
    "rot, blau sowie grün": ["rot", "blau", "grün"],
    "czerwony, zielony i biały": ["czerwony", "zielony", "biały"],
    "赤、緑、そして青です。": ["赤", "緑", "青"],
    "빨강, 초록, 파랑입니다.": ["빨강", "초록", "파랑"],
    "أحمر، أخضر": ["أحمر", "أخضر"], "Henry I, Henry V": ["Henry I", "Henry V"],
    "rojo y azul": ["rojo", "azul"], "赤、青": ["赤", "青"], "红、蓝和绿": ["红", "蓝", "绿"],
    "Die Farben sind rot, blau und grün": ["rot", "blau", "grün"],
    "| # | Colour |\n|---|---|\n| 1 | red |\n| 2 | blue |": ["red", "blue"],
    "| Colour | Why |\n|:--|--:|\n| red | long |\n| blue | short |": ["red", "blue"],
    "Here they are:\n\n| Colour |\n|---|\n| red |\n| blue |\n": ["red", "blue"],
}  # fmt: skip

ENVELOPES = [
    '{"result": {"a": 1}}', '{"answer": {"a": 1}}', '[{"a": 1}]', '{"result": "{\\"a\\": 1}"}',
    '"{\\"a\\": 1}"', '{"status": "ok", "data": {"a": 1}}', '{"code": 0, "result": "{\\"a\\": 1}"}',
]  # fmt: skip


@pytest.mark.parametrize(("response", "expected"), NUMBERS.items(), ids=NUMBERS)
def test_numbers_are_read_as_people_of_other_countries_write_them(response, expected):
    assert number_match.evaluate(response, {"expected": expected}).score == 1.0


@given(
    st.integers(1, 999), st.integers(0, 999), st.integers(0, 99), st.sampled_from(SPACES),
    st.sampled_from(["{} €", "{}", "Das macht {} €.", "€ {} in all", "CHF {}", "Total : {}"]),
)  # fmt: skip
def test_any_space_may_stand_between_thousands(thousands, ones, cents, space, sentence):
    text = sentence.format(f"{thousands}{space}{ones:03d},{cents:02d}")
    assert extract_number(text).value.value * 100 == (thousands * 1000 + ones) * 100 + cents


@given(st.integers(1, 10**9), st.sampled_from(["en-IN", "de", "fr", "de-CH", "en"]))
def test_a_number_in_the_notation_of_the_locale_is_that_number(value, locale):
    separator = {"de": ".", "fr": NARROW, "de-CH": "'"}.get(locale, ",")
    text = f"{value:,}".replace(",", separator)
    assert number_match.evaluate(text, {"expected": value, "locale": locale}).score == 1.0


@pytest.mark.parametrize(
    ("response", "locale", "expected"),
    [
        ("1,234", "de", "1.234"), ("1.234", "de", "1234"), ("1,234", "en", "1234"),
        ("1,234", None, "1234"), ("Das Ergebnis ist 1,234.", "de", "1.234"),
        ('{"answer": 1.234}', "de", "1.234"), ('{"answer": "1,234"}', "de", "1.234"),
        ("1,234", "fr", "1.234"), ("1,234", "de-CH", "1234"), ("1,234", "es-MX", "1234"),
    ],
)  # fmt: skip
def test_a_locale_settles_what_a_comma_means(response, locale, expected):
    parameters = {"expected": expected} | ({"locale": locale} if locale else {})
    assert number_match.evaluate(response, parameters).score == 1.0


def test_what_is_no_locale_is_refused():
    with pytest.raises(ValueError, match="is not a locale"):
        number_match.evaluate("1", {"expected": 1, "locale": "german language"})


@pytest.mark.parametrize(("response", "expected"), CHOICES.items(), ids=CHOICES)
def test_choices_are_announced_in_any_language(response, expected):
    assert choice.evaluate(response, {"expected": expected}).score == 1.0


@given(
    st.integers(1, 99), st.integers(0, 999), st.integers(0, 999),
    st.sampled_from(["Le total est de {} habitants.", "{} rows in 12 files.", "Total {}"]),
)  # fmt: skip
def test_millions_may_be_written_with_plain_spaces(millions, thousands, ones, sentence):
    text = f"{millions} {thousands:03d} {ones:03d}"
    numbers = {number.number.value for number in find_numbers(sentence.format(text))}
    assert millions * 10**6 + thousands * 1000 + ones in numbers


@given(
    st.integers(1, 999), st.integers(0, 999),
    st.sampled_from(["€", "EUR", "euro", "kr", "zł"]), st.sampled_from(["", ".", "!", ". ", ", "]),
)  # fmt: skip
def test_thousands_of_money_may_end_a_sentence(thousands, ones, currency, end):
    text = f"Das macht {thousands}.{ones:03d} {currency}{end}"
    assert extract_number(text).value.value == thousands * 1000 + ones


UNDECIDED = [
    "I cannot determine whether {} is right.", "I'm unable to tell if {} is meant.",
    "Ich kann nicht sagen, ob {} stimmt.", "Je ne peux pas dire si {} est juste.",
    "No puedo confirmar si {} es correcto.", "我无法确定{}是否正确。",
]  # fmt: skip


@given(st.sampled_from(UNDECIDED), st.integers(10, 999), st.sampled_from("BCD"))
def test_what_a_text_cannot_decide_is_not_its_answer(sentence, value, label):
    assert extract_number(sentence.format(value)) is None
    assert extract_choice(sentence.format(label), list("ABCD")) is None
    answered = f"{sentence.format(value)} My result is {value + 1}."
    assert extract_number(answered).value.value == value + 1


@given(
    st.permutations("ABCD"),
    st.sampled_from(
        ["选项{0}正确，其余选项{1}、{2}、{3}错误。", "Not {1}. The correct one is {0}."]
    ),
)
def test_the_choice_that_is_called_correct_beats_the_others(labels, sentence):
    assert extract_choice(sentence.format(*labels), list("ABCD")).value == labels[0]


@given(st.lists(st.text("abcdefgh", min_size=2, max_size=9), min_size=2, max_size=6, unique=True))
def test_bullets_of_any_form_need_no_space(items):
    for bullet in "・●▪":
        assert extract_list("\n".join(f"{bullet}{item}" for item in items)).value == items


@pytest.mark.parametrize(
    "response", ["D ou A?", "答案不是B", "A正确吗,还是B", "Ich wähle A oder B", "BがAより"]
)
def test_no_choice_is_guessed_in_other_languages(response):
    assert extract_choice(response, list("ABCD")) is None


@given(st.sampled_from("ABCD"), st.sampled_from(["答案是{}", "正解は{}", "选{}", "답은 {}"]))
def test_a_label_between_words_without_spaces_is_the_choice(label, sentence):
    assert extract_choice(sentence.format(label), list("ABCD")).value == label


@pytest.mark.parametrize(("response", "expected"), LISTS.items(), ids=LISTS)
def test_lists_are_read_without_what_explains_their_items(response, expected):
    assert list_match.evaluate(response, {"expected": expected}).score == 1.0


words = st.text("abcdefghijklmnop", min_size=2, max_size=9)


@given(st.lists(words, min_size=2, max_size=6, unique=True))
def test_a_table_is_the_list_of_its_first_column(items):
    rows = "\n".join(f"| {place} | {item} | note |" for place, item in enumerate(items, start=1))
    assert extract_list(f"| # | Item | Note |\n|---|---|---|\n{rows}").value == items


@given(st.lists(words, min_size=2, max_size=6, unique=True), words, words)
def test_explained_items_break_the_format_only(items, one, two):
    text = "\n".join(f"- **{item}**: {one} {two}" for item in items)
    verdict = list_match.evaluate(text, {"expected": items})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)


@pytest.mark.parametrize("response", ENVELOPES)
def test_json_in_an_envelope_breaks_the_format_only(response):
    verdict = json_schema.evaluate(response, {"expected": {"a": 1}})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert json_schema.evaluate(response, {"expected": {"a": 1}, "strict": True}).score == 0.0
    schema = {"type": "object", "required": ["a"]}
    assert json_schema.evaluate(response, {"schema": schema}).score == 1.0


def test_an_object_that_is_asked_for_is_no_envelope():
    asked = {"result": {"a": 1}}
    verdict = json_schema.evaluate(json.dumps(asked), {"expected": asked})
    assert (verdict.score, verdict.strict_score) == (1.0, None)


@pytest.mark.parametrize("token", END_TOKENS)
def test_an_end_token_is_no_part_of_the_answer(token):
    assert strict_score(number_match.evaluate(f"18{token}", {"expected": 18})) == 1.0
    assert strict_score(exact_match.evaluate(f"yes{token}", {"expected": "yes"})) == 1.0
    fenced = json_schema.evaluate(f'```json\n{{"a": 1}}\n```{token}', {"expected": {"a": 1}})
    assert (fenced.score, fenced.found) == (1.0, "fenced")


@given(st.lists(st.sampled_from(INVISIBLE), max_size=3).map("".join), st.integers(10, 999))
def test_invisible_characters_are_no_part_of_the_answer(hidden, value):
    text = f"{hidden}{str(value)[0]}{hidden}{str(value)[1:]}{hidden}</s>"
    assert without_thinking(text) == str(value)
    assert strict_score(number_match.evaluate(text, {"expected": value})) == 1.0


@pytest.mark.parametrize(
    "response",
    [
        "I'm sorry, but I can't help with computing 42.",
        "I cannot answer this question about 42 apples.",
    ],
)
def test_a_refusal_that_mentions_the_number_is_not_the_answer(response):
    verdict = number_match.evaluate(response, {"expected": 42})
    assert (verdict.score, verdict.found) == (0.0, "missing")


def test_a_refusal_that_mentions_a_choice_chooses_none():
    assert extract_choice("I'm sorry, I cannot help you to choose (A).", ["A", "B"]) is None


def strict_score(verdict: Verdict) -> float:
    return verdict.score if verdict.strict_score is None else verdict.strict_score


WORDED = {
    "seven": "7", "Twenty-five.": "25", "two thousand and five": "2005", "三万五千": "35000",
    "一百万": "1000000", "答案是八。": "8", "答えは二十四です。": "24", "elf": "11",
    "dieciséis": "16", "A week has seven days.": "7", "Die Antwort lautet zwölf.": "12",
    "A year has three hundred sixty-five days.": "365",
}  # fmt: skip


@pytest.mark.parametrize(("response", "expected"), WORDED.items(), ids=WORDED)
def test_a_number_may_be_a_word_where_no_digits_stand(response, expected):
    verdict = number_match.evaluate(response, {"expected": expected})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)


@pytest.mark.parametrize(
    "response", ["one of them", "two or three", "twenty thirty", "万一", "十分", "seven of 12", ""]
)
def test_words_that_may_mean_something_else_are_no_number(response):
    extracted = extract_number(response)
    assert extracted is None or str(extracted.value.value) in {"12", "10"}


@given(st.integers(0, 9_999))
def test_chinese_numerals_are_the_number_that_they_spell(value):
    digits = "零一二三四五六七八九"
    places = [(value // 1000, "千"), (value // 100 % 10, "百"), (value // 10 % 10, "十")]
    spelt = "".join(f"{digits[digit]}{place}" for digit, place in places if digit)
    spelt += digits[value % 10] if value % 10 or not spelt else ""
    extracted = extract_number(spelt)
    assert extracted is not None
    assert extracted.value.value == value


OFFERS = [
    "Let me know if you'd like to see all 3 steps!", "Would you like the other 12 results?",
    "Möchtest du auch die Aufteilung auf 5 Personen sehen?", "¿Quieres ver los 4 pasos?",
    "N'hésitez pas si vous avez 2 questions.",
]  # fmt: skip


@pytest.mark.parametrize("offer", OFFERS)
@given(value=st.integers(100, 99_999))
def test_an_offer_of_help_at_the_end_is_not_the_answer(offer, value):
    extracted = extract_number(f"So the total cost is {value}.\n\n{offer}")
    assert extracted is not None
    assert extracted.value.value == value


@pytest.mark.parametrize(
    "response",
    [
        "(red, blue, green)", "{red, blue, green}", "red → blue → green", "red -> blue -> green",
        "- red 🔴\n- blue 🔵\n- green 🟢", "1️⃣ red\n2️⃣ blue\n3️⃣ green",
        "<ol>\n<li>red</li>\n<li>blue</li>\n<li>green</li>\n</ol>",
    ],
)  # fmt: skip
def test_lists_in_other_notations_are_read(response):
    verdict = list_match.evaluate(response, {"expected": ["red", "blue", "green"]})
    assert verdict.score == 1.0


def test_a_copula_at_the_end_is_no_part_of_the_last_item():
    verdict = list_match.evaluate("赤、緑、青です。", {"expected": ["赤", "緑", "青"]})
    assert verdict.score == 1.0


@given(
    st.sampled_from(["✅", "🇫🇷", "❌ ", "🎉🎉"]), st.sampled_from(["{0}{1}", "{1} {0}", "{1}. {0}"])
)
def test_pictures_around_an_answer_are_no_part_of_it(picture, form):
    assert exact_match.evaluate(form.format(picture, "Paris"), {"expected": "Paris"}).score == 1.0


def test_a_picture_alone_is_an_answer():
    assert exact_match.evaluate("✅", {"expected": "✅"}).score == 1.0
    assert exact_match.evaluate("✅", {"expected": "❌"}).score == 0.0
