"""The HTML page of `weft explain --html`.  In: explanations; out: one self-contained page that loads nothing else.

Each source line is coloured by what became of it; a click opens its notes and its C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from weft.report import roofline
from weft.report.explain import STARTS, Explanation, LineReport, VersionReport, label, line_notes
from weft.report.short import actions, status
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

_CODE = re.compile(r"`([^`]+)`")
#: Reasons shown above the source; the others stand at their lines.
_MOST_ACTIONS = 6

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
.status { margin: 8px 0 6px; font-weight: 500; }
ul.actions { list-style: none; margin: 0 0 12px; padding: 0; font-size: 14px; }
ul.actions li { padding: 6px 12px; border-radius: 4px; margin-bottom: 4px; overflow-wrap: anywhere; }
.remedy { font-weight: 500; } a { color: inherit; } .share { font-variant-numeric: tabular-nums; font-weight: 600; }
details.part { border: 1px solid var(--edge); border-radius: 6px; margin: 8px 0 0; }
details.part > summary { padding: 6px 12px; font: 14px system-ui, sans-serif; }
details.part > summary::before { content: "\\25B8"; padding-right: 8px; color: var(--soft); }
details.part[open] > summary::before { content: "\\25BE"; }
details.part > .inside { padding: 0 14px 10px; overflow-x: auto; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 12px; }
figure { margin: 0; min-width: 0; } figcaption { color: var(--soft); font-size: 13px; }
.pair pre { margin: 2px 0 0; padding: 8px 10px; overflow: auto; max-height: 420px; background: var(--panel);
  border: 1px solid var(--edge); border-radius: 4px; font-size: 12px; line-height: 1.45; }
.times table { border-collapse: collapse; font-size: 13px; } .times td { padding: 2px 10px 2px 0; }
.times caption { text-align: left; color: var(--soft); padding: 6px 0; }
.roofline svg { max-width: 560px; width: 100%; height: auto; }
td.bar { width: 55%; } td.bar span { display: block; height: 10px; border-radius: 2px; background: #3b7ddd; }
:target > .row, :target.row { outline: 2px solid #3b7ddd; outline-offset: -2px; }
.way { margin-left: 14px; white-space: nowrap; }
code, pre, summary { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px; }
.code { border: 1px solid var(--edge); border-radius: 6px; overflow: hidden; }
.row { display: grid; grid-template-columns: 52px minmax(0, 1fr) 190px; align-items: baseline;
  padding: 1px 12px 1px 0; }
.row .number { position: relative; color: var(--soft); text-align: right; padding-right: 14px; user-select: none; }
.row .source { white-space: pre; overflow-x: auto; }
.row .label { font: 12px system-ui, sans-serif; text-align: right; color: var(--ink); opacity: .8; }
details > summary { list-style: none; cursor: pointer; }
details > summary::-webkit-details-marker { display: none; }
details > summary .number::before { content: "\\25B8"; position: absolute; left: 8px; color: var(--soft); }
details[open] > summary .number::before { content: "\\25BE"; }
details > summary:focus-visible { outline: 2px solid #3b7ddd; outline-offset: -2px; }
.more { background: var(--panel); padding: 8px 16px 10px 52px; border-top: 1px solid var(--edge);
  border-bottom: 1px solid var(--edge); font-size: 13.5px; }
.more ul { margin: 2px 0; padding-left: 18px; }
.more pre { max-height: 420px; margin: 8px 0 0; padding: 8px 10px; overflow: auto;
  background: var(--paper); border: 1px solid var(--edge); border-radius: 4px; font-size: 12px; line-height: 1.4; }
.parallel { background: var(--parallel); } .vectorised { background: var(--vectorised); }
.library { background: var(--library); } .native { background: var(--native); } .merged { background: var(--merged); }
.mixed { background: var(--mixed); } .python { background: var(--python); }
@media (max-width: 640px) { .row { grid-template-columns: 44px minmax(0, 1fr); }
  .row .label { grid-column: 2; text-align: left; } main { padding: 16px 10px 60px; } }
"""


