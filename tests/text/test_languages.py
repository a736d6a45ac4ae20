"""Words and sentences of many languages, each with its own cases; and what holds in all of them."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handful.text import to_sentences
from handful.text._markup import parse_marks
from handful.text._words import word_offsets

from .strategies import modest

CORPORA = Path(__file__).parents[2] / "corpora" / "mosaic_languages"


def words(text):
    return "|".join(text[start:end] for start, end in word_offsets(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # elision, and names that have one in English text
        ("Dans l'école d’Yeu, c'est qu'il a jusqu'à 5", "Dans|l'|école|d’|Yeu|,|c'|est|qu'|il|a|jusqu'|à|5"),
        ("L'Agence et l'État aujourd'hui", "L'|Agence|et|l'|État|aujourd'hui"),
        ("Dell'Orto è all'Avis, c'è un'altra", "Dell'Orto|è|all'|Avis|,|c'|è|un'|altra"),
        ("the Côte d'Ivoire team and L'Oréal", "the|Côte|d'Ivoire|team|and|L'Oréal"),
        ("L'Oréal O'Brien D'Angelo don't ma'am o'clock", "L'Oréal|O'Brien|D'Angelo|don't|ma'am|o'clock"),
        ("see http://x.org/l'école now", "see|http://x.org/l'école|now"),
        # Turkish endings
        ("Ankara'da İzmir’den Çorlu'ya 2024'te %3,8'i", "Ankara|'da|İzmir|’den|Çorlu|'ya|2024|'te|%|3,8|'i"),
        ("Türkiye'nin Ali'yi Atatürk'ün THY'nin", "Türkiye|'nin|Ali|'yi|Atatürk|'ün|THY|'nin"),
        ("Hawai'i Sana'a Qur'an Shi'a Xi'an", "Hawai'i|Sana'a|Qur'an|Shi'a|Xi'an"),
        ("Helsingissä Sallassa talo-osakeyhtiö", "Helsingissä|Sallassa|talo-osakeyhtiö"),
        # Korean particles
        ("서울에서 김철수가 부산으로 갔다.", "서울|에서|김철수|가|부산|으로|갔다|."),
        ("지리산은 학교를 서울로 부산까지", "지리산|은|학교|를|서울|로|부산|까지"),
        ("종이 나이 만 원 하는", "종이|나이|만|원|하는"),
        ("GS25에서 CPU를 2.5mg으로", "GS25|에서|CPU|를|2.5mg|으로"),
        ("#서울에서 @한국은", "#서울에서|@한국은"),
        # no spaces between words
        ("東京タワーでiPhone15を3台", "東|京|タ|ワ|ー|で|iPhone15|を|3|台"),
        ("app-07的CPU持续打满", "app-07|的|CPU|持|续|打|满"),
        ("เกาะสมุย", "เกาะ|ส|มุ|ย"),
        ("ศุกร์ที่ 5 ม.ค. ๒๕๖๗", "ศุ|กร์|ที่|5|ม.ค.|๒๕๖๗"),
        ("พ.ต.อ.วีระชัย สภ.เลย", "พ.ต.อ.|วี|ระ|ชั|ย|ส|ภ|.|เล|ย"),
        ("ລາວ ແລະ ນ້ຳ", "ລາ|ວ|ແລະ|ນ້ຳ"),
        ("ភាសាខ្មែរ។", "ភា|សា|ខ្មែ|រ|។"),
        ("မြန်မာစာ။", "မြန်|မာ|စာ|။"),
        # Arabic and Hebrew
        ("قال: هل وصلت؟ نعم", "قال|:|هل|وصلت|؟|نعم"),
        ("٣٬٥٠٠٫٥ ريال و35 قناةBBC", "٣٬٥٠٠٫٥|ريال|و|35|قناة|BBC"),
        ('ד"ר כהן מצה"ל, 27,000 ש"ח', 'ד"ר|כהן|מצה"ל|,|27,000|ש"ח'),
        ("ב-1998 ה-BBC תל-אביב עמ' 5 ג'ורג", "ב|-|1998|ה|-|BBC|תל-אביב|עמ'|5|ג'ורג"),
        ('אמר "שלום" ויצא', 'אמר|"|שלום|"|ויצא'),
        ("می\u200cخواهم کریم\u200cزاده را", "می\u200cخواهم|کریم\u200cزاده|را"),
        # digits, marks
        ("१२,३४५ रुपये १५:३०", "१२,३४५|रुपये|१५:३०"),
        ("О\u0301льга м'яч п’ять", "О\u0301льга|м'яч|п’ять"),
        ("Š. Novák É. Zola", "Š.|Novák|É.|Zola"),
    ],
)
def test_words_of_languages(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Das Urteil vom 14. März 2022 nach § 812 Abs. 1 BGB steht.",
        "Er schoss mit dem 231. Schuss im 18. Jahrhundert auf S. 12.",
        "Wir nahmen z. B. Äpfel u. a. Birnen mit.",
        "Das kostete 198,7 Mio. Euro bei Hr. Meier und Fr. Lang.",
        "Aux termes de l'article L. 1235-3 et de l'art. 5, Mme. Durand gagne.",
        "Por p. ej. Madrid, el Sr. García y la Sra. López, pág. 7.",
        "La Dra. Lima mora na Av. Paulista, nº. 5.",
        "Il sig.ra Dott. Rossi, art. 3.",
        "Жил на ул. Ленина в г. Москва, т. е. Россия, ст. 111 УК.",
        "Лікар на вул. Шевченка, буд. 5, ім. Франка.",
        "Сто лв. на бул. Витоша.",
        "Zgodnie z art. 535 k.c. na ul. Długiej ks. Jan.",
        "Na ul. 5 v 5. NP podle č. 2.",
        "Özv. Nagy, sz. 1931, ifj. Kovács.",
        "Kampen starter kl. 14.30 hos Hr. Jensen den 3. maj.",
        "Maaliskuun 10. päivään klo. 12.",
        "Atatürk Cad. No: 5, 2. Dünya Savaşı, Prof. Dr. Ayşe.",
        "Dkt. Halima na Bi. Asha, sh. 500.",
        "Ông ở TP. Hồ Chí Minh, TS. Nam.",
        "Di Jl. Sudirman, Bpk. Ahmad.",
        "Ο κ. Παπαδόπουλος στο αρ. 5.",
        "डॉ. लोहिया और पं. नेहरू।",
        "ড. ইউনূস এসেছেন।",
        "0,3 мас. % повышает модуль.",
        "ค่าเหนื่อย 45 บ. ขึ้นดอย",
        "Am Mo. 5. April kam der Chef der Fa. Krause, am 5. 3. ging er.",
        "MM. Durand, cf. Rousseau, et Vers 50.",
        "Vive en EE. UU. desde el siglo I a. C. según él.",
        "Rossi, n. 5, cfr. Verdi, no séc. XX, blz. 12.",
        "Św. Jan, zob. Kowalski, np. Jan, tj. Warszawa, sv. Václav.",
        "Ez kb. 5 fő, pl. Budapest, kb. 5, bl.a. Hansen, t.ex. Den, f.eks. Oslo.",
        "А. С. Пушкин, см. Рис. 5, бл. 5.",
        "قال د. أحمد و أ. د. سعيد",
    ],
)
def test_a_sentence_goes_on_after_an_abbreviation_or_an_ordinal(text):
    assert [sentence.text for sentence in to_sentences(f"{text} ")] == [text]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("هل وصلت؟ نعم وصلت.", 2),
        ("वह गया। वह आया॥ अंत", 3),
        ("今日は。東京！「はい。」いいえ", 4),
        ("你好？“好。”他说", 3),
        ("Πού είναι; Δεν ξέρω.", 2),
        ("Oft; Aber nicht.", 1),
        ("ភាសា។ខ្មែរ", 2),
        ("မြန်။မာ", 2),
        ("Er wurde 1984. Geboren in Ulm.", 2),
        ("В 2009 г. Он уехал.", 2),
        ("Er ist 27. Der Hund bellt.", 2),
        ("I am 27. She is old.", 2),
        ("Han vaskede sig. Derefter sov han.", 2),
        ("È il re. Il popolo.", 2),
        ("Bei 148 °C. Danach 12 V. Ende", 3),
        ("Tiêu đề. Nội dung", 2),
        ("¿Qué? ¡Sí! No.", 3),
        ("Հայ։ Նոր", 2),
        ("Рост 180 см. Он сильный.", 2),
        ("Было 12,4 мкг/г. Он ушёл.", 2),
        ("It is 5.\n3. Next", 3),
    ],
)
def test_a_sentence_ends(text, n):
    assert len(to_sentences(text)) == n


def test_the_borders_of_words_fit_the_marks_of_all_corpora():
    wrong, n_marks, languages = [], 0, set()
    for path in sorted(CORPORA.glob("*/*.txt")):
        languages.add(path.name[:2])
        for line in path.read_text(encoding="utf-8").splitlines():
            text, marks = parse_marks("" if line.startswith("# ") else line)
            offsets = word_offsets(text)
            starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
            n_marks += len(marks)
            wrong += [text[a:b] for a, b, *_ in marks if a not in starts or b not in ends]
    assert len(languages) == 32
    assert (wrong, n_marks) == ([], 15_794)  # docs/formats.md says so


# Letters, marks and signs of the languages, so that rules meet.
PIECES = st.sampled_from(
    [
        *"aeéIlLdDsSñßøşıİ'’\"״׳.,;:-–/&@#%°0159٣१๕ \n",
        *("l'", "qu'", "dell'", "'da", "'nın", "Ankara", "é", "ệ", "ő", "d'É", "z. B.", "3. März", "ул. ", "S. 12"),
        *("에서", "은", "서울", "가", "로", "ב", "ש״ח", "תל", "و", "ـ", "کر\u200cد", "க்", "ड़", "डॉ.", "ো"),
        *("เ", "ก", "ร์", "ำ", "า", "ກ", "ຳ", "ក", "្", "မြ", "န်", "္", "が", "東", "。", "ー", "\u0301", "\u3099"),
        *("й", "ї", "ё", "Й.", "ά", ";", "http://", "www.", "x.org", "👍🏽", "🇫🇷", "\u200b", "\u200d", "\u00a0"),
    ]
)
texts = st.lists(PIECES, max_size=25).map("".join)


@given(texts)
@modest
def test_nothing_is_lost(text):
    offsets, position = word_offsets(text), 0
    for start, end in offsets:
        assert position <= start < end
        assert not text[position:start].strip("\u200b\u200d\u200c\u00a0 \n")
        position = end
    assert not text[position:].strip("\u200b\u200d\u200c\u00a0 \n")
    found = to_sentences(text)
    assert [(s.offset + a, s.offset + b) for s in found for a, b in s.offsets] == offsets
    for sentence in found:
        assert all(sentence.text[a:b] == word for (a, b), word in zip(sentence.offsets, sentence.words, strict=True))


@given(texts)
@example("l'İs")
@modest
def test_composed_and_decomposed_text_have_the_same_words(text):
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    as_composed = [unicodedata.normalize("NFC", decomposed[a:b]) for a, b in word_offsets(decomposed)]
    assert as_composed == [composed[a:b] for a, b in word_offsets(composed)]
    n_words = [len(sentence.words) for sentence in to_sentences(composed)]
    assert [len(sentence.words) for sentence in to_sentences(decomposed)] == n_words
