"""Arguments in, results out, and changes written back: the very objects, once each, or nothing at all."""

# ruff: noqa: E501 (kernels in C)

from __future__ import annotations

import collections
import gc
import os
import random
import signal
import sys
import threading
import time
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import pytest

from tests.plain.kernels import MISS, addressed, kernel, load
from weft.plain import runtime

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]

# A value of nearly any type: everything may contain everything.
ANY = """
extern const wp_type list, tuple, pair, dict, set, frozen, queue, range, node;
SPEC(A, 'v', 31, &wp_str_type, &wp_bytes_type, &list, &pair, &tuple, &dict, &set, &frozen, &queue, &range, &node)
SLOTS(one, &A)
SLOTS(two, &A, &A)
static const int32_t offsets[] = {16, 32}, attributes[] = {24, 40};
const wp_type list = {.kind = WP_LIST, .count = 1, .slots = one, .written = 1};
const wp_type tuple = {.kind = WP_TUPLE, .count = -1, .slots = one};
const wp_type pair = {.kind = WP_TUPLE, .count = 2, .size = 48, .slots = two, .offsets = offsets, .python = $Pair};
const wp_type dict = {.kind = WP_DICT, .count = 2, .slots = two, .written = 1};
const wp_type set = {.kind = WP_SET, .count = 1, .slots = one, .written = 1};
const wp_type frozen = {.kind = WP_FROZENSET, .count = 1, .slots = one};
const wp_type queue = {.kind = WP_DEQUE, .count = 1, .slots = one, .written = 1};
const wp_type range = {.kind = WP_RANGE, .size = 40};
static void *const names[] = {$left, $right};
const wp_type node = {.kind = WP_OBJECT, .count = 2, .size = 56, .slots = two, .offsets = attributes, .python = $Node, .names = names, .written = 1};
#define ANY_ARG(k) (((wp_val *)arguments)[k])
KERNEL(same) { *(wp_val *)result = ANY_ARG(0); }
VERSION(same, A, 1, &A)
KERNEL(twice)
{
    wp_list *l = wp_list_new(&list, 0, 0);
    wp_list_append_v(l, ANY_ARG(0));
    wp_list_append_v(l, ANY_ARG(1));
    wp_list_append_v(l, wp_of_p(l));
    *(wp_val *)result = wp_of_p(l);
}
VERSION(twice, A, 2, &A, &A)
KERNEL(fresh) /* a copy of the outer list, dict, set or deque, or of the node */
{
    wp_object *o = ANY_ARG(0).u.p;
    void *made = o;
    switch (o->type->kind) {
    case WP_LIST: made = wp_list_slice(&list, (wp_list *)o, 0, ((wp_list *)o)->length, 1); break;
    case WP_DICT: made = wp_dict_copy(&dict, (wp_dict *)o); break;
    case WP_SET: made = wp_set_copy(&set, (wp_set *)o); break;
    case WP_FROZENSET: made = wp_set_copy(&frozen, (wp_set *)o); break;
    case WP_DEQUE: made = wp_deque_copy(&queue, (wp_deque *)o); break;
    case WP_OBJECT:
    case WP_TUPLE: {
        wp_record *r = wp_new(o->type);
        __builtin_memcpy(r->value, ((wp_record *)o)->value, o->type->size - 16);
        made = r;
    }
    }
    *(wp_val *)result = wp_of_p(made);
}
VERSION(fresh, A, 1, &A)
KERNEL(change) /* puts the second into the first, one way or another; the third says how */
{
    wp_object *o = ANY_ARG(0).u.p;
    wp_val x = ANY_ARG(1);
    int64_t how = arguments[4], fresh;
    switch (o->type->kind) {
    case WP_LIST:
        if (how == 0) wp_list_append_v((wp_list *)o, x);
        else if (how == 1) wp_list_set_v((wp_list *)o, 0, x, 1);
        else wp_list_remove_at((wp_list *)o, 0, 1);
        break;
    case WP_DICT: {
        wp_val text = wp_of_p(wp_str_char('k'));
        if (how == 2) { wp_dict_clear((wp_dict *)o); break; }
        wp_val *slot = wp_dict_put_v((wp_dict *)o, text, &fresh);
        *slot = x;
        break;
    }
    case WP_SET: if (how == 2) wp_set_clear((wp_set *)o); else wp_set_add_v((wp_set *)o, x); break;
    case WP_DEQUE: *(wp_val *)wp_deque_push_left((wp_deque *)o) = x; break;
    case WP_OBJECT: {
        wp_record *r = (wp_record *)o;
        if (how == 2) { r->value[0] = 1; break; }
        r->value[0] |= 2;
        *(wp_val *)((char *)o + 40) = x;
        break;
    }
    }
    if (how == 3) wp_deopt("asked for", 77);
    *result = 1;
}
VERSION(change, I, 3, &A, &A, &I)
"""