def page(explanations: Sequence[Explanation], title: str) -> str:
    """The whole page for the functions of one file."""
    seen = [one for one in explanations if one.versions or one.refused or one.python_calls]
    alone = len(explanations) == 1 and explanations[0].function == title  # the title says it all
    sections = "\n".join(line for explanation in seen or explanations for line in _section(explanation, alone))
    rest = [one for one in explanations if one not in seen] if seen else []
    if rest:
        inside = "\n".join(line for explanation in rest for line in _section(explanation))
        sections += "\n" + _folded(f"Not called yet: {', '.join(one.function for one in rest)}", inside)
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
<div class="where">What weft made of each line. Open a marked line (click, or Tab and Enter): why, and its C.</div>
<ul class="legend">{legend}</ul>
{sections}
</main>
</body>
</html>
"""


def _section(explanation: Explanation, alone: bool = False) -> Iterator[str]:
    name = escape(explanation.function)
    yield f'<section aria-label="{name}">'
    if not alone:
        yield f'<h2>{name}</h2><div class="where">{escape(explanation.file)}</div>'
    yield f'<p class="status">{_words(status(explanation))}</p>'
    yield from _actions(explanation)
    if any(line.text.strip() for line in explanation.lines):
        yield '<div class="code">'
        yield from map(_line, explanation.lines)
        yield "</div>"
    else:
        yield "<p>There is no source to show: the function was not read from a file, or the file is gone.</p>"
    yield from _measured(explanation)
    yield from _nests(explanation.versions)
    yield from _times(explanation.versions)
    yield from _memory(explanation.versions)
    yield from _tree(explanation.tree)
    others = [note for note in explanation.notes if note.kind == "done"]
    if others:
        items = "".join(f"<li>{_words(note.message)} {_words(note.remedy)}</li>" for note in others)
        yield _folded("Further remarks", f"<ul>{items}</ul>")
    yield "</section>"


def _words(text: str) -> str:
    """A sentence in which `this` is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _folded(title: str, inside: str, is_open: bool = False) -> str:
    """A part of the page that is closed until somebody wants it."""
    mark = " open" if is_open else ""
    return f'<details class="part"{mark}><summary>{escape(title)}</summary><div class="inside">{inside}</div></details>'


def _actions(explanation: Explanation) -> Iterator[str]:
    """Why lines are not native, or not parallel, and what to do: first what stays Python."""
    found = actions(explanation)
    if not found:
        return
    rows = []
    for line, note in found[:_MOST_ACTIONS]:
        where = "" if line is None else f'<a href="#{_anchor(line)}">line {line.number}</a>: '
        kind = "mixed" if note.kind == "missed" else "python"
        remedy = f'<br><span class="remedy">Try: {_words(note.remedy)}</span>' if note.remedy else ""
        rows.append(f'<li class="{kind}">{where}{STARTS[note.kind]}{_words(note.message)}{remedy}</li>')
    if len(found) > _MOST_ACTIONS:
        rows.append(f"<li>and {len(found) - _MOST_ACTIONS} more, at their lines</li>")
    yield f'<ul class="actions">{"".join(rows)}</ul>'


def _anchor(line: LineReport) -> str:
    return f"line-{line.number}"


def _measured(explanation: Explanation) -> Iterator[str]:
    """The time of one call, part by part, and where it stands below the roof of memory."""
    timeline, done = explanation.measured, explanation.work
    if timeline is None:
        return
    inside = f'<div class="times">{timeline._repr_html_()}</div>'
    native = [row for row in timeline.totals() if row[0] == "native"]
    if done is not None and done.bytes and len(native) == 1:
        _, what, seconds, count = native[0]
        point = roofline.Point(what, done, seconds / count)
        inside += f"<p>{escape(roofline.sentence(point, explanation.roofs))}</p>"
        if explanation.roofs and done.flops:
            inside += f'<div class="roofline">{roofline.drawn([point], explanation.roofs)}</div>'
        elif not explanation.roofs:
            inside += "<p>What this machine could do is known after <code>weft doctor --calibrate</code>.</p>"
    yield _folded("Time of one call (measured)", inside, is_open=True)


