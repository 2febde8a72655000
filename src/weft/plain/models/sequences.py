"""Sequence methods and functions, over `len`, items and comparison."""

from __future__ import annotations

from typing import Any

from weft.plain.models.primitives import leave, same


def contains(values: Any, wanted: Any) -> Any:
    for item in values:
        if same(item, wanted):
            return True
    return False


def index(values: Any, wanted: Any, start: Any = 0, stop: Any = 9223372036854775807) -> Any:
    n = len(values)
    if start < 0:
        start += n
        if start < 0:
            start = 0
    if stop < 0:
        stop += n
    at = 0
    for item in values:
        if at >= stop:
            break
        if at >= start and same(item, wanted):
            return at
        at += 1
    raise ValueError("not found")


def count(values: Any, wanted: Any) -> Any:
    found = 0
    for item in values:
        if same(item, wanted):
            found += 1
    return found


def remove(values: Any, wanted: Any) -> None:
    for at in range(len(values)):
        if same(values[at], wanted):
            del values[at]
            return
    raise ValueError("list.remove(x): x not in list")


def reverse_in_place(values: Any) -> None:
    left = 0
    right = len(values) - 1
    while left < right:
        held = values[left]
        values[left] = values[right]
        values[right] = held
        left += 1
        right -= 1


def remove_from_deque(values: Any, wanted: Any) -> None:
    for at in range(len(values)):
        if same(values[at], wanted):
            values.rotate(0 - at)
            values.popleft()
            values.rotate(at)
            return
    raise ValueError("deque.remove(x): x not in deque")


def insert_in_deque(values: Any, at: Any, item: Any) -> None:
    n = len(values)
    if values.maxlen is not None and n >= values.maxlen:
        raise IndexError("deque already at its maximum size")
    if at < 0:
        at = max(at + n, 0)
    at = min(at, n)
    values.rotate(0 - at)
    values.appendleft(item)
    values.rotate(at)


def delete_from_deque(values: Any, at: Any) -> None:
    n = len(values)
    if at < 0:
        at += n
    if at < 0 or at >= n:
        raise IndexError("deque index out of range")
    values.rotate(0 - at)
    values.popleft()
    values.rotate(at)


def reduce(function: Any, values: Any) -> Any:
    first = True
    total = None
    for item in values:
        if first:
            total = item
            first = False
        else:
            total = function(total, item)
    if first:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def reduce_from(function: Any, values: Any, start: Any) -> Any:
    total = start
    for item in values:
        total = function(total, item)
    return total


def sort_by(values: Any, keys: Any, reverse: Any) -> None:
    """Sort `values` in place by `keys`, which are as many: stable, as list.sort (merges of sorted runs)."""
    n = len(values)
    if reverse:
        values.reverse()
        keys.reverse()
    width = 8
    start = 0
    while start < n:
        stop = min(start + width, n)
        for i in range(start + 1, stop):
            key = keys[i]
            item = values[i]
            j = i
            while j > start and key < keys[j - 1]:
                keys[j] = keys[j - 1]
                values[j] = values[j - 1]
                j -= 1
            keys[j] = key
            values[j] = item
        start = stop
    other_keys = list(keys)
    other_values = list(values)
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            if middle >= stop or not keys[middle] < keys[middle - 1]:
                for i in range(start, stop):
                    other_keys[i] = keys[i]
                    other_values[i] = values[i]
            else:
                a = start
                b = middle
                for i in range(start, stop):
                    if b >= stop or (a < middle and not keys[b] < keys[a]):
                        other_keys[i] = keys[a]
                        other_values[i] = values[a]
                        a += 1
                    else:
                        other_keys[i] = keys[b]
                        other_values[i] = values[b]
                        b += 1
            start = stop
        for i in range(n):
            keys[i] = other_keys[i]
            values[i] = other_values[i]
        width = 2 * width
    if reverse:
        values.reverse()


