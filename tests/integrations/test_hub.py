"""Taggers on the Hub: huggingface_hub itself, against a small hub on loopback.

huggingface_hub reads its settings when it is imported, so what depends on them runs in a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest
import yaml

from handful import Tagger
from handful.errors import DataError, FileError, ModelError
from handful.integrations import from_hub, push_to_hub

from .fake_hub import running

TEXT = "We sprayed the tomatoes with soft soap against whitefly."


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="module")
def hub():
    with running() as hub:
        yield hub


@pytest.fixture(scope="module")
def run(hub, place):
    """Return a function that runs code in a process that knows the hub; its last line is JSON."""

    def run(code, **environment):
        settings = {
            **os.environ,
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(place / "home"),
            "HF_TOKEN": "hf_good",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            **environment,
        }
        settings = {name: value for name, value in settings.items() if value is not None}
        head = (
            "import json\nfrom handful import Tagger\nfrom handful.errors import HandfulError\n"
            "from handful.integrations import from_hub, push_to_hub\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", head + textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env=settings,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="module")
def pushed(run, garden, hub):
    """Push the garden tagger; return the address of the commit."""
    return run(f"""
        tagger = Tagger.load({str(garden)!r}, threads=1, cache=False)
        print(json.dumps(push_to_hub(tagger, "user/garden", license="apache-2.0", language="en")))
    """)


FETCH = f"""
    try:
        tagger = from_hub("user/garden", threads=1, cache=False)
        print(json.dumps(tagger.predict({TEXT!r})))
    except HandfulError as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""


def test_the_repository_holds_the_folder(pushed, hub, garden):
    files = hub.files("user/garden")
    assert pushed == f"{hub.url}/user/garden/commit/{hub.repos['user/garden']['main']}"
    assert files.keys() == {".gitattributes", "README.md", "config.json", "model.safetensors", "support.jsonl"}
    for name in ("config.json", "model.safetensors", "support.jsonl"):
        assert files[name] == (garden / name).read_bytes()


def test_the_card(pushed, hub, tagger):
    head, _, page = hub.files("user/garden")["README.md"].decode().removeprefix("---\n").partition("\n---\n")
    about = yaml.safe_load(head)
    assert hub.cards  # the Hub was asked whether it is sound
    assert about["license"] == "apache-2.0"
    assert about["language"] == "en"
    assert about["library_name"] == "handful"
    assert about["pipeline_tag"] == "token-classification"
    assert {"handful", "PEST", "TOOL"} <= set(about["tags"])
    assert [one["text"] for one in about["widget"]] == [s.with_text().text for s in tagger.support_[:3]]
    assert 'from handful.integrations import from_hub\n\ntagger = from_hub("user/garden")' in page
    assert "| PEST | an animal, disease or disorder that harms plants |" in page


def test_a_name_then_the_cache_alone(pushed, run, hub, tagger):
    expected = tagger.predict(TEXT)
    assert len(expected) >= 3
    assert run(FETCH) == expected
    fetched = [path for method, path in hub.requests if method == "GET" and "/resolve/" in path]
    assert not [path for path in fetched if "gitattributes" in path]
    hub.requests.clear()
    assert run(FETCH, HF_HUB_OFFLINE="1") == expected
    assert hub.requests == []
    assert run(FETCH, HF_ENDPOINT="http://127.0.0.1:9") == expected  # nobody is there
    only_local = FETCH.replace('"user/garden"', '"user/garden", local_files_only=True')
    assert run(only_local) == expected
    assert hub.requests == []


def test_offline_without_a_copy_is_said(pushed, run, place):
    kind, message = run(FETCH, HF_HUB_OFFLINE="1", HF_HOME=str(place / "empty"))
    assert kind == "FileError"
    assert "there is no folder 'user/garden'" in message
    assert "HF_HUB_OFFLINE is set" in message


CANNOT_BE_HAD = {
    '"user/nothing"': ("FileError", "it does not exist, or it is private"),
    '"user/garden", revision="v9"': ("FileError", "it has no such revision"),
    '"user/gar den"': ("DataError", "user/gar den"),
    '"user/bert"': ("ModelError", "not a model of handful, its config.json is that of something else"),
    '"user/empty"': ("ModelError", "it has no config.json"),
}


