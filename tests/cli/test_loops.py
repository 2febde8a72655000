"""Loops that native code takes over while they run: what they leave behind is what Python leaves behind."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from tests.plain.kernels import load
from weft.errors import Unsupported
from weft.heat import heads, loops, standing
from weft.heat.outline import Outline, outlines

pytestmark = [
    pytest.mark.alone,
    pytest.mark.native,
    pytest.mark.skipif(not load() or not loops.supported(), reason="loops cannot be entered here"),
]


def entered(function: Any, *args: Any, is_traced: bool = True) -> tuple[Any, loops.Loop]:
    """Call a function whose first loop native code takes over as soon as all its variables have values: in a trace, or
    when the loop wants its next item."""
    from weft.heat.entering import version_for
    from weft.heat.fetched import Fetched

    made: list[loops.Loop] = []

    def local(frame: types.FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if event != "line" or made or standing.loop_at(frame) < 0:
            return local
        found = outlines(frame.f_code, frame.f_globals, frame.f_locals, frame.f_lineno)[0]
        if not isinstance(found, Outline) or frame.f_lineno != found.line:
            return local
        loop = loops.Loop(frame.f_code, frame.f_globals)
        entry = loops.Entry(loop, lambda *_: False)
        loop.outline, loop.line = found, found.line
        if not entry._is_head(frame):
            return local
        made.append(loop)
        version_for(found, dict(frame.f_locals), Fetched(found.function))
        sys.settrace(None)
        if is_traced or found.kind == "while":
            changed, line = loop.enter(frame, lambda *_: False)
            frame.f_locals.update(changed)
            if line:
                frame.f_lineno = line  # type: ignore[misc]
        else:
            assert heads.placed(frame, found.line, found.depth, entry._reached, at_head=True)
            frame.f_trace = None
        return None

    def called(frame: types.FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        return local if frame.f_code is function.__code__ else None

    sys.settrace(called)
    try:
        result = function(*args)
    finally:
        sys.settrace(None)
    return result, made[0]


class Node:
    def __init__(self, value: int) -> None:
        self.value = value
        self.next: Node | None = None


def for_with_else(n: int) -> Any:
    total, i = 0, -1
    seen = []
    for i in range(3, n, 2):
        total += i * i
        if total % 11 == 0:
            seen.append(i)
    else:
        total = -total
    return total, i, seen


def for_with_break(n: int) -> Any:
    total, i, items = 0, 0, iter(range(n))
    for i in items:
        total += i
        if total > 5000:
            break
    else:
        total = -1
    return total, i, next(items)


def one_line_exit(n: int) -> Any:
    k = 0
    while True:
        k += 3
        if k > n: return "done", k  # noqa: E701


def nested_return(n: int) -> Any:
    x = 0
    for i in range(n):
        for j in range(i):
            x += j
            if x > 10_000:
                return i, j, x
    return None


def growing_list(n: int) -> Any:
    work = [1, 2, 3]
    last = 0
    for item in work:
        last = item
        if len(work) < n:
            work.append(item * 2 % 97)
    return last, len(work), sum(work)


def numbered(n: int) -> Any:
    letters, found = ["a", "bc", ""] * n, {}
    for k, letter in enumerate(letters, 5):
        found[letter] = found.get(letter, 0) + k
        if k == 2 * n:
            letters.pop()
        if k == 2 * n + 7:
            return k, letter, found
    return found


def characters(n: int) -> Any:
    text, depth, deepest = "(()())" * n, 0, 0
    for c in text:
        depth += 1 if c == "(" else -1
        deepest = max(depth, deepest)
    return depth, deepest, c


def constants(n: int) -> Any:
    total, size = 0, 0
    for size in (5, 7, 3):
        total += size * n
    return total, size


def objects(n: int) -> Any:
    head, node, k = None, None, 0
    first = Node(-1)
    first.next = first
    while k < n:
        node = Node(k)
        node.next = head
        head = node
        first.value += k
        k += 1
    return k, first.value, first.next is first, head is node, node.value, node.next.value  # type: ignore[union-attr]


def beyond_64_bits(n: int) -> Any:
    x, i = 1, 0
    for i in range(n):
        x = x * 3 + i
    return x, i


def comprehension(n: int) -> Any:
    rows = [[k] for k in range(3)]
    total, row = 0, rows[0]
    for i in range(n):
        row = [i + k for k in range(3)]
        rows = [r[-2:] + [total % 5] for r in rows]
        total += sum(x for x in row if x % 2)
    return total, rows, row


def one_line(n: int) -> Any:
    total, i, rows = 0, 0, [[1, 2], [3]]
    for i in range(n): total += i * len(rows[i % 2]); rows[i % 2].append(i)  # noqa: E701, E702
    else: total = -total  # noqa: E701
    return total, i, rows


def changed_items(n: int) -> Any:
    pairs, total, i, item = [(k, [k]) for k in range(n)], 0, 0, None
    for i, item in pairs:
        total += i
        i, late = -i, total  # the item is overwritten, and `late` has no value before the first iteration
        if late > 300:
            break
    return total, i, item, late


def inner_of_two(n: int) -> Any:
    total, i, j = 0, 0, 0
    for i in range(3):
        for j in sorted([n, 2, 1]):
            total += i * j
    return total, i, j


CASES = [
    (changed_items, 100),
    (inner_of_two, 50),
    (for_with_else, 1000),
    (constants, 10),
    (one_line, 1000),
    (for_with_break, 1000),
    (one_line_exit, 1000),
    (nested_return, 200),
    (growing_list, 500),
    (numbered, 300),
    (characters, 300),
    (objects, 300),
    (beyond_64_bits, 200),
    (comprehension, 300),
]


@pytest.mark.parametrize("is_traced", [True, False], ids=["traced", "placed"])
@pytest.mark.parametrize(("function", "n"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_loop_ends_as_python_ends_it(function: Any, n: int, is_traced: bool) -> None:
    result, loop = entered(function, n, is_traced=is_traced)
    assert sys.gettrace() is None
    assert result == function(n)
    assert loop.state == "native", loop.reason


def test_a_list_is_let_go_of_by_a_loop_that_was_watched() -> None:
    def over(items: Any, is_left: bool) -> Any:
        reached: list[int] = []
        for _ in items:
            here = sys._getframe()
            if not reached:
                assert heads.placed(here, here.f_code.co_firstlineno + 2, 0, lambda frame: reached.append(1))
                assert type(heads._held(here, 0)) is heads.Head and type(heads.iterators_of(here)[0]) is not heads.Head
            if is_left:
                break
        return reached

    for items in ([1, 2, 3], (1, 2), [1], "ab", range(5)):
        before = sys.getrefcount(items)
        assert over(items, False) == [1] and over(items, True) == [] and over(enumerate(items), False) == [1]
        gc.collect()  # frames that hold themselves
        assert sys.getrefcount(items) == before
    assert over_generator() == "no"


def over_generator() -> str:
    for _ in (k for k in range(3)):
        here = sys._getframe()
        if heads.placed(here, here.f_code.co_firstlineno + 1, 0, lambda frame: None):
            return "yes"
    return "no"


def failing(n: int, log: list[int]) -> int:
    i = 0
    for i in range(n):
        log.append(i)
        i = 100 // (50 - i)
    return i


@pytest.mark.parametrize("is_traced", [True, False])
def test_an_exception_comes_from_its_own_iteration(is_traced: bool) -> None:
    mine: list[int] = []
    theirs: list[int] = []
    with pytest.raises(ZeroDivisionError) as found:
        entered(failing, 100, mine, is_traced=is_traced)
    with pytest.raises(ZeroDivisionError) as expected:
        failing(100, theirs)
    assert mine == theirs == list(range(51))
    assert found.traceback[-1].lineno == expected.traceback[-1].lineno


def refused_for(function: Any, **variables: Any) -> str:
    code = function.__code__
    (found,) = outlines(code, function.__globals__, variables, code.co_firstlineno + 3)
    assert isinstance(found, Unsupported)
    return found.reason


def shared_with_a_closure(n: int) -> Any:
    k, add = 0, lambda: k
    while k < n:
        k += 1
        add()
    return k


def not_yet_set(n: int) -> Any:
    k = 0
    while k < n:
        k += 1
        if k == 3:
            late = k
    return late


def condition_with_effect(n: int) -> Any:
    items = list(range(n))
    while items.pop():
        n += 1
        n -= 1
    return n


def one_line_break(n: int) -> Any:
    k = 0
    for k in [3, 4, n]:
        pass
    for k in range(n): break  # noqa: E701
    return k


def one_line_while(n: int) -> Any:
    k = n

    while k: k -= 1  # noqa: E701
    return k


def test_loops_that_stay_python() -> None:
    code = one_line_break.__code__
    (found,) = outlines(code, one_line_break.__globals__, {"k": 1, "n": 3}, code.co_firstlineno + 4)
    assert isinstance(found, Unsupported) and "on one line" in found.reason
    assert "on one line" in refused_for(one_line_while, n=3, k=3)
    assert "belongs to another function" in refused_for(shared_with_a_closure, n=3, k=0, add=None)
    assert "`late` has no value yet" in refused_for(not_yet_set, n=3, k=0)
    assert "more than look" in refused_for(condition_with_effect, n=3, items=[1])


def test_which_loop_a_frame_is_in() -> None:
    frames: list[tuple[int, int]] = []

    def look() -> None:
        frame = sys._getframe(1)
        frames.append((standing.loop_at(frame), standing.line_of(frame)))

    def program() -> None:
        look()
        for _ in range(2):
            while True:
                look()
                break

    program()
    assert frames[0][0] == -1
    assert frames[1][0] == frames[2][0] >= 0
    assert frames[1][1] == program.__code__.co_firstlineno + 4


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("each, always", [(1e-6, 0.2), (1e-6, 1e-5), (0.01, 0.0), (0.01, 0.3), (2.0, 0.0), (0.0, 1e-7)])
def test_parts_of_a_loop_grow_until_the_copies_are_a_small_share(each: float, always: float, is_known: bool) -> None:
    count, first, spent, done, longest = 1, each + always, 0.0, 0, 0.0
    expected = each if is_known else 0.0
    while done < 10**6 and spent < 1000.0:
        taken = always + each * count
        longest = max(longest, (taken - always) / max(0.04, spent, 10 * first))
        spent, done = spent + taken, done + count
        count = loops.following(count, taken, first, spent, expected)
        assert count >= 1
    assert spent - each * done <= 0.4 * spent + 4 * always + 1e-3  # the rest is work
    assert longest <= 1.0  # nothing is lost that is long beside what was spent


@pytest.mark.parametrize("depth", [0, 3, 12])
def test_the_loop_is_found_by_the_second_sample_however_deep(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stands = standing.Standing(lambda file: True)
    found: list[list[str]] = []

    def inner() -> None:
        frames = stands.candidates(sys._getframe(0))
        found.append([frame.f_code.co_name for frame, _, _ in frames])

    def program() -> None:
        for _ in range(3):
            inner()

    def below(left: int) -> None:
        below(left - 1) if left else program()

    hidden = standing.loop_at  # whatever runs this test may be in loops of its own
    own = {program.__code__, below.__code__, inner.__code__}
    monkeypatch.setattr(standing, "loop_at", lambda frame: hidden(frame) if frame.f_code in own else -1)
    monkeypatch.setattr(standing, "_DEPTH", 1000)
    below(depth)
    assert found == [[], ["program"], ["program"]]


def test_comprehensions_are_no_loops_to_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    stands = standing.Standing(lambda file: True)
    found: list[list[str]] = []

    def look(k: int) -> int:
        found.append([frame.f_code.co_name for frame, _, _ in stands.candidates(sys._getframe(0))])
        return k

    def program() -> int:
        return sum([look(k) for k in range(3)]) + sum(look(k) for k in range(3))

    hidden, own = standing.loop_at, {look.__code__.co_name, "program", "<listcomp>", "<genexpr>"}
    monkeypatch.setattr(standing, "loop_at", lambda frame: hidden(frame) if frame.f_code.co_name in own else -1)
    monkeypatch.setattr(standing, "_DEPTH", 1000)
    program()
    assert found == [[]] * 6


def test_copies_that_hide_the_iterations_are_not_made_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now, parts = 0.0, 0
    monkeypatch.setattr(loops, "thread_time", lambda: now)

    def part(count: int) -> bool:
        nonlocal now, parts
        parts += 1
        now += 0.1 + 1e-6 * count
        return True

    assert loops.timed(part) == pytest.approx(1e-6, rel=1e-3)
    assert parts <= 7
    parts = 0
    assert loops.timed(part, plain=1e-4) < 1e-4 / 3
    assert parts == 2


def test_a_loop_in_its_first_iteration_is_asked_for_again() -> None:
    code, variables = not_yet_set.__code__, {"n": 3, "k": 0}
    line = code.co_firstlineno + 2
    answer = loops.compiled(code, globals(), variables, line, frozenset(), can_wait=True)
    assert not answer.good and answer.early and "has no value yet" in answer.reason
    loop = loops.Loop(code, globals())
    assert loop.can_wait
    loop.answered(answer)
    assert loop.state == "early" and loop.is_unknown
    loop.requests = 3
    assert not loop.can_wait and not loop.is_unknown
    loop.answered(loops.compiled(code, globals(), variables, line, frozenset(), loop.can_wait))
    assert loop.state == "left" and "has no value yet" in loop.reason


def test_a_loop_is_tried_again_where_nothing_could_be_told() -> None:
    loop = loops.Loop(test_loops_that_stay_python.__code__, {})
    loop.answered(loops.Answer(True, "()", gain=0.0, call=0.0))
    assert loop.state == "ready" and loop.is_unknown
    loop.requests = 3
    assert not loop.is_unknown
    loop.answered(loops.Answer(True, "()", gain=4.0, call=1e-3))
    assert not loop.is_unknown and loop.each == 1e-3


def test_an_iteration_is_timed_without_what_every_part_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(loops, "thread_time", lambda: now)

    def run(each: float, always: float, last: int = 0) -> Callable[[int], bool]:
        def part(count: int) -> bool:
            nonlocal now
            now += always + each * count
            if last and count >= last:
                raise TimeoutError
            return True

        return part

    assert loops.timed(run(0.001, 0.05)) == pytest.approx(0.001)
    assert loops.timed(run(0.3, 0.0)) == pytest.approx(0.3)
    assert loops.timed(run(0.002, 0.0, last=4)) == pytest.approx(0.002)
    assert loops.timed(lambda count: False) == 0.0


# --- what lies on the stack -----------------------------------------------------------------------------------------


def _seen_from(function: Callable[..., Any], *args: Any) -> list[list[Any]]:
    """The iterators that `look`, called by a function, finds on its caller's stack."""
    seen: list[list[Any]] = []

    def look(value: Any = None) -> Any:
        seen.append(heads.iterators_of(sys._getframe(1)))
        return value

    function(look, *args)
    return seen


