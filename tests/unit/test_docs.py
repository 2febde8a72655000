"""The documentation is true. In come README.md, docs/ and examples/; what they show is run, and what they list
(functions, passes, commands, options, variables, links) is compared with the code. docs/support.md is written anew by
`pytest tests/unit/test_docs.py --update-golden`.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import opencl_device
from weft import pipeline
from weft.cli import _parser
from weft.comparing import times
from weft.errors import attach_source
from weft.frontend import knowledge
from weft.options import option_names, variable_of
from weft.report import support

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
    "benchmarks/README.md",
)
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """The fenced blocks of a language, each with the line it starts on."""
    text = text_of(page)
    found = re.finditer(r"^```(\S*)[^\n]*\n(.*?)^```", text, re.M | re.S)
    return [(text.count("\n", 0, match.start(2)) + 1, match[2]) for match in found if match[1] == language]


def inline_code(page: str) -> list[str]:
    """What stands between single backquotes, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S))


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")] + ["CHANGELOG.md"])
def test_prose_keeps_to_120_columns(page: str) -> None:
    """Tables and code may be wider."""
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S).splitlines()
    assert not [line for line in prose if len(line) > 120 and not line.lstrip().startswith("|")]


# --- code that is shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_python_blocks_run(page: str, subprocess_environment: dict[str, str]) -> None:
    """The blocks of one page run in order, in one namespace, without a fallback that they do not speak of."""
    if page in ("docs/device.md", "docs/howto/gpu.md"):
        opencl_device()
    if not any("weft.compat.install()" in code for _, code in blocks(page, "python")):
        run_blocks(page)
        return
    # Such a page needs a process that has not imported Numba, which another test may have done here.
    environment = {**subprocess_environment, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    command = [sys.executable, __file__, page]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


#: Programs that need a cluster or a place among the sources, and where they are run.
_ELSEWHERE = {
    "docs/cluster.md": "tests/cluster/test_guide.py",
    "docs/howto/cluster.md": "tests/cluster/test_guide.py",
    "docs/recipes.md": "tests/plain/test_recipe.py",
}
#: What weft writes, shown as text.
_SHOWN = {"docs/extend.md", "docs/internals.md"}


@pytest.mark.parametrize("page", PAGES)
def test_no_python_is_shown_that_no_test_runs(page: str) -> None:
    if blocks(page, "py"):
        assert Path(page).name in (ROOT / _ELSEWHERE[page]).read_text(encoding="utf-8")
    for line, code in blocks(page, ""):
        try:
            tree = ast.parse(code)
        except SyntaxError:
            continue  # commands, cells of notebooks, drawings
        made = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
        assert not made or page in _SHOWN, f"{page}:{line} is Python, and no test runs it: write ```python"


def run_blocks(page: str) -> None:
    namespace: dict[str, Any] = {"__name__": "documentation"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", weft.FallbackWarning)
        for line, code in blocks(page, "python"):
            name = f"<{page}:{line}>"
            attach_source(name, code)
            exec(compile(code, name, "exec"), namespace)


def test_the_readme_example_is_short() -> None:
    [(_, code)] = blocks("README.md", "python")
    assert len(code.splitlines()) <= 11


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("disabled", [False, True], ids=["compiled", "plain"])
def test_examples_run(name: str, disabled: bool, subprocess_environment: dict[str, str]) -> None:
    """Each example runs, with weft and with weft switched off, and finds its answers equal."""
    environment = {**subprocess_environment, "WEFT_FALLBACK": "warn", "PYTHONWARNINGS": "error::UserWarning"}
    environment["WEFT_DISABLE"] = "1" if disabled else "0"
    command = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "same answer: True" in done.stdout


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


# --- passes ---------------------------------------------------------------------------------------------------------


def test_the_pass_list_is_that_of_the_pipeline() -> None:
    section = text_of("docs/developer.md").split("## The passes in order")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in section.splitlines() if line.startswith("| ")]
    listed = [(name, module.split("`")[1]) for name, module in rows if module.startswith("`")]
    order = (*pipeline.PASSES, *pipeline.LOWERING)
    expected = [(each.name, each.run.__module__.rpartition(".")[2] + ".py") for each in order]
    assert listed == expected


@pytest.mark.parametrize("page", ["docs/developer.md", "docs/recipes.md", "docs/internals.md", "docs/design.md"])
def test_modules_that_are_named_exist(page: str) -> None:
    known = {path.name for folder in ("src", "tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")}
    named = {Path(match).name for code in inline_code(page) for match in re.findall(r"[\w./]+\.py\b", code)}
    missing = named - known - {"file.py", "script.py", "source.py"}
    assert named and not missing


# --- commands, options, variables, names ----------------------------------------------------------------------------


def _subcommands() -> dict[str, argparse.ArgumentParser]:
    actions = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(actions[0].choices)


def _commands(page: str) -> Iterator[tuple[str, list[str]]]:
    shell = [line.split("#")[0] for _, code in blocks(page, "") for line in code.splitlines()]
    for code in (*inline_code(page), *shell):
        words = code.split()
        if len(words) > 1 and words[0] == "weft" and re.fullmatch(r"[a-z]+", words[1]):
            yield words[1], list(itertools.takewhile(lambda word: not word.endswith(".py"), words[2:]))


@pytest.mark.parametrize("page", PAGES)
def test_commands_exist(page: str) -> None:
    known = _subcommands()
    for name, rest in _commands(page):
        assert name in known, f"weft {name}"
        options = {option for action in known[name]._actions for option in action.option_strings}
        choices = [action.choices for action in known[name]._actions if action.choices and not action.option_strings]
        assert {word for word in rest if word.startswith("-")} <= options, rest
        assert not choices or not rest or rest[0] in choices[0], rest


def test_every_command_and_its_options_are_documented() -> None:
    page = text_of("docs/commands.md")
    for name, parser in _subcommands().items():
        assert f"](#weft-{name})" in page and f"\n## weft {name}\n" in page, name
        row = page.split(f"\n## weft {name}\n")[1].split("\n## ")[0]
        for action in parser._actions:
            options = [option for option in action.option_strings if option not in ("-h", "--help")]
            assert not options or any(option in row for option in options), f"{name} {options}"


def test_the_table_of_the_readme_is_what_was_measured() -> None:
    """`python tools/readme_figures.py` writes the file; the table shows it."""
    rows = json.loads(text_of("docs/pictures/figures.json"))["rows"]
    shown = re.findall(r"^\| `(\w+)`: (.*?) \| .*? \| .*? \| ([\d.,]+)x \|$", text_of("README.md"), re.M)
    assert shown == [(row["name"], row["what"], times(row["ratio"])) for row in rows]
    assert len(text_of("README.md").splitlines()) <= 90


def test_the_pictures_of_the_guide_show_what_was_measured() -> None:
    """`python tools/performance_figures.py` writes the numbers and draws them."""
    place = importlib.util.spec_from_file_location("performance_figures", ROOT / "tools" / "performance_figures.py")
    assert place is not None and place.loader is not None
    figures = importlib.util.module_from_spec(place)
    place.loader.exec_module(figures)
    known = json.loads(text_of("docs/pictures/performance.json"))
    for name, picture in figures.drawn(known).items():
        assert text_of(f"docs/pictures/{name}.svg") == picture
        assert f"pictures/{name}.svg" in text_of("docs/performance.md")


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    # There may be no network, and nothing may ask for one: whatever does meets a port where nobody listens.
    nowhere = {f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https", "all")}
    environment = {**os.environ, **nowhere, **{name.upper(): place for name, place in nowhere.items()}}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = text_of("mkdocs.yml").split("nav:")[1]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(re.findall(r"[\w/]+\.md", listed)) == pages
    assert "compiled" in (tmp_path / "site" / "api.html").read_text(encoding="utf-8")


def test_every_option_is_documented() -> None:
    section = text_of("docs/options.md").split("## Options")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", section, re.M)
    assert set(listed) == set(option_names())


def test_environment_variables_are_those_that_are_read() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "weft").rglob("*.py"))
    read = set(re.findall(r"\"(WEFT_[A-Z_]+)\"", sources)) - {"WEFT_"}
    listed = set(re.findall(r"WEFT_[A-Z_]+[A-Z]", text_of("docs/options.md")))
    options = {variable_of(name) for name in option_names()}
    assert read <= listed
    assert listed <= read | options


