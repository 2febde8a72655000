"""Everything weft says when something is in the way. In come a place in the user's source, a reason and one thing to
do; out come exceptions, warnings and the one text rendering (`render`) shared by errors, fallback warnings and
`explain`. Every layer may import this module, and it imports none of them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import linecache
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.records import dataclass

MAX_LINES = 15
_MAX_WIDTH = 110
_MAX_TYPES = 4
_MAX_SOURCE_LINES = 3
_MAX_REASON_LINES = 2
_PACKAGE = os.path.dirname(__file__) + os.sep
_NAME = re.compile(r"\b[^\W\d]\w*\b")
_NUMBERS = re.compile(r"(_\d+)+$")
_ERROR = re.compile(r"\w+Error: |the name \w+ is not defined|.* always raises an exception")
#: What to do about what only Python can do.
APART = "move it out of the compiled function, and pass what you need of it"
# What to do where nothing better is known: about what Python would refuse as well, and about anything else.
_MISTAKE = "correct it: plain Python raises an exception here, too"
#: What to do where there is no C compiler.
INSTALL = "install gcc or clang, or pip install 'weft[zig]'"
_ANOTHER_WAY = "compute it outside the compiled function, and pass the result (`weft support` lists what is native)"


@dataclass(frozen=True)
class Span:
    """A place in the user's source, counted as the `ast` module counts: lines from 1, columns from 0 in UTF-8 bytes."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line > 0 else self.file

    def to(self, last: Span) -> Span:
        """The span from the start of this one to the end of `last`."""
        return Span(self.file, self.line, self.column, last.end_line, last.end_column)


NOWHERE = Span("<unknown>", 0, 0, 0, 0)


def lacks_compiler(reason: str) -> bool:
    """Whether something would be native if this machine had a C compiler."""
    return "no C compiler" in reason


def attach_source(file: str, text: str) -> None:
    """Make `text` the source of `file` for rendering: for functions from strings, notebooks and other processes."""
    # An entry without a modification time is never dropped by linecache.checkcache.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def source_line(span: Span, line: int | None = None) -> str:
    """The text of the line where `span` starts (or of `line` in the same file), without its newline; "" if unknown."""
    return linecache.getline(span.file, span.line if line is None else line).rstrip("\r\n")


def spelt(text: str, *spans: Span) -> str:
    """`text` with the names of the program (i_2) as the lines of the user's source at `spans` spell them (i)."""
    own = set(_NAME.findall(" ".join(source_line(span) for span in spans)))

    def name(found: re.Match[str]) -> str:
        plain = _NUMBERS.sub("", found[0])
        return plain if found[0] not in own and plain in own else found[0]

    return _NAME.sub(name, text)


def assigned_name(span: Span, otherwise: str) -> str:
    """The variable that the statement at a place assigns to, to an element of which, or a method of which it calls."""
    try:
        tree = ast.parse(source_line(span).strip())
    except SyntaxError:
        return otherwise
    node: ast.AST = tree.body[0] if tree.body else tree
    if isinstance(node, ast.Assign):
        node = node.targets[0]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        node = node.target
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node = node.value.func
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else otherwise


def _characters(text: str, column: int) -> int:
    """A column in UTF-8 bytes as a column in characters."""
    return len(text.encode("utf-8", "surrogatepass")[: max(column, 0)].decode("utf-8", "ignore"))


def _clip(text: str, width: int = _MAX_WIDTH) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _excerpt(span: Span) -> list[str]:
    """The source lines of a span with a caret range under each; cut after a few lines."""
    last = max(span.line, span.end_line)
    shown = range(span.line, min(last, span.line + _MAX_SOURCE_LINES - 1) + 1)
    gutter = len(str(shown[-1]))
    out: list[str] = []
    for number in shown:
        text = source_line(span, number)
        if not text.strip():
            continue
        begin = _characters(text, span.column) if number == span.line else len(text) - len(text.lstrip())
        end = _characters(text, span.end_column) if number == last and span.end_line else len(text.rstrip())
        begin = min(begin, len(text) - 1)
        # Tabs stay tabs so that the carets stand under the same columns as the text above them.
        pad = "".join("\t" if char == "\t" else " " for char in text[:begin])
        out.append(f"  {number:>{gutter}} | {_clip(text)}")
        if begin < _MAX_WIDTH:
            carets = "^" * max(1, min(end, _MAX_WIDTH) - begin)
            out.append(f"  {'':>{gutter}} | {pad}{carets}")
    if out and last > shown[-1]:
        out.append(f"  {'':>{gutter}} | ... to line {last}")
    return out