class Manager:
    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _nested(look, outer, inner):
    for a in outer:
        with Manager():
            try:
                for b in inner:
                    look()
                raise ValueError
            except ValueError:
                for b in inner:
                    look()


def _broken_off(look, items):
    for item in items:
        if item:
            break
    return look()


def _returned(look, items):
    for item in items:
        if item:
            return look(item)
    return None


def _one_after_the_other(look, first, second):
    for item in first:
        if item:
            break
    for item in second:
        look(item)


def test_iterators_are_found_between_other_things_on_the_stack() -> None:
    outer, inner = [1, 2], (3, 4, 5)
    seen = _seen_from(_nested, outer, inner)
    assert len(seen) == 12
    for one in seen:
        assert [type(each) for each in one] == [type(iter(outer)), type(iter(inner))]


def test_an_iterator_that_a_loop_has_let_go_of_is_not_looked_for() -> None:
    """The instructions behind a `break` may stand inside the loop's."""
    for one in _seen_from(_broken_off, [0, 1, 2]):
        assert one in ([], [None])
    assert [type(one) for one in _seen_from(_returned, [0, 1, 2])[0]] == [type(iter([]))]
    second = (7, 8)
    for seen in _seen_from(_one_after_the_other, [0, 1], second):
        assert [type(one) for one in seen] == [type(iter(second))]


