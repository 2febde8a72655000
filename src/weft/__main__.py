"""`python -m weft` is the command `weft`.  In: its arguments; out: its exit status."""

from __future__ import annotations

import sys

from weft.cli import main

if __name__ == "__main__":
    sys.exit(main())
