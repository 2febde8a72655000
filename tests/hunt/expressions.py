"""Expressions of a type, as text.  In: a writer and a type; out: an expression that has mostly that type (programs may
go wrong: then they must go wrong in the same way)."""

from __future__ import annotations

from tests.hunt.writer import Type, Writer

WORDS = ("", "a", "b", "ab", "abc", "x y", "Abba", "héllo", " pad ", "1,2,3", "zz", "aXbX")
FLOATS = ("0.0", "0.5", "1.0", "-1.25", "2.5", "3.75", "-0.0", "10.0", "0.25", "1e3")
SPECIAL_FLOATS = ("float('inf')", "float('nan')", "-float('inf')", "1e308", "5e-324", "2.0**53", "1e16")
SPECIAL_INTS = ("2**31", "2**53 + 1", "-(2**31)", "2**62", "2**63 - 1", "-(2**63)", "2**64", "10**20")


def expression(w: Writer, kind: Type, depth: int = 2) -> str:
    """An expression of this type."""
    known = w.named(kind)
    if known and w.chance(45 if depth else 75):
        return w.pick(known)
    if depth > 0 and w.chance(6):
        return f"({expression(w, kind, depth - 1)} if {truth(w, depth - 1)} else {expression(w, kind, depth - 1)})"
    if depth > 0 and w.chance(22):
        taken = _taken(w, kind, depth - 1)
        if taken is not None:
            return taken
    if isinstance(kind, tuple):
        return _CONTAINERS[kind[0]](w, kind, depth)
    return _SCALARS[kind](w, depth)


# --- taken out of something -----------------------------------------------------------------------------------------


def _taken(w: Writer, kind: Type, depth: int) -> str | None:
    """A value of this type out of a container, a field, or a call in scope."""
    found: list[str] = []
    for name, of in w.scope.items():
        if not isinstance(of, tuple):
            continue
        if of[0] == "list" and of[1] == kind:
            found += [f"{name}[{index(w)}]", f"{name}[{index(w)}]"]
            if depth:
                found.append(f"{w.pick(('min', 'max'))}({name})" if kind in ("int", "float", "str") else f"{name}[-1]")
                found.append(f"{name}.pop()" if w.chance(20) else f"{name}[0]")
                found.append(f"next(iter({name}))")
        elif of[0] == "dict" and of[2] == kind:
            found.append(f"{name}[{expression(w, of[1], 0)}]")
            found.append(f"{name}.get({expression(w, of[1], 0)}, {literal(w, kind, 1)})")
            if depth and w.chance(30):
                found.append(f"{name}.setdefault({expression(w, of[1], 0)}, {literal(w, kind, 1)})")
                found.append(f"{name}.pop({expression(w, of[1], 0)}, {literal(w, kind, 1)})")
        elif of[0] == "tuple" and kind in of[1:]:
            found.append(f"{name}[{of[1:].index(kind)}]")
        elif of[0] == "object":
            found += [f"{name}.{field}" for field, of_field in w.classes[of[1]].fields if of_field == kind]
            for method, given, result in w.classes[of[1]].methods:
                if result == kind and depth:
                    found.append(f"{name}.{method}({'' if given is None else expression(w, given, depth - 1)})")
        elif of[0] == "opt" and of[1] == kind:
            found.append(f"({name} if {name} is not None else {literal(w, kind, 0)})")
    for helper in w.functions:
        if helper.result == kind and helper.kind != "generator":
            found.append(call_of(w, helper, depth))
    return w.pick(found) if found else None


def call_of(w: Writer, helper: object, depth: int) -> str:
    kind = getattr(helper, "kind", "")
    arguments = [expression(w, of, max(depth - 1, 0)) for of in getattr(helper, "params", ())]
    if kind == "recursive":
        arguments[0] = str(w.number(0, 5)) if w.chance(70) else f"min({arguments[0]}, 5)"
    return f"{getattr(helper, 'name', '')}({', '.join(arguments)})"