def test_an_object_in_the_place_of_an_iterator_gives_others_items_and_does_nothing_else() -> None:
    reached: list[types.FrameType] = []
    found: list[Any] = []

    def put(frame: types.FrameType) -> None:
        line = frame.f_code.co_firstlineno + 2
        assert heads.placed(frame, line, 0, lambda frame: reached.append(frame))

    def loop():
        total = 0
        for item in [1, 2, 3, 4]:
            if item == 1:
                put(sys._getframe())
                found.extend(one for one in gc.get_objects() if type(one) is heads.Head)
                assert next(found[0]) == 2
            total += item
        return total

    gc.collect()
    assert loop() == 1 + 3 + 4
    assert len(reached) == 1


def test_stacks_are_known_of_every_loop_of_python_s_own_library() -> None:
    import dis
    from pathlib import Path

    from weft.heat.stacks import OTHER, CodeStacks

    def loops_in(code: types.CodeType) -> int:
        found = CodeStacks(code)
        places = [step.offset for step in dis.get_instructions(code) if step.opname == "FOR_ITER"]
        for place in places:
            assert found.before[place]
            assert found.before[place][-1] != OTHER or code.co_name.startswith("<")
        return len(places) + sum(loops_in(one) for one in code.co_consts if isinstance(one, types.CodeType))

    home = Path(dis.__file__).parent
    names = ("dis", "argparse", "ast", "difflib", "inspect", "tarfile", "textwrap", "zipfile", "heapq")
    assert sum(loops_in(compile((home / f"{name}.py").read_text(), name, "exec")) for name in names) > 200


