"""From a seed to a program: classes, helpers, the function f, and several calls of it with arguments of other sizes,
types, orders in memory, and with arguments that are one object or overlap.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.hunt import entries, numeric, plain, plain_classes, plain_flow
from tests.hunt.case import Case
from tests.hunt.expressions import array_literal, expression, literal
from tests.hunt.statements import body, statement
from tests.hunt.writer import DTYPES, ClassOf, FunctionOf, Type, Writer

#: Characters of programs: weights of kinds of statements, and the types that parameters have.
TASTES: dict[str, dict[str, float]] = {
    "containers": {"arrays": 2},
    "strings": {"arrays": 0, "strings": 1},
    "objects": {"arrays": 2, "objects": 1},
    "arrays": {"arrays": 40},
    "mixed": {"arrays": 12, "objects": 1, "exceptions": 8, "closures": 6},
    "knowledge": {"arrays": 4, "knowledge": 80},
    "exceptions": {"arrays": 6, "exceptions": 25},
    "functions": {"arrays": 4, "closures": 15, "helpers": 1},
    "numeric": {},
    "entries": {},
}
#: How often each taste is chosen; `choose` sets others.
_SHARE: dict[str, float] = {
    "containers": 5,
    "strings": 3,
    "objects": 3,
    "arrays": 5,
    "mixed": 4,
    "knowledge": 7,
    "exceptions": 3,
    "functions": 4,
    "numeric": 10,
    "entries": 14,
}


def choose(shares: dict[str, float]) -> None:
    """Have tastes chosen by these weights, and no others."""
    unknown = shares.keys() - TASTES.keys()
    if unknown:
        raise ValueError(f"no taste {', '.join(sorted(unknown))}: there are {', '.join(TASTES)}")
    _SHARE.clear()
    _SHARE.update(shares)


def generate(seed: int, attempt: int = 0, is_plain: bool = False) -> Case:
    """A program of a seed; `is_plain`: one of the idioms of plain Python, without arrays."""
    if is_plain:
        return _plain(seed, attempt)
    taste = random.Random(seed).choices(list(_SHARE), list(_SHARE.values()))[0]
    if taste == "numeric":
        return numeric.generate(seed, attempt)
    if taste == "entries":
        return entries.generate(seed, attempt)
    chooser = random.Random(f"hunt {seed} {attempt}")
    w = Writer(chooser, taste=dict(TASTES[taste]))
    if w.taste.get("objects") or w.chance(10):
        _class(w)
    if w.taste.get("helpers") or w.chance(25):
        for _ in range(w.number(1, 2)):
            w.pick((_function, _recursive, _generator, _recursive))(w)
    params = _params(w, taste)
    _main(w, params, taste)
    calls = tuple(_call(w, params, number) for number in range(w.pick((1, 2, 2, 3))))
    return Case("\n".join(w.lines) + "\n", calls, f"{seed}.{attempt} {taste}")


def _plain(seed: int, attempt: int) -> Case:
    """Idioms of plain Python, between statements of the other kinds."""
    w = Writer(random.Random(f"plain {seed} {attempt}"), taste={"arrays": 0, "exceptions": 6, "closures": 4})
    plain_classes.define(w)
    if w.chance(50):
        plain_flow.define(w)
    containers = (plain.INTS, ("list", "str"), ("dict", "str", "int"), ("list", plain.INTS))
    params = [w.pick(("int", "int", "float", "str", *containers))]
    params += [w.plain_type() for _ in range(w.number(0, 2))]
    names = [f"{'abcdegh'[place]}" for place in range(len(params))]
    w.emit(f"def f({', '.join(names)}):")
    w.scope, w.depth, w.budget = dict(zip(names, params)), 1, 6
    for _ in range(w.number(1, 4)):
        if w.ready and w.chance(50):
            plain_flow.use(w)
        else:
            plain.statement(w) if w.chance(75) else statement(w)
    shown = [name for name in w.scope if name not in names] or names
    w.random.shuffle(shown)
    w.emit(f"return {', '.join(shown[: w.number(1, 6)])}")
    w.depth = 0
    calls = []
    for number in range(w.pick((1, 2, 3, 3))):
        before = f"global LIMIT\nLIMIT = {w.number(0, 5)}\n" if w.chance(15) else ""
        before += "LOG.append(5)\n" if w.chance(5) else ""
        calls.append(before + _call(w, params, number))
    return Case("\n".join(w.lines) + "\n", tuple(calls), f"{seed}.{attempt} plain")


# --- definitions ----------------------------------------------------------------------------------------------------


def _class(w: Writer) -> None:
    name = w.name("C")
    kinds: list[Type] = ["int", "float", "str", ("list", "int"), ("list", "float"), ("dict", "int", "int"), "bool"]
    fields = tuple((f"m{place}", w.pick(kinds)) for place in range(w.number(1, 3)))
    if w.chance(35):
        w.emit("@dataclass")
        w.emit(f"class {name}:")
        for field, of in fields:
            w.emit(f"    {field}: {of if isinstance(of, str) else of[0]}")
    else:
        w.emit(f"class {name}:")
        if w.chance(20):
            w.emit(f"    __slots__ = {tuple(field for field, _ in fields)!r}")
        w.emit(f"    def __init__(self, {', '.join(field for field, _ in fields)}):")
        for field, _ in fields:
            w.emit(f"        self.{field} = {field}")
    methods: list[tuple[str, Type, Type]] = []
    for place in range(w.number(0, 2)):
        method, given, result = f"do{place}", w.pick((None, "int", "float")), w.pick(("int", "float", "str"))
        w.emit(f"    def {method}(self{'' if given is None else ', p'}):")
        inner = replace_scope(w, {f"self.{field}": of for field, of in fields} | ({"p": given} if given else {}))
        w.depth += 2
        changed = [field for field, of in fields if of in ("int", "float")]
        if changed and w.chance(50):
            w.emit(f"self.{w.pick(changed)} += {w.number(1, 3)}")
        w.emit(f"return {expression(w, result, 2)}")
        w.depth -= 2
        w.scope = inner
        methods.append((method, given, result))
    if w.chance(15):
        first = fields[0][0]
        w.emit(f"    def __{w.pick(('eq', 'lt'))}__(self, other):")
        w.emit(f"        return self.{first} {w.pick(('==', '<'))} other.{first}")
    w.classes[name] = ClassOf(name, fields, tuple(methods))


def replace_scope(w: Writer, scope: dict[str, Type]) -> dict[str, Type]:
    before, w.scope = w.scope, scope
    return before


def _begin(w: Writer, stem: str, params: tuple[Type, ...]) -> tuple[str, list[str], dict[str, Type]]:
    name = w.name(stem)
    names = [f"{stem[0]}_{place}" for place in range(len(params))]
    w.emit(f"def {name}({', '.join(names)}):")
    before = replace_scope(w, dict(zip(names, params)))
    w.depth += 1
    return name, names, before


def _function(w: Writer) -> None:
    params = tuple(w.any_type(1) for _ in range(w.number(1, 2)))
    result = w.any_type(1)
    name, _, before = _begin(w, "helper", params)
    w.result, budget, w.budget = result, w.budget, 3
    for _ in range(w.number(0, 2)):
        statement(w)
    w.emit(f"return {expression(w, result, 2)}")
    w.result, w.budget = None, budget
    w.depth -= 1
    w.scope = before
    w.functions.append(FunctionOf(name, params, result))


def _recursive(w: Writer) -> None:
    """A function that calls itself with a smaller number."""
    other, result = (
        w.pick(("int", "str", ("list", "int"), "float")),
        w.pick(("int", "str", "float", ("list", "int"), "bool")),
    )
    name, (n, given), before = _begin(w, "walk", ("int", other))
    w.emit(f"if {n} <= 0:")
    w.emit(f"    return {expression(w, result, 1)}")
    again = f"{name}({n} - {w.pick(('1', '1', '2'))}, {w.pick((given, expression(w, other, 1)))})"
    if w.chance(30):
        w.emit(f"if {expression(w, 'bool', 1)}:")
        w.emit(f"    return {expression(w, result, 1)}")
    if result in ("int", "float"):
        sign = w.pick(("+", "-", "+"))
        twice = f" {sign} {name}({n} - 2, {given})" if w.chance(40) else ""
        w.emit(f"return {again} {sign} {expression(w, result, 1)}{twice}")
    elif result == "bool":
        w.emit(f"return {w.pick(('not ', ''))}{again}")
    elif result == "str":
        w.emit(f"return ({again} + {expression(w, 'str', 1)})[:25]")
    else:
        w.emit(f"rest = {again}")
        w.emit(w.pick(("rest.append(%s)" % n, "rest = rest + [%s]" % n, "rest.insert(0, %s)" % n)))
        w.emit("return rest")
    w.depth -= 1
    w.scope = before
    w.functions.append(FunctionOf(name, ("int", other), result, "recursive"))


def _generator(w: Writer) -> None:
    result = w.pick(("int", "float", "str"))
    name, (given,), before = _begin(w, "gen", (w.pick((("list", "int"), "int")),))
    many = w.scope[given] != "int"
    w.emit(f"for q in {given if many else f'range(min({given}, 4))'}:")
    w.depth += 1
    w.scope["q"] = "int"
    if w.chance(40):
        w.emit(f"if {expression(w, 'bool', 1)}:")
        w.emit(f"    {w.pick(('continue', 'return', 'break'))}")
    w.emit(f"yield {expression(w, result, 1)}")
    w.depth -= 1
    if w.chance(25):
        w.emit(f"yield {literal(w, result)}")
    kind = w.scope[given]
    w.depth -= 1
    w.scope = before
    w.functions.append(FunctionOf(name, (kind,), result, "generator"))


def _params(w: Writer, taste: str) -> list[Type]:
    if taste in ("arrays", "knowledge"):
        found = [w.array_type() for _ in range(w.number(1, 3))]
        return found + [w.pick(("int", "float", ("list", "int"))) for _ in range(w.number(0, 1))]
    found = [w.any_type() for _ in range(w.number(1, 4))]
    if taste == "strings":
        found[0] = w.pick(("str", ("list", "str"), ("dict", "str", "int"), ("list", ("list", "str"))))
    if taste == "objects":
        name = w.pick(sorted(w.classes))
        found[0] = w.pick((("object", name), ("list", ("object", name)), ("object", name)))
    if w.chance(20):
        found.append(w.pick(found))  # so that two arguments can be one object
    return found


def _main(w: Writer, params: list[Type], taste: str) -> None:
    names = [f"{'abcdegh'[place]}" for place in range(len(params))]
    defaults = ["" for _ in params]
    if w.chance(6) and not isinstance(params[-1], tuple):
        defaults[-1] = f"={literal(w, params[-1])}"
    w.emit(f"def f({', '.join(name + default for name, default in zip(names, defaults))}):")
    w.scope = dict(zip(names, params))
    w.depth = 1
    w.budget = w.number(4, 14)
    if taste == "knowledge":
        from tests.hunt.statements import known_call

        for _ in range(w.number(1, 3)):
            known_call(w) if w.chance(85) else statement(w)
    else:
        body(w, w.number(2, 5))
    shown = [name for name in w.scope if name not in names] or names
    w.random.shuffle(shown)
    kept = shown[: w.number(1, 4)]
    if w.chance(30):
        kept.append(w.pick(names))
    if w.chance(4) and taste != "knowledge":
        w.emit(f"yield {kept[0]}")
    elif len(kept) == 1 or w.chance(15):
        w.emit(f"return {kept[0]}")
    else:
        w.emit(f"return {', '.join(kept)}" if w.chance(85) else f"return [{', '.join(kept)}]")
    w.depth = 0


# --- calls ----------------------------------------------------------------------------------------------------------


def _call(w: Writer, params: list[Type], number: int) -> str:
    """The body of a function that returns the arguments of one call."""
    lines: list[str] = []
    given: list[str] = []
    size = w.pick((0, 1, 2, 3, 4, 5)) if number else w.pick((2, 3, 4, 5))
    for place, kind in enumerate(params):
        if number and w.chance(12):
            kind = _other(w, kind)
        alike = [name for name, of in zip(given, params) if of == kind]
        if alike and w.chance(35):
            given.append(w.pick(alike))  # one object twice
            continue
        name = f"x{place}"
        if isinstance(kind, tuple) and kind[0] == "array":
            lines += _array_argument(w, name, kind, size, given, params)
        elif isinstance(kind, tuple) and kind[0] == "list" and isinstance(kind[1], tuple) and w.chance(15):
            lines += [f"inner = {literal(w, kind[1])}", f"{name} = [inner, inner, {literal(w, kind[1])}]"]
        else:
            lines.append(f"{name} = {literal(w, kind)}")
        given.append(name)
    return "\n".join([*lines, f"return ({''.join(name + ', ' for name in given)})"])


def _other(w: Writer, kind: Type) -> Type:
    """Another type that callers pass where they passed this one."""
    swaps: dict[Type, tuple[Type, ...]] = {
        "int": ("float", "bool", "int"),
        "float": ("int", "bool"),
        "bool": ("int",),
        "str": ("str", "int"),
    }
    if not isinstance(kind, tuple):
        return w.pick(swaps.get(kind, (kind,)))
    if kind[0] == "array":
        return ("array", w.pick(DTYPES), kind[2] if w.chance(80) else w.pick((1, 2)))
    if kind[0] in ("list", "set"):
        return (kind[0], _other(w, kind[1])) if kind[0] == "list" or kind[1] != "str" else kind
    if kind[0] == "dict":
        return (*kind[:2], _other(w, kind[2]))
    return kind


def _array_argument(w: Writer, name: str, kind: Type, size: int, given: list[str], params: list[Type]) -> list[str]:
    """An array: contiguous, or a view with strides, transposed, empty, read-only, or overlapping one before it."""
    rank = kind[2]
    shape = tuple(size if w.chance(85) else w.pick((1, size + 1)) for _ in range(rank))
    same = [one for one, of in zip(given, params) if isinstance(of, tuple) and of == kind]
    form = w.number(0, 19)
    if same and form < 3:
        return [f"{name} = {w.pick(same)}[{w.pick(('1:', ':-1', '::-1', ':', '::2'))}]"]
    if form == 3:
        wide = (2 * shape[0], *shape[1:])
        return [f"{name} = {array_literal(w, kind, wide)}[::2]"]
    if form == 4:
        return [f"{name} = {array_literal(w, kind, shape)}[::-1]"]
    if form == 5 and rank > 1:
        return [f"{name} = {array_literal(w, kind, shape[::-1])}.T"]
    if form == 6 and rank > 1:
        return [f"{name} = np.asfortranarray({array_literal(w, kind, shape)})"]
    if form == 7:
        return [f"{name} = {array_literal(w, kind, (*shape[:-1], shape[-1] + 1))}[..., 1:]"]
    if form == 8 and w.chance(40):
        return [f"{name} = {array_literal(w, kind, shape)}", f"{name}.flags.writeable = False"]
    if form == 9 and w.chance(40):
        return [f"{name} = np.broadcast_to({array_literal(w, kind, (1, *shape[1:]))}, {shape})"]
    if form == 10 and kind[1].startswith("float"):
        place = "0" if rank == 1 else ", ".join("0" * rank)
        lines = [f"{name} = {array_literal(w, kind, shape)}"]
        return [*lines, f"if {name}.size:", f"    {name}[{place}] = {w.pick(('np.nan', 'np.inf', '-0.0', '-np.inf'))}"]
    return [f"{name} = {array_literal(w, kind, shape)}"]


__all__ = ["TASTES", "choose", "generate", "replace"]
