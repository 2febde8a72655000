"""Comments that direct a loop or a tensor expression.  In: the lines and the tree of a function; out: the tree with
what comments say noted on its nodes.  Python passes over comments, so a program means the same without weft.

    #pragma parallel for [simd] [single]     the iterations of the next loop need nothing of each other but sums
    #pragma simd                             the next loop may run in vectors
    #pragma atomic                           the next statement adds to what other iterations add to
    #pragma parallel                         the same for a loop; for a tensor expression: share it out
    #pragma :M=>parallel :N=>reduction(sum:y)    what the dimensions of the next statement are, outermost first

They assert what weft would otherwise prove.  A race that can be proved is an error that names the variable
(`passes/races.py`); a comment that says nothing weft knows, or stands where it says nothing, is an error here.
"""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from weft.errors import PragmaError, Span
from weft.records import dataclass

#: Where a note about parallel iterations stands: an attribute of the loop's node.
PARALLEL = "_weft_parallel"
#: Where a note about the dimensions of a statement stands: `Named`.
DIMENSIONS = "_weft_dimensions"
_PRAGMA = re.compile(r"^\s*#\s?pragma\b(.*)$")
_BESIDE = re.compile(r"\S.*#\s?pragma\b")
_DIMENSION = re.compile(r"\s*([^\s=>]*:[^\s=>]*?)\s*=>\s*((?:[^\s:,()]+(?:\([^)]*\))?\s*,?\s*)+?)(?=\s+[^\s=>]*:|\s*$)")
_PROPERTY = re.compile(r"^([a-z_]+)(?:\(([^)]*)\))?$")
_OPERATIONS = ("sum", "max", "min", "prod", "mul", "add", "and", "or")
#: Properties of a dimension: whether each takes something in brackets.
_PROPERTIES = {"parallel": False, "simd": False, "single_block": False, "in_reg": False, "block": True, "le": True}
_PROPERTIES |= {"reduction": True, "reduce": True}


@dataclass(frozen=True)
class Pragma:
    line: int
    column: int
    text: str
    file: str

    def problem(self, reason: str, remedy: str = "") -> PragmaError:
        end = self.column + len("#pragma ") + len(self.text)
        return PragmaError(Span(self.file, self.line, self.column, self.line, end), reason, remedy)


@dataclass(frozen=True)
class Named:
    """The dimensions that a pragma names, in order, each with its properties and what these have in brackets."""

    pragma: Pragma
    dimensions: tuple[str, ...]
    properties: tuple[tuple[tuple[str, str], ...], ...]


def applied(tree: ast.FunctionDef, lines: Sequence[str], first: int, file: str) -> None:
    """Note on the nodes of a function what its comments say; `first`: the number of the first of `lines`."""
    for pragma in _beside(lines, first, file):
        raise pragma.problem("it stands behind a statement", "put it on a line of its own before the statement")
    found = [*_found(lines, first, file)]
    if not found:
        return
    strings = _inside_strings(tree)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node is not tree]
    for pragma in found:
        if pragma.line in strings:
            continue
        after = [node for node in nodes if node.lineno > pragma.line]
        node = min(after, key=lambda node: (node.lineno, node.col_offset), default=None)
        if node is None or node.lineno != _next_code(lines, first, pragma.line):
            raise pragma.problem("no statement follows this pragma", "put it on a line of its own before the statement")
        _note(pragma, node)


