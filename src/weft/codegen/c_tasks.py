"""Tasks in C.  In: FINISH, TASK and ISOLATED regions; out: for each task a function over a copy of the variables it
uses, the code that hands it to the runtime if that has room and does the work in place if not, and the waiting.

    if (k_room(t)) { context = {...}; spawn(worker, &finish, k_task_0, &context, ...); } else { the body }
    ...
    if (opened) { join(worker, &finish); x = box; if (finish.status) goto k_done; }
Work in place costs one comparison, and is what the program means; a body with loops is compiled only once, in the
function, so that sums are the same wherever it runs.  A variable that a task sets and others read after
the finish travels back in a box.  Of several failures in one finish the first in the order of the source is kept: tasks
are numbered as they are handed out, and all of them come before whatever the code beside them fails with later.  A
function that hands out tasks has a second form that does not, for the depths of a recursion (`reach` in tasks.c).
"""

from __future__ import annotations

from weft.analysis.scopes import Path
from weft.codegen import c_invoke, c_support
from weft.codegen import syntax as C
from weft.codegen.c_expr import OVERFLOW, OWN, RT
from weft.codegen.c_frame import (
    CHOICES,
    DONE,
    FAILED,
    GUARD,
    HELD,
    INTERRUPTED,
    OVERFLOW_ERROR,
    RAISE,
    STATUS,
    THREAD,
    TICKS,
    WORDS,
    Finish,
    Frame,
    Unit,
)
from weft.codegen.c_loops import Loops, repeats
from weft.codegen.c_parallel import Parallel, collect_failure
from weft.ir.program import Loop, LoopKind
from weft.ir.walk import buffers_written

#: No iteration has failed yet.
LOWEST = "{.first = 9223372036854775807LL}"

#: What a kernel with tasks knows of the runtime beyond other kernels, and its side of a finish.
SERVICES = """typedef struct { i64 pending, next, lock, first, status, words[6]; } k_finish;
typedef struct {
  weft_rt base;
  weft_worker *(*enter)(const weft_rt *rt);
  void (*leave)(weft_worker *self);
  void (*spawn)(weft_worker *self, k_finish *finish,
                void (*function)(const weft_rt *, weft_worker *, void *, k_finish *, i64, i64),
                const void *context, i64 bytes, i64 number, i64 depth);
  void (*join)(weft_worker *self, k_finish *finish);
  void (*isolate)(void);
  void (*release_isolated)(void);
} k_services;
static weft_worker k_alone;
static inline i64 k_near(const k_thread *t, i64 here) {
  return __builtin_expect(t->origin - here < __atomic_load_n(&t->worker->reach, __ATOMIC_RELAXED), 0);
}
static inline i64 k_room(const k_thread *t, i64 here) {
  return k_near(t, here) && __atomic_load_n(&t->worker->queued, __ATOMIC_RELAXED) < t->worker->room;
}
static void k_begin(k_finish *f) {
  f->pending = f->next = f->lock = f->status = 0;
  f->first = 9223372036854775807LL;
}
static void k_note(k_finish *f, i64 number, i64 status, const i64 *words) {
  while (__atomic_exchange_n(&f->lock, 1, __ATOMIC_ACQUIRE)) {}
  if (status == 3) number = -1;
  if (number < f->first) { f->first = number; f->status = status; k_pass(f->words, words); }
  __atomic_store_n(&f->lock, 0, __ATOMIC_RELEASE);
}
static i64 k_end(k_thread *t, k_finish *f, i64 *words, i64 status) {
  ((const k_services *)t->rt)->join(t->worker, f);
  if (!f->status) return status;
  k_pass(words, f->words);
  return f->status;
}
static inline void k_isolate(const weft_rt *rt, i64 *held) {
  ((const k_services *)rt)->isolate();
  ++*held;
}
static inline void k_release(const weft_rt *rt, i64 *held) {
  for (; *held; --*held) ((const k_services *)rt)->release_isolated();
}"""


