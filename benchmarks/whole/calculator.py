"""Expressions: a tokeniser, a recursive-descent parser into a tree of objects, and an evaluator."""


class Number:
    def __init__(self, value):
        self.value = value

    def evaluate(self, names):
        return self.value


class Name:
    def __init__(self, name):
        self.name = name

    def evaluate(self, names):
        return names[self.name]


class Binary:
    def __init__(self, operator, left, right):
        self.operator, self.left, self.right = operator, left, right

    def evaluate(self, names):
        a, b = self.left.evaluate(names), self.right.evaluate(names)
        if self.operator == "+":
            return a + b
        if self.operator == "-":
            return a - b
        if self.operator == "*":
            return a * b
        if b == 0:
            return 0.0
        return a / b


def tokens(text):
    found, k = [], 0
    while k < len(text):
        c = text[k]
        if c.isdigit():
            begin = k
            while k < len(text) and (text[k].isdigit() or text[k] == "."):
                k += 1
            found.append(text[begin:k])
        elif c.isalpha():
            begin = k
            while k < len(text) and text[k].isalnum():
                k += 1
            found.append(text[begin:k])
        else:
            if c != " ":
                found.append(c)
            k += 1
    return found


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.place = 0

    def peek(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self):
        token = self.peek()
        self.place += 1
        return token

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            operator = self.take()
            left = Binary(operator, left, self.product())
        return left

    def product(self):
        left = self.atom()
        while self.peek() in ("*", "/"):
            operator = self.take()
            left = Binary(operator, left, self.atom())
        return left

    def atom(self):
        token = self.take()
        if token == "(":
            inner = self.sum()
            self.take()
            return inner
        if token[0].isdigit():
            return Number(float(token))
        return Name(token)


TEXTS = [
    "(a + b) * 3 - c / (1 + a)",
    "a * a - 2 * a * b + b * b",
    "((x + 1) * (x - 1) + 17.5) / (x * x + 1)",
    "a + b + c + x - (a * (b - (c + x)))",
]


def main():
    total = 0.0
    for k in range(60000):
        names = {"a": k % 13 * 1.0, "b": k % 7 * 0.5, "c": k % 5 * 2.0, "x": k % 11 * 1.0}
        for text in TEXTS:
            tree = Parser(text).sum()
            for _ in range(4):
                total += tree.evaluate(names)
                names["x"] += 0.25
    print(f"{total:.6f}")


if __name__ == "__main__":
    main()
