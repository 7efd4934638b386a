"""Phrases of refusals: what may stand before them, and the parts of which they are made.

All patterns read folded text and take linear time: the distance between two parts is limited by
who applies them, not by the patterns.
"""

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


def _rule(*parts: str, unless: str = "", harmless: str = "", reach: int = 0) -> Rule:
    return Rule(
        tuple(map(re.compile, parts)),
        re.compile(unless) if unless else None,
        re.compile(harmless) if harmless else None,
        reach,
    )


_MACHINE = (
    r"(?:(?:large |artificial |virtual |digital |responsible |helpful |harmless )?"
    r"(?:ai|a\.i\.|language model|intelligence|assistant|chatbot|llm)(?:[- ]?based)?"
    r"(?: language)?(?: model| assistant| system| chatbot)?)"
)
LEADS = re.compile(
    # English
    r"(?:(?:and|but|so|yet|however|unfortunately|sadly|regrettably|honestly|therefore|thus|also"
    r"|because of this|for this reason|as such|that said|that being said|at this time|no$|well|hi"
    r"|hello|hey|hmm+|thanks|thank you|please note|note|okay|ok|sure|right|understood|apologies"
    r"|my apologies|(?:i'm|i am|we're|we are)? ?(?:very |so |really |truly |deeply )?sorry"
    r"|i'm afraid|i am afraid|i apologi[sz]e|i regret(?: to (?:say|inform you))?"
    r"|(?:it )?(?:looks|seems|appears) like|i understand|i appreciate (?:it|that)"
    rf"|(?:as|being|since i'm|since i am|because i'm|because i am|i'm|i am) (?:just "
    rf"|only )?an? {_MACHINE}"
    # German
    r"|\w{2,16}erweise|es tut mir (?:sehr |wirklich |aufrichtig )?leid|tut mir (?:sehr )?leid"
    r"|leider|entschuldigung"
    r"|entschuldige|entschuldigen sie(?: bitte)?|verzeihung|sorry|bedauerlicherweise|nein|hallo"
    r"|ich bedauere|ich bedaure|aber|doch|jedoch|daher|deshalb|danke"
    r"|als (?:eine? )?(?:grosses )?(?:kuenstliche intelligenz|künstliche intelligenz"
    r"|ki(?:-\w{1,20}){0,2}|sprachmodell|assistent)"
    # French
    r"|(?:je suis |je regrette|)(?:vraiment |sincèrement |)(?:désolée?|navrée?)|malheureusement"
    r"|hélas|excusez-moi|pardon|mais|cependant|toutefois|hélas|\w{2,14}eusement|je regrette"
    r"|non$|bonjour|merci"
    r"|toutes mes excuses|je m'excuse"
    r"|en tant qu(?:e |')(?:une? )?(?:grand )?(?:modèle(?: de langage)?|ia"
    r"|intelligence artificielle"
    r"|assistante?(?: virtuel(?:le)?| ia)?)(?: d'ia)?"
    # Spanish
    r"|lo siento(?: mucho)?|lo lamento|(?:mis |te pido |le pido )?disculpas?|disculpe|perdón"
    r"|perdona"
    r"|lamentablemente|desafortunadamente|por desgracia|me temo que|pero|sin embargo|hola"
    r"|gracias|\w{2,16}mente"
    r"|como (?:un |una )?(?:gran )?(?:modelo(?: de (?:lenguaje|ia))?|ia|inteligencia artificial"
    r"|asistente(?: virtual| de ia)?)"
    r")(?![^\W_])(?: that| dass| que)?"
    # Chinese
    r"|(?:非常|很|十分|真的|实在|真)?(?:抱歉|对不起|對不起|遗憾|遺憾|不好意思|歉意)(?:地)?(?:的是)?"
    r"|但是?|不过|因此|所以|您好|你好|谢谢|作为.{0,3}(?:人工智能|ai|大型?|语言|智能)"
    r"[^我无不]{0,12}|身为[^我无不]{0,14}"
    # Japanese
    r"|(?:大変|誠に|まことに)?(?:申し訳(?:あり|ござい)ませんが?|すみませんが?|恐れ入りますが"
    r"|恐縮ですが|残念ながら|ごめんなさい|あいにくですが|あいにく)|しかし|ただし|そのため"
    r"|(?:私は)?(?:aiアシスタント|ai言語モデル|大規模言語モデル|言語モデル|人工知能|ai)"
    r"(?:なので|として(?:は)?|であるため|ですので|のため)?)"
    r"[ ,]{0,3}"
)

