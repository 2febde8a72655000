"""Elementary functions for processors.  In: the text of kernels; out: the same with functions of weft's own in place of
those built-in ones that a driver calls one element at a time.

They are straight lines of arithmetic, without branches and tables, so that the driver's compiler makes vectors of the
loops around them.  Errors stay below 3 units in the last place; infinities, NaN and subnormal numbers are as in C.
Angles beyond 10^7 would need tables: they are noted where a kernel notes integers that left 64 bits, and the call runs
on the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: exp(x) = 2^n exp(r), |r| < ln(2)/2: n by a sum that pushes the fraction out, exp(r) by its series.
_EXP = """static inline f64 k_exp(f64 x) {
  const f64 shifted = x * 1.4426950408889634 + 6755399441055744.0;
  const f64 n = shifted - 6755399441055744.0;
  const f64 r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
  f64 p = 1.6059043836821613e-10;
  p = p * r + 2.08767569878681e-09; p = p * r + 2.505210838544172e-08; p = p * r + 2.7557319223985893e-07;
  p = p * r + 2.7557319223985893e-06; p = p * r + 2.48015873015873e-05; p = p * r + 0.0001984126984126984;
  p = p * r + 0.001388888888888889; p = p * r + 0.008333333333333333; p = p * r + 0.041666666666666664;
  p = p * r + 0.16666666666666666; p = p * r + 0.5;
  p = 1.0 + (r + r * r * p);
  const i32 whole = (i32)as_long(shifted), part = whole >> 1;
  const f64 first = as_double((i64)(part + 1023) << 52), second = as_double((i64)(whole - part + 1023) << 52);
  const f64 value = p * first * second;
  return x > 709.782712893384 ? INFINITY : x < -745.1332191019412 ? 0.0 : value;
}
"""

_EXPF = """static inline f32 k_expf(f32 x) {
  const f32 shifted = x * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
  const f32 r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  f32 p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f; p = p * r + 8.33333333e-3f; p = p * r + 4.16666667e-2f; p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = 1.0f + (r + r * r * p);
  const i32 whole = as_int(shifted) - 0x4B400000, part = whole >> 1;
  const f32 value = p * as_float((part + 127) << 23) * as_float((whole - part + 127) << 23);
  return x > 88.7228394f ? INFINITY : x < -103.972084f ? 0.0f : value;
}
"""

#: log(x) = e log(2) + log(1 + f), 1 + f in [0.7, 1.4]: by the series of the inverse hyperbolic tangent.
_LOG = """static inline f64 k_log(f64 x) {
  const i32 tiny = x < 2.2250738585072014e-308;
  const i64 bits = as_long(tiny ? x * 18014398509481984.0 : x);
  const i32 e = ((i32)(bits >> 32) - 0x3fe6a09e) >> 20;
  const f64 f = as_double(bits - ((i64)e << 52)) - 1.0;
  const f64 s = f / (2.0 + f), z = s * s;
  f64 p = 0.09523809523809523;
  p = p * z + 0.10526315789473684; p = p * z + 0.11764705882352941; p = p * z + 0.13333333333333333;
  p = p * z + 0.15384615384615385; p = p * z + 0.18181818181818182; p = p * z + 0.2222222222222222;
  p = p * z + 0.2857142857142857; p = p * z + 0.4; p = p * z + 0.6666666666666666;
  const f64 n = (f64)(e - (tiny ? 54 : 0)), square = 0.5 * f * f;
  const f64 value = n * 0.6931471803691238 + (f - (square - (s * (square + z * p) + n * 1.9082149292705877e-10)));
  return x > 0.0 ? (x < INFINITY ? value : x) : x == 0.0 ? -INFINITY : as_double(0x7ff8000000000000L);
}
"""

#: tanh(x) = m / (m + 2), m = exp(2x) - 1: near 0 by the series of m.
_TANH = """static inline f64 k_tanh(f64 x) {
  const i64 sign = as_long(x) & (i64)0x8000000000000000UL;
  const f64 a = as_double(as_long(x) ^ sign), y = 2.0 * a;
  f64 p = 1.5619206968586225e-16;
  p = p * y + 2.8114572543455206e-15; p = p * y + 4.779477332387385e-14; p = p * y + 7.647163731819816e-13;
  p = p * y + 1.1470745597729725e-11; p = p * y + 1.6059043836821613e-10; p = p * y + 2.08767569878681e-09;
  p = p * y + 2.505210838544172e-08; p = p * y + 2.755731922398589e-07; p = p * y + 2.7557319223985893e-06;
  p = p * y + 2.48015873015873e-05; p = p * y + 0.0001984126984126984; p = p * y + 0.001388888888888889;
  p = p * y + 0.008333333333333333; p = p * y + 0.041666666666666664; p = p * y + 0.16666666666666666;
  p = p * y + 0.5;
  const f64 near = y + y * y * p, far = 1.0 - 2.0 / (k_exp(a > 20.0 ? 40.0 : y) + 1.0);
  return as_double(as_long(y < 0.7 ? near / (near + 2.0) : x != x ? a : far) | sign);
}
"""

#: x^y = exp(y log(x)), the logarithm in two parts: rounding it would be seen in all but small results.
_POW = """static inline f64 k_rest(f64 a, f64 b, f64 product) {
  const f64 first = a * 134217729.0, second = b * 134217729.0;
  const f64 a1 = first - (first - a), b1 = second - (second - b), a2 = a - a1, b2 = b - b1;
  return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}