class Pair(NamedTuple):
    first: Any
    second: Any


class Node:
    def __init__(self, left: Any = None, right: Any = None) -> None:
        self.left = left
        self.right = right


class Defaulted:
    right: Any = "the class's"

    def __init__(self, left: Any) -> None:
        self.left = left


class Slotted:
    __slots__ = ("left", "right")


def _any(name: str, node: type = Node) -> Any:
    return kernel(addressed(ANY, Pair=Pair, Node=node, left=sys.intern("left"), right=sys.intern("right")), name)


def _value(rng: random.Random, depth: int) -> Any:
    flat: list[Any] = [None, True, 7, -(2**62), 1.5, "weft", "é\u20ac", b"\x00b", 2**63 - 1, range(3, 9, 2)]
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(flat)

    def several() -> list[Any]:
        return [_value(rng, depth - 1) for _ in range(rng.randrange(5))]

    def keys() -> list[Any]:
        return [rng.choice([*flat[:9], (1, "a"), frozenset([2, "b"])]) for _ in range(rng.randrange(12))]

    return rng.choice(
        [
            several,
            lambda: tuple(several()),
            lambda: Pair(_value(rng, depth - 1), 3),
            lambda: {key: _value(rng, depth - 1) for key in keys()},
            lambda: set(keys()),
            lambda: frozenset(keys()),
            lambda: deque(several(), rng.choice([None, 9])),
            lambda: Node(_value(rng, depth - 1), _value(rng, depth - 1)),
        ]
    )()


def _shape(value: Any) -> Any:
    """A text that tells two structures apart, types and orders included."""
    if isinstance(value, Node):
        return f"Node({ {k: _shape(v) for k, v in vars(value).items()} })"
    if isinstance(value, dict):
        return f"{type(value)}({[(_shape(k), _shape(v)) for k, v in value.items()]})"
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return f"{type(value)}({[_shape(item) for item in value]}, {getattr(value, 'maxlen', 0)})"
    return repr(value)


def test_what_comes_in_goes_out_as_the_very_object() -> None:
    rng, same = random.Random(1), _any("same")
    for _ in range(400):
        value = _value(rng, 4)
        shape = _shape(value)
        made = same(value)
        assert made is value or (type(made) is type(value) and not isinstance(value, (list, Node)) and made == value)
        assert _shape(value) == shape


def test_copies_have_the_same_content_and_order() -> None:
    rng, fresh = random.Random(2), _any("fresh")
    for _ in range(400):
        value = _value(rng, 3)
        if not isinstance(value, (list, dict, set, frozenset, deque, Pair, Node)):
            continue
        made = fresh(value)
        assert made is not value
        if isinstance(value, (set, frozenset)):  # a copy may have another order: that of CPython's copy
            assert type(made) is type(value) and list(made) == list(set(value))
        else:
            assert _shape(made) == _shape(value)
        if isinstance(value, (list, tuple, deque)):
            assert all(a is b or not isinstance(a, (list, dict, Node, str)) for a, b in zip(made, value))


def test_one_object_stays_one_object_and_cycles_stay_cycles() -> None:
    twice = _any("twice")
    shared: list[Any] = [1]
    shared.append(shared)
    node = Node(shared)
    node.right = node
    made = twice(shared, node)
    assert made[0] is shared and made[1] is node and made[2] is made
    assert shared[1] is shared and node.right is node and node.left is shared
    made = twice([shared, shared], (shared, node))
    assert made[0][0] is made[0][1] is made[1][0] is shared


