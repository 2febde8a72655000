"""The architecture, read from the source: imports go one way and without cycles, files and functions stay small, heavy
libraries are imported in one place or late, and no trace of unfinished work or of one machine is left anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "weft"
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 100

# What each part of the package may import, besides itself. Errors and options are open to all.
_OPEN = {"errors", "options", "limits", "directives", "records", "standins", "steps", "forking", "naming"}
_MIDDLE = {"ir", "frontend", "analysis", "passes", "codegen", "runtime", "report"}
LAYERS: dict[str, set[str]] = {
    "errors": {"records"},
    "registry": {"records"},
    "options": {"errors", "records", "registry"},
    "limits": {"records"},
    "steps": set(),
    "naming": set(),
    "net": _OPEN,
    "trial": {"errors"},
    "timeline": set(),
    "watched": set(),
    "warned": {"errors", "runtime.toolchain"},
    "debugging": {"errors", "watched"},
    "recompiles": set(),
    "recalled": _OPEN | {"runtime", "net"},
    "directives": {"records"},
    "deep": {"forking"},
    "records": set(),
    "standins": set(),
    "forking": set(),
    "handlers": set(),
    "collector": {"forking"},
    "ir": _OPEN,
    "parallel": set(),
    "frontend": _OPEN | {"ir", "parallel", "registry"},
    "analysis": _OPEN | {"ir"},
    "passes": _OPEN | {"ir", "analysis"},
    # Code generation fills in the dispatcher's descriptors, which are plain data.
    "codegen": _OPEN | {"ir", "analysis", "passes", "runtime.descriptor", "runtime.templates"},
    "runtime": _OPEN,
    # Source and the record of what is read are one for both compilers.
    "plain": _OPEN | {"runtime", "frontend.reads", "frontend.source"},
    "plainly": _OPEN | {"plain", "frontend.vectors", "runtime", "net", "handlers", "collector", "recalled", "trial"},
    # The table of what is native is a view of the knowledge base.
    "report": _OPEN | {"ir", "analysis", "frontend.knowledge"},
    "compiled": _OPEN | _MIDDLE,
    "targets": _OPEN | _MIDDLE | {"registry", "compiled"},
    "pipeline": _OPEN | _MIDDLE | {"deep", "compiled", "targets"},
    "transform_file": _OPEN,
    "steering": _OPEN | {"frontend", "transform_file", "passes"},
    "restored": _OPEN | {"runtime", "recalled", "registry", "frontend", "compiled"},
    "parted": _OPEN | {"frontend", "trial", "plainly"},
    "proposed": _OPEN | _MIDDLE | {"pipeline"},
    "asked": _OPEN | _MIDDLE | {"compiled", "pipeline", "net", "plain", "proposed", "restored"},
    "pickles": _OPEN | {"runtime"},
    "jitted": _OPEN
    | _MIDDLE
    | {"asked", "collector", "compiled", "handlers", "net", "parted", "pickles", "pipeline"}
    | {"recalled", "registry", "restored", "plain", "plainly", "steering", "timeline", "trial", "warned", "watched"},
    "cluster": _OPEN | _MIDDLE | {"pipeline", "jitted", "targets", "net"},
    "device": _OPEN | _MIDDLE | {"pipeline", "jitted", "cluster", "net", "registry", "targets", "asked"},
    "hls": _OPEN | _MIDDLE | {"pipeline", "device", "targets"},
    "blocksizes": _OPEN,
    "api": _OPEN | _MIDDLE | {"pipeline", "jitted", "targets", "net", "handlers", "blocksizes", "warned"},
    "pydd": _OPEN | {"frontend", "parallel", "api"},
    "emit": _OPEN | _MIDDLE | {"pipeline", "targets", "compiled", "cluster", "device", "restored"},
    "extension": _OPEN | _MIDDLE | {"pipeline", "jitted", "compiled"},
    "registered": _OPEN | {"frontend", "runtime", "callbacks"},
    "callbacks": _OPEN | _MIDDLE | {"pipeline", "jitted", "targets", "compiled"},
    "transformer": _OPEN | _MIDDLE | {"pipeline", "jitted", "api", "transform_file"},
    "tuning": _OPEN | _MIDDLE | {"jitted", "transform_file", "device"},
    "heat": _OPEN
    | _MIDDLE
    | {"plain", "plainly", "handlers", "net", "pipeline", "jitted", "api", "transform_file", "restored"},
    "cli": _OPEN
    | _MIDDLE
    | {"pipeline", "api", "ahead", "heat", "cluster", "tuning", "registry", "hls", "device", "hosts", "folders"}
    | {"emit", "plain", "warned"},
    # What `weft build` makes for other hosts.
    "folders": {"errors", "runtime.trusted"},
    "hosts": _OPEN
    | _MIDDLE
    | {"pipeline", "targets", "compiled", "steering", "api", "folders", "parallel", "plain", "net", "trial"},
    "notebook": {"api", "errors"},
    "comparing": {"api"},
    "compat": _OPEN | {"api", "cli", "jitted", "parallel", "runtime", "warned"},
    "__main__": {"cli"},
    "demo": _OPEN | _MIDDLE | {"pipeline", "api"},
    "ahead": _OPEN | _MIDDLE | {"pipeline", "api", "transform_file", "folders"},
    "": _OPEN | _MIDDLE | {"pipeline", "api", "notebook"},
}
# Loading these costs more than the whole of weft, so they are imported inside the functions that need them.
LATE = {"scipy", "islpy", "rich", "numba", "matplotlib"}

MODULES = sorted(PACKAGE.rglob("*.py"))


@dataclass(frozen=True)
class Import:
    """One imported module (`weft.ir.expr`, `numpy`), and whether the import runs when the module is loaded."""

    target: str
    line: int
    at_load: bool


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {_name(path) for path in MODULES}


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _resolve(node: ast.Import | ast.ImportFrom, importer: str, is_package: bool) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        parents = importer.split(".")
        keep = len(parents) - node.level + (1 if is_package else 0)
        base = ".".join([*parents[:keep], *([node.module] if node.module else [])])
    for alias in node.names:
        whole = f"{base}.{alias.name}"
        yield whole if whole in NAMES else base


def _imports(path: Path) -> list[Import]:
    found: list[Import] = []
    importer, is_package = _name(path), path.name == "__init__.py"

    def visit(node: ast.AST, at_load: bool) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.extend(Import(name, node.lineno, at_load) for name in _resolve(node, importer, is_package))
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            for child in node.body:
                visit(child, False)
            for child in node.orelse:
                visit(child, at_load)
            return
        inside = at_load and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


def _part(module: str) -> str:
    """weft.ir.expr --> ir;  weft.api --> api;  weft --> the empty string."""
    return (module.split(".") + [""])[1]


def _allowed(importer: str, target: str) -> bool:
    if target == "weft" or _part(importer) == _part(target):
        return True
    inner = target.removeprefix("weft.")
    return any(inner == permitted or inner.startswith(permitted + ".") for permitted in LAYERS[_part(importer)])


def _identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=_identify)
def test_imports_go_one_way(path: Path) -> None:
    importer = _name(path)
    assert _part(importer) in LAYERS, f"{importer} belongs to no layer: name it in LAYERS"
    wrong = [
        f"{_identify(path)}:{item.line}: {_part(importer) or 'weft'} must not import {item.target}"
        for item in _imports(path)
        if item.target.split(".")[0] == "weft" and not _allowed(importer, item.target)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {
        _name(path): sorted({item.target for item in _imports(path) if item.at_load and item.target in NAMES})
        for path in MODULES
    }
    done: set[str] = set()

    def walk(module: str, trail: tuple[str, ...]) -> None:
        if module in trail:
            raise AssertionError(" -> ".join((*trail[trail.index(module) :], module)))
        if module in done:
            return
        for target in graph[module]:
            walk(target, (*trail, module))
        done.add(module)

    for module in graph:
        walk(module, ())


def test_layers_are_acyclic_themselves() -> None:
    """The table above must be an order, or the test of the imports would prove nothing."""
    placed: list[str] = []
    rest = {part: {item.split(".")[0] for item in allowed} for part, allowed in LAYERS.items()}
    while rest:
        ready = [part for part, allowed in rest.items() if allowed <= set(placed)]
        assert ready, f"a circle among {sorted(rest)}"
        placed += ready
        for part in ready:
            del rest[part]
    for lower, upper in zip(*(("ir", "analysis", "passes", "codegen", "pipeline", "api")[k:] for k in (0, 1))):
        assert placed.index(lower) < placed.index(upper)


@pytest.mark.parametrize("path", MODULES, ids=_identify)
def test_heavy_libraries_are_imported_late(path: Path) -> None:
    for item in _imports(path):
        library = item.target.split(".")[0]
        where = f"{_identify(path)}:{item.line}"
        if library == "islpy":
            assert _name(path) == "weft.ir.domain", f"{where}: only ir/domain.py speaks to isl"
        elif library in LATE:
            assert not item.at_load, f"{where}: import {library} inside the function that needs it"


def _sources() -> list[Path]:
    folders = ("src", "tests", "tools", "benchmarks", "examples")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", _sources(), ids=_identify)
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n") + 1
    assert lines <= MAX_FILE_LINES, f"{_identify(path)} has {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"{_identify(path)}:{node.lineno}: {node.name} has {length} lines"


def test_c_sources_stay_small() -> None:
    for path in sorted([*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]):
        lines = path.read_text(encoding="utf-8").count("\n") + 1
        assert lines <= MAX_FILE_LINES, f"{_identify(path)} has {lines} lines"


@pytest.mark.parametrize("path", MODULES, ids=_identify)
def test_a_module_opens_with_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring and len(docstring) > 40, f"{_identify(path)} needs a paragraph: what comes in, what goes out"


def _texts() -> list[Path]:
    """Every text file of the project."""
    endings = {".py", ".c", ".h", ".md", ".toml", ".txt", ".yml", ".html", ".css", ".json", ".cfg", ""}
    skipped = (".git", ".venv", "__pycache__", "build", "dist", ".hypothesis", "_cache", ".egg-info")
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if not any(part.endswith(skipped) for part in parts) and path.is_file() and path.suffix in endings:
            found.append(path)
    return found


# Written in pieces, so that this file does not contain what it looks for.
_UNFINISHED = re.compile("|".join(rf"\b{word}\b" for word in ("TO" + "DO", "FIX" + "ME", "HA" + "CK", "X" * 3)))
_MACHINE = re.compile("|".join((r"(?<![\w.])/(ro" + "ot|wo" + r"rk|home/\w+)/", "--(extra-)?index" + "-url")))


@pytest.mark.parametrize("pattern", [_UNFINISHED, _MACHINE], ids=["unfinished work", "one machine"])
def test_nothing_unfinished_and_no_machine_in_any_file(pattern: re.Pattern[str]) -> None:
    wrong = []
    for path in _texts():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{_identify(path)}:{number}: {line.strip()[:100]}")
    assert not wrong, "\n".join(wrong)


def _strings(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno


def _compared_targets(path: Path) -> list[str]:
    """Comparisons of a target or back end with the name of one."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            asked = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)} & {"target", "backend"}
            if asked and words & {"c", "python", "ray", "mpi", "opencl", "cuda"}:
                found.append(f"{_identify(path)}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_passes_declare_themselves() -> None:
    """Every `run` of a pass carries its declaration, and the pipeline knows no pass by its name."""
    from weft.passes import Pass, order

    for path in sorted((PACKAGE / "passes").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == "run":
                decorators = [ast.unparse(each).partition("(")[0] for each in node.decorator_list]
                assert decorators == ["declared"], f"{_identify(path)}:{node.lineno}: declare the pass"
    passes = (*order.PASSES, *order.LOWERING)
    assert all(isinstance(each, Pass) for each in passes) and order.problems(passes) == []
    known = {each.name for each in passes}
    for name in ("pipeline.py", "passes/running.py", "targets/__init__.py", "targets/c.py", "targets/python.py"):
        named = [f"{name}:{line}: {text!r}" for text, line in _strings(PACKAGE / name) if text in known - {"tasks"}]
        assert not named, "the pipeline must ask a pass, not know its name: " + ", ".join(named)


def test_targets_are_asked_and_not_named() -> None:
    """What differs between targets is an answer of a `Target`, and never a comparison with its name."""
    parts = ("passes", "analysis", "codegen", "targets", "runtime")
    layers = ("pipeline.py", "api.py", "jitted.py", "cluster/kernels.py", *parts)
    paths = [path for path in MODULES if any((PACKAGE / layer) in (path, *path.parents) for layer in layers)]
    assert len(paths) > 100
    wrong = [text for path in paths for text in _compared_targets(path)]
    assert not wrong, "\n".join(wrong)


#: What the front end's builder may have of these. The numbers only fall.
_MOST_OPERATIONS = 221
_MOST_RESTARTS = 37


def _depth(kind: type) -> int:
    return 0 if kind is object else 1 + max(_depth(base) for base in kind.__bases__)


def test_the_builder_is_flat() -> None:
    """Its parts stand on one class each, and what they need of each other is declared there and nowhere else."""
    from weft.frontend.builder import Builder
    from weft.frontend.building import Building

    kinds = [kind for kind in Builder.__mro__ if kind is not object]
    assert _depth(Builder) <= 3
    operations = {kind: {name for name, value in vars(kind).items() if callable(value)} for kind in kinds}
    assert max(len(names) for kind, names in operations.items() if kind is not Building) <= 40
    assert len(set().union(*operations.values())) <= _MOST_OPERATIONS, "make it a function that takes the builder"
    unknown = operations[Building] - set().union(*(operations[kind] for kind in kinds if kind is not Building))
    assert not unknown, f"declared and never defined: {sorted(unknown)}"


def test_the_front_end_starts_again_for_few_reasons() -> None:
    raised = 0
    for path in sorted((PACKAGE / "frontend").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised += isinstance(node, ast.Raise) and node.exc is not None and ast.unparse(node.exc) == "Restart"
    assert raised <= _MOST_RESTARTS, "what a variable holds is found before it is emitted"


def test_the_checks_can_fail() -> None:
    assert not _allowed("weft.runtime.cache", "weft.ir.expr")
    assert not _allowed("weft.ir.expr", "weft.passes.scheduling.fuse")
    assert not _allowed("weft.codegen.c", "weft.runtime.cache")
    assert _allowed("weft.codegen.c", "weft.runtime.descriptor")
    assert _allowed("weft.api", "weft.pipeline") and not _allowed("weft.pipeline", "weft.api")
    assert _UNFINISHED.search("# TO" + "DO: later") and _MACHINE.search("open('/ro" + "ot/x')")
