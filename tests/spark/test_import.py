import subprocess
import sys


def test_importing_boolfilter_imports_no_pyspark() -> None:
    code = "import sys, boolfilter; assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
