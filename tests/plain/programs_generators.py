"""Generators with `try`, `send` and `close`; calls with `*` and `**`."""


def guarded(values):
    total = []

    def divided():
        for value in values:
            try:
                yield 10 // value
            except ZeroDivisionError:
                yield -1
            else:
                total.append("e")
            finally:
                total.append(value)

    return list(divided()), total


def handled_outside(values):
    """The handlers of a waiting generator are not those of its caller."""

    def numbers():
        for value in values:
            try:
                yield 100 // value
            except ZeroDivisionError:
                yield 0

    found = []
    for number in numbers():
        try:
            found.append(7 // number)
        except ZeroDivisionError:
            found.append(-7)
    return found


def nested(rows):
    def inner(row):
        try:
            for item in row:
                yield 12 // item
        except ZeroDivisionError:
            yield -99

    def outer():
        for row in rows:
            try:
                yield from inner(row)
                if len(row) > 2:
                    raise ValueError("long")
            except ValueError:
                yield 1000

    return list(outer()), sum(inner([1, 2])), next(inner([0]))


def left_early(values):
    log = []

    def items():
        try:
            for value in values:
                yield value
        finally:
            log.append("closed")

    for item in items():
        if item > 1:
            break
        log.append(item)
    return log


def averages(values):
    def running():
        total = count = 0
        mean = None
        while True:
            value = yield mean
            if value is None:
                continue
            total += value
            count += 1
            mean = total / count

    mean = running()
    next(mean)
    found = [mean.send(value) for value in values]
    mean.send(None)
    mean.close()
    return found, list(mean)


def wrapped(x):
    def logged(function):
        def inner(*args, **kwargs):
            calls.append(len(args))
            return function(*args, **kwargs)

        return inner

    calls = []

    @logged
    def area(a, b=2):
        return a * b

    return area(x), area(x, 5), calls


def spread(rows):
    def volume(a, b, c=1):
        return a * 100 + b * 10 + c

    class_calls = [volume(*row) for row in rows]
    return class_calls, volume(*rows[0], c=7), volume(1, *[2])


CASES = [
    (guarded, ([1, 0, 5],)),
    (handled_outside, ([1, 0, 50],)),
    (nested, ([[1, 2, 3], [4, 0, 6], [6]],)),
    (averages, ([1, 2, 3, 4.5],)),
    (wrapped, (3,)),
    (spread, ([[1, 2], [3, 4]],)),
]
