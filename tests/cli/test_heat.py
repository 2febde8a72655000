"""The parts of `weft run`: other code behind a function, the course of a function from hot to native, estimates."""

from __future__ import annotations

import ast
import gc
import inspect
import os
import sys
import textwrap
import time
import traceback
import weakref

import numpy as np
import pytest

import weft
from weft.errors import Span
from weft.heat import beforehand, elsewhere, estimate, loops, snapshot, spots, trampoline
from weft.heat.apart import Apart
from weft.heat.early import Watch
from weft.heat.elsewhere import Answer
from weft.heat.manager import Manager, is_users
from weft.heat.report import lines
from weft.heat.spots import Spot
from weft.heat.trampoline import find_function, has_loop
from weft.plain import runtime

# --- other code behind a function -----------------------------------------------------------------------------------


def _redirected(function, target):
    function.__code__ = trampoline.passing_on(function.__code__, target)
    return function


def test_every_kind_of_parameter_is_passed_on():
    seen = []

    def f(a, b, /, c, d=4, *, e, g=7):
        """Doc."""

    before = inspect.signature(f), f.__doc__, f.__code__.co_firstlineno, inspect.getsource(f)
    _redirected(f, lambda *args, **kwargs: seen.append((args, kwargs)))
    f(1, 2, 3, e=5)
    f(1, 2, d=0, c=3, g=8, e=5)
    assert seen == [((1, 2, 3, 4), {"e": 5, "g": 7}), ((1, 2, 3, 0), {"e": 5, "g": 8})]
    assert before == (inspect.signature(f), f.__doc__, f.__code__.co_firstlineno, inspect.getsource(f))
    for wrong in ({}, {"e": 1, "a": 2}):
        with pytest.raises(TypeError, match=r"f\(\) "):
            f(1, 2, **wrong)


def test_closures_methods_and_awkward_names():
    k = 3

    def f(__weft_target, _):
        return k + __weft_target + _

    twin = trampoline.twin(f)
    _redirected(f, lambda *args: ("caught", *args))
    assert f(1, 2) == ("caught", 1, 2) and twin(1, 2) == 6 and f.__closure__[0].cell_contents == 3

    class Own:
        def method(self, x):
            return x

        @property
        def value(self):
            return 1

    _redirected(Own.method, lambda self, x: (type(self).__name__, x))
    _redirected(Own.value.fget, lambda self: 2)
    assert Own().method(4) == ("Own", 4) and Own().value == 2


def test_a_traceback_shows_the_users_frames_alone():
    def f(x):
        return 1 / x

    twin = trampoline.twin(f)
    spot = Spot(f.__code__, globals())
    spot.arm(f, lambda *_: True)
    with pytest.raises(ZeroDivisionError) as caught:
        f(0)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_a_traceback_shows_the_users_frames_alone", "f"] and caught.value.__context__ is None
    assert twin.__code__.co_firstlineno == f.__code__.co_firstlineno


def test_what_cannot_be_passed_on():
    def generator():
        yield

    async def coroutine():
        pass

    def variadic(*args):
        pass

    def looks():
        return sys._getframe(1)

    functions = (generator, coroutine, variadic, looks, lambda: 0)
    assert all(trampoline.unfit(function.__code__) for function in functions)
    assert trampoline.unfit(_redirected.__code__) is None


# --- from hot to native ---------------------------------------------------------------------------------------------


def _hot(n):
    return n + 1


class _Native:
    """In the place of a compiled function."""

    def __init__(self, function):
        self.function, self.native_calls, self.plain_calls = function, 0, 0
        self.signatures, self.call_counts = ["(int)"], [9]

    def __call__(self, *args):
        self.native_calls += 1
        return self.function(*args)


@pytest.fixture
def spot():
    """A function that takes a while, and its spot."""

    def slow(n):
        return sum(range(2000)) + n

    found = Spot(slow.__code__, globals())
    found.slow = slow
    return found


def _call(spot, times):
    assert [spot.slow(k) for k in range(times)] == [1999000 + k for k in range(times)]


