"""Cutting a vocabulary: what is kept keeps its vectors, and every word can still be spelled."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from handful.encoders import load
from handful.encoders.hugging_face import read_pretrained, word_tokenizer
from handful.errors import DataError, EncoderError

NAMES = Path(__file__).parents[2] / "benchmarks" / "names"
if not NAMES.exists():
    pytest.skip("the benchmarks are not part of a release", allow_module_level=True)
sys.path.insert(0, str(NAMES))
from vocabulary import cut_encoder, cut_vocabulary, uses_of  # noqa: E402

LETTERS = "abcdehilmnorst"
PIECES = [("▁", -3.0), *((letter, -6.0) for letter in LETTERS), ("▁the", -4.0), ("▁house", -8.0), ("▁dam", -8.5)]
PIECES += [("ho", -9.0), ("mes", -9.5)]


@pytest.fixture
def base(tmp_path):
    """Write a tiny Unigram encoder, whose special tokens are at both ends of the vocabulary."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [(token, 0.0) for token in special] + PIECES + [("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
        cls_token="<s>", sep_token="</s>", mask_token="<mask>", model_max_length=64,
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(vocabulary) + 3, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    folder = tmp_path / "base"
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


WORDS = {"en": {"the": 50.0, "house": 1.5, "homes": 1.0}, "nl": {"dam": 1.0, "de": 9.0}}
N_CHARACTERS = len(LETTERS) + 1
SMALLEST = N_CHARACTERS + 5 + 256


def write_cut(encoder, folder, words, n_pieces):
    """Write an encoder with a cut vocabulary; `words` has for each language how often each of its words occurs."""
    model, tokenizer = read_pretrained(str(encoder))
    texts = {language: [([word], n) for word, n in counts.items()] for language, counts in words.items()}
    cut_encoder(model, tokenizer, uses_of(tokenizer, texts), n_pieces)
    tokenizer.init_kwargs = {key: value for key, value in tokenizer.init_kwargs.items() if "local" not in key}
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def pieces_of(folder):
    return [piece for piece, _ in json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]]


def test_the_most_used_of_any_language_and_all_characters_are_kept(base, tmp_path):
    write_cut(base, tmp_path / "cut", WORDS, SMALLEST + 2)
    kept = pieces_of(tmp_path / "cut")
    # "▁dam" is 1 of 28 pieces in Dutch; "▁house" is 1.5 of 54.5 in English.
    assert [piece for piece in kept if len(piece) > 1 and not piece.startswith("<")] == ["▁the", "▁dam"]
    assert {piece for piece in kept if len(piece) == 1} == {*LETTERS, "▁"}
    assert len(kept) == SMALLEST + 2


def test_words_of_kept_pieces_keep_their_vectors(base, tmp_path):
    write_cut(base, tmp_path / "cut", WORDS, SMALLEST + 3)
    assert "▁house" in pieces_of(tmp_path / "cut")
    sentence = ["the", "dam", "the", "house"]
    before, after = (load(folder, precision="float32").encode([sentence]) for folder in (base, tmp_path / "cut"))
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_no_character_is_an_unknown(base, tmp_path):
    write_cut(base, tmp_path / "cut", WORDS, SMALLEST)
    _, tokenizer = read_pretrained(str(tmp_path / "cut"))
    split = word_tokenizer(tokenizer)
    (ids,) = split(["ß"])
    assert tokenizer.convert_ids_to_tokens(ids) == ["▁", "<0xC3>", "<0x9F>"]
    assert split.are_unknown(["ß", "the", "ßa"]) == [True, False, False]
    different = load(tmp_path / "cut").encode([["ß"], ["Ω"]])
    assert np.abs(different[0] - different[1]).max() > 1e-3


def test_special_tokens_stay_themselves(base, tmp_path):
    write_cut(base, tmp_path / "cut", WORDS, SMALLEST)
    model, tokenizer = read_pretrained(str(tmp_path / "cut"))
    old, _ = read_pretrained(str(base))
    assert [tokenizer.convert_tokens_to_ids(token) for token in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    mask = tokenizer.mask_token_id
    table, before = (each.get_input_embeddings().weight.detach().numpy() for each in (model, old))
    np.testing.assert_array_equal(table[mask], before[4 + len(PIECES)])
    assert len(table) == model.config.vocab_size == SMALLEST


def test_too_few_pieces_and_other_tokenizers_are_refused(base, tmp_path):
    _, tokenizer = read_pretrained(str(base))
    with pytest.raises(DataError, match=f"expected {SMALLEST} or more"):
        cut_vocabulary(tokenizer, {}, SMALLEST - 1)
    write_cut(base, tmp_path / "cut", WORDS, SMALLEST)
    _, cut = read_pretrained(str(tmp_path / "cut"))
    with pytest.raises(EncoderError, match="Unigram"):
        cut_vocabulary(cut, {}, SMALLEST)


SENTENCES = "\n".join(["[The](DOOR) homes in (the) dam", "the home of the [horse](ANIMAL)"] * 4) + "\n"


def test_sub_words_are_counted_as_text_is_written(base):
    _, tokenizer = read_pretrained(str(base))
    uses = uses_of(tokenizer, {"en": [(["(", "the"], 1.0), (["the"], 2.0)]})
    pieces = {tokenizer.convert_ids_to_tokens(i): use for i, use in uses.items()}
    assert pieces["▁the"] == pytest.approx(2 * pieces["t"])
