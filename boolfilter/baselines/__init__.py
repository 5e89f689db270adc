"""Other ways to match, for comparison: the algorithms of the papers this library goes back to.

Those that are compiled read the same forests and items as a segment does and are compiled in the
same way; the others are plain Python. So what is compared within a kind is the algorithm.
"""
