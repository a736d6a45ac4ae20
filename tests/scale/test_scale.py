"""Encode, fit and predict on two processes: the same bytes as in one, whatever happens to the workers."""

import json
import os
import re
import signal
import tracemalloc

import numpy as np
import pytest

from handful import Tagger
from handful.errors import DataError, FileError, FormatError
from handful.scale import (
    _features,
    _pieces,
    _shards,
    _workers,
    encode_texts,
    fit,
    open_features,
    predict_texts,
    workers,
)
from handful.text import stream, write

from .made import FEW, TEXTS, TYPES, Encoder, sentences_of, write_texts

pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(_pieces, "LEAST", 1000)
    monkeypatch.setattr(_pieces, "MOST", 1000)


def fitted(unlabelled, progress=None):
    tagger = Tagger(TYPES, encoder=Encoder(), cache=False)
    if isinstance(unlabelled, list):
        return tagger.fit(FEW, unlabelled, progress=progress)
    assert fit(tagger, FEW, unlabelled, progress=progress) is tagger
    return tagger


def contents(model, folder):
    model.save(folder)
    return [(folder / name).read_bytes() for name in ("model.safetensors", "config.json", "support.jsonl")]


def encoded(client, folder, encoder=None, **options):
    return encode_texts(client, [write_texts(folder)], folder / "features", encoder=encoder or Encoder(), **options)


def stamps(folder, ending):
    return {path.name: path.stat().st_mtime_ns for path in sorted(folder.glob(f"*{ending}"))}


def kill_one(client):
    pid = min(client.run(os.getpid).values())
    os.kill(pid, signal.SIGKILL)


def test_features_are_those_of_the_encoder_and_are_used_again(client, tmp_path):
    features = encoded(client, tmp_path)
    assert len(features.n_words) > 6
    rows = np.concatenate([np.load(path) for path in sorted((tmp_path / "features").glob("*.npy"))])
    np.testing.assert_array_equal(rows, Encoder().encode(sentences_of(tmp_path)))
    before = stamps(tmp_path / "features", "")
    again = encoded(client, tmp_path)
    assert again == features == open_features(tmp_path / "features")
    assert stamps(tmp_path / "features", "") == before


def test_half_precision_takes_half_of_the_room(client, tmp_path):
    features = encoded(client, tmp_path, dtype="float16")
    rows = np.concatenate([np.load(path) for path in sorted((tmp_path / "features").glob("*.npy"))])
    np.testing.assert_array_equal(rows, Encoder().encode(sentences_of(tmp_path)).astype(np.float16))
    assert fitted(features).predict(TEXTS[0])


def test_a_run_that_was_stopped_goes_on_where_it_was(client, tmp_path):
    features = encoded(client, tmp_path)
    folder = tmp_path / "features"
    whole = {path.name: path.read_bytes() for path in folder.glob("0*")}
    before = stamps(folder, ".npy")
    (folder / "index.json").unlink()
    (folder / "000002.npy").unlink()
    (folder / ".000002.npy.99.tmp").write_bytes(b"half of a shard of a worker that died")
    with pytest.raises(FileError, match="not complete; run the same command again"):
        open_features(folder)
    assert encoded(client, tmp_path) == features
    after = stamps(folder, ".npy")
    assert [name for name in before if after[name] != before[name]] == ["000002.npy"]
    assert {path.name: path.read_bytes() for path in folder.glob("0*")} == whole
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("ending", [".npy", ".json"])
def test_a_bit_that_was_flipped_in_a_shard_is_an_error(client, tmp_path, ending):
    features = encoded(client, tmp_path)
    path = tmp_path / "features" / f"000001{ending}"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match=rf"000001\{ending}: does not match its checksum.*encode the texts again"):
        fitted(features)


def test_a_run_that_was_killed_before_its_plan_was_written_begins_again(client, tmp_path):
    folder = tmp_path / "features"
    folder.mkdir()
    (folder / ".plan.json.0123abcd.99.0123456789abcdef.tmp").write_bytes(b"{")
    encoded(client, tmp_path)
    assert not list(folder.glob(".*"))