_ENGLISH_ADVERB = (
    r"(?:(?:really|simply|just|also|currently|respectfully|politely|unfortunately|therefore|not"
    r"|in good conscience|ethically|legally|directly|and|will|won't|or|knowingly|personally) ){0,3}"
)
_ENGLISH_HARMLESS = (
    r"\b(?:believe|wait|help (?:but|it\b|laughing|smiling|thinking|wondering|noticing|feeling)"
    r"|see|find|spot"
    r"|imagine|stop|stand|remember|recall|think|thank|be (?:sure|certain|both|more|less|right"
    r"|wrong|true"
    r"|\d|negative|positive|zero|either|the)|say (?:for|with|how|enough|which|whether|that|if)"
    r"|tell (?:whether|which|if|the|how|from|apart|what)|determine|conclude|infer|decide|know"
    r"|deny|verify"
    r"|confirm|rule out|detect|identify|figure|understand|recommend (?:it|this|the)|afford"
    r"|get (?:enough|over)|go wrong|exclude|prove|guess|guarantee|distinguish|deduce|buy|return"
    r"|make out"
    r"|put it|complain|give (?:it|this|them|a (?:proof|single|unit)))\b"
)
_ENGLISH = (
    _rule(
        r"(?:i|we) ?(?:'m| am|'re| are)? ?"
        + _ENGLISH_ADVERB
        + r"(?:can't|cannot|can not|won't|will not|couldn't|could not|unable to|not able to"
        r"|not (?:allowed|permitted|authori[sz]ed|willing|going|in a position|programmed|designed"
        r"|equipped|here|supposed|meant|trained|able) to|shouldn't|should not|mustn't|must not"
        r"|do not have (?:the ability|permission|the capability|the authority|any way) to"
        r"|don't have (?:the ability|permission|the capability|the authority|any way) to"
        r"|(?:don't|do not|won't|will not) (?:want|intend|wish) to|(?:won't|will not|would not"
        r"|wouldn't|not going to) be able to|choose not to|choosing not to"
        r"|incapable of|not capable of)\b",
        harmless=_ENGLISH_HARMLESS,
        reach=20,
    ),
    _rule(
        r"(?:unable to|not able to|cannot|can't|can not|won't) (?:assist|help|comply|fulfil|provid"
        r"|answer|respond|continu|process|complet|shar|discuss|offer|generat|creat|do (?:that"
        r"|this|so|it))",
        harmless=_ENGLISH_HARMLESS,
        reach=20,
    ),
    _rule(
        r"(?:i|we) ?(?:'m| am|'d| would|'ll| will|'ve| have| need| want)? ?"
        r"(?:must|have to|going to have to|need to|to)? ?(?:respectfully |politely |kindly )?"
        r"(?:decline\b|refuse\b|rather not\b|prefer not to\b|say no\b|pass on|pass$|(?:not"
        r"|n't) (?:feel )?(?:comfortable)"
        r"|do not feel comfortable|don't feel comfortable|refrain from|abstain from"
        r"|prohibited from|prevented from|forbidden)"
    ),
    _rule(
        r"(?:that|this|it|which)(?:'s| is) (?:not something|something) (?:that )?(?:i|we)\b",
        r"(?:can't|cannot|can not|won't|not able|unable|not comfortable|can help|able to|'m able"
        r"|will do"
        r"|can do|can assist|can provide|can answer|comfortable|can discuss|can support)",
    ),
    _rule(
        r"(?:that|this|it|such|doing so|your|the)\b",
        r"\b(?:(?:goes|is|go) against|violates?|conflicts? with|contrary to|beyond"
        r"|outside(?: of)?|breach\w*)"
        r" (?:my|our|the content|the usage|the safety|openai)\b",
    ),
    _rule(
        r"my (?:guidelines|programming|polic\w+|principles|training|rules|ethic\w*|instructions"
        r"|safety|content|design|core|values)",
        r"\b(?:do not|don't|does not|doesn't|prevent|prohibit|forbid|won't|stop|keep|bar|restrict)",
    ),
    _rule(
        r"(?:i|we) (?:do not|don't) (?:have|hold|possess) (?:any )?(?:personal|political|my own) "
    ),
    _rule(r"(?:do not|don't) (?:have|hold|possess) (?:any )?(?:personal|political|my own) "),
    _rule(
        r"(?:i|we) (?:do not|don't|never) (?:provide|discuss|engage|assist|participate|create"
        r"|generate"
        r"|support|answer|offer|share|comment|produce|do that)\b"
    ),
    _rule(
        r"(?:i|we|it|that|this|doing so)\b",
        r"(?:\bnot|n't|\bin)[ -]?(?:\w{1,12} ){0,4}?(?:appropriate|right|ethical|responsible"
        r"|acceptable"
        r"|possible|permitted|allowed)",
        r"\bfor me\b",
    ),
    _rule(
        r"(?:that|this|it|such|doing so|your|the|what)\b",
        r"\b(?:falls?|is|lies?|are|goes) (?:\w{1,12} )?(?:outside|beyond|against|not within)\b",
        r"\b(?:i|i'm|my|me|we|our)\b",
    ),
    _rule(
        r"\bsomething (?:that )?(?:i|we) (?:am |'m |are )?(?:can't|cannot|can not|won't"
        r"|will not|do not"
        r"|don't|not|unable)",
        unless=r"\b(?:he|she|they|said)\b",
    ),
    _rule(r"(?:there is|there's) (?:nothing|no way) (?:that )?(?:i can|for me to|i could)\b"),
    _rule(
        r"let's (?:talk about something else|change the (?:topic|subject)|try a different topic)"
    ),
    _rule(r"(?:request|access) (?:denied|refused|declined)$"),
)