def region(node: Loop, path: Path, statements: Parallel) -> list[C.CStmt]:
    """A region; inside a parallel loop, and in code for one thread, a task is a block like any other."""
    unit = statements.unit
    shared = unit.threads and not unit.alone and not statements.frame.parallel
    if node.kind is LoopKind.ISOLATED and unit.threads:
        return _isolated(node, path, statements)
    if node.kind is LoopKind.FINISH and shared:
        return _finish(node, path, statements)
    if node.kind is LoopKind.TASK and shared and statements.frame.around:
        return _task(node, path, statements)
    return [C.Scope(_straight(node, path, statements))]


def _straight(node: Loop, path: Path, statements: Loops) -> C.CBlock:
    """The body of a region that is executed in any case."""
    body = statements.block(node.body, (*path, 0))
    statements.frame.checked = statements.frame.checked_inside
    return body


def _isolated(node: Loop, path: Path, statements: Loops) -> list[C.CStmt]:
    held = C.Prefix("&", C.Name(HELD))
    body = _straight(node, path, statements)
    taken = C.Evaluate(C.call("k_isolate", C.Name(RT), held))
    return [taken, C.Scope(body), C.Evaluate(C.call("k_release", C.Name(RT), held))]


# --- finish ----------------------------------------------------------------------------------------------------------


def _finish(node: Loop, path: Path, statements: Loops) -> list[C.CStmt]:
    frame, names = statements.frame, statements.unit.names
    finish = Finish(names.own("finish"), names.own("opened"), names.own("filled"))
    frame.finishes.append(finish)
    frame.around.append(finish)
    body = _straight(node, path, statements)
    frame.around.pop()
    frame.heads.append(C.Declare("k_finish", finish.name))
    for name in (finish.opened, finish.filled):
        frame.heads.append(C.Declare("i64", name, C.Number("0")))
    waiting: list[C.CStmt] = [C.Assign(C.Name(finish.opened), C.Number("0"))]
    status = statements.variable("i64", "ended", _ended(finish, C.Number("0")), waiting)
    for bit, (name, box) in enumerate(finish.boxes.items()):
        isset = C.Infix("&", C.Name(finish.filled), C.Number(f"{1 << bit}LL"))
        waiting.append(C.IfElse(isset, (C.Assign(C.Name(name), C.Name(box)),)))
    waiting.append(C.Assign(C.Name(finish.filled), C.Number("0")))
    leave = (C.Assign(C.Name(STATUS), status), C.Jump(f"goto {DONE}"))
    waiting.append(C.IfElse(status, leave))
    return [C.Scope(body), C.IfElse(C.Name(finish.opened), tuple(waiting))]


def _ended(finish: Finish, status: C.CExpr) -> C.CExpr:
    return C.call("k_end", C.Name(THREAD), C.Prefix("&", C.Name(finish.name)), C.Name(WORDS), status)


# --- tasks -----------------------------------------------------------------------------------------------------------


