"""A machine with a stack: instructions as tuples, run by one call with one long loop."""

PROGRAM = [
    ("push", 0),
    ("store", "sum"),
    ("push", 0),
    ("store", "i"),
    ("load", "i"),
    ("push", 1000000),
    ("less", None),
    ("unless", 19),
    ("load", "sum"),
    ("load", "i"),
    ("load", "i"),
    ("mul", None),
    ("push", 7),
    ("mod", None),
    ("add", None),
    ("store", "sum"),
    ("load", "i"),
    ("push", 1),
    ("jump", 20),
    ("halt", None),
    ("add", None),
    ("store", "i"),
    ("jump", 4),
]


def run(program):
    stack, names, pc, steps = [], {}, 0, 0
    while True:
        name, operand = program[pc]
        pc += 1
        steps += 1
        if name == "push":
            stack.append(operand)
        elif name == "load":
            stack.append(names[operand])
        elif name == "store":
            names[operand] = stack.pop()
        elif name == "add":
            b, a = stack.pop(), stack.pop()
            stack.append(a + b)
        elif name == "mul":
            b, a = stack.pop(), stack.pop()
            stack.append(a * b)
        elif name == "mod":
            b, a = stack.pop(), stack.pop()
            stack.append(a % b)
        elif name == "less":
            b, a = stack.pop(), stack.pop()
            stack.append(1 if a < b else 0)
        elif name == "unless":
            if not stack.pop():
                pc = operand
        elif name == "jump":
            pc = operand
        elif name == "halt":
            return names, steps


names, steps = run(PROGRAM)
print(names, steps)
names, steps = run(PROGRAM)
print(names, steps)
