"""Complex numbers where the language has none: pairs x, y.  In: an operation and a complex dtype; out: helper functions
in the C that OpenCL and CUDA share.

A dialect defines the types c64 and c128 with members x and y, and `make_c64` and `make_c128`.  Helpers of `c_helpers`
are used as they are, with parts and constructors respelt; here is what C has as operators or in its library.
"""

from __future__ import annotations

import re
from dataclasses import replace

from weft.codegen.c_helpers import C_TYPE, Expansion, Helper, expand, expanded
from weft.ir.types import DType

#: What is an operator of C's, or a function of its library, is a helper for pairs.
MEANING: dict[str, str] = {name: name for name in ("add", "sub", "neg", "conj", "eq", "ne", "real", "imag")} | {
    name: f"c{name}" for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")
}

#: Inverse functions: C's library follows their branch cuts and infinities, and no dialect has them.
MISSING = frozenset({"arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"})

_PARTS = "$r x = a.x, y = a.y;"


def _one(name: str, body: str, result: str = "$t", needs: tuple[str, ...] = ()) -> Helper:
    return Helper("c", f"static inline {result} {name}_$t($t a) {{\n  {body}\n}}", needs)


def _two(name: str, body: str, result: str = "$t", needs: tuple[str, ...] = ()) -> Helper:
    return Helper("c", f"static inline {result} {name}_$t($t a, $t b) {{\n  {body}\n}}", needs)


# Numbers whose exponential overflows are taken apart: exp(x) = exp(x - $h) * exp($h).
_GREAT = """  if (__builtin_fabs$f(x) > $h) {
    $r e = exp$f(__builtin_fabs$f(x) - $h) * ($r)0.5, k = exp$f(($r)$h);"""

