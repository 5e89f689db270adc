"""Other ways to match, for comparison: the algorithms of the papers this library goes back to.

They read the same forests and items as a segment does and give the same answers, compiled in the
same way, so that what is compared is the algorithm.
"""
