"""What the tests share."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep features out of the home folder."""
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