_GERMAN_OTHERS = r"\b(?:er|sie|man|ob|sagt|sagte|meint|weil)\b"
_GERMAN_HARMLESS = (
    r"\b(?:erkennen|glauben|sehen|finden|feststellen|warten|sagen|ausschliessen|bestätigen"
    r"|bestimmen"
    r"|ermitteln|fassen|entscheiden|entdecken|verstehen|sicher|unterscheiden|klagen|empfehlen"
    r"|beschweren"
    r"|nachvollziehen|ableiten|schliessen|beurteilen|wissen|genug|vorstellen|erinnern|beweisen)\b"
)
_GERMAN_NO = r"\b(?:nicht|kein\w{0,2}|weder|nichts)\b"
_GERMAN = (
    _rule(
        r"\b(?:ich (?:kann|darf|werde|möchte|will|könnte|soll)"
        r"|(?:kann|darf|werde|möchte|will|könnte) ich)\b",
        _GERMAN_NO,
        unless=_GERMAN_OTHERS,
        harmless=_GERMAN_HARMLESS,
        reach=90,
    ),
    _rule(
        r"(?:das|dies|so etwas) (?:kann|darf|werde|möchte|will|mache|tue) ich\b", _GERMAN_NO + r"$"
    ),
    _rule(
        r"\b(?:ich bin|bin ich)\b",
        _GERMAN_NO,
        r"\b(?:in der lage|befugt|berechtigt|imstande|autorisiert|dafür da|dazu da|bereit"
        r"|zuständig|geeignet|gemacht"
        r"|programmiert|fähig"
        r"|ausgelegt|vorgesehen|erlaubt)\b",
        unless=_GERMAN_OTHERS,
    ),
    _rule(
        r"\b(?:ich (?:muss|möchte|werde)|(?:muss|möchte|werde) ich)\b",
        r"\b(?:ablehnen|verweigern|zurückweisen|davon absehen|passen)\b",
        unless=_GERMAN_OTHERS,
    ),
    _rule(r"(?:ich (?:lehne|weise)|das lehne ich)\b", r"\b(?:ab|zurück)\b"),
    _rule(r"ich (?:verweigere|weigere)\b"),
    _rule(r"(?:kann|darf|werde|möchte) ", _GERMAN_NO, harmless=_GERMAN_HARMLESS, reach=90),
    _rule(
        r"\bdass ich\b",
        _GERMAN_NO,
        r"\b(?:kann|darf|möchte|werde)\b",
        unless=_GERMAN_OTHERS,
    ),
    _rule(
        r"\b(?:ich (?:beantworte|schreibe|erstelle|helfe|unterstütze|generiere|biete|erteile"
        r"|beteilige"
        r"|diskutiere|äussere|verfasse|leiste)|(?:beantworte|schreibe|erstelle|helfe|unterstütze"
        r"|generiere|biete|erteile|mache|äussere|verfasse|sage) ich)\b",
        _GERMAN_NO,
        unless=_GERMAN_OTHERS,
    ),
    _rule(
        r"(?:das|dies\w{0,2}|ihre?|deine?|die)\b",
        r"\b(?:übersteigt|liegt ausserhalb|überschreitet|geht über|fällt nicht in"
        r"|steht mir nicht zu"
        r"|ist (?:für mich )?(?:nicht|tabu))",
        r"\b(?:mein|mir|für mich)",
    ),
    _rule(
        r"(?:dafür|hierfür|dazu|dabei|das|hier) (?:bin ich|fehlt mir|fehlen mir|kommt für mich"
        r"|steht mir)",
        r"\b(?:nicht|die|der|kein)",
    ),
    _rule(
        r"(?:ich habe|habe ich) (?:dazu |hierzu )?kein\w{0,2} (?:persönlich\w{0,2} )?(?:meinung"
        r"|möglichkeit"
        r"|befugnis"
        r"|erlaubnis|berechtigung|gefühle)"
    ),
    _rule(
        r"(?:es|das|dies|dabei|hierbei) (?:ist|wäre) mir\b",
        r"\b(?:nicht|un)\s?(?:möglich|erlaubt|gestattet)",
    ),
    _rule(
        r"(?:das|dies\w{0,2}|diese \w{1,20}|ihre? \w{1,20}|deine? \w{1,20}|die \w{1,20}) ",
        r"\b(?:verstösst|verstossen|widerspricht|verletzt)\b",
        r"\b(?:mein|unser|richtlinien|nutzungs|die richt)",
    ),
    _rule(
        r"mein\w{0,2} (?:\w{1,20})?(?:richtlinien|programmierung|vorgaben|regeln|grundsätze)\b",
        r"\b(?:nicht|verbiet|untersag|verhinder|kein)",
    ),
)

