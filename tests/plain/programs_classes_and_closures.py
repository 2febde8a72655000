"""Programs with classes, exceptions, closures, generators and patterns."""

import math


class Account:
    rate = 0.05

    def __init__(self, owner, balance=0.0):
        self.owner = owner
        self.balance = balance
        self.log = []

    def deposit(self, x):
        if x <= 0:
            raise ValueError("bad amount: %s" % x)
        self.balance += x
        self.log.append(("d", x))
        return self

    def withdraw(self, x):
        if x > self.balance:
            raise RuntimeError(f"{self.owner} has only {self.balance:.2f}")
        self.balance -= x
        self.log.append(("w", x))
        return self

    def interest(self):
        return self.balance * Account.rate

    def __repr__(self):
        return f"Account({self.owner!r}, {self.balance})"

    def __eq__(self, o):
        return isinstance(o, Account) and self.owner == o.owner

    def __lt__(self, o):
        return self.balance < o.balance


def bank(n):
    accs = [Account("u%d" % i, 100.0 * i) for i in range(n)]
    errors = []
    for i, a in enumerate(accs):
        try:
            a.deposit(i - 2).withdraw(150)
        except ValueError as e:
            errors.append(str(e))
        except RuntimeError as e:
            errors.append("R:" + str(e))
        finally:
            a.balance += 1
    accs.sort()
    best = max(accs)
    return errors, [repr(a) for a in accs], best.owner, accs[0] == accs[1], sum(a.interest() for a in accs)


class LL:
    class N:
        def __init__(self, v, nxt=None):
            self.v = v
            self.nxt = nxt

    def __init__(self):
        self.head = None
        self.n = 0

    def push(self, v):
        self.head = LL.N(v, self.head)
        self.n += 1

    def rev(self):
        prev = None
        cur = self.head
        while cur:
            cur.nxt, prev, cur = prev, cur, cur.nxt
        self.head = prev

    def __iter__(self):
        c = self.head
        while c:
            yield c.v
            c = c.nxt

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        for k, v in enumerate(self):
            if k == i:
                return v
        raise IndexError(i)


def linked(n):
    l = LL()
    for i in range(n):
        l.push(i * i)
    l.rev()
    a = list(l)
    try:
        l[n + 5]
        ok = 1
    except IndexError:
        ok = 0
    return a[:5], len(l), l[3], ok, 16 in l, max(l), [x for x in l if x % 7 == 1][:3]


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, o):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])

    def __getitem__(self, ij):
        return self.rows[ij[0]][ij[1]]

    def __setitem__(self, ij, v):
        self.rows[ij[0]][ij[1]] = v

    def __call__(self, k):
        return self.rows[k]

    def __neg__(self):
        return Matrix([[-x for x in r] for r in self.rows])


def mats(n):
    a = Matrix([[i + j for j in range(n)] for i in range(n)])
    b = a @ a
    b[0, 1] = 77
    return b.rows, b[1, 1], (-b)(0)


class Shape:
    def area(self):
        raise NotImplementedError

    def describe(self):
        return f"{type(self).__name__} {self.area():.3f}"


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Rect(Shape):
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def area(self):
        return self.a * self.b


class Square(Rect):
    def __init__(self, a):
        super().__init__(a, a)


def shapes(n):
    s = []
    for i in range(n):
        s.append([Circle(i), Rect(i, 2), Square(i)][i % 3])
    return [x.describe() for x in s], sum(x.area() for x in s)


def fizz(n):
    out = []
    for i in range(1, n):
        out.append("Fizz" * (i % 3 == 0) + "Buzz" * (i % 5 == 0) or str(i))
    return out


def closures(n):
    def make(k):
        total = 0

        def add(x):
            nonlocal total
            total += x * k
            return total

        return add

    fs = [make(i) for i in range(n)]
    return [f(10) + f(1) for f in fs]


