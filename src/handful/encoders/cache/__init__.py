"""Features on disk or in memory: a sentence that an encoder has seen is not encoded again."""

from ._cache import CachedFeatures, FeatureCache, default_place
from ._encoder import CachedEncoder
from ._memory import RememberingEncoder

__all__ = ["CachedEncoder", "CachedFeatures", "FeatureCache", "RememberingEncoder", "default_place"]
