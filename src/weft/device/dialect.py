"""The languages of devices.  Kernels are written once, in the C that they share; a `Dialect` is what differs: the head
of a kernel, where memory is, how work-items know their number, and the names of built-in functions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from string import Template

from weft.device.plan import Argument, Kernel, Mapping, Source
from weft.records import dataclass

#: Lanes of a work-group that shares the vector loops of one iteration.  A constant: sums must not depend on the device.
LANES = 64
#: Work-items of a group along the innermost and the next dimension of a rectangle of loops.
TILE = (64, 4)
#: Groups that a launch is to have at least, if fewer work-items make a group, but not fewer than `LEAST_ITEMS`.
MANY_GROUPS, LEAST_ITEMS = 128, 64
#: Neighbours that a device runs in step: they touch memory together.
TOGETHER = 32
#: Rows and columns of the block of a matrix product that one work-group computes, and terms in local memory at a time.
BLOCK = (32, 64, 16)
#: Work-items of such a group, along columns and rows.
ITEMS = (16, 8)
#: Rows and columns of the block that one work-item computes where there are no barriers.
ALONE = (4, 16)
#: Variables of the kernel's own, beside the user's.
FLAG, LANE, GROUP, BARRIER = "k_flag", "k_lane", "k_group", "k_barrier"

#: Functions of C's mathematics library that both dialects have, under one name for all types.
_MATHS = tuple(
    """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 fmod hypot lgamma log log10 log1p
    log2 nextafter pow remainder sin sinh tan tanh tgamma""".split()  # noqa: SIM905
)
_BUILTINS = ("ldexp", "frexp", "fma")
#: Those that are one instruction of a processor.
_INSTRUCTIONS = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint")
#: A driver for a processor that is made of clang, which knows these by C's names.
_IS_CLANG = "defined(__has_builtin) && (defined(__SSE4_1__) || defined(__aarch64__))"

#: Integer products that leave 64 bits, from the upper half of the product.
_OVERFLOW = """
static inline i32 k_mul_overflow(i64 a, i64 b, i64 *r) {
  i64 low = (i64)((u64)a * (u64)b);
  *r = low;
  return $high(a, b) != (low >> 63);
}
#define __builtin_mul_overflow(a, b, r) k_mul_overflow(a, b, r)
#define __builtin_expect(x, y) (x)
"""


@dataclass(frozen=True)
class Dialect:
    """One language.  `kernel`, `memory` and `local` stand before a kernel, a pointer to device memory and a variable
    that a work-group shares; `function` before a helper function; `prelude` before everything."""

    name: str
    kernel: str
    memory: str
    local: str
    function: str
    restrict: str
    prelude: str
    double: str
    long_suffix: str
    #: Names that no variable may have.
    reserved: frozenset[str]

    def unit(self, helpers: str, kernels: Sequence[Kernel]) -> str:
        """The text of all kernels of a plan, with what they all begin with."""
        text = self.text(helpers, kernels)
        # A device without float64 does not even take the names of its types.
        return "\n".join((self.double if uses_double(text) else "", self.prelude, text))

    def text(self, helpers: str, kernels: Sequence[Kernel]) -> str:
        """The kernels of a plan alone."""
        return "\n".join((self._adapted(helpers), *map(self._kernel, kernels)))

    def _adapted(self, text: str) -> str:
        """Text in the shared C as this language has it: storage of functions, suffixes of literals."""
        text = re.sub(r"^static (inline )?", self.function, text, flags=re.MULTILINE)
        return re.sub(r"\b(\d+|0x[0-9a-fA-F]+)(U?)LL\b", rf"\g<1>\g<2>{self.long_suffix}", text)

    def _kernel(self, kernel: Kernel) -> str:
        head = ", ".join(map(self._parameter, kernel.arguments))
        body = self._adapted(kernel.body).replace("K_LOCAL ", self.local).replace("K_MEMORY ", self.memory)
        place = f"/* {kernel.span.file.rpartition('/')[2]}:{kernel.span.line} */\n" if kernel.span.line > 0 else ""
        return f"{place}{self.kernel} {kernel.name}({head}) {{\n{body}}}\n"

    def _parameter(self, argument: Argument) -> str:
        if argument.source in (Source.MEMORY, Source.SCRATCH, Source.FLAG):
            return f"{self.memory}{argument.type} *{self.restrict} {argument.variable}"
        return f"{argument.type} {argument.variable}"


def uses_double(text: str) -> bool:
    """Whether kernels compute with float64."""
    return re.search(r"\b(f64|c128)\b", text) is not None


def _mapped(names: Sequence[str], suffixed: bool) -> str:
    """Macros that lead from C's names to those of the dialect; float32 has no suffix where functions are overloaded.

    On a processor whose driver is made of clang, C's names stay for what is one instruction: calls of the driver's own
    functions would keep loops from becoming vectors.
    """
    f = "f" if suffixed else ""

    def macros(builtins: Sequence[str]) -> list[str]:
        return [f"#define __builtin_{name}{s} {name}{s and f}" for name in builtins for s in ("", "f")]

    lines = macros(_INSTRUCTIONS)
    for suffix, real in (("", "f64"), ("f", "f32")):  # literals among the operands must choose no other function
        name = f"copysign{suffix and f}"
        lines.append(f"#define __builtin_copysign{suffix}(x, y) {name}(({real})(x), ({real})(y))")
    if not suffixed:
        lines = [f"#if !({_IS_CLANG})", *lines, "#endif", *(f"#define {name}f {name}" for name in names)]
    lines += macros(_BUILTINS)
    return "\n".join(lines)


_OPENCL_DOUBLE = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64; typedef double2 c128;
#define make_c128(re, im) ((double2)((f64)(re), (f64)(im)))
"""