def render(
    span: Span,
    reason: str,
    *,
    remedy: str = "",
    types: Mapping[str, str] | None = None,
    headline: str = "weft cannot compile this",
) -> str:
    """At most 15 lines: where, why, the source with a caret range, the types seen, one thing to do."""
    reasons = reason.strip().splitlines() or ["no reason given"]
    out = [_clip(f"{span}: {headline}: {reasons[0]}", 2 * _MAX_WIDTH)]
    out += ["  " + _clip(line) for line in reasons[1 : 1 + _MAX_REASON_LINES]]
    if span.line > 0:
        out += _excerpt(span)
    seen = list((types or {}).items())
    for position, (name, kind) in enumerate(seen[:_MAX_TYPES]):
        label = "types:" if position == 0 else "      "
        more = f"  (and {len(seen) - _MAX_TYPES} more)" if position == _MAX_TYPES - 1 and len(seen) > _MAX_TYPES else ""
        out.append("  " + _clip(f"{label} {name}: {kind}") + more)
    if remedy.strip():
        out.append("  " + _clip("try:   " + " ".join(remedy.split()), 2 * _MAX_WIDTH))
    return "\n".join(out)


#: Exceptions of libraries that compiled code can raise besides the built-in ones, and the modules that define them.
LIBRARY_EXCEPTIONS = {
    "LinAlgError": "numpy.linalg",
    "MalformedSparse": "weft.errors",
    "MessageFailed": "weft.errors",
}


class MalformedSparse(ValueError):
    """A sparse matrix whose arrays do not describe one. SciPy does not look, and would read outside of memory."""


class MessageFailed(Exception):
    """What a message between ranks has raised: to make one gives the very exception, which `met` holds."""

    met: ClassVar[list[BaseException]] = []

    def __new__(cls, *args: object) -> Any:
        return cls.met.pop() if cls.met else super().__new__(cls, *args)


