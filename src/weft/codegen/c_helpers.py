"""The helper functions of generated C, as templates.  In: a helper's name and the dtype it is for; out: its C text and
what else that text needs.  Only helpers in use reach a translation unit: each is one `static inline` function.

In a template $t is the element type, $u the unsigned type arithmetic is done in, $b its width in bits, $r the type of a
real part and $f the suffix of C library names; a type's code (i64, f32, ...) is its C name as well, see PRELUDE.
"""

from __future__ import annotations

from string import Template

from weft.ir.types import DType
from weft.records import dataclass

PRELUDE = """
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef unsigned char b8; typedef float f32; typedef double f64;
typedef float _Complex c64; typedef double _Complex c128;
typedef struct weft_rt {
  i64 version;
  void *(*new_array)(i64 *w, i64 slot, i64 typenum, i64 rank, const i64 *shape, i64 zero);
  void *(*alloc)(i64 bytes);
  void (*release)(void *p);
  void (*parallel)(void (*body)(void *, i64, i64, i64), void *context, i64 n, i64 tasks);
  i64 (*threads)(void);
  i64 (*poll)(void);
  i64 blas_ilp64;
  void *sgemm, *dgemm, *cgemm, *zgemm, *sgemv, *dgemv, *cgemv, *zgemv, *sdot, *ddot, *sger, *dger;
  void *ssyrk, *dsyrk, *strsm, *dtrsm;
  i64 (*routine)(void *const *routine, char **arguments, const i64 *sizes, const i64 *steps);
  f64 limits[16];
  i64 (*stack_floor)(void);
  const struct weft_rt *alone;
} weft_rt;
"""

#: What the C name of a type is (bool elements are bytes).
C_TYPE: dict[DType, str] = {dtype: "b8" if dtype is DType.BOOL else dtype.value for dtype in DType}


@dataclass(frozen=True)
class Helper:
    """A function template for the dtypes of `kinds`; `needs` names other helpers, `library` functions of libm."""

    kinds: str
    text: str
    needs: tuple[str, ...] = ()
    library: tuple[str, ...] = ()