def index(w: Writer) -> str:
    counters = [name for name in w.named("int") if name in w.fixed]
    if counters and w.chance(55):
        return w.pick(counters) + w.pick(("", "", "", " - 1", " + 1", " // 2"))
    return w.pick(("0", "0", "-1", "1", "2", "-2", *w.named("int")[:2]))


# --- scalars --------------------------------------------------------------------------------------------------------


def _int(w: Writer, depth: int) -> str:
    if depth <= 0:
        return w.pick(SPECIAL_INTS) if w.chance(2) else str(w.number(-3, 9))
    form = w.number(0, 17)
    one = expression(w, "int", depth - 1)
    other = expression(w, "int", depth - 1)
    if form < 5:
        return f"({one} {w.pick('+-+-')} {other})"
    if form == 5:
        return f"({one} * {other} % {w.pick(('7', '11', '101', '-5'))})"
    if form == 6:
        return f"({one} {w.pick(('//', '%'))} {w.pick(('2', '3', '-3', '4', other))})"
    if form == 7:
        return (
            f"({one} {w.pick('&|^')} {other})" if w.chance(70) else f"({one} {w.pick(('<<', '>>'))} {w.number(0, 5)})"
        )
    if form == 8:
        return w.pick((f"abs({one})", f"-{one}", f"~{one}", f"int({truth(w, depth - 1)})"))
    if form == 9:
        return f"{w.pick(('min', 'max'))}({one}, {other})"
    if form == 10:
        return f"{w.pick(('int', 'round', 'math.floor'))}({expression(w, 'float', depth - 1)})"
    if form in (11, 12):
        sized = [*w.holding("list"), *w.holding("dict"), *w.holding("set")]
        return f"len({w.pick(sized)[0]})" if sized else f"len({expression(w, 'str', depth - 1)})"
    if form == 13:
        text = expression(w, "str", depth - 1)
        return w.pick((f"{text}.count('a')", f"{text}.find('b')", f"len({text})", f"ord({text}[0])"))
    if form == 14:
        return f"sum({expression(w, ('list', 'int'), depth - 1)})"
    if form == 15:
        i, where = w.name("u"), iterable(w, "int", depth - 1)
        with w.inner(**{i: "int"}):
            return f"sum({expression(w, 'int', depth - 1)} for {i} in {where})"
    if form == 16:
        arrays = w.holding("array")
        if arrays:
            name, of = w.pick(arrays)
            return w.pick((f"{name}.shape[0]", f"{name}.size", f"len({name})", f"{name}.ndim"))
    return f"({one})" if w.chance(50) else str(w.number(0, 5))


def _float(w: Writer, depth: int) -> str:
    if depth <= 0:
        return w.pick(SPECIAL_FLOATS) if w.chance(2) else w.pick(FLOATS)
    form = w.number(0, 9)
    one = expression(w, "float", depth - 1)
    if form < 4:
        return f"({one} {w.pick('+-*')} {expression(w, w.pick(('float', 'float', 'int')), depth - 1)})"
    if form == 4:
        return f"({one} / {w.pick(('2', '4.0', '-0.5', expression(w, 'float', depth - 1)))})"
    if form == 5:
        return w.pick((f"abs({one})", f"-{one}", f"math.sqrt(abs({one}))", f"float({expression(w, 'int', depth - 1)})"))
    if form == 6:
        return f"{w.pick(('min', 'max'))}({one}, {expression(w, 'float', depth - 1)})"
    if form == 7:
        return f"sum({expression(w, ('list', 'float'), depth - 1)}, {w.pick(('0.0', '0.5'))})"
    if form == 8:
        arrays = w.holding("array")
        if arrays:
            name, of = w.pick(arrays)
            places = ", ".join(index(w) for _ in range(of[2]))
            return w.pick((f"float({name}[{places}].real)", f"float({name}.sum().real)", f"float({name}.real.max())"))
    return f"({one} {w.pick(('//', '%'))} {w.pick(('2.0', '0.5', '-1.5'))})"


