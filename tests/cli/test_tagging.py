"""`handful fit`, `predict`, `explain` and `evaluate`, on a tiny encoder."""

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commands import COMMAND, SUPPORT, TEXT, failed, handful, run

from handful import Tagger
from handful.evaluate import score
from handful.text import FORMATS, read, stream, to_sentences


@pytest.fixture
def tagger(place):
    return Tagger.load(place / "model", encoder=place / "encoder")


def test_fit_says_what_it_learned(place):
    shown = (place / "fit.out").read_text(encoding="utf-8")
    assert shown.startswith(
        "the names of types; 6 labelled sentences, 6 mentions; 36 unlabelled words\nratio asked 0.8, "
    )
    for word in ("rounds", "PER", "LOC", "such as", "try: "):
        assert word in shown


def test_fit_for_machines(inside, tmp_path):
    arguments = ["fit", "support.txt", "-u", "text.txt", "--o-ratio", "0.8", "--encoder", "encoder"]
    result = run(*arguments, "--out", tmp_path / "model", "--json")
    assert result.stderr == ""
    shown = json.loads(result.stdout)
    assert shown["model"] == str(tmp_path / "model")
    assert shown["mentions"] == {"LOC": 3, "PER": 3}
    assert shown["o_ratio"] == 0.8
    assert set(shown["unlabelled_words"]) == set(shown["examples"]) == {"LOC", "PER"}
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "model" / name).read_bytes() == (inside / "model" / name).read_bytes()
    assert run(*arguments, "--out", tmp_path / "model", "--quiet").output == ""


