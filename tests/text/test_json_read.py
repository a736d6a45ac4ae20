"""JSON records as the tools write them."""

import io
import json

import pytest

from handful.errors import FormatError
from handful.text import Allowed, Sentence, Span, read_tag_names, to_sentence
from handful.text._words import word_offsets

from .strategies import read_bytes, stream_bytes

TEXT = "Ekeus heads for New York."
SPANS = (Span(0, 1, "PER"), Span(3, 5, "LOC"))
TRIPLES = [[0, 5, "PER"], [16, 24, "LOC"]]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in TRIPLES]
WORDS = ["Ekeus", "heads", "for", "New", "York", "."]
TOKENS = [
    {"text": word, "start": TEXT.index(word), "end": TEXT.index(word) + len(word), "id": i}
    for i, word in enumerate(WORDS)
]
VALUES = [{"start": s, "end": e, "text": TEXT[s:e], "labels": [label]} for s, e, label in TRIPLES]
TASK = {"data": {"text": TEXT}, "annotations": [{"result": [{"type": "labels", "value": v} for v in VALUES]}]}

RECORDS = {
    "prodigy": {"text": TEXT, "tokens": TOKENS, "spans": OBJECTS, "answer": "accept"},
    "prodigy-no-tokens": {"text": TEXT, "spans": OBJECTS, "_input_hash": 1},
    "prodigy-token-positions": {
        "text": TEXT,
        "tokens": TOKENS,
        "spans": [
            {"token_start": 0, "token_end": 0, "label": "PER"},
            {"token_start": 3, "token_end": 4, "label": "LOC", "start": 16, "end": 24},
        ],
    },
    "doccano": {"id": 1, "text": TEXT, "label": TRIPLES, "Comments": []},
    "doccano-labels": {"text": TEXT, "labels": TRIPLES},
    "doccano-data": {"data": TEXT, "label": TRIPLES},
    "doccano-entities": {
        "text": TEXT,
        "entities": [{"id": 1, "start_offset": s, "end_offset": e, "label": label} for s, e, label in TRIPLES],
        "relations": [],
    },
    "spacy": {"text": TEXT, "entities": TRIPLES},
    "spacy-pair": [TEXT, {"entities": TRIPLES}],
    "spacy-ents": {"text": TEXT, "ents": OBJECTS, "spans": {}, "tokens": TOKENS},
    "label-studio": TASK,
    "label-studio-other-key": {**TASK, "data": {"article": TEXT, "id": 3}},
    "label-studio-min": {"text": TEXT, "label": VALUES, "annotator": 1},
    "huggingface": {"tokens": WORDS, "ner_tags": ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]},
    "huggingface-tags": {"id": "0", "tokens": WORDS, "tags": ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]},
    "gliner": {"tokenized_text": WORDS, "ner": [[0, 0, "PER"], [3, 4, "LOC"]]},
    "huggingface-numbers": {"tokens": WORDS, "ner_tags": [1, 0, 0, 3, 4, 0]},
}
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_dialect_in_every_container(kind):
    record = RECORDS[kind]
    dialect = next(
        name
        for name in ("prodigy", "doccano", "spacy", "label-studio", "huggingface", "gliner")
        if kind.startswith(name)
    )
    for format in (None, "json", dialect):
        for text in (
            lines(record, record),
            lines(record, record).replace("\n", "\r\n\n"),
            json.dumps([record, record]),
            json.dumps([record, record], indent=2),
            "\ufeff \n" + json.dumps([record, record]) + "\n",
        ):
            corpus = read_bytes(text, format, tag_names=NAMES)
            assert [(list(s.words), s.spans) for s in corpus] == [(WORDS, SPANS)] * 2
            assert corpus[0].text == (None if dialect in ("huggingface", "gliner") else TEXT)
            assert corpus.report.format == (format or "json")


@pytest.mark.parametrize("kind", [kind for kind in RECORDS if kind != "spacy-pair"])
def test_a_record_over_several_lines(kind):
    text = json.dumps(RECORDS[kind], indent=1)
    assert [sentence.spans for sentence in read_bytes(text, tag_names=NAMES)] == [SPANS]
    assert len(read_bytes(f"{text}\n{text}", tag_names=NAMES)) == 2


