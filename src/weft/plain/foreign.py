"""Library classes whose objects compiled code carries, and library functions that Python runs for it.

In: a class, function or method, by name; out: of which type its results are. All of them have no effect that anybody
sees (a call that deoptimises is repeated by Python), keep no argument, and are asked for copies of containers. A
result of another type than said here deoptimises. `library/callbacks.py` makes calls of these tables.

    whole     an integer of any size
    same      of the class of the object itself
"""

from __future__ import annotations

import random
import sys
from typing import Any, Final


def _table(text: str) -> dict[str, str]:
    """Lines `name name ...: type`."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        names, _, result = line.partition(":")
        found |= dict.fromkeys(names.split(), result.strip())
    return found


#: Methods and attributes (with a leading dot) of classes.
CLASSES: Final = {
    "fractions.Fraction": _table("""
        .numerator .denominator __int__ __floor__ __ceil__ __round__ __trunc__: whole
        __neg__ __pos__ __abs__ limit_denominator: same
        __float__: float
        as_integer_ratio: tuple[whole, whole]
        is_integer: bool
    """),
    "decimal.Decimal": _table("""
        __neg__ __pos__ __abs__ quantize sqrt normalize exp ln log10 copy_abs copy_negate max min: same
        to_integral_value to_integral scaleb fma: same
        __int__ __floor__ __ceil__ __round__ __trunc__: whole
        __float__: float
        is_nan is_zero is_finite is_infinite is_signed: bool
        adjusted: int
        as_integer_ratio: tuple[whole, whole]
    """),
    "re.Pattern": _table("""
        search match fullmatch: Match | None
        sub: str
        subn: tuple[str, int]
        .pattern: str
        .groups .flags: int
    """),
    "re.Match": _table("""
        group __getitem__: str | None
        groups: tuple[str | None, ...]
        groupdict: dict[str, str | None]
        start end: int
        span: tuple[int, int]
        .string: str
        .lastindex: int | None
        .lastgroup: str | None
        .pos .endpos: int
    """),
    "random.Random": _table("""
        random uniform gauss normalvariate expovariate betavariate gammavariate triangular lognormvariate: float
        vonmisesvariate paretovariate weibullvariate: float
        getrandbits: whole
        seed: None
    """),
    # What these draw: library/numpy_random.py.
    "numpy.random._generator.Generator": {},
    "numpy.random.mtrand.RandomState": {"seed": "None"},
    "datetime.timedelta": _table("""
        .days .seconds .microseconds: int
        total_seconds: float
        __neg__ __pos__ __abs__: same
    """),
    "datetime.date": _table("""
        .year .month .day weekday isoweekday toordinal: int
        isoformat strftime ctime: str
        replace: same
    """),
    "datetime.datetime": _table("""
        .year .month .day .hour .minute .second .microsecond weekday isoweekday toordinal: int
        isoformat strftime ctime: str
        replace: same
        timestamp: float
        date: date
    """),
}
#: Classes whose objects change: a call works on a copy, and gives its state back when it returns.
CHANGING: Final = frozenset(("random.Random", "numpy.random._generator.Generator", "numpy.random.mtrand.RandomState"))

#: NumPy's functions of one and of two numbers that are run by the loops of its ufuncs.
LOOPS_OF_ONE: Final = tuple(
    _table("""
        exp exp2 log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt
        deg2rad rad2deg radians degrees
    """)
)
LOOPS_OF_TWO: Final = tuple(_table("arctan2 hypot power fmod maximum minimum fmax fmin logaddexp copysign nextafter"))
#: Those that only arrays are run by: numbers have operations of C for them.
_ARRAYS_OF_ONE: Final = tuple(_table("sqrt absolute fabs floor ceil rint trunc square negative reciprocal sign"))
_ARRAYS_OF_TWO: Final = tuple(_table("add subtract multiply divide"))


def _loops() -> dict[tuple[str, str], int]:
    one, two = (*LOOPS_OF_ONE, *_ARRAYS_OF_ONE), (*LOOPS_OF_TWO, *_ARRAYS_OF_TWO)
    doubles = [(name, "d->d") for name in one] + [(name, "dd->d") for name in two]
    singles = [(name, "f->f") for name in one] + [(name, "ff->f") for name in two]
    others = [("clip", "ddd->d"), ("clip", "fff->f"), ("matmul", "dd->d"), ("matmul", "ff->f")]
    return {loop: place for place, loop in enumerate((*doubles, *singles, *others))}


#: The place of each loop in the table of the run time, by the name of the ufunc and the types of its loop.
LOOPS: Final = _loops()

#: Methods of NumPy's generators that change nothing but the generator, and give numbers and new arrays.
DRAWS: Final = frozenset(
    _table("""
        random uniform normal standard_normal exponential standard_exponential poisson binomial gamma beta chisquare
        geometric laplace logistic lognormal pareto power rayleigh standard_cauchy standard_gamma standard_t triangular
        vonmises wald weibull zipf gumbel multinomial dirichlet multivariate_normal choice permutation
        integers rand randn randint random_sample
    """)
)

#: Functions and classes that are called. `first`: of the type of the first argument.
FUNCTIONS: Final = _table("""
    fractions.Fraction: Fraction
    decimal.Decimal: Decimal
    random.Random: Random
    numpy.random.default_rng numpy.random._generator.default_rng: Generator
    numpy.random.mtrand.RandomState: RandomState
    datetime.date: date
    datetime.datetime: datetime
    datetime.timedelta: timedelta
    re.search re.match re.fullmatch: Match | None
    re.sub re.escape: str
    re.subn: tuple[str, int]
    statistics.mean statistics.median statistics.mode: int | float
    statistics.median_low statistics.median_high: int | float
    statistics.stdev statistics.pstdev statistics.variance statistics.pvariance: int | float
    statistics.fmean statistics.harmonic_mean statistics.geometric_mean statistics.correlation: float
    statistics.quantiles: list[int | float]
    json.dumps: str
    textwrap.fill textwrap.dedent textwrap.indent textwrap.shorten string.capwords html.escape: str
    textwrap.wrap: list[str]
    unicodedata.name unicodedata.category unicodedata.normalize: str
    math.fsum math.dist math.nextafter math.ulp math.cbrt math.exp2: float
    math.modf math.frexp: tuple[float, float]
    cmath.exp cmath.log cmath.sqrt cmath.sin cmath.cos cmath.tan cmath.sinh cmath.cosh: complex
    cmath.tanh cmath.log10 cmath.rect cmath.asin cmath.acos cmath.atan: complex
    cmath.phase: float
    cmath.polar: tuple[float, float]
    cmath.isnan cmath.isinf cmath.isfinite cmath.isclose: bool
    time.time time.perf_counter time.monotonic time.process_time: float
    time.time_ns time.perf_counter_ns time.monotonic_ns time.process_time_ns: int
    posixpath.join posixpath.basename posixpath.dirname posixpath.normpath: str
    posixpath.splitext posixpath.split: tuple[str, str]
    zlib.crc32 zlib.adler32 binascii.crc32: int
    binascii.hexlify binascii.unhexlify base64.b64encode base64.b64decode zlib.compress zlib.decompress: bytes
    copy.deepcopy: first
    sys.getrecursionlimit: int
    operator.length_hint: int
