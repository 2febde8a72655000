"""Statements, written into the function at hand.  In: a writer; out: lines, and what they bind in its scope."""

from __future__ import annotations

from tests.hunt.expressions import expression, index, iterable, literal, truth
from tests.hunt.knowledge import call
from tests.hunt.writer import Type, Writer

_ERRORS = (
    "ValueError",
    "KeyError",
    "IndexError",
    "ZeroDivisionError",
    "TypeError",
    "Exception",
    "(ValueError, KeyError)",
)
_RAISED = ("ValueError", "KeyError", "RuntimeError", "IndexError")


def body(w: Writer, most: int) -> None:
    for _ in range(w.number(1, most)):
        statement(w)


def statement(w: Writer) -> None:
    w.budget -= 1
    simple = w.budget <= 0 or w.depth >= 5
    kinds = [
        (assign, 16),
        (change_container, 22),
        (augment, 8),
        (array_statement, w.taste.get("arrays", 6)),
        (known_call, w.taste.get("knowledge", 0)),
        (object_statement, 8 if w.holding("object") else 0),
        (printing, 1.5),
        (rare, 4),
    ]
    if not simple:
        kinds += [(loop, 16), (branch, 12), (attempt, w.taste.get("exceptions", 4)), (counted_while, 3)]
        kinds += [(closure, w.taste.get("closures", 2))]
    chosen = w.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
    chosen(w)


def assign(w: Writer) -> None:
    """A new variable, or another value of an old one: mostly of the same type."""
    old = [name for name, of in w.scope.items() if name not in w.fixed and of != "result"]
    if old and w.chance(35):
        name = w.pick(old)
        kind = w.scope[name] if w.chance(92) else w.any_type(1)
    else:
        kind = w.any_type()
        name = w.name("v")
    if w.chance(8) and isinstance(kind, tuple) and kind[0] in ("list", "dict", "set"):
        w.emit(f"{name} = {_empty(kind)}")
    elif w.chance(4) and len(old) >= 2:
        one, other = w.pick(old), w.pick(old)
        if w.scope[one] == w.scope[other] and one != other:
            w.emit(f"{one}, {other} = {other}, {one}")
        return
    elif w.chance(3):
        twin = w.name("v")
        w.emit(f"{name} = {twin} = {expression(w, kind)}")
        w.scope[twin] = kind
    else:
        w.emit(f"{name} = {expression(w, kind)}")
    w.scope[name] = kind


def _empty(kind: Type) -> str:
    return {"list": "[]", "dict": "{}", "set": "set()"}[kind[0]]


def augment(w: Writer) -> None:
    options = [name for name, of in w.scope.items() if of in ("int", "float") and name not in w.fixed]
    if not options:
        return assign(w)
    name = w.pick(options)
    sign = w.pick(("+=", "+=", "-=", "+=")) if w.chance(85) else w.pick(("//=", "%=", "*="))
    kind = w.scope[name]
    value = expression(w, kind, 1) if sign in ("+=", "-=") else w.pick(("2", "3", "5"))
    w.emit(f"{name} {sign} {value}")
    return None


# --- containers -----------------------------------------------------------------------------------------------------


def change_container(w: Writer) -> None:
    """Something is put into a container, taken out, or moved about."""
    options = [(name, of) for name, of in w.scope.items() if isinstance(of, tuple) and of[0] in _CHANGES]
    if not options:
        return assign(w)
    place, kind = w.pick(options)
    # A container inside a container: what is reached by a path is changed in place.
    while w.chance(45):
        inner = _reached(w, place, kind)
        if inner is None:
            break
        place, kind = inner
    if kind[0] in _CHANGES:
        _CHANGES[kind[0]](w, place, kind)
    return None


def _reached(w: Writer, place: str, kind: Type) -> tuple[str, Type] | None:
    """A container inside a container."""
    if kind[0] == "list" and isinstance(kind[1], tuple) and kind[1][0] in _CHANGES:
        return f"{place}[{index(w)}]", kind[1]
    if kind[0] == "dict" and isinstance(kind[2], tuple) and kind[2][0] in _CHANGES:
        key = expression(w, kind[1], 0)
        if kind[2][0] in ("list", "dict", "set") and w.chance(60):
            return f"{place}.setdefault({key}, {_empty(kind[2])})", kind[2]
        return f"{place}[{key}]", kind[2]
    return None


