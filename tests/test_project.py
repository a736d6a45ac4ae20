"""What surrounds the package says the same everywhere: versions, dependencies, licences, the lock, the data sheet."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tool(name):
    return runpy.run_path(str(ROOT / "tools" / f"{name}.py"))


def test_every_place_states_the_same_version():
    release = tool("release")
    stated = release["versions"]()
    assert len(stated) == 4
    assert set(stated.values()) == {__import__("handful").__version__}, stated
    (day,) = set(release["dates"]().values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_notice_lists_the_dependencies_of_pyproject():
    licences = tool("licences")
    listed = (ROOT / "NOTICE").read_text(encoding="utf-8").partition("\nDependencies\n")[2]
    found = {"": []}
    for line in listed.splitlines():
        if group := re.fullmatch(r"always:|with the extra (\w+):", line):
            names = found.setdefault(group[1] or "", [])
        elif entry := re.fullmatch(r"  ([\w-]+): (\S.*)", line):
            names.append(entry[1])
            assert entry[2] != "unknown", line
    wanted = {extra: sorted(map(licences["name_of"], all_)) for extra, all_ in licences["groups"]().items()}
    del wanted["dev"]  # nobody who uses the package needs it
    assert found == wanted, "run: python tools/licences.py --notice"


def test_licences_of_what_is_needed_in_turn():
    found, _ = tool("licences")["closure"](["dask[array]", "scikit-learn"])
    assert {"dask", "numpy", "toolz", "scikit-learn", "joblib"} <= found.keys()
    assert "distributed" not in found  # it comes with another extra of Dask
    assert "BSD" in found["numpy"]


def test_the_lock_pins_what_pyproject_asks_for_but_torch():
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").replace(" \\\n", "")
    lines = text.splitlines()
    pinned = re.compile(r"[\w.-]+==[\w.+]+( ; .*?)?(    --hash=sha256:[0-9a-f]{64})+")
    assert all(pinned.fullmatch(line) for line in lines)  # no address, no option
    licences = tool("licences")
    asked = {licences["name_of"](one) for all_ in licences["groups"]().values() for one in all_}
    assert asked - {line.partition("==")[0] for line in lines} == {"torch"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").iterdir()), ids=lambda path: path.name)
def test_workflows_use_pinned_actions_and_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(r"\./.*|[\w/-]+@[0-9a-f]{40} # v[\d.]+", one) for one in used)
    assert text.count("persist-credentials: false") == text.count("actions/checkout@")
    assert re.search(r"^permissions:(\n  contents: read| \{\})\n", text, re.MULTILINE)
    assert set(re.findall(r"[\w-]+: write", text)) <= {"id-token: write"}


def test_the_data_sheet_has_the_figures_of_its_command():
    card = (ROOT / "docs" / "model_card.md").read_text(encoding="utf-8")
    for name, value in tool("mosaic_facts")["facts"]("dev").items():
        (row,) = re.findall(rf"^\| {re.escape(name)} \| .* \| (.*) \|$", card, re.MULTILINE)
        assert row == value, name


STUB = """
import json, sys
control = {"name": "jinja2", "version": "2.11.2", "vulns": CONTROL}
found = [{"name": "handful", "skip_reason": "not found"}, {"name": "numpy", "version": "2.0", "vulns": FOUND}]
print(json.dumps({"dependencies": [control] if "--requirement" in sys.argv else found}))
"""
FLAW = [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]


@pytest.mark.parametrize(
    ("control", "found", "strict", "code", "said"),
    [
        (FLAW, [], [], 0, "1 packages looked up, 0 with"),
        (FLAW, FLAW, [], 1, "numpy 2.0: PYSEC-1, mended in 2.1"),
        ([], [], [], 0, "audit: NOT done"),  # pip-audit alone would say that all is well
        ([], [], ["--strict"], 1, "audit: NOT done"),
    ],
)
def test_an_audit_without_data_is_not_taken_for_a_good_one(tmp_path, control, found, strict, code, said):
    stub = STUB.replace("CONTROL", json.dumps(control)).replace("FOUND", json.dumps(found))
    (tmp_path / "pip_audit.py").write_text(stub, encoding="utf-8")
    command = [sys.executable, ROOT / "tools" / "audit.py", tmp_path, *strict]
    run = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr
    assert said in run.stdout


def test_a_release_passes_over_encoders_whose_weights_are_missing(tmp_path, capsys):
    build = tool("release")["build_encoders"]
    build.__globals__["ENCODERS"] = tmp_path / "encoders"
    package = tmp_path / "encoders/my-xx/my_xx"
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").touch()
    (package / "encoder.json").touch()
    assert build(tmp_path) == []
    assert "my-xx is passed over" in (said := capsys.readouterr().out)
    assert "has no model.onnx, tokenizer.json" in said


def test_each_distribution_of_an_encoder_names_its_package():
    for file in sorted((ROOT / "encoders").glob("*/pyproject.toml")):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        name, package = file.parent.name, file.parent.name.replace("-", "_")
        assert content["project"]["name"] == name
        assert content["project"]["entry-points"]["handful.encoders"] == {name: package}
        assert content["tool"]["setuptools"]["packages"] == [package]
        assert (file.parent / package / "__init__.py").is_file()
        assert (file.parent / "README.md").is_file()
