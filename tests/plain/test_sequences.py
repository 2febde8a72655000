"""Lists and deques of the run time, compared with CPython over random operations."""

# ruff: noqa: E501 (kernels in C)

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest

from tests.plain.kernels import MISS, kernel, load

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]

LISTS = """
SLOTS(items, &%(repr)s)
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = items, .written = 1};
SPEC(LIST, 'p', 0, &list)
static const wp_spec BOUND = {'v', 1u << WP_INT | N, 0, 0};
#define BOUNDS(at) int64_t b[3]; wp_slice_bounds(((wp_val *)(arguments + at))[0], ((wp_val *)(arguments + at))[1], ((wp_val *)(arguments + at))[2], POINTER(wp_list, 0)->length, b, 1)
KERNEL(slice) { BOUNDS(1); *result = (int64_t)wp_list_slice(&list, POINTER(wp_list, 0), b[0], b[1], b[2]); }
VERSION(slice, LIST, 4, &LIST, &BOUND, &BOUND, &BOUND)
KERNEL(assign)
{
    BOUNDS(2);
    if (b[2] == 1) wp_list_set_slice(POINTER(wp_list, 0), b[0], b[1], POINTER(wp_list, 1), 1);
    else wp_list_set_extended(POINTER(wp_list, 0), b[0], b[1], b[2], POINTER(wp_list, 1), 1);
    *result = 1;
}
VERSION(assign, I, 5, &LIST, &LIST, &BOUND, &BOUND, &BOUND)
KERNEL(delete) { BOUNDS(1); wp_list_delete_slice(POINTER(wp_list, 0), b[0], b[1], b[2]); *result = 1; }
VERSION(delete, I, 4, &LIST, &BOUND, &BOUND, &BOUND)
KERNEL(insert)
{
    wp_list *l = POINTER(wp_list, 0);
    int64_t at = wp_list_clamp(l, ARG(1));
    wp_list_insert_room(l, at);
    wp_list_set_%(r)s(l, at, *(%(c)s *)(arguments + 2), 1);
    *result = 1;
}
VERSION(insert, I, 3, &LIST, &I, &%(repr)s)
KERNEL(pop)
{
    int64_t at = wp_list_pop_index(POINTER(wp_list, 0), ARG(1), 1);
    wp_list_remove_at(POINTER(wp_list, 0), at, 1);
    *result = at;
}
VERSION(pop, I, 2, &LIST, &I)
KERNEL(sort) { wp_list_sort(POINTER(wp_list, 0), ARG(1), 1); *result = 1; }
VERSION(sort, I, 2, &LIST, &I)
KERNEL(find) { *result = wp_list_find(POINTER(wp_list, 0), wp_from_slot(arguments + 1, %(letter)s), 0, POINTER(wp_list, 0)->length); }
VERSION(find, I, 2, &LIST, &%(repr)s)
KERNEL(repeat) { *result = (int64_t)wp_list_repeat(&list, POINTER(wp_list, 0), ARG(1)); }
VERSION(repeat, LIST, 2, &LIST, &I)
KERNEL(concat)
{
    wp_list *made = wp_list_concat(&list, POINTER(wp_list, 0), POINTER(wp_list, 1));
    wp_list_reverse(made);
    wp_list_extend(POINTER(wp_list, 0), POINTER(wp_list, 1));
    *result = (int64_t)made;
}
VERSION(concat, LIST, 2, &LIST, &LIST)
"""
DEQUES = """
SLOTS(items, &%(repr)s)
static const wp_type queue = {.kind = WP_DEQUE, .count = 1, .slots = items, .written = 1};
SPEC(QUEUE, 'p', 0, &queue)
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = items};
SPEC(LIST, 'p', 0, &list)
SLOTS(whole, &I)
static const wp_type codes = {.kind = WP_LIST, .count = 1, .slots = whole};
SPEC(CODES, 'p', 0, &codes)
KERNEL(f)
{
    wp_deque *q = POINTER(wp_deque, 0);
    wp_list *values = POINTER(wp_list, 1), *what = POINTER(wp_list, 2), *out = wp_list_new(&list, 0, 0);
    for (int64_t i = 0; i < values->length; i++) {
        %(c)s x = wp_list_get_%(r)s(values, i, 0);
        %(c)s *slot = 0;
        int64_t code = wp_list_get_i(what, i, 0), n = wp_deque_length(q);
        if (code == 0) { slot = wp_deque_push(q); if (slot) *slot = x; slot = 0; }
        else if (code == 1) { slot = wp_deque_push_left(q); if (slot) *slot = x; slot = 0; }
        else if (code == 2 && n) slot = wp_deque_pop(q, 1);
        else if (code == 3 && n) slot = wp_deque_pop_left(q, 1);
        else if (code == 4) wp_deque_rotate(q, i %% 11 - 5);
        else if (code == 5 && n) slot = wp_deque_at(q, -1 - i %% n, 1);
        else if (code == 6) wp_deque_clear(q);
        if (slot) wp_list_append_%(r)s(out, *slot);
    }
    *result = (int64_t)out;
}
VERSION(f, LIST, 3, &QUEUE, &LIST, &CODES)
KERNEL(copy) { *result = (int64_t)wp_deque_copy(&queue, POINTER(wp_deque, 0)); }
VERSION(copy, QUEUE, 1, &QUEUE)
"""
REPRESENTATIONS = {
    "i": {"repr": "I", "r": "i", "c": "int64_t", "letter": "'i'"},
    "d": {"repr": "D", "r": "d", "c": "double", "letter": "'d'"},
    "s": {"repr": "S", "r": "p", "c": "void *", "letter": "'p'"},
    "v": {"repr": "V", "r": "v", "c": "wp_val", "letter": "'v'"},
}


