"""Every family, in both backends, against transformers' own output, sentence by sentence without padding."""

import numpy as np
import pytest
import torch
import transformers
from models import FAMILIES, TEXT

from handful.encoders import load
from handful.encoders.hugging_face import TorchNetwork, as_encoder
from handful.errors import EncoderError

SENTENCES = [text.split() for text in TEXT] + [
    ["Fox"],
    ["unbelievable", "Zürich", "1,234.50", "(", "x-ray", "日本"],
]

WITHOUT_SPACE = {"x-ray", "日本", ",", ".", "<unk>", "[UNK]"}

CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # a GPU's sums in float32 differ from a CPU's in the last bits


def by_hand(folder, family, sentences):
    """Word vectors straight from transformers: its tokenizer, its word ids, its hidden states."""
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    if family == "roberta":  # words come after a space
        tokenizer.backend_tokenizer.pre_tokenizer.add_prefix_space = True
    model = transformers.AutoModel.from_pretrained(folder).eval()
    vectors = []
    for words in sentences:
        if family in (
            "xlm_roberta",
            "deberta_v3",
        ):  # words have a space in their first sub-word only where the text has one
            tokenizer.backend_tokenizer.pre_tokenizer.prepend_scheme = "never"
            words = [word if word in WITHOUT_SPACE else f"▁{word}" for word in words]
        encoding = tokenizer(words, is_split_into_words=True, truncation=False, padding=False)
        with torch.no_grad():
            output = model(input_ids=torch.tensor([encoding["input_ids"]]), output_hidden_states=True)
        hidden = output.hidden_states[-1][0].numpy()
        for number in range(len(words)):
            own = hidden[[i for i, word in enumerate(encoding.word_ids()) if word == number]]
            vectors.append((own[0] + own[-1]) / 2)
    return np.array(vectors)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_backends_give_what_transformers_gives(source, exported, family):
    expected = by_hand(source(family), family, SENTENCES)
    assert np.median(expected.std(axis=0)) > 0.1  # words do differ
    np.testing.assert_allclose(load(source(family), precision="float32").encode(SENTENCES), expected, **CLOSE)
    np.testing.assert_allclose(load(exported(family)).encode(SENTENCES), expected, **CLOSE)


@pytest.mark.parametrize("family", ["bert", "xlm_roberta"])
def test_a_word_the_tokenizer_drops_gets_the_unknown_tokens_vector(source, exported, family):
    unknown = {"bert": "[UNK]", "xlm_roberta": "<unk>"}[family]
    expected = by_hand(source(family), family, [["the", unknown, "dog"]])
    for folder in (source(family), exported(family)):
        np.testing.assert_allclose(load(folder, precision="float32").encode([["the", "", "dog"]]), expected, **CLOSE)


def test_control_characters_leave_nothing_of_a_word(exported):
    encoder = load(exported("bert"))
    assert encoder.tokenizer(["\u200b", "\x07"]) == [[encoder.tokenizer.unknown_id]] * 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")
@pytest.mark.parametrize("family", FAMILIES)
def test_bfloat16_is_the_default_on_a_gpu(source, family):
    exact = by_hand(source(family), family, SENTENCES)
    encoder = load(source(family))
    found = encoder.encode(SENTENCES)
    assert encoder.fingerprint == load(source(family), precision="bfloat16").fingerprint
    assert encoder.fingerprint != load(source(family), precision="float32").fingerprint
    assert found.dtype == np.float32
    assert not np.array_equal(found, exact)
    lengths = np.linalg.norm(exact, axis=1)
    assert (np.linalg.norm(found - exact, axis=1) < 0.1 * lengths).all()
    for batch_tokens in (1, 40):
        encoder.batch_tokens = batch_tokens
        assert (np.linalg.norm(encoder.encode(SENTENCES) - found, axis=1) < 0.1 * lengths).all()


def test_a_full_gpu_is_an_error_that_says_what_to_do(source):
    class Full(torch.nn.Module):
        config = transformers.AutoConfig.from_pretrained(source("bert"))

        def get_input_embeddings(self):
            return torch.nn.Embedding(1000, 2)

        def forward(self, **inputs):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore lines")

    tokenizer = transformers.AutoTokenizer.from_pretrained(source("bert"))
    with pytest.raises(EncoderError, match=r"CUDA_VISIBLE_DEVICES=.* Tried to allocate 2\.00 GiB\.$"):
        as_encoder(TorchNetwork(Full()), tokenizer)
