import os

from hypothesis import settings

# No deadlines: a busy machine, or a kernel compiled in passing, is no failure of the property.
# Each run draws other examples; `HYPOTHESIS_PROFILE=thorough make test` draws many more at once.
settings.register_profile("quick", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