def test_what_cannot_be_had_is_said(pushed, run, hub):
    hub.repos["user/bert"], hub.repos["user/empty"] = {}, {}
    hub.commit("user/bert", "main", {"config.json": b'{"model_type": "bert"}', "model.safetensors": b"x" * 100})
    hub.commit("user/empty", "main", {"README.md": b"nothing"})
    hub.requests.clear()
    calls = ", ".join(f"lambda: from_hub({asked}, threads=1, cache=False)" for asked in CANNOT_BE_HAD)
    found = run(f"""
        said = []
        for call in [{calls}]:
            try:
                said.append(["nothing", repr(call())])
            except HandfulError as error:
                said.append([type(error).__name__, str(error)])
        print(json.dumps(said))
    """)
    for (kind, message), expected in zip(found, CANNOT_BE_HAD.values(), strict=True):
        assert kind == expected[0]
        assert expected[1] in message
    assert not [path for _, path in hub.requests if path.endswith("model.safetensors")]


@pytest.mark.parametrize(
    ("setting", "why"), [({"HF_TOKEN": "hf_bad"}, "401"), ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set")]
)
def test_a_push_that_fails_changes_nothing(pushed, run, hub, garden, setting, why):
    before = dict(hub.repos)
    code = f"""
        try:
            push_to_hub(Tagger.load({str(garden)!r}, threads=1), "user/other")
        except HandfulError as error:
            print(json.dumps([type(error).__name__, str(error)]))
    """
    kind, message = run(code, **setting)
    assert kind == "FileError"
    assert "was not pushed to 'user/other'" in message
    assert why in message
    assert hub.repos == before


@pytest.mark.exhaustive
def test_a_branch_and_an_encoder_inside(run, hub, place):
    from handful.encoders import EMBEDDED

    shutil.copytree(EMBEDDED["handful-en"], place / "encoder")
    found = run(f"""
        import shutil
        text = {TEXT!r}
        tagger = Tagger(encoder={str(place / "encoder")!r}, types="pest, tool", threads=1, cache=False).fit()
        push_to_hub(tagger, "user/inside", revision="two", private=True, examples=["Some slugs."])
        shutil.rmtree({str(place / "encoder")!r})
        again = from_hub("user/inside", revision="two", threads=1, cache=False)
        again_found = again.predict(text)
        push_to_hub(Tagger("pest, tool", threads=1, cache=False).fit(), "user/inside", revision="two")
        print(json.dumps(again_found))
    """)
    assert [one["word"] for one in found] == ["soft soap", "whitefly"]
    assert any(asked.get("private") or asked.get("visibility") == "private" for asked in hub.created)
    assert not [path for path in hub.files("user/inside", "two") if path.startswith("encoder/")]  # it left again
    assert b"- text: Some slugs." not in hub.files("user/inside", "two")["README.md"]
    assert "README.md" not in hub.files("user/inside")


def test_a_folder(garden, tagger, tmp_path, monkeypatch):
    assert from_hub(garden, threads=1, cache=False).predict(TEXT) == tagger.predict(TEXT)
    (tmp_path / "user").mkdir()
    shutil.copytree(garden, tmp_path / "user" / "garden")
    monkeypatch.chdir(tmp_path)  # a folder comes before a repository of the same name
    assert from_hub("user/garden", threads=1, cache=False).predict(TEXT) == tagger.predict(TEXT)
    for missing in ("garden", "./user/other", str(tmp_path / "other"), "a/b/c"):
        with pytest.raises(FileError, match="there is no such folder"):
            from_hub(missing)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="is a file"):
        from_hub(tmp_path / "file")
    with pytest.raises(ModelError, match=r"no config\.json"):
        from_hub(tmp_path / "user")


def test_bad_cards_are_refused_before_anything_is_sent(tagger):
    with pytest.raises(DataError, match="expected a list of texts"):
        push_to_hub(tagger, "user/garden", examples="one text")
    with pytest.raises(DataError, match="not fitted"):
        push_to_hub(Tagger("pest"), "user/garden")


@pytest.mark.parametrize(
    ("library", "code", "message"),
    [
        (
            "huggingface_hub",
            "import handful.integrations; handful.integrations.from_hub('user/garden')",
            "pip install 'handful[hub]'",
        ),
        ("spacy", "from handful.integrations import SpacyTagger", "pip install 'handful[spacy]'"),
    ],
)
def test_a_library_that_is_not_there_is_named(library, code, message, tmp_path):
    code = f"import sys, handful\nsys.modules[{library!r}] = None\n{code}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "MissingExtraError" in run.stderr
    assert message in run.stderr