_INTEGER: dict[str, Helper | tuple[Helper, ...]] = {
    # NumPy: division by zero is 0, the most negative number by -1 wraps.
    "floordiv": (
        Helper(
            "i",
            """static inline $t floordiv_$t($t a, $t b) {
  if (b == 0) return 0;
  if (b == -1) return ($t)(0 - ($u)a);
  $t q = ($t)(a / b);
  return ($t)(q - ((a % b != 0) & ((a < 0) != (b < 0))));
}""",
        ),
        Helper("u", "static inline $t floordiv_$t($t a, $t b) { return b == 0 ? 0 : ($t)(a / b); }"),
    ),
    "mod": (
        Helper(
            "i",
            """static inline $t mod_$t($t a, $t b) {
  if (b == 0 || b == -1) return 0;
  $t r = ($t)(a % b);
  return r != 0 && (r < 0) != (b < 0) ? ($t)(r + b) : r;
}""",
        ),
        Helper("u", "static inline $t mod_$t($t a, $t b) { return b == 0 ? 0 : ($t)(a % b); }"),
    ),
    "fmod": Helper(
        "iu", "static inline $t fmod_$t($t a, $t b) { return b == 0 || b == ($t)-1 && ($t)-1 < 0 ? 0 : ($t)(a % b); }"
    ),
    "pow": Helper(
        "iu",
        """static inline $t pow_$t($t a, $t b) {
  if (b < 0) return 0;
  $u r = 1, p = ($u)a;
  for (u64 n = (u64)b; n; n >>= 1, p *= p) if (n & 1) r *= p;
  return ($t)r;
}""",
    ),
    "abs": Helper("i", "static inline $t abs_$t($t a) { return a < 0 ? ($t)(0 - ($u)a) : a; }"),
    # An index that counts from the end if it is negative.
    "wrapped": Helper(
        "i", "static inline $t wrapped_$t($t a, $t n) { return ($t)(($u)a + (($u)n & ($u)(a >> ($b - 1)))); }"
    ),
    # The numbers of 32 bits, taken without a sign, that are at least 0 and less than n are those below this.
    "reach": Helper(
        "i", "static inline u32 reach_$t($t n) { return n < 0 ? 0 : n > 0x7fffffff ? 0x80000000U : (u32)n; }"
    ),
    "signbit": Helper("i", "static inline i32 signbit_$t($t a) { return a < 0; }"),
    "sign": Helper("iu", "static inline $t sign_$t($t a) { return ($t)((a > 0) - (a < 0)); }"),
    # The count is compared unsigned, so that a negative one is too large as well.
    "shl": Helper("iu", "static inline $t shl_$t($t a, i64 b) { return (u64)b < $b ? ($t)(($u)a << b) : 0; }"),
    "shr": (
        Helper("i", "static inline $t shr_$t($t a, i64 b) { return (u64)b < $b ? ($t)(a >> b) : ($t)-(a < 0); }"),
        Helper("u", "static inline $t shr_$t($t a, i64 b) { return (u64)b < $b ? ($t)(a >> b) : 0; }"),
    ),
    "ugcd": Helper(
        "iu",
        """static inline $u ugcd_$t($t a, $t b) {
  $u x = a < 0 ? 0 - ($u)a : ($u)a, y = b < 0 ? 0 - ($u)b : ($u)b;
  while (y) { $u z = x % y; x = y; y = z; }
  return x;
}""",
    ),
    "bitcount": Helper(
        "iu", "static inline $t bitcount_$t($t a) { return ($t)__builtin_popcountll(a < 0 ? 0 - ($u)a : ($u)a); }"
    ),
    # A choice without a jump: gcc makes a branch of most others, and has no way to be told that nobody can guess it.
    "moved": Helper(
        "i",
        """static inline i64 moved_$t(i64 c, i64 a, i64 b) {
#if defined(__x86_64__) && !defined(__CUDACC__)
  __asm__("test %1,%1\\n\\tcmovne %2,%0" : "+r"(b) : "r"(c), "r"(a) : "cc");
  return b;
#else
  return b ^ ((a ^ b) & -(i64)(c != 0));
#endif
}""",
    ),
    # Python rounds a quotient of integers once. Beyond 53 bits: its first 64 bits or more, the last one set if anything
    # is left over, so that the conversion rounds as it would the true quotient.
    "ratio": Helper(
        "i",
        """static double ratio_far_$t(i64 a, i64 b) {
  u64 x = a < 0 ? 0 - (u64)a : (u64)a, y = b < 0 ? 0 - (u64)b : (u64)b;
  if (!x || !y) return (double)a / (double)b;
#if defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
  int up = __builtin_clzll(x);
  unsigned __int128 wide = (unsigned __int128)(x << up) << 64, q = wide / y;
  q |= wide % y != 0;
  double r = (double)q * 0x1p-64 / (double)((u64)1 << up);
#else
  u64 q = x / y, rest = x % y, up = 0;
  for (; !(q >> 62); up++) {
    u64 bit = rest >= y - rest;
    rest = bit ? rest - (y - rest) : rest + rest;
    q = q + q + bit;
  }
  double r = __builtin_ldexp((double)(q | (rest != 0)), -(int)up);
#endif
  return (a < 0) != (b < 0) ? -r : r;
}
static inline double ratio_$t($t a, $t b) {
  const i64 most = (i64)1 << 53;
  if (__builtin_expect(a <= most && a >= -most && b <= most && b >= -most, 1)) {
    double x = (double)a; /* and not -0.0: see whole */
    return (x + 0) / (double)b;
  }
  return ratio_far_$t(a, b);
}""",
    ),
    "gcd": Helper("iu", "static inline $t gcd_$t($t a, $t b) { return ($t)ugcd_$t(a, b); }", needs=("ugcd",)),
    "lcm": Helper(
        "iu",
        """static inline $t lcm_$t($t a, $t b) {
  $u g = ugcd_$t(a, b), x = a < 0 ? 0 - ($u)a : ($u)a, y = b < 0 ? 0 - ($u)b : ($u)b;
  return g == 0 ? 0 : ($t)(x / g * y);
}""",
        needs=("ugcd",),
    ),
}

