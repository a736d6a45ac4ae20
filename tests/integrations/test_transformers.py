"""`Tagger.predict` answers in the form of a pipeline of transformers, which is run beside it on a very small model."""

import json

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

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


def form(answer):
    """Return what an answer is made of: lists, dicts and the kinds of their values; of a list, its first member."""
    if isinstance(answer, dict):
        return {key: form(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [form(one) for one in answer[:1]]
    return float if isinstance(answer, float | np.floating) else type(answer)


def test_one_text(theirs, tagger):
    assert form(theirs(TEXTS[0])) == form(tagger.predict(TEXTS[0]))
    assert form(tagger.predict(TEXTS[0])) == [
        {"entity_group": str, "score": float, "word": str, "start": int, "end": int}
    ]
    assert list(theirs(TEXTS[0])[0]) == list(tagger.predict(TEXTS[0])[0])  # in the same order
    assert isinstance(tagger.predict(TEXTS[0]), type(theirs(TEXTS[0])))


@pytest.mark.parametrize("given", [TEXTS, TEXTS[:1]], ids=["list", "list of one"])
def test_lists(theirs, tagger, given):
    assert len(tagger.predict(given)) == len(theirs(given))
    assert all(isinstance(one, list) for one in [tagger.predict(given), *tagger.predict(given)])
    assert json.loads(json.dumps(tagger.predict(given))) == tagger.predict(given)
    assert form(theirs(given)) == form(tagger.predict(given))


def test_positions_are_those_of_the_words(theirs, tagger):
    for pipe in (theirs, tagger.predict):
        for found in pipe(TEXTS[0]):
            assert TEXTS[0][found["start"] : found["end"]] == found["word"]
            assert 0 <= found["score"] <= 1