def test_changes_are_written_back_in_place() -> None:
    change = _any("change")
    inner = [1]
    values: list[Any] = [1, [2], {"a": 1}, (3,), "new", None, 2.5]
    for value in values:
        a: list[Any] = [inner, 1.5, "x"]
        first, text = a[1], a[2]
        assert change(a, value, 0) == 1
        assert a == [inner, 1.5, "x", value] and a[0] is inner and a[1] is first and a[2] is text
        assert a[3] is value or isinstance(value, (int, float))
        assert change(a, value, 1) == 1 and a[0] == value
        assert change(a, value, 2) == 1 and a == [1.5, "x", value]
        d: dict[Any, Any] = {"z": inner, 1: 2}
        assert change(d, value, 0) == 1
        assert list(d.items()) == [("z", inner), (1, 2), ("k", value)] and d["z"] is inner
        assert change(d, 5, 0) == 1 and d["k"] == 5
        assert change(d, value, 2) == 1 and d == {}
        q = deque([1, 2], 3)
        assert change(q, value, 0) == 1 and q == deque([value, 1, 2]) and q.maxlen == 3
        node = Node(inner)
        assert change(node, value, 0) == 1 and node.left is inner and node.right == value
        assert change(node, value, 2) == 1 and vars(node) == {"left": inner}
    s = {1, "a"}
    assert change(s, 2.5, 0) == 1 and s == {1, "a", 2.5}
    assert change(s, 2.5, 2) == 1 and s == set()


def test_a_deoptimised_call_has_changed_nothing() -> None:
    change = _any("change")
    rng = random.Random(3)
    for _ in range(200):
        value = _value(rng, 3)
        if not isinstance(value, (list, dict, set, deque, Node)) or value == []:
            continue
        shape = _shape(value)
        assert change(value, 5, 3) is MISS
        assert _shape(value) == shape
    assert runtime.last(change)[2:4] == ("asked for", 77)


def test_arguments_that_do_not_fit_are_a_miss() -> None:
    same = _any("same")

    class Other(Node):
        pass

    extra = Node()
    extra.more = 1  # type: ignore[attr-defined]
    for value in (
        2**63,
        1j,
        Other(),
        extra,
        [2**70],
        {1: 1j},
        object(),
        OrderedDict(),
        bytearray(b"a"),
        {float("nan")},
    ):
        assert same(value) is MISS
    assert same() is MISS and same(1, 2) is MISS
    half = Node()
    del half.right
    assert same(half) is half and vars(half) == {"left": None}


def test_a_default_of_the_class_is_not_the_objects_own() -> None:
    same, change = _any("same", Defaulted), _any("change", Defaulted)
    made = Defaulted(1)
    assert same(made) is made and vars(made) == {"left": 1}
    assert change(made, "the class's", 0) == 1 and vars(made) == {"left": 1, "right": "the class's"}
    assert change(made, 0, 2) == 1 and vars(made) == {"left": 1}


def test_a_chain_of_objects_may_be_long_and_never_ends_the_process() -> None:
    same = _any("same")
    for length in (3000, 300_000):
        chain = None
        for _ in range(length):
            chain = Node(chain)
        assert same(chain) is (chain if length == 3000 else MISS)
        while chain is not None:
            chain = chain.left


def test_slots_are_attributes_too() -> None:
    same, change, fresh = (_any(name, Slotted) for name in ("same", "change", "fresh"))
    made = Slotted()
    made.left = [1]
    assert same(made) is made
    assert change(made, "r", 0) == 1 and made.right == "r" and made.left == [1]
    copied = fresh(made)
    assert type(copied) is Slotted and copied.left is made.left and copied.right == "r"
    assert change(made, "r", 2) == 1 and not hasattr(made, "right")


SPECIAL = """
static const wp_type factory = {.kind = WP_FUNCTION, .size = 16, .python = $factory};
SPEC(FACTORY, 'p', N, &factory)
SLOTS(entry, &S, &I, &FACTORY)
static const wp_type special = {.kind = WP_DICT, .count = COUNT, .slots = entry, .written = 1, .python = $class};
SPEC(D1, 'p', 0, &special)
KERNEL(f)
{
    int64_t fresh;
    wp_dict *d = POINTER(wp_dict, 0), *copy = wp_dict_copy(&special, d);
    *(int64_t *)wp_dict_put_p(d, wp_str_char('n'), &fresh) = 1;
    if (wp_dict_length(d) > 2) wp_dict_move_to_end(d, wp_dict_next(d, 0), 1);
    *result = (int64_t)copy;
}
VERSION(f, D1, 1, &D1)
"""


