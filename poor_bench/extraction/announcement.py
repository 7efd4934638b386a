"""Words that announce an answer, in the languages that LLMs answer in.

English has patterns of its own beside these (`answer_number`, `choice`), since most answers are
English, whatever the question.
"""

from __future__ import annotations

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
    r"|\s?(?:是(?:正确|正確|对|對)|が(?:正解|正しい)|[이가]\s?(?:정답|맞)))"
)
"""Pattern of words behind a label that confirm it: `ist richtig`, `が正解`."""

OR = r"(?i:or|oder|ou|o|of|eller|lub|nebo|или)"
"""Pattern of the word between alternatives; it needs white space or a sign on both sides."""
