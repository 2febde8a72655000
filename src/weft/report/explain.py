"""What became of each source line.  In: the compiled versions of a function (programs of each stage, remarks of the
passes, statements left to Python) and its source; out: an `Explanation`, which prints as text and as JSON.

A line's state is read off the lowered program, not off what passes claim: which loops stand around the statements that
carry the line, of which kind, and which library calls.  Remarks add the reasons.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, Protocol

from weft.errors import Span, advice
from weft.ir.expr import Cast, Op, Read, Reduce
from weft.ir.program import Block, Call, Library, Loop, LoopKind, Node, Program, Stmt, While
from weft.ir.routines import ROUTINES
from weft.ir.walk import levels, node_exprs, sub_blocks, subexpressions, walk
from weft.records import dataclass
from weft.report import costs, indextree, memory, roofline
from weft.report.memory import MemoryReport
from weft.report.outline import ProgramView
from weft.report.roofline import Roof, Work
from weft.report.tree import Branch, Calls, History, decision_tree, guards_of, tree_text

State = Literal["native", "python", "mixed", "none"]


class RemarkLike(Protocol):
    """What a pass says: see weft.passes.Remark."""

    @property
    def span(self) -> Span: ...
    @property
    def pass_name(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def kind(self) -> Any: ...
    @property
    def remedy(self) -> str: ...


class CompiledLike(Protocol):
    """What the pipeline keeps of one version."""

    @property
    def signature(self) -> str: ...
    @property
    def program_built(self) -> Program | None: ...
    @property
    def program_optimised(self) -> Program | None: ...
    @property
    def program_lowered(self) -> Program | None: ...
    @property
    def c_source(self) -> str | None: ...
    @property
    def remarks(self) -> Sequence[RemarkLike]: ...
    @property
    def seconds(self) -> Mapping[str, float]: ...
    @property
    def fallbacks(self) -> Sequence[tuple[Span, str, str]]: ...


@dataclass(frozen=True)
class FunctionSource:
    """The text of a function and where it stands."""

    name: str
    file: str
    first_line: int
    text: str


@dataclass(frozen=True)
class Note:
    """One remark on a line; `remedy` is one thing to do about it, `by` the pass that made the remark."""

    kind: Literal["done", "missed", "python", "error"]
    message: str
    remedy: str = ""
    by: str = ""


#: How a remark begins, by its kind.
STARTS = {"done": "", "missed": "not done: ", "python": "left to Python: ", "error": "an error: "}


@dataclass(frozen=True)
class LineReport:
    """One source line.  `traits`: parallel, vectorised, a library call, ...; `c`: what it became in each version."""

    number: int
    text: str
    state: State = "none"
    traits: tuple[str, ...] = ()
    fused_with: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()
    c: tuple[str, ...] = ()
    share: float = 0.0  # of the work of a call, estimated from the sizes of the last one


@dataclass(frozen=True)
class VersionReport:
    """One specialisation: for which arguments, behind which guards, at what cost, made by which back end."""

    signature: str
    guards: tuple[str, ...]
    seconds: dict[str, float]
    backend: str
    left_to_python: int = 0
    memory: MemoryReport | None = None
    index_tree: tuple[str, ...] = ()  # nests over the entries of sparse operands
    formed: tuple[tuple[str, str], ...] = ()  # what became of the arrays that operators would have made
    nests: tuple[str, str] = ("", "")  # the loops as they were written, and as they run
    calls: int = 0

    @property
    def stages(self) -> tuple[tuple[str, float], ...]:
        """Seconds of each step, the sum left out."""
        return tuple((name, seconds) for name, seconds in self.seconds.items() if name != "total")

    @property
    def total(self) -> float:
        return self.seconds.get("total", sum(seconds for _, seconds in self.stages))


@dataclass(frozen=True)
class Explanation:
    """What weft made of one function; `str()` is for people, `to_json()` for tools."""

    function: str
    file: str
    lines: tuple[LineReport, ...]
    versions: tuple[VersionReport, ...]
    notes: tuple[Note, ...] = field(default=())
    tree: Branch | None = None
    refused: bool = False  # whether there is no version for some arguments
    python_calls: int = 0  # calls that ran as plain Python
    work: Work | None = None  # operations and bytes of the last native call
    measured: Any = None  # the `Timeline` of the last call that was timed
    roofs: tuple[Roof, ...] = ()  # what this machine's memory gives, where it was measured

    def __repr__(self) -> str:
        """What a prompt shows of it."""
        return self.short()

    def _repr_html_(self) -> str:
        """The page in a frame of its own: a notebook's styles and the page's stay apart."""
        from html import escape

        from weft.report.html import page

        text = page([self], self.function)
        # As high as the page is with its parts folded: nothing is cut off below.
        parts, shown = text.count('<details class="part"'), text.count('<details class="part" open')
        rows = 23 * len(self.lines) + 42 * parts + 150 * shown + 52 * text.count('class="remedy"')
        height = min(900, 180 + rows)
        frame = f"width: 100%; height: {height}px; border: 1px solid #8884; border-radius: 4px; resize: vertical"
        name = escape(self.function)
        return f'<iframe title="{name}" style="{frame}" srcdoc="{escape(text)}"></iframe>'

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers."""
        return {
            "function": self.function,
            "file": self.file,
            "versions": [
                {
                    "signature": version.signature,
                    "backend": version.backend,
                    "guards": list(version.guards),
                    "seconds": dict(version.seconds),
                    "left_to_python": version.left_to_python,
                    "memory": None if version.memory is None else version.memory.to_json(),
                    "index_tree": list(version.index_tree),
                    "formed": [{"operator": text, "fate": fate} for text, fate in version.formed],
                }
                for version in self.versions
            ],
            "tree": None if self.tree is None else self.tree.to_json(),
            "lines": [_line_json(line) for line in self.lines],
            "notes": [_note_json(note) for note in self.notes],
        }

    def __str__(self) -> str:
        return "\n".join(_text(self))

    def short(self, limit: int = 30) -> str:
        """What can be acted on, in at most `limit` lines: lines left to Python, then the costliest ones."""
        from weft.report.short import lines

        return "\n".join(lines(self, limit))

    def compact(self) -> list[str]:
        """One line; with the first reason and its remedy, if there is something to do."""
        from weft.report.short import compact

        return compact(self)