@pytest.mark.parametrize("kind", [Counter, OrderedDict, defaultdict])
def test_special_dicts_keep_their_class(kind: Any) -> None:
    count = "3" if kind is defaultdict else "2"
    f = kernel(addressed(SPECIAL, factory=int, **{"class": kind}).replace("COUNT", count))
    made: Any = defaultdict(int) if kind is defaultdict else kind()
    made["a"] = 1
    made["b"] = 2
    if kind is OrderedDict:
        made.move_to_end("a")
    before = list(made.items())
    copied = f(made)
    assert type(copied) is kind and list(copied.items()) == before
    assert list(made.items()) == [before[1], ("n", 1), before[0]]
    if kind is defaultdict:
        assert copied["missing"] == 0 and made["missing"] == 0
        assert f(defaultdict(list, a=1)) is MISS
    if kind is OrderedDict:
        made.move_to_end("n")
        assert list(reversed(made))[0] == "n"


# --- memory ------------------------------------------------------------------------------------------------------------

CHURN = """
extern const wp_type node;
SPEC(NODE, 'p', N, &node)
SLOTS(slots, &NODE, &S)
static const int32_t offsets[] = {16, 24};
const wp_type node = {.kind = WP_CELL, .count = 2, .size = 32, .slots = slots, .offsets = offsets};
SLOTS(texts, &S)
static const wp_type words = {.kind = WP_LIST, .count = 1, .slots = texts};
SPEC(WORDS, 'p', 0, &words)
KERNEL(f) /* a chain of nodes among much garbage */
{
    wp_record *chain = 0;
    wp_list *out = wp_list_new(&words, 0, 0);
    for (int64_t i = 0; i < ARG(0); i++) {
        wp_record *garbage = wp_new(&node);
        garbage->value[1] = (int64_t)wp_str_of_i(i * 1000003);
        if (i % 100 == 0) {
            wp_record *kept = wp_new(&node);
            kept->value[0] = (int64_t)chain;
            kept->value[1] = (int64_t)wp_str_concat(wp_str_of_i(i), (wp_str *)garbage->value[1]);
            chain = kept;
        }
        if (i % 1000 == 0) wp_list_repeat(&words, out, 3);
    }
    for (; chain; chain = (wp_record *)chain->value[0]) wp_list_append_p(out, (void *)chain->value[1]);
    *result = (int64_t)out;
}
VERSION(f, WORDS, 1, &I)
"""


def test_garbage_is_collected_and_nothing_else() -> None:
    f = kernel(CHURN)
    count = 2000 if os.environ.get("WEFT_PLAIN_GC") else 2_000_000
    assert f(count) == [f"{i}{i * 1000003}" for i in range(0, count, 100)][::-1]


def test_references_are_neither_lost_nor_leaked() -> None:
    same, twice, change, fresh = (_any(name) for name in ("same", "twice", "change", "fresh"))

    def use() -> None:
        inner = [object.__new__(Node) for _ in range(3)]
        value = {"a": inner, "b": Node({1, "x"}, deque([1.5]))}
        same(value)
        twice(value, inner)
        change(inner, Node("x"), 0)
        change(inner, 2**61, 3)
        fresh(value)
        same([value, 1j])

    for _ in range(3):
        use()
    gc.collect()
    objects, none = len(gc.get_objects()), sys.getrefcount(None)
    for _ in range(50):
        use()
    gc.collect()
    assert len(gc.get_objects()) - objects < 20
    assert sys.version_info >= (3, 12) or abs(sys.getrefcount(None) - none) < 50


# --- signals, threads, processes ---------------------------------------------------------------------------------------

ENDLESS = """
KERNEL(f) { for (int64_t i = 0; i != ARG(0); i++) { WP_POLL(); *(volatile int64_t *)&wp_depth; } *result = 5; }
VERSION(f, I, 1, &I)
SLOTS(whole, &I)
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = whole, .written = 1};
SPEC(LIST, 'p', 0, &list)
KERNEL(fill)
{
    wp_list *l = POINTER(wp_list, 0), *other = wp_list_new(&list, 0, 0);
    for (int64_t i = 0; i < ARG(1); i++) { WP_POLL(); wp_list_append_i(i % 2 ? l : other, i); }
    *result = (int64_t)other;
}
VERSION(fill, LIST, 2, &LIST, &I)
"""


