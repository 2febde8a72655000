"""`python -m weft.cli`: the same as the `weft` command."""

from __future__ import annotations

import sys

from weft.cli import main

sys.exit(main())