def noted(tree: ast.FunctionDef, told: Mapping[int, str], file: str) -> None:
    """Note on the nodes of a function what comments above these lines would say."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node is not tree]
    for line, text in told.items():
        here = [node for node in nodes if node.lineno == line]
        if here:
            _note(Pragma(line, 0, text, file), min(here, key=lambda node: node.col_offset))


def _found(lines: Sequence[str], first: int, file: str) -> Iterator[Pragma]:
    for number, line in enumerate(lines):
        match = _PRAGMA.match(line)
        if match is not None and not _is_foreign(match.group(1)):
            yield Pragma(first + number, line.index("#"), match.group(1).strip(), file)


def _is_foreign(text: str) -> bool:
    """Comments for other tools: `# pragma: no cover`, which coverage.py also takes as `# pragma nocover`."""
    return (text.startswith(":") and "=>" not in text) or text.strip().lower().startswith("no")


def _beside(lines: Sequence[str], first: int, file: str) -> Iterator[Pragma]:
    """Pragmas behind a statement, where they direct nothing."""
    if not any(map(_BESIDE.search, lines)):
        return
    rows = iter([f"{line.rstrip()}\n" for line in textwrap.dedent("\n".join(lines)).split("\n")])
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(lambda: next(rows, "")):
            match = _PRAGMA.match(token.string) if token.type == tokenize.COMMENT else None
            if match is not None and token.line.split("#")[0].strip() and not _is_foreign(match.group(1)):
                line = lines[token.start[0] - 1]
                at = line.index(token.string)
                yield Pragma(first + token.start[0] - 1, at, match.group(1).strip(), file)


def through(lines: Sequence[str], first: int, end: int) -> Sequence[str]:
    """The lines of a function, and comments behind its last statement that are indented as its body is."""
    margin = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    past = end
    for number in range(end, len(lines)):
        text = lines[number].strip()
        if text and (not text.startswith("#") or len(lines[number]) - len(lines[number].lstrip()) <= margin):
            break
        past = number + 1
    return lines[first - 1 : past]


def _next_code(lines: Sequence[str], first: int, line: int) -> int:
    """The next line that is neither empty nor a comment."""
    for number in range(line + 1 - first, len(lines)):
        text = lines[number].strip()
        if text and not text.startswith("#"):
            return first + number
    return 0


def _inside_strings(tree: ast.AST) -> set[int]:
    """Lines inside strings, where a pragma is only text."""
    strings = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, (str, bytes))]
    return {line for node in strings for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}


def _note(pragma: Pragma, node: ast.stmt) -> None:
    if "=>" in pragma.text:
        _dimensions(pragma, node)
        return
    words = pragma.text.split()
    if not words:
        raise pragma.problem("an empty pragma", "say what: parallel for, simd, atomic or dimensions (:N=>parallel)")
    if words[0] == "parallel":
        _parallel(pragma, words[1:], node)
    elif words == ["simd"]:
        _loop(pragma, node)
    elif words == ["atomic"]:
        if not isinstance(node, ast.AugAssign):
            raise pragma.problem("atomic stands before an augmented assignment", "write the update as a[i] += x")
    else:
        known = "parallel for [simd] [single], simd, atomic, parallel, or dimensions (:N=>parallel)"
        raise pragma.problem(f"{words[0]!r} is no pragma that weft knows", f"known: {known}")


def _parallel(pragma: Pragma, words: list[str], node: ast.stmt) -> None:
    options = words[1:] if words[:1] == ["for"] else words
    unknown = [word for word in options if word not in ("simd", "single")]
    if unknown:
        raise pragma.problem(f"{unknown[0]!r} does not follow `parallel for`", "`simd` and `single` may")
    if words[:1] != ["for"] and not isinstance(node, ast.For):
        _tensor(pragma, node)
        return
    loop = _loop(pragma, node)
    if "single" not in options:
        setattr(loop, PARALLEL, True)


def _loop(pragma: Pragma, node: ast.stmt) -> ast.For:
    if not isinstance(node, ast.For):
        raise pragma.problem(f"`{pragma.text}` stands before a for loop", "move it to the line above the loop")
    return node


def _tensor(pragma: Pragma, node: ast.stmt) -> None:
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        raise pragma.problem(f"`{pragma.text}` stands before an assignment", "move it to the line above the expression")


def _dimensions(pragma: Pragma, node: ast.stmt) -> None:
    """The tensor form.  Its loops are weft's own choice; what it claims must fit the statement."""
    _tensor(pragma, node)
    place = 0
    named: list[str] = []
    told: list[tuple[tuple[str, str], ...]] = []
    while place < len(pragma.text):
        match = _DIMENSION.match(pragma.text, place)
        if match is None:
            raise pragma.problem(f"{pragma.text[place:].strip()!r} is no dimension", "write low:up=>property,property")
        place = match.end()
        _bounds(pragma, match.group(1))
        named.append(match.group(1))
        texts = re.findall(r"[^,()\s]+(?:\([^)]*\))?", match.group(2))
        told.append(tuple(_property(pragma, text, node) for text in texts))
    setattr(node, DIMENSIONS, Named(pragma, tuple(named), tuple(told)))


def _bounds(pragma: Pragma, text: str) -> None:
    for part in text.split(":"):
        if part:
            try:
                ast.parse(part, mode="eval")
            except SyntaxError:
                raise pragma.problem(f"{part!r} is no bound of a dimension", "write low:up, as in a slice") from None


def _property(pragma: Pragma, text: str, node: ast.stmt) -> tuple[str, str]:
    """The name of a property and what it has in brackets."""
    match = _PROPERTY.match(text)
    name = match.group(1) if match is not None else text
    if match is None or name not in _PROPERTIES:
        raise pragma.problem(f"{text!r} is no property of a dimension", f"known: {', '.join(_PROPERTIES)}")
    if _PROPERTIES[name] != (match.group(2) is not None):
        wants = f"{name}(...)" if _PROPERTIES[name] else name
        raise pragma.problem(f"{text!r} is written {wants}", f"write {wants}")
    if name in ("block", "le") and re.fullmatch(r"\s*(-\s*\d+|0+|)\s*", match.group(2)):
        raise pragma.problem(f"{text!r} is no number of elements", f"write {name}(n) with n above 0, or a variable")
    if name in ("reduction", "reduce"):
        operation, _, variable = (part.strip() for part in match.group(2).partition(":"))
        if operation not in _OPERATIONS:
            raise pragma.problem(f"{operation!r} is no reduction", f"known: {', '.join(_OPERATIONS)}")
        used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        if variable not in used:
            raise pragma.problem(f"{variable!r} is no variable of the statement", "name what the sum is stored in")
    return name, (match.group(2) or "").strip()
