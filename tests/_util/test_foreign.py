"""What a stranger wrote: files that are none, links that lead out, and characters that command a terminal."""

import json
import os
import shutil
import sys

import pytest

from growth import grows_as
from handful import Tagger
from handful._util.files import beside, is_temporary, replacing
from handful._util.foreign import check_files, copy_file, copy_files, is_plain, visible
from handful.encoders import load
from handful.errors import DataError, FileError, ModelError
from handful.scale._folders import ShardFolder
from handful.tagger.saving import checksums
from handful.text import EntityType, Sentence, Span
from tagger.toy import NamedEncoder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes and devices, and no links for all")

ENDINGS = (".txt", ".json")


@pytest.fixture
def model(tmp_path):
    Tagger({"PER": "P people"}, encoder=NamedEncoder(), cache=False).fit(["[Pia](PER) left"]).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)  # as if it could be guessed
    planted = beside(tmp_path / "out.txt")
    planted.symlink_to(victim)
    with pytest.raises(FileError, match=r"out\.txt: cannot be written: File exists"), replacing(tmp_path / "out.txt"):
        pass
    assert victim.read_text() == "precious"


def test_a_temporary_name_cannot_be_guessed(tmp_path):
    names = {beside(tmp_path / "out.txt").name for _ in range(100)}
    assert len(names) == 100
    assert all(is_temporary(name) for name in names)


def test_only_known_files_of_an_encoder_are_copied(tmp_path):
    source = tmp_path / "encoder"
    (source / "inner").mkdir(parents=True)
    for name in ("vocab.txt", "config.json", "id_rsa", ".env", "inner/config.json"):
        (source / name).write_text(name)
    (source / "again.txt").symlink_to(source / "vocab.txt")
    copy_files(source, tmp_path / "copy", ENDINGS)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["again.txt", "config.json", "vocab.txt"]
    assert not (tmp_path / "copy" / "again.txt").is_symlink()


@pytest.mark.parametrize("place", ["../secret", "/etc/hostname"])
def test_a_link_that_leads_out_of_the_folder_is_not_copied(tmp_path, place):
    (tmp_path / "secret").write_text("a secret")
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "vocab.txt").symlink_to(place)
    with pytest.raises(FileError, match=r"vocab\.txt: leads to .*, which is outside of the folder"):
        copy_files(tmp_path / "encoder", tmp_path / "copy", ENDINGS)


def test_a_tuned_encoder_carries_no_file_that_a_link_leads_to(tmp_path):
    pytest.importorskip("onnx")
    from handful.encoders.opened import EMBEDDED
    from handful.encoders.thaw import read_graph, write_tuned

    source, out = tmp_path / "encoder", tmp_path / "out"
    shutil.copytree(EMBEDDED["handful-en"], source)
    (source / "training.json").unlink(missing_ok=True)
    (source / "training.json").symlink_to("/etc/hostname")
    out.mkdir()
    with pytest.raises(FileError, match="outside of the folder"):
        write_tuned(source, out, read_graph(source / "model.onnx"), {}, None)
    assert not (out / "training.json").exists()


def test_a_file_is_copied_by_name_and_by_a_link_within_its_folder(tmp_path):
    (tmp_path / "a").write_text("words")
    (tmp_path / "b").symlink_to("a")
    copy_file(tmp_path / "b", tmp_path / "c")
    assert (tmp_path / "c").read_text() == "words"
    assert not (tmp_path / "c").is_symlink()


def test_links_in_the_cache_of_the_hub_stay_in_their_repository(tmp_path):
    repository = tmp_path / "models--a--b"
    (repository / "blobs").mkdir(parents=True)
    (repository / "blobs" / "0a").write_text("words")
    (repository / "snapshots" / "1f").mkdir(parents=True)
    (repository / "snapshots" / "1f" / "vocab.txt").symlink_to("../../blobs/0a")
    copy_files(repository / "snapshots" / "1f", tmp_path / "copy", ENDINGS)
    assert (tmp_path / "copy" / "vocab.txt").read_text() == "words"
    (repository / "snapshots" / "1f" / "more.txt").symlink_to(__file__)
    with pytest.raises(FileError, match="outside of the folder"):
        copy_files(repository / "snapshots" / "1f", tmp_path / "other", ENDINGS)


