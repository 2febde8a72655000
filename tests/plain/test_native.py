"""Containers and strings of the run time, compared with CPython over random data."""

# ruff: noqa: E501 (kernels in C)

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.plain.kernels import kernel, load
from weft.plain.function import Native

pytestmark = [pytest.mark.native, pytest.mark.skipif(not load(), reason="no run time of plain Python here")]

# --- sets ------------------------------------------------------------------------------------------------------------

SETS = """
SLOTS(items, &%(repr)s)
static const wp_type set = {.kind = WP_SET, .count = 1, .slots = items, .written = 1};
static const wp_type fixed = {.kind = WP_SET, .count = 1, .slots = items};
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = items};
SLOTS(whole, &I)
static const wp_type codes = {.kind = WP_LIST, .count = 1, .slots = whole};
SPEC(SET, 'p', 0, &set, &fixed)
SPEC(LIST, 'p', 0, &list)
SPEC(CODES, 'p', 0, &codes)
KERNEL(steps)
{
    wp_set *s = POINTER(wp_set, 0);
    wp_list *keys = POINTER(wp_list, 1), *what = POINTER(wp_list, 2), *said = wp_list_new(&codes, 0, 0);
    for (int64_t i = 0; i < keys->length; i++) {
        int64_t answer = -2;
        switch (wp_list_get_i(what, i, 0)) {
        case 0: answer = wp_set_add_%(r)s(s, wp_list_get_%(r)s(keys, i, 0)); break;
        case 1: answer = wp_set_discard_%(r)s(s, wp_list_get_%(r)s(keys, i, 0)); break;
        case 2: answer = wp_set_has_%(r)s(s, wp_list_get_%(r)s(keys, i, 0)); break;
        case 3: answer = wp_set_pop_place(s); if (answer >= 0) { wp_set_remove_at(s, answer); answer = -1; } break;
        default: wp_set_clear(s);
        }
        wp_list_append_i(said, answer);
    }
    *result = (int64_t)said;
}
VERSION(steps, CODES, 3, &SET, &LIST, &CODES)
KERNEL(both)
{
    wp_set *a = POINTER(wp_set, 0), *b = POINTER(wp_set, 1), *made = a;
    switch (ARG(2)) {
    case 0: made = wp_set_union(&fixed, a, b); break;
    case 1: made = wp_set_intersection(&fixed, a, b); break;
    case 2: made = wp_set_difference(&fixed, a, b); break;
    case 3: made = wp_set_symmetric(&fixed, a, b); break;
    case 4: wp_set_update(a, b); break;
    case 5: wp_set_intersection_update(a, b); break;
    case 6: wp_set_difference_update(a, b); break;
    case 7: wp_set_symmetric_update(a, b); break;
    default: made = wp_set_copy(&fixed, a);
    }
    *result = (int64_t)made;
}
VERSION(both, SET, 3, &SET, &SET, &I)
KERNEL(order)
{
    wp_set *s = POINTER(wp_set, 0);
    wp_list *l = wp_list_new(&list, 0, 0);
    for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1))
        wp_list_append_%(r)s(l, *(%(c)s *)wp_set_key_at(s, i));
    *result = (int64_t)l;
}
VERSION(order, LIST, 1, &SET)
KERNEL(compare)
{
    wp_set *a = POINTER(wp_set, 0), *b = POINTER(wp_set, 1);
    *result = wp_set_subset(a, b) | wp_set_disjoint(a, b) << 1 | wp_set_equal(a, b) << 2;
}
VERSION(compare, I, 2, &SET, &SET)
"""
REPRESENTATIONS = {
    "i": {"repr": "I", "r": "i", "c": "int64_t"},
    "d": {"repr": "D", "r": "d", "c": "double"},
    "s": {"repr": "S", "r": "p", "c": "void *"},
    "v": {"repr": "V", "r": "v", "c": "wp_val"},
}


def _word(rng: random.Random) -> str:
    alphabet = rng.choice(["abc", "xyzäö", "aé\u20ac", "b\U0001f600"])
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(5)))


def _key(rng: random.Random, kind: str) -> Any:
    if kind == "i":
        return rng.choice([rng.randrange(-20, 60), rng.randrange(2000) * 1024, rng.randrange(-(2**63), 2**63)])
    if kind == "d":
        return rng.choice([rng.randrange(40) / 4, rng.random() * 1e9, -rng.random(), float(rng.randrange(2**60))])
    if kind == "s":
        return _word(rng)
    return rng.choice([None, True, False, _word(rng), _word(rng).encode(), _key(rng, "i"), _key(rng, "d"), 1.0, 1])


