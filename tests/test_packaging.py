"""What is installed: the package with its data inside, and nothing else."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
BUILD_INPUTS = ["pyproject.toml", "setup.py", "README.md", "LICENSE"]
PACKAGED_FOLDERS = ["boolfilter", "grammar", "encoding"]

# Run by a fresh Python in another folder; prints where boolfilter was imported from.
CHECK_INSTALL = """
import importlib.util, sys
sys.path[:0] = sys.argv[1:]
import boolfilter
from boolfilter._resources import read_text

boolfilter.parse("a = 1")
assert read_text("grammar", "subscription.lark")
for name in ["grammar", "encoding", "tests", "benchmarks", "examples", "scripts", "setup"]:
    assert importlib.util.find_spec(name) is None, f"{name} is importable"
print(boolfilter.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy, which keeps setuptools' build folders out of the checkout."""
    copy = tmp_path_factory.mktemp("source")
    for name in BUILD_INPUTS:
        shutil.copy(CHECKOUT / name, copy)
    for name in PACKAGED_FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / name, copy / name, ignore=ignored)
    wheels = tmp_path_factory.mktemp("wheels")
    pip("wheel", "--no-build-isolation", "--wheel-dir", wheels, copy)
    return next(wheels.glob("*.whl"))


def test_wheel_holds_every_file_of_the_package_and_its_data(wheel: Path) -> None:
    packed = {
        name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("boolfilter-")
    }
    package = {path.relative_to(CHECKOUT) for path in files_under(CHECKOUT / "boolfilter")}
    data = {
        "boolfilter" / path.relative_to(CHECKOUT)
        for folder in ["grammar", "encoding"]
        for path in files_under(CHECKOUT / folder)
    }
    assert packed == {path.as_posix() for path in package | data}


def test_installed_wheel_parses_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip("install", "--target", site, wheel)
    imported_from = run_python("-c", CHECK_INSTALL, site, cwd=tmp_path)
    assert Path(imported_from) == site / "boolfilter" / "__init__.py"


def test_editable_install_parses_from_the_checkout(tmp_path: Path) -> None:
    imported_from = run_python("-c", CHECK_INSTALL, cwd=tmp_path)
    assert Path(imported_from) == CHECKOUT / "boolfilter" / "__init__.py"


def pip(command: str, *arguments: str | Path) -> None:
    run_python("-m", "pip", command, "--quiet", "--no-deps", "--no-index", *arguments)


def run_python(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Output of an isolated Python: neither its folder nor PYTHONPATH is on its sys.path."""
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-I", *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def files_under(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