def test_fit_and_predict_take_patterns_and_parquet_files(inside, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lines = TEXT.splitlines()
    for number, line in enumerate(lines):
        (tmp_path / f"text{number}.txt").write_text(line + "\n", encoding="utf-8")
    parquet.write_table(pa.table({"text": lines, "n": range(len(lines))}), tmp_path / "rows.parquet", row_group_size=2)
    options = ["--o-ratio", "0.8", "--encoder", "encoder", "--out"]
    for text in (tmp_path / "text*.txt", tmp_path / "rows.parquet", tmp_path):
        run("fit", "support.txt", "-u", text, *options, tmp_path / "model", "--quiet")
        assert (tmp_path / "model" / "model.safetensors").read_bytes() == Path("model/model.safetensors").read_bytes()
    whole = run("predict", "model", "text.txt", "--encoder", "encoder", "--to", "jsonl").stdout
    found = run("predict", "model", tmp_path / "text?.txt", "--encoder", "encoder", "--to", "jsonl").stdout
    assert found == whole
    rows = run("predict", "model", tmp_path / "rows.parquet", "--encoder", "encoder", "--to", "jsonl").stdout
    fields = [{"n": n} for n in range(len(lines))]
    expected = [json.loads(line) | more for line, more in zip(whole.splitlines(), fields, strict=True)]
    assert [json.loads(line) for line in rows.splitlines()] == expected
    assert failed(run("predict", "model", "no/*.txt", "--encoder", "encoder"), "no/*.txt: no file matches this pattern")


def test_fit_takes_the_encoder_along(inside, tmp_path):
    result = run("fit", "support.txt", "--encoder", "encoder", "--include-encoder", "--out", tmp_path / "model", "-q")
    assert result.exit_code == 0
    shutil.move(tmp_path / "model", tmp_path / "moved")
    assert run("predict", tmp_path / "moved", "text.txt", "--to", "jsonl").stdout.count("\n") == 4


def test_fit_takes_several_files_such_as_one_with_gaps_and_one_without(inside, tmp_path):
    assert run("convert", "support.txt", tmp_path / "gaps.conll", "--to", "conll", "--unmarked-unknown").exit_code == 0
    (tmp_path / "whole.txt").write_text("[Olga](PER) likes the rain in [Oslo](LOC) .\n", encoding="utf-8")
    options = ["--encoder", "encoder", "--out", tmp_path / "model", "--json"]
    gaps = run("fit", tmp_path / "gaps.conll", "--no-names", *options)
    assert failed(gaps, "add a sentence or two in which every mention is")
    assert run("fit", tmp_path / "gaps.conll", *options).exit_code == 0  # the encoder knows what O is
    result = run("fit", tmp_path / "gaps.conll", tmp_path / "whole.txt", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["mentions"] == {"LOC": 4, "PER": 4}
    message = "text.txt: no sentence is labelled"
    assert failed(run("fit", "support.txt", "text.txt", *options), message)


def test_the_same_words_may_be_labelled_in_two_ways(inside, tmp_path):
    ways = "the rain in [Paris](LOC)\nthe rain in [Paris](PER)\n"
    (tmp_path / "support.txt").write_text(SUPPORT + ways, encoding="utf-8")
    result = run("fit", tmp_path / "support.txt", "--encoder", "encoder", "--out", tmp_path / "model")
    assert result.exit_code == 0
    assert "8 labelled sentences" in result.stdout
    assert "1 sentence is labelled in more than one way" in result.stdout


def test_a_ratio_that_contradicts_the_labels_is_a_warning(inside, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT * 9, encoding="utf-8")
    arguments = ["fit", "support.txt", "-u", tmp_path / "text.txt", "--encoder", "encoder", "--o-ratio", "0.97"]
    result = run(*arguments, "--out", tmp_path / "model")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: a ratio of 0.97 leaves 0.03 of all words to mentions, but 0.1")
    assert "; give a lower --o-ratio, or --o-ratio auto\n" in result.stderr


def test_types_are_enough(inside, tmp_path):
    (tmp_path / "types.txt").write_text("PER: names of people\nLOC: names of places\n", encoding="utf-8")
    options = ["--types", tmp_path / "types.txt", "--encoder", "encoder"]
    found = run("predict", *options, "text.txt", "--to", "jsonl")
    assert (found.exit_code, found.stderr) == (0, "")
    records = [json.loads(line) for line in found.stdout.splitlines()]
    assert [record["text"] for record in records] == TEXT.splitlines()
    assert {one["entity_group"] for record in records for one in record["entities"]} <= {"PER", "LOC"}
    assert "Ekeus" in [one["word"] for one in records[0]["entities"] if one["entity_group"] == "PER"]
    fitted = run("fit", *options, "-u", "text.txt", "--out", tmp_path / "model")
    assert fitted.stdout.startswith("the names of types; 0 labelled sentences, 0 mentions; 36 unlabelled words\n")
    again = run("predict", tmp_path / "model", "text.txt", "--to", "jsonl")
    assert [json.loads(line)["text"] for line in again.stdout.splitlines()] == TEXT.splitlines()
    explained = run("explain", tmp_path / "model", "--text", TEXT.splitlines()[0])
    assert re.search(r"^ +clusters +name +sum +score$", explained.stdout, re.MULTILINE)
    by_name = run(
        "predict", "--types", "person, place", "--encoder", "encoder", "--text", TEXT.splitlines()[0], "--to", "jsonl"
    )
    assert {one["entity_group"] for one in json.loads(by_name.stdout)["entities"]} <= {"person", "place"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "--types", "nowhere.txt", "text.txt"], "nowhere.txt: cannot be read"),
        (["predict", "--types", "O", "text.txt"], "a type cannot be called 'O'"),
        (["fit", "--out", "out", "-u", "text.txt"], "there is no type to find"),
        (["fit", "--out", "out", "-u", "text.txt", "--types", "person", "--no-names"], "names of types are not read"),
    ],
)
def test_types_that_cannot_be_used_are_one_line(inside, arguments, message):
    assert failed(run(*arguments), message)


def test_mentions_that_share_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("few.txt").write_text(
        "The [University of [Oslo](GPE)](ORG) has many students .\n"
        "She left the [Bank of [Norway](GPE)](ORG) for [Paris](GPE) .\n"
    )
    text = "He studied at the University of Bergen."
    assert run("fit", "few.txt", "--overlap", "--out", "both", "-q").exit_code == 0
    found = run("predict", "both", "--text", text, "--to", "text").stdout
    assert found == "He studied at the [University of [Bergen](GPE)](ORG).\n"
    page = run("predict", "both", "--text", text, "--to", "html").stdout
    assert re.search(r'<mark class="t1"[^>]*>University of <mark class="t0"[^>]*>Bergen<small>GPE</small></mark>', page)
    by_names = run("predict", "--types", "ORG: school, GPE: city", "--overlap", "--text", text, "--to", "text", "-q")
    assert by_names.exit_code == 0
    scores = json.loads(run("evaluate", "both", "few.txt", "--json").stdout)
    assert [one["n_correct"] for one in scores["levels"]] == [3, 2]
    assert re.search(r"inside others +precision.*\n0 +100.0.*\n1 +100.0", run("evaluate", "both", "few.txt").stdout)
    assert failed(run("fit", "few.txt", "--out", "one"), "share a word, and here a word has one tag; use --overlap")
    assert failed(run("convert", "few.txt", "few.conll", "--to", "conll"), "handful convert --layer outermost")
    assert not Path("one").exists()
    for options, types in ((["--layer", "innermost"], ["GPE", "GPE", "GPE"]), (["--keep", "ORG"], ["ORG", "ORG"])):
        assert run("convert", "few.txt", "few.conll", "--to", "conll", *options).exit_code == 0
        assert [span.type for one in read("few.conll") for span in one.spans] == types
    assert run("predict", "both", "--overlap", "--text", text).exit_code == 2  # the model says it