def _aged(rng: random.Random, kind: str, size: int) -> set[Any]:
    """A set with a history: deleted entries, a table larger than it needs, an advanced finger."""
    made = {_key(rng, kind) for _ in range(size)}
    for key in rng.sample(sorted(made, key=repr), len(made) // 3):
        made.discard(key)
    for _ in range(rng.randrange(3)):
        if made:
            made.pop()
    return made


def _same(a: Any, b: Any) -> bool:
    """Equal in order, and by type: 1 is not True."""
    return repr(list(a)) == repr(list(b))


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_a_set_is_changed_as_cpython_changes_it(kind: str) -> None:
    rng = random.Random(7)
    steps = kernel(SETS % REPRESENTATIONS[kind], "steps")
    for rounds in range(20):
        count = 4000 if rounds == 0 else 500
        keys = [_key(rng, kind) for _ in range(count)]
        what = [rng.choices([0, 1, 2, 3, 4], [50, 30, 10, 9, 0.2])[0] for _ in keys]
        mine: set[Any] = set()
        theirs: set[Any] = set()
        said = steps(mine, keys, what)
        expected = []
        for key, step in zip(keys, what):
            there = key in theirs
            if step == 0:
                theirs.add(key)
                expected.append(int(not there))
            elif step == 1:
                theirs.discard(key)
                expected.append(int(there))
            elif step == 2:
                expected.append(int(there))
            elif step == 3:
                expected.append(-1)
                if theirs:
                    theirs.pop()
            else:
                theirs.clear()
                expected.append(-2)
        assert said == expected
        assert _same(mine, theirs)
        for key in [_key(rng, kind) for _ in range(50)]:  # Python goes on from the same table
            mine.add(key)
            theirs.add(key)
        assert [mine.pop() for _ in range(len(mine) // 2)] == [theirs.pop() for _ in range(len(theirs) // 2)]
        assert _same(mine, theirs)


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_operations_on_two_sets_have_cpythons_order(kind: str) -> None:
    rng = random.Random(11)
    both = kernel(SETS % REPRESENTATIONS[kind], "both")
    order = kernel(SETS % REPRESENTATIONS[kind], "order")
    compare = kernel(SETS % REPRESENTATIONS[kind], "compare")
    operations = [
        lambda a, b: a | b,
        lambda a, b: a & b,
        lambda a, b: a - b,
        lambda a, b: a ^ b,
        lambda a, b: a.update(b) or a,
        lambda a, b: a.intersection_update(b) or a,
        lambda a, b: a.difference_update(b) or a,
        lambda a, b: a.symmetric_difference_update(b) or a,
        lambda a, b: a.copy(),
    ]
    for round_ in range(300):
        sizes = rng.choice([(3, 3), (20, 5), (5, 60), (100, 100), (300, 10), (2, 400)])
        seed = rng.randrange(2**30)
        pairs = []
        for _ in range(2):  # twice the same history, so that the tables are the same
            twin = random.Random(seed)
            a = _aged(twin, kind, sizes[0])
            b = _aged(twin, kind, sizes[1])
            pairs.append((a, a if round_ % 20 == 0 else b))
        which = rng.randrange(len(operations))
        mine, theirs = both(*pairs[0], which), operations[which](*pairs[1])
        assert _same(mine, theirs), which
        assert _same(pairs[0][0], pairs[1][0])
        assert _same(order(pairs[0][0]), pairs[1][0])
        assert (mine is pairs[0][0]) == (theirs is pairs[1][0])
        a, b = pairs[0]
        assert compare(a, b) == (a <= b) + 2 * a.isdisjoint(b) + 4 * (a == b)


# --- dicts -----------------------------------------------------------------------------------------------------------

DICTS = """
SLOTS(pair, &%(repr)s, &I)
static const wp_type dict = {.kind = WP_DICT, .count = 2, .slots = pair, .written = 1};
SLOTS(items, &%(repr)s)
static const wp_type list = {.kind = WP_LIST, .count = 1, .slots = items};
SLOTS(whole, &I)
static const wp_type codes = {.kind = WP_LIST, .count = 1, .slots = whole};
SPEC(DICT, 'p', 0, &dict)
SPEC(LIST, 'p', 0, &list)
SPEC(CODES, 'p', 0, &codes)
KERNEL(steps)
{
    wp_dict *d = POINTER(wp_dict, 0);
    wp_list *keys = POINTER(wp_list, 1), *what = POINTER(wp_list, 2), *said = wp_list_new(&codes, 0, 0);
    for (int64_t i = 0; i < keys->length; i++) {
        int64_t answer = -2, fresh, at, *slot;
        %(c)s key = wp_list_get_%(r)s(keys, i, 0);
        switch (wp_list_get_i(what, i, 0)) {
        case 0: slot = wp_dict_put_%(r)s(d, key, &fresh); answer = fresh ? -1 : *slot; *slot = i; break;
        case 1: answer = wp_dict_delete_%(r)s(d, key); break;
        case 2: slot = wp_dict_find_%(r)s(d, key); answer = slot ? *slot : -1; break;
        case 3: at = wp_dict_last(d); if (at >= 0) { answer = *(int64_t *)wp_dict_value_at(d, at); wp_dict_delete_at(d, at); } break;
        case 4: at = wp_dict_next(d, 0); if (at >= 0) { answer = *(int64_t *)wp_dict_value_at(d, at); wp_dict_delete_at(d, at); } break;
        default: wp_dict_clear(d);
        }
        wp_list_append_i(said, answer);
    }
    wp_list *out = wp_list_new(&list, 0, 0);
    for (int64_t at = wp_dict_before(d, 1ll << 60); at >= 0; at = wp_dict_before(d, at))
        wp_list_append_%(r)s(out, *(%(c)s *)wp_dict_key_at(d, at));
    POINTER(wp_list, 3)->length = 0;
    wp_list_extend(POINTER(wp_list, 3), said);
    POINTER(wp_list, 4)->length = 0;
    wp_list_extend(POINTER(wp_list, 4), out);
    *result = (int64_t)d;
}
static const wp_type codes_out = {.kind = WP_LIST, .count = 1, .slots = whole, .written = 1};
static const wp_type list_out = {.kind = WP_LIST, .count = 1, .slots = items, .written = 1};
SPEC(CODES_OUT, 'p', 0, &codes_out)
SPEC(LIST_OUT, 'p', 0, &list_out)
VERSION(steps, DICT, 5, &DICT, &LIST, &CODES, &CODES_OUT, &LIST_OUT)
"""


def _dict_steps(theirs: dict[Any, int], keys: list[Any], what: list[int]) -> list[int]:
    said = []
    for i, (key, step) in enumerate(zip(keys, what)):
        answer = -2
        if step == 0:
            answer = theirs.get(key, -1)
            theirs[key] = i
        elif step == 1:
            answer = int(theirs.pop(key, None) is not None)
        elif step == 2:
            answer = theirs.get(key, -1)
        elif step == 3 and theirs:
            answer = theirs.popitem()[1]
        elif step == 4 and theirs:
            answer = theirs.pop(next(iter(theirs)))
        elif step == 6:
            theirs.clear()
        said.append(answer)
    return said


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_a_dict_is_changed_as_cpython_changes_it(kind: str) -> None:
    rng = random.Random(3)
    steps = kernel(DICTS % REPRESENTATIONS[kind], "steps")
    for rounds in range(12):
        keys = [_key(rng, kind) for _ in range(8000 if rounds == 0 else 700)]
        what = [rng.choices([0, 1, 2, 3, 4, 6], [50, 25, 10, 6, 6, 0.1])[0] for _ in keys]
        start = {_key(rng, kind): k for k in range(rng.randrange(30))}
        mine, theirs = dict(start), dict(start)
        said: list[int] = []
        backwards: list[Any] = []
        made = steps(mine, keys, what, said, backwards)
        assert made is mine
        assert said == _dict_steps(theirs, keys, what)
        assert repr(mine) == repr(theirs)
        assert repr(backwards) == repr(list(theirs)[::-1])


# --- everything once more, with a collection at every allocation -------------------------------------------------------


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_is_lost_when_memory_is_collected_all_the_time(every: int) -> None:
    """The tests of this folder again, a sample of them or all, in a process that collects at every 7th allocation."""
    if os.environ.get("WEFT_PLAIN_GC"):
        pytest.skip("is that process")
    here = Path(__file__).parent
    environment = {**os.environ, "WEFT_PLAIN_GC": "7"}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-n", "0", "--every", str(every)]
    command = [sys.executable, "-m", "pytest", *options, str(here)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900, cwd=here.parent.parent)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.parametrize("part", ["plain", "core"])
def test_every_function_is_declared(part: str, tmp_path: Path) -> None:
    """gcc takes a call of a function that nobody has declared; clang does not, and then nothing here is native."""
    from weft.plain.runtime import runtime_source
    from weft.runtime import toolchain
    from weft.runtime.dispatch import core_source

    chain = toolchain.find()
    assert chain is not None
    source = tmp_path / "part.c"
    source.write_text(runtime_source() if part == "plain" else core_source())
    checks = ["-fsyntax-only", "-Werror=implicit-function-declaration", "-Werror=implicit-int"]
    command = [*chain.command, *checks, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]


def test_a_version_that_gives_up_every_call_is_not_made_again_and_again():
    def spelt(n):
        text = ""
        for value, letter in ((10, "X"), (5, "V"), (1, "I")):
            count, n = divmod(n, value)
            text += letter * count
        return text

    made = []
    native = Native(spelt, missed=lambda values: made.append(native.extend(values)) or True)
    assert native(17) == "XVII"
    for _ in range(200):
        with pytest.raises(TypeError):
            native(2.5)
    assert len(made) <= 4
    assert native(6) == "VI"
    assert not native.given_up
