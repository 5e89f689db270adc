"""The data files of the grammar/ and encoding/ folders, wherever boolfilter is installed."""

from importlib import resources
from pathlib import Path


def read_text(folder: str, name: str) -> str:
    """Text of a data file, by folder and name.

    >>> "subscription" in read_text("grammar", "subscription.lark")
    True
    """
    inside = resources.files("boolfilter") / folder / name
    if inside.is_file():
        return inside.read_text(encoding="utf-8")
    # An editable install, or a plain checkout: the folders stand beside the package.
    return (Path(__file__).parent.parent / folder / name).read_text(encoding="utf-8")
