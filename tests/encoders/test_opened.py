"""The encoder of a saved model: found again, or an error that says what to do, in Python and on the command line."""

import re
from pathlib import Path

import pytest

from handful.encoders import load
from handful.encoders.opened import encoder_folder, open_saved
from handful.errors import EncoderError, ModelError

MODEL = Path("model")


def saved(encoder, **changes):
    return {"reference": encoder.reference, "fingerprint": encoder.fingerprint, "dim": encoder.dim} | changes


def test_an_encoder_is_found_by_its_reference(exported):
    encoder = load(exported("bert"))
    chosen, opened = open_saved(MODEL, saved(encoder), None, None)
    assert chosen == str(exported("bert"))
    assert opened.fingerprint == encoder.fingerprint


def test_a_loaded_encoder_that_is_given_is_used_as_it_is(exported):
    encoder = load(exported("bert"))
    assert open_saved(MODEL, saved(encoder, reference=None), encoder, None) == (encoder, encoder)


@pytest.mark.parametrize(
    ("changes", "python", "shell"),
    [
        (
            {"reference": None},
            "give it again: load(..., encoder=)",
            "load the model in Python, with load(..., encoder=)",
        ),
        ({"reference": "/no/such"}, "say where it is now (encoder=)", "say where it is now (--encoder)"),
        ({"fingerprint": "0" * 64}, "fitted with (encoder=), or fit again", "fitted with (--encoder), or fit again"),
        ({"precision": "int8"}, "export it again with int8=True", "export it again with --int8"),
    ],
)
def test_errors_say_what_to_do(exported, changes, python, shell):
    with pytest.raises(ModelError, match=f"^model: .*{re.escape(python)}$") as error:
        open_saved(MODEL, saved(load(exported("bert")), **changes), None, None)
    assert error.value.for_shell.endswith(shell)


def test_only_folders_can_be_copied(exported):
    encoder = load(exported("bert"))
    assert encoder_folder(encoder.reference) == exported("bert")
    assert (encoder_folder("handful-en") / "model.onnx").is_file()
    for reference in (None, "some/hub-name"):
        with pytest.raises(EncoderError, match="go into the model"):
            encoder_folder(reference)
