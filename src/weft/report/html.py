"""The HTML page of `weft explain --html`.  In: explanations; out: one self-contained page that loads nothing else.

Each source line is coloured by what became of it; a click opens its notes and its C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from weft.report.explain import Explanation, LineReport, VersionReport, label, line_notes
from weft.report.tree import Branch, calls_text, is_short

_LEGEND = (
    ("parallel", "parallel", "runs on several threads"),
    ("vectorised", "vectorised", "runs in SIMD lanes"),
    ("library", "library", "mapped to a BLAS call"),
    ("native", "native", "compiled, one element after the other"),
    ("merged", "merged", "computed where it is used"),
    ("mixed", "part Python", "a part of the line stays Python"),
    ("python", "left to Python", "runs in the interpreter"),
)

_STYLE = """
:root { --ink: #1c2430; --soft: #5d6b7c; --paper: #ffffff; --edge: #d9e0e8; --panel: #f6f8fb;
  --parallel: #cfeedd; --vectorised: #dff3d8; --library: #d8e8fb; --native: #f0f6e4; --merged: #eceff3;
  --mixed: #fdeccd; --python: #fbd9d3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --soft: #98a6b8; --paper: #12171e; --edge: #2b3542;
  --panel: #1a212b; --parallel: #14432c; --vectorised: #24421c; --library: #173a5e; --native: #2f3a1c;
  --merged: #262d36; --mixed: #54401a; --python: #5b2620; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 80px; }
h1 { font-size: 20px; margin: 0 0 2px; } h2 { font-size: 17px; margin: 40px 0 4px; }
.where { color: var(--soft); font-size: 13px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 10px; margin: 14px 0 0; padding: 0; list-style: none; }
.legend li { font-size: 12.5px; padding: 2px 9px; border-radius: 4px; }
table.versions { border-collapse: collapse; margin: 12px 0 16px; font-size: 13px; width: 100%; }
table.versions th { text-align: left; color: var(--soft); font-weight: 500; padding: 3px 14px 3px 0; }
table.versions td { padding: 3px 14px 3px 0; border-top: 1px solid var(--edge); vertical-align: top; }
h3 { font-size: 14px; margin: 18px 0 4px; }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding: 0; font-size: 13px; }
ul.tree ul { margin-left: 9px; padding-left: 16px; border-left: 1px solid var(--edge); }
ul.tree li { padding: 2px 0; } ul.tree { margin: 4px 0 14px; overflow-wrap: anywhere; }
.count { display: inline-block; margin-left: 8px; padding: 0 8px; border-radius: 9px; font-size: 12px;
  background: var(--merged); color: var(--soft); white-space: nowrap; }
.count.ran { background: var(--parallel); color: var(--ink); }
.way { margin-left: 14px; white-space: nowrap; }
code, pre, summary { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px; }
.code { border: 1px solid var(--edge); border-radius: 6px; overflow: hidden; }
.row { display: grid; grid-template-columns: 52px minmax(0, 1fr) 190px; align-items: baseline;
  padding: 1px 12px 1px 0; }