def test_a_function_that_gains_becomes_native(spot):
    original, asked = spot.slow.__code__, []
    spot.arm(spot.slow, lambda _, values: asked.append(values) or True)
    assert spot.slow.__code__ is not original
    _call(spot, 13)
    assert asked == [(12,)] and spot.state == "asked" and spot.slow.__code__ is original
    spot.answered(Answer(True, "(int)"), lambda _: _Native(lambda n: 1999000 + n))
    _call(spot, 40)
    assert spot.state == "native" and spot.gain > 1.05 and spot.slow.__code__ is not original
    spot.native.plain_calls = 10**6
    spot.review()
    assert spot.state == "left" and spot.slow.__code__ is original


@pytest.mark.parametrize("answer", ["bad", "slower", "strangers"])
def test_a_function_that_does_not_gain_gets_its_code_back(spot, answer):
    original = spot.slow.__code__
    spot.arm(spot.slow, lambda *_: True)
    _call(spot, 13)
    twin = spot.twin
    if answer == "bad":
        spot.answered(Answer(False, reason="no", line=3), _Native)
        assert spot.reason == "no (line 3)"
    else:
        native = _Native(lambda n: (twin(n), twin(n), twin(n))[0])
        if answer == "strangers":
            parts = {"native_calls": 0, "plain_calls": 0, "signatures": (), "__call__": lambda self, n: twin(n)}
            native = type("Plain", (), parts)()
        spot.answered(Answer(True), lambda _: native)
        _call(spot, 200)
    assert spot.state == "left" and spot.reason and spot.slow.__code__ is original
    _call(spot, 3)


def test_short_calls_are_not_worth_it_and_a_busy_compiler_is_asked_again():
    spot = Spot(_hot.__code__, globals())
    spot.arm(_hot, lambda *_: True)
    for k in range(30):
        assert _hot(k) == k + 1
    assert spot.state == "left" and _hot.__code__ is spot.code
    busy = Spot(_hot.__code__, globals())
    busy.is_long = True
    busy.arm(_hot, lambda *_: False)
    assert _hot(1) == 2 and busy.state == "seen" and busy.samples == 0 and _hot.__code__ is busy.code


def test_recursion_is_no_deeper_than_without():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    spot = Spot(down.__code__, globals())
    spot.arm(down, lambda *_: True)
    depth = sys.getrecursionlimit() - len(inspect.stack(0)) - 40
    assert down(depth) == depth and spot.plain.calls == 1


@pytest.mark.native
def test_a_version_is_made_in_a_process_of_its_own(private_cache):
    namespace = {"np": np}
    text = "def total(a, k):\n    s = 0.0\n    for i in range(a.shape[0]):\n        s += a[i] * k\n    return s\n"
    file = private_cache.parent / "made.py"
    file.write_text(text)
    exec(compile(text, str(file), "exec"), namespace)
    total = namespace["total"]
    reader, writer = os.pipe()
    request = elsewhere.start(lambda: elsewhere.prepare(total, (np.ones(4), 2.0), {"fallback": "silent"}, 0))
    os.close(writer)
    assert os.read(reader, 1) == b""  # the other process holds no file of this one
    os.close(reader)
    with pytest.raises(ChildProcessError):  # nor is it a child of this one, which may have others
        os.waitpid(request.group, os.WNOHANG)
    answer = request.answer(100.0)
    assert answer.good and answer.signature == "(f64[:], float)", answer.reason
    from weft.heat.hot import HotFunction

    asked = []
    native = HotFunction(total, {"fallback": "silent"}, lambda *request: asked.append(request) or True)
    assert native(np.ones(4), 2.0) == 8.0 and native.native_calls == 1 and not asked
    assert native(np.ones(4, "f4"), 2.0) == 8.0 and native.plain_calls == 1 and len(asked) == 1
    native.told(asked[0][0], Answer(False, reason="no"))
    assert native(np.ones(4, "f4"), 2.0) == 8.0 and len(asked) == 1
    refused = elsewhere.start(
        lambda: elsewhere.prepare(total, (np.ones(4), "no number"), {"fallback": "silent"}, 0)
    ).answer(100.0)
    assert not refused.good and refused.reason


