"""Refusals: answers in which a model declines the task, in ten languages.

A refusal is a clause near the start in which the speaker cannot, may not or will not do what was
asked. "I'm sorry" alone is not one, nor is "the law cannot help you": the clause must be the
speaker's own, and what it denies must be a service, such as to help, to answer or to provide.
What is quoted or reported does not count, nor does a refusal that an answer follows. "I do not
know" is an answer.

On 1,000 answers of five public chat models in English, 425 of them declining by their own labels,
recall is 95 % and precision 100 %. On wordings that no phrase was extended by, recall is lower:
`benchmarks/refusals/measure.py` prints it per list. A wording that no phrase covers is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from poor_bench.extraction.normalise import fold_text
from poor_bench.extraction.refusal_rules import fits_a_rule, load_refusal_phrases

_OPENING = 600
"""Characters of the answer in which a refusal must begin."""
_READ = 3_000
"""Characters of the answer that are read for an answer after the refusal."""
_MOST_LEADS = 6

_EDGES = " _#-~`'()"
_QUOTED = re.compile(
    "[\"\u201c\u201e\u00ab\u300c\u300e\u2014\u2013'>](?:"
    '(?<=["\u201c\u201e\u00ab\u300c\u300e])[^"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]{0,400}'
    '["\u201d\u201c\u00bb\u300d\u300f]'
    r"|(?:(?<=^[\u2014\u2013])|(?<=\s[\u2014\u2013])) ?[^\n\u2014\u2013]{1,200}[\u2014\u2013] ?"
    r"(?:dijo|dice|disse|dit|\u0441\u043a\u0430\u0437\u0430\u043b\u0430?)\b"
    r"|(?<=')(?<!\w')(?=\S)[^\n]{1,400}?(?<=\S)'(?!\w)"
    r"|(?:(?<=^>)|(?<=^[ \t]>)|(?<=^[ \t]{2}>)|(?<=^[ \t]{3}>)).*$)",
    re.MULTILINE,
)
"""What is quoted. It begins with its sign, so that others are passed over quickly."""
_ENDS = re.compile(
    r"[.,!?:;](?=[\s\W]|$)|[.,!?:;](?=[^\x00-\x7f])|[\n\u3002\u3001]| [-\u2013\u2014] "
    r"|\b(?:but|and|yet|aber(?! (?:nicht|kein))|(?<!kann )und|doch|mais|et|ma(?= (?:non|mi"
    r"|devo)\b)|però|mas|porém|\u043d\u043e|\u043e\u0434\u043d\u0430\u043a\u043e|donc(?= (?:je"
    r"|j'|nous|il|elle|cela|ce|la|le|les) )|pero|(?<!il )(?<!')y|as[ií] que|por lo que"
    r"|so(?= (?:i|we|you|the|this|that|it|here|there|please|let)\b))\b(?! ?\d)"
    r"|(?:\u4f46\u662f?|\u6240\u4ee5|\u56e0\u6b64)"
)
_WORD = re.compile(r"[^\W_]+")
_REPORTED = re.compile(
    r"\b(?:said|says|replied|wrote|writes|answered|told|sagte?|schrieb|antwortete|meinte|dit|dites"
    r"|disse|rispose|scrisse|ha scritto|respondeu|escreveu"
    r"|\u0441\u043a\u0430\u0437\u0430\u043b\u0430?"
    r"|\u043e\u0442\u0432\u0435\u0442\u0438\u043b\u0430?"
    r"|\u043d\u0430\u043f\u0438\u0441\u0430\u043b\u0430?"
    r"|disait|r[eé]pondit|r[eé]pondu|[eé]crit|dijo|dice|respondi[oó]|escribi[oó]|contest[oó])\b"
    "|\u8bf4|\u5199\u9053|\u5beb\u9053|\u95ee\u9053"
    "|\u8aaa|\u56de\u7b54\u9053|\u3068\u8a00"
)
_ANSWERED = re.compile(
    r"\b(?:risposta|risultato|resposta|\u043e\u0442\u0432\u0435\u0442"
    r"|\u0440\u0435\u0437\u0443\u043b\u044c\u0442\u0430\u0442)(?: (?:è|é|is"
    r"|\u0431\u043e\u043b\u0435\u0435|:)(?! (?:no|não|\u043d\u0435\u0442)\b)"
    r"|(?: [a-z\u0430-\u044f]{3,12}){0,2} ?[:=-]) ?(?!no\b|não\b|\u043d\u0435\u0442\b)\S"
    r"|(?:\uc815\ub2f5|\uacb0\uacfc|\ub2f5)(?:\uc740|\ub294) ?(?!\uc544\ub2c8)\S"
    r"|\b(?:answer|result|solution|total|sum|label|antwort|ergebnis|l[oö]sung|r[eé]ponse"
    r"|r[eé]sultat"
    r"|solution|respuesta|resultado|soluci[oó]n)"
    r"(?: (?:is|are|would be|ist|lautet|w[aä]re|est|serait|es|ser[ií]a)(?! (?:not|no|non|nein"
    r"|nicht|pas)\b)"
    r"| ?[:=]) ?\S"
    r"|(?:category|label|kategorie|catégorie|categor[ií]a|etiqueta|étichetta|sentiment"
    r"|\u043a\u0430\u0442\u0435\u0433\u043e\u0440\u0438\u044f"
    r"|\u7c7b\u522b|\u985e\u5225|\u30ab\u30c6\u30b4\u30ea\u30fc?|\ubd84\ub958|\ub77c\ubca8) ?: ?\S"
    r"|(?:\u7b54\u6848|\u7ed3\u679c|\u7d50\u679c|\u7b54\u3048)(?:\u662f|\u4e3a|\u70ba|\u306f|:)"
    r"|\b(?:(?:liebe|viele|beste|herzliche|freundlichen) gr[uü](?:ß|ss)en?|(?:kind|best) regards"
    r"|yours sincerely|(?:cordiali|distinti) saluti|un abbraccio|um abraço"
    r"|atenciosamente|\u0441 \u0443\u0432\u0430\u0436\u0435\u043d\u0438\u0435\u043c"
    r"|\u043e\u0431\u043d\u0438\u043c\u0430\u044e|\ub4dc\ub9bc$|cordialement|bien à vous|bises"
    r"|atentamente|un abrazo)\b"
    "|\u6b64\u81f4|\u656c\u5177"  # end of a letter
    r"|```|[{\[] ?[\"'\d]"
)
_LABEL = re.compile(
    r"[a-z\d\u00df-\u024f'_-]+(?: [a-z\d\u00df-\u024f'_-]+)?|.?\u8a33\u6587?|\u8bd1\u6587"
    r"|\u7ffb\u8bd1|\u30a8\u30e9\u30fc|\u9519\u8bef"
)
"""One or two words before a colon or comma, such as "translation", in any of the languages."""
_OTHER_LABEL = re.compile(r"[\u0400-\u04ff\uac00-\ud7a3\u3040-\u30ff\u4e00-\u9fff -]{1,16}")
"""The same in scripts where it needs the colon."""
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|hallo|liebe[rs]?|salut|ch[eè]re?|hola|querid[oa]|ciao|car[oa]|oi"
    r"|\u043f\u0440\u0438\u0432\u0435\u0442"
    r"|\u0434\u043e\u0440\u043e\u0433(?:\u043e\u0439|\u0430\u044f)) (?!there|all|everyone"
    r"|zusammen)[^\W\d_]{2,20}"
    "|[\u4e00-\u9fff]{1,3}(?:\u8001[\u5e08\u5e2b]|\u5148\u751f|\u5973\u58eb|\u7ecf\u7406)"
)
"""Greeting of a named person: a letter or message follows, not the model's own words."""
_NUMBER_OR_LABEL = r"\W{0,6}(?:[-+]?\d[\d.,]{0,20}|[a-e])\W{0,6}$"
_BARE = re.compile("^" + _NUMBER_OR_LABEL)
"""A clause that is only a number or the letter of a choice."""
_BARE_AT_END = re.compile("[.,!?:;\u3002\u3001]" + _NUMBER_OR_LABEL)

