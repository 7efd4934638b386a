"""What politeness puts before a refusal, such as "unfortunately" or "as an AI"."""

from __future__ import annotations

import re

_MACHINE = (
    r"(?:(?:large |artificial |virtual |digital |responsible |helpful |harmless )?"
    r"(?:ai|a\.i\.|language model|intelligence|assistant|chatbot|llm)(?:[- ]?based)?"
    r"(?: language)?(?: model| assistant| system| chatbot)?)"
)
LEADS = re.compile(
    # English
    r"(?:(?:and|but|so|yet|however|unfortunately|sadly|regrettably|honestly|therefore|thus|also"
    r"|because of this|for this reason|for (?:\w{3,12} ){1,2}reasons|as such|that said"
    r"|that being said|at this time|no$|well|hi"
    r"|hello|hey|hmm+|thanks|thank you|please note|note|okay|ok|sure|right|understood|apologies"
    r"|my apologies|(?:i'm|i am|we're|we are)? ?(?:very |so |really |truly |deeply )?sorry"
    r"|i'm afraid|i am afraid|i apologi[sz]e|i regret(?: to (?:say|inform you))?"
    r"|(?:it )?(?:looks|seems|appears) like|i understand|i appreciate (?:it|that)"
    rf"|(?:as|being|since i'm|since i am|because i'm|because i am|i'm|i am) (?:just "
    rf"|only )?an? {_MACHINE}(?: (?:developed|created|designed|trained|made|built) [^,.]{{0,50}})?"
    # German
    r"|\w{2,16}erweise|es tut mir (?:sehr |wirklich |aufrichtig )?leid|tut mir (?:sehr )?leid"
    r"|leider|entschuldigung"
    r"|entschuldige|entschuldigen sie(?: bitte)?|verzeihung|sorry|bedauerlicherweise|nein|hallo"
    r"|aus \w{0,20}gründen|ich bedauere|ich bedaure|aber|doch|jedoch|daher|deshalb|danke"
    r"|als (?:eine? )?(?:grosses )?(?:kuenstliche intelligenz|künstliche intelligenz"
    r"|ki(?:-\w{1,20}){0,2}|sprachmodell|assistent)"
    # French
    r"|(?:je suis |je regrette|)(?:vraiment |sincèrement |)(?:désolée?|navrée?)|malheureusement"
    r"|pour des (?:raisons|motifs) (?:de |d')?\w{3,14}|hélas|excusez-moi|pardon|c'est pourquoi"
    r"|mais|cependant|toutefois|hélas|\w{2,14}eusement|je regrette"
    r"|non$|bonjour|merci"
    r"|toutes mes excuses|je m'excuse"
    r"|en tant qu(?:e |')(?:une? )?(?:grand )?(?:modèle(?: de langage)?|ia"
    r"|intelligence artificielle"
    r"|assistante?(?: virtuel(?:le)?| ia)?)(?: d'ia)?"
    # Spanish
    r"|lo siento(?: mucho)?|lo lamento|(?:mis |te pido |le pido )?disculpas?|disculpe|perdón"
    r"|perdona|por (?:motivos|razones) (?:de )?\w{3,14}"
    r"|lamentablemente|desafortunadamente|por desgracia|me temo que|pero|por eso|sin embargo|hola"
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