# A Python integer is 64 bits wide here; going beyond sets a flag that is looked at before anything leaves the function.
# Sums and differences show it in their signs, which vectors have instructions for.
_CHECKED: dict[str, Helper | tuple[Helper, ...]] = {
    "add_checked": Helper(
        "i",
        """static inline i64 add_checked_i64(i64 a, i64 b, i64 *o) {
  i64 r = (i64)((u64)a + (u64)b);
  *o |= (i64)((u64)((a ^ r) & (b ^ r)) >> 63);
  return r;
}""",
    ),
    "sub_checked": Helper(
        "i",
        """static inline i64 sub_checked_i64(i64 a, i64 b, i64 *o) {
  i64 r = (i64)((u64)a - (u64)b);
  *o |= (i64)((u64)((a ^ b) & (a ^ r)) >> 63);
  return r;
}""",
    ),
    "mul_checked": Helper(
        "i",
        """static inline i64 mul_checked_i64(i64 a, i64 b, i64 *o) {
  i64 r;
  *o |= __builtin_mul_overflow(a, b, &r);
  return r;
}""",
    ),
    # factor * a + term, if a is in [low, low + span]
    "line_checked": Helper(
        "i",
        """static inline i64 line_checked_i64(i64 a, i64 factor, i64 term, i64 low, u64 span, i64 *o) {
  *o |= (u64)a - (u64)low > span;
  return (i64)((u64)a * (u64)factor + (u64)term);
}""",
    ),
    "neg_checked": Helper(
        "i",
        """static inline i64 neg_checked_i64(i64 a, i64 *o) {
  i64 r = (i64)(0 - (u64)a);
  *o |= (i64)((u64)(a & r) >> 63);
  return r;
}""",
    ),
    "abs_checked": Helper(
        "i",
        "static inline i64 abs_checked_i64(i64 a, i64 *o) { return a < 0 ? neg_checked_i64(a, o) : a; }",
        ("neg_checked",),
    ),
    "floordiv_checked": Helper(
        "i",
        """static inline i64 floordiv_checked_i64(i64 a, i64 b, i64 *o) {
  if (b == -1) return neg_checked_i64(a, o);
  return floordiv_i64(a, b);
}""",
        needs=("floordiv", "neg_checked"),
    ),
    "pow_checked": Helper(
        "i",
        """static inline i64 pow_checked_i64(i64 a, i64 b, i64 *o) {
  if (b < 0) return 0;
  i64 r = 1, p = a;
  for (i64 n = b; n;) {
    if (n & 1) *o |= __builtin_mul_overflow(r, p, &r);
    n >>= 1;
    if (n) *o |= __builtin_mul_overflow(p, p, &p);
  }
  return r;
}""",
    ),
    "shl_checked": Helper(
        "i",
        """static inline i64 shl_checked_i64(i64 a, i64 b, i64 *o) {
  if ((u64)b > 63) { *o |= a != 0; return 0; }
  i64 r = (i64)((u64)a << b);
  *o |= (r >> b) != a;
  return r;
}""",
    ),
    "gcd_checked": Helper(
        "i",
        "static inline i64 gcd_checked_i64(i64 a, i64 b, i64 *o) { i64 r = gcd_i64(a, b); *o |= r < 0; return r; }",
        needs=("gcd",),
    ),
    "lcm_checked": Helper(
        "i",
        """static inline i64 lcm_checked_i64(i64 a, i64 b, i64 *o) {
  if (a == 0 || b == 0) return 0;
  i64 g = gcd_checked_i64(a, b, o), r;
  *o |= __builtin_mul_overflow(a / g, b, &r);
  return abs_checked_i64(r, o);
}""",
        needs=("gcd_checked", "abs_checked"),
    ),
    # int(x) of a float: the comparison is false for a NaN too.
    # One test tells NaN, too; of -2**63 it says too much: Python repeats that call.  The conversions of x86 give that
    # number for all that does not fit.
    "int_checked": Helper(
        "f",
        """static inline i64 int_checked_$t($t x, i64 *o) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__)
  i64 r = (i64)x;
  *o |= r == -9223372036854775807LL - 1;
  return r;
#endif
  i64 fits = __builtin_fabs$f(x) < ($t)9223372036854775808.0;
  *o |= !fits;
  return (i64)(fits ? x : ($t)0);
}""",
    ),
    "int_checked_from": Helper(
        "u", "static inline i64 int_checked_from_$t($t x, i64 *o) { *o |= x > 9223372036854775807ULL; return (i64)x; }"
    ),
}

