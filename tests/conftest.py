from hypothesis import settings

# A busy machine, or a kernel compiled in passing, is no failure of the property.
settings.register_profile("default without deadlines", deadline=None)
settings.load_profile("default without deadlines")