def _task(node: Loop, path: Path, statements: Parallel) -> list[C.CStmt]:
    unit, frame = statements.unit, statements.frame
    finish = frame.around[-1]
    number = len(unit.functions)
    function, structure = f"{OWN}task_{number}", f"{OWN}context_{number}"
    captured, boxed = _outline(node, path, statements, function, structure)
    out: list[C.CStmt] = []
    context = unit.names.own("context")
    out.append(C.Declare(f"struct {structure}", context))
    mask = 0
    for name in captured:
        out.append(C.Assign(C.Dot(C.Name(context), name), C.Name(name)))
    for name in boxed:
        box = finish.boxes.get(name)
        if box is None:
            box = finish.boxes[name] = unit.names.own("box")
            frame.heads.append(C.Declare(unit.types[name], box))
        mask |= 1 << list(finish.boxes).index(name)
        out.append(C.Assign(C.Name(box), C.Name(name)))
        out.append(C.Assign(C.Dot(C.Name(context), _box_member(name)), C.Prefix("&", C.Name(box))))
    begun = C.Evaluate(C.call("k_begin", C.Prefix("&", C.Name(finish.name))))
    out.append(C.IfElse(C.Prefix("!", C.Name(finish.opened)), (begun,)))
    out.append(C.Assign(C.Name(finish.opened), C.Number("1")))
    if mask:
        out.append(C.Assign(C.Name(finish.filled), C.Number(f"{mask}LL"), "|="))
    worker, place = C.Arrow(C.Name(THREAD), "worker"), C.Prefix("&", C.Name(finish.name))
    given = C.Prefix("&", C.Name(context))
    turn = C.Prefix("++", C.Dot(C.Name(finish.name), "next"))
    depth = C.Infix("-", C.Arrow(C.Name(THREAD), "origin"), c_invoke.HERE)
    services = C.Convert("const k_services *", C.Arrow(C.Name(THREAD), "rt"))
    passed = (worker, place, C.Number(function), given, C.call("sizeof", C.Name(context)), turn, depth)
    spawned = C.Evaluate(C.InvokeThrough(C.Arrow(services, "spawn"), passed))
    room = C.call("k_room", C.Name(THREAD), c_invoke.HERE)
    if repeats(node.body):
        here = C.Evaluate(C.call(function, C.Arrow(C.Name(THREAD), "rt"), worker, given, place, turn, depth))
        return [C.Scope((*out, C.IfElse(room, (spawned,), (here,))))]
    return [C.IfElse(room, (*out, spawned), statements.block(node.body, (*path, 0)))]


def _box_member(name: str) -> str:
    return f"{name}_box"


