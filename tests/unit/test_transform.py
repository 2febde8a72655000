"""weft.transform and f.program(): what users see of the program, what they can ask for, and that it is kept."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.directives import (
    KINDS,
    Directive,
    Directives,
    Expand,
    Fuse,
    Group,
    Interchange,
    NoFuse,
    NoLibrary,
    On,
    Parallel,
    Place,
    Sequential,
    SkipPass,
    Threads,
    Tile,
    Unroll,
    Vectorise,
    from_data,
    to_data,
)
from weft.ir.program import LoopKind
from weft.ir.text import parse, show
from weft.ir.walk import walk
from weft.transformer import Transformer

RNG = np.random.default_rng(11)
A = RNG.random((90, 70))
B = RNG.random((70, 80))


def double(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[i, j] = a[i, j] * 2.0


def product(a, b):
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


def chain(a):
    t = np.sqrt(a) + 1.0
    return t * t


def two_loops(a, b, c):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[i] * 2.0
    for i in range(n):
        c[i] = b[i] + a[i]


def skewed(a):
    n = a.shape[0]
    for i in range(1, n):
        for j in range(n - 1):
            a[i, j] = a[i, j] + a[i - 1, j + 1]


def line_of(function: Any, text: str) -> int:
    first = function.__code__.co_firstlineno
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number in range(first, len(source) + 1) if text in source[number - 1])


def jitted(function: Any, **options: Any) -> Any:
    return weft.jit(fallback="error", **options)(function)


def kinds(function: Any, *arguments: Any) -> list[str]:
    return [f"{loop.kind} {loop.variable}" for loop in function.program(*arguments).loops]


# --- looking ---------------------------------------------------------------------------------------------------------


def test_a_program_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    f = jitted(double)
    with pytest.raises(weft.WeftError, match="call it once"):
        f.program()
    view = f.program(A, A.copy())
    line = line_of(double, "b[i, j] =")
    assert [(loop.name, loop.kind, loop.depth) for loop in view.loops] == [
        (f"i@{line}", "parallel", 0),
        (f"j@{line}", "vector", 1),
    ]
    assert view.loops[0].range == "i: 0 <= i < a_0" and view.loops[0].source == "b[i, j] = a[i, j] * 2.0"
    [statement] = view.statements
    assert statement.line == line and statement.loops == (f"i@{line}", f"j@{line}")
    assert statement.text == "b[i, j] = a[i, j] * 2.0_f64"
    assert "program double(a, b):" in str(view) and f"# line {line}" in str(view)
    view.show()
    assert f"parallel i@{line}" in capsys.readouterr().out
    assert "for i in 0 .. a_0" in str(view.at("built")) and "for i: 0 <= i < a_0" in str(view.at("optimised"))
    with pytest.raises(ValueError, match="built, optimised, lowered"):
        view.at("nowhere")
    assert "2 loops" in repr(view)
    f(A, A.copy())
    assert str(f.program()) == str(view)
    with pytest.raises(TypeError):
        f.program(A)


def test_names_of_loops_tell_them_apart() -> None:
    f = weft.transform(jitted(product)).no_library().function
    names = [loop.name for loop in f.program(A, B).loops]
    assert len(set(names)) == len(names)
    for name in names:
        Place.of(name)


# --- asking ----------------------------------------------------------------------------------------------------------


def same(function: Any, transformed: Any, *arguments: Any) -> None:
    left, right = ([np.copy(value) for value in arguments] for _ in range(2))
    wanted, found = function(*left), transformed(*right)
    for one, other in zip((wanted, *left), (found, *right)):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-13)


def test_tile() -> None:
    f = jitted(double)
    f(A, np.zeros_like(A))
    weft.transform(f).tile("i", "j", sizes=(32, 16))
    assert kinds(f, A, A.copy()) == ["parallel i_block", "for j_block", "for i", "vector j"]
    same(double, f, A, np.zeros_like(A))
    assert kinds(f) == ["parallel i_block", "for j_block", "for i", "vector j"]
    assert f.transforms() == (Tile((Place("i"), Place("j")), (32, 16)),)
    text = str(f.explain())
    assert "tile(i, j, sizes=(32, 16)), as asked" in text


def test_a_product_in_tiles() -> None:
    f = jitted(product)
    weft.transform(f).tile("i", "j", "k", sizes=(32, 16, 8))
    found = kinds(f, A, B)
    assert len(found) >= 6 and not any("call" in statement.text for statement in f.program(A, B).statements)
    same(product, f, A, B)


@pytest.mark.parametrize("place", ["header", "statement", "both"])
def test_places(place: str) -> None:
    f = jitted(double)
    where: Any = {
        "header": line_of(double, "for i in"),
        "statement": f"i@{line_of(double, 'b[i, j] =')}",
        "both": f"i@{line_of(double, 'for i in')}",
    }[place]
    weft.transform(f).sequential(where)
    assert kinds(f, A, A.copy()) == ["for i", "vector j"]
    same(double, f, A, np.zeros_like(A))


def test_chained() -> None:
    f = jitted(double)
    asked = weft.transform(f).interchange("i", "j").unroll("i", 4).parallel("j")
    assert isinstance(asked, Transformer)
    assert [d.name for d in asked.directives] == ["interchange", "unroll", "parallel"]
    assert kinds(f, A, A.copy())[:2] == ["parallel j", "for i_block"]
    same(double, f, A, np.zeros_like(A))


def test_interchange_vectorise() -> None:
    f = jitted(product)
    weft.transform(f).no_library().interchange("k", "j").vectorise("i")
    with pytest.raises(weft.TransformError, match="not an innermost loop"):
        f(A, B)


def test_no_library() -> None:
    def matrices(a, b):
        return a @ b

    f = jitted(matrices)
    big = RNG.random((200, 200))
    assert any("call" in s.text for s in f.program(big, big).statements)
    weft.transform(f).no_library(matrices.__code__.co_firstlineno + 1)
    assert not any("call" in s.text for s in f.program(big, big).statements)
    same(matrices, f, A, B)


def test_no_fuse_keeps_what_a_line_computes() -> None:
    f = jitted(chain)
    assert len(f.program(A).loops) == 2
    first, second = line_of(chain, "t = np.sqrt"), line_of(chain, "return t * t")
    weft.transform(f).no_fuse(first, second)
    view = f.program(A)
    assert [s.line for s in view.statements] == [first, second] and len(view.loops) == 4
    assert "alloc t" in str(view)
    same(chain, f, A)


def test_lines_that_are_none() -> None:
    f = jitted(chain)
    f(A)
    with pytest.raises(ValueError, match="the line of a statement or a loop is needed"):
        weft.transform(f).no_fuse("i", "j")
    for ask in (lambda t: t.no_fuse(1, 2), lambda t: t.no_library(3)):
        with pytest.raises(weft.TransformError, match="there is no statement that computes anything on line"):
            ask(weft.transform(f))
    assert f.transforms() == ()


def test_fuse_and_no_fuse_of_loops() -> None:
    a = RNG.random(9000)
    one, two = line_of(two_loops, "b[i] ="), line_of(two_loops, "c[i] =")
    f = jitted(two_loops)
    fused = kinds(f, a, a.copy(), a.copy())
    weft.transform(f).no_fuse(one, two)
    apart = kinds(f, a, a.copy(), a.copy())
    assert len(apart) == 2 * len(fused)
    same(two_loops, f, a, a.copy(), a.copy())
    weft.transform(f).fuse(one, two)
    assert kinds(f, a, a.copy(), a.copy()) == fused
    same(two_loops, f, a, a.copy(), a.copy())


def test_skip_pass() -> None:
    f = jitted(product)
    weft.transform(f).skip_pass("match").pass_("hoist", on=False)
    assert not any("call" in s.text for s in f.program(A, B).statements)
    same(product, f, A, B)
    assert "the pass match was left out, as asked" in str(f.explain())
    weft.transform(f).pass_("match", on=True)
    assert f.transforms() == (SkipPass("hoist"),)
    with pytest.raises(ValueError, match="'schedule' cannot be left out; these can be left out: .*trapezoid"):
        weft.transform(f).skip_pass("schedule")
    with pytest.raises(ValueError, match="does not exist"):
        weft.transform(f).skip_pass("magic")


@pytest.mark.parametrize("name", ["raise", "forward", "hoist", "checks", "counters", "tidy", "search", "block"])
def test_every_pass_that_can_be_left_out_may_be(name: str) -> None:
    for function, arguments in ((product, (A, B)), (chain, (A,)), (double, (A, np.zeros_like(A)))):
        f = weft.transform(jitted(function)).skip_pass(name).function
        same(function, f, *arguments)


def test_a_plain_function_is_compiled() -> None:
    asked = weft.transform(double).tile("i", sizes=8)
    same(double, asked, A, np.zeros_like(A))
    assert asked.function.py_func is double and "tile(i, sizes=(8,))" in repr(asked)


def test_clear() -> None:
    f = jitted(double)
    weft.transform(f).tile("i", sizes=8).clear()
    assert f.transforms() == () and kinds(f, A, A.copy()) == ["parallel i", "vector j"]


# --- refusing --------------------------------------------------------------------------------------------------------


def test_illegal_at_once_if_it_was_called() -> None:
    f = jitted(skewed)
    f(A[:60, :60].copy())
    asked = weft.transform(f).sequential("i")
    with pytest.raises(weft.TransformError) as caught:
        asked.interchange("i", "j")
    text = str(caught.value)
    assert "test_transform.py:" in text and "interchange(i, j)" in text and "try:" in text
    assert "`a[i - 1, j + 1]`" in text and "`a[i, j]`" in text
    assert f"line {line_of(skewed, 'a[i, j] =')}" in text and len(text.splitlines()) <= 15
    assert [d.name for d in f.transforms()] == ["sequential"]  # what was legal before stays
    same(skewed, f, A[:60, :60])


@pytest.mark.parametrize("fallback", ["error", "warn", "silent"])
def test_illegal_at_the_first_call_otherwise(fallback: str) -> None:
    f = weft.jit(fallback=fallback)(skewed)
    weft.transform(f).tile("i", "j", sizes=8)
    for _ in range(2):
        with pytest.raises(weft.TransformError, match=r"a\[i - 1, j \+ 1\]"):
            f(A[:60, :60].copy())


def test_a_loop_that_is_not_there() -> None:
    f = jitted(double)
    f(A, np.zeros_like(A))
    with pytest.raises(weft.TransformError, match="no loop") as caught:
        weft.transform(f).unroll("z", 2)
    assert "its loops are: i@" in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.tile("i", "j", sizes=(2,)),
        lambda t: t.tile("i", sizes=(0,)),
        lambda t: t.tile(sizes=(2,)),
        lambda t: t.tile("i", "i", sizes=(2, 2)),
        lambda t: t.unroll("i", 1),
        lambda t: t.unroll("i", 2.5),
        lambda t: t.parallel("i j"),
        lambda t: t.parallel(0),
        lambda t: t.interchange("i", "i"),
        lambda t: t.threads(0),
        lambda t: t.threads(True),
    ],
)
def test_what_makes_no_sense(ask: Any) -> None:
    with pytest.raises(ValueError):
        ask(weft.transform(jitted(double)))


@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_fewer_threads_give_the_same(count: int) -> None:
    def several(a, k, out):
        for i in weft.prange(a.shape[0]):
            out[k[i]] = a[i] * 3.0 + 1.0
        return (a * out).sum()

    values, places = RNG.random(300_000), RNG.permutation(300_000)
    expected, theirs = several(values, places, ours := np.zeros(300_000)), ours
    f = jitted(several)
    before = weft.get_num_threads()
    try:
        weft.set_num_threads(4)
        weft.transform(f).threads(7).threads(count)
        result = f(values, places, got := np.zeros(300_000))
    finally:
        weft.set_num_threads(before)
    assert np.array_equal(got, theirs) and np.isclose(result, expected)
    program = f._compiled[-1].program_lowered
    limits = {node.threads for node in walk(program.body) if getattr(node, "kind", None) is LoopKind.PARALLEL}
    assert limits == {count} and f"threads {count}:" in show(program)
    assert parse(show(program)).body == program.body


def test_threads_that_are_not_allowed() -> None:
    f = jitted(double, parallel=False)
    weft.transform(f).parallel("i")
    with pytest.raises(weft.TransformError, match="parallel=False"):
        f(A, A.copy())


def test_another_version_may_lack_the_loop() -> None:
    def total(a):
        return np.sqrt(a).sum(axis=0)

    f = jitted(total)
    f(A)
    name = f.program().loops[-1].variable.split("_")[0]
    outer = next(loop.variable for loop in f.program().loops)
    weft.transform(f).unroll(outer if "_" not in outer else name, 2)
    f(A)
    f(RNG.random(5))
    same(total, f, RNG.random(5))


# --- data ------------------------------------------------------------------------------------------------------------

ALL: list[Directive] = [
    Tile((Place("i"), Place("j", 4)), (32, 64)),
    Group((Place("i"), Place("j", 4)), (4, 64)),
    On("device"),
    Interchange((Place("i"), Place(line=3))),
    Unroll(Place("k", 7), 4),
    Parallel(Place("i")),
    Sequential(Place("i")),
    Threads(4),
    Vectorise(Place("j")),
    Fuse((Place(line=3), Place(line=5))),
    NoFuse((Place(line=3), Place(line=5))),
    NoLibrary(),
    NoLibrary(Place(line=9)),
    Expand(Place(line=9), "blocked"),
    SkipPass("hoist"),
]


@pytest.mark.parametrize("directive", ALL, ids=str)
def test_directives_are_data(directive: Directive) -> None:
    import json

    data = to_data(directive)
    assert from_data(json.loads(json.dumps(data))) == directive
    assert data["do"] == directive.name and directive.name in KINDS


def test_all_kinds_are_tested() -> None:
    assert {type(directive) for directive in ALL} == set(KINDS.values())


@pytest.mark.parametrize("data", [{}, {"do": "magic"}, {"do": "tile", "what": 3}, {"do": "unroll", "loop": "i"}])
def test_data_that_is_no_directive(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        from_data(data)


def test_variables_that_passes_have_renamed() -> None:
    place = Place.of("i")
    assert all(place.is_variable(name) for name in ("i", "i_2", "i_3_4"))
    assert not any(place.is_variable(name) for name in ("j", "ii", "i_block", "i_a"))
    assert place.is_variable("i_2_block_3", blocks=True)
    assert Directives((NoFuse((Place(line=3), Place(line=5))),)).separates(5, 3)
    assert not Directives((NoFuse((Place(line=3), Place(line=5))),)).separates(3, 3)


# --- keeping ---------------------------------------------------------------------------------------------------------

MODULE = """
import weft