def test_ctrl_c_ends_an_endless_loop() -> None:
    f = kernel(ENDLESS)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(-1)
    timer.join()
    assert f(10) == 5


def test_a_signal_handler_may_call_compiled_functions() -> None:
    f, fill = kernel(ENDLESS), kernel(ENDLESS, "fill")
    seen: list[Any] = []

    def handler(*_: object) -> None:
        target: list[int] = []
        seen.append((fill(target, 6), target))
        if len(seen) == 3:
            raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(TimeoutError):
            f(-1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen == [([0, 2, 4], [1, 3, 5])] * 3


def test_other_threads_run_meanwhile_and_call_too() -> None:
    fill = kernel(ENDLESS, "fill")
    count = 20_000 if os.environ.get("WEFT_PLAIN_GC") else 3_000_000
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        target: list[int] = []
        results[number] = fill(target, count + number), target

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        assert results[k] == (list(range(0, count + k, 2)), list(range(1, count + k, 2)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on_by_itself() -> None:
    fill = kernel(ENDLESS, "fill")
    assert fill([], 4) == [0, 2]
    child = os.fork()
    if child == 0:
        target: list[int] = []
        os._exit(0 if fill(target, 1000) == list(range(0, 1000, 2)) and len(target) == 500 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert fill([], 4) == [0, 2]


DEEP = """
#define WP_ENTER(line) do { if (WP_UNLIKELY(--wp_depth < 0)) wp_deeper(line); } while (0)
static __attribute__((noinline)) int64_t down(int64_t n, int64_t *outer)
{
    volatile int64_t room[ROOM];
    room[0] = n;
    WP_ENTER(5);
    int64_t sum = n == 0 ? 0 : 1 + down(n - 1, (int64_t *)room);
    wp_depth++;
    return sum + (outer && room[0] != n);
}
KERNEL(f) { *result = down(ARG(0), 0); }
VERSION(f, I, 1, &I)
"""


@pytest.mark.parametrize("room", [2, 100, 500])
def test_recursion_ends_where_python_or_the_stack_does(room: int) -> None:
    f = kernel(DEEP.replace("ROOM", str(room)))
    limit = sys.getrecursionlimit()
    assert f(100) == 100 and f(limit) is MISS
    try:
        sys.setrecursionlimit(10**7)
        assert f(10**8) is MISS and "recursion" in str(runtime.last(f).reason)
        assert f(1000) == 1000
        results: list[Any] = []
        before = threading.stack_size(256 * 1024)
        try:
            thread = threading.Thread(target=lambda: results.extend([f(10), f(10**8) is MISS]))
            thread.start()
            thread.join()
        finally:
            threading.stack_size(before)
        assert results == [10, True]
    finally:
        sys.setrecursionlimit(limit)


# --- calls into Python, exceptions, random numbers -----------------------------------------------------------------------

CALLS = """
SPEC(ANYTHING, 'v', 31, &wp_str_type)
KERNEL(f) /* python(x), or what it raised */
{
    wp_handlers++;
    wp_val x = *(wp_val *)arguments, made = wp_call_python($python, &x, 1, &ANYTHING, 7);
    wp_handlers--;
    if (wp_exception) {
        wp_object *e = wp_exception;
        wp_exception = 0;
        made = wp_error_argument(e, 8);
        for (int k = 0; k < WP_EXCEPTIONS; k++)
            if (e->type == &wp_error_types[k]) made = wp_of_p(wp_str_concat(wp_str_of_i(k), wp_to_str(made)));
    }
    *(wp_val *)result = made;
}
VERSION(f, ANYTHING, 1, &ANYTHING)
KERNEL(g) { wp_val x = *(wp_val *)arguments; *(wp_val *)result = wp_call_method("center", (wp_val[]){x, wp_of_i(9), wp_of_p(wp_str_char('*'))}, 3, &ANYTHING, 7); }
VERSION(g, ANYTHING, 1, &ANYTHING)
KERNEL(divide)
{
    wp_handlers++;
    wp_val made = wp_arith((int32_t)arguments[4], ((wp_val *)arguments)[0], ((wp_val *)arguments)[1], 3);
    wp_handlers--;
    if (wp_exception) { made = wp_error_argument(wp_exception, 4); wp_exception = 0; }
    *(wp_val *)result = made;
}
VERSION(divide, ANYTHING, 3, &ANYTHING, &ANYTHING, &I)
KERNEL(draw)
{
    double sum = 0;
    for (int64_t i = 0; i < ARG(0); i++) sum += wp_random() + (double)wp_random_bits(1 + i % 63);
    if (ARG(1)) wp_deopt("asked for", 1);
    *(double *)result = sum;
}
VERSION(draw, D, 2, &I, &I)
"""


def _python(x: Any) -> Any:
    if x == "value":
        raise ValueError("no value")
    if x == "lookup":
        raise LookupError("not one of the table")
    if x == "list":
        return [1]
    return x if isinstance(x, str) else x * 2


def _calls(name: str) -> Any:
    return kernel(addressed(CALLS, python=_python), name)


def test_python_functions_are_called_with_copies_and_their_exceptions_caught() -> None:
    f, g = _calls("f"), _calls("g")
    assert [f(3), f(1.5), f("é"), f("value")] == [6, 3.0, "é", "2no value"]
    assert (
        f("lookup") is MISS
        and f("list") is MISS
        and f(None) == "3unsupported operand type(s) for *: 'NoneType' and 'int'"
    )
    assert g("abc") == "***abc***" and g(1) is MISS


def test_exceptions_have_the_message_of_this_python() -> None:
    divide = _calls("divide")
    operations = {"/": lambda a, b: a / b, "%": lambda a, b: a % b, "_": lambda a, b: a // b, "^": lambda a, b: a**b}
    for name, operation in operations.items():
        for a in (0, 5, -2, 2.5, 0.0, 1e300, True):
            for b in (0, 0.0, -1, 2, 2.5, 1e10):
                try:
                    theirs: Any = operation(a, b)
                except ArithmeticError as problem:
                    theirs = problem.args[0] if len(problem.args) == 1 else MISS
                if isinstance(theirs, complex) or (isinstance(theirs, int) and abs(theirs) >= 2**63):
                    theirs = MISS
                assert repr(divide(a, b, ord(name))) == repr(theirs), (a, name, b)


def test_random_numbers_go_on_where_the_module_is() -> None:
    draw = _calls("draw")
    for seed in range(5):
        random.seed(seed)
        random.gauss(0, 1)
        state = random.getstate()
        expected = 0.0
        for i in range(400):
            expected += random.random() + float(random.getrandbits(1 + i % 63))
        after = random.getstate()
        random.setstate(state)
        assert draw(400, 1) is MISS and random.getstate() == state
        assert draw(400, 0) == expected and random.getstate() == after


def test_a_long_list_of_floats_is_read_fast_enough_to_be_worth_it() -> None:
    source = """
SLOTS(reals, &D)
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = reals};
SPEC(LIST, 'p', 0, &list)
KERNEL(f) { double s = 0; wp_list *l = POINTER(wp_list, 0); for (int64_t i = 0; i < l->length; i++) s += ((double *)l->data)[i]; *(double *)result = s; }
VERSION(f, D, 1, &LIST)
"""
    values = [float(k) for k in range(10**6)]
    started = time.perf_counter()
    assert kernel(source)(values) == sum(values)
    print(f"{time.perf_counter() - started:.3f} s")
    assert collections.Counter(type(value) for value in values) == {float: 10**6}


def test_objects_that_native_code_makes_keep_their_attributes_where_pythons_own_do() -> None:
    """In the object, and not in a dict: Python reads them there faster, and they take less memory."""
    import gc

    from tests.plain.programs_special_methods import Named
    from weft.plain.function import Native

    def named(name):
        return [Named(name), Named(name)]

    native = Native(named)
    native.extend(("Ann",))
    for expected, made in zip(named("Ann"), native("Ann")):
        assert [type(held) for held in gc.get_referents(made)] == [type(held) for held in gc.get_referents(expected)]
        assert vars(made) == vars(expected)
