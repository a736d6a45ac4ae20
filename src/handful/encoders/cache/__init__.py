"""Features on disk: a sentence that an encoder has seen is not encoded again."""

from ._store import FeatureStore, StoredFeatures, default_place
from ._stored import StoredEncoder

__all__ = ["FeatureStore", "StoredEncoder", "StoredFeatures", "default_place"]
