"""Models on disk: the same answers, the same bytes, whole or not at all, and clear words for what is wrong."""

import errno
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from handful import Tagger
from handful._util import files
from handful.encoders import export_encoder
from handful.encoders import load as load_encoder
from handful.encoders.opened import encoder_folder
from handful.errors import DataError, EncoderError, FileError, HandfulWarning, ModelError
from handful.tagger import saving
from handful.tagger._card import cell

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, names, tagger

pytestmark = pytest.mark.filterwarnings("ignore:.* cannot read")  # a very small encoder has few sub-words

TEXT = "Pim went from Leiden to see Lot ."
FILES = ["README.md", "config.json", "model.safetensors", "support.jsonl"]


def load(path, **options):
    return Tagger.load(path, **({"encoder": ToyEncoder(), "cache": False} | options))


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def saved(tmp_path):
    fitted(o_ratio=0.7).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    "options",
    [{"o_ratio": 0.7}, {"subspace": False}, {"assignment": "soft", "temperature": np.float32(2)}, {"shrinkage": 0.5}],
)
def test_loading_gives_the_same_tagger(tmp_path, options):
    model = fitted(**options)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(TEXT) == model.predict(TEXT)
    assert again.explain(TEXT) == model.explain(TEXT)
    assert again.summary_ == model.summary_
    assert again.types_ == model.types_
    assert again.o_ratio == options.pop("o_ratio", None)
    assert {name: again.clusters[name] for name in options} == options
    again.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "model")


def test_the_same_fit_gives_the_same_bytes_in_another_process(saved, tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from tagger.toy import fitted
fitted(o_ratio=0.7).save({str(tmp_path / "other")!r})
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert contents(tmp_path / "other") == contents(saved)
    assert sorted(contents(saved)) == FILES


def test_the_card_says_what_it_is(saved):
    card = (saved / "README.md").read_text(encoding="utf-8")
    for expected in (
        "# A tagger for LOC, PER",
        "| LOC |  | 2 |",
        "asked: 0.7; met: 0.7037",
        "`toy`",
        "41",
        "of which 2 for O",
    ):
        assert expected in card
    assert "likely too high" not in card  # the paper's scores are no estimate


def test_the_card_says_what_is_not_found(saved, tmp_path):
    assert (
        "of the same type are found as one. Mentions within mentions are not found. "
        in (saved / "README.md").read_text()
    )
    Tagger({"FOOD": "something to eat"}, overlap=True).fit().save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "found as one" not in card
    assert "within mentions" not in card


def test_names_are_no_markup_in_the_card():
    assert cell("a|b <img src=x> ![c](http://d) `e`\n\\") == r"a\|b \<img src=x> !\[c](http://d) \`e\` \\"


def test_the_card_says_when_scores_run_high(tmp_path, monkeypatch):
    fitted(method="handful").save(tmp_path / "model")
    assert "likely too high" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    monkeypatch.setattr("handful.tagger._card.FEW_WORDS", 1)
    fitted(method="handful").save(tmp_path / "model")
    assert "likely too high" not in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


MORE = ["[Gap](ORG) sells to [Pia](PER)", "the [Peter](PER) of [Lima](ORG) sleeps all day", "[Leo](LOC|PER) sat there"]


@pytest.mark.parametrize("unlabelled", [None, UNLABELLED])
def test_a_loaded_tagger_adds_as_if_it_had_never_been_away(tmp_path, unlabelled):
    support = [*SUPPORT, "[Gus](!LOC) and [Pim](PER) sleep", "[Lot](LOC) left", "[Lot](PER) left"]
    model = tagger(o_ratio=None).fit(support, unlabelled)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").add(MORE, unlabelled)
    model.add(MORE)
    for one, name in ((model, "one"), (again, "other")):
        one.save(tmp_path / name)
    assert names(again) == ["LOC", "ORG", "PER"]
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


@pytest.mark.parametrize("more", [MORE[:2], MORE])
def test_a_loaded_tagger_learns_without_its_unlabelled_text_and_says_what_is_missing(saved, more):
    model = load(saved)
    with pytest.warns(HandfulWarning, match=r"o_ratio=0\.7 is ignored.*there is none.*unlabelled="):
        model.add([*more, "[Pip](O|PER) sat"])
    note, *others = reversed(model.summary_.notes)
    assert others == ["1 sentence got new labels"]
    assert note.startswith("41 unlabelled words of the fit before are missing")
    assert "give the text again" in note
    assert names(model) == ["LOC", "ORG", "PER"]
    expected = tagger(o_ratio=None).fit([SUPPORT[0], more[1], more[0], *more[2:], "[Pip](O|PER) sat"])
    assert list(map(str, model.support_)) == list(map(str, expected.support_))
    expected = tagger(o_ratio=None).fit(model.support_)  # nobody looked for ORG in the sentences of before
    assert model.predict(TEXT) == expected.predict(TEXT)
    assert model.summary_.o_ratio is None
    assert model.o_ratio == 0.7  # it counts again with the text
    again = load(saved).add([*more, "[Pip](O|PER) sat"], UNLABELLED)
    assert (again.summary_.o_ratio, again.summary_.notes) == (0.7, others)


def test_later_labels_still_say_which_text_is_missing(saved):
    with pytest.warns(HandfulWarning, match="is ignored"):
        model = load(saved).add(MORE[:1]).add(MORE[2:])
    assert [note.partition(" of ")[0] for note in model.summary_.notes] == ["41 unlabelled words"]


def test_saving_again_replaces_the_model_and_nothing_else(saved, tmp_path):
    fitted().save(saved)
    assert load(saved).summary_.o_ratio is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    (saved / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match=r"holds other things too \(notes.txt\)"):
        fitted().save(saved)
    other = tmp_path / "other"
    other.mkdir()
    fitted().save(other)  # an empty folder
    shutil.rmtree(other)
    other.mkdir()
    (other / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(FileError, match="not overwritten"):
        fitted().save(other)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="is a file"):
        fitted().save(tmp_path / "file")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["fsync", "rename"])