""") | {"math.frexp": "tuple[float, int]"}

#: Methods of builtin types that are rare enough for Python itself; by kind.
METHODS: Final = {
    "str": _table("""
        encode: bytes
        translate center ljust rjust format_map: str
    """),
    "bytes": _table("""
        decode hex: str
        upper lower title capitalize swapcase strip lstrip rstrip replace join center ljust rjust zfill: bytes
        translate removeprefix removesuffix: bytes
        split rsplit splitlines: list[bytes]
        find rfind index rindex count: int
        startswith endswith isalpha isdigit isalnum isspace isupper islower isascii istitle: bool
        partition rpartition: tuple[bytes, bytes, bytes]
        __contains__: bool
    """),
    "bytearray": _table("""
        decode hex: str
        find rfind index rindex count: int
        startswith endswith isalpha isdigit isalnum isspace: bool
        split: list[bytearray]
        upper lower strip replace: bytearray
        __contains__: bool
    """),
    "int": _table("""
        to_bytes: bytes
        as_integer_ratio: tuple[whole, whole]
    """),
    "big": _table("""
        to_bytes: bytes
        as_integer_ratio: tuple[whole, whole]
    """),
    "float": _table("""
        hex: str
        as_integer_ratio: tuple[whole, whole]
    """),
}
#: Functions of builtin classes: `int.from_bytes(...)`.
OF_CLASS: Final = _table("""
    int.from_bytes: whole
    bytes.fromhex: bytes
    bytes.maketrans: bytes
    float.fromhex: float
    str.maketrans: dict[int, int | str | None]
    Fraction.from_float Fraction.from_decimal: Fraction
    Decimal.from_float: Decimal
    date.fromisoformat date.fromordinal: date
    datetime.fromisoformat datetime.strptime: datetime