_OPENCL_PRELUDE = """#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef uchar b8; typedef float f32; typedef float2 c64;
#define make_c64(re, im) ((float2)((f32)(re), (f32)(im)))
#define weft_scalar_hypot hypot
#define weft_scalar_hypotf hypotf
#define weft_scalar_pow pow
#define weft_scalar_powf powf
#define __builtin_nan(s) as_double(0x7ff8000000000000UL)
#define __builtin_nanf(s) as_float(0x7fc00000U)
#define __builtin_inf() as_double(0x7ff0000000000000UL)
#define __builtin_inff() as_float(0x7f800000U)
#define __builtin_isnan(x) ((x) != (x))
#define __builtin_popcountll(x) popcount((u64)(x))
#define k_item(d) ((i64)get_global_id(d))
#define k_group ((i64)get_group_id(0))
#define k_lane ((i64)get_local_id(0))
#define k_local(d) ((i64)get_local_id(d))
#define k_block(d) ((i64)get_group_id(d))
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define k_atomic_add_i32(p, v) atomic_add((volatile __global i32 *)(p), (i32)(v))
#define k_atomic_add_u32(p, v) atomic_add((volatile __global u32 *)(p), (u32)(v))
#define k_atomic_add_i64(p, v) atom_add((volatile __global i64 *)(p), (i64)(v))
#define k_atomic_add_u64(p, v) atom_add((volatile __global u64 *)(p), (u64)(v))
#define k_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
"""

_CUDA_DOUBLE = """typedef double f64; typedef double2 c128;
#define make_c128(re, im) make_double2((f64)(re), (f64)(im))
"""

_CUDA_PRELUDE = """#pragma nv_diag_suppress 186  // helpers are templates: some compare unsigned numbers with 0
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef unsigned char b8; typedef float f32; typedef float2 c64;
#define make_c64(re, im) make_float2((f32)(re), (f32)(im))
#define weft_scalar_hypot hypot
#define weft_scalar_hypotf hypotf
#define weft_scalar_pow pow
#define weft_scalar_powf powf
#define __builtin_nan(s) __longlong_as_double(0x7ff8000000000000LL)
#define __builtin_nanf(s) __int_as_float(0x7fc00000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_isnan(x) ((x) != (x))
#define __builtin_popcountll(x) __popcll((u64)(x))
#define __builtin_memcpy memcpy
#define k_item(d) ((i64)((d) == 0 ? blockIdx.x * (u64)blockDim.x + threadIdx.x \\
  : (d) == 1 ? blockIdx.y * (u64)blockDim.y + threadIdx.y : blockIdx.z * (u64)blockDim.z + threadIdx.z))
#define k_group ((i64)blockIdx.x)
#define k_lane ((i64)threadIdx.x)
#define k_local(d) ((i64)((d) == 0 ? threadIdx.x : (d) == 1 ? threadIdx.y : threadIdx.z))
#define k_block(d) ((i64)((d) == 0 ? blockIdx.x : (d) == 1 ? blockIdx.y : blockIdx.z))
#define k_atomic_add_i32(p, v) atomicAdd((i32 *)(p), (i32)(v))
#define k_atomic_add_u32(p, v) atomicAdd((u32 *)(p), (u32)(v))
#define k_atomic_add_i64(p, v) atomicAdd((u64 *)(p), (u64)(v))
#define k_atomic_add_u64(p, v) atomicAdd((u64 *)(p), (u64)(v))
#define k_barrier() __syncthreads()
"""

