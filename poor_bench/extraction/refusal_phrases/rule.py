"""Rules of refusals: parts that follow one another in a clause, and what politeness puts before."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """Parts that follow one another in a clause of a refusal."""

    parts: tuple[re.Pattern[str], ...]
    other_speaker: re.Pattern[str] | None = None
    """What must not stand before the first part; None if nothing may stand there."""
    harmless: re.Pattern[str] | None = None
    """What must not follow the last part within `reach` characters: "I cannot see" declines
    nothing."""
    reach: int = 0


def write_rule(*parts: str, unless: str = "", harmless: str = "", reach: int = 0) -> Rule:
    """Compile a rule; `unless` is what must not stand before its first part."""
    return Rule(
        tuple(map(re.compile, parts)),
        re.compile(unless) if unless else None,
        re.compile(harmless) if harmless else None,
        reach,
    )


_MACHINE = (
    r"(?:(?:large |artificial |virtual |digital |responsible |helpful |harmless )?(?:ai|a\.i\."
    r"|language model|intelligence|assistant|chatbot|llm)(?:[- ]?based)?(?: language)?(?: model"
    r"| assistant| system| chatbot)?)"
)
LEADS = re.compile(
    # English
    r"(?:(?:and|but|so|yet|however|unfortunately|sadly|regrettably|honestly|therefore|thus|also"
    r"|because of this|for this reason|for (?:\w{3,12} ){1,2}reasons|as such|that said"
    r"|that being said|at this time|to be (?:clear|honest|direct)|let me be (?:clear|direct)|no$"
    r"|well|hi|hello|hey|hmm+|thanks|thank you|please note|note|okay|ok|sure|right|understood"
    r"|apologies|my apologies|(?:i'm|i am|we're|we are)? ?(?:very |so |really |truly "
    r"|deeply )?sorry|i'm afraid|i am afraid|i apologi[sz]e|i regret(?: to (?:say|inform you))?"
    r"|(?:it )?(?:looks|seems|appears) like|i understand(?: (?:that|your (?:\w{3,14})))?"
    r"|i hear you|understandably|for what it's worth|i appreciate (?:it|that)"
    rf"|(?:as|being|since i'm|since i am|because i'm|because i am|i'm|i am) (?:just "
    rf"|only )?an? {_MACHINE}(?: (?:developed|created|designed|trained|made|built) [^,.]{{0,50}})?"
    # German
    r"|\w{2,16}erweise|es tut mir (?:sehr |wirklich |aufrichtig )?leid|tut mir (?:sehr )?leid"
    r"|leider|entschuldigung|(?:ich )?bitte um (?:verständnis|nachsicht|entschuldigung)"
    r"|entschuldige|entschuldigen sie(?: bitte)?|verzeihung|sorry|bedauerlicherweise|nein|hallo"
    r"|aus \w{0,20}gründen|ich bedauere|ich bedaure|aber|doch|jedoch|daher|deshalb|danke"
    r"|ich verstehe(?: (?:das|dich|sie|ihr anliegen|dein anliegen))?|verstehe"
    r"|als (?:eine? )?(?:grosses )?(?:kuenstliche intelligenz|künstliche intelligenz"
    r"|ki(?:-\w{1,20}){0,2}|sprachmodell|assistent)"
    # French
    r"|(?:je suis |je regrette|)(?:vraiment |sincèrement |)(?:désolée?|navrée?)|malheureusement"
    r"|pour des (?:raisons|motifs) (?:de |d')?\w{3,14}|hélas|excusez-moi|veuillez m'excuser"
    r"|pardon|c'est pourquoi|mais|cependant|toutefois|hélas|\w{2,14}eusement|je regrette|non$"
    r"|je (?:vous )?comprends(?: bien)?|je vous prie de m'excuser"
    r"|étant (?:donné que je suis )?une? (?:ia|intelligence artificielle|modèle(?: de langage)?)"
    r"|bonjour|merci|toutes mes excuses|je m'excuse|en tant qu(?:e "
    r"|')(?:une? )?(?:grand )?(?:modèle(?: de langage)?|ia|intelligence artificielle"
    r"|assistante?(?: virtuel(?:le)?| ia)?)(?: d'ia)?"
    # Spanish
    r"|lo siento(?: mucho)?|lo lamento|(?:mis |te pido |le pido )?disculpas?|disculpe|perdón"
    r"|perdona|por (?:motivos|razones) (?:de )?\w{3,14}|(?:lo )?(?:entiendo|comprendo)(?: (?:bien"
    r"|perfectamente))?|por seguridad|por precaución|al ser (?:un|una) (?:ia"
    r"|inteligencia artificial|modelo(?: de lenguaje)?)|por (?:lo )?tanto|lamentablemente"
    r"|desafortunadamente|por desgracia|me temo que|pero|por eso|sin embargo|hola|gracias"
    r"|\w{2,16}mente|como (?:un |una )?(?:gran )?(?:modelo(?: de (?:lenguaje|ia))?|ia"
    r"|inteligencia artificial|asistente(?: virtual| de ia)?))(?![^\W_])(?: (?:that|dass"
    r"|que)(?![\w']))?"
    # Chinese
    r"|(?:非常|很|十分|真的|实在|真)?(?:抱歉|对不起|對不起|遗憾|遺憾|不好意思"
    r"|歉意)(?:地)?(?:的是)?|但是?|不过|因此|所以|老实说|说实话|坦白说|坦率地说|您好|你好|谢谢"
    r"|作为.{0,3}(?:人工智能|ai|大型?|语言|智能)[^我无不]{0,12}|身为[^我无不]{0,14}"
    # Japanese
    r"|(?:大変|誠に|まことに)?(?:申し訳(?:あり|ござい)ませんが?|すみませんが?|恐れ入りますが"
    r"|恐縮ですが|残念ながら|ごめんなさい|あいにくですが|あいにく)|しかし|ただし"
    r"|正直に(?:申し上げますと|言うと)|そのため|(?:私は)?(?:aiアシスタント|ai言語モデル"
    r"|大規模言語モデル|言語モデル|人工知能|ai)(?:なので|として(?:は)?|であるため|ですので"
    r"|のため)?)[ ,]{0,3}"
)