""")

#: Short names in the tables.
_NAMES: Final = {name.rpartition(".")[2]: name for name in CLASSES}


def class_named(name: str) -> type:
    """The class behind a short name; its module is loaded, as somebody uses it."""
    home, _, short = _NAMES[name].rpartition(".")
    __import__(home)
    return getattr(sys.modules[home], short)  # type: ignore[no-any-return]


def full_name(held: Any) -> str | None:
    """`module.name` of a class or function, if that is where it is found."""
    home, name = getattr(held, "__module__", None), getattr(held, "__qualname__", None)
    module = sys.modules.get(home) if isinstance(home, str) else None
    return f"{home}.{name}" if module is not None and getattr(module, str(name), None) is held else None


def is_carried(cls: type) -> bool:
    """Whether compiled code carries objects of a class."""
    return full_name(cls) in CLASSES


def copy_state(held: Any) -> Any:
    """A copy that a call may change; TypeError if an attribute of the object's own hides a method of its class."""
    if any(hasattr(type(held), name) for name in getattr(held, "__dict__", ()) if name != "gauss_next"):
        raise TypeError(f"a {type(held).__name__} with methods of its own")
    state = _state(held)
    copy = random.Random.__new__(type(held)) if isinstance(held, random.Random) else _spare_like(held)
    _set_state(copy, state)
    if len(_before) > _MOST_COPIES:
        _before.clear()  # of calls that were given up; one that is under way falls back to Python
    _before[id(copy)] = _frozen(state)
    return copy


def same_state(held: Any, copy: Any) -> bool:
    """Whether an object is as it was when it was copied: no other thread has drawn from it."""
    return bool(_before.pop(id(copy), None) == _frozen(_state(held)))


def give_state(held: Any, copy: Any) -> None:
    """What a call has changed in its copy goes back into the object."""
    _set_state(held, _state(copy))
    if not isinstance(held, random.Random):
        kept = _spare.setdefault((type(held), type(_bits_of(copy))), [])
        if len(kept) < _MOST_SPARE:
            kept.append(copy)  # the call is over, and nobody else has seen it


#: The states that copies began with, by the address of the copy.
_before: dict[int, Any] = {}
_MOST_COPIES: Final = 256
#: Generators for copies: to seed a new one takes longer than to copy a state.
_spare: dict[tuple[type, type], list[Any]] = {}
_MOST_SPARE: Final = 4


def _spare_like(held: Any) -> Any:
    bits = type(_bits_of(held))
    if bits.__module__.partition(".")[0] != "numpy":
        raise TypeError("a bit generator that is not NumPy's")
    try:
        return _spare[type(held), bits].pop()
    except (KeyError, IndexError):
        return type(held)(bits(0))


def _state(held: Any) -> Any:
    if isinstance(held, random.Random):
        return held.getstate()
    return held.get_state(legacy=False) if hasattr(held, "get_state") else held.bit_generator.state


def _set_state(held: Any, state: Any) -> None:
    if isinstance(held, random.Random):
        held.setstate(state)
    elif hasattr(held, "set_state"):
        held.set_state(state)
    else:
        held.bit_generator.state = state


def _frozen(state: Any) -> Any:
    """A state as something that can be compared: NumPy's are dicts with arrays in them."""
    if isinstance(state, dict):
        return [(name, _frozen(part)) for name, part in state.items()]
    return state.tobytes() if hasattr(state, "tobytes") else state


def _bits_of(generator: Any) -> Any:
    return generator._bit_generator if hasattr(generator, "_bit_generator") else generator.bit_generator


def address_of(what: Any) -> Any:
    """Where the bits of a generator of NumPy come from, or a function that NumPy exports, by name; 0 if nowhere. Of a
    number, a place in these lists of loops, the address of the loop, and of its data."""
    import ctypes

    if isinstance(what, int):
        from weft.runtime.foreign import ufunc_loop

        loop = ufunc_loop("numpy._core.umath", *list(LOOPS)[what])
        return (0, 0) if loop is None else (loop[0], loop[1] or 0)
    if isinstance(what, str):
        library = ctypes.CDLL(sys.modules["numpy.random._generator"].__file__)
        return ctypes.cast(getattr(library, what), ctypes.c_void_p).value or 0
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(_bits_of(what).capsule, b"BitGenerator") or 0)