def exception_type(name: str) -> type[BaseException] | None:
    """The exception of a name: a built-in one, or one of LIBRARY_EXCEPTIONS; None if there is no such."""
    home = LIBRARY_EXCEPTIONS.get(name)
    found = getattr(builtins if home is None else importlib.import_module(home), name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def exception_argument(kind: type[BaseException], text: str) -> object:
    """What an exception is made from: its text, but a KeyError holds the key itself."""
    return ast.literal_eval(text) if kind is KeyError else text


def located(place: str) -> Any:
    """What stands at "module:name"; LookupError if nothing does."""
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise LookupError(place) from problem


def is_mistake(reason: str) -> bool:
    """Whether plain Python raises an exception, too, where weft refuses for this reason."""
    return _ERROR.match(reason) is not None


def advice(reason: str, remedy: str) -> str:
    """One thing to do about a reason, also where nothing better is known."""
    if lacks_compiler(reason):
        return INSTALL
    return remedy or (_MISTAKE if is_mistake(reason) else _ANOTHER_WAY)


class WeftError(Exception):
    """The root of every exception that weft raises for reasons of its own."""


class Unsupported(WeftError):
    """A construct weft cannot compile; with `fallback="error"` the user sees it, otherwise it stays Python."""

    whole = False  # it is no statement that is in the way: nothing is won by leaving one out
    in_tasks = False  # of a program with tasks: it may be one if they run one after the other
    by_plain = False  # the compiler of plain Python has a form of it: it is asked for the whole function first
    apart = False  # but loops over arrays beside the statement stay with the compiler of arrays

    def __init__(self, span: Span, reason: str, remedy: str = "", types: Mapping[str, str] | None = None) -> None:
        self.span = span
        self.reason = reason
        self.remedy = remedy
        self.types: dict[str, str] = dict(types or {})
        # The arguments are those of this constructor: that is what makes the exception picklable.
        super().__init__(span, reason, remedy, self.types)

    def amend(self, reason: str, remedy: str) -> None:
        """Say it better, by what the callers of the code that refused know."""
        self.reason, self.remedy = reason, remedy
        self.args = (self.span, reason, remedy, self.types)

    def told(self, headline: str) -> str:
        """The text under a headline: there is always one thing to do."""
        remedy = advice(self.reason, self.remedy)
        return render(self.span, self.reason, remedy=remedy, types=self.types, headline=headline)

    def __str__(self) -> str:
        return self.told("weft cannot compile this")


def without_frames(problem: BaseException | None) -> None:
    """Let go of the frames that an exception has passed, whose variables hold the arguments of a call."""
    if problem is not None:
        problem.__traceback__ = problem.__cause__ = problem.__context__ = None


class LeftToLibrary(Unsupported):
    """Not a gap but a choice: this is a call from Python by its nature (it sends or receives), with no warning."""


class ParallelError(Unsupported):
    """Iterations that the program declares parallel need each other.  Never a fallback: the declaration is wrong."""

    def __str__(self) -> str:
        return self.told("not parallel")


class PragmaError(ParallelError):
    """A comment `#pragma ...` that says nothing weft knows, or stands where it says nothing."""

    def __str__(self) -> str:
        return self.told("not a pragma")


class DimensionError(PragmaError):
    """Arguments whose dimensions are not those that the option `dim_info` names."""

    def __str__(self) -> str:
        return self.told("other dimensions than said")


class TransformError(WeftError):
    """A transformation that was asked for (`weft.transform`) cannot be applied."""

    def __init__(self, span: Span, reason: str, remedy: str = "") -> None:
        self.span = span
        self.reason = reason
        self.remedy = remedy
        super().__init__(span, reason, remedy)

    def __str__(self) -> str:
        return render(self.span, self.reason, remedy=self.remedy, headline="cannot be transformed")


class CompileError(WeftError):
    """The C compiler failed, hung or was killed. Short in `str()`; everything the compiler said is in `log`."""

    def __init__(self, reason: str, remedy: str = "", command: Sequence[str] = (), log: str = "") -> None:
        self.reason = reason
        self.remedy = remedy
        self.command = tuple(command)
        self.log = log
        super().__init__(reason, remedy, self.command, log)

    def __str__(self) -> str:
        out = [self.reason]
        if os.environ.get("WEFT_VERBOSE", "0") not in ("", "0"):
            out += ["command: " + " ".join(self.command), self.log.rstrip()]
        else:
            complaints = [line.strip() for line in self.log.splitlines() if "error" in line.lower()]
            out += ["  " + _clip(line) for line in complaints[:3]]
            if self.log.strip():
                out.append("  (WEFT_VERBOSE=1 shows everything the compiler said)")
        if self.remedy:
            out.append("  try: " + self.remedy)
        return "\n".join(out)


class OptionError(WeftError, ValueError):
    """An option of `weft.jit` or an environment variable has a value weft does not know."""


class ClusterError(WeftError):
    """There is no cluster where one was asked for, or it has failed in a way that no repetition mends."""


def hide_own_frames(error: BaseException) -> None:
    """Let a traceback go from the user's call straight to the user's line: weft's frames between them are dropped.

    Those of weft's own mistakes stay; so does everything with WEFT_VERIFY=1.  Ctrl-C is no mistake, wherever it came.
    A bare `raise` must follow, which adds no frame of its own.
    """
    if os.environ.get("WEFT_VERIFY", "0") not in ("", "0"):
        return
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        found = found.tb_next
    if found is not None or isinstance(error, (WeftError, KeyboardInterrupt)):
        error.__traceback__ = found


def users_level() -> int:
    """The `stacklevel` of a warning, given in the function that calls this one, that names the first line which is not
    weft's own."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, contextlib.__file__)):
        level, frame = level + 1, frame.f_back
    return level


class TransformWarning(UserWarning):
    """Transformations kept beside the source are not applied: the function, or the file, is not what it was."""


class CacheWarning(UserWarning):
    """The cache directory cannot be used; weft goes on without keeping compiled code."""


class CoreWarning(UserWarning):
    """There is a C compiler, but the native core of the runtime could not be built or loaded."""


class FallbackWarning(UserWarning):
    """A statement or a function runs as plain Python; one warning for each source line."""


class MessageWarning(UserWarning):
    """A message between ranks that no receive of the same function can meet."""
