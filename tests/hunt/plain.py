"""Plain Python as people write it: statements beyond those of `statements.py`, for programs without arrays.

In: a writer; out: lines, and what they bind in its scope. Each statement is a small idiom with random parts: closures
that outlive their loop, generators that are kept and passed on, `try` with every way to leave it, slices that are
assigned and deleted, keys that are equal but of other types, integers beyond 64 bits. Names that other statements
cannot make a value for (generators, functions) are `fixed`.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.hunt.expressions import expression, iterable, literal, truth
from tests.hunt.writer import Writer

INTS = ("list", "int")
ERRORS = (
    "Problem",
    "Worse",
    "ValueError",
    "KeyError",
    "IndexError",
    "ZeroDivisionError",
    "(TypeError, Problem)",
    "LookupError",
)
SLICES = ("1:", ":-1", "::2", "::-1", "1:3", "-2:", ":0", "2:1", "::-2", "5:")


def statement(w: Writer) -> None:
    """One idiom."""
    w.pick(_IDIOMS)(w)


def _bind(w: Writer, kind: object, text: str, stem: str = "v") -> str:
    name = w.name(stem)
    w.emit(f"{name} = {text}")
    w.scope[name] = kind
    return name


def _ints(w: Writer) -> str:
    """A list of integers in a variable."""
    known = w.named(INTS)
    return w.pick(known) if known and w.chance(60) else _bind(w, INTS, literal(w, INTS, w.number(0, 5)))


# --- lists ----------------------------------------------------------------------------------------------------------


def _slices(w: Writer) -> None:
    name = _ints(w)
    for _ in range(w.number(1, 3)):
        part = w.pick(SLICES)
        form = w.number(0, 4)
        if form == 0:
            w.emit(
                f"{name}[{part}] = "
                + w.pick((literal(w, INTS), name, f"{name}[::-1]", "range(2)", f"(q for q in {name})"))
            )
        elif form == 1:
            w.emit(f"del {name}[{part}]")
        elif form == 2:
            w.emit(f"{name} += {w.pick((name, literal(w, INTS), '(1, 2)', 'range(3)'))}")
        elif form == 3:
            w.emit(f"{name} *= {w.pick(('2', '0', '-1', '3', 'True'))}")
            w.emit(f"del {name}[12:]")
        else:
            _bind(w, INTS, f"{name}[{part}]")


def _sorting(w: Writer) -> None:
    pairs = _bind(w, ("list", ("tuple", "int", "str")), f"[(q % 3, str(q)) for q in {_ints(w)}]")
    key = w.pick(("key=lambda p: p[0]", "key=lambda p: -p[0]", "reverse=True", "", "key=lambda p: p[1]", "key=len"))
    reverse = ", reverse=True" if "key" in key and w.chance(40) else ""
    if w.chance(50):
        w.emit(f"{pairs}.sort({key}{reverse})")
    else:
        _bind(w, ("list", ("tuple", "int", "str")), f"sorted({pairs}{', ' if key else ''}{key}{reverse})")
    if w.chance(40):
        mixed = w.pick(
            ("[3, 1.5, True, 2, 1]", "[2, 2.0, 1, True, 1.0]", "['b', 'B', 'a', 'é']", "[(1, 'b'), (1, 'a'), (0, 'z')]")
        )
        _bind(w, "result", f"sorted({mixed}{w.pick(('', ', reverse=True', ', key=str'))})", "r")


def _aliases(w: Writer) -> None:
    row = _ints(w)
    rows = w.name("v")
    w.emit(f"{rows} = {w.pick((f'[{row}, {row}, [1]]', f'[{row}] * 3', f'[{row}[:], {row}]', f'[[{row}], [{row}]]'))}")
    w.fixed.add(rows)
    w.scope[rows] = "result"
    w.emit(w.pick((f"{rows}[0].append({w.number(0, 9)})", f"{row}.append(7)", f"{rows}.append({rows}[0])")))
    if w.chance(50):
        w.emit(f"{rows}[-1], {rows}[0] = {rows}[0], {rows}[-1]")
    _bind(w, "bool", f"{rows}[0] is {w.pick((f'{rows}[1]', f'{rows}[-1]', row))}")


def _mutation(w: Writer) -> None:
    """A container that changes while a loop runs through it."""
    name = _ints(w)
    q = w.name("q")
    form = w.number(0, 3)
    if form < 2:
        w.emit(f"for {q} in {name}:")
        w.emit(f"    if len({name}) < 8 and {q} % 2 == {w.number(0, 1)}:")
        w.emit(
            "        "
            + w.pick((f"{name}.append({q} + 1)", f"{name}.remove({q})", f"{name}.pop()", f"{name}.insert(0, 9)"))
        )
        return
    table = _bind(w, ("dict", "int", "int"), f"{{q: q * q for q in {name}}}")
    w.emit("try:")
    w.emit(f"    for {q} in {table}:")
    w.emit(
        "        "
        + w.pick((f"{table}[{q}] = 1", f"{table}[{q} + 10] = 1", f"del {table}[{q}]", f"{table}.pop({q}, 0)"))
    )
    w.emit("        if len(%s) > 9:" % table)
    w.emit("            break")
    w.emit("except RuntimeError as problem:")
    w.emit(f"    {table}[-1] = len(str(problem))")


# --- dicts and sets -------------------------------------------------------------------------------------------------


def _order(w: Writer) -> None:
    """The order of a dict after deletions and insertions."""
    name = _bind(w, ("dict", "int", "int"), f"{{k: k % 3 for k in {w.pick(('range(6)', '(5, 1, 4, 1)', _ints(w)))}}}")
    for _ in range(w.number(1, 3)):
        key = w.number(0, 6)
        w.emit(
            w.pick(
                (
                    f"{name}.pop({key}, None)",
                    f"{name}[{key}] = {w.number(0, 9)}",
                    f"{name}.update({{{key}: 1, {w.number(0, 9)}: 2}})",
                    f"{name}.setdefault({key}, {name}.get(1, 5))",
                    f"{name} = dict(sorted({name}.items(), key=lambda i: i[1]))",
                    f"{name} |= {{{key}: 8}}",
                    f"{name}[{key}] = {name}.pop({w.number(0, 6)}, 3)",
                )
            )
        )
    kept = w.pick((f"list({name}.items())", f"list(reversed({name}))", f"[*{name}]", f"list({name}.values())"))
    _bind(w, "result", kept, "r")
    if w.chance(30):
        w.emit(f"if {name}:")
        w.emit(f"    {_named(w, 'r')} = {name}.popitem()")


def _named(w: Writer, stem: str) -> str:
    return w.name(stem)


def _equal_keys(w: Writer) -> None:
    keys = ["1", "True", "1.0", "0", "False", "-0.0", "2", "2.0"]
    w.random.shuffle(keys)
    items = ", ".join(f"{key}: {number}" for number, key in enumerate(keys[: w.number(2, 6)]))
    name = _bind(w, "result", f"{{{items}}}", "r")
    w.emit(f"{name}[{w.pick(keys)}] = {w.pick(('9', '0.5', 'True', 'None'))}")
    _bind(
        w,
        "result",
        w.pick(
            (
                f"{{{', '.join(keys[:4])}}}",
                f"[{', '.join(keys)}].count({keys[0]})",
                f"[{', '.join(keys)}].index({keys[1]})",
            )
        ),
        "r",
    )


def _tuple_sets(w: Writer) -> None:
    pool = ["(0, 1)", "(1, 0)", "(2, 2)", "(0, 1)", "(-1, 3)", "(1, 0)"]
    w.random.shuffle(pool)
    one = _bind(w, "result", f"{{{', '.join(pool[: w.number(1, 5)])}}}", "r")
    other = _bind(w, "result", f"set([{', '.join(pool[2:])}])", "r")
    w.emit(
        w.pick((f"{one} {w.pick('|&-^')}= {other}", f"{one}.add((9, {w.number(0, 3)}))", f"{one}.discard({pool[0]})"))
    )
    _bind(
        w,
        "result",
        w.pick(
            (
                f"sorted({one} | {other})",
                f"len({one} & {other})",
                f"list({one})",
                f"frozenset({one}) == {other}",
                f"{{{one} <= {other}: 1}}",
                f"[x + y for x, y in {one}]",
            )
        ),
        "r",
    )


# --- numbers --------------------------------------------------------------------------------------------------------


def _numbers(w: Writer) -> None:
    form = w.number(0, 6)
    value = expression(w, "int", 1)
    if form == 0:
        total, k = _bind(w, "int", w.pick(("1", "3", "-7", value))), w.name("i")
        w.emit(f"for {k} in range({w.number(3, 9)}):")
        w.emit(f"    {total} = {total} * {w.pick(('1000', '-99', '65536', '7'))} + {k}")
        w.emit(f"{total} %= {w.pick(('1000007', '97', '-13'))}")
    elif form == 1:
        _bind(w, "result", f"divmod({value}, {w.pick(('3', '-4', '2.5', '-0.5', 'True'))})", "r")
    elif form == 2:
        parts = ["True", "2", "0.5", "-3", "False", "1e3", value]
        sign = " " + w.pick(("+", "*", "-", "**", "//", "%", "/")) + " "
        _bind(w, "result", sign.join(w.pick(parts) for _ in range(2)), "r")
    elif form == 3:
        _bind(
            w,
            "result",
            f"[{w.pick(('round', 'int', 'float', 'bool', 'abs', 'str', 'repr'))}(q) for q in "
            f"({w.pick(('2.5, -0.5, 1.25', '3, True, -2', '0.0, -0.0, 1e16'))})]",
            "r",
        )
    elif form == 4:
        _bind(w, "result", f"({value} << {w.number(0, 70)}) >> {w.number(0, 70)}", "r")
    elif form == 5:
        mixed = w.name("v")
        w.emit(f"{mixed} = {w.pick(('0', '1', 'True', '0.0'))}")
        w.emit(f"for q in ({w.pick(('1, 0.5, True', '2, 3', '0.25, 1', 'True, False'))}):")
        w.emit(f"    {mixed} {w.pick(('+=', '*=', '-='))} q")
        w.scope[mixed] = "result"
    else:
        _bind(
            w,
            "result",
            w.pick(
                (
                    f"max({value}, 2.0, True)",
                    f"min({value}, 1.5)",
                    f"sum([1, 2.5, True], {value})",
                    f"pow({value}, 2)",
                    f"pow({value} % 9, 3, 7)",
                    "sum([True, True])",
                    f"{value} == {value} * 1.0",
                    f"hash({value}) == hash({value} + 0.0)",
                    f"abs({value}).bit_length()",
                )
            ),
            "r",
        )


# --- strings --------------------------------------------------------------------------------------------------------


_TEXTS = (
    "{0}.partition('a')",
    "{0}.rpartition('b')",
    "{0}.split()",
    "{0}.rsplit('a', 1)",
    "{0}.splitlines()",
    "[c for c in {0} if c.isalpha()]",
    "{0}.startswith(('a', 'b'))",
    "{0}.endswith('b')",
    "{0}.index('a')",
    "{0}.rfind('a')",
    "{0}.count('')",
    "sorted({0})",
    "''.join(reversed({0}))",
    "{0}.translate({{97: 'X'}})",
    "{0}.isdigit(), {0}.isupper(), {0}.isspace()",
    "{0} < {1}",
    "{0} * 2 == {1} + {1}",
    "{0}.replace('a', 'bb', 1)",
    "{0}.strip('ab ')",
    "{0}.encode()",
    "'%s|%5d|%.2f' % ({0}, {2}, {3})",
    "'{{}}-{{:>6}}'.format({2}, {0})",
    "f'{{{0}!r:>8}}|{{{2}:05d}}|{{{3}:8.3f}}|{{{3}:e}}'",
    "f'{{{2}:,}} {{{2}:x}} {{{3}:g}} {{{0}:*^9}}'",
    "f'{{{2}=}} {{{3}!s}}'",
    "str([{0}, {2}, {3}, None, True])",
    "repr({{{0}: ({3},)}})",
    "list(zip({0}, {1}))",
    "list(enumerate({0}, 1))",
    "{0}[::-1] == {0}",
    "{0}.casefold() + {1}.expandtabs()",
    "max({0} + 'a'), min('b' + {0})",
    "dict(zip({0}, range(9)))",
    "set({0}) - set({1})",
)


def _texts(w: Writer) -> None:
    one, other, number, real = (w.name("s") for _ in range(4))
    for name, kind in ((one, "str"), (other, "str"), (number, "int"), (real, "float")):
        w.emit(f"{name} = {expression(w, kind, 1)}")
        w.scope[name] = kind
    for _ in range(w.number(1, 3)):
        _bind(w, "result", w.pick(_TEXTS).format(one, other, number, real), "r")
    if w.chance(40):
        text = _bind(w, "str", "''")
        w.emit(f"for q in {one}:")
        w.emit(f"    {text} {w.pick(('+= q', f'= q + {text}', '+= q.upper() + str(ord(q))'))}")


# --- exceptions -----------------------------------------------------------------------------------------------------


def _leaving(w: Writer) -> None:
    """try, except, else, finally, left in every way, inside a loop; what ran is noted in a list."""
    log, q = _bind(w, ("list", "str"), "[]"), w.name("q")
    w.emit(f"for {q} in {w.pick(('range(3)', _ints(w), '[2, 0, 5]'))}:")
    fails = (
        f"10 // {q}",
        f"[1, 2][{q}]",
        f"{{1: 2}}[{q}]",
        f"int('x' * {q} + '1')",
        f"None + {q}",
        f"next(iter([][:{q}]))",
        f"stumble({q})",
        f"'a'.index(str({q}))",
    )
    w.emit("    try:")
    w.emit(f"        if {q} == {w.number(0, 3)}:")
    w.emit(
        "            "
        + w.pick((f"raise Problem({q})", f"raise Worse({q}, 2)", "continue", "break", "raise ValueError", "pass"))
    )
    w.emit(f"        {log}.append(str({w.pick(fails)}))")
    for _ in range(w.number(1, 2)):
        w.emit(f"    except {w.pick(ERRORS)} as problem:")
        seen = w.pick(("str(problem)", "type(problem).__name__", "repr(problem.args)", "'x'", "repr(problem)"))
        w.emit(f"        {log}.append({seen})")
        if w.chance(25):
            w.emit(
                "        "
                + w.pick(("raise", "continue", "break", "raise Problem(1) from problem", "raise Worse(2, 3)"))
            )
    if w.chance(40):
        w.emit("    else:")
        w.emit(f"        {log}.append({w.pick((repr('else'), f'str({q})'))})")
    if w.chance(60):
        w.emit("    finally:")
        w.emit(f"        {log}.append('finally')")
        if w.chance(15):
            w.emit(f"        {w.pick(('continue', 'break', 'pass'))}")


def _attempted(w: Writer) -> None:
    """A nested function that returns out of try and finally."""
    name = w.name("g")
    w.emit(f"def {name}(p, log):")
    w.emit("    try:")
    w.emit(f"        {w.pick(('log.append(1)', 'p = p + 1', 'return 10 // p', 'return [1, 2][p]'))}")
    w.emit(f"        return {w.pick(('p', 'len(log)', '10 // p', 'stumble(p)'))}")
    w.emit(f"    except {w.pick(ERRORS)}:")
    w.emit(f"        {w.pick(('return -1', 'log.append(-1)', 'raise', 'p = 5'))}")
    if w.chance(60):
        w.emit("    finally:")
        w.emit(f"        {w.pick(('log.append(p)', 'p += 1', 'return 7' if w.chance(30) else 'log.append(0)'))}")
    w.emit("    return p * 2")
    log = _bind(w, INTS, "[]")
    kept = _bind(w, "result", "[]", "r")
    w.emit(f"for q in {w.pick(('range(4)', '(0, 2, -1)', '(True, 0.5, 0)'))}:")
    w.emit("    try:")
    w.emit(f"        {kept}.append({name}(q, {log}))")
    w.emit("    except Exception as problem:")
    w.emit(f"        {kept}.append({w.pick(('str(problem)', 'type(problem).__name__'))})")


# --- functions and generators ---------------------------------------------------------------------------------------


def _closures(w: Writer) -> None:
    form = w.number(0, 4)
    if form == 0:
        many = _bind(w, "result", f"[lambda v: v + q for q in range({w.number(1, 4)})]", "r")
        _bind(w, INTS, f"[h({w.number(0, 3)}) for h in {many}]")
        w.emit(f"{many} = len({many})")
    elif form == 1:
        many = _bind(w, "result", "[]", "r")
        w.emit(f"for q in range({w.number(1, 4)}):")
        w.emit(f"    {many}.append(lambda v{w.pick(('', ', q=q'))}: v * 10 + q)")
        _bind(w, INTS, f"[h(1) for h in {many}]")
        w.emit(f"{many} = None")
    elif form == 2:
        name, count = w.name("g"), w.name("n")
        w.emit(f"def {name}():")
        w.emit(f"    {count} = {w.pick(('0', '0.5', '[]'))}")
        w.emit("    def step(by=1):")
        w.emit(f"        nonlocal {count}")
        w.emit(f"        {count} = {count} + {w.pick(('by', '[by]'))}")
        w.emit(f"        return {count}")
        w.emit("    return step")
        one, other = w.name("h"), w.name("h")
        w.emit(f"{one}, {other} = {name}(), {name}()")
        calls = ", ".join(f"{w.pick((one, other))}({w.pick(('', '2', 'by=3'))})" for _ in range(w.number(1, 4)))
        _bind(w, "result", f"[{calls}]", "r")
    elif form == 3:
        name = w.name("g")
        w.emit(f"def {name}(p, *rest, {w.pick(('scale=2', 'scale'))}, kept={w.pick(('[]', '()', 'None'))}, **more):")
        w.emit(f"    {w.pick(('kept and kept.append(p)', 'p += len(rest)', 'pass'))}")
        w.emit("    return p * scale + sum(rest), len(more), kept")
        _bind(
            w,
            "result",
            f"[{name}(1, scale=3), {name}(2, 3, 4, scale=1, other=5), {name}(*{_ints(w)}[:1], 1, scale=0)]",
            "r",
        )
    else:
        name = w.name("g")
        w.emit(f"def {name}(n, acc=[]):")
        w.emit("    acc.append(n)")
        w.emit(
            f"    return {w.pick(('len(acc)', 'acc', 'acc[:]', 'sum(acc)'))} if n <= 0 else "
            f"{name}(n - 1{w.pick(('', ', acc', ', [5]'))})"
        )
        _bind(w, "result", f"[{name}({w.number(0, 3)}), {name}(1)]", "r")


_USES = (
    "list({0})",
    "sum({0})",
    "next({0}, -1)",
    "[next({0}, None), next({0}, None)]",
    "list(zip({0}, {0}))",
    "list(zip({0}, 'ab')) + list({0})",
    "3 in {0}, list({0})",
    "[q for q in {0} if q][:2], list({0})",
    "max({0}, default=-1)",
    "any(q > 1 for q in {0}), list({0})",
    "dict(enumerate({0}))",
    "consume({0}, 2), list({0})",
    "list(itertools.islice({0}, 2)), sum({0})",
    "sorted({0}, reverse=True)",
    "tuple({0}), tuple({0})",
    "[*{0}, 0]",
    "list(map(str, {0}))",
    "list(filter(None, {0}))",
)


def _generators(w: Writer) -> None:
    name = w.name("it")
    source = w.pick(
        (
            f"(q * 2 for q in {_ints(w)} if q != 1)",
            f"iter({_ints(w)})",
            f"counting({w.number(0, 5)})",
            f"doubled({_ints(w)})",
            f"doubled(counting({w.number(0, 4)}))",
            f"reversed({_ints(w)})",
            f"map(lambda v: v + 1, {_ints(w)})",
            "(q for q in counting(4))",
            f"filter(lambda v: v > 0, {_ints(w)})",
            "itertools.chain([1], counting(2))",
            f"itertools.count({w.number(0, 3)})",
        )
    )
    w.emit(f"{name} = {source}")
    uses = [
        u for u in _USES if "count(" not in source or "next" in u or "islice" in u or "consume" in u and "list" not in u
    ]
    for _ in range(w.number(1, 3)):
        use = w.pick(uses) if "itertools.count(" not in source else w.pick(_USES[2:4])
        _bind(w, "result", use.format(name), "r")
    if w.chance(25) and "itertools.count(" not in source:
        w.emit(f"for q in {name}:")
        w.emit(f"    {_bind_inside(w, name)}")


def _bind_inside(w: Writer, name: str) -> str:
    return w.pick(("break", f"{w.name('r')} = next({name}, 0)", "pass", "continue"))


def _globals(w: Writer) -> None:
    w.emit(
        w.pick(
            (
                "LOG.append(LIMIT)",
                "TABLE['n'] = TABLE.get('n', 0) + 1",
                "LOG[:] = LOG[-3:]",
                "bump(2)",
                "LOG.append(len(TABLE))",
            )
        )
    )
    _bind(
        w,
        "result",
        w.pick(("list(LOG)", "dict(TABLE)", "LIMIT * 2", "LIMIT", "bump(1)", "WORDS[0]", "TABLE is LOG")),
        "r",
    )


def _matched(w: Writer) -> None:
    subject = w.pick(
        (
            expression(w, "int", 1),
            _ints(w),
            f"({expression(w, 'int', 0)}, {expression(w, 'str', 0)})",
            "{'a': 1, 'b': 2}",
        )
    )
    kept = w.name("v")
    w.emit(f"match {subject}:")
    cases = (
        "0 | 1",
        "int(q) if q > 3",
        "[first, *rest]",
        "[]",
        "(3, str())",
        "{'a': q}",
        "(a1, b1)",
        "str()",
        "[1, _, *_]",
    )
    for case in w.random.sample(cases, 3):
        w.emit(f"    case {case}:")
        w.emit(f"        {kept} = {case[:6]!r}")
    w.emit("    case _:")
    w.emit(f"        {kept} = 'other'")
    w.scope[kept] = "str"


def _unpacked(w: Writer) -> None:
    one, rest, last = w.name("v"), w.name("v"), w.name("v")
    w.emit(f"{one}, *{rest}, {last} = {w.pick((_ints(w) + ' + [1, 2]', 'range(4)', repr('abc'), '(1, 2.5, True)'))}")
    for name in (one, rest, last):
        w.scope[name] = "result"
    if w.chance(50):
        _bind(w, "result", f"[*{rest}, *{_ints(w)}], {{**{{1: 2}}, **dict(zip('ab', {rest}))}}", "r")


def _collections(w: Writer) -> None:
    form = w.number(0, 4)
    name = w.name("r")
    w.scope[name] = "result"
    if form == 0:
        w.emit(f"{name} = deque({_ints(w)}, maxlen={w.pick(('3', 'None', '0'))})")
        for _ in range(w.number(1, 3)):
            changes = ("append(1)", "appendleft(2)", "rotate(1)", "extend([4, 5])", "extendleft([4, 5])", "reverse()")
            w.emit(f"{name}.{w.pick(changes)}")
        _bind(
            w,
            "result",
            w.pick((f"list({name})", f"{name}[0] if {name} else -1", f"sum({name})", f"{name}.count(1)")),
            "r",
        )
    elif form == 1:
        w.emit(f"{name} = Counter({w.pick((_ints(w), expression(w, 'str', 1)))})")
        w.emit(w.pick((f"{name}[1] += 2", f"{name}.update([1, 1, 2])", f"{name}.subtract([1])", f"del {name}[1]")))
        _bind(
            w,
            "result",
            w.pick(
                (
                    f"{name}.most_common(2)",
                    f"sum({name}.values())",
                    f"{name}[99]",
                    f"sorted({name}.items(), key=repr)",
                    f"{name} + Counter([1])",
                )
            ),
            "r",
        )
    elif form == 2:
        w.emit(f"{name} = defaultdict({w.pick(('int', 'list', 'lambda: 5', 'set', 'dict'))})")
        w.emit(f"for q in {_ints(w)}:")
        w.emit(f"    {name}[q % 3]")
        _bind(w, "result", f"list({name}.items())", "r")
    elif form == 3:
        w.emit(f"{name} = Spot({expression(w, 'int', 0)}, {expression(w, 'float', 0)})")
        _bind(
            w,
            "result",
            w.pick(
                (
                    f"{name}._replace(x=3)",
                    f"{name}.x + {name}[1]",
                    f"{name} == ({name}.x, {name}.y)",
                    f"list({name})",
                    f"{name} < Spot(1, 2.0)",
                    f"str({name})",
                    f"{name} + (1,)",
                )
            ),
            "r",
        )
    else:
        w.emit(f"{name} = OrderedDict((q, -q) for q in {_ints(w)})")
        w.emit(f"if 1 in {name}:")
        w.emit(f"    {name}.move_to_end(1{w.pick(('', ', last=False'))})")
        _bind(w, "result", f"list({name})", "r")


def _grid(w: Writer) -> None:
    """Rows of rows, a search in them, and what is found on the way."""
    grid = w.name("r")
    w.scope[grid] = "result"
    w.emit(
        f"{grid} = "
        + w.pick(
            (
                "[[0] * 3 for _ in range(2)]",
                "[[q + r for q in range(3)] for r in range(3)]",
                "[list(row) for row in ('ab', 'ba')]",
                "{(q, r): q * r for q in range(3) for r in range(2)}",
            )
        )
    )
    if "(q, r)" in w.lines[-1]:
        w.emit(f"for key, held in {w.pick((f'list({grid}.items())', f'sorted({grid}.items())'))}:")
        w.emit(f"    {grid}[key] = held + {grid}.get((key[0] - 1, key[1]), {w.number(0, 3)})")
    else:
        w.emit(f"for i, row in enumerate({grid}):")
        w.emit("    for j, cell in enumerate(row):")
        w.emit(f"        if {w.pick(('i == j', 'j > 0 and row[j - 1] == cell', 'cell'))}:")
        w.emit(
            f"            {w.pick((f'{grid}[i][j] = {grid}[0][0]', f'row[j] = {grid}[i - 1][j]', 'break', 'continue'))}"
        )
    _bind(w, "bool", truth(w, 1))


def _objects(w: Writer) -> None:
    """The classes of `plain_classes.py`: operators, inheritance, containers of objects that are one object."""
    from tests.hunt.plain_classes import uses

    uses(w)


_IDIOMS: tuple[Callable[[Writer], None], ...] = (
    *(_slices, _sorting, _aliases, _mutation, _order, _equal_keys, _tuple_sets, _numbers, _numbers, _texts, _texts),
    *(_leaving, _leaving, _attempted, _closures, _closures, _generators, _generators, _globals, _matched, _unpacked),
    *(_collections, _grid, _objects, _objects, _objects),
)


__all__ = ["INTS", "iterable", "statement"]
