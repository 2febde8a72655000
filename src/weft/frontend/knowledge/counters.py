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


def added(left, right):
    found = Counter()
    for key, count in left.items():
        new = count + right[key]
        if new > 0:
            found[key] = new
    for key, count in right.items():
        if key not in left and count > 0:
            found[key] = count
    return found


def subtracted(left, right):
    found = Counter()
    for key, count in left.items():
        new = count - right[key]
        if new > 0:
            found[key] = new
    for key, count in right.items():
        if key not in left and count < 0:
            found[key] = 0 - count
    return found


def united(left, right):
    found = Counter()
    for key, count in left.items():
        other = right[key]
        new = other if count < other else count
        if new > 0:
            found[key] = new
    for key, count in right.items():
        if key not in left and count > 0:
            found[key] = count
    return found


def common(left, right):
    found = Counter()
    for key, count in left.items():
        other = right[key]
        new = count if count < other else other
        if new > 0:
            found[key] = new
    return found


METHODS = {"elements": elements, "total": total}
OPERATORS = {"add": added, "sub": subtracted, "bitor": united, "bitand": common}
