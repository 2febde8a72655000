"""weft compiles ordinary scientific Python into fast parallel native code. `import weft` brings in nothing but this
page: each public name loads the module behind it when it is first used.
"""

from __future__ import annotations

__version__ = "0.2.0.dev0"

_DTYPES = ("b1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128")

_EXTENSIONS = ("expand", "expansion", "add_pass", "remove_pass", "add_pattern", "compile_ir")

# Public name --> the module that defines it.
_HOME: dict[str, str] = {
    "jit": "weft.api",
    "bench": "weft.comparing",
    "debug": "weft.debugging",
    "explain_recompiles": "weft.recompiles",
    "distribute": "weft.cluster.mpi_array",
    "prange": "weft.parallel",
    "map": "weft.parallel",
    "vidx": "weft.parallel",
    "MVL": "weft.parallel",
    "finish": "weft.parallel",
    "task": "weft.parallel",
    "isolated": "weft.parallel",
    "vectorize": "weft.callbacks.vectorize",
    "guvectorize": "weft.callbacks.guvectorize",
    "cfunc": "weft.callbacks.cfunc",
    "register": "weft.registered",
    "model": "weft.registered",
    **dict.fromkeys(_EXTENSIONS, "weft.extension"),
    "symbol": "weft.frontend.hints",
    **dict.fromkeys(_DTYPES, "weft.frontend.hints"),
    "Options": "weft.options",
    "set_num_threads": "weft.runtime.threads",
    "get_num_threads": "weft.runtime.threads",
    "WeftError": "weft.errors",
    "Unsupported": "weft.errors",
    "ParallelError": "weft.errors",
    "PragmaError": "weft.errors",
    "TransformError": "weft.errors",
    "CompileError": "weft.errors",
    "OptionError": "weft.errors",
    "ClusterError": "weft.errors",
    "transform": "weft.transformer",
    "tune": "weft.tuning",
    "out_of_core": "weft.cluster.outofcore",
    "CacheWarning": "weft.errors",
    "CoreWarning": "weft.errors",
    "TransformWarning": "weft.errors",
    "FallbackWarning": "weft.errors",
    "MessageWarning": "weft.errors",
}

#: Parts of the package that are used under their own name.
_MODULES = {"cluster": "weft.cluster", "comm": "weft.cluster.comm", "device": "weft.device", "pydd": "weft.pydd"}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604 (the names are strings, spelt once)


def __getattr__(name: str) -> object:
    import importlib

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value  # the next use finds it without this function
    return value


def load_ipython_extension(shell: object) -> None:
    """`%load_ext weft`: the magics of `weft.notebook`."""
    from weft.notebook import load

    load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
