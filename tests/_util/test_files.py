"""Files and folders that appear whole, whatever was killed before."""

import os
import subprocess
import sys

import pytest

from handful._util import files
from handful._util.files import beside, expand, is_temporary, replacing, replacing_folder
from handful.errors import FileError

KILLED = """
import os, signal, sys
from pathlib import Path
from handful._util import files
target, what = Path(sys.argv[1]), sys.argv[2]
die = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
if what == "file":
    with files.replacing(target) as temporary:
        temporary.write_text("half")
        die()
if what == "folder, before":
    with files.replacing_folder(target, check=lambda folder: None) as temporary:
        (temporary / "new").write_text("new")
        die()
if what == "folder, after":
    files._sync = lambda path: die() if path == target.parent else None
if what == "folder, in two steps":
    files._swap = lambda one, other: False
    rename, calls = os.rename, []
    os.rename = lambda one, other: die() if calls else calls.append(rename(one, other))
with files.replacing_folder(target, check=lambda folder: None) as temporary:
    (temporary / "new").write_text("new")
"""
NEED_SIGKILL = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def kill(target, what):
    done = subprocess.run([sys.executable, "-c", KILLED, str(target), what], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    return [path.name for path in target.parent.iterdir() if is_temporary(path.name)]


def contents(target):
    return {path.name: path.read_text() for path in target.iterdir()}


@NEED_SIGKILL
def test_the_next_one_removes_what_a_killed_process_left_of_a_file(tmp_path):
    target = tmp_path / "found.jsonl"
    other = tmp_path / ".found.jsonl.tmp"
    other.write_text("somebody's own")
    for _ in range(3):
        assert len(kill(target, "file")) == 1  # not one more each time
        assert not target.exists()
    with replacing(target) as temporary:
        temporary.write_text("whole")
    assert sorted(tmp_path.iterdir()) == [other, target]


@NEED_SIGKILL
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("folder, before", {"old": "old"}),
        ("folder, after", {"new": "new"}),
        ("folder, in two steps", {"old": "old"}),
    ],
)
def test_a_folder_is_the_old_or_the_new_one_whenever_its_writer_is_killed(tmp_path, what, expected):
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").write_text("old")
    assert len(kill(target, what)) >= 1
    assert what == "folder, in two steps" or contents(target) == expected
    beside(target)
    assert contents(target) == expected
    assert list(tmp_path.iterdir()) == [target]


def test_what_is_being_written_is_left_alone(tmp_path):
    target = tmp_path / "found.jsonl"
    with replacing(target) as one:
        one.write_text("one")
        elsewhere = one.with_name(one.name.replace(files._here(), "00000000"))
        elsewhere.write_text("another machine's")
        assert beside(target) != one
        assert elsewhere.exists()
        os.utime(elsewhere, (0, 0))
        beside(target)
        assert one.exists()
        assert not elsewhere.exists()
    assert target.read_text() == "one"


def test_a_long_name_in_another_script(tmp_path):
    target = tmp_path / ("名" * 80)
    with replacing(target) as temporary:
        temporary.write_text("whole")
    with replacing_folder(tmp_path / ("夹" * 80)) as folder:
        (folder / "file").touch()
    assert target.read_text() == "whole"


def test_patterns_and_folders_stand_for_files_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "[x].txt", "deep/er/1.parquet", "deep/0.parquet"):
        (tmp_path / name).touch()
    assert expand(["*.txt", "-", "no.txt", "[x].txt"]) == ["[x].txt", "a.txt", "b.txt", "-", "no.txt", "[x].txt"]
    assert expand(["**/*.parquet"]) == expand(["deep"]) == ["deep/0.parquet", "deep/er/1.parquet"]
    with pytest.raises(FileError, match=r"\*.csv: no file matches this pattern"):
        expand(["*.csv"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="empty: is a folder without Parquet files"):
        expand(["empty"])
