"""Statements of Core.  In: a frame and statements; out: their effect on types, or their C."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from weft.plain import attributes, calls, classes, iteration, narrowing, operators, subscripts
from weft.plain.expressions import (
    assign_name,
    condition,
    constant_test,
    delete_name,
    index_of,
    read_name,
    unset_name,
    value,
)
from weft.plain.frame import C_TYPES, ZEROS, Frame, Value
from weft.plain.types import representation


class Loop:
    """What encloses a place: a loop that `break` and `continue` leave."""

    def __init__(self, done: str) -> None:
        self.done = done


class Guard:
    """A `try` with handlers: exceptions of its body go to its label."""

    catches = True

    def __init__(self, label: str, saved: str, waits: bool) -> None:
        self.label = label
        self.saved = saved
        self.waits = waits  # a generator that is dropped inside the block would go to its handlers
        self.used = False


class Finally:
    """A `try` with `finally`: its statements run however the body is left."""

    catches = True

    def __init__(self, label: str, body: list[ast.stmt], saved: str) -> None:
        self.label = label
        self.body = body
        self.saved = saved
        self.used = False


def block(cx: Frame, body: list[ast.stmt]) -> None:
    before = cx.narrow
    done = 0
    for place, statement in enumerate(body):
        if not cx.reachable:
            break
        if place < done:
            continue
        if isinstance(statement, ast.FunctionDef):
            done = _decorated(cx, statement, body, place + 1)
            continue
        run(cx, statement)
        if isinstance(statement, ast.If) and cx.reachable and len(cx.ends) > 0:
            # One branch does not come back: from here on the other's test holds.
            body_ends, else_ends = cx.ends
            if body_ends != else_ends:
                rest = body[place + 1 :]
                found = narrowing.of_test(cx, statement.test, holds=else_ends)
                gone = narrowing.assigned_in([statement, *rest])
                cx.narrow = {
                    **cx.narrow,
                    **{name: keys & cx.narrow.get(name, keys) for name, keys in found.items() if name not in gone},
                }
    cx.narrow = before


def run(cx: Frame, statement: ast.stmt) -> None:
    rule = _RULES.get(type(statement))
    with cx.at(statement):
        if rule is None:
            raise cx.refuse(f"the statement `{ast.unparse(statement).splitlines()[0][:60]}`")
        if cx.emitting and cx.writer.deoptimise is not None:  # type: ignore[union-attr]
            cx.write(f'if (forced_left-- == 0) wp_deopt("forced by a test", {cx.line});')
        rule(cx, statement)


# --- assignment ----------------------------------------


def _assign(cx: Frame, s: ast.Assign) -> None:
    target = s.targets[0]
    if isinstance(s.value, (ast.Yield, ast.YieldFrom)):
        assert isinstance(target, ast.Name)
        assign_name(cx, target.id, _yield(cx, s.value))
        return
    held = value(cx, s.value)
    store(cx, target, held)


def store(cx: Frame, target: ast.expr, held: Value) -> None:
    if isinstance(target, ast.Name):
        assign_name(cx, target.id, held)
    elif isinstance(target, ast.Tuple):
        star = next((k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
        names = [item.value if isinstance(item, ast.Starred) else item for item in target.elts]
        for name, item in zip(names, subscripts.unpacked(cx, held, len(names), star)):
            assert isinstance(name, ast.Name)
            assign_name(cx, name.id, item)
    elif isinstance(target, ast.Attribute):
        attributes.assign(cx, value(cx, target.value), target.attr, held)
    elif isinstance(target, ast.Subscript):
        owner = value(cx, target.value)
        subscripts.put(cx, owner, index_of(cx, target.slice), held)
    else:
        raise cx.refuse(f"a store into `{ast.unparse(target)}`")


def _augmented(cx: Frame, s: ast.AugAssign) -> None:
    from weft.plain.expressions import exponent_of

    assert isinstance(s.target, ast.Name)
    now = read_name(cx, s.target.id)
    other = value(cx, s.value)
    new = operators.binary(cx, type(s.op).__name__, now, other, exponent_of(s.value), in_place=True)
    assign_name(cx, s.target.id, new)


def _delete(cx: Frame, s: ast.Delete) -> None:
    target = s.targets[0]
    if isinstance(target, ast.Name):
        delete_name(cx, target.id)
    elif isinstance(target, ast.Subscript):
        owner = value(cx, target.value)
        subscripts.delete(cx, owner, index_of(cx, target.slice))
    elif isinstance(target, ast.Attribute):
        attributes.delete(cx, value(cx, target.value), target.attr)


def _expression(cx: Frame, s: ast.Expr) -> None:
    if isinstance(s.value, (ast.Yield, ast.YieldFrom)):
        _yield(cx, s.value)
    elif not isinstance(s.value, ast.Constant):
        value(cx, s.value)


# --- control ----------------------------------------


def _if(cx: Frame, s: ast.If) -> None:
    test = condition(cx, s.test)
    known = constant_test(cx, s.test)
    before = set(cx.assigned)
    with cx.block(f"if ({test})"):
        if known is not False:
            with narrowing.within(cx, narrowing.of_test(cx, s.test, True), s.body):
                block(cx, s.body)
        elif cx.emitting:
            cx.deoptimise("a test that was decided by types")
    reached, assigned = cx.reachable and known is not False, cx.assigned
    cx.assigned, cx.reachable = set(before), True
    if s.orelse or known is True:
        with cx.block("else"):
            if known is not True:
                with narrowing.within(cx, narrowing.of_test(cx, s.test, False), s.orelse):
                    block(cx, s.orelse)
            elif cx.emitting:
                cx.deoptimise("a test that was decided by types")
        if known is True:
            cx.reachable = False
    cx.ends = (not reached, not cx.reachable)
    if reached and cx.reachable:
        cx.assigned &= assigned
    elif reached:
        cx.assigned = assigned
    cx.reachable = reached or cx.reachable


def _while(cx: Frame, s: ast.While) -> None:
    endless = isinstance(s.test, ast.Constant) and bool(s.test.value)
    done = cx.label("done")
    cx.assigned -= _deleted(s)  # an earlier iteration may have done that
    before = set(cx.assigned)
    cx.write("for (;;) {")
    cx.indent += 1
    cx.write("WP_POLL();")
    if not endless:
        test = condition(cx, s.test)
        cx.write(f"if (!({test})) goto {done};")
    after = set(cx.assigned)
    loop = Loop(done)
    loop_exits: list[set[str]] = []
    cx.handlers.append((loop, loop_exits))
    block(cx, s.body)
    cx.handlers.pop()
    cx.indent -= 1
    cx.write("}")
    cx.write(f"{done}:;")
    cx.reachable = bool(loop_exits) or not endless
    if endless and loop_exits:
        cx.assigned = set.intersection(*loop_exits)
    else:
        cx.assigned = after if endless or not loop_exits else after.intersection(*loop_exits)
    cx.assigned |= before
    cx.assigned -= _deleted(s)


def _deleted(s: ast.stmt) -> set[str]:
    """Names that may have no value any more once a statement has run: deleted ones, and those of handlers."""
    known: set[str] | None = vars(s).get("weft_deleted")  # Core does not change, and each pass over it asks again
    if known is not None:
        return known
    found: set[str] = set()
    for node in ast.walk(s):
        if isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Delete):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    vars(s)["weft_deleted"] = found
    return found


def _for(cx: Frame, s: ast.For) -> None:
    assert isinstance(s.target, ast.Name)
    plan = iteration.plan_of(cx, s.iter)
    plan.start(cx)
    done = cx.label("done")
    cx.assigned -= _deleted(s)  # an earlier iteration may have done that
    before = set(cx.assigned)
    cx.write("for (;;) {")
    cx.indent += 1
    cx.write("WP_POLL();")
    item = plan.step(cx, done)
    exits: list[set[str]] = []
    cx.handlers.append((Loop(done), exits))
    assign_name(cx, s.target.id, item)
    block(cx, s.body)
    cx.handlers.pop()
    cx.indent -= 1
    cx.write("}")
    cx.write(f"{done}:;")
    cx.reachable = True
    cx.assigned = before - _deleted(s)


def _enclosing_loop(cx: Frame) -> tuple[Loop, list[set[str]], int]:
    for place in range(len(cx.handlers) - 1, -1, -1):
        if isinstance(cx.handlers[place], tuple):
            return (*cx.handlers[place], place)
    raise AssertionError("a jump outside a loop")


def _leave(cx: Frame, down_to: int) -> None:
    """Run what `finally` says on the way out of blocks, and give handlers back."""
    kept = cx.handlers
    for place in range(len(kept) - 1, down_to - 1, -1):
        inner = kept[place]
        if isinstance(inner, Guard):
            cx.write(f"wp_handlers = {inner.saved};")
        elif isinstance(inner, Finally):
            cx.handlers = kept[:place]
            saved = set(cx.assigned)
            if inner.saved:
                cx.write(f"wp_handlers = {inner.saved};")
            outer_try, cx.in_try = cx.in_try, sum(1 for h in kept[:place] if isinstance(h, (Guard, Finally)))
            block(cx, inner.body)
            cx.in_try = outer_try
            cx.assigned = saved
            if not cx.reachable:
                break
    cx.handlers = kept


def _break(cx: Frame, s: ast.Break) -> None:
    loop, exits, place = _enclosing_loop(cx)
    _leave(cx, place + 1)
    if cx.reachable:
        exits.append(set(cx.assigned))
        cx.write(f"goto {loop.done};")
    cx.reachable = False


def _continue(cx: Frame, s: ast.Continue) -> None:
    _, _, place = _enclosing_loop(cx)
    _leave(cx, place + 1)
    if cx.reachable:
        cx.write("continue;")
    cx.reachable = False


def _return(cx: Frame, s: ast.Return) -> None:
    held = value(cx, s.value) if s.value is not None else cx.none
    if cx.info.is_generator:
        if cx.info.returns_value:
            returned = cx.instance.returned.root()
            cx.flow(held, returned)
            cx.write(f"f->returned = {cx.as_node(held, returned)};")
        _leave(cx, 0)
        if cx.reachable:
            cx.write("f->head.state = -1; return 0;")
        cx.reachable = False
        return
    if operators.is_declined(held.node) and not cx.info.name.startswith("__"):
        raise cx.refuse("`NotImplemented` as a result")
    result = cx.instance.result.root()
    cx.flow(held, result)
    if any(isinstance(h, Finally) for h in cx.handlers):
        name = cx.held(C_TYPES[representation(result)] if cx.emitting else "", cx.as_node(held, result))
    else:
        name = cx.as_node(held, result)
    _leave(cx, 0)
    if cx.reachable:
        cx.write("WP_LEAVE();" if cx.instance.recursive else "")
        cx.write(f"return {name};")
    cx.reachable = False


def _pass(cx: Frame, s: ast.stmt) -> None:
    pass


def _decorated(cx: Frame, s: ast.FunctionDef, body: list[ast.stmt], place: int) -> int:
    """A nested definition and the calls of its decorators, which follow it in Core; where the next statement stands.

    The undecorated function is passed on as it is: kept in the variable, its type would be one of the variable's.
    """
    with cx.at(s):
        made = calls.make_closure(cx, s)
    while place < len(body):
        following = body[place]
        if not (isinstance(following, ast.Assign) and isinstance(following.value, ast.Call)):
            break
        target, call = following.targets[0], following.value
        named = [isinstance(e, ast.Name) and e.id == s.name for e in (target, *call.args)]
        if named != [True, True] or call.keywords:
            break
        with cx.at(call):
            made = calls.call_value(cx, value(cx, call.func), [made], {})
        place += 1
    with cx.at(s):
        assign_name(cx, s.name, made)
    return place


def _import(cx: Frame, s: ast.Import | ast.ImportFrom) -> None:
    """An import of a module that is already loaded, or that may be."""
    import importlib
    import sys

    from weft.frontend import reads
    from weft.plain.expressions import python_value
    from weft.plain.kept import QUIET

    for alias in s.names:
        module = s.module if isinstance(s, ast.ImportFrom) else alias.name
        if module in QUIET:
            importlib.import_module(module)
        if (isinstance(s, ast.ImportFrom) and s.level) or module not in sys.modules:
            raise cx.refuse(f"an import of `{module}`, which is not loaded yet", "import it at the top of the file")
        found: Any = sys.modules[module]
        if isinstance(s, ast.ImportFrom):
            found = reads.attribute(found, alias.name)
            if found is reads.ABSENT:
                raise cx.refuse(f"an import of `{module}.{alias.name}`")
        elif alias.asname is None and "." in alias.name:
            found = sys.modules[alias.name.partition(".")[0]]
        assign_name(cx, alias.asname or alias.name.partition(".")[0], python_value(cx, found))


# --- exceptions ----------------------------------------


def _raise(cx: Frame, s: ast.Raise) -> None:
    if s.exc is None:
        current = next((h for h in reversed(cx.handlers) if isinstance(h, _Handling)), None)
        if current is None:
            raise cx.refuse("`raise` without an exception, outside a handler")
        cx.write(f"wp_exception = {current.held};")
        _go(cx)
        return
    constant = None
    if isinstance(s.exc, (ast.Name, ast.Attribute)):
        from weft.plain.builtin import resolved

        constant = resolved(cx, s.exc) if not (isinstance(s.exc, ast.Name) and cx.instance.variable(s.exc.id)) else None
    if not cx.guarded and not cx.unit.hosted:
        # Nobody catches it: Python runs the call, and raises.
        if constant is None and not isinstance(s.exc, ast.Name):
            with _quietly(cx):
                value(cx, s.exc)
        cx.deoptimise("an exception")
        cx.write('wp_deopt("an exception", 0);')
        cx.reachable = False
        return
    if cx.info.model and isinstance(s.exc, ast.Call) and isinstance(s.exc.func, ast.Name):
        which = {
            "ValueError": "WP_VALUE_ERROR",
            "TypeError": "WP_TYPE_ERROR",
            "IndexError": "WP_INDEX_ERROR",
            "KeyError": "WP_KEY_ERROR",
            "RuntimeError": "WP_RUNTIME_ERROR",
        }
        said = s.exc.args[0] if which[s.exc.func.id] == "WP_INDEX_ERROR" else None  # these say what CPython says
        cx.raises(which[s.exc.func.id], ast.literal_eval(said) if isinstance(said, ast.Constant) else None)
        cx.reachable = False
        return
    held = calls.construct(cx, constant, [], {}) if isinstance(constant, type) else value(cx, s.exc)
    for head in held.node:
        if head.kind != "obj" or not head.key[1].is_exception:
            raise cx.refuse(f"`raise` of a value of type {head!r}")
    cx.write(f"wp_exception = (wp_object *){cx.as_repr(held, 'p')};")
    cx.write(f'if (!wp_handlers) wp_deopt("an exception", {cx.line if cx.unit.hosted else 0});')
    _go(cx)


class _quietly:
    """Types are inferred, no code is kept: what is computed here is thrown away."""

    def __init__(self, cx: Frame) -> None:
        self.cx = cx

    def __enter__(self) -> None:
        self.lines = self.cx.lines
        self.cx.lines = []

    def __exit__(self, *_: object) -> None:
        self.cx.lines = self.lines


def _go(cx: Frame) -> None:
    if cx.guarded:
        cx.write(f"goto {cx.exception_target()};" if cx.emitting else "")
    else:
        cx.deoptimise("an exception")
        cx.write('wp_deopt("an exception", 0);')
    cx.reachable = False


class _Handling:
    """The place is inside a handler: `held` is the exception it handles."""

    catches = False

    def __init__(self, held: str) -> None:
        self.held = held


def _try(cx: Frame, s: ast.Try) -> None:
    if s.finalbody:
        _try_finally(cx, s)
    else:
        _try_except(cx, s)


def _try_finally(cx: Frame, s: ast.Try) -> None:
    label, end = cx.label("finally"), cx.label("after")
    # Without a handler around it, an exception that passes through deoptimises: Python then runs the `finally`.
    saved = ""
    guard = Finally(label, s.finalbody, saved)
    cx.handlers.append(guard)
    before = cx.assigned - _deleted(s)
    if s.handlers or s.orelse:
        inner = ast.Try(body=s.body, handlers=s.handlers, orelse=s.orelse, finalbody=[])
        _try_except(cx, ast.copy_location(inner, s)) if s.handlers else block(cx, s.body + s.orelse)
    else:
        block(cx, s.body)
    cx.handlers.pop()
    after, reached = cx.assigned, cx.reachable
    if reached:
        block(cx, s.finalbody)
        cx.write(f"goto {end};")
        after, reached = cx.assigned, cx.reachable
    if guard.used or (not cx.emitting and cx.guarded):
        cx.write(f"{label}:;")
        held = cx.held("wp_object *", "wp_exception")
        cx.write("wp_exception = 0;")
        cx.assigned, cx.reachable = set(before), True
        block(cx, s.finalbody)
        if cx.reachable:
            cx.write(f"wp_exception = {held};")
            _go(cx)
    cx.write(f"{end}:;")
    cx.assigned, cx.reachable = after, reached


def _try_except(cx: Frame, s: ast.Try) -> None:
    label, end = cx.label("handler"), cx.label("after")
    saved = cx.held("int64_t", "wp_handlers++")
    caught = [cls for handler in s.handlers for cls in classes.matches(cx, cx.none, handler.type)]
    guard = Guard(label, saved, issubclass(GeneratorExit, tuple(caught)))
    before = cx.assigned.difference(*map(_deleted, s.body))
    cx.handlers.append(guard)
    cx.in_try += 1
    block(cx, s.body)
    cx.in_try -= 1
    cx.handlers.pop()
    ends: list[set[str]] = []
    if cx.reachable:
        cx.write(f"wp_handlers = {saved};")
        block(cx, s.orelse)
        if cx.reachable:
            ends.append(set(cx.assigned))
            cx.write(f"goto {end};")
    cx.write(f"{label}:;")
    cx.write(f"wp_handlers = {saved};")
    held = cx.held("wp_object *", "wp_exception")
    cx.write("wp_exception = 0;")
    cx.assigned, cx.reachable = set(before), True
    for place, handler in enumerate(s.handlers):
        with cx.at(handler):
            cx.assigned, cx.reachable = set(before), True
            wanted = classes.matches(cx, Value(cx.site("exception"), held), handler.type)
            with cx.block(f"if ({_test(cx, held, wanted)})"):
                _handle(cx, handler, held, wanted, place)
                if cx.reachable:
                    ends.append(set(cx.assigned))
                    cx.write(f"goto {end};")
    cx.reachable = True
    cx.write(f"wp_exception = {held};")
    _go(cx)
    cx.write(f"{end}:;")
    cx.reachable = bool(ends)
    if ends:
        cx.assigned = set.intersection(*ends)


def _test(cx: Frame, held: str, wanted: list[type]) -> str:
    """Whether an exception is one of these classes. What the run time raised knows its class by number."""
    if not cx.emitting:
        return "0"
    assert cx.writer is not None
    return cx.writer.exception_test(held, wanted)


def _handle(cx: Frame, handler: ast.ExceptHandler, held: str, wanted: list[type], place: int) -> None:
    cx.handlers.append(_Handling(held))
    if handler.name:
        node = cx.site(("caught", place))
        for info in list(cx.unit.classes.values()):
            if info.is_exception and issubclass(info.cls, tuple(wanted)):
                cx.add(node, info.head)
        if _is_read(handler):
            found = classes.raised(cx, held, node, wanted)
            assign_name(cx, handler.name, Value(node, found if representation(node) == "p" else ZEROS["p"]))
    if handler.name and _is_used_elsewhere(cx, handler):
        # However the handler is left, its name has no value then.
        ending = ast.copy_location(_Forget(handler.name), handler)
        _try_finally(cx, ast.copy_location(ast.Try(handler.body, [], [], [ending]), handler))
    else:
        block(cx, handler.body)
    cx.handlers.pop()
    if handler.name:
        cx.assigned.discard(handler.name)


class _Forget(ast.stmt):
    """The end of a handler: its name has no value, whether it had one or not."""

    _fields = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def _forget(cx: Frame, s: _Forget) -> None:
    unset_name(cx, s.name)


def _is_used_elsewhere(cx: Frame, handler: ast.ExceptHandler) -> bool:
    """Whether the name of a handler is used outside it, other than by handlers that set it first."""
    waiting: list[ast.AST] = list(cx.info.tree.body)
    name = handler.name
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and name in cx.info.captured:
            return True
        own = isinstance(node, ast.ExceptHandler) and node.name == name
        if node is not handler and not (own and handler not in ast.walk(node)):
            waiting += ast.iter_child_nodes(node)
    return name in cx.info.parameters


def _is_read(handler: ast.ExceptHandler) -> bool:
    names = (node for statement in handler.body for node in ast.walk(statement) if isinstance(node, ast.Name))
    return any(node.id == handler.name for node in names)


# --- generators ----------------------------------------


def _yield(cx: Frame, e: ast.Yield | ast.YieldFrom) -> Value:
    with cx.at(e):
        if isinstance(e, ast.YieldFrom):
            return _delegate(cx, e.value)
        _give(cx, value(cx, e.value) if e.value is not None else cx.none)
        return _sent(cx)


def _sent(cx: Frame) -> Value:
    """What the last `send` gave."""
    sent = cx.instance.sent.root()
    return cx.make(sent, "f->sent") if len(sent) else cx.none


def _delegate(cx: Frame, e: ast.expr) -> Value:
    """yield from e: what is sent goes to the inner generator, whose result is the value."""
    plan = iteration.plan_of(cx, e)
    if not isinstance(plan, iteration.Generated):
        with iteration.loop(cx, plan) as item:
            _give(cx, item)
            if len(cx.instance.sent):
                with cx.block(f"if (WP_UNLIKELY({cx.tagged(_sent(cx))}.tag != WP_NONE))"):
                    cx.deoptimise("a value that is sent to what is no generator")
        return cx.none
    sent = cx.instance.sent.root()
    if len(sent):
        c_type = C_TYPES[representation(sent)] if cx.emitting else ""
        plan.sent = Value(sent, cx.held(c_type, cx.as_node(cx.none, sent)))
    with iteration.loop(cx, plan) as item:
        _give(cx, item)
        if plan.sent is not None:
            cx.write(f"{plan.sent.code} = f->sent;")
    return cx.cases([plan.held], lambda it: iteration.result_of(cx, it), "result")


def _give(cx: Frame, item: Value) -> None:
    node = cx.instance.yielded.root()
    cx.flow(item, node)
    cx.yields += 1
    cx.write(f"*out = {cx.as_node(item, node)};")
    # While it waits, the handlers around it are none of its caller's, and Python would run some if it were dropped.
    guards = [handler for handler in cx.handlers if isinstance(handler, Guard)]
    waits = any(isinstance(h, Finally) or (isinstance(h, Guard) and h.waits) for h in cx.handlers)
    if guards:
        cx.write(f"wp_handlers = {guards[0].saved};")
    if waits:
        cx.write("wp_unfinished++;")
    cx.write(f"f->head.state = {cx.yields}; return 1;")
    cx.write(f"resume{cx.yields}:;")
    if waits:
        cx.write("wp_unfinished--;")
    for guard in guards:
        cx.write(f"{guard.saved} = wp_handlers++;")


def _class(cx: Frame, s: ast.ClassDef) -> None:
    raise cx.refuse(f"the class `{s.name}` defined inside a function", "define it at the top of the file")


_RULES: Final[dict[type, Callable[..., None]]] = {
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    _Forget: _forget,
    ast.Expr: _expression,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Pass: _pass,
    ast.Global: _pass,
    ast.Nonlocal: _pass,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Raise: _raise,
    ast.Try: _try,
}
