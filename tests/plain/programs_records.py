"""Programs over records, trees and names that come and go."""


def deleted(n):
    x = 1
    out = []
    for i in range(n):
        out.append(x)
        if i == 1:
            del x
    return out


def handler(items):
    e = "start"
    out = []
    for d in items:
        out.append(e)
        try:
            out.append(str(10 // d))
        except ZeroDivisionError as e:
            out.append("zero")
    return out


def early(n):
    total = {}
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        key = "a" if n % 2 else "b"
        total[key] = total.get(key, 0.5) + n
    return total


class T:
    def __init__(self, v):
        self.v = v
        self.kids = []

    def add(self, t):
        self.kids.append(t)
        return t


def build(n):
    root = T(0)
    q = [root]
    k = 1
    while k < n:
        p = q.pop(0)
        for _ in range(3):
            q.append(p.add(T(k)))
            k += 1

    def depth(t):
        return 1 + max((depth(c) for c in t.kids), default=0)

    def total(t):
        return t.v + sum(total(c) for c in t.kids)

    return depth(root), total(root), len(q)


def groups(rows):
    by = {}
    for r in rows:
        by.setdefault(r["team"], []).append(r)
    out = {}
    for team, members in sorted(by.items()):
        ages = [m["age"] for m in members]
        out[team] = {
            "n": len(members),
            "mean": sum(ages) / len(ages),
            "names": ", ".join(sorted(m["name"] for m in members)),
        }
    return out


def mixedrow(n):
    rows = []
    for i in range(n):
        rows.append(
            {"id": i, "name": f"n{i:03d}", "score": i * 1.5, "ok": i % 2 == 0, "tags": ["t"] * (i % 3), "none": None}
        )
    return rows, [r["name"] for r in rows if r["ok"] and r["score"] > 2], {r["id"]: r for r in rows}[1]["tags"]


def swap(xs):
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


CASES = [
    (deleted, (2,)),
    (deleted, (4,)),
    (handler, ([5, 2],)),
    (handler, ([5, 0, 2],)),
    (early, (20,)),
    (build, (100,)),
    (
        groups,
        (
            [
                {"team": "a", "age": 3, "name": "x"},
                {"team": "b", "age": 5, "name": "y"},
                {"team": "a", "age": 4, "name": "z"},
            ],
        ),
    ),
    (mixedrow, (6,)),
    (swap, (["c", "a", "b"],)),
    (swap, ([3, 1.5, 2],)),
]