def _change_list(w: Writer, place: str, kind: Type) -> None:
    of = kind[1]
    form = w.number(0, 17)
    if form < 6:
        w.emit(f"{place}.append({expression(w, of, 1)})")
    elif form < 9:
        w.emit(f"{place}[{index(w)}] = {expression(w, of, 1)}")
    elif form == 9:
        w.emit(f"{place}.extend({iterable(w, of, 0)})" if ".set" in place else f"{place} += {expression(w, kind, 0)}")
    elif form == 10:
        w.emit(f"{place}.insert({index(w)}, {expression(w, of, 0)})")
    elif form == 11:
        w.emit(f"if {place}:")
        with w.block():
            w.emit(f"{place}.pop({w.pick(('', '0', '-1'))})")
    elif form == 12:
        w.emit(
            f"{place}.{w.pick(('reverse()', 'reverse()', 'sort()' if of in ('int', 'float', 'str') else 'reverse()'))}"
        )
    elif form == 13:
        w.emit(f"{place}[{w.pick((':', '1:', ':1', '::2'))}] = {expression(w, kind, 0)}")
    elif form == 14:
        w.emit(f"del {place}[{w.pick(('0', '-1', '1:', ':1'))}]")
    elif form == 15 and of in ("int", "float"):
        w.emit(f"{place}[{index(w)}] {w.pick(('+=', '-='))} {expression(w, of, 0)}")
    elif form == 16:
        w.emit(f"if len({place}) > 1:")
        with w.block():
            w.emit(f"{place}[0], {place}[-1] = {place}[-1], {place}[0]")
    else:
        w.emit(f"{place}.{w.pick(('clear()', f'remove({expression(w, of, 0)})', f'append({place}[0])'))}")


def _change_dict(w: Writer, place: str, kind: Type) -> None:
    key = expression(w, kind[1], 0)
    form = w.number(0, 9)
    if form < 4:
        w.emit(f"{place}[{key}] = {expression(w, kind[2], 1)}")
    elif form == 4:
        w.emit(f"{place}.update({expression(w, kind, 0)})")
    elif form == 5:
        w.emit(f"{place}.pop({key}, None)")
    elif form == 6:
        w.emit(f"if {key} in {place}:")
        with w.block():
            w.emit(f"del {place}[{key}]")
    elif form == 7 and kind[2] in ("int", "float"):
        w.emit(f"{place}[{key}] = {place}.get({key}, 0) + {expression(w, kind[2], 0)}")
    elif form == 8:
        w.emit(f"{place}.setdefault({key}, {expression(w, kind[2], 0)})")
    else:
        w.emit(f"{place}[{key}] = {expression(w, kind[2], 0)}")


def _change_set(w: Writer, place: str, kind: Type) -> None:
    item = expression(w, kind[1], 1)
    w.emit(f"{place}.{w.pick(('add', 'add', 'add', 'discard', 'remove'))}({item})")


def _change_array(w: Writer, place: str, kind: Type) -> None:
    _, dtype, rank = kind
    value = expression(
        w, "float" if dtype.startswith(("float", "complex")) else "bool" if dtype == "bool" else "int", 1
    )
    form = w.number(0, 8)
    places = ", ".join(index(w) for _ in range(rank))
    if form < 3:
        w.emit(f"{place}[{places}] {w.pick(('=', '=', '+='))} {value}")
    elif form == 3:
        w.emit(f"{place}[{w.pick((':', '...', '1:', '::2', ':-1'))}] {w.pick(('=', '+=', '*='))} {value}")
    elif form == 4:
        w.emit(f"{place}[{place} > {w.number(-1, 2)}] {w.pick(('=', '+='))} {value}")
    elif form == 5:
        w.emit(f"{place}[{w.pick(('[0, 1]', '[0, 0]', '[-1]'))}] {w.pick(('=', '+='))} {value}")
    elif form == 6:
        alike = [name for name, of in w.holding("array") if of[2] == rank]
        w.emit(f"{place}[:] = {w.pick(alike) if alike else value}")
    elif form == 7:
        alike = [name for name, of in w.holding("array") if of[2] == rank]
        other = w.pick(alike) if alike else place
        w.emit(f"{place}[1:] {w.pick(('=', '+=', '-='))} {other}[:-1]")
    else:
        w.emit(f"{place} {w.pick(('+=', '-=', '*='))} {w.pick((value, place))}")


_CHANGES = {"list": _change_list, "dict": _change_dict, "set": _change_set, "array": _change_array}


def array_statement(w: Writer) -> None:
    arrays = w.holding("array")
    if not arrays:
        return assign(w)
    name, kind = w.pick(arrays)
    if w.chance(40):
        made = w.name("v")
        w.emit(f"{made} = {expression(w, kind, 2)}")
        w.scope[made] = kind
    else:
        _change_array(w, name, kind)
    return None