.row .number { color: var(--soft); text-align: right; padding-right: 14px; user-select: none; }
.row .source { white-space: pre; overflow-x: auto; }
.row .label { font: 12px system-ui, sans-serif; text-align: right; color: var(--ink); opacity: .8; }
details > summary { list-style: none; cursor: pointer; } details > summary::-webkit-details-marker { display: none; }
details > summary .number::before { content: "\\25B8"; float: left; padding-left: 8px; color: var(--soft); }
details[open] > summary .number::before { content: "\\25BE"; }
details > summary:focus-visible { outline: 2px solid #3b7ddd; outline-offset: -2px; }
.more { background: var(--panel); padding: 8px 16px 10px 52px; border-top: 1px solid var(--edge);
  border-bottom: 1px solid var(--edge); font-size: 13.5px; }
.more ul { margin: 2px 0; padding-left: 18px; } .more pre { margin: 8px 0 0; padding: 8px 10px; overflow-x: auto;
  background: var(--paper); border: 1px solid var(--edge); border-radius: 4px; font-size: 12px; line-height: 1.4; }
.parallel { background: var(--parallel); } .vectorised { background: var(--vectorised); }
.library { background: var(--library); } .native { background: var(--native); } .merged { background: var(--merged); }
.mixed { background: var(--mixed); } .python { background: var(--python); }
@media (max-width: 640px) { .row { grid-template-columns: 44px minmax(0, 1fr); } .row .label { display: none; } }
"""


def page(explanations: Sequence[Explanation], title: str) -> str:
    """The whole page for the functions of one file."""
    sections = "\n".join(line for explanation in explanations for line in _section(explanation))
    legend = "".join(f'<li class="{css}" title="{escape(help_)}">{name}</li>' for css, name, help_ in _LEGEND)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft explain: {escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<div class="where">What weft made of each line. A click on a marked line shows why, and its C.</div>
<ul class="legend">{legend}</ul>
{sections}
</main>
</body>
</html>
"""


def _section(explanation: Explanation) -> Iterator[str]:
    yield f"<h2>{escape(explanation.function)}</h2>"
    yield f'<div class="where">{escape(explanation.file)}</div>'
    if explanation.versions:
        yield '<table class="versions"><tr><th>version</th><th>arguments</th><th>compiled in</th></tr>'
        for number, version in enumerate(explanation.versions, 1):
            yield _version_row(number, version)
        yield "</table>"
        yield from _tree(explanation.tree)
        yield from _memory(explanation.versions)
    else:
        yield "<p>Not compiled: no call and no complete type hints.</p>"
    if explanation.notes:
        items = "".join(f"<li>{escape(note.message)} {escape(note.remedy)}</li>" for note in explanation.notes)
        yield f"<ul>{items}</ul>"
    yield '<div class="code">'
    for line in explanation.lines:
        yield _line(line)
    yield "</div>"


def _version_row(number: int, version: VersionReport) -> str:
    stages = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in version.stages)
    cells = f"<td>{number}</td><td><code>{escape(version.signature)}</code></td>"
    return f'<tr>{cells}<td title="{escape(stages)}">{version.total * 1e3:.0f} ms</td></tr>'


def _tree(root: Branch | None) -> Iterator[str]:
    """The decision tree as nested lists; what calls went through is marked."""
    if root is None:
        return
    yield "<h3>How a call decides</h3>"
    yield f'<ul class="tree">{_branch(root)}</ul>'


def _branch(branch: Branch) -> str:
    text = f"<code>{escape(branch.text)}</code>"
    if is_short(branch):
        ways = "".join(f'<span class="way">{escape(way.text)}{_count(way.calls)}</span>' for way in branch.branches)
        return f"<li>{text}{ways}</li>"
    inside = "".join(map(_branch, branch.branches))
    return f"<li>{text}{_count(branch.calls)}{f'<ul>{inside}</ul>' if inside else ''}</li>"


def _count(calls: int | None) -> str:
    if calls is None:
        return ""
    return f'<span class="count{" ran" if calls else ""}">{calls_text(calls)}</span>'


def _memory(versions: Sequence[VersionReport]) -> Iterator[str]:
    known = [(number, version.memory) for number, version in enumerate(versions, 1) if version.memory is not None]
    if not known:
        return
    yield "<h3>Memory</h3>"
    yield '<table class="versions"><tr><th>version</th><th>temporaries</th><th>what became of each</th></tr>'
    for number, used in known:
        first, *rest = used.text()
        rows = "<br>".join(escape(row.strip()) for row in rest) or "none"
        yield f"<tr><td>{number}</td><td>{escape(first.removeprefix('memory: temporaries '))}</td><td>{rows}</td></tr>"
    yield "</table>"


def css_class(line: LineReport) -> str:
    """The colour of a line: its strongest trait."""
    if line.state in ("python", "mixed", "none"):
        return "" if line.state == "none" else line.state
    traits = set(line.traits)
    for trait in ("parallel", "vectorised"):
        if trait in traits:
            return trait
    if traits - {"sequential", "merged into its uses"}:
        return "library"
    return "merged" if "merged into its uses" in traits else "native"


def _line(line: LineReport) -> str:
    source = escape(line.text) or " "
    row = (
        f'<span class="number">{line.number}</span><span class="source">{source}</span>'
        f'<span class="label">{escape(label(line))}</span>'
    )
    notes = list(line_notes(line))
    classes = f"row {css_class(line)}".rstrip()
    if not notes and not line.c:
        return f'<div class="{classes}"><code style="display:contents">{row}</code></div>'
    more = "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>" if notes else ""
    more += "".join(f"<pre>{escape(code)}</pre>" for code in line.c)
    return f'<details><summary class="{classes}">{row}</summary><div class="more">{more}</div></details>'