_FLOAT: dict[str, Helper | tuple[Helper, ...]] = {
    # Floor division from the exact remainder, so that the quotient never lands on the wrong side of an integer.
    "floordiv": Helper(
        "f",
        """static inline $t floordiv_$t($t a, $t b) {
  if (b == 0) return a / b;
  $t m = fmod$f(a, b), d = (a - m) / b;
  if (m != 0 && (b < 0) != (m < 0)) d -= 1;
  if (d == 0) return __builtin_copysign$f(0, a / b);
  $t q = __builtin_floor$f(d);
  return d - q > ($t)0.5 ? q + 1 : q;
}""",
        library=("fmod",),
    ),
    "mod": Helper(
        "f",
        """static inline $t mod_$t($t a, $t b) {
  $t m = fmod$f(a, b);
  if (b == 0) return m;
  if (m == 0) return __builtin_copysign$f(0, b);
  return (b < 0) != (m < 0) ? m + b : m;
}""",
        library=("fmod",),
    ),
    "sign": Helper("f", "static inline $t sign_$t($t a) { return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a; }"),
    "isinf": Helper("f", "static inline i32 isinf_$t($t a) { return __builtin_fabs$f(a) == __builtin_inf$f(); }"),
    "isfinite": Helper("f", "static inline i32 isfinite_$t($t a) { return __builtin_fabs$f(a) < __builtin_inf$f(); }"),
    "signbit": Helper("f", "static inline i32 signbit_$t($t a) { return __builtin_copysign$f(1, a) < 0; }"),
    "square": Helper("f", "static inline $t square_$t($t a) { return a * a; }"),
    "cube": Helper("f", "static inline $t cube_$t($t a) { return a * a * a; }"),
    "fourth": Helper("f", "static inline $t fourth_$t($t a) { $t s = a * a; return s * s; }"),
    # Python's own floats to small whole powers have the bits of libm's pow, which is within 0.53 of a unit in the last
    # place: a product in twice the precision is the same number unless it lies near the middle between two floats.
    **{
        f"own_{name}": Helper(
            "f",
            f"""static inline $t own_{name}_$t($t a) {{
#ifdef __FMA__
{products}
  if (r == r + t * ($t)1.08) return r;
#endif
  return weft_scalar_pow$f(a, {exponent});
}}""",
            library=("weft_scalar_pow",),
        )
        for name, exponent, products in (
            ("square", 2, "  $t r = a * a, t = __builtin_fma$f(a, a, -r);"),
            (
                "cube",
                3,
                """  $t s = a * a, e = __builtin_fma$f(a, a, -s), q = s * a;
  $t d = __builtin_fma$f(e, a, __builtin_fma$f(s, a, -q)), r = q + d, t = (q - r) + d;""",
            ),
            (
                "fourth",
                4,
                """  $t s = a * a, e = __builtin_fma$f(a, a, -s), q = s * s;
  $t d = __builtin_fma$f(2 * e, s, __builtin_fma$f(s, s, -q)), r = q + d, t = (q - r) + d;""",
            ),
            ("inverse", -1, "  $t r = 1 / a, t = r * __builtin_fma$f(-r, a, 1);"),
        )
    },
    # gcc takes 0.0 - (double)i, where it is written like that, for -(double)i: -0.0 where i is 0.
    "difference": Helper("f", "static inline $t difference_$t($t a, $t b) { return a - b; }"),
    # Python's math.hypot: squares and their sum in twice the precision, so that only the last step rounds.
    "product_error": Helper(
        "f",
        """static inline f64 product_error_$t(f64 a, f64 b, f64 p) {
#ifdef __FMA__
  return __builtin_fma(a, b, -p);
#else
  f64 x = a * 134217729.0, y = b * 134217729.0;
  f64 ah = x - (x - a), al = a - ah, bh = y - (y - b), bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}""",
    ),
    "norm3": Helper(
        "f",
        """static inline $t norm3_$t($t a_, $t b_, $t c_) {
  f64 a = __builtin_fabs(a_), b = __builtin_fabs(b_), c = __builtin_fabs(c_);
  f64 m = a < b ? b : a, scale = 1;
  m = m < c ? c : m;
  if (a == __builtin_inf() || b == __builtin_inf() || c == __builtin_inf()) return __builtin_inf();
  if (a != a || b != b || c != c) return a + b + c;
  if (m == 0) return 0;
  if (m > 1e15 || m < 1e-8) {
    i32 e;
    __builtin_frexp(m, &e);
    scale = __builtin_ldexp((f64)1, e < -1000 ? -1000 : e > 1000 ? 1000 : e);
    a /= scale, b /= scale, c /= scale;
  }
  f64 p = a * a, q = b * b, r = c * c, s = p + q, v = s - p, d = (p - (s - v)) + (q - v);
  f64 t = s + r, w = t - s;
  d += (s - (t - w)) + (r - w) + product_error_$t(a, a, p) + product_error_$t(b, b, q) + product_error_$t(c, c, r);
  f64 h = __builtin_sqrt(t), g = h * h;
  return ($t)((h + (((t - g) - product_error_$t(h, h, g)) + d) / (2 * h)) * scale);
}""",
        needs=("product_error",),
    ),
    "norm2": Helper("f", "static inline $t norm2_$t($t a, $t b) { return norm3_$t(a, b, 0); }", needs=("norm3",)),
    # Beyond a few thousand every result is 0 or infinite: the exponent need not fit an int.
    "ldexp": Helper(
        "f",
        """static inline $t ldexp_$t($t a, $t b) {
  return __builtin_ldexp$f(a, (i32)(b > 5000 ? 5000 : b < -5000 ? -5000 : b));
}""",
    ),
    "mantissa": Helper("f", "static inline $t mantissa_$t($t a) { i32 e; return __builtin_frexp$f(a, &e); }"),
    "exponent": Helper(
        "f",
        "static inline $t exponent_$t($t a) { i32 e = 0; __builtin_frexp$f(a, &e); return isfinite_$t(a) ? e : 0; }",
        ("isfinite",),
    ),
    # At a pole Python raises: the value is then NaN, where C has an infinity.
    "gamma": Helper(
        "f",
        """static inline $t gamma_$t($t a) {
  return a <= 0 && __builtin_floor$f(a) == a ? __builtin_nan$f("") : tgamma$f(a);
}""",
        library=("tgamma",),
    ),
    "lgamma": Helper(
        "f",
        """static inline $t lgamma_$t($t a) {
  return a <= 0 && a > -__builtin_inf$f() && __builtin_floor$f(a) == a ? __builtin_nan$f("") : lgamma$f(a);
}""",
        library=("lgamma",),
    ),
    # Above the signed range by way of the signed conversion: the answer of every x86 processor, vector units included.
    "unsigned": Helper(
        "f",
        """static inline u64 unsigned_$t($t x) {
  const $t middle = ($t)9223372036854775808.0;
  return x >= middle ? (u64)(i64)(x - middle) ^ 9223372036854775808ULL : (u64)(i64)x;
}""",
    ),
    # A rounding that stays: gcc 12 takes (f64)(f32)x of two neighbours for x (its pass over vector constructors).
    "rounded": Helper(
        "f",
        """static inline f32 rounded_$t($t x) {
  f32 y = (f32)x;
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__)
  __asm__("" : "+x"(y));
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__aarch64__)
  __asm__("" : "+w"(y));
#endif
  return y;
}""",
    ),
    # Not -0.0: gcc 12 takes ($t)(i64)x for trunc(x), which is -0.0 between -1 and 0.
    "whole": Helper("f", "static inline $t whole_$t(i64 k) { $t x = ($t)k; return x + 0; }"),
    "bits": Helper("f", "static inline i64 bits_$t($t x) { f64 d = x; i64 w; __builtin_memcpy(&w, &d, 8); return w; }"),
    "unbits": Helper("f", "static inline $t unbits_$t(i64 w) { f64 d; __builtin_memcpy(&d, &w, 8); return ($t)d; }"),
}

