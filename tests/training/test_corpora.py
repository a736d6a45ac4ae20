import random
from pathlib import Path

import pytest
from made import make_corpus, write_conll

from handful.errors import DataError, FileError, FormatError, HandfulError
from handful.text import EntityType, Sentence, Span, read
from handful.training.corpora import SourceCorpus, io_tags, read_corpora

EKEUS = "Ekeus\tB-PER\nheads\tO\nfor\tO\nNew\tB-LOC\nYork\tI-LOC\n\nRain\tO\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "news.conll"
    path.write_text(EKEUS, encoding="utf-8")
    return str(path)


def test_tags_are_io_numbers_of_sorted_types(file):
    (corpus,) = read_corpora([file])
    assert (corpus.name, corpus.types, corpus.dev) == ("news", (EntityType("LOC"), EntityType("PER")), [])
    assert io_tags(corpus.train, corpus.type_names) == [2, 0, 0, 1, 1, 0]
    assert corpus.summary()["train"] == {"sentences": 2, "words": 6, "mentions": 2}


def test_descriptions_of_types_are_part_of_the_summary():
    corpus = SourceCorpus("news", (EntityType("LOC", "places"), EntityType("PER")), [], [], [])
    assert corpus.summary()["types"] == ["LOC", "PER"]
    assert corpus.summary()["descriptions"] == {"LOC": "places"}
    assert "descriptions" not in SourceCorpus("news", (EntityType("PER"),), [], [], []).summary()


def test_descriptions_come_from_the_head_of_a_file(tmp_path):
    path = tmp_path / "news.txt"
    path.write_text("# PER: people\n# GOD: not in the text\n\n[Ekeus](PER) in [Baghdad](LOC)\n", encoding="utf-8")
    (corpus,) = read_corpora([path])
    assert corpus.types == (EntityType("LOC"), EntityType("PER", "people"))


def test_a_folder_brings_its_dev_file_and_its_name(tmp_path):
    folder = tmp_path / "tweets"
    folder.mkdir()
    write_conll(folder / "train.txt", make_corpus(random.Random(0), 5, ["PER"]))
    write_conll(folder / "dev.txt", make_corpus(random.Random(1), 3, ["PER", "LOC"]))
    (corpus,) = read_corpora([folder])
    assert (corpus.name, len(corpus.train), len(corpus.dev)) == ("tweets", 5, 3)
    assert corpus.type_names == ["LOC", "PER"]  # one is in the dev file only
    assert [file["path"] for file in corpus.files] == [str(folder / "train.txt"), str(folder / "dev.txt")]


def test_one_name_twice_is_one_corpus_and_two_names_are_two(file, people):
    (joint,) = read_corpora([f"all={file}", f"all={people}"])
    assert len(joint.train) == 202
    first, second = read_corpora([f"a={file}", f"b={file}"], [f"b={people}"])
    assert (first.name, second.name, len(first.dev), len(second.dev)) == ("a", "b", 0, 200)


def test_types_are_renamed_and_merged_in_all_corpora(file, people):
    news, names = read_corpora([file, people], rename={"PER": "who"})
    assert news.type_names == names.type_names == ["LOC", "who"]
    (merged,) = read_corpora([file], rename={"PER": "name", "LOC": "name"})
    assert merged.type_names == ["name"]
    assert io_tags(merged.train, ["name"]) == [tag > 0 for tag in io_tags(read(file), ["LOC", "PER"])]
    with pytest.raises(DataError, match=r"no corpus has the type GENE that is to be renamed"):
        read_corpora([file, people], rename={"GENE": "gene"})


def test_held_out_sentences_depend_on_their_words_alone(people):
    (corpus,) = read_corpora([people], hold_out=0.2)
    sentences = read(people)
    assert 15 < len(corpus.dev) < 70
    assert sorted(map(repr, corpus.train + corpus.dev)) == sorted(map(repr, sentences))
    (more,) = read_corpora([f"other={people}"], hold_out=0.4)
    assert {s.words for s in corpus.dev} < {s.words for s in more.dev}


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def bad_corpora(tmp_path):
    good = write(tmp_path, "good.txt", EKEUS)
    only_o = write(tmp_path, "plain.conll", "Rain\tO\n\nSun\tO\n")
    unlabelled = write(tmp_path, "open.conll", "Rain\t_\nin\t_\n\nYork\tB-LOC\n")
    empty = write(tmp_path, "empty.conll", "")
    (tmp_path / "folder").mkdir()
    return {
        "no such": ([str(tmp_path / "none.txt")], {}, FileError),
        "no train.txt": ([str(tmp_path / "folder")], {}, FileError),
        "at least one": ([], {}, DataError),
        "only O": ([only_o], {}, DataError),
        "sentence 1 is unlabelled": ([unlabelled], {}, DataError),
        "empty.conll": ([empty], {}, HandfulError),
        "no corpus has the type GENE": ([good], {"rename": {"GENE": "gene"}}, DataError),
        "holding out 0.999": ([good], {"hold_out": 0.999}, DataError),
        "two corpora would be called": ([good, good], {}, DataError),
    }


