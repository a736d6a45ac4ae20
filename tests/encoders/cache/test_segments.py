"""Segments: kept in parts, merged, shared by processes, and never corrupt after any damage."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
import zlib
from pathlib import Path

import pytest
from counting import CountingEncoder, assert_same, damage, expected, segments_of, sentences_of, temporaries_of
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.encoders.cache import CachedEncoder, FeatureCache
from handful.encoders.cache import _folder as folder_module
from handful.encoders.cache._segments import DamagedError, Segment
from handful.errors import HandfulWarning

HERE = Path(__file__).parent


def test_misses_are_encoded_and_kept_in_parts(cache, tiny_segments):
    cached = CachedEncoder(CountingEncoder(), cache)
    assert_same(cached.encode(sentences_of(35)), expected(sentences_of(35)))
    assert len(segments_of(cache)) == 4


def test_an_interrupted_encoding_keeps_its_finished_parts(cache, tiny_segments):
    class Stopping(CountingEncoder):
        def encode(self, sentences, **options):
            if len(self.seen) >= 20:
                raise KeyboardInterrupt
            return super().encode(sentences, **options)

    with pytest.raises(KeyboardInterrupt):
        CachedEncoder(Stopping(), cache).encode(sentences_of(35))
    encoder = CountingEncoder()
    assert_same(CachedEncoder(encoder, cache).encode(sentences_of(35)), expected(sentences_of(35)))
    assert len(encoder.seen) == 15


def test_many_small_segments_are_merged(cache):
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder, cache)
    sentences = sentences_of(100)
    for sentence in sentences:
        assert_same(cached.encode([sentence]), expected([sentence]))
    assert len(segments_of(cache)) <= folder_module._MANY
    assert temporaries_of(cache) == []
    for one in (cached, CachedEncoder(encoder, cache)):
        assert_same(one.encode(sentences), expected(sentences))
    assert len(encoder.seen) == 100
    (entry,) = cache.contents()
    assert (entry.n_sentences, entry.n_words) == (100, 400)


def test_one_process_merges_what_another_has_open(cache):
    ours, theirs = CountingEncoder(), CountingEncoder()
    reader, writer = CachedEncoder(ours, cache), CachedEncoder(theirs, cache)
    for sentence in sentences_of(20):
        reader.encode([sentence])
    for sentence in sentences_of(20, first=20):
        writer.encode([sentence])
    n_seen = len(ours.seen)
    assert_same(reader.encode(sentences_of(40)), expected(sentences_of(40)))
    assert len(ours.seen) == n_seen


def test_threads_may_share_one(cache):
    cached = CachedEncoder(CountingEncoder(), cache)
    found = {}

    def work(first):
        for i in range(20):
            found[first, i] = cached.encode(sentences_of(3, first=first + i))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 5, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 60
    for (first, i), rows in found.items():
        assert_same(rows, expected(sentences_of(3, first=first + i)))


@pytest.mark.parametrize("kind", ["flip", "cut", "longer"])
@pytest.mark.parametrize("where", [0.0, 0.0005, 0.01, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("is_open", [False, True])
def test_damage_is_detected_and_rebuilt(cache, kind, where, is_open):
    sentences = sentences_of(20)
    wanted = expected(sentences, dim=64)
    cached = CachedEncoder(CountingEncoder(dim=64), cache)
    cached.encode(sentences)
    if not is_open:
        cached = CachedEncoder(CountingEncoder(dim=64), cache)
    (segment,) = segments_of(cache)
    damage(segment, where, kind)
    if is_open and kind == "longer":
        assert_same(cached.encode(sentences), wanted)  # all that its index tells of is there
    elif is_open and kind == "flip" and where < 0.1:
        assert_same(cached.encode(sentences), wanted)  # its index is in memory
    else:
        with pytest.warns(HandfulWarning, match="could not be used"):
            assert_same(cached.encode(sentences), wanted)
        again = CountingEncoder(dim=64)
        assert_same(CachedEncoder(again, cache).encode(sentences), wanted)
        assert again.seen == []


def test_no_byte_of_head_and_index_can_change_unseen(cache):
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(5))
    (path,) = segments_of(cache)
    content = path.read_bytes()
    n_bytes = len(content[:4096].rstrip(b"\0"))
    assert n_bytes > 5 * 24
    assert Segment(path).keys
    for at in range(n_bytes):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamagedError, match=path.name):
            Segment(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"dim": "4"},
        {"dim": -4},
        {"dim": 0},
        {"precision": "int8"},
        {"precision": []},
        {"encoder": 3},
        {"fingerprint": None},
    ],
)
def test_a_head_that_does_not_fit_is_damage_though_its_checksum_holds(cache, entries):
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(5))
    (path,) = segments_of(cache)
    content = path.read_bytes()
    n_head, n_sentences = struct.unpack_from("<II", content, 8)
    head, index = content[20 : 20 + n_head], content[20 + n_head : 20 + n_head + 24 * n_sentences]
    for changed in (json.dumps(json.loads(head) | entries).encode(), b"[]", b"\xff", b"[" * 100_000):
        start = (
            struct.pack("<8sIII", content[:8], len(changed), n_sentences, zlib.crc32(changed + index)) + changed + index
        )
        path.write_bytes(start.ljust(-(-len(start) // 4096) * 4096, b"\0") + content[4096:])
        with pytest.raises(DamagedError, match="does not say whose features"):
            Segment(path)
    assert cache.contents() == []
    with pytest.warns(HandfulWarning, match="could not be used"):
        assert_same(CachedEncoder(CountingEncoder(), cache).encode(sentences_of(5)), expected(sentences_of(5)))


def test_only_the_damaged_sentence_is_encoded_again(cache):
    sentences = sentences_of(20)
    CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences)
    (segment,) = segments_of(cache)
    damage(segment, 1.0, "flip")
    encoder = CountingEncoder(dim=64)
    with pytest.warns(HandfulWarning, match="checksum"):
        found = CachedEncoder(encoder, cache).encode(sentences)
    assert_same(found, expected(sentences, dim=64))
    assert encoder.seen == [tuple(sentences[-1])]


def test_damage_is_detected_in_a_view(cache):
    sentences = sentences_of(60, n_words=300)
    CachedEncoder(CountingEncoder(dim=32), cache).encode(sentences)
    (segment,) = segments_of(cache)
    damage(segment, 0.7, "flip")
    encoder = CountingEncoder(dim=32)
    with pytest.warns(HandfulWarning, match="checksum"):
        found = CachedEncoder(encoder, cache).encode(sentences)
    assert_same(found, expected(sentences, dim=32))
    assert len(encoder.seen) == 1


@examples(20)
@given(where=st.floats(0, 1), kind=st.sampled_from(["flip", "cut", "zero"]))
def test_any_damage_gives_right_features(tmp_path_factory, where, kind):
    cache = FeatureCache(tmp_path_factory.mktemp("cache"))
    sentences = sentences_of(20)
    CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences)
    (segment,) = segments_of(cache)
    damage(segment, where, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said or not: damage to the padding between index and features is none
        assert_same(CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences), expected(sentences, dim=64))
    encoder = CountingEncoder(dim=64)
    assert_same(CachedEncoder(encoder, cache).encode(sentences), expected(sentences, dim=64))
    assert encoder.seen == []


def test_a_file_that_vanishes_is_encoded_again(cache, tiny_segments):
    cached = CachedEncoder(CountingEncoder(), cache)
    cached.encode(sentences_of(30))
    segments_of(cache)[1].unlink()
    assert_same(cached.encode(sentences_of(30)), expected(sentences_of(30)))
    assert len(cached.encoder.seen) == 40


CHILD = """
import os, sys
sys.path.insert(0, {here!r})
from counting import CountingEncoder, sentences_of
from handful.encoders.cache import _encoder as encoder_module
from handful.encoders.cache import CachedEncoder, FeatureCache
encoder_module.SEGMENT_BYTES = 10 * 4 * 8 * 4
encoder = CountingEncoder(seconds={seconds})
cached = CachedEncoder(encoder, FeatureCache({path!r}))
{setup}
print("ready", flush=True)
sys.stdin.readline()
for first, n in {parts}:
    cached.encode(sentences_of(n, first=first))