# Two choices one after the other: gcc makes an instruction of the first and a blend of the second.  With both tests in
# one choice, a chain of these functions (clip) becomes branches, and its loop is not vectorised.
_ORDER: dict[str, Helper | tuple[Helper, ...]] = {
    "minimum": (
        Helper("iu", "static inline $t minimum_$t($t a, $t b) { return a < b ? a : b; }"),
        Helper("f", "static inline $t minimum_$t($t a, $t b) { $t m = a < b ? a : b; return a != a ? a : m; }"),
        Helper(
            "c",
            "static inline $t minimum_$t($t a, $t b) { return le_$t(a, b) || isnan_$t(a) ? a : b; }",
            ("le", "isnan"),
        ),
    ),
    # The larger or smaller of a number and one that does not count if it is a NaN; of equal ones the second, as above.
    "above": (Helper("f", "static inline $t above_$t($t a, $t b) { return b >= a ? b : a; }"),),
    "below": (Helper("f", "static inline $t below_$t($t a, $t b) { return b <= a ? b : a; }"),),
    "maximum": (
        Helper("iu", "static inline $t maximum_$t($t a, $t b) { return a > b ? a : b; }"),
        Helper("f", "static inline $t maximum_$t($t a, $t b) { $t m = a > b ? a : b; return a != a ? a : m; }"),
        Helper(
            "c",
            "static inline $t maximum_$t($t a, $t b) { return le_$t(b, a) || isnan_$t(a) ? a : b; }",
            ("le", "isnan"),
        ),
    ),
    "fmin": (
        Helper("f", "static inline $t fmin_$t($t a, $t b) { $t m = a <= b ? a : b; return b != b ? a : m; }"),
        Helper(
            "c", "static inline $t fmin_$t($t a, $t b) { return le_$t(a, b) || isnan_$t(b) ? a : b; }", ("le", "isnan")
        ),
    ),
    "fmax": (
        Helper("f", "static inline $t fmax_$t($t a, $t b) { $t m = a >= b ? a : b; return b != b ? a : m; }"),
        Helper(
            "c", "static inline $t fmax_$t($t a, $t b) { return le_$t(b, a) || isnan_$t(b) ? a : b; }", ("le", "isnan")
        ),
    ),
}