HELPERS: dict[str, Helper] = {
    "add": _two("add", "return make_$t(a.x + b.x, a.y + b.y);"),
    "sub": _two("sub", "return make_$t(a.x - b.x, a.y - b.y);"),
    "neg": _one("neg", "return make_$t(-a.x, -a.y);"),
    "conj": _one("conj", "return make_$t(a.x, -a.y);"),
    "eq": _two("eq", "return (a.x == b.x) & (a.y == b.y);", "i32"),
    "ne": _two("ne", "return (a.x != b.x) | (a.y != b.y);", "i32"),
    "real": _one("real", "return a.x;", "$r"),
    "imag": _one("imag", "return a.y;", "$r"),
    "truth": _one("truth", "return (a.x != 0) | (a.y != 0);", "i32"),
    "widened": _one("widened", "return make_c128(a.x, a.y);", "c128"),
    "narrowed": _one("narrowed", "return make_c64((f32)a.x, (f32)a.y);", "c64"),
    # The larger of both roots first, without a difference that cancels; great parts are halved twice.
    "csqrt": _one(
        "csqrt",
        _PARTS
        + """
  const $r inf = __builtin_inf$f();
  if (x == 0 && y == 0) return make_$t(0, y);
  if (__builtin_fabs$f(y) == inf) return make_$t(inf, y);
  if (x != x || (y != y && __builtin_fabs$f(x) != inf)) return make_$t(x + y, x + y);
  if (x == inf) return make_$t(x, y != y ? y : __builtin_copysign$f(0, y));
  if (x == -inf) return make_$t(y != y ? y : 0, __builtin_copysign$f(inf, y));
  $r s = 1;
  if (__builtin_fabs$f(x) > $g || __builtin_fabs$f(y) > $g) { x = x * ($r)0.25; y = y * ($r)0.25; s = 2; }
  $r t = __builtin_sqrt$f((__builtin_fabs$f(x) + hypot$f(x, y)) * ($r)0.5);
  return x >= 0 ? make_$t(s * t, s * (y / (2 * t)))
                : make_$t(s * (__builtin_fabs$f(y) / (2 * t)), s * __builtin_copysign$f(t, y));""",
    ),
    "cexp": _one(
        "cexp",
        _PARTS
        + """
  const $r inf = __builtin_inf$f();
  if (y == 0) return make_$t(exp$f(x), y);
  if (!(__builtin_fabs$f(y) < inf)) {
    if (x == -inf) return make_$t(0, __builtin_copysign$f(0, y));
    return make_$t(x == inf ? x : y - y, y - y);
  }
  if (x > $h) {
    $r e = exp$f(x - $h), k = exp$f(($r)$h);
    return make_$t(e * cos$f(y) * k, e * sin$f(y) * k);
  }
  $r e = exp$f(x);
  return make_$t(e * cos$f(y), e * sin$f(y));""",
    ),
    # Close to the unit circle the logarithm of the magnitude is that of 1 and a little.
    "clog": _one(
        "clog",
        _PARTS
        + """
  $r p = __builtin_fabs$f(x), q = __builtin_fabs$f(y), angle = atan2$f(y, x);
  if (p < q) { $r t = p; p = q; q = t; }
  if (p > ($r)0.5 && p < 3) return make_$t(($r)0.5 * log1p$f((p - 1) * (p + 1) + q * q), angle);
  if (p > $g && p < __builtin_inf$f())
    return make_$t(log$f(hypot$f(p * ($r)0.5, q * ($r)0.5)) + ($r)0.693147180559945309417232, angle);
  return make_$t(log$f(hypot$f(p, q)), angle);""",
    ),
    "csinh": _one(
        "csinh",
        _PARTS
        + """
  const $r inf = __builtin_inf$f();
  if (y == 0) return make_$t(sinh$f(x), y);
  if (x == 0) return make_$t(y - y == 0 ? __builtin_copysign$f(0, x * cos$f(y)) : x, sin$f(y));
  if (!(__builtin_fabs$f(y) < inf)) return make_$t(__builtin_fabs$f(x) == inf ? inf : y - y, y - y);
"""
        + _GREAT
        + """
    return make_$t(__builtin_copysign$f(e, x) * cos$f(y) * k, e * sin$f(y) * k);
  }
  return make_$t(sinh$f(x) * cos$f(y), cosh$f(x) * sin$f(y));""",
    ),
    "ccosh": _one(
        "ccosh",
        _PARTS
        + """
  const $r inf = __builtin_inf$f();
  if (y == 0) return make_$t(cosh$f(x), x == x ? y * __builtin_copysign$f(1, x) : y);
  if (!(__builtin_fabs$f(y) < inf)) return make_$t(__builtin_fabs$f(x) == inf ? inf : y - y, x == 0 ? 0 : y - y);
"""
        + _GREAT
        + """
    return make_$t(e * cos$f(y) * k, __builtin_copysign$f(e, x) * sin$f(y) * k);
  }
  return make_$t(cosh$f(x) * cos$f(y), sinh$f(x) * sin$f(y));""",
    ),
    "ctanh": _one(
        "ctanh",
        _PARTS
        + """
  const $r inf = __builtin_inf$f();
  if (y == 0) return make_$t(tanh$f(x), y);
  if (!(__builtin_fabs$f(y) < inf) && __builtin_fabs$f(x) < inf) return make_$t(x == 0 ? x : y - y, y - y);
  if (__builtin_fabs$f(x) > 22) {
    $r e = exp$f(-__builtin_fabs$f(x)), c = y - y == 0 ? 4 * sin$f(y) * cos$f(y) : y;
    return make_$t(__builtin_copysign$f(1, x), e == 0 ? __builtin_copysign$f(0, c) : c * e * e);
  }
  $r t = tan$f(y), b = 1 + t * t, s = sinh$f(x), d = 1 + b * s * s;
  return make_$t(b * __builtin_sqrt$f(1 + s * s) * s / d, t / d);""",
    ),
    "csin": _one(
        "csin",
        """const $r inf = __builtin_inf$f();
  if (__builtin_fabs$f(a.y) == inf && !(a.x - a.x == 0)) return make_$t(a.x - a.x, inf);
  $t s = csinh_$t(make_$t(-a.y, a.x));
  return make_$t(s.y, -s.x);""",
        needs=("csinh",),
    ),
    "ccos": _one("ccos", "return ccosh_$t(make_$t(-a.y, a.x));", needs=("ccosh",)),
    "ctan": _one("ctan", "$t s = ctanh_$t(make_$t(-a.y, a.x)); return make_$t(s.y, -s.x);", needs=("ctanh",)),
    "cpow": _two("cpow", "return cexp_$t(mul_$t(b, clog_$t(a)));", needs=("cexp", "clog", "mul")),
}

#: The argument from which on an exponential is taken apart, and half the root of the largest number.
LIMITS = {"c128": {"h": "700", "g": "1e300"}, "c64": {"h": "80", "g": "1e37f"}}

_PART = re.compile(r"__(real|imag)__ (\w+)")
_CALLED = re.compile(r"\bc(sqrt|exp|log|pow)f?\(")


def expand_pairs(name: str, dtype: DType) -> Expansion:
    """The helper `name` for a complex dtype, on pairs."""
    of = C_TYPE[dtype]
    if name in HELPERS:
        return expanded(HELPERS[name], dtype, **LIMITS[of])
    found = expand(name, dtype)
    text = _PART.sub(lambda part: f"{part[2]}.{'x' if part[1] == 'real' else 'y'}", found.text)
    text = _CALLED.sub(lambda call: f"c{call[1]}_{of}(", text).replace("__builtin_complex(", f"make_{of}(")
    called = tuple((f"c{call}", dtype) for call in dict.fromkeys(_CALLED.findall(found.text)))
    return replace(found, text=text, needs=(*found.needs, *called))