def test_a_model_carries_no_file_that_a_link_of_its_encoder_leads_to(tmp_path):
    from handful.encoders.opened import EMBEDDED

    shutil.copytree(EMBEDDED["handful-en"], tmp_path / "encoder")
    (tmp_path / "encoder" / "vocab.txt").symlink_to("/etc/hostname")
    tagger = Tagger({"PEST": "insects"}, encoder=tmp_path / "encoder", cache=False).fit()
    with pytest.raises(FileError, match="outside of the folder"):
        tagger.save(tmp_path / "model", include_encoder=True)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "support.jsonl", "more"])
def test_pipes_and_devices_in_a_model_are_refused(model, name):
    (model / name).unlink(missing_ok=True)
    os.mkfifo(model / name)
    with pytest.raises(FileError, match="is a pipe or a device"):
        Tagger.load(model, encoder=NamedEncoder())
    (model / name).unlink()
    (model / name).symlink_to("/dev/zero")
    with pytest.raises(FileError, match="is a pipe or a device"):
        Tagger.load(model, encoder=NamedEncoder())


def test_a_file_that_is_larger_than_the_memory_is_refused(model):
    os.truncate(model / "model.safetensors", 1 << 43)
    with pytest.raises(FileError, match="more than this machine has memory"):
        Tagger.load(model, encoder=NamedEncoder())


@pytest.mark.parametrize("name", ["plan.json", "index.json", "000000.npy"])
def test_pipes_among_shards_are_refused(tmp_path, name):
    for one in ("plan.json", "index.json"):
        (tmp_path / one).write_text("{}")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileError, match="is a pipe or a device"):
        ShardFolder(tmp_path, "features").index()


def test_pipes_in_an_encoder_are_refused(tmp_path):
    for name in ("encoder.json", "model.onnx"):
        (tmp_path / name).write_text("{}")
    os.mkfifo(tmp_path / "tokenizer.json")
    with pytest.raises(FileError, match="is a pipe or a device"):
        load(tmp_path)


@pytest.mark.parametrize("reference", ["../../etc", "./encoder", "a/b/c", "~/encoder", "a/../b", "-/.."])
def test_the_encoder_of_a_model_is_not_looked_for_in_the_working_directory(model, reference, tmp_path, monkeypatch):
    config = json.loads((model / "config.json").read_text())
    config["encoder"]["reference"] = reference
    config["checksums"] = checksums(model, config)
    (model / "config.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="neither a name nor a whole path"):
        Tagger.load(model)


def test_a_folder_of_files_is_well(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").mkdir()
    (tmp_path / "c").symlink_to("nowhere")
    check_files(tmp_path)


@pytest.mark.parametrize("given", ["\x1b]52;c;aGk=\x07", "a\rb", "\x9b31m", "\u202eabc", "a\u2066b", "\0"])
def test_control_characters_are_shown(given):
    assert is_plain(visible(given))
    assert not is_plain(given)
    assert visible(given) != given
    with pytest.raises(DataError, match="control characters"):
        EntityType(given)
    with pytest.raises(DataError, match="control characters"):
        Sentence(("Pia",), (Span(0, 1, given),))


def test_other_characters_are_as_they_are():
    text = "naïve 你好 \u200eعربي\u200f 😀\u200d🔥\tx\ny\u00a0z"
    assert visible(text) == text
    assert EntityType("a type 你好").name == "a type 你好"


@pytest.mark.parametrize("piece", ["\x1b", "a", "\u202e", "\x1b[31m"])
def test_a_text_is_shown_in_linear_time(piece):
    assert grows_as(visible, lambda n: piece * n, 5000) < 1.5