_COMPLEX: dict[str, Helper | tuple[Helper, ...]] = {
    "narrowed": Helper(
        "c",
        """static inline c64 narrowed_$t($t a) {
  return __builtin_complex(rounded_f64(__real__ a), rounded_f64(__imag__ a));
}""",
        needs=("rounded:real",),
    ),
    "mul": Helper(
        "c",
        """static inline $t mul_$t($t a, $t b) {
  $r x = __real__ a, y = __imag__ a, u = __real__ b, v = __imag__ b;
  return __builtin_complex(x * u - y * v, x * v + y * u);
}""",
    ),
    # Smith's division in NumPy's form: one reciprocal, then products.
    "truediv": Helper(
        "c",
        """static inline $t truediv_$t($t a, $t b) {
  $r x = __real__ a, y = __imag__ a, u = __real__ b, v = __imag__ b;
  if (__builtin_fabs$f(u) >= __builtin_fabs$f(v)) {
    if (u == 0 && v == 0) { $r z = __builtin_fabs$f(u); return __builtin_complex(x / z, y / z); }
    $r q = v / u, s = 1 / (u + v * q);
    return __builtin_complex((x + y * q) * s, (y - x * q) * s);
  }
  $r q = u / v, s = 1 / (v + u * q);
  return __builtin_complex((x * q + y) * s, (y * q - x) * s);
}""",
    ),
    # Python's own complex numbers divide by the denominator instead, which rounds differently.
    "pydiv": Helper(
        "c",
        """static inline $t pydiv_$t($t a, $t b) {
  $r x = __real__ a, y = __imag__ a, u = __real__ b, v = __imag__ b;
  if (__builtin_fabs$f(u) >= __builtin_fabs$f(v)) {
    $r q = v / u, d = u + v * q;
    return __builtin_complex((x + y * q) / d, (y - x * q) / d);
  }
  $r q = u / v, d = u * q + v;
  return __builtin_complex((x * q + y) / d, (y * q - x) / d);
}""",
    ),
    # Small whole exponents are products, as in NumPy; what is left goes to the library.
    "pow": Helper(
        "c",
        """static inline $t pow_$t($t a, $t b) {
  $r u = __real__ b, v = __imag__ b;
  const $t one = __builtin_complex(($r)1, ($r)0);
  if (u == 0 && v == 0) return one;
  if (__real__ a == 0 && __imag__ a == 0)
    return u > 0 ? __builtin_complex(($r)0, ($r)0) : __builtin_complex(__builtin_nan$f(""), __builtin_nan$f(""));
  if (v == 0 && u > -100 && u < 100 && (i64)u == u) {
    i64 n = u < 0 ? (i64)-u : (i64)u;
    $t p = a, r = n & 1 ? a : one;
    if (n == 3) r = mul_$t(a, mul_$t(a, a));
    else for (n >>= 1; n; n >>= 1) { p = mul_$t(p, p); if (n & 1) r = mul_$t(r, p); }
    return u < 0 ? truediv_$t(one, r) : r;
  }
  return cpow$f(a, b);
}""",
        needs=("mul", "truediv"),
        library=("cpow",),
    ),
    "abs": Helper("c", "static inline $r abs_$t($t a) { return hypot$f(__real__ a, __imag__ a); }", library=("hypot",)),
    # A number on the same side of a limit as the magnitude: squares that are far enough apart tell it, else libm's own
    # function, which Python and NumPy have, and not the one for vectors.
    "side": Helper(
        "c",
        """static inline $r side_$t($t a, $r c) {
  $r s = __real__ a * __real__ a + __imag__ a * __imag__ a, q = c * c;
  return s > q * (1 + 1e-14) ? 2 * c : s < q * (1 - 1e-14) ? 0 : weft_scalar_hypot$f(__real__ a, __imag__ a);
}""",
        library=("weft_scalar_hypot",),
    ),
    # Whether a magnitude is below a limit, or not below it, by the square of the limit (`c_expr._by_squares`): NaN is
    # neither, and an infinite part makes it infinite, whatever the other one is.
    "nearer": Helper(
        "c",
        """static inline int nearer_$t($t a, $r q) {
  return __real__ a * __real__ a + __imag__ a * __imag__ a < q;
}""",
    ),
    "farther": Helper(
        "c",
        """static inline int farther_$t($t a, $r q) {
  $r s = __real__ a * __real__ a + __imag__ a * __imag__ a, inf = __builtin_inf$f();
  return (s >= q) | (__builtin_fabs$f(__real__ a) == inf) | (__builtin_fabs$f(__imag__ a) == inf);
}""",
    ),
    "sign": Helper(
        "c",
        """static inline $t sign_$t($t a) {
  $r m = abs_$t(a);
  if (m != m) return __builtin_complex(__builtin_nan$f(""), __builtin_nan$f(""));
  if (isinf_$r(m)) {
    i32 p = isinf_$r(__real__ a), q = isinf_$r(__imag__ a);
    if (p && q) return __builtin_complex(__builtin_nan$f(""), __builtin_nan$f(""));
    if (p) return __builtin_complex(__builtin_copysign$f(1, __real__ a), ($r)0);
    return __builtin_complex(($r)0, __builtin_copysign$f(1, __imag__ a));
  }
  return m == 0 ? __builtin_complex(($r)0, ($r)0) : __builtin_complex(__real__ a / m, __imag__ a / m);
}""",
        needs=("abs", "isinf:real"),
    ),
    "isnan": Helper(
        "c", "static inline i32 isnan_$t($t a) { return (__real__ a != __real__ a) | (__imag__ a != __imag__ a); }"
    ),
    "isinf": Helper(
        "c", "static inline i32 isinf_$t($t a) { return isinf_$r(__real__ a) | isinf_$r(__imag__ a); }", ("isinf:real",)
    ),
    "isfinite": Helper(
        "c",
        "static inline i32 isfinite_$t($t a) { return isfinite_$r(__real__ a) & isfinite_$r(__imag__ a); }",
        ("isfinite:real",),
    ),
    # Ordered by the real part, then by the imaginary part, where a NaN counts even if it decides nothing.
    "lt": Helper(
        "c",
        """static inline i32 lt_$t($t a, $t b) {
  $r x = __real__ a, y = __imag__ a, u = __real__ b, v = __imag__ b;
  return x < u ? (y == y) & (v == v) : (x == u) & (y < v);
}""",
    ),
    "le": Helper(
        "c",
        """static inline i32 le_$t($t a, $t b) {
  $r x = __real__ a, y = __imag__ a, u = __real__ b, v = __imag__ b;
  return x < u ? (y == y) & (v == v) : (x == u) & (y <= v);
}""",
    ),
    "gt": Helper("c", "static inline i32 gt_$t($t a, $t b) { return lt_$t(b, a); }", ("lt",)),
    "ge": Helper("c", "static inline i32 ge_$t($t a, $t b) { return le_$t(b, a); }", ("le",)),
    "rint": Helper(
        "c",
        """static inline $t rint_$t($t a) {
  return __builtin_complex(__builtin_rint$f(__real__ a), __builtin_rint$f(__imag__ a));
}""",
    ),
    "exp2": Helper(
        "c",
        """static inline $t exp2_$t($t a) {
  const $r k = ($r)0.693147180559945309417232121458176568;
  return cexp$f(__builtin_complex(__real__ a * k, __imag__ a * k));
}""",
        library=("cexp",),
    ),
    "log2": Helper(
        "c",
        """static inline $t log2_$t($t a) {
  const $r k = ($r)1.442695040888963407359924681001892137;
  $t l = clog$f(a);
  return __builtin_complex(__real__ l * k, __imag__ l * k);
}""",
        library=("clog",),
    ),
    "log10": Helper(
        "c",
        """static inline $t log10_$t($t a) {
  const $r k = ($r)0.434294481903251827651128918916605082;
  $t l = clog$f(a);
  return __builtin_complex(__real__ l * k, __imag__ l * k);
}""",
        library=("clog",),
    ),
    "log1p": Helper(
        "c",
        """static inline $t log1p_$t($t a) {
  $r m = hypot$f(__real__ a + 1, __imag__ a);
  return __builtin_complex(log$f(m), atan2$f(__imag__ a, __real__ a + 1));
}""",
        library=("hypot", "log", "atan2"),
    ),
    "expm1": Helper(
        "c",
        """static inline $t expm1_$t($t a) {
  $r x = __real__ a, y = __imag__ a, s = sin$f(y / 2);
  return __builtin_complex(expm1$f(x) * cos$f(y) - 2 * s * s, sin$f(y) * exp$f(x));
}""",
        library=("sin", "cos", "exp", "expm1"),
    ),
}


