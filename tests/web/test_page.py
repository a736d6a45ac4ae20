"""Pages of HTML: well formed, nothing lost, nothing from elsewhere."""

import colorsys
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.text import EntityType, Sentence, Span
from handful.web import CLOSING, marked, opening

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Reads a page: the text of each sentence, and its marks."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sentences, self.marks, self.attributes = [], [], [], []
        self.labels, self.descriptions = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.attributes.append(attrs)
        if tag == "p" and attrs.get("class") == "s":
            self.sentences.append("")
        if tag == "label":
            self.labels.append(attrs)
        if tag == "dd":
            self.descriptions.append("")
        if tag == "mark":
            self.marks.append([attrs["class"], "", attrs.get("data-score")])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "dd" in self.open:
            self.descriptions[-1] += data
        if "p" in self.open and "small" not in self.open and self.sentences:
            self.sentences[-1] += data
            if "mark" in self.open:
                self.marks[-1][1] += data


def page(*sentences, types=("PER", "LOC")):
    return Page(opening("A title", types) + "".join(sentences) + CLOSING)


WORDS = ("Ekeus", "heads", "for", "Baghdad", "now")
EKEUS = Sentence(WORDS, (Span(0, 1, "PER", 0.75), Span(3, 4, "LOC", 0.5)))
LABELLED = Sentence(WORDS, (Span(0, 1, "PER"), Span(3, 4, "LOC")))


def test_mentions_are_marked_with_their_scores():
    shown = page(marked(EKEUS, ["PER", "LOC"]))
    assert shown.sentences == ["Ekeus heads for Baghdad now"]
    assert shown.marks == [["t0", "Ekeus", "0.7500"], ["t1", "Baghdad", "0.5000"]]


def test_labels_have_no_scores():
    text = marked(LABELLED, ["PER", "LOC"])
    assert page(text).marks == [["t0", "Ekeus", None], ["t1", "Baghdad", None]]
    assert "data-tip" not in text


def test_wrong_and_missed_mentions_stand_out():
    gold = Sentence(WORDS, (Span(0, 1, "LOC"), Span(3, 4, "LOC"), Span(4, 5, "PER")))
    shown = page(marked(EKEUS, ["PER", "LOC"], gold=gold))
    assert [mark[:2] for mark in shown.marks] == [["t0 wrong", "Ekeus"], ["t1", "Baghdad"], ["t0 missed", "now"]]
    assert [mark[2] for mark in shown.marks] == ["0.7500", "0.5000", None]


def test_nothing_comes_from_elsewhere():
    text = opening("A title", ["PER"], "A note") + marked(EKEUS, ["PER"]) + CLOSING
    assert "://" not in text
    assert not any({"src", "href"} & set(attributes) for attributes in Page(text).attributes)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1, max_size=5), st.data())
def test_any_text_comes_through(words, data):
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    sentence = Sentence(tuple(words), (Span(start, end, '<"&', 0.5),))
    shown = page(marked(sentence, ['<"&']), types=['<"&'])
    assert shown.sentences == [" ".join(words)]
    assert shown.marks[0][1] == " ".join(words[start:end])


def resolved(colour, variables):
    """Return a colour of a style sheet as red, green and blue from 0 to 1."""
    while "var(" in colour:
        colour = re.sub(r"var\((--\w+)[^()]*\)", lambda name: variables[name[1]], colour)
    if colour.startswith("#"):
        return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    hue, saturation, lightness = (float(part.strip("%")) for part in re.fullmatch(r"hsl\((.*)\)", colour)[1].split())
    return colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)


def contrast(one, other):
    """Return the ratio of luminances, as WCAG 2 defines it."""
    lights = []
    for colour in (one, other):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        lights.append(0.05 + 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return max(lights) / min(lights)


@pytest.mark.parametrize("is_dark", [False, True])
def test_colours_can_be_told_apart_by_everyone(is_dark):
    """WCAG AA: 4.5 for text, 3 for what is not text."""
    style = opening("A title", [f"T{i}" for i in range(60)])
    light, dark = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    variables = dict(re.findall(r"(--\w+): ([^;]+);", light + dark if is_dark else light))
    fore, back = re.search(r"mark, nav b, dt b \{\s+color: (.*?);\s+background: (.*?);", style).groups()
    edge = re.search(r"mark.missed .*?border: 2px dotted (.*?) \}", style, flags=re.DOTALL)[1]

    def ratio(one, other, **more):
        return contrast(*(resolved(colour, variables | more) for colour in (one, other)))

    for ground in ("var(--paper)", "var(--card)"):
        assert ratio("var(--ink)", ground) >= 7
        assert ratio("var(--soft)", ground) >= 4.5
        assert ratio("var(--wrong)", ground) >= 3
        assert ratio("var(--bar)", ground) >= 3
    hues = re.findall(r"\.t\d+ \{ --h: (\d+) \}", style)
    assert len(hues) == 60
    for hue in hues:
        assert ratio(fore, back, **{"--h": hue}) >= 4.5
        assert ratio(edge, "var(--paper)", **{"--h": hue}) >= 3
        assert ratio(edge, "var(--card)", **{"--h": hue}) >= 3
    assert "opacity" not in style


def test_a_page_without_types_or_texts_is_well_formed():
    assert page(types=()).sentences == []


def test_descriptions_are_in_the_legend():
    types = [EntityType("PEST", 'slugs & "bugs"'), EntityType("TOOL"), "PLACE"]
    sentence = Sentence(("slugs", "here"), (Span(0, 1, "PEST"), Span(1, 2, "PLACE")))
    shown = page(marked(sentence, types), types=types)
    assert [mark[0] for mark in shown.marks] == ["t0", "t2"]
    assert shown.descriptions == ['slugs & "bugs"']
    assert [each.get("title") for each in shown.labels[:3]] == ['slugs & "bugs"', None, None]
    assert page(types=["PEST"]).descriptions == []


def test_style_and_script_are_the_static_files():
    static = files("handful.web") / "static"
    text = opening("A title", ["PER"]) + CLOSING
    for name in ("page.css", "page.js"):
        content = (static / name).read_text(encoding="utf-8")
        assert content in text
        assert "</" not in content  # it would end the element that it is put into


def test_text_that_is_written_from_right_to_left_has_its_direction():
    sentence = Sentence(("دفع", "35", "جنيه"), (Span(1, 3, "PRICE"),))
    assert marked(sentence, ["PRICE"]).startswith('<p class="s" dir="auto">دفع <mark')
    style = (files("handful.web") / "static" / "page.css").read_text(encoding="utf-8")
    assert re.search(r"mark \{[^}]*unicode-bidi: isolate", style)
    assert not re.search(r"(?:padding|border|margin)-(?:left|right): .*em", style)  # they would be on the wrong side
