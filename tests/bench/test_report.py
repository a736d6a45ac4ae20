"""Tables, published figures, and the folder as a whole."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.markdown import Markdown

import handful
from handful.bench import Settings, transfer
from handful.bench._board import make_board
from handful.bench._environment import _SHOWING
from handful.bench._methods import Variant, variants
from handful.bench.report import markdown
from handful.errors import DataError
from handful.evaluate import sample_support
from handful.text import read, write

from .made import MadeEncoder, corpus_folder


def row(method, ratio, target, support, f1, *, shots=1, text="all", o_ratio=None, **more):
    return {
        "method": method, "o_ratio": ratio, "text": text, "target": target, "shots": shots, "support": support,
        "f1": f1, "o_ratio_given": o_ratio, "error": None, **more,
    }  # fmt: skip


def board_of(rows, shots=(1,), targets=("a", "b")):
    used = list(dict.fromkeys(Variant(r["method"], r["o_ratio"], r["text"]) for r in rows))
    return make_board(rows, used, list(shots), list(targets))


ROWS = [
    row("proto", "", target, str(i), f1)
    for target, values in {"a": (0.5, 0.7), "b": (0.1, 0.3)}.items()
    for i, f1 in enumerate(values)
]
ROWS += [
    row("hard", ratio, target, str(i), f1, o_ratio=o_ratio)
    for ratio, target, values, o_ratio in [
        ("none", "a", (0.2, 0.2), None), ("none", "b", (0.9, 0.7), None),
        ("share", "a", (0.6, 0.62), 0.8), ("share", "b", (0.3, 0.4), 0.9),
    ]
    for i, f1 in enumerate(values)
]  # fmt: skip


def test_means_are_over_supports_and_averages_over_targets():
    text = markdown(board_of(ROWS))
    assert "| proto | 60.0 ±10.0 | 20.0 ±10.0 | 40.0 |" in text
    assert "| r\\_O = NA | 20.0 ±0.0 | **80.0 ±10.0** | **50.0** |" in text
    assert "| r\\_O = 0.80, 0.90 (share) | **61.0 ±1.0** | 35.0 ±5.0 | 48.0 |" in text


def test_a_target_without_any_figure_for_some_shots_is_left_out_of_the_average():
    rows = [*ROWS[:4], row("proto", "", "a", "0", 0.4, shots=5)]
    text = markdown(board_of(rows, shots=(1, 5)))
    assert text.splitlines()[-1] == "| proto | **60.0 ±10.0** | **20.0 ±10.0** | **40.0** | **40.0** | - | **40.0** |"


def test_warnings_are_gathered_into_notes():
    rows = [row(method, "none", "a", "0", 0.1, warnings=["careful"]) for method in ("hard", "soft")]
    assert board_of(rows, targets=["a"]).notes == ["Hard clustering, r_O = NA; Soft clustering, r_O = NA: careful"]


def test_the_terminal_shows_the_table_of_some_shots():
    rows = [*ROWS, row("proto", "", "a", "0", 0.4, shots=5)]
    console = Console(width=200, file=io.StringIO())
    console.print(Markdown(markdown(board_of(rows, shots=(1, 5)), 1)))
    shown = console.file.getvalue()
    figures = re.findall(r"\d+\.\d(?: ±\d+\.\d)?", markdown(board_of(ROWS)).replace("*", ""))
    assert re.findall(r"\d+\.\d(?: ±\d+\.\d)?", shown) == figures
    assert "5-shot" not in shown


def test_without_text_or_subspace(tmp_path):
    folder = corpus_folder(tmp_path / "made", sizes=(250, 20, 20))
    methods, texts = ("hard", "hard-nosubspace", "soft"), ("all", "none")
    settings = Settings(sets=1, methods=methods, o_ratios=("none", "0.7"), shots=(5,), texts=texts)
    report = transfer([folder], report=tmp_path / "report", encoder=MadeEncoder(), settings=settings)
    run = {(row["method"], row["o_ratio"], row["text"]) for row in report.rows}
    assert {text for _, _, text in run} == {"all", "none"}
    assert ("hard-nosubspace", "0.7", "all") in run
    assert {ratio for _, ratio, text in run if text == "none"} == {"none"}
    assert {row["rounds"] for row in report.rows if row["text"] == "none" and row["method"] == "hard"} == {1}
    assert "Hard clustering, no unlabelled text" in [line.section for line in report.board.lines]


def test_variants():
    assert variants(["proto", "hard"], ["none", "0.9"]) == [
        Variant("proto"), Variant("hard", "none"), Variant("hard", "0.9"),
    ]  # fmt: skip
    assert variants(["handful"], ["none", "auto"]) == [Variant("handful", "auto")]
    assert variants(["handful"], ["none", "0.9"]) == [Variant("handful", "none"), Variant("handful", "0.9")]
    assert variants(["hard"], ["0.9"], ["all", "none"]) == [Variant("hard", "0.9"), Variant("hard", "none", "none")]


@pytest.mark.parametrize(
    ("methods", "ratios", "message"),
    [
        (["porto"], ["none"], "there is no method 'porto'; there are proto, "),
        ([], ["none"], "no method is named"),
        (["hard"], ["1.5"], "a ratio is none, auto, share, over or a number from 0 to 1, found '1.5'"),
        (["hard"], ["much"], "found 'much'"),
        (["hard"], [], "the method hard needs a ratio"),
        (["no_such_module:X"], [], "'no_such_module:X' cannot be imported: No module"),
        (["json:dumps"], [], "'json:dumps' has no fit and no predict_sentences"),
    ],
)
def test_wrong_variants(methods, ratios, message):
    with pytest.raises(DataError, match=message):
        variants(methods, ratios)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shots": (-1,)}, "shots is"), ({"shots": ()}, "shots is"), ({"sets": 0}, "sets is 0"),
        ({"seed": -1}, "seed is -1"), ({"on": "train"}, "on is 'train'"),
        ({"methods": "proto"}, "methods is 'proto', expected a"),
    ],
)  # fmt: skip
def test_wrong_settings(options, message):
    with pytest.raises(DataError, match=message):
        Settings(**options)


def test_the_folder(tmp_path):
    folders = [corpus_folder(tmp_path / name, seed=i) for i, name in enumerate(("one", "two"), 1)]
    settings = Settings(sets=2, o_ratios=("none", "0.6", "0.7"), command="handful bench transfer one two")
    report = transfer(folders, report=tmp_path / "report", encoder=MadeEncoder(), settings=settings)
    there = {path.name for path in (tmp_path / "report").iterdir()}
    assert there == {"results.jsonl", "environment.json", "README.md"}
    page = (tmp_path / "report" / "README.md").read_text(encoding="utf-8")
    assert "    handful bench transfer one two\n" in page
    made_with = json.loads((tmp_path / "report" / "environment.json").read_text())
    assert made_with["options"]["targets"] == ["one", "two"]
    assert made_with["code"] == report.rows[0]["code"]


def test_code_that_only_shows_figures_is_named_as_it_is_on_disk():
    package = Path(handful.__file__).parent
    assert all((package / name).exists() for name in _SHOWING)


def test_supports_in_the_folder_of_a_target_are_taken(tmp_path):
    folder = corpus_folder(tmp_path / "made")
    place = folder / "supports" / "1shot"
    place.mkdir(parents=True)
    (given,) = sample_support(list(read(folder / "train.txt")), 1, 3)
    write(given, place / "0.txt", "conll")
    settings = Settings(sets=1, methods=("proto",), shots=(1,))
    report = transfer([folder], report=tmp_path / "report", encoder=MadeEncoder(), settings=settings)
    assert [row["support_origin"] for row in report.rows] == ["given"]
    with pytest.raises(DataError, match="two targets are called made; name them"):
        transfer([folder, folder], report=tmp_path / "report", encoder=MadeEncoder())
