import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))

from handful.cli import main
from handful.cli.commands import make_app
from handful.encoders import load

app = make_app()


def test_export_encoder(tmp_path):
    from models import distilbert

    distilbert(tmp_path / "hf")
    arguments = [
        "export-encoder",
        str(tmp_path / "hf"),
        "--out",
        str(tmp_path / "out"),
        "--int8",
        "--licence",
        "MIT",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "int8, 2 layers, 32 dimensions" in result.stdout
    assert "licence MIT" in result.stdout
    assert load(tmp_path / "out", precision="int8").encode([["a", "b"]]).shape == (2, 32)


def test_errors_are_one_message(tmp_path, monkeypatch, capsys):
    arguments = [
        "handful",
        "export-encoder",
        str(tmp_path / "no" / "such" / "folder"),
        "--out",
        str(tmp_path / "out"),
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert "Traceback" not in shown.err
