"""Full stops after which a sentence goes on, in all languages at once: ``am 3. März``, ``art. 5``, ``ул. Ленина``.

There is one list for all languages, and no option: a word is in it only if it hardly ever ends a sentence in another
language. So ``re.``, which is right in German notes, is not: it is a king in Italian. Nor is ``sig.``, a title in
Italian and "himself" in Danish. Before a number more words are safe, since few sentences start with one. In doubt a
sentence goes on: two sentences in one cost little, but a mention that is cut in two is lost.

Words are compared as they are written. English titles are words together with their stop, and are not here.
"""

import re
import unicodedata

# After these a sentence goes on, whatever follows.
_ALWAYS = frozenset(
    str.split(
        # German, Dutch, the North
        "Hr Fr Frl Dipl Mio Mrd Tsd bzw vgl evtl ggf inkl exkl zzgl einschl sog bspw geb verh tgl wg bek Bek Az Fa cf "
        "dhr mevr drs bijv zgn resp frk fru Skt Kgl dvs bl bl.a t.ex f.eks jf fhv esim toim "
        # Spanish, Portuguese, French, Italian, Romanian
        "Sra Srta Sras Sres Dra Dña Ud Uds Vd Lic Ing Arq Av Avda Gral Cnel Sta Sto Mons Excmo Ilmo Profa Eng Exmo "
        "Exma EE séc cfr Pe Mme Mmes Mlle Mgr Sig Sigg Dott Avv Geom Spett dott avv ing geom aprox Cód Dl Dna jud Sf "
        "Gh "
        # Czech, Polish, Hungarian, Turkish
        "Bc JUDr MUDr PhDr RNDr nám např tzv sv ks ul św Św np zob tj tzn kb pl płk ppłk kpt inż mgr im prof ifj özv "
        "Özv Szt Doç Yrd Sn Hz Mah Cad Sok örn bkz "
        # Indonesian, Vietnamese, Swahili
        "drg Jl Jend Kab Kec Bpk Sdr Tn Ny Yth TS ThS PGS GS TP Tp Dkt Bw Bi Mhe "
        # Russian, Ukrainian, Bulgarian
        "ул пл пер просп бул бульв наб пос дер обл тов акад проф доц инж им ім св Св гр вул пров смт буд гл напр мас "
        "об "
        # Arabic, Greek, Hindi, Bengali
        "د أ κα Δρ αρ οδ δηλ βλ Αγ Λεωφ λεωφ डॉ डा प्रो पं स्व ড ডা মো অ্যাড"
    )
)
# After these it does before a number.
_BEFORE_NUMBER = frozenset(
    str.split(
        "n blz Q P uk бл पृ Mo Di Mi Do Sa So art Art Abs abs Nr nr Nrn Bd Tel tel Tlf Fax Kap Abb Tab Rn Rz Ziff Zyl "
        "ca cca env kl klo núm nro Nro pág págs pag p pp s str Str č čp čj čl odst písm obr sv sz al alin poz ust pkt "
        "par parág pos Pos ods approx ep Ep ch Cap ref Ref gr nº L R S Pac sh Sh Na hlm Rp No ст ч п пп кв кл л стр "
        "рис Рис табл Табл Т ок тел тыс чл ал бр ред άρθ παρ σελ τηλ Τηλ Αρ εκ ν सं रु नं নং পৃ ص س ف ج"
    )
)
# After these it does if there is no number before them: «г. Москва», but «в 2009 г. Он», and "after 5 hr. The".
_AFTER_NO_NUMBER = frozenset(str.split("г р с д о т м κ hr fr dr MM см"))
_PAIRS = frozenset({"d h", "u a", "z B", "z T", "p ej", "т е", "т к", "т н"})

_ORDINAL = re.compile(
    "Jan(?:uar)?|Jänner|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni|Juli|Aug(?:ust)?|Sept(?:ember)?|Okt(?:ober)?|Nov(?:ember)?"
    "|Dez(?:ember)?|Jahrhunderts?|Jahrtausends?|Jhs?|Weltkriegs?|Auflage|Lebensjahrs?|Geburtstag|Spieltag|Bundesliga"
    "|Stock|OG|UG|NP|PP|Dünya|Ağır|Asliye|Sulh|İcra|Hukuk|Ceza|Lig|Cadde|Sokak|Cumhurbaşkanı"
)
_ROMAN = re.compile("[IVX]+")
# In German a number after one of these is an ordinal, unless a sentence seems to start after it.
_BEFORE_ORDINAL = frozenset(str.split("vom zum beim im dem des der das den bis seit ab ins zur"))
_STARTS = re.compile("D(?:er|ie|as|ann|ort|och|a|en|em)|E[rs]|Sie|Wir|Ich|Ein(?:e[rmns]?)?|I[nm]|A[mn]|Bei|Nach|Auch")


def goes_on(text: str, sentence: list[tuple[int, int]], following: tuple[int, int]) -> bool:
    """Tell whether a sentence goes on after the full stop that is its last word so far, before the `following` word."""
    stop = sentence[-1][0]
    if len(sentence) < 2 or sentence[-2][1] != stop:
        return False
    word, after = text[sentence[-2][0] : stop], text[slice(*following)]
    before = text[slice(*sentence[-3])] if len(sentence) > 2 else ""
    if not (word.isascii() and after.isascii()):
        if "\u0e00" <= word[-1] <= "\u0eff":
            return True  # Thai and Lao have full stops in abbreviations alone
        word, after = unicodedata.normalize("NFC", word), unicodedata.normalize("NFC", after)
    is_pair = before == "." and len(sentence) > 3 and f"{text[slice(*sentence[-4])]} {word}" in _PAIRS
    if word in _ALWAYS or is_pair or after[0] in "%‰":
        return True
    if word in _AFTER_NO_NUMBER:
        return not before[-1:].isdigit() and before != "/"  # 5 г, мкг/г
    beyond = text[following[1] : following[1] + 1]
    if after[0].isdigit():
        is_date = word.isdigit() and len(word) < 3 and beyond == "." and "\n" not in text[stop : following[0]]  # 5. 3.
        return is_date or word in _BEFORE_NUMBER or word.endswith("str")
    if word.isdigit() or _ROMAN.fullmatch(word):
        is_german = word.isdigit() and before in _BEFORE_ORDINAL and not _STARTS.fullmatch(after)
        return len(word) <= 3 and (is_german or _ORDINAL.fullmatch(after) is not None)
    is_letter = len(after.rstrip(".")) == 1 and after[0].isalpha() and (after + beyond)[1:2] == "."
    return is_letter and len(word) == 1 and word.isalpha()  # z. B., o. Ä., a. C.