def test_a_model_works_from_any_folder_and_with_an_encoder_that_moved(inside, tmp_path, monkeypatch):
    shutil.copytree("encoder", tmp_path / "here" / "encoder")
    monkeypatch.chdir(tmp_path / "here")
    support = str(inside / "support.txt")
    assert run("fit", support, "--encoder", "encoder", "--out", tmp_path / "model", "-q").exit_code == 0
    commands = [["predict", "--text", TEXT], ["explain", "--json", "--text", TEXT], ["evaluate", "--json", support]]
    monkeypatch.chdir(tmp_path)
    found = [run(command, "model", *rest) for command, *rest in commands]
    assert [result.exit_code for result in found] == [0, 0, 0]
    shutil.move("here", "there")
    for (command, *rest), before in zip(commands, found, strict=True):
        assert failed(run(command, "model", *rest), "no longer there; say where it is now (--encoder)")
        result = run(command, "model", *rest, "--encoder", "there/encoder")
        assert (result.exit_code, result.stdout) == (0, before.stdout)


@pytest.mark.parametrize("given", ["text.txt", "-"])
def test_predict_writes_what_the_tagger_finds(inside, tagger, given):
    result = run("predict", "model", given, input=TEXT.encode() if given == "-" else None)
    assert (result.exit_code, result.stderr) == (0, "")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["text"] for record in records] == TEXT.splitlines()
    assert [record["entities"] for record in records] == tagger.predict(TEXT.splitlines())
    assert sum(len(record["entities"]) for record in records) > 0


DOCUMENTS = [
    "  The rain. Ekeus heads for Baghdad. Anna Berg likes Paris .",
    "Owners of the café don't like the rain. Dupont and the dog head for Zürich.",
]


@pytest.mark.parametrize("given", ["file", "wrapped", "--text"])
def test_a_line_of_jsonl_is_a_document(inside, tagger, tmp_path, given):
    documents = DOCUMENTS
    if given == "wrapped":
        documents = ["The rain in Baghdad .\nEkeus heads for Paris\nand Anna for Zürich .", "Dupont likes the rain ."]
    (tmp_path / "text.txt").write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    texts = [f"--text={text}" for text in documents]
    result = run("predict", "model", "--to", "jsonl", *(texts if given == "--text" else [tmp_path / "text.txt"]))
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["text"] for record in records] == documents
    assert [record["entities"] for record in records] == tagger.predict(documents)
    for record in records:
        for entity in record["entities"]:
            assert record["text"][entity["start"] : entity["end"]] == entity["word"]
    assert "Baghdad" in [entity["word"] for entity in records[0]["entities"]]


@pytest.mark.parametrize("to", ["prodigy", "doccano", "label-studio", "spacy"])
def test_annotation_tools_get_documents(inside, tagger, tmp_path, to):
    (tmp_path / "text.txt").write_text("\n".join(DOCUMENTS), encoding="utf-8")
    assert run("predict", "model", tmp_path / "text.txt", "--to", to, "--out", tmp_path / "out").exit_code == 0
    expected = [[(m["start"], m["end"], m["entity_group"]) for m in one] for one in tagger.predict(DOCUMENTS)]
    if to == "label-studio":  # what was predicted is no annotation there
        tasks = json.loads((tmp_path / "out").read_text(encoding="utf-8"))
        assert [task["data"]["text"] for task in tasks] == DOCUMENTS
        values = [[one["value"] for one in task["predictions"][0]["result"]] for task in tasks]
        assert [[(v["start"], v["end"], *v["labels"]) for v in one] for one in values] == expected
        return
    with stream(tmp_path / "out") as documents:
        found = list(documents)
    assert [document.text for document in found] == DOCUMENTS
    assert [[(start, end, span.type) for start, end, span in one.mentions()] for one in found] == expected