def truth(w: Writer, depth: int) -> str:
    """A condition; not always of type bool."""
    if w.chance(12):
        return expression(w, w.pick(("int", "str", ("list", "int"))), 0)
    return expression(w, "bool", depth)


def _bool(w: Writer, depth: int) -> str:
    if depth <= 0:
        return w.pick(("True", "False")) if w.chance(30) else _compared(w, 0)
    form = w.number(0, 8)
    if form < 4:
        return _compared(w, depth - 1)
    if form == 4:
        return f"({expression(w, 'bool', depth - 1)} {w.pick(('and', 'or'))} {expression(w, 'bool', depth - 1)})"
    if form == 5:
        return f"(not {expression(w, 'bool', depth - 1)})"
    if form == 6:
        inside = [*w.holding("list"), *w.holding("dict"), *w.holding("set")]
        if inside:
            name, of = w.pick(inside)
            return f"({expression(w, of[1], depth - 1)} {w.pick(('in', 'not in'))} {name})"
        return f"({expression(w, 'str', 0)} in {expression(w, 'str', depth - 1)})"
    if form == 7:
        optional = w.holding("opt")
        if optional:
            return f"({w.pick(optional)[0]} {w.pick(('is', 'is not', '=='))} None)"
        alike = [name for name, of in w.scope.items() if isinstance(of, tuple) and of[0] in ("list", "dict", "object")]
        if len(alike) > 1:
            return f"({w.pick(alike)} {w.pick(('is', 'is not'))} {w.pick(alike)})"
    i, where = w.name("u"), iterable(w, "int", 0)
    with w.inner(**{i: "int"}):
        return f"{w.pick(('any', 'all'))}({_compared(w, 0)} for {i} in {where})"


def _compared(w: Writer, depth: int) -> str:
    kind = w.pick(("int", "int", "float", "str", "int"))
    sign = w.pick(("<", ">", "<=", ">=", "==", "!="))
    one, other = expression(w, kind, depth), expression(w, kind, depth)
    if kind != "str" and w.chance(10):
        return f"({one} {sign} {other} {w.pick(('<', '<='))} {expression(w, kind, depth)})"
    return f"({one} {sign} {other})"


def _str(w: Writer, depth: int) -> str:
    if depth <= 0:
        return repr(w.pick(WORDS))
    form = w.number(0, 12)
    one = expression(w, "str", depth - 1)
    if form < 3:
        return f"({one} + {expression(w, 'str', depth - 1)})[:20]"
    if form == 3:
        return f"{one}[{w.pick(('1:', ':-1', '::-1', ':2', '::2', '-2:'))}]"
    if form == 4:
        return f"{one}.{w.pick(('upper()', 'lower()', 'strip()', 'title()', 'swapcase()', 'lstrip()', 'capitalize()'))}"
    if form == 5:
        return f"str({expression(w, w.pick(('int', 'int', 'float', 'bool')), depth - 1)})"
    if form == 6:
        value = expression(w, w.pick(("int", "float", "str")), 0)
        return f"f'{{{value}}}-{{{expression(w, 'int', 0)}:3d}}'" if "'" not in value else one
    if form == 7:
        return f"{one}.replace({w.pick(WORDS[1:4])!r}, {w.pick(WORDS)!r})"
    if form == 8:
        return f"{w.pick(WORDS[:5])!r}.join({expression(w, ('list', 'str'), depth - 1)})[:30]"
    if form == 9:
        return f"{one}[{index(w)}]"
    if form == 10:
        return f"({one} * {w.number(0, 3)})[:20]"
    if form == 11:
        return f"chr(97 + {expression(w, 'int', depth - 1)} % 26)"
    return f"{one}.{w.pick(('zfill(5)', 'rjust(6)', 'center(7, chr(42))', 'ljust(4)'))}"


# --- containers -----------------------------------------------------------------------------------------------------