_FRENCH_HARMLESS = (
    r"(?:m'empêcher|\b(?:croire|voir|dire|trouver|déterminer|être|savoir|affirmer|attendre"
    r"|imaginer|conclure"
    r"|confirmer|distinguer|vérifier|exclure|comprendre|me plaindre|recommander|penser"
    r"|m'imaginer|décider"
    r"|prouver|oublier|me souvenir|garantir)\b)"
)
_FRENCH = (
    _rule(
        r"(?:cela |ça |c'est )?(?:je|nous) (?:ne |n')(?:\w{1,3} )?"
        r"(?:peux|puis|pourrai|pourrais|vais|veux|souhaite|saurais|dois|pouvons|pourrons) "
        r"(?:malheureusement |vraiment |donc |hélas )?(?:pas|point|plus|ni|en aucun cas)?\b",
        harmless=_FRENCH_HARMLESS,
        reach=16,
    ),
    _rule(r"je (?:ne |n')(?:peux|puis|saurais|le ferai|ferai) pas(?: cela| ça)?$"),
    _rule(
        r"je (?:ne |n')?(?:suis|serai) (?:malheureusement )?pas (?:\w{1,12} )?(?:en mesure"
        r"|autorisée?|capable"
        r"|habilitée?|programmée?|conçue?|disposée?|apte|à l'aise|prête?|là pour)"
    ),
    _rule(r"(?:je|j')(?: ne)? ?(?:suis incapable|suis dans l'incapacité)"),
    _rule(
        r"(?:je|j')(?: me)? ?(?:dois|vais|préfère|préfèrerais|préférerais|suis obligée? de|souhaite"
        r"|suis contrainte? de|me vois)",
        r"(?:refuser|décliner|m'abstenir|ne pas|rejeter)",
    ),
    _rule(r"je (?:refuse|décline|m'abstiens)\b"),
    _rule(
        r"je (?:ne |n')(?:\w{1,3} )?(?:réponds|donne|fournis|écris|rédige|participe|discute"
        r"|aborde|crée"
        r"|génère|écrirai|rédigerai|aiderai|répondrai|fournirai|donnerai|participerai|ferai"
        r"|produirai"
        r"|traiterai|générerai|créerai|commenterai) (?:pas|jamais|plus|aucun)\b"
    ),
    _rule(
        r"(?:ce|cela|ça|c'est|il|votre|cette|le sujet)\b",
        r"\b(?:dépasse|sort d|ne relève pas|hors d|en dehors|ne serait pas|n'est pas (?:approprié"
        r"|quelque chose|dans)|ne fait pas partie)",
        r"\b(?:mes|mon|ma|je|moi|j')",
    ),
    _rule(
        r"je n'ai pas (?:le droit|la possibilité|l'autorisation|la capacité|d'opinion|d'avis"
        r"|vocation)"
    ),
    _rule(r"(?:j'aimerais mieux|je préférerais|j'aime mieux) ne pas\b"),
    _rule(r"je (?:ne |n')(?:\w{1,4} )?(?!serai|aurai|dirai|changerai)\w{2,20}rai pas\b"),
    _rule(r"je (?:suis|me vois) (?:au regret|dans l'obligation|dans l'impossibilité)"),
    _rule(r"(?:il|cela) (?:m'est|est) (?:interdit|impossible|défendu)"),
    _rule(r"impossible (?:pour moi )?de", harmless=_FRENCH_HARMLESS, reach=16),
    _rule(
        r"(?:il |cela |ça )(?:ne )?(?:m'est|m'est pas|n'est pas)",
        r"(?:impossible|possible|permis|interdit|pas possible)",
        harmless=_FRENCH_HARMLESS,
        reach=16,
    ),
    _rule(
        r"(?:cette|votre|ta|ce|cela|la) ?",
        r"\b(?:enfreint|viole|contrevient|est contraire|va à l'encontre|dépasse|ne respecte pas)\b",
        r"\b(?:mes|mon|nos|les règles|les directives|aux règles|à mes)\b",
    ),
    _rule(r"mes (?:directives|règles|principes|consignes)\b", r"(?:interdi|empêch|permettent pas)"),
)