def test_other_texts_or_another_encoder_do_not_get_into_the_same_folder(client, tmp_path):
    features = encoded(client, tmp_path)
    with pytest.raises(FileError, match="made from other texts, or in another way"):
        encoded(client, tmp_path, Encoder(fingerprint="another"))
    with pytest.raises(DataError, match="come from another encoder"):
        fit(Tagger(encoder=Encoder(fingerprint="another"), types=TYPES, cache=False), FEW, features)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="a folder with other files in it"):
        encode_texts(client, [str(tmp_path / "text0.txt")], tmp_path / "notes", encoder=Encoder())


def test_a_fit_on_shards_is_that_in_memory(client, tmp_path):
    features = encoded(client, tmp_path)
    near = contents(fitted(sentences_of(tmp_path)), tmp_path / "near")
    assert contents(fitted(features), tmp_path / "far") == near


def test_progress_goes_from_one_round_to_the_last(client, tmp_path, capsys):
    features, calls = encoded(client, tmp_path, progress=True), []
    assert re.search(r"reading .* (\d+)/\1 pieces(.|\n)*encoding .* ([\d,]+)/\3 words", capsys.readouterr().err)
    tagger = fitted(features, progress=lambda *rounds: calls.append(rounds))
    n = tagger.summary_.rounds
    assert calls == [*((i + 1, 10) for i in range(n)), (n, n)]
    fitted(features, progress=True)
    assert re.search(rf"fitting .* {n}/{n} rounds", capsys.readouterr().err)
    predict_texts(client, tagger, [write_texts(tmp_path)], tmp_path / "found", progress=True)
    assert re.search(r"tagging .* ([\d,]+)/\1 words", capsys.readouterr().err)


def test_workers_that_are_killed_change_nothing(client, tmp_path):
    (tmp_path / "calm").mkdir()
    near = fitted(encoded(client, tmp_path / "calm"))
    predict_texts(client, near, [write_texts(tmp_path / "calm")], tmp_path / "near")
    calls = []

    def kill_at_first(done, total):
        if not calls:
            kill_one(client)
        calls.append(done)

    features = encoded(client, tmp_path, Encoder(seconds=0.05), progress=kill_at_first)
    assert calls[-1] == sum(features.n_words)
    assert calls == sorted(set(calls))  # no shard is counted twice
    calls.clear()
    far = fitted(features, progress=kill_at_first)
    assert calls == [*range(1, far.summary_.rounds + 1), far.summary_.rounds]
    calls.clear()
    assert contents(far, tmp_path / "m1") == contents(near, tmp_path / "m2")
    predict_texts(client, far, [write_texts(tmp_path)], tmp_path / "far", progress=kill_at_first)
    assert lines_of(tmp_path / "far") == lines_of(tmp_path / "near")


