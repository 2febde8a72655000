"""`try`, `except`, `else`, `finally` and `raise` around native code: the same result, the same exception, and the same
effects before it as in Python.
"""

# ruff: noqa: E722, B018, B904, SIM105, PLW0603
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import compare, differential, outcome


def ramp(count: int = 10) -> Any:
    return np.arange(float(count))


class OwnError(Exception):
    pass


class DeepError(OwnError):
    def __init__(self, code):
        super().__init__("deep")
        self.code = code


def quotient_or_nothing(a, b):
    try:
        x = a / b
    except ZeroDivisionError:
        x = 0.0
    return x


def quotient_of_two_types(a, b):
    try:
        x = a // b
    except ZeroDivisionError:
        x = float("inf")
    return x


def errors_counted_in_a_loop(a, b):
    s = 0.0
    bad = 0
    for i in range(len(a)):
        try:
            s += float(a[i]) / float(b[i])
        except ZeroDivisionError:
            bad += 1
            continue
        s += 1
    return (s, bad)


def keys_that_are_missing(d, ks):
    s = 0.0
    for k in ks:
        try:
            s += d[k]
        except KeyError:
            s -= 1.0
    return s


def element_or_default(a, i):
    try:
        return a[i]
    except IndexError:
        return -1.0


def elements_up_to_a_bad_index(a, idx):
    out = np.zeros(len(idx))
    for k, i in enumerate(idx):
        try:
            out[k] = a[i]
        except IndexError:
            break
    return out


def else_and_finally(x):
    r = 0
    try:
        y = math.sqrt(x)
    except ValueError:
        y = 0.0
        r += 1
    else:
        r += 10
    finally:
        r += 100
    return (y, r)


def return_past_finally(x):
    r = np.zeros(3)
    try:
        r[0] = 1
        if x < 0:
            return r
        r[1] = math.sqrt(x)
    finally:
        r[2] = 5
    return r


def nested_with_reraise(n):
    s = 0
    for i in range(3):
        try:
            try:
                s += 10 // (n - i)
            except ZeroDivisionError:
                s += 1
                if n == 0:
                    raise
            s += math.isqrt(n)
        except (ValueError, OverflowError):
            s -= 1
        except ZeroDivisionError:
            s += 1000
    return s


def message_with_an_integer(n):
    if n < 0:
        raise ValueError(f"n must be >= 0, got {n}")
    return n * 2


def message_with_a_float(x):
    if x < 0:
        raise ValueError(f"x must be >= 0, got {x}")
    return x * 2


def own_class_caught(n):
    try:
        if n < 0:
            raise OwnError("neg")
        return n
    except OwnError:
        return -1


def own_class_not_caught(n):
    if n < 0:
        raise OwnError("neg", n)
    return n


def raise_from_another(n):
    try:
        if n < 0:
            raise KeyError("neg")
        return n
    except KeyError as e:
        raise ValueError("bad") from e


def text_of_an_exception(n):
    try:
        if n < 0:
            raise ValueError("neg")
        return "ok"
    except ValueError as e:
        return str(e)


def item_not_in_list(xs, v):
    try:
        return xs.index(v)
    except ValueError:
        return -1


def loop_ended_by_an_exception(a):
    i = 0
    s = 0.0
    while True:
        try:
            s += a[i]
        except IndexError:
            break
        i += 1
    return (s, i)


def bare_except(n):
    t = 0
    try:
        t = 1
        t = 10 // n
    except:
        t += 100
    return t


def raised_again(n):
    t = np.zeros(2)
    try:
        t[0] = 10 // n
    except ZeroDivisionError:
        t[1] = 1
        raise
    return t


def order_of_writes_and_checks(a, n):
    try:
        a[0] = 7
        a[1] = 1 // n
        a[2] = 8
    except ZeroDivisionError:
        a[3] = 9
    finally:
        a[4] = 10
    return None


def suppressed(n):
    s = 1
    with contextlib.suppress(ZeroDivisionError):
        s = 10 // n
        s += 1
    return s


def singular_matrix(a):
    try:
        return np.linalg.solve(a, np.ones(3))
    except np.linalg.LinAlgError:
        return np.zeros(3)


def computed_assert_message(n):
    assert n > 0, f"bad {n}"
    return n


def result_before_finally(n):
    x = n
    try:
        return x
    finally:
        x = 5


def return_in_finally(n):
    try:
        return 10 // n
    finally:
        return 7


