"""The examples in C, C++ and Fortran, compiled and run against the library that weft builds of heat.py."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.cli import main

pytestmark = pytest.mark.native
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "host"


@pytest.fixture(scope="module")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    assert main(["build", "--host", "cpp", str(EXAMPLES / "heat.py"), "-o", str(folder)]) == 0
    return folder / "heat"


@pytest.fixture(scope="module")
def module() -> Any:
    spec = importlib.util.spec_from_file_location("heat_in_python", EXAMPLES / "heat.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def tool(*names: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"there is no {names[0]} here")
    return found


def run(*command: object, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def warm_cell(module: Any) -> float:
    field = np.zeros((6, 8))
    field[3, 4] = 100.0
    return float(module.diffuse(field, 0.1, 10)[3, 4])


def linked(heat: Path) -> list[str]:
    return [f"-I{heat / 'include'}", f"-L{heat / 'lib'}", "-lheat", f"-Wl,-rpath,{heat / 'lib'}"]


@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
def test_c(heat: Path, module: Any, static: bool, tmp_path: Path) -> None:
    with_library = [f"-I{heat / 'include'}", heat / "lib" / "libheat.a", "-lpthread"] if static else linked(heat)
    extra = run(tool("pkg-config"), "--static", "--libs-only-l", "heat", cwd=tmp_path, PKG_CONFIG_PATH=config(heat))
    more = [flag for flag in extra.split() if flag != "-lheat"] if static else []
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror")
    run(tool("gcc", "cc"), *flags, EXAMPLES / "heat.c", *with_library, *more, "-lm", "-o", "heat", cwd=tmp_path)
    told = run("./heat", cwd=tmp_path).splitlines()
    assert told[0].split()[1] == f"{warm_cell(module):.12g}"
    assert told[1:] == [
        "smooth 2.25 4.5 9 18",
        "error 2 1 padded has extent 5 along axis 0, its hint says N + 2, which is 6",
        "raised 1 ValueError line 34: an empty field has no extremes",
        "product 1",
        "integral 4.0000",
    ]


def config(heat: Path) -> str:
    return str(heat / "lib" / "pkgconfig")


def test_cpp(heat: Path, module: Any, tmp_path: Path) -> None:
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror")
    told_to = run(tool("pkg-config"), "--cflags", "--libs", "heat", cwd=tmp_path, PKG_CONFIG_PATH=config(heat)).split()
    path = f"-Wl,-rpath,{heat / 'lib'}"
    run(tool("g++", "c++"), *flags, EXAMPLES / "heat.cpp", *told_to, path, "-o", "heat", cwd=tmp_path)
    told = run("./heat", cwd=tmp_path).splitlines()
    assert told[0].split()[1] == f"{warm_cell(module):.12g}"
    assert told[1:3] == ["smooth 2.25 4.5 9 18", "error 1"]
    assert told[3].startswith("raised ValueError line 34: extremes (heat.py:34): ValueError: an empty field")
    assert told[4] == "integral 4.0000"


SPANS = """
#include "heat.hpp"
#include <iostream>
static_assert(!std::is_constructible_v<weft::span<double, 1>, std::vector<double>>, "a temporary is not written");
int main()
{
    const std::vector<double> held(12, 1.0);
    const std::array<std::int64_t, 2> tried[] = {{{3, 4}}, {{3, 5}}, {{-1, -1}}, {{1LL << 33, 1LL << 31}}, {{0, 7}}};
    std::cout << heat::diffuse({std::vector<double>(12, 2.0), {3, 4}}, 0.1, 1)(1, 1);
    for (auto extents : tried)
        try {
            heat::diffuse({held, extents}, 0.1, 1);
            std::cout << " taken";
        } catch (const std::invalid_argument &) {
            std::cout << " refused";
        } catch (const weft::error &problem) {
            std::cout << " error";
        }
    std::cout << std::endl;
}
"""


def test_spans_hold_what_their_container_has(heat: Path, tmp_path: Path) -> None:
    """Of temporaries, too, if they are only read; extents for which there are too few elements never reach a kernel."""
    (tmp_path / "spans.cpp").write_text(SPANS)
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror")
    run(tool("g++", "c++"), *flags, "spans.cpp", *linked(heat), "-o", "spans", cwd=tmp_path)
    assert run("./spans", cwd=tmp_path) == "2 taken refused refused refused taken\n"


def test_fortran(heat: Path, module: Any, tmp_path: Path) -> None:
    compiler = tool("gfortran")
    sources = (heat / "include" / "heat.f90", EXAMPLES / "heat_main.f90")
    run(compiler, "-Wall", "-Werror", *sources, *linked(heat), "-o", "heat", cwd=tmp_path)
    told = run("./heat", cwd=tmp_path).splitlines()
    assert told[0].split()[1] == f"{warm_cell(module):.6f}"
    assert told[1] == "smooth 2.250 4.500 9.000 18.000" and told[2].startswith("error T padded has extent 5")
    assert told[3] == "integral 4.0000"


@pytest.mark.slow
def test_cmake_finds_the_library_wherever_it_was_moved(heat: Path, module: Any, tmp_path: Path) -> None:
    cmake = tool("cmake")
    moved = tmp_path / "elsewhere" / "heat"
    shutil.copytree(heat, moved)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user C)\nfind_package(heat REQUIRED)\n"
        f"add_executable(user {EXAMPLES / 'heat.c'})\ntarget_link_libraries(user heat::heat m)\n"
        f"add_executable(alone {EXAMPLES / 'heat.c'})\ntarget_link_libraries(alone heat::heat_static m)\n"
    )
    run(cmake, "-S", ".", "-B", "out", f"-DCMAKE_PREFIX_PATH={moved}", cwd=tmp_path)
    run(cmake, "--build", "out", cwd=tmp_path)
    for program in ("user", "alone"):
        assert run(f"out/{program}", cwd=tmp_path).split()[1] == f"{warm_cell(module):.12g}"
