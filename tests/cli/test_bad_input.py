"""Whatever goes wrong ends in one clear line, the documented exit code, and no half-written file."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from commands import COMMAND, SLOW_COMMAND, SUPPORT, failed, handful, run

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are those of POSIX")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "explain"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "No such file"), (b"", "is empty"), (b"\x00\xff\xfe" * 99, "--encoding"), (b"\0\1\2\n" * 99, "NUL")],
    ids=["missing", "empty", "binary", "nul"],
)
def test_bad_files_are_one_line(inside, tmp_path, command, content, message):
    bad = tmp_path / "bad"
    if content is not None:
        bad.write_bytes(content)
    arguments = {
        "fit": ["fit", bad, "--encoder", "encoder", "--out", tmp_path / "out"],
        "predict": ["predict", "model", bad, "--out", tmp_path / "out"],
        "evaluate": ["evaluate", "model", bad],
        "explain": ["explain", "model", bad],
    }[command]
    assert failed(run(*arguments), message)
    assert [path.name for path in tmp_path.iterdir()] == (["bad"] if content is not None else [])


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ("[Ekeus](PER)\n[Baghdad](LOC)\n", "no word that is O"),
        ("nothing is marked here .\nnor is it here .\n", "no sentence is labelled"),
    ],
)
def test_bad_supports_are_one_line(inside, tmp_path, support, message):
    (tmp_path / "support.txt").write_text(support)
    arguments = ["fit", tmp_path / "support.txt", "--encoder", "encoder", "--out", tmp_path / "out", "--no-names"]
    assert failed(run(*arguments), message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["fit", "predict", "label"])
def test_a_corpus_as_types_is_one_line(inside, tmp_path, command):
    arguments = {
        "fit": ["fit", "--types", "support.txt", "--out", tmp_path / "out"],
        "predict": ["predict", "--types", "support.txt", "text.txt", "--out", tmp_path / "out"],
        "label": ["label", "text.txt", "--types", "support.txt", "--project", tmp_path / "out.db", "--no-browser"],
    }[command]
    assert failed(run(*arguments), "support.txt:1: found '[Ekeus](PER) heads for")
    assert list(tmp_path.iterdir()) == []


def test_one_mention_and_one_sentence_will_do(inside, tmp_path):
    (tmp_path / "support.txt").write_text("[Ekeus](PER) heads for [Baghdad](LOC) on Thursday .\n")
    (tmp_path / "text.txt").write_text("the official heads for Paris .\n")
    arguments = ["fit", tmp_path / "support.txt", "-u", tmp_path / "text.txt", "--encoder", "encoder"]
    result = run(*arguments, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0
    assert any("LOC (1), PER (1)" in line["shell"] for line in json.loads(result.stdout)["advice"])


def test_an_impossible_ratio_is_one_line(inside, tmp_path):
    arguments = ["fit", "support.txt", "-u", "text.txt", "--encoder", "encoder", "--out", tmp_path / "out"]
    assert failed(
        run(*arguments, "--o-ratio", "1.5"), "--o-ratio 1.5 is not possible: it must be auto, none or a number"
    )
    assert failed(run(*arguments, "--o-ratio", "nan"), "--o-ratio nan is not possible")
    assert failed(run(*arguments, "--o-ratio", "0.05"), "0.05")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_bad_models_are_one_line(inside, tmp_path, command):
    assert failed(run(command, tmp_path / "none", "text.txt"), "no such folder")
    shutil.copytree("model", tmp_path / "newer")
    config = json.loads((tmp_path / "newer" / "config.json").read_text())
    config["format_version"] += 1
    (tmp_path / "newer" / "config.json").write_text(json.dumps(config))
    assert failed(run(command, tmp_path / "newer", "text.txt"), "install a newer")


@pytest.mark.parametrize(
    ("file", "size", "message"),
    [
        ("model.safetensors", 100, "model.safetensors: is damaged or cut off"),
        ("config.json", 100, "config.json: is damaged or cut off"),
        ("support.jsonl", 100, "support.jsonl:1: "),
        ("model.safetensors", None, "model.safetensors: cannot be read"),
        ("config.json", None, "is not a model of handful"),
        ("support.jsonl", None, "support.jsonl: cannot be read"),
    ],
)
def test_damaged_models_are_one_line(inside, tmp_path, file, size, message):
    shutil.copytree("model", tmp_path / "model")
    if size is None:
        (tmp_path / "model" / file).unlink()
    else:
        os.truncate(tmp_path / "model" / file, size)
    assert failed(run("predict", tmp_path / "model", "text.txt"), message)


def test_what_is_no_model_is_one_line(inside, tmp_path):
    assert failed(run("predict", tmp_path, "text.txt"), "it has no config.json")
    assert failed(run("predict", "text.txt", "text.txt"), "is a file, a model is a folder")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert failed(run("predict", tmp_path, "text.txt"), "something else")


@pytest.mark.parametrize("content", [None, "{not json", '{"model_type": "bert"}'])
def test_export_of_no_encoder_is_one_line(tmp_path, content):
    (tmp_path / "bad").mkdir()
    if content is not None:
        (tmp_path / "bad" / "config.json").write_text(content)
    assert failed(run("export-encoder", tmp_path / "bad", "--out", tmp_path / "out"), "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_bad_limit_of_the_cache_names_its_variable(inside, tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE_LIMIT", "much")
    arguments = ["fit", "support.txt", "--encoder", "encoder", "--out", tmp_path / "out"]
    assert failed(run(*arguments), "HANDFUL_CACHE_LIMIT must be a positive number of bytes, such as '10 GB'; found 'm")
    assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize("command", ["predict", "fit", "evaluate", "explain", "stats", "convert"])
def test_ctrl_c_leaves_one_line_and_no_file(inside, tmp_path, command):
    arguments = {
        "predict": ["predict", "model", "-", "--out", tmp_path / "out.jsonl"],
        "fit": ["fit", "support.txt", "--unlabelled", "-", "--encoder", "encoder", "--out", tmp_path / "out"],
        "evaluate": ["evaluate", "model", "-"],
        "explain": ["explain", "model", "-", "--from", "inline", "--json"],
        "stats": ["stats", "-"],
        "convert": ["convert", "-", tmp_path / "out.conll", "--to", "conll"],
    }[command]
    answers_by_line = command == "explain"
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if answers_by_line else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        running.stdin.write(SUPPORT.encode() * (250 if answers_by_line else 500))
        running.stdin.flush()  # more than a pipe holds: by now it reads
        if answers_by_line:
            assert json.loads(running.stdout.readline())["text"]  # by now it answers
        running.send_signal(signal.SIGINT)
        running.stdin.close()
        assert running.stderr.read() == b"stopped\n"
    assert running.returncode == 130
    assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize(
    "module",
    [
        "handful.cli.commands",
        "typer",
        "handful.tagger",
        pytest.param("onnxruntime", marks=pytest.mark.exhaustive),
        pytest.param("sklearn", marks=pytest.mark.exhaustive),
    ],
)
def test_ctrl_c_while_loading_is_one_line(inside, tmp_path, module):
    """A finder of modules presses it when one is asked for."""
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
from handful.cli import main
main()
"""
    arguments = ["fit", "support.txt", "--encoder", "encoder", "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.xlsx", "out.txt", "out.PDF.gz"])
