"""Targets on disk, and the tasks made from them."""

import hashlib

import pytest

from handful.bench import Settings
from handful.bench._targets import digest, read_supports, read_target
from handful.bench._tasks import make_task
from handful.errors import DataError, FileError
from handful.text import Sentence, Span, read, write

from .made import corpus_folder, sentences

OPTIONS = {"shots": (1, 3), "sets": 2}


def task_of(folder, **options):
    return make_task(read_target(folder), Settings(**(OPTIONS | options)))


def test_supports_come_from_dev_and_all_else_is_unlabelled_text(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    task = task_of(folder)
    dev, train, test = (list(read(folder / f"{name}.txt")) for name in ("dev", "train", "test"))
    bare = [sentence.without_labels() for sentence in dev + train]
    assert (task.name, task.text("all"), task.text("none")) == ("made", bare, None)
    assert task.scored == test
    assert [len(task.supports[n]) for n in (1, 3)] == [2, 2]
    assert all(sentence in dev for some in task.supports.values() for one in some for sentence in one.sentences)


def test_without_dev_supports_come_from_train(tmp_path):
    folder = corpus_folder(tmp_path / "made", has_dev=False)
    task = task_of(folder)
    assert task.text("all") == [sentence.without_labels() for sentence in read(folder / "train.txt")]


def test_on_dev_the_dev_file_is_cut_in_two_by_a_hash_of_the_words(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    task = task_of(folder, on="dev", most_words=40)
    expected = ([], [])
    for sentence in read(folder / "dev.txt"):
        expected[hashlib.sha256("\x1f".join(sentence.words).encode()).digest()[0] % 2].append(sentence)
    assert (task.pool, task.scored) == expected
    assert 0 < sum(map(len, task.other)) <= 40
    assert task.other == list(read(folder / "train.txt"))[: len(task.other)]


def test_ratios_by_word(tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    # 16 words, 2 of them in mentions: a share of 0.875
    words = tuple("abcdefgh")
    some = [Sentence(words, (Span(0, 1, "X"),)), Sentence(words[::-1], (Span(3, 4, "X"),))]
    for split in ("train", "dev", "test"):
        write(some, folder / f"{split}.txt", "conll")
    task = task_of(folder, shots=(1,))
    assert [task.o_ratio(word) for word in ("none", "auto", "share", "over", "0.97")] == [None, "auto", 0.85, 0.9, 0.97]


def test_given_supports_go_by_their_numbers(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    place = folder / "supports" / "1shot"
    place.mkdir(parents=True)
    some = sentences(12, 7)
    for number in (10, 2, 1):
        write(some[number - 1 : number + 1], place / f"{number}.txt", "conll")
    task = task_of(folder, shots=(1, 3), sets=3)
    assert [one.name for one in task.supports[1]] == ["1", "2", "10"]
    assert {one.origin for one in task.supports[1]} == {"given"}
    assert {one.origin for one in task.supports[3]} == {"drawn with seed 0"}
    assert [one.name for one in task_of(folder, sets=2).supports[1]] == ["1", "2"]


def test_a_support_that_labels_words_in_two_ways_is_given_as_it_is(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    place = folder / "supports" / "1shot"
    place.mkdir(parents=True)
    words = ("Where", "is", "Kim", "?")
    given = [Sentence(words, (Span(2, 3, "LOC"),)), sentences(1, 1)[0], Sentence(words, (Span(2, 3, "PER"),))]
    write(given, place / "3.txt", "conll")
    task = task_of(folder, shots=(1,), sets=1)
    assert task.supports[1][0].sentences == given
    assert not any("two ways" in note for note in task.notes)


def test_too_few_mentions_for_some_shots_are_said(tmp_path):
    task = task_of(corpus_folder(tmp_path / "made"), shots=(1, 500))
    assert (len(task.supports[1]), task.supports[500]) == (2, [])
    assert any("too few mentions for 500 shots, shown as -: LOC" in note for note in task.notes)
    with pytest.raises(DataError, match="made: there is no support to run; made: too few mentions"):
        task_of(corpus_folder(tmp_path / "made"), shots=(500,))


def test_types_that_no_support_has_are_said(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    write([*sentences(5, 3), Sentence(("Zeus",), (Span(0, 1, "GOD"),))], folder / "test.txt", "conll")
    assert "made: no support has GOD: its mentions count as missed, unless names are read" in task_of(folder).notes


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (("eng.train", "eng.testa", "eng.testb"), (4, 3, 2)),
        (("train.conll", "valid.conll", "test.conll"), (4, 3, 2)),
        (("onto.train.bio", "onto.development.bio", "onto.test.bio"), (4, 3, 2)),
    ],
)
def test_names_of_the_splits(tmp_path, names, splits):
    for name, n in zip(names, splits, strict=True):
        write(sentences(n, n), tmp_path / name, "conll")
    target = read_target(f"named={tmp_path}")
    assert (target.name, len(target.train), len(target.dev), len(target.test)) == ("named", *splits)


def test_a_split_may_be_a_folder(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    (folder / "train.txt").unlink()
    (folder / "train" / "nw").mkdir(parents=True)
    some = sentences(5, 9)
    write(some[:2], folder / "train" / "nw" / "1.txt", "conll")
    write(some[2:], folder / "train" / "nw" / "2.txt", "conll")
    assert read_target(folder).train == some


def test_what_is_wrong_with_a_folder_is_said(tmp_path):
    with pytest.raises(FileError, match="does not exist; a folder with train"):
        read_target(tmp_path / "none")
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(FileError, match=r"neither a train nor a dev file .it has notes.md"):
        read_target(tmp_path)
    with pytest.raises(FileError, match=r"there are no supports .it has notes.md"):
        read_supports(tmp_path)
    write(sentences(2, 0), tmp_path / "train.txt", "conll")
    write(sentences(2, 0), tmp_path / "train.json", "prodigy")
    with pytest.raises(FileError, match=r"more than one could be the train split \(train.json, train.txt\)"):
        read_target(tmp_path)
    (tmp_path / "train.json").unlink()
    with pytest.raises(DataError, match="there are no sentences to be scored on"):
        task_of(tmp_path)
    (tmp_path / "test.txt").write_text("No labels here. None at all.")
    with pytest.raises(DataError, match=r"sentence 0 .* to be scored on is not labelled"):
        task_of(tmp_path)


def test_a_digest_depends_on_words_and_labels():
    one, other = Sentence(("a", "b"), (Span(0, 1, "X"),)), Sentence(("a", "b"), (Span(1, 2, "X"),))
    found = {digest(some) for some in ([one], [other], [one, other], [one.without_labels()], [Sentence(("ab",), ())])}
    assert len(found) == 5
    assert digest([one]) == digest([Sentence(("a", "b"), (Span(0, 1, "X"),))])