def _note_json(note: Note) -> dict[str, str]:
    return {"kind": note.kind, "message": note.message, "remedy": note.remedy, "by": note.by}


def _line_json(line: LineReport) -> dict[str, Any]:
    return {
        "line": line.number,
        "text": line.text,
        "state": line.state,
        "traits": list(line.traits),
        "fused_with": list(line.fused_with),
        "notes": [_note_json(note) for note in line.notes],
        "share": round(line.share, 4),
    }


# --- gathering ------------------------------------------------------------------------------------------------------


@dataclass
class _Facts:
    """What is found out about one line, over all versions."""

    kinds: set[str] = field(default_factory=set)
    native: bool = False
    python: bool = False
    fused: set[int] = field(default_factory=set)
    libraries: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    merged: bool = False
    inside: set[int] = field(default_factory=set)
    kept: bool = False  # the line of a loop that is still a loop
    c: list[str] = field(default_factory=list)
    share: float = 0.0


def explain(
    compiled: Sequence[CompiledLike],
    source: FunctionSource,
    refused: Sequence[tuple[Span, str, str]] = (),
    history: History | None = None,
    mistakes: Sequence[tuple[Span, str, str]] = (),
) -> Explanation:
    """What became of each line of `source` in the given versions; `refused`: why there is none for other arguments;
    `history`: how the calls went; `mistakes`: declarations and transformations that do not hold."""
    text = textwrap.dedent(source.text).splitlines()
    facts: dict[int, _Facts] = {source.first_line + at: _Facts() for at in range(len(text))}
    general: list[Note] = []
    for version in compiled:
        _gather(version, source, facts, general)
    for span, reason, remedy in refused:
        note = Note("python", reason, advice(reason, remedy))
        for number in _note_python(span, note, source.file, facts, general):
            facts[number].python |= not facts[number].native
    for span, reason, remedy in mistakes:
        _note_python(span, Note("error", reason, remedy), source.file, facts, general)
    if refused and not compiled:
        _all_python(source, facts)
    _spread_to_headers(source, facts)
    history = history or History()
    calls = [*history.versions, *[Calls()] * (len(compiled) - len(history.versions))]
    _note_shares(compiled, calls, source.file, facts)
    lines = tuple(
        _line_report(number, content, facts[number])
        for number, content in zip(range(source.first_line, source.first_line + len(text)), text)
    )
    versions = tuple(_version_report(version, counted, source) for version, counted in zip(compiled, calls))
    if versions and all(version.backend == "python" for version in versions):
        lines = tuple(map(_without_machine, lines))
    tree = decision_tree(compiled, calls, history.python, history.limits) if compiled else None
    said = tuple(dict.fromkeys(general))
    done = _work_of(compiled, calls)
    none = bool(refused or mistakes)
    return Explanation(source.name, source.file, lines, versions, said, tree, none, history.python, done)


