"""The cache: its limit, its place, and what it does where it cannot write."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from counting import CountingEncoder, assert_same, damage, expected, sentences_of, stores_of

from handful.encoders.cache import CachedEncoder, FeatureCache, default_place
from handful.encoders.cache._cache import parse_size
from handful.errors import DataError, FileError, HandfulWarning

HERE = Path(__file__).parent


def test_the_least_recently_used_goes_first(tmp_path):
    cache = FeatureCache(tmp_path / "cache")
    cached = CachedEncoder(CountingEncoder(dim=1024), cache)
    for i in range(4):
        cached.encode(sentences_of(1, first=i))
        time.sleep(0.002)
    one = 4 * 1024 * 4
    cache.limit = cache.size() + int(2.2 * one) + 66_000 - int(1.5 * one)  # two of them must go for two more
    cached.encode(sentences_of(1, first=0))  # now 1 is the oldest
    time.sleep(0.002)
    other = CachedEncoder(CountingEncoder(dim=1024, fingerprint="other"), cache)
    other.encode(sentences_of(2))
    assert cache.size() <= cache.limit

    encoder = CountingEncoder(dim=1024)
    again = CachedEncoder(encoder, cache)
    for i in (0, 3):
        again.encode(sentences_of(1, first=i))
    assert encoder.seen == []
    again.encode(sentences_of(2, first=1))
    assert len(encoder.seen) == 2


def test_a_corpus_larger_than_the_limit_does_not_drive_itself_out(tmp_path, tiny_packs):
    cache = FeatureCache(tmp_path, limit=140_000)
    sentences = sentences_of(400)
    n_encoded = []
    for _ in range(3):
        encoder = CountingEncoder()
        with pytest.warns(HandfulWarning, match="HANDFUL_CACHE_LIMIT") as said:
            found = CachedEncoder(encoder, FeatureCache(tmp_path, limit=140_000)).encode(sentences)
        assert len(said) == 1
        assert_same(found, expected(sentences))
        n_encoded.append(len(encoder.seen))
    assert n_encoded[0] == 400
    assert n_encoded[1] == n_encoded[2] < 400
    assert 0 < cache.size() <= 140_000


def test_what_cannot_fit_removes_nothing(tmp_path):
    cache = FeatureCache(tmp_path, limit=140_000)
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(5))
    before = stores_of(cache)
    with pytest.warns(HandfulWarning, match="full"):
        CachedEncoder(CountingEncoder(dim=2048), cache).encode(sentences_of(5))
    assert stores_of(cache) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of a process's files")
def test_a_disk_that_fills_in_the_middle_of_a_file_leaves_no_half_file(cache):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sentences = sentences_of(30)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.warns(HandfulWarning, match="could not be written to"):
            found = CachedEncoder(CountingEncoder(dim=64), cache).encode(sentences)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert_same(found, expected(sentences, dim=64))
    assert list(cache.path.iterdir()) == []
    cached = CachedEncoder(CountingEncoder(dim=64), cache)
    for _ in range(2):
        assert_same(cached.encode(sentences), expected(sentences, dim=64))
    assert len(cached.encoder.seen) == 30


def test_a_place_that_is_a_file_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    cache = FeatureCache(tmp_path / "file")
    with pytest.warns(HandfulWarning, match="HANDFUL_CACHE"):
        assert_same(CachedEncoder(CountingEncoder(), cache).encode(sentences_of(3)), expected(sentences_of(3)))
    with pytest.raises(FileError, match="cannot be read"):
        cache.contents()


UNWRITABLE = """
import os, secrets, sys, warnings
sys.path.insert(0, {here!r})
from counting import *
from handful.encoders.cache import CachedEncoder, FeatureCache
expected(sentences_of(1))  # modules are loaded while they can be read
if os.getuid() == 0:
    os.setuid(65534)
cache = FeatureCache({path!r})
encoder = CountingEncoder()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    cached = CachedEncoder(encoder, cache)
    for _ in range(2):
        assert_same(cached.encode(sentences_of(20)), expected(sentences_of(20)))
