"""One call of one function of the knowledge base, over the whole width of its operands: every element type, extremes
and special values, ranks 0 to 4, empty and broadcast shapes, every order in memory, overlaps, arrays to be read only,
what weft refuses (objects, records, masked arrays, subclasses), and an `out` that fits, or does not, or overlaps.

    def f(a, b, o):
        r = np.add(a, b[::-1], out=o, where=a > 0)
        return r, o

Later calls change element types, sizes and orders in memory. In: a seed; out: a case.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

from tests.hunt.case import Case
from tests.hunt.knowledge import call, functions
from tests.hunt.writer import Writer

_TYPES = (
    *("float64",) * 6,
    *("int64",) * 4,
    *("float32", "int32", "bool", "complex128") * 2,
    *("int8", "int16", "uint8", "uint16", "uint32", "uint64", "complex64", "float16"),
)
_SHAPES: tuple[tuple[int, ...], ...] = (
    *((3,), (4,), (6,), (3, 4), (2, 3), (3, 3), (4, 4)) * 3,
    *((0,), (1,), (2,), (0, 3), (3, 0), (1, 4), (3, 1), (2, 3, 4), (2, 3, 3), (1, 1), (2, 1, 3), (17,), (5, 9)),
    *((), (2, 2, 2, 2), (0, 0), (2, 0, 3)),
)
_SPECIAL = {
    "f": ("np.nan", "np.inf", "-np.inf", "-0.0", "0.0", "1e300", "1e-310", "0.5", "-2.5", "2.0**53"),
    "c": ("complex(np.nan, 1)", "complex(0, -0.0)", "complex(np.inf, np.nan)", "-1", "1e200j", "complex(-0.0, 0)"),
}
#: Forms of arrays that weft leaves to NumPy.
_FOREIGN = (
    "np.ma.masked_array({a}, mask=np.zeros({a}.shape, bool))",
    "({a}).astype(object)",
    "({a}).astype('>f8')",
    "np.rec.array(np.zeros(3, dtype=[('x', 'f8'), ('y', 'i4')]))",
    "({a}).view(np.recarray)",
    "np.matrix(({a}).ravel()[:4])",
    "({a}).astype(np.longdouble)",
    "np.array(['2020-01-01', '2021-03-04', 'NaT'], dtype='M8[D]')",
    "np.array(['a', 'b', 'cc'])",
    "memoryview(bytearray(b'abc'))",
    "None",
    "({a}).tolist()",
)


def generate(seed: int, attempt: int) -> Case:
    w = Writer(random.Random(f"entries {seed} {attempt}"))
    count = w.number(1, 3)
    names = "abc"[:count]
    first = [_shapes(w, count), [w.pick(_TYPES) for _ in names]]
    kinds = [("array", of, len(shape)) for shape, of in zip(*first)]
    w.scope = dict(zip(names, kinds))
    lines: list[str] = []
    for number in range(2 if w.chance(15) else 1):
        text, is_statement = call(w)
        if "cum" in text:  # NumPy itself crashes with some arrays
            text = re.sub(r", out=\w+", "", text)
        lines += [text] if is_statement else [f"r{number} = {text}"]
    calls = [_call(w, names, *first)]
    for _ in range(w.pick((0, 1, 1, 2))):
        shapes, types = first
        if w.chance(50):
            types = [w.pick(_TYPES) for _ in names]
        if w.chance(40):
            shapes = _shapes(w, count)
        calls.append(_call(w, names, shapes, types))
    results = [line.split(" = ")[0] for line in lines if line.startswith("r")]
    given = ", ".join(names)
    if len(lines) == len(results) == 1 and "out=" not in lines[-1] and _takes_out(lines[-1]) and w.chance(35):
        calls = [_with_out(w, names, lines[-1], each) for each in calls]
        lines = [f"{lines[-1][:-1]}, out=o)"]
        given += ", o"
    body = "".join(f"    {line}\n" for line in lines)
    shown = ", ".join([*results, w.pick(names)] if w.chance(15) or not results else results)
    source = f"def f({given}):\n{body}    return {shown}\n"
    return Case(source, tuple(calls), f"{seed}.{attempt} entries")


def _takes_out(line: str) -> bool:
    name = line.split(" = ")[1].split("(")[0]
    if "cum" in name:
        return False
    name = name if name.startswith("np.") else f"ndarray.{name.split('.')[-1]}"
    return "out" in dict(functions()).get(name, ())


def _shapes(w: Writer, count: int) -> list[tuple[int, ...]]:
    """Shapes that mostly fit together."""
    base = w.pick(_SHAPES)
    found = [base]
    for _ in range(count - 1):
        form = w.number(0, 9)
        shape = base
        if form == 0:
            shape = tuple(1 if w.chance(40) else extent for extent in base)
        elif form == 1 and base:
            shape = base[1:]
        elif form == 2:
            shape = w.pick(_SHAPES)
        elif form == 3:
            shape = ()
        elif form == 4 and len(base) == 2:
            shape = base[::-1]
        found.append(shape)
    return found


def _call(w: Writer, names: str, shapes: list[tuple[int, ...]], types: list[str]) -> str:
    lines: list[str] = []
    for place, (name, shape, of) in enumerate(zip(names, shapes, types)):
        if place and w.chance(8):
            lines.append(f"{name} = {w.pick(names[:place])}{w.pick(('', '[::-1]', '[1:]', '[:-1]', '.T', '[None]'))}")
        else:
            lines += _argument(w, name, shape, of)
    return "\n".join([*lines, f"return ({', '.join(names)},)"])


def _argument(w: Writer, name: str, shape: tuple[int, ...], of: str) -> list[str]:
    if shape == () and w.chance(50):
        return [f"{name} = {w.pick(('2', '-1.5', 'True', '3j', 'np.float32(2.5)', 'np.int64(-3)', '0', '2**70'))}"]
    form = w.number(0, 19)
    rank = len(shape)
    data = _data(w, of, shape)
    if form == 0 and rank:
        return [f"{name} = {_data(w, of, (2 * shape[0], *shape[1:]))}[::2]"]
    if form == 1 and rank:
        return [f"{name} = {data}[::-1]"]
    if form == 2 and rank > 1:
        return [f"{name} = {_data(w, of, shape[::-1])}.T"]
    if form == 3 and rank > 1:
        return [f"{name} = np.asfortranarray({data})"]
    if form == 4 and rank:
        return [f"{name} = {_data(w, of, (*shape[:-1], shape[-1] + 2))}[..., 1:-1]"]
    if form == 5 and rank:
        return [f"{name} = np.broadcast_to({_data(w, of, (1, *shape[1:]))}, {shape})"]
    if form == 6:
        return [f"{name} = {data}", f"{name}.flags.writeable = False"]
    if form == 7 and w.chance(30):
        return [f"{name} = {w.pick(_FOREIGN).format(a=data)}"]
    if form == 8 and rank == 2 and shape[0] > 1:
        return [f"{name} = {_data(w, of, (shape[1], shape[0]))}.T[::-1]"]
    lines = [f"{name} = {data}"]
    special = _SPECIAL.get("c" if of.startswith("c") else of[0])
    if special and w.chance(40):
        at = ", ".join(str(w.number(-2, 1)) for _ in shape) or "()"
        values = "1e4" if of == "float16" else w.pick(special)
        least = min(shape, default=2)
        lines += [f"{name}[{at}] = {values}"] if least >= 2 or not rank else []
    elif not special and of != "bool" and w.chance(20) and min(shape, default=2) >= 2:
        at = ", ".join(str(w.number(-2, 1)) for _ in shape) or "()"
        lines.append(f"{name}[{at}] = np.iinfo(np.{of}).{w.pick(('min', 'max'))}")
    return lines


def _data(w: Writer, of: str, shape: tuple[int, ...]) -> str:
    count = int(np.prod(shape))
    step, offset, turn = w.pick((1, 2, 3, 5)), w.number(0, 6), w.pick((7, 7, 5, 11, 3))
    text = f"np.arange({count}) * {step} % {turn}"
    if of == "bool":
        text = f"({text} > {offset % turn})"
    elif of[0] == "f":
        text = f"(({text} - {offset}) / 4).astype(np.{of})"
    elif of[0] == "c":
        text = f"(({text} - {offset}) / 4 + {w.pick(('0.5j', '0j', '-1j'))}).astype(np.{of})"
    elif of[0] == "u":
        text = f"({text}).astype(np.{of})"
    else:
        text = f"({text} - {offset % 4}).astype(np.{of})"
    return text if len(shape) == 1 else f"{text}.reshape({shape})"


def _with_out(w: Writer, names: str, line: str, made: str) -> str:
    """The arguments of a call, and an array for its result: of the shape and type that NumPy gives it, or nearly."""
    result: Any = None
    scope: dict[str, Any] = {"np": np}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = "".join(f"    {text}\n" for text in made.split("\n"))
            exec(f"def make():\n{body}", scope)
            exec(line, scope, local := dict(zip(names, scope["make"]())))
            result = local["r0"]
    except Exception:  # a call that raises without an `out` as well
        pass
    shape = np.shape(result) if isinstance(result, np.ndarray | np.generic) else (3,)
    of = str(result.dtype) if isinstance(result, np.ndarray | np.generic) else "float64"
    if w.chance(25) or of not in _TYPES:
        of = w.pick(_TYPES)
    if w.chance(8):
        shape = w.pick(((1, *shape), shape[1:], (*shape[:-1], 5), (*shape, 1)))
    lines = made.split("\n")
    if w.chance(15):
        lines.insert(-1, f"o = {w.pick(names)}{w.pick(('', '[::-1]', '[1:]', '.T'))}")
    else:
        lines[-1:-1] = _argument(w, "o", tuple(shape), of)
    return "\n".join([*lines[:-1], f"return ({', '.join(names)}, o)"])