def _item(rng: random.Random, kind: str) -> Any:
    if kind == "i":
        return rng.choice([rng.randrange(-5, 6), rng.randrange(-(2**63), 2**63)])
    if kind == "d":
        return rng.choice([0.0, -0.0, float(rng.randrange(-4, 5)), rng.uniform(-1e9, 1e9), float("inf")])
    if kind == "s":
        return "".join(rng.choice("abé\u20ac") for _ in range(rng.randrange(4)))
    return rng.choice([_item(rng, "i"), _item(rng, "d"), True, False])


def _items(rng: random.Random, kind: str, most: int = 12) -> list[Any]:
    return [_item(rng, kind) for _ in range(rng.randrange(most))]


def _tried(function: Any, *arguments: Any) -> Any:
    try:
        function(*arguments)
    except (ValueError, IndexError):
        return MISS
    return 1


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_lists_are_cut_and_joined_as_in_cpython(kind: str) -> None:
    rng = random.Random(21)
    names = "slice assign delete insert pop find repeat concat".split()
    native = {name: kernel(LISTS % REPRESENTATIONS[kind], name) for name in names}
    for _ in range(1200):
        start, stop = (rng.choice([None, rng.randrange(-14, 14)]) for _ in range(2))
        step = rng.choice([None, 1, 1, 2, 3, -1, -2, -(2**63), 2**62])
        part = slice(start, stop, step)
        a, b, x, n = _items(rng, kind), _items(rng, kind), _item(rng, kind), rng.randrange(-14, 14)
        before = repr(a)
        assert repr(native["slice"](a, start, stop, step)) == repr(a[part]) and repr(a) == before
        for mine, theirs, other in ((list(a), list(a), b),):
            assert native["assign"](mine, other, start, stop, step) == _tried(theirs.__setitem__, part, other)
            assert repr(mine) == repr(theirs)
        mine, theirs = list(a), list(a)
        assert native["assign"](mine, mine, start, stop, step) == _tried(theirs.__setitem__, part, theirs)
        assert repr(mine) == repr(theirs)
        mine, theirs = list(a), list(a)
        assert native["delete"](mine, start, stop, step) == _tried(theirs.__delitem__, part) and repr(mine) == repr(
            theirs
        )
        native["insert"](mine, n, x)
        theirs.insert(n, x)
        assert repr(mine) == repr(theirs)
        popped = _tried(theirs.pop, n)
        assert (native["pop"](mine, n) is MISS) == (popped is MISS) and repr(mine) == repr(theirs)
        assert native["find"](a, x) == (a.index(x) if x in a else -1)
        assert repr(native["repeat"](a, n)) == repr(a * n)
        mine, theirs = list(a), a + b
        assert repr(native["concat"](mine, b)) == repr(theirs[::-1]) and repr(mine) == repr(theirs)


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_lists_are_sorted_as_in_cpython(kind: str) -> None:
    rng = random.Random(22)
    sort = kernel(LISTS % REPRESENTATIONS[kind], "sort")
    for size in [*range(40), 100, 1000, 5000]:
        for arranged in (list, sorted, lambda x: sorted(x, reverse=True)):
            for reverse in (False, True):
                mine = arranged([_item(rng, kind) for _ in range(size)])
                theirs = sorted(mine, reverse=reverse)
                kept = {id(item) for item in mine}
                assert sort(mine, int(reverse)) == 1
                assert repr(mine) == repr(theirs)
                assert kind != "s" or {id(item) for item in mine} == kept
    if kind == "d":
        assert sort([1.0, float("nan"), 0.5], 0) is MISS


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_deques_are_changed_as_in_cpython(kind: str) -> None:
    rng = random.Random(23)
    f, copy = (kernel(DEQUES % REPRESENTATIONS[kind], name) for name in ("f", "copy"))
    for limit in (None, 0, 1, 5, 30):
        for _ in range(15):
            values = [_item(rng, kind) for _ in range(300)]
            what = [rng.choices(range(7), [40, 30, 15, 15, 10, 10, 0.5])[0] for _ in values]
            mine = deque(_items(rng, kind, 40), limit)
            theirs, out = mine.copy(), []
            said = f(mine, values, what)
            for i, (x, code) in enumerate(zip(values, what)):
                if code == 0:
                    theirs.append(x)
                elif code == 1:
                    theirs.appendleft(x)
                elif code in (2, 3) and theirs:
                    out.append(theirs.pop() if code == 2 else theirs.popleft())
                elif code == 4:
                    theirs.rotate(i % 11 - 5)
                elif code == 5 and theirs:
                    out.append(theirs[-1 - i % len(theirs)])
                elif code == 6:
                    theirs.clear()
            assert repr(said) == repr(out) and repr(mine) == repr(theirs)
            copied = copy(mine)
            assert copied is not mine and repr(copied) == repr(theirs)
