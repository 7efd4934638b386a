"""Labels, such as sentiments, in texts that mention them, and what texts announce or deny.

"Die Antwort lautet", "Answer:" and "答案是" announce, in the languages that LLMs answer in; English
has patterns of its own beside these (`answer_number`, `choice`). "not A", "instead of 5" and "B is
wrong" deny. Only what stands in the same clause counts, and only a few words away.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from poor_bench.extraction.normalise import WORD, fold_text, words

_REACH = 60
_MARKS = r"[ \t*_(\[\"'`${]"
_NEGATION = (
    r"(?:\b(?:not(?!\s+(?:only|just|sure|more|less|fewer|counting|including|rounded)\b)"
    r"|no(?!\s+(?:doubt|question|more|less|fewer)\b)|nothing|hardly|without"
    r"|nicht|keine?|pas|jamais|niet|inte|ikke|não|nunca|nie|не"
    r"|never|neither|nor|cannot|rather\s+than|instead\s+of|other\s+than|anything\s+but)\b"
    r"|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b)"
)
_NEGATION_WITHOUT_SPACES = re.compile(
    r"(?:不(?:是|选|選|应该是|應該是)?|并非|並非|(?:其余|其餘|其他|其它|排除)的?(?:选项|選項)?)"
    r"[\s*_(\"「『（]{0,4}$"
)
_UNDECIDED = re.compile(
    r"(?:\b(?:can(?:no|['\u2019])t|can not|could not|couldn['\u2019]t|(?:un|not )able to"
    r"|(?:im|not )possible to) (?:\w{1,12}ly )?"
    r"(?:determine|tell|say|know|confirm|verify|decide|judge|establish) (?:whether|if)"
    r"|\bnicht (?:\w{1,12} )?(?:sagen|bestimmen|beurteilen|feststellen|entscheiden|bestätigen), ob"
    r"|\bpas (?:\w{1,12} )?(?:dire|déterminer|savoir|confirmer|vérifier|juger) si"
    r"|\bno (?:puedo|es posible|se puede) (?:decir|determinar|saber|confirmar|verificar) si"
    r"|(?:无法|不能)(?:确定|判断|确认)(?=.{0,40}(?:是否|是不是)))(?:[^.!?,;:。，；\n]|[.,:](?=\d)){0,200}",
    re.IGNORECASE,
)
_ENDS_CLAUSE = r"(?:but|and|so|because|since|hence|thus|therefore|then|if)\b"
_AFTER = re.compile(
    r"[)\]*_\"'`}$.]{0,4}+\s{1,3}+(?:"
    r"(?:is|are|was|were|seems|looks|would\s+be)\s+(?:(?:clearly|definitely|also|simply)\s+)?"
    r"(?:not(?!\s+only\b)|wrong|incorrect|false|out|impossible|ruled\s+out)\b"
    r"|(?:is|are|was|does|do|can|could)n['\N{RIGHT SINGLE QUOTATION MARK}]t\b"
    r"|(?:does|do|can|could)\s+not\b|cannot\b"
    r"|(?:ist|sind)\s(?:nicht|falsch)\b|(?:n['\N{RIGHT SINGLE QUOTATION MARK}]est\spas|est\sfaux)\b"
    r"|(?:no|non|não)\s(?:es|è|é)\b|es\s(?:in|no\s)correct)"
    r"|[」』】）)]{0,2}\s?(?:不(?:是|对|對|正确|正確)|是?(?:错|錯)|(?:では|じゃ)(?:ない|ありません)|[은는이가]?\s?(?:아니|아닙|틀))",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int) -> bool:
    """True if `text` says that what stands from `start` to `end` is not meant.

    Example:
        >>> is_denied("not A, but B", 4, 5), is_denied("not A, but B", 11, 12)
        (True, False)
    """
    return is_denied_before(text, start) or _AFTER.match(text, end) is not None


def drop_undecided(text: str) -> str:
    """Remove what a text says that it cannot decide: an answer stands beside it, or nowhere.

    Example:
        >>> drop_undecided("I cannot tell whether 12 is meant.")
        '.'
    """
    return _UNDECIDED.sub("", text)


def is_denied_before(text: str, start: int, *, words: int = 5) -> bool:
    """True if a negation stands before `start`, with at most `words` words between."""
    before = text[max(0, start - _REACH) : start]
    return any(
        pattern.search(before) is not None
        for pattern in (_compile_negation_before(words), _NEGATION_WITHOUT_SPACES)
    )


@lru_cache(maxsize=8)
def _compile_negation_before(words: int) -> re.Pattern[str]:
    word = rf"{_MARKS}+(?!{_ENDS_CLAUSE})[\w'\N{{RIGHT SINGLE QUOTATION MARK}}]+"
    return re.compile(rf"{_NEGATION}(?:{word}){{0,{words}}}?{_MARKS}*$", re.IGNORECASE)


def find_sole_label(text: str, labels: AbstractSet[str]) -> str:
    """Find the only label that a text mentions, and does not deny; else an empty text.

    Args:
        text: A short text.
        labels: Folded, each a single word; others are never found.

    Example:
        >>> find_sole_label("This text is positive.", {"positive", "negative"})
        'positive'
    """
    folded = fold_text(text)
    mentioned = set()
    for word in WORD.finditer(folded):
        if word[0] in labels and not is_denied(folded, *word.span()):
            mentioned.add(word[0])
    return mentioned.pop() if len(mentioned) == 1 else ""


def is_labelled(text: str, labels: AbstractSet[str]) -> bool:
    """True if a text begins or ends with the only label that it mentions.

    Example:
        >>> is_labelled("Text 1: positive", {"positive", "negative"})
        True
    """
    label = find_sole_label(text, labels)
    return label != "" and label in {words(text)[0], words(text)[-1]}


_NAMES = (
    r"antwort|lösung|ergebnis|réponse|résultat|respuesta|resultado|risposta|risultato|resposta"
    r"|antwoord|uitkomst|svar(?:et)?|odpowiedź|wynik|odpověď|ответ|результат"
)
_VERBS = r"ist|lautet|beträgt|est|es|è|é|is|är|er|to|jest|je|равен|это"
_ARTICLES = (
    r"die|der|das|la|le|el|il|a|o|de|den|option|opción|opção|opzione|lettre|letra|lettera"
    r"|buchstabe|вариант"
)
_WITHOUT_SPACES = (
    r"(?:答案|正解|正确选项|正確選項|答え|回答|정답|답)(?:应该|應該|会|は)?"
    r"\s?(?:是|为|為|は|은|는|이)?\s?[:：]?"
)

ANNOUNCING = (
    rf"(?:(?i:\b(?:{_NAMES})\b[^\n.!?:=]{{0,40}}?"
    rf"(?:\b(?:{_VERBS})\b(?:\s+(?:{_ARTICLES})\b){{0,2}}|[:：=]))|{_WITHOUT_SPACES})"
)
"""Pattern of words that announce an answer: `Die Antwort lautet`, `Réponse :`, `答案是`."""

CHOOSING = (
    r"(?:(?:应该?|應該?)?(?:选择|選擇|选|選)(?:项|項)?"
    r"|(?i:\b(?:wähle|choisis|elijo|scelgo|escolho)\b))"
)
"""Pattern of words that name a choice: `选`, `ich wähle`."""

CONFIRMING = (
    r"(?:(?i:\s(?:ist\s(?:die\s)?(?:richtig|korrekt)\w{0,2}|est\s(?:la\s)?(?:bonne|correcte?|exacte?)"
    r"|es\s(?:la\s)?correct[ao]|è\s(?:la\s)?(?:corretta|giusta)|é\s(?:a\s)?(?:correta|certa))\b)"
    r"|\s?(?:(?:是?(?:正确|正確)|是(?:对|對))(?!吗|嗎|与否|與否)|が(?:正解|正しい)|[이가]\s?(?:정답|맞)))"
)
"""Pattern of words behind a label that confirm it: `ist richtig`, `正确`, `が正解`."""

OR = r"(?i:or|oder|ou|o|of|eller|lub|nebo|или)"
"""Pattern of the word between alternatives; it needs white space or a sign on both sides."""
