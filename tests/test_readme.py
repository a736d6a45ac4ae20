"""The README's snippets and commands run, as a new user would type them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from handful import examples

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SHELL = [line for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL) for line in block.splitlines()]


@pytest.fixture
def _desk(tmp_path, monkeypatch, shell):
    """Stand in a folder with the corpora that nobody can ship."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANDFUL_CACHE", shell["HANDFUL_CACHE"])
    for target in re.findall(r"data/\w+", "\n".join(SHELL)):  # stand-ins for the corpora: garden notes, each time
        Path(target).mkdir(parents=True)
        for split, source in {"train": examples.SUPPORT, "dev": examples.HELDOUT, "test": examples.SUPPORT}.items():
            shutil.copy(source, Path(target) / f"{split}.txt")


@pytest.mark.usefixtures("_desk")
def test_the_tagger_snippet(capsys):
    exec(compile(PYTHON[0], "README.md", "exec"), {})
    found = [(one["entity_group"], one["word"], one["start"], one["end"]) for one in eval(capsys.readouterr().out)]
    promised = re.findall(r"'entity_group': '(\w+)'.*?'word': '(.*?)', 'start': (\d+), 'end': (\d+)", PYTHON[0])
    assert found == [(label, word, int(start), int(end)) for label, word, start, end in promised]
    assert Path("model").is_dir()


def test_the_estimator_snippet(capsys):
    exec(compile(PYTHON[1], "README.md", "exec"), {})
    share_found, o_share, n_rounds = capsys.readouterr().out.split()[:3]
    assert float(share_found) > 0.95
    assert float(o_share) == 0.9
    assert 1 <= int(n_rounds) <= 10


@pytest.mark.usefixtures("_desk")
def test_the_commands(shell):
    commands = [line for line in SHELL if line.startswith("handful ")]
    assert len(commands) >= 6
    for command in commands:
        if command.startswith("handful add "):  # a correction: one mention is none
            text = Path("next.txt").read_text(encoding="utf-8")
            Path("next.txt").write_text(re.sub(r"\[([^]]+)\]\(\w+\)", r"\1", text, count=1), encoding="utf-8")
        command += " --shots 1 --sets 1" if " bench " in command else ""  # the same, once
        run = subprocess.run(command, shell=True, capture_output=True, text=True, env=shell, check=False)
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
    assert "<html" in Path("notes.html").read_text(encoding="utf-8").lower()


def test_nothing_else_is_promised():
    others = [line for line in SHELL if not line.startswith("handful ")]
    assert set(others) == {"make demo", "make test", "pip install ."}
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\ndemo:" in targets
    assert "\ntest:" in targets
    assert len(PYTHON) == 2