_OBJECTS = """
class Point:
    def __init__(self, x):
        self.x = x
def moved(points, step):
    seen = {}
    for k in range(50):
        for p in points:
            p.x += step
            seen[p.x] = seen.get(p.x, 0) + 1
    return len(seen)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the compiler has no process of its own here")
def test_the_run_time_is_built_to_the_end_even_if_the_program_ends_before(tmp_path, monkeypatch):
    """It is built once for a machine: a short program would begin it again and again, and never have it."""
    begun, ended = tmp_path / "begun", tmp_path / "ended"

    def build():
        begun.touch()
        time.sleep(1.0)
        ended.touch()

    monkeypatch.setattr(runtime, "is_built", lambda: False)
    monkeypatch.setattr(runtime, "load", build)
    request = elsewhere.start(lambda: elsewhere.build_run_time() or Answer(True))
    for _ in range(600):
        if begun.exists():
            break
        time.sleep(0.05)
    request.give_up()  # as at the end of the program
    for _ in range(600):
        if ended.exists():
            break
        time.sleep(0.05)
    assert begun.exists() and ended.exists()


_STACK = """
def inner(k):
    total = 0
    for i in range(400):
        total += i * k
    return total
def outer(k):
    total = 0
    for j in range(30):
        total += inner(j + k)
    return total
def program():
    for k in (one for one in range(2)):
        outer(k)
