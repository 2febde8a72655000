"""Core by its printed form: what each reduction gives, what stays as it is, what is refused, what `verify` finds."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest

from tests.plain.oracle import checked_class, outcome, recompiled, say
from weft.plain.core import NotCore, core_class, core_function, print_core, verify
from weft.plain.core.verify import BadCore


def _tree(body: str, parameters: str = "a, b, n, f, x") -> ast.FunctionDef:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    made = ast.parse(f"def g({parameters}):\n{lines}\n").body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


def _core(body: str, **options: Any) -> str:
    core = core_function(_tree(body), **options)
    verify(core)
    return textwrap.dedent("\n".join(print_core(core).splitlines()[1:])).strip("\n")


def _text(body: str) -> str:
    return textwrap.dedent(body).strip("\n")


SIMPLE = [
    "c = a[n] + f(b)",
    "a[n] = f(b) * 2",
    "a[-1] = b[n + 1][0]",
    "a += f(b)",
    "x.y = a.z[n](b, *x, k=n, **a)",
    "c, *d = a",
    "return a if b and (not n) else f'{x!r:>{n}}'",
    "if a < b or a > n:\n    return 0\nelse:\n    pass",
    "while f(n):\n    n -= 1",
    "for i in range(n):\n    a[i] = i",
    "try:\n    f(a)\nexcept (KeyError, ValueError) as e:\n    raise\nelse:\n    f(b)\nfinally:\n    f(n)",
    "c = (yield a)\nyield b\nyield from x",
    "del a[n]\ndel x.y\ndel b",
    "c = [a, (b, n), {x}, {a: b}]",
    "import math as m\nfrom os import path",
    "global u\nu = a",
]


@pytest.mark.parametrize("body", SIMPLE)
def test_simple_code_stays(body: str) -> None:
    assert _core(body) == body


REDUCED = [
    ("c = d = f(a)", "_t1 = f(a)\nc = _t1\nd = _t1"),
    ("c = d = 0", "c = 0\nd = 0"),
    ("a, b = b, a", "_t1 = a\na = b\nb = _t1"),
    ("c, d = 1, n", "c = 1\nd = n"),
    ("c, (d, x.y) = a", "c, _t1 = a\nd, _t2 = _t1\nx.y = _t2"),
    ("c: int = a\nd: int", "c = a\nif False:\n    d = None"),
    ("x[n + 1] = f(a)", "_t1 = f(a)\n_t2 = n + 1\nx[_t2] = _t1"),
    ("x[n + 1] = a", "_t1 = n + 1\nx[_t1] = a"),
    ("x.y[n] += a", "_t1 = x.y\n_t2 = _t1[n]\n_t2 += a\n_t1[n] = _t2"),
    ("x[a:b] += n", "_t1 = x[a:b]\n_t1 += n\nx[a:b] = _t1"),
    ("return 0 < n < 3", "return 0 < n and n < 3"),
    ("return a < f(n) < b", "_t1 = f(n)\nreturn a < _t1 and _t1 < b"),
    ("return", "return None"),
    ("for c, d in a:\n    pass", "for _t1 in a:\n    c, d = _t1"),
    ("del a, b", "del a\ndel b"),
    ("assert a, b", "if not a:\n    raise AssertionError(b)"),
    ("f((n := n + 1), n)", "n = n + 1\nf(n, n)"),
    ("return [*a, b]", "_t1 = []\n_t1.extend(a)\n_t1.append(b)\nreturn _t1"),
    ("return (yield a)", "_t1 = (yield a)\nreturn _t1"),
    ("return sorted(a, key=lambda e: -e)", "def _t1(e):\n    return -e\nreturn sorted(a, key=_t1)"),
    ("return sum(e for e in a)", "def _t1(_t2):\n    for e in _t2:\n        yield e\nreturn sum(_t1(iter(a)))"),
    (
        "for c in a:\n    if c: break\nelse:\n    f(n)",
        "_t1 = True\nfor c in a:\n    if c:\n        _t1 = False\n        break\nif _t1:\n    f(n)",
    ),
    (
        "x = [f(e) for e in a if e]",
        "_t1 = []\nfor e_1 in a:\n    if e_1:\n        _t1.append(f(e_1))\nx = _t1",
    ),
    (
        "while [e for e in a]:\n    f(n)",
        """
        while True:
            _t1 = []
            for e_1 in a:
                _t1.append(e_1)
            if not _t1:
                break
            f(n)
        """,
    ),
    (
        "return f(b()) or [e for e in a]",
        """
        _t2 = f(b())
        if not _t2:
            _t1 = []
            for e_1 in a:
                _t1.append(e_1)
            _t2 = _t1
        return _t2
        """,
    ),
    (
        "match a:\n    case 1 | 2:\n        f(n)\n    case c if c > n:\n        f(c)",
        """
        if a == 1 or a == 2:
            f(n)
        else:
            c = a
            if c > n:
                f(c)
        """,
    ),
]


@pytest.mark.parametrize(("body", "expected"), REDUCED, ids=[body.splitlines()[0] for body, _ in REDUCED])
def test_reductions(body: str, expected: str) -> None:
    assert "\n".join(line for line in _core(body).splitlines() if line) == _text(expected)


def test_globals_that_stay_what_they_are_need_no_temporaries() -> None:
    body = "return sum([f(e) for e in a])"
    assert "_t2 = sum" in _core(body)
    assert "return sum(_t1)" in _core(body, fixed={"sum"})


def test_names_are_fresh() -> None:
    text = _core("_t1 = [e for e in a]\ne_1 = 0\ndef h(_t2):\n    return _t3\nreturn e_1")
    assert "_t4 = []" in text
    assert "for e_2 in a" in text


def test_a_shadowed_builtin_is_imported() -> None:
    assert "iter(a)" in _core("return list(e for e in a)")
    assert "builtins" in _core("return list(e for e in a)", shadowed={"iter"})
    assert "builtins" in _core("iter = 1\nreturn list(e for e in a)")


def test_nodes_keep_their_place() -> None:
    core = core_function(_tree("c = 1\nd = [f(e)\n     for e in a]\nreturn d"))
    loop = next(node for node in ast.walk(core) if isinstance(node, ast.For))
    call = next(node for node in ast.walk(loop) if isinstance(node, ast.Call) and ast.unparse(node) == "f(e_1)")
    assert (call.lineno, call.col_offset) == (3, 9)
    assert loop.lineno == 4


def test_a_lambda_becomes_a_function() -> None:
    tree = ast.parse("lambda a, b=1: a < b < 3").body[0]
    assert isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Lambda)
    assert print_core(core_function(tree.value)) == "def _lambda(a, b=1):\n    return a < b and b < 3"


REFUSED = [
    ("return locals()", "locals"),
    ("exec('a = 1')", "exec"),
    ("return [eval(e) for e in a]", "eval"),
    ("return vars()", "vars"),
    ("async def h(): pass", "async function"),
    ("class C:\n    global n\n    n = 1", "global"),
    ("try:\n    f()\nexcept tuple([e for e in a]):\n    pass", "except clause"),
]


@pytest.mark.parametrize(("body", "word"), REFUSED)
def test_refusals_name_what_they_refuse(body: str, word: str) -> None:
    with pytest.raises(NotCore, match=word) as caught:
        core_function(_tree(body, "a, f"))
    assert caught.value.line > 1
    assert caught.value.end_line >= caught.value.line


def test_async_functions_are_refused() -> None:
    tree = ast.parse("async def f(): pass").body[0]
    assert isinstance(tree, ast.AsyncFunctionDef)
    with pytest.raises(NotCore, match="async"):
        core_function(tree)


def test_what_only_looks_like_a_refusal_passes() -> None:
    assert "vars(a)" in _core("return vars(a)")
    assert "eval(a)" in _core("return eval(a)", shadowed={"eval"})


NOT_CORE = [
    "c = d = a", "a, x[n] = b", "a, b = f(n)", "x[n + 1] = a", "f(n).y = a", "x[n] += 1", "return", "return a < b < n",
    "for c, d in a:\n    pass", "for c in a:\n    pass\nelse:\n    pass", "while a:\n    pass\nelse:\n    pass",
    "del a, b", "assert a", "with a:\n    pass", "match a:\n    case 1:\n        pass", "c = lambda: a",
    "c = [e for e in a]",
    "f((c := a))", "c = [*a]", "c = {1: a, **a}", "return (yield a)", "c: int = a", "@f\ndef h():\n    return 1",
    "def h(c=[]):\n    return 1",
]  # fmt: skip


@pytest.mark.parametrize("body", NOT_CORE)
def test_verify_finds_what_is_not_core(body: str) -> None:
    tree = _tree(body)
    with pytest.raises(BadCore):
        verify(tree)
    verify(core_function(tree))


def test_verify_wants_places() -> None:
    core = core_function(_tree("return a"))
    core.body.append(ast.Pass())
    with pytest.raises(BadCore, match="position"):
        verify(core)


# ---- methods and closures, replaced one by one
class Shape:
    def __init__(self, sides: int) -> None:
        self.sides, self.__hidden = sides, [s for s in range(sides)]

    def total(self, *more: int, scale: int = 2) -> int:
        return sum(self.__hidden) * scale + sum([say(m) for m in more])


class Square(Shape):
    def __init__(self) -> None:
        super().__init__(4)

    def total(self, *more: int, scale: int = 3) -> int:
        return super().total(*more, scale=scale) + (len(__class__.__name__) if 0 < scale < 9 else 0)  # type: ignore[name-defined] # noqa: F821


def test_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(more: tuple[int, ...]) -> Any:
        square = Square()
        return square, square.total(*more), square.total(scale=10)

    expected = outcome(run, ((1, 2),))
    for owner in (Shape, Square):
        for name in ("__init__", "total"):
            monkeypatch.setattr(owner, name, recompiled(vars(owner)[name]))
    assert outcome(run, ((1, 2),)) == expected


def test_a_closure_shares_its_cells() -> None:
    count = 0

    def step(by: int = 2) -> int:
        nonlocal count
        count += sum([by for _ in range(count + 1)])
        return count

    again = recompiled(step)
    assert (step(), again(), step()) == (2, 8, 26)


def test_a_class_keeps_everything_but_the_bodies_of_its_methods() -> None:
    source = _text("""
        class C(Base, key=[e for e in ()]):
            table = {k: v for k, v in ()}
            if table:
                @property
                def p(self, d=[e for e in ()]):
                    return [e for e in self]
            class D:
                def m(self):
                    assert self
    """)
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.ClassDef)
    text = checked_class(tree)
    assert "table = {k: v for k, v in ()}" in text
    assert "def p(self, d=[e for e in ()]):\n            _t1 = []" in text
    assert "raise AssertionError" in text
    assert print_core(core_class(tree)) == text
