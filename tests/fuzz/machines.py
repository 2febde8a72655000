"""Machines over containers: each function runs a list of operations, given as numbers, on one kind of container and
returns what it has seen.  The tests run the same operations compiled and in CPython.
"""

from __future__ import annotations

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from collections import Counter, defaultdict, deque
from heapq import heapify, heappop, heappush, heapreplace


def list_machine(items, operations):
    log = []
    for code, a, b in operations:
        if code == 0:
            items.append(a)
        elif code == 1:
            log.append(items.pop())
        elif code == 2:
            items.insert(a, b)
        elif code == 3:
            log.append(items.pop(a))
        elif code == 4:
            items[a] = b
        elif code == 5:
            log.append(items[a])
        elif code == 6:
            items.remove(a)
        elif code == 7:
            items.extend([a, b, a])
        elif code == 8:
            items.sort()
        elif code == 9:
            items.reverse()
        elif code == 10:
            del items[a]
        elif code == 11:
            log.append(len(items) + sum(items))
        elif code == 12:
            for item in items:
                if item == a and len(items) < 40:
                    items.append(b)
        elif code == 13:
            items.clear()
        else:
            log.append(1 if a in items else 0)
    return log


def record_machine(items, operations):
    log = []
    for code, a, b in operations:
        if code == 0:
            items.append((a, b * 0.5))
        elif code == 1:
            log.append(items.pop())
        elif code == 2:
            items.insert(a, (b, a * 0.25))
        elif code == 3:
            items[a] = (b, 0.5)
        elif code == 4:
            log.append(items[a])
        elif code == 5:
            items.sort()
        elif code == 6:
            items.reverse()
        elif code == 7:
            items.sort(key=lambda item: (-item[1], item[0]))
        elif code == 8:
            del items[a]
        elif code == 9:
            log.extend(items[a:b])
        else:
            for number, half in items:
                log.append((number, half))
    return log


def heap_machine(heap, operations):
    log = []
    for code, a, b in operations:
        if code <= 2:
            heappush(heap, (a, b))
        elif code <= 4:
            log.append(heappop(heap))
        elif code == 5:
            log.append(heapreplace(heap, (b, a)))
        elif code == 6:
            heapify(heap)
        else:
            log.append(heap[0])
    return log


def deque_machine(queue, operations):
    log = []
    for code, a, b in operations:
        if code == 0:
            queue.append(a)
        elif code == 1:
            queue.appendleft(a)
        elif code == 2:
            log.append(queue.pop())
        elif code == 3:
            log.append(queue.popleft())
        elif code == 4:
            log.append(queue[a])
        elif code == 5:
            queue[a] = b
        elif code == 6:
            for item in queue:
                log.append(item)
        elif code == 7:
            queue.clear()
        else:
            log.append(len(queue))
    return log


def dict_machine(table, operations):
    log = []
    for code, a, b in operations:
        if code == 0:
            table[a] = b
        elif code == 1:
            log.append(table[a])
        elif code == 2:
            del table[a]
        elif code == 3:
            log.append(table.get(a, b))
        elif code == 4:
            log.append(table.setdefault(a, b))
        elif code == 5:
            log.append(table.pop(a))
        elif code == 6:
            for key in table:
                table[key] += 1
        elif code == 7:
            for key, value in table.items():
                log.append(key * 1000 + value)
        elif code == 8:
            table.clear()
        elif code == 9:
            log.append(len(table) + sum(table.values()))
        else:
            log.append(1 if a in table else 0)
    return log


def set_machine(operations):
    found = set()
    log = []
    for code, a, b in operations:
        if code <= 2:
            found.add((a, b))
        elif code == 3:
            found.discard((a, b))
        elif code == 4:
            found.remove((a, b))
        elif code == 5:
            log.append(len(found))
        elif code == 6:
            for item in sorted(found):
                log.append(item[0] * 100 + item[1])
        elif code == 7:
            found.clear()
        else:
            log.append(1 if (a, b) in found else 0)
    return log, found