def lines_of(folder):
    return [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_mentions_that_share_words_are_found_on_workers(client, tmp_path):
    few = [*FEW, "[the friend of [Pam](PER)](PER) saw [the [Pia](PER) of Leeds](LOC)"]
    tagger = Tagger(TYPES, encoder=Encoder(), cache=False, overlap=True)
    assert fit(tagger, few, encoded(client, tmp_path)) is tagger
    predict_texts(client, tagger, [write_texts(tmp_path)], tmp_path / "found")
    near = Tagger(TYPES, encoder=Encoder(), cache=False, overlap=True).fit(few, TEXTS)
    found = [one for path in sorted((tmp_path / "found").glob("*.jsonl*")) for one in stream(path)]
    expected = [[(*one[:2], one[2].type) for one in near_found.mentions()] for near_found in near.tag(found)]
    assert [[(*one[:2], one[2].type) for one in document.mentions()] for document in found] == expected


def test_predictions_in_shards_are_those_in_one_file(client, tmp_path):
    given = [write_texts(tmp_path)]
    tagger = fitted(sentences_of(tmp_path))
    totals = predict_texts(client, tagger, given, tmp_path / "found", min_score=0.2)
    write(tagger.tag(documents(tmp_path), min_score=0.2), tmp_path / "serial.jsonl", "jsonl", is_predicted=True)
    assert lines_of(tmp_path / "found") == (tmp_path / "serial.jsonl").read_text().splitlines()
    assert totals.documents == len(TEXTS)
    assert totals.mentions == sum(len(json.loads(line)["entities"]) for line in lines_of(tmp_path / "found"))
    before = stamps(tmp_path / "found", ".jsonl")
    assert predict_texts(client, tagger, given, tmp_path / "found", min_score=0.2) == totals
    (tmp_path / "found" / "index.json").unlink()
    (tmp_path / "found" / "000001.jsonl").unlink()
    assert predict_texts(client, tagger, given, tmp_path / "found", min_score=0.2) == totals
    after = stamps(tmp_path / "found", ".jsonl")
    assert [name for name in before if after[name] != before[name]] == ["000001.jsonl"]
    with pytest.raises(FileError, match="predictions that were made from other texts, or in another way"):
        predict_texts(client, tagger, given, tmp_path / "found", min_score=0.3)


def documents(folder):
    from handful.text import stream

    return [one for path in sorted(folder.glob("text*.txt")) for one in stream(path, unlabelled=True)]


@pytest.mark.parametrize("kind", ["encode", "predict"])
def test_a_malformed_record_is_an_error_before_anything_is_written(client, tmp_path, kind):
    for number in range(3):
        lines = [json.dumps({"text": text}) for text in TEXTS[:40]]
        if number:
            lines[30 + number] = '{"text": null}'
        (tmp_path / f"part{number}.jsonl").write_text("\n".join(lines))
    out, pattern = tmp_path / "out", str(tmp_path / "part*.jsonl")
    tagger = fitted(TEXTS)

    def run(**options):
        if kind == "encode":
            return encode_texts(client, [pattern], out, encoder=Encoder(), options=options)
        return predict_texts(client, tagger, [pattern], out, options=options)

    with pytest.raises(FormatError, match=r"part1.jsonl:32: "):  # the first of both
        run()
    assert not out.exists()
    report = list(run(malformed="skip").report)
    assert len(report) == 2
    assert all("1 malformed place was skipped, the first: " in line for line in report)


def test_the_memory_of_a_worker_does_not_grow_with_the_text(client, tmp_path):
    """Beyond the encoder, a worker needs some blocks and 16 bytes per word of its share: here 8 MB blocks."""
    d, n, shards = 64, 100_000, 4
    rng = np.random.default_rng(0)
    for number in range(shards):
        rows = rng.standard_normal((n, d), np.float32)
        np.save(tmp_path / f"{number:06d}.npy", rows)
        _shards.seal(tmp_path / f"{number:06d}.npy", b"")
    text = _features.Features(tmp_path, [n] * shards, [n // 50] * shards, d, "float32", "made", [])
    far = text.far_text()
    from handful._util.arrays import Part, Rows
    from handful.cluster import SubspaceKMeans

    y = np.full(n * shards, -1)
    y[:60] = np.arange(60) % 3
    client.run(tracemalloc.start)
    try:
        SubspaceKMeans(0.8, max_iter=2).fit(Rows([Part(far.rows)]), y)
        peaks = [peak for _, peak in client.run(tracemalloc.get_traced_memory).values()]
    finally:
        client.run(tracemalloc.stop)
    total = n * shards * d * 4
    assert total > 100e6
    assert max(peaks) < 60e6


def test_workers_are_asked_for_in_one_way(monkeypatch):
    monkeypatch.setattr(_workers, "PATIENCE", "1s")
    with pytest.raises(DataError, match="either the address of a cluster or a number of workers"), workers():
        pass
    with pytest.raises(FileError, match="there is no scheduler of Dask"), workers("tcp://127.0.0.1:1"):
        pass