_SPANISH_HARMLESS = (
    r"\b(?:evitar|creer|ver|decir|encontrar|determinar|estar|saber|afirmar|esperar|imaginar"
    r"|concluir"
    r"|confirmar|distinguir|verificar|excluir|entender|comprender|quejarme|recomendar|pensar"
    r"|imaginarme"
    r"|decidir|probar|olvidar|recordar|garantizar|ser|más|dejar de|asegurar)\b"
)
_SPANISH = (
    _rule(
        r"(?:eso |esto |yo )?no (?:te |le |les |os |lo |se )?"
        r"(?:puedo|podré|podría|voy a|quiero|deseo|debo|podemos|me es posible|me está permitido"
        r"|estoy (?:autorizad[oa]|capacitad[oa]|dispuest[oa]|en condiciones|diseñad[oa]"
        r"|programad[oa])"
        r"|soy capaz|tengo (?:permitido|permiso|la capacidad|autorización))\b",
        harmless=_SPANISH_HARMLESS,
        reach=16,
    ),
    _rule(r"no (?:puedo|debo|lo haré|voy a hacer(?:lo| eso))$"),
    _rule(
        r"(?:debo|tengo que|voy a|prefiero|me veo obligad[oa] a|he de)",
        r"(?:rechazar|declinar|negarme|abstenerme|no (?:responder|hablar|hacer|contestar"
        r"|escribir))",
    ),
    _rule(r"(?:prefiero|preferiría) no\b"),
    _rule(r"(?:yo )?soy incapaz de\b"),
    _rule(r"no (?:te |le |les |os |lo )?(?!cambi|ser|esta|habr)\w{2,20}(?:aré|eré|iré)\b"),
    _rule(
        r"no (?:te |le |les |os |lo |se )?(?:doy|ofrezco|escribo|genero|respondo|participo"
        r"|proporciono"
        r"|opino|ayudaré|escribiré|haré|responderé|generaré|daré|proporcionaré|redactaré"
        r"|participaré"
        r"|crearé|comparto|creo contenido)\b"
    ),
    _rule(
        r"no tengo (?:permitido|permiso|opini|la posibilidad|la capacidad|autorización|forma de"
        r"|manera de)"
    ),
    _rule(r"no (?:se )?me (?:permite|está permitido|corresponde|es posible|siento cómod[oa])"),
    _rule(
        r"(?:eso|esto|esta|este|tu|su|no|ese|esa|lo que)\b",
        r"\b(?:fuera de|más allá de|excede|supera|sobrepasa|sería (?:apropiado|correcto|ético"
        r"|adecuado)"
        r"|es algo)",
        r"\b(?:mis?|que (?:yo )?pued[ao]|yo|me)\b",
    ),
    _rule(r"(?:tendré|tengo) que (?:rechazar|declinar|negarme)"),
    _rule(r"(?:me niego|rechazo|declino|me abstengo)\b"),
    _rule(r"(?:me resulta|me es|es) imposible", harmless=_SPANISH_HARMLESS, reach=16),
    _rule(
        r"(?:esta|este|tu|su|la|eso|esto) ?",
        r"\b(?:infringe|viola|incumple|va en contra|vulnera|contraviene|es contrari[oa])\b",
        r"\b(?:mis|mi|nuestras|las (?:directrices|políticas|normas))\b",
    ),
    _rule(
        r"mis (?:directrices|normas|políticas|principios)\b",
        r"(?:impiden|prohíben|no (?:me )?permiten)",
    ),
)

