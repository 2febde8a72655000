"""Elementary functions in vectors.  In: functions of libm that a unit calls in loops, and the vectors that the compiler
takes; out: C text that makes each of them one function, whatever the width of the vector it is called for.

    extern f64 exp(f64);   -->   #pragma omp declare simd notinbranch
                                 extern f64 exp(f64) __asm__("weft_exp");
                                 _ZGVeN8v_weft_exp, _ZGVdN4v_weft_exp, ..., weft_exp: all by libmvec's _ZGVeN8v_exp

A compiler cuts a loop into a body in the widest vectors, a rest in narrower ones and single elements. The variants of
libmvec differ in the last place, and from libm: equal elements of one array would get different values, by where they
stand. So every width, and a single element, is a call of the same variant. Where that variant misses results that are
exact (log10 of powers of ten, cbrt of cubes), it is corrected, at all widths alike.
"""

from __future__ import annotations

from string import Template

from weft.records import dataclass

#: What the functions are called in the object file: libm's own names stay libm's.
_PREFIX = "weft_"
#: How libm's own function is called in generated code, for single numbers.
SCALAR = "weft_scalar_"

#: The letters of the vector ABI on x86, their width in bytes and what the processor must have for them.
_WIDTHS = {"b": (16, "__SSE2__"), "c": (32, "__AVX__"), "d": (32, "__AVX2__"), "e": (64, "__AVX512F__")}

#: The vectors of floats, in C.
TYPES = "\n".join(
    f"typedef {real} {real}x{width // size} __attribute__((vector_size({width})));"
    for real, size in (("f32", 4), ("f64", 8))
    for width in (16, 32, 64)
)

# Powers of ten that are normal doubles.
_LEAST, _LARGEST = -307, 308
_TENS = ", ".join(f"1e{k}" for k in range(_LEAST, _LARGEST + 1))

_EXACT_LOG10 = Template(
    f"""static const f64 k_tens_$t[] = {{{_TENS}}};
static $t weft_exact_$name($t x, $t y) {{
  $t whole = __builtin_rint$f(y);
  i32 k = whole >= {_LEAST} && whole <= {_LARGEST} ? (i32)whole : 0;
  return x == ($t)k_tens_$t[k - {_LEAST}] ? ($t)k : y;
}}"""
)


@dataclass(frozen=True)
class _Correction:
    """What makes exact results exact: a function of x and the result y for it.

    `bases` are the variants that need it. `near`: a test, of vectors of x and y, that is 0 in all lanes where no result
    can be exact; without one, every result is corrected.
    """

    bases: str
    text: str
    near: str = ""


#: log10: a whole number where x is that power of ten. cbrt: a step of Newton's method whose residual is computed
#: without rounding, or for float32 in double, so that cubes are exact.
_CORRECTIONS = {
    "log10": _Correction(
        "bd",
        _EXACT_LOG10.substitute(t="f64", name="log10", f=""),
        "(r + 0x1.8p52 - 0x1.8p52 - r) * (r + 0x1.8p52 - 0x1.8p52 - r) < 1e-24",
    ),
    "log10f": _Correction(
        "e",
        _EXACT_LOG10.substitute(t="f32", name="log10f", f="f"),
        "(r + 0x1.8p23f - 0x1.8p23f - r) * (r + 0x1.8p23f - 0x1.8p23f - r) < 1e-9f",
    ),
    "cbrt": _Correction(
        "bde",
        """static inline f64 weft_lost(f64 a, f64 b, f64 product) {
#if __FMA__
  return __builtin_fma(a, b, -product);
#else
  f64 x = 134217729 * a, y = 134217729 * b, c = x - (x - a), d = y - (y - b);
  return c * d - product + c * (b - d) + (a - c) * d + (a - c) * (b - d);
#endif
}
static inline f64 weft_exact_cbrt(f64 x, f64 y) {
  f64 square = y * y, cube = square * y;
  f64 lost = weft_lost(square, y, cube) + weft_lost(y, y, square) * y;
  f64 nearer = y - (cube - x + lost) / (3 * square);
  return __builtin_fabs(x) > 1e-280 && __builtin_fabs(x) < 1e280 ? nearer : y;
}""",
    ),
    "cbrtf": _Correction(
        "bde",
        """static inline f32 weft_exact_cbrtf(f32 x, f32 y) {
  f64 wide = y, nearer = wide - (wide * wide * wide - x) / (3 * wide * wide);
  return __builtin_fabsf(x) > 1e-37f && __builtin_fabsf(x) < 1e37f ? (f32)nearer : y;
}""",
    ),
}