@pytest.mark.parametrize(
    "message",
    [
        "no such",
        "no train.txt",
        "at least one",
        "only O",
        "sentence 1 is unlabelled",
        "empty.conll",
        "no corpus has the type GENE",
        "holding out 0.999",
        "two corpora would be called",
    ],
)
def test_bad_corpora_are_errors_that_say_what_is_wrong(tmp_path, message):
    corpora, options, error = bad_corpora(tmp_path)[message]
    with pytest.raises(error, match=message):
        read_corpora(corpora, **options)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path):
    path = tmp_path / "latin.conll"
    path.write_bytes("Malmö\tB-LOC\n".encode("latin-1"))
    with pytest.raises(FormatError, match="utf-8"):
        read_corpora([path])


SMALL = "# PLANTA: uma planta\n# FERRAMENTA: uma ferramenta\n\nVi a [urtiga](PLANTA) e a [enxada](FERRAMENTA).\n"


@pytest.fixture
def small(tmp_path):
    """Make a folder with a small corpus whose types are described in a second language, too."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "pt_garden.txt").write_text(SMALL, encoding="utf-8")
    (folder / "pt_garden.en.types").write_text("PLANTA: a plant\nFERRAMENTA: a tool\n", encoding="utf-8")
    return folder


def test_types_in_other_words_make_a_corpus_with_the_same_sentences(small):
    own, english = read_corpora([f"more={small}"])
    assert (own.name, english.name) == ("more/pt_garden", "more/pt_garden.en")
    assert own.train == english.train
    assert [one.description for one in own.types] == ["uma ferramenta", "uma planta"]
    assert [one.description for one in english.types] == ["a tool", "a plant"]
    assert [path["path"] for path in english.files] == [str(small / "pt_garden.txt")]
    measured = read_corpora([make_people(small.parent)], [small])
    assert [corpus.name for corpus in measured] == ["people", "small/pt_garden", "small/pt_garden.en"]
    assert [one.description for one in measured[2].types] == ["a tool", "a plant"]
    assert measured[2].dev == own.train


def test_types_in_other_words_may_have_other_names(small):
    (small / "pt_garden.en.types").write_text("PLANTA = plant\nFERRAMENTA = garden tool: a tool\n", encoding="utf-8")
    _, english = read_corpora([f"more={small}"])
    assert english.called == {"FERRAMENTA": "garden tool", "PLANTA": "plant"}
    assert [one.description for one in english.types] == ["a tool", ""]


def test_a_mention_right_behind_one_of_its_type_begins_with_a_tag_below_0():
    spans = [Span(0, 2, "B"), Span(2, 3, "B"), Span(3, 4, "A"), Span(5, 6, "A"), Span(6, 8, "A")]
    assert io_tags([Sentence(tuple("abcdefgh"), spans=tuple(spans))], ["A", "B"]) == [2, 2, -2, 1, 0, 1, -1, 1]


def make_people(folder):
    path = folder / "people.conll"
    path.write_text(EKEUS, encoding="utf-8")
    return path


def test_types_in_other_words_must_be_those_of_a_corpus_beside_them(small):
    (small / "pt_garden.en.types").write_text("PLANTA: a plant\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pt_garden\.en\.types: describes PLANTA, but its corpus has PLANTA, FERRAM"):
        read_corpora([small])
    (small / "pt_garden.en.types").rename(small / "pt_gardens.en.types")
    with pytest.raises(FileError, match=r"describes the types of pt_gardens\.txt, which is not beside it"):
        read_corpora([small])


def test_the_small_corpora_of_32_languages_read():
    folder = Path(__file__).parents[2] / "corpora/mosaic_languages"
    for part in ("train", "dev"):
        corpora = {corpus.name: corpus for corpus in read_corpora([f"x={folder / part}"])}
        files = {path.name for path in (folder / part).iterdir()}
        assert len(corpora) == len(files) == 2 * sum(name.endswith(".txt") for name in files)
        for name, corpus in corpora.items():
            if not name.endswith(".en"):
                twin = corpora[f"{name}.en"]
                assert twin.train == corpus.train
                assert twin.type_names == corpus.type_names
                assert all(one.description for one in (*twin.types, *corpus.types))
                assert twin.types != corpus.types
