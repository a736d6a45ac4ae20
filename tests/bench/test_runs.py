"""Running: rows, resuming, repeating."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from seqeval.metrics import f1_score, precision_score, recall_score

from handful import Tagger
from handful.bench import Settings, transfer
from handful.bench._results import Results
from handful.errors import DataError, FormatError
from handful.evaluate import sample_support, score
from handful.text import Sentence, Span, Transitions, from_tags, read, write

from .made import MadeEncoder, corpus_folder, sentences

QUICK = {"sets": 2, "o_ratios": ("none", "0.7"), "methods": ("proto", "hard", "handful")}


def run(tmp_path, encoder=None, report="report", targets=None, **options):
    folder = tmp_path / "made"
    if not folder.exists():
        corpus_folder(folder)
    settings = Settings(**(QUICK | options))
    return transfer(targets or [folder], report=tmp_path / report, encoder=encoder or MadeEncoder(), settings=settings)


def rows_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def without_times(rows):
    return [{name: value for name, value in row.items() if not name.startswith("seconds")} for row in rows]


def test_each_run_is_a_row_whose_f1_can_be_had_by_hand(tmp_path):
    run(tmp_path)
    rows = rows_of(tmp_path / "report")
    assert len(rows) == 2 * 2 * (1 + 2 + 2)  # shots, supports; proto, hard and handful at two ratios
    row = next(row for row in rows if (row["method"], row["o_ratio_given"], row["shots"]) == ("hard", 0.7, 5))
    data = {name: list(read(tmp_path / "made" / f"{name}.txt")) for name in ("train", "dev", "test")}
    (support,) = sample_support(data["dev"], 5, 0)
    tagger = Tagger(encoder=MadeEncoder(), method="paper", o_ratio=0.7, cache=False).fit(
        support, data["dev"] + data["train"]
    )
    assert row["f1"] == score(data["test"], tagger.predict_sentences(data["test"])).micro.f1
    assert row["o_share"] == tagger.summary_.o_share


def test_gold_labels_of_unlabelled_and_scored_text_reach_no_method(tmp_path):
    report = run(tmp_path, methods=["bench.spy:Spy"], shots=(1,))
    assert [row["error"] for row in report.rows] == [None, None]
    assert all(row["f1"] == 0 for row in report.rows)


def test_a_second_run_does_nothing_anew(tmp_path):
    first = run(tmp_path)
    before = (tmp_path / "report" / "results.jsonl").read_bytes()
    encoder = MadeEncoder()
    again = run(tmp_path, encoder)
    assert encoder.n_words == 0
    assert again.rows == first.rows
    assert (tmp_path / "report" / "results.jsonl").read_bytes() == before


def test_rows_are_the_same_bytes_but_for_times(tmp_path):
    run(tmp_path, report="one")
    run(tmp_path, report="other")
    one, other = (without_times(rows_of(tmp_path / name)) for name in ("one", "other"))
    assert json.dumps(one) == json.dumps(other)


def test_what_changes_a_result_makes_a_new_run(tmp_path):
    run(tmp_path, methods=("proto",))
    encoder = MadeEncoder(fingerprint="made 2")
    run(tmp_path, encoder, methods=("proto",))
    assert encoder.n_words > 0
    write(sentences(25, 99), tmp_path / "made" / "test.txt", "conll")
    encoder = MadeEncoder(fingerprint="made 2")
    run(tmp_path, encoder, methods=("proto",))
    assert encoder.n_words > 0


def test_transitions_of_the_encoder_reach_every_method_and_are_part_of_a_row(tmp_path):
    row = run(tmp_path, methods=("structshot",), shots=(1,)).rows[0]
    assert row["transitions"] == MadeEncoder.transitions.to_dict()
    other = MadeEncoder()
    other.transitions = Transitions(0.5, 0.5, 0.5, 0.25)
    run(tmp_path, other, methods=("structshot",), shots=(1,))
    assert other.n_words > 0  # it was run again


def test_rows_of_another_command_are_kept_apart_and_used_again(tmp_path):
    run(tmp_path, methods=("proto", "hard"))
    run(tmp_path, methods=("proto",))
    assert {row["method"] for row in rows_of(tmp_path / "report")} == {"proto"}
    encoder = MadeEncoder()
    run(tmp_path, encoder, methods=("proto", "hard"))
    assert encoder.n_words == 0
    assert {row["method"] for row in rows_of(tmp_path / "report")} == {"proto", "hard"}
    assert (tmp_path / "report" / "earlier.jsonl").read_text() == ""


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    corpus_folder(tmp_path / "made")
    code = (
        "from bench.test_runs import run, Path; import sys\n"
        "run(Path(sys.argv[1]), methods=['proto', 'bench.spy:Slow'], report='killed')"
    )
    root = Path(__file__).parents[1]
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=root, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"slow\n"  # the first support of the slow method: one row stands
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    results = tmp_path / "killed" / "results.jsonl"
    finished = rows_of(tmp_path / "killed")
    assert [row["method"] for row in finished] == ["proto"]
    with results.open("a") as file:
        file.write('{"key": "torn')
    run(tmp_path, report="killed")
    rows = rows_of(tmp_path / "killed")
    assert rows[0] == finished[0]  # with its times: it was not run again
    run(tmp_path, report="whole")
    assert without_times(rows) == without_times(rows_of(tmp_path / "whole"))


def test_a_damaged_file_is_an_error_that_says_where(tmp_path):
    (tmp_path / "results.jsonl").write_text('{"key": "a"}\nno row\n')
    with pytest.raises(FormatError, match=r"results.jsonl:2: is not a row of results"):
        Results(tmp_path)


def test_what_a_method_refuses_is_said_and_shown_as_a_dash(tmp_path):
    report = run(tmp_path, methods=("proto", "hard"), o_ratios=("none", "0.01"), shots=(5,))
    refused = [row for row in report.rows if row["error"]]
    assert {row["o_ratio"] for row in refused} == {"0.01"}
    assert any(
        "Hard clustering, r_O = 0.01 on made, 5 shots, 2 supports: failed, shown as -" in note for note in report.notes
    )
    with pytest.raises(DataError, match="no run succeeded; the first failure: "):
        run(tmp_path, methods=("hard",), o_ratios=("0.01",), shots=(5,))


def test_scores_agree_with_seqeval_on_io_predictions_against_bio_gold():
    rng = np.random.default_rng(0)
    for _ in range(50):
        gold_tags, found_tags = [], []
        for length in rng.integers(1, 12, size=20):
            gold_tags.append(rng.choice(["O", "O", "B-X", "I-X", "B-Y", "I-Y"], size=length).tolist())
            found_tags.append(rng.choice(["O", "O", "I-X", "I-Y"], size=length).tolist())
        gold_tags[0], found_tags[0] = ["B-X"], ["I-X"]  # both sides have a mention
        gold, found = ([from_tags(["w"] * len(tags), tags) for tags in some] for some in (gold_tags, found_tags))
        micro = score(gold, found).micro
        assert micro.precision == precision_score(gold_tags, found_tags)
        assert micro.recall == recall_score(gold_tags, found_tags)
        assert micro.f1 == pytest.approx(f1_score(gold_tags, found_tags), rel=1e-15)


def test_spans_are_compared_as_they_are():
    gold = [Sentence(("a", "b"), (Span(0, 1, "X"), Span(1, 2, "X")))]
    assert score(gold, [Sentence(("a", "b"), (Span(0, 2, "X"),))]).micro.f1 == 0
