"""Settings of the property tests."""

from hypothesis import settings

# Exact fractions take their time, and most property tests run once for each of thirteen formats.
settings.register_profile("exact", deadline=None, max_examples=20)
settings.load_profile("exact")
