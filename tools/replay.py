"""Process replay: `python tools/replay.py BASE [HEAD]` shows how generated code differs between two commits.

In: two commits (HEAD missing: the files as they lie here); out: a diff of the IR and the C of every kernel of the
corpus in tests/apps, and exit code 1 if there is one.  A refactoring must show none.  The corpus is always that of
this tree, so that only the compiler differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SECONDS = 900


def generate() -> dict[str, str]:
    """The text of every stage of every kernel, by the compiler that is on the path."""
    from tests.apps.kernels import KERNELS
    from weft import pipeline
    from weft.ir.text import show

    texts: dict[str, str] = {}
    for name, kernel in sorted(KERNELS.items()):
        for form, function in sorted(kernel.forms.items()):
            place = f"{name}/{form}"
            try:
                compiled = pipeline.compile(function, kernel.arguments(form, kernel.small[-1]))
            except Exception as problem:  # a kernel that does not compile is a fact to compare like any other
                texts[f"{place}/problem"] = f"{type(problem).__name__}: {problem}"
                continue
            texts[f"{place}/built"] = show(compiled.program_built)
            texts[f"{place}/optimised"] = show(compiled.program_optimised)
            texts[f"{place}/lowered"] = show(compiled.program_lowered)
            texts[f"{place}/c"] = compiled.c_source or ""
    return {place: text.replace(str(ROOT), ".") for place, text in texts.items()}


def resolved(name: str | None) -> str | None:
    """The commit that a name stands for now."""
    if name is None:
        return None
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", f"{name}^{{commit}}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def tree_of(commit: str | None) -> Iterator[Path]:
    """A directory with the files of a commit, removed afterwards; None: this directory."""
    if commit is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="weft-replay-") as directory:
        tree = Path(directory) / "tree"
        subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True
        )
        try:
            yield tree
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], check=True)


def texts_at(commit: str | None) -> dict[str, str]:
    """What the compiler of a commit generates, in a process of its own with a cache of its own."""
    with tree_of(commit) as tree, tempfile.TemporaryDirectory(prefix="weft-replay-") as scratch:
        out = Path(scratch) / "texts.json"
        path = os.pathsep.join((str(tree / "src"), str(ROOT)))
        settings = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--generate", str(out)],
            check=True,
            cwd=ROOT,
            env={**settings, "PYTHONPATH": path, "WEFT_CACHE_DIR": str(Path(scratch) / "cache")},
            timeout=_SECONDS,
        )
        found: dict[str, str] = json.loads(out.read_text())
    return found


def differences(base: dict[str, str], head: dict[str, str]) -> Iterator[str]:
    """Unified diffs of the texts that differ."""
    for place in sorted(base.keys() | head.keys()):
        before, after = base.get(place, ""), head.get(place, "")
        if before != after:
            yield from difflib.unified_diff(
                before.splitlines(), after.splitlines(), f"base/{place}", f"head/{place}", lineterm=""
            )


def main() -> int:
    parser = argparse.ArgumentParser(description="Diff the code generated for the corpus between two commits.")
    parser.add_argument("base", nargs="?", help="a commit")
    parser.add_argument("head", nargs="?", help="a commit (the files as they lie here)")
    parser.add_argument("--generate", type=Path, metavar="FILE", help="only write what this tree generates, as JSON")
    parser.add_argument("--summary", action="store_true", help="only the names of what differs")
    parsed = parser.parse_args()
    if parsed.generate is not None:
        parsed.generate.write_text(json.dumps(generate()))
        return 0
    if parsed.base is None:
        parser.error("a commit to compare with is needed")
    commits = [resolved(name) for name in (parsed.base, parsed.head)]  # before either is replayed: branches move
    base, head = (texts_at(commit) for commit in commits)
    changed = sorted(place for place in base.keys() | head.keys() if base.get(place) != head.get(place))
    for line in changed if parsed.summary else differences(base, head):
        print(line)
    print(f"{len(changed)} of {len(base.keys() | head.keys())} texts differ", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