def _outline(
    node: Loop, path: Path, statements: Parallel, function: str, structure: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write the function of a task; the variables of which it gets a copy, and those of them that it gives back."""
    unit = statements.unit
    unit.functions.append(C.Text(""))  # reserves the number; functions inside come before
    frame = Frame(parallel=False, task=True)
    inner = type(statements)(unit, statements.expressions, frame, statements.line)
    body = inner.block(node.body, (*path, 0))
    # After Ctrl-C what is still in the queues ends before it begins.
    pending = C.IfElse(C.through(RT, "poll"), tuple(inner.failure(INTERRUPTED)))
    code: list[C.CStmt] = [pending, *body, C.Label(DONE)]
    heads, tail = closing(unit, frame, tuple(code))
    whole: C.CBlock = (*heads, *frame.heads, *code, *tail)
    own = {THREAD, WORDS, RT, STATUS}
    captured = tuple(name for name in C.free_names(whole) if name not in own)
    scalars = {statements.expressions.storages[name].name for name in buffers_written(node)}
    boxed = tuple(name for name in captured if name in scalars and not statements.type_of(name).endswith("*"))
    members, loads = [], []
    context = f"{OWN}c"
    for name in captured:
        ctype = statements.type_of(name)
        members.append(C.Declare(ctype, name))
        loads.append(C.Declare(ctype, name, C.Arrow(C.Name(context), name)))
    back: list[C.CStmt] = []
    for name in boxed:
        members.append(C.Declare(f"{statements.type_of(name)} *", _box_member(name)))
        place = C.Subscript(C.Arrow(C.Name(context), _box_member(name)), C.Number("0"))
        back.append(C.Assign(place, C.Name(name)))
    owner = C.Name(f"{OWN}owner")
    noted = C.Evaluate(C.call("k_note", owner, C.Name(f"{OWN}number"), C.Name(STATUS), C.Name(WORDS)))
    start = [
        C.Declare(f"const struct {structure} *", context, C.Name(f"{OWN}context")),
        *c_invoke.record(f"{OWN}worker"),
        C.Assign(C.Dot(C.Name(c_invoke.SELF), "origin"), C.Name(f"{OWN}depth"), "+="),
        C.Declare("i64 *const", WORDS, C.Dot(C.Name(c_invoke.SELF), "words")),
        C.Declare("i64", STATUS, C.Number("0")),
    ]
    # Never a second copy, whose vectors could be cut in another way.
    once = "__attribute__((noinline)) " if repeats(node.body) else ""
    head = (
        f"static {once}void {function}(const weft_rt *{RT}, weft_worker *{OWN}worker, void *{OWN}context, "
        f"k_finish *{OWN}owner, i64 {OWN}number, i64 {OWN}depth)"
    )
    unit.functions.append(C.Structure(structure, tuple(members or [C.Declare("char", "none")])))
    ended = C.IfElse(C.Name(STATUS), (noted,), tuple(back))
    unit.functions.append(C.Function(head, (*start, *loads, *whole, ended)))
    return captured, boxed


# --- the end of every function ---------------------------------------------------------------------------------------


def closing(unit: Unit, frame: Frame, code: C.CBlock) -> tuple[list[C.CStmt], list[C.CStmt]]:
    """What a C function declares for its code, and what it does at its one exit: it waits for its tasks, takes over
    failures, and releases what it holds.
    """
    free = set(C.free_names(code))
    heads: list[C.CStmt] = []
    tail: list[C.CStmt] = []
    if HELD in free:
        heads.append(C.Declare("i64", HELD, C.Number("0")))
        tail.append(C.Evaluate(C.call("k_release", C.Name(RT), C.Prefix("&", C.Name(HELD)))))
    if FAILED in free and (unit.checked or not unit.guard_on_failure):
        tail.append(collect_failure())
    for finish in reversed(frame.finishes):
        tail.append(C.IfElse(C.Name(finish.opened), (C.Assign(C.Name(STATUS), _ended(finish, C.Name(STATUS))),)))
    if OVERFLOW in free:
        tail.append(_overflowed(unit))
    for owner in frame.owners:
        tail.append(C.IfElse(C.Name(owner), (C.Evaluate(C.through(RT, "release", C.Name(owner))),)))
    heads += [C.Declare("i64", name, C.Number("0")) for name in (OVERFLOW, TICKS, CHOICES) if name in free]
    if FAILED in free:
        unit.used.text(c_support.FAILURE)
        heads.append(C.Declare("k_failure", FAILED, C.Number(LOWEST)))
    return heads, tail


def _overflowed(unit: Unit) -> C.CStmt:
    """A Python integer left 64 bits: Python repeats the call if nothing was changed, else it is an exception."""
    flag: C.CExpr = C.Name(OVERFLOW)
    if unit.called is not None:  # on the way of every call, so that it matters how it is laid out
        flag = C.call("__builtin_expect", flag, C.number(0))
    happened = C.Infix("&&", flag, C.Infix("<=", C.Name(STATUS), C.number(RAISE)))
    if unit.guard_on_failure:
        return C.IfElse(happened, (C.Assign(C.Name(STATUS), C.number(GUARD)),))
    code = unit.exception(*OVERFLOW_ERROR)
    words = [C.Subscript(C.Name(WORDS), C.number(word)) for word in (1, 2)]
    # Which line it was is not known: that of the function is shown.
    place = C.number(unit.place(unit.program.span))
    stores = (C.Assign(words[0], C.number(code)), C.Assign(words[1], place))
    return C.IfElse(happened, (*stores, C.Assign(C.Name(STATUS), C.number(RAISE))))


def session(unit: Unit) -> tuple[list[C.CStmt], list[C.CStmt]]:
    """In the kernel of a program with tasks: the pool's threads are lent to it, and given back."""
    if not unit.tasks or unit.called is not None:
        return [], []
    services = C.Convert("const k_services *", C.Name(RT))
    worker = C.Arrow(C.Name(THREAD), "worker")
    enter = C.Assign(worker, C.InvokeThrough(C.Arrow(services, "enter"), (C.Name(RT),)))
    return [enter], [C.Evaluate(C.InvokeThrough(C.Arrow(services, "leave"), (worker,)))]