_CHINESE_HARMLESS = (
    r"(?:相信|确定|判断|看|想象|忍|等|找到|理解|确认|肯定|得出|抱怨|推断|分辨|忘|想到|区分|保证"
    r"|排除|证明|知道"
    r"|發現|发现|认为|認為|算出|得知|改|变|更动)"
)
_CHINESE_NOT = (
    r"(?:无法|無法|不能|不可以|不会|不會|没有?办法|沒有?辦法|没法|不便|不愿|不想|不应该"
    r"|不被允许|没有权限|没有能力|不方便|不可能|很难|难以|不得|不适合|不应|不宜|不该)"
)
_CHINESE_OTHERS = r"[说說道他她它写寫問]|觉得|认为"
_CHINESE_SPEAKER = r"(?:我|本人|本模型|小助手)"
_CHINESE = (
    _rule(
        _CHINESE_SPEAKER, _CHINESE_NOT, unless=_CHINESE_OTHERS, harmless=_CHINESE_HARMLESS, reach=4
    ),
    _rule(r"(?:恕|请恕|請恕)(?:我)?(?:" + _CHINESE_NOT + r"|难以|難以|拒)"),
    _rule(_CHINESE_NOT, harmless=_CHINESE_HARMLESS, reach=4),
    _rule(_CHINESE_SPEAKER, r"(?:拒绝|拒絕|婉拒|谢绝)", unless=_CHINESE_OTHERS),
    _rule(
        _CHINESE_SPEAKER,
        r"(?:帮不|幫不|做不到|办不到|無能為力|无能为力|爱莫能助|(?:写|做|办|答|给|帮|完成|提供"
        r"|处理)不了"
        r"|没有(?:个人|自己的)?(?:观点|看法|立场|意见))",
        unless=_CHINESE_OTHERS,
    ),
    _rule(r"(?:帮不了|爱莫能助|无能为力|恕难从命|无可奉告|不予回答)"),
    _rule(
        r"(?:这|這|该|該|您的|你的|此)",
        r"(?:违反|違反|超出|不符合|违背|不在|不属于)",
        r"(?:我的|我们的|准则|準則|政策|规定|能力范围|使用规范|服务范围|範圍|范围|原则|规则)",
    ),
)