static inline f64 k_pow(f64 x, f64 y) {
  const f64 a = as_double(as_long(x) & 0x7fffffffffffffffL), b = as_double(as_long(y) & 0x7fffffffffffffffL);
  const i32 tiny = a < 2.2250738585072014e-308;
  const i64 bits = as_long(tiny ? a * 18014398509481984.0 : a);
  const i32 e = ((i32)(bits >> 32) - 0x3fe6a09e) >> 20;
  const f64 m = as_double(bits - ((i64)e << 52)), f = m - 1.0, below = 2.0 + f;
  const f64 s = f / below, z = s * s, top = s * below;
  const f64 rest = ((f - top) - k_rest(s, below, top) - s * (f - (below - 2.0))) / below;
  f64 p = 0.09523809523809523;
  p = p * z + 0.10526315789473684; p = p * z + 0.11764705882352941; p = p * z + 0.13333333333333333;
  p = p * z + 0.15384615384615385; p = p * z + 0.18181818181818182; p = p * z + 0.2222222222222222;
  p = p * z + 0.2857142857142857; p = p * z + 0.4; p = p * z + 0.6666666666666666;
  const f64 n = (f64)(e - (tiny ? 54 : 0)), large = n * 0.6931471803691238, small = 2.0 * s;
  const f64 sum = large + small, error = (large - (sum - (sum - large))) + (small - (sum - large));
  const f64 tail = error + (2.0 * rest + s * z * p + n * 1.9082149292705877e-10);
  const f64 high = sum + tail, low = tail - (high - sum);
  const f64 product = y * high, exact = b < 1e290 ? k_rest(y, high, product) + y * low : 0.0;
  const i32 plain = (product < 700.0) & (product > -700.0);
  const f64 power = k_exp(plain ? product : product + exact);
  f64 value = plain ? power + power * exact : power;
  value = a == 0.0 ? (y < 0.0 ? INFINITY : 0.0) : a == INFINITY ? (y < 0.0 ? 0.0 : INFINITY) : value;
  value = b == INFINITY ? (a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? INFINITY : 0.0) : value;
  const f64 point = 4503599627370496.0, middle = b * 0.5;
  const i32 whole = (b >= point) | ((b + point) - point == b);
  const i32 odd = whole & (b < 9007199254740992.0) & ((middle + point) - point != middle);
  const f64 nan = as_double(0x7ff8000000000000L);
  value = as_long(x) < 0 ? (odd ? -value : whole | (a == 0.0) | (a == INFINITY) ? value : nan) : value;
  value = (x != x) | (y != y) ? nan : value;
  return (y == 0.0) | (x == 1.0) ? 1.0 : value;
}
"""


#: x = n pi + r, |r| <= pi/2, by pi in parts whose products with n are exact; then the series of the sine.  The cosine
#: is a sine with a half in n.  `far` notes angles for which the parts are too few.
_REDUCED = """static inline f64 k_sine(f64 x, f64 n, i64 sign) {
  const f64 a = x - n * 3.141592651605606, b = n * 1.9841871583270443e-09, c = a - b, back = c - a;
  const f64 first = (a - (c - back)) - (b + back);
  const f64 d = n * 1.03403659577805e-18, f = c - d, again = f - c;
  const f64 second = (c - (f - again)) - (d + again);
  const f64 r = f + ((first + second) - n * 5.807711947958721e-28), z = r * r;
  f64 p = 1.9572941063391263e-20;
  p = p * z - 8.22063524662433e-18; p = p * z + 2.8114572543455206e-15; p = p * z - 7.647163731819816e-13;
  p = p * z + 1.6059043836821613e-10; p = p * z - 2.505210838544172e-08; p = p * z + 2.7557319223985893e-06;
  p = p * z - 0.0001984126984126984; p = p * z + 0.008333333333333333; p = p * z - 0.16666666666666666;
  return as_double(as_long(r + r * z * p) ^ (sign << 63));
}
"""
_FAR = "*far |= (a > 1e7) & (a < INFINITY);"
_SIN = f"""static inline f64 k_sin(i64 *far, f64 x) {{
  const f64 a = as_double(as_long(x) & 0x7fffffffffffffffL);
  const f64 shifted = x * 0.3183098861837907 + 6755399441055744.0, n = shifted - 6755399441055744.0;
  {_FAR}
  const f64 value = k_sine(x, n, as_long(shifted));
  return a < 1e-9 ? x : value;
}}
"""
_COS = f"""static inline f64 k_cos(i64 *far, f64 x) {{
  const f64 a = as_double(as_long(x) & 0x7fffffffffffffffL);
  const f64 shifted = (x * 0.3183098861837907 - 0.5) + 6755399441055744.0;
  {_FAR}
  return k_sine(x, (shifted - 6755399441055744.0) + 0.5, as_long(shifted) + 1);
}}
"""

#: The angle of (b, a) with 0 <= b, a: of their smaller quotient, from which pi/4 is taken if it is large; then as many
#: quarters of pi as the signs and the order of the two tell.
_ATAN2 = """static inline f64 k_atan2(f64 y, f64 x) {
  const i64 minus = as_long(y) & (-0x7fffffffffffffffL - 1);
  const f64 b = as_double(as_long(y) & 0x7fffffffffffffffL), a = as_double(as_long(x) & 0x7fffffffffffffffL);
  const i32 swap = b > a, behind = as_long(x) < 0;
  const f64 larger = swap ? b : a, smaller = swap ? a : b, scale = larger > 1e300 ? 0.0009765625 : 1.0;
  const f64 most = larger == INFINITY ? 1.0 : larger * scale;
  const f64 least = larger == INFINITY ? (smaller == INFINITY ? 1.0 : 0.0) : smaller * scale;
  const i32 large = least > 0.41421356237309503 * most;
  const f64 over = large ? least - most : least, under = large ? least + most : most;
  const f64 q = over / (under == 0.0 ? 1.0 : under), z = q * q;
  f64 p = 1.62858201153657823623e-02;
  p = p * z - 3.65315727442169155270e-02; p = p * z + 4.97687799461593236017e-02;
  p = p * z - 5.83357013379057348645e-02; p = p * z + 6.66107313738753120669e-02;
  p = p * z - 7.69187620504482999495e-02; p = p * z + 9.09088713343650656196e-02;
  p = p * z - 1.11111104054623557880e-01; p = p * z + 1.42857142725034663711e-01;
  p = p * z - 1.99999999998764832476e-01; p = p * z + 3.33333333333329318027e-01;
  const f64 angle = q - q * z * p, n = large ? 1.0 : 0.0, m = swap ? 2.0 - n : n;
  const f64 quarters = behind ? 4.0 - m : m, turned = (swap != behind) ? -angle : angle;
  const f64 high = quarters == 3.0 ? 2.356194490192345 : quarters * 0.7853981633974483;
  const f64 low = quarters == 3.0 ? 9.184850993605148e-17 : quarters * 3.061616997868383e-17;
  const f64 value = quarters == 0.0 ? turned : high + (turned + low);
  return (x != x) | (y != y) ? x + y : as_double(as_long(value) | minus);
}
"""
_ATAN = "static inline f64 k_atan(f64 x) { return k_atan2(x, 1.0); }\n"
_ASIN = "static inline f64 k_asin(f64 x) { return k_atan2(x, __builtin_sqrt((1.0 - x) * (1.0 + x))); }\n"
_ACOS = "static inline f64 k_acos(f64 x) { return k_atan2(__builtin_sqrt((1.0 - x) * (1.0 + x)), x); }\n"


def _short(name: str) -> str:
    """The function for float32: that for float64, rounded once."""
    letters = "xy" if name in ("pow", "atan2") else "x"
    given = ["i64 *far"] * (name in _NOTING) + [f"f32 {letter}" for letter in letters]
    passed = ["far"] * (name in _NOTING) + [f"(f64){letter}" for letter in letters]
    return f"static inline f32 k_{name}f({', '.join(given)}) {{ return (f32)k_{name}({', '.join(passed)}); }}\n"


#: Functions that note what they cannot compute.
_NOTING = ("sin", "cos")
_OWN = {"pow": (_EXP, _POW), "exp": (_EXP,), "log": (_LOG,), "tanh": (_EXP, _TANH), "atan2": (_ATAN2,)}
_OWN |= {"atan": (_ATAN2, _ATAN), "asin": (_ATAN2, _ASIN), "acos": (_ATAN2, _ACOS)}
_OWN |= {"sin": (_REDUCED, _SIN), "cos": (_REDUCED, _COS)}
_OWN |= {f"{name}f": (*texts, _short(name)) for name, texts in _OWN.items()}
_OWN["expf"] = (_EXPF,)
_CALLED = re.compile(rf"\bk_({'|'.join(_OWN)})\(")


def _calls(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])({'|'.join(names)})\(")


_NOTED = _calls(name for name in _OWN if name.removesuffix("f") in _NOTING)
_PLAIN = _calls(name for name in _OWN if name.removesuffix("f") not in _NOTING)


def are_noted(text: str) -> bool:
    """Whether text calls functions that note what they cannot compute."""
    return _NOTED.search(text) is not None


def renamed(text: str, note: str = "") -> str:
    """Text that calls weft's own functions; `note`: the variable for what they cannot compute, if there is one."""
    return _PLAIN.sub(r"k_\1(", _NOTED.sub(rf"k_\1(&{note}, ", text) if note else text)


def defined(texts: Sequence[str]) -> str:
    """The definitions of those functions that some text calls."""
    used = {name for text in texts for name in _CALLED.findall(text)}
    return "".join(dict.fromkeys(text for name in sorted(used) for text in _OWN[name]))
