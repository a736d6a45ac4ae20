"""Loading: what is wrong is said, with the file and what to do."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from handful.encoders import EMBEDDED, load
from handful.errors import EncoderError, MissingExtraError


@pytest.fixture
def folder(exported, tmp_path):
    shutil.copytree(exported("bert"), tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.mark.parametrize("name", ["encoder.json", "model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(EncoderError, match=f"{name} is missing"):
        load(folder)


@pytest.mark.parametrize("name", ["encoder.json", "model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe{", b"[]", b"{}"])
def test_a_damaged_file_is_named(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(EncoderError, match=name):
        load(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "format 1 expected, found 99"),
        ({"dim": "32"}, "dim is '32', expected a whole number of at least 1"),
        ({"n_layers": [2]}, r"n_layers is \[2\], expected a whole number"),
        ({"n_layers": 5}, "has no output layer_5"),
        ({"dim": 0}, "dim is 0, expected a whole number of at least 1"),
        ({"pad_id": -1}, "pad_id is -1, expected a whole number of at least 0"),
        ({"unknown_id": 2**64}, "unknown_id is 18446744073709551616, expected a whole number of at least 0 and below"),
    ],
)
def test_a_wrong_card_is_told(folder, change, message):
    card = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(card | change))
    with pytest.raises(EncoderError, match=message):
        load(folder)


@pytest.mark.parametrize("name", ["encoder.json", "tokenizer.json"])
def test_a_file_that_nests_without_end_is_told(folder, name):
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(EncoderError, match="not JSON"):
        load(folder)


def test_a_tokenizer_that_makes_its_library_panic_is_told(folder):
    settings = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    settings["post_processor"]["special_tokens"] = {}
    (folder / "tokenizer.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"tokenizer\.json cannot be read"):
        load(folder)


def test_a_card_of_another_width_is_told(folder):
    card = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(card | {"dim": 16}))
    with pytest.raises(EncoderError, match="where 16 numbers per token were expected"):
        load(folder).encode([["the", "dog"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads is a whole number of at least 1, found 0"),
        ({"threads": "2"}, "threads is a whole number of at least 1, found '2'"),
        ({"precision": "int8"}, "holds float32 weights, not int8"),
    ],
)
def test_wrong_options(folder, options, message):
    with pytest.raises(EncoderError, match=message):
        load(folder, **options)


def test_unknown_places_say_what_would_do(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for place, found in [
        ("empty", "neither encoder.json nor config.json"),
        ("file", "is a file"),
        ("no", "not exist"),
    ]:
        with pytest.raises(EncoderError, match=found) as error:
            load(tmp_path / place)
        for hint in [*EMBEDDED, "export-encoder", "model.onnx", "pip install 'handful[transformers]'"]:
            assert hint in str(error.value)


def test_an_embedded_encoder_that_is_absent(monkeypatch, tmp_path):
    monkeypatch.setitem(EMBEDDED, "handful-xx", tmp_path / "xx")
    with pytest.raises(EncoderError, match=r"'handful-xx' is not in this build"):
        load("handful-xx")


def test_an_embedded_encoder_is_found_by_name(monkeypatch, folder):
    monkeypatch.setitem(EMBEDDED, "handful-xx", folder)
    assert load("handful-xx").fingerprint == load(folder).fingerprint


def test_an_unknown_name_says_what_is_embedded(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(EncoderError, match=r"unknown encoder 'no-such-encoder': give an embedded name \(handful-en"):
        load("no-such-encoder")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'handful\[transformers\]'"):
        load("bert-base-cased")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_broken_hugging_face_folder_names_the_file(source, tmp_path, name):
    shutil.copytree(source("bert"), tmp_path / "hf")
    (tmp_path / "hf" / name).unlink()
    with pytest.raises(EncoderError, match=name):
        load(tmp_path / "hf")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"),
        ("tokenizer.json", b'{"a'),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b"[]"),
        ("tokenizer_config.json", b"[]"),
        ("tokenizer_config.json", b"{"),
        ("tokenizer_config.json", b"[" * 100_000),
        ("model.safetensors", b""),
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0{}"),
    ],
)
def test_a_damaged_file_of_a_hugging_face_folder_is_named(source, tmp_path, name, content):
    shutil.copytree(source("bert"), tmp_path / "hf")
    (tmp_path / "hf" / name).write_bytes(content)
    with pytest.raises(EncoderError, match=name):
        load(tmp_path / "hf")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tokenizer_config.json", {"model_max_length": "64"}),
        ("tokenizer_config.json", {"model_max_length": -9}),
        ("config.json", {"num_attention_heads": -4}),
        ("config.json", {"num_hidden_layers": 10**30}),
    ],
)
def test_settings_of_a_hugging_face_folder_that_do_not_fit_are_told(source, tmp_path, name, change):
    shutil.copytree(source("bert"), tmp_path / "hf")
    settings = json.loads((tmp_path / "hf" / name).read_text(encoding="utf-8"))
    (tmp_path / "hf" / name).write_text(json.dumps(settings | change), encoding="utf-8")
    with pytest.raises(EncoderError, match="broken encoder"):
        load(tmp_path / "hf")


def test_settings_of_a_far_larger_model_take_no_memory(source, tmp_path):
    shutil.copytree(source("bert"), tmp_path / "hf")
    settings = json.loads((tmp_path / "hf" / "config.json").read_text(encoding="utf-8"))
    settings |= {"hidden_size": 1 << 16, "intermediate_size": 1 << 20}
    (tmp_path / "hf" / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"config\.json describes a model of [\d,]+ numbers, but"):
        load(tmp_path / "hf")


def test_a_vocabulary_with_a_damaged_id_is_told(source, tmp_path):
    shutil.copytree(source("bert"), tmp_path / "hf")
    settings = json.loads((tmp_path / "hf" / "tokenizer.json").read_text(encoding="utf-8"))
    settings["model"]["vocab"]["[PAD]"] = 2**31  # the library would make a list of as many
    (tmp_path / "hf" / "tokenizer.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"tokenizer\.json gives '\[PAD\]' the id 2147483648"):
        load(tmp_path / "hf")


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_folder_without_its_tokenizer_is_an_error(source, tmp_path, family):
    shutil.copytree(source(family), tmp_path / "hf")
    (tmp_path / "hf" / "tokenizer_config.json").unlink()
    with pytest.raises(EncoderError, match=r"tokenizer_config\.json missing"):
        load(tmp_path / "hf")
    (tmp_path / "hf" / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=r"it has no tokenizer|tokenizer\.json missing"):
        load(tmp_path / "hf")


def test_a_tokenizer_of_more_ids_than_the_network_knows_is_an_error(source, tmp_path):
    import transformers

    from handful.encoders import export_encoder

    tokenizer = transformers.AutoTokenizer.from_pretrained(source("bert"))
    tokenizer.add_tokens(["zzz"])
    shutil.copytree(source("bert"), tmp_path / "hf")
    tokenizer.save_pretrained(tmp_path / "hf")
    assert load(tmp_path / "hf").encode([["the", "dog"]]).shape == (2, 32)
    with pytest.raises(EncoderError, match=r"tokenizer gives the id \d+, but the network knows ids up to"):
        load(tmp_path / "hf").encode([["the", "zzz"]])
    export_encoder(tmp_path / "hf", tmp_path / "out")
    with pytest.raises(EncoderError, match=r"does not fit tokenizer\.json"):
        load(tmp_path / "out").encode([["the", "zzz"]])


def test_another_release_of_transformers_reads_the_same_encoder(source, monkeypatch):
    before = load(source("bert")).fingerprint
    monkeypatch.setattr("transformers.configuration_utils.__version__", "99.0.0")
    assert load(source("bert")).fingerprint == before


def test_weights_that_are_not_in_the_file_are_an_error(source, tmp_path):
    from safetensors.numpy import load_file, save_file

    shutil.copytree(source("bert"), tmp_path / "hf")
    weights = load_file(tmp_path / "hf" / "model.safetensors")
    lost = "encoder.layer.0.attention.self.query.weight"
    del weights[lost]
    save_file(weights, tmp_path / "hf" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match=f"lacks {lost}"):
        load(tmp_path / "hf")


def test_a_missing_pooler_changes_nothing(source, tmp_path):
    from safetensors.numpy import load_file, save_file

    shutil.copytree(source("bert"), tmp_path / "hf")
    weights = load_file(tmp_path / "hf" / "model.safetensors")
    weights = {name: array for name, array in weights.items() if "pooler" not in name}
    save_file(weights, tmp_path / "hf" / "model.safetensors", metadata={"format": "pt"})
    assert load(tmp_path / "hf").fingerprint == load(source("bert")).fingerprint


def test_precisions_of_hugging_face_folders(source):
    with pytest.raises(EncoderError, match="precision of a Hugging Face encoder is one of"):
        load(source("bert"), precision="int8")
    exact = load(source("bert"), precision="float32").encode([["the", "dog"]])
    half = load(source("bert"), precision="bfloat16").encode([["the", "dog"]])
    assert half.dtype == np.float32
    assert not np.array_equal(half, exact)
    cosines = (half * exact).sum(axis=1) / np.linalg.norm(half, axis=1) / np.linalg.norm(exact, axis=1)
    assert cosines.min() > 0.99


def test_the_onnx_backend_needs_neither_torch_nor_transformers(exported):
    code = (
        "import sys; from handful.encoders import load; encoder = load(sys.argv[1]); encoder.encode([['a']]);"
        "encoder.fingerprint; print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(exported("bert"))], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "onnxruntime" in loaded
    assert not loaded & {"torch", "transformers", "onnx", "onnxscript"}
    assert run.stderr == ""


def test_importing_encoders_is_light():
    code = "import sys; from handful.encoders import CachedEncoder; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"torch", "transformers", "onnxruntime", "tokenizers", "rich"}


@pytest.mark.parametrize("wrong", ["float32", "bfloat16"])
def test_another_precision_says_how_to_export(exported, wrong):
    with pytest.raises(EncoderError, match=f"holds int8 weights, not {wrong}; export it again without int8$") as error:
        load(exported("mpnet", int8=True), precision=wrong)
    assert error.value.for_shell.endswith("; export it again without --int8")


def test_all_public_names_are_there():
    import handful.encoders

    assert {name: getattr(handful.encoders, name).__class__.__name__ for name in handful.encoders.__all__} == {
        "EMBEDDED": "dict",
        "CachedEncoder": "ABCMeta",
        "Encoder": "ABCMeta",
        "TypeVectors": "type",
        "export_encoder": "function",
        "load": "function",
        "open_encoder": "function",
    }
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        handful.encoders.nothing  # noqa: B018
