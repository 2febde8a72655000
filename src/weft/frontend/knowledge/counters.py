"""What Counters have of their own, as Python over their entries.  In: Counters; out: functions that are written out
where the method or operator is used.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated, has-type"
from __future__ import annotations

from collections import Counter


def elements(counter):
    found = []
    for key, count in counter.items():
        for _ in range(count):
            found.append(key)
    return found


def total(counter):
    found = 0
    for count in counter.values():
        found += count
    return found


def combined(left, right, both):
    """The keys of the left one, then those of the right one alone, where `both` makes more than 0 of two counts."""
    found = Counter()
    for key, count in left.items():
        new = both(count, right[key])
        if new > 0:
            found[key] = new
    for key, count in right.items():
        if key not in left:
            new = both(0, count)
            if new > 0:
                found[key] = new
    return found


def added(left, right):
    return combined(left, right, lambda one, other: one + other)


def subtracted(left, right):
    return combined(left, right, lambda one, other: one - other)


def united(left, right):
    return combined(left, right, lambda one, other: max(one, other))


def common(left, right):
    return combined(left, right, lambda one, other: min(one, other))


METHODS = {"elements": elements, "total": total}
OPERATORS = {"add": added, "sub": subtracted, "bitor": united, "bitand": common}