def known_call(w: Writer) -> None:
    """A call of something in the knowledge base; its result is kept, but takes no part in what follows."""
    text, in_place = call(w)
    if in_place:
        w.emit(text)
        return
    name = w.name("r")
    w.emit(f"{name} = {text}")
    w.scope[name] = "result"


# --- control --------------------------------------------------------------------------------------------------------


def branch(w: Writer) -> None:
    w.emit(f"if {truth(w, 1)}:")
    with w.block():
        if w.loops and w.chance(20):
            w.emit(w.pick(("break", "continue")))
        elif w.chance(5) and w.result is None:
            w.emit(f"return {expression(w, w.plain_type(), 0)}")
        else:
            body(w, 2)
    if w.chance(20):
        w.emit(f"elif {truth(w, 1)}:")
        with w.block():
            body(w, 1)
    if w.chance(40):
        w.emit("else:")
        with w.block():
            body(w, 2)


def loop(w: Writer) -> None:
    i = w.name("i")
    names: dict[str, Type] = {i: "int"}
    form = w.number(0, 11)
    lists, dicts = w.holding("list"), w.holding("dict")
    if form < 4:
        head = f"for {i} in {iterable(w, 'int', 0)}:"
    elif form < 6 and lists:
        name, of = w.pick(lists)
        names = {i: of[1]}
        head = f"for {i} in {name}{w.pick(('', '', '[:]', '[::-1]'))}:"
    elif form == 6 and lists:
        name, of = w.pick(lists)
        j = w.name("e")
        names = {i: "int", j: of[1]}
        head = f"for {i}, {j} in enumerate({name}):"
    elif form < 9 and dicts:
        name, of = w.pick(dicts)
        j = w.name("e")
        names = {i: of[1], j: of[2]}
        order = w.pick(("list", "list", "sorted") if of[2] in ("int", "float", "str") else ("list",))
        head = f"for {i}, {j} in {order}({name}.items()):"
        if w.chance(30):
            head = f"for {i}, {j} in {name}.items():"
    elif form == 9 and lists:
        name, of = w.pick(lists)
        other, of_other = w.pick(lists)
        j = w.name("e")
        names = {i: of[1], j: of_other[1]}
        head = f"for {i}, {j} in zip({name}, {other}):"
    else:
        kind = w.pick(("int", "float", "str"))
        names = {i: kind}
        head = f"for {i} in {iterable(w, kind, 1)}:"
    w.emit(head)
    _inside(w, names, 3)
    if w.chance(6):
        w.emit("else:")
        with w.block():
            body(w, 1)


def _inside(w: Writer, names: dict[str, Type], most: int) -> None:
    with w.block():
        w.loops += 1
        before = set(w.fixed)
        w.scope.update(names)
        w.fixed |= {name for name, of in names.items() if of == "int"}
        body(w, most)
        w.fixed = before
        w.loops -= 1


def counted_while(w: Writer) -> None:
    count = w.name("w")
    w.emit(f"{count} = {w.number(0, 3)}")
    w.scope[count] = "int"
    w.emit(f"while {count} {w.pick(('< 4', '< 3', '!= 4'))}{f' and {truth(w, 0)}' if w.chance(25) else ''}:")
    w.fixed.add(count)
    with w.block():
        w.emit(f"{count} += 1")
        w.loops += 1
        body(w, 2)
        w.loops -= 1


def attempt(w: Writer) -> None:
    """try, with handlers that are met or not."""
    w.emit("try:")
    loops, w.loops = w.loops, w.loops if w.chance(50) else 0
    with w.block():
        body(w, 2)
        if w.chance(25):
            w.emit(f"if {truth(w, 0)}:")
            with w.block():
                w.emit(f"raise {w.pick(_RAISED)}({expression(w, w.pick(('int', 'str')), 0)})")
    w.loops = loops
    named = w.chance(30)
    w.emit(f"except {w.pick(_ERRORS)}{' as problem' if named else ''}:")
    with w.block():
        if named:
            w.emit(f"{(seen := w.name('v'))} = str(problem)")
            w.scope[seen] = "str"
        body(w, 1)
        if w.chance(10):
            w.emit("raise")
    if w.chance(15):
        w.emit("else:")
        with w.block():
            body(w, 1)
    if w.chance(20):
        w.emit("finally:")
        with w.block():
            body(w, 1)


