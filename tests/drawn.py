"""How many examples hypothesis draws: few each time, and twice as many others in `make test-all`."""

from hypothesis import settings

USUAL = 30


def examples(n):
    """Return the settings of a test that draws n examples where others draw the usual number."""
    return settings(max_examples=n * settings.default.max_examples // USUAL)