def test_a_save_that_fails_leaves_what_was_there(saved, tmp_path, monkeypatch, fault, place):
    before = contents(saved)
    true = getattr(os, place)
    n_calls = 0

    def fail(*args):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:  # for rename: when the old model has been moved away
            raise fault
        return true(*args)

    monkeypatch.setattr(os, place, fail)
    monkeypatch.setattr(files, "_swap", lambda one, other: False)
    expected = FileError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        fitted().save(saved)
    monkeypatch.undo()
    assert contents(saved) == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("file", FILES[1:])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_file_is_an_error(saved, file, share):
    content = (saved / file).read_bytes()
    (saved / file).write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelError, match=file):
        load(saved)


@pytest.mark.parametrize("file", FILES[1:])
def test_a_bit_that_was_flipped_is_an_error(saved, file):
    content = (saved / file).read_bytes()
    for bit in range(0, 8 * len(content), 8 * len(content) // 150):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (saved / file).write_bytes(damaged)
        with pytest.raises(ModelError):
            load(saved)
    (saved / file).write_bytes(content)
    assert load(saved).predict(TEXT)


def test_a_change_that_nothing_else_would_notice_says_what_to_do(saved):
    text = (saved / "config.json").read_text(encoding="utf-8")
    (saved / "config.json").write_text(text.replace('"without_prior": 0.0', '"without_prior": 0.5'), encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json: does not match its checksum.*or fit again"):
        load(saved)


@pytest.mark.parametrize("file", FILES[1:])
def test_a_missing_file_is_an_error(saved, file):
    (saved / file).unlink()
    with pytest.raises(ModelError, match=file):
        load(saved)


def test_what_is_not_a_model_is_an_error(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="is a file"):
        load(tmp_path / "file")
    with pytest.raises(ModelError, match=r"no config\.json"):
        load(tmp_path)
    for content in ('{"architectures": ["BertModel"]}', "[]", "null", '{"format": 1}'):
        (tmp_path / "config.json").write_text(content, encoding="utf-8")
        with pytest.raises(ModelError, match="not a model of handful"):
            load(tmp_path)
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path)


def test_a_newer_format_is_an_error_that_says_so(saved):
    change(saved, format_version=9, handful_version="9.1")
    with pytest.raises(ModelError, match=r"handful 9\.1 in format 9.*install a newer one"):
        load(saved)


@pytest.mark.parametrize("version", [1, 4])
def test_an_older_format_asks_to_fit_again(saved, version):
    change(saved, format_version=version, handful_version="0.0.1")
    with pytest.raises(ModelError, match=rf"in format {version}; .* reads format 5: fit again"):
        load(saved)


def change(folder, **entries):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | entries
    config["checksums"] = saving.checksums(folder, config)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


PARAMETERS = {"types": [], "names": True, "method": "paper", "o_ratio": None}
WHOLE = {
    "evidence": [{"kind": "prototypes", "weight": 1.0}],
    "calibration": {"kind": "softmax", "temperature": 1.0},
    "transitions": None,
    "without_prior": 0.0,
}


def test_the_config_that_others_are_made_of_is_whole(saved):
    change(saved, model=WHOLE, parameters=PARAMETERS | {"clusters": None})
    assert load(saved).predict(TEXT)


@pytest.mark.parametrize(
    "entries",
    [
        {"format_version": "1"},
        {"format_version": 0},
        {"encoder": {}},
        {"encoder": {"dim": 9, "fingerprint": "toy"}},
        {"encoder": None},
        {"parameters": {}},
        {"parameters": {"clusters": None, "method": "paper"}},
        {"parameters": PARAMETERS | {"clusters": [3]}},
        {"parameters": {"types": 3, "method": "paper", "o_ratio": None, "clusters": None}},
        {"model": {}},
        {"model": {"evidence": [], "calibration": {"kind": "softmax", "temperature": 1.0}, "transitions": None}},
        {"model": WHOLE | {"evidence": [{"kind": "magic", "weight": 1.0}]}},
        {"model": WHOLE | {"evidence": [{"kind": "prototypes", "weight": "much"}]}},
        {"model": WHOLE | {"calibration": {"kind": "softmax", "temperature": -1.0}}},
        {"model": WHOLE | {"calibration": {"kind": "softmax", "temperature": "warm"}}},
        {"model": WHOLE | {"calibration": {"kind": "magic"}}},
        {"model": WHOLE | {"transitions": {"start_type": 0.1}}},
        {"model": WHOLE | {"transitions": {"start_type": 0.1, "o_type": 0.1, "type_o": 0.0, "type_other": 0.1}}},
        {"model": WHOLE | {"transitions": {"start_type": 0.1, "o_type": 0.1, "type_o": 0.1, "type_other": 1.0}}},
        {"model": WHOLE | {"transitions": {"start_type": 0.1, "o_type": 1e-320, "type_o": 0.1, "type_other": 0.1}}},
        {"model": WHOLE | {"transitions": {"start_type": 2, "o_type": 0.1, "type_o": 0.1, "type_other": 0.1}}},
        {"model": WHOLE | {"evidence": [{"kind": "prototypes", "weight": 1e300}]}},
        {"model": WHOLE | {"evidence": [{"kind": "prototypes", "weight": math.nan}]}},
        {"model": WHOLE | {"evidence": [{"kind": "prototypes", "weight": 10**400}]}},
        {"model": WHOLE | {"calibration": {"kind": "softmax", "temperature": 1e-300}}},
        {"model": WHOLE | {"calibration": ["softmax"]}},
        {"model": WHOLE | {"without_prior": math.inf}},
        {"summary": {"types": []}},
    ],
)
def test_a_config_that_does_not_fit_is_an_error(saved, entries):
    change(saved, **entries)
    with pytest.raises(ModelError):
        load(saved)


@pytest.mark.parametrize(
    "entries",
    [
        {"method": 3},
        {"types": {}},
        {"types": [], "mentions": {}, "unlabelled_words": {}, "examples": {}},
        {"types": [{"name": "LOC"}, {"name": "PER"}, {"name": "PER"}]},
        {"types": [{"name": "LOC", "description": ""}]},
        {"mentions": {"LOC": 1}},
        {"mentions": {"LOC": "1", "PER": 1}},
        {"mentions": None},
        {"n_support": -1},
        {"n_support_words": 1.5},
        {"rounds": True},
        {"o_ratio": "0.9"},
        {"o_share": None},
        {"objective": 10**400},
        {"unlabelled_words": {"LOC": 1, "PER": 10**30}},
        {"examples": {"LOC": [], "PER": [3]}},
        {"examples": {"LOC": [], "PER": [], "ORG": []}},
        {"advice": [{"python": "a", "shell": 3}]},
        {"advice": [3]},
        {"notes": "a"},
    ],
)
def test_a_summary_that_does_not_fit_is_an_error(saved, entries):
    summary = json.loads((saved / "config.json").read_text(encoding="utf-8"))["summary"]
    change(saved, summary=summary)
    assert str(load(saved).summary_)
    change(saved, summary=summary | entries)
    with pytest.raises(ModelError, match="'summary' is not that"):
        load(saved)


def test_parameters_of_the_clustering_that_are_not_possible_are_an_error_when_they_are_needed(saved):
    parameters = json.loads((saved / "config.json").read_text(encoding="utf-8"))["parameters"]
    change(saved, parameters=parameters | {"clusters": {"speed": 3}})
    model = load(saved)
    assert model.predict(TEXT)
    with pytest.raises(DataError, match="speed"):
        model.add(SUPPORT, UNLABELLED)


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("prototypes.prototypes"),
        lambda arrays: arrays.update(more=np.zeros(2)),
        lambda arrays: arrays.update({"prototypes.prototypes": arrays["prototypes.prototypes"][:, :-1].copy()}),
        lambda arrays: arrays.update({"prototypes.prototypes": arrays["prototypes.prototypes"].astype(np.float32)}),
        lambda arrays: arrays.update({"prototypes.projection": arrays["prototypes.projection"] * np.nan}),
        lambda arrays: arrays.update({"prototypes.projection": arrays["prototypes.projection"][:-1].copy()}),
        lambda arrays: arrays.update({"prototypes.prototypes": arrays["prototypes.prototypes"] * 1e200}),
        lambda arrays: arrays.update({"prototypes.tags": arrays["prototypes.tags"] + 1}),
        lambda arrays: arrays.update({"examples.tags": arrays["examples.tags"] + 7}),
        lambda arrays: arrays.update({"examples.places": arrays["examples.places"] + 100}),
        lambda arrays: arrays.update({"examples.places": arrays["examples.places"] - 100}),
        lambda arrays: arrays.update({"examples.vectors": arrays["examples.vectors"][:-1].copy()}),
    ],
)
def test_arrays_that_do_not_fit_are_an_error(saved, damage):
    arrays = load_file(saved / "model.safetensors")
    damage(arrays)
    save_file(arrays, saved / "model.safetensors")
    change(saved)
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        load(saved)