def test_records_without_labels_are_unlabelled_and_without_mentions_labelled():
    unlabelled = [
        {"text": TEXT},
        {"text": TEXT, "spans": None},
        {"tokens": WORDS},
        {**TASK, "annotations": []},
    ]
    assert all(sentence.is_unlabelled for sentence in read_bytes(lines(*unlabelled)))
    labelled = [
        {"text": TEXT, "spans": []},
        {"text": TEXT, "label": []},
        {**TASK, "annotations": [{"result": []}]},
    ]
    assert all(sentence.spans == () and sentence.is_labelled for sentence in read_bytes(lines(*labelled)))


def test_unmarked_words_can_be_unknown():
    (sentence,) = read_bytes(lines(RECORDS["doccano"]), unmarked="unknown")
    assert [entry and str(entry) for entry in sentence.allowed] == [None, "_", "_", None, None, "_"]
    (sentence,) = read_bytes(lines({"text": TEXT, "spans": []}), unmarked="unknown")
    assert sentence.is_unlabelled


def test_partial_labels():
    marks = [[0, 5, "PER"], [6, 15, "!O"], [16, 24, "LOC|ORG"], [24, 25, "_"]]
    for record in ({"text": TEXT, "label": marks}, {"text": TEXT, "entities": marks, "tokens": TOKENS}):
        (sentence,) = read_bytes(lines(record))
        expected = ["!O", "!O", "LOC|ORG", "LOC|ORG", "_"]
        assert sentence.allowed == (None, *map(Allowed.parse, expected))
        assert sentence.spans == SPANS[:1]


def test_rejected_and_cancelled_annotations_are_counted():
    records = [
        {"text": TEXT, "spans": OBJECTS, "answer": answer} for answer in ("accept", "reject", "ignore", "reject")
    ]
    corpus = read_bytes(lines(*records))
    assert len(corpus) == 1
    assert corpus.report.notes["records whose answer is 'reject' were passed over"] == 2
    cancelled = {**TASK, "annotations": [{"result": [], "was_cancelled": True}, *TASK["annotations"]]}
    corpus = read_bytes(lines(cancelled))
    assert corpus[0].spans == SPANS
    assert corpus.report.notes == {"cancelled annotations were passed over": 1}
    choices = {
        "data": {"text": TEXT},
        "annotations": [{"result": [{"type": "choices", "value": {"choices": ["a"]}}]}],
    }
    assert read_bytes(lines(choices)).report.notes.total() == 1


def test_positions_counted_in_utf16_units_are_converted_where_the_text_tells():
    text = "👍🏽 Ekeus 👍 left"
    utf16 = {"start": 5, "end": 10, "text": "Ekeus", "labels": ["PER"]}
    code_points = {"start": 3, "end": 8, "text": "Ekeus", "labels": ["PER"]}
    for value, n in ((utf16, 1), (code_points, 0)):
        corpus = read_bytes(lines({"text": text, "label": [value]}))
        assert corpus[0].spans == (Span(1, 2, "PER"),)
        assert corpus[0].span_text(corpus[0].spans[0]) == "Ekeus"
        assert corpus.report.notes.total() == n


def test_tokens_of_white_space_are_not_words():
    text = "a \n b"
    tokens = [{"start": s, "end": e} for s, e in ((0, 1), (2, 3), (4, 5))]
    corpus = read_bytes(
        lines({"text": text, "tokens": tokens, "spans": [{"token_start": 2, "token_end": 2, "label": "X"}]})
    )
    assert corpus == [Sentence(("a", "b"), (Span(1, 2, "X"),), text=text, starts=(0, 4))]
    assert corpus.report.notes == {"tokens of white space were not taken as words": 1}


def test_spans_off_word_borders_are_an_error_or_widened():
    record = lines({"text": "a", "label": []}, {"text": "He is London-based now", "label": [[6, 12, "LOC"]]})
    message = (
        r"the open file:2: the span 6:12 'London' \(LOC\) does not fall on word borders; "
        r"the nearest words are 6:18 'London-based'; .* misaligned='widen'"
    )
    with pytest.raises(FormatError, match=message):
        read_bytes(record)
    corpus = read_bytes(record, misaligned="widen")
    assert corpus[1].spans == (Span(2, 3, "LOC"),)
    assert corpus.report.n_widened == 1