def textstats(t):
    words = [w.strip(".,!?;:").lower() for w in t.split()]
    lens = {}
    for w in words:
        lens.setdefault(len(w), set()).add(w)
    return (
        {k: sorted(v) for k, v in sorted(lens.items())},
        sum(map(len, words)) / len(words),
        " ".join(reversed(words[:3])),
        t.count("the"),
        t.title()[:20],
        t.find("fox"),
        "{:>8}|{:<6}".format("ab", 3),
        "%05.2f %s" % (3.14159, "x"),
    )


def unpack(data):
    res = []
    for name, (a, *rest), flag in data:
        first, last = rest[0], rest[-1]
        res.append((name if flag else None, a + sum(rest), first, last))
    (x, y), *others = [(1, 2), (3, 4), (5, 6)]
    return res, x, y, others


def whileelse(n):
    found = []
    for k in range(2, n):
        for d in range(2, k):
            if k % d == 0:
                break
        else:
            found.append(k)
    i = 0
    while i < 5:
        i += 1
        if i == 9:
            break
    else:
        found.append(-1)
    return found


def matcher(items):
    out = []
    for it in items:
        match it:
            case [x, y]:
                out.append(("pair", x + y))
            case int():
                out.append(("int", it))
            case str() as s if len(s) > 2:
                out.append(("long", s))
            case _:
                out.append(("other", 0))
    return out


def bits(n):
    return [bin(i).count("1") for i in range(n)], n.bit_length(), n << 3, n >> 1, ~n, n ^ 5, hex(n)


def slices(xs):
    ys = xs[::-1]
    ys[1:3] = [9, 9, 9]
    del ys[0]
    zs = ys[::2]
    ys[::2] = [0] * len(ys[::2])
    return ys, zs, xs[-3:], xs[10:20], xs * 2, xs + ys, 3 in xs, xs.index(3), xs.count(1)


def gcdlcm(n):
    return (
        [(math.gcd(i, n), i * n // math.gcd(i, n)) for i in range(1, n)],
        math.isqrt(n),
        math.factorial(10),
        pow(3, 20, 7),
        round(2.5),
        round(3.14159, 2),
        divmod(-7, 3),
        -7 // 2,
        -7 % 3,
        7.5 // 2,
        -7.5 % 2,
    )


def sets(n):
    a = {i * i % 31 for i in range(n)}
    b = set(range(0, n, 2))
    return sorted(a & b), sorted(a | b), sorted(a - b), sorted(a ^ b), a <= b, len(a), list(a), {frozenset([1, 2]): 3}


def strbuild(n):
    s = ""
    for i in range(n):
        s += str(i % 10)
    return s[-10:], len(s), s.replace("12", "x")[:20], s.split("9")[:3]


def overflow(n):
    x = 1
    for i in range(1, n):
        x *= i
    return x


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def gens(n):
    def evens():
        for i in range(n):
            if i % 2 == 0:
                yield i

    def pairs():
        for a in evens():
            for b in evens():
                if a < b:
                    yield a, b

    return (
        sum(a * b for a, b in pairs()),
        list(evens())[:3],
        dict(zip("abc", evens())),
        next(evens()),
        any(x > 3 for x in evens()),
    )


CASES = [
    (bank, (8,)),
    (linked, (30,)),
    (mats, (5,)),
    (shapes, (9,)),
    (fizz, (31,)),
    (closures, (5,)),
    (textstats, ("The quick brown fox jumps over the lazy dog, the end! " * 5,)),
    (unpack, ([("a", [1, 2, 3], True), ("b", [4, 5, 6, 7], False)],)),
    (whileelse, (40,)),
    (matcher, ([[1, 2], 5, "abc", "x", [1, 2, 3]],)),
    (bits, (77,)),
    (slices, ([1, 2, 3, 4, 5, 1],)),
    (gcdlcm, (12,)),
    (sets, (40,)),
    (strbuild, (3000,)),
    (overflow, (30,)),
    (overflow, (10,)),
    (deep, (500,)),
    (gens, (20,)),
]
