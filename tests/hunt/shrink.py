"""A smaller program that still fails.  In: a case and a test of cases; out: the smallest that was found in the time.

    def f(a, b):                     def f(a):
        s = 0                            return a[1:]
        for i in range(3):    -->
            s += b[i]
        return a[1:], s

Calls are left out, statements are deleted or replaced by what they hold, expressions by their parts or by constants.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

from tests.hunt.case import Case

Test = Callable[[Case], bool]


def shrink(case: Case, fails: Test, limit: float = 30.0) -> Case:
    """The case made smaller while `fails` holds, for at most about `limit` seconds."""
    end = time.monotonic() + limit
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for smaller in _candidates(case):
            if time.monotonic() >= end:
                break
            if _size(smaller) < _size(case) and _is_sound(smaller) and fails(smaller):
                case, changed = smaller, True
                break
    return case


def _size(case: Case) -> int:
    return len(case.source) + sum(map(len, case.calls))


def _is_sound(case: Case) -> bool:
    try:
        compile(case.source, "<case>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _candidates(case: Case) -> Iterator[Case]:
    """Smaller cases, the boldest steps first."""
    if len(case.calls) > 1:
        for number in range(len(case.calls)):
            yield Case(case.source, (case.calls[number],), case.name)
        for number in range(len(case.calls)):
            yield Case(case.source, case.calls[:number] + case.calls[number + 1 :], case.name)
    for text in _smaller_texts(case.source, statements=True):
        yield Case(text, case.calls, case.name)
    yield from _without_parameters(case)
    for text in _smaller_texts(case.source, statements=False):
        yield Case(text, case.calls, case.name)
    for number, call in enumerate(case.calls):
        for part in _smaller_bodies(call):
            yield Case(case.source, (*case.calls[:number], part, *case.calls[number + 1 :]), case.name)


def _smaller_texts(text: str, statements: bool) -> Iterator[str]:
    tree = ast.parse(text)
    edits = _statement_edits(tree) if statements else _expression_edits(tree)
    for edit in edits:
        # Edits name a place by its number in a walk, so that each starts from a fresh copy.
        made = copy.deepcopy(tree)
        if edit(made):
            try:
                yield ast.unparse(ast.fix_missing_locations(made)) + "\n"
            except (ValueError, AttributeError, RecursionError):
                continue


def _smaller_bodies(call: str) -> Iterator[str]:
    body = "def make():\n" + "".join(f"    {line}\n" for line in call.splitlines())
    for statements in (True, False):
        for text in _smaller_texts(body, statements):
            lines = [line[4:] for line in text.splitlines()[1:]]
            if lines and lines[-1].startswith("return "):
                yield "\n".join(lines)


Edit = Callable[[ast.AST], bool]
_BLOCKS = ("body", "orelse", "finalbody", "handlers")


def _blocks(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    return [(node, name) for node in ast.walk(tree) for name in _BLOCKS if isinstance(getattr(node, name, None), list)]


def _statement_edits(tree: ast.AST) -> Iterator[Edit]:
    for place, (node, name) in enumerate(_blocks(tree)):
        block = getattr(node, name)
        if len(block) > 3:
            half = len(block) // 2
            yield _cut(place, 0, half)
            yield _cut(place, half, len(block))
        for number in range(len(block)):
            yield _cut(place, number, number + 1)
            for part in ("body", "orelse"):
                if isinstance(block[number], (ast.If, ast.For, ast.While, ast.Try, ast.With)) and getattr(
                    block[number], part, None
                ):
                    yield _opened(place, number, part)


def _cut(place: int, start: int, stop: int) -> Edit:
    def edit(tree: ast.AST) -> bool:
        node, name = _blocks(tree)[place]
        block = getattr(node, name)
        del block[start:stop]
        if not block and name == "body" and not isinstance(node, ast.Module):
            block.append(ast.Pass())
        return True

    return edit


def _opened(place: int, number: int, part: str) -> Edit:
    def edit(tree: ast.AST) -> bool:
        node, name = _blocks(tree)[place]
        block = getattr(node, name)
        block[number : number + 1] = getattr(block[number], part)
        return True

    return edit


def _holders(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Every place that holds an expression."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None))
            elif isinstance(value, list):
                found += [(node, name, at) for at, item in enumerate(value) if isinstance(item, ast.expr)]
    return found


def _get(holder: tuple[ast.AST, str, int | None]) -> ast.expr:
    node, name, at = holder
    value = getattr(node, name)
    found: ast.expr = value if at is None else value[at]
    return found


def _expression_edits(tree: ast.AST) -> Iterator[Edit]:
    for place, holder in enumerate(_holders(tree)):
        value = _get(holder)
        if isinstance(getattr(value, "ctx", None), (ast.Store, ast.Del)):
            continue
        if holder[2] is not None and holder[1] in ("elts", "args", "keywords", "values"):
            yield _dropped(place)
        for number in range(len(_parts(value))):
            yield _replaced(place, number)
        if isinstance(value, ast.Call) and value.keywords:
            for number in range(len(value.keywords)):
                yield _without_keyword(place, number)
        if isinstance(value, (ast.Compare, ast.BoolOp)):
            yield _constant(place, True)
            yield _constant(place, False)
        elif isinstance(value, ast.Constant) and type(value.value) is str and value.value:
            yield _constant(place, "")
        elif isinstance(value, ast.Constant) and type(value.value) in (int, float) and abs(value.value) > 1:
            yield _constant(place, 1 if isinstance(value.value, int) else 1.0)
        elif isinstance(value, (ast.BinOp, ast.Call, ast.Subscript)):
            yield _constant(place, 0)
            yield _constant(place, 1.5)


def _parts(value: ast.expr) -> list[ast.expr]:
    return [
        part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr) and not isinstance(part, ast.Slice)
    ]


def _put(holder: tuple[ast.AST, str, int | None], value: ast.expr) -> None:
    node, name, at = holder
    if at is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[at] = value


def _replaced(place: int, number: int) -> Edit:
    def edit(tree: ast.AST) -> bool:
        holder = _holders(tree)[place]
        _put(holder, _parts(_get(holder))[number])
        return True

    return edit


def _constant(place: int, value: object) -> Edit:
    def edit(tree: ast.AST) -> bool:
        _put(_holders(tree)[place], ast.Constant(value))  # type: ignore[arg-type]
        return True

    return edit


def _dropped(place: int) -> Edit:
    def edit(tree: ast.AST) -> bool:
        node, name, at = _holders(tree)[place]
        assert at is not None
        if isinstance(node, (ast.Dict, ast.BoolOp, ast.Compare)):
            return False
        del getattr(node, name)[at]
        return True

    return edit


def _without_keyword(place: int, number: int) -> Edit:
    def edit(tree: ast.AST) -> bool:
        value = _get(_holders(tree)[place])
        assert isinstance(value, ast.Call)
        del value.keywords[number]
        return True

    return edit


def _without_parameters(case: Case) -> Iterator[Case]:
    """A parameter of f that is not read goes, with its argument."""
    tree = ast.parse(case.source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f")
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for number, parameter in enumerate(function.args.args):
        if parameter.arg in read or function.args.defaults:
            continue
        made = copy.deepcopy(tree)
        target = next(node for node in made.body if isinstance(node, ast.FunctionDef) and node.name == "f")
        del target.args.args[number]
        calls = tuple(_without_item(call, number) for call in case.calls)
        if all(calls):
            yield Case(ast.unparse(made) + "\n", tuple(call for call in calls if call), case.name)


def _without_item(call: str, number: int) -> str | None:
    lines = call.splitlines()
    last = ast.parse(lines[-1].removeprefix("return ")).body[0]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Tuple) or len(last.value.elts) <= number:
        return None
    del last.value.elts[number]
    return "\n".join([*lines[:-1], f"return {ast.unparse(last.value)}"])