def test_white_space_at_the_end_of_a_span_is_left_out_and_counted():
    corpus = read_bytes(lines({"text": "in Paris now", "label": [[2, 9, "LOC"]]}))
    assert corpus[0].spans == (Span(1, 2, "LOC"),)
    assert corpus.report.notes.total() == 1
    assert corpus.report.n_widened == 0


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": TEXT, "label": [[5, 6, "A"]]}, "covers no word"),
        ({"text": TEXT, "label": [[0, 99, "A"]]}, "not in the text, which has 25 characters"),
        ({"text": TEXT, "label": [[3, 3, "A"]]}, "not in the text"),
        ({"text": TEXT, "label": [[-5, 3, "A"]]}, "not in the text"),
        ({"text": TEXT, "label": [[0, 5]]}, r"expected \[start, end, label\]"),
        ({"text": TEXT, "label": [["0", "5", "A"]]}, "whole numbers"),
        ({"text": TEXT, "label": [[0, True, "A"]]}, "whole numbers"),
        ({"text": TEXT, "label": [[0, 5.0, "A"]]}, "whole numbers"),
        ({"text": TEXT, "label": [[0, 5, None]]}, "no single label"),
        ({"text": TEXT, "label": [[0, 5, "O"]]}, "cannot be called 'O'"),
        ({"text": TEXT, "label": "POS"}, "expected a list of labels"),
        ({"text": TEXT, "label": [{"start": 0, "end": 5, "labels": ["A", "B"]}]}, "no single label"),
        (
            {"text": TEXT, "label": [{"start": 0, "end": 5, "text": "heads", "labels": ["A"]}]},
            "but says 'heads'",
        ),
        ({"text": TEXT, "label": TRIPLES, "spans": OBJECTS}, "labels are under spans and label"),
        ({"text": " ", "label": []}, "no word"),
        ({"sentence": TEXT}, "found 'sentence', expected 'text'"),
        (["text"], "expected a JSON object"),
        (3, "expected a JSON object"),
        ({"id": 3}, "the record has no text: found 'id', expected 'text'"),
        ({"text": 3}, "'text' is 3, expected a string"),
        ({"text": None, "data": "a"}, "'text' is null, expected a string"),
        ({"data": [1]}, r"'data' is \[1\], expected a string"),
        ({"text": TEXT, "tokens": TOKENS[:2], "spans": OBJECTS}, "covers no word"),
        ({"text": TEXT, "tokens": [{"start": 0, "end": 5, "text": "x"}]}, "is 'Ekeus' in the text"),
        ({"text": TEXT, "tokens": [TOKENS[1], TOKENS[0]]}, "overlaps the one before"),
        ({"text": TEXT, "tokens": [{"id": 1}]}, "no start and end"),
        (
            {"text": TEXT, "tokens": TOKENS, "spans": [{**OBJECTS[0], "token_start": 0, "token_end": 1}]},
            "is the last token",
        ),
        (
            {"text": TEXT, "tokens": TOKENS, "spans": [{"token_start": 5, "token_end": 6, "label": "X"}]},
            "6 tokens",
        ),
        ({"data": {"a": 1}, "annotations": []}, "expected one text"),
        (
            {**TASK, "annotations": [*TASK["annotations"], {"result": []}]},
            "2 annotations do not agree: one marks 'Ekeus' .PER., one does not; say annotator='first'",
        ),
        ({**TASK, "annotations": [3]}, "a list 'result'"),
        ({"tokens": WORDS, "ner_tags": ["O"]}, "6 tokens but 1 tag"),
        ({"tokens": ["a"], "ner_tags": [1]}, r"tag_names=\["),
        ({"tokens": ["a"], "ner_tags": [None]}, "a name or a number"),
        ({"tokens": [""], "ner_tags": ["O"]}, "word 0"),
        ({"tokens": [], "ner_tags": []}, "at least one word"),
        ({"tokens": ["a"], "ner_tags": ["B-"]}, "not a tag"),
        ({"tokens": ["a"], "ner_tags": ["O"], "tags": ["O"]}, "ner_tags and tags"),
        ({"tokenized_text": ["a"], "ner": "PER"}, "'ner' is 'PER', expected a list of labels"),
        ({"tokenized_text": ["a"], "ner": [[0, 0]]}, r"the span \[0, 0\], expected \[first, last, label\]"),
        ({"tokenized_text": ["a"], "ner": [[0, 0, ["A"]]]}, r"expected \[first, last, label\]"),
        ({"tokenized_text": ["a"], "ner": [[0, 1, "A"]]}, "not in the 1 words .its end is the last word"),
        ({"tokenized_text": ["a", "b"], "ner": [[1, 0, "A"]]}, "is not in the 2 words"),
        ({"tokenized_text": ["a", ""], "ner": []}, "word 1"),
        ({"tokenized_text": [], "ner": []}, "at least one word"),
    ],
)
def test_malformed_records_are_an_error_that_says_where(record, message):
    text = lines({"text": "fine"}, record)
    with pytest.raises(FormatError, match=f"the open file:2: .*{message}"):
        read_bytes(text, "json")
    corpus = read_bytes(text, "json", malformed="skip")
    assert (len(corpus), corpus.report.n_skipped) == (1, 1)