def _work_of(compiled: Sequence[CompiledLike], calls: Sequence[Calls]) -> Work | None:
    """What the last call of the version that was called most had to do."""
    most = max((counted.calls for counted in calls), default=0)
    for version, counted in zip(compiled, calls):
        if version.program_optimised is not None and counted.calls == most and any(counted.sizes.values()):
            return roofline.work(version.program_optimised, counted.sizes)
    return None


def _without_machine(line: LineReport) -> LineReport:
    """A line that became Python code: it has neither threads nor vector lanes nor machine code."""
    return replace(line, traits=("generated Python",)) if line.state in ("native", "mixed") else line


def _note_shares(
    compiled: Sequence[CompiledLike], calls: Sequence[Calls], file: str, facts: dict[int, _Facts]
) -> None:
    """Estimate which lines a call spends its time in; versions that were called more often count more."""
    most = max((counted.calls for counted in calls), default=0)
    work: dict[int, float] = {}
    for version, counted in zip(compiled, calls):
        if version.program_optimised is None or counted.calls < most:
            continue
        for number, cycles in costs.cycles(version.program_optimised, counted.sizes, file).items():
            if number in facts:  # two versions of a line are two ways to do it; two regions have lines of their own
                work[number] = max(work.get(number, 0.0), cycles)
    total = sum(work.values())
    for number, cycles in work.items():
        facts[number].share = cycles / total if total > 0 else 0.0


def _gather(version: CompiledLike, source: FunctionSource, facts: dict[int, _Facts], general: list[Note]) -> None:
    lowered = version.program_lowered or version.program_optimised
    searching: set[int] = set()
    if lowered is not None:
        user_loops = _loop_variables(version.program_optimised or lowered)
        searching = _searching(lowered, source)
        _walk_lowered(lowered.body, (), user_loops, searching, source.file, facts)
        _find_merged(version.program_built, lowered, source.file, facts)
    for number in getattr(version, "native_lines", ()):  # of a version that has no program: plain Python
        if number in facts:
            facts[number].native = True
    for remark in version.remarks:
        if remark.message.startswith("fused with line"):
            continue  # the lowered program has said so already
        about_loops = not remark.remedy and remark.pass_name != "tasks"
        if about_loops and remark.span.line in searching and remark.span.file == source.file:
            continue  # loops that nobody has written: a person can do nothing about them
        kind: Literal["done", "missed"] = "missed" if remark.kind == "missed" else "done"
        note = Note(kind, remark.message, remark.remedy, remark.pass_name)
        at = facts.get(remark.span.line) if remark.span.file == source.file else None
        target = general if at is None else at.notes
        if note not in target:
            target.append(note)
    for span, reason, remedy in version.fallbacks:
        inside = _note_python(span, Note("python", reason, advice(reason, remedy)), source.file, facts, general)
        for number in inside:
            facts[number].python = True
    for number, code in c_by_line(version.c_source or "", source.file).items():
        if number in facts:
            facts[number].c.append(code)