_SENTENCE = re.compile(r"(?:[^.!?\n\u3002]|[.](?=\w)){0,400}")
_GIVEN = re.compile(r"\d|[:\uff1a] ?[^,\u3001:\uff1a]{2,60}[,\u3001]")
"""A number, or a list behind a colon."""
_HOTLINE = re.compile(
    r"\b(?:call|dial|text|contact|appel|compos|llam|marca|ruf|wähl|wend|chiam|ligue|позвон)"
    "|拨打|電話|전화"
)


def find_refusal(answer: str) -> str:
    """Find the clause in which a model declines the task.

    Args:
        answer: A response without its thinking, of any length; only its start is read.

    Returns:
        The clause, folded; empty if the answer is not a refusal.

    Example:
        >>> find_refusal("I'm sorry, but I can't help with that.")
        "i can't help with that"
        >>> find_refusal("I'm sorry to hear the order was late, the answer is 42.")
        ''
    """
    text = fold_text(_QUOTED.sub(" ", answer[:_READ])).replace("*", "")
    if not text:  # phrases take long to compile, and every check of a test scores an empty text
        return ""
    position = 0
    for index, clause in enumerate(_split_clauses(text)):
        own = _strip_leads(clause)
        if fits_a_rule(own) and load_refusal_phrases().again.search(own) is None:
            return "" if _is_answered(text) or _is_in_part(own, text.partition(clause)[2]) else own
        end = text[len(clause) : len(clause) + 1] if index == 0 else ","
        if position > _OPENING or _rules_out(clause, own, end):
            return ""
        position += len(clause) + 1
    return ""