def literal(w: Writer, kind: Type, size: int | None = None) -> str:
    """A value that is written out: what calls get as arguments, and programs begin with."""
    if not isinstance(kind, tuple):
        return "None" if kind == "None" else _SCALARS[kind](w, 0) if kind != "bool" else w.pick(("True", "False"))
    head = kind[0]
    count = w.pick((0, 1, 2, 2, 3, 4)) if size is None else size
    if head == "list":
        return "[" + ", ".join(literal(w, kind[1]) for _ in range(count)) + "]"
    if head == "dict":
        return "{" + ", ".join(f"{literal(w, kind[1])}: {literal(w, kind[2])}" for _ in range(count)) + "}"
    if head == "set":
        return "{" + ", ".join(literal(w, kind[1]) for _ in range(count)) + "}" if count else "set()"
    if head == "tuple":
        return "(" + "".join(literal(w, of) + ", " for of in kind[1:]) + ")"
    if head == "opt":
        return "None" if w.chance(40) else literal(w, kind[1])
    if head == "object":
        made = w.classes[kind[1]]
        return f"{made.name}({', '.join(literal(w, of) for _, of in made.fields)})"
    return array_literal(w, kind)


def iterable(w: Writer, kind: Type, depth: int) -> str:
    """Something to loop over whose items are of this type."""
    options = []
    if kind == "int":
        options += [f"range({w.number(0, 5)})", f"range(1, {w.number(1, 6)})", f"range({w.number(2, 6)}, 0, -1)"]
        options += [f"range(len({name}))" for name, _ in w.holding("list")[:2]]
    if kind == "str":
        options += [f"{expression(w, 'str', 0)}"]
    options += [name for name in w.named(("list", kind))] * 2
    options += [f"reversed({name})" for name in w.named(("list", kind))[:1]]
    options += [name for name, of in w.holding("dict") if of[1] == kind]
    options += [f"{name}.values()" for name, of in w.holding("dict") if of[2] == kind]
    options += [f"sorted({name})" for name, of in w.holding("set") if of[1] == kind]
    options += [call_of(w, f, 0) for f in w.functions if f.kind == "generator" and f.result == kind]
    options.append(expression(w, ("list", kind), depth))
    return w.pick(options)


def _list(w: Writer, kind: Type, depth: int) -> str:
    of = kind[1]
    if depth <= 0:
        return "[" + ", ".join(expression(w, of, 0) for _ in range(w.number(0, 3))) + "]"
    form = w.number(0, 10)
    known = w.named(kind)
    if form < 2:
        return "[" + ", ".join(expression(w, of, depth - 1) for _ in range(w.number(0, 4))) + "]"
    if form < 5:
        i, source = w.name("v"), w.pick(("int", "int", "float", "str", of))
        where = iterable(w, source, 0)
        with w.inner(**{i: source}):
            item = expression(w, of, depth - 1)
            test = f" if {truth(w, 0)}" if w.chance(30) else ""
        return f"[{item} for {i} in {where}{test}]"
    if form == 5 and known:
        return f"{w.pick(known)}[{w.pick(('1:', ':-1', '::-1', ':', '::2', ':2', '-2:'))}]"
    if form == 6 and known and of in ("int", "float", "str"):
        options = ("", ", reverse=True", ", key=lambda q: -q" if of != "str" else ", key=len")
        return f"sorted({w.pick(known)}{w.pick(options)})"
    if form == 7:
        return f"({expression(w, kind, depth - 1)} + {expression(w, kind, depth - 1)})[:12]"
    if form == 8:
        return f"[{expression(w, of, depth - 1)}] * {w.number(0, 3)}"
    if form == 9:
        return f"list({iterable(w, of, depth - 1)})"
    if of == "str" and w.chance(50):
        return f"{expression(w, 'str', depth - 1)}.split({w.pick(('', repr(','), repr('a')))})"
    return literal(w, kind)


