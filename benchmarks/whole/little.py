"""A small language: tokens, a parser that makes nodes, and an interpreter of the tree with a dict of variables."""

PROGRAM = """
n = 3 ; total = 0 ;
while n < 120000 {
    candidate = 3 ; prime = 1 ;
    while candidate * candidate <= n {
        if n % candidate == 0 { prime = 0 ; candidate = n ; }
        candidate = candidate + 2 ;
    }
    if prime == 1 { total = total + n ; }
    n = n + 2 ;
}
print total ;
a = 0 ; b = 1 ; k = 0 ;
while k < 200000 { t = ( a + b ) % 1000007 ; a = b ; b = t ; k = k + 1 ; }
print b ;
"""


class Number:
    def __init__(self, value):
        self.value = value

    def eval(self, names):
        return self.value


class Name:
    def __init__(self, name):
        self.name = name

    def eval(self, names):
        return names[self.name]


class Binary:
    def __init__(self, op, left, right):
        self.op = op
        self.left = left
        self.right = right

    def eval(self, names):
        a = self.left.eval(names)
        b = self.right.eval(names)
        op = self.op
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "%":
            return a % b
        if op == "<":
            return 1 if a < b else 0
        if op == "<=":
            return 1 if a <= b else 0
        if op == "==":
            return 1 if a == b else 0
        raise ValueError(op)


class Assign:
    def __init__(self, name, value):
        self.name = name
        self.value = value

    def run(self, names, out):
        names[self.name] = self.value.eval(names)


class Print:
    def __init__(self, value):
        self.value = value

    def run(self, names, out):
        out.append(self.value.eval(names))


class While:
    def __init__(self, test, body):
        self.test = test
        self.body = body

    def run(self, names, out):
        while self.test.eval(names):
            for statement in self.body:
                statement.run(names, out)


class If:
    def __init__(self, test, body):
        self.test = test
        self.body = body

    def run(self, names, out):
        if self.test.eval(names):
            for statement in self.body:
                statement.run(names, out)


class Parser:
    LEVELS = (("==", "<", "<="), ("+", "-"), ("*", "%"))

    def __init__(self, text):
        self.tokens = text.split()
        self.at = 0

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise SyntaxError(token)
        self.at += 1
        return token

    def block(self, end):
        found = []
        while self.at < len(self.tokens) and self.tokens[self.at] != end:
            found.append(self.statement())
        if end:
            self.take(end)
        return found

    def statement(self):
        token = self.take()
        if token in ("while", "if"):
            test = self.expression(0)
            self.take("{")
            body = self.block("}")
            return While(test, body) if token == "while" else If(test, body)
        if token == "print":
            node = Print(self.expression(0))
        else:
            self.take("=")
            node = Assign(token, self.expression(0))
        self.take(";")
        return node

    def expression(self, level):
        if level == len(self.LEVELS):
            return self.atom()
        left = self.expression(level + 1)
        while self.tokens[self.at] in self.LEVELS[level]:
            op = self.take()
            left = Binary(op, left, self.expression(level + 1))
        return left

    def atom(self):
        token = self.take()
        if token == "(":
            node = self.expression(0)
            self.take(")")
            return node
        return Number(int(token)) if token.isdigit() else Name(token)


def main():
    out = []
    names = {}
    for statement in Parser(PROGRAM).block(""):
        statement.run(names, out)
    print(out)
    print(sorted(names.items()))


main()
