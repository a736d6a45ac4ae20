"""What results look like in a notebook."""

import copy
import json
import pickle
from html.parser import HTMLParser

from hypothesis import given

from handful.text import Document, Predictions, PredictionsOfTexts, Sentence, Span

from .strategies import text_sentences

SENTENCE = Sentence(("Slugs", "&", "<b>snails</b>"), (Span(0, 1, "PEST", 0.5), Span(2, 3, "A<B")))
DOCUMENT = Document.of(SENTENCE)


class Shown(HTMLParser):
    """What a reader sees, the marked words among it, and the tags that were used."""

    def __init__(self, html):
        super().__init__()
        self.text, self.marks, self.tags, self._path = "", [], set(), []
        self.feed(html)
        self.close()
        assert not self._path

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._path.append(tag)
        if tag == "mark":
            self.marks.append("")

    def handle_endtag(self, tag):
        assert self._path.pop() == tag

    def handle_data(self, data):
        if "small" not in self._path:
            self.text += data
            if "mark" in self._path:
                self.marks[-1] += data


def test_documents_sentences_and_predictions_show_the_same():
    shown = DOCUMENT._repr_html_()
    assert Shown(shown).text == "Slugs & <b>snails</b>"
    assert Shown(shown).marks == ["Slugs", "<b>snails</b>"]
    assert Shown(shown).tags == {"div", "mark", "small"}
    assert 'title="PEST 0.50"' in shown
    assert "A&lt;B</small>" in shown
    assert SENTENCE._repr_html_() == shown
    assert DOCUMENT.predictions()._repr_html_() == shown.replace(
        '22%)">&lt;b', '22%)" title="A&lt;B 1.00">&lt;b'
    )  # a label counts 1


@given(text_sentences())
def test_any_text_is_shown_whole_and_escaped(sentence):
    document = Document.of(sentence)
    for shown in (document._repr_html_(), document.predictions()._repr_html_(), sentence._repr_html_()):
        found = Shown(shown)
        assert found.tags <= {"div", "mark", "small"}
        assert found.text == document.text.replace("\r\n", "\n").replace("\r", "\n") or found.text == document.text
        assert len(found.marks) == len(document.predictions())


def test_colours_are_by_type_and_not_by_place():
    found = PredictionsOfTexts([Document.of(SENTENCE).predictions(), DOCUMENT.predictions()[:0]])
    assert found._repr_html_() is None  # a slice is a plain list, and has no text
    one, two = (Document.of(Sentence(("a",), (Span(0, 1, kind),))).predictions() for kind in "XY")
    both = PredictionsOfTexts([two, one])._repr_html_()
    assert both.count("hsl(205 75%") == both.count("hsl(28 75%") == 1
    assert both.index("hsl(28") < both.index("hsl(205")


def test_many_texts_are_cut():
    found = PredictionsOfTexts([DOCUMENT.predictions()] * 1_030)
    assert found._repr_html_().count("<mark") == 2 * 25
    assert "… and 1,005 more" in found._repr_html_()
    assert "more" not in PredictionsOfTexts([DOCUMENT.predictions()] * 25)._repr_html_()
    assert PredictionsOfTexts()._repr_html_() == ""


def test_they_are_lists_still():
    found = DOCUMENT.predictions()
    plain = list(found)
    assert found == plain
    assert repr(found) == repr(plain)
    assert json.dumps(found) == json.dumps(plain)
    assert PredictionsOfTexts([found]) == [plain]
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (again, again.text, type(again)) == (plain, DOCUMENT.text, Predictions)


def test_a_list_that_was_changed_is_shown_as_far_as_it_can_be():
    found = DOCUMENT.predictions()
    found.append({"entity_group": "PEST", "score": 0.1, "word": "Slugs &", "start": 0, "end": 7})
    found.append({"entity_group": "PEST", "score": 0.1, "word": "?", "start": 90, "end": 95})
    assert Shown(found._repr_html_()).text == DOCUMENT.text
    assert len(Shown(found._repr_html_()).marks) == 3
