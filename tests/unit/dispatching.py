"""What the tests of dispatchers and of the thread pool share: functions made of a small C kernel, and functions whose
misses are visible. Kernels are C texts written for one test each.
"""

import types
from typing import Any

import numpy as np
import pytest

from weft.runtime import dispatch, interpreted, toolchain
from weft.runtime.descriptor import (
    NoneResult,
    Signature,
    Version,
    result_base,
)

CORE = dispatch.load_core()
native = pytest.mark.skipif(CORE is None, reason="the native core cannot be built here")

PRELUDE = """
typedef long long int64_t;
typedef struct weft_rt {
    int64_t version;
    void *(*new_array)(int64_t *w, int64_t slot, int64_t typenum, int64_t rank, const int64_t *shape, int64_t zero);
    void *(*alloc)(int64_t bytes);
    void (*release)(void *p);
    void (*parallel)(void (*fn)(void *, int64_t, int64_t, int64_t), void *ctx, int64_t n, int64_t tasks);
    int64_t (*threads)(void);
    int64_t (*poll)(void);
    int64_t blas_ilp64;
    void *sgemm, *dgemm, *cgemm, *zgemm, *sgemv, *dgemv, *cgemv, *zgemv, *sdot, *ddot, *sger, *dger, *ssyrk, *dsyrk,
        *strsm, *dtrsm;
} weft_rt;
#define REAL(word) (((union { int64_t i; double d; }){.i = (word)}).d)
#define BITS(real) (((union { double d; int64_t i; }){.d = (real)}).i)
"""

F64 = np.dtype(np.float64).num
I64 = np.dtype(np.int64).num
MISSED = object()


class Missed(Exception):
    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> None:
        super().__init__(f"no version for this call (status {status})")
        self.call = (args, kwargs, status)


def function_type(base: Any) -> Any:
    class Function(base):
        def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
            raise Missed(args, kwargs, status)

    return Function


BASES = [pytest.param(interpreted.Dispatcher, id="interpreted")]
if CORE is not None:
    BASES.append(pytest.param(dispatch.dispatcher_type(), id="native"))


def kernel_function(body: str, params: tuple[Any, ...], *returns: Any, names: str = "abcdefgh", **fields: Any) -> Any:
    """A dispatcher with one native version; `B` in the body is the offset of the first result word."""
    compiler = toolchain.find()
    assert compiler is not None
    base = result_base(params, fields.get("hidden", ()))
    source = f"{PRELUDE}\n#define B {base}\nint64_t kernel(const weft_rt *rt, int64_t *w) {{\n{body}\n}}\n"
    if "helpers" in fields:
        source = source.replace("int64_t kernel(", fields.pop("helpers") + "\nint64_t kernel(", 1)
    kernel = dispatch.load_kernel(compiler.build_shared(source, name="test"))
    function = function_type(dispatch.dispatcher_type())(Signature(tuple(names[: len(params)])))
    function.add_version(
        Version(params, returns or (NoneResult(),), kernel.address, words=base + 40, keepalive=kernel, **fields)
    )
    return function


def accepts(base: Any, params: tuple[Any, ...], *values: Any, hidden: tuple[Any, ...] = ()) -> bool:
    """Whether a version with a Python body takes the call."""
    function = function_type(base)(Signature(tuple(f"p{i}" for i in range(len(params)))))
    function.add_version(Version(params, (), lambda *given: given, hidden=hidden))
    try:
        given = function(*values)
    except Missed:
        return False
    assert all(left is right for left, right in zip(given, values))
    return True


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


class Model:
    def __init__(self) -> None:
        self.array = np.arange(3.0)
        self.inner = types.SimpleNamespace(step=0.5)

    @property
    def broken(self) -> float:
        raise ValueError("no such thing")


def cell_of(value: Any) -> types.CellType:
    return types.CellType(value)