def rows_machine(rows, operations):
    """Lists in a list, under several names."""
    log = []
    for code, a, b in operations:
        if code <= 2:
            rows[a].append(b)
        elif code == 3:
            log.append(rows[a].pop())
        elif code == 4:
            rows.append([a, b])
        elif code == 5:
            rows[a] = rows[b]
        elif code == 6:
            row = rows[a]
            row.insert(0, b)
        elif code == 7:
            rows[a].extend(rows[b])
        elif code == 8:
            rows[a].sort()
        elif code == 9:
            for item in rows[a]:
                if len(rows[b]) < 50:
                    rows[b].append(item)
        elif code == 10:
            rows[a], rows[b] = rows[b], rows[a]
        elif code == 11:
            log.append(len(rows.pop()))
        else:
            for row in rows:
                log.append(len(row) + sum(row))
    return log


def groups_machine(groups, operations):
    """Lists in a dict."""
    log = []
    for code, a, b in operations:
        if code <= 2:
            groups[a].append((a, b))
        elif code == 3:
            groups.setdefault(a, []).append((b, b))
        elif code == 4:
            groups[a] = [(b, a)]
        elif code == 5:
            del groups[a]
        elif code == 6:
            log.append(groups[a].pop())
        elif code == 7:
            groups[a] = groups[b]
        elif code == 8:
            for one, other in groups.get(a, []):
                log.append((one, other))
        else:
            for key, row in groups.items():
                log.append((key, len(row)))
    return log


def counter_machine(counts, totals, operations):
    log = []
    for code, a, b in operations:
        if code <= 2:
            counts[a] += b
        elif code <= 4:
            totals[a] += b * 0.5
        elif code == 5:
            log.append(counts[a])
        elif code == 6:
            log.append(len(totals))
        elif code == 7:
            if a in counts:
                del counts[a]
        else:
            log.append(len(counts))
    return log


#: Each machine, the first contents of its containers, and how many operations it knows.
def inner_machine(graph, table, operations):
    """Sets in a dict and dicts in a list: arguments, and what the machine makes."""
    log = []
    made = {}
    for code, a, b in operations:
        if code == 0:
            graph[a].add(b)
        elif code == 1:
            made.setdefault(a, set()).add(b)
        elif code == 2:
            table[a][b] = a - b
        elif code == 3:
            log.append(table[a].pop(b))
        elif code == 4:
            graph[a].discard(b)
        elif code == 5:
            made[a] = graph[b]
        elif code == 6:
            for key, held in made.items():
                for item in held:
                    log.append(key * 10 + item)
        elif code == 7:
            table.append({a: b})
        elif code == 8:
            for key in table[a]:
                log.append(key + table[a][key])
        else:
            log.append(len(graph[a] & graph[b]))
    return log, made


MACHINES = {
    "inner": (inner_machine, lambda: ({1: {1, 2}, 2: {9}, 3: set()}, [{1: 2}, {}]), 10),
    "list": (list_machine, lambda: ([3, 1, 2],), 15),
    "empty list": (list_machine, lambda: ([],), 15),
    "records": (record_machine, lambda: ([(3, 0.5), (1, 2.0)],), 11),
    "heap": (heap_machine, lambda: ([(1, 2), (1, 3)],), 8),
    "deque": (deque_machine, lambda: (deque([1, 2]),), 9),
    "dict": (dict_machine, lambda: ({1: 2, 3: 4},), 11),
    "set": (set_machine, lambda: (), 9),
    "rows": (rows_machine, lambda: ([[1], [], [2, 3]],), 13),
    "even rows": (rows_machine, lambda: ([[1, 2], [3, 4]],), 13),
    "groups": (groups_machine, lambda: (defaultdict(list, {1: [(1, 2)]}),), 10),
    "plain groups": (groups_machine, lambda: ({1: [(1, 2)], 2: []},), 10),
    "counts": (counter_machine, lambda: (Counter({1: 2}), defaultdict(float)), 9),
}
