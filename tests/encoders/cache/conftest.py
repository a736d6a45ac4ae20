"""A cache in a folder of its own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from handful.encoders.cache import FeatureCache
from handful.encoders.cache import _encoder as encoder_module


@pytest.fixture
def cache(tmp_path):
    return FeatureCache(tmp_path / "cache")


@pytest.fixture
def tiny_packs(monkeypatch):
    """Keep ten sentences of four words at a time."""
    monkeypatch.setattr(encoder_module, "PACK_BYTES", 10 * 4 * 8 * 4)