def _interrupted(items):
    total = taken = 0
    try:
        for item in items:
            total += item
            taken += 1
    except KeyboardInterrupt:
        pass
    return total, taken


@pytest.mark.parametrize("is_traced", [True, False])
def test_an_interrupt_between_two_parts_finds_variables_as_the_iterator_is(monkeypatch, is_traced) -> None:
    from weft.heat import entering

    whole, parts = entering.Parts.part, []

    def part(self: Any, values: tuple[Any, ...]) -> Any:
        parts.append(values)
        if len(parts) == 3:
            raise KeyboardInterrupt
        return whole(self, values)

    monkeypatch.setattr(entering.Parts, "part", part)
    (total, taken), _ = entered(_interrupted, list(range(100_000)), is_traced=is_traced)
    assert len(parts) == 3
    assert 0 < taken < 100_000
    assert total == sum(range(taken))


def test_a_mistake_of_weft_s_own_between_two_parts_leaves_the_loop_to_python(monkeypatch) -> None:
    from weft.heat import entering

    def wrong(*_: object) -> int:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(entering, "following", wrong)
    monkeypatch.delenv("WEFT_VERIFY", raising=False)
    (total, taken), loop = entered(_interrupted, list(range(1000)), is_traced=False)
    assert (total, taken) == (sum(range(1000)), 1000)
    assert loop.state == "left"