def nothing_is_tested_ahead(a, n):
    for i in range(5):
        a[i] = i * 10
        try:
            a[i] = 1 // (n - i)
        except ZeroDivisionError:
            a[i + 1] = -1
            break
    return a.sum()


def list_that_grew_before(l, n):
    try:
        l.append(7)
        l.append(10 // n)
        l.append(8)
    except ZeroDivisionError:
        l.append(-1)
    return len(l)


def list_that_grew_before_uncaught(l, n):
    l.append(7)
    l.append(10 // n)
    return len(l)


def loop_variable_of_a_broken_loop(a, n):
    i = -1
    try:
        for i in range(n):
            a[i] += 1
    except IndexError:
        pass
    return i


def class_with_a_constructor(n):
    try:
        if n < 0:
            raise DeepError(n)
        return n
    except OwnError:
        return -1


def arguments_of_an_exception(n):
    try:
        if n < 0:
            raise ValueError("a message")
        return 0
    except ValueError as e:
        return len(e.args)


def every_way_out(n, m):
    r = []
    for i in range(n):
        try:
            r.append(i // m)
            if i == 2:
                raise StopIteration
            r.append(100)
        except (ZeroDivisionError, OverflowError):
            r.append(-1)
            continue
        except StopIteration:
            break
        else:
            r.append(5)
        finally:
            r.append(9)
    return r


def raised_in_a_nested_function(n):

    def risky(k):
        if k == 0:
            raise ValueError("zero")
        return 10.0 / k

    def outer(k):
        try:
            return risky(k)
        except ValueError:
            return -1.0

    return outer(n) + outer(n + 1)


def reshape_that_does_not_fit(a):
    try:
        b = a * 2
        c = b.reshape(3, 3)
        return c.sum()
    except ValueError:
        return -1.0


def array_on_both_ways(n):
    try:
        y = np.ones(4) * (6 // n)
    except ZeroDivisionError:
        y = np.zeros(4)
    return y


def arrays_of_two_sizes(n):
    try:
        y = np.ones(4) * (6 // n)
    except ZeroDivisionError:
        y = np.zeros(2)
    return y


def not_of_this_class(n):
    try:
        return 10 // n
    except ValueError:
        return 0


def handler_raises_another(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        raise ValueError("no zero") from None


def key_added_by_the_handler(d, k):
    try:
        return d[k]
    except KeyError:
        d[k] = 0
        return 0


def pop_of_nothing(l):
    try:
        return l.pop()
    except IndexError:
        return -1


def print_in_a_handler(n):
    try:
        x = 10 // n
    except ZeroDivisionError:
        print("zero!")
        x = -1
    return x


def overflow(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def break_from_a_handler(n):
    i = 0
    while i < n:
        try:
            if i == 20:
                raise KeyError
        except KeyError:
            break
        i += 1
    else:
        i = -i
    return i


def unpacked(a, i):
    try:
        x, y = (a[i], a[i + 1])
    except IndexError:
        x = y = a[0]
    return (x, y)


def float_after_int(n, m):
    best = 0
    for i in range(n):
        try:
            best = max(best, 10 / (m - i))
        except ZeroDivisionError:
            best = best + 1
    return best


def inside_expressions(n):
    try:
        v = 10 // n if n < 5 else 7
        w = n > 1 and 5 // (n - 3) or 2
    except ZeroDivisionError:
        v = w = -1
    return (v, w)


def inside_a_comprehension(n):
    try:
        r = [10 // (n - i) for i in range(6)]
    except ZeroDivisionError:
        r = [0]
    return r


def inside_a_generator(n):
    try:
        return sum((10 // (n - i) for i in range(6)))
    except ZeroDivisionError:
        return -1


def tried_again(n):
    tries = 0
    while True:
        try:
            tries += 1
            if tries < n:
                raise RuntimeError("again")
            break
        except RuntimeError:
            if tries > 5:
                raise
    return tries


def function_that_catches(xs):

    def inv(v):
        try:
            return 1 / v
        except ZeroDivisionError:
            return 0.0

    return ([inv(v) for v in xs], sum((inv(v) for v in xs)))


def three_levels(n, m):
    r = 0
    try:
        try:
            try:
                r += 1
                if m == 0:
                    raise KeyError("a")
                r += 10 // (m - 1)
            except KeyError:
                r += 10
                raise ValueError("b")
            finally:
                r += 100
        except ZeroDivisionError:
            r += 1000
            return r
        finally:
            r += 10000
    except ValueError:
        r += 100000
    return r


def break_and_continue_past_finally(n):
    s = 0
    for i in range(10):
        for j in range(3):
            try:
                if i == n:
                    break
                if j == 1:
                    continue
                s += 1
            finally:
                s += 100
        else:
            continue
        break
    return s


def key_error_with_text(n):
    if n == 1:
        raise KeyError("k")
    return n


def key_error_with_number(n):
    if n == 1:
        raise KeyError(f"k {n}")
    return n


def argument_that_is_no_text(n):
    if n == 1:
        raise ValueError(3)
    return n


def number_in_a_string(t):
    try:
        return int(t)
    except ValueError:
        return -1


def numbers_in_strings(ts):
    out = []
    for t in ts:
        try:
            out.append(int(t))
        except ValueError:
            out.append(0)
    return out


def text_with_a_number(n):
    try:
        if n == 0:
            raise ValueError(f"bad {n}")
        return "fine"
    except ValueError as e:
        return f"caught {e}"


def string_key_that_is_missing(d, k):
    try:
        return d[k]
    except KeyError:
        return -1


def joined_message(n):
    if n == 0:
        raise ValueError("n is " + str(n))
    return n


def formatted_message(n):
    if n == 0:
        raise ValueError("n is %d" % n)
    return n


CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (quotient_or_nothing, [(1.0, 2.0), (1.0, 0.0)]),
    (quotient_of_two_types, [(7, 2), (7, 0)]),
    (errors_counted_in_a_loop, [(ramp(), ramp())]),
    (keys_that_are_missing, [({1: 2.0, 3: 4.0}, [1, 2, 3])]),
    (element_or_default, [(ramp(), 3), (ramp(), 30), (ramp(), -30)]),
    (elements_up_to_a_bad_index, [(ramp(), [1, 20, 3])]),
    (else_and_finally, [(4.0,), (-4.0,)]),
    (return_past_finally, [(4.0,), (-4.0,)]),
    (nested_with_reraise, [(5,), (0,), (-3,)]),
    (message_with_an_integer, [(5,), (-3,)]),
    (message_with_a_float, [(5.0,), (-3.0,)]),
    (own_class_caught, [(5,), (-3,)]),
    (own_class_not_caught, [(5,), (-3,)]),
    (raise_from_another, [(5,), (-3,)]),
    (text_of_an_exception, [(5,), (-3,)]),
    (item_not_in_list, [([3, 1, 2], 2), ([3, 1, 2], 9)]),
    (loop_ended_by_an_exception, [(ramp(),)]),
    (bare_except, [(3,), (0,)]),
    (raised_again, [(3,), (0,)]),
    (order_of_writes_and_checks, [(ramp(), 2), (ramp(), 0)]),
    (suppressed, [(3,), (0,)]),
    (singular_matrix, [(np.eye(3),), (np.zeros((3, 3)),)]),
    (computed_assert_message, [(5,), (-1,)]),
    (result_before_finally, [(3,), (0,)]),
    (return_in_finally, [(3,), (0,)]),
    (nothing_is_tested_ahead, [(ramp(), 0), (ramp(), 2)]),
    (list_that_grew_before, [([1, 2, 3], 0), ([1, 2, 3], 5)]),
    (list_that_grew_before_uncaught, [([1, 2, 3], 0), ([1, 2, 3], 5)]),
    (loop_variable_of_a_broken_loop, [(ramp(), 3), (ramp(), 99)]),
    (class_with_a_constructor, [(5,), (-3,)]),
    (arguments_of_an_exception, [(5,), (-3,)]),
    (every_way_out, [(4, 0), (4, 2), (-1, 2)]),
    (raised_in_a_nested_function, [(0,), (3,)]),
    (reshape_that_does_not_fit, [(ramp(),)]),
    (array_on_both_ways, [(3,), (0,)]),
    (arrays_of_two_sizes, [(3,), (0,)]),
    (not_of_this_class, [(3,), (0,)]),
    (handler_raises_another, [(3,), (0,)]),
    (key_added_by_the_handler, [({1: 2}, 1), ({1: 2}, 5)]),
    (pop_of_nothing, [([],), ([4],)]),
    (print_in_a_handler, [(2,), (0,)]),
    (overflow, [(700.0,), (800.0,)]),
    (break_from_a_handler, [(3,), (25,)]),
    (unpacked, [(ramp(4), 2), (ramp(4), 9)]),
    (float_after_int, [(3, 0), (3, 2)]),
    (inside_expressions, [(3,), (0,)]),
    (inside_a_comprehension, [(4,), (0,)]),
    (inside_a_generator, [(4,), (9,)]),
    (tried_again, [(10,), (3,)]),
    (function_that_catches, [([1.0, 0.0, 4.0],)]),
    (three_levels, [(5, 0), (5, 1), (5, 7)]),
    (break_and_continue_past_finally, [(3,), (6,)]),
    (key_error_with_text, [(2,), (1,)]),
    (key_error_with_number, [(2,), (1,)]),
    (argument_that_is_no_text, [(2,), (1,)]),
    (number_in_a_string, [("12",), ("x1",)]),
    (numbers_in_strings, [(["1", "b", "3"],)]),
    (text_with_a_number, [(3,), (0,)]),
    (string_key_that_is_missing, [({"a": 1}, "a"), ({"a": 1}, "b")]),
    (joined_message, [(3,), (0,)]),
    (formatted_message, [(3,), (0,)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[case[0].__name__ for case in CASES])
def test_as_python(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        expected = outcome(function, deepcopy(arguments))
        assert compare(outcome(compiled, deepcopy(arguments)), expected, 1e-12) is None


def caught_in_a_helper(a, b):
    return safe_quotient(a, b) + 1


def safe_quotient(a, b):
    try:
        if a < 0:
            return -1.0
        return a / b
    except ZeroDivisionError:
        return 0.0
    finally:
        a = 3


def test_inlined_function_that_returns_from_try() -> None:
    compiled = weft.jit(fallback="error")(caught_in_a_helper)
    for arguments in ((1.0, 2.0), (1.0, 0.0), (-1.0, 1.0)):
        assert compiled(*arguments) == caught_in_a_helper(*arguments)


def test_python_back_end() -> None:
    for function, calls in CASES[:9]:
        compiled = weft.jit(fallback="error", backend="python")(function)
        for arguments in calls:
            expected = outcome(function, deepcopy(arguments))
            assert compare(outcome(compiled, deepcopy(arguments)), expected, 1e-12) is None


def changed_before_a_computed_exception(a, n):
    a[0] = 7.0
    if n == 0:
        raise OwnError("after", n)
    return a.sum()


def returned_before_a_list_changes(items, n):
    try:
        return 10 // n
    finally:
        items.append(5)


def global_or_local(n):
    total = 0
    for i in range(n):
        total += NAME  # noqa: F823
        NAME = i  # noqa: F841, N806
    return total


NAME = 7


REFUSED: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (changed_before_a_computed_exception, [(ramp(), 1), (ramp(), 0)]),
    (returned_before_a_list_changes, [([1, 2], 1), ([1, 2], 0)]),
    (global_or_local, [(0,), (3,)]),
]


@pytest.mark.parametrize(("function", "calls"), REFUSED, ids=[case[0].__name__ for case in REFUSED])
@pytest.mark.usefixtures("array_compiler_only")
def test_left_to_python(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = weft.jit(fallback="silent")(function)
    for arguments in calls:
        expected = outcome(function, deepcopy(arguments))
        assert compare(outcome(compiled, deepcopy(arguments)), expected) is None
    with pytest.raises(weft.Unsupported):
        weft.jit(fallback="error")(function)(*deepcopy(calls[-1]))


def test_traceback_shows_the_line_that_raised() -> None:
    def reraised(n):
        try:
            return 10 // n
        except ZeroDivisionError:
            raise

    compiled = weft.jit(fallback="error")(reraised)
    assert compiled(5) == 2
    with pytest.raises(ZeroDivisionError) as caught:
        compiled(0)
    assert caught.traceback[-1].lineno == reraised.__code__.co_firstlineno + 1


def test_arrays_with_strides() -> None:
    def filled(a, b):
        for i in range(len(b)):
            try:
                a[i] = 1.0 / float(b[i])
            except ZeroDivisionError:
                a[i] = -1.0
            except IndexError:
                break
        return a

    base = np.arange(12.0) % 3
    for view in (base, base[::2], base[::-1], base[:0]):
        differential(filled, lambda view=view: (np.zeros(8), view.copy()[::1]), memory=True)
        differential(filled, lambda view=view: (np.zeros(8)[::-2], view), memory=False)
