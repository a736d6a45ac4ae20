"""Settings that hold for every test."""

import os

from hypothesis import settings

# Tests never judge time. The continuous build repeats the same examples; elsewhere new ones are tried each time.
settings.register_profile("handful", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("handful")
