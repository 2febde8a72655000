"""Hand-written kernels for the tests of the run time: C on top of `plain.h`, compiled as generated code is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from weft.plain import runtime

MISS = runtime.MISS

PRELUDE = """
#include "plain.h"
#define SPEC(NAME, REPR, SCALARS, ...) \\
    static const wp_type *const NAME##_types[] = {__VA_ARGS__}; \\
    static const wp_spec NAME = {REPR, SCALARS, sizeof NAME##_types / 8, NAME##_types};
#define SLOTS(NAME, ...) static const wp_spec *const NAME[] = {__VA_ARGS__};
#define N (1u << WP_NONE)
static const wp_spec I = {'i', 1u << WP_INT, 0, 0}, D = {'d', 1u << WP_FLOAT, 0, 0}, B = {'b', 1u << WP_BOOL, 0, 0};
SPEC(S, 'p', 0, &wp_str_type)
SPEC(Y, 'p', 0, &wp_bytes_type)
SPEC(V, 'v', 31, &wp_str_type, &wp_bytes_type)
#define ARG(k) (arguments[k])
#define POINTER(T, k) ((T *)arguments[k])
#define VERSION(NAME, RESULT, COUNT, ...) \\
    SLOTS(NAME##_arguments, __VA_ARGS__) \\
    const wp_version NAME = {COUNT, NAME##_arguments, &RESULT, NAME##_kernel};
#define KERNEL(NAME) static void NAME##_kernel(int64_t *arguments, int64_t *result)
"""


def load() -> bool:
    """Whether the run time is there; tests are skipped without it."""
    return runtime.load() is not None


@cache
def compiled(source: str) -> Any:
    """The loaded library of a kernel source."""
    assert runtime.load() is not None, runtime.why_not()
    return runtime.load_kernel(runtime.compile_kernel(PRELUDE + source))


def kernel(source: str, name: str = "f") -> Callable[..., Any]:
    """The callable of one version of a source."""
    return runtime.make(compiled(source), name, name)


def addressed(source: str, **objects: object) -> str:
    """The source with the addresses of Python objects, which the caller keeps alive, in the place of $name."""
    for name, value in objects.items():
        source = source.replace(f"${name}", f"((void *){id(value)}ull)")
    return source
