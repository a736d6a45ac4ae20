"""Answers in the form of transformers' own pipeline, which is run beside ours on a very small model."""

import json

import numpy as np
import pytest
import torch
import transformers
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers

import handful
from handful import Tagger
from handful.errors import DataError, FileError

TEXTS = ["the slugs ate a lettuce", "nothing happened today", "a fork and a spade"]


@pytest.fixture(scope="module")
def theirs():
    """Make a pipeline of transformers with random weights, which finds something in every text."""
    words = sorted({word for text in TEXTS for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["[UNK]", "[PAD]", *words])}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words) + 2,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=32,
        id2label={0: "B-PEST", 1: "B-TOOL"},
        label2id={"B-PEST": 0, "B-TOOL": 1},
    )
    return transformers.pipeline(
        "token-classification",
        model=transformers.BertForTokenClassification(config),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]"
        ),
        aggregation_strategy="simple",
        device="cpu",
    )


@pytest.fixture(scope="module")
def ours(tagger):
    return handful.pipeline(tagger)


def form(answer):
    """Return what an answer is made of: lists, dicts and the kinds of their values; of a list, its first member."""
    if isinstance(answer, dict):
        return {key: form(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [form(one) for one in answer[:1]]
    return float if isinstance(answer, float | np.floating) else type(answer)


def test_one_text(theirs, ours):
    assert form(theirs(TEXTS[0])) == form(ours(TEXTS[0]))
    assert form(ours(TEXTS[0])) == [{"entity_group": str, "score": float, "word": str, "start": int, "end": int}]
    assert list(theirs(TEXTS[0])[0]) == list(ours(TEXTS[0])[0])  # in the same order
    assert type(ours(TEXTS[0])) is type(theirs(TEXTS[0])) is list


@pytest.mark.parametrize("given", [TEXTS, TEXTS[:1]], ids=["list", "list of one"])
def test_lists(theirs, ours, given):
    assert (type(ours(given)), len(ours(given))) == (type(theirs(given)), len(theirs(given)))
    assert [type(one) for one in ours(given)] == [type(one) for one in theirs(given)]
    assert form(theirs(given)) == form(ours(given))


def test_streams_are_streams(theirs, ours):
    column = Dataset.from_dict({"text": TEXTS})
    for pipe in (theirs, ours):
        found = pipe(text for text in TEXTS)
        assert not isinstance(found, list) or pipe is theirs  # a list in older releases of transformers
        assert form(list(found)) == form(pipe(TEXTS))
    assert list(ours(iter(TEXTS))) == ours(tuple(TEXTS)) == ours(TEXTS)
    assert ours([]) == []
    for given in (column, column["text"], column.to_pandas(), column.to_pandas()["text"]):
        assert list(ours(given)) == ours(TEXTS)


def test_positions_are_those_of_the_words(theirs, ours):
    for pipe in (theirs, ours):
        for found in pipe(TEXTS[0]):
            assert TEXTS[0][found["start"] : found["end"]] == found["word"]
            assert 0 <= found["score"] <= 1


def test_the_answers_are_those_of_predict(ours, tagger, garden):
    assert ours(TEXTS) == tagger.predict(TEXTS)
    assert json.loads(json.dumps(ours(TEXTS))) == tagger.predict(TEXTS)
    assert handful.pipeline(garden, threads=1)(TEXTS) == tagger.predict(TEXTS)
    sure = handful.pipeline(tagger, min_score=0.5)(TEXTS)
    assert sure == tagger.predict(TEXTS, min_score=0.5)
    assert ours.task == "token-classification"
    assert ours(TEXTS, batch_size=8) == ours(TEXTS)


def test_bad_input_is_said(ours, tagger, tmp_path):
    with pytest.raises(DataError, match="inputs must be a text"):
        ours(5)
    with pytest.raises(DataError, match=r"text 1 \(from 0\) is 5, expected a str"):
        ours(["a", 5])
    with pytest.raises(DataError, match="revision has no meaning"):
        handful.pipeline(tagger, revision="main")
    with pytest.raises(FileError, match="no such folder"):
        handful.pipeline(tmp_path / "nothing")
    with pytest.raises(DataError, match="not fitted"):
        handful.pipeline(Tagger("pest"))("text")
