"""Architectures with ways of their own: what they give alone they give in a batch, or they are refused."""

import numpy as np
import pytest
import torch
import transformers
from models import TEXT
from test_families import CLOSE
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from handful.encoders import _exporting as export
from handful.encoders import export_encoder, load
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import EncoderError

SENTENCES = [text.split()[:n] for text in TEXT for n in (1, 3, 7, 20)]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


@pytest.fixture
def make(source, tmp_path):
    """Return a function from a configuration's class and settings to a folder with such a model."""

    def make(kind, **settings):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source("bert"))
        settings = {"vocab_size": len(tokenizer), "pad_token_id": 0} | settings
        torch.manual_seed(0)
        model = transformers.AutoModel.from_config(getattr(transformers, kind)(**settings))
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.2)
        model.save_pretrained(tmp_path / kind)
        tokenizer.save_pretrained(tmp_path / kind)
        return tmp_path / kind

    return make


def alone(encoder):
    return np.concatenate([encoder.encode([sentence]) for sentence in SENTENCES])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("ConvBertConfig", SIZES | {"embedding_size": 32, "max_position_embeddings": 64}),
        ("NystromformerConfig", SIZES | {"max_position_embeddings": 64, "segment_means_seq_len": 64}),
    ],
)
def test_what_reads_padding_gets_none(make, tmp_path, kind, settings):
    folder = make(kind, **settings)
    encoder = load(folder, precision="float32")
    assert encoder.reads_padding
    found = encoder.encode(SENTENCES)
    np.testing.assert_allclose(found, alone(encoder), **CLOSE)
    encoder.reads_padding = False
    assert np.abs(encoder.encode(SENTENCES) - found).max() > 0.01  # so it is not for nothing
    with pytest.raises(EncoderError, match="reads the padding behind a row"):
        export_encoder(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("SqueezeBertConfig", SIZES | {"embedding_size": 32, "max_position_embeddings": 64}),  # calls its pooler
        ("GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),  # merges reshape and product
    ],
)
@pytest.mark.exhaustive
def test_others_go_through_both_backends(make, tmp_path, kind, settings):
    folder = make(kind, **settings)
    encoder = load(folder, precision="float32")
    assert not encoder.reads_padding
    found = encoder.encode(SENTENCES)
    np.testing.assert_allclose(found, alone(encoder), **CLOSE)
    export_encoder(folder, tmp_path / "out")
    np.testing.assert_allclose(load(tmp_path / "out").encode(SENTENCES), found, rtol=1e-4, atol=1e-4)


def test_a_model_that_is_too_large_for_a_file_is_refused_at_once(source, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_LARGEST", 1000)
    with pytest.raises(EncoderError, match="over 2 GB"):
        export_encoder(source("bert"), tmp_path / "out")


WORDS = ["don't", "B2B", "1,234.50", "Zürich", "the", "café", "U.N.", "x2", "in"]


def split_alone(tokenizer):
    words = WordTokenizer.from_json(tokenizer.to_str(), pad_id=0, unknown_id=0)
    return [token for ids in words(WORDS) for token in ids]


@pytest.mark.parametrize(
    "before",
    [
        None,
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Split(Regex(r"'t|\s?[^\s\w']+|\s?\w+|\s+|'"), "isolated"),
    ],
)
def test_bytes_after_another_step_have_a_space_before_words_only(before):
    has_cut = isinstance(before, pre_tokenizers.Split)
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not has_cut)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([before, last]) if before else last
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [*TEXT, *WORDS], trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False)
    )
    assert split_alone(tokenizer) == tokenizer.encode(" " + " ".join(WORDS)).ids


def test_a_space_that_a_normalizer_replaces_is_put_before_words():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.train_from_iterator(
        [" " + text for text in TEXT],
        trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False),
    )
    assert split_alone(tokenizer) == tokenizer.encode(" " + " ".join(WORDS)).ids
