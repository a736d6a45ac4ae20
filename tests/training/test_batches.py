import random
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made import make_corpus, write_conll

from handful.encoders import load
from handful.encoders.hugging_face import window_of, word_tokenizer
from handful.errors import EncoderError
from handful.training.batches import ahead, collate, drawn, lay_out_corpus, on_device, plan_epoch
from handful.training.corpora import io_tags, read_corpora
from handful.training.model import read_base, word_vectors


@pytest.fixture(scope="module")
def laid_out(encoder, tmp_path_factory):
    """A corpus with sentences of many lengths, some far longer than the window, and its rows."""
    sentences = make_corpus(random.Random(3), 60, ["PER", "LOC"])
    sentences[7] = [pair for sentence in sentences[20:40] for pair in sentence]
    sentences[8] = [("ka" * 100 + "son", "B-PER"), ("sees", "O")]  # a word longer than the window
    path = write_conll(tmp_path_factory.mktemp("corpus") / "long.txt", sentences)
    (corpus,) = read_corpora([path])
    model, tokenizer, _ = read_base(encoder)
    return corpus, lay_out(corpus, model, tokenizer), model


def lay_out(corpus, model, tokenizer):
    tags = io_tags(corpus.train, corpus.type_names)
    return lay_out_corpus(corpus.train, tags, word_tokenizer(tokenizer), window_of(model, tokenizer))


def test_training_sees_the_vectors_that_encoding_gives(laid_out, encoder):
    corpus, rows, model = laid_out
    order = np.random.default_rng(0).permutation(len(rows))
    plan = [order[:25], order[25:]]
    model.eval()
    with torch.inference_mode():
        batches = ahead(lambda sentences: on_device(collate(rows, sentences), torch.device("cpu")), plan)
        vectors = [word_vectors(model, batch).numpy() for batch in batches]
    wanted = load(encoder, precision="float32").encode([corpus.train[i] for i in order])
    np.testing.assert_allclose(np.concatenate(vectors), wanted, atol=1e-5)


def test_a_batch_holds_its_sentences_tags_and_pads_the_rest(laid_out):
    corpus, rows, _ = laid_out
    picked = np.array([5, 2, 9])
    batch = collate(rows, picked)
    assert batch.tags.tolist() == io_tags([corpus.train[i] for i in picked], corpus.type_names)
    assert batch.n_words == len(batch.tags) == len(batch.first) == len(batch.last)
    assert (batch.ids[batch.mask == 0] == rows.pad_id).all()
    assert batch.mask.sum() == sum(rows.tokens[i + 1] - rows.tokens[i] for i in picked)
    assert (batch.ids[:, 0] == 0).all()  # each row starts with its special token


def test_a_sentence_that_cannot_be_laid_out_is_named(laid_out):
    corpus = laid_out[0]

    def refuse(words):
        raise EncoderError("it is too odd")

    with pytest.raises(EncoderError, match=r"^news, sentence 1: it is too odd$"):
        lay_out_corpus(corpus.train, [], refuse, 64, name="news")


@given(seed=st.integers(0, 5), epoch=st.integers(0, 5), batch=st.integers(1, 100))
def test_an_epoch_holds_every_sentence_once(laid_out, seed, epoch, batch):
    rows = laid_out[1]
    plan = plan_epoch(rows, batch=batch, seed=seed, epoch=epoch)
    assert sorted(int(i) for sentences in plan for i in sentences) == list(range(60))
    assert max(map(len, plan)) <= batch


def test_the_order_is_a_function_of_seed_and_epoch(laid_out):
    def order(seed, epoch):
        return [sentences.tolist() for sentences in plan_epoch(laid_out[1], batch=7, seed=seed, epoch=epoch)]

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_shares_set_how_often_sentences_come(laid_out):
    rows = laid_out[1]

    def counts(share):
        return [Counter(drawn(rows, share, number=0, seed=0, epoch=epoch).tolist()) for epoch in range(4)]

    assert counts(0.25)[0].total() == 15
    assert set(sum(counts(0.25), Counter()).values()) == {1}
    assert set(sum(counts(2), Counter()).values()) == {8}
    assert len(sum(counts(2), Counter())) == len(sum(counts(0.25), Counter())) == 60
    assert not any(counts(1e-6))


def test_sentences_of_a_batch_are_of_like_length(encoder, tmp_path):
    path = write_conll(tmp_path / "many.txt", make_corpus(random.Random(4), 1000, ["PER"]))
    (corpus,) = read_corpora([path])
    model, tokenizer, _ = read_base(encoder)
    rows = lay_out(corpus, model, tokenizer)
    plan = plan_epoch(rows, batch=16, seed=0, epoch=0)
    lengths = np.diff(rows.tokens)
    padded = sum(lengths[sentences].max() * len(sentences) for sentences in plan)
    assert padded < 1.1 * lengths.sum()
