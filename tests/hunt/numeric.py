"""Numeric programs in which the order of reads and writes matters: views that overlap, swaps, loops over what their
bodies write, inner functions that write between two reads. In: a writer; out: the function f over a vector, a matrix
and a number, and its calls.

Every index is in range and every operation defined, so that each program runs to its end and nearly all are native.
"""

from __future__ import annotations

import random

from tests.hunt.case import Case
from tests.hunt.writer import Writer

_LENGTH, _ROWS, _COLUMNS = 6, 3, 4
_MATRIX = "matrix"
_VECTORS = (
    "np.arange(6) * 2 % 5 - 1.5",
    "np.arange(6) * 5 % 7",
    "(np.arange(6) * 2 % 5 - 1).astype(np.float32)",
    "(np.arange(12) * 5 % 7 / 2)[::2]",
    "(np.arange(6) * 3 % 7 / 4)[::-1]",
    "(np.arange(6) * 5 % 7).astype(np.int32)",
)
_MATRICES = (
    "(np.arange(12) * 5 % 7 - 2.5).reshape(3, 4)",
    "(np.arange(12) * 3 % 11).reshape(3, 4)",
    "(np.arange(12) * 3 % 11 / 2).reshape(4, 3).T",
    "np.asfortranarray((np.arange(12) * 7 % 5 / 2).reshape(3, 4))",
    "(np.arange(48) * 7 % 13 / 4).reshape(6, 8)[::2, ::2]",
)


def generate(seed: int, attempt: int) -> Case:
    w = Writer(random.Random(f"numeric {seed} {attempt}"))
    if w.chance(50):
        _helper(w)
    w.emit("def f(a, m, x):")
    w.depth, w.budget = 1, w.number(5, 12)
    w.scope = {"a": ("vector", _LENGTH), "m": _MATRIX, "x": "number"}
    for _ in range(w.number(0, 2)):
        _closure(w)
    while w.budget > 0:
        _statement(w)
    shown = [name for name in w.scope if name not in ("a", "m")]
    w.random.shuffle(shown)
    w.emit(f"return {', '.join(shown[:5])}, a, m")
    calls = [_call(w) for _ in range(w.pick((1, 2, 2)))]
    return Case("\n".join(w.lines) + "\n", tuple(calls), f"{seed}.{attempt} numeric")


def _call(w: Writer) -> str:
    number = w.pick(("1.5", "2", "-0.5", "3.0"))
    lines = [f"a = {w.pick(_VECTORS)}", f"m = {w.pick(_MATRICES)}"]
    if w.chance(15):
        lines.append(w.pick(("a = np.arange(12.0)[:6]", "m = np.arange(12.0).reshape(3, 4)\na = m.reshape(12)[2:8]")))
    return "\n".join([*lines, f"return (a, m, {number})"])


# --- values ---------------------------------------------------------------------------------------------------------


