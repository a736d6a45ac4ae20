"""No labels at all, and the names of types."""

import json

import pytest

from handful import Tagger
from handful.bench import Settings, transfer
from handful.bench._methods import Variant, variants
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.bench.report import markdown
from handful.errors import DataError
from handful.evaluate import sample_support, score
from handful.text import EntityType, read, write

from .made import MadeEncoder, NamingEncoder, corpus_folder, sentences

TYPES = {"PER": "people", "LOC": "localities"}
OPTIONS = {"sets": 2, "o_ratios": ("auto",), "shots": (0, 1), "methods": ("proto", "hard", "handful")}


@pytest.fixture
def folder(tmp_path):
    made = corpus_folder(tmp_path / "made")
    (made / "types.txt").write_text("PER: people\nLOC: localities\n", encoding="utf-8")
    return made


def run(folder, encoder=None, report="report", **options):
    settings = Settings(**(OPTIONS | options))
    return transfer([folder], report=folder.parent / report, encoder=encoder or NamingEncoder(), settings=settings)


def test_without_labels_there_is_one_run_whose_f1_can_be_had_by_hand(folder):
    report = run(folder, texts=("all", "none"))
    data = {name: list(read(folder / f"{name}.txt")) for name in ("train", "dev", "test")}
    rows = {row["text"]: row for row in report.rows if row["shots"] == 0}
    assert [row["method"] for row in report.rows if row["shots"] == 0] == ["handful", "handful"]
    for which, text in (("all", data["dev"] + data["train"]), ("none", None)):
        tagger = Tagger(TYPES, encoder=NamingEncoder(), cache=False).fit(None, text)
        assert rows[which]["f1"] == score(data["test"], tagger.predict_sentences(data["test"])).micro.f1
        assert rows[which]["f1"] > 0.5
    assert rows["all"]["rounds"] > 0 == rows["none"]["rounds"]  # the text was there, and was not
    cells = {(line.label, line.section): line.figures for line in report.board.lines}
    assert (0, "made") not in cells["proto", "Baselines"]
    assert (0, "made") in cells["handful, r_O = auto", "Default"]
    assert any(line.startswith("| proto | - |") for line in report_lines(folder))


def report_lines(folder):
    return (folder.parent / "report" / "README.md").read_text(encoding="utf-8").splitlines()


def test_with_labels_names_are_read_beside_them_unless_they_are_not_to_be(folder):
    report = run(folder, methods=("handful", "handful-nonames"), shots=(1,), sets=1)
    data = {name: list(read(folder / f"{name}.txt")) for name in ("train", "dev", "test")}
    (support,) = sample_support(data["dev"], 1, 0)
    found = {row["method"]: row["f1"] for row in report.rows}
    for method, names in (("handful", True), ("handful-nonames", False)):
        tagger = Tagger(TYPES, encoder=NamingEncoder(), names=names, cache=False).fit(
            support, data["dev"] + data["train"]
        )
        assert found[method] == score(data["test"], tagger.predict_sentences(data["test"])).micro.f1
    assert found["handful"] != found["handful-nonames"]
    assert [(row["method"], row["names"]) for row in report.rows] == [("handful", True), ("handful-nonames", False)]


def test_the_papers_rows_are_the_same_with_an_encoder_that_reads_names(folder):
    of = {"methods": ("hard", "soft"), "o_ratios": ("none", "0.7", "auto"), "shots": (1, 5)}
    plain = run(folder, MadeEncoder(), "plain", **of).rows
    naming = run(folder, NamingEncoder(), "naming", **of).rows
    assert [row["f1"] for row in naming] == [row["f1"] for row in plain]
    assert {row["types"] for row in naming} == {None}


def test_names_alone_have_one_run_and_the_same_figure_for_all_shots(folder):
    report = run(folder, methods=("names", "handful"), shots=(0, 1, 5), texts=("all", "none"))
    (row,) = [row for row in report.rows if row["method"] == "names"]
    assert (row["shots"], row["text"], row["o_ratio"]) == (0, "none", "")
    (line,) = [line for line in report.board.lines if line.label == "names"]
    assert line.section == "Names of types alone"
    assert {place[0]: figure.mean for place, figure in line.figures.items()} == dict.fromkeys(
        (0, 1, 5), 100 * row["f1"]
    )
    (none,) = [one for one in report.rows if (one["method"], one["shots"], one["text"]) == ("handful", 0, "none")]
    assert row["f1"] == none["f1"]
    again = run(folder, methods=("names", "proto"), shots=(1,), report="other")
    assert [row["method"] for row in again.rows] == ["names", "proto", "proto"]
    assert all((1, "made") in line.figures for line in again.board.lines)


def test_the_texts_of_types_and_whether_names_were_read_are_part_of_a_row(folder):
    of = {"methods": ("proto", "handful"), "shots": (1,)}
    first = run(folder, **of).rows
    assert {json.dumps(row["types"]) for row in first if row["method"] == "handful"} == {
        '[["PER", "people"], ["LOC", "localities"]]'
    }
    (folder / "types.txt").write_text("PER: persons\nLOC: localities\n", encoding="utf-8")
    second = run(folder, **of).rows
    third = run(folder, MadeEncoder(), **of).rows
    keys = [{row["method"]: row["key"] for row in rows} for rows in (first, second, third)]
    assert len({found["handful"] for found in keys}) == 3
    assert len({found["proto"] for found in keys}) == 1