def _nests(versions: Sequence[VersionReport]) -> Iterator[str]:
    """The loops as they were written beside the loops that run."""
    for number, version in enumerate(versions, 1):
        before, after = version.nests
        if not before or not after:
            continue
        title = "Loops before and after" + (f", version {number}" if len(versions) > 1 else "")
        both = (
            f'<figure><figcaption>as written</figcaption><pre tabindex="0">{escape(before)}</pre></figure>'
            f'<figure><figcaption>as it runs</figcaption><pre tabindex="0">{escape(after)}</pre></figure>'
        )
        yield _folded(title, f'<div class="pair">{both}</div>')


def _times(versions: Sequence[VersionReport]) -> Iterator[str]:
    """How long compiling took, step by step, as bars."""
    if not versions:
        return
    rows = "".join(_version_row(number, version) for number, version in enumerate(versions, 1))
    head = "<tr><th>version</th><th>arguments</th><th>calls</th><th>compiled in</th></tr>"
    bars = ""
    for version in versions[-1:]:
        largest = max((seconds for _, seconds in version.stages), default=0.0)
        for name, seconds in sorted(version.stages, key=lambda stage: -stage[1])[:8]:
            width = 100 * seconds / largest if largest else 0
            bars += (
                f"<tr><td>{escape(name)}</td><td>{seconds * 1e3:.1f} ms</td>"
                f'<td class="bar"><span style="width: {width:.1f}%"></span></td></tr>'
            )
    steps = f'<table class="versions">{bars}</table>' if bars else ""
    body = f'<table class="versions">{head}{rows}</table>{steps}'
    yield _folded("Versions and what compiling them took (measured)", body)


def _version_row(number: int, version: VersionReport) -> str:
    cells = f"<td>{number}</td><td><code>{escape(version.signature)}</code></td><td>{version.calls}</td>"
    return f"<tr>{cells}<td>{version.total * 1e3:.0f} ms</td></tr>"


def _tree(root: Branch | None) -> Iterator[str]:
    """The decision tree as nested lists; what calls went through is marked."""
    if root is None:
        return
    yield _folded("How a call decides between versions", f'<ul class="tree">{_branch(root)}</ul>')


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
    table = '<table class="versions"><tr><th>version</th><th>temporaries</th><th>what became of each</th></tr>'
    for number, used in known:
        first, *rest = used.text()
        rows = "<br>".join(escape(row.strip()) for row in rest) or "none"
        first = escape(first.removeprefix("memory: temporaries "))
        table += f"<tr><td>{number}</td><td>{first}</td><td>{rows}</td></tr>"
    yield _folded("Memory", table + "</table>")


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
        f'<span class="label">{_share(line)}{escape(label(line))}</span>'
    )
    notes = list(line_notes(line))
    classes = f"row {css_class(line)}".rstrip()
    if not notes and not line.c:
        return f'<div class="{classes}" id="line-{line.number}"><code style="display:contents">{row}</code></div>'
    more = "<ul>" + "".join(f"<li>{_words(note)}</li>" for note in notes) + "</ul>" if notes else ""
    more += "".join(f'<pre tabindex="0" aria-label="C of line {line.number}">{escape(code)}</pre>' for code in line.c)
    summary = f'<summary class="{classes}">{row}</summary>'
    return f'<details id="line-{line.number}">{summary}<div class="more">{more}</div></details>'


def _share(line: LineReport) -> str:
    """The part of the estimated work of a call that a line has."""
    if line.share < 0.01:
        return ""
    return f'<span class="share" title="of the work of a call, estimated">{line.share:.0%}</span> '
