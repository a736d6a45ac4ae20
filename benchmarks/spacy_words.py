"""F1 on the garden notes in spaCy: the tagger's own words, aligned with tokens; and tokens given as words.

    python benchmarks/spacy_words.py

Both are scored on spaCy's tokens. docs/decisions/0007 has the figures.
"""

import spacy

from handful import Document, Sentence, Span, Tagger, examples, read, score
from handful.integrations import SpacyTagger
from handful.text import read_types


def spans(found):
    return [Span(one.start, one.end, one.label_) for one in found]


def on_tokens(tagger, doc):
    """Find mentions with the tokens of a Doc as words."""
    words, starts = tuple(token.text for token in doc), tuple(token.idx for token in doc)
    (found,) = tagger.tag([Document(doc.text, (Sentence(words, text=doc.text, starts=starts),))])
    return [Span(one.start, one.end, one.type) for one in found.sentences[0].spans]


def main():
    nlp = spacy.blank("en")
    component = SpacyTagger(types="any")
    for name, support in (("names alone", None), ("names and 18 labelled sentences", read(examples.SUPPORT))):
        tagger = component._tagger = Tagger(read_types(examples.TYPES), cache=False).fit(support)
        gold, aligned, tokens = [], [], []
        for sentence in read(examples.HELDOUT):
            sentence = sentence.with_text()
            doc = nlp.make_doc(sentence.text)
            gold.append(spans(doc.char_span(*sentence.characters(span), label=span.type) for span in sentence.spans))
            tokens.append(on_tokens(tagger, doc))
            aligned.append(spans(component(doc).ents))
        figures = [100 * score(gold, found).micro.f1 for found in (aligned, tokens)]
        print(
            f"{name}: own words {figures[0]:.1f}, tokens as words {figures[1]:.1f}, {component.n_unaligned} unaligned"
        )


if __name__ == "__main__":
    main()