def _vectors(w: Writer, length: int | None = None) -> list[tuple[str, int]]:
    """What may stand for a vector: names, rows, columns and parts."""
    found = []
    for name, kind in w.scope.items():
        if isinstance(kind, tuple) and kind[0] == "vector":
            size = kind[1]
            found.append((name, size))
            found += [(f"{name}[1:]", size - 1), (f"{name}[:-1]", size - 1), (f"{name}[::-1]", size)]
            found.append((f"{name}[::2]", (size + 1) // 2))
        elif kind == _MATRIX:
            found += [(f"{name}[{w.number(0, 2)}]", _COLUMNS), (f"{name}[:, {w.number(0, 3)}]", _ROWS)]
            found += [(f"{name}.T[{w.number(0, 3)}]", _ROWS), (f"{name}[{w.number(0, 2)}, 1:]", _COLUMNS - 1)]
    found = [(text, size) for text, size in found if size > 1]
    return [one for one in found if one[1] == length] if length is not None else found


def _place(w: Writer) -> str:
    """An element."""
    if w.chance(30):
        return f"m[{w.number(0, 2)}, {w.number(-1, 3)}]"
    text, size = w.pick(_vectors(w)) if w.chance(40) else ("a", _LENGTH)
    return f"{text}[{w.number(-1, size - 1)}]"


def _number(w: Writer, depth: int = 1) -> str:
    names = w.named("number")
    form = w.number(0, 9 + len(w.ready))
    if depth > 0 and form < 3:
        return f"({_number(w, depth - 1)} {w.pick(('+', '-', '*'))} {_number(w, depth - 1)})"
    if form == 3:
        return str(w.pick((1, 2, 0.5, -3)))
    if form == 4 and depth > 0:
        return f"{w.pick(_vectors(w))[0]}.{w.pick(('sum', 'max', 'min'))}()"
    if form == 5 and depth > 0:
        return f"{w.pick(('max', 'min'))}({_number(w, 0)}, {_number(w, 0)})"
    if form > 9 and depth > 0:
        return w.pick(w.ready).replace("?", _number(w, 0))
    return w.pick(names) if form < 7 and names else _place(w)


def _array(w: Writer, length: int) -> str:
    """A computed vector."""
    same = _vectors(w, length)
    if not same:
        return f"np.full({length}, {_number(w, 0)})"
    one = w.pick(same)[0]
    other = w.pick(same)[0] if w.chance(60) else _number(w, 0)
    form = w.number(0, 4)
    if form == 0:
        return f"np.where({one} > {_number(w, 0)}, {one}, {other})"
    if form == 1:
        return f"np.maximum({one}, {other})"
    return f"{one} {w.pick(('+', '-', '*'))} {other}"


# --- statements -----------------------------------------------------------------------------------------------------


def _statement(w: Writer) -> None:
    w.budget -= 1
    simple = (_element, _element, _swap, _part, _whole, _scalar, _computed, _collected, _masked)
    w.pick(simple if w.depth > 3 or w.budget <= 0 else (*simple, _loop, _loop, _branch))(w)


def _element(w: Writer) -> None:
    w.emit(f"{_place(w)} {w.pick(('=', '=', '+=', '-='))} {_number(w, 2)}")


def _swap(w: Writer) -> None:
    form = w.number(0, 4)
    if form == 0:
        one, other = _place(w), _place(w)
        w.emit(f"{one}, {other} = {other}, {one}")
    elif form == 1:
        name = w.name("s")
        w.emit(f"{name}, {_place(w)} = {_place(w)}, {_number(w)}")
        w.scope[name] = "number"
    elif form == 2:
        i, j = w.number(0, 2), w.number(0, 2)
        copies = w.pick((f"m[{j}].copy(), m[{i}].copy()", f"m[{j}], m[{i}]", f"m[{j}] + 0, m[{i}]"))
        w.emit(f"m[{i}], m[{j}] = {copies}")
    elif form == 3:
        w.emit(f"m[[0, {w.number(1, 2)}]] = m[[{w.number(1, 2)}, 0]]")
    else:
        names = [f"s{w.name('')}" for _ in range(2)]
        w.emit(f"{names[0]}, *{names[1]} = {_number(w, 0)}, {_place(w)}, {_number(w)}")
        w.scope[names[0]] = "number"
        w.scope[names[1]] = ("numbers", 2)


def _part(w: Writer) -> None:
    """A view."""
    text, size = w.pick(_vectors(w))
    name = w.name("v")
    w.emit(f"{name} = {text}")
    w.scope[name] = ("vector", size)


def _computed(w: Writer) -> None:
    size = w.pick((_COLUMNS, _ROWS, _LENGTH, _LENGTH - 1))
    name = w.name("u")
    w.emit(f"{name} = {_array(w, size)}")
    w.scope[name] = ("vector", size)


def _whole(w: Writer) -> None:
    text, size = w.pick(_vectors(w))
    target = text if text.endswith("]") else f"{text}[:]"
    form = w.number(0, 3)
    if form == 0:
        w.emit(f"{target} {w.pick(('+=', '-=', '*='))} {_number(w, 0)}")
    elif form == 1:
        same = w.pick(_vectors(w, size))[0]
        w.emit(f"{target} {w.pick(('=', '+=', '-='))} {same}")
    else:
        w.emit(f"{target} = {_array(w, size)}")


def _masked(w: Writer) -> None:
    text, _ = w.pick(_vectors(w))
    if text.endswith("]"):
        name = w.name("v")
        w.emit(f"{name} = {text}")
        text = name
    w.emit(f"{text}[{text} > {_number(w, 0)}] {w.pick(('=', '+=', '*='))} {_number(w, 0)}")


def _scalar(w: Writer) -> None:
    names = w.named("number")
    if names and w.chance(50):
        w.emit(f"{w.pick(names)} {w.pick(('=', '+=', '-='))} {_number(w, 2)}")
        return
    name = w.name("n")
    w.emit(f"{name} = {_number(w, 2)}")
    w.scope[name] = "number"


def _collected(w: Writer) -> None:
    """A tuple or list of elements, made at one time and looked at later."""
    made = [name for name, kind in w.scope.items() if isinstance(kind, tuple) and kind[0] == "numbers"]
    if made and w.chance(50):
        name = w.name("n")
        w.emit(f"{name} = {w.pick(made)}[{w.number(0, 1)}] + {_number(w, 0)}")
        w.scope[name] = "number"
        return
    name, q = w.name("t"), w.name("q")
    pair = f"({_number(w)}, {_number(w)})"
    value = w.pick((pair, f"[{pair[1:-1]}]", f"[{q} + {_number(w)} for {q} in {pair}]"))
    if w.chance(30):
        with w.inner(**{q: "number"}):
            value = f"[{_number(w, 2)} for {q} in {w.pick((pair, w.pick(_vectors(w))[0]))}]"
    w.emit(f"{name} = {value}")
    w.scope[name] = ("numbers", 2)


def _loop(w: Writer) -> None:
    q, r = w.name("q"), w.name("r")
    pair = f"{_number(w)}, {_number(w)}"
    text, size = w.pick(_vectors(w))
    heads: list[tuple[str, dict[str, object]]] = [
        (f"for {q} in ({pair}):", {q: "number"}),
        (f"for {q} in [{pair}, {_place(w)}]:", {q: "number"}),
        (f"for {r}, {q} in enumerate(({pair})):", {q: "number"}),
        (f"for {q}, {r} in zip(({pair}), {text}):", {q: "number", r: "number"}),
        (f"for {q} in {text}:", {q: "number"}),
        (f"for {q} in {_array(w, size)}:", {q: "number"}),
        (f"for {q}, {r} in zip({text}, {text}[1:]):", {q: "number", r: "number"}),
        (f"for {q} in m:", {q: ("vector", _COLUMNS)}),
        (f"for {q} in ({text}, {_array(w, size)}):", {q: ("vector", size)}),
        (f"for {r} in range({w.number(1, 3)}):", {}),
        (f"for {r} in range({w.number(1, 3)}):", {}),
    ]
    head, names = w.pick(heads)
    w.emit(head)
    before = dict(w.scope)
    w.depth += 1
    w.scope.update(names)
    for _ in range(w.number(1, 3)):
        _statement(w)
    if w.chance(12):
        w.emit(f"if {_number(w, 0)} > {_number(w, 0)}:")
        w.emit(f"    {w.pick(('break', 'continue'))}")
        _statement(w)
    w.depth -= 1
    w.scope = before


def _branch(w: Writer) -> None:
    before = dict(w.scope)
    w.emit(f"if {_number(w)} {w.pick(('>', '<', '>=', '=='))} {_number(w)}:")
    for more in (True, w.chance(50)):
        if more:
            w.depth += 1
            _statement(w)
            _statement(w)
            w.depth -= 1
        w.scope = dict(before)
        if more and not w.lines[-1].strip().startswith("else") and w.chance(50):
            w.emit("else:")
            w.depth += 1
            _statement(w)
            w.depth -= 1
            w.scope = dict(before)
            return


def _closure(w: Writer) -> None:
    """An inner function that writes what the outer one reads."""
    name = w.name("g")
    form = w.number(0, 3)
    w.emit(f"def {name}(p):")
    if form == 0:
        w.emit("    nonlocal x")
        w.emit(f"    x {w.pick(('+=', '-='))} p")
        w.emit(f"    return {w.pick(('x', 'p', 'x * 2 + p'))}")
    elif form == 1:
        w.emit(f"    a[{w.number(0, 5)}] += p")
        w.emit(f"    return {w.pick(('p', 'a[0]', 'a[1] + p', 'a.sum()'))}")
    elif form == 2:
        w.emit(f"    m[{w.number(0, 2)}] += p")
        w.emit(f"    return m[{w.number(0, 2)}, {w.number(0, 3)}]")
    else:
        w.emit(f"    return p + a[{w.number(0, 5)}]")
    w.ready.append(f"{name}(?)")


def _helper(w: Writer) -> None:
    name = w.name("h")
    w.emit(f"def {name}(v, p):")
    w.emit(w.pick(("    v[0] += p", "    v = v + p", "    v[1:] = v[:-1]", "    v[:] = v[::-1]", "    v += p")))
    w.emit(f"    return {w.pick(('v[0]', 'v.sum()', 'p', 'v[-1] + p'))}")
    w.ready.append(f"{name}({w.pick(('a', 'a[1:]', 'm[1]', 'm[:, 0]', 'm.T[2]'))}, ?)")