"""


@pytest.mark.native
@pytest.mark.skipif(not loops.supported(), reason="stacks are not compiled here")
def test_a_stack_is_compiled_from_the_outermost_in(private_cache):
    namespace = {"__name__": "made_stack"}
    file = private_cache.parent / "made_stack.py"
    file.write_text(_STACK)
    exec(compile(_STACK, str(file), "exec"), namespace)
    from weft.heat.plainly import HotPlain

    class Standing(snapshot.Candidate):
        def __init__(self, name, line, **variables):
            self.code, self.namespace, self.line = namespace[name].__code__, namespace, line
            self.owner = loops.Loop(self.code, namespace) if line else Spot(self.code, namespace)
            self.key, self.variables = (0, 0), variables

    line = namespace["program"].__code__.co_firstlineno + 2
    asked = snapshot.Snapshot([Standing("program", line, k=0), Standing("outer", 0, k=1), Standing("inner", 0, k=1)])
    request, answers = elsewhere.start(asked.answers), []
    while not request.is_over:
        answers += request.answers(100.0)
    assert [answer.of for answer in answers] == [0, 1]  # the second holds what the third is
    refused, taken = answers
    assert not refused.good and "neither a range nor a list" in refused.reason
    assert taken.good and taken.plain and taken.gain == pytest.approx(taken.each / taken.call) and taken.gain > 2.0
    spot = asked.candidates[1].owner
    spot.adopt(namespace["outer"], taken, lambda spot: HotPlain(spot.twin, {}, lambda *_: False))
    assert spot.state == "trial" and namespace["outer"](2) == sum((j + 2) * 79800 for j in range(30))
    asked.begun()
    asked.answered.update({0, 1})
    assert asked.left_over() == asked.candidates[2:] and not any(one.variables for one in asked.candidates)


@pytest.mark.skipif(sys.platform != "linux", reason="the compiler has no process of its own here")
def test_what_is_timed_apart_has_the_state_of_before():
    queue = [1, 2, 3]
    apart = Apart(lambda limit: limit + len(queue))
    queue.clear()
    assert apart.seconds(2.0) == 5.0
    unused = Apart(lambda limit: 1.0)
    unused.close()
    unused.close()
    assert Apart(lambda limit: 1 / 0).seconds(0.1) == 0.0


@pytest.mark.native
def test_plain_python_is_compiled_and_timed_elsewhere_and_fetched_here(private_cache):
    from weft.heat.plainly import HotPlain

    namespace = {"__name__": "made_objects"}
    file = private_cache.parent / "made_objects.py"
    file.write_text(_OBJECTS)
    exec(compile(_OBJECTS, str(file), "exec"), namespace)
    moved, point = namespace["moved"], namespace["Point"]
    points = [point(k) for k in range(5)]
    asked = []
    native = HotPlain(moved, {}, lambda *request: asked.append(request) or True)
    assert native(points, 1) == 54 and native.plain_calls == 1 and len(asked) == 1  # nobody has compiled it yet
    answer = elsewhere.start(lambda: elsewhere.prepare(moved, (points, 1), {}, 0)).answer(100.0)
    assert answer.good and answer.plain and answer.call > 0.0, answer.reason
    assert [p.x for p in points] == [50 + k for k in range(5)]  # the call that was timed has changed nothing here
    native.told(asked[0][0], answer)
    assert native(points, 1) == 54 and native.native_calls == 1 and len(asked) == 1
    assert [p.x for p in points] == [100 + k for k in range(5)]
    refused = elsewhere.start(lambda: elsewhere.prepare(moved, ([object()], 1), {}, 0)).answer(100.0)
    assert not refused.good and refused.reason


def test_of_functions_that_are_measured_the_outermost_is_compiled(monkeypatch):
    monkeypatch.setattr(spots, "_SHORTEST_CALL", 0.0)  # however fast the machine is

    def inner(n):
        return sum(range(n))

    def outer(n):
        return sum(inner(n) for _ in range(20))

    manager = Manager({})
    for function, total in ((inner, 9), (outer, 10)):
        spot = Spot(function.__code__, globals())
        spot.total = total
        spot.arm(function, manager._ask_first)
        manager.spots.append(spot)
    for _ in range(15):
        outer(200)
    assert [spot.state for spot in manager.spots] == ["ready", "ready"]
    monkeypatch.setattr(manager, "can_ask", lambda: True)
    manager._choose(manager.spots[0].since)
    assert [spot.state for spot in manager.spots] == ["ready", "ready"]  # others may yet be measured
    manager._choose(manager.spots[0].since + 1.0)
    assert [spot.state for spot in manager.spots] == ["ready", "armed"]


@pytest.mark.native
def test_a_function_with_a_statement_that_stays_python_is_tried_in_parts():
    def noisy(a, seen):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * a[i]
        seen.append(id(seen) > 0)
        t = 0.0
        for i in range(a.shape[0]):
            t += a[i] * s
        return t

    values, seen = np.arange(3000.0), []
    expected = noisy(values, seen)
    manager, spot = Manager({"fallback": "silent"}), Spot(noisy.__code__, globals())
    spot.arm(noisy, lambda *_: True)
    while spot.state == "armed":
        noisy(values, seen)
    spot.plain.seconds += 1.0  # on any machine
    spot.answered(Answer(False, reason="a call of id", line=5), _Native)
    assert spot.has_parts and spot.state == "left"
    spot.in_parts(manager._make_direct)
    before = len(seen)
    for _ in range(40):
        assert noisy(values, seen) == pytest.approx(expected, rel=1e-12)
    assert len(seen) == before + 40 and spot.state == "native" and spot.gain > 1.05
    manager.spots, manager.samples = [spot], 1
    spot.total = 1
    assert "parts of it native" in next(lines(manager))


def test_the_report_names_everything_once():
    manager = Manager({})
    assert list(lines(manager)) == ["the program ended before anything could be hot"]
    manager.samples = 100
    states = ("seen", "armed", "asked", "trial", "left", "native")
    for count, state in enumerate(states):
        spot = Spot(_hot.__code__, globals())
        spot.state, spot.total, spot.reason = state, 90 - count, "because"
        spot.native = _Native(None) if state == "native" else None
        manager.spots.append(spot)
    told = list(lines(manager))
    assert len(told) == len(states) and "plain Python: because" in told[4] and "native for (int)" in told[5]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            Answer(False, reason="a call of id", line=5, remedy="call it first"),
            "a call of id (line 5); try: call it first",
        ),
        (Answer(False, reason="its code is bound to objects of this process"), "; try: pass them as arguments"),
        (Answer(False, reason="compiled it is not faster (0.90x)"), "compiled it is not faster (0.90x)"),
    ],
)
def test_the_report_says_what_to_do(answer: Answer, told: str):
    manager = Manager({})
    spot = Spot(_hot.__code__, globals())
    spot.answered(answer, _Native)
    spot.total = manager.samples = 1
    manager.spots = [spot]
    (line,) = lines(manager)
    assert line.endswith(told)


def test_a_refusal_has_a_remedy_in_its_answer():
    refused = elsewhere.compiled(lambda: _raise(weft.Unsupported(Span("f.py", 3, 0, 3, 0), "a call of id")))
    assert (refused.reason, refused.line) == ("a call of id", 3) and "outside" in refused.remedy
    mistaken = elsewhere.compiled(lambda: _raise(weft.Unsupported(Span("f.py", 3, 0, 3, 0), "TypeError: no")))
    assert "correct it" in mistaken.remedy


def _raise(problem: Exception) -> None:
    raise problem


def test_loops_are_seen_in_code():
    def counts(n):
        while n:
            n -= 1

    def runs(n):
        for _ in n:
            pass

    assert has_loop(counts.__code__) and has_loop(runs.__code__)
    assert has_loop((lambda n: [k for k in n]).__code__) and has_loop((lambda n: sum(k for k in n)).__code__)
    assert not has_loop((lambda n: n + 1 if n else 2).__code__) and not has_loop(_hot.__code__)


def test_functions_are_found_by_name_or_by_reference():
    assert find_function(_hot.__code__, globals()) is _hot

    def inner():
        pass

    assert find_function(inner.__code__, globals()) is inner
    many = [lambda: 0 for _ in range(2)]
    assert find_function(many[0].__code__, globals()) is None
    assert is_users(__file__) and not is_users(os.__file__) and not is_users(np.__file__) and not is_users("<string>")
    assert not is_users(elsewhere.__file__)


# --- estimates ------------------------------------------------------------------------------------------------------


def _seconds(text, namespace=None, **arguments):
    tree = ast.parse(textwrap.dedent(text)).body[0]
    return estimate.seconds(tree, arguments, namespace or {})


def test_estimates_follow_the_arguments():
    nest = """
    def f(a, n):
        rows, columns = a.shape
        m = len(a) * 2
        for i in range(rows):
            for j in range(1, columns - 1):
                for k in range(n):
                    a[i, j] += k
    """
    small, large = (_seconds(nest, a=np.ones((size, size)), n=10) for size in (10, 1000))
    assert small < 1e-2 and 1.0 < large < 100.0
    assert _seconds(nest, a=[1], n=10) < 1e-2  # no array: its shape is not known
    assert _seconds("def f(x):\n    for v in x:\n        y = v + 1", x=list(range(10**6))) > 0.05
    assert _seconds("def f(x):\n    for v in range(K):\n        y = v", {"K": 10**7}) > 0.5
    assert _seconds("def f(n):\n    n = n // 2\n    for v in range(n):\n        y = v", n=10**8) > 1.0
    assert _seconds("def f(n):\n    n = g(n)\n    for v in range(n):\n        y = v", n=10**9) < 1.0


@pytest.mark.parametrize("bound", ["x ** x ** x", "1 << x", "f(x)", "x.shape[9]", "int('1' * 10**9)", "1 // 0", "-x"])
def test_estimates_run_nothing_and_never_fail(bound):
    assert _seconds(f"def f(x):\n    for v in range({bound}):\n        y = v", x=10**6) < 1.0


def test_only_first_calls_are_looked_at():
    text = "def loops(n):\n    for i in range(n):\n        for j in range(n):\n            pass\n    return n\n"
    text += "def straight(n):\n    return n\n"
    namespace, watch = {"__name__": "own"}, Watch({})
    code = beforehand.prepared(compile(text, "own.py", "exec"), text.encode(), namespace, {}, watch)
    exec(code, namespace)
    loops, straight = namespace["loops"], namespace["straight"]
    assert trampoline.is_passing_on(loops.__code__) and not trampoline.is_passing_on(straight.__code__)
    assert loops(3) == 3 and not trampoline.is_passing_on(loops.__code__) and not watch.spots


def test_nothing_of_a_program_is_held_when_it_is_over():
    """Code objects that held its namespace kept all objects alive until Python cleared its modules one by one."""
    text = "class Kept: pass\nkept = Kept()\ndef called(n):\n    for i in range(n):\n        pass\n    return n\n"
    text += "def never(n):\n    for i in range(n):\n        pass\ndef hot(n): return n\n"
    namespace, watch = {"__name__": "own"}, Watch({})
    exec(beforehand.prepared(compile(text, "own.py", "exec"), text.encode(), namespace, {}, watch), namespace)
    manager = watch.reported()
    spot = manager._meet(namespace["hot"].__code__, namespace)
    assert spot is not None
    spot.arm(namespace["hot"], lambda *_: None)
    assert namespace["called"](3) == 3 and namespace["hot"](4) == 4
    kept = weakref.ref(namespace["kept"])
    manager.stop()
    watch.release()
    assert namespace["called"](3) == 3 and namespace["hot"](4) == 4 and namespace["never"](1) is None
    namespace = spot = None
    gc.collect()
    assert kept() is None and manager.samples == 0


def test_a_process_for_the_compiler_costs_more_where_memory_is_large():
    before = elsewhere.copying()
    held = bytearray(64 << 20)
    held[::4096] = bytes([1]) * len(held[::4096])
    assert elsewhere.copying() > before + 0.02


def test_a_decorator_gets_the_function_as_it_is():
    text = "def plain(f):\n    codes.append(f.__code__.co_consts)\n    return f\n@plain\ndef loops(n, *, k=1):\n"
    text += "    for i in range(n):\n        k += i\n    return k\n"
    namespace, watch = {"__name__": "own", "codes": []}, Watch({})
    code = beforehand.prepared(compile(text, "own.py", "exec"), text.encode(), namespace, {}, watch)
    exec(code, namespace)
    assert not trampoline.is_passing_on(namespace["loops"].__code__) and namespace["loops"](3, k=2) == 5


@pytest.mark.parametrize(
    "text, body",
    [
        ("def f():\n    pass\n# at the margin\n\n    x = 1\ny = 2", 2),
        ("def f(\n    a,\n):\n    x = 1\nclass C:\n    pass", 1),
        ("def f():\n    x = '''\nat the margin\n'''\n    return x", None),
        ("def f():\n    return 'ä'", 1),
        ("def f(): pass", 1),
    ],
)
def test_the_tree_of_one_function(text, body):
    tree = beforehand.tree_of(text.encode().splitlines(), 1)
    assert body is None if tree is None else (tree.name == "f" and len(tree.body) == body)
    assert beforehand.tree_of("def f():\n    return 'ä'".encode("latin-1").splitlines(), 1) is None


def test_a_loop_that_may_end_early_counts_for_little():
    loop = "def f(n):\n    for i in range(n):\n        for j in range(n):\n            {}\n        {}"
    caught = "try: pass\n        except: break"
    leaves = ["pass", "break"], ["return 1", "pass"], ["pass", "if i: return"], ["pass", caught]
    for inner, outer in leaves:
        assert (_seconds(loop.format(inner, outer), n=10**5) < 1.0) == (inner != "break" or outer != "pass")
    assert _seconds(loop.format("pass", "if i < 0: raise ValueError"), n=10**5) > 1.0


def test_nothing_is_spent_that_the_program_has_not_earned(monkeypatch):
    from weft.heat import manager as module

    manager = Manager({})
    seconds = 0.2
    monkeypatch.setattr(module.time, "process_time", lambda: seconds)
    monkeypatch.setattr(module, "_processors", lambda: 2)
    monkeypatch.setattr(elsewhere, "copying", lambda: 0.03)
    assert not manager.can_ask()
    monkeypatch.setattr(elsewhere, "copying", lambda: 0.0)
    assert manager.can_ask()
    seconds = 1.0
    assert manager.can_ask()
    monkeypatch.setattr(elsewhere, "copying", lambda: 0.1)  # the program would copy much of its memory
    assert not manager.can_ask()
    monkeypatch.setattr(elsewhere, "copying", lambda: 0.01)
    assert manager.can_ask()
    manager._cores = 1.9  # no processor is idle: the program pays for the compiler
    assert not manager.can_ask()
    manager._cores, manager._is_child = 1.0, True
    assert not manager.can_ask()
    manager.forked()
    seconds = 30.0
    assert manager.can_ask()
    manager._pending = [None] * module._MOST_PENDING
    assert not manager.can_ask()


def test_a_short_program_loads_nothing_but_the_thread(command, tmp_path):
    (tmp_path / "script.py").write_text("import sys\ndef f(n):\n    for i in range(n): pass\nf(3)\nprint(*sys.modules)")
    result = command("-c", "from weft.cli import main; main(['run', 'script.py'])")
    loaded = set(result.stdout.split())
    assert "weft.heat.early" in loaded, result.stderr
    assert loaded.isdisjoint({"numpy", "ast", "re", "enum", "typing", "argparse", "weft.heat.manager", "importlib"})
