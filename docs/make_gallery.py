"""Write docs/gallery.md: five domains of corpora/mosaic with their types, figures and predictions.

    python docs/make_gallery.py

Every second sentence of a file is scored. Labels are drawn from the others; what is left of those is text without
labels. The sentences that the page shows are the first five that are scored, whatever is found in them.
"""

import statistics
from html import escape
from pathlib import Path

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.evaluate import sample_support, score
from handful.text import Sentence, read
from handful.web import marked

PAGE = Path(__file__).with_name("gallery.md")
CORPORA = PAGE.parents[1] / "corpora" / "mosaic" / "dev"
DOMAINS = {
    "vet_emails": "E-mails of a veterinary surgery",
    "market_close": "Closing reports of markets",
    "ship_log": "Log of a research ship",
    "travel_chat": "Chat with a travel desk",
    "code_search": "Queries for code",
}
SHOTS, SETS = 5, 5

HEAD = """# Gallery

Five domains, each with types of its own. They are files of [corpora/mosaic](../corpora/mosaic/README.md), which was
written for this project. The encoder did not see them in training, but methods were chosen on this part of the corpus,
so expect somewhat less on other text. All that is on this page is written by

```sh
python docs/make_gallery.py
```

Strict span F1 on every second sentence of a file (about 30). Labels are drawn from the other sentences; what is left of
them is the text. With labels: mean and standard deviation over five draws. 30 sentences are few, so a difference of
some points means little. Labels do not always help: in the travel chat, names alone are best.

"""
NOTE = """Predictions below are those with 5 labels of each type and text, by the first draw, on the first five
sentences that were scored. A dashed outline is a mistake; a dotted one is a mention that was missed.
"""


def gallery() -> str:
    """Return the page."""
    encoder = CachedEncoder(load("handful-en"))
    rows, sections = [], []
    for name, title in DOMAINS.items():
        figures, section = domain(name, title, encoder)
        rows.append(f"| [{title}](#{title.lower().replace(' ', '-')}) | {' | '.join(figures)} |")
        sections.append(section)
    head = f"| domain | types | names alone | names and text | {SHOTS} labels of each type, and text |"
    return HEAD + "\n".join([head, "|---|---|---|---|---|", *rows]) + "\n\n" + NOTE + "\n" + "\n".join(sections)


def domain(name: str, title: str, encoder: CachedEncoder) -> tuple[list[str], str]:
    """Return the cells of a domain's row, and its section."""
    corpus = read(CORPORA / f"{name}.txt")
    types, scored, pool = corpus.types, corpus[::2], corpus[1::2]
    supports = sample_support(pool, SHOTS, 0, sets=SETS, fewer=True)
    found, shown = [], []
    for support in supports:
        text = [sentence.without_labels() for sentence in pool if sentence not in support]
        tagger = Tagger(types, encoder=encoder, cache=False).fit(support, text, progress=False)
        predicted = tagger.predict_sentences(scored)
        found.append(_f1(scored, predicted))
        shown = shown or predicted[:5]
    cells = [str(len(types))]
    for text in (None, [sentence.without_labels() for sentence in pool]):
        tagger = Tagger(types, encoder=encoder, cache=False).fit(None, text, progress=False)
        cells.append(f"{_f1(scored, tagger.predict_sentences(scored)):.1f}")
    cells.append(f"{statistics.mean(found):.1f} ±{statistics.stdev(found):.1f}")
    described = "".join(
        f'<dt><mark class="t{i}">{one.name}</mark></dt><dd>{escape(one.description)}</dd>\n'
        for i, one in enumerate(types)
    )
    sentences = "".join(marked(one, types, gold) for one, gold in zip(shown, scored, strict=False))
    return cells, f'## {title}\n\n<dl class="types">\n{described}</dl>\n<div class="predictions">\n{sentences}</div>\n'


def _f1(gold: list[Sentence], predicted: list[Sentence]) -> float:
    return 100 * score(gold, predicted).micro.f1


if __name__ == "__main__":
    PAGE.write_text(gallery(), encoding="utf-8")