def test_another_encoder_is_an_error_that_names_both(saved):
    with pytest.raises(ModelError, match=r"fingerprint toy and 8 .* fingerprint other and 8"):
        load(saved, encoder=ToyEncoder(fingerprint="other"))
    with pytest.raises(ModelError, match=r"8 numbers per word.*toy and 9"):
        load(saved, encoder=ToyEncoder(dim=9))
    with pytest.raises(ModelError, match="given as an object"):
        Tagger.load(saved)
    with pytest.raises(EncoderError, match="object"):
        fitted().save(saved, include_encoder=True)


@pytest.fixture(scope="module")
def exported(source, made_once, tmp_path_factory):
    made = made_once("bert-exported", lambda folder: export_encoder(source, folder))
    return shutil.copytree(made, tmp_path_factory.mktemp("exported") / "encoder")


def test_an_encoder_given_by_path_travels_by_reference(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(exported.parent)
    model = tagger(encoder="./encoder").fit(SUPPORT, UNLABELLED)
    model.save(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert config["encoder"]["reference"] == str(exported)
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "a folder named `encoder`" in card
    assert str(exported) not in card  # a card is for others to read
    monkeypatch.chdir(tmp_path)
    assert Tagger.load(tmp_path / "model", cache=False).predict(TEXT) == model.predict(TEXT)
    model.save(tmp_path / "again")  # it is where it was when the tagger was fitted
    assert contents(tmp_path / "again") == contents(tmp_path / "model")
    model.save(tmp_path / "whole", include_encoder=True)
    assert Tagger.load(tmp_path / "whole", cache=False).predict(TEXT) == model.predict(TEXT)


@pytest.mark.parametrize("gone", ["/no/such", r"C:\no\such"])
def test_an_encoder_that_has_gone_is_looked_for_nowhere_else(exported, tmp_path, monkeypatch, gone):
    model = tagger(encoder=exported).fit(SUPPORT, UNLABELLED)
    model.save(tmp_path / "model")
    encoder = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))["encoder"]
    change(tmp_path / "model", encoder=encoder | {"reference": gone})
    monkeypatch.setattr("handful.encoders.opened.load", None)
    with pytest.raises(ModelError, match=re.escape(f"was in {gone}, which is no longer there") + r".*\(encoder=\)"):
        Tagger.load(tmp_path / "model")
    monkeypatch.undo()
    monkeypatch.chdir(exported.parent)
    again = Tagger.load(tmp_path / "model", encoder="encoder", cache=False)
    assert again.predict(TEXT) == model.predict(TEXT)
    monkeypatch.chdir(tmp_path)
    again.save("again")
    assert Tagger.load("again", cache=False).predict(TEXT) == model.predict(TEXT)