print(len(encoder.seen))
"""


def child(cache, parts, seconds=0.0, setup=""):
    code = CHILD.format(here=str(HERE), seconds=seconds, path=str(cache.path), parts=parts, setup=setup)
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_write_at_once(cache):
    # Overlapping corpora in many small parts, so that both write, merge and read what the other wrote.
    parts = [[(i, 4) for i in range(0, 150, 2)], [(i, 4) for i in range(200, 50, -2)]]
    children = [child(cache, part, seconds=0.001) for part in parts]
    for process in children:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in children:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    encoder = CountingEncoder()
    everything = sentences_of(204)
    assert_same(CachedEncoder(encoder, cache).encode(everything), expected(everything))
    assert encoder.seen == []
    assert temporaries_of(cache) == []


def test_two_processes_share_the_work_on_one_corpus(cache):
    children = [child(cache, [(0, 200)], seconds=0.001) for _ in range(2)]
    for process in children:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in children:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    (entry,) = cache.contents()
    assert (entry.n_sentences, entry.n_words) == (200, 800)
    assert_same(CachedEncoder(CountingEncoder(), cache).encode(sentences_of(200)), expected(sentences_of(200)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.exhaustive
def test_killed_at_random_it_is_never_corrupt(cache):
    rng = random.Random(0)
    for _ in range(8):
        process = child(cache, "[(i, 3) for i in range(0, 10**5, 2)]")
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(rng.uniform(0.0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert_sound(cache, sentences_of(400))
        if rng.random() < 0.5:
            cache.clear()
    for temporary in temporaries_of(cache):
        os.utime(temporary, (0, 0))
    cache.contents()
    assert temporaries_of(cache) == []


def assert_sound(cache, sentences):
    """Whatever a killed process left is right and read without a word: a warning would fail the test."""
    assert_same(CachedEncoder(CountingEncoder(), cache).encode(sentences), expected(sentences))


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_file_that_vanishes_between_listing_and_opening_is_nothing_to_say(cache):
    cached = CachedEncoder(CountingEncoder(), cache)
    cached.encode(sentences_of(5))
    segments_of(cache)[0].with_stem("0" * 32).symlink_to("nowhere")
    assert_same(cached.encode(sentences_of(9)), expected(sentences_of(9)))
    assert len(cache.contents()) == 1


# Dies at the n-th call of a function of the operating system's.
DYING = """
real, n_calls = os.{function}, 0
def dying(*args, **options):
    global n_calls
    n_calls += 1
    if n_calls == {n}:
        os._exit(9)
    return real(*args, **options)
os.{function} = dying
"""


@pytest.mark.parametrize(
    ("function", "n"),
    [
        ("fsync", 1),
        ("fsync", 2),
        ("fsync", 7),
        ("utime", 3),
        ("replace", 1),
        ("replace", 33),
        ("unlink", 1),
        ("unlink", 9),
    ],
)
def test_killed_at_each_step_it_is_never_corrupt(cache, function, n):
    process = child(cache, [(i, 1) for i in range(40)], setup=DYING.format(function=function, n=n))
    process.communicate("\n", timeout=60)
    assert process.returncode == 9
    (entry,) = cache.contents() or [None]
    if entry:
        assert entry.n_words == 4 * entry.n_sentences
    assert_sound(cache, sentences_of(40))
    encoder = CountingEncoder()
    assert_same(CachedEncoder(encoder, cache).encode(sentences_of(40)), expected(sentences_of(40)))
    assert encoder.seen == []


def test_a_temporary_file_in_use_stays(cache):
    CachedEncoder(CountingEncoder(), cache).encode([["a"]])
    temporary = segments_of(cache)[0].with_suffix(".1234.tmp")
    temporary.write_bytes(b"half")
    cache.contents()
    cache.clear()
    assert temporary.exists()
