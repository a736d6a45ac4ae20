"""A store: written in packs, shared by processes, and never corrupt after any damage."""

import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from counting import CountingEncoder, assert_same, damage, expected, sentences_of, stores_of
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.encoders.cache import CachedEncoder, FeatureCache
from handful.encoders.cache._store import Store
from handful.errors import HandfulWarning

HERE = Path(__file__).parent


def test_misses_are_encoded_and_kept_in_parts(cache, tiny_packs):
    cached = CachedEncoder(CountingEncoder(), cache)
    assert_same(cached.encode(sentences_of(35)), expected(sentences_of(35)))
    (store,) = stores_of(cache)
    assert len(Store(store).packs()) == 4


def test_an_interrupted_encoding_keeps_its_finished_parts(cache, tiny_packs):
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


@pytest.mark.parametrize(("kind", "where"), [("flip", 0.0), ("cut", 0.01), ("cut", 0.5), ("zero", 0.0), ("zero", 0.3)])
def test_damage_is_detected_and_rebuilt(cache, kind, where):
    sentences = sentences_of(20)
    wanted = expected(sentences, dim=64)
    cached = CachedEncoder(CountingEncoder(dim=64), cache)
    cached.encode(sentences)
    (store,) = stores_of(cache)
    damage(store, where, kind)
    with pytest.warns(HandfulWarning, match="could not be used"):
        assert_same(cached.encode(sentences), wanted)
    again = CountingEncoder(dim=64)
    assert_same(CachedEncoder(again, cache).encode(sentences), wanted)
    assert again.seen == []


def test_only_the_damaged_sentence_is_encoded_again(cache):
    sentences = sentences_of(20)
    CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences)
    (store,) = stores_of(cache)
    content = store.read_bytes()
    last = expected(sentences, dim=64)[-1].tobytes()
    assert content.count(last) == 1
    store.write_bytes(content.replace(last, last[::-1]))
    encoder = CountingEncoder(dim=64)
    with pytest.warns(HandfulWarning, match="checksum"):
        found = CachedEncoder(encoder, cache).encode(sentences)
    assert_same(found, expected(sentences, dim=64))
    assert encoder.seen == [tuple(sentences[-1])]


@examples(20)
@given(where=st.floats(0, 1), kind=st.sampled_from(["flip", "cut", "zero"]))
def test_any_damage_gives_right_features(tmp_path_factory, where, kind):
    cache = FeatureCache(tmp_path_factory.mktemp("cache"))
    sentences = sentences_of(20)
    CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences)
    (store,) = stores_of(cache)
    damage(store, where, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said or not: damage to an unused part of a page is none
        for _ in range(2):  # a file may turn out to be damaged when it is written to, and is begun anew then
            assert_same(CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences), expected(sentences, dim=64))
    encoder = CountingEncoder(dim=64)
    assert_same(CachedEncoder(encoder, cache).encode(sentences), expected(sentences, dim=64))
    assert encoder.seen == []


CHILD = """
import os, sys
sys.path.insert(0, {here!r})
from counting import CountingEncoder, sentences_of
from handful.encoders.cache import _encoder as encoder_module
from handful.encoders.cache import CachedEncoder, FeatureCache
encoder_module.PACK_BYTES = 10 * 4 * 8 * 4
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


def assert_sound(cache, sentences):
    """Whatever a killed process left is right and read without a word: a warning would fail the test."""
    assert_same(CachedEncoder(CountingEncoder(), cache).encode(sentences), expected(sentences))