def _split_clauses(text: str) -> Iterator[str]:
    """Split a text as far as it is read: the first clauses mostly decide."""
    start = 0
    for end in _ENDS.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def is_refusal(answer: str) -> bool:
    """True if a model declines the task, see `find_refusal`."""
    return find_refusal(answer) != ""


def _strip_leads(clause: str) -> str:
    """Remove what politeness puts before the point, such as "unfortunately" or "as an AI"."""
    clause = clause.strip(_EDGES)
    leads = load_refusal_phrases().leads
    for _ in range(_MOST_LEADS):
        lead = leads.match(clause)
        if lead is None:
            break
        clause = clause[lead.end() :].lstrip(" _")
    return clause


def _rules_out(clause: str, own: str, end: str) -> bool:
    """True if a clause before the refusal is an answer, a label, or says that another speaks."""
    if _REPORTED.search(own) or _ANSWERED.search(clause) or _BARE.match(clause):
        return True
    whole = clause.strip(_EDGES)
    if _GREETING.fullmatch(whole):
        return True
    is_rest = len(own) < len(whole)  # of a phrase of politeness
    is_label = _LABEL.fullmatch(own) or (end == ":" and _OTHER_LABEL.fullmatch(own))
    return end != "," and not is_rest and bool(is_label)


def _is_answered(text: str) -> bool:
    """True if an answer follows the refusal; the numbers of a list of alternatives are none."""
    return _ANSWERED.search(text) is not None or _BARE_AT_END.search(text) is not None


def _is_in_part(own: str, rest: str) -> bool:
    """True if only the whole or the exact is declined, and the same sentence gives the rest."""
    given = _SENTENCE.match(rest)
    return (
        given is not None
        and load_refusal_phrases().whole.search(own) is not None
        and _GIVEN.search(given[0]) is not None
        and _HOTLINE.search(given[0]) is None
    )