def _note_python(span: Span, note: Note, file: str, facts: dict[int, _Facts], general: list[Note]) -> list[int]:
    """Put a reason where it belongs; the lines of its place."""
    lines = range(span.line, max(span.line, span.end_line) + 1) if span.file == file else range(0)
    inside = [number for number in lines if number in facts]
    target = facts[inside[0]].notes if inside else general
    if note not in target:
        target.append(note)
    return inside


def _all_python(source: FunctionSource, facts: dict[int, _Facts]) -> None:
    """Every statement of a function that has no version at all runs in the interpreter."""
    for node in _statements(source):
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            fact = facts.get(number + source.first_line - 1)
            if fact is not None:
                fact.python = True


def _statements(source: FunctionSource) -> Iterator[ast.stmt]:
    """The statements inside the function, at lines counted from 1; none if the text cannot be parsed."""
    try:
        tree = ast.parse(textwrap.dedent(source.text))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node


def _loop_variables(program: Program) -> set[str]:
    return {node.dim.var for node in walk(program.body) if isinstance(node, Loop)}


def _lines_of(span: Span, file: str) -> Iterator[int]:
    if span.line > 0 and span.file == file:
        yield span.line


def _searching(program: Program, source: FunctionSource) -> set[int]:
    """Lines that look something up in a dict, a set or a heap: they have `while` loops that the source has not.

    Beside such a search a line may clear or copy its table in vectors, or on threads, which is not what it does.
    """
    written = {node.lineno + source.first_line - 1 for node in _statements(source) if isinstance(node, ast.While)}
    found = (node.span for node in walk(program.body) if isinstance(node, While))
    return {number for span in found for number in _lines_of(span, source.file)} - written


def _walk_lowered(
    block: Block,
    loops: tuple[Loop, ...],
    user_loops: set[str],
    searching: set[int],
    file: str,
    facts: dict[int, _Facts],
) -> None:
    """Note for each statement which loops stand around it; lines that share a loop the compiler made are fused."""
    for node in block:
        if costs.moves_when_full(node):
            for number in {number for each in walk((node,)) for number in _lines_of(each.span, file)} & facts.keys():
                facts[number].native = True
            continue
        inner = (*loops, node) if isinstance(node, Loop) else loops
        if isinstance(node, Loop) and node.dim.var not in user_loops and not _made(loops, user_loops):
            _note_fusion(node, file, facts)
        for number in _lines_of(node.span, file):
            if number in facts:
                around = [loop for loop in inner if loop.span.line != number] if number in searching else inner
                _note_node(node, around, facts[number])
                facts[number].kept |= isinstance(node, Loop) and node.dim.var in user_loops
        if isinstance(node, (Stmt, Call, Library)):
            for number in _expression_lines(node, file) - {node.span.line}:
                if number in facts:
                    facts[number].inside.add(node.span.line)
                    _note_node(node, inner, facts[number])
        for body in sub_blocks(node):
            _walk_lowered(body, inner, user_loops, searching, file, facts)


def _made(loops: Iterable[Loop], user_loops: set[str]) -> bool:
    return any(loop.dim.var not in user_loops for loop in loops)


def _expression_lines(node: Node, file: str) -> set[int]:
    """The lines whose expressions are computed in a statement, whatever line the statement itself carries."""
    return {
        number
        for expr in node_exprs(node)
        for part in subexpressions(expr)
        if isinstance(part, (Op, Read, Reduce, Cast))
        for number in _lines_of(part.span, file)
    }


def _note_node(node: Node, loops: Sequence[Loop], fact: _Facts) -> None:
    fact.native = True
    if isinstance(node, (Call, Library)):
        name = node.routine if isinstance(node, Call) else f"{node.routine} ({ROUTINES[node.routine].library})"
        if name not in fact.libraries:
            fact.libraries.append(name)
        return
    if isinstance(node, (Stmt, Loop)):
        for loop in loops:
            if loop.kind in (LoopKind.PARALLEL, LoopKind.TASK):
                fact.kinds.add("parallel")
            elif loop.kind is LoopKind.VECTOR:
                fact.kinds.add("vectorised")
        if isinstance(node, Stmt) and loops and all(loop.kind is LoopKind.SEQUENTIAL for loop in loops):
            fact.kinds.add("sequential")


