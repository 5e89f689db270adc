"""``python -m boolfilter.cli`` is the command ``boolfilter``."""

import sys

from boolfilter.cli import main

sys.exit(main())