@pytest.mark.parametrize("page", PAGES)
def test_names_of_weft_exist(page: str) -> None:
    for code in inline_code(page):
        for name in re.findall(r"\bweft\.((?:\w+\.)*\w+)", code):
            _resolve(f"weft.{name}")


def _resolve(dotted: str) -> Any:
    """The object of a dotted name: modules as far as they go, attributes from there."""
    parts = dotted.split(".")
    found: Any = importlib.import_module(parts[0])
    for position, part in enumerate(parts[1:], 1):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[: position + 1]))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text_of(page)):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target


# --- functions with a native form -----------------------------------------------------------------------------------


def test_every_entry_is_in_the_table() -> None:
    """Under the name by which Python finds the very function again."""
    table = {row.name: row for row in support.rows()}
    homes: dict[str, Any] = {"np": np, "ndarray": np.ndarray, "": builtins}
    for entry in filter(lambda entry: not support.is_registered(entry), knowledge.entries()):
        name = support.title(entry)
        assert table[name].path != "Python"
        root, *rest = name.split(".") if "." in name else ("", name)
        if root == "number":
            continue
        found = homes.get(root) or importlib.import_module(name.rpartition(".")[0])
        for part in rest if root in homes else rest[-1:]:
            found = getattr(found, part)
        assert found == entry.target, name


def test_the_page_of_functions_is_the_table(update_golden: bool) -> None:
    page = ROOT / "docs" / "support.md"
    if update_golden:
        page.write_text(support.page(), encoding="utf-8")
        return
    if not support.is_reference_version():  # older versions of Python and NumPy have fewer functions
        assert re.findall(r"^## .*", support.page(), re.M) == re.findall(r"^## .*", text_of("docs/support.md"), re.M)
    else:
        wanted = "new or lost functions: pytest tests/unit/test_docs.py --update-golden"
        assert text_of("docs/support.md") == support.page(), wanted


# --- the promises that a page makes of results ----------------------------------------------------------------------


def test_strict_sums_keep_their_order() -> None:
    values = np.random.default_rng(3).normal(size=10_000)

    def total(a: Any) -> Any:
        s = 0.0
        for x in a:
            s += x
        return s

    assert weft.jit(fp="strict", fallback="error")(total)(values) == total(values)


@pytest.mark.native
def test_a_kind_of_arguments_has_at_most_four_versions() -> None:
    """As docs/user.md says; each size below fails the guards of the versions before it, or runs in one of them."""

    @weft.jit(fallback="error")
    def shifted(a: Any, b: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            s += a[i] * b[i + 1]
        return s

    for n, extra in ((4, 0), (4, 3), (0, 0), (5, 1), (6, 9), (2, 2)):
        a, b = np.arange(float(n + extra)), np.arange(float(n + 2 * extra + 1))
        assert shifted(a, b, n) == shifted.py_func(a, b, n)
    assert 1 <= len(shifted.signatures) <= 4


def test_disabled_means_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "WEFT_DISABLE", "1")

    def f() -> None: ...

    assert weft.jit(f) is f


if __name__ == "__main__":
    run_blocks(sys.argv[1])