def _dict(w: Writer, kind: Type, depth: int) -> str:
    if depth > 0 and w.chance(40):
        i = w.name("v")
        source = w.pick(("int", "str", kind[1]))
        where = iterable(w, source, 0)
        with w.inner(**{i: source}):
            key = i if source == kind[1] else expression(w, kind[1], depth - 1)
            return f"{{{key}: {expression(w, kind[2], depth - 1)} for {i} in {where}}}"
    if depth > 0 and w.named(kind) and w.chance(30):
        name = w.pick(w.named(kind))
        return w.pick((f"dict({name})", f"{name}.copy()", f"{{**{name}}}"))
    count = w.number(0, 3)
    items = (f"{expression(w, kind[1], 0)}: {expression(w, kind[2], max(depth - 1, 0))}" for _ in range(count))
    return "{" + ", ".join(items) + "}"


def _set(w: Writer, kind: Type, depth: int) -> str:
    if depth > 0:
        known = w.named(kind)
        if known and w.chance(35):
            return f"({w.pick(known)} {w.pick('|&-^')} {expression(w, kind, depth - 1)})"
        if w.chance(50):
            return f"set({expression(w, ('list', kind[1]), depth - 1)})"
        i = w.name("v")
        where = iterable(w, "int", 0)
        with w.inner(**{i: "int"}):
            return f"{{{expression(w, kind[1], depth - 1)} for {i} in {where}}}"
    return literal(w, kind)


def _tuple(w: Writer, kind: Type, depth: int) -> str:
    return "(" + "".join(expression(w, of, max(depth - 1, 0)) + ", " for of in kind[1:]) + ")"


def _opt(w: Writer, kind: Type, depth: int) -> str:
    if w.chance(30):
        return "None"
    maps = [name for name, of in w.holding("dict") if of[2] == kind[1]]
    if maps and w.chance(40):
        name = w.pick(maps)
        return f"{name}.get({expression(w, w.scope[name][1], 0)})"
    return expression(w, kind[1], max(depth - 1, 0))


def _object(w: Writer, kind: Type, depth: int) -> str:
    made = w.classes[kind[1]]
    return f"{made.name}({', '.join(expression(w, of, max(depth - 1, 0)) for _, of in made.fields)})"


# --- arrays ---------------------------------------------------------------------------------------------------------


def array_literal(w: Writer, kind: Type, shape: tuple[int, ...] | None = None) -> str:
    """An array that is made here: values that repeat exactly, all shapes and orders in memory."""
    _, dtype, rank = kind
    if shape is None:
        size = w.pick((0, 1, 2, 3, 3, 4, 4, 5, 8))
        shape = tuple(size if w.chance(50) else w.pick((1, 2, 3, 4)) for _ in range(rank))
    count = 1
    for extent in shape:
        count *= extent
    step, offset = w.pick((1, 2, 3, 5)), w.number(0, 6)
    text = f"np.arange({count}) * {step} % 7"
    if dtype == "bool":
        text = f"({text} > {offset % 7})"
    elif dtype.startswith("float"):
        text = f"(({text} - {offset}) / 4).astype(np.{dtype})"
    elif dtype.startswith("complex"):
        text = f"(({text} - {offset}) / 4 + 0.5j).astype(np.{dtype})"
    elif dtype.startswith("u"):
        text = f"({text}).astype(np.{dtype})"
    else:
        text = f"({text} - {offset % 4}).astype(np.{dtype})"
    if rank != 1:
        text = f"{text}.reshape({shape})"
    return text


def _array(w: Writer, kind: Type, depth: int) -> str:
    from tests.hunt.knowledge import array_expression

    return array_expression(w, kind, depth)


_SCALARS = {"int": _int, "float": _float, "bool": _bool, "str": _str, "None": lambda w, depth: "None"}
_CONTAINERS = {
    "list": _list,
    "dict": _dict,
    "set": _set,
    "tuple": _tuple,
    "opt": _opt,
    "object": _object,
    "array": _array,
}
