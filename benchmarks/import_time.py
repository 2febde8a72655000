"""What `import weft` adds to `import numpy`: medians over fresh processes, and the heaviest modules it brings.

python benchmarks/import_time.py [--repeats 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATEMENTS = {
    "nothing": "pass",
    "numpy": "import numpy",
    "numpy, weft": "import numpy, weft",
    "numpy, weft.jit": "import numpy, weft; weft.jit",
}


def seconds(statement: str) -> float:
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH", ""))))
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], env={**os.environ, "PYTHONPATH": path}, check=True)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    times: dict[str, list[float]] = {label: [] for label in STATEMENTS}
    for _ in range(options.repeats):
        for label, statement in STATEMENTS.items():
            times[label].append(seconds(statement))
    median = {label: 1e3 * statistics.median(values) for label, values in times.items()}
    for label, value in median.items():
        print(f"{label:20}{value:8.1f} ms{value - median['numpy']:+10.1f} against numpy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