def closure(w: Writer) -> None:
    """A function inside, that reads and now and then changes what is around it."""
    name, given = w.name("g"), w.name("p")
    kind, result = w.pick(("int", "float")), w.pick(("int", "float", "str", ("list", "int")))
    changed = [n for n, of in w.scope.items() if of == "int" and n not in w.fixed and n in w.scope]
    w.emit(f"def {name}({given}):")
    before = dict(w.scope)
    loops, w.loops, had, w.result = w.loops, 0, w.result, result
    w.depth += 1
    target = None
    if changed and w.chance(35):
        target = w.pick(changed)
        w.emit(f"nonlocal {target}")
        w.emit(f"{target} += {w.number(1, 3)}")
    w.scope[given] = kind
    if w.chance(30):
        made = w.name("v")
        w.emit(f"{made} = {expression(w, 'int', 1)}")
        w.scope[made] = "int"
    w.emit(f"return {expression(w, result, 2)}")
    w.depth -= 1
    w.scope, w.loops, w.result = before, loops, had
    kept = w.name("v")
    form = w.number(0, 2)
    if form == 0:
        w.emit(f"{kept} = {name}({expression(w, kind, 1)})")
        w.scope[kept] = result
    elif form == 1:
        w.emit(f"{kept} = [{name}(q) for q in {iterable(w, kind, 1)}]")
        w.scope[kept] = ("list", result)
    else:
        w.emit(f"{kept} = list(map({name}, {expression(w, ('list', kind), 1)}))")
        w.scope[kept] = ("list", result)


# --- others ---------------------------------------------------------------------------------------------------------


def object_statement(w: Writer) -> None:
    name, kind = w.pick(w.holding("object"))
    made = w.classes[kind[1]]
    if made.methods and w.chance(40):
        method, given, _ = w.pick(made.methods)
        w.emit(f"{name}.{method}({'' if given is None else expression(w, given, 1)})")
        return
    field, of = w.pick(made.fields)
    if isinstance(of, tuple) and of[0] in _CHANGES and w.chance(60):
        _CHANGES[of[0]](w, f"{name}.{field}", of)
    else:
        w.emit(f"{name}.{field} = {expression(w, of, 1)}")


def printing(w: Writer) -> None:
    shown = [name for name, of in w.scope.items() if of in ("int", "str", "bool")]
    if shown:
        w.emit(f"print({w.pick(shown)})")
    else:
        assign(w)


def rare(w: Writer) -> None:
    """Less common statements."""
    form = w.number(0, 8)
    lists = w.holding("list")
    if form == 0 and len(w.scope) > 3 and not w.loops:
        free = [name for name in w.scope if name not in w.fixed and name.startswith("v")]
        if free:
            name = w.pick(free)
            w.emit(f"del {name}")
            del w.scope[name]
            return
    if form == 1 and lists:
        name, of = w.pick(lists)
        one, rest = w.name("v"), w.name("v")
        w.emit(f"if {name}:")
        w.emit(f"    {one}, *{rest} = {name}")
        return
    if form == 2:
        w.emit(f"assert {truth(w, 1)}, {expression(w, 'str', 0)}")
        return
    if form == 3:
        made = w.name("v")
        w.emit(f"if ({made} := {expression(w, 'int', 1)}) > {w.number(-1, 3)}:")
        w.scope[made] = "int"
        with w.block():
            body(w, 1)
        return
    if form == 4 and not w.loops and w.depth > 1:
        w.emit(f"raise {w.pick(_RAISED)}({expression(w, w.pick(('int', 'str')), 0)})")
        return
    if form == 5:
        made = w.name("h")
        w.emit(f"{made} = {literal(w, ('list', 'int'), 4)}")
        w.emit(f"heapq.heapify({made})")
        w.emit(f"heapq.heappush({made}, {expression(w, 'int', 0)})")
        w.scope[made] = ("list", "int")
        return
    if form == 6:
        made = w.name("v")
        kind = ("dict", "int", ("list", "int"))
        w.emit(f"{made} = defaultdict(list)")
        w.emit(f"{made}[{expression(w, 'int', 0)}].append({expression(w, 'int', 0)})")
        w.scope[made] = kind
        return
    if form == 7:
        made = w.name("v")
        w.emit(f"{made} = Counter({expression(w, ('list', 'str'), 1)})")
        w.scope[made] = ("dict", "str", "int")
        return
    if form == 8:
        made = w.name("q")
        w.emit(f"{made} = deque({expression(w, ('list', 'int'), 1)}{w.pick(('', ', maxlen=3'))})")
        w.emit(f"{made}.{w.pick(('append', 'appendleft'))}({expression(w, 'int', 0)})")
        w.scope[made] = "result"
        return
    assign(w)