def test_numbers_must_have_names():
    with pytest.raises(FormatError, match="expected a number from 0 to 1"):
        read_bytes(lines({"tokens": ["a"], "ner_tags": [2]}), tag_names=["O", "B-X"])


def test_a_named_dialect_takes_only_its_own_keys():
    with pytest.raises(FormatError, match=":1: labels are under 'label', expected 'spans'"):
        read_bytes(lines(RECORDS["doccano"]), "prodigy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a"}\n{"text": \n{"text": "b"}\n', ":2: '{\"text\":' is not a JSON record"),
        ('{"text": "a"}\n\n{"text": "\\ud800"}\n', ":3: the record has half of a surrogate pair"),
        ('{"text": "a", "n": ' + "9" * 5000 + "}\n", ":1: .* is not a JSON record"),
        ("[" * 100_000 + "\n", ": record 1: .* is not a JSON record"),
        ('[{"text": "a"}\n {"text": "b"}]', ":2: .* expected a comma or ]"),
        ('[{"text": "a"},\n\n]', ":3: .* is not a JSON record"),
        ('[{"text": "a"},\n{"text": "b"}', ":2: the array is not closed"),
        ('[{"text": "a"}]\n\nmore', ":3: found 'more' after the end of the array"),
        ('[{"text": "a"}, 3]', ": record 2: found 3, expected a JSON object"),
    ],
)
def test_broken_json_is_an_error_that_says_where(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, "json")


def test_an_array_larger_than_a_chunk():
    records = [{"text": f"word {i} " + "x" * 1000, "label": [[0, 4, "X"]]} for i in range(400)]
    for text in (json.dumps(records), json.dumps(records, indent=3)):
        corpus = read_bytes(text)
        assert [sentence.words[1] for sentence in corpus] == [str(i) for i in range(400)]
    broken = json.dumps(records, indent=3).replace("word 300 ", '"', 1)
    line = broken[: broken.index('""')].count("\n")
    with pytest.raises(FormatError, match=f":{line}: "):
        read_bytes(broken)


@pytest.mark.parametrize(
    "record",
    ['{"text": ""}', '{"text": " \\u200b"}', '{"tokens": []}', '{"data": {"text": ""}}', '["", {"entities": []}]'],
)
def test_records_without_a_word(record):
    text = f'{{"text": "a b"}}\n{record}\n{{"text": "c"}}\n'
    with pytest.raises(FormatError, match=r"the open file:2: (there is no|a sentence needs at least one) word"):
        read_bytes(text)
    corpus = read_bytes(text, unlabelled=True)
    assert [s.text for s in corpus] == ["a b", "c"]
    assert corpus.report.notes == {"records without a word were passed over": 1}
    with stream_bytes(text, unlabelled=True) as documents:
        found = [[sentence.words for sentence in document.sentences] for document in documents]
    assert found == [[("a", "b")], [], [("c",)]]
    assert not documents.report.notes


