import pytest
import torch
from made import make_encoder

from handful.errors import EncoderError
from handful.training.model import read_base

IDS = torch.tensor([[0, 6, 13, 20, 2, 1], [0, 5, 9, 14, 22, 2]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]])


@pytest.mark.parametrize("kind", ["bert", "roberta", "mpnet", "distilbert"])
def test_a_cut_encoder_gives_the_whole_ones_inner_layer(kind, tmp_path):
    from transformers import AutoModel

    folder = make_encoder(tmp_path / kind, kind, n_layers=4)
    whole, _, _ = read_base(folder)
    cut, _, n_layers = read_base(folder, 3)
    cut.save_pretrained(tmp_path / "cut")
    again = AutoModel.from_pretrained(tmp_path / "cut").eval()
    assert (n_layers, again.config.num_hidden_layers) == (4, 3)
    with torch.inference_mode():
        wanted = whole(input_ids=IDS, attention_mask=MASK, output_hidden_states=True).hidden_states[3]
        for model in (cut, again):
            torch.testing.assert_close(model(input_ids=IDS, attention_mask=MASK).last_hidden_state, wanted)


def test_encoders_that_cannot_be_trained_are_errors(encoder, tmp_path):
    with pytest.raises(EncoderError, match="layers is 3, expected 1 to 2"):
        read_base(encoder, 3)
    with pytest.raises(EncoderError, match="exported"):
        read_base("handful-en")
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(EncoderError, match="exported"):
        read_base(str(tmp_path))