@pytest.mark.parametrize("to", ["conll", "inline", "huggingface"])
def test_training_formats_get_sentences(inside, tagger, tmp_path, to):
    (tmp_path / "text.txt").write_text("\n".join(DOCUMENTS), encoding="utf-8")
    assert run("predict", "model", tmp_path / "text.txt", "--to", to, "--out", tmp_path / "out").exit_code == 0
    sentences = [sentence for text in DOCUMENTS for sentence in to_sentences(text)]
    expected = tagger.predict_sentences(sentences)
    assert [(s.words, s.spans) for s in read(tmp_path / "out")] == [(s.words, s.spans) for s in expected]
    assert len(sentences) == 5


@pytest.mark.parametrize("to", ["conll", "prodigy", "doccano", "text", "inline", "spacy", "jsonl"])
def test_predict_to_other_formats(inside, tagger, tmp_path, to):
    gold = read("support.txt")
    expected = tagger.predict_sentences(gold)
    result = run("predict", "model", "support.txt", "--to", to, "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (0, "")
    assert [(s.words, s.spans) for s in read(tmp_path / "out")] == [(s.words, s.spans) for s in expected]
    assert run("predict", "model", "support.txt", "--to", to).stdout_bytes == (tmp_path / "out").read_bytes()


def test_predict_to_html(inside, tagger, tmp_path):
    assert run("predict", "model", "support.txt", "--out", tmp_path / "page.html").output == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert page.count("<mark") == sum(len(s.spans) for s in tagger.predict_sentences(read("support.txt")))


def test_min_score_leaves_mentions_out(inside, tagger):
    scores = sorted(entity["score"] for found in tagger.predict(TEXT.splitlines()) for entity in found)
    limit = scores[len(scores) // 2]
    result = run("predict", "model", "text.txt", "--min-score", limit)
    kept = [entity["score"] for line in result.stdout.splitlines() for entity in json.loads(line)["entities"]]
    assert sorted(kept) == [score for score in scores if score >= limit]
    by_type = run("predict", "model", "text.txt", "--min-score", "PER=1.0,LOC=0")
    kept = [entity for line in by_type.stdout.splitlines() for entity in json.loads(line)["entities"]]
    assert {entity["entity_group"] for entity in kept if entity["score"] < 1} == {"LOC"}
    assert run("predict", "model", "text.txt", "--min-score", "much").exit_code == 2
    assert failed(run("predict", "model", "text.txt", "--min-score", "GOD=0.5"), "min_score names GOD")


def test_how_much_to_find(inside, tagger, tmp_path):
    texts = ["--text", TEXT, "--to", "jsonl"]

    def predicted(*arguments):
        return json.loads(run("predict", *arguments, *texts).stdout)["entities"]

    found = {find: predicted("model", "--find", find) for find in ("sure", "usual", "more", "0.001", "1000")}
    assert found == {find: tagger.predict(TEXT, find=find if find.isalpha() else float(find)) for find in found}
    assert len(found["0.001"]) < len(found["1000"])
    finder, fit = tmp_path / "finder", ("fit", "support.txt", "--encoder", "encoder", "--quiet")
    run(*fit, "--find", "1000", "--out", finder)
    inner = Tagger.load(finder)
    assert inner.find == 1000
    assert predicted(finder) == inner.predict(TEXT)
    assert predicted(finder, "--find", "1") == inner.predict(TEXT, find=1)
    table = [line.split() for line in run("evaluate", finder, "support.txt").stdout.splitlines()]
    first = table.index(["find", "precision", "recall", "F1"]) + 1
    assert [row[0] for row in table[first : first + 6]] == ["0.1", "sure", "usual", "more", "10", "1000"]
    assert [row[0] for row in table if row[-1:] == ["now"]] == ["1000"]
    shown = json.loads(run("evaluate", finder, "support.txt", "--find", "more", "--json").stdout)
    assert shown["find"] == 3
    assert [one for one in shown["curve"] if one["find"] == 3] == [{"find": 3.0, **shown["scores"]["strict"]["micro"]}]
    for refused in (("predict", "model", *texts), ("evaluate", "model", "support.txt"), (*fit, "--out", "no")):
        assert failed(run(*refused, "--find", "all"), "find is 'all', expected sure, usual, more, or how many times")


def test_colours_on_a_terminal_brackets_without(inside):
    done = handful("predict", "model", "text.txt", "--to", "text", env={"FORCE_COLOR": "1", "TERM": "xterm"})
    assert "\x1b[" in done.stdout
    plain = handful("predict", "model", "text.txt", "--to", "text", env={"NO_COLOR": "1"})
    assert "\x1b[" not in plain.stdout
    assert "](" in plain.stdout


@pytest.fixture(scope="module")
def spaced(place, tmp_path_factory):
    """Make a model whose types have names as annotation tools allow them."""
    folder = tmp_path_factory.mktemp("spaced")
    spans = [{"start": 0, "end": 5, "label": "Head (of State)"}, {"start": 16, "end": 23, "label": "Big City"}]
    record = {"text": "Ekeus heads for Baghdad on Thursday .", "spans": spans}
    (folder / "support.jsonl").write_text(json.dumps(record), encoding="utf-8")
    Tagger(encoder=place / "encoder", cache=False).fit(folder / "support.jsonl").save(folder / "model")
    return folder / "model"


@pytest.mark.parametrize("to", ["html", *(format for format in FORMATS if format != "docbin")])
def test_other_formats_hold_any_type(spaced, to):
    text = "Ekeus heads for Baghdad on Thursday ."
    result = run("predict", spaced, "--text", text, "--to", to, "--quiet", env={"NO_COLOR": "1"})
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Big City" in result.stdout
    if to == "text":
        assert result.stdout == '[Ekeus]("Head (of State)") heads for [Baghdad]("Big City") on Thursday .\n'


def test_predict_streams(inside):
    """Answers come while the text is still being written."""
    text = TEXT.replace(" ", " " * 40)  # so that 64 KB, which are looked at first, hold few words
    with subprocess.Popen(
        [*COMMAND, "predict", "model", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        alarm = threading.Timer(60, running.kill)
        alarm.start()
        writing = threading.Thread(target=lambda: (running.stdin.write(text.encode() * 60), running.stdin.flush()))
        writing.start()
        first = json.loads(running.stdout.readline())
        alarm.cancel()
        assert first["text"] == text.splitlines()[0]
        rest = threading.Thread(target=lambda: (writing.join(), running.stdin.close()))
        rest.start()
        assert sum(1 for _ in running.stdout) == 4 * 60 - 1
        rest.join()
    assert running.returncode == 0


def test_evaluate_agrees_with_the_scores(inside, tagger):
    gold = read("support.txt")
    strict = score(gold, tagger.predict_sentences(gold))
    result = run("evaluate", "model", "support.txt", "--json")
    shown = json.loads(result.stdout)
    assert shown["scores"]["strict"]["micro"]["f1"] == strict.micro.f1
    assert set(shown["scores"]) == {"strict"}
    assert set(shown["scores"]["strict"]["by_type"]) == {"LOC", "PER"}
    table = run("evaluate", "model", "support.txt").stdout
    micro = next(line for line in table.splitlines() if line.startswith("all (micro)"))
    assert micro.split()[-6:-3] == [
        f"{100 * x:.1f}" for x in (strict.micro.precision, strict.micro.recall, strict.micro.f1)
    ]


def test_evaluate_says_what_was_seen_before(inside, tmp_path):
    (tmp_path / "some.txt").write_text(SUPPORT + "a [Nora](PER) came\n", encoding="utf-8")
    note = "note: 6 of 7 sentences were labelled in the fit: scores on other text will be lower\n"
    result = run("evaluate", "model", tmp_path / "some.txt", "--json")
    assert result.stderr == note
    assert (json.loads(result.stdout)["n_fitted"], json.loads(result.stdout)["n_trained"]) == (6, 0)
    assert run("evaluate", "model", tmp_path / "some.txt", "--quiet").stderr == ""
    mosaic = Path(__file__).parents[2] / "corpora" / "mosaic" / "train" / "tweets_mixed.txt"
    line = run("evaluate", "model", mosaic).stderr.splitlines()[-1]
    n = len(read(mosaic))
    assert line.startswith(f"note: {n} of {n} sentences were in the training of the encoder: scores on")


def test_evaluate_shows_confusion_and_errors(inside, tmp_path):
    (tmp_path / "odd.txt").write_text(SUPPORT.replace("[Ekeus](PER)", "[Ekeus](LOC)").replace("the [", "[the "))
    result = run("evaluate", "model", tmp_path / "odd.txt", "--errors", "1")
    assert "gold (rows) and found" in result.stdout
    shown = json.loads(run("evaluate", "model", tmp_path / "odd.txt", "--errors", "1", "--json").stdout)
    assert len(shown["mistakes"]) == 1
    assert "found PER, is LOC" in result.stdout or "worst errors" in result.stdout


def test_brackets_in_names_of_types_are_no_markup(inside, tmp_path):
    names = ("[/b]", "[link=http://evil]x[/link]", ":boom:")
    lines = [f'[Ekeus]("{name}") heads for home with [Clinton]("{name}") .' for name in names]
    (tmp_path / "odd.txt").write_text("\n".join(lines), encoding="utf-8")
    shown = run("fit", tmp_path / "odd.txt", "--encoder", "encoder", "--out", tmp_path / "model").stdout
    shown += run("evaluate", tmp_path / "model", tmp_path / "odd.txt", "--encoder", "encoder").stdout
    for name in names:
        assert shown.count(name) > 3


def test_explain_names_labelled_words(inside, tagger):
    gold = read("support.txt")
    result = run("explain", "model", "support.txt", "--json", "--nearest", "2")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["text"] for record in records] == [sentence.text for sentence in gold]
    found = [[one["mention"] for one in record["explanations"]] for record in records]
    expected = [
        [mention | {"score": pytest.approx(mention["score"])} for mention in each] for each in tagger.predict(gold)
    ]
    assert found == expected  # up to rounding: texts are tagged in other batches
    for record in records:
        for one in record["explanations"]:  # a word that was labelled in this very sentence is nearest to itself
            assert len(one["nearest"]) == 2
            assert one["nearest"][0]["distance"] < 0.01
            assert one["nearest"][0]["word"] in one["mention"]["word"].split()
            assert one["prototype"]["tag"] == one["mention"]["entity_group"] != one["runner_up"]
    people = run("explain", "model", "support.txt").stdout
    assert people.count("second comes") == sum(map(len, found)) > 0


def test_fit_does_not_overwrite_what_is_no_model(inside, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    arguments = ["fit", "support.txt", "--encoder", "encoder", "--out", tmp_path / "notes"]
    assert failed(run(*arguments), "not overwritten")
    assert (tmp_path / "notes" / "a.txt").read_text() == "mine"


def test_prediction_loads_nothing_that_takes_long(inside):
    code = "import sys; sys.argv[1:] = ['predict', 'model', 'text.txt']; from handful.cli import main\n"
    code += "try: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert "onnxruntime" in loaded
    assert not {"scipy", "sklearn", "torch", "transformers", "rich"} & set(loaded)


def test_threads_are_taken(inside):
    assert run("predict", "model", "text.txt", "--threads", "1").exit_code == 0


def test_a_link_does_not_change_how_text_is_read(inside, tmp_path):
    line = "Ekeus left. See [the rain](guide) in Paris .\n"
    result = run("predict", "model", "-", input=line)
    assert [json.loads(found)["text"] for found in result.stdout.splitlines()] == [line.strip()]
    assert "1 mark such as [words](TYPE) was left in the text as it is (--from inline" in result.stderr
    explained = run("explain", "model", "-", "--json", input=line).stdout.splitlines()
    assert [json.loads(found)["text"] for found in explained] == ["Ekeus left.", "See [the rain](guide) in Paris ."]
    (tmp_path / "more.txt").write_text(line)
    arguments = ["fit", "support.txt", "-u", tmp_path / "more.txt", "--encoder", "encoder", "--json"]
    fitted = run(*arguments, "--out", tmp_path / "out")
    assert json.loads(fitted.stdout)["n_unlabelled_words"] == 14


def test_records_come_back_with_what_else_is_in_them(inside, tmp_path):
    records = [
        {"id": 1, "text": "Ekeus heads for Paris", "meta": {"from": ["x"]}},
        {"text": "", "id": 2},
        {"text": " ", "id": 3},
        {"id": 4, "text": "the rain", "spans": []},
        {"text": "", "id": 5},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    found = [json.loads(line) for line in run("predict", "model", "-", input=lines).stdout.splitlines()]
    assert [{**record, "entities": None} for record in found] == [
        {key: value for key, value in {**record, "entities": None}.items() if key != "spans"} for record in records
    ]
    assert [bool(record["entities"]) for record in found] == [True, False, False, False, False]
    assert run("predict", "model", "-", "--to", "conll", input=lines).stdout.count("\n\n") == 2
    assert run("predict", "model", "-", "--to", "prodigy", input=lines).stdout.count("\n") == 2
    (tmp_path / "more.jsonl").write_text(lines)
    arguments = ["fit", "support.txt", "-u", tmp_path / "more.jsonl", "--encoder", "encoder", "--out", tmp_path / "out"]
    fitted = run(*arguments)
    assert fitted.exit_code == 0
    assert "more.jsonl: 3 records without a word were passed over" in fitted.stderr


def test_every_text_given_has_its_record(inside):
    given = ["-t", "", "-t", "the rain", "-t", " "]
    texts = [json.loads(line)["text"] for line in run("predict", "model", *given, "--to", "jsonl").stdout.splitlines()]
    assert texts == ["", "the rain", " "]
    assert json.loads(run("predict", "model", "-t", "", "--to", "jsonl").stdout) == {"text": "", "entities": []}


def test_the_ending_of_a_compressed_file_names_its_format(inside, tmp_path):
    assert run("predict", "model", "text.txt", "--out", tmp_path / "out.conll.gz").exit_code == 0
    assert read(tmp_path / "out.conll.gz").report.format == "conll"


def test_one_of_a_kind_is_singular(inside, tmp_path):
    (tmp_path / "one.txt").write_text("[Ekeus](PER) heads\n")
    arguments = [tmp_path / "one.txt", "--encoder", "encoder", "--out", tmp_path / "out"]
    assert "; 1 labelled sentence, 1 mention; 0 unlabelled words\n" in run("fit", *arguments).stdout
    shown = " ".join(run("stats", tmp_path / "one.txt").stdout.split())
    assert "1 of 1 type PER 1" in shown
    shown = run("convert", tmp_path / "one.txt", tmp_path / "one.conll", "--to", "conll").stderr
    assert "inline, 1 sentence, 2 words\n" in shown
    assert "conll, 1 sentence\n" in shown


def test_the_same_text_is_cut_alike_in_json_and_in_plain_text(inside, tmp_path):
    texts = [text.strip() for text in DOCUMENTS]
    (tmp_path / "d.txt").write_text("\n".join(texts), encoding="utf-8")
    records = "".join(json.dumps({"text": text, "id": i}) + "\n" for i, text in enumerate(texts))
    (tmp_path / "d.jsonl").write_text(records, encoding="utf-8")
    plain, packed = (run("predict", "model", str(tmp_path / name), "--to", "jsonl") for name in ("d.txt", "d.jsonl"))
    plain, packed = ([json.loads(line) for line in result.stdout.splitlines()] for result in (plain, packed))
    assert [record.pop("id") for record in packed] == [0, 1]
    assert packed == plain
    plain, packed = (run("predict", "model", str(tmp_path / f"d{end}"), "--to", "conll") for end in (".txt", ".jsonl"))
    assert packed.stdout == plain.stdout
    assert packed.stdout.count("\n\n") > len(texts)  # sentences, not documents
    lines = {}
    for end in (".txt", ".jsonl"):
        out = str(tmp_path / f"m{end}")
        given = ("--unlabelled", str(tmp_path / f"d{end}"), "--encoder", "encoder", "--out", out, "--json")
        lines[end] = json.loads(run("fit", "support.txt", *given).stdout)
    assert lines[".txt"]["objective"] == lines[".jsonl"]["objective"]


def test_text_that_the_encoder_cannot_read_is_said_in_one_line(inside, tmp_path):
    (tmp_path / "text.txt").write_text("李明昨天在北京大学参加了会议。\n阿里巴巴公司总部位于杭州。\n", encoding="utf-8")
    result = run("predict", "model", tmp_path / "text.txt", "--to", "jsonl")
    assert (result.exit_code, [json.loads(line)["entities"] for line in result.stdout.splitlines()]) == (0, [[], []])
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: encoder cannot read ")
    assert "such as 李, 明, 昨: " in line
    arguments = ["support.txt", "-u", tmp_path / "text.txt", "--encoder", "encoder", "--out", tmp_path / "model", "-q"]
    result = run("fit", *arguments)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: encoder cannot read ")
