"""Findings: counted by class, and each kind written once, as a test file that fails until the fault is mended."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hunt.case import Case

_TEMPLATE = '''"""{title}

{text}
"""

from tests.hunt.case import Case
from tests.hunt.modes import Mode, expected_of, judge
from weft.options import Stress

SOURCE = """
{source}"""

CALLS = (
{calls})


def test_the_same_answer() -> None:
    case = Case(SOURCE, CALLS)
    verdict = judge(case, {mode}, expected_of(case)[0])
    assert not verdict.kind, f"{{verdict.kind}}: {{verdict.text}}"
'''


def pattern(kind: str, text: str) -> str:
    """What a difference looks like without its numbers and names: findings that look alike are shrunk a few times."""
    text = re.sub(r"call \d+[^:]*: ", "", text)
    text = re.sub(r"^[.\d]+: ", "", text)
    return f"{kind}: " + re.sub(r"'[^']*'|[-\d.]+", "#", text)[:60]


def mode_text(mode: dict[str, Any]) -> str:
    """A mode as a test writes it."""
    stress = {name: value for name, value in mode["stress"].items() if value not in (None, False)}
    parts = [f"backend={mode['backend']!r}"]
    parts += [f"fp={mode['fp']!r}"] if mode["fp"] != "numpy" else []
    parts += [f"stress=Stress({', '.join(f'{n}={v!r}' for n, v in stress.items())})"] if stress else []
    parts += [f"threads={mode['threads']}"] if mode["threads"] else []
    parts += [f"level={mode['level']!r}"] if mode["backend"] in ("c", "plain") else []
    parts += ["checked=True"] if mode.get("checked") else []
    parts += [f"collect={mode['collect']}"] if mode.get("collect") else []
    parts += [f"without={tuple(mode['without'])!r}"] if mode.get("without") else []
    return f"Mode({', '.join(parts)})"


@dataclass
class Findings:
    """What was found so far, in a folder."""

    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)

    def is_new(self, kind: str, text: str, most: int = 3) -> bool:
        """Whether a difference is worth shrinking: not after some that looked alike."""
        look = pattern(kind, text)
        self.seen[look] += 1
        return self.seen[look] <= most

    def write(self, seed: int, case: Case, mode: dict[str, Any], kind: str, text: str) -> Path:
        """The test file of a finding; the same program is written once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(case.source.encode()).hexdigest()[:10]
        path = self.folder / f"test_{kind.replace(' ', '_')}_{name}.py"
        calls = "".join(f"    {call!r},\n" for call in case.calls)
        source = case.source.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        title = f"Seed {seed}: {kind}."
        told = text.replace("\\", "/").replace('"""', "'''")
        path.write_text(
            _TEMPLATE.format(title=title, text=told, source=source, calls=calls, mode=mode_text(mode)), encoding="utf-8"
        )
        self.files.append(path)
        with (self.folder / "findings.jsonl").open("a", encoding="utf-8") as log:
            row = {"seed": seed, "kind": kind, "text": text, "mode": mode, "source": case.source, "calls": case.calls}
            log.write(json.dumps(row) + "\n")
        return path
