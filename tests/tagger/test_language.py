"""Text that is hardly English is noticed; English of any kind raises no alarm."""

import pytest

from handful.tagger._watch import LanguageWatch
from handful.text import to_sentences

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


@pytest.mark.parametrize("language", FOREIGN)
def test_other_languages_are_noticed_once(language):
    watch = LanguageWatch()
    sentences = to_sentences(FOREIGN[language])
    alarms = [watch.is_hardly_english(sentences) for _ in range(8)]  # as they come in, a text at a time
    assert alarms.count(True) == 1


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_raises_no_alarm(kind):
    watch = LanguageWatch()
    sentences = to_sentences(ENGLISH[kind])
    assert not watch.is_hardly_english(sentences)
    assert not any(watch.is_hardly_english([sentence]) for sentence in sentences)


def test_a_foreign_stretch_late_in_a_stream_is_noticed():
    watch = LanguageWatch()
    for _ in range(50):
        assert not watch.is_hardly_english(to_sentences(ENGLISH["news"]))
    assert any(watch.is_hardly_english(to_sentences(FOREIGN["German"])) for _ in range(60))
