"""What pyproject.toml cannot say: found packages, plus two data folders from outside the package.

grammar/ and encoding/ stand at the top of the checkout and are installed as boolfilter/grammar
and boolfilter/encoding. The mapping also keeps an editable install from putting the whole
checkout on sys.path, which would make grammar, tests, ... importable.
"""

from setuptools import find_packages, setup

DATA_FOLDERS = ["grammar", "encoding"]

setup(
    packages=[
        *find_packages(include=["boolfilter", "boolfilter.*"]),
        *(f"boolfilter.{folder}" for folder in DATA_FOLDERS),
    ],
    package_dir={f"boolfilter.{folder}": folder for folder in DATA_FOLDERS},
    # Left on, setuptools warns that each folder inside grammar/ and encoding/ should be a package.
    include_package_data=False,
    package_data={
        "boolfilter": ["py.typed"],
        **{f"boolfilter.{folder}": ["**/*"] for folder in DATA_FOLDERS},
    },
)