def sort_objects_by(values: Any, keys: Any, reverse: Any, seen: Any) -> None:
    """The same where the comparisons are calls of methods. `seen`: these may do more than compare, so they are made in
    the order of list.sort: a first run, and the others put into it by halving."""
    n = len(values)
    if n >= 64:
        if seen:
            leave("comparisons of many objects by a method that does more than compare")
        sort_by(values, keys, reverse)
        return
    if reverse:
        values.reverse()
        keys.reverse()
    run = 1
    if n > 1:
        run = 2
        if keys[1] < keys[0]:
            while run < n and keys[run] < keys[run - 1]:
                run += 1
            for i in range(run // 2):
                key = keys[i]
                item = values[i]
                keys[i] = keys[run - 1 - i]
                values[i] = values[run - 1 - i]
                keys[run - 1 - i] = key
                values[run - 1 - i] = item
        else:
            while run < n and not keys[run] < keys[run - 1]:
                run += 1
    while run < n:
        key = keys[run]
        item = values[run]
        low = 0
        high = run
        while low < high:
            middle = (low + high) >> 1
            if key < keys[middle]:
                high = middle
            else:
                low = middle + 1
        for j in range(run, low, -1):
            keys[j] = keys[j - 1]
            values[j] = values[j - 1]
        keys[low] = key
        values[low] = item
        run += 1
    if reverse:
        values.reverse()


class Compared:
    """What functools.cmp_to_key makes of an item: it compares by a function."""

    def __init__(self, compare: Any, item: Any) -> None:
        self.compare = compare
        self.item = item

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) > 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) >= 0

    def __eq__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) == 0


def comparing(compare: Any) -> Any:
    """functools.cmp_to_key"""
    return lambda item: Compared(compare, item)


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def sift_down(heap: Any, start: Any, at: Any) -> None:
    item = heap[at]
    while at > start:
        parent_at = (at - 1) >> 1
        parent = heap[parent_at]
        if item < parent:
            heap[at] = parent
            at = parent_at
            continue
        break
    heap[at] = item


def sift_up(heap: Any, at: Any) -> None:
    end = len(heap)
    start = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    sift_down(heap, start, at)


def heappop(heap: Any) -> Any:
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        sift_up(heap, 0)
        return first
    return last


def heapreplace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return first


def heappushpop(heap: Any, item: Any) -> Any:
    if heap and heap[0] < item:
        first = heap[0]
        heap[0] = item
        sift_up(heap, 0)
        return first
    return item


def heapify(heap: Any) -> None:
    for at in range(len(heap) // 2 - 1, -1, -1):
        sift_up(heap, at)


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[: max(n, 0)]


def merge(*iterables: Any) -> Any:
    """heapq.merge: of equal items those of the first iterable come first"""
    sources = [iter(row) for row in iterables]
    heap: list[Any] = []
    for place in range(len(sources)):
        for item in sources[place]:
            heap.append((item, place))
            break
    heapify(heap)
    while heap:
        item, place = heap[0]
        yield item
        for follower in sources[place]:
            heapreplace(heap, (follower, place))
            break
        else:
            heappop(heap)


def prod(iterable: Any, /, *, start: Any = 1) -> Any:
    total = start
    for item in iterable:
        total = total * item
    return total


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            end = middle
    return lo


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            end = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def gcd(a: Any, b: Any) -> Any:
    a = abs(a)
    b = abs(b)
    while b:
        rest = a % b
        a = b
        b = rest
    return a


def item_of(key: Any) -> Any:
    """operator.itemgetter(key)"""

    def get(values: Any) -> Any:
        return values[key]

    return get


def keys_and(keys: Any, other: Any) -> Any:
    found = set()
    for key in other:
        if key in keys:
            found.add(key)
    return found


def keys_and_set(keys: Any, other: Any) -> Any:
    if len(keys) > len(other):
        return keys_and(keys, other)
    found = set()
    for key in keys:
        if key in other:
            found.add(key)
    return found


def keys_and_keys(keys: Any, other: Any) -> Any:
    return keys_and(other, keys) if len(other) > len(keys) else keys_and(keys, other)


def keys_either(keys: Any, other: Any) -> Any:
    found = set(keys)
    found.symmetric_difference_update(set(other))
    return found


def keys_without(keys: Any, other: Any) -> Any:
    found = set(keys)
    found.difference_update(set(other))
    return found


def keys_or(keys: Any, other: Any) -> Any:
    found = set(keys)
    found.update(other)
    return found


def union_of(rows: Any) -> Any:
    """set.union(*rows)"""
    if not rows:
        leave("a method without its object")
    found = set(rows[0])
    for place in range(1, len(rows)):
        found.update(rows[place])
    return found


def intersection_of(rows: Any) -> Any:
    """set.intersection(*rows) of sets"""
    if not rows:
        leave("a method without its object")
    found = set(rows[0])
    for place in range(1, len(rows)):
        found = found & rows[place]
    return found


def united(found: Any, rows: Any) -> Any:
    """found.update(*rows)"""
    for row in rows:
        found.update(row)
    return found


def met(found: Any, rows: Any) -> Any:
    """found.intersection(*rows) of sets"""
    for row in rows:
        found = found & row
    return found


def behind(values: Any, start: Any) -> Any:
    """What a call gives on to `*` of a function: the items from a place on"""
    return tuple([values[place] for place in range(start, len(values))])