def test_an_ending_that_is_no_format_is_refused(inside, tmp_path, name):
    result = run("predict", "model", "text.txt", "--out", tmp_path / name)
    assert result.exit_code == 2
    assert all(word in result.stderr for word in (".jsonl", ".conll", ".csv", ".spacy", ".html", "--to"))
    assert list(tmp_path.iterdir()) == []
    assert run("predict", "model", "text.txt", "--out", tmp_path / name, "--to", "conll").exit_code == 0


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"tokens": ["a"], "ner_tags": [1]}', "as in handful convert --tag-names O,B-PER,I-PER, or give a file"),
        ('{"tokens": ["a", "b"], "ner_tags": ["B-X", "Y"]}', "handful.text.read(FILE, scheme='types') in Python (the"),
    ],
)
def test_advice_names_what_there_is(inside, tmp_path, record, message):
    (tmp_path / "in.jsonl").write_text(record)
    assert failed(run("convert", tmp_path / "in.jsonl", "-", "--to", "conll"), message)


OUTPUTS = [
    ["--help"],
    ["--version"],
    ["predict", "--help"],
    ["predict", "model", "text.txt"],
    ["predict", "model", "text.txt", "--to", "html"],
    ["evaluate", "model", "support.txt", "--quiet"],
    ["explain", "model", "text.txt"],
    ["cache"],
]


@FULL
@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_a_full_disk_under_standard_output(inside, arguments):
    with open("/dev/full", "w") as full:
        done = handful(*arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: ")
    assert done.stderr.count("\n") == 1


@POSIX
@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(inside, arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = handful(*arguments, stdout=theirs)
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


@POSIX
@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("command", ["predict", "fit"])
def test_a_full_disk_leaves_one_line_and_no_file(inside, tmp_path, command):
    def limit():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    arguments = {
        "predict": ["predict", "model", "text.txt", "--out", tmp_path / "out.jsonl"],
        "fit": ["fit", "support.txt", "--encoder", "encoder", "--no-cache", "--out", tmp_path / "out"],
    }[command]
    assert failed(handful(*arguments, command=SLOW_COMMAND, preexec_fn=limit), f"{arguments[-1]}")
    assert list(tmp_path.iterdir()) == []
