"""What build systems ask for.  In: a library's folder, name and libraries; out: a pkg-config file and a CMake package,
both without a path of this machine: the folder may be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weft import __version__

_PKG_CONFIG = """prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/include
libdir=${{prefix}}/lib

Name: {name}
Description: {name}, compiled by weft
Version: {version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{name}
Libs.private: {libraries}
"""

_CMAKE = """# {name}::{name} is the shared library, {name}::{name}_static the static one.
get_filename_component(_{name}_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
if(NOT TARGET {name}::{name})
  add_library({name}::{name} SHARED IMPORTED)
  set_target_properties({name}::{name} PROPERTIES
    IMPORTED_LOCATION "${{_{name}_prefix}}/lib/{shared}"
    IMPORTED_SONAME "{shared}"
    INTERFACE_INCLUDE_DIRECTORIES "${{_{name}_prefix}}/include")
  add_library({name}::{name}_static STATIC IMPORTED)
  set_target_properties({name}::{name}_static PROPERTIES
    IMPORTED_LOCATION "${{_{name}_prefix}}/lib/lib{name}.a"
    INTERFACE_INCLUDE_DIRECTORIES "${{_{name}_prefix}}/include"
    INTERFACE_LINK_LIBRARIES "{linked}")
endif()
"""


def write(folder: Path, name: str, libraries: Sequence[str], shared: str) -> None:
    """The two packages of a library."""
    config, cmake = folder / "lib" / "pkgconfig", folder / "lib" / "cmake" / name
    config.mkdir()
    cmake.mkdir(parents=True)
    text = _PKG_CONFIG.format(name=name, version=__version__, libraries=" ".join(libraries))
    (config / f"{name}.pc").write_text(text, encoding="utf-8")
    linked = ";".join(library.removeprefix("-l") for library in libraries)
    text = _CMAKE.format(name=name, shared=shared, linked=linked)
    (cmake / f"{name}Config.cmake").write_text(text, encoding="utf-8")
