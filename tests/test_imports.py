"""Imports point one way only, and `import handful` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import handful

PACKAGE = Path(handful.__file__).parent

# What each room may import of ours, besides itself, `errors` and `_util`.
MAY_IMPORT = {
    "errors": set(),
    "_util": set(),
    "cluster": set(),
    "text": set(),
    "examples": set(),
    "web": {"text"},
    "encoders": {"text"},
    "evaluate": {"text"},
    "tagger": {"evaluate", "encoders", "text", "cluster"},
    "training": {"tagger", "evaluate", "encoders", "text", "cluster"},
    "baselines": {"tagger", "training", "evaluate", "encoders", "text", "cluster"},
    "scale": {"tagger", "evaluate", "encoders", "text", "cluster"},
    "workbench": {"tagger", "evaluate", "encoders", "text", "web"},
    "serve": {"tagger", "evaluate", "encoders", "text", "web"},
    "integrations": {"tagger", "evaluate", "encoders", "text", "web"},
    "bench": {"baselines", "tagger", "training", "evaluate", "encoders", "text", "cluster"},
    "cli": {
        "scale",
        "workbench",
        "serve",
        "bench",
        "baselines",
        "tagger",
        "training",
        "evaluate",
        "encoders",
        "text",
        "cluster",
        "web",
        "examples",
    },
    "__main__": {"cli"},
}


def room_of(file):
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(file):
    """Yield every name that a file imports of our own package, in full, at any depth of the file."""
    package = ["handful", *file.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, node.module] if node.module else base)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "handful" and len(parts) > 1 and not parts[1].startswith("__"):
                yield name


def imported_rooms(file):
    return {name.split(".")[1] for name in imported_names(file)}


FILES = sorted(file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or file.stem != "__init__")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    room = room_of(file)
    allowed = MAY_IMPORT[room] | {room, "errors", "_util"}
    assert imported_rooms(file) <= allowed


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_underscored_module_of_another_room_is_imported(file):
    for name in imported_names(file):
        room, *rest = name.split(".")[1:]
        assert room == room_of(file) or not any(part.startswith("_") and part.islower() for part in rest), name


def modules_after(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_handful_is_light():
    loaded = modules_after("import handful")
    assert "handful" in loaded
    assert not loaded & {"torch", "transformers", "onnxruntime", "sklearn", "tokenizers", "numpy", "dask"}


def test_nothing_loads_dask_before_it_is_needed():
    loaded = modules_after("import handful; handful.Tagger, handful.SubspaceKMeans; import handful.scale, handful.cli")
    assert "handful.scale" in loaded
    assert not loaded & {"dask", "distributed", "fsspec"}


def test_import_of_the_integrations_is_light():
    assert not modules_after("import handful.integrations") & {"numpy", "spacy", "transformers", "huggingface_hub"}
    loaded = modules_after("from handful.integrations import from_hub")
    assert "handful.integrations._hub" in loaded
    assert not loaded & {"torch", "transformers", "spacy", "huggingface_hub", "sklearn"}


def test_import_of_the_baselines_is_light():
    loaded = modules_after("import handful.baselines")
    assert "handful.baselines._simple" in loaded
    assert not loaded & {"torch", "transformers", "onnxruntime", "sklearn", "tokenizers"}


def test_a_fit_by_names_and_a_prediction_load_no_scikit_learn():
    loaded = modules_after(
        "from handful import Tagger; tagger = Tagger(['person', 'place']).fit(); "
        "assert tagger.predict('Anna met Bob in Rome.')"
    )
    assert "onnxruntime" in loaded
    assert not loaded & {"sklearn", "scipy", "pandas", "torch", "transformers", "rich"}


def test_import_of_the_comparison_is_light():
    loaded = modules_after("from handful.bench import transfer")
    assert "handful.bench._transfer" in loaded
    assert not loaded & {"torch", "transformers", "onnxruntime", "tokenizers", "rich"}


def test_the_public_names_are_there_and_come_when_asked():
    assert {name for name in handful.__all__ if getattr(handful, name) is not None} == set(handful.__all__)
    loaded = modules_after("import handful; handful.read, handful.Document, handful.score")
    assert "handful.evaluate" in loaded
    assert not loaded & {"numpy", "sklearn", "tokenizers", "onnxruntime"}