_OPENCL_WORDS = """kernel global local constant private half bool uchar ushort uint ulong size_t barrier popcount
as_double as_float min max clamp sign mix step dot cross select abs rotate mad fma mul_hi image2d_t sampler_t event_t"""
_CUDA_WORDS = """threadIdx blockIdx blockDim gridDim warpSize min max abs bool class new delete template this operator
private public protected virtual friend namespace using try catch throw typename and or not xor true false"""

OPENCL = Dialect(
    name="OpenCL C",
    kernel="__kernel void",
    memory="__global ",
    local="__local ",
    function="static inline ",
    restrict="restrict",
    double=_OPENCL_DOUBLE,
    prelude=_OPENCL_PRELUDE + _mapped(_MATHS, False) + Template(_OVERFLOW).substitute(high="mul_hi"),
    long_suffix="L",
    reserved=frozenset(_OPENCL_WORDS.split()),
)

CUDA = Dialect(
    name="CUDA C",
    kernel='extern "C" __global__ void',
    memory="",
    local="__shared__ ",
    function="inline __device__ ",
    restrict="__restrict__",
    double=_CUDA_DOUBLE,
    prelude=_CUDA_PRELUDE
    + _mapped(_MATHS, True)
    + Template(_OVERFLOW).substitute(high="__mul64hi").replace("static inline", "inline __device__"),
    long_suffix="LL",
    reserved=frozenset(_CUDA_WORDS.split()),
)

DIALECTS = {dialect.name: dialect for dialect in (OPENCL, CUDA)}


def launch_shape(kernel: Kernel, counts: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """All work-items of a launch and those of one group, innermost dimension first, for loops of these lengths."""
    group = group_shape(kernel)
    if kernel.mapping is Mapping.BLOCKS:
        *batch, rows, columns = counts
        blocks = (-(-columns // BLOCK[1]), -(-rows // BLOCK[0]), *batch)
        return tuple(count * size for count, size in zip(blocks, group)), group
    if kernel.mapping is Mapping.ITEMS:
        if kernel.item != (1, 1):
            *batch, rows, columns = counts
            return (-(-columns // kernel.item[1]), -(-rows // kernel.item[0]), *batch), (1,) * len(counts)
        group = fitted(tuple(reversed(counts))) if is_fitted(kernel) else group
        return tuple(-(-count // size) * size for count, size in zip(reversed(counts), group)), group
    return (group[0] * (counts[0] if counts else 1),), group


def is_fitted(kernel: Kernel) -> bool:
    """Whether the sizes of a call decide about groups: the text of the kernel does not know their shape."""
    return kernel.mapping is Mapping.ITEMS and kernel.item == (1, 1) and not kernel.local_bytes and not kernel.group


def fitted(counts: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a group for a rectangle of iterations, innermost dimension first: the one that costs least.

    Work-items beyond the end of a loop cost as much as others.  So do those that run in step and are in several rows,
    for each row: their elements are apart in memory, unless a group takes whole rows.
    """
    most = TILE[0] * TILE[1]
    while most > LEAST_ITEMS and math.prod(counts) < MANY_GROUPS * most:
        most //= 2
    width, rows = counts[0], math.prod(counts[1:2])
    shapes: list[tuple[int, int]] = []
    for exponent in range(most.bit_length()):
        across = 1 << exponent
        shapes.append((across, min(most // across, 1 << (rows - 1).bit_length()) if len(counts) > 1 else 1))

    def price(shape: tuple[int, int]) -> tuple[float, int]:
        across, down = shape
        started = max(-(-width // across) * across * (-(-rows // down) * down), int(1.05 * width * rows))
        apart = 1.0 if across >= min(width, TOGETHER) else TOGETHER / across
        # Groups of few work-items leave a device's units without work.
        few = max(TOGETHER / (across * down), 1.0)
        return started * apart * few, -across * down

    best = min(shapes, key=price)
    return best[: len(counts)] + (1,) * (len(counts) - 2)


def group_shape(kernel: Kernel) -> tuple[int, ...]:
    """The work-items of one group, along the dimensions of the launch (innermost first)."""
    if kernel.group:
        return kernel.group
    if kernel.mapping is Mapping.BLOCKS:
        return (*ITEMS, 1) if len(kernel.grid) == 3 else ITEMS
    if kernel.mapping in (Mapping.SINGLE, Mapping.CHUNKS):
        return (1,)
    if kernel.mapping is Mapping.GROUPS:
        return (kernel.lanes,)
    rank = len(kernel.grid)
    return (TILE[0] * TILE[1],) if rank == 1 else (*TILE, *(1,) * (rank - 2))