def test_descriptions_come_from_the_folder_or_a_head(folder):
    assert read_target(folder).types == (EntityType("PER", "people"), EntityType("LOC", "localities"))
    (folder / "types.txt").write_text("LOC: places: towns, rivers\nPER\n", encoding="utf-8")
    assert read_target(folder).types == (EntityType("LOC", "places: towns, rivers"), EntityType("PER"))
    (folder / "types.txt").unlink()
    assert read_target(folder).types == ()
    task = make_task(read_target(folder), Settings(shots=(0,)))
    assert task.types == (EntityType("LOC"), EntityType("PER"))  # their names alone
    (folder / "dev.txt").write_text("# PER: people of the head\n\n[Pia](PER) to [Lyon](LOC)\n", encoding="utf-8")
    task = make_task(read_target(folder), Settings(shots=(0,)))
    assert task.types == (EntityType("PER", "people of the head"), EntityType("LOC"))
    assert "made: not described, so that the name alone is read: LOC" in task.notes


def test_types_that_no_label_has_are_given_all_the_same_and_said(folder):
    (folder / "types.txt").write_text("PER: people\nLOC: localities\nGOD: deities\n", encoding="utf-8")
    task = make_task(read_target(folder), Settings(shots=(0, 1)))
    assert [one.name for one in task.types] == ["PER", "LOC", "GOD"]
    assert "made: described, but not in any label: GOD" in task.notes


def test_types_reach_the_method_word_for_word(folder):
    (folder / "types.txt").write_text("PER: Pia\nLOC: Lyon\n", encoding="utf-8")
    encoder = NamingEncoder()
    run(folder, encoder, methods=("handful",), shots=(0,))
    assert {tuple(sorted(map(repr, types))) for types in encoder.asked} == {
        (repr(EntityType("LOC", "Lyon")), repr(EntityType("PER", "Pia")))
    }
    assert len(encoder.asked) == 1  # whatever the number of fits
    (row,) = run(folder, methods=("bench.spy:NeedsNoLabels",), shots=(0,), report="own").rows
    gold = [s.words[span.start : span.end] for s in read(folder / "test.txt") for span in s.spans]
    assert row["n_correct"] == sum(words in (("Pia",), ("Lyon",)) for words in gold) > 0


def test_an_encoder_that_reads_no_names_is_said_once(folder):
    report = run(folder, MadeEncoder(), methods=("proto", "handful", "names"), shots=(0, 1))
    notes = [note for note in report.notes if "failed" in note]
    assert len(notes) == 2
    assert "handful, r_O = auto on made, no labels: failed, shown as -: there are no labels, and this" in notes[0]
    assert notes[1].startswith("names on made: failed, shown as -: there are no labels, and this encoder does not read")


def test_only_methods_that_need_labels_cannot_run_without(folder):
    with pytest.raises(DataError, match="nothing to run: without labels, a method must read the names of types"):
        run(folder, methods=("proto", "hard", "handful-nonames"), shots=(0,))


def test_variants_of_names_and_texts():
    assert variants(["handful", "names", "proto"], ["none", "auto"], ["all", "none"]) == [
        Variant("handful", "auto"), Variant("names", "", "none"), Variant("proto"), Variant("handful", "auto", "none"),
    ]  # fmt: skip
    with pytest.raises(DataError, match="a text is all or none, found 'some'"):
        variants(["hard"], ["none"], ["some"])


def inline_files(folder, n):
    folder.mkdir()
    for number in range(n):
        file = folder / f"corpus_{number}.txt"
        write(sentences(40 if number else 6, number), file, "inline")
        file.write_text("# PER: people\n# LOC: localities\n\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    return sorted(folder.iterdir())


def test_a_target_may_be_one_file_of_which_one_half_is_scored(tmp_path):
    (_, file) = inline_files(tmp_path / "corpora", 2)
    target = read_target(file)
    assert (target.name, target.types[0]) == ("corpus_1", EntityType("PER", "people"))
    assert target.notes == []
    task = make_task(target, Settings(on="dev", shots=(0, 1)))
    assert sorted(s.words for s in task.pool + task.scored) == sorted(s.words for s in read(file))
    assert read_target(f"mine={file}").name == "mine"
    with pytest.raises(DataError, match="corpus_1: one file has no test split; say on='dev'"):
        make_task(target, Settings())


def test_many_targets_are_shown_by_their_mean(tmp_path):
    files = inline_files(tmp_path / "corpora", 9)
    settings = Settings(on="dev", shots=(0, 5), sets=1, methods=("proto", "handful"), o_ratios=("auto",))
    report = transfer(files, report=tmp_path / "report", encoder=NamingEncoder(), settings=settings)
    text = (tmp_path / "report" / "README.md").read_text(encoding="utf-8")
    assert "| method | 0-shot Avg. | 5-shot Avg. |\n" in text
    figures = {row["target"]: 100 * row["f1"] for row in report.rows if row["shots"] == 0}
    mean = sum(figures.values()) / 9
    assert f"| handful, r\\_O = auto | **{mean:.1f}** |" in text
    assert f"{mean:.1f}" in (shown := markdown(report.board, 0))
    assert "corpus" not in shown
    assert "5 shots: 1 of 9 targets have too few mentions and are not in the mean: corpus_0" in report.notes