print(len(encoder.seen), *(warning.category.__name__ for warning in said))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work otherwise on Windows")
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("is_damaged", [False, True])
def test_an_unwritable_cache_is_read_and_said_once(is_damaged):
    with tempfile.TemporaryDirectory() as place:  # pytest's own is closed to other users, and shared with other tests
        cache = FeatureCache(Path(place) / "cache")
        CachedEncoder(CountingEncoder(), cache).encode(sentences_of(10))
        if is_damaged:
            damage(stores_of(cache)[0], 0.5, "zero")
        stores_of(cache)[0].chmod(0o444)
        folders = [Path(place), cache.path]
        for folder in folders:
            folder.chmod(0o555)
        code = UNWRITABLE.format(here=str(HERE), path=str(cache.path))
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        for folder in folders:
            folder.chmod(0o755)
    assert run.stderr == ""
    # Twice ten that cannot be kept, and twice the ten of the damaged file; one warning for each cause.
    assert run.stdout.split() == (["40"] + ["HandfulWarning"] * 2 if is_damaged else ["20", "HandfulWarning"])


def test_the_place_is_that_of_the_platform_or_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("HANDFUL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert default_place() == tmp_path / "xdg" / "handful" / "features"
    assert default_place().is_absolute()
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path / "mine"))
    assert default_place() == tmp_path / "mine" / "features"
    assert FeatureCache().path == tmp_path / "mine" / "features"
    assert not (tmp_path / "mine").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know a home for every user")
def test_no_home_is_no_obstacle(monkeypatch):
    for name in ("HANDFUL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it is for a user without a home
    assert default_place().is_absolute()


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("10 GB", 10**10),
        ("500mb", 5 * 10**8),
        ("1.5 GiB", 3 * 2**29),
        ("12", 12),
        (7, 7),
        ("2k", 2000),
        ("1T", 10**12),
    ],
)
def test_sizes(text, n_bytes, monkeypatch, tmp_path):
    assert parse_size(text) == n_bytes
    monkeypatch.setenv("HANDFUL_CACHE_LIMIT", str(text))
    assert FeatureCache(tmp_path).limit == n_bytes
    assert FeatureCache(tmp_path, limit="3 kB").limit == 3000


@pytest.mark.parametrize("text", ["", "much", "-1", "0", "1 XB", "GB", "1e99 GB", "9" * 400, -5, 0.3])
def test_a_size_that_is_none_is_an_error(text):
    with pytest.raises(DataError, match="positive number of bytes"):
        parse_size(text)


def test_contents_and_clear(cache):
    assert cache.contents() == []
    assert cache.clear() == 0
    named = CountingEncoder()
    named.name = "my-encoder"
    CachedEncoder(named, cache).encode(sentences_of(10))
    time.sleep(0.002)
    CachedEncoder(CountingEncoder(fingerprint="other", dim=4), cache).encode(sentences_of(3, n_words=2))
    other, mine = cache.contents()
    assert (mine.encoder, mine.fingerprint, mine.dim) == ("my-encoder", "counting", 8)
    assert (mine.n_sentences, mine.n_words) == (10, 40)
    assert (other.encoder, other.n_sentences, other.n_words) == ("other", 3, 6)
    assert abs(mine.last_use - time.time()) < 600
    assert mine.n_bytes + other.n_bytes == cache.size() == sum(path.stat().st_size for path in stores_of(cache))
    assert cache.clear() == mine.n_bytes + other.n_bytes
    assert stores_of(cache) == []


def test_clear_removes_only_what_belongs_to_the_cache(cache):
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(2))
    (cache.path / "mine.txt").write_text("keep")
    cache.clear()
    assert [path.name for path in cache.path.iterdir()] == ["mine.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work otherwise on Windows")
def test_other_users_cannot_look(cache):
    CachedEncoder(CountingEncoder(), cache).encode([["secret"]])
    assert cache.path.stat().st_mode & 0o077 == 0
    assert b"secret" not in stores_of(cache)[0].read_bytes()


def test_a_time_to_come_does_not_keep_features_for_ever(tmp_path):
    cache = FeatureCache(tmp_path, limit="170 kB")
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(150))
    (store,) = stores_of(cache)
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE pack SET used = ?", (time.time_ns() + 365 * 86400 * 10**9,))
    encoder = CountingEncoder()
    for _ in range(2):
        CachedEncoder(encoder, cache).encode(sentences_of(150, first=200))
    assert len(encoder.seen) == 150  # the second time all of them were cached


@pytest.mark.skipif(sys.platform == "win32", reason="there are no names of users in paths on Windows")
def test_a_place_of_an_unknown_user_is_an_error(monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE", "~no-such-user-here/x")
    with pytest.raises(DataError, match="HANDFUL_CACHE names no folder"):
        default_place()