def _note_fusion(loop: Loop, file: str, facts: dict[int, _Facts]) -> None:
    inside = {
        number
        for node in walk(loop.body)
        if isinstance(node, (Stmt, Call, Library))
        for number in _lines_of(node.span, file)
        if number in facts
    }
    for number in inside:
        facts[number].fused |= inside - {number}


def _find_merged(built: Program | None, lowered: Program, file: str, facts: dict[int, _Facts]) -> None:
    """Lines that had statements at first and have none any more: their values are computed where they are used."""
    if built is None:
        return
    before = {number for node in walk(built.body) for number in _lines_of(node.span, file)}
    after = {number for node in walk(lowered.body) for number in _lines_of(node.span, file)}
    for node in walk(lowered.body):
        after |= _expression_lines(node, file)
    for number in before - after:
        if number in facts:
            facts[number].merged = True
            facts[number].native = True


def _spread_to_headers(source: FunctionSource, facts: dict[int, _Facts]) -> None:
    """The line of a `for`, `while`, `if` or a multi-line statement takes its state from what it holds."""
    shift = source.first_line - 1
    for node in _statements(source):
        first, last = node.lineno + shift, (node.end_lineno or node.lineno) + shift
        if isinstance(node, (ast.For, ast.While, ast.If)):
            _spread_up(facts, first, range(node.body[0].lineno + shift, last + 1))
        elif last > first:
            _spread_down(facts, first, range(first + 1, last + 1))


def _spread_up(facts: dict[int, _Facts], header: int, body: range) -> None:
    fact = facts.get(header)
    inside = [facts[number] for number in body if number in facts]
    if fact is None:
        return
    fact.merged = False  # a loop or branch is not a value
    if not fact.kept and not fact.kinds and not fact.python:
        fact.native = any(item.native for item in inside)
        fact.python = any(item.python for item in inside)
        for item in inside:
            fact.kinds |= item.kinds - {"sequential"}


def _spread_down(facts: dict[int, _Facts], first: int, rest: range) -> None:
    group = [facts[number] for number in (first, *rest) if number in facts]
    native, python = any(item.native for item in group), any(item.python for item in group)
    for item in group:
        item.native, item.python = native, python


def _line_report(number: int, text: str, fact: _Facts) -> LineReport:
    state: State = "none"
    if fact.native or fact.python:
        state = "mixed" if fact.native and fact.python else "native" if fact.native else "python"
    kinds = set(fact.kinds)
    if kinds & {"parallel", "vectorised"}:
        kinds.discard("sequential")
    traits: list[str] = [kind for kind in ("parallel", "vectorised", "sequential") if kind in kinds]
    traits += fact.libraries
    if fact.merged:
        traits.append("merged into its uses")
    together = fact.fused | fact.inside - {0, number}
    notes, code = tuple(fact.notes), tuple(fact.c)
    return LineReport(number, text, state, tuple(traits), tuple(sorted(together)), notes, code, fact.share)


def _version_report(version: CompiledLike, calls: Calls, source: FunctionSource) -> VersionReport:
    program = version.program_lowered or version.program_optimised
    guards = [] if program is None else guards_of(program)
    used: MemoryReport | None = None
    if version.program_optimised is not None and version.program_lowered is not None and version.c_source is not None:
        used = memory.report(
            version.program_built, version.program_optimised, version.program_lowered, calls.sizes, calls.threads
        )
    if version.c_source is not None:
        backend = "c"
    else:
        backend = "python" if program is not None else "prebuilt"
    nests: tuple[str, ...] = ()
    formed: tuple[tuple[str, str], ...] = ()
    if version.program_lowered is not None and version.program_built is not None and version.program_optimised:
        stages = version.program_built, version.program_optimised, version.program_lowered
        formed = indextree.formed(*stages, source.text.splitlines(), source.first_line)
        nests = indextree.index_tree(version.program_lowered) if formed or levels(version.program_built.body) else ()
    seconds, left = dict(version.seconds), len(version.fallbacks)
    drawn = _drawn(version)
    return VersionReport(
        version.signature, tuple(guards), seconds, backend, left, used, nests, formed, drawn, calls.calls
    )


