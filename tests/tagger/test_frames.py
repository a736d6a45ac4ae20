"""Data sets of Hugging Face and data frames of pandas, where lists are."""

import sys
import types

import datasets
import numpy as np
import pandas as pd
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value

from handful.errors import DataError, FormatError
from handful.tagger.inputs import gather
from handful.text import Sentence, Span

from .toy import SUPPORT, UNLABELLED, fitted, mentions, tagger

TAGS = ["O", "B-PER", "I-PER", "B-LOC"]
ROWS = [
    {"tokens": ["Paul", "went", "to", "London", "with", "me"], "ner_tags": [1, 0, 0, 3, 0, 0]},
    {"tokens": ["the", "Peter", "of", "Lima", "sleeps"], "ner_tags": [0, 1, 0, 3, 0]},
]
FEATURES = Features({"tokens": List(Value("string")), "ner_tags": List(ClassLabel(names=TAGS))})
LABELLED = Dataset.from_list(ROWS, features=FEATURES)
PAULS = Sentence(tuple(ROWS[0]["tokens"]), (Span(0, 1, "PER"), Span(3, 4, "LOC")))


@pytest.fixture(scope="module")
def model():
    return fitted()


def columns():
    data = Dataset.from_dict({"text": UNLABELLED, "n": list(range(len(UNLABELLED)))})
    frame = pd.DataFrame({"text": UNLABELLED, "n": range(len(UNLABELLED))})
    words = [text.split() for text in UNLABELLED]
    return {
        "column": data["text"],
        "dataset": data,
        "stream": data.to_iterable_dataset(),
        "column of a stream": data.to_iterable_dataset()["text"],
        "stream of a generator": datasets.IterableDataset.from_generator(lambda: ({"text": t} for t in UNLABELLED)),
        "series": frame["text"],
        "filtered series": frame[frame["n"] >= 0]["text"].iloc[::1],
        "categories": frame["text"].astype("category"),
        "frame": frame,
        "words": Dataset.from_dict({"tokens": words}),
        "words in arrays": pd.Series([np.array(one, dtype=object) for one in words]),
        "words as numpy": Dataset.from_dict({"tokens": words}).with_format("numpy"),
    }


@pytest.mark.parametrize("name", columns())
def test_columns_are_texts(model, name):
    given = columns()[name]
    found = model.predict(given)
    assert found == model.predict(UNLABELLED)
    assert list(model.predict_iter(columns()[name])) == found
    if "words" not in name:  # the text of words has no sentences of its own
        assert model.suggest(columns()[name], 2) == model.suggest(UNLABELLED, 2)


@pytest.mark.parametrize("name", columns())
def test_columns_are_unlabelled_text(name):
    given = tagger().fit(SUPPORT, columns()[name])
    expected = tagger().fit(SUPPORT, UNLABELLED)
    assert given.summary_.to_dict() == expected.summary_.to_dict()


def test_a_stream_is_not_read_ahead(model):
    taken = 0

    def rows():
        nonlocal taken
        for _ in range(100_000):
            taken += 1
            yield {"text": "Then Pia saw Leeds again ."}

    stream = datasets.IterableDataset.from_generator(rows)
    first = next(model.predict_iter(stream))
    assert mentions(first) == [("Pia", "PER"), ("Leeds", "LOC")]
    assert taken < 1_000


def test_class_labels_are_read_by_their_names():
    for data in (LABELLED, LABELLED.to_iterable_dataset(), LABELLED.with_format("numpy")):
        found = gather(data, "the support", is_inline=True).sentences
        assert found[0] == PAULS
        assert found[1].spans == (Span(1, 2, "PER"), Span(3, 4, "LOC"))
    model = tagger().fit(LABELLED, UNLABELLED)
    assert model.summary_.mentions == {"LOC": 2, "PER": 2}
    assert model.evaluate(LABELLED).n_sentences == 2


def test_a_missing_class_label_is_unknown():
    data = Dataset.from_list([{"tokens": ["Paul", "went", "home"], "ner_tags": [1, -1, 0]}], features=FEATURES)
    (sentence,) = gather(data, "the support", is_inline=True).sentences
    assert sentence.is_partly_labelled
    assert [str(one) for one in sentence.constraints()] == ["PER", "_", "O"]


def test_class_labels_inside_spans():
    features = Features(
        {
            "text": Value("string"),
            "spans": [{"start": Value("int32"), "end": Value("int32"), "label": ClassLabel(names=["PER", "LOC"])}],
        }
    )
    rows = [{"text": "Paul went", "spans": [{"start": 0, "end": 4, "label": 0}]}]
    (sentence,) = gather(Dataset.from_list(rows, features=features), "the support", is_inline=True).sentences
    assert sentence.spans == (Span(0, 1, "PER"),)


def test_a_frame_of_labels():
    frame = pd.DataFrame(
        {
            "tokens": [np.array(row["tokens"], dtype=object) for row in ROWS],
            "ner_tags": [[TAGS[tag] for tag in row["ner_tags"]] for row in ROWS],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02"]),
        }
    )
    assert gather(frame, "the support", is_inline=True).sentences[0] == PAULS


def test_what_is_no_text_is_said(model):
    data = Dataset.from_dict({"body": ["a text"], "n": [1]})
    with pytest.raises(DataError, match=r"no column 'text' or 'tokens', its columns are 'body', 'n'.*data\['body'\]"):
        model.predict(data)
    with pytest.raises(DataError, match=r"the unlabelled text has no column"):
        tagger().fit(SUPPORT, data)
    with pytest.raises(DataError, match="the splits 'train'; choose one"):
        model.predict(DatasetDict(train=data))
    with pytest.raises(DataError, match="the support is a data set with the splits"):
        tagger().fit(DatasetDict(train=LABELLED))
    with pytest.raises(DataError, match=r"text 1 \(from 0\): found float 1.5"):
        model.predict(pd.Series(["a", 1.5], dtype=object))
    with pytest.raises(FormatError, match=r"the support:1: the tags are numbers"):
        tagger().fit(Dataset.from_list(ROWS))


def test_a_module_of_the_same_name_is_no_fault(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", types.ModuleType("datasets"))
    assert model.predict(UNLABELLED[:1]) == model.predict(pd.Series(UNLABELLED[:1]))
