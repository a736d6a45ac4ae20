"""Every snippet of every page of the site runs, and prints what the page shows; or `NOT_RUN` says why not.

All pages but the tutorial, which starts from nothing, stand on the same desk: a folder with the small files that they
name, and a model of the garden notes.
"""

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

import pytest

from handful import Tagger, examples, read, write

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = re.findall(r": ([\w.]+\.md)\b", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES += sorted(str(path.relative_to(DOCS)) for path in (DOCS / "decisions").glob("*.md"))
FIRST = ("index.md", "tutorial.md", "concepts.md")  # what a new user types from top to bottom
FROM_NOTHING = ("tutorial.md",)  # it makes each file that it names, in an empty folder
ELSEWHERE = {"sklearn.md": "tests/test_docs_sklearn.py"}

#: What is not run, as a pattern, and why.
NOT_RUN = {
    r"pip install": "installs",
    r"handful demo$|handful demo --language": "tests/cli/test_demo.py runs it",
    r"\bDATA/|\bdata/|crossner|fewnerd17": "corpora that the reader brings",
    r"python docs/make_gallery\.py": "minutes; tests/test_docs_pages.py makes a part of it",
    r"python benchmarks/": "minutes of measuring",
    r"make fuzz|python -m fuzz --target|python -m fuzz --inputs": "minutes; tests/test_fuzz.py tries the same",
    r"handful tune|\btune\(": "minutes of training; tests/training/test_tune.py tunes small encoders",
    r"bert-base-cased|export-encoder (encoder|FOLDER)": "weights from elsewhere, and minutes of training",
    r"tcp://10\.": "the address of a cluster",
    r"HANDFUL_TOKEN|--host 0\.0\.0\.0|server:8480": "other machines; tests/serve tries tokens and hosts",
    r"docker": "docker; tests/serve/test_docker.py looks at what it would do",
    r"push_to_hub": "an account on the Hub; tests/integrations/test_hub.py has a small one",
}
COMMANDS = ("handful", "python", "make", "pip", "curl", "docker")  # what begins a command in an indented block


def snippets(page):
    """Yield the language and the code of each block of a page; blocks that are indented count if they are commands."""
    text = (DOCS / page).read_text(encoding="utf-8")
    fenced = r"^ *```(\w+)\n(.*?)^ *```$"
    indented = rf"(?<=\n\n)()((?: {{4}}(?:{'|'.join(COMMANDS)}) [^\n]*\n(?: {{4}}[^\n]*\n)*)+)"
    for language, code, _, plain in re.findall(f"{fenced}|{indented}", text, re.DOTALL | re.MULTILINE):
        yield language or "sh", textwrap.dedent(code or plain)


def reasons(code):
    """Return the patterns of `NOT_RUN` that a piece of code matches."""
    return [pattern for pattern in NOT_RUN if re.search(pattern, code, re.MULTILINE)]


def commands(code):
    """Return the commands of a block, one by one: a line, with those that go on with it, or a loop."""
    found, here = [], ""
    for line in code.splitlines(keepends=True):
        here += line
        if subprocess.run(["bash", "-n"], input=here, capture_output=True, text=True, check=False).stderr:
            continue  # a loop, or a text in quotes, goes on
        if not line.endswith("\\\n"):
            found, here = [*found, here], ""
    assert not here, here
    return found


def is_alike(promised, printed):
    """Whether two lines have the same words, and nearly the same numbers."""
    promised, printed = promised.split(), printed.split()
    if len(promised) != len(printed):
        return False
    for one, other in zip(promised, printed, strict=True):
        if re.fullmatch(r"[\d.]+", one) and re.fullmatch(r"[\d.]+", other):
            if abs(float(one) - float(other)) > (4 if "." in one else max(4, 0.1 * float(one))):
                return False
        elif one != other:
            return False
    return True


class Reader:
    """Somebody who types what a page says, on a desk of their own."""

    def __init__(self, desk, shell, given):
        self.desk = desk
        self.shell = shell
        self.names = {"__name__": "page"}
        self._given = given
        self._servers = ExitStack()
        self._address = "localhost:8480"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._servers.close()

    def run(self, language, code):
        """Run a snippet; return what it prints, or None if it is not run."""
        if language == "python":
            return None if reasons(code) else self._python(code)
        given = [one for one in commands(code) if not reasons(one)]
        return self._shell(given) if given else None

    def _python(self, code):
        used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        for name in used & self._given.keys() - self.names.keys():
            self.names[name] = self._given[name]()
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code.replace("localhost:8480", self._address), "a page", "exec"), self.names)
        return printed.getvalue()

    def _shell(self, given):
        """Run commands as one script; servers are started, and go on until the end of the page."""
        servers = [one for one in given if one.startswith(("handful label", "handful serve"))]
        script = "".join(one for one in given if one not in servers).replace("localhost:8480", self._address)
        for server in servers:
            self._start(server.partition("#")[0].strip())
        run = subprocess.run(
            ["bash", "-ec", script], cwd=self.desk, env=self.shell, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{script}\n{run.stdout}{run.stderr}"
        return run.stdout

    def _start(self, server):
        command = [sys.executable, "-m", *server.split(), "--port", "0"]
        if " label " in server:
            command.append("--no-browser")
            self._servers.close()  # one at a time works on a project
        process = subprocess.Popen(
            command, cwd=self.desk, env=self.shell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._servers.callback(_end, process)
        late = threading.Timer(300, process.kill)
        late.start()
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"http://(127\.0\.0\.1:\d+)", line):
                self._address = found[1]
                break
        late.cancel()
        assert found, said


def _end(process):
    process.terminate()
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def furnish(desk, shell):
    """Write what pages name into a new folder: labels, types, texts, tables, and a model."""
    desk.mkdir()
    for name, source in {
        "few.txt": examples.SUPPORT,
        "types.txt": examples.TYPES,
        "corpus.txt": examples.UNLABELLED,
        "whole.txt": examples.SUPPORT,
        "test.txt": examples.HELDOUT,
    }.items():
        shutil.copy(source, desk / name)
    lines = (desk / "corpus.txt").read_text(encoding="utf-8").splitlines()
    for number in range(2):
        (desk / "news").mkdir(exist_ok=True)
        (desk / "news" / f"{number}.txt").write_text("\n".join(lines[20 * number :][:20]) + "\n", encoding="utf-8")
    (desk / "skipped.txt").write_text("Only the [hoe](TOOL) was marked here, not the slugs.\n", encoding="utf-8")
    (desk / "reviews.csv").write_text("id,body\n1,She lent me a hoe.\n2,Slugs again.\n", encoding="utf-8")
    news = "Ekeus\tB-PER\nleft\tO\nIraq\tB-GPE\n\nthe\tO\nUN\tB-ORG\n\n"
    (desk / "news.conll").write_text(news, encoding="utf-8")
    write(read(desk / "few.txt"), desk / "few.conll", "conll")
    for name in ("docs", "fuzz", "src", "tools", "corpora"):
        (desk / name).symlink_to(ROOT / name)
    fit = "handful fit few.txt --types types.txt --unlabelled corpus.txt --out model --quiet"
    subprocess.run(["bash", "-ec", fit], cwd=desk, env=shell, check=True)


@pytest.fixture(scope="session")
def desk(shell, made_once):
    """Make the desk of all pages, once; it is not to be written to."""
    return made_once("desk", lambda folder: furnish(folder, shell))


def given(page, desk):
    """Return what the Python of a page takes for granted, by name, each as a function that makes it."""
    if page in FROM_NOTHING:
        return {}
    few = read(desk / "few.txt")
    texts = ["She lent me a hoe.", "Slugs again.", "Nothing was seen."] * 4

    def dataset():
        write(few, desk / "few.jsonl", "huggingface")
        records = map(json.loads, (desk / "few.jsonl").read_text(encoding="utf-8").splitlines())
        return pytest.importorskip("datasets").Dataset.from_list(
            [{"text": " ".join(one["tokens"]), "tokens": one["tokens"], "ner_tags": one["ner_tags"]} for one in records]
        )

    def frame():
        pandas = pytest.importorskip("pandas")
        if page != "scale.md":
            return pandas.DataFrame({"text": texts})
        return pytest.importorskip("dask.dataframe").from_pandas(pandas.DataFrame({"body": texts}), npartitions=2)

    def array():
        numpy, dask = pytest.importorskip("numpy"), pytest.importorskip("dask.array")
        rows = numpy.random.default_rng(0).normal(size=(100, 4))
        rows[:10] += 9
        return dask.from_array(rows, chunks=(30, 4))

    def tags():
        numpy = pytest.importorskip("numpy")
        return numpy.array([1] * 3 + [-1] * 7 + [0] * 10 + [-1] * 80)

    return {
        "Tagger": lambda: Tagger,
        "tagger": lambda: Tagger.load(desk / "model"),
        "few": lambda: few,
        "sentences": lambda: few,
        "corpus": lambda: few,
        "another": lambda: read(desk / "test.txt"),
        "frame": frame,
        "dataset": dataset,
        "bag": lambda: pytest.importorskip("dask.bag").from_sequence(texts, npartitions=2),
        "X": array,
        "y": tags,
    }


@pytest.mark.parametrize(
    "page",
    [
        page if page in FIRST else pytest.param(page, marks=pytest.mark.exhaustive)
        for page in PAGES
        if page not in ELSEWHERE
    ],
)
def test_a_page_runs_and_prints_what_it_shows(page, request, tmp_path, monkeypatch):
    found = list(snippets(page))
    to_run = [(language, code) for language, code in found if language in ("sh", "console", "python")]
    if all(reasons(code) for language, code in to_run if language == "python") and all(
        reasons(one) for language, code in to_run if language != "python" for one in commands(code)
    ):
        return  # there is nothing to run
    shell, desk = (request.getfixturevalue(name) for name in ("shell", "desk"))
    own = tmp_path / "desk"
    if page in FROM_NOTHING:
        own.mkdir()
    else:
        shutil.copytree(desk, own, symlinks=True)
    if page == "cache.md":  # it clears the cache
        shutil.copytree(shell["HANDFUL_CACHE"], tmp_path / "cache")
        shell = {**shell, "HANDFUL_CACHE": str(tmp_path / "cache")}
    monkeypatch.chdir(own)
    monkeypatch.setenv("HANDFUL_CACHE", shell["HANDFUL_CACHE"])
    printed = None
    with Reader(own, shell, given(page, own)) as reader:
        for language, code in found:
            if language in ("sh", "console", "python"):
                printed = reader.run(language, code)
            elif language == "text" and printed is not None:
                for line in code.splitlines():
                    assert any(is_alike(line, other) for other in printed.splitlines()), f"{line}\nnot in\n{printed}"
            elif language == "json" and printed is not None:
                assert _rounded(json.loads(code)) == _rounded(json.loads(printed))


def _rounded(answer):
    """Return an answer of the server without the last digits of its scores."""
    return [(one["entity_group"], one["word"], one["start"], round(one["score"], 1)) for one in answer["entities"]]


def test_pages_show_what_is_printed():
    """The pages that are to be typed from top to bottom say what to expect."""
    for page, least in zip(FIRST, (1, 8, 1), strict=True):
        assert sum(language == "text" for language, _ in snippets(page)) >= least


def test_the_list_of_what_is_not_run_has_nothing_else():
    all_code = [code for page in PAGES for language, code in snippets(page) if language in ("sh", "console", "python")]
    assert len(all_code) > 60
    assert [pattern for pattern in NOT_RUN if not any(reasons(code).count(pattern) for code in all_code)] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_block_is_overlooked(page):
    """A block in a language that nobody knows, or without one, would not be run."""
    known = {"sh", "console", "python", "text", "toml", "json", "xml", "mermaid"}
    found = re.findall(r"^[ \t>]*```(.*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert set(found[::2]) <= known
    assert set(found[1::2]) <= {""}
    assert len(found[::2]) <= len(list(snippets(page)))


def test_words_and_numbers_are_compared():
    assert is_alike("PEST  72.4 21", "PEST 75.0   21")
    assert not is_alike("PEST  72.4 21", "PEST 77.0 21")
    assert not is_alike("PEST  72.4 21", "TOOL 72.4 21")
    assert not is_alike("PEST  72.4 21", "PEST 72.4")


def test_a_command_that_fails_is_noticed(shell, tmp_path):
    with Reader(tmp_path, shell, {}) as reader:
        assert reader.run("sh", "echo one\nhandful --version  # two\n").startswith("one\nhandful ")
        with pytest.raises(AssertionError, match="No such option"):
            reader.run("sh", "handful stats --no-such-option\necho after\n")
        with pytest.raises(NameError):
            reader.run("python", "nothing")
        assert reader.run("sh", "pip install .\n") is None


def test_commands_are_told_apart():
    code = "one \\\n  two\nfor x in 1 2; do\n  echo $x\ndone\ncat > f <<'END'\na line\nEND\npython -c '\n1\n'\n"
    assert len(commands(code)) == 4