def _drawn(version: CompiledLike) -> tuple[str, str]:
    """The loop nests as they were written and as they run; "" where nothing is known of them."""
    if version.program_built is None or version.program_lowered is None:
        return ("", "")
    view = ProgramView("built", {"built": version.program_built, "lowered": version.program_lowered})
    return (view.outline(), view.at("lowered").outline())


_PLACE = re.compile(r"/\*\s*(?P<file>[^*:]+):(?P<line>\d+)\s*\*/")


def c_by_line(c_source: str, file: str) -> dict[int, str]:
    """The C of each source line: what stands between a comment that names it and the next such comment."""
    base = re.split(r"[\\/]", file)[-1]
    found: dict[int, list[str]] = {}
    current: int | None = None
    for row in c_source.splitlines():
        place = _PLACE.search(row)
        if place is not None:
            current = int(place["line"]) if place["file"].strip() == base else None
            if current in found:
                found[current].append("...")
            row = _PLACE.sub("", row).rstrip()
        elif row.startswith("}"):
            current = None
        if current is not None and row.strip():
            found.setdefault(current, []).append(row)
    return {number: textwrap.dedent("\n".join(rows)) for number, rows in found.items()}


# --- text -----------------------------------------------------------------------------------------------------------

_WIDTH = 22


def _text(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.function}  ({explanation.file})"
    if not explanation.versions:
        from weft.report.short import status

        yield f"  {status(explanation)}"
    for number, version in enumerate(explanation.versions, 1):
        yield f"  version {number}: {version.signature or 'no arguments'}"
        yield f"    {_cost_text(version)}"
        if version.memory is not None:
            yield from (f"    {row}" for row in version.memory.text())
        if version.index_tree:
            yield "    index tree:"
            yield from (f"      {row}" for row in version.index_tree)
        if version.formed:
            yield "    what one operator after the other would have made:"
            yield from (f"      {text}: {fate}" for text, fate in version.formed)
    if explanation.tree is not None:
        yield ""
        yield from (f"  {row}" for row in tree_text(explanation.tree))
    yield ""
    digits = max((len(str(line.number)) for line in explanation.lines), default=1)
    for line in explanation.lines:
        yield f"{line.number:>{digits}}  {label(line):<{_WIDTH}} | {line.text}".rstrip()
        for said in line_notes(line):
            yield f"{'':>{digits}}  {'':<{_WIDTH}} :   {said}"
    for note in explanation.notes:
        yield _note_text(note)


def _cost_text(version: VersionReport) -> str:
    stages = ", ".join(f"{name} {seconds * 1e3:.0f}" for name, seconds in version.stages if seconds >= 5e-4)
    made = {"c": "native code", "python": "Python back end", "prebuilt": "native code"}[version.backend]
    if not version.seconds:
        return f"{made}, compiled ahead of time"
    return f"{made}, compiled in {version.total * 1e3:.0f} ms" + (f" ({stages})" if stages else "")


def label(line: LineReport) -> str:
    """The one or two words in front of a line."""
    if line.state == "none":
        return ""
    if line.state == "python":
        return "left to Python"
    words = [trait for trait in line.traits if trait != "merged into its uses"]
    if line.state == "mixed":
        words.append("part Python")
    return " ".join(words) or ("merged" if line.traits else "native")


def line_notes(line: LineReport) -> Iterator[str]:
    """What is said below a line."""
    if "merged into its uses" in line.traits:
        yield "computed where it is used: no temporary"
    if line.fused_with:
        numbers = ", ".join(str(number) for number in line.fused_with)
        yield f"one loop with line{'s' if len(line.fused_with) > 1 else ''} {numbers}"
    for note in line.notes:
        yield _note_text(note)


def _note_text(note: Note) -> str:
    start = STARTS[note.kind]
    return start + note.message + (f"; try: {note.remedy}" if note.remedy else "")


__all__ = [
    "CompiledLike",
    "Explanation",
    "FunctionSource",
    "LineReport",
    "Note",
    "VersionReport",
    "c_by_line",
    "explain",
    "label",
    "line_notes",
]