def test_an_encoder_inside_travels_with_the_model(exported, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(exported, copy)
    model = tagger(encoder=copy).fit(SUPPORT, UNLABELLED)
    expected = model.predict(TEXT)
    model.save(tmp_path / "model", include_encoder=True)
    shutil.rmtree(copy)
    (tmp_path / "model").rename(tmp_path / "moved")
    again = Tagger.load(tmp_path / "moved", cache=False)
    assert again.predict(TEXT) == expected
    again.save(tmp_path / "moved")  # onto itself: the encoder must not be lost
    assert Tagger.load(tmp_path / "moved", cache=False).predict(TEXT) == expected
    with pytest.raises(EncoderError, match="no folder"):
        encoder_folder("some/hub-name")


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
@pytest.mark.parametrize("include_encoder", [False, True])
def test_a_model_moves_between_machines_with_the_precision_of_its_fit(source, tmp_path, precision, include_encoder):
    def there(*args, **options):  # a machine on which this precision is the default
        return load_encoder(*args, **options | {"precision": options["precision"] or precision})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("handful.encoders.opened.load", there)
        model = tagger(encoder=source).fit(SUPPORT, UNLABELLED)
        model.save(tmp_path / "model", include_encoder=include_encoder)
        expected = model.predict(TEXT)
    here = Tagger.load(tmp_path / "model", cache=False)
    assert here.predict(TEXT) == expected
    here.save(tmp_path / "again", include_encoder=include_encoder)
    assert contents(tmp_path / "again") == contents(tmp_path / "model")
    other = {"bfloat16": "float32", "float32": "bfloat16"}[precision]
    with pytest.raises(ModelError, match="another encoder"):
        Tagger.load(tmp_path / "model", encoder=load_encoder(source, precision=other))