_JAPANESE_OTHERS = (
    r"(?<![にてと私方ら望頼問容れの件ト報話言為成供章答応])[はが](?=[^はが]{0,30}[をに])"
)
"""A topic or subject that is neither the speaker nor the request."""
_JAPANESE_CANNOT = (
    r"(?:(?:する|行う|いたす)?ことは?が?)?(?:は)?(?:でき(?:ません|かねます|ない)|出来(?:ません"
    r"|かねます|ない)"
    r"|(?:いたし|致し)かねます|しかねます|不可能です)(?!でした)"
)
_JAPANESE = (
    _rule(
        r"(?:お応え|お答え|お手伝い|ご協力|協力|対応|提供|回答|支援|サポート|ご案内|お教え|作成"
        r"|生成|執筆"
        r"|翻訳|説明|助言|アドバイス|ご提案|お受け|応答|議論|実行|処理|開示|ご要望に沿う|お伝え"
        r"|お話し?|ご支援"
        r"|ご説明|ご対応|ご回答|お引き受け|お渡し|お見せ|コメント|参加|関与|要約|共有|公開|診断"
        r"|推奨"
        r"|ご紹介)"
        r"(?:を)?(?:し|する|いたす)?" + _JAPANESE_CANNOT,
        unless=_JAPANESE_OTHERS,
    ),
    _rule(
        r"(?:答え|応え|応じ|教え|書く|書い|手伝う|手伝え|お話し|述べ|話す|作る|従う|従え|続ける"
        r"|行う|行え|伝え|受け入れ"
        r"|引き受け|語る|承れ|渡す|示す|演じる|務める)"
        r"(?:る)?(?:られ|ら)?(?:ません|れません|ことは?が?(?:でき|出来)(?:ません|ない)"
        r"|かねます)(?!でした)",
        unless=_JAPANESE_OTHERS,
    ),
    _rule(
        r"(?:お役に立て|力になれ|期待に添え|添いかね|要望には?添え|沿いかね|期待に沿え"
        r"|要望には?沿え|(?:協力|回答|提供|対応|支援|お手伝い)は?(?:いた)?し)(?:ません|かねます"
        r"|ない)"
    ),
    _rule(
        r"(?:意見|感情|見解|立場)(?:は|を|が)?",
        r"(?:持っていません|持ちません|ありません|控え)",
        unless=_JAPANESE_OTHERS,
    ),
    _rule(r"(?:それは|これは|その件は|残念ながら)?(?:でき|出来)(?:ません|かねます)$"),
    _rule(
        r"(?:差し控え|控え(?:させ|ます)|ご遠慮|遠慮させ|お断り|断らせ|拒否いた|拒否させ|辞退"
        r"|見送らせ)",
        unless=_JAPANESE_OTHERS,
    ),
    _rule(
        r"(?:^|.)(?:これら|それ|そのよう|この|その|こちら|ご\w|お\w|私"
        r"|当方)[^はがを]{0,12}[はがを]?",
        r"(?:でき|出来)(?:ません|ない|かねます)|(?:いた)?しません|(?:いたし|し)かねます",
        unless=_JAPANESE_OTHERS,
        harmless=r"でした",
        reach=4,
    ),
    _rule(
        r"(?:ガイドライン|ポリシー|規約|方針|倫理)",
        r"(?:違反|反し|反する|許可されて|認められて)",
        unless="」",
    ),
)

RULES: tuple[Rule, ...] = (*_ENGLISH, *_GERMAN, *_FRENCH, *_SPANISH, *_CHINESE, *_JAPANESE)
