"""An encoder, a support, some text, and a model fitted on them, made once a run."""

import shutil

import pytest
from commands import SUPPORT, TEXT, handful

from handful.encoders import EMBEDDED


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep features out of the home folder."""
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session", autouse=True)
def quick(shell):
    """Let `handful` be the command that starts at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", shell["PATH"])
        yield


@pytest.fixture(scope="session")
def place(made_once):
    """Make a folder with encoder, support.txt, text.txt and model; it is not to be written to."""

    def make(place):
        shutil.copytree(EMBEDDED["handful-en"], place / "encoder")  # the same words give the same vectors in every run
        (place / "support.txt").write_text(SUPPORT, encoding="utf-8")
        (place / "text.txt").write_text(TEXT, encoding="utf-8")
        arguments = ["fit", "support.txt", "--unlabelled", "text.txt", "--o-ratio", "0.8", "--encoder", "encoder"]
        done = handful(*arguments, "--out", "model", cwd=place, env={"HANDFUL_CACHE": str(place / "cache")})
        assert (done.returncode, done.stderr) == (0, "\nwrote model; try: handful predict model FILE\n")
        (place / "fit.out").write_text(done.stdout, encoding="utf-8")

    return made_once("tagging", make)


@pytest.fixture
def inside(place, monkeypatch):
    """Stand in that folder."""
    monkeypatch.chdir(place)
    return place