@dataclass(frozen=True)
class _Function:
    """A function of libm with variants in libmvec, for vectors of `real`."""

    name: str
    real: str
    count: int

    def correction(self, base: str) -> _Correction | None:
        found = _CORRECTIONS.get(self.name)
        return found if found is not None and base in found.bases else None

    def lanes(self, letter: str) -> int:
        return _WIDTHS[letter][0] // (4 if self.real == "f32" else 8)

    def vector(self, lanes: int) -> str:
        return f"{self.real}x{lanes}"

    def mangled(self, letter: str, name: str) -> str:
        return f"_ZGV{letter}N{self.lanes(letter)}{'v' * self.count}_{name}"


def even(name: str, real: str, count: int, base: str) -> str:
    """The function `name` for all widths, each by libmvec's variant for vectors of the kind `base`."""
    function = _Function(name, real, count)
    own, correction = _PREFIX + name, function.correction(base)
    parameters = ", ".join([real] * count)
    wide = function.vector(function.lanes(base))
    declared = f'extern {real} {name}({parameters}) __asm__("{own}") __attribute__((const));'
    parts = [
        f"#pragma omp declare simd notinbranch\n{declared}",
        f"extern {wide} {function.mangled(base, name)}({', '.join([wide] * count)}) __attribute__((const));",
        *([correction.text] if correction is not None else []),
        _whole(function, base, wide),
        _lanes(function, "1", own, 1, base),
    ]
    for letter, (_, needed) in _WIDTHS.items():
        text = _lanes(function, letter, function.mangled(letter, own), function.lanes(letter), base)
        parts.append(f"#if {needed}\n{text}\n#endif")
    return "\n".join(parts)


def libm(name: str, real: str, count: int) -> str:
    """libm's own function under another name: `name` is the one for vectors."""
    return f'extern {real} {SCALAR}{name}({", ".join([real] * count)}) __asm__("{name}") __attribute__((const));'


def _arguments(function: _Function) -> list[str]:
    return ["x", "y"][: function.count]


def _whole(function: _Function, base: str, wide: str) -> str:
    """The function of a vector of the base's width: libmvec's, with exact results put right."""
    names = _arguments(function)
    head = f"static inline {wide} weft_whole_{function.name}({', '.join(f'{wide} {name}' for name in names)})"
    call = f"{function.mangled(base, function.name)}({', '.join(names)})"
    correction = function.correction(base)
    if correction is None:
        return f"{head} {{ return {call}; }}"
    lanes = f"for (i32 k = 0; k < {function.lanes(base)}; k++)"
    lines = [f"{wide} r = {call};"]
    if correction.near:
        lines += [f"__typeof__(r < r) near = {correction.near};", "i32 any = 0;", f"{lanes} any |= near[k] != 0;"]
        lines += ["if (!any) return r;"]
    lines += [f"{lanes} r[k] = weft_exact_{function.name}(x[k], r[k]);", "return r;"]
    return head + " {\n  " + "\n  ".join(lines) + "\n}"


def _lanes(function: _Function, letter: str, symbol: str, lanes: int, base: str) -> str:
    """The function for `lanes` elements: copies fill a vector of the base's width, or several of them take parts."""
    full = function.lanes(base)
    plain, wide = function.vector(lanes) if lanes > 1 else function.real, function.vector(full)
    names = _arguments(function)
    local = f"{_PREFIX}{function.name}_{letter}"
    head = f"{plain} {local}({', '.join(f'{plain} {name}' for name in names)})"
    declared = f'static __attribute__((used)) {head} __asm__("{symbol}");'
    if lanes == full:
        return f"{declared}\nstatic {head} {{ return weft_whole_{function.name}({', '.join(names)}); }}"
    if lanes < full:
        copies = full // lanes
        union = f"union {{ {plain} part[{copies}]; {wide} all; }}"
        filled = [f"({union}){{{{{', '.join([name] * copies)}}}}}.all" for name in names]
        result = f"(union {{ {wide} all; {plain} part[{copies}]; }}){{weft_whole_{function.name}({', '.join(filled)})}}"
        return f"{declared}\nstatic {head} {{ return {result}.part[0]; }}"
    pieces = lanes // full
    cut = [f"(union {{ {plain} all; {wide} part[{pieces}]; }}){{{name}}}.part" for name in names]
    calls = [f"weft_whole_{function.name}({', '.join(f'{part}[{k}]' for part in cut)})" for k in range(pieces)]
    joined = f"(union {{ {wide} part[{pieces}]; {plain} all; }}){{{{{', '.join(calls)}}}}}.all"
    return f"{declared}\nstatic {head} {{ return {joined}; }}"
