"""Text in a language that the encoder does not know is noticed at its first lines; English raises no alarm."""

import pytest

from handful import Tagger
from handful.encoders.languages import choose, languages_of
from handful.errors import HandfulWarning
from handful.text import Sentence, to_sentences
from handful.text.languages import NAMES, LanguageNotice, evidence, guess_language

# A few plain sentences each, our own.
FOREIGN = {
    "German": "wir sind heute morgen mit dem zug nach hause gefahren und haben unterwegs viele freunde getroffen, "
    "die auch in der stadt waren. dort gab es einen markt, auf dem man brot, käse und obst kaufen kann.",
    "French": "nous avons pris le train ce matin pour rentrer à la maison et nous avons vu beaucoup de monde dans "
    "la ville. il y a un marché où on peut acheter du pain, du fromage et des fruits.",
    "Spanish": "esta mañana tomamos el tren para volver a casa y vimos a mucha gente en la ciudad. hay un mercado "
    "donde se puede comprar pan, queso y fruta, pero no tenemos tiempo para ir.",
    "Italian": "questa mattina abbiamo preso il treno per tornare a casa e abbiamo visto molta gente in città. c'è "
    "un mercato dove si può comprare pane, formaggio e frutta, ma non abbiamo tempo.",
    "Dutch": "wij zijn vanmorgen met de trein naar huis gegaan en hebben onderweg veel vrienden gezien. er is een "
    "markt waar je brood, kaas en fruit kunt kopen, maar daar hadden wij geen tijd voor.",
    "Swedish": "vi tog tåget hem i morse och såg många vänner på vägen. det finns en marknad där man kan köpa bröd, "
    "ost och frukt, men vi hade ingen tid att gå dit i dag.",
    "Finnish": "menimme aamulla junalla kotiin ja näimme matkalla paljon ystäviä. kaupungissa on tori, josta voi "
    "ostaa leipää, juustoa ja hedelmiä, mutta meillä ei ollut aikaa käydä siellä.",
    "Turkish": "bu sabah trenle eve döndük ve yolda birçok arkadaşımızı gördük. şehirde ekmek, peynir ve meyve "
    "alınabilen bir pazar var ama oraya gitmek için zamanımız yoktu.",
    "Polish": "rano pojechaliśmy pociągiem do domu i po drodze spotkaliśmy wielu przyjaciół. w mieście jest targ, "
    "na którym można kupić chleb, ser i owoce, ale nie mieliśmy czasu.",
    "Indonesian": "tadi pagi kami naik kereta pulang ke rumah dan bertemu banyak teman di jalan. di kota ada pasar "
    "tempat orang membeli roti, keju dan buah, tetapi kami tidak punya waktu.",
    "Russian": "утром мы поехали домой на поезде и встретили по дороге много друзей.",
    "Greek": "το πρωί πήραμε το τρένο για το σπίτι και είδαμε πολλούς φίλους.",
    "Chinese": "今天早上我们坐火车回家，路上遇到了很多朋友。城里有一个市场，可以买到面包、奶酪和水果，"
    "但是我们没有时间去那里看一看，所以明天再去，下午我们在家里吃饭，喝茶。",
    "Arabic": "ذهبنا صباح اليوم إلى البيت بالقطار ورأينا في الطريق كثيرا من الأصدقاء في المدينة.",
    "Hindi": "आज सुबह हम रेलगाड़ी से घर गए और रास्ते में बहुत से दोस्तों से मिले जो शहर में रहते हैं।",
}

ENGLISH = {
    "news": "The talks ended on Tuesday without a deal, and officials who were there said that more would follow. " * 8,
    "tweets": "omg cant wait 4 tmrw!! gonna b lit @sam_99 lol. u comin or nah? my bro says its sold out tho. " * 8,
    "names": "Paul Smith, Zoë Müller, Jean-Luc Dupont, Søren Åkesson, María Núñez, Łukasz Żak, Nguyễn Thị Lan. " * 40,
    "places": "Paris Berlin São Paulo Zürich Kraków Reykjavík Đà Nẵng Москва Athens. " * 40,
    "short": "Guten Morgen, wir sind heute mit dem Zug nach Hause gefahren.",
    "formula": "The angle θ and the rates α, β, γ are set so that λ is small, as Δx and Σx show for all of n. " * 9,
    "recipe": "2 cups flour, 1 cup sugar, 3 eggs; mix the flour with the sugar, add eggs, bake for 30 minutes. " * 9,
    "upper": "BREAKING NEWS FROM LONDON: PRICES UP AGAIN, SAYS THE BANK. " * 40,
    "emoji": "🎉🎉🎉 ❤️❤️ 😂😂😂 " * 60,
    "numbers": "3.5 4.5 10 20 30 -- 12:30 $5 " * 60,
}


CODES = {name: code for code, name in NAMES.items()}


@pytest.mark.parametrize("language", FOREIGN)
def test_other_languages_are_noticed_at_once_and_named(language):
    sentences = to_sentences(FOREIGN[language])
    assert LanguageNotice(["en"])(sentences * 3) == CODES[language]
    assert guess_language(sentences) == CODES[language]
    assert LanguageNotice(["en", CODES[language]])(sentences * 4) is None


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_raises_no_alarm(kind):
    notice = LanguageNotice(["en"])
    sentences = to_sentences(ENGLISH[kind])
    assert notice(sentences) is None
    assert [notice([sentence]) for sentence in sentences] == [None] * len(sentences)


def test_a_foreign_stretch_late_in_a_stream_is_noticed():
    notice = LanguageNotice(["en"])
    for _ in range(50):
        assert notice(to_sentences(ENGLISH["news"])) is None
    assert "de" in [notice(to_sentences(FOREIGN["German"])) for _ in range(3)]


@pytest.mark.parametrize("language", FOREIGN)
def test_one_sentence_among_english_ones_is_not_the_language_of_the_text(language):
    notice = LanguageNotice(["en"])
    for _ in range(5):
        assert notice(to_sentences(ENGLISH["news"])) is None
        assert notice(to_sentences(FOREIGN[language])[:1]) is None
    assert CODES[language] in [notice(to_sentences(FOREIGN[language])) for _ in range(3)]


def test_english_is_noticed_where_only_german_is_known():
    assert LanguageNotice(["de"])(to_sentences(ENGLISH["news"])) == "en"


def test_long_words_are_not_remembered():
    """A stranger may send any number of them."""
    n_before = evidence.cache_info().currsize
    LanguageNotice(["de"])([Sentence(("a" * 1_000, "the", "é" * 51))])
    assert evidence.cache_info().currsize <= n_before + 1


def test_the_encoder_that_knows_the_language_is_chosen():
    encoders = {"handful-en": ("en",), "of-the-north": ("da", "sv"), "of-the-south": ("it", "es")}
    for language, encoder in {"Swedish": "of-the-north", "Italian": "of-the-south", "Hindi": "handful-en"}.items():
        assert choose(to_sentences(FOREIGN[language]), encoders) == encoder
    assert choose(to_sentences(ENGLISH["news"]), encoders) == choose([], encoders) == "handful-en"


def test_a_tagger_says_which_language_it_does_not_know_and_may_choose_its_encoder():
    tagger = Tagger("person, place", encoder="auto", cache=False).fit()
    assert tagger.encoder_.reference == "handful-en"
    assert languages_of(tagger.encoder_) == ("en",)
    with pytest.warns(HandfulWarning, match="the text looks like German, and handful-en knows English only"):
        tagger.predict(FOREIGN["German"])