def test_a_record_keeps_its_id_and_what_is_not_read():
    records = [
        ({"id": 1, "text": "a", "spans": []}, 1, {}),
        (["b", {"entities": [], "meta": {"x": [1]}}], None, {"meta": {"x": [1]}}),
        ({"text": "c", "id": "c7", "answer": "accept"}, "c7", {"answer": "accept"}),
        ({"text": "d", "id": [1], "label": None}, None, {"id": [1], "label": None}),
        ({"id": 5, "tokens": ["e"], "ner_tags": ["O"], "pos_tags": [3]}, 5, {"pos_tags": [3]}),
        (
            {"id": 6, "data": {"text": "f", "page": 2}, "annotations": [], "project": 9},
            6,
            {"project": 9, "data": {"page": 2}},
        ),
        ({"text": "g", "data": {"page": 3}}, None, {"data": {"page": 3}}),
    ]
    for unlabelled in (True, False):
        documents = list(stream_bytes(lines(*(record for record, _, _ in records)), unlabelled=unlabelled))
        assert [(one.id, one.meta) for one in documents] == [(id, meta) for _, id, meta in records]
        assert [one.text for one in documents] == list("abcdefg")


def test_an_unlabelled_text_is_cut_into_sentences_and_a_labelled_one_is_not():
    text = " He left. She went to Oslo."
    tokens = [{"start": start, "end": end} for start, end in word_offsets(text)]
    for record, n in (
        ({"text": text}, 2),
        ({"data": {"text": text}}, 2),
        ({"text": text, "label": [[22, 26, "LOC"]]}, 1),
        ({"text": text, "spans": []}, 1),
        ({"text": text, "tokens": tokens}, 1),
    ):
        (document,) = stream_bytes(lines(record))
        assert (document.text, len(document.sentences), document.n_words) == (text, n, 8)
        assert [one.words for one in read_bytes(lines(record))] == [one.words for one in document.sentences]
        assert document.as_sentence().words == to_sentence(text).words


def test_tags_without_a_text_get_one_in_a_stream():
    text = lines({"id": 1, "tokens": ["New York", "left"], "ner_tags": ["B-LOC", "O"]})
    (document,) = stream_bytes(text)
    assert (document.text, document.id) == ("New York left", 1)
    assert [(start, end) for start, end, _ in document.mentions()] == [(0, 8)]
    assert read_bytes(text)[0].text is None


@pytest.mark.parametrize("label", ['"spam"', '["spam", "ham"]', "1", "null"])
def test_a_class_of_a_text_is_no_obstacle_where_labels_are_not_looked_for(label):
    text = f'{{"text": "a b", "label": {label}, "id": 7}}\n'
    (document,) = stream_bytes(text, unlabelled=True)
    assert (document.text, document.id, document.meta) == ("a b", 7, {"label": json.loads(label)})
    assert document.is_unlabelled
    if label != "null":
        with pytest.raises(FormatError):
            read_bytes(text)


def test_several_keys_for_labels_are_no_obstacle_where_labels_are_not_looked_for():
    record = {"text": "a b", "label": ["spam"], "entities": []}
    (document,) = stream_bytes(lines(record), unlabelled=True)
    assert (document.is_unlabelled, document.meta) == (True, {"label": ["spam"], "entities": []})
    with pytest.raises(FormatError, match="labels are under label and entities"):
        read_bytes(lines(record))
    (document,) = stream_bytes(lines({"text": "a b", "label": []}), "prodigy", unlabelled=True)
    assert document.meta == {"label": []}


def test_names_of_tags_come_from_a_file():
    for content in ("O\nB-X\n\nI-X\n", '["O", "B-X", "I-X"]', '{"names": ["O", "B-X", "I-X"]}'):
        assert read_tag_names(io.StringIO(content)) == ("O", "B-X", "I-X")
    assert read_tag_names(io.StringIO('{"id2label": {"1": "B-X", "0": "O"}}')) == ("O", "B-X")
    for content in ("", "[]", "[3]", '{"id2label": {"1": "B-X"}}', '{"a": 1}'):
        with pytest.raises(FormatError, match="there are no names of tags in it; write one on each line"):
            read_tag_names(io.StringIO(content))
    with pytest.raises(FormatError, match="this is not JSON"):
        read_tag_names(io.StringIO("[O"))


def test_tags_of_text_to_be_tagged_need_no_names():
    (sentence,) = read_bytes('{"tokens": ["Ekeus", "left"], "ner_tags": [1, 0]}', unlabelled=True)
    assert (sentence.words, sentence.is_unlabelled) == (("Ekeus", "left"), True)
