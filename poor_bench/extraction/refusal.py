"""Refusals: answers in which a model declines the task, in six languages.

A refusal is a clause near the start in which the speaker cannot, may not or will not do what was
asked. "I'm sorry" alone is not one, nor is "the law cannot help you": the clause must be the
speaker's own, and what it denies must be a service, such as to help, to answer or to provide.
What is quoted or reported does not count, nor does a refusal that an answer follows. "I do not
know" is an answer.

Fresh lists, each measured before the phrases were extended by it, say what unseen wordings get:
recall was 83 %, 73 % (unusual wordings) and 83 % on the last three, with 109 to 181 hits of which
93 % to 97 % were refusals. No stored answer of the 2,077 different ones is read as one. A wording
that no phrase covers is missed; the lists are in `tests/extraction/refusals`.
"""

from __future__ import annotations

import re

from poor_bench.extraction.normalise import fold_text
from poor_bench.extraction.refusal_phrases import LEADS, RULES, Rule

_OPENING = 600
"""Characters of the answer in which a refusal must begin."""
_READ = 3_000
"""Characters of the answer that are read for an answer after the refusal."""
_REACH = 70
"""Characters between the end of one part of a rule and the start of the next, at most."""
_MOST_LEADS = 6

_EDGES = " _#-~`'()"
_QUOTED = re.compile(
    '["\u201c\u201e\u00ab\u300c\u300e][^"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]{0,400}'
    '["\u201d\u201c\u00bb\u300d\u300f]'
    r"|(?<!\w)'(?=\S)[^\n]{1,400}?(?<=\S)'(?!\w)|^[ \t]{0,3}>.*$",
    re.MULTILINE,
)
_ENDS = re.compile(
    r"[.,!?:;](?=[\s\W]|$)|[.,!?:;](?=[^\x00-\x7f])|[\n\u3002\u3001]| [-\u2013\u2014] "
    r"|\b(?:but|and|yet|aber(?! (?:nicht|kein))|(?<!kann )und|doch|mais|et|donc(?= (?:je|j'|nous"
    r"|il|elle|cela|ce|la"
    r"|le|les) )|pero|y|as[ií] que|por lo que"
    r"|so(?= (?:i|we|you|the|this|that|it|here|there|please|let)\b))\b(?! ?\d)"
    r"|(?:\u4f46\u662f?|\u6240\u4ee5|\u56e0\u6b64)"
)
_WORD = re.compile(r"[^\W_]+")
_REPORTED = re.compile(
    r"\b(?:said|says|replied|wrote|writes|answered|told|sagte?|schrieb|antwortete|meinte|dit|dites"
    r"|disait|r[eé]pondit|r[eé]pondu|[eé]crit|dijo|dice|respondi[oó]|escribi[oó]|contest[oó])\b"
    "|\u8bf4|\u5199\u9053|\u5beb\u9053|\u95ee\u9053"
    "|\u8aaa|\u56de\u7b54\u9053|\u3068\u8a00"
)
_ANSWERED = re.compile(
    r"\b(?:answer|result|solution|total|sum|label|antwort|ergebnis|l[oö]sung|r[eé]ponse|r[eé]sultat"
    r"|solution|respuesta|resultado|soluci[oó]n)"
    r"(?: (?:is|are|would be|ist|lautet|w[aä]re|est|serait|es|ser[ií]a)(?! (?:not|no|non|nein"
    r"|nicht|pas)\b)"
    r"| ?[:=]) ?\S"
    r"|(?:\u7b54\u6848|\u7ed3\u679c|\u7d50\u679c|\u7b54\u3048)(?:\u662f|\u4e3a|\u70ba|\u306f|:)"
    r"|\b(?:(?:liebe|viele|beste|herzliche|freundlichen) gr[uü](?:ß|ss)en?|(?:kind|best) regards"
    r"|yours sincerely|cordialement|bien à vous|bises|atentamente|un abrazo)\b"
    "|\u6b64\u81f4|\u656c\u5177"  # end of a letter
    r"|```|[{\[] ?[\"'\d]"
)
_LABEL = re.compile(
    r"[a-z\d\u00df-\u024f'_-]+(?: [a-z\d\u00df-\u024f'_-]+)?|.?\u8a33\u6587?|\u8bd1\u6587"
    r"|\u7ffb\u8bd1|\u30a8\u30e9\u30fc|\u9519\u8bef"
)
"""One or two words before a colon or comma, such as "translation", in any of the languages."""
_BARE = re.compile(r"^\W{0,6}(?:[-+]?\d[\d.,]{0,20}|[a-e])\W{0,6}$")
"""A clause that is only a number or the letter of a choice."""

_ANYWHERE = tuple(rule for rule in RULES if rule.other_speaker is not None)
_STARTS = (f"(?:{rule.parts[0].pattern})" for rule in RULES if rule.other_speaker is None)
_ANY_START = re.compile(rf"\A(?:{'|'.join(_STARTS)})")
"""Start of the rules that are not in `_ANYWHERE`, tried at once: few clauses begin like one."""


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
    clauses = _ENDS.split(text)
    position = 0
    for index, clause in enumerate(clauses):
        own = _strip_leads(clause)
        if _declines(own):
            return "" if _is_answered(clauses[index + 1 :], text) else own
        is_label = index == 0 and text[len(clause) : len(clause) + 1] != ","
        if position > _OPENING or _rules_out(clause, own, may_be_label=is_label):
            return ""
        position += len(clause) + 1
    return ""


def is_refusal(answer: str) -> bool:
    """True if a model declines the task, see `find_refusal`."""
    return find_refusal(answer) != ""


def _strip_leads(clause: str) -> str:
    """Remove what politeness puts before the point, such as "unfortunately" or "as an AI"."""
    clause = clause.strip(_EDGES)
    for _ in range(_MOST_LEADS):
        lead = LEADS.match(clause)
        if lead is None:
            break
        clause = clause[lead.end() :].lstrip(" _")
    return clause


def _declines(clause: str) -> bool:
    rules = RULES if _ANY_START.match(clause) else _ANYWHERE
    return any(_applies(rule, clause) for rule in rules)


def _applies(rule: Rule, clause: str) -> bool:
    """True if all parts of a rule stand in a clause in order, and nobody else speaks."""
    first, *others = rule.parts
    if rule.other_speaker is None:
        found = first.match(clause)
    else:
        found = first.search(clause, 0, _REACH)
        if found and rule.other_speaker.search(clause, 0, found.start()):
            return False
    for part in others:
        if found is None:
            return False
        found = part.search(clause, found.end(), found.end() + _REACH)
    if found is None or rule.harmless is None:
        return found is not None
    return rule.harmless.search(clause, found.end(), found.end() + rule.reach) is None


def _rules_out(clause: str, own: str, *, may_be_label: bool) -> bool:
    """True if a clause before the refusal is an answer, a label, or says that another speaks."""
    if _REPORTED.search(own) or _ANSWERED.search(clause) or _BARE.match(clause):
        return True
    is_whole = len(own) == len(clause.strip(_EDGES))  # not the rest of a phrase of politeness
    return may_be_label and is_whole and _LABEL.fullmatch(own) is not None


def _is_answered(later: list[str], text: str) -> bool:
    return _ANSWERED.search(text) is not None or any(_BARE.match(clause) for clause in later)
