"""Programs and functions drawn for notebooks.  In: a `ProgramView`, or what is known of a function; out: HTML without
scripts: loops as nested boxes, coloured by how they run.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from weft.ir.program import Block, Call, If, Library, Loop, LoopKind, Program, Stmt
from weft.ir.text import show_dim, show_expr, show_node
from weft.ir.walk import sub_blocks
from weft.report.indextree import index_tree

_GREEN = "#2e8b57"
_COLOURS = {LoopKind.VECTOR: "#7cb342", **dict.fromkeys((LoopKind.PARALLEL, LoopKind.TASK, LoopKind.ASSERTED), _GREEN)}
_OTHER = "#8a8f98"
_CODE = "font: 12px ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere"
#: Statements drawn of one program; the others are counted.
_MOST = 60


def program_html(stages: Mapping[str, Program], stage: str) -> str:
    """The loops of a program at one stage; those of the other stages are folded."""
    parts = [f"<b>{escape(stages[stage].name)}</b>"]
    for name, program in stages.items():
        mark = " open" if name == stage else ""
        parts.append(f"<details{mark}><summary>{escape(name)}</summary>{_nest(program)}</details>")
    tree = index_tree(stages["lowered"]) if "lowered" in stages else ()
    if tree:
        rows = escape("\n".join(tree))
        parts.append(f'<details><summary>index tree</summary><pre style="{_CODE}">{rows}</pre></details>')
    return f'<div style="max-width: 900px">{"".join(parts)}</div>'


def _nest(program: Program) -> str:
    count = 0

    def dotted(head: str, inside: str) -> str:
        style = f"margin-left: 2px; padding-left: 10px; border-left: 4px dotted {_OTHER}"
        return f'<div style="{style}"><span style="{_CODE}">{escape(head)}</span>{inside}</div>'

    def drawn(block: Block) -> str:
        nonlocal count
        out = ""
        for node in block:
            count += 1
            if count > _MOST:
                return out
            if isinstance(node, Loop):
                colour = _COLOURS.get(node.kind, _OTHER)
                line = f" (line {node.span.line})" if node.span.line > 0 else ""
                head = f"{node.kind.value} {show_dim(node.dim, program.table)}{line}"
                style = f"border-left: 4px solid {colour}; margin: 3px 0 3px 2px; padding: 1px 0 1px 10px"
                out += f'<div style="{style}"><span style="{_CODE}; color: {colour}">{escape(head)}</span>'
                out += f"{drawn(node.body)}</div>"
            elif isinstance(node, (Stmt, Call, Library)):
                out += f'<div style="{_CODE}">{escape(show_node(node, program.table))}</div>'
            elif isinstance(node, If):
                out += dotted(f"if {show_expr(node.condition, program.table)}", drawn(node.then))
                out += dotted("else", drawn(node.orelse)) if node.orelse else ""
            elif sub_blocks(node):
                out += dotted(type(node).__name__.lower(), "".join(map(drawn, sub_blocks(node))))
        return out

    body = drawn(program.body)
    more = f"<div>and {count - _MOST} nodes more: print(f.program())</div>" if count > _MOST else ""
    return body + more


def function_html(name: str, rows: list[tuple[str, str]], told: str) -> str:
    """A compiled function: its name, a sentence, and a row for each version."""
    head = f"<b>{escape(name)}</b> &nbsp; {escape(told)}"
    if not rows:
        return f"<div>{head}</div>"
    cells = "".join(
        f'<tr><td style="text-align: left"><code>{escape(signature)}</code></td><td>{escape(calls)}</td></tr>'
        for signature, calls in rows
    )
    table = f'<tr><th style="text-align: left">arguments</th><th>calls</th></tr>{cells}'
    return f"<div>{head}<table>{table}</table></div>"