@weft.jit(fallback="error")
def double(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[i, j] = a[i, j] * 2.0

@weft.jit(fallback="error")
def triple(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            b[i, j] = a[i, j] * 3.0
"""


def loaded(path: Path, text: str | None = None) -> types.ModuleType:
    if text is not None:
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    import linecache

    linecache.checkcache()
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    return tmp_path / "kernels_for_transform.py"


def test_saved_and_applied_again(kernels: Path) -> None:
    module = loaded(kernels, MODULE)
    weft.transform(module.double).tile("i", "j@9", sizes=(8, 16)).save()
    weft.transform(module.triple).sequential("i").save()
    file = kernels.with_suffix(".weft.toml")
    text = file.read_text(encoding="utf-8")
    assert '{ do = "tile", loops = ["i", "j@5"], sizes = [8, 16] },' in text and '["triple"]' in text
    again = loaded(kernels)
    assert again.double.transforms() == (Tile((Place("i"), Place("j", 9)), (8, 16)),)
    assert kinds(again.double, A, A.copy())[0] == "parallel i_block"
    assert kinds(again.triple, A, A.copy()) == ["for i", "vector j"]
    b = np.zeros_like(A)
    again.double(A, b)
    assert np.array_equal(b, 2 * A)


def test_a_function_that_moves_keeps_its_transformations(kernels: Path) -> None:
    module = loaded(kernels, MODULE)
    weft.transform(module.double).unroll("j@9", 4).save()
    moved = loaded(kernels, "# one\n# two\n# three\n" + MODULE.replace("* 2.0", "* 2.0  # a remark"))
    assert moved.double.transforms() == (Unroll(Place("j", 12), 4),)
    assert "for j_block" in kinds(moved.double, A, A.copy())


@pytest.mark.parametrize("change", [("* 2.0", "* 2.5"), ("    n, m = a.shape\n", "    n, m = a.shape\n\n")])
def test_a_changed_function_is_not_transformed(kernels: Path, change: tuple[str, str]) -> None:
    module = loaded(kernels, MODULE)
    weft.transform(module.double).tile("i", sizes=8).save()
    weft.transform(module.triple).tile("i", sizes=8).save()
    changed = loaded(kernels, MODULE.replace(*change, 1))
    with pytest.warns(weft.TransformWarning, match=r"kernels_for_transform.weft.toml.*`double`.*has changed"):
        assert changed.double.transforms() == ()
    assert kinds(changed.double, A, A.copy()) == ["parallel i", "vector j"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(changed.triple.transforms()) == 1
    # Asking anew and saving makes an entry for the function as it is now.
    weft.transform(changed.double).sequential("i").save()
    assert loaded(kernels).double.transforms() == (Sequential(Place("i")),)


def test_edited_by_hand(kernels: Path) -> None:
    module = loaded(kernels, MODULE)
    weft.transform(module.double).tile("i", sizes=8).save()
    file = kernels.with_suffix(".weft.toml")
    text = file.read_text(encoding="utf-8").replace("sizes = [8] },", "sizes = [ 9, ] }, # mine")
    file.write_text(text, encoding="utf-8")
    assert loaded(kernels).double.transforms() == (Tile((Place("i"),), (9,)),)


@pytest.mark.parametrize("text", ["[double", "a = " + "[" * 5000, "a = \x00"])
def test_a_file_that_is_no_toml(kernels: Path, text: str) -> None:
    loaded(kernels, MODULE)
    kernels.with_suffix(".weft.toml").write_text(text, encoding="utf-8")
    with pytest.warns(weft.TransformWarning, match="not applied"):
        assert loaded(kernels).double.transforms() == ()


@pytest.mark.parametrize(
    "step",
    [
        'do = "magic"',
        'do = "tile", loops = ["i"], sizes = [0]',
        'do = "tile", loops = ["i"], sizes = [-8]',
        'do = "tile", loops = ["i"], sizes = [2.5]',
        'do = "tile", loops = ["i"], sizes = [true]',
        'do = "tile", loops = ["i"], sizes = [99999999999]',
        'do = "tile", loops = ["i"], sizes = 8',
        'do = "tile", loops = ["i"], sizes = []',
        'do = "tile", loops = ["i", "j"], sizes = [8]',
        'do = "tile", loops = ["i", "i"], sizes = [8, 8]',
        'do = "tile", loops = "i", sizes = [8]',
        'do = "tile", loops = ["i"]',
        'do = "unroll", loop = "i", factor = 0',
        'do = "unroll", loop = "i", factor = 1',
        'do = "unroll", loop = "i", factor = "2"',
        'do = "unroll", loop = ["i"], factor = 2',
        'do = "interchange", loops = ["i"]',
        'do = "interchange", loops = ["i", "j", "k"]',
        'do = "fuse", lines = [3]',
        'do = "no_fuse", lines = [3, 3]',
        'do = "skip_pass", skipped = "races"',
        'do = "skip_pass", skipped = 5',
    ],
)
def test_a_file_that_asks_for_nonsense(kernels: Path, step: str) -> None:
    """Its steps are held to what the methods of weft.transform take: a tile of no iterations would do nothing."""
    from weft.transform_file import digest

    module = loaded(kernels, MODULE)
    text = f'["double"]\nsource = "{digest(module.double._load().tree)}"\nsteps = [{{ {step} }}]\n'
    kernels.with_suffix(".weft.toml").write_text(text, encoding="utf-8")
    with pytest.warns(weft.TransformWarning, match="not applied"):
        again = loaded(kernels).double
        assert again.transforms() == ()
    b = np.zeros_like(A)
    again(A, b)
    assert np.array_equal(b, 2 * A)


def test_saving_nothing_removes_the_entry(kernels: Path) -> None:
    module = loaded(kernels, MODULE)
    weft.transform(module.double).tile("i", sizes=8).save()
    weft.transform(module.triple).tile("i", sizes=8).save()
    weft.transform(module.double).clear().save()
    file = kernels.with_suffix(".weft.toml")
    assert "double" not in file.read_text(encoding="utf-8")
    weft.transform(module.triple).clear().save()
    assert not file.exists()


def test_a_function_without_a_file() -> None:
    namespace: dict[str, Any] = {}
    weft.errors.attach_source("<typed in>", "def f(a):\n    return a + 1\n")  # type: ignore[attr-defined]
    exec(compile("def f(a):\n    return a + 1\n", "<typed in>", "exec"), namespace)
    with pytest.raises(weft.WeftError, match="not from a file"):
        weft.transform(namespace["f"]).save()


def test_built_ahead_of_time_as_asked(kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from weft.cli import main
    from weft.runtime.toolchain import find

    if find() is None:
        pytest.skip("weft build needs a compiler")
    hinted = MODULE.replace("(a, b):", "(a: weft.f64[:, :], b: weft.f64[:, :]):")
    module = loaded(kernels, hinted)
    weft.transform(module.double).tile("i", "j", sizes=(8, 16)).save()
    assert main(["build", "--host", "weft", str(kernels), "-o", str(kernels.parent / "build")]) == 0
    package = kernels.parent / "build" / kernels.stem
    kept = package / "source.weft.toml"
    assert kept.read_bytes() == kernels.with_suffix(".weft.toml").read_bytes()
    assert "wrote" in capsys.readouterr().out


def test_versions_on_disk_know_their_transformations(kernels: Path) -> None:
    module = loaded(kernels, MODULE)
    b = np.zeros_like(A)
    module.double(A, b)
    weft.transform(module.double).tile("i", "j", sizes=(8, 16))
    module.double(A, b)
    assert "i_block" in module.double.inspect("c")
    again = loaded(kernels)
    again.double(A, b)
    assert "i_block" not in again.double.inspect("c")
