"""Exceptions that are caught and looked at, of the program's own classes and of the language's."""


class Refused(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.need = need
        self.have = have


class Coded(ValueError):
    def __init__(self, code, *, level=1):
        self.code = code
        self.level = level

    def __str__(self):
        return f"code {self.code}/{self.level}"


class Plain(LookupError):
    limit = 3


def own_classes(values):
    log = []
    for value in values:
        try:
            if value > 8:
                raise Coded(value, level=2)
            if value > 5:
                raise Refused(value, 5)
            if value == 3:
                raise Plain("three", value)
            log.append(str(10 // value))
        except Refused as problem:
            log.append(f"{problem} {problem.need - problem.have} {problem.args}")
        except (Coded, Plain) as problem:
            log.append(f"{type(problem).__name__} {problem} {problem.args}")
        except ZeroDivisionError as problem:
            log.append(f"{problem}")
        finally:
            log.append("-")
    return log


def messages(items, names, text):
    found = []
    for place in range(8):
        try:
            if place == 0:
                found.append(items[99])
            elif place == 1:
                found.append(names["missing"])
            elif place == 2:
                found.append(int(text))
            elif place == 3:
                found.append(1 / (place - 3))
            elif place == 4:
                found.append(1.5 / (place - 4))
            elif place == 5:
                found.append(7 % (place - 5))
            elif place == 6:
                found.append([].pop())
            else:
                found.append(text.index("zz"))
        except KeyError as problem:
            found.append(f"key {problem} {problem.args[0]}")
        except (IndexError, ValueError, ArithmeticError) as problem:
            found.append(f"{type(problem).__name__}: {problem}")
    return found


def numbered(table, keys):
    missing = []
    for key in keys:
        try:
            table[key] += 1
        except KeyError as problem:
            missing.append(problem.args[0])
            print("no", problem)
    try:
        return tuple(keys)[7]
    except IndexError as problem:
        return missing, str(problem)


def again(values):
    def check(value):
        try:
            return values[value]
        except IndexError as problem:
            raise Refused(value, len(values)) from problem

    out = []
    for k in range(4):
        try:
            out.append(check(k))
        except Refused as problem:
            out.append(problem.need)
    return out


CASES = [
    (own_classes, ([1, 9, 0, 6, 3],)),
    (messages, ([1, 2], {"a": "b"}, "x1")),
    (numbered, ({1: 2, 3: 4}, [1, 5, 3, 7])),
    (again, ([4, 5],)),
]