def _merge(*tables: dict[str, Helper | tuple[Helper, ...]]) -> dict[str, tuple[Helper, ...]]:
    merged: dict[str, tuple[Helper, ...]] = {}
    for table in tables:
        for name, entry in table.items():
            merged[name] = merged.get(name, ()) + (entry if isinstance(entry, tuple) else (entry,))
    return merged


HELPERS: dict[str, tuple[Helper, ...]] = _merge(_INTEGER, _CHECKED, _FLOAT, _ORDER, _COMPLEX)

#: The functions of libm that helpers call.
LIBRARY_OF_HELPERS = frozenset(f for group in HELPERS.values() for helper in group for f in helper.library)


def _find(name: str, dtype: DType) -> Helper:
    for helper in HELPERS[name]:
        if dtype.kind in helper.kinds:
            return helper
    raise KeyError(f"no helper {name} for {dtype.value}")


def unsigned_type(dtype: DType) -> str:
    """The unsigned type that integer arithmetic wraps in: never narrower than int, so that C promotes nothing."""
    return "u64" if dtype.size == 8 else "u32"


@dataclass(frozen=True)
class Expansion:
    """A helper's text, the helpers it calls (before it), the functions of the C library it calls."""

    text: str
    needs: tuple[tuple[str, DType], ...]
    library: tuple[str, ...]


def expand(name: str, dtype: DType) -> Expansion:
    """The helper `name` for one dtype."""
    return expanded(_find(name, dtype), dtype)


def expanded(helper: Helper, dtype: DType, **values: str) -> Expansion:
    """A helper for one dtype; `values`: what else its template names."""
    suffix = "f" if dtype in (DType.F32, DType.C64) else ""
    text = Template(helper.text).substitute(
        t=C_TYPE[dtype], u=unsigned_type(dtype), b=8 * dtype.size, r=C_TYPE[dtype.real], f=suffix, **values
    )
    needs = tuple(
        (need.removesuffix(":real"), dtype.real if need.endswith(":real") else dtype) for need in helper.needs
    )
    return Expansion(text, needs, tuple(function + suffix for function in helper.library))
